//! Narrowing: each rule for all bytes and, with one operand from a few, for all shorts; and random programs.

use warpline_interp::{LaneSet, Machine, Options as MachineOptions, Val};
use warpline_ir::{Function, Module, Op, Type};
use warpline_testkit::byte_programs;
use warpline_testkit::differential::{Form, Outcome, Setup, compare_all, shape_of};
use warpline_testkit::environment::number;
use warpline_testkit::programs::{Inputs, Program, shrink};
use warpline_testkit::rng::SplitMix64;
use warpline_uniformity::shape::ArgShape;
use warpline_vectorize::passes::run_named;
use warpline_vectorize::{Options, declare_narrow_functions};

/// A function of two narrow integers, of which the second may be the same in all lanes.
fn function(params: &str, ret: &str, body: &str) -> Module {
    let functions: String = ["umin", "umax", "smin", "smax", "usub.sat"]
        .iter()
        .flat_map(|name| {
            [16, 32].map(|bits| format!("declare @llvm.{name}.i{bits}(i{bits}, i{bits}) -> i{bits}\n"))
        })
        .collect();
    let text = format!(
        "module \"narrow\"\n\n{functions}declare @llvm.abs.i32(i32, i1) -> i32\n\nfunc @f({params}) -> {ret} \
         {{\nentry:\n{body}\n  ret %r\n}}\n"
    );
    let mut module = warpline_ir::text::parse_module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    declare_narrow_functions(&mut module);
    module
}

/// The function behind the pass, with the second operand of this shape.
fn narrowed(module: &Module, second: ArgShape) -> Function {
    let func = &module.functions[module.function("f").expect("the function")];
    let options = Options::new(8, vec![ArgShape::Varying, second], "vector");
    run_named(module, func, &["@narrow-integers"], &options).unwrap_or_else(|e| panic!("{e}"))
}

/// The greatest width of what a function computes with.
fn widest(func: &Function) -> u32 {
    let insts = func.layout.iter().flat_map(|&b| func.blocks[b].insts.iter());
    let varies = |i: &&warpline_ir::Inst| !matches!(func.insts[**i].op, Op::Load(_) | Op::Gep(_));
    insts
        .filter(varies)
        .flat_map(|&i| &func.insts[i].results)
        .filter_map(|&v| func.ty(v).int_bits())
        .max()
        .unwrap_or(0)
}

/// Whether a function and its narrowed form give the same for these operands; where the function gives poison, the
/// other may give anything.
fn assert_same(module: &Module, narrow: &Function, operands: impl Iterator<Item = (u128, u128)>) {
    let func = &module.functions[module.function("f").expect("the function")];
    let options = MachineOptions { fuel: u64::MAX, ..MachineOptions::default() };
    let mut machine = Machine::with_options(module, options);
    let (wide, narrow_code) = (machine.prepare(func), machine.prepare(narrow));
    for (a, b) in operands {
        let args = [Val::int(a), Val::int(b)];
        let before = machine.run_scalar(&wide, &args).unwrap_or_else(|trap| panic!("{a} {b}: {trap:?}"));
        let after =
            machine.run_scalar(&narrow_code, &args).unwrap_or_else(|trap| panic!("{a} {b}: {trap:?}"));
        assert!(before.refined_by(&after), "{a} {b}: {before:?} became {after:?}\n{}", module.name);
    }
}

