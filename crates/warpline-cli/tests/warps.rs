//! Operations of warps and waves of GPUs, against what PTX and AMD's intrinsics are defined to do.

mod common;
#[path = "common/linked.rs"]
mod linked;

use std::fmt::Write as _;
use std::path::Path;

use common::{ok, stderr, warpline};
use linked::link_and_run;

/// What each work-item writes, as calls on its value `%v`, and the same in C with `v[]`, `lane` and `W`.
type Results<'a> = &'a [(&'a str, &'a str, &'a str)];

const NVPTX: Results<'_> = &[
    (
        "i32",
        "@llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %v, i32 %v, i32 31)",
        "shfl(v, lane, 'i', v[lane], 31)",
    ),
    (
        "i32",
        "@llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %v, i32 %v, i32 31)",
        "shfl(v, lane, 'b', v[lane], 31)",
    ),
    ("i32", "@llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %v, i32 3, i32 0)", "shfl(v, lane, 'u', 3, 0)"),
    ("i32", "@llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %v, i32 5, i32 31)", "shfl(v, lane, 'd', 5, 31)"),
    (
        "i32",
        "@llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %v, i32 %v, i32 6175)",
        "shfl(v, lane, 'i', v[lane], 6175)",
    ),
    ("i32", "@llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %v, i32 9, i32 6175)", "shfl(v, lane, 'b', 9, 6175)"),
    ("i32", "@llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %v, i32 2, i32 6144)", "shfl(v, lane, 'u', 2, 6144)"),
    ("i32", "@llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %v, i32 3, i32 6175)", "shfl(v, lane, 'd', 3, 6175)"),
    ("i32", "@llvm.nvvm.vote.ballot.sync(i32 -1, i1 %c)", "(int)ballot(v, W)"),
    ("i1", "@llvm.nvvm.vote.any.sync(i32 -1, i1 %c)", "ballot(v, W) != 0"),
    ("i1", "@llvm.nvvm.vote.all.sync(i32 -1, i1 %c)", "ballot(v, W) == 0xffffffff"),
    ("i1", "@llvm.nvvm.vote.uni.sync(i32 -1, i1 %c)", "ballot(v, W) == 0xffffffff || !ballot(v, W)"),
    ("i32", "@llvm.nvvm.read.ptx.sreg.laneid()", "lane"),
    ("i32", "@llvm.nvvm.read.ptx.sreg.warpsize()", "32"),
];

const AMDGCN: Results<'_> = &[
    ("i32", "@llvm.amdgcn.readfirstlane.i32(i32 %v)", "v[0]"),
    ("i32", "@llvm.amdgcn.readlane.i32(i32 %v, i32 5)", "v[5]"),
    ("i64", "@llvm.amdgcn.ballot.i64(i1 %c)", "(int)ballot(v, W)"),
    ("i32", "@llvm.amdgcn.mbcnt.lo(i32 -1, i32 7)", "7 + (lane < 32 ? lane : 32)"),
    ("i32", "@llvm.amdgcn.mbcnt.hi(i32 -1, i32 9)", "9 + (lane < 32 ? 0 : lane - 32)"),
];

/// The declaration of what is called.
fn declaration(ty: &str, call: &str) -> String {
    let (name, operands) = call.split_once('(').unwrap();
    let operands = operands.trim_end_matches(')');
    let types: Vec<&str> = operands.split(", ").filter_map(|o| o.split_once(' ')).map(|(ty, _)| ty).collect();
    format!("declare {ty} {name}({})\n", types.join(", "))
}

/// A module with a kernel whose work-items write all results.
fn module(registers: [&str; 2], attributes: &str, results: Results<'_>) -> String {
    let [item, group] = registers;
    let mut text = format!("declare i32 {item}()\ndeclare i32 {group}()\n");
    let mut declared: Vec<String> = results.iter().map(|(ty, call, _)| declaration(ty, call)).collect();
    declared.sort();
    declared.dedup();
    text += &declared.concat();
    let _ = write!(
        text,
        "define void @k(ptr %in, ptr %out, i32 %size) {attributes} {{
  %t = call i32 {item}()
  %g = call i32 {group}()
  %start = mul i32 %g, %size
  %i = add i32 %start, %t
  %at = sext i32 %i to i64
  %p = getelementptr i32, ptr %in, i64 %at
  %v = load i32, ptr %p
  %bit = and i32 %v, 3
  %c = icmp eq i32 %bit, 0
  %first = mul i64 %at, {}\n",
        results.len()
    );
    for (k, (ty, call, _)) in results.iter().enumerate() {
        let as_int = match *ty {
            "i1" => format!("zext i1 %r{k} to i32"),
            "i64" => format!("trunc i64 %r{k} to i32"),
            _ => format!("add i32 %r{k}, 0"),
        };
        let _ = write!(
            text,
            "  %r{k} = call {ty} {call}
  %w{k} = {as_int}
  %n{k} = add i64 %first, {k}
  %q{k} = getelementptr i32, ptr %out, i64 %n{k}
  store i32 %w{k}, ptr %q{k}\n"
        );
    }
    text + "  ret void\n}\n"
}

