//! The panel, the message and the page of keys, by their widgets: egui's harness lays them out and clicks on them, without a
//! window. Then the panel's graph and what is drawn of it.

use std::path::Path;

use clap::Parser;
use egui::accesskit::{Role, Toggled};
use egui::epaint::{ClippedPrimitive, Primitive};
use egui::{CentralPanel, Color32, Context, Event, Key, Mesh, Modifiers, PointerButton, RawInput, Rect, Slider, pos2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};
use glam::Vec2;
use throng::app::bench::report::Summary;
use throng::app::models::choice_of;
use throng::app::paint::{clip, fill};
use throng::app::view::hud::contents::Contents;
use throng::app::view::hud::graph::{MOST_FRAMES, round_up};
use throng::app::view::hud::lists::matches;
use throng::app::view::hud::{Facts, Figures, Notice, Wishes, split_after_press};
use throng::app::view::state::State;
use throng::cli::Cli;
use throng::cli::keys::Action;
use throng::crowd::{ClipChoice, Layout};
use throng::extras::{DebugView, Triangles};
use throng::renderer::{PassTimes, Skinning, StageTimes, UploadPath};
use throng::view::{Background, Ground};

use super::hide::boxes;
use crate::common::assets::{JELLY, STRIP, WALKER, path_of};

/// All that a window shows, with what a person has done.
struct Shown {
    state: State,
    contents: Contents,
    wishes: Wishes,
    notice: Option<Notice>,
}

fn open(model: &Path, options: &str) -> Harness<'static, Shown> {
    let words = ["throng", model.to_str().unwrap(), "--threads", "1"].into_iter().chain(options.split_whitespace());
    let state = State::new(&Cli::try_parse_from(words).unwrap().view).unwrap();
    let shown = Shown { state, contents: Contents::new(true), wishes: Wishes::default(), notice: None };
    let harness = Harness::builder().with_size([900.0, 1600.0]).with_context_setup(Contents::prepare);
    let mut window = harness.build_ui_state(
        |ui, shown| {
            let facts = Facts {
                files: &["a.glb", "b.glb"].map(str::to_owned),
                file: Some(0),
                figures: &Figures::default(),
                lines: &["a device".to_owned()],
                automatic_upload: UploadPath::Direct,
                samples: 4,
                sample_counts: 1 | 4,
                shadow_map_size: Some(512),
                most_instances: 5000,
                memory: &|instances| format!("{instances} need a byte"),
                notice: shown.notice.as_ref(),
            };
            shown.contents.show(ui.ctx(), &facts, &mut shown.state, &mut shown.wishes);
        },
        shown,
    );
    window.run();
    window
}

fn click(window: &mut Harness<Shown>, name: &str) {
    window.get_by_label(name).click();
    window.run();
}

/// Sets the slider or the number with this name, as a screen reader does.
fn set(window: &mut Harness<Shown>, role: Role, name: &str, value: f64) {
    window.get_by_role_and_label(role, name).set_value_accesskit(value);
    window.run();
}

