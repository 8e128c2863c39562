#!/usr/bin/env bash
# Packs the program that cargo built for this system into dist/throng-VERSION-NAME.zip (Windows) or .tar.gz.
#
# Usage: packaging/archive.sh NAME PROGRAM, for example: packaging/archive.sh x86_64-windows throng.exe
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n1)
folder=throng-$version-$1
host=$(rustc -vV | sed -n 's/^host: //p')
rm -rf dist
mkdir -p "dist/$folder/models"
cd dist
cp "../target/release/$2" ../packaging/README.md ../CHANGELOG.md ../LICENSE-APACHE ../LICENSE-MIT "$folder"
cp ../assets/{walker.glb,tube.gltf,jelly.gltf,simple_strip.gltf,LICENSE} "$folder/models"
../packaging/licences.py "$host" >"$folder/THIRD-PARTY.txt"
if [[ $2 == *.exe ]]; then
    7z a -tzip "$folder.zip" "$folder"
else
    tar -czf "$folder.tar.gz" "$folder"
fi
rm -rf "$folder"
