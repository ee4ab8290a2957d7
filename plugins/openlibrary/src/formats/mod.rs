//! The documents: text → values or a positioned error. Pure.

pub(crate) mod answer;
pub(crate) mod book;
pub mod books;
