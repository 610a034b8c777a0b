//! The part of ParcelTrack's API that smoke, drill, chaos and rush use, as any client would.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use parceltrack::domain::DomainEventType;
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

/// What the API answered, and how long that took.
pub(crate) struct Timed<T> {
    pub(crate) answer: T,
    pub(crate) took: Duration,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Parcel {
    pub(crate) id: String,
    pub(crate) tracking_number: String,
}

#[derive(Deserialize)]
pub(crate) struct AcceptedInvoice {
    pub(crate) id: String,
}

#[derive(Deserialize)]
pub(crate) struct Invoice {
    pub(crate) status: String,
    pub(crate) reason: Option<String>,
    pub(crate) total: String,
    pub(crate) attempts: Vec<Attempt>,
}

#[derive(Deserialize)]
pub(crate) struct Attempt {
    pub(crate) outcome: String,
    pub(crate) reason: Option<String>,
}

/// A parcel of the list, with what became of its invoice.
#[derive(Deserialize)]
pub(crate) struct ListedParcel {
    pub(crate) id: String,
    pub(crate) invoice: Option<ListedInvoice>,
}

#[derive(Deserialize)]
pub(crate) struct ListedInvoice {
    pub(crate) status: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ParcelPage {
    parcels: Vec<ListedParcel>,
    next_cursor: Option<String>,
}

/// The figures of the queue that commands use.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Queue {
    pub(crate) backlog: u64,
    pub(crate) oldest_wait_seconds: Option<u64>,
    pub(crate) sends_per_second: f64,
    pub(crate) pace: f64,
    pub(crate) drain_seconds: u64,
    pub(crate) dead_letters: u64,
}

/// An answer with another status than the one hoped for.
#[derive(Debug, thiserror::Error)]
#[error("{url} answers {status}, not {expected}: {body}")]
pub(crate) struct UnexpectedStatus {
    url: reqwest::Url,
    pub(crate) status: StatusCode,
    expected: StatusCode,
    body: String,
}

#[derive(Clone)]
pub(crate) struct Api {
    url: String,
    key: String,
    http: Client,
}

impl Api {
    /// The API at this address, for the bearer of this key.
    pub(crate) fn new(url: &str, key: &str) -> Self {
        let http = Client::builder()
            // The addresses behind redirects are part of what is tested.
            .redirect(Policy::none())
            .timeout(Duration::from_secs(30))
            .build()
            .unwrap_or_default();
        Self { url: url.to_owned(), key: key.to_owned(), http }
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.http.get(format!("{}{path}", self.url)).bearer_auth(&self.key)
    }

    fn post(&self, path: &str) -> RequestBuilder {
        self.http.post(format!("{}{path}", self.url)).bearer_auth(&self.key)
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) async fn health(&self) -> Result<Timed<()>> {
        let call = self.get("/health");
        let timed = timed(call, StatusCode::OK).await?;
        Ok(Timed { answer: (), took: timed.took })
    }

    pub(crate) async fn create_parcel(&self, recipient: &str, email: &str) -> Result<Timed<Parcel>> {
        let call = self.post("/api/parcels");
        let body = json!({"recipient": recipient, "email": email});
        parsed(timed(call.json(&body), StatusCode::CREATED).await?).await
    }

    /// Creates a parcel under an idempotency key, so that trying again makes no second one.
    pub(crate) async fn create_parcel_once(&self, recipient: &str, email: &str, key: &str) -> Result<Timed<Parcel>> {
        let call = self.post("/api/parcels").header("idempotency-key", key);
        let body = json!({"recipient": recipient, "email": email});
        parsed(timed(call.json(&body), StatusCode::CREATED).await?).await
    }

    /// Registers webhooks of a merchant without parcels, each with another contact, who is asked by mail; their addresses.
    pub(crate) async fn name_contacts(&self, number: usize) -> Result<Vec<String>> {
        let mut contacts = Vec::with_capacity(number);
        for _ in 0..number {
            let contact = format!("contact-{:016x}@example.com", fastrand::u64(..));
            let body = json!({
                "url": "https://shop.example.com/webhooks",
                "eventTypes": ["ParcelCreated"],
                "contactEmail": contact,
            });
            timed(self.post("/api/webhooks?owner=without-parcels").json(&body), StatusCode::CREATED).await?;
            contacts.push(contact);
        }
        Ok(contacts)
    }

