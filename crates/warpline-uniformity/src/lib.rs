//! Uniformity and shapes of a function: what all lanes agree on, and how the rest is spread over them.
//!
//! The engine is [`warpline_analysis::uniformity`], which knows control flow and which value is made of which;
//! its module says what *uniform* and *executed together* mean. Here is what the IR adds: which instructions are
//! sources of divergence ([`rules`]), the [shapes](crate::shape) of what is divergent, and reasons in terms of the
//! program. A strided value is divergent for the engine. Where the shapes show that a value is uniform after all
//! (`a[i] - a[j]` of addresses with one stride, the low bits of an aligned index), the engine is told so and
//! runs again.
//!
//! Any function can be analysed: unreachable blocks, irreducible cycles, functions without a body (of which nothing is
//! found). Functions need not be in SSA form: each read of a variable has an answer of its own.
//!
//! ```
//! use warpline_ir::text::parse_module;
//! use warpline_uniformity::{Options, Uniformity, shape::ArgShape};
//!
//! // Each lane has an index of its own; n is the same for all.
//! let text = "func @f(%i: i32, %n: i32) -> i1 {\nb0:\n  %m: i32 = add %n, 1\n  %c: i1 = icmp slt %i, %m\n  ret %c\n}\n";
//! let module = parse_module(text)?;
//! let func = &module.functions[module.function("f").expect("it is there")];
//! let args = vec![ArgShape::Varying, ArgShape::Uniform];
//! let found = Uniformity::compute(&module, func, &Options { args, ..Options::default() });
//! let value = |name: &str| func.values.iter().find(|(_, data)| &*data.name == name).expect("it is there").0;
//! assert!(!found.is_divergent(value("m")) && found.is_divergent(value("c")));
//! println!("{}", found.explain(&module, func, value("c"))[0].text);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![warn(unreachable_pub)]
// `cargo doc --document-private-items` has the modules that are not public.
#![allow(rustdoc::private_intra_doc_links)]

pub mod arguments;
mod congruence;
pub mod facts;
mod frozen;
mod known;
mod launch;
pub mod observe;
pub mod report;
pub mod rules;
pub mod shape;
pub mod summary;
pub mod tokens;

mod explain;
mod explainer;
mod gpu;
mod lane_bits;
mod made;
mod members;
mod opencl;
mod options;
#[cfg(test)]
mod tests;
mod variables;

use std::borrow::Cow;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use cranelift_entity::{EntitySet, SecondaryMap};
pub use warpline_analysis::uniformity::{Algorithm, Fact, Workspace};
use warpline_analysis::uniformity::{
    Facts as EngineFacts, SsaProgram, Times as EngineTimes, Uniformity as Engine, Value as EngineValue,
};
use warpline_analysis::{BitSet, CsrGraph, EdgeId, Graph, Limits, Node};
pub use warpline_analysis::{CycleForest, CycleId};

use crate::shape::{ArgShape, Convergence, Shape, Shapes};
pub use explain::Step;
pub use explainer::{Explainer, Point};
pub use facts::Facts;
pub use known::{BecauseKnown, Known};
pub use launch::Surroundings;
use made::{Made, program};
pub use options::Options;
pub use rules::{Cause, Context, OperandSet, Rule, Target};
pub use summary::Summaries;
use variables::Variables;
use warpline_ir::{Block, Edge, Function, Inst, LaneOp, Module, Names, Type, Value, Var};

/// How often the engine is told of values that the shapes have shown to be uniform.
const MAX_ROUNDS: usize = 4;

/// How long the analysis of a function takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Times {
    /// In the engine, over all rounds.
    pub engine: EngineTimes,
    /// All of it: the engine, its input, and the shapes.
    pub full: Duration,
}

/// Where the engine's values that are no values of the function come from.
#[derive(Copy, Clone, Debug)]
enum Extra {
    /// A member of an instruction's result that has a rule of its own.
    Member(Inst, u32),
    /// What a variable holds at the start of a block where different writes of it meet.
    Merged(Var, Block),
    /// What a variable holds that was never written.
    Unwritten,
    /// An instruction without a result: a user of its operands.
    Effect(Inst),
    /// What decides about an opaque terminator besides its operands.
    Decision(Inst),
    /// A number that values are known to equal on edges.
    Number(u128),
}

/// The result of the analysis of one function.
#[derive(Clone, Debug)]
pub struct Uniformity {
    graph: CsrGraph,
    edge_ids: SecondaryMap<Edge, Option<EdgeId>>,
    program: SsaProgram,
    engine: Engine,
    extra: Vec<Extra>,
    shapes: Shapes,
    /// Values that are uniform since lanes of a wave agree on high bits.
    high_bits: EntitySet<Value>,
    args: Vec<ArgShape>,
    options: Options,
    names: OnceLock<Names>,
}

