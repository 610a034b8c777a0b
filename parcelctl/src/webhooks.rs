//! `parcelctl webhooks`: what merchants do with their webhooks by the API, for those who call us instead.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Result, bail};
use parceltrack::clock::SystemClock;
use parceltrack::domain::{
    AttemptEnd, DeliveryId, DomainEventType, FIRST_DUE, MAX_WEBHOOKS, NewWebhook, OwnerId, ResendId, ResendWhich,
    ResendWish, SecretRotation, Timestamp, Webhook, WebhookAttempt, WebhookDelivery, WebhookDeliveryState,
    WebhookDeliveryStatus, WebhookId, WebhookKey, WebhookSecret, WebhookState, WebhookTicket,
};
use parceltrack::ports::{
    ChangeWebhooks as _, Clock as _, CreateWebhooks as _, ListWebhookDeliveries as _, ReadWebhooks as _,
    RecordWebhookDeliveries as _, RetryWebhookDeliveries as _, SendResendWish as _, SendWebhookTicket as _, StepTaken,
    WebhookCreation,
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::Outcome;
use crate::arguments::{ResendArguments, WebhooksCommand};
use crate::desk::WebhookDesk;
use crate::words::{age, count, print_json};

/// Does what is asked for.
pub(crate) async fn run(desk: &WebhookDesk, command: WebhooksCommand, json: bool) -> Result<Outcome> {
    match command {
        WebhooksCommand::List { owner } => list(desk, &owner, json).await,
        WebhooksCommand::Show { which } => show(desk, &which.into(), json).await,
        WebhooksCommand::Create { owner, url, contact, description, events } => {
            let events = if events.is_empty() { DomainEventType::ALL.to_vec() } else { events };
            let event_types = events.into_iter().collect();
            create(desk, owner, NewWebhook { url, event_types, contact, description }, json).await
        }
        WebhooksCommand::Delete { which } => delete(desk, &which.into(), json).await,
        WebhooksCommand::RotateSecret { which } => rotate_secret(desk, &which.into(), json).await,
        WebhooksCommand::Enable { which } => enable(desk, &which.into(), json).await,
        WebhooksCommand::Test { which } => test(desk, which.into(), json).await,
        WebhooksCommand::Deliveries { which, status, limit } => {
            deliveries(desk, &which.into(), status, limit, json).await
        }
        WebhooksCommand::Resend { which, what } => resend(desk, which.into(), what, json).await,
    }
}

/// The webhook; without one there is nothing to do.
async fn find(desk: &WebhookDesk, key: &WebhookKey) -> Result<Option<Webhook>> {
    let webhook = desk.webhooks.webhook(key).await?;
    if webhook.is_none() {
        eprintln!("{} has no webhook {}.", key.owner, key.webhook_id);
    }
    Ok(webhook)
}

async fn list(desk: &WebhookDesk, owner: &OwnerId, json: bool) -> Result<Outcome> {
    let (webhooks, now) = (desk.webhooks.webhooks_of(owner).await?, SystemClock.now());
    if json {
        print_json(&webhooks.iter().map(|webhook| described(webhook, now)).collect::<Vec<_>>())?;
    } else {
        println!("{}", count(webhooks.len(), "webhook", "webhooks"));
        for webhook in &webhooks {
            println!("{}  {}  {}", webhook.id, state(webhook, now), webhook.url.as_str());
        }
    }
    Ok(if webhooks.is_empty() { Outcome::NothingFound } else { Outcome::Done })
}

async fn show(desk: &WebhookDesk, key: &WebhookKey, json: bool) -> Result<Outcome> {
    let Some(webhook) = find(desk, key).await? else { return Ok(Outcome::NothingFound) };
    let now = SystemClock.now();
    if json {
        print_json(&described(&webhook, now))?;
    } else {
        print_webhook(&webhook, now);
    }
    Ok(Outcome::Done)
}

async fn create(desk: &WebhookDesk, owner: OwnerId, new: NewWebhook, json: bool) -> Result<Outcome> {
    if !desk.addresses.admits_url(&new.url) {
        bail!("the URL must be https, with a host of the public internet");
    }
    let now = SystemClock.now();
    let webhook = Webhook::registered(new, WebhookId(Uuid::new_v4()), owner, random_secret(), now);
    if desk.webhooks.create(&webhook, None, now).await? == WebhookCreation::TooMany {
        bail!("{} has {MAX_WEBHOOKS} webhooks; delete one first", webhook.owner);
    }
    reveal(&webhook, now, json)
}

async fn delete(desk: &WebhookDesk, key: &WebhookKey, json: bool) -> Result<Outcome> {
    let deleted = desk.webhooks.delete(key).await?;
    if json {
        print_json(&json!({"id": key.webhook_id, "deleted": deleted}))?;
    } else if deleted {
        println!("{} is deleted. What it has not yet got is withdrawn.", key.webhook_id);
    } else {
        println!("{} has no webhook {}.", key.owner, key.webhook_id);
    }
    Ok(if deleted { Outcome::Done } else { Outcome::NothingFound })
}

async fn rotate_secret(desk: &WebhookDesk, key: &WebhookKey, json: bool) -> Result<Outcome> {
    let Some(seen) = find(desk, key).await? else { return Ok(Outcome::NothingFound) };
    let now = SystemClock.now();
    let secrets = match seen.secrets.rotated(random_secret(), now) {
        SecretRotation::Rotated(secrets) => secrets,
        SecretRotation::TooMany { until } => bail!("too many secrets are good already; wait until {until}"),
    };
    if desk.webhooks.rotate(&seen, &secrets, now).await? == StepTaken::OvertakenByAnother {
        bail!("somebody else has rotated it just now");
    }
    reveal(&Webhook { secrets, updated_at: now, ..seen }, now, json)
}

async fn enable(desk: &WebhookDesk, key: &WebhookKey, json: bool) -> Result<Outcome> {
    let now = SystemClock.now();
    let Some(webhook) = desk.webhooks.enable(key, now).await? else {
        eprintln!("{} has no webhook {}.", key.owner, key.webhook_id);
        return Ok(Outcome::NothingFound);
    };
    if json {
        print_json(&described(&webhook, now))?;
    } else {
        println!("{} is active. What was withdrawn meanwhile comes by `webhooks resend --since`.", webhook.id);
    }
    Ok(Outcome::Done)
}

async fn test(desk: &WebhookDesk, key: WebhookKey, json: bool) -> Result<Outcome> {
    let Some(webhook) = find(desk, &key).await? else { return Ok(Outcome::NothingFound) };
    must_be_active(&webhook)?;
    let delivery = WebhookDelivery::of_test(Uuid::new_v4(), key.clone(), SystemClock.now());
    desk.deliveries.record(&delivery).await?;
    on_its_way(desk, key, delivery.id, json).await
}

async fn deliveries(
    desk: &WebhookDesk,
    key: &WebhookKey,
    status: Option<WebhookDeliveryStatus>,
    limit: u16,
    json: bool,
) -> Result<Outcome> {
    if find(desk, key).await?.is_none() {
        return Ok(Outcome::NothingFound);
    }
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = desk.deliveries.deliveries(key.webhook_id, status, limit, after).await?;
        found.extend(page.deliveries);
        after = page.end;
        if found.len() >= limit.into() || after.is_none() {
            break;
        }
    }
    found.truncate(limit.into());
    if json {
        print_json(&found.iter().map(delivery_described).collect::<Vec<_>>())?;
    } else {
        println!("{}", count(found.len(), "delivery", "deliveries"));
        for delivery in &found {
            print_delivery(delivery);
        }
    }
    Ok(if found.is_empty() { Outcome::NothingFound } else { Outcome::Done })
}

