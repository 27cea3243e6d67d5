//! Loops as the unit of vectorization against the scalar functions that they are in, on random programs.

use std::collections::BTreeMap;

use warpline_interp::{Machine, Options as MachineOptions, Val};
use warpline_ir::text::{parse_module, print_module};
use warpline_ir::{FuncId, Module};
use warpline_testkit::environment::number;
use warpline_testkit::programs::loops::{LoopProgram, around};
use warpline_testkit::programs::{
    Inputs, MemoryMode, Program, ProgramOptions, Reference, compare, generate, run_sequential, shrink,
};
use warpline_testkit::rng::SplitMix64;
use warpline_vectorize::driver::Tail;
use warpline_vectorize::loops::{CarryKind, Holds, Unit, vectorize_loop};
use warpline_vectorize::{Boscc, Coherence, Options, declare_narrow_functions, width};

/// How a comparison ended.
enum Outcome {
    Agree(Vec<CarryKind>),
    Skipped(String),
    Refused(String),
    Differ(String),
}

fn compare_loop(looped: &LoopProgram, width: u32, epilogue: u32, boscc: Boscc, seed: u64) -> Outcome {
    let program = &looped.program;
    let inputs = Inputs::random(program, 1, seed);
    let machine = MachineOptions { fuel: 300_000, ..MachineOptions::default() };
    let reference = run_sequential(program, &inputs, &machine);
    if let Err(trap) = &reference.result {
        return Outcome::Skipped(trap.kind.to_string());
    }
    if reference.froze {
        return Outcome::Skipped("the program freezes poison".into());
    }
    let mut vectorized = program.clone();
    let coherence = if seed.is_multiple_of(2) { Coherence::On } else { Coherence::Off };
    let options = Options { boscc, coherence, ..Options::new(width, Vec::new(), "whole.lanes") };
    let prologue = if seed.is_multiple_of(3) { 16 } else { 0 };
    // Some leave short loops to scalar code, and have a function of their own for vectors.
    let least = if seed.is_multiple_of(4) { width } else { 0 };
    let tail = if seed % 5 < 3 { Tail::Scalar } else { Tail::Masked };
    let unit_strides = seed % 3 == 1;
    let unit = Unit { epilogue, tail, prologue, unit_strides, least, ..Unit::new(looped.header, width) };
    let holds = if seed.is_multiple_of(2) { Holds::Awaited } else { Holds::There };
    let holding = Unit { holds, ..unit };
    let made = vectorize_loop(&mut vectorized.module, vectorized.kernel, &holding, &options)
        .or_else(|_| vectorize_loop(&mut vectorized.module, vectorized.kernel, &unit, &options));
    let made = match made {
        Ok(made) => made,
        Err(e) if e.is_internal() => {
            return Outcome::Differ(e.to_string());
        }
        Err(e) => return Outcome::Refused(e.problem().reason.clone()),
    };
    let machine = MachineOptions { fuel: 300_000 * 64, ..machine };
    let found = run_sequential(&vectorized, &inputs, &machine);
    match compare(&reference, &found, Reference::Sequential) {
        Ok(()) => Outcome::Agree(made.carried.iter().map(|c| c.kind).collect()),
        Err(why) => Outcome::Differ(format!("{why:?}")),
    }
}

fn options(rng: &mut SplitMix64) -> ProgramOptions {
    let memory = [MemoryMode::None, MemoryMode::Private][rng.below(2)];
    ProgramOptions {
        lane_operations: false,
        effects: false,
        atomics: false,
        memory,
        ..ProgramOptions::random(rng)
    }
}

