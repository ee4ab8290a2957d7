//! The documents: text → values or a positioned error. Pure.

pub(crate) mod answer;
pub(crate) mod resource;
pub mod works;
