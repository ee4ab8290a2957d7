//! The tools: arguments → requests → results.

use carrel_pdk::{Error, Host};

/// Runs a tool or a role.
///
/// # Errors
///
/// What keeps the call from a result.
pub(crate) fn call(tool: &str, _arguments: &str, _host: &dyn Host) -> Result<String, Error> {
    Err(Error::unknown_tool(tool))
}
