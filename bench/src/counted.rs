//! A proxy before tables elsewhere that keeps count of the work they are asked for.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use http::{HeaderMap, StatusCode};
use reqwest::Client;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::aws::{Aws, TARGET};

/// Tables by way of a proxy on 127.0.0.1, which ends with this value. It counts what other services are asked as well.
pub struct CountedTables {
    url: String,
    done: Arc<Mutex<Vec<Work>>>,
    server: JoinHandle<()>,
}

/// What one call came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Rows that the answer has.
    pub rows: usize,
    /// The answer's size, in bytes.
    pub bytes: usize,
    /// How long it took.
    pub took: Duration,
}

#[derive(Clone)]
struct Upstream {
    client: Client,
    url: String,
    rest: Aws,
    done: Arc<Mutex<Vec<Work>>>,
}

impl CountedTables {
    /// Stands before the DynamoDB at this URL. The rest of AWS is that in memory.
    pub async fn start(url: &str, rest: Aws) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.context("no free port")?;
        let address = listener.local_addr()?;
        let done: Arc<Mutex<Vec<Work>>> = Arc::default();
        let upstream = Upstream { client: Client::new(), url: url.to_owned(), rest, done: done.clone() };
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

impl Drop for CountedTables {
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
        let begin = Instant::now();
        let header = |name| parts.headers.get(name).and_then(|value| value.to_str().ok());
        if !header(TARGET).is_some_and(|target| target.starts_with("DynamoDB_")) {
            let answer = self.rest.answer(parts.method.as_str(), parts.uri.path(), header, &body);
            self.count(Work { rows: 0, bytes: answer.body.len(), took: begin.elapsed() });
            return Ok(answer.into_response());
        }
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
        self.count(Work { rows: rows(&body), bytes: body.len(), took });
        Ok((status, headers, Body::from(body)).into_response())
    }

    fn count(&self, work: Work) {
        self.done.lock().unwrap_or_else(PoisonError::into_inner).push(work);
    }
}

/// Without the headers that are about one connection alone.
fn passed_on(mut headers: HeaderMap) -> HeaderMap {
    for name in [HOST, CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION] {
        headers.remove(name);
    }
    headers
}

/// The rows in an answer of DynamoDB.
fn rows(body: &[u8]) -> usize {
    let answer: Value = serde_json::from_slice(body).unwrap_or_default();
    let one = usize::from(answer["Item"].is_object() || answer["Attributes"].is_object());
    let listed = answer["Items"].as_array().map_or(0, Vec::len);
    let tables = answer["Responses"].as_object().into_iter().flat_map(|tables| tables.values());
    let of_batch: usize = tables.filter_map(Value::as_array).map(Vec::len).sum();
    one + listed + of_batch
}
