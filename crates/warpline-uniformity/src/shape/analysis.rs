//! The shape analysis: a sparse optimistic fixed point over the values that the uniformity analysis calls divergent.

use cranelift_entity::{EntityRef as _, EntitySet, SecondaryMap};
use warpline_analysis::BitSet;

use super::alignment::{at_distance, low_zeros};
use super::{Shape, transfer};
use warpline_ir::{Block, Edge, Function, Inst, Module, Op, Users, Value, ValueDef};

/// What the shape analysis needs to know about control flow and uniformity. All answers may err on the side of
/// divergence.
pub trait Convergence {
    /// Whether the value is known to be uniform where it is defined.
    fn is_uniform(&self, v: Value) -> bool;
    /// Whether lanes that execute a φ of the block together may have come over different edges.
    fn is_join(&self, block: Block) -> bool;
    /// Whether the edge is a back edge of a cycle that can only be entered at the edge's target. Lanes that execute
    /// that block together have all come over back edges, or none has.
    fn is_back_edge(&self, edge: Edge) -> bool;
    /// Whether it is known that no lane takes the edge.
    fn is_never_taken(&self, edge: Edge) -> bool {
        let _ = edge;
        false
    }
    /// Whether the analysis has given up on which lanes execute the block together.
    fn is_unconverged(&self, block: Block) -> bool;
    /// Whether lanes that execute `block` together may see values of `v` from different iterations of a
    /// loop that they left.
    fn is_temporal_at(&self, v: Value, block: Block) -> bool;
    /// Whether lanes that take `edge` may see such values of `v`.
    fn is_temporal_on(&self, v: Value, edge: Edge) -> bool;
    /// The shape of an instruction's results if it does not follow from the operands.
    fn source(&self, inst: Inst) -> Option<Shape>;
    /// Whether [`source`](Self::source) may be strided for some instruction.
    fn has_strided_source(&self) -> bool;
    /// The numbers of all values that are not known to be uniform, where they are at hand. There may be numbers among
    /// them that no value has.
    fn divergent(&self) -> Option<&BitSet> {
        None
    }
}

/// The shape of every value of a function, where it is defined.
#[derive(Clone, Debug)]
pub struct Shapes(Kind);

#[derive(Clone, Debug)]
enum Kind {
    /// Nothing is strided: what is not uniform varies.
    Plain {
        /// The numbers of the values that vary.
        varying: BitSet,
    },
    /// Anything may be.
    Strided(SecondaryMap<Value, Option<Shape>>),
}

impl Shapes {
    /// Computes the shapes. `params` are the parameters' shapes, in order; missing ones vary.
    pub fn compute(module: &Module, func: &Function, params: &[Shape], control: &impl Convergence) -> Shapes {
        // Only strided operands make strided results, or a uniform one of operands some of which are not uniform.
        if !control.has_strided_source() && !params.iter().any(|p| matches!(p, Shape::Strided(_))) {
            let one_by_one = || {
                let mut varying = BitSet::new(func.values.len());
                let found = func.values.keys().filter(|&v| !control.is_uniform(v));
                found.for_each(|v| _ = varying.insert(v.index()));
                varying
            };
            return Shapes(Kind::Plain { varying: control.divergent().cloned().unwrap_or_else(one_by_one) });
        }
        let shape = |p: Value| match func.values[p].def {
            ValueDef::Param(k) => params.get(k as usize).and_then(|shape| shape.step()),
            _ => None,
        };
        // The lanes' pointers promise this; so does the ghost's, at a distance of as many steps.
        let multiple = |p: Value| match shape(p) {
            Some(step) => at_distance(func.pointers[p].align, step).trailing_zeros(),
            None => 0,
        };
        let mut solver = Solver {
            zeros: low_zeros(module, func, multiple),
            module,
            func,
            control,
            shapes: SecondaryMap::new(),
            users: Users::of(func),
            phi_position: phi_positions(func),
            work: Vec::new(),
            queued: EntitySet::with_capacity(func.insts.len()),
        };
        for (i, &p) in func.params.iter().enumerate() {
            solver.shapes[p] = Some(params.get(i).copied().unwrap_or(Shape::Varying));
        }
        solver.run();
        let mut shapes = solver.shapes;
        // What is left has no value on any execution, if the block cannot be reached; else nothing is known.
        let reachable = reachable(func);
        for v in func.values.keys() {
            if shapes[v].is_none() {
                let dead = func.def_block(v).is_some_and(|b| !reachable.contains(b));
                shapes[v] = Some(if dead { Shape::Uniform } else { Shape::Varying });
            }
        }
        Shapes(Kind::Strided(shapes))
    }

    /// The shape of a value where it is defined.
    pub fn get(&self, v: Value) -> Shape {
        match &self.0 {
            Kind::Plain { varying } if varying.contains(v.index()) => Shape::Varying,
            Kind::Plain { .. } => Shape::Uniform,
            Kind::Strided(shapes) => shapes[v].unwrap_or(Shape::Varying),
        }
    }

    /// Whether no value is strided.
    pub fn is_plain(&self) -> bool {
        matches!(self.0, Kind::Plain { .. })
    }
}

