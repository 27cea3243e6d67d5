//! What must never go wrong: each of these has broken a vectorizer in practice.
//!
//! The tests are judged as `common::kernels` says: as machine code over a range, between guard pages, and by the
//! interpreter under all masks of up to four lanes, with poison and with random bits in the lanes that are not
//! active.

#[path = "common/elided.rs"]
mod elided;
#[path = "common/guarded.rs"]
mod guarded;
#[expect(dead_code, reason = "other tests use more of it")]
#[path = "common/kernels.rs"]
mod kernels;
#[path = "common/values.rs"]
mod values;

use warpline_llvm::Cpu;
use warpline_vectorize::{Boscc, Contract, Linearize};

use kernels::{Arg, Kernel, bytes, words};

/// A kernel on an index and whatever else.
fn kernel(text: &str, args: Vec<Arg>, range: std::ops::Range<u64>, result: usize) -> Kernel {
    Kernel { text: text.to_owned(), args, range, result, looped: false, contract: Contract::Racy }
}

/// Numbers without a pattern.
fn scattered(n: u32) -> impl Iterator<Item = u32> {
    (0..n).map(|i| i.wrapping_mul(2_654_435_761) >> 7)
}

// ---- 1: narrow indices -------------------------------------------------------------------------------------------

#[test]
fn an_index_that_wraps_at_eight_bits_is_not_contiguous_after_zext() {
    let text = "define i8 @kernel(i32 %i, ptr %a) {
  %narrow = trunc i32 %i to i8
  %moved = add i8 %narrow, 100
  %index = zext i8 %moved to i64
  %place = getelementptr i8, ptr %a, i64 %index
  %x = load i8, ptr %place
  ret i8 %x
}";
    let table = scattered(256).map(|x| x as u8).collect();
    kernel(text, vec![Arg::Index, Arg::Buffer(table)], 120..200, 1).judge();
}

#[test]
fn an_index_that_wraps_at_eight_bits_is_not_contiguous_after_sext() {
    let text = "define i8 @kernel(i8 %i, ptr %a) {
  %twice = mul i8 %i, 3
  %index = sext i8 %twice to i64
  %centre = getelementptr i8, ptr %a, i64 128
  %place = getelementptr i8, ptr %centre, i64 %index
  %x = load i8, ptr %place
  ret i8 %x
}";
    let table = scattered(256).map(|x| x as u8).collect();
    kernel(text, vec![Arg::Index, Arg::Buffer(table)], 0..127, 1).judge();
}

#[test]
fn shl_then_ashr_is_not_contiguous() {
    let text = "define i32 @kernel(i32 %i, ptr %a) {
  %high = shl i32 %i, 28
  %back = ashr i32 %high, 28
  %index = sext i32 %back to i64
  %centre = getelementptr i32, ptr %a, i64 8
  %place = getelementptr i32, ptr %centre, i64 %index
  %x = load i32, ptr %place
  ret i32 %x
}";
    kernel(text, vec![Arg::Index, Arg::Buffer(words(scattered(16)))], 3..80, 4).judge();
}

#[test]
fn an_index_that_does_not_wrap_for_the_lanes_that_use_it_may_wrap_for_lane_zero() {
    let text = "define i32 @kernel(i32 %i, ptr %a, i32 %from) {
entry:
  %inside = icmp uge i32 %i, %from
  br i1 %inside, label %read, label %end
read:
  %k = sub nuw i32 %i, %from
  %index = zext i32 %k to i64
  %place = getelementptr inbounds i32, ptr %a, i64 %index
  %x = load i32, ptr %place
  br label %end
end:
  %r = phi i32 [ -1, %entry ], [ %x, %read ]
  ret i32 %r
}";
    let args = vec![Arg::Index, Arg::Buffer(words(scattered(64))), Arg::Uniform(13)];
    kernel(text, args, 2..70, 4).judge();
}

// ---- 2: wide strides ---------------------------------------------------------------------------------------------

