#!/usr/bin/env python3
"""Measures Throng and a peer in turns with the same crowd, and prints the ratio. See README.md.

Each program runs in a process of its own: first one, then the other, and so on for some rounds. A row's ratio is the
median over the rounds of the peer's median frame divided by Throng's median frame in the same round. The spread is the
smallest and the largest of these ratios.
"""

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import bake

FOLDER = Path(__file__).resolve().parent
REPOSITORY = FOLDER.parent.parent
# Without it, the C library returns the driver's scratch memory to the system in each frame.
ENVIRONMENT = {**os.environ, "MALLOC_TRIM_THRESHOLD_": "1073741824"}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="model file, for example Fox.glb")
    parser.add_argument("--peer", choices=["bevy", "three"], default="bevy", help="the other program [default: bevy]")
    parser.add_argument("--clips", type=Path, metavar="FILE", help="for a body without clips: a file with clips for it")
    parser.add_argument("--clip", metavar="NAME", help="the clip of that file that all play [default: the first]")
    parser.add_argument("--instances", type=int, default=1000, help="characters that the peer draws [default: 1000]")
    parser.add_argument("--more", type=int, default=10000,
                        help="characters of one more row of Throng, with levels of detail; 0 for none [default: 10000]")
    parser.add_argument("--sizes", default="1280x720,64x64", help="sizes of the image [default: 1280x720,64x64]")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each program [default: 5]")
    parser.add_argument("--frames", type=int, default=24, help="measured frames of each turn [default: 24]")
    parser.add_argument("--warmup", type=int, default=5, help="frames before them [default: 5]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--msaa", type=int, choices=[1, 4], default=1)
    parser.add_argument("--shadows", choices=["on", "off"], default="off")
    parser.add_argument("--ground", choices=["on", "off"], default="on")
    parser.add_argument("--in-flight", type=int, choices=[1, 2], default=2, help="frames that Bevy's GPU queue holds")
    parser.add_argument("--throng", type=Path, help="Throng's program [default: build it]")
    parser.add_argument("--bevy", type=Path, help="Bevy's program [default: build it]")
    parser.add_argument("--chromium", default="chromium", help="the browser for three.js [default: chromium]")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="write a picture of each program and size")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures")
    arguments = parser.parse_args()
    if arguments.peer == "three" and arguments.shadows == "on":
        parser.error("three.js is compared without shadows")
    return arguments


def build(manifest_folder, name):
    """Builds a program and returns its path."""
    subprocess.run(["cargo", "build", "--release", "--locked", "--bin", name], cwd=manifest_folder, check=True)
    metadata = run(["cargo", "metadata", "--no-deps", "--format-version", "1"], cwd=manifest_folder)
    return Path(json.loads(metadata)["target_directory"]) / "release" / name


def run(command, cwd=None):
    """Runs a command to its end and returns its standard output."""
    finished = subprocess.run([str(part) for part in command], cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True)
    if finished.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{finished.stderr}")
    return finished.stdout


class Peers:
    """Both programs, with the settings that all rows share."""

    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.folder = folder
        self.throng = arguments.throng or build(REPOSITORY, "throng")
        self.peer = self.command_of_peer()
        self.has_levels = "--lod-error" in run([self.throng, "bench", "--help"])
        self.machine = {}
        self.model = arguments.model
        if arguments.clips:
            self.model = folder / arguments.model.name
            bake.with_clip(self.throng, arguments.model, arguments.clips, arguments.clip, self.model)

    def command_of_peer(self):
        if self.arguments.peer == "three":
            if not (FOLDER / "three/node_modules").exists():
                run(["npm", "ci"], cwd=FOLDER / "three")
            return ["node", FOLDER / "three/peer.mjs", "--chromium", self.arguments.chromium]
        bevy = self.arguments.bevy or build(FOLDER / "bevy", "throng-peer-bevy")
        return [bevy, "--in-flight", self.arguments.in_flight, "--shadows", self.arguments.shadows]

    def crowd(self, instances, size):
        """The options of Throng that describe a crowd. The peers have no tints, so there is no variety."""
        return [self.model, "--instances", instances, "--variety", 0, "--seed", self.arguments.seed,
                "--size", size]

    def look(self):
        return ["--msaa", self.arguments.msaa, "--ground", self.arguments.ground]

    def frames(self):
        return ["--frames", self.arguments.frames, "--warmup", self.arguments.warmup]

    def measure_throng(self, instances, size, lod_error):
        """Returns the median frame in milliseconds."""
        report = self.folder / "throng.json"
        level = ["--lod-error", lod_error] if self.has_levels else []
        run([self.throng, "bench", *self.crowd(instances, size), *self.look(), "--shadows", self.arguments.shadows,
             *self.frames(), *level, "--json", report])
        report = json.loads(report.read_text())
        self.machine |= {"cpu": report["cpu"], "throng": report["program"], "throng_device": report["device"]}
        row = report["runs"][0]
        expect(row["visible"] == instances, f"Throng draws {row['visible']} of {instances} instances")
        device = report["device"]["name"]
        expect(self.arguments.peer == "bevy" or "SwiftShader" in device,
               f"three.js draws on SwiftShader and Throng on {device}: see README.md")
        return row["frame_ms"]["median"]

    def measure_peer(self, instances, size, picture=()):
        """Returns the median frame in milliseconds."""
        crowd = self.folder / f"crowd-{instances}-{size}.json"
        if not crowd.exists():
            crowd.write_text(run([self.throng, "crowd", *self.crowd(instances, size)]))
        report = json.loads(run([*self.peer, "--model", self.model, "--crowd", crowd, "--size", size,
                                 *self.look(), *self.frames(), *picture]))
        self.machine["peer"] = {key: report[key] for key in ("program", "adapter", "driver")}
        name, drawn, meshes = report["program"], report["meshes_in_view"], report["meshes"]
        expect(report["instances"] == instances and drawn == meshes >= instances,
               f"{name} draws {drawn} of {meshes} skinned meshes of {report['instances']} instances")
        moved, joints = report["joints_moved_in_a_frame"], report["joints"]
        expect(moved > 0.5 * joints, f"{name} moves {moved} of {joints} joints in a frame")
        return report["median_ms"]

    def take_pictures(self, size):
        """Writes what both programs draw at the time 0."""
        folder, instances = self.arguments.pictures, self.arguments.instances
        folder.mkdir(parents=True, exist_ok=True)
        run([self.throng, "render", *self.crowd(instances, size), *self.look(), "--shadows", self.arguments.shadows,
             "--out", folder / f"throng-{size}.png"])
        self.measure_peer(instances, size, ["--picture", folder / f"{self.arguments.peer}-{size}.png"])


