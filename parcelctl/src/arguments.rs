//! What can be asked for.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use parceltrack::domain::{
    ApiKeyId, DeliveryId, DomainEventType, EmailAddress, InvalidText, OwnerId, Role, Text, Timestamp,
    WebhookDeliveryStatus, WebhookId, WebhookKey, WebhookUrl,
};
use uuid::Uuid;

use crate::keys::lifetime;
use crate::select::Selection;

const AFTER: &str = "\
Settings come from the environment, or all from --env-file: INVOICES_TABLE, SUPPRESSIONS_TABLE, TICKETS_QUEUE_URL,
DEAD_LETTER_QUEUE_URL, for keys API_KEYS_TABLE alone, for webhooks WEBHOOKS_TABLE, WEBHOOK_DELIVERIES_TABLE,
WEBHOOK_TICKETS_QUEUE_URL and WEBHOOK_EVENTS_QUEUE_URL, and what the AWS SDK reads.

Exit codes: 0 done; 1 an error, or something was left undone; 2 wrong usage; 3 nothing found.";

/// For the operators of `ParcelTrack`: dead letters, the story of an invoice, API keys, webhooks
#[derive(Parser)]
#[command(name = "parcelctl", version, after_help = AFTER)]
pub(crate) struct Arguments {
    /// File of NAME=value lines with the settings, such as .local/env; without it, the environment
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) env_file: Option<PathBuf>,
    /// One JSON document, for programs
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Tickets that will not succeed by themselves
    #[command(subcommand)]
    DeadLetters(DeadLetters),
    /// One invoice
    #[command(subcommand)]
    Invoice(InvoiceCommand),
    /// Addresses that get no mail any more, since a mail to them came back or was called spam
    #[command(subcommand)]
    Suppression(SuppressionCommand),
    /// Who may call the API
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Merchants' endpoints, and what became of each event
    #[command(subcommand)]
    Webhooks(WebhooksCommand),
}

/// One webhook.
#[derive(Args)]
pub(crate) struct WebhookArguments {
    /// Whose it is
    #[arg(long, value_name = "NAME")]
    owner: OwnerId,
    /// The webhook's id
    id: Uuid,
}

impl From<WebhookArguments> for WebhookKey {
    fn from(WebhookArguments { owner, id }: WebhookArguments) -> Self {
        Self { owner, webhook_id: WebhookId(id) }
    }
}

#[derive(Subcommand)]
pub(crate) enum WebhooksCommand {
    /// All webhooks of a merchant
    List {
        /// Whose
        #[arg(long, value_name = "NAME")]
        owner: OwnerId,
    },
    /// One of them, and how it does
    Show {
        #[command(flatten)]
        which: WebhookArguments,
    },
    /// Register an endpoint; its secret is shown this once
    Create {
        /// Whose
        #[arg(long, value_name = "NAME")]
        owner: OwnerId,
        /// Where events are sent
        #[arg(long)]
        url: WebhookUrl,
        /// Who is told when it is switched off
        #[arg(long, value_name = "ADDRESS")]
        contact: EmailAddress,
        /// What people call it
        #[arg(long, value_name = "TEXT", value_parser = description)]
        description: Option<Text<200>>,
        /// Which events, one for each time it is said; without it, all
        #[arg(long = "event", value_name = "TYPE")]
        events: Vec<DomainEventType>,
    },
    /// Remove one; what it has not yet got is withdrawn
    Delete {
        #[command(flatten)]
        which: WebhookArguments,
    },
    /// Give one another secret, shown this once; the former one is good for another day
    RotateSecret {
        #[command(flatten)]
        which: WebhookArguments,
    },
    /// Switch one on
    Enable {
        #[command(flatten)]
        which: WebhookArguments,
    },
    /// Send a test event
    Test {
        #[command(flatten)]
        which: WebhookArguments,
    },
    /// What became of each event, newest first
    Deliveries {
        #[command(flatten)]
        which: WebhookArguments,
        /// Only those that have it: Pending, Delivered, Failed or Withdrawn
        #[arg(long, value_parser = delivery_status)]
        status: Option<WebhookDeliveryStatus>,
        /// How many, at most
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=100))]
        limit: u16,
    },
    /// Send events again: one, or all since a time
    Resend {
        #[command(flatten)]
        which: WebhookArguments,
        #[command(flatten)]
        what: ResendArguments,
    },
}

/// What is sent again.
#[derive(Args)]
#[group(required = true, multiple = true)]
pub(crate) struct ResendArguments {
    /// This one, by its id
    #[arg(long, value_name = "ID", conflicts_with_all = ["since", "all"])]
    pub(crate) delivery: Option<DeliveryId>,
    /// All that failed or were withdrawn since then, such as 2026-11-30T01:02:03Z
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) since: Option<Timestamp>,
    /// With --since: those that were delivered as well
    #[arg(long, requires = "since")]
    pub(crate) all: bool,
}

