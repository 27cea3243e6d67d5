//! From the linearized graph to a lane program: masks, blends, SSA repair.
//!
//! Every φ one of whose edges did not survive becomes a variable that is written, under the masks of the edges, at
//! the ends of the predecessors, and starts as poison at the end of the block's immediate dominator, as the
//! masks start as false there. Then the edges are rebound, and SSA construction makes blends and φs of the
//! variables where they belong.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use smallvec::SmallVec;
use warpline_analysis::{CycleForest, DfsOrder, DomTree, EdgeId, Graph, Node};

use warpline_dataflow::ssa;
use warpline_ir::{Block, Constant, Edge, Function, Inst, IntPred, LaneOp, Op, Type, Value};

use super::VectorizeError;
use super::block_index::BlockIndex;
use super::linearize::{Linearization, Linearized, NewBranch, linearize};
use super::linearize_state::{Action, Branch, Class, Init, LinearizeState};

/// A graph that was linearized, with what is known of it as it was.
pub(crate) struct Linear {
    pub(crate) linearization: Linearization,
    index: BlockIndex,
    dom: DomTree,
    /// How many uniform branches were folded.
    pub(crate) lost: usize,
}

/// Linearizes the graph of a function.
///
/// # Errors
/// If an edge that masks rely on was folded: a defect of ours, reported rather than
/// compiled.
pub(crate) fn linearize_graph(state: &LinearizeState) -> Result<Linear, VectorizeError> {
    let (linearization, index, dom) = linearized(state);
    check_kept_edges(state, &linearization.result)?;
    let lost = lost_branches(state, &linearization.result);
    Ok(Linear { linearization, index, dom, lost })
}

/// The linearized graph, with the block index and the dominators of the graph as it was.
fn linearized(state: &LinearizeState) -> (Linearization, BlockIndex, DomTree) {
    let (graph, ids) = state.func.graph();
    let dfs = DfsOrder::compute(&graph);
    let dom = DomTree::compute_with(&graph, &dfs);
    let cycles = CycleForest::compute_with(&graph, &dfs);
    let index = BlockIndex::compute(&graph, &dom, &cycles);
    let block = |n: Node| Block::from(n);
    let is_divergent = |n| state.branch[block(n)] == Branch::Divergent;
    let is_dead_end = |n| state.dead_ends.contains(block(n));
    let is_back_edge = |e: EdgeId| state.is_back_edge(ids[e.index()]);
    let result = linearize(&graph, &index, is_divergent, is_back_edge, is_dead_end);
    let divergent = graph.nodes().map(is_divergent).collect();
    let dead_ends = graph.nodes().map(is_dead_end).collect();
    (Linearization { graph, divergent, dead_ends, result }, index, dom)
}

/// Lets the function follow the linearized graph, and makes masks and blends of what the edges said: the lane
/// program. With a mask, it gets a last parameter of type `i1`: whether the lane is active.
pub(crate) fn construct_masks(mut state: LinearizeState, linear: &Linear, masked: bool) -> Function {
    let state = &mut state;
    state.entry_mask = masked.then(|| state.func.add_param(Type::BOOL, "mask"));
    let result = &linear.linearization.result;
    convert_phis(state, result, &linear.index, &linear.dom);
    let masks = write_masks(state);
    rebind(state, result);
    let all: Vec<_> = state.func.vars.keys().collect();
    for (b, mask) in masks.iter() {
        state.func.blocks[b].mask = *mask;
    }
    ssa::construct_vars(&mut state.func, &all);
    state.func.vars.clear();
    std::mem::replace(&mut state.func, Function::new("", Type::Void))
}

fn new_targets(result: &Linearized, b: Block) -> Vec<Block> {
    result.targets(Node::from(b)).iter().map(|&n| Block::from(n)).collect()
}

