// What the figures must agree with: the files of assets/conformance and their mistakes, and the numbers of the pages. A check is
// a function of the modules of a folder, so that it can be run on copies with mistakes.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { accessor, evaluateFile, influencesOf } from "./gltf.mjs";

export const ROOT = join(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "../..");
export const FIGURES = join(ROOT, "docs/figures");
const CONFORMANCE = join(ROOT, "assets/conformance");
export const text = (...path) => readFileSync(join(ROOT, ...path), "utf8");
const json = (...path) => JSON.parse(text(...path));
const PAGES = readdirSync(join(ROOT, "docs")).filter(file => file.endsWith(".md")).map(file => text("docs", file)).join("");

/** Compares numbers in any nesting. What `expected` does not name is not compared. */
function assertClose(found, expected, most, what) {
    if (typeof expected === "number") assert.ok(Math.abs(found - expected) <= most, `${what}: ${found}, not ${expected}`);
    else if (expected === null || typeof expected !== "object") assert.equal(found, expected, what);
    else {
        if (Array.isArray(expected)) assert.equal(found?.length, expected.length, what);
        for (const [key, value] of Object.entries(expected)) assertClose(found?.[key], value, most, `${what}.${key}`);
    }
}

/** Copies the figures to a folder in which Node reads them as modules, with a change of the text of one of them. */
export async function withModules(run, { file, right, wrong } = {}) {
    const folder = mkdtempSync(join(tmpdir(), "figures-"));
    try {
        cpSync(FIGURES, folder, { recursive: true });
        writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
        if (file) {
            const before = readFileSync(join(folder, file), "utf8");
            assert.equal(before.split(right).length, 2, `${file} has this text once: ${right}`);
            writeFileSync(join(folder, file), before.replace(right, () => wrong));
        }
        const names = ["math", "models", "strip", "curves", "vertex", "frames", "wrapper"];
        const modules = await Promise.all(names.map(name => import(pathToFileURL(join(folder, `${name}.js`)))));
        await run(Object.fromEntries(names.map((name, k) => [name, modules[k]])));
    } finally {
        rmSync(folder, { recursive: true });
    }
}

const compared = ({ nodes, skins, weights, primitives }) => ({ nodes, skins, weights,
    primitives: primitives.map(({ clockwise, positions, normals, tangents }) =>
        JSON.parse(JSON.stringify({ clockwise, positions, normals, tangents }))) });

function assertFrames(math, name, frames, right) {
    const found = evaluateFile(math, json("assets/conformance", `${name}.gltf`), frames.map(({ time }) => time), right);
    frames.forEach((frame, k) => assertClose(found[k], compared(frame), 1e-6, `${name} at ${frame.time} s`));
}

const caseNames = readdirSync(CONFORMANCE).filter(file => file.endsWith(".gltf")).map(file => file.slice(0, -5));

function conformance({ math }) {
    assert.ok(caseNames.length >= 44);
    for (const name of caseNames) assertFrames(math, name, json("assets/conformance", `${name}.json`).frames);
}

/** The switches, and their mistakes in mistakes.json. */
const MISTAKES = {
    inverseBinds: "inverse binds left out", parentsFirst: "no parents", weightsSum: "weights not divided by their sum",
    cofactors: "normals by the matrix itself", interval: "tangents without the interval", shortWay: "the long way",
};
const wrongFrames = new Map();

/** What the evaluator prints with a mistake. It needs Python 3, as the test of the evaluator itself does. */
function framesWithMistake(mistake, name) {
    const key = `${mistake} ${name}`;
    if (wrongFrames.has(key)) return wrongFrames.get(key);
    const { right, wrong } = json("assets/conformance/mistakes.json").find(one => one.mistake === mistake);
    const source = text("assets/conformance/evaluate.py");
    assert.equal(source.split(right).length, 2);
    // The mistake of the evaluator is in one of both tangents, and the switch is for both.
    const [other, wrongOther] = ["span * (t**3 - t**2) * a", mistake === MISTAKES.interval ? "(t**3 - t**2) * a" : undefined];
    assert.equal(source.split(other).length, 2);
    const program = source.replace(right, () => wrong).replace(other, text => wrongOther ?? text);
    const output = execFileSync("python3", ["-B", "-c", program, join(CONFORMANCE, `${name}.gltf`)], { encoding: "utf8" });
    wrongFrames.set(key, JSON.parse(output).frames);
    return wrongFrames.get(key);
}

