#!/usr/bin/env bash
# c-corpus.sh DIR: SQLite, Lua, zstd and zlib as unoptimised LLVM IR, one DIR/PROGRAM-FILE.ll for each C file.
#
# The sources are those that the crates libsqlite3-sys, lua-src, zstd-sys and libz-sys carry, at the versions below, so that
# figures can be repeated. `-O1 -Xclang -disable-llvm-passes` is what clang makes before any optimisation:
# local variables are allocas, with the lifetime markers that -O0 leaves out and without its `optnone`.
#
# Needs: cargo, clang-19 or $CLANG, the network. $EXTRA_CFLAGS is added to the compiler's flags, such as
# -gline-tables-only for figures by source line. A quarter of a minute, 35 MB.
set -euo pipefail
[ $# = 1 ] || { echo "usage: $0 DIR" >&2; exit 2; }
out=$(mkdir -p "$1" && cd "$1" && pwd)
clang=${CLANG:-clang-19}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cd "$work"
cargo init --quiet --vcs none --lib --name corpus .
cat >> Cargo.toml <<TOML
libsqlite3-sys = "=0.39.1"
lua-src = "=551.1.0"
zstd-sys = "=2.1.2"
libz-sys = "=1.1.31"
TOML
cargo vendor --quiet vendor > /dev/null

made=0
skipped=0
# compile NAME FILE FLAG...
compile() {
    local name=$1 file=$2
    shift 2
    # shellcheck disable=SC2086 # EXTRA_CFLAGS are words
    if "$clang" -O1 -Xclang -disable-llvm-passes -w -fno-ident -S -emit-llvm "$@" ${EXTRA_CFLAGS-} \
        "$file" -o "$work/module.ll" 2> "$work/errors"; then
        mv "$work/module.ll" "$out/$name.ll"
        made=$((made + 1))
    else
        echo "skipped $file: $(grep -m 1 error "$work/errors" || true)" >&2
        skipped=$((skipped + 1))
    fi
}

compile sqlite3 vendor/libsqlite3-sys/sqlite3/sqlite3.c \
    -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_RTREE -DSQLITE_THREADSAFE=0
for file in vendor/lua-src/lua-5.4*/l*.c; do
    name=$(basename "$file" .c)
    case $name in
        lua | luac) ;; # main programs
        *) compile "lua-$name" "$file" ;;
    esac
done
for file in vendor/zstd-sys/zstd/lib/{common,compress,decompress,dictBuilder}/*.c; do
    compile "zstd-$(basename "$file" .c)" "$file" -Ivendor/zstd-sys/zstd/lib
done
for file in vendor/libz-sys/src/zlib/*.c; do
    compile "zlib-$(basename "$file" .c)" "$file" -DHAVE_UNISTD_H
done
echo "$made files, $skipped skipped"
