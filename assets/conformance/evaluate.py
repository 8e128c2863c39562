#!/usr/bin/env python3
"""A glTF 2.0 animation, morphed and skinned, in double precision, to be read from top to bottom.

    evaluate.py FILE.gltf        prints the expected numbers of a file of this folder as JSON

It knows nothing but the file's layout and the rules of docs/skinning.md. Matrices are lists of 16 numbers, column by column, as in
the file: m[4 * column + row]. Quaternions are x, y, z, w. The output is that of `throng pose --json`, which docs/skinning.md
describes. License: CC0-1.0, like everything in this folder.
"""

import base64
import json
import math
import struct
import sys

# ---- the file: JSON, with its buffers in data URIs -----------------------------------------------------------------------

# componentType: its code in Python's struct, its size, and what a normalised value is divided by.
COMPONENTS = {5120: ("b", 1, 127), 5121: ("B", 1, 255), 5122: ("h", 2, 32767), 5123: ("H", 2, 65535), 5125: ("I", 4, None), 5126: ("f", 4, None)}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


def read_elements(gltf, view, offset, component_type, width, count, stride, normalised):
    """Reads `count` elements of `width` numbers from a buffer view."""
    code, size, divisor = COMPONENTS[component_type]
    view = gltf["bufferViews"][view]
    data = base64.b64decode(gltf["buffers"][view["buffer"]]["uri"].split(",")[1])
    start = view.get("byteOffset", 0) + offset
    stride = stride or width * size
    elements = [list(struct.unpack_from(f"<{width}{code}", data, start + k * stride)) for k in range(count)]
    if normalised:
        # Signed: -128 and -127 both stand for -1.
        elements = [[max(number / divisor, -1.0) for number in element] for element in elements]
    return elements


def read_accessor(gltf, index):
    """Returns the elements of an accessor, each a list of numbers."""
    accessor = gltf["accessors"][index]
    width, kind = WIDTHS[accessor["type"]], accessor["componentType"]
    normalised = accessor.get("normalized", False)
    if "bufferView" in accessor:
        stride = gltf["bufferViews"][accessor["bufferView"]].get("byteStride")
        elements = read_elements(gltf, accessor["bufferView"], accessor.get("byteOffset", 0), kind, width, accessor["count"], stride, normalised)
    else:
        elements = [[0.0] * width for _ in range(accessor["count"])]
    if "sparse" in accessor:
        # Some elements are replaced. Without a buffer view, all others are 0.
        sparse = accessor["sparse"]
        indices, values = sparse["indices"], sparse["values"]
        places = read_elements(gltf, indices["bufferView"], indices.get("byteOffset", 0), indices["componentType"], 1, sparse["count"], None, False)
        replaced = read_elements(gltf, values["bufferView"], values.get("byteOffset", 0), kind, width, sparse["count"], None, normalised)
        for [place], element in zip(places, replaced):
            elements[place] = element
    return elements


# ---- vectors and matrices ------------------------------------------------------------------------------------------------

IDENTITY = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def normalise(v):
    length = math.sqrt(dot(v, v))
    return [x / length for x in v] if length > 0 else v


def add_scaled(a, factor, b):
    return [x + factor * y for x, y in zip(a, b)]


def product(a, b):
    """a * b: b is applied first."""
    return [sum(a[4 * k + row] * b[4 * column + k] for k in range(4)) for column in range(4) for row in range(4)]


def transform_point(m, p):
    return [m[row] * p[0] + m[4 + row] * p[1] + m[8 + row] * p[2] + m[12 + row] for row in range(3)]


def sign_of(m):
    """-1 if m mirrors."""
    return -1.0 if dot(m[0:3], cross(m[4:7], m[8:11])) < 0 else 1.0


def transform_normal(m, n):
    """By the cofactors of the 3x3 part: the inverse transpose times the determinant, turned outwards where m mirrors."""
    x, y, z = m[0:3], m[4:7], m[8:11]
    cofactors, sign = [cross(y, z), cross(z, x), cross(x, y)], sign_of(m)
    return [sign * sum(cofactors[k][row] * n[k] for k in range(3)) for row in range(3)]


def matrix_of(node):
    """parent_from_node: the node's own matrix, or translation * rotation * scale."""
    if "matrix" in node:
        return node["matrix"]
    (x, y, z, w), (sx, sy, sz), t = normalise(node["rotation"]), node["scale"], node["translation"]
    return [
        (1 - 2 * (y * y + z * z)) * sx, 2 * (x * y + z * w) * sx, 2 * (x * z - y * w) * sx, 0.0,
        2 * (x * y - z * w) * sy, (1 - 2 * (x * x + z * z)) * sy, 2 * (y * z + x * w) * sy, 0.0,
        2 * (x * z + y * w) * sz, 2 * (y * z - x * w) * sz, (1 - 2 * (x * x + y * y)) * sz, 0.0,
        t[0], t[1], t[2], 1.0,
    ]


