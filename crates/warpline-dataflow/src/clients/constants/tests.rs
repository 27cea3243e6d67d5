use std::collections::BTreeMap;

use super::fold::{self, Float};
use super::*;
use crate::clients::intrinsics::Intrinsic;
use crate::clients::numbers::{mask, signed};
use warpline_ir::{BinaryOp, FloatPred, InstFlags};

const BITS: u32 = 4;

/// The exact result of an operation on numbers, and whether the operation is defined.
fn exact(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    match op {
        BinaryOp::Add => Some(a + b),
        BinaryOp::Sub => Some(a - b),
        BinaryOp::Mul => Some(a * b),
        _ => None,
    }
}

#[test]
fn sums_differences_and_products_are_exact_modulo_the_width_and_poison_where_flags_are_broken() {
    for op in [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul] {
        for (a, b) in pairs() {
            let u = exact(op, a as i64, b as i64).expect("arithmetic");
            let s = exact(op, signed(a, BITS) as i64, signed(b, BITS) as i64).expect("arithmetic");
            let wrapped = u.rem_euclid(16) as u128;
            let of = |flags| fold::binary(op, flags, BITS, a, b);
            assert_eq!(of(InstFlags::empty()), Some(wrapped), "{op:?} {a} {b}");
            assert_eq!(of(InstFlags::NUW), (0..16).contains(&u).then_some(wrapped), "{op:?} nuw {a} {b}");
            assert_eq!(of(InstFlags::NSW), (-8..8).contains(&s).then_some(wrapped), "{op:?} nsw {a} {b}");
        }
    }
}

fn pairs() -> impl Iterator<Item = (u128, u128)> {
    (0..16).flat_map(|a| (0..16).map(move |b| (a, b)))
}

#[test]
fn divisions_and_shifts_do_what_their_definitions_say() {
    let none = InstFlags::empty();
    for (a, b) in pairs() {
        let (x, y) = (signed(a, BITS) as i64, signed(b, BITS) as i64);
        let of = |op, flags| fold::binary(op, flags, BITS, a, b);
        let low = |v: i64| v.rem_euclid(16) as u128;
        let defined = b != 0;
        assert_eq!(of(BinaryOp::UDiv, none), defined.then(|| a / b.max(1)));
        assert_eq!(of(BinaryOp::URem, none), defined.then(|| a % b.max(1)));
        assert_eq!(
            of(BinaryOp::UDiv, InstFlags::EXACT),
            (defined && a % b.max(1) == 0).then(|| a / b.max(1))
        );
        let signed_defined = defined && !(x == -8 && y == -1);
        let divisor = if y == 0 { 1 } else { y };
        assert_eq!(of(BinaryOp::SDiv, none), signed_defined.then(|| low(x / divisor)), "{x} / {y}");
        assert_eq!(of(BinaryOp::SRem, none), signed_defined.then(|| low(x % divisor)), "{x} % {y}");
        let by = (b < 4).then_some(b as u32);
        assert_eq!(of(BinaryOp::Shl, none), by.map(|s| (a << s) % 16));
        assert_eq!(of(BinaryOp::Shl, InstFlags::NUW), by.filter(|s| a << s < 16).map(|s| a << s));
        let fits = |s: &u32| (-8..8).contains(&(x << s));
        assert_eq!(of(BinaryOp::Shl, InstFlags::NSW), by.filter(fits).map(|s| low(x << s)));
        assert_eq!(of(BinaryOp::LShr, none), by.map(|s| a >> s));
        assert_eq!(of(BinaryOp::AShr, none), by.map(|s| low(x >> s)));
        let whole = |s: &u32| a % (1 << s) == 0;
        assert_eq!(of(BinaryOp::AShr, InstFlags::EXACT), by.filter(whole).map(|s| low(x >> s)));
        assert_eq!(of(BinaryOp::Or, InstFlags::DISJOINT), (a & b == 0).then_some(a | b));
    }
}

