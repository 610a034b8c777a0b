//! The mail that tells a merchant that a webhook was switched off.

use parceltrack::domain::{SwitchOffReason, Timestamp, Webhook};
use parceltrack::ports::Notice;
use uuid::Uuid;

/// The notice. Its contact may be anybody, so of what the merchant wrote it has the host alone, in a form that no mail program
/// makes a link of. The same switching off gives the same notice.
pub(crate) fn compose(webhook: &Webhook, at: Timestamp, reason: SwitchOffReason) -> Notice {
    let why = match reason {
        SwitchOffReason::FailedForDays => "It has taken no event for five days, though we tried again and again.",
        SwitchOffReason::Gone => "It answered 410 (Gone), by which an endpoint says that it wants no more events.",
    };
    let text = format!(
        "Dear merchant,\n\n\
         we have switched off a webhook of yours. {why}\n\n\
         Its number: {id}\n\
         Its host: {host}\n\n\
         Events that come now are kept for thirty days, but not sent. Once the endpoint works again, switch the webhook \
         on and have them sent, on the page of your webhooks or by the API.\n\n\
         You get this because somebody named this address as the contact of the webhook. If that is not you, you need do \
         nothing.\n\n\
         Lion City Logistics\n",
        id = webhook.id,
        host = unlinked_host(webhook),
    );
    Notice {
        id: format!("webhook-{}-{}", webhook.id, at.millis()),
        to: webhook.contact.clone(),
        subject: "A webhook was switched off".to_owned(),
        text,
    }
}

/// The mail that asks somebody whether they are the contact. Each has an id of its own, since each has another link.
pub(crate) fn confirmation(webhook: &Webhook, link: &str) -> Notice {
    let text = format!(
        "Hello,\n\n\
         a merchant who ships with Lion City Logistics has named this address as the contact of a webhook. Its host: {host}\n\n\
         If that is right, open this page and confirm. Then we write to you when the webhook is switched off:\n\n\
         {link}\n\n\
         If it is not, you need do nothing, and you get no further mail about it.\n\n\
         Lion City Logistics\n",
        host = unlinked_host(webhook),
    );
    Notice {
        id: format!("contact-{}", Uuid::new_v4()),
        to: webhook.contact.clone(),
        subject: "Please confirm your address".to_owned(),
        text,
    }
}

/// In a form that no mail program makes a link of.
fn unlinked_host(webhook: &Webhook) -> String {
    webhook.url.host().replace('.', "[.]")
}

#[cfg(test)]
mod tests {
    use parceltrack::domain::{NewWebhook, OwnerId, Text, WebhookId, WebhookSecret};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn nothing_that_a_merchant_wrote_is_in_the_mail_but_the_host_which_nobody_links(
            name in "[a-z]{7,12}", top in "(com|sg|example|zip|shop)", user in "[a-z]{8,12}",
            path in "[a-zA-Z0-9]{12,40}", description in "\\PC{12,60}",
        ) {
            let url = format!("https://{name}.{name}.{top}:8443/{path}?{path}={path}");
            prop_assume!(!description.trim().is_empty());
            let Ok(text) = Text::try_from(description.clone()) else { return Ok(()) };
            let new = NewWebhook {
                url: url.parse().unwrap(),
                event_types: [].into(),
                contact: format!("{user}@example.com").parse().unwrap(),
                description: Some(text),
            };
            let now = Timestamp::from_millis(1_790_000_000_000);
            let secret = WebhookSecret::from_random([Uuid::nil(); 2]);
            let webhook = Webhook::registered(new, WebhookId(Uuid::nil()), OwnerId::house(), secret, now);
            let link = "https://parcels.invalid/c/1234";
            let reasons = [SwitchOffReason::Gone, SwitchOffReason::FailedForDays];
            let notices = reasons.map(|reason| compose(&webhook, now, reason));
            for notice in notices.into_iter().chain([confirmation(&webhook, link)]) {
                let words = format!("{}\n{}", notice.subject, notice.text.replace(link, ""));
                for merchants in [&url, &path, &description, &format!("{name}."), &format!(".{top}"), &user] {
                    prop_assert!(!words.contains(merchants.trim()), "{merchants}: {words}");
                }
                prop_assert!(!words.contains("://") && !words.contains('@') && !words.contains("www"));
                let host = format!("{name}[.]{name}[.]{top}");
                prop_assert!(words.contains(&host), "{}", words);
                prop_assert!(!notice.subject.contains(&name));
            }
        }
    }
}
