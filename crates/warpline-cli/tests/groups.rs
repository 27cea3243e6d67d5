//! Kernels with barriers: native code against work-groups by definition, `run`, and what is refused.

mod common;

use std::path::Path;
use std::process::Command;

use common::{has_clang, ok, root, stderr, stdout, warpline};
use warpline_testkit::group_kernels::{GroupKernel, HEAD, file};

/// A clang, as the library looks for it.
fn clang() -> String {
    let named = std::env::var("CLANG").ok();
    let usual = ["clang", "clang-23", "clang-22", "clang-21", "clang-20", "clang-19"].map(str::to_owned);
    let answers = |name: &String| Command::new(name).arg("--version").output().is_ok();
    named.into_iter().chain(usual).find(answers).expect("there is a clang")
}

/// Runs a command that must succeed; `None` if there is no such program.
fn run(program: &str, arguments: &[&str], folder: &Path) -> Option<String> {
    let output = Command::new(program).args(arguments).current_dir(folder).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(text)
}

/// The version of OpenCL C that has functions of work-groups.
const STANDARD: &str = "-cl-std=CL2.0";

/// Leaves LLVM's optimizations out, which take most of the time. What they do to code for groups is seen at the width
/// that is chosen and in random kernels at all widths.
const PLAIN: &str = "--unoptimized";

/// Has all kernels of a source made, compiles the source by clang as well, and compares both in a program in C.
fn compare(source: &Path, options: &[&str]) {
    if let Some(said) = compared(source, source, options) {
        assert!(said.ends_with("right\n"), "{}: {said}", options.join(" "));
    }
}

/// What a program in C says that compares the kernels made of a source with those that clang makes of another one;
/// `None` if there is no C compiler.
fn compared(source: &Path, reference: &Path, options: &[&str]) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let [object, header] = ["made.o", "kernels.h"].map(|name| folder.path().join(name));
    let [object, header] = [&object, &header].map(|path| path.to_str().unwrap());
    let source = source.to_str().unwrap();
    let mut all = vec!["vectorize", source, "-o", object, "--header", header, "--require-all"];
    all.extend(options);
    all.extend(["--", STANDARD]);
    ok(&warpline(&all));
    let text = std::fs::read_to_string(source).unwrap();
    let names = text.split("kernel void ").skip(1).filter_map(|rest| rest.split('(').next());
    let list: String = names.map(|name| format!("KERNEL({name})\n")).collect();
    std::fs::write(folder.path().join("list.h"), list).unwrap();
    let of_clang = reference.to_str().unwrap();
    let sub_groups = "-cl-ext=+cl_khr_subgroups,+__opencl_c_subgroups";
    let plain =
        ["-x", "cl", STANDARD, sub_groups, "-O1", "-w", "-ffp-contract=off", "-c", of_clang, "-o", "ref.o"];
    run(&clang(), &plain, folder.path());
    let lanes = options
        .iter()
        .skip_while(|o| **o != "--width")
        .nth(1)
        .map_or(String::new(), |w| format!("-DLANES={w}"));
    let [host, reference] = ["host.c", "reference.c"].map(|name| root().join("filetests/groups").join(name));
    let parts = [
        host.to_str().unwrap(),
        reference.to_str().unwrap(),
        "ref.o",
        object,
        "-o",
        "all",
        "-lm",
        "-pthread",
    ];
    let flags = ["-O1", "-w", "-I."].into_iter().chain((!lanes.is_empty()).then_some(lanes.as_str()));
    let arguments: Vec<&str> = flags.chain(parts).collect();
    if run("cc", &arguments, folder.path()).is_none() {
        eprintln!("skipped: there is no C compiler");
        return None;
    }
    let output = Command::new(folder.path().join("all")).output().unwrap();
    Some(stdout(&output).to_owned())
}

#[test]
fn kernels_with_barriers_do_what_work_groups_do_by_definition() {
    if !has_clang() {
        return;
    }
    let source = root().join("filetests/groups/kernels.cl");
    compare(&source, &[]);
    compare(&source, &["--width", "4", PLAIN]);
    #[cfg(target_arch = "x86_64")]
    compare(&source, &["--cpu", "haswell,znver4", PLAIN]);
}

