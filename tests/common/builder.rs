//! Small glTF files, built by the tests that need them.

use std::f32::consts::PI;

use base64::Engine;
use glam::{Vec2, Vec3};
use gltf::binary::{Glb, Header};
use serde_json::{Value, json};
use throng::model::import::{ImportError, load_glb};
use throng::model::{Geometry, Model, Topology};

pub use super::invariants::check_invariants;

pub const U8: u32 = 5121;
pub const I16: u32 = 5122;
pub const U16: u32 = 5123;
pub const U32: u32 = 5125;
pub const F32: u32 = 5126;

/// A file's JSON and its first buffer, which is entered in the JSON when the file is written.
#[derive(Clone)]
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
        json["buffers"] = json!([null]);
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
    pub fn draw(&mut self, primitive: Value) {
        self.push("meshes", json!({"primitives": [primitive]}));
        self.push("nodes", json!({"mesh": 0}));
        self.json["scenes"][0]["nodes"] = json!([0]);
    }

    /// Appends a texture that shows an image; returns its index.
    pub fn texture(&mut self, image: &image::RgbaImage) -> usize {
        self.encoded_texture(&encoded(image, image::ImageFormat::Png))
    }

    /// Appends a texture that shows an image of these bytes; returns its index.
    pub fn encoded_texture(&mut self, bytes: &[u8]) -> usize {
        let view = self.view(bytes);
        let source = self.push("images", json!({"bufferView": view}));
        self.push("textures", json!({"source": source}))
    }

    /// Makes the triangle skinned to nodes 1 and 2 (child of 1) by skin 0 without inverse binds.
    pub fn skinned(joints: [[u8; 4]; 3], weights: [[f32; 4]; 3]) -> Self {
        let mut gltf = Self::triangle();
        let joints = gltf.accessor(U8, "VEC4", 3, joints.as_flattened());
        gltf.primitive()["attributes"]["JOINTS_0"] = json!(joints);
        gltf.attribute("WEIGHTS_0", "VEC4", weights.as_flattened());
        gltf.json["nodes"][0]["skin"] = json!(0);
        gltf.push("nodes", json!({"name": "upper", "children": [2]}));
        gltf.push("nodes", json!({"name": "lower", "translation": [0, 1, 0]}));
        gltf.push("skins", json!({"joints": [1, 2]}));
        gltf.json["scenes"][0]["nodes"] = json!([0, 1]);
        gltf
    }

    /// Appends to the list at a path such as `scenes/0/nodes`; returns the index.
    pub fn push(&mut self, list: &str, element: Value) -> usize {
        let list = self.json.pointer_mut(&format!("/{list}")).and_then(Value::as_array_mut).unwrap();
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
        let accessor = json!({"bufferView": view, "componentType": component_type, "type": shape, "count": count});
        self.push("accessors", accessor)
    }

    /// Appends an accessor of floats; returns its index.
    pub fn f32s(&mut self, shape: &str, values: &[f32]) -> usize {
        let components =
            ["SCALAR", "VEC2", "VEC3", "VEC4"].iter().position(|own| *own == shape).map_or(16, |at| at + 1);
        self.accessor(F32, shape, values.len() / components, bytemuck::cast_slice(values))
    }

    /// Appends an accessor of integers that stand for numbers from -1 or 0 to 1; returns its index.
    pub fn normalized(&mut self, component_type: u32, shape: &str, count: usize, data: &[u8]) -> usize {
        let index = self.accessor(component_type, shape, count, data);
        self.json["accessors"][index]["normalized"] = json!(true);
        index
    }

    pub fn primitive(&mut self) -> &mut Value {
        &mut self.json["meshes"][0]["primitives"][0]
    }

    /// Gives the first primitive an attribute of floats; returns the accessor's index.
    pub fn attribute(&mut self, name: &str, shape: &str, values: &[f32]) -> usize {
        let index = self.f32s(shape, values);
        self.primitive()["attributes"][name] = json!(index);
        index
    }

    /// Appends a node with a box whose sides have eight vertices in common; returns its index.
    pub fn cuboid(&mut self, low: [f32; 3], high: [f32; 3], mut node: Value) -> usize {
        let corner = |k: usize| [0, 1, 2].map(|axis| if k >> axis & 1 == 1 { high[axis] } else { low[axis] });
        let position = self.f32s("VEC3", &(0..8).flat_map(corner).collect::<Vec<f32>>());
        // Counterclockwise from outside: -z, +z, -y, +y, -x, +x.
        let quads = [[0u16, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let indices = quads.map(|[a, b, c, d]| [a, b, c, a, c, d]);
        let indices = self.accessor(U16, "SCALAR", 36, bytemuck::cast_slice(indices.as_flattened()));
        let primitive = json!({"attributes": {"POSITION": position}, "indices": indices});
        node["mesh"] = json!(self.push("meshes", json!({"primitives": [primitive]})));
        self.push("nodes", node)
    }

    /// Appends an animation with one channel; returns its index.
    pub fn animation(&mut self, node: usize, path: &str, interpolation: &str, input: usize, output: usize) -> usize {
        let channels = json!([{"sampler": 0, "target": {"node": node, "path": path}}]);
        let samplers = json!([{"input": input, "output": output, "interpolation": interpolation}]);
        self.push("animations", json!({"channels": channels, "samplers": samplers}))
    }

    /// Appends an animation with one channel and these keys.
    pub fn animate(&mut self, node: usize, path: &str, interpolation: &str, times: &[f32], values: &[f32]) {
        let shape = match path {
            "rotation" => "VEC4",
            "weights" => "SCALAR",
            _ => "VEC3",
        };
        let (input, output) = (self.f32s("SCALAR", times), self.f32s(shape, values));
        self.animation(node, path, interpolation, input, output);
    }

    /// Returns the file as text, with its buffer as a data URI.
    pub fn text(&self) -> String {
        let mut json = self.json.clone();
        if json["buffers"][0].is_null() {
            let base64 = base64::engine::general_purpose::STANDARD.encode(&self.bytes);
            let uri = format!("data:application/octet-stream;base64,{base64}");
            json["buffers"][0] = json!({"byteLength": self.bytes.len(), "uri": uri});
        }
        json.to_string()
    }

    pub fn glb(&self) -> Vec<u8> {
        let mut json = self.json.clone();
        json["buffers"][0] = json!({"byteLength": self.bytes.len()});
        // The length is computed when the file is written.
        let header = Header { magic: *b"glTF", version: 2, length: 0 };
        let (json, bin) = (json.to_string().into_bytes().into(), Some(self.bytes.as_slice().into()));
        Glb { header, json, bin }.to_vec().unwrap()
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

    /// Loads the model as [`Self::model`] does, and asserts that each of these is a part of a warning.
    pub fn model_that_warns(&self, parts: &[&str]) -> Model {
        let model = self.model();
        for part in parts {
            assert!(warns(&model, part), "{part}: {:?}", model.warnings);
        }
        model
    }

    pub fn model_without_warnings(&self) -> Model {
        let model = self.model();
        assert_eq!(model.warnings, [""; 0]);
        model
    }

    pub fn error(&self) -> String {
        self.load().unwrap_err().to_string()
    }

    /// Sets the value at a path such as `nodes/0/mesh`. Null removes it.
    pub fn set(&mut self, path: &str, value: Value) {
        fn member<'json>(value: &'json mut Value, key: &str) -> &'json mut Value {
            match key.parse::<usize>() {
                Ok(index) => &mut value[index],
                Err(_) => &mut value[key],
            }
        }
        let (parent, last) = path.rsplit_once('/').unwrap_or(("", path));
        let parent = parent.split_terminator('/').fold(&mut self.json, member);
        if value.is_null() {
            parent.as_object_mut().unwrap().remove(last);
        } else {
            *member(parent, last) = value;
        }
    }

    pub fn with(&self, changes: &[(&str, Value)]) -> Self {
        let mut copy = self.clone();
        changes.iter().for_each(|(path, value)| copy.set(path, value.clone()));
        copy
    }

    pub fn with_buffer_at(&self, uri: &str) -> Self {
        self.with(&[("buffers/0", json!({"byteLength": self.bytes.len(), "uri": uri}))])
    }

    /// Begins a table of mistakes, for each of which import says something that begins with `at`.
    pub fn mistakes<'gltf>(&'gltf self, at: &'gltf str) -> Mistakes<'gltf> {
        Mistakes { gltf: self, at }
    }

    /// Loads copies with one wrong byte, each with the next of these bits flipped: decoders must survive any stream.
    /// Returns the number of copies that are refused, and of those that are read.
    pub fn load_damaged(&self, flips: [u8; 3]) -> [usize; 2] {
        let mut counts = [0; 2];
        for (at, bits) in flips.into_iter().cycle().take(self.bytes.len()).enumerate() {
            let mut copy = self.clone();
            copy.bytes[at] ^= bits;
            let model = copy.load();
            counts[usize::from(model.is_ok())] += 1;
            if let Ok(Model { geometry, .. }) = model {
                assert!(geometry.indices.iter().all(|&index| (index as usize) < geometry.vertex_count()));
            }
        }
        counts
    }
}

