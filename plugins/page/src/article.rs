//! The text of an article by points: paragraphs give points to what they are in, the element with the most
//! is the article, and what in it is mostly links, fields or pictures is left out. The rules and figures are
//! those of Mozilla's Readability, which many pages are written to suit.

use crate::dom::{Id, Tree};
use crate::hints::Hints;

/// A part of a page.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    /// Elements, or runs of nodes in one element, in document order.
    pub(crate) roots: Vec<Id>,
    /// What in them is left out.
    pub(crate) gone: Vec<bool>,
    /// Characters of its text.
    pub(crate) chars: usize,
}

/// Which rules are on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// Leave out what is named like boilerplate.
    pub(crate) unlikely: bool,
    /// Give points for names.
    pub(crate) weights: bool,
    /// Leave out lists and boxes that look like none of the text.
    pub(crate) clean: bool,
}

/// Figures of one element and all inside.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stat {
    pub(crate) chars: u32,
    pub(crate) commas: u32,
    /// Characters in links; those to the same page count for a third.
    pub(crate) link: f32,
    heading: u32,
    list: u32,
    textish: u32,
    pub(crate) paragraphs: u32,
    images: u32,
    items: u32,
    inputs: u32,
    embeds: u32,
}

impl Stat {
    /// Share of the text that is links.
    pub(crate) fn link_density(&self) -> f32 {
        if self.chars == 0 { 0.0 } else { self.link / self.chars as f32 }
    }

    fn add(&mut self, other: &Self) {
        self.chars += other.chars;
        self.commas += other.commas;
        self.link += other.link;
        self.heading += other.heading;
        self.list += other.list;
        self.textish += other.textish;
        self.paragraphs += other.paragraphs;
        self.images += other.images;
        self.items += other.items;
        self.inputs += other.inputs;
        self.embeds += other.embeds;
    }

    fn subtract(&mut self, other: &Self) {
        self.chars = self.chars.saturating_sub(other.chars);
        self.commas = self.commas.saturating_sub(other.commas);
        self.link = (self.link - other.link).max(0.0);
        self.heading = self.heading.saturating_sub(other.heading);
        self.list = self.list.saturating_sub(other.list);
        self.textish = self.textish.saturating_sub(other.textish);
        self.paragraphs = self.paragraphs.saturating_sub(other.paragraphs);
        self.images = self.images.saturating_sub(other.images);
        self.items = self.items.saturating_sub(other.items);
        self.inputs = self.inputs.saturating_sub(other.inputs);
        self.embeds = self.embeds.saturating_sub(other.embeds);
    }
}

/// What does not change between attempts.
pub(crate) struct Measured<'t> {
    pub(crate) tree: &'t Tree,
    pub(crate) hints: &'t Hints,
    texts: Vec<(u32, u32)>,
    /// Runs of text directly in an element, which are paragraphs without a tag.
    runs: Vec<Vec<(u32, u32)>>,
    as_paragraph: Vec<bool>,
}

impl<'t> Measured<'t> {
    /// Measures a page's texts.
    pub(crate) fn new(tree: &'t Tree, hints: &'t Hints, gone: &[bool]) -> Self {
        let mut texts = vec![(0, 0); tree.len()];
        for (id, one) in texts.iter_mut().enumerate() {
            if let Some(text) = tree.text(id) {
                *one = measure(text);
            }
        }
        let mut measured =
            Self { tree, hints, texts, runs: vec![Vec::new(); tree.len()], as_paragraph: vec![] };
        measured.as_paragraph = vec![false; tree.len()];
        let stats = measured.stats(gone);
        let mut at = 0;
        while at < tree.len() {
            if gone[at] {
                at = tree.end(at);
                continue;
            }
            measured.find_runs(at, gone, &stats);
            at += 1;
        }
        measured
    }

