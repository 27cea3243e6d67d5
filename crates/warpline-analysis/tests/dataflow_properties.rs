//! Paper 4, Theorem 4: the sparse solution equals the dense one, on random programs and random problems.
//!
//! `WARPLINE_PROGRAMS` says how many programs, `WARPLINE_SEED` where to start.

use warpline_analysis::dataflow::{
    Forward, ForwardEdge, ForwardFacts, ForwardOptions, Instruction, Program, ProgramBuilder, Schedule,
    Variable, WideningPoints, solve_backward_dense, solve_backward_with, solve_forward,
    solve_forward_dense_at, solve_forward_narrowing, solve_forward_with,
};
use warpline_analysis::ssi::{Ssi, Strategy, Version, ssify};
use warpline_analysis::{EdgeId, Graph, Node};
use warpline_testkit::dataflow_oracles::{
    Point, Points, Solution, live_points, naive_backward, naive_forward, versions_at,
};
use warpline_testkit::dataflow_problems::{Chain, Flat, Interval, Powerset, RandomProblem, SmallLattice};
use warpline_testkit::dataflow_programs::{Form, for_each_program};

const STRATEGIES: [Strategy; 9] = [
    Strategy::SSA,
    Strategy::CONDITIONAL_CONSTANTS,
    Strategy::E_SSA,
    Strategy::SSI,
    Strategy::STEPHENSON,
    Strategy::MAHLKE,
    Strategy::SSU,
    Strategy::HOCHSTADT,
    Strategy::NULL_POINTERS,
];

/// What is needed to compare solutions of one program and one strategy.
struct Case<'a> {
    program: &'a Program,
    ssi: Ssi,
    points: Points,
    live: Vec<Vec<bool>>,
    versions: Vec<Vec<Option<Version>>>,
}

/// The same program where a variable with one definition that may be read before it holds a value on entry: splitting
/// takes variables with one definition for strict.
fn strict(program: &Program) -> Program {
    let points = Points::of(program);
    let live = &live_points(program, &points)[points.number(Point::In(program.graph().entry(), 0))];
    let mut definitions = vec![0; program.variables()];
    let graph = program.graph();
    let results = (0..program.instructions() as u32).flat_map(|at| program.definitions(Instruction(at)));
    let phis = graph.nodes().filter_map(|n| graph.in_edges(n).first()).flat_map(|&e| program.phis(e));
    results.chain(phis.map(|p| &p.result)).for_each(|v| definitions[v.index()] += 1);
    let mut builder = ProgramBuilder::new(graph.clone(), program.variables());
    for v in (0..program.variables() as u32).map(Variable) {
        if program.is_fixed(v) {
            builder.fixed(v);
        } else if program.on_entry().contains(&v) || live[v.index()] && definitions[v.index()] <= 1 {
            builder.on_entry(v);
        }
    }
    for n in graph.nodes() {
        builder.begin(n);
        for at in program.block(n).map(Instruction) {
            builder.instruction(program.uses(at).to_vec(), program.definitions(at).to_vec());
        }
        program.tests(n).iter().for_each(|t| builder.test(n, t.variable, t.kind));
    }
    for e in graph.edges() {
        program.phis(e).iter().for_each(|p| builder.phi(e, p.result, p.operand));
    }
    builder.build().expect("a well-formed program")
}