#[test]
fn kernels_of_the_kinds_that_suites_have_do_what_work_groups_do_by_definition() {
    if !has_clang() {
        return;
    }
    let source = root().join("filetests/groups/suites.cl");
    compare(&source, &[]);
    compare(&source, &["--width", "4", PLAIN]);
}

#[test]
fn kernels_as_programs_for_gpus_have_them_do_what_work_groups_do_by_definition() {
    if !has_clang() {
        return;
    }
    let source = root().join("filetests/groups/ordinary.cl");
    compare(&source, &[]);
    compare(&source, &["--width", "16", PLAIN]);
}

#[test]
fn kernels_as_suites_write_them_do_what_work_groups_do_by_definition() {
    if !has_clang() {
        return;
    }
    let source = root().join("filetests/groups/foreign.cl");
    compare(&source, &[]);
    compare(&source, &["--width", "8", PLAIN]);
}

#[test]
fn regions_for_some_work_items_and_local_updates_do_what_they_do_by_definition() {
    if !has_clang() {
        return;
    }
    let source = root().join("filetests/groups/bounds.cl");
    compare(&source, &[]);
    compare(&source, &["--width", "4", PLAIN]);
}

#[test]
fn lanes_along_any_dimension_do_what_work_groups_do_by_definition() {
    if !has_clang() {
        return;
    }
    let source = root().join("filetests/groups/planes.cl");
    compare(&source, &[]);
    for d in ["0", "1", "2"] {
        compare(&source, &["--lane-dimension", d, PLAIN]);
        compare(&source, &["--lane-dimension", d, "--width", "4", PLAIN]);
    }
}

#[test]
fn work_items_compute_and_copy_together_what_they_do_by_definition() {
    if !has_clang() {
        return;
    }
    let source = root().join("filetests/groups/collective.cl");
    compare(&source, &[]);
    compare(&source, &["--width", "4", PLAIN]);
}

#[test]
fn random_kernels_with_barriers_do_what_work_groups_do_by_definition() {
    if !has_clang() {
        return;
    }
    let number =
        |name: &str, usual: u64| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual);
    let (seed, count) = (number("WARPLINE_SEED", 1), number("WARPLINE_PROGRAMS", 12));
    let (batch, optimized) = (number("WARPLINE_BATCH", 3), number("WARPLINE_OPTIMIZED", 1));
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("random.cl");
    for start in (seed..seed + count).step_by(batch as usize) {
        let end = (start + batch).min(seed + count);
        // Functions of sub-groups need a number of lanes that the reference knows.
        let width = ["", "4", "8", "16"][(start / batch % 4) as usize];
        let is_optimized = start / batch / 4 % optimized == 0;
        println!("kernels of seeds {start} to {}, lanes: {width}, optimized: {is_optimized}", end - 1);
        let width = Some(width).filter(|w| !w.is_empty());
        let kernels: Vec<_> = (start..end).map(|seed| GroupKernel::random(seed, width.is_some())).collect();
        let wrong = |kernels: &[GroupKernel]| {
            std::fs::write(&source, file(kernels)).unwrap();
            let mut options = vec!["-q"];
            options.extend(width.into_iter().flat_map(|w| ["--width", w]));
            // Most of the time would be LLVM's.
            options.extend((!is_optimized).then_some(PLAIN));
            compared(&source, &source, &options).filter(|said| !said.ends_with("right\n"))
        };
        let Some(said) = wrong(&kernels) else { continue };
        let is_wrong = |k: &&GroupKernel| said.contains(&format!("{}: ", k.name()));
        let mut least = kernels.iter().find(is_wrong).expect("it says which").clone();
        while let Some(smaller) =
            least.smaller().into_iter().find(|k| wrong(std::slice::from_ref(k)).is_some())
        {
            least = smaller;
        }
        panic!("{said}{}{}", file(std::slice::from_ref(&least)), wrong(&[least]).unwrap_or_default());
    }
}

