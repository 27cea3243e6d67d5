//! Memory, in cells: what pointers may lead to, by unification (Steensgaard 1996) over the whole module.
//!
//! Every value is a node, nodes of values that are copies of each other are one, and a node may lead to another: the
//! memory that its values point to. A node stands for that memory and for what is in it alike; memory that one
//! pointer may lead to is one cell, and what lies in one object is not told apart. Memory that unknown code may reach
//! is the cell *elsewhere*, which leads to itself. Integers carry pointers if they are as wide, or bytes; pieces of
//! pointers of other sizes are not followed.

use crate::memory;
use warpline_ir::{
    CastOp, Constant, Effects, FuncId, Function, Inst, Module, Op, Scalar, SymbolKind, Type, Value,
};

use super::calls::{Callee, Calls};
use super::spec::{At, Spot};

const NONE: u32 = u32::MAX;

/// A cell of memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Cell(pub u32);

/// The cells of a module.
pub(super) struct Cells {
    parent: Vec<u32>,
    leads_to: Vec<u32>,
    /// Of each function the node of its first value.
    first: Vec<u32>,
    /// Of each function the node of what it returns.
    returned: u32,
    /// Of each symbol the node of its memory.
    symbols: u32,
    elsewhere: u32,
}

impl Cells {
    /// Finds the cells of a module.
    pub(super) fn new(module: &Module, calls: &Calls) -> Cells {
        let mut first = Vec::with_capacity(module.functions.len());
        let mut count = 0;
        for func in module.functions.values() {
            first.push(count);
            count += func.values.len() as u32;
        }
        let returned = count;
        let symbols = returned + module.functions.len() as u32;
        let elsewhere = symbols + module.symbols.len() as u32;
        let nodes = elsewhere + 1;
        let mut cells = Cells {
            parent: (0..nodes).collect(),
            leads_to: vec![NONE; nodes as usize],
            first,
            returned,
            symbols,
            elsewhere,
        };
        cells.leads_to[elsewhere as usize] = elsewhere;
        for (symbol, data) in module.symbols.iter() {
            let node = symbols + symbol.as_u32();
            let is_constant = matches!(data.kind, SymbolKind::Global { constant: true, .. });
            let has_addresses = !matches!(data.kind, SymbolKind::Global { bytes: Some(_), .. });
            if !calls.is_closed(symbol) && !is_constant {
                cells.unify(node, elsewhere);
            } else if has_addresses {
                // What it leads to is not known, though nobody else leads to it.
                cells.join(node, elsewhere);
            }
        }
        for (id, func) in module.functions.iter() {
            Walk { cells: &mut cells, module, calls, id, func }.walk();
        }
        cells
    }

    /// The memory that is reached from a value over `depth` pointers, at least one; `None` if nothing is known to be
    /// there.
    pub(super) fn behind(&self, id: FuncId, value: Value, depth: u8) -> Option<Cell> {
        let mut node = self.root(self.first[id.as_u32() as usize] + value.as_u32());
        for _ in 0..depth {
            let next = self.leads_to[node as usize];
            if next == NONE {
                return None;
            }
            node = self.root(next);
        }
        Some(Cell(node))
    }

    /// All memory that is reached from a value.
    pub(super) fn reachable(&self, id: FuncId, value: Value) -> Vec<Cell> {
        let mut found = Vec::new();
        let mut next = self.behind(id, value, 1);
        while let Some(cell) = next.filter(|c| !found.contains(c)) {
            found.push(cell);
            next = Some(self.leads_to[cell.0 as usize]).filter(|&n| n != NONE).map(|n| Cell(self.root(n)));
        }
        found
    }

    /// Memory that unknown code may reach.
    pub(super) fn elsewhere(&self) -> Cell {
        Cell(self.root(self.elsewhere))
    }

    /// How many numbers cells have.
    pub(super) fn numbers(&self) -> usize {
        self.parent.len()
    }

    fn root(&self, mut node: u32) -> u32 {
        while self.parent[node as usize] != node {
            node = self.parent[node as usize];
        }
        node
    }

    fn find(&mut self, node: u32) -> u32 {
        let root = self.root(node);
        let mut at = node;
        while at != root {
            at = std::mem::replace(&mut self.parent[at as usize], root);
        }
        root
    }

    /// The memory that a node leads to.
    fn target(&mut self, node: u32) -> u32 {
        let node = self.find(node);
        if self.leads_to[node as usize] == NONE {
            let fresh = self.parent.len() as u32;
            self.parent.push(fresh);
            self.leads_to.push(NONE);
            self.leads_to[node as usize] = fresh;
        }
        let target = self.leads_to[node as usize];
        self.find(target)
    }