function wrongSwitches({ math }) {
    assert.deepEqual(Object.keys(MISTAKES), Object.keys(math.RIGHT));
    for (const [name, mistake] of Object.entries(MISTAKES)) {
        const right = { ...math.RIGHT, [name]: false };
        for (const file of json("assets/conformance/mistakes.json").find(one => one.mistake === mistake).cases) {
            assertFrames(math, file, framesWithMistake(mistake, file), right);
            assert.throws(() => assertFrames(math, file, json("assets/conformance", `${file}.json`).frames, right), file);
        }
    }
}

/** The rows of numbers of a block of the pages. */
function block(name) {
    const [found] = PAGES.split(`<!-- numbers: ${name} -->\n\`\`\`text\n`)[1].split("```");
    return found.trimEnd().split("\n").map(line => ({ line, numbers: (line.match(/-?\d+(\.\d+)?/g) ?? []).map(Number) }));
}

const rowsOf = m => [0, 1, 2].map(row => [m[row], m[4 + row], m[8 + row], m[12 + row]]);
const PAGE = 5.1e-5;

function numbersOfThePage({ math, models, strip, curves, wrapper }) {
    const model = models.MODELS.strip, angle = 90;
    const posed = (angles, right = math.RIGHT) => strip.evaluate(model, { angles, right: { ...math.RIGHT, ...right } });
    const bent = posed([0, angle]);
    for (const { numbers: [time, ...rest] } of block("sample")) {
        const q = math.sample(model.clip, 4, time, true);
        assertClose([...q, (2 * Math.atan2(q[2], q[3]) * 180) / Math.PI], rest, 0.051, "sample");
        assertClose(q, rest.slice(0, 4), PAGE, "sample");
    }
    for (const { numbers: [time, ...heights] } of block("interpolation").slice(1)) {
        const ways = ["STEP", "LINEAR", "CUBICSPLINE"];
        const found = ways.map(way => curves.valuesAt([time], way, "height", [[0.5, 0, 4], [1, 1, 0]])[0]);
        assertClose(found, heights, PAGE, `interpolation at ${time} s`);
    }
    const sideBySide = (...list) => [0, 1, 2].map(row => list.flatMap(m => rowsOf(m)[row]));
    const assertBlock = (name, found) => assertClose(found, block(name).slice(1, 4).map(({ numbers }) => numbers), PAGE, name);
    assertBlock("hierarchy", sideBySide(bent.modelFromJoint[0], math.matrixOf(bent.nodes[1]), bent.modelFromJoint[1]));
    assertBlock("joint", sideBySide(bent.modelFromJoint[1], model.jointFromMesh[1], bent.joints[1]));
    assertBlock("blend", sideBySide(...bent.joints.map(joint => math.scaled(joint, 0.5)), bent.modelFromMesh[5]));
    const vertices = block("vertices").slice(1);
    assert.equal(vertices.length, 10);
    for (const { numbers: [vertex, x, y, lower, upper, ...places] } of vertices) {
        const p = model.positions[vertex], by = bent.joints.map(joint => math.transformPoint(joint, p));
        assertClose(p, [x, y, 0], 0, "bind position");
        assertClose(model.influences[vertex], [[0, lower], [1, upper]], 0, "weights");
        assertClose([...by, bent.positions[vertex]].flatMap(q => q.slice(0, 2)), places, PAGE, `vertex ${vertex}`);
    }
    const switches = [{}, { inverseBinds: false }, { parentsFirst: false }, { weightsSum: false }];
    block("mistakes").forEach(({ numbers }, k) =>
        assertClose(posed([-30, 75], switches[k]).positions[9].slice(0, 2), numbers.slice(-2), PAGE, Object.keys(switches[k]).join()));
    const stretched = math.matrixOf({ scale: [2, 0.5, 1] });
    const tangent = math.normalise(math.transformVector(stretched, [1, -1, 0]));
    assertClose(tangent.slice(0, 2), block("normals")[0].numbers, PAGE, "tangent");
    [false, true].forEach((cofactors, k) => {
        const normal = math.normalise(math.transformNormal(stretched, [1, 1, 0], { ...math.RIGHT, cofactors }));
        const { numbers: [x, y, degrees] } = block("normals")[k + 1];
        assertClose(normal, [x, y, 0], PAGE, "normal");
        assertClose((Math.acos(math.dot(normal, tangent)) * 180) / Math.PI, degrees, 0.051, "angle");
    });
    const tube = block("dual quaternions").slice(1);
    assert.equal(tube.length, 5);
    for (const { numbers: [height, , ...distances] } of tube) {
        const ways = [["twist", 180, false], ["twist", 180, true], ["bend", 120, false], ["bend", 120, true]];
        assertClose(ways.map(way => wrapper.distanceAt(height, ...way)), distances, PAGE, `tube at ${height} m`);
    }
    // The answer to question 2 of the first evening.
    const [x, y] = text("docs/first_evening.md").match(/^2\. \(([\d.]+), ([\d.]+)\)/m).slice(1).map(Number);
    assertClose(posed([0, 45]).positions[5].slice(0, 2), [x, y], 5.1e-4, "question 2");
}