/// A file, and what import says first about mistakes in it.
pub struct Mistakes<'gltf> {
    gltf: &'gltf Gltf,
    at: &'gltf str,
}

impl Mistakes<'_> {
    /// Asserts for each case that a copy with another value at a path is read without the broken part, and warns with this
    /// message. An ellipsis stands for the rest of a message.
    pub fn are_left_out<const N: usize>(&self, cases: [(&str, Value, &str); N]) {
        for (path, value, message) in cases {
            let warnings = self.gltf.with(&[(path, value.clone())]).model().warnings;
            let expected = format!("{}{}", self.at, message.trim_end_matches('…'));
            let tells = |warning: &String| warning.starts_with(&expected) && warning.ends_with("left out");
            assert!(warnings.iter().any(tells), "{path}: {value}: {warnings:?}");
        }
    }

    /// Asserts for each case that such a copy is refused with this message.
    pub fn are_refused<const N: usize>(&self, cases: [(&str, Value, &str); N]) {
        for (path, value, message) in cases {
            let error = self.gltf.with(&[(path, value.clone())]).error();
            let expected = format!("test.gltf: {}{message}", self.at);
            match expected.strip_suffix('…') {
                Some(start) => assert!(error.starts_with(start), "{path}: {value}: {error}"),
                None => assert_eq!(error, expected, "{path}: {value}"),
            }
        }
    }
}