#[test]
fn vectorized_loops_do_what_the_scalar_function_does() {
    let (start, count) = (number("WARPLINE_SEED", 1), number("WARPLINE_PROGRAMS", 300));
    let mut agreed = 0;
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for seed in start..start + count {
        let mut rng = SplitMix64::new(seed);
        let kernel = generate(seed, &options(&mut rng));
        let wrap = rng.next_u64();
        let width: u32 = [1, 2, 3, 4, 8, 16][rng.below(6)];
        let divisors: Vec<u32> = (1..=width).filter(|&d| width.is_multiple_of(d)).collect();
        let epilogue = *rng.clone().pick(&divisors);
        let boscc = [Boscc::Off, Boscc::On, Boscc::Auto][rng.below(3)];
        let run = |kernel: &Program| {
            let looped = around(kernel, &mut SplitMix64::new(wrap));
            compare_loop(&looped, width, epilogue, boscc, seed)
        };
        match run(&kernel) {
            Outcome::Agree(carried) => {
                agreed += 1;
                for kind in carried {
                    *kinds.entry(kind.name()).or_default() += 1;
                }
            }
            Outcome::Skipped(why) => *reasons.entry(format!("skipped: {why}")).or_default() += 1,
            Outcome::Refused(why) => {
                // Names of values apart, there are few reasons.
                let words: Vec<&str> = why.split(' ').filter(|w| !w.starts_with('%')).collect();
                *reasons.entry(format!("refused: {}", words.join(" "))).or_default() += 1;
            }
            Outcome::Differ(why) => {
                let small = shrink(&kernel, |p| matches!(run(p), Outcome::Differ(_)));
                let text = around(&small, &mut SplitMix64::new(wrap)).program.text();
                panic!("seed {seed}, width {width}, then {epilogue}, {boscc:?}: {why}\n{text}");
            }
        }
    }
    println!("{agreed} of {count} agree; carried: {kinds:?}; {reasons:#?}");
    assert!(agreed * 5 > count * 2, "too few loops were compared: {reasons:#?}");
    let all = [
        CarryKind::Induction,
        CarryKind::Reduction,
        CarryKind::Ordered,
        CarryKind::Scan,
        CarryKind::Previous,
        CarryKind::Selected,
    ];
    for kind in all {
        let seen = kinds.get(kind.name()).copied().unwrap_or(0);
        assert!(seen as u64 * 20 > count, "too few carry a {}", kind.name());
    }
}

/// Writes to each number but the first one what was before it, from a given one on.
const NEXT: &str = "module \"m\"

func @next(%n: i32, %from: i32, %a: ptr, %b: ptr) {
entry:
  br loop(%from)
loop:
  %i: i32 = phi
  %more: i1 = icmp slt %i, %n
  br %more, body, end
body:
  %wide: i64 = sext %i
  %p: ptr = getelementptr i16, %a, %wide
  %x: i16 = load %p, align 1
  %q: ptr = getelementptr i16, %b, %wide
  store %x, %q, align 1
  %next: i32 = add nsw %i, 1
  br loop(%next)
end:
  ret
}
";

/// What the function leaves at `b`, at a distance from a line.
fn next(module: &Module, func: FuncId, offset: u64, from: u32, n: u32) -> Vec<Option<u8>> {
    let mut machine = Machine::new(module);
    let input: Vec<u8> = (0..640u32).map(|k| (k ^ k >> 8) as u8).collect();
    let a = machine.memory.allocate_bytes(&input, 64).expect("there is room");
    let b = machine.memory.allocate_bytes(&[0xee; 720], 64).expect("there is room");
    let code = machine.prepare_id(func);
    let [n, from] = [n, from].map(|x| Val::int(x.into()));
    machine.run_scalar(&code, &[n, from, Val::ptr(a), Val::ptr(b + offset)]).expect("it runs");
    machine.memory.read(b, 720).expect("it is there")
}

#[test]
fn groups_that_begin_where_stores_are_aligned_leave_out_nothing() {
    for (width, epilogue) in [(4, 4), (8, 2), (2, 1)] {
        let mut module = parse_module(NEXT).unwrap_or_else(|e| panic!("{e}"));
        let scalar = module.function("next").expect("it is there");
        let mut copy = module.functions[scalar].clone();
        copy.name = "copy".into();
        let header = copy.layout[1];
        let copy = module.functions.push(copy);
        let unit = Unit { epilogue, prologue: 16, ..Unit::new(header, width) };
        let options = Options::new(width, Vec::new(), "lanes");
        let made = vectorize_loop(&mut module, copy, &unit, &options).unwrap_or_else(|e| panic!("{e}"));
        assert!(made.variants.prologue.is_some());
        // Numbers need not lie at even addresses.
        for offset in 0..20 {
            let few = [(0, 0), (3, 2), (0, 7), (0, 31), (1, 33), (0, 64), (0, 79), (5, 97), (2, 100)];
            let many = [(0, 128), (1, 133), (5, 256), (0, 290), (3, 301)];
            for (from, n) in few.into_iter().chain(many) {
                let [expected, found] = [scalar, copy].map(|f| next(&module, f, offset, from, n));
                assert_eq!(expected, found, "{width} lanes, offset {offset}, {from} to {n}");
            }
        }
    }
}

/// Writes differences of neighbours, and loads anew what the next iteration needs behind the store.
const DIFFERENCES: &str = "module \"m\"

func @next(%n: i32, %from: i32, %a: ptr, %b: ptr) {
entry:
  br loop(%from, 7)
loop:
  %i: i32 = phi
  %last: i16 = phi
  %more: i1 = icmp slt %i, %n
  br %more, body, end
body:
  %wide: i64 = sext %i
  %p: ptr = getelementptr i16, %a, %wide
  %x: i16 = load %p, align 1
  %d: i16 = sub %x, %last
  %q: ptr = getelementptr i16, %b, %wide
  store %d, %q, align 1
  %y: i16 = load %p, align 1
  %next: i32 = add nsw %i, 1
  br loop(%next, %y)
end:
  ret
}
";

