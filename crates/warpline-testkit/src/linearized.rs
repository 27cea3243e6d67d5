//! Judges of partial linearization (paper 3) on bare graphs: what its theorems promise, checked by definition.
//!
//! A [`Kernel`] is a random reducible graph in the form that the algorithm asks for (unique latches, one exit, uniform
//! loops) with a choice of divergent branches. Its lanes are run one by one on G, each with decisions of its
//! own where branches are divergent and with common ones elsewhere; G_ℓ is walked once, with the common decisions.
//! Dominance, control dependence, loops and uniform predicates are found by deleting nodes and by the definitions
//! of the paper, not by the product's analyses.

use warpline_analysis::{CsrGraph, Graph, Node};
use warpline_vectorize::block_index::BlockIndex;
use warpline_vectorize::linearize::{Linearized, NewBranch};

use crate::graph_oracles::Dominance;
use crate::graphs;
use crate::rng::SplitMix64;

/// A natural loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The block that dominates all others.
    pub header: usize,
    /// The source of the back edge.
    pub latch: usize,
    /// Whether each block is inside.
    pub inside: Vec<bool>,
}

/// A graph in normal form with a choice of divergent branches that leaves all loops uniform.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The graph.
    pub graph: CsrGraph,
    /// By block: whether its branch is divergent. Never set for blocks with one successor.
    pub divergent: Vec<bool>,
    /// All loops; those around a block in any order.
    pub loops: Vec<Loop>,
    dominance: Dominance,
    /// Steps to the exit.
    distance: Vec<usize>,
}

/// What a check has seen.
#[derive(Copy, Clone, Debug, Default)]
pub struct Seen {
    /// Blocks with a uniform predicate that is not constant (Theorem 4.1).
    pub uniform_predicates: usize,
    /// Uniform edges that Theorem 4.5 speaks of.
    pub promised_edges: usize,
    /// Those of them whose block has a varying predicate.
    pub relative_edges: usize,
}

impl Kernel {
    /// A random kernel made from a reducible graph of at most `max_nodes` blocks.
    pub fn random(rng: &mut SplitMix64, max_nodes: usize) -> Kernel {
        let mut graph = graphs::reducible(rng, max_nodes);
        if rng.chance(1, 2) {
            // Loops leave little divergence around them, so half of the graphs get few.
            let dominance = Dominance::of(&graph);
            let mut edges = graphs::edge_list(&graph);
            edges.retain(|&(s, t)| !dominance.dominates(t, s) || rng.chance(1, 4));
            graph = graphs::build(graph.node_count(), edges);
        }
        let graph = normal_form(&graph, rng);
        let rate = rng.between(2, 5);
        let divergent = graph.nodes().map(|_| rng.chance(rate, 6)).collect();
        Kernel::new(graph, divergent)
    }

    /// Takes a graph in normal form. Branches that would make a loop divergent become uniform.
    pub fn new(graph: CsrGraph, mut divergent: Vec<bool>) -> Kernel {
        for b in graph.nodes() {
            let mut targets = graph.successors(b);
            let first = targets.next();
            divergent[b.index()] &= targets.any(|t| Some(t) != first);
        }
        let dominance = Dominance::of(&graph);
        let loops = natural_loops(&graph, &dominance);
        let distance = distances(&graph);
        let mut kernel = Kernel { graph, divergent, loops, dominance, distance };
        while kernel.make_a_loop_uniform() {}
        kernel
    }

    /// Takes the graph of a kernel whose loops are uniform already.
    ///
    /// # Errors
    /// If there is a divergent loop.
    pub fn of_uniform_loops(graph: CsrGraph, divergent: Vec<bool>) -> Result<Kernel, String> {
        let kernel = Kernel::new(graph, divergent.clone());
        let branches =
            |b: &Node| kernel.graph.successors(*b).any(|t| Some(t) != kernel.graph.successors(*b).next());
        let changed = kernel
            .graph
            .nodes()
            .find(|b| divergent[b.index()] && branches(b) && !kernel.divergent[b.index()]);
        match changed {
            Some(b) => Err(format!("the branch of {b:?} lets lanes leave a loop apart")),
            None => Ok(kernel),
        }
    }

    /// Whether the edge closes a loop.
    pub fn is_back_edge(&self, from: usize, to: usize) -> bool {
        self.loops.iter().any(|l| l.header == to && l.inside[from])
    }

