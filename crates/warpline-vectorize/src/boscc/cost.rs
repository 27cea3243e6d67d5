//! What executing a block on W lanes costs: a rough sum over its instructions, in cycles of a CPU with registers of
//! 256 bits.
//!
//! What is uniform costs as much as in the scalar program; what varies as often as it fills registers; what has no
//! vector form, such as integer division or a call, once per lane; gathers and scatters are scalarized too, only
//! cheaper. Loops count as 8 iterations.

use cranelift_entity::SecondaryMap;
use warpline_analysis::{DomTree, Node};

use crate::known_calls::has_cheap_vector_form;
use crate::linearize_state::LinearizeState;
use warpline_ir::{
    AtomicOrdering, BinaryOp, Block, CastOp, Inst, MemAccess, Module, Op, Symbol, Type, Value,
};

/// Iterations of a loop of which nothing is known.
const TRIPS: f64 = 8.0;
const REGISTER_BITS: u32 = 256;

/// Computes costs.
pub(crate) struct Costs<'a> {
    state: &'a LinearizeState,
    module: &'a Module,
    width: u32,
}

impl<'a> Costs<'a> {
    /// For a state in this module, on this number of lanes.
    pub(crate) fn new(state: &'a LinearizeState, module: &'a Module, width: u32) -> Costs<'a> {
        Costs { state, module, width }
    }

    /// By block: what one execution of the block and of all that it dominates costs, if none of it is skipped.
    pub(crate) fn of_regions(&self, dom: &DomTree) -> SecondaryMap<Block, f64> {
        let depth = |b: Block| self.state.loops_around(b).count() as i32;
        let mut sums: SecondaryMap<Block, f64> = SecondaryMap::new();
        for &n in dom.pre_order().iter().rev() {
            let b = Block::from(n);
            sums[b] += self.of_block(b);
            if let Some(d) = dom.idom(n).map(Block::from) {
                sums[d] += sums[b] * TRIPS.powi((depth(b) - depth(d)).clamp(-8, 8));
            }
        }
        sums
    }

    fn of_block(&self, b: Block) -> f64 {
        self.state.func.blocks[b].insts.iter().map(|&i| self.of_inst(i)).sum()
    }

    fn of_inst(&self, i: Inst) -> f64 {
        let data = &self.state.func.insts[i];
        let lanes = f64::from(self.width);
        let typed = data.results.first().or(data.args.first());
        let registers = typed.map_or(1.0, |&v| self.registers(v));
        let scalar = data.args.iter().all(|&a| self.is_uniform(a));
        // Without a vector form: once, or so much for each lane.
        let each = |once: f64, lane: f64| if scalar { once } else { lane * lanes };
        match &data.op {
            Op::Binary(op) if op.is_int_division() => each(20.0, 15.0),
            Op::Binary(BinaryOp::FDiv) => 8.0 * registers,
            Op::Binary(BinaryOp::FRem) => each(30.0, 30.0),
            Op::Binary(BinaryOp::FAdd | BinaryOp::FSub | BinaryOp::FMul | BinaryOp::Mul) => 2.0 * registers,
            Op::Binary(_) | Op::FNeg | Op::ICmp(_) | Op::FCmp(_) | Op::Select | Op::Gep(_) => registers,
            Op::Cast(CastOp::Bitcast | CastOp::PtrToInt | CastOp::IntToPtr) => 0.0,
            Op::Cast(_) => registers,
            Op::Load(access) => self.of_access(access, data.args[0], registers),
            Op::Store(access) => self.of_access(access, data.args[1], registers),
            Op::Call(_) if scalar => 20.0,
            Op::Call(info) => self.of_call(info.callee, data.result(), registers),
            Op::Opaque(_) => 4.0 * lanes,
            Op::ExtractElement | Op::InsertElement | Op::Shuffle(_) => each(1.0, 1.0),
            _ => 0.0,
        }
    }

    fn of_access(&self, access: &MemAccess, address: Value, registers: f64) -> f64 {
        let lanes = f64::from(self.width);
        if access.is_volatile || access.ordering != AtomicOrdering::NotAtomic {
            5.0 * lanes
        } else if self.state.is_regular(address) {
            2.0 * registers
        } else {
            1.5 * lanes
        }
    }

    fn of_call(&self, callee: Option<Symbol>, result: Option<Value>, registers: f64) -> f64 {
        let name = callee.map_or("", |s| &self.module.symbols[s].name);
        let ty = result.map_or(Type::Void, |v| self.state.func.ty(v));
        match has_cheap_vector_form(name, ty) {
            Some(true) if name.contains("sqrt") => 8.0 * registers,
            Some(true) => 2.0 * registers,
            // Vector math, if there is a library.
            Some(false) => 20.0 * registers,
            None => 25.0 * f64::from(self.width),
        }
    }

    fn is_uniform(&self, v: Value) -> bool {
        !self.state.facts.divergent.contains(v)
    }

    /// Registers that a value fills.
    fn registers(&self, v: Value) -> f64 {
        if self.state.is_regular(v) {
            return 1.0;
        }
        let bits = match self.state.func.ty(v) {
            Type::Int(bits) => bits.next_power_of_two().max(8),
            Type::Float(kind) => kind.bits(),
            _ => 64,
        };
        f64::from((self.width * bits).div_ceil(REGISTER_BITS))
    }
}

/// For [`Costs::of_regions`].
pub(crate) fn dominators(state: &LinearizeState) -> DomTree {
    DomTree::compute(&state.func.graph().0)
}

/// The block that immediately dominates another one.
pub(crate) fn idom(dom: &DomTree, b: Block) -> Option<Block> {
    dom.idom(Node::from(b)).map(Block::from)
}