/// What Theorem 4.5 promises must hold: the edge from a guard to what it guards has survived, and blocks that are in
/// a class because of their in-edges are entered by these edges and no others.
fn check_kept_edges(state: &LinearizeState, result: &Linearized) -> Result<(), VectorizeError> {
    let func = &state.func;
    let mut entered: SecondaryMap<Block, usize> = SecondaryMap::new();
    let mut position: SecondaryMap<Edge, usize> = SecondaryMap::new();
    for &b in &func.layout {
        for (k, &e) in func.out_edges(b).iter().enumerate() {
            position[e] = k;
        }
        for t in new_targets(result, b) {
            entered[t] += 1;
        }
    }
    let survives = |e: &Edge| {
        let (from, to) = (func.edges[*e].from, func.edges[*e].to);
        match &result.branches[Node::from(from).index()] {
            NewBranch::Kept(targets) => targets.get(position[*e]) == Some(&Node::from(to)),
            // One successor, whichever way it was looked at.
            NewBranch::Folded(target) => func.out_edges(from).len() == 1 && *target == Node::from(to),
        }
    };
    for &b in &state.relies_on_edges {
        let preds = &func.blocks[b].preds;
        if entered[b] != preds.len() || !preds.iter().all(survives) {
            return Err(VectorizeError::at_block(func, b, "a uniform edge was folded").internal());
        }
    }
    for &b in func.layout.iter().filter(|&&b| state.branch[b] == Branch::AnyLane) {
        if !func.out_edges(b).first().is_some_and(survives) {
            return Err(VectorizeError::at_block(func, b, "a guard was folded").internal());
        }
        let Some(rest) = state.rest_below(b) else { continue };
        let skipping = func.successors(b).nth(1);
        let guarded: Vec<Block> = func.successors(rest).filter(|&s| Some(s) != skipping).collect();
        let [guarded] = guarded[..] else { continue };
        if new_targets(result, rest) != [guarded] || entered[guarded] != 1 || entered[rest] != 1 {
            return Err(VectorizeError::at_block(func, b, "a gadget guards nothing").internal());
        }
    }
    Ok(())
}

/// Uniform branches that have a single target now.
fn lost_branches(state: &LinearizeState, result: &Linearized) -> usize {
    let lost = |&&b: &&Block| {
        let kept = match &result.branches[Node::from(b).index()] {
            NewBranch::Kept(t) => t.iter().any(|x| Some(x) != t.first()),
            NewBranch::Folded(_) => false,
        };
        state.branch[b] == Branch::Uniform && state.branches(b) && !state.dead_ends.contains(b) && !kept
    };
    state.func.layout.iter().filter(lost).count()
}

/// φs of blocks whose in-edges changed become variables.
fn convert_phis(state: &mut LinearizeState, result: &Linearized, index: &BlockIndex, dom: &DomTree) {
    let mut changed: SecondaryMap<Block, bool> = SecondaryMap::new();
    for &b in &state.func.layout {
        let kept = matches!(result.branches[Node::from(b).index()], NewBranch::Kept(_));
        let single = state.func.out_edges(b).len() == 1;
        let targets = new_targets(result, b);
        for (k, &e) in state.func.out_edges(b).iter().enumerate() {
            let to = state.func.edges[e].to;
            let new = if kept { targets[k] } else { targets[0] };
            if new != to || !(kept || single) {
                changed[to] = true;
                changed[new] = true;
            }
        }
    }
    for b in state.func.layout.clone() {
        if !changed[b] || state.func.blocks[b].phis.is_empty() {
            continue;
        }
        // What a gadget separates writes above the gadget; the edge past it writes nothing.
        let idom = dom.idom(Node::from(b)).map(Block::from);
        let idom = idom.map(|d| state.tested_above[d].expand().unwrap_or(d));
        let mut preds: Vec<Edge> = state.func.blocks[b].preds.clone();
        preds.retain(|&e| state.rest_below(state.func.edges[e].from).is_none());
        preds.sort_by_key(|&e| (index.position(Node::from(state.func.edges[e].from)), e));
        let phis = state.func.blocks[b].phis.clone();
        let mut reads = Vec::new();
        for (k, &phi) in phis.iter().enumerate() {
            let value = state.func.insts[phi].results[0];
            let regular = state.is_regular(value);
            let var = state.func.add_var(state.func.ty(value), "phi");
            if let Some(d) = idom {
                state.end[d].push((var, Init::Poison));
            }
            let mut first = true;
            for &e in &preds {
                let value = state.func.edges[e].args[k];
                if !state.func.is_poison(value) {
                    state.actions[e].push(Action::Assign { var, value, regular, keep: !first });
                    first = false;
                }
            }
            // The φ instruction itself becomes the read, so that its value keeps its identity.
            state.func.insts[phi].op = Op::ReadVar(var);
            reads.push(phi);
        }
        state.func.retain_phis(b, |_| false);
        state.func.blocks[b].insts.splice(0..0, reads);
    }
}

/// Rebinds the edges as linearization says.
fn rebind(state: &mut LinearizeState, result: &Linearized) {
    for b in state.func.layout.clone() {
        let targets = new_targets(result, b);
        let loc = state.func.insts[state.func.terminator(b)].loc;
        match &result.branches[Node::from(b).index()] {
            NewBranch::Folded(_) => {
                let t = state.func.set_terminator(b, Op::Br, &[], &targets);
                state.func.insts[t].loc = loc;
            }
            NewBranch::Kept(_) if targets.len() > 1 && targets.iter().all(|&t| t == targets[0]) => {
                // Edges that came together: φ operands, if any are left, agree on these edges.
                let args = state.func.edges[state.func.out_edges(b)[0]].args.clone();
                let same = state.func.edges[state.func.out_edges(b)[0]].to == targets[0];
                let t = state.func.set_terminator(b, Op::Br, &[], &targets[..1]);
                state.func.insts[t].loc = loc;
                if same {
                    let e = state.func.insts[t].edges[0];
                    state.func.edges[e].args = args;
                }
            }
            NewBranch::Kept(_) => {
                for (k, e) in state.func.out_edges(b).to_vec().into_iter().enumerate() {
                    if state.func.edges[e].to != targets[k] {
                        state.func.redirect_edge(e, targets[k]);
                    }
                }
            }
        }
    }
}