/// Runs kernels by indices that wrap in a group of lanes, on arrays of which hardly anything is ever touched.
const WRAPPING: &str = r#"#define _GNU_SOURCE
#include "k.h"
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
static int *array(void) {
  void *all = mmap(0, (size_t)1 << 34, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return all == MAP_FAILED ? 0 : all;
}
int main(void) {
  int *in = array(), *out = array(), *half = in + ((size_t)1 << 31), *to = out + ((size_t)1 << 31);
  if (!in || !out) return puts("no memory") < 0;
  for (unsigned before = 0; before < 200; before += 7)
    for (uint64_t n = 1; n < 300; n += 13) {
      uint64_t offset[3] = {0}, size[3] = {n, 1, 1}, local[3] = {64, 1, 1};
      unsigned first = 0u - before, second = 0x80000000u - before;
      for (unsigned i = 0; i < n; i++) in[first + i] = 3 * i + 1, out[first + i] = 0;
      by_uint_ndrange(offset, size, local, in, out, first);
      for (unsigned i = 0; i < n; i++)
        if (out[first + i] != 3 * i + 1) return printf("uint: %u before the end: %u of %d\n", before, i, (int)n);
      uint64_t groups[3] = {(n + 63) / 64 * 64, 1, 1};
      for (unsigned i = 0; i < n; i++) out[first + i] = 0;
      of_group_uint_ndrange(offset, groups, local, in, out, first, n);
      for (unsigned i = 0; i < n; i++)
        if (out[first + i] != 3 * i + 1)
          return printf("uint of groups: %u before the end: %u of %d\n", before, i, (int)n);
      for (unsigned i = 0; i < n; i++) half[(int)(second + i)] = 5 * i + 1, to[(int)(second + i)] = 0;
      by_int_ndrange(offset, size, local, half, to, second);
      for (unsigned i = 0; i < n; i++)
        if (to[(int)(second + i)] != 5 * i + 1) return printf("int: %u before the end: %u of %d\n", before, i, (int)n);
      for (unsigned i = 0; i < n; i++) to[(int)(second + i)] = 0;
      of_group_int_ndrange(offset, groups, local, half, to, second, n);
      for (unsigned i = 0; i < n; i++)
        if (to[(int)(second + i)] != 5 * i + 1)
          return printf("int of groups: %u before the end: %u of %d\n", before, i, (int)n);
    }
  puts("right");
}
"#;

#[test]
#[cfg(all(target_pointer_width = "64", target_os = "linux"))]
fn indices_that_wrap_between_lanes_are_those_of_one_work_item_after_the_other() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let kernels = "kernel void by_uint(global const int *in, global int *out, uint first) {
  uint i = get_global_id(0) + first;
  out[i] = in[i];
}
kernel void by_int(global const int *in, global int *out, uint first) {
  int i = (int)((uint)get_global_id(0) + first);
  out[i] = in[i];
}
kernel void of_group_uint(global const int *in, global int *out, uint first, uint n) {
  uint k = get_group_id(0) * get_local_size(0) + get_local_id(0), i = k + first;
  if (k < n) out[i] = in[i];
}
kernel void of_group_int(global const int *in, global int *out, uint first, uint n) {
  uint k = get_group_id(0) * get_local_size(0) + get_local_id(0);
  int i = (int)(k + first);
  if (k < n) out[i] = in[i];
}
";
    std::fs::write(at("k.cl"), kernels).unwrap();
    std::fs::write(at("main.c"), WRAPPING).unwrap();
    for width in ["auto", "8", "64"] {
        let (source, object, header) = (at("k.cl"), at("k.o"), at("k.h"));
        ok(&warpline(&[
            "vectorize",
            &source,
            "-o",
            &object,
            "--header",
            &header,
            "-q",
            "--require-all",
            "--width",
            width,
        ]));
        if run("cc", &["-O1", "-w", "main.c", "k.o", "-o", "all", "-lm"], folder.path()).is_none() {
            eprintln!("skipped: there is no C compiler");
            return;
        }
        let output = Command::new(at("all")).output().unwrap();
        let said = stdout(&output);
        assert!(said == "right\n" || said == "no memory\n", "{width} lanes: {said}");
    }
}

/// A kernel with its last barrier only, so that work-items read what others have not written yet.
fn without_barriers(kernel: &str) -> String {
    let wait = "barrier(CLK_LOCAL_MEM_FENCE);";
    let (before, behind) = kernel.rsplit_once(wait).expect("it has barriers");
    format!("{}{wait}{behind}", before.replace(wait, ""))
}

