//! AWS in memory: tables, queues, buckets, a bus and mail, as far as the functions use them.
//!
//! What it answers is what AWS would: a row read is a row that was written, and conditions of puts and keys are weighed
//! ([`condition`]). Two things it does not do: it checks no signature, and of an update it keeps only plain assignments
//! to records of idempotency. The rows of invoices stay as they were made, so that each ticket meets a fresh invoice.

mod condition;
mod dynamodb;
mod in_process;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use uuid::Uuid;

use self::dynamodb::Tables;
pub use self::in_process::clients;

/// The header in which DynamoDB and SQS are told what to do.
pub(crate) const TARGET: &str = "x-amz-target";

/// The header in which a call says to which trace it belongs. SQS hands it on with the message.
const TRACE_HEADER: &str = "x-amzn-trace-id";

/// One call that was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Service, operation and, of a table, its name: `DynamoDB PutItem invoices`.
    pub name: String,
    /// The trace that it belongs to, if it says so.
    pub trace: Option<String>,
    /// When all of it had arrived.
    pub arrived: Instant,
    /// When its answer was ready to go.
    pub answered: Instant,
}

/// What AWS answers to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: StatusCode,
    /// The media type of the body.
    pub content_type: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    fn json(status: StatusCode, body: &Value) -> Self {
        Self { status, content_type: "application/x-amz-json-1.0", body: body.to_string().into_bytes() }
    }

    fn refusal(code: &str, mut details: Value) -> Self {
        details["__type"] = json!(code);
        Self::json(StatusCode::BAD_REQUEST, &details)
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        (self.status, [(CONTENT_TYPE, self.content_type)], Body::from(self.body)).into_response()
    }
}

/// All that this AWS holds, and every call that it got.
#[derive(Clone, Default)]
pub struct Aws {
    state: Arc<Mutex<Held>>,
}

#[derive(Default)]
struct Held {
    tables: Tables,
    messages: Vec<String>,
    calls: Vec<Call>,
}

impl Aws {
    /// Puts a row, as it goes over the wire, into a table.
    pub fn put(&self, table: &str, row: Value) -> Result<()> {
        self.lock().tables.put(table, row).ok().with_context(|| format!("a row that does not fit into {table}"))
    }

    /// The rows of a table, by their keys.
    pub fn rows(&self, table: &str) -> Vec<Value> {
        self.lock().tables.rows(table)
    }

    /// Empties a table.
    pub fn clear(&self, table: &str) {
        self.lock().tables.clear(table);
    }

    /// Another one with the same tables, which changes with none of this one's calls.
    #[must_use]
    pub fn snapshot(&self) -> Self {
        let held = Held { tables: self.lock().tables.clone(), ..Held::default() };
        Self { state: Arc::new(Mutex::new(held)) }
    }

    /// Goes back to the tables of a snapshot, and forgets messages and calls.
    pub fn restore(&self, snapshot: &Self) {
        let held = Held { tables: snapshot.lock().tables.clone(), ..Held::default() };
        *self.lock() = held;
    }

    /// Forgets the calls so far and returns them, in their order.
    pub fn take_calls(&self) -> Vec<Call> {
        std::mem::take(&mut self.lock().calls)
    }

    /// Forgets the messages that were sent to queues so far and returns their bodies.
    pub fn take_messages(&self) -> Vec<String> {
        std::mem::take(&mut self.lock().messages)
    }