#[test]
fn the_index_times_two_to_the_32_is_not_uniform() {
    let text = "define i64 @kernel(i64 %i, ptr %a) {
  %far = mul i64 %i, 4294967296
  %near = lshr i64 %far, 32
  %place = getelementptr i32, ptr %a, i64 %near
  %x = load i32, ptr %place
  %wide = zext i32 %x to i64
  %r = xor i64 %wide, %far
  ret i64 %r
}";
    kernel(text, vec![Arg::Index, Arg::Buffer(words(scattered(70)))], 5..70, 8).judge();
}

#[test]
fn a_stride_that_leaves_32_bits_is_computed_in_64() {
    let text = "define i64 @kernel(i64 %i, i64 %u) {
  %a = mul i64 %i, 3000000000
  %b = add i64 %a, %u
  %c = mul i64 %b, -5
  ret i64 %c
}";
    kernel(text, vec![Arg::Index, Arg::Uniform(u64::MAX - 7)], 0..67, 8).judge();
}

#[test]
fn strides_that_wrap_and_strides_of_pointers_are_taken_as_they_are() {
    let text = "define i32 @kernel(i32 %i, i8 %s, ptr %p) {
  %wide = zext i8 %s to i32
  %x = load i32, ptr %p, align 4
  %r = xor i32 %wide, %x
  store i32 %r, ptr %p, align 4
  ret i32 %r
}";
    let places = words(scattered(100));
    let at = |n: i64| vec![Arg::Index, Arg::Stride(200, n), Arg::Place(places.clone(), 8)];
    for n in [3, -5, 64, 0] {
        kernel(text, at(n), 0..50, 4).judge();
    }
}

// ---- 3: pointers -------------------------------------------------------------------------------------------------

#[test]
fn pointers_made_of_integers_phis_and_selects_lead_where_they_should() {
    let text = "define i32 @kernel(i32 %i, ptr %a, ptr %b, i32 %u) {
entry:
  %index = zext i32 %i to i64
  %bytes = shl i64 %index, 2
  %base = ptrtoint ptr %a to i64
  %sum = add i64 %base, %bytes
  %pa = inttoptr i64 %sum to ptr
  %pb = getelementptr i32, ptr %b, i64 %index
  %low = and i32 %i, 5
  %odd = icmp eq i32 %low, 1
  %chosen = select i1 %odd, ptr %pa, ptr %pb
  %x = load i32, ptr %chosen, align 4
  %some = icmp ugt i32 %u, 3
  %same = select i1 %some, ptr %pa, ptr %pb
  %y = load i32, ptr %same, align 4
  br i1 %odd, label %left, label %join
left:
  br label %join
join:
  %p = phi ptr [ %pb, %entry ], [ %pa, %left ]
  %z = load i32, ptr %p, align 4
  store i32 %y, ptr %p, align 4
  %cut = and i64 %sum, -8
  %q = inttoptr i64 %cut to ptr
  %w = load i32, ptr %q, align 4
  %r0 = add i32 %x, %y
  %r1 = add i32 %r0, %z
  ret i32 %r1
}";
    let args = vec![
        Arg::Index,
        Arg::Buffer(words(scattered(80))),
        Arg::Buffer(words(scattered(160).skip(80))),
        Arg::Uniform(9),
    ];
    kernel(text, args, 4..79, 4).judge();
}

// ---- 4: poison ---------------------------------------------------------------------------------------------------

#[test]
fn poison_of_inactive_lanes_reaches_neither_masks_nor_branches() {
    let text = "define i32 @kernel(i32 %i, i32 %x, i32 %n) {
entry:
  %small = icmp ult i32 %x, 31
  %shifted = shl nuw nsw i32 1, %x
  %big = icmp ugt i32 %shifted, %n
  %both = select i1 %small, i1 %big, i1 false
  br i1 %both, label %inside, label %end
inside:
  %q = udiv i32 %shifted, %n
  %deep = icmp ugt i32 %q, 3
  br i1 %deep, label %deeper, label %end
deeper:
  %s = add nuw i32 %q, %i
  br label %end
end:
  %r = phi i32 [ 0, %entry ], [ %q, %inside ], [ %s, %deeper ]
  ret i32 %r
}";
    let args = vec![Arg::Index, Arg::Varying(words((0..60).map(|k| k * 7 % 41))), Arg::Uniform(16)];
    kernel(text, args, 0..60, 4).judge();
}

