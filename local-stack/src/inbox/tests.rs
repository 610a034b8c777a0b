//! The inbox with a real SMTP client.

use std::time::Duration;

use lettre::message::{MultiPart, header};
use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use tempfile::TempDir;

use super::*;

const PATIENCE: Duration = Duration::from_secs(10);

struct TestInbox {
    inbox: Arc<Inbox>,
    client: InboxClient,
    smtp_port: u16,
    mails: TempDir,
}

impl TestInbox {
    async fn start() -> Result<Self> {
        Self::start_with(tempfile::tempdir()?).await
    }

    async fn start_with(mails: TempDir) -> Result<Self> {
        let smtp = TcpListener::bind("127.0.0.1:0").await?;
        let smtp_port = smtp.local_addr()?.port();
        let page = TcpListener::bind("127.0.0.1:0").await?;
        let client = InboxClient::new(&format!("http://{}", page.local_addr()?));
        let inbox = Inbox::start(smtp, mails.path())?;
        inbox.serve_page(page);
        Ok(Self { inbox, client, smtp_port, mails })
    }

    fn mailer(&self) -> AsyncSmtpTransport<Tokio1Executor> {
        AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous("127.0.0.1").port(self.smtp_port).build()
    }
}

fn message(subject: &str) -> Result<Message> {
    let parts = MultiPart::alternative_plain_html(
        "Dear Tan Wei Ming,\n\n.a line with a dot\n陈伟明".to_owned(),
        "<p>Dear Tan Wei Ming</p>".to_owned(),
    );
    Ok(Message::builder()
        .from("Lion City Logistics <invoices@lioncity.example>".parse()?)
        .to("Tan Wei Ming <tan@example.com>".parse()?)
        .subject(subject)
        .message_id(Some("<one@lioncity.example>".to_owned()))
        .header(header::MIME_VERSION_1_0)
        .multipart(parts)?)
}

#[tokio::test]
async fn a_sent_mail_is_listed_with_all_its_parts() -> Result<()> {
    let inbox = TestInbox::start().await?;
    inbox.mailer().send(message("Rechnung für 陈伟明")?).await?;

    let wanted = |mail: &MailSummary| mail.subject == "Rechnung für 陈伟明";
    let mail = inbox.client.wait_for_mail(wanted, PATIENCE).await?;

    assert_eq!(mail.summary.to, ["Tan Wei Ming <tan@example.com>"]);
    assert_eq!(mail.summary.message_id, "one@lioncity.example");
    assert!(mail.text.contains("\n.a line with a dot"), "{}", mail.text);
    assert!(mail.text.contains("陈伟明"), "{}", mail.text);
    assert_eq!(mail.html.trim(), "<p>Dear Tan Wei Ming</p>");
    assert!(mail.headers.iter().any(|header| header.name == "Message-ID"));
    assert!(mail.raw.contains("multipart/alternative"));
    Ok(())
}

#[tokio::test]
async fn mails_survive_a_restart_until_they_are_deleted() -> Result<()> {
    let inbox = TestInbox::start().await?;
    inbox.mailer().send(message("first")?).await?;
    inbox.mailer().send(message("second")?).await?;
    let before = subjects(&inbox.client).await?;
    inbox.inbox.close();

    let again = TestInbox::start_with(inbox.mails).await?;
    assert_eq!(before, ["second", "first"]);
    assert_eq!(subjects(&again.client).await?, before);

    again.client.clear().await?;
    let third = TestInbox::start_with(again.mails).await?;
    assert!(third.client.mails().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_stopped_server_refuses_and_a_started_one_takes_mail_again() -> Result<()> {
    let inbox = TestInbox::start().await?;
    let mailer = inbox.mailer();
    // The transport keeps its connection: stopping must end that one too.
    mailer.send(message("before")?).await?;

    inbox.client.set_server_state(ServerState::Stopped).await?;
    assert_eq!(inbox.client.server_state().await?, ServerState::Stopped);
    assert!(mailer.send(message("meanwhile")?).await.is_err());

    inbox.client.set_server_state(ServerState::Running).await?;
    mailer.send(message("after")?).await?;
    assert_eq!(subjects(&inbox.client).await?, ["after", "before"]);
    Ok(())
}

#[tokio::test]
async fn a_hanging_server_accepts_connections_and_never_answers() -> Result<()> {
    let inbox = TestInbox::start().await?;
    inbox.client.set_server_state(ServerState::Hanging).await?;

    // The transport's own timeout ends with the connection, which a hanging server does accept.
    let mailer = inbox.mailer();
    let sending = tokio::time::timeout(Duration::from_secs(1), mailer.send(message("lost")?)).await;
    assert!(sending.is_err(), "the server answered: {sending:?}");
    assert!(inbox.client.mails().await?.is_empty());
    Ok(())
}

async fn subjects(client: &InboxClient) -> Result<Vec<String>> {
    let mails = client.mails().await?;
    Ok(mails.into_iter().map(|mail| mail.subject).collect())
}