pub fn encoded(image: &image::RgbaImage, format: image::ImageFormat) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// Returns the directions of a sphere's vertices, which are its smooth normals, and its triangles.
pub fn sphere(rings: u16, sectors: u16) -> (Vec<Vec3>, Vec<u16>) {
    let (places, triangles) = grid(sectors.into(), rings.into());
    let direction = |place: &Vec2| {
        let (sin, cos) = (PI * place.y / f32::from(rings)).sin_cos();
        // Backwards, because the triangles of the grid are then seen from outside.
        let (x, z) = (-2.0 * PI * place.x / f32::from(sectors)).sin_cos();
        Vec3::new(sin * x, cos, sin * z)
    };
    let indices = triangles.into_flattened().into_iter().map(|index| index as u16);
    (places.iter().map(direction).collect(), indices.collect())
}

/// Returns the places of the vertices of a grid of unit squares, row by row, and its triangles.
pub fn grid(columns: u32, rows: u32) -> (Vec<Vec2>, Vec<[u32; 3]>) {
    let across = columns + 1;
    let places = (0..across * (rows + 1)).map(|k| Vec2::new((k % across) as f32, (k / across) as f32));
    let square = |k: u32| {
        let first = k / columns * across + k % columns;
        [[first, first + 1, first + across], [first + 1, first + across + 1, first + across]]
    };
    (places.collect(), (0..columns * rows).flat_map(square).collect())
}

/// Returns all triangles by their corners in thousandths, sorted. The smallest corner comes first, which keeps the winding.
pub fn sorted_triangles(geometry: &Geometry) -> Vec<[[i32; 3]; 3]> {
    let corner = |&index: &u32| (1000.0 * geometry.positions[index as usize]).round().as_ivec3().to_array();
    let turned = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.each_ref().map(corner);
        [[a, b, c], [b, c, a], [c, a, b]].into_iter().min().unwrap()
    };
    let mut triangles: Vec<_> = geometry.indices.as_chunks().0.iter().map(turned).collect();
    triangles.sort_unstable();
    triangles
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

pub fn warns(model: &Model, part: &str) -> bool {
    model.warnings.iter().any(|warning| warning.contains(part))
}
