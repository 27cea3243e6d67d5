//! Functions: blocks, edges, instructions, values, variables, and the operations that edit them.

use crate::printable::line;
use std::collections::HashMap;
use std::fmt;

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{PrimaryMap, SecondaryMap};
use smallvec::SmallVec;
use warpline_analysis::{CsrGraph, Node};

use super::constant::Constant;
use super::effects::Effects;
use super::entities::{Block, Edge, Inst, Loc, Origin, Value, Var};
use super::inst::{InstFlags, MemAccess, Op};
use super::phase::Phase;
use super::pointer_facts::PointerFacts;
use super::types::Type;

/// A basic block. φs come first, then the other instructions, then the terminator.
#[derive(Clone, Default, Debug)]
pub struct BlockData {
    /// Name without a sigil; empty if it has none.
    pub name: Box<str>,
    /// The φ instructions, in the order of the operands on the in-edges.
    pub phis: Vec<Inst>,
    /// The instructions between φs and terminator, in order; σs last.
    pub insts: Vec<Inst>,
    /// The terminator; `None` only while the block is being built.
    pub term: PackedOption<Inst>,
    /// The in-edges, in no particular order (but deterministic).
    pub preds: Vec<Edge>,
    /// In a lane program: the mask (an `i1` value) under which the instructions of the block take effect;
    /// `None`: all lanes that entered the function.
    pub mask: PackedOption<Value>,
    /// Of the header of a loop: that it is executed where few iterations are left, so that a code generator need not
    /// make code that is fast for many. What a function computes never depends on it.
    pub few: bool,
}

/// A control-flow edge.
#[derive(Clone, Debug)]
pub struct EdgeData {
    /// The block whose terminator the edge belongs to.
    pub from: Block,
    /// The target.
    pub to: Block,
    /// The operands of the target's φs, in their order.
    pub args: SmallVec<[Value; 4]>,
    /// Position in the target's `preds`.
    pred_index: u32,
}

impl EdgeData {
    /// The position of the edge among the in-edges of its target.
    pub(crate) fn pred_index(&self) -> usize {
        self.pred_index as usize
    }
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct InstData {
    /// What it does.
    pub op: Op,
    /// Flags.
    pub flags: InstFlags,
    /// Operands; see [`Op`].
    pub args: SmallVec<[Value; 3]>,
    /// Results.
    pub results: SmallVec<[Value; 1]>,
    /// Out-edges of a terminator, in the order stated at [`Op`].
    pub edges: SmallVec<[Edge; 2]>,
    /// The block it is in.
    pub block: Block,
    /// Source location.
    pub loc: PackedOption<Loc>,
    /// What it was imported from.
    pub origin: PackedOption<Origin>,
}

impl InstData {
    /// The only result; `None` if there is none (or, for parallel copies and σs, several).
    pub fn result(&self) -> Option<Value> {
        match self.results[..] {
            [v] => Some(v),
            _ => None,
        }
    }

    /// The effect record.
    pub fn effects(&self) -> Effects {
        self.op.effects()
    }
}

/// What a load or store does, found by [`Function::accessed`].
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Accessed {
    /// How.
    pub access: MemAccess,
    /// The address.
    pub address: Value,
    /// The type of what is loaded or stored.
    pub ty: Type,
    /// Whether it is a store.
    pub writes: bool,
}

/// Where a value comes from.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ValueDef {
    /// Parameter number.
    Param(u32),
    /// An instruction's result, and which one.
    Inst(Inst, u32),
    /// A constant, an index for [`Function::constant`].
    Const(u32),
}

/// A value.
#[derive(Clone, Debug)]
pub struct ValueData {
    /// Its type.
    pub ty: Type,
    /// Its definition.
    pub def: ValueDef,
    /// Name without a sigil; empty if it has none.
    pub name: Box<str>,
}