/// Found by random programs: where an instruction uses a mask twice, those behind it in the list of its users were
/// given poison.
#[test]
fn a_mask_that_something_uses_twice_reaches_all_that_use_it() {
    let text = "define i32 @kernel(i32 %i, ptr %sink) {
entry:
  %low = and i32 %i, 255
  %yes = icmp ult i32 0, 4
  %surely = and i1 %yes, %yes
  br i1 %surely, label %join, label %other
join:
  %mask = phi i1 [ %surely, %entry ], [ %test, %other ]
  %number = zext i1 %mask to i64
  store i64 %number, ptr %sink, align 8
  %twice = mul i1 %mask, %mask
  ret i32 0
other:
  %test = icmp sge i32 0, %low
  br label %join
}";
    let kernel = kernel(text, vec![Arg::Index, Arg::Buffer(words(scattered(8)))], 0..40, 4);
    kernel.judge();
    // Without passes, which would find the branch's constant.
    if kernels::llvm_is_there() {
        kernel.judge_for((16, Linearize::Partial, Boscc::Off, ""), &Cpu::named("x86-64-v2"));
    }
}

// ---- 5: inactive lanes -------------------------------------------------------------------------------------------

/// Elements with an even value are neither divided by nor logged; nothing at or behind `%n` is read.
const INACTIVE: &str = "
declare void @log_call(i32, i32)

define i32 @kernel(i32 %i, ptr %a, i32 %n, ptr %out) {
entry:
  %inside = icmp ult i32 %i, %n
  br i1 %inside, label %read, label %end
read:
  %index = zext i32 %i to i64
  %place = getelementptr inbounds i32, ptr %a, i64 %index
  %x = load i32, ptr %place, align 4
  %low = and i32 %x, 1
  %odd = icmp ne i32 %low, 0
  br i1 %odd, label %divide, label %gather
divide:
  %divisor = sub i32 %x, 1
  %even.less = and i32 %divisor, 2
  %safe = icmp ne i32 %even.less, 0
  br i1 %safe, label %trap, label %gather
trap:
  %q = sdiv i32 1000, %even.less
  call void @log_call(i32 %i, i32 %q)
  br label %gather
gather:
  %from = phi i32 [ %x, %read ], [ %divisor, %divide ], [ %q, %trap ]
  %reach = icmp ult i32 %from, %n
  br i1 %reach, label %far, label %end
far:
  %far.index = zext i32 %from to i64
  %far.place = getelementptr inbounds i32, ptr %a, i64 %far.index
  %y = load i32, ptr %far.place, align 4
  store i32 %y, ptr %out, align 4
  br label %end
end:
  %r = phi i32 [ -1, %entry ], [ %from, %gather ], [ %y, %far ]
  ret i32 %r
}";

#[test]
fn inactive_lanes_neither_fault_nor_trap_nor_call() {
    for (n, range) in [(13, 0..13), (40, 3..40), (5, 0..40), (64, 0..64), (0, 0..9)] {
        let values = words((0..n).map(|i: u32| i.wrapping_mul(2_654_435_761) >> 27));
        let args =
            vec![Arg::Index, Arg::Buffer(values), Arg::Uniform(n.into()), Arg::Buffer(words([u32::MAX]))];
        kernel(INACTIVE, args, range, 4).judge();
    }
}

#[test]
fn uniform_loads_and_divisions_under_a_mask_need_an_active_lane() {
    let text = "define i32 @kernel(i32 %i, i32 %x, ptr %p, i32 %d) {
entry:
  %never = icmp ugt i32 %x, 1000
  br i1 %never, label %inside, label %end
inside:
  %y = load i32, ptr %p, align 4
  %q = udiv i32 %y, %d
  %s = srem i32 %q, %d
  %odd = trunc i32 %s to i1
  br i1 %odd, label %deeper, label %end
deeper:
  %z = load i32, ptr %p, align 4
  br label %end
end:
  %r = phi i32 [ %i, %entry ], [ %s, %inside ], [ %z, %deeper ]
  ret i32 %r
}";
    // The address is null and the divisor zero: no lane may come here.
    let args = vec![Arg::Index, Arg::Varying(words(0..40)), Arg::Uniform(0), Arg::Uniform(0)];
    kernel(text, args, 0..40, 4).judge();
}

