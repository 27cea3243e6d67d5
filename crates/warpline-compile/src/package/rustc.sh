#!/bin/sh
# Stands between cargo and rustc where warpline has a crate compiled. WARPLINE_NESTED is the folder that this lies in.
#  - Packages that only build scripts of the crate use become empty: their code is not needed again.
#  - The crate's own build script is the one that runs already.
#  - The target that has the kernels becomes bitcode that is not optimized, in the place of what it is otherwise.
#  - The other crates are compiled as usual, and to bitcode besides.
rustc=$1
shift
folder=$WARPLINE_NESTED
[ -n "$CARGO_MANIFEST_DIR" ] || exec "$rustc" "$@"

name= kinds= out= extra= previous= by_cargo=no
for argument do
    case $argument in --error-format=json) by_cargo=yes ;; esac
    case $previous in
    --crate-name) name=$argument ;;
    --crate-type) kinds="$kinds $argument" ;;
    --out-dir) out=$argument ;;
    -C) case $argument in extra-filename=*) extra=${argument#extra-filename=} ;; esac ;;
    esac
    previous=$argument
done

# Build scripts call rustc as well, to learn what it can do.
[ $by_cargo = yes ] || exec "$rustc" "$@"

mode=asis
if ! grep -qxF "$CARGO_MANIFEST_DIR" "$folder/packages"; then
    mode=empty
elif [ "$CARGO_MANIFEST_DIR" = "$WARPLINE_NESTED_ROOT" ] && [ "${name#build_script_}" != "$name" ]; then
    [ -z "$WARPLINE_NESTED_SCRIPT" ] || mode=script
elif [ "$CARGO_MANIFEST_DIR" = "$WARPLINE_NESTED_ROOT" ] && [ "$name" = "$WARPLINE_NESTED_CRATE" ]; then
    case " $kinds " in
    *" bin "*) is_bin=yes ;;
    *) is_bin=no ;;
    esac
    if [ $is_bin = "$WARPLINE_NESTED_BIN" ]; then mode=kernel; else mode=library; fi
else
    mode=library
fi
case "$mode $kinds " in
"library "*" bin "* | "library "*" proc-macro "*) mode=asis ;;
esac

left=$#
previous=
while [ "$left" -gt 0 ]; do
    argument=$1
    shift
    left=$((left - 1))
    new=$argument
    case $mode in
    empty | script)
        case $argument in
        -*) ;;
        *.rs) new=$folder/$mode.rs ;;
        esac
        ;;
    kernel)
        case $argument in --emit=*) new=--emit=dep-info,llvm-bc ;; esac
        [ "$previous" != --crate-type ] || new=lib
        ;;
    library)
        case $argument in --emit=*) new=$argument,llvm-bc ;; esac
        ;;
    esac
    # Lane operations are declared where kernels are compiled for many lanes, whatever one lane does.
    [ "$CARGO_PKG_NAME $new" != 'warpline-lanes feature="scalar"' ] || new='feature="warpline"'
    previous=$argument
    set -- "$@" "$new"
done

case $mode in
empty) exec "$rustc" "$@" --cap-lints=allow ;;
library) exec "$rustc" "$@" -Ccodegen-units=1 -Cno-vectorize-loops -Cno-vectorize-slp ;;
kernel) ;;
*) exec "$rustc" "$@" ;;
esac
"$rustc" "$@" --cap-lints=allow $WARPLINE_NESTED_FLAGS -Ccodegen-units=1 -Cno-prepopulate-passes -Copt-level=3 \
    -Cdebuginfo=line-tables-only || exit
made=$out/$name$extra.bc
cp "$out/$name$extra.d" "$folder/files.d" || exit
for file in "lib$name$extra.rlib" "lib$name$extra.rmeta" "lib$name$extra.a" "lib$name.a" "lib$name.so" "$name$extra"; do
    cp "$made" "$out/$file" || exit
done