# ---- step 1: sample the clip ---------------------------------------------------------------------------------------------


def slerp(a, b, t):
    """Turns from a to b along the shorter arc, at constant speed."""
    if dot(a, b) < 0:
        b = [-x for x in b]
    angle = math.acos(min(dot(a, b), 1.0))
    if angle < 1e-9:
        return a
    return [(math.sin((1 - t) * angle) * x + math.sin(t * angle) * y) / math.sin(angle) for x, y in zip(a, b)]


def sample(gltf, sampler, width, is_rotation, time):
    """Returns `width` numbers: the value of a sampler at a time."""
    times = [key for [key] in read_accessor(gltf, sampler["input"])]
    numbers = [number for element in read_accessor(gltf, sampler["output"]) for number in element]
    way = sampler.get("interpolation", "LINEAR")

    def value(key, part=0):
        # A key of CUBICSPLINE has three parts: in-tangent, value, out-tangent.
        slot = 3 * key + part if way == "CUBICSPLINE" else key
        return numbers[slot * width : (slot + 1) * width]

    middle = 1 if way == "CUBICSPLINE" else 0
    # Before the first key and after the last one nothing changes.
    if time <= times[0]:
        return value(0, middle)
    if time >= times[-1]:
        return value(len(times) - 1, middle)
    key = max(k for k in range(len(times)) if times[k] <= time)
    span = times[key + 1] - times[key]
    t = (time - times[key]) / span
    before, after = value(key, middle), value(key + 1, middle)
    if is_rotation:
        before, after = normalise(before), normalise(after)
    if way == "STEP":
        return before
    if way == "LINEAR":
        if is_rotation:
            return slerp(before, after, t)
        return [(1 - t) * x + t * y for x, y in zip(before, after)]
    leaving, arriving = value(key, 2), value(key + 1, 0)
    # Tangents are changes per second. The signs of quaternions are left as they are.
    return [
        (2 * t**3 - 3 * t**2 + 1) * v + span * (t**3 - 2 * t**2 + t) * b + (3 * t**2 - 2 * t**3) * w + span * (t**3 - t**2) * a
        for v, b, w, a in zip(before, leaving, after, arriving)
    ]


def local_pose(gltf, clip, time):
    """Returns the nodes with the values of the clip in place of those of the file, and their morph weights."""
    nodes = []
    for node in gltf["nodes"]:
        node = dict({"translation": [0.0, 0.0, 0.0], "rotation": [0.0, 0.0, 0.0, 1.0], "scale": [1.0, 1.0, 1.0]}, **node)
        if "mesh" in node:
            mesh = gltf["meshes"][node["mesh"]]
            targets = len(mesh["primitives"][0].get("targets", []))
            node["weights"] = list(node.get("weights") or mesh.get("weights") or [0.0] * targets)
        nodes.append(node)
    for channel in clip["channels"] if clip else []:
        node, path = nodes[channel["target"]["node"]], channel["target"]["path"]
        width = len(node[path])
        node[path] = sample(gltf, clip["samplers"][channel["sampler"]], width, path == "rotation", time)
    return nodes


# ---- steps 2 and 3: node matrices and joint matrices -----------------------------------------------------------------------


def node_matrices(nodes):
    """Returns model_from_node of each node: its parent's matrix times its own."""
    parents = {child: parent for parent, node in enumerate(nodes) for child in node.get("children", [])}

    def model_from_node(index):
        own = matrix_of(nodes[index])
        return product(model_from_node(parents[index]), own) if index in parents else own

    return [model_from_node(index) for index in range(len(nodes))]


def joint_matrices(gltf, skin, model_from_node):
    """Returns model_from_joint * joint_from_mesh of each joint of a skin."""
    inverse_binds = read_accessor(gltf, skin["inverseBindMatrices"]) if "inverseBindMatrices" in skin else [IDENTITY] * len(skin["joints"])
    return [product(model_from_node[joint], inverse_bind) for joint, inverse_bind in zip(skin["joints"], inverse_binds)]


# ---- steps 4 and 5: morph targets, then joints -----------------------------------------------------------------------------


def blended_matrix(influences, joint_matrix):
    """Returns the weighted mean of the joint matrices. `influences`: pairs of a joint and a weight."""
    # The joint of a weight of 0 may be out of range. The weights need not add up to 1.
    used = [(joint, weight) for joint, weight in influences if weight > 0]
    if not used:
        # An error of the file. The vertex follows the first joint of its list.
        used = [(influences[0][0], 1.0)]
    total = sum(weight for _, weight in used)
    matrix = [0.0] * 16
    for joint, weight in used:
        matrix = add_scaled(matrix, weight / total, joint_matrix[joint])
    return matrix


