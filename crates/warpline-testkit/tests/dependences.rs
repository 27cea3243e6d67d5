//! Loops and kernels whose iterations or lanes meet in memory: what is vectorized leaves what the scalar program
//! leaves, and everything else is refused.
//!
//! A loop, and a kernel with a sequential meaning, is held against its iterations one after the other; a kernel of
//! threads against lanes that run whole, in several orders. Where these orders leave different memory, lanes race,
//! and whoever vectorizes that without a word is wrong.

use std::collections::BTreeMap;

use warpline_interp::{Machine, Options as MachineOptions, Val};
use warpline_ir::text::parse_module;
use warpline_ir::{FuncId, Module};
use warpline_testkit::environment::number;
use warpline_testkit::planted::{FIELDS, Pointers, Source};
use warpline_testkit::rng::SplitMix64;
use warpline_uniformity::shape::ArgShape;
use warpline_vectorize::driver::Tail;
use warpline_vectorize::loops::{Unit, vectorize_loop};
use warpline_vectorize::{Boscc, Contract, Gathers, Linearize, Masks, Options, RecipeKind, vectorize, width};

/// Bytes of memory, and where the pointers lead to before what they differ by.
const MEMORY: usize = 1 << 14;
const MIDDLE: u64 = 1 << 13;

/// The bytes of the fields.
fn fields() -> Vec<u8> {
    FIELDS.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// What a run leaves in memory, if it does not trap.
fn run(module: &Module, name: &str, n: i64, apart: i64, seed: u64, source: &Source) -> Option<Vec<u8>> {
    let options = MachineOptions { fuel: 4_000_000, ..MachineOptions::default() };
    let mut machine = Machine::with_options(module, options);
    let mut rng = SplitMix64::new(seed);
    let bytes: Vec<u8> = (0..MEMORY).map(|at| source.byte(at, rng.below(256) as u8)).collect();
    let base = machine.memory.allocate_bytes(&bytes, 64).expect("memory is small");
    let id = module.function(name).expect("it is there");
    let code = machine.prepare_id(id);
    let p = base + MIDDLE;
    let func = &module.functions[id];
    let bits = func.ty(func.params[0]).int_bits().expect("a number");
    let n = n as u128 & ((1u128 << bits) - 1);
    let s = machine.memory.allocate_bytes(&fields(), 64).expect("memory is small");
    let args = [Val::int(n), Val::ptr(p), Val::ptr(p.wrapping_add_signed(apart)), Val::ptr(s)];
    machine.run_scalar(&code, &args).ok()?;
    machine.memory.read(base, MEMORY as u64).ok()?.into_iter().collect()
}

enum Outcome {
    Agree {
        checked: bool,
        /// Whether lanes load from offsets that are known.
        permuted: bool,
    },
    Refused,
    Skipped,
}

fn try_one(seed: u64, source: Source) -> (Source, Outcome) {
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
    let epilogue = if rng.chance(1, 3) { width / 2 } else { width };
    let tail = *rng.pick(&[Tail::Masked, Tail::Masked, Tail::Scalar]);
    let prologue = *rng.pick(&[0, 0, 32]);
    let unit = Unit { contract, epilogue, tail, prologue, ..Unit::new(header, width) };
    let options = Options {
        linearize: if rng.chance(1, 4) { Linearize::Full } else { Linearize::Partial },
        boscc: *rng.pick(&[Boscc::Off, Boscc::On]),
        machine: width::Machine {
            gathers: *rng.pick(&[Gathers::Nothing, Gathers::Everything]),
            masks: *rng.pick(&[Masks::Nothing, Masks::Everything]),
            ..width::Machine::default()
        },
        ..Options::new(width, Vec::new(), "lanes")
    };
    let made = match vectorize_loop(&mut module, copy, &unit, &options) {
        Ok(made) => made,
        Err(e) => {
            let text = e.to_string();
            assert!(!e.is_internal(), "seed {seed}: {text}\n{}", source.text);
            return (source, Outcome::Refused);
        }
    };
    let mut ran = false;
    for _ in 0..4 {
        let n = *rng.pick(&[0, 1, 7, 16, 33, 70, 170]);
        let apart = if rng.chance(1, 3) { 4000 } else { rng.below(600) as i64 - 300 };
        let apart = if source.kinds.contains(&"indexed") { apart & !3 } else { apart };
        let Some(expected) = run(&module, "f", n, apart, seed, &source) else { continue };
        let found = run(&module, "g", n, apart, seed, &source);
        let at = found.as_ref().map(|f| f.iter().zip(&expected).position(|(a, b)| a != b));
        assert_eq!(
            at,
            Some(None),
            "seed {seed}: WARPLINE_SEED={seed} WARPLINE_PROGRAMS=1, {width} lanes, {contract:?}, n {n}, apart \
             {apart}\n{}",
            source.text.clone() + &warpline_ir::text::print_function(&module, &module.functions[copy])
        );
        ran = true;
    }
    let permuted = made.variants.full.recipes.0.contains_key(&RecipeKind::Permuted);
    (source, if ran { Outcome::Agree { checked: made.checks > 0, permuted } } else { Outcome::Skipped })
}

fn programs() -> u64 {
    number("WARPLINE_PROGRAMS", 2_000)
}

#[test]
fn loops_with_planted_dependences_are_right_or_refused() {
    let (programs, first) = (programs(), number("WARPLINE_SEED", 1));
    let mut kinds: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    let (mut agreed, mut checked, mut refused) = (0, 0, 0);
    for seed in first..first + programs {
        let (source, outcome) = try_one(seed, Source::of_loop(seed));
        let is_agreed = matches!(outcome, Outcome::Agree { .. });
        for kind in &source.kinds {
            kinds.entry(kind).or_default()[usize::from(is_agreed)] += 1;
        }
        match outcome {
            Outcome::Agree { checked: true, .. } => (agreed, checked) = (agreed + 1, checked + 1),
            Outcome::Agree { .. } => agreed += 1,
            Outcome::Refused => refused += 1,
            Outcome::Skipped => {}
        }
    }
    println!(
        "{programs} loops: {agreed} agree ({checked} with checks), {refused} refused; not agreed and agreed by \
         kind: {kinds:?}"
    );
    if programs >= 1_000 {
        assert!(agreed * 5 > programs, "too few are vectorized");
        assert!(refused * 5 > programs, "too few have dependences");
        assert!(checked * 50 > programs, "too few are checked at run time");
        assert!(kinds.values().all(|&[_, agreed]| agreed * 200 > programs), "{kinds:?}");
    }
}

/// Tries programs one after the other: how many agree, how many of these with checks, and how many are refused.
fn try_all(source: impl Fn(u64) -> Source) -> (u64, u64, u64) {
    let (programs, first) = (programs(), number("WARPLINE_SEED", 1));
    let (mut agreed, mut checked, mut refused) = (0, 0, 0);
    for seed in first..first + programs {
        match try_one(seed, source(seed)).1 {
            Outcome::Agree { checked: true, .. } => (agreed, checked) = (agreed + 1, checked + 1),
            Outcome::Agree { .. } => agreed += 1,
            Outcome::Refused => refused += 1,
            Outcome::Skipped => {}
        }
    }
    println!("{programs} loops: {agreed} agree ({checked} with checks), {refused} refused");
    (agreed, checked, refused)
}

#[test]
fn loops_that_look_at_bits_of_their_counters_are_right() {
    let (programs, first) = (programs(), number("WARPLINE_SEED", 1));
    let (mut agreed, mut known) = (0, 0);
    for seed in first..first + programs {
        if let Outcome::Agree { permuted, .. } = try_one(seed, Source::of_lanes(seed)).1 {
            agreed += 1;
            known += u64::from(permuted);
        }
    }
    println!("{programs} loops: {agreed} agree, {known} of these with offsets that are known");
    if programs >= 1_000 {
        assert!(agreed * 2 > programs, "too few are vectorized");
        assert!(known * 9 > programs, "too few offsets are known");
    }
}

#[test]
fn loops_over_parts_of_elements_are_right_or_refused() {
    let (programs, (agreed, checked, refused)) = (programs(), try_all(Source::of_elements));
    if programs >= 1_000 {
        assert!((agreed - checked) * 12 > programs, "too few need no checks");
        assert!(refused * 10 > programs, "too few have dependences");
    }
}

#[test]
fn loops_that_walk_over_rows_and_columns_are_right_or_refused() {
    let (programs, (agreed, checked, refused)) = (programs(), try_all(Source::of_rows));
    if programs >= 1_000 {
        assert!(agreed * 5 > programs, "too few are vectorized");
        assert!((agreed - checked) * 12 > programs, "too few need no checks");
        assert!(checked * 20 > programs, "too few are checked at run time");
        assert!(refused * 10 > programs, "too few have dependences");
    }
}

#[test]
fn what_bends_is_checked_to_the_byte() {
    let (programs, first) = (programs() / 20, number("WARPLINE_SEED", 1));
    let (mut made, mut scalar) = (0, 0);
    for seed in first..first + programs {
        let source = Source::of_copy(seed);
        let mut module =
            parse_module(&source.text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}", source.text));
        let func = module.function("f").expect("it is there");
        let mut copy = module.functions[func].clone();
        copy.name = "g".into();
        let header = copy.layout[1];
        let copy = module.functions.push(copy);
        let options = Options::new(8, Vec::new(), "lanes");
        if vectorize_loop(&mut module, copy, &Unit::new(header, 8), &options).is_err() {
            continue;
        }
        made += 1;
        let n = [5, 16, 31, 33][seed as usize % 4];
        for apart in -130..=130 {
            let Some(expected) = run(&module, "f", n, apart, seed, &source) else {
                scalar += 1;
                continue;
            };
            let found = run(&module, "g", n, apart, seed, &source);
            assert!(
                found == Some(expected),
                "seed {seed}: n {n}, apart {apart}\n{}",
                source.text.clone() + &warpline_ir::text::print_function(&module, &module.functions[copy])
            );
        }
    }
    println!("{programs} loops: {made} vectorized, {scalar} runs trap");
    assert!(made * 3 > programs, "too few are vectorized");
}

/// What a kernel leaves in memory, called for `calls` one after the other, each a first index and a function.
fn run_calls(
    module: &Module,
    source: &Source,
    seed: u64,
    apart: u64,
    calls: impl Iterator<Item = (i64, FuncId)>,
) -> Option<Vec<u8>> {
    let options = MachineOptions { fuel: 4_000_000, ..MachineOptions::default() };
    let mut machine = Machine::with_options(module, options);
    let mut rng = SplitMix64::new(seed);
    let bytes: Vec<u8> = (0..2 * MEMORY).map(|at| source.byte(at, rng.below(256) as u8)).collect();
    let base = machine.memory.allocate_bytes(&bytes, 64).expect("memory is small");
    let s = machine.memory.allocate_bytes(&fields(), 64).expect("memory is small");
    let p = base + MIDDLE;
    let mut codes = BTreeMap::new();
    for (i, id) in calls {
        let code = codes.entry(id).or_insert_with(|| machine.prepare_id(id)).clone();
        let bits = module.functions[id].ty(module.functions[id].params[0]).int_bits().expect("an index");
        let i = i as u128 & ((1u128 << bits) - 1);
        machine.run_scalar(&code, &[Val::int(i), Val::ptr(p), Val::ptr(p + apart), Val::ptr(s)]).ok()?;
    }
    machine.memory.read(base, 2 * MEMORY as u64).ok()?.into_iter().collect()
}

/// What became of a kernel.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Found {
    Agrees,
    /// Lanes race, and the user was warned, or answers for an address that nobody knows.
    Told,
    Refused,
    Skipped,
}

