// The candy wrapper: a tube that is twisted or bent, blended by matrices and by dual quaternions.
import { IDENTITY, jointMatrices, length, matrixOf, modelFromMesh, transformPoint, turn } from "./math.js";
import { controls, draggable, html, live, select, slider, svg } from "./controls.js";

const [SIDES, RINGS, RADIUS] = [36, 21, 0.25];
const JOINT = [0, 1, 0], JOINT_FROM_MESH = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -1, 0, 1];

/** The weight of the upper joint. It grows from 0.6 m to 1.4 m, as in assets/tube.gltf. */
const weightAt = height => Math.min(Math.max((height - 0.6) / 0.8, 0), 1);

/** Moves a point of the tube. The upper joint twists around y, or bends around z. */
export function moved(p, kind, degrees, isDual) {
    const rotation = turn(kind === "twist" ? [0, 1, 0] : [0, 0, 1], degrees);
    const joints = jointMatrices([IDENTITY, matrixOf({ translation: JOINT, rotation })], [IDENTITY, JOINT_FROM_MESH]);
    const upper = weightAt(p[1]);
    return transformPoint(modelFromMesh([[0, 1 - upper], [1, upper]], joints, isDual), p);
}

/** Returns the distance of the outside of the tube at a height from the axis, or from the joint after a bend. */
export function distanceAt(height, kind, degrees, isDual) {
    const [x, y, z] = moved([-RADIUS, height, 0], kind, degrees, isDual);
    return length(kind === "twist" ? [x, z] : [x, y - 1, z]);
}

function tube(kind, degrees, isDual) {
    const grid = Array.from({ length: RINGS }, (_, ring) => Array.from({ length: SIDES }, (_, side) => {
        const angle = (2 * Math.PI * side) / SIDES;
        return moved([RADIUS * Math.cos(angle), ring / 10, RADIUS * Math.sin(angle)], kind, degrees, isDual);
    }));
    const quads = grid.slice(1).flatMap((upper, ring) => upper.map((_, side) => {
        const next = (side + 1) % SIDES;
        const corners = [grid[ring][side], grid[ring][next], upper[next], upper[side]];
        const points = corners.map(([x, y]) => `${x},${-y}`).join(" ");
        const depth = corners.reduce((sum, p) => sum + p[2], 0);
        return [depth, svg("polygon", { points, class: `stripe${Math.floor(side / 3) % 2}` })];
    }));
    return quads.sort((a, b) => a[0] - b[0]).map(([, quad]) => quad);
}

export default function show() {
    const state = { kind: "twist", degrees: 180 }, result = live();
    const panels = [["matrices", false], ["dual quaternions", true]].map(([name, isDual]) => {
        const layer = svg("g"), drawing = svg("svg", { viewBox: "-1.15 -2.1 2.3 2.2", class: "tube" }, layer);
        let from = null;
        draggable(drawing, drawing, `${name}; drag or use arrow keys to turn the upper end`,
            ([x]) => { from ??= [x, state.degrees]; set(from[1] + (x - from[0]) * 200); },
            ([right, up]) => set(state.degrees + 5 * (right + up)));
        drawing.addEventListener("pointerdown", () => { from = null; });
        return { isDual, layer, element: html("div", { class: "panel" }, name, drawing) };
    });
    const turned = slider("turn", [-180, 180, 1], state.degrees, "°", set);

    function set(degrees) {
        state.degrees = Math.round(Math.min(Math.max(degrees, -180), 180));
        turned.set(state.degrees);
        for (const { isDual, layer } of panels) layer.replaceChildren(...tube(state.kind, state.degrees, isDual));
        const [linear, dual] = panels.map(({ isDual }) => distanceAt(1, state.kind, state.degrees, isDual).toFixed(4));
        result.textContent = `At a height of 1 m, the surface is ${linear} m (matrices) or ${dual} m (dual quaternions) from `
            + `the ${state.kind === "twist" ? "axis" : "joint"}. In the bind pose it is ${RADIUS.toFixed(4)} m from it.`;
    }

    const kinds = select("the upper joint", [["twist", "twists"], ["bend", "bends"]], "twist", kind => {
        state.kind = kind;
        set(kind === "twist" ? 180 : 120);
    });
    set(180);
    return [controls(kinds, turned.element), html("div", { class: "panels" }, ...panels.map(panel => panel.element)), result];
}
