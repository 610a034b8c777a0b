//! What the functions log, at the debug level, of everything that these tests do: one JSON object a line, the request's
//! id on all of them, and nothing about a person, no key and no link.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::time::Duration;

use local_stack::{DRIVER_KEY, MERCHANT_KEY};
use parceltrack::clock::SystemClock;
use parceltrack::domain::{InvoiceId, LinkToken, Suppression, SuppressionCause};
use parceltrack::ports::{AddSuppression as _, Clock as _};
use reqwest::Method;
use serde_json::{Value, json};
use stack_tests::{PATIENCE, Stack, own_address};
use uuid::Uuid;

/// Nobody else's name.
const NAME: &str = "Zebedee Quillfeather";

/// What stands in no line: addresses, names, keys, links, and secrets of webhooks.
const NEVER_LOGGED: [&str; 9] =
    ["@", NAME, "Quillfeather", "9123 4567", "onlyforthelaptop", "X-Amz-", "/i/", "/c/", "whsec_"];

/// All lines of all functions so far. Those of Lambda itself, which the emulator writes as text, are left out.
async fn lines(stack: &Stack) -> Vec<String> {
    let groups = stack.emulator("logs", "Logs_20140328.DescribeLogGroups", &json!({})).await;
    let mut lines = Vec::new();
    for group in groups["logGroups"].as_array().unwrap() {
        let mut token = Value::Null;
        loop {
            let mut request = json!({"logGroupName": group["logGroupName"], "limit": 10_000});
            if token.is_string() {
                request["nextToken"] = token.clone();
            }
            let page = stack.emulator("logs", "Logs_20140328.FilterLogEvents", &request).await;
            let messages = page["events"].as_array().unwrap().iter().map(|event| event["message"].as_str().unwrap());
            let lambdas_own =
                |line: &&str| ["START", "END", "REPORT"].contains(&line.split(" RequestId: ").next().unwrap());
            lines.extend(messages.filter(|line| !lambdas_own(line)).map(ToOwned::to_owned));
            if !page["nextToken"].is_string() || page["nextToken"] == token {
                break;
            }
            token = page["nextToken"].clone();
        }
    }
    lines
}

