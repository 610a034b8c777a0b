//! A forged cursor reaches nothing that is another's: with what a cursor is made of known to everybody, every list answers
//! the same whatever another merchant has.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use local_stack::{MERCHANT_KEY, OPERATOR_KEY, OTHER_MERCHANT_KEY};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use stack_tests::{Stack, own_address};
use uuid::Uuid;

/// A cursor of the list that is digested of these parts, at any place.
fn forged(list: &[&str], time: i64, rest: &str) -> String {
    let list = list.iter().fold(Sha256::new(), |digest, part| digest.chain_update(part).chain_update(b"\0"));
    let place = [&time.to_be_bytes()[..], rest.as_bytes()].concat();
    let mark = list.chain_update(&place).finalize();
    URL_SAFE_NO_PAD.encode([&mark[..8], &place].concat())
}

async fn create(stack: &Stack, key: &str, recipient: &str, reference: &str) -> Value {
    let body = json!({"recipient": recipient, "email": own_address("cursor"), "reference": reference});
    let answer = stack.request(Method::POST, "/api/parcels", Some(key)).json(&body).send().await.unwrap();
    assert_eq!(answer.status(), 201);
    answer.json().await.unwrap()
}

/// Status and body, without the request's id.
async fn answer(stack: &Stack, key: &str, path: &str) -> (u16, Value) {
    let answer = stack.request(Method::GET, path, Some(key)).send().await.unwrap();
    let status = answer.status().as_u16();
    let mut body: Value = answer.json().await.unwrap();
    body.as_object_mut().unwrap().remove("requestId");
    (status, body)
}

const NOW: i64 = 1_790_000_000_000;

#[tokio::test]
async fn a_forged_cursor_of_a_search_tells_nothing_about_anothers_parcel() {
    let stack = Stack::running().await;
    let word = Uuid::new_v4().simple().to_string();
    let theirs = create(&stack, OTHER_MERCHANT_KEY, &format!("{word} m"), &format!("{word} m")).await;
    // Those of the forger stand on both sides of it in the order of the index.
    for letter in ["a", "z"] {
        create(&stack, MERCHANT_KEY, &format!("{word} {letter}"), &format!("{word} {letter}")).await;
    }
    let (theirs, nobodys) = (theirs["id"].as_str().unwrap().to_owned(), Uuid::new_v4().to_string());
    for (kind, query) in [
        ("reference", format!("q={word}")),
        ("recipient", format!("q={word}")),
        ("all", "limit=1".to_owned()),
        ("status", "status=Created&limit=1".to_owned()),
    ] {
        let of = match kind {
            "all" => "",
            "status" => "Created",
            _ => &word,
        };
        let list = ["parcels", "lion-city", kind, of, ""];
        let texts = if query.starts_with("q=") {
            ["", " m", " n"].map(|end| format!("{word}{end}"))
        } else {
            Default::default()
        };
        for text in texts {
            let ask = async |id: &str| {
                let cursor = forged(&list, 1_000, &format!("{id}{text}"));
                answer(&stack, MERCHANT_KEY, &format!("/api/parcels?{query}&cursor={cursor}")).await
            };
            let (of_theirs, of_nobodys) = (ask(&theirs).await, ask(&nobodys).await);
            assert_eq!(of_theirs, of_nobodys, "{kind} {text}");
            assert_eq!(of_theirs.0, 200, "{kind}: {}", of_theirs.1);
            assert!(!of_theirs.1.to_string().contains(&theirs), "{kind}");
        }
    }
    // A list of the other's is theirs: its cursor is one of another list.
    let cursor = forged(&["parcels", "orchard-books", "reference", &word, ""], NOW, &format!("{theirs}{word} m"));
    assert_eq!(answer(&stack, MERCHANT_KEY, &format!("/api/parcels?q={word}&cursor={cursor}")).await.0, 400);
}

#[tokio::test]
async fn a_cursor_at_no_place_of_its_list_is_refused_by_every_list() {
    let stack = Stack::running().await;
    let webhook = json!({"url": "https://example.com/", "eventTypes": ["ParcelCreated"],
        "contactEmail": own_address("cursor")});
    let registered = stack.post("/api/webhooks").json(&webhook).send().await.unwrap();
    assert_eq!(registered.status(), 201);
    let webhook = registered.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned();
    let (id, deliveries) = (Uuid::new_v4().to_string(), format!("/api/webhooks/{webhook}/deliveries?"));
    let delivery = format!("parcel-{id}-1");
    let lists: [(&[&str], &str, &str, &str); 5] = [
        (&["parcels", "lion-city", "all", "", ""], MERCHANT_KEY, "/api/parcels?", &id),
        (&["parcels", "lion-city", "status", "Created", ""], MERCHANT_KEY, "/api/parcels?status=Created", &id),
        (&["parcels", "lion-city", "recipient", "x", ""], MERCHANT_KEY, "/api/parcels?q=x", &format!("{id}x")),
        (&["failed invoices"], OPERATOR_KEY, "/api/invoices?status=Failed", &id),
        (&["deliveries", &webhook, ""], MERCHANT_KEY, &deliveries, &delivery),
    ];
    for (list, key, path, rest) in lists {
        let ask = async |time: i64, rest: &str| {
            answer(&stack, key, &format!("{path}&cursor={}", forged(list, time, rest))).await
        };
        assert_eq!(ask(NOW, rest).await.0, 200, "{path}");
        for time in [i64::MIN, i64::MAX, -1, 253_402_300_800_000] {
            let (status, body) = ask(time, rest).await;
            assert_eq!((status, &body["errors"][0]["field"]), (400, &json!("cursor")), "{path} {time}");
        }
        for rest in ["", "x", &format!("{rest}\u{e000}{rest}"), &rest.replace('-', ""), "parcel-0-1"] {
            if list[..] == ["parcels", "lion-city", "recipient", "x", ""] && rest.starts_with(&format!("{id}x")) {
                continue;
            }
            let (status, body) = ask(NOW, rest).await;
            assert_eq!((status, &body["errors"][0]["field"]), (400, &json!("cursor")), "{path} {rest}");
        }
        let (status, _) = ask(NOW, &format!("{rest}{}", "\u{10ffff}".repeat(300))).await;
        assert_eq!(status, 400, "{path}");
    }
    stack.request(Method::DELETE, &format!("/api/webhooks/{webhook}"), Some(MERCHANT_KEY)).send().await.unwrap();
}
