//! Rules 14 and 15: definitions dominate uses.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use warpline_analysis::{DomTree, Node};

use super::{Checker, Rule};
use crate::text::Place;
use crate::{Block, Edge, Function, Inst, Op, Value, ValueDef};

/// Where an instruction stands in its block; φs at 0. `None` if it stands in no block of the layout.
type Positions = SecondaryMap<Inst, Option<u32>>;

/// Where something is used in a block, in order.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Point {
    /// By the instruction at this position.
    At(u32),
    /// Behind the terminator.
    End,
    /// On an out-edge.
    On(Edge),
}

impl Checker<'_> {
    /// With `strict` false, it is enough that definitions are in the function.
    pub(super) fn dominance(&mut self, strict: bool) {
        let func = self.func;
        let dom = strict.then(|| Dominance::of(func));
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
                self.defined(dom.as_ref(), &positions, m, b, Point::End, (Rule::Masks, Place::Block(b)));
            }
            for i in func.block_insts(b) {
                let is_sigma = func.insts[i].op == Op::Sigma;
                let at = if is_sigma { Point::End } else { Point::At(positions[i].unwrap_or(0)) };
                let blame = (Rule::Dominance, Place::Inst(i));
                for &a in &func.insts[i].args {
                    self.defined(dom.as_ref(), &positions, a, b, at, blame);
                }
                for &e in &func.insts[i].edges {
                    for &a in &func.edges[e].args {
                        self.defined(dom.as_ref(), &positions, a, b, Point::On(e), blame);
                    }
                }
            }
        }
    }

    /// Checks that `v` is defined before point `at` of block `b`; without dominators, that it is defined.
    fn defined(
        &mut self,
        dom: Option<&Dominance>,
        positions: &Positions,
        v: Value,
        b: Block,
        at: Point,
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
                    Some(_) if func.insts[def].op == Op::Sigma => dom
                        .is_some_and(|dom| !self.edge_dominates(dom, v, b, at))
                        .then_some("is used where the edge on which it is defined does not dominate"),
                    Some(p) if home == b => dom
                        .is_some_and(|dom| at <= Point::At(p) && dom.tree.is_reachable(Node::from(b)))
                        .then_some("is used before its definition"),
                    Some(_) => dom
                        .is_some_and(|dom| !dom.tree.dominates(Node::from(home), Node::from(b)))
                        .then_some("is used where its definition does not dominate"),
                }
            }
        };
        if let Some(problem) = problem {
            self.error(rule, place, format!("{} {problem}", func.value_name(v)));
        }
    }

    /// Whether all ways to a point of block `b` pass the edge on which a σ defines `v`.
    fn edge_dominates(&self, dom: &Dominance, v: Value, b: Block, at: Point) -> bool {
        if !dom.tree.is_reachable(Node::from(b)) {
            return true;
        }
        // The number of results is checked elsewhere.
        let Some(edge) = self.func.sigma_edge(v) else { return true };
        let to = self.func.edges[edge].to;
        let only_way = dom.entered_by[to].expand() == Some(edge);
        at == Point::On(edge) || only_way && dom.tree.dominates(Node::from(to), Node::from(b))
    }
}

/// What dominates what.
struct Dominance {
    tree: DomTree,
    /// Of a block the only in-edge by which it is first entered, if there is only one. Known of functions with σs.
    entered_by: SecondaryMap<Block, PackedOption<Edge>>,
}

impl Dominance {
    fn of(func: &Function) -> Dominance {
        let tree = DomTree::compute(&func.graph().0);
        let mut entered_by = SecondaryMap::new();
        let is_sigma = |&i: &Inst| func.insts[i].op == Op::Sigma;
        if func.layout.iter().any(|&b| func.blocks[b].insts.last().is_some_and(is_sigma)) {
            for &b in &func.layout {
                let from = |e: Edge| Node::from(func.edges[e].from);
                let enters =
                    |&e: &Edge| tree.is_reachable(from(e)) && !tree.dominates(Node::from(b), from(e));
                let mut entering = func.blocks[b].preds.iter().copied().filter(enters);
                entered_by[b] = entering.next().filter(|_| entering.next().is_none()).into();
            }
        }
        Dominance { tree, entered_by }
    }
}
