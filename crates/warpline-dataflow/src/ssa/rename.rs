//! Renaming: reads become what the variable holds.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use warpline_analysis::phi_placement::precise::Alias;
use warpline_analysis::{CsrGraph, DfsOrder, Graph, Lists, Node};

use super::access_list::{AccessList, Slot, Slots};
use super::construct::{Construction, SsaStats};
use super::undo::UndoWalk;
use warpline_ir::{Block, Edge, Function, Inst, Op, Value, ValueData, ValueDef, Var, VarData};

/// What variables hold at the beginning of blocks, where something else than on the way there.
pub(super) struct Held {
    /// In blocks with φs, their results.
    phis: Lists<(Slot, Value)>,
    /// By variable, the blocks that have a φ for it in increasing order.
    by_slot: Vec<(Slot, Node, Value)>,
    aliases: Lists<(Slot, Value)>,
    /// Writes that become copies, with the values that they define.
    copies: SecondaryMap<Inst, Option<Value>>,
}

impl Held {
    /// Adds φs to the function: variable by variable, so that those of a block are in the order of variables. Their
    /// operands come with renaming.
    pub(super) fn by_phis(func: &mut Function, slots: &Slots, phis: &[(Slot, Node)]) -> Held {
        let mut by_slot = Vec::with_capacity(phis.len());
        for &(slot, node) in phis {
            let b = Block::from(node);
            let var = &func.vars[slots.vars[slot.index()]];
            let (ty, name) = (var.ty, var.name.clone());
            let phi = func.make_inst(b, Op::Phi, &[], &[ty]);
            func.blocks[b].phis.push(phi);
            let result = func.insts[phi].results[0];
            func.values[result].name = name;
            by_slot.push((slot, node, result));
        }
        let by_block = by_slot.iter().map(|&(slot, node, v)| (node.index(), (slot, v)));
        Held {
            phis: Lists::group(func.blocks.len(), by_block),
            aliases: Lists::group(func.blocks.len(), std::iter::empty()),
            copies: SecondaryMap::new(),
            by_slot,
        }
    }

    /// Adds what variables hold at the beginning of blocks without φ. A write that is held there becomes a definition
    /// of its own, a copy: what it writes may be computed again before the use.
    pub(super) fn by_aliases(&mut self, func: &mut Function, accesses: &AccessList, aliases: &[Alias]) {
        if aliases.is_empty() {
            return;
        }
        // What variables hold at the end of the blocks that write them or have a φ. Of both in one block the write
        // counts.
        let written = accesses.writes.iter().map(|w| ((w.slot, w.node), Content::Write(w.last)));
        let mut contents: Vec<((Slot, Node), Content)> = written.collect();
        contents.extend(self.by_slot.iter().map(|&(slot, node, v)| ((slot, node), Content::Phi(v))));
        contents.sort_by_key(|c| c.0);
        contents.dedup_by_key(|c| c.0);
        let mut held: Vec<(usize, (Slot, Value))> = Vec::with_capacity(aliases.len());
        for a in aliases {
            let slot = Slot(a.variable as u32);
            let Ok(at) = contents.binary_search_by_key(&(slot, a.definition), |c| c.0) else { continue };
            let value = match contents[at].1 {
                Content::Phi(v) => v,
                Content::Write(i) => self.copied(func, i),
            };
            held.push((a.node.index(), (slot, value)));
        }
        self.aliases = Lists::group(func.blocks.len(), held.iter().copied());
    }

    /// The value that a write will define.
    fn copied(&mut self, func: &mut Function, write: Inst) -> Value {
        let Op::WriteVar(x) = func.insts[write].op else { unreachable!("a write was collected") };
        *self.copies[write].get_or_insert_with(|| {
            let VarData { ty, ref name, .. } = func.vars[x];
            let data = ValueData { ty, def: ValueDef::Inst(write, 0), name: name.clone() };
            func.values.push(data)
        })
    }
}

/// What a variable holds at the end of a block.
#[derive(Copy, Clone)]
enum Content {
    Write(Inst),
    Phi(Value),
}

/// What a variable holds at a point of the walk.
#[derive(Copy, Clone)]
enum Current {
    Unwritten,
    /// A value that is defined on all ways to this point.
    Value(Value),
    /// A value that may be defined on none, and that may be computed again before what is read here is used.
    Alias(Value),
}

/// The state of the walk.
pub(super) struct Renaming<'a> {
    slots: &'a Slots<'a>,
    held: Held,
    /// What every variable holds at this point of the walk.
    current: Vec<Current>,
    walk: UndoWalk<Current>,
    /// What variables hold before they are written, as far as it was asked for.
    unwritten: Vec<PackedOption<Value>>,
    replaced: SecondaryMap<Value, PackedOption<Value>>,
    stats: SsaStats,
}

impl<'a> Renaming<'a> {
    pub(super) fn new(func: &Function, slots: &'a Slots<'a>, held: Held) -> Self {
        let stats = SsaStats { variables: slots.len(), phis: held.by_slot.len(), ..SsaStats::default() };
        Renaming {
            slots,
            held,
            current: vec![Current::Unwritten; slots.len()],
            walk: UndoWalk::new(),
            unwritten: vec![None.into(); slots.len()],
            replaced: SecondaryMap::with_capacity(func.values.len()),
            stats,
        }
    }