    fn find_runs(&mut self, id: Id, gone: &[bool], stats: &[Stat]) {
        let tree = self.tree;
        let name = tree.name(id);
        let is_div = name == "div";
        if !(is_div
            || matches!(name, "td" | "body" | "article" | "main" | "center" | "form" | "li"))
        {
            return;
        }
        let mut runs = Vec::new();
        let mut run = (0_u32, 0_u32);
        let (mut others, mut only, mut breaks, mut broken) = (0, 0, 0, false);
        for child in tree.children(id) {
            if gone[child] {
                continue;
            }
            if self.is_phrasing(child) {
                if tree.name(child) == "br" {
                    breaks += 1;
                    if breaks == 2 {
                        broken = true;
                        runs.push(std::mem::take(&mut run));
                    }
                    continue;
                }
                let (chars, commas) = match tree.text(child) {
                    Some(_) => self.texts[child],
                    None => (stats[child].chars, stats[child].commas),
                };
                if chars > 0 {
                    breaks = 0;
                }
                run = (run.0 + chars, run.1 + commas);
            } else {
                others += 1;
                only = child;
                breaks = 0;
                runs.push(std::mem::take(&mut run));
            }
        }
        runs.push(run);
        runs.retain(|run| run.0 > 0);
        if !is_div && !broken {
            return;
        }
        let alone = is_div && stats[id].link_density() < 0.25;
        let one_run = others == 0 && runs.len() == 1;
        if alone && (one_run || (others == 1 && runs.is_empty() && tree.name(only) == "p")) {
            self.as_paragraph[id] = one_run;
        }
        self.runs[id] = runs;
    }

    fn is_phrasing(&self, id: Id) -> bool {
        let tree = self.tree;
        match tree.name(id) {
            "" => true,
            "a" | "del" | "ins" => tree.children(id).all(|child| {
                !matches!(tree.name(child), "a" | "del" | "ins") && self.is_phrasing(child)
            }),
            "abbr" | "audio" | "b" | "bdo" | "br" | "button" | "cite" | "code" | "data"
            | "datalist" | "dfn" | "em" | "embed" | "i" | "img" | "input" | "kbd" | "label"
            | "mark" | "math" | "meter" | "noscript" | "object" | "output" | "progress" | "q"
            | "ruby" | "samp" | "script" | "select" | "small" | "span" | "strong" | "sub"
            | "sup" | "textarea" | "time" | "var" | "wbr" | "font" => true,
            _ => false,
        }
    }

    /// Whether there are paragraphs without a tag directly in an element.
    pub(crate) fn has_runs(&self, id: Id) -> bool {
        self.runs.get(id).is_some_and(|runs| !runs.is_empty())
    }

    /// Figures of every element, without what is left out.
    pub(crate) fn stats(&self, gone: &[bool]) -> Vec<Stat> {
        let tree = self.tree;
        let mut stats = vec![Stat::default(); tree.len()];
        for id in (1..tree.len()).rev() {
            if gone[id] {
                continue;
            }
            if tree.text(id).is_some() {
                (stats[id].chars, stats[id].commas) = self.texts[id];
            } else {
                stats[id].paragraphs += self.runs[id].len() as u32;
            }
            let outer = self.as_seen_outside(id, &stats[id]);
            stats[tree.parent(id)].add(&outer);
        }
        stats
    }

