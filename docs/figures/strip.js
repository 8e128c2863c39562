// The strip: a skin of two or three joints, with every matrix of the product, the stages, and four mistakes.
import * as math from "./math.js";
import { MODELS } from "./models.js";
import { checkbox, controls, draggable, html, live, matrices, player, point, select, slider, svg } from "./controls.js";

const STAGES = ["mesh", "joint", "model", "world"].map(stage => [stage, `${stage} space`]);
const SWITCHES = [
    ["inverseBinds", "apply inverse bind matrices"], ["parentsFirst", "parents before children"],
    ["weightsSum", "divide weights by their sum"], ["cofactors", "normals by cofactors"],
];
const degreesOf = (x, y) => (Math.atan2(y, x) * 180) / Math.PI;

/** Returns what the figure shows: matrices of nodes, joints and vertices, and positions, up to a stage. */
export function evaluate(model, { angles, stretch = 1, stage = "model", isDual = false, right = math.RIGHT }) {
    const last = model.joints.length - 1;
    const nodes = model.offsets.map((translation, joint) => ({
        parent: model.parents[joint], translation, rotation: math.turn([0, 0, 1], angles[joint]),
        scale: joint === last ? [stretch, 1 / stretch, 1] : [1, 1, 1],
    }));
    const modelFromJoint = math.modelFromNodes(nodes, right);
    const joints = math.jointMatrices(modelFromJoint, model.jointFromMesh, right, stage);
    const world = stage === "world" ? model.world : math.IDENTITY;
    // In the file of this figure, the weights of the second half add up to 0.8, as in the drawing of the page.
    const sumOf = vertex => (vertex >= model.positions.length / 2 - 1 ? 0.8 : 1);
    const influences = model.influences.map((list, vertex) =>
        math.usedInfluences(list.map(([joint, weight]) => [joint, sumOf(vertex) * weight]), right));
    const modelFromMesh = influences.map(list => (isDual ? math.blendDual : math.blendLinear)(list, joints));
    const placed = math.product(world, joints[last]);
    const bones = modelFromJoint.map((matrix, joint) => stage === "joint" ? [0, 0, 0]
        : stage === "mesh" ? math.scaled(model.jointFromMesh[joint].slice(12, 15), -1)
            : math.transformPoint(world, matrix.slice(12, 15)));
    const positions = model.positions.map((p, k) => math.transformPoint(world, math.transformPoint(modelFromMesh[k], p)));
    return { nodes, modelFromJoint, joints, influences, modelFromMesh, placed, bones, positions };
}

/** Returns the local angle of a joint that makes its bone point from its place to a point. */
function angleTowards(model, { modelFromJoint, bones }, joint, [x, y]) {
    const parent = modelFromJoint[model.parents[joint]] ?? math.IDENTITY, [ox, oy] = bones[joint], [dx, dy] = model.offsets[1];
    const angle = degreesOf(x - ox, y - oy) - degreesOf(dx, dy) - degreesOf(parent[0], parent[1]);
    return Math.round((((angle % 360) + 540) % 360) - 180);
}

/** The quads of the mesh, from pairs of vertices. */
const outline = (positions, kind) => positions.slice(3).flatMap((_, k) => {
    const corners = [k, k + 1, k + 3, k + 2].map(at => `${positions[at][0]},${-positions[at][1]}`).join(" ");
    return k % 2 === 0 ? [svg("polygon", { points: corners, class: kind })] : [];
});

const line = ([x, y], [toX, toY], kind) => svg("line", { x1: x, y1: -y, x2: toX, y2: -toY, class: kind });

/** The circle of the lesson on normals, which follows the last joint. */
function circle([x, y, radius], placed, right) {
    const ends = Array.from({ length: 16 }, (_, k) => math.turn([0, 0, 1], k * 45).slice(2)).map(([sine, cosine]) => {
        const p = math.transformPoint(placed, [x + radius * cosine, y + radius * sine, 0]);
        return [p, math.addScaled(p, radius, math.normalise(math.transformNormal(placed, [cosine, sine, 0], right)))];
    });
    const points = ends.map(([p]) => `${p[0]},${-p[1]}`).join(" ");
    return [svg("polygon", { points, class: "circle" }), ...ends.map(([p, end]) => line(p, end, "normal"))];
}

/** The matrices of the stage, in the notation of the pages. */
function products(model, posed, { stage, joint, vertex, isDual, right }) {
    if (stage === "mesh") return [html("p", {}, "No matrix is applied. The vertices are where the file has them.")];
    const name = model.joints[joint], parent = model.parents[joint], above = model.joints[parent];
    const own = [`model_from_${name}`, posed.modelFromJoint[joint]], lists = [];
    const bind = [`${name}_from_mesh`, right.inverseBinds ? model.jointFromMesh[joint] : math.IDENTITY];
    if (stage === "joint") lists.push(matrices(bind));
    else {
        const before = [`model_from_${above}`, right.parentsFirst ? posed.modelFromJoint[parent] : math.IDENTITY, "*"];
        const local = [`${above}_from_${name}`, math.matrixOf(posed.nodes[joint]), "="];
        if (above !== undefined) lists.push(matrices(before, local, own));
        lists.push(matrices([...own, "*"], [...bind, "="], ["joint matrix", posed.joints[joint]]));
    }
    const [of, sum] = stage === "joint" ? ["joint_from_mesh", "weighted mean"] : ["joint matrix", "model_from_mesh"];
    const list = posed.influences[vertex], blended = posed.modelFromMesh[vertex];
    const terms = list.map(([at, weight], k) => [`${Number(weight.toPrecision(3))} * ${of} of ${model.joints[at]}`,
        math.scaled(posed.joints[at], weight), k + 1 < list.length ? "+" : "="]);
    // Dual quaternions are not added number by number, so their blend has no terms of matrices.
    const isSum = !isDual || list.length === 1;
    lists.push(isSum ? matrices(...terms, [sum, blended]) : matrices([`${sum}, by dual quaternions`, blended]));
    return stage === "world" ? [...lists, matrices(["world_from_model", model.world])] : lists;
}

