//! Reads a style's XML. Lenient: unknown elements and attributes are ignored, as styles in use have
//! them; macros that call themselves are refused where they are rendered.

use carrel_pdk::Error;
use carrel_pdk::xml::tree::{Node, Tree};

use super::elements::{
    Branch, Case, Common, Condition, Date, DateForm, DatePart, Display, Element, EtAl, FontStyle,
    Form, Formatting, Group, Label, Match, NameElement, NameLabel, Names, Number, NumberForm,
    PartName, Plural, Position, Precision, Text, TextSource, Vertical, Weight,
};
use super::options::{
    Align, And, BibliographyOptions, CitationOptions, Collapse, GivenRule, NameForm, NameOptions,
    Precedes, SortOrder, SubstituteRule, form,
};
use super::{Demote, KeySource, Layout, PageRange, SortKey, Style, invalid};
use crate::locale;

/// A node with its tree.
#[derive(Clone, Copy)]
pub(crate) struct Xml<'t, 'd> {
    tree: &'t Tree<'d>,
    node: Node,
}

impl<'t, 'd> Xml<'t, 'd> {
    pub(crate) fn root(tree: &'t Tree<'d>) -> Self {
        Self { tree, node: tree.root() }
    }
    pub(crate) fn name(self) -> &'d str {
        self.tree.name(self.node)
    }
    pub(crate) fn children(self) -> impl Iterator<Item = Self> + use<'t, 'd> {
        self.tree.elements(self.node).map(move |node| Self { tree: self.tree, node })
    }
    pub(crate) fn child(self, name: &str) -> Option<Self> {
        self.tree.child(self.node, name).map(|node| Self { tree: self.tree, node })
    }
    pub(crate) fn get(self, name: &str) -> Option<String> {
        self.tree.verbatim_attribute(self.node, name)
    }
    pub(crate) fn text(self) -> String {
        self.tree.verbatim(self.node)
    }
    fn is(self, name: &str) -> Option<bool> {
        self.get(name).map(|value| value == "true")
    }
    fn count(self, name: &str) -> Option<usize> {
        self.get(name).and_then(|value| value.trim().parse().ok())
    }
    fn words(self, name: &str) -> Vec<String> {
        let value = self.get(name).unwrap_or_default();
        value.split_whitespace().map(str::to_owned).collect()
    }
}

/// A test of a condition, made from a word of its attribute.
type Test = fn(String) -> Condition;

/// Reads a style.
pub(super) fn style(xml: &str) -> Result<Style, Error> {
    let tree = Tree::read(xml.trim_start_matches('\u{feff}').trim_start(), "a CSL style")?;
    let root = Xml::root(&tree);
    if root.name() != "style" {
        return Err(invalid(format!("expected a CSL style but found the element {}", root.name())));
    }
    let Some(citation) = root.child("citation") else {
        let Some(parent) = parent(root) else {
            return Err(invalid("the style has no cs:citation, and names no independent parent"));
        };
        let default_locale = root.get("default-locale").filter(|name| !name.trim().is_empty());
        return Ok(Style { parent: Some(parent), default_locale, ..Style::default() });
    };
    let base = name_options(root);
    let mut style = Style {
        default_locale: root.get("default-locale").filter(|locale| !locale.trim().is_empty()),
        demote: match root.get("demote-non-dropping-particle").as_deref() {
            Some("never") => Demote::Never,
            Some("sort-only") => Demote::SortOnly,
            _ => Demote::DisplayAndSort,
        },
        initialize_with_hyphen: root.is("initialize-with-hyphen").unwrap_or(true),
        page_range_format: page_range(root),
        ..Style::default()
    };
    for child in root.children() {
        match child.name() {
            "macro" => {
                let elements = elements(child);
                style.macros.insert(child.get("name").unwrap_or_default(), elements);
            }
            "locale" => style.locales.push((child.get("lang"), locale::read_layer(child))),
            _ => {}
        }
    }
    style.citation = layout(citation, &base, citation_options(citation));
    style.bibliography =
        root.child("bibliography").map(|node| layout(node, &base, bibliography_options(node)));
    let rendered = |name: &str| {
        tree.descendants(tree.root()).any(|node| {
            tree.name(node) == "text"
                && tree.verbatim_attribute(node, "variable").is_some_and(|value| value == name)
        })
    };
    style.explicit_year_suffix = rendered("year-suffix");
    style.uses_label = rendered("citation-label");
    Ok(style)
}

/// The address of the style that a dependent one is.
fn parent(root: Xml<'_, '_>) -> Option<String> {
    let info = root.child("info")?;
    let mut links = info.children().filter(|node| node.name() == "link");
    let link = links.find(|node| node.get("rel").as_deref() == Some("independent-parent"))?;
    link.get("href").filter(|href| !href.trim().is_empty())
}

