//! Vector code that is broken on purpose: what each form of access rests on is changed in one place, and the judge
//! must notice.

use warpline_interp::LaneSet;
use warpline_ir::verify::verify;
use warpline_ir::{BinaryOp, CastOp, Constant, FuncId, Function, Inst, MemAccess, Module, Op, Type, Value};
use warpline_testkit::census::private_object;
use warpline_testkit::differential::{Form, Setup, run_vector_code, shape_of};
use warpline_testkit::programs::{
    Inputs, Observed, Program, ProgramOptions, Reference, compare, generate, run_lockstep,
};
use warpline_testkit::rng::SplitMix64;
use warpline_vectorize::{self as vectorize, Contract, Options, Passing};

const FUEL: u64 = 300_000;

const WIDTH: u32 = 8;

/// What can go wrong in vector code.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Mutation {
    /// Two lanes' elements of a strided, grouped or reversed load change places.
    LoadShuffle,
    /// The same of a store.
    StoreShuffle,
    /// A masked store is made for all lanes.
    StoreMask,
    /// A masked load is made for all lanes.
    LoadMask,
    /// A gather or scatter is made for all lanes.
    IndexedMask,
    /// A gather of AVX2 is made for all lanes.
    Avx2Mask,
    /// Its indices step over elements of another size.
    Avx2Scale,
    /// An access claims a greater alignment.
    Alignment,
    /// A gather's or scatter's indices step over elements of another size.
    IndexScale,
    /// Narrow numbers in addresses are extended in the other way.
    IndexExtension,
    /// Indices of 32 bits are made of those of 64 with some high bits lost.
    IndexWidth,
    /// Private memory of all lanes is laid out for fewer lanes.
    PrivateLayout,
    /// Private memory is smaller.
    PrivateSize,
    /// A packed store is made for all lanes.
    PackedMask,
    /// A reduction takes what inactive lanes hold.
    ReductionMask,
    /// Two lanes of a step of a scan change places.
    ScanStep,
}

use Mutation::*;

/// Of lane operations.
const LANES: [Mutation; 3] = [PackedMask, ReductionMask, ScanStep];

/// Of accesses to memory.
const ACCESSES: [Mutation; 13] = [
    LoadShuffle,
    StoreShuffle,
    StoreMask,
    LoadMask,
    IndexedMask,
    Avx2Mask,
    Avx2Scale,
    Alignment,
    IndexScale,
    IndexExtension,
    IndexWidth,
    PrivateLayout,
    PrivateSize,
];

/// What the names of AVX2's gathers begin with.
const AVX2_GATHER: &str = "llvm.x86.avx2.gather.";

/// The callee of a call.
fn callee<'a>(module: &'a Module, func: &Function, i: Inst) -> &'a str {
    match &func.insts[i].op {
        Op::Call(info) => info.callee.map_or("", |s| &*module.symbols[s].name),
        _ => "",
    }
}

fn insts(func: &Function) -> Vec<Inst> {
    func.layout.iter().flat_map(|&b| func.blocks[b].insts.clone()).collect()
}

/// The instruction that defines an operand.
fn def(func: &Function, i: Inst, operand: usize) -> Option<Inst> {
    func.def_inst(*func.insts[i].args.get(operand)?)
}

/// The `getelementptr`s of gathers and scatters.
fn indexed(module: &Module, func: &Function) -> Vec<Inst> {
    let address = |i: Inst| {
        let name = callee(module, func, i);
        match name {
            _ if name.starts_with("llvm.masked.gather.") => def(func, i, 0),
            _ if name.starts_with("llvm.masked.scatter.") => def(func, i, 1),
            _ => None,
        }
    };
    let geps = insts(func).into_iter().filter_map(address);
    geps.filter(|&i| matches!(func.insts[i].op, Op::Gep(_)) && func.insts[i].args.len() == 2).collect()
}

/// The values that an integer is computed from by additions and multiplications, with their instructions.
fn summands(func: &Function, v: Value, found: &mut Vec<Inst>) {
    let Some(i) = func.def_inst(v) else { return };
    found.push(i);
    if let Op::Binary(BinaryOp::Add | BinaryOp::Mul | BinaryOp::Shl) = func.insts[i].op {
        for &a in &func.insts[i].args {
            summands(func, a, found);
        }
    }
}

