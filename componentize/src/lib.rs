//! Core module → component.

use std::path::Path;

use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
};
use wit_component::ComponentEncoder;

/// The error message, on one line.
pub type Failure = String;

/// Makes a component of the core module in the file `input`, which targets the contract's world.
///
/// # Errors
///
/// The file cannot be read, or is not a module for that world.
pub fn componentize(input: impl AsRef<Path>) -> Result<Vec<u8>, Failure> {
    let input = input.as_ref();
    let module = std::fs::read(input).map_err(|error| format!("{}: {error}", input.display()))?;
    let problem = |error| format!("{}: {error:#}", input.display());
    let mut encoder = ComponentEncoder::default();
    encoder.validate(true);
    encoder.module(&module).map_err(problem)?;
    // A module for wasm32-unknown-unknown does not use the adapter; the encoder then drops it.
    encoder
        .adapter(WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER)
        .map_err(problem)?;
    encoder.encode().map_err(problem)
}
