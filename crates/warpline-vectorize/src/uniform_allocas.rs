//! Private memory that one object for all lanes can stand for.
//!
//! A traversal stack is private to its lane, but often all lanes that still use it push and pop the same things.
//! Then its loads are uniform, the loop over it stays a loop, and one stack serves all lanes.
//!
//! An `alloca` is shared if, supposing that it is,
//! 1. it is only loaded from and stored to (or filled by `memset`), by plain accesses at uniform addresses, and what
//!    is stored is uniform; and
//! 2. no lane can miss a store and still load afterwards. A lane misses a store if, at some divergent branch *a*, it
//!    takes another edge than the lanes that come to the store, and has not come together with them again, which it
//!    does at the post-dominator of *a*. So for every divergent branch: if one edge leads to a store of the object
//!    before the post-dominator, no other edge may lead to a load of it, ever.
//!
//! Then whenever lanes load together, they have made the same stores, so one object holds what each of them
//! would find in its own.
//!
//! The supposition is optimistic: the candidates are analysed as shared, those that fail are given up, and the analysis
//! is repeated, until all that are left pass.

use std::sync::Arc;

use cranelift_entity::EntitySet;
use warpline_analysis::{CsrGraph, CycleForest, DomTree, Node, Reversed};

use warpline_ir::{Block, Effects, Function, Inst, Module, Op, Symbol, Users, Value};
use warpline_uniformity::shape::ArgShape;
use warpline_uniformity::{Options, Uniformity, Workspace};

use super::objects::lifetime_marker;
use super::private_memory::Interleaved;
use super::{call_graph, no_return_paths, normalize};

/// What is asked about the private memory of a function in [normal form](super::normalize).
pub(crate) struct Asked<'a> {
    pub(crate) module: &'a Module,
    pub(crate) func: &'a Function,
    /// The shapes of its parameters.
    pub(crate) args: &'a [ArgShape],
    /// Objects that have been laid out for all lanes; they are not shared.
    pub(crate) laid_out: &'a [Interleaved],
    /// The functions that [execute lane operations](super::call_graph::functions_with_cross_lane_operations).
    pub(crate) lane_callees: &'a Arc<EntitySet<Symbol>>,
    /// If given, no objects but these are shared: those that were in an earlier analysis, so that one round confirms
    /// it.
    pub(crate) among: Option<&'a [Value]>,
}

/// Analyses a function with as much private memory shared as possible. `compute` is called once for each round.
pub(crate) fn analyse(asked: &Asked<'_>, mut compute: impl FnMut(&Options) -> Uniformity) -> Uniformity {
    let Asked { module, func, .. } = *asked;
    // Strict: a uniform φ of a value and undef would be one scalar, which the side that brings undef may write last.
    let mut options = Options { args: asked.args.to_vec(), strict_undef: true, ..Options::default() };
    options.lane_callees = Some(asked.lane_callees.clone());
    options.interleaved = asked.laid_out.iter().map(|o| (o.address, o.step)).collect();
    let mut objects: Vec<Object> = Object::candidates(module, func);
    objects.retain(|o| {
        asked.laid_out.iter().all(|l| l.address != o.address)
            && asked.among.is_none_or(|among| among.contains(&o.address))
    });
    loop {
        options.shared = objects.iter().map(|o| o.address).collect();
        let uniformity = compute(&options);
        let before = objects.len();
        if before > 0 {
            let away = Partings::find(func, &uniformity);
            objects.retain(|o| o.is_uniform(func, &uniformity) && !away.separate(o));
        }
        if objects.len() == before {
            return uniformity;
        }
    }
}

/// [`analyse`] of a function that nothing is known of yet.
pub(crate) fn analyse_anew(
    module: &Module,
    func: &Function,
    args: &[ArgShape],
    lane_callees: &Arc<EntitySet<Symbol>>,
) -> Uniformity {
    let asked = Asked { module, func, args, laid_out: &[], lane_callees, among: None };
    let workspace = &mut Workspace::default();
    analyse(&asked, |options| Uniformity::compute_in(module, func, options, workspace))
}

/// The `alloca`s of a function of which one object stands for all lanes in vector code, so that analyses of the
/// function as it is can count them as [shared](Options::shared). They are sought in its normal form. None if it has
/// none, or if an irreducible loop would have to be changed for it, since lanes might be together elsewhere then.
pub fn lane_invariant_allocas(module: &Module, func: &Function, args: &[ArgShape]) -> Vec<Value> {
    let cycles = CycleForest::compute(&func.graph().0);
    if cycles.cycles().any(|c| !cycles.is_reducible(c)) || Object::candidates(module, func).is_empty() {
        return Vec::new();
    }
    let mut normal = func.clone();
    if normalize::normalize(&mut normal).is_err() {
        return Vec::new();
    }
    let asking = Arc::new(call_graph::functions_with_cross_lane_operations(module, func));
    analyse_anew(module, &normal, args, &asking).shared().to_vec()
}

/// An `alloca` with everything that is done to it.
struct Object {
    address: Value,
    /// The addresses that are accessed, with the block of the access.
    addresses: Vec<(Value, Block)>,
    /// The values that are stored, with the block.
    stored: Vec<(Value, Block)>,
    loads: EntitySet<Block>,
    stores: EntitySet<Block>,
}

