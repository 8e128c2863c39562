#!/usr/bin/env python3
"""Prints the licences of all crates that are linked into the program, each text once with the crates that have it.

Usage: packaging/licences.py TARGET
"""

import json
import pathlib
import subprocess
import sys

command = ["cargo", "metadata", "--format-version=1", "--locked", f"--filter-platform={sys.argv[1]}"]
metadata = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
packages = {package["id"]: package for package in metadata["packages"]}
nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}

# What only build scripts and tests use is not in the program.
found, left = set(), [metadata["resolve"]["root"]]
while left:
    crate = left.pop()
    if crate in found:
        continue
    found.add(crate)
    for dependency in nodes[crate]["deps"]:
        if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
            left.append(dependency["pkg"])
found.remove(metadata["resolve"]["root"])

texts = {}
crates = sorted((packages[crate] for crate in found), key=lambda package: (package["name"], package["version"]))
print("Throng is linked with these crates:\n")
for package in crates:
    print(f"  {package['name']} {package['version']}: {package['license'] or 'see below'}")
    folder = pathlib.Path(package["manifest_path"]).parent
    for pattern in ("LICEN[CS]E*", "COPYING*", "NOTICE*"):
        for file in sorted(folder.glob(pattern)):
            if file.is_file():
                text = file.read_text(errors="replace").replace("\r\n", "\n").strip()
                texts.setdefault(text, []).append(f"{package['name']} {package['version']}")
for text, owners in sorted(texts.items(), key=lambda item: item[1]):
    print(f"\n{'-' * 80}\n{', '.join(owners)}:\n\n{text}")
