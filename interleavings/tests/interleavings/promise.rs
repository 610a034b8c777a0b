//! Each sentence of the promise, over every schedule of every scenario.

use interleavings::Invariant;

use crate::explored::assert_kept;

#[test]
fn a_parcel_has_one_invoice_and_one_number() {
    assert_kept(Invariant::OneInvoicePerParcel);
}

#[test]
fn an_unfinished_invoice_is_due_and_a_finished_one_is_not() {
    assert_kept(Invariant::UnfinishedIsDue);
}

#[test]
fn only_the_leases_holder_writes() {
    assert_kept(Invariant::OnlyTheHolderWrites);
}

#[test]
fn every_invoice_ends_sent_or_failed_with_a_reason() {
    assert_kept(Invariant::EndsSentOrFailed);
}

#[test]
fn an_invoice_is_mailed_once_and_once_more_at_most_for_each_death_or_lost_answer_between_accept_and_record() {
    assert_kept(Invariant::OneMail);
}

#[test]
fn a_number_never_has_another_pdf_after_a_mail() {
    assert_kept(Invariant::OnePdf);
}

#[test]
fn an_idempotency_key_never_yields_two_parcels() {
    assert_kept(Invariant::OneParcelPerKey);
}

#[test]
fn a_ticket_is_never_lost_without_its_invoice_being_due() {
    assert_kept(Invariant::NoTicketLost);
}

#[test]
fn what_the_api_accepted_is_there() {
    assert_kept(Invariant::AcceptedIsKept);
}

#[test]
fn a_ticket_that_returns_never_meets_the_lease_of_its_own_dead_worker() {
    assert_kept(Invariant::LeaseEndsBeforeReturn);
}

#[test]
fn a_dead_letter_opens_its_invoice_once_whoever_retries_it() {
    assert_kept(Invariant::OneTryPerLetter);
}

#[test]
fn a_suppressed_address_gets_no_further_mail() {
    assert_kept(Invariant::SuppressedGetsNoMail);
}

#[test]
fn an_invoice_whose_mail_came_back_is_mailed_again_only_to_another_address() {
    assert_kept(Invariant::BouncedGoesElsewhere);
}

#[test]
fn a_failed_invoice_and_one_that_came_back_are_among_the_dead_letters() {
    assert_kept(Invariant::TroubleHasALetter);
}

#[test]
fn no_worker_that_lives_buries_a_ticket_without_a_word() {
    assert_kept(Invariant::NothingBuriedSilently);
}
