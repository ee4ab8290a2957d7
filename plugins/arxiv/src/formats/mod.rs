//! The documents: text → values or a positioned error. Pure.

pub mod entry;
pub mod feed;
mod links;