#[test]
fn loads_move_past_stores_of_the_same_iteration_only_where_these_do_not_go_there() {
    for (width, epilogue) in [(4, 4), (8, 2), (2, 1), (16, 16)] {
        let mut module = parse_module(DIFFERENCES).unwrap_or_else(|e| panic!("{e}"));
        let scalar = module.function("next").expect("it is there");
        let mut copy = module.functions[scalar].clone();
        copy.name = "copy".into();
        let header = copy.layout[1];
        let copy = module.functions.push(copy);
        let unit = Unit { epilogue, ..Unit::new(header, width) };
        let made = vectorize_loop(&mut module, copy, &unit, &Options::new(width, Vec::new(), "lanes"));
        assert_eq!(made.unwrap_or_else(|e| panic!("{e}")).checks, 1);
        // The stores go to where the loads are, and around there.
        for offset in 0..80 {
            for n in [0, 1, 7, 31, 33] {
                let run = |func| {
                    let mut machine = Machine::new(&module);
                    let bytes: Vec<u8> = (0..240).map(|k: u32| (k * k + 3 * k) as u8).collect();
                    let a = machine.memory.allocate_bytes(&bytes, 64).expect("there is room");
                    let code = machine.prepare_id(func);
                    let args = [Val::int(n), Val::int(0), Val::ptr(a + 40), Val::ptr(a + offset)];
                    machine.run_scalar(&code, &args).expect("it runs");
                    machine.memory.read(a, 240).expect("it is there")
                };
                assert_eq!(run(scalar), run(copy), "{width} lanes, offset {offset}, {n} iterations");
            }
        }
    }
}

#[test]
fn loops_that_ask_about_lanes_have_whole_groups_from_the_first_iteration_on() {
    let asking = NEXT.replace(
        "  %next: i32 = add nsw %i, 1\n",
        "  %sum: i32 = reduce_add %i\n  %r: ptr = getelementptr i32, %b, %sum\n  %next: i32 = add nsw %i, 1\n",
    );
    let made = |text: &str| {
        let mut module = parse_module(text).unwrap_or_else(|e| panic!("{e}"));
        let func = module.function("next").expect("it is there");
        let header = module.functions[func].layout[1];
        let unit = Unit { epilogue: 2, prologue: 16, ..Unit::new(header, 8) };
        let made = vectorize_loop(&mut module, func, &unit, &Options::new(8, Vec::new(), "lanes"));
        let made = made.unwrap_or_else(|e| panic!("{e}"));
        (made.variants.prologue.is_some(), made.variants.epilogue())
    };
    assert_eq!(made(NEXT), (true, 2));
    assert_eq!(made(&asking), (false, 8));
}

/// Adds something to a sum, a number of bytes or shorts at a time.
const SUM: &str = "module \"m\"

declare @llvm.abs.i32(i32, i1) -> i32

func @sum(%n: i64, %a: ptr, %b: ptr) -> TYPE {
entry:
  br loop(0, 5)
loop:
  %i: i64 = phi
  %s: TYPE = phi
  %more: i1 = icmp ult %i, %n
  br %more, body, end
body:
  %p: ptr = getelementptr ELEM, %a, %i
  %x: ELEM = load %p, align 1
  %q: ptr = getelementptr ELEM, %b, %i
  %y: ELEM = load %q, align 1
SUMMAND
  %sum: TYPE = add %s, %z
  %next: i64 = add nuw nsw %i, 1
  br loop(%next, %sum)
end:
  ret %s
}
";