impl Object {
    /// The objects whose address goes nowhere but into plain loads and stores.
    fn candidates(module: &Module, func: &Function) -> Vec<Object> {
        let users = Users::of(func);
        let insts = func.layout.iter().flat_map(|&b| func.block_insts(b));
        let allocas = insts.filter(|&i| matches!(func.insts[i].op, Op::Alloca { .. }));
        let allocas: Vec<Value> = allocas.map(|i| func.insts[i].results[0]).collect();
        let object = |&address: &Value| {
            let mut object = Object {
                address,
                addresses: Vec::new(),
                stored: Vec::new(),
                loads: EntitySet::new(),
                stores: EntitySet::new(),
            };
            let mut work = vec![address];
            while let Some(v) = work.pop() {
                // φs are no addresses of an object here.
                if !users.get(v).iter().all(|&i| object.add_use(module, func, v, i, &mut work)) {
                    return None;
                }
            }
            Some(object)
        };
        allocas.iter().filter_map(object).collect()
    }

    /// Notes a use of an address; false if the address escapes through it.
    fn add_use(
        &mut self,
        module: &Module,
        func: &Function,
        v: Value,
        i: Inst,
        work: &mut Vec<Value>,
    ) -> bool {
        let data = &func.insts[i];
        match &data.op {
            Op::Gep(_) if data.args[0] == v => work.push(data.results[0]),
            Op::Load(access) if access.is_simple() => {
                self.addresses.push((v, data.block));
                self.loads.insert(data.block);
            }
            Op::Store(access) if access.is_simple() && data.args[0] != v => {
                self.addresses.push((v, data.block));
                self.stored.push((data.args[0], data.block));
                self.stores.insert(data.block);
            }
            Op::Call(_) if is_memset(module, func, i) && !data.args[1..].contains(&v) => {
                self.addresses.push((v, data.block));
                self.stored.extend(data.args[1..].iter().map(|&a| (a, data.block)));
                self.stores.insert(data.block);
            }
            Op::Call(_) => {
                // Markers of lifetimes say nothing that matters to an object that lives as long as the function.
                let marker = lifetime_marker(module, func, i).is_some();
                return marker && !data.effects().contains(Effects::NO_RETURN);
            }
            _ => return false,
        }
        true
    }

    /// Condition 1.
    fn is_uniform(&self, func: &Function, uniformity: &Uniformity) -> bool {
        let uniform =
            |&(v, b): &(Value, Block)| func.constant(v).is_some() || !uniformity.is_divergent_at(v, b);
        self.addresses.iter().all(uniform) && self.stored.iter().all(uniform)
    }
}

/// Whether an instruction is a `memset` that is not volatile.
fn is_memset(module: &Module, func: &Function, i: Inst) -> bool {
    let data = &func.insts[i];
    let Op::Call(call) = &data.op else { return false };
    call.callee.is_some_and(|s| module.symbols[s].name.starts_with("llvm.memset."))
        && data.args.get(3).is_some_and(|&v| func.as_int(v) == Some(0))
}

/// Where lanes part at a divergent branch, and what each of them can come to.
struct Partings {
    /// Per divergent branch, per edge: the blocks before the lanes come together again, and all blocks ever.
    edges: Vec<Vec<(EntitySet<Block>, EntitySet<Block>)>>,
}

impl Partings {
    fn find(func: &Function, uniformity: &Uniformity) -> Partings {
        let (graph, _) = func.graph();
        let together = Together::compute(func, &graph);
        let edges = uniformity
            .divergent_branches()
            .map(|b| {
                let stop = together.after(b);
                func.successors(b).map(|s| (reachable(func, s, stop), reachable(func, s, None))).collect()
            })
            .collect();
        Partings { edges }
    }

    /// Whether condition 2 fails for an object.
    fn separate(&self, o: &Object) -> bool {
        self.edges.iter().any(|edges| {
            edges.iter().enumerate().any(|(k, (before, _))| {
                o.stores.iter().any(|b| before.contains(b))
                    && edges
                        .iter()
                        .enumerate()
                        .any(|(j, (_, ever))| j != k && o.loads.iter().any(|b| ever.contains(b)))
            })
        })
    }
}

/// The blocks that can be reached from `from` without passing `stop`.
fn reachable(func: &Function, from: Block, stop: Option<Block>) -> EntitySet<Block> {
    let mut seen = EntitySet::with_capacity(func.blocks.len());
    let mut work = vec![from];
    while let Some(b) = work.pop() {
        if Some(b) != stop && seen.insert(b) {
            work.extend(func.successors(b));
        }
    }
    seen
}

/// Where lanes that part come together: post-dominators within one iteration, as in
/// [`mask_classes`](super::mask_classes) but on the function before any transform.
struct Together {
    tree: DomTree,
    exit: Node,
}

impl Together {
    fn compute(func: &Function, graph: &CsrGraph) -> Together {
        let cycles = CycleForest::compute(graph);
        let leaving = cycles.all_exit_edges(graph);
        let mut edges = Vec::new();
        let dead = no_return_paths::find(func);
        for &b in &func.layout {
            for t in func.successors(b).filter(|&t| dead.contains(t) == dead.contains(b)) {
                let (from, to) = (Node::from(b), Node::from(t));
                let closes = cycles.around(from).find(|&c| cycles.header(c) == to);
                match closes {
                    Some(c) => {
                        let exits = leaving[c.index()].iter();
                        edges.extend(exits.map(|&e| (from, warpline_analysis::Graph::target(graph, e))));
                    }
                    None => edges.push((from, to)),
                }
            }
        }
        let forward = CsrGraph::new(func.blocks.len(), Node::from(func.entry()), edges)
            .expect("edges join blocks of this function");
        let reversed = Reversed::new(&forward);
        Together { exit: reversed.virtual_exit(), tree: DomTree::compute(&reversed) }
    }

    /// The block where all lanes that are in `b` together come together again.
    fn after(&self, b: Block) -> Option<Block> {
        self.tree.idom(Node::from(b)).filter(|&n| n != self.exit).map(Block::from)
    }
}