/// What a variable holds before it is written.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Unwritten {
    /// `poison`.
    #[default]
    Poison,
    /// `undef`, as memory does: a variable that was an `alloca`. Poison would be more undefined than that.
    Undef,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct VarData {
    /// Name without a sigil; empty if it has none.
    pub name: Box<str>,
    /// The type of what it holds.
    pub ty: Type,
    /// What it holds when control enters the function.
    pub unwritten: Unwritten,
}

/// How often groups of lanes that came to a branch had one that took an edge.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct GroupCount {
    /// How many lanes a whole group had.
    pub lanes: u32,
    /// How many groups came.
    pub came: u32,
    /// How many of them had a lane that took the edge.
    pub took: u32,
}

/// A function with a body.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name in the object file.
    pub name: Box<str>,
    /// Return type.
    pub ret: Type,
    /// How far it is on its way from one lane to several.
    pub phase: Phase,
    /// Whether more arguments than the parameters may be passed.
    pub variadic: bool,
    /// Whether calls of it stay calls.
    pub noinline: bool,
    /// Whether sanitizers report what it loads from where nothing is.
    pub is_sanitized: bool,
    /// What it was imported from.
    pub origin: PackedOption<Origin>,
    /// Where it is declared.
    pub loc: PackedOption<Loc>,
    /// The parameters' values.
    pub params: Vec<Value>,
    /// What is promised of the pointers among them.
    pub pointers: SecondaryMap<Value, PointerFacts>,
    /// All blocks ever made.
    pub blocks: PrimaryMap<Block, BlockData>,
    /// All edges ever made; an edge is live iff it is among the edges of its source's terminator.
    pub edges: PrimaryMap<Edge, EdgeData>,
    /// How often edges of branches are taken, relative to the other edges of their block, as far as that is known:
    /// from a profile or from what the source says of it. What a function computes never depends on it.
    pub weights: SecondaryMap<Edge, Option<u32>>,
    /// How often groups of lanes had one that took an edge of a branch, as far as that was counted. It changes no
    /// result either.
    pub groups: SecondaryMap<Edge, Option<GroupCount>>,
    /// All instructions ever made.
    pub insts: PrimaryMap<Inst, InstData>,
    /// All values ever made.
    pub values: PrimaryMap<Value, ValueData>,
    /// The variables of the source that values without a name of their own are, for reports.
    pub source_names: SecondaryMap<Value, Option<Box<str>>>,
    /// All variables.
    pub vars: PrimaryMap<Var, VarData>,
    /// The blocks in order; the entry is the first.
    pub layout: Vec<Block>,
    /// Where a block was looked for in the layout last: the next one often stands near.
    last_place: usize,
    constants: Vec<Constant>,
    const_values: HashMap<Constant, Value>,
}

impl Function {
    /// A function without blocks and parameters.
    pub fn new(name: &str, ret: Type) -> Function {
        Function {
            name: name.into(),
            ret,
            phase: Phase::Scalar,
            variadic: false,
            noinline: false,
            is_sanitized: false,
            origin: None.into(),
            loc: None.into(),
            params: Vec::new(),
            pointers: SecondaryMap::new(),
            blocks: PrimaryMap::new(),
            edges: PrimaryMap::new(),
            weights: SecondaryMap::new(),
            groups: SecondaryMap::new(),
            insts: PrimaryMap::new(),
            values: PrimaryMap::new(),
            source_names: SecondaryMap::new(),
            vars: PrimaryMap::new(),
            layout: Vec::new(),
            last_place: 0,
            constants: Vec::new(),
            const_values: HashMap::new(),
        }
    }

    /// The entry block: the first of the layout.
    ///
    /// # Panics
    /// If the function has no block yet.
    pub fn entry(&self) -> Block {
        self.layout[0]
    }

    // ---- values -------------------------------------------------------------------------------------------

    /// Adds a parameter.
    pub fn add_param(&mut self, ty: Type, name: &str) -> Value {
        let def = ValueDef::Param(self.params.len() as u32);
        let v = self.values.push(ValueData { ty, def, name: name.into() });
        self.params.push(v);
        v
    }

