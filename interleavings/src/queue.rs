//! A standard SQS queue: at least once, in any order, hidden while somebody has it, and after too many receives among
//! the dead letters.

use std::time::Duration;

use parceltrack::domain::{LetterId, Timestamp};

/// A message on the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// What the answer to a batch calls it.
    pub id: String,
    /// As it was sent.
    pub body: String,
    /// The dead letter that it was, if somebody put it back.
    pub letter: Option<LetterId>,
    /// From when on it can be received.
    pub visible_at: Timestamp,
    /// How often it was received.
    pub receives: u32,
    /// The process that received it last, unless it gave it back since.
    pub holder: Option<usize>,
    /// The one that had it before, if it came back from there because its visibility was over.
    pub came_back_from: Option<usize>,
}

/// The queue of tickets.
#[derive(Debug)]
pub struct Queue {
    visibility: Duration,
    max_receives: u32,
    sent: u64,
    messages: Vec<Message>,
    /// Bodies of tickets that the queue itself gave up; what was a dead letter before is one again.
    pub given_up: Vec<String>,
}

impl Queue {
    /// An empty queue with these rules.
    #[must_use]
    pub fn new(visibility: Duration, max_receives: u32) -> Self {
        Self { visibility, max_receives, sent: 0, messages: vec![], given_up: vec![] }
    }

    /// What is on the queue, in the order of sending.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Puts a message on the queue.
    pub fn send(&mut self, body: String, now: Timestamp) {
        self.put(body, None, now);
    }

    /// Puts a dead letter on the queue.
    pub fn redrive(&mut self, body: String, letter: LetterId, now: Timestamp) {
        self.put(body, Some(letter), now);
    }

    fn put(&mut self, body: String, letter: Option<LetterId>, now: Timestamp) {
        self.sent += 1;
        let id = format!("message {}", self.sent);
        self.messages.push(Message {
            id,
            body,
            letter,
            visible_at: now,
            receives: 0,
            holder: None,
            came_back_from: None,
        });
    }

    /// Moves what was received too often to the dead letters, as the queue does when it would deliver it again.
    pub fn give_up(&mut self, now: Timestamp) -> Vec<Message> {
        let (gone, kept) = std::mem::take(&mut self.messages)
            .into_iter()
            .partition(|message| message.visible_at <= now && message.receives >= self.max_receives);
        self.messages = kept;
        let gone: Vec<Message> = gone;
        let mute = gone.iter().filter(|message| message.letter.is_none());
        self.given_up.extend(mute.map(|message| message.body.clone()));
        gone
    }

    /// Delivers up to `limit` visible messages to a process.
    pub fn receive(&mut self, process: usize, limit: usize, now: Timestamp) -> Vec<Message> {
        let visibility = self.visibility;
        let visible = self.messages.iter_mut().filter(|message| message.visible_at <= now);
        visible.take(limit).map(|message| deliver(message, process, message.holder, now + visibility)).collect()
    }

    /// Delivers the first message that another process has.
    pub fn receive_again(&mut self, process: usize, now: Timestamp) -> Vec<Message> {
        let (visibility, max) = (self.visibility, self.max_receives);
        let hidden = |message: &&mut Message| message.visible_at > now && message.receives < max;
        let hidden = self.messages.iter_mut().find(hidden);
        hidden.map(|message| deliver(message, process, None, now + visibility)).into_iter().collect()
    }

    /// Whether [`Queue::receive_again`] would deliver something.
    #[must_use]
    pub fn has_hidden(&self, now: Timestamp) -> bool {
        self.messages.iter().any(|message| message.visible_at > now && message.receives < self.max_receives)
    }

    /// Whether [`Queue::receive`] would deliver something.
    #[must_use]
    pub fn has_visible(&self, now: Timestamp) -> bool {
        self.messages.iter().any(|message| message.visible_at <= now)
    }

    /// Hides a message from now on for this long, in whole seconds.
    pub fn postpone(&mut self, id: &str, delay: Duration, now: Timestamp) {
        let seconds = Duration::from_secs(delay.as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX));
        if let Some(message) = self.messages.iter_mut().find(|message| message.id == id) {
            message.visible_at = now + seconds;
            message.holder = None;
        }
    }

    /// Takes an acknowledged message off the queue.
    pub fn delete(&mut self, id: &str) -> Option<Message> {
        let index = self.messages.iter().position(|message| message.id == id)?;
        Some(self.messages.remove(index))
    }
}

fn deliver(message: &mut Message, process: usize, from: Option<usize>, visible_at: Timestamp) -> Message {
    message.receives += 1;
    message.visible_at = visible_at;
    message.holder = Some(process);
    message.came_back_from = from;
    message.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_millis(0);

    #[test]
    fn a_message_is_hidden_while_somebody_has_it_comes_back_and_is_given_up_in_the_end() {
        let mut queue = Queue::new(Duration::from_mins(1), 2);
        queue.send("ticket".to_owned(), START);
        let mut now = START;
        for receives in 1..=2 {
            assert_eq!(queue.receive(0, 5, now)[0].receives, receives);
            assert!(queue.receive(1, 5, now).is_empty());
            now = now + Duration::from_mins(1);
            assert!(queue.has_visible(now));
        }
        assert_eq!(queue.give_up(now).len(), 1);
        assert_eq!((queue.messages().len(), queue.given_up.len()), (0, 1));
    }

    #[test]
    fn a_postponed_message_comes_back_when_it_was_told_to() {
        let mut queue = Queue::new(Duration::from_mins(1), 2);
        queue.send("ticket".to_owned(), START);
        let id = queue.receive(0, 5, START)[0].id.clone();
        queue.postpone(&id, Duration::from_millis(1100), START);
        assert!(!queue.has_visible(START + Duration::from_secs(1)));
        assert!(queue.has_visible(START + Duration::from_secs(2)));
    }
}
