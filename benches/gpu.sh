#!/usr/bin/env bash
# Measures Throng on a GPU, tests it there, and writes a page about it: one command, about ten minutes, no window, no network.
set -euo pipefail

usage() {
    cat <<'TEXT'
Usage: benches/gpu.sh [OPTIONS] MODEL

Writes a page about this machine's GPU: what the device can do, the tests on it, the standard set of measurements, crowds of up
to a million of MODEL, a picture, and a plot. It takes about ten minutes on a GPU, and needs Python 3. MODEL is Fox.glb, so that
pages can be compared.

  --body FILE      also crowds of a character of about 10,000 vertices
  --clips FILE     clips for the body, if it has none
  --throng FILE    the program [default: cargo builds it]
  --peer FILE      Bevy's program, built by benches/peers/compare.py elsewhere: also compares with it, in at most two minutes
  --tests FOLDER   the test programs `gpu` and `program`, built elsewhere [default: cargo builds and runs them]; `none` skips them
  --loader FOLDER  for a machine without a Vulkan loader: libvulkan.so.1, or packages for Debian. NVIDIA's driver also needs
                   those of libegl1, libglvnd0, libx11-6 and libxext6, with what they depend on
  --device NAME    a part of the device's name [default: the best device]
  --out FOLDER     where the page goes [default: docs/gpus]
  --quick          small crowds and few frames, to try this script
TEXT
}

fail() { printf 'gpu.sh: %s\n' "$*" >&2; exit 1; }

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$repository/docs/gpus
body=() quick=() device=() throng="" peer="" tests="" loader="" model=""
while (($#)); do
    case $1 in
        --body | --clips) body+=("$1" "$(realpath -- "$2")"); shift 2 ;;
        --throng) throng=$(realpath -- "$2"); shift 2 ;;
        --peer) peer=$(realpath -- "$2"); shift 2 ;;
        --tests) tests=$2; shift 2 ;;
        --loader) loader=$(realpath -- "$2"); shift 2 ;;
        --device) device=(--device "$2"); shift 2 ;;
        --out) out=$2; shift 2 ;;
        --quick) quick=(--quick); shift ;;
        --help | -h) usage; exit 0 ;;
        -*) usage >&2; exit 2 ;;
        *) model=$(realpath -- "$1"); shift ;;
    esac
done
[[ -f $model ]] || { usage >&2; exit 2; }
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [[ -z $throng ]]; then
    (cd "$repository" && cargo build --release --locked)
    throng=${CARGO_TARGET_DIR:-$repository/target}/release/throng
fi

# The loader, and then the driver: a manifest where the loader does not look, or NVIDIA's library for machines without X.
if [[ -n $loader ]]; then
    shopt -s nullglob
    for package in "$loader"/*.deb; do dpkg-deb --extract "$package" "$work/loader"; done
    for folder in "$work"/loader/usr/lib/*-linux-gnu "$loader"; do
        export LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    done
    shopt -u nullglob
fi
has_gpu() { "$throng" devices --json 2>/dev/null | grep -q '"type": "\(discrete\|integrated\|virtual\)'; }
find_driver() {
    has_gpu && return
    local manifest
    printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "libEGL_nvidia.so.0", "api_version": "1.3.0"}}\n' \
        >"$work/nvidia_without_x.json"
    for manifest in {/usr/local,/usr,/etc,/opt}{,/nvidia}{,/share}/vulkan/icd.d/*.json "$work/nvidia_without_x.json"; do
        [[ -e $manifest ]] || continue
        export VK_DRIVER_FILES=$manifest VK_ICD_FILENAMES=$manifest
        has_gpu && return
    done
    unset VK_DRIVER_FILES VK_ICD_FILENAMES
}
[[ -n ${VK_DRIVER_FILES:-${VK_ICD_FILENAMES:-}} ]] || find_driver

# A short run that only has to name the device.
"$throng" bench "$model" "${device[@]}" --instances 1 --size 64x64 --frames 1 --warmup 0 --json "$work/device.json" >"$work/log" 2>&1 ||
    { cat "$work/log" >&2; fail "no device can draw ($throng devices)"; }
name=$(sed -n '/"device": {/,/}/s/.*"name": "\(.*\)".*/\1/p' "$work/device.json")
file=$(tr '[:upper:]' '[:lower:]' <<<"$name" | sed 's/[^a-z0-9]\+/-/g; s/^-//; s/-$//')
printf 'gpu.sh: %s\n' "$name" >&2

# run_tests PROGRAM ARGUMENTS…: its last line, and the tests that failed. If any did, what they said stays beside the page.
run_tests() {
    local program=$1 log=$out/$file.$1.log
    shift
    if [[ -n $tests ]]; then
        timeout 120 "$tests/$program" "$@" >"$log" 2>&1 || true
    else
        (cd "$repository" && cargo test --locked --test "$program" -- "$@") >"$log" 2>&1 || true
    fi
    printf '* `%s`: %s\n' "$program $*" "$(grep '^test result' "$log" || printf 'did not end')"
    sed -n 's/^test \(.*[^ ]\) *\.\.\. FAILED$/  * failed: \1/p' "$log"
    if grep -q '^test result: ok' "$log"; then rm "$log"; fi
}

# compare: the table, or a sentence. If the comparison failed, what it said stays beside the page.
compare() {
    local log=$out/$file.peers.log crowds=(--rounds 2 --frames 60 --warmup 20)
    if [[ -z $peer ]]; then
        printf 'Not compared on this machine.\n'
        return
    fi
    if ((${#quick[@]})); then
        crowds=(--rounds 1 --frames 2 --warmup 1 --instances 10 --more 20 --body-instances 5 --body-more 10)
    fi
    # three.js is left out where there is no browser, and on a GPU, which its browser does not use.
    if timeout 120 "$repository/benches/peers/compare.py" "$model" "${body[@]}" "${crowds[@]}" "${device[@]}" --throng "$throng" \
        --bevy "$peer" --peer bevy,three --seconds 90 2>"$log"; then
        rm "$log"
    else
        printf 'The comparison failed or did not end in two minutes.\n'
    fi
}

{
    printf '# %s\n\n[benches/gpu.sh](../../benches/gpu.sh) wrote this page.\n\n```text\n' "$name"
    "$throng" devices
    printf '```\n\n## Times\n\n'
    "$repository/benches/standard.py" "$model" "${body[@]}" "${quick[@]}" "${device[@]}" --throng "$throng" --gpu \
        --seconds 240 --plot "$out/$file.svg"
    printf '\n![Time of a frame against the number of characters](%s.svg)\n' "$file"
    "$throng" render "$model" "${device[@]}" --instances 1000 --clip all --size 640x360 --out "$out/$file.png" >&2
    printf '\n![A thousand characters, drawn by this device](%s.png)\n' "$file"
    printf '\n## Other programs\n\n'
    compare
    if [[ $tests != none ]]; then
        printf '\n## Tests\n\n'
        # The faults are tried with thousands of devices, which takes a GPU's driver hours. Drivers keep memory of their own.
        # Three modules let a software driver claim to be another one. Windows need a display.
        skipped=(--skip faults:: --skip memory:: --skip limits:: --skip portability:: --skip registers::)
        command -v Xvfb >/dev/null || skipped+=(--skip surfaces:: --skip window)
        THRONG_TEST_DEVICES=$name run_tests gpu "${skipped[@]}"
        if [[ -n ${THRONG_ORACLE:-} ]]; then run_tests program oracle; fi
    fi
} >"$out/$file.md"
printf 'gpu.sh: %s\n' "$out/$file.md" >&2