#[test]
fn controls_change_the_state() {
    let mut window = open(&path_of(WALKER), "--clip Walk --instances 2 --travel off");
    for section in ["Model", "Look", "Drawing"] {
        click(&mut window, section);
    }
    let start_seconds = window.state().state.clock.time_seconds();
    for (name, step_seconds) in [("›", 1.0 / 30.0), ("‹", 0.0)] {
        click(&mut window, name);
        let time_seconds = window.state().state.clock.time_seconds();
        assert!((time_seconds - start_seconds - step_seconds).abs() < 1e-6, "{name}: {time_seconds}");
    }
    click(&mut window, "Play");
    type Check = fn(&Shown) -> bool;
    let clicks: [(&str, Check); 22] = [
        ("Pause", |shown| shown.state.clock.is_paused()),
        ("Play", |shown| !shown.state.clock.is_paused()),
        ("repeat", |shown| !shown.state.repeats),
        ("rest pose", |shown| shown.state.args.crowd.clip == ClipChoice::None),
        ("all clips, mixed", |shown| shown.state.args.crowd.clip == ClipChoice::All),
        ("Run  (0.73 s)", |shown| shown.state.clip_name() == "Run"),
        ("b.glb", |shown| shown.wishes.open == Some(1)),
        ("ring", |shown| shown.state.crowd_controls().layout == Layout::Ring),
        ("travel: walkers go somewhere", |shown| shown.state.crowd_controls().travel),
        ("skeleton", |shown| shown.state.scene.show.bones),
        ("colour", |shown| matches!(shown.state.scene.look.background, Background::Color(_))),
        ("sky", |shown| shown.state.scene.look.background == Background::Sky),
        ("none", |shown| shown.state.scene.look.background == Background::None),
        ("shadow", |shown| shown.state.scene.look.ground == Ground::Shadow),
        ("vertex", |shown| shown.state.args.gpu.skinning == Skinning::Vertex),
        ("staged", |shown| shown.state.args.gpu.upload == Some(UploadPath::Staged)),
        ("auto (direct)", |shown| shown.state.args.gpu.upload.is_none()),
        ("1", |shown| shown.state.args.gpu.quality.msaa == Some(1)),
        ("shadows, a map of 512 × 512", |shown| !shown.state.args.gpu.quality.shadows),
        ("Keys (H)", |shown| shown.wishes.action == Some(Action::Help)),
        ("Mesh (O)", |shown| shown.wishes.action == Some(Action::Mesh)),
        ("key ›", |shown| {
            shown.state.clock.is_paused()
                && shown.state.key_times().any(|key| (f64::from(key) - shown.state.time_in_clip()).abs() < 1e-6)
        }),
    ];
    for (name, has_changed) in clicks {
        assert!(!has_changed(window.state()), "before {name}");
        click(&mut window, name);
        assert!(has_changed(window.state()), "{name}");
    }
    // The device has no 8 samples.
    assert!(window.get_by_label("8").accesskit_node().is_disabled());
    let values: [(Role, &str, f64, Check); 10] = [
        (Role::Slider, "the time in the clip", 0.3, |shown| {
            (shown.state.time_in_clip() - 0.3).abs() < 0.01 && shown.state.clock.is_paused()
        }),
        (Role::Slider, "speed", -0.5, |shown| shown.state.clock.speed() == -0.5),
        (Role::Slider, "instances", 40.0, |shown| shown.state.scene.crowd.instance_count() == 40),
        (Role::SpinButton, "seed", 7.0, |shown| shown.state.crowd_controls().seed == 7),
        (Role::Slider, "variety", 0.25, |shown| shown.state.crowd_controls().variety == 0.25),
        (Role::Slider, "stops of exposure", 2.0, |shown| shown.state.scene.look.exposure_ev == 2.0),
        (Role::Slider, "sun around", 90.0, |shown| shown.state.scene.look.sun.azimuth_degrees == 90.0),
        (Role::Slider, "sun above", 20.0, |shown| shown.state.scene.look.sun.elevation_degrees == 20.0),
        (Role::Slider, "pixels of detail error", 3.0, |shown| shown.state.scene.lod_error_pixels == 3.0),
        (Role::Slider, "instances", 9e9, |shown| shown.state.scene.crowd.instance_count() == 5000),
    ];
    let clock = &mut window.state_mut().state.clock;
    clock.toggle_pause();
    // Until now it ran with the wall clock.
    clock.seek(0.5);
    for (role, name, value, has_changed) in values {
        assert!(!has_changed(window.state()), "before {name}");
        set(&mut window, role, name, value);
        assert!(has_changed(window.state()), "{name}");
        assert!(window.state_mut().wishes.done.take().is_none_or(|done| done.is_ok()), "{name}");
    }
    window.get_by_role_and_label(Role::ComboBox, "surfaces show").click();
    window.run();
    click(&mut window, "weights");
    assert_eq!(window.state().state.scene.show.view, DebugView::Weights);
    assert!(window.query_by_label("5000 need a byte").is_some() && window.query_by_label("a device").is_some());
}

