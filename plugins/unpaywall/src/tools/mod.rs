//! The role `open_copies`: DOIs → requests → works with their copies.

use carrel_pdk::{Error, Host, lookup};

use crate::{request, response};

/// Runs the role. Unpaywall's records are those of Crossref and OpenAlex with copies added, so it
/// does not take part in lookups.
///
/// # Errors
///
/// Invalid arguments, or the error of a request.
pub(crate) fn call(tool: &str, arguments: &str, host: &dyn Host) -> Result<String, Error> {
    match tool {
        "role:open_copies" => {
            lookup::one_by_one(arguments, host, request::record, |request, response| {
                response::work(host, request, response)
            })
        }
        other => Err(Error::unknown_tool(other)),
    }
}
