//! Maps the terms of metadata vocabularies to one set of names.

/// The vocabulary of a term; the first is preferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// `citation_*`.
    Citation,
    /// JSON-LD.
    JsonLd,
    /// PRISM.
    Prism,
    /// Dublin Core.
    DublinCore,
    /// Open Graph.
    OpenGraph,
    /// Microdata.
    Microdata,
    /// The usual names of `<meta>` and `<link>`.
    Other,
}

/// The name and the vocabulary of a tag; none for tags that do not describe the content.
pub(crate) fn normalise(tag: &str) -> Option<(Source, String)> {
    if let Some(name) = tag.strip_prefix("citation_").or(tag.strip_prefix("bepress_citation_")) {
        return Some((Source::Citation, known(name)));
    }
    for prefix in ["prism.", "prism:"] {
        if let Some(name) = tag.strip_prefix(prefix) {
            return Some((Source::Prism, known(name)));
        }
    }
    for prefix in ["dc.", "dc:", "dcterms.", "dcterms:", "dct:", "eprints."] {
        if let Some(name) = tag.strip_prefix(prefix) {
            return Some((Source::DublinCore, known(name)));
        }
    }
    for prefix in ["og:", "article:", "book:", "product:", "profile:", "video:", "music:"] {
        if let Some(name) = tag.strip_prefix(prefix) {
            let name = known(name);
            // The author of a page is not that of an object on it.
            return Some((Source::OpenGraph, name));
        }
    }
    if let Some(name) = tag.strip_prefix("twitter:") {
        let describes = matches!(name, "title" | "description" | "image" | "creator" | "image:alt");
        return describes.then(|| {
            (
                Source::Other,
                if name == "creator" { "twitter_creator".to_owned() } else { known(name) },
            )
        });
    }
    let describes = matches!(
        tag,
        "author"
            | "description"
            | "keywords"
            | "news_keywords"
            | "date"
            | "doi"
            | "language"
            | "content-language"
            | "publisher"
            | "copyright"
            | "generator"
            | "title"
            | "abstract"
            | "last-modified"
            | "revised"
            | "subject"
            | "parsely-author"
            | "parsely-title"
            | "parsely-pub-date"
            | "sailthru.author"
            | "sailthru.date"
            | "sailthru.title"
            | "pubdate"
            | "article.published"
            | "article.updated"
            | "ncbi_pmid"
            | "ncbi_pmcid"
            | "evt-doipage"
            | "robots"
            | "application-name"
            | "byl"
    );
    let tag = tag
        .trim_start_matches("parsely-")
        .trim_start_matches("sailthru.")
        .trim_start_matches("ncbi_");
    (describes && tag != "robots").then(|| (Source::Other, known(tag)))
}

/// The common name for a term of any vocabulary.
pub(crate) fn known(name: &str) -> String {
    let lower = name.to_ascii_lowercase().replace([':', '.', '-', ' '], "_");
    let name = match lower.as_str() {
        "headline" | "parsely_title" => "title",
        "creator" | "authors" | "contributor_author" | "creator_personalname" | "byl" => "author",
        "journal_title" | "publicationname" | "ispartof" => "journal",
        "journal_abbrev" => "journal_abbreviation",
        "conference_title" | "conference" => "conference",
        "inbook_title" | "book_title" => "book_title",
        "publication_date" | "date" | "publicationdate" | "date_issued" | "issued" | "created"
        | "published_time" | "datepublished" | "pub_date" | "pubdate" | "published"
        | "article_published" | "cover_date" | "release_date" => "published",
        "online_date" | "available" => "published_online",
        "modified_time" | "datemodified" | "modified" | "updated_time" | "last_modified"
        | "revised" | "article_updated" => "modified",
        "datecreated" => "created",
        "firstpage" | "startingpage" | "pagestart" => "first_page",
        "lastpage" | "endingpage" | "pageend" => "last_page",
        "issuenumber" | "number" => "issue",
        "volumenumber" => "volume",
        "arxiv_id" => "arxiv",
        "eissn" | "e_issn" => "eissn",
        "keywords" | "keyword" | "news_keywords" | "tag" | "subject" => "keyword",
        "rights" | "license" | "copyright" | "licence" => "licence",
        "abstract" => "abstract",
        "inlanguage" | "language" | "content_language" | "locale" => "language",
        "evt_doipage" | "identifier_doi" => "doi",
        "@id" => "id",
        "fulltext_html_url" | "full_html_url" => "html_url",
        _ => return snake(&lower),
    };
    name.to_owned()
}

/// A name in lower case with underscores between its words.
pub(crate) fn snake(name: &str) -> String {
    let mut out = String::new();
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            if !out.is_empty() && !out.ends_with('_') {
                out.push('_');
            }
            out.push(character.to_ascii_lowercase());
        } else if character.is_alphanumeric() {
            out.push(character);
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
    }
    out.trim_end_matches('_').to_owned()
}
