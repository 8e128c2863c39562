//! From the JSON text to the serde structs of `gltf::json`.
//!
//! Each list is parsed element by element, so that an error names the element. The structs refuse some valid files, so the
//! properties that they stumble over, and that import does not need, are first removed or filled in. Nothing else of the
//! `gltf` crate is used: its readers panic or hang on malformed files.
//!
//! Elements are parsed straight from the text: going through [`Value`]s would take most of the import time of a model with many
//! clips.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use gltf::json::Root;
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::container::check_json_size;
use super::extensions;
use super::mend::{Mended, index, integer, parse_value};
use super::roles::{DeclaredRoles, declared_roles};
use crate::model::import::error::{Fault, Result, Warnings};
use crate::model::import::limits::{MAX_JSON_VALUES, MAX_LIST_ELEMENTS};
use crate::model::{FileCamera, SourceFile};

/// The target node that replaces the target of a channel that cannot be followed, after a warning.
pub const NOWHERE: u32 = u32::MAX;

pub struct ParsedJson {
    /// All lists that import reads. No index in them has been checked yet.
    pub root: Root,
    /// An estimate of the number of JSON values, never too low.
    pub value_count: usize,
    /// Facts for reports, without the fields that need other files.
    pub source: SourceFile,
    pub roles: Option<DeclaredRoles>,
}

/// Parses the JSON text, after checking its size, its version and the extensions that it requires.
pub fn parse(json: &[u8], warnings: &mut Warnings) -> Result<ParsedJson> {
    check_json_size(json.len() as u64)?;
    let value_count = check_value_count(json)?;
    let (object, outline) = parse_outline(json)?;
    check_version(&object)?;
    let extensions = extensions::check(&object, warnings)?;
    let source = SourceFile { extensions, ..facts(&object) };
    let roles = declared_roles(&object, warnings);
    warn_about_unmorphed(&object, warnings);
    let mut mended = Mended::default();
    let mut root = parse_root(&object, &outline, &mut mended, warnings)?;
    mended.count_empty(&mut root);
    mended.warn(warnings);
    Ok(ParsedJson { root, value_count, source, roles })
}

/// Returns the facts that only reports show, but extensions and images, which others fill in. A malformed property is absent.
fn facts(root: &Map<String, Value>) -> SourceFile {
    let of_asset = |key: &str| root.get("asset")?.get(key)?.as_str().map(str::to_owned);
    let scenes = entry_names(root.get("scenes"));
    let shown_scene = match root.get("scene").and_then(index) {
        _ if scenes.is_empty() => None,
        // The first scene is the default, as in `motion::scene`.
        named => u32::try_from(named.unwrap_or(0)).ok(),
    };
    let lights = root.get("extensions").and_then(|all| all.get("KHR_lights_punctual")?.get("lights"));
    SourceFile {
        generator: of_asset("generator"),
        copyright: of_asset("copyright"),
        scenes,
        shown_scene,
        meshes: entry_names(root.get("meshes")),
        attributes: attributes(root.get("meshes")),
        cameras: cameras(root.get("cameras")),
        lights: entry_names(lights),
        ..SourceFile::default()
    }
}

/// Returns the names of the attributes of all primitives. Hostile files may have many, so the list ends somewhere.
fn attributes(meshes: Option<&Value>) -> BTreeSet<String> {
    const MOST: usize = 64;
    let primitives = elements(meshes).flat_map(|mesh| elements(mesh.get("primitives")));
    let names = primitives.filter_map(|primitive| primitive.get("attributes")?.as_object()).flat_map(Map::keys);
    let mut seen = HashSet::new();
    names.filter(|&name| seen.insert(name)).take(MOST).cloned().collect()
}

/// Returns the cameras without their nodes.
fn cameras(list: Option<&Value>) -> Vec<FileCamera> {
    let fov = |camera: &Value| camera.get("perspective")?.get("yfov")?.as_f64();
    let is_possible = |fov: &f64| (0.01..3.1).contains(fov);
    let camera = |(camera, name)| FileCamera {
        name,
        node: None,
        vertical_fov_radians: fov(camera).filter(is_possible).map(|radians| radians as f32),
    };
    elements(list).zip(entry_names(list)).map(camera).collect()
}

fn entry_names(list: Option<&Value>) -> Vec<Option<String>> {
    let name = |element: &Value| element.get("name").and_then(Value::as_str).map(str::to_owned);
    elements(list).map(name).collect()
}

/// Returns the elements of a list; none of anything else.
fn elements(list: Option<&Value>) -> impl Iterator<Item = &Value> {
    list.and_then(Value::as_array).into_iter().flatten()
}

