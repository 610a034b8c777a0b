//! What UAT and production come to, read from what CloudFormation makes of template.yaml with their parameters: who may
//! do what, which number is below which, and what a person hears of.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use serde_json::{Map, Value};

/// The two environments by the names of their files in `deploy/parameters`, as CloudFormation makes them.
pub(crate) static ENVIRONMENTS: LazyLock<[(&str, Value); 2]> =
    LazyLock::new(|| ["uat", "prod"].map(|name| (name, expanded(name))));

/// The functions by their directory, with the logical ids of their role and of themselves.
const FUNCTIONS: [(&str, &str, &str); 9] = [
    ("api", "ApiRole", "ApiFunction"),
    ("domain-events", "DomainEventsRole", "DomainEventsFunction"),
    ("invoice-worker", "InvoiceWorkerRole", "InvoiceWorkerFunction"),
    ("mail-events", "MailEventsRole", "MailEventsFunction"),
    ("outbox-relay", "OutboxRelayRole", "OutboxRelayFunction"),
    ("parcel-simulator", "ParcelSimulatorRole", "ParcelSimulatorFunction"),
    ("webhook-fan-out", "WebhookFanOutRole", "WebhookFanOutFunction"),
    ("webhook-relay", "WebhookRelayRole", "WebhookRelayFunction"),
    ("webhook-worker", "WebhookWorkerRole", "WebhookWorkerFunction"),
];

/// An action, and the resource on which it is allowed.
type Permission = (&'static str, &'static str);

