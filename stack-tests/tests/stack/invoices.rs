//! Asking for invoices, through the deployed API, worker, bucket and mail server.

use std::collections::HashSet;
use std::process::Command;

use futures::future::join_all;
use local_stack::{OwnInbox, ServerState};
use parceltrack::ports::{Disposition, LinkToPdf as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use stack_tests::{PATIENCE, Stack, own_address, rules, smtp, ticket_record, work};
use uuid::Uuid;

#[tokio::test]
async fn an_invoice_is_made_mailed_and_opened() {
    let stack = Stack::running().await;
    let email = own_address("whole");
    let parcel = stack.create_parcel("Tan Wei Ming", &email).await;
    let path = format!("/api/parcels/{}/invoice", parcel["id"].as_str().unwrap());
    let answer = stack.post(&path).json(&json!({"amount": "2.50"})).send().await.unwrap();
    assert_eq!(answer.status(), 202);
    let location = answer.headers()["location"].to_str().unwrap().to_owned();
    let accepted: Value = answer.json().await.unwrap();
    assert_eq!(accepted["status"], "Pending");
    let id = accepted["id"].as_str().unwrap();
    assert_eq!(location, format!("/api/invoices/{id}"));

    let invoice = stack.invoice_once(id, "Sent").await;
    // 9 % of 2.50 is 22.5 cents: half up, not to even.
    assert_eq!(
        (&invoice["subtotal"], &invoice["tax"], &invoice["total"]),
        (&json!("2.50"), &json!("0.23"), &json!("2.73"))
    );
    assert_eq!(invoice["attempts"][0]["outcome"], "Sent");
    assert_eq!(invoice.get("nextAttemptAt"), None, "nobody needs to look again");

    let mail = stack
        .addresses
        .inbox()
        .wait_for_mail(|mail| mail.to.iter().any(|to| to.contains(&email)), PATIENCE)
        .await
        .unwrap();
    assert!(mail.summary.from.contains("Lion City Logistics"));
    assert!(mail.summary.message_id.starts_with(id), "copies of a mail have one Message-ID");
    let link = mail.text.split_whitespace().find(|word| word.contains("/i/")).expect("a link in the text part");
    assert!(mail.html.contains(link), "the same link in the HTML part");
    assert!(mail.raw.lines().all(|line| line.len() <= 998), "RFC 5322 section 2.1.1");

    let pdf = open_pdf(&stack, link).await;
    let text = text_of(&pdf);
    for words in ["Tan Wei Ming", "Tax Invoice", "2.50", "0.23", "S$2.73", invoice["number"].as_str().unwrap()] {
        assert!(text.contains(words), "{words} in {text}");
    }
    assert!(mail.text.contains("S$2.73") && mail.html.contains("S$2.73") && mail.summary.subject.contains("S$2.73"));
    assert_eq!(invoice["pdfSha256"], json!(sha256(&pdf)), "the invoice names the file that is stored");
    let same = stack.get(invoice["pdf"].as_str().unwrap()).send().await.unwrap();
    assert_eq!(same.status(), 302);
    assert_eq!(open_pdf(&stack, same.headers()["location"].to_str().unwrap()).await, pdf);
}

#[tokio::test]
async fn fifty_parallel_requests_for_one_parcel_make_one_invoice_one_pdf_and_one_mail() {
    let stack = Stack::running().await;
    let email = own_address("fifty");
    let parcel = stack.create_parcel("Tan Wei Ming", &email).await;
    let path = format!("/api/parcels/{}/invoice", parcel["id"].as_str().unwrap());
    let answers = join_all((0..50).map(|_| stack.post(&path).send())).await;
    let mut ids = HashSet::new();
    for answer in answers {
        let answer = answer.unwrap();
        assert_eq!(answer.status(), 202);
        ids.insert(answer.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned());
    }
    assert_eq!(ids.len(), 1);
    let id = ids.into_iter().next().unwrap();
    let invoice = stack.invoice_once(&id, "Sent").await;
    assert_eq!(invoice["attemptCount"], 1);
    // A marker that is asked for later comes later: whatever the fifty caused has come by then.
    let marker = stack.create_parcel("Marker", &own_address("marker")).await;
    let marker = stack.request_invoice(&marker).await;
    stack.invoice_once(&marker, "Sent").await;
    assert_eq!(stack.mails_to(&email).await, 1);
}

#[tokio::test]
async fn a_second_request_with_other_content_names_the_invoice_there_is() {
    let stack = Stack::running().await;
    let parcel = stack.create_parcel("Tan Wei Ming", &own_address("conflict")).await;
    let path = format!("/api/parcels/{}/invoice", parcel["id"].as_str().unwrap());
    let lines = json!({"lines": [{"description": "Delivery", "unitPrice": "10.00"}, {"description": "Box", "quantity": 3, "unitPrice": "0.50"}]});
    let first = stack.post(&path).json(&lines).send().await.unwrap();
    assert_eq!(first.status(), 202);
    let id = first.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned();

    assert_eq!(stack.post(&path).json(&lines).send().await.unwrap().status(), 202, "the same content");
    assert_eq!(stack.post(&path).send().await.unwrap().status(), 202, "no content");
    let other = stack.post(&path).json(&json!({"amount": "11.51"})).send().await.unwrap();
    assert_eq!(other.status(), 409);
    assert_eq!(other.headers()["location"], format!("/api/invoices/{id}"));
    let problem: Value = other.json().await.unwrap();
    assert_eq!((&problem["type"], &problem["invoiceId"]), (&json!("/problems/invoice-differs"), &json!(id)));
    let invoice = stack.invoice_once(&id, "Sent").await;
    assert_eq!(
        (&invoice["subtotal"], &invoice["tax"], &invoice["total"]),
        (&json!("11.50"), &json!("1.04"), &json!("12.54"))
    );
}

#[tokio::test]
async fn five_hundred_lines_of_the_largest_amounts_lose_no_figure() {
    let stack = Stack::running().await;
    let parcel = stack.create_parcel(&"W".repeat(200), &own_address("many")).await;
    let path = format!("/api/parcels/{}/invoice", parcel["id"].as_str().unwrap());
    let mut lines: Vec<Value> =
        (1..=499).map(|number| json!({"description": format!("Parcel {number:03}"), "unitPrice": "1.00"})).collect();
    lines.push(json!({"description": "X".repeat(200), "quantity": 1, "unitPrice": "999501.00"}));
    let answer = stack.post(&path).json(&json!({"lines": lines})).send().await.unwrap();
    assert_eq!(answer.status(), 202);
    let id = answer.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned();
    let invoice = stack.invoice_once(&id, "Sent").await;
    assert_eq!(invoice["total"], "1090000.00");
    let redirect = stack.get(invoice["pdf"].as_str().unwrap()).send().await.unwrap();
    let text = text_of(&open_pdf(&stack, redirect.headers()["location"].to_str().unwrap()).await);
    for number in 1..=499 {
        assert!(text.contains(&format!("Parcel {number:03}")), "line {number}");
    }
    for figure in ["999,501.00", "S$1,000,000.00", "S$90,000.00", "S$1,090,000.00"] {
        assert!(text.contains(figure), "{figure}");
    }
    let letters = |letter: char| text.matches(letter).count();
    assert!(letters('W') >= 200 && letters('X') >= 200, "no letter of a long word is lost");
}

#[tokio::test]
async fn a_retry_never_replaces_the_pdf_by_another_one() {
    let stack = Stack::running().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stack.own_queues().await);
    let worker = stack.worker(&queues, smtp(&inbox.smtp_url()), rules());
    let invoice = stack.invoice_without_ticket(&own_address("kept")).await;
    inbox.set_state(ServerState::PuttingOff).await.unwrap();
    assert_eq!(work(&worker, &[ticket_record("m1", &invoice, 1)]).await, ["m1"]);
    let generated = stack.invoice(invoice.content.id).await.state.pdf().cloned().unwrap();
    let link = stack.bucket().link(&generated, "invoice.pdf", Disposition::Inline).await.unwrap();
    let stored_at = stack.open(&link).await.headers()["last-modified"].clone();

    inbox.set_state(ServerState::Running).await.unwrap();
    assert!(work(&worker, &[ticket_record("m1", &invoice, 2)]).await.is_empty());
    assert_eq!(stack.invoice(invoice.content.id).await.state.pdf(), Some(&generated));
    let answer = stack.open(&link).await;
    assert_eq!(answer.headers()["last-modified"], stored_at, "not stored again");
    assert_eq!(sha256(&answer.bytes().await.unwrap()), generated.sha256);
}

