//! What an invoice is called: by programs, and by people. Both follow from its parcel.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::super::{ParcelId, Timestamp, TrackingNumber};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parcel_always_has_the_same_invoice_id() {
        let parcel = ParcelId(Uuid::new_v4());
        assert_eq!(InvoiceId::of_parcel(parcel), InvoiceId::of_parcel(parcel));
        assert_ne!(InvoiceId::of_parcel(parcel), InvoiceId::of_parcel(ParcelId(Uuid::new_v4())));
        // Pinned: another namespace would give a second invoice to every parcel that has one.
        let pinned = InvoiceId::of_parcel(ParcelId(Uuid::nil())).to_string();
        assert_eq!(pinned, "d6119cc5-48cb-563d-93c9-a7fa178caa55");
    }

    #[test]
    fn an_invoice_number_carries_singapores_year() {
        let new_year = Timestamp::from_millis(1_767_198_600_000);
        let number = InvoiceNumber::new(new_year, &"LCL48291057".parse().unwrap());
        assert_eq!(number.as_str(), "INV-2026-48291057");
    }
}