fn page_range(node: Xml<'_, '_>) -> Option<PageRange> {
    Some(match node.get("page-range-format")?.as_str() {
        "chicago" | "chicago-15" => PageRange::Chicago15,
        "chicago-16" => PageRange::Chicago16,
        "expanded" => PageRange::Expanded,
        "minimal" => PageRange::Minimal,
        "minimal-two" => PageRange::MinimalTwo,
        _ => return None,
    })
}

fn layout<Options: Default>(
    node: Xml<'_, '_>,
    base: &NameOptions,
    options: Options,
) -> Layout<Options> {
    let mut found = Layout { names: name_options(node).within(base), options, ..Layout::default() };
    if let Some(sort) = node.child("sort") {
        found.sort =
            sort.children().filter(|key| key.name() == "key").filter_map(sort_key).collect();
    }
    if let Some(inner) = node.child("layout") {
        found.elements = elements(inner);
        found.prefix = inner.get("prefix").unwrap_or_default();
        found.suffix = inner.get("suffix").unwrap_or_default();
        found.delimiter = inner.get("delimiter").unwrap_or_default();
        found.formatting = formatting(inner);
    }
    found
}

fn sort_key(node: Xml<'_, '_>) -> Option<SortKey> {
    let what = match (node.get("variable"), node.get("macro")) {
        (Some(variable), _) => KeySource::Variable(variable),
        (None, Some(name)) => KeySource::Macro(name),
        (None, None) => return None,
    };
    let names = NameOptions {
        et_al_min: node.count("names-min"),
        et_al_use_first: node.count("names-use-first"),
        et_al_use_last: node.is("names-use-last"),
        ..NameOptions::default()
    };
    let descending = node.get("sort").is_some_and(|order| order == "descending");
    Some(SortKey { what, descending, names })
}

fn citation_options(node: Xml<'_, '_>) -> CitationOptions {
    CitationOptions {
        add_names: node.is("disambiguate-add-names").unwrap_or(false),
        add_givenname: node.is("disambiguate-add-givenname").unwrap_or(false),
        givenname_rule: match node.get("givenname-disambiguation-rule").as_deref() {
            Some("all-names") => GivenRule::AllNames,
            Some("all-names-with-initials") => GivenRule::AllNamesWithInitials,
            Some("primary-name") => GivenRule::PrimaryName,
            Some("primary-name-with-initials") => GivenRule::PrimaryNameWithInitials,
            _ => GivenRule::ByCite,
        },
        add_year_suffix: node.is("disambiguate-add-year-suffix").unwrap_or(false),
        collapse: match node.get("collapse").as_deref() {
            Some("citation-number") => Some(Collapse::CitationNumber),
            Some("year") => Some(Collapse::Year),
            Some("year-suffix") => Some(Collapse::YearSuffix),
            Some("year-suffix-ranged") => Some(Collapse::YearSuffixRanged),
            _ => None,
        },
        cite_group_delimiter: node.get("cite-group-delimiter"),
        after_collapse_delimiter: node.get("after-collapse-delimiter"),
        year_suffix_delimiter: node.get("year-suffix-delimiter"),
        near_note_distance: node.count("near-note-distance").unwrap_or(5) as u64,
    }
}

fn bibliography_options(node: Xml<'_, '_>) -> BibliographyOptions {
    let number = |name: &str| node.count(name).map(|value| value as u64);
    BibliographyOptions {
        hanging_indent: node.is("hanging-indent").unwrap_or(false),
        second_field_align: match node.get("second-field-align").as_deref() {
            Some("flush") => Some(Align::Flush),
            Some("margin") => Some(Align::Margin),
            _ => None,
        },
        line_spacing: number("line-spacing"),
        entry_spacing: number("entry-spacing"),
        subsequent_author_substitute: node.get("subsequent-author-substitute"),
        substitute_rule: match node.get("subsequent-author-substitute-rule").as_deref() {
            Some("complete-each") => SubstituteRule::CompleteEach,
            Some("partial-each") => SubstituteRule::PartialEach,
            Some("partial-first") => SubstituteRule::PartialFirst,
            _ => SubstituteRule::CompleteAll,
        },
    }
}

/// The options of names on `cs:style`, `cs:citation`, `cs:bibliography`.
fn name_options(node: Xml<'_, '_>) -> NameOptions {
    let mut options = own_name_options(node);
    options.form = node.get("name-form").map(|text| name_form(&text));
    options.delimiter = node.get("name-delimiter");
    options.names_delimiter = node.get("names-delimiter");
    options
}

fn name_form(text: &str) -> NameForm {
    match text {
        "short" => NameForm::Short,
        "count" => NameForm::Count,
        _ => NameForm::Long,
    }
}

