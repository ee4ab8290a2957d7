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

/// The direction of a text on the page: degrees clockwise from left to right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Direction(i16);

impl Direction {
    /// From left to right.
    pub(crate) const RIGHT: Self = Self(0);

    /// The direction of a vector; `y` grows downwards.
    pub(crate) fn of(x: f64, y: f64) -> Self {
        let degrees = y.atan2(x).to_degrees();
        // Nearly upright counts as upright: scanned pages are slightly skewed.
        let straight = (degrees / 90.0).round() * 90.0;
        let degrees = if (degrees - straight).abs() < 4.0 { straight } else { degrees.round() };
        Self((degrees as i16).rem_euclid(360))
    }

    /// A point in the plane where text of this direction runs to the right and lines go down.
    pub(crate) fn upright(self, x: f32, y: f32) -> (f32, f32) {
        match self.0 {
            0 => (x, y),
            90 => (y, -x),
            180 => (-x, -y),
            270 => (-y, x),
            degrees => {
                let (sin, cos) = f32::from(degrees).to_radians().sin_cos();
                (x * cos + y * sin, y * cos - x * sin)
            }
        }
    }
}
