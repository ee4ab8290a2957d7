//! Counts of elements: characters, links, paragraphs, pictures, of all content that is not left
//! out.

use crate::dom::{Id, Tree};
use crate::hints::Hints;

/// Counts of one element and its content.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stat {
    pub(crate) chars: u32,
    pub(crate) commas: u32,
    /// Characters in links; those to the same page count for a third.
    pub(crate) link: f32,
    pub(crate) heading: u32,
    pub(crate) list: u32,
    pub(crate) textish: u32,
    pub(crate) paragraphs: u32,
    pub(crate) images: u32,
    pub(crate) items: u32,
    pub(crate) inputs: u32,
    pub(crate) embeds: u32,
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

/// An element's contribution to its ancestors' counts.
#[derive(Debug, Clone, Copy)]
enum Role {
    Other,
    /// A link, and the weight of its characters.
    Link(f32),
    Heading,
    List,
    Item,
    Paragraph,
    Textish,
    Image,
    Input,
    Embed,
}

impl Role {
    fn of(tree: &Tree, id: Id) -> Self {
        match tree.name(id) {
            "a" => {
                let here = tree.attribute(id, "href").is_some_and(|href| href.starts_with('#'));
                Self::Link(if here { 0.3 } else { 1.0 })
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => Self::Heading,
            "ul" | "ol" => Self::List,
            "li" => Self::Item,
            "p" => Self::Paragraph,
            "span" | "td" | "blockquote" | "dl" | "div" | "pre" | "table" => Self::Textish,
            "img" => Self::Image,
            "input" => Self::Input,
            "iframe" | "object" | "embed" => Self::Embed,
            _ => Self::Other,
        }
    }
}

/// State that does not change between attempts.
pub(crate) struct Measured<'t> {
    pub(crate) tree: &'t Tree,
    pub(crate) hints: &'t Hints,
    texts: Vec<(u32, u32)>,
    roles: Vec<Role>,
    /// Runs of text directly in an element, which are paragraphs without a tag.
    pub(crate) runs: Vec<Vec<(u32, u32)>>,
    /// Elements that are nothing but one such run.
    pub(crate) as_paragraph: Vec<bool>,
}

impl<'t> Measured<'t> {
    /// Measures a page's texts, and counts its elements as [`Measured::stats`] does.
    pub(crate) fn new(tree: &'t Tree, hints: &'t Hints, gone: &[bool]) -> (Self, Vec<Stat>) {
        let of_text = |id| if gone[id] { None } else { tree.text(id) };
        let texts = (0..tree.len()).map(|id| of_text(id).map_or((0, 0), measure)).collect();
        let roles = (0..tree.len()).map(|id| Role::of(tree, id)).collect();
        let (runs, as_paragraph) = (vec![Vec::new(); tree.len()], vec![false; tree.len()]);
        let mut measured = Self { tree, hints, texts, roles, runs, as_paragraph };
        let mut stats = measured.stats(gone);
        let mut at = 0;
        while at < tree.len() {
            if gone[at] {
                at = tree.end(at);
                continue;
            }
            measured.find_runs(at, gone, &stats);
            at += 1;
        }
        let mut runs = vec![0; tree.len()];
        for id in (1..tree.len()).rev().filter(|&id| !gone[id]) {
            runs[id] += measured.runs[id].len() as u32;
            stats[id].paragraphs += runs[id];
            runs[tree.parent(id)] += runs[id];
        }
        stats[0].paragraphs += runs[0];
        (measured, stats)
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

    /// Counts of every element, without content that is left out.
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

    /// Adds an element's counts to those of its parent.
    fn as_seen_outside(&self, id: Id, stat: &Stat) -> Stat {
        let mut outer = *stat;
        match self.roles[id] {
            Role::Other => {}
            Role::Link(weight) => outer.link = stat.chars as f32 * weight,
            Role::Heading => outer.heading = stat.chars,
            Role::List => (outer.list, outer.textish) = (stat.chars, stat.chars),
            Role::Item => (outer.textish, outer.items) = (stat.chars, stat.items + 1),
            Role::Paragraph => {
                (outer.textish, outer.paragraphs) = (stat.chars, stat.paragraphs + 1)
            }
            Role::Textish => outer.textish = stat.chars,
            Role::Image => outer.images += 1,
            Role::Input => outer.inputs += 1,
            Role::Embed => outer.embeds += 1,
        }
        outer
    }

    /// Leaves an element out and subtracts its counts from its ancestors'.
    pub(crate) fn remove(&self, id: Id, gone: &mut [bool], stats: &mut [Stat]) {
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
}

/// Characters with whitespace collapsed, and commas.
fn measure(text: &str) -> (u32, u32) {
    let (mut chars, mut commas, mut space) = (0, 0, true);
    let mut count = |is_space: bool, is_comma: bool| {
        // Only the first whitespace of a run counts.
        chars += u32::from(!(is_space && space));
        commas += u32::from(is_comma);
        space = is_space;
    };
    if text.is_ascii() {
        text.bytes().for_each(|byte| count(matches!(byte, b'\t'..=b'\r' | b' '), byte == b','));
    } else {
        text.chars().for_each(|character| count(character.is_whitespace(), is_comma(character)));
    }
    // A text of whitespace alone is nothing.
    (if chars == 1 && space { 0 } else { chars }, commas)
}

fn is_comma(character: char) -> bool {
    matches!(
        character,
        ',' | '\u{60c}'
            | '\u{fe50}'
            | '\u{fe10}'
            | '\u{fe11}'
            | '\u{2e41}'
            | '\u{2e34}'
            | '\u{2e32}'
            | '\u{ff0c}'
    )
}
