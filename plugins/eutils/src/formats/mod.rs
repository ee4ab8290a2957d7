//! The documents: text → values or a positioned error. Pure.

pub mod article;
mod article_json;
pub mod book;
pub(crate) mod dates;
pub mod ecitmatch;
pub mod efetch;
pub mod einfo;
pub(crate) mod elements;
pub mod elink;
pub mod epost;
pub mod esearch;
pub mod espell;
pub mod esummary;
pub mod idconv;
pub mod medline;
pub(crate) mod report;
pub mod updates;