/// The instructions that a mutation may change.
fn places(module: &Module, func: &Function, mutation: Mutation) -> Vec<Inst> {
    let named = |prefix: &'static str| move |&i: &Inst| callee(module, func, i).starts_with(prefix);
    let all = insts(func);
    let is_shuffle = |&i: &Inst| match &func.insts[i].op {
        Op::Shuffle(places) => places.iter().any(|&k| k != places[0]),
        _ => false,
    };
    let is_load = |i: Inst| {
        matches!(func.insts[i].op, Op::Load(_)) || callee(module, func, i).starts_with("llvm.masked.load.")
    };
    match mutation {
        LoadShuffle => {
            let of_load = |&i: &Inst| def(func, i, 0).is_some_and(is_load);
            all.iter().copied().filter(is_shuffle).filter(of_load).collect()
        }
        StoreShuffle => {
            let stored = |&i: &Inst| match func.insts[i].op {
                Op::Store(_) => def(func, i, 0),
                _ if callee(module, func, i).starts_with("llvm.masked.store.") => def(func, i, 0),
                _ => None,
            };
            all.iter().filter_map(stored).filter(is_shuffle).collect()
        }
        StoreMask => all.iter().copied().filter(named("llvm.masked.store.")).collect(),
        PackedMask => all.iter().copied().filter(named("llvm.masked.compressstore.")).collect(),
        ReductionMask => {
            let masked = |&i: &Inst| {
                let last = func.insts[i].args.len().saturating_sub(1);
                let reduces = callee(module, func, i).starts_with("llvm.vector.reduce.");
                reduces && def(func, i, last).is_some_and(|d| func.insts[d].op == Op::Select)
            };
            all.iter().copied().filter(masked).collect()
        }
        ScanStep => {
            let neutral = |&i: &Inst| {
                let rest = func.insts[i].args[1];
                func.constant(rest).is_some() && !func.is_poison(rest)
            };
            all.iter().copied().filter(is_shuffle).filter(neutral).collect()
        }
        LoadMask => all.iter().copied().filter(named("llvm.masked.load.")).collect(),
        IndexedMask => {
            let is = |i: &Inst| named("llvm.masked.gather.")(i) || named("llvm.masked.scatter.")(i);
            all.iter().copied().filter(is).collect()
        }
        Avx2Mask | Avx2Scale => all.iter().copied().filter(named(AVX2_GATHER)).collect(),
        Alignment => {
            let is = |&i: &Inst| func.accessed(i).is_some_and(|a| matches!(a.ty, Type::Vector(_)));
            all.iter().copied().filter(is).collect()
        }
        IndexScale => indexed(module, func),
        IndexExtension => {
            let mut found = Vec::new();
            let by_avx2 = all.iter().copied().filter(named(AVX2_GATHER)).map(|i| func.insts[i].args[2]);
            let geps = indexed(module, func).into_iter().map(|gep| func.insts[gep].args[1]);
            for index in geps.chain(by_avx2) {
                summands(func, index, &mut found);
            }
            found.retain(|&i| matches!(func.insts[i].op, Op::Cast(CastOp::ZExt | CastOp::SExt)));
            found
        }
        IndexWidth => {
            let wanted = Type::Int(32).vector(WIDTH);
            let narrow = |&i: &Inst| Some(func.ty(func.insts[i].args[1])) == wanted;
            indexed(module, func).into_iter().filter(narrow).collect()
        }
        PrivateLayout => {
            let mut found = Vec::new();
            for &i in &all {
                let data = &func.insts[i];
                if matches!(data.op, Op::Gep(_)) && private_object(func, data.args[0]).is_some() {
                    summands(func, data.args[1], &mut found);
                }
            }
            let by_constant = |&i: &Inst| {
                let data = &func.insts[i];
                matches!(data.op, Op::Binary(BinaryOp::Mul)) && func.constant(data.args[1]).is_some()
            };
            found.retain(by_constant);
            found
        }
        PrivateSize => {
            all.iter().copied().filter(|&i| matches!(func.insts[i].op, Op::Alloca { .. })).collect()
        }
    }
}

/// All bits of a mask are set.
fn all_true(func: &mut Function, mask: Value) -> Value {
    match func.ty(mask) {
        Type::Vector(v) => {
            func.constant_value(Constant::vector(vec![Constant::bool(true); v.lanes as usize]))
        }
        _ => func.bool_const(true),
    }
}