#[test]
fn the_comparison_sees_kernels_that_have_lost_barriers_or_changed_a_number() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let right = folder.path().join("right.cl");
    let made = |seed: u64| GroupKernel::random(seed, false).text();
    // Without any barrier it would be another kind of kernel.
    let several = |kernel: &String| kernel.matches("barrier(").count() > 2;
    let kernels: Vec<String> = (1..).map(made).filter(several).take(16).collect();
    std::fs::write(&right, HEAD.to_owned() + &kernels.concat()).unwrap();
    let seen = |name: &str, changed: Vec<String>| {
        let wrong = folder.path().join(name);
        std::fs::write(&wrong, HEAD.to_owned() + &changed.concat()).unwrap();
        let said = compared(&wrong, &right, &["--width", "4", "-q", "--racy", PLAIN])?;
        let lines = said.lines().filter_map(|line| Some(line.split_once(": ")?.0.to_owned()));
        Some(lines.collect::<std::collections::BTreeSet<_>>().len())
    };
    let numbers = kernels.iter().map(|k| k.replace("out[g] = 31u * x", "out[g] = 33u * x")).collect();
    let lost = kernels.iter().map(|k| without_barriers(k)).collect();
    let (numbers, lost) = std::thread::scope(|scope| {
        let lost = scope.spawn(|| seen("lost.cl", lost));
        (seen("numbers.cl", numbers), lost.join().unwrap())
    });
    let Some(numbers) = numbers else { return };
    assert_eq!(numbers, 16, "changed numbers that were seen");
    // Many a barrier keeps nothing apart that would meet without it.
    assert!(lost.is_some_and(|lost| lost >= 3), "of 16 kernels without barriers, {lost:?} were seen");
}

fn vectorize(body: &str, options: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let (source, object) = (folder.path().join("k.cl"), folder.path().join("k.o"));
    let text = format!(
        "kernel void k(global int *out, int n, local int *tmp) {{\n  int g = get_global_id(0), l = get_local_id(0);\n\
         {body}\n}}\n"
    );
    std::fs::write(&source, text).unwrap();
    let mut all =
        vec!["vectorize", source.to_str().unwrap(), "-o", object.to_str().unwrap(), "--require-all"];
    all.extend(options);
    let output = warpline(&all);
    assert_eq!(object.exists(), output.status.code() == Some(0), "{}", stderr(&output));
    (output.status.code(), stderr(&output) + &stdout(&output))
}

const WAIT: &str = "barrier(CLK_LOCAL_MEM_FENCE);";

#[test]
fn barriers_that_only_some_work_items_reach_are_errors_with_the_source_of_divergence() {
    if !has_clang() {
        return;
    }
    let illegal = [
        // In a branch that work-items take differently, and in both arms of one.
        (
            format!("if (l & 1) {{ tmp[l] = 1;\n{WAIT} }}\nout[g] = tmp[0];"),
            "only some of them come to this barrier",
        ),
        (
            format!(
                "if (l & 1) {{ tmp[l] = 1;\n{WAIT} tmp[0] = 2; }} else {{\n{WAIT} tmp[1] = 3; }}\nout[g] = tmp[l];"
            ),
            "they come to different ones",
        ),
        // In loops that work-items leave in different iterations.
        (format!("for (int i = 0; i < l; i++) {{ tmp[l] = i;\n{WAIT} }}"), "in different iterations"),
        (format!("for (int i = 0; i < l; i++) {{ tmp[l] = i;\n{WAIT} }}\nout[g] = tmp[0];"), "this barrier"),
        (
            format!(
                "for (int i = 0; i < n; i++) {{ tmp[l] = i;\n{WAIT} if (tmp[l] > l) break; }}\nout[g] = 1;"
            ),
            "barrier",
        ),
        (
            format!("for (int i = 0; i < n; i++) {{ if (i > l) return; tmp[l] = i;\n{WAIT} }}"),
            "in different iterations",
        ),
        // By a volatile load, which each work-item makes for itself.
        (
            format!("if (*(volatile global int *)out) {{ tmp[l] = 1;\n{WAIT} }}\nout[g] = tmp[0];"),
            "only some of them",
        ),
    ];
    for (body, words) in illegal {
        let (code, said) = vectorize(&body, &[]);
        assert_eq!(code, Some(1), "{body}: {said}");
        assert!(said.contains(words) && said.contains("k.cl:"), "{body}: {said}");
    }
    let (_, said) = vectorize(&format!("if (l & 1) {{ tmp[l] = 1;\n{WAIT} }}\nout[g] = tmp[0];"), &[]);
    assert!(said.contains("work-items diverge at") && said.contains("the branch"), "{said}");
}