fn description(text: &str) -> Result<Text<200>, InvalidText> {
    text.to_owned().try_into()
}

fn delivery_status(text: &str) -> Result<WebhookDeliveryStatus, String> {
    let known = WebhookDeliveryStatus::ALL.into_iter().find(|status| status.name().eq_ignore_ascii_case(text));
    known.ok_or_else(|| "must be Pending, Delivered, Failed or Withdrawn".to_owned())
}

fn time(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).ok_or_else(|| "must be a time such as 2026-11-30T01:02:03Z".to_owned())
}

#[derive(Subcommand)]
pub(crate) enum DeadLetters {
    /// All of them, by reason
    List {
        /// Only those whose reason contains this
        #[arg(long, value_name = "TEXT")]
        group: Option<String>,
    },
    /// One of them, with the story of its invoice
    Show {
        /// The letter, or the first characters of it; or its invoice's id or number
        which: String,
    },
    /// Try their invoices again
    Retry {
        #[command(flatten)]
        selection: SelectionArguments,
        /// At most so many a second
        #[arg(long, default_value_t = 10.0, value_parser = rate)]
        rate: f64,
        /// Mail to this address from now on; the invoice itself stays as it is
        #[arg(long, value_name = "ADDRESS")]
        set_email: Option<EmailAddress>,
    },
    /// Remove them; their invoices stay failed
    Drop {
        #[command(flatten)]
        selection: SelectionArguments,
        /// Why, for the invoice's story
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
}

#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct SelectionArguments {
    /// Letters, or the first characters of them; or their invoices' ids or numbers
    which: Vec<String>,
    /// All whose reason contains this
    #[arg(long, value_name = "TEXT")]
    group: Option<String>,
    /// All
    #[arg(long)]
    all: bool,
}

impl From<SelectionArguments> for Selection {
    fn from(arguments: SelectionArguments) -> Self {
        match arguments.group {
            Some(text) => Self::Group(text),
            None if arguments.all => Self::All,
            None => Self::Named(arguments.which),
        }
    }
}

#[derive(Subcommand)]
pub(crate) enum InvoiceCommand {
    /// Its whole story: each attempt, its time, reason and next step
    Show {
        /// The invoice's id
        id: Uuid,
    },
    /// Try it again, whether or not there is a dead letter of it
    Retry {
        /// The invoice's id
        id: Uuid,
        /// Mail to this address from now on; the invoice itself stays as it is
        #[arg(long, value_name = "ADDRESS")]
        set_email: Option<EmailAddress>,
    },
}

#[derive(Subcommand)]
pub(crate) enum SuppressionCommand {
    /// Why an address gets no mail
    Show {
        /// The address
        address: EmailAddress,
    },
    /// Allow mail to it again
    Remove {
        /// The address
        address: EmailAddress,
    },
}

#[derive(Subcommand)]
pub(crate) enum KeysCommand {
    /// Make a key; it is shown this once
    Create {
        /// What its bearer may do
        #[arg(long)]
        role: RoleArgument,
        /// On whose behalf: lower-case letters, digits and hyphens
        #[arg(long, value_name = "NAME")]
        owner: OwnerId,
        /// What people call it
        #[arg(long, value_name = "TEXT", value_parser = label)]
        label: Text<100>,
        /// For how long it is good, such as 90d; without it, until it is revoked
        #[arg(long, value_name = "TIME", value_parser = lifetime)]
        expires_in: Option<Duration>,
    },
    /// All keys, without their secrets
    List {
        /// Only this owner's
        #[arg(long, value_name = "NAME")]
        owner: Option<OwnerId>,
    },
    /// Call a key off
    Revoke {
        /// The key's id: the part between `pt_` and the next `_`
        id: ApiKeyId,
    },
}

/// What a key's bearer may do.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum RoleArgument {
    /// Their own parcels and invoices
    Merchant,
    /// The timeline of any parcel, and nothing else
    Driver,
    /// Everything
    Operator,
}

impl From<RoleArgument> for Role {
    fn from(role: RoleArgument) -> Self {
        match role {
            RoleArgument::Merchant => Self::Merchant,
            RoleArgument::Driver => Self::Driver,
            RoleArgument::Operator => Self::Operator,
        }
    }
}

fn label(text: &str) -> Result<Text<100>, InvalidText> {
    text.to_owned().try_into()
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(rate) if rate > 0.0 && f64::is_finite(rate) => Ok(rate),
        _ => Err("must be a number above zero".to_owned()),
    }
}
