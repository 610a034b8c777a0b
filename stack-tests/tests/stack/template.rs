//! The numbers on which the promise rests stand once, in template.yaml. Here their order is checked.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use aws_config::Region;
use aws_sdk_sqs::config::Credentials;
use invoice_worker::MAIL_TIMEOUT;
use parceltrack::aws::{ATTEMPT_TIMEOUT, CONNECT_TIMEOUT, Clients, OPERATION_TIMEOUT};
use serde_yaml_ng::Value;

pub(crate) fn template() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../template.yaml");
    serde_yaml_ng::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// After how long Lambda kills this function.
pub(crate) fn function_timeout(template: &Value, function: &str) -> Duration {
    Duration::from_secs(timing(template, short_name(function), "TimeoutSeconds"))
}

/// What a function of the template is called in `Mappings`.
fn short_name(function: &str) -> &str {
    function.strip_suffix("Function").unwrap()
}

fn timing(template: &Value, function: &str, name: &str) -> u64 {
    template["Mappings"]["Timing"][function][name].as_u64().unwrap_or_else(|| panic!("{function} has no {name}"))
}

/// The functions by their names in the template.
fn functions(template: &Value) -> Vec<&str> {
    let resources = template["Resources"].as_mapping().unwrap().iter();
    let functions = resources.filter(|(_, resource)| resource["Type"] == "AWS::Serverless::Function");
    functions.map(|(name, _)| name.as_str().unwrap()).collect()
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
        ["TimeoutSeconds", "LeaseSeconds", "VisibilitySeconds"].map(|name| timing(&template, "InvoiceWorker", name));
    assert!(timeout < lease, "{timeout} < {lease}");
    assert!(lease < visibility, "{lease} < {visibility}");
    // https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
    assert!(visibility >= 6 * timeout, "{visibility} >= 6 × {timeout}");
    assert!(MAIL_TIMEOUT < Duration::from_secs(timeout));
}

#[test]
fn what_the_functions_wait_for_gives_up_before_lambda_kills_them() {
    let template = template();
    let functions = functions(&template);
    assert_eq!(functions.len(), local_stack::FUNCTIONS.len(), "{functions:?}");
    for function in functions {
        let timeout = function_timeout(&template, function);
        assert!(CONNECT_TIMEOUT < ATTEMPT_TIMEOUT && ATTEMPT_TIMEOUT < OPERATION_TIMEOUT);
        // The longest chain of calls of a request: parcel, invoice, ticket. The others have none longer that must not break.
        assert!(3 * OPERATION_TIMEOUT < timeout, "{function}: 3 × {OPERATION_TIMEOUT:?} < {timeout:?}");
    }
    let worker = function_timeout(&template, "InvoiceWorkerFunction");
    assert!(MAIL_TIMEOUT + OPERATION_TIMEOUT < worker, "a mail and the record of it fit into {worker:?}");
}

#[tokio::test]
async fn every_client_of_the_sdk_has_these_limits() {
    let credentials = Credentials::new("test", "test", None, None, "test");
    let loader = aws_config::from_env().region(Region::new("ap-southeast-1")).credentials_provider(credentials);
    let clients = Clients::load(loader).await;
    for (client, limits) in [
        ("dynamodb", clients.dynamodb().config().timeout_config().cloned()),
        ("sqs", clients.sqs().config().timeout_config().cloned()),
        ("s3", clients.s3().config().timeout_config().cloned()),
        ("sesv2", clients.sesv2().config().timeout_config().cloned()),
    ] {
        let limits = limits.unwrap_or_else(|| panic!("{client} has no limits"));
        assert_eq!(limits.connect_timeout(), Some(CONNECT_TIMEOUT), "{client}");
        assert_eq!(limits.operation_attempt_timeout(), Some(ATTEMPT_TIMEOUT), "{client}");
        assert_eq!(limits.operation_timeout(), Some(OPERATION_TIMEOUT), "{client}");
    }
}

#[test]
fn the_functions_and_the_queue_take_these_numbers_and_no_others() {
    let template = template();
    let mapped = |value: &Value, function: &str, name: &str| {
        let words: Vec<_> = value.as_sequence().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        assert_eq!(words, ["Timing", function, name]);
    };
    for function in functions(&template) {
        let name = short_name(function);
        mapped(property(&template, function, &["Timeout"]), name, "TimeoutSeconds");
        let words = name.chars().enumerate().map(|(place, letter)| match place {
            1.. if letter.is_uppercase() => format!("_{letter}"),
            _ => letter.to_ascii_uppercase().to_string(),
        });
        let told = format!("{}_TIMEOUT_SECONDS", words.collect::<String>());
        mapped(property(&template, function, &["Environment", "Variables", &told]), name, "TimeoutSeconds");
    }
    let variable = |name| property(&template, "InvoiceWorkerFunction", &["Environment", "Variables", name]);
    mapped(variable("LEASE_SECONDS"), "InvoiceWorker", "LeaseSeconds");
    mapped(variable("VISIBILITY_SECONDS"), "InvoiceWorker", "VisibilitySeconds");
    mapped(property(&template, "TicketsQueue", &["VisibilityTimeout"]), "InvoiceWorker", "VisibilitySeconds");
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
fn every_route_that_writes_has_a_name_and_a_limit_of_its_own() {
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
    let document: serde_json::Value = serde_json::from_str(include_str!("../../../docs/openapi.json")).unwrap();
    let writes: BTreeSet<String> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, methods)| methods.as_object().unwrap().keys().map(move |method| (method, path)))
        .filter(|(method, _)| ["post", "put", "patch", "delete"].contains(&method.as_str()))
        .map(|(method, path)| format!("{} {path}", method.to_uppercase()))
        .collect();
    assert_eq!(limited, writes.iter().map(String::as_str).collect(), "every route that writes, and no other");
}
