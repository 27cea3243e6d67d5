//! The sparse constraint system of a program whose live ranges are split (paper 4, Definition 7): what there is to
//! evaluate, in the order of control, and which constraints depend on a version.

use alloc::vec::Vec;

use crate::bitset::BitSet;
use crate::cycles::{CycleForest, CycleId};
use crate::graph::{EdgeId, Graph, Lists, Node};
use crate::order::DfsOrder;
use crate::program::{Instruction, Program};
use crate::ssi::{Ssi, Version};

/// Something that defines versions from others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Constraint {
    /// A φ-function, of the program or added: its number among [`Constraints::phis`].
    Phi(u32),
    /// An instruction with the copies in parallel with it.
    Instruction(Instruction),
    /// An edge out of a block, with the σs on it.
    Edge(EdgeId),
}

/// A φ-function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phi {
    /// What it defines.
    pub result: Version,
    /// Where.
    pub node: Node,
    /// The cycle that is the reason why it is widened.
    pub widened: Option<CycleId>,
}

/// The constraints of the blocks that control can reach, numbered block by block in reverse post-order: φs,
/// instructions, out-edges.
#[derive(Clone, Debug)]
pub(super) struct Constraints {
    pub list: Vec<Constraint>,
    pub phis: Vec<Phi>,
    /// The operands of each φ: the in-edge and the version. Operands that hold nothing are left out, and those on edges
    /// from blocks that control cannot reach.
    pub operands: Lists<(EdgeId, Version)>,
    /// By block: the first constraint, the first behind its φs, the first behind all.
    pub blocks: Vec<[u32; 3]>,
    pub cycles: CycleForest,
}

impl Constraints {
    /// Instructions that `matters` denies are left out.
    pub(super) fn new(program: &Program, ssi: &Ssi, matters: impl Fn(Instruction) -> bool) -> Constraints {
        ssi.expect_program(program);
        let graph = program.graph();
        let dfs = DfsOrder::compute(graph);
        let mut all = Constraints {
            list: Vec::new(),
            phis: Vec::new(),
            operands: Lists::group(0, core::iter::empty()),
            blocks: vec![[0; 3]; graph.node_count()],
            cycles: CycleForest::compute_with(graph, &dfs),
        };
        let mut operands: Vec<(usize, (EdgeId, Version))> = Vec::new();
        for node in dfs.reverse_post_order() {
            let start = all.list.len() as u32;
            all.add_phis(program, ssi, node, &mut operands);
            let behind_phis = all.list.len() as u32;
            let instructions = program.block(node).map(Instruction).filter(|&at| matters(at));
            all.list.extend(instructions.map(Constraint::Instruction));
            all.list.extend(graph.out_edges(node).iter().map(|&e| Constraint::Edge(e)));
            all.blocks[node.index()] = [start, behind_phis, all.list.len() as u32];
        }
        let is_reachable = |edge: EdgeId| dfs.is_reachable(graph.source(edge));
        operands.retain(|&(_, (edge, _))| is_reachable(edge));
        all.operands = Lists::group(all.phis.len(), operands.iter().copied());
        all.find_widened(graph);
        all
    }

    fn add_phis(
        &mut self,
        program: &Program,
        ssi: &Ssi,
        node: Node,
        operands: &mut Vec<(usize, (EdgeId, Version))>,
    ) {
        let in_edges = program.graph().in_edges(node);
        let mut add = |result: Version| {
            self.list.push(Constraint::Phi(self.phis.len() as u32));
            self.phis.push(Phi { result, node, widened: None });
            self.phis.len() - 1
        };
        if let Some(&first) = in_edges.first() {
            for (k, slot) in program.phi_slots(first).enumerate() {
                let phi = add(ssi.phi_result(slot));
                for &e in in_edges {
                    let operand = ssi.phi_operand(program.phi_slots(e).start + k);
                    operands.extend(operand.map(|o| (phi, (e, o))));
                }
            }
        }
        for &version in ssi.phis_at(node) {
            let phi = add(version);
            for (&e, operand) in in_edges.iter().zip(ssi.operands(version)) {
                operands.extend(operand.map(|o| (phi, (e, o))));
            }
        }
    }

    /// Widened are the φs at headers of cycles that get something else than their own result from inside the cycle.
    fn find_widened(&mut self, graph: &impl Graph) {
        let cycles = &self.cycles;
        let mut headed = vec![None; graph.node_count()];
        cycles.cycles().for_each(|c| headed[cycles.header(c).index()] = Some(c));
        for (k, phi) in self.phis.iter_mut().enumerate() {
            let Some(cycle) = headed[phi.node.index()] else { continue };
            let mut operands = self.operands.get(k).iter();
            let changes = operands.any(|&(e, o)| o != phi.result && cycles.contains(cycle, graph.source(e)));
            phi.widened = changes.then_some(cycle);
        }
    }

    /// By version, the constraints that read it.
    pub(super) fn users(&self, program: &Program, ssi: &Ssi) -> Lists<u32> {
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (number, &constraint) in self.list.iter().enumerate() {
            let number = number as u32;
            let mut add = |v: Option<Version>| pairs.extend(v.map(|v| (v.0, number)));
            match constraint {
                Constraint::Phi(phi) => {
                    self.operands.get(phi as usize).iter().for_each(|&(_, o)| add(Some(o)))
                }
                Constraint::Instruction(at) => {
                    program.use_slots(at).for_each(|slot| add(ssi.used(slot)));
                    ssi.copies_at(at).iter().for_each(|&c| ssi.operands(c).for_each(&mut add));
                }
                Constraint::Edge(e) => {
                    program.test_slots(program.graph().source(e)).for_each(|slot| add(ssi.tested(slot)));
                    ssi.sigmas_at(e).iter().for_each(|&s| ssi.operands(s).for_each(&mut add));
                }
            }
        }
        Lists::group(ssi.versions(), pairs.iter().map(|&(v, c)| (v as usize, c)))
    }

    /// By version, the constraint that defines it, or `u32::MAX`.
    pub(super) fn definitions(&self, program: &Program, ssi: &Ssi) -> Vec<u32> {
        let mut by = vec![u32::MAX; ssi.versions()];
        for (number, &constraint) in self.list.iter().enumerate() {
            let mut set = |v: Version| by[v.index()] = number as u32;
            match constraint {
                Constraint::Phi(phi) => set(self.phis[phi as usize].result),
                Constraint::Instruction(at) => {
                    program.definition_slots(at).for_each(|slot| set(ssi.defined(slot)));
                    ssi.copies_at(at).iter().copied().for_each(set);
                }
                Constraint::Edge(e) => ssi.sigmas_at(e).iter().copied().for_each(set),
            }
        }
        by
    }
}

/// Blocks and edges that control has been found to reach.
#[derive(Clone, Debug)]
pub(super) struct Reached {
    pub nodes: BitSet,
    pub edges: BitSet,
}

impl Reached {
    pub(super) fn nothing(graph: &impl Graph) -> Reached {
        Reached { nodes: BitSet::new(graph.node_count()), edges: BitSet::new(graph.edge_count()) }
    }
}
