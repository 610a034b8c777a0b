//! Tables in memory. Rows are kept as they go over the wire.

use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::{Map, Value, json};

use super::Answer;
use super::condition::{Unreadable, holds, name_of, order};
use crate::settings::TABLES;

/// Rows by their keys' values.
type Rows = BTreeMap<String, Value>;

/// All tables by name.
#[derive(Clone, Default)]
pub(super) struct Tables {
    rows: BTreeMap<String, Rows>,
}

/// Why a call is refused.
enum Refused {
    /// Not in DynamoDB's words, or in words that this is no reader of.
    Unreadable,
    /// No such table.
    NoTable,
    /// A condition fails, over this row if there is one.
    Condition(Option<Value>),
}

impl From<Unreadable> for Refused {
    fn from(_: Unreadable) -> Self {
        Self::Unreadable
    }
}

/// The tables that a call is about.
pub(super) fn table_names(input: &Value) -> Vec<&str> {
    if let Some(table) = input["TableName"].as_str() {
        return vec![table];
    }
    if let Some(tables) = input["RequestItems"].as_object() {
        return tables.keys().map(String::as_str).collect();
    }
    let items = input["TransactItems"].as_array().into_iter().flatten();
    items.filter_map(|item| item.as_object()?.values().next()?["TableName"].as_str()).collect()
}

impl Tables {
    pub(super) fn rows(&self, table: &str) -> Vec<Value> {
        self.rows.get(table).into_iter().flat_map(Rows::values).cloned().collect()
    }

    pub(super) fn clear(&mut self, table: &str) {
        self.rows.remove(table);
    }

    pub(super) fn put(&mut self, table: &str, row: Value) -> Result<(), ()> {
        let key = key_of(table, &row).map_err(|_| ())?;
        self.rows.entry(table.to_owned()).or_default().insert(key, row);
        Ok(())
    }

    pub(super) fn answer(&mut self, operation: &str, input: &Value) -> Answer {
        let result = match operation {
            "GetItem" => self.get(input),
            "BatchGetItem" => self.batch_get(input),
            "Query" => self.query(input),
            "PutItem" => self.put_item(input),
            "UpdateItem" => self.update(input),
            "TransactWriteItems" => return self.transact(input),
            _ => Err(Refused::Unreadable),
        };
        match result {
            Ok(output) => Answer::json(StatusCode::OK, &output),
            Err(Refused::Unreadable) => Answer::refusal("ValidationException", json!({"message": input.to_string()})),
            Err(Refused::NoTable) => Answer::refusal("ResourceNotFoundException", json!({})),
            Err(Refused::Condition(row)) => {
                let shown = row.filter(|_| input["ReturnValuesOnConditionCheckFailure"] == "ALL_OLD");
                let details = shown.map_or_else(|| json!({}), |row| json!({"Item": row}));
                Answer::refusal("com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException", details)
            }
        }
    }

    fn row(&self, table: &str, key: &Value) -> Result<Option<&Value>, Refused> {
        let key = key_of(table, key)?;
        Ok(self.rows.get(table).and_then(|rows| rows.get(&key)))
    }

    fn get(&self, input: &Value) -> Result<Value, Refused> {
        let row = self.row(text(&input["TableName"])?, &input["Key"])?;
        Ok(row.map_or_else(|| json!({}), |row| json!({"Item": projected(row, input)})))
    }

    fn batch_get(&self, input: &Value) -> Result<Value, Refused> {
        let mut responses = Map::new();
        for (table, wanted) in input["RequestItems"].as_object().ok_or(Refused::Unreadable)? {
            let mut found = Vec::new();
            for key in wanted["Keys"].as_array().ok_or(Refused::Unreadable)? {
                found.extend(self.row(table, key)?.map(|row| projected(row, wanted)));
            }
            responses.insert(table.clone(), found.into());
        }
        Ok(json!({"Responses": responses, "UnprocessedKeys": {}}))
    }

