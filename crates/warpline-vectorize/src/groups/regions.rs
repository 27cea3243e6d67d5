//! The functions of regions.

use std::collections::HashMap;

use cranelift_entity::EntitySet;
use warpline_analysis::{CsrGraph, DomTree, Graph as _, Node};
use warpline_ir::{
    Atomic, Block, BlockData, Edge, Effects, Function, Inst, IntPred, MemAccess, Module, Op, OpaqueInfo,
    Type, Value, ValueDef,
};
use warpline_uniformity::shape::ArgShape;

use super::crossing::{Crossing, Kept};
use super::cuts::Cuts;
use super::{Cut, Decision, End, Passed, Region, Work};
use crate::VectorizeError;
use crate::builder::Builder;

/// A use of a value: an operand of an instruction, or of a φ on an edge.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Operand(Inst, usize),
    Edge(Edge, usize),
}

/// A region before it is known how it gets what is defined in others.
pub(super) struct Body {
    /// The kernel as far as the region goes. Values, instructions, and blocks are the kernel's.
    func: Function,
    /// Where it begins, and where the cut is behind which others follow.
    start: Block,
    exit: Option<Block>,
    /// The block that the cut is in.
    end: Option<Block>,
    /// The regions behind the cut.
    next: Vec<usize>,
    /// What the branch at the cut depends on, if it is one.
    pub(super) decision: Option<Value>,
    /// The uses of what other regions define.
    pub(super) outer: Vec<(Place, Value)>,
    /// The uses that get what another region has defined, or what this one has, by the way control took.
    pub(super) mixed: Vec<(Place, Value)>,
    dom: DomTree,
}

/// Makes regions, the first of which begins the kernel, as far as the kernel goes.
pub(super) fn bodies(cuts: &Cuts) -> Result<Vec<Body>, VectorizeError> {
    let mut heads = vec![cuts.func.entry()];
    let mut bodies: Vec<Body> = Vec::new();
    // What follows on several cuts is there several times.
    let mut blocks = 0;
    while let Some(&head) = heads.get(bodies.len()) {
        let mut body = body(cuts, head)?;
        blocks += body.func.layout.len();
        if blocks > 10_000 + 8 * cuts.func.layout.len() {
            return Err(VectorizeError::in_function(
                &cuts.func,
                "it has too much code between too many barriers",
            ));
        }
        for to in body.end.into_iter().flat_map(|b| cuts.func.successors(b)) {
            let known = heads.iter().position(|&h| h == to);
            body.next.push(known.unwrap_or(heads.len()));
            if known.is_none() {
                heads.push(to);
            }
        }
        bodies.push(body);
    }
    Ok(bodies)
}

fn body(cuts: &Cuts, head: Block) -> Result<Body, VectorizeError> {
    let mut func = cuts.func.clone();
    let mut ends = EntitySet::new();
    let (mut seen, mut work) = (EntitySet::new(), vec![head]);
    while let Some(b) = work.pop() {
        if !seen.insert(b) {
            continue;
        }
        match cuts.at.contains(b) {
            true => _ = ends.insert(b),
            false => work.extend(func.successors(b)),
        }
    }
    let mut ends = ends.iter();
    let end = ends.next();
    if ends.next().is_some() {
        let reason = "different barriers may follow on this place";
        return Err(VectorizeError::at_block(&cuts.func, head, reason).internal());
    }
    let decision =
        end.map(|b| cuts.func.terminator(b)).and_then(|t| cuts.func.insts[t].args.first().copied());
    let start = func.blocks.push(BlockData { name: "start".into(), ..BlockData::default() });
    func.layout.insert(0, start);
    func.set_terminator(start, Op::Br, &[], &[head]);
    let exit = end.map(|end| {
        let exit = func.add_block("exit");
        func.set_terminator(exit, Op::Ret, &[], &[]);
        func.set_terminator(end, Op::Br, &[], &[exit]);
        exit
    });
    func.remove_unreachable_blocks();
    let (graph, _) = func.graph();
    let dom = DomTree::compute(&graph);
    let (outer, mixed) = outer_uses(&func, &graph, &dom);
    Ok(Body { func, start, exit, end, next: Vec::new(), decision, outer, mixed, dom })
}

/// Uses of values.
type ManyUses = Vec<(Place, Value)>;

