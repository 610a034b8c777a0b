//! Finding parcels: by number, reference, recipient and status, page by page, within the owner.

use local_stack::{DRIVER_KEY, MERCHANT_KEY, OPERATOR_KEY, OTHER_MERCHANT_KEY};
use reqwest::{Method, Url};
use serde_json::{Value, json};
use stack_tests::{PATIENCE, Stack, own_address};
use uuid::Uuid;

/// A word that no other test's parcels begin with.
fn own_word() -> String {
    Uuid::new_v4().simple().to_string()
}

async fn create(stack: &Stack, key: &str, recipient: &str, reference: Option<&str>) -> Value {
    let body = json!({"recipient": recipient, "email": own_address("search"), "reference": reference});
    let answer = stack.request(Method::POST, "/api/parcels", Some(key)).json(&body).send().await.unwrap();
    assert_eq!(answer.status(), 201);
    answer.json().await.unwrap()
}

async fn page(stack: &Stack, key: &str, parameters: &[(&str, &str)]) -> Value {
    let path = Url::parse_with_params("http://any/api/parcels", parameters).unwrap();
    let path = format!("{}?{}", path.path(), path.query().unwrap());
    let answer = stack.request(Method::GET, &path, Some(key)).send().await.unwrap();
    assert_eq!(answer.status(), 200, "{path}");
    answer.json().await.unwrap()
}

/// The ids of all pages.
async fn found(stack: &Stack, key: &str, parameters: &[(&str, &str)]) -> Vec<String> {
    let (mut ids, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut parameters = parameters.to_vec();
        parameters.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let page = page(stack, key, &parameters).await;
        ids.extend(page["parcels"].as_array().unwrap().iter().map(|parcel| id(parcel).to_owned()));
        match page["nextCursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => return ids,
        }
    }
}

fn id(parcel: &Value) -> &str {
    parcel["id"].as_str().unwrap()
}

fn ids(parcels: &[&Value]) -> Vec<String> {
    parcels.iter().map(|parcel| id(parcel).to_owned()).collect()
}

#[tokio::test]
async fn a_parcel_is_found_by_the_beginning_of_its_recipient_or_reference_in_any_case() {
    let stack = Stack::running().await;
    let word = own_word();
    let named = create(&stack, OTHER_MERCHANT_KEY, &format!("{word} Tan Wei Ming"), None).await;
    let referenced = create(&stack, OTHER_MERCHANT_KEY, "Lim", Some(&format!("{word}-PO-7"))).await;
    create(&stack, OTHER_MERCHANT_KEY, &format!("Mr {word}"), Some(&format!("x{word}"))).await;
    for q in [word.clone(), word.to_uppercase(), format!(" {} ", &word[..20])] {
        // References first.
        assert_eq!(found(&stack, OTHER_MERCHANT_KEY, &[("q", &q)]).await, ids(&[&referenced, &named]), "{q}");
    }
    assert_eq!(found(&stack, OTHER_MERCHANT_KEY, &[("q", &format!("{word} TAN"))]).await, ids(&[&named]));
    assert_eq!(found(&stack, OTHER_MERCHANT_KEY, &[("q", &format!("{word}-po-7"))]).await, ids(&[&referenced]));
    assert_eq!(found(&stack, OTHER_MERCHANT_KEY, &[("q", &format!("{word}-po-78"))]).await, Vec::<String>::new());
    // In another script, and typed on a full-width keyboard.
    let chinese = create(&stack, OTHER_MERCHANT_KEY, &format!("陈伟明 {word}"), None).await;
    assert_eq!(found(&stack, OTHER_MERCHANT_KEY, &[("q", &format!("陈伟明\u{3000}{word}"))]).await, ids(&[&chinese]));
}

#[tokio::test]
async fn pages_of_a_search_follow_one_another_without_gaps_or_repeats() {
    let stack = Stack::running().await;
    let word = own_word();
    let mut expected = Vec::new();
    // Of one reference the newest first; found by both, shown once.
    for number in 0..3 {
        let both = create(&stack, OTHER_MERCHANT_KEY, &format!("{word} {number}"), Some(&word)).await;
        expected.insert(0, id(&both).to_owned());
    }
    for name in ["a", "b", "c", "d"] {
        expected.push(id(&create(&stack, OTHER_MERCHANT_KEY, &format!("{word} {name}"), None).await).to_owned());
    }
    for limit in ["1", "2", "3", "4", "7", "100"] {
        assert_eq!(found(&stack, OTHER_MERCHANT_KEY, &[("q", &word), ("limit", limit)]).await, expected, "{limit}");
    }
    let first = page(&stack, OTHER_MERCHANT_KEY, &[("q", &word), ("limit", "3")]).await;
    let cursor = first["nextCursor"].as_str().unwrap();
    for elsewhere in [vec![], vec![("q", "other")], vec![("q", word.as_str()), ("status", "Created")]] {
        let mut parameters = elsewhere;
        parameters.push(("cursor", cursor));
        let path = Url::parse_with_params("http://any/api/parcels", &parameters).unwrap();
        let path = format!("{}?{}", path.path(), path.query().unwrap());
        let answer = stack.request(Method::GET, &path, Some(OTHER_MERCHANT_KEY)).send().await.unwrap();
        assert_eq!(answer.status(), 400, "a cursor of another list: {path}");
    }
}

