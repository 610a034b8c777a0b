//! The simulator, deployed and in this process.

use std::sync::Arc;
use std::time::Duration;

use parcel_simulator::Simulator;
use parceltrack::domain::{ParcelId, ParcelStatus, TrackingEvent, TrackingEventId};
use parceltrack::ports::{
    Clock as _, CreateParcels as _, EventRecording, ReadParcels as _, RecordEvents as _, SeenParcel,
};
use serde_json::Value;
use stack_tests::{MovedClock, PATIENCE, Stack, own_address, parcel};
use uuid::Uuid;

#[tokio::test]
async fn the_deployed_simulator_brings_a_parcel_to_its_end() {
    let stack = Stack::running().await;
    let parcel = stack.create_parcel("Tan Wei Ming", &own_address("moving")).await;
    let path = format!("/api/parcels/{}", parcel["id"].as_str().unwrap());
    let delivered = async {
        loop {
            let read: Value = stack.get(&path).send().await.unwrap().json().await.unwrap();
            if read["status"] == "Delivered" {
                return read;
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    };
    let read = tokio::time::timeout(PATIENCE * 2, delivered).await.expect("never delivered");
    let steps: Vec<_> =
        read["events"].as_array().unwrap().iter().map(|event| event["status"].as_str().unwrap()).collect();
    assert_eq!(steps, ["Created", "InTransit", "OutForDelivery", "Delivered"]);
}

#[tokio::test]
async fn a_parcel_rests_before_it_moves_and_never_leaves_a_final_status() {
    let stack = Stack::running().await;
    let clock = Arc::new(MovedClock::default());
    let table = Arc::new(stack.parcels());
    let simulator = Simulator { read_parcels: table.clone(), record_events: table.clone(), clock: clock.clone() };
    // Created in the future, so that the deployed simulator, whose clock is not moved, sees no rested parcel in it.
    clock.forward(Duration::from_hours(1));
    let parcel = parcel(&own_address("rest"), clock.now());
    table.create(&parcel, None, clock.now()).await.unwrap();
    simulator.round().await.unwrap();
    let status = async |id: ParcelId| table.parcel(id).await.unwrap().unwrap().status;
    assert_eq!(status(parcel.id).await, ParcelStatus::Created, "it rests first");
    for expected in
        [ParcelStatus::InTransit, ParcelStatus::OutForDelivery, ParcelStatus::Delivered, ParcelStatus::Delivered]
    {
        clock.forward(Duration::from_secs(10));
        simulator.round().await.unwrap();
        assert_eq!(status(parcel.id).await, expected);
    }
}

#[tokio::test]
async fn two_movers_at_once_move_a_parcel_once() {
    let stack = Stack::running().await;
    let table = stack.parcels();
    let clock = MovedClock::default();
    clock.forward(Duration::from_hours(1));
    let parcel = parcel(&own_address("once"), clock.now());
    table.create(&parcel, None, clock.now()).await.unwrap();
    let seen = SeenParcel::from(&parcel);
    let events: Vec<_> = (0..10)
        .map(|_| TrackingEvent::now(TrackingEventId(Uuid::new_v4()), ParcelStatus::InTransit, clock.now()))
        .collect();
    let recordings = futures::future::join_all(events.iter().map(|event| table.record(&seen, event, None))).await;
    assert_eq!(recordings.into_iter().filter(|one| one == &Ok(EventRecording::Recorded)).count(), 1);
    let read = table.parcel(parcel.id).await.unwrap().unwrap();
    assert_eq!((read.status, read.events.len()), (ParcelStatus::InTransit, 2));
    assert!(events.contains(&read.events[1]));
}