/// What a call of a port comes to: the port, its method, and each permission that it needs.
const CALLS: &[(&str, &str, &[Permission])] = &[
    ("ReadApiKeys", "api_key", &[("dynamodb:GetItem", "ApiKeysTable")]),
    ("ReadApiKeys", "note_use", &[("dynamodb:UpdateItem", "ApiKeysTable")]),
    (
        "CreateParcels",
        "create",
        &[
            ("dynamodb:PutItem", "ParcelsTable"),
            ("dynamodb:PutItem", "TrackingNumbersTable"),
            ("dynamodb:PutItem", "IdempotencyTable"),
        ],
    ),
    ("ReadParcels", "parcel", &[("dynamodb:GetItem", "ParcelsTable")]),
    ("ReadParcels", "numbered", &[("dynamodb:GetItem", "TrackingNumbersTable")]),
    ("ReadParcels", "parcels_of", &[("dynamodb:Query", "ParcelsTable/index/by-*")]),
    ("ShowParcels", "shown", &[("dynamodb:BatchGetItem", "ParcelsTable"), ("dynamodb:BatchGetItem", "InvoicesTable")]),
    ("RecordEvents", "record", &[("dynamodb:UpdateItem", "ParcelsTable")]),
    ("ReadAnswers", "answer", &[("dynamodb:GetItem", "IdempotencyTable")]),
    ("ExpectProofs", "expect_proof", &[("dynamodb:UpdateItem", "ParcelsTable")]),
    ("KeepProofs", "upload", &[("s3:PutObject", "ProofsBucket/proofs/*")]),
    // Without the second one S3 says of what is not there the same as of what is forbidden.
    ("KeepProofs", "proof", &[("s3:GetObject", "ProofsBucket/proofs/*"), ("s3:ListBucket", "ProofsBucket")]),
    ("KeepProofs", "link", &[("s3:GetObject", "ProofsBucket/proofs/*")]),
    ("MeasureBacklog", "backlog", &[("dynamodb:Query", "InvoicesTable/index/by-age")]),
    (
        "MeasureQueue",
        "depth",
        &[("sqs:GetQueueAttributes", "TicketsQueue"), ("sqs:GetQueueAttributes", "DeadLetterQueue")],
    ),
    ("CountSends", "add", &[("dynamodb:UpdateItem", "ThroughputTable")]),
    ("ReadSends", "sent_in", &[("dynamodb:Query", "ThroughputTable")]),
    ("NoteProvider", "note_provider", &[("dynamodb:UpdateItem", "ThroughputTable")]),
    ("ReadProvider", "provider", &[("dynamodb:Query", "ThroughputTable")]),
    ("NoteBacklog", "note_backlog", &[("dynamodb:UpdateItem", "ThroughputTable")]),
    ("ReadHistory", "history", &[("dynamodb:Query", "ThroughputTable")]),
    ("CreateInvoices", "create", &[("dynamodb:PutItem", "InvoicesTable")]),
    ("ReadInvoices", "invoice", &[("dynamodb:GetItem", "InvoicesTable")]),
    ("ReadInvoices", "summaries", &[("dynamodb:BatchGetItem", "InvoicesTable")]),
    ("WorkOnInvoices", "claim", &[("dynamodb:UpdateItem", "InvoicesTable")]),
    ("WorkOnInvoices", "generated", &[("dynamodb:UpdateItem", "InvoicesTable")]),
    ("WorkOnInvoices", "about_to_send", &[("dynamodb:UpdateItem", "InvoicesTable")]),
    ("WorkOnInvoices", "let_go", &[("dynamodb:UpdateItem", "InvoicesTable")]),
    ("RelayInvoices", "due_page", &[("dynamodb:Query", "InvoicesTable/index/by-due")]),
    ("RelayInvoices", "move_due", &[("dynamodb:UpdateItem", "InvoicesTable")]),
    ("ReopenInvoices", "reopen", &[("dynamodb:GetItem", "InvoicesTable"), ("dynamodb:UpdateItem", "InvoicesTable")]),
    (
        "ReaddressInvoices",
        "readdress",
        &[("dynamodb:GetItem", "InvoicesTable"), ("dynamodb:UpdateItem", "InvoicesTable")],
    ),
    ("ListFailedInvoices", "failed", &[("dynamodb:Query", "InvoicesTable/index/by-failure")]),
    ("RecordDelivery", "record", &[("dynamodb:GetItem", "InvoicesTable"), ("dynamodb:UpdateItem", "InvoicesTable")]),
    ("ReadSuppressions", "suppression", &[("dynamodb:GetItem", "SuppressionsTable")]),
    ("AddSuppression", "add", &[("dynamodb:PutItem", "SuppressionsTable")]),
    ("SendTicket", "send", &[("sqs:SendMessage", "TicketsQueue")]),
    ("SendTickets", "send_batch", &[("sqs:SendMessage", "TicketsQueue")]),
    ("SendTickets", "waiting", &[("sqs:GetQueueAttributes", "TicketsQueue")]),
    ("PostponeTicket", "postpone", &[("sqs:ChangeMessageVisibility", "TicketsQueue")]),
    ("DeadLetter", "bury", &[("sqs:SendMessage", "DeadLetterQueue")]),
    ("PublishEvents", "publish", &[("events:PutEvents", "DomainEventsBus")]),
    ("StorePdf", "store", &[("s3:PutObject", "InvoicesBucket/invoices/*")]),
    // A link carries the rights of whoever signed it.
    ("LinkToPdf", "link", &[("s3:GetObject", "InvoicesBucket/invoices/*")]),
    // A message of our own making asks for the second one as well.
    ("SendMail", "send", &[("ses:SendEmail", "SES"), ("ses:SendRawEmail", "SES")]),
    (
        "CreateWebhooks",
        "create",
        &[
            ("dynamodb:PutItem", "WebhooksTable"),
            ("dynamodb:UpdateItem", "WebhooksTable"),
            ("dynamodb:GetItem", "WebhooksTable"),
            ("dynamodb:Query", "WebhooksTable"),
            ("dynamodb:PutItem", "IdempotencyTable"),
            ("dynamodb:GetItem", "IdempotencyTable"),
        ],
    ),
    ("ReadWebhooks", "webhook", &[("dynamodb:GetItem", "WebhooksTable")]),
    ("ReadWebhooks", "webhooks_of", &[("dynamodb:Query", "WebhooksTable")]),
    ("ChangeWebhooks", "rotate", &[("dynamodb:UpdateItem", "WebhooksTable")]),
    ("ChangeWebhooks", "enable", &[("dynamodb:UpdateItem", "WebhooksTable")]),
    ("ChangeWebhooks", "delete", &[("dynamodb:DeleteItem", "WebhooksTable")]),
    ("WorkOnWebhooks", "take_slot", &[("dynamodb:UpdateItem", "WebhooksTable")]),
    ("WorkOnWebhooks", "release_slot", &[("dynamodb:UpdateItem", "WebhooksTable")]),
    ("WorkOnWebhooks", "succeeded", &[("dynamodb:UpdateItem", "WebhooksTable")]),
    ("WorkOnWebhooks", "failed", &[("dynamodb:UpdateItem", "WebhooksTable")]),
    ("WorkOnWebhooks", "switch_off", &[("dynamodb:UpdateItem", "WebhooksTable")]),
    ("WorkOnWebhooks", "claim_notice", &[("dynamodb:UpdateItem", "WebhooksTable")]),
    ("WorkOnWebhooks", "notice_done", &[("dynamodb:UpdateItem", "WebhooksTable")]),
    ("ReadContacts", "contact", &[("dynamodb:GetItem", "WebhooksTable")]),
    ("ConfirmContacts", "confirm", &[("dynamodb:GetItem", "WebhooksTable"), ("dynamodb:UpdateItem", "WebhooksTable")]),
    ("BoundConfirmations", "count_confirmation", &[("dynamodb:UpdateItem", "WebhooksTable")]),
    ("BoundConfirmations", "not_sent", &[("dynamodb:UpdateItem", "WebhooksTable")]),
    ("AskForConfirmation", "ask_for", &[("sqs:SendMessage", "WebhookTicketsQueue")]),
    ("BoundNotices", "count_notice", &[("dynamodb:UpdateItem", "WebhooksTable")]),
    ("BoundNotices", "notice_turn", &[("dynamodb:UpdateItem", "WebhooksTable")]),
    ("ReadWebhookDeliveries", "delivery", &[("dynamodb:GetItem", "WebhookDeliveriesTable")]),
    ("ListWebhookDeliveries", "deliveries", &[("dynamodb:Query", "WebhookDeliveriesTable/index/by-time")]),
    ("RecordWebhookDeliveries", "record", &[("dynamodb:PutItem", "WebhookDeliveriesTable")]),
    ("RetryWebhookDeliveries", "retry", &[("dynamodb:UpdateItem", "WebhookDeliveriesTable")]),
    ("ReopenWebhookDeliveries", "to_resend", &[("dynamodb:Query", "WebhookDeliveriesTable/index/by-time")]),
    ("ReopenWebhookDeliveries", "reopen", &[("dynamodb:UpdateItem", "WebhookDeliveriesTable")]),
    ("FollowSubjects", "last_told", &[("dynamodb:GetItem", "WebhookSubjectsTable")]),
    ("FollowSubjects", "told", &[("dynamodb:UpdateItem", "WebhookSubjectsTable")]),
    ("WorkOnWebhookDeliveries", "earlier", &[("dynamodb:Query", "WebhookDeliveriesTable")]),
    ("WorkOnWebhookDeliveries", "later", &[("dynamodb:Query", "WebhookDeliveriesTable")]),
    ("WorkOnWebhookDeliveries", "claim", &[("dynamodb:UpdateItem", "WebhookDeliveriesTable")]),
    ("WorkOnWebhookDeliveries", "let_go", &[("dynamodb:UpdateItem", "WebhookDeliveriesTable")]),
    ("WorkOnWebhookDeliveries", "withdraw", &[("dynamodb:UpdateItem", "WebhookDeliveriesTable")]),
    ("WorkOnWebhookDeliveries", "put_off", &[("dynamodb:UpdateItem", "WebhookDeliveriesTable")]),
    ("WorkOnWebhookDeliveries", "hurry", &[("dynamodb:UpdateItem", "WebhookDeliveriesTable")]),
    ("RelayWebhookDeliveries", "due_page", &[("dynamodb:Query", "WebhookDeliveriesTable/index/by-due")]),
    ("RelayWebhookDeliveries", "move_due", &[("dynamodb:UpdateItem", "WebhookDeliveriesTable")]),
    ("SendWebhookTicket", "send", &[("sqs:SendMessage", "WebhookTicketsQueue")]),
    ("SendWebhookTickets", "send_batch", &[("sqs:SendMessage", "WebhookTicketsQueue")]),
    ("PostponeWebhookTicket", "postpone_ticket", &[("sqs:ChangeMessageVisibility", "WebhookTicketsQueue")]),
    ("PostponeWebhookEvent", "postpone_event", &[("sqs:ChangeMessageVisibility", "WebhookEventsQueue")]),
    ("SendResendWish", "wish", &[("sqs:SendMessage", "WebhookEventsQueue")]),
    ("BuryWebhookMessage", "bury_message", &[("sqs:SendMessage", "WebhookDeadLetterQueue")]),
    ("SendNotice", "tell", &[("ses:SendEmail", "SES"), ("ses:SendRawEmail", "SES")]),
    ("Clock", "now", &[]),
    ("DrawTrackingNumber", "draw", &[]),
];