fn reachable(func: &Function) -> EntitySet<Block> {
    let mut seen = EntitySet::with_capacity(func.blocks.len());
    let mut work: Vec<Block> = func.layout.first().copied().into_iter().collect();
    seen.extend(work.iter().copied());
    while let Some(b) = work.pop() {
        for s in func.successors(b) {
            if seen.insert(s) {
                work.push(s);
            }
        }
    }
    seen
}

/// The position of each φ among the φs of its block.
pub(crate) fn phi_positions(func: &Function) -> SecondaryMap<Inst, u32> {
    let mut positions = SecondaryMap::new();
    for &b in &func.layout {
        for (i, &phi) in func.blocks[b].phis.iter().enumerate() {
            positions[phi] = i as u32;
        }
    }
    positions
}

struct Solver<'a, C> {
    module: &'a Module,
    func: &'a Function,
    control: &'a C,
    /// Low bits that are zero.
    zeros: SecondaryMap<Value, u8>,
    /// `None`: no execution has been seen that defines the value.
    shapes: SecondaryMap<Value, Option<Shape>>,
    users: Users,
    phi_position: SecondaryMap<Inst, u32>,
    work: Vec<Inst>,
    queued: EntitySet<Inst>,
}

impl<C: Convergence> Solver<'_, C> {
    fn run(&mut self) {
        for v in self.func.values.keys() {
            if matches!(self.func.values[v].def, ValueDef::Const(_)) || self.control.is_uniform(v) {
                self.shapes[v] = Some(Shape::Uniform);
            }
        }
        // In layout order for the first round: the list is a stack.
        for &b in self.func.layout.iter().rev() {
            let insts: Vec<Inst> = self.func.block_insts(b).collect();
            for &inst in insts.iter().rev() {
                if self.func.insts[inst].results.iter().any(|&r| !self.control.is_uniform(r)) {
                    self.queued.insert(inst);
                    self.work.push(inst);
                }
            }
        }
        while let Some(inst) = self.work.pop() {
            self.queued.remove(inst);
            self.visit(inst);
        }
    }

    fn visit(&mut self, inst: Inst) {
        let func = self.func;
        for (position, &result) in func.insts[inst].results.iter().enumerate() {
            if self.control.is_uniform(result) {
                continue;
            }
            let Some(found) = self.evaluate(inst, position) else { continue };
            // Accumulating makes the chain of shapes finite even where a transfer function is not monotone.
            let new = match self.shapes[result] {
                Some(old) => old.join(found),
                None => found,
            };
            if self.shapes[result] != Some(new) {
                self.shapes[result] = Some(new);
                for &user in self.users.get(result) {
                    if self.queued.insert(user) {
                        self.work.push(user);
                    }
                }
            }
        }
    }

    /// The shape of a divergent result, `None` while an operand has none.
    fn evaluate(&self, inst: Inst, position: usize) -> Option<Shape> {
        let data = &self.func.insts[inst];
        if let Some(shape) = self.control.source(inst) {
            return Some(shape);
        }
        if self.control.is_unconverged(data.block) {
            return Some(Shape::Varying);
        }
        if data.op == Op::Phi {
            return self.phi(inst);
        }
        let mut shapes = smallvec::SmallVec::<[Shape; 4]>::with_capacity(data.args.len());
        for &a in &data.args {
            let shape = self.shapes[a]?;
            let temporal = self.control.is_temporal_at(a, data.block);
            shapes.push(if temporal { Shape::Varying } else { shape });
        }
        // Divergent, though all operands are uniform: for a reason that is not in the operands.
        if shapes.iter().all(|s| s.is_uniform()) {
            return Some(Shape::Varying);
        }
        Some(transfer(self.module, self.func, inst, position, &shapes, &self.zeros))
    }

    /// Lanes that come over one edge have the shape of that edge's operand. An operand without a shape yet
    /// belongs to an edge that no execution has been seen to take.
    fn phi(&self, phi: Inst) -> Option<Shape> {
        let block = self.func.insts[phi].block;
        let is_join = self.control.is_join(block);
        let position = self.phi_position[phi] as usize;
        let mut shape: Option<Shape> = None;
        // In a join: the one operand of the edges from outside, and that of the back edges.
        let mut seen = [None, None];
        for &e in self.func.blocks[block].preds.iter().filter(|&&e| !self.control.is_never_taken(e)) {
            let Some(&a) = self.func.edges[e].args.get(position) else { return Some(Shape::Varying) };
            let Some(mut s) = self.shapes[a] else { continue };
            if self.control.is_temporal_on(a, e) {
                s = Shape::Varying;
            }
            let seen = &mut seen[usize::from(self.control.is_back_edge(e))];
            if is_join && seen.is_some_and(|b| b != a) {
                return Some(Shape::Varying);
            }
            *seen = Some(a);
            shape = Some(shape.map_or(s, |t| t.join(s)));
        }
        // As above: all operands uniform, and yet divergent.
        if shape == Some(Shape::Uniform) { Some(Shape::Varying) } else { shape }
    }
}
