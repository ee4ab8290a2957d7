//! What the plugins of web search providers share: the arguments and the result of the tool
//! `web_search`, and the meaning of what providers report.
//!
//! A provider's plugin makes a request of a [`Search`], reads the response with [`answer::read`], and
//! pushes what it found into [`Results`], which cleans it.

mod address;
pub mod answer;
pub mod arguments;
mod dates;
pub mod operators;
pub mod provider;
pub mod results;
#[cfg(not(target_family = "wasm"))]
pub mod testing;
mod text;

pub use address::address;
pub use answer::{Service, Trouble, Words};
pub use arguments::{Accepts, Filter, Safe, Search, TimeRange};
pub use dates::day;
pub use results::{Raw, Results};
pub use text::plain;
