//! Loops whose iterations meet in memory: what is vectorized leaves what the scalar loop leaves, and everything else is refused.
//!
//! Accesses are planted at distances of up to 70 elements, of several sizes, through two pointers that may overlap, under conditions, in inner loops and at indices
//! that come from memory.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use warpline_interp::{Machine, Options as MachineOptions, Val};
use warpline_ir::Module;
use warpline_ir::text::parse_module;
use warpline_testkit::rng::SplitMix64;
use warpline_vectorize::loops::{Unit, vectorize_loop};
use warpline_vectorize::{Boscc, Contract, Gathers, Linearize, Masks, Options};

/// Bytes of memory, and where the pointers lead to before what they differ by.
const MEMORY: usize = 1 << 14;
const MIDDLE: u64 = 1 << 13;

/// A loop in text form.
struct Source {
    rng: SplitMix64,
    text: String,
    count: u32,
    /// The kinds of statements that it has.
    kinds: Vec<&'static str>,
    /// Whether all accesses are at constant distances from one pointer, with this step in elements of one size.
    decided: bool,
    step: i64,
}

impl Source {
    fn new(seed: u64) -> Source {
        let mut rng = SplitMix64::new(seed);
        let decided = rng.chance(1, 2);
        let step = *rng.pick(&[1, 1, 1, 2, -1, 0]);
        Source { rng, text: String::new(), count: 0, kinds: Vec::new(), decided, step }
    }

