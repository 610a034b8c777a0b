//! Invoices: what they bill, what they come to, and how far they have come.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    Currency, EmailAddress, LinkSecret, Money, OwnerId, Parcel, ParcelId, PostalCode, TaxRate, Text, Timestamp,
    TrackingNumber,
};

/// The most lines that one invoice may have.
pub const MAX_LINES: usize = 500;

/// The largest quantity of one line.
pub const MAX_QUANTITY: u32 = 10_000;

/// How many attempts an invoice remembers; an outage of days must not outgrow the table's row.
const MAX_REMEMBERED_ATTEMPTS: usize = 20;

/// The id of an invoice, derived from its parcel's, so that the table's key allows one per parcel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InvoiceId(pub Uuid);

impl InvoiceId {
    /// The namespace of invoice ids (RFC 9562 section 5.5). Never change it: ids would no longer match their parcels.
    const NAMESPACE: Uuid = Uuid::from_u128(0x6f1d_2f0c_59a7_4b1e_9c55_1b8e_0a4d_7e21);

    /// The id of the one invoice that this parcel can ever have.
    #[must_use]
    pub fn of_parcel(parcel: ParcelId) -> Self {
        Self(Uuid::new_v5(&Self::NAMESPACE, parcel.0.as_bytes()))
    }
}

impl std::fmt::Display for InvoiceId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The number that people call an invoice by, such as `INV-2026-48291057`.
///
/// Unique without a counter: tracking numbers are unique, and a parcel has one invoice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InvoiceNumber(String);

impl InvoiceNumber {
    /// The number of the invoice that was issued for this parcel at this time; the year is Singapore's.
    #[must_use]
    pub fn new(issued_at: Timestamp, tracking_number: &TrackingNumber) -> Self {
        Self(format!("INV-{:04}-{}", issued_at.singapore_date().year(), tracking_number.digits()))
    }

    /// The number as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for InvoiceNumber {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

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
}

/// Why something is no line of an invoice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLine {
    /// Zero, or over [`MAX_QUANTITY`].
    #[error("must be from 1 to {MAX_QUANTITY}")]
    Quantity,
    /// Quantity times price is over a million.
    #[error("times the unit price must be at most 1000000.00")]
    TooLarge,
}

impl Line {
    /// A line whose amount is its quantity times its price.
    pub fn new(description: Text<200>, quantity: u32, unit_price: Money) -> Result<Self, InvalidLine> {
        if !(1..=MAX_QUANTITY).contains(&quantity) {
            return Err(InvalidLine::Quantity);
        }
        let amount = unit_price.times(quantity).ok_or(InvalidLine::TooLarge)?;
        if amount > Money::from_minor(super::MAX_AMOUNT_MAJOR * 100) {
            return Err(InvalidLine::TooLarge);
        }
        Ok(Self { description, quantity, unit_price, amount })
    }
}

/// What an invoice comes to. `subtotal + tax = total`, exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Before tax.
    pub subtotal: Money,
    /// The tax on the subtotal, rounded once per invoice.
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
    /// What is billed; at least one line, at most [`MAX_LINES`].
    pub lines: Vec<Line>,
    /// The currency of all amounts.
    pub currency: Currency,
    /// The rate of tax on all lines.
    pub tax_rate: TaxRate,
    /// When it was issued.
    pub created_at: Timestamp,
}

impl InvoiceContent {
    /// The invoice of `parcel` over `lines`, issued `now`.
    #[must_use]
    pub fn of_parcel(parcel: &Parcel, lines: Vec<Line>, now: Timestamp) -> Self {
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
            lines,
            currency: Currency::Sgd,
            tax_rate: TaxRate::GST,
            created_at: now,
        }
    }

    /// What it comes to.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let subtotal = self.lines.iter().map(|line| line.amount).sum();
        let tax = self.tax_rate.of(subtotal);
        Totals { subtotal, tax, total: subtotal + tax }
    }
}

/// Where a PDF is stored, and what it must hash to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredPdf {
    /// The object's key in the bucket.
    pub key: String,
    /// SHA-256 of its bytes, in lower-case hexadecimal.
    pub sha256: String,
}

/// What the mail provider calls a mail that it accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProviderMessageId(pub String);

/// An invoice's status, as the API names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InvoiceStatus {
    /// Requested; no PDF yet.
    Pending,
    /// The PDF is stored; the mail is not yet accepted.
    Generated,
    /// The provider has accepted the mail. Final.
    Sent,
    /// It will not succeed by itself; a person looks.
    Failed,
}

/// How far an invoice has come, with what is known at each point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvoiceState {
    /// Requested; no PDF yet.
    Pending,
    /// The PDF is stored.
    Generated {
        /// Where.
        pdf: StoredPdf,
    },
    /// The provider has accepted the mail.
    Sent {
        /// Where the PDF is.
        pdf: StoredPdf,
        /// When it was accepted.
        at: Timestamp,
    },
    /// Given up.
    Failed {
        /// Why, for people.
        reason: String,
        /// Where the PDF is, if it got that far.
        pdf: Option<StoredPdf>,
    },
}

impl InvoiceState {
    /// The state's name.
    #[must_use]
    pub fn status(&self) -> InvoiceStatus {
        match self {
            Self::Pending => InvoiceStatus::Pending,
            Self::Generated { .. } => InvoiceStatus::Generated,
            Self::Sent { .. } => InvoiceStatus::Sent,
            Self::Failed { .. } => InvoiceStatus::Failed,
        }
    }

    /// The stored PDF, if there is one.
    #[must_use]
    pub fn pdf(&self) -> Option<&StoredPdf> {
        match self {
            Self::Pending => None,
            Self::Generated { pdf } | Self::Sent { pdf, .. } => Some(pdf),
            Self::Failed { pdf, .. } => pdf.as_ref(),
        }
    }
}

