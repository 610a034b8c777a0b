//! The SDK's clients without a network: every call is answered where it is made.

use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_dynamodb::config::{Credentials, SharedCredentialsProvider};
use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture, SharedHttpConnector, http_client_fn};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use parceltrack::aws::Clients;

use super::Aws;

/// Clients whose calls this AWS answers.
#[must_use]
pub fn clients(aws: Aws) -> Clients {
    let connector = SharedHttpConnector::new(InProcess(aws));
    let config = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .credentials_provider(SharedCredentialsProvider::new(Credentials::new("bench", "bench", None, None, "bench")))
        .region(Region::from_static("ap-southeast-1"))
        .http_client(http_client_fn(move |_, _| connector.clone()))
        .build();
    Clients::of(config)
}

struct InProcess(Aws);

impl std::fmt::Debug for InProcess {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("InProcess")
    }
}

impl HttpConnector for InProcess {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let path = request.uri().split('?').next().unwrap_or_default();
        let path = path.splitn(4, '/').nth(3).map_or_else(|| "/".to_owned(), |path| format!("/{path}"));
        let header = |name| request.headers().get(name);
        let answer = self.0.answer(request.method(), &path, header, request.body().bytes().unwrap_or_default());
        HttpConnectorFuture::ready(
            answer
                .status
                .as_u16()
                .try_into()
                .map(|status| HttpResponse::new(status, answer.body.into()))
                .map_err(|error| ConnectorError::other(Box::new(error), None)),
        )
    }
}
