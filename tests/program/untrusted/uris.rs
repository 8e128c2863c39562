//! Files that a model must not reach: everything outside its folder, and everything that is not a regular file. The canaries
//! next to the model's folder are a valid buffer and a valid image, so that reading one shows as a successful import.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use serde_json::json;
use throng::model::import::ImportError;
use throng::model::{Model, import};

use super::limited;
use crate::common::builder::{Gltf, warns};

/// URIs that must not be read, by the reason, which is an error for a buffer but not for an image. `{canary}` is the name of the
/// file next to the folder, `{outside}` the path of the folder that contains it.
const REFUSED: [(&str, &str); 5] = [
    (
        "leads out of the model's folder",
        "../{canary}, ./../{canary}, folder/../../{canary}, missing/../../{canary}, %2e%2e/{canary}, %2E%2E%2F{canary}, \
         .%2e/{canary}, ..\\{canary}, folder\\..\\..\\{canary}, %2e%2e%5C{canary}",
    ),
    (
        "is an absolute path",
        "{outside}/{canary}, %2F{outside}/{canary}, //localhost{outside}/{canary}, \\\\localhost\\{canary}, \
         /proc/self/environ",
    ),
    (
        "names a scheme or drive",
        "file:{outside}/{canary}, file://{outside}/{canary}, FILE://localhost{outside}/{canary}, \
         http://127.0.0.1:9/{canary}, C:\\{canary}",
    ),
    ("contains a zero byte", "{canary}%00.png"),
    ("through a symbolic link", "link-{canary}, linked/{canary}, device"),
];
/// URIs that cannot be read. Two begin with a space or are empty.
const UNREADABLE: [(&str, &str); 3] = [
    ("cannot be read", "%252e%252e%252f{canary}, file%3A%2F%2F{outside}/{canary},  ../{canary}"),
    ("it is not a regular file", "pipe, socket"),
    ("it is a folder", "folder, "),
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
        // The canaries are valid: those inside the folder load.
        for folder in [outside.path(), &model.join("folder")] {
            fs::write(folder.join("canary.bin"), Gltf::triangle().bytes).unwrap();
            image::RgbaImage::from_pixel(3, 5, image::Rgba([1, 2, 3, 255])).save(folder.join("canary.png")).unwrap();
        }
        let targets = ["../canary.bin", "../canary.png", "..", "/dev/zero"];
        for (link, target) in ["link-canary.bin", "link-canary.png", "linked", "device"].iter().zip(targets) {
            symlink(target, model.join(link)).unwrap();
        }
        assert!(std::process::Command::new("mkfifo").arg(model.join("pipe")).status().unwrap().success());
        let socket = UnixListener::bind(model.join("socket")).unwrap();
        Self { outside, _socket: socket }
    }

    fn inside(&self, name: &str) -> PathBuf {
        self.outside.path().join("model").join(name)
    }

    fn load(&self, name: &str, gltf: &Gltf) -> Result<Model, ImportError> {
        fs::write(self.inside(name), gltf.text()).unwrap();
        import::load(&self.inside(name))
    }

    fn uri(&self, form: &str, canary: &str) -> String {
        form.replace("{outside}", self.outside.path().to_str().unwrap()).replace("{canary}", canary)
    }
}

fn with_buffer(uri: &str) -> Gltf {
    Gltf::triangle().with_buffer_at(uri)
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
    let buffer = sandbox.load("attack.gltf", &with_buffer("folder/canary.bin")).unwrap();
    assert_eq!(buffer.geometry.triangle_count(), 1);
    let image = sandbox.load("attack.gltf", &with_image("folder/canary.png")).unwrap();
    assert_eq!(image.images[0].texels().unwrap()[..4], [1, 2, 3, 255]);

    let (mut files, mut messages) = (Vec::new(), Vec::new());
    for (why, uris) in REFUSED.into_iter().chain(UNREADABLE) {
        for form in uris.split(", ") {
            for (list, canary, with) in
                [("buffers", "canary.bin", with_buffer as fn(&str) -> Gltf), ("images", "canary.png", with_image)]
            {
                let name = format!("attack-{}.gltf", files.len());
                files.push(sandbox.inside(&name));
                let loaded = sandbox.load(&name, &with(&sandbox.uri(form, canary)));
                if list == "images" {
                    let model = loaded.unwrap();
                    assert!(model.images.is_empty() && model.materials[0].base_color_texture.is_none(), "{form}");
                    let warnings = &model.warnings;
                    assert!(warns(&model, why) && warns(&model, "the image is left out"), "{form}: {warnings:?}");
                } else {
                    let message = loaded.unwrap_err().to_string();
                    assert!(message.starts_with(&format!("{name}: {list}[0].uri: ")), "{form}: {message}");
                    assert!(message.contains(why), "{form}: {message}");
                    messages.push(message);
                }
            }
        }
    }
    assert_eq!((files.len(), messages.len()), (62, 31));
    // The program refuses the same files, with the same messages.
    let stderr = refusals(&files);
    for message in &messages {
        assert!(stderr.contains(message), "{message} is not in {stderr}");
    }
    assert!(stderr.contains(&format!("error: {} files cannot be read\n", messages.len())), "{stderr}");
}

