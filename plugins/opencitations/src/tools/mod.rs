//! The reserved tools.

pub(crate) mod linked;
