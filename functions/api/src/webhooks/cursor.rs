//! Where a page of deliveries ended. Bound to its list, so that one from elsewhere is refused.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parceltrack::domain::{Timestamp, WebhookDeliveryStatus, WebhookId};
use parceltrack::ports::DeliveryPageEnd;
use sha2::{Digest as _, Sha256};

const TIME: usize = 8;
const MARK: usize = 8;

/// The list that a cursor is a place of.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    /// Whose deliveries.
    pub(super) webhook: WebhookId,
    /// Only those that have it.
    pub(super) status: Option<WebhookDeliveryStatus>,
}

impl List {
    /// The first bytes of a digest over the list and what the cursor says.
    fn mark(self, end: &[u8]) -> [u8; MARK] {
        let digest = Sha256::new()
            .chain_update("deliveries\0")
            .chain_update(self.webhook.0.as_bytes())
            .chain_update(self.status.map_or("", WebhookDeliveryStatus::name))
            .chain_update("\0")
            .chain_update(end)
            .finalize();
        std::array::from_fn(|index| digest[index])
    }

    pub(super) fn encode(self, end: &DeliveryPageEnd) -> String {
        let end = [&end.created_at.millis().to_be_bytes()[..], end.id.to_string().as_bytes()].concat();
        URL_SAFE_NO_PAD.encode([&self.mark(&end), &end[..]].concat())
    }

    pub(super) fn decode(self, cursor: &str) -> Option<DeliveryPageEnd> {
        let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
        let (given, end) = bytes.split_at_checked(MARK)?;
        if self.mark(end) != given {
            return None;
        }
        let (time, id) = end.split_at_checked(TIME)?;
        Some(DeliveryPageEnd {
            created_at: Timestamp::from_millis(i64::from_be_bytes(time.try_into().ok()?)),
            id: std::str::from_utf8(id).ok()?.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_cursor_is_good_for_its_own_list_alone() {
        let lists = [
            List { webhook: WebhookId(Uuid::from_u128(1)), status: None },
            List { webhook: WebhookId(Uuid::from_u128(2)), status: None },
            List { webhook: WebhookId(Uuid::from_u128(1)), status: Some(WebhookDeliveryStatus::Failed) },
        ];
        let id = format!("parcel-{}-12", Uuid::from_u128(7)).parse().unwrap();
        let end = DeliveryPageEnd { created_at: Timestamp::from_millis(1_790_000_000_123), id };
        for (from, list) in lists.iter().enumerate() {
            let cursor = list.encode(&end);
            for (to, other) in lists.iter().enumerate() {
                assert_eq!(other.decode(&cursor), (from == to).then_some(end));
            }
        }
        for cursor in ["", "x", "====", &"A".repeat(64), "ÿ"] {
            assert_eq!(lists[0].decode(cursor), None, "{cursor}");
        }
    }
}
