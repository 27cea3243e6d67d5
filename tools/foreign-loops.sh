#!/usr/bin/env bash
# Other people's loops: whole programs of a suite, compiled by clang without vectorizers, by clang, and by warpline, and
# run in turns. Prints how many times as fast as the first the other two are, medians of five runs, and whether results
# are the same; exit code 1 if any differ. Suites are not part of the repository: name a checkout.
#
#   tools/foreign-loops.sh polybench FOLDER [CPU]   # PolyBench/C 4.2.1, MEDIUM
#   tools/foreign-loops.sh tsvc FOLDER [CPU]        # TSVC_2, the folder with tsvc.c; one run, 4,000 iterations
set -euo pipefail
suite=${1:?a suite} folder=${2:?a folder} cpu=${3:-x86-64-v3}
warpline=${WARPLINE:-warpline} clang=${CLANG:-clang-19}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$folder"
code=(-O3 "-march=$cpu" -ffp-contract=off)

# compiled NAME SOURCE FLAGS…: NAME.s.o, NAME.c.o and NAME.w.o.
compiled() {
    local name=$1 source=$2
    shift 2
    "$clang" "${code[@]}" -fno-vectorize -fno-slp-vectorize "$@" -c "$source" -o "$out/$name.s.o"
    "$clang" "${code[@]}" "$@" -c "$source" -o "$out/$name.c.o"
    "$warpline" vectorize --loop all --cpu "$cpu" "$source" -o "$out/$name.w.o" -q -- "$@"
}

# timed PROGRAM: the median of five times that it prints; what it prints on standard error stays in PROGRAM.txt.
timed() {
    for _ in 1 2 3 4 5; do "$1" 2>"$1.txt"; done | sort -g | sed -n 3p
}

polybench() {
    local flags=(-Iutilities -DMEDIUM_DATASET -DPOLYBENCH_TIME -DPOLYBENCH_DUMP_ARRAYS) differ=0
    "$clang" "${code[@]}" "${flags[@]}" -c utilities/polybench.c -o "$out/polybench.o"
    while read -r source; do
        local name
        name=$(basename "$source" .c)
        compiled "$name" "$source" "${flags[@]}" "-I$(dirname "$source")"
        for v in s c w; do
            "$clang" "$out/$name.$v.o" "$out/polybench.o" -lm -o "$out/$name.$v"
            timed "$out/$name.$v" >"$out/$name.$v.time"
        done
        local same=same
        cmp -s "$out/$name.s.txt" "$out/$name.w.txt" || { same=DIFFERENT differ=1; }
        paste "$out/$name".{s,c,w}.time | awk -v name="$name" -v same="$same" \
            '{ printf "%-16s %9.5f s, clang %5.2f, warpline %5.2f, %s\n", name, $1, $1 / $2, $1 / $3, same }'
    done < <(grep -v polybench.c utilities/benchmark_list | sort)
    return "$differ"
}

tsvc() {
    mkdir "$out/src"
    cp ./*.c ./*.h "$out/src"
    cd "$out/src"
    sed -i 's/#define iterations .*/#define iterations 4000/' common.h
    for name in common dummy; do "$clang" -std=gnu11 -O2 -I. -c $name.c -o "$out/$name.o"; done
    compiled tsvc tsvc.c -std=gnu11 -I.
    for v in s c w; do
        "$clang" "$out/tsvc.$v.o" "$out"/{common,dummy}.o -lm -o "$out/tsvc.$v"
        "$out/tsvc.$v" | tail -n +2 >"$out/tsvc.$v.txt"
    done
    paste "$out"/tsvc.{s,c,w}.txt | awk '
        { same = $3 == $9 ? "same" : "DIFFERENT"; differ += $3 != $9
          printf "%-16s %9.5f s, clang %5.2f, warpline %5.2f, %s\n", $1, $2, $2 / $5, $2 / $8, same }
        END { exit differ > 0 }'
}

case $suite in
polybench | tsvc) "$suite" ;;
*)
    echo "\`$suite\` is neither polybench nor tsvc" >&2
    exit 2
    ;;
esac
