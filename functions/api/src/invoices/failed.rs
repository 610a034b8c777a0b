//! `GET /api/invoices?status=Failed`: what operators must look at, the latest first.

use axum::Json;
use axum::extract::{RawQuery, State};
use parceltrack::domain::{Invoice, InvoiceId, InvoiceState, InvoiceStatus};
use parceltrack::ports::{FailedInvoice, FailedPageEnd};
use serde::Serialize;
use utoipa::ToSchema;

use crate::App;
use crate::caller::{Allowed, RunTheService};
use crate::cursor::{List, Place};
use crate::openapi::parameters::{FailedWanted, Page};
use crate::openapi::schemas;
use crate::path_id::hyphenated;
use crate::problem::Problem;
use crate::query::{limit, parameter};

#[derive(Serialize, ToSchema)]
#[schema(as = FailedInvoices)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FailedInvoicesOut {
    invoices: Vec<FailedInvoiceOut>,
    next_cursor: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = FailedInvoice)]
#[serde(rename_all = "camelCase")]
struct FailedInvoiceOut {
    #[schema(schema_with = schemas::uuid)]
    id: InvoiceId,
    number: String,
    #[schema(schema_with = schemas::uuid)]
    parcel_id: String,
    #[schema(schema_with = schemas::tracking_number)]
    tracking_number: String,
    owner: String,
    recipient: String,
    email: String,
    #[schema(schema_with = schemas::invoice_status)]
    status: InvoiceStatus,
    reason: Option<String>,
    #[schema(schema_with = schemas::time)]
    failed_at: String,
    attempt_count: u32,
}

impl From<FailedInvoice> for FailedInvoiceOut {
    fn from(FailedInvoice { invoice, failed_at }: FailedInvoice) -> Self {
        let (email, status) = (invoice.email().as_str().to_owned(), invoice.state.status());
        let Invoice { content, state, attempt_count, .. } = invoice;
        Self {
            id: content.id,
            number: content.number.to_string(),
            parcel_id: content.parcel_id.to_string(),
            tracking_number: content.tracking_number.into(),
            owner: content.owner.as_str().to_owned(),
            recipient: content.recipient.into(),
            email,
            status,
            reason: match state {
                InvoiceState::Failed { reason, .. } => Some(reason),
                InvoiceState::Pending | InvoiceState::Generated { .. } | InvoiceState::Sent { .. } => None,
            },
            failed_at: failed_at.to_string(),
            attempt_count,
        }
    }
}

/// List failed invoices
///
/// Everybody's, for operators.
#[utoipa::path(
    get, path = "/api/invoices", operation_id = "listFailedInvoices", tag = "Invoices",
    params(FailedWanted, Page),
    responses((status = 200, description = "One page, the latest first", body = FailedInvoicesOut))
)]
pub(crate) async fn list_failed(
    State(app): State<App>,
    _: Allowed<RunTheService>,
    RawQuery(query): RawQuery,
) -> Result<Json<FailedInvoicesOut>, Problem> {
    let query = query.unwrap_or_default();
    // The others have no list: nobody needs them in one, and they would be millions.
    if parameter(&query, "status").as_deref() != Some("Failed") {
        return Err(Problem::invalid_parameter("status", "must be Failed"));
    }
    let limit = limit(&query)?;
    let list = List::of("failed invoices", &[]);
    let after = list.after(&query, |place| {
        Some(FailedPageEnd { failed_at: place.time, invoice_id: InvoiceId(hyphenated(&place.rest)?) })
    })?;
    let page = app.failed_invoices.failed(limit, after).await?;
    Ok(Json(FailedInvoicesOut {
        invoices: page.invoices.into_iter().map(Into::into).collect(),
        next_cursor: page.end.map(|end| list.cursor(&Place { time: end.failed_at, rest: end.invoice_id.to_string() })),
    }))
}
