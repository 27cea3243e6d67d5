//! Loops over interleaved elements against the scalar function: random expressions over arrays of pairs, triples and
//! quadruples that are computed alike, or nearly so, and pixels that change their layout.
//!
//! `WARPLINE_PROGRAMS=n` runs n programs, `WARPLINE_SEED=s` begins with seed s.

use std::fmt::Write as _;

use warpline_interp::{Machine, Val};
use warpline_ir::text::{parse_module, print_module};
use warpline_ir::{FuncId, Module};
use warpline_testkit::environment::number;
use warpline_testkit::rng::SplitMix64;
use warpline_vectorize::driver::Tail;
use warpline_vectorize::loops::{Unit, vectorize_loop};
use warpline_vectorize::width;
use warpline_vectorize::{Gathers, Masks, Options};

/// An expression that each member has.
enum Tree {
    /// What the member has in the array of this number.
    Load(usize),
    /// A parameter.
    Uniform,
    Constant(u32),
    Binary(&'static str, Box<Tree>, Box<Tree>),
    /// A constant of the member's own, or a parameter.
    Own([u32; 4]),
    OwnUniform([usize; 4]),
    Call(&'static str, Box<Tree>, Box<Tree>),
    /// A division by constants.
    Divided(Box<Tree>, [u32; 4]),
    /// The greater one, by a comparison and a selection.
    Greater(Box<Tree>, Box<Tree>),
}

const BINARY: [&str; 6] = ["add", "sub", "mul", "xor", "and", "or"];
const CALLS: [&str; 6] = ["umin", "smax", "uadd.sat", "usub.sat", "sadd.sat", "ssub.sat"];
const UNIFORM: [&str; 3] = ["%u", "%v", "%w"];

fn tree(rng: &mut SplitMix64, depth: u32) -> Tree {
    if depth == 0 || rng.below(5) == 0 {
        return match rng.below(8) {
            0 => Tree::Uniform,
            1 => Tree::Constant(rng.below(100) as u32),
            2 => Tree::Own(std::array::from_fn(|_| rng.below(200) as u32)),
            3 => Tree::OwnUniform(std::array::from_fn(|_| rng.below(UNIFORM.len()))),
            n => Tree::Load(n % 2),
        };
    }
    let mut sub = || Box::new(tree(rng, depth - 1));
    let (a, b) = (sub(), sub());
    match rng.below(10) {
        6 => Tree::Greater(a, b),
        7 => Tree::Divided(a, std::array::from_fn(|_| 1 + rng.below(100) as u32)),
        8 | 9 => Tree::Call(CALLS[rng.below(CALLS.len())], a, b),
        n => Tree::Binary(BINARY[n], a, b),
    }
}

/// How one member differs from the others, if it does.
#[derive(Copy, Clone, PartialEq)]
enum Odd {
    Nothing,
    /// It loads what another member has.
    Place,
    /// Its constants are others.
    Constant,
    /// Its operations are.
    Operation,
}

struct Writer<'a> {
    text: String,
    next: usize,
    ty: &'a str,
    members: usize,
    k: usize,
    odd: Odd,
}

impl Writer<'_> {
    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%t{}", self.next)
    }

    fn value(&mut self, tree: &Tree) -> String {
        match tree {
            Tree::Uniform => "%u".into(),
            Tree::Constant(c) => {
                let c = c + u32::from(self.odd == Odd::Constant);
                format!("{} {c}", self.ty)
            }
            Tree::Own(constants) => format!("{} {}", self.ty, constants[self.k]),
            Tree::OwnUniform(which) => UNIFORM[which[self.k]].into(),
            Tree::Divided(a, by) => {
                let (a, v) = (self.value(a), self.fresh());
                let _ = writeln!(self.text, "  {v}: {} = udiv {a}, {}", self.ty, by[self.k]);
                v
            }
            Tree::Call(name, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                let (v, ty) = (self.fresh(), self.ty);
                let _ = writeln!(self.text, "  {v}: {ty} = call @llvm.{name}.{ty}({a}, {b})");
                v
            }
            Tree::Load(array) => {
                let k = if self.odd == Odd::Place { (self.k + 1) % self.members } else { self.k };
                let array = ["%a", "%b"][*array];
                let (p, v) = (self.address(array, k), self.fresh());
                let _ = writeln!(self.text, "  {v}: {} = load {p}, align 1", self.ty);
                v
            }
            Tree::Binary(op, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                let v = self.fresh();
                let op = if self.odd == Odd::Operation && *op == "add" { "sub" } else { op };
                let _ = writeln!(self.text, "  {v}: {} = {op} {a}, {b}", self.ty);
                v
            }
            Tree::Greater(a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                let (c, v) = (self.fresh(), self.fresh());
                let _ = writeln!(self.text, "  {c}: i1 = icmp ugt {a}, {b}");
                let _ = writeln!(self.text, "  {v}: {} = select {c}, {a}, {b}", self.ty);
                v
            }
        }
    }

    fn address(&mut self, array: &str, k: usize) -> String {
        let (j, p) = (self.fresh(), self.fresh());
        let _ = writeln!(self.text, "  {j}: i64 = add nsw %first, {k}");
        let _ = writeln!(self.text, "  {p}: ptr = getelementptr {}, {array}, {j}", self.ty);
        p
    }
}