/// A program that runs the kernel and computes by the definitions what it writes.
fn host(lanes: u32, results: Results<'_>) -> String {
    let mut right = String::new();
    for (k, (.., c)) in results.iter().enumerate() {
        let _ = writeln!(right, "      if (out[i * {} + {k}] != ({c})) wrong++;", results.len());
    }
    format!(
        r#"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "m.h"
enum {{ W = {lanes}, N = 768 }};
/* The pseudo code of PTX. */
static int shfl(const int *v, int lane, char mode, int b, int c) {{
  int bval = b & 31, cval = c & 31, mask = c >> 8 & 31;
  int most = (lane & mask) | (cval & ~mask), least = lane & mask, j = 0, p = 0;
  switch (mode) {{
  case 'u': j = lane - bval; p = j >= most; break;
  case 'd': j = lane + bval; p = j <= most; break;
  case 'b': j = lane ^ bval; p = j <= most; break;
  case 'i': j = least | (bval & ~mask); p = j <= most; break;
  }}
  return v[p ? j : lane];
}}
static uint64_t ballot(const int *v, int lanes) {{
  uint64_t bits = 0;
  for (int k = 0; k < lanes; k++) bits |= (uint64_t)((v[k] & 3) == 0) << k;
  return bits;
}}
int main(void) {{
  static int in[N], out[N * {count}];
  int wrong = 0;
  for (int round = 0; round < 4; round++)
    for (int local = W; local <= 4 * W; local *= 2) {{
      for (int i = 0; i < N; i++) in[i] = round == 0 ? 4 * (i / W % 2) : round == 1 ? i % 2 * 4 : rand();
      uint64_t offset[3] = {{0}}, size[3] = {{N, 1, 1}}, group[3] = {{local, 1, 1}};
      void *workspace = malloc(k_workspace(size, group));
      k_ndrange(offset, size, group, in, out, local, workspace);
      free(workspace);
      for (int i = 0; i < N; i++) {{
        const int *v = in + i / W * W;
        int lane = i % W;
        (void)v, (void)lane;
{right}      }}
    }}
  printf("%d\n", wrong + 0 * (shfl(in, 0, 'i', 0, 31) + (int)ballot(in, W)));
  return 0;
}}
"#,
        count = results.len()
    )
}

fn judge(text: &str, lanes: u32, results: Results<'_>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.ll");
    std::fs::write(&file, text).unwrap();
    linked::vectorize(folder.path(), &[file.to_str().unwrap(), "--function", "k"]);
    if let Some(said) = link_and_run(folder.path(), &host(lanes, results), &[]) {
        assert_eq!(said, "0\n");
    }
}

const OF_NVPTX: [&str; 2] = ["@llvm.nvvm.read.ptx.sreg.tid.x", "@llvm.nvvm.read.ptx.sreg.ctaid.x"];
const OF_AMDGCN: [&str; 2] = ["@llvm.amdgcn.workitem.id.x", "@llvm.amdgcn.workgroup.id.x"];

#[test]
fn warps_of_nvidia_do_what_ptx_says() {
    judge(&module(OF_NVPTX, "", NVPTX), 32, NVPTX);
}

#[test]
fn waves_of_amd_have_the_size_that_the_kernel_says() {
    let with = |attributes: &str| module(OF_AMDGCN, attributes, AMDGCN);
    judge(&with(""), 64, AMDGCN);
    judge(&with("\"target-features\"=\"+wavefrontsize32\""), 32, AMDGCN);
}

