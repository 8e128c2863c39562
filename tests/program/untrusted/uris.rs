//! Files that a model must not reach: everything outside its folder, and everything that is not a regular file. The
//! canaries next to the model's folder are a valid buffer and a valid image, so that reading one shows as a successful
//! import.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use serde_json::json;
use throng::model::import;

use super::limited;
use crate::common::builder::{Gltf, warns};

/// The expected treatment of a URI.
enum Outcome {
    /// The model is refused, both for a buffer and for an image.
    Refused(&'static str),
    /// The URI cannot be read, which is an error for a buffer but not for an image.
    Unreadable(&'static str),
}
use Outcome::{Refused, Unreadable};

/// The URIs. `{canary}` is the name of the file next to the folder, `{outside}` the path of the folder that contains
/// it.
const URIS: [(&str, Outcome); 31] = [
    ("../{canary}", Refused("leads out of the model's folder")),
    ("./../{canary}", Refused("leads out of the model's folder")),
    ("folder/../../{canary}", Refused("leads out of the model's folder")),
    ("missing/../../{canary}", Refused("leads out of the model's folder")),
    ("%2e%2e/{canary}", Refused("leads out of the model's folder")),
    ("%2E%2E%2F{canary}", Refused("leads out of the model's folder")),
    (".%2e/{canary}", Refused("leads out of the model's folder")),
    ("..\\{canary}", Refused("leads out of the model's folder")),
    ("folder\\..\\..\\{canary}", Refused("leads out of the model's folder")),
    ("%2e%2e%5C{canary}", Refused("leads out of the model's folder")),
    ("{outside}/{canary}", Refused("is an absolute path")),
    ("%2F{outside}/{canary}", Refused("is an absolute path")),
    ("//localhost{outside}/{canary}", Refused("is an absolute path")),
    ("\\\\localhost\\{canary}", Refused("is an absolute path")),
    ("/proc/self/environ", Refused("is an absolute path")),
    ("file:{outside}/{canary}", Refused("names a scheme or drive")),
    ("file://{outside}/{canary}", Refused("names a scheme or drive")),
    ("FILE://localhost{outside}/{canary}", Refused("names a scheme or drive")),
    ("http://127.0.0.1:9/{canary}", Refused("names a scheme or drive")),
    ("C:\\{canary}", Refused("names a scheme or drive")),
    ("{canary}%00.png", Refused("contains a zero byte")),
    ("link-{canary}", Refused("through a symbolic link")),
    ("linked/{canary}", Refused("through a symbolic link")),
    ("device", Refused("through a symbolic link")),
    ("%252e%252e%252f{canary}", Unreadable("cannot be read")),
    ("file%3A%2F%2F{outside}/{canary}", Unreadable("cannot be read")),
    (" ../{canary}", Unreadable("cannot be read")),
    ("pipe", Unreadable("it is not a regular file")),
    ("socket", Unreadable("it is not a regular file")),
    ("folder", Unreadable("it is a folder")),
    ("", Unreadable("it is a folder")),
];

/// A folder with the model's folder in it, and the targets of attacks.
struct Sandbox {
    outside: tempfile::TempDir,
    _socket: UnixListener,
}

impl Sandbox {
    fn new() -> Self {
        let outside = tempfile::tempdir().unwrap();
        let model = outside.path().join("model");
        fs::create_dir_all(model.join("folder")).unwrap();
        fs::write(outside.path().join("canary.bin"), Gltf::triangle().bytes).unwrap();
        image::RgbaImage::from_pixel(3, 5, image::Rgba([1, 2, 3, 255]))
            .save(outside.path().join("canary.png"))
            .unwrap();
        for (link, target) in [
            ("link-canary.bin", "../canary.bin"),
            ("link-canary.png", "../canary.png"),
            ("linked", ".."),
            ("device", "/dev/zero"),
        ] {
            symlink(target, model.join(link)).unwrap();
        }
        assert!(std::process::Command::new("mkfifo").arg(model.join("pipe")).status().unwrap().success());
        let socket = UnixListener::bind(model.join("socket")).unwrap();
        Self { outside, _socket: socket }
    }

    fn model(&self) -> PathBuf {
        self.outside.path().join("model/attack.gltf")
    }

    fn uri(&self, form: &str, canary: &str) -> String {
        form.replace("{outside}", self.outside.path().to_str().unwrap()).replace("{canary}", canary)
    }

    /// Imports the model and runs the program, which must give the same message.
    fn refusal(&self, gltf: &Gltf) -> String {
        fs::write(self.model(), gltf.text()).unwrap();
        let message = import::load(&self.model()).unwrap_err().to_string();
        let ended = limited::run("inspect", &self.model(), &[]).unwrap();
        assert_eq!((ended.accepted, ended.stderr), (false, format!("error: {message}\n")));
        message
    }
}

fn with_buffer(uri: &str) -> Gltf {
    let mut gltf = Gltf::triangle();
    gltf.json["buffers"] = json!([{"byteLength": gltf.bytes.len(), "uri": uri}]);
    gltf
}

fn with_image(uri: &str) -> Gltf {
    let mut gltf = Gltf::triangle();
    gltf.json["textures"] = json!([{"source": 0}]);
    gltf.json["materials"] = json!([{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]);
    gltf.json["meshes"][0]["primitives"][0]["material"] = json!(0);
    gltf.json["images"] = json!([{"uri": uri}]);
    gltf
}

#[test]
fn nothing_outside_the_models_folder_is_read() {
    let sandbox = Sandbox::new();
    // The canaries are valid: inside the folder both load.
    for canary in ["canary.bin", "canary.png"] {
        fs::copy(sandbox.outside.path().join(canary), sandbox.model().with_file_name(canary)).unwrap();
    }
    fs::write(sandbox.model(), with_buffer("canary.bin").text()).unwrap();
    assert_eq!(import::load(&sandbox.model()).unwrap().geometry.triangle_count(), 1);
    fs::write(sandbox.model(), with_image("canary.png").text()).unwrap();
    assert_eq!(import::load(&sandbox.model()).unwrap().images[0].texels().unwrap()[..4], [1, 2, 3, 255]);
    for canary in ["canary.bin", "canary.png"] {
        fs::remove_file(sandbox.model().with_file_name(canary)).unwrap();
    }

    for (form, outcome) in &URIS {
        let (Refused(why) | Unreadable(why)) = outcome;
        let message = sandbox.refusal(&with_buffer(&sandbox.uri(form, "canary.bin")));
        assert!(message.starts_with("attack.gltf: buffers[0].uri: ") && message.contains(why), "{form}: {message}");

        let gltf = with_image(&sandbox.uri(form, "canary.png"));
        if let Refused(_) = outcome {
            let message = sandbox.refusal(&gltf);
            assert!(message.starts_with("attack.gltf: images[0].uri: ") && message.contains(why), "{form}: {message}");
            continue;
        }
        fs::write(sandbox.model(), gltf.text()).unwrap();
        let model = import::load(&sandbox.model()).unwrap();
        assert!(model.images.is_empty() && model.materials[0].base_color_texture.is_none(), "{form}");
        assert!(warns(&model, why) && warns(&model, "the image is left out"), "{form}: {:?}", model.warnings);
        assert!(limited::run("inspect", &sandbox.model(), &[]).unwrap().accepted, "{form}");
    }
}

#[test]
fn uris_of_unused_properties_are_not_read() {
    let sandbox = Sandbox::new();
    let mut gltf = Gltf::triangle();
    gltf.json["extras"] = json!({"uri": "../canary.bin", "buffers": [{"uri": "pipe"}]});
    gltf.json["nodes"][0]["extras"] = json!({"uri": "pipe"});
    // Images that no material uses are not read.
    gltf.json["images"] = json!([{"uri": "pipe"}, {"uri": "../canary.png"}]);
    fs::write(sandbox.model(), gltf.text()).unwrap();
    let model = import::load(&sandbox.model()).unwrap();
    assert_eq!((model.warnings.len(), model.geometry.triangle_count()), (0, 1), "{:?}", model.warnings);
}

#[test]
fn a_model_is_a_regular_file() {
    let sandbox = Sandbox::new();
    let cause = |path: &Path| {
        let ended = limited::run("inspect", path, &[]).unwrap();
        assert!(!ended.accepted, "{}", path.display());
        ended.stderr
    };
    let inside = |name: &str| sandbox.model().with_file_name(name);
    for path in [inside("pipe"), inside("socket"), inside("device"), "/dev/zero".into(), "/dev/null".into()] {
        let expected = format!("error: {}: cannot be read\n  caused by: it is not a regular file\n", path.display());
        assert_eq!(cause(&path), expected);
    }
    let folder = inside("folder");
    let expected = format!("error: {}: cannot be read\n  caused by: it is a folder\n", folder.display());
    assert_eq!(cause(&folder), expected);
    // A file of /proc reports no bytes, and none is read from it. Reading this one would wait for the kernel's next
    // message, if it may be opened at all.
    assert_eq!(
        cause(Path::new("/proc/self/environ")),
        "error: environ: it is empty; .gltf and .glb files can be read\n"
    );
    assert!(cause(Path::new("/proc/kmsg")).starts_with("error: "));
}

/// Sparse files, which look large but take almost no space on disk.
#[test]
fn files_that_cannot_be_a_model_are_refused_after_their_first_bytes() {
    const GIB: u64 = 1 << 30;
    let folder = tempfile::tempdir().unwrap();
    for (name, start, size, why) in [
        ("zeros.glb", &b""[..], 2 * GIB, "it is neither GLB nor JSON; .gltf and .glb files can be read"),
        ("long.gltf", b"{\"asset\":", GIB, "1073741824 bytes of JSON; at most 268435456 are read"),
        (
            "chunk.glb",
            b"glTF\x02\0\0\0\0\0\0\x40\0\0\0\x30JSON{",
            GIB,
            "805306368 bytes of JSON; at most 268435456 are read",
        ),
        (
            "cut.glb",
            b"glTF\x02\0\0\0\0\0\0\x60",
            GIB,
            "the file is cut short: 1073741824 bytes, but its GLB header says",
        ),
        ("old.glb", b"glTF\x01\0\0\0\0\0\0\x40", GIB, "GLB version 1, expected 2"),
        ("large.glb", b"glTF\x02\0\0\0", 3 * GIB, "it has 3221225472 bytes; at most 2147483648 are read"),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, start).unwrap();
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(size).unwrap();
        let ended = limited::run("inspect", &path, &[]).unwrap();
        assert!(!ended.accepted && ended.stderr.contains(why), "{name}: {}", ended.stderr);
    }
    // A file that looks valid but does not fit in memory is refused too, without aborting.
    let path = folder.path().join("fits_not.glb");
    fs::write(&path, b"glTF\x02\0\0\0\0\0\0\x70\x10\0\0\0JSON{").unwrap();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(0x7000_0000).unwrap();
    let ended = limited::run("inspect", &path, &[]).unwrap();
    assert!(!ended.accepted && ended.stderr.contains("fits_not.glb: cannot be read"), "{}", ended.stderr);
}
