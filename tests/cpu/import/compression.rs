//! Tests of buffer views compressed by meshoptimizer, which the tests encode with its own encoders.

use glam::{Vec3, Vec4};
use meshopt::{EncodeExpMode, encode_filter_color, encode_filter_exp, encode_filter_oct, encode_filter_quat};
use serde_json::{Value, json};
use throng::model::Geometry;

use crate::common::builder::{F32, Gltf, I16, U8, U16, U32, sorted_triangles};

const EXT: &str = "EXT_meshopt_compression";
const KHR: &str = "KHR_meshopt_compression";

/// A compressed view: the properties of its extension, under `name`, and the stream.
struct Compressed {
    name: &'static str,
    says: Value,
    stream: Vec<u8>,
}

impl Compressed {
    fn attributes<T>(name: &'static str, version: i32, elements: &[T]) -> Self {
        let stream = meshopt::encode_vertex_buffer_level(elements, 2, Some(version)).unwrap();
        let says = json!({"mode": "ATTRIBUTES", "count": elements.len(), "byteStride": size_of::<T>()});
        Self { name, says, stream }
    }

    fn filtered(mut self, filter: &str) -> Self {
        self.says["filter"] = json!(filter);
        self
    }

    fn indices(mode: &str, stride: usize, indices: &[u32]) -> Self {
        let encode = if mode == "TRIANGLES" { meshopt::encode_index_buffer } else { meshopt::encode_index_sequence };
        let stream = encode(indices, 1 + *indices.iter().max().unwrap() as usize).unwrap();
        Self { name: EXT, says: json!({"mode": mode, "count": indices.len(), "byteStride": stride}), stream }
    }

    /// Appends the view, whose plain bytes would be in buffer 1, and an accessor of all of it.
    fn push(self, gltf: &mut Gltf, component_type: u32, shape: &str, normalized: bool) -> usize {
        let Self { name, mut says, stream } = self;
        let (count, stride) = (says["count"].as_u64().unwrap(), says["byteStride"].as_u64().unwrap());
        let index = gltf.view(&stream);
        let view = &mut gltf.json["bufferViews"][index];
        for key in ["buffer", "byteOffset", "byteLength"] {
            says[key] = view[key].take();
        }
        *view = json!({"buffer": 1, "byteLength": count * stride, "extensions": {name: says}});
        // Views of indices have no byteStride.
        if shape != "SCALAR" {
            view["byteStride"] = json!(stride);
        }
        let accessor = json!({"bufferView": index, "componentType": component_type, "type": shape, "count": count});
        let accessor = gltf.push("accessors", accessor);
        gltf.json["accessors"][accessor]["normalized"] = json!(normalized);
        accessor
    }
}

/// Adds buffer 1, a placeholder that cannot be read.
fn with_placeholder(mut gltf: Gltf) -> Gltf {
    let extensions = json!({EXT: {"fallback": true}});
    gltf.push("buffers", json!({"byteLength": 1 << 20, "uri": "no/such/file.bin", "extensions": extensions}));
    gltf.json["extensionsRequired"] = json!([EXT, KHR]);
    gltf.json["extensionsUsed"] = json!([EXT, KHR]);
    gltf
}

fn strip(columns: u32) -> (Vec<[f32; 3]>, Vec<u32>) {
    let positions = (0..=columns).flat_map(|x| [[x as f32, 0.0, 0.0], [x as f32, 1.0, 0.5]]).collect();
    let quad = |x: u32| [2 * x, 2 * x + 2, 2 * x + 1, 2 * x + 1, 2 * x + 2, 2 * x + 3];
    (positions, (0..columns).flat_map(quad).collect())
}

