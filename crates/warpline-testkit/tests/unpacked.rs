//! Bytes that become shorts and bytes again, vectorized, against the scalar functions: for all pairs of bytes.

use warpline_testkit::loop_pairs::{Given, LoopPair};
use warpline_vectorize::{Options, VectorizeError, width};

/// A loop over pairs of bytes.
const PAIRS: &str = "module \"m\"

declare @llvm.smin.i32(i32, i32) -> i32
declare @llvm.smax.i32(i32, i32) -> i32
declare @llvm.umax.i32(i32, i32) -> i32
declare @llvm.abs.i32(i32, i1) -> i32

func @pairs(%n: i64, %a: ptr noalias, %b: ptr noalias, %out: ptr noalias, %u: i8) {
entry:
  br loop(0)
loop:
  %i: i64 = phi
  %more: i1 = icmp ult %i, %n
  br %more, body, end
body:
  %pa: ptr = getelementptr i8, %a, %i
  %xa: i8 = load %pa, align 1
  %x: i32 = zext %xa
  %pb: ptr = getelementptr i8, %b, %i
  %xb: i8 = load %pb, align 1
  %y: i32 = zext %xb
  %w: i32 = zext %u
BODY
  %t: i8 = trunc %z
  %q: ptr = getelementptr i8, %out, %i
  store %t, %q, align 1
  br next
next:
  %next: i64 = add nuw nsw %i, 1
  br loop(%next)
end:
  ret
}
";

/// What is stored, and whether all between is computed in the order of unpacked bytes.
const BODIES: &[(&str, &str, bool)] = &[
    (
        "a product by 255",
        "  %p: i32 = mul %x, %y\n  %h: i32 = lshr %p, 8\n  %s: i32 = add %p, %h\n  %r: i32 = add %s, 1\n\
         \x20 %z: i32 = lshr %r, 8",
        true,
    ),
    (
        "a blend by a number that lanes share",
        "  %v: i32 = sub 255, %w\n  %p: i32 = mul %x, %w\n  %q0: i32 = mul %y, %v\n  %s: i32 = add %p, %q0\n\
         \x20 %r: i32 = add %s, 127\n  %z: i32 = udiv %r, 255",
        true,
    ),
    (
        "low bits that are no byte",
        "  %p: i32 = mul %x, %y\n  %s: i32 = lshr %p, 4\n  %z: i32 = xor %s, %w",
        true,
    ),
    (
        "a bounded sum",
        "  %p: i32 = mul %x, 3\n  %s: i32 = add %p, %y\n  %r: i32 = lshr %s, 1\n\
         \x20 %z: i32 = call @llvm.smin.i32(%r, 255)",
        true,
    ),
    (
        "a difference between bounds",
        "  %p: i32 = mul %x, 3\n  %s: i32 = sub %p, %y\n  %l: i32 = call @llvm.smax.i32(%s, 0)\n\
         \x20 %z: i32 = call @llvm.smin.i32(%l, 255)",
        true,
    ),
    (
        "a choice by a comparison of sums",
        "  %p: i32 = add %x, %y\n  %q0: i32 = mul %x, 2\n  %c: i1 = icmp ugt %p, %q0\n\
         \x20 %s: i32 = select %c, %p, %q0\n  %z: i32 = lshr %s, 1",
        true,
    ),
    (
        "a sum by weights",
        "  %p: i32 = mul %x, 9617\n  %q0: i32 = mul %y, 6735\n  %s: i32 = add %p, %q0\n\
         \x20 %r: i32 = add %s, 8192\n  %z: i32 = lshr %r, 14",
        true,
    ),
    (
        "a bounded difference by weights",
        "  %p: i32 = mul %x, 29711\n  %q0: i32 = mul %y, -12345\n  %s: i32 = add %p, %q0\n\
         \x20 %r: i32 = add %s, -70000\n  %t0: i32 = ashr %r, 4\n\
         \x20 %l: i32 = call @llvm.smax.i32(%t0, 0)\n  %z: i32 = call @llvm.smin.i32(%l, 255)",
        true,
    ),
    (
        "a product of 32 bits by a weight, with another one",
        "  %p: i32 = mul %x, 20000\n  %s: i32 = sub %p, %y\n  %r: i32 = shl %y, 14\n  %q0: i32 = sub %s, %r\n\
         \x20 %t0: i32 = xor %q0, 12345\n  %z: i32 = ashr %t0, 15",
        true,
    ),
    (
        "the number of the iteration",
        "  %k: i32 = trunc %i\n  %l: i32 = and %k, 255\n  %p: i32 = mul %x, %l\n  %z: i32 = lshr %p, 8",
        false,
    ),
];

/// A loop for so many lanes, and registers of so many bits.
fn pair(text: &str, lanes: u32, byte_sums: u32) -> Result<LoopPair, VectorizeError> {
    let machine = width::Machine { byte_sums, byte_shuffles: true, ..width::Machine::default() };
    let options = Options { machine, ..Options::new(lanes, Vec::new(), "lanes") };
    LoopPair::make(text, "pairs", &options)
}

/// What is stored for so many pairs, by both.
fn run(loops: &LoopPair, n: usize) -> [Vec<Option<u8>>; 2] {
    let first: Vec<u8> = (0..n).map(|k| (k >> 8) as u8).collect();
    let second: Vec<u8> = (0..n).map(|k| k as u8).collect();
    loops.run(&[
        Given::Number(n as u128),
        Given::Bytes(&first),
        Given::Bytes(&second),
        Given::Output(n),
        Given::Number(201),
    ])
}

