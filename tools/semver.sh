#!/usr/bin/env bash
# Whether the public crates keep what they have promised since a baseline: what was removed or changed needs a new version.
#
#   tools/semver.sh [REVISION]
#
# REVISION is what is compared with; by default the last release, the tag `v…` that is nearest. cargo-semver-checks is
# built in the target folder if there is none on the path.
set -euo pipefail
cd "$(dirname "$0")/.."

if (($# > 1)) || [[ ${1:-} == -* ]]; then
    echo "usage: tools/semver.sh [REVISION]" >&2
    exit 2
fi
baseline=${1:-$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null || true)}
if [[ -z $baseline ]]; then
    echo "nothing has been released yet: there is no tag \`v…\`, and no revision was given"
    exit 0
fi
git rev-parse --quiet --verify "$baseline^{commit}" >/dev/null || { echo "there is no revision $baseline" >&2; exit 2; }

export PATH="$PWD/target/tools/bin:$PATH"
command -v cargo-semver-checks >/dev/null || cargo install cargo-semver-checks --locked --root target/tools

# Libraries that others depend on. Programs and what only tests use promise nothing.
packages=()
for manifest in crates/*/Cargo.toml; do
    name=$(sed -n 's/^name = "\(.*\)"/\1/p' "$manifest" | head -n 1)
    case $name in
        warpline-cli | warpline-bench | warpline-capi | warpline-testkit | warpline-macros) continue ;;
    esac
    # A crate that the baseline does not have yet has promised nothing.
    git cat-file -e "$baseline:$manifest" 2>/dev/null && packages+=(--package "$name")
done
cargo semver-checks --baseline-rev "$baseline" "${packages[@]}"
