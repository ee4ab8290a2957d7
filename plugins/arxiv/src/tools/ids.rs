//! Parses the argument `id_list`: ids as people paste them → arXiv's canonical ids.

use carrel_pdk::Error;
use carrel_pdk::id::ArxivId;

use crate::tools::arguments::{MAX_RESULTS, invalid};

/// The ids of `id_list` in their canonical form, in order, each once.
///
/// A text that is not an identifier is kept unchanged: arXiv's report about it says more than ours
/// would.
///
/// # Errors
///
/// `invalid_arguments` for a list without ids, and for more ids than one call may ask for.
pub fn parse(id_list: &str) -> Result<Vec<String>, Error> {
    let mut ids = Vec::new();
    for item in
        id_list.split(|separator: char| ",;".contains(separator) || separator.is_whitespace())
    {
        // "arXiv: 2301.00001", split at its space.
        if item.is_empty() || item.eq_ignore_ascii_case("arxiv:") {
            continue;
        }
        ids.push(ArxivId::parse(item).map_or_else(|_| item.to_owned(), |id| id.to_string()));
    }
    let count = ids.len();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&left, &right| ids[left].cmp(&ids[right]).then(left.cmp(&right)));
    order.dedup_by(|later, earlier| ids[*later] == ids[*earlier]);
    order.sort_unstable();
    let unique: Vec<String> = order.into_iter().map(|at| std::mem::take(&mut ids[at])).collect();
    if unique.is_empty() {
        return Err(invalid("id_list: at least 1 id is needed, 0 given"));
    }
    if unique.len() > MAX_RESULTS as usize {
        let count = unique.len();
        return Err(invalid(format!("id_list: at most {MAX_RESULTS} ids, {count} given")));
    }
    Ok(unique)
}

/// The ids of `requested` without an entry in `found`. An id with a version needs that version; an
/// id without one matches any.
pub fn missing<'a>(requested: &'a [String], found: &[&str]) -> Vec<&'a str> {
    let mut answers: Vec<String> = Vec::with_capacity(found.len() * 2);
    for id in found {
        match ArxivId::parse(id) {
            Ok(id) => answers.extend([id.to_string(), id.base().to_owned()]),
            Err(_) => answers.push((*id).to_owned()),
        }
    }
    answers.sort_unstable();
    requested.iter().filter(|id| answers.binary_search(id).is_err()).map(String::as_str).collect()
}

/// Ids that a message lists; it only counts further ones.
const NAMED: usize = 20;

/// The ids as text; the first ones are listed, the others counted.
pub fn named(ids: &[&str]) -> String {
    let shown = ids.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    match ids.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use carrel_pdk::Code;

    #[test]
    fn what_people_paste_becomes_canonical() {
        let pasted =
            " arXiv:2301.00001, https://arxiv.org/abs/hep-ex/0307015v1\n arXiv: 0704.0001 ,,";
        assert_eq!(parse(pasted).unwrap(), ["2301.00001", "hep-ex/0307015v1", "0704.0001"]);
    }

    #[test]
    fn a_repeated_id_is_listed_once_at_its_first_position() {
        assert_eq!(
            parse("2301.00002,2301.00001,arXiv:2301.00002,2301.00002v1").unwrap(),
            ["2301.00002", "2301.00001", "2301.00002v1"]
        );
    }

    #[test]
    fn what_is_no_id_is_left_to_arxiv() {
        assert_eq!(parse("abc,0000.0000").unwrap(), ["abc", "0000.0000"]);
    }

    #[test]
    fn too_many_and_none_are_argument_errors() {
        let many: Vec<String> = (0..2001).map(|number| format!("2301.{number:05}")).collect();
        let error = parse(&many.join(",")).unwrap_err();
        assert_eq!(error.code, Code::InvalidArguments);
        assert_eq!(error.message, "id_list: at most 2000 ids, 2001 given");
        assert_eq!(parse(&many[..2000].join(",")).unwrap().len(), 2000);
        assert_eq!(parse(" , arXiv: ").unwrap_err().code, Code::InvalidArguments);
    }

    #[test]
    fn a_version_matches_only_itself_and_a_bare_id_any_version() {
        let requested = parse("2301.00001,2301.00002v1,2301.00003v1,hep-ex/0307015").unwrap();
        let found = ["2301.00001v4", "2301.00002v2", "2301.00003v1"];
        assert_eq!(missing(&requested, &found), ["2301.00002v1", "hep-ex/0307015"]);
    }
}