/// What Lambda itself does in a function's name.
const BY_LAMBDA: [(&str, &str, &str); 19] = [
    ("domain-events", "dynamodb:DescribeStream", "ParcelsTable"),
    ("domain-events", "dynamodb:GetShardIterator", "ParcelsTable"),
    ("domain-events", "dynamodb:GetRecords", "ParcelsTable"),
    ("domain-events", "dynamodb:ListStreams", "ParcelsTable/stream/*"),
    ("domain-events", "dynamodb:DescribeStream", "InvoicesTable"),
    ("domain-events", "dynamodb:GetShardIterator", "InvoicesTable"),
    ("domain-events", "dynamodb:GetRecords", "InvoicesTable"),
    ("domain-events", "dynamodb:ListStreams", "InvoicesTable/stream/*"),
    ("domain-events", "sqs:SendMessage", "DomainEventsDeadLetterQueue"),
    ("invoice-worker", "sqs:ReceiveMessage", "TicketsQueue"),
    ("invoice-worker", "sqs:DeleteMessage", "TicketsQueue"),
    ("invoice-worker", "sqs:GetQueueAttributes", "TicketsQueue"),
    ("mail-events", "sqs:SendMessage", "MailEventsDeadLetterQueue"),
    ("webhook-fan-out", "sqs:ReceiveMessage", "WebhookEventsQueue"),
    ("webhook-fan-out", "sqs:DeleteMessage", "WebhookEventsQueue"),
    ("webhook-fan-out", "sqs:GetQueueAttributes", "WebhookEventsQueue"),
    ("webhook-worker", "sqs:ReceiveMessage", "WebhookTicketsQueue"),
    ("webhook-worker", "sqs:DeleteMessage", "WebhookTicketsQueue"),
    ("webhook-worker", "sqs:GetQueueAttributes", "WebhookTicketsQueue"),
];

