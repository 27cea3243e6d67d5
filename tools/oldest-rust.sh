#!/usr/bin/env bash
# Whether everything compiles with the oldest Rust that Cargo.toml promises (`rust-version`), and the locked dependencies
# with it; `test` runs the tests, too, with that Rust's LLVM. A toolchain that is not there is installed by rustup.
#
#   tools/oldest-rust.sh [check|test] [OPTIONS OF CARGO…]
set -euo pipefail
cd "$(dirname "$0")/.."

what=${1:-check}
shift || true
oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
if ! command -v rustup >/dev/null; then
    echo "skipped: there is no rustup to install Rust $oldest" >&2
    exit 0
fi
if ! rustup run "$oldest" rustc --version 2>/dev/null; then
    if ! timeout 600 rustup toolchain install "$oldest" --profile minimal; then
        echo "skipped: Rust $oldest cannot be installed" >&2
        exit 0
    fi
fi
# Programs that the tests start use the same Rust, and its LLVM.
export RUSTUP_TOOLCHAIN=$oldest
case $what in
    check) cargo check --locked --workspace --target-dir target/oldest "$@" ;;
    test) cargo test --locked --workspace --target-dir target/oldest "$@" ;;
    *) echo "usage: tools/oldest-rust.sh [check|test] [OPTIONS OF CARGO…]" >&2; exit 2 ;;
esac
