//! Ids in paths.

use axum::RequestPartsExt as _;
use axum::extract::{FromRequestParts, Path};
use http::request::Parts;
use parceltrack::domain::{DeliveryId, InvalidDeliveryId, WebhookId};
use uuid::Uuid;

use crate::problem::Problem;

/// The id in the path, a UUID in its usual form with hyphens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathId(pub(crate) Uuid);

impl<S: Send + Sync> FromRequestParts<S> for PathId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let invalid = || Problem::invalid_parameter("id", "must be a UUID");
        let Path(text) = parts.extract::<Path<String>>().await.map_err(|_| invalid())?;
        hyphenated(&text).map(Self).ok_or_else(invalid)
    }
}

/// The ids of a webhook and of one of its deliveries in the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathDelivery(pub(crate) WebhookId, pub(crate) DeliveryId);

impl<S: Send + Sync> FromRequestParts<S> for PathDelivery {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let invalid_webhook = || Problem::invalid_parameter("id", "must be a UUID");
        let Path((webhook, delivery)) =
            parts.extract::<Path<(String, String)>>().await.map_err(|_| invalid_webhook())?;
        let webhook = hyphenated(&webhook).map(WebhookId).ok_or_else(invalid_webhook)?;
        let delivery = delivery
            .parse()
            .map_err(|error: InvalidDeliveryId| Problem::invalid_parameter("deliveryId", &error.to_string()))?;
        Ok(Self(webhook, delivery))
    }
}

/// A UUID in its usual form. Braces, URNs and missing hyphens, which the parser would take, would give one object many
/// addresses.
pub(crate) fn hyphenated(text: &str) -> Option<Uuid> {
    if text.len() == uuid::fmt::Hyphenated::LENGTH { Uuid::try_parse(text).ok() } else { None }
}
