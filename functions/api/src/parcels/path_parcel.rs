//! Parcels in paths: by id, or by tracking number, which is what people have at hand.

use axum::RequestPartsExt as _;
use axum::extract::{FromRequestParts, Path};
use http::request::Parts;
use parceltrack::domain::{InvalidTrackingNumber, ParcelId, TrackingNumber};

use crate::App;
use crate::path_id::hyphenated;
use crate::problem::Problem;

/// The parcel that the path names: one that has this tracking number, or an id that may be nobody's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathParcel(pub(crate) ParcelId);

impl FromRequestParts<App> for PathParcel {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Self::Rejection> {
        let invalid = |message: &str| Problem::invalid_parameter("id", message);
        let neither = || invalid("must be a UUID or a tracking number");
        let Path(text) = parts.extract::<Path<String>>().await.map_err(|_| neither())?;
        if let Some(id) = hyphenated(&text) {
            return Ok(Self(ParcelId(id)));
        }
        let number: TrackingNumber = text.parse().map_err(|error| match error {
            InvalidTrackingNumber::Malformed => neither(),
            InvalidTrackingNumber::WrongCheckDigit => invalid(&error.to_string()),
        })?;
        app.read_parcels.numbered(&number).await?.map(Self).ok_or(Problem::NotFound("parcel"))
    }
}