/// Exporters write where an image was on their machine.
#[test]
fn an_image_is_found_by_its_name_beside_the_models_other_files() {
    let sandbox = Sandbox::new();
    for uri in
        ["C:\\art\\canary.png", "/home/me/canary.png", "../art/canary.png", "https://localhost/canary.png?size=5#x"]
    {
        let mut gltf = with_image(uri);
        assert!(sandbox.load("lost.gltf", &gltf).unwrap().images.is_empty(), "{uri}");
        gltf.push("images", json!({"uri": "folder/other.png"}));
        let model = sandbox.load("found.gltf", &gltf).unwrap();
        assert_eq!(model.images[0].texels().unwrap()[..4], [1, 2, 3, 255], "{uri}");
        assert!(warns(&model, "\"folder/canary.png\" is read instead"), "{uri}: {:?}", model.warnings);
    }
}

fn refusals(files: &[PathBuf]) -> String {
    let finished = limited::run("inspect", files);
    assert_eq!(finished.code, 1, "{finished:?}");
    finished.stderr
}

#[test]
fn uris_of_unused_properties_are_not_read() {
    let mut gltf = Gltf::triangle();
    gltf.json["extras"] = json!({"uri": "../canary.bin", "buffers": [{"uri": "pipe"}]});
    gltf.json["nodes"][0]["extras"] = json!({"uri": "pipe"});
    // Images that no material uses are not read.
    gltf.json["images"] = json!([{"uri": "pipe"}, {"uri": "../canary.png"}]);
    let model = Sandbox::new().load("attack.gltf", &gltf).unwrap();
    assert_eq!((model.warnings.len(), model.geometry.triangle_count()), (0, 1), "{:?}", model.warnings);
}

#[test]
fn a_model_is_a_regular_file() {
    let sandbox = Sandbox::new();
    let irregular = "cannot be read: it is not a regular file";
    let cases = [
        // Reading this one would wait for the kernel's next message, if it may be opened at all.
        ("/proc/kmsg", ""),
        // A file of /proc reports no bytes, and none is read from it.
        ("/proc/self/environ", "it is empty; .gltf and .glb files can be read"),
        ("folder", "cannot be read: it is a folder"),
        ("pipe", irregular),
        ("socket", irregular),
        ("device", irregular),
        ("/dev/zero", irregular),
        ("/dev/null", irregular),
    ];
    let files = cases.map(|(name, _)| sandbox.inside(name));
    let stderr = refusals(&files);
    for (path, (_, why)) in files.iter().zip(cases) {
        let expected = format!("{}: {why}", path.file_name().unwrap().display());
        assert!(stderr.contains(&expected), "{expected} is not in {stderr}");
    }
    assert!(stderr.contains("error: 8 files cannot be read\n"), "{stderr}");
}

/// Sparse files, which look large but take almost no space on disk.
#[test]
fn files_that_cannot_be_a_model_are_refused_after_their_first_bytes() {
    const GIB: u64 = 1 << 30;
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("zeros.glb", &b""[..], 2 * GIB, "it is neither GLB nor JSON; .gltf and .glb files can be read"),
        ("long.gltf", b"{\"asset\":", GIB, "1073741824 bytes of JSON; at most 268435456 are read"),
        ("chunk.glb", b"glTF\x02\0\0\0\0\0\0\x40\0\0\0\x30JSON{", GIB, "805306368 bytes of JSON; at most 268435456"),
        ("cut.glb", b"glTF\x02\0\0\0\0\0\0\x60", GIB, "the file is cut short: 1073741824 bytes, but its GLB header"),
        ("old.glb", b"glTF\x01\0\0\0\0\0\0\x40", GIB, "GLB version 1, expected 2"),
        ("large.glb", b"glTF\x02\0\0\0", 3 * GIB, "cannot be read: it has 3221225472 bytes; at most 2147483648"),
        // This one looks valid, but does not fit in memory.
        ("fits_not.glb", b"glTF\x02\0\0\0\0\0\0\x70\x10\0\0\0JSON{", 7 * GIB / 4, "cannot be read: out of memory"),
    ];
    let files = cases.map(|(name, start, size, _)| {
        let path = folder.path().join(name);
        fs::write(&path, start).unwrap();
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(size).unwrap();
        path
    });
    let stderr = refusals(&files);
    for (name, .., why) in cases {
        assert!(stderr.lines().any(|line| line.contains(&format!("{name}: {why}"))), "{name}: {stderr}");
    }
}
