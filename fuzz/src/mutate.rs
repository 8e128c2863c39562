//! Mutations that keep a model file readable: a change in the JSON, with the container's lengths updated.
//!
//! Flipped bytes mostly break the JSON or the GLB's lengths, so that the readers behind are never reached. The target
//! `import` therefore takes every other mutation from here.

use serde_json::{Map, Value, json};

/// The size of the GLB header and of the first chunk header, 12 + 8 bytes.
const GLB_JSON_AT: usize = 20;

/// Returns a changed copy of `file`, or `None` if it is not a model file or its JSON cannot be parsed. The same seed
/// makes the same change.
pub fn mutate(file: &[u8], seed: u32) -> Option<Vec<u8>> {
    let mut random = Random(u64::from(seed) << 1 | 1);
    if file.starts_with(b"glTF") {
        let json_bytes = u32::from_le_bytes(file.get(12..16)?.try_into().ok()?) as usize;
        let json_end = GLB_JSON_AT.checked_add(json_bytes)?;
        let json = mutate_json(file.get(GLB_JSON_AT..json_end)?, &mut random)?;
        return Some(glb(&json, file.get(json_end + 8..)));
    }
    mutate_json(file, &mut random)
}

fn mutate_json(text: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut root: Value = serde_json::from_slice(text).ok()?;
    let pointers = pointers(&root);
    // Mostly there is one change, so that the fuzzer can learn its effect.
    let changes = if random.below(4) == 0 { 3 } else { 1 };
    for _ in 0..changes {
        let from = root.pointer(random.choose(&pointers)?).cloned().unwrap_or_default();
        // An earlier change may have removed this value.
        if let Some(value) = root.pointer_mut(random.choose(&pointers)?) {
            change(value, from, random);
        }
    }
    Some(root.to_string().into_bytes())
}

/// Returns the JSON pointers of all values.
fn pointers(root: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = vec![(root, String::new())];
    while let Some((value, pointer)) = left.pop() {
        match value {
            Value::Array(list) => left.extend(list.iter().enumerate().map(|(k, v)| (v, format!("{pointer}/{k}")))),
            Value::Object(map) => left.extend(map.iter().map(|(key, v)| {
                let key = key.replace('~', "~0").replace('/', "~1");
                (v, format!("{pointer}/{key}"))
            })),
            _ => {}
        }
        found.push(pointer);
    }
    found
}

/// Changes one value. `from` is another value of the file.
fn change(value: &mut Value, from: Value, random: &mut Random) {
    match value {
        Value::Array(list) if random.below(4) > 0 => change_list(list, from, random),
        Value::Object(map) if random.below(4) > 0 => change_object(map, from, random),
        Value::Number(number) if random.below(2) == 0 => {
            let number = number.as_f64().unwrap_or_default();
            let changed = [number + 1.0, number - 1.0, number * 2.0, -number, number + 0.5][random.below(5)];
            // Integers stay integers, because most of them are indices.
            *value =
                if changed.fract() == 0.0 && changed.abs() < 1e15 { json!(changed as i64) } else { json!(changed) };
        }
        _ if random.below(2) == 0 => *value = from,
        _ => *value = interesting(random),
    }
}

fn change_list(list: &mut Vec<Value>, from: Value, random: &mut Random) {
    let (count, at) = (list.len(), random.below(list.len() + 1));
    match random.below(5) {
        0 => list.insert(at, from),
        1 => list.truncate(at),
        2 if at < count => list.swap(at, 0),
        3 if at < count => drop(list.remove(at)),
        _ => list.extend(list.get(at).cloned()),
    }
}

fn change_object(map: &mut Map<String, Value>, from: Value, random: &mut Random) {
    let keys: Vec<String> = map.keys().cloned().collect();
    match (random.below(3), random.choose(&keys)) {
        (0, Some(key)) => drop(map.remove(key)),
        (1, Some(key)) => drop(map.insert(key.clone(), from)),
        _ => {
            // Adds the properties of another object, or a property whose name is in the list.
            if let Value::Object(other) = from {
                map.extend(other);
            } else {
                map.insert(KEYS[random.below(KEYS.len())].to_owned(), from);
            }
        }
    }
}

/// Property names that small files seldom have and that import looks for.
const KEYS: [&str; 24] = [
    "sparse",
    "skin",
    "weights",
    "matrix",
    "rotation",
    "translation",
    "scale",
    "indices",
    "targets",
    "mode",
    "material",
    "children",
    "byteStride",
    "byteOffset",
    "normalized",
    "inverseBindMatrices",
    "extensions",
    "uri",
    "bufferView",
    "min",
    "texCoord",
    "JOINTS_1",
    "WEIGHTS_1",
    "COLOR_0",
];

fn interesting(random: &mut Random) -> Value {
    let all = [
        json!(0),
        json!(1),
        json!(2),
        json!(3),
        json!(-1),
        json!(0.5),
        json!(255),
        json!(65_535),
        json!(1 << 20),
        json!(u32::MAX),
        json!(1_u64 << 32),
        json!(u64::MAX),
        json!(1e38),
        json!(-1e39),
        json!(1e-42),
        json!(1e300),
        json!(5120),
        json!(5121),
        json!(5122),
        json!(5123),
        json!(5125),
        json!(5126),
        json!(null),
        json!(true),
        json!([]),
        json!({}),
        json!(""),
        json!("SCALAR"),
        json!("VEC2"),
        json!("VEC3"),
        json!("VEC4"),
        json!("MAT4"),
        json!("STEP"),
        json!("CUBICSPLINE"),
        json!("weights"),
        json!("rotation"),
        json!("data:,abcd"),
    ];
    all[random.below(all.len())].clone()
}

/// Makes a GLB of a JSON text and, if there is one, the content of the binary chunk.
fn glb(json: &[u8], binary: Option<&[u8]>) -> Vec<u8> {
    let mut json = json.to_vec();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut chunks = vec![(b"JSON", json.as_slice())];
    chunks.extend(binary.map(|binary| (b"BIN\0", binary)));
    let length: usize = 12 + chunks.iter().map(|(_, chunk)| 8 + chunk.len()).sum::<usize>();
    let mut glb = b"glTF".to_vec();
    glb.extend([2, length as u32].iter().flat_map(|word| word.to_le_bytes()));
    for (kind, chunk) in chunks {
        glb.extend((chunk.len() as u32).to_le_bytes());
        glb.extend(kind);
        glb.extend(chunk);
    }
    glb
}

/// A 64-bit xorshift generator (Marsaglia). The fuzzer's seeds provide the randomness.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit.max(1)
    }

    fn choose<'l, T>(&mut self, list: &'l [T]) -> Option<&'l T> {
        list.get(self.below(list.len()))
    }
}
