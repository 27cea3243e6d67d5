#!/usr/bin/env bash
# Packages of the program: a tarball, a Debian package, and a wheel for Python that carries the program and the library.
#
#   tools/release.sh [--from DIR] [--level N] [OUT]
#
# --level says how hard to compress, 1 to 9. OUT is the folder for them, by default target/packages. --from names a folder that has `warpline`, `libwarpline.so` and
# `libwarpline.a` already; otherwise cargo builds them. All are for the machine's architecture and Linux with glibc. They
# use the LLVM of a Rust toolchain, or the one that $WARPLINE_LLVM names.
set -euo pipefail
cd "$(dirname "$0")/.."

from='' level=9
while (($#)); do
    case $1 in
        --from) from=${2:?--from needs a folder}; shift 2 ;;
        --level) level=${2:?--level needs a number}; shift 2 ;;
        -*) echo "usage: tools/release.sh [--from DIR] [--level N] [OUT]" >&2; exit 2 ;;
        *) break ;;
    esac
done
out=${1:-target/packages}
if [[ -z $from ]]; then
    cargo build --release -p warpline-cli -p warpline-capi
    from=target/release
fi
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
machine=$(uname -m)
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What is installed, below a prefix.
stage() {
    local root=$1
    mkdir -p "$root"/{bin,lib,include,share/cmake/Warpline,share/doc/warpline,share/man}
    install -m 755 "$from/warpline" "$root/bin/"
    install -m 644 "$from/libwarpline.so" "$from/libwarpline.a" "$root/lib/"
    install -m 644 crates/warpline-lanes/include/warpline.h crates/warpline-capi/include/libwarpline.h "$root/include/"
    install -m 644 cmake/*.cmake "$root/share/cmake/Warpline/"
    install -m 644 README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$root/share/doc/warpline/"
    "$from/warpline" man -o "$root/share/man/man1"
    mkdir -p "$root"/share/{bash-completion/completions,fish/vendor_completions.d,zsh/site-functions}
    "$from/warpline" completions bash >"$root/share/bash-completion/completions/warpline"
    "$from/warpline" completions fish >"$root/share/fish/vendor_completions.d/warpline.fish"
    "$from/warpline" completions zsh >"$root/share/zsh/site-functions/_warpline"
}

tarball() {
    local name=warpline-$version-$machine-linux
    stage "$work/$name"
    tar -C "$work" -cf - "$name" | gzip -"$level" >"$out/$name.tar.gz"
}

deb() {
    if ! command -v dpkg-deb >/dev/null; then
        echo "no Debian package: there is no dpkg-deb"
        return 0
    fi
    local root=$work/deb
    stage "$root/usr"
    mkdir -p "$root/DEBIAN"
    cat >"$root/DEBIAN/control" <<CONTROL
Package: warpline
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: The warpline developers
Depends: libc6 (>= 2.34)
Recommends: clang | clang-19
Suggests: libsleef3, rustc
Section: devel
Priority: optional
Description: vectorizer for SPMD programs in Rust, C, C++ and OpenCL C
 Makes SIMD code of loops, and of functions for one lane, and says what is
 uniform, what diverges, and why.
CONTROL
    dpkg-deb --root-owner-group -Zgzip -z"$level" --build "$root" "$out/warpline_${version}_$(dpkg --print-architecture).deb" >/dev/null
}

wheel() {
    if ! command -v python3 >/dev/null; then
        echo "no wheel: there is no python3"
        return 0
    fi
    LEVEL=$level FROM=$from OUT=$out VERSION=$version MACHINE=$machine python3 - <<'PYTHON'
import base64, hashlib, os, zipfile

version, source, machine = os.environ["VERSION"], os.environ["FROM"], os.environ["MACHINE"]
info = f"warpline-{version}.dist-info"
files = {
    "warpline/__init__.py": "python/warpline/__init__.py",
    "warpline/libwarpline.so": f"{source}/libwarpline.so",
    f"warpline-{version}.data/scripts/warpline": f"{source}/warpline",
    f"{info}/licenses/LICENSE-MIT": "LICENSE-MIT",
    f"{info}/licenses/LICENSE-APACHE": "LICENSE-APACHE",
}
contents = {name: open(path, "rb").read() for name, path in files.items()}
tag = f"py3-none-manylinux_2_34_{machine}"
contents[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: release.sh\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
contents[f"{info}/METADATA"] = (
    f"Metadata-Version: 2.1\nName: warpline\nVersion: {version}\nSummary: Vector code from C within Python\n"
    "License: MIT OR Apache-2.0\nRequires-Python: >=3.9\nDescription-Content-Type: text/markdown\n\n"
    + open("python/README.md").read()
).encode()
record = ""
for name, data in contents.items():
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    record += f"{name},sha256={digest},{len(data)}\n"
contents[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
with zipfile.ZipFile(f"{os.environ['OUT']}/warpline-{version}-{tag}.whl", "w", zipfile.ZIP_DEFLATED, compresslevel=int(os.environ["LEVEL"])) as archive:
    for name, data in contents.items():
        entry = zipfile.ZipInfo(name)
        entry.external_attr = (0o100755 if name.endswith("scripts/warpline") else 0o100644) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        archive.writestr(entry, data, compresslevel=int(os.environ["LEVEL"]))
PYTHON
}

tarball
deb
wheel
ls -l "$out"