#[tokio::test]
async fn a_tracking_number_finds_its_one_parcel_and_operators_search_all_owners() {
    let stack = Stack::running().await;
    let parcel = create(&stack, OTHER_MERCHANT_KEY, "Tan", None).await;
    let number = parcel["trackingNumber"].as_str().unwrap();
    for q in [number.to_owned(), format!(" {} ", number.to_lowercase())] {
        assert_eq!(found(&stack, OTHER_MERCHANT_KEY, &[("q", &q)]).await, ids(&[&parcel]));
        assert_eq!(found(&stack, OPERATOR_KEY, &[("q", &q)]).await, ids(&[&parcel]));
        assert_eq!(found(&stack, MERCHANT_KEY, &[("q", &q)]).await, Vec::<String>::new(), "another's");
        assert_eq!(found(&stack, OPERATOR_KEY, &[("q", &q), ("owner", "lion-city")]).await, Vec::<String>::new());
        assert_eq!(found(&stack, OPERATOR_KEY, &[("q", &q), ("owner", "orchard-books")]).await, ids(&[&parcel]));
        assert_eq!(found(&stack, OPERATOR_KEY, &[("q", &q), ("status", "Delivered")]).await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_search_by_name_stays_within_the_owner() {
    let stack = Stack::running().await;
    let word = own_word();
    let parcel = create(&stack, OTHER_MERCHANT_KEY, &word, None).await;
    assert_eq!(found(&stack, MERCHANT_KEY, &[("q", &word)]).await, Vec::<String>::new());
    assert_eq!(found(&stack, OPERATOR_KEY, &[("q", &word)]).await, Vec::<String>::new());
    assert_eq!(found(&stack, OPERATOR_KEY, &[("q", &word), ("owner", "orchard-books")]).await, ids(&[&parcel]));
}

#[tokio::test]
async fn a_list_of_one_status_follows_the_parcels_and_a_search_can_be_of_one_status() {
    let stack = Stack::running().await;
    let word = own_word();
    let (still, moved) = (
        create(&stack, OTHER_MERCHANT_KEY, &format!("{word} still"), None).await,
        create(&stack, OTHER_MERCHANT_KEY, &format!("{word} moved"), Some(&word)).await,
    );
    let report = async |status: &str| {
        let path = format!("/api/parcels/{}/events", id(&moved));
        let request = stack.request(Method::POST, &path, Some(DRIVER_KEY)).json(&json!({"status": status}));
        assert_eq!(request.send().await.unwrap().status(), 201);
    };
    for status in ["InTransit", "Returned"] {
        report(status).await;
        assert_eq!(found(&stack, OTHER_MERCHANT_KEY, &[("q", &word), ("status", status)]).await, ids(&[&moved]));
        assert_eq!(found(&stack, OTHER_MERCHANT_KEY, &[("q", &word), ("status", "Created")]).await, ids(&[&still]));
    }
    // Other tests make parcels meanwhile, so only these two are looked for.
    let listed = async |status: &str| {
        let all = found(&stack, OTHER_MERCHANT_KEY, &[("status", status), ("limit", "100")]).await;
        [&still, &moved].map(|parcel| all.contains(&id(parcel).to_owned()))
    };
    assert_eq!(listed("Created").await, [true, false]);
    assert_eq!(listed("InTransit").await, [false, false]);
    assert_eq!(listed("Returned").await, [false, true]);
    let page = page(&stack, OTHER_MERCHANT_KEY, &[("status", "Created"), ("limit", "100")]).await;
    let times: Vec<_> =
        page["parcels"].as_array().unwrap().iter().map(|parcel| parcel["createdAt"].as_str().unwrap()).collect();
    assert!(times.is_sorted_by(|one, next| one >= next), "newest first");
}

#[tokio::test]
async fn a_search_of_one_status_may_have_short_pages_but_comes_to_its_end() {
    let stack = Stack::running().await;
    let word = own_word();
    let mut all = Vec::new();
    for number in 0..5 {
        all.push(create(&stack, OTHER_MERCHANT_KEY, &format!("{word} {number}"), None).await);
    }
    let path = format!("/api/parcels/{}/cancel", id(&all[2]));
    assert_eq!(stack.request(Method::POST, &path, Some(OTHER_MERCHANT_KEY)).send().await.unwrap().status(), 200);
    for limit in ["1", "2", "4", "100"] {
        let of = async |status| {
            found(&stack, OTHER_MERCHANT_KEY, &[("q", &word), ("status", status), ("limit", limit)]).await
        };
        assert_eq!(of("Created").await, ids(&[&all[0], &all[1], &all[3], &all[4]]), "{limit}");
        assert_eq!(of("Cancelled").await, ids(&[&all[2]]), "{limit}");
        assert_eq!(of("Delivered").await, Vec::<String>::new(), "{limit}");
    }
}

#[tokio::test]
async fn what_cannot_be_searched_for_is_named() {
    let stack = Stack::running().await;
    for (query, field) in [
        ("q=a%0Ab".to_owned(), "q"),
        (format!("q={}", "a".repeat(101)), "q"),
        ("status=created".to_owned(), "status"),
        ("status=".to_owned(), "status"),
        ("q=LCL48291057&cursor=abc".to_owned(), "cursor"),
    ] {
        let answer = stack.get(&format!("/api/parcels?{query}")).send().await.unwrap();
        assert_eq!(answer.status(), 400, "{query}");
        assert_eq!(answer.json::<Value>().await.unwrap()["errors"][0]["field"], field, "{query}");
    }
}

#[tokio::test]
async fn what_the_simulator_moves_is_found_where_it_is() {
    let stack = Stack::running().await;
    let word = own_word();
    let parcel = create(&stack, MERCHANT_KEY, &word, None).await;
    let delivered = async {
        while found(&stack, MERCHANT_KEY, &[("q", &word), ("status", "Delivered")]).await != ids(&[&parcel]) {
            tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        }
    };
    tokio::time::timeout(PATIENCE * 2, delivered).await.expect("never found as delivered");
}