    /// Renames everything. Blocks come in the order of a depth-first walk, and each finds what the one held at its
    /// end that led the walk there. Definitions dominate uses, so a read is replaced before its result is used.
    pub(super) fn run(&mut self, func: &mut Function, graph: &CsrGraph, dfs: &DfsOrder, edges: &[Edge]) {
        for &node in dfs.pre_order() {
            self.walk.enter(dfs, node, &mut self.current);
            for k in self.held.phis.range(node.index()) {
                let (slot, value) = self.held.phis.item(k);
                self.set(slot, Current::Value(value));
            }
            for k in self.held.aliases.range(node.index()) {
                let (slot, value) = self.held.aliases.item(k);
                self.set(slot, Current::Alias(value));
            }
            self.instructions(func, Block::from(node), true);
            self.end(func, graph, edges, node);
        }
        self.walk.leave_all(&mut self.current);
        self.unreachable(func, graph, dfs, edges);
    }

    /// Nothing flows into unreachable blocks, nor from one to the other. They may use each other's values in any order.
    fn unreachable(&mut self, func: &mut Function, graph: &CsrGraph, dfs: &DfsOrder, edges: &[Edge]) {
        let is_unreachable = |b: &Block| !dfs.is_reachable(Node::from(*b));
        let blocks: Vec<Block> = func.layout.iter().copied().filter(is_unreachable).collect();
        for &b in &blocks {
            self.instructions(func, b, false);
        }
        for &b in &blocks {
            self.instructions(func, b, false);
            self.end(func, graph, edges, Node::from(b));
        }
    }

    fn set(&mut self, slot: Slot, now: Current) {
        self.walk.set(&mut self.current, slot.index(), now);
    }

    /// Removes the reads and writes of a block, and rewrites the operands of its other instructions. With `writes`
    /// false, nothing is ever written.
    fn instructions(&mut self, func: &mut Function, b: Block, writes: bool) {
        let mut insts = std::mem::take(&mut func.blocks[b].insts);
        insts.retain(|&i| {
            let (Op::ReadVar(x) | Op::WriteVar(x)) = func.insts[i].op else {
                self.rewrite(&mut func.insts[i].args);
                return true;
            };
            match (self.slots.of(x), func.insts[i].result()) {
                (Some(slot), Some(result)) => self.read(func, i, result, slot),
                (Some(slot), None) => self.write(func, i, slot, writes),
                (None, _) => {
                    self.rewrite(&mut func.insts[i].args);
                    true
                }
            }
        });
        func.blocks[b].insts = insts;
    }

    /// Lets what the variable holds stand for the result of a read. Returns whether an instruction stays.
    fn read(&mut self, func: &mut Function, read: Inst, result: Value, slot: Slot) -> bool {
        self.stats.reads += 1;
        let value = self.value(func, slot);
        let is_alias = matches!(self.current[slot.index()], Current::Alias(_));
        if is_alias {
            func.insts[read].op = Op::ParallelCopy;
            func.insts[read].args.push(value);
        } else {
            self.replaced[result] = value.into();
        }
        is_alias
    }

    /// Lets the variable hold what is written. Returns whether an instruction stays.
    fn write(&mut self, func: &mut Function, write: Inst, slot: Slot, is_live: bool) -> bool {
        self.stats.writes += 1;
        if !is_live {
            return false;
        }
        self.rewrite(&mut func.insts[write].args);
        let copy = self.held.copies[write];
        if let Some(result) = copy {
            func.insts[write].op = Op::ParallelCopy;
            func.insts[write].results.push(result);
        }
        self.set(slot, Current::Value(copy.unwrap_or(func.insts[write].args[0])));
        copy.is_some()
    }

    /// What a block uses at its end: operands of its terminator and of φs behind it, and its mask. φs that were
    /// placed get theirs.
    fn end(&mut self, func: &mut Function, graph: &CsrGraph, edges: &[Edge], node: Node) {
        let b = Block::from(node);
        if let Some(t) = func.blocks[b].term.expand() {
            self.rewrite(&mut func.insts[t].args);
        }
        if let Some(mask) = func.blocks[b].mask.expand() {
            func.blocks[b].mask = self.now(mask).into();
        }
        for &e in graph.out_edges(node) {
            let edge = edges[e.index()];
            self.rewrite(&mut func.edges[edge].args);
            for k in self.held.phis.range(graph.target(e).index()) {
                let value = self.value(func, self.held.phis.item(k).0);
                func.edges[edge].args.push(value);
            }
        }
    }

    fn rewrite(&self, args: &mut [Value]) {
        for a in args {
            *a = self.now(*a);
        }
    }

    /// What stands for a value now.
    fn now(&self, v: Value) -> Value {
        self.replaced[v].expand().unwrap_or(v)
    }

    /// The value that a variable holds at this point of the walk.
    fn value(&mut self, func: &mut Function, slot: Slot) -> Value {
        let s = slot.index();
        match (self.current[s], self.unwritten[s].expand()) {
            (Current::Value(value) | Current::Alias(value), _) => value,
            (Current::Unwritten, Some(value)) => value,
            (Current::Unwritten, None) => {
                let value = func.unwritten_value(self.slots.vars[s]);
                self.unwritten[s] = value.into();
                value
            }
        }
    }

    /// The outcome.
    pub(super) fn finish(self, func: &Function) -> Construction {
        let placed = self.placed(func);
        Construction { stats: self.stats, placed, replaced: self.replaced }
    }

    fn placed(&self, func: &Function) -> Vec<(Value, Var)> {
        let in_block = |&b: &Block| self.held.phis.get(b.as_u32() as usize);
        let phis = func.layout.iter().flat_map(in_block);
        phis.map(|&(slot, v)| (v, self.slots.vars[slot.index()])).collect()
    }
}
