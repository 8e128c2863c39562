//! Small glTF files, built by the tests that need them.

use std::f32::consts::PI;

use base64::Engine;
use glam::{Vec2, Vec3};
use serde_json::{Value, json};
use throng::model::import::{ImportError, load_glb};
use throng::model::{Model, Topology};

pub use super::invariants::check_invariants;

pub const U8: u32 = 5121;
pub const I16: u32 = 5122;
pub const U16: u32 = 5123;
pub const U32: u32 = 5125;
pub const F32: u32 = 5126;

/// A file's JSON and its one buffer.
pub struct Gltf {
    pub json: Value,
    pub bytes: Vec<u8>,
}

impl Gltf {
    /// Makes a scene without nodes.
    pub fn new() -> Self {
        let mut json = json!({"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": []}]});
        let geometry = ["nodes", "meshes", "accessors", "bufferViews", "skins", "animations"];
        for list in geometry.into_iter().chain(["materials", "textures", "images"]) {
            json[list] = json!([]);
        }
        Self { json, bytes: Vec::new() }
    }

    /// Makes one triangle in the xy plane, in mesh 0, drawn by node 0.
    pub fn triangle() -> Self {
        let mut gltf = Self::new();
        let position = gltf.f32s("VEC3", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        gltf.draw(json!({"attributes": {"POSITION": position}}));
        gltf
    }

    /// Makes one mesh of triangles, drawn by node 0, with one material. `tex_coords` may be empty.
    pub fn mesh(positions: &[Vec3], normals: &[Vec3], tex_coords: &[Vec2], indices: &[u16], material: Value) -> Self {
        let mut gltf = Self::new();
        let indices = gltf.accessor(U16, "SCALAR", indices.len(), bytemuck::cast_slice(indices));
        let mut attributes = json!({
            "POSITION": gltf.f32s("VEC3", bytemuck::cast_slice(positions)),
            "NORMAL": gltf.f32s("VEC3", bytemuck::cast_slice(normals)),
        });
        if !tex_coords.is_empty() {
            attributes["TEXCOORD_0"] = json!(gltf.f32s("VEC2", bytemuck::cast_slice(tex_coords)));
        }
        gltf.draw(json!({"attributes": attributes, "indices": indices, "material": 0}));
        gltf.push("materials", material);
        gltf
    }

    /// Appends mesh 0, and node 0, which draws it.
    fn draw(&mut self, primitive: Value) {
        self.push("meshes", json!({"primitives": [primitive]}));
        self.push("nodes", json!({"mesh": 0}));
        self.json["scenes"][0]["nodes"] = json!([0]);
    }

    /// Appends a texture that shows an image; returns its index.
    pub fn texture(&mut self, image: &image::RgbaImage) -> usize {
        let mut png = std::io::Cursor::new(Vec::new());
        image.write_to(&mut png, image::ImageFormat::Png).unwrap();
        let view = self.view(png.get_ref());
        let source = self.push("images", json!({"bufferView": view}));
        self.push("textures", json!({"source": source}))
    }

    /// Makes the triangle skinned to nodes 1 and 2 (child of 1) by skin 0 without inverse binds. `joints` and `weights`
    /// are those of the three vertices.
    pub fn skinned(joints: [[u8; 4]; 3], weights: [[f32; 4]; 3]) -> Self {
        let mut gltf = Self::triangle();
        let joints = gltf.accessor(U8, "VEC4", 3, joints.as_flattened());
        let weights = gltf.f32s("VEC4", weights.as_flattened());
        let attributes = &mut gltf.json["meshes"][0]["primitives"][0]["attributes"];
        attributes["JOINTS_0"] = json!(joints);
        attributes["WEIGHTS_0"] = json!(weights);
        gltf.json["nodes"][0]["skin"] = json!(0);
        gltf.push("nodes", json!({"name": "upper", "children": [2]}));
        gltf.push("nodes", json!({"name": "lower", "translation": [0, 1, 0]}));
        gltf.push("skins", json!({"joints": [1, 2]}));
        gltf.json["scenes"][0]["nodes"] = json!([0, 1]);
        gltf
    }

    /// Appends to a top-level list; returns the index.
    pub fn push(&mut self, list: &str, element: Value) -> usize {
        let list = self.json[list].as_array_mut().unwrap();
        list.push(element);
        list.len() - 1
    }

    /// Appends data as a buffer view, aligned to four bytes; returns its index.
    pub fn view(&mut self, data: &[u8]) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let offset = self.bytes.len();
        self.bytes.extend_from_slice(data);
        self.push("bufferViews", json!({"buffer": 0, "byteOffset": offset, "byteLength": data.len()}))
    }

    /// Appends an accessor with a new view; returns its index.
    pub fn accessor(&mut self, component_type: u32, shape: &str, count: usize, data: &[u8]) -> usize {
        let view = self.view(data);
        self.push(
            "accessors",
            json!({"bufferView": view, "componentType": component_type, "type": shape, "count": count}),
        )
    }

    /// Appends an accessor of floats; returns its index.
    pub fn f32s(&mut self, shape: &str, values: &[f32]) -> usize {
        let components = match shape {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 16,
        };
        self.accessor(F32, shape, values.len() / components, bytemuck::cast_slice(values))
    }

    /// Appends an animation with one channel; returns its index.
    pub fn animation(&mut self, node: usize, path: &str, interpolation: &str, input: usize, output: usize) -> usize {
        self.push(
            "animations",
            json!({
                "channels": [{"sampler": 0, "target": {"node": node, "path": path}}],
                "samplers": [{"input": input, "output": output, "interpolation": interpolation}],
            }),
        )
    }

    /// Returns the file as text, with its buffer as a data URI.
    pub fn text(&self) -> String {
        let mut json = self.json.clone();
        if json.get("buffers").is_none() {
            let base64 = base64::engine::general_purpose::STANDARD.encode(&self.bytes);
            let uri = format!("data:application/octet-stream;base64,{base64}");
            json["buffers"] = json!([{"byteLength": self.bytes.len(), "uri": uri}]);
        }
        json.to_string()
    }

    /// Returns the file as a GLB.
    pub fn glb(&self) -> Vec<u8> {
        let mut json = self.json.clone();
        json["buffers"] = json!([{"byteLength": self.bytes.len()}]);
        let mut text = json.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut binary = self.bytes.clone();
        binary.resize(binary.len().next_multiple_of(4), 0);
        let length = 12 + 8 + text.len() + 8 + binary.len();
        let mut glb = b"glTF".to_vec();
        glb.extend([2, length as u32].iter().flat_map(|word| word.to_le_bytes()));
        for (kind, chunk) in [(b"JSON", text), (b"BIN\0", binary)] {
            glb.extend((chunk.len() as u32).to_le_bytes());
            glb.extend(kind);
            glb.extend(chunk);
        }
        glb
    }

    pub fn load(&self) -> Result<Model, ImportError> {
        load_glb("test.gltf", self.text().as_bytes())
    }

    /// Loads the model, and checks that it keeps every promise of `throng::model`.
    pub fn model(&self) -> Model {
        let model = self.load().unwrap();
        check_invariants(&model);
        model
    }

    /// Returns the message of the error with which import refuses the file.
    pub fn error(&self) -> String {
        self.load().unwrap_err().to_string()
    }
}

