//! Bits and values that iterations hand on and that the loop looks at, against the scalar function: random chains of
//! branches and choices, for numbers of iterations around those of lanes.

use std::fmt::Write as _;

use warpline_interp::{Machine, Val};
use warpline_ir::text::parse_module;
use warpline_ir::{FuncId, Module};
use warpline_testkit::environment::number;
use warpline_testkit::rng::SplitMix64;
use warpline_vectorize::driver::Tail;
use warpline_vectorize::loops::{CarryKind, Unit, vectorize_loop};
use warpline_vectorize::{Options, width};

/// How many numbers there are.
const COUNT: u32 = 200;

/// Writes a random loop with bits `%s0`, … or one held number.
struct Writer {
    rng: SplitMix64,
    text: String,
    names: usize,
    /// The type of what is handed on.
    ty: &'static str,
}

impl Writer {
    fn name(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "  {line}");
    }

    fn block(&mut self, name: &str) {
        let _ = writeln!(self.text, "{name}:");
    }

    /// A truth value that the number of the iteration decides, and for bits perhaps the present one.
    fn condition(&mut self, state: &str, may_ask: bool) -> String {
        if may_ask && self.rng.chance(1, 4) {
            let is = self.name("%is");
            let (flips, pred) = (self.rng.chance(1, 2), *self.rng.pick(&["eq", "ne"]));
            match self.ty {
                "i1" => self.line(&format!("{is}: i1 = xor {state}, {flips}")),
                _ => self.line(&format!("{is}: i1 = icmp {pred} {state}, 0")),
            }
            return is;
        }
        let c = self.name("%c");
        let pred = *self.rng.pick(&["slt", "sgt", "eq", "ult"]);
        let bound = self.rng.below(12);
        self.line(&format!("{c}: i1 = icmp {pred} %x, {bound}"));
        c
    }

    /// What takes a bit's place.
    fn other(&mut self, state: &str) -> String {
        let (ty, new) = (self.ty, self.name("%v"));
        match self.rng.below(6) {
            0 => if ty == "i1" { "false" } else { "0" }.to_owned(),
            1 => if ty == "i1" { "true" } else { "1" }.to_owned(),
            2 => {
                let one = if ty == "i1" { "true" } else { "1" };
                self.line(&format!("{new}: {ty} = xor {state}, {one}"));
                new
            }
            3 => {
                let c = self.condition(state, true);
                self.widened(&c)
            }
            k => {
                let c = self.condition(state, false);
                let c = self.widened(&c);
                let op = ["and", "or"][k - 4];
                self.line(&format!("{new}: {ty} = {op} {state}, {c}"));
                new
            }
        }
    }

    /// What takes the place of a number that is held.
    fn held(&mut self) -> String {
        if self.rng.chance(1, 4) { "5" } else { "%y" }.to_owned()
    }

    fn widened(&mut self, c: &str) -> String {
        if self.ty == "i1" {
            return c.to_owned();
        }
        let wide = self.name("%w");
        self.line(&format!("{wide}: {} = zext {c}", self.ty));
        wide
    }

    /// A step that may change what is handed on, by a branch or a choice; what it is then.
    fn step(&mut self, state: &str, is_bit: bool) -> String {
        let c = self.condition(state, is_bit);
        let new = self.name("%n");
        let ty = self.ty;
        if self.rng.chance(1, 2) {
            let v = if is_bit { self.other(state) } else { self.held() };
            let [a, b] = if self.rng.chance(1, 2) { [&*v, state] } else { [state, &*v] };
            self.line(&format!("{new}: {ty} = select {c}, {a}, {b}"));
            return new;
        }
        let [then, join] = ["then", "join"].map(|stem| self.name(stem));
        self.line(&format!("br {c}, {then}, {join}({state})"));
        self.block(&then);
        if self.rng.chance(1, 3) {
            self.line("store %x, %q, align 1");
        }
        let v = if is_bit { self.other(state) } else { self.held() };
        self.line(&format!("br {join}({v})"));
        self.block(&join);
        self.line(&format!("{new}: {ty} = phi"));
        new
    }
}