// ---- 6: stores to one address ------------------------------------------------------------------------------------

#[test]
fn of_a_varying_value_stored_to_a_uniform_address_the_last_active_lane_s_stays() {
    let text = "define void @kernel(i32 %i, i32 %x, ptr %out, i32 %u) {
entry:
  %some = icmp ult i32 %x, 5
  br i1 %some, label %write, label %end
write:
  store i32 %i, ptr %out, align 4
  %second = getelementptr i32, ptr %out, i64 1
  store i32 %u, ptr %second, align 4
  %third = getelementptr i32, ptr %out, i64 2
  store i32 %x, ptr %third, align 4
  br label %end
end:
  ret void
}";
    for shift in [0, 3, 30] {
        // For 30, no lane writes at all.
        let x = words((0..50).map(|k| k * 5 % 11 + shift));
        let args = vec![Arg::Index, Arg::Varying(x), Arg::Buffer(words([7, 8, 9])), Arg::Uniform(4)];
        kernel(text, args, 0..50, 0).judge();
    }
}

#[test]
fn stores_of_fields_that_alias_between_lanes_keep_their_order() {
    // Lane k's third element is lane k+1's first: in lockstep, the later instruction wins.
    let text = "define void @kernel(i32 %i, ptr %a, i32 %x) {
  %twice = shl nuw nsw i32 %i, 1
  %index = zext nneg i32 %twice to i64
  %p0 = getelementptr inbounds i32, ptr %a, i64 %index
  %p1 = getelementptr inbounds i32, ptr %p0, i64 1
  %p2 = getelementptr inbounds i32, ptr %p0, i64 2
  store i32 %x, ptr %p0, align 4
  %y = add i32 %x, 1000
  store i32 %y, ptr %p1, align 4
  %z = add i32 %x, 2000
  store i32 %z, ptr %p2, align 4
  %w = load i32, ptr %p0, align 4
  %v = add i32 %w, 1
  store i32 %v, ptr %p1, align 4
  ret void
}";
    let args = vec![Arg::Index, Arg::Buffer(words(scattered(40))), Arg::Varying(words(scattered(16)))];
    kernel(text, args, 0..16, 0).judge_in_lockstep();
}

// ---- 7: volatile -------------------------------------------------------------------------------------------------

#[test]
fn volatile_accesses_happen_once_per_active_lane_in_lane_order() {
    let text = "define i32 @kernel(i32 %i, i32 %x, ptr %p, ptr %a) {
entry:
  %some = icmp ult i32 %x, 5
  br i1 %some, label %access, label %end
access:
  store volatile i32 %i, ptr %p, align 4
  %y = load volatile i32, ptr %p, align 4
  %index = zext i32 %i to i64
  %place = getelementptr i32, ptr %a, i64 %index
  store volatile i32 %y, ptr %place, align 4
  store volatile i32 77, ptr %p, align 4
  br label %end
end:
  %r = phi i32 [ 1, %entry ], [ %y, %access ]
  ret i32 %r
}";
    let args = vec![
        Arg::Index,
        Arg::Varying(words((0..20).map(|k| k * 5 % 11))),
        Arg::Buffer(words([0])),
        Arg::Buffer(words(scattered(20))),
    ];
    kernel(text, args, 0..20, 4).judge_in_lockstep();
}

#[test]
fn a_barrier_is_refused_with_its_reason() {
    let text = "
declare void @barrier() #0
define i32 @kernel(i32 %i, i32 %x) {
  call void @barrier()
  ret i32 %x
}
attributes #0 = { convergent }";
    let why = kernel(text, vec![Arg::Index, Arg::Varying(words(0..4))], 0..4, 4).refusal();
    assert!(why.contains("barrier") && why.contains("depends on the other lanes"), "{why}");
}

// ---- 8: control flow ---------------------------------------------------------------------------------------------

