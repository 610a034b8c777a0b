//! A proxy between the functions and the emulator that does to their calls what AWS, and what is before it, does on bad days.
//!
//! Guarantee: what happens to the n-th call follows from the seed and n alone, so the same seed brings the same faults.

use std::collections::BTreeMap;
use std::io;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::ports;

/// Longer than the functions wait for one attempt.
const HANG: Duration = Duration::from_secs(5);

/// How large a spoilt answer may be.
const HUGE: usize = 10 * 1024 * 1024;

/// What may become of an answer on its way. The call is done all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spoiling {
    /// Its last two bytes are missing, and nothing says so.
    Cut,
    /// Its words are there, but not its form.
    Garbled,
    /// A gateway's page of HTML around it, with the status 502.
    Html,
    /// Nothing of it is left.
    Empty,
    /// It says that it is HTML, and is what it was.
    WrongType,
    /// More than 10 MB.
    Huge,
    /// The service's own refusal, whose code and message quote it.
    Quoted,
}

impl Spoiling {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Cut, Self::Garbled, Self::Html, Self::Empty, Self::WrongType, Self::Huge, Self::Quoted];
}

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
    /// Done, but the answer is spoilt.
    Spoilt(Spoiling),
}

/// How often each fault happens, in thousandths of all calls. Of the spoilings those that can be told from an answer: an empty
/// one of DynamoDB reads as "no such row", and AWS does not say that of a row that is there.
const PER_MILLE: [(Fault, u32); 9] = [
    (Fault::Throttled, 25),
    (Fault::Conflict, 15),
    (Fault::ServerError, 15),
    (Fault::AnswerLost, 20),
    (Fault::Hang, 3),
    (Fault::Spoilt(Spoiling::Cut), 4),
    (Fault::Spoilt(Spoiling::Garbled), 4),
    (Fault::Spoilt(Spoiling::Html), 4),
    (Fault::Spoilt(Spoiling::Huge), 1),
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
    /// Mail.
    Ses,
    /// Secrets.
    SecretsManager,
    /// The bucket, and whatever else.
    S3,
}

/// Which calls something happens to.
#[derive(Clone, Copy, Debug)]
enum Plan {
    /// Those that the seed draws.
    Seed(u64),
    /// Every answer of this service.
    Spoil(Service, Spoiling),
    /// None.
    Nothing,
}

/// The faults of one stack, and how often each happened.
#[derive(Debug)]
pub struct Faults {
    plan: Mutex<Plan>,
    calls: AtomicU64,
    counts: Mutex<BTreeMap<(Service, Fault), u64>>,
}

impl Faults {
    /// The faults that this seed brings.
    #[must_use]
    pub fn of_seed(seed: u64) -> Arc<Self> {
        Self::planned(Plan::Seed(seed))
    }

    /// None, until it is told.
    #[must_use]
    pub fn none() -> Arc<Self> {
        Self::planned(Plan::Nothing)
    }

    fn planned(plan: Plan) -> Arc<Self> {
        Arc::new(Self { plan: Mutex::new(plan), calls: AtomicU64::new(0), counts: Mutex::default() })
    }

    /// From now on every answer of this service is spoilt in this way, and no other one.
    pub fn spoil(&self, service: Service, spoiling: Spoiling) {
        self.follow(Plan::Spoil(service, spoiling));
    }

    /// No more faults from now on.
    pub fn end(&self) {
        self.follow(Plan::Nothing);
    }

    fn follow(&self, plan: Plan) {
        *self.plan.lock().unwrap_or_else(PoisonError::into_inner) = plan;
    }