    fn edges(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        self.graph.nodes().flat_map(move |b| {
            let to = move |(k, t): (usize, Node)| (b.index(), k, t.index());
            self.graph.successors(b).enumerate().map(to)
        })
    }

    /// Makes uniform what keeps a lane's decision to leave a loop from being that of all lanes in the loop. False if
    /// there is nothing left to do.
    fn make_a_loop_uniform(&mut self) -> bool {
        let mut guilty = Vec::new();
        for l in &self.loops {
            let region = Region::dominated_by(self, l.header);
            for (from, _, _) in self.edges().filter(|&(from, _, to)| l.inside[from] && !l.inside[to]) {
                guilty.extend(region.varying_causes(self, from));
            }
        }
        for &b in &guilty {
            self.divergent[b] = false;
        }
        !guilty.is_empty()
    }
}

/// A part of the graph with the control dependences in it.
struct Region {
    /// By block: the edges it is control dependent on.
    depends: Vec<Vec<(usize, usize)>>,
}

impl Region {
    /// The dominance region G^d of Def. 4.3, within an iteration of the loops around *d*: a latch leads to the exits
    /// of its loop instead of the header, since its lanes will leave some day. The region of the entry is the whole
    /// graph.
    fn dominated_by(kernel: &Kernel, d: usize) -> Region {
        let n = kernel.graph.node_count();
        let mut edges: Vec<(usize, usize)> = Vec::new();
        for (from, _, to) in kernel.edges().filter(|&(from, _, _)| kernel.dominance.dominates(d, from)) {
            match kernel.loops.iter().find(|l| l.header == to && l.inside[from]) {
                None => edges.push((from, to)),
                Some(l) => {
                    let leaves = kernel.edges().filter(|&(a, _, b)| l.inside[a] && !l.inside[b]);
                    edges.extend(leaves.map(|(_, _, b)| (from, b)));
                }
            }
        }
        let mut member = vec![false; n];
        let mut ends = vec![true; n];
        for &(from, to) in &edges {
            member[from] = true;
            member[to] = true;
            ends[from] = false;
        }
        // ends_without[a][b]: a complete path from b avoids a.
        let mut ends_without = vec![vec![false; n]; n];
        for a in (0..n).filter(|&a| member[a]) {
            let reach = &mut ends_without[a];
            for b in (0..n).filter(|&b| member[b] && ends[b] && b != a) {
                reach[b] = true;
            }
            let mut changed = true;
            while std::mem::take(&mut changed) {
                for &(from, to) in &edges {
                    if from != a && reach[to] && !reach[from] {
                        reach[from] = true;
                        changed = true;
                    }
                }
            }
        }
        let on = |k: usize, a: usize, b: usize| !ends_without[k][b] && ends_without[k][a];
        let depends =
            (0..n).map(|k| edges.iter().copied().filter(|&(a, b)| member[k] && on(k, a, b)).collect());
        Region { depends: depends.collect() }
    }

    /// Which blocks have a uniform predicate: all edges they depend on leave uniform branches in such blocks.
    fn uniform(&self, divergent: &[bool]) -> Vec<bool> {
        let mut uniform = vec![true; divergent.len()];
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (k, edges) in self.depends.iter().enumerate() {
                if uniform[k] && edges.iter().any(|&(a, _)| divergent[a] || !uniform[a]) {
                    uniform[k] = false;
                    changed = true;
                }
            }
        }
        uniform
    }

    /// The divergent branches that `b`'s own branch or predicate depends on.
    fn varying_causes(&self, kernel: &Kernel, b: usize) -> Vec<usize> {
        let mut seen = vec![false; kernel.divergent.len()];
        let mut work = vec![b];
        while let Some(x) = work.pop() {
            if !std::mem::replace(&mut seen[x], true) {
                work.extend(self.depends[x].iter().map(|&(a, _)| a));
            }
        }
        (0..seen.len()).filter(|&x| seen[x] && kernel.divergent[x]).collect()
    }
}