async fn resend(desk: &WebhookDesk, key: WebhookKey, what: ResendArguments, json: bool) -> Result<Outcome> {
    let Some(webhook) = find(desk, &key).await? else { return Ok(Outcome::NothingFound) };
    must_be_active(&webhook)?;
    let now = SystemClock.now();
    if let Some(id) = what.delivery {
        if desk.deliveries.retry(key.webhook_id, id, now + FIRST_DUE, now).await?.is_none() {
            eprintln!("There is no delivery {id}.");
            return Ok(Outcome::NothingFound);
        }
        return on_its_way(desk, key, id, json).await;
    }
    let Some(since) = what.since else { return Ok(Outcome::Usage) };
    let which = if what.all { ResendWhich::All } else { ResendWhich::Undelivered };
    let resend_id = ResendId(Uuid::new_v4());
    desk.events.wish(&ResendWish { resend_id, webhook: key, since, until: now, which, after: None }).await?;
    if json {
        print_json(&json!({"since": since.to_string(), "until": now.to_string(), "which": which}))?;
    } else {
        println!("Those from {since} until {now} are going to be sent again.");
    }
    Ok(Outcome::Done)
}

fn must_be_active(webhook: &Webhook) -> Result<()> {
    if webhook.is_active() { Ok(()) } else { bail!("{} is switched off; enable it first", webhook.id) }
}

