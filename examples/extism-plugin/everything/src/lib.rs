//! Offers one of every kind of content: what the protocol's conformance suite asks of a server.
//!
//! The plugin is configured under the name `test`, so that clients see `test_simple_text`.

pub mod offers;

#[cfg(target_family = "wasm")]
mod export;
#[cfg(target_family = "wasm")]
mod pause;
