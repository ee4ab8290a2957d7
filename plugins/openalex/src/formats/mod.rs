//! The documents: text → values or a positioned error. Pure.

pub(crate) mod document;
pub(crate) mod inverted_index;
pub(crate) mod item;
pub mod works;
