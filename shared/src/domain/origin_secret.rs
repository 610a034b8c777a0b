//! The word by which the API knows what came by `CloudFront`.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};

/// How many secrets are good at once: the one that `CloudFront` sends, and its successor or predecessor.
const MAX_SECRETS: usize = 2;

/// The hashes (SHA-256) of the secrets that are good. The secrets themselves are long and drawn at random, so their
/// hashes tell nothing, and may stand among the settings.
#[derive(Clone, PartialEq, Eq)]
pub struct OriginSecretHashes(Vec<[u8; 32]>);

/// The text is not one or two hashes in hexadecimal digits, separated by a comma.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be one or two SHA-256 hashes in hexadecimal digits, separated by a comma")]
pub struct InvalidOriginSecretHashes;

impl OriginSecretHashes {
    /// Whether the secret is one of the good ones. The time that it takes does not tell how nearly.
    #[must_use]
    pub fn accept(&self, secret: &[u8]) -> bool {
        let hash = Sha256::digest(secret);
        self.0.iter().fold(Choice::from(0), |accepted, good| accepted | good.as_slice().ct_eq(&hash)).into()
    }
}

impl FromStr for OriginSecretHashes {
    type Err = InvalidOriginSecretHashes;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let hashes: Option<Vec<_>> = text.split(',').map(hash).collect();
        hashes.filter(|hashes| hashes.len() <= MAX_SECRETS).map(Self).ok_or(InvalidOriginSecretHashes)
    }
}

fn hash(text: &str) -> Option<[u8; 32]> {
    let mut hash = [0; 32];
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    if pairs.len() != hash.len() || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    for (byte, pair) in hash.iter_mut().zip(pairs) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(hash)
}

impl fmt::Debug for OriginSecretHashes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("OriginSecretHashes(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Of "first" and "second".
    const FIRST: &str = "a7937b64b8caa58f03721bb6bacf5c78cb235febe0e70b1b84cd99541461a08e";
    const SECOND: &str = "16367aacb67a4a017c8da8ab95682ccb390863780f7114dda0a0e0c55644c7c4";

    #[test]
    fn two_secrets_are_good_while_one_follows_the_other() {
        let both: OriginSecretHashes = format!("{FIRST},{SECOND}").parse().unwrap();
        let last: OriginSecretHashes = SECOND.parse().unwrap();
        assert!(both.accept(b"first") && both.accept(b"second") && !both.accept(b"third") && !both.accept(b""));
        assert!(last.accept(b"second") && !last.accept(b"first"));
    }

    #[test]
    fn what_is_no_hash_is_refused() {
        for text in
            ["", "first", &FIRST[1..], &format!("{FIRST},"), &format!("{FIRST},{FIRST},{FIRST}"), &"+1".repeat(32)]
        {
            assert_eq!(text.parse::<OriginSecretHashes>(), Err(InvalidOriginSecretHashes), "{text}");
        }
    }
}
