//! `hot-paths PATH TIMES`: goes a path so many times. All that it needs of the world is in this process, so that the
//! instructions it takes are the path's own, and the same each time.

use std::env;
use std::hint::black_box;

use anyhow::{Context, Result, bail, ensure};
use api::{App, Settings};
use axum::Router;
use bench::caller::{KEY, issue_key};
use bench::{Aws, clients, events};
use invoice_worker::pdf::{render, samples};
use lambda_runtime::Context as LambdaContext;
use serde_json::{Value, json};

/// A page of a list, as the page asks for it.
const PARCELS: usize = 20;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [path, times] = arguments.as_slice() else { bail!("hot-paths PATH TIMES") };
    let times: usize = times.parse()?;
    if path == "render-one-line" {
        let invoice = samples::named("one-line").context("no such sample")?;
        for _ in 0..times {
            black_box(render(black_box(&invoice))?);
        }
        return Ok(());
    }
    let api = Api::with_parcels().await?;
    for time in 0..times {
        let parcel = &api.parcels[time % PARCELS];
        let invoice = format!("{parcel}/invoice");
        match path.as_str() {
            "create-parcel" => api.ask("POST", "/api/parcels", Some(&format!("order-{time}"))).await?,
            "request-invoice" => {
                // Each is the parcel's first.
                api.aws.clear("invoices");
                api.ask("POST", &invoice, None).await?
            }
            "get-parcel" => api.ask("GET", parcel, None).await?,
            "list-parcels" => api.ask("GET", "/api/parcels", None).await?,
            other => bail!("no path is called {other}"),
        };
    }
    Ok(())
}

/// The API on an AWS in memory.
struct Api {
    router: Router,
    aws: Aws,
    parcels: Vec<String>,
}

impl Api {
    async fn with_parcels() -> Result<Self> {
        let aws = Aws::default();
        issue_key(&aws).await?;
        let app = App::on_aws(Settings::from_env()?, &clients(aws.clone()));
        let mut api = Self { router: api::router(app, &[]), aws, parcels: Vec::new() };
        for number in 0..PARCELS {
            let parcel = api.ask("POST", "/api/parcels", Some(&format!("first-{number}"))).await?;
            api.parcels.push(format!("/api/parcels/{}", parcel["id"].as_str().context("a parcel without an id")?));
        }
        Ok(api)
    }

    async fn ask(&self, method: &str, path: &str, key: Option<&str>) -> Result<Value> {
        let parcel = json!({
            "recipient": "Tan Wei Ming",
            "email": "tan@example.com",
            "address": "21 Choa Chu Kang Avenue 4, #05-12",
            "postalCode": "689812",
            "phone": "+6591234567",
            "reference": "PO-2026-1130",
        });
        let headers: Vec<_> = key.map(|key| ("idempotency-key", key)).into_iter().collect();
        let event = events::request(method, path, "", KEY, &headers, key.map(|_| &parcel));
        let mut context = LambdaContext::default();
        context.deadline = u64::MAX;
        let answer = api::handle(self.router.clone(), event, context).await.map_err(|error| anyhow::anyhow!(error))?;
        ensure!(answer["statusCode"].as_u64().is_some_and(|status| status < 300), "{answer}");
        Ok(serde_json::from_str(answer["body"].as_str().context("no body")?)?)
    }
}
