//! Everything outside the functions: tables, queue, bucket, provider, time; and who lives in it.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::time::Duration;

use parceltrack::domain::{EmailAddress, InvoiceId, LetterId, Mailing, Suppression, Ticket, Timestamp};
use uuid::Uuid;

use crate::gate::{Calls, Op, digest};
use crate::invariant::Invariant;
use crate::invoices::{InvoiceRow, Invoices};
use crate::mutation::Mutation;
use crate::parcels::Parcels;
use crate::queue::{Message, Queue};
use crate::schedule::Outcome;
use crate::timing::Timing;
use crate::witness::Witness;

/// A process as the world knows it.
#[derive(Clone, Debug)]
pub struct Inhabitant {
    /// What it is called in histories.
    pub name: String,
    /// Until when it may run.
    pub limit: Timestamp,
    /// Whether it still runs.
    pub alive: bool,
    /// Whether it was killed.
    pub killed: bool,
    /// What it knows: a number made of its task and of every answer it got.
    pub memory: u64,
    /// The tickets that it was given.
    pub messages: Vec<Message>,
    /// Whether a dead letter of its making got lost.
    pub could_not_bury: bool,
}

/// A message that a person must see.
#[derive(Clone, Debug)]
pub struct Letter {
    /// Its name.
    pub id: LetterId,
    /// The ticket, as it was sent.
    pub body: String,
    /// Why it is there.
    pub reason: String,
    /// Who put it there.
    pub by: usize,
    /// Whether it still is among the dead letters.
    pub is_there: bool,
}

/// What the API answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The id of what the answer is about.
    pub id: Option<Uuid>,
}

/// The world.
#[derive(Debug)]
pub struct World {
    /// The present moment.
    pub now: Timestamp,
    /// What is wrong with it, if anything.
    pub mutation: Option<Mutation>,
    /// The calls that wait for their outcome.
    pub calls: Calls,
    /// The tables of parcels.
    pub parcels: Parcels,
    /// The table of invoices.
    pub invoices: Invoices,
    /// The queue of tickets.
    pub queue: Queue,
    /// What was put aside for people, with the reason.
    pub dead_letters: Vec<Letter>,
    /// Who gets no mail any more, and how many processes had begun before that.
    pub suppressions: Vec<(Suppression, usize)>,
    /// The SHA-256 of each stored object.
    pub bucket: BTreeMap<String, String>,
    /// What was seen to happen.
    pub witness: Witness,
    /// The answers with which requests were content, by the request's number.
    answers: BTreeMap<usize, Answer>,
    /// Everybody who ever lived in it.
    pub inhabitants: Vec<Inhabitant>,
    history: Option<Vec<String>>,
    start: Timestamp,
}

impl World {
    /// An empty world at the beginning of its time.
    #[must_use]
    pub fn new(timing: &Timing, mutation: Option<Mutation>, with_history: bool) -> Self {
        // An hour before Singapore's new year, so that jumps in time cross it and numbers would change.
        let start = Timestamp::from_millis(1_767_196_800_000 - 3_600_000);
        Self {
            now: start,
            mutation,
            calls: Calls::default(),
            parcels: Parcels::default(),
            invoices: Invoices::new(mutation),
            queue: Queue::new(timing.visibility, timing.max_receives),
            dead_letters: vec![],
            suppressions: vec![],
            bucket: BTreeMap::new(),
            witness: Witness::default(),
            answers: BTreeMap::new(),
            inhabitants: vec![],
            history: with_history.then(Vec::new),
            start,
        }
    }

    /// Adds a line to the history, if there is one.
    pub fn note(&mut self, line: impl FnOnce(&Self) -> String) {
        if self.history.is_some() {
            let line = format!("{:>7.1} s  {}", self.now.since(self.start).as_secs_f64(), line(self));
            self.history.iter_mut().for_each(|history| history.push(line.clone()));
        }
    }

    /// What happened, line by line.
    #[must_use]
    pub fn history(&self) -> String {
        self.history.as_ref().map(|lines| lines.join("\n")).unwrap_or_default()
    }

    /// A process learned something.
    pub fn remember(&mut self, process: usize, (op, about, outcome, seen): (Op, u64, Outcome, u64)) {
        let inhabitant = &mut self.inhabitants[process];
        inhabitant.memory = digest((inhabitant.memory, op, about, outcome, seen));
    }

    /// A process ended, by itself or not.
    pub fn ended(&mut self, process: usize, killed: bool) {
        let time_was_up = self.inhabitants[process].limit.since(self.now) <= Duration::from_secs(1);
        self.inhabitants[process].alive = false;
        self.inhabitants[process].killed = killed;
        if killed || time_was_up {
            self.witness.lost(process);
        }
    }

