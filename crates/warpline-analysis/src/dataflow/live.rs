//! Which variables are live at which blocks, as lists: what a dense solver keeps facts of.

use alloc::vec::Vec;

use crate::bitset::BitSet;
use crate::graph::{Graph, Lists, Node};
use crate::order::DfsOrder;
use crate::program::{Instruction, Program, Variable};

/// The variables that are live at the entries of blocks, behind the φs there: they are read later, and the value that
/// they have there is the one that is read. Takes time and room in the size of the lists. Constants are left out, and
/// so are blocks that control cannot reach.
#[derive(Clone, Debug)]
pub struct LiveVariables {
    at_entry: Lists<Variable>,
}

/// Where one variable is read and written, as pairs of variable and block.
#[derive(Default)]
struct Accesses {
    /// Blocks that read it, or an edge out of which does, before an instruction of the block writes it.
    exposed: Vec<(usize, Node)>,
    /// Blocks with an instruction that writes it.
    written: Vec<(usize, Node)>,
    /// Blocks with a φ that does.
    phis: Vec<(usize, Node)>,
}

impl LiveVariables {
    /// The live variables of a program. An operand of a φ is read on its edge.
    /// Linear in the live range of each variable.
    pub fn of(program: &Program) -> LiveVariables {
        LiveVariables::of_read(program, |_| true)
    }

    /// The live variables of a program where an operand of a φ is read on its edge if `is_read` says so, by its place
    /// among all φ operands. Linear in the live range of each variable.
    pub fn of_read(program: &Program, is_read: impl Fn(usize) -> bool) -> LiveVariables {
        let graph = program.graph();
        let dfs = DfsOrder::compute(graph);
        let accesses = Accesses::of(program, &dfs, &is_read);
        let group = |pairs: &[(usize, Node)]| Lists::group(program.variables(), pairs.iter().copied());
        let (exposed, written, phis) =
            (group(&accesses.exposed), group(&accesses.written), group(&accesses.phis));
        let mut live: Vec<(usize, Variable)> = Vec::new();
        let (mut writes, mut seen, mut stops) =
            (vec![0; graph.node_count()], vec![0; graph.node_count()], vec![0; graph.node_count()]);
        let mut work: Vec<Node> = Vec::new();
        for v in 0..program.variables() {
            let round = v as u32 + 1;
            written.get(v).iter().for_each(|n| writes[n.index()] = round);
            phis.get(v).iter().for_each(|n| stops[n.index()] = round);
            work.extend(exposed.get(v));
            while let Some(n) = work.pop() {
                if core::mem::replace(&mut seen[n.index()], round) == round {
                    continue;
                }
                live.push((n.index(), Variable(v as u32)));
                if stops[n.index()] != round {
                    let before = graph.predecessors(n).filter(|&p| dfs.is_reachable(p));
                    work.extend(before.filter(|p| writes[p.index()] != round && seen[p.index()] != round));
                }
            }
        }
        LiveVariables { at_entry: Lists::group(graph.node_count(), live.iter().copied()) }
    }

    /// The variables that are live at the entry of a block, behind its φs, in increasing order. O(1).
    pub fn at_entry(&self, node: Node) -> &[Variable] {
        self.at_entry.get(node.index())
    }

    /// Where one of them stands in the list of its block.
    #[cfg(feature = "baselines")]
    pub(super) fn position(&self, node: Node, variable: Variable) -> Option<usize> {
        self.at_entry(node).binary_search(&variable).ok()
    }
}

impl Accesses {
    fn of(program: &Program, dfs: &DfsOrder, is_read: &impl Fn(usize) -> bool) -> Accesses {
        let graph = program.graph();
        let mut all = Accesses::default();
        let mut settled = BitSet::new(program.variables());
        let mut touched: Vec<Variable> = Vec::new();
        for &node in dfs.pre_order() {
            let mut read = |v: Variable, settled: &mut BitSet, touched: &mut Vec<Variable>| {
                if !program.is_fixed(v) && settled.insert(v.index()) {
                    touched.push(v);
                    all.exposed.push((v.index(), node));
                }
            };
            for at in program.block(node).map(Instruction) {
                program.uses(at).iter().for_each(|&v| read(v, &mut settled, &mut touched));
                for &v in program.definitions(at) {
                    all.written.push((v.index(), node));
                    if settled.insert(v.index()) {
                        touched.push(v);
                    }
                }
            }
            program.tests(node).iter().for_each(|t| read(t.variable, &mut settled, &mut touched));
            for &e in graph.out_edges(node) {
                for (slot, p) in program.phi_slots(e).zip(program.phis(e)) {
                    if is_read(slot) {
                        read(p.operand, &mut settled, &mut touched);
                    }
                }
            }
            touched.drain(..).for_each(|v| _ = settled.remove(v.index()));
            if let Some(&e) = graph.in_edges(node).first() {
                all.phis.extend(program.phis(e).iter().map(|p| (p.result.index(), node)));
            }
        }
        all
    }
}