#[test]
fn comparisons_order_unsigned_and_signed_numbers() {
    for (a, b) in pairs() {
        let (x, y) = (signed(a, BITS), signed(b, BITS));
        let expected = BTreeMap::from([
            (IntPred::Eq, a == b),
            (IntPred::Ne, a != b),
            (IntPred::Ugt, a > b),
            (IntPred::Uge, a >= b),
            (IntPred::Ult, a < b),
            (IntPred::Ule, a <= b),
            (IntPred::Sgt, x > y),
            (IntPred::Sge, x >= y),
            (IntPred::Slt, x < y),
            (IntPred::Sle, x <= y),
        ]);
        assert_eq!(expected.len(), IntPred::ALL.len());
        for (pred, holds) in expected {
            assert_eq!(fold::compare(pred, BITS, a, b), holds, "{pred:?} {a} {b}");
        }
    }
}

#[test]
fn functions_on_integers_do_what_their_definitions_say() {
    use Intrinsic::*;
    let of = |f, args: &[u128]| fold::intrinsic(f, BITS, BITS, args);
    for (a, b) in pairs() {
        let (x, y) = (signed(a, BITS) as i64, signed(b, BITS) as i64);
        let low = |v: i64| Some(v.rem_euclid(16) as u128);
        assert_eq!(of(SMax, &[a, b]), low(x.max(y)));
        assert_eq!(of(SMin, &[a, b]), low(x.min(y)));
        assert_eq!(of(UMax, &[a, b]), Some(a.max(b)));
        assert_eq!(of(UMin, &[a, b]), Some(a.min(b)));
        assert_eq!(of(SAddSat, &[a, b]), low((x + y).clamp(-8, 7)));
        assert_eq!(of(SSubSat, &[a, b]), low((x - y).clamp(-8, 7)), "{x} - {y}");
        assert_eq!(of(UAddSat, &[a, b]), Some((a + b).min(15)));
        assert_eq!(of(USubSat, &[a, b]), Some(a.saturating_sub(b)));
        assert_eq!(of(SCmp, &[a, b]), low(x.cmp(&y) as i64));
        assert_eq!(of(UCmp, &[a, b]), low(a.cmp(&b) as i64));
        let strict = b & 1;
        assert_eq!(of(Abs, &[a, strict]), if x == -8 && strict == 1 { None } else { low(x.abs()) });
        let zero_is_poison = a == 0 && strict == 1;
        let digits = format!("{a:04b}");
        let leading = digits.chars().take_while(|&c| c == '0').count() as u128;
        let trailing = digits.chars().rev().take_while(|&c| c == '0').count() as u128;
        assert_eq!(of(CtLz, &[a, strict]), (!zero_is_poison).then_some(leading));
        assert_eq!(of(CtTz, &[a, strict]), (!zero_is_poison).then_some(trailing));
        assert_eq!(of(CtPop, &[a]), Some(digits.chars().filter(|&c| c == '1').count() as u128));
        let reversed: String = digits.chars().rev().collect();
        assert_eq!(of(BitReverse, &[a]), u128::from_str_radix(&reversed, 2).ok());
        for by in 0..16u32 {
            let double = a << 4 | b;
            let turned = double << (by % 4) >> 4 & mask(BITS);
            assert_eq!(of(FunnelLeft, &[a, b, by.into()]), Some(turned), "{a} {b} {by}");
            assert_eq!(of(FunnelRight, &[a, b, by.into()]), Some(double >> (by % 4) & mask(BITS)));
        }
    }
    assert_eq!(fold::intrinsic(BSwap, 32, 32, &[0x1234_5678]), Some(0x7856_3412));
}

#[test]
fn overflow_is_found_at_every_width() {
    for (bits, a, b) in [(64, 1u128 << 63, 2u128), (128, 1 << 127, 2), (128, u128::MAX, u128::MAX), (1, 1, 1)]
    {
        let (_, unsigned, _) = fold::arithmetic(BinaryOp::Mul, bits, a, b);
        assert_eq!(unsigned, bits != 1, "{bits} {a} {b}");
    }
    assert_eq!(fold::arithmetic(BinaryOp::Add, 128, u128::MAX, 1), (0, true, false));
    assert_eq!(fold::arithmetic(BinaryOp::Sub, 128, 1 << 127, 1), (mask(127), false, true));
}

