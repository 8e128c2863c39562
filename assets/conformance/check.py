#!/usr/bin/env python3
"""Compares a renderer's numbers with those of this folder.

    check.py RESULTS [TOLERANCE]

RESULTS is a folder with a file NAME.json for each NAME.gltf, in the form of the NAME.json here. What a renderer cannot say it may
leave out: a field, or null in place of a value. The fields that were left out are listed. The tolerance of normals and tangents is a
hundred times larger, because renderers pack them.
"""

import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent


MISSING = set()


def differences(want, got, path):
    """Yields the difference of each number, with its place."""
    if isinstance(want, dict) and isinstance(got, dict):
        MISSING.update(key for key in want.keys() - got.keys() if not key.isdigit())
        for key in want.keys() & got.keys():
            yield from differences(want[key], got[key], f"{path}.{key}")
    elif isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        for index, (a, b) in enumerate(zip(want, got)):
            yield from differences(a, b, f"{path}[{index}]")
    elif isinstance(want, (int, float)) and isinstance(got, (int, float)):
        # NaN is never equal.
        difference = abs(want - got)
        yield difference if difference == difference else float("inf"), path
    elif want != got and got is not None:
        yield float("inf"), path


def worst(name, results):
    """Returns the largest difference as a multiple of the tolerance 1, with its place."""
    want = json.loads((HERE / f"{name}.json").read_text())
    got = json.loads((results / f"{name}.json").read_text())
    found = [(difference / (100 if ".normals" in path or ".tangents" in path else 1), path) for difference, path in differences(want, got, "")]
    if not any(".nodes" in path or ".positions" in path for _, path in found):
        return float("inf"), "neither nodes nor positions to compare"
    return max(found)


def main():
    results, tolerance = pathlib.Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 1e-5
    names, wrong = sorted(path.stem for path in HERE.glob("*.gltf")), 0
    for name in names:
        try:
            difference, place = worst(name, results)
        except (OSError, ValueError) as error:
            difference, place = float("inf"), str(error)
        is_right = difference <= tolerance
        wrong += not is_right
        print(f"{'right' if is_right else 'WRONG'}  {name:42} {difference:8.1e}  {'' if is_right else place.lstrip('.')}".rstrip())
    if MISSING:
        print(f"left out, and not compared: {', '.join(sorted(MISSING))}")
    print(f"{len(names) - wrong} of {len(names)} right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
