//! The commands that README and docs show in fenced `sh` blocks, and who runs each: a command that nobody has classified fails
//! the test below.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

/// A command as a document shows it, without its comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Documented {
    /// The document, from the workspace's root.
    pub(crate) document: String,
    pub(crate) line: usize,
    pub(crate) command: String,
}

/// Who runs a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runner {
    /// The step `commands`, in the README's section *One function at a time*.
    Watch,
    /// The step `commands`, with its placeholders filled in.
    Stack,
    /// Another step of `cargo xtask test`, or what runs all of them.
    Step(&'static str),
    /// Nobody, and why.
    Nobody(&'static str),
}

const AWS: Runner = Runner::Nobody("needs an account of AWS");
const FUZZING: Runner = Runner::Nobody("fuzzing takes ten minutes for each target, and needs cargo-fuzz");

/// Commands by how they begin; the longest beginning counts.
const RUNNERS: &[(&str, Runner)] = &[
    (".ci/run", Runner::Step("all")),
    (".local/venv-checks/bin/sam local invoke", Runner::Nobody("needs Docker")),
    ("PACKAGES_BUCKET=BUCKET deploy/deploy.sh", AWS),
    ("KEY=pt_… deploy/smoke.py", AWS),
    ("aws ", AWS),
    ("cargo fuzz run", FUZZING),
    ("cargo lambda invoke", Runner::Watch),
    ("cargo lambda watch", Runner::Watch),
    ("cargo run -p parcelctl -- keys create --help", Runner::Stack),
    ("cargo xtask bench", Runner::Step("measure, with --quick")),
    ("cargo xtask chaos", Runner::Step("chaos")),
    ("cargo xtask drill", Runner::Step("drill")),
    ("cargo xtask instructions", Runner::Step("instructions")),
    ("cargo xtask load --help", Runner::Stack),
    ("cargo xtask load relay", Runner::Step("measure, of the fewest invoices")),
    ("cargo xtask load scale", Runner::Step("measure, of a few hundred parcels")),
    ("cargo xtask load soak", Runner::Step("measure, for seconds, which are too short to judge growth")),
    ("cargo xtask load worker", Runner::Step("measure, of the fewest invoices")),
    ("cargo xtask rush", Runner::Step("rush")),
    ("cargo xtask smoke", Runner::Step("smoke")),
    ("cargo xtask test", Runner::Step("all")),
    ("cargo xtask test --only template", Runner::Step("template")),
    ("cargo xtask up", Runner::Step("commands")),
    ("cp events/", FUZZING),
    ("curl -H \"Authorization: Bearer $KEY\" http://127.0.0.1:9000", Runner::Watch),
    ("curl -X POST https://parcels.example.com/api/webhooks", Runner::Stack),
    ("deploy/package.sh", AWS),
    ("echo '{\"Parameters\"", Runner::Nobody("needs Docker")),
    ("eval \"$(aws", AWS),
    ("export API_KEYS_TABLE=$(aws", AWS),
    ("export INVOICES_TABLE=…", AWS),
    ("iterator=$(aws", AWS),
    ("mkdir -p fuzz/corpus", FUZZING),
    ("parcelctl ", Runner::Stack),
    ("pyftsubset", Runner::Nobody("was done once, for fonts that are in the tree")),
];

/// What fenced blocks may be beside `sh`: none of it is a command.
const OTHER_LANGUAGES: [&str; 6] = ["java", "javascript", "json", "mermaid", "python", "text"];

impl Documented {
    /// Who runs it.
    pub(crate) fn runner(&self) -> Result<Runner> {
        let known = RUNNERS.iter().filter(|(beginning, _)| self.command.starts_with(beginning));
        let longest = known.max_by_key(|(beginning, _)| beginning.len());
        let (_, runner) = longest.with_context(|| {
            format!("{}:{}: nobody runs `{}`: say in {} who does", self.document, self.line, self.command, file!())
        })?;
        Ok(*runner)
    }
}

/// All commands of all documents, in their order.
pub(crate) fn all(root: &Path) -> Result<Vec<Documented>> {
    let mut commands = Vec::new();
    for document in markdown(root)? {
        let name = document.strip_prefix(root)?.to_string_lossy().into_owned();
        commands.extend(of_document(&name, &fs::read_to_string(&document)?)?);
    }
    Ok(commands)
}

/// The Markdown of the tree, without what builds and tools leave in it.
fn markdown(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut documents = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && !name.starts_with('.') && !["target", "node_modules"].contains(&&*name) {
            documents.extend(markdown(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            documents.push(path);
        }
    }
    documents.sort();
    Ok(documents)
}

fn of_document(document: &str, text: &str) -> Result<Vec<Documented>> {
    let mut commands = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(language) = line.trim_start().strip_prefix("```") else { continue };
        let block = lines.by_ref().take_while(|(_, line)| !line.trim_start().starts_with("```"));
        let block: Vec<(usize, &str)> = block.collect();
        match language.trim() {
            "sh" => commands.extend(of_block(document, &block)?),
            language if OTHER_LANGUAGES.contains(&language) => {}
            language => bail!("{document}:{}: what is a block of {language:?}?", number + 1),
        }
    }
    Ok(commands)
}

/// A command ends with its line, unless a backslash or an open quote goes on to the next.
fn of_block(document: &str, block: &[(usize, &str)]) -> Result<Vec<Documented>> {
    let mut commands = Vec::new();
    let mut begun: Option<Documented> = None;
    for (number, line) in block {
        let mut command = match begun.take() {
            Some(before) => Documented { command: format!("{}\n{}", before.command, line), ..before },
            None if line.trim().is_empty() => continue,
            None => Documented { document: document.to_owned(), line: number + 1, command: line.trim().to_owned() },
        };
        match end_of_command(&command.command) {
            End::Open => begun = Some(command),
            End::At(end) => {
                command.command.truncate(end);
                command.command.replace("\\\n", "").trim_end().clone_into(&mut command.command);
                commands.push(command);
            }
        }
    }
    ensure!(begun.is_none(), "{document}: a command does not end: {begun:?}");
    Ok(commands)
}

enum End {
    /// Before its comment, or where the text ends.
    At(usize),
    /// In a later line.
    Open,
}

fn end_of_command(text: &str) -> End {
    let (mut quote, mut before) = (None, ' ');
    for (at, it) in text.char_indices() {
        match (quote, it) {
            (None, '\'' | '"') => quote = Some(it),
            (Some(open), it) if open == it => quote = None,
            (None, '#') if before.is_whitespace() => return End::At(at),
            _ => {}
        }
        before = it;
    }
    if quote.is_some() || before == '\\' { End::Open } else { End::At(text.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_that_the_documents_show_is_run_or_says_why_not() {
        let commands = all(&crate::root().unwrap()).unwrap();
        assert!(commands.len() > 50, "{}", commands.len());
        for command in &commands {
            command.runner().unwrap();
        }
        for (beginning, _) in RUNNERS {
            assert!(commands.iter().any(|it| it.command.starts_with(beginning)), "no document shows `{beginning}`");
        }
    }

    #[test]
    fn a_command_or_a_block_that_nobody_knows_fails() {
        let unknown = of_document("A.md", "```sh\nrm -r everything\n```\n").unwrap();
        assert!(unknown[0].runner().is_err());
        assert!(of_document("A.md", "```\nwhatever\n```\n").is_err());
    }

    #[test]
    fn a_command_is_read_over_its_lines_and_without_its_comment() {
        let text =
            "Before.\n   ```sh\n   a \"#1\" \\\n     b   # why\n\n   c -d '{\n  \"e\": 1}'\n   ```\n```json\n{}\n```\n";
        let commands = of_document("A.md", text).unwrap();
        let read: Vec<_> = commands.iter().map(|command| (command.line, command.command.as_str())).collect();
        assert_eq!(read, [(3, "a \"#1\"      b"), (6, "c -d '{\n  \"e\": 1}'")]);
    }
}
