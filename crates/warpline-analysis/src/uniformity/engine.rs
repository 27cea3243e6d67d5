//! The fixed point: divergence spreads along operands, and from divergent branches to joins and exits.

use std::collections::VecDeque;

use super::baselines::{PostDominators, StrongPostDominators};
use super::clock::Clock;
use super::{Algorithm, Cause, GivenUp, Reach, Rule, SsaProgram, Uniformity, Value};
use crate::bitset::BitSet;
use crate::cycles::{CycleForest, CycleId};
use crate::graph::{EdgeId, Graph, Lists, Node};
use crate::joins::{JoinSink, Joins, Split};
use crate::order::DfsOrder;

/// Who uses a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum User {
    Plain(Value),
    Phi(Value, EdgeId),
    Terminator(Node),
}

/// A use of a value outside a cycle in which the value may change.
#[derive(Clone, Copy, Debug)]
struct OutsideUse {
    value: Value,
    user: User,
}

/// What an algorithm adds to the spread along operands: what follows when threads part.
pub(super) trait Control<'a, G: Graph> {
    /// The cycle around a node into which the algorithm does not look.
    fn region(&self, node: Node) -> Option<CycleId>;
    /// Tells `state` of the joins and exits that are divergent because of `split`.
    fn follow(&mut self, split: Split, state: &mut State<'a, G>);
}

pub(super) fn run<G: Graph>(
    graph: &G,
    dfs: &DfsOrder,
    cycles: CycleForest,
    program: &SsaProgram,
    algorithm: Algorithm,
    clock: &mut impl Clock,
) -> Uniformity {
    let found = &cycles;
    let state = match algorithm {
        Algorithm::Joins => {
            let control = clock.setup(|| Joins::new(graph, dfs, found));
            solve(graph, dfs, found, program, control, clock)
        }
        Algorithm::PostDom => {
            let control = clock.setup(|| PostDominators::new(graph, found));
            solve(graph, dfs, found, program, control, clock)
        }
        Algorithm::StrongPostDom => {
            let control = clock.setup(|| StrongPostDominators::new(graph, dfs, found));
            solve(graph, dfs, found, program, control, clock)
        }
    };
    Uniformity { cycles, ..state }
}

fn solve<'a, G: Graph>(
    graph: &'a G,
    dfs: &'a DfsOrder,
    cycles: &'a CycleForest,
    program: &'a SsaProgram,
    mut control: impl Control<'a, G>,
    clock: &mut impl Clock,
) -> Uniformity {
    let mut state = State::new(graph, dfs, cycles, program, &control);
    for v in program.values().filter(|&v| program.rule(v) == Rule::Source) {
        state.mark(v, Cause::Source);
    }
    while state.step(&mut control, clock) {}
    state.result
}

impl<'a, G: Graph> Control<'a, G> for Joins<'a, G> {
    fn region(&self, node: Node) -> Option<CycleId> {
        self.region(node)
    }

    fn follow(&mut self, split: Split, state: &mut State<'a, G>) {
        match (split, self.inside(split)) {
            (_, Some(cycle)) if state.result.given_up[cycle.index()].is_some() => {}
            (Split::Branch(node), Some(cycle)) => match self.inside_region(cycle, node) {
                Some(found) => found.iter().for_each(|(join, edges)| state.join(*join, edges)),
                None => state.give_up(cycle, GivenUp::BranchInside(node)),
            },
            _ => self.propagate(split, state),
        }
    }
}

