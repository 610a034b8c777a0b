//! Which glibc a program needs: one that is newer than that of Lambda's Amazon Linux 2023 does not even start there.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use goblin::elf::{Elf, VerneedSection};

/// Amazon Linux 2023 has this one: <https://docs.aws.amazon.com/linux/al2023/ug/core-glibc.html>
const OF_LAMBDA: Version = Version(2, 34);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Version(u32, u32);

/// Looks at the program of each package below this directory.
pub(crate) fn check_packages(directory: &Path) -> Result<()> {
    let mut packages = 0;
    for package in fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))? {
        let program = package?.path().join("bootstrap");
        if !program.exists() {
            continue;
        }
        packages += 1;
        let Version(major, minor) = needed(&program)?;
        println!("{} needs glibc {major}.{minor}", program.display());
        ensure!(Version(major, minor) <= OF_LAMBDA, "Lambda has glibc {}.{}", OF_LAMBDA.0, OF_LAMBDA.1);
    }
    ensure!(packages == local_stack::FUNCTIONS.len(), "{packages} packages in {}", directory.display());
    Ok(())
}

/// The newest version among the symbols that a program needs of glibc.
fn needed(program: &Path) -> Result<Version> {
    let content = fs::read(program)?;
    let elf = Elf::parse(&content).with_context(|| format!("{} is no program for Linux", program.display()))?;
    let libraries = elf.verneed.iter().flat_map(VerneedSection::iter);
    let symbols = libraries.flat_map(|library| library.iter().collect::<Vec<_>>());
    let names = symbols.filter_map(|symbol| elf.dynstrtab.get_at(symbol.vna_name)).filter_map(version);
    match names.max() {
        Some(newest) => Ok(newest),
        None => bail!("{} needs no glibc at all", program.display()),
    }
}

/// Reads `GLIBC_2.34`; a third number, of which no new ones are made, counts for nothing.
fn version(name: &str) -> Option<Version> {
    let mut numbers = name.strip_prefix("GLIBC_")?.split('.').map(str::parse);
    Some(Version(numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers_and_other_libraries_are_not_looked_at() {
        assert!(version("GLIBC_2.4") < version("GLIBC_2.34"));
        assert_eq!(version("GLIBC_2.2.5"), Some(Version(2, 2)));
        assert_eq!(version("GCC_3.0"), None);
        assert_eq!(version("GLIBC_PRIVATE"), None);
    }

    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[test]
    fn this_test_itself_needs_a_glibc_of_version_two() {
        let Version(major, minor) = needed(&std::env::current_exe().unwrap()).unwrap();
        assert!(major == 2 && minor >= 2, "{major}.{minor}");
    }
}
