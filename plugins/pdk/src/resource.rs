//! The reserved tool `resource`: the documents that a manifest's `resources` offer by URI.

use serde::Deserialize;

use crate::{Error, args};

/// The arguments of a request for a document.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// One of the manifest's URIs.
    pub uri: String,
    /// Names of the manifest's secrets that are set. Only the host knows their values.
    pub secrets: Vec<String>,
}

impl Asked {
    /// Whether the operator has set the secret `name`.
    pub fn has(&self, name: &str) -> bool {
        self.secrets.iter().any(|secret| secret == name)
    }
}

/// Reads the tool's arguments.
///
/// # Errors
///
/// `invalid_arguments` when they are not those of the contract.
pub fn asked(arguments: &str) -> Result<Asked, Error> {
    args::arguments(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    #[test]
    fn the_uri_and_the_names_of_secrets_are_read() {
        let asked = asked(r#"{"uri": "x-data://info", "secrets": ["api_key"]}"#).unwrap();
        assert_eq!(asked.uri, "x-data://info");
        assert!(asked.has("api_key") && !asked.has("contact"));
        assert_eq!(super::asked("{}").unwrap_err().code, Code::InvalidArguments);
    }
}
