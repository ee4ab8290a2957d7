//! Formulas: MathML with or without TeX beside it, KaTeX, MathJax, Wikipedia's pictures.

use carrel_pdk::document::{Block, Kind};
use carrel_pdk::text::{Script, write_script};

use crate::dom::{Id, Tree};
use crate::seen::is_math_script;

/// The deepest nesting of a formula's elements that is read.
const DEEPEST: u32 = 40;

/// A displayed formula.
pub(crate) fn display(tree: &Tree, id: Id) -> Option<Block> {
    let name = tree.name(id);
    let shown = match name {
        "math" => tree.attribute(id, "display") == Some("block"),
        "script" => {
            is_math_script(tree, id)
                && tree.attribute(id, "type").is_some_and(|kind| kind.contains("mode=display"))
        }
        "span" | "div" => tree.has_class(id, "katex-display"),
        "mjx-container" => tree.attribute(id, "display") == Some("true"),
        _ => false,
    };
    if !shown {
        return None;
    }
    let mut block = Block::empty(Kind::Equation);
    block.tex = tex(tree, id);
    if block.tex.is_none() {
        block.text = Some(text(tree, id)).filter(|text| !text.is_empty());
    }
    (block.tex.is_some() || block.text.is_some()).then_some(block)
}

/// Whether an element is a rendered formula.
pub(crate) fn is_rendered(tree: &Tree, id: Id) -> bool {
    tree.name(id) == "mjx-container"
        || ["katex", "MathJax", "MathJax_Preview", "MathJax_SVG", "mwe-math-element"]
            .iter()
            .any(|class| tree.has_class(id, class))
}

/// The TeX of a formula, if there is, and its text.
pub(crate) fn source(tree: &Tree, id: Id) -> (Option<String>, String) {
    let tex = tex(tree, id);
    let text = if tex.is_some() { String::new() } else { text(tree, id) };
    (tex, text)
}

/// A formula inside a line: TeX between dollars, else its text.
pub(crate) fn inline(tree: &Tree, id: Id) -> Option<String> {
    if tree.has_class(id, "MathJax_Preview") || tree.has_class(id, "MathJax_SVG") {
        // The script next to it has the same formula.
        return None;
    }
    if let Some(tex) = tex(tree, id) {
        return Some(format!("${tex}$"));
    }
    if tree.has_class(id, "MathJax") && tree.find(id, "math").is_none() {
        return None;
    }
    Some(text(tree, id)).filter(|text| !text.is_empty())
}

/// The TeX of a picture of a formula, between dollars.
pub(crate) fn of_image(tree: &Tree, id: Id) -> Option<String> {
    let is_formula = ["tex", "latex", "mwe-math-fallback-image-inline", "math"]
        .iter()
        .any(|class| tree.has_class(id, class));
    let alt = tree.attribute(id, "alt").map(str::trim).filter(|alt| !alt.is_empty())?;
    is_formula.then(|| format!("${}$", bare(alt)))
}

/// The TeX annotation of a formula.
fn tex(tree: &Tree, id: Id) -> Option<String> {
    if tree.name(id) == "script" {
        return clean(&tree.children(id).filter_map(|child| tree.text(child)).collect::<String>());
    }
    let annotation = (id..tree.end(id)).find(|&inner| {
        tree.name(inner) == "annotation"
            && tree.attribute(inner, "encoding").is_some_and(|how| {
                matches!(
                    how.trim().to_ascii_lowercase().as_str(),
                    "application/x-tex" | "application/x-latex" | "tex" | "latex"
                )
            })
    });
    if let Some(annotation) = annotation {
        return clean(&tree.all_text(annotation)).filter(|tex| !is_other_text(tree, id, tex));
    }
    let math = (id..tree.end(id)).find(|&inner| tree.name(inner) == "math")?;
    let alternative = tree.attribute(math, "alttext").map(bare)?;
    // A text for screen readers is not TeX.
    let like_tex = alternative.contains(['\\', '^', '_', '{', '=']) || alternative.len() < 4;
    like_tex.then(|| clean(alternative)).flatten().filter(|tex| !is_other_text(tree, id, tex))
}