    pub(crate) async fn request_invoice(&self, parcel: &str) -> Result<Timed<AcceptedInvoice>> {
        let call = self.post(&format!("/api/parcels/{parcel}/invoice"));
        parsed(timed(call, StatusCode::ACCEPTED).await?).await
    }

    /// Registers an endpoint for all events, under an idempotency key.
    pub(crate) async fn register_webhook(&self, url: &str, key: &str) -> Result<()> {
        let call = self.post("/api/webhooks").header("idempotency-key", key);
        let kinds = DomainEventType::ALL.map(DomainEventType::name);
        let body = json!({"url": url, "eventTypes": kinds, "contactEmail": "webhooks@example.com"});
        timed(call.json(&body), StatusCode::CREATED).await?;
        Ok(())
    }

    pub(crate) async fn invoice(&self, id: &str) -> Result<Invoice> {
        let call = self.get(&format!("/api/invoices/{id}"));
        Ok(parsed(timed(call, StatusCode::OK).await?).await?.answer)
    }

    /// Asks again and again until the invoice is `Sent`; a `Failed` one never will be.
    pub(crate) async fn wait_until_sent(&self, id: &str, patience: Duration) -> Result<Invoice> {
        let end = Instant::now() + patience;
        loop {
            let invoice = self.invoice(id).await?;
            match invoice.status.as_str() {
                "Sent" => return Ok(invoice),
                "Failed" => bail!("invoice {id} failed: {}", invoice.reason.unwrap_or_default()),
                status if Instant::now() > end => {
                    bail!("invoice {id} is still {status} after {} s", patience.as_secs());
                }
                _ => tokio::time::sleep(Duration::from_millis(200)).await,
            }
        }
    }

    /// Every parcel there is, newest first.
    pub(crate) async fn parcels(&self) -> Result<Vec<ListedParcel>> {
        let mut parcels = Vec::new();
        let mut cursor = None;
        loop {
            let mut path = "/api/parcels?limit=100".to_owned();
            if let Some(cursor) = cursor {
                path = format!("{path}&cursor={cursor}");
            }
            let page: Timed<ParcelPage> = parsed(timed(self.get(&path), StatusCode::OK).await?).await?;
            parcels.extend(page.answer.parcels);
            cursor = page.answer.next_cursor;
            if cursor.is_none() {
                return Ok(parcels);
            }
        }
    }

    /// How much is still to be done.
    pub(crate) async fn queue(&self) -> Result<Queue> {
        let call = self.get("/api/queue");
        Ok(parsed(timed(call, StatusCode::OK).await?).await?.answer)
    }

    /// Where the redirect at `url` leads.
    pub(crate) async fn redirect(&self, url: &str) -> Result<String> {
        let answer = timed(self.http.get(url), StatusCode::FOUND).await?.answer;
        let location = answer.headers().get("location").context("a redirect without Location")?;
        Ok(location.to_str()?.to_owned())
    }

    pub(crate) async fn bytes(&self, url: &str) -> Result<Vec<u8>> {
        let answer = timed(self.http.get(url), StatusCode::OK).await?.answer;
        Ok(answer.bytes().await?.to_vec())
    }
}

async fn timed(call: RequestBuilder, expected: StatusCode) -> Result<Timed<Response>> {
    let begin = Instant::now();
    let answer = call.send().await?;
    let took = begin.elapsed();
    if answer.status() != expected {
        let (url, status) = (answer.url().clone(), answer.status());
        let body = answer.text().await?.trim().to_owned();
        bail!(UnexpectedStatus { url, status, expected, body });
    }
    Ok(Timed { answer, took })
}

async fn parsed<T: DeserializeOwned>(timed: Timed<Response>) -> Result<Timed<T>> {
    let url = timed.answer.url().clone();
    let answer = timed.answer.json().await;
    let answer = answer.with_context(|| format!("{url} answers something else than agreed"))?;
    Ok(Timed { answer, took: timed.took })
}
