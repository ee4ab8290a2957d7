//! Options of names, which elements inherit, and of citations and bibliographies.

use super::elements::{Form, Formatting};

/// Options of `cs:name` that are inherited from `cs:style`, `cs:citation` and `cs:bibliography`.
#[derive(Debug, Clone, Default)]
pub(crate) struct NameOptions {
    pub(crate) and: Option<And>,
    pub(crate) delimiter_precedes_et_al: Option<Precedes>,
    pub(crate) delimiter_precedes_last: Option<Precedes>,
    pub(crate) et_al_min: Option<usize>,
    pub(crate) et_al_use_first: Option<usize>,
    pub(crate) et_al_subsequent_min: Option<usize>,
    pub(crate) et_al_subsequent_use_first: Option<usize>,
    pub(crate) et_al_use_last: Option<bool>,
    pub(crate) initialize: Option<bool>,
    pub(crate) initialize_with: Option<String>,
    pub(crate) name_as_sort_order: Option<SortOrder>,
    pub(crate) sort_separator: Option<String>,
    pub(crate) form: Option<NameForm>,
    pub(crate) delimiter: Option<String>,
    /// The delimiter of `cs:names`.
    pub(crate) names_delimiter: Option<String>,
}

/// `and`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum And {
    Text,
    Symbol,
}

/// When a delimiter precedes the last name, or "et al".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precedes {
    Contextual,
    AfterInvertedName,
    Always,
    Never,
}

/// `name-as-sort-order`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SortOrder {
    First,
    All,
}

/// `form` of `cs:name`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameForm {
    Long,
    Short,
    Count,
}

macro_rules! inherit {
    ($own:ident, $outer:ident: $($field:ident),*) => {
        NameOptions { $($field: $own.$field.clone().or_else(|| $outer.$field.clone())),* }
    };
}

impl NameOptions {
    /// These options, and those of `outer` where they say nothing.
    pub(crate) fn within(&self, outer: &Self) -> Self {
        inherit!(self, outer: and, delimiter_precedes_et_al, delimiter_precedes_last, et_al_min,
            et_al_use_first, et_al_subsequent_min, et_al_subsequent_use_first, et_al_use_last,
            initialize, initialize_with, name_as_sort_order, sort_separator, form, delimiter,
            names_delimiter)
    }
}

/// Options of `cs:citation`.
#[derive(Debug, Clone)]
pub(crate) struct CitationOptions {
    pub(crate) add_names: bool,
    pub(crate) add_givenname: bool,
    pub(crate) givenname_rule: GivenRule,
    pub(crate) add_year_suffix: bool,
    pub(crate) collapse: Option<Collapse>,
    pub(crate) cite_group_delimiter: Option<String>,
    pub(crate) after_collapse_delimiter: Option<String>,
    pub(crate) year_suffix_delimiter: Option<String>,
    pub(crate) near_note_distance: u64,
}

impl Default for CitationOptions {
    fn default() -> Self {
        Self {
            add_names: false,
            add_givenname: false,
            givenname_rule: GivenRule::ByCite,
            add_year_suffix: false,
            collapse: None,
            cite_group_delimiter: None,
            after_collapse_delimiter: None,
            year_suffix_delimiter: None,
            near_note_distance: 5,
        }
    }
}

/// `givenname-disambiguation-rule`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GivenRule {
    AllNames,
    AllNamesWithInitials,
    PrimaryName,
    PrimaryNameWithInitials,
    ByCite,
}

/// `collapse`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Collapse {
    CitationNumber,
    Year,
    YearSuffix,
    YearSuffixRanged,
}

/// Options of `cs:bibliography`.
#[derive(Debug, Clone, Default)]
pub(crate) struct BibliographyOptions {
    pub(crate) hanging_indent: bool,
    pub(crate) second_field_align: Option<Align>,
    pub(crate) line_spacing: Option<u64>,
    pub(crate) entry_spacing: Option<u64>,
    pub(crate) subsequent_author_substitute: Option<String>,
    pub(crate) substitute_rule: SubstituteRule,
}

/// `second-field-align`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Flush,
    Margin,
}

/// `subsequent-author-substitute-rule`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum SubstituteRule {
    #[default]
    CompleteAll,
    CompleteEach,
    PartialEach,
    PartialFirst,
}

/// Formatting without any attribute.
pub(crate) const PLAIN: Formatting =
    Formatting { style: None, small_caps: None, weight: None, underline: None, vertical: None };

/// The form that an attribute names.
pub(crate) fn form(text: &str) -> Form {
    match text {
        "short" => Form::Short,
        "verb" => Form::Verb,
        "verb-short" => Form::VerbShort,
        "symbol" => Form::Symbol,
        _ => Form::Long,
    }
}