    fn fresh(&mut self, name: &str) -> String {
        self.count += 1;
        format!("%{name}{}", self.count)
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "  {line}");
    }

    fn block(&mut self, name: &str) {
        let _ = writeln!(self.text, "{name}:");
    }

    fn pointer(&mut self) -> &'static str {
        if self.decided || self.rng.chance(2, 3) { "%p" } else { "%q" }
    }

    fn bits(&mut self) -> u32 {
        if self.decided { 32 } else { *self.rng.pick(&[8, 16, 32, 32, 32, 64]) }
    }

    fn number(&mut self, most: i64) -> i64 {
        self.rng.below(2 * most as usize + 1) as i64 - most
    }

    /// The distance of an access: mostly short.
    fn distance(&mut self) -> i64 {
        let most = *self.rng.pick(&[1, 3, 8, 70]);
        self.number(most)
    }

    /// An address in the loop: `pointer + (step·i + distance)` elements.
    fn address(&mut self, bits: u32, index: &str) -> String {
        let step = if self.decided { self.step } else { *self.rng.pick(&[1, 1, 1, 1, 2, -1, 0]) };
        let (pointer, distance) = (self.pointer(), self.distance());
        let (scaled, sum, at) = (self.fresh("m"), self.fresh("s"), self.fresh("g"));
        self.line(&format!("{scaled}: i64 = mul nsw {index}, {step}"));
        self.line(&format!("{sum}: i64 = add nsw {scaled}, {distance}"));
        self.line(&format!("{at}: ptr = getelementptr i{bits}, {pointer}, {sum}"));
        at
    }

    fn load(&mut self, bits: u32, address: &str) -> String {
        let (x, wide) = (self.fresh("x"), self.fresh("w"));
        self.line(&format!("{x}: i{bits} = load {address}, align 1"));
        if bits == 64 {
            return x;
        }
        self.line(&format!("{wide}: i64 = zext {x}"));
        wide
    }

    fn store(&mut self, bits: u32, value: &str, address: &str) {
        let narrow = self.fresh("n");
        if bits == 64 {
            self.line(&format!("store {value}, {address}, align 1"));
        } else {
            self.line(&format!("{narrow}: i{bits} = trunc {value}"));
            self.line(&format!("store {narrow}, {address}, align 1"));
        }
    }

    /// What is stored next, computed from the value so far.
    fn next(&mut self, value: &str) -> String {
        let (mixed, next) = (self.fresh("a"), self.fresh("v"));
        let by = 1 + self.rng.below(9);
        self.line(&format!("{mixed}: i64 = mul {value}, {by}"));
        self.line(&format!("{next}: i64 = add {mixed}, %i"));
        next
    }

    /// A statement; the value that the next one goes on with.
    fn statement(&mut self, value: &str) -> String {
        match if self.decided { *self.rng.pick(&[0, 3, 6, 11]) } else { self.rng.below(13) } {
            0..=2 => {
                self.kinds.push("load");
                let bits = self.bits();
                let at = self.address(bits, "%i");
                let x = self.load(bits, &at);
                let sum = self.fresh("v");
                self.line(&format!("{sum}: i64 = add {value}, {x}"));
                sum
            }
            3..=5 => {
                self.kinds.push("store");
                let bits = self.bits();
                let (at, next) = (self.address(bits, "%i"), self.next(value));
                self.store(bits, &next, &at);
                next
            }
            6 => self.arms(value),
            7 | 8 => self.inner_loop(value),
            9 => self.update(value),
            10 => {
                self.kinds.push("one place");
                let bits = self.bits();
                let (at, to) = (self.fresh("g"), self.number(3));
                let pointer = self.pointer();
                self.line(&format!("{at}: ptr = getelementptr i{bits}, {pointer}, i64 {to}"));
                let next = self.next(value);
                self.store(bits, &next, &at);
                next
            }
            11 => self.copy(value),
            _ => self.table(value),
        }
    }

    /// Stores in both arms of a branch.
    fn arms(&mut self, value: &str) -> String {
        self.kinds.push("arms");
        let n = self.count;
        let (low, odd) = (self.fresh("l"), self.fresh("c"));
        self.line(&format!("{low}: i64 = and {value}, 1"));
        self.line(&format!("{odd}: i1 = icmp eq {low}, 0"));
        self.line(&format!("br {odd}, yes{n}, no{n}"));
        for (arm, is_there) in [("yes", true), ("no", self.rng.chance(2, 3))] {
            self.block(&format!("{arm}{n}"));
            if is_there {
                let bits = self.bits();
                let (at, next) = (self.address(bits, "%i"), self.next(value));
                self.store(bits, &next, &at);
            }
            self.line(&format!("br joined{n}"));
        }
        self.block(&format!("joined{n}"));
        value.to_owned()
    }

    /// A loop within the loop, over rows, over what all iterations have in common, or over neighbours.
    fn inner_loop(&mut self, value: &str) -> String {
        self.kinds.push("inner loop");
        let n = self.count;
        let most = *self.rng.pick(&[2, 4, 5]);
        let varies = self.rng.chance(1, 3);
        let bound = if varies {
            let bound = self.fresh("k");
            self.line(&format!("{bound}: i64 = and {value}, 3"));
            bound
        } else {
            most.to_string()
        };
        self.line(&format!("br head{n}(0)"));
        self.block(&format!("head{n}"));
        let (j, more, next_j) = (self.fresh("j"), self.fresh("c"), self.fresh("j"));
        self.line(&format!("{j}: i64 = phi"));
        self.line(&format!("{more}: i1 = icmp slt {j}, {bound}"));
        self.line(&format!("br {more}, round{n}, out{n}"));
        self.block(&format!("round{n}"));
        let (row, index) = (self.fresh("r"), self.fresh("s"));
        let stride = *self.rng.pick(&[0, 1, most, most, most + 1]);
        self.line(&format!("{row}: i64 = mul nsw %i, {stride}"));
        self.line(&format!("{index}: i64 = add nsw {row}, {j}"));
        let (bits, pointer) = (self.bits(), self.pointer());
        let at = self.fresh("g");
        self.line(&format!("{at}: ptr = getelementptr i{bits}, {pointer}, {index}"));
        let x = self.load(bits, &at);
        let sum = self.fresh("v");
        self.line(&format!("{sum}: i64 = add {value}, {x}"));
        if self.rng.chance(2, 3) {
            let to = if self.rng.chance(2, 3) { at } else { self.address(bits, &j) };
            let next = self.next(&sum);
            self.store(bits, &next, &to);
        }
        self.line(&format!("{next_j}: i64 = add nsw {j}, 1"));
        self.line(&format!("br head{n}({next_j})"));
        self.block(&format!("out{n}"));
        value.to_owned()
    }

    /// Memory is read, changed and written back, at an index that may come from memory or be the same for all.
    fn update(&mut self, value: &str) -> String {
        self.kinds.push("update");
        let bits = self.bits();
        let (key, index, at) = (self.fresh("k"), self.fresh("s"), self.fresh("g"));
        let mask = *self.rng.pick(&[0, 1, 7]);
        self.line(&format!("{key}: i64 = and {value}, {mask}"));
        let far = if self.rng.chance(1, 2) { -200 } else { 0 };
        self.line(&format!("{index}: i64 = add nsw {key}, {far}"));
        let pointer = self.pointer();
        self.line(&format!("{at}: ptr = getelementptr i{bits}, {pointer}, {index}"));
        let x = self.load(bits, &at);
        let (op, changed) = (*self.rng.pick(&["add", "xor", "sub", "mul"]), self.fresh("u"));
        self.line(&format!("{changed}: i64 = {op} {x}, {value}"));
        self.store(bits, &changed, &at);
        if self.rng.chance(1, 3) { x } else { value.to_owned() }
    }

    /// What is loaded goes elsewhere, at once.
    fn copy(&mut self, value: &str) -> String {
        self.kinds.push("copy");
        let bits = self.bits();
        let (from, to) = (self.address(bits, "%i"), self.address(bits, "%i"));
        let x = self.load(bits, &from);
        self.store(bits, &x, &to);
        value.to_owned()
    }

    /// An element of a table, at a place of which nothing is known but that the index is narrow, is looked up or replaced.
    fn table(&mut self, value: &str) -> String {
        self.kinds.push("table");
        let bits = self.bits();
        let (narrow, key, index, at) = (self.fresh("n"), self.fresh("k"), self.fresh("s"), self.fresh("g"));
        let width = *self.rng.pick(&[3, 5, 8]);
        self.line(&format!("{narrow}: i{width} = trunc {value}"));
        let extension = *self.rng.pick(&["zext", "sext"]);
        self.line(&format!("{key}: i64 = {extension} {narrow}"));
        let far = if self.rng.chance(1, 2) { -200 } else { 0 };
        self.line(&format!("{index}: i64 = add nsw {key}, {far}"));
        let pointer = self.pointer();
        self.line(&format!("{at}: ptr = getelementptr i{bits}, {pointer}, {index}"));
        if self.rng.chance(1, 3) {
            self.store(bits, value, &at);
            return value.to_owned();
        }
        let (x, sum) = (self.load(bits, &at), self.fresh("v"));
        self.line(&format!("{sum}: i64 = add {value}, {x}"));
        sum
    }

    fn function(mut self) -> Source {
        let kind = if self.rng.chance(1, 4) { "i32" } else { "i64" };
        self.text = format!("func @f(%n: {kind}, %p: ptr, %q: ptr) {{\nentry:\n  br loop(0)\nloop:\n");
        if kind == "i32" {
            self.line("%t: i32 = phi");
            self.line("%i: i64 = sext %t");
            self.line("%more: i1 = icmp slt %t, %n");
        } else {
            self.line("%i: i64 = phi");
            self.line("%more: i1 = icmp slt %i, %n");
        }
        self.line("br %more, body, end");
        self.block("body");
        let mut value = "%i".to_owned();
        for _ in 0..1 + self.rng.below(4) {
            value = self.statement(&value);
        }
        let (old, new) = if kind == "i32" { ("%t", "%after") } else { ("%i", "%after") };
        self.line(&format!("{new}: {kind} = add nsw {old}, 1"));
        self.line(&format!("br loop({new})"));
        self.block("end");
        self.line("ret");
        self.text.push_str("}\n");
        self
    }
}

