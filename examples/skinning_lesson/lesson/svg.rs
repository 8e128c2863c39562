//! A small SVG writer. Coordinates have two decimals, so that the files are the same on every machine.

use std::fmt::Write as _;

use glam::{Affine3A, Vec2, Vec3};

const STYLE: &str = "text{font:13px sans-serif;fill:#222}.title{font-weight:bold;font-size:14px}.note{fill:#555}\
.mid{text-anchor:middle}.code{font-family:monospace}.right{fill:#7fb3a6;stroke:#22594c;fill-opacity:.55}\
.wrong{fill:#e0938a;stroke:#8c2f22;fill-opacity:.55}.ghost{fill:none;stroke:#999;stroke-dasharray:4 3}\
.axis{stroke:#555;fill:none}.line{stroke:#333;fill:none;stroke-width:1.5}.x,.y{stroke:#c0392b;stroke-width:1.5}.y{stroke:#2b7a3d}\
.dot{fill:#222}.mark{fill:#f2a900;stroke:#222}.bone{stroke:#222;stroke-width:4;stroke-linecap:round}\
.box{fill:#f4f4f4;stroke:#666}.hot{fill:#f6d58a;stroke:#666}";

/// A drawing under construction. All positions are pixels, y down.
pub struct Svg {
    size: Vec2,
    body: String,
}

/// Two decimals without a negative zero.
fn pixel(x: f32) -> f64 {
    (f64::from(x) * 100.0).round() / 100.0 + 0.0
}

impl Svg {
    pub fn new(width: f32, height: f32) -> Self {
        Self { size: Vec2::new(width, height), body: String::new() }
    }

    pub fn finish(self) -> String {
        let (width, height) = (self.size.x, self.size.y);
        let marker = |(class, color)| {
            format!(
                "<marker id=\"{class}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"5.5\" \
                 markerHeight=\"5.5\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"{color}\"/></marker>"
            )
        };
        let markers = [("line", "#333"), ("x", "#c0392b"), ("y", "#2b7a3d")].map(marker).concat();
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\">\n<style>{STYLE}</style>\n\
             <defs>{markers}</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{}</svg>\n",
            self.body
        )
    }

    fn add(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.body, "{element}");
    }

    pub fn text(&mut self, at: Vec2, class: &str, text: &str) {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        self.add(format_args!("<text x=\"{}\" y=\"{}\" class=\"{class}\">{text}</text>", pixel(at.x), pixel(at.y)));
    }

    pub fn circle(&mut self, at: Vec2, radius: f32, class: &str) {
        self.add(format_args!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{radius}\" class=\"{class}\"/>",
            pixel(at.x),
            pixel(at.y)
        ));
    }

    pub fn rectangle(&mut self, corner: Vec2, size: Vec2, class: &str) {
        let [x, y, width, height] = [corner.x, corner.y, size.x, size.y].map(pixel);
        self.add(format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"3\" class=\"{class}\"/>"
        ));
    }

    pub fn line(&mut self, from: Vec2, to: Vec2, class: &str) {
        let [x1, y1, x2, y2] = [from.x, from.y, to.x, to.y].map(pixel);
        self.add(format_args!("<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" class=\"{class}\"/>"));
    }

    /// Draws an arrow of one of the classes `line`, `x` and `y`.
    pub fn arrow(&mut self, from: Vec2, to: Vec2, class: &str) {
        let [x1, y1, x2, y2] = [from.x, from.y, to.x, to.y].map(pixel);
        self.add(format_args!(
            "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" class=\"{class}\" \
             marker-end=\"url(#{class})\"/>"
        ));
    }

    pub fn polygon(&mut self, corners: &[Vec2], class: &str) {
        let points: Vec<String> = corners.iter().map(|p| format!("{},{}", pixel(p.x), pixel(p.y))).collect();
        self.add(format_args!("<polygon points=\"{}\" class=\"{class}\"/>", points.join(" ")));
    }
}

/// A part of the drawing with its own coordinates: metres, y up.
#[derive(Clone, Copy)]
pub struct Panel {
    /// The pixel of the point (0, 0).
    pub origin: Vec2,
    pub pixels_per_metre: f32,
}

impl Panel {
    pub fn pixel(self, p: Vec2) -> Vec2 {
        self.origin + Vec2::new(p.x, -p.y) * self.pixels_per_metre
    }

    /// Draws the x axis in red and the y axis in green, where `space` puts them.
    pub fn axes(self, svg: &mut Svg, space: Affine3A, length: f32) {
        let at = |p: Vec3| self.pixel(space.transform_point3(p).truncate());
        svg.arrow(at(Vec3::ZERO), at(Vec3::X * length), "x");
        svg.arrow(at(Vec3::ZERO), at(Vec3::Y * length), "y");
        svg.circle(at(Vec3::ZERO), 3.0, "dot");
    }

    /// Draws the strip: five rows of two vertices.
    pub fn strip(self, svg: &mut Svg, vertices: &[Vec2], class: &str) {
        for row in 0..4 {
            let corners = [2 * row, 2 * row + 1, 2 * row + 3, 2 * row + 2].map(|vertex| self.pixel(vertices[vertex]));
            svg.polygon(&corners, class);
        }
        if class != "ghost" {
            vertices.iter().for_each(|&vertex| svg.circle(self.pixel(vertex), 2.5, "dot"));
        }
    }
}
