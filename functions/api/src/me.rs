//! `GET /api/me`: whose key this is, and what it is for.

use axum::Json;
use parceltrack::domain::{OwnerId, Role};
use serde::Serialize;
use utoipa::ToSchema;

use crate::caller::{Allowed, KnowMyself};
use crate::openapi::schemas;

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Me)]
pub(crate) struct MeOut {
    #[schema(schema_with = schemas::role)]
    role: Role,
    #[schema(schema_with = schemas::owner)]
    owner: OwnerId,
}

/// See what a key is for
#[utoipa::path(
    get, path = "/api/me", operation_id = "getMe", tag = "Service",
    responses((status = 200, description = "The role of the key, and on whose behalf it acts", body = MeOut))
)]
pub(crate) async fn get(Allowed { caller, .. }: Allowed<KnowMyself>) -> Json<MeOut> {
    Json(MeOut { role: caller.role, owner: caller.owner })
}
