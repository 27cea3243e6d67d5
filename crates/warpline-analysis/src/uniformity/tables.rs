//! What the fixed point looks up: who uses a value, where φs can differ, which edges leave which cycles.
//!
//! All tables are flat arrays, filled in a pass over the program or the graph. Those that concern cycles stay empty
//! where there are none.

use alloc::vec::Vec;

use super::{SsaProgram, Value};
use crate::bitset::BitSet;
use crate::cycles::{CycleForest, CycleId};
use crate::graph::{EdgeId, Graph, Node};
use crate::order::{DfsOrder, filled};

const NONE: u32 = u32::MAX;

/// Who uses a value, in 8 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct User {
    /// A value, or the number of values plus a node for a terminator.
    who: u32,
    /// The edge on which a φ takes it.
    edge: u32,
}

/// A user, taken apart.
#[derive(Clone, Copy, Debug)]
pub(super) enum Role {
    Plain(Value),
    Phi(Value, EdgeId),
    Terminator(Node),
}

/// The users of each value; uses by φs on edges that no thread takes and by unreachable branches are left out.
#[derive(Default)]
pub(super) struct Users {
    values: u32,
    starts: Vec<u32>,
    users: Vec<User>,
}

impl Users {
    /// The users of a program's values, in the memory of other ones.
    pub(super) fn within<G: Graph>(self, graph: &G, dfs: &DfsOrder, program: &SsaProgram) -> Self {
        let values = program.value_count();
        let everywhere = dfs.reachable_count() == graph.node_count();
        let live = |edge: u32| everywhere || edge == NONE || dfs.is_reachable(graph.source(EdgeId(edge)));
        let mut starts = filled(self.starts, 0, values + 1);
        let (bounds, operands) = program.flat_operands();
        for &(v, edge) in operands {
            starts[v.index()] += u32::from(live(edge));
        }
        for &n in dfs.pre_order() {
            program.terminator(n).iter().for_each(|v| starts[v.index()] += 1);
        }
        let mut total = 0;
        for start in &mut starts {
            total += *start;
            *start = total;
        }
        // From the last use to the first, so that each list ends up in order and `starts` at its beginning.
        let mut users = filled(self.users, User { who: 0, edge: NONE }, total as usize);
        let mut put = |v: Value, user: User| {
            let at = &mut starts[v.index()];
            *at -= 1;
            users[*at as usize] = user;
        };
        for &n in dfs.pre_order().iter().rev() {
            for &v in program.terminator(n).iter().rev() {
                put(v, User { who: values as u32 + n.0, edge: NONE });
            }
        }
        for who in (0..values).rev() {
            for &(v, edge) in operands[bounds[who] as usize..bounds[who + 1] as usize].iter().rev() {
                if live(edge) {
                    put(v, User { who: who as u32, edge });
                }
            }
        }
        Users { values: values as u32, starts, users }
    }

    /// The positions of a value's users, for [`get`](Self::get).
    #[inline]
    pub(super) fn of(&self, value: Value) -> core::ops::Range<usize> {
        self.starts[value.index()] as usize..self.starts[value.index() + 1] as usize
    }

    #[inline]
    pub(super) fn get(&self, position: usize) -> User {
        self.users[position]
    }

    #[inline]
    pub(super) fn role(&self, user: User) -> Role {
        match (user.who.checked_sub(self.values), user.edge) {
            (Some(node), _) => Role::Terminator(Node(node)),
            (None, NONE) => Role::Plain(Value(user.who)),
            (None, edge) => Role::Phi(Value(user.who), EdgeId(edge)),
        }
    }

    /// The node that must be reached for the use: that of the user, or the target of a φ's edge.
    #[inline]
    pub(super) fn node(&self, program: &SsaProgram, user: User) -> Option<Node> {
        match self.role(user) {
            Role::Plain(v) | Role::Phi(v, _) => program.node(v),
            Role::Terminator(node) => Some(node),
        }
    }
}

/// The φs whose operands are not all one value, by node.
#[derive(Default)]
pub(super) struct MixedPhis {
    /// Where the φs of a node begin, and where those of the last one end.
    starts: Vec<u32>,
    phis: Vec<Value>,
    /// By node: how many of them are not found divergent yet.
    open: Vec<u32>,
    members: BitSet,
}

