//! The sandbox's parsers compiled natively, as a Python module: for the differential test and for
//! measuring the sandbox's cost. For development only; no wheel contains it.

use carrel_arxiv::Arxiv;
use carrel_brave::Brave;
use carrel_crossref::Crossref;
use carrel_csl::Csl;
use carrel_datacite::DataCite;
use carrel_doaj::Doaj;
use carrel_duckduckgo::DuckDuckGo;
use carrel_europepmc::EuropePmc;
use carrel_eutils::Eutils;
use carrel_exa::Exa;
use carrel_google::Google;
use carrel_hackernews::HackerNews;
use carrel_jats::Jats;
use carrel_office::Office;
use carrel_openalex::OpenAlex;
use carrel_opencitations::OpenCitations;
use carrel_openlibrary::OpenLibrary;
use carrel_page::Page;
use carrel_pdf::Pdf;
use carrel_pdk::{Error, Plugin};
use carrel_reddit::Reddit;
use carrel_render::Render;
use carrel_searxng::SearXng;
use carrel_semanticscholar::SemanticScholar;
use carrel_serper::Serper;
use carrel_tavily::Tavily;
use carrel_tex::Tex;
use carrel_unpaywall::Unpaywall;
use carrel_youtube::YouTube;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// `parse` of the plugin `plugin`, or `None` if there is no such plugin.
fn parse_with(plugin: &str, format: &str, document: &str) -> Option<Result<String, Error>> {
    match plugin {
        "arxiv" => Some(Arxiv::parse(format, document)),
        "brave" => Some(Brave::parse(format, document)),
        "crossref" => Some(Crossref::parse(format, document)),
        "csl" => Some(Csl::parse(format, document)),
        "datacite" => Some(DataCite::parse(format, document)),
        "doaj" => Some(Doaj::parse(format, document)),
        "duckduckgo" => Some(DuckDuckGo::parse(format, document)),
        "europepmc" => Some(EuropePmc::parse(format, document)),
        "eutils" => Some(Eutils::parse(format, document)),
        "exa" => Some(Exa::parse(format, document)),
        "google" => Some(Google::parse(format, document)),
        "hackernews" => Some(HackerNews::parse(format, document)),
        "jats" => Some(Jats::parse(format, document)),
        "office" => Some(Office::parse(format, document)),
        "openalex" => Some(OpenAlex::parse(format, document)),
        "opencitations" => Some(OpenCitations::parse(format, document)),
        "openlibrary" => Some(OpenLibrary::parse(format, document)),
        "page" => Some(Page::parse(format, document)),
        "pdf" => Some(Pdf::parse(format, document)),
        "reddit" => Some(Reddit::parse(format, document)),
        "render" => Some(Render::parse(format, document)),
        "searxng" => Some(SearXng::parse(format, document)),
        "semanticscholar" => Some(SemanticScholar::parse(format, document)),
        "serper" => Some(Serper::parse(format, document)),
        "tavily" => Some(Tavily::parse(format, document)),
        "tex" => Some(Tex::parse(format, document)),
        "unpaywall" => Some(Unpaywall::parse(format, document)),
        "youtube" => Some(YouTube::parse(format, document)),
        _ => None,
    }
}

/// `parse_bytes` of the plugin `plugin`, or `None` if there is no such plugin.
fn parse_bytes_with(
    plugin: &str,
    format: &str,
    document: &[u8],
    options: &str,
) -> Option<Result<String, Error>> {
    match plugin {
        "arxiv" => Some(Arxiv::parse_bytes(format, document, options)),
        "crossref" => Some(Crossref::parse_bytes(format, document, options)),
        "datacite" => Some(DataCite::parse_bytes(format, document, options)),
        "doaj" => Some(Doaj::parse_bytes(format, document, options)),
        "europepmc" => Some(EuropePmc::parse_bytes(format, document, options)),
        "eutils" => Some(Eutils::parse_bytes(format, document, options)),
        "jats" => Some(Jats::parse_bytes(format, document, options)),
        "office" => Some(Office::parse_bytes(format, document, options)),
        "opencitations" => Some(OpenCitations::parse_bytes(format, document, options)),
        "openlibrary" => Some(OpenLibrary::parse_bytes(format, document, options)),
        "page" => Some(Page::parse_bytes(format, document, options)),
        "pdf" => Some(Pdf::parse_bytes(format, document, options)),
        "tex" => Some(Tex::parse_bytes(format, document, options)),
        _ => None,
    }
}

/// The plugins' parsers, compiled natively.
#[pymodule]
mod carrel_native {
    use super::{Error, PyResult, PyValueError, Python, parse_bytes_with, parse_with, pyfunction};

    /// Whether it was built with the profile `release`, so that its time is worth measuring.
    #[pymodule_export]
    const OPTIMISED: bool = cfg!(feature = "optimised");

    /// Reads an article of the plugin `jats` and renders it as Markdown.
    ///
    /// Raises:
    ///     ValueError: its only argument is the JSON of the error, as the contract fixes it.
    #[pyfunction]
    fn markdown(py: Python<'_>, format: &str, document: &str) -> PyResult<String> {
        let read = py.detach(|| carrel_jats::read(format, document));
        let read = read.map_err(|error| PyValueError::new_err(error.to_json()))?;
        Ok(read.to_markdown())
    }

    /// Reads a document as the plugin's component would, and returns its JSON.
    ///
    /// Raises:
    ///     ValueError: its only argument is the JSON of the error, as the contract fixes it.
    #[pyfunction]
    fn parse(py: Python<'_>, plugin: &str, format: &str, document: &str) -> PyResult<String> {
        outcome(plugin, py.detach(|| parse_with(plugin, format, document)))
    }

    /// Reads a document of bytes as the plugin's component would, and returns its JSON.
    ///
    /// Raises:
    ///     ValueError: its only argument is the JSON of the error, as the contract fixes it.
    #[pyfunction]
    #[pyo3(signature = (plugin, format, document, options="{}"))]
    fn parse_bytes(
        py: Python<'_>,
        plugin: &str,
        format: &str,
        document: &[u8],
        options: &str,
    ) -> PyResult<String> {
        outcome(plugin, py.detach(|| parse_bytes_with(plugin, format, document, options)))
    }

    fn outcome(plugin: &str, result: Option<Result<String, Error>>) -> PyResult<String> {
        match result {
            Some(Ok(json)) => Ok(json),
            Some(Err(error)) => Err(PyValueError::new_err(error.to_json())),
            None => Err(PyValueError::new_err(format!("no plugin is called {plugin:?}"))),
        }
    }
}
