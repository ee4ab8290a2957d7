//! JSON text: results on their way out, and documents of sources that answer in JSON.

mod fast_path;
mod reader;
#[allow(unsafe_code)]
mod writer;

pub use reader::{Flaw, from_str};
pub use writer::{Array, Object, Writer};