/// Gives a reducible graph a block before everything, one exit that every block reaches, and to each loop a
/// preheader and a single back edge.
pub fn normal_form(graph: &CsrGraph, rng: &mut SplitMix64) -> CsrGraph {
    let mut edges: Vec<(usize, usize)> = vec![(0, 1)];
    edges.extend(graphs::edge_list(graph).into_iter().map(|(s, t)| (s + 1, t + 1)));
    let mut count = graph.node_count() + 1;
    let exit = count;
    count += 1;
    let ends: Vec<usize> = (0..exit).filter(|&b| edges.iter().all(|&(s, _)| s != b)).collect();
    edges.extend(ends.into_iter().map(|b| (b, exit)));
    let dominance = Dominance::of(&graphs::build(count, edges.clone()));
    // Loops without exits get one at a back edge.
    loop {
        let mut lost: Vec<bool> = vec![true; count];
        lost[exit] = false;
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for &(s, t) in &edges {
                changed |= lost[s] && !lost[t];
                lost[s] &= lost[t];
            }
        }
        match edges.iter().find(|&&(s, t)| lost[s] && dominance.dominates(t, s)) {
            Some(&(s, _)) => edges.push((s, exit)),
            None => break,
        }
    }
    let headers: Vec<usize> =
        (0..exit).filter(|&h| edges.iter().any(|&(s, t)| t == h && dominance.dominates(h, s))).collect();
    let loops = natural_loops(&graphs::build(count, edges.clone()), &dominance);
    let original = edges.len();
    for h in headers {
        let is_back = |&(s, t): &(usize, usize)| t == h && dominance.dominates(h, s);
        let (preheader, latch) = (count, count + 1);
        let back: Vec<(usize, usize)> = edges[..original].iter().copied().filter(is_back).collect();
        // A latch may lie in no inner loop.
        let in_inner = |&(s, _): &(usize, usize)| {
            loops.iter().any(|l| l.header != h && dominance.dominates(h, l.header) && l.inside[s])
        };
        let merge = back.len() > 1 || back.iter().any(in_inner) || rng.chance(1, 2);
        count += 1 + usize::from(merge);
        for e in &mut edges[..original] {
            if !is_back(e) && e.1 == h {
                e.1 = preheader;
            } else if is_back(e) && merge {
                e.1 = latch;
            }
        }
        edges.push((preheader, h));
        if merge {
            edges.push((latch, h));
        }
    }
    graphs::build(count, edges)
}

fn natural_loops(graph: &CsrGraph, dominance: &Dominance) -> Vec<Loop> {
    let edges = graphs::edge_list(graph);
    let back = edges.iter().filter(|&&(s, t)| dominance.dominates(t, s));
    back.map(|&(latch, header)| {
        let mut inside = vec![false; graph.node_count()];
        inside[header] = true;
        let mut work = vec![latch];
        while let Some(b) = work.pop() {
            if !std::mem::replace(&mut inside[b], true) {
                work.extend(graph.predecessors(Node::new(b)).map(Node::index));
            }
        }
        Loop { header, latch, inside }
    })
    .collect()
}

fn distances(graph: &CsrGraph) -> Vec<usize> {
    let far = graph.node_count();
    let mut distance: Vec<usize> =
        graph.nodes().map(|b| if graph.out_edges(b).is_empty() { 0 } else { far }).collect();
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for (s, t) in graphs::edge_list(graph) {
            if distance[t] + 1 < distance[s] {
                distance[s] = distance[t] + 1;
                changed = true;
            }
        }
    }
    distance
}

