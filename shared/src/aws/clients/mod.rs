//! The SDK's clients, built once per process, with time limits that end well before the function's own.

mod http;

use std::sync::OnceLock;
use std::time::Duration;

use aws_config::environment::EnvironmentVariableCredentialsProvider;
use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, ConfigLoader, Region, SdkConfig};
use aws_sdk_dynamodb::config::SharedCredentialsProvider;

use self::http::Trust;
use crate::settings::optional;

/// How long a connection may take to come about.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// How long one attempt at a call may take.
pub const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a call may take with all its attempts; the SDK itself has no limit on that. The functions have 10 s, and the
/// API's longest request makes three calls one after another: even then there is time left to answer 503.
pub const OPERATION_TIMEOUT: Duration = Duration::from_secs(3);

/// All clients. Each is built when it is first asked for, and then handed out again; all share one HTTP client, and with
/// it the connections.
#[derive(Clone, Debug)]
pub struct Clients {
    config: SdkConfig,
    dynamodb: OnceLock<aws_sdk_dynamodb::Client>,
    sqs: OnceLock<aws_sdk_sqs::Client>,
    s3: OnceLock<aws_sdk_s3::Client>,
}

impl Clients {
    /// A function's clients: region, keys and, on a laptop, `AWS_ENDPOINT_URL` from the environment, where Lambda puts
    /// them. The SDK's own search for them would build clients of other services at every cold start.
    #[must_use]
    pub fn from_env() -> Self {
        let mut config = SdkConfig::builder()
            .behavior_version(BehaviorVersion::latest())
            .credentials_provider(SharedCredentialsProvider::new(EnvironmentVariableCredentialsProvider::new()))
            .region(optional("AWS_REGION").or_else(|| optional("AWS_DEFAULT_REGION")).map(Region::new))
            .timeout_config(timeouts())
            .retry_config(RetryConfig::standard())
            .http_client(http::client(Trust::Amazon));
        config.set_endpoint_url(optional("AWS_ENDPOINT_URL"));
        Self::of(config.build())
    }

    /// The clients of a person's tool, which finds region, keys and endpoint as the SDK does everywhere, unless told.
    pub async fn load(loader: ConfigLoader) -> Self {
        let loader = loader.timeout_config(timeouts()).retry_config(RetryConfig::standard());
        Self::of(loader.http_client(http::client(Trust::Machine)).load().await)
    }

    /// On a configuration of one's own, with its HTTP client and its time limits.
    #[must_use]
    pub fn of(config: SdkConfig) -> Self {
        Self { config, dynamodb: OnceLock::new(), sqs: OnceLock::new(), s3: OnceLock::new() }
    }

    /// For tables.
    #[must_use]
    pub fn dynamodb(&self) -> aws_sdk_dynamodb::Client {
        self.dynamodb.get_or_init(|| aws_sdk_dynamodb::Client::new(&self.config)).clone()
    }

    /// For the bus of events.
    #[must_use]
    pub fn eventbridge(&self) -> aws_sdk_eventbridge::Client {
        aws_sdk_eventbridge::Client::new(&self.config)
    }

    /// For queues.
    #[must_use]
    pub fn sqs(&self) -> aws_sdk_sqs::Client {
        self.sqs.get_or_init(|| aws_sdk_sqs::Client::new(&self.config)).clone()
    }

    /// For the bucket. An endpoint of one's own has no host name per bucket, so the bucket goes into the path there.
    #[must_use]
    pub fn s3(&self) -> aws_sdk_s3::Client {
        let client = self.s3.get_or_init(|| {
            let own_endpoint = self.config.endpoint_url().is_some();
            let config = aws_sdk_s3::config::Builder::from(&self.config).force_path_style(own_endpoint).build();
            aws_sdk_s3::Client::from_conf(config)
        });
        client.clone()
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

fn timeouts() -> TimeoutConfig {
    TimeoutConfig::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .operation_attempt_timeout(ATTEMPT_TIMEOUT)
        .operation_timeout(OPERATION_TIMEOUT)
        .build()
}
