//! `cs:date`.

use super::{Context, RenderTarget, Rendered};
use crate::item::date::{Date as Value, Day};
use crate::output::{Mark, Node, case, decorate};
use crate::style::elements::{Common, Date, DatePart, Form, Formatting, PartName, Precision};

/// A day with its season.
#[derive(Clone, Copy)]
struct Moment<'v> {
    day: Day,
    season: Option<&'v str>,
}

/// Where the parts of a date are in a range.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Whole,
    Start,
    End,
}

impl<'a> Context<'a> {
    pub(super) fn date(&mut self, date: &'a Date) -> Rendered {
        let item = self.item;
        if self.suppressed.contains(&date.variable) {
            return Rendered::variable(None);
        }
        let Some(value) = item.dates.get(&date.variable) else { return Rendered::variable(None) };
        self.record(&date.variable);
        if self.target == RenderTarget::SortKey && value.start.is_some() {
            let text = vec![Node::text(self.sortable(date, value))];
            return Rendered::variable(Some(Node::marked(Mark::SortableDate, text)));
        }
        if self.target == RenderTarget::SortKey && value.literal.is_some() {
            return Rendered { nodes: Vec::new(), called: true, filled: true };
        }
        if let Some(literal) = &value.literal {
            let (parts, _) = self.parts(date);
            if !parts.iter().any(|part| part.name == PartName::Year) {
                return Rendered { nodes: Vec::new(), called: true, filled: true };
            }
            let mut nodes = crate::output::markup::value(literal);
            if let Some(case) = date.common.case {
                case::apply(&mut nodes, case, self.english());
            }
            self.append_suffix(&mut nodes, "");
            if date.localized.is_some()
                && let Some(year) = parts.iter().find(|part| part.name == PartName::Year)
            {
                let (prefix, suffix) = (year.common.prefix.clone(), year.common.suffix.clone());
                let affixes = Common { prefix, suffix, ..Common::default() };
                nodes = decorate(nodes, &affixes).into_iter().collect();
            }
            return Rendered::variable(decorate(nodes, &date.common));
        }
        let (parts, delimiter) = self.parts(date);
        let mut nodes = self.range(value, &parts, &delimiter);
        if let Some(case) = date.common.case {
            case::apply(&mut nodes, case, self.english());
        }
        Rendered::variable(decorate(nodes, &date.common))
    }

    /// The date as a sort key: as precise as the element shows it.
    fn sortable(&self, date: &Date, value: &Value) -> String {
        let (parts, _) = self.parts(date);
        let shows = |name: PartName| parts.iter().any(|part| part.name == name);
        let (year, month, day) =
            (shows(PartName::Year), shows(PartName::Month), shows(PartName::Day));
        let sort_key = |at: Day| {
            let month = at.month.filter(|_| month);
            crate::sort::day(year.then_some(at.year), month, at.day.filter(|_| day))
        };
        value.start.into_iter().chain(value.end).map(sort_key).collect::<Vec<_>>().join(" ")
    }

    /// The parts that the element shows, in their order: its own, or those of the locale's date with
    /// the attributes that the element changes.
    fn parts(&self, date: &Date) -> (Vec<DatePart>, String) {
        let Some(form) = date.localized else {
            return (date.parts.clone(), date.delimiter.clone());
        };
        let Some(local) = self.locale.date(form) else { return (Vec::new(), String::new()) };
        let mut parts = local.parts.clone();
        parts.retain(|part| match date.precision {
            Precision::Day => true,
            Precision::Month => part.name != PartName::Day,
            Precision::Year => part.name == PartName::Year,
        });
        for part in &mut parts {
            if let Some(own) = date.parts.iter().find(|own| own.name == part.name) {
                part.form = own.form.clone().or(part.form.take());
                part.range_delimiter = own.range_delimiter.clone().or(part.range_delimiter.take());
                let common = &mut part.common;
                common.case = own.common.case.or(common.case);
                common.strip_periods |= own.common.strip_periods;
                if own.common.formatting != Formatting::default() {
                    common.formatting = own.common.formatting;
                }
            }
        }
        let delimiter = local.delimiter.clone();
        (parts, if delimiter.is_empty() { date.delimiter.clone() } else { delimiter })
    }