/// Makes a strip whose positions and indices are compressed by these extensions, versions and modes.
fn compressed_strip(columns: u32, (name, version): (&'static str, i32), (mode, stride): (&str, usize)) -> Gltf {
    let (positions, triangles) = strip(columns);
    let mut gltf = with_placeholder(Gltf::new());
    let position = Compressed::attributes(name, version, &positions).push(&mut gltf, F32, "VEC3", false);
    let indices = Compressed::indices(mode, stride, &triangles);
    assert!(indices.stream.len() < 2 * triangles.len(), "{mode} is compressed");
    let indices = indices.push(&mut gltf, if stride == 2 { U16 } else { U32 }, "SCALAR", false);
    gltf.draw(json!({"attributes": {"POSITION": position}, "indices": indices}));
    gltf
}

fn short_strip(columns: u32) -> Gltf {
    compressed_strip(columns, (EXT, 0), ("TRIANGLES", 2))
}

#[test]
fn positions_and_indices_of_every_mode_come_back() {
    let (positions, triangles) = strip(300);
    // The codec may rotate the corners of a triangle, which changes neither the triangle nor its winding.
    let positions = positions.into_iter().map(Vec3::from).collect();
    let expected = sorted_triangles(&Geometry { positions, indices: triangles, ..Geometry::default() });
    for codec in [(EXT, 0), (KHR, 0), (KHR, 1)] {
        for mode in [("TRIANGLES", 2), ("TRIANGLES", 4), ("INDICES", 2), ("INDICES", 4)] {
            let geometry = compressed_strip(300, codec, mode).model_without_warnings().geometry;
            assert_eq!(sorted_triangles(&geometry), expected, "{codec:?} {mode:?}");
        }
    }
    // An extension that is used and not required is read as well.
    let used = short_strip(20).with(&[("extensionsRequired", Value::Null)]);
    assert_eq!(used.model_without_warnings().geometry.triangle_count(), 40);
}

/// Checks every filter, in both widths if it has two. The tolerance is one step of the stored numbers.
#[test]
fn filters_are_undone() {
    let (positions, triangles) = strip(30);
    let angles = (0..positions.len()).map(|index| (index as f32 * 0.37).sin_cos());
    let units: Vec<[f32; 4]> = angles.map(|(sin, cos)| [cos * 0.6, sin * 0.6, 0.8, 0.0]).collect();
    let share = |index: usize| index as f32 / 64.0;
    let colors: Vec<[f32; 4]> = (0..positions.len()).map(|i| [share(i), 0.25, 1.0 - share(i), 1.0]).collect();
    let narrow = Compressed::attributes(EXT, 0, &encode_filter_oct::<i8>(&units, 8));
    let wide = Compressed::attributes(KHR, 1, &encode_filter_oct::<i16>(&units, 12));
    let narrow_color = Compressed::attributes(KHR, 1, &encode_filter_color::<u8>(&colors, 8));
    let wide_color = Compressed::attributes(KHR, 1, &encode_filter_color::<u16>(&colors, 12));
    for (normal, component_type, tolerance, color, color_type) in
        [(narrow, 5120, 1.5 / 127.0, wide_color, U16), (wide, I16, 1.5 / 2047.0, narrow_color, U8)]
    {
        let mut gltf = with_placeholder(Gltf::new());
        let exponents = encode_filter_exp(&positions, 23, EncodeExpMode::Separate);
        let position = Compressed::attributes(EXT, 0, &exponents).filtered("EXPONENTIAL");
        let position = position.push(&mut gltf, F32, "VEC3", false);
        // Four components are stored, and three are used.
        let normal = normal.filtered("OCTAHEDRAL").push(&mut gltf, component_type, "VEC3", true);
        let color = color.filtered("COLOR").push(&mut gltf, color_type, "VEC4", true);
        let indices = Compressed::indices("TRIANGLES", 2, &triangles).push(&mut gltf, U16, "SCALAR", false);
        let attributes = json!({"POSITION": position, "NORMAL": normal, "COLOR_0": color});
        gltf.draw(json!({"attributes": attributes, "indices": indices}));
        let geometry = gltf.model().geometry;
        assert_eq!(geometry.vertex_count(), positions.len());
        for (vertex, found) in geometry.positions.iter().enumerate() {
            // The stored mantissa has 23 bits and a sign.
            let near = |candidate: &[f32; 3]| Vec3::from(*candidate).abs_diff_eq(*found, 30.0 / (1 << 21) as f32);
            let source = positions.iter().position(near).unwrap();
            let want = Vec4::from(units[source]).truncate();
            assert!(geometry.normals[vertex].abs_diff_eq(want, tolerance), "{} for {want}", geometry.normals[vertex]);
            for (channel, byte) in geometry.colors[vertex].into_iter().enumerate() {
                let want = colors[source][channel] * 255.0;
                assert!((f32::from(byte) - want).abs() <= 2.0, "{byte} for {want}");
            }
        }
    }
}

#[test]
fn filtered_quaternions_animate() {
    let rotations = [0, 1, 2, 3, 4, 5, 6, 7].map(|key| (0.1 * key as f32).sin_cos()).map(|(s, c)| [0.0, s, 0.0, c]);
    let times = [0.0f32, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75];
    let mut gltf = with_placeholder(Gltf::triangle());
    let input = Compressed::attributes(EXT, 0, &times).push(&mut gltf, F32, "SCALAR", false);
    let quaternions = encode_filter_quat(&rotations, 16);
    let output = Compressed::attributes(EXT, 0, &quaternions).filtered("QUATERNION").push(&mut gltf, I16, "VEC4", true);
    gltf.animation(0, "rotation", "LINEAR", input, output);
    let clip = &gltf.model().clips[0];
    assert_eq!(clip.timelines[0], times);
    assert_eq!(clip.rotations[0].values.len(), rotations.len());
    for (found, want) in clip.rotations[0].values.iter().zip(&rotations) {
        // The components have 16 bits; one is computed from the three others.
        assert!((*found).abs_diff_eq(Vec4::from(*want), 1e-4), "{found} for {want:?}");
    }
}

#[test]
fn properties_are_checked() {
    let strip = short_strip(20);
    let refused = |view: usize, key: &str, value: Value, problem: &str| {
        let path = format!("bufferViews/{view}/extensions/{EXT}/{key}");
        strip.mistakes(&format!("bufferViews[{view}].extensions.{EXT}: ")).are_refused([(&path, value, problem)]);
    };
    let attributes = "in mode Attributes, expected a multiple of 4 from 4 to 256";
    for stride in [0, 2, 6, 13, 260] {
        refused(0, "byteStride", json!(stride), &format!("byteStride {stride} {attributes}"));
    }
    refused(1, "byteStride", json!(12), "byteStride 12 in mode Triangles, expected 2 or 4");
    refused(1, "count", json!(119), "count 119 in mode Triangles, expected a multiple of three");
    let lengths = "elements of 12 bytes, but the bufferView has byteLength 504";
    for count in [0, 41, 1_u64 << 62] {
        refused(0, "count", json!(count), &format!("{count} {lengths}"));
    }
    for filter in ["Octahedral", "Quaternion", "Color"] {
        let problem = format!("filter {filter} is not valid for mode Attributes and byteStride 12 in {EXT}");
        refused(0, "filter", json!(filter.to_uppercase()), &problem);
    }
    let problem = format!("filter Exponential is not valid for mode Triangles and byteStride 2 in {EXT}");
    refused(1, "filter", json!("EXPONENTIAL"), &problem);
    let modes = "expected one of `ATTRIBUTES`, `TRIANGLES`, `INDICES`";
    refused(0, "mode", json!("POINTS"), &format!("unknown variant `POINTS`, {modes}"));
    refused(0, "buffer", json!(-1), "invalid value: integer `-1`, expected usize");
}

#[test]
fn the_compressed_bytes_must_be_there_and_decode() {
    let strip = short_strip(20);
    let [length, foreign_length] =
        [0, 1].map(|view| strip.json["bufferViews"][view]["extensions"][EXT]["byteLength"].as_u64().unwrap());
    let of = |view: usize, key: &str| format!("bufferViews/{view}/extensions/{EXT}/{key}");
    let cut = format!(": a stream of {} bytes in mode Attributes is damaged: …", length - 1);
    let far = format!(": {length} bytes from byte 18446744073709551615…");
    strip.mistakes("bufferViews[0]").are_refused([
        (&of(0, "byteLength"), json!(length - 1), &cut),
        (&of(0, "byteOffset"), json!(u64::MAX), &far),
        (&of(0, "buffer"), json!(9), ": buffers[9] does not exist; the file has 2"),
        (&of(0, "buffer"), json!(1), ": buffers[1] has no bytes…"),
        ("bufferViews/0/byteLength", json!(3_u64 << 30), ": 3221225472 more bytes of decompressed data…"),
    ]);
    let foreign = format!(": a stream of {foreign_length} bytes in mode Triangles is damaged: …");
    strip.mistakes("bufferViews[1]").are_refused([(&of(1, "byteOffset"), json!(0), &foreign)]);
    // A few bytes that claim a large size are refused before memory is allocated.
    let problem = format!("bufferViews[0]: {length} bytes cannot hold the 12582912 bytes of the view");
    let large = strip.with(&[(&of(0, "count"), json!(1 << 20))]);
    large.mistakes("").are_refused([("bufferViews/0/byteLength", json!(12 << 20), &problem)]);
}

/// The result for a damaged stream is checked like any other data.
#[test]
fn damaged_streams_are_refused_or_read_but_never_fatal() {
    let [refused, accepted] = short_strip(40).load_damaged([0x01, 0x80, 0xff]);
    assert!(refused > 30 && accepted > 30, "{refused} refused, {accepted} accepted: both happen");
}