    /// What an element's figures add to those of the element around it.
    fn as_seen_outside(&self, id: Id, stat: &Stat) -> Stat {
        let mut outer = *stat;
        match self.tree.name(id) {
            "a" => {
                let here =
                    self.tree.attribute(id, "href").is_some_and(|href| href.starts_with('#'));
                outer.link = stat.chars as f32 * if here { 0.3 } else { 1.0 };
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => outer.heading = stat.chars,
            "ul" | "ol" => (outer.list, outer.textish) = (stat.chars, stat.chars),
            "li" => (outer.textish, outer.items) = (stat.chars, stat.items + 1),
            "p" => (outer.textish, outer.paragraphs) = (stat.chars, stat.paragraphs + 1),
            "span" | "td" | "blockquote" | "dl" | "div" | "pre" | "table" => {
                outer.textish = stat.chars;
            }
            "img" => outer.images += 1,
            "input" => outer.inputs += 1,
            "iframe" | "object" | "embed" => outer.embeds += 1,
            _ => {}
        }
        outer
    }

    /// Leaves an element out and takes its figures from those around it.
    fn remove(&self, id: Id, gone: &mut [bool], stats: &mut [Stat]) {
        if gone[id] {
            return;
        }
        let tree = self.tree;
        gone[id..tree.end(id)].fill(true);
        let mut before = stats[id];
        let mut after = Stat::default();
        let mut at = id;
        let mut outer_before = self.as_seen_outside(at, &before);
        let mut outer_after = after;
        loop {
            at = tree.parent(at);
            before = stats[at];
            after = before;
            after.subtract(&outer_before);
            after.add(&outer_after);
            stats[at] = after;
            if at == 0 {
                return;
            }
            outer_before = self.as_seen_outside(at, &before);
            outer_after = self.as_seen_outside(at, &after);
        }
    }

    /// Finds the article; tries again with fewer rules while it is short.
    pub(crate) fn article(&self, gone: &[bool], title: &str) -> Option<Selection> {
        let mut best: Option<Selection> = None;
        for (unlikely, weights, clean) in
            [(true, true, true), (false, true, true), (false, false, true), (false, false, false)]
        {
            let found = self.attempt(gone, title, Rules { unlikely, weights, clean });
            if let Some(found) = found {
                let enough = found.chars >= 500;
                if best.as_ref().is_none_or(|best| best.chars < found.chars) {
                    best = Some(found);
                }
                if enough {
                    break;
                }
            }
        }
        best.filter(|best| best.chars > 0)
    }

    fn attempt(&self, gone: &[bool], title: &str, rules: Rules) -> Option<Selection> {
        let tree = self.tree;
        let mut gone = gone.to_vec();
        let mut to_score = Vec::new();
        self.strip(&mut gone, &mut to_score, title, rules);
        let mut stats = self.stats(&gone);
        let mut scores: Vec<Option<f32>> = vec![None; tree.len()];
        for id in to_score {
            self.score(id, &stats, &mut scores, rules);
        }
        let body = tree.descendants(0).find(|&id| tree.name(id) == "body")?;
        let top = self.top(body, &stats, &mut scores, rules);
        let roots = self.with_siblings(top, body, &stats, &scores);
        for &root in &roots {
            self.clean(root, &mut gone, &mut stats, rules);
        }
        let chars =
            roots.iter().filter(|&&root| !gone[root]).map(|&root| stats[root].chars as usize).sum();
        Some(Selection { roots, gone, chars })
    }

    /// Leaves out what is unlikely and lists what gives points.
    fn strip(&self, gone: &mut [bool], to_score: &mut Vec<Id>, title: &str, rules: Rules) {
        let tree = self.tree;
        let stats = self.stats(gone);
        let (mut at, mut byline, mut heading) = (0, false, false);
        while at < tree.len() {
            if gone[at] {
                at = tree.end(at);
                continue;
            }
            if !tree.is_element(at) {
                at += 1;
                continue;
            }
            let (name, hint) = (tree.name(at), self.hints.of(at));
            let mut leave = false;
            if !byline && is_byline(tree, at, hint.byline) && (1..100).contains(&stats[at].chars) {
                (byline, leave) = (true, true);
            } else if !heading
                && matches!(name, "h1" | "h2")
                && similar(title, &tree.all_text(at)) > 0.75
            {
                (heading, leave) = (true, true);
            } else if rules.unlikely {
                let inside = |names: &[&str]| {
                    tree.ancestors(at).any(|outer| names.contains(&tree.name(outer)))
                };
                leave = (hint.unlikely
                    && !matches!(name, "body" | "a" | "html")
                    && !inside(&["table", "code"]))
                    || tree.attribute(at, "role").is_some_and(|role| {
                        matches!(
                            role,
                            "menu"
                                | "menubar"
                                | "complementary"
                                | "navigation"
                                | "alert"
                                | "alertdialog"
                                | "dialog"
                        )
                    });
            }
            if leave {
                gone[at..tree.end(at)].fill(true);
                at = tree.end(at);
                continue;
            }
            if matches!(name, "section" | "h2" | "h3" | "h4" | "h5" | "h6" | "p" | "td" | "pre")
                || !self.runs[at].is_empty()
            {
                to_score.push(at);
            }
            at += 1;
        }
    }

    fn score(&self, id: Id, stats: &[Stat], scores: &mut [Option<f32>], rules: Rules) {
        let tree = self.tree;
        let name = tree.name(id);
        let tagged =
            matches!(name, "section" | "h2" | "h3" | "h4" | "h5" | "h6" | "p" | "td" | "pre");
        if tagged || self.as_paragraph[id] {
            self.give(tree.parent(id), stats[id].chars, stats[id].commas, scores, rules);
        }
        if !self.as_paragraph[id] {
            for &(chars, commas) in &self.runs[id] {
                self.give(id, chars, commas, scores, rules);
            }
        }
    }

    fn give(&self, to: Id, chars: u32, commas: u32, scores: &mut [Option<f32>], rules: Rules) {
        if chars < 25 || to == 0 {
            return;
        }
        let points = 2.0 + commas as f32 + (chars / 100).min(3) as f32;
        let mut at = to;
        for level in 0..5_u8 {
            if at == 0 || self.tree.name(at) == "html" {
                return;
            }
            let score = scores[at].get_or_insert_with(|| self.base(at, rules));
            *score += points
                / match level {
                    0 => 1.0,
                    1 => 2.0,
                    level => f32::from(level) * 3.0,
                };
            at = self.tree.parent(at);
        }
    }

    fn weight(&self, id: Id, rules: Rules) -> f32 {
        if rules.weights { f32::from(self.hints.of(id).weight) } else { 0.0 }
    }

    fn base(&self, id: Id, rules: Rules) -> f32 {
        let points = match self.tree.name(id) {
            "div" => 5.0,
            "pre" | "td" | "blockquote" => 3.0,
            "address" | "ol" | "ul" | "dl" | "dd" | "dt" | "li" | "form" => -3.0,
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "th" => -5.0,
            _ => 0.0,
        };
        points + self.weight(id, rules)
    }

    /// The element with the most points, or one around it that holds several of them.
    fn top(&self, body: Id, stats: &[Stat], scores: &mut [Option<f32>], rules: Rules) -> Id {
        let tree = self.tree;
        let mut best: Vec<(f32, Id)> = Vec::new();
        for id in 0..tree.len() {
            if let Some(score) = scores[id] {
                let score = score * (1.0 - stats[id].link_density());
                scores[id] = Some(score);
                let at = best.iter().position(|&(other, _)| score > other).unwrap_or(best.len());
                best.insert(at, (score, id));
                best.truncate(5);
            }
        }
        let Some(&(most, first)) = best.first().filter(|&&(_, id)| id != body) else {
            return body;
        };
        let mut top = first;
        let near: Vec<Id> =
            best.iter().skip(1).filter(|one| one.0 / most >= 0.75).map(|one| one.1).collect();
        if near.len() >= 3 {
            let around = tree.ancestors(top).take_while(|&outer| outer != body).find(|&outer| {
                near.iter().filter(|&&one| outer < one && one < tree.end(outer)).count() >= 3
            });
            top = around.unwrap_or(top);
        }
        if scores[top].is_none() {
            scores[top] = Some(self.base(top, rules));
        }
        let mut last = scores[top].unwrap_or_default();
        let threshold = last / 3.0;
        for outer in tree.ancestors(top).take_while(|&outer| outer != body) {
            let Some(score) = scores[outer] else { continue };
            if score < threshold {
                break;
            }
            if score > last {
                top = outer;
                break;
            }
            last = score;
        }
        loop {
            let outer = tree.parent(top);
            if outer <= body || tree.elements(outer).count() != 1 {
                break;
            }
            top = outer;
        }
        if scores[top].is_none() {
            scores[top] = Some(self.base(top, rules));
        }
        top
    }

    fn with_siblings(&self, top: Id, body: Id, stats: &[Stat], scores: &[Option<f32>]) -> Vec<Id> {
        let tree = self.tree;
        if top == body {
            return vec![body];
        }
        let score = scores[top].unwrap_or_default();
        let threshold = (score * 0.2).max(10.0);
        let class = tree.attribute(top, "class").unwrap_or_default();
        let mut roots = Vec::new();
        for sibling in tree.elements(tree.parent(top)) {
            let same = !class.is_empty() && tree.attribute(sibling, "class") == Some(class);
            let bonus = if same { score * 0.2 } else { 0.0 };
            let stat = &stats[sibling];
            let joins = sibling == top
                || scores[sibling].is_some_and(|score| score + bonus >= threshold)
                || ((tree.name(sibling) == "p" || self.as_paragraph[sibling]) && {
                    let density = stat.link_density();
                    (stat.chars > 80 && density < 0.25)
                        || (stat.chars > 0 && stat.chars < 80 && density == 0.0 && {
                            let text = tree.all_text(sibling);
                            text.ends_with('.') || text.contains(". ")
                        })
                });
            if joins {
                roots.push(sibling);
            }
        }
        roots
    }

    /// Leaves out of an article what is none of its text.
    fn clean(&self, root: Id, gone: &mut [bool], stats: &mut [Stat], rules: Rules) {
        let tree = self.tree;
        let data = self.data_tables(root, gone);
        for pass in [&["form", "fieldset"][..], &[], &["table"], &["ul", "ol"], &["div"]] {
            for id in (root..tree.end(root)).rev() {
                if gone[id] || !tree.is_element(id) {
                    continue;
                }
                let name = tree.name(id);
                let remove = if pass.is_empty() {
                    matches!(name, "footer" | "aside" | "button")
                        || (matches!(name, "h1" | "h2") && self.weight(id, rules) < 0.0)
                        || (id != root && self.hints.of(id).share && stats[id].chars < 500)
                } else {
                    id != root
                        && pass.contains(&name)
                        && !self.as_paragraph[id]
                        && rules.clean
                        && self.is_junk(id, &stats[id], &data, rules)
                };
                if remove {
                    self.remove(id, gone, stats);
                }
            }
        }
    }

    /// Tables that hold data, by their marks or their size.
    fn data_tables(&self, root: Id, gone: &[bool]) -> Vec<Id> {
        let tree = self.tree;
        let mut data = Vec::new();
        let mut at = root;
        while at < tree.end(root) {
            if gone[at] {
                at = tree.end(at);
                continue;
            }
            if tree.name(at) == "table" && is_data_table(tree, at) {
                data.push(at);
            }
            at += 1;
        }
        data
    }

    fn is_junk(&self, id: Id, stat: &Stat, data: &[Id], rules: Rules) -> bool {
        let tree = self.tree;
        let name = tree.name(id);
        if data.contains(&id)
            || tree.ancestors(id).any(|outer| tree.name(outer) == "code" || data.contains(&outer))
            || data.iter().any(|&table| id < table && table < tree.end(id))
        {
            return false;
        }
        let weight = self.weight(id, rules);
        if weight < 0.0 {
            return true;
        }
        if stat.commas >= 10 {
            return false;
        }
        let chars = stat.chars as f32;
        let share = |part: u32| if stat.chars == 0 { 0.0 } else { part as f32 / chars };
        let is_list = matches!(name, "ul" | "ol") || share(stat.list) > 0.9;
        let in_figure = tree.ancestors(id).any(|outer| tree.name(outer) == "figure");
        let items = i64::from(stat.items) - 100;
        let (images, paragraphs) = (f64::from(stat.images), f64::from(stat.paragraphs));
        let density = stat.link_density();
        let junk = (!in_figure && images > 1.0 && paragraphs / images < 0.5)
            || (!is_list && items > i64::from(stat.paragraphs))
            || stat.inputs > stat.paragraphs / 3
            || (!is_list
                && !in_figure
                && share(stat.heading) < 0.9
                && chars < 25.0
                && (images == 0.0 || images > 2.0)
                && density > 0.0)
            || (!is_list && weight < 25.0 && density > 0.2)
            || (weight >= 25.0 && density > 0.5)
            || (stat.embeds == 1 && chars < 75.0)
            || stat.embeds > 1
            || (images == 0.0 && share(stat.textish) == 0.0);
        if junk && is_list {
            let simple = tree.elements(id).all(|child| tree.elements(child).count() <= 1);
            if simple && stat.items > 0 && stat.images == stat.items {
                return false;
            }
        }
        junk
    }
}

fn is_byline(tree: &Tree, id: Id, named: bool) -> bool {
    named
        || tree.attribute(id, "rel") == Some("author")
        || tree.attribute(id, "itemprop").is_some_and(|what| what.contains("author"))
}

fn is_data_table(tree: &Tree, id: Id) -> bool {
    if tree.attribute(id, "role") == Some("presentation")
        || tree.attribute(id, "datatable") == Some("0")
    {
        return false;
    }
    if tree.attribute(id, "summary").is_some_and(|summary| !summary.is_empty()) {
        return true;
    }
    let (mut rows, mut columns, mut here) = (0, 0, 0);
    for inner in tree.descendants(id) {
        match tree.name(inner) {
            "caption" if tree.end(inner) > inner + 1 => return true,
            "col" | "colgroup" | "tfoot" | "thead" | "th" => return true,
            "table" => return false,
            "tr" => (rows, here) = (rows + 1, 0),
            "td" => {
                here += 1;
                columns = columns.max(here);
            }
            _ => {}
        }
    }
    rows > 1 && columns > 1 && (rows >= 10 || columns > 4 || rows * columns > 10)
}

/// Share of the second text's words that the first has too, by length.
pub(crate) fn similar(one: &str, other: &str) -> f32 {
    let words = |text: &str| -> Vec<String> {
        text.to_lowercase()
            .split(|one: char| !one.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let (one, other) = (words(one), words(other));
    if one.is_empty() || other.is_empty() {
        return 0.0;
    }
    let length = |words: &[&String]| words.iter().map(|word| word.len() + 1).sum::<usize>() as f32;
    let extra: Vec<&String> = other.iter().filter(|word| !one.contains(word)).collect();
    1.0 - length(&extra) / length(&other.iter().collect::<Vec<_>>())
}

/// Characters with whitespace collapsed, and commas.
fn measure(text: &str) -> (u32, u32) {
    let (mut chars, mut commas, mut space) = (0, 0, true);
    for one in text.chars() {
        if one.is_whitespace() {
            chars += u32::from(!space);
            space = true;
        } else {
            chars += 1;
            space = false;
            commas += u32::from(matches!(
                one,
                ',' | '\u{60c}'
                    | '\u{fe50}'
                    | '\u{fe10}'
                    | '\u{fe11}'
                    | '\u{2e41}'
                    | '\u{2e34}'
                    | '\u{2e32}'
                    | '\u{ff0c}'
            ));
        }
    }
    // A text of whitespace alone is nothing.
    (if chars == 1 && space { 0 } else { chars }, commas)
}