/// What a run leaves in memory, if it does not trap.
fn run(module: &Module, name: &str, n: i64, apart: i64, seed: u64) -> Option<Vec<u8>> {
    let options = MachineOptions { fuel: 4_000_000, ..MachineOptions::default() };
    let mut machine = Machine::with_options(module, options);
    let mut rng = SplitMix64::new(seed);
    let bytes: Vec<u8> = (0..MEMORY).map(|_| rng.below(256) as u8).collect();
    let base = machine.memory.allocate_bytes(&bytes, 64).expect("memory is small");
    let id = module.function(name).expect("it is there");
    let code = machine.prepare_id(id);
    let p = base + MIDDLE;
    let func = &module.functions[id];
    let bits = func.ty(func.params[0]).int_bits().expect("a number");
    let n = n as u128 & ((1u128 << bits) - 1);
    let args = [Val::int(n), Val::ptr(p), Val::ptr(p.wrapping_add_signed(apart))];
    machine.run_scalar(&code, &args).ok()?;
    machine.memory.read(base, MEMORY as u64).ok()?.into_iter().collect()
}

enum Outcome {
    Agree { checked: bool },
    Refused,
    Skipped,
}

fn try_one(seed: u64) -> (Source, Outcome) {
    let source = Source::new(seed).function();
    let mut module =
        parse_module(&source.text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}", source.text));
    let mut rng = SplitMix64::new(seed ^ 0xdeb5);
    let func = module.function("f").expect("it is there");
    let mut copy = module.functions[func].clone();
    copy.name = "g".into();
    let header = copy.layout[1];
    let copy = module.functions.push(copy);
    let width = *rng.pick(&[2, 4, 8, 16]);
    let contract =
        if source.decided && rng.chance(1, 2) { Contract::Independent } else { Contract::Sequential };
    let rest = if rng.chance(1, 3) { width / 2 } else { width };
    let unit = Unit { contract, rest, ..Unit::new(header, width) };
    let options = Options {
        linearize: if rng.chance(1, 4) { Linearize::Full } else { Linearize::Partial },
        boscc: *rng.pick(&[Boscc::Off, Boscc::On]),
        gathers: *rng.pick(&[Gathers::Nothing, Gathers::Everything]),
        masks: *rng.pick(&[Masks::Nothing, Masks::Everything]),
        ..Options::new(width, Vec::new(), "lanes")
    };
    let made = match vectorize_loop(&mut module, copy, &unit, &options) {
        Ok(made) => made,
        Err(e) => {
            let text = e.to_string();
            assert!(
                e.kind != warpline_vectorize::ErrorKind::Internal,
                "seed {seed}: {text}\n{}",
                source.text
            );
            return (source, Outcome::Refused);
        }
    };
    let mut ran = false;
    for _ in 0..4 {
        let n = *rng.pick(&[0, 1, 7, 16, 33, 70]);
        let apart = if rng.chance(1, 3) { 4000 } else { rng.below(600) as i64 - 300 };
        let Some(expected) = run(&module, "f", n, apart, seed) else { continue };
        let found = run(&module, "g", n, apart, seed);
        let at = found.as_ref().map(|f| f.iter().zip(&expected).position(|(a, b)| a != b));
        assert_eq!(
            at,
            Some(None),
            "seed {seed}: WARPLINE_SEED={seed} WARPLINE_PROGRAMS=1, {width} lanes, {contract:?}, n {n}, apart {apart}\n{}",
            source.text.clone() + &warpline_ir::text::print_function(&module, &module.functions[copy])
        );
        ran = true;
    }
    (source, if ran { Outcome::Agree { checked: made.checks > 0 } } else { Outcome::Skipped })
}

