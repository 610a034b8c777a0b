//! The Lambda Runtime API for one process: hands it events, one after the other, and takes its answers.
//! <https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html>

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http::StatusCode;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use uuid::Uuid;

/// The trace that every event comes with.
/// <https://docs.aws.amazon.com/xray/latest/devguide/xray-concepts.html#xray-concepts-tracingheader>
pub const TRACE: &str = "Root=1-692bd2c0-0123456789abcdef01234567;Parent=89abcdef01234567;Sampled=1";

/// How long a process is waited for, at its start and for each answer; far longer than it takes.
const PATIENCE: Duration = Duration::from_mins(2);

/// The Runtime API that one process is started with.
pub struct RuntimeApi {
    address: SocketAddr,
    time_limit: Duration,
    events: mpsc::Sender<Pending>,
    ready: Mutex<Option<oneshot::Receiver<Instant>>>,
    server: JoinHandle<()>,
}

/// What became of an event.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// From the event's going out to the answer's having arrived.
    pub took: Duration,
    /// What the function answered.
    pub answer: Value,
}

struct Pending {
    event: Bytes,
    limit: Duration,
    done: oneshot::Sender<Result<Invocation, String>>,
}

struct Running {
    since: Instant,
    done: oneshot::Sender<Result<Invocation, String>>,
}

struct Desk {
    events: tokio::sync::Mutex<mpsc::Receiver<Pending>>,
    ready: Mutex<Option<oneshot::Sender<Instant>>>,
    running: Mutex<Option<Running>>,
}

impl RuntimeApi {
    /// Listens on a free port, for a function that may take so long for an event, as it is told.
    pub async fn start(time_limit: Duration) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.context("no free port")?;
        let address = listener.local_addr()?;
        let (events, receiver) = mpsc::channel(1);
        let (ready_sender, ready) = oneshot::channel();
        let desk = Desk {
            events: tokio::sync::Mutex::new(receiver),
            ready: Mutex::new(Some(ready_sender)),
            running: Mutex::default(),
        };
        let routes = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next))
            .route("/2018-06-01/runtime/invocation/{id}/response", post(response))
            .route("/2018-06-01/runtime/invocation/{id}/error", post(error))
            .route("/2018-06-01/runtime/init/error", post(init_error))
            .with_state(Arc::new(desk));
        let server = tokio::spawn(async move {
            axum::serve(listener, routes).await.ok();
        });
        Ok(Self { address, time_limit, events, ready: Mutex::new(Some(ready)), server })
    }

    /// What goes into `AWS_LAMBDA_RUNTIME_API`.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// When the process asked for its first event. To be waited for once.
    pub(crate) async fn ready(&self) -> Result<Instant> {
        let ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner).take().context("waited for before")?;
        let ready = tokio::time::timeout(PATIENCE, ready).await.context("the process never asked for an event")?;
        ready.context("the process could not start")
    }

    /// Hands the process an event and waits for its answer.
    ///
    /// # Errors
    /// If the function answers with an error, or not at all.
    pub async fn invoke(&self, event: &Value) -> Result<Invocation> {
        let (done, outcome) = oneshot::channel();
        let event = Bytes::from(serde_json::to_vec(event)?);
        let pending = Pending { event, limit: self.time_limit, done };
        self.events.send(pending).await.ok().context("the Runtime API has stopped")?;
        let outcome = tokio::time::timeout(PATIENCE, outcome).await.context("the function never answered")?;
        match outcome.context("the function's answer got lost")? {
            Ok(invocation) => Ok(invocation),
            Err(error) => bail!("the function failed: {error}"),
        }
    }
}

impl Drop for RuntimeApi {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn next(State(desk): State<Arc<Desk>>) -> Response {
    if let Some(ready) = desk.ready.lock().unwrap_or_else(PoisonError::into_inner).take() {
        ready.send(Instant::now()).ok();
    }
    let Some(Pending { event, limit, done }) = desk.events.lock().await.recv().await else {
        return StatusCode::GONE.into_response();
    };
    let deadline = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + limit;
    let headers = [
        ("content-type", "application/json".to_owned()),
        ("lambda-runtime-aws-request-id", Uuid::new_v4().to_string()),
        ("lambda-runtime-deadline-ms", deadline.as_millis().to_string()),
        ("lambda-runtime-trace-id", TRACE.to_owned()),
        ("lambda-runtime-invoked-function-arn", "arn:aws:lambda:ap-southeast-1:123456789012:function:bench".to_owned()),
    ];
    *desk.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(Running { since: Instant::now(), done });
    (headers, event).into_response()
}

async fn response(State(desk): State<Arc<Desk>>, body: Bytes) -> StatusCode {
    desk.end(|took| match serde_json::from_slice(&body) {
        Ok(answer) => Ok(Invocation { took, answer }),
        Err(_) => Err(format!("no JSON: {}", String::from_utf8_lossy(&body))),
    })
}

async fn error(State(desk): State<Arc<Desk>>, body: Bytes) -> StatusCode {
    desk.end(|_| Err(String::from_utf8_lossy(&body).into_owned()))
}

/// The process ends after this, so whoever waits for it to be ready is told by the channel's end.
async fn init_error(State(desk): State<Arc<Desk>>) -> StatusCode {
    desk.ready.lock().unwrap_or_else(PoisonError::into_inner).take();
    StatusCode::ACCEPTED
}

impl Desk {
    fn end(&self, outcome: impl FnOnce(Duration) -> Result<Invocation, String>) -> StatusCode {
        let Some(Running { since, done }) = self.running.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            return StatusCode::BAD_REQUEST;
        };
        done.send(outcome(since.elapsed())).ok();
        StatusCode::ACCEPTED
    }
}
