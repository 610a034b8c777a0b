//! The HTTP edge: routes, and what every answer has in common, whichever path or mistake it came from.

use std::any::Any;
use std::time::{Duration, Instant, SystemTime};

use axum::body::{Body, HttpBody as _};
use axum::extract::{MatchedPath, Request};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post, put};
use axum::{Extension, Router};
use http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, LOCATION,
    REFERRER_POLICY, RETRY_AFTER, STRICT_TRANSPORT_SECURITY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Method};
use lambda_http::RequestExt as _;
use lambda_http::request::RequestContext;
use parceltrack::clock::SystemClock;
use parceltrack::domain::RequestId;
use parceltrack::ports::Clock as _;
use parceltrack::telemetry::{self, Metric};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::CorsLayer;
use tracing::Instrument as _;
use uuid::Uuid;

use crate::App;
use crate::problem::Problem;
use crate::{docs, health, invoices, links, me, parcels, queue, tracking, webhooks};

pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// How long a browser may remember that a page of ours may call.
const PREFLIGHT_LIFETIME: Duration = Duration::from_hours(1);

/// So long before Lambda ends the function, and the caller gets its mute 500, a request is answered in our own words.
const TIME_TO_ANSWER: Duration = Duration::from_millis(1500);

/// On every answer that does not say otherwise itself.
const DEFAULT_HEADERS: [(HeaderName, HeaderValue); 6] = [
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    // What a caller may see is that caller's alone.
    (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000")),
    // The address of a mailed link is a secret.
    (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'")),
    // Pages of other origins read answers by CORS or not at all.
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
];

/// The API: all its routes, with problem details, request ids, CORS and security headers around them.
pub fn router(app: App, allowed_origins: &[HeaderValue]) -> Router {
    let cors = CorsLayer::new()
        .allow_origin(allowed_origins.to_vec())
        .allow_methods([Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::DELETE])
        .allow_headers([AUTHORIZATION, CONTENT_TYPE, parcels::IDEMPOTENCY_KEY, X_REQUEST_ID])
        .expose_headers([LOCATION, RETRY_AFTER, parcels::IDEMPOTENT_REPLAYED, X_REQUEST_ID])
        .max_age(PREFLIGHT_LIFETIME);
    routes()
        .into_iter()
        .fold(Router::new(), |router, (path, methods)| {
            router.route(path, methods.route_layer(middleware::from_fn(limited)))
        })
        .fallback(async || Problem::NotFound("path"))
        .method_not_allowed_fallback(async || Problem::MethodNotAllowed)
        .with_state(app)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn(answer))
        .layer(cors)
        .layer(middleware::from_fn(finish))
}

/// Every path there is, with its methods. The document of the API has the same ones.
pub(crate) fn routes() -> [(&'static str, MethodRouter<App>); 30] {
    [
        ("/health", get(health::health)),
        ("/api/parcels", post(parcels::create).get(parcels::list)),
        ("/api/parcels/{id}", get(parcels::get)),
        ("/api/parcels/{id}/cancel", post(parcels::cancel)),
        ("/api/parcels/{id}/events", post(parcels::report_event)),
        ("/api/parcels/{id}/invoice", post(invoices::request)),
        ("/api/parcels/{id}/proof-of-delivery", post(parcels::upload_proof).get(parcels::proof)),
        ("/api/track/{trackingNumber}", get(tracking::track)),
        ("/api/invoices", get(invoices::list_failed)),
        ("/api/invoices/{id}", get(invoices::get)),
        ("/api/invoices/{id}/pdf", get(invoices::pdf)),
        ("/api/me", get(me::get)),
        ("/api/queue", get(queue::get)),
        ("/api/queue/history", get(queue::history)),
        ("/api/invoices/{id}/resend", post(invoices::resend)),
        ("/api/invoices/{id}/email", put(invoices::set_email)),
        ("/api/webhooks", post(webhooks::create).get(webhooks::list)),
        ("/api/webhooks/{id}", get(webhooks::get).delete(webhooks::delete)),
        ("/api/webhooks/{id}/rotate-secret", post(webhooks::rotate_secret)),
        ("/api/webhooks/{id}/enable", post(webhooks::enable)),
        ("/api/webhooks/{id}/test", post(webhooks::test)),
        ("/api/webhooks/{id}/confirmation", post(webhooks::send_confirmation)),
        ("/api/webhooks/{id}/resend", post(webhooks::resend_since)),
        ("/api/webhooks/{id}/deliveries", get(webhooks::list_deliveries)),
        ("/api/webhooks/{id}/deliveries/{deliveryId}", get(webhooks::get_delivery)),
        ("/api/webhooks/{id}/deliveries/{deliveryId}/resend", post(webhooks::resend)),
        ("/i/{token}", get(links::open)),
        ("/c/{token}", get(webhooks::open_confirmation).post(webhooks::confirm)),
        ("/openapi.json", get(docs::openapi)),
        ("/docs", get(docs::page)),
    ]
}

/// Whoever installed the log has written where it panicked.
fn panicked(_: Box<dyn Any + Send>) -> Response {
    Problem::Internal.into_response()
}

/// Gets an answer within the time there is, and gives every problem its body. An event that was no request comes with
/// the problem that it is.
async fn answer(Extension(request_id): Extension<RequestId>, mut request: Request, next: Next) -> Response {
    if let Some(problem) = request.extensions_mut().remove::<Problem>() {
        return problem.render(&request_id);
    }
    let response = match time_left(&request) {
        None => next.run(request).await,
        Some(time) => tokio::time::timeout(time, next.run(request)).await.unwrap_or_else(|_| {
            tracing::error!(event = "request_timed_out");
            Problem::TimedOut.into_response()
        }),
    };
    if response.status().is_server_error() {
        telemetry::record(Metric::ServerErrors, SystemClock.now());
    }
    let (mut parts, body) = response.into_parts();
    let Some(problem) = parts.extensions.remove::<Problem>() else { return Response::from_parts(parts, body) };
    let mut rendered = problem.render(&request_id);
    // Such as Allow. The length was that of no body.
    parts.headers.remove(CONTENT_LENGTH);
    rendered.headers_mut().extend(parts.headers);
    rendered
}

/// API Gateway itself made the event, and none of the programs that play it on a laptop and know no routes.
#[derive(Clone, Copy)]
struct BehindApiGateway;

/// The API as API Gateway calls it: nothing writes that it took for a path without a name, and so without a limit for writes. It
/// decodes `/api%2Fparcels` only after it has chosen the limit.
pub fn only_named_writes(api: Router) -> Router {
    api.layer(Extension(BehindApiGateway))
}

async fn limited(request: Request, next: Next) -> Response {
    let unnamed = match request.extensions().get::<RequestContext>() {
        Some(RequestContext::ApiGatewayV2(context)) => context.route_key.as_deref() == Some("$default"),
        _ => false,
    } && request.extensions().get::<BehindApiGateway>().is_some();
    if unnamed && ![Method::GET, Method::HEAD].contains(request.method()) {
        return Problem::NotFound("path").into_response();
    }
    next.run(request).await
}

/// `None` where there is no Lambda that would end the function.
fn time_left(request: &Request) -> Option<Duration> {
    let deadline = request.lambda_context_ref()?.deadline();
    Some(deadline.duration_since(SystemTime::now()).unwrap_or_default().saturating_sub(TIME_TO_ANSWER))
}

/// Gives every answer its request id and security headers, and the log a line about it.
async fn finish(mut request: Request, next: Next) -> Response {
    let begin = Instant::now();
    let (request_id, gateway_id) = request_ids(&request);
    let method = request.method().clone();
    // The route and not the path, which may be a mailed link and so a secret.
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let span = tracing::info_span!("request", requestId = %request_id, gatewayId = gateway_id, %method, route);
    request.extensions_mut().insert(request_id.clone());
    async {
        let mut response = next.run(request).await;
        let milliseconds = u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX);
        tracing::info!(event = "answered", status = response.status().as_u16(), milliseconds);
        let headers = response.headers_mut();
        for (name, value) in DEFAULT_HEADERS {
            headers.entry(name).or_insert(value);
        }
        join_values(headers, &VARY);
        if let Ok(id) = HeaderValue::from_str(request_id.as_str()) {
            headers.insert(X_REQUEST_ID, id);
        }
        if method == Method::HEAD {
            if let Some(length) = response.body().size_hint().exact() {
                response.headers_mut().entry(CONTENT_LENGTH).or_insert(length.into());
            }
            *response.body_mut() = Body::empty();
        }
        response
    }
    .instrument(span)
    .await
}

/// An HTTP API's answer has one value of each header.
fn join_values(headers: &mut HeaderMap, name: &HeaderName) {
    let values: Vec<&str> = headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
    if values.len() > 1
        && let Ok(joined) = HeaderValue::from_str(&values.join(", "))
    {
        headers.insert(name.clone(), joined);
    }
}

/// What the request is called: as its caller calls it, if that is harmless, or else as API Gateway does, whose id is
/// also in its access log. The second is that id, where it is not the first.
fn request_ids(request: &Request) -> (RequestId, Option<String>) {
    let own = request.headers().get(X_REQUEST_ID).and_then(|id| id.to_str().ok()?.parse::<RequestId>().ok());
    let gateways = match request.extensions().get::<RequestContext>() {
        Some(RequestContext::ApiGatewayV2(context)) => context.request_id.as_deref().and_then(|id| id.parse().ok()),
        _ => request.extensions().get::<RequestId>().cloned(),
    };
    match (own, gateways) {
        (Some(own), gateways) => (own, gateways.map(|id: RequestId| id.to_string())),
        (None, Some(gateways)) => (gateways, None),
        (None, None) => (Uuid::new_v4().into(), None),
    }
}
