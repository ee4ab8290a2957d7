//! Where an article can be read, and whether it is free.

use carrel_pdk::record::fields::{address, plain, text};
use carrel_pdk::record::{Link, OpenCopy, Text};

use crate::formats::article::{Article, FullText};

/// Europe PMC's interface, which gives the XML of open articles.
const REST: &str = "https://www.ebi.ac.uk/europepmc/webservices/rest";

/// The copies that are free, the other forms, and whether the article is free to read.
///
/// Open access is Europe PMC's flag, and also a copy marked as free. `N` means only that the
/// article is not in the open-access subset; the article is not free if all listed forms need a
/// subscription.
pub(super) fn copies<'d>(
    article: &mut Article<'d>,
    pmcid: Option<&str>,
) -> (Vec<OpenCopy<'d>>, Vec<Link<'d>>, Option<bool>) {
    let flag = |text: &carrel_pdk::json::lenient::Text<'_>| {
        text.0.as_deref().is_some_and(|text| text.trim().eq_ignore_ascii_case("Y"))
    };
    let is_open = flag(&article.is_open_access);
    let (in_epmc, in_pmc) = (flag(&article.in_epmc), flag(&article.in_pmc));
    let has_pdf = flag(&article.has_pdf);
    let license = text(std::mem::take(&mut article.license));
    let listed = article.full_texts.take();
    let is_listed = listed.is_some();
    let (mut copies, mut links) = (Vec::new(), Vec::new());
    for form in listed.map(|list| list.items.0).unwrap_or_default() {
        let code = form.availability.0.as_deref().unwrap_or_default().trim().to_ascii_uppercase();
        if ["OA", "F"].contains(&code.as_str()) {
            copies.extend(copy(form, license.clone()));
        } else {
            links.extend(link(form));
        }
    }
    let is_subscription_only = is_listed && copies.is_empty() && !links.is_empty();
    if let Some(pmcid) = pmcid {
        let own = |url: String, kind: &'static str, license: Option<Text<'d>>| OpenCopy {
            url: url.into(),
            kind: kind.into(),
            host_type: Some("repository".into()),
            license,
            ..OpenCopy::default()
        };
        // `lite` lists no URLs; they are built from the identifier.
        if copies.is_empty() && in_epmc {
            let page = format!("https://europepmc.org/articles/{pmcid}");
            if has_pdf {
                copies.push(own(format!("{page}?pdf=render"), "pdf", license.clone()));
            }
            copies.push(own(page, "html", license.clone()));
        } else if copies.is_empty() && in_pmc {
            let page = format!("https://pmc.ncbi.nlm.nih.gov/articles/{pmcid}/");
            copies.push(own(page, "html", license.clone()));
        }
        if is_open {
            copies.push(own(format!("{REST}/{pmcid}/fullTextXML"), "xml", license));
        }
    }
    let rank = |copy: &OpenCopy<'_>| ["pdf", "xml"].iter().position(|kind| copy.kind == *kind);
    copies.sort_by_key(|copy| rank(copy).unwrap_or(2));
    let is_oa = if is_open || !copies.is_empty() {
        Some(true)
    } else {
        (is_subscription_only && article.is_open_access.0.is_some()).then_some(false)
    };
    (copies, links, is_oa)
}

/// A free form.
fn copy<'d>(form: FullText<'d>, license: Option<Text<'d>>) -> Option<OpenCopy<'d>> {
    let style = form.style.0.as_deref().unwrap_or_default().to_ascii_lowercase();
    let site = form.site.0.as_deref().unwrap_or_default().to_ascii_lowercase();
    let host_type = match site.as_str() {
        "doi" => Some("publisher"),
        "europe_pmc" | "pubmedcentral" | "pmc" | "arxiv" | "biorxiv" | "medrxiv" => {
            Some("repository")
        }
        _ => None,
    };
    Some(OpenCopy {
        url: form.url.0.and_then(address)?,
        kind: if style == "pdf" { "pdf" } else { "html" }.into(),
        host_type: host_type.map(Text::from),
        license,
        ..OpenCopy::default()
    })
}

/// A form that needs a subscription, or whose availability is unknown.
fn link(form: FullText<'_>) -> Option<Link<'_>> {
    let content_type = match form.style.0.and_then(plain).as_deref() {
        Some("pdf") => Some("application/pdf".into()),
        Some("html") => Some("text/html".into()),
        _ => None,
    };
    Some(Link { url: form.url.0.and_then(address)?, content_type, ..Link::default() })
}
