//! The reserved tools: one module for each that does more than one request.

pub(crate) mod copies;
pub(crate) mod linked;
pub(crate) mod lookup;
pub(crate) mod search;