#[test]
fn unreachable_code_several_returns_and_parallel_edges_do_no_harm() {
    let text = "define i32 @kernel(i32 %i, i32 %x, ptr %out) {
entry:
  switch i32 %x, label %impossible [
    i32 0, label %join
    i32 1, label %join
    i32 2, label %early
    i32 3, label %work
    i32 4, label %work
    i32 5, label %chain
  ]
impossible:
  unreachable
early:
  ret i32 -2
work:
  %w = phi i32 [ 30, %entry ], [ 30, %entry ], [ %c, %chain ]
  %big = icmp ugt i32 %i, 20
  br i1 %big, label %early.too, label %join
early.too:
  store i32 %w, ptr %out, align 4
  ret i32 %w
chain:
  %c = mul i32 %i, 3
  %odd = trunc i32 %c to i1
  br i1 %odd, label %work, label %join
join:
  %r = phi i32 [ 10, %entry ], [ 10, %entry ], [ %w, %work ], [ %c, %chain ]
  ret i32 %r
}";
    let x = words((0..48).map(|k| k * 7 % 6));
    kernel(text, vec![Arg::Index, Arg::Varying(x), Arg::Buffer(words([0]))], 0..48, 4).judge();
}

#[test]
fn critical_edges_of_divergent_and_uniform_branches_carry_their_own_values() {
    let text = "define i32 @kernel(i32 %i, i32 %x, i32 %u) {
a:
  %c = icmp ult i32 %x, 4
  br i1 %c, label %b, label %d
b:
  %v = icmp ugt i32 %u, 2
  br i1 %v, label %e, label %d
d:
  %p = phi i32 [ 1, %a ], [ %i, %b ]
  %m = icmp ugt i32 %x, 7
  br i1 %m, label %e, label %f
e:
  %q = phi i32 [ %x, %b ], [ %p, %d ]
  br label %f
f:
  %r = phi i32 [ %p, %d ], [ %q, %e ]
  ret i32 %r
}";
    for u in [1, 5] {
        let x = words((0..48).map(|k| k * 7 % 11));
        kernel(text, vec![Arg::Index, Arg::Varying(x), Arg::Uniform(u)], 0..48, 4).judge();
    }
}

// ---- 9: loops that nobody enters ---------------------------------------------------------------------------------

#[test]
fn a_uniform_loop_that_no_lane_enters_is_not_entered() {
    // With a step of 0 it would never end.
    let text = "define i32 @kernel(i32 %i, i32 %x, i32 %n, i32 %step) {
entry:
  %never = icmp ugt i32 %x, 1000
  br i1 %never, label %loop, label %end
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %k, %step
  %done = icmp uge i32 %next, %n
  br i1 %done, label %end, label %loop
end:
  %r = phi i32 [ %i, %entry ], [ %next, %loop ]
  ret i32 %r
}";
    let args = vec![Arg::Index, Arg::Varying(words(0..40)), Arg::Uniform(10), Arg::Uniform(0)];
    kernel(text, args, 0..40, 4).judge();
}

#[test]
fn an_infinite_loop_that_no_lane_enters_is_not_entered() {
    let text = "define i32 @kernel(i32 %i, i32 %x, ptr %p) {
entry:
  %never = icmp ugt i32 %x, 1000
  br i1 %never, label %loop, label %end
loop:
  store volatile i32 %i, ptr %p, align 4
  br label %loop
end:
  ret i32 %x
}";
    let args = vec![Arg::Index, Arg::Varying(words(0..40)), Arg::Buffer(words([5]))];
    kernel(text, args, 0..40, 4).judge();
}

