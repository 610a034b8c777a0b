//! `POST /api/parcels/{id}/invoice`: writes the invoice with its due time, then the ticket, and answers 202.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use http::StatusCode;
use http::header::LOCATION;
use parceltrack::domain::{
    Currency, FIRST_DUE, InvoiceContent, InvoiceId, InvoiceStatus, Line, LinkSecret, MAX_LINES, Money, Parcel,
    RequestId, TaxCode, Text, Ticket,
};
use parceltrack::ports::{InvoiceCreation, NewInvoice};
use parceltrack::telemetry::{self, Metric};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::App;
use crate::caller::{Allowed, ManageParcels};
use crate::fields::{Fields, Problems, whole_number};
use crate::json::OptionalJson;
use crate::openapi::bodies::InvoiceRequest;
use crate::openapi::parameters::ParcelInPath;
use crate::openapi::schemas;
use crate::parcels::{PathParcel, get_of_caller};
use crate::problem::Problem;

/// What the caller wants billed.
#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    /// The delivery, at the usual fee.
    UsualFee,
    /// The delivery, at this price before tax.
    Amount(Money),
    /// These lines, in this currency.
    Lines(Vec<Line>, Currency),
}

impl Wanted {
    fn parse(body: Option<Value>) -> Result<Self, Problem> {
        let Some(body) = body else { return Ok(Self::UsualFee) };
        let mut problems = Problems::default();
        let wanted = Fields::of(body, "", &mut problems).and_then(|mut fields| {
            let currency = fields.optional("currency", &mut problems, |code| code.parse::<Currency>());
            let read_in = currency.flatten().unwrap_or(Currency::Sgd);
            let amount = fields.optional("amount", &mut problems, |text| Money::parse(&text, read_in));
            let lines = fields.take("lines");
            fields.finish(&mut problems);
            let wanted = match (amount?, lines) {
                (Some(_), Some(_)) => {
                    problems.add("amount", "must not stand beside lines");
                    return None;
                }
                (Some(amount), None) => Self::Amount(amount),
                (None, Some(lines)) => Self::Lines(parse_lines(lines, read_in, &mut problems)?, read_in),
                (None, None) => Self::UsualFee,
            };
            if read_in != Currency::Sgd && wanted.bears_tax() {
                // IRAS wants the tax on a tax invoice in Singapore dollars, and we have no rate of exchange to state it by.
                problems.add("currency", "must be SGD where a line is standard-rated");
            }
            Some(wanted)
        });
        problems.into_result(wanted)
    }

    fn bears_tax(&self) -> bool {
        match self {
            Self::UsualFee | Self::Amount(_) => true,
            Self::Lines(lines, _) => lines.iter().any(|line| line.tax_code == TaxCode::Standard),
        }
    }

    fn into_lines(self, parcel: &Parcel, fee: Money) -> Result<(Vec<Line>, Currency), Problem> {
        let amount = match self {
            Self::Lines(lines, currency) => return Ok((lines, currency)),
            Self::Amount(amount) => amount,
            Self::UsualFee => fee,
        };
        let description =
            Text::try_from(format!("Delivery of parcel {}", parcel.tracking_number)).map_err(|_| Problem::Internal)?;
        let line =
            Line::new(description, 1, amount, TaxCode::Standard, Currency::Sgd).map_err(|_| Problem::Internal)?;
        Ok((vec![line], Currency::Sgd))
    }
}

fn parse_lines(lines: Value, currency: Currency, problems: &mut Problems) -> Option<Vec<Line>> {
    let Value::Array(lines) = lines else {
        problems.add("lines", "must be an array");
        return None;
    };
    if lines.is_empty() || lines.len() > MAX_LINES {
        problems.add("lines", format!("must be 1 to {MAX_LINES} lines"));
        return None;
    }
    let lines: Vec<_> = lines
        .into_iter()
        .enumerate()
        .map(|(index, line)| parse_line(line, &format!("lines[{index}]"), currency, problems))
        .collect();
    let lines = lines.into_iter().collect::<Option<Vec<Line>>>()?;
    let subtotal: Money = lines.iter().map(|line| line.amount).sum();
    if subtotal > currency.largest_amount() {
        problems.add("lines", format!("must come to at most {}", currency.largest_amount().plain(currency)));
        return None;
    }
    Some(lines)
}

