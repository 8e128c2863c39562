// The mathematics of the figures, without a document, so that a test can compare it with the files of assets/conformance.
//
// Matrices are 16 numbers, column by column, as in glTF: m[4 * column + row]. They are named destination_from_source.
// Quaternions are x, y, z, w. An influence is a pair of a joint and a weight.

/** The steps that a reader can leave out. The names are those of the switches. */
export const RIGHT = Object.freeze({
    inverseBinds: true, parentsFirst: true, weightsSum: true, cofactors: true, interval: true, shortWay: true,
});

export const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

// ---- vectors and matrices
export const dot = (a, b) => a.reduce((sum, x, k) => sum + x * b[k], 0);
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
export const scaled = (a, factor) => a.map(x => factor * x);
export const addScaled = (a, factor, b) => a.map((x, k) => x + factor * b[k]);
export const length = a => Math.sqrt(dot(a, a));
export const normalise = a => (length(a) > 0 ? scaled(a, 1 / length(a)) : a);
const columns = m => [m.slice(0, 3), m.slice(4, 7), m.slice(8, 11)];
const matrixOfColumns = ([x, y, z], t) => [...x, 0, ...y, 0, ...z, 0, ...t, 1];

/** Returns a * b: b is applied first. */
export function product(a, b) {
    return IDENTITY.map((_, at) => {
        const row = at % 4, column = at - row;
        return dot([a[row], a[4 + row], a[8 + row], a[12 + row]], b.slice(column, column + 4));
    });
}
export const transformVector = (m, v) => [0, 1, 2].map(row => m[row] * v[0] + m[4 + row] * v[1] + m[8 + row] * v[2]);
export const transformPoint = (m, p) => addScaled(transformVector(m, p), 1, m.slice(12, 15));

/** Returns -1 if m mirrors. */
export const signOf = m => (dot(m.slice(0, 3), cross(m.slice(4, 7), m.slice(8, 11))) < 0 ? -1 : 1);

/** Transforms a normal by the cofactors of the 3x3 part, the inverse transpose times the determinant. */
export function transformNormal(m, n, right = RIGHT) {
    const [x, y, z] = columns(m);
    if (!right.cofactors) return transformVector(m, n);
    return scaled(transformVector(matrixOfColumns([cross(y, z), cross(z, x), cross(x, y)], [0, 0, 0]), n), signOf(m));
}

/** Returns parent_from_node: the node's own matrix, or translation * rotation * scale. */
export function matrixOf({ matrix, translation = [0, 0, 0], rotation = [0, 0, 0, 1], scale = [1, 1, 1] }) {
    if (matrix) return matrix;
    const [x, y, z, w] = normalise(rotation);
    const axes = [
        [1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)],
        [2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)],
        [2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)],
    ];
    return matrixOfColumns(axes.map((axis, k) => scaled(axis, scale[k])), translation);
}

/** Returns the rotation by an angle in degrees around an axis of length 1. */
export const turn = (axis, degrees, half = (degrees * Math.PI) / 360) => [...scaled(axis, Math.sin(half)), Math.cos(half)];

// ---- step 1: sample a clip
/** Turns from a to b at constant speed, along the shorter arc: a quaternion and its negative are the same rotation. */
export function slerp(a, b, t, right = RIGHT) {
    const end = right.shortWay && dot(a, b) < 0 ? scaled(b, -1) : b;
    const angle = Math.acos(Math.min(Math.max(dot(a, end), -1), 1));
    if (Math.sin(angle) < 1e-9) return a;
    return addScaled(scaled(a, Math.sin((1 - t) * angle) / Math.sin(angle)), Math.sin(t * angle) / Math.sin(angle), end);
}