#[test]
fn the_crowd_is_placed_when_its_slider_is_released() {
    let mut window = open(&path_of(WALKER), "");
    let slider = window.get_by_role_and_label(Role::Slider, "instances").rect();
    window.drag_at(slider.left_center());
    window.hover_at(slider.center());
    window.run();
    assert_eq!(window.state().state.scene.crowd.instance_count(), 1);
    let held = window.get_by_label_contains("need a byte").value().unwrap();
    window.drop_at(slider.center());
    window.run();
    let count = window.state().state.scene.crowd.instance_count();
    assert_eq!(held, format!("{count} need a byte"));
    // Half way to 5,000 on a logarithmic scale.
    assert!((69..=72).contains(&count), "{count}");
}

#[test]
fn the_selected_character_is_described_and_its_morph_targets_are_held() {
    let mut window = open(&path_of(JELLY), "--clip Wobble");
    let shown = window.state_mut();
    shown.state.select(Vec2::splat(0.5));
    let (camera, instance) = (shown.state.scene.camera, shown.state.selected().expect("a character in the middle"));
    let morph = shown.state.scene.models[0].skeleton.morph_names[0].to_string();
    let count = shown.state.scene.models[0].skeleton.morph_names.len();
    window.run();
    assert!(window.query_by_label(&format!("jelly.gltf, instance {}", instance.number)).is_some());
    click(&mut window, "Focus (F)");
    assert!(window.state().state.scene.camera != camera);
    click(&mut window, &format!("morph targets ({count})"));
    assert!(window.query_by_label("let all go").is_none());
    set(&mut window, Role::Slider, &morph, 0.75);
    assert_eq!(std::mem::take(&mut window.state_mut().wishes.morphs), [(morph.clone(), Some(0.75))]);
    window.state_mut().state.hold_morph(&morph, Some(0.75));
    window.run();
    click(&mut window, "let all go");
    assert!(window.state().wishes.morphs.contains(&(morph, None)));
    click(&mut window, "Deselect");
    assert!(window.state().state.selected().is_none() && window.query_by_label("Deselect").is_none());
}

#[test]
fn parts_have_eyes_and_a_name_shows_one_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hut.gltf");
    std::fs::write(&file, boxes(&["Hat", "Coat", "Hat_collider"]).text()).unwrap();
    let mut window = open(&file, "");
    assert!(window.query_by_label_contains("hut.gltf: 24 triangles, 16 vertices, ").is_some());
    click(&mut window, "Parts");
    assert!(window.query_by_label("1 of 3 parts hidden").is_some());
    let wish = |window: &mut Harness<Shown>, name: &str| {
        click(window, name);
        window.state_mut().wishes.hide.take().unwrap_or_else(|| panic!("{name} changes nothing"))
    };
    assert_eq!(wish(&mut window, "show Hat_collider"), ["none"]);
    assert_eq!(wish(&mut window, "Coat  (12 triangles, paint 1)"), ["Hat"]);
    let hidden = wish(&mut window, "hide Hat");
    assert_eq!(hidden, ["Hat"]);
    let state = &mut window.state_mut().state;
    state.args.crowd.hide = hidden;
    let (args, scene) = state.load(vec![file], Vec::new()).unwrap();
    state.show_scene(args, scene);
    window.run();
    assert!(window.query_by_label_contains("hut.gltf: 12 triangles, 8 vertices, ").is_some());
    assert_eq!(wish(&mut window, "show Hat_collider"), ["none", "Hat"]);
    assert_eq!(wish(&mut window, "show Hat"), [""; 0]);
    // It is alone: a click shows all.
    assert_eq!(wish(&mut window, "Coat  (12 triangles, paint 1)"), ["none"]);
    assert_eq!(wish(&mut window, "show all"), ["none"]);
    let (args, _) = window.state().state.load(Vec::new(), Vec::new()).unwrap();
    assert!(args.crowd.hide.is_empty(), "another model has other parts");
}

#[test]
fn enter_chooses_the_first_row_that_is_found() {
    let mut window = open(&path_of(WALKER), "");
    click(&mut window, "Look");
    click(&mut window, "weights of a joint");
    let search = |window: &mut Harness<Shown>, text: &str, enters: bool| {
        let field = window.get_by_role_and_label(Role::TextInput, "search joints");
        field.focus();
        field.type_text(text);
        if enters {
            window.key_press(Key::Enter);
        }
        window.run();
    };
    search(&mut window, "HE", false);
    assert!(window.query_by_label("head").is_some() && window.query_by_label("waist").is_none());
    search(&mut window, "ad", true);
    assert_eq!(window.state().state.args.crowd.show.joint.as_deref(), Some("head"));
    assert_eq!(window.state().state.scene.show.view, DebugView::Heat);
    search(&mut window, "x", false);
    assert!(window.query_by_label("nothing matches").is_some());
}

