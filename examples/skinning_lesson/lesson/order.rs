//! The drawing of three ways to walk a skeleton: recursion, a sorted array, lanes.

use glam::{Vec2, vec2};

use super::svg::Svg;

/// A small skeleton in the order of its file: name, parent, position in the drawing of the tree.
const NODES: [(&str, Option<usize>, [f32; 2]); 6] = [
    ("shin", Some(2), [60.0, 170.0]),
    ("head", Some(4), [190.0, 170.0]),
    ("thigh", Some(3), [60.0, 115.0]),
    ("hips", None, [125.0, 60.0]),
    ("spine", Some(3), [190.0, 115.0]),
    ("foot", Some(0), [60.0, 225.0]),
];
/// The same nodes, parents before children.
const SORTED: [usize; 6] = [3, 2, 0, 5, 4, 1];
const LANES: usize = 8;
const CELL: Vec2 = Vec2::new(27.0, 27.0);

pub fn order() -> String {
    let mut svg = Svg::new(900.0, 275.0);
    recursion(&mut svg);
    sorted(&mut svg);
    lanes(&mut svg);
    svg.finish()
}

fn recursion(svg: &mut Svg) {
    svg.text(vec2(125.0, 22.0), "title mid", "1. recursion");
    for (_, parent, [x, y]) in NODES {
        if let Some(parent) = parent {
            let [parent_x, parent_y] = NODES[parent].2;
            svg.arrow(vec2(x, y - 13.0), vec2(parent_x, parent_y + 14.0), "line");
        }
    }
    for (index, (name, _, [x, y])) in NODES.into_iter().enumerate() {
        svg.rectangle(vec2(x - 38.0, y - 13.0), vec2(76.0, 26.0), "box");
        svg.text(vec2(x, y + 5.0), "mid", &format!("{index} {name}"));
    }
}

fn sorted(svg: &mut Svg) {
    svg.text(vec2(405.0, 22.0), "title mid", "2. one loop over a sorted array");
    svg.text(vec2(330.0, 48.0), "note mid", "node");
    svg.text(vec2(440.0, 48.0), "note mid", "parent");
    for (row, &node) in SORTED.iter().enumerate() {
        let y = 75.0 + 30.0 * row as f32;
        let (name, parent, _) = NODES[node];
        svg.rectangle(vec2(285.0, y - 17.0), vec2(95.0, 26.0), "box");
        svg.text(vec2(332.0, y), "mid", &format!("{row} {name}"));
        svg.rectangle(vec2(400.0, y - 17.0), vec2(80.0, 26.0), "box");
        let parent = parent.and_then(|parent| SORTED.iter().position(|&node| node == parent));
        let parent = parent.map_or("none".to_owned(), |parent| format!("{parent} < {row}"));
        svg.text(vec2(440.0, y), "mid", &parent);
    }
    svg.arrow(vec2(270.0, 60.0), vec2(270.0, 240.0), "line");
}

fn lanes(svg: &mut Svg) {
    svg.text(vec2(720.0, 22.0), "title mid", "3. eight instances in lanes");
    for lane in 0..LANES {
        svg.text(vec2(610.0 + CELL.x * (lane as f32 + 0.5), 48.0), "note mid", &lane.to_string());
    }
    for (row, &node) in SORTED.iter().enumerate() {
        let y = 58.0 + 30.0 * row as f32;
        svg.text(vec2(545.0, y + 18.0), "", &format!("{row} {}", NODES[node].0));
        for lane in 0..LANES {
            let class = if row == 1 { "hot" } else { "box" };
            svg.rectangle(vec2(610.0 + CELL.x * lane as f32, y), CELL - 2.0, class);
        }
    }
    svg.arrow(vec2(533.0, 60.0), vec2(533.0, 240.0), "line");
    svg.text(vec2(700.0, 258.0), "note mid", "one register holds one number of eight instances");
}
