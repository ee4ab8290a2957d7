//! Cases in folders: a document, what it must become, and now and then the format to read it in.

#![allow(clippy::panic, clippy::expect_used, reason = "tests fail loudly")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::Error;

/// One case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Case {
    folder: PathBuf,
}

impl Case {
    /// The cases of a folder, in order of their names.
    ///
    /// # Panics
    ///
    /// When the folder cannot be read.
    pub fn all(folder: impl AsRef<Path>) -> Vec<Self> {
        let folder = folder.as_ref();
        let Ok(entries) = fs::read_dir(folder) else { panic!("no {}", folder.display()) };
        let mut cases: Vec<Self> =
            entries.flatten().map(|entry| Self { folder: entry.path() }).collect();
        cases.sort();
        cases
    }

    /// Its name.
    pub fn name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Its document, whatever the ending.
    ///
    /// # Panics
    ///
    /// When it has none.
    pub fn document(&self) -> String {
        ["xml", "json", "txt"]
            .into_iter()
            .find_map(|ending| self.read(&format!("response.{ending}")))
            .unwrap_or_else(|| panic!("{} has no document", self.name()))
    }

    /// Its format, when it names one.
    pub fn format(&self) -> Option<String> {
        self.read("format").map(|text| text.trim().to_owned())
    }

    fn read(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.folder.join(file)).ok()
    }

    /// Checks that an outcome is the expected one.
    ///
    /// # Panics
    ///
    /// When it is another, or none is written down.
    pub fn check(&self, outcome: Result<String, Error>) {
        let expected = self.read("expected.json").expect("a case says what is expected");
        let expected: Value = serde_json::from_str(&expected).expect("what is expected is JSON");
        let found = match outcome {
            Ok(json) => serde_json::from_str(&json).expect("a result is JSON"),
            Err(error) => json!({"error": error}),
        };
        assert_eq!(found, expected, "{}", self.name());
    }
}

/// The cases of one plugin: those of a folder, beside a `README.md` that lists them.
#[derive(Debug, Clone)]
pub struct Suite {
    cases: Vec<Case>,
    list: PathBuf,
    format: &'static str,
}

impl Suite {
    /// The cases of `root/name`; `format` is that of a case which names none.
    ///
    /// # Panics
    ///
    /// When the folder cannot be read.
    pub fn open(root: impl AsRef<Path>, name: &str, format: &'static str) -> Self {
        let root = root.as_ref();
        Self { cases: Case::all(root.join(name)), list: root.join("README.md"), format }
    }

    /// Format and document of every case.
    pub fn documents(&self) -> Vec<(String, String)> {
        self.cases.iter().map(|case| (self.format_of(case), case.document())).collect()
    }

    /// The document of the case with that name.
    ///
    /// # Panics
    ///
    /// When there is none.
    pub fn document(&self, name: &str) -> String {
        let found = self.cases.iter().find(|case| case.name() == name);
        found.unwrap_or_else(|| panic!("no case {name}")).document()
    }

    fn format_of(&self, case: &Case) -> String {
        case.format().unwrap_or_else(|| self.format.to_owned())
    }

    /// Checks that there are so many cases at least, and that `parse` gives what each expects.
    ///
    /// # Panics
    ///
    /// When it does not.
    pub fn check_outcomes(
        &self,
        least: usize,
        parse: impl Fn(&str, &str) -> Result<String, Error>,
    ) {
        assert!(self.cases.len() >= least, "only {} cases found", self.cases.len());
        for case in &self.cases {
            case.check(parse(&self.format_of(case), &case.document()));
        }
    }

    /// Checks that the list names every case.
    ///
    /// # Panics
    ///
    /// When one is missing.
    pub fn check_listed(&self) {
        check_listed(&self.list, &self.cases);
    }
}

/// Checks that a list in Markdown names every case in a row of its own.
///
/// # Panics
///
/// When one is missing.
pub fn check_listed(list: impl AsRef<Path>, cases: &[Case]) {
    let list = fs::read_to_string(list).expect("the list can be read");
    for case in cases {
        let name = case.name();
        assert!(list.contains(&format!("| `{name}` |")), "{name} is not in the list");
    }
}