#[test]
fn a_divergent_loop_that_no_lane_enters_is_not_entered_inside_another() {
    let text = "define i32 @kernel(i32 %i, i32 %x, i32 %step, ptr %p) {
entry:
  br label %outer
outer:
  %j = phi i32 [ 0, %entry ], [ %j.next, %latch ]
  %some = icmp ugt i32 %x, 1000
  br i1 %some, label %inner, label %latch
inner:
  %k = phi i32 [ 0, %outer ], [ %k.next, %inner ]
  %k.next = add i32 %k, %step
  %y = load i32, ptr %p, align 4
  %more = icmp ult i32 %k.next, %x
  br i1 %more, label %inner, label %latch
latch:
  %s = phi i32 [ 0, %outer ], [ %y, %inner ]
  %j.next = add i32 %j, 1
  %again = icmp ult i32 %j.next, %x
  br i1 %again, label %outer, label %end
end:
  %r = add i32 %j, %s
  ret i32 %r
}";
    let x = words((0..40).map(|k| k * 5 % 13));
    kernel(text, vec![Arg::Index, Arg::Varying(x), Arg::Uniform(0), Arg::Uniform(0)], 0..40, 4).judge();
}

// ---- 10: floating point ------------------------------------------------------------------------------------------

#[test]
fn floating_point_results_are_those_of_the_scalar_program_to_the_last_bit() {
    let text = "
declare float @llvm.sqrt.f32(float)
declare float @llvm.fabs.f32(float)
declare double @llvm.floor.f64(double)
declare double @llvm.fma.f64(double, double, double)
define double @kernel(i32 %i, float %x, double %u, ptr %a) {
  %index = zext i32 %i to i64
  %place = getelementptr float, ptr %a, i64 %index
  %y = load float, ptr %place, align 4
  %product = fmul float %x, %y
  %sum = fadd float %product, 0x3FB99999A0000000
  %abs = call float @llvm.fabs.f32(float %sum)
  %root = call float @llvm.sqrt.f32(float %abs)
  %ratio = fdiv float %root, 3.0
  %rest = frem float %ratio, 0x3FD5555560000000
  %wide = fpext float %rest to double
  %more = fmul double %wide, %u
  %f = call double @llvm.floor.f64(double %more)
  %both = fsub double %more, %f
  %last = call double @llvm.fma.f64(double %both, double %wide, double %u)
  %less = fcmp olt double %last, 0.0
  %r = select i1 %less, double %both, double %last
  store float %rest, ptr %place, align 4
  ret double %r
}";
    let numbers = |n: u32, d: f32| bytes(scattered(n).map(move |x| x as f32 / d - 3.0), f32::to_le_bytes);
    let args = vec![
        Arg::Index,
        Arg::Varying(numbers(40, 1e6)),
        Arg::Uniform(1.0e3f64.to_bits()),
        Arg::Buffer(numbers(40, 3e5)),
    ];
    kernel(text, args, 0..40, 8).judge();
}

/// Found by random programs: code for CPUs with AVX512-BF16 made zeros of these.
#[test]
fn subnormal_numbers_that_become_bfloat_are_rounded_as_others_are() {
    let text = "define i16 @kernel(i32 %i, i32 %x) {
  %high = shl i32 %x, 13
  %number = lshr i32 %high, 9
  %wide = bitcast i32 %number to float
  %narrow = fptrunc float %wide to bfloat
  %r = bitcast bfloat %narrow to i16
  ret i16 %r
}";
    kernel(text, vec![Arg::Index, Arg::Varying(words(scattered(70)))], 0..70, 2).judge();
}

// ---- 11: the partial vector at the end of a range ----------------------------------------------------------------

#[test]
fn lanes_beyond_the_range_read_write_and_call_nothing() {
    let text = "
declare void @log_call(i32, i32)
define i32 @kernel(i32 %i, ptr %a, ptr %b, i32 %x) {
  %index = zext nneg i32 %i to i64
  %p = getelementptr inbounds i32, ptr %a, i64 %index
  %y = load i32, ptr %p, align 4
  %q = udiv i32 1000, %y
  %r = add i32 %q, %x
  %o = getelementptr inbounds i32, ptr %b, i64 %index
  store i32 %r, ptr %o, align 4
  call void @log_call(i32 %i, i32 %r)
  ret i32 %q
}";
    let args = vec![
        Arg::Index,
        Arg::Buffer(words((0..37).map(|k| k % 5 + 1))),
        Arg::Buffer(words([9; 37])),
        Arg::Varying(words(scattered(37))),
    ];
    kernel(text, args, 0..37, 4).judge();
}

// ---- 12: types ---------------------------------------------------------------------------------------------------

