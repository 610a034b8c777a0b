//! Orders: a new parcel, and its invoice. Of ten invoices six have one line, two have eight, one has forty, and one is in
//! five scripts.

use anyhow::{Context, Result, ensure};
use bench::caller::KEY;
use bench::{Invocation, Process, events};
use serde_json::{Value, json};

use std::time::Duration;

/// A parcel that was made.
pub(super) struct Ordered {
    /// Its id.
    pub(super) parcel: String,
    /// How long the API took for the parcel.
    pub(super) parcel_took: Duration,
    /// How long it took for the invoice.
    pub(super) invoice_took: Duration,
}

/// Lets the API make the parcel of this number, and then its invoice.
pub(super) async fn order(api: &Process, number: usize) -> Result<Ordered> {
    let created = request(api, "POST", "/api/parcels", "", Some(&parcel(number)), 201).await?;
    let id = text(&body(&created)?["id"])?;
    let path = format!("/api/parcels/{id}/invoice");
    let accepted = request(api, "POST", &path, "", invoice(number).as_ref(), 202).await?;
    Ok(Ordered { parcel: id, parcel_took: created.took, invoice_took: accepted.took })
}

/// A request that must be answered with this status.
pub(super) async fn request(
    api: &Process,
    method: &str,
    path: &str,
    query: &str,
    body: Option<&Value>,
    status: u16,
) -> Result<Invocation> {
    let answer = api.invoke(&events::request(method, path, query, KEY, &[], body)).await?;
    ensure!(answer.answer["statusCode"] == status, "{method} {path}: not {status}: {}", answer.answer);
    Ok(answer)
}

/// The body of an answer of the API.
pub(super) fn body(answer: &Invocation) -> Result<Value> {
    Ok(serde_json::from_str(answer.answer["body"].as_str().context("an answer without a body")?)?)
}

pub(super) fn text(value: &Value) -> Result<String> {
    Ok(value.as_str().context("not a text")?.to_owned())
}

fn parcel(number: usize) -> Value {
    let recipient = match number % 10 {
        8 => "陈伟明 / Siti Nurhaliza",
        9 => "Lau Pa Sat Wholesale Pte Ltd",
        _ => "Tan Wei Ming",
    };
    json!({
        "recipient": recipient,
        "email": format!("customer{number}@example.com"),
        "address": "21 Choa Chu Kang Avenue 4, #05-12",
        "postalCode": "689812",
        "phone": "+6591234567",
        "reference": format!("PO-2026-{number:06}"),
    })
}

/// What is to be billed; `None` is the usual fee, one line.
fn invoice(number: usize) -> Option<Value> {
    let descriptions: Vec<String> = match number % 10 {
        6 | 7 => (1..=8).map(|line| format!("Delivery to Jurong East, fragile goods, parcel {line}")).collect(),
        8 => [
            "Delivery of parcel to Café Søren, Nguyễn Thị Ánh",
            "包裹派送：樟宜至裕廊东（当日送达）",
            "繁體中文：易碎物品，請小心輕放，謝謝",
            "தமிழ்: சிங்கப்பூருக்குள் பொதி விநியோகம், கையொப்பத்துடன்",
            "Доставка посылки, Ελληνικά",
        ]
        .map(str::to_owned)
        .to_vec(),
        9 => (1..=40).map(|line| format!("Door-to-door collection and delivery, parcel LCL{line:08}")).collect(),
        _ => return None,
    };
    let line =
        |description| json!({"description": description, "quantity": 2, "unitPrice": "12.50", "taxCode": "standard"});
    let lines: Vec<Value> = descriptions.into_iter().map(line).collect();
    Some(json!({"lines": lines, "currency": "SGD"}))
}