/// Whether the TeX that a formula declares has words that the formula does not show: hidden text.
/// Names of commands are not words.
fn is_other_text(tree: &Tree, id: Id, tex: &str) -> bool {
    if tree.find(id, "math").is_none() && tree.name(id) != "math" {
        return false;
    }
    let shown = text(tree, id).to_lowercase();
    let mut unseen = 0;
    let mut before = ' ';
    for word in tex.split_inclusive(|character: char| !character.is_alphabetic()) {
        let letters = word.trim_end_matches(|character: char| !character.is_alphabetic());
        let is_word = before != '\\' && letters.chars().count() > 3;
        if is_word && !shown.contains(&letters.to_lowercase()) {
            unseen += 1;
        }
        before = word.chars().last().unwrap_or(' ');
    }
    unseen > 3
}

fn clean(tex: &str) -> Option<String> {
    let tex = tex.trim();
    let tex = tex.strip_prefix("<![CDATA[").and_then(|tex| tex.strip_suffix("]]>")).unwrap_or(tex);
    let tex = carrel_pdk::text::collapse(bare(tex)).into_owned();
    (!tex.is_empty()).then_some(tex)
}

/// TeX without delimiters and without the style prefix that converters add.
fn bare(tex: &str) -> &str {
    let mut tex = tex.trim();
    for (open, close) in [("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]")] {
        let inner = tex.strip_prefix(open).and_then(|tex| tex.strip_suffix(close));
        tex = inner.unwrap_or(tex).trim();
    }
    for style in ["\\displaystyle", "\\textstyle"] {
        let inner = tex.strip_prefix('{').and_then(|tex| tex.strip_suffix('}'));
        if let Some(inner) = inner.and_then(|inner| inner.trim().strip_prefix(style)) {
            tex = inner.trim();
        } else if let Some(inner) = tex.strip_prefix(style)
            && !inner.starts_with(|character: char| character.is_ascii_alphabetic())
        {
            tex = inner.trim();
        }
    }
    tex
}

/// MathML as text on one line.
fn text(tree: &Tree, id: Id) -> String {
    let math = (id..tree.end(id)).find(|&inner| tree.name(inner) == "math").unwrap_or(id);
    let mut out = String::new();
    write(tree, math, 0, &mut out);
    carrel_pdk::text::collapse(&out).into_owned()
}

fn write(tree: &Tree, id: Id, depth: u32, out: &mut String) {
    if let Some(text) = tree.text(id) {
        out.push_str(text.trim());
        return;
    }
    if depth > DEEPEST {
        out.push_str(&tree.all_text(id));
        return;
    }
    let parts: Vec<Id> = tree.elements(id).collect();
    let part = |at: usize| {
        let mut part = String::new();
        if let Some(&part_id) = parts.get(at) {
            write(tree, part_id, depth + 1, &mut part);
        }
        part
    };
    let grouped = |text: String| {
        if text.chars().count() > 1 && !text.chars().all(char::is_alphanumeric) {
            format!("({text})")
        } else {
            text
        }
    };
    match tree.name(id) {
        "annotation" | "annotation-xml" | "mphantom" => {}
        "mfrac" if parts.len() == 2 => {
            let (over, under) = (grouped(part(0)), grouped(part(1)));
            out.push_str(&format!("{over}/{under}"));
        }
        "msqrt" if !parts.is_empty() => {
            let inner: String = (0..parts.len()).map(part).collect();
            out.push_str(&format!("√({inner})"));
        }
        "mroot" if parts.len() == 2 => out.push_str(&format!("({})^(1/{})", part(0), part(1))),
        "msub" | "munder" if parts.len() == 2 => {
            out.push_str(&part(0));
            write_script(Script::Sub, &part(1), out);
        }
        "msup" | "mover" if parts.len() == 2 => {
            out.push_str(&part(0));
            write_script(Script::Super, &part(1), out);
        }
        "msubsup" | "munderover" if parts.len() == 3 => {
            out.push_str(&part(0));
            write_script(Script::Sub, &part(1), out);
            write_script(Script::Super, &part(2), out);
        }
        "mtr" if !parts.is_empty() => {
            let cells: Vec<String> = (0..parts.len()).map(part).collect();
            out.push_str(&cells.join(" "));
            out.push_str("; ");
        }
        "semantics" if !parts.is_empty() => out.push_str(&part(0)),
        "mtext" => {
            out.push_str(&tree.all_text(id));
            out.push(' ');
        }
        _ => {
            for child in tree.children(id) {
                write(tree, child, depth + 1, out);
            }
        }
    }
}
