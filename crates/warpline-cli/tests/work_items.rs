//! Kernels that ask which work-item they are.

mod common;
#[path = "common/linked.rs"]
mod linked;

use std::path::PathBuf;

use common::{ok, warpline};
use linked::{link_and_run, vectorize};
use warpline_llvm::has_clang;

fn file(folder: &tempfile::TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn no_clang() -> bool {
    if !has_clang() {
        eprintln!("skipped: there is no clang");
    }
    !has_clang()
}

/// Writes what it is told about each work-item, and how often it has run, to a place of its own.
const TELL: &str = "
kernel void tell(global int *out, int width, int height) {
  int x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1);
  int z = get_global_id(2) - get_global_offset(2);
  global int *told = out + ((z * height + y) * width + x) * 24;
  for (int d = 0; d < 3; d++)
    told[d * 2] = get_global_size(d);
  told[1] += 1;
  told[3] = get_global_id(0), told[5] = get_global_id(1), told[6] = get_global_id(2);
  told[7] = get_local_id(0), told[8] = get_local_id(1), told[9] = get_local_id(2);
  told[10] = get_group_id(0), told[11] = get_group_id(1), told[12] = get_group_id(2);
  told[13] = get_local_size(0), told[14] = get_local_size(1), told[15] = get_local_size(2);
  told[16] = get_enqueued_local_size(0), told[17] = get_enqueued_local_size(1), told[18] = get_enqueued_local_size(2);
  told[19] = get_num_groups(0), told[20] = get_num_groups(1), told[21] = get_num_groups(2);
  told[22] = get_global_id(3) + get_local_size(7);
}
";

#[test]
fn every_work_item_of_three_dimensions_runs_once_and_hears_the_truth() {
    if no_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let kernel = file(&folder, "tell.cl", TELL);
    let prototype = "void tell_ndrange(const uint64_t offset[3], const uint64_t size[3], const uint64_t \
     local[3], int *out, \
                     int width, int height);";
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "m.h"
/* The last parts first, and more than there is. */
static void backwards(void *user, uint64_t count, warpline_part part, void *context) {
    for (uint64_t first = count + 9; first-- > 0;)
        if (first % 4 == 0) part(context, first, first + 4, user);
}
static int check(const uint64_t offset[3], const uint64_t size[3], const uint64_t asked[3], int how) {
    int *out = calloc(size[0] * size[1] * size[2], 24 * sizeof(int)), wrong = 0;
    if (how)
        tell_parallel(backwards, NULL, offset, size, asked, out, size[0], size[1]);
    else
        tell_ndrange(offset, size, asked, out, size[0], size[1]);
    uint64_t local[3], groups[3], at[3];
    for (int d = 0; d < 3; d++) {
        local[d] = asked[d] ? asked[d] : size[d];
        groups[d] = size[d] ? (size[d] + local[d] - 1) / local[d] : 0;
    }
    const int *told = out;
    for (at[2] = 0; at[2] < size[2]; at[2]++)
        for (at[1] = 0; at[1] < size[1]; at[1]++)
            for (at[0] = 0; at[0] < size[0]; at[0]++, told += 24) {
                int global[3] = { told[3], told[5], told[6] };
                wrong += told[1] != 1 || told[22] != 1;
                for (int d = 0; d < 3; d++) {
                    uint64_t group = at[d] / local[d], rest = size[d] - group * local[d];
                    wrong += told[d * 2] != (int)size[d] || global[d] != (int)(at[d] + offset[d]);
                    wrong += told[7 + d] != (int)(at[d] % local[d]) || told[10 + d] != (int)group;
                    wrong += told[13 + d] != (int)(rest < local[d] ? rest : local[d]);
                    wrong += told[16 + d] != (int)local[d] || told[19 + d] != (int)groups[d];
                }
            }
    free(out);
    return wrong;
}
int main(void) {
    uint64_t offsets[][3] = { { 0, 0, 0 }, { 5, 0, 70 } };
    uint64_t sizes[][3] = { { 1, 1, 1 }, { 37, 5, 3 }, { 64, 2, 1 }, { 0, 4, 4 }, { 8, 0, 1 } };
    uint64_t locals[][3] = { { 0, 0, 0 }, { 16, 2, 1 }, { 5, 1, 2 }, { 100, 100, 100 } };
    int wrong = 0;
    for (int o = 0; o < 2; o++)
        for (int s = 0; s < 5; s++)
            for (int l = 0; l < 8; l++) wrong += check(offsets[o], sizes[s], locals[l % 4], l / 4);
    printf("%d\n", wrong);
    return 0;
}
"#;
    // For this machine alone, with lanes along each dimension, and for several CPUs.
    let several = cfg!(target_arch = "x86_64").then_some(["--cpu", "haswell,znver4"]);
    let along = ["1", "2"].map(|d| ["--lane-dimension", d]);
    for how in std::iter::once(["--width", "8"]).chain(along).chain(several) {
        let header = vectorize(folder.path(), &[kernel.to_str().unwrap(), how[0], how[1]]);
        assert!(header.contains(prototype), "{header}");
        if let Some(text) = link_and_run(folder.path(), source, &[]) {
            assert_eq!(text, "0\n");
        }
    }
}

