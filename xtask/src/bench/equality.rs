//! That the API in Python does the same: the same answers to the same events, and the same rows after them.

use anyhow::{Context, Result, ensure};
use bench::caller::KEY;
use bench::{Aws, Process, events};
use parceltrack::ports::DUE_SHARDS;
use serde_json::{Value, json};
use uuid::Uuid;

use super::contestants::{Contestant, named};
use super::rounds::body;
use super::{API, PYTHON};

/// The tables whose rows are compared. Powertools has its own form of idempotency records.
const TABLES: [&str; 3] = ["parcels", "tracking-numbers", "invoices"];

/// Lets both answer the same events and compares; returns how many there were.
pub(super) async fn check(aws: &Aws, contestants: &[Contestant]) -> Result<usize> {
    let empty = aws.snapshot();
    let ours = story(aws, named(contestants, API)).await?;
    aws.restore(&empty);
    let theirs = story(aws, named(contestants, PYTHON)).await?;
    aws.restore(&empty);
    for ((event, ours), (_, theirs)) in ours.iter().zip(&theirs) {
        ensure!(ours == theirs, "{event}: not the same:\n{API}: {ours:#}\n{PYTHON}: {theirs:#}");
    }
    Ok(ours.len() - TABLES.len())
}

/// What a function answers to a series of events, and what it leaves in the tables, without what is made by chance.
async fn story(aws: &Aws, contestant: &Contestant) -> Result<Vec<(&'static str, Value)>> {
    let mut teller = Teller { process: contestant.start().await?, made: Made::default(), told: Vec::new() };
    let parcel = json!({
        "recipient": "  Tan Wei Ming ", "email": "tan@example.com", "address": "21 Choa Chu Kang Avenue 4, #05-12",
        "postalCode": "689812", "phone": "+6591234567", "reference": "PO-2026-1130",
    });
    let other = json!({"recipient": "Tan", "email": "tan@example.com"});
    let wrong = json!({"recipient": " ", "email": "tan", "postalCode": "12", "reference": "a\nb", "colour": "red"});
    let key: &[(&str, &str)] = &[("idempotency-key", "order-1")];
    let post =
        |body: &Value, headers: &[(&str, &str)]| events::request("POST", "/api/parcels", "", KEY, headers, Some(body));
    let created = teller.tell("create", &post(&parcel, key)).await?;
    teller.tell("create again", &post(&parcel, key)).await?;
    teller.tell("create another with the same key", &post(&other, key)).await?;
    teller.tell("create without a key", &post(&other, &[])).await?;
    teller.tell("create with everything wrong", &post(&wrong, &[])).await?;

    let id = created["id"].as_str().context("a parcel without an id")?.to_owned();
    let number = created["trackingNumber"].as_str().context("a parcel without a number")?.to_owned();
    let get = |path: String, key: &str| events::request("GET", &path, "", key, &[], None);
    teller.tell("without a good key", &get(format!("/api/parcels/{id}"), &KEY.replace("only", "also"))).await?;
    teller.tell("get by id", &get(format!("/api/parcels/{id}"), KEY)).await?;
    teller.tell("get by number", &get(format!("/api/parcels/{number}"), KEY)).await?;
    teller.tell("get nobody's", &get("/api/parcels/00000000-0000-4000-8000-000000000000".to_owned(), KEY)).await?;
    teller.tell("get nonsense", &get("/api/parcels/7".to_owned(), KEY)).await?;

    let request =
        |body: Option<&Value>| events::request("POST", &format!("/api/parcels/{id}/invoice"), "", KEY, &[], body);
    teller.tell("request an invoice", &request(None)).await?;
    teller.tell("request it again", &request(None)).await?;
    teller.tell("request another", &request(Some(&json!({"amount": "99.00"})))).await?;
    teller.tell("get with an invoice", &get(format!("/api/parcels/{id}"), KEY)).await?;
    teller.tell("list", &get("/api/parcels".to_owned(), KEY)).await?;

    let Teller { process, mut made, mut told } = teller;
    process.stop().await?;
    for table in TABLES {
        let mut rows = Vec::new();
        for mut row in aws.rows(table) {
            check_shard(&mut row)?;
            rows.push(made.without_chance(row));
        }
        rows.sort_by_key(Value::to_string);
        told.push((table, rows.into()));
    }
    Ok(told)
}