/// What is added: its name, the types of elements and sum, and the code.
const SUMMANDS: &[(&str, &str, &str, &str)] = &[
    ("bytes", "i8", "i32", "  %z: i32 = zext %x"),
    ("bytes in shorts", "i8", "i16", "  %z: i16 = zext %x"),
    ("bytes in long integers", "i8", "i64", "  %z: i64 = zext %x"),
    ("truth values", "i8", "i64", "  %c: i1 = icmp ugt %x, %y\n  %z: i64 = zext %c"),
    (
        "distances",
        "i8",
        "i32",
        "  %u: i32 = zext %x\n  %v: i32 = zext %y\n  %d: i32 = sub nsw %u, %v\n\
         \x20 %z: i32 = call @llvm.abs.i32(%d, true)",
    ),
    ("products of bytes", "i8", "i32", "  %u: i32 = zext %x\n  %v: i32 = zext %y\n  %z: i32 = mul %u, %v"),
    (
        "products of bytes with signs and without",
        "i8",
        "i32",
        "  %u: i32 = sext %x\n  %v: i32 = zext %y\n  %z: i32 = mul %u, %v",
    ),
    (
        "products of signed bytes",
        "i8",
        "i32",
        "  %u: i32 = sext %x\n  %v: i32 = sext %y\n  %z: i32 = mul %u, %v",
    ),
    ("products of shorts", "i16", "i32", "  %u: i32 = sext %x\n  %v: i32 = sext %y\n  %z: i32 = mul %u, %v"),
    (
        "products with signs and without",
        "i16",
        "i32",
        "  %u: i32 = sext %x\n  %v: i32 = zext %y\n  %z: i32 = mul %u, %v",
    ),
    (
        "bytes under a condition",
        "i8",
        "i32",
        "  %c: i1 = icmp ugt %x, %y\n  %u: i32 = zext %x\n  %z: i32 = select %c, %u, 0",
    ),
    (
        "distances where a condition does not hold",
        "i8",
        "i32",
        "  %c: i1 = icmp ult %y, 77\n  %u: i32 = zext %x\n  %v: i32 = zext %y\n  %d: i32 = sub nsw %u, %v\n\
         \x20 %w: i32 = call @llvm.abs.i32(%d, true)\n  %z: i32 = select %c, 0, %w",
    ),
    (
        "two summands",
        "i8",
        "i32",
        "  %u: i32 = zext %x\n  %v: i32 = zext %y\n  %t: i32 = mul %u, 3\n  %z: i32 = add %t, %v",
    ),
];

#[test]
fn sums_of_bytes_and_products_are_the_scalar_functions_however_many_are_added_together() {
    let mut asked = 0;
    for &(what, elem, ty, code) in SUMMANDS {
        let text = SUM.replace("SUMMAND", code).replace("ELEM", elem).replace("TYPE", ty);
        let widths = [(8, 256), (16, 128), (16, 256), (32, 128), (32, 256), (64, 256), (64, 512), (64, 0)];
        let tails = [(Tail::Masked, 1), (Tail::Scalar, 1), (Tail::Scalar, 4)];
        for ((width, byte_sums), (tail, parts)) in widths.into_iter().flat_map(|w| tails.map(|t| (w, t))) {
            let mut module = parse_module(&text).unwrap_or_else(|e| panic!("{what}: {e}"));
            declare_narrow_functions(&mut module);
            let scalar = module.function("sum").expect("it is there");
            let mut copy = module.functions[scalar].clone();
            copy.name = "copy".into();
            let header = copy.layout[1];
            let copy = module.functions.push(copy);
            let machine = width::Machine { byte_sums, ..width::Machine::default() };
            let options = Options { machine, ..Options::new(width, Vec::new(), "lanes") };
            let unit = Unit { epilogue: width / parts, tail, ..Unit::new(header, width) };
            let made =
                vectorize_loop(&mut module, copy, &unit, &options).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_eq!(made.variants.counting.is_some(), tail == Tail::Scalar, "{what}");
            asked +=
                usize::from(["psad.bw", "pmadd.wd"].iter().any(|name| print_module(&module).contains(name)));
            for n in [0, 1, 7, 16, 63, 64, 65, 130, 200] {
                for seed in 0..3 {
                    let [expected, found] = [scalar, copy].map(|f| sum(&module, f, n, seed));
                    assert_eq!(expected, found, "{what}, {width} lanes, {byte_sums} bits, {n} of them");
                }
            }
        }
    }
    assert!(asked > SUMMANDS.len() * 3, "{asked} loops use instructions for sums");
}

/// The sum of so many elements of random arrays, or of ones with extreme numbers.
fn sum(module: &Module, func: FuncId, n: u64, seed: u64) -> Val {
    let mut machine =
        Machine::with_options(module, MachineOptions { fuel: 1 << 24, ..MachineOptions::default() });
    let mut rng = SplitMix64::new(seed);
    let mut bytes = || -> Vec<u8> {
        let extreme = |rng: &mut SplitMix64| *rng.pick(&[0, 0x80, 0xff, 0x7f]);
        (0..400).map(|_| if seed == 0 { extreme(&mut rng) } else { rng.next_u64() as u8 }).collect()
    };
    let [a, b] = [bytes(), bytes()].map(|x| machine.memory.allocate_bytes(&x, 16).expect("there is room"));
    let code = machine.prepare_id(func);
    machine.run_scalar(&code, &[Val::int(n.into()), Val::ptr(a), Val::ptr(b)]).expect("it runs")
}
