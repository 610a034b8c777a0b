//! Input that is refused, and how: through the deployed API, as callers send it.

use reqwest::{Method, Response};
use serde_json::{Value, json};
use stack_tests::{Stack, own_address};
use uuid::Uuid;

async fn problem(answer: Response) -> (u16, Value) {
    let status = answer.status().as_u16();
    assert_eq!(answer.headers()["content-type"], "application/problem+json", "for {status}");
    assert_eq!(answer.headers()["x-content-type-options"], "nosniff");
    let request_id = answer.headers()["x-request-id"].to_str().unwrap().to_owned();
    let problem: Value = answer.json().await.unwrap();
    assert_eq!(problem["status"], status);
    assert_eq!(problem["requestId"], request_id);
    assert!(problem["type"].as_str().unwrap().starts_with("/problems/"));
    (status, problem)
}

#[tokio::test]
async fn every_field_of_a_parcel_that_is_wrong_is_named() {
    let stack = Stack::running().await;
    let right = json!({"recipient": "Tan", "email": "tan@example.com"});
    let long = |count: usize| "a".repeat(count);
    let cases = [
        ("recipient", Value::Null),
        ("recipient", json!("")),
        ("recipient", json!("   ")),
        ("recipient", json!(7)),
        ("recipient", json!(["Tan"])),
        ("recipient", json!(long(201))),
        ("recipient", json!("Tan\r\nBcc: x@example.com")),
        ("recipient", json!("Tan\u{0}")),
        ("recipient", json!("\u{200b}")),
        ("recipient", json!("\u{202e}\u{202c}")),
        ("reference", json!("\u{feff}\u{3164}")),
        ("address", json!("\u{2800}")),
        ("email", Value::Null),
        ("email", json!("tan")),
        ("email", json!("tan@")),
        ("email", json!("tan@example")),
        ("email", json!("maya@@example.com")),
        ("email", json!("tan@example.com\nBcc: x@example.com")),
        ("email", json!(format!("{}@example.com", long(243)))),
        ("address", json!(long(301))),
        ("postalCode", json!("1895")),
        ("postalCode", json!(18956)),
        ("phone", json!(long(31))),
        ("reference", json!("a\tb")),
        ("colour", json!("red")),
    ];
    for (field, value) in cases {
        let mut body = right.clone();
        body[field] = value.clone();
        let (status, problem) = problem(stack.post("/api/parcels").json(&body).send().await.unwrap()).await;
        assert_eq!((status, &problem["errors"][0]["field"]), (422, &json!(field)), "{field}: {value}");
        assert_eq!(problem["errors"].as_array().unwrap().len(), 1);
    }
    let both = problem(stack.post("/api/parcels").json(&json!({})).send().await.unwrap()).await.1;
    assert_eq!(both["errors"].as_array().unwrap().len(), 2, "all at once");
}

#[tokio::test]
async fn every_field_of_an_invoice_that_is_wrong_is_named() {
    let stack = Stack::running().await;
    let parcel = stack.create_parcel("Tan", &own_address("bad-invoice")).await;
    let path = format!("/api/parcels/{}/invoice", parcel["id"].as_str().unwrap());
    let line = |price: &str| json!({"lines": [{"description": "Box", "unitPrice": price}]});
    let cases = [
        (json!({"amount": "1.234"}), "amount"),
        (json!({"amount": "-1.00"}), "amount"),
        (json!({"amount": "1000000.01"}), "amount"),
        (json!({"amount": 12.5}), "amount"),
        (json!({"amount": "1e2"}), "amount"),
        (json!({"total": "1"}), "total"),
        (line("1.999"), "lines[0].unitPrice"),
        (json!({"lines": vec![json!({"description": "Box", "unitPrice": "1"}); 501]}), "lines"),
        (json!([]), "body"),
    ];
    for (body, field) in cases {
        let (status, problem) = problem(stack.post(&path).json(&body).send().await.unwrap()).await;
        assert_eq!((status, &problem["errors"][0]["field"]), (422, &json!(field)));
    }
    let read: Value = stack
        .get(&format!("/api/parcels/{}", parcel["id"].as_str().unwrap()))
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    assert_eq!(read["invoice"], Value::Null, "nothing was made");
}