    /// Makes two nodes one, and what they lead to.
    fn unify(&mut self, a: u32, b: u32) {
        let mut work = vec![(a, b)];
        while let Some((a, b)) = work.pop() {
            let (a, b) = (self.find(a), self.find(b));
            if a == b {
                continue;
            }
            // The lower number stays, so that results do not depend on the order.
            let (keep, drop) = (a.min(b), a.max(b));
            self.parent[drop as usize] = keep;
            match (self.leads_to[keep as usize], self.leads_to[drop as usize]) {
                (_, NONE) => {}
                (NONE, target) => self.leads_to[keep as usize] = target,
                (one, other) => work.push((one, other)),
            }
        }
    }

    /// Lets two nodes lead to the same memory.
    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.target(a), self.target(b));
        self.unify(a, b);
    }
}

/// A walk over a function, which makes one what may be one.
struct Walk<'a> {
    cells: &'a mut Cells,
    module: &'a Module,
    calls: &'a Calls,
    id: FuncId,
    func: &'a Function,
}

impl Walk<'_> {
    fn node(&self, v: Value) -> u32 {
        self.cells.first[self.id.as_u32() as usize] + v.as_u32()
    }

    /// Whether values of a type may carry pointers.
    fn carries(&self, ty: Type) -> bool {
        let width = self.module.layout.pointer_bits(0);
        match ty.elem() {
            Some(Scalar::Int(bits)) => bits == 8 || bits >= width,
            Some(Scalar::Ptr(_)) => true,
            Some(_) => false,
            None => !ty.is_void(),
        }
    }

    /// The values among `all` that may carry pointers, constants that are none left out.
    fn carriers(&self, all: &[Value]) -> Vec<Value> {
        let is_number = |v: Value| {
            matches!(
                self.func.constant(v),
                Some(
                    Constant::Int { .. }
                        | Constant::WideInt { .. }
                        | Constant::Float { .. }
                        | Constant::Null(_)
                        | Constant::Undef(_)
                        | Constant::Poison(_)
                        | Constant::Zero(_)
                )
            )
        };
        all.iter().copied().filter(|&v| self.carries(self.func.ty(v)) && !is_number(v)).collect()
    }

    fn copy(&mut self, values: &[Value]) {
        for pair in self.carriers(values).windows(2) {
            let (a, b) = (self.node(pair[0]), self.node(pair[1]));
            self.cells.unify(a, b);
        }
    }

    /// There is memory behind a value, over so many pointers.
    fn touch(&mut self, value: Value, depth: u8) {
        let mut node = self.node(value);
        for _ in 0..depth {
            node = self.cells.target(node);
        }
    }

    /// What is at an address and a value lead to the same memory.
    fn access(&mut self, address: Value, value: Value) {
        self.touch(address, 1);
        if !self.carriers(&[value]).is_empty() {
            let node = self.node(address);
            let object = self.cells.target(node);
            let value = self.node(value);
            self.cells.join(object, value);
        }
    }

    /// Unknown code gets to know what values lead to.
    fn escape(&mut self, values: &[Value]) {
        for v in self.carriers(values) {
            let node = self.node(v);
            self.cells.join(node, self.cells.elsewhere);
        }
    }

    fn walk(&mut self) {
        for (v, _) in self.func.values.iter() {
            if let Some(c) = self.func.constant(v) {
                let node = self.node(v);
                self.constant(node, c);
            }
        }
        if self.calls.is_root(self.id) {
            self.escape(&self.func.params);
        }
        let deepest = self.calls.given(self.id).iter().map(|e| e.spot.depth).max().unwrap_or(0);
        self.func.params.iter().for_each(|&p| self.touch(p, deepest));
        for &b in &self.func.layout {
            for inst in self.func.block_insts(b) {
                self.inst(inst);
            }
        }
    }

    fn constant(&mut self, node: u32, constant: &Constant) {
        match constant {
            Constant::Address { symbol, .. } => {
                let target = self.cells.target(node);
                let object = self.cells.symbols + symbol.as_u32();
                self.cells.unify(target, object);
            }
            Constant::Composite { elems, .. } => elems.iter().for_each(|c| self.constant(node, c)),
            Constant::Opaque { ty, .. } if self.carries(*ty) => self.cells.join(node, self.cells.elsewhere),
            _ => {}
        }
    }

    fn inst(&mut self, inst: Inst) {
        let data = &self.func.insts[inst];
        match &data.op {
            Op::Load(_) => self.access(data.args[0], data.results[0]),
            Op::Store(_) => self.access(data.args[1], data.args[0]),
            Op::Alloca { .. } | Op::ICmp(_) | Op::FCmp(_) => {}
            Op::Phi => {
                let position = self.func.phi_position(inst).unwrap_or_default();
                let preds = &self.func.blocks[data.block].preds;
                let mut all: Vec<Value> = preds.iter().map(|&e| self.func.edges[e].args[position]).collect();
                all.push(data.results[0]);
                // Those that are no carriers do not separate the others.
                self.copy(&all);
            }
            Op::Select => self.copy(&[data.args[1], data.args[2], data.results[0]]),
            // An index carries no pointer.
            Op::Gep(_) => self.copy(&[data.args[0], data.results[0]]),
            Op::Cast(CastOp::IntToPtr) => {
                self.copy(&[data.args[0], data.results[0]]);
                self.escape(&data.results);
            }
            Op::Ret => {
                if let Some(&v) = data.args.first()
                    && !self.carriers(&[v]).is_empty()
                {
                    let node = self.node(v);
                    self.cells.unify(node, self.cells.returned + self.id.as_u32());
                }
            }
            Op::Call(_) | Op::OpaqueTerm(_) => self.call(inst),
            Op::Opaque(o) if matches!(&*o.name, "atomicrmw" | "cmpxchg" | "load" | "store") => {
                let pointers: Vec<Value> =
                    data.args.iter().copied().filter(|&v| self.func.ty(v).is_ptr()).collect();
                for p in pointers {
                    let others: Vec<Value> = data.args.iter().chain(&data.results).copied().collect();
                    others.into_iter().filter(|&v| v != p).for_each(|v| self.access(p, v));
                }
            }
            Op::Opaque(o)
                if o.effects.intersects(Effects::READS | Effects::WRITES | Effects::UNKNOWN_RESULT) =>
            {
                let all: Vec<Value> = data.args.iter().chain(&data.results).copied().collect();
                self.escape(&all);
            }
            _ => {
                let all: Vec<Value> = data.args.iter().chain(&data.results).copied().collect();
                self.copy(&all);
            }
        }
    }

    fn call(&mut self, inst: Inst) {
        let data = &self.func.insts[inst];
        let args = memory::arguments(self.func, inst);
        // Sources and sinks speak of memory even if nobody reads or writes it.
        let lists = [
            self.calls.sources(self.module, self.func, inst),
            self.calls.sinks(self.module, self.func, inst),
        ];
        let depth = |e: &super::spec::Entry| if e.spot.at == At::Whole { 2 } else { e.spot.depth };
        let deepest = lists.into_iter().flatten().map(depth).max().unwrap_or(1);
        for v in args.iter().chain(&data.results).copied().filter(|&v| self.func.ty(v).is_ptr()) {
            self.touch(v, deepest.max(1));
        }
        match self.calls.callee(self.module, self.func, inst) {
            Callee::Nothing | Callee::Sanitizer(_) => {}
            Callee::Copies => {
                let (to, from) = (self.node(args[0]), self.node(args[1]));
                let (to, from) = (self.cells.target(to), self.cells.target(from));
                self.cells.join(to, from);
            }
            Callee::Body(callee) => {
                let func = &self.module.functions[callee];
                for (&arg, &param) in args.iter().zip(&func.params) {
                    if !self.carriers(&[arg]).is_empty() {
                        let param = self.cells.first[callee.as_u32() as usize] + param.as_u32();
                        let arg = self.node(arg);
                        self.cells.unify(arg, param);
                    }
                }
                self.escape(args.get(func.params.len()..).unwrap_or_default());
                for &r in data.results.iter().take(1) {
                    let node = self.node(r);
                    self.cells.unify(node, self.cells.returned + callee.as_u32());
                }
            }
            Callee::Modelled(index) => {
                for flow in self.calls.flows(index) {
                    for (from, to) in pairs(flow.from, flow.to, args.len()) {
                        let (from, to) = (self.spot(inst, args, from), self.spot(inst, args, to));
                        if let (Some(from), Some(to)) = (from, to) {
                            self.cells.join(from, to);
                        }
                    }
                }
            }
            Callee::Confined => {
                // What is written there may be any of the pointers that are given.
                for p in self.carriers(args) {
                    let others: Vec<Value> = args.iter().chain(&data.results).copied().collect();
                    others.iter().for_each(|&v| self.access(p, v));
                }
                let all: Vec<Value> = args.iter().chain(&data.results).copied().collect();
                self.copy(&all);
            }
            Callee::Pure => {
                let all: Vec<Value> = args.iter().chain(&data.results).copied().collect();
                self.copy(&all);
            }
            Callee::Unknown => {
                let all: Vec<Value> = data.args.iter().chain(&data.results).copied().collect();
                self.escape(&all);
            }
        }
    }

    /// The node of a place at a call.
    fn spot(&mut self, inst: Inst, args: &[Value], spot: Spot) -> Option<u32> {
        let value = match spot.at {
            At::Result | At::Whole => self.func.insts[inst].results.first().copied(),
            At::Argument(i) | At::From(i) => args.get(i).copied(),
        }?;
        let mut node = self.node(value);
        for _ in 0..spot.depth {
            node = self.cells.target(node);
        }
        Some(node)
    }
}

/// A flow between places that stand for several arguments, one by one.
pub(super) fn pairs(from: Spot, to: Spot, args: usize) -> Vec<(Spot, Spot)> {
    let each = |spot: Spot| -> Vec<Spot> {
        match spot.at {
            At::From(i) => (i..args).map(|k| Spot { at: At::Argument(k), ..spot }).collect(),
            _ => vec![spot],
        }
    };
    let targets = each(to);
    each(from).iter().flat_map(|&f| targets.iter().map(move |&t| (f, t))).collect()
}