/// A function whose dead letters are no tickets has a queue of its own for them.
const OWN_DEAD_LETTERS: [(&str, &str); 1] = [("domain-events", "DomainEventsDeadLetterQueue")];

/// Actions for which AWS knows no resource that could be named, or tells only half without `*`.
const WITHOUT_RESOURCE: [&str; 5] = [
    "xray:PutTraceSegments",
    "xray:PutTelemetryRecords",
    "cloudwatch:DescribeAlarms",
    "cloudwatch:GetMetricData",
    "cloudwatch:GetMetricWidgetImage",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn expanded(environment: &str) -> Value {
    // Made when the stack was started that the tests run against.
    let output = Command::new(root().join(".local/venv-deploy/bin/python"))
        .args(["local-stack/deploy/expand.py", "--template", "template.yaml", "--parameters"])
        .arg(format!("deploy/parameters/{environment}.yaml"))
        .current_dir(root())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn resources(template: &Value) -> &Map<String, Value> {
    template["Resources"].as_object().unwrap()
}

pub(crate) fn of_type<'a>(template: &'a Value, kind: &'a str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    resources(template).iter().filter(move |(_, resource)| resource["Type"] == kind)
}

/// One value, or each of a list.
fn each(value: &Value) -> Vec<&Value> {
    value.as_array().map_or_else(|| vec![value], |list| list.iter().collect())
}

fn number(value: &Value) -> u64 {
    value.as_u64().or_else(|| value.as_str()?.parse().ok()).unwrap_or_else(|| panic!("{value} is no number"))
}

/// A resource by its logical id, and what follows it in the ARN.
fn resource_name(resource: &Value) -> String {
    if let Some(attribute) = resource["Fn::GetAtt"].as_array() {
        return attribute[0].as_str().unwrap().to_owned();
    }
    if let Some(id) = resource["Ref"].as_str() {
        return id.to_owned();
    }
    let text = resource.as_str().or_else(|| resource["Fn::Sub"].as_str()).unwrap_or_else(|| panic!("{resource}"));
    let name = if text.contains(":ses:") { "SES".to_owned() } else { text.replace("${", "").replace(".Arn}", "") };
    // Which of them depends on what a list is asked for.
    if name.starts_with("ParcelsTable/index/by-") { "ParcelsTable/index/by-*".to_owned() } else { name }
}

/// Action and resource of everything that a role's own policies allow.
pub(crate) fn permissions(role: &Value) -> BTreeSet<(String, String)> {
    let policies = each(&role["Properties"]["Policies"]);
    let statements = policies.iter().flat_map(|policy| each(&policy["PolicyDocument"]["Statement"]));
    let allowed = statements.filter(|statement| statement["Effect"] == "Allow");
    allowed
        .flat_map(|statement| {
            let resources: Vec<String> = each(&statement["Resource"]).into_iter().map(resource_name).collect();
            let actions = each(&statement["Action"]).into_iter().map(|action| action.as_str().unwrap().to_owned());
            actions.flat_map(move |action| resources.clone().into_iter().map(move |on| (action.clone(), on)))
        })
        .collect()
}

fn rust_sources(directory: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            text += &rust_sources(&path);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&path).unwrap();
            // What tests call is no call of the function.
            text += source.split("#[cfg(test)]").next().unwrap();
        }
    }
    text
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split(|character: char| !character.is_alphanumeric() && character != '_').collect()
}

fn ports() -> Vec<String> {
    let source = fs::read_to_string(root().join("shared/src/ports.rs")).unwrap()
        + &rust_sources(&root().join("shared/src/ports"));
    let names = source.lines().filter_map(|line| line.strip_prefix("pub trait ")?.split(':').next());
    names.map(str::to_owned).collect()
}