fn engine_value(v: Value) -> EngineValue {
    EngineValue(v.as_u32())
}

fn solve(
    graph: &CsrGraph,
    program: &SsaProgram,
    facts: Option<&EngineFacts>,
    algorithm: Algorithm,
    workspace: &mut Workspace,
) -> Engine {
    match facts {
        None => Engine::compute_in(graph, program, algorithm, workspace),
        Some(facts) => Engine::compute_with_facts_by(graph, program, facts, algorithm, &Limits::of(graph))
            .expect("facts speak of edges and values of the function"),
    }
}

impl Uniformity {
    /// Analyses a function.
    pub fn compute(module: &Module, func: &Function, options: &Options) -> Uniformity {
        Self::compute_in(module, func, options, &mut Workspace::default())
    }

    /// Analyses a function in working memory that is reused: for one function after the other.
    pub fn compute_in(
        module: &Module,
        func: &Function,
        options: &Options,
        workspace: &mut Workspace,
    ) -> Uniformity {
        Self::run(module, func, options, |graph, program, facts| {
            solve(graph, program, facts, options.algorithm, workspace)
        })
    }

    fn timed(
        module: &Module,
        func: &Function,
        options: &Options,
        solve: impl Fn(&CsrGraph, &SsaProgram, Option<&EngineFacts>) -> (Engine, EngineTimes),
    ) -> (Uniformity, Times) {
        let (mut engine, start) = (EngineTimes::default(), Instant::now());
        let result = Self::run(module, func, options, |graph, program, facts| {
            let (result, times) = solve(graph, program, facts);
            engine += times;
            result
        });
        (result, Times { engine, full: start.elapsed() })
    }

    /// Analyses a function and says how long it takes. With [`known`] facts, of the engine's times only the full one
    /// is there.
    pub fn compute_timed(module: &Module, func: &Function, options: &Options) -> (Uniformity, Times) {
        if options.known.is_some() {
            return Self::compute_timed_as_a_whole(module, func, options);
        }
        Self::timed(module, func, options, |graph, program, _| {
            Engine::compute_timed(graph, program, options.algorithm)
        })
    }

    /// The same, looked at from outside: reading the clock for each branch takes time itself. Of the engine's times
    /// only the full one is there.
    pub fn compute_timed_as_a_whole(
        module: &Module,
        func: &Function,
        options: &Options,
    ) -> (Uniformity, Times) {
        Self::timed(module, func, options, |graph, program, facts| {
            let start = Instant::now();
            let result = solve(graph, program, facts, options.algorithm, &mut Workspace::default());
            (result, EngineTimes { full: start.elapsed(), ..EngineTimes::default() })
        })
    }

