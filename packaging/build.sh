#!/usr/bin/env bash
# Makes the packages of a release for Linux out of this checkout, in the folder dist:
#
#   throng-VERSION-ARCHITECTURE-linux.tar.gz   the program with its pages, to be unpacked anywhere
#   throng_VERSION_ARCHITECTURE.deb            the same for Debian and Ubuntu: a viewer with thumbnails
#
# `./setup.sh --package` installs what this needs: zig, which links against the glibc of Debian 11 and links its C++ library
# statically, and cargo-zigbuild, which makes cargo use it. The same commit gives the same bytes in any folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD

# The oldest glibc that the program runs with.
glibc=2.31
fail() { printf 'build: %s\n' "$*" >&2; exit 1; }

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n1)
repository=$(sed -n 's/^repository = "\(.*\)"$/\1/p' Cargo.toml)
architecture=$(uname -m)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022
export PATH="${THRONG_PACKAGING:-${XDG_CACHE_HOME:-$HOME/.cache}/throng/packaging}/bin:$PATH"
command -v cargo-zigbuild >/dev/null || fail "cargo-zigbuild is missing: ./setup.sh --package installs it"

# The program. No path of this machine gets into it.
target=$architecture-unknown-linux-gnu
cargo_home=${CARGO_HOME:-$HOME/.cargo}
export CARGO_INCREMENTAL=0
export RUSTFLAGS="--remap-path-prefix=$root=throng --remap-path-prefix=$cargo_home=cargo -C strip=symbols"
export CFLAGS="-ffile-prefix-map=$cargo_home=cargo" CXXFLAGS="-ffile-prefix-map=$cargo_home=cargo"
# In several units at once, the names of what they share depend on the folder.
cargo zigbuild --release --locked --bin throng --target "$target.$glibc" --config 'profile.release.package.throng.codegen-units=1'
program=${CARGO_TARGET_DIR:-target}/$target/release/throng

# At start it needs glibc and nothing else. All other libraries are opened while it runs.
others=$(ldd "$program" | grep -Ev 'linux-vdso|ld-linux|lib(c|m|dl|rt|util|pthread)\.so' || true)
[[ -z $others ]] || fail "the program needs more than glibc at start: $others"
newest=$(objdump -T "$program" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n1)
[[ $(printf '%s\n' "$newest" "GLIBC_$glibc" | sort -V | tail -n1) == "GLIBC_$glibc" ]] ||
    fail "the program needs $newest, which is newer than $glibc"
for path in "$root" "$cargo_home" "$HOME/"; do
    if grep --quiet --fixed-strings "$path" "$program"; then fail "the program contains the path $path"; fi
done

rm -rf dist
mkdir dist
# put FILE… FOLDER: copies files into a new folder.
put() { install -D --mode=644 --target-directory="${*: -1}" "${@:1:$#-1}"; }
"$program" --version
commands=(view render bench inspect pose crowd devices completions man)
# write_pages FOLDER: the manual pages.
write_pages() {
    mkdir -p "$1"
    "$program" man >"$1/throng.1"
    for command in "${commands[@]}"; do "$program" man "$command" >"$1/throng-$command.1"; done
}
packaging/licences.py "$target" >dist/THIRD-PARTY.txt
models=(assets/walker.glb assets/tube.gltf assets/jelly.gltf assets/simple_strip.gltf assets/LICENSE)
# All times are that of the commit.
date_all() { find "$1" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +; }

# The archive.
name=throng-$version-$architecture-linux
folder=dist/$name
install -D --mode=755 "$program" "$folder/throng"
put packaging/README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT dist/THIRD-PARTY.txt "$folder"
put "${models[@]}" "$folder/models"
write_pages "$folder/man/man1"
mkdir "$folder/completions"
for shell in bash zsh fish; do "$program" completions "$shell" >"$folder/completions/throng.$shell"; done
date_all "$folder"
tar --create --directory=dist --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mode=u+rw,go=rX "$name" |
    gzip --best --no-name >"dist/$name.tar.gz"

# The package. The system notices the new types, icons and entries by itself: there are no scripts.
deb=dist/deb
share=$deb/usr/share
install -D --mode=755 "$program" "$deb/usr/bin/throng"
put "${models[@]:0:4}" "$share/throng/models"
write_pages "$share/man/man1"
install -D --mode=644 "$folder/completions/throng.bash" "$share/bash-completion/completions/throng"
install -D --mode=644 "$folder/completions/throng.zsh" "$share/zsh/vendor-completions/_throng"
install -D --mode=644 "$folder/completions/throng.fish" "$share/fish/vendor_completions.d/throng.fish"
put packaging/throng.desktop "$share/applications"
put packaging/throng.thumbnailer "$share/thumbnailers"
put packaging/throng.xml "$share/mime/packages"
for size in 48 128 256; do
    install -D --mode=644 "packaging/icons/$size.png" "$share/icons/hicolor/${size}x$size/apps/throng.png"
done
mkdir "$share/metainfo"
date=$(date --date="@$SOURCE_DATE_EPOCH" +%F)
# Without an address of the repository, there are no addresses of pictures.
sed -e "s|@VERSION@|$version|; s|@DATE@|$date|; s|@REPOSITORY@|$repository|" \
    -e "$([[ -n $repository ]] || echo '/<screenshots>/,/<\/screenshots>/d; /<url/d')" \
    packaging/throng.metainfo.xml >"$share/metainfo/io.github.throng.throng.metainfo.xml"
put packaging/README.md dist/THIRD-PARTY.txt "$share/doc/throng"
cat packaging/copyright LICENSE-MIT >"$share/doc/throng/copyright"
cp CHANGELOG.md "$share/doc/throng"
cat >"$share/doc/throng/changelog" <<END
throng ($version) unstable; urgency=low

  * All changes are in CHANGELOG.md, beside this file.

 -- $(sed -n 's/^Maintainer: //p' packaging/control)  $(date --date="@$SOURCE_DATE_EPOCH" --rfc-email)
END
gzip --best --no-name "$share"/man/man1/* "$share"/doc/throng/{changelog,CHANGELOG.md,THIRD-PARTY.txt}
debian_architecture=$(dpkg --print-architecture)
mkdir "$deb/DEBIAN"
sed "s|@VERSION@|$version|; s|@ARCHITECTURE@|$debian_architecture|; s|@GLIBC@|$glibc|; s|@SIZE@|$(du -sk "$deb/usr" | cut -f1)|" \
    packaging/control >"$deb/DEBIAN/control"
(cd "$deb" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
date_all "$deb"
dpkg-deb --root-owner-group -Zxz -z9 --build "$deb" "dist/throng_${version}_$debian_architecture.deb"

rm -rf dist/THIRD-PARTY.txt "$folder" "$deb"
(cd dist && sha256sum throng* >SHA256SUMS && cat SHA256SUMS && ls -l throng*)