#[test]
fn a_kernel_that_asks_runs_against_its_scalar_form() {
    if no_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let text = "
//@ bind a=f32[1024]=random
//@ bind out=f32[1024]=zero
//@ bind n=1000
kernel void sums(global const float *a, global float *out, int n) {
  for (int b = get_global_id(0); b < n; b += get_global_size(0))
    for (int k = 0; k <= (b & 7); k++)
      out[b] += a[b - (b & 7) + k] * (get_local_id(0) == get_global_id(0));
}
";
    let kernel = file(&folder, "sums.cl", text);
    let report = ok(&warpline(&["run", kernel.to_str().unwrap(), "--width", "8", "--range", "0..256", "-v"]));
    assert!(
        report.contains("sums: vectorized with 8 lanes") && report.contains("; 0 mismatches"),
        "{report}"
    );
    assert!(report.contains("checked against the scalar program on all 256 indices"), "{report}");
}

#[test]
fn registers_of_a_gpu_are_work_items_too() {
    let folder = tempfile::tempdir().unwrap();
    let text = "
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
define void @saxpy(float %a, ptr %x, ptr %y, i32 %n) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %g = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %s = mul i32 %g, %b
  %i = add i32 %s, %t
  %c = icmp slt i32 %i, %n
  br i1 %c, label %do, label %end
do:
  %k = sext i32 %i to i64
  %px = getelementptr float, ptr %x, i64 %k
  %py = getelementptr float, ptr %y, i64 %k
  %vx = load float, ptr %px
  %vy = load float, ptr %py
  %ax = fmul float %a, %vx
  %r = fadd float %ax, %vy
  store float %r, ptr %py
  br label %end
end:
  ret void
}
";
    let kernel = file(&folder, "saxpy.ll", text);
    vectorize(folder.path(), &[kernel.to_str().unwrap(), "--width", "4"]);
    let source = r#"
#include <stdio.h>
#include "m.h"
int main(void) {
    float x[100], y[100];
    for (int k = 0; k < 100; k++) { x[k] = k; y[k] = 1000; }
    uint64_t offset[3] = { 0, 0, 0 }, size[3] = { 4 * 32, 1, 1 }, local[3] = { 32, 1, 1 };
    saxpy_ndrange(offset, size, local, 2, x, y, 90);
    int wrong = 0;
    for (int k = 0; k < 100; k++) wrong += y[k] != (k < 90 ? 2 * k + 1000 : 1000);
    printf("%d\n", wrong);
    return 0;
}
"#;
    if let Some(text) = link_and_run(folder.path(), source, &[]) {
        assert_eq!(text, "0\n");
    }
}

/// Kernels whose work-items all do the same, and one whose helper asks.
const ALIKE: &str = "
kernel void reset(global int *flags, int n) {
  for (int i = 0; i < n; i++) flags[i] = n - i;
}
kernel void sizes(global int *out) { out[get_group_id(0)] += get_local_size(0); }
__attribute__((noinline)) float at(global const float *in, int k) { return in[get_global_id(0) * 4 + k]; }
kernel void helpers(global const float *in, global float *out) {
  float sum = 0;
  for (int k = 0; k < 4; k++) sum += at(in, k);
  out[get_global_id(0)] = sum * at(in, 2);
}
";

#[test]
fn kernels_that_ask_nothing_and_helpers_that_ask_have_drivers() {
    if no_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let kernels = file(&folder, "alike.cl", ALIKE);
    vectorize(folder.path(), &[kernels.to_str().unwrap()]);
    let source = r#"
#include <stdio.h>
#include "m.h"
int main(void) {
    int flags[10] = { 0 }, groups[4] = { 0 }, wrong = 0;
    float in[256], out[64];
    for (int k = 0; k < 256; k++) in[k] = k;
    uint64_t offset[3] = { 0, 0, 0 }, one[3] = { 1, 1, 1 }, size[3] = { 64, 1, 1 }, local[3] = { 16, 1, 1 };
    reset_ndrange(offset, one, one, flags, 10);
    for (int k = 0; k < 10; k++) wrong += flags[k] != 10 - k;
    sizes_ndrange(offset, size, local, groups);
    for (int k = 0; k < 4; k++) wrong += groups[k] != 16 * 16;
    helpers_ndrange(offset, size, local, in, out);
    for (int k = 0; k < 64; k++) wrong += out[k] != (16.0f * k + 6) * (4 * k + 2);
    printf("%d\n", wrong);
    return 0;
}
"#;
    if let Some(text) = link_and_run(folder.path(), source, &[]) {
        assert_eq!(text, "0\n");
    }
}
