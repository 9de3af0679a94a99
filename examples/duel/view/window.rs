//! The window, on macroquad. All art becomes triangles; macroquad only opens the window and tells the keys.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use macroquad::miniquad;
use macroquad::models::{Mesh, Vertex, draw_mesh};
use macroquad::prelude as mq;

use super::{Job, Screen};
use crate::art::canvas::{Canvas, Color, Point, at};
use crate::art::{hud, stage};
use crate::keyboard::Role;
use crate::keys::Key;
use crate::picture::Picture;

/// The art is laid out for this size and scaled to the window's.
const WIDTH: f32 = 960.0;
const HEIGHT: f32 = 540.0;
/// What one mesh can hold; a picture is two or three of them.
const VERTEX_LIMIT: usize = 8_000;
const INDEX_LIMIT: usize = 36_000;

fn conf() -> macroquad::conf::Conf {
    let window = mq::Conf {
        window_title: "Rebout: duel".to_owned(),
        window_width: WIDTH as i32,
        window_height: HEIGHT as i32,
        high_dpi: true,
        // Edges are smoothed by the art itself: that costs a software renderer a fraction of what samples do.
        sample_count: 1,
        platform: miniquad::conf::Platform { swap_interval: Some(1), ..Default::default() },
        ..Default::default()
    };
    macroquad::conf::Conf {
        draw_call_vertex_capacity: VERTEX_LIMIT + 1,
        draw_call_index_capacity: INDEX_LIMIT + 1,
        ..window.into()
    }
}

/// Colours only: the library's own shader reads a texture for every pixel, and a software renderer pays for it.
const VERTEX_SHADER: &str = "#version 100
attribute vec3 position;
attribute vec4 color0;
varying lowp vec4 color;
uniform mat4 Model;
uniform mat4 Projection;
void main() {
    gl_Position = Projection * Model * vec4(position, 1.0);
    color = color0 / 255.0;
}";

const FRAGMENT_SHADER: &str = "#version 100
varying lowp vec4 color;
void main() {
    gl_FragColor = color;
}";

/// The paint for all meshes; the library's own if this machine cannot make it.
fn paint() -> Option<mq::Material> {
    let source = mq::ShaderSource::Glsl { vertex: VERTEX_SHADER, fragment: FRAGMENT_SHADER };
    let over = miniquad::BlendState::new(
        miniquad::Equation::Add,
        miniquad::BlendFactor::Value(miniquad::BlendValue::SourceAlpha),
        miniquad::BlendFactor::OneMinusValue(miniquad::BlendValue::SourceAlpha),
    );
    let params = mq::MaterialParams {
        pipeline_params: mq::PipelineParams { color_blend: Some(over), ..Default::default() },
        ..Default::default()
    };
    mq::load_material(source, params).ok()
}

/// Opens a window and runs the job beside it; gives the job back if no window can be opened.
pub(super) fn run<T: Send + 'static>(job: Job<T>) -> Result<T, Job<T>> {
    let waiting = Arc::new(Mutex::new(Some(job)));
    let result = Arc::new(Mutex::new(None));
    let (taken, given) = (Arc::clone(&waiting), Arc::clone(&result));
    let open = Arc::new(AtomicBool::new(false));
    let opened = Arc::clone(&open);
    let main = async move {
        opened.store(true, Ordering::Relaxed);
        let job = taken.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(job) = job else { return };
        let screen = Screen::new(true);
        let worker = screen.clone();
        let thread = std::thread::spawn(move || {
            // Whatever becomes of the match, the window must learn that it is over.
            let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| job(&worker)));
            worker.finish();
            outcome
        });
        watch(&screen).await;
        *given.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread.join());
    };
    // Without a display the library below panics. That is no fault of the player's: no backtrace, but the terminal.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if open.load(Ordering::Relaxed) {
            hook(info);
        }
    }));
    let opened = std::panic::catch_unwind(AssertUnwindSafe(|| macroquad::Window::from_config(conf(), main)));
    let outcome = result.lock().unwrap_or_else(PoisonError::into_inner).take();
    match outcome {
        Some(Ok(Ok(value))) => Ok(value),
        Some(Ok(Err(panic)) | Err(panic)) => std::panic::resume_unwind(panic),
        None => match waiting.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(job) => Err(job),
            None => match opened {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => unreachable!("the window took the match and ended without it"),
            },
        },
    }
}