/// Rules by their bodies: `%x` and `%y` are the operands, extended to `i32`.
const RULES: &[(&str, &str)] = &[
    ("saturating sum", "%s: i32 = add %x, %y\n%m: i32 = call @llvm.umin.i32(%s, GREATEST)"),
    ("saturating sum, signed minimum", "%s: i32 = add %x, %y\n%m: i32 = call @llvm.smin.i32(%s, GREATEST)"),
    ("saturating difference", "%s: i32 = sub %x, %y\n%m: i32 = call @llvm.smax.i32(%s, 0)"),
    ("remainder of maximum", "%s: i32 = call @llvm.umax.i32(%x, %y)\n%m: i32 = sub %s, %y"),
    ("saturating difference of more bits", "%m: i32 = call @llvm.usub.sat.i32(%x, %y)"),
    ("average", "%s: i32 = add %x, %y\n%t: i32 = add %s, 1\n%m: i32 = lshr %t, 1"),
    (
        "average of a number and the next one",
        "%s: i32 = add %x, 1\n%t: i32 = add %s, %y\n%m: i32 = ashr %t, 1",
    ),
    ("remainder of minimum", "%s: i32 = call @llvm.umin.i32(%y, %x)\n%m: i32 = sub %x, %s"),
    (
        "signed saturation",
        "%s: i32 = add %x, %y\n%l: i32 = call @llvm.smax.i32(%s, LEAST)\n\
         %m: i32 = call @llvm.smin.i32(%l, MIDDLE)",
    ),
    (
        "signed saturation of a difference",
        "%s: i32 = sub %x, %y\n%l: i32 = call @llvm.smin.i32(%s, MIDDLE)\n\
         %m: i32 = call @llvm.smax.i32(%l, LEAST)",
    ),
    ("distance", "%s: i32 = sub %x, %y\n%m: i32 = call @llvm.abs.i32(%s, false)"),
    (
        "chosen distance",
        "%c: i1 = icmp ugt %a, %b\n%s: i32 = sub %x, %y\n%t: i32 = sub %y, %x\n%m: i32 = select %c, %s, %t",
    ),
    (
        "chosen distance of signed numbers",
        "%c: i1 = icmp sle %x, %y\n%s: i32 = sub %x, %y\n%t: i32 = sub %y, %x\n%m: i32 = select %c, %t, %s",
    ),
    ("minimum", "%m: i32 = call @llvm.smin.i32(%x, %y)"),
    ("maximum", "%m: i32 = call @llvm.umax.i32(%x, %y)"),
    ("comparison", "%c: i1 = icmp slt %x, %y\n%m: i32 = select %c, %x, 7"),
    ("comparison, unsigned", "%c: i1 = icmp uge %x, %y\n%m: i32 = select %c, 3, %y"),
    ("difference above zero", "%s: i32 = sub %x, %y\n%c: i1 = icmp sgt %s, 0\n%m: i32 = select %c, %x, 7"),
    ("difference that is zero", "%s: i32 = sub %y, %x\n%c: i1 = icmp eq %s, 0\n%m: i32 = select %c, 1, %y"),
    (
        "difference up to zero",
        "%s: i32 = sub nsw %x, %y\n%c: i1 = icmp sle %s, 0\n%m: i32 = select %c, %y, 9",
    ),
    ("low bits of a shift", "%s: i32 = xor %x, %y\n%l: i32 = shl %s, 3\n%m: i32 = add %l, %x"),
];

/// The same where products and quotients of bytes go through shorts.
const RULES_BY_SHORTS: &[(&str, &str)] = &[
    (
        "weighted sum",
        "%s: i32 = mul %x, 77\n%t: i32 = mul %y, 150\n%u: i32 = add %s, %t\n%m: i32 = lshr %u, 8",
    ),
    ("mean", "%s: i32 = add %x, %y\n%t: i32 = add %s, 1\n%m: i32 = ashr %t, 1"),
    ("arithmetic shift", "%s: i32 = sub %x, %y\n%m: i32 = ashr %s, 2"),
    ("division", "%s: i32 = mul %x, %y\n%m: i32 = udiv %s, 255"),
    ("signed division", "%s: i32 = add %x, %y\n%m: i32 = sdiv %s, 3"),
    (
        "blend",
        "%n: i32 = xor %y, 255\n%s: i32 = mul %x, %y\n%t: i32 = mul %n, %x\n%u: i32 = add %s, %t\n\
         %v: i32 = add %u, 127\n%m: i32 = udiv %v, 255",
    ),
    ("absolute value", "%s: i32 = sub %x, %y\n%t: i32 = call @llvm.abs.i32(%s, true)\n%m: i32 = lshr %t, 1"),
];

