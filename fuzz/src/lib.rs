//! The world that the fuzzed functions find: the one of `interleavings`, in memory, in which every call succeeds.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use interleavings::Timing;
use interleavings::cast;
use interleavings::gate::Gate;
use interleavings::ports::Ports;
use interleavings::world::{Inhabitant, World};
use lambda_runtime::Context;
use parceltrack::domain::{InvoiceId, ParcelId, Role, TrackingNumber};
use tokio::runtime::{Builder, Runtime};

/// The only process there is.
const PROCESS: usize = 0;

/// A world that begins anew for each input.
pub struct Fuzzed {
    ports: Ports,
    /// Where they run.
    pub runtime: Runtime,
    world: Arc<Mutex<World>>,
}

/// What is there from the start.
pub struct Known {
    pub parcel: ParcelId,
    pub tracking_number: TrackingNumber,
    pub invoice: InvoiceId,
}

impl Default for Fuzzed {
    fn default() -> Self {
        let world = Arc::new(Mutex::new(World::new(&Timing::default(), None, false)));
        let ports = Ports { gate: Gate::free(world.clone(), PROCESS), release: 0, clients: Role::Merchant };
        let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
        Self { ports, runtime, world }
    }
}

impl Fuzzed {
    /// What the functions have of it, for clients who may do so much.
    pub fn ports(&self, clients: Role) -> Ports {
        Ports { clients, ..self.ports.clone() }
    }

    /// Begins anew, with one parcel that has an invoice.
    pub fn begin(&self) -> Known {
        let mut world = World::new(&Timing::default(), None, false);
        let now = world.now;
        let limit = now + Duration::from_secs(3600);
        world.inhabitants.push(Inhabitant {
            name: "fuzzed".to_owned(),
            limit,
            alive: true,
            killed: false,
            memory: 0,
            messages: vec![],
            could_not_bury: false,
        });
        let parcel = cast::parcel(0, now);
        world.parcels.create(&parcel, None, now);
        let invoice = cast::invoice(&parcel, now, now);
        world.invoices.create(&invoice);
        world.witness.invoice_created(&invoice);
        *self.world.lock().expect("nobody panicked, or the fuzzer would have ended") = world;
        Known { parcel: parcel.id, tracking_number: parcel.tracking_number, invoice: invoice.content.id }
    }
}

/// An invocation with as much time as the worker has.
pub fn invocation() -> Context {
    let end = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970") + Duration::from_secs(10);
    let mut context = Context::default();
    context.request_id = "fuzzed".to_owned();
    context.deadline = end.as_millis().try_into().expect("a clock before the year 584,554,051");
    context
}
