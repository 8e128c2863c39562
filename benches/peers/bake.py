"""Gives a body a clip of another file: writes a copy of the model that has the clip as its only one.

So every program plays the same clip. `throng pose` gives the matrices of the nodes, 30 times a second.
"""

import json
import math
import struct
import subprocess

KEYS_PER_SECOND = 30
JSON_CHUNK, BINARY_CHUNK = 0x4E4F534A, 0x004E4942
FLOAT = 5126


def with_clip(throng, model, clips, clip, baked):
    """Writes `baked`, a copy of the GLB file `model` with one clip of the file `clips`. Morph targets stay at rest."""
    document, binary = read_glb(model)
    options = [throng, "pose", model, "--clips", clips, *(["--clip", clip] if clip else []), "--json", "--time"]
    played = pose(options, [0])["clip"]
    name, duration = played["name"], played["duration"]
    count = max(2, 1 + round(duration * KEYS_PER_SECOND))
    times = [duration * key / (count - 1) for key in range(count)]
    frames = [frame["nodes"] for frame in pose(options, times)["frames"]]

    parents = {child: parent for parent, node in enumerate(document["nodes"]) for child in node.get("children", [])}
    accessors, views = document["accessors"], document["bufferViews"]

    def accessor(kind, rows, **bounds):
        data = struct.pack(f"<{sum(map(len, rows))}f", *(number for row in rows for number in row))
        views.append({"buffer": 0, "byteOffset": len(binary), "byteLength": len(data)})
        binary.extend(data)
        view = {"bufferView": len(views) - 1, "componentType": FLOAT}
        accessors.append({**view, "count": len(rows), "type": kind, **bounds})
        return len(accessors) - 1

    seconds = accessor("SCALAR", [[time] for time in times], min=[0], max=[duration])
    animation = {"name": name, "samplers": [], "channels": []}
    for index, node in enumerate(document["nodes"]):
        local = [local_matrix(nodes, index, parents.get(index)) for nodes in frames]
        for path in ("matrix", "translation", "rotation", "scale"):
            node.pop(path, None)
        if all(matrix == local[0] for matrix in local):
            node["matrix"] = local[0]
            continue
        for path, rows in zip(("translation", "rotation", "scale"), zip(*map(decomposed, local))):
            output = accessor("VEC4" if path == "rotation" else "VEC3", rows)
            target = {"node": index, "path": path}
            animation["channels"].append({"sampler": len(animation["samplers"]), "target": target})
            animation["samplers"].append({"input": seconds, "output": output})
    document["animations"] = [animation]
    write_glb(baked, document, binary)


def without_morph_targets(model, bare):
    """Writes `bare`, a copy of the GLB file `model` without its morph targets."""
    document, binary = read_glb(model)
    for mesh in document.get("meshes", []):
        mesh.pop("weights", None)
        for primitive in mesh["primitives"]:
            primitive.pop("targets", None)
    for node in document.get("nodes", []):
        node.pop("weights", None)
    for animation in document.get("animations", []):
        animation["channels"] = [channel for channel in animation["channels"] if channel["target"]["path"] != "weights"]
    write_glb(bare, document, binary)


def pose(options, times):
    command = [*map(str, options), ",".join(map(str, times))]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def local_matrix(nodes, index, parent):
    """Returns parent_from_node, by columns."""
    return nodes[index] if parent is None else product(inverse(nodes[parent]), nodes[index])


def product(a, b):
    return [sum(a[4 * k + row] * b[4 * column + k] for k in range(4)) for column in range(4) for row in range(4)]


def inverse(matrix):
    """Returns the inverse of an affine matrix."""
    x, y, z, origin = (matrix[column:column + 3] for column in (0, 4, 8, 12))
    volume = signed_volume(x, y, z)
    rows = [[value / volume for value in row] for row in (cross(y, z), cross(z, x), cross(x, y))]
    columns = [[row[column] for row in rows] + [0] for column in range(3)]
    return [*columns[0], *columns[1], *columns[2], *(-dot(row, origin) for row in rows), 1]


def decomposed(matrix):
    """Returns translation, rotation (x, y, z, w) and scale."""
    x, y, z, origin = (matrix[column:column + 3] for column in (0, 4, 8, 12))
    scale = [math.sqrt(dot(axis, axis)) for axis in (x, y, z)]
    if signed_volume(x, y, z) < 0:
        scale[0] = -scale[0]
    (a, b, c), (d, e, f), (g, h, i) = ([value / length for value in axis] for axis, length in zip((x, y, z), scale))
    candidates = [
        [f - h, g - c, b - d, 1 + a + e + i],
        [1 + a - e - i, b + d, g + c, f - h],
        [b + d, 1 - a + e - i, f + h, g - c],
        [g + c, f + h, 1 - a - e + i, b - d],
    ]
    # All four are the rotation times a factor. The one of the largest factor is the most exact.
    rotation = max(candidates, key=lambda quaternion: dot(quaternion, quaternion))
    length = math.sqrt(dot(rotation, rotation))
    return origin, [value / length for value in rotation], scale


def signed_volume(x, y, z):
    volume = dot(x, cross(y, z))
    if volume == 0:
        raise SystemExit("error: the clip scales a node to nothing, so it cannot be baked: choose another clip")
    return volume


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def read_glb(path):
    """Returns the document and the binary chunk."""
    data = path.read_bytes()
    if data[:4] != b"glTF":
        raise SystemExit(f"error: {path}: expected a GLB file, so that one file holds the body and its clip")
    length = struct.unpack_from("<I", data, 12)[0]
    document, rest = json.loads(data[20:20 + length]), data[20 + length:]
    return document, bytearray(rest[8:8 + struct.unpack_from("<I", rest)[0]])


def write_glb(path, document, binary):
    document["buffers"][0]["byteLength"] = len(binary)
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    binary = bytes(binary) + b"\0" * (-len(binary) % 4)
    chunks = b"".join(struct.pack("<II", len(data), kind) + data
                      for data, kind in ((text, JSON_CHUNK), (binary, BINARY_CHUNK)))
    path.write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks)
