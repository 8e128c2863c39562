#!/usr/bin/env bash
# Measures the standard set and puts its table and plot into the README: ./docs/performance.sh [MODEL…]
#
# Without an argument the model is Fox.glb of THRONG_SAMPLE_MODELS (as setup.sh and the tests use it). Run it on a quiet
# machine, after a commit: the table names the commit. It takes about ten minutes. SUITE_OPTIONS=--quick tries the script.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

begin='<!-- suite: begin (docs/performance.sh) -->'
end='<!-- suite: end -->'
if (($# == 0)); then
    set -- "${THRONG_SAMPLE_MODELS:?names the folder of the sample models, unless a model is given}/Fox/Fox.glb"
fi
for marker in "$begin" "$end"; do
    [ "$(grep -cxF -e "$marker" README.md)" = 1 ] || { echo "README.md: no line, or several, with $marker" >&2; exit 1; }
done

cargo build --release --locked
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
read -ra options <<<"${SUITE_OPTIONS:-}"
"${CARGO_TARGET_DIR:-target}/release/throng" bench "$@" --suite "$folder" "${options[@]}"

# The new table between the markers, and everything else as it was.
awk -v begin="$begin" -v end="$end" -v table="$folder/suite.md" '
    $0 == end { inside = 0 }
    !inside { print }
    $0 == begin { inside = 1; while ((getline line < table) > 0) print line }
' README.md >"$folder/README.md"
cp "$folder/README.md" README.md
cp "$folder/1280x720.svg" docs/pictures/suite.svg
echo "README.md and docs/pictures/suite.svg are up to date"
