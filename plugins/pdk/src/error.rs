//! The contract's errors that plugins report.

use std::fmt;

use serde::Serialize;

/// A code of `contract/v1/errors.json` whose `by` names the plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The arguments are invalid or contradict each other.
    InvalidArguments,
    /// The source answered and has no such item.
    NotFound,
    /// The document is not in the promised format.
    InvalidDocument,
    /// The source understood the request and reported an error.
    UpstreamError,
    /// The source's answer cannot be read.
    UpstreamInvalid,
    /// The source could not be reached.
    UpstreamUnavailable,
    /// The source's rate limit requires a longer wait than the call's deadline allows.
    RateLimited,
    /// The call's deadline passed.
    Timeout,
    /// A document, response or result exceeds its size limit.
    TooLarge,
    /// Policy refused a request.
    Denied,
}

impl Code {
    /// Every code, in the order of the contract.
    pub const ALL: [Self; 10] = [
        Self::InvalidArguments,
        Self::NotFound,
        Self::InvalidDocument,
        Self::UpstreamError,
        Self::UpstreamInvalid,
        Self::UpstreamUnavailable,
        Self::RateLimited,
        Self::Timeout,
        Self::TooLarge,
        Self::Denied,
    ];

    /// The code as the contract spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArguments => "invalid_arguments",
            Self::NotFound => "not_found",
            Self::InvalidDocument => "invalid_document",
            Self::UpstreamError => "upstream_error",
            Self::UpstreamInvalid => "upstream_invalid",
            Self::UpstreamUnavailable => "upstream_unavailable",
            Self::RateLimited => "rate_limited",
            Self::Timeout => "timeout",
            Self::TooLarge => "too_large",
            Self::Denied => "denied",
        }
    }
}

/// What to do about an error: the actions of `contract/v1/errors.json` that a plugin may set when
/// its code's default action does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Change the arguments.
    FixArguments,
    /// Try the same call again later.
    RetryLater,
    /// The operator can grant or correct what is missing: a key, an address that is blocked.
    AskOperator,
    /// The plugin's or Carrel's maintainers should know.
    ReportBug,
}

impl Action {
    /// Every action, in the order above.
    pub const ALL: [Self; 4] =
        [Self::FixArguments, Self::RetryLater, Self::AskOperator, Self::ReportBug];
}

/// The position of an error in a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Position {
    /// Byte offset in the UTF-8 text, including a byte order mark.
    pub offset: u64,
    /// The open elements at the offset, outermost first, `entry[3]` being the third:
    /// `feed/entry[3]/title`. Empty outside the root.
    pub path: String,
}

/// The error that a plugin returns instead of a result.
///
/// Messages are one line, in lower case and without a full stop, shaped "expected … but found …"
/// where that fits, and never name internal types. The code determines whether a retry helps and
/// what to do; a plugin sets these only when it knows better.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Error {
    /// What kind of error it is.
    pub code: Code,
    /// The message for a person.
    pub message: String,
    /// Whether the same call can succeed later, if that differs from the code's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    /// Seconds after which a retry can succeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<f64>,
    /// What to do, if that differs from the code's default action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    /// The place in the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
}

impl Error {
    /// An error of kind `code`.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            retryable: None,
            retry_after_seconds: None,
            action: None,
            position: None,
        }
    }

    /// The host called a tool that the manifest does not list.
    pub fn unknown_tool(tool: &str) -> Self {
        Self::new(Code::InvalidArguments, format!("this plugin has no tool {tool:?}"))
    }

    /// The host requested a format that the manifest does not list.
    pub fn unknown_format(format: &str) -> Self {
        Self::new(Code::InvalidArguments, format!("this plugin has no format {format:?}"))
    }

    /// The document is wrong at byte `offset`, inside the elements of `path`.
    pub fn invalid_document(
        message: impl Into<String>,
        offset: u64,
        path: impl Into<String>,
    ) -> Self {
        Self {
            position: Some(Position { offset, path: path.into() }),
            ..Self::new(Code::InvalidDocument, message)
        }
    }

    /// Sets the seconds after which a retry can succeed.
    #[must_use]
    pub fn retry_after(mut self, seconds: f64) -> Self {
        self.retry_after_seconds = Some(seconds);
        self
    }

    /// Sets whether a retry can succeed.
    #[must_use]
    pub fn retryable(mut self, retryable: bool) -> Self {
        self.retryable = Some(retryable);
        self
    }

    /// Sets what to do.
    #[must_use]
    pub fn action(mut self, action: Action) -> Self {
        self.action = Some(action);
        self
    }

    /// Marks the error as temporary: the same call can succeed later, because the upstream failed
    /// for reasons unrelated to the arguments.
    #[must_use]
    pub fn retry_later(self) -> Self {
        self.retryable(true).action(Action::RetryLater)
    }

    /// The error as the contract's JSON text.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| {
            // Serialization fails only for maps with non-string keys, which the error does not
            // have.
            format!(r#"{{"code":"{}","message":"error without details"}}"#, self.code.as_str())
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.code.as_str(), self.message)?;
        match &self.position {
            Some(Position { offset, path }) if path.is_empty() => {
                write!(formatter, " at byte {offset}")
            }
            Some(Position { offset, path }) => write!(formatter, " at byte {offset} in {path}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTRACT: &str = include_str!("../../../contract/v1/errors.json");

    #[test]
    fn codes_are_those_the_contract_opens_to_plugins() {
        let contract: serde_json::Value = serde_json::from_str(CONTRACT).unwrap();
        let mut open: Vec<&str> = contract["codes"]
            .as_object()
            .unwrap()
            .iter()
            .filter(|(_, entry)| entry["by"].as_array().unwrap().contains(&"plugin".into()))
            .map(|(code, _)| code.as_str())
            .collect();
        let mut ours: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        open.sort_unstable();
        ours.sort_unstable();
        assert_eq!(ours, open);
    }

    #[test]
    fn actions_are_the_contracts() {
        let contract: serde_json::Value = serde_json::from_str(CONTRACT).unwrap();
        for action in Action::ALL {
            let name = serde_json::to_value(action).unwrap();
            assert!(contract["actions"].get(name.as_str().unwrap()).is_some(), "{name}");
        }
    }

    #[test]
    fn a_code_is_written_as_the_contract_spells_it() {
        for code in Code::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }

    #[test]
    fn json_leaves_out_what_is_not_known() {
        let error = Error::new(Code::NotFound, "no such paper");
        assert_eq!(error.to_json(), r#"{"code":"not_found","message":"no such paper"}"#);
    }

    #[test]
    fn json_names_the_place_and_the_wait() {
        let error = Error::invalid_document("expected </title>", 17, "feed/title").retry_after(2.5);
        assert_eq!(
            error.to_json(),
            r#"{"code":"invalid_document","message":"expected </title>","retry_after_seconds":2.5,"position":{"offset":17,"path":"feed/title"}}"#
        );
        assert_eq!(
            error.to_string(),
            "invalid_document: expected </title> at byte 17 in feed/title"
        );
    }
}
