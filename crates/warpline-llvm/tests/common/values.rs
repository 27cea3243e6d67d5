//! Values of every type, in machine code: vectors, structures and odd integers as arguments and results, in arrays of
//! the range driver and in memory.

use crate::kernels::{Arg, Kernel, bytes, words};

fn kernel(text: &str, args: Vec<Arg>, result: usize) -> Kernel {
    Kernel {
        text: text.to_owned(),
        args,
        range: 0..21,
        result,
        looped: false,
        contract: warpline_vectorize::Contract::Racy,
    }
}

/// Numbers that no arithmetic here rounds.
fn floats(n: u32) -> Vec<u8> {
    bytes((0..n).map(|k| (k * 7 % 31) as f32 - 9.5), f32::to_le_bytes)
}

#[test]
fn vectors_are_arguments_and_results() {
    let text = "
define <4 x float> @kernel(<4 x float> %a, float %x) {
  %one = insertelement <4 x float> poison, float %x, i32 0
  %all = shufflevector <4 x float> %one, <4 x float> poison, <4 x i32> zeroinitializer
  %p = fmul <4 x float> %a, %all
  %r = shufflevector <4 x float> %p, <4 x float> %a, <4 x i32> <i32 3, i32 0, i32 5, i32 6>
  ret <4 x float> %r
}";
    kernel(text, vec![Arg::Varying(floats(84)), Arg::Varying(floats(21))], 16).judge_in_machine_code();
}

#[test]
fn three_floats_take_the_room_of_four_in_arrays_and_in_memory() {
    let text = "
define <3 x float> @kernel(i64 %i, <3 x float> %a, ptr %in, ptr %out) {
  %from = getelementptr <3 x float>, ptr %in, i64 %i
  %x = load <3 x float>, ptr %from, align 16
  %c = fcmp olt <3 x float> %x, %a
  %m = select <3 x i1> %c, <3 x float> %a, <3 x float> %x
  %to = getelementptr <3 x float>, ptr %out, i64 %i
  store <3 x float> %m, ptr %to, align 16
  ret <3 x float> %m
}";
    let buffer = || Arg::Buffer(floats(84));
    kernel(text, vec![Arg::Index, Arg::Varying(floats(84)), buffer(), buffer()], 16).judge_in_machine_code();
}

#[test]
fn structures_are_arguments_and_results() {
    let text = "
define { i8, i32, <2 x i16> } @kernel({ i8, i32, <2 x i16> } %s, i32 %x) {
  %a = extractvalue { i8, i32, <2 x i16> } %s, 0
  %v = extractvalue { i8, i32, <2 x i16> } %s, 2
  %w = zext i8 %a to i32
  %c = icmp sgt i32 %x, 9
  br i1 %c, label %then, label %join
then:
  %y = add i32 %w, %x
  %t = insertvalue { i8, i32, <2 x i16> } %s, i32 %y, 1
  %n = mul <2 x i16> %v, %v
  %u = insertvalue { i8, i32, <2 x i16> } %t, <2 x i16> %n, 2
  br label %join
join:
  %r = phi { i8, i32, <2 x i16> } [ %s, %0 ], [ %u, %then ]
  ret { i8, i32, <2 x i16> } %r
}";
    let numbers: Vec<u8> = (0..252).collect();
    kernel(text, vec![Arg::Varying(numbers), Arg::Varying(words(0..21))], 12).judge_in_machine_code();
}

#[test]
fn members_of_members_are_read_and_replaced() {
    let text = "
define { i32, [2 x { i16, i32 }] } @kernel({ i32, [2 x { i16, i32 }] } %s, i32 %x) {
  %a = extractvalue { i32, [2 x { i16, i32 }] } %s, 1, 0, 1
  %b = extractvalue { i32, [2 x { i16, i32 }] } %s, 0
  %sum = add i32 %a, %b
  %t = insertvalue { i32, [2 x { i16, i32 }] } %s, i32 %sum, 1, 1, 1
  %c = icmp sgt i32 %x, 9
  br i1 %c, label %then, label %join
then:
  %inner = extractvalue { i32, [2 x { i16, i32 }] } %t, 1, 1
  %u = insertvalue { i32, [2 x { i16, i32 }] } %t, { i16, i32 } %inner, 1, 0
  br label %join
join:
  %r = phi { i32, [2 x { i16, i32 }] } [ %t, %0 ], [ %u, %then ]
  ret { i32, [2 x { i16, i32 }] } %r
}";
    let numbers: Vec<u8> = (0..420).map(|k| k as u8).collect();
    kernel(text, vec![Arg::Varying(numbers), Arg::Varying(words(0..21))], 20).judge_in_machine_code();
}