impl MixedPhis {
    /// The φs of a program, in the memory of others.
    pub(super) fn within<G: Graph>(self, graph: &G, dfs: &DfsOrder, program: &SsaProgram) -> Self {
        let arrivals = |node: usize| {
            let taken = |&e: &EdgeId| dfs.is_reachable(graph.source(e)) && !program.is_never_taken(e);
            graph.in_edges(Node::new(node)).filter(taken).count()
        };
        let is_mixed = |node: usize, phi: Value| {
            let operands = || reachable_operands(graph, dfs, program, phi).map(|(v, _)| v);
            // A φ of one value and of itself is that value, unless it can begin as anything.
            let keeps = operands().any(|o| o == phi) && operands().count() == arrivals(node);
            let mut others = operands().filter(|&o| !keeps || o != phi);
            let first = others.next();
            others.any(|o| Some(o) != first)
        };
        let mut open = filled(self.open, 0, graph.node_count());
        let mut members = self.members;
        members.reset(program.value_count());
        let node_of = |phi: Value| program.node(phi).map_or(0, |node| node.index());
        for &phi in program.phis() {
            let node = node_of(phi);
            if is_mixed(node, phi) {
                open[node] += 1;
                members.insert(phi.index());
            }
        }
        let mut starts = filled(self.starts, 0, 0);
        starts.reserve(open.len() + 1);
        let mut total = 0;
        for &count in &open {
            total += count;
            starts.push(total);
        }
        starts.push(total);
        // From the last φ to the first, so that each list ends up in order and `starts` at its beginning.
        let mut phis = filled(self.phis, Value(0), total as usize);
        for &phi in program.phis().iter().rev().filter(|phi| members.contains(phi.index())) {
            let start = &mut starts[node_of(phi)];
            *start -= 1;
            phis[*start as usize] = phi;
        }
        MixedPhis { starts, phis, open, members }
    }

    #[inline]
    pub(super) fn at(&self, node: Node) -> &[Value] {
        &self.phis[self.starts[node.index()] as usize..self.starts[node.index() + 1] as usize]
    }

    /// Whether some of those at a node may still turn divergent.
    #[inline]
    pub(super) fn is_open(&self, node: Node) -> bool {
        self.open[node.index()] > 0
    }

    /// A value at `node` has turned divergent.
    #[inline]
    pub(super) fn close(&mut self, value: Value, node: Node) {
        if self.members.contains(value.index()) {
            self.open[node.index()] -= 1;
        }
    }
}

/// The operands of a φ on edges that threads can take.
pub(super) fn reachable_operands<'p, G: Graph>(
    graph: &'p G,
    dfs: &'p DfsOrder,
    program: &'p SsaProgram,
    phi: Value,
) -> impl Iterator<Item = (Value, EdgeId)> + 'p {
    let on_edges = program.operands(phi).filter_map(|(v, e)| e.map(|e| (v, e)));
    on_edges.filter(|&(_, e)| dfs.is_reachable(graph.source(e)))
}

/// Which exit edges of which cycles were found divergent: one bit for each pair.
#[derive(Default)]
pub(super) struct ExitTable {
    /// By edge: the position of the first of its bits, one for each cycle it leaves, and the depth of the innermost
    /// of these. After the last edge, where its bits end. Edges that are left out have none.
    bits: Vec<(u32, u32)>,
    seen: BitSet,
    /// By cycle, the number of its exit edges that are not found divergent.
    left: Vec<u32>,
}

impl ExitTable {
    /// The table of a graph, in the memory of another one. `from` says where the chain of cycles that an edge leaves
    /// begins, for the innermost cycle around its source.
    pub(super) fn within<G: Graph>(
        self,
        graph: &G,
        cycles: &CycleForest,
        from: impl Fn(Option<CycleId>) -> Option<CycleId>,
    ) -> Self {
        let ExitTable { mut bits, mut seen, left } = self;
        let mut left = filled(left, 0, cycles.len());
        bits.clear();
        let mut count = 0;
        if !cycles.is_empty() {
            for e in graph.edges() {
                let mut cycle = from(cycles.innermost(graph.source(e)));
                bits.resize(e.index(), (count, 0));
                bits.push((count, cycle.map_or(0, |c| cycles.depth(c))));
                while let Some(c) = cycle.filter(|&c| !cycles.contains(c, graph.target(e))) {
                    left[c.index()] += 1;
                    count += 1;
                    cycle = cycles.parent(c);
                }
            }
            bits.resize(graph.edge_count() + 1, (count, 0));
        }
        seen.reset(count as usize);
        ExitTable { bits, seen, left }
    }

    #[inline]
    fn bit(&self, cycles: &CycleForest, cycle: CycleId, edge: EdgeId) -> usize {
        let (first, innermost) = self.bits[edge.index()];
        (first + innermost - cycles.depth(cycle)) as usize
    }

