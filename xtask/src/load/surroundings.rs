//! What the functions run in here: release programs on a Runtime API, AWS in memory, and a mail server that takes everything.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use bench::{Aws, MailSink, Process, caller, settings};
use clap::Args;

use crate::program::{Profile, StatusOk as _, cargo};
use crate::{progress, root};

/// The functions that are measured under load.
const PROGRAMS: [&str; 3] = ["api", "invoice-worker", "outbox-relay"];

/// Who carries the mails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MailProvider {
    /// The mail server that takes everything.
    Smtp,
    /// SES of AWS in memory.
    Ses,
}

impl MailProvider {
    pub(super) const fn setting(self) -> &'static str {
        match self {
            Self::Smtp => "smtp",
            Self::Ses => "ses",
        }
    }
}

#[derive(Args)]
pub(crate) struct Programs {
    /// The directory of the release programs [default: they are built]
    #[arg(long, value_name = "DIRECTORY")]
    programs: Option<PathBuf>,
}

pub(super) struct Surroundings {
    pub(super) aws: Aws,
    pub(super) mail: MailSink,
    programs: PathBuf,
    variables: BTreeMap<String, String>,
}

impl Surroundings {
    /// Builds the programs, which takes some minutes the first time, and starts what stands around them.
    pub(super) async fn start(programs: &Programs) -> Result<Self> {
        let programs = programs.directory().await?;
        let aws = Aws::default();
        let mail = MailSink::start().await?;
        caller::issue_key(&aws).await?;
        let mut variables = settings::variables(&bench::serve(aws.clone()).await?);
        variables.insert("MAIL_PROVIDER".to_owned(), MailProvider::Smtp.setting().to_owned());
        variables.insert("SMTP_URL".to_owned(), mail.url());
        Ok(Self { aws, mail, programs, variables })
    }

    /// A new process of this function.
    pub(super) async fn function(&self, name: &str) -> Result<Process> {
        self.start_function(name, &self.variables).await
    }

    /// A new process of the worker, whose mails go this way.
    pub(super) async fn worker(&self, provider: MailProvider) -> Result<Process> {
        let mut variables = self.variables.clone();
        variables.insert("MAIL_PROVIDER".to_owned(), provider.setting().to_owned());
        self.start_function("invoice-worker", &variables).await
    }

    async fn start_function(&self, name: &str, variables: &BTreeMap<String, String>) -> Result<Process> {
        Process::start(self.programs.join(name), &[] as &[&str], variables, settings::timeout(name)?).await
    }

    /// Forgets the mails so far and returns how many there were.
    pub(super) fn take_mails(&self) -> usize {
        let by_ses = self.aws.take_calls().into_iter().filter(|call| call.name == "SES SendEmail").count();
        by_ses + self.mail.take().len()
    }
}

impl Programs {
    /// Those of this directory.
    pub(super) const fn of(directory: PathBuf) -> Self {
        Self { programs: Some(directory) }
    }

    /// Where they are, built as they go to AWS.
    pub(super) async fn directory(&self) -> Result<PathBuf> {
        if let Some(directory) = &self.programs {
            return Ok(directory.clone());
        }
        progress()("Building the functions as they go to AWS");
        let root = root()?;
        let mut arguments = vec!["build", "--release", "--bins"];
        arguments.extend(PROGRAMS.iter().flat_map(|name| ["--package", name]));
        cargo(&root, &arguments).status_ok().await?;
        Ok(Profile::Release.directory(&root))
    }
}
