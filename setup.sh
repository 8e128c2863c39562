#!/usr/bin/env bash
# Installs the packages that Throng needs and Cargo cannot fetch. Run it as often as you like.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

usage() {
    cat <<'END'
Usage: ./setup.sh [--shaders] [--fuzz]

Installs the missing packages of this list: a C compiler (for Rust's linker) and a C++ compiler (for meshoptimizer), the
Vulkan loader, Mesa's drivers (including lavapipe, which draws without a GPU), the Vulkan validation layers, the X11, xkb
and Wayland libraries for the window, and Xvfb for the window tests. It supports Debian and Ubuntu (apt), Fedora (dnf) and
Arch (pacman). On other systems it tells you what to install. It uses sudo unless you run it as root.

  --shaders   also install CMake, make, Python 3 and git, for the cargo feature `shaderc`
  --fuzz      also install cargo-fuzz with cargo, for fuzz/run.sh
  --help      print this text
END
}

say() { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

with_shaders=false
with_fuzz=false
for argument in "$@"; do
    case $argument in
        --shaders) with_shaders=true ;;
        --fuzz) with_fuzz=true ;;
        --help | -h) usage; exit 0 ;;
        *) usage >&2; exit 2 ;;
    esac
done

# This check comes first, so that an old compiler is reported before any package is installed.
check_rust() {
    local wanted found
    wanted=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
    if ! command -v cargo >/dev/null || ! found=$(rustc --version 2>/dev/null); then
        fail "Rust $wanted or later is missing (or not in PATH): install it from https://rustup.rs, then run this again"
    fi
    found=$(cut -d' ' -f2 <<<"$found")
    if [[ $(printf '%s\n' "$wanted" "${found%%-*}" | sort -V | head -n1) != "$wanted" ]]; then
        fail "Rust $found is too old, $wanted or later is needed: rustup update stable (or https://rustup.rs)"
    fi
}

missing=()

# need COMMAND PACKAGE…: the packages are missing if the command is missing. It may come from elsewhere.
need() {
    command -v "$1" >/dev/null || missing+=("${@:2}")
}

# announce MANAGER: returns false if nothing is missing, and exits if the user may not install packages.
announce() {
    ((${#missing[@]})) || return 1
    ((EUID == 0)) || command -v sudo >/dev/null || fail "there is no sudo; as root, install with $1: ${missing[*]}"
    say "installing with $1: ${missing[*]}"
}

as_root() {
    if ((EUID == 0)); then "$@"; else sudo "$@"; fi
}

missing_deb() {
    local packages=("$@") installed package
    # This fails if a package is unknown, but still lists the others.
    installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null || true)
    for package in "${packages[@]}"; do
        grep --quiet --line-regexp --fixed-strings "installed $package" <<<"$installed" || missing+=("$package")
    done
}

setup_apt() {
    missing_deb libvulkan1 mesa-vulkan-drivers vulkan-validationlayers \
        libx11-6 libx11-xcb1 libxcb1 libxcursor1 libxi6 libxrandr2 libxkbcommon0 libxkbcommon-x11-0 libwayland-client0
    need Xvfb xvfb
    need cc gcc libc6-dev
    need c++ g++
    if $with_shaders; then
        need cmake cmake
        need make make
        need python3 python3
        need git git
    fi
    announce apt-get || return 0
    as_root apt-get update --quiet
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --no-install-recommends "${missing[@]}"
}

setup_dnf() {
    local package
    for package in vulkan-loader mesa-vulkan-drivers vulkan-validation-layers \
        libX11 libX11-xcb libxcb libXcursor libXi libXrandr libxkbcommon libxkbcommon-x11 libwayland-client; do
        rpm --query --quiet "$package" || missing+=("$package")
    done
    need Xvfb xorg-x11-server-Xvfb
    need cc gcc
    need c++ gcc-c++
    if $with_shaders; then
        need cmake cmake
        need make make
        need python3 python3
        need git git
    fi
    announce dnf || return 0
    as_root dnf install --assumeyes --setopt=install_weak_deps=False "${missing[@]}"
}

setup_pacman() {
    # --deptest lists the missing packages, and fails if there are any.
    mapfile -t missing < <(pacman --deptest vulkan-icd-loader vulkan-swrast vulkan-validation-layers \
        libx11 libxcb libxcursor libxi libxrandr libxkbcommon libxkbcommon-x11 wayland || true)
    need Xvfb xorg-server-xvfb
    need cc gcc
    need c++ gcc
    if $with_shaders; then
        need cmake cmake
        need make make
        need python3 python
        need git git
    fi
    announce pacman || return 0
    # Not -Sy: Arch supports no partial upgrades.
    as_root pacman -S --needed --noconfirm "${missing[@]}" || fail "pacman failed; bring the system up to date: pacman -Syu"
}

setup_fuzz() {
    cargo fuzz --version >/dev/null 2>&1 && return
    say "installing cargo-fuzz with cargo"
    cargo install --locked --quiet cargo-fuzz
}

explain_macos() {
    say "macOS: install the Vulkan SDK from https://vulkan.lunarg.com (it has MoltenVK and the validation layers), or run"
    say "    brew install vulkan-loader molten-vk vulkan-validationlayers"
    say "For the linker and the C++ compiler, run xcode-select --install"
    if $with_shaders; then say "for the feature shaderc: brew install cmake python"; fi
}

explain_windows() {
    say "Windows: a current graphics driver is enough to run Throng. The validation layers are in the SDK from"
    say "https://vulkan.lunarg.com. Rust needs the C++ build tools of Visual Studio, which rustup offers to install"
    if $with_shaders; then say "for the feature shaderc: CMake (https://cmake.org), Ninja and Python 3 (https://python.org)"; fi
}

explain_other() {
    say "this system's package manager is unknown; install: a C and a C++ compiler, the Vulkan loader, a Vulkan 1.3"
    say "driver (Mesa's lavapipe if there is no GPU), the Vulkan validation layers, libX11 with libX11-xcb, libxcb,"
    say "libXcursor, libXi, libXrandr, libxkbcommon with libxkbcommon-x11, libwayland-client, Xvfb"
    if $with_shaders; then say "for the feature shaderc: CMake, make, Python 3, git"; fi
}

check_rust
case $(uname -s) in
    Linux)
        if command -v apt-get >/dev/null; then
            setup_apt
        elif command -v dnf >/dev/null; then
            setup_dnf
        elif command -v pacman >/dev/null; then
            setup_pacman
        else
            explain_other
        fi
        ;;
    Darwin) explain_macos ;;
    MINGW* | MSYS* | CYGWIN*) explain_windows ;;
    *) explain_other ;;
esac
if $with_fuzz; then setup_fuzz; fi
say "done"