pub(super) struct State<'a, G> {
    graph: &'a G,
    dfs: &'a DfsOrder,
    cycles: &'a CycleForest,
    program: &'a SsaProgram,
    users: Lists<User>,
    /// By cycle, the uses outside of values that may change in it, as far as they are not found divergent.
    outside: Vec<Vec<OutsideUse>>,
    /// By cycle, the number of its exit edges.
    exit_count: Vec<u32>,
    /// By edge, the position of the first of its bits in `exit_seen`, one for each cycle it leaves, and the depth of
    /// the innermost of these.
    exit_bits: Vec<(u32, u32)>,
    exit_seen: BitSet,
    /// By node, the φs that have different operands, and how many of them are still uniform.
    mixed_phis: Lists<Value>,
    open_phis: Vec<u32>,
    /// The label of each in-edge of the join at hand, with the number of the report it belongs to.
    edge_label: Vec<(u32, u32)>,
    report: u32,
    /// How many more steps may be spent on where divergent exits lead.
    reach_budget: usize,
    values: VecDeque<Value>,
    splits: VecDeque<Split>,
    new_exits: VecDeque<(CycleId, EdgeId)>,
    split: Split,
    result: Uniformity,
}

impl<'a, G: Graph> State<'a, G> {
    fn new(
        graph: &'a G,
        dfs: &'a DfsOrder,
        cycles: &'a CycleForest,
        program: &'a SsaProgram,
        control: &impl Control<'a, G>,
    ) -> Self {
        // Nothing is known of cycles inside a region by themselves.
        let from = |c: Option<CycleId>| c.map(|c| control.region(cycles.header(c)).unwrap_or(c));
        let changing = program.innermost_changing(graph, cycles);
        let uses = all_uses(graph, dfs, program);
        let mut outside = vec![Vec::new(); cycles.len()];
        for &(value, user) in &uses {
            let at = match user {
                User::Plain(u) => program.node(u),
                User::Phi(_, e) => Some(graph.target(e)),
                User::Terminator(n) => Some(n),
            };
            let mut cycle = from(changing[value.index()]);
            while let Some(c) = cycle.filter(|&c| at.is_some_and(|n| !cycles.contains(c, n))) {
                outside[c.index()].push(OutsideUse { value, user });
                cycle = cycles.parent(c);
            }
        }
        let mut exit_count = vec![0; cycles.len()];
        let mut exit_bits = Vec::with_capacity(graph.edge_count());
        let mut bits = 0;
        for e in graph.edges() {
            let mut cycle = from(cycles.innermost(graph.source(e)));
            exit_bits.push((bits, cycle.map_or(0, |c| cycles.depth(c))));
            while let Some(c) = cycle.filter(|&c| !cycles.contains(c, graph.target(e))) {
                exit_count[c.index()] += 1;
                bits += 1;
                cycle = cycles.parent(c);
            }
        }
        let mixed = |&v: &Value| {
            let mut operands = reachable_operands(graph, dfs, program, v).map(|(v, _)| v);
            let first = operands.next();
            program.is_phi(v) && operands.any(|o| Some(o) != first)
        };
        let phis: Vec<(usize, Value)> =
            program.values().filter(mixed).filter_map(|v| program.node(v).map(|n| (n.index(), v))).collect();
        let mixed_phis = Lists::group(graph.node_count(), phis.iter().copied());
        let open_phis = graph.nodes().map(|n| mixed_phis.get(n.index()).len() as u32).collect();
        State {
            users: Lists::group(program.value_count(), uses.iter().map(|&(v, u)| (v.index(), u))),
            outside,
            exit_count,
            exit_bits,
            exit_seen: BitSet::new(bits as usize),
            mixed_phis,
            open_phis,
            edge_label: vec![(0, 0); graph.edge_count()],
            report: 0,
            reach_budget: 64 * (graph.node_count() + graph.edge_count()) + 1_000_000,
            values: VecDeque::new(),
            splits: VecDeque::new(),
            new_exits: VecDeque::new(),
            split: Split::Branch(graph.entry()),
            result: Uniformity {
                cycles: CycleForest::empty(graph.node_count()),
                defined_at: program.values().map(|v| program.node(v)).collect(),
                changing,
                divergent: BitSet::new(program.value_count()),
                value_cause: vec![None; program.value_count()],
                branches: BitSet::new(graph.node_count()),
                branch_cause: vec![None; graph.node_count()],
                exits: vec![Vec::new(); cycles.len()],
                reach: vec![Reach::Nowhere; cycles.len()],
                given_up: vec![None; cycles.len()],
                left_before: vec![None; cycles.len()],
                join: vec![None; graph.node_count()],
            },
            graph,
            dfs,
            cycles,
            program,
        }
    }

