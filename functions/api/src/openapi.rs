//! What the API is, for programs: an `OpenAPI` 3.1 document, made from the handlers and from what they take and give.
//!
//! A handler says what is its own; what follows from a rule (a body may be no JSON, a key may be missing, every answer
//! has a request id) is added here. Nothing of this is in the function: it serves the document that is checked in as
//! `docs/openapi.json`, and a test holds that one to this.

use serde_json::{Value, json};
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Content, Header, Ref, RefOr, Response, ResponseBuilder, Schema};
use utoipa::{Modify, OpenApi};

use crate::problem::ProblemDetails;
use crate::{docs, health, invoices, links, me, parcels, queue, tracking, webhooks};

pub(crate) mod bodies;
pub(crate) mod parameters;
pub(crate) mod schemas;

/// The name of the security scheme.
const API_KEY: &str = "apiKey";

#[derive(OpenApi)]
#[openapi(
    info(
        title = "ParcelTrack",
        description = "Parcels and their invoices, of Lion City Logistics. JSON in camelCase; times are RFC 3339, UTC; \
                       amounts are decimal strings.\n\nErrors are problem details (RFC 9457) whose `type` is for \
                       programs. Beyond those of the calls: 404 `not-found` for paths that are not here, 405 \
                       `method-not-allowed` for methods that a path has not, with `Allow`, and 429 of the gateway, \
                       which is no problem document, when all callers together are too fast.\n\nEvery answer has \
                       `X-Request-Id`: the caller's own, if it is 1 to 64 letters, digits or `-_=.:/+`, and else one \
                       of ours. `HEAD` is answered wherever `GET` is.",
        contact(),
        license(name = "Proprietary")
    ),
    servers((url = "/")),
    paths(
        parcels::create::create, parcels::list::list, parcels::get::get, parcels::cancel::cancel,
        parcels::report_event::report_event, parcels::upload_proof::upload_proof, parcels::proof::proof,
        tracking::track, invoices::request::request, invoices::failed::list_failed, invoices::get::get,
        invoices::resend::resend, invoices::email::set_email, invoices::pdf::pdf, links::open,
        me::get, queue::get, queue::history::history,
        webhooks::create::create, webhooks::manage::list, webhooks::manage::get, webhooks::manage::delete,
        webhooks::contact::send_confirmation, webhooks::contact::open_confirmation,
        webhooks::contact::confirm, webhooks::manage::rotate_secret, webhooks::manage::enable, webhooks::test::test, webhooks::resend::resend_since,
        webhooks::deliveries::list_deliveries, webhooks::deliveries::get_delivery, webhooks::resend::resend,
        health::health, docs::openapi, docs::page
    ),
    components(schemas(ProblemDetails)),
    security(("apiKey" = [])),
    tags(
        (name = "Parcels", description = "Create, find, move along, call off, prove."),
        (name = "Tracking", description = "For everybody who has a number."),
        (name = "Invoices", description = "One for each parcel, mailed once; again if it is asked for."),
        (name = "Webhooks", description = "Endpoints of merchants that hear what happens, and what became of each event."),
        (name = "Service", description = "How it does, and what it is.")
    ),
    modifiers(&Rules)
)]
struct Document;

/// The whole document.
pub fn openapi() -> Value {
    json!(Document::openapi())
}

/// What is so of every call of its kind.
struct Rules;

impl Modify for Rules {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        let key = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("pt_…").description(Some(
            "A key of a merchant, a driver or an operator. `parcelctl keys` makes and revokes them.",
        ));
        components.add_security_scheme(API_KEY, SecurityScheme::Http(key.build()));
        for item in document.paths.paths.values_mut() {
            for operation in [&mut item.get, &mut item.put, &mut item.post, &mut item.delete].into_iter().flatten() {
                apply(operation);
            }
        }
    }
}

fn apply(operation: &mut Operation) {
    let public = operation.security.is_some();
    if let Some(RefOr::T(body)) = &mut operation.request_body {
        body.content.values_mut().for_each(optional_body);
    }
    let has_body = operation.request_body.is_some();
    // A call that asks nobody cannot fail by others, and takes nothing that could be wrong.
    let has_parameters = operation.parameters.as_ref().is_some_and(|parameters| !parameters.is_empty());
    let asks_others = !public || has_parameters;
    let mut rules: Vec<(&str, &str)> = Vec::new();
    if has_body {
        rules.extend([
            ("400", "`malformed-request`: the body is no JSON or has a key twice; `invalid-parameter`"),
            ("413", "`body-too-large`: over 256 KiB"),
            ("415", "`not-json`: the `Content-Type` is another than JSON"),
            ("422", "`invalid-fields`: fields of the body are wrong, the first fifty named"),
        ]);
    } else if has_parameters {
        rules.push(("400", "`invalid-parameter`: a path, query or header parameter is wrong"));
    }
    if !public {
        rules.extend([
            ("401", "`unauthorized`: no key, or none that is good"),
            ("403", "`forbidden`: the key's role may not do that"),
        ]);
    }
    if asks_others {
        rules.extend([
            ("500", "`internal`: our fault; quote the request id"),
            ("503", "`unavailable` or `timed-out`: it may have been done or not, try again after `Retry-After`"),
        ]);
    }
    for (status, description) in rules {
        let responses = &mut operation.responses.responses;
        responses
            .entry(status.to_owned())
            .or_insert_with(|| ResponseBuilder::new().description(description).build().into());
    }
    operation.parameters.get_or_insert_default().push(parameters::request_id().into());
    for (status, response) in &mut operation.responses.responses {
        if let RefOr::T(response) = response {
            complete(status, response);
        }
    }
}

/// A body that may be missing is not one that may be `null`.
fn optional_body(content: &mut RefOr<Content>) {
    if let RefOr::T(content) = content
        && let Some(RefOr::T(Schema::OneOf(choice))) = &mut content.schema
    {
        content.schema = Some(choice.items.swap_remove(0));
    }
}

/// The headers that a status brings with it, and the body of a problem.
fn complete(status: &str, response: &mut Response) {
    let mut header = |name: &str, header: Header| {
        response.headers.entry(name.to_owned()).or_insert(header.into());
    };
    header("X-Request-Id", schemas::header(schemas::plain(), "What this request is called; quote it to us"));
    match status {
        "401" => header("WWW-Authenticate", schemas::header(schemas::plain(), "How to send a key")),
        "429" | "503" => header("Retry-After", schemas::retry_after()),
        _ => {}
    }
    if status.starts_with(['4', '5']) && response.content.is_empty() {
        let details = Content::new(Some(Ref::from_schema_name("Problem")));
        response.content.insert("application/problem+json".to_owned(), details.into());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::edge::routes;

    #[test]
    fn every_route_is_in_the_document_and_no_other() {
        let document = openapi();
        let documented: BTreeSet<_> = document["paths"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(documented, routes().iter().map(|(path, _)| *path).collect());
    }

    #[test]
    fn every_call_but_the_public_ones_needs_a_key() {
        let document = openapi();
        let mut public = BTreeSet::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                if operation.get("security").is_some() {
                    public.insert(format!("{method} {path}"));
                } else {
                    assert!(operation["responses"].get("401").is_some(), "{method} {path}");
                }
            }
        }
        assert_eq!(
            public.into_iter().collect::<Vec<_>>(),
            [
                "get /api/track/{trackingNumber}",
                "get /c/{token}",
                "get /docs",
                "get /health",
                "get /i/{token}",
                "get /openapi.json",
                "post /c/{token}",
            ]
        );
    }
}
