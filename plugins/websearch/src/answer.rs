//! Reads responses of providers by status and body, and says what their reports mean.

use carrel_pdk::json::lenient::{List, Object, Text, read_object};
use carrel_pdk::text::collapse;
use carrel_pdk::{Action, Code, Error, Failure, FailureKind, Host, Request, Response, refusal};
use serde::de::{MapAccess, SeqAccess};

use crate::Results;

/// A provider, for messages.
#[derive(Debug, Clone, Copy)]
pub struct Service {
    /// Its name for people.
    pub name: &'static str,
    /// The variable that sets its key; `None` if it has no key.
    pub key: Option<&'static str>,
    /// Where keys and credits come from.
    pub account: &'static str,
}

/// What a report is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The key is missing, wrong, or not allowed to search.
    Key,
    /// Credits, plan or quota are used up.
    Quota,
    /// Too many requests.
    Pause,
    /// A test for a person in place of an answer.
    Challenge,
    /// The provider is out of order.
    Outage,
    /// The arguments.
    Arguments,
}

/// The most characters of a report in a message.
const LONGEST: usize = 300;

impl Service {
    /// The error of a report.
    pub fn error(&self, trouble: Trouble, words: &str) -> Error {
        let name = self.name;
        let excerpt: String = collapse(words)
            .chars()
            .take(LONGEST)
            .map(|character| if character.is_control() { ' ' } else { character })
            .collect();
        let excerpt = excerpt.trim().trim_end_matches('.');
        let quoted = if excerpt.is_empty() { String::new() } else { format!(" ({excerpt})") };
        match trouble {
            Trouble::Key => {
                let remedy = match self.key {
                    Some(key) => format!("set {key} to a valid key of {}", self.account),
                    None => format!("see {}", self.account),
                };
                Error::new(
                    Code::UpstreamError,
                    format!("{name} refuses the API key{quoted}; {remedy}"),
                )
                .action(Action::AskOperator)
            }
            Trouble::Quota => Error::new(
                Code::RateLimited,
                format!("the quota at {name} is used up{quoted}; see {}", self.account),
            )
            .action(Action::AskOperator),
            Trouble::Pause => {
                Error::new(Code::RateLimited, format!("{name} asks for a pause{quoted}"))
            }
            Trouble::Challenge => Error::new(
                Code::UpstreamError,
                format!(
                    "blocked: {name} answered with a challenge, which tests for a person{quoted}"
                ),
            )
            .retry_later(),
            Trouble::Outage => {
                Error::new(Code::UpstreamUnavailable, format!("{name} is out of order{quoted}"))
            }
            Trouble::Arguments => {
                Error::new(Code::UpstreamError, format!("{name} refuses the search{quoted}"))
            }
        }
    }

    /// The error of a report with a status, a code word, or only a text.
    pub fn report(&self, status: Option<u64>, code: &str, words: &str) -> Error {
        let shown = if words.trim().is_empty() { code } else { words };
        self.error(trouble(status, &format!("{code} {words}")), shown)
    }

    /// The error of a request without a response.
    pub fn failure(&self, failure: Failure) -> Error {
        match failure.kind {
            FailureKind::RateLimited { seconds } => {
                self.error(Trouble::Pause, "").retry_after(seconds)
            }
            _ => failure.into(),
        }
    }
}

/// The words of a report: a text, an object with a text under one of the usual names, or a list of
/// these, of which the first with words counts.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Words(pub String);

impl Words {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.trim().is_empty()
    }
}

impl<'de> Object<'de> for Words {
    fn member<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        if !matches!(key, "error" | "message" | "msg" | "detail" | "details") {
            return Ok(false);
        }
        let words: Self = map.next_value()?;
        if self.is_empty() {
            *self = words;
        }
        Ok(true)
    }

    fn from_text(text: &str) -> Self {
        Self(text.to_owned())
    }

    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut items = List::<Self>::default();
        while let Some(item) = list.next_element()? {
            items.0.push(item);
        }
        Ok(items.0.into_iter().find(|words| !words.is_empty()).unwrap_or_default())
    }
}

impl<'de> serde::Deserialize<'de> for Words {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_object(deserializer)
    }
}

