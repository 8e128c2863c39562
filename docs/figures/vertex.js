// Where is my vertex? The addresses of one vertex and one joint matrix in a small frame, which frame.json has.
import { controls, html, live, select, slider, svg } from "./controls.js";

/** Returns the addresses of a vertex of an instance, with the expressions of the shaders for a way of skinning. */
export function addresses({ instances, poses, batches, levels, bytes, poses_per_group: size }, instance, vertex, joint, way) {
    const { pose } = instances[instance], record = poses[pose];
    const batch = batches.find(({ first_pose: first, pose_count: count }) => pose >= first && pose < first + count);
    const level = levels.find(one => one.level === batch.levels.camera);
    const at = { palette: record.palette_offset + joint, page: record.skinned_vertex_offset + vertex,
        bind: record.bind_vertex_offset + vertex };
    const term = (array, offset, index, value, element, elementBytes) => `${array}[poses[${pose}].${offset} + ${index}] = `
        + `${array}[${record[offset]} + ${value}] = ${array}[${element}], byte ${element * elementBytes}`;
    const bind = term("bind_vertices", "bind_vertex_offset", "vertex", vertex, at.bind, bytes.bind_vertex);
    const matrix = term("palette", "palette_offset", "joint", joint, at.palette, bytes.joint_matrix);
    const skinned = index => term("skinned_vertices", "skinned_vertex_offset", index, vertex, at.page, bytes.skinned_vertex);
    const turn = (pose - batch.first_pose) % size, group = (pose - batch.first_pose - turn) / size;
    const expressions = way === "compute" ? [
        ["skin.comp: the pose, the next one in turn", `p = first_pose + gl_WorkGroupID.y * POSES_PER_GROUP + ${turn} = `
            + `${batch.first_pose} + ${group} * ${size} + ${turn} = ${pose}`],
        ["skin.comp reads", bind], ["skin.comp reads", matrix], ["skin.comp writes", skinned("vertex")],
        ["character.vert reads", skinned("gl_VertexIndex")],
    ] : [["character.vert: the pose", `p = instances[${instance}].pose = ${pose}`], ["character.vert reads", bind],
        ["character.vert reads", matrix], ["character.vert keeps", "the skinned vertex in registers: no page has it"]];
    return { pose, record, level, at, expressions };
}

export default async function show() {
    const frame = await (await fetch(new URL("frame.json", import.meta.url))).json();
    const { instances, poses, levels, bytes } = frame;
    const state = { instance: 4, vertex: 40, joint: 3, way: "compute" };
    const drawing = svg("svg", { viewBox: "0 0 600 235", class: "drawing memory", "aria-hidden": "true" });
    const result = live(), elements = controls();

    /** A bar of memory: its ranges (first element, end, whether it belongs to the pose, name), and the element itself. */
    function bar(y, title, count, elementBytes, at, ranges) {
        const x = element => (element / count) * 600;
        return [svg("text", { x: 0, y: y - 6 }, `${title}: ${count} × ${elementBytes} bytes`),
            ...ranges.map(([first, end, isOwn]) =>
                svg("rect", { x: x(first), y, width: x(end - first), height: 18, class: isOwn ? "own" : "" })),
            svg("rect", { x: x(at), y: y - 2, width: Math.max(x(1), 1), height: 22, class: "mark" }),
            ...ranges.map(([first, end, , name]) => svg("text", { x: x((first + end) / 2), y: y + 14, class: "mid" }, name))];
    }

    function set(name, value) {
        state[name] = value;
        const { instance, vertex, joint, way } = state;
        const { pose, record, level, at, expressions } = addresses(frame, instance, vertex, joint, way);
        const one = (list, isOwn) => list.map((element, k) => [k, k + 1, isOwn(element), k]);
        const ofPoses = (offset, size) => poses.map((other, index) => {
            const { [size]: count } = levels.find(({ bind_vertex_offset: first }) => first === other.bind_vertex_offset);
            return [other[offset], other[offset] + count, index === pose, `pose ${index}`];
        });
        const bind = levels.map(({ level: number, bind_vertex_offset: first, vertices }) =>
            [first, first + vertices, number === level.level, `level ${number}`]);
        drawing.replaceChildren(
            ...bar(22, "instances", instances.length, bytes.instance, instance, one(instances, other => other.pose === pose)),
            ...bar(68, "pose records", poses.length, bytes.record, pose, one(poses, other => other === record)),
            ...bar(114, "palette", frame.joints, bytes.joint_matrix, at.palette, ofPoses("palette_offset", "joints")),
            ...bar(160, "bind vertices", frame.bind_vertices, bytes.bind_vertex, at.bind, bind),
            ...(way === "vertex" ? [] : bar(206, "page 0", frame.page_vertices, bytes.skinned_vertex, at.page,
                ofPoses("skinned_vertex_offset", "vertices"))));
        const others = instances.flatMap((other, index) => (other.pose === pose && index !== instance ? [index] : []));
        const shared = others.length === 0 ? "" : `, as does instance ${others.join(" and ")}`;
        result.replaceChildren(
            html("p", {}, `Instance ${instance} shows pose ${pose} in level ${level.level}${shared}.`),
            html("pre", {}, `poses[${pose}] = ${JSON.stringify(record, null, 1).replaceAll("\n", " ")}`),
            html("dl", {}, ...expressions.flatMap(([who, what]) =>
                [html("dt", {}, who), html("dd", {}, html("code", {}, what))])));
    }

    function choose(instance) {
        const { level } = addresses(frame, instance, 0, 0, state.way);
        const element = (name, count) => {
            state[name] = Math.min(state[name], count - 1);
            return slider(name, [0, count - 1, 1], state[name], "", value => set(name, value)).element;
        };
        elements.replaceChildren(element("vertex", level.vertices), element("joint", level.joints));
        set("instance", instance);
    }

    choose(state.instance);
    const source = html("pre", { tabindex: 0 }, JSON.stringify(frame, null, 2));
    const ways = select("skinning", [["compute", "compute"], ["vertex", "vertex"]], "compute", way => set("way", way));
    const choice = select("instance", Object.keys(instances).map(k => [k, k]), state.instance, value => choose(Number(value)));
    return [controls(choice, ways), elements, drawing, result,
        html("details", {}, html("summary", {}, "The frame as JSON"), source)];
}
