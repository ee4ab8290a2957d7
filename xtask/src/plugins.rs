//! The plugins that ship with the project.

use carrel_pdk::{Manifest, Plugin};

/// A plugin of this workspace.
pub(crate) struct Shipped {
    /// The plugin's name and its component's file name.
    pub(crate) name: &'static str,
    /// Its crate's folder, below the workspace's root.
    pub(crate) folder: &'static str,
    /// The file name of its core module, without the ending.
    pub(crate) module: &'static str,
    /// Its manifest, from the same code as the component's `describe`.
    pub(crate) manifest: fn() -> Manifest,
}

/// All of them.
pub(crate) const ALL: &[Shipped] = &[
    Shipped {
        name: "arxiv",
        folder: "plugins/arxiv",
        module: "carrel_arxiv",
        manifest: manifest::<carrel_arxiv::Arxiv>,
    },
    Shipped {
        name: "brave",
        folder: "plugins/brave",
        module: "carrel_brave",
        manifest: manifest::<carrel_brave::Brave>,
    },
    Shipped {
        name: "crossref",
        folder: "plugins/crossref",
        module: "carrel_crossref",
        manifest: manifest::<carrel_crossref::Crossref>,
    },
    Shipped {
        name: "csl",
        folder: "plugins/csl",
        module: "carrel_csl",
        manifest: manifest::<carrel_csl::Csl>,
    },
    Shipped {
        name: "datacite",
        folder: "plugins/datacite",
        module: "carrel_datacite",
        manifest: manifest::<carrel_datacite::DataCite>,
    },
    Shipped {
        name: "doaj",
        folder: "plugins/doaj",
        module: "carrel_doaj",
        manifest: manifest::<carrel_doaj::Doaj>,
    },
    Shipped {
        name: "duckduckgo",
        folder: "plugins/duckduckgo",
        module: "carrel_duckduckgo",
        manifest: manifest::<carrel_duckduckgo::DuckDuckGo>,
    },
    Shipped {
        name: "europepmc",
        folder: "plugins/europepmc",
        module: "carrel_europepmc",
        manifest: manifest::<carrel_europepmc::EuropePmc>,
    },
    Shipped {
        name: "eutils",
        folder: "plugins/eutils",
        module: "carrel_eutils",
        manifest: manifest::<carrel_eutils::Eutils>,
    },
    Shipped {
        name: "exa",
        folder: "plugins/exa",
        module: "carrel_exa",
        manifest: manifest::<carrel_exa::Exa>,
    },
    Shipped {
        name: "google",
        folder: "plugins/google",
        module: "carrel_google",
        manifest: manifest::<carrel_google::Google>,
    },
    Shipped {
        name: "hackernews",
        folder: "plugins/hackernews",
        module: "carrel_hackernews",
        manifest: manifest::<carrel_hackernews::HackerNews>,
    },
    Shipped {
        name: "jats",
        folder: "plugins/jats",
        module: "carrel_jats",
        manifest: manifest::<carrel_jats::Jats>,
    },
    Shipped {
        name: "office",
        folder: "plugins/office",
        module: "carrel_office",
        manifest: manifest::<carrel_office::Office>,
    },
    Shipped {
        name: "openalex",
        folder: "plugins/openalex",
        module: "carrel_openalex",
        manifest: manifest::<carrel_openalex::OpenAlex>,
    },
    Shipped {
        name: "opencitations",
        folder: "plugins/opencitations",
        module: "carrel_opencitations",
        manifest: manifest::<carrel_opencitations::OpenCitations>,
    },
    Shipped {
        name: "openlibrary",
        folder: "plugins/openlibrary",
        module: "carrel_openlibrary",
        manifest: manifest::<carrel_openlibrary::OpenLibrary>,
    },
    Shipped {
        name: "page",
        folder: "plugins/page",
        module: "carrel_page",
        manifest: manifest::<carrel_page::Page>,
    },
    Shipped {
        name: "pdf",
        folder: "plugins/pdf",
        module: "carrel_pdf",
        manifest: manifest::<carrel_pdf::Pdf>,
    },
    Shipped {
        name: "reddit",
        folder: "plugins/reddit",
        module: "carrel_reddit",
        manifest: manifest::<carrel_reddit::Reddit>,
    },
    Shipped {
        name: "render",
        folder: "plugins/render",
        module: "carrel_render",
        manifest: manifest::<carrel_render::Render>,
    },
    Shipped {
        name: "searxng",
        folder: "plugins/searxng",
        module: "carrel_searxng",
        manifest: manifest::<carrel_searxng::SearXng>,
    },
    Shipped {
        name: "semanticscholar",
        folder: "plugins/semanticscholar",
        module: "carrel_semanticscholar",
        manifest: manifest::<carrel_semanticscholar::SemanticScholar>,
    },
    Shipped {
        name: "serper",
        folder: "plugins/serper",
        module: "carrel_serper",
        manifest: manifest::<carrel_serper::Serper>,
    },
    Shipped {
        name: "tavily",
        folder: "plugins/tavily",
        module: "carrel_tavily",
        manifest: manifest::<carrel_tavily::Tavily>,
    },
    Shipped {
        name: "tex",
        folder: "plugins/tex",
        module: "carrel_tex",
        manifest: manifest::<carrel_tex::Tex>,
    },
    Shipped {
        name: "unpaywall",
        folder: "plugins/unpaywall",
        module: "carrel_unpaywall",
        manifest: manifest::<carrel_unpaywall::Unpaywall>,
    },
    Shipped {
        name: "youtube",
        folder: "plugins/youtube",
        module: "carrel_youtube",
        manifest: manifest::<carrel_youtube::YouTube>,
    },
];

fn manifest<P: Plugin>() -> Manifest {
    P::manifest()
}