#[test]
fn each_function_may_do_what_its_code_calls_and_nothing_else() {
    for (environment, template) in &*ENVIRONMENTS {
        for (function, role, _) in FUNCTIONS {
            let mut source = rust_sources(&root().join("functions").join(function).join("src"));
            // What it calls in its name.
            if source.contains("reopening::reopen") {
                source += &fs::read_to_string(root().join("shared/src/reopening.rs")).unwrap();
            }
            let mentioned = words(&source);
            let used: Vec<String> = ports().into_iter().filter(|port| mentioned.contains(port.as_str())).collect();
            let mut wanted: BTreeSet<(String, String)> = BTreeSet::new();
            for port in &used {
                assert!(CALLS.iter().any(|(name, ..)| name == port), "say in CALLS what {port} comes to");
                let calls =
                    CALLS.iter().filter(|(name, method, _)| name == port && source.contains(&format!(".{method}(")));
                let needed = calls.flat_map(|(_, _, needed)| needed.iter());
                let own = OWN_DEAD_LETTERS.iter().find(|(name, _)| port == "DeadLetter" && *name == function);
                wanted.extend(needed.map(|&(action, on)| (action.to_owned(), own.map_or(on, |own| own.1).to_owned())));
            }
            if source.contains(".warm_up()") {
                wanted.insert(("dynamodb:GetItem".to_owned(), "InvoicesTable".to_owned()));
            }
            let by_lambda = BY_LAMBDA.iter().filter(|(name, ..)| *name == function);
            wanted.extend(by_lambda.map(|&(_, action, on)| (action.to_owned(), on.to_owned())));

            let mut allowed = permissions(&resources(template)[role]);
            allowed.retain(|(action, _)| !action.starts_with("logs:") && !action.starts_with("xray:"));
            assert_eq!(allowed, wanted, "{function} in {environment}");
        }
    }
}

#[test]
fn nobody_is_allowed_everything() {
    for (environment, template) in &*ENVIRONMENTS {
        let mut roles = 0;
        for (id, role) in of_type(template, "AWS::IAM::Role") {
            roles += 1;
            assert!(
                role["Properties"]["ManagedPolicyArns"].is_null(),
                "{id} in {environment}: AWS's own policies are wide"
            );
            for (action, on) in permissions(role) {
                assert!(!action.contains('*'), "{id} in {environment} may {action}");
                assert!(
                    on != "*" || WITHOUT_RESOURCE.contains(&action.as_str()),
                    "{id} in {environment}: {action} on {on}"
                );
            }
        }
        assert!(roles >= FUNCTIONS.len(), "{environment}");
    }
}

#[test]
fn queues_and_buckets_are_spoken_to_over_tls_only_and_by_those_who_are_named() {
    for (environment, template) in &*ENVIRONMENTS {
        for (kind, policy_kind, key) in [
            ("AWS::SQS::Queue", "AWS::SQS::QueuePolicy", "Queues"),
            ("AWS::S3::Bucket", "AWS::S3::BucketPolicy", "Bucket"),
            ("AWS::SNS::Topic", "AWS::SNS::TopicPolicy", "Topics"),
        ] {
            for (id, _) in of_type(template, kind) {
                let statements: Vec<&Value> = of_type(template, policy_kind)
                    .map(|(_, policy)| &policy["Properties"])
                    .filter(|policy| each(&policy[key]).iter().any(|of| of["Ref"] == **id))
                    .flat_map(|policy| each(&policy["PolicyDocument"]["Statement"]))
                    .collect();
                let denies = |statement: &&Value| {
                    statement["Effect"] == "Deny"
                        && statement["Principal"] == "*"
                        && statement["Condition"]["Bool"]["aws:SecureTransport"] == "false"
                };
                assert!(statements.iter().any(denies), "{id} in {environment} takes calls without TLS");
                for statement in statements.iter().filter(|statement| statement["Effect"] == "Allow") {
                    assert!(statement["Principal"]["Service"] != Value::Null, "{id} in {environment}: {statement}");
                    assert!(statement["Condition"] != Value::Null, "{id} in {environment}: {statement}");
                    let wild =
                        each(&statement["Action"]).into_iter().any(|action| action.as_str().unwrap().contains('*'));
                    assert!(!wild, "{id} in {environment}: {statement}");
                }
            }
        }
    }
}

