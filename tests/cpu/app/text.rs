//! Text, names of joints and morph targets, and the frames of a sequence.

use throng::app::joint::{joints, nodes_of_joint};
use throng::app::morphs::{hold_morphs, names_of_morphs, weights_of_morph};
use throng::app::render::delay;
use throng::app::render::sequence::Sequence;
use throng::app::text::{ColumnGroup, aligned, counted, grouped, number, paragraph};
use throng::cli::MorphArg;
use throng::model::Model;

use crate::common::assets::{WALKER, asset};
use crate::common::scene::arguments;

#[test]
fn long_lines_are_broken_between_words() {
    let text = "one two three four five six seven eight nine ten";
    assert_eq!(paragraph(30, text), "one two three four five six\nseven eight nine ten\n");
    assert_eq!(paragraph(80, text), format!("{text}\n"));
}

#[test]
fn columns_start_below_each_other() {
    assert_eq!(aligned(80, 2, [vec!["a", "name", "x"], vec!["10", "n", "y"]]), "  a   name  x\n  10  n     y\n");
    let row = ["a".repeat(40), "two words and some more of them, which do not fit".to_owned()];
    let wrapped = format!("  {}  two words and some more of them,\n{}which do not fit\n", row[0], " ".repeat(44));
    assert_eq!(aligned(80, 2, [row]), wrapped);
}

#[test]
fn groups_stand_side_by_side_where_the_page_holds_them() {
    let group = |title, headers: &[&'static str], cell: &str| {
        let column = |&header| (header, vec![cell.to_owned(), "1".to_owned()]);
        ColumnGroup { title, columns: headers.iter().map(column).collect() }
    };
    let keys = group("", &["instances"], "1000");
    let groups = [group("CPU", &["cull", "wait"], "1.25"), group("GPU", &["skin"], "12.5")];
    let expected = "          | CPU        | GPU\n\
                    instances | cull  wait | skin\n\
                    --------- | ---------- | ----\n     \
                         1000 | 1.25  1.25 | 12.5\n        \
                            1 |    1     1 |    1\n";
    assert_eq!(grouped(80, &keys, &groups), expected);
    let text = grouped(25, &keys, &groups);
    assert_eq!((text.matches("instances").count(), text.matches("1.25  1.25\n").count()), (2, 1), "{text}");
}

#[test]
fn quantities_have_few_digits() {
    let found = [0.0, 0.001_23, 0.0994, 0.123, 1.234, 9.994, 9.996, 12.34, 99.96, 1234.5, 1e6].map(number);
    assert_eq!(found, ["0.00", "0.001", "0.099", "0.12", "1.23", "9.99", "10.0", "12.3", "100", "1234", "1000000"]);
    let found = [counted(1, "mesh"), counted(2, "mesh"), counted(2, "vertex"), counted(2, "process")];
    assert_eq!(found, ["1 mesh", "2 meshes", "2 vertices", "2 processes"]);
}

#[test]
fn joints_have_names_and_indices() {
    let models = [asset(WALKER)];
    let model = &models[0];
    for node in joints(model) {
        let (name, index) = (&model.skeleton.names[node as usize], model.skeleton.source_nodes[node as usize]);
        assert_eq!(nodes_of_joint(&models, "--joint", name).unwrap(), [Some(node)]);
        assert_eq!(nodes_of_joint(&models, "--joint", &index.to_string()).unwrap(), [Some(node)]);
    }
    let error = nodes_of_joint(&models, "--joint", "tail").unwrap_err().to_string();
    let start = "--joint tail: no such joint; there are ";
    assert!(error.starts_with(start) && error.ends_with(" in walker.glb"), "{error}");
    // A role of a humanoid, and a name in other letters.
    let hand = nodes_of_joint(&models, "--joint", "hand.L").unwrap();
    for wanted in ["leftHand", "HAND.L"] {
        assert_eq!(nodes_of_joint(&models, "--joint", wanted).unwrap(), hand, "{wanted}");
    }
    let error = nodes_of_joint(&[Model::default()], "--joint", "x").unwrap_err().to_string();
    assert!(error.contains("none in"), "{error}");
}

#[test]
fn a_name_stands_for_the_targets_of_all_meshes() {
    let mut model = Model::default();
    model.skeleton.morph_names = ["Blink_L", "Smile", "0", "Blink_L"].map(Into::into).to_vec();
    model.skeleton.rest.morph_weights = vec![0.0; 4];
    assert_eq!(names_of_morphs(&model), ["Blink_L", "Smile", "0"]);
    let morph = |name: &str, weight| MorphArg { name: name.to_owned(), weight };
    let models = std::slice::from_mut(&mut model);
    hold_morphs(models, &[morph("blink_l", 0.5), morph("0", 2.0), morph("Blink_L", 1.0)]).unwrap();
    assert_eq!(models[0].skeleton.held_morphs, [(0, 1.0), (2, 2.0), (3, 1.0)]);
    // By its index, as messages list it.
    assert_eq!(weights_of_morph(&models[0], "1"), [1]);
    let error = hold_morphs(models, &[morph("smiel", 1.0)]).unwrap_err().to_string();
    assert!(error.starts_with("--morph smiel: no such morph target; there are: 1 \"Smile\","), "{error}");
    models[0].skeleton.hold_morph(0, None);
    assert_eq!(models[0].skeleton.held_morphs, [(2, 2.0), (3, 1.0)]);
}

#[test]
fn delays_are_fractions() {
    let found = [30.0, 24.0, 12.5, 0.25, 29.97, 30_000.0 / 1001.0, 65_535.0].map(|fps| delay(fps).unwrap());
    assert_eq!(found, [(1, 30), (1, 24), (2, 25), (4, 1), (100, 2997), (1001, 30_000), (1, 65_535)]);
    let (numerator, denominator) = delay(std::f64::consts::PI).unwrap();
    assert!((f64::from(denominator) / f64::from(numerator) / std::f64::consts::PI - 1.0).abs() < 1e-6);
    assert!(delay(1e-4).is_none() && delay(1e9).is_none());
}

fn sequence(options: &str, is_film: bool, loop_seconds: Option<f64>) -> Sequence {
    Sequence::new(&arguments(options), is_film, loop_seconds)
}

#[test]
fn films_show_whole_loops() {
    let count = |loop_seconds| sequence("", true, loop_seconds).frames.len();
    assert_eq!(sequence("", false, Some(1.5)).frames, 0..1);
    // 4 / 1.5 is nearest to three loops of 45 frames.
    assert_eq!([None, Some(1.5), Some(10.0), Some(1000.0), Some(1e-6)].map(count), [120, 135, 300, 120, 120]);
    assert_eq!(sequence("--turntable", false, Some(1.5)).frames, 0..135);
    assert_eq!(sequence("--turntable --fps 1e-6", false, None).frames, 0..1);
    assert_eq!(sequence("--turntable --fps 1e9", false, None).frames, 0..1_000_000);
}