/// A loop over so many members of a type, under a condition or not.
fn program(rng: &mut SplitMix64) -> (String, u32) {
    let (ty, bytes) = *rng.pick(&[("i8", 1), ("i16", 2), ("i32", 4), ("i64", 8)]);
    let members = 2 + rng.below(3);
    let odd_one = rng.below(2 * members);
    let odd = *rng.pick(&[Odd::Nothing, Odd::Place, Odd::Constant, Odd::Operation]);
    let tree = tree(rng, 3);
    let to = *rng.pick(&["%a", "%c"]);
    let mut w = Writer { text: String::new(), next: 0, ty, members, k: 0, odd: Odd::Nothing };
    // Values first and stores after them, or one member after the other.
    let together = rng.chance(1, 2);
    let mut stores = String::new();
    for k in 0..members {
        (w.k, w.odd) = (k, if k == odd_one { odd } else { Odd::Nothing });
        let v = w.value(&tree);
        let p = w.address(to, k);
        let store = format!("  store {v}, {p}, align 1\n");
        if together { stores += &store } else { w.text += &store }
    }
    w.text += &stores;
    let under = rng.chance(1, 3);
    let condition = match under {
        true => "  %lane: i32 = and %i, 3\n  %c0: i1 = icmp ne %lane, 1\n  br %c0, work, next\nwork:\n",
        false => "",
    };
    let body = format!("  %first: i64 = mul nsw %wide, {members}\n{condition}{}", w.text);
    (function(ty, &body), bytes * members as u32)
}

/// The function with a loop that has this body, in which `%wide` is the iteration.
fn function(ty: &str, body: &str) -> String {
    let declared: String = CALLS
        .iter()
        .filter(|name| body.contains(&format!("@llvm.{name}.")))
        .map(|name| format!("declare @llvm.{name}.{ty}({ty}, {ty}) -> {ty}\n"))
        .collect();
    format!(
        "module \"m\"

{declared}
func @f(%n: i32, %u: {ty}, %v: {ty}, %w: {ty}, %a: ptr, %b: ptr, %c: ptr) {{
entry:
  br loop(0)
loop:
  %i: i32 = phi
  %more: i1 = icmp slt %i, %n
  br %more, body, end
body:
  %wide: i64 = sext %i
{body}  br next
next:
  %i1: i32 = add nsw %i, 1
  br loop(%i1)
end:
  ret
}}
"
    )
}

