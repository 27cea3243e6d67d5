//! What the analysis knows of a program: which value is made where and from what.

use alloc::vec::Vec;

use crate::bitset::BitSet;
use crate::cycles::{CycleForest, CycleId};
use crate::dom::DomTree;
use crate::graph::{EdgeId, Graph, Lists, Node, Outline};
pub use crate::ids::Value;
use crate::program_error::ProgramError;

/// How the uniformity of a value follows from that of its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Rule {
    /// Divergent iff an operand is, where it is used; a φ also if threads arrive on edges with different
    /// operands.
    #[default]
    Default,
    /// Divergent whatever the operands are: a lane's number, memory of its own, the result of an unknown call.
    Source,
    /// Uniform whatever the operands are: a ballot, a broadcast of one lane's value.
    AlwaysUniform,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Definition {
    node: u32,
    rule: Rule,
    is_phi: bool,
    is_pure: bool,
}

const NONE: u32 = u32::MAX;

/// Collects a program; see [`SsaProgram::builder`].
#[derive(Clone, Debug, Default)]
pub struct SsaBuilder {
    definitions: Vec<Definition>,
    starts: Vec<u32>,
    operands: Vec<(Value, u32)>,
    terminators: Vec<(usize, Value)>,
    phis: Vec<Value>,
    /// The edges on which φs have no operand, by φ in the order of declaration.
    undefined: Vec<(Value, EdgeId)>,
}

impl SsaBuilder {
    #[inline]
    fn define(&mut self, node: Option<Node>, rule: Rule, is_phi: bool) -> Value {
        let value = Value::new(self.definitions.len());
        let node = node.map_or(NONE, |n| n.0);
        self.definitions.push(Definition { node, rule, is_phi, is_pure: false });
        self.starts.push(self.operands.len() as u32);
        if is_phi {
            self.phis.push(value);
        }
        value
    }

    /// Declares a value that is there before the program starts: an argument, a constant, an address of a
    /// global. The same constant used in several places should be one value. O(1).
    #[inline]
    pub fn argument(&mut self, rule: Rule) -> Value {
        self.define(None, rule, false)
    }

    /// Declares a value that is computed at `node`. Operands may be values that are declared later. O(1) an operand.
    #[inline]
    pub fn plain(&mut self, node: Node, rule: Rule, operands: impl IntoIterator<Item = Value>) -> Value {
        let value = self.define(Some(node), rule, false);
        self.operands.extend(operands.into_iter().map(|v| (v, NONE)));
        value
    }

    /// Declares a φ at `node` with an operand for each in-edge. An operand that is undefined (`None`) may be taken to
    /// be any value, so it never makes the φ divergent. O(1) an operand.
    #[inline]
    pub fn phi(
        &mut self,
        node: Node,
        rule: Rule,
        operands: impl IntoIterator<Item = (EdgeId, Option<Value>)>,
    ) -> Value {
        let value = self.define(Some(node), rule, true);
        for (edge, operand) in operands {
            match operand {
                Some(v) => self.operands.push((v, edge.0)),
                None => self.undefined.push((value, edge)),
            }
        }
        value
    }

    /// Declares that a plain value depends on its operands alone, and not on memory, on the threads that compute it
    /// or on how often it has been computed. So if the operands do not change in a loop, neither does it. Of a value
    /// that is always uniform this says more: threads whose operands were computed together get the same, whether or
    /// not they compute it together (the difference of two addresses with one stride; no ballot). No effect on φs and
    /// sources. O(1).
    #[inline]
    pub fn set_pure(&mut self, value: Value) {
        if let Some(d) = self.definitions.get_mut(value.index()) {
            d.is_pure = true;
        }
    }

    /// Adds operands to what decides which edge control takes out of `node`. O(1) an operand.
    #[inline]
    pub fn terminator(&mut self, node: Node, operands: impl IntoIterator<Item = Value>) {
        self.terminators.extend(operands.into_iter().map(|v| (node.index(), v)));
    }

    /// The program, over the given graph. Linear in graph and program.
    ///
    /// # Errors
    /// If a node, an edge or an operand that was named does not exist, or if a φ has not one operand for each edge that
    /// leads to its node.
    pub fn build<G: Graph>(mut self, graph: &G) -> Result<SsaProgram, ProgramError> {
        self.starts.push(self.operands.len() as u32);
        self.check_operands(graph)?;
        self.check_phis(graph)?;
        let terminators = Lists::group(graph.node_count(), self.terminators.iter().copied());
        Ok(SsaProgram {
            definitions: self.definitions,
            starts: self.starts,
            operands: self.operands,
            terminators,
            phis: self.phis,
            never_taken: BitSet::default(),
            outline: Outline::of(graph),
        })
    }