/// Half of a constant integer, or of each of a vector of these.
fn halved(c: &Constant) -> Constant {
    match c {
        Constant::Int { bits, value } => Constant::int(*bits, value / 2),
        Constant::Composite { ty, elems } => {
            Constant::Composite { ty: *ty, elems: elems.iter().map(halved).collect() }
        }
        other => other.clone(),
    }
}

/// Changes a function in one place.
fn mutate(module: &mut Module, id: FuncId, mutation: Mutation, i: Inst, rng: &mut SplitMix64) {
    let types = &mut module.types;
    let func = &mut module.functions[id];
    let last = func.insts[i].args.len() - 1;
    let swap = |op: &mut Op, rng: &mut SplitMix64| {
        let Op::Shuffle(places) = op else { return };
        let wanted: Vec<usize> = (0..places.len()).filter(|&k| places[k] >= 0).collect();
        let (a, b) = (*rng.pick(&wanted), *rng.pick(&wanted));
        places.swap(a, b);
    };
    match mutation {
        LoadShuffle | StoreShuffle | ScanStep => swap(&mut func.insts[i].op, rng),
        ReductionMask => {
            let select = def(func, i, last).expect("it is masked");
            func.insts[i].args[last] = func.insts[select].args[1];
        }
        StoreMask | PackedMask => {
            let mask = func.insts[i].args[last];
            func.insts[i].args[last] = all_true(func, mask);
        }
        LoadMask => {
            let mask = func.insts[i].args[2];
            func.insts[i].args[2] = all_true(func, mask);
        }
        IndexedMask => {
            let at = if func.insts[i].results.is_empty() { last } else { 2 };
            let mask = func.insts[i].args[at];
            func.insts[i].args[at] = all_true(func, mask);
        }
        Avx2Mask => {
            let ones = Constant::vector(vec![Constant::int(32, u128::from(u32::MAX)); WIDTH as usize]);
            func.insts[i].args[3] = func.constant_value(ones);
        }
        Avx2Scale => {
            let scale = func.as_int(func.insts[i].args[4]).expect("a constant");
            func.insts[i].args[4] = func.int_const(8, if scale > 1 { scale / 2 } else { 2 });
        }
        Alignment => {
            let data = &mut func.insts[i];
            let (Op::Load(MemAccess { align, .. }) | Op::Store(MemAccess { align, .. })) = &mut data.op
            else {
                return;
            };
            *align *= 2;
        }
        IndexScale => {
            let Op::Gep(Type::Int(bits)) = func.insts[i].op else { return };
            func.insts[i].op = Op::Gep(Type::Int(if bits > 8 { bits / 2 } else { 16 }));
        }
        IndexExtension => {
            let signed = func.insts[i].op == Op::Cast(CastOp::SExt);
            func.insts[i].op = Op::Cast(if signed { CastOp::ZExt } else { CastOp::SExt });
        }
        IndexWidth => {
            let (index, b) = (func.insts[i].args[1], func.insts[i].block);
            let narrow = Type::Int(2).vector(WIDTH).expect("an integer is a scalar");
            let (at, wide) =
                (func.blocks[b].insts.iter().position(|&x| x == i).expect("it is there"), func.ty(index));
            let cut = func.make_inst(b, Op::Cast(CastOp::Trunc), &[index], &[narrow]);
            let cut_value = func.insts[cut].results[0];
            let back = func.make_inst(b, Op::Cast(CastOp::SExt), &[cut_value], &[wide]);
            func.insts[i].args[1] = func.insts[back].results[0];
            func.blocks[b].insts.splice(at..at, [cut, back]);
        }
        PrivateLayout => {
            let constant = func.constant(func.insts[i].args[1]).map(halved).expect("a constant");
            func.insts[i].args[1] = func.constant_value(constant);
        }
        PrivateSize => {
            let Op::Alloca { ty, align } = func.insts[i].op else { return };
            let bytes = module.layout.alloc_size(types, ty).unwrap_or(2);
            func.insts[i].op = Op::Alloca { ty: types.array(Type::Int(8), bytes - 1), align };
        }
    }
}

/// A kernel with its vector code and what the lanes do on several inputs.
struct Case {
    module: Module,
    func: FuncId,
    params: Vec<Passing>,
    runs: Vec<(Inputs, Observed)>,
    setup: Setup,
}

