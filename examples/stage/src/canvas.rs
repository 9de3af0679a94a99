//! The canvas that the art is drawn on: a window's triangles or a terminal's pixels.

/// A point on a canvas or on the stage.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    pub x: f32,
    pub y: f32,
}

/// Shorthand for a [`Point`].
pub const fn at(x: f32, y: f32) -> Point {
    Point { x, y }
}

impl Point {
    pub fn toward(self, other: Self, share: f32) -> Self {
        at(self.x + (other.x - self.x) * share, self.y + (other.y - self.y) * share)
    }

    pub fn plus(self, x: f32, y: f32) -> Self {
        at(self.x + x, self.y + y)
    }
}

/// A colour with its opacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Color {
    pub r: u8,
    pub g: u8,
    pub b: u8,
    pub a: u8,
}

/// A colour from `0xRRGGBB`.
pub const fn rgb(hex: u32) -> Color {
    let [_, r, g, b] = hex.to_be_bytes();
    Color { r, g, b, a: 255 }
}

impl Color {
    /// The way to `other`: 0 is here, 1 is there.
    pub fn mix(self, other: Self, share: f32) -> Self {
        let share = share.clamp(0.0, 1.0);
        let blend = |from: u8, to: u8| (f32::from(from) + (f32::from(to) - f32::from(from)) * share) as u8;
        Self {
            r: blend(self.r, other.r),
            g: blend(self.g, other.g),
            b: blend(self.b, other.b),
            a: blend(self.a, other.a),
        }
    }

    /// The same colour, let through by `opacity` of 0 to 1.
    pub fn faded(self, opacity: f32) -> Self {
        Self { a: (f32::from(self.a) * opacity.clamp(0.0, 1.0)) as u8, ..self }
    }

    pub fn darker(self, share: f32) -> Self {
        Self { a: self.a, ..self.mix(rgb(0x0A_06_14), share) }
    }

    pub fn lighter(self, share: f32) -> Self {
        Self { a: self.a, ..self.mix(rgb(0xFF_FF_FF), share) }
    }
}

/// Something that shapes can be painted on, in its own pixels, y downward. Later shapes cover earlier ones.
pub trait Canvas {
    fn width(&self) -> f32;
    fn height(&self) -> f32;
    /// Whether only brightness is seen: then a backdrop hides what stands before it.
    fn is_mono(&self) -> bool {
        false
    }
    /// A rectangle that runs from one colour above to another below.
    fn gradient(&mut self, corner: Point, width: f32, height: f32, above: Color, below: Color);
    fn disc(&mut self, center: Point, radius: f32, color: Color);
    /// A limb: a line with round ends of two widths.
    fn capsule(&mut self, from: Point, to: Point, radii: [f32; 2], color: Color);
    /// A convex polygon.
    fn polygon(&mut self, corners: &[Point], color: Color);

    fn rect(&mut self, corner: Point, width: f32, height: f32, color: Color) {
        self.gradient(corner, width, height, color, color);
    }

    fn line(&mut self, from: Point, to: Point, width: f32, color: Color) {
        self.capsule(from, to, [width / 2.0; 2], color);
    }
}
