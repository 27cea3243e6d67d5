#!/usr/bin/env bash
# The program as a host on AArch64, under qemu-user: what needs neither an LLVM for that machine nor processes of its
# own. Not a step of continuous integration, since it compiles everything once more.
#
#   tools/aarch64-host.sh [OPTIONS OF CARGO…]
set -euo pipefail
cd "$(dirname "$0")/.."

target=aarch64-unknown-linux-gnu
for tool in rustup aarch64-linux-gnu-gcc qemu-aarch64; do
    if ! command -v "$tool" >/dev/null; then
        echo "skipped: there is no $tool" >&2
        exit 0
    fi
done
rustup target add "$target"
CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
    cargo build "$@" --target "$target" -p warpline-cli
warpline=(qemu-aarch64 -L /usr/aarch64-linux-gnu "${CARGO_TARGET_DIR:-target}/$target/debug/warpline")
"${warpline[@]}" doctor || true
"${warpline[@]}" opt --list >/dev/null
"${warpline[@]}" opt filetests/passes/canonicalize.wl -p @linearize --args x=varying,un=uniform
