//! `GET /api/invoices/{id}`: what it bills, what it comes to, and how far it has come.

use axum::Json;
use axum::extract::State;
use parceltrack::domain::{
    AttemptOutcome, Currency, Delivery, Invoice, InvoiceId, InvoiceState, InvoiceStatus, Money, TaxCode,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::of_caller;
use crate::App;
use crate::caller::{Allowed, ManageParcels};
use crate::openapi::parameters::InvoiceInPath;
use crate::openapi::schemas;
use crate::path_id::PathId;
use crate::problem::Problem;

#[derive(Serialize, ToSchema)]
#[schema(as = Invoice)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InvoiceOut {
    #[schema(schema_with = schemas::uuid)]
    id: InvoiceId,
    number: String,
    #[schema(schema_with = schemas::uuid)]
    parcel_id: String,
    #[schema(schema_with = schemas::tracking_number)]
    tracking_number: String,
    #[schema(schema_with = schemas::invoice_status)]
    status: InvoiceStatus,
    email: String,
    email_history: Vec<EmailChangeOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[schema(schema_with = schemas::currency)]
    currency: Currency,
    #[schema(schema_with = schemas::date)]
    issued_on: String,
    #[schema(schema_with = schemas::date)]
    due_on: String,
    payment_terms_days: u16,
    lines: Vec<LineOut>,
    tax_summary: Vec<TaxSummaryOut>,
    #[schema(schema_with = schemas::amount)]
    subtotal: String,
    #[schema(schema_with = schemas::amount)]
    tax_rate: String,
    #[schema(schema_with = schemas::amount)]
    tax: String,
    #[schema(schema_with = schemas::amount)]
    total: String,
    #[schema(schema_with = schemas::time)]
    created_at: String,
    #[schema(schema_with = schemas::time)]
    updated_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = schemas::time)]
    sent_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = schemas::delivery)]
    delivery: Option<Delivery>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delivery_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = schemas::time)]
    next_attempt_at: Option<String>,
    attempt_count: u32,
    attempts: Vec<AttemptOut>,
    pdf: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = schemas::sha256)]
    pdf_sha256: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = InvoiceLine)]
#[serde(rename_all = "camelCase")]
struct LineOut {
    description: String,
    quantity: u32,
    #[schema(schema_with = schemas::amount)]
    unit_price: String,
    #[schema(schema_with = schemas::amount)]
    amount: String,
    #[schema(schema_with = schemas::tax_code)]
    tax_code: TaxCode,
}

#[derive(Serialize, ToSchema)]
#[schema(as = TaxSummary)]
#[serde(rename_all = "camelCase")]
struct TaxSummaryOut {
    #[schema(schema_with = schemas::tax_code)]
    tax_code: TaxCode,
    #[schema(schema_with = schemas::amount)]
    net: String,
    #[schema(schema_with = schemas::amount)]
    tax: String,
}

/// A change of the address, for the mail and not for the document.
#[derive(Serialize, ToSchema)]
#[schema(as = EmailChange)]
#[serde(rename_all = "camelCase")]
struct EmailChangeOut {
    email: String,
    previous: String,
    #[schema(schema_with = schemas::time)]
    changed_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    changed_by: Option<String>,
}

/// The changes of an invoice's address, oldest first.
fn email_history(invoice: &Invoice) -> Vec<EmailChangeOut> {
    let corrections = &invoice.mailing.corrections;
    let before = [&invoice.content.email].into_iter().chain(corrections.iter().map(|correction| &correction.email));
    corrections
        .iter()
        .zip(before)
        .map(|(correction, previous)| EmailChangeOut {
            email: correction.email.as_str().to_owned(),
            previous: previous.as_str().to_owned(),
            changed_at: correction.at.to_string(),
            changed_by: correction.by.clone(),
        })
        .collect()
}

#[derive(Serialize, ToSchema)]
#[schema(as = Attempt)]
struct AttemptOut {
    #[schema(schema_with = schemas::time)]
    at: String,
    #[schema(schema_with = schemas::attempt_outcome)]
    outcome: AttemptOutcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl From<Invoice> for InvoiceOut {
    fn from(invoice: Invoice) -> Self {
        let totals = invoice.content.totals();
        let (issued_on, due_on) = (invoice.content.issued_on().to_string(), invoice.content.due_on().to_string());
        let delivery = invoice.delivery();
        let (email, email_history) = (invoice.email().as_str().to_owned(), email_history(&invoice));
        let currency = invoice.content.currency;
        let plain = |money: Money| money.plain(currency);
        let (sent_at, reason) = match &invoice.state {
            InvoiceState::Sent { at, .. } => (Some(at.to_string()), None),
            InvoiceState::Failed { reason, .. } => (None, Some(reason.clone())),
            InvoiceState::Pending | InvoiceState::Generated { .. } => (None, None),
        };
        Self {
            id: invoice.content.id,
            number: invoice.content.number.to_string(),
            parcel_id: invoice.content.parcel_id.to_string(),
            tracking_number: invoice.content.tracking_number.into(),
            status: invoice.state.status(),
            email,
            email_history,
            reason,
            currency,
            issued_on,
            due_on,
            payment_terms_days: invoice.content.payment_terms_days,
            tax_summary: totals
                .by_tax_code
                .iter()
                .map(|sum| TaxSummaryOut { tax_code: sum.code, net: plain(sum.net), tax: plain(sum.tax) })
                .collect(),
            lines: invoice
                .content
                .lines
                .into_iter()
                .map(|line| LineOut {
                    description: line.description.into(),
                    quantity: line.quantity,
                    unit_price: plain(line.unit_price),
                    amount: plain(line.amount),
                    tax_code: line.tax_code,
                })
                .collect(),
            subtotal: plain(totals.subtotal),
            tax_rate: invoice.content.tax_rate.to_string(),
            tax: plain(totals.tax),
            total: plain(totals.total),
            created_at: invoice.content.created_at.to_string(),
            updated_at: invoice.updated_at.to_string(),
            sent_at,
            delivery,
            delivery_reason: invoice.mailing.report.as_ref().and_then(|report| report.reason.clone()),
            next_attempt_at: invoice.due.map(|due| due.to_string()),
            attempt_count: invoice.attempt_count,
            attempts: invoice
                .attempts
                .into_iter()
                .map(|attempt| AttemptOut {
                    at: attempt.at.to_string(),
                    outcome: attempt.outcome,
                    reason: attempt.reason,
                })
                .collect(),
            pdf_sha256: invoice.state.pdf().map(|pdf| pdf.sha256.clone()),
            pdf: invoice.state.pdf().map(|_| format!("/api/invoices/{}/pdf", invoice.content.id)),
        }
    }
}

/// Look at an invoice
///
/// What it bills, what it comes to, and how far it has come.
#[utoipa::path(
    get, path = "/api/invoices/{id}", operation_id = "getInvoice", tag = "Invoices",
    params(InvoiceInPath),
    responses(
        (status = 200, description = "The invoice", body = InvoiceOut),
        (status = 404, description = "`not-found`: no such invoice, or another's"),
    )
)]
pub(crate) async fn get(
    State(app): State<App>,
    Allowed { caller, .. }: Allowed<ManageParcels>,
    PathId(id): PathId,
) -> Result<Json<InvoiceOut>, Problem> {
    Ok(Json(of_caller(&app, &caller, InvoiceId(id)).await?.into()))
}