#[test]
fn structures_of_the_last_active_lane_stay_at_a_uniform_address() {
    let text = "
define void @kernel(i32 %i, ptr %out) {
  %odd = and i32 %i, 3
  %c = icmp eq i32 %odd, 1
  br i1 %c, label %then, label %end
then:
  %s = insertvalue { i32, <2 x i32> } poison, i32 %i, 0
  %v = insertelement <2 x i32> <i32 7, i32 7>, i32 %i, i32 1
  %t = insertvalue { i32, <2 x i32> } %s, <2 x i32> %v, 1
  store { i32, <2 x i32> } %t, ptr %out, align 8
  br label %end
end:
  ret void
}";
    kernel(text, vec![Arg::Index, Arg::Buffer(vec![1; 16])], 0).judge();
}

#[test]
fn vectors_that_overlap_are_stored_in_lane_order() {
    let text = "
define void @kernel(i64 %i, ptr %in, ptr %out) {
  %from = getelementptr i32, ptr %in, i64 %i
  %x = load <4 x i32>, ptr %from, align 4
  %to = getelementptr i32, ptr %out, i64 %i
  store <4 x i32> %x, ptr %to, align 4
  ret void
}";
    let args = |out: u32| vec![Arg::Index, Arg::Buffer(words(0..24)), Arg::Buffer(words(100..100 + out))];
    kernel(text, args(24), 0).judge();
}

#[test]
fn odd_and_very_wide_integers_in_registers_and_memory() {
    for (ty, size) in [("i24", 4), ("i7", 1), ("i48", 8), ("i100", 16), ("i1", 1)] {
        let text = format!(
            "
define {ty} @kernel(i64 %i, ptr %in, ptr %out) {{
  %from = getelementptr {ty}, ptr %in, i64 %i
  %x = load {ty}, ptr %from
  %y = mul {ty} %x, %x
  %z = xor {ty} %y, 1
  %to = getelementptr {ty}, ptr %out, i64 %i
  store {ty} %z, ptr %to
  ret {ty} %z
}}"
        );
        let numbers: Vec<u8> = (0..21)
            .flat_map(|k| {
                let mut one = vec![0; size];
                one[0] = if ty == "i1" { k & 1 } else { k };
                one
            })
            .collect();
        let args = vec![Arg::Index, Arg::Buffer(numbers), Arg::Buffer(vec![0; 21 * size])];
        kernel(&text, args, size).judge_in_machine_code();
    }
}

#[test]
fn quotients_wider_than_128_bits_under_a_mask() {
    let text = "
define i64 @kernel(i64 %x, i64 %y) {
  %c = icmp ne i64 %y, 0
  br i1 %c, label %then, label %join
then:
  %a = zext i64 %x to i256
  %s = shl i256 %a, 150
  %b = zext i64 %y to i256
  %q = udiv i256 %s, %b
  %h = lshr i256 %q, 140
  %t = trunc i256 %h to i64
  br label %join
join:
  %r = phi i64 [ 1, %0 ], [ %t, %then ]
  ret i64 %r
}";
    let numbers = |by: u64| Arg::Varying(bytes((0..21u64).map(|k| k * 12_345 % by), u64::to_le_bytes));
    kernel(text, vec![numbers(1 << 40), numbers(4)], 8).judge_in_machine_code();
}

