//! The roles: arguments → requests → results.

use carrel_pdk::{Error, Host};

use crate::formats::links::Side;

mod links;
pub(crate) mod lookup;
mod search;

/// Runs a role.
///
/// # Errors
///
/// Invalid arguments, or the error of a request.
pub(crate) fn call(tool: &str, arguments: &str, host: &dyn Host) -> Result<String, Error> {
    match tool {
        "lookup" | "role:open_copies" => lookup::run(arguments, host),
        "role:search" => search::run(arguments, host),
        "role:references" => links::run(Side::Cited, arguments, host),
        "role:citations" => links::run(Side::Citing, arguments, host),
        other => Err(Error::unknown_tool(other)),
    }
}