fn refused(text: &str, options: &[&str], reason: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.ll");
    std::fs::write(&file, text).unwrap();
    let object = folder.path().join("k.o");
    let mut all = vec!["vectorize", path(&file), "--function", "k", "-o", path(&object)];
    all.extend(options);
    let output = warpline(&all);
    assert!(!output.status.success() && stderr(&output).contains(reason), "{}", stderr(&output));
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn other_widths_masks_and_dimensions_are_refused_with_the_reason() {
    let kernel = module(OF_NVPTX, "", &NVPTX[2..3]);
    refused(&kernel, &["--width", "16"], "warps of 32 lanes");
    refused(&kernel.replace("i32 -1", "i32 255"), &[], "only a mask of all lanes");
    let rows = [OF_NVPTX[0], "@llvm.nvvm.read.ptx.sreg.tid.y"];
    refused(&module(rows, "", &NVPTX[2..3]), &[], "numbered over all dimensions");
}

/// A warp that is parts of several rows would have to be lanes of them.
#[test]
fn ranges_in_which_a_warp_is_parts_of_several_rows_are_refused_when_they_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.ll");
    let results = &NVPTX[2..3];
    std::fs::write(&file, module(OF_NVPTX, "", results)).unwrap();
    let run = |global: &str, local: &str| {
        let all = ["run", path(&file), "--function", "k", "--global", global, "--local", local];
        let binds = ["--bind", "in=i32[1024]=random", "--bind", "out=i32[1024]=zero", "--bind", "size=0"];
        let output = warpline(&[&all[..], &binds].concat());
        (output.status.code(), stderr(&output))
    };
    let (code, said) = run("50,2", "50,2");
    assert!(code != Some(0) && said.contains("make rows a multiple of 32"), "{said}");
    linked::vectorize(folder.path(), &[path(&file), "--function", "k"]);
    let host = r#"#include "m.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static int in[1024], out[1024];
int main(void) {
  static const uint64_t all[][2][3] = {{{64, 2, 1}, {32, 2, 1}}, {{50, 1, 1}, {50, 1, 1}}, {{50, 2, 1}, {50, 1, 1}},
    {{50, 2, 1}, {50, 2, 1}}, {{48, 2, 1}, {32, 2, 1}}, {{16, 1, 2}, {16, 1, 2}}};
  for (int k = 0; k < 6; k++) {
    pid_t child = fork();
    if (!child) {
      uint64_t offset[3] = {0};
      k_ndrange(offset, all[k][0], all[k][1], in, out, 0, malloc(k_workspace(all[k][0], all[k][1])));
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    putchar(WIFSIGNALED(status) ? 'x' : '.');
  }
  puts("");
  return 0;
}
"#;
    if let Some(said) = link_and_run(folder.path(), host, &[]) {
        assert_eq!(said, "...xxx\n");
    }
}

#[test]
fn a_barrier_of_a_warp_orders_what_its_lanes_write() {
    let text = "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.bar.warp.sync(i32)
define void @k(ptr noalias %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = sext i32 %t to i64
  %p = getelementptr i32, ptr %out, i64 %i
  store i32 %t, ptr %p
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %o = xor i64 %i, 31
  %q = getelementptr i32, ptr %out, i64 %o
  %v = load i32, ptr %q
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  store i32 %v, ptr %p
  ret void
}
";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.ll");
    std::fs::write(&file, text).unwrap();
    let bind = ["--bind", "out=i32[64]=zero"];
    let mut all = vec!["run", path(&file), "--function", "k", "--global", "64", "--local", "64"];
    all.extend(bind);
    let said = ok(&warpline(&all));
    assert!(said.contains("elements as by definition"), "{said}");
}

#[test]
fn barriers_of_nvidia_s_modules_are_those_of_the_group_under_the_names_that_llvm_gives_them() {
    let text = "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier0()
declare void @llvm.nvvm.barrier.sync(i32)
declare i32 @llvm.nvvm.barrier0.popc(i32)
declare i32 @llvm.nvvm.barrier0.and(i32)
declare i32 @llvm.nvvm.barrier0.or(i32)
@tile = internal addrspace(3) global [64 x i32] undef
define void @k(ptr noalias %in, ptr noalias %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = sext i32 %t to i64
  %from = getelementptr i32, ptr %in, i64 %i
  %x = load i32, ptr %from
  %own = getelementptr i32, ptr addrspace(3) @tile, i64 %i
  store i32 %x, ptr addrspace(3) %own
  call void @llvm.nvvm.barrier0()
  %o = xor i64 %i, 63
  %other = getelementptr i32, ptr addrspace(3) @tile, i64 %o
  %y = load i32, ptr addrspace(3) %other
  call void @llvm.nvvm.barrier.sync(i32 0)
  %odd = and i32 %y, 1
  %count = call i32 @llvm.nvvm.barrier0.popc(i32 %odd)
  %all = call i32 @llvm.nvvm.barrier0.and(i32 %odd)
  %any = call i32 @llvm.nvvm.barrier0.or(i32 %y)
  %a = mul i32 %count, 10000
  %b = mul i32 %all, 1000
  %c = mul i32 %any, 100000000
  %ab = add i32 %a, %b
  %abc = add i32 %ab, %c
  %r = add i32 %abc, %y
  %to = getelementptr i32, ptr %out, i64 %i
  store i32 %r, ptr %to
  ret void
}
";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.ll");
    std::fs::write(&file, text).unwrap();
    let range =
        ["--global", "64", "--local", "64", "--bind", "in=i32[64]=0..99", "--bind", "out=i32[64]=zero"];
    let said = ok(&warpline(&[&["run", path(&file), "--function", "k"][..], &range].concat()));
    assert!(said.contains("elements as by definition"), "{said}");
    linked::vectorize(folder.path(), &[path(&file), "--function", "k"]);
    let host = r#"#include "m.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  static int in[64], out[64];
  int odd = 0, any = 0, bad = 0;
  for (int i = 0; i < 64; i++) in[i] = i * i % 13, odd += in[i] & 1, any |= in[i];
  uint64_t offset[3] = {0}, size[3] = {64, 1, 1};
  k_ndrange(offset, size, size, in, out, malloc(k_workspace(size, size)));
  for (int i = 0; i < 64; i++)
    bad += out[i] != odd * 10000 + (odd == 64) * 1000 + (any != 0) * 100000000 + in[63 - i];
  printf("%d wrong\n", bad);
  return 0;
}
"#;
    if let Some(said) = link_and_run(folder.path(), host, &[]) {
        assert_eq!(said, "0 wrong\n");
    }
    // At which barrier a work-item waits must be the same for all.
    refused(
        &text.replace("sync(i32 0)", "sync(i32 %t)"),
        &[],
        "all work-items of a group wait for each other",
    );
}