#[test]
fn floating_point_results_are_those_of_the_machine_and_never_what_machines_differ_in() {
    let f = |x: f32| u128::from(x.to_bits());
    let kind = FloatKind::Float;
    let none = InstFlags::empty();
    for a in [0.1f32, -0.0, 1.5e-40, 3.0e38, 7.25] {
        for b in [0.3f32, 0.0, -2.5, 1e-45, 1e38] {
            let is = |v: f32| if v.is_nan() { Float::Unknown } else { Float::Is(f(v)) };
            assert_eq!(fold::float_binary(BinaryOp::FAdd, none, kind, f(a), f(b)), is(a + b));
            assert_eq!(fold::float_binary(BinaryOp::FMul, none, kind, f(a), f(b)), is(a * b));
            assert_eq!(fold::float_binary(BinaryOp::FDiv, none, kind, f(a), f(b)), is(a / b));
            assert_eq!(fold::float_binary(BinaryOp::FRem, none, kind, f(a), f(b)), is(a % b));
        }
    }
    let infinite = fold::float_binary(BinaryOp::FDiv, InstFlags::NINF, kind, f(1.0), f(0.0));
    assert_eq!(infinite, Float::Poison);
    assert_eq!(fold::float_binary(BinaryOp::FAdd, InstFlags::REASSOC, kind, f(1.0), f(2.0)), Float::Unknown);
    assert_eq!(fold::float_binary(BinaryOp::FAdd, none, FloatKind::Half, 0, 0), Float::Unknown);
    let nan = f(f32::NAN);
    assert_eq!(fold::float_compare(FloatPred::Une, none, kind, nan, nan), Float::Is(1));
    assert_eq!(fold::float_compare(FloatPred::Oeq, none, kind, nan, nan), Float::Is(0));
    assert_eq!(fold::float_to_int(kind, f(255.9), 8, false), Float::Is(255));
    assert_eq!(fold::float_to_int(kind, f(256.0), 8, false), Float::Poison);
    assert_eq!(fold::float_to_int(kind, f(-128.9), 8, true), Float::Is(128));
    assert_eq!(fold::float_to_int(kind, nan, 8, true), Float::Poison);
    assert_eq!(fold::int_to_float(kind, 8, 255, true), Float::Is(f(-1.0)));
}

#[test]
fn facts_form_the_lattice_of_wegman_and_zadeck() {
    let facts = [Fact::Nothing, Fact::Is(Known::bool(true)), Fact::Is(Known::bool(false)), Fact::Anything];
    let met = |a: Fact, b: Fact| {
        let mut met = a;
        assert_eq!(met.meet(&b), met != a);
        met
    };
    for a in facts {
        assert_eq!(met(Fact::Nothing, a), a);
        assert_eq!(met(Fact::Anything, a), Fact::Anything);
        for b in facts {
            assert_eq!(met(a, b), met(b, a));
            for c in facts {
                assert_eq!(met(met(a, b), c), met(a, met(b, c)));
            }
        }
    }
    assert_eq!(met(facts[1], facts[2]), Fact::Anything);
}

/// What is known in a block without branches, by the names of values.
fn straight(text: &str) -> BTreeMap<String, Fact> {
    struct Facts<'a>(&'a mut [Fact], &'a [Variable], &'a [Variable]);
    impl ForwardFacts<Fact> for Facts<'_> {
        fn before(&self, operand: usize) -> &Fact {
            &self.0[self.1[operand].index()]
        }
        fn define(&mut self, result: usize, fact: Fact) {
            self.0[self.2[result].index()] = fact;
        }
        fn refine(&mut self, _: usize, _: Fact) {}
    }
    let module = warpline_ir::text::parse_module(text).expect("well-formed");
    let func = module.functions.values().next().expect("a function");
    let code = Code::of(func);
    let problem = Constants::new(&module, func, &code);
    let program = code.program();
    let mut facts = vec![Fact::Nothing; program.variables()];
    program.on_entry().iter().for_each(|&v| facts[v.index()] = problem.on_entry(v));
    for at in (0..program.instructions() as u32).map(Instruction) {
        problem.instruction(at, &mut Facts(&mut facts, program.uses(at), program.definitions(at)));
    }
    let named = func.values.iter().filter(|(_, data)| !data.name.is_empty());
    named.map(|(v, data)| (data.name.to_string(), facts[code.variable(v).index()])).collect()
}

