#!/usr/bin/env python3
"""Measures Throng and other programs in turns with the same crowds, and prints a table for each of them. See README.md.

Each program runs in a process of its own: first one, then the other, and so on for some rounds. A row's ratio is the
median over the rounds of the peer's median frame divided by Throng's median frame in the same round. The spread is the
smallest and the largest of these ratios. With --update the table replaces the one between the peer's markers of
docs/measurements.md.

With --throng and --bevy nothing is built, so a machine without cargo, npm and a network can run it. A peer that cannot run
is left out, and so is what --seconds leave no time for. The output names both.
"""

import argparse
import datetime
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path

import bake

FOLDER = Path(__file__).resolve().parent
REPOSITORY = FOLDER.parent.parent
PAGE = REPOSITORY / "docs/measurements.md"
# Without it, the C library returns the driver's scratch memory to the system in each frame.
ENVIRONMENT = {**os.environ, "MALLOC_TRIM_THRESHOLD_": "1073741824"}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, nargs="?", help="model file of the first crowd, for example Fox.glb")
    parser.add_argument("--body", type=Path, metavar="FILE",
                        help="model file of a second crowd: a character of about 10,000 vertices, for example bitmoji.glb")
    parser.add_argument("--clips", type=Path, metavar="FILE", help="clips for the body, if it has none: for example walk.glb")
    parser.add_argument("--clip", metavar="NAME", help="the clip of that file that all bodies play [default: the first]")
    parser.add_argument("--morph", choices=["on", "off"], default="on", help="off: take the body's morph targets away")
    parser.add_argument("--peer", default="bevy", metavar="NAMES", help="bevy, three, or both with a comma [default: bevy]")
    parser.add_argument("--instances", type=int, default=1000, help="models that the peer draws [default: 1000]")
    parser.add_argument("--more", type=int, default=10000,
                        help="models of one more row of Throng, with levels of detail; 0 for none [default: 10000]")
    parser.add_argument("--body-instances", type=int, default=300, help="bodies that the peer draws [default: 300]")
    parser.add_argument("--body-more", type=int, default=3000, help="as --more, for bodies [default: 3000]")
    parser.add_argument("--sizes", default="1280x720,64x64", help="sizes of the image [default: 1280x720,64x64]")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each program [default: 3]")
    parser.add_argument("--frames", type=int, default=12, help="measured frames of each turn [default: 12]")
    parser.add_argument("--warmup", type=int, default=5, help="frames before them [default: 5]")
    parser.add_argument("--seconds", type=float, help="begin no further turn after this time, for each peer [default: no limit]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--msaa", type=int, choices=[1, 4], default=1)
    parser.add_argument("--shadows", choices=["on", "off"], default="off")
    parser.add_argument("--ground", choices=["on", "off"], default="on")
    parser.add_argument("--in-flight", type=int, choices=[1, 2], default=2, help="frames that Bevy's GPU queue holds")
    parser.add_argument("--device", help="a part of the device's name [default: the best device]")
    parser.add_argument("--throng", type=Path, help="Throng's program [default: build it]")
    parser.add_argument("--bevy", type=Path, help="Bevy's program [default: build it]")
    parser.add_argument("--chromium", default="chromium", help="the browser for three.js [default: chromium]")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="write a picture of each program, crowd and size")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures")
    parser.add_argument("--update", action="store_true", help="write the table into docs/measurements.md")
    arguments = parser.parse_args()
    arguments.peer = arguments.peer.split(",")
    if not set(arguments.peer) <= set(PEERS):
        parser.error(f"--peer: expected names of {', '.join(PEERS)}")
    if not arguments.model and not arguments.body:
        parser.error("expected a model file, or --body")
    if arguments.clips and not arguments.body:
        parser.error("--clips needs --body")
    if "three" in arguments.peer and arguments.shadows == "on":
        parser.error("three.js is compared without shadows")
    return arguments


def build(manifest_folder, name, options=()):
    """Builds a program and returns its path."""
    subprocess.run(["cargo", "build", "--release", "--locked", "--bin", name, *options], cwd=manifest_folder, check=True)
    metadata = run(["cargo", "metadata", "--no-deps", "--format-version", "1"], cwd=manifest_folder)
    return Path(json.loads(metadata)["target_directory"]) / "release" / name