#[test]
fn a_ticket_outlives_its_worker_and_the_workers_are_never_throttled() {
    for (environment, template) in &*ENVIRONMENTS {
        for (function, queue, lease) in [
            ("InvoiceWorkerFunction", "TicketsQueue", Some("LEASE_SECONDS")),
            ("WebhookWorkerFunction", "WebhookTicketsQueue", Some("WEBHOOK_LEASE_SECONDS")),
            ("WebhookFanOutFunction", "WebhookEventsQueue", None),
        ] {
            let worker = &resources(template)[function]["Properties"];
            let timeout = number(&worker["Timeout"]);
            let visibility = number(&resources(template)[queue]["Properties"]["VisibilityTimeout"]);
            let mut mappings = of_type(template, "AWS::Lambda::EventSourceMapping");
            let (_, mapping) = mappings
                .find(|(_, mapping)| mapping["Properties"]["FunctionName"].to_string().contains(function))
                .unwrap();
            let window = number(&mapping["Properties"]["MaximumBatchingWindowInSeconds"]);
            // https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
            assert!(visibility >= 6 * timeout + window, "{function} in {environment}");
            if let Some(lease) = lease {
                let lease = number(&worker["Environment"]["Variables"][lease]);
                assert!(timeout < lease && lease < visibility, "{environment}: {timeout} < {lease} < {visibility}");
            }
            let most = number(&mapping["Properties"]["ScalingConfig"]["MaximumConcurrency"]);
            assert!(2 <= most, "{function} in {environment}: 2 <= {most}");
            if function == "InvoiceWorkerFunction" {
                let reserved = number(&worker["ReservedConcurrentExecutions"]);
                assert!(most <= reserved, "{environment}: {most} <= {reserved}");
                assert_eq!(most, number(&worker["Environment"]["Variables"]["WORKER_CONCURRENCY"]), "{environment}");
            }
        }
    }
}

#[test]
fn private_addresses_are_called_on_laptops_only() {
    for (environment, template) in &*ENVIRONMENTS {
        for function in ["ApiFunction", "WebhookWorkerFunction"] {
            let variables = &resources(template)[function]["Properties"]["Environment"]["Variables"];
            assert!(variables["WEBHOOK_ALLOWED_PRIVATE"].is_null(), "{function} in {environment}: {variables}");
            assert_ne!(variables["ENVIRONMENT"], "local", "{function} in {environment}");
        }
    }
}

#[test]
fn a_write_that_is_not_told_is_tried_for_hours_and_can_be_replayed_when_it_is_given_up() {
    for (environment, template) in &*ENVIRONMENTS {
        for mapping in ["DomainEventsFunctionParcelWrites", "DomainEventsFunctionInvoiceWrites"] {
            let mapping = &resources(template)[mapping]["Properties"];
            assert_eq!(mapping["FunctionResponseTypes"][0], "ReportBatchItemFailures", "{environment}");
            assert_eq!(
                mapping["StartingPosition"], "TRIM_HORIZON",
                "{environment}: writes before the mapping are lost"
            );
            assert_eq!(
                (&mapping["BisectBatchOnFunctionError"], &mapping["MaximumRetryAttempts"]),
                (&true.into(), &(-1).into())
            );
            // A stream keeps a day; half of it at least is left to a person.
            let age = number(&mapping["MaximumRecordAgeInSeconds"]);
            assert!((3600..=12 * 3600).contains(&age), "{environment}: {age}");
            let destination = &mapping["DestinationConfig"]["OnFailure"]["Destination"]["Fn::GetAtt"][0];
            assert_eq!(destination, "DomainEventsDeadLetterQueue", "{environment}");
        }
        for table in ["ParcelsTable", "InvoicesTable"] {
            let stream = &resources(template)[table]["Properties"]["StreamSpecification"];
            assert_eq!(stream["StreamViewType"], "NEW_AND_OLD_IMAGES", "{table} in {environment}");
        }
        let archive = &resources(template)["DomainEventsArchive"]["Properties"];
        assert!(number(&archive["RetentionDays"]) >= 14, "{environment}");
    }
}

#[test]
fn warm_functions_are_a_part_of_those_reserved_and_only_production_pays_for_them() {
    let warm = |template: &Value| {
        let config = &resources(template)["ApiFunctionAliaslive"]["Properties"]["ProvisionedConcurrencyConfig"];
        config["ProvisionedConcurrentExecutions"].as_str().map(|warm| warm.parse::<u64>().unwrap())
    };
    let [(_, uat), (_, production)] = &*ENVIRONMENTS;
    let reserved = |template| number(&resources(template)["ApiFunction"]["Properties"]["ReservedConcurrentExecutions"]);
    assert_eq!(warm(uat), None);
    let warm = warm(production).unwrap();
    assert!(0 < warm && warm <= reserved(production));
    assert!(reserved(uat) < reserved(production));
}

