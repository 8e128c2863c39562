#!/usr/bin/env python3
"""Measures the standard set with `throng bench --json` and prints its table in Markdown.

The set is always the same, so tables of different machines and versions can be compared: crowds of 1 to 100,000 of the
first model, crowds of a body as people make them, crowds of a mix if there are several models, two sizes of the image and
both ways of skinning. It takes some minutes on two cores without a GPU. With --update the table replaces the one between
the markers of PAGE, and the plot replaces PLOT. Do that on a quiet machine, after a commit: the table names the commit.

With --gpu it also measures crowds that only a GPU can draw: up to a million characters, both ways of upload, and each pass
alone. A crowd that does not fit into the device's memory is left out, and so are those for which --seconds leave no time. Their
names follow the table.
"""

import argparse
import datetime
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
PAGE = REPOSITORY / "docs/measurements.md"
PLOT = REPOSITORY / "docs/pictures/suite.svg"
BEGIN = "<!-- suite: begin (benches/standard.py) -->\n"
END = "<!-- suite: end -->\n"

COUNTS = "1,10,100,1000,10000"
# At 64x64 there are so few pixels that only the characters' vertices count.
LARGE, SMALL = "--size 1280x720", "--size 64x64"
PLAIN, FINE = "--msaa 1 --shadows off", "--msaa 4 --shadows on"
# The options of each run. The first one is plotted.
SET = [
    f"{LARGE} {PLAIN} --lod-error 0,1 --instances {COUNTS}",
    f"{LARGE} {PLAIN} --lod-error 1 --instances 100000",
    f"{SMALL} {PLAIN} --lod-error 0,1 --instances {COUNTS}",
    f"{SMALL} {PLAIN} --lod-error 1 --instances 100000",
    f"{LARGE} {PLAIN} --lod-error 0,1 --instances 1000 --skinning vertex",
    f"{SMALL} {PLAIN} --lod-error 0,1 --instances 1000 --skinning vertex",
    f"{LARGE} {FINE} --lod-error 1 --instances 1,1000,10000",
    f"{LARGE} {FINE} --lod-error 1 --instances 1000 --skinning vertex",
]
BODY_SET = [
    f"{LARGE} {PLAIN} --lod-error 0,1 --instances 1,10,100,300",
    f"{LARGE} {PLAIN} --lod-error 1 --instances 3000",
    f"{LARGE} {PLAIN} --lod-error 0,1 --instances 300 --skinning vertex",
    f"{LARGE} {FINE} --lod-error 1 --instances 300",
]
MIXED_SET = [
    f"{LARGE} {PLAIN} --lod-error 0,1 --instances 1000",
    f"{LARGE} {PLAIN} --lod-error 1 --instances 10000",
]
GPU_SET = [
    f"{LARGE} {FINE} --lod-error 1 --instances 1,10,100,1000,10000,100000,1000000",
    f"{LARGE} {FINE} --lod-error 0 --instances 1000,10000,100000",
    f"{LARGE} {FINE} --lod-error 1 --upload direct,staged --instances 10000,100000",
    f"{LARGE} {FINE} --lod-error 0,1 --skinning compute,vertex --serialize on --instances 10000,100000",
    # The scene of another engine's public benchmark, which was not run: benches/peers/README.md.
    f"{LARGE} {PLAIN} --ground off --lod-error 0,1 --instances 1024",
    f"--size 3840x2160 {FINE} --lod-error 1 --instances 1,1000,10000",
]
GPU_BODY_SET = [
    f"{LARGE} {FINE} --lod-error 0,1 --skinning compute,vertex --instances 100,1000,10000",
    f"{LARGE} {FINE} --lod-error 0,1 --skinning compute,vertex --serialize on --instances 1000",
]
FRAMES = ["--frames", "36", "--warmup", "2"]
# A GPU takes some frames to raise its clock.
GPU_FRAMES = ["--frames", "60", "--warmup", "4"]
# Everything runs once with crowds of at most twenty, and the figures mean little.
QUICK_FRAMES = ["--frames", "2", "--warmup", "0"]


def number(value):
    """Three significant digits, or all the digits of a larger integer."""
    if value is None:
        return "-"
    digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2 if value >= 0.0995 or value == 0 else 3
    return f"{value:.{digits}f}"


def pass_ms(run, name):
    return run["gpu_ms"][name]["median"] if run["gpu_ms"] else None


# The columns: their names and cells. Times are medians in milliseconds. The first six are text, two of them for --gpu only.
COLUMNS = {
    "crowd": lambda run: f"{run['instances']:,} {' + '.join(Path(model).stem for model in run['models'])}",
    "image": lambda run: f"{run['width']}x{run['height']}",
    "MSAA, shadows": lambda run: f"{run['msaa']}, {'on' if run['shadows'] else 'off'}",
    "skinning": lambda run: run["skinning"],
    "upload": lambda run: run["upload"],
    "passes": lambda run: "alone" if run["serialize"] else "overlap",
    "lod error": lambda run: f"{run['lod_error_pixels']:g}",
    "triangles": lambda run: f"{run['triangles_drawn']:,}",
    "frame": lambda run: number(run["frame_ms"]["median"]),
    "frames/s": lambda run: number(run["frames_per_second"]),
    "characters/s": lambda run: f"{run['characters_per_second']:,.0f}",
    **{stage: lambda run, stage=stage: number(run["cpu_ms"][stage]["median"]) for stage in ("cull", "animate", "record")},
    **{name: lambda run, name=name: number(pass_ms(run, name)) for name in ("skin", "shadow", "draw", "post")},
}
TEXT_COLUMNS = 6
GPU_COLUMNS = ("upload", "passes")


