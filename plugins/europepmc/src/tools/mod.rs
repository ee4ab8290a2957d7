//! The reserved tools: one module for each that has more to it than a request.

pub(crate) mod copies;
pub(crate) mod linked;
pub(crate) mod lookup;
pub(crate) mod search;