    /// A request was answered.
    pub fn answered(&mut self, request: usize, answer: Answer) {
        self.note(|_| format!("request{request} is answered {}", answer.status));
        if matches!(answer.status, 201 | 202) {
            self.answers.insert(request, answer);
        }
    }

    /// What a request made, once the answer was yes.
    #[must_use]
    pub fn made_by(&self, request: usize) -> Option<Uuid> {
        self.answers.get(&request)?.id
    }

    /// The promises that the API made.
    pub fn promises(&self) -> impl Iterator<Item = (usize, &Answer)> {
        self.answers.iter().map(|(request, answer)| (*request, answer))
    }

    /// Puts a message among the dead letters.
    pub fn bury(&mut self, by: usize, body: &str, reason: &str) {
        let id = LetterId(format!("letter {}", self.dead_letters.len()));
        self.dead_letters.push(Letter { id, body: body.to_owned(), reason: reason.to_owned(), by, is_there: true });
    }

    /// Whether a person can do something about this letter. People are slower than who put it there, who first buries a
    /// letter and then writes its cause to the invoice.
    #[must_use]
    pub fn can_be_handled(&self, letter: usize) -> bool {
        let letter = self.dead_letters.get(letter);
        letter.is_some_and(|letter| letter.is_there && !self.inhabitants[letter.by].alive)
    }

    /// Puts a dead letter back on the queue.
    pub fn redrive(&mut self, letter: usize) {
        let letter = &mut self.dead_letters[letter];
        letter.is_there = false;
        self.queue.redrive(letter.body.clone(), letter.id.clone(), self.now);
    }

    /// Takes a letter off the dead letters, or puts it there again.
    pub fn move_letter(&mut self, id: &LetterId, is_there: bool) {
        self.dead_letters.iter_mut().filter(|letter| letter.id == *id).for_each(|letter| letter.is_there = is_there);
    }

    /// Whether a person finds this invoice among the dead letters.
    #[must_use]
    pub fn has_letter(&self, id: InvoiceId) -> bool {
        let body = Ticket { invoice_id: id }.to_body();
        self.dead_letters.iter().any(|letter| letter.is_there && letter.body == body)
            || self.queue.given_up.contains(&body)
    }

    /// Why this address gets no mail, and how many processes had begun before.
    #[must_use]
    pub fn suppression(&self, email: &EmailAddress) -> Option<&(Suppression, usize)> {
        self.suppressions.iter().find(|(suppression, _)| suppression.email.is_same_mailbox(email))
    }

    /// The how-manieth invoice a message is about.
    #[must_use]
    pub fn invoice_of(&self, message: &Message) -> Option<usize> {
        self.invoices.index(invoice_id(message)?)
    }

    /// Looks whether the invoice of a ticket that is gone will be looked at again.
    pub fn ticket_gone(&mut self, message: &Message) {
        let row = invoice_id(message).and_then(|id| self.invoices.row(id));
        if row.is_some_and(|row| !row.is_finished() && row.due.is_none()) {
            self.witness.object(Invariant::NoTicketLost, "a ticket is gone, and its invoice is not due");
        }
    }

    /// The queue gives up what it delivered too often.
    pub fn settle(&mut self) {
        for message in self.queue.give_up(self.now) {
            self.note(|_| format!("queue      {} is given up", message.id));
            if let Some(letter) = &message.letter {
                self.move_letter(letter, true);
            }
            self.ticket_gone(&message);
        }
    }