/** Returns the value of a sampler at a time: `width` numbers. Before the first key and after the last one nothing changes. */
export function sample({ times, values, interpolation = "LINEAR" }, width, time, isRotation = false, right = RIGHT) {
    const isSpline = interpolation === "CUBICSPLINE";
    // A key of a spline has three parts: in-tangent, value, out-tangent.
    const part = (key, number) => values.slice((isSpline ? 3 * key + number : key) * width).slice(0, width);
    const last = times.length - 1;
    if (time <= times[0]) return part(0, 1);
    if (time >= times[last]) return part(last, 1);
    let key = last - 1;
    while (times[key] > time) key -= 1;
    const interval = times[key + 1] - times[key], t = (time - times[key]) / interval;
    const [v, w] = [part(key, 1), part(key + 1, 1)].map(value => (isRotation ? normalise(value) : value));
    if (interpolation === "STEP") return v;
    if (!isSpline) return isRotation ? slerp(v, w, t, right) : addScaled(scaled(v, 1 - t), t, w);
    // Tangents are changes per second, so they are multiplied by the length of the interval.
    const seconds = right.interval ? interval : 1, [b, a] = [part(key, 2), part(key + 1, 0)];
    return v.map((_, k) => (2 * t ** 3 - 3 * t ** 2 + 1) * v[k] + seconds * (t ** 3 - 2 * t ** 2 + t) * b[k]
        + (3 * t ** 2 - 2 * t ** 3) * w[k] + seconds * (t ** 3 - t ** 2) * a[k]);
}

// ---- steps 2 and 3: from the root to the joints, and from the mesh to the joints
/** Returns model_from_node of each node. `parent` is an index, or undefined. The nodes may have any order. */
export function modelFromNodes(nodes, right = RIGHT) {
    const of = node => {
        const own = matrixOf(node), parent = nodes[node.parent];
        // A child that comes before its parent takes the parent's old matrix, which is the identity in the first frame.
        return parent === undefined || !right.parentsFirst ? own : product(of(parent), own);
    };
    return nodes.map(of);
}

/** Returns the matrix of each joint at a stage of `model_from_joint * joint_from_mesh`. */
export function jointMatrices(modelFromJoint, jointFromMesh, right = RIGHT, stage = "model") {
    if (stage === "mesh") return modelFromJoint.map(() => IDENTITY);
    const second = right.inverseBinds ? jointFromMesh : modelFromJoint.map(() => IDENTITY);
    return stage === "joint" ? second : modelFromJoint.map((first, joint) => product(first, second[joint]));
}

// ---- step 5: blend
/** Returns the influences that count, with weights that add up to 1. If all are 0, the first joint has all of it. */
export function usedInfluences(influences, right = RIGHT) {
    const used = influences.filter(([, weight]) => weight > 0);
    if (used.length === 0) return [[influences[0][0], 1]];
    const sum = right.weightsSum ? used.reduce((total, [, weight]) => total + weight, 0) : 1;
    return used.map(([joint, weight]) => [joint, weight / sum]);
}

export const blendLinear = (influences, joints) =>
    influences.reduce((sum, [joint, weight]) => addScaled(sum, weight, joints[joint]), Array(16).fill(0));

export const quaternionProduct = (a, b) => [
    ...addScaled(addScaled(scaled(b, a[3]), b[3], a), 1, cross(a, b)).slice(0, 3), a[3] * b[3] - dot(a.slice(0, 3), b)];

/** Returns the quaternion of three columns, by the largest of its components (Shepperd). */
function quaternionOf([[a, b, c], [d, e, f], [g, h, i]]) {
    const squares = [1 + a - e - i, 1 - a + e - i, 1 - a - e + i, 1 + a + e + i];
    const largest = squares.indexOf(Math.max(...squares)), twice = Math.sqrt(squares[largest]);
    const rows = [[0, d + b, g + c, f - h], [d + b, 0, h + f, g - c], [g + c, h + f, 0, b - d], [f - h, g - c, b - d, 0]];
    return rows[largest].map((sum, k) => (k === largest ? twice / 2 : sum / (2 * twice)));
}

/** Takes the 3x3 part of a matrix apart, into a rotation and three columns of a stretch. */
function rotationAndStretch(m) {
    const [x, y, z] = columns(m), normal = cross(x, y);
    // A part that has collapsed or mirrors is a stretch alone.
    if (!(dot(normal, z) > 0 && dot(x, x) > 1e-30 && dot(normal, normal) > 1e-30)) return [[0, 0, 0, 1], [x, y, z]];
    const axes = [x, cross(normal, x), normal].map(normalise);
    return [quaternionOf(axes), [x, y, z].map(column => axes.map(axis => dot(axis, column)))];
}

