//! Who uses a value, and what a pointer is computed from.

use smallvec::{SmallVec, smallvec};

use super::{Block, CastOp, Edge, Function, Inst, Op, Value, ValueDef};

/// The instructions that use each value of a function, once for each use. A φ uses its operands on the in-edges of its
/// block.
pub struct Users {
    starts: Vec<u32>,
    list: Vec<Inst>,
}

impl Users {
    /// The users in a whole function.
    pub fn of(func: &Function) -> Users {
        Users::among(func, |_| true, |_| true)
    }

    /// The users in the blocks that are given, φs apart, and the φs that take a value along an edge that is given.
    pub fn among(func: &Function, block: impl Fn(Block) -> bool, edge: impl Fn(Edge) -> bool) -> Users {
        let mut starts = vec![0u32; func.values.len() + 1];
        let index = |v: Value| v.as_u32() as usize;
        for_each_use(func, &block, &edge, |v, _| starts[index(v) + 1] += 1);
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let mut list = vec![Inst::from_u32(0); starts[starts.len() - 1] as usize];
        for_each_use(func, &block, &edge, |v, inst| {
            let slot = &mut next[index(v)];
            list[*slot as usize] = inst;
            *slot += 1;
        });
        Users { starts, list }
    }

    /// The users of a value; none of one that was made later.
    pub fn get(&self, v: Value) -> &[Inst] {
        let i = v.as_u32() as usize;
        match self.starts.get(i..i + 2) {
            Some(&[begin, end]) => &self.list[begin as usize..end as usize],
            _ => &[],
        }
    }
}

fn for_each_use(
    func: &Function,
    block: &impl Fn(Block) -> bool,
    edge: &impl Fn(Edge) -> bool,
    mut f: impl FnMut(Value, Inst),
) {
    for &b in &func.layout {
        if block(b) {
            for inst in func.block_insts(b) {
                func.insts[inst].args.iter().for_each(|&a| f(a, inst));
            }
        }
        let taken = || func.blocks[b].preds.iter().filter(|&&e| edge(e));
        for (position, &phi) in func.blocks[b].phis.iter().enumerate() {
            taken().filter_map(|&e| func.edges[e].args.get(position)).for_each(|&a| f(a, phi));
        }
    }
}

impl Function {
    /// The pointers of which a pointer is one, or from one of which it is computed, in one step: through
    /// `getelementptr`, casts between pointers, `freeze`, `select` and φs. `None` for what any other instruction
    /// makes, for parameters and for constants.
    pub fn pointers_behind(&self, pointer: Value) -> Option<SmallVec<[Value; 4]>> {
        let ValueDef::Inst(inst, _) = self.values[pointer].def else { return None };
        let data = &self.insts[inst];
        Some(match data.op {
            Op::Gep(_) | Op::Freeze | Op::Cast(CastOp::Bitcast | CastOp::AddrSpaceCast) => {
                smallvec![data.args[0]]
            }
            Op::Select => data.args[1..].iter().copied().collect(),
            Op::Phi => {
                let position = self.phi_position(inst)?;
                let preds = self.blocks[data.block].preds.iter();
                preds.filter_map(|&e| self.edges[e].args.get(position).copied()).collect()
            }
            _ => return None,
        })
    }

    /// The pointer from which an address is computed by `getelementptr` and casts between pointers alone.
    pub fn address_base(&self, address: Value) -> Value {
        let mut at = address;
        while let Some(data) = self.def_inst(at).map(|i| &self.insts[i]) {
            match (&data.op, &data.args[..]) {
                (Op::Gep(_) | Op::Cast(CastOp::Bitcast | CastOp::AddrSpaceCast), [base, ..]) => at = *base,
                _ => break,
            }
        }
        at
    }
}