def run(command, cwd=None, environment=()):
    """Runs a command to its end and returns its standard output."""
    variables = {**ENVIRONMENT, **dict(environment)}
    finished = subprocess.run([str(part) for part in command], cwd=cwd, env=variables, capture_output=True, text=True)
    if finished.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{finished.stderr}")
    return finished.stdout


def expect(condition, otherwise):
    if not condition:
        sys.exit(f"error: the comparison would not be fair: {otherwise}")


class Bevy:
    """The program of bevy/."""

    NAME = "Bevy"

    def __init__(self, arguments, device):
        program = arguments.bevy or build(FOLDER / "bevy", "throng-peer-bevy", ["--ignore-rust-version"])
        self.command = [program, "--in-flight", arguments.in_flight, "--shadows", arguments.shadows]
        # wgpu also knows OpenGL. The device has the same name in both programs.
        self.environment = {"WGPU_BACKEND": "vulkan", "WGPU_ADAPTER_NAME": device}

    @staticmethod
    def obstacle(arguments, _device):
        """Returns why the peer cannot run here, or None."""
        return None if arguments.bevy or shutil.which("cargo") else "there is no --bevy, and no cargo to build it"

    @staticmethod
    def draws_on(adapter, device):
        return adapter == device


class Three:
    """The page of three/ in Chromium, which draws with SwiftShader."""

    NAME = "three.js"

    def __init__(self, arguments, _device):
        if not (FOLDER / "three/node_modules").exists():
            run(["npm", "ci"], cwd=FOLDER / "three")
        self.command = ["node", FOLDER / "three/peer.mjs", "--chromium", arguments.chromium]
        self.environment = {}

    @staticmethod
    def obstacle(arguments, device):
        needed = [arguments.chromium, "node"] + ([] if (FOLDER / "three/node_modules").exists() else ["npm"])
        missing = [program for program in needed if not shutil.which(program)]
        if missing:
            return f"there is no {' and no '.join(missing)}"
        return None if "SwiftShader" in device else f"its browser draws with SwiftShader, and Throng with {device}"

    @staticmethod
    def draws_on(adapter, _device):
        return "SwiftShader" in adapter


PEERS = {"bevy": Bevy, "three": Three}


@dataclass(frozen=True)
class Crowd:
    """A crowd that both programs draw, and the number of Throng's larger crowd."""

    model: Path
    instances: int
    more: int

    def name(self, instances):
        return f"{instances:,} {self.model.stem}"


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    crowd: Crowd
    size: str
    instances: int
    # Throng's largest error in pixels. 0 is full detail.
    lod_error: int