/// Rules that hold behind a branch on how `%d`, which is `%x - %y`, compares with zero.
const RULES_UNDER_CONDITIONS: &[(&str, &str, &str)] = &[
    ("saturating sum", "sgt", "%s: i32 = add %x, %d\n%m: i32 = call @llvm.umin.i32(%s, GREATEST)"),
    (
        "saturating sum, signed minimum",
        "sge",
        "%s: i32 = add %d, %y\n%m: i32 = call @llvm.smin.i32(%s, GREATEST)",
    ),
    ("saturating difference", "sgt", "%s: i32 = sub %y, %d\n%m: i32 = call @llvm.smax.i32(%s, 0)"),
    ("minimum", "sgt", "%m: i32 = call @llvm.umin.i32(%d, %y)"),
    ("comparison", "sge", "%k: i1 = icmp ult %d, %y\n%m: i32 = select %k, %x, 7"),
    ("shift", "sge", "%m: i32 = lshr %d, 1"),
];

/// A function of one of these rules.
fn conditional_rule(bits: u32, extension: &str, pred: &str, body: &str) -> Module {
    let body = body.replace("GREATEST", &((1i64 << bits) - 1).to_string());
    let int = format!("i{bits}");
    let text = format!(
        "%x: i32 = {extension} %a\n%y: i32 = {extension} %b\n%d: i32 = sub %x, %y\n%c: i1 = icmp {pred} %d, 0\n\
         br %c, then, end(%a)\nthen:\n{body}\n%t: {int} = trunc %m\nbr end(%t)\nend:\n%r: {int} = phi"
    );
    function(&format!("%a: {int}, %b: {int}"), &int, &text)
}

fn rule(bits: u32, extension: &str, body: &str) -> Module {
    let body = body
        .replace("GREATEST", &((1i64 << bits) - 1).to_string())
        .replace("MIDDLE", &((1i64 << (bits - 1)) - 1).to_string())
        .replace("LEAST", &(-(1i64 << (bits - 1))).to_string());
    let begin = format!("%x: i32 = {extension} %a\n%y: i32 = {extension} %b\n");
    let int = format!("i{bits}");
    function(&format!("%a: {int}, %b: {int}"), &int, &format!("{begin}{body}\n%r: {int} = trunc %m"))
}

fn pairs_of_bytes() -> impl Iterator<Item = (u128, u128)> {
    (0..256).flat_map(|a| (0..256).map(move |b| (a, b)))
}

#[test]
fn every_rule_gives_the_same_for_all_bytes() {
    for (what, body) in RULES.iter().chain(RULES_BY_SHORTS) {
        let mut narrow = 0;
        for extension in ["zext", "sext"] {
            let mut module = rule(8, extension, body);
            module.name = format!("{what}, {extension}");
            let func = narrowed(&module, ArgShape::Varying);
            narrow += usize::from(widest(&func) <= 16);
            assert_same(&module, &func, pairs_of_bytes());
        }
        assert!(narrow > 0, "{what} is not narrowed");
    }
}

#[test]
fn what_branches_say_narrows_what_stands_behind_them() {
    for (what, pred, body) in RULES_UNDER_CONDITIONS {
        for extension in ["zext", "sext"] {
            let mut module = conditional_rule(8, extension, pred, body);
            module.name = format!("{what}, {extension}");
            let func = narrowed(&module, ArgShape::Varying);
            assert!(extension == "sext" || widest(&func) <= 8, "{what} is not narrowed:\n{func:?}");
            assert_same(&module, &func, pairs_of_bytes());
        }
    }
}

