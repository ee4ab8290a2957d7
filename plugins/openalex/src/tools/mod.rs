//! The tools and roles: arguments → requests → results.

use carrel_pdk::{Error, Host, lookup};

use crate::request::{self, Side};
use crate::response;

pub mod arguments;
mod links;
mod search;
pub mod works;

/// Runs a tool or a role.
///
/// # Errors
///
/// Invalid arguments, or the error of a request.
pub(crate) fn call(tool: &str, arguments: &str, host: &dyn Host) -> Result<String, Error> {
    match tool {
        "works" => works::run(arguments, host),
        "lookup" | "role:open_copies" => {
            lookup::one_by_one(arguments, host, request::work, |request, response| {
                response::work(host, request, response)
            })
        }
        "role:search" => search::run(arguments, host),
        "role:references" => links::run(Side::Cited, arguments, host),
        "role:citations" => links::run(Side::Citing, arguments, host),
        other => Err(Error::unknown_tool(other)),
    }
}
