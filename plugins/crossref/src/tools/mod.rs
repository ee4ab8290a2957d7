//! The tools: arguments → requests → results.

pub mod arguments;
pub mod citation_match;
pub mod compare;
pub(crate) mod lookup;
pub(crate) mod roles;
pub mod updates;
pub(crate) mod works;
