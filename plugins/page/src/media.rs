//! Evaluates media queries for an ordinary screen: 1280 by 800 pixels, light, with a mouse.

const WIDTH: f32 = 1280.0;
const HEIGHT: f32 = 800.0;

/// Brackets inside brackets that are read.
const DEEPEST: usize = 8;

/// Whether a list of media queries is for this screen. Unknown conditions are not met.
pub(crate) fn applies(media: &str) -> bool {
    let media = media.to_ascii_lowercase();
    let media = media.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    media.is_empty() || media.split(',').take(32).any(|query| meets(query.trim()) == Some(true))
}

/// Whether one query is met; `None` if that depends on a condition that is not known.
fn meets(query: &str) -> Option<bool> {
    if let Some(rest) = query.strip_prefix("not ").filter(|rest| !rest.starts_with('(')) {
        return meets(rest).map(|met| !met);
    }
    if query.starts_with('(') || query.starts_with("not ") {
        return condition(query, 0);
    }
    let query = query.strip_prefix("only ").unwrap_or(query);
    let (kind, rest) = query.split_once(' ').unwrap_or((query, ""));
    let is_screen = Some(matches!(kind, "all" | "screen"));
    match rest.strip_prefix("and ") {
        Some(rest) => both(is_screen, condition(rest, 0)),
        None if rest.is_empty() => is_screen,
        None => None,
    }
}

/// Whether conditions in brackets are met, which `and` or `or` joins, or of which `not` denies one.
fn condition(text: &str, depth: usize) -> Option<bool> {
    if depth > DEEPEST {
        return None;
    }
    if let Some(rest) = text.strip_prefix("not ") {
        return condition(rest, depth + 1).map(|met| !met);
    }
    let (first, mut rest) = bracketed(text)?;
    let mut met = inside(first, depth);
    while let Some((word, behind)) = rest.split_once(' ') {
        let (is_and, behind) = match word {
            "and" => (true, behind),
            "or" => (false, behind),
            _ => return None,
        };
        let (next, end) = match behind.strip_prefix("not ") {
            Some(denied) => {
                let (next, end) = bracketed(denied)?;
                (inside(next, depth).map(|met| !met), end)
            }
            None => bracketed(behind).map(|(next, end)| (inside(next, depth), end))?,
        };
        met = if is_and { both(met, next) } else { either(met, next) };
        rest = end;
    }
    if rest.is_empty() { met } else { None }
}

/// A text in brackets at the beginning, and what follows it.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('(')?;
    let mut open = 1;
    for (at, sign) in inner.bytes().enumerate() {
        open += i32::from(sign == b'(') - i32::from(sign == b')');
        if open == 0 {
            return Some((inner.get(..at)?.trim(), inner.get(at + 1..)?.trim_start()));
        }
    }
    None
}

fn inside(text: &str, depth: usize) -> Option<bool> {
    if text.starts_with('(') || text.starts_with("not ") {
        condition(text, depth + 1)
    } else {
        has(text)
    }
}

fn both(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn either(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    both(left.map(|met| !met), right.map(|met| !met)).map(|met| !met)
}

/// Whether the screen has a feature.
fn has(feature: &str) -> Option<bool> {
    if let Some((name, value)) = feature.split_once(':') {
        let (name, value) = (name.trim(), value.trim());
        let name = name.strip_prefix("-webkit-").unwrap_or(name);
        if let Some(name) = name.strip_prefix("min-") {
            return Some(measure(name)? >= amount(value)?);
        }
        if let Some(name) = name.strip_prefix("max-") {
            return Some(measure(name)? <= amount(value)?);
        }
        return match word(name) {
            Some(word) => Some(word == value),
            None => compare(name, "=", value),
        };
    }
    let is_sign = |character: char| matches!(character, '<' | '>' | '=');
    let Some(start) = feature.find(is_sign) else {
        return word(feature).map(|word| word != "none").or_else(|| Some(measure(feature)? != 0.0));
    };
    let (low, rest) = feature.split_at(start);
    let (first, rest) = rest.split_at(rest.find(|character| !is_sign(character))?);
    let Some(start) = rest.find(is_sign) else { return compare(low, first, rest) };
    let (middle, rest) = rest.split_at(start);
    let (second, high) = rest.split_at(rest.find(|character| !is_sign(character))?);
    Some(compare(low, first, middle)? && compare(middle, second, high)?)
}

fn compare(left: &str, sign: &str, right: &str) -> Option<bool> {
    let size = |text: &str| measure(text.trim()).or_else(|| amount(text.trim()));
    let (left, right) = (size(left)?, size(right)?);
    match sign {
        "<" => Some(left < right),
        "<=" => Some(left <= right),
        ">" => Some(left > right),
        ">=" => Some(left >= right),
        "=" => Some((left - right).abs() < 0.01),
        _ => None,
    }
}

/// The value of a feature that has words.
fn word(name: &str) -> Option<&'static str> {
    Some(match name {
        "orientation" => "landscape",
        "prefers-color-scheme" => "light",
        "prefers-reduced-motion"
        | "prefers-contrast"
        | "prefers-reduced-transparency"
        | "prefers-reduced-data" => "no-preference",
        "forced-colors" | "inverted-colors" => "none",
        "hover" | "any-hover" => "hover",
        "pointer" | "any-pointer" => "fine",
        "scripting" => "enabled",
        "update" => "fast",
        "overflow-block" | "overflow-inline" => "scroll",
        "color-gamut" => "srgb",
        "dynamic-range" => "standard",
        "display-mode" => "browser",
        "scan" => "progressive",
        _ => return None,
    })
}