/// The index is topological but for back edges; a loop is contiguous, its header first and its latch last; and on
/// each loop level, what a block dominates is contiguous (outside the inner loop that the block is in, if it is in
/// one and not its header).
///
/// # Errors
/// What is wrong.
pub fn check_index(kernel: &Kernel, index: &BlockIndex) -> Result<(), String> {
    let position = |b: usize| index.position(Node::new(b)) as usize;
    let n = kernel.graph.node_count();
    let mut sorted: Vec<usize> = index.order().iter().map(|b| b.index()).collect();
    sorted.sort_unstable();
    if sorted != (0..n).collect::<Vec<_>>() {
        return Err("the index is no permutation of the blocks".into());
    }
    for (from, _, to) in kernel.edges() {
        if !kernel.is_back_edge(from, to) && position(from) >= position(to) {
            return Err(format!("edge {from}→{to} goes backwards in the index"));
        }
    }
    let contiguous = |set: &dyn Fn(usize) -> bool| {
        let positions: Vec<usize> = (0..n).filter(|&b| set(b)).map(position).collect();
        let (min, max) = (positions.iter().min(), positions.iter().max());
        min.zip(max).is_none_or(|(min, max)| max - min + 1 == positions.len())
    };
    for l in &kernel.loops {
        if !contiguous(&|b| l.inside[b]) {
            return Err(format!("the loop of {} is not contiguous", l.header));
        }
        let inside = || (0..n).filter(|&b| l.inside[b]);
        if inside().any(|b| position(b) < position(l.header) || position(b) > position(l.latch)) {
            return Err(format!("header {} or latch {} is not at its end of the loop", l.header, l.latch));
        }
    }
    let size = |l: &&Loop| l.inside.iter().filter(|&&x| x).count();
    let everything = vec![true; n];
    for level in kernel.loops.iter().map(|l| &l.inside).chain([&everything]) {
        let blocks = level.iter().filter(|&&x| x).count();
        for d in (0..n).filter(|&d| level[d]) {
            // The greatest loop of this level around d; a block that is its header stands for all of it.
            let inner = kernel.loops.iter().filter(|l| l.inside[d] && size(l) < blocks).max_by_key(size);
            let apart = |b: usize| inner.is_some_and(|l| l.header != d && l.inside[b]);
            if !contiguous(&|b| level[b] && !apart(b) && kernel.dominance.dominates(d, b)) {
                return Err(format!("what {d} dominates on a loop level is not contiguous"));
            }
        }
    }
    Ok(())
}

/// No branch appears, divergent ones go, what G dominates G_ℓ dominates, and the edges of Theorem 4.5 are there.
///
/// # Errors
/// What is wrong.
pub fn check_graph(kernel: &Kernel, result: &Linearized) -> Result<Seen, String> {
    let n = kernel.graph.node_count();
    let mut edges = Vec::new();
    for b in kernel.graph.nodes() {
        let old = kernel.graph.out_edges(b).len();
        match &result.branches[b.index()] {
            NewBranch::Folded(_) if !kernel.divergent[b.index()] => {
                return Err(format!("the uniform branch of {b:?} is folded"));
            }
            NewBranch::Kept(t) if kernel.divergent[b.index()] || t.len() != old => {
                return Err(format!("{b:?} has {} edges instead of {old}, or is divergent", t.len()));
            }
            _ => {}
        }
        edges.extend(result.targets(b).iter().map(|t| (b.index(), t.index())));
    }
    let dominance = Dominance::of(&graphs::build(n, edges));
    for b in 0..n {
        if !dominance.is_reachable(b) {
            return Err(format!("{b} cannot be reached any more"));
        }
        if let Some(a) = (0..n).find(|&a| kernel.dominance.dominates(a, b) && !dominance.dominates(a, b)) {
            return Err(format!("{a} does not dominate {b} any more"));
        }
    }
    check_promised_edges(kernel, result)
}

/// Theorem 4.5, for every edge and every dominator.
fn check_promised_edges(kernel: &Kernel, result: &Linearized) -> Result<Seen, String> {
    let mut seen = Seen::default();
    let n = kernel.graph.node_count();
    let entry = kernel.graph.entry().index();
    let whole = Region::dominated_by(kernel, entry);
    let uniform = whole.uniform(&kernel.divergent);
    seen.uniform_predicates = (0..n).filter(|&b| uniform[b] && !whole.depends[b].is_empty()).count();
    let regions: Vec<Vec<bool>> =
        (0..n).map(|d| Region::dominated_by(kernel, d).uniform(&kernel.divergent)).collect();
    for (b, k, y) in kernel.edges().filter(|&(b, _, _)| !kernel.divergent[b]) {
        let relative = (0..n).find(|&d| {
            let dominates = kernel.dominance.dominates(d, b) && d != y && kernel.dominance.dominates(d, y);
            dominates && regions[d][b]
        });
        if !uniform[b] && relative.is_none() {
            continue;
        }
        seen.promised_edges += 1;
        seen.relative_edges += usize::from(!uniform[b]);
        if result.targets(Node::new(b)).get(k) != Some(&Node::new(y)) {
            return Err(format!(
                "edge {b}→{y} is uniform relative to {:?} and was not preserved",
                relative.unwrap_or(entry)
            ));
        }
    }
    Ok(seen)
}

/// A block in an iteration of each loop around it.
type Visit = (usize, Vec<u32>);