#[tokio::test]
async fn a_body_that_is_no_json_is_refused() {
    let stack = Stack::running().await;
    let broken: [&[u8]; 7] = [
        b"",
        b"{",
        b"{\"recipient\":\"Tan\",}",
        b"{\"recipient\":\"a\",\"recipient\":\"b\"}",
        b"{\"recipient\":\"\xff\xfe\"}",
        b"{} {}",
        b"{\"recipient\":\"\\ud800\"}",
    ];
    for body in broken {
        // As octets, so that the emulator hands them over unchanged, as AWS does.
        for content_type in ["", "application/json"] {
            let request = stack.post("/api/parcels").header("content-type", content_type).body(body.to_vec());
            let (status, _) = problem(request.send().await.unwrap()).await;
            let emulator_mends_utf8 = content_type == "application/json" && std::str::from_utf8(body).is_err();
            assert!(status == 400 || (emulator_mends_utf8 && status == 422), "{status} for {body:?}");
        }
    }
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(problem(stack.post("/api/parcels").body(deep).send().await.unwrap()).await.0, 400);
    let form =
        stack.post("/api/parcels").header("content-type", "application/x-www-form-urlencoded").body("recipient=Tan");
    assert_eq!(problem(form.send().await.unwrap()).await.0, 415);
    let large = json!({"recipient": "a".repeat(256 * 1024), "email": "tan@example.com"});
    assert_eq!(problem(stack.post("/api/parcels").json(&large).send().await.unwrap()).await.0, 413);
}

#[tokio::test]
async fn parameters_that_are_wrong_are_named() {
    let stack = Stack::running().await;
    for (path, field) in [
        ("/api/parcels?limit=0", "limit"),
        ("/api/parcels?limit=101", "limit"),
        ("/api/parcels?limit=ten", "limit"),
        ("/api/parcels?cursor=abc", "cursor"),
        ("/api/parcels?cursor=", "cursor"),
        ("/api/parcels/abc", "id"),
        ("/api/parcels/11111111111141118111111111111111", "id"),
        ("/api/invoices/abc", "id"),
        ("/api/invoices/%7B11111111-1111-4111-8111-111111111111%7D", "id"),
    ] {
        let (status, problem) = problem(stack.get(path).send().await.unwrap()).await;
        assert_eq!((status, &problem["errors"][0]["field"]), (400, &json!(field)), "{path}");
    }
    for key in [String::new(), "k".repeat(256)] {
        let request = stack
            .post("/api/parcels")
            .header("idempotency-key", key)
            .json(&json!({"recipient": "Tan", "email": "tan@example.com"}));
        let (status, problem) = problem(request.send().await.unwrap()).await;
        assert_eq!((status, &problem["errors"][0]["field"]), (400, &json!("Idempotency-Key")));
    }
}

#[tokio::test]
async fn unknown_paths_and_methods_are_problems_too() {
    let stack = Stack::running().await;
    assert_eq!(problem(stack.get("/nothing").send().await.unwrap()).await.0, 404);
    let url = format!("{}/api/parcels", stack.addresses.api_url);
    let answer = reqwest::Client::new().request(Method::DELETE, &url).send().await.unwrap();
    let allow = answer.headers()["allow"].to_str().unwrap().to_owned();
    assert_eq!(problem(answer).await.0, 405);
    assert!(allow.contains("GET") && allow.contains("POST"), "{allow}");
    let unknown = stack.post(&format!("/api/parcels/{}/invoice", Uuid::new_v4())).send().await.unwrap();
    assert_eq!(problem(unknown).await.0, 404);
}

#[tokio::test]
async fn only_the_page_may_call_from_a_browser() {
    let stack = Stack::running().await;
    let page = stack.addresses.page_url.trim_end_matches('/').to_owned();
    let url = format!("{}/api/parcels", stack.addresses.api_url);
    let http = reqwest::Client::new();
    let preflight = async |origin: &str| {
        let request = http
            .request(Method::OPTIONS, &url)
            .header("origin", origin)
            .header("access-control-request-method", "POST");
        request.header("access-control-request-headers", "content-type,idempotency-key").send().await.unwrap()
    };
    let allowed = preflight(&page).await;
    assert_eq!(allowed.status(), 200);
    assert_eq!(allowed.headers()["access-control-allow-origin"], *page);
    assert!(allowed.headers()["access-control-allow-headers"].to_str().unwrap().contains("idempotency-key"));
    assert!(!preflight("https://evil.example").await.headers().contains_key("access-control-allow-origin"));
    let refused = stack.get("/api/parcels?limit=0").header("origin", &page).send().await.unwrap();
    assert_eq!(refused.headers()["access-control-allow-origin"], *page, "on errors too, or the page cannot read them");
}