impl<'a> Case<'a> {
    fn new(program: &'a Program, strategy: &Strategy) -> Result<Case<'a>, String> {
        let ssi = ssify(program, strategy);
        let points = Points::of(program);
        let live = live_points(program, &points);
        let versions = versions_at(program, &ssi, &points, &live)?;
        Ok(Case { program, ssi, points, live, versions })
    }

    /// All points with the variables that are live there, if control comes there.
    fn live<F>(&self, solution: &Solution<F>) -> impl Iterator<Item = (usize, Point, Variable)> {
        let is_reached = |point: Point| match point {
            Point::In(n, _) => solution.reached[n.index()],
            Point::On(e) => solution.taken[e.index()],
        };
        let points: Vec<_> = self.points.iter().filter(|&(_, p)| is_reached(p)).collect();
        points.into_iter().flat_map(move |(number, point)| {
            let variables = (0..self.program.variables() as u32).map(Variable);
            variables.filter(move |v| self.live[number][v.index()]).map(move |v| (number, point, v))
        })
    }

    /// The instruction in front of which a point is, or the end of the block.
    fn instruction(&self, node: Node, k: usize) -> Option<Instruction> {
        (k < self.program.block(node).len()).then(|| Instruction(self.program.block(node).start + k as u32))
    }
}

/// Says what differs.
fn equal<F: PartialEq + std::fmt::Debug>(
    what: &str,
    point: Point,
    v: Variable,
    found: &F,
    wanted: &F,
) -> Result<(), String> {
    match found == wanted {
        true => Ok(()),
        false => Err(format!("{what}: v{} is {found:?} at {point:?}, by definition {wanted:?}", v.0)),
    }
}

fn forward<L: SmallLattice>(
    program: &Program,
    strategy: &Strategy,
    schedule: Schedule,
    seed: u64,
) -> Result<(), String> {
    let case = Case::new(program, strategy)?;
    // Even seeds are not widened; naive iteration would have to know where.
    let problem = RandomProblem::<L>::new(program, *strategy, 2 * seed);
    let naive = naive_forward(program, &case.points, &problem);
    let sparse = solve_forward_with(program, &case.ssi, &problem, ForwardOptions { schedule, narrowing: 0 });
    for n in program.graph().nodes() {
        if sparse.is_reached(n) != naive.reached[n.index()] {
            return Err(format!("sparse: whether {n} is reached"));
        }
    }
    for e in program.graph().edges() {
        if sparse.is_taken(e) != naive.taken[e.index()] {
            return Err(format!("sparse: whether {e} is taken"));
        }
    }
    for (number, point, v) in case.live(&naive) {
        let wanted = &naive.facts[number][v.index()];
        let found = case.versions[number][v.index()].map_or(L::top(), |x| sparse.fact(x).clone());
        equal("sparse", point, v, &found, wanted)?;
    }
    compare_dense(&case, &problem, &naive)
}

fn compare_dense<L: SmallLattice>(
    case: &Case<'_>,
    problem: &impl Forward<Fact = L>,
    naive: &Solution<L>,
) -> Result<(), String> {
    let widening = WideningPoints::of(case.program, &case.ssi);
    let dense = solve_forward_dense_at(case.program, problem, &widening, 0);
    for n in case.program.graph().nodes() {
        if dense.is_reached(n) != naive.reached[n.index()] {
            return Err(format!("dense: whether {n} is reached"));
        }
    }
    for (number, point, v) in case.live(naive) {
        let found = match point {
            Point::In(n, k) => match case.instruction(n, k) {
                Some(at) => dense.before(at, v),
                None => dense.at_exit(n, v),
            },
            Point::On(e) => dense.on_edge(e, v),
        };
        equal("dense", point, v, &found, &naive.facts[number][v.index()])?;
        if let Point::In(n, 0) = point {
            equal("dense", point, v, &dense.at_entry(n, v), &found)?;
        }
    }
    Ok(())
}

/// Widened, there is no third opinion: sparse and dense agree, and each narrowing raises facts and stays below the
/// solution that is not widened.
fn widened<L: SmallLattice>(program: &Program, strategy: &Strategy, seed: u64) -> Result<(), String> {
    let case = Case::new(program, strategy)?;
    let problem = RandomProblem::<L>::new(program, *strategy, 2 * seed + 1);
    let sparse = solve_forward(program, &case.ssi, &problem);
    let widening = WideningPoints::of(program, &case.ssi);
    let dense = solve_forward_dense_at(program, &problem, &widening, 0);
    for n in program.graph().nodes() {
        if dense.is_reached(n) != sparse.is_reached(n) {
            return Err(format!("widened: whether {n} is reached"));
        }
        for (k, at) in program.block(n).map(Instruction).enumerate().filter(|_| sparse.is_reached(n)) {
            for (slot, &v) in program.use_slots(at).zip(program.uses(at)) {
                let found = case.ssi.used(slot).map_or(L::top(), |x| sparse.fact(x).clone());
                equal("widened", Point::In(n, k), v, &found, &dense.before(at, v))?;
            }
            for (slot, &v) in program.definition_slots(at).zip(program.definitions(at)) {
                let found = sparse.fact(case.ssi.defined(slot));
                equal("widened, result", Point::In(n, k), v, found, &dense.after(at, v))?;
            }
        }
    }
    let exact = solve_forward(program, &case.ssi, &Unwidened(&problem));
    let below = |a: &L, b: &L| !a.clone().meet(b);
    let mut last = sparse;
    for sweeps in 1..4 {
        let narrowed = solve_forward_narrowing(program, &case.ssi, &problem, sweeps);
        let narrowed_dense = solve_forward_dense_at(program, &problem, &widening, sweeps);
        for x in (0..case.ssi.versions() as u32).map(Version) {
            let (found, limit) = (narrowed.fact(x), exact.fact(x));
            if !below(last.fact(x), found) || !below(found, limit) {
                return Err(format!(
                    "{sweeps} sweeps: {x:?} from {:?} to {found:?}, exact is {limit:?}",
                    last.fact(x)
                ));
            }
        }
        for at in (0..program.instructions() as u32).map(Instruction) {
            for (slot, &v) in program.use_slots(at).zip(program.uses(at)) {
                let found = case.ssi.used(slot).map_or(L::top(), |x| narrowed.fact(x).clone());
                let dense = narrowed_dense.before(at, v);
                if narrowed_dense.is_reached(program.block_of(at)) && !below(&dense, &found) {
                    return Err(format!(
                        "{sweeps} sweeps, v{} before {at:?}: {found:?} below {dense:?}",
                        v.0
                    ));
                }
            }
        }
        last = narrowed;
    }
    Ok(())
}

/// A problem that is not widened.
struct Unwidened<'a, P>(&'a P);