    /// The value of a constant.
    pub fn constant_value(&mut self, c: Constant) -> Value {
        if let Some(&v) = self.const_values.get(&c) {
            return v;
        }
        let def = ValueDef::Const(self.constants.len() as u32);
        let v = self.values.push(ValueData { ty: c.ty(), def, name: "".into() });
        self.constants.push(c.clone());
        self.const_values.insert(c, v);
        v
    }

    /// `poison` of a type.
    pub fn poison(&mut self, ty: Type) -> Value {
        self.constant_value(Constant::Poison(ty))
    }

    /// A boolean constant.
    pub fn bool_const(&mut self, b: bool) -> Value {
        self.constant_value(Constant::bool(b))
    }

    /// An integer constant of at most 128 bits.
    pub fn int_const(&mut self, bits: u32, value: u128) -> Value {
        self.constant_value(Constant::int(bits, value))
    }

    /// The constant that a value is, if it is one.
    #[inline]
    pub fn constant(&self, v: Value) -> Option<&Constant> {
        match self.values[v].def {
            ValueDef::Const(i) => Some(&self.constants[i as usize]),
            _ => None,
        }
    }

    /// The integer that a value is, zero-extended, if it is a constant of at most 128 bits.
    pub fn as_int(&self, v: Value) -> Option<u128> {
        self.constant(v)?.as_int()
    }

    /// Whether the value is the constant `poison`.
    pub fn is_poison(&self, v: Value) -> bool {
        matches!(self.constant(v), Some(Constant::Poison(_)))
    }

    /// The type of a value.
    pub fn ty(&self, v: Value) -> Type {
        self.values[v].ty
    }

    /// The instruction that defines a value.
    #[inline]
    pub fn def_inst(&self, v: Value) -> Option<Inst> {
        match self.values[v].def {
            ValueDef::Inst(i, _) => Some(i),
            _ => None,
        }
    }

    /// Whether a value is the address of an object on the stack, as its `alloca` gives it.
    pub fn is_alloca(&self, v: Value) -> bool {
        self.def_inst(v).is_some_and(|i| matches!(self.insts[i].op, Op::Alloca { .. }))
    }

    /// What a load or store accesses; `None` for other instructions, those that also access memory among them.
    pub fn accessed(&self, i: Inst) -> Option<Accessed> {
        let data = &self.insts[i];
        match (&data.op, &data.args[..], &data.results[..]) {
            (&Op::Load(access), &[address], &[x]) => {
                Some(Accessed { access, address, ty: self.ty(x), writes: false })
            }
            (&Op::Store(access), &[x, address], []) => {
                Some(Accessed { access, address, ty: self.ty(x), writes: true })
            }
            _ => None,
        }
    }

    /// The block in which a value is defined; `None` for parameters and constants.
    #[inline]
    pub fn def_block(&self, v: Value) -> Option<Block> {
        self.def_inst(v).map(|i| self.insts[i].block)
    }

    /// `%name` or `%v12`: how a value is called in messages.
    pub fn value_name(&self, v: Value) -> String {
        match &self.values[v].name {
            n if n.is_empty() => format!("%{v}"),
            n => format!("%{}", line(n)),
        }
    }

    /// `$name` or `$x12`: how a variable is called in messages.
    pub fn var_name(&self, x: Var) -> String {
        match &self.vars[x].name {
            n if n.is_empty() => format!("${x}"),
            n => format!("${}", line(n)),
        }
    }

    /// The name of a block in messages.
    pub fn block_name(&self, b: Block) -> String {
        match &self.blocks[b].name {
            n if n.is_empty() => b.to_string(),
            n => line(n).into_owned(),
        }
    }

    // ---- blocks -------------------------------------------------------------------------------------------

    /// Makes a block and puts it at the end of the layout.
    pub fn add_block(&mut self, name: &str) -> Block {
        let b = self.blocks.push(BlockData { name: name.into(), ..BlockData::default() });
        self.layout.push(b);
        b
    }

    /// Makes a variable that holds poison until it is written.
    pub fn add_var(&mut self, ty: Type, name: &str) -> Var {
        self.vars.push(VarData { name: name.into(), ty, unwritten: Unwritten::Poison })
    }

