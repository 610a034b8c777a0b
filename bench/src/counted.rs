//! A proxy before another AWS that keeps count of the work it is asked for.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use http::{HeaderMap, StatusCode};
use reqwest::Client;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Another AWS by way of a proxy on 127.0.0.1, which ends with this value.
pub struct CountedAws {
    url: String,
    done: Arc<Mutex<Vec<Work>>>,
    server: JoinHandle<()>,
}

/// What one call came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// Rows that the answer has.
    pub rows: usize,
    /// The answer's size, in bytes.
    pub bytes: usize,
    /// Capacity units of DynamoDB, as that AWS counts them; zero for other services.
    pub units: f64,
    /// How long that AWS took.
    pub took: Duration,
}

#[derive(Clone)]
struct Upstream {
    client: Client,
    url: String,
    done: Arc<Mutex<Vec<Work>>>,
}

impl CountedAws {
    /// Stands before the AWS at this URL.
    pub async fn start(url: &str) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.context("no free port")?;
        let address = listener.local_addr()?;
        let done: Arc<Mutex<Vec<Work>>> = Arc::default();
        let upstream = Upstream { client: Client::new(), url: url.to_owned(), done: done.clone() };
        let routes = Router::new().fallback(pass).with_state(upstream);
        let server = tokio::spawn(async move {
            axum::serve(listener, routes).await.ok();
        });
        Ok(Self { url: format!("http://{address}"), done, server })
    }

    /// The URL of the proxy.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Forgets the calls so far and returns what each came to, in the order in which they were answered.
    pub fn take(&self) -> Vec<Work> {
        std::mem::take(&mut self.done.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for CountedAws {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn pass(State(upstream): State<Upstream>, request: Request) -> Response {
    match upstream.forward(request).await {
        Ok(answer) => answer,
        Err(error) => (StatusCode::BAD_GATEWAY, format!("{error:#}")).into_response(),
    }
}

impl Upstream {
    async fn forward(&self, request: Request) -> Result<Response> {
        let (parts, body) = request.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await?;
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let of_dynamodb =
            parts.headers.get("x-amz-target").is_some_and(|target| target.as_bytes().starts_with(b"DynamoDB"));
        let body = if of_dynamodb { asking_for_units(&body)? } else { body };
        let begin = Instant::now();
        let answer = self
            .client
            .request(parts.method, format!("{}{path}", self.url))
            .headers(passed_on(parts.headers))
            .body(body)
            .send()
            .await?;
        let (status, headers) = (answer.status(), passed_on(answer.headers().clone()));
        let body = answer.bytes().await?;
        let took = begin.elapsed();
        let (rows, units) = if of_dynamodb { rows_and_units(&body) } else { (0, 0.0) };
        let work = Work { rows, bytes: body.len(), units, took };
        self.done.lock().unwrap_or_else(PoisonError::into_inner).push(work);
        Ok((status, headers, Body::from(body)).into_response())
    }
}

/// Without the headers that are about one connection alone.
fn passed_on(mut headers: HeaderMap) -> HeaderMap {
    for name in [HOST, CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION] {
        headers.remove(name);
    }
    headers
}

fn asking_for_units(body: &[u8]) -> Result<Bytes> {
    let mut input: Value = serde_json::from_slice(body)?;
    input["ReturnConsumedCapacity"] = json!("TOTAL");
    Ok(serde_json::to_vec(&input)?.into())
}

fn rows_and_units(body: &[u8]) -> (usize, f64) {
    let answer: Value = serde_json::from_slice(body).unwrap_or_default();
    let one = usize::from(answer["Item"].is_object() || answer["Attributes"].is_object());
    let listed = answer["Items"].as_array().map_or(0, Vec::len);
    let responses = answer["Responses"].as_object().into_iter().flat_map(|tables| tables.values());
    let of_batch: usize = responses.filter_map(Value::as_array).map(Vec::len).sum();
    let units = match &answer["ConsumedCapacity"] {
        Value::Array(tables) => tables.iter().filter_map(|table| table["CapacityUnits"].as_f64()).sum(),
        table => table["CapacityUnits"].as_f64().unwrap_or_default(),
    };
    (one + listed + of_batch, units)
}
