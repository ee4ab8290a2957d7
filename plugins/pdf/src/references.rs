//! Splits the list of references into references.

use carrel_pdk::document::Reference;

use crate::blocks::Block;
use crate::identifiers;
use crate::lines::Line;
use crate::prose::{Words, is_number};

/// Headings of lists of references.
pub(crate) fn is_heading(text: &str) -> bool {
    let letters: String = text.chars().filter(|c| c.is_alphabetic() || *c == ' ').collect();
    let letters = letters.trim().to_lowercase();
    matches!(
        letters.as_str(),
        "references"
            | "reference"
            | "bibliography"
            | "literature cited"
            | "works cited"
            | "literature"
            | "references cited"
            | "references and notes"
            | "notes and references"
            | "cited literature"
            | "reference list"
            | "literatur"
            | "literaturverzeichnis"
            | "références"
            | "bibliographie"
            | "referencias"
            | "bibliografía"
            | "bibliografia"
            | "referências"
            | "riferimenti bibliografici"
            | "список литературы"
            | "литература"
            | "参考文献"
            | "المراجع"
    )
}

/// The label at the start of a reference: `[12]`, `12.`, `(12)`, `[Abc99]`, and the rest of the line.
pub(crate) fn label(text: &str) -> Option<(&str, &str)> {
    let (close, open) = match text.chars().next()? {
        '[' => (']', true),
        '(' => (')', true),
        c if c.is_ascii_digit() => ('.', false),
        _ => return None,
    };
    let end = text.find(close)?;
    let inner = text.get(usize::from(open)..end)?;
    let rest = text.get(end + close.len_utf8()..)?;
    let fits = if close == ']' {
        inner.len() <= 14 && inner.chars().any(|c| c.is_ascii_digit()) && !inner.contains(", ")
    } else {
        is_number(inner) && inner.len() <= 3
    };
    let spaced = rest.starts_with(' ') || close == ']';
    (fits && spaced && !rest.trim().is_empty())
        .then(|| (text.get(..end + 1).unwrap_or_default(), rest.trim_start()))
}

/// A label without a dot, such as `12 Smith J.`, if its number is the next one.
fn bare_label(text: &str, number: usize) -> Option<(&str, &str)> {
    let (label, rest) = text.split_once(' ')?;
    let fits = label.parse::<usize>().is_ok_and(|found| found == number);
    (fits && rest.starts_with(char::is_alphabetic)).then_some((label, rest))
}

/// Splits the blocks of a list into references.
pub(crate) fn split(blocks: &[Block], words: &Words) -> Vec<Reference> {
    let lines: Vec<(&Line, &Block)> =
        blocks.iter().flat_map(|block| block.lines.iter().map(move |line| (line, block))).collect();
    let labelled = lines.iter().filter(|(line, _)| label(&line.text).is_some()).count();
    let bare = {
        let mut next = 1;
        for (line, _) in &lines {
            next += usize::from(bare_label(&line.text, next).is_some());
        }
        next - 1
    };
    let mut references: Vec<Reference> = Vec::new();
    let mut text = String::new();
    let mut current: Option<String> = None;
    let by_labels =
        labelled >= 2 && labelled * 12 >= lines.len() || labelled >= 1 && lines.len() < 6;
    let by_numbers = !by_labels && bare >= 3 && bare * 12 >= lines.len();
    let hanging = !by_labels && !by_numbers && hangs(blocks);
    let mut number = 1;
    let mut last: Option<(&Line, &Block)> = None;
    for (line, block) in lines {
        let found = if by_labels {
            label(&line.text)
        } else if by_numbers {
            bare_label(&line.text, number)
        } else {
            None
        };
        let starts = if by_labels || by_numbers {
            found.is_some()
        } else {
            starts_unlabelled(line, block, last, hanging)
        };
        if starts {
            number += 1;
            push(&mut references, &mut text, current.take());
        }
        let rest = match found {
            Some((label, rest)) => {
                current = Some(label.to_owned());
                rest
            }
            None => &line.text,
        };
        words.append(&mut text, rest);
        last = Some((line, block));
    }
    push(&mut references, &mut text, current);
    references
}

/// Whether the second lines of references are indented.
fn hangs(blocks: &[Block]) -> bool {
    let mut indented = 0;
    let mut flush = 0;
    for block in blocks {
        for line in &block.lines {
            let indent = line.left - block.left;
            if indent > line.size * 0.5 { indented += 1 } else { flush += 1 }
        }
    }
    indented >= 2 && indented * 4 >= flush
}

fn starts_unlabelled(
    line: &Line,
    block: &Block,
    last: Option<(&Line, &Block)>,
    hanging: bool,
) -> bool {
    let Some((before, its_block)) = last else { return true };
    if hanging {
        return line.left - block.left < line.size * 0.5;
    }
    let new_block = !std::ptr::eq(block, its_block);
    let capital = line.text.chars().next().is_some_and(|c| c.is_uppercase() || !c.is_ascii());
    let ends = before.text.ends_with(['.', ')', '/']);
    new_block && capital && (ends || line.y > before.y + line.size * 1.6)
}

fn push(references: &mut Vec<Reference>, text: &mut String, label: Option<String>) {
    let text = std::mem::take(text);
    let text = text.trim();
    if !text.chars().any(char::is_alphabetic) {
        return;
    }
    references.push(Reference {
        label,
        doi: identifiers::doi(text).or_else(|| identifiers::doi(&text.replace("/ ", "/"))),
        arxiv: identifiers::arxiv(text),
        url: identifiers::address(text).filter(|address| !address.contains("doi.org/")),
        year: identifiers::year(text),
        text: text.to_owned(),
        ..Reference::default()
    });
}