fn own_name_options(node: Xml<'_, '_>) -> NameOptions {
    let precedes = |name: &str| {
        node.get(name).map(|value| match value.as_str() {
            "after-inverted-name" => Precedes::AfterInvertedName,
            "always" => Precedes::Always,
            "never" => Precedes::Never,
            _ => Precedes::Contextual,
        })
    };
    NameOptions {
        and: node.get("and").and_then(|value| match value.as_str() {
            "text" => Some(And::Text),
            "symbol" => Some(And::Symbol),
            _ => None,
        }),
        delimiter_precedes_et_al: precedes("delimiter-precedes-et-al"),
        delimiter_precedes_last: precedes("delimiter-precedes-last"),
        et_al_min: node.count("et-al-min"),
        et_al_use_first: node.count("et-al-use-first"),
        et_al_subsequent_min: node.count("et-al-subsequent-min"),
        et_al_subsequent_use_first: node.count("et-al-subsequent-use-first"),
        et_al_use_last: node.is("et-al-use-last"),
        initialize: node.is("initialize"),
        initialize_with: node.get("initialize-with"),
        name_as_sort_order: node.get("name-as-sort-order").and_then(|value| match value.as_str() {
            "first" => Some(SortOrder::First),
            "all" => Some(SortOrder::All),
            _ => None,
        }),
        sort_separator: node.get("sort-separator"),
        form: None,
        delimiter: None,
        names_delimiter: None,
    }
}

fn formatting(node: Xml<'_, '_>) -> Formatting {
    let value = |name: &str| node.get(name);
    Formatting {
        style: value("font-style").and_then(|value| match value.as_str() {
            "italic" => Some(FontStyle::Italic),
            "oblique" => Some(FontStyle::Oblique),
            "normal" => Some(FontStyle::Normal),
            _ => None,
        }),
        small_caps: value("font-variant").map(|value| value == "small-caps"),
        weight: value("font-weight").and_then(|value| match value.as_str() {
            "bold" => Some(Weight::Bold),
            "light" => Some(Weight::Light),
            "normal" => Some(Weight::Normal),
            _ => None,
        }),
        underline: value("text-decoration").map(|value| value == "underline"),
        vertical: value("vertical-align").and_then(|value| match value.as_str() {
            "sup" => Some(Vertical::Superscript),
            "sub" => Some(Vertical::Subscript),
            "baseline" => Some(Vertical::Baseline),
            _ => None,
        }),
    }
}

fn common(node: Xml<'_, '_>) -> Common {
    Common {
        prefix: node.get("prefix").unwrap_or_default(),
        suffix: node.get("suffix").unwrap_or_default(),
        formatting: formatting(node),
        case: node.get("text-case").and_then(|value| match value.as_str() {
            "lowercase" => Some(Case::Lower),
            "uppercase" => Some(Case::Upper),
            "capitalize-first" => Some(Case::CapitalizeFirst),
            "capitalize-all" => Some(Case::CapitalizeAll),
            "sentence" => Some(Case::Sentence),
            "title" => Some(Case::Title),
            _ => None,
        }),
        display: node.get("display").and_then(|value| match value.as_str() {
            "block" => Some(Display::Block),
            "left-margin" => Some(Display::LeftMargin),
            "right-inline" => Some(Display::RightInline),
            "indent" => Some(Display::Indent),
            _ => None,
        }),
        quotes: node.is("quotes").unwrap_or(false),
        strip_periods: node.is("strip-periods").unwrap_or(false),
    }
}

fn elements(node: Xml<'_, '_>) -> Vec<Element> {
    node.children().filter_map(element).collect()
}

fn element(node: Xml<'_, '_>) -> Option<Element> {
    Some(match node.name() {
        "text" => {
            Element::Text(Box::new(Text { common: common(node), source: text_source(node)? }))
        }
        "number" => Element::Number(Box::new(Number {
            common: common(node),
            variable: node.get("variable")?,
            form: match node.get("form").as_deref() {
                Some("ordinal") => NumberForm::Ordinal,
                Some("long-ordinal") => NumberForm::LongOrdinal,
                Some("roman") => NumberForm::Roman,
                _ => NumberForm::Numeric,
            },
        })),
        "label" => Element::Label(Box::new(Label {
            common: common(node),
            variable: node.get("variable").unwrap_or_default(),
            form: label_form(node),
            plural: plural(node),
        })),
        "date" => Element::Date(Box::new(date(node))),
        "names" => Element::Names(Box::new(names(node))),
        "group" => Element::Group(Box::new(Group {
            common: common(node),
            delimiter: node.get("delimiter").unwrap_or_default(),
            elements: elements(node),
        })),
        "choose" => Element::Choose(node.children().filter_map(branch).collect()),
        _ => return None,
    })
}