#[test]
fn bytes_that_are_unpacked_and_packed_are_the_scalar_functions_for_all_pairs() {
    for &(what, body, is_web) in BODIES {
        let mut asked = 0;
        let text = PAIRS.replace("BODY", body);
        for (lanes, byte_sums) in [(16, 128), (32, 128), (32, 256), (64, 256), (64, 512)] {
            let loops = pair(&text, lanes, byte_sums).unwrap_or_else(|e| panic!("{what}: {e}"));
            asked += usize::from(loops.text().contains("packuswb"));
            for n in [0, 1, 100, 65536] {
                let [expected, found] = run(&loops, n);
                assert_eq!(expected, found, "{what}, {lanes} lanes, {byte_sums} bits, {n} pairs");
            }
        }
        assert_eq!(asked, if is_web { 5 } else { 0 }, "{what}");
    }
}

/// A loop over pixels of four bytes.
const PIXELS: &str = "module \"m\"

func @pairs(%n: i64, %a: ptr noalias, %b: ptr noalias, %out: ptr noalias, %u: i8) {
entry:
  br loop(0)
loop:
  %i: i64 = phi
  %more: i1 = icmp ult %i, %n
  br %more, body, end
body:
  %at: i64 = mul nuw nsw %i, 4
  %p0: ptr = getelementptr i8, %a, %at
  %x0: i8 = load %p0, align 1
  %p1: ptr = getelementptr i8, %p0, i64 1
  %x1: i8 = load %p1, align 1
  %p2: ptr = getelementptr i8, %p0, i64 2
  %x2: i8 = load %p2, align 1
  %y0: i32 = zext %x0
  %y1: i32 = zext %x1
  %y2: i32 = zext %x2
  %w0: i32 = mul %y0, 1868
  %w1: i32 = mul %y1, -9617
  %w2: i32 = mul %y2, 24899
  %s: i32 = add %w0, %w1
  %t: i32 = add %s, %w2
  %r: i32 = add %t, 8192
  %z: i32 = ashr %r, 14
  %s2: i32 = add %w1, %w2
  %z2: i32 = ashr %s2, 9
  %z3: i32 = xor %z, %z2
  %k: i8 = trunc %z3
  %q: ptr = getelementptr i8, %out, %i
  store %k, %q, align 1
  br next
next:
  %next: i64 = add nuw nsw %i, 1
  br loop(%next)
end:
  ret
}
";

/// What is stored for so many elements, each made of so many samples and giving so many bytes, by both.
fn run_samples(loops: &LoopPair, n: usize, samples: usize, bytes: usize) -> [Vec<Option<u8>>; 2] {
    let samples: Vec<u8> =
        (0..(samples * n) as u32).map(|k| (k.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    loops.run(&[
        Given::Number(n as u128),
        Given::Bytes(&samples),
        Given::Bytes(&samples),
        Given::Output(bytes * n),
        Given::Number(0),
    ])
}

#[test]
fn bytes_of_words_are_added_up_by_weights_where_the_words_are() {
    let mut asked = 0;
    for (lanes, byte_sums) in [(16, 128), (32, 128), (16, 256), (32, 256), (64, 256), (32, 512), (64, 512)] {
        let loops = pair(PIXELS, lanes, byte_sums).expect("it has vectors");
        asked += usize::from(loops.text().contains("pmadd"));
        for n in [0, 1, 31, 100, 3000] {
            let [expected, found] = run_samples(&loops, n, 4, 1);
            assert_eq!(expected, found, "{lanes} lanes, {byte_sums} bits, {n} pixels");
        }
    }
    assert_eq!(asked, 7);
}

/// A loop over pairs of samples, of which each has a weight of its own.
const SAMPLES: &str = "module \"m\"

func @pairs(%n: i64, %a: ptr noalias, %b: ptr noalias, %out: ptr noalias, %u: i8) {
entry:
  br loop(0)
loop:
  %i: i64 = phi
  %more: i1 = icmp ult %i, %n
  br %more, body, end
body:
  %at: i64 = mul nuw nsw %i, 2
  %p0: ptr = getelementptr i8, %a, %at
  %x0: i8 = load %p0, align 1
  %p1: ptr = getelementptr i8, %p0, i64 1
  %x1: i8 = load %p1, align 1
  %y0: i32 = zext %x0
  %y1: i32 = zext %x1
  %w0: i32 = mul %y0, 13000
  %w1: i32 = mul %y1, 9617
  %s0: i32 = add %w0, 8192
  %s1: i32 = add %w1, 300
  %r0: i32 = lshr %s0, 14
  %r1: i32 = lshr %s1, 14
  %k0: i8 = trunc %r0
  %k1: i8 = trunc %r1
  %q0: ptr = getelementptr i8, %out, %at
  store %k0, %q0, align 1
  %q1: ptr = getelementptr i8, %q0, i64 1
  store %k1, %q1, align 1
  br next
next:
  %next: i64 = add nuw nsw %i, 1
  br loop(%next)
end:
  ret
}
";

#[test]
fn weights_that_differ_between_members_stay_with_their_members() {
    for (lanes, byte_sums) in [(16, 128), (32, 256), (64, 256), (64, 512)] {
        let loops = pair(SAMPLES, lanes, byte_sums).expect("it has vectors");
        for n in [1, 100, 1000] {
            let [expected, found] = run_samples(&loops, n, 2, 2);
            assert_eq!(expected, found, "{lanes} lanes, {byte_sums} bits, {n} samples");
        }
    }
}
