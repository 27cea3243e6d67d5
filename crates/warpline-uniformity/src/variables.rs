//! Functions with variables: which values the variables have.
//!
//! Paper 1 (Section 6) follows variables through functions that are not in SSA form by definite reaching definitions;
//! `warpline_testkit::reference::variables` is that analysis. Here variables are followed through SSA form instead, for
//! three reasons: the paper's transformer needs a reducible graph, keeps a bit per node and variable and looks at every
//! pair of a split and a node, where the engine works on any graph in almost linear time; the engine is never less
//! precise (which is tested); and its causes lead through variables to sources, so that explanations go on.
//!
//! The function itself stays as it is. A copy of it is brought into SSA form, and what a read yields there is the
//! operand of the read here. The φs that were placed are values of the engine alone. So the answer for a read is that
//! for a use of the value in the read's block: two reads of a variable may differ in it, if one is behind a loop that
//! lanes leave apart.
//!
//! Shapes are not followed: a divergent read varies, though what it yields may have a stride.

use cranelift_entity::SecondaryMap;

use warpline_dataflow::ssa;
use warpline_ir::{Block, Edge, Function, Op, Value, ValueDef, Var};

/// What a variable holds at some place.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Held {
    /// A value of the function.
    Value(Value),
    /// What the φ with this number merges.
    Merged(usize),
    /// Nothing was ever written.
    Unwritten,
}

/// A place where different writes of a variable meet.
#[derive(Clone, Debug)]
pub(super) struct Merge {
    /// The variable.
    pub var: Var,
    /// The block at whose start they meet.
    pub block: Block,
    /// What the variable holds on each edge into the block.
    pub operands: Vec<(Edge, Held)>,
}

/// The values of the variables of a function.
#[derive(Clone, Debug, Default)]
pub(super) struct Variables {
    reads: SecondaryMap<Value, Option<Held>>,
    /// All merges, by number.
    pub merges: Vec<Merge>,
}

impl Variables {
    /// Follows the variables of `func`.
    pub(super) fn of(func: &Function) -> Variables {
        let mut reads = func.layout.iter().flat_map(|&b| &func.blocks[b].insts);
        if func.vars.is_empty() || !reads.any(|&i| matches!(func.insts[i].op, Op::ReadVar(_))) {
            return Variables::default();
        }
        let mut copy = func.clone();
        let built = ssa::construct(&mut copy, |_| true);
        let mut number: SecondaryMap<Value, Option<usize>> = SecondaryMap::new();
        for (i, &(phi, _)) in built.placed().iter().enumerate() {
            number[phi] = Some(i);
        }
        let held = |v: Value| match (number[v], copy.values[v].def) {
            (Some(i), _) => Held::Merged(i),
            // The construction makes no other new values than constants for what was never written.
            (None, ValueDef::Const(_)) if !func.values.is_valid(v) => Held::Unwritten,
            (None, _) => Held::Value(v),
        };
        let merge = |&(phi, var): &(Value, Var)| {
            let inst = copy.def_inst(phi)?;
            let (block, position) = (copy.insts[inst].block, copy.phi_position(inst)?);
            let operand = |&e: &Edge| Some((e, held(*copy.edges[e].args.get(position)?)));
            Some(Merge {
                var,
                block,
                operands: copy.blocks[block].preds.iter().filter_map(operand).collect(),
            })
        };
        let merges = built.placed().iter().map(merge).collect::<Option<Vec<Merge>>>();
        let mut found = Variables { reads: SecondaryMap::new(), merges: merges.unwrap_or_default() };
        for v in func.values.keys() {
            found.reads[v] = built.value_of(v).map(held);
        }
        found
    }

    /// What a read yields. Nothing if the value is not that of a read in the function's layout.
    pub(super) fn read(&self, v: Value) -> Option<Held> {
        self.reads[v]
    }
}
