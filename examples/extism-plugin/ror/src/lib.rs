//! Research organisations by the identifiers of ROR (<https://ror.org>), as a plugin for hyper-mcp.
//!
//! `organization` parses ROR's answers and is tested natively; `offers` declares tools, resources
//! and prompts; `export` holds the functions that a host calls and is compiled for WebAssembly
//! only.

pub mod offers;
pub mod organization;

#[cfg(target_family = "wasm")]
mod export;