    /// Follows one fact; says whether there was one.
    fn step(&mut self, control: &mut impl Control<'a, G>, clock: &mut impl Clock) -> bool {
        if let Some(v) = self.values.pop_front() {
            for i in 0..self.users.get(v.index()).len() {
                let user = self.users.get(v.index())[i];
                self.mark_user(user, Cause::Operand(v));
            }
        } else if let Some((cycle, exit)) = self.new_exits.pop_front() {
            self.leave_apart(cycle, exit);
        } else if let Some(split) = self.splits.pop_front() {
            self.split = split;
            clock.control(|| control.follow(split, self));
        } else {
            return false;
        }
        true
    }

    fn mark(&mut self, value: Value, cause: Cause) {
        if self.program.rule(value) == Rule::AlwaysUniform || !self.result.divergent.insert(value.index()) {
            return;
        }
        self.result.value_cause[value.index()] = Some(cause);
        self.values.push_back(value);
        if let Some(node) = self.program.node(value).filter(|_| self.program.is_phi(value))
            && self.mixed_phis.get(node.index()).binary_search(&value).is_ok()
        {
            self.open_phis[node.index()] -= 1;
        }
    }

    pub(super) fn mark_user(&mut self, user: User, cause: Cause) {
        match user {
            User::Plain(v) | User::Phi(v, _) => self.mark(v, cause),
            User::Terminator(node) => self.mark_branch(node, cause),
        }
    }

    fn mark_branch(&mut self, node: Node, cause: Cause) {
        let out = self.graph.out_edges(node);
        let known = &mut self.result.branch_cause[node.index()];
        if out.len() < 2 || known.is_some() {
            return;
        }
        *known = Some(cause);
        let mut targets = self.graph.successors(node);
        let first = targets.next();
        if targets.any(|t| Some(t) != first) {
            self.result.branches.insert(node.index());
        }
        self.splits.push_back(Split::Branch(node));
    }

    /// Threads leave `cycle` by `exit` in different iterations.
    fn leave_apart(&mut self, cycle: CycleId, exit: EdgeId) {
        self.reach_from(cycle, self.graph.target(exit));
        self.mark_outside(cycle, Some(exit));
    }

    /// Threads that left `cycle` in different iterations come together at `node`, having parted at the split at hand; but
    /// this is not said of any exit.
    pub(super) fn leave_before(&mut self, cycle: CycleId, node: Node) {
        self.result.left_before[cycle.index()].get_or_insert(self.split);
        self.reach_from(cycle, node);
        self.mark_outside(cycle, None);
    }

    fn user_node(&self, user: User) -> Option<Node> {
        match user {
            User::Plain(v) | User::Phi(v, _) => self.program.node(v),
            User::Terminator(node) => Some(node),
        }
    }

    /// Marks the users, at nodes that `at` names, of the values that are computed at `node`.
    pub(super) fn mark_users(
        &mut self,
        node: Node,
        at: impl Fn(Node) -> bool,
        cause: impl Fn(Value) -> Cause,
    ) {
        for &v in self.program.values_at(node) {
            for i in 0..self.users.get(v.index()).len() {
                let user = self.users.get(v.index())[i];
                if self.user_node(user).is_some_and(&at) {
                    self.mark_user(user, cause(v));
                }
            }
        }
    }