#[test]
fn an_early_return_is_a_warning_and_with_strict_barriers_an_error() {
    if !has_clang() {
        return;
    }
    let body = format!("if (g >= n) return;\ntmp[l] = g;\n{WAIT}\nout[g] = tmp[l ^ 1];");
    let (code, said) = vectorize(&body, &[]);
    assert_eq!(code, Some(0), "{said}");
    let (code, strict) = vectorize(&body, &["--strict-barriers"]);
    assert_eq!(code, Some(1), "{strict}");
    assert!(
        strict.contains("may have returned at") && strict.contains("guard the work, not the barrier"),
        "{strict}"
    );
}

#[test]
fn collective_functions_need_all_work_items_and_operands_that_they_agree_on() {
    if !has_clang() {
        return;
    }
    for (body, words) in [
        (
            "if (l & 1) out[g] = work_group_reduce_add(l);",
            "all of them have to have a value at `work_group_reduce_add(int)`",
        ),
        (
            "if (l & 1) out[g] = work_group_reduce_add(l); else out[g] = n;\nout[g + 1] = 0;",
            "only some of them come to this barrier",
        ),
        ("for (int i = 0; i < l; i++) out[g] += work_group_any(i == n);", "in different iterations"),
        ("if (g >= n) return;\nout[g] = work_group_reduce_add(l);", "guard the work, not the call"),
        (
            "out[g] = work_group_broadcast(n, (size_t)(l / 2));",
            "have to pass `work_group_broadcast(int, ulong)` the same",
        ),
        ("event_t e = async_work_group_copy(tmp + l, out, 8, 0); wait_group_events(1, &e);", "the same"),
        (
            "out[g] = sub_group_reduce_add(l); if (l & 1) sub_group_barrier(CLK_LOCAL_MEM_FENCE);\nout[g + 1] = 3;",
            "only some of them",
        ),
    ] {
        let (code, said) = vectorize(body, &["--", STANDARD]);
        assert_eq!(code, Some(1), "{body}: {said}");
        assert!(said.contains(words) && said.contains("k.cl:"), "{body}: {said}");
    }
}

/// Work-items of sub-groups.
const SUB_GROUPS: &str = "kernel void sum(global const float *in, global float *out, local float *tmp) {
  int g = get_global_id(0), l = get_local_id(0), x = (int)(in[g] * 1000);
  int r = sub_group_reduce_add(x) + sub_group_scan_inclusive_add(x) * 3 + sub_group_broadcast(x, 1);
  r += get_sub_group_id() * 1000 + get_sub_group_local_id() * 7 + get_sub_group_size() * 100;
  r += get_num_sub_groups() + get_max_sub_group_size() + sub_group_any(x > 900) + 2 * sub_group_all(x > 10);
  if (x & 1) r += sub_group_reduce_max(x);
  if (get_sub_group_local_id() == 0) tmp[get_sub_group_id()] = r;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < (int)get_num_sub_groups(); i++) r = r * 5 + (int)tmp[i];
  out[g] = r % 100003;
}
";

