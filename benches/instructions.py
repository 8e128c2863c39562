#!/usr/bin/env python3
"""Counts the instructions of a frame on the CPU, per character and stage, with valgrind's callgrind.

Times drift on a shared machine; these figures are the same in every run. They are those of one thread and of the processor
that valgrind imitates, which has AVX2 and no AVX-512. The crowd is 1,000 walkers, or 1,000 of the last sample model of
benches/common if THRONG_SAMPLE_MODELS is set. Needs valgrind (Debian's package has it).
"""

import argparse
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
CHARACTERS = 1_000
FRAMES = 10
# The functions of the stages, as callgrind names them.
STAGES = {
    "cull": r"crowd::Crowd>::cull",
    "plan": r"crowd::plan::FramePlan::rebuild",
    "evaluate": r"crowd::Crowd>::evaluate",
    "write": r"crowd::Crowd>::write_instances",
}


def build():
    """Builds the benchmark and returns its path."""
    command = ["cargo", "bench", "--locked", "--no-run", "--bench", "crowd", "--message-format", "json"]
    messages = subprocess.run(command, cwd=REPOSITORY, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return next(built["executable"] for built in map(json.loads, messages) if built.get("target", {}).get("name") == "crowd")


def count(program, frames):
    """Returns the instructions of each stage, with everything that it calls, for this number of frames and the setup."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        environment = {**os.environ, "THRONG_BENCH_FRAMES": str(frames)}
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
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    program = build()
    # The setup of the crowd also culls, so it is taken off.
    setup, all_frames = (count(program, frames) for frames in (1, 1 + FRAMES))
    print("| stage | instructions per character |\n|---|---:|")
    for stage in STAGES:
        print(f"| {stage} | {(all_frames[stage] - setup[stage]) / (FRAMES * CHARACTERS):.0f} |")


if __name__ == "__main__":
    main()
