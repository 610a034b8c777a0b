//! The SDK's clients, built once per process, with time limits that end well before the function's own.

use std::time::Duration;

use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{ConfigLoader, SdkConfig};

/// How long a connection may take to come about.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// How long one attempt at a call may take.
pub const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a call may take with all its attempts; the SDK itself has no limit on that. The functions have 10 s, and the
/// API's longest request makes three calls one after another: even then there is time left to answer 503.
pub const OPERATION_TIMEOUT: Duration = Duration::from_secs(3);

/// What all clients are made from.
#[derive(Clone, Debug)]
pub struct Clients {
    config: SdkConfig,
}

impl Clients {
    /// Reads region, credentials and endpoint as the SDK does everywhere.
    pub async fn from_env() -> Self {
        Self::load(aws_config::from_env()).await
    }

    /// With more said than the environment says, such as an endpoint.
    pub async fn load(loader: ConfigLoader) -> Self {
        let timeouts = TimeoutConfig::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .operation_attempt_timeout(ATTEMPT_TIMEOUT)
            .operation_timeout(OPERATION_TIMEOUT)
            .build();
        let config = loader.timeout_config(timeouts).retry_config(RetryConfig::standard()).load().await;
        Self { config }
    }

    /// For tables.
    #[must_use]
    pub fn dynamodb(&self) -> aws_sdk_dynamodb::Client {
        aws_sdk_dynamodb::Client::new(&self.config)
    }

    /// For the bus of events.
    #[must_use]
    pub fn eventbridge(&self) -> aws_sdk_eventbridge::Client {
        aws_sdk_eventbridge::Client::new(&self.config)
    }

    /// For queues.
    #[must_use]
    pub fn sqs(&self) -> aws_sdk_sqs::Client {
        aws_sdk_sqs::Client::new(&self.config)
    }

    /// For the bucket. An endpoint of one's own has no host name per bucket, so the bucket goes into the path there.
    #[must_use]
    pub fn s3(&self) -> aws_sdk_s3::Client {
        let own_endpoint = self.config.endpoint_url().is_some();
        let config = aws_sdk_s3::config::Builder::from(&self.config).force_path_style(own_endpoint).build();
        aws_sdk_s3::Client::from_conf(config)
    }

    /// For secrets.
    #[must_use]
    pub fn secrets(&self) -> aws_sdk_secretsmanager::Client {
        aws_sdk_secretsmanager::Client::new(&self.config)
    }

    /// For mail, without retries: when the answer is lost, a retry would mail a second time.
    #[must_use]
    pub fn sesv2(&self) -> aws_sdk_sesv2::Client {
        let config = aws_sdk_sesv2::config::Builder::from(&self.config).retry_config(RetryConfig::disabled()).build();
        aws_sdk_sesv2::Client::from_conf(config)
    }
}
