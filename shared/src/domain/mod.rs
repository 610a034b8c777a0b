//! The words and rules of ParcelTrack, free of clocks, networks and AWS types.
//!
//! A value that exists is valid: text from outside is parsed once, at the edge, into these types.

mod api_key;
mod backoff;
mod domain_event;
mod email_address;
mod invoice;
mod lease;
mod link;
mod mail_rate;
mod mailing;
mod money;
mod origin_secret;
mod owner;
mod parcel;
mod proof;
mod provider;
mod request_id;
mod search;
mod smtp_reply;
mod tax;
mod text;
mod throughput;
mod ticket;
mod timestamp;
mod tracking_number;
mod unreadable;
mod webhook;

pub use api_key::{ApiKey, ApiKeyId, ApiKeyState, InvalidApiKey, IssuedApiKey, LAST_USE_PRECISION, Role, SecretHash};
pub use backoff::{FIRST_DUE, LastTicket, park_backoff, relay_backoff, relay_sends, retry_delay};
pub use domain_event::{
    DOMAIN_EVENT_VERSION, DomainEvent, DomainEventId, DomainEventType, Happening, InvoiceStory, Miscounted,
    ParcelStory, StoryLine, Subject, UnknownDomainEventType,
};
pub use email_address::{EmailAddress, InvalidEmailAddress};
pub use invoice::{
    Attempt, AttemptOutcome, Billing, InvalidLine, Invoice, InvoiceContent, InvoiceId, InvoiceNumber, InvoiceState,
    InvoiceStatus, Line, MAX_LINES, MAX_QUANTITY, ProviderMessageId, Seller, StoredPdf, TaxSummary, Totals,
};
pub use lease::{Lease, LeaseHolder};
pub use link::{InvalidLinkToken, LINK_LIFETIME, LinkSecret, LinkToken, STORE_LINK_LIFETIME};
pub use mail_rate::{InvalidMailRate, MailRate, WorkerPace};
pub use mailing::{
    AddressCorrection, AddressHash, Consequence, Delivery, DeliveryReport, LetterId, MAX_FORMER, MailNews, MailReport,
    Mailing, NewAddress, RESEND_PAUSE, Readdressed, Reopened, Reopening, Suppression, SuppressionCause, Wish,
};
pub use money::{Currency, InvalidMoney, Money, UnknownCurrency};
pub use origin_secret::{InvalidOriginSecretHashes, OriginSecretHashes};
pub use owner::{InvalidOwner, OwnerId};
pub use parcel::{
    EventReport, InvalidWeight, MAX_EVENTS, Parcel, ParcelId, ParcelStatus, ReportRefused, Reported, TrackingEvent,
    TrackingEventId, UnknownStatus, Weight,
};
pub use proof::{InvalidPhotoSize, PhotoSize, PhotoType, ProofOfDelivery, UPLOAD_LIFETIME, UnknownPhotoType};
pub use provider::{Provider, ProviderState};
pub use request_id::{InvalidRequestId, RequestId};
pub use search::{SearchPrefix, search_form};
pub use smtp_reply::SmtpReply;
pub use tax::{TaxCode, TaxRate, UnknownTaxCode};
pub(crate) use text::moves_text;
pub use text::{InvalidText, PostalCode, Text, foreign_words, is_invisible};
pub use throughput::{Slot, Slots};
pub use ticket::{InvalidTicket, Ticket};
pub use timestamp::Timestamp;
pub use tracking_number::{InvalidTrackingNumber, TrackingNumber};
pub use unreadable::UnreadableJson;
pub use webhook::{
    AddressRule, AttemptEnd, CONFIRMATION_LIFETIME, CONFIRMATION_PAUSE, CONFIRMATIONS_PER_ADDRESS, CallError,
    ConfirmationLink, ConfirmationTicket, Contact, ContactId, ContactToken, DeliveryId, DeliveryStep, DeliverySubject,
    EndpointHealth, EventMessage, InvalidAddressRule, InvalidDeliveryId, InvalidWebhookMessage, InvalidWebhookSecret,
    InvalidWebhookUrl, LONGEST_TICKET_DELAY, MAX_RESPONSE_START, MAX_SECRETS, MAX_WEBHOOKS, NOTICES_PER_ADDRESS,
    NOTICES_PER_OWNER, NOTICES_PER_WEBHOOK, NewWebhook, NoticeEnd, Occasion, PREVIOUS_SECRET_LIFETIME, PreviousSecret,
    ResendId, ResendWhich, ResendWish, SWITCH_OFF_AFTER, SecretRotation, SwitchOffReason, WEBHOOK_DELIVERY_LIFETIME,
    Webhook, WebhookAttempt, WebhookDelivery, WebhookDeliveryState, WebhookDeliveryStatus, WebhookEventType, WebhookId,
    WebhookKey, WebhookSecret, WebhookSecrets, WebhookState, WebhookTicket, WebhookUrl, endpoint_rest,
    is_globally_reachable, next_delivery_step, parse_event_message, webhook_retry_wait,
};
