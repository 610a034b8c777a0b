//! What is not finished yet, by the index that has open invoices only, the oldest first.

use async_trait::async_trait;
use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::types::Select;
use futures::future::try_join_all;
use serde::Deserialize;

use super::InvoiceTable;
use crate::aws::failure::port_error;
use crate::aws::row::{Row, from_row, number};
use crate::domain::Timestamp;
use crate::ports::{Backlog, DUE_SHARDS, MeasureBacklog, OpenInvoices, PortError};

const BY_AGE: &str = "by-age";

/// How many of a shard's oldest invoices are read; on a quiet day that is all there are. The rest is only counted.
const OLDEST: i32 = 25;

/// How many pages of a shard are counted, at most. A page is a megabyte, some ten thousand invoices, so that beyond
/// 150,000 open invoices or so "at least" is the answer, and the cost of asking has a bound.
const COUNTED_PAGES: u32 = 2;

#[async_trait]
impl MeasureBacklog for InvoiceTable {
    async fn backlog(&self) -> Result<Backlog, PortError> {
        let shards = try_join_all((0..DUE_SHARDS).map(|shard| self.backlog_of(shard))).await?;
        Ok(shards.into_iter().fold(Backlog { open: OpenInvoices::Exactly(0), oldest: None }, together))
    }
}

impl InvoiceTable {
    async fn backlog_of(&self, shard: u8) -> Result<Backlog, PortError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct AgeRow {
            created_at: Timestamp,
        }

        let oldest = self.by_age(shard).limit(OLDEST).send().await.map_err(|error| port_error(&error))?;
        let mut open = u64::try_from(oldest.count).unwrap_or_default();
        let mut rest = following(oldest.last_evaluated_key);
        let first = oldest.items.unwrap_or_default().into_iter().next();
        let oldest = first.map(|row| Ok::<_, PortError>(from_row::<AgeRow>(row)?.created_at)).transpose()?;
        for _ in 0..COUNTED_PAGES {
            let Some(start) = rest else { break };
            let page = self.by_age(shard).select(Select::Count).set_exclusive_start_key(Some(start));
            let page = page.send().await.map_err(|error| port_error(&error))?;
            open += u64::try_from(page.count).unwrap_or_default();
            rest = following(page.last_evaluated_key);
        }
        let open = if rest.is_none() { OpenInvoices::Exactly(open) } else { OpenInvoices::AtLeast(open) };
        Ok(Backlog { open, oldest })
    }

    fn by_age(&self, shard: u8) -> QueryFluentBuilder {
        self.client
            .query()
            .table_name(&self.name)
            .index_name(BY_AGE)
            .key_condition_expression("dueShard = :shard")
            .expression_attribute_values(":shard", number(shard))
    }
}

fn following(key: Option<Row>) -> Option<Row> {
    key.filter(|key| !key.is_empty())
}

fn together(some: Backlog, more: Backlog) -> Backlog {
    let open = match (some.open, more.open) {
        (OpenInvoices::Exactly(some), OpenInvoices::Exactly(more)) => OpenInvoices::Exactly(some + more),
        (
            OpenInvoices::Exactly(some) | OpenInvoices::AtLeast(some),
            OpenInvoices::Exactly(more) | OpenInvoices::AtLeast(more),
        ) => OpenInvoices::AtLeast(some + more),
    };
    Backlog { open, oldest: some.oldest.into_iter().chain(more.oldest).min() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backlog(open: OpenInvoices, oldest: Option<i64>) -> Backlog {
        Backlog { open, oldest: oldest.map(Timestamp::from_millis) }
    }

    #[test]
    fn the_oldest_of_all_shards_is_the_oldest() {
        let exactly = |open, oldest| backlog(OpenInvoices::Exactly(open), oldest);
        assert_eq!(together(exactly(2, Some(5)), exactly(1, Some(3))), exactly(3, Some(3)));
        assert_eq!(together(exactly(2, Some(5)), exactly(0, None)), exactly(2, Some(5)));
        assert_eq!(together(exactly(0, None), exactly(0, None)), exactly(0, None));
    }

    #[test]
    fn one_shard_that_was_not_counted_to_its_end_makes_it_at_least() {
        let (known, more) = (backlog(OpenInvoices::Exactly(2), None), backlog(OpenInvoices::AtLeast(7), None));
        for both in [together(known, more), together(more, known)] {
            assert_eq!(both.open, OpenInvoices::AtLeast(9));
        }
    }
}
