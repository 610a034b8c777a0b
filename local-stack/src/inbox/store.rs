//! The mails themselves: one file each, so that they survive a restart.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};
use mail_parser::{Address, Message, MessageParser};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::sync::watch;

/// One line of the list of mails.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MailSummary {
    /// Number of the mail in this inbox, rising in the order of arrival.
    pub id: u64,
    /// Sender, as `Name <address>`.
    pub from: String,
    /// Recipients, as `Name <address>`.
    pub to: Vec<String>,
    /// Subject, decoded.
    pub subject: String,
    /// The mail's own date, RFC 3339; empty if it has none.
    pub date: String,
    /// When the inbox took it, RFC 3339.
    pub received: String,
    /// `Message-ID` without its angle brackets; empty if it has none.
    pub message_id: String,
}

/// One header line, undecoded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Name as sent.
    pub name: String,
    /// Value as sent, unfolded.
    pub value: String,
}

/// A whole mail.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mail {
    /// What the list shows of it.
    #[serde(flatten)]
    pub summary: MailSummary,
    /// The text part; empty if there is none.
    pub text: String,
    /// The HTML part; empty if there is none.
    pub html: String,
    /// All headers in their order.
    pub headers: Vec<Header>,
    /// The mail as it came over the wire (bytes that are not UTF-8 replaced).
    pub raw: String,
}

pub(super) struct Store {
    directory: PathBuf,
    mails: Mutex<Mails>,
    changes: watch::Sender<u64>,
}

struct Mails {
    next_id: u64,
    stored: Vec<Stored>,
}

struct Stored {
    summary: MailSummary,
    raw: Arc<[u8]>,
}

impl Store {
    pub(super) fn open(directory: &Path) -> Result<Self> {
        fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
        let mut stored = Vec::new();
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            let Some(id) = mail_number(&path) else {
                continue;
            };
            let raw = fs::read(&path)?;
            let received = fs::metadata(&path)?.modified()?;
            stored.push(Stored { summary: summary(id, received.into(), &raw), raw: raw.into() });
        }
        stored.sort_by_key(|mail| mail.summary.id);
        let next_id = stored.last().map_or(1, |mail| mail.summary.id + 1);
        Ok(Self {
            directory: directory.to_owned(),
            mails: Mutex::new(Mails { next_id, stored }),
            changes: watch::Sender::new(0),
        })
    }

    /// Keeps a mail; it is on disk when this returns.
    pub(super) fn add(&self, raw: Vec<u8>) -> Result<u64> {
        let mut mails = self.lock();
        let id = mails.next_id;
        // Written beside and renamed, so that a restart never reads half a mail.
        let unfinished = self.directory.join(format!("{id:08}.part"));
        fs::write(&unfinished, &raw)?;
        fs::rename(&unfinished, self.directory.join(format!("{id:08}.eml")))?;
        mails.next_id += 1;
        mails.stored.push(Stored { summary: summary(id, OffsetDateTime::now_utc(), &raw), raw: raw.into() });
        drop(mails);
        self.note_change();
        Ok(id)
    }

    /// All mails, newest first.
    pub(super) fn summaries(&self) -> Vec<MailSummary> {
        let mails = self.lock();
        mails.stored.iter().rev().map(|mail| mail.summary.clone()).collect()
    }

    pub(super) fn mail(&self, id: u64) -> Option<Mail> {
        let mails = self.lock();
        let stored = mails.stored.iter().find(|mail| mail.summary.id == id)?;
        Some(whole(stored.summary.clone(), &stored.raw))
    }

    pub(super) fn raw(&self, id: u64) -> Option<Arc<[u8]>> {
        let mails = self.lock();
        let stored = mails.stored.iter().find(|mail| mail.summary.id == id)?;
        Some(Arc::clone(&stored.raw))
    }

    pub(super) fn clear(&self) -> Result<()> {
        let mut mails = self.lock();
        while let Some(mail) = mails.stored.last() {
            fs::remove_file(self.directory.join(format!("{:08}.eml", mail.summary.id)))?;
            mails.stored.pop();
        }
        drop(mails);
        self.note_change();
        Ok(())
    }

    /// A counter that rises with every change of the mails or of the server's state.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(super) fn note_change(&self) {
        self.changes.send_modify(|version| *version += 1);
    }

    fn lock(&self) -> MutexGuard<'_, Mails> {
        self.mails.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn mail_number(path: &Path) -> Option<u64> {
    if path.extension()? != "eml" {
        return None;
    }
    path.file_stem()?.to_str()?.parse().ok()
}

fn summary(id: u64, received: OffsetDateTime, raw: &[u8]) -> MailSummary {
    let received = received.format(&Rfc3339).unwrap_or_default();
    let Some(message) = MessageParser::new().parse(raw) else {
        return MailSummary { id, received, subject: "(cannot be read)".to_owned(), ..MailSummary::default() };
    };
    MailSummary {
        id,
        received,
        from: addresses(message.from()).join(", "),
        to: addresses(message.to()),
        subject: message.subject().unwrap_or_default().to_owned(),
        date: message.date().map(mail_parser::DateTime::to_rfc3339).unwrap_or_default(),
        message_id: message.message_id().unwrap_or_default().to_owned(),
    }
}

fn addresses(field: Option<&Address<'_>>) -> Vec<String> {
    let Some(field) = field else {
        return Vec::new();
    };
    field
        .iter()
        .map(|entry| match (entry.name(), entry.address()) {
            (Some(name), Some(address)) => format!("{name} <{address}>"),
            (name, address) => address.or(name).unwrap_or_default().to_owned(),
        })
        .collect()
}

fn whole(summary: MailSummary, raw: &[u8]) -> Mail {
    let lossy = String::from_utf8_lossy(raw).into_owned();
    let Some(message) = MessageParser::new().parse(raw) else {
        return Mail { summary, raw: lossy, ..Mail::default() };
    };
    Mail {
        summary,
        text: text_part(&message),
        html: html_part(&message),
        headers: message
            .headers_raw()
            .map(|(name, value)| Header {
                name: name.to_owned(),
                value: value.split_ascii_whitespace().collect::<Vec<_>>().join(" "),
            })
            .collect(),
        raw: lossy,
    }
}

// The parser's own `body_text` turns HTML into text where the text part is missing, which would hide
// that it is.
fn text_part(message: &Message<'_>) -> String {
    message
        .text_bodies()
        .find(|part| part.is_text() && !part.is_text_html())
        .and_then(|part| part.text_contents())
        .unwrap_or_default()
        .to_owned()
}

fn html_part(message: &Message<'_>) -> String {
    message
        .html_bodies()
        .find(|part| part.is_text_html())
        .and_then(|part| part.text_contents())
        .unwrap_or_default()
        .to_owned()
}