/// Writes what blocks initialise and what their edges carry; returns the mask of each block.
fn write_masks(state: &mut LinearizeState) -> SecondaryMap<Block, PackedOption<Value>> {
    let mut masks: SecondaryMap<Block, PackedOption<Value>> = SecondaryMap::new();
    // The block at which a class begins dominates its blocks, also after linearization, so the mask is read there only.
    let mut reads: SecondaryMap<Class, PackedOption<Inst>> = SecondaryMap::new();
    for (class, leader) in state.leaders.clone() {
        if let Some(var) = state.masks[class].expand() {
            reads[class] = state.func.make_inst(leader, Op::ReadVar(var), &[], &[Type::BOOL]).into();
        }
    }
    for b in state.func.layout.clone() {
        let mut top: Vec<Inst> = Vec::new();
        let class = state.class_of(b);
        if let Some(read) = reads[class].expand() {
            masks[b] = state.func.insts[read].results[0].into();
            top.extend((state.leaders[class] == b).then_some(read));
        } else {
            masks[b] = state.entry_mask.into();
        }
        for (var, init) in std::mem::take(&mut state.top[b]) {
            let value = constant_init(state, var, init);
            top.push(state.func.make_inst(b, Op::WriteVar(var), &[value], &[]));
        }
        // Behind the reads that φs became: those belong to the in-edges.
        let insts = &mut state.func.blocks[b].insts;
        let at = insts
            .iter()
            .position(|&i| !matches!(state.func.insts[i].op, Op::ReadVar(_)))
            .unwrap_or(insts.len());
        insts.splice(at..at, top);
        if state.tested_above[b].is_some() {
            continue;
        }
        let rest = state.rest_below(b);
        let branch = rest.unwrap_or(b);
        let mut writer = Writer {
            state,
            block: b,
            branch,
            mask: masks[b].expand(),
            known: SmallVec::new(),
            negated: None,
        };
        writer.inits();
        writer.edges();
        if rest.is_some() {
            writer.test();
        }
    }
    for g in state.guards.clone() {
        let mask = match masks[g].expand() {
            Some(m) => m,
            None => state.func.bool_const(true),
        };
        let any = state.func.append_value(g, Op::Lane(LaneOp::MaskAny), &[mask], Type::BOOL);
        let t = state.func.terminator(g);
        state.func.insts[t].args[0] = any;
    }
    for b in state.func.layout.clone() {
        ask_masked(state, b, masks[b].expand());
    }
    masks
}

/// The branch into a [dead end](super::no_return_paths) asks `any`, which says nothing if no lane is active; from here
/// on it asks a mask.
fn ask_masked(state: &mut LinearizeState, b: Block, mask: Option<Value>) {
    let leads = |&e: &Edge| state.dead_ends.contains(state.func.edges[e].to);
    if state.dead_ends.contains(b) || !state.func.out_edges(b).iter().any(leads) {
        return;
    }
    let t = state.func.terminator(b);
    let Some(&cond) = state.func.insts[t].args.first() else { return };
    let asks = |&i: &Inst| state.func.insts[i].op == Op::Lane(LaneOp::Any);
    let Some(any) = state.func.def_inst(cond).filter(asks) else { return };
    let failed = state.func.insts[any].args[0];
    let mask = match mask {
        Some(m) => m,
        None => state.func.bool_const(true),
    };
    let set = state.func.append_value(b, Op::Lane(LaneOp::MaskAnd), &[mask, failed], Type::BOOL);
    let now = state.func.append_value(b, Op::Lane(LaneOp::MaskAny), &[set], Type::BOOL);
    state.func.insts[t].args[0] = now;
    state.func.blocks[b].insts.retain(|&i| i != any);
}

fn constant_init(state: &mut LinearizeState, var: warpline_ir::Var, init: Init) -> Value {
    match init {
        Init::False => state.func.bool_const(false),
        _ => {
            let ty = state.func.vars[var].ty;
            state.func.poison(ty)
        }
    }
}

/// Appends writes to one block.
struct Writer<'a> {
    state: &'a mut LinearizeState,
    block: Block,
    /// The block whose out-edges write: the block itself, or the one below its gadget.
    branch: Block,
    /// The block's mask; `None`: all lanes.
    mask: Option<Value>,
    /// Masks of out-edges, by number.
    known: SmallVec<[PackedOption<Value>; 2]>,
    /// For the default edge of a divergent switch: the disjunction of its cases' conditions.
    negated: Option<Value>,
}

