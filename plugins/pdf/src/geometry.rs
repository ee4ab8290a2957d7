//! Matrices and boxes in the plane of a page.

/// An affine map, its six numbers as PDF writes them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Matrix(pub(crate) [f64; 6]);

impl Matrix {
    pub(crate) const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    pub(crate) fn translation(x: f64, y: f64) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y])
    }

    /// The map that applies `self` first and `then` afterwards.
    pub(crate) fn then(&self, then: &Self) -> Self {
        let [a, b, c, d, e, f] = self.0;
        let [ta, tb, tc, td, te, tf] = then.0;
        Self([
            a * ta + b * tc,
            a * tb + b * td,
            c * ta + d * tc,
            c * tb + d * td,
            e * ta + f * tc + te,
            e * tb + f * td + tf,
        ])
    }

    pub(crate) fn apply(&self, x: f64, y: f64) -> (f64, f64) {
        let [a, b, c, d, e, f] = self.0;
        (a * x + c * y + e, b * x + d * y + f)
    }

    pub(crate) fn is_finite(&self) -> bool {
        self.0.iter().all(|number| number.is_finite())
    }
}

/// Which way a text runs on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Direction {
    /// From left to right.
    Right,
    /// From top to bottom.
    Down,
    /// From right to left, upside down.
    Left,
    /// From bottom to top.
    Up,
}

impl Direction {
    pub(crate) const ALL: [Self; 4] = [Self::Right, Self::Down, Self::Left, Self::Up];

    /// The nearest direction of a vector; `y` grows downwards.
    pub(crate) fn of(x: f64, y: f64) -> Self {
        match (x.abs() >= y.abs(), x >= 0.0, y >= 0.0) {
            (true, true, _) => Self::Right,
            (true, false, _) => Self::Left,
            (false, _, true) => Self::Down,
            (false, _, false) => Self::Up,
        }
    }

    /// A point in the plane where text of this direction runs to the right and lines go down.
    pub(crate) fn upright(self, x: f32, y: f32) -> (f32, f32) {
        match self {
            Self::Right => (x, y),
            Self::Down => (y, -x),
            Self::Left => (-x, -y),
            Self::Up => (-y, x),
        }
    }
}
