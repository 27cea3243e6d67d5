//! Loads that are made for lanes that do not ask for them: only where that cannot fault, and where it can, not.
//!
//! The tests are judged as `common::kernels` says: as machine code over a range, between guard pages, and by the
//! interpreter under all masks of up to four lanes.

use warpline_ir::Op;
use warpline_vectorize::Options;

use super::kernels::{Arg, Kernel, llvm_is_there, words};
use super::{kernel, scattered};

/// How many tests are put around what must not run without a lane.
fn mandatory_tests(kernel: &Kernel) -> usize {
    let asked = Options::new(8, kernel.shapes(), "counted");
    let made = kernel.vectorized(&mut kernel.import().ir, asked).expect("it can be vectorized");
    made.counts.boscc.mandatory
}

/// How many masked loads there are in vector code.
fn masked_loads(kernel: &Kernel) -> usize {
    let mut ir = kernel.import().ir;
    let asked = Options::new(8, kernel.shapes(), "counted");
    let made = kernel.vectorized(&mut ir, asked).expect("it can be vectorized");
    let func = &ir.functions[made.func];
    let insts = func.layout.iter().flat_map(|&b| func.block_insts(b));
    let is_masked =
        |name: &str| name.starts_with("llvm.masked.load") || name.starts_with("llvm.masked.gather");
    insts
        .filter(|&i| match &func.insts[i].op {
            Op::Call(call) => call.callee.is_some_and(|s| is_masked(&ir.symbols[s].name)),
            _ => false,
        })
        .count()
}

#[test]
fn what_the_caller_promises_is_read_without_a_test_up_to_its_last_byte() {
    let text = "define i32 @kernel(i32 %i, ptr dereferenceable(24) align 4 %p) {
entry:
  %c = icmp ugt i32 %i, 1000
  br i1 %c, label %then, label %end
then:
  %q = getelementptr inbounds i8, ptr %p, i64 20
  %x = load i32, ptr %q, align 4
  br label %end
end:
  %r = phi i32 [ 3, %entry ], [ %x, %then ]
  ret i32 %r
}";
    let k = kernel(text, vec![Arg::Index, Arg::Buffer(words(scattered(6)))], 990..1020, 4);
    k.judge();
    if llvm_is_there() {
        assert_eq!(mandatory_tests(&k), 0);
    }
}

#[test]
fn what_nobody_promises_is_not_read_without_a_lane() {
    let text = "define i32 @kernel(i32 %i, ptr %p) {
entry:
  %c = icmp ugt i32 %i, 1000
  br i1 %c, label %then, label %end
then:
  %x = load i32, ptr %p, align 4
  br label %end
end:
  %r = phi i32 [ 3, %entry ], [ %x, %then ]
  ret i32 %r
}";
    let k = kernel(text, vec![Arg::Index, Arg::Uniform(64)], 0..50, 4);
    k.judge();
    if llvm_is_there() {
        assert_eq!(mandatory_tests(&k), 1);
    }
}

#[test]
fn what_was_read_in_a_loop_that_no_lane_entered_is_not_read_behind_it() {
    // The pointer may be read where `i` is above 1000, which no index is.
    let text = "define i32 @kernel(i32 %i, ptr %p, i32 %n) {
entry:
  %c = icmp ugt i32 %i, 1000
  br i1 %c, label %loop, label %end
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %latch ]
  %x = load i32, ptr %p, align 4
  %odd = and i32 %i, 1
  %some = icmp eq i32 %odd, 0
  br i1 %some, label %again, label %latch
again:
  %y = load i32, ptr %p, align 4
  br label %latch
latch:
  %z = phi i32 [ %x, %loop ], [ %y, %again ]
  %next = add i32 %k, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %behind
behind:
  %last = load i32, ptr %p, align 4
  %sum = add i32 %last, %z
  br label %end
end:
  %r = phi i32 [ 3, %entry ], [ %sum, %behind ]
  ret i32 %r
}";
    kernel(text, vec![Arg::Index, Arg::Uniform(64), Arg::Uniform(3)], 0..50, 4).judge();
    let there = vec![Arg::Index, Arg::Buffer(words(scattered(1))), Arg::Uniform(3)];
    kernel(text, there, 980..1030, 4).judge();
}

#[test]
fn what_all_lanes_have_read_at_a_place_is_read_there_again_though_the_second_address_wraps() {
    // `j` is the greatest number: where no lane asks, the second address would be another one.
    let text = "define i32 @kernel(i32 %i, ptr %a, i32 %j) {
entry:
  %w = sext i32 %j to i64
  %w1 = add i64 %w, -2147483647
  %p = getelementptr i32, ptr %a, i64 %w1
  %x = load i32, ptr %p, align 4
  %c = icmp ugt i32 %i, 1000
  br i1 %c, label %then, label %end
then:
  %n = add nsw i32 %j, 1
  %v = sext i32 %n to i64
  %v1 = add i64 %v, -2147483648
  %q = getelementptr i32, ptr %a, i64 %v1
  %y = load i32, ptr %q, align 4
  br label %end
end:
  %r = phi i32 [ %x, %entry ], [ %y, %then ]
  ret i32 %r
}";
    let args = vec![Arg::Index, Arg::Buffer(words(scattered(1))), Arg::Uniform(0x7fff_ffff)];
    kernel(text, args, 0..50, 4).judge();
}