/// What a report is about, by its status, else by its words.
pub fn trouble(status: Option<u64>, words: &str) -> Trouble {
    let lower = words.to_ascii_lowercase().replace(['_', '-'], " ");
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| lower.contains(phrase));
    let short_term =
        says(&["per minute", "per second", "rate limit", "too many requests", "ratelimit"]);
    let long_term = says(&[
        "per day",
        "daily",
        "monthly",
        "credit",
        "budget",
        "billing",
        "payment",
        "usage limit",
        "plan limit",
        "quota",
    ]);
    let names_period = says(&["per day", "daily", "monthly", "credit", "budget"]);
    let is_quota = long_term && (names_period || !short_term);
    let is_key = says(&[
        "api key",
        "apikey",
        "unauthorized",
        "subscription token",
        "invalid token",
        "forbidden",
        "access not configured",
        "accessnotconfigured",
        "permission denied",
        "authentication",
        "access denied",
        "not in plan",
        "not in your plan",
        "feature disabled",
    ]);
    // The text is refused, not the key.
    let is_content = says(&["prohibited content", "moderation", "robots filter"]);
    match status {
        Some(402 | 432 | 433) => Trouble::Quota,
        Some(401 | 407) => Trouble::Key,
        Some(403) if is_content => Trouble::Arguments,
        Some(403) if is_quota => Trouble::Quota,
        Some(403) if short_term => Trouble::Pause,
        Some(403) => Trouble::Key,
        Some(429) if is_quota => Trouble::Quota,
        Some(429) => Trouble::Pause,
        Some(408 | 500..) => Trouble::Outage,
        _ if is_quota => Trouble::Quota,
        _ if short_term => Trouble::Pause,
        _ if is_key => Trouble::Key,
        _ if says(&["unavailable", "internal server", "bad gateway", "timed out", "timeout"]) => {
            Trouble::Outage
        }
        _ => Trouble::Arguments,
    }
}

/// A text that is there and not blank.
pub fn present<'t>(text: &'t Text<'_>) -> Option<&'t str> {
    text.0.as_deref().filter(|text| !text.trim().is_empty())
}

