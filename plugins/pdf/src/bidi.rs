//! Right-to-left text: converts visual order to reading order.

/// A glyph's text, and whether a space precedes it.
type Unit = (String, bool);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Right,
    Left,
    Digit,
    Neutral,
}

/// Whether a character is of a script that runs from right to left.
pub(crate) fn is_rtl(character: char) -> bool {
    matches!(character,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}'
    ) && !is_digit(character)
}

fn is_digit(character: char) -> bool {
    character.is_ascii_digit() || matches!(character, '\u{660}'..='\u{669}' | '\u{6f0}'..='\u{6f9}')
}

fn class(text: &str) -> Class {
    let mut class = Class::Neutral;
    for character in text.chars() {
        if is_rtl(character) {
            return Class::Right;
        }
        if is_digit(character) {
            class = Class::Digit;
        } else if character.is_alphabetic() {
            return Class::Left;
        }
    }
    class
}

/// Reorders a line's glyphs from left-to-right to reading order, and returns whether the line as a
/// whole runs from right to left.
pub(crate) fn logical(units: Vec<Unit>) -> (Vec<Unit>, bool) {
    let classes: Vec<Class> = units.iter().map(|(text, _)| class(text)).collect();
    let count = |expected| classes.iter().filter(|class| **class == expected).count();
    let (right, left) = (count(Class::Right), count(Class::Left));
    if right == 0 {
        return (units, false);
    }
    let base_is_rtl = right >= left;
    let levels = levels(&classes, &units, base_is_rtl);
    // Reversing from the highest level down inverts the reordering for display.
    let mut order: Vec<usize> = (0..units.len()).collect();
    for level in (1..=2).rev() {
        let mut start = 0;
        while start < order.len() {
            let at = |position: usize| {
                order.get(position).and_then(|index| levels.get(*index)).copied().unwrap_or(0)
            };
            if at(start) < level {
                start += 1;
                continue;
            }
            let mut end = start;
            while end < order.len() && at(end) >= level {
                end += 1;
            }
            if let Some(run) = order.get_mut(start..end) {
                run.reverse();
            }
            start = end;
        }
    }
    (rejoin(units, &order, &levels), base_is_rtl)
}

/// Embedding levels: 0 and 2 run to the right, 1 to the left.
fn levels(classes: &[Class], units: &[Unit], base_is_rtl: bool) -> Vec<u8> {
    let base = u8::from(base_is_rtl);
    let strong = |class: Class| match class {
        Class::Right => Some(1),
        Class::Left => Some(if base_is_rtl { 2 } else { 0 }),
        Class::Digit => Some(2),
        Class::Neutral => None,
    };
    let mut levels: Vec<u8> =
        classes.iter().map(|class| strong(*class).unwrap_or(u8::MAX)).collect();
    let mut at = 0;
    while at < levels.len() {
        if levels.get(at).copied() != Some(u8::MAX) {
            at += 1;
            continue;
        }
        let start = at;
        while levels.get(at).copied() == Some(u8::MAX) {
            at += 1;
        }
        let before = start.checked_sub(1).and_then(|index| classes.get(index)).copied();
        let behind = classes.get(at).copied();
        // Inside a number: 3.14, 12:30, 1,000, 50%.
        let joins = at - start == 1
            && units.get(start).is_some_and(|(text, space)| !space && is_separator(text))
            && units.get(at).is_some_and(|(_, space)| !space);
        let level = match (before, behind) {
            (Some(Class::Digit), Some(Class::Digit)) if joins => 2,
            (Some(Class::Left), Some(Class::Left | Class::Digit))
            | (Some(Class::Digit), Some(Class::Left)) => {
                if base_is_rtl {
                    2
                } else {
                    0
                }
            }
            (Some(Class::Right | Class::Digit), Some(Class::Right | Class::Digit)) => 1,
            _ => base,
        };
        if let Some(run) = levels.get_mut(start..at) {
            run.fill(level);
        }
    }
    // Digits of a text from left to right are part of it.
    if !base_is_rtl {
        for index in 0..levels.len() {
            let is_digit = classes.get(index).copied() == Some(Class::Digit);
            let touches = |class: Option<&Class>| class.copied() == Some(Class::Right);
            let nearest_left = classes
                .get(..index)
                .unwrap_or_default()
                .iter()
                .rev()
                .find(|class| **class != Class::Neutral && **class != Class::Digit);
            let nearest_right = classes
                .get(index + 1..)
                .unwrap_or_default()
                .iter()
                .find(|class| **class != Class::Neutral && **class != Class::Digit);
            if is_digit
                && !(touches(nearest_left) && touches(nearest_right))
                && let Some(level) = levels.get_mut(index)
            {
                *level = 0;
            }
        }
    }
    levels
}

fn is_separator(text: &str) -> bool {
    matches!(text, "." | "," | ":" | "/" | "-" | "−" | "٫" | "٬")
}

/// The units in their new order; a space stays between the two units it was between.
fn rejoin(units: Vec<Unit>, order: &[usize], levels: &[u8]) -> Vec<Unit> {
    let spaces: Vec<bool> = units.iter().map(|(_, space)| *space).collect();
    let mut texts: Vec<Option<String>> = units.into_iter().map(|(text, _)| Some(text)).collect();
    let mut out: Vec<Unit> = Vec::with_capacity(texts.len());
    let mut last: Option<usize> = None;
    for index in order {
        let Some(text) = texts.get_mut(*index).and_then(Option::take) else { continue };
        let is_right = levels.get(*index).copied() == Some(1);
        let text = if is_right { mirrored(&text) } else { text };
        let space = match last {
            // Neighbours on the page keep the space between them; where the direction changes, a
            // space on either side counts.
            Some(last) if last + 1 == *index => spaces.get(*index).copied().unwrap_or(false),
            Some(last) if *index + 1 == last => spaces.get(last).copied().unwrap_or(false),
            Some(last) => turn_has_space(last, *index, &spaces, levels),
            None => false,
        };
        out.push((text, space));
        last = Some(*index);
    }
    out
}

/// Whether a space is at the inner side of a run where the direction changes.
fn turn_has_space(last: usize, next: usize, spaces: &[bool], levels: &[u8]) -> bool {
    let space = |index: usize| spaces.get(index).copied().unwrap_or(false);
    let run = |index: usize| {
        let level = levels.get(index).copied();
        let mut start = index;
        while start > 0 && levels.get(start - 1).copied() == level {
            start -= 1;
        }
        let mut end = index + 1;
        while end < levels.len() && levels.get(end).copied() == level {
            end += 1;
        }
        (start, end)
    };
    let ((first_start, first_end), (start, end)) = (run(last), run(next));
    if first_end == start {
        return space(start);
    }
    if end == first_start {
        return space(first_start);
    }
    space(start) || space(first_start)
}

/// A text with its brackets mirrored.
fn mirrored(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '(' => ')',
            ')' => '(',
            '[' => ']',
            ']' => '[',
            '{' => '}',
            '}' => '{',
            '<' => '>',
            '>' => '<',
            '«' => '»',
            '»' => '«',
            other => other,
        })
        .collect()
}
