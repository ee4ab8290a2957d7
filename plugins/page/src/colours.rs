//! Colours of CSS, as far as they decide whether a text can be seen.

use crate::styles::number;

/// A colour, without transparency.
pub(crate) type Colour = [u8; 3];

/// Whether two colours cannot be told apart.
pub(crate) fn is_alike(left: Colour, right: Colour) -> bool {
    left.iter().zip(right).map(|(&a, b)| u32::from(a.abs_diff(b))).sum::<u32>() <= 24
}

/// A colour: `Some(None)` is transparent, `None` unknown.
#[allow(clippy::option_option, reason = "transparent is not unknown")]
pub(crate) fn colour(value: &str) -> Option<Option<Colour>> {
    let value = value.trim();
    if let Some(digits) = value.strip_prefix('#') {
        return hex(digits);
    }
    if let Some(inner) = value.strip_prefix("rgb").and_then(|rest| rest.split_once('(')) {
        let parts: Vec<(f32, &str)> = inner
            .1
            .trim_end_matches(')')
            .split([',', ' ', '/'])
            .filter(|part| !part.is_empty())
            .filter_map(number)
            .collect();
        let [red, green, blue, rest @ ..] = parts.as_slice() else { return None };
        if rest.first().is_some_and(|(alpha, _)| *alpha < 0.05) {
            return Some(None);
        }
        let part = |component: &(f32, &str)| {
            let scale = if component.1 == "%" { 2.55 } else { 1.0 };
            (component.0 * scale).clamp(0.0, 255.0) as u8
        };
        return Some(Some([part(red), part(green), part(blue)]));
    }
    if let Some((_, inner)) = value.split_once("hsl").and_then(|(_, rest)| rest.split_once('(')) {
        return hsl(inner.trim_end_matches(')'));
    }
    let named = match value {
        "transparent" => return Some(None),
        "white" => [255, 255, 255],
        "black" => [0, 0, 0],
        "snow" => [255, 250, 250],
        "ivory" => [255, 255, 240],
        "whitesmoke" => [245, 245, 245],
        "ghostwhite" => [248, 248, 255],
        "floralwhite" => [255, 250, 240],
        "red" => [255, 0, 0],
        "green" => [0, 128, 0],
        "blue" => [0, 0, 255],
        "yellow" => [255, 255, 0],
        "gray" | "grey" => [128, 128, 128],
        "silver" => [192, 192, 192],
        "navy" => [0, 0, 128],
        _ => return None,
    };
    Some(Some(named))
}

/// A colour by hue, saturation and lightness: of white, black and grey ones the hue does not count.
#[allow(clippy::option_option, reason = "transparent is not unknown")]
fn hsl(inner: &str) -> Option<Option<Colour>> {
    let parts = inner.split([',', ' ', '/']).filter(|part| !part.is_empty());
    let parts: Vec<(f32, &str)> = parts.filter_map(number).collect();
    let [_, saturation, lightness, rest @ ..] = parts.as_slice() else { return None };
    if rest.first().is_some_and(|(alpha, _)| *alpha < 0.05) {
        return Some(None);
    }
    let grey = saturation.0 < 5.0 || lightness.0 > 97.0 || lightness.0 < 3.0;
    let part = (lightness.0 * 2.55).clamp(0.0, 255.0) as u8;
    grey.then_some(Some([part; 3]))
}

#[allow(clippy::option_option, reason = "transparent is not unknown")]
fn hex(digits: &str) -> Option<Option<Colour>> {
    if !digits.is_ascii() || !matches!(digits.len(), 3 | 4 | 6 | 8) {
        return None;
    }
    let wide = digits.len() > 4;
    let part = |at: usize| -> Option<u8> {
        if wide {
            u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()
        } else {
            Some(u8::from_str_radix(digits.get(at..=at)?, 16).ok()? * 17)
        }
    };
    if part(3).is_some_and(|alpha| alpha < 13) {
        return Some(None);
    }
    Some(Some([part(0)?, part(1)?, part(2)?]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_compared_by_what_they_look_like() {
        for (a, b) in [("white", "#fefefe"), ("#FFF", "rgb(255, 255, 255)"), ("red", "#f00")] {
            let (a, b) = (colour(&a.to_lowercase()), colour(b));
            assert!(is_alike(a.flatten().unwrap(), b.flatten().unwrap()));
        }
        assert!(!is_alike(colour("#fff").flatten().unwrap(), colour("#ccc").flatten().unwrap()));
        assert_eq!(colour("var(--x)"), None);
        assert_eq!(colour("#12"), None);
        assert_eq!(colour("hsl(0, 0%, 100%)"), colour("#fff"));
        assert_eq!(colour("hsla(200 50% 50% / 0)"), Some(None));
        assert_eq!(colour("hsl(200 50% 50%)"), None);
    }
}
