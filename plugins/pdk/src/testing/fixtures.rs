//! Fixtures in folders: a document, its expected result, and optionally its format and options.

#![allow(clippy::panic, clippy::expect_used, reason = "tests fail loudly")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::Error;
use crate::testing::damage::{Numbers, damage};

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

    /// Its document, with any file extension.
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

    /// Its document as bytes: the file `document.*` or `response.*`.
    ///
    /// # Panics
    ///
    /// When it has none.
    pub fn bytes(&self) -> Vec<u8> {
        let named = |name: &str| name.starts_with("document.") || name.starts_with("response.");
        let entries = fs::read_dir(&self.folder).expect("a case is a folder");
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        files.retain(|file| file.file_name().is_some_and(|name| named(&name.to_string_lossy())));
        files.sort();
        let file = files.first().unwrap_or_else(|| panic!("{} has no document", self.name()));
        fs::read(file).expect("a document can be read")
    }

    /// Its options as JSON, from `options` in `case.json`; `{}` when it has none.
    ///
    /// # Panics
    ///
    /// When `case.json` is no JSON.
    pub fn options(&self) -> String {
        let case = self.read("case.json").unwrap_or_else(|| "{}".to_owned());
        let case: Value = serde_json::from_str(&case).expect("case.json is JSON");
        case.get("options").map_or_else(|| "{}".to_owned(), Value::to_string)
    }

    /// Its format, if it names one.
    pub fn format(&self) -> Option<String> {
        self.read("format").map(|text| text.trim().to_owned())
    }

    fn read(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.folder.join(file)).ok()
    }

    /// Checks that a result is the expected one.
    ///
    /// # Panics
    ///
    /// When it differs, or no result is recorded.
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
        self.case(name).document()
    }

    /// The bytes of the document of the case with that name.
    ///
    /// # Panics
    ///
    /// When there is none.
    pub fn bytes_of(&self, name: &str) -> Vec<u8> {
        self.case(name).bytes()
    }

    fn case(&self, name: &str) -> &Case {
        let found = self.cases.iter().find(|case| case.name() == name);
        found.unwrap_or_else(|| panic!("no case {name}"))
    }

    fn format_of(&self, case: &Case) -> String {
        case.format().unwrap_or_else(|| self.format.to_owned())
    }

    /// Checks that there are at least `least` cases, and that `parse` returns the expected result
    /// for each.
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

    /// Format and document of every case, as bytes.
    pub fn bytes(&self) -> Vec<(String, Vec<u8>)> {
        self.cases.iter().map(|case| (self.format_of(case), case.bytes())).collect()
    }

    /// Checks that there are at least `least` cases, and that `parse` returns the expected result
    /// for each one's bytes and options.
    ///
    /// # Panics
    ///
    /// When it does not.
    pub fn check_outcomes_of_bytes(
        &self,
        least: usize,
        parse: impl Fn(&str, &[u8], &str) -> Result<String, Error>,
    ) {
        assert!(self.cases.len() >= least, "only {} cases found", self.cases.len());
        for case in &self.cases {
            case.check(parse(&self.format_of(case), &case.bytes(), &case.options()));
        }
    }

    /// Passes the format and the text of `rounds` damaged documents to `check`; `pieces` are
    /// fragments of the format that are hard to parse. Every run makes the same ones.
    ///
    /// # Panics
    ///
    /// When `check` does.
    pub fn check_damaged(&self, rounds: usize, pieces: &[&str], check: impl Fn(&str, &str)) {
        let documents = self.documents();
        let mut numbers = Numbers::new(0x5EED_CA99_E112_3457);
        for round in 0..rounds {
            let (format, document) = &documents[round % documents.len()];
            let mut document = document.clone();
            damage(&mut document, pieces, &mut numbers);
            check(format, &document);
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

/// Checks that a list in Markdown has a row for every case.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_has_bytes_and_options() {
        let folder = std::env::temp_dir().join(format!("carrel-pdk-case-{}", std::process::id()));
        fs::create_dir_all(folder.join("one")).unwrap();
        fs::write(folder.join("one/document.bin"), b"\xff\0").unwrap();
        let cases = Case::all(&folder);
        assert_eq!(cases[0].bytes(), b"\xff\0");
        assert_eq!(cases[0].options(), "{}");
        fs::write(folder.join("one/case.json"), r#"{"options": {"first": 1}}"#).unwrap();
        assert_eq!(cases[0].options(), r#"{"first":1}"#);
        fs::remove_dir_all(folder).unwrap();
    }
}