#[test]
fn casts_keep_their_promises_or_are_poison_and_a_choice_is_as_good_as_its_arms() {
    let facts = straight(
        "func @f(%x: i32, %c: i1) {
entry:
  %trunc: i8 = trunc i32 511
  %lossy: i8 = trunc nuw i32 511
  %wide: i32 = sext i8 200
  %zero: i32 = zext i8 200
  %negative: i32 = zext nneg i8 200
  %bits: float = bitcast i32 1065353216
  %chosen: i32 = select true, 3, %x
  %both: i32 = select %c, 3, 3
  %either: i32 = select %c, 3, 4
  %masked: i32 = and %x, 0
  %trap: i32 = udiv %x, 0
  %frozen: i32 = freeze 7
  %thawed: i32 = freeze %chosen
  %lost: i32 = freeze i32 poison
  %unknown: i32 = add undef, 1
  ret
}
",
    );
    let int = |bits, value| Fact::Is(Known::Int { bits, value });
    let expected = [
        ("trunc", int(8, 255)),
        ("lossy", Fact::Nothing),
        ("wide", int(32, 0xffff_ffc8)),
        ("zero", int(32, 200)),
        ("negative", Fact::Nothing),
        ("bits", Fact::Is(Known::Float { kind: FloatKind::Float, bits: 0x3f80_0000 })),
        ("chosen", int(32, 3)),
        ("both", int(32, 3)),
        ("either", Fact::Anything),
        ("masked", int(32, 0)),
        ("trap", Fact::Nothing),
        ("frozen", int(32, 7)),
        ("thawed", Fact::Anything),
        ("lost", Fact::Anything),
        ("unknown", Fact::Anything),
    ];
    for (name, fact) in expected {
        assert_eq!(facts[name], fact, "%{name}");
    }
}

#[test]
fn numbers_in_constant_memory_are_known_and_others_are_not() {
    let facts = straight(
        r#"constant @table: [4 x i8] align 1 = "\00\ffok"
global @counter: i32 align 4
declare @llvm.uadd.with.overflow.i8(i8, i8) -> { i8, i1 }
func @f() {
entry:
  %at: ptr = getelementptr [4 x i8], @table, i64 0, i64 1
  %byte: i8 = load %at, align 1
  %word: i16 = load %at, align 1
  %volatile: i8 = load volatile %at, align 1
  %beyond: i32 = load %at, align 1
  %counter: i32 = load @counter, align 4
  %same: i1 = icmp eq %at, @table
  %order: i1 = icmp ult %at, @table
  %others: i1 = icmp eq %at, @counter
  %pair: { i8, i1 } = call @llvm.uadd.with.overflow.i8(%byte, 2)
  %sum: i8 = extractvalue %pair [0]
  %wraps: i1 = extractvalue %pair [1]
  ret
}
"#,
    );
    let int = |bits, value| Fact::Is(Known::Int { bits, value });
    let expected = [
        ("byte", int(8, 0xff)),
        ("word", int(16, 0x6fff)),
        ("volatile", Fact::Anything),
        ("beyond", Fact::Anything),
        ("counter", Fact::Anything),
        ("same", int(1, 0)),
        ("order", Fact::Anything),
        ("others", Fact::Anything),
        ("sum", int(8, 1)),
        ("wraps", int(1, 1)),
    ];
    for (name, fact) in expected {
        assert_eq!(facts[name], fact, "%{name}");
    }
}
