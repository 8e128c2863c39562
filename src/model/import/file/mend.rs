//! What exporters write in a way that the serde structs refuse although its meaning is certain: integers such as `72.0`, and
//! indices of -1 and empty lists where there is nothing.
//!
//! In: JSON values. Out: values that the structs read, and warnings that count what was removed.
//!
//! Source: glTF 2.0, 2.7 (JSON encoding).

use std::collections::BTreeMap;

use gltf::json::Root;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::model::import::error::Warnings;

/// Returns an integer, however it is written: `72.0` and `7.2e1` are 72 (2.7).
pub fn integer(value: &Value) -> Option<i64> {
    const EXACT: f64 = (1_u64 << 53) as f64;
    let whole = |number: &f64| number.fract() == 0.0 && number.abs() < EXACT;
    value.as_i64().or_else(|| value.as_f64().filter(whole).map(|number| number as i64))
}

/// Returns an index or a count, however it is written.
pub fn index(value: &Value) -> Option<usize> {
    integer(value).and_then(|number| number.try_into().ok())
}

/// Parses a value as the elements of lists are parsed.
pub fn parse_value<T: DeserializeOwned>(value: &Value) -> serde_json::Result<T> {
    T::deserialize(value).or_else(|_| {
        let mut value = value.clone();
        Mended::default().mend("", &mut value);
        serde_json::from_value(value)
    })
}

/// What exporters write where there is nothing: it is removed, and counted for each list of the file.
#[derive(Default)]
pub struct Mended {
    counts: BTreeMap<(&'static str, String), usize>,
}

impl Mended {
    /// Writes integers as the serde structs read them, and removes indices of -1 and empty lists from an element of `list`.
    pub fn mend(&mut self, list: &'static str, element: &mut Value) {
        const EMPTY: [&str; 6] = ["matrix", "translation", "rotation", "scale", "weights", "targets"];
        const INDICES: &str =
            "bufferView camera indices inverseBindMatrices material mesh node sampler scene skeleton skin source";
        let is_none = |value: &Value| integer(value) == Some(-1);
        let mut left = vec![element];
        while let Some(value) = left.pop() {
            match value {
                Value::Number(number) if number.is_f64() => {
                    if let Some(whole) = integer(value) {
                        *value = whole.into();
                    }
                }
                Value::Array(values) => left.extend(values),
                Value::Object(properties) => {
                    properties.retain(|key, value| {
                        let is_index =
                            INDICES.split(' ').any(|name| name == key) || key.starts_with(char::is_uppercase);
                        let has_index = |index: &Value| key.ends_with("Texture") && is_none(index);
                        let problem = match value {
                            Value::Array(values) if values.is_empty() && EMPTY.contains(&&**key) => "an empty list",
                            value if value.get("index").is_some_and(has_index) => "the index -1",
                            value if is_index && is_none(value) => "the index -1",
                            _ => return true,
                        };
                        self.count(list, format!("{key} is {problem}, which is read as none"));
                        false
                    });
                    for key in ["children", "nodes"] {
                        if let Some(Value::Array(nodes)) = properties.get_mut(key) {
                            let all = nodes.len();
                            nodes.retain(|node| !is_none(node));
                            if nodes.len() < all {
                                self.count(list, format!("{key} has the index -1, which is left out"));
                            }
                        }
                    }
                    left.extend(properties.values_mut());
                }
                _ => {}
            }
        }
    }

    pub fn count(&mut self, list: &'static str, problem: String) {
        /// Keys are the file's own, so there may be any number.
        const MOST: usize = 100;
        if let Some(count) = self.counts.get_mut(&(list, problem.clone())) {
            *count += 1;
        } else if self.counts.len() < MOST {
            self.counts.insert((list, problem), 1);
        }
    }

    /// Removes what the serde structs accept.
    pub fn count_empty(&mut self, root: &mut Root) {
        for node in root.nodes.iter_mut().filter(|node| node.children.as_ref().is_some_and(Vec::is_empty)) {
            node.children = None;
            self.count("nodes", "children is an empty list, which is read as none".to_owned());
        }
        for view in root.buffer_views.iter_mut().filter(|view| view.byte_stride.is_some_and(|stride| stride.0 == 0)) {
            view.byte_stride = None;
            self.count("bufferViews", "byteStride is 0, which is read as none: the elements are packed".to_owned());
        }
    }

    pub fn warn(self, warnings: &mut Warnings) {
        for ((list, problem), count) in self.counts {
            let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
            warnings.add(list, format_args!("{problem}{times}"));
        }
    }
}
