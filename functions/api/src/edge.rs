//! The HTTP edge: routes, and what every answer has in common, whichever path or mistake it came from.

use std::any::Any;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http::header::{
    ALLOW, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HeaderName, LOCATION, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderValue, Method};
use lambda_http::request::RequestContext;
use parceltrack::clock::SystemClock;
use parceltrack::ports::Clock as _;
use parceltrack::telemetry::{self, Metric};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::CorsLayer;
use uuid::Uuid;

use crate::App;
use crate::problem::Problem;
use crate::{health, invoices, links, parcels, queue, tracking};

pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// How long a browser may remember that a page of ours may call.
const PREFLIGHT_LIFETIME: Duration = Duration::from_hours(1);

/// The API: all its routes, with problem details, request ids, CORS and security headers around them.
pub fn router(app: App, allowed_origins: &[HeaderValue]) -> Router {
    let cors = CorsLayer::new()
        .allow_origin(allowed_origins.to_vec())
        .allow_methods([Method::GET, Method::HEAD, Method::POST])
        .allow_headers([AUTHORIZATION, CONTENT_TYPE, parcels::IDEMPOTENCY_KEY])
        .expose_headers([LOCATION, RETRY_AFTER, parcels::IDEMPOTENT_REPLAYED, X_REQUEST_ID])
        .max_age(PREFLIGHT_LIFETIME);
    Router::new()
        .route("/health", get(health::health))
        .route("/api/parcels", post(parcels::create).get(parcels::list))
        .route("/api/parcels/{id}", get(parcels::get))
        .route("/api/parcels/{id}/cancel", post(parcels::cancel))
        .route("/api/parcels/{id}/events", post(parcels::report_event))
        .route("/api/parcels/{id}/invoice", post(invoices::request))
        .route("/api/parcels/{id}/proof-of-delivery", post(parcels::upload_proof).get(parcels::proof))
        .route("/api/track/{tracking_number}", get(tracking::track))
        .route("/api/invoices", get(invoices::list_failed))
        .route("/api/invoices/{id}", get(invoices::get))
        .route("/api/invoices/{id}/pdf", get(invoices::pdf))
        .route("/api/queue", get(queue::get))
        .route("/i/{token}", get(links::open))
        .fallback(async || Problem::NotFound("path"))
        .method_not_allowed_fallback(async || Problem::MethodNotAllowed)
        .with_state(app)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn(finish))
        .layer(cors)
}

#[expect(clippy::needless_pass_by_value, reason = "the layer wants it so")]
fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let message = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    tracing::error!(event = "handler_panicked", message = message.unwrap_or("no message"));
    Problem::Internal.into_response()
}

/// Gives every answer its request id and security headers, and every problem its body.
async fn finish(request: Request, next: Next) -> Response {
    let request_id = request_id(&request);
    let span = tracing::info_span!("request", id = request_id, method = %request.method());
    let mut response = {
        use tracing::Instrument as _;
        next.run(request).instrument(span).await
    };
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        let allow = response.headers_mut().remove(ALLOW);
        response = problem.render(&request_id);
        if let Some(allow) = allow {
            response.headers_mut().insert(ALLOW, allow);
        }
    }
    if response.status().is_server_error() {
        telemetry::record(Metric::ServerErrors, SystemClock.now());
    }
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if let Ok(id) = HeaderValue::from_str(&request_id) {
        headers.insert(X_REQUEST_ID, id);
    }
    response
}

/// API Gateway's id for the request, which its access log has too.
fn request_id(request: &Request) -> String {
    match request.extensions().get::<RequestContext>() {
        Some(RequestContext::ApiGatewayV2(context)) => context.request_id.clone(),
        _ => None,
    }
    .unwrap_or_else(|| Uuid::new_v4().to_string())
}