def skinned_primitive(gltf, primitive, weights, matrix_of_vertex):
    """Returns the positions, normals and tangents of a primitive in model space, as far as the file has them."""

    def morphed(attribute):
        # The fourth number of a tangent is its handedness, which morph targets do not change.
        vectors = [vector[:3] for vector in read_accessor(gltf, primitive["attributes"][attribute])]
        for weight, target in zip(weights, primitive.get("targets", [])):
            if attribute in target:
                deltas = read_accessor(gltf, target[attribute])
                vectors = [add_scaled(vector, weight, delta) for vector, delta in zip(vectors, deltas)]
        return vectors

    arrays = {"positions": [transform_point(matrix_of_vertex(k), p) for k, p in enumerate(morphed("POSITION"))]}
    if "NORMAL" in primitive["attributes"]:
        arrays["normals"] = []
        for k, normal in enumerate(morphed("NORMAL")):
            turned = transform_normal(matrix_of_vertex(k), normal)
            arrays["normals"].append(normalise(turned if any(turned) else normal))
    if "TANGENT" in primitive["attributes"]:
        arrays["tangents"] = []
        handedness = [tangent[3] for tangent in read_accessor(gltf, primitive["attributes"]["TANGENT"])]
        for k, tangent in enumerate(morphed("TANGENT")):
            # It lies in the surface, so the matrix itself turns it. A mirror image has the other handedness.
            m = matrix_of_vertex(k)
            turned = [dot((m[row], m[4 + row], m[8 + row]), tangent) for row in range(3)]
            arrays["tangents"].append(normalise(turned if any(turned) else tangent) + [handedness[k] * sign_of(m)])
    return arrays


def influences_of(gltf, primitive):
    """Returns the pairs of joint and weight of each vertex, from all JOINTS_n and WEIGHTS_n."""
    attributes, lists = primitive["attributes"], []
    for n in range(16):
        if f"JOINTS_{n}" in attributes:
            joints, weights = read_accessor(gltf, attributes[f"JOINTS_{n}"]), read_accessor(gltf, attributes[f"WEIGHTS_{n}"])
            lists.append([list(zip(*vertex)) for vertex in zip(joints, weights)])
    return [sum(vertex, []) for vertex in zip(*lists)]


# ---- the report --------------------------------------------------------------------------------------------------------------


def frame(gltf, clip, time):
    nodes = local_pose(gltf, clip, time)
    model_from_node = node_matrices(nodes)
    skins = [joint_matrices(gltf, skin, model_from_node) for skin in gltf.get("skins", [])]
    primitives = []
    for index, node in enumerate(nodes):
        for number, primitive in enumerate(gltf["meshes"][node["mesh"]]["primitives"]) if "mesh" in node else []:
            if "skin" in node:
                # The joints alone place a skinned mesh, and not the node that carries it.
                matrices = [blended_matrix(vertex, skins[node["skin"]]) for vertex in influences_of(gltf, primitive)]
                matrix_of_vertex = matrices.__getitem__
            else:
                matrix_of_vertex = lambda vertex: model_from_node[index]  # noqa: E731
            # A mirrored triangle has its corners in the other order. The first vertex decides.
            clockwise = sign_of(matrix_of_vertex(0)) < 0
            arrays = skinned_primitive(gltf, primitive, node["weights"], matrix_of_vertex)
            primitives.append({"node": index, "mesh": node["mesh"], "primitive": number, "skin": node.get("skin"), "clockwise": clockwise, **arrays})
    weights = {str(index): node["weights"] for index, node in enumerate(nodes) if node.get("weights")}
    return {"time": time, "nodes": model_from_node, "skins": skins, "weights": weights, "primitives": primitives}


def evaluate(gltf):
    clip = gltf["animations"][0] if gltf.get("animations") else None
    # Before the first key, at keys, between them, and after the last one.
    times = [-0.25, 0.0, 0.1, 0.375, 0.5, 0.8, 1.0, 1.25] if clip else [0.0]
    return {"frames": [frame(gltf, clip, time) for time in times]}


def rounded(value):
    """Nine digits are more than a renderer in single precision has."""
    if isinstance(value, float):
        return float(f"{value:.9g}") + 0.0
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return {key: rounded(item) for key, item in value.items()} if isinstance(value, dict) else value


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print(json.dumps(rounded(evaluate(json.load(file))), separators=(",", ":")))
