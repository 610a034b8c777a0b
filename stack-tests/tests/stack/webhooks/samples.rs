//! The samples of `docs/webhooks.md`, run on requests that our own code signed.

use std::path::Path;
use std::time::Duration;

use parceltrack::clock::SystemClock;
use parceltrack::domain::{Timestamp, WebhookSecret, WebhookSecrets};
use parceltrack::ports::Clock as _;
use tokio::process::Command;
use uuid::Uuid;

use super::{output, root};

/// The block of code in this language.
fn sample(language: &str) -> String {
    let document = std::fs::read_to_string(root().join("docs/webhooks.md")).unwrap();
    let begin = format!("```{language}\n");
    let (_, rest) = document.split_once(&begin).unwrap();
    rest.split_once("\n```").unwrap().0.to_owned()
}

/// Secret, id, timestamp, signatures and body of requests, and whether each is ours. One line each, separated by tabs.
fn requests() -> Vec<(String, bool)> {
    let new_secret = || WebhookSecret::from_random([Uuid::new_v4(), Uuid::new_v4()]);
    let secrets = WebhookSecrets { current: new_secret(), previous: vec![] };
    let now = SystemClock.now();
    let id = Uuid::new_v4();
    let body = r#"{"type":"ParcelCreated","recipient":"陈伟明"}"#;
    let line = |secret: &WebhookSecret, at: Timestamp, signatures: &str, body: &str| {
        format!("{}\t{id}\t{}\t{signatures}\t{body}", secret.reveal(), at.seconds())
    };
    let sign = |at| secrets.sign(id, at, body);
    let old = Timestamp::from_millis(now.millis() - 301_000);
    let early = now + Duration::from_secs(330);
    vec![
        (line(&secrets.current, now, &sign(now), body), true),
        (line(&secrets.current, now, &format!("v1,AAAA {}", sign(now)), body), true),
        (line(&secrets.current, now, &format!("v1a,AAAA {} v1,é", sign(now)), body), true),
        (line(&new_secret(), now, &sign(now), body), false),
        (line(&secrets.current, now, &sign(now), &body.replace("Created", "Deleted")), false),
        (line(&secrets.current, now, &sign(now).replace("v1,", "v2,"), body), false),
        (line(&secrets.current, now, "", body), false),
        (line(&secrets.current, old, &sign(old), body), false),
        (line(&secrets.current, early, &sign(early), body), false),
    ]
}

/// Runs the sample with an end that reads lines and writes `true` or `false` for each.
async fn check(command: Command) {
    let requests = requests();
    let lines: Vec<&str> = requests.iter().map(|(line, _)| line.as_str()).collect();
    let input = lines.join("\n") + "\n";
    let answers = output(command, &input).await;
    let answers: Vec<bool> = answers.lines().map(|line| line.trim().to_lowercase().parse().unwrap()).collect();
    assert_eq!(answers, requests.iter().map(|(_, ours)| *ours).collect::<Vec<_>>());
}

fn file(directory: &Path, name: &str, text: String) -> std::path::PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[tokio::test]
async fn the_sample_in_python_tells_ours_from_others() {
    let directory = tempfile::tempdir().unwrap();
    let end = "\nimport sys\nfor line in sys.stdin.buffer.read().decode().splitlines():\n    \
               *texts, body = line.split('\\t')\n    print(is_from_parceltrack(*texts, body.encode()))\n";
    let mut python = Command::new(root().join(".local/venv-deploy/bin/python"));
    python.arg(file(directory.path(), "sample.py", sample("python") + end));
    check(python).await;
}

#[tokio::test]
async fn the_sample_in_javascript_tells_ours_from_others() {
    let directory = tempfile::tempdir().unwrap();
    let end = "\nfor (const line of require('node:fs').readFileSync(0, 'utf8').trimEnd().split('\\n')) {\n  \
               const [secret, id, timestamp, signatures, body] = line.split('\\t');\n  \
               console.log(isFromParcelTrack(secret, id, timestamp, signatures, Buffer.from(body)));\n}\n";
    let path = file(directory.path(), "sample.js", sample("javascript") + end);
    let mut node = Command::new("node");
    node.arg(path);
    check(node).await;
}

#[tokio::test]
async fn the_sample_in_java_tells_ours_from_others() {
    let directory = tempfile::tempdir().unwrap();
    let main = "class Sample {\n    public static void main(String[] arguments) throws Exception {\n        \
                String input = new String(System.in.readAllBytes(), \"UTF-8\");\n        \
                for (String line : input.split(\"\\n\")) {\n            String[] texts = line.split(\"\\t\", 5);\n            \
                System.out.println(ParcelTrack.isFromParcelTrack(texts[0], texts[1], texts[2], texts[3], \
                texts[4].getBytes(\"UTF-8\")));\n        }\n    }\n}\n";
    // The first class of a file is the one that runs.
    let sample = sample("java").replace("\nclass ParcelTrack", &format!("\n{main}\nclass ParcelTrack"));
    let path = file(directory.path(), "Sample.java", sample);
    let mut java = Command::new("java");
    java.arg(path);
    check(java).await;
}