    fn range(&mut self, value: &Value, parts: &[DatePart], delimiter: &str) -> Vec<Node> {
        let season = value.season.as_deref();
        let Some(day) = value.start else {
            let nodes: Vec<Node> =
                season.map(|season| self.season(season, false)).into_iter().collect();
            return nodes;
        };
        let start = Moment { day, season };
        let shows = |name: PartName| parts.iter().any(|part| part.name == name);
        let end = value.end.map(|day| Moment { day, season: value.end_season.as_deref() });
        let differs = |end: &Moment<'_>| {
            if end.day.year != day.year && shows(PartName::Year) {
                Some(PartName::Year)
            } else if (end.day.month != day.month || end.season != season) && shows(PartName::Month)
            {
                Some(PartName::Month)
            } else if end.day.day != day.day && shows(PartName::Day) {
                Some(PartName::Day)
            } else {
                None
            }
        };
        let widest = match &end {
            Some(end) => differs(end),
            None if value.open => Some(PartName::Year),
            None => None,
        };
        let Some(widest) = widest else {
            let nodes = self.sequence(parts, start, Side::Whole);
            return crate::output::join(nodes, delimiter);
        };
        let doubled = |part: &DatePart| match widest {
            PartName::Year => true,
            PartName::Month => part.name != PartName::Year,
            PartName::Day => part.name == PartName::Day,
        };
        let (Some(first), Some(last)) =
            (parts.iter().position(doubled), parts.iter().rposition(doubled))
        else {
            let nodes = self.sequence(parts, start, Side::Whole);
            return crate::output::join(nodes, delimiter);
        };
        let own = parts.iter().find(|part| part.name == widest);
        let dash =
            own.and_then(|part| part.range_delimiter.clone()).unwrap_or_else(|| "–".to_owned());
        let mut nodes = self.sequence(&parts[..first], start, Side::Whole);
        let block = &parts[first..=last];
        let mut middle = crate::output::join(self.sequence(block, start, Side::Start), delimiter);
        middle.push(Node::text(dash));
        if let Some(end) = end {
            middle.extend(crate::output::join(self.sequence(block, end, Side::End), delimiter));
        }
        nodes.push(Node::plain(middle));
        nodes.extend(self.sequence(&parts[last + 1..], start, Side::Whole));
        crate::output::join(nodes, delimiter)
    }

    /// The parts of one date. Beside a range's dash, the end of a start has no suffix and the start of
    /// an end no prefix.
    fn sequence(&mut self, parts: &[DatePart], moment: Moment<'_>, side: Side) -> Vec<Node> {
        let bare = side == Side::Start;
        let mut shown: Vec<(&DatePart, Vec<Node>)> = Vec::new();
        for part in parts {
            if let Some(nodes) = self.part(part, moment, bare) {
                shown.push((part, nodes));
            }
        }
        let count = shown.len();
        let mut out = Vec::with_capacity(count);
        for (index, (part, mut nodes)) in shown.into_iter().enumerate() {
            let mut common = part.common.clone();
            if bare && index + 1 == count {
                common.suffix.clear();
            }
            if side == Side::End && index == 0 {
                common.prefix.clear();
            }
            if let Some(case) = common.case {
                case::apply(&mut nodes, case, self.english());
            }
            out.extend(decorate(nodes, &common));
            if part.name == PartName::Year && !bare && !part.common.suffix.is_empty() {
                out.push(Node::text(self.era(moment.day.year)));
            }
        }
        out
    }

    fn part(&mut self, part: &DatePart, moment: Moment<'_>, bare: bool) -> Option<Vec<Node>> {
        let form = part.form.as_deref();
        match part.name {
            PartName::Year => {
                let mut year = self.year(moment.day.year, form)?;
                // The era is behind a range, and behind the suffix of the part.
                let later = (bare && moment.day.year < 0) || !part.common.suffix.is_empty();
                if !later {
                    year.push_str(self.era(moment.day.year));
                }
                let mut nodes = vec![Node::text(year)];
                if !bare {
                    self.append_suffix(&mut nodes, "");
                }
                Some(vec![Node::marked(Mark::Year, nodes)])
            }
            PartName::Month => {
                let short = form == Some("short");
                let Some(month) = moment.day.month else {
                    return moment.season.map(|season| vec![self.season(season, short)]);
                };
                let text = match form {
                    Some("numeric") => month.to_string(),
                    Some("numeric-leading-zeros") => format!("{month:02}"),
                    _ => {
                        let form = if short { Form::Short } else { Form::Long };
                        let name = format!("month-{month:02}");
                        self.locale.term(&name, form, false)?.to_owned()
                    }
                };
                Some(vec![Node::text(text)])
            }
            PartName::Day => {
                let month = moment.day.month?;
                let day = moment.day.day?;
                let text = match form {
                    Some("numeric-leading-zeros") => format!("{day:02}"),
                    Some("ordinal") if day == 1 || !self.locale.limit_day_ordinals() => {
                        let gender = self.locale.gender(&format!("month-{month:02}"));
                        format!("{day}{}", self.locale.ordinal(u64::from(day), gender))
                    }
                    _ => day.to_string(),
                };
                Some(vec![Node::text(text)])
            }
        }
    }

    fn season(&self, season: &str, short: bool) -> Node {
        let form = if short { Form::Short } else { Form::Long };
        let number: Option<u32> = season.trim().parse().ok();
        let number = number.map(|n| if n > 20 { n - 20 } else { n });
        let term = number.and_then(|n| self.locale.term(&format!("season-{n:02}"), form, false));
        Node::text(term.unwrap_or(season))
    }

    fn year(&self, year: i64, form: Option<&str>) -> Option<String> {
        Some(match (year, form) {
            (..0, _) => (-year).to_string(),
            (0, _) => return None,
            (1000.., Some("short")) => format!("{:02}", year % 100),
            _ => year.to_string(),
        })
    }

    /// The era of a year, where it is written.
    fn era(&self, year: i64) -> &str {
        let term = |name: &str| self.locale.term(name, Form::Long, false).unwrap_or_default();
        match year {
            year if year < 0 => term("bc"),
            1..500 => term("ad"),
            _ => "",
        }
    }

    /// Adds the year suffix where the style does not say its place.
    pub(super) fn append_suffix(&mut self, nodes: &mut Vec<Node>, before: &str) {
        if self.suffixed || self.style.explicit_year_suffix || self.target == RenderTarget::SortKey
        {
            return;
        }
        if let Some(suffix) = self.decided.year_suffix.clone() {
            self.suffixed = true;
            nodes.push(Node::text(before));
            nodes.push(Node::marked(Mark::YearSuffix, vec![Node::text(suffix)]));
        }
    }
}