    fn run(
        module: &Module,
        func: &Function,
        options: &Options,
        mut solve: impl FnMut(&CsrGraph, &SsaProgram, Option<&EngineFacts>) -> Engine,
    ) -> Uniformity {
        let given = options.args.iter().copied().chain(std::iter::repeat(ArgShape::Varying));
        let given = given.map(|arg| if options.facts.one_lane { ArgShape::Uniform } else { arg });
        let fitting = given.zip(&func.params).map(|(arg, &p)| match arg.shape(module, func.ty(p)) {
            Some(shape) => (arg, shape),
            None => (ArgShape::Varying, Shape::Varying),
        });
        let (args, shapes_of_params): (Vec<ArgShape>, Vec<Shape>) = fitting.unzip();
        let (whole, edges) = match func.layout.is_empty() {
            true => (empty_graph(func), Vec::new()),
            false => func.graph(),
        };
        let mut edge_ids = SecondaryMap::new();
        edge_ids.resize(func.edges.len());
        for (i, &e) in edges.iter().enumerate() {
            edge_ids[e] = Some(EdgeId::new(i));
        }
        let mut pinned = EntitySet::with_capacity(func.values.len());
        for (i, &p) in func.params.iter().enumerate() {
            if shapes_of_params[i].is_uniform() {
                pinned.insert(p);
            }
        }
        pinned.extend(options.shared.iter().copied());
        let mut high_bits = EntitySet::new();
        let variables = Variables::of(func);
        let mut rounds = 0;
        loop {
            let Made { program, extra, has_lane_index, has_either } =
                program(module, func, &whole, &edge_ids, &pinned, &variables, options);
            let known = options.known.as_deref().filter(|known| !known.is_empty());
            let facts = known.map(|known| {
                let first_number = func.values.len() + extra.len() - known.numbers().len();
                known.to_engine(&edge_ids, first_number, !options.strict_undef)
            });
            let engine = solve(&whole, &program, facts.as_ref());
            // What the result speaks of: dead edges may be gone, and operands replaced.
            let (graph, program) = match &facts {
                Some(_) => (
                    Cow::Owned(engine.analysed(&whole, &program).0.clone()),
                    engine.analysed(&whole, &program).1.clone(),
                ),
                None => (Cow::Borrowed(&whole), program),
            };
            let view = View::new(module, func, &graph, &edge_ids, &engine, options, has_lane_index);
            let shapes = Shapes::compute(module, func, &shapes_of_params, &view);
            rounds += 1;
            let by_high_bits = lane_bits::uniform_by_high_bits(module, func, options.context(), &view);
            let is_uniform_at =
                |v: Value, b: Block| !engine.is_divergent_at(&*graph, engine_value(v), b.into());
            let by_either = (has_either && options.target == Target::Amdgcn)
                .then(|| gpu::uniform_by_either(module, func, is_uniform_at))
                .into_iter()
                .flatten()
                .filter(|&v| engine.is_divergent(engine_value(v)));
            let strided = (!shapes.is_plain()).then(|| func.values.keys());
            let found: Vec<Value> = strided
                .into_iter()
                .flatten()
                .filter(|&v| engine.is_divergent(engine_value(v)) && shapes.get(v).is_uniform())
                .filter(|&v| func.def_block(v).is_some_and(|b| engine_reaches(&view, b)))
                .chain(by_high_bits.iter().copied())
                .chain(by_either)
                .collect();
            if found.is_empty() || rounds == MAX_ROUNDS {
                let (options, names) = (options.clone(), OnceLock::new());
                let graph = match graph {
                    Cow::Owned(reduced) => reduced,
                    Cow::Borrowed(_) => whole,
                };
                return Uniformity {
                    graph,
                    edge_ids,
                    program,
                    engine,
                    extra,
                    shapes,
                    high_bits,
                    args,
                    options,
                    names,
                };
            }
            pinned.extend(found);
            high_bits.extend(by_high_bits);
        }
    }

    /// The shape of a value where it is defined.
    pub fn shape(&self, v: Value) -> Shape {
        self.shapes.get(v)
    }

    /// What values and blocks are called in reports.
    pub fn names(&self, func: &Function) -> &Names {
        self.names.get_or_init(|| Names::new(func))
    }

    /// Whether an instruction yields something that is divergent since an unknown function was called.
    fn is_unknown_call(&self, module: &Module, func: &Function, inst: Inst) -> bool {
        !func.insts[inst].results.is_empty()
            && self.options.rule(module, func, inst) == Rule::Source(Cause::UnknownCall)
    }

    /// What the parameters were taken to be, in order.
    pub fn args(&self) -> &[ArgShape] {
        &self.args
    }

    /// The `alloca`s that were taken for one object of all lanes.
    pub fn shared(&self) -> &[Value] {
        &self.options.shared
    }

    /// Whether lanes that compute the value together may get different results. Strided values are divergent.
    pub fn is_divergent(&self, v: Value) -> bool {
        self.engine.is_divergent(engine_value(v)) && !self.shapes.get(v).is_uniform()
    }

    /// Whether lanes that execute `user` together may see different values of `v`, whose definition dominates it: `v`
    /// is divergent, or they left a loop around its definition in different iterations.
    pub fn is_divergent_at(&self, v: Value, user: Block) -> bool {
        let (v, user, divergent) = (engine_value(v), Node::from(user), self.is_divergent(v));
        match divergent && self.options.known.is_some() {
            // It may equal a uniform one there.
            true => self.engine.is_divergent_at(&self.graph, v, user),
            false => divergent || self.engine.temporal_at(&self.graph, v, user).is_some(),
        }
    }

    /// As [`Uniformity::is_divergent_at`] for a member of the structure that an instruction yields.
    fn is_member_divergent_at(&self, func: &Function, inst: Inst, member: u32, user: Block) -> bool {
        let own =
            self.extra.iter().position(|e| matches!(*e, Extra::Member(i, m) if (i, m) == (inst, member)));
        match own.map(|i| EngineValue::new(func.values.len() + i)) {
            Some(v) => {
                self.engine.is_divergent(v)
                    || self.engine.temporal_at(&self.graph, v, Node::from(user)).is_some()
            }
            None => func.insts[inst].results.iter().any(|&r| self.is_divergent_at(r, user)),
        }
    }

