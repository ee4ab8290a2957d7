//! The guest kit: the guest side of Carrel's plugin contract.
//!
//! A plugin is a type that implements [`Plugin`] and one line that exports it:
//!
//! ```
//! use carrel_pdk::{Error, Host, Manifest, Plugin};
//!
//! struct Echo;
//!
//! impl Plugin for Echo {
//!     fn manifest() -> Manifest {
//!         Manifest::new("echo", "0.1.0", "Gives back what it was given.")
//!     }
//!
//!     fn call(tool: &str, arguments: &str, _host: &dyn Host) -> Result<String, Error> {
//!         match tool {
//!             "say" => Ok(arguments.to_owned()),
//!             other => Err(Error::unknown_tool(other)),
//!         }
//!     }
//!
//!     fn parse(format: &str, _document: &str) -> Result<String, Error> {
//!         Err(Error::unknown_format(format))
//!     }
//! }
//!
//! carrel_pdk::plugin!(Echo);
//! ```
//!
//! Compiled for WebAssembly, [`plugin!`] exports the contract's functions. Compiled natively, it
//! only checks the type, and unit tests run the same code with [`testing::FakeHost`]. A plugin
//! never sleeps, retries or reads a clock: the host, which a plugin calls through [`Host`], limits
//! rates, retries and caches.

#[cfg(target_family = "wasm")]
#[allow(unsafe_code)]
mod alloc;
pub mod answer;
pub mod args;
pub mod document;
mod error;
#[cfg(target_family = "wasm")]
#[doc(hidden)]
pub mod export;
mod fetch;
pub mod id;
pub mod json;
pub mod lookup;
pub mod lucene;
pub mod manifest;
pub mod percent;
mod plugin;
pub mod record;
mod refusal;
pub mod report;
pub mod resource;
pub mod roles;
mod scan;
pub mod schema;
#[cfg(not(target_family = "wasm"))]
pub mod testing;
pub mod text;
pub mod url;
pub mod xml;

pub use args::arguments;
pub use error::{Action, Code, Error, Position};
pub use fetch::{Failure, FailureKind, Header, Host, Level, Method, Request, Response, discard};
pub use manifest::Manifest;
pub use plugin::Plugin;
pub use refusal::refusal;
pub use report::report;

/// The contract's generated bindings; [`plugin!`] and [`export`] are their only users.
#[cfg(target_family = "wasm")]
#[doc(hidden)]
#[allow(unsafe_code, missing_docs, unreachable_pub, clippy::all)]
pub mod bindings {
    wit_bindgen::generate!({
        path: "../../contract/v1/plugin.wit",
        world: "plugin",
        pub_export_macro: true,
        export_macro_name: "export",
        default_bindings_module: "carrel_pdk::bindings",
    });
}

/// The bindings of the exported interface `documents`, which only some plugins have. Its world is
/// merged with the other one when the component is made.
#[cfg(target_family = "wasm")]
#[doc(hidden)]
#[allow(unsafe_code, missing_docs, unreachable_pub, clippy::all)]
pub mod document_bindings {
    wit_bindgen::generate!({
        path: "../../contract/v1/plugin.wit",
        inline: "package carrel:kit; world documents { export carrel:plugin/documents@1.0.0; }",
        world: "carrel:kit/documents",
        pub_export_macro: true,
        export_macro_name: "export_documents",
        default_bindings_module: "carrel_pdk::document_bindings",
    });
}
