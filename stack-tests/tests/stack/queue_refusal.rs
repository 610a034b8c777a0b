//! The queue is away when an invoice is asked for.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use axum::body::Body;
use axum::http::Request;
use local_stack::MERCHANT_KEY;
use outbox_relay::Relay;
use parceltrack::aws::TicketQueue;
use parceltrack::domain::{FIRST_DUE, InvoiceStatus, OwnerId, Ticket};
use parceltrack::ports::{PortError, SendTickets};
use stack_tests::{MovedClock, Stack, own_address};
use tower::ServiceExt as _;
use uuid::Uuid;

/// The queue, as if nothing waited there: what other tests have put on it is not to keep the relay from sending.
struct CaughtUp(TicketQueue);

#[async_trait]
impl SendTickets for CaughtUp {
    async fn send_batch(&self, tickets: &[(Ticket, OwnerId)]) -> Result<Vec<Ticket>, PortError> {
        self.0.send_batch(tickets).await
    }

    async fn waiting(&self) -> Result<u64, PortError> {
        Ok(0)
    }
}

#[tokio::test]
async fn an_invoice_that_the_queue_refused_is_accepted_and_mailed_by_way_of_the_relay() {
    let stack = Stack::running().await;
    let email = own_address("refused");
    let parcel = stack.create_parcel("Tan Wei Ming", &email).await;
    let parcel_id: Uuid = parcel["id"].as_str().unwrap().parse().unwrap();
    let nowhere = TicketQueue::new(stack.clients.sqs(), "http://127.0.0.1:9/000000000000/nowhere".to_owned());
    let clock = Arc::new(MovedClock::default());
    let api = stack.api(clock.clone(), Arc::new(nowhere));

    let request = Request::post(format!("/api/parcels/{parcel_id}/invoice"));
    let request = request.header("authorization", format!("Bearer {MERCHANT_KEY}")).body(Body::empty()).unwrap();
    let response = api.oneshot(request).await.unwrap();
    assert_eq!(response.status(), 202);
    let location = response.headers()["location"].to_str().unwrap().to_owned();
    let id = location.rsplit('/').next().unwrap();

    let invoice = stack.invoice(parceltrack::domain::InvoiceId(id.parse().unwrap())).await;
    assert_eq!(invoice.state.status(), InvoiceStatus::Pending);
    assert_eq!(invoice.due, Some(invoice.content.created_at + FIRST_DUE));

    // The queue is back, and the invoice is due. Whichever relay comes first, this one or the deployed one, sends it.
    clock.forward(FIRST_DUE);
    let relay = Relay { invoices: Arc::new(stack.invoices()), tickets: Arc::new(CaughtUp(stack.tickets())), clock };
    relay.run(SystemTime::now() + Duration::from_mins(1)).await.unwrap();
    stack.invoice_once(id, "Sent").await;
    assert_eq!(stack.mails_to(&email).await, 1);
}
