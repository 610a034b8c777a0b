//! The command line itself.

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::process::ExitCode {
    parcelctl::command_line().await
}
