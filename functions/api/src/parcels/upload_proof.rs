//! `POST /api/parcels/{id}/proof-of-delivery`: a signed place for one photograph, which goes there past us.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use parceltrack::domain::{PhotoSize, PhotoType, UPLOAD_LIFETIME};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::PathParcel;
use crate::App;
use crate::caller::{Allowed, ReportEvents};
use crate::fields::{Fields, Problems};
use crate::json::Json;
use crate::openapi::bodies::NewPhotograph;
use crate::openapi::parameters::ParcelInPath;
use crate::openapi::schemas;
use crate::problem::Problem;

#[derive(Serialize, ToSchema)]
#[schema(as = Upload)]
#[serde(rename_all = "camelCase")]
struct UploadOut {
    upload: RequestOut,
    #[schema(schema_with = schemas::time)]
    expires_at: String,
}

/// The request that uploads.
#[derive(Serialize, ToSchema)]
#[schema(as = UploadRequest)]
struct RequestOut {
    method: &'static str,
    url: String,
    #[schema(value_type = BTreeMap<String, String>)]
    headers: Map<String, Value>,
}

fn parse(body: Value) -> Result<(PhotoType, PhotoSize), Problem> {
    let mut problems = Problems::default();
    let photo = Fields::of(body, "", &mut problems).and_then(|mut fields| {
        let photo_type = fields.required("contentType", &mut problems, |name| name.parse::<PhotoType>());
        let size = fields.number("size", &mut problems, PhotoSize::try_from);
        if size == Some(None) {
            problems.add("size", "is required");
        }
        fields.finish(&mut problems);
        Some((photo_type?, size??))
    });
    problems.into_result(photo)
}

/// Ask for a place for a photograph
///
/// For drivers and operators. The link takes exactly this type and size. A later photograph takes the earlier one's place.
#[utoipa::path(
    post, path = "/api/parcels/{id}/proof-of-delivery", operation_id = "uploadProof", tag = "Parcels",
    params(ParcelInPath), request_body = NewPhotograph,
    responses(
        (status = 201, description = "The request that uploads the photograph, for ten minutes", body = UploadOut),
        (status = 404, description = "`not-found`: no such parcel"),
    )
)]
pub(crate) async fn upload_proof(
    State(app): State<App>,
    _: Allowed<ReportEvents>,
    PathParcel(id): PathParcel,
    Json(body): Json,
) -> Result<Response, Problem> {
    let (photo_type, size) = parse(body)?;
    app.read_parcels.parcel(id).await?.ok_or(Problem::NotFound("parcel"))?;
    let now = app.clock.now();
    // First, so that no photograph is in the store that nobody looks for.
    app.expect_proofs.expect_proof(id, now).await?;
    let upload = app.proofs.upload(id, photo_type, size).await?;
    tracing::info!(event = "proof_expected", parcel = %id);
    let out = UploadOut {
        upload: RequestOut {
            method: "PUT",
            url: upload.url,
            headers: upload.headers.into_iter().map(|(name, value)| (name, value.into())).collect(),
        },
        expires_at: (now + UPLOAD_LIFETIME).to_string(),
    };
    Ok((StatusCode::CREATED, axum::Json(out)).into_response())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn type_and_size_are_read_and_every_field_at_fault_is_named() {
        let read = parse(json!({"contentType": "image/png", "size": 5_242_880})).unwrap();
        assert_eq!((read.0, read.1.bytes()), (PhotoType::Png, 5_242_880));
        for (body, fields) in [
            (json!({}), &["contentType", "size"][..]),
            (json!({"contentType": "image/gif", "size": 1}), &["contentType"]),
            (json!({"contentType": "image/jpeg", "size": 5_242_881}), &["size"]),
            (json!({"contentType": "image/jpeg", "size": 0}), &["size"]),
            (json!({"contentType": "image/jpeg", "size": -1}), &["size"]),
            (json!({"contentType": "image/jpeg", "size": 1.5}), &["size"]),
            (json!({"contentType": "image/jpeg", "size": "1"}), &["size"]),
            (json!({"contentType": "image/jpeg", "size": 1, "key": "x"}), &["key"]),
        ] {
            let Err(Problem::InvalidFields { first: problems, .. }) = parse(body.clone()) else { panic!("{body}") };
            let named: Vec<_> = problems.iter().map(|problem| problem.field.as_str()).collect();
            assert_eq!(named, fields, "{body}");
        }
    }
}