#[tokio::test]
async fn an_unknown_parcel_or_invoice_is_not_found() {
    let stack = Stack::running().await;
    let nobody = Uuid::new_v4();
    assert_eq!(stack.post(&format!("/api/parcels/{nobody}/invoice")).send().await.unwrap().status(), 404);
    assert_eq!(stack.get(&format!("/api/parcels/{nobody}")).send().await.unwrap().status(), 404);
    assert_eq!(stack.get(&format!("/api/invoices/{nobody}")).send().await.unwrap().status(), 404);
    assert_eq!(stack.get(&format!("/api/invoices/{nobody}/pdf")).send().await.unwrap().status(), 404);
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

/// Follows a short link or a pre-signed one to the PDF.
async fn open_pdf(stack: &Stack, link: &str) -> Vec<u8> {
    let mut answer = stack.open(link).await;
    if answer.status() == 302 {
        answer = stack.open(answer.headers()["location"].to_str().unwrap()).await;
    }
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-type"], "application/pdf");
    answer.bytes().await.unwrap().to_vec()
}

/// What a person reads in a PDF.
fn text_of(pdf: &[u8]) -> String {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("invoice.pdf");
    std::fs::write(&file, pdf).unwrap();
    let output =
        Command::new("pdftotext").arg("-layout").arg(&file).arg("-").output().expect("pdftotext, of poppler-utils");
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}