fn random_secret() -> WebhookSecret {
    WebhookSecret::from_random([Uuid::new_v4(), Uuid::new_v4()])
}

/// Shows a secret that was just made, this once.
fn reveal(webhook: &Webhook, now: Timestamp, json: bool) -> Result<Outcome> {
    let secret = webhook.secrets.current.reveal();
    if json {
        let mut document = described(webhook, now);
        document["secret"] = secret.into();
        print_json(&document)?;
    } else {
        println!("{secret}");
        eprintln!("This is the only time that it is shown. It signs for webhook {}.", webhook.id);
    }
    Ok(Outcome::Done)
}

async fn on_its_way(desk: &WebhookDesk, webhook: WebhookKey, delivery_id: DeliveryId, json: bool) -> Result<Outcome> {
    // If the queue refuses, the relay brings the ticket.
    if let Err(error) = desk.tickets.send(&WebhookTicket { webhook, delivery_id }, Duration::ZERO).await {
        eprintln!("The queue did not take the ticket ({error}); the relay brings one within two minutes.");
    }
    if json {
        print_json(&json!({"id": delivery_id, "status": WebhookDeliveryStatus::Pending}))?;
    } else {
        println!("{delivery_id} is on its way.");
    }
    Ok(Outcome::Done)
}

fn state(webhook: &Webhook, now: Timestamp) -> String {
    match webhook.state {
        WebhookState::SwitchedOff { at, reason } => format!("switched off {} ago ({reason:?})", age(now.since(at))),
        WebhookState::Active => match webhook.health.failing_since {
            None => "active".to_owned(),
            Some(since) => format!("active, failing for {}", age(now.since(since))),
        },
    }
}

fn print_webhook(webhook: &Webhook, now: Timestamp) {
    let types: Vec<_> = webhook.event_types.iter().map(|kind| kind.name()).collect();
    println!("{} of {}, {}", webhook.id, webhook.owner, state(webhook, now));
    println!("  url      {}", webhook.url.as_str());
    println!("  events   {}", types.join(", "));
    println!("  contact  {}", webhook.contact.as_str());
    if let Some(until) = webhook.health.resting(now) {
        println!("  rests    until {until}, after {} failures in a row", webhook.health.consecutive_failures);
    }
    if let Some(at) = webhook.health.last_success_at {
        println!("  success  {} ago", age(now.since(at)));
    }
}

fn print_delivery(delivery: &WebhookDelivery) {
    let mut line = format!("{}  {}  {}", delivery.id, delivery.event_type.name(), delivery.state.status().name());
    if let WebhookDeliveryState::Pending { next_attempt_at, .. } = delivery.state {
        let _ = write!(line, ", next {next_attempt_at}");
    }
    println!("{line}");
    for WebhookAttempt { at, duration_millis, end } in &delivery.attempts {
        match end {
            AttemptEnd::Answered { status, .. } => println!("  {at}  {status} after {duration_millis} ms"),
            AttemptEnd::Unanswered { error } => println!("  {at}  {error:?} after {duration_millis} ms"),
        }
    }
}

fn described(webhook: &Webhook, now: Timestamp) -> Value {
    let time = |time: Option<Timestamp>| time.map(|time| time.to_string());
    let (state, off) = match webhook.state {
        WebhookState::Active => ("Active", None),
        WebhookState::SwitchedOff { at, reason } => ("SwitchedOff", Some((at, reason))),
    };
    json!({
        "id": webhook.id,
        "owner": webhook.owner,
        "url": webhook.url,
        "eventTypes": webhook.event_types,
        "contactEmail": webhook.contact,
        "description": webhook.description,
        "state": state,
        "switchedOffAt": time(off.map(|(at, _)| at)),
        "switchedOffReason": off.map(|(_, reason)| reason),
        "consecutiveFailures": webhook.health.consecutive_failures,
        "failingSince": time(webhook.health.failing_since),
        "restUntil": time(webhook.health.resting(now)),
        "lastSuccessAt": time(webhook.health.last_success_at),
        "createdAt": webhook.created_at.to_string(),
    })
}

fn delivery_described(delivery: &WebhookDelivery) -> Value {
    json!({
        "id": delivery.id,
        "eventId": delivery.event_id,
        "eventType": delivery.event_type,
        "status": delivery.state.status(),
        "createdAt": delivery.created_at.to_string(),
        "endedAt": delivery.state.ended_at().map(|at| at.to_string()),
        "attemptCount": delivery.attempt_count,
        "attempts": delivery.attempts,
    })
}