/// Draws the newest picture, frame by frame, until the match is over.
async fn watch(screen: &Screen) {
    mq::prevent_quit();
    let mut canvas = Triangles::default();
    // It must outlive the last picture: the library keeps no more than its number.
    let paint = paint();
    if let Some(paint) = &paint {
        mq::gl_use_material(paint);
    }
    let mut newest: Option<Picture> = None;
    let mut version = 0;
    loop {
        if mq::is_quit_requested() {
            screen.close();
        }
        read_keys(screen);
        {
            let slot = screen.slot();
            if slot.done {
                return;
            }
            if slot.version != version {
                version = slot.version;
                newest.clone_from(&slot.picture);
            }
        }
        let start = Instant::now();
        mq::clear_background(mq::BLACK);
        if let Some(picture) = &newest {
            canvas.fit();
            stage::paint(&mut canvas, &picture.scene, picture.net.as_ref().map_or(&[], |net| net.moved()));
            hud::paint(&mut canvas, picture);
            canvas.close_edges();
            canvas.flush();
            screen.note_drawn(start);
        }
        mq::next_frame().await;
    }
}

fn read_keys(screen: &Screen) {
    let mut keyboard = screen.keyboard();
    for code in mq::get_keys_pressed() {
        if let Some(key) = key_of(code) {
            keyboard.press(key, Role::Tap, Instant::now());
        }
    }
    for code in mq::get_keys_released() {
        if let Some(key) = key_of(code) {
            keyboard.release(key);
        }
    }
}

fn key_of(code: mq::KeyCode) -> Option<Key> {
    use mq::KeyCode as Code;
    Some(match code {
        Code::Left => Key::Left,
        Code::Right => Key::Right,
        Code::Up => Key::Up,
        Code::Down => Key::Down,
        Code::Enter | Code::KpEnter => Key::Enter,
        Code::Escape => Key::Escape,
        Code::Tab => Key::Tab,
        Code::Backspace => Key::Backspace,
        Code::F1 => Key::F(1),
        Code::F2 => Key::F(2),
        Code::F3 => Key::F(3),
        Code::F4 => Key::F(4),
        Code::KpAdd => Key::Char('+'),
        Code::KpSubtract => Key::Char('-'),
        // Letters, digits and signs have the number of their character.
        other => {
            let number = other as u32;
            let letter =
                char::from_u32(number).filter(|letter| letter.is_ascii_graphic() || *letter == ' ')?;
            Key::Char(letter.to_ascii_lowercase())
        }
    })
}

/// A canvas of 960 by 540 that turns every shape into triangles of one mesh.
struct Triangles {
    mesh: Mesh,
    /// The corners of the shape at hand, in the window's pixels.
    outline: Vec<Point>,
    scale: f32,
    corner: Point,
}

impl Default for Triangles {
    fn default() -> Self {
        Self {
            mesh: Mesh { vertices: Vec::new(), indices: Vec::new(), texture: None },
            outline: Vec::new(),
            scale: 1.0,
            corner: at(0.0, 0.0),
        }
    }
}

impl Triangles {
    /// Scales to the window as it is now, with bars where its shape differs.
    fn fit(&mut self) {
        let (width, height) = (mq::screen_width(), mq::screen_height());
        self.scale = (width / WIDTH).min(height / HEIGHT);
        self.corner = at((width - WIDTH * self.scale) / 2.0, (height - HEIGHT * self.scale) / 2.0);
    }

    /// Covers what was painted beyond the canvas.
    fn close_edges(&mut self) {
        let black = Color { r: 0, g: 0, b: 0, a: 255 };
        let (x, y) = (self.corner.x / self.scale, self.corner.y / self.scale);
        if x > 0.5 {
            self.rect(at(-x, 0.0), x, HEIGHT, black);
            self.rect(at(WIDTH, 0.0), x, HEIGHT, black);
        }
        if y > 0.5 {
            self.rect(at(0.0, -y), WIDTH, y, black);
            self.rect(at(0.0, HEIGHT), WIDTH, y, black);
        }
    }

    fn flush(&mut self) {
        if !self.mesh.indices.is_empty() {
            draw_mesh(&self.mesh);
            self.mesh.vertices.clear();
            self.mesh.indices.clear();
        }
    }

    fn vertex(&mut self, x: f32, y: f32, color: Color) {
        let color = mq::Color::from_rgba(color.r, color.g, color.b, color.a);
        self.mesh.vertices.push(Vertex::new(x, y, 0.0, 0.0, 0.0, color));
    }

    fn make_room(&mut self, vertices: usize, indices: usize) {
        if self.mesh.vertices.len() + vertices > VERTEX_LIMIT
            || self.mesh.indices.len() + indices > INDEX_LIMIT
        {
            self.flush();
        }
    }

