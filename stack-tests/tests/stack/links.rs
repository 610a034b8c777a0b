//! The link in the mail, with the clock moved.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::response::Response;
use parceltrack::domain::{LinkSecret, LinkToken};
use stack_tests::{MovedClock, Stack, own_address, rules, smtp, ticket_record, work};
use tower::ServiceExt as _;
use uuid::Uuid;

async fn open(api: &Router, path: &str) -> Response {
    api.clone().oneshot(Request::get(path).body(Body::empty()).unwrap()).await.unwrap()
}

async fn page_of(response: Response) -> String {
    assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8");
    String::from_utf8(axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap().to_vec()).unwrap()
}

#[tokio::test]
async fn a_link_works_at_23_59_and_is_gone_at_24_01() {
    let stack = Stack::running().await;
    let invoice = stack.invoice_without_ticket(&own_address("link")).await;
    let path = format!("/i/{}", LinkToken { invoice: invoice.content.id, secret: invoice.link_secret });
    let clock = Arc::new(MovedClock::default());
    let api = stack.api(clock.clone(), Arc::new(stack.tickets()));
    assert_eq!(open(&api, &path).await.status(), StatusCode::NOT_FOUND, "nothing was mailed yet");

    let queues = stack.own_queues().await;
    let worker = stack.worker(&queues, smtp(&stack.addresses.smtp_url), rules());
    assert!(work(&worker, &[ticket_record("m1", &invoice, 1)]).await.is_empty());

    clock.forward(Duration::from_mins(23 * 60 + 59));
    let response = open(&api, &path).await;
    assert_eq!(response.status(), StatusCode::FOUND);
    let pdf = stack.open(response.headers()["location"].to_str().unwrap()).await;
    assert_eq!(pdf.headers()["content-type"], "application/pdf");

    clock.forward(Duration::from_mins(2));
    let response = open(&api, &path).await;
    assert_eq!(response.status(), StatusCode::GONE);
    assert!(page_of(response).await.contains("Lion City Logistics"));
}

#[tokio::test]
async fn a_guessed_or_damaged_link_opens_nothing() {
    let stack = Stack::running().await;
    let invoice = stack.invoice_without_ticket(&own_address("guess")).await;
    let queues = stack.own_queues().await;
    let worker = stack.worker(&queues, smtp(&stack.addresses.smtp_url), rules());
    assert!(work(&worker, &[ticket_record("m1", &invoice, 1)]).await.is_empty());

    let api = stack.api(Arc::new(MovedClock::default()), Arc::new(stack.tickets()));
    let guessed = LinkToken { invoice: invoice.content.id, secret: LinkSecret(Uuid::new_v4()) };
    for path in
        [format!("/i/{guessed}"), "/i/abc".to_owned(), "/i/..%2f..".to_owned(), format!("/i/{}", "A".repeat(43))]
    {
        let response = open(&api, &path).await;
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{path}");
        page_of(response).await;
    }
}

#[tokio::test]
async fn the_pdf_is_shown_or_saved_as_the_caller_asks() {
    let stack = Stack::running().await;
    let parcel = stack.create_parcel("Tan Wei Ming", &own_address("save")).await;
    let id = stack.request_invoice(&parcel).await;
    stack.invoice_once(&id, "Sent").await;
    for (query, disposition) in
        [("", "inline"), ("?disposition=inline", "inline"), ("?disposition=attachment", "attachment")]
    {
        let answer = stack.get(&format!("/api/invoices/{id}/pdf{query}")).send().await.unwrap();
        assert_eq!(answer.status(), 302, "{query}");
        let pdf = stack.open(answer.headers()["location"].to_str().unwrap()).await;
        let told = pdf.headers()["content-disposition"].to_str().unwrap();
        assert!(told.starts_with(&format!("{disposition}; filename=\"INV-")), "{told}");
    }
    let answer = stack.get(&format!("/api/invoices/{id}/pdf?disposition=x")).send().await.unwrap();
    assert_eq!(answer.status(), 400);
}
