//! Constants across calls.

use warpline_dataflow::clients::constants::{Assumptions, Fact, Known};
use warpline_dataflow::clients::interprocedural::ModuleConstants;
use warpline_interp::{Event, LaneSet, Observer, Options as MachineOptions};
use warpline_ir::text::parse_module;
use warpline_ir::*;
use warpline_testkit::programs::{Inputs, ProgramOptions, generate, run_lockstep};

fn constants(text: &str, open: &[&str]) -> (Module, ModuleConstants) {
    let module = parse_module(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let name = |id: FuncId| module.functions[id].name.clone();
    let is_closed = |id| !open.contains(&&*name(id));
    let found = ModuleConstants::compute(&module, is_closed, |_| false);
    (module, found)
}

fn parameter(module: &Module, found: &ModuleConstants, name: &str, number: usize) -> Fact {
    found.parameter(module.function(name).expect("a function"), number)
}

fn is(value: u128) -> Fact {
    Fact::Is(Known::int(32, value))
}

const CALLS: &str = r#"
declare @twice(i32, i32) -> i32
declare @never(i32) -> i32
declare @count(i32, i32) -> i32

func @main(%n: i32) -> i32 {
entry:
  %a: i32 = call @twice(7, %n)
  %b: i32 = call @twice(7, 3)
  %c: i1 = icmp eq %a, 14
  br %c, then, else
then:
  ret %b
else:
  %d: i32 = call @never(5)
  ret %d
}

func @twice(%x: i32, %y: i32) -> i32 {
entry:
  %r: i32 = mul %x, 2
  ret %r
}

func @never(%x: i32) -> i32 {
entry:
  ret %x
}

func @count(%k: i32, %step: i32) -> i32 {
entry:
  %done: i1 = icmp eq %k, 0
  br %done, out, on
on:
  %less: i32 = sub %k, %step
  %r: i32 = call @count(%less, %step)
  ret %r
out:
  ret %step
}

func @start(%n: i32) -> i32 {
entry:
  %r: i32 = call @count(%n, 1)
  ret %r
}
"#;

#[test]
fn what_all_calls_pass_is_constant_and_so_is_what_is_returned() {
    let (module, found) = constants(CALLS, &["main", "start"]);
    assert_eq!(parameter(&module, &found, "twice", 0), is(7));
    assert_eq!(parameter(&module, &found, "twice", 1), Fact::Anything);
    let main = module.function("main").expect("main");
    let func = &module.functions[main];
    let call = func.blocks[func.entry()].insts[0];
    assert_eq!(found.of(&module, main).call(call), is(14));
}

#[test]
fn calls_that_are_never_reached_pass_nothing() {
    let (module, found) = constants(CALLS, &["main", "start"]);
    // Nobody calls it, so that nothing is claimed.
    assert_eq!(parameter(&module, &found, "never", 0), Fact::Anything);
}

#[test]
fn recursion_keeps_what_it_passes_on_unchanged() {
    let (module, found) = constants(CALLS, &["main", "start"]);
    assert_eq!(parameter(&module, &found, "count", 0), Fact::Anything);
    assert_eq!(parameter(&module, &found, "count", 1), is(1));
    let start = module.function("start").expect("start");
    let func = &module.functions[start];
    assert_eq!(found.of(&module, start).call(func.blocks[func.entry()].insts[0]), is(1));
}

#[test]
fn nothing_is_known_of_what_other_modules_may_pass() {
    let (module, found) = constants(CALLS, &["main", "start", "twice"]);
    assert_eq!(parameter(&module, &found, "twice", 0), Fact::Anything);
}

/// Holds what calls pass and return against what is claimed.
struct Calls<'a> {
    module: &'a Module,
    func: &'a Function,
    id: FuncId,
    found: &'a ModuleConstants,
    seen: usize,
    claims: usize,
    wrong: Vec<String>,
}

impl Calls<'_> {
    fn check(&mut self, event: &Event<'_>, value: Value, claim: Fact) {
        let Some(expected) = claim.known().and_then(Known::as_int) else {
            // That nothing is ever passed would be wrong as well.
            if claim == Fact::Nothing {
                self.wrong.push(format!("{value} is said to be nothing"));
            }
            return;
        };
        self.claims += 1;
        for lane in event.lanes.iter() {
            let bits = event.value(value, lane).first().and_then(|c| c.defined());
            if bits.is_some_and(|bits| bits != expected) {
                self.wrong.push(format!("{value} is {bits:?}, not {expected}"));
            }
        }
    }
}

impl Observer for Calls<'_> {
    fn executed(&mut self, event: &Event<'_>) {
        let data = &self.func.insts[event.inst];
        let Op::Call(call) = &data.op else { return };
        if event.depth > 0 {
            return;
        }
        let name = call.callee.map(|s| self.module.symbols[s].name.clone()).unwrap_or_default();
        let Some(callee) = self.module.function(&name) else { return };
        self.seen += 1;
        for (k, &arg) in data.args.iter().enumerate() {
            self.check(event, arg, self.found.parameter(callee, k));
        }
        if let Some(result) = data.result() {
            self.check(event, result, self.found.of(self.module, self.id).call(event.inst));
        }
    }
}

#[test]
fn random_modules_pass_and_return_what_is_claimed() {
    let (mut seen, mut claims) = (0, 0);
    let programs = std::env::var("WARPLINE_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(2000);
    for seed in 0..programs {
        let options = ProgramOptions { size: 4, lane_operations: false, ..ProgramOptions::default() };
        let mut program = generate(seed, &options);
        if program.module.functions.len() < 2 {
            continue;
        }
        // Some calls pass numbers in place of what they would.
        let id = program.module.function(&program.function().name.clone()).expect("the kernel");
        let func = &mut program.module.functions[id];
        let calls: Vec<Inst> =
            func.layout.clone().iter().flat_map(|&b| func.block_insts(b).collect::<Vec<_>>()).collect();
        for inst in calls {
            if matches!(func.insts[inst].op, Op::Call(_))
                && let Some(&first) = func.insts[inst].args.first()
                && let Type::Int(bits) = func.ty(first)
                && seed % 3 > 0
            {
                let number = func.int_const(bits, 3);
                func.insts[inst].args[0] = number;
            }
        }
        let module = program.module.clone();
        let found = ModuleConstants::compute(&module, |f| f != id, |_| false);
        let func = &module.functions[id];
        let mut calls =
            Calls { module: &module, func, id, found: &found, seen: 0, claims: 0, wrong: Vec::new() };
        let inputs = Inputs::random(&program, 4, seed);
        let machine = MachineOptions { fuel: 20_000, ..MachineOptions::default() };
        run_lockstep(&program, &inputs, LaneSet::first(4), &machine, Some(&mut calls));
        assert!(calls.wrong.is_empty(), "seed {seed}: {:?}\n{}", calls.wrong, program.text());
        seen += calls.seen;
        claims += calls.claims;
    }
    assert!(seen > 120 && claims > 120, "{seen} calls, {claims} claims");
}
