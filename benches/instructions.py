#!/usr/bin/env python3
"""Counts the instructions of a frame on the CPU, per character and stage, with valgrind's callgrind.

Times drift on a shared machine; these figures are the same in every run. They are those of one thread and of the processor
that valgrind imitates, which has AVX2 and no AVX-512. All characters are in view, in levels of one pixel. Of more than 1,024
characters, the tasks of `cull` and `write` are those of the pool, so only the last row has them. Needs valgrind (Debian's
package has it).
"""

import argparse
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
FRAMES = 3
# The functions of the stages, as callgrind names them.
STAGES = {
    "cull": r"crowd::Crowd>::cull",
    "plan": r"crowd::plan::FramePlan::rebuild",
    "evaluate": r"crowd::Crowd>::evaluate",
    "write": r"crowd::Crowd>::write_instances",
    "all": r"PROGRAM TOTALS",
}


def build():
    """Builds the benchmark and returns its path."""
    command = ["cargo", "bench", "--locked", "--no-run", "--bench", "crowd", "--message-format", "json"]
    messages = subprocess.run(command, cwd=REPOSITORY, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return next(built["executable"] for built in map(json.loads, messages) if built.get("target", {}).get("name") == "crowd")


def count(program, options, frames):
    """Returns the instructions of each stage, with everything that it calls, for this number of frames and the setup."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        environment = {
            **os.environ,
            "THRONG_BENCH_FRAMES": str(frames),
            "THRONG_BENCH_CHARACTERS": str(options.characters),
            "THRONG_BENCH_MODEL": str(options.model.resolve()),
        }
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", program, "--test"]
        subprocess.run(command, env=environment, check=True, capture_output=True)
        command = ["callgrind_annotate", "--inclusive=yes", "--threshold=100", out]
        listing = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.replace(",", "")
    counts = dict.fromkeys(STAGES, 0)
    for line in listing.splitlines():
        for stage, function in STAGES.items():
            if found := re.match(rf" *(\d+) .*{function}(?: |$)", line):
                counts[stage] += int(found[1])
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--characters", type=int, default=1_000, help="the number of characters (default: %(default)s)")
    walker = REPOSITORY / "assets/walker.glb"
    parser.add_argument("--model", type=Path, default=walker, help="their model (default: the bundled walker)")
    options = parser.parse_args()
    program = build()
    # The setup of the crowd also culls, so it is taken off.
    setup, all_frames = (count(program, options, frames) for frames in (1, 1 + FRAMES))
    print("| stage | instructions per character |\n|---|---:|")
    for stage in STAGES:
        print(f"| {stage} | {(all_frames[stage] - setup[stage]) / (FRAMES * options.characters):.0f} |")


if __name__ == "__main__":
    main()
