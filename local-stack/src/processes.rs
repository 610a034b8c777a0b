//! Looking up processes, and ending those that are ours.

use std::ffi::OsStr;
use std::path::Path;

use anyhow::Result;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind};

/// Processes that run the function called `name` in the stack with this state directory.
pub(crate) fn of_function(state_dir: &Path, name: &str) -> Result<Vec<u32>> {
    let variable = format!("AWS_LAMBDA_FUNCTION_NAME={name}");
    functions(state_dir, |process| process.environ().iter().any(|entry| **entry == *variable))
}

/// Processes of any function of the stack with this state directory.
pub(crate) fn of_any_function(state_dir: &Path) -> Result<Vec<u32>> {
    functions(state_dir, |_| true)
}

// The emulator unpacks functions below the state directory, so their program's path tells whose they are.
fn functions(state_dir: &Path, wanted: impl Fn(&sysinfo::Process) -> bool) -> Result<Vec<u32>> {
    let mut system = System::new()?;
    system.refresh_processes_specifics(
        ProcessesToUpdate::All,
        true,
        ProcessRefreshKind::nothing().without_tasks().with_exe(UpdateKind::Always).with_environ(UpdateKind::Always),
    );
    let processes = system.processes().values();
    Ok(processes
        .filter(|process| {
            let ours = |exe: &Path| exe.starts_with(state_dir) && exe.file_name() == Some(OsStr::new("bootstrap"));
            process.exe().is_some_and(ours) && wanted(process)
        })
        .map(|process| process.pid().as_u32())
        .collect())
}

/// Whether this process is alive and has `argument` on its command line. A number from a file proves
/// nothing by itself: the system gives old numbers to new processes.
pub(crate) fn has_argument(process: u32, argument: &Path) -> Result<bool> {
    let process = sysinfo::Pid::from_u32(process);
    let mut system = System::new()?;
    system.refresh_processes_specifics(
        ProcessesToUpdate::Some(&[process]),
        true,
        ProcessRefreshKind::nothing().with_cmd(UpdateKind::Always),
    );
    let Some(process) = system.process(process) else {
        return Ok(false);
    };
    let zombie = process.status() == sysinfo::ProcessStatus::Zombie;
    Ok(!zombie && process.cmd().iter().any(|word| Path::new(word) == argument))
}

pub(crate) fn kill(process: u32) {
    if let Some(process) = pid(process) {
        // Gone already is what was wanted.
        kill_process(process, Signal::KILL).ok();
    }
}

pub(crate) fn kill_group(leader: u32) {
    if let Some(leader) = pid(leader) {
        kill_process_group(leader, Signal::KILL).ok();
    }
}

fn pid(process: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(process).ok()?)
}