    /// In the order of the attribute that the index sorts by.
    fn query(&self, input: &Value) -> Result<Value, Refused> {
        let table = text(&input["TableName"])?;
        let condition = text(&input["KeyConditionExpression"])?;
        // The partition comes first, in the condition as in an index, and is quickly compared.
        let partition = condition.split(" AND ").next().and_then(|first| first.split_once(" = "));
        let (name, value) = partition.ok_or(Refused::Unreadable)?;
        let (name, value) = (name_of(name, input)?, &input["ExpressionAttributeValues"][value]);
        let mut found = Vec::new();
        for row in self.rows.get(table).into_iter().flat_map(Rows::values) {
            if row[name] == *value && holds(condition, row, input)? {
                found.push(row);
            }
        }
        let sort_key = if input["IndexName"] == "by-due" { "due" } else { "createdKey" };
        found
            .sort_by(|left, right| order(left.get(sort_key), right.get(sort_key)).unwrap_or(std::cmp::Ordering::Equal));
        if input["ScanIndexForward"] == false {
            found.reverse();
        }
        if let Some(start) = input.get("ExclusiveStartKey") {
            let start = key(table, start)?;
            let mut before = 0;
            for row in &found {
                before += 1;
                if key(table, row)? == start {
                    break;
                }
            }
            found.drain(..before);
        }
        let limit = input["Limit"].as_u64().and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
        let more = found.len() > limit;
        found.truncate(limit);
        let mut output = json!({"Count": found.len(), "ScannedCount": found.len()});
        if input["Select"] != "COUNT" {
            output["Items"] = json!(found);
        }
        if let Some(last) = found.last().filter(|_| more) {
            output["LastEvaluatedKey"] = key(table, last)?;
        }
        Ok(output)
    }

    /// Writes if the condition holds for the row that is there.
    fn put_item(&mut self, input: &Value) -> Result<Value, Refused> {
        let (table, row) = (text(&input["TableName"])?, &input["Item"]);
        self.check(table, row, input)?;
        self.put(table, row.clone()).map_err(|()| Refused::Unreadable)?;
        Ok(json!({}))
    }

    /// Keeps what the expression plainly sets in a record of idempotency, and answers with the row as it was.
    fn update(&mut self, input: &Value) -> Result<Value, Refused> {
        let (table, key) = (text(&input["TableName"])?, &input["Key"]);
        let before = self.row(table, key)?.cloned();
        if table.contains("idempotency") {
            let mut row = before.clone().unwrap_or_else(|| key.clone());
            let sets = text(&input["UpdateExpression"])?.trim_start_matches("SET ");
            for set in sets.split(',') {
                let (name, value) = set.split_once('=').ok_or(Refused::Unreadable)?;
                let value = &input["ExpressionAttributeValues"][value.trim()];
                row[name_of(name.trim(), input)?] = value.clone();
            }
            self.put(table, row).map_err(|()| Refused::Unreadable)?;
        }
        let shown = before.filter(|_| input["ReturnValues"] == "ALL_OLD");
        Ok(shown.map_or_else(|| json!({}), |row| json!({"Attributes": row})))
    }

    /// The row that an expression `ADD name :value` makes.
    fn added(&self, update: &Value) -> Result<Value, Refused> {
        let (table, key) = (text(&update["TableName"])?, &update["Key"]);
        let mut row = self.row(table, key)?.unwrap_or(key).clone();
        let add = text(&update["UpdateExpression"])?.strip_prefix("ADD ").ok_or(Refused::Unreadable)?;
        let (name, value) = add.split_once(' ').ok_or(Refused::Unreadable)?;
        let number = |value: &Value| value["N"].as_str().and_then(|number| number.parse::<u64>().ok()).unwrap_or(0);
        let sum = number(&row[name]) + number(&update["ExpressionAttributeValues"][value]);
        row[name] = json!({"N": sum.to_string()});
        Ok(row)
    }

