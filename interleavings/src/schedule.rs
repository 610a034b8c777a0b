//! A schedule: who does what when, and which call goes wrong how. It is text, and the same text gives the same run.

use std::fmt;
use std::str::FromStr;

/// How one call of a port ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// It takes effect and the answer arrives.
    Succeeds,
    /// It fails before its effect.
    Fails,
    /// It takes effect and the answer is lost.
    AnswerLost,
    /// It takes effect, the answer is lost, and the SDK makes the same call again, which is still to come.
    Repeats,
    /// The process is killed before the effect.
    DiesBefore,
    /// The process is killed after the effect.
    DiesAfter,
    /// The mail provider asks to try later.
    PutOff,
    /// The mail provider refuses the address for good.
    Rejected,
    /// The caller's own time limit ends the call, which never takes effect.
    TimesOut,
}

impl Outcome {
    const ALL: [(Self, &'static str); 9] = [
        (Self::Succeeds, "ok"),
        (Self::Fails, "fails"),
        (Self::AnswerLost, "answer-lost"),
        (Self::Repeats, "repeats"),
        (Self::DiesBefore, "dies-before"),
        (Self::DiesAfter, "dies-after"),
        (Self::PutOff, "put-off"),
        (Self::Rejected, "rejected"),
        (Self::TimesOut, "times-out"),
    ];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(outcome, _)| *outcome == self).map_or("", |(_, name)| name)
    }
}

/// What the provider tells of a mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum News {
    /// It has the mail.
    Sent,
    /// It came back for good.
    Bounced,
    /// It came back, and might not another time.
    BouncedForNow,
    /// Its recipient called it spam.
    Complained,
}

impl News {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Sent, "event"),
        (Self::Bounced, "bounce"),
        (Self::BouncedForNow, "soft-bounce"),
        (Self::Complained, "complaint"),
    ];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(news, _)| *news == self).map_or("", |(_, name)| name)
    }

    /// Whether the mail came back. A mail does so once, for good or for now.
    #[must_use]
    pub fn is_bounce(self) -> bool {
        matches!(self, Self::Bounced | Self::BouncedForNow)
    }
}

/// What a person does about a dead letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Wish {
    /// `parcelctl` tries its invoice again.
    Retry,
    /// `parcelctl` tries it again, with another address.
    Readdress,
    /// The AWS console puts it back on the queue.
    Redrive,
}

impl Wish {
    const ALL: [(Self, &'static str); 3] =
        [(Self::Retry, "retry"), (Self::Readdress, "readdress"), (Self::Redrive, "redrive")];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(wish, _)| *wish == self).map_or("", |(_, name)| name)
    }
}

/// The next thing that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Choice {
    /// A client makes the scenario's request of this number.
    Request(usize),
    /// The queue delivers what is visible to a new invocation of this worker.
    Deliver {
        /// Which worker takes it, from 0.
        worker: usize,
    },
    /// The queue delivers a ticket that another worker has: standard queues deliver at least once.
    DeliverAgain {
        /// Which worker takes it, from 0.
        worker: usize,
    },
    /// The relay begins a run.
    Relay,
    /// The provider tells of a mail.
    Event {
        /// Which mail.
        mail: usize,
        /// What it tells.
        news: News,
    },
    /// A person does something about a dead letter.
    Person {
        /// Which letter.
        letter: usize,
        /// What.
        wish: Wish,
    },
    /// A waiting call of a process ends in this way.
    Call {
        /// Which process, counted from the start.
        process: usize,
        /// Which of its waiting calls.
        lane: usize,
        /// How.
        outcome: Outcome,
    },
    /// Time passes; who is at a call is frozen meanwhile.
    Seconds(u32),
}

impl fmt::Display for Choice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(index) => write!(formatter, "request{index}"),
            Self::Deliver { worker } => write!(formatter, "deliver{worker}"),
            Self::DeliverAgain { worker } => write!(formatter, "again{worker}"),
            Self::Event { mail, news } => write!(formatter, "{}{mail}", news.name()),
            Self::Person { letter, wish } => write!(formatter, "{}{letter}", wish.name()),
            Self::Relay => formatter.write_str("relay"),
            Self::Call { process, lane: 0, outcome } => write!(formatter, "{process}:{}", outcome.name()),
            Self::Call { process, lane, outcome } => write!(formatter, "{process}.{lane}:{}", outcome.name()),
            Self::Seconds(seconds) => write!(formatter, "+{seconds}s"),
        }
    }
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no choice");
        let number = |text: &str| text.parse().map_err(|_| wrong());
        if let Some((call, name)) = text.split_once(':') {
            let (process, lane) = call.split_once('.').unwrap_or((call, "0"));
            let (outcome, _) = *Outcome::ALL.iter().find(|(_, known)| *known == name).ok_or_else(wrong)?;
            return Ok(Self::Call { process: number(process)?, lane: number(lane)?, outcome });
        }
        if let Some(seconds) = text.strip_prefix('+').and_then(|text| text.strip_suffix('s')) {
            return Ok(Self::Seconds(seconds.parse().map_err(|_| wrong())?));
        }
        if let Some(index) = text.strip_prefix("request") {
            return Ok(Self::Request(number(index)?));
        }
        if let Some(worker) = text.strip_prefix("deliver") {
            return Ok(Self::Deliver { worker: number(worker)? });
        }
        if let Some(worker) = text.strip_prefix("again") {
            return Ok(Self::DeliverAgain { worker: number(worker)? });
        }
        for (news, name) in News::ALL {
            if let Some(mail) = text.strip_prefix(name) {
                return Ok(Self::Event { mail: number(mail)?, news });
            }
        }
        for (wish, name) in Wish::ALL {
            if let Some(letter) = text.strip_prefix(name) {
                return Ok(Self::Person { letter: number(letter)?, wish });
            }
        }
        if text == "relay" { Ok(Self::Relay) } else { Err(wrong()) }
    }
}

/// What happens, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule(pub Vec<Choice>);

impl Schedule {
    /// This schedule with one more choice.
    #[must_use]
    pub fn then(&self, choice: Choice) -> Self {
        Self(self.0.iter().copied().chain([choice]).collect())
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, choice) in self.0.iter().enumerate() {
            write!(formatter, "{}{choice}", if index == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}

impl FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split_whitespace().map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_is_text_and_comes_back_from_it() {
        let text = "request0 0:ok 0:dies-after deliver0 1.2:answer-lost again1 +45s event0 soft-bounce1 redrive0 relay 3:times-out";
        assert_eq!(text.parse::<Schedule>().unwrap().to_string(), text);
        assert!("0:explodes".parse::<Schedule>().is_err());
    }
}
