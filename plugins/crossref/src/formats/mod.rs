//! The documents: text → values or a positioned error. Pure.

pub(crate) mod document;
pub(crate) mod item;
pub(crate) mod lenient;
pub mod page;
mod position;
pub mod works;
