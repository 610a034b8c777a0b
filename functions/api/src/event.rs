//! From API Gateway's event to an HTTP request, and back.
//!
//! `lambda_http` does the translation, but panics on events that API Gateway does make: a space in the query, a body
//! that is no base64, a strange Host. And HTTP APIs hand over a path that is already percent-decoded, in which a `?` or
//! `..` would become another route. So events are put in order first.

use std::panic::AssertUnwindSafe;

use axum::Router;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::FutureExt as _;
use http::HeaderValue;
use http::header::{HOST, HeaderName, ORIGIN};
use lambda_http::aws_lambda_events::apigw::ApiGatewayV2httpRequest;
use lambda_http::lambda_runtime::Context;
use lambda_http::request::LambdaRequest;
use lambda_http::{Adapter, Error, LambdaEvent, Service as _};
use parceltrack::domain::RequestId;
use parceltrack::invocation::{self, Timeout};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::problem::Problem;

/// What may not stand in a path as it is (RFC 3986 section 3.3). The event's path is decoded, so `%` is a per cent sign.
const NOT_IN_PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// What may not stand in a query as it is (RFC 3986 section 3.4). The event's query is encoded, so `%` stays.
const NOT_IN_QUERY: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// How long path and query may be together. API Gateway takes 10,240 bytes, and encoding makes at most three of one; a URI of
/// more than 65,534 makes `lambda_http` panic.
/// <https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html>
const LONGEST_URI: usize = 3 * 10_240;

/// Serves API Gateway's events until Lambda stops the process.
pub async fn serve(router: Router, timeout: Timeout) -> Result<(), Error> {
    invocation::serve(timeout, |event: LambdaEvent<Value>| handle(router.clone(), event.payload, event.context)).await
}

/// Answers one event. Whatever stands in it, there is an answer.
pub async fn handle(router: Router, event: Value, context: Context) -> Result<Value, Error> {
    let refusal = Refusal::prepare(&event, &context);
    let request = match put_in_order(event) {
        Ok(request) => request,
        Err(problem) => return refusal.answer(router, problem).await,
    };
    let event = LambdaEvent::new(LambdaRequest::ApiGatewayV2(request), context);
    // What our own code panics over is answered by the router. Here it would be the translation, over an event that is
    // stranger than those we know.
    let translated = AssertUnwindSafe(async { Adapter::from(router.clone()).call(event).await }).catch_unwind().await;
    match translated {
        Ok(response) => Ok(serde_json::to_value(response?)?),
        Err(_) => refusal.answer(router, Problem::Internal).await,
    }
}

/// What is needed to answer an event that does not become a request.
struct Refusal {
    origin: Option<HeaderValue>,
    request_id: Option<RequestId>,
}

impl Refusal {
    fn prepare(event: &Value, context: &Context) -> Self {
        let origin = event["headers"]["origin"].as_str().and_then(|origin| origin.parse().ok());
        Self { origin, request_id: context.request_id.parse().ok() }
    }

    /// Through the router, so that this answer has what every answer has.
    async fn answer(self, router: Router, problem: Problem) -> Result<Value, Error> {
        let mut request = http::Request::new(axum::body::Body::empty());
        if let Some(origin) = self.origin {
            request.headers_mut().insert(ORIGIN, origin);
        }
        if let Some(request_id) = self.request_id {
            request.extensions_mut().insert(request_id);
        }
        request.extensions_mut().insert(problem);
        let Ok(response) = router.oneshot(request).await;
        let (parts, body) = response.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await?;
        let headers: serde_json::Map<String, Value> = parts
            .headers
            .iter()
            .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.into())))
            .collect();
        Ok(json!({
            "statusCode": parts.status.as_u16(),
            "headers": headers,
            "body": String::from_utf8_lossy(&body),
            "isBase64Encoded": false,
            "cookies": [],
        }))
    }
}

fn put_in_order(mut event: Value) -> Result<ApiGatewayV2httpRequest, Problem> {
    // One that HTTP does not allow would spoil the whole event.
    if let Some(headers) = event.get_mut("headers").and_then(Value::as_object_mut) {
        headers.retain(|name, value| {
            let value = value.as_str().map(|value| HeaderValue::from_bytes(value.as_bytes()));
            name.parse::<HeaderName>().is_ok() && matches!(value, Some(Ok(_)))
        });
    }
    let mut event: ApiGatewayV2httpRequest = serde_json::from_value(event)
        .map_err(|_| Problem::Malformed("This is not an event of an HTTP API (payload version 2.0).".to_owned()))?;

    let path = event.raw_path.take().unwrap_or_default();
    let stage = event.request_context.stage.take().unwrap_or_default();
    event.raw_path = Some(route_path(&path, &stage)?);
    event.raw_query_string = event.raw_query_string.map(|query| utf8_percent_encode(&query, NOT_IN_QUERY).to_string());
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    if length(&event.raw_path) + length(&event.raw_query_string) > LONGEST_URI {
        return Err(Problem::Malformed("Path and query are too long.".to_owned()));
    }
    if event.is_base64_encoded && event.body.as_ref().is_some_and(|body| STANDARD.decode(body).is_err()) {
        return Err(Problem::Malformed("The body is not valid base64.".to_owned()));
    }
    // Nothing here depends on the host's name, and a strange one would not fit into a URL.
    event.headers.remove(HOST);
    event.request_context.domain_name = None;
    Ok(event)
}

/// The path that routes are matched against: without the stage, encoded, and otherwise as it came. One that is spelled
/// otherwise is another path, as it is to API Gateway, whose limits are for routes as they are named.
fn route_path(path: &str, stage: &str) -> Result<String, Problem> {
    let path = match path.strip_prefix('/').and_then(|rest| rest.strip_prefix(stage)) {
        Some(rest) if !stage.is_empty() && stage != "$default" && (rest.is_empty() || rest.starts_with('/')) => rest,
        _ => path,
    };
    if path.split(['/', '\\']).any(|segment| matches!(segment, "." | "..")) {
        return Err(Problem::NotFound("path"));
    }
    let path = path.strip_prefix('/').unwrap_or(path);
    Ok(format!("/{}", utf8_percent_encode(path, NOT_IN_PATH)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_stage_is_not_part_of_the_route() {
        for (path, stage, route) in [
            ("/uat/api/parcels", "uat", "/api/parcels"),
            ("/uat", "uat", "/"),
            ("/uatx/api", "uat", "/uatx/api"),
            ("/api/parcels", "uat", "/api/parcels"),
            ("/api/parcels", "$default", "/api/parcels"),
            ("/api/parcels/", "$default", "/api/parcels/"),
            ("//api", "", "//api"),
            ("", "", "/"),
            ("*", "", "/*"),
        ] {
            assert_eq!(route_path(path, stage).unwrap(), route, "{path} on {stage}");
        }
    }

    #[test]
    fn a_decoded_path_cannot_become_another_route() {
        for (path, route) in [
            ("/api/parcels/abc?limit=1", "/api/parcels/abc%3Flimit=1"),
            ("/api/parcels/a#b", "/api/parcels/a%23b"),
            ("/api/parcels/50%", "/api/parcels/50%25"),
            ("/api/parcels/%2e%2e/x", "/api/parcels/%252e%252e/x"),
            ("/api/陈", "/api/%E9%99%88"),
        ] {
            assert_eq!(route_path(path, "").unwrap(), route);
        }
        for path in ["/api/../i/x", "/..", "/api/.", "/api\\..\\i"] {
            assert_eq!(route_path(path, ""), Err(Problem::NotFound("path")), "{path}");
        }
    }
}