impl Writer<'_> {
    fn inits(&mut self) {
        for (var, init) in std::mem::take(&mut self.state.end[self.block]) {
            let value = match init {
                Init::Copy(from) => self.value(Op::ReadVar(from), &[], Type::BOOL),
                _ => constant_init(self.state, var, init),
            };
            self.write(var, value);
        }
    }

    fn edges(&mut self) {
        let edges = self.state.func.out_edges(self.branch).to_vec();
        for (k, e) in edges.into_iter().enumerate() {
            let actions = std::mem::take(&mut self.state.actions[e]);
            if actions.is_empty() {
                continue;
            }
            let mask = self.edge_mask(k);
            for action in actions {
                self.act(mask, action);
            }
        }
    }

    fn act(&mut self, mask: Value, action: Action) {
        match action {
            Action::Put(var) => self.write(var, mask),
            Action::Join(var) => {
                let old = self.value(Op::ReadVar(var), &[], Type::BOOL);
                let new = self.value(Op::Lane(LaneOp::MaskOr), &[old, mask], Type::BOOL);
                self.write(var, new);
            }
            Action::Assign { var, value, regular, keep } => {
                let ty = self.state.func.ty(value);
                let new = if keep {
                    let old = self.value(Op::ReadVar(var), &[], ty);
                    let blend = if regular { LaneOp::BlendAny } else { LaneOp::Blend };
                    self.value(Op::Lane(blend), &[mask, value, old], ty)
                } else {
                    value
                };
                self.write(var, new);
            }
        }
    }

    /// Lets the branch of a gadget ask whether any lane goes to the block that it guards: the side of the divergent
    /// branch that the new one does not lead to.
    fn test(&mut self) {
        let skipping = self.state.func.successors(self.block).nth(1);
        let guarded = self.state.func.successors(self.branch).position(|s| Some(s) != skipping);
        let mask = self.edge_mask(guarded.unwrap_or(0));
        let any = self.value(Op::Lane(LaneOp::MaskAny), &[mask], Type::BOOL);
        let t = self.state.func.terminator(self.block);
        self.state.func.insts[t].args[0] = any;
    }

    /// The mask of out-edge number `k`.
    fn edge_mask(&mut self, k: usize) -> Value {
        if let Some(mask) = self.known.get(k).and_then(|m| m.expand()) {
            return mask;
        }
        let mask = self.make_edge_mask(k);
        self.known.resize(self.known.len().max(k + 1), None.into());
        self.known[k] = mask.into();
        mask
    }

    fn make_edge_mask(&mut self, k: usize) -> Value {
        let t = self.state.func.terminator(self.branch);
        let mask = match self.mask {
            Some(m) => m,
            None => self.state.func.bool_const(true),
        };
        // Edges to one block may carry different things, so they count one by one.
        let data = &self.state.func.insts[t];
        match &data.op {
            Op::CondBr => {
                let cond = data.args[0];
                let op = if k == 0 { LaneOp::MaskAnd } else { LaneOp::MaskAndNot };
                self.value(Op::Lane(op), &[mask, cond], Type::BOOL)
            }
            Op::Switch(cases) if k > 0 => {
                let (x, case) = (data.args[0], cases[k - 1]);
                let hit = self.case(x, case);
                self.value(Op::Lane(LaneOp::MaskAnd), &[mask, hit], Type::BOOL)
            }
            Op::Switch(cases) => {
                let (x, cases) = (data.args[0], cases.clone());
                let hit = match self.negated {
                    Some(v) => v,
                    None => {
                        let no = self.state.func.bool_const(false);
                        let hits: Vec<Value> = cases.iter().map(|&c| self.case(x, c)).collect();
                        let or = Op::Binary(warpline_ir::BinaryOp::Or);
                        hits.into_iter()
                            .reduce(|a, b| self.value(or.clone(), &[a, b], Type::BOOL))
                            .unwrap_or(no)
                    }
                };
                self.negated = Some(hit);
                self.value(Op::Lane(LaneOp::MaskAndNot), &[mask, hit], Type::BOOL)
            }
            _ => mask,
        }
    }

    /// Whether the operand of a switch is the value of a case.
    fn case(&mut self, x: Value, case: u128) -> Value {
        let bits = self.state.func.ty(x).int_bits().unwrap_or(1);
        let c = self.state.func.constant_value(Constant::int(bits, case));
        self.value(Op::ICmp(IntPred::Eq), &[x, c], Type::BOOL)
    }

    fn value(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        self.state.func.append_value(self.block, op, args, ty)
    }

    fn write(&mut self, var: warpline_ir::Var, value: Value) {
        self.state.func.append(self.block, Op::WriteVar(var), &[value], Type::Void);
    }
}
