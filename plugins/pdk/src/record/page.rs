//! Results with records: one, or a page of them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::json::Writer;
use crate::record::{Text, Work};

/// Bytes of JSON that a work makes, for the first allocation.
const TYPICAL_WORK: usize = 2048;

/// One work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct OneWork<'d> {
    /// The work.
    pub work: Work<'d>,
}

/// A page of works.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Page<'d> {
    /// Matches in all, not just on this page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_results: Option<u64>,
    /// What to pass as cursor for the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Text<'d>>,
    /// The works.
    pub works: Vec<Work<'d>>,
}

impl OneWork<'_> {
    /// The result as JSON text; `hint` is its approximate size in bytes.
    pub fn to_json(&self, hint: usize) -> String {
        let mut json = Writer::with_capacity(hint);
        let mut object = json.object();
        let mut work = object.object("work");
        self.work.write(&mut work);
        work.end();
        object.end();
        json.finish()
    }
}

impl Page<'_> {
    /// The page as JSON text; `hint` is its approximate size in bytes.
    pub fn to_json(&self, hint: usize) -> String {
        let mut json = Writer::with_capacity(hint.max(self.works.len() * TYPICAL_WORK));
        let mut page = json.object();
        if let Some(total) = self.total_results {
            page.number("total_results", total);
        }
        page.optional("next_cursor", self.next_cursor.as_deref());
        page.objects("works", &self.works, |work, object| work.write(object));
        page.end();
        json.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_writers_agree() {
        let work = Work { kind: "article".into(), source: "test".into(), ..Work::default() };
        let single = OneWork { work: work.clone() };
        assert_eq!(single.to_json(0), serde_json::to_string(&single).unwrap());
        let page =
            Page { total_results: Some(7), next_cursor: Some("next".into()), works: vec![work] };
        for page in [page, Page::default()] {
            assert_eq!(page.to_json(0), serde_json::to_string(&page).unwrap());
        }
    }
}