class Throng:
    """Throng's program, and what all rows share."""

    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.folder = folder
        self.program = arguments.throng or build(REPOSITORY, "throng")
        self.crowds = []
        if arguments.model:
            self.crowds.append(Crowd(arguments.model, arguments.instances, arguments.more))
        if arguments.body:
            body = arguments.body
            if arguments.clips:
                body = folder / arguments.body.name
                bake.with_clip(self.program, arguments.body, arguments.clips, arguments.clip, body)
            if arguments.morph == "off":
                bare = folder / f"{body.stem}-without-morph-targets{body.suffix}"
                bake.without_morph_targets(body, bare)
                body = bare
            self.crowds.append(Crowd(body, arguments.body_instances, arguments.body_more))
        # A short run that only has to name the device.
        self.machine = self.bench(self.crowds[0], 1, "64x64", 0, ["--frames", 1, "--warmup", 0])
        self.device = self.machine["device"]["name"]

    def crowd(self, crowd, instances, size):
        """The options that describe a crowd. The peers have no tints, so there is no variety."""
        return [crowd.model, "--instances", instances, "--variety", 0, "--seed", self.arguments.seed, "--size", size]

    def look(self):
        return ["--msaa", self.arguments.msaa, "--ground", self.arguments.ground]

    def frames(self):
        return ["--frames", self.arguments.frames, "--warmup", self.arguments.warmup]

    def drawing(self):
        device = ["--device", self.arguments.device] if self.arguments.device else []
        return [*self.look(), "--shadows", self.arguments.shadows, *device]

    def bench(self, crowd, instances, size, lod_error, frames):
        """Returns the report of `throng bench`."""
        return json.loads(run([self.program, "bench", *self.crowd(crowd, instances, size), *self.drawing(), *frames,
                               "--lod-error", lod_error, "--json", "-"]))

    def measure(self, row):
        """Returns the median frame in milliseconds."""
        report = self.bench(row.crowd, row.instances, row.size, row.lod_error, self.frames())
        [figures] = report["runs"]
        expect(figures["visible"] == row.instances, f"Throng draws {figures['visible']} of {row.instances} instances")
        return figures["frame_ms"]["median"]

    def measure_peer(self, peer, crowd, size, picture=()):
        """Returns the report of the peer."""
        file = self.folder / f"{crowd.model.stem}-{size}.json"
        if not file.exists():
            file.write_text(run([self.program, "crowd", *self.crowd(crowd, crowd.instances, size)]))
        report = json.loads(run([*peer.command, "--model", crowd.model, "--crowd", file, "--size", size, *self.look(),
                                 *self.frames(), *picture], environment=peer.environment))
        name, drawn, meshes = report["program"], report["meshes_in_view"], report["meshes"]
        expect(report["instances"] == crowd.instances and drawn == meshes >= crowd.instances,
               f"{name} draws {drawn} of {meshes} skinned meshes of {report['instances']} instances")
        moved, joints = report["joints_moved_in_a_frame"], report["joints"]
        expect(moved > 0.5 * joints, f"{name} moves {moved} of {joints} joints in a frame")
        adapter = report["adapter"]
        expect(peer.draws_on(adapter, self.device), f"{name} draws on {adapter}, and Throng on {self.device}")
        return report

    def take_pictures(self, peer, peer_name, crowd, size):
        """Writes what both programs draw at the time 0."""
        folder = self.arguments.pictures
        folder.mkdir(parents=True, exist_ok=True)
        own, other = (folder / f"{crowd.model.stem}-{name}-{size}.png" for name in ("throng", peer_name))
        run([self.program, "render", *self.crowd(crowd, crowd.instances, size), *self.drawing(), "--out", own])
        self.measure_peer(peer, crowd, size, ["--picture", other])


def rows_of(crowd, sizes):
    """Returns the rows of a crowd: full detail and levels of detail in each size, and more characters in the first size."""
    rows = [Row(crowd, size, crowd.instances, error) for size in sizes for error in (0, 1)]
    if crowd.more:
        rows.insert(2, Row(crowd, sizes[0], crowd.more, 1))
    return rows


def measure(throng, peer, arguments):
    """Measures in turns. Returns the peer's last report, its medians by crowd and size, Throng's by row, and the rest."""
    sizes = arguments.sizes.split(",")
    rows = [row for crowd in throng.crowds for row in rows_of(crowd, sizes)]
    peer_ms = {(row.crowd, row.size): [] for row in rows}
    throng_ms = {row: [] for row in rows}
    report, started = None, time.monotonic()
    for _ in range(arguments.rounds):
        for (crowd, size), medians in peer_ms.items():
            if arguments.seconds and time.monotonic() - started > arguments.seconds:
                continue
            print(f"{time.monotonic() - started:.0f} s: {crowd.name(crowd.instances)} at {size}", file=sys.stderr)
            report = throng.measure_peer(peer, crowd, size)
            medians.append(report["median_ms"])
            for row in rows:
                if (row.crowd, row.size) == (crowd, size):
                    throng_ms[row].append(throng.measure(row))
    left_out = [f"{crowd.name(crowd.instances)} at {size}" for (crowd, size), medians in peer_ms.items() if not medians]
    return report, peer_ms, {row: medians for row, medians in throng_ms.items() if medians}, left_out


def figures_of(peer_ms, throng_ms):
    """Returns a dictionary for each row."""
    figures = []
    for row, medians in throng_ms.items():
        peer_medians = peer_ms[row.crowd, row.size]
        ratios = [peer / throng for peer, throng in zip(peer_medians, medians)]
        figures.append({
            "size": row.size,
            "peer_crowd": row.crowd.name(row.crowd.instances),
            "throng_crowd": row.crowd.name(row.instances),
            "lod_error_pixels": row.lod_error,
            "throng_ms": statistics.median(medians),
            "peer_ms": statistics.median(peer_medians),
            "ratio": statistics.median(ratios),
            "ratio_min": min(ratios),
            "ratio_max": max(ratios),
            "throng_medians_ms": medians,
            "peer_medians_ms": peer_medians,
        })
    return figures


def milliseconds(value):
    digits = 0 if value >= 99.5 else 1 if value >= 9.95 else 2
    return f"{value:.{digits}f} ms"


