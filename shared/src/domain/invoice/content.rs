//! What an invoice says, fixed when it is issued.

use serde::{Deserialize, Serialize};
use time::Date;

use super::super::{
    Currency, EmailAddress, Money, OwnerId, Parcel, ParcelId, PostalCode, TaxCode, TaxRate, Text, Timestamp,
    TrackingNumber,
};
use super::{InvoiceId, InvoiceNumber};

/// The most lines that one invoice may have.
pub const MAX_LINES: usize = 500;

/// The largest quantity of one line.
pub const MAX_QUANTITY: u32 = 10_000;

/// One line of an invoice: something, so many times, at so much each before tax.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    /// What is billed.
    pub description: Text<200>,
    /// How many.
    pub quantity: u32,
    /// The price of one, before tax.
    pub unit_price: Money,
    /// The price of all, before tax.
    pub amount: Money,
    /// How it is taxed.
    pub tax_code: TaxCode,
}

/// Why something is no line of an invoice, or not a set of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLine {
    /// Zero, or over [`MAX_QUANTITY`].
    #[error("must be from 1 to {MAX_QUANTITY}")]
    Quantity,
    /// Quantity times price is too large.
    #[error("times the unit price must be at most {}", .0.largest_amount().plain(*.0))]
    TooLarge(Currency),
}

impl Line {
    /// A line whose amount is its quantity times its price.
    pub fn new(
        description: Text<200>,
        quantity: u32,
        unit_price: Money,
        tax_code: TaxCode,
        currency: Currency,
    ) -> Result<Self, InvalidLine> {
        if !(1..=MAX_QUANTITY).contains(&quantity) {
            return Err(InvalidLine::Quantity);
        }
        match unit_price.times(quantity) {
            Some(amount) if amount <= currency.largest_amount() => {
                Ok(Self { description, quantity, unit_price, amount, tax_code })
            }
            _ => Err(InvalidLine::TooLarge(currency)),
        }
    }
}

/// Who issues the invoice, as Singapore's tax invoices must say. Part of the invoice, so that a later change of
/// settings changes no invoice that was issued.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Seller {
    /// Name of the business.
    pub name: Text<100>,
    /// Its address, on one line.
    pub address: Text<300>,
    /// Its GST registration number.
    pub gst_number: Text<20>,
    /// Its Unique Entity Number.
    pub registration_number: Text<20>,
    /// Where customers may write to.
    pub email: EmailAddress,
}

/// What all invoices have in common while the settings stay as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Billing {
    /// Who issues them.
    pub seller: Seller,
    /// Within how many days they are to be paid.
    pub payment_terms_days: u16,
    /// The price of a delivery, in Singapore dollars before tax, where the caller names none.
    pub delivery_fee: Money,
}

/// What the lines of one tax code come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaxSummary {
    /// Which code.
    pub code: TaxCode,
    /// Its lines before tax.
    pub net: Money,
    /// The tax on them.
    pub tax: Money,
}

/// What an invoice comes to. `subtotal + tax = total`, exactly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totals {
    /// By tax code, those that occur, in the order of [`TaxCode::ALL`].
    pub by_tax_code: Vec<TaxSummary>,
    /// Before tax.
    pub subtotal: Money,
    /// The tax, rounded once per invoice.
    pub tax: Money,
    /// To pay.
    pub total: Money,
}

/// What an invoice says: fixed when it is made, whatever happens to the parcel later. The PDF is made from this alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InvoiceContent {
    /// Its id.
    #[serde(rename = "invoiceId")]
    pub id: InvoiceId,
    /// Its number.
    pub number: InvoiceNumber,
    /// The parcel that is billed.
    pub parcel_id: ParcelId,
    /// Whose parcel that is.
    pub owner: OwnerId,
    /// That parcel's tracking number.
    pub tracking_number: TrackingNumber,
    /// Who is billed.
    pub recipient: Text<200>,
    /// Where the invoice is mailed to.
    pub email: EmailAddress,
    /// The address of who is billed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<Text<300>>,
    /// The postal code of who is billed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub postal_code: Option<PostalCode>,
    /// The merchant's own word for the parcel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Text<100>>,
    /// Who issued it.
    pub seller: Seller,
    /// What is billed; at least one line, at most [`MAX_LINES`].
    pub lines: Vec<Line>,
    /// The currency of all amounts.
    pub currency: Currency,
    /// The rate of tax on standard-rated lines.
    pub tax_rate: TaxRate,
    /// Within how many days it is to be paid.
    pub payment_terms_days: u16,
    /// When it was issued.
    pub created_at: Timestamp,
}

impl InvoiceContent {
    /// The invoice of `parcel` over `lines`, issued `now`.
    #[must_use]
    pub fn of_parcel(parcel: &Parcel, lines: Vec<Line>, currency: Currency, billing: &Billing, now: Timestamp) -> Self {
        Self {
            id: InvoiceId::of_parcel(parcel.id),
            number: InvoiceNumber::new(now, &parcel.tracking_number),
            parcel_id: parcel.id,
            owner: parcel.owner.clone(),
            tracking_number: parcel.tracking_number.clone(),
            recipient: parcel.recipient.clone(),
            email: parcel.email.clone(),
            address: parcel.address.clone(),
            postal_code: parcel.postal_code.clone(),
            reference: parcel.reference.clone(),
            seller: billing.seller.clone(),
            lines,
            currency,
            tax_rate: TaxRate::GST,
            payment_terms_days: billing.payment_terms_days,
            created_at: now,
        }
    }