    /// Whether all nodes and operands that were named are there.
    fn check_operands<G: Graph>(&self, graph: &G) -> Result<(), ProgramError> {
        let (nodes, values) = (graph.node_count(), self.definitions.len());
        let is_node = |node: u32| node == NONE || (node as usize) < nodes;
        let is_value = |&(operand, _): &(Value, u32)| operand.index() < values;
        // All is well nearly always, and that is found out fast.
        if !self.definitions.iter().fold(true, |well, d| well & is_node(d.node))
            || !self.operands.iter().fold(true, |well, operand| well & is_value(operand))
        {
            for (i, d) in self.definitions.iter().enumerate() {
                if !is_node(d.node) {
                    return Err(ProgramError::NoSuchNode { node: Node(d.node) });
                }
                let operands = &self.operands[self.starts[i] as usize..self.starts[i + 1] as usize];
                if let Some(&(operand, _)) = operands.iter().find(|operand| !is_value(operand)) {
                    return Err(ProgramError::NoSuchOperand { user: Some(Value::new(i)), operand });
                }
            }
        }
        for &(node, operand) in &self.terminators {
            if node >= nodes {
                return Err(ProgramError::NoSuchNode { node: Node::new(node) });
            }
            if operand.index() >= values {
                return Err(ProgramError::NoSuchOperand { user: None, operand });
            }
        }
        Ok(())
    }

    /// Whether each φ has one operand for each edge that leads to its node, and none for others.
    fn check_phis<G: Graph>(&self, graph: &G) -> Result<(), ProgramError> {
        if self.phis.is_empty() {
            return Ok(());
        }
        let mut seen_for = vec![NONE; graph.edge_count()];
        let mut undefined = self.undefined.iter().peekable();
        for &phi in &self.phis {
            let (i, node) = (phi.index(), Node(self.definitions[phi.index()].node));
            let mut see = |edge: u32| {
                if edge as usize >= graph.edge_count() || graph.target(EdgeId(edge)) != node {
                    return Err(ProgramError::NotAnInEdge { phi, edge: EdgeId(edge) });
                }
                match core::mem::replace(&mut seen_for[edge as usize], phi.0) == phi.0 {
                    true => Err(ProgramError::RepeatedEdge { phi, edge: EdgeId(edge) }),
                    false => Ok(()),
                }
            };
            for &(_, edge) in &self.operands[self.starts[i] as usize..self.starts[i + 1] as usize] {
                see(edge)?;
            }
            while let Some(&(_, edge)) = undefined.next_if(|u| u.0 == phi) {
                see(edge.0)?;
            }
            if let Some(edge) = graph.in_edges(node).find(|edge| seen_for[edge.index()] != phi.0) {
                return Err(ProgramError::MissingEdge { phi, edge });
            }
        }
        Ok(())
    }
}

/// A program in SSA form, as far as uniformity depends on it.
///
/// Definitions must dominate uses: a plain value's operand is defined in a node that dominates the value's node, a φ's
/// operand in one that dominates the edge's source. [`check_dominance`](Self::check_dominance) says whether they do;
/// nothing else looks at it.
#[derive(Clone, Debug)]
pub struct SsaProgram {
    definitions: Vec<Definition>,
    starts: Vec<u32>,
    operands: Vec<(Value, u32)>,
    terminators: Lists<Value>,
    phis: Vec<Value>,
    /// Edges that no thread takes, and on which φs have no operands any more; of length 0 if there are none.
    never_taken: BitSet,
    /// Of the graph that the program was built over.
    outline: Outline,
}

impl SsaProgram {
    /// Starts a program without values. O(1).
    pub fn builder() -> SsaBuilder {
        SsaBuilder::default()
    }

    /// The same, with room for so many values and operands. O(1).
    pub fn builder_for(values: usize, operands: usize) -> SsaBuilder {
        SsaBuilder {
            definitions: Vec::with_capacity(values),
            starts: Vec::with_capacity(values + 1),
            operands: Vec::with_capacity(operands),
            // A guess that is good for most functions.
            terminators: Vec::with_capacity(values / 16),
            phis: Vec::with_capacity(values / 16),
            undefined: Vec::new(),
        }
    }

    /// The number of values. O(1).
    #[inline]
    pub fn value_count(&self) -> usize {
        self.definitions.len()
    }

