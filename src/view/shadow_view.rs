//! The view of the shadow map: the part of the world that the light sees.
//!
//! In: the crowd, the camera and the direction of the light. Out: an orthographic matrix. Invariants: every visible point
//! that a character can shade lies in the map, up to a distance; and the map moves in whole texels and changes its size in
//! steps, so that the edges of shadows do not crawl when the camera moves.

use glam::{BVec3, Mat4, Vec2, Vec3, Vec3Swizzles, Vec4, Vec4Swizzles};

use super::camera::OrbitCamera;
use super::regions::{Bounds, Frustum};

/// A close camera in a large crowd sees shadows up to this many times the distance of its target. A map that reaches
/// further would have texels of many pixels in front.
const REACH: f32 = 4.0;
/// The share of the map that is used. Near its edge shadows fade out (`shadow.glsl`), and snapping takes up to a texel.
const USED_SHARE: f32 = 0.95;
/// The size of a texel changes in steps of this power of two.
const STEPS_PER_OCTAVE: f32 = 4.0;
/// The sine of the lowest elevation of the light that is fitted exactly. Shadows of a lower one are cut short.
const LEAST_ELEVATION_SINE: f32 = 0.01;

/// The height of the ground, which receives shadows.
const GROUND_HEIGHT: f32 = 0.0;

/// The scene of a shadow map, and the camera that sees the shadows.
#[derive(Debug, Clone, Copy)]
pub struct ShadowScene<'a> {
    /// The bounds of all that casts shadows.
    pub crowd: &'a Bounds,
    /// The unit vector from a surface towards the light.
    pub to_light: Vec3,
    pub camera: &'a OrbitCamera,
    /// Width / height of the camera's image.
    pub aspect: f32,
}

/// The orthographic view from the light that the shadow map shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShadowView {
    /// The matrix from world space to the map: x and y in -1..1, depth in 0..1, greater is nearer to the light.
    pub shadow_from_world: Mat4,
    pub texel_metres: f32,
    /// The depth of a distance of one texel along the light.
    pub depth_per_texel: f32,
    /// The part of the ground that the map's shadows may reach: the least x and z, and the greatest x and z.
    pub shaded_ground: [f32; 4],
}

impl ShadowView {
    /// Returns the side of the map in texels that an image of this size in pixels needs.
    ///
    /// Close to a character, one texel should be at most one pixel. The light sees the picture along its diagonal, and more of
    /// the world behind a character than before it, so the map needs 1.25 times the sum of the image's sides, and in upright
    /// images 2.6 times their height. The side grows in steps, so that a window that changes its size rarely needs another map.
    /// Images of more than 3,100 pixels of height would need more than the largest map: in them a texel may be 1.2 pixels.
    pub fn map_texels_for([width, height]: [u32; 2]) -> u32 {
        /// Small images show crowds too, whose shadows need these many texels.
        const LEAST: u32 = 2048;
        /// 256 MiB of depth.
        const MOST: u32 = 8192;
        const STEP: u32 = 512;
        let [width, height] = [width.min(MOST), height.min(MOST)];
        (5 * (width + height) / 4).max(13 * height / 5).next_multiple_of(STEP).clamp(LEAST, MOST)
    }

    /// Fits a square map of `map_texels` texels a side to the points that the camera sees and a character can shade.
    pub fn fit(scene: &ShadowScene, map_texels: u32) -> Self {
        let axes = LightAxes::new(scene.to_light);
        let crowd = scene.crowd;
        let outline = Extent::EMPTY.around(crowd.hull().map(|point| crowd.center() + point), &axes);
        let ground = outline.corners().map(|across| axes.at_height(across, GROUND_HEIGHT));
        let whole = outline.around(ground, &axes);
        let seen = receivers_seen(scene, ground, &axes);
        let seen = Extent { min: seen.min.max(whole.min), max: seen.max.min(whole.max) };
        // Out of view: any view will do.
        let extent = if seen.size().min_element() < 0.0 { whole } else { seen };

        let used_texels = (USED_SHARE * map_texels.max(1) as f32 - 1.0).max(1.0);
        let texel_of = |extent: &Extent| (extent.size().max_element() / used_texels).clamp(1e-9, 1e9);
        let quantized = ((texel_of(&extent).log2() * STEPS_PER_OCTAVE).ceil() / STEPS_PER_OCTAVE).exp2();
        let texel_metres = quantized.min(texel_of(&whole));
        let center = (extent.center() / texel_metres).round() * texel_metres;

        let radius = 0.5 * texel_metres * map_texels.max(1) as f32;
        let depth_scale = 1.0 / (1.01 * (whole.max.z - whole.min.z)).max(texel_metres);
        let middle = 0.5 * (whole.min.z + whole.max.z);
        let rows = Mat4::from_cols(
            (axes.right / radius).extend(-center.x / radius),
            (axes.up / radius).extend(-center.y / radius),
            (axes.to_light * depth_scale).extend(0.5 - middle * depth_scale),
            Vec4::W,
        );
        let depth_per_texel = depth_scale * texel_metres;
        // The crowd's outline and the map overlap here. The filter widens shadows by a few texels.
        let margin = Vec2::splat(4.0 * texel_metres);
        let least = whole.min.truncate().max(center - radius) - margin;
        let greatest = (whole.max.truncate().min(center + radius) + margin).max(least);
        let shaded = Extent { min: least.extend(0.0), max: greatest.extend(0.0) };
        let corners = shaded.corners().map(|across| axes.at_height(across, GROUND_HEIGHT).xz());
        let [least, greatest] = [corners.into_iter().reduce(Vec2::min), corners.into_iter().reduce(Vec2::max)]
            .map(Option::unwrap_or_default);
        let shaded_ground = [least.x, least.y, greatest.x, greatest.y];
        Self { shadow_from_world: rows.transpose(), texel_metres, depth_per_texel, shaded_ground }
    }
}

