//! Where runs of one scenario take place one after the other.

use std::sync::{Arc, Mutex};

use super::Run;
use parceltrack::domain::Role;

use crate::cast::Api;
use crate::gate::Gate;
use crate::ports::Ports;
use crate::scenario::Scenario;
use crate::schedule::Choice;
use crate::world::World;

/// Where runs of one scenario take place one after the other, with what is costly to build.
pub struct Stage {
    pub(super) scenario: Arc<Scenario>,
    pub(super) world: Arc<Mutex<World>>,
    pub(super) apis: Vec<Api>,
}

impl Stage {
    /// A stage for this scenario.
    #[must_use]
    pub fn new(scenario: Scenario) -> Self {
        let world = Arc::new(Mutex::new(World::new(&scenario.timing, scenario.mutation, false)));
        let ports = || Ports { gate: Gate::new(world.clone(), 0), release: 0, clients: Role::Merchant };
        let apis = scenario.requests.iter().map(|_| Api::new(ports())).collect();
        Self { apis, world: world.clone(), scenario: Arc::new(scenario) }
    }

    /// The beginning of the scenario. The history is kept only for those who will read it.
    #[must_use]
    pub fn begin(&self, with_history: bool) -> Run {
        Run::new(self, with_history)
    }

    /// The scenario up to the end of a schedule. What cannot be done there is left out.
    pub async fn replay(&self, schedule: &[Choice], with_history: bool) -> Run {
        let mut run = self.begin(with_history);
        for choice in schedule {
            if let Err(error) = run.apply(*choice).await {
                run.world().note(|_| error);
            }
        }
        run
    }
}
