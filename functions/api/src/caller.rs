//! Who is calling, and what they may do.
//!
//! A handler names the right it wants in its arguments, [`Allowed<ManageParcels>`](Allowed), and is not reached without it.

use std::fmt;
use std::marker::PhantomData;

use axum::extract::FromRequestParts;
use http::header::AUTHORIZATION;
use http::request::Parts;
use parceltrack::domain::{ApiKey, InvalidOwner, OwnerId, Role};

use crate::App;
use crate::problem::Problem;
use crate::query::parameter;

/// A caller whose key is good.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// What the caller is to us.
    pub(crate) role: Role,
    /// On whose behalf the caller acts. What they create belongs to this owner.
    pub(crate) owner: OwnerId,
}

impl Caller {
    /// Whether the caller may know of what belongs to this owner.
    pub(crate) fn sees(&self, owner: &OwnerId) -> bool {
        self.role == Role::Operator || self.owner == *owner
    }
}

impl fmt::Display for Caller {
    /// In words, for the story of what they did.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.role {
            Role::Merchant => write!(formatter, "the merchant {}", self.owner.as_str()),
            Role::Driver => formatter.write_str("a driver"),
            Role::Operator => formatter.write_str("an operator"),
        }
    }
}

/// The owner that the caller names, if the caller may know of what is theirs.
pub(crate) fn named_owner(query: &str, caller: &Caller) -> Result<Option<OwnerId>, Problem> {
    let Some(name) = parameter(query, "owner") else { return Ok(None) };
    let owner: OwnerId =
        name.parse().map_err(|error: InvalidOwner| Problem::invalid_parameter("owner", &error.to_string()))?;
    if caller.sees(&owner) { Ok(Some(owner)) } else { Err(Problem::NotFound("owner")) }
}

/// Something that not every caller may do.
pub(crate) trait Right: Send {
    /// Who has it.
    fn belongs_to(role: Role) -> bool;
}

/// To create and see parcels and invoices: one's own, or all of them.
pub(crate) struct ManageParcels;

impl Right for ManageParcels {
    fn belongs_to(role: Role) -> bool {
        matches!(role, Role::Merchant | Role::Operator)
    }
}

/// To watch and steer the service as a whole.
pub(crate) struct RunTheService;

impl Right for RunTheService {
    fn belongs_to(role: Role) -> bool {
        role == Role::Operator
    }
}

/// To call a parcel off: one's own, or any of them.
pub(crate) struct CancelParcels;

impl Right for CancelParcels {
    fn belongs_to(role: Role) -> bool {
        matches!(role, Role::Merchant | Role::Operator)
    }
}

/// To have webhooks: one's own, or anybody's.
pub(crate) struct ManageWebhooks;

impl Right for ManageWebhooks {
    fn belongs_to(role: Role) -> bool {
        matches!(role, Role::Merchant | Role::Operator)
    }
}

/// To tell what happened to a parcel, whoever's it is, and to prove it.
pub(crate) struct ReportEvents;

impl Right for ReportEvents {
    fn belongs_to(role: Role) -> bool {
        matches!(role, Role::Driver | Role::Operator)
    }
}

/// To know what one's key is for.
pub(crate) struct KnowMyself;

impl Right for KnowMyself {
    fn belongs_to(_: Role) -> bool {
        true
    }
}

/// A caller who has a right.
pub(crate) struct Allowed<R> {
    /// Who.
    pub(crate) caller: Caller,
    right: PhantomData<R>,
}

impl<R: Right> FromRequestParts<App> for Allowed<R> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Self::Rejection> {
        let caller = app.keys.caller(bearer(parts).ok_or(Problem::Unauthorized)?, app.clock.now()).await?;
        if R::belongs_to(caller.role) { Ok(Self { caller, right: PhantomData }) } else { Err(Problem::Forbidden) }
    }
}

/// The key in `Authorization: Bearer …` (RFC 6750 section 2.1), if there is exactly one and it could be ours.
fn bearer(parts: &Parts) -> Option<ApiKey> {
    let mut values = parts.headers.get_all(AUTHORIZATION).iter();
    let (value, None) = (values.next()?, values.next()) else { return None };
    let (scheme, key) = value.to_str().ok()?.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") { key.trim().parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    const KEY: &str = "pt_0123456789abcdef_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn id_in(headers: &[&str]) -> Option<String> {
        let mut request = Request::builder();
        for header in headers {
            request = request.header(AUTHORIZATION, *header);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        bearer(&parts).map(|key| key.id.to_string())
    }

    #[test]
    fn one_bearer_key_is_read_whatever_the_case_of_its_scheme() {
        for scheme in ["Bearer", "bearer", "BEARER"] {
            assert_eq!(id_in(&[&format!("{scheme} {KEY}")]).as_deref(), Some("0123456789abcdef"));
        }
        assert!(id_in(&[&format!("Bearer  {KEY}")]).is_some());
    }

    #[test]
    fn anything_else_is_no_key() {
        let good = format!("Bearer {KEY}");
        assert_eq!(id_in(&[]), None);
        assert_eq!(id_in(&[&good, &good]), None);
        for header in ["", "Bearer", "Bearer ", KEY, &format!("Basic {KEY}"), &format!("Bearer {KEY} x"), "Bearer é"] {
            assert_eq!(id_in(&[header]), None, "{header}");
        }
    }
}
