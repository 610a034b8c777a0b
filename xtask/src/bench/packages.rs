//! The programs, built as they go to AWS, and how large their packages are.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use local_stack::{FUNCTIONS, Progress, virtual_environment};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::{FLOOR, PYTHON};
use crate::program::{Profile, StatusOk as _, cargo};

/// What a package for Python needs beside the code; the SDK and the runtime's client are in AWS's own images.
const PYTHON_PACKAGES: [&str; 3] = ["aws_lambda_powertools", "jmespath", "typing_extensions.py"];

/// Everything that is measured, ready to start.
pub(super) struct Built {
    /// Where the programs are.
    pub(super) programs: PathBuf,
    /// Python's virtual environment.
    pub(super) python: PathBuf,
    /// The packages' sizes in bytes, by contestant.
    pub(super) packages: BTreeMap<&'static str, u64>,
}

/// Builds the programs, which takes some minutes the first time.
pub(super) async fn build(root: &Path, profile: Profile, progress: &Progress) -> Result<Built> {
    progress("Building the functions as they go to AWS");
    let names = || [FLOOR].into_iter().chain(FUNCTIONS);
    let mut arguments = vec!["build"];
    arguments.extend(profile.arguments());
    arguments.extend(names().flat_map(|name| ["--package", name]));
    arguments.push("--bins");
    cargo(root, &arguments).status_ok().await?;
    let python = virtual_environment(root, "bench", progress).await?;

    progress("Packing");
    let programs = profile.directory(root);
    let mut packages = BTreeMap::new();
    for name in names() {
        let mut package = Package::new();
        package.add(&programs.join(name), "bootstrap")?;
        packages.insert(name, package.size()?);
    }
    packages.insert(PYTHON, python_package(root, &python)?);
    Ok(Built { programs, python, packages })
}

fn python_package(root: &Path, environment: &Path) -> Result<u64> {
    let mut package = Package::new();
    package.add(&root.join("bench/peers/python/app.py"), "app.py")?;
    let libraries = fs::read_dir(environment.join("lib"))?.next().context("an environment without libraries")??;
    for name in PYTHON_PACKAGES {
        package.add(&libraries.path().join("site-packages").join(name), name)?;
    }
    package.size()
}

/// A zip in memory, packed as `sam package` does.
struct Package(ZipWriter<io::Cursor<Vec<u8>>>);

impl Package {
    fn new() -> Self {
        Self(ZipWriter::new(io::Cursor::new(Vec::new())))
    }

    fn add(&mut self, path: &Path, name: &str) -> Result<()> {
        if path.is_dir() {
            for entry in fs::read_dir(path)? {
                let (entry, inside) = (entry?, name);
                let file_name = entry.file_name().to_string_lossy().into_owned();
                if file_name != "__pycache__" {
                    self.add(&entry.path(), &format!("{inside}/{file_name}"))?;
                }
            }
            return Ok(());
        }
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        self.0.start_file(name, options)?;
        let mut file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        io::copy(&mut file, &mut self.0)?;
        self.0.flush()?;
        Ok(())
    }

    fn size(self) -> Result<u64> {
        Ok(u64::try_from(self.0.finish()?.into_inner().len())?)
    }
}
