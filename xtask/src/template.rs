//! What can be checked of the templates without an AWS account: that they are well-formed, that UAT and production come
//! to what linters and scanners find no fault with, and that the packages can be built.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use local_stack::{REGION, virtual_environment};
use tokio::process::Command;

use crate::program::StatusOk as _;
use crate::{glibc, progress};

/// The environments in AWS: each has a file in `deploy/parameters`.
const ENVIRONMENTS: [&str; 2] = ["uat", "prod"];

/// The templates that are what they are in every environment.
const PLAIN_TEMPLATES: [&str; 3] = ["deploy/pipeline.yaml", "deploy/target.yaml", "deploy/web-acl.yaml"];

/// Where checkov's skips stand, with their reasons.
const CHECKOV_SETTINGS: &str = "deploy/checkov.yaml";

pub(crate) async fn check(root: &Path) -> Result<()> {
    let checks = virtual_environment(root, "checks", &progress()).await?.join("bin");
    let scans = virtual_environment(root, "scans", &progress()).await?.join("bin");
    run(root, &checks, &["sam", "validate", "--lint", "--template", "template.yaml"]).await?;
    run(root, &checks, &["cfn-lint", "template.yaml"]).await?;
    let mut templates = PLAIN_TEMPLATES.map(|template| root.join(template)).to_vec();
    for environment in ENVIRONMENTS {
        templates.push(expanded(root, environment).await?);
    }
    for template in &templates {
        let template = template.to_str().context("the path of the workspace is no text")?;
        run(root, &checks, &["cfn-lint", template]).await?;
        run(root, &scans, &["checkov", "--config-file", CHECKOV_SETTINGS, "--file", template]).await?;
    }
    run(root, &checks, &["sam", "build", "--template", "template.yaml"]).await?;
    glibc::check_packages(&root.join(".aws-sam/build"))
}

/// The properties of a resource, as template.yaml says them.
pub(crate) fn properties(root: &Path, resource: &str) -> Result<serde_yaml_ng::Value> {
    let template = fs::read_to_string(root.join("template.yaml")).context("cannot read template.yaml")?;
    let template: serde_yaml_ng::Value = serde_yaml_ng::from_str(&template)?;
    let properties = template["Resources"][resource].get("Properties");
    properties.cloned().with_context(|| format!("template.yaml has no {resource}"))
}

/// What CloudFormation makes of the template in this environment, as a file.
async fn expanded(root: &Path, environment: &str) -> Result<PathBuf> {
    let python = virtual_environment(root, "deploy", &progress()).await?.join("bin/python");
    let mut command = Command::new(python);
    command.args(["local-stack/deploy/expand.py", "--template", "template.yaml", "--parameters"]);
    command.arg(format!("deploy/parameters/{environment}.yaml")).current_dir(root).kill_on_drop(true);
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    let output = command.output().await.context("cannot run expand.py")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr).trim());
    let directory = root.join(".local/templates");
    fs::create_dir_all(&directory)?;
    let file = directory.join(format!("{environment}.json"));
    fs::write(&file, output.stdout)?;
    Ok(file)
}

async fn run(root: &Path, tools: &Path, call: &[&str]) -> Result<()> {
    println!("-- {}", call.join(" "));
    // `sam build` calls `cargo lambda`, which is a program of the same directory.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([tools.to_owned()].into_iter().chain(std::env::split_paths(&path)))?;
    let mut command = Command::new(tools.join(call[0]));
    command.args(&call[1..]).current_dir(root).env("PATH", &path);
    command.env("SAM_CLI_TELEMETRY", "0").env("AWS_DEFAULT_REGION", REGION);
    command.status_ok().await
}
