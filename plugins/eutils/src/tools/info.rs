//! The tool `info`: EInfo.

use carrel_pdk::{Error, Host};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{invalid, present};
use crate::formats::einfo;
use crate::request::Query;
use crate::response;

/// Which database.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InfoArguments {
    /// Name of a database of NCBI; "all" lists them.
    #[serde(default = "pubmed")]
    #[schemars(regex(pattern = "^[a-z]{2,30}$"))]
    pub db: String,
}

fn pubmed() -> String {
    "pubmed".to_owned()
}

/// Runs the tool.
pub(crate) fn run(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let arguments: InfoArguments = carrel_pdk::arguments(arguments)?;
    let db = present(Some(&arguments.db)).unwrap_or_else(pubmed);
    if !(2..=30).contains(&db.len()) || !db.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Err(invalid(format!(
            "db: expected the name of a database, such as pubmed, but found {db:?}"
        )));
    }
    let query = Query::new("einfo").maybe("db", Some(db).filter(|db| db != "all"));
    response::ask(host, &query, |body| Ok(crate::to_json(&einfo::parse(body)?)))
}
