//! The numbers on which the promise rests stand once, in template.yaml. Here their order is checked.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use invoice_worker::MAIL_TIMEOUT;
use serde_yaml_ng::Value;

fn template() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../template.yaml");
    serde_yaml_ng::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn timing(template: &Value, name: &str) -> u64 {
    template["Mappings"]["Timing"]["InvoiceWorker"][name].as_u64().unwrap_or_else(|| panic!("{name}"))
}

/// A property of a resource without its CloudFormation tag.
fn property<'a>(template: &'a Value, resource: &str, path: &[&str]) -> &'a Value {
    let mut value = &template["Resources"][resource]["Properties"];
    for name in path {
        value = &value[*name];
    }
    match value {
        Value::Tagged(tagged) => &tagged.value,
        value => value,
    }
}

#[test]
fn a_worker_is_dead_before_its_lease_ends_and_the_lease_ends_before_the_ticket_returns() {
    let template = template();
    let [timeout, lease, visibility] =
        ["TimeoutSeconds", "LeaseSeconds", "VisibilitySeconds"].map(|name| timing(&template, name));
    assert!(timeout < lease, "{timeout} < {lease}");
    assert!(lease < visibility, "{lease} < {visibility}");
    // https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
    assert!(visibility >= 6 * timeout, "{visibility} >= 6 × {timeout}");
    assert!(MAIL_TIMEOUT < Duration::from_secs(timeout));
}

#[test]
fn the_functions_and_the_queue_take_these_numbers_and_no_others() {
    let template = template();
    let mapped = |value: &Value, name: &str| {
        let words: Vec<_> = value.as_sequence().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect();
        assert_eq!(words, ["Timing", "InvoiceWorker", name]);
    };
    mapped(property(&template, "InvoiceWorkerFunction", &["Timeout"]), "TimeoutSeconds");
    mapped(
        property(&template, "InvoiceWorkerFunction", &["Environment", "Variables", "LEASE_SECONDS"]),
        "LeaseSeconds",
    );
    mapped(
        property(&template, "InvoiceWorkerFunction", &["Environment", "Variables", "VISIBILITY_SECONDS"]),
        "VisibilitySeconds",
    );
    mapped(property(&template, "TicketsQueue", &["VisibilityTimeout"]), "VisibilitySeconds");
}

#[test]
fn dead_letters_outlive_tickets_and_one_bad_ticket_does_not_bring_back_its_batch() {
    let template = template();
    let retention = |queue| property(&template, queue, &["MessageRetentionPeriod"]).as_u64().unwrap();
    assert!(retention("DeadLetterQueue") > retention("TicketsQueue"));
    let event = property(&template, "InvoiceWorkerFunction", &["Events", "Tickets", "Properties"]);
    assert_eq!(event["FunctionResponseTypes"][0], "ReportBatchItemFailures");
    assert_eq!(template["Parameters"]["MaxReceiveCount"]["Default"], 5);
}

#[test]
fn every_write_of_the_api_has_a_route_with_a_limit_below_the_general_one() {
    let template = template();
    let settings = property(&template, "HttpApi", &["RouteSettings"]).as_mapping().unwrap();
    let limited: BTreeSet<&str> = settings.keys().map(|route| route.as_str().unwrap()).collect();
    let events = property(&template, "ApiFunction", &["Events"]).as_mapping().unwrap();
    let routes: BTreeSet<String> = events
        .values()
        .map(|event| &event["Properties"])
        .filter_map(|event| Some(format!("{} {}", event["Method"].as_str()?, event["Path"].as_str()?)))
        .collect();
    assert_eq!(limited, routes.iter().map(String::as_str).collect());
    assert!(limited.contains("POST /api/parcels"));
    for (environment, limits) in template["Mappings"]["Throttling"].as_mapping().unwrap() {
        let limit = |name: &str| limits[name].as_u64().unwrap();
        assert!(limit("WriteRate") <= limit("Rate") && limit("WriteBurst") <= limit("Burst"), "{environment:?}");
        assert!(limit("Rate") <= limit("Burst") && limit("WriteRate") <= limit("WriteBurst"), "{environment:?}");
    }
}
