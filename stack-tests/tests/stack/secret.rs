//! A mail server's password, as the worker reads it at start.

use parceltrack::aws::secret_text;
use parceltrack::ports::PortError;
use stack_tests::Stack;
use uuid::Uuid;

#[tokio::test]
async fn a_secret_is_read_by_its_arn() {
    let secrets = Stack::running().await.clients.secrets();
    let text = "smtps://user:password@mail.example.com:465";
    let made = secrets.create_secret().name(Uuid::new_v4().to_string()).secret_string(text).send().await.unwrap();
    assert_eq!(secret_text(&secrets, made.arn().unwrap()).await.unwrap(), text);
}

#[tokio::test]
async fn a_secret_that_is_not_there_keeps_the_worker_from_starting() {
    let secrets = Stack::running().await.clients.secrets();
    let arn = "arn:aws:secretsmanager:ap-southeast-1:000000000000:secret:parceltrack/nothing-a1b2c3";
    assert!(matches!(secret_text(&secrets, arn).await, Err(PortError::Broken(_))));
}