impl<P: Forward> Forward for Unwidened<'_, P> {
    type Fact = P::Fact;

    fn on_entry(&self, variable: Variable) -> P::Fact {
        self.0.on_entry(variable)
    }

    fn instruction(&self, at: Instruction, facts: &mut impl ForwardFacts<P::Fact>) {
        self.0.instruction(at, facts);
    }

    fn edge(&self, edge: EdgeId, facts: &mut impl ForwardEdge<P::Fact>) -> bool {
        self.0.edge(edge, facts)
    }
}

fn backward<L: SmallLattice>(
    program: &Program,
    strategy: &Strategy,
    schedule: Schedule,
    seed: u64,
) -> Result<(), String> {
    let case = Case::new(program, strategy)?;
    let problem = RandomProblem::<L>::new(program, *strategy, seed);
    let naive = naive_backward(program, &case.points, &problem);
    let sparse = solve_backward_with(program, &case.ssi, &problem, schedule);
    let dense = solve_backward_dense(program, &problem);
    for (number, point, v) in case.live(&naive).filter(|x| !program.is_fixed(x.2)) {
        let wanted = &naive.facts[number][v.index()];
        let found = match point {
            Point::In(n, k) => match case.instruction(n, k) {
                Some(at) => dense.before(at, v),
                None => dense.at_exit(n, v),
            },
            Point::On(e) => dense.on_edge(e, v),
        };
        equal("dense", point, v, &found, wanted)?;
        // A strategy that does not split at uses lets a version stand for what all its uses say: its fact holds where
        // it is defined.
        if let Some(version) = case.versions[number][v.index()]
            && (strategy.uses_up || defined_here(&case, point, number, v))
        {
            equal("sparse", point, v, sparse.fact(version), wanted)?;
        }
    }
    Ok(())
}