/// The value of a feature that is a number: pixels, a ratio, dots per pixel, bits.
fn measure(name: &str) -> Option<f32> {
    Some(match name {
        "width" | "device-width" => WIDTH,
        "height" | "device-height" => HEIGHT,
        "aspect-ratio" | "device-aspect-ratio" => WIDTH / HEIGHT,
        "resolution" | "device-pixel-ratio" => 1.0,
        "color" => 8.0,
        "monochrome" | "color-index" | "grid" => 0.0,
        _ => return None,
    })
}

/// A number with its unit, in the units of `measure`.
fn amount(value: &str) -> Option<f32> {
    let value = value.strip_prefix("calc(").and_then(|raw| raw.strip_suffix(')')).unwrap_or(value);
    if let Some((left, right)) = value.split_once('/') {
        return Some(left.trim().parse::<f32>().ok()? / right.trim().parse::<f32>().ok()?);
    }
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+');
    let end = value.find(|c| !is_number(c)).unwrap_or(value.len());
    let number: f32 = value.get(..end)?.parse().ok()?;
    let scale = match value.get(end..)? {
        "" | "px" | "dppx" | "x" => 1.0,
        "em" | "rem" => 16.0,
        "ch" | "ex" => 8.0,
        "in" => 96.0,
        "cm" => 96.0 / 2.54,
        "mm" => 96.0 / 25.4,
        "q" => 96.0 / 101.6,
        "pt" => 96.0 / 72.0,
        "pc" => 16.0,
        "vw" => WIDTH / 100.0,
        "vh" => HEIGHT / 100.0,
        "dpi" => 1.0 / 96.0,
        "dpcm" => 2.54 / 96.0,
        _ => return None,
    };
    Some(number * scale)
}

#[cfg(test)]
mod tests {
    use super::applies;

    #[test]
    fn queries_are_met_by_an_ordinary_screen() {
        for media in [
            "",
            "all",
            "screen",
            "only screen",
            "screen, print",
            "print, screen",
            "screen and (min-width: 600px)",
            "(min-width:1px)",
            "(max-width: 90em)",
            "not print",
            "(width >= 600px)",
            "(600px <= width <= 1400px)",
            "(orientation: landscape)",
            "(prefers-color-scheme: light)",
            "not (max-width: 600px)",
            "(hover: hover)",
            "(width>=1px)",
            "(1px<width)",
            "(1px<=width<=9999px)",
            "( width >= 1cm )",
            "(height>0)",
            "screen and (width>=1px)",
            "screen\nand\t(min-width:1px)",
            "(min-width:1px) or (print)",
            "(nonsense) or (color)",
            "(not (max-width: 600px)) and (min-width:1px)",
            "(min-width:1px) and (not (monochrome))",
            "((min-width:1px) and ((max-width:9999px)))",
            "(min-width:calc(1px))",
            "(aspect-ratio>1/1)",
            "(min-aspect-ratio: 1/100)",
            "(min-resolution:1dpi)",
            "(resolution=1x)",
            "(-webkit-min-device-pixel-ratio:1)",
            "(min-color:1)",
            "(monochrome:0)",
            "(grid:0)",
            "(update:fast)",
            "(display-mode:browser)",
            "(forced-colors:none)",
            "(prefers-reduced-motion:no-preference)",
        ] {
            assert!(applies(media), "{media}");
        }
        for media in [
            "print",
            "speech",
            "(max-width:600px)",
            "screen and (max-width: 40em)",
            "not screen",
            "(min-width: 2000px)",
            "(prefers-color-scheme: dark)",
            "(width < 600px)",
            "(nonsense: 1)",
            "not (nonsense)",
            "((",
            "(min-width:)",
            "tty and (min-width: 1px)",
            "(width<=600px)",
            "(width>=1px) and (print)",
            "(min-width:1px) nor (color)",
            "(monochrome)",
            "not (print)",
            "(inverted-colors)",
            "(width>=)",
            "(>=1px)",
            "(width=>1px)",
            "(aspect-ratio<1/1)",
            "screen (color)",
            "(((((((((((width)))))))))))",
            "(min-width:1furlong)",
        ] {
            assert!(!applies(media), "{media}");
        }
    }
}
