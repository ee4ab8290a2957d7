//! Reads the declarations of CSS by which a page hides text from its readers.
//!
//! Only properties that hide are read, and only values that hide whatever else a page declares. A
//! text in the colour of its background counts as hidden where both colours are known.

use std::borrow::Cow;

use memchr::memmem;

use crate::colours::{Colour, colour};
use crate::selectors::unescaped;

/// What the declarations of an element say, as far as it concerns whether its text is seen.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Looks {
    /// `display: none` or not.
    gone: Option<bool>,
    /// `visibility: hidden` or not.
    unseen: Option<bool>,
    /// `content-visibility: hidden` or not.
    skipped: Option<bool>,
    /// `opacity: 0` or not.
    clear: Option<bool>,
    /// Letters of at most one pixel or not.
    tiny: Option<bool>,
    /// Positioned outside the flow or not.
    lifted: Option<bool>,
    /// Moved or indented far outside the page, by the property that says so.
    far: [Option<bool>; 7],
    /// Cut to nothing or not.
    cut: Option<bool>,
    narrow: Option<bool>,
    flat: Option<bool>,
    /// What exceeds the box is not shown, or is.
    overflow: Option<bool>,
    /// Scaled to nothing or moved far away, or not.
    shrunk: Option<bool>,
    /// Whether it changes: what is transparent may be faded in.
    moves: bool,
    /// The colour of the text; `None` inside is transparent.
    colour: Option<Option<Colour>>,
    /// The colour of the background; `None` inside is a picture or an unknown colour.
    background: Option<Option<Colour>>,
}

/// How an element is hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hiding {
    /// Its box is not there: `display: none`, `visibility: hidden`.
    Absent,
    /// Its box is there, and its text cannot be seen.
    Unseen,
}

/// Lengths in pixels from which a box is outside the page.
const FAR: f32 = 480.0;

impl Looks {
    /// Reads declarations; later ones win.
    pub(crate) fn read(&mut self, declarations: &str) {
        for declaration in without_comments(declarations).split(';') {
            let Some((name, value)) = declaration.split_once(':') else { continue };
            let name = name.trim();
            if name.len() > 120 || value.len() > 400 {
                continue;
            }
            let (name, value) = if declaration.contains('\\') {
                (Cow::Owned(unescaped(name)), Cow::Owned(unescaped(value)))
            } else {
                (Cow::Borrowed(name), Cow::Borrowed(value))
            };
            let value = lower(value.trim());
            let value = value.trim_end_matches("!important").trim_end();
            self.declare(&lower(&name), value);
        }
    }

    fn declare(&mut self, name: &str, value: &str) {
        match name {
            "display" => self.gone = Some(value == "none"),
            "visibility" => self.unseen = Some(matches!(value, "hidden" | "collapse")),
            "content-visibility" => self.skipped = Some(value == "hidden"),
            "opacity" => {
                self.clear = number(value)
                    .map(|(number, unit)| number < if unit == "%" { 5.0 } else { 0.05 });
            }
            "font-size" => self.tiny = Some(length(value).is_some_and(|length| length <= 1.0)),
            "font" => {
                let size = value.split([' ', '/']).find_map(length);
                self.tiny = Some(size.is_some_and(|length| length <= 1.0));
            }
            "position" => self.lifted = Some(matches!(value, "absolute" | "fixed")),
            "left" | "inset-inline-start" => self.far[0] = Some(is_far(value)),
            "top" | "inset-block-start" => self.far[1] = Some(is_far(value)),
            "right" | "inset-inline-end" => self.far[2] = Some(is_far(value)),
            "bottom" | "inset-block-end" => self.far[3] = Some(is_far(value)),
            "inset" => {
                for (far, value) in self.far.iter_mut().zip(value.split_ascii_whitespace().take(4))
                {
                    *far = Some(is_far(value));
                }
            }
            // With what exceeds the line cut off, an indentation by the whole width hides as well.
            "text-indent" => self.far[4] = Some(is_far(value) || whole(value)),
            "margin-left" | "margin-inline-start" => self.far[5] = Some(is_far(value)),
            "margin-top" | "margin-block-start" => self.far[6] = Some(is_far(value)),
            "margin" => {
                let mut values = value.split_ascii_whitespace();
                self.far[6] = values.next().map(is_far);
                self.far[5] = values.nth(2).map(is_far);
            }
            "clip" => self.cut = Some(is_empty_clip(value)),
            "clip-path" => self.cut = Some(is_empty_path(value)),
            "width" | "max-width" | "inline-size" | "max-inline-size" => {
                self.narrow = Some(is_small(value));
            }
            "height" | "max-height" | "block-size" | "max-block-size" | "line-height" => {
                self.flat = Some(is_small(value));
            }
            "zoom" => self.shrunk = Some(number(value).is_some_and(|(zoom, _)| zoom.abs() < 0.05)),
            "filter" => {
                let found = value.split_once("opacity(").and_then(|(_, rest)| number(rest));
                self.clear = found
                    .map(|(number, unit)| number < if unit.starts_with('%') { 5.0 } else { 0.05 })
                    .or(self.clear);
            }
            "overflow" | "overflow-x" | "overflow-y" => {
                self.overflow = Some(value.contains("hidden") || value.contains("clip"));
            }
            "transform" | "scale" | "translate" | "rotate" => {
                self.shrunk = Some(is_away(name, value));
                self.moves |= value != "none";
            }
            "transition" | "animation" | "animation-name" | "will-change" => {
                self.moves |= value != "none";
            }
            "color" => self.colour = colour(value).or(self.colour),
            "-webkit-text-fill-color" => self.colour = colour(value).or(self.colour),
            "background-color" => self.background = Some(colour(value).flatten()),
            "background" => {
                let picture = value.contains("url(") || value.contains("gradient");
                let found = value.split_ascii_whitespace().find_map(|word| colour(word).flatten());
                self.background = Some(found.or_else(|| colour(value).flatten()))
                    .map(|found| found.filter(|_| !picture));
            }
            "background-image" if value != "none" => self.background = Some(None),
            _ => {}
        }
    }