export default function show({ stage: first = "model" } = {}) {
    const state = { stage: first, isDual: false, right: { ...math.RIGHT }, stretch: 1 };
    const drawing = svg("svg", { class: "drawing", role: "group", "aria-label": "The strip. Drag the ends of the bones." });
    const [result, sums, joints] = [live(), html("div"), controls()];
    const time = player(seconds => atTime(state.seconds + seconds), result);
    let model, sliders, handles, layer, unit;
    const set = (name, value) => { state[name] = value; update(); };

    function atTime(seconds) {
        state.seconds = seconds % model.duration;
        const [, , z, w] = model.swing ? [] : math.normalise(math.sample(model.clip, 4, state.seconds, true));
        set("angles", model.swing ? model.joints.map(() => model.swing(state.seconds)) : [0, 2 * degreesOf(w, z)]);
    }

    function turnJoint(joint, degrees) {
        time.stop();
        set("angles", state.angles.map((angle, at) => (at === joint ? degrees : angle)));
    }

    function choose(name) {
        time.stop();
        model = MODELS[name];
        Object.assign(state, { angles: model.start, vertex: model.vertex, joint: model.joints.length - 1, seconds: 0 });
        sliders = model.joints.map((joint, at) =>
            slider(`turn ${joint}`, [-180, 180, 1], state.angles[at], "°", degrees => turnJoint(at, degrees)));
        const stretch = slider(`stretch ${model.joints.at(-1)}`, [0.5, 2, 0.05], state.stretch, "", x => set("stretch", x));
        joints.replaceChildren(...sliders.map(one => one.element), stretch.element,
            select("matrices of joint", Object.entries(model.joints), state.joint, k => set("joint", +k)),
            select("and of vertex", Object.keys(model.positions).map(k => [k, k]), state.vertex, k => set("vertex", +k)));
        // The handles stay in the drawing while they are dragged.
        [unit, layer] = [model.view.mesh[2] / 100, svg("g")];
        handles = model.joints.map((joint, at) => {
            const handle = svg("circle", { r: 2 * unit });
            draggable(drawing, handle, `end of ${joint}; arrow keys turn it`,
                ([x, y]) => turnJoint(at, angleTowards(model, evaluate(model, state), at, [x, -y])),
                ([right, up]) => turnJoint(at, state.angles[at] + 5 * (up - right)));
            return handle;
        });
        drawing.replaceChildren(layer, ...handles);
        update();
    }

    function update() {
        const posed = evaluate(model, state), { right, stage, vertex, stretch } = state, { bones, placed, positions } = posed;
        const isWrong = SWITCHES.some(([name]) => !right[name]), isPosed = stage === "model" || stage === "world";
        const [x, y, w, h] = model.view[stage === "world" ? "world" : "mesh"];
        drawing.setAttribute("viewBox", `${x} ${-y - h} ${w} ${h}`);
        sliders.forEach((one, at) => one.set(Math.round(state.angles[at])));
        const dots = positions.map(([cx, cy], at) => svg("circle", { cx, cy: -cy, r: (at === vertex ? 1.8 : 0.9) * unit,
            class: at === vertex ? "mark" : "dot", onclick: () => set("vertex", at) }));
        const [dx, dy] = model.offsets[1];
        const tips = bones.map(([bx, by], joint) => {
            const [a, b] = math.normalise(posed.modelFromJoint[joint].slice(0, 2));
            return isPosed ? [bx + a * dx - b * dy, by + b * dx + a * dy] : bones[joint + 1] ?? [bx, by];
        });
        layer.replaceChildren(...outline(positions, isWrong ? "wrong" : "right"),
            ...(isWrong ? outline(evaluate(model, { ...state, right: math.RIGHT }).positions, "ghost") : []),
            line([0, 0], [16 * unit, 0], "axis x"), line([0, 0], [0, 16 * unit], "axis y"),
            ...bones.map((from, joint) => line(from, tips[joint], "bone")),
            ...(stretch === 1 ? [] : circle(model.circle, placed, right)), ...dots);
        handles.forEach((handle, joint) => {
            handle.setAttribute("cx", tips[joint][0]);
            handle.setAttribute("cy", -tips[joint][1]);
            handle.style.display = isPosed ? "" : "none";
        });
        sums.replaceChildren(...products(model, posed, state));
        const normal = math.normalise(math.transformNormal(placed, [1, 1, 0], right));
        const cosine = math.dot(math.normalise(math.transformVector(placed, [1, -1, 0])), normal);
        const angle = (Math.acos(cosine) * 180) / Math.PI, about = `Circle: ${angle.toFixed(1)}° from normal to tangent.`;
        result.textContent = `Vertex ${vertex}: ${point(model.positions[vertex])} in mesh space, `
            + `${point(positions[vertex])} in ${stage} space. ${stretch === 1 ? "" : about}`;
    }

    const flag = ([name, label]) => checkbox(label, true, isRight => set("right", { ...state.right, [name]: isRight }));
    choose("strip");
    return [controls(select("skin", Object.entries(MODELS).map(([key, { name }]) => [key, name]), "strip", choose),
        select("stop in", STAGES, first, stage => set("stage", stage)),
        select("blend", [["", "matrices"], ["dual", "dual quaternions"]], "", dual => set("isDual", dual === "dual")),
        time.element, ...SWITCHES.map(flag)), drawing, result, joints, sums];
}