def expect(condition, otherwise):
    if not condition:
        sys.exit(f"error: the comparison would not be fair: {otherwise}")


def rows_of(arguments, has_levels):
    """Returns the rows: size, Throng's instances, and its largest error in pixels (0 is full detail)."""
    errors = [0, 1] if has_levels else [0]
    rows = [(size, arguments.instances, error) for size in arguments.sizes.split(",") for error in errors]
    if has_levels and arguments.more:
        rows.insert(2, (arguments.sizes.split(",")[0], arguments.more, 1))
    return rows


def measure(peers, arguments):
    """Measures all rows in turns. Returns the peer's medians by size, and Throng's by row."""
    rows = rows_of(arguments, peers.has_levels)
    peer = {size: [] for size, _, _ in rows}
    throng = {row: [] for row in rows}
    for number in range(arguments.rounds):
        for size in peer:
            peer[size].append(peers.measure_peer(arguments.instances, size))
            for row in rows:
                if row[0] == size:
                    throng[row].append(peers.measure_throng(row[1], size, row[2]))
        print(f"round {number + 1} of {arguments.rounds}", file=sys.stderr)
    return peer, throng


def report_of(peer, throng, arguments):
    """Returns a dictionary for each row."""
    report = []
    for (size, instances, error), medians in throng.items():
        ratios = [b / t for b, t in zip(peer[size], medians)]
        report.append({
            "size": size,
            "throng_instances": instances,
            "peer_instances": arguments.instances,
            "lod_error_pixels": error,
            "throng_ms": statistics.median(medians),
            "peer_ms": statistics.median(peer[size]),
            "ratio": statistics.median(ratios),
            "ratio_min": min(ratios),
            "ratio_max": max(ratios),
            "throng_medians_ms": medians,
            "peer_medians_ms": peer[size],
        })
    return report


def markdown(report, name):
    lines = [f"| image | {name} | Throng | detail | {name} | Throng | {name} / Throng | spread |",
             "|---|---:|---:|---|---:|---:|---:|---:|"]
    for row in report:
        detail = "full" if row["lod_error_pixels"] == 0 else f"{row['lod_error_pixels']} pixel"
        lines.append(f"| {row['size']} | {row['peer_instances']:,} | {row['throng_instances']:,} | {detail} | "
                     f"{row['peer_ms']:.1f} ms | {row['throng_ms']:.1f} ms | **{row['ratio']:.1f}** | "
                     f"{row['ratio_min']:.1f}–{row['ratio_max']:.1f} |")
    return "\n".join(lines)


def settings(peers, arguments, loads):
    """Returns a sentence for the caption of the table."""
    machine = peers.machine
    shadows = "shadows" if arguments.shadows == "on" else "no shadows"
    ground = "" if arguments.ground == "on" else ", no ground"
    peer, device = machine["peer"], machine["throng_device"]
    borrowed = f" with a clip of {arguments.clips.name}" if arguments.clips else ""
    return (f"{arguments.model.name}{borrowed}, {arguments.msaa} sample(s) per pixel, {shadows}{ground}; "
            f"{arguments.rounds} rounds of {arguments.frames} frames; {machine['cpu']['name']}, {machine['cpu']['threads']} threads; "
            f"Throng {machine['throng']['commit']} on {device['name']} ({device['driver']}); "
            f"{peer['program']} on {peer['adapter']} ({peer['driver']}); {datetime.date.today()}; "
            f"load average {loads[0]:.1f} at the start and {loads[1]:.1f} at the end")


def main():
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory() as folder:
        peers = Peers(arguments, Path(folder))
        if not peers.has_levels:
            print("This Throng has no --lod-error: all rows are in full detail.", file=sys.stderr)
        loads = [os.getloadavg()[0]]
        if arguments.pictures:
            for size in arguments.sizes.split(","):
                peers.take_pictures(size)
        peer, throng = measure(peers, arguments)
        loads.append(os.getloadavg()[0])
        report = report_of(peer, throng, arguments)
        print(markdown(report, peers.machine["peer"]["program"].split()[0]))
        print()
        print(settings(peers, arguments, loads))
        if arguments.json:
            text = json.dumps({"machine": peers.machine, "load_average": loads, "rows": report}, indent=2)
            arguments.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