/** Returns model_from_mesh by dual quaternions, as docs/blends.md lists the steps. */
export function blendDual(influences, joints) {
    if (influences.length === 1) return joints[influences[0][0]];
    let real = [0, 0, 0, 0], dual = [0, 0, 0, 0], stretch = Array(16).fill(0);
    for (const [joint, weight] of influences) {
        const [found, part] = rotationAndStretch(joints[joint]);
        // q and -q are the same rotation. Take the one on the side of the sum so far.
        const agreement = dot(found, real), largest = Math.max(...found.map(Math.abs));
        const isOpposite = agreement < 0 || (agreement === 0 && found.find(x => Math.abs(x) === largest) < 0);
        const rotation = scaled(found, isOpposite ? -1 : 1);
        real = addScaled(real, weight, rotation);
        dual = addScaled(dual, weight / 2, quaternionProduct([...joints[joint].slice(12, 15), 0], rotation));
        stretch = addScaled(stretch, weight, matrixOfColumns(part, [0, 0, 0]));
    }
    const size = length(real), conjugate = [...scaled(real, -1).slice(0, 3), real[3]];
    const translation = scaled(quaternionProduct(dual, conjugate), 2 / (size * size)).slice(0, 3);
    return product(matrixOf({ translation, rotation: real }), stretch);
}

/** Returns model_from_mesh of a vertex. */
export const modelFromMesh = (influences, joints, isDual = false, right = RIGHT) =>
    (isDual ? blendDual : blendLinear)(usedInfluences(influences, right), joints);

// ---- hazards of frames in flight
// A barrier also waits for the earlier stages of a pipeline, and also holds the later ones back. DEPTH is both depth tests.
const EARLIER = { FRAGMENT: ["VERTEX"], DEPTH: ["VERTEX", "FRAGMENT"], COLOUR: ["VERTEX", "DEPTH", "FRAGMENT"] };
const LATER = { VERTEX: ["DEPTH", "FRAGMENT", "COLOUR"], DEPTH: ["FRAGMENT", "COLOUR"], FRAGMENT: ["COLOUR"] };
const widened = (stages, more) => stages.flatMap(stage => [stage, ...(more[stage] ?? [])]);

/** Returns whether the dependencies order the access `first` before the access `second`. */
function isOrdered(first, second, dependencies) {
    // The stages that wait for the access, and those to which its memory is visible.
    let waiting = [], visible = [];
    for (const { from, to, resource, ofFrame } of dependencies) {
        // A wait of the CPU is for one frame and all before it.
        if (first.frame > ofFrame) continue;
        const isChained = widened(from, EARLIER).some(stage => waiting.includes(stage));
        if (!isChained && !widened(from, EARLIER).includes(first.stage)) continue;
        const isSeen = from.includes(first.stage) || from.some(stage => visible.includes(stage));
        if (isSeen && (resource === undefined || resource === first.resource)) visible = [...visible, ...to];
        waiting = [...waiting, ...widened(to, LATER)];
    }
    if (!waiting.includes(second.stage)) return false;
    // A read is followed by a write: nothing must be visible. Two writes: the first one must have left the caches.
    return !first.isWrite || (second.isWrite ? visible.length > 0 : visible.includes(second.stage));
}

/** Lists the hazards of accesses and dependencies in the order of their submission, as synchronization validation does:
 *  an access is compared with the reads since the last write to the same resource, and with this write. */
export function hazards(items) {
    const found = [];
    items.forEach((second, end) => {
        if (!second.access) return;
        const earlier = items.slice(0, end).filter(item => item.access && item.resource === second.resource);
        const lastWrite = earlier.findLastIndex(item => item.isWrite);
        const reads = earlier.slice(lastWrite + 1);
        for (const first of [...(second.isWrite ? reads : []), ...earlier.slice(Math.max(lastWrite, 0), lastWrite + 1)]) {
            if (isOrdered(first, second, items.slice(items.indexOf(first), end).filter(item => item.dependency))) continue;
            const kind = [second, first].map(item => (item.isWrite ? "WRITE" : "READ")).join("-AFTER-");
            // The layer does not see writes to mapped memory. It compares a write with the reads, if there are any.
            const isReported = ![first, second].some(item => item.stage === "HOST")
                && !(second.isWrite && first.isWrite && reads.length > 0);
            found.push({ name: `SYNC-HAZARD-${kind}`, first, second, isReported });
        }
    });
    return found;
}
