//! Attacks by animations and images.

use super::Attack;
use super::writing::{accepted, accessor, each, glb, refused, times, view};
use crate::program::untrusted::images::{png, progressive_jpeg, webp};

pub(super) fn attacks() -> Vec<Attack> {
    [animations(), images()].into_iter().flatten().collect()
}

fn animations() -> Vec<Attack> {
    /// The keys of one track: 60,000 times and 60,000 vectors.
    const KEYS: usize = 60_000;
    let file = |clips: usize, channels: usize| {
        let channel = |k: usize| format!(r#"{{"sampler":0,"target":{{"node":{k},"path":"translation"}}}}"#);
        let clip = format!(r#"{{"channels":[{}],"samplers":[{{"input":0,"output":1}}]}}"#, each(channels, channel));
        let members = format!(
            r#""nodes":[{}],"animations":[{}],"accessors":[{},{}],"bufferViews":[{},{}]"#,
            times(channels, "{}"),
            times(clips, &clip),
            accessor(0, 5126, "SCALAR", KEYS),
            accessor(1, 5126, "VEC3", KEYS),
            view(0, 4 * KEYS),
            view(4 * KEYS, 12 * KEYS)
        );
        let numbers = (0..4 * KEYS).map(|number| number as f32);
        glb(&members, numbers.flat_map(f32::to_le_bytes).collect())
    };
    vec![
        accepted("channels.glb", file(1, 34)),
        accepted("clips.glb", file(27, 1)),
        refused("more_channels.glb", "more keyframe numbers", file(1, 36)),
        refused("more_clips.glb", "more keyframe numbers", file(300, 1)),
    ]
}

/// Many materials use the same image in one buffer view.
fn with_images(image: Vec<u8>, count: usize) -> Vec<u8> {
    let members = format!(
        r#""images":[{}],"textures":[{}],"materials":[{}],"bufferViews":[{}]"#,
        times(count, r#"{"bufferView":0}"#),
        each(count, |k| format!(r#"{{"source":{k}}}"#)),
        each(count, |k| format!(r#"{{"pbrMetallicRoughness":{{"baseColorTexture":{{"index":{k}}}}}}}"#)),
        view(0, image.len())
    );
    glb(&members, image)
}

/// All of these files load: an image that is too large is left out, with a warning.
fn images() -> Vec<Attack> {
    // This is a small image with half a megabyte of comments.
    let mut comments = progressive_jpeg(8, 8, 1, 0);
    let comment = [&[0xff, 0xfe, 0xff, 0xff][..], &[b'x'; 0xfffd]].concat();
    comments.splice(2..2, comment.repeat(8));
    let zeros = png(8192, 4096);
    vec![
        accepted("png.glb", with_images(zeros.clone(), 1)),
        accepted("pngs.glb", with_images(zeros, 50)),
        accepted("too_large_jpeg.glb", with_images(progressive_jpeg(16_384, 4096, 1, 0), 1)),
        accepted("small_pngs.glb", with_images(png(256, 256), 5000)),
        accepted("webp.glb", with_images(webp(8192, 4096), 1)),
        accepted("webps.glb", with_images(webp(4096, 1024), 4000)),
        accepted("too_large_webp.glb", with_images(webp(16_383, 16_383), 1)),
        accepted("no_images.glb", with_images(vec![b'x'; 500_000], 3000)),
        accepted("jpeg.glb", with_images(progressive_jpeg(8192, 4096, 3, 90), 1)),
        accepted("four_channel_jpeg.glb", with_images(progressive_jpeg(8192, 4096, 4, 90), 1)),
        accepted("scans.glb", with_images(progressive_jpeg(8192, 4096, 1, 10_000), 1)),
        accepted("comments.glb", with_images(comments, 4000)),
    ]
}