/// The uses of values that come into the region from others, and of those that may.
fn outer_uses(func: &Function, graph: &CsrGraph, dom: &DomTree) -> (ManyUses, ManyUses) {
    let uses = Uses { func, graph, dom };
    let (mut outer, mut mixed) = (Vec::new(), Vec::new());
    let mut note = |place: Place, v: Value, b: Block, at: usize| match uses.origin(v, b, at) {
        Origin::Here => {}
        Origin::Elsewhere => outer.push((place, v)),
        Origin::Either => mixed.push((place, v)),
    };
    for &b in &func.layout {
        for (at, i) in func.block_insts(b).enumerate() {
            for (k, &v) in func.insts[i].args.iter().enumerate() {
                note(Place::Operand(i, k), v, b, at);
            }
        }
        for &e in func.out_edges(b) {
            for (k, &v) in func.edges[e].args.iter().enumerate() {
                note(Place::Edge(e, k), v, b, usize::MAX);
            }
        }
    }
    (outer, mixed)
}

/// Where the value of a use was defined last.
enum Origin {
    /// In this region.
    Here,
    /// In another one.
    Elsewhere,
    /// In either, by the way control took.
    Either,
}

struct Uses<'a> {
    func: &'a Function,
    graph: &'a CsrGraph,
    dom: &'a DomTree,
}

impl Uses<'_> {
    /// Where what an instruction uses, by its place in a block, was defined.
    fn origin(&self, v: Value, user: Block, at: usize) -> Origin {
        let Some(i) = self.func.def_inst(v) else { return Origin::Here };
        let def = self.func.insts[i].block;
        if !self.dom.is_reachable(Node::from(def)) {
            return Origin::Elsewhere;
        }
        let before = match def == user {
            true => self.func.block_insts(user).position(|x| x == i).is_some_and(|p| p < at),
            false => self.dom.dominates(Node::from(def), Node::from(user)),
        };
        match before {
            true => Origin::Here,
            false if self.leads(def, user) => Origin::Either,
            false => Origin::Elsewhere,
        }
    }

    /// Whether control can get from the end of one block to another.
    fn leads(&self, from: Block, to: Block) -> bool {
        let (mut seen, mut work): (EntitySet<Block>, Vec<Block>) = (EntitySet::new(), Vec::new());
        work.extend(self.graph.successors(Node::from(from)).map(Block::from));
        while let Some(b) = work.pop() {
            if b == to {
                return true;
            }
            if seen.insert(b) {
                work.extend(self.graph.successors(Node::from(b)).map(Block::from));
            }
        }
        false
    }
}

/// Makes the functions of regions.
pub(super) fn make(
    module: &mut Module,
    (args, differ): (&[ArgShape], &[Value]),
    cuts: Cuts,
    bodies: Vec<Body>,
    crossing: &Crossing,
) -> Result<Cut, VectorizeError> {
    let mut cells = crossing.cells.clone();
    let mut regions = Vec::new();
    for (number, body) in bodies.into_iter().enumerate() {
        let Body { mut func, start, exit, end, next, decision, outer, mixed, dom } = body;
        func.name = format!("{}.region{number}", cuts.func.name).into();
        let end = end_of(&cuts, crossing, end, decision, next)?;
        let b = Builder { module: &mut *module, func, at: start };
        let (args, passed, values) = (args.to_vec(), Vec::new(), HashMap::new());
        let mut outline = Outline { b, cuts: &cuts, crossing, args, passed, values, params: HashMap::new() };
        let returns = outline.returns(exit);
        if let Some(slot) = crossing.active.filter(|_| number > 0) {
            outline.only_active(slot, start);
        }
        outline.replace_arrays();
        for (place, v) in outer {
            let new = outline.known(v);
            outline.put(place, new);
        }
        for &(place, v) in &mixed {
            outline.load_at(place, v);
        }
        let mut anybody = None;
        if let Some(exit) = exit {
            outline.keep(exit, &dom, &mixed);
            if let Some(slot) = crossing.active {
                anybody = (!returns.is_empty()).then_some(cells.len());
                cells.extend(anybody.map(|_| Type::Int(8)));
                outline.note_active(slot, exit, &returns, number == 0, anybody);
            }
        }
        let Outline { mut b, args, passed, .. } = outline;
        local_updates(&mut b.func);
        let slots = passed.iter().zip(b.func.params.iter().rev().take(passed.len()).rev());
        let slots = slots.filter(|(passed, _)| matches!(passed, Passed::Slot(_))).map(|(_, &p)| p);
        let work = work_of(&b.func, &differ.iter().copied().chain(slots).collect::<Vec<_>>());
        regions.push(Region { func: b.finish(), args, passed, end, work, anybody, bound: None });
    }
    Ok(Cut { regions, cells, slots: crossing.slots.clone(), warnings: cuts.warnings })
}

