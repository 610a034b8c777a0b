//! The photograph of a delivery: uploaded and opened through signed links, past the API.

use local_stack::{DRIVER_KEY, OTHER_MERCHANT_KEY};
use parceltrack::domain::ParcelId;
use parceltrack::ports::KeepProofs as _;
use reqwest::{Client, Method, Response};
use serde_json::{Value, json};
use stack_tests::{Stack, own_address};

async fn still_parcel(stack: &Stack) -> Value {
    let body = json!({"recipient": "Tan Wei Ming", "email": own_address("proof")});
    let answer = stack.request(Method::POST, "/api/parcels", Some(OTHER_MERCHANT_KEY)).json(&body).send();
    answer.await.unwrap().json().await.unwrap()
}

async fn ask(stack: &Stack, parcel: &Value, content_type: &str, size: usize) -> Value {
    let path = format!("/api/parcels/{}/proof-of-delivery", parcel["trackingNumber"].as_str().unwrap());
    let body = json!({"contentType": content_type, "size": size});
    let answer = stack.request(Method::POST, &path, Some(DRIVER_KEY)).json(&body).send().await.unwrap();
    assert_eq!(answer.status(), 201);
    answer.json().await.unwrap()
}

/// Uploads as a browser does: it sets the length itself.
async fn put(upload: &Value, content_type: &str, photo: &[u8]) -> Response {
    let request = Client::new().put(upload["upload"]["url"].as_str().unwrap());
    request.header("content-type", content_type).body(photo.to_vec()).send().await.unwrap()
}

async fn get(stack: &Stack, parcel: &Value, what: &str, accept: &str) -> Response {
    let path = format!("/api/parcels/{}{what}", parcel["id"].as_str().unwrap());
    stack.request(Method::GET, &path, Some(OTHER_MERCHANT_KEY)).header("accept", accept).send().await.unwrap()
}

#[tokio::test]
async fn a_driver_uploads_a_photograph_and_the_merchant_opens_it() {
    let stack = Stack::running().await;
    let parcel = still_parcel(&stack).await;
    assert_eq!(get(&stack, &parcel, "/proof-of-delivery", "*/*").await.status(), 404);
    let photo = b"\xff\xd8\xff\xe0 a photograph".to_vec();
    let upload = ask(&stack, &parcel, "image/jpeg", photo.len()).await;
    assert_eq!(upload["upload"]["method"], "PUT");
    let headers = json!({"content-type": "image/jpeg", "content-length": photo.len().to_string()});
    assert_eq!(
        upload["upload"]["headers"], headers,
        "what is signed and nothing else, or the bucket's CORS refuses it"
    );
    assert!(upload["expiresAt"].as_str().unwrap() > parcel["createdAt"].as_str().unwrap());
    let url = upload["upload"]["url"].as_str().unwrap();
    assert!(url.contains("X-Amz-SignedHeaders=content-length%3Bcontent-type%3Bhost"), "{url}");

    // Asked for, not there.
    assert_eq!(get(&stack, &parcel, "/proof-of-delivery", "*/*").await.status(), 404);
    let shown: Value = get(&stack, &parcel, "", "*/*").await.json().await.unwrap();
    assert_eq!(shown.get("proofOfDelivery"), None);

    assert_eq!(put(&upload, "image/jpeg", &photo).await.status(), 200);
    let shown: Value = get(&stack, &parcel, "", "*/*").await.json().await.unwrap();
    assert_eq!(shown["proofOfDelivery"]["contentType"], "image/jpeg");
    let (at, created) = (&shown["proofOfDelivery"]["at"], &parcel["createdAt"]);
    // The store's times are whole seconds.
    assert!(at.as_str().unwrap()[..19] >= created.as_str().unwrap()[..19], "{at} {created}");

    let redirect = get(&stack, &parcel, "/proof-of-delivery", "*/*").await;
    assert_eq!(redirect.status(), 302);
    let link: Value = get(&stack, &parcel, "/proof-of-delivery", "application/json").await.json().await.unwrap();
    for url in [redirect.headers()["location"].to_str().unwrap(), link["url"].as_str().unwrap()] {
        let opened = stack.open(url).await;
        assert_eq!(opened.status(), 200);
        assert_eq!(opened.headers()["content-type"], "image/jpeg");
        assert_eq!(opened.bytes().await.unwrap(), photo);
    }
}