#[test]
fn no_function_refers_to_the_api_that_calls_it() {
    for (environment, template) in &*ENVIRONMENTS {
        let function = resources(template)["ApiFunction"].to_string();
        assert!(!function.contains("HttpApi") && !function.contains("Distribution"), "{environment}: {function}");
    }
}

#[test]
fn whatever_is_retained_can_be_restored_and_in_production_cannot_be_deleted() {
    for (environment, template) in &*ENVIRONMENTS {
        let production = *environment == "prod";
        let retained = |resource: &Value| resource["DeletionPolicy"] == "RetainExceptOnCreate";
        let mut tables = BTreeSet::new();
        for (id, table) in of_type(template, "AWS::DynamoDB::Table").filter(|(_, table)| retained(table)) {
            tables.insert(id.as_str());
            assert_eq!(table["UpdateReplacePolicy"], "Retain", "{id} in {environment}");
            let properties = &table["Properties"];
            let recovery = &properties["PointInTimeRecoverySpecification"];
            assert_eq!(recovery["PointInTimeRecoveryEnabled"], true, "{id} in {environment}");
            let days = number(&recovery["RecoveryPeriodInDays"]);
            assert!(if production { days >= 14 } else { days == 1 }, "{id} in {environment}: {days} days");
            assert_eq!(properties["DeletionProtectionEnabled"], production, "{id} in {environment}");
        }
        for table in [
            "ParcelsTable",
            "TrackingNumbersTable",
            "InvoicesTable",
            "ApiKeysTable",
            "SuppressionsTable",
            "WebhooksTable",
            "WebhookDeliveriesTable",
        ] {
            assert!(tables.contains(table), "{table} in {environment} is lost with the stack");
        }
        let bucket = &resources(template)["InvoicesBucket"];
        assert!(retained(bucket) && bucket["UpdateReplacePolicy"] == "Retain", "{environment}");
        let rules = each(&bucket["Properties"]["LifecycleConfiguration"]["Rules"]);
        let invoices = rules.iter().find(|rule| rule["Prefix"] == "invoices/").unwrap();
        assert!(rules.iter().any(|rule| rule["AbortIncompleteMultipartUpload"] != Value::Null), "{environment}");
        let days = number(&invoices["ExpirationInDays"]);
        if production {
            assert!(
                days >= 7 * 365 && invoices["Transitions"][0]["StorageClass"].as_str().unwrap().starts_with("GLACIER")
            );
        } else {
            assert!(days <= 90, "{environment}: {days}");
        }
    }
}

#[test]
fn dead_letters_are_kept_longer_than_tickets_and_seen_while_they_lie_there() {
    for (environment, template) in &*ENVIRONMENTS {
        let retention = |id: &str| number(&resources(template)[id]["Properties"]["MessageRetentionPeriod"]);
        assert_eq!(retention("DeadLetterQueue"), 14 * 24 * 3600, "{environment}");
        assert!(retention("DeadLetterQueue") > retention("TicketsQueue"), "{environment}");
        for (alarm, queue) in [
            ("DeadLettersAlarm", "DeadLetterQueue"),
            ("MailEventsDeadLettersAlarm", "MailEventsDeadLetterQueue"),
            ("DomainEventsDeadLettersAlarm", "DomainEventsDeadLetterQueue"),
            ("WebhookDeadLettersAlarm", "WebhookDeadLetterQueue"),
        ] {
            let alarm = &resources(template)[alarm]["Properties"];
            // SQS does not count what its own redrive policy moves as sent.
            assert_eq!(alarm["MetricName"], "ApproximateNumberOfMessagesVisible", "{environment}");
            assert_eq!(alarm["Dimensions"][0]["Value"]["Fn::GetAtt"][0], queue, "{environment}");
            assert_eq!((number(&alarm["Threshold"]), number(&alarm["EvaluationPeriods"])), (1, 1), "{environment}");
        }
    }
}

#[test]
fn each_alarm_says_what_to_do_reaches_a_person_and_tells_when_it_is_over() {
    for (environment, template) in &*ENVIRONMENTS {
        let mut alarms = BTreeMap::new();
        for (id, alarm) in of_type(template, "AWS::CloudWatch::Alarm") {
            let properties = &alarm["Properties"];
            let words = properties["AlarmDescription"].as_str().unwrap();
            assert!(words.contains(" Do: ") && words.len() <= 1024, "{id} in {environment}: {words}");
            assert!(properties["TreatMissingData"].is_string(), "{id} in {environment}");
            for actions in ["AlarmActions", "OKActions"] {
                assert_eq!(properties[actions][0]["Ref"], "AlarmTopic", "{id} in {environment}: {actions}");
            }
            assert_eq!(alarms.insert(words, id), None, "two alarms with the same words in {environment}");
        }
        assert!(alarms.len() > 20, "{environment}");
        let subscribed = |id: &str| resources(template).contains_key(id);
        assert!(subscribed("AlarmSubscription") && subscribed("Budget"), "{environment}");
        assert_eq!(subscribed("AlarmChat"), *environment == "prod", "{environment}");
    }
}

