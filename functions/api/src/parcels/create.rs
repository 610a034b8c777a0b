//! `POST /api/parcels`: one transaction, safe to repeat with an `Idempotency-Key`.

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, HeaderMap, LOCATION};
use http::{HeaderValue, StatusCode};
use parceltrack::domain::{
    EmailAddress, OwnerId, Parcel, ParcelId, ParcelStatus, PostalCode, RequestId, Text, Timestamp, TrackingEvent,
    TrackingEventId, TrackingNumber, Weight,
};
use parceltrack::ports::ParcelCreation;
use parceltrack::telemetry::{self, Metric};
use serde_json::Value;
use uuid::Uuid;

use super::idempotency::{IDEMPOTENT_REPLAYED, KeyUse};
use super::out::ParcelOut;
use crate::App;
use crate::caller::{Allowed, ManageParcels};
use crate::fields::{Fields, Problems};
use crate::json::Json;
use crate::openapi::bodies::NewParcel as NewParcelBody;
use crate::openapi::parameters::IdempotencyKey;
use crate::problem::Problem;

/// How often a tracking number is drawn before the answer is 503. From the second time on there are a thousand
/// million numbers to draw from.
const DRAWS: u32 = 5;

/// What the caller says of a new parcel.
struct NewParcel {
    recipient: Text<200>,
    email: EmailAddress,
    address: Option<Text<300>>,
    postal_code: Option<PostalCode>,
    phone: Option<Text<30>>,
    reference: Option<Text<100>>,
    weight: Option<Weight>,
}

impl NewParcel {
    fn parse(body: Value) -> Result<Self, Problem> {
        let mut problems = Problems::default();
        let parcel = Fields::of(body, "", &mut problems).and_then(|mut fields| {
            let recipient = fields.required("recipient", &mut problems, Text::try_from);
            let email = fields.required("email", &mut problems, EmailAddress::try_from);
            let address = fields.optional("address", &mut problems, Text::try_from);
            let postal_code = fields.optional("postalCode", &mut problems, PostalCode::try_from);
            let phone = fields.optional("phone", &mut problems, Text::try_from);
            let reference = fields.optional("reference", &mut problems, Text::try_from);
            let weight = fields.number("weightGrams", &mut problems, Weight::try_from);
            fields.finish(&mut problems);
            Some(Self {
                recipient: recipient?,
                email: email?,
                address: address?,
                postal_code: postal_code?,
                phone: phone?,
                reference: reference?,
                weight: weight?,
            })
        });
        problems.into_result(parcel)
    }

    fn into_parcel(
        self,
        owner: OwnerId,
        tracking_number: TrackingNumber,
        request: &RequestId,
        now: Timestamp,
    ) -> Parcel {
        let created = TrackingEvent::now(TrackingEventId(Uuid::new_v4()), ParcelStatus::Created, now).by(request);
        Parcel {
            id: ParcelId(Uuid::new_v4()),
            owner,
            tracking_number,
            recipient: self.recipient,
            email: self.email,
            address: self.address,
            postal_code: self.postal_code,
            phone: self.phone,
            reference: self.reference,
            weight: self.weight,
            status: ParcelStatus::Created,
            created_at: now,
            updated_at: now,
            events: vec![created],
            proof_expected_since: None,
        }
    }
}

/// Create a parcel
#[utoipa::path(
    post, path = "/api/parcels", operation_id = "createParcel", tag = "Parcels",
    params(IdempotencyKey), request_body = NewParcelBody,
    responses(
        (status = 201, description = "The parcel", body = ParcelOut, headers(
            ("Location" = String, description = "Where the parcel is"),
            ("Idempotent-Replayed" = String, description = "`true` if this is the first answer again"),
        ), links(
            ("parcel" = (operation_id = "getParcel", parameters(("id" = "$response.body#/id")))),
            ("tracking" = (
                operation_id = "trackParcel",
                parameters(("trackingNumber" = "$response.body#/trackingNumber"))
            )),
            ("event" = (operation_id = "reportEvent", parameters(("id" = "$response.body#/trackingNumber")))),
            ("cancellation" = (operation_id = "cancelParcel", parameters(("id" = "$response.body#/id")))),
            ("invoice" = (operation_id = "requestInvoice", parameters(("id" = "$response.body#/id")))),
            ("upload" = (operation_id = "uploadProof", parameters(("id" = "$response.body#/id")))),
            ("proof" = (operation_id = "getProof", parameters(("id" = "$response.body#/id")))),
        )),
        (status = 422, description = "`invalid-fields`: fields of the body are wrong, the first fifty named; \
                                      `idempotency-key-reused`: the key came with other content before"),
    )
)]
pub(crate) async fn create(
    State(app): State<App>,
    Allowed { caller, .. }: Allowed<ManageParcels>,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
    Json(body): Json,
) -> Result<Response, Problem> {
    let key = KeyUse::of(&headers, &caller.owner, "POST /api/parcels", &body)?;
    let new = NewParcel::parse(body)?;

    let now = app.clock.now();
    let mut parcel = new.into_parcel(caller.owner, app.tracking_numbers.draw(0), &request_id, now);
    for attempt in 1..=DRAWS {
        let answer =
            serde_json::to_string(&ParcelOut::new(parcel.clone(), None, None)).map_err(|_| Problem::Internal)?;
        let claim = key.as_ref().map(|key| key.claim(&answer, now));
        match app.create_parcels.create(&parcel, claim.as_ref(), now).await? {
            ParcelCreation::Created => {
                tracing::info!(event = "parcel_created", parcel = %parcel.id);
                telemetry::record(Metric::ParcelsCreated, now);
                return created(answer);
            }
            ParcelCreation::Replayed { answer } => {
                tracing::info!(event = "parcel_creation_replayed");
                let mut response = created(answer)?;
                response.headers_mut().insert(IDEMPOTENT_REPLAYED, HeaderValue::from_static("true"));
                return Ok(response);
            }
            ParcelCreation::KeyUsedForOtherContent => return Err(Problem::KeyUsedForOtherContent),
            ParcelCreation::TrackingNumberTaken => parcel.tracking_number = app.tracking_numbers.draw(attempt),
        }
    }
    tracing::error!("no free tracking number in {DRAWS} draws");
    Err(Problem::Unavailable)
}

fn created(answer: String) -> Result<Response, Problem> {
    let parcel: Value = serde_json::from_str(&answer).map_err(|_| Problem::Internal)?;
    let location = format!("/api/parcels/{}", parcel["id"].as_str().unwrap_or_default());
    Ok((StatusCode::CREATED, [(LOCATION, location.as_str()), (CONTENT_TYPE, "application/json")], answer)
        .into_response())
}