    /// Whether lanes that take `edge` may see different values of `v`: how a φ uses its operand.
    pub fn is_divergent_on(&self, v: Value, edge: Edge) -> bool {
        match (self.is_divergent(v), self.edge_ids[edge]) {
            (true, Some(e)) if self.options.known.is_some() => {
                self.engine.is_divergent_on(&self.graph, engine_value(v), e)
            }
            (divergent, _) => divergent || self.temporal_on(v, edge).is_some(),
        }
    }

    /// The shape in which instructions of `user` other than φs see a value.
    pub fn shape_at(&self, v: Value, user: Block) -> Shape {
        if self.options.known.is_some() && !self.is_divergent_at(v, user) {
            return Shape::Uniform;
        }
        match self.engine.temporal_at(&self.graph, engine_value(v), Node::from(user)) {
            Some(_) => Shape::Varying,
            None => self.shape(v),
        }
    }

    /// The shape in which a φ sees its operand on an edge.
    pub fn shape_on(&self, v: Value, edge: Edge) -> Shape {
        if self.options.known.is_some() && !self.is_divergent_on(v, edge) {
            return Shape::Uniform;
        }
        if self.temporal_on(v, edge).is_some() { Shape::Varying } else { self.shape(v) }
    }

    fn temporal_on(&self, v: Value, edge: Edge) -> Option<CycleId> {
        self.engine.temporal_on(&self.graph, engine_value(v), self.edge_ids[edge]?)
    }

    /// Whether lanes that execute the block's terminator together may go on to different blocks.
    pub fn is_divergent_branch(&self, b: Block) -> bool {
        self.engine.is_divergent_branch(Node::from(b))
    }

    /// The blocks with a divergent branch, by number.
    pub fn divergent_branches(&self) -> impl Iterator<Item = Block> + '_ {
        self.engine.divergent_branches().iter().map(|i| Block::from_u32(i as u32))
    }

    /// The cycles of the control-flow graph, the nodes of which are the blocks by number.
    pub fn cycles(&self) -> &CycleForest {
        self.engine.cycles()
    }

    /// Whether lanes may leave a cycle in different iterations.
    pub fn has_divergent_exit(&self, cycle: CycleId) -> bool {
        self.engine.has_divergent_exit(cycle)
    }

    /// Whether lanes may leave a cycle in different iterations by an edge between two blocks.
    pub fn is_left_apart_between(&self, cycle: CycleId, from: Block, to: Block) -> bool {
        let edges = self.graph.out_edges(Node::from(from)).iter();
        { edges }.any(|&e| self.graph.target(e) == Node::from(to) && self.engine.is_divergent_exit(cycle, e))
    }

    /// The cycles that lanes may leave in different iterations or, in one iteration, by different edges or only some
    /// of them, by number.
    pub fn left_apart(&self) -> impl Iterator<Item = CycleId> + '_ {
        let cycles = self.cycles();
        let mut apart = BitSet::new(cycles.len());
        for n in self.engine.divergent_branches().iter().map(Node::new) {
            for to in self.graph.successors(n) {
                for c in cycles.around(n).take_while(|&c| !cycles.contains(c, to)) {
                    apart.insert(c.index());
                }
            }
        }
        cycles.cycles().filter(move |&c| apart.contains(c.index()) || self.has_divergent_exit(c))
    }

    /// Whether the cycle is irreducible and the analysis had to take everything in it for divergent. The cycles
    /// inside such a cycle share its fate.
    pub fn is_given_up(&self, cycle: CycleId) -> bool {
        let mut around = std::iter::successors(Some(cycle), |&c| self.cycles().parent(c));
        around.any(|c| self.engine.given_up(c).is_some())
    }

    /// The uses of values that are uniform where they are defined, or strided, and differ between lanes at the use,
    /// since the lanes left a loop in different iterations: value, using instruction, loop. In the order of the
    /// program.
    pub fn temporal_uses(&self, func: &Function) -> Vec<(Value, Inst, CycleId)> {
        let mut found = Vec::new();
        for &b in &func.layout {
            for (position, &phi) in func.blocks[b].phis.iter().enumerate() {
                for &e in &func.blocks[b].preds {
                    if let Some(&v) = func.edges[e].args.get(position)
                        && let Some(cycle) = self.temporal_on(v, e)
                    {
                        found.push((v, phi, cycle));
                    }
                }
            }
            for inst in func.blocks[b].insts.iter().copied().chain(func.blocks[b].term.expand()) {
                for &v in &func.insts[inst].args {
                    if let Some(cycle) = self.engine.temporal_at(&self.graph, engine_value(v), Node::from(b))
                    {
                        found.push((v, inst, cycle));
                    }
                }
            }
        }
        found.dedup();
        found
    }
}

