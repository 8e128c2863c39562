//! Attacks by animations and images.

use serde_json::json;

use super::Attack;
use super::writing::{accepted, refused, unlisted};
use crate::program::untrusted::images::{png, progressive_jpeg, webp};

pub(super) fn animations() -> Vec<Attack> {
    /// The keys of one track: 60,000 times and 60,000 vectors.
    const KEYS: usize = 60_000;
    let file = |clips: usize, channels: usize| {
        let mut gltf = unlisted();
        let numbers: Vec<f32> = (0..4 * KEYS).map(|number| number as f32).collect();
        let sampler =
            json!({"input": gltf.f32s("SCALAR", &numbers[..KEYS]), "output": gltf.f32s("VEC3", &numbers[KEYS..])});
        let channel = |node| json!({"sampler": 0, "target": {"node": node, "path": "translation"}});
        let channels: Vec<_> = (0..channels).map(channel).collect();
        gltf.json["nodes"] = json!(vec![json!({}); channels.len()]);
        gltf.json["animations"] = json!(vec![json!({"channels": channels, "samplers": [sampler]}); clips]);
        gltf.glb()
    };
    vec![
        accepted("channels.glb", file(1, 34)),
        accepted("clips.glb", file(27, 1)),
        refused("more_channels.glb", "more keyframe numbers", file(1, 36)),
        refused("more_clips.glb", "more keyframe numbers", file(300, 1)),
    ]
}

/// Many materials use the same image in one buffer view.
fn with_images(image: &[u8], count: usize) -> Vec<u8> {
    let mut gltf = unlisted();
    gltf.view(image);
    for k in 0..count {
        gltf.push("images", json!({"bufferView": 0}));
        gltf.push("textures", json!({"source": k}));
        gltf.push("materials", json!({"pbrMetallicRoughness": {"baseColorTexture": {"index": k}}}));
    }
    gltf.glb()
}

/// All of these files load: an image that is too large is left out, with a warning.
pub fn images() -> Vec<Attack> {
    // This is a small image with half a megabyte of comments.
    let mut comments = progressive_jpeg(8, 8, 1, 0);
    let comment = [&[0xff, 0xfe, 0xff, 0xff][..], &[b'x'; 0xfffd]].concat();
    comments.splice(2..2, comment.repeat(8));
    let zeros = png(8192, 4096);
    vec![
        accepted("png.glb", with_images(&zeros, 1)),
        accepted("pngs.glb", with_images(&zeros, 50)),
        accepted("too_large_jpeg.glb", with_images(&progressive_jpeg(16_384, 4096, 1, 0), 1)),
        accepted("small_pngs.glb", with_images(&png(256, 256), 5000)),
        accepted("webp.glb", with_images(&webp(8192, 4096), 1)),
        accepted("webps.glb", with_images(&webp(4096, 1024), 4000)),
        accepted("too_large_webp.glb", with_images(&webp(16_383, 16_383), 1)),
        accepted("no_images.glb", with_images(&[b'x'; 500_000], 3000)),
        accepted("jpeg.glb", with_images(&progressive_jpeg(8192, 4096, 3, 90), 1)),
        accepted("four_channel_jpeg.glb", with_images(&progressive_jpeg(8192, 4096, 4, 90), 1)),
        accepted("scans.glb", with_images(&progressive_jpeg(8192, 4096, 1, 10_000), 1)),
        accepted("comments.glb", with_images(&comments, 4000)),
    ]
}