/// The lines once there is one with all these words. A line may be seen only after the function's next invocation.
pub(crate) async fn lines_with(stack: &Stack, words: &[&str]) -> Vec<String> {
    let end = tokio::time::Instant::now() + PATIENCE;
    loop {
        let lines = lines(stack).await;
        if lines.iter().any(|line| words.iter().all(|word| line.contains(word))) {
            return lines;
        }
        assert!(tokio::time::Instant::now() < end, "no line with {words:?} among {}", lines.len());
        stack.request(Method::GET, "/health", None).send().await.unwrap();
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

async fn send(
    stack: &Stack,
    method: Method,
    path: &str,
    key: Option<&str>,
    id: &str,
    body: Option<String>,
) -> (u16, Value) {
    let mut request = stack.request(method, path, key).header("x-request-id", id);
    if let Some(body) = body {
        request = request.header("content-type", "application/json").body(body);
    }
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    (status, answer.json().await.unwrap_or_default())
}

fn ses_event(kind: &str, invoice: &str, email: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../events/mail-events-{kind}.json"));
    let sample = std::fs::read_to_string(path).unwrap();
    let sample = sample.replace("11111111-1111-4111-8111-111111111111", invoice).replace("tan@example.com", email);
    serde_json::from_str(&sample).unwrap()
}

#[tokio::test]
async fn no_line_names_a_person_a_key_or_a_link_and_each_is_one_json_object() {
    let stack = Stack::running().await;
    let run = Uuid::new_v4().simple().to_string();
    let id = |step: &str| format!("leak-{run}-{step}");
    let (email, other) = (own_address("quillfeather"), own_address("quillfeather"));
    let merchant = Some(MERCHANT_KEY);
    let parcel = |email: &str| Some(json!({"recipient": NAME, "email": email, "phone": "+65 9123 4567"}).to_string());

    // The whole way, then once more, to another address.
    let (status, made) = send(&stack, Method::POST, "/api/parcels", merchant, &id("parcel"), parcel(&email)).await;
    assert_eq!(status, 201);
    let path = format!("/api/parcels/{}/invoice", made["id"].as_str().unwrap());
    let (status, accepted) = send(&stack, Method::POST, &path, merchant, &id("invoice"), None).await;
    assert_eq!(status, 202);
    let invoice_id = accepted["id"].as_str().unwrap().to_owned();
    stack.invoice_once(&invoice_id, "Sent").await;
    let invoice = stack.invoice(InvoiceId(invoice_id.parse().unwrap())).await;
    let token = LinkToken { invoice: invoice.content.id, secret: invoice.link_secret }.to_string();
    let opened = stack.request(Method::GET, &format!("/i/{token}"), None).send().await.unwrap();
    assert!(opened.headers()["location"].to_str().unwrap().contains("X-Amz-Signature"));
    let path = format!("/api/invoices/{invoice_id}");
    let pdf = stack.request(Method::GET, &format!("{path}/pdf"), merchant).header("accept", "application/json");
    assert_eq!(pdf.send().await.unwrap().status(), 200);
    let new = Some(json!({"email": other}).to_string());
    assert_eq!(send(&stack, Method::PUT, &format!("{path}/email"), merchant, &id("email"), new).await.0, 200);
    assert_eq!(send(&stack, Method::POST, &format!("{path}/resend"), merchant, &id("resend"), None).await.0, 202);
    stack.invoice_once(&invoice_id, "Sent").await;
    let pdf = invoice.state.pdf().unwrap();
    assert_eq!(pdf.key, format!("invoices/{invoice_id}.pdf"), "a key names nobody");

    // What callers do wrong, with personal data in it.
    let wrong = format!("{}x", &MERCHANT_KEY[..MERCHANT_KEY.len() - 1]);
    let half = format!(r#"{{"recipient":"{NAME}","email":"{email}""#);
    for (step, method, path, key, body, status) in [
        ("wrong-key", Method::POST, "/api/parcels", Some(&*wrong), parcel(&email), 401),
        ("driver", Method::POST, "/api/parcels", Some(DRIVER_KEY), parcel(&email), 403),
        ("half", Method::POST, "/api/parcels", merchant, Some(half), 400),
        ("fields", Method::POST, "/api/parcels", merchant, Some(json!({NAME: email, "email": 7}).to_string()), 422),
        ("query", Method::GET, &format!("/api/parcels?cursor={email}"), merchant, None, 400),
        ("path", Method::GET, &format!("/api/parcels/{email}"), merchant, None, 400),
        ("soon", Method::POST, &format!("{path}/resend"), merchant, None, 429),
    ] {
        assert_eq!(send(&stack, method, path, key, &id(step), body).await.0, status, "{step}");
    }

    // What goes wrong with mails: one rejected, one not even tried, one that came back, an event that nobody can read.
    for (step, address) in
        [("rejected", format!("no-such-mailbox-{email}")), ("suppressed", format!("suppressed-{email}"))]
    {
        if step == "suppressed" {
            let (cause, reason) = (SuppressionCause::Complaint, format!("<{address}> complained"));
            let (email, at, invoice) = (address.parse().unwrap(), SystemClock.now(), invoice.content.id);
            stack.suppressions().add(&Suppression { email, cause, reason, at, invoice }).await.unwrap();
        }
        let made = send(&stack, Method::POST, "/api/parcels", merchant, &id("parcel"), parcel(&address)).await.1;
        let path = format!("/api/parcels/{}/invoice", made["id"].as_str().unwrap());
        let accepted = send(&stack, Method::POST, &path, merchant, &id(step), None).await.1;
        stack.invoice_once(accepted["id"].as_str().unwrap(), "Failed").await;
    }
    let ear = stack.addresses.output("MailEventsFunctionName").unwrap();
    stack.invoke(ear, &ses_event("bounce", &invoice_id, &other)).await;
    let mut unreadable = ses_event("bounce", &invoice_id, &other);
    unreadable["detail"]["mail"]["destination"] = json!({"to": other});
    stack.invoke_in_vain(ear, &unreadable).await;
    stack.invoke(ear, &ses_event("delivery", &invoice_id, &other)).await;

    lines_with(&stack, &["invoice_failed", &id("suppressed")]).await;
    lines_with(&stack, &["mail_event_unreadable"]).await;
    let lines = lines_with(&stack, &["invoice_sent", &id("resend")]).await;
    assert!(lines.len() > 50, "{}", lines.len());

    let token_of_today = {
        let invoice = stack.invoice(invoice.content.id).await;
        LinkToken { invoice: invoice.content.id, secret: invoice.link_secret }.to_string()
    };
    let hidden = [&NEVER_LOGGED[..], &[&token, &token_of_today]].concat();
    let mut parsed = Vec::new();
    for line in &lines {
        let told = line.replace("/i/{token}", "the route of links").replace("/c/{token}", "the route of contacts");
        for secret in &hidden {
            assert!(!told.contains(*secret), "{secret:?} in {line}");
        }
        let Ok(Value::Object(object)) = serde_json::from_str(line) else { panic!("no JSON object: {line}") };
        parsed.push(Value::Object(object));
    }

    // The request's id is on every line of the worker about its ticket.
    let about = |line: &&Value| line["span"]["invoice"] == invoice_id.as_str() && line["span"]["name"] == "ticket";
    let requests: HashSet<_> = parsed.iter().filter(about).map(|line| line["span"]["requestId"].as_str()).collect();
    assert_eq!(requests, HashSet::from([Some(&*id("invoice")), Some(&*id("resend"))]));

    // An error is ours, and never what a caller did wrong.
    let mut statuses: BTreeMap<&str, u64> = BTreeMap::new();
    let mut errors: HashSet<&str> = HashSet::new();
    for line in parsed.iter().filter(|line| line["span"]["name"] == "request") {
        let request = line["span"]["requestId"].as_str().unwrap();
        if line["event"] == "answered" {
            statuses.insert(request, line["status"].as_u64().unwrap());
        } else if line["level"] == "ERROR" {
            errors.insert(request);
        }
    }
    assert_eq!(statuses[&*id("wrong-key")], 401);
    for request in errors {
        assert!(statuses.get(request).is_none_or(|status| *status >= 500), "an error in {request}: {statuses:?}");
    }
}