#[tokio::test]
async fn the_store_refuses_another_type_or_size_or_parcel_than_was_signed() {
    let stack = Stack::running().await;
    let (parcel, other) = (still_parcel(&stack).await, still_parcel(&stack).await);
    let photo = b"exactly these bytes";
    let upload = ask(&stack, &parcel, "image/png", photo.len()).await;
    for (content_type, body) in [
        ("image/jpeg", &photo[..]),
        ("text/html", &photo[..]),
        ("image/png", &photo[1..]),
        ("image/png", b"exactly these bytes and more"),
        ("image/png", b""),
    ] {
        let answer = put(&upload, content_type, body).await;
        assert_eq!(answer.status(), 403, "{content_type}, {} bytes", body.len());
    }
    let [mine, theirs] = [&parcel, &other].map(|parcel| parcel["id"].as_str().unwrap());
    let mut elsewhere = upload.clone();
    elsewhere["upload"]["url"] = upload["upload"]["url"].as_str().unwrap().replace(mine, theirs).into();
    assert_eq!(put(&elsewhere, "image/png", photo).await.status(), 403);
    let unsigned = upload["upload"]["url"].as_str().unwrap();
    let reading = stack.open(unsigned).await;
    assert_eq!(reading.status(), 403, "the right to upload is no right to read");
    for id in [mine, theirs] {
        assert_eq!(stack.proofs().proof(ParcelId(id.parse().unwrap())).await.unwrap(), None, "nothing was stored");
    }
    assert_eq!(put(&upload, "image/png", photo).await.status(), 200, "what was signed is taken");
}

#[tokio::test]
async fn a_later_photograph_takes_the_place_of_an_earlier_one() {
    let stack = Stack::running().await;
    let parcel = still_parcel(&stack).await;
    for (content_type, photo) in [("image/jpeg", &b"blurred"[..]), ("image/webp", &b"sharp"[..])] {
        let upload = ask(&stack, &parcel, content_type, photo.len()).await;
        assert_eq!(put(&upload, content_type, photo).await.status(), 200);
        let shown: Value = get(&stack, &parcel, "", "*/*").await.json().await.unwrap();
        assert_eq!(shown["proofOfDelivery"]["contentType"], content_type);
        assert_eq!(shown["updatedAt"], parcel["updatedAt"], "a photograph is no step");
        let redirect = get(&stack, &parcel, "/proof-of-delivery", "*/*").await;
        let opened = stack.open(redirect.headers()["location"].to_str().unwrap()).await;
        assert_eq!(opened.bytes().await.unwrap(), photo);
    }
}

#[tokio::test]
async fn what_is_no_photograph_and_no_parcel_gets_no_link() {
    let stack = Stack::running().await;
    let parcel = still_parcel(&stack).await;
    let post = async |parcel: &str, body: Value| {
        let path = format!("/api/parcels/{parcel}/proof-of-delivery");
        stack.request(Method::POST, &path, Some(DRIVER_KEY)).json(&body).send().await.unwrap()
    };
    for (body, field) in [
        (json!({"contentType": "image/svg+xml", "size": 10}), "contentType"),
        (json!({"contentType": "image/jpeg", "size": 5_242_881}), "size"),
        (json!({"contentType": "image/jpeg"}), "size"),
    ] {
        let answer = post(parcel["id"].as_str().unwrap(), body).await;
        assert_eq!(answer.status(), 422);
        assert_eq!(answer.json::<Value>().await.unwrap()["errors"][0]["field"], field);
    }
    let nobody = uuid::Uuid::new_v4().to_string();
    assert_eq!(post(&nobody, json!({"contentType": "image/jpeg", "size": 10})).await.status(), 404);
    let id = ParcelId(nobody.parse().unwrap());
    assert!(parceltrack::ports::ReadParcels::parcel(&stack.parcels(), id).await.unwrap().is_none());
}