/// An orthonormal basis whose third axis points towards the light.
struct LightAxes {
    right: Vec3,
    up: Vec3,
    to_light: Vec3,
}

impl LightAxes {
    fn new(to_light: Vec3) -> Self {
        // Level, unless the light is in the zenith.
        let right = Vec3::Y.cross(to_light).try_normalize().unwrap_or(Vec3::X);
        Self { right, up: to_light.cross(right), to_light }
    }

    /// Returns the point at a height that the light's ray through `across`, along the first two axes, meets.
    fn at_height(&self, across: Vec2, height: f32) -> Vec3 {
        let point = self.right * across.x + self.up * across.y;
        point + self.to_light * ((height - point.y) / self.to_light.y.max(LEAST_ELEVATION_SINE))
    }
}

/// A box along the axes of the light.
#[derive(Clone, Copy)]
struct Extent {
    min: Vec3,
    max: Vec3,
}

impl Extent {
    const EMPTY: Self = Self { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY };

    /// Returns the smallest box that also holds these points of the world.
    fn around(self, points: impl IntoIterator<Item = Vec3>, axes: &LightAxes) -> Self {
        points
            .into_iter()
            .map(|point| Vec3::new(point.dot(axes.right), point.dot(axes.up), point.dot(axes.to_light)))
            .fold(self, |Self { min, max }, point| Self { min: min.min(point), max: max.max(point) })
    }

    /// Returns the corners as the light sees them, in order around the box.
    fn corners(&self) -> [Vec2; 4] {
        let (least, greatest) = (self.min.truncate(), self.max.truncate());
        [least, Vec2::new(greatest.x, least.y), greatest, Vec2::new(least.x, greatest.y)]
    }

    fn size(&self) -> Vec2 {
        (self.max - self.min).truncate()
    }

    fn center(&self) -> Vec2 {
        (0.5 * (self.min + self.max)).truncate()
    }
}

/// The corners of each face of a box, in order around it. Bits 0, 1 and 2 of a corner: its x, y and z are great.
const FACES: [[usize; 4]; 6] = [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]];

/// Returns the extent of the places that the camera sees and where shadows can fall: on the characters, and on the part of the
/// ground that they can shade. The air between them needs no texels.
fn receivers_seen(scene: &ShadowScene, ground: [Vec3; 4], axes: &LightAxes) -> Extent {
    let ShadowScene { crowd, camera, aspect, .. } = *scene;
    let clip_from_world = camera.clip_from_world(aspect);
    let (eye, forward) = (camera.position(), camera.forward());
    let far = (-forward).extend(forward.dot(eye) + REACH * camera.distance);
    let frustum = Frustum::from_clip_from_world(clip_from_world);
    let Bounds { min, max, .. } = *crowd;
    let corner = |k: usize| Vec3::select(BVec3::new(k & 1 != 0, k & 2 != 0, k & 4 != 0), max, min);
    let faces = FACES.iter().map(|face| face.map(corner)).chain([ground]).map(|face| {
        frustum.planes().into_iter().chain([far]).fold(Polygon::quad(face), |polygon, plane| polygon.clipped(plane))
    });
    let mut extent = faces.fold(Extent::EMPTY, |extent, face| extent.around(face.points().iter().copied(), axes));
    // The corners of the frustum itself, if they lie in the box.
    let world_from_clip = clip_from_world.inverse();
    for (x, y) in [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)] {
        let near = world_from_clip.project_point3(Vec3::new(x, y, 1.0));
        let far = eye + (near - eye) * (REACH * camera.distance / camera.near());
        extent = extent.around([near, far].into_iter().filter(|point| point.clamp(min, max) == *point), axes);
    }
    extent
}

/// A convex polygon in a fixed array, because the view is fitted in each frame and must not allocate.
#[derive(Clone, Copy)]
struct Polygon {
    points: [Vec3; Self::MOST],
    count: usize,
}

impl Polygon {
    /// Each of at most six planes adds at most one corner to a quad. Rounding may add a few more; those are left out.
    const MOST: usize = 16;

    fn quad([a, b, c, d]: [Vec3; 4]) -> Self {
        let mut quad = Self { points: [Vec3::ZERO; Self::MOST], count: 0 };
        [a, b, c, d].into_iter().for_each(|point| quad.push(point));
        quad
    }

    fn points(&self) -> &[Vec3] {
        &self.points[..self.count]
    }

    fn push(&mut self, point: Vec3) {
        if let Some(free) = self.points.get_mut(self.count) {
            *free = point;
            self.count += 1;
        }
    }

    /// Returns the part on the inner side of a plane (Sutherland and Hodgman, "Reentrant Polygon Clipping", 1974). A point is
    /// inside where `normal · point + w >= 0`.
    fn clipped(&self, plane: Vec4) -> Self {
        let height = |point: Vec3| plane.xyz().dot(point) + plane.w;
        let mut inside = Self { count: 0, ..*self };
        for (k, &point) in self.points().iter().enumerate() {
            let next = self.points[(k + 1) % self.count];
            let (here, there) = (height(point), height(next));
            if here >= 0.0 {
                inside.push(point);
            }
            if (here >= 0.0) != (there >= 0.0) {
                inside.push(point.lerp(next, here / (here - there)));
            }
        }
        inside
    }
}