    /// Answers one call; `header` gives what stands in a header of it.
    pub fn answer<'a>(
        &self,
        method: &str,
        path: &str,
        header: impl Fn(&'static str) -> Option<&'a str>,
        body: &[u8],
    ) -> Answer {
        let arrived = Instant::now();
        let mut state = self.lock();
        let (name, answer) = state.answer(method, path, header(TARGET).unwrap_or_default(), body);
        let trace = header(TRACE_HEADER).map(str::to_owned);
        state.calls.push(Call { name, trace, arrived, answered: Instant::now() });
        answer
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn answer(&mut self, method: &str, path: &str, target: &str, body: &[u8]) -> (String, Answer) {
        if let Some(operation) = target.strip_prefix("DynamoDB_20120810.") {
            let Ok(input) = serde_json::from_slice::<Value>(body) else {
                return (target.to_owned(), Answer::refusal("SerializationException", json!({})));
            };
            let name = format!("DynamoDB {operation} {}", dynamodb::table_names(&input).join(" "));
            return (name, self.tables.answer(operation, &input));
        }
        if let Some(operation) = target.strip_prefix("AmazonSQS.") {
            return (format!("SQS {operation}"), self.queue_answer(operation, body));
        }
        if target == "AWSEvents.PutEvents" {
            return ("EventBridge PutEvents".to_owned(), events_answer(body));
        }
        if path == "/v2/email/outbound-emails" {
            let answer = Answer::json(StatusCode::OK, &json!({"MessageId": Uuid::new_v4().to_string()}));
            return ("SES SendEmail".to_owned(), answer);
        }
        let found = if method == "PUT" { StatusCode::OK } else { StatusCode::NOT_FOUND };
        (format!("S3 {method}"), Answer { status: found, content_type: "application/xml", body: Vec::new() })
    }

    fn queue_answer(&mut self, operation: &str, body: &[u8]) -> Answer {
        let input: Value = serde_json::from_slice(body).unwrap_or_default();
        match operation {
            "SendMessage" => {
                self.messages.push(input["MessageBody"].as_str().unwrap_or_default().to_owned());
                Answer::json(StatusCode::OK, &json!({"MessageId": Uuid::new_v4().to_string()}))
            }
            "SendMessageBatch" => {
                let entries = input["Entries"].as_array().cloned().unwrap_or_default();
                let bodies = entries.iter().filter_map(|entry| entry["MessageBody"].as_str());
                self.messages.extend(bodies.map(str::to_owned));
                let sent: Vec<Value> = entries
                    .iter()
                    .map(|entry| json!({"Id": entry["Id"], "MessageId": Uuid::new_v4().to_string(), "MD5OfMessageBody": ""}))
                    .collect();
                Answer::json(StatusCode::OK, &json!({"Successful": sent, "Failed": []}))
            }
            "ChangeMessageVisibility" => Answer::json(StatusCode::OK, &json!({})),
            "GetQueueAttributes" => {
                let names = input["AttributeNames"].as_array().cloned().unwrap_or_default();
                let attributes: Map<String, Value> =
                    names.iter().filter_map(|name| Some((name.as_str()?.to_owned(), json!("0")))).collect();
                Answer::json(StatusCode::OK, &json!({"Attributes": attributes}))
            }
            _ => Answer::refusal("InvalidAction", json!({})),
        }
    }
}

/// The bus takes every event.
fn events_answer(body: &[u8]) -> Answer {
    let input: Value = serde_json::from_slice(body).unwrap_or_default();
    let entries = input["Entries"].as_array().into_iter().flatten();
    let taken: Vec<Value> = entries.map(|_| json!({"EventId": Uuid::new_v4().to_string()})).collect();
    Answer::json(StatusCode::OK, &json!({"FailedEntryCount": 0, "Entries": taken}))
}

/// Listens on a free port for as long as the process lives, and returns the URL.
pub async fn serve(aws: Aws) -> Result<String> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.context("no free port")?;
    let address: SocketAddr = listener.local_addr()?;
    let routes = Router::new().fallback(pass).with_state(aws);
    tokio::spawn(async move {
        axum::serve(listener, routes).await.ok();
    });
    Ok(format!("http://{address}"))
}

async fn pass(State(aws): State<Aws>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body: Bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    let header = |name| parts.headers.get(name).and_then(|value| value.to_str().ok());
    let answer = aws.answer(parts.method.as_str(), parts.uri.path(), header, &body);
    answer.into_response()
}
