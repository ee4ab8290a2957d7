//! Makes components of core modules and keeps their lock.
//!
//! ```text
//! cargo run -p xtask -- componentize IN.wasm OUT.wasm
//! cargo run -p xtask -- components --modules DIR --builder TEXT [--into DIR]
//! cargo run -p xtask -- components --check
//! cargo run -p xtask -- imports FILE.wasm
//! ```
//!
//! `scripts/build-wasm` is the usual way in: it finds a toolchain, builds the core modules and calls
//! `components`. Exit codes: 0 done, 1 failed or out of date, 2 misuse.

mod component;
mod lock;
mod plugins;
mod sources;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The folder of the built components and their lock, below the workspace's root.
const COMPONENTS: &str = "host/carrel/components";

const USAGE: &str = "usage: xtask componentize IN.wasm OUT.wasm
       xtask components --modules DIR --builder TEXT [--into DIR]
       xtask components --check
       xtask imports FILE.wasm";

/// The error message, on one line.
type Failure = String;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["componentize", input, output] => component::componentize(input, output, None),
        ["imports", file] => imports(file),
        ["components", "--check"] => check(&root()),
        ["components", "--modules", modules, "--builder", builder] => {
            let into = root().join(COMPONENTS);
            build(&root(), Path::new(modules), builder, &into)
        }
        ["components", "--modules", modules, "--builder", builder, "--into", into] => {
            build(&root(), Path::new(modules), builder, Path::new(into))
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// The workspace's root: this crate's parent.
fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_owned()
}

/// Makes every plugin's component from its core module, and writes the lock beside them.
fn build(root: &Path, modules: &Path, builder: &str, into: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(into).map_err(|error| format!("{}: {error}", into.display()))?;
    let mut lock = lock::Lock::default();
    for plugin in plugins::ALL {
        let input = modules.join(format!("{}.wasm", plugin.module));
        let output = into.join(format!("{}.wasm", plugin.name));
        component::componentize(&input, &output, Some(&(plugin.manifest)()))?;
        let component = lock::Component {
            digest: lock::digest_of_file(&output)?,
            sources: sources::hash(root, plugin.folder)?,
            builder: builder.to_owned(),
        };
        eprintln!("{}: {} {}", plugin.name, component.digest, output.display());
        lock.components.insert(plugin.name.to_owned(), component);
    }
    lock.write(into)
}

/// Compares the lock with the sources and with the components next to it.
fn check(root: &Path) -> Result<(), Failure> {
    let folder = root.join(COMPONENTS);
    let lock = lock::Lock::read(&folder)?;
    let mut stale = Vec::new();
    for plugin in plugins::ALL {
        let Some(locked) = lock.components.get(plugin.name) else {
            stale.push(format!("{} is not in the lock", plugin.name));
            continue;
        };
        if locked.sources != sources::hash(root, plugin.folder)? {
            stale.push(format!("the sources of {} have changed since it was built", plugin.name));
        }
        let file = folder.join(format!("{}.wasm", plugin.name));
        if locked.digest != lock::digest_of_file(&file)? {
            stale.push(format!("{} is not the file that was locked", file.display()));
        }
    }
    if stale.is_empty() {
        return Ok(());
    }
    Err(format!("{}; run scripts/build-wasm", stale.join("; ")))
}

/// Prints what a component imports, one name a line.
fn imports(file: &str) -> Result<(), Failure> {
    for name in component::imports(file)? {
        eprintln!("{name}");
    }
    Ok(())
}
