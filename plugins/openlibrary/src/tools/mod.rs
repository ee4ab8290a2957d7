//! The reserved tool.

pub(crate) mod lookup;
