//! Arguments of a utility → request. Pure.

use carrel_pdk::{Request, percent};

/// The base URL of the E-utilities.
const EUTILS: &str = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/";
/// The URL of PMC's identifier converter.
const IDCONV: &str = "https://pmc.ncbi.nlm.nih.gov/tools/idconv/api/v1/articles/";
/// The longest query string of a GET, in bytes; a longer one becomes the body of a POST.
const LONGEST_QUERY: usize = 2000;
/// The number of identifiers from which NCBI asks for POST.
pub(crate) const POST_FROM: usize = 100;

/// A request builder: a utility and its parameters.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    base: String,
    pairs: Vec<(&'static str, String)>,
    post: bool,
}

impl Query {
    /// A request to the utility `name`, such as `esearch`.
    pub(crate) fn new(name: &str) -> Self {
        let extension = if name == "ecitmatch" { "cgi" } else { "fcgi" };
        let base = format!("{EUTILS}{name}.{extension}");
        Self { base, pairs: Vec::new(), post: false }
    }

    /// A request to PMC's identifier converter.
    pub(crate) fn idconv() -> Self {
        Self { base: IDCONV.to_owned(), pairs: Vec::new(), post: false }
    }

    /// Adds a parameter.
    #[must_use]
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.pairs.push((name, value.into()));
        self
    }

    /// Adds a parameter, if it has a value.
    #[must_use]
    pub(crate) fn maybe(self, name: &'static str, value: Option<impl Into<String>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Adds identifiers.
    #[must_use]
    pub(crate) fn ids<S: AsRef<str>>(mut self, ids: &[S]) -> Self {
        self.post |= ids.len() >= POST_FROM;
        let list: Vec<&str> = ids.iter().map(AsRef::as_ref).collect();
        self.with("id", list.join(","))
    }

    fn parameters(&self) -> String {
        let pairs = self.pairs.iter();
        let written = pairs.map(|(name, value)| format!("{name}={}", percent::query(value)));
        written.collect::<Vec<_>>().join("&")
    }

    /// `GET` or `POST`, by the size of the request.
    pub(crate) fn method(&self) -> &'static str {
        if self.post || self.parameters().len() > LONGEST_QUERY { "POST" } else { "GET" }
    }

    /// The URL, without the parameters that the host adds.
    pub(crate) fn url(&self) -> String {
        match self.method() {
            "POST" => self.base.clone(),
            _ => format!("{}?{}", self.base, self.parameters()),
        }
    }

    /// The request as a GET of any size, for services that accept nothing else.
    pub(crate) fn get(&self) -> Request {
        Request::get(format!("{}?{}", self.base, self.parameters()))
    }

    /// The request.
    pub(crate) fn request(&self) -> Request {
        match self.method() {
            "POST" => Request::post(
                self.base.clone(),
                "application/x-www-form-urlencoded",
                self.parameters(),
            ),
            _ => Request::get(self.url()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_query_goes_into_a_body() {
        let query = Query::new("efetch").with("db", "pubmed").ids(&["1", "2"]);
        assert_eq!(query.method(), "GET");
        assert_eq!(
            query.request().url,
            "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/efetch.fcgi?db=pubmed&id=1,2"
        );
        let many: Vec<String> = (1..=POST_FROM).map(|number| number.to_string()).collect();
        let query = Query::new("efetch").with("db", "pubmed").ids(&many);
        let request = query.request();
        assert_eq!(query.method(), "POST");
        assert_eq!(request.url, "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/efetch.fcgi");
        assert!(request.body.starts_with("db=pubmed&id=1,2,") && request.body.ends_with(",100"));
        let long = Query::new("esearch").with("term", "x".repeat(LONGEST_QUERY));
        assert_eq!(long.method(), "POST");
    }
}