/// Sends the request of a search, and returns the results of its response.
///
/// # Errors
///
/// The failure, if there is no response; else as [`read`].
pub fn ask(
    service: &Service,
    (request, unapplied): (Request, Vec<&'static str>),
    host: &dyn Host,
    parse: fn(&str) -> Result<Results, Error>,
) -> Result<Results, Error> {
    let response = host.fetch(request).map_err(|failure| service.failure(failure))?;
    let mut found = read(service, &response, parse)?;
    found.unapplied = unapplied;
    Ok(found)
}

/// Parses a response's body with `parse`, or returns the response's error.
///
/// # Errors
///
/// The provider's report, by status and body; `upstream_invalid` when a successful answer cannot be
/// read.
pub fn read<'r, T>(
    service: &Service,
    response: &'r Response,
    parse: impl FnOnce(&'r str) -> Result<T, Error>,
) -> Result<T, Error> {
    let parsed = parse(&response.body);
    if response.is_success() {
        return parsed.map_err(|error| match error.code {
            Code::InvalidDocument => Error {
                code: Code::UpstreamInvalid,
                message: format!(
                    "the answer of {} cannot be read: {}",
                    service.name, error.message
                ),
                ..error
            },
            _ => error,
        });
    }
    let report = parsed.err().filter(|error| error.code != Code::InvalidDocument);
    let status = u64::from(response.status);
    let refused = refusal(service.name, response);
    Err(match (status, report) {
        // What the body says is more exact than the status.
        (400..=499, Some(report)) => match refused.retry_after_seconds {
            Some(seconds) if report.code == Code::RateLimited => report.retry_after(seconds),
            _ => report,
        },
        (401..=403 | 407 | 432 | 433, None) => {
            service.report(Some(status), "", &format!("status {status}"))
        }
        _ => refused,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use carrel_pdk::Header;

    const SERVICE: Service = Service {
        name: "Lists",
        key: Some("CARREL_SECRET_LISTS_API_KEY"),
        account: "https://lists.example",
    };

    #[test]
    fn status_and_words_say_what_a_report_is_about() {
        for (status, words, found) in [
            (Some(401), "", Trouble::Key),
            (Some(403), "", Trouble::Key),
            (Some(403), "dailyLimitExceeded", Trouble::Quota),
            (Some(402), "", Trouble::Quota),
            (Some(432), "this request exceeds your plan's set usage limit", Trouble::Quota),
            (Some(429), "RATE_LIMITED", Trouble::Pause),
            (
                Some(429),
                "Quota exceeded for metric 'Queries' and limit 'Queries per day'",
                Trouble::Quota,
            ),
            (Some(429), "Quota exceeded for limit 'Queries per minute per user'", Trouble::Pause),
            (Some(400), "Not enough credits", Trouble::Quota),
            (Some(400), "API key not valid. Please pass a valid API key.", Trouble::Key),
            (Some(422), "SUBSCRIPTION_TOKEN_INVALID", Trouble::Key),
            (Some(400), "Invalid Value", Trouble::Arguments),
            (Some(402), "API_KEY_BUDGET_EXCEEDED", Trouble::Quota),
            (None, "API_KEY_BUDGET_EXCEEDED", Trouble::Quota),
            (Some(403), "PROHIBITED_CONTENT blocked by moderation", Trouble::Arguments),
            (Some(403), "FEATURE_DISABLED", Trouble::Key),
            (Some(400), "OPTION_NOT_IN_PLAN", Trouble::Key),
            (Some(429), "QUOTA_LIMITED Request quota limit exceeded for plan.", Trouble::Quota),
            (Some(429), "Request rate limit exceeded for plan.", Trouble::Pause),
            (Some(500), "api key", Trouble::Outage),
            (None, "Service unavailable", Trouble::Outage),
            (None, "Too many requests", Trouble::Pause),
            (None, "", Trouble::Arguments),
        ] {
            assert_eq!(trouble(status, words), found, "{status:?} {words}");
        }
    }

    #[test]
    fn words_are_found_in_every_usual_form() {
        for (json, words) in [
            (r#""a""#, "a"),
            (r#"{"error": "a"}"#, "a"),
            (r#"{"message": {"msg": "a"}}"#, "a"),
            (r#"{"code": 1, "error": " ", "message": "a"}"#, "a"),
            (r#"[{"loc": ["body"], "msg": "a", "type": "x"}, "b"]"#, "a"),
            (r#"["", "b"]"#, "b"),
            ("null", ""),
            ("7", ""),
            ("[]", ""),
        ] {
            let read: Words = carrel_pdk::json::from_str(json).unwrap();
            assert_eq!(read.0, words, "{json}");
        }
    }

    fn of(status: u16, body: &str) -> Result<u32, Error> {
        let headers = vec![Header { name: "retry-after".to_owned(), value: "7".to_owned() }];
        let response = Response { status, url: String::new(), headers, body: body.to_owned() };
        read(&SERVICE, &response, |body| match body {
            "ok" => Ok(1),
            "" => Err(Error::invalid_document("nothing", 0, "")),
            words => Err(SERVICE.report(None, "", words)),
        })
    }

    #[test]
    fn a_response_is_its_result_or_its_error() {
        assert_eq!(of(200, "ok"), Ok(1));
        for (status, body, code, action) in [
            (200, "", Code::UpstreamInvalid, None),
            (200, "Invalid API key", Code::UpstreamError, Some(Action::AskOperator)),
            (400, "Not enough credits", Code::RateLimited, Some(Action::AskOperator)),
            (401, "", Code::UpstreamError, Some(Action::AskOperator)),
            (402, "", Code::RateLimited, Some(Action::AskOperator)),
            (429, "", Code::RateLimited, None),
            (422, "bad language", Code::UpstreamError, None),
            (503, "ok", Code::UpstreamUnavailable, None),
            (503, "broken", Code::UpstreamUnavailable, None),
        ] {
            let error = of(status, body).unwrap_err();
            assert_eq!((error.code, error.action), (code, action), "{status} {body}: {error}");
        }
        assert_eq!(of(429, "Too many requests").unwrap_err().retry_after_seconds, Some(7.0));
    }

    #[test]
    fn a_refused_key_names_the_variable() {
        let error = of(403, "Unauthorized.").unwrap_err();
        assert_eq!(
            error.message,
            "Lists refuses the API key (Unauthorized); set CARREL_SECRET_LISTS_API_KEY to a valid key of https://lists.example"
        );
    }

    #[test]
    fn a_challenge_can_be_retried_later() {
        let error = SERVICE.error(Trouble::Challenge, "");
        assert_eq!(
            (error.code, error.retryable, error.action),
            (Code::UpstreamError, Some(true), Some(Action::RetryLater))
        );
        assert!(error.message.starts_with("blocked: Lists"));
    }
}
