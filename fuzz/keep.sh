#!/usr/bin/env bash
# Makes the kept corpus anew: the smallest inputs that together reach every edge of the code that the corpus, scratch/ and
# the seeds reach. How often an edge is passed does not count, or there would be thousands of them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

export RUSTC_BOOTSTRAP=1
seeds=$(mktemp -d)
trap 'rm -rf "$seeds"' EXIT
cargo run --quiet --manifest-path ../Cargo.toml --example fuzz_seeds -- "$seeds" >/dev/null
for target in import accessor sampling; do
    kept="kept/$target"
    rm -rf "$kept"
    mkdir -p "$kept" "scratch/$target" "corpus/$target"
    folders=("scratch/$target" "corpus/$target")
    [[ $target == import ]] && folders+=("$seeds")
    cargo fuzz run --fuzz-dir . "$target" "$kept" "${folders[@]}" -- \
        -set_cover_merge=1 -use_counters=0 -rss_limit_mb=1024 -timeout=5
    rm -rf "corpus/$target"
    mv "$kept" "corpus/$target"
    printf '%s: %s files, %s bytes\n' "$target" "$(find "corpus/$target" -type f | wc -l)" \
        "$(find "corpus/$target" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum + 0 }')"
done
rmdir kept