/// A graph with one node for a function without blocks.
fn empty_graph(func: &Function) -> CsrGraph {
    CsrGraph::new(func.blocks.len().max(1), Node(0), Vec::new()).expect("a graph without edges")
}

fn engine_reaches(view: &View, b: Block) -> bool {
    // A cheap test is enough: what is found in dead blocks does not matter.
    !view.func.blocks[b].preds.is_empty() || b == view.func.entry()
}

/// The engine's answers as the shape analysis asks for them.
struct View<'a> {
    module: &'a Module,
    func: &'a Function,
    graph: &'a CsrGraph,
    edge_ids: &'a SecondaryMap<Edge, Option<EdgeId>>,
    engine: &'a Engine,
    options: &'a Options,
    /// Blocks of cycles that were given up.
    unconverged: EntitySet<Block>,
    has_lane_index: bool,
}

impl<'a> View<'a> {
    fn new(
        module: &'a Module,
        func: &'a Function,
        graph: &'a CsrGraph,
        edge_ids: &'a SecondaryMap<Edge, Option<EdgeId>>,
        engine: &'a Engine,
        options: &'a Options,
        has_lane_index: bool,
    ) -> View<'a> {
        let cycles = engine.cycles();
        let given_up = cycles.cycles().filter(|&c| engine.given_up(c).is_some());
        let nodes = given_up.flat_map(|c| cycles.nodes(c).iter().copied());
        let mut unconverged = EntitySet::new();
        unconverged.extend(nodes.map(Block::from));
        View { module, func, graph, edge_ids, engine, options, unconverged, has_lane_index }
    }
}

impl Convergence for View<'_> {
    fn is_uniform(&self, v: Value) -> bool {
        let never = |b: Block| self.engine.is_never_reached(b.into());
        !self.engine.is_divergent(engine_value(v)) || self.func.def_block(v).is_some_and(never)
    }

    fn is_join(&self, b: Block) -> bool {
        self.engine.divergent_join(Node::from(b)).is_some()
    }

    fn is_back_edge(&self, edge: Edge) -> bool {
        let data = &self.func.edges[edge];
        let cycles = self.engine.cycles();
        let own = cycles.innermost(Node::from(data.to));
        own.is_some_and(|c| {
            cycles.is_reducible(c)
                && cycles.header(c) == Node::from(data.to)
                && cycles.contains(c, Node::from(data.from))
        })
    }

    fn is_never_taken(&self, edge: Edge) -> bool {
        self.edge_ids[edge].is_some_and(|e| self.engine.is_never_taken(e))
    }

    fn is_unconverged(&self, b: Block) -> bool {
        self.unconverged.contains(b)
    }

    fn is_temporal_at(&self, v: Value, b: Block) -> bool {
        self.engine.temporal_at(self.graph, engine_value(v), Node::from(b)).is_some()
    }

    fn is_temporal_on(&self, v: Value, edge: Edge) -> bool {
        let Some(e) = self.edge_ids[edge] else { return true };
        self.engine.temporal_on(self.graph, engine_value(v), e).is_some()
    }

    fn source(&self, inst: Inst) -> Option<Shape> {
        if let Some(shape) = self.interleaved(inst) {
            return Some(shape);
        }
        match self.options.rule(self.module, self.func, inst) {
            Rule::Source(Cause::Given) => Some(Shape::Varying),
            Rule::Source(_) if rules::lane_op(self.module, self.func, inst) == Some(LaneOp::LaneIndex) => {
                Some(Shape::INDEX)
            }
            Rule::Source(_) => Some(Shape::Varying),
            Rule::Operands | Rule::Only(_) | Rule::AlwaysUniform => None,
        }
    }

    fn divergent(&self) -> Option<&BitSet> {
        // Without facts every block may be reached.
        self.options.known.is_none().then(|| self.engine.divergent_values())
    }

    fn has_strided_source(&self) -> bool {
        self.has_lane_index || !self.options.interleaved.is_empty()
    }
}

impl View<'_> {
    /// The shape of an address in an object that the lanes share without meeting in it.
    fn interleaved(&self, inst: Inst) -> Option<Shape> {
        let result = self.func.insts[inst].result().filter(|_| !self.options.interleaved.is_empty())?;
        let Type::Ptr(space) = self.func.ty(result) else { return None };
        let &(_, step) = self.options.interleaved.iter().find(|&&(address, _)| address == result)?;
        Some(Shape::stride(step, self.module.layout.index_bits(space)))
    }
}