fn parse_line(line: Value, path: &str, currency: Currency, problems: &mut Problems) -> Option<Line> {
    let mut fields = Fields::of(line, path, problems)?;
    let description = fields.required("description", problems, Text::try_from);
    let unit_price = fields.required("unitPrice", problems, |text| Money::parse(&text, currency));
    let tax_code = fields.optional("taxCode", problems, |name| name.parse::<TaxCode>());
    let quantity = match fields.take("quantity") {
        None => Some(1),
        Some(value) => whole_number(&value).and_then(|quantity| u32::try_from(quantity).ok()).or_else(|| {
            problems.add(fields.name("quantity"), "must be a whole number");
            None
        }),
    };
    let name = fields.name("quantity");
    fields.finish(problems);
    let tax_code = tax_code?.unwrap_or(TaxCode::Standard);
    Line::new(description?, quantity?, unit_price?, tax_code, currency).map_err(|error| problems.add(name, error)).ok()
}

#[derive(Serialize, ToSchema)]
#[schema(as = AcceptedInvoice)]
pub(super) struct AcceptedOut {
    #[schema(schema_with = schemas::uuid)]
    id: InvoiceId,
    #[schema(schema_with = schemas::invoice_status)]
    status: InvoiceStatus,
}

pub(super) fn accepted(id: InvoiceId, status: InvoiceStatus) -> Response {
    (StatusCode::ACCEPTED, [(LOCATION, format!("/api/invoices/{id}"))], Json(AcceptedOut { id, status }))
        .into_response()
}