    /// Whether a rule with these declarations may hide an element.
    pub(crate) fn may_hide(&self) -> bool {
        let yes = |flag: Option<bool>| flag == Some(true);
        yes(self.gone)
            || yes(self.unseen)
            || yes(self.skipped)
            || yes(self.clear)
            || yes(self.tiny)
            || yes(self.cut)
            || yes(self.shrunk)
            || yes(self.narrow)
            || yes(self.flat)
            || self.far.iter().any(|&flag| yes(flag))
            || self.colour == Some(None)
            || (self.colour.is_some() && self.background.is_some())
    }

    /// Whether an element with these declarations is worth a closer look: a text may also have the
    /// colour of a background that another element declares.
    pub(crate) fn may_hide_or_colour(&self) -> bool {
        self.may_hide() || self.colour.is_some()
    }

    /// Whether there is anything that the cascade needs.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds declarations that win.
    pub(crate) fn add(&mut self, other: &Self) {
        fn take<T: Copy>(mine: &mut Option<T>, other: Option<T>) {
            *mine = other.or(*mine);
        }
        take(&mut self.gone, other.gone);
        take(&mut self.unseen, other.unseen);
        take(&mut self.skipped, other.skipped);
        take(&mut self.clear, other.clear);
        take(&mut self.tiny, other.tiny);
        take(&mut self.lifted, other.lifted);
        take(&mut self.cut, other.cut);
        take(&mut self.narrow, other.narrow);
        take(&mut self.flat, other.flat);
        take(&mut self.overflow, other.overflow);
        take(&mut self.shrunk, other.shrunk);
        take(&mut self.colour, other.colour);
        take(&mut self.background, other.background);
        for (mine, &other) in self.far.iter_mut().zip(&other.far) {
            take(mine, other);
        }
        self.moves |= other.moves;
    }

    /// How the declarations alone hide an element.
    pub(crate) fn hiding(&self) -> Option<Hiding> {
        let yes = |flag: Option<bool>| flag == Some(true);
        if yes(self.gone) || yes(self.unseen) || yes(self.skipped) {
            return Some(Hiding::Absent);
        }
        let offset = self.far[..4].iter().any(|&flag| yes(flag)) && yes(self.lifted);
        let indented = self.far[4..].iter().any(|&flag| yes(flag));
        let boxed = yes(self.overflow) && (yes(self.flat) || yes(self.narrow));
        let faded = yes(self.clear) && !self.moves;
        let unseen = faded
            || offset
            || indented
            || boxed
            || yes(self.cut)
            || yes(self.shrunk)
            || self.colour == Some(None) && !self.has_picture();
        unseen.then_some(Hiding::Unseen)
    }

    /// Whether letters are too small to be seen.
    pub(crate) fn is_tiny(&self) -> bool {
        self.tiny == Some(true)
    }

    /// Whether a size of letters is declared.
    pub(crate) fn has_size(&self) -> bool {
        self.tiny.is_some()
    }

    /// The colour of the text, if one is declared.
    pub(crate) fn colour(&self) -> Option<Colour> {
        self.colour.flatten()
    }

    /// The background, if one is declared: its colour, or `None` for a picture.
    pub(crate) fn background(&self) -> Option<Option<Colour>> {
        self.background
    }