#[test]
fn guards_keep_accesses_apart_and_steps_without_barriers_are_races() {
    if !has_clang() {
        return;
    }
    // The last steps of a reduction as if a group were one warp.
    for kind in ["", "volatile "] {
        let tail = format!(
            "local {kind}int *t = tmp; t[l] = g;\n{WAIT}\nif (l < 32) {{ t[l] += t[l + 32]; t[l] += t[l + 16]; }}\n\
             out[g] = t[0];"
        );
        let (code, said) = vectorize(&tail, &[]);
        assert_eq!(code, Some(1), "{tail}: {said}");
        assert!(said.contains("race between lanes"), "{said}");
    }
    for guarded in [
        "if (l < 16) tmp[l] += tmp[l + 16];",
        "if ((l & 1) == (n & 1)) tmp[l] += tmp[l + 1];",
        "if ((l & 3) == 0) { tmp[l] += tmp[l + 2]; tmp[l + 3] = tmp[l + 1]; }",
        "int id = l & 3; if (id < 2 && l + 2 < n) tmp[l] += tmp[l + 2] * id;",
        "if (l & 4) tmp[l] += tmp[l - 4];",
        "if (l < 4) tmp[l] = n; tmp[l + 4] = g;",
    ] {
        let (code, said) =
            vectorize(&format!("tmp[l] = g;\n{WAIT}\n{guarded}\n{WAIT}\nout[g] = tmp[l];"), &[]);
        assert_eq!(code, Some(0), "{guarded}: {said}");
    }
    for racy in [
        "if (l < 17) tmp[l] += tmp[l + 16];",
        "if ((l & 1) == (n & 1)) tmp[l] += tmp[l + 2];",
        "if ((l & 2) == 0) tmp[l] += tmp[l + 1];",
        "int id = l & 3; if (id < 2 && l + 1 < n) tmp[l] += tmp[l + 1] * id;",
        "if (l & 4) tmp[l] += tmp[l - 5];",
        "if (l < 5) tmp[l] = n; tmp[l + 4] = g;",
    ] {
        let (code, said) = vectorize(&format!("tmp[l] = g;\n{WAIT}\n{racy}\n{WAIT}\nout[g] = tmp[l];"), &[]);
        assert_eq!(code, Some(1), "{racy}: {said}");
    }
    // What nobody can tell is not refused, but where it is volatile, it looks as if it were for warps.
    for (kind, warned) in [("", false), ("volatile ", true)] {
        let scan = format!(
            "local {kind}int *t = tmp; int i = 2 * l - (l & 31); t[i] = 0; i += 32; t[i] = g; t[i] += t[i - 1];\n\
             out[g] = t[i];"
        );
        let (code, said) = vectorize(&scan, &["-v"]);
        assert_eq!((code, said.contains("`//@ warp 32`")), (Some(0), warned), "{said}");
    }
}

#[test]
fn sub_groups_are_the_lanes_that_run_together() {
    if !has_clang() {
        return;
    }
    for local in ["64", "25", "1", "7"] {
        for width in ["4", "8", "16"] {
            let (code, said) = run_groups(SUB_GROUPS, local, &["--width", width, "--", STANDARD]);
            assert_eq!(code, Some(0), "{local}, {width}: {said}");
            assert!(said.contains("elements as by definition"), "{said}");
        }
    }
}

/// A program in C that runs work-items whose numbers cross 2^31, and computes what they do from the definition of
/// sub-groups of 8.
const CROSSING: &str = r#"#include "k.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
enum { W = 8, N = 200 };
static int out[4 * N];
int main(void) {
  for (int local = 1; local <= 100; local++)
    for (int before = 0; before <= 41; before++) {
      uint64_t offset[3] = {(UINT64_C(1) << 31) - before, 0, 0}, size[3] = {N, 1, 1}, group[3] = {local, 1, 1};
      void *workspace = malloc(k_workspace(size, group));
      k_ndrange(offset, size, group, out, workspace);
      free(workspace);
      for (int i = 0; i < N; i++) {
        int start = i / local * local, row = N - start < local ? N - start : local, id = (i - start) / W;
        int first = start + id * W, length = row - id * W < W ? row - id * W : W, sum = 0;
        for (int k = 0; k < length; k++) sum += first + k;
        int right[4] = {sum, id, length, (int)(uint32_t)(offset[0] + i)};
        for (int k = 0; k < 4; k++)
          if (out[4 * i + k] != right[k])
            return printf("groups of %d, %d before 2^31: %d of %d is %d, not %d\n", local, before, k, i,
                          out[4 * i + k], right[k]);
      }
    }
  puts("right");
}
"#;

