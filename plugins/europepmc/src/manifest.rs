//! What the plugin says of itself.

use carrel_pdk::manifest::Format;
use carrel_pdk::record::page::Page;
use carrel_pdk::{Manifest, schema};
use serde_json::Value;

/// The manifest.
pub(crate) fn manifest() -> Manifest {
    let mut manifest = Manifest::new(
        "europepmc",
        env!("CARGO_PKG_VERSION"),
        "Searches Europe PMC and reads its articles, preprints and patents into bibliographic records.",
    );
    manifest.title = Some("Europe PMC".to_owned());
    manifest.formats = vec![
        format("search", "Results of a search, core or lite, or one article."),
        format("citations", "Articles that cite one."),
        format("references", "Articles that one cites."),
    ];
    manifest
}

/// The schema of a result that holds works, without what Europe PMC does not say of them.
fn works() -> Value {
    let mut schema = schema::output::<Page<'_>>();
    schema::leave_out(&mut schema, &["arxiv", "openalex", "s2", "oa_status", "article_number"]);
    schema
}

fn format(name: &str, description: &str) -> Format {
    Format {
        name: name.to_owned(),
        description: description.to_owned(),
        media_types: vec!["application/json".to_owned()],
        output_schema: works(),
        ..Format::default()
    }
}
