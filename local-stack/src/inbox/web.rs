//! The inbox's page and its JSON API.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, Query, State};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use http::{StatusCode, header};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::{Inbox, Mail, MailSummary, Server};

const LONGEST_WAIT: Duration = Duration::from_secs(20);

// Mails are shown in a frame without scripts; this keeps the page itself to its own files as well.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
     connect-src 'self'; img-src data:; frame-src 'self'";

pub(super) fn serve(listener: TcpListener, inbox: Arc<Inbox>) -> JoinHandle<()> {
    let routes = Router::new()
        .route("/", get(page))
        .route("/inbox.css", get(style))
        .route("/inbox.js", get(script))
        .route("/api/mails", get(list).delete(clear))
        .route("/api/mails/{id}", get(mail))
        .route("/api/mails/{id}/raw", get(raw))
        .route("/api/server", get(server).post(set_server))
        .route("/api/changes", get(changes))
        .with_state(inbox);
    tokio::spawn(async move {
        axum::serve(listener, routes).await.ok();
    })
}

async fn page() -> Response {
    let headers = [(header::CONTENT_SECURITY_POLICY, CONTENT_POLICY), (header::CACHE_CONTROL, "no-cache")];
    (headers, Html(include_str!("page.html"))).into_response()
}

async fn style() -> Response {
    file("text/css; charset=utf-8", include_str!("page.css"))
}

async fn script() -> Response {
    file("text/javascript; charset=utf-8", include_str!("page.js"))
}

fn file(content_type: &'static str, content: &'static str) -> Response {
    let headers = [(header::CONTENT_TYPE, content_type), (header::CACHE_CONTROL, "no-cache")];
    (headers, content).into_response()
}

async fn list(State(inbox): State<Arc<Inbox>>) -> Json<Vec<MailSummary>> {
    Json(inbox.store.summaries())
}

async fn mail(State(inbox): State<Arc<Inbox>>, Path(id): Path<u64>) -> Result<Json<Mail>, StatusCode> {
    inbox.store.mail(id).map(Json).ok_or(StatusCode::NOT_FOUND)
}

async fn raw(State(inbox): State<Arc<Inbox>>, Path(id): Path<u64>) -> Response {
    match inbox.store.raw(id) {
        Some(raw) => {
            let content_type = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
            (content_type, raw.to_vec()).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn clear(State(inbox): State<Arc<Inbox>>) -> Response {
    match inbox.store.clear() {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(error) => failed(&error),
    }
}

async fn server(State(inbox): State<Arc<Inbox>>) -> Json<Server> {
    Json(Server { state: inbox.state().await })
}

async fn set_server(State(inbox): State<Arc<Inbox>>, Json(wanted): Json<Server>) -> Response {
    match inbox.set_state(wanted.state).await {
        Ok(()) => Json(wanted).into_response(),
        Err(error) => failed(&error),
    }
}

fn failed(error: &anyhow::Error) -> Response {
    (StatusCode::INTERNAL_SERVER_ERROR, format!("{error:#}")).into_response()
}

#[derive(Deserialize)]
struct After {
    after: Option<u64>,
}

/// How often anything has changed.
#[derive(Serialize, Deserialize)]
pub(super) struct Version {
    pub(super) version: u64,
}

/// Answers as soon as something has changed since version `after`, or after a while if nothing does.
async fn changes(State(inbox): State<Arc<Inbox>>, Query(seen): Query<After>) -> Json<Version> {
    let mut changes = inbox.store.changes();
    if let Some(after) = seen.after {
        let news = changes.wait_for(|version| *version != after);
        // Nothing new within the time is an answer too: the version as it is.
        tokio::time::timeout(LONGEST_WAIT, news).await.ok();
    }
    let version = *changes.borrow();
    Json(Version { version })
}
