//! The API's address. The emulator serves the API below a path of its own; here it stands at the root,
//! as in AWS.

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::header::{CONNECTION, HeaderMap, HeaderName, TE, TRAILER, TRANSFER_ENCODING, UPGRADE};
use http::{StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

// They speak of one connection, not of the request.
const HOP_BY_HOP: [HeaderName; 5] = [CONNECTION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];

#[derive(Clone)]
struct Gateway {
    client: Client<HttpConnector, Body>,
    base: String,
}

/// Passes everything that arrives on `listener` to the API `api_id` of the emulator.
pub(crate) fn serve(listener: TcpListener, emulator: &str, api_id: &str) -> JoinHandle<()> {
    let client = Client::builder(TokioExecutor::new())
        // Below the emulator's own 75 s, so that no request meets a connection being closed.
        .pool_idle_timeout(Duration::from_secs(30))
        .build_http();
    let base = format!("{emulator}/_aws/execute-api/{api_id}/$default");
    let routes = Router::new().fallback(pass).with_state(Gateway { client, base });
    tokio::spawn(async move {
        axum::serve(listener, routes).await.ok();
    })
}

async fn pass(State(gateway): State<Gateway>, mut request: Request) -> Response {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    // Joined as text: a URL type would tidy up dots and escapes, and the API must see what was sent.
    let target = match format!("{}{path}", gateway.base).parse::<Uri>() {
        Ok(target) => target,
        Err(error) => return (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    };
    *request.uri_mut() = target;
    remove_hop_by_hop(request.headers_mut());
    match gateway.client.request(request).await {
        Ok(mut answer) => {
            remove_hop_by_hop(answer.headers_mut());
            answer.map(Body::new)
        }
        Err(error) => {
            let reason = format!("The local AWS does not answer: {error}\n");
            (StatusCode::BAD_GATEWAY, reason).into_response()
        }
    }
}

fn remove_hop_by_hop(headers: &mut HeaderMap) {
    for name in HOP_BY_HOP {
        headers.remove(name);
    }
}