    /// Threads that left `cycle` in different iterations come to `start` and what is behind it.
    fn reach_from(&mut self, cycle: CycleId, start: Node) {
        let c = cycle.index();
        let all = self.result.exits[c].len() == self.exit_count[c] as usize;
        let reach = &mut self.result.reach[c];
        match reach {
            Reach::Everywhere => {}
            _ if all => *reach = Reach::Everywhere,
            // What is known is kept up to date, since the uses that were found divergent may be asked for again.
            Reach::Nodes(Some(_)) => {}
            _ if self.outside[c].is_empty() => *reach = Reach::Nodes(None),
            Reach::Nowhere | Reach::Nodes(None) => {
                *reach = Reach::Nodes(Some(BitSet::new(self.graph.node_count())))
            }
        }
        if let Reach::Nodes(Some(nodes)) = reach {
            extend_reach(self.graph, self.cycles, cycle, vec![start], nodes, &mut self.reach_budget);
            if self.reach_budget == 0 {
                *reach = Reach::Everywhere;
            }
        }
    }

    /// Marks the uses outside `cycle` that threads reach which left it apart.
    fn mark_outside(&mut self, cycle: CycleId, exit: Option<EdgeId>) {
        let uses = std::mem::take(&mut self.outside[cycle.index()]);
        let mut left = Vec::new();
        for u in uses {
            if self.is_reached(cycle, u.user) {
                self.mark_user(u.user, Cause::Temporal { operand: u.value, cycle, exit });
            } else {
                left.push(u);
            }
        }
        self.outside[cycle.index()] = left;
    }

    fn is_reached(&self, cycle: CycleId, user: User) -> bool {
        let nodes = match &self.result.reach[cycle.index()] {
            Reach::Nowhere | Reach::Nodes(None) => return false,
            Reach::Everywhere => return true,
            Reach::Nodes(Some(nodes)) => nodes,
        };
        let at = match user {
            User::Plain(v) => self.program.node(v),
            User::Terminator(node) => Some(node),
            User::Phi(_, edge) => {
                let source = self.graph.source(edge);
                if self.cycles.contains(cycle, source) {
                    return self.exit_seen.contains(self.exit_bit(cycle, edge));
                }
                Some(source)
            }
        };
        at.is_some_and(|n| nodes.contains(n.index()))
    }

    /// The bit that stands for `edge` as an exit of `cycle`.
    fn exit_bit(&self, cycle: CycleId, edge: EdgeId) -> usize {
        let (first, innermost) = self.exit_bits[edge.index()];
        (first + innermost - self.cycles.depth(cycle)) as usize
    }

    fn changes_in(&self, value: Value, cycle: CycleId) -> bool {
        self.result.changing[value.index()].is_some_and(|c| self.cycles.contains_cycle(cycle, c))
    }

    pub(super) fn give_up(&mut self, cycle: CycleId, why: GivenUp) {
        let known = &mut self.result.given_up[cycle.index()];
        if known.is_some() {
            return;
        }
        *known = Some(why);
        let cycles = self.cycles;
        for &node in cycles.nodes(cycle) {
            for &v in self.program.values_at(node) {
                if self.changes_in(v, cycle) {
                    self.mark(v, Cause::GivenUp(cycle));
                }
            }
            // An always-uniform operand is the same for threads that compute it together, but they need not
            // be together here.
            for &operand in self.program.terminator(node) {
                if self.changes_in(operand, cycle) && self.program.node(operand) != Some(node) {
                    self.mark_branch(node, Cause::Temporal { operand, cycle, exit: None });
                }
            }
        }
        let inside = cycles.cycles().skip(cycle.index()).take_while(|&c| cycles.contains_cycle(cycle, c));
        for c in inside {
            self.result.reach[c.index()] = Reach::Everywhere;
        }
        self.mark_outside(cycle, None);
        self.splits.push_back(Split::Cycle(cycle));
    }
}

