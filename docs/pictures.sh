#!/bin/sh
# Draws the pictures of the pages again: runs every command of README.md and docs/*.md that writes to docs/pictures.
# THRONG names the program; without it, cargo builds one.
set -eu
cd "$(dirname "$0")/.."
if [ -z "${THRONG:-}" ]; then
    cargo build --release
    THRONG=target/release/throng
fi
# The lesson on inverse bind matrices shows a walker without them.
mkdir -p target/lesson
cargo run --example skinning_lesson -- target/lesson
grep -h '^throng render .*--out docs/pictures/' README.md docs/*.md | while read -r _ arguments; do
    # The arguments have no spaces of their own.
    # shellcheck disable=SC2086
    "$THRONG" $arguments </dev/null
done
