#!/usr/bin/env bash
# Prints the text of a release: the changelog's section of a version, and what each archive is. Fails if there is no such
# section.
#
# Usage: packaging/notes.sh VERSION
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
section=$(awk -v heading="## $1 " 'index($0 " ", heading) == 1 { inside = 1; next } /^## / { inside = 0 } inside' CHANGELOG.md)
[[ -n $section ]] || { printf 'notes: CHANGELOG.md has no section "## %s"\n' "$1" >&2; exit 1; }
cat packaging/notes.md
printf '%s\n' "$section"
