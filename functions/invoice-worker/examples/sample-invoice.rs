//! Writes a sample invoice: `sample-invoice NAME FILE`. `cargo xtask invoice` calls it.

use std::process::ExitCode;

use invoice_worker::pdf::{render, samples};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let written = match &arguments[..] {
        [name, file] => write(name, file),
        _ => Err("usage: sample-invoice NAME FILE".to_owned()),
    };
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(name: &str, file: &str) -> Result<(), String> {
    let invoice = samples::named(name)
        .ok_or_else(|| format!("there is no sample {name}; there are {}", samples::NAMES.join(", ")))?;
    let pdf = render(&invoice).map_err(|error| error.to_string())?;
    std::fs::write(file, pdf.into_bytes()).map_err(|error| format!("cannot write {file}: {error}"))
}