#[test]
fn booleans_and_wide_and_narrow_integers_compute_as_they_should() {
    let text = "define i64 @kernel(i32 %i, i8 %x, ptr %flags, ptr %wide) {
  %index = zext i32 %i to i64
  %f = getelementptr i1, ptr %flags, i64 %index
  %flag = load i1, ptr %f, align 1
  %not = xor i1 %flag, true
  store i1 %not, ptr %f, align 1
  %nibble = trunc i8 %x to i4
  %sum = add i4 %nibble, 7
  %back = sext i4 %sum to i24
  %odd = mul i24 %back, 12345
  %w = getelementptr i128, ptr %wide, i64 %index
  %big = load i128, ptr %w, align 16
  %o = sext i24 %odd to i128
  %s = add i128 %big, %o
  %m = mul i128 %s, 1000000007
  store i128 %m, ptr %w, align 16
  %high = lshr i128 %m, 64
  %h = trunc i128 %high to i64
  %chosen = select i1 %flag, i64 %h, i64 %index
  ret i64 %chosen
}";
    let args = vec![
        Arg::Index,
        Arg::Varying(scattered(33).map(|x| x as u8).collect()),
        Arg::Buffer((0..48).map(|k| k % 3 % 2).collect()),
        Arg::Buffer(words(scattered(33 * 4))),
    ];
    kernel(text, args, 0..33, 8).judge();
}

#[test]
fn half_precision_aggregates_and_private_arrays_compute_as_they_should() {
    let text = "
declare { i32, i1 } @llvm.sadd.with.overflow.i32(i32, i32)
define i32 @kernel(i32 %i, i32 %x, half %h, i32 %u) {
entry:
  %stack = alloca [4 x i32], align 4
  %pair = call { i32, i1 } @llvm.sadd.with.overflow.i32(i32 %x, i32 %u)
  %sum = extractvalue { i32, i1 } %pair, 0
  %over = extractvalue { i32, i1 } %pair, 1
  %h2 = fmul half %h, 0xH4200
  %h3 = fptosi half %h2 to i32
  %p0 = getelementptr [4 x i32], ptr %stack, i64 0, i64 0
  %p1 = getelementptr [4 x i32], ptr %stack, i64 0, i64 1
  %p2 = getelementptr [4 x i32], ptr %stack, i64 0, i64 2
  %p3 = getelementptr [4 x i32], ptr %stack, i64 0, i64 3
  store i32 %x, ptr %p0, align 4
  store i32 %h3, ptr %p1, align 4
  store i32 %sum, ptr %p2, align 4
  store i32 %i, ptr %p3, align 4
  br i1 %over, label %change, label %end
change:
  %other = insertvalue { i32, i1 } %pair, i32 %i, 0
  br label %end
end:
  %agg = phi { i32, i1 } [ %pair, %entry ], [ %other, %change ]
  %k = and i32 %x, 3
  %index = zext i32 %k to i64
  %p = getelementptr [4 x i32], ptr %stack, i64 0, i64 %index
  %y = load i32, ptr %p, align 4
  %v = extractvalue { i32, i1 } %agg, 0
  %r = xor i32 %y, %v
  ret i32 %r
}";
    let halves = bytes((0..36u16).map(|k| 0x3c00 + k * 64), u16::to_le_bytes);
    let args = vec![
        Arg::Index,
        Arg::Varying(words(scattered(36).map(|x| x << 7))),
        Arg::Varying(halves),
        Arg::Uniform(0x7000_0000),
    ];
    kernel(text, args, 0..36, 4).judge();
}

