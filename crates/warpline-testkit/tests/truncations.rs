//! Integers that are made narrower by instructions that take any parts of two registers, against the scalar function:
//! all shorts, and words of which the parts differ.

use warpline_interp::{Machine, Val};
use warpline_ir::text::{parse_module, print_module};
use warpline_ir::{FuncId, Module};
use warpline_vectorize::driver::Tail;
use warpline_vectorize::loops::{Unit, vectorize_loop};
use warpline_vectorize::width;
use warpline_vectorize::{Options, Packing};

/// A loop that stores the low part of something, of `from` bits, as an integer of `to` bits.
fn program(from: u32, to: u32, body: &str) -> String {
    let body = body.replace("TY", &format!("i{from}"));
    format!(
        "module \"m\"

func @f(%n: i32, %a: ptr, %b: ptr) {{
entry:
  br loop(0)
loop:
  %i: i32 = phi
  %more: i1 = icmp slt %i, %n
  br %more, body, end
body:
  %wide: i64 = sext %i
  %p: ptr = getelementptr i{from}, %a, %wide
  %x: i{from} = load %p, align 1
{body}
  %t: i{to} = trunc %y
  %q: ptr = getelementptr i{to}, %b, %wide
  store %t, %q, align 1
  %i1: i32 = add nsw %i, 1
  br loop(%i1)
end:
  ret
}}
"
    )
}

/// Every short; of words as many, with other bits in their upper half.
fn operands(bits: u32, n: u32) -> Vec<u8> {
    let word = |k: u32| (k.wrapping_mul(0x9e37) << 16) | (k & 0xffff);
    (0..n).flat_map(|k| word(k).to_le_bytes().into_iter().take(bits as usize / 8)).collect()
}

fn outcome(module: &Module, func: FuncId, n: u32, from: u32, to: u32) -> Vec<Option<u8>> {
    let mut machine = Machine::new(module);
    let a = machine.memory.allocate_bytes(&operands(from, n), 64).expect("there is room");
    let size = n * to / 8 + 64;
    let b = machine.memory.allocate_bytes(&vec![0xee; size as usize], 64).expect("there is room");
    let code = machine.prepare_id(func);
    machine.run_scalar(&code, &[Val::int(n.into()), Val::ptr(a), Val::ptr(b)]).expect("it runs");
    machine.memory.read(b, size.into()).expect("it is there")
}

#[test]
fn parts_of_two_registers_are_what_conversions_give() {
    let bodies = [
        "%y: TY = add %x, 3",
        "%y: TY = lshr %x, 8",
        "%y: TY = ashr %x, 8",
        "%z: TY = mul %x, 77\n%y: TY = lshr %z, 8",
        "%y: TY = lshr %x, 5",
        "%z: TY = ashr %x, 8\n%s: TY = add %z, %z\n%y: TY = xor %s, %z",
    ];
    let wide = [
        "%y: TY = lshr %x, 16",
        // What is shifted exactly has no bits to lose.
        "%u: TY = and %x, -16777216\n%y: TY = lshr exact %u, 24",
        "%y: TY = lshr %x, 17",
    ];
    let mut by_parts = 0;
    for (from, to) in [(16, 8), (32, 8), (32, 16)] {
        for body in bodies.iter().chain(wide.iter().filter(|_| from == 32)) {
            let text = program(from, to, body);
            for width in [16, 32, 64] {
                let mut module = parse_module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
                let scalar = module.function("f").expect("it is there");
                let mut copy = module.functions[scalar].clone();
                copy.name = "copy".into();
                let header = copy.layout[1];
                let copy = module.functions.push(copy);
                let machine = width::Machine {
                    register_bits: 512,
                    packing: Packing::Everything,
                    ..width::Machine::default()
                };
                let unit = Unit { tail: Tail::Scalar, ..Unit::new(header, width) };
                let options = Options { machine, ..Options::new(width, Vec::new(), "lanes") };
                vectorize_loop(&mut module, copy, &unit, &options).unwrap_or_else(|e| panic!("{e}\n{text}"));
                let code = print_module(&module);
                let pairs = width * from >= 1024;
                // Where what is computed is narrowed before, there may be no pairs left.
                let converted = code.contains(&format!("<{width} x i{to}> = trunc"));
                assert!(converted || pairs, "{width} lanes\n{code}");
                by_parts += u32::from(!converted);
                let n = 0x10000 + 5;
                let [expected, found] = [scalar, copy].map(|f| outcome(&module, f, n, from, to));
                assert!(expected == found, "{width} lanes, {from} to {to}\n{text}\n{code}");
            }
        }
    }
    assert!(by_parts > 20, "only {by_parts} loops are made by parts");
}
