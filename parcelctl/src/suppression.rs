//! `parcelctl suppression`: who gets no mail any more.

use anyhow::Result;
use parceltrack::domain::EmailAddress;
use serde_json::json;

use crate::Outcome;
use crate::desk::Desk;
use crate::words::print_json;

/// Why this address gets no mail.
pub(crate) async fn show(desk: &Desk, address: &EmailAddress, json: bool) -> Result<Outcome> {
    let Some(found) = desk.suppressions.suppression(address).await? else {
        if json {
            print_json(&json!({"address": address, "suppressed": false}))?;
        } else {
            println!("{} gets mail.", address.as_str());
        }
        return Ok(Outcome::NothingFound);
    };
    if json {
        print_json(&json!({
            "address": found.email,
            "suppressed": true,
            "cause": found.cause,
            "reason": found.reason,
            "at": found.at.to_string(),
            "invoiceId": found.invoice,
        }))?;
    } else {
        println!("{} gets no mail since {}", found.email.as_str(), found.at);
        println!("  cause    {:?}: {}", found.cause, found.reason);
        println!("  invoice  {}", found.invoice);
        println!("  mend     parcelctl suppression remove {}", found.email.as_str());
    }
    Ok(Outcome::Done)
}

/// Allows mail to this address again.
pub(crate) async fn remove(desk: &Desk, address: &EmailAddress, json: bool) -> Result<Outcome> {
    let removed = desk.unsuppress.remove(address).await?;
    if json {
        print_json(&json!({"address": address, "removed": removed}))?;
    } else if removed {
        println!("{} gets mail again. Its failed invoices are still to be retried.", address.as_str());
    } else {
        println!("{} was not kept from mail.", address.as_str());
    }
    Ok(if removed { Outcome::Done } else { Outcome::NothingFound })
}
