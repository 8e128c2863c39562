#!/usr/bin/env python3
"""Draws what the mistakes of mistakes.json do to the small mesh.

    draw.py > mistakes.svg

Each panel shows a file of this folder at the time at which the mistake does most: grey is right, and red is the result of
evaluate.py with the mistake. If the mistake moves no vertex, the panel shows the normals or bitangents that it turns, or the
triangles whose winding it gets wrong. License: CC0-1.0.
"""

import json
import pathlib

HERE = pathlib.Path(__file__).parent
SIDE, LABEL, COLUMNS, MARGIN = 150, 34, 7, 14
RIGHT, WRONG = "#8a8f98", "#d0312d"


def evaluated(source, gltf):
    """Returns the frames that an evaluator with this source gets."""
    names = {"__name__": "evaluator"}
    exec(compile(source, "evaluate.py", "exec"), names)
    return names["evaluate"](gltf)["frames"]


def flat(vector):
    """A view from the right and from above."""
    x, y, z = vector[:3]
    return x + 0.35 * z, y + 0.2 * z


def distance(right, wrong):
    return max(abs(a - b) for p, q in zip(right, wrong) for a, b in zip(p, q))


def lines_of(primitive, triangles, field):
    """The edges of the triangles, or a short line for each vector of a field."""
    points = primitive["positions"]
    if field == "positions" or field == "clockwise":
        return [(flat(points[a]), flat(points[b])) for t in triangles for a, b in zip(t, t[1:] + t[:1])]
    vectors = primitive[field]
    if field == "tangents":
        # The bitangent shows the handedness too.
        vectors = [[t[3] * (n[k - 2] * t[k - 1] - n[k - 1] * t[k - 2]) for k in range(3)] for n, t in zip(primitive["normals"], vectors)]
    tips = [[x + 0.4 * d for x, d in zip(point, vector)] for point, vector in zip(points, vectors)]
    return [(flat(point), flat(tip)) for point, tip in zip(points, tips)]


def panel(mistake, source):
    """Returns the elements of a panel, whose corner is at 0, 0."""
    gltf = json.loads((HERE / f"{mistake['cases'][0]}.gltf").read_text())
    triangles = [(0, 1, 3), (0, 3, 2), (2, 3, 5), (2, 5, 4)]
    right, wrong = evaluated(source, gltf), evaluated(source.replace(mistake["right"], mistake["wrong"]), gltf)
    pairs = [(a, b) for f, g in zip(right, wrong) for a, b in zip(f["primitives"], g["primitives"])]
    field, (right, wrong) = "clockwise", next((pair for pair in pairs if pair[0]["clockwise"] != pair[1]["clockwise"]), pairs[0])
    for name in ("tangents", "normals", "positions"):
        worst = max((pair for pair in pairs if name in pair[0]), key=lambda pair: distance(pair[0][name], pair[1][name]), default=None)
        if worst and distance(worst[0][name], worst[1][name]) > 1e-3:
            field, (right, wrong) = name, worst
    edges = lines_of(right, triangles, "positions")
    drawn = [(RIGHT, 3.5, edges), (WRONG, 1.5, lines_of(wrong, triangles, field))]
    if field not in ("positions", "clockwise"):
        drawn.insert(1, (RIGHT, 3.5, lines_of(right, triangles, field)))
    points = [point for _, _, lines in drawn for line in lines for point in line]
    least, most = ([pick(point[axis] for point in points) for axis in (0, 1)] for pick in (min, max))
    scale = (SIDE - 2 * MARGIN) / max(most[0] - least[0], most[1] - least[1], 1e-3)

    def place(point):
        x = SIDE / 2 + (point[0] - (least[0] + most[0]) / 2) * scale
        return f"{x:.1f} {SIDE / 2 - (point[1] - (least[1] + most[1]) / 2) * scale:.1f}"

    fill = f'<path fill="{WRONG}" fill-opacity="0.35" d="' + "".join(f"M{'L'.join(place(flat(wrong['positions'][k])) for k in t)}Z" for t in triangles) + '"/>'
    yield from [fill] if field == "clockwise" else []
    for color, width, lines in drawn:
        path = "".join(f"M{place(a)}L{place(b)}" for a, b in lines)
        yield f'<path fill="none" stroke="{color}" stroke-width="{width}" stroke-linecap="round" d="{path}"/>'
    yield f'<text x="{SIDE / 2:.0f}" y="{SIDE + 10}" font-weight="bold">{mistake["cases"][0].replace("_", " ")}</text>'
    yield f'<text x="{SIDE / 2:.0f}" y="{SIDE + 22}">{mistake["mistake"]}</text>'


def main():
    source, mistakes = (HERE / "evaluate.py").read_text(), json.loads((HERE / "mistakes.json").read_text())
    height = (SIDE + LABEL) * -(-len(mistakes) // COLUMNS)
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIDE * COLUMNS} {height}" font-family="sans-serif" font-size="8" text-anchor="middle">')
    print('<rect width="100%" height="100%" fill="#ffffff"/>')
    for number, mistake in enumerate(mistakes):
        print(f'<g transform="translate({number % COLUMNS * SIDE} {number // COLUMNS * (SIDE + LABEL)})">')
        print("\n".join(panel(mistake, source)))
        print("</g>")
    print("</svg>")


if __name__ == "__main__":
    main()
