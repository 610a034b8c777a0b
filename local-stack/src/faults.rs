//! A proxy between the functions and the emulator that does to their calls what AWS does on its bad days.
//!
//! Guarantee: what happens to the n-th call follows from the seed and n alone, so the same seed brings the same faults.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Longer than the functions wait for one attempt.
const HANG: Duration = Duration::from_secs(5);

/// What may happen to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Refused: too many calls.
    Throttled,
    /// Refused: another transaction is in the way.
    Conflict,
    /// Refused: the service is broken.
    ServerError,
    /// Done, but the connection breaks before the answer.
    AnswerLost,
    /// No answer for a long time, and nothing done.
    Hang,
}

/// How often each fault happens, in thousandths of all calls.
const PER_MILLE: [(Fault, u32); 5] = [
    (Fault::Throttled, 25),
    (Fault::Conflict, 15),
    (Fault::ServerError, 15),
    (Fault::AnswerLost, 20),
    (Fault::Hang, 3),
];

/// The services that can be told apart, since they word their errors differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Service {
    /// Tables.
    DynamoDb,
    /// Queues.
    Sqs,
    /// The bus of events.
    EventBridge,
    /// The bucket, and whatever else.
    S3,
}

/// The faults of one stack: on from the start, and counted.
#[derive(Debug)]
pub struct Faults {
    seed: u64,
    calls: AtomicU64,
    on: AtomicBool,
    counts: Mutex<BTreeMap<(Service, Fault), u64>>,
}

impl Faults {
    /// The faults that this seed brings.
    #[must_use]
    pub fn of_seed(seed: u64) -> Arc<Self> {
        Arc::new(Self { seed, calls: AtomicU64::new(0), on: AtomicBool::new(true), counts: Mutex::default() })
    }

    /// No more faults from now on.
    pub fn end(&self) {
        self.on.store(false, Ordering::SeqCst);
    }

    /// How many calls there were.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }

    /// How often each fault happened to each service.
    pub fn counts(&self) -> BTreeMap<(Service, Fault), u64> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn next(&self, service: Service) -> Option<Fault> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        if !self.on.load(Ordering::SeqCst) {
            return None;
        }
        let fault = fault_of(self.seed, call)?;
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner).entry((service, fault)).or_default() += 1;
        Some(fault)
    }
}

fn fault_of(seed: u64, call: u64) -> Option<Fault> {
    let mut draw = fastrand::Rng::with_seed(seed ^ call.wrapping_mul(0x9e37_79b9_7f4a_7c15)).u32(0..1000);
    for (fault, per_mille) in PER_MILLE {
        match draw.checked_sub(per_mille) {
            Some(rest) => draw = rest,
            None => return Some(fault),
        }
    }
    None
}

#[derive(Clone)]
struct Proxy {
    client: Client<HttpConnector, Body>,
    emulator: String,
    faults: Arc<Faults>,
}

/// Passes what arrives on `listener` to the emulator, except for what the faults make of it.
pub(crate) fn serve(listener: TcpListener, emulator: String, faults: Arc<Faults>) -> JoinHandle<()> {
    let client = Client::builder(TokioExecutor::new()).pool_idle_timeout(Duration::from_secs(30)).build_http();
    let routes = Router::new().fallback(pass).with_state(Proxy { client, emulator, faults });
    tokio::spawn(async move {
        axum::serve(listener, routes).await.ok();
    })
}

