//! The message on the queue: an invoice's id and nothing else, for the table is the one source of truth.

use serde::{Deserialize, Serialize};

use super::{InvoiceId, UnreadableJson};

/// A request to bring one invoice to its end. May arrive twice, late, or for an invoice already done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Ticket {
    /// Which invoice.
    pub invoice_id: InvoiceId,
}

/// The message is not a ticket and never will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a ticket: {0}")]
pub struct InvalidTicket(UnreadableJson);

impl Ticket {
    /// Reads a message's body.
    pub fn parse(body: &str) -> Result<Self, InvalidTicket> {
        serde_json::from_str(body).map_err(|error| InvalidTicket(error.into()))
    }

    /// The message's body.
    ///
    /// # Panics
    /// Never: a UUID always has a JSON form.
    #[must_use]
    pub fn to_body(self) -> String {
        serde_json::to_string(&self).expect("a UUID in JSON")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_its_invoices_id_and_nothing_else() {
        let body = r#"{"invoiceId":"11111111-1111-4111-8111-111111111111"}"#;
        assert_eq!(Ticket::parse(body).unwrap().to_body(), body);
        assert!(Ticket::parse(r#"{ "invoiceId" : "11111111-1111-4111-8111-111111111111" }"#).is_ok());
    }

    #[test]
    fn what_is_no_ticket_says_so() {
        for body in [
            "",
            "null",
            "{}",
            r#"{"invoiceId": oops"#,
            r#"{"invoiceId":"x"}"#,
            r#"{"invoiceId":null}"#,
            "[]",
            "\u{feff}{}",
        ] {
            assert!(Ticket::parse(body).is_err(), "{body}");
        }
    }
}
