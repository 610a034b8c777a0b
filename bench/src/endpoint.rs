//! An endpoint of a webhook that takes everything at once, and remembers it.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use http::StatusCode;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// An endpoint on 127.0.0.1. Ends with this value.
pub struct Endpoint {
    address: SocketAddr,
    taken: Arc<Mutex<Vec<Bytes>>>,
    server: JoinHandle<()>,
}

impl Endpoint {
    /// Listens on a free port.
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.context("no free port")?;
        let address = listener.local_addr()?;
        let taken: Arc<Mutex<Vec<Bytes>>> = Arc::default();
        let routes = Router::new().fallback(take).with_state(taken.clone());
        let server = tokio::spawn(async move {
            axum::serve(listener, routes).await.ok();
        });
        Ok(Self { address, taken, server })
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The bodies of all requests so far, in the order in which they came.
    pub fn taken(&self) -> Vec<Bytes> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn take(State(taken): State<Arc<Mutex<Vec<Bytes>>>>, body: Bytes) -> StatusCode {
    taken.lock().unwrap_or_else(PoisonError::into_inner).push(body);
    StatusCode::NO_CONTENT
}
