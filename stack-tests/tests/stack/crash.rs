//! Workers that die, on a stack of their own, since others should not die with them.

use std::time::Duration;

use local_stack::{LocalStack, Options, Ports, ServerState};
use parceltrack::domain::InvoiceId;
use stack_tests::{PATIENCE, Stack, own_address};

#[tokio::test(flavor = "multi_thread")]
async fn an_invoice_whose_worker_was_killed_under_its_lease_is_mailed_by_the_next_delivery() {
    let directory = tempfile::tempdir().unwrap();
    let local = LocalStack::start(Options {
        root: std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned(),
        ports: Ports::free(),
        state_dir: directory.path().join("state"),
        fresh: true,
        parameters: [].into(),
        faults: None,
        progress: std::sync::Arc::new(|_| {}),
    })
    .await
    .unwrap();
    let stack = Stack::at(local.addresses().clone()).await;
    local.inbox().set_server_state(ServerState::Hanging).await.unwrap();

    let email = own_address("killed");
    let parcel = stack.create_parcel("Tan Wei Ming", &email).await;
    let id = stack.request_invoice(&parcel).await;
    let invoice_id = InvoiceId(id.parse().unwrap());
    // Its PDF is stored, so the worker is at the mail server, which hangs: it holds the lease.
    stack.invoice_once(&id, "Generated").await;
    let workers = local.addresses().function_processes("InvoiceWorkerFunctionName").unwrap();
    assert!(!workers.is_empty());
    local.addresses().kill(&workers);
    local.inbox().set_server_state(ServerState::Running).await.unwrap();
    let killed = stack.invoice(invoice_id).await;
    assert_eq!(killed.attempt_count, 0, "nobody was left to write down how it ended");

    let mail =
        local.inbox().wait_for_mail(|mail| mail.to.iter().any(|to| to.contains(&email)), PATIENCE).await.unwrap();
    assert!(mail.summary.message_id.starts_with(&id));
    stack.invoice_once(&id, "Sent").await;
    assert_eq!(stack.mails_to(&email).await, 1);
    let sent = stack.invoice(invoice_id).await;
    assert!(sent.updated_at.since(killed.updated_at) >= Duration::from_secs(30), "not before the lease was over");
    local.stop().await;
    assert!(!directory.path().join("state/emulator/tmp").exists(), "the functions' unpacked code is worth nothing now");
}
