// The skins of the figures: the bundled strip, the SimpleSkin of Khronos' sample models, and the grid of WebGL Fundamentals'
// lesson on skinning. `joint_from_mesh` of each is a translation. Turns are around the z axis.
import { turn } from "./math.js";

const Z = [0, 0, 1];
const translation = (x, y) => [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, y, 0, 1];
const rows = (count, of) => Array.from({ length: count }, (_, row) => of(row)).flat();

/** Ten vertices in five rows, and two joints. */
function strip(name, rotations) {
    return {
        name, joints: ["lower", "upper"], parents: [undefined, 0], offsets: [[0, 0, 0], [0, 1, 0]],
        jointFromMesh: [translation(0, 0), translation(0, -1)],
        positions: rows(5, row => [[-0.5, row / 2, 0], [0.5, row / 2, 0]]),
        influences: rows(5, row => Array(2).fill([[0, 1 - row / 4], [1, row / 4]])),
        // The sampler of the joint `upper`.
        clip: { times: rows(12, key => [key / 2]), values: [0, 1, 2, 2, 1, 0, 0, -1, -2, -2, -1, 0].flatMap(rotations) },
        duration: 5.5, start: [-30, 75], vertex: 9, circle: [0, 1.5, 0.3], world: translation(2, 0),
        view: { mesh: [-2.6, -1, 5.2, 4], world: [-1, -1, 5.2, 4] },
    };
}

export const MODELS = {
    strip: strip("the strip of this book", eighths => turn(Z, eighths * 45)),
    // The same, with its rotations in three digits.
    simple: strip("Simple Skin", eighths =>
        [0, 0, Math.sign(eighths) * [0, 0.383, 0.707][Math.abs(eighths)], [1, 0.924, 0.707][Math.abs(eighths)]]),
    grid: {
        name: "the WebGL grid", joints: ["bone0", "bone1", "bone2"], parents: [undefined, 0, 1],
        offsets: [[0, 0, 0], [4, 0, 0], [4, 0, 0]],
        jointFromMesh: [0, -4, -8].map(x => translation(x, 0)),
        positions: rows(5, column => [[2 * column, 1, 0], [2 * column, -1, 0]]),
        influences: [[[0, 1]], [[0, 0.5], [1, 0.5]], [[1, 1]], [[1, 0.5], [2, 0.5]], [[2, 1]]].flatMap(list => [list, list]),
        // All bones turn by the same angle.
        swing: seconds => (Math.sin(seconds) * 0.8 * 180) / Math.PI,
        duration: 2 * Math.PI, start: [20, 20, 20], vertex: 6, circle: [6.9, 0, 0.8], world: translation(4, 0),
        view: { mesh: [-10, -9, 22, 18], world: [-6, -9, 22, 18] },
    },
};