    /// All values, by number. O(1) a step.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = Value> + ExactSizeIterator + use<> {
        (0..self.definitions.len() as u32).map(Value)
    }

    /// Where a value is computed; none for an argument. O(1).
    #[inline]
    pub fn node(&self, value: Value) -> Option<Node> {
        let node = self.definitions[value.index()].node;
        (node != NONE).then_some(Node(node))
    }

    /// The rule of a value. O(1).
    #[inline]
    pub fn rule(&self, value: Value) -> Rule {
        self.definitions[value.index()].rule
    }

    /// Whether a value is a φ. O(1).
    #[inline]
    pub fn is_phi(&self, value: Value) -> bool {
        self.definitions[value.index()].is_phi
    }

    /// Whether a value depends on nothing but its operands; see [`SsaBuilder::set_pure`]. O(1).
    #[inline]
    pub fn is_pure(&self, value: Value) -> bool {
        let d = self.definitions[value.index()];
        d.is_pure && !d.is_phi && d.rule != Rule::Source
    }

    #[inline]
    fn uses(&self, value: Value) -> &[(Value, u32)] {
        let i = value.index();
        &self.operands[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    /// The operands of a value, each with the edge on which a φ takes it. O(1) a step.
    #[inline]
    pub fn operands(
        &self,
        value: Value,
    ) -> impl DoubleEndedIterator<Item = (Value, Option<EdgeId>)> + ExactSizeIterator + Clone + '_ {
        self.uses(value).iter().map(|&(v, e)| (v, (e != NONE).then_some(EdgeId(e))))
    }

    /// What decides which edge control takes out of `node`. O(1).
    #[inline]
    pub fn terminator(&self, node: Node) -> &[Value] {
        self.terminators.get(node.index())
    }

    /// By node the values that are computed there, by number. Takes time linear in the values.
    pub fn values_by_node(&self) -> Lists<Value> {
        let at_nodes = self.definitions.iter().enumerate().filter(|(_, d)| d.node != NONE);
        let at_nodes = at_nodes.map(|(i, d)| (d.node as usize, Value(i as u32)));
        Lists::group(self.terminators.len(), at_nodes)
    }

    /// Whether a graph is the one that the program was built over, as far as its size, its entry and the ends of its
    /// edges tell. Linear in the graph.
    ///
    /// # Errors
    /// If it is another one: its nodes and edges would not be those that the program speaks of.
    pub fn check_graph<G: Graph>(&self, graph: &G) -> Result<(), ProgramError> {
        match self.outline == Outline::of(graph) {
            true => Ok(()),
            false => Err(ProgramError::OtherGraph),
        }
    }

    /// Panics if a graph is not the one that the program was built over.
    pub(super) fn expect_graph<G: Graph>(&self, graph: &G) {
        assert!(self.outline == Outline::of(graph), "{}", ProgramError::OtherGraph);
    }

    /// Whether each operand is defined on all ways to where it is used. Uses that control does not reach are not
    /// looked at. For whoever builds programs and wants to know that they are right: the analyses take it for granted.
    /// As [`DomTree::compute`], and linear in the operands.
    ///
    /// # Errors
    /// If the program was built over another graph, or the definition of an operand does not dominate its use.
    pub fn check_dominance<G: Graph>(&self, graph: &G) -> Result<(), ProgramError> {
        self.check_graph(graph)?;
        let dominators = DomTree::compute(graph);
        let holds = |operand: Value, at: Node| {
            !dominators.is_reachable(at) || self.node(operand).is_none_or(|n| dominators.dominates(n, at))
        };
        for user in self.values() {
            let Some(node) = self.node(user) else { continue };
            for (operand, edge) in self.operands(user) {
                let at = edge.map_or(node, |edge| graph.source(edge));
                if !holds(operand, at) {
                    return Err(ProgramError::NotDefinedBefore { user: Some(user), operand, node: at });
                }
            }
        }
        for node in graph.nodes() {
            if let Some(&operand) = self.terminator(node).iter().find(|&&operand| !holds(operand, node)) {
                return Err(ProgramError::NotDefinedBefore { user: None, operand, node });
            }
        }
        Ok(())
    }

    /// The φs, by number.
    #[inline]
    pub(super) fn phis(&self) -> &[Value] {
        &self.phis
    }

    /// The operands of all values in one array, by value, with the edges on which φs take them (all bits set: none);
    /// and where those of each value begin, with the end of the array at last.
    #[inline]
    pub(super) fn flat_operands(&self) -> (&[u32], &[(Value, u32)]) {
        (&self.starts, &self.operands)
    }

    /// Whether φs have lost their operands on an edge, which no thread takes.
    #[inline]
    pub(super) fn is_never_taken(&self, edge: EdgeId) -> bool {
        self.never_taken.contains(edge.index())
    }

    /// The same program with some values that are there from the start and depend on nothing, and without the operands
    /// of φs on edges that are never taken. Constant is also what has lost all operands.
    pub(super) fn reduced(&self, is_constant: impl Fn(Value) -> bool, never_taken: BitSet) -> SsaProgram {
        let keeps = |e: EdgeId| !never_taken.contains(e.index());
        let mut definitions = self.definitions.clone();
        let mut starts = Vec::with_capacity(self.starts.len());
        let mut operands = Vec::with_capacity(self.operands.len());
        for v in self.values() {
            let first = operands.len();
            starts.push(first as u32);
            if !is_constant(v) {
                operands.extend(self.uses(v).iter().filter(|&&(_, e)| e == NONE || keeps(EdgeId(e))));
            }
            // A φ that is undefined on all edges that are left may be taken for a constant.
            let undefined = self.is_phi(v) && self.rule(v) == Rule::Default && !self.uses(v).is_empty();
            if is_constant(v) || undefined && operands.len() == first {
                definitions[v.index()] =
                    Definition { node: NONE, rule: Rule::Default, is_phi: false, is_pure: false };
            }
        }
        starts.push(operands.len() as u32);
        SsaProgram {
            phis: self.phis.iter().copied().filter(|v| definitions[v.index()].is_phi).collect(),
            definitions,
            starts,
            operands,
            terminators: self.terminators.clone(),
            never_taken,
            outline: self.outline,
        }
    }

    /// Makes branches depend on nothing, but for those to keep.
    pub(super) fn keep_terminators(&mut self, keeps: impl Fn(Node) -> bool) {
        let nodes = self.terminators.len();
        let kept = (0..nodes).filter(|&n| keeps(Node::new(n)));
        let pairs = kept.flat_map(|n| self.terminators.get(n).iter().map(move |&v| (n, v)));
        self.terminators = Lists::group(nodes, pairs.collect::<Vec<_>>().into_iter());
    }

    /// Puts another value in place of an operand, given by its position among the operands of its user.
    pub(super) fn replace_operand(&mut self, user: Value, position: usize, by: Value) {
        let at = self.starts[user.index()] as usize + position;
        self.operands[at].0 = by;
    }

    /// The same for what decides about a branch.
    pub(super) fn replace_in_terminator(&mut self, node: Node, position: usize, by: Value) {
        self.terminators.get_mut(node.index())[position] = by;
    }

    /// Whether a value is the same whenever its operands are: a pure one, or a φ all operands of which are one value.
    fn follows_operands(&self, value: Value) -> bool {
        let mut others = self.operands(value).map(|(o, _)| o).filter(|&o| o != value);
        let first = others.next();
        self.is_pure(value)
            || (self.is_phi(value)
                && self.rule(value) == Rule::Default
                && first.is_some()
                && others.all(|o| Some(o) == first))
    }

    /// For each value the innermost cycle in whose iterations it may change. A pure value does not change
    /// in a cycle in which its operands do not.
    pub(crate) fn innermost_changing(&self, cycles: &CycleForest) -> Vec<Option<CycleId>> {
        const NEW: u8 = 0;
        const OPEN: u8 = 1;
        const DONE: u8 = 2;
        let around = |v: Value| self.node(v).and_then(|n| cycles.innermost(n));
        let mut changing: Vec<Option<CycleId>> = self.values().map(around).collect();
        // Outside all cycles there is nothing to find out.
        let mut state: Vec<u8> = changing.iter().map(|c| if c.is_some() { NEW } else { DONE }).collect();
        let mut stack = Vec::new();
        for root in self.values() {
            if state[root.index()] != NEW {
                continue;
            }
            stack.push(root);
            while let Some(&v) = stack.last() {
                let i = v.index();
                if state[i] == NEW && self.follows_operands(v) {
                    state[i] = OPEN;
                    // An operand that is still open comes round a cycle through a φ; it counts as changing in the
                    // innermost cycle around it.
                    let before = stack.len();
                    let new = self.uses(v).iter().map(|&(o, _)| o).filter(|o| state[o.index()] == NEW);
                    stack.extend(new);
                    if stack.len() > before {
                        continue;
                    }
                }
                stack.pop();
                if state[i] == OPEN {
                    changing[i] = self.deepest_operand(cycles, v, &changing);
                }
                state[i] = DONE;
            }
        }
        changing
    }

    /// The innermost cycle around a value in which one of its operands may change.
    fn deepest_operand(
        &self,
        cycles: &CycleForest,
        value: Value,
        changing: &[Option<CycleId>],
    ) -> Option<CycleId> {
        let node = self.node(value)?;
        let mut deepest: Option<CycleId> = None;
        for &(operand, _) in self.uses(value).iter().filter(|&&(o, _)| o != value) {
            let mut cycle = changing[operand.index()];
            while let Some(c) = cycle.filter(|&c| !cycles.contains(c, node)) {
                cycle = cycles.parent(c);
            }
            let depth = |c: Option<CycleId>| c.map_or(0, |c| cycles.depth(c));
            if depth(cycle) > depth(deepest) {
                deepest = cycle;
            }
        }
        deepest
    }
}
