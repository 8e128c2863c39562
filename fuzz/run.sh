#!/usr/bin/env bash
# Fuzzes each target for some seconds, starting from the kept corpus. Stops at the first input that breaks a promise, and
# saves it under artifacts/. New inputs go to scratch/, from which keep.sh selects. See README.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

usage() {
    cat <<'END'
Usage: fuzz/run.sh SECONDS [TARGET…]

Targets: import, accessor, sampling, retarget, command_line (default: all). FUZZ_OPTIONS may hold options for libFuzzer.
Needs cargo-fuzz: ./setup.sh --fuzz
END
}

if [[ ! ${1-} =~ ^[0-9]+$ ]]; then
    usage >&2
    exit 2
fi
seconds=$1
shift
targets=("$@")
((${#targets[@]})) || targets=(import accessor sampling retarget command_line)

# The longest input: the size of a target's largest case, or a few KiB of JSON for models.
longest() {
    case $1 in
        import) echo 8192 ;;
        accessor) echo 256 ;;
        sampling | retarget) echo 1024 ;;
        command_line) echo 512 ;;
        *) usage >&2; exit 2 ;;
    esac
}

# The sanitizer is a flag of nightly compilers. This makes a stable compiler accept it, for fuzzing only.
export RUSTC_BOOTSTRAP=1
# By default the sanitizer keeps a stack trace for each allocation and a large quarantine, which would cost most time.
export ASAN_OPTIONS="${ASAN_OPTIONS-malloc_context_size=1:quarantine_size_mb=4}"
# A model of a few KiB gains nothing from threads, and another target may use the other core.
export RAYON_NUM_THREADS=1
# cargo-fuzz has no --locked.
cargo fetch --locked
for target in "${targets[@]}"; do
    options=(-max_total_time="$seconds" -max_len="$(longest "$target")" -rss_limit_mb=1024 -timeout=5 -print_final_stats=1)
    case $target in
        import) options+=(-dict="$PWD/gltf.dict") ;;
        command_line) options+=(-dict="$PWD/arguments.dict") ;;
    esac
    read -ra more <<<"${FUZZ_OPTIONS-}"
    mkdir -p "scratch/$target"
    # libFuzzer writes only to the first folder.
    cargo fuzz run --fuzz-dir . "$target" "scratch/$target" "corpus/$target" -- "${options[@]}" ${more[@]+"${more[@]}"}
done
