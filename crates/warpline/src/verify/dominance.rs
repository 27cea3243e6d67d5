//! Rules 14 and 15: definitions dominate uses.

use cranelift_entity::SecondaryMap;
use warpline_analysis::{DomTree, Node};

use super::{Checker, Rule};
use crate::ir::{Block, Inst, Value, ValueDef};
use crate::text::Place;

/// Where an instruction stands in its block; φs at 0. `None` if it stands in no block of the layout.
type Positions = SecondaryMap<Inst, Option<u32>>;

impl Checker<'_> {
    /// With `strict` false, it is enough that definitions are in the function.
    pub(super) fn dominance(&mut self, strict: bool) {
        let func = self.func;
        let dom = strict.then(|| DomTree::compute(&func.graph().0));
        let mut positions = Positions::with_capacity(func.insts.len());
        for &b in &func.layout {
            let data = &func.blocks[b];
            for &i in &data.phis {
                positions[i] = Some(0);
            }
            for (k, i) in data.insts.iter().copied().chain(data.term.expand()).enumerate() {
                positions[i] = Some(k as u32 + 1);
            }
        }
        for &b in &func.layout {
            if let Some(m) = func.blocks[b].mask.expand() {
                self.defined(dom.as_ref(), &positions, m, b, u32::MAX, (Rule::Masks, Place::Block(b)));
            }
            for i in func.block_insts(b) {
                let at = positions[i].unwrap_or(0);
                for &a in &func.insts[i].args {
                    self.defined(dom.as_ref(), &positions, a, b, at, (Rule::Dominance, Place::Inst(i)));
                }
                for &e in &func.insts[i].edges {
                    for &a in &func.edges[e].args {
                        self.defined(
                            dom.as_ref(),
                            &positions,
                            a,
                            b,
                            u32::MAX,
                            (Rule::Dominance, Place::Inst(i)),
                        );
                    }
                }
            }
        }
    }

    /// Checks that `v` is defined before position `at` of block `b`; without dominators, that it is defined.
    fn defined(
        &mut self,
        dom: Option<&DomTree>,
        positions: &Positions,
        v: Value,
        b: Block,
        at: u32,
        (rule, place): (Rule, Place),
    ) {
        let func = self.func;
        let problem = match func.values[v].def {
            ValueDef::Const(_) => None,
            ValueDef::Param(k) => {
                (func.params.get(k as usize) != Some(&v)).then_some("is no parameter of the function")
            }
            ValueDef::Inst(def, k) => {
                let home = func.insts[def].block;
                match positions[def] {
                    _ if func.insts[def].results.get(k as usize) != Some(&v) => Some("is no longer defined"),
                    None => Some("is defined by an instruction that was removed"),
                    Some(p) if home == b => dom
                        .is_some_and(|dom| p >= at && dom.is_reachable(Node::from(b)))
                        .then_some("is used before its definition"),
                    Some(_) => dom
                        .is_some_and(|dom| !dom.dominates(Node::from(home), Node::from(b)))
                        .then_some("is used where its definition does not dominate"),
                }
            }
        };
        if let Some(problem) = problem {
            self.error(rule, place, format!("{} {problem}", func.value_name(v)));
        }
    }
}