#[test]
fn a_row_whose_numbers_cross_the_end_of_int_has_the_same_sub_groups() {
    if !has_clang() {
        return;
    }
    let kernel = "kernel void k(global int *out) {
  size_t at = get_global_id(0) - get_global_offset(0);
  int g = get_global_id(0);
  out[4 * at] = sub_group_reduce_add((int)at);
  out[4 * at + 1] = get_sub_group_id();
  out[4 * at + 2] = get_sub_group_size();
  out[4 * at + 3] = g;
}
";
    let folder = tempfile::tempdir().unwrap();
    let [source, object, header, host] =
        ["k.cl", "k.o", "k.h", "host.c"].map(|name| folder.path().join(name));
    std::fs::write(&source, kernel).unwrap();
    std::fs::write(&host, CROSSING).unwrap();
    let [source, object, header] = [&source, &object, &header].map(|path| path.to_str().unwrap());
    ok(&warpline(&["vectorize", source, "-o", object, "--header", header, "--width", "8", "--", STANDARD]));
    if run("cc", &["-O1", "-w", "host.c", "k.o", "-o", "all"], folder.path()).is_none() {
        eprintln!("skipped: there is no C compiler");
        return;
    }
    let output = Command::new(folder.path().join("all")).output().unwrap();
    assert_eq!(stdout(&output), "right\n");
}

const REDUCTION: &str = "kernel void sum(global const float *in, global float *out, local float *tmp) {
  int l = get_local_id(0);
  tmp[l] = in[get_global_id(0)];
  for (int s = get_local_size(0) / 2; s > 0; s /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < s) tmp[l] += tmp[l + s];
  }
  if (l == 0) out[get_group_id(0)] = tmp[0];
}
";

/// Runs a kernel of [`REDUCTION`]'s parameters over groups.
fn run_groups(text: &str, local: &str, more: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("sum.cl");
    std::fs::write(&source, text).unwrap();
    let usual = [
        "run",
        source.to_str().unwrap(),
        "--global",
        "512",
        "--local",
        local,
        "--bind",
        "in=f32[512]=random",
        "--bind",
        "out=f32[512]",
        "--bind",
        "tmp=local:f32[256]",
    ];
    let output = warpline(&[&usual, more].concat());
    (output.status.code(), stdout(&output) + &stderr(&output))
}

