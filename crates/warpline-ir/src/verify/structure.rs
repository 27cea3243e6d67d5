//! Rules 1 to 8 and 16: ids, order, edges, definitions.

use cranelift_entity::{EntitySet, SecondaryMap};

use super::{Checker, Rule};
use crate::text::Place;
use crate::{Block, Edge, Inst, Op, ValueDef};

impl Checker<'_> {
    /// Whether all ids exist, so that other checks may follow them.
    pub(super) fn ids(&mut self) -> bool {
        let func = self.func;
        let (blocks, values, insts) = (func.blocks.len(), func.values.len(), func.insts.len());
        let before = self.errors.len();
        let is_value = |v: &crate::Value| (v.as_u32() as usize) < values;
        if !func.layout.iter().all(|b| (b.as_u32() as usize) < blocks) {
            self.error(Rule::Ids, Place::Function, "the layout contains a block that does not exist");
            return false;
        }
        if !func.params.iter().all(is_value) {
            self.error(Rule::Ids, Place::Function, "a parameter is no value");
        }
        for &b in &func.layout {
            let data = &func.blocks[b];
            let place = Place::Block(b);
            if !data.preds.iter().all(|e| func.edges.is_valid(*e)) {
                self.error(Rule::Ids, place, format!("{b} has an in-edge that does not exist"));
            }
            if !data.mask.expand().iter().all(is_value) {
                self.error(Rule::Ids, place, format!("the mask of {b} does not exist"));
            }
            let mut all = data.phis.iter().chain(&data.insts).copied().chain(data.term.expand());
            if !all.all(|i| (i.as_u32() as usize) < insts) {
                self.error(Rule::Ids, place, format!("{b} has an instruction that does not exist"));
                continue;
            }
            for i in func.block_insts(b) {
                self.inst_ids(i, &is_value);
            }
        }
        self.errors.len() == before
    }

    fn inst_ids(&mut self, i: Inst, is_value: &impl Fn(&crate::Value) -> bool) {
        let func = self.func;
        let data = &func.insts[i];
        let place = Place::Inst(i);
        if !data.args.iter().chain(&data.results).all(is_value) {
            self.error(Rule::Ids, place, format!("{i} has an operand or result that does not exist"));
        }
        if !data.edges.iter().all(|e| func.edges.is_valid(*e)) {
            self.error(Rule::Ids, place, format!("{i} has an edge that does not exist"));
            return;
        }
        for &e in &data.edges {
            let edge = &func.edges[e];
            if !func.blocks.is_valid(edge.to) || !func.blocks.is_valid(edge.from) {
                self.error(Rule::Ids, place, format!("{e} joins blocks that do not exist"));
            }
            if !edge.args.iter().all(is_value) {
                self.error(Rule::Ids, place, format!("{e} has an operand that does not exist"));
            }
        }
        match &data.op {
            Op::ReadVar(x) | Op::WriteVar(x) if !func.vars.is_valid(*x) => {
                self.error(Rule::Ids, place, format!("the variable {x} does not exist"));
            }
            Op::Call(info) if info.callee.is_some_and(|s| !self.module.symbols.is_valid(s)) => {
                self.error(Rule::Ids, place, "the callee does not exist");
            }
            _ => {}
        }
        if data.loc.expand().is_some_and(|l| !self.module.locations.is_valid(l)) {
            self.error(Rule::Ids, place, format!("{i} has a location that does not exist"));
        }
    }

    pub(super) fn structure(&mut self) {
        let func = self.func;
        if func.layout.is_empty() {
            return self.error(Rule::Layout, Place::Function, "there is no entry block");
        }
        let mut placed: EntitySet<Block> = EntitySet::with_capacity(func.blocks.len());
        for &b in &func.layout {
            if !placed.insert(b) {
                self.error(Rule::Layout, Place::Block(b), "the block stands twice in the layout");
            }
        }
        if !self.errors.is_empty() {
            return;
        }
        let mut listed: EntitySet<Inst> = EntitySet::with_capacity(func.insts.len());
        let mut owner: SecondaryMap<Edge, bool> = SecondaryMap::with_capacity(func.edges.len());
        for &b in &func.layout {
            self.order(b, &mut listed);
            self.edges(b, &placed, &mut owner);
        }
        for &b in &func.layout {
            self.preds(b, &owner);
        }
        let entry = func.entry();
        if !func.blocks[entry].preds.is_empty() || !func.blocks[entry].phis.is_empty() {
            self.error(Rule::Entry, Place::Block(entry), "the entry has in-edges or phis");
        }
        self.definitions();
    }

    fn order(&mut self, b: Block, listed: &mut EntitySet<Inst>) {
        let func = self.func;
        let data = &func.blocks[b];
        for &i in &data.phis {
            if func.insts[i].op != Op::Phi {
                self.error(Rule::Order, Place::Inst(i), "this is no phi but stands among the phis");
            }
        }
        for &i in &data.insts {
            if func.insts[i].op == Op::Phi || func.insts[i].op.is_terminator() {
                self.error(Rule::Order, Place::Inst(i), "a phi or a terminator in the middle of the block");
            }
        }
        for pair in data.insts.windows(2) {
            if func.insts[pair[0]].op == Op::Sigma && func.insts[pair[1]].op != Op::Sigma {
                self.error(Rule::Sigmas, Place::Inst(pair[1]), "an instruction stands behind a sigma");
            }
        }
        match data.term.expand() {
            None => self.error(Rule::Order, Place::Block(b), "the block has no terminator"),
            Some(t) if !func.insts[t].op.is_terminator() => {
                self.error(Rule::Order, Place::Inst(t), "the block ends without a terminator");
            }
            Some(_) => {}
        }
        for i in func.block_insts(b) {
            if !listed.insert(i) {
                self.error(Rule::Order, Place::Inst(i), "the instruction stands in two places");
            } else if func.insts[i].block != b {
                let message = format!("the instruction says that it is in {}", func.insts[i].block);
                self.error(Rule::Order, Place::Inst(i), message);
            }
        }
    }

    fn edges(&mut self, b: Block, placed: &EntitySet<Block>, owner: &mut SecondaryMap<Edge, bool>) {
        let func = self.func;
        for i in func.block_insts(b) {
            let data = &func.insts[i];
            let wanted = match &data.op {
                Op::Br => 1,
                Op::CondBr => 2,
                Op::Switch(values) => values.len() + 1,
                Op::OpaqueTerm(_) => data.edges.len(),
                _ => 0,
            };
            if data.edges.len() != wanted {
                let message = format!("the instruction has {} edges, not {wanted}", data.edges.len());
                self.error(Rule::Edges, Place::Inst(i), message);
            }
            for &e in &data.edges {
                let edge = &func.edges[e];
                if std::mem::replace(&mut owner[e], true) {
                    self.error(Rule::Edges, Place::Inst(i), format!("{e} is used twice"));
                }
                if edge.from != b {
                    let message = format!("{e} says that it begins in {}", edge.from);
                    self.error(Rule::Edges, Place::Inst(i), message);
                }
                if !placed.contains(edge.to) {
                    let message = format!("{e} ends in {}, which is not in the layout", edge.to);
                    self.error(Rule::Edges, Place::Inst(i), message);
                }
                if func.blocks[edge.to].preds.get(edge.pred_index()) != Some(&e) {
                    let message = format!("{e} is not among the in-edges of {} where it says", edge.to);
                    self.error(Rule::Preds, Place::Inst(i), message);
                }
                let phis = func.blocks[edge.to].phis.len();
                if edge.args.len() != phis {
                    let message =
                        format!("{e} has {} operands for {phis} phis of {}", edge.args.len(), edge.to);
                    self.error(Rule::PhiOperands, Place::Inst(i), message);
                }
            }
        }
    }

    fn preds(&mut self, b: Block, owner: &SecondaryMap<Edge, bool>) {
        let func = self.func;
        for (k, &e) in func.blocks[b].preds.iter().enumerate() {
            let edge = &func.edges[e];
            if !owner[e] {
                self.error(Rule::Preds, Place::Block(b), format!("the in-edge {e} belongs to no terminator"));
            } else if edge.to != b || edge.pred_index() != k {
                self.error(Rule::Preds, Place::Block(b), format!("the in-edge {e} does not end here"));
            }
        }
    }

    fn definitions(&mut self) {
        let func = self.func;
        for (k, &p) in func.params.iter().enumerate() {
            if func.values[p].def != ValueDef::Param(k as u32) {
                let message = format!("parameter {k} says that it is {}", func.values[p].def);
                self.error(Rule::Definitions, Place::Function, message);
            }
            if !func.pointers[p].align.is_power_of_two() {
                let message = format!("the alignment of parameter {k} is no power of two");
                self.error(Rule::Types, Place::Function, message);
            }
        }
        for &b in &func.layout {
            for i in func.block_insts(b) {
                for (k, &r) in func.insts[i].results.iter().enumerate() {
                    if func.values[r].def != ValueDef::Inst(i, k as u32) {
                        let message = format!("result {k} says that it is {}", func.values[r].def);
                        self.error(Rule::Definitions, Place::Inst(i), message);
                    }
                }
            }
        }
        for (v, data) in func.values.iter() {
            if let ValueDef::Const(_) = data.def
                && func.constant(v).map(crate::Constant::ty) != Some(data.ty)
            {
                self.error(Rule::Definitions, Place::Function, format!("the constant {v} has another type"));
            }
        }
    }
}