def cell(text):
    """Escapes the characters that mean something in Markdown."""
    return "".join(f"\\{char}" if char in "|\\`*_<>[]" else char for char in text)


def markdown(report, is_gpu, files):
    columns = {name: of for name, of in COLUMNS.items() if is_gpu or name not in GPU_COLUMNS}
    texts = TEXT_COLUMNS if is_gpu else TEXT_COLUMNS - len(GPU_COLUMNS)
    program, device, cpu, runs = (report[key] for key in ("program", "device", "cpu", "runs"))
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    lines = [
        f"Measured on {date} with version {program['version']}, commit {program['commit']}: {cell(cpu['name'])}, "
        f"{runs[0]['threads']} threads; {cell(device['name'])} with {cell(device['driver'])}. Medians of "
        f"{runs[0]['frames']} frames, in milliseconds. SHA-256: "
        + ", ".join(f"{cell(file.name)} {hashlib.sha256(file.read_bytes()).hexdigest()[:16]}" for file in files) + ".",
        "",
        f"| {' | '.join(columns)} |",
        f"|{'|'.join('---' if index < texts else '---:' for index in range(len(columns)))}|",
    ]
    lines += [f"| {' | '.join(cell(of(run)) for of in columns.values())} |" for run in runs]
    return "\n".join(lines) + "\n"


def build():
    """Builds the program and returns its path."""
    subprocess.run(["cargo", "build", "--release", "--locked"], cwd=REPOSITORY, check=True)
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    metadata = subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True).stdout
    return Path(json.loads(metadata)["target_directory"]) / "release" / "throng"


def measure(program, models, options, plot, arguments, left_out):
    """Measures one run of the set. Returns its report, or None if nothing of it fits into the device's memory."""
    words = options.split()
    place = words.index("--instances") + 1
    counts = words[place].split(",")
    if arguments.quick:
        counts = sorted({str(min(int(count), 20)) for count in counts}, key=int)
    frames = QUICK_FRAMES if arguments.quick else GPU_FRAMES if arguments.gpu else FRAMES
    device = ["--device", arguments.device] if arguments.device else []
    while counts:
        words[place] = ",".join(counts)
        command = [program, "bench", *models, *words, *device, *frames, "--json", "-", "--plot", plot]
        # The tables go to standard error.
        finished = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE)
        if finished.returncode == 0:
            return json.loads(finished.stdout)
        if not arguments.gpu:
            sys.exit(f"failed: {' '.join(map(str, command))}")
        words[place] = counts.pop()
        left_out.append(f"{Path(models[0]).stem} {' '.join(words)} (failed)")
    return None


def update(table, plot):
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    PAGE.write_text(before + BEGIN + table + END + after)
    PLOT.write_text(plot)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path, nargs="+", metavar="MODEL", help="model file, for example Fox.glb")
    parser.add_argument("--body", type=Path, metavar="FILE",
                        help="a character of about 10,000 vertices with morph targets, for example bitmoji.glb")
    parser.add_argument("--clips", type=Path, metavar="FILE",
                        help="clips for the body, if it has none: for example walk.glb")
    parser.add_argument("--throng", type=Path, help="the program [default: build it]")
    parser.add_argument("--gpu", action="store_true", help="also measure crowds for a GPU")
    parser.add_argument("--seconds", type=float, help="begin no further run after this time")
    parser.add_argument("--device", help="a part of the device's name [default: the best device]")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="write the plot to this file")
    parser.add_argument("--update", action="store_true", help="write the table and the plot into the repository")
    parser.add_argument("--quick", action="store_true", help="measure a few frames of small crowds, to try this script")
    arguments = parser.parse_args()
    program = arguments.throng or build()
    clips = ["--clips", arguments.clips] if arguments.clips else []
    sets = [(arguments.models[:1], options) for options in (GPU_SET if arguments.gpu else []) + SET]
    if arguments.body:
        sets += [([arguments.body, *clips], options) for options in (GPU_BODY_SET if arguments.gpu else []) + BODY_SET]
    if len(arguments.models) > 1:
        sets += [(arguments.models, options) for options in MIXED_SET]
    reports, plots, left_out, started = [], [], [], time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        plot = Path(folder) / "plot.svg"
        for models, options in sets:
            if arguments.seconds and time.monotonic() - started > arguments.seconds:
                left_out.append(f"{Path(models[0]).stem} {options} (no time)")
            elif report := measure(program, models, options, plot, arguments, left_out):
                reports.append(report)
                plots.append(plot.read_text())
    files = [*arguments.models, *filter(None, [arguments.body, arguments.clips])]
    table = markdown({**reports[0], "runs": [run for report in reports for run in report["runs"]]}, arguments.gpu, files)
    table += "".join(f"\nLeft out: `{options}`\n" for options in left_out)
    print(table, end="")
    if arguments.plot:
        arguments.plot.write_text(plots[0])
    if arguments.update:
        update(table, plots[0])


if __name__ == "__main__":
    main()
