//! `components.lock`: each component's digest, the hash of its sources, and the compiler.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Failure;

const FILE: &str = "components.lock";

/// The lock, as JSON.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lock {
    /// By the plugin's name.
    pub(crate) components: BTreeMap<String, Component>,
}

/// One built component.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Component {
    /// `sha256:` and hexadecimal digits: the file's bytes.
    pub(crate) digest: String,
    /// The hash of its sources in the same form, see `sources`.
    pub(crate) sources: String,
    /// Compiler and target. Equal builders make equal bytes of equal sources.
    pub(crate) builder: String,
}

impl Lock {
    pub(crate) fn read(folder: &Path) -> Result<Self, Failure> {
        let file = folder.join(FILE);
        let text = std::fs::read_to_string(&file)
            .map_err(|error| format!("{}: {error}", file.display()))?;
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))
    }

    pub(crate) fn write(&self, folder: &Path) -> Result<(), Failure> {
        let file = folder.join(FILE);
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| format!("{}: {error}", file.display()))?;
        std::fs::write(&file, text + "\n").map_err(|error| format!("{}: {error}", file.display()))
    }
}

/// The digest of a file's bytes.
pub(crate) fn digest_of_file(file: &Path) -> Result<String, Failure> {
    let bytes = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(format!("sha256:{}", hex(&Sha256::digest(bytes))))
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_read_as_it_was_written() {
        let folder = std::env::temp_dir().join(format!("carrel-lock-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let component = Component {
            digest: "sha256:1".to_owned(),
            sources: "sha256:2".to_owned(),
            builder: "rustc".to_owned(),
        };
        let lock = Lock { components: [("one".to_owned(), component)].into() };
        lock.write(&folder).unwrap();
        assert_eq!(Lock::read(&folder).unwrap(), lock);
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(Lock::read(&folder).is_err());
    }

    #[test]
    fn a_digest_is_lower_case_hexadecimal() {
        assert_eq!(hex(&[0, 15, 171]), "000fab");
    }
}
