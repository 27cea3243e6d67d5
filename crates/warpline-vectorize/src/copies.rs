//! Copies of regions of the control-flow graph.
//!
//! The blocks of a region are copied with all that is in them; edges that leave it lead from the copies to where they
//! lead from the originals. Who copies then leads some edges into the copies. A value of the region that is used
//! elsewhere becomes a variable that original and copy write, and SSA construction joins them.

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};

use warpline_dataflow::ssa;
use warpline_ir::{Block, Edge, Function, Inst, Loc, Op, Type, Value, Var};

/// The copies of blocks.
pub(crate) type Blocks = SecondaryMap<Block, PackedOption<Block>>;
/// The copies of values.
pub(crate) type Values = SecondaryMap<Value, PackedOption<Value>>;

/// A place where a value is used.
#[derive(Copy, Clone)]
pub(crate) enum Use {
    /// The operand of an instruction.
    Operand(Inst, usize),
    /// The φ operand at this position on an edge.
    Phi(Edge, usize),
}

/// All uses of values in a block and on the edges that leave it.
pub(crate) fn uses_in(func: &Function, b: Block, mut note: impl FnMut(Value, Use)) {
    for i in func.block_insts(b) {
        for (k, &v) in func.insts[i].args.iter().enumerate() {
            note(v, Use::Operand(i, k));
        }
    }
    for &e in func.out_edges(b) {
        for (k, &v) in func.edges[e].args.iter().enumerate() {
            note(v, Use::Phi(e, k));
        }
    }
}

/// The uses outside of a region of what is defined in it.
pub(crate) fn uses_elsewhere(func: &Function, region: &[Block]) -> Vec<(Value, Use)> {
    let mut inside = EntitySet::new();
    region.iter().for_each(|&b| _ = inside.insert(b));
    let mut uses = Vec::new();
    for &b in func.layout.iter().filter(|&&b| !inside.contains(b)) {
        uses_in(func, b, |v, u| {
            if func.def_block(v).is_some_and(|d| inside.contains(d)) {
                uses.push((v, u));
            }
        });
    }
    uses
}

/// Copies the blocks of a region, and notes the copies of blocks and values.
pub(crate) fn copy_blocks(func: &mut Function, region: &[Block], copies: &mut Blocks, values: &mut Values) {
    for &b in region {
        let name = func.blocks[b].name.clone();
        copies[b] = func.add_block(&name).into();
    }
    for &b in region {
        copy_results(func, b, copies[b].expect("every block of the region is copied"), values);
    }
    for &b in region {
        link(func, b, copies, values);
    }
}

/// A region of which there are two.
pub(crate) struct Twice {
    copies: Blocks,
    values: Values,
    uses: Vec<(Value, Use)>,
}

impl Twice {
    /// Copies a region. No edge leads from elsewhere into the copy yet.
    pub(crate) fn make(func: &mut Function, region: &[Block]) -> Twice {
        let (mut copies, mut values) = (Blocks::new(), Values::new());
        let uses = uses_elsewhere(func, region);
        copy_blocks(func, region, &mut copies, &mut values);
        Twice { copies, values, uses }
    }

    /// The copy of a block of the region.
    pub(crate) fn copy(&self, b: Block) -> Block {
        self.copies[b].expect("every block of the region is copied")
    }

    /// Joins what original and copy compute, once control comes into both.
    pub(crate) fn join(mut self, func: &mut Function) {
        let mut vars = Vec::new();
        join(func, &mut self.uses, &self.values, &mut vars);
        ssa::construct_vars(func, &vars);
    }
}

/// Copies φs and instructions, with the operands of the original.
fn copy_results(func: &mut Function, b: Block, new: Block, values: &mut Values) {
    for i in func.blocks[b].phis.clone().into_iter().chain(func.blocks[b].insts.clone()) {
        let data = func.insts[i].clone();
        let types: Vec<Type> = data.results.iter().map(|&v| func.ty(v)).collect();
        let is_phi = data.op == Op::Phi;
        let made = func.make_inst(new, data.op, &data.args, &types);
        func.insts[made].flags = data.flags;
        func.insts[made].loc = data.loc;
        func.insts[made].origin = data.origin;
        match is_phi {
            true => func.blocks[new].phis.push(made),
            false => func.blocks[new].insts.push(made),
        }
        for (k, &v) in data.results.iter().enumerate() {
            values[v] = func.insts[made].results[k].into();
        }
    }
}

/// Gives a copied block its terminator, and its instructions the operands that they have in the copy.
fn link(func: &mut Function, b: Block, copies: &Blocks, values: &Values) {
    let new = copies[b].expect("every block of the region is copied");
    let map = |v: Value| values[v].expand().unwrap_or(v);
    for k in 0..func.blocks[new].insts.len() {
        let i = func.blocks[new].insts[k];
        func.insts[i].args.iter_mut().for_each(|v| *v = map(*v));
    }
    let data = func.insts[func.terminator(b)].clone();
    let args: Vec<Value> = data.args.iter().map(|&v| map(v)).collect();
    let targets: Vec<Block> =
        data.edges.iter().map(|&e| func.edges[e].to).map(|to| copies[to].expand().unwrap_or(to)).collect();
    let made = func.set_terminator(new, data.op, &args, &targets);
    func.insts[made].flags = data.flags;
    func.insts[made].loc = data.loc;
    func.insts[made].origin = data.origin;
    for (k, &e) in data.edges.iter().enumerate() {
        let args = func.edges[e].args.iter().map(|&v| map(v)).collect();
        let edge = func.insts[made].edges[k];
        func.edges[edge].args = args;
    }
}

/// Gives what has been added to a block, and so has no place in the source, this one.
pub(crate) fn locate(func: &mut Function, b: Block, loc: PackedOption<Loc>) {
    for i in func.block_insts(b).collect::<Vec<_>>() {
        if func.insts[i].loc.is_none() {
            func.insts[i].loc = loc;
        }
    }
}

/// Makes variables of what is used behind original and copy; SSA construction then joins them.
pub(crate) fn join(func: &mut Function, uses: &mut [(Value, Use)], values: &Values, vars: &mut Vec<Var>) {
    uses.sort_by_key(|u| u.0);
    for uses in uses.chunk_by(|a, b| a.0 == b.0) {
        let value = uses[0].0;
        let ty = func.ty(value);
        let var = func.add_var(ty, &func.values[value].name.clone());
        vars.push(var);
        for v in [value, values[value].expect("what the region defines is copied")] {
            let b = func.def_block(v).expect("an instruction defines it");
            func.append(b, Op::WriteVar(var), &[v], Type::Void);
        }
        for &(_, u) in uses {
            match u {
                Use::Operand(i, k) => {
                    let b = func.insts[i].block;
                    let read = func.make_inst(b, Op::ReadVar(var), &[], &[ty]);
                    func.blocks[b].insts.insert(0, read);
                    func.insts[i].args[k] = func.insts[read].results[0];
                }
                Use::Phi(e, k) => {
                    let b = func.edges[e].from;
                    let read = func.append_value(b, Op::ReadVar(var), &[], ty);
                    func.set_phi_arg(e, k, read);
                }
            }
        }
    }
}
