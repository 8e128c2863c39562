#!/usr/bin/env bash
# Fuzzes targets for some seconds each, from the kept corpus on. Stops at the first input that breaks a promise, which it
# leaves under artifacts/. What it learns goes to scratch/, from where keep.sh takes the best. README.md says more.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

usage() {
    cat <<'END'
Usage: fuzz/run.sh SECONDS [TARGET…]

Targets: import, accessor, sampling; all of them where none is named. libFuzzer's own options can be put into
FUZZ_OPTIONS. Needs cargo-fuzz: ./setup.sh --fuzz
END
}

if [[ ! ${1-} =~ ^[0-9]+$ ]]; then
    usage >&2
    exit 2
fi
seconds=$1
shift
targets=("$@")
((${#targets[@]})) || targets=(import accessor sampling)

# The longest input: what a target's cases take, and for models some KiB of JSON.
longest() {
    case $1 in
        import) echo 8192 ;;
        accessor) echo 256 ;;
        sampling) echo 1024 ;;
        *) usage >&2; exit 2 ;;
    esac
}

# The sanitizer is a flag of nightly compilers; this makes a stable one take it. Only fuzzing is built this way.
export RUSTC_BOOTSTRAP=1
# What costs most is the sanitizer's keeping a stack for each of many small allocations, and freed memory for long.
export ASAN_OPTIONS="${ASAN_OPTIONS-malloc_context_size=1:quarantine_size_mb=4}"
# A model of some KiB gains nothing from threads, and a second target may want the other core.
export RAYON_NUM_THREADS=1
# cargo-fuzz has no --locked.
cargo fetch --locked
for target in "${targets[@]}"; do
    options=(-max_total_time="$seconds" -max_len="$(longest "$target")" -rss_limit_mb=1024 -timeout=5 -print_final_stats=1)
    [[ $target == import ]] && options+=(-dict="$PWD/gltf.dict")
    read -ra more <<<"${FUZZ_OPTIONS-}"
    mkdir -p "scratch/$target"
    # Only the first folder is written to.
    cargo fuzz run --fuzz-dir . "$target" "scratch/$target" "corpus/$target" -- "${options[@]}" ${more[@]+"${more[@]}"}
done
