//! Who is calling. Until callers have keys, everybody is the house.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use http::request::Parts;
use parceltrack::domain::OwnerId;

/// The caller's identity: what is theirs, they may see and touch.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// Whose objects they are.
    pub(crate) owner: OwnerId,
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(_: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self { owner: OwnerId::house() })
    }
}
