//! Which rows stand on which page: every row once and in order, and the totals never without a row above them.

use std::ops::Range;

/// How many rows go with the totals to a page of their own, if so many can be spared.
const COMPANIONS: usize = 3;

/// The heights of what is to be placed and of where it must fit, all in points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// What the first page has for the table and the totals.
    pub(super) first: f64,
    /// What every other page has.
    pub(super) next: f64,
    /// The table's head, which stands on every page that has rows.
    pub(super) head: f64,
    /// The totals, with all that follows them.
    pub(super) totals: f64,
}

/// The rows of each page. Only the first page can be without rows, and only one row higher than a page, or together with
/// the totals higher than a page, does not fit.
pub(super) fn pages(rows: &[f64], room: Room) -> Vec<Range<usize>> {
    let mut pages: Vec<Range<usize>> = Vec::new();
    let mut begin = 0;
    loop {
        let is_first = pages.is_empty();
        let space = if is_first { room.first } else { room.next } - room.head;
        let mut end = begin;
        let mut used = 0.0;
        while end < rows.len() && (used + rows[end] <= space || (end == begin && !is_first)) {
            used += rows[end];
            end += 1;
        }
        if end == rows.len() {
            let moved = rows_for_the_totals(&rows[begin..], room);
            if used + room.totals <= space || (moved == end - begin && !is_first) {
                pages.push(begin..end);
                return pages;
            }
            end -= moved;
        }
        pages.push(begin..end);
        begin = end;
    }
}

/// How many of a page's rows go to the next page with the totals: not all, if there is more than one.
fn rows_for_the_totals(rows: &[f64], room: Room) -> usize {
    let space = room.next - room.head - room.totals;
    let mut moved = rows.len().saturating_sub(1).min(COMPANIONS);
    while moved > 1 && rows[rows.len() - moved..].iter().sum::<f64>() > space {
        moved -= 1;
    }
    moved.max(1).min(rows.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ROOM: Room = Room { first: 400.0, next: 700.0, head: 20.0, totals: 150.0 };

    #[test]
    fn what_fits_on_one_page_stays_there() {
        assert_eq!(pages(&[20.0; 11], ROOM), vec![0..11; 1]);
    }

    #[test]
    fn the_totals_take_rows_with_them() {
        assert_eq!(pages(&[20.0; 12], ROOM), [0..9, 9..12]);
        assert_eq!(pages(&[20.0; 19], ROOM), [0..16, 16..19]);
        assert_eq!(pages(&[20.0; 20], ROOM), [0..19, 19..20]);
        assert_eq!(pages(&[300.0], ROOM), [0..0, 0..1]);
        assert_eq!(pages(&[380.0, 380.0], ROOM), [0..1, 1..2]);
    }

    #[test]
    fn rows_that_fit_nowhere_still_end() {
        assert_eq!(pages(&[900.0, 900.0], ROOM), [0..0, 0..1, 1..2]);
        assert_eq!(pages(&[], ROOM), vec![0..0; 1]);
    }

    proptest! {
        #[test]
        fn every_row_stands_once_in_order_and_fits(
            rows in prop::collection::vec(15.0..120.0_f64, 1..600), first in 0.0..700.0_f64, totals in 80.0..500.0_f64
        ) {
            let room = Room { first, totals, ..ROOM };
            let pages = pages(&rows, room);
            let last = pages.len() - 1;
            let mut next_row = 0;
            for (number, page) in pages.iter().enumerate() {
                prop_assert_eq!(page.start, next_row);
                next_row = page.end;
                prop_assert!(number == 0 || !page.is_empty());
                let used: f64 = room.head + rows[page.clone()].iter().sum::<f64>();
                let below = if number == last { totals } else { 0.0 };
                let space = if number == 0 { first } else { room.next };
                prop_assert!(page.is_empty() || used + below <= space + 1e-6, "page {number} of {pages:?}");
            }
            prop_assert_eq!(next_row, rows.len());
            prop_assert!(!pages[last].is_empty(), "the totals are alone");
        }
    }
}
