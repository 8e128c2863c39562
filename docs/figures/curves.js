// Three curves between two keys: STEP, LINEAR and CUBICSPLINE, of a height or of a rotation, and two mistakes.
import { RIGHT, normalise, sample, scaled, turn } from "./math.js";
import { checkbox, controls, draggable, html, live, select, slider, svg } from "./controls.js";

const WAYS = ["STEP", "LINEAR", "CUBICSPLINE"];
/** The kinds of values: the first keys (time, value, tangent per second), the lowest value of the picture and its height. */
const KINDS = {
    height: { keys: [[0.5, 0, 4], [1, 1, 0]], low: -0.5, size: 2.5, grid: [0, 0.5, 1, 1.5], unit: " m", step: 0.05, digits: 4 },
    turn: { keys: [[0.5, 0, 0], [1, 270, 0]], low: -180, size: 540, grid: [-90, 0, 90, 270], unit: "°", step: 5, digits: 1 },
};
const LAST_SECOND = 1.5;

/** Returns the value at each of the times. A rotation is sampled as a quaternion; its angle goes on from time to time. */
export function valuesAt(times, interpolation, kind, keys, right = RIGHT) {
    const isRotation = kind === "turn";
    const value = ([, v]) => (isRotation ? turn([0, 0, 1], v) : [v]);
    // The quaternion of half the angle changes by half the speed.
    const tangent = ([, v, speed]) => (isRotation ? scaled(turn([0, 0, 1], v + 180), (speed * Math.PI) / 360) : [speed]);
    const parts = interpolation === "CUBICSPLINE" ? key => [tangent(key), value(key), tangent(key)].flat() : value;
    const sampler = { times: keys.map(([time]) => time), values: keys.flatMap(parts), interpolation };
    let last = keys[0][1];
    return times.map(time => {
        const found = sample(sampler, isRotation ? 4 : 1, time, isRotation, right);
        if (!isRotation) return found[0];
        const [, , z, w] = normalise(found), degrees = (2 * Math.atan2(z, w) * 180) / Math.PI;
        last = degrees + 360 * Math.round((last - degrees) / 360);
        return last;
    });
}

export default function show() {
    const state = { right: { ...RIGHT }, seconds: 0.75 }, layer = svg("g"), result = live();
    let kind;
    const drawing = svg("svg", { viewBox: "0 0 600 300", class: "drawing", role: "group", "aria-label": "Value over time" });
    const times = Array.from({ length: 301 }, (_, k) => (k / 300) * LAST_SECOND);
    const x = seconds => 62 + (seconds / LAST_SECOND) * 525;
    const y = value => 285 - ((value - kind.low) / kind.size) * 270;
    const back = ([px, py]) => [((px - 62) / 525) * LAST_SECOND, kind.low + ((285 - py) / 270) * kind.size];
    const rounded = value => Math.round(value / kind.step) * kind.step;
    const set = (name, value) => { state[name] = value; update(); };

    // A key keeps its place before or after the other one. Tangents end a fifth of a second from their keys.
    const away = at => (at === 0 ? 0.2 : -0.2);
    function moveKey(at, [seconds, value]) {
        const [least, most] = at === 0 ? [0, state.keys[1][0] - 0.1] : [state.keys[0][0] + 0.1, LAST_SECOND];
        state.keys[at].splice(0, 2, Math.min(Math.max(Math.round(seconds * 40) / 40, least), most), rounded(value));
        update();
    }
    const setTangent = (at, speed) => { state.keys[at][2] = rounded(speed); update(); };
    const circles = (kind, r) => [0, 1].map(() => svg("circle", { r, class: kind }));
    const [handles, tangents] = [circles("key", 8), circles("tangent", 7)];
    handles.forEach((handle, at) => draggable(drawing, handle, `key ${at}; arrow keys move it`, p => moveKey(at, back(p)),
        ([dx, dy]) => moveKey(at, [state.keys[at][0] + dx / 20, state.keys[at][1] + dy * kind.step])));
    tangents.forEach((handle, at) => draggable(drawing, handle, `${["out", "in"][at]}-tangent; up and down change it`,
        p => setTangent(at, (back(p)[1] - state.keys[at][1]) / away(at)),
        ([, dy]) => setTangent(at, state.keys[at][2] + dy * 10 * kind.step)));

    function choose(name) {
        kind = KINDS[name];
        Object.assign(state, { name, keys: kind.keys.map(key => [...key]) });
        update();
    }

    function update() {
        const { name, keys, right, seconds } = state, { grid, unit, digits } = kind;
        const lines = grid.flatMap(value => [
            svg("line", { x1: 62, x2: 587, y1: y(value), y2: y(value), class: "grid" }),
            svg("text", { x: 56, y: y(value) + 4, class: "end" }, `${value}${unit}`)]);
        const curves = WAYS.map(way => {
            const values = valuesAt(times, way, name, keys, right);
            return svg("polyline", { points: times.map((t, k) => `${x(t)},${y(values[k])}`).join(" "), class: `curve ${way}` });
        });
        const places = keys.map(([time, value]) => [x(time), y(value)]);
        const ends = keys.map(([time, value, speed], at) => [x(time + away(at)), y(value + away(at) * speed)]);
        const arms = ends.map(([x2, y2], k) => svg("line", { x1: places[k][0], y1: places[k][1], x2, y2, class: "tangent" }));
        const line = svg("line", { x1: x(seconds), x2: x(seconds), y1: 15, y2: 285, class: "now" });
        layer.replaceChildren(...lines, line, ...curves, ...arms);
        [...handles, ...tangents].forEach((handle, at) => {
            const [cx, cy] = [...places, ...ends][at];
            handle.setAttribute("cx", cx);
            handle.setAttribute("cy", cy);
        });
        // The angle at a time is that of the curve, which comes from the first key.
        const now = [...times.filter(time => time < seconds), seconds];
        result.replaceChildren(...WAYS.map(way => html("span", { class: `legend ${way}` },
            `${way} ${valuesAt(now, way, name, keys, right).at(-1).toFixed(digits)}${unit}`)), ` at ${seconds.toFixed(3)} s`);
    }

    const flag = (name, label) => checkbox(label, true, isRight => set("right", { ...state.right, [name]: isRight }));
    drawing.append(layer, ...tangents, ...handles);
    choose("height");
    return [controls(select("animate", Object.keys(KINDS).map(name => [name, `a ${name}`]), "height", choose),
        slider("time", [0, LAST_SECOND, 0.025], state.seconds, " s", seconds => set("seconds", seconds)).element,
        flag("interval", "tangents times Δt"), flag("shortWay", "−w if the dot product is negative")), drawing, result];
}