    /// A text may be cut out of a picture.
    fn has_picture(&self) -> bool {
        self.background == Some(None)
    }
}

/// A text in lower case; most are.
fn lower(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Cow::Owned(text.to_ascii_lowercase());
    }
    Cow::Borrowed(text)
}

/// A number and its unit.
pub(crate) fn number(value: &str) -> Option<(f32, &str)> {
    let end = value
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+')))
        .unwrap_or(value.len());
    let number = value.get(..end)?.parse().ok()?;
    Some((number, value.get(end..)?.trim()))
}

/// A length in pixels; of a unit that depends on other elements, about.
fn length(value: &str) -> Option<f32> {
    let (number, unit) = number(value)?;
    let pixels = match unit {
        "px" => 1.0,
        "" if number == 0.0 => 1.0,
        "pt" => 1.33,
        "em" | "rem" => 16.0,
        "ex" | "ch" => 8.0,
        "vw" | "vh" | "%" => 10.0,
        "in" => 96.0,
        "cm" => 38.0,
        "mm" => 3.8,
        _ => return None,
    };
    Some(number * pixels)
}

fn is_far(value: &str) -> bool {
    length(value).is_some_and(|length| length <= -FAR || length >= 20.0 * FAR)
}

fn is_small(value: &str) -> bool {
    !value.ends_with('%') && length(value).is_some_and(|length| (0.0..=1.0).contains(&length))
}

/// `rect(0, 0, 0, 0)` and `rect(1px, 1px, 1px, 1px)`.
fn is_empty_clip(value: &str) -> bool {
    let Some(inner) = value.strip_prefix("rect(").and_then(|rest| rest.strip_suffix(')')) else {
        return false;
    };
    let sides: Vec<Option<f32>> =
        inner.split([',', ' ']).filter(|side| !side.is_empty()).map(length).collect();
    sides.len() == 4 && sides.iter().all(|side| side.is_some_and(|side| side.abs() <= 1.0))
}

/// Whether a share is all of it.
fn whole(value: &str) -> bool {
    number(value).is_some_and(|(share, unit)| unit == "%" && share >= 100.0)
}

/// `inset(50%)`, `inset(0 100% 0 0)`, `circle(0)`, and a polygon of one point.
fn is_empty_path(value: &str) -> bool {
    let Some((shape, inner)) = value.split_once('(') else { return false };
    let inner = inner.trim_end_matches(')').trim();
    match shape {
        "inset" => {
            let shares: Vec<f32> = inner
                .split_ascii_whitespace()
                .take_while(|word| *word != "round")
                .map(|word| number(word).filter(|(_, unit)| *unit == "%").map_or(0.0, |num| num.0))
                .collect();
            let side = |at: usize| -> f32 {
                let indices = [at, at % 2, 0];
                indices.iter().find_map(|&index| shares.get(index)).copied().unwrap_or(0.0)
            };
            let first = shares.first().copied().unwrap_or(0.0);
            first >= 50.0 && shares.len() == 1
                || side(0) + side(2) >= 100.0
                || side(1) + side(3) >= 100.0
        }
        "circle" | "ellipse" => {
            let first = inner.split(' ').next().unwrap_or_default();
            length(first).is_some_and(|size| size == 0.0)
        }
        "polygon" => {
            let mut points = inner.split(',').map(|point| {
                let sides: Vec<f32> = point.split_ascii_whitespace().filter_map(length).collect();
                sides
            });
            let first = points.next().unwrap_or_default();
            first.len() == 2 && points.all(|point| point == first)
        }
        _ => false,
    }
}

/// Whether a transformation makes an element vanish.
fn is_away(name: &str, value: &str) -> bool {
    let vanishes = |scale: &str| number(scale).is_some_and(|(scale, _)| scale.abs() < 0.02);
    // Seen from its edge.
    let is_edge = |angle: &str| {
        number(angle).is_some_and(|(angle, unit)| {
            let degrees = match unit {
                "turn" => angle * 360.0,
                "rad" => angle.to_degrees(),
                _ => angle,
            };
            ((degrees.abs() % 180.0) - 90.0).abs() < 0.5
        })
    };
    match name {
        "scale" => return value.split_ascii_whitespace().any(vanishes),
        "translate" => return value.split_ascii_whitespace().any(is_far),
        "rotate" => {
            let (axis, angle) = value.split_once(' ').unwrap_or(("z", value));
            return matches!(axis, "x" | "y") && is_edge(angle.trim());
        }
        _ => {}
    }
    for (function, inner) in value.split(')').filter_map(|part| part.split_once('(')) {
        let mut numbers = inner.split(',').map(str::trim);
        let away = match function.trim() {
            "scale" | "scalex" | "scaley" | "scale3d" => numbers.any(vanishes),
            "rotatex" | "rotatey" => numbers.any(is_edge),
            "matrix" => {
                let values: Vec<&str> = numbers.collect();
                let zero = |at: usize| values.get(at).is_some_and(|value| vanishes(value));
                zero(0) && zero(1) || zero(2) && zero(3)
            }
            "translate" | "translatex" | "translatey" | "translate3d" => {
                // In percent of the element itself: slides of a carousel.
                numbers.any(|value| !value.ends_with('%') && is_far(value))
            }
            _ => false,
        };
        if away {
            return true;
        }
    }
    false
}