/** The strip is the bundled one. Simple Skin is compared where the sample models are. */
function modelsAreTheFiles({ math, models }) {
    const samples = process.env.THRONG_SAMPLE_MODELS;
    const simple = samples ? [["simple", JSON.parse(readFileSync(join(samples, "SimpleSkin/SimpleSkin.gltf")))]] : [];
    for (const [name, gltf] of [["strip", json("assets/simple_strip.gltf")], ...simple]) {
        const model = models.MODELS[name], [primitive] = gltf.meshes[0].primitives, [{ input, output }] = gltf.animations[0].samplers;
        assertClose(model.positions, accessor(gltf, primitive.attributes.POSITION), 0, name);
        const influences = influencesOf(gltf, primitive);
        const used = list => list.filter(([, weight]) => weight > 0);
        model.influences.forEach((list, vertex) => assertClose(used(list), used(influences(vertex)), 0, `${name} ${vertex}`));
        assertClose(model.jointFromMesh, accessor(gltf, gltf.skins[0].inverseBindMatrices), 0, name);
        assertClose(model.clip.times, accessor(gltf, input).flat(), 0, name);
        assertClose(model.clip.values, accessor(gltf, output).flat(), 1e-6, name);
        assertClose(model.offsets[1], gltf.nodes[2].translation, 0, name);
    }
    // The joints of the grid are at x = 0, 4 and 8 in the bind pose, where all joint matrices are the identity.
    const grid = models.MODELS.grid, nodes = grid.offsets.map((translation, k) => ({ translation, parent: grid.parents[k] }));
    const bound = math.jointMatrices(math.modelFromNodes(nodes), grid.jointFromMesh);
    assertClose(bound, [math.IDENTITY, math.IDENTITY, math.IDENTITY], 0, "grid");
}

/** A removed arrow leaves hazards of the kinds that the page names for it, and no arrow is there in vain. */
function hazardsOfThePage({ math, frames }) {
    const rows = [...text("docs/frame.md").matchAll(/^\| ([SW1-7]) \| .* \| ((?:RAW|WAR|WAW|, )+) \|$/gm)];
    assert.equal(rows.length, 9);
    const kinds = { "READ-AFTER-WRITE": "RAW", "WRITE-AFTER-READ": "WAR", "WRITE-AFTER-WRITE": "WAW" };
    for (const isStaged of [true, false]) {
        for (const isCopied of [true, false]) {
            const found = without => math.hazards(frames.frameItems({ isStaged, isCopied, without }));
            assert.deepEqual(found(""), []);
            for (const [, arrow, named] of rows.filter(([, arrow]) => arrow !== "S")) {
                const reported = found(arrow).filter(one => one.isReported);
                for (const { name } of reported) assert.ok(named.includes(kinds[name.slice("SYNC-HAZARD-".length)]), `${arrow}: ${name}`);
                // The copy of the picture and the upload after it are a chain that orders the same accesses.
                const isChained = isStaged && isCopied && ["5", "7", "W"].includes(arrow);
                assert.equal(reported.length > 0, !isChained && (arrow !== "1" || isStaged), `${arrow} ${isStaged} ${isCopied}`);
            }
        }
    }
    const ends = without => math.hazards(frames.frameItems({ without })).map(({ name, first, second }) =>
        `${name.slice("SYNC-HAZARD-".length)} ${first.pass} ${first.frame} ${second.pass} ${second.frame} ${second.resource}`);
    assert.ok(ends("2").includes("READ-AFTER-WRITE skin 0 shadow 0 page 0"));
    assert.ok(ends("3").includes("READ-AFTER-WRITE shadow 1 draw 1 shadow map"));
    assert.ok(ends("5").includes("WRITE-AFTER-READ draw 0 shadow 1 shadow map"));
    assert.ok(ends("6").includes("WRITE-AFTER-WRITE draw 0 draw 1 depth"));
    assert.ok(ends("W").includes("WRITE-AFTER-READ draw 0 skin 2 page 0"));
}