def ratio(value):
    return f"{value:.{0 if value >= 19.5 else 1}f}"


def markdown(figures, name):
    lines = [f"| image | {name} draws | Throng draws | detail | {name} | Throng | {name} / Throng | spread |",
             "|---|---:|---:|---|---:|---:|---:|---:|"]
    for row in figures:
        detail = "full" if row["lod_error_pixels"] == 0 else f"{row['lod_error_pixels']} pixel"
        lines.append(f"| {row['size']} | {row['peer_crowd']} | {row['throng_crowd']} | {detail} | "
                     f"{milliseconds(row['peer_ms'])} | {milliseconds(row['throng_ms'])} | **{ratio(row['ratio'])}** | "
                     f"{ratio(row['ratio_min'])}–{ratio(row['ratio_max'])} |")
    return "\n".join(lines) + "\n"


def caption(throng, report, arguments, loads, rounds):
    """Returns the sentences before the table."""
    program, device, cpu = (throng.machine[key] for key in ("program", "device", "cpu"))
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    samples = "one sample" if arguments.msaa == 1 else f"{arguments.msaa} samples"
    shadows = "shadows" if arguments.shadows == "on" else "no shadows"
    ground = "" if arguments.ground == "on" else ", no ground"
    least, most = min(rounds), max(rounds)
    rounds = f"{least} to {most} rounds" if least < most else f"{most} round{'s' if most > 1 else ''}"
    clips = f" {arguments.body.stem} has a clip of {arguments.clips.name}." if arguments.clips else ""
    text = (f"Measured on {date} with version {program['version']}, commit {program['commit']}: {cpu['name']}, "
            f"{cpu['threads']} threads; Throng on {device['name']} with {device['driver'].strip()}; {report['program']} on "
            f"{report['adapter']} with {report['driver'].strip()}. Medians of {rounds} of {arguments.frames} frames; {samples} "
            f"per pixel, {shadows}{ground}.{clips} Load average {loads[0]:.1f} before and {loads[1]:.1f} after.")
    return textwrap.fill(text, 128, break_long_words=False, break_on_hyphens=False) + "\n"


def update(peer_name, text):
    """Replaces what is between the markers of the peer."""
    begin = f"<!-- peers {peer_name}: begin (benches/peers/compare.py) -->\n"
    end = f"<!-- peers {peer_name}: end -->\n"
    page = PAGE.read_text()
    before, rest = page.split(begin)
    _, after = rest.split(end)
    PAGE.write_text(before + begin + text + end + after)


def compare(throng, peer_name, arguments):
    """Compares with one peer. Returns its text and its JSON."""
    obstacle = PEERS[peer_name].obstacle(arguments, throng.device)
    if obstacle:
        return f"Left out: {PEERS[peer_name].NAME} ({obstacle}).\n", None
    peer = PEERS[peer_name](arguments, throng.device)
    loads = [os.getloadavg()[0]]
    if arguments.pictures:
        for crowd in throng.crowds:
            for size in arguments.sizes.split(","):
                throng.take_pictures(peer, peer_name, crowd, size)
    report, peer_ms, throng_ms, left_out = measure(throng, peer, arguments)
    loads.append(os.getloadavg()[0])
    figures = figures_of(peer_ms, throng_ms)
    rounds = [len(medians) for medians in throng_ms.values()]
    text = caption(throng, report, arguments, loads, rounds) + "\n" + markdown(figures, report["program"].split()[0])
    text += "".join(f"\nLeft out: {name} (no time).\n" for name in left_out)
    if arguments.update:
        update(peer_name, text)
    peer_facts = {key: report[key] for key in ("program", "adapter", "driver")}
    return text, {"peer": peer_facts, "load_average": loads, "rows": figures, "left_out": left_out}


def main():
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory() as folder:
        throng = Throng(arguments, Path(folder))
        texts, reports = zip(*(compare(throng, name, arguments) for name in arguments.peer))
    print("\n".join(texts), end="")
    if arguments.json:
        machine = {key: throng.machine[key] for key in ("program", "device", "cpu")}
        arguments.json.write_text(json.dumps({"throng": machine, "peers": [r for r in reports if r]}, indent=2) + "\n")
    if not any(reports):
        sys.exit("error: no program could be compared")


if __name__ == "__main__":
    main()