/// A walk over the blocks of a kernel that counts iterations.
struct Walk<'a> {
    kernel: &'a Kernel,
    seed: u64,
    counts: Vec<u32>,
}

impl<'a> Walk<'a> {
    fn new(kernel: &'a Kernel, seed: u64) -> Walk<'a> {
        Walk { kernel, seed, counts: vec![0; kernel.loops.len()] }
    }

    fn iterations(&self, b: usize) -> Vec<u32> {
        let around = self.kernel.loops.iter().zip(&self.counts).filter(|(l, _)| l.inside[b]);
        around.map(|(_, &c)| c).collect()
    }

    /// Which edge is taken: all lanes (`lane` is `None`) or one. After some iterations, the way out.
    fn decide(&self, b: usize, lane: Option<u64>) -> usize {
        let targets: Vec<usize> = self.kernel.graph.successors(Node::new(b)).map(Node::index).collect();
        let iterations = self.iterations(b);
        if iterations.iter().any(|&c| c >= 2) {
            let nearest = (0..targets.len()).min_by_key(|&k| self.kernel.distance[targets[k]]);
            return nearest.unwrap_or(0);
        }
        let mut rng = SplitMix64::new(self.seed ^ ((b as u64) << 32));
        for x in iterations.iter().map(|&c| u64::from(c)).chain([lane.map_or(0, |l| l + 1)]) {
            rng = SplitMix64::new(rng.next_u64() ^ x);
        }
        rng.below(targets.len())
    }

    fn go(&mut self, from: usize, to: usize) {
        for (l, count) in self.kernel.loops.iter().zip(&mut self.counts) {
            if l.header == to {
                *count = if l.inside[from] { *count + 1 } else { 0 };
            }
        }
    }

    /// The visits until the exit. `next` says where control goes from a block.
    fn visits(mut self, next: impl Fn(&Walk<'_>, usize) -> Option<usize>) -> Result<Vec<Visit>, String> {
        let mut at = self.kernel.graph.entry().index();
        let mut visits = Vec::new();
        loop {
            visits.push((at, self.iterations(at)));
            if visits.len() > 100_000 {
                return Err("a walk does not end".into());
            }
            let Some(to) = next(&self, at) else { return Ok(visits) };
            let enters = |l: &&Loop| l.inside[to] && !l.inside[at] && l.header != to;
            if let Some(l) = self.kernel.loops.iter().find(enters) {
                return Err(format!("{at}→{to} enters the loop of {} beside its header", l.header));
            }
            self.go(at, to);
            at = to;
        }
    }
}

/// Runs `lanes` lanes on G and walks G_ℓ, with decisions drawn from a seed. The walk embeds the path of each lane,
/// iteration by iteration (Theorem 3.2), and comes by a block with a uniform predicate iff the predicate is true
/// (Theorem 4.1).
///
/// # Errors
/// What is wrong.
pub fn check_run(kernel: &Kernel, result: &Linearized, lanes: u64, seed: u64) -> Result<(), String> {
    let walk = Walk::new(kernel, seed).visits(|walk, b| {
        let targets = result.targets(Node::new(b));
        let kept = matches!(result.branches[b], NewBranch::Kept(_)) && targets.len() > 1;
        let k = if kept { walk.decide(b, None) } else { 0 };
        targets.get(k).map(|t| t.index())
    })?;
    let mut paths = Vec::new();
    for lane in 0..lanes {
        let path = Walk::new(kernel, seed).visits(|walk, b| {
            let edges = kernel.graph.out_edges(Node::new(b));
            let lane = kernel.divergent[b].then_some(lane);
            (!edges.is_empty()).then(|| kernel.graph.target(edges[walk.decide(b, lane)]).index())
        })?;
        let mut rest = walk.iter();
        if let Some(missing) = path.iter().find(|&v| !rest.any(|w| w == v)) {
            return Err(format!(
                "lane {lane} comes to {missing:?}, the walk {walk:?} does not (in this order)"
            ));
        }
        paths.push(path);
    }
    let uniform = Region::dominated_by(kernel, kernel.graph.entry().index()).uniform(&kernel.divergent);
    for visit in walk.iter().filter(|v| uniform[v.0]) {
        if let Some(lane) = paths.iter().position(|p| !p.contains(visit)) {
            return Err(format!(
                "{visit:?} has a uniform predicate; the walk comes by and lane {lane} does not"
            ));
        }
    }
    Ok(())
}