/** A wait for a frame does not order the next one, and a barrier of an image does not make another one visible. */
function dependenciesHaveTheirScope({ math }) {
    const access = (frame, stage, resource, isWrite) => ({ access: true, frame, pass: "", stage, resource, isWrite });
    const count = (...items) => math.hazards(items).length;
    const wait = { dependency: true, from: ["VERTEX"], to: ["HOST"], ofFrame: 0 };
    assert.equal(count(access(0, "VERTEX", "page", false), wait, access(2, "HOST", "page", true)), 0);
    assert.equal(count(access(1, "VERTEX", "page", false), wait, access(2, "HOST", "page", true)), 1);
    const barrier = resource => ({ dependency: true, from: ["DEPTH"], to: ["FRAGMENT"], resource });
    assert.equal(count(access(0, "DEPTH", "a", true), barrier("a"), access(0, "FRAGMENT", "a", false)), 0);
    assert.equal(count(access(0, "DEPTH", "a", true), barrier("b"), access(0, "FRAGMENT", "a", false)), 1);
    assert.equal(count(access(0, "FRAGMENT", "a", false), barrier("b"), access(0, "COLOUR", "a", true)), 0);
    assert.equal(count(access(0, "COLOUR", "a", true), barrier("a"), access(0, "FRAGMENT", "a", false)), 1);
}

/** The blend takes the shorter way, and whichever way all joints are turned and moved, it turns and moves with them. */
function dualQuaternionsHaveNoPreferredDirection({ math }) {
    for (const [a, b, middle] of [[0, 60, 30], [0, -60, -30], [300, 60, 0], [170, 190, 180], [100, -100, 180]]) {
        const [from, to, half] = [a, b, middle].map(degrees => math.matrixOf({ rotation: math.turn([0, 0, 1], degrees) }));
        assertClose(math.blendDual([[0, 0.5], [1, 0.5]], [from, to]), half, 1e-12, `${a} and ${b} degrees`);
    }
    const joints = [[10, 0.5], [150, -1], [-70, 2]].map(([degrees, x]) =>
        math.matrixOf({ translation: [x, 1, 0], rotation: math.turn([0.6, 0, 0.8], degrees), scale: [1, 1.5, 0.75] }));
    const influences = [[0, 0.5], [1, 0.3], [2, 0.2]], blended = math.blendDual(influences, joints);
    for (let degrees = 0; degrees < 360; degrees += 15) {
        for (const axis of [[1, 0, 0], [0, 0.8, 0.6], [0.6, 0, -0.8]]) {
            const moved = math.matrixOf({ translation: [3, 0, -2], rotation: math.turn(axis, degrees) });
            const found = math.blendDual(influences, joints.map(joint => math.product(moved, joint)));
            assertClose(found, math.product(moved, blended), 1e-9, `${degrees} degrees around ${axis}`);
        }
    }
}

/** frame.json follows the rules of docs/palette.md, and its addresses are the answers to question 4 of the first evening. */
function addressesOfTheFrame({ vertex: { addresses } }) {
    const frame = json("docs/figures/frame.json"), { levels, poses, batches, instances } = frame;
    let [joint, vertex, first] = [0, 0, 0];
    poses.forEach((record, pose) => {
        const batch = batches.find(one => pose >= one.first_pose && pose < one.first_pose + one.pose_count);
        const level = levels.find(one => one.level === Math.min(batch.levels.camera, batch.levels.light));
        assert.deepEqual(record, { palette_offset: joint, skinned_vertex_offset: vertex, morph_weight_offset: 0,
            morph_weight_count: 0, bind_vertex_offset: level.bind_vertex_offset });
        assert.equal(batch.vertex_count, level.vertices);
        joint += level.joints;
        vertex += Math.ceil(level.vertices / 4) * 4;
    });
    assert.deepEqual([frame.joints, frame.page_vertices], [joint, vertex]);
    for (const { first_pose: start, pose_count: count, seen } of batches) {
        const own = instances.filter(({ pose }) => pose >= start && pose < start + count);
        assert.deepEqual(seen, { first, count: own.length });
        first += own.length;
    }
    assert.ok(instances.length > poses.length && batches.length > 1, "poses are shared, and there are two levels");
    const answer = text("docs/first_evening.md").match(/^4\. Byte \(24 \+ 5\) × 48 = ([\d,]+) .* × 16 = ([\d,]+) of/m).slice(1);
    const shown = addresses(frame, 2, 10, 5, "compute").expressions.map(([, expression]) => expression);
    assert.deepEqual([shown[2], shown[3]].map(line => line.match(/byte (\d+)/)[1]), answer.map(number => number.replace(",", "")));
    const far = addresses(frame, 4, 3, 2, "vertex");
    assert.deepEqual(far.at, { palette: 50, page: 875, bind: 1202 });
    assert.ok(far.expressions.every(([, expression]) => !expression.includes("skinned_vertices[")));
}

export const CHECKS = {
    conformance, wrongSwitches, numbersOfThePage, modelsAreTheFiles, dualQuaternionsHaveNoPreferredDirection, hazardsOfThePage,
    dependenciesHaveTheirScope, addressesOfTheFrame,
};