/// Found by random programs: the end of the stack was aligned for no vector once memory of a size known at run time
/// was there.
#[test]
fn vectors_that_are_passed_on_the_stack_are_aligned_behind_memory_of_variable_size() {
    let text = "define i32 @kernel(i32 %i, i32 %n, i32 %x, i32 %y, i32 %z) {
entry:
  %few = and i32 %n, 7
  %count = add i32 %few, 1
  %memory = alloca i32, i32 %count, align 4
  store i32 %x, ptr %memory
  %a = call i32 @sum(i32 %x, i32 %y, i32 %z, i32 %i)
  %more = alloca i8, i32 %count, align 1
  store i8 3, ptr %more
  %b = call i32 @sum(i32 %a, i32 %x, i32 %y, i32 %z)
  %c = load i32, ptr %memory
  %d = load i8, ptr %more
  %wide = zext i8 %d to i32
  %bc = add i32 %b, %c
  %r = xor i32 %bc, %wide
  ret i32 %r
}
define internal i32 @sum(i32 %a, i32 %b, i32 %c, i32 %d) noinline {
  %ab = mul i32 %a, %b
  %abc = sub i32 %ab, %c
  %r = xor i32 %abc, %d
  ret i32 %r
}";
    let varying = || Arg::Varying(words(scattered(70)));
    let kernel = kernel(text, vec![Arg::Index, Arg::Uniform(5), varying(), varying(), varying()], 0..70, 4);
    kernel.judge();
    if kernels::llvm_is_there() {
        for (cpu, width) in [("haswell", 32), ("x86-64-v2", 16), ("x86-64-v2", 64)] {
            kernel.judge_for((width, Linearize::Partial, Boscc::Off, ""), &Cpu::named(cpu));
        }
    }
}

// ---- 13: memory that other lanes write ---------------------------------------------------------------------------

#[test]
fn a_load_from_a_uniform_address_sees_what_other_lanes_stored_before() {
    let text = "define i32 @kernel(i32 %i, i32 %x, ptr %p) {
entry:
  %v = load i32, ptr %p, align 4
  %c = icmp ult i32 %x, 6
  br i1 %c, label %write, label %read
write:
  store i32 %i, ptr %p, align 4
  br label %read
read:
  %w = load i32, ptr %p, align 4
  %odd = trunc i32 %x to i1
  br i1 %odd, label %again, label %end
again:
  %s = add i32 %w, %x
  store i32 %s, ptr %p, align 4
  %t = load i32, ptr %p, align 4
  br label %end
end:
  %y = phi i32 [ %w, %read ], [ %t, %again ]
  %d = sub i32 %y, %v
  ret i32 %d
}";
    let args = vec![Arg::Index, Arg::Varying(words((0..16).map(|k| k * 7 % 11))), Arg::Buffer(words([1000]))];
    kernel(text, args, 0..16, 4).judge_in_lockstep();
}

#[test]
fn masks_and_values_of_one_iteration_are_not_those_of_the_next() {
    let text = "define i32 @kernel(i32 %i, i32 %x) {
entry:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k.next, %latch ]
  %s = phi i32 [ 0, %entry ], [ %s.next, %latch ]
  %mixed = xor i32 %k, %x
  %low = and i32 %mixed, 3
  %c = icmp eq i32 %low, 1
  br i1 %c, label %then, label %latch
then:
  %d = icmp ugt i32 %mixed, 5
  br i1 %d, label %deep, label %latch
deep:
  %m = mul i32 %mixed, %mixed
  br label %latch
latch:
  %add = phi i32 [ 1, %loop ], [ %mixed, %then ], [ %m, %deep ]
  %s.next = add i32 %s, %add
  %k.next = add i32 %k, 1
  %more = icmp ult i32 %k.next, %x
  br i1 %more, label %loop, label %end
end:
  ret i32 %s.next
}";
    kernel(text, vec![Arg::Index, Arg::Varying(words((0..40).map(|k| k * 5 % 23)))], 0..40, 4).judge();
}

// ---- the judge ---------------------------------------------------------------------------------------------------

/// Lanes in lockstep and one lane after the other leave different memory here.
#[test]
#[should_panic(expected = "left == right")]
fn machine_code_that_does_something_else_is_noticed() {
    let text = "define void @kernel(i32 %i, ptr %p, ptr %a) {
  %x = load i32, ptr %p, align 4
  %y = add i32 %x, %i
  store i32 %y, ptr %p, align 4
  ret void
}";
    if !kernels::llvm_is_there() {
        panic!("left == right: nothing to be noticed without LLVM");
    }
    kernel(text, vec![Arg::Index, Arg::Buffer(words([0])), Arg::Uniform(0)], 0..16, 0).judge();
}
