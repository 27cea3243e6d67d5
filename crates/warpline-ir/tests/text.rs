//! The text form: printer and parser are inverse, and the parser survives any text.

use warpline_ir::text::{ParseErrorKind, parse_module, print_module};
use warpline_ir::*;
use warpline_testkit::modules::{FunctionShape, module};
use warpline_testkit::rng::SplitMix64;

const EXAMPLE: &str = r#"module "kernel.ll"
triple "x86_64-unknown-linux-gnu"
layout "e-m:e-i64:64"
type %pair = { i32, float }
global @table: [2 x i8] align 1 = "\00A"
declare @sinf(float) -> float [reads]
declare @printf(ptr, ...) -> i32 [unknown convergent] #o4

func @f(%n: i32, %p: ptr, %v2: %pair) -> i32 #o1 !1 {
  var $acc: i32
  var $x1: float = undef
entry:
  br loop(0, true) !0
loop mask %m:
  %i: i32 = phi
  %m: i1 = phi
  %i.next: i32 = add nuw nsw %i, 1
  %v9: %pair = insertvalue zero, i32 7 [0]
  %"v1": float = call @sinf(0.5)
  %v10: float = fmul fast %"v1", -1e-7
  write $acc, -1
  %r: i32 = call @printf(@table+1, %v10, <4 x i1> <true, false, undef, poison>) variadic 1
  %a: i32, %b: float = copy %i, 0x7fc00000
  store volatile seq_cst %pair {1, 2.5}, %p, align 4
  %c: i1 = icmp samesign ult %i.next, %n
  br %c, loop(%i.next, %c), b7
b7:
  %q: i32 = opaque "atomicrmw" %p, i32 1 [reads writes atomic] #o12
  switch %q, true [-3: b7, 4: true] !1
true:
  ret %q
}

!0 = "kernel.c":3:7
!1 = "kernel.c":4:1 at !0
"#;

#[test]
fn the_printer_gives_back_what_the_parser_read() {
    let m = parse_module(EXAMPLE).expect("the example is well-formed");
    assert_eq!(print_module(&m), EXAMPLE);
    let f = &m.functions[FuncId::from_u32(0)];
    assert_eq!(f.values.values().filter(|v| &*v.name == "i.next").count(), 1);
    assert_eq!(f.ty(Value::from_u32(10)), Type::F32, "%v10 has the id 10");
    assert_eq!(f.block_name(Block::from_u32(7)), "b7");
}