    /// Notes an exit edge of a cycle; says whether it is new.
    #[inline]
    pub(super) fn insert(&mut self, cycles: &CycleForest, cycle: CycleId, edge: EdgeId) -> bool {
        let bit = self.bit(cycles, cycle, edge);
        let new = self.seen.insert(bit);
        self.left[cycle.index()] -= u32::from(new);
        new
    }

    #[inline]
    pub(super) fn contains(&self, cycles: &CycleForest, cycle: CycleId, edge: EdgeId) -> bool {
        self.seen.contains(self.bit(cycles, cycle, edge))
    }

    /// Whether an edge was found divergent for all cycles that it leaves.
    #[inline]
    pub(super) fn is_known(&self, edge: EdgeId) -> bool {
        let (first, end) = (self.bits[edge.index()].0, self.bits[edge.index() + 1].0);
        (first..end).all(|bit| self.seen.contains(bit as usize))
    }

    /// Whether all exit edges of a cycle were found divergent.
    #[inline]
    pub(super) fn is_complete(&self, cycle: CycleId) -> bool {
        self.left[cycle.index()] == 0
    }
}

/// A use of a value outside a cycle in which the value may change.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutsideUse {
    pub(super) value: Value,
    pub(super) user: User,
}

/// By cycle, the uses outside of values that may change in it, as far as they are not found divergent.
pub(super) struct OutsideUses {
    lists: Vec<OutsideUse>,
    /// By cycle: the first of its uses in `lists`, and how many are left.
    spans: Vec<(u32, u32)>,
    /// Uses that leave very many cycles. They are in no list.
    far: Vec<OutsideUse>,
}

impl OutsideUses {
    /// `from` as for [`ExitTable::within`], for the innermost cycle in which a value may change. Uses that leave more
    /// than `near` cycles are listed once and not by cycle.
    pub(super) fn new(
        program: &SsaProgram,
        cycles: &CycleForest,
        users: &Users,
        changing: &[Option<CycleId>],
        from: impl Fn(Option<CycleId>) -> Option<CycleId>,
        near: usize,
    ) -> Self {
        let mut found: Vec<(u32, OutsideUse)> = Vec::new();
        let mut far = Vec::new();
        let mut spans = vec![(0u32, 0u32); cycles.len()];
        for value in program.values().filter(|v| !cycles.is_empty() && changing[v.index()].is_some()) {
            let first = from(changing[value.index()]);
            for user in users.of(value).map(|i| users.get(i)) {
                let Some(at) = users.node(program, user) else { continue };
                let chain = core::iter::successors(first, |&c| cycles.parent(c));
                let before = found.len();
                for c in chain.take_while(|&c| !cycles.contains(c, at)) {
                    found.push((c.0, OutsideUse { value, user }));
                    if found.len() - before > near {
                        found.truncate(before);
                        far.push(OutsideUse { value, user });
                        break;
                    }
                }
                found[before..].iter().for_each(|&(c, _)| spans[c as usize].1 += 1);
            }
        }
        let mut next = 0;
        for span in &mut spans {
            span.0 = next;
            next += span.1;
        }
        let mut filled = vec![0u32; cycles.len()];
        let mut lists: Vec<OutsideUse> = found.iter().map(|&(_, u)| u).collect();
        for &(c, u) in &found {
            lists[(spans[c as usize].0 + filled[c as usize]) as usize] = u;
            filled[c as usize] += 1;
        }
        OutsideUses { lists, spans, far }
    }

    /// Whether no use of a value of the cycle is left.
    #[inline]
    pub(super) fn is_empty(&self, cycle: CycleId) -> bool {
        self.spans[cycle.index()].1 == 0 && self.far.is_empty()
    }

    /// Takes out the uses outside `cycle` for which `is_hit` holds.
    pub(super) fn take(
        &mut self,
        cycle: CycleId,
        is_outside: impl Fn(OutsideUse) -> bool,
        is_hit: impl Fn(OutsideUse) -> bool,
    ) -> Vec<OutsideUse> {
        let (start, len) = self.spans[cycle.index()];
        let list = &mut self.lists[start as usize..(start + len) as usize];
        let mut hit = Vec::new();
        let mut kept = 0;
        for i in 0..list.len() {
            if is_hit(list[i]) {
                hit.push(list[i]);
            } else {
                list[kept] = list[i];
                kept += 1;
            }
        }
        self.spans[cycle.index()].1 = kept as u32;
        self.far.retain(|&u| {
            let keep = !is_outside(u) || !is_hit(u);
            if !keep {
                hit.push(u);
            }
            keep
        });
        hit
    }
}