/// The case of a seed; with `lanes`, one that has lane operations.
fn case(seed: u64, lanes: bool) -> Option<Case> {
    let mut rng = SplitMix64::new(seed);
    let mut options = ProgramOptions {
        size: rng.below(6),
        insts: rng.between(3, 8),
        layouts: true,
        aggregates: false,
        traps: false,
        ..ProgramOptions::random(&mut rng)
    };
    options.lane_operations |= lanes;
    options.irreducible &= !lanes;
    let program: Program = generate(seed, &options);
    let mask = rng.chance(1, 3).then(|| LaneSet(rng.next_u64() & LaneSet::first(WIDTH).0));
    let setup = Setup { mask, form: Form::random(&mut rng), fuel: FUEL };
    let mut module = program.module.clone();
    let roles = program.roles.iter().map(shape_of).collect();
    let options = Options {
        masked: mask.is_some(),
        linearize: setup.form.linearize,
        boscc: setup.form.boscc,
        machine: setup.form.machine(),
        coherence: setup.form.coherence,
        contract: Contract::Racy,
        ..Options::new(WIDTH, roles, "kernel_vectorized")
    };
    let made = vectorize::vectorize(&mut module, program.kernel, &options).ok()?;
    let machine = warpline_interp::Options { fuel: FUEL, ..warpline_interp::Options::default() };
    let active = mask.unwrap_or(LaneSet::first(WIDTH));
    let runs = (0..3).filter_map(|k| {
        let inputs = Inputs::random(&program, WIDTH, seed + 1_000_000 * k);
        let reference = run_lockstep(&program, &inputs, active, &machine, None);
        (reference.result.is_ok() && !reference.froze).then_some((inputs, reference))
    });
    Some(Case { runs: runs.collect(), params: made.params, func: made.func, module, setup })
}

impl Case {
    /// Whether the vector code does what the lanes do, but for the effects, on which nothing here bears.
    fn is_right(&self, module: &Module) -> bool {
        self.runs.iter().all(|(inputs, reference)| {
            let mut found =
                run_vector_code(inputs, &self.setup, module, &module.functions[self.func], &self.params);
            found.effects.clone_from(&reference.effects);
            compare(reference, &found, Reference::Lockstep).is_ok()
        })
    }
}

/// What became of one kind of mutation.
#[derive(Default)]
struct Found {
    made: usize,
    noticed: usize,
    first: Option<u64>,
}

#[test]
fn the_judge_notices_broken_accesses() {
    are_noticed(&ACCESSES, false, 300);
}

#[test]
fn the_judge_notices_broken_lane_operations() {
    are_noticed(&LANES, true, 700);
}

fn are_noticed(mutations: &[Mutation], lanes: bool, programs: u64) {
    let count = std::env::var("WARPLINE_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(programs);
    let mut rng = SplitMix64::new(3);
    let mut found: Vec<Found> = mutations.iter().map(|_| Found::default()).collect();
    for seed in 0..count {
        let Some(case) = case(seed, lanes).filter(|c| !c.runs.is_empty()) else { continue };
        assert!(case.is_right(&case.module), "seed {seed}");
        for (&mutation, found) in mutations.iter().zip(&mut found) {
            let places = places(&case.module, &case.module.functions[case.func], mutation);
            if places.is_empty() {
                continue;
            }
            let mut broken = case.module.clone();
            mutate(&mut broken, case.func, mutation, *rng.pick(&places), &mut rng);
            let func = &broken.functions[case.func];
            verify(&broken, func).unwrap_or_else(|e| panic!("seed {seed}, {mutation:?}: {e}"));
            found.made += 1;
            if !case.is_right(&broken) {
                found.noticed += 1;
                found.first.get_or_insert(seed + 1);
            }
        }
    }
    for (mutation, Found { made, noticed, first }) in mutations.iter().zip(&found) {
        println!("{mutation:?}: {noticed} of {made} noticed, the first after {first:?} programs");
    }
    for (mutation, Found { made, noticed, .. }) in mutations.iter().zip(&found) {
        // Others are in code that no lane comes to, or change nothing on these inputs: few indices are negative, so
        // few extensions matter.
        assert!(*made >= 10 && *noticed * 40 > *made, "{mutation:?}: {noticed} of {made} noticed");
    }
}
