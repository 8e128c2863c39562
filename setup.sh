#!/usr/bin/env bash
# Installs the packages that Throng needs and Cargo cannot fetch. Run it as often as you like.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

usage() {
    cat <<'END'
Usage: ./setup.sh [--shaders] [--fuzz] [--drivers] [--book] [--package]

Installs the missing packages of this list: a C compiler (for Rust's linker) and a C++ compiler (for meshoptimizer), the
Vulkan loader, Mesa's drivers (including lavapipe, which draws without a GPU), the Vulkan validation layers, the X11, xkb
and Wayland libraries for the window, Xvfb and the window manager openbox for the window tests, and spirv-cross for a test of
the shaders. It supports Debian and Ubuntu (apt), Fedora (dnf, without spirv-cross) and Arch (pacman). On other systems it
tells you what to install. It uses sudo unless you run it as root.

  --shaders   also install CMake, make and git, for the cargo feature `shaderc`
  --fuzz      also install cargo-fuzz with cargo, for fuzz/run.sh
  --drivers   also put a second driver (SwiftShader) and a current validation layer into ~/.cache/throng/drivers, for
              tests. Nothing uses them until you source the file `env` there. They come from Debian's package
              chromium-common. To get a newer version, remove the folder first. The end checks them with the program, which
              cargo builds, or which THRONG_PROGRAM names. THRONG_DRIVERS names another folder
  --book      also install Node and, with cargo, mdBook, for docs/book.py and tests/figures
  --package   also put zig and cargo-zigbuild (from PyPI, 440 MB) into ~/.cache/throng/packaging, for packaging/build.sh.
              THRONG_PACKAGING names another folder
  --help      print this text
END
}

say() { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

with_shaders=false
with_fuzz=false
with_drivers=false
with_book=false
with_package=false
for argument in "$@"; do
    case $argument in
        --shaders) with_shaders=true ;;
        --fuzz) with_fuzz=true ;;
        --drivers) with_drivers=true ;;
        --book) with_book=true ;;
        --package) with_package=true ;;
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
    need openbox openbox
    need spirv-cross spirv-cross
    need cc gcc libc6-dev
    need c++ g++
    need python3 python3
    if $with_shaders; then
        need cmake cmake
        need make make
        need git git
    fi
    if $with_book; then need node nodejs; fi
    if $with_package; then
        python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
        need objdump binutils
        need dpkg-deb dpkg
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
    need openbox openbox
    need cc gcc
    need c++ gcc-c++
    need python3 python3
    if $with_shaders; then
        need cmake cmake
        need make make
        need git git
    fi
    if $with_book; then need node nodejs; fi
    announce dnf || return 0
    as_root dnf install --assumeyes --setopt=install_weak_deps=False "${missing[@]}"
}

setup_pacman() {
    # --deptest lists the missing packages, and fails if there are any.
    mapfile -t missing < <(pacman --deptest vulkan-icd-loader vulkan-swrast vulkan-validation-layers \
        libx11 libxcb libxcursor libxi libxrandr libxkbcommon libxkbcommon-x11 wayland || true)
    need Xvfb xorg-server-xvfb
    need openbox openbox
    need spirv-cross spirv-cross
    need cc gcc
    need c++ gcc
    need python3 python
    if $with_shaders; then
        need cmake cmake
        need make make
        need git git
    fi
    if $with_book; then need node nodejs; fi
    announce pacman || return 0
    # Not -Sy: Arch supports no partial upgrades.
    as_root pacman -S --needed --noconfirm "${missing[@]}" || fail "pacman failed; bring the system up to date: pacman -Syu"
}

setup_fuzz() {
    cargo fuzz --version >/dev/null 2>&1 && return
    say "installing cargo-fuzz with cargo"
    cargo install --locked --quiet cargo-fuzz
}

setup_book() {
    [[ $(mdbook --version 2>/dev/null) == "mdbook v0.5.4" ]] && return
    say "installing mdBook with cargo"
    cargo install --locked --quiet --no-default-features --features search --version 0.5.4 mdbook
}

setup_package() {
    local folder=${THRONG_PACKAGING:-${XDG_CACHE_HOME:-$HOME/.cache}/throng/packaging}
    local wanted=(ziglang==0.17.1 cargo-zigbuild==0.24.1)
    [[ -e $folder/bin/pip ]] || python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check "${wanted[@]}"
    say "zig and cargo-zigbuild are in $folder"
}

drivers=${THRONG_DRIVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/throng/drivers}

setup_drivers() {
    [[ $(uname -s) == Linux ]] || fail "--drivers works on Linux only"
    if [[ ! -e $drivers/env ]]; then fetch_drivers; fi
    check_drivers
    say "a second driver and a current validation layer are in $drivers; to use them in a shell: . '$drivers/env'"
}

