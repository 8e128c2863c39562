//! The panel: its lists, its graph, its letters and what is drawn of it.

use std::sync::Arc;

use egui::epaint::{ClippedPrimitive, ImageDelta, Primitive};
use egui::{
    CentralPanel, Color32, ColorImage, Context, Event, ImageData, Mesh, Modifiers, PointerButton, RawInput, Rect,
    Slider, TextureId, TextureOptions, TexturesDelta, pos2,
};
use throng::app::view::hud::graph::{Figures, MOST_FRAMES, round_up};
use throng::app::view::hud::lists::matches;
use throng::app::view::hud::paint::{Atlas, clip, fill};
use throng::app::view::hud::split_after_press;
use throng::renderer::{Overlay, PassTimes, StageTimes};

/// Returns the value of a slider from 0 to 1 after a mouse has dragged it, when all events come before one frame.
fn dragged(mut split: impl FnMut(&mut Vec<Event>) -> Vec<Event>) -> f32 {
    let context = Context::default();
    let (mut value, mut slider) = (0.0, Rect::NOTHING);
    let mut lay_out = |events: Vec<Event>| {
        let input = RawInput { events, ..RawInput::default() };
        let mut output = context.run_ui(input, |ui| {
            CentralPanel::default().show(ui, |ui| {
                slider = ui.add(Slider::new(&mut value, 0.0..=1.0).show_value(false)).rect;
            });
        });
        // There is no renderer to take the letters.
        output.textures_delta.clear();
        slider
    };
    lay_out(Vec::new());
    let slider = lay_out(Vec::new());
    let button = |pos, pressed| {
        let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
        [Event::PointerMoved(pos), Event::PointerButton { pos, button, pressed, modifiers }]
    };
    let mut events = [button(slider.left_center(), true), button(slider.center(), false)].concat();
    while !events.is_empty() {
        let later = split(&mut events);
        lay_out(std::mem::replace(&mut events, later));
    }
    value
}

#[test]
fn a_drag_between_two_frames_moves_a_slider() {
    assert_eq!(dragged(|_| Vec::new()), 0.0, "egui sees such a drag: the events need not be split any more");
    assert!((dragged(split_after_press) - 0.5).abs() < 0.01);
}

#[test]
fn rows_match_in_any_case_and_any_order_of_words() {
    let rows = ["Walk fast", "Run", "fast RUN", ""].map(str::to_owned);
    assert_eq!(matches(&rows, ""), [0, 1, 2, 3]);
    assert_eq!(matches(&rows, "run"), [1, 2]);
    assert_eq!(matches(&rows, " Run FAST "), [2]);
    assert!(matches(&rows, "jump").is_empty());
}

#[test]
fn medians_are_those_of_the_last_frames() {
    let mut figures = Figures::default();
    assert_eq!(figures.median_frame_ms(), None);
    for frame in 0..MOST_FRAMES + 5 {
        let slow = if frame < 5 { 1e6 } else { 0.0 };
        let stages = StageTimes([1.0 + slow, 2.0, frame as f64, 0.5]);
        figures.add(stages, Some(PassTimes([0.0, 0.0, 0.0, 3.0, 0.0])));
    }
    assert_eq!(figures.median_frame_ms(), Some(3.5 + 5.0 + MOST_FRAMES as f64 / 2.0));
}

#[test]
fn scales_are_round_numbers() {
    let rounded = [0.0, 0.3, 1.0, 1.1, 4.9, 7.0, 16.7, 201.0].map(round_up);
    let expected = [0.001, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 500.0];
    assert!(rounded.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-3 * b), "{rounded:?}");
}

#[test]
fn clips_stay_inside_the_image() {
    let part = |left, top, right, bottom| {
        clip(Rect::from_min_max(pos2(left, top), pos2(right, bottom)), 2.0, [100, 50])
            .map(|rect| (rect.offset.x, rect.offset.y, rect.extent.width, rect.extent.height))
    };
    assert_eq!(part(1.0, 2.0, 3.0, 4.0), Some((2, 4, 4, 4)));
    assert_eq!(part(-5.0, f32::NEG_INFINITY, 1e9, f32::INFINITY), Some((0, 0, 100, 50)));
    assert_eq!(part(60.0, 0.0, 70.0, 10.0), None);
    assert_eq!(part(f32::NAN, 0.0, f32::NAN, 10.0), None);
}

#[test]
fn parts_of_the_atlas_replace_texels() {
    let mut atlas = Atlas::default();
    let delta = |size: [usize; 2], color, pos: Option<[usize; 2]>| {
        let image = ImageData::Color(Arc::new(ColorImage::filled(size, color)));
        let mut changes = TexturesDelta::default();
        changes.push(TextureId::default(), ImageDelta { image, options: TextureOptions::LINEAR, pos });
        changes
    };
    atlas.apply(delta([3, 2], Color32::BLACK, None));
    atlas.apply(delta([2, 1], Color32::WHITE, Some([1, 1])));
    // A part that would lie outside is ignored.
    atlas.apply(delta([2, 9], Color32::RED, Some([0, 2])));
    let (size, rgba, rows) = atlas.changed().unwrap();
    let red: Vec<u8> = rgba.chunks(4).map(|texel| texel[0]).collect();
    assert_eq!((size, red, rows), ([3, 2], vec![0, 0, 0, 0, 255, 255], 0..2));
    atlas.set_uploaded(true);
    assert_eq!(atlas.changed(), None);
    atlas.apply(delta([1, 1], Color32::WHITE, Some([0, 1])));
    assert_eq!(atlas.changed().unwrap().2, 1..2);
}

#[test]
fn indices_of_all_meshes_refer_to_one_list() {
    let mut mesh = Mesh::default();
    mesh.add_colored_rect(Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0)), Color32::from_rgb(1, 2, 3));
    let visible = Rect::from_min_max(pos2(0.0, 0.0), pos2(9.0, 9.0));
    let primitive = |clip_rect| ClippedPrimitive { clip_rect, primitive: Primitive::Mesh(mesh.clone()) };
    let mut overlay = Overlay::default();
    fill(&mut overlay, &[primitive(visible), primitive(Rect::NOTHING), primitive(visible)], 2.0, [9, 9]);
    assert_eq!((overlay.vertices.len(), overlay.indices.len(), overlay.draws.len()), (8, 12, 2));
    assert_eq!((overlay.indices.iter().min(), overlay.indices.iter().max()), (Some(&0), Some(&7)));
    assert_eq!(overlay.vertices[0].color_unorm8, 0xff03_0201);
    assert!(overlay.vertices.iter().all(|vertex| vertex.position_pixels.iter().all(|x| [0.0, 2.0].contains(x))));
}