impl<G: Graph> JoinSink for State<'_, G> {
    fn is_settled(&self, node: Node) -> bool {
        self.open_phis[node.index()] == 0
    }

    fn wants_edges(&self, node: Node) -> bool {
        self.open_phis[node.index()] > 0
    }

    fn join(&mut self, node: Node, edges: &[(EdgeId, u32)]) {
        self.result.join[node.index()].get_or_insert(self.split);
        if self.open_phis[node.index()] == 0 {
            return;
        }
        self.report += 1;
        for &(e, label) in edges {
            self.edge_label[e.index()] = (self.report, label);
        }
        for i in 0..self.mixed_phis.get(node.index()).len() {
            let phi = self.mixed_phis.get(node.index())[i];
            if self.result.divergent.contains(phi.index()) {
                continue;
            }
            // Two edges with different labels and different operands exist iff neither the labels nor the
            // operands are all the same.
            let (mut first, mut labels_differ, mut operands_differ) = (None, false, false);
            for (operand, edge) in reachable_operands(self.graph, self.dfs, self.program, phi) {
                let (report, label) = self.edge_label[edge.index()];
                if report == self.report {
                    let &mut (l, o) = first.get_or_insert((label, operand));
                    labels_differ |= l != label;
                    operands_differ |= o != operand;
                }
            }
            if labels_differ && operands_differ {
                self.mark(phi, Cause::Join(self.split));
            }
        }
    }

    fn divergent_exit(&mut self, cycle: CycleId, edge: EdgeId) {
        self.result.join[self.graph.target(edge).index()].get_or_insert(self.split);
        let bit = self.exit_bit(cycle, edge);
        if self.exit_seen.insert(bit) {
            self.result.exits[cycle.index()].push((edge, self.split));
            self.new_exits.push_back((cycle, edge));
        }
    }

    fn entered_apart(&mut self, cycle: CycleId) {
        self.give_up(cycle, GivenUp::EnteredApart(self.split));
    }
}

/// The operands of a φ on edges that threads can take.
fn reachable_operands<'p, G: Graph>(
    graph: &'p G,
    dfs: &'p DfsOrder,
    program: &'p SsaProgram,
    phi: Value,
) -> impl Iterator<Item = (Value, EdgeId)> + 'p {
    let on_edges = program.operands(phi).filter_map(|(v, e)| e.map(|e| (v, e)));
    on_edges.filter(|&(_, e)| dfs.is_reachable(graph.source(e)))
}

/// Who uses which value; uses by φs on edges that no thread takes and by unreachable branches left out.
fn all_uses<G: Graph>(graph: &G, dfs: &DfsOrder, program: &SsaProgram) -> Vec<(Value, User)> {
    let mut uses = Vec::new();
    for user in program.values() {
        for (operand, edge) in program.operands(user) {
            match edge {
                None => uses.push((operand, User::Plain(user))),
                Some(e) if dfs.is_reachable(graph.source(e)) => uses.push((operand, User::Phi(user, e))),
                Some(_) => {}
            }
        }
    }
    for node in graph.nodes().filter(|&n| dfs.is_reachable(n)) {
        uses.extend(program.terminator(node).iter().map(|&v| (v, User::Terminator(node))));
    }
    uses
}

/// Adds to `nodes` the nodes that are reached from `from` before control comes back to `cycle` or to the header of a
/// cycle around it. Takes the steps from `budget` and stops when it is used up.
pub(super) fn extend_reach<G: Graph>(
    graph: &G,
    cycles: &CycleForest,
    cycle: CycleId,
    from: Vec<Node>,
    nodes: &mut BitSet,
    budget: &mut usize,
) {
    // Where such a header is reached, every value from inside the cycle has gone out of scope.
    let ends = |n: Node| {
        let own = cycles.innermost(n).filter(|&c| cycles.header(c) == n);
        cycles.contains(cycle, n)
            || own.is_some_and(|c| cycles.contains_cycle(c, cycle) && cycles.is_reducible(c))
    };
    let mut work = from;
    work.retain(|&n| !ends(n) && nodes.insert(n.index()));
    while let Some(n) = work.pop() {
        let out = graph.out_edges(n);
        *budget = budget.saturating_sub(out.len() + 1);
        if *budget == 0 {
            return;
        }
        for t in graph.successors(n) {
            if !ends(t) && nodes.insert(t.index()) {
                work.push(t);
            }
        }
    }
}
