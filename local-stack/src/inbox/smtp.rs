//! SMTP sessions: `mailin` speaks the protocol, this file owns the sockets.

use std::future::pending;
use std::io;
use std::mem::take;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mailin::{Action, Handler, Response, Session, SessionBuilder, response};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::ServerState;
use super::store::Store;

const SERVER_NAME: &str = "inbox.local";
/// Slow, but quicker than anybody gives up.
const SLOWNESS: Duration = Duration::from_millis(1500);
const LONGEST_LINE: u64 = 1024 * 1024;
/// How much is said where one line would do.
const FLOOD: usize = 10 * 1024 * 1024;

/// Serves SMTP until it is aborted; the sessions end with it.
pub(super) async fn serve(listener: TcpListener, store: Arc<Store>, state: ServerState) {
    let mut sessions = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((socket, peer)) => {
                    let taken = Arc::new(AtomicU64::new(0));
                    let delivery = Delivery { store: Arc::clone(&store), state, message: Vec::new(), taken: Arc::clone(&taken) };
                    let session = SessionBuilder::new(SERVER_NAME).build(peer.ip(), delivery);
                    sessions.spawn(converse(socket, session, state, taken));
                }
                // Out of file descriptors, most likely: the next accept may succeed.
                Err(_) => tokio::task::yield_now().await,
            },
            Some(_) = sessions.join_next() => {}
        }
    }
}

async fn converse(
    socket: TcpStream,
    mut session: Session<Delivery>,
    state: ServerState,
    taken: Arc<AtomicU64>,
) -> io::Result<()> {
    let mut stream = BufReader::new(socket);
    answer(&mut stream, &session.greeting()).await?;
    let mut line = Vec::new();
    let mut heard = String::new();
    loop {
        line.clear();
        let read = (&mut stream).take(LONGEST_LINE).read_until(b'\n', &mut line).await?;
        if read == 0 {
            return Ok(());
        }
        heard.push_str(String::from_utf8_lossy(&line).trim_end());
        if state == ServerState::Slow && line.trim_ascii().eq_ignore_ascii_case(b"DATA") {
            tokio::time::sleep(SLOWNESS).await;
        }
        if state == ServerState::Hanging && line.trim_ascii().eq_ignore_ascii_case(b"DATA") {
            pending::<()>().await;
        }
        let taken_before = taken.load(Ordering::SeqCst);
        let response = session.process(&line);
        if taken.load(Ordering::SeqCst) > taken_before {
            let words = match state {
                ServerState::HangingUp => return Ok(()),
                ServerState::CuttingShort => format!("250 {heard}"),
                ServerState::Garbling => format!("2x0 {heard}\r\n"),
                ServerState::Flooding => format!("250-{heard}\r\n").repeat(FLOOD / heard.len() + 1),
                _ => String::new(),
            };
            if !words.is_empty() {
                stream.write_all(words.as_bytes()).await?;
                return stream.flush().await;
            }
        }
        match response.action {
            Action::NoReply => {}
            Action::Reply => answer(&mut stream, &response).await?,
            Action::Close | Action::UpgradeTls => return answer(&mut stream, &response).await,
        }
    }
}

async fn answer(stream: &mut BufReader<TcpStream>, response: &Response) -> io::Result<()> {
    stream.write_all(&response.buffer()?).await?;
    stream.flush().await
}

struct Delivery {
    store: Arc<Store>,
    state: ServerState,
    message: Vec<u8>,
    /// How many mails this session has taken.
    taken: Arc<AtomicU64>,
}

/// Addresses that begin like this are rejected whatever the server's state, as SES's simulator does with some of its own.
const NO_SUCH_MAILBOX: &str = "no-such-mailbox";

/// A real server quotes the address, too.
fn no_such_mailbox(to: &str) -> Response {
    Response::custom(550, format!("5.1.1 <{to}>: no such mailbox here"))
}

impl Handler for Delivery {
    fn rcpt(&mut self, to: &str) -> Response {
        match self.state {
            ServerState::Rejecting => no_such_mailbox(to),
            _ if to.starts_with(NO_SUCH_MAILBOX) => no_such_mailbox(to),
            ServerState::PuttingOff => Response::custom(451, "4.7.1 too many mails, try again later".to_owned()),
            ServerState::Running
            | ServerState::Hanging
            | ServerState::Stopped
            | ServerState::Slow
            | ServerState::HangingUp
            | ServerState::Garbling
            | ServerState::CuttingShort
            | ServerState::Flooding
            | ServerState::Quoting => response::OK,
        }
    }

    fn data(&mut self, line: &[u8]) -> io::Result<()> {
        self.message.extend_from_slice(line);
        Ok(())
    }

    fn data_end(&mut self) -> Response {
        if self.state == ServerState::Quoting {
            let message = take(&mut self.message);
            return Response::custom(
                554,
                format!("5.6.0 {}", String::from_utf8_lossy(&message).replace(['\r', '\n'], " ")),
            );
        }
        match self.store.add(take(&mut self.message)) {
            Ok(id) => {
                self.taken.fetch_add(1, Ordering::SeqCst);
                Response::custom(250, format!("2.0.0 Ok: queued as {id}"))
            }
            Err(error) => Response::custom(451, format!("4.3.0 cannot store the mail: {error}")),
        }
    }
}