/// Whether the variable gets its version in front of the point.
fn defined_here(case: &Case<'_>, point: Point, number: usize, v: Variable) -> bool {
    let here = case.versions[number][v.index()];
    let graph = case.program.graph();
    let before: Vec<Point> = match point {
        Point::In(n, 0) => graph.in_edges(n).iter().map(|&e| Point::On(e)).collect(),
        Point::In(n, k) => vec![Point::In(n, k - 1)],
        Point::On(e) => vec![Point::In(graph.source(e), case.program.block(graph.source(e)).len())],
    };
    before.iter().all(|&p| case.versions[case.points.number(p)][v.index()] != here)
}

fn count(default: u64) -> u64 {
    std::env::var("WARPLINE_PROGRAMS").ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn first() -> u64 {
    std::env::var("WARPLINE_SEED").ok().and_then(|v| v.parse().ok()).unwrap_or(0)
}

fn schedule(seed: u64) -> Schedule {
    [Schedule::Sweeps, Schedule::Fifo, Schedule::Lifo][(seed % 3) as usize]
}

/// Runs a check on programs of both forms under every strategy, with a new problem every few programs: the problem
/// must not change while a program is made smaller.
fn all(check: impl Fn(&Program, &Strategy, u64) -> Result<(), String>) {
    let (first, count) = (first(), count(1500));
    for form in [Form::Ssa, Form::Variables] {
        for start in (first..first + count).step_by(PROGRAMS_PER_PROBLEM) {
            let some = (first + count - start).min(PROGRAMS_PER_PROBLEM as u64);
            for_each_program(start, some, 7, form, |program| {
                let program = &strict(program);
                for (k, strategy) in STRATEGIES.iter().enumerate() {
                    let problem = start * STRATEGIES.len() as u64 + k as u64;
                    check(program, strategy, problem)
                        .map_err(|e| format!("{strategy:?}, problem {problem}: {e}"))?;
                }
                Ok(())
            });
        }
    }
}

const PROGRAMS_PER_PROBLEM: usize = 5;

#[test]
fn sparse_and_dense_forward_solutions_are_the_one_by_definition_over_powersets() {
    all(|program, strategy, seed| forward::<Powerset>(program, strategy, schedule(seed), seed));
}

#[test]
fn sparse_and_dense_forward_solutions_are_the_one_by_definition_over_chains() {
    all(|program, strategy, seed| forward::<Chain>(program, strategy, schedule(seed + 1), seed));
}

#[test]
fn sparse_and_dense_forward_solutions_are_the_one_by_definition_over_constants() {
    all(|program, strategy, seed| forward::<Flat>(program, strategy, schedule(seed + 2), seed));
}

#[test]
fn sparse_and_dense_forward_solutions_are_the_one_by_definition_over_intervals() {
    all(|program, strategy, seed| forward::<Interval>(program, strategy, schedule(seed), seed));
}

#[test]
fn sparse_and_dense_backward_solutions_are_the_one_by_definition() {
    all(|program, strategy, seed| {
        backward::<Powerset>(program, strategy, schedule(seed), seed)?;
        backward::<Chain>(program, strategy, schedule(seed + 1), seed)?;
        backward::<Flat>(program, strategy, schedule(seed + 2), seed)?;
        backward::<Interval>(program, strategy, schedule(seed), seed)
    });
}

#[test]
fn widened_solutions_agree_and_narrowing_stays_below_the_solution_that_is_not_widened() {
    all(|program, strategy, seed| {
        widened::<Interval>(program, strategy, seed)?;
        widened::<Powerset>(program, strategy, seed)?;
        widened::<Chain>(program, strategy, seed)
    });
}