/// Makes plain updates of atomic ones in local memory: one thread runs all work-items of a group, so nobody is there
/// for whom they would have to be atomic, and lanes make theirs one after the other.
fn local_updates(func: &mut Function) {
    let insts: Vec<Inst> = func.layout.iter().flat_map(|&b| func.block_insts(b)).collect();
    for i in insts {
        let Op::Opaque(info) = &func.insts[i].op else { continue };
        let Some(Atomic::Rmw { op, access }) = info.atomic else { continue };
        if is_local(func, func.insts[i].args[0]) {
            let access = MemAccess::plain(access.align);
            let info = OpaqueInfo { atomic: Some(Atomic::Rmw { op, access }), ..(**info).clone() };
            func.insts[i].op = Op::Opaque(Box::new(info));
            // Its original is atomic.
            func.insts[i].origin = None.into();
        }
    }
}

/// Whether an address leads to local memory alone.
pub(crate) fn is_local(func: &Function, address: Value) -> bool {
    let (mut seen, mut work) = (EntitySet::new(), vec![address]);
    while let Some(v) = work.pop() {
        if !seen.insert(v) {
            continue;
        }
        match func.pointers_behind(v) {
            Some(behind) => work.extend(behind),
            None if matches!(func.values[v].def, ValueDef::Param(_)) && func.pointers[v].local => {}
            None => return false,
        }
    }
    true
}

/// What follows on a cut.
fn end_of(
    cuts: &Cuts,
    crossing: &Crossing,
    end: Option<Block>,
    decision: Option<Value>,
    next: Vec<usize>,
) -> Result<End, VectorizeError> {
    let (Some(block), Some(&first)) = (end, next.first()) else { return Ok(End::Return) };
    let func = &cuts.func;
    let Some(v) = decision else { return Ok(End::Next(first)) };
    let on = match (func.values[v].def, crossing.kept.get(&v)) {
        (ValueDef::Param(k), _) => Decision::Param(k as usize),
        (ValueDef::Const(_), _) => Decision::Constant(func.constant(v).expect("it is one").clone()),
        (_, Some(&Kept::Cell(k))) => Decision::Cell(k),
        _ => {
            let reason = "work-items may disagree here about the next barrier";
            return Err(VectorizeError::at_block(func, block, reason));
        }
    };
    Ok(End::Branch { op: func.insts[func.terminator(block)].op.clone(), on, to: next })
}

/// For which work-items a region is executed; the values given differ between them.
fn work_of(func: &Function, differ: &[Value]) -> Work {
    let noticed = Effects::WRITES
        | Effects::ATOMIC
        | Effects::VOLATILE
        | Effects::NO_RETURN
        | Effects::UNWINDS
        | Effects::DIVERGES;
    let insts = || func.layout.iter().flat_map(|&b| func.block_insts(b));
    let effects = |i: Inst| func.insts[i].effects();
    if !insts().any(|i| effects(i).intersects(noticed)) {
        return Work::Nothing;
    }
    // What lanes compute together depends on how many there are.
    if insts().any(|i| matches!(func.insts[i].op, Op::Lane(_))) {
        return Work::Lanes;
    }
    let has_effects = |i: Inst| effects(i).intersects(noticed) || func.insts[i].op.is_terminator();
    if depends_on(func, insts().filter(|&i| has_effects(i)).collect(), differ) {
        return Work::Lanes;
    }
    let is_plain = |i: Inst| match func.accessed(i) {
        Some(accessed) => accessed.access.is_simple(),
        None => !effects(i).intersects(noticed | Effects::UNKNOWN_RESULT | Effects::CONVERGENT),
    };
    if insts().all(is_plain) { Work::Once } else { Work::Each }
}

