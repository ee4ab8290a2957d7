//! JSON: writes results, and reads documents of sources that answer in JSON.

pub mod document;
mod fast_path;
pub mod lenient;
pub mod position;
mod reader;
#[allow(unsafe_code)]
mod writer;

pub use reader::{Flaw, from_str};
pub use writer::{Array, Object, Writer};