#[test]
fn what_all_lanes_have_set_is_loaded_without_a_mask() {
    let text = "define void @kernel(i64 %i, ptr %a, ptr %o) {
entry:
  %p = getelementptr i8, ptr %a, i64 %i
  %q = getelementptr i8, ptr %o, i64 %i
  %x = load i8, ptr %p, align 1
  store i8 7, ptr %q, align 1
  %c = icmp sgt i8 %x, 0
  br i1 %c, label %then, label %end
then:
  %y = load i8, ptr %q, align 1
  %z = add i8 %x, %y
  store i8 %z, ptr %q, align 1
  br label %end
end:
  ret void
}";
    let input = scattered(90).map(|x| x as u8).collect();
    let k = kernel(text, vec![Arg::Index, Arg::Buffer(input), Arg::Buffer(vec![0; 90])], 0..90, 0);
    k.judge();
    if llvm_is_there() {
        assert_eq!(masked_loads(&k), 0);
    }
}

#[test]
fn what_some_lanes_have_set_is_loaded_under_a_mask() {
    // What `b` points to is too small for the other lanes.
    let text = "define void @kernel(i64 %i, ptr %a, ptr %b) {
entry:
  %p = getelementptr i8, ptr %a, i64 %i
  %q = getelementptr i8, ptr %b, i64 %i
  %c = icmp ult i64 %i, 21
  br i1 %c, label %then, label %end
then:
  store i8 7, ptr %q, align 1
  %x = load i8, ptr %p, align 1
  %d = icmp sgt i8 %x, 9
  br i1 %d, label %more, label %end
more:
  %y = load i8, ptr %q, align 1
  %z = add i8 %x, %y
  store i8 %z, ptr %q, align 1
  br label %end
end:
  ret void
}";
    let input = scattered(90).map(|x| x as u8).collect();
    let k = kernel(text, vec![Arg::Index, Arg::Buffer(input), Arg::Buffer(vec![0; 21])], 0..90, 0);
    k.judge();
    if llvm_is_there() {
        assert!(masked_loads(&k) > 0);
    }
}

#[test]
fn a_table_with_fewer_entries_than_lanes_is_loaded_under_a_mask() {
    let text = "@table = constant [5 x i16] [i16 1, i16 2, i16 3, i16 4, i16 5], align 16
declare i32 @warpline_lane_index()
define i16 @kernel(i64 %i) {
entry:
  %l = call i32 @warpline_lane_index()
  %c = icmp ult i32 %l, 5
  br i1 %c, label %then, label %end
then:
  %w = zext i32 %l to i64
  %q = getelementptr inbounds [5 x i16], ptr @table, i64 0, i64 %w
  %x = load i16, ptr %q, align 2
  br label %end
end:
  %r = phi i16 [ 0, %entry ], [ %x, %then ]
  ret i16 %r
}";
    let k = kernel(text, vec![Arg::Index], 0..90, 2);
    k.judge_in_lockstep();
    if llvm_is_there() {
        assert!(masked_loads(&k) > 0);
    }
}

#[test]
fn what_a_variable_holds_is_read_without_a_test_unless_it_need_not_be_there() {
    for (linkage, tests) in [("global", 0), ("extern_weak global", 1)] {
        let text = format!(
            "@gain = {linkage} i32 {}
define i32 @kernel(i32 %i) {{
entry:
  %c = icmp ugt i32 %i, 1000
  br i1 %c, label %then, label %end
then:
  %x = load i32, ptr @gain, align 4
  br label %end
end:
  %r = phi i32 [ 3, %entry ], [ %x, %then ]
  ret i32 %r
}}",
            if tests == 0 { "9" } else { "" }
        );
        let k = kernel(&text, vec![Arg::Index], 0..50, 4);
        if llvm_is_there() {
            assert_eq!(mandatory_tests(&k), tests, "{linkage}");
        }
    }
}

#[test]
fn a_frozen_value_is_the_same_for_all_its_uses() {
    // Poison in the lanes whose sum overflows.
    let text = "define i32 @kernel(i32 %i, i32 %u, ptr %a, ptr %b) {
  %x = add nsw i32 %i, %u
  %f = freeze i32 %x
  %w = zext i32 %i to i64
  %p = getelementptr i32, ptr %a, i64 %w
  %q = getelementptr i32, ptr %b, i64 %w
  store i32 %f, ptr %p, align 4
  %odd = and i32 %f, 1
  %c = icmp eq i32 %odd, 0
  br i1 %c, label %then, label %end
then:
  store i32 %f, ptr %q, align 4
  br label %end
end:
  %y = load i32, ptr %p, align 4
  %z = load i32, ptr %q, align 4
  %same = icmp eq i32 %y, %z
  %bit = and i32 %y, 1
  %was = icmp eq i32 %bit, 0
  %ok = icmp eq i1 %same, %was
  %r = zext i1 %ok to i32
  ret i32 %r
}";
    let buffer = || Arg::Buffer(vec![0; 4 * 64]);
    // Machine code does not choose: it freezes the sum that wraps. The result is 1, as only even numbers are stored
    // twice.
    kernel(text, vec![Arg::Index, Arg::Uniform(0x7fff_ffe0), buffer(), buffer()], 0..64, 4)
        .judge_in_machine_code();
}
