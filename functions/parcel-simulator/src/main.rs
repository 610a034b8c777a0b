//! Reads settings, builds clients once, wires, runs.

use std::process::ExitCode;
use std::sync::Arc;

use lambda_runtime::LambdaEvent;
use parcel_simulator::Simulator;
use parceltrack::aws::{Clients, ParcelTable};
use parceltrack::clock::SystemClock;
use parceltrack::invocation::{Timeout, serve};
use parceltrack::settings::required;
use parceltrack::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    telemetry::init();
    telemetry::ended(run().await)
}

async fn run() -> Result<(), lambda_runtime::Error> {
    let timeout = Timeout::from_env("PARCEL_SIMULATOR_TIMEOUT_SECONDS")?;
    let table = required("PARCELS_TABLE")?;
    let clients = Clients::from_env();
    let parcels = Arc::new(ParcelTable::for_moving(clients.dynamodb(), table));
    let simulator =
        Arc::new(Simulator { read_parcels: parcels.clone(), record_events: parcels, clock: Arc::new(SystemClock) });
    serve(timeout, move |event: LambdaEvent<serde_json::Value>| {
        let simulator = simulator.clone();
        async move { simulator.run(event.context.deadline()).await.map_err(lambda_runtime::Error::from) }
    })
    .await
}
