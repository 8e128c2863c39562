#!/bin/sh
# Draws the pictures of the window's panel again, on a screen that nobody sees. Needs Xvfb, xdotool and ImageMagick, and the
# knight of KayKit's adventurers (Knight.glb) as argument. THRONG names the program; without it, cargo builds one.
#
# Places are in pixels. If the panel has changed, look at the pictures, and correct the places.
set -eu
knight=$(realpath "$1")
cd "$(dirname "$0")/.."
if [ -z "${THRONG:-}" ]; then
    cargo build --release
    THRONG=target/release/throng
fi
number=$(mktemp)
Xvfb -displayfd 3 -screen 0 1000x740x24 -nolisten tcp 3>"$number" 2>/dev/null &
server=$!
trap 'kill $server; rm -f "$number"' EXIT
until [ -s "$number" ]; do sleep 0.1; done
DISPLAY=:$(cat "$number")
export DISPLAY

# window NAME SIZE OPTIONS…: shows the program, obeys the lines of standard input for xdotool, and takes a picture.
window() {
    name=$1 size=$2
    shift 2
    "$THRONG" view "$@" --size "$size" &
    program=$!
    window=$(xdotool search --sync --onlyvisible --pid $program | tail -1)
    xdotool windowfocus "$window"
    sleep 8
    while read -r line; do
        # Words of a line are arguments of xdotool.
        # shellcheck disable=SC2086
        xdotool $line
        sleep 3
    done
    import -window "$window" "PNG24:${OUT:-docs/pictures}/panel_$name.png"
    kill $program
    wait $program 2>/dev/null || true
}

window crowd 1000x640 --instances 1000 --clip all --travel on --camera 25,12,0.25 </dev/null
window selected 1000x640 --clip Walk --debug-view weights --skeleton on <<END
key space
mousemove 660 260 click 1
mousemove 716 212
END
window clips 1000x740 "$knight" <<END
mousemove 160 182 click 1
type cheer
END
# Closes the section Clip, opens Drawing, and chooses four samples per pixel
window weights 1000x740 "$knight" --clip Cheer --debug-view weights <<END
mousemove 48 158 click 1
mousemove 62 367 click 1
mousemove 200 437 click 1
mousemove 900 700
END
window keys 1000x740 <<END
key h
END
