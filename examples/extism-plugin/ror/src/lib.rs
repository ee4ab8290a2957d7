//! Research organisations by the identifiers of ROR (<https://ror.org>), as a plugin for hyper-mcp.
//!
//! `organization` reads what ROR answers and is tested natively; `offers` is what the plugin lists;
//! `export` holds the functions that a host calls and is compiled for WebAssembly alone.

pub mod offers;
pub mod organization;

#[cfg(target_family = "wasm")]
mod export;
