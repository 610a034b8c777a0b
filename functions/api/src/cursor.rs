//! Where a page of a list ended: the complete key after which the next page's query begins, so that nothing is read to go
//! on. Every list has cursors of this kind.
//!
//! A cursor is no secret and proves nothing. Its mark, which anybody can make, only tells one list's cursors from
//! another's, so that a mixed-up one is refused instead of giving a strange page. What a forged one can reach is bounded
//! by the query: its partition (the owner, the webhook) is the request's, never the cursor's.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parceltrack::domain::Timestamp;
use sha2::{Digest as _, Sha256};

use crate::problem::Problem;
use crate::query::parameter;

const MARK: usize = 8;
const TIME: usize = 8;

/// A place in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The time in the key of the page's last entry.
    pub(crate) time: Timestamp,
    /// What else the key has, as the list writes it.
    pub(crate) rest: String,
}

/// The list that a cursor is a place of.
#[derive(Clone)]
pub(crate) struct List(Sha256);

impl List {
    /// The list of this name, with these parameters.
    pub(crate) fn of(name: &str, parameters: &[&str]) -> Self {
        let parts = std::iter::once(&name).chain(parameters);
        Self(parts.fold(Sha256::new(), |digest, part| digest.chain_update(part).chain_update(b"\0")))
    }

    /// The first bytes of a digest over the list and what the cursor says.
    fn mark(&self, place: &[u8]) -> [u8; MARK] {
        let digest = self.0.clone().chain_update(place).finalize();
        std::array::from_fn(|index| digest[index])
    }

    /// The cursor of a place.
    pub(crate) fn cursor(&self, Place { time, rest }: &Place) -> String {
        let place = [&time.millis().to_be_bytes()[..], rest.as_bytes()].concat();
        URL_SAFE_NO_PAD.encode([&self.mark(&place)[..], &place].concat())
    }

    /// The place that a cursor means; `None` if it is none of this list.
    pub(crate) fn place(&self, cursor: &str) -> Option<Place> {
        let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
        let (mark, place) = bytes.split_at_checked(MARK)?;
        if self.mark(place) != mark {
            return None;
        }
        let (time, rest) = place.split_at_checked(TIME)?;
        Some(Place {
            time: Timestamp::of_our_time(i64::from_be_bytes(time.try_into().ok()?))?,
            rest: str::from_utf8(rest).ok()?.to_owned(),
        })
    }

    /// Where the query's cursor, if it has one, says that the page begins.
    pub(crate) fn after<E>(&self, query: &str, end: impl FnOnce(Place) -> Option<E>) -> Result<Option<E>, Problem> {
        parameter(query, "cursor").map(|cursor| self.place(&cursor).and_then(end).ok_or_else(wrong_cursor)).transpose()
    }
}

/// The cursor is of another list, or of none.
pub(crate) fn wrong_cursor() -> Problem {
    Problem::invalid_parameter("cursor", "must be a nextCursor of this list")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As anybody can make it who has read this file.
    fn forged(list: &List, place: &[u8]) -> String {
        URL_SAFE_NO_PAD.encode([&list.mark(place)[..], place].concat())
    }

    #[test]
    fn a_cursor_comes_back_as_it_went_in_its_own_list_and_in_no_other() {
        let lists = [
            List::of("parcels", &["lion-city", ""]),
            List::of("parcels", &["orchard-books", ""]),
            List::of("parcels", &["", "lion-city"]),
            List::of("parcels", &["lion-cit", "y"]),
            List::of("deliveries", &["lion-city", ""]),
        ];
        let place = Place { time: Timestamp::from_millis(1_790_000_000_123), rest: "7, 陈伟明".to_owned() };
        for (from, list) in lists.iter().enumerate() {
            let cursor = list.cursor(&place);
            for (to, other) in lists.iter().enumerate() {
                assert_eq!(other.place(&cursor), (from == to).then(|| place.clone()));
            }
        }
    }

    #[test]
    fn a_time_that_no_clock_of_ours_shows_is_no_place() {
        let list = List::of("parcels", &[]);
        for (millis, good) in [(0, true), (9_999_999_999_999, true), (10_000_000_000_000, false), (-1, false)] {
            assert_eq!(list.place(&forged(&list, &i64::to_be_bytes(millis))).is_some(), good, "{millis}");
        }
        for millis in [i64::MIN, i64::MAX] {
            assert_eq!(list.place(&forged(&list, &millis.to_be_bytes())), None);
        }
    }

    proptest! {
        #[test]
        fn whatever_a_cursor_is_it_is_a_place_of_this_list_or_none(cursor in ".{0,200}", place in any::<Vec<u8>>()) {
            let list = List::of("parcels", &["lion-city"]);
            prop_assert_eq!(list.place(&cursor), None);
            prop_assert_eq!(list.place(&URL_SAFE_NO_PAD.encode(&place)), None);
            if let Some(read) = list.place(&forged(&list, &place)) {
                prop_assert_eq!(list.cursor(&read), forged(&list, &place));
            }
        }
    }
}
