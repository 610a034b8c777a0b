//! Where a page of parcels ended, as 43 characters that mean nothing to the caller.
//!
//! A cursor is bound to its owner's list: one from elsewhere is refused instead of giving a strange page.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parceltrack::domain::{OwnerId, ParcelId, Timestamp};
use parceltrack::ports::PageEnd;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

const TIME: usize = 8;
const ID: usize = 16;
const MARK: usize = 8;

/// The first bytes of a digest over what the cursor says and whose list it belongs to.
fn mark(owner: &OwnerId, end: &[u8]) -> [u8; MARK] {
    let digest = Sha256::new()
        .chain_update(b"parcels\0")
        .chain_update(owner.as_str())
        .chain_update(b"\0")
        .chain_update(end)
        .finalize();
    std::array::from_fn(|index| digest[index])
}

pub(super) fn encode(owner: &OwnerId, end: &PageEnd) -> String {
    let end = [&end.created_at.millis().to_be_bytes()[..], end.parcel_id.0.as_bytes()].concat();
    URL_SAFE_NO_PAD.encode([&end[..], &mark(owner, &end)].concat())
}

pub(super) fn decode(owner: &OwnerId, cursor: &str) -> Option<PageEnd> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
    let bytes: [u8; TIME + ID + MARK] = bytes.try_into().ok()?;
    let (end, given) = bytes.split_at(TIME + ID);
    if mark(owner, end) != given {
        return None;
    }
    let (time, id) = end.split_at(TIME);
    Some(PageEnd {
        created_at: Timestamp::from_millis(i64::from_be_bytes(time.try_into().ok()?)),
        parcel_id: ParcelId(Uuid::from_slice(id).ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_as_it_went() {
        let owner = OwnerId::house();
        let end =
            PageEnd { created_at: Timestamp::from_millis(1_790_000_000_123), parcel_id: ParcelId(Uuid::new_v4()) };
        assert_eq!(decode(&owner, &encode(&owner, &end)), Some(end));
    }

    #[test]
    fn a_cursor_from_elsewhere_is_refused() {
        let owner = OwnerId::house();
        let end = PageEnd { created_at: Timestamp::from_millis(0), parcel_id: ParcelId(Uuid::nil()) };
        let mut tampered = encode(&owner, &end).into_bytes();
        tampered[3] ^= 1;
        for cursor in ["", "abc", &"A".repeat(43), &"A".repeat(64), "ÿ", &String::from_utf8(tampered).unwrap()] {
            assert_eq!(decode(&owner, cursor), None, "{cursor}");
        }
    }
}
