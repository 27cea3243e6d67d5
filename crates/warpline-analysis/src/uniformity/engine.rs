//! The fixed point: divergence spreads along operands, and from divergent branches to joins and exits.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::cell::OnceCell;

#[cfg(feature = "baselines")]
use super::baselines::{PostDominators, StrongPostDominators};
use super::clock::Clock;
use super::tables::{ExitTable, MixedPhis, OutsideUses, Role, User, Users, reachable_operands};
use super::workspace::{Task, Workspace};
use super::{Algorithm, Cause, GivenUp, Reach, Rule, SsaProgram, Uniformity, Value};
use crate::bitset::BitSet;
use crate::cycles::{CycleForest, CycleId};
use crate::graph::{EdgeId, Graph, Lists, Node};
use crate::joins::{JoinSink, Joins, Split};
use crate::limits::Limits;
use crate::local::{Fate, Inside};
use crate::order::{DfsOrder, filled};
use crate::rewired::Kind;

/// What an algorithm adds to the spread along operands: what follows when threads part.
pub(super) trait Control<'a, G: Graph> {
    /// The cycle around a node into which the algorithm does not look.
    fn region(&self, node: Node) -> Option<CycleId>;
    /// Tells `state` of the joins and exits that are divergent because of `split`.
    fn follow(&mut self, split: Split, state: &mut State<'a, G>);
    /// The same because of branches that were postponed, all of which leave `cycle` by these exits.
    fn follow_exits(&mut self, _cycle: CycleId, _exits: &[EdgeId], _state: &mut State<'a, G>) {}
    /// How many steps were made so far.
    fn steps(&self) -> usize {
        0
    }
    /// Leaves its memory to the next analysis.
    fn leave(self, _workspace: &mut Workspace)
    where
        Self: Sized,
    {
    }
}

/// Solves a program of whose graph nothing is at hand.
pub(super) fn run_on<G: Graph>(graph: &G, program: &SsaProgram, task: Task<'_, impl Clock>) -> Uniformity {
    program.expect_graph(graph);
    let dfs = core::mem::take(&mut task.workspace.order).within(graph);
    let cycles = CycleForest::compute_with(graph, &dfs);
    let Task { algorithm, limits, clock, workspace } = task;
    let task = Task { algorithm, limits, clock, workspace: &mut *workspace };
    let result = run(graph, &dfs, cycles, program, task);
    workspace.order = dfs;
    result
}

pub(super) fn run<G: Graph>(
    graph: &G,
    dfs: &DfsOrder,
    cycles: CycleForest,
    program: &SsaProgram,
    task: Task<'_, impl Clock>,
) -> Uniformity {
    let found = &cycles;
    let state = match task.algorithm {
        Algorithm::Joins => {
            let memory = core::mem::take(&mut task.workspace.joins);
            let control =
                task.clock.setup(|| Joins::within(graph, dfs, found, task.limits).with_memory(memory));
            solve(graph, dfs, found, program, control, task)
        }
        #[cfg(feature = "baselines")]
        Algorithm::PostDom => {
            let control = task.clock.setup(|| PostDominators::new(graph, found));
            solve(graph, dfs, found, program, control, task)
        }
        #[cfg(feature = "baselines")]
        Algorithm::StrongPostDom => {
            let control = task.clock.setup(|| StrongPostDominators::new(graph, dfs, found));
            solve(graph, dfs, found, program, control, task)
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
    task: Task<'_, impl Clock>,
) -> Uniformity {
    let Task { limits, clock, workspace, .. } = task;
    let region = |c: CycleId| control.region(cycles.header(c));
    let mut state = State::new(graph, dfs, cycles, program, region, limits, workspace);
    for v in program.values().filter(|&v| program.rule(v) == Rule::Source) {
        state.mark(v, Cause::Source);
    }
    while state.step(&mut control, clock) {}
    clock.steps(control.steps());
    let result = state.finish(workspace);
    control.leave(workspace);
    result
}

impl<'a, G: Graph> Control<'a, G> for Joins<'a, G> {
    fn region(&self, node: Node) -> Option<CycleId> {
        self.region(node)
    }

    fn follow(&mut self, split: Split, state: &mut State<'a, G>) {
        match (split, self.inside(split)) {
            // What follows from a cycle inside a region was said when it was given up.
            (Split::Cycle(_), Some(_)) => {}
            (Split::Branch(node), Some(_)) if !state.result.is_m_converged_in(state.cycles, node) => {}
            (Split::Branch(node), Some(region)) => match self.inside_region(region, node) {
                Fate::Meet(found) => {
                    state.meet(region, &found);
                }
                Fate::GiveUp(..) if self.is_tired() => state.give_up(region, GivenUp::BranchInside(node)),
                Fate::GiveUp(cycle, behind) => {
                    state.give_up(cycle, GivenUp::BranchInside(node));
                    state.split = Split::Cycle(cycle);
                    behind.iter().for_each(|found| state.meet(region, found));
                }
            },
            _ => self.propagate(split, state),
        }
    }

    fn follow_exits(&mut self, cycle: CycleId, exits: &[EdgeId], state: &mut State<'a, G>) {
        Joins::follow_exits(self, cycle, exits, state);
    }

    fn steps(&self) -> usize {
        Joins::steps(self)
    }

    fn leave(self, workspace: &mut Workspace) {
        workspace.joins = self.into_memory();
    }
}

pub(super) struct State<'a, G> {
    graph: &'a G,
    dfs: &'a DfsOrder,
    cycles: &'a CycleForest,
    program: &'a SsaProgram,
    /// The values by node, once something asks for them.
    by_node: OnceCell<Lists<Value>>,
    users: Users,
    outside: OutsideUses,
    exits: ExitTable,
    found_exits: Vec<(usize, (EdgeId, Split))>,
    mixed: MixedPhis,
    /// The label of each in-edge of the join at hand, with the number of the report it belongs to.
    edge_label: Vec<(u32, u32)>,
    report: u32,
    /// How many more steps may be spent on where divergent exits lead, and, by node, the number of the last walk to it.
    reach_budget: usize,
    walked: Vec<u32>,
    walks: u32,
    /// Divergent values in the order found, and how many of them have been followed.
    values: Vec<Value>,
    followed: usize,
    splits: VecDeque<Split>,
    new_exits: VecDeque<(CycleId, EdgeId)>,
    /// By cycle, the exits of branches that were postponed, all that ever were; the cycles where some are new.
    left_by: Vec<Vec<EdgeId>>,
    postponed: VecDeque<CycleId>,
    is_postponed: BitSet,
    split: Split,
    result: Uniformity,
}

impl<'a, G: Graph> State<'a, G> {
    fn new(
        graph: &'a G,
        dfs: &'a DfsOrder,
        cycles: &'a CycleForest,
        program: &'a SsaProgram,
        region: impl Fn(CycleId) -> Option<CycleId>,
        limits: &Limits,
        workspace: &mut Workspace,
    ) -> Self {
        // Nothing is known of cycles inside a region by themselves.
        let from = |c: Option<CycleId>| c.map(|c| region(c).unwrap_or(c));
        let mut changing = match cycles.is_empty() {
            true => Vec::new(),
            false => program.innermost_changing(cycles),
        };
        let memory = core::mem::take(workspace);
        let depth = |c: Option<CycleId>| c.map_or(0, |c| cycles.depth(c));
        for (own, other) in changing.iter_mut().zip(memory.changing.into_iter().flatten()) {
            if depth(other) < depth(*own) {
                *own = other;
            }
        }
        let users = memory.users.within(graph, dfs, program);
        State {
            outside: OutsideUses::new(program, cycles, &users, &changing, from, limits.near),
            users,
            exits: memory.exits.within(graph, cycles, from),
            found_exits: Vec::new(),
            mixed: memory.mixed.within(graph, dfs, program),
            edge_label: filled(memory.edge_label, (0, 0), graph.edge_count()),
            report: 0,
            reach_budget: limits.reach,
            walked: filled(memory.walked, 0, 0),
            walks: 0,
            values: filled(memory.values, Value(0), 0),
            followed: 0,
            // Nothing is left in these when an analysis ends.
            splits: memory.splits,
            new_exits: memory.new_exits,
            left_by: vec![Vec::new(); cycles.len()],
            postponed: VecDeque::new(),
            is_postponed: BitSet::new(cycles.len()),
            split: Split::Branch(graph.entry()),
            result: Uniformity {
                cycles: CycleForest::absent(),
                defined_at: Vec::new(),
                changing,
                divergent: BitSet::new(program.value_count()),
                // Most values are divergent, or few are; memory that is not written costs nothing.
                causes: Vec::with_capacity(program.value_count()),
                value_cause: vec![0; program.value_count()],
                branches: BitSet::new(graph.node_count()),
                branch_cause: vec![0; graph.node_count()],
                exits: Lists::absent(),
                reach: vec![Reach::Nowhere; cycles.len()],
                given_up: vec![None; cycles.len()],
                left_before: vec![None; cycles.len()],
                left_apart: vec![None; cycles.len()],
                splits: Vec::new(),
                join: vec![0; graph.node_count()],
                known: None,
            },
            graph,
            dfs,
            cycles,
            program,
            by_node: OnceCell::new(),
        }
    }

    fn finish(mut self, workspace: &mut Workspace) -> Uniformity {
        self.result.exits = Lists::group(self.cycles.len(), self.found_exits.iter().copied());
        if self.result.given_up.iter().any(|g| g.is_some()) {
            self.result.defined_at = self.program.values().map(|v| self.program.node(v)).collect();
        }
        let State { users, exits, mixed, edge_label, walked, values, splits, new_exits, .. } = self;
        let (order, joins) = (core::mem::take(&mut workspace.order), core::mem::take(&mut workspace.joins));
        *workspace = Workspace {
            order,
            joins,
            users,
            exits,
            mixed,
            edge_label,
            walked,
            values,
            splits,
            new_exits,
            changing: None,
        };
        self.result
    }

    /// Follows one fact; says whether there was one.
    fn step(&mut self, control: &mut impl Control<'a, G>, clock: &mut impl Clock) -> bool {
        if let Some(&v) = self.values.get(self.followed) {
            self.followed += 1;
            for i in self.users.of(v) {
                self.mark_user(self.users.get(i), Cause::Operand(v));
            }
        } else if let Some((cycle, exit)) = self.new_exits.pop_front() {
            self.leave_apart(cycle, exit);
        } else if let Some(split) = self.splits.pop_front() {
            self.split = split;
            clock.control(|| control.follow(split, self));
        } else if let Some(cycle) = self.postponed.pop_front() {
            // Last, so that as many as possible are followed together.
            self.is_postponed.remove(cycle.index());
            let mut exits = core::mem::take(&mut self.left_by[cycle.index()]);
            exits.sort_unstable();
            clock.control(|| control.follow_exits(cycle, &exits, self));
            self.left_by[cycle.index()] = exits;
        } else {
            return false;
        }
        true
    }

    fn mark(&mut self, value: Value, cause: Cause) {
        if self.program.rule(value) == Rule::AlwaysUniform || !self.result.divergent.insert(value.index()) {
            return;
        }
        self.result.causes.push(cause);
        self.result.value_cause[value.index()] = self.result.causes.len() as u32;
        self.values.push(value);
        if let Some(node) = self.program.node(value) {
            self.mixed.close(value, node);
        }
    }

    pub(super) fn mark_user(&mut self, user: User, cause: Cause) {
        match self.users.role(user) {
            Role::Plain(v) | Role::Phi(v, _) => self.mark(v, cause),
            Role::Terminator(node) => self.mark_branch(node, cause),
        }
    }

    fn mark_branch(&mut self, node: Node, cause: Cause) {
        let out = self.graph.out_edges(node);
        let known = &mut self.result.branch_cause[node.index()];
        if out.len() < 2 || *known != 0 {
            return;
        }
        self.result.causes.push(cause);
        *known = self.result.causes.len() as u32;
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

    /// Threads that left `cycle` in different iterations come together at `node`, having parted at the split at hand;
    /// but this is not said of any exit.
    #[cfg(feature = "baselines")]
    pub(super) fn leave_before(&mut self, cycle: CycleId, node: Node) {
        self.result.left_before[cycle.index()].get_or_insert(self.split);
        self.reach_from(cycle, node);
        self.mark_outside(cycle, None);
    }

    /// The values that are computed at `node`, by number.
    fn values_at(&self, node: Node) -> Vec<Value> {
        self.by_node.get_or_init(|| self.program.values_by_node()).get(node.index()).to_vec()
    }

    /// Marks the users, at nodes that `at` names, of the values that are computed at `node`.
    #[cfg(feature = "baselines")]
    pub(super) fn mark_users(
        &mut self,
        node: Node,
        at: impl Fn(Node) -> bool,
        cause: impl Fn(Value) -> Cause,
    ) {
        for v in self.values_at(node) {
            for user in self.users.of(v).map(|i| self.users.get(i)).collect::<Vec<User>>() {
                if self.users.node(self.program, user).is_some_and(&at) {
                    self.mark_user(user, cause(v));
                }
            }
        }
    }

    /// Threads that left `cycle` in different iterations come to `start` and what is behind it.
    fn reach_from(&mut self, cycle: CycleId, start: Node) {
        let c = cycle.index();
        let all = self.exits.is_complete(cycle);
        let reach = &mut self.result.reach[c];
        match reach {
            Reach::Everywhere => {}
            _ if all => *reach = Reach::Everywhere,
            // What is known is kept up to date, since the uses that were found divergent may be asked for again.
            Reach::Nodes(_) => {}
            _ if self.outside.is_empty(cycle) => *reach = Reach::Unknown,
            Reach::Nowhere | Reach::Unknown => *reach = Reach::Nodes(Vec::new()),
        }
        if let Reach::Nodes(nodes) = reach {
            if self.walked.is_empty() {
                self.walked.resize(self.graph.node_count(), 0);
            }
            self.walks += 1;
            nodes.iter().for_each(|n| self.walked[n.index()] = self.walks);
            self.reach_budget = self.reach_budget.saturating_sub(nodes.len());
            let mut insert = |n: Node| {
                let new = core::mem::replace(&mut self.walked[n.index()], self.walks) != self.walks;
                if new {
                    nodes.push(n);
                }
                new
            };
            extend_reach(self.graph, self.cycles, cycle, vec![start], &mut insert, &mut self.reach_budget);
            nodes.sort_unstable();
            if self.reach_budget == 0 {
                *reach = Reach::Everywhere;
            }
        }
    }

    /// Marks the uses outside `cycle` that threads reach which left it apart.
    fn mark_outside(&mut self, cycle: CycleId, exit: Option<EdgeId>) {
        let (cycles, program, users) = (self.cycles, self.program, &self.users);
        let (reach, exits, graph) = (&self.result.reach[cycle.index()], &self.exits, self.graph);
        let changing = &self.result.changing;
        let is_reached = |user: User| {
            let nodes = match reach {
                Reach::Nowhere | Reach::Unknown => return false,
                Reach::Everywhere => return true,
                Reach::Nodes(nodes) => nodes,
            };
            let at = match users.role(user) {
                Role::Plain(v) => program.node(v),
                Role::Terminator(node) => Some(node),
                Role::Phi(_, edge) => {
                    let source = graph.source(edge);
                    if cycles.contains(cycle, source) {
                        return exits.contains(cycles, cycle, edge);
                    }
                    Some(source)
                }
            };
            at.is_some_and(|n| nodes.binary_search(&n).is_ok())
        };
        let is_outside = |value: Value, user: User| {
            changing[value.index()].is_some_and(|c| cycles.contains_cycle(cycle, c))
                && users.node(program, user).is_some_and(|n| !cycles.contains(cycle, n))
        };
        let hit = self.outside.take(cycle, |u| is_outside(u.value, u.user), |u| is_reached(u.user));
        for u in hit {
            self.mark_user(u.user, Cause::Temporal { operand: u.value, cycle, exit });
        }
    }

    /// `node` is a join of the split at hand.
    fn note_join(&mut self, node: Node) {
        let join = &mut self.result.join[node.index()];
        if *join == 0 {
            let splits = &mut self.result.splits;
            if splits.last() != Some(&self.split) {
                splits.push(self.split);
            }
            *join = splits.len() as u32;
        }
    }

    fn changes_in(&self, value: Value, cycle: CycleId) -> bool {
        self.result.changing[value.index()].is_some_and(|c| self.cycles.contains_cycle(cycle, c))
    }

    /// Threads of the split at hand come together inside a region, or leave it.
    fn meet(&mut self, region: CycleId, found: &Inside) {
        found.joins.iter().for_each(|(join, edges)| self.join(*join, edges));
        if found.leaves {
            self.leave_region(region);
        }
    }

    /// Some of the threads of the split at hand leave the irreducible cycle around it, while others stay.
    fn leave_region(&mut self, cycle: CycleId) {
        let known = &mut self.result.left_apart[cycle.index()];
        if known.is_some() || self.result.given_up[cycle.index()].is_some() {
            return;
        }
        *known = Some(self.split);
        self.result.reach[cycle.index()] = Reach::Everywhere;
        self.mark_outside(cycle, None);
        self.splits.push_back(Split::Cycle(cycle));
    }

    pub(super) fn give_up(&mut self, cycle: CycleId, why: GivenUp) {
        let known = &mut self.result.given_up[cycle.index()];
        if known.is_some() {
            return;
        }
        *known = Some(why);
        let cycles = self.cycles;
        for &node in cycles.nodes(cycle) {
            for v in self.values_at(node) {
                if self.changes_in(v, cycle) {
                    self.mark(v, Cause::GivenUp(cycle));
                    self.mark_users_behind(cycle, v);
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
        if self.result.left_apart[cycle.index()].is_none() {
            self.splits.push_back(Split::Cycle(cycle));
        }
    }

    /// Marks the users outside `cycle` of an always-uniform value that changes in it: of such cycles inside a region no
    /// uses are listed.
    fn mark_users_behind(&mut self, cycle: CycleId, value: Value) {
        if self.program.rule(value) != Rule::AlwaysUniform {
            return;
        }
        for user in self.users.of(value).map(|i| self.users.get(i)).collect::<Vec<User>>() {
            let at = self.users.node(self.program, user);
            if at.is_some_and(|n| !self.cycles.contains(cycle, n)) {
                self.mark_user(user, Cause::Temporal { operand: value, cycle, exit: None });
            }
        }
    }
}

impl<G: Graph> JoinSink for State<'_, G> {
    fn is_settled(&self, node: Node) -> bool {
        !self.mixed.is_open(node)
    }

    fn wants_edges(&self, node: Node) -> bool {
        self.mixed.is_open(node)
    }

    fn join(&mut self, node: Node, edges: &[(EdgeId, u32)]) {
        self.note_join(node);
        if !self.mixed.is_open(node) {
            return;
        }
        self.report += 1;
        for &(e, label) in edges {
            self.edge_label[e.index()] = (self.report, label);
        }
        for i in 0..self.mixed.at(node).len() {
            let phi = self.mixed.at(node)[i];
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
        self.note_join(self.graph.target(edge));
        if self.exits.insert(self.cycles, cycle, edge) {
            self.found_exits.push((cycle.index(), (edge, self.split)));
            self.new_exits.push_back((cycle, edge));
        }
    }

    fn entered_apart(&mut self, cycle: CycleId) {
        self.give_up(cycle, GivenUp::EnteredApart(self.split));
    }

    fn is_known(&self, kind: Kind) -> bool {
        match kind {
            Kind::Node(node) => self.result.join[node.index()] != 0 && !self.mixed.is_open(node),
            Kind::Exit(edge) => self.exits.is_known(edge),
            Kind::Departure => true,
            Kind::Region(_) => false,
        }
    }

    fn postpone(&mut self, cycle: CycleId, exits: &[EdgeId]) -> bool {
        self.left_by[cycle.index()].extend_from_slice(exits);
        if self.is_postponed.insert(cycle.index()) {
            self.postponed.push_back(cycle);
        }
        true
    }

    fn blame(&mut self, exit: EdgeId) {
        self.split = Split::Branch(self.graph.source(exit));
    }
}

/// Inserts the nodes that are reached from `from` before control comes back to `cycle` or to the header of a
/// cycle around it; `insert` says whether a node is new. Takes the steps from `budget` and stops when it is used up.
pub(super) fn extend_reach<G: Graph>(
    graph: &G,
    cycles: &CycleForest,
    cycle: CycleId,
    from: Vec<Node>,
    insert: &mut impl FnMut(Node) -> bool,
    budget: &mut usize,
) {
    // Where such a header is reached, every value from inside the cycle has gone out of scope.
    let ends = |n: Node| {
        let own = cycles.innermost(n).filter(|&c| cycles.header(c) == n);
        cycles.contains(cycle, n)
            || own.is_some_and(|c| cycles.contains_cycle(c, cycle) && cycles.is_reducible(c))
    };
    let mut work = from;
    work.retain(|&n| !ends(n) && insert(n));
    while let Some(n) = work.pop() {
        let out = graph.out_edges(n);
        *budget = budget.saturating_sub(out.len() + 1);
        if *budget == 0 {
            return;
        }
        for t in graph.successors(n) {
            if !ends(t) && insert(t) {
                work.push(t);
            }
        }
    }
}