    /// What it comes to.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let by_tax_code: Vec<TaxSummary> = TaxCode::ALL
            .into_iter()
            .filter(|code| self.lines.iter().any(|line| line.tax_code == *code))
            .map(|code| {
                let net = self.lines.iter().filter(|line| line.tax_code == code).map(|line| line.amount).sum();
                let tax = match code {
                    TaxCode::Standard => self.tax_rate.of(net),
                    TaxCode::ZeroRated | TaxCode::Exempt => Money::ZERO,
                };
                TaxSummary { code, net, tax }
            })
            .collect();
        let subtotal = by_tax_code.iter().map(|summary| summary.net).sum();
        let tax = by_tax_code.iter().map(|summary| summary.tax).sum();
        Totals { by_tax_code, subtotal, tax, total: subtotal + tax }
    }

    /// The day in Singapore on which it was issued.
    #[must_use]
    pub fn issued_on(&self) -> Date {
        self.created_at.singapore_date()
    }

    /// The day in Singapore by which it is to be paid.
    #[must_use]
    pub fn due_on(&self) -> Date {
        self.issued_on().saturating_add(time::Duration::days(i64::from(self.payment_terms_days)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    fn text<const MAX: usize>(text: &str) -> Text<MAX> {
        Text::try_from(text.to_owned()).unwrap()
    }

    fn line(quantity: u32, cents: i64, tax_code: TaxCode) -> Result<Line, InvalidLine> {
        Line::new(text("Delivery"), quantity, Money::from_minor(cents), tax_code, Currency::Sgd)
    }

    fn content(lines: Vec<Line>) -> InvoiceContent {
        let (parcel_id, created_at) = (ParcelId(Uuid::nil()), Timestamp::from_millis(1_767_198_600_000));
        let tracking_number: TrackingNumber = "LCL48291057".parse().unwrap();
        InvoiceContent {
            id: InvoiceId::of_parcel(parcel_id),
            number: InvoiceNumber::new(created_at, &tracking_number),
            parcel_id,
            owner: OwnerId::house(),
            tracking_number,
            recipient: text("Tan Wei Ming"),
            email: "tan@example.com".parse().unwrap(),
            address: None,
            postal_code: None,
            reference: None,
            seller: Seller {
                name: text("Lion City Logistics Pte Ltd"),
                address: text("8 Changi South Street 1, Singapore 486111"),
                gst_number: text("M9-0001234-5"),
                registration_number: text("201912345K"),
                email: "billing@lioncity.example".parse().unwrap(),
            },
            lines,
            currency: Currency::Sgd,
            tax_rate: TaxRate::GST,
            payment_terms_days: 14,
            created_at,
        }
    }

    #[test]
    fn tax_is_rounded_once_per_invoice_not_per_line() {
        let totals = content(vec![line(1, 50, TaxCode::Standard).unwrap(); 3]).totals();
        assert_eq!((totals.subtotal.minor(), totals.tax.minor(), totals.total.minor()), (150, 14, 164));
    }

    #[test]
    fn only_standard_rated_lines_bear_tax_and_each_code_has_its_sum() {
        let lines =
            [(100, TaxCode::Exempt), (1000, TaxCode::Standard), (20, TaxCode::ZeroRated), (500, TaxCode::Standard)];
        let totals = content(lines.into_iter().map(|(cents, code)| line(1, cents, code).unwrap()).collect()).totals();
        let sums: Vec<_> = totals.by_tax_code.iter().map(|sum| (sum.code, sum.net.minor(), sum.tax.minor())).collect();
        assert_eq!(sums, [(TaxCode::Standard, 1500, 135), (TaxCode::ZeroRated, 20, 0), (TaxCode::Exempt, 100, 0)]);
        assert_eq!((totals.subtotal.minor(), totals.total.minor()), (1620, 1755));
    }

    #[test]
    fn a_line_that_is_too_large_or_has_no_quantity_is_refused() {
        let line = |quantity, cents| line(quantity, cents, TaxCode::Standard);
        assert_eq!(line(0, 100), Err(InvalidLine::Quantity));
        assert_eq!(line(10_001, 100), Err(InvalidLine::Quantity));
        assert_eq!(line(2, 100_000_000), Err(InvalidLine::TooLarge(Currency::Sgd)));
        assert_eq!(line(10_000, 10_000).unwrap().amount.plain(Currency::Sgd), "1000000.00");
    }

    #[test]
    fn days_are_singapores() {
        let content = content(vec![line(1, 100, TaxCode::Standard).unwrap()]);
        assert_eq!(content.issued_on(), time::macros::date!(2026 - 01 - 01));
        assert_eq!(content.due_on(), time::macros::date!(2026 - 01 - 15));
    }

    proptest! {
        #[test]
        fn subtotal_and_tax_are_exactly_the_total(
            lines in prop::collection::vec((1..=10_u32, 0..=1_000_000_i64, 0..3_usize), 1..=500)
        ) {
            let lines: Vec<Line> =
                lines.into_iter().map(|(quantity, cents, code)| line(quantity, cents, TaxCode::ALL[code]).unwrap()).collect();
            let by_hand: i64 = lines.iter().map(|line| line.amount.minor()).sum();
            let totals = content(lines).totals();
            prop_assert_eq!(totals.subtotal + totals.tax, totals.total);
            prop_assert_eq!(totals.subtotal.minor(), by_hand);
            prop_assert_eq!(totals.by_tax_code.iter().map(|sum| sum.net + sum.tax).sum::<Money>(), totals.total);
        }
    }
}
