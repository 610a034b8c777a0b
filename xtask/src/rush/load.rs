//! The orders of a rush, begun on schedule.

use std::fmt;
use std::time::Duration;

use anyhow::Result;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use crate::api::{Api, UnexpectedStatus};

/// How many orders, and for how long.
#[derive(Clone, Copy)]
pub(super) struct Load {
    /// Orders a second.
    pub(super) rate: f64,
    pub(super) seconds: f64,
}

impl Load {
    /// When each order begins, counted from the beginning of the first.
    fn schedule(self) -> impl Iterator<Item = Duration> {
        let end = Duration::from_secs_f64(self.seconds);
        (0_u32..)
            .map(move |number| Duration::from_secs_f64(f64::from(number) / self.rate))
            .take_while(move |at| *at < end)
    }
}

/// One order, and what came of it.
pub(super) struct Order {
    pub(super) email: String,
    /// The parcel's id, if it was created.
    pub(super) parcel: Option<String>,
    /// From the moment at which the order should have begun to the answer 201.
    pub(super) parcel_took: Option<Duration>,
    /// From the parcel's answer to the answer 202.
    pub(super) invoice_took: Option<Duration>,
    pub(super) failure: Option<Failure>,
}

impl Order {
    /// Whether the API has said 202.
    pub(super) fn is_promised(&self) -> bool {
        self.invoice_took.is_some()
    }
}

/// Why an order was not accepted.
pub(super) struct Failure(anyhow::Error);

impl Failure {
    pub(super) fn is_server_error(&self) -> bool {
        self.0.downcast_ref::<UnexpectedStatus>().is_some_and(|unexpected| unexpected.status.is_server_error())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:#}", self.0)
    }
}

/// Begins orders as the load says, and returns when the last is answered.
pub(super) async fn orders(api: &Api, load: Load) -> Result<Vec<Order>> {
    let begin = Instant::now();
    let mut asking = JoinSet::new();
    for at in load.schedule() {
        sleep_until(begin + at).await;
        let email = format!("rush-{:016x}@example.com", fastrand::u64(..));
        asking.spawn(order(api.clone(), email, begin + at));
    }
    let mut orders = Vec::with_capacity(asking.len());
    while let Some(order) = asking.join_next().await {
        orders.push(order?);
    }
    Ok(orders)
}

async fn order(api: Api, email: String, scheduled: Instant) -> Order {
    let mut order = Order { email, parcel: None, parcel_took: None, invoice_took: None, failure: None };
    match api.create_parcel("Lim Mei Ling", &order.email).await {
        Ok(parcel) => {
            order.parcel_took = Some(scheduled.elapsed());
            match api.request_invoice(&parcel.answer.id).await {
                Ok(accepted) => order.invoice_took = Some(accepted.took),
                Err(error) => order.failure = Some(Failure(error)),
            }
            order.parcel = Some(parcel.answer.id);
        }
        Err(error) => order.failure = Some(Failure(error)),
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_begin_evenly_and_stop_at_the_end() {
        let at: Vec<_> = Load { rate: 4.0, seconds: 1.0 }.schedule().collect();
        assert_eq!(at, [0, 250, 500, 750].map(Duration::from_millis));
    }
}