/// How one attempt to mail an invoice ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AttemptOutcome {
    /// The provider accepted the mail.
    Sent,
    /// It will be tried again soon, by the same ticket.
    Retried,
    /// It will be tried again later, by the relay.
    Parked,
    /// It was given up.
    Failed,
}

/// One attempt to bring an invoice to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// When it ended.
    pub at: Timestamp,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// Why it did not succeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// An invoice: what it says, and how far it has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invoice {
    /// What it says.
    pub content: InvoiceContent,
    /// How far it has come.
    pub state: InvoiceState,
    /// When somebody must look at it again; `None` exactly if it is `Sent` or `Failed`.
    pub due: Option<Timestamp>,
    /// How often it was parked.
    pub parks: u32,
    /// How many workers in a row died while they held the lease.
    pub abandoned: u32,
    /// The last attempts, oldest first.
    pub attempts: Vec<Attempt>,
    /// How many attempts there were in all.
    pub attempt_count: u32,
    /// The secret of the mailed link.
    pub link_secret: LinkSecret,
    /// Until when the mailed link is good; `None` until the first mail.
    pub link_expires: Option<Timestamp>,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Invoice {
    /// The attempts with one more, the oldest forgotten where there are too many.
    #[must_use]
    pub fn attempts_with(&self, attempt: Attempt) -> Vec<Attempt> {
        let forgotten = (self.attempts.len() + 1).saturating_sub(MAX_REMEMBERED_ATTEMPTS);
        self.attempts.iter().skip(forgotten).cloned().chain([attempt]).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text<const MAX: usize>(text: &str) -> Text<MAX> {
        Text::try_from(text.to_owned()).unwrap()
    }

    fn content(amounts: &[(u32, i64)]) -> InvoiceContent {
        InvoiceContent {
            id: InvoiceId(Uuid::nil()),
            number: InvoiceNumber("INV-2026-48291057".to_owned()),
            parcel_id: ParcelId(Uuid::nil()),
            owner: OwnerId::house(),
            tracking_number: "LCL48291057".parse().unwrap(),
            recipient: text("Tan Wei Ming"),
            email: "tan@example.com".parse().unwrap(),
            address: None,
            postal_code: None,
            lines: amounts
                .iter()
                .map(|&(quantity, cents)| Line::new(text("Delivery"), quantity, Money::from_minor(cents)).unwrap())
                .collect(),
            currency: Currency::Sgd,
            tax_rate: TaxRate::GST,
            created_at: Timestamp::from_millis(0),
        }
    }

    #[test]
    fn a_parcel_always_has_the_same_invoice_id() {
        let parcel = ParcelId(Uuid::new_v4());
        assert_eq!(InvoiceId::of_parcel(parcel), InvoiceId::of_parcel(parcel));
        assert_ne!(InvoiceId::of_parcel(parcel), InvoiceId::of_parcel(ParcelId(Uuid::new_v4())));
        // Pinned: another namespace would give a second invoice to every parcel that has one.
        assert_eq!(InvoiceId::of_parcel(ParcelId(Uuid::nil())).to_string(), "d6119cc5-48cb-563d-93c9-a7fa178caa55");
    }

    #[test]
    fn an_invoice_number_carries_singapores_year() {
        let new_year = Timestamp::from_millis(1_767_198_600_000);
        assert_eq!(InvoiceNumber::new(new_year, &"LCL48291057".parse().unwrap()).as_str(), "INV-2026-48291057");
    }

    #[test]
    fn tax_is_rounded_once_per_invoice_not_per_line() {
        let totals = content(&[(1, 50), (1, 50), (1, 50)]).totals();
        assert_eq!((totals.subtotal.minor(), totals.tax.minor(), totals.total.minor()), (150, 14, 164));
    }

    #[test]
    fn a_line_over_a_million_or_without_quantity_is_refused() {
        let line = |quantity, cents| Line::new(text("Delivery"), quantity, Money::from_minor(cents));
        assert_eq!(line(0, 100), Err(InvalidLine::Quantity));
        assert_eq!(line(10_001, 100), Err(InvalidLine::Quantity));
        assert_eq!(line(2, 100_000_000), Err(InvalidLine::TooLarge));
        assert_eq!(line(10_000, 10_000).unwrap().amount.to_string(), "1000000.00");
    }

    #[test]
    fn only_the_last_attempts_are_remembered() {
        let attempt = |at| Attempt { at: Timestamp::from_millis(at), outcome: AttemptOutcome::Parked, reason: None };
        let mut invoice = Invoice {
            content: content(&[(1, 1250)]),
            state: InvoiceState::Pending,
            due: Some(Timestamp::from_millis(0)),
            parks: 0,
            abandoned: 0,
            attempts: vec![],
            attempt_count: 0,
            link_secret: LinkSecret(Uuid::nil()),
            link_expires: None,
            updated_at: Timestamp::from_millis(0),
        };
        for at in 0..100 {
            invoice.attempts = invoice.attempts_with(attempt(at));
        }
        let remembered: Vec<_> = invoice.attempts.iter().map(|attempt| attempt.at.millis()).collect();
        assert_eq!(remembered, (80..100).collect::<Vec<_>>());
    }

    proptest! {
        #[test]
        fn subtotal_and_tax_are_exactly_the_total(amounts in prop::collection::vec((1..=10_u32, 0..=1_000_000_i64), 1..=500)) {
            let totals = content(&amounts).totals();
            prop_assert_eq!(totals.subtotal + totals.tax, totals.total);
            let by_hand: i64 = amounts.iter().map(|&(quantity, cents)| i64::from(quantity) * cents).sum();
            prop_assert_eq!(totals.subtotal.minor(), by_hand);
        }
    }
}
