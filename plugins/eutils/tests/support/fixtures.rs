//! The fixtures of this plugin.

use std::fs;
use std::path::{Path, PathBuf};

/// Every case, in order.
pub fn all() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/eutils");
    let mut cases: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    cases
}

/// The case's format.
pub fn format(case: &Path) -> String {
    fs::read_to_string(case.join("format")).unwrap().trim().to_owned()
}

/// The case's document.
pub fn document(case: &Path) -> String {
    let names = ["response.xml", "response.txt", "response.json"];
    let file = names.map(|name| case.join(name)).into_iter().find(|file| file.exists()).unwrap();
    fs::read_to_string(file).unwrap()
}
