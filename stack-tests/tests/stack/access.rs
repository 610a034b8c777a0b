//! Who may do what: every route, every role, one's own things and another's.

use std::time::Duration;

use local_stack::{DRIVER_KEY, MERCHANT_KEY, OPERATOR_KEY, OTHER_MERCHANT_KEY};
use parceltrack::clock::SystemClock;
use parceltrack::domain::{ApiKey, IssuedApiKey, OwnerId, Role, Text};
use parceltrack::ports::{Clock as _, ManageApiKeys as _, ReadApiKeys as _};
use reqwest::Method;
use serde_json::Value;
use stack_tests::{Stack, own_address};
use uuid::Uuid;

fn random_key() -> ApiKey {
    ApiKey::from_random(Uuid::new_v4(), [Uuid::new_v4(), Uuid::new_v4()])
}

/// Whose things a request is about.
const OWN: usize = 0;
const ANOTHERS: usize = 1;

#[tokio::test]
async fn every_route_answers_every_role_as_the_table_says() {
    let stack = Stack::running().await;
    // Things of Lion City, which merchant and driver belong to, and of another merchant.
    let (mut parcels, mut numbers) = (Vec::new(), Vec::new());
    let mut invoices = Vec::new();
    for key in [MERCHANT_KEY, OTHER_MERCHANT_KEY] {
        let body = format!(r#"{{"recipient":"Tan","email":"{}"}}"#, own_address("access"));
        let answer = stack.request(Method::POST, "/api/parcels", Some(key)).body(body).send().await.unwrap();
        assert_eq!(answer.status(), 201);
        let parcel: Value = answer.json().await.unwrap();
        numbers.push(parcel["trackingNumber"].as_str().unwrap().to_owned());
        let parcel = parcel["id"].as_str().unwrap().to_owned();
        let ask = stack.request(Method::POST, &format!("/api/parcels/{parcel}/invoice"), Some(key)).send();
        let invoice = ask.await.unwrap().json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned();
        stack.invoice_by(key, &invoice, "Sent").await;
        parcels.push(parcel);
        invoices.push(invoice);
    }
    let new_parcel = || format!(r#"{{"recipient":"Tan","email":"{}"}}"#, own_address("access"));

    // Columns: no key, driver, merchant, operator.
    let table = [
        (Method::GET, "/health", OWN, [200, 200, 200, 200]),
        (Method::GET, "/openapi.json", OWN, [200, 200, 200, 200]),
        (Method::GET, "/docs", OWN, [200, 200, 200, 200]),
        (Method::GET, "/i/no-such-link", OWN, [404, 404, 404, 404]),
        (Method::GET, "/no-such-path", OWN, [404, 404, 404, 404]),
        (Method::DELETE, "/api/parcels", OWN, [405, 405, 405, 405]),
        (Method::POST, "/api/parcels", OWN, [401, 403, 201, 201]),
        (Method::GET, "/api/parcels", OWN, [401, 403, 200, 200]),
        (Method::GET, "/api/parcels?owner=lion-city", OWN, [401, 403, 200, 200]),
        (Method::GET, "/api/parcels?owner=orchard-books", ANOTHERS, [401, 403, 404, 200]),
        (Method::GET, "/api/parcels/{parcel}", OWN, [401, 403, 200, 200]),
        (Method::GET, "/api/parcels/{parcel}", ANOTHERS, [401, 403, 404, 200]),
        (Method::GET, "/api/parcels?q=tan&status=Created", OWN, [401, 403, 200, 200]),
        (Method::GET, "/api/parcels/{number}", OWN, [401, 403, 200, 200]),
        (Method::GET, "/api/parcels/{number}", ANOTHERS, [401, 403, 404, 200]),
        (Method::GET, "/api/track/{number}", OWN, [200, 200, 200, 200]),
        (Method::GET, "/api/track/{number}", ANOTHERS, [200, 200, 200, 200]),
        (Method::POST, "/api/parcels/{parcel}/proof-of-delivery", OWN, [401, 201, 403, 201]),
        (Method::POST, "/api/parcels/{number}/proof-of-delivery", ANOTHERS, [401, 201, 403, 201]),
        // Nobody has uploaded one.
        (Method::GET, "/api/parcels/{parcel}/proof-of-delivery", OWN, [401, 403, 404, 404]),
        (Method::GET, "/api/parcels/{number}/proof-of-delivery", ANOTHERS, [401, 403, 404, 404]),
        // A step that is never allowed: 409 says that the caller might have taken another.
        (Method::POST, "/api/parcels/{parcel}/events", OWN, [401, 409, 403, 409]),
        (Method::POST, "/api/parcels/{number}/events", ANOTHERS, [401, 409, 403, 409]),
        (Method::POST, "/api/parcels/{number}/cancel", ANOTHERS, [401, 403, 404, 200]),
        (Method::POST, "/api/parcels/{parcel}/invoice", OWN, [401, 403, 202, 202]),
        (Method::POST, "/api/parcels/{parcel}/invoice", ANOTHERS, [401, 403, 404, 202]),
        (Method::GET, "/api/invoices?status=Failed", OWN, [401, 403, 403, 200]),
        (Method::GET, "/api/me", OWN, [401, 200, 200, 200]),
        (Method::GET, "/api/webhooks", OWN, [401, 403, 200, 200]),
        (Method::GET, "/api/webhooks?owner=orchard-books", ANOTHERS, [401, 403, 404, 200]),
        // What is not there is told only to who may know.
        (Method::POST, "/api/webhooks", OWN, [401, 403, 422, 422]),
        (Method::GET, "/api/webhooks/{parcel}", OWN, [401, 403, 404, 404]),
        (Method::DELETE, "/api/webhooks/{parcel}", OWN, [401, 403, 404, 404]),
        (Method::POST, "/api/webhooks/{parcel}/confirmation", OWN, [401, 403, 404, 404]),
        (Method::GET, "/c/no-such-link", OWN, [404, 404, 404, 404]),
        (Method::POST, "/c/no-such-link", OWN, [404, 404, 404, 404]),
        (Method::POST, "/api/webhooks/{parcel}/rotate-secret", OWN, [401, 403, 404, 404]),
        (Method::POST, "/api/webhooks/{parcel}/enable", OWN, [401, 403, 404, 404]),
        (Method::POST, "/api/webhooks/{parcel}/test", OWN, [401, 403, 404, 404]),
        (Method::POST, "/api/webhooks/{parcel}/resend", OWN, [401, 403, 422, 422]),
        (Method::GET, "/api/webhooks/{parcel}/deliveries", OWN, [401, 403, 404, 404]),
        (Method::GET, "/api/webhooks/{parcel}/deliveries/test-{parcel}-1", OWN, [401, 403, 404, 404]),
        (Method::POST, "/api/webhooks/{parcel}/deliveries/test-{parcel}-1/resend", OWN, [401, 403, 404, 404]),
        (Method::GET, "/api/queue", OWN, [401, 403, 403, 200]),
        (Method::GET, "/api/queue/history", OWN, [401, 403, 403, 200]),
        (Method::GET, "/api/invoices/{invoice}", OWN, [401, 403, 200, 200]),
        (Method::GET, "/api/invoices/{invoice}", ANOTHERS, [401, 403, 404, 200]),
        (Method::GET, "/api/invoices/{invoice}/pdf", OWN, [401, 403, 302, 302]),
        (Method::GET, "/api/invoices/{invoice}/pdf", ANOTHERS, [401, 403, 404, 302]),
        (Method::PUT, "/api/invoices/{invoice}/email", OWN, [401, 403, 200, 200]),
        (Method::PUT, "/api/invoices/{invoice}/email", ANOTHERS, [401, 403, 404, 200]),
    ];
    let elsewhere = own_address("elsewhere");
    for (method, route, whose, expected) in table {
        let path = route.replace("{parcel}", &parcels[whose]).replace("{number}", &numbers[whose]);
        let path = path.replace("{invoice}", &invoices[whose]);
        let keys = [None, Some(DRIVER_KEY), Some(MERCHANT_KEY), Some(OPERATOR_KEY)];
        for (key, expected) in keys.into_iter().zip(expected) {
            let mut request = stack.request(method.clone(), &path, key);
            if route == "/api/parcels" && method == Method::POST {
                request = request.body(new_parcel());
            } else if route.ends_with("/proof-of-delivery") && method == Method::POST {
                request = request.body(r#"{"contentType":"image/jpeg","size":1000}"#);
            } else if route.ends_with("/events") {
                request = request.body(r#"{"status":"Created"}"#);
            }
            if route.starts_with("/api/webhooks") && expected == 422 {
                request = request.body("{}");
            }
            if method == Method::PUT {
                request = request.body(format!(r#"{{"email":"{elsewhere}"}}"#));
            }
            let answer = request.send().await.unwrap();
            let role = key.map_or("nobody", |key| &key[3..19]);
            assert_eq!(answer.status(), expected, "{method} {route}, {role}, {whose}");
            if expected == 401 {
                assert_eq!(answer.headers()["www-authenticate"], "Bearer realm=\"ParcelTrack\"");
            }
        }
    }
}

/// Not in the table, since who asks second is answered according to how far the first mail has come.
#[tokio::test]
async fn another_mail_is_for_the_invoices_merchant_and_for_operators() {
    let stack = Stack::running().await;
    let parcel = stack.create_parcel("Tan", &own_address("access-resend")).await;
    let id = stack.request_invoice(&parcel).await;
    stack.invoice_once(&id, "Sent").await;
    for (key, expected) in
        [(None, 401), (Some(DRIVER_KEY), 403), (Some(OTHER_MERCHANT_KEY), 404), (Some(OPERATOR_KEY), 202)]
    {
        let answer = stack.request(Method::POST, &format!("/api/invoices/{id}/resend"), key).send().await.unwrap();
        assert_eq!(answer.status(), expected);
    }
}

#[tokio::test]
async fn a_merchants_list_and_idempotency_keys_are_their_own() {
    let stack = Stack::running().await;
    let key = Uuid::new_v4().to_string();
    let body = format!(r#"{{"recipient":"Tan","email":"{}"}}"#, own_address("owners"));
    let mut ids = Vec::new();
    for caller in [MERCHANT_KEY, OTHER_MERCHANT_KEY] {
        let request = stack.request(Method::POST, "/api/parcels", Some(caller)).header("idempotency-key", &key);
        let answer = request.body(body.clone()).send().await.unwrap();
        assert!(!answer.headers().contains_key("idempotent-replayed"));
        ids.push(answer.json::<Value>().await.unwrap()["id"].clone());
    }
    assert_ne!(ids[0], ids[1]);
    let list = stack.request(Method::GET, "/api/parcels?limit=100", Some(OTHER_MERCHANT_KEY)).send().await.unwrap();
    let list: Value = list.json().await.unwrap();
    let listed: Vec<_> = list["parcels"].as_array().unwrap().iter().map(|parcel| &parcel["id"]).collect();
    assert!(listed.contains(&&ids[1]) && !listed.contains(&&ids[0]));
}

#[tokio::test]
async fn unknown_wrong_revoked_and_expired_keys_get_the_same_answer() {
    let stack = Stack::running().await;
    let table = stack.api_keys();
    let issue = async |revoked: bool, expired: bool| {
        let key = random_key();
        let now = SystemClock.now();
        let label = Text::try_from("Test".to_owned()).unwrap();
        let expires = expired.then_some(now);
        let issued = IssuedApiKey::issue(&key, Role::Merchant, OwnerId::house(), label, now, expires);
        table.issue(&issued).await.unwrap();
        if revoked {
            table.revoke(&key.id, now).await.unwrap();
        }
        key.reveal()
    };
    let good = issue(false, false).await;
    let answer = stack.request(Method::GET, "/api/parcels?limit=1", Some(&good)).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let other_secret = random_key().reveal();
    let wrong = format!("{}{}", &good[..20], &other_secret[20..]);
    let mut answers = Vec::new();
    for key in [random_key().reveal(), wrong, issue(true, false).await, issue(false, true).await, "pt_x".to_owned()] {
        let answer = stack.request(Method::GET, "/api/parcels", Some(&key)).send().await.unwrap();
        assert_eq!(answer.status(), 401);
        let mut body: Value = answer.json().await.unwrap();
        body["requestId"].take();
        answers.push(body);
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
}

#[tokio::test]
async fn a_key_is_noted_as_used_and_refused_after_its_revocation() {
    let stack = Stack::running().await;
    let (table, key, now) = (stack.api_keys(), random_key(), SystemClock.now());
    let label = Text::try_from("Test".to_owned()).unwrap();
    table.issue(&IssuedApiKey::issue(&key, Role::Operator, OwnerId::house(), label, now, None)).await.unwrap();
    let ask = async || stack.request(Method::GET, "/api/parcels?limit=1", Some(&key.reveal())).send().await.unwrap();
    assert_eq!(ask().await.status(), 200);
    assert!(table.api_key(&key.id).await.unwrap().unwrap().last_used_at.is_some_and(|at| at >= now));
    table.revoke(&key.id, SystemClock.now()).await.unwrap();
    // Processes that know it already may take it for a minute more.
    let end = tokio::time::Instant::now() + stack_tests::PATIENCE;
    while ask().await.status() != 401 {
        assert!(tokio::time::Instant::now() < end, "still taken");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}