async fn pass(State(proxy): State<Proxy>, mut request: Request) -> Response {
    let target =
        request.headers().get("x-amz-target").and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let service = service_of(&target);
    let fault = proxy.faults.next(service);
    match fault {
        None | Some(Fault::AnswerLost) => {}
        Some(Fault::Hang) => {
            tokio::time::sleep(HANG).await;
            return refusal(service, Fault::ServerError, &target);
        }
        Some(fault) => return refusal(service, fault, &target),
    }
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    match format!("{}{path}", proxy.emulator).parse::<Uri>() {
        Ok(target) => *request.uri_mut() = target,
        Err(error) => return (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    }
    match proxy.client.request(request).await {
        // The emulator has done it; the caller never hears of it.
        Ok(answer) if fault == Some(Fault::AnswerLost) => broken_off(answer.headers().clone()),
        Ok(answer) => answer.map(Body::new),
        Err(error) => (StatusCode::BAD_GATEWAY, error.to_string()).into_response(),
    }
}

fn service_of(target: &str) -> Service {
    if target.starts_with("DynamoDB") {
        Service::DynamoDb
    } else if target.starts_with("AmazonSQS") {
        Service::Sqs
    } else if target.starts_with("AWSEvents") {
        Service::EventBridge
    } else {
        Service::S3
    }
}

/// An answer whose body breaks off, which ends the connection.
fn broken_off(headers: HeaderMap) -> Response {
    let broken = futures::stream::once(async { Err::<Vec<u8>, _>(io::Error::from(io::ErrorKind::ConnectionReset)) });
    let mut response = Response::new(Body::from_stream(broken));
    *response.headers_mut() = headers;
    response
}

/// The service's own words for a call that it did not carry out.
fn refusal(service: Service, fault: Fault, target: &str) -> Response {
    let json = |status: StatusCode, kind: &str, more: &str| {
        let body = format!("{{\"__type\":\"{kind}\",\"message\":\"by the fault proxy\"{more}}}");
        (status, [(CONTENT_TYPE, "application/x-amz-json-1.0")], body).into_response()
    };
    match (service, fault) {
        (Service::DynamoDb, Fault::Throttled) => {
            json(StatusCode::BAD_REQUEST, "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException", "")
        }
        (Service::DynamoDb, Fault::Conflict) if target.ends_with("TransactWriteItems") => json(
            StatusCode::BAD_REQUEST,
            "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
            ",\"CancellationReasons\":[{\"Code\":\"TransactionConflict\"},{\"Code\":\"None\"}]",
        ),
        (Service::DynamoDb, Fault::Conflict) => {
            json(StatusCode::BAD_REQUEST, "com.amazonaws.dynamodb.v20120810#TransactionConflictException", "")
        }
        (Service::DynamoDb, _) => {
            json(StatusCode::INTERNAL_SERVER_ERROR, "com.amazonaws.dynamodb.v20120810#InternalServerError", "")
        }
        (Service::Sqs, Fault::Throttled | Fault::Conflict) => {
            json(StatusCode::BAD_REQUEST, "com.amazonaws.sqs#RequestThrottled", "")
        }
        (Service::Sqs, _) => json(StatusCode::SERVICE_UNAVAILABLE, "com.amazonaws.sqs#ServiceUnavailable", ""),
        (Service::EventBridge, Fault::Throttled | Fault::Conflict) => {
            json(StatusCode::BAD_REQUEST, "ThrottlingException", "")
        }
        (Service::EventBridge, _) => json(StatusCode::INTERNAL_SERVER_ERROR, "InternalException", ""),
        (Service::S3, fault) => {
            let code = if fault == Fault::ServerError { "InternalError" } else { "SlowDown" };
            let body = format!("<Error><Code>{code}</Code><Message>by the fault proxy</Message></Error>");
            (StatusCode::SERVICE_UNAVAILABLE, [(CONTENT_TYPE, "application/xml")], body).into_response()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_brings_the_same_faults_and_another_one_others() {
        let series = |seed| (0..2000).map(|call| fault_of(seed, call)).collect::<Vec<_>>();
        assert_eq!(series(11), series(11));
        assert_ne!(series(11), series(12));
    }

    #[test]
    fn faults_come_about_as_often_as_they_should() {
        for (fault, per_mille) in PER_MILLE {
            let count = (0..100_000).filter(|call| fault_of(1, *call) == Some(fault)).count();
            let expected = per_mille as usize * 100;
            assert!(count > expected / 2 && count < expected * 2, "{fault:?}: {count}, not {expected}");
        }
    }
}