#[test]
fn eighty_bit_and_quadruple_floats_compute_as_they_should() {
    for ty in ["x86_fp80", "fp128", "bfloat", "half"] {
        if ty == "x86_fp80" && !cfg!(target_arch = "x86_64") {
            continue;
        }
        let (to, from) = match ty {
            "bfloat" | "half" => ("fptrunc", "fpext"),
            _ => ("fpext", "fptrunc"),
        };
        let text = format!(
            "
define float @kernel(float %x, float %y) {{
  %c = fcmp ogt float %x, %y
  br i1 %c, label %then, label %join
then:
  %a = {to} float %x to {ty}
  %b = {to} float %y to {ty}
  %s = fadd {ty} %a, %b
  %p = fmul {ty} %s, %a
  %t = {from} {ty} %p to float
  br label %join
join:
  %r = phi float [ %x, %0 ], [ %t, %then ]
  ret float %r
}}"
        );
        let args =
            vec![Arg::Varying(floats(21)), Arg::Varying(bytes((0..21).map(|k| k as f32), f32::to_le_bytes))];
        kernel(&text, args, 4).judge_in_machine_code();
    }
}

#[test]
fn atomic_operations_happen_once_per_active_lane_in_lane_order() {
    let text = "
define i32 @kernel(i64 %i, i32 %x, ptr %counter, ptr %greatest) {
  %odd = and i32 %x, 3
  %c = icmp ne i32 %odd, 0
  br i1 %c, label %then, label %join
then:
  %ticket = atomicrmw add ptr %counter, i32 1 seq_cst
  %last = atomicrmw xchg ptr %greatest, i32 %x acq_rel
  fence seq_cst
  %pair = cmpxchg ptr %counter, i32 7, i32 9 seq_cst monotonic
  %found = extractvalue { i32, i1 } %pair, 0
  %s = add i32 %ticket, %last
  %t = mul i32 %s, 31
  %u = add i32 %t, %found
  br label %join
join:
  %r = phi i32 [ -1, %0 ], [ %u, %then ]
  ret i32 %r
}";
    let cell = || Arg::Buffer(words([3]));
    let args = vec![Arg::Index, Arg::Varying(words((0..21).map(|k| k * 7 % 10))), cell(), cell()];
    // Several operations one after the other: all lanes of a group make the first before any makes the second.
    kernel(text, args, 4).judge_in_lockstep();
    let one = text
        .replace("%pair = cmpxchg ptr %counter, i32 7, i32 9 seq_cst monotonic", "")
        .replace("%found = extractvalue { i32, i1 } %pair, 0", "%found = add i32 0, 0");
    let args = vec![Arg::Index, Arg::Varying(words((0..21).map(|k| k * 7 % 10))), cell(), cell()];
    kernel(&one, args, 4).judge();
}

#[test]
fn loops_that_exchange_until_they_succeed_end() {
    for (ty, op, arg) in [("i32", "add", "%x"), ("i32", "xor", "%x")] {
        let text = format!(
            "
define void @kernel(i64 %i, i32 %x, ptr %sum) {{
  %first = load atomic i32, ptr %sum monotonic, align 4
  br label %again
again:
  %old = phi i32 [ %first, %0 ], [ %seen, %again ]
  %new = {op} {ty} %old, {arg}
  %pair = cmpxchg ptr %sum, i32 %old, i32 %new acq_rel monotonic
  %seen = extractvalue {{ i32, i1 }} %pair, 0
  %ok = extractvalue {{ i32, i1 }} %pair, 1
  br i1 %ok, label %done, label %again
done:
  ret void
}}"
        );
        let args =
            vec![Arg::Index, Arg::Varying(words((0..21).map(|k| k * 77 % 10))), Arg::Buffer(words([3]))];
        kernel(&text, args, 0).judge();
    }
}

#[test]
fn atomic_operations_on_memory_of_each_lane() {
    for op in ["add", "sub", "and", "nand", "or", "xor", "max", "min", "umax", "umin", "xchg"] {
        let text = format!(
            "
define i32 @kernel(i64 %i, i32 %x, ptr %p) {{
  %at = getelementptr i32, ptr %p, i64 %i
  %c = icmp sgt i32 %x, 4
  br i1 %c, label %then, label %join
then:
  %old = atomicrmw {op} ptr %at, i32 %x monotonic
  br label %join
join:
  %r = phi i32 [ 5, %0 ], [ %old, %then ]
  ret i32 %r
}}"
        );
        let numbers = || words((0..21).map(|k| k * 77 % 10));
        let args = vec![Arg::Index, Arg::Varying(numbers()), Arg::Buffer(numbers())];
        kernel(&text, args, 4).judge();
    }
}