/// Text of a style sheet without its comments.
pub(crate) fn without_comments(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = memmem::find(rest.as_bytes(), b"/*") {
        let (before, comment) = (&rest[..at], &rest[at + 2..]);
        out.reserve(rest.len());
        out.push_str(before);
        rest = memmem::find(comment.as_bytes(), b"*/").map_or("", |end| &comment[end + 2..]);
        // A comment between two words divides them: `@media/**/screen`.
        let is_word = |character: char| character.is_alphanumeric();
        if before.ends_with(is_word) && rest.starts_with(is_word) {
            out.push(' ');
        }
    }
    if rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hiding(style: &str) -> Option<Hiding> {
        let mut looks = Looks::default();
        looks.read(style);
        looks.hiding()
    }

    #[test]
    fn styles_that_hide_are_known() {
        for style in [
            "display:none",
            "DISPLAY : None !important",
            "visibility: hidden",
            "color:red;display:none",
        ] {
            assert_eq!(hiding(style), Some(Hiding::Absent), "{style}");
        }
        for style in [
            "opacity:0",
            "opacity: 0.01",
            "opacity:0%",
            "position:absolute;left:-9999px",
            "position:fixed; top:-100em",
            "text-indent:-9999px",
            "margin-left:-2000px",
            "margin: 0 0 0 -9999px",
            "clip:rect(0,0,0,0)",
            "clip: rect(1px 1px 1px 1px)",
            "clip-path:inset(50%)",
            "clip-path:circle(0)",
            "height:0;overflow:hidden",
            "width:1px;overflow:hidden",
            "max-height:0px;overflow-y:hidden",
            "transform:scale(0)",
            "transform: translateX(-9999px)",
            "color:transparent",
            "color:rgba(0,0,0,0)",
            "color:#fff0",
            "clip-path:inset(0 100% 0 0)",
            "clip-path:polygon(0 0,0 0,0 0,0 0)",
            "clip-path: polygon(0px 0px, 0px 0px,0px 0px)",
            "transform:rotateX(90deg)",
            "transform:matrix(0,0,0,0,0,0)",
            "transform:scale(0.001)",
            "scale:0 1",
            "rotate:y 90deg",
            "zoom:0.01",
            "filter:blur(1px) opacity(0)",
            "inset:-9999px auto auto 0;position:fixed",
            "text-indent:100%;overflow:hidden;white-space:nowrap",
            "line-height:0;overflow:hidden",
            "block-size:0;overflow:clip",
            "color:hsl(0 0% 100% / 0)",
            "opacity/**/:/*x*/0",
            "op\\61 city:0",
        ] {
            assert_eq!(hiding(style), Some(Hiding::Unseen), "{style}");
        }
    }

    #[test]
    fn styles_that_show_are_not_taken_for_hiding() {
        for style in [
            "",
            "display:block",
            "dis/**/play:none",
            "opacity:.7",
            "opacity:0;transition:opacity 1s",
            "opacity:0;transform:translateY(20px)",
            "position:absolute;left:-20px",
            "left:-9999px",
            "text-indent:-2em",
            "margin-left:-15px",
            "height:0",
            "overflow:hidden",
            "height:100%;overflow:hidden",
            "width:0%;overflow:hidden",
            "transform:translateX(-100%)",
            "transform:scale(1.1)",
            "clip-path:inset(10%)",
            "clip-path:inset(50% 0 0 0)",
            "clip-path:polygon(0 0, 100% 0, 100% 100%)",
            "transform:rotate(90deg)",
            "transform:rotateX(180deg)",
            "rotate:90deg",
            "filter:opacity(80%)",
            "zoom:1",
            "line-height:1",
            "clip:rect(0,100px,50px,0)",
            "color:transparent;background:linear-gradient(red,blue)",
            "display:none;display:block",
            "font-size:0.9em",
            "nonsense",
            "a:b:c",
        ] {
            assert_eq!(hiding(style), None, "{style}");
        }
    }
}
