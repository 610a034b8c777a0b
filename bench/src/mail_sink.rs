//! A mail server that takes every mail at once and keeps none.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A mail server on 127.0.0.1. Ends with this value.
pub struct MailSink {
    address: SocketAddr,
    taken: Arc<Mutex<Vec<TakenMail>>>,
    server: JoinHandle<()>,
}

/// A mail that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakenMail {
    /// When its connection came.
    pub connected: Instant,
    /// When all of it was there.
    pub taken: Instant,
}

impl MailSink {
    /// Listens on a free port.
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.context("no free port")?;
        let address = listener.local_addr()?;
        let taken: Arc<Mutex<Vec<TakenMail>>> = Arc::default();
        let server = tokio::spawn({
            let taken = taken.clone();
            async move {
                while let Ok((connection, _)) = listener.accept().await {
                    let taken = taken.clone();
                    tokio::spawn(async move {
                        // Whoever goes away in the middle has sent nothing.
                        serve(connection, &taken).await.ok();
                    });
                }
            }
        });
        Ok(Self { address, taken, server })
    }

    /// What goes into `SMTP_URL`.
    pub fn url(&self) -> String {
        format!("smtp://{}", self.address)
    }

    /// Forgets the mails so far and returns when they came, in their order.
    pub fn take(&self) -> Vec<TakenMail> {
        std::mem::take(&mut self.taken.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for MailSink {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// As much of RFC 5321 as a client needs that sends what is right.
async fn serve(connection: TcpStream, taken: &Mutex<Vec<TakenMail>>) -> std::io::Result<()> {
    let connected = Instant::now();
    connection.set_nodelay(true)?;
    let mut connection = BufReader::new(connection);
    connection.write_all(b"220 sink\r\n").await?;
    let mut line = Vec::new();
    loop {
        line.clear();
        if connection.read_until(b'\n', &mut line).await? == 0 {
            return Ok(());
        }
        let verb = line.get(..4).unwrap_or_default().to_ascii_uppercase();
        match verb.as_slice() {
            b"EHLO" => connection.write_all(b"250-sink\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n").await?,
            b"DATA" => {
                connection.write_all(b"354 go on\r\n").await?;
                while line != b".\r\n" {
                    line.clear();
                    if connection.read_until(b'\n', &mut line).await? == 0 {
                        return Ok(());
                    }
                }
                let mail = TakenMail { connected, taken: Instant::now() };
                taken.lock().unwrap_or_else(PoisonError::into_inner).push(mail);
                connection.write_all(b"250 taken\r\n").await?;
            }
            b"QUIT" => return connection.write_all(b"221 bye\r\n").await,
            _ => connection.write_all(b"250 fine\r\n").await?,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use parceltrack::domain::InvoiceId;
    use parceltrack::mime::Sender;
    use parceltrack::ports::{Mail, SendMail as _};
    use parceltrack::smtp::Smtp;
    use uuid::Uuid;

    use super::*;

    #[tokio::test]
    async fn a_mail_is_taken_once_whatever_its_lines_begin_with() {
        let sink = MailSink::start().await.unwrap();
        let sender = Sender::parse("Lion City Logistics <invoices@lioncity.example>").unwrap();
        let smtp = Smtp::new(&sink.url(), sender, Duration::from_secs(10)).unwrap();
        let mail = Mail {
            invoice: InvoiceId(Uuid::nil()),
            to: "tan@example.com".parse().unwrap(),
            to_name: "陈伟明".to_owned(),
            subject: "Invoice".to_owned(),
            text: "DATA\n.\nQUIT\n".to_owned(),
            html: "<p>.</p>".to_owned(),
        };
        smtp.send(&mail).await.unwrap();
        smtp.send(&mail).await.unwrap();
        let taken = sink.take();
        assert_eq!(taken.len(), 2);
        assert!(taken.iter().all(|mail| mail.connected <= mail.taken));
        assert!(sink.take().is_empty());
    }
}
