//! Tests against a running local stack: the real template on the emulator, real Lambda processes, a real mail server.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on panics")]

mod access;
mod bad_input;
mod claims;
mod contract;
mod crash;
mod cursors;
mod deployed;
mod domain_events;
mod edge;
mod event_retries;
mod event_schemas;
mod events;
mod failed_invoices;
mod hanging;
mod invoices;
mod links;
mod logs;
mod mail_events;
mod parcels;
mod proof;
mod queue;
mod queue_refusal;
mod redrive;
mod relay;
mod resend;
mod search;
mod secret;
mod ses;
mod simulator;
mod spoilt;
mod template;
mod timeline;
mod tracking;
mod webhooks;
mod worker;