    /// Serves a proxy with these faults on a free port; its URL, and the task that is the proxy.
    pub async fn stand_before(self: Arc<Self>, emulator: String) -> Result<(String, JoinHandle<()>)> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        Ok((ports::http(&listener)?, serve(listener, emulator, self)))
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
        let plan = *self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        let fault = match plan {
            Plan::Seed(seed) => fault_of(seed, call)?,
            Plan::Spoil(spoilt, spoiling) if spoilt == service => Fault::Spoilt(spoiling),
            Plan::Spoil(..) | Plan::Nothing => return None,
        };
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
fn serve(listener: TcpListener, emulator: String, faults: Arc<Faults>) -> JoinHandle<()> {
    let client = Client::builder(TokioExecutor::new()).pool_idle_timeout(Duration::from_secs(30)).build_http();
    let routes = Router::new().fallback(pass).with_state(Proxy { client, emulator, faults });
    tokio::spawn(async move {
        axum::serve(listener, routes).await.ok();
    })
}

async fn pass(State(proxy): State<Proxy>, mut request: Request) -> Response {
    let target =
        request.headers().get("x-amz-target").and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let service = service_of(&target, request.uri().path());
    let fault = proxy.faults.next(service);
    match fault {
        None | Some(Fault::AnswerLost | Fault::Spoilt(_)) => {}
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
        Ok(answer) => match fault {
            Some(Fault::Spoilt(spoiling)) => spoilt(answer.map(Body::new), service, spoiling).await,
            _ => answer.map(Body::new),
        },
        Err(error) => (StatusCode::BAD_GATEWAY, error.to_string()).into_response(),
    }
}

fn service_of(target: &str, path: &str) -> Service {
    if target.starts_with("DynamoDB") {
        Service::DynamoDb
    } else if target.starts_with("AmazonSQS") {
        Service::Sqs
    } else if target.starts_with("AWSEvents") {
        Service::EventBridge
    } else if target.starts_with("secretsmanager") {
        Service::SecretsManager
    } else if path.starts_with("/v2/email/") {
        Service::Ses
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

/// The answer as it arrives. Its length is right, so that nobody notices before he reads it.
async fn spoilt(answer: Response, service: Service, spoiling: Spoiling) -> Response {
    let (mut head, body) = answer.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    head.headers.remove(CONTENT_LENGTH);
    let html = HeaderValue::from_static("text/html");
    let words = String::from_utf8_lossy(&body).into_owned();
    let body = match spoiling {
        Spoiling::Cut => body.slice(..body.len().saturating_sub(2)),
        // Not even an empty one is what it was.
        Spoiling::Garbled => format!("{}\u{fffd}", words.replace([':', '<'], ";")).into(),
        Spoiling::Html => {
            head.status = StatusCode::BAD_GATEWAY;
            head.headers.insert(CONTENT_TYPE, html);
            format!("<html><body><h1>502 Bad Gateway</h1><pre>{words}</pre></body></html>").into()
        }
        Spoiling::Empty => Bytes::new(),
        Spoiling::WrongType => {
            head.headers.insert(CONTENT_TYPE, html);
            body
        }
        Spoiling::Huge => words.repeat(HUGE / words.len().max(1) + 1).into(),
        Spoiling::Quoted => {
            head.status = StatusCode::BAD_REQUEST;
            let quoted = serde_json::Value::from(words);
            match service {
                Service::S3 => format!("<Error><Code>{quoted}</Code><Message>{quoted}</Message></Error>").into(),
                _ => format!(r#"{{"__type":{quoted},"code":{quoted},"message":{quoted}}}"#).into(),
            }
        }
    };
    Response::from_parts(head, Body::from(body))
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
        (Service::EventBridge | Service::SecretsManager, Fault::Throttled | Fault::Conflict) => {
            json(StatusCode::BAD_REQUEST, "ThrottlingException", "")
        }
        (Service::EventBridge, _) => json(StatusCode::INTERNAL_SERVER_ERROR, "InternalException", ""),
        (Service::SecretsManager, _) => json(StatusCode::INTERNAL_SERVER_ERROR, "InternalServiceError", ""),
        (Service::Ses, Fault::Throttled | Fault::Conflict) => {
            json(StatusCode::TOO_MANY_REQUESTS, "TooManyRequestsException", "")
        }
        (Service::Ses, _) => json(StatusCode::INTERNAL_SERVER_ERROR, "InternalServiceErrorException", ""),
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