/// A loop that stores pixels made of those that it loads: elements as they are, what lanes share, or sums of elements.
fn layout(rng: &mut SplitMix64) -> (String, u32) {
    let (ty, bytes) = *rng.pick(&[("i8", 1), ("i16", 2)]);
    let (loaded, stored) = (2 + rng.below(4), 1 + rng.below(5));
    let copies = rng.chance(2, 3);
    let mut body = format!("  %from: i64 = mul nsw %wide, {loaded}\n  %to: i64 = mul nsw %wide, {stored}\n");
    let mut is_loaded = vec![false; loaded];
    let mut element = |body: &mut String, rng: &mut SplitMix64| {
        let k = rng.below(loaded);
        if !std::mem::replace(&mut is_loaded[k], true) {
            let _ = writeln!(body, "  %j{k}: i64 = add nsw %from, {k}");
            let _ = writeln!(body, "  %p{k}: ptr = getelementptr {ty}, %a, %j{k}");
            let _ = writeln!(body, "  %x{k}: {ty} = load %p{k}, align 1");
        }
        format!("%x{k}")
    };
    let mut stores = String::new();
    if rng.chance(1, 3) {
        body += "  %lane: i32 = and %i, 3\n  %c0: i1 = icmp ne %lane, 1\n  br %c0, work, next\nwork:\n";
    }
    for m in 0..stored {
        let value = match rng.below(6) {
            0 => "%u".to_owned(),
            1 | 2 if !copies => {
                let (x, y) = (element(&mut body, rng), element(&mut body, rng));
                let _ = writeln!(body, "  %s{m}: {ty} = add {x}, {y}");
                format!("%s{m}")
            }
            _ => element(&mut body, rng),
        };
        let _ = writeln!(stores, "  %k{m}: i64 = add nsw %to, {m}");
        let _ = writeln!(stores, "  %q{m}: ptr = getelementptr {ty}, %c, %k{m}");
        let _ = writeln!(stores, "  store {value}, %q{m}, align 1");
    }
    (function(ty, &(body + &stores)), bytes * loaded.max(stored) as u32)
}

/// What is left in memory.
fn outcome(module: &Module, func: FuncId, (n, bytes): (u32, u32), seed: u64, near: bool) -> Vec<Option<u8>> {
    let mut machine = Machine::new(module);
    let mut rng = SplitMix64::new(seed);
    // Not a byte more than there are elements: nothing is accessed behind them.
    let size = (u64::from(n * bytes) + if near { 64 } else { 0 }).max(1) as usize;
    let mut array = || {
        let bytes: Vec<u8> = (0..size).map(|_| rng.next_u64() as u8).collect();
        machine.memory.allocate_bytes(&bytes, 64).expect("there is room")
    };
    let (a, b, c) = (array(), array(), array());
    // Arrays that overlap are what the check before the loop is for.
    let c = if near { a + u64::from(bytes) / 2 } else { c };
    let code = machine.prepare_id(func);
    let args =
        [Val::int(n.into()), Val::int(7), Val::int(100), Val::int(3), Val::ptr(a), Val::ptr(b), Val::ptr(c)];
    machine.run_scalar(&code, &args).expect("it runs");
    [a, b]
        .map(|at| machine.memory.read(at, size as u64).expect("it is there"))
        .concat()
        .into_iter()
        .chain(machine.memory.read(c, u64::from(n * bytes)).expect("it is there"))
        .collect()
}

#[test]
fn members_that_are_computed_alike_are_those_of_the_scalar_loop() {
    compare(program, |_| 256, &[2, 4, 8, 16, 32]);
}

/// Registers of 64 bytes have layouts of their own.
#[test]
fn pixels_of_another_layout_are_those_of_the_scalar_loop() {
    compare(layout, |rng| *rng.pick(&[128, 256, 512]), &[8, 16, 32, 64]);
}