    /// Everything that what happens next depends on, as one number. Times count from now on, so that the same state a
    /// minute later is the same state.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.invoices.rows().iter().for_each(|row| self.hash_invoice(row, &mut hasher));
        hash_set(self.bucket.values(), &mut hasher);
        (self.parcels.rows().len(), self.parcels.keys()).hash(&mut hasher);
        self.answers.keys().for_each(|request| request.hash(&mut hasher));
        let messages = self.queue.messages().iter().map(|message| {
            let hidden = self.until(message.visible_at).max(0);
            let killed = message.holder.is_some_and(|process| self.inhabitants[process].killed);
            (self.invoice_of(message), &message.letter, hidden, message.receives, self.holder(message.holder), killed)
        });
        hash_set(messages, &mut hasher);
        // Of two letters the first is tried first; the order of tickets says nothing.
        let letters = self.queue.messages().iter().filter_map(|message| message.letter.as_ref());
        letters.collect::<Vec<_>>().hash(&mut hasher);
        let about = |letter: &Letter| {
            Ticket::parse(&letter.body).ok().and_then(|ticket| self.invoices.index(ticket.invoice_id))
        };
        self.dead_letters
            .iter()
            .for_each(|letter| (about(letter), letter.is_there, self.inhabitants[letter.by].alive).hash(&mut hasher));
        self.queue.given_up.len().hash(&mut hasher);
        let addresses = self.suppressions.iter().map(|(suppression, _)| suppression.email.as_str());
        addresses.collect::<Vec<_>>().hash(&mut hasher);
        let alive = (0..self.inhabitants.len()).filter(|process| self.inhabitants[*process].alive);
        let processes = alive.map(|process| {
            let inhabitant = &self.inhabitants[process];
            let calls = self.calls.of(process).into_iter().map(|call| {
                let times = call.times.iter().map(|time| self.until(*time));
                (call.op, call.about, times.collect::<Vec<_>>(), self.until(call.since))
            });
            let suppressions = self.suppressions.iter().filter(|(_, begun)| *begun <= process).count();
            let begun: Vec<usize> = self.witness.mails_of(process).collect();
            let knows = (suppressions, self.witness.bounces_known_to(process).count(), begun);
            (inhabitant.memory, knows, self.until(inhabitant.limit), calls.collect::<Vec<_>>())
        });
        hash_set(processes, &mut hasher);
        hasher.finish()
    }

    fn until(&self, time: Timestamp) -> i64 {
        time.millis() - self.now.millis()
    }

    /// Who has something: a number that is the same for all who are dead.
    fn holder(&self, process: Option<usize>) -> u64 {
        process.map(|process| &self.inhabitants[process]).filter(|one| one.alive).map_or(0, |one| one.memory)
    }

    fn hash_invoice(&self, row: &InvoiceRow, hasher: &mut DefaultHasher) {
        let lease = row.lease.map(|lease| {
            let process = self.witness.process_of(lease.holder);
            let killed = process.is_some_and(|process| self.inhabitants[process].killed);
            (self.until(lease.until).max(0), self.holder(process), killed)
        });
        // A lease that is over, and whose holder is no more, is none.
        let lease = lease.filter(|(left, holder, _)| *left > 0 || *holder > 0);
        let due = row.due.map(|due| self.until(due));
        let work = (row.status as u8, due, row.due_moves, row.parks, InvoiceRow::deaths(row.abandoned));
        (work, lease, row.pdf.as_ref().map(|pdf| &pdf.sha256)).hash(hasher);
        let mails: Vec<_> = self.witness.mails.iter().filter(|mail| mail.invoice == row.content.id).collect();
        mails.first().map(|mail| &mail.sha256).hash(hasher);
        mails.iter().any(|mail| mail.recorded).hash(hasher);
        let named = row.mailing.message_id.as_ref();
        let told = mails.iter().map(|mail| {
            let is_named = named.is_some_and(|named| named.0 == mail.message_id);
            (&mail.told, mail.came_back, is_named, mail.opening, mail.in_the_gap, mail.to.as_str())
        });
        told.collect::<Vec<_>>().hash(hasher);
        self.hash_mailing(row, hasher);
        let open = mails.iter().filter(|mail| !mail.recorded && !mail.in_the_gap);
        hash_set(open.map(|mail| self.holder(Some(mail.process))), hasher);
    }

    fn hash_mailing(&self, row: &InvoiceRow, hasher: &mut DefaultHasher) {
        let Mailing { corrections, report, retired, handled_letters, .. } = &row.mailing;
        let to = corrections.last().map(|correction| correction.email.as_str());
        let retired: Vec<_> = retired.iter().map(|message| &message.0).collect();
        (to, report.as_ref().map(|report| report.delivery as u8), retired, handled_letters).hash(hasher);
        let id = row.content.id;
        let openings = self.witness.openings.iter().filter(|(known, _)| *known == id).map(|(_, letter)| letter);
        openings.collect::<Vec<_>>().hash(hasher);
        let bounces = self.witness.bounces.iter().filter(|(known, _, _)| *known == id).map(|(_, to, _)| to.as_str());
        bounces.collect::<Vec<_>>().hash(hasher);
    }
}

fn hash_set<T: Hash + Ord>(items: impl Iterator<Item = T>, hasher: &mut DefaultHasher) {
    let mut items: Vec<T> = items.collect();
    items.sort_unstable();
    items.hash(hasher);
}

/// The invoice that a message asks for.
#[must_use]
pub fn invoice_id(message: &Message) -> Option<InvoiceId> {
    Ticket::parse(&message.body).ok().map(|ticket| ticket.invoice_id)
}