#[test]
fn every_alarm_has_its_lines_in_operations() {
    let operations = fs::read_to_string(root().join("docs/operations.md")).unwrap();
    for (_, template) in &*ENVIRONMENTS {
        for (id, _) in of_type(template, "AWS::CloudWatch::Alarm") {
            assert!(operations.contains(&format!("`{id}`")), "docs/operations.md says nothing of {id}");
        }
    }
}

#[test]
fn a_release_goes_to_a_tenth_of_production_first_and_back_when_an_alarm_goes_off() {
    for (environment, template) in &*ENVIRONMENTS {
        let mut groups = 0;
        for (id, group) in of_type(template, "AWS::CodeDeploy::DeploymentGroup") {
            groups += 1;
            let properties = &group["Properties"];
            let how = properties["DeploymentConfigName"].to_string();
            let wanted = if *environment == "prod" { "Canary10Percent5Minutes" } else { "AllAtOnce" };
            assert!(how.contains(wanted), "{id} in {environment}: {how}");
            assert!(!each(&properties["AlarmConfiguration"]["Alarms"]).is_empty(), "{id} in {environment}");
            assert_eq!(properties["AutoRollbackConfiguration"]["Enabled"], true, "{id} in {environment}");
        }
        assert_eq!(groups, 2, "{environment}: the API and the worker");
        for function in ["ApiFunction", "InvoiceWorkerFunction"] {
            let alias = &resources(template)[&format!("{function}Aliaslive")];
            assert!(alias["UpdatePolicy"]["CodeDeployLambdaAliasUpdate"].is_object(), "{function} in {environment}");
        }
    }
}

#[test]
fn no_secret_is_in_an_environment_and_no_page_is_open_to_the_world() {
    for (environment, template) in &*ENVIRONMENTS {
        for (_, _, function) in FUNCTIONS {
            let variables = resources(template)[function]["Properties"]["Environment"]["Variables"].to_string();
            assert!(!variables.contains("resolve:") && !variables.contains("smtp"), "{function}: {variables}");
        }
        for (id, bucket) in of_type(template, "AWS::S3::Bucket") {
            let access = &bucket["Properties"]["PublicAccessBlockConfiguration"];
            for block in ["BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"] {
                assert_eq!(access[block], true, "{id} in {environment}: {block}");
            }
        }
        let distribution = &resources(template)["Distribution"]["Properties"]["DistributionConfig"];
        assert_eq!(distribution["DefaultCacheBehavior"]["TargetOriginId"], "page", "{environment}");
        let paths: BTreeSet<_> = each(&distribution["CacheBehaviors"])
            .into_iter()
            .map(|behaviour| behaviour["PathPattern"].as_str().unwrap())
            .collect();
        for path in ["/api/*", "/i/*", "/c/*", "/health", "/docs", "/openapi.json"] {
            assert!(paths.contains(path), "{environment}: {path} is not among {paths:?}");
        }
    }
}

#[test]
fn the_access_log_has_neither_addresses_nor_paths() {
    for (environment, template) in &*ENVIRONMENTS {
        let (_, stage) = of_type(template, "AWS::ApiGatewayV2::Stage").next().unwrap();
        let format = stage["Properties"]["AccessLogSettings"]["Format"].as_str().unwrap();
        assert!(serde_json::from_str::<Value>(format).is_ok(), "{environment}: {format}");
        for personal in ["identity", "path", "sourceIp", "userAgent", "authorizer", "domainName"] {
            assert!(!format.contains(personal), "{environment}: {format}");
        }
    }
}

#[test]
fn requests_are_limited_and_writes_more_than_the_rest() {
    for (environment, template) in &*ENVIRONMENTS {
        let (_, stage) = of_type(template, "AWS::ApiGatewayV2::Stage").next().unwrap();
        let limits =
            |settings: &Value| [&settings["ThrottlingRateLimit"], &settings["ThrottlingBurstLimit"]].map(number);
        let [rate, burst] = limits(&stage["Properties"]["DefaultRouteSettings"]);
        assert!(0 < rate && rate <= burst, "{environment}");
        let routes = stage["Properties"]["RouteSettings"].as_object().unwrap();
        assert!(routes.contains_key("POST /api/parcels"), "{environment}");
        for (route, settings) in routes {
            let [write_rate, write_burst] = limits(settings);
            assert!(0 < write_rate && write_rate <= rate && write_burst <= burst, "{route} in {environment}");
        }
    }
}
