#!/usr/bin/env bash
# Makes a new corpus from the old one, scratch/ and the seeds: short inputs first, and each input only if it reaches enough
# code that no earlier one reaches. So the corpus stays small. A campaign finds inputs for single edges again in a minute.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

export RUSTC_BOOTSTRAP=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The number of new edges that an input must reach, and whether the counts of edges matter too. They do for clips, which
# have few edges; for other targets that would keep thousands of inputs.
worth() {
    case $1 in
        import) echo 24 0 ;;
        accessor) echo 5 0 ;;
        sampling) echo 12 1 ;;
        retarget) echo 8 0 ;;
        command_line) echo 24 0 ;;
    esac
}

cargo run --quiet --manifest-path ../Cargo.toml --example fuzz_seeds -- "$work/seeds" >/dev/null
for target in import accessor sampling retarget command_line; do
    mkdir -p "$work/merged" "scratch/$target" "corpus/$target"
    folders=("scratch/$target" "corpus/$target")
    [[ $target == import ]] && folders+=("$work/seeds")
    read -r least counters < <(worth "$target")
    cargo fuzz run --fuzz-dir . "$target" "$work/merged" "${folders[@]}" -- \
        -merge=1 -use_counters="$counters" -merge_control_file="$work/control" -rss_limit_mb=1024 -timeout=5
    # The control file has the number of files, the number in the first folder, their names, and for each file
    # `STARTED index bytes` and `FT index edge…`.
    awk 'NR > 2 && /^(STARTED|FT) /  { if ($1 == "STARTED") size[$2] = $3; else print size[$2], $0; next }
         NR > 2 && !/^(COV|DONE) /   { name[count++] = $0 }
         END { for (i = 0; i < count; i++) print "NAME", i, name[i] >"'"$work/names"'" }' "$work/control" |
        sort --numeric-sort --stable >"$work/features"
    mkdir "$work/kept"
    awk -v least="$least" '
        NR == FNR { at = $2; sub(/^NAME [0-9]+ /, ""); name[at] = $0; next }
        {
            added = 0
            for (i = 4; i <= NF; i++) if (!($i in seen)) added++
            if (added < least) next
            for (i = 4; i <= NF; i++) seen[$i] = 1
            print name[$3]
        }' "$work/names" "$work/features" | while read -r file; do
        cp "$file" "$work/kept/$(sha1sum "$file" | cut -c1-16)"
    done
    rm -rf "corpus/$target" "$work/merged" "$work/control"
    mv "$work/kept" "corpus/$target"
    printf '%s: %s files, %s bytes\n' "$target" "$(find "corpus/$target" -type f | wc -l)" \
        "$(cat "corpus/$target"/* | wc -c)"
done
