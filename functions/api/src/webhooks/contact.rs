//! Contacts of webhooks: asked by a mail whether they are, and their yes.

use std::time::Duration;

use axum::Json;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY};
use parceltrack::domain::{ConfirmationLink, ConfirmationTicket, ContactToken, WebhookId};

use super::out::WebhookOut;
use super::{contact, key, webhook};
use crate::App;
use crate::caller::{Allowed, ManageWebhooks};
use crate::openapi::parameters::{TokenInPath, WebhookInPath};
use crate::path_id::PathId;
use crate::problem::Problem;

const ASKS: &str = include_str!("../pages/contact_asks.html");
const CONFIRMED: &str = include_str!("../pages/contact_confirmed.html");
const UNKNOWN: &str = include_str!("../pages/contact_unknown.html");

/// Ask the contact once more
///
/// A mail with a link goes to `contactEmail`, by which its owner confirms to be the contact. The first one goes by itself. An
/// address gets one a day and three in all, of all merchants together; what is over that is not sent.
#[utoipa::path(
    post, path = "/api/webhooks/{id}/confirmation", operation_id = "sendContactConfirmation", tag = "Webhooks",
    params(WebhookInPath),
    responses(
        (status = 202, description = "It is going to be sent, or the contact has confirmed", body = WebhookOut),
        (status = 404, description = "`not-found`: no such webhook, or another's"),
        (status = 429, description = "`too-many-requests`: one was sent within the last day"),
    )
)]
pub(crate) async fn send_confirmation(
    State(app): State<App>,
    Allowed { caller, .. }: Allowed<ManageWebhooks>,
    PathId(id): PathId,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let key = key(WebhookId(id), query.as_deref(), caller)?;
    let (webhook, now) = (webhook(&app, &key).await?, app.clock.now());
    let contact = contact(&app, &webhook).await?;
    if contact.confirmed_at.is_none() {
        if let Some(next) = contact.next_confirmation(now) {
            return Err(Problem::TooManyRequests { retry_after: next.since(now) });
        }
        app.webhooks.ask.ask_for(&ConfirmationTicket { confirm: key }, Duration::ZERO).await?;
    }
    Ok((StatusCode::ACCEPTED, Json(WebhookOut::new(webhook, contact, now))).into_response())
}

/// Open the link of a confirmation
///
/// A page with a button. Opening it confirms nothing, since programs open the links of mails as well.
#[utoipa::path(
    get, path = "/c/{token}", operation_id = "openConfirmation", tag = "Webhooks", security(()),
    params(TokenInPath),
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html"),
        (status = 404, description = "No such link: a page", body = String, content_type = "text/html"),
        (status = 410, description = "It is over: a page", body = String, content_type = "text/html"),
    )
)]
pub(crate) async fn open_confirmation(State(app): State<App>, Path(token): Path<String>) -> Result<Response, Problem> {
    let Ok(token) = token.parse::<ContactToken>() else { return Ok(page(ConfirmationLink::Unknown, ASKS)) };
    let link = app.webhooks.contacts.contact(token.contact).await?.link(token.secret, app.clock.now());
    Ok(page(link, ASKS))
}

/// Confirm to be a contact
///
/// What the button of the page does.
#[utoipa::path(
    post, path = "/c/{token}", operation_id = "confirmContact", tag = "Webhooks", security(()),
    params(TokenInPath),
    responses(
        (status = 200, description = "It is confirmed: a page", body = String, content_type = "text/html"),
        (status = 404, description = "No such link: a page", body = String, content_type = "text/html"),
        (status = 410, description = "It is over: a page", body = String, content_type = "text/html"),
    )
)]
pub(crate) async fn confirm(State(app): State<App>, Path(token): Path<String>) -> Result<Response, Problem> {
    let Ok(token) = token.parse::<ContactToken>() else { return Ok(page(ConfirmationLink::Unknown, CONFIRMED)) };
    let link = app.webhooks.confirm.confirm(token, app.clock.now()).await?;
    if link == ConfirmationLink::Good {
        tracing::info!(event = "contact_confirmed");
    }
    Ok(page(link, CONFIRMED))
}

fn page(link: ConfirmationLink, good: &'static str) -> Response {
    let (status, html) = match link {
        ConfirmationLink::Good => (StatusCode::OK, good),
        ConfirmationLink::Confirmed => (StatusCode::OK, CONFIRMED),
        ConfirmationLink::Over => (StatusCode::GONE, UNKNOWN),
        ConfirmationLink::Unknown => (StatusCode::NOT_FOUND, UNKNOWN),
    };
    let policy =
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
    let headers: [(HeaderName, &str); 3] = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, policy),
        (REFERRER_POLICY, "no-referrer"),
    ];
    (status, headers, html).into_response()
}
