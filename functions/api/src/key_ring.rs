//! The keys that were asked for lately, so that a busy caller costs one read a minute.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use parceltrack::domain::{ApiKey, ApiKeyId, ApiKeyState, IssuedApiKey, SecretHash, Timestamp};
use parceltrack::ports::{PortError, ReadApiKeys};

use crate::caller::Caller;
use crate::problem::Problem;

/// How long a key is believed to be as it was read: a revoked key is refused after this long at the latest.
const BELIEVED_FOR: Duration = Duration::from_mins(1);

/// So many keys are remembered at most, good or not, so that a guesser cannot fill the memory.
const MOST: usize = 1000;

/// The keys of all callers, through a cache.
#[derive(Clone)]
pub struct KeyRing {
    keys: Arc<dyn ReadApiKeys>,
    read: Arc<Mutex<HashMap<ApiKeyId, Read>>>,
}

#[derive(Clone)]
struct Read {
    at: Timestamp,
    key: Option<IssuedApiKey>,
}

impl KeyRing {
    /// A ring that has read no key yet.
    pub fn new(keys: Arc<dyn ReadApiKeys>) -> Self {
        Self { keys, read: Arc::default() }
    }

    /// Who bears this key. An unknown key, a wrong secret, a revoked and an expired key are one answer, which takes the
    /// same calls and comparisons.
    pub(crate) async fn caller(&self, presented: ApiKey, now: Timestamp) -> Result<Caller, Problem> {
        let known = self.remembered(&presented.id, now);
        let fresh = known.is_none();
        let issued = match known {
            Some(read) => read.key,
            None => self.look_up(&presented.id, now).await?,
        };
        let expected = issued.as_ref().map_or_else(nobodys_hash, |issued| issued.secret_hash);
        let right_secret = expected == presented.secret_hash();
        let issued = issued
            .filter(|issued| right_secret && issued.state(now) == ApiKeyState::Active)
            .ok_or(Problem::Unauthorized)?;
        if fresh && issued.use_is_news(now) {
            // A note for people; the request does not depend on it.
            if let Err(error) = self.keys.note_use(&issued.id, now).await {
                tracing::warn!(event = "key_use_not_noted", %error);
            }
        }
        Ok(Caller { role: issued.role, owner: issued.owner })
    }

    fn remembered(&self, id: &ApiKeyId, now: Timestamp) -> Option<Read> {
        self.lock().get(id).filter(|read| now < read.at + BELIEVED_FOR).cloned()
    }

    async fn look_up(&self, id: &ApiKeyId, now: Timestamp) -> Result<Option<IssuedApiKey>, PortError> {
        let key = self.keys.api_key(id).await?;
        let mut read = self.lock();
        if read.len() >= MOST {
            read.retain(|_, read| now < read.at + BELIEVED_FOR);
        }
        if read.len() >= MOST {
            read.clear();
        }
        read.insert(id.clone(), Read { at: now, key: key.clone() });
        Ok(key)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ApiKeyId, Read>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Compared with where there is no key, so that its absence cannot be timed.
fn nobodys_hash() -> SecretHash {
    ApiKey::from_random(uuid::Uuid::nil(), [uuid::Uuid::nil(); 2]).secret_hash()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;
    use parceltrack::domain::{OwnerId, Role, Text};
    use uuid::Uuid;

    use super::*;

    #[derive(Default)]
    struct Table {
        keys: Mutex<HashMap<ApiKeyId, IssuedApiKey>>,
        reads: AtomicUsize,
        notes: AtomicUsize,
    }

    #[async_trait]
    impl ReadApiKeys for Table {
        async fn api_key(&self, id: &ApiKeyId) -> Result<Option<IssuedApiKey>, PortError> {
            self.reads.fetch_add(1, Ordering::SeqCst);
            Ok(self.keys.lock().unwrap().get(id).cloned())
        }

        async fn note_use(&self, id: &ApiKeyId, now: Timestamp) -> Result<(), PortError> {
            self.notes.fetch_add(1, Ordering::SeqCst);
            self.keys.lock().unwrap().get_mut(id).unwrap().last_used_at = Some(now);
            Ok(())
        }
    }

    const NOON: Timestamp = Timestamp::from_millis(1_790_000_000_000);

    fn random_key() -> ApiKey {
        ApiKey::from_random(Uuid::new_v4(), [Uuid::new_v4(), Uuid::new_v4()])
    }

    fn ring_with_a_key() -> (KeyRing, Arc<Table>, ApiKey) {
        let (table, key) = (Arc::new(Table::default()), random_key());
        let label = Text::try_from("Test".to_owned()).unwrap();
        let expires = NOON + Duration::from_hours(1);
        let issued = IssuedApiKey::issue(&key, Role::Merchant, OwnerId::house(), label, NOON, Some(expires));
        table.keys.lock().unwrap().insert(key.id.clone(), issued);
        (KeyRing::new(table.clone()), table, key)
    }

    #[tokio::test]
    async fn a_busy_key_is_read_once_a_minute_and_its_use_noted_once_in_five() {
        let (ring, table, key) = ring_with_a_key();
        for second in 0..600 {
            let caller = ring.caller(key.clone(), NOON + Duration::from_secs(second)).await.unwrap();
            assert_eq!((caller.role, caller.owner), (Role::Merchant, OwnerId::house()));
        }
        assert_eq!((table.reads.load(Ordering::SeqCst), table.notes.load(Ordering::SeqCst)), (10, 2));
    }

    #[tokio::test]
    async fn a_revoked_key_is_refused_within_a_minute() {
        let (ring, table, key) = ring_with_a_key();
        assert!(ring.caller(key.clone(), NOON).await.is_ok());
        table.keys.lock().unwrap().get_mut(&key.id).unwrap().revoked_at = Some(NOON);
        assert_eq!(ring.caller(key, NOON + BELIEVED_FOR).await.unwrap_err(), Problem::Unauthorized);
    }

    #[tokio::test]
    async fn unknown_wrong_and_expired_keys_get_one_answer_for_the_same_calls() {
        let (ring, table, key) = ring_with_a_key();
        let unknown = random_key();
        let wrong = ApiKey::from_random(Uuid::new_v4(), [Uuid::new_v4(), Uuid::new_v4()]).reveal();
        let wrong: ApiKey = format!("pt_{}{}", key.id, &wrong[19..]).parse().unwrap();
        for (key, at) in [(unknown, NOON), (wrong, NOON), (key, NOON + Duration::from_hours(1))] {
            let reads = table.reads.load(Ordering::SeqCst);
            assert_eq!(ring.caller(key, at).await.unwrap_err(), Problem::Unauthorized);
            assert_eq!(table.reads.load(Ordering::SeqCst), reads + 1);
        }
        assert_eq!(table.notes.load(Ordering::SeqCst), 0);
    }

    #[tokio::test]
    async fn a_guesser_does_not_fill_the_memory() {
        let (ring, ..) = ring_with_a_key();
        for _ in 0..MOST * 3 {
            assert!(ring.caller(random_key(), NOON).await.is_err());
        }
        assert!(ring.lock().len() <= MOST);
    }
}
