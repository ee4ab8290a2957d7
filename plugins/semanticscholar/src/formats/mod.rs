//! The documents: text → values or a positioned error. Pure.

pub(crate) mod document;
pub(crate) mod item;
pub mod links;
pub mod next;
pub mod papers;