/// A random loop over the numbers at `a`, which writes to `o` what a bit, or a number that is held and may grow, was or
/// is.
fn text(seed: u64) -> String {
    let mut rng = SplitMix64::new(seed);
    let is_bit = rng.chance(2, 3);
    let ty = if is_bit { *rng.pick(&["i1", "i8", "i32", "i64"]) } else { "i16" };
    let mut w = Writer { rng, text: String::new(), names: 0, ty };
    let mut state = "%s".to_owned();
    let early = w.rng.chance(1, 3);
    if !is_bit && w.rng.chance(1, 2) {
        let by = *w.rng.pick(&[1, 1, -1, 7, 20_000]);
        w.line(&format!("%grown: i16 = add %s, {by}"));
        state = "%grown".to_owned();
    }
    for _ in 0..1 + w.rng.below(3) {
        state = w.step(&state, is_bit);
    }
    let seen = if early { "%s" } else { &state };
    let wide = match ty {
        "i16" => format!("%z: i16 = xor {seen}, 0"),
        "i1" | "i8" => format!("%z: i16 = zext {seen}"),
        _ => format!("%z: i16 = trunc {seen}"),
    };
    let start = if ty == "i1" { "false" } else { "0" };
    format!(
        "module \"m\"

func @f(%n: i32, %o: ptr, %a: ptr) -> {ty} {{
entry:
  br loop(0, {start})
loop:
  %i: i32 = phi
  %s: {ty} = phi
  %more: i1 = icmp slt %i, %n
  br %more, body, end
body:
  %wide: i64 = sext %i
  %p: ptr = getelementptr i16, %a, %wide
  %x: i16 = load %p, align 1
  %y: i16 = mul %x, 77
  %q: ptr = getelementptr i16, %o, %wide
{}  {wide}
  store %z, %q, align 1
  %next: i32 = add nsw %i, 1
  br loop(%next, {state})
end:
  ret %s
}}
",
        w.text
    )
}

/// What the function returns, and leaves at `o`.
fn outcome(module: &Module, func: FuncId, n: u32, seed: u64) -> (u128, Vec<Option<u8>>) {
    let mut machine = Machine::new(module);
    let mut rng = SplitMix64::new(seed);
    let input: Vec<u8> = (0..COUNT).flat_map(|_| (rng.below(14) as i16 - 1).to_le_bytes()).collect();
    let a = machine.memory.allocate_bytes(&input, 64).expect("there is room");
    let o = machine.memory.allocate_bytes(&[0xee; 2 * COUNT as usize], 64).expect("there is room");
    let code = machine.prepare_id(func);
    let run = machine.run_scalar(&code, &[Val::int(n.into()), Val::ptr(o), Val::ptr(a)]).expect("it runs");
    let result = run.scalar().expect("a number").defined().expect("it is defined");
    (result, machine.memory.read(o, 2 * u64::from(COUNT)).expect("it is there"))
}

/// Vectorizes the loop of a random program for so many lanes and compares; the kinds of what it hands on, or `None` if
/// it is refused.
fn compare(seed: u64, lanes: u32, tail: Tail) -> Option<Vec<CarryKind>> {
    let text = text(seed);
    let mut module = parse_module(&text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
    let scalar = module.function("f").expect("it is there");
    let mut copy = module.functions[scalar].clone();
    copy.name = "copy".into();
    let header = copy.layout[1];
    let copy = module.functions.push(copy);
    let mask_registers = seed.is_multiple_of(2);
    let machine = width::Machine { mask_registers, ..width::Machine::default() };
    let options = Options { machine, ..Options::new(lanes, Vec::new(), "lanes") };
    let unit = Unit {
        contract: warpline_vectorize::Contract::Independent,
        tail,
        epilogue: if seed.is_multiple_of(3) { lanes.min(4) } else { lanes },
        ..Unit::new(header, lanes)
    };
    let made = vectorize_loop(&mut module, copy, &unit, &options).ok()?;
    for n in [0, 1, 2, lanes - 1, lanes, lanes + 1, 2 * lanes + 3, COUNT] {
        let n = n.min(COUNT);
        let (expected, found) = (outcome(&module, scalar, n, seed), outcome(&module, copy, n, seed));
        assert!(expected == found, "seed {seed}, {lanes} lanes, {tail:?}, {n} iterations:\n{text}");
    }
    Some(made.carried.iter().map(|c| c.kind).collect())
}

#[test]
fn bits_and_held_values_are_what_one_iteration_after_the_other_makes_of_them() {
    let (from, count) = (number("WARPLINE_SEED", 1), number("WARPLINE_PROGRAMS", 1_500));
    let (mut states, mut held, mut refused) = (0, 0, 0);
    for seed in from..from + count {
        let lanes = [1, 2, 4, 8, 16, 32, 64][(seed % 7) as usize];
        let tail = if seed % 5 < 3 { Tail::Masked } else { Tail::Scalar };
        match compare(seed, lanes, tail) {
            Some(kinds) if kinds.contains(&CarryKind::State) => states += 1,
            Some(kinds) if kinds.contains(&CarryKind::Held) => held += 1,
            Some(_) => {}
            None => refused += 1,
        }
    }
    println!("{states} with states, {held} with held values, {refused} refused, of {count}");
    assert!(states * 3 > count && held * 6 > count && refused * 6 < count, "{states}, {held}, {refused}");
}
