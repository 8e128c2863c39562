// Evaluates a glTF file with the mathematics of the figures, in the form of assets/conformance/evaluate.py.

const COMPONENTS = {
    5120: ["getInt8", 1, 127], 5121: ["getUint8", 1, 255], 5122: ["getInt16", 2, 32767], 5123: ["getUint16", 2, 65535],
    5125: ["getUint32", 4], 5126: ["getFloat32", 4],
};
const WIDTHS = { SCALAR: 1, VEC2: 2, VEC3: 3, VEC4: 4, MAT4: 16 };

function elements(gltf, viewIndex, offset, type, width, count, stride, isNormalised) {
    const view = gltf.bufferViews[viewIndex], [read, bytes, divisor] = COMPONENTS[type];
    const data = Buffer.from(gltf.buffers[view.buffer].uri.split(",")[1], "base64");
    const start = (view.byteOffset ?? 0) + offset, values = new DataView(data.buffer, data.byteOffset, data.length);
    return Array.from({ length: count }, (_, element) => Array.from({ length: width }, (_, k) => {
        const value = values[read](start + element * (stride ?? width * bytes) + k * bytes, true);
        return isNormalised ? Math.max(value / divisor, -1) : value;
    }));
}

export function accessor(gltf, index) {
    const { type, componentType: kind, count, bufferView, byteOffset = 0, normalized, sparse } = gltf.accessors[index];
    const width = WIDTHS[type];
    const found = bufferView === undefined ? Array.from({ length: count }, () => Array(width).fill(0))
        : elements(gltf, bufferView, byteOffset, kind, width, count, gltf.bufferViews[bufferView].byteStride, normalized);
    if (sparse) {
        const { indices, values } = sparse;
        const at = elements(gltf, indices.bufferView, indices.byteOffset ?? 0, indices.componentType, 1, sparse.count);
        const other = elements(gltf, values.bufferView, values.byteOffset ?? 0, kind, width, sparse.count, undefined, normalized);
        at.forEach(([element], k) => { found[element] = other[k]; });
    }
    return found;
}

/** Returns the nodes with the values of the clip, their parents and their morph weights. */
function localPose(math, gltf, clip, time, right) {
    const nodes = gltf.nodes.map((node, index) => {
        const parent = gltf.nodes.findIndex(other => other.children?.includes(index)), mesh = gltf.meshes?.[node.mesh];
        const targets = mesh?.primitives[0].targets?.length ?? 0;
        const weights = mesh && [node.weights, mesh.weights].find(list => list?.length) || Array(targets).fill(0);
        return { ...node, weights, parent: parent < 0 ? undefined : parent };
    });
    for (const { target, sampler } of clip?.channels ?? []) {
        const { input, output, interpolation } = clip.samplers[sampler], node = nodes[target.node];
        const track = { times: accessor(gltf, input).flat(), values: accessor(gltf, output).flat(), interpolation };
        const width = { rotation: 4, weights: node.weights.length }[target.path] ?? 3;
        node[target.path] = math.sample(track, width, time, target.path === "rotation", right);
    }
    return nodes;
}

function skinned(math, gltf, primitive, weights, matrices, right) {
    const morphed = attribute => accessor(gltf, primitive.attributes[attribute]).map((vector, vertex) =>
        (primitive.targets ?? []).reduce((sum, target, k) => attribute in target
            ? math.addScaled(sum, weights[k], accessor(gltf, target[attribute])[vertex]) : sum, vector.slice(0, 3)));
    const direction = (turned, old) => math.normalise(turned.some(x => x !== 0) ? turned : old);
    const arrays = { positions: morphed("POSITION").map((p, vertex) => math.transformPoint(matrices(vertex), p)) };
    if ("NORMAL" in primitive.attributes) {
        arrays.normals = morphed("NORMAL").map((n, vertex) => direction(math.transformNormal(matrices(vertex), n, right), n));
    }
    if ("TANGENT" in primitive.attributes) {
        const handedness = accessor(gltf, primitive.attributes.TANGENT).map(tangent => tangent[3]);
        arrays.tangents = morphed("TANGENT").map((t, vertex) => [...direction(math.transformVector(matrices(vertex), t), t),
            handedness[vertex] * math.signOf(matrices(vertex))]);
    }
    return arrays;
}

export function influencesOf(gltf, { attributes }) {
    const sets = Object.keys(attributes).filter(name => name.startsWith("JOINTS_")).map(name => name.slice(7));
    const lists = sets.map(set => ["JOINTS_", "WEIGHTS_"].map(name => accessor(gltf, attributes[name + set])));
    return vertex => lists.flatMap(([joints, weights]) => joints[vertex].map((joint, k) => [joint, weights[vertex][k]]));
}

export function evaluateFile(math, gltf, times, right = math.RIGHT) {
    return times.map(time => {
        const nodes = localPose(math, gltf, gltf.animations?.[0], time, right), modelFromNode = math.modelFromNodes(nodes, right);
        const skins = (gltf.skins ?? []).map(skin => math.jointMatrices(skin.joints.map(joint => modelFromNode[joint]),
            skin.inverseBindMatrices === undefined ? skin.joints.map(() => math.IDENTITY) : accessor(gltf, skin.inverseBindMatrices),
            right));
        const primitives = nodes.flatMap((node, index) => (gltf.meshes[node.mesh]?.primitives ?? []).map(primitive => {
            const influences = influencesOf(gltf, primitive);
            const matrices = vertex => node.skin === undefined ? modelFromNode[index]
                : math.modelFromMesh(influences(vertex), skins[node.skin], false, right);
            return { clockwise: math.signOf(matrices(0)) < 0, ...skinned(math, gltf, primitive, node.weights, matrices, right) };
        }));
        const weights = Object.fromEntries(nodes.map((node, index) => [index, node.weights]).filter(([, list]) => list.length));
        return { time, nodes: modelFromNode, skins, weights, primitives };
    });
}
