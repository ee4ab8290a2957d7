//! The reserved tool `role:full_text`: the XML that Europe PMC gives of its open articles.

use carrel_pdk::roles::{self, Copy, Form};
use carrel_pdk::{Code, Error, Host};

use super::lookup;

/// Runs the tool. Only articles of the open-access subset have XML; of any other the list is empty.
///
/// # Errors
///
/// As the search for the article, except that a missing article is not an error.
pub(crate) fn run(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let query = roles::FullText::read(arguments)?;
    let work = match lookup::work(&query.id, host) {
        Ok(work) => work,
        Err(error) if error.code == Code::NotFound => return Ok(roles::copies_to_json(&[])),
        Err(error) => return Err(error),
    };
    let landing_url = work.url;
    let copies = work.open_copies.into_iter().filter(|copy| copy.kind == "xml");
    let copies: Vec<Copy<'_>> = copies
        .map(|copy| Copy {
            license: copy.license,
            landing_url: landing_url.clone(),
            ..Copy::new(copy.url, Form::Jats)
        })
        .collect();
    Ok(roles::copies_to_json(&copies))
}
