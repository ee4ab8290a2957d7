//! Evaluates media queries for an ordinary screen: 1280 by 800 pixels, light, with a mouse.

const WIDTH: f32 = 1280.0;
const HEIGHT: f32 = 800.0;

/// Whether a list of media queries is for this screen. Unknown conditions are not met.
pub(crate) fn applies(media: &str) -> bool {
    let media = media.trim().to_ascii_lowercase();
    media.is_empty() || media.split(',').take(32).any(|query| meets(query.trim()) == Some(true))
}

/// Whether one query is met; `None` if it has a condition that is not known.
fn meets(query: &str) -> Option<bool> {
    if let Some(rest) = query.strip_prefix("not ") {
        return meets(rest.trim()).map(|met| !met);
    }
    let query = query.strip_prefix("only ").unwrap_or(query);
    let mut met = true;
    for part in query.split(" and ").map(str::trim) {
        met &= match part.strip_prefix('(').and_then(|part| part.strip_suffix(')')) {
            Some(feature) if !feature.contains(['(', ')']) => has(feature.trim())?,
            Some(_) => return None,
            None => matches!(part, "all" | "screen"),
        };
    }
    Some(met)
}

/// Whether the screen has a feature.
fn has(feature: &str) -> Option<bool> {
    if let Some((name, value)) = feature.split_once(':') {
        let value = value.trim();
        return match name.trim() {
            "min-width" | "min-device-width" => Some(WIDTH >= pixels(value)?),
            "max-width" | "max-device-width" => Some(WIDTH <= pixels(value)?),
            "min-height" => Some(HEIGHT >= pixels(value)?),
            "max-height" => Some(HEIGHT <= pixels(value)?),
            "orientation" => Some(value == "landscape"),
            "prefers-color-scheme" => Some(value == "light"),
            "prefers-reduced-motion" | "prefers-contrast" => Some(value == "no-preference"),
            "hover" | "any-hover" => Some(value == "hover"),
            "pointer" | "any-pointer" => Some(value == "fine"),
            "scripting" => Some(value == "enabled"),
            _ => None,
        };
    }
    let words: Vec<&str> = feature.split_ascii_whitespace().collect();
    match words.as_slice() {
        ["color" | "hover" | "pointer" | "width" | "height"] => Some(true),
        [left, sign, right] => compare(left, sign, right),
        [low, first, middle, second, high] => {
            Some(compare(low, first, middle)? && compare(middle, second, high)?)
        }
        _ => None,
    }
}

fn compare(left: &str, sign: &str, right: &str) -> Option<bool> {
    let (left, right) = (size(left)?, size(right)?);
    match sign {
        "<" => Some(left < right),
        "<=" => Some(left <= right),
        ">" => Some(left > right),
        ">=" => Some(left >= right),
        "=" => Some((left - right).abs() < 0.5),
        _ => None,
    }
}

fn size(word: &str) -> Option<f32> {
    match word {
        "width" => Some(WIDTH),
        "height" => Some(HEIGHT),
        _ => pixels(word),
    }
}

fn pixels(value: &str) -> Option<f32> {
    let end = value.find(|one: char| !(one.is_ascii_digit() || one == '.')).unwrap_or(value.len());
    let number: f32 = value.get(..end)?.parse().ok()?;
    match value.get(end..)? {
        "px" => Some(number),
        "em" | "rem" => Some(number * 16.0),
        "" if number == 0.0 => Some(0.0),
        _ => None,
    }
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
        ] {
            assert!(!applies(media), "{media}");
        }
    }
}
