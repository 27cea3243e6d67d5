//! Bytes that become shorts and bytes again, vectorized, against the scalar functions: for all pairs of bytes.

use warpline_interp::{Machine, Options as MachineOptions, Val};
use warpline_ir::text::{parse_module, print_module};
use warpline_ir::{FuncId, Module};
use warpline_vectorize::loops::{Unit, vectorize_loop};
use warpline_vectorize::{Options, declare_narrow_functions, width};

/// A loop over pairs of bytes.
const PAIRS: &str = "module \"m\"

declare @llvm.smin.i32(i32, i32) -> i32
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
        "  %p: i32 = mul %x, %y\n  %s: i32 = mul %p, 77\n  %r: i32 = xor %s, %w\n  %z: i32 = add %r, %y",
        true,
    ),
    (
        "a bounded sum",
        "  %p: i32 = mul %x, 3\n  %s: i32 = add %p, %y\n  %r: i32 = lshr %s, 1\n\
         \x20 %z: i32 = call @llvm.smin.i32(%r, 255)",
        true,
    ),
    (
        "a choice by a comparison of sums",
        "  %p: i32 = add %x, %y\n  %q0: i32 = mul %x, 2\n  %c: i1 = icmp ugt %p, %q0\n\
         \x20 %s: i32 = select %c, %p, %q0\n  %z: i32 = lshr %s, 1",
        true,
    ),
    (
        "the number of the iteration",
        "  %k: i32 = trunc %i\n  %l: i32 = and %k, 255\n  %p: i32 = mul %x, %l\n  %z: i32 = lshr %p, 8",
        false,
    ),
];

/// What is stored for so many pairs.
fn run(module: &Module, func: FuncId, n: usize) -> Vec<Option<u8>> {
    let options = MachineOptions { fuel: 1 << 28, ..MachineOptions::default() };
    let mut machine = Machine::with_options(module, options);
    let first: Vec<u8> = (0..n).map(|k| (k >> 8) as u8).collect();
    let second: Vec<u8> = (0..n).map(|k| k as u8).collect();
    let output = vec![0xaa; n];
    let mut place = |bytes: &[u8]| machine.memory.allocate_bytes(bytes, 16).expect("there is room");
    let [first, second, output] = [&first, &second, &output].map(|bytes| place(bytes));
    let code = machine.prepare_id(func);
    let arguments =
        [Val::int(n as u128), Val::ptr(first), Val::ptr(second), Val::ptr(output), Val::int(201)];
    machine.run_scalar(&code, &arguments).expect("it runs");
    machine.memory.read(output, n as u64).expect("it is there")
}

#[test]
fn bytes_that_are_unpacked_and_packed_are_the_scalar_functions_for_all_pairs() {
    for &(what, body, is_web) in BODIES {
        let mut asked = 0;
        let text = PAIRS.replace("BODY", body);
        for (lanes, byte_sums) in [(16, 128), (32, 128), (32, 256), (64, 256), (64, 512)] {
            let mut module = parse_module(&text).unwrap_or_else(|e| panic!("{what}: {e}\n{text}"));
            declare_narrow_functions(&mut module);
            let scalar = module.function("pairs").expect("it is there");
            let mut copy = module.functions[scalar].clone();
            copy.name = "vectors".into();
            let header = copy.layout[1];
            let copy = module.functions.push(copy);
            let machine = width::Machine { byte_sums, byte_shuffles: true, ..width::Machine::default() };
            let options = Options { machine, ..Options::new(lanes, Vec::new(), "lanes") };
            vectorize_loop(&mut module, copy, &Unit::new(header, lanes), &options)
                .unwrap_or_else(|e| panic!("{what}: {e}"));
            asked += usize::from(print_module(&module).contains("packuswb"));
            for n in [0, 1, 100, 65536] {
                let [expected, found] = [scalar, copy].map(|f| run(&module, f, n));
                assert_eq!(expected, found, "{what}, {lanes} lanes, {byte_sums} bits, {n} pairs");
            }
        }
        assert_eq!(asked, if is_web { 5 } else { 0 }, "{what}");
    }
}
