//! Hashes the sources of a component.
//!
//! SHA-256 over one line for each file, in the order of the paths: the path below the workspace's
//! root with forward slashes, a space, the SHA-256 of its bytes with CRLF read as LF (so that a
//! checkout on Windows hashes alike), a line feed.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::Failure;
use crate::lock::hex;

/// Files that every component depends on: the lock file and the workspace's manifest for
/// dependencies and profile, `scripts/build-wasm` and `toolchain.py` for the compiler and its
/// flags, `componentize` and `xtask` for making the component.
const SHARED: &[&str] = &[
    "Cargo.lock",
    "Cargo.toml",
    "componentize/Cargo.toml",
    "componentize/src/lib.rs",
    "contract/v1/plugin.wit",
    "host/carrel/authoring/toolchain.py",
    "plugins/pdk/Cargo.toml",
    "plugins/pdk/src",
    "scripts/build-wasm",
    "xtask/Cargo.toml",
    "xtask/src/component.rs",
];

/// The hash of the sources of the plugin whose crate is in `folder`.
pub(crate) fn hash(root: &Path, folder: &str) -> Result<String, Failure> {
    let manifest = std::fs::read_to_string(root.join(folder).join("Cargo.toml"))
        .map_err(|error| format!("{folder}/Cargo.toml: {error}"))?;
    let folders = std::iter::once(folder.to_owned()).chain(crates_of(&manifest));
    let own: Vec<String> =
        folders.flat_map(|own| [format!("{own}/Cargo.toml"), format!("{own}/src")]).collect();
    let mut files = Vec::new();
    for path in SHARED.iter().copied().chain(own.iter().map(String::as_str)) {
        collect(&root.join(path), &mut files)?;
    }
    let mut lines = Vec::with_capacity(files.len());
    for file in files {
        let bytes = std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let path = file.strip_prefix(root).unwrap_or(&file);
        let path = path.to_string_lossy().replace('\\', "/");
        lines.push(format!("{path} {}\n", hex(&Sha256::digest(without_cr(bytes)))));
    }
    lines.sort();
    Ok(format!("sha256:{}", hex(&Sha256::digest(lines.concat()))))
}

/// The folders of the workspace's crates that a crate depends on, except `pdk`, which is in `SHARED`.
fn crates_of(manifest: &str) -> impl Iterator<Item = String> {
    manifest.lines().filter_map(|line| {
        let name = line.strip_prefix("carrel-")?.strip_suffix(".workspace = true")?;
        (name != "pdk").then(|| format!("plugins/{name}"))
    })
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let problem = |error| format!("{}: {error}", path.display());
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(path).map_err(problem)? {
        collect(&entry.map_err(problem)?.path(), files)?;
    }
    Ok(())
}

fn without_cr(bytes: Vec<u8>) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for (at, &byte) in bytes.iter().enumerate() {
        if byte == b'\r' && bytes.get(at + 1) == Some(&b'\n') {
            continue;
        }
        out.push(byte);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_endings_of_a_checkout_do_not_count() {
        assert_eq!(without_cr(b"a\r\nb\rc\n".to_vec()), b"a\nb\rc\n");
    }

    #[test]
    fn crates_that_a_plugin_shares_with_others_count() {
        let manifest =
            "[dependencies]\ncarrel-pdk.workspace = true\ncarrel-lists.workspace = true\n";
        assert_eq!(crates_of(manifest).collect::<Vec<_>>(), ["plugins/lists"]);
    }

    #[test]
    fn the_hash_covers_the_plugins_own_sources() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let arxiv = hash(root, "plugins/arxiv").unwrap();
        let pdk = hash(root, "plugins/pdk").unwrap();
        assert!(arxiv.starts_with("sha256:") && arxiv.len() == 71);
        assert_ne!(arxiv, pdk);
        assert_eq!(arxiv, hash(root, "plugins/arxiv").unwrap());
    }
}