/// Orders of the indices of each group of `width` lanes: downwards, two at random, and with each lane at the
/// beginning or the end.
fn orders(width: u32, groups: u32, rng: &mut SplitMix64) -> Vec<Vec<i64>> {
    let lanes: Vec<i64> = (0..i64::from(width)).collect();
    let mut all = vec![lanes.iter().rev().copied().collect::<Vec<i64>>()];
    for _ in 0..2 {
        let mut shuffled = lanes.clone();
        for n in (1..shuffled.len()).rev() {
            shuffled.swap(n, rng.below(n + 1));
        }
        all.push(shuffled);
    }
    for &lane in &lanes {
        let others = || lanes.iter().copied().filter(move |&l| l != lane);
        all.push(std::iter::once(lane).chain(others()).collect());
        all.push(others().chain(std::iter::once(lane)).collect());
    }
    let whole = |one: Vec<i64>| {
        (0..i64::from(groups))
            .flat_map(|g| one.iter().map(move |l| g * i64::from(width) + l).collect::<Vec<i64>>())
            .collect()
    };
    all.into_iter().map(whole).collect()
}

fn try_kernel(seed: u64, contract: Contract) -> (Source, Found) {
    let mut rng = SplitMix64::new(seed ^ 0x6b65);
    let pointers = if rng.chance(2, 3) { Pointers::NoAlias } else { Pointers::Plain };
    let source = Source::of_kernel(seed, pointers);
    let mut module =
        parse_module(&source.text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}", source.text));
    let scalar = module.function("f").expect("it is there");
    let width = *rng.pick(&[2, 4, 8, 16]);
    let options = Options {
        linearize: if rng.chance(1, 4) { Linearize::Full } else { Linearize::Partial },
        boscc: *rng.pick(&[Boscc::Off, Boscc::On]),
        machine: width::Machine {
            gathers: *rng.pick(&[Gathers::Nothing, Gathers::Everything]),
            masks: *rng.pick(&[Masks::Nothing, Masks::Everything]),
            ..width::Machine::default()
        },
        contract,
        ..Options::new(
            width,
            vec![ArgShape::Index, ArgShape::Uniform, ArgShape::Uniform, ArgShape::Uniform],
            "lanes",
        )
    };
    let made = match vectorize(&mut module, scalar, &options) {
        Ok(made) => made,
        Err(e) => {
            assert!(!e.is_internal(), "seed {seed}: {e}\n{}", source.text);
            return (source, Found::Refused);
        }
    };
    let groups = 3;
    // Pointers to objects of their own are far apart, and threads answer for others.
    let is_free = pointers == Pointers::Plain && contract == Contract::Sequential;
    let apart = if is_free { rng.below(75) as u64 * 4 } else { MEMORY as u64 - 4096 };
    let run_scalar =
        |order: Vec<i64>| run_calls(&module, &source, seed, apart, order.into_iter().map(|i| (i, scalar)));
    let Some(expected) = run_scalar((0..i64::from(groups * width)).collect()) else {
        return (source, Found::Skipped);
    };
    let found =
        run_calls(&module, &source, seed, apart, (0..groups).map(|g| (i64::from(g * width), made.func)));
    let is_right = found.as_ref() == Some(&expected);
    if is_right && contract == Contract::Sequential {
        return (source, Found::Agrees);
    }
    let differs = |order: Vec<i64>| run_scalar(order).as_ref() != Some(&expected);
    let races = contract == Contract::Threads && orders(width, groups, &mut rng).into_iter().any(differs);
    let trusted = !made.dependences.trusted.is_empty();
    // Who answers for addresses that nobody knows answers for all that comes of it; where it is warned that the last
    // lane wins, it does.
    if trusted && (races || !is_right) || races && is_right && !made.dependences.warnings.is_empty() {
        return (source, Found::Told);
    }
    assert!(
        is_right && !races,
        "seed {seed}: WARPLINE_SEED={seed} WARPLINE_PROGRAMS=1, {width} lanes, {contract:?}, right {is_right}, \
         races {races}\n{}",
        source.text.clone() + &warpline_ir::text::print_function(&module, &module.functions[made.func])
    );
    (source, Found::Agrees)
}

