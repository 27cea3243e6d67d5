//! The uniformity analysis on functions of all kinds.

use warpline_ir::{Block, FuncId, Function, Module, Op, Type};
use warpline_testkit::modules::{FunctionShape, module};
use warpline_testkit::rng::SplitMix64;
use warpline_uniformity::report::FunctionReport;
use warpline_uniformity::shape::{ArgShape, Shape};
use warpline_uniformity::{Options, Uniformity};

const ARGS: [ArgShape; 4] = [ArgShape::Uniform, ArgShape::Varying, ArgShape::Index, ArgShape::Stride(3)];

fn random_args(rng: &mut SplitMix64, func: &Function) -> Vec<ArgShape> {
    func.params.iter().map(|_| *rng.pick(&ARGS)).collect()
}

#[test]
fn any_function_can_be_analysed_and_reported_on() {
    let shape = FunctionShape { max_blocks: 12, ..FunctionShape::default() };
    let (mut divergent, mut strided, mut temporal) = (0, 0, 0);
    for seed in 0..300 {
        let mut rng = SplitMix64::new(seed);
        let m = module(&mut rng, &shape);
        for f in m.functions.values() {
            let options = Options::with_args(random_args(&mut rng, f));
            let result = Uniformity::compute(&m, f, &options);
            let report = FunctionReport::new(&m, f, &result);
            assert_eq!(report.blocks, f.layout.len(), "seed {seed}");
            assert_eq!(
                report.divergent.branches.len(),
                report.reasons.iter().filter(|r| r.kind == "branch").count()
            );
            assert!(report.reasons.iter().all(|r| !r.text.is_empty()), "seed {seed}");
            divergent += report.divergent.branches.len();
            strided += report.strided.len();
            temporal += report.temporal.len();
        }
    }
    assert!(divergent > 100 && strided > 20 && temporal > 20, "{divergent} {strided} {temporal}: vacuous");
}

#[test]
fn divergence_follows_operands_wherever_the_analysis_says_uniform() {
    let shape = FunctionShape { max_blocks: 12, ..FunctionShape::default() };
    for seed in 0..300 {
        let mut rng = SplitMix64::new(seed);
        let m = module(&mut rng, &shape);
        for f in m.functions.values() {
            let options = Options::with_args(random_args(&mut rng, f));
            let result = Uniformity::compute(&m, f, &options);
            for v in f.values.keys() {
                assert_eq!(result.is_divergent(v), !result.shape(v).is_uniform(), "seed {seed}: {v}");
            }
            for &b in &f.layout {
                if result.is_divergent_branch(b) {
                    let term = &f.insts[f.terminator(b)];
                    let decided = term.args.iter().any(|&a| result.is_divergent_at(a, b));
                    assert!(decided || matches!(term.op, Op::OpaqueTerm(_)), "seed {seed}: {b}");
                }
            }
        }
    }
}

#[test]
fn another_divergent_argument_never_makes_a_value_uniform() {
    let shape = FunctionShape::default();
    for seed in 0..200 {
        let mut rng = SplitMix64::new(seed);
        let m = module(&mut rng, &shape);
        for f in m.functions.values() {
            let less = random_args(&mut rng, f);
            let more: Vec<ArgShape> =
                less.iter().map(|&a| if rng.chance(1, 2) { ArgShape::Varying } else { a }).collect();
            let less = Uniformity::compute(&m, f, &Options::with_args(less));
            let more = Uniformity::compute(&m, f, &Options::with_args(more));
            for v in f.values.keys() {
                assert!(less.shape(v).join(more.shape(v)) == more.shape(v), "seed {seed}: {v}");
            }
            for b in f.layout.iter().copied().filter(|&b| less.is_divergent_branch(b)) {
                assert!(more.is_divergent_branch(b), "seed {seed}: {b}");
            }
        }
    }
}

/// A chain of `n` loops, each left by lanes in different iterations, each counting on from the one before.
fn chain_of_loops(n: usize) -> (Module, FuncId) {
    let mut f = Function::new("chain", Type::Void);
    let i = f.add_param(Type::Int(32), "i");
    let zero = f.int_const(32, 0);
    let one = f.int_const(32, 1);
    let entry = f.add_block("entry");
    let heads: Vec<Block> = (0..n).map(|_| f.add_block("")).collect();
    let exit = f.add_block("exit");
    let phis: Vec<_> = heads.iter().map(|&h| f.add_phi(h, Type::Int(32))).collect();
    let t = f.set_terminator(entry, Op::Br, &[], &[heads[0]]);
    let e = f.insts[t].edges[0];
    f.set_phi_arg(e, 0, zero);
    for k in 0..n {
        let op = Op::Binary(warpline_ir::BinaryOp::Add);
        let next = f.append_value(heads[k], op, &[phis[k], one], Type::Int(32));
        let less = Op::ICmp(warpline_ir::IntPred::Slt);
        let c = f.append_value(heads[k], less, &[next, i], Type::BOOL);
        let after = heads.get(k + 1).copied().unwrap_or(exit);
        let t = f.set_terminator(heads[k], Op::CondBr, &[c], &[heads[k], after]);
        let [back, out] = f.insts[t].edges[..] else { panic!("two edges") };
        f.set_phi_arg(back, 0, next);
        if after != exit {
            f.set_phi_arg(out, 0, next);
        }
    }
    f.set_terminator(exit, Op::Ret, &[], &[]);
    let mut m = Module::new("m");
    let id = m.functions.push(f);
    (m, id)
}

#[test]
fn a_large_function_takes_no_quadratic_time() {
    let (m, id) = chain_of_loops(20_000);
    let f = &m.functions[id];
    let start = std::time::Instant::now();
    let result = Uniformity::compute(&m, f, &Options::with_args(vec![ArgShape::Index]));
    assert_eq!(result.divergent_branches().count(), 20_000);
    assert_eq!(result.shape(f.params[0]), Shape::INDEX);
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}
