//! The template's alarms during the drill: who is on call hears of the outage before a customer calls, and hears when
//! it is over.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use local_stack::{AlarmState, StackAddresses};

use super::figure;

/// The alarm that must ring in every outage: an invoice is not out, wherever its ticket is.
const OLDEST_INVOICE: &str = "OldestUnfinishedInvoiceAlarm";
/// The relay tells the age once a minute, and the alarm looks a few seconds later.
const STATE_WITHIN: Duration = Duration::from_mins(2);
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// Parameters of a stack whose alarms ring while one waits, instead of after a quarter of an hour.
pub(super) fn impatient() -> BTreeMap<String, String> {
    [("LateAfterSeconds", "5"), ("LatePeriodSeconds", "10"), ("LatePeriods", "1")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

/// Tells of every change of an alarm's state.
pub(super) struct Alarms<'a> {
    stack: &'a StackAddresses,
    begin: Instant,
    states: BTreeMap<String, AlarmState>,
}

impl<'a> Alarms<'a> {
    pub(super) async fn watch(stack: &'a StackAddresses) -> Result<Self> {
        let mut alarms = Self { stack, begin: Instant::now(), states: BTreeMap::new() };
        alarms.states = alarms.now().await?;
        Ok(alarms)
    }

    /// Waits until the alarm of the oldest unfinished invoice is in this state.
    pub(super) async fn wait_for(&mut self, wanted: AlarmState) -> Result<()> {
        let end = Instant::now() + STATE_WITHIN;
        loop {
            self.look().await?;
            let state = self.states.iter().find(|(name, _)| name.contains(OLDEST_INVOICE)).map(|(_, state)| *state);
            if state == Some(wanted) {
                return Ok(());
            }
            let state = state.map_or("not there".to_owned(), |state| state.to_string());
            ensure!(
                Instant::now() < end,
                "{OLDEST_INVOICE} is {state} after {} s, and should be {wanted}",
                STATE_WITHIN.as_secs()
            );
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    async fn look(&mut self) -> Result<()> {
        let now = self.now().await?;
        for (name, state) in &now {
            let before = self.states.get(name).copied().unwrap_or(AlarmState::InsufficientData);
            // That a measure is there at last, and is as it should be, is no news.
            if before != *state && (before, *state) != (AlarmState::InsufficientData, AlarmState::Ok) {
                let at = self.begin.elapsed().as_secs_f32();
                figure(&format!("{at:>5.1} s  {}", in_template(name)), &format!("{before} → {state}"));
            }
        }
        self.states = now;
        Ok(())
    }

    async fn now(&self) -> Result<BTreeMap<String, AlarmState>> {
        Ok(self.stack.alarms().await?.into_iter().map(|alarm| (alarm.name, alarm.state)).collect())
    }
}

/// The alarm's name in template.yaml; CloudFormation writes the stack's before it and letters of its own behind.
fn in_template(name: &str) -> &str {
    name.split('-').find(|part| part.ends_with("Alarm")).unwrap_or(name)
}