#[test]
fn run_compares_whole_groups_with_their_definition_and_reports_races() {
    if !has_clang() {
        return;
    }
    for local in ["64", "16", "256", "1"] {
        let (code, said) = run_groups(REDUCTION, local, &[]);
        assert_eq!(code, Some(0), "{local}: {said}");
        assert!(said.contains("elements as by definition"), "{said}");
    }
    let racy = REDUCTION.replace("tmp[l] = in", "barrier(CLK_LOCAL_MEM_FENCE);\n  tmp[l] = in");
    let racy = racy.replace("    barrier(CLK_LOCAL_MEM_FENCE);\n    if", "    if");
    let (code, said) = run_groups(&racy, "64", &[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("race"), "{said}");
}

#[test]
fn run_groups_the_work_items_of_kernels_without_barriers() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (source, broken) = (folder.path().join("k.cl"), folder.path().join("plain.c"));
    let kernel = "kernel void k(global float *x, global int *g) {\n  size_t i = get_global_id(1) * get_global_size(0) + \
                  get_global_id(0);\n  x[i] = x[i] * 2 + get_local_size(0);\n  g[i] = get_group_id(0) * 100 + \
                  get_local_id(1);\n}\n";
    std::fs::write(&source, kernel).unwrap();
    std::fs::write(&broken, "void f(float *x, int n) { for (int i = 0; i < n; i++) x[i] += 1; }\n").unwrap();
    let run = |more: &[&str]| {
        let usual = ["run", source.to_str().unwrap(), "--bind", "x=f32[1000]", "--bind", "g=i32[1000]=zero"];
        let output = warpline(&[&usual, more].concat());
        (output.status.code(), stdout(&output) + &stderr(&output))
    };
    for (global, local, groups) in
        [("100,10", "16,3", "[16, 3, 1]"), ("64", "64", "[64, 1, 1]"), ("50,20", "7,20", "[7, 20, 1]")]
    {
        let (code, said) = run(&["--global", global, "--local", local]);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains(groups) && said.contains("2000 elements as by definition"), "{said}");
    }
    let (code, said) = run(&["--global", "64", "--range", "0..64"]);
    assert!(code == Some(2) && said.contains("--range"), "{said}");
    let output = warpline(&["run", broken.to_str().unwrap(), "--local", "64"]);
    assert!(
        output.status.code() == Some(2) && stderr(&output).contains("no work-items"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn the_host_programs_of_the_guide_add_what_they_say() {
    if !has_clang() {
        return;
    }
    let guide = std::fs::read_to_string(root().join("docs/guide/opencl.md")).unwrap();
    let file = |name: &str| {
        let (_, rest) =
            guide.split_once(&format!("<!-- file: {name} -->\n```c\n")).expect("it is in the guide");
        rest.split_once("```").expect("it ends").0.to_owned()
    };
    let folder = tempfile::tempdir().unwrap();
    for name in ["sum.cl", "host.c", "threads.c"] {
        std::fs::write(folder.path().join(name), file(name)).unwrap();
    }
    let [source, object, header] = ["sum.cl", "sum.o", "sum.h"].map(|name| folder.path().join(name));
    let [source, object, header] = [&source, &object, &header].map(|path| path.to_str().unwrap());
    ok(&warpline(&["vectorize", source, "-o", object, "--header", header, "-q"]));
    for (host, flags) in [("host", "-pthread"), ("threads", "-fopenmp")] {
        let input = format!("{host}.c");
        let arguments = ["-Wall", "-Wextra", "-Werror", flags, &input, "sum.o", "-o", host];
        if run("cc", &arguments, folder.path()).is_none() {
            eprintln!("skipped: there is no C compiler");
            return;
        }
        let output = Command::new(folder.path().join(host)).output().unwrap();
        // 409 times 0 to 9, and 0 to 5.
        assert_eq!(stdout(&output), "18420\n", "{host}");
    }
}

#[test]
fn hosts_in_c_cpp_and_rust_run_a_reduction_a_matrix_product_and_a_sort_without_opencl() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let example = root().join("examples/opencl");
    let source = |name: &str| example.join(name).to_str().unwrap().to_owned();
    let [object, header] = ["kernels.o", "kernels.warpline.h"].map(|name| folder.path().join(name));
    let [object, header] = [&object, &header].map(|path| path.to_str().unwrap());
    ok(&warpline(&["vectorize", &source("kernels.cl"), "-o", object, "--header", header, "--require-all"]));
    let (c, cpp, rust) = (source("host.c"), source("threads.cpp"), source("threads.rs"));
    let link = format!("link-arg={object}");
    let hosts: [(&str, &[&str]); 3] = [
        ("cc", &["-O1", "-I.", &c, object, "-o", "host"]),
        ("c++", &["-std=c++17", "-O1", "-I.", &cpp, object, "-pthread", "-o", "host"]),
        ("rustc", &["--edition=2024", "-O", &rust, "-C", &link, "-o", "host"]),
    ];
    for (compiler, arguments) in hosts {
        if run(compiler, arguments, folder.path()).is_none() {
            eprintln!("skipped: there is no {compiler}");
            continue;
        }
        let output = Command::new(folder.path().join("host")).output().unwrap();
        let right = "reduction: right\nmatrix product: right\nbitonic sort: right\n";
        assert_eq!(stdout(&output), right, "{compiler}");
    }
}

/// Groups that run at once have arrays of their own, barrier or not: kernels with local memory take a workspace.
#[test]
fn kernels_with_local_memory_and_without_barriers_share_nothing_between_groups() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("scratch.cl");
    let body = "size_t l = get_local_id(0), i = get_global_id(0);
  for (int k = 0; k < 8; k++) tmp[l * 8 + k] = in[i] + k;
  int sum = 0;
  for (int k = 0; k < n; k++) sum += tmp[l * 8 + ((in[i] + k) & 7)];
  out[i] = sum;
}
";
    let text = format!(
        "kernel void pointer(global const int *in, global int *out, int n, local int *tmp) {{\n  {body}\
         kernel void array(global const int *in, global int *out, int n) {{\n  local int tmp[64 * 8];\n  {body}"
    );
    std::fs::write(&source, text).unwrap();
    let header = folder.path().join("s.h");
    let module = folder.path().join("s.ll");
    let [path, output, header] = [&source, &module, &header].map(|p| p.to_str().unwrap());
    ok(&warpline(&["vectorize", path, "-o", output, "--header", header]));
    let header = std::fs::read_to_string(header).unwrap();
    for name in ["pointer", "array"] {
        assert!(header.contains(&format!("{name}_workspace")), "{name}: {header}");
    }
    let module = std::fs::read_to_string(output).unwrap();
    assert!(!module.contains("internal unnamed_addr global") && !module.contains("@array.tmp ="), "{module}");
}
