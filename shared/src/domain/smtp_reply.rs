//! What may be said of a mail server's reply.

use std::fmt;

/// The codes of a mail server's reply (RFC 5321 section 4.2, RFC 3463). The server's words are left out: they may quote
/// addresses, names and what the mail says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmtpReply {
    code: Option<u16>,
    enhanced: Option<(u16, u16, u16)>,
}

impl SmtpReply {
    /// Of a reply with this code and these words.
    #[must_use]
    pub fn new(code: u16, words: &str) -> Self {
        Self { code: Some(code), enhanced: words.split_ascii_whitespace().next().and_then(enhanced) }
    }

    /// Reads what begins with the codes, with one of them or both, as in `smtp; 550 5.1.1 <tan@example.com>: unknown`.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim_start();
        let text = text.strip_prefix("smtp;").unwrap_or(text);
        let mut words = text.split(|character: char| character.is_ascii_whitespace() || character == '-');
        let mut word = words.find(|word| !word.is_empty())?;
        let code = word.parse().ok().filter(|code| word.len() == 3 && (200..600).contains(code));
        if code.is_some() {
            word = words.find(|word| !word.is_empty()).unwrap_or_default();
        }
        let enhanced = enhanced(word);
        (code.is_some() || enhanced.is_some()).then_some(Self { code, enhanced })
    }

    fn meaning(self) -> Option<&'static str> {
        Some(match (self.enhanced, self.code) {
            (Some((_, 1, 0 | 1 | 3)), _) => "no such mailbox",
            (Some((_, 1, 2)), _) => "no such mail domain",
            (Some((_, 1, 7 | 8)), _) => "the sender's address",
            (Some((_, 1, _)), _) => "the address",
            (Some((_, 2, 1)), _) => "the mailbox is disabled",
            (Some((_, 2, 2)), _) => "the mailbox is full",
            (Some((_, 2, 3) | (_, 3, 4)), _) => "the mail is too large",
            (Some((_, 2, _)), _) => "the mailbox",
            (Some((_, 3, _)), _) => "the mail system",
            (Some((_, 4, _)), _) => "network or routing",
            (Some((_, 5, _)), _) => "the protocol",
            (Some((_, 6, _)), _) => "the mail's content",
            (Some((_, 7, _)), _) => "policy or security",
            (_, Some(421)) => "the server closes",
            (_, Some(450 | 550)) => "the mailbox cannot be had",
            (_, Some(452 | 552)) => "no room",
            (_, Some(530 | 534 | 535 | 538)) => "the server wants another sign-in",
            (_, Some(553)) => "the address",
            _ => return None,
        })
    }
}

impl fmt::Display for SmtpReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(code) = self.code {
            write!(f, "{code}")?;
        }
        if let Some((class, subject, detail)) = self.enhanced {
            let space = if self.code.is_some() { " " } else { "" };
            write!(f, "{space}{class}.{subject}.{detail}")?;
        }
        self.meaning().map_or(Ok(()), |meaning| write!(f, " ({meaning})"))
    }
}

fn enhanced(word: &str) -> Option<(u16, u16, u16)> {
    let mut parts = word.split('.').map(|part| if part.len() <= 3 { part.parse::<u16>().ok() } else { None });
    let read = (parts.next()??, parts.next()??, parts.next()??);
    (matches!(read.0, 2 | 4 | 5) && parts.next().is_none()).then_some(read)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(text: &str) -> Option<String> {
        SmtpReply::read(text).map(|reply| reply.to_string())
    }

    #[test]
    fn codes_are_told_with_what_they_mean() {
        for (text, expected) in [
            ("smtp; 550 5.1.1 <tan@example.com>: user unknown", "550 5.1.1 (no such mailbox)"),
            ("smtp;550-5.2.2 full", "550 5.2.2 (the mailbox is full)"),
            ("5.7.26 unauthenticated", "5.7.26 (policy or security)"),
            ("550 Tan is not here", "550 (the mailbox cannot be had)"),
            ("354 go on", "354"),
        ] {
            assert_eq!(told(text).as_deref(), Some(expected), "{text}");
            assert_eq!(told(expected).as_deref(), Some(expected), "what we have told is read the same");
        }
        assert_eq!(SmtpReply::new(550, "5.1.1 <tan@example.com>: no").to_string(), "550 5.1.1 (no such mailbox)");
        assert_eq!(SmtpReply::new(451, "tan@example.com").to_string(), "451");
    }

    #[test]
    fn what_begins_with_no_code_tells_nothing() {
        for text in ["", "smtp;", "Tan Wei Ming", "9123 4567", "1.2.3.4", "3.1.1 x", "abuse"] {
            assert!(told(text).is_none(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_word_of_a_reply_is_repeated(code in 200_u16..600, word in "[a-z]{3,10}@[a-z]{3,10}") {
            for text in [format!("{code} {word}"), format!("smtp; {code} 5.1.1 <{word}> {word}"), word.clone()] {
                prop_assert!(told(&text).is_none_or(|told| !told.contains(&word)));
                prop_assert!(!SmtpReply::new(code, &text).to_string().contains(&word));
            }
        }
    }
}
