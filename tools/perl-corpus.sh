#!/usr/bin/env bash
# perl-corpus.sh DIR: the core of Perl as unoptimised LLVM IR, one DIR/perl-NAME.ll for each of its C files.
#
# The source comes from Debian's source package, of the release that this machine's own package sources name; apt's
# lists and settings stay as they are, everything is done in a temporary directory. The configuration (config.h and the
# headers that Perl's build generates) is that of the installed Perl, which is why both must be of one version.
#
# Needs: a Debian, dpkg-dev, the installed Perl with its headers (package libperl5.*), clang-19 or $CLANG, the network.
# $EXTRA_CFLAGS is added to the compiler's flags, such as -gline-tables-only for figures by source line. A minute, 70 MB.
set -euo pipefail
[ $# = 1 ] || { echo "usage: $0 DIR" >&2; exit 2; }
out=$(mkdir -p "$1" && cd "$1" && pwd)
clang=${CLANG:-clang-19}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

headers=$(perl -MConfig -e 'print "$Config{archlibexp}/CORE"')
[ -f "$headers/config.h" ] || { echo "$0: no config.h in $headers: install libperl-dev" >&2; exit 2; }
version=$(perl -MConfig -e 'print $Config{version}')

# The machine's package sources, with sources of packages instead of packages. apt drops its privileges to download.
mkdir -p "$work"/{sources,lists/partial,cache/archives/partial,source}
chmod -R a+rX "$work"
shopt -s nullglob
for file in /etc/apt/sources.list.d/*.sources; do
    sed -E 's/^Types:.*/Types: deb-src/' "$file" > "$work/sources/$(basename "$file")"
done
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -f "$file" ] || continue
    sed -E 's/^deb /deb-src /' "$file" > "$work/sources/$(basename "$file" .list).list"
done
cat > "$work/apt.conf" <<CONF
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$work/sources";
Dir::State::lists "$work/lists";
Dir::Cache "$work/cache";
APT::Sandbox::User "root";
CONF
export APT_CONFIG="$work/apt.conf"
apt-get -qq update >&2
cd "$work/source"
# Some mirrors list versions that they do not have (yet), so each is tried, the newest first.
for candidate in $(apt-cache showsrc --only-source perl | sed -n 's/^Version: //p' | grep "^$version-" | sort -Vr); do
    if apt-get -qq source --download-only "perl=$candidate" >&2; then
        break
    fi
    rm -f ./perl_*
    echo "perl $candidate cannot be had" >&2
done
[ -f "$(echo perl_*.dsc)" ] || { echo "$0: no source package of Perl $version, the installed one" >&2; exit 2; }
dpkg-source -x ./perl_*.dsc perl > /dev/null
cd perl

# The files that Makefile.SH lists as the core's, one extension that the paper looks at, and no main programs.
files=$(sed -nE 's/^c[1-4] = (.*)/\1/p' Makefile.SH | tr -s ' \n' ' ')
xsubpp=$(perl -MExtUtils::ParseXS -e 'print $INC{"ExtUtils/ParseXS.pm"} =~ s/ParseXS\.pm$/xsubpp/r')
(cd ext/Opcode && perl "$xsubpp" -noprototypes -typemap ../../lib/ExtUtils/typemap Opcode.xs > Opcode.c)
flags=$(perl -MConfig -e 'print $Config{ccflags}')
skipped=0
for file in $files ext/Opcode/Opcode.c; do
    name=$(basename "$file" .c)
    core=-DPERL_CORE
    [ "$name" != Opcode ] || core='-DVERSION="1" -DXS_VERSION="1"'
    # shellcheck disable=SC2086 # flags are words
    if ! "$clang" -O1 -Xclang -disable-llvm-passes -w -fno-ident -S -emit-llvm $flags $core ${EXTRA_CFLAGS-} \
        -I. -I"$headers" "$file" -o "$work/$name.ll" 2> "$work/errors"; then
        echo "skipped $file: $(grep -m 1 error "$work/errors" || true)" >&2
        skipped=$((skipped + 1))
        continue
    fi
    mv "$work/$name.ll" "$out/perl-$name.ll"
done
echo "Perl $version: $(find "$out" -name 'perl-*.ll' | wc -l) files, $skipped skipped"