fn text_source(node: Xml<'_, '_>) -> Option<TextSource> {
    let short = node.get("form").is_some_and(|form| form == "short");
    if let Some(name) = node.get("variable") {
        return Some(TextSource::Variable { name, short });
    }
    if let Some(name) = node.get("macro") {
        return Some(TextSource::Macro(name));
    }
    if let Some(name) = node.get("term") {
        let plural = node.is("plural").unwrap_or(false);
        return Some(TextSource::Term { name, form: label_form(node), plural });
    }
    node.get("value").map(TextSource::Value)
}

fn label_form(node: Xml<'_, '_>) -> Form {
    node.get("form").map_or(Form::Long, |text| form(&text))
}

fn plural(node: Xml<'_, '_>) -> Plural {
    match node.get("plural").as_deref() {
        Some("always") => Plural::Always,
        Some("never") => Plural::Never,
        _ => Plural::Contextual,
    }
}

/// Reads `cs:date`, also that of a locale.
pub(crate) fn date(node: Xml<'_, '_>) -> Date {
    Date {
        common: common(node),
        variable: node.get("variable").unwrap_or_default(),
        localized: node.get("form").map(|form| match form.as_str() {
            "text" => DateForm::Text,
            _ => DateForm::Numeric,
        }),
        precision: match node.get("date-parts").as_deref() {
            Some("year") => Precision::Year,
            Some("year-month") => Precision::Month,
            _ => Precision::Day,
        },
        delimiter: node.get("delimiter").unwrap_or_default(),
        parts: node.children().filter_map(date_part).collect(),
    }
}

fn date_part(node: Xml<'_, '_>) -> Option<DatePart> {
    let name = match node.get("name").as_deref() {
        Some("year") => PartName::Year,
        Some("month") => PartName::Month,
        Some("day") => PartName::Day,
        _ => return None,
    };
    Some(DatePart {
        name,
        form: node.get("form"),
        range_delimiter: node.get("range-delimiter"),
        common: common(node),
    })
}

fn names(node: Xml<'_, '_>) -> Names {
    let mut names =
        Names { common: common(node), variables: node.words("variable"), ..Names::default() };
    names.options.names_delimiter = node.get("delimiter");
    for child in node.children() {
        match child.name() {
            "name" => {
                let part = |name: &str| {
                    let part = child.children().find(|part| {
                        part.name() == "name-part" && part.get("name").is_some_and(|n| n == name)
                    });
                    part.map(common).unwrap_or_default()
                };
                names.name = Some(NameElement {
                    common: common(child),
                    family: part("family"),
                    given: part("given"),
                });
                let own = own_name_options(child);
                let names_delimiter = names.options.names_delimiter.take();
                names.options = NameOptions {
                    form: child.get("form").map(|text| name_form(&text)),
                    delimiter: child.get("delimiter"),
                    names_delimiter,
                    ..own
                };
            }
            "et-al" => {
                names.et_al = Some(EtAl {
                    term: child.get("term").unwrap_or_else(|| "et-al".to_owned()),
                    formatting: formatting(child),
                });
            }
            "label" => {
                names.label = Some(NameLabel {
                    common: common(child),
                    form: label_form(child),
                    plural: plural(child),
                    before: names.name.is_none() && node.child("name").is_some(),
                });
            }
            "substitute" => names.substitute = elements(child),
            _ => {}
        }
    }
    names
}

fn branch(node: Xml<'_, '_>) -> Option<Branch> {
    if !matches!(node.name(), "if" | "else-if" | "else") {
        return None;
    }
    let mut conditions = Vec::new();
    if node.name() != "else" {
        if let Some(value) = node.is("disambiguate") {
            conditions.push(Condition::Disambiguate(value));
        }
        let tests: [(&str, Test); 5] = [
            ("is-numeric", Condition::IsNumeric),
            ("is-uncertain-date", Condition::IsUncertainDate),
            ("locator", Condition::Locator),
            ("type", Condition::Type),
            ("variable", Condition::Variable),
        ];
        for (name, test) in tests {
            conditions.extend(node.words(name).into_iter().map(test));
        }
        conditions.extend(node.words("position").iter().map(|word| match word.as_str() {
            "first" => Condition::Position(Position::First),
            "subsequent" => Condition::Position(Position::Subsequent),
            "ibid" => Condition::Position(Position::Ibid),
            "ibid-with-locator" => Condition::Position(Position::IbidWithLocator),
            "near-note" => Condition::Position(Position::NearNote),
            _ => Condition::Unknown,
        }));
        if conditions.is_empty() {
            conditions.push(Condition::Unknown);
        }
    }
    let matching = match node.get("match").as_deref() {
        Some("any") => Match::Any,
        Some("none") => Match::None,
        _ => Match::All,
    };
    Some(Branch { conditions, matching, elements: elements(node) })
}