fetch_drivers() {
    local package=chromium-common folder new="$drivers.new"
    command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
        fail "--drivers takes the package $package from Debian (apt), which this system does not have"
    rm -rf "$new"
    mkdir -p "$new"/{download,driver,layer,lib}
    say "downloading $package with apt-get"
    # Without lists of packages there is nothing to download. They are also too old if the version was replaced since.
    if ! (cd "$new/download" && apt-get download --quiet -o APT::Sandbox::User=root "$package"); then
        as_root apt-get update --quiet
        (cd "$new/download" && apt-get download --quiet -o APT::Sandbox::User=root "$package") ||
            fail "apt-get cannot download $package; Debian has it, other distributions may not"
    fi
    dpkg-deb --field "$new/download"/*.deb Version >"$new/version"
    dpkg-deb --extract "$new/download"/*.deb "$new/download/package"
    folder=$new/download/package/usr/lib/chromium
    mv "$folder"/{libvk_swiftshader.so,vk_swiftshader_icd.json} "$new/driver/"
    mv "$folder/libVkLayer_khronos_validation.so" "$new/layer/"
    # A layer is often too new for the loader of a stable distribution.
    mv "$folder/libvulkan.so.1" "$new/lib/"
    mv "$new/download/package/usr/share/doc/$package/copyright" "$new/"
    write_manifest "$new"
    cat >"$new/env" <<END
# Source this: commands then run on SwiftShader, with a current loader and validation layer.
export VK_DRIVER_FILES='$drivers/driver/vk_swiftshader_icd.json'
# The name of the same variable before 2022.
export VK_ICD_FILENAMES="\$VK_DRIVER_FILES"
export VK_LAYER_PATH='$drivers/layer'
export LD_LIBRARY_PATH='$drivers/lib'"\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
END
    rm -rf "$new/download" "$drivers"
    mv "$new" "$drivers"
}

# write_manifest FOLDER: asks the layer for its version and its extensions. The package has no manifest for the loader.
write_manifest() {
    local layer=$1/layer/libVkLayer_khronos_validation.so
    cc -x c -o "$1/download/manifest" - -ldl <<'END'
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

typedef struct { char name[256]; uint32_t version, implementation; char description[256]; } Layer;
typedef struct { char name[256]; uint32_t version; } Extension;

int main(int count, char **arguments) {
    static Layer layer;
    static Extension extensions[64];
    uint32_t layers = 1, found = 64;
    void *library = count == 2 ? dlopen(arguments[1], RTLD_NOW) : 0;
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
    int32_t (*layer_of)(uint32_t *, Layer *);
    int32_t (*extensions_of)(const char *, uint32_t *, Extension *);
    *(void **)&layer_of = dlsym(library, "vkEnumerateInstanceLayerProperties");
    *(void **)&extensions_of = dlsym(library, "vkEnumerateInstanceExtensionProperties");
    if (!layer_of || !extensions_of || layer_of(&layers, &layer) || layers != 1 ||
        extensions_of(layer.name, &found, extensions))
        return fprintf(stderr, "%s: not a layer\n", arguments[1]), 1;
    printf("{\n  \"file_format_version\": \"1.2.0\",\n  \"layer\": {\n    \"name\": \"%s\",\n    \"type\": \"GLOBAL\",\n"
           "    \"library_path\": \"./libVkLayer_khronos_validation.so\",\n    \"api_version\": \"%u.%u.%u\",\n"
           "    \"implementation_version\": \"%u\",\n    \"description\": \"%s\",\n    \"instance_extensions\": [",
           layer.name, layer.version >> 22 & 127, layer.version >> 12 & 1023, layer.version & 4095,
           layer.implementation, layer.description);
    for (uint32_t i = 0; i < found; i++)
        printf("%s\n      { \"name\": \"%s\", \"spec_version\": \"%u\" }", i ? "," : "", extensions[i].name,
               extensions[i].version);
    puts("\n    ]\n  }\n}");
    return 0;
}
END
    "$1/download/manifest" "$layer" >"$1/layer/VkLayer_khronos_validation.json"
}

throng() {
    if [[ -n ${THRONG_PROGRAM:-} ]]; then "$THRONG_PROGRAM" "$@"; else cargo run --quiet --locked -- "$@"; fi
}

# Draws a frame on the second driver, with the layer. A subshell keeps the variables away from the rest.
check_drivers() (
    # shellcheck source=/dev/null
    . "$drivers/env"
    throng devices | grep SwiftShader || fail "$drivers does not work: \`throng devices\` does not list SwiftShader"
    throng pose --on gpu --validation >/dev/null || fail "$drivers does not work; remove the folder to download it again"
    sed -n 's/.*"api_version": "\(.*\)".*/setup: validation layer \1/p' "$VK_LAYER_PATH"/*.json
)

explain_macos() {
    say "macOS: install the Vulkan SDK from https://vulkan.lunarg.com (it has MoltenVK and the validation layers), or run"
    say "    brew install vulkan-loader molten-vk vulkan-validationlayers"
    say "For the linker and the C++ compiler, run xcode-select --install; the tests need Python 3: brew install python"
    if $with_shaders; then say "for the feature shaderc: brew install cmake"; fi
}

explain_windows() {
    say "Windows: a current graphics driver is enough to run Throng. The validation layers are in the SDK from"
    say "https://vulkan.lunarg.com. Rust needs the C++ build tools of Visual Studio, which rustup offers to install."
    say "The tests need Python 3 (https://python.org) as python3"
    if $with_shaders; then say "for the feature shaderc: CMake (https://cmake.org) and Ninja"; fi
}

explain_other() {
    say "this system's package manager is unknown; install: a C and a C++ compiler, the Vulkan loader, a Vulkan 1.3"
    say "driver (Mesa's lavapipe if there is no GPU), the Vulkan validation layers, libX11 with libX11-xcb, libxcb,"
    say "libXcursor, libXi, libXrandr, libxkbcommon with libxkbcommon-x11, libwayland-client, Xvfb, openbox, Python 3"
    if $with_shaders; then say "for the feature shaderc: CMake, make, git"; fi
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
if $with_drivers; then setup_drivers; fi
if $with_book; then setup_book; fi
if $with_package; then setup_package; fi
say "done"