#[test]
fn printing_what_was_parsed_from_print_gives_the_same_bytes() {
    let shape = FunctionShape::default();
    for seed in 0..400 {
        let m = module(&mut SplitMix64::new(seed), &shape);
        let text = print_module(&m);
        let back = parse_module(&text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        assert_eq!(print_module(&back), text, "seed {seed}");
        for (f, g) in m.functions.values().zip(back.functions.values()) {
            assert_same(f, g, seed);
        }
    }
}

/// What the text form does not show must survive too: kinds of operations, flags, types, constants.
fn assert_same(f: &Function, g: &Function, seed: u64) {
    assert_eq!(f.layout.len(), g.layout.len(), "seed {seed}");
    for (&a, &b) in f.layout.iter().zip(&g.layout) {
        for (i, j) in f.block_insts(a).zip(g.block_insts(b)) {
            let (i, j) = (&f.insts[i], &g.insts[j]);
            assert_eq!((&i.flags, &i.loc, &i.origin), (&j.flags, &j.loc, &j.origin), "seed {seed}");
            if !matches!(i.op, Op::Gep(_) | Op::Alloca { .. }) {
                assert_eq!(i.op, j.op, "seed {seed}");
            }
            for (&v, &w) in i.args.iter().zip(&j.args) {
                assert_eq!(f.constant(v).is_some(), g.constant(w).is_some(), "seed {seed}");
                if let (Some(Constant::Float { bits, .. }), Some(d)) = (f.constant(v), g.constant(w)) {
                    assert!(matches!(d, Constant::Float { bits: b, .. } if b == bits), "seed {seed}");
                }
            }
        }
    }
}

#[test]
fn no_text_makes_the_parser_panic() {
    let shape = FunctionShape { max_blocks: 4, max_insts: 4, ..FunctionShape::default() };
    let (mut accepted, mut rejected) = (0, 0);
    for seed in 0..1500 {
        let mut rng = SplitMix64::new(seed);
        let text = if seed % 3 == 0 { EXAMPLE.into() } else { print_module(&module(&mut rng, &shape)) };
        let mut bytes = text.into_bytes();
        for _ in 0..rng.between(1, 4) {
            mutate(&mut bytes, &mut rng);
        }
        let text = String::from_utf8_lossy(&bytes);
        match parse_module(&text) {
            Ok(m) => {
                accepted += 1;
                let printed = print_module(&m);
                let back = parse_module(&printed).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{printed}"));
                assert_eq!(print_module(&back), printed, "seed {seed}");
            }
            Err(e) => {
                rejected += 1;
                assert!(e.line >= 1 && e.column >= 1);
            }
        }
    }
    assert!(accepted > 30 && rejected > 300, "vacuous: {accepted} accepted, {rejected} rejected");
}

fn mutate(bytes: &mut Vec<u8>, rng: &mut SplitMix64) {
    const PIECES: [&str; 16] = [
        "%v7",
        "b1",
        "[",
        "(",
        "}",
        "\n",
        "%pair",
        "<4 x i32>",
        "-1",
        "0x",
        "\"",
        "{",
        "phi",
        "!0",
        "#o1",
        ", ",
    ];
    let at = rng.below(bytes.len() + 1);
    let end = (at + rng.below(12)).min(bytes.len());
    match rng.below(4) {
        0 => {
            bytes.drain(at..end);
        }
        1 => {
            bytes.splice(at..at, rng.pick(&PIECES).bytes());
        }
        2 if at < bytes.len() => bytes[at] = rng.next_u64() as u8,
        _ => {
            let piece: Vec<u8> = bytes[at..end].to_vec();
            let to = rng.below(bytes.len() + 1);
            bytes.splice(to..to, piece);
        }
    }
}

#[test]
fn errors_say_where_and_what() {
    let case = |text: &str| {
        let e = parse_module(text).expect_err("the text is wrong");
        (e.line, e.column, e.kind)
    };
    let unknown = |what, name: &str| ParseErrorKind::Unknown { what, name: name.into() };
    assert_eq!(
        case("func @f() {\nentry:\n  %a: i32 = add %b, 1\n  ret\n}\n"),
        (3, 17, unknown("value", "%b"))
    );
    assert_eq!(case("func @f() {\nentry:\n  br next\n}\n"), (3, 6, unknown("block", "next")));
    assert_eq!(
        case("func @f() {\nentry:\n  br b1\nb1:\n  %p: i32 = phi\n  ret\n}"),
        (3, 6, ParseErrorKind::PhiOperands { found: 0, expected: 1 })
    );
    assert_eq!(
        case("func @f(%a: i32, %a: i32) {\n}\n"),
        (1, 18, ParseErrorKind::Duplicate { what: "value", name: "a".into() })
    );
    assert_eq!(
        case("func @f() {\nb0:\n  %a: i8 = add 256, 1\n  ret\n}\n"),
        (3, 16, ParseErrorKind::BadNumber("256".into()))
    );
    assert_eq!(
        case("func @f() {\nb0:\n  store 1, %p, align 4\n  ret\n}\n"),
        (3, 9, ParseErrorKind::UntypedConstant)
    );
    assert_eq!(case("func @f() {\nb0:\n  ret !4\n}\n"), (3, 7, unknown("location", "!4")));
    assert_eq!(case("func @f() {\nb0:\n  ret\n  ret\n}\n"), (4, 3, ParseErrorKind::OutOfPlace));
    assert_eq!(case("func @f(%v99999999: i32) {\n}\n"), (1, 9, ParseErrorKind::IdTooLarge(99_999_999)));
    let deep = format!("global @g: {}i8{} align 1", "[1 x ".repeat(5000), "]".repeat(5000));
    assert_eq!(case(&deep).2, ParseErrorKind::TooDeep);
    let e = parse_module("global @g: i32 align x").expect_err("an alignment is a number");
    assert_eq!(e.to_string(), "1:22: expected a number, found \"x\"");
}
