//! Where a page of parcels ended, as 43 characters that mean nothing to the caller and name nobody.
//!
//! A cursor is bound to its list, that is, to the owner and to what was asked for: one from elsewhere is refused instead
//! of giving a strange page.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parceltrack::domain::{OwnerId, ParcelId, ParcelStatus, Timestamp};
use parceltrack::ports::{PageEnd, ParcelSelection};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

const TIME: usize = 8;
const ID: usize = 16;
const MARK: usize = 8;

/// The list that a cursor is a place of.
#[derive(Clone, Copy, Debug)]
pub(super) struct List<'a> {
    /// Whose parcels.
    pub(super) owner: &'a OwnerId,
    /// Which of them, in which order.
    pub(super) selection: &'a ParcelSelection,
    /// Only those that are there now.
    pub(super) status: Option<ParcelStatus>,
}

impl List<'_> {
    /// The first bytes of a digest over the list and what the cursor says.
    fn mark(self, end: &[u8]) -> [u8; MARK] {
        let (kind, of) = match self.selection {
            ParcelSelection::All => ("all", ""),
            ParcelSelection::InStatus(status) => ("status", status.name()),
            ParcelSelection::ReferenceBegins(prefix) => ("reference", prefix.as_str()),
            ParcelSelection::RecipientBegins(prefix) => ("recipient", prefix.as_str()),
        };
        let mut digest = Sha256::new();
        for part in ["parcels", self.owner.as_str(), kind, of, self.status.map_or("", ParcelStatus::name)] {
            digest.update(part);
            digest.update(b"\0");
        }
        let digest = digest.chain_update(end).finalize();
        std::array::from_fn(|index| digest[index])
    }

    pub(super) fn encode(self, end: &PageEnd) -> String {
        let end = [&end.created_at.millis().to_be_bytes()[..], end.parcel_id.0.as_bytes()].concat();
        URL_SAFE_NO_PAD.encode([&end[..], &self.mark(&end)].concat())
    }

    pub(super) fn decode(self, cursor: &str) -> Option<PageEnd> {
        let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
        let bytes: [u8; TIME + ID + MARK] = bytes.try_into().ok()?;
        let (end, given) = bytes.split_at(TIME + ID);
        if self.mark(end) != given {
            return None;
        }
        let (time, id) = end.split_at(TIME);
        Some(PageEnd {
            created_at: Timestamp::from_millis(i64::from_be_bytes(time.try_into().ok()?)),
            parcel_id: ParcelId(Uuid::from_slice(id).ok()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use parceltrack::domain::SearchPrefix;

    use super::*;

    #[test]
    fn a_cursor_comes_back_as_it_went_in_its_own_list_and_in_no_other() {
        let (owner, other) = (OwnerId::house(), "orchard-books".parse().unwrap());
        let prefix = SearchPrefix::try_from("tan".to_owned()).unwrap();
        let selections = [
            ParcelSelection::All,
            ParcelSelection::InStatus(ParcelStatus::Created),
            ParcelSelection::InStatus(ParcelStatus::Delivered),
            ParcelSelection::ReferenceBegins(prefix.clone()),
            ParcelSelection::RecipientBegins(prefix),
        ];
        let end =
            PageEnd { created_at: Timestamp::from_millis(1_790_000_000_123), parcel_id: ParcelId(Uuid::new_v4()) };
        let mut lists = Vec::new();
        for selection in &selections {
            for (owner, status) in [(&owner, None), (&other, None), (&owner, Some(ParcelStatus::Created))] {
                lists.push(List { owner, selection, status });
            }
        }
        for (from, list) in lists.iter().enumerate() {
            let cursor = list.encode(&end);
            assert_eq!(cursor.len(), 43);
            for (to, list) in lists.iter().enumerate() {
                assert_eq!(list.decode(&cursor).is_some(), from == to, "{from} {to}");
            }
            assert_eq!(list.decode(&cursor), Some(end.clone()));
        }
    }

    #[test]
    fn a_damaged_cursor_is_refused() {
        let owner = OwnerId::house();
        let list = List { owner: &owner, selection: &ParcelSelection::All, status: None };
        let end = PageEnd { created_at: Timestamp::from_millis(0), parcel_id: ParcelId(Uuid::nil()) };
        let mut tampered = list.encode(&end).into_bytes();
        tampered[3] ^= 1;
        for cursor in ["", "abc", &"A".repeat(43), &"A".repeat(64), "ÿ", &String::from_utf8(tampered).unwrap()] {
            assert_eq!(list.decode(cursor), None, "{cursor}");
        }
    }
}
