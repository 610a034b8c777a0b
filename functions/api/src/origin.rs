//! Answers only what came by `CloudFront`, where that is wished: it alone knows the secret that it sends along.

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use http::HeaderName;
use parceltrack::domain::OriginSecretHashes;

use crate::problem::Problem;

/// What `CloudFront` adds to each request; a caller's own is replaced there.
const ORIGIN_SECRET: HeaderName = HeaderName::from_static("x-origin-secret");

/// The API behind `CloudFront` alone: everything else is answered as a path that does not exist.
pub fn only_by_cloudfront(api: Router, good: OriginSecretHashes) -> Router {
    // Around everything, so that no handler is reached; the problem is then answered like any other.
    Router::new().fallback_service(api).layer(middleware::from_fn_with_state(good, check))
}

async fn check(State(good): State<OriginSecretHashes>, mut request: Request, next: Next) -> Response {
    let secret = request.headers_mut().remove(ORIGIN_SECRET);
    if !secret.is_some_and(|secret| good.accept(secret.as_bytes())) {
        request.extensions_mut().insert(Problem::NotFound("path"));
    }
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use axum::Extension;
    use axum::body::Body;
    use axum::routing::get;
    use http::StatusCode;
    use tower::ServiceExt as _;

    use super::*;

    async fn status(secret: Option<&str>) -> StatusCode {
        // As the edge does it: a problem that comes with the request is its answer.
        let api = Router::new().route(
            "/health",
            get(
                async |problem: Option<Extension<Problem>>| {
                    if problem.is_some() { StatusCode::NOT_FOUND } else { StatusCode::OK }
                },
            ),
        );
        let good = "a7937b64b8caa58f03721bb6bacf5c78cb235febe0e70b1b84cd99541461a08e".parse().unwrap();
        let mut request = Request::builder().uri("/health");
        if let Some(secret) = secret {
            request = request.header(ORIGIN_SECRET, secret);
        }
        let request = request.body(Body::empty()).unwrap();
        only_by_cloudfront(api, good).oneshot(request).await.unwrap().status()
    }

    #[tokio::test]
    async fn what_did_not_come_by_cloudfront_is_not_found() {
        assert_eq!(status(Some("first")).await, StatusCode::OK);
        assert_eq!(status(Some("second")).await, StatusCode::NOT_FOUND);
        assert_eq!(status(None).await, StatusCode::NOT_FOUND);
    }
}