/// Ask for the invoice of a parcel
///
/// Safe to repeat: a parcel has one invoice. The same content, or none, gets the same answer.
#[utoipa::path(
    post, path = "/api/parcels/{id}/invoice", operation_id = "requestInvoice", tag = "Invoices",
    params(ParcelInPath), request_body = Option<InvoiceRequest>,
    responses(
        (status = 202, description = "It is going to be mailed", body = AcceptedOut, headers(
            ("Location" = String, description = "Where the invoice is"),
        ), links(
            ("invoice" = (operation_id = "getInvoice", parameters(("id" = "$response.body#/id")))),
            ("pdf" = (operation_id = "getInvoicePdf", parameters(("id" = "$response.body#/id")))),
            ("resend" = (operation_id = "resendInvoice", parameters(("id" = "$response.body#/id")))),
            ("email" = (operation_id = "setInvoiceEmail", parameters(("id" = "$response.body#/id")))),
        )),
        (status = 404, description = "`not-found`: no such parcel, or another's"),
        (status = 409, description = "`invoice-differs`: the parcel has an invoice with other content", headers(
            ("Location" = String, description = "Where that invoice is"),
        )),
    )
)]
pub(crate) async fn request(
    State(app): State<App>,
    Allowed { caller, .. }: Allowed<ManageParcels>,
    PathParcel(parcel_id): PathParcel,
    Extension(request_id): Extension<RequestId>,
    OptionalJson(body): OptionalJson,
) -> Result<Response, Problem> {
    let anything = body.is_none();
    let wanted = Wanted::parse(body)?;
    let parcel = get_of_caller(app.read_parcels.parcel(parcel_id).await?, &caller)?;
    let (lines, currency) = wanted.into_lines(&parcel, app.billing.delivery_fee)?;

    let now = app.clock.now();
    let invoice = NewInvoice {
        content: InvoiceContent::of_parcel(&parcel, lines, currency, &app.billing, now),
        due: now + FIRST_DUE,
        link_secret: LinkSecret(Uuid::new_v4()),
        correlation_id: request_id.clone(),
    };
    let id = invoice.content.id;
    match app.create_invoices.create(&invoice).await? {
        InvoiceCreation::Created => {
            tracing::info!(event = "invoice_requested", invoice = %id);
            telemetry::record(Metric::InvoicesRequested, now);
            // The invoice is safe already: if the queue refuses, the relay sends its ticket when it is due.
            if let Err(error) = app.tickets.send(Ticket { invoice_id: id }, &parcel.owner, Some(&request_id)).await {
                tracing::warn!(event = "ticket_left_to_relay", invoice = %id, %error);
            }
            Ok(accepted(id, InvoiceStatus::Pending))
        }
        InvoiceCreation::Exists(existing) => {
            let same = existing.content.lines == invoice.content.lines
                && existing.content.currency == invoice.content.currency;
            if anything || same { Ok(accepted(id, existing.state.status())) } else { Err(Problem::InvoiceDiffers(id)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problems_of(body: Value) -> Vec<String> {
        match Wanted::parse(Some(body)) {
            Err(Problem::InvalidFields { first, .. }) => first.into_iter().map(|problem| problem.field).collect(),
            Err(other) => panic!("{other:?}"),
            Ok(_) => vec![],
        }
    }

    #[test]
    fn amounts_and_lines_are_read() {
        assert!(matches!(Wanted::parse(None), Ok(Wanted::UsualFee)));
        assert!(matches!(Wanted::parse(Some(json!({}))), Ok(Wanted::UsualFee)));
        assert!(
            matches!(Wanted::parse(Some(json!({"amount": "12.5"}))), Ok(Wanted::Amount(amount)) if amount.minor() == 1250)
        );
        let lines = json!({"lines": [{"description": "Delivery", "unitPrice": "12.50"}, {"description": "Box", "quantity": 2, "unitPrice": "0.30"}]});
        assert!(
            matches!(Wanted::parse(Some(lines)), Ok(Wanted::Lines(lines, Currency::Sgd)) if lines[1].amount.minor() == 60)
        );
    }

    #[test]
    fn every_field_at_fault_is_named() {
        assert_eq!(problems_of(json!([])), ["body"]);
        assert_eq!(problems_of(json!({"amount": 12.5})), ["amount"]);
        assert_eq!(problems_of(json!({"amount": "1.234"})), ["amount"]);
        assert_eq!(problems_of(json!({"amount": "-1"})), ["amount"]);
        assert_eq!(problems_of(json!({"amount": "1000000.01"})), ["amount"]);
        assert_eq!(problems_of(json!({"amount": "1", "lines": []})), ["amount"]);
        assert_eq!(problems_of(json!({"amuont": "1"})), ["amuont"]);
        assert_eq!(problems_of(json!({"lines": {}})), ["lines"]);
        assert_eq!(problems_of(json!({"lines": []})), ["lines"]);
        assert_eq!(
            problems_of(json!({"lines": [{"description": "", "unitPrice": "x", "quantity": 1.5}, 7, {"extra": 1}]})),
            [
                "lines[0].description",
                "lines[0].unitPrice",
                "lines[0].quantity",
                "lines[1]",
                "lines[2].description",
                "lines[2].unitPrice",
                "lines[2].extra"
            ]
        );
    }

    #[test]
    fn each_line_has_a_tax_code_and_yen_are_for_lines_without_tax() {
        let lines = |code: &str, price: &str, currency: &str| json!({"currency": currency, "lines": [{"description": "Freight to Osaka", "unitPrice": price, "taxCode": code}]});
        let yen = Wanted::parse(Some(lines("zeroRated", "12000", "JPY"))).unwrap();
        assert!(matches!(&yen, Wanted::Lines(lines, Currency::Jpy) if lines[0].tax_code == TaxCode::ZeroRated));
        assert!(problems_of(lines("exempt", "1.50", "SGD")).is_empty());
        assert_eq!(problems_of(lines("exempt", "1.50", "JPY")), ["lines[0].unitPrice"]);
        assert_eq!(problems_of(lines("standard", "12000", "JPY")), ["currency"]);
        assert_eq!(problems_of(lines("free", "1.50", "SGD")), ["lines[0].taxCode"]);
        assert_eq!(problems_of(lines("exempt", "1.50", "EUR")), ["currency"]);
        assert_eq!(problems_of(json!({"amount": "12", "currency": "JPY"})), ["currency"]);
    }

    #[test]
    fn too_many_lines_and_too_much_money_are_refused() {
        let lines = |count: usize, price: &str| json!({"lines": vec![json!({"description": "Box", "unitPrice": price}); count]});
        assert!(problems_of(lines(500, "1.00")).is_empty());
        assert_eq!(problems_of(lines(501, "1.00")), ["lines"]);
        assert!(problems_of(lines(2, "500000.00")).is_empty());
        assert_eq!(problems_of(lines(2, "500000.01")), ["lines"]);
        assert_eq!(
            problems_of(json!({"lines": [{"description": "Box", "quantity": 0, "unitPrice": "1"}]})),
            ["lines[0].quantity"]
        );
        assert_eq!(
            problems_of(json!({"lines": [{"description": "Box", "quantity": 10_000, "unitPrice": "1000"}]})),
            ["lines[0].quantity"]
        );
    }
}
