//! The reserved tools.

pub(crate) mod lookup;
pub(crate) mod search;
