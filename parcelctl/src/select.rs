//! Which letters are meant, and which belong together.

use parceltrack::domain::Ticket;
use parceltrack::ports::BuriedTicket;

/// Fewer characters of a letter could be a slip of the fingers.
const SHORTEST_PREFIX: usize = 4;

/// What the queue gives up by itself has no reason with it.
pub(crate) const NO_REASON: &str = "given up by the queue after too many deliveries";

/// Which letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    /// All.
    All,
    /// Those whose reason contains this.
    Group(String),
    /// Those with one of these names.
    Named(Vec<String>),
}

impl Selection {
    /// Whether this letter is meant. Its invoice's number, by which people call it, is known only to the table.
    pub(crate) fn means(&self, letter: &BuriedTicket, number: Option<&str>) -> bool {
        match self {
            Self::All => true,
            Self::Group(text) => contains(reason(letter), text) || contains(&group(reason(letter)), text),
            Self::Named(names) => names.iter().any(|name| is_called(letter, number, name)),
        }
    }
}

/// Why the letter is here.
pub(crate) fn reason(letter: &BuriedTicket) -> &str {
    letter.reason.as_deref().unwrap_or(NO_REASON)
}

fn contains(text: &str, part: &str) -> bool {
    text.to_lowercase().contains(&part.to_lowercase())
}

fn is_called(letter: &BuriedTicket, number: Option<&str>, name: &str) -> bool {
    let invoice = Ticket::parse(&letter.body).ok().map(|ticket| ticket.invoice_id.to_string());
    let by_letter = name.len() >= SHORTEST_PREFIX && letter.letter.0.starts_with(name);
    by_letter || invoice.as_deref() == Some(name) || number == Some(name)
}

/// The reason without what is different each time, so that one cause makes one group.
pub(crate) fn group(reason: &str) -> String {
    let words = reason.split_whitespace().map(|word| {
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        // Codes such as 550 or 5.1.1 tell causes apart; addresses, ids and times do not.
        let unlike = word.contains('@') || (digits >= 4 && word.len() >= 6) || (digits > 0 && word.len() >= 12);
        if unlike { "…" } else { word }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use parceltrack::domain::{LetterId, Timestamp};

    use super::*;

    fn letter(reason: Option<&str>) -> BuriedTicket {
        BuriedTicket {
            letter: LetterId("3f2a9c1e-0000-4000-8000-000000000000".to_owned()),
            body: r#"{"invoiceId":"11111111-1111-4111-8111-111111111111"}"#.to_owned(),
            reason: reason.map(str::to_owned),
            since: Timestamp::from_millis(0),
            receipt_handle: String::new(),
        }
    }

    #[test]
    fn one_cause_makes_one_group() {
        let queued = |id| format!("rejected: 550 5.1.1 <tan{id}@example.com> unknown; queue id 4bXyZ{id}912Q0");
        assert_eq!(group(&queued(1)), group(&queued(2)));
        assert_eq!(group(&queued(1)), "rejected: 550 5.1.1 … unknown; queue id …");
        assert_ne!(group("550 5.1.1 no such user"), group("552 5.2.2 mailbox full"));
    }

    #[test]
    fn a_letter_is_known_by_its_first_characters_its_invoice_and_its_number() {
        let letter = letter(None);
        let named = |name: &str| Selection::Named(vec![name.to_owned()]).means(&letter, Some("INV-2026-48291057"));
        assert!(named("3f2a") && named("3f2a9c1e-0000-4000-8000-000000000000"));
        assert!(named("11111111-1111-4111-8111-111111111111") && named("INV-2026-48291057"));
        assert!(!named("3f2") && !named("") && !named("1111") && !named("INV-2026"));
    }

    #[test]
    fn a_group_is_known_by_part_of_its_reason() {
        let rejected = letter(Some("Rejected: 550 no such user"));
        let means = |text: &str, letter: &BuriedTicket| Selection::Group(text.to_owned()).means(letter, None);
        assert!(means("550 NO SUCH", &rejected) && !means("552", &rejected));
        assert!(means("given up by the queue", &letter(None)));
    }
}