/// Whether some of these values make a difference to some of these instructions, by operands and theirs.
fn depends_on(func: &Function, mut work: Vec<Inst>, values: &[Value]) -> bool {
    let mut seen = EntitySet::new();
    seen.extend(work.iter().copied());
    while let Some(i) = work.pop() {
        let block = &func.blocks[func.insts[i].block];
        let operands: Vec<Value> = match block.phis.iter().position(|&phi| phi == i) {
            Some(k) => block.preds.iter().map(|&e| func.edges[e].args[k]).collect(),
            None => func.insts[i].args.to_vec(),
        };
        if operands.iter().any(|v| values.contains(v)) {
            return true;
        }
        work.extend(operands.iter().filter_map(|&v| func.def_inst(v)).filter(|&i| seen.insert(i)));
    }
    false
}

/// The function of a region under construction.
struct Outline<'a> {
    b: Builder<'a>,
    cuts: &'a Cuts,
    crossing: &'a Crossing,
    args: Vec<ArgShape>,
    passed: Vec<Passed>,
    params: HashMap<Passed, Value>,
    /// What is known of values that other regions define.
    values: HashMap<Value, Value>,
}

impl Outline<'_> {
    /// The parameter for something, which is added if it is not there.
    fn param(&mut self, wanted: Passed) -> Value {
        if let Some(&p) = self.params.get(&wanted) {
            return p;
        }
        let (ty, name, shape) = match wanted {
            Passed::Cell(k) => (self.crossing.cells[k], format!("cell{k}"), ArgShape::Uniform),
            Passed::Out(k) => (Type::PTR, format!("out{k}"), ArgShape::Uniform),
            Passed::Slot(k) => {
                (Type::PTR, format!("slot{k}"), ArgShape::Stride(self.crossing.slots[k].step as i64))
            }
        };
        let p = self.b.func.add_param(ty, &name);
        if !matches!(wanted, Passed::Cell(_)) {
            self.b.func.pointers[p].noalias = true;
            self.b.func.pointers[p].private = matches!(wanted, Passed::Slot(_));
        }
        self.args.push(shape);
        self.passed.push(wanted);
        self.params.insert(wanted, p);
        p
    }

    /// The blocks in which work-items return early, if others go on to an exit.
    fn returns(&self, exit: Option<Block>) -> Vec<Block> {
        let func = &self.b.func;
        let returns = |b: &Block| matches!(func.insts[func.terminator(*b)].op, Op::Ret);
        func.layout.iter().copied().filter(|b| exit.is_some() && Some(*b) != exit && returns(b)).collect()
    }

    /// Lets only work-items begin that have not returned.
    fn only_active(&mut self, slot: usize, start: Block) {
        let func = &self.b.func;
        let head = func.successors(start).next().expect("a region begins somewhere");
        let slot = self.param(Passed::Slot(slot));
        self.b.at = start;
        let active = self.b.load(slot, Type::Int(8), None);
        let zero = self.b.int(8, 0);
        let is_active = self.b.icmp(IntPred::Ne, active, zero);
        let (go_on, gone) = (self.b.block("active"), self.b.block("gone"));
        self.b.cond_br(is_active, go_on, gone);
        self.b.at = gone;
        self.b.ret();
        self.b.at = go_on;
        self.b.br(head);
    }

    /// Puts slots in the place of arrays that are kept.
    fn replace_arrays(&mut self) {
        for &v in &self.crossing.order {
            let (Some(&Kept::Array(slot)), Some(i)) = (self.crossing.kept.get(&v), self.b.func.def_inst(v))
            else {
                continue;
            };
            let block = self.b.func.insts[i].block;
            if !self.b.func.layout.contains(&block) {
                continue;
            }
            let p = self.param(Passed::Slot(slot));
            self.b.func.map_operands(|x| if x == v { p } else { x });
            self.b.func.blocks[block].insts.retain(|&x| x != i);
        }
    }

    /// What a value of another region is here, where the region begins.
    fn known(&mut self, v: Value) -> Value {
        if let Some(&known) = self.values.get(&v) {
            return known;
        }
        let known = match self.crossing.kept.get(&v) {
            Some(&Kept::Cell(k)) => self.param(Passed::Cell(k)),
            Some(&Kept::Array(k)) => self.param(Passed::Slot(k)),
            Some(&Kept::Slot(k)) => {
                let (p, ty) = (self.param(Passed::Slot(k)), self.b.func.ty(v));
                self.b.load(p, ty, None)
            }
            Some(Kept::Again) => self.again(v),
            None if self.cuts.func.def_inst(v).is_some() => self.again(v),
            None => v,
        };
        self.values.insert(v, known);
        known
    }

    /// Computes a value again.
    fn again(&mut self, v: Value) -> Value {
        let i = self.cuts.func.def_inst(v).expect("parameters and constants are known");
        let data = self.cuts.func.insts[i].clone();
        let args: Vec<Value> = data.args.iter().map(|&a| self.known(a)).collect();
        let ty = self.b.func.ty(v);
        let new = self.b.func.append(self.b.at, data.op, &args, ty);
        (self.b.func.insts[new].flags, self.b.func.insts[new].loc) = (data.flags, data.loc);
        self.b.func.insts[new].results[0]
    }

    /// Loads a value of this or another region where it is used: its slot has what was defined last.
    fn load_at(&mut self, place: Place, v: Value) {
        let Some(&Kept::Slot(k)) = self.crossing.kept.get(&v) else { return };
        let (p, ty) = (self.param(Passed::Slot(k)), self.b.func.ty(v));
        let (block, at) = match place {
            Place::Operand(i, _) => {
                let block = self.b.func.insts[i].block;
                (block, self.b.func.blocks[block].insts.iter().position(|&x| x == i))
            }
            Place::Edge(e, _) => (self.b.func.edges[e].from, None),
        };
        let at = at.unwrap_or(self.b.func.blocks[block].insts.len());
        let rest = self.b.func.blocks[block].insts.split_off(at);
        self.b.at = block;
        let known = self.b.load(p, ty, None);
        self.b.func.blocks[block].insts.extend(rest);
        self.put(place, known);
    }

    fn put(&mut self, place: Place, v: Value) {
        match place {
            Place::Operand(i, k) => self.b.func.insts[i].args[k] = v,
            Place::Edge(e, k) => self.b.func.set_phi_arg(e, k, v),
        }
    }

    /// Stores what is defined here and kept for others: at the exit if it is always defined there and nobody needs it
    /// sooner.
    fn keep(&mut self, exit: Block, dom: &DomTree, mixed: &[(Place, Value)]) {
        for &v in &self.crossing.order {
            let wanted = match self.crossing.kept[&v] {
                Kept::Cell(k) => Passed::Out(k),
                Kept::Slot(k) => Passed::Slot(k),
                Kept::Array(_) | Kept::Again => continue,
            };
            let Some(i) = self.b.func.def_inst(v) else { continue };
            let block = self.b.func.insts[i].block;
            if !dom.is_reachable(Node::from(block)) {
                continue;
            }
            let (p, ty) = (self.param(wanted), self.b.func.ty(v));
            let sooner = mixed.iter().any(|&(_, x)| x == v);
            if !sooner && dom.dominates(Node::from(block), Node::from(exit)) {
                self.b.at = exit;
                self.b.store(p, v, ty);
                continue;
            }
            let insts = &self.b.func.blocks[block].insts;
            let behind = insts.iter().position(|&x| x == i).map_or(0, |at| at + 1);
            let rest = self.b.func.blocks[block].insts.split_off(behind);
            self.b.at = block;
            self.b.store(p, v, ty);
            self.b.func.blocks[block].insts.extend(rest);
        }
    }

    /// Notes which work-items take part in what follows.
    fn note_active(
        &mut self,
        slot: usize,
        exit: Block,
        returns: &[Block],
        is_first: bool,
        anybody: Option<usize>,
    ) {
        let (yes, no) = (self.b.int(8, 1), self.b.int(8, 0));
        if is_first || !returns.is_empty() {
            let slot = self.param(Passed::Slot(slot));
            for &b in returns {
                self.b.at = b;
                self.b.store(slot, no, Type::Int(8));
            }
            if is_first {
                self.b.at = exit;
                self.b.store(slot, yes, Type::Int(8));
            }
        }
        if let Some(cell) = anybody {
            let out = self.param(Passed::Out(cell));
            self.b.at = exit;
            self.b.store(out, yes, Type::Int(8));
        }
    }
}