    /// A convex shape as a fan of triangles. Its edge fades out over a pixel, half of it inside, or less where the
    /// shape is thinner than that.
    fn fan(&mut self, corners: impl ExactSizeIterator<Item = Point>, half_thickness: f32, color: Color) {
        let count = corners.len();
        self.make_room(count * 2, count * 9);
        let (scale, origin) = (self.scale, self.corner);
        self.outline.clear();
        self.outline.extend(corners.map(|point| at(origin.x + point.x * scale, origin.y + point.y * scale)));
        let inside = (half_thickness * scale).min(0.5);
        let first = self.mesh.vertices.len() as u16;
        let wound = winding(&self.outline);
        for index in 0..count {
            let point = self.outline[index];
            let (x, y) =
                outward(self.outline[(index + count - 1) % count], point, self.outline[(index + 1) % count]);
            let (x, y) = (x * wound, y * wound);
            self.vertex(point.x - x * inside, point.y - y * inside, color);
            self.vertex(point.x + x * 0.5, point.y + y * 0.5, Color { a: 0, ..color });
        }
        let count = count as u16;
        for corner in 1..count.saturating_sub(1) {
            self.mesh.indices.extend([first, first + corner * 2, first + corner * 2 + 2]);
        }
        for corner in 0..count {
            let (here, next) = (first + corner * 2, first + (corner + 1) % count * 2);
            self.mesh.indices.extend([here, here + 1, next, here + 1, next + 1, next]);
        }
    }

    /// As many corners as a circle of this size needs to look round.
    fn corners(&self, radius: f32) -> u16 {
        ((radius * self.scale).sqrt() * 4.2).clamp(4.0, 40.0) as u16
    }
}

impl Canvas for Triangles {
    fn width(&self) -> f32 {
        WIDTH
    }

    fn height(&self) -> f32 {
        HEIGHT
    }

    fn gradient(&mut self, corner: Point, width: f32, height: f32, above: Color, below: Color) {
        self.make_room(4, 6);
        let first = self.mesh.vertices.len() as u16;
        let (x, y) = (self.corner.x + corner.x * self.scale, self.corner.y + corner.y * self.scale);
        let (right, bottom) = (x + width * self.scale, y + height * self.scale);
        for (x, y, color) in [(x, y, above), (right, y, above), (right, bottom, below), (x, bottom, below)] {
            self.vertex(x, y, color);
        }
        self.mesh.indices.extend([0, 1, 2, 0, 2, 3].map(|corner| first + corner));
    }

    fn disc(&mut self, center: Point, radius: f32, color: Color) {
        let count = self.corners(radius);
        let corners = (0..count).map(|corner| {
            let (sine, cosine) = (f32::from(corner) / f32::from(count) * core::f32::consts::TAU).sin_cos();
            center.plus(cosine * radius, sine * radius)
        });
        self.fan(corners, radius, color);
    }

    fn capsule(&mut self, from: Point, to: Point, radii: [f32; 2], color: Color) {
        let (dx, dy) = (to.x - from.x, to.y - from.y);
        let length = dx.hypot(dy);
        // One end within the other is a disc.
        if length <= (radii[0] - radii[1]).abs() + 0.01 {
            let center = if radii[0] >= radii[1] { from } else { to };
            return self.disc(center, radii[0].max(radii[1]), color);
        }
        let along = dy.atan2(dx);
        // The round ends meet the sides where both circles have a common tangent.
        let lean = ((radii[0] - radii[1]) / length).clamp(-1.0, 1.0).acos();
        let half = self.corners(radii[0].max(radii[1])) / 2 + 1;
        let end = move |center: Point, radius: f32, start: f32, sweep: f32, step: u16| {
            let (sine, cosine) = (start + sweep * f32::from(step) / f32::from(half - 1)).sin_cos();
            center.plus(cosine * radius, sine * radius)
        };
        let tau = core::f32::consts::TAU;
        let corners = (0..half * 2).map(|step| {
            if step < half {
                end(to, radii[1], along - lean, lean * 2.0, step)
            } else {
                end(from, radii[0], along + lean, tau - lean * 2.0, step - half)
            }
        });
        self.fan(corners, radii[0].min(radii[1]), color);
    }

    fn polygon(&mut self, corners: &[Point], color: Color) {
        self.fan(corners.iter().copied(), 0.5, color);
    }
}

/// 1 if the corners go round with the clock on the screen, -1 otherwise.
fn winding(corners: &[Point]) -> f32 {
    let next = corners.iter().cycle().skip(1);
    let area: f32 = corners.iter().zip(next).map(|(from, to)| from.x * to.y - to.x * from.y).sum();
    if area < 0.0 { -1.0 } else { 1.0 }
}

/// Which way is out at a corner between two edges, for corners that go round with the clock.
fn outward(before: Point, here: Point, after: Point) -> (f32, f32) {
    let normal = |from: Point, to: Point| {
        let (x, y) = (to.y - from.y, from.x - to.x);
        let length = x.hypot(y).max(0.000_1);
        (x / length, y / length)
    };
    let (a, b) = (normal(before, here), normal(here, after));
    let (x, y) = (a.0 + b.0, a.1 + b.1);
    let length = x.hypot(y).max(0.3);
    (x / length, y / length)
}