/// Runs random loops that `program` makes, scalar and vectorized for registers of some bits, and compares all memory.
fn compare(
    program: impl Fn(&mut SplitMix64) -> (String, u32),
    register_bits: impl Fn(&mut SplitMix64) -> u32,
    widths: &[u32],
) {
    let (seed, programs) = (number("WARPLINE_SEED", 1), number("WARPLINE_PROGRAMS", 400));
    let mut taken = 0;
    for seed in seed..seed + programs {
        let mut rng = SplitMix64::new(seed);
        let (text, bytes) = program(&mut rng);
        let mut module = parse_module(&text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        let scalar = module.function("f").expect("it is there");
        let mut copy = module.functions[scalar].clone();
        copy.name = "copy".into();
        let header = copy.layout[1];
        let copy = module.functions.push(copy);
        let width = *rng.pick(widths);
        let machine = width::Machine {
            register_bits: register_bits(&mut rng),
            gathers: *rng.pick(&[Gathers::Nothing, Gathers::Everything]),
            masks: *rng.pick(&[Masks::Nothing, Masks::Wide, Masks::Everything]),
            byte_shuffles: rng.chance(1, 2),
            ..width::Machine::default()
        };
        let unit = Unit { tail: *rng.pick(&[Tail::Masked, Tail::Scalar]), ..Unit::new(header, width) };
        let options = Options { machine, ..Options::new(width, Vec::new(), "lanes") };
        match vectorize_loop(&mut module, copy, &unit, &options) {
            Ok(_) => taken += 1,
            Err(e) => {
                assert!(!e.is_internal(), "seed {seed}: {e}\n{text}");
                continue;
            }
        }
        for n in [0, 1, width - 1, width, width + 1, 3 * width + 2] {
            for near in [false, true] {
                let [expected, found] =
                    [scalar, copy].map(|f| outcome(&module, f, (n, bytes), seed ^ u64::from(n), near));
                assert!(
                    expected == found,
                    "seed {seed}: {width} lanes, {n} iterations, near: {near}\n{text}\n{}",
                    print_module(&module)
                );
            }
        }
    }
    assert!(taken * 2 > programs, "only {taken} of {programs} loops were vectorized");
}

/// The negative of packed pixels, and what has other numbers for one component: no element moves between lanes.
#[test]
fn elements_stay_in_the_order_of_memory_where_all_are_computed_alike() {
    let body = |op: &str, odd: &str| {
        let one = |k: usize, op: &str, value: &str| {
            format!(
                "  %j{k}: i64 = add nsw %first, {k}\n  %p{k}: ptr = getelementptr i8, %a, %j{k}\n  \
                 %x{k}: i8 = load %p{k}, align 1\n  %y{k}: i8 = {op} %x{k}, {value}\n  store %y{k}, %p{k}, align 1\n"
            )
        };
        format!(
            "module \"m\"\n\nfunc @f(%n: i32, %a: ptr) {{\nentry:\n  br loop(0)\nloop:\n  %i: i32 = phi\n  \
             %more: i1 = icmp slt %i, %n\n  br %more, body, end\nbody:\n  %wide: i64 = sext %i\n  \
             %first: i64 = mul nsw %wide, 3\n{}{}{}  \
             %i1: i32 = add nsw %i, 1\n  br loop(%i1)\nend:\n  ret\n}}\n",
            one(0, "xor", "-1"),
            one(1, "xor", "-1"),
            one(2, op, odd)
        )
    };
    for (op, odd, expected) in [("xor", "-1", true), ("xor", "1", true), ("add", "-1", false)] {
        let text = body(op, odd);
        let mut module = parse_module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let f = module.function("f").expect("it is there");
        let header = module.functions[f].layout[1];
        let unit = Unit { tail: Tail::Scalar, ..Unit::new(header, 16) };
        let machine = width::Machine { byte_shuffles: true, ..width::Machine::default() };
        let options = Options { machine, ..Options::new(16, Vec::new(), "lanes") };
        vectorize_loop(&mut module, f, &unit, &options).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let code = print_module(&module);
        assert_eq!(!code.contains("x i8> = shufflevector"), expected, "{code}");
    }
}