/// Returns the directions of a sphere's vertices, which are its smooth normals, and its triangles.
pub fn sphere(rings: u16, sectors: u16) -> (Vec<Vec3>, Vec<u16>) {
    let (mut directions, mut indices) = (Vec::new(), Vec::new());
    for ring in 0..=rings {
        for sector in 0..=sectors {
            let (sin, cos) = (PI * f32::from(ring) / f32::from(rings)).sin_cos();
            let (x, z) = (2.0 * PI * f32::from(sector) / f32::from(sectors)).sin_cos();
            directions.push(Vec3::new(sin * x, cos, sin * z));
            if ring < rings && sector < sectors {
                let [a, below] = [0, 1].map(|down| (ring + down) * (sectors + 1) + sector);
                indices.extend([a, below, a + 1, a + 1, below, below + 1]);
            }
        }
    }
    (directions, indices)
}

/// Returns the drawn vertices as indices of the file's first primitive, whose vertices must all differ. Import reorders
/// vertices and triangles and rotates corners, so the triangles are sorted here, each starting with its smallest index.
pub fn drawn_vertices(model: &Model) -> Vec<u32> {
    let geometry = &model.geometry;
    let vertices = &geometry.source_primitives[0].vertices;
    let of_file = |index: &u32| vertices.iter().position(|vertex| vertex == index).unwrap() as u32;
    let mut drawn: Vec<u32> = geometry.indices.iter().map(of_file).collect();
    if geometry.draw_ranges[0].topology == Topology::Triangles {
        let triangles = drawn.as_chunks_mut::<3>().0;
        for triangle in &mut *triangles {
            let smallest = (0..3).min_by_key(|&corner| triangle[corner]).unwrap();
            triangle.rotate_left(smallest);
        }
        triangles.sort_unstable();
    }
    drawn
}

/// Whether some warning contains `part`.
pub fn warns(model: &Model, part: &str) -> bool {
    model.warnings.iter().any(|warning| warning.contains(part))
}
