//! The checker can fail: each world that is broken on purpose is found out.

use std::time::Duration;

use interleavings::explore::{exhaustively, history, until_broken};
use interleavings::{Budget, Invariant, Mutation, Scenario, Timing};

/// The exploration finds a schedule that breaks this, and the schedule breaks it again when it is replayed.
fn assert_noticed(scenario: Scenario, invariant: Invariant) {
    let explored = until_broken(scenario.clone(), invariant);
    let Some((schedule, violation)) = explored.broken.get(&invariant) else { panic!("not noticed: {explored}") };
    let history = history(scenario, schedule, Some(invariant));
    assert!(history.contains(&format!("{invariant:?}: {}", violation.seen)), "{schedule}\n{history}");
}

/// Workers that Lambda lets run longer than their lease holds.
fn workers_outlive_their_lease() -> Scenario {
    let mut scenario = Scenario::two_workers();
    scenario.timing.worker_limit = Duration::from_secs(200);
    scenario.releases_differ = false;
    scenario.budget = Budget { faults: 0, relays: 0, deliveries: 2, ..scenario.budget };
    scenario
}

#[test]
fn a_lease_longer_than_the_visibility() {
    let timing = Timing { lease: Duration::from_secs(90), ..Timing::receives(2) };
    assert_noticed(Scenario { timing, ..Scenario::two_workers() }, Invariant::LeaseEndsBeforeReturn);
}

#[test]
fn a_worker_that_outlives_its_lease() {
    assert_noticed(workers_outlive_their_lease(), Invariant::OneMail);
}

#[test]
fn a_lease_longer_than_the_visibility_and_a_worker_that_outlives_both() {
    let mut scenario = workers_outlive_their_lease();
    scenario.timing.lease = Duration::from_secs(90);
    assert_noticed(scenario, Invariant::OneMail);
}

#[test]
fn a_worker_of_an_old_release_that_outlives_its_lease() {
    assert_noticed(Scenario { releases_differ: true, ..workers_outlive_their_lease() }, Invariant::OnePdf);
}

#[test]
fn no_due_time_at_creation() {
    let scenario = || Scenario::request_and_worker().broken_by(Mutation::CreationWithoutDue);
    assert_noticed(scenario(), Invariant::UnfinishedIsDue);
    assert_noticed(scenario(), Invariant::EndsSentOrFailed);
}

#[test]
fn no_due_time_after_parking() {
    let scenario = || Scenario::three_faults().broken_by(Mutation::ParkingRemovesDue);
    assert_noticed(scenario(), Invariant::UnfinishedIsDue);
    assert_noticed(scenario(), Invariant::NoTicketLost);
    assert_noticed(scenario(), Invariant::EndsSentOrFailed);
}

#[test]
fn a_due_time_that_stays_after_sent() {
    assert_noticed(Scenario::two_workers().broken_by(Mutation::SentKeepsDue), Invariant::UnfinishedIsDue);
}

/// Where the provider and the table answer at once, the question right before the mail is all that stops a worker whose lease is
/// over.
#[test]
fn no_question_right_before_the_mail() {
    let scenario = Scenario { quick_sending: true, ..workers_outlive_their_lease() };
    let explored = exhaustively(scenario.clone());
    assert!(!explored.broken.contains_key(&Invariant::OneMail), "{explored}");
    assert_noticed(scenario.broken_by(Mutation::RecheckSkipped), Invariant::OneMail);
}

#[test]
fn a_claim_without_condition() {
    assert_noticed(Scenario::two_workers().broken_by(Mutation::ClaimWithoutCondition), Invariant::OneMail);
}

#[test]
fn a_record_of_the_pdf_without_condition() {
    let scenario = workers_outlive_their_lease().broken_by(Mutation::GeneratedWithoutCondition);
    assert_noticed(scenario, Invariant::OnlyTheHolderWrites);
}

#[test]
fn a_sent_that_is_not_recorded() {
    assert_noticed(Scenario::two_workers().broken_by(Mutation::SentNotRecorded), Invariant::OneMail);
}

#[test]
fn a_providers_word_that_leaves_the_lease_alive() {
    assert_noticed(Scenario::provider_tells().broken_by(Mutation::EventKeepsLease), Invariant::OneMail);
}

#[test]
fn an_invoice_that_is_created_over_another() {
    let scenario = Scenario::two_requests().broken_by(Mutation::CreationWithoutCondition);
    assert_noticed(scenario, Invariant::OneInvoicePerParcel);
}

#[test]
fn an_invoice_that_is_accepted_and_forgotten() {
    assert_noticed(Scenario::two_requests().broken_by(Mutation::CreationForgotten), Invariant::AcceptedIsKept);
}

#[test]
fn a_keys_record_outside_the_transaction() {
    assert_noticed(Scenario::one_key().broken_by(Mutation::KeyRecordApart), Invariant::OneParcelPerKey);
}

#[test]
fn a_worker_that_is_told_another_number_of_receives_than_the_queue() {
    let timing = Timing { max_receives_told: 5, ..Timing::receives(2) };
    assert_noticed(Scenario { timing, ..Scenario::two_workers() }, Invariant::NothingBuriedSilently);
}

#[test]
fn a_reopening_that_ignores_the_letters_that_were_handled() {
    let scenario = Scenario::one_letter_twice().broken_by(Mutation::ReopeningIgnoresLetters);
    assert_noticed(scenario, Invariant::OneTryPerLetter);
}

#[test]
fn a_reopening_that_ignores_bounces() {
    let scenario = Scenario::sent_after_all().broken_by(Mutation::ReopeningIgnoresBounces);
    assert_noticed(scenario, Invariant::BouncedGoesElsewhere);
}

#[test]
fn a_reopening_that_is_not_made() {
    let scenario = Scenario::one_letter_twice().broken_by(Mutation::ReopeningForgotten);
    assert_noticed(scenario, Invariant::TroubleHasALetter);
}

#[test]
fn a_worker_that_hears_of_no_suppression() {
    let scenario = Scenario::bounce_in_the_gap().broken_by(Mutation::SuppressionsIgnored);
    assert_noticed(scenario, Invariant::SuppressedGetsNoMail);
}
