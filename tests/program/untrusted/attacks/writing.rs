//! Writes the files of attacks: JSON texts, GLB containers, and lists of as many elements as fit.

use super::Attack;

pub(super) const MIB: usize = 1 << 20;

pub(super) fn accepted(name: &'static str, file: Vec<u8>) -> Attack {
    Attack { name, file, refused: None }
}

pub(super) fn refused(name: &'static str, why: &'static str, file: Vec<u8>) -> Attack {
    Attack { name, file, refused: Some(why) }
}

pub(super) fn text(members: &str) -> Vec<u8> {
    format!(r#"{{"asset":{{"version":"2.0"}},{members}}}"#).into_bytes()
}

pub(super) fn glb(members: &str, mut binary: Vec<u8>) -> Vec<u8> {
    let mut json = text(&format!(r#"{members},"buffers":[{{"byteLength":{}}}]"#, binary.len()));
    json.resize(json.len().next_multiple_of(4), b' ');
    binary.resize(binary.len().next_multiple_of(4), 0);
    let words = |words: [usize; 2]| words.into_iter().flat_map(|word| (word as u32).to_le_bytes());
    let mut file = b"glTF".to_vec();
    file.extend(words([2, 12 + 8 + json.len() + 8 + binary.len()]));
    for (kind, chunk) in [(b"JSON", json), (b"BIN\0", binary)] {
        file.extend((chunk.len() as u32).to_le_bytes());
        file.extend(kind);
        file.extend(chunk);
    }
    file
}

/// Returns `element` repeated `count` times, separated by commas.
pub(super) fn times(count: usize, element: &str) -> String {
    each(count, |_| element.to_owned())
}

pub(super) fn each(count: usize, element: impl Fn(usize) -> String) -> String {
    (0..count).map(element).collect::<Vec<_>>().join(",")
}

/// Returns as many elements as fit into a file.
pub(super) fn filling(element: &str) -> String {
    times((MIB - 1000) / (element.len() + 1), element)
}

pub(super) fn view(offset: usize, length: usize) -> String {
    format!(r#"{{"buffer":0,"byteOffset":{offset},"byteLength":{length}}}"#)
}

pub(super) fn accessor(view: usize, component_type: u32, shape: &str, count: usize) -> String {
    format!(r#"{{"bufferView":{view},"componentType":{component_type},"type":"{shape}","count":{count}}}"#)
}