    /// What a variable holds until it is written: a constant.
    pub fn unwritten_value(&mut self, var: Var) -> Value {
        let VarData { ty, unwritten, .. } = self.vars[var];
        self.constant_value(match unwritten {
            Unwritten::Poison => Constant::Poison(ty),
            Unwritten::Undef => Constant::Undef(ty),
        })
    }

    /// The terminator of a complete block.
    ///
    /// # Panics
    /// If the block has none.
    pub fn terminator(&self, b: Block) -> Inst {
        self.blocks[b].term.expect("a complete block has a terminator")
    }

    /// The out-edges of a block, in the terminator's order; none if it has no terminator yet.
    #[inline]
    pub fn out_edges(&self, b: Block) -> &[Edge] {
        match self.blocks[b].term.expand() {
            Some(t) => &self.insts[t].edges,
            None => &[],
        }
    }

    /// The successors of a block, one per out-edge.
    pub fn successors(&self, b: Block) -> impl Iterator<Item = Block> + '_ {
        self.out_edges(b).iter().map(|&e| self.edges[e].to)
    }

    /// The predecessors of a block, one per in-edge.
    pub fn predecessors(&self, b: Block) -> impl Iterator<Item = Block> + '_ {
        self.blocks[b].preds.iter().map(|&e| self.edges[e].from)
    }

    /// φs, other instructions and terminator of a block, in order.
    #[inline]
    pub fn block_insts(&self, b: Block) -> impl Iterator<Item = Inst> + '_ {
        let data = &self.blocks[b];
        data.phis.iter().chain(&data.insts).copied().chain(data.term.expand())
    }

    /// How many instructions there are, φs and terminators included.
    pub fn inst_count(&self) -> usize {
        self.layout.iter().map(|&b| self.block_insts(b).count()).sum()
    }

    /// The control-flow graph: node *i* is block *i* (blocks out of the layout are isolated nodes), with the map
    /// from graph edges to edges of this function.
    ///
    /// # Panics
    /// If the function has no block yet.
    pub fn graph(&self) -> (CsrGraph, Vec<Edge>) {
        let mut ends = Vec::with_capacity(self.edges.len());
        let mut ids = Vec::with_capacity(self.edges.len());
        for &b in &self.layout {
            for &e in self.out_edges(b) {
                ends.push((Node(b.as_u32()), Node(self.edges[e].to.as_u32())));
                ids.push(e);
            }
        }
        let graph = CsrGraph::new(self.blocks.len(), Node(self.entry().as_u32()), ends)
            .expect("edges join blocks of this function");
        (graph, ids)
    }

    // ---- instructions -------------------------------------------------------------------------------------

    /// Makes an instruction that is in no list yet.
    pub fn make_inst(&mut self, block: Block, op: Op, args: &[Value], results: &[Type]) -> Inst {
        let inst = self.insts.push(InstData {
            op,
            flags: InstFlags::empty(),
            args: args.into(),
            results: SmallVec::new(),
            edges: SmallVec::new(),
            block,
            loc: None.into(),
            origin: None.into(),
        });
        for (i, &ty) in results.iter().enumerate() {
            let def = ValueDef::Inst(inst, i as u32);
            let v = self.values.push(ValueData { ty, def, name: "".into() });
            self.insts[inst].results.push(v);
        }
        inst
    }

    /// Appends an instruction to a block (before its σs and its terminator). `ty` is `Void` for none.
    pub fn append(&mut self, block: Block, op: Op, args: &[Value], ty: Type) -> Inst {
        debug_assert!(!op.is_terminator() && op != Op::Phi && op != Op::Sigma);
        let results: &[Type] = if ty.is_void() { &[] } else { &[ty] };
        let inst = self.make_inst(block, op, args, results);
        let at = self.first_sigma(block);
        self.blocks[block].insts.insert(at, inst);
        inst
    }

    /// Makes an instruction with one result in front of another one, which is no φ, with its location. The result.
    pub fn insert_value_before(
        &mut self,
        next: Inst,
        op: Op,
        args: &[Value],
        ty: Type,
        flags: InstFlags,
    ) -> Value {
        let (block, loc) = (self.insts[next].block, self.insts[next].loc);
        let new = self.make_inst(block, op, args, &[ty]);
        (self.insts[new].flags, self.insts[new].loc) = (flags, loc);
        let insts = &self.blocks[block].insts;
        // The terminator is in no list.
        let at = insts.iter().position(|&i| i == next).unwrap_or(insts.len());
        self.blocks[block].insts.insert(at, new);
        self.insts[new].results[0]
    }

    /// Adds a σ to a block that has its terminator. Its results are called like the operand.
    pub fn add_sigma(&mut self, block: Block, arg: Value) -> Inst {
        let types: SmallVec<[Type; 4]> =
            std::iter::repeat_n(self.ty(arg), self.out_edges(block).len()).collect();
        let inst = self.make_inst(block, Op::Sigma, &[arg], &types);
        self.blocks[block].insts.push(inst);
        inst
    }

    /// Where the σs of a block begin among its instructions; their number if there are none.
    pub fn first_sigma(&self, block: Block) -> usize {
        let insts = &self.blocks[block].insts;
        let sigmas = insts.iter().rev().take_while(|&&i| self.insts[i].op == Op::Sigma).count();
        insts.len() - sigmas
    }

    /// The out-edge on which a value is defined, if it is a result of a σ.
    pub fn sigma_edge(&self, v: Value) -> Option<Edge> {
        match self.values[v].def {
            ValueDef::Inst(i, k) if self.insts[i].op == Op::Sigma => {
                self.out_edges(self.insts[i].block).get(k as usize).copied()
            }
            _ => None,
        }
    }

    /// Appends an instruction with one result and returns that.
    pub fn append_value(&mut self, block: Block, op: Op, args: &[Value], ty: Type) -> Value {
        debug_assert!(!ty.is_void());
        let inst = self.append(block, op, args, ty);
        self.insts[inst].results[0]
    }

    /// Adds a φ to a block. The in-edges that exist must be given an operand each by the caller (see
    /// [`Function::set_phi_arg`]); until then it is poison.
    pub fn add_phi(&mut self, block: Block, ty: Type) -> Value {
        let inst = self.make_inst(block, Op::Phi, &[], &[ty]);
        self.blocks[block].phis.push(inst);
        if !self.blocks[block].preds.is_empty() {
            let poison = self.poison(ty);
            for i in 0..self.blocks[block].preds.len() {
                let e = self.blocks[block].preds[i];
                self.edges[e].args.push(poison);
            }
        }
        self.insts[inst].results[0]
    }

    /// Sets the operand of a φ (by its position among the block's φs) on an in-edge.
    pub fn set_phi_arg(&mut self, edge: Edge, position: usize, v: Value) {
        self.edges[edge].args[position] = v;
    }

    /// Position of a φ among the φs of its block.
    pub fn phi_position(&self, phi: Inst) -> Option<usize> {
        self.blocks[self.insts[phi].block].phis.iter().position(|&p| p == phi)
    }

    /// Removes the φs of a block for which `keep` is false, with their operands on all in-edges.
    pub fn retain_phis(&mut self, block: Block, mut keep: impl FnMut(Inst) -> bool) {
        let kept: Vec<bool> = self.blocks[block].phis.iter().map(|&p| keep(p)).collect();
        if kept.iter().all(|&k| k) {
            return;
        }
        let mut it = kept.iter();
        self.blocks[block].phis.retain(|_| *it.next().unwrap_or(&true));
        for i in 0..self.blocks[block].preds.len() {
            let e = self.blocks[block].preds[i];
            let mut it = kept.iter();
            self.edges[e].args.retain(|_| *it.next().unwrap_or(&true));
        }
    }

    /// Gives a block a terminator (replacing the old one, whose edges are removed). New edges have poison
    /// operands for the φs their targets already have. σs of the block stay as they are: they must suit the new edges.
    pub fn set_terminator(&mut self, block: Block, op: Op, args: &[Value], targets: &[Block]) -> Inst {
        debug_assert!(op.is_terminator());
        self.clear_terminator(block);
        let inst = self.make_inst(block, op, args, &[]);
        self.blocks[block].term = inst.into();
        for &to in targets {
            let e = self.make_edge(block, to);
            self.insts[inst].edges.push(e);
        }
        inst
    }

    /// Removes the terminator of a block and its edges.
    pub fn clear_terminator(&mut self, block: Block) {
        if let Some(t) = self.blocks[block].term.take() {
            for e in std::mem::take(&mut self.insts[t].edges) {
                self.unlink_edge(e);
            }
        }
    }

    /// Makes an edge that the caller attaches to a terminator of `from`; φ operands are poison.
    pub fn make_edge(&mut self, from: Block, to: Block) -> Edge {
        let tys: SmallVec<[Type; 4]> =
            self.blocks[to].phis.iter().map(|&p| self.values[self.insts[p].results[0]].ty).collect();
        let args = tys.into_iter().map(|ty| self.poison(ty)).collect();
        let pred_index = self.blocks[to].preds.len() as u32;
        let e = self.edges.push(EdgeData { from, to, args, pred_index });
        self.blocks[to].preds.push(e);
        e
    }

    fn unlink_edge(&mut self, e: Edge) {
        let EdgeData { to, pred_index, .. } = self.edges[e];
        let preds = &mut self.blocks[to].preds;
        preds.swap_remove(pred_index as usize);
        if let Some(&moved) = preds.get(pred_index as usize) {
            self.edges[moved].pred_index = pred_index;
        }
        self.edges[e].args.clear();
    }

    /// Leaves a block no other way than by this edge of its own: a jump in place of its terminator.
    pub fn always_take(&mut self, e: Edge) {
        let EdgeData { from, to, ref args, .. } = self.edges[e];
        let (args, loc) = (args.clone(), self.insts[self.terminator(from)].loc);
        let jump = self.set_terminator(from, Op::Br, &[], &[to]);
        self.insts[jump].loc = loc;
        let edge = self.insts[jump].edges[0];
        self.edges[edge].args = args;
    }

    /// Lets an edge lead to another block. Its φ operands become poison for the new target's φs.
    pub fn redirect_edge(&mut self, e: Edge, to: Block) {
        self.unlink_edge(e);
        let tys: SmallVec<[Type; 4]> =
            self.blocks[to].phis.iter().map(|&p| self.values[self.insts[p].results[0]].ty).collect();
        let args = tys.into_iter().map(|ty| self.poison(ty)).collect();
        let pred_index = self.blocks[to].preds.len() as u32;
        self.blocks[to].preds.push(e);
        let edge = &mut self.edges[e];
        edge.to = to;
        edge.args = args;
        edge.pred_index = pred_index;
    }

    /// The place of a block in the layout.
    fn place(&mut self, block: Block) -> Option<usize> {
        let near = self.last_place.min(self.layout.len());
        let (before, behind) = self.layout.split_at(near);
        // From there outwards in both directions.
        let is_it = |b: Option<&Block>| b == Some(&block);
        let steps = 0..before.len().max(behind.len());
        let found = steps.into_iter().find_map(|k| {
            let down = is_it(before.len().checked_sub(k + 1).and_then(|i| before.get(i)));
            let up = is_it(behind.get(k));
            if down { Some(near - k - 1) } else { up.then_some(near + k) }
        });
        self.last_place = found.unwrap_or(near);
        found
    }

    /// Puts a block that is not in the layout before one that is, but not before the entry; at the end if that is not
    /// there.
    pub fn insert_before(&mut self, next: Block, new: Block) {
        let at = self.place(next).unwrap_or(self.layout.len());
        self.layout.insert(at.max(1), new);
    }

    /// Puts a new block on an edge: `from → new → to`. The edge now ends at the new block; the new block's
    /// only edge carries the φ operands. The new block stands before `to` in the layout.
    pub fn split_edge(&mut self, e: Edge, name: &str) -> Block {
        let to = self.edges[e].to;
        let args = self.edges[e].args.clone();
        let mid = self.blocks.push(BlockData { name: name.into(), ..BlockData::default() });
        self.insert_before(to, mid);
        self.redirect_edge(e, mid);
        let term = self.set_terminator(mid, Op::Br, &[], &[to]);
        let out = self.insts[term].edges[0];
        self.edges[out].args = args;
        mid
    }

    /// Splits a block behind its φs and its first `at` instructions. The new block gets the remaining
    /// instructions, all σs and the terminator (with its edges); the old one falls through to it by a `br` edge.
    pub fn split_block(&mut self, block: Block, at: usize, name: &str) -> Block {
        let at = at.min(self.first_sigma(block));
        let tail: Vec<Inst> = self.blocks[block].insts.split_off(at);
        let term = self.blocks[block].term.take();
        let new = self.blocks.push(BlockData { name: name.into(), insts: tail, ..BlockData::default() });
        let pos = self.place(block).map_or(self.layout.len(), |p| p + 1);
        self.layout.insert(pos, new);
        for k in 0..self.blocks[new].insts.len() {
            let i = self.blocks[new].insts[k];
            self.insts[i].block = new;
        }
        if let Some(t) = term {
            self.blocks[new].term = t.into();
            self.insts[t].block = new;
            for k in 0..self.insts[t].edges.len() {
                let e = self.insts[t].edges[k];
                self.edges[e].from = new;
            }
        }
        self.set_terminator(block, Op::Br, &[], &[new]);
        new
    }

    /// Takes a block without in-edges out of the layout, with its out-edges.
    pub fn remove_block(&mut self, block: Block) {
        debug_assert!(self.blocks[block].preds.is_empty());
        self.clear_terminator(block);
        self.layout.retain(|&b| b != block);
    }

    /// Removes every block that cannot be reached from the entry.
    pub fn remove_unreachable_blocks(&mut self) {
        let mut seen = cranelift_entity::EntitySet::with_capacity(self.blocks.len());
        let mut work = vec![self.entry()];
        seen.insert(self.entry());
        while let Some(b) = work.pop() {
            for s in self.successors(b) {
                if seen.insert(s) {
                    work.push(s);
                }
            }
        }
        let dead: Vec<Block> = self.layout.iter().copied().filter(|&b| !seen.contains(b)).collect();
        for &b in &dead {
            self.clear_terminator(b);
        }
        self.layout.retain(|&b| seen.contains(b));
    }

    /// Takes an instruction that has one result out of its block, and puts a value in the place of the result.
    pub fn replace(&mut self, inst: Inst, by: Value) {
        let (result, block) = (self.insts[inst].results[0], self.insts[inst].block);
        self.blocks[block].insts.retain(|&i| i != inst);
        self.map_operands(|v| if v == result { by } else { v });
    }

    /// Calls `f` for every operand in the function, φ operands included, and stores what it returns.
    pub fn map_operands(&mut self, mut f: impl FnMut(Value) -> Value) {
        for bi in 0..self.layout.len() {
            let b = self.layout[bi];
            let insts: Vec<Inst> = self.block_insts(b).collect();
            for i in insts {
                for a in &mut self.insts[i].args {
                    *a = f(*a);
                }
            }
            if let Some(t) = self.blocks[b].term.expand() {
                for k in 0..self.insts[t].edges.len() {
                    let e = self.insts[t].edges[k];
                    for a in &mut self.edges[e].args {
                        *a = f(*a);
                    }
                }
            }
            if let Some(m) = self.blocks[b].mask.expand() {
                self.blocks[b].mask = f(m).into();
            }
        }
    }
}

impl fmt::Display for ValueDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueDef::Param(i) => write!(f, "parameter {i}"),
            ValueDef::Inst(i, _) => write!(f, "{i}"),
            ValueDef::Const(_) => write!(f, "constant"),
        }
    }
}