fn variable(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn loops_with_planted_dependences_are_right_or_refused() {
    let (programs, first) = (variable("WARPLINE_PROGRAMS", 2_000), variable("WARPLINE_SEED", 1));
    let mut kinds: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    let (mut agreed, mut checked, mut refused) = (0, 0, 0);
    for seed in first..first + programs {
        let (source, outcome) = try_one(seed);
        let is_agreed = matches!(outcome, Outcome::Agree { .. });
        for kind in &source.kinds {
            kinds.entry(kind).or_default()[usize::from(is_agreed)] += 1;
        }
        match outcome {
            Outcome::Agree { checked: true } => (agreed, checked) = (agreed + 1, checked + 1),
            Outcome::Agree { .. } => agreed += 1,
            Outcome::Refused => refused += 1,
            Outcome::Skipped => {}
        }
    }
    println!(
        "{programs} loops: {agreed} agree ({checked} with checks), {refused} refused; not agreed and agreed by kind: {kinds:?}"
    );
    if programs >= 1_000 {
        assert!(agreed * 5 > programs, "too few are vectorized");
        assert!(refused * 5 > programs, "too few have dependences");
        assert!(checked * 50 > programs, "too few are checked at run time");
        assert!(kinds.values().all(|&[_, agreed]| agreed * 200 > programs), "{kinds:?}");
    }
}