#[test]
fn every_rule_gives_the_same_for_shorts_with_some() {
    let some = [0, 1, 255, 256, 0x7fff, 0x8000, 0xffff];
    let step = if number("WARPLINE_EXHAUSTIVE", 0) == 1 { 1 } else { 7 };
    for (what, body) in RULES {
        let mut narrow = 0;
        for extension in ["zext", "sext"] {
            let mut module = rule(16, extension, body);
            module.name = format!("{what}, {extension}");
            let func = narrowed(&module, ArgShape::Varying);
            narrow += usize::from(widest(&func) <= 16);
            let operands =
                (0..=0xffff).step_by(step).flat_map(|a| some.iter().flat_map(move |&b| [(a, b), (b, a)]));
            assert_same(&module, &func, operands);
        }
        assert!(narrow > 0, "{what} is not narrowed");
    }
}

#[test]
fn distances_of_bytes_that_are_computed_in_bytes_are_saturating_differences() {
    let bodies = [
        "%c: i1 = icmp ugt %a, %b\n%s: i8 = sub %a, %b\n%t: i8 = sub %b, %a\n%r: i8 = select %c, %s, %t",
        "%c: i1 = icmp ult %a, 7\n%s: i8 = sub 7, %a\n%t: i8 = add %a, -7\n%r: i8 = select %c, %s, %t",
    ];
    for body in bodies {
        let mut module = function("%a: i8, %b: i8", "i8", body);
        module.name = body.to_owned();
        let func = narrowed(&module, ArgShape::Varying);
        let name = module.symbol("llvm.usub.sat.i8");
        let saturates =
            |data: &warpline_ir::InstData| matches!(&data.op, Op::Call(call) if call.callee == name);
        assert!(func.insts.values().any(saturates), "{body} is not a distance");
        assert_same(&module, &func, pairs_of_bytes());
    }
}

/// Numbers of 32 bits around the bytes, and the extremes.
fn any_numbers() -> impl Iterator<Item = u128> + Clone {
    let wide = |v: i64| u128::from(v as u32);
    let extremes =
        [i64::from(i32::MIN), i64::from(i32::MIN) + 1, i64::from(i32::MAX) - 1, i64::from(i32::MAX)];
    (-260..=520).chain(extremes).map(wide)
}

#[test]
fn bytes_are_compared_with_any_number_that_lanes_share_as_before() {
    for pred in ["eq", "ne", "ugt", "uge", "ult", "ule", "sgt", "sge", "slt", "sle"] {
        for args in ["%x, %b", "%b, %x"] {
            let body = format!("%x: i32 = zext %a\n%r: i1 = icmp {pred} {args}");
            let mut module = function("%a: i8, %b: i32", "i1", &body);
            module.name = format!("{pred} {args}");
            let func = narrowed(&module, ArgShape::Uniform);
            let compares = func
                .insts
                .values()
                .any(|data| matches!(data.op, Op::ICmp(_)) && func.ty(data.args[0]) == Type::Int(8));
            assert!(compares, "{pred} {args} is not narrowed");
            let bytes = [0, 1, 2, 100, 127, 128, 200, 254, 255];
            let operands = any_numbers().flat_map(|b| bytes.map(|a| (a, b)));
            assert_same(&module, &func, operands);
        }
    }
}

#[test]
fn bytes_exceed_any_number_that_lanes_share_by_as_much_as_before() {
    for (what, body) in [
        ("a saturating difference", "%m: i32 = call @llvm.usub.sat.i32(%x, %b)"),
        ("a maximum", "%s: i32 = call @llvm.umax.i32(%x, %b)\n%m: i32 = sub %s, %b"),
        ("a minimum", "%s: i32 = call @llvm.umin.i32(%b, %x)\n%m: i32 = sub %x, %s"),
    ] {
        let body = format!("%x: i32 = zext %a\n{body}\n%r: i8 = trunc %m");
        let mut module = function("%a: i8, %b: i32", "i8", &body);
        module.name = what.to_owned();
        let func = narrowed(&module, ArgShape::Uniform);
        let saturates = module.symbol("llvm.usub.sat.i8");
        let is_there =
            |data: &warpline_ir::InstData| matches!(&data.op, Op::Call(call) if call.callee == saturates);
        assert!(func.insts.values().any(is_there), "{what} is not narrowed");
        assert_same(&module, &func, any_numbers().flat_map(|b| (0..256).step_by(3).map(move |a| (a, b))));
    }
}

