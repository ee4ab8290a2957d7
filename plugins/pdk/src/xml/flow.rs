//! Text that runs through markup and entities: the same for XML as for marked-up strings.

pub(super) use crate::text::flow::Flow;