#[test]
fn messages_warnings_and_keys_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bare.gltf");
    let strip = std::fs::read_to_string(path_of(STRIP)).unwrap();
    let unknown = strip.replace(r#""asset""#, r#""extensionsUsed": ["KHR_materials_none"], "asset""#);
    std::fs::write(&file, unknown).unwrap();
    let mut window = open(&file, "");
    assert!(window.query_by_label("Warnings about the files (1)").is_some());
    for is_error in [false, true] {
        window.state_mut().notice = Some(Notice { text: "a message".to_owned(), is_error });
        window.run();
        let place = window.get_by_label("a message").rect();
        assert!(place.right() > 850.0 && place.bottom() > 1550.0, "{place:?}");
    }
    for (shows_panel, shows_help) in [(false, true), (true, true), (false, false)] {
        let contents = &mut window.state_mut().contents;
        (contents.shows_panel, contents.shows_help) = (shows_panel, shows_help);
        window.run();
        assert_eq!(window.query_by_label("Mouse and keys").is_some(), shows_help);
        assert_eq!(window.query_by_label("Frame time").is_some(), shows_panel);
    }
}

#[test]
fn the_name_of_a_view_stands_over_the_picture_without_the_panel() {
    let mut window = open(&path_of(WALKER), "");
    let contents = &mut window.state_mut().contents;
    contents.shows_panel = false;
    assert!(!contents.is_visible());
    contents.announce(DebugView::Normals);
    assert!(contents.is_visible());
    window.run_steps(2);
    assert!(window.query_by_label(DebugView::Normals.name()).is_some());
    assert!(window.query_by_label(DebugView::Normals.legend().unwrap()).is_some());
}

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
    // As in `bench`: the mean of the middle two.
    let last = (5..MOST_FRAMES + 5).map(|frame| 3.5 + frame as f64).collect();
    assert_eq!(figures.median_frame_ms(), Some(Summary::new(last).median));
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
fn indices_of_all_meshes_refer_to_one_list() {
    let mut mesh = Mesh::default();
    mesh.add_colored_rect(Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0)), Color32::from_rgb(1, 2, 3));
    let visible = Rect::from_min_max(pos2(0.0, 0.0), pos2(9.0, 9.0));
    let primitive = |clip_rect| ClippedPrimitive { clip_rect, primitive: Primitive::Mesh(mesh.clone()) };
    let mut overlay = Triangles::default();
    fill(&mut overlay, &[primitive(visible), primitive(Rect::NOTHING), primitive(visible)], 2.0, [9, 9]);
    assert_eq!((overlay.vertices.len(), overlay.indices.len(), overlay.draws.len()), (8, 12, 2));
    assert_eq!((overlay.indices.iter().min(), overlay.indices.iter().max()), (Some(&0), Some(&7)));
    assert_eq!(overlay.vertices[0].color_unorm8, 0xff03_0201);
    assert!(overlay.vertices.iter().all(|vertex| vertex.position_pixels.iter().all(|x| [0.0, 2.0].contains(x))));
}

/// The mark of the clip that plays is set.
#[test]
fn marks_beside_clips_add_them() {
    let mut window = open(&path_of(WALKER), "--clip Walk --instances 1");
    let marks = || window.get_all_by_label("play it together with the other marked clips");
    let are_set: Vec<_> = marks().map(|mark| mark.accesskit_node().toggled() == Some(Toggled::True)).collect();
    assert_eq!(are_set, [true, false, false, false]);
    marks().nth(1).unwrap().click();
    window.run();
    assert_eq!(window.state().wishes.together, Some(vec![0, 1]));
    let model = &window.state().state.scene.models[0];
    assert_eq!(choice_of(model, &[0, 3]), ClipChoice::Name("Walk+Wave".to_owned()));
    assert_eq!((choice_of(model, &[2]), choice_of(model, &[])), (ClipChoice::Index(2), ClipChoice::None));
}
