//! `parcelctl keys`: who may call the API.

use std::time::Duration;

use anyhow::{Result, bail};
use parceltrack::domain::{ApiKey, ApiKeyId, ApiKeyState, IssuedApiKey, OwnerId, Role, Text, Timestamp};
use parceltrack::ports::{Clock, ManageApiKeys, Revocation};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::Outcome;
use crate::words::{age, count, print_json};

/// What a new key is to be.
pub(crate) struct Wanted {
    pub(crate) role: Role,
    pub(crate) owner: OwnerId,
    pub(crate) label: Text<100>,
    pub(crate) expires_in: Option<Duration>,
}

/// Makes a key and shows it, this once.
pub(crate) async fn create(keys: &dyn ManageApiKeys, clock: &dyn Clock, wanted: Wanted, json: bool) -> Result<Outcome> {
    let key = ApiKey::from_random(Uuid::new_v4(), [Uuid::new_v4(), Uuid::new_v4()]);
    let now = clock.now();
    let expires = wanted.expires_in.map(|lifetime| now + lifetime);
    let issued = IssuedApiKey::issue(&key, wanted.role, wanted.owner, wanted.label, now, expires);
    keys.issue(&issued).await?;
    if json {
        let mut document = described(&issued, now);
        document["key"] = key.reveal().into();
        print_json(&document)?;
    } else {
        println!("{}", key.reveal());
        eprintln!("This is the only time that it is shown. {}", in_words(&issued, now));
    }
    Ok(Outcome::Done)
}

/// All keys, or one owner's, the newest first.
pub(crate) async fn list(
    keys: &dyn ManageApiKeys,
    clock: &dyn Clock,
    owner: Option<&OwnerId>,
    json: bool,
) -> Result<Outcome> {
    let now = clock.now();
    let mut found = keys.api_keys(owner).await?;
    found.sort_by_key(|key| std::cmp::Reverse(key.created_at));
    if json {
        print_json(&found.iter().map(|key| described(key, now)).collect::<Vec<_>>())?;
    } else {
        println!("{}", count(found.len(), "key", "keys"));
        for key in &found {
            println!("{}  {}", key.id, in_words(key, now));
        }
    }
    Ok(if found.is_empty() { Outcome::NothingFound } else { Outcome::Done })
}

/// Calls a key off.
pub(crate) async fn revoke(keys: &dyn ManageApiKeys, clock: &dyn Clock, id: &ApiKeyId, json: bool) -> Result<Outcome> {
    let revocation = keys.revoke(id, clock.now()).await?;
    let (word, outcome) = match revocation {
        Revocation::Revoked => ("revoked", Outcome::Done),
        Revocation::WasRevoked => ("wasRevoked", Outcome::Done),
        Revocation::Unknown => ("unknown", Outcome::NothingFound),
    };
    if json {
        print_json(&json!({"id": id, "outcome": word}))?;
    } else {
        match revocation {
            Revocation::Revoked => println!("{id} is revoked. Within a minute nothing takes it any more."),
            Revocation::WasRevoked => println!("{id} was revoked before."),
            Revocation::Unknown => println!("There is no key {id}."),
        }
    }
    Ok(outcome)
}

fn described(key: &IssuedApiKey, now: Timestamp) -> Value {
    let time = |time: Option<Timestamp>| time.map(|time| time.to_string());
    json!({
        "id": key.id,
        "role": key.role,
        "owner": key.owner,
        "label": key.label,
        "state": key.state(now),
        "createdAt": key.created_at.to_string(),
        "expiresAt": time(key.expires),
        "revokedAt": time(key.revoked_at),
        "lastUsedAt": time(key.last_used_at),
    })
}

fn in_words(key: &IssuedApiKey, now: Timestamp) -> String {
    let role = match key.role {
        Role::Merchant => "merchant",
        Role::Driver => "driver",
        Role::Operator => "operator",
    };
    let state = match key.state(now) {
        ApiKeyState::Active => match key.expires {
            Some(expires) => format!("good until {expires}"),
            None => "good without an end".to_owned(),
        },
        ApiKeyState::Expired => "expired".to_owned(),
        ApiKeyState::Revoked => "revoked".to_owned(),
    };
    let used = match key.last_used_at {
        Some(at) => format!("used {} ago", age(now.since(at))),
        None => "never used".to_owned(),
    };
    format!("{role} for {}, {state}, {used}: {}", key.owner, key.label)
}

/// `90d`, `12h`, `30m`.
pub(crate) fn lifetime(text: &str) -> Result<Duration> {
    let units = [('d', 86_400), ('h', 3600), ('m', 60)];
    let parsed =
        units.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(*unit)?.parse::<u32>().ok()?, *seconds)));
    let Some((number, seconds)) = parsed else {
        bail!("must be a number of days, hours or minutes, such as 90d");
    };
    if number == 0 {
        bail!("must be above zero");
    }
    Ok(Duration::from_secs(u64::from(number) * seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lifetime_is_a_number_with_its_unit() {
        assert_eq!(lifetime("90d").unwrap(), Duration::from_hours(90 * 24));
        assert_eq!(lifetime("12h").unwrap(), Duration::from_hours(12));
        assert_eq!(lifetime("1m").unwrap(), Duration::from_mins(1));
        for text in ["", "d", "0d", "90", "-1d", "1.5h", "1dd", "90 d", "1é"] {
            assert!(lifetime(text).is_err(), "{text}");
        }
    }
}