    /// All or nothing, of puts and additions.
    fn transact(&mut self, input: &Value) -> Answer {
        let mut items: Vec<(&Value, Value)> = Vec::new();
        for item in input["TransactItems"].as_array().into_iter().flatten() {
            let (write, row) = match item.get("Put") {
                Some(put) => (put, Ok(put["Item"].clone())),
                None => (&item["Update"], self.added(&item["Update"])),
            };
            let Ok(row) = row else {
                return Answer::refusal("ValidationException", json!({"message": item.to_string()}));
            };
            items.push((write, row));
        }
        let mut reasons = Vec::new();
        for (put, row) in &items {
            let checked = text(&put["TableName"]).and_then(|table| self.check(table, row, put));
            reasons.push(match checked {
                Ok(()) => json!({"Code": "None"}),
                Err(Refused::Condition(row)) => {
                    let mut reason = json!({"Code": "ConditionalCheckFailed"});
                    if let Some(row) = row.filter(|_| put["ReturnValuesOnConditionCheckFailure"] == "ALL_OLD") {
                        reason["Item"] = row;
                    }
                    reason
                }
                Err(_) => return Answer::refusal("ValidationException", json!({"message": put.to_string()})),
            });
        }
        if reasons.iter().any(|reason| reason["Code"] != "None") {
            let kind = "com.amazonaws.dynamodb.v20120810#TransactionCanceledException";
            return Answer::refusal(kind, json!({"CancellationReasons": reasons, "message": "cancelled"}));
        }
        for (put, row) in items {
            let table = put["TableName"].as_str().unwrap_or_default();
            if self.put(table, row).is_err() {
                return Answer::refusal("ResourceNotFoundException", json!({}));
            }
        }
        Answer::json(StatusCode::OK, &json!({}))
    }

    fn check(&self, table: &str, row: &Value, input: &Value) -> Result<(), Refused> {
        let Some(condition) = input["ConditionExpression"].as_str() else { return Ok(()) };
        let before = self.row(table, row)?;
        if holds(condition, before.unwrap_or(&Value::Null), input)? {
            Ok(())
        } else {
            Err(Refused::Condition(before.cloned()))
        }
    }
}

fn text(value: &Value) -> Result<&str, Refused> {
    value.as_str().ok_or(Refused::Unreadable)
}

/// The attributes of a row that are its key.
fn key(table: &str, row: &Value) -> Result<Value, Refused> {
    let (.., names) = TABLES.iter().find(|(_, name, _)| *name == table).ok_or(Refused::NoTable)?;
    Ok(names.iter().map(|name| ((*name).to_owned(), row[*name].clone())).collect::<Map<_, _>>().into())
}

fn key_of(table: &str, row: &Value) -> Result<String, Refused> {
    let key = key(table, row)?;
    if key.as_object().is_some_and(|key| key.values().all(Value::is_object)) {
        Ok(key.to_string())
    } else {
        Err(Refused::Unreadable)
    }
}

/// What a read asks for of a row: all of it, or some attributes.
fn projected(row: &Value, input: &Value) -> Value {
    let Some(wanted) = input["ProjectionExpression"].as_str() else { return row.clone() };
    let names = wanted.split(',').filter_map(|name| name_of(name.trim(), input).ok());
    names.filter_map(|name| Some((name.to_owned(), row.get(name)?.clone()))).collect::<Map<_, _>>().into()
}

#[cfg(test)]
mod tests {
    use parceltrack::aws::InvoiceTable;
    use parceltrack::domain::Timestamp;
    use parceltrack::ports::RelayInvoices as _;
    use serde_json::json;
    use uuid::Uuid;

    use crate::{Aws, clients};

    #[tokio::test]
    async fn due_invoices_come_in_their_order_page_after_page_and_those_of_other_shards_never() {
        let aws = Aws::default();
        for due in (1..=150_u32).rev() {
            for shard in [3, 4] {
                let id = Uuid::from_u64_pair(shard, due.into()).to_string();
                let (shard, due) = (shard.to_string(), due.to_string());
                let row = json!({"invoiceId": {"S": id}, "dueShard": {"N": shard}, "due": {"N": due}});
                aws.put("invoices", row).unwrap();
            }
        }
        let table = InvoiceTable::new(clients(aws).dynamodb(), "invoices".to_owned());
        let now = Timestamp::from_millis(130);
        let first = table.due_page(3, now, None).await.unwrap();
        let second = table.due_page(3, now, first.invoices.last().copied()).await.unwrap();
        assert_eq!((first.more, second.more), (true, false));
        let due: Vec<i64> = [first, second].iter().flat_map(|page| &page.invoices).map(|it| it.due.millis()).collect();
        assert_eq!(due, (1..=130).collect::<Vec<_>>());
    }
}