/// A loader of glTF 2.0 reads every version 2.x whose `minVersion` it knows (3.2).
fn check_version(root: &Map<String, Value>) -> Result<()> {
    let asset = root.get("asset").ok_or_else(|| Fault::content("asset", "is missing; is this a glTF 2.0 file?"))?;
    let version = asset.get("version").and_then(Value::as_str).unwrap_or("none");
    if !version.starts_with("2.") {
        return Err(Fault::unsupported("asset.version", format_args!("{version:?}, expected 2.x")));
    }
    match asset.get("minVersion").and_then(Value::as_str) {
        Some(minimum) if minimum != "2.0" => {
            Err(Fault::unsupported("asset.minVersion", format_args!("{minimum:?}, but this program knows 2.0")))
        }
        _ => Ok(()),
    }
}

/// Removes or fills in properties of an animation that the serde structs refuse although the specification allows them.
fn relax_animation(index: usize, animation: &mut Value, warnings: &mut Warnings) {
    name_interpolations(index, animation, warnings);
    let Some(Value::Array(channels)) = animation.get_mut("channels") else { return };
    let (mut pointers, mut aimless) = (0_usize, 0_usize);
    for channel in channels {
        let target = channel.get("target");
        let property = |name: &str| target.and_then(|target| target.get(name));
        let is_pointer = property("path").and_then(Value::as_str) == Some("pointer");
        let has_sampler = channel.get("sampler").is_some();
        let is_aimless = !is_pointer && (property("node").is_none() || property("path").is_none() || !has_sampler);
        pointers += usize::from(is_pointer);
        aimless += usize::from(is_aimless);
        // The channel stays, because messages name other channels by their index.
        if let (true, Value::Object(channel)) = (is_pointer || is_aimless, channel) {
            channel.insert("target".to_owned(), serde_json::json!({ "node": NOWHERE, "path": "" }));
            channel.insert("sampler".to_owned(), 0.into());
        }
    }
    let mut warn = |count, problem| warnings.add_count(format_args!("animations[{index}].channels"), count, problem);
    warn(pointers, "channels have JSON pointers as targets (KHR_animation_pointer), which are not supported");
    warn(aimless, "channels without a sampler, a target node or a path are ignored");
}

/// Old exporters write the number of a constant instead of the name of an interpolation: those of OpenGL's filters, of
/// three.js, or an enumeration whose 0 is the default.
fn name_interpolations(index: usize, animation: &mut Value, warnings: &mut Warnings) {
    const STEPS: [i64; 2] = [9728, 2300];
    let samplers = animation.get_mut("samplers").and_then(Value::as_array_mut).into_iter().flatten();
    let mut count = 0_usize;
    for interpolation in samplers.filter_map(|sampler| sampler.get_mut("interpolation")) {
        if let Some(number) = integer(interpolation) {
            *interpolation = Value::from(if STEPS.contains(&number) { "STEP" } else { "LINEAR" });
            count += 1;
        }
    }
    let problem = "have a number as interpolation, where a name belongs; it is read as LINEAR or STEP";
    warnings.add_count(format_args!("animations[{index}].samplers"), count, problem);
}

/// Counts the separators of values outside strings. This comes before parsing: a value takes many times the memory of its text.
fn check_value_count(json: &[u8]) -> Result<usize> {
    let mut count = 1_usize;
    let mut rest = json;
    // Each step takes the text before the next string, and skips the string.
    while !rest.is_empty() {
        let (plain, quoted) = rest.split_at(rest.iter().position(|&byte| byte == b'"').unwrap_or(rest.len()));
        count += plain.iter().filter(|&&byte| matches!(byte, b',' | b'[' | b'{')).count();
        rest = after_string(quoted);
    }
    if count > MAX_JSON_VALUES {
        return Err(Fault::NotGltf(format!("about {count} values in the JSON; at most {MAX_JSON_VALUES} are read")));
    }
    Ok(count)
}

/// Returns the text after the string at the start of `json`; nothing if the string does not end.
fn after_string(json: &[u8]) -> &[u8] {
    let mut rest = json.get(1..).unwrap_or_default();
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) {
        // A backslash escapes the byte after it.
        let (is_end, length) = if rest[at] == b'"' { (true, at + 1) } else { (false, at + 2) };
        rest = rest.get(length..).unwrap_or_default();
        if is_end {
            return rest;
        }
    }
    &[]
}

/// Morph targets may change any attribute (3.7.2.2), but the serde structs know only three.
fn warn_about_unmorphed(root: &Map<String, Value>, warnings: &mut Warnings) {
    for (index, mesh) in elements(root.get("meshes")).enumerate() {
        let targets = elements(mesh.get("primitives")).flat_map(|primitive| elements(primitive.get("targets")));
        let attributes = targets.filter_map(Value::as_object).flat_map(Map::keys);
        for name in attributes.filter(|name| !["POSITION", "NORMAL", "TANGENT"].contains(&name.as_str())) {
            let name = name.escape_debug();
            warnings.add(format_args!("meshes[{index}]"), format_args!("morph targets of {name} are not supported"));
        }
    }
}