#[test]
fn bytes_that_any_number_is_added_to_saturate_as_before() {
    for (op, args) in [("add nsw", "%x, %b"), ("add nsw", "%b, %x"), ("sub nsw", "%x, %b")] {
        for bounds in [["smax", "umin"], ["smax", "smin"], ["smin", "smax"]] {
            let [first, second] = bounds.map(|name| (name, if name == "smax" { 0 } else { 255 }));
            let body = format!(
                "%x: i32 = zext %a\n%s: i32 = {op} {args}\n%m: i32 = call @llvm.{}.i32(%s, {})\n\
                 %n: i32 = call @llvm.{}.i32(%m, {})\n%r: i8 = trunc %n",
                first.0, first.1, second.0, second.1
            );
            let mut module = function("%a: i8, %b: i32", "i8", &body);
            module.name = format!("{op} {args} {bounds:?}");
            let func = narrowed(&module, ArgShape::Uniform);
            let is_there = warpline_ir::text::print_module(&module).contains("llvm.uadd.sat.i8")
                && func.insts.values().any(|data| {
                    matches!(&data.op, Op::Call(call) if call.callee == module.symbol("llvm.uadd.sat.i8"))
                });
            assert!(is_there, "{op} {args} {bounds:?} is not narrowed");
            assert_same(&module, &func, any_numbers().flat_map(|b| (0..256).step_by(5).map(move |a| (a, b))));
        }
    }
}

#[test]
fn random_kernels_on_bytes_and_shorts_do_what_lanes_in_lockstep_do() {
    let (start, count) = (number("WARPLINE_SEED", 1), number("WARPLINE_PROGRAMS", 300));
    let (mut agreed, mut narrower) = (0, 0);
    for seed in start..start + count {
        let program = byte_programs::generate(seed);
        let mut rng = SplitMix64::new(seed);
        let width = [2, 4, 8, 16][rng.below(4)];
        let mask = (rng.below(3) == 0).then(|| LaneSet(rng.next_u64() & LaneSet::first(width).0));
        let setup = Setup { mask, form: Form::random(&mut rng), fuel: 300_000 };
        narrower += usize::from(is_narrowed(&program));
        match compare_all(&program, &Inputs::random(&program, width, seed), &setup) {
            Outcome::Agree(_) => agreed += 1,
            Outcome::Skipped(_) => {}
            Outcome::Refused(why) => panic!("seed {seed}: {why}\n{}", program.text()),
            Outcome::Differ(why) => {
                let fails = |p: &_| {
                    matches!(compare_all(p, &Inputs::random(p, width, seed), &setup), Outcome::Differ(_))
                };
                panic!("seed {seed}, width {width}, {setup:?}\n{why}\n{}", shrink(&program, fails).text());
            }
        }
    }
    println!("{agreed} of {count} agree, {narrower} are narrowed");
    assert!(agreed * 10 > count * 9, "{agreed} of {count} kernels were compared");
    assert!(narrower * 2 > count as usize, "{narrower} of {count} kernels are narrowed");
}

/// Whether the pass changes a kernel.
fn is_narrowed(program: &Program) -> bool {
    let shapes = program.roles.iter().map(shape_of).collect();
    let options = Options::new(8, shapes, "vector");
    let run = |last| run_named(&program.module, program.function(), &[last], &options);
    let [before, after] =
        ["@scalarize-vectors", "@narrow-integers"].map(|last| run(last).expect("passes run"));
    before.insts.len() != after.insts.len()
}