/// Takes the shard out of an invoice's row if it is right: it follows from the id, which is made by chance.
fn check_shard(row: &mut Value) -> Result<()> {
    let Some(shard) = row.as_object_mut().and_then(|row| row.remove("dueShard")) else { return Ok(()) };
    let id: Uuid = row["invoiceId"]["S"].as_str().context("an invoice without an id")?.parse()?;
    ensure!(shard == json!({"N": (id.as_bytes()[15] % DUE_SHARDS).to_string()}), "{id} is in shard {shard}");
    Ok(())
}

struct Teller {
    process: Process,
    made: Made,
    told: Vec<(&'static str, Value)>,
}

impl Teller {
    async fn tell(&mut self, name: &'static str, event: &Value) -> Result<Value> {
        let invocation = self.process.invoke(event).await.context(name)?;
        let answer = &invocation.answer;
        let mut content = body(&invocation)?;
        let parsed = content.clone();
        // Every answer has another one.
        if let Some(content) = content.as_object_mut() {
            content.remove("requestId");
        }
        let header = |name: &str| {
            let headers = [&answer["headers"], &answer["multiValueHeaders"]];
            let mut values = headers.into_iter().filter_map(Value::as_object).flatten();
            values.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone())
        };
        let seen = json!({
            "status": answer["statusCode"],
            "location": header("location"),
            "content-type": header("content-type"),
            "body": content,
        });
        let seen = self.made.without_chance(seen);
        self.told.push((name, seen));
        Ok(parsed)
    }
}

/// What was made by chance or by the clock, each by the order in which it first came up.
#[derive(Default)]
struct Made(Vec<String>);

impl Made {
    /// The same value with a stand-in for everything that another run would have made differently.
    fn without_chance(&mut self, value: Value) -> Value {
        match value {
            Value::String(text) => self.replaced(&text).into(),
            Value::Array(items) => items.into_iter().map(|item| self.without_chance(item)).collect(),
            Value::Object(fields) => {
                fields.into_iter().map(|(name, value)| (name, self.without_chance(value))).collect()
            }
            other => other,
        }
    }

    fn replaced(&mut self, text: &str) -> String {
        let joins = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | ':' | '.');
        let mut replaced = String::new();
        for part in text.split_inclusive(|it| !joins(it)) {
            let word = part.trim_end_matches(|it| !joins(it));
            match Word::of(word) {
                Word::Plain => replaced.push_str(word),
                Word::Time => replaced.push_str("(time)"),
                Word::Made(what) => {
                    let place = self.0.iter().position(|known| known == what).unwrap_or_else(|| {
                        self.0.push(what.to_owned());
                        self.0.len() - 1
                    });
                    replaced.extend(["(made ", &place.to_string(), ")"]);
                }
            }
            replaced.push_str(&part[word.len()..]);
        }
        replaced
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Word<'a> {
    Plain,
    /// Milliseconds since 1970, as they are or turned round, or RFC 3339.
    Time,
    /// An id, or the digits that a parcel's and its invoice's number have in common.
    Made(&'a str),
}

impl<'a> Word<'a> {
    fn of(word: &'a str) -> Self {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if (word.len() == 13 && digits(word)) || (word.len() == 24 && word.contains('T') && word.ends_with('Z')) {
            return Self::Time;
        }
        let invoice_number = |rest: &'a str| rest.split_once('-').map(|(_, number)| number);
        let number = word.strip_prefix("LCL").or_else(|| word.strip_prefix("INV-").and_then(invoice_number));
        match number {
            Some(number) if digits(number) => Self::Made(number),
            _ if word.len() == 36 && word.matches('-').count() == 4 => Self::Made(word),
            _ => Self::Plain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_chance_and_the_clock_made_is_told_apart_by_where_it_stands_alone() {
        let mut made = Made::default();
        let id = "6f1d2f0c-59a7-4b1e-9c55-1b8e0a4d7e21";
        let row = json!({"a": format!("/api/parcels/{id}"), "b": "INV-2026-48291057 … LCL48291057", "c": "2026-11-30T01:02:03.456Z"});
        let expected = json!({"a": "/api/parcels/(made 0)", "b": "(made 1) … (made 1)", "c": "(time)"});
        assert_eq!(made.without_chance(row), expected);
        assert_eq!(made.without_chance(json!([id, "1796000400000#x", 7])), json!(["(made 0)", "(time)#x", 7]));
    }
}