/// Lists that can have thousands of elements, and of which nothing is needed as a [`Value`].
const LONG_LISTS: [&str; 7] = ["accessors", "animations", "buffers", "bufferViews", "images", "materials", "nodes"];

/// The text of each property of the JSON object.
type Outline<'f> = BTreeMap<String, &'f RawValue>;

/// Parses the JSON object without its long lists. Also returns the text of all properties.
fn parse_outline(json: &[u8]) -> Result<(Map<String, Value>, Outline<'_>)> {
    let outline: Outline = serde_json::from_slice(json).map_err(|error| match error.classify() {
        // Valid JSON, but not an object.
        serde_json::error::Category::Data => Fault::NotGltf("the JSON is not an object".to_owned()),
        _ => Fault::Json(error),
    })?;
    let short = outline.iter().filter(|(key, _)| !LONG_LISTS.contains(&key.as_str()));
    let parse = |(key, text): (&String, &&RawValue)| Ok((key.clone(), serde_json::from_str(text.get())?));
    Ok((short.map(parse).collect::<Result<_>>()?, outline))
}

fn parse_root(
    object: &Map<String, Value>,
    outline: &Outline,
    mended: &mut Mended,
    warnings: &mut Warnings,
) -> Result<Root> {
    let scene = match object.get("scene") {
        Some(value) if integer(value) == Some(-1) => {
            mended.count("scene", "the index -1 is read as none".to_owned());
            None
        }
        Some(value) => Some(parse_value(value).map_err(|error| Fault::content("scene", error))?),
        None => None,
    };
    Ok(Root {
        accessors: parse_list(outline, "accessors", mended, warnings)?,
        animations: parse_list(outline, "animations", mended, warnings)?,
        buffers: parse_list(outline, "buffers", mended, warnings)?,
        buffer_views: parse_list(outline, "bufferViews", mended, warnings)?,
        images: parse_list(outline, "images", mended, warnings)?,
        materials: parse_list(outline, "materials", mended, warnings)?,
        meshes: parse_list(outline, "meshes", mended, warnings)?,
        nodes: parse_list(outline, "nodes", mended, warnings)?,
        samplers: parse_list(outline, "samplers", mended, warnings)?,
        scene,
        scenes: parse_list(outline, "scenes", mended, warnings)?,
        skins: parse_list(outline, "skins", mended, warnings)?,
        textures: parse_list(outline, "textures", mended, warnings)?,
        ..Root::default()
    })
}

/// Parses a list from its text. An element that serde refuses is mended and parsed again; the second error names it.
fn parse_list<T: DeserializeOwned + Send>(
    outline: &Outline,
    key: &'static str,
    mended: &mut Mended,
    warnings: &mut Warnings,
) -> Result<Vec<T>> {
    let Some(text) = outline.get(key) else { return Ok(Vec::new()) };
    let elements: Vec<&RawValue> =
        serde_json::from_str(text.get()).map_err(|_| Fault::content(key, "expected an array"))?;
    let count = elements.len();
    if count > MAX_LIST_ELEMENTS {
        return Err(Fault::unsupported(key, format_args!("{count} elements, at most {MAX_LIST_ELEMENTS} are read")));
    }
    // The serde struct of a channel accepts this path as an unknown one, but it needs its own warning.
    let is_plain = |element: &RawValue| !element.get().contains("\"pointer\"");
    let parse = |element: &&RawValue| if is_plain(element) { serde_json::from_str(element.get()).ok() } else { None };
    // Most elements take about a microsecond, so a thread gets at least this many bytes of them.
    const CHUNK_BYTES: usize = 1 << 16;
    let chunk = (CHUNK_BYTES * count / text.get().len()).max(1);
    let parsed: Vec<Option<T>> = match count > chunk {
        true => elements.par_iter().with_min_len(chunk).map(parse).collect(),
        false => elements.iter().map(parse).collect(),
    };
    let settle = |(index, (parsed, element)): (usize, (Option<T>, &&RawValue))| {
        if let Some(parsed) = parsed {
            return Ok(parsed);
        }
        let mut value: Value = serde_json::from_str(element.get())?;
        mended.mend(key, &mut value);
        match (key, &mut value) {
            ("animations", animation) => relax_animation(index, animation, warnings),
            // The struct needs the list of nodes, which the specification does not.
            ("scenes", Value::Object(scene)) => _ = scene.entry("nodes").or_insert(Value::Array(Vec::new())),
            _ => {}
        }
        serde_json::from_value(value).map_err(|error| Fault::content(format_args!("{key}[{index}]"), error))
    };
    parsed.into_iter().zip(&elements).enumerate().map(settle).collect()
}
