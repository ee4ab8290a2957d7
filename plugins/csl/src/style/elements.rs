//! The rendering elements of a style.

use super::options::NameOptions;

/// A rendering element.
#[derive(Debug, Clone)]
pub(crate) enum Element {
    Text(Box<Text>),
    Number(Box<Number>),
    Label(Box<Label>),
    Date(Box<Date>),
    Names(Box<Names>),
    Group(Box<Group>),
    Choose(Vec<Branch>),
}

/// Formatting attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Formatting {
    pub(crate) style: Option<FontStyle>,
    pub(crate) small_caps: Option<bool>,
    pub(crate) weight: Option<Weight>,
    pub(crate) underline: Option<bool>,
    pub(crate) vertical: Option<Vertical>,
}

/// `font-style`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FontStyle {
    Normal,
    Italic,
    Oblique,
}

/// `font-weight`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    Normal,
    Bold,
    Light,
}

/// `vertical-align`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Vertical {
    Baseline,
    Superscript,
    Subscript,
}

/// `text-case`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    Lower,
    Upper,
    CapitalizeFirst,
    CapitalizeAll,
    Sentence,
    Title,
}

/// `display`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Display {
    Block,
    LeftMargin,
    RightInline,
    Indent,
}

/// The attributes that most elements share.
#[derive(Debug, Clone, Default)]
pub(crate) struct Common {
    pub(crate) prefix: String,
    pub(crate) suffix: String,
    pub(crate) formatting: Formatting,
    pub(crate) case: Option<Case>,
    pub(crate) display: Option<Display>,
    pub(crate) quotes: bool,
    pub(crate) strip_periods: bool,
}

/// `form` of terms and labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub(crate) enum Form {
    #[default]
    Long,
    Short,
    Verb,
    VerbShort,
    Symbol,
}

/// `cs:text`.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    pub(crate) common: Common,
    pub(crate) source: TextSource,
}

/// What a `cs:text` shows.
#[derive(Debug, Clone)]
pub(crate) enum TextSource {
    Variable { name: String, short: bool },
    Macro(String),
    Term { name: String, form: Form, plural: bool },
    Value(String),
}

/// `cs:number`.
#[derive(Debug, Clone)]
pub(crate) struct Number {
    pub(crate) common: Common,
    pub(crate) variable: String,
    pub(crate) form: NumberForm,
}

/// `form` of `cs:number`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberForm {
    Numeric,
    Ordinal,
    LongOrdinal,
    Roman,
}

/// `cs:label`.
#[derive(Debug, Clone)]
pub(crate) struct Label {
    pub(crate) common: Common,
    pub(crate) variable: String,
    pub(crate) form: Form,
    pub(crate) plural: Plural,
}

/// `plural` of `cs:label`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plural {
    Contextual,
    Always,
    Never,
}

/// `cs:date`.
#[derive(Debug, Clone)]
pub(crate) struct Date {
    pub(crate) common: Common,
    pub(crate) variable: String,
    /// `form`: whether it is the locale's date, numeric or in text.
    pub(crate) localized: Option<DateForm>,
    pub(crate) precision: Precision,
    pub(crate) delimiter: String,
    pub(crate) parts: Vec<DatePart>,
}

/// `form` of `cs:date`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DateForm {
    Numeric,
    Text,
}

/// `date-parts` of `cs:date`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precision {
    Day,
    Month,
    Year,
}

/// `cs:date-part`.
#[derive(Debug, Clone)]
pub(crate) struct DatePart {
    pub(crate) name: PartName,
    pub(crate) form: Option<String>,
    pub(crate) range_delimiter: Option<String>,
    pub(crate) common: Common,
}

/// `name` of `cs:date-part`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartName {
    Year,
    Month,
    Day,
}

/// `cs:names`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    pub(crate) common: Common,
    pub(crate) variables: Vec<String>,
    /// The options of `cs:name` and the delimiter of `cs:names`.
    pub(crate) options: NameOptions,
    pub(crate) name: Option<NameElement>,
    pub(crate) et_al: Option<EtAl>,
    pub(crate) label: Option<NameLabel>,
    pub(crate) substitute: Vec<Element>,
}

/// `cs:name`, without the options that are inherited.
#[derive(Debug, Clone, Default)]
pub(crate) struct NameElement {
    pub(crate) common: Common,
    pub(crate) family: Common,
    pub(crate) given: Common,
}

/// `cs:et-al`.
#[derive(Debug, Clone)]
pub(crate) struct EtAl {
    pub(crate) term: String,
    pub(crate) formatting: Formatting,
}

/// `cs:label` of `cs:names`.
#[derive(Debug, Clone)]
pub(crate) struct NameLabel {
    pub(crate) common: Common,
    pub(crate) form: Form,
    pub(crate) plural: Plural,
    /// It precedes `cs:name`.
    pub(crate) before: bool,
}

/// `cs:group`.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub(crate) common: Common,
    pub(crate) delimiter: String,
    pub(crate) elements: Vec<Element>,
}

/// A branch of `cs:choose`.
#[derive(Debug, Clone)]
pub(crate) struct Branch {
    pub(crate) conditions: Vec<Condition>,
    pub(crate) matching: Match,
    pub(crate) elements: Vec<Element>,
}

/// `match`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Match {
    All,
    Any,
    None,
}

/// A test of a condition.
#[derive(Debug, Clone)]
pub(crate) enum Condition {
    Disambiguate(bool),
    IsNumeric(String),
    IsUncertainDate(String),
    Locator(String),
    Position(Position),
    Type(String),
    Variable(String),
    /// A test that is unknown here: never true.
    Unknown,
}

/// `position`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    First,
    Subsequent,
    Ibid,
    IbidWithLocator,
    NearNote,
}