type Kinds = BTreeMap<&'static str, BTreeMap<Found, u64>>;

/// What became of kernels with each kind of statement.
fn try_kernels(contract: Contract) -> Kinds {
    let (programs, first) = (programs(), number("WARPLINE_SEED", 1));
    let mut kinds = Kinds::new();
    let mut outcomes: BTreeMap<Found, u64> = BTreeMap::new();
    for seed in first..first + programs {
        let (source, found) = try_kernel(seed, contract);
        *outcomes.entry(found).or_default() += 1;
        for kind in &source.kinds {
            *kinds.entry(kind).or_default().entry(found).or_default() += 1;
        }
    }
    println!("{programs} kernels, {contract:?}: {outcomes:?}; by kind: {kinds:?}");
    if programs >= 1_000 {
        let count = |found| outcomes.get(&found).copied().unwrap_or(0);
        assert!(count(Found::Agrees) * 5 > programs, "too few are vectorized");
        assert!(count(Found::Refused) * 5 > programs, "too few are refused");
    }
    kinds
}

/// How many kernels with each kind of statement were accepted, right or as the user was told.
fn accepted(kinds: &Kinds, kind: &str) -> u64 {
    let of = &kinds[kind];
    [Found::Agrees, Found::Told].iter().filter_map(|f| of.get(f)).sum()
}

#[test]
fn kernels_with_a_sequential_meaning_are_right_or_refused() {
    let kinds = try_kernels(Contract::Sequential);
    // Records are at one place, which the other statements of a kernel are mostly not kept apart from.
    let share = |kind: &str| if kind == "record" { 1_000 } else { 200 };
    let enough = |kind: &&str| accepted(&kinds, kind) * share(kind) > programs() || programs() < 1_000;
    assert!(kinds.keys().all(enough), "{kinds:?}");
}

#[test]
fn threads_that_race_are_refused_or_told_and_others_are_right() {
    let kinds = try_kernels(Contract::Threads);
    // Updates and records at places that lanes may have in common are lost, whatever they do else.
    let is_lost = |kind: &str| ["update", "record"].contains(&kind);
    let enough =
        |kind: &&str| is_lost(kind) || accepted(&kinds, kind) * 200 > programs() || programs() < 1_000;
    assert!(kinds.keys().all(enough), "{kinds:?}");
}
