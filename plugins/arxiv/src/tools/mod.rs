//! The tools: arguments → requests → results.

pub mod arguments;
pub mod ids;
pub mod lookup;
pub mod query;
pub mod roles;
pub mod source_links;
