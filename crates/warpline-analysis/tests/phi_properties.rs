//! φ placement against the join sets by maximum flow (paper 5, Section 2).
//!
//! `WARPLINE_GRAPHS` is the number of random graphs, `WARPLINE_SEED` the first one's seed. With 5,000 graphs or more,
//! all graphs with four nodes are checked as well; otherwise one in a hundred.

use std::collections::BTreeSet;
use std::ops::Range;

use warpline_analysis::phi_placement::dominance_frontiers::{cytron, sreedhar_gao};
use warpline_analysis::phi_placement::{
    Accesses, Dominators, Placement, Pruning, braun, precise, reaching_definitions,
};
use warpline_analysis::{CsrGraph, Graph, Node};
use warpline_testkit::graph_oracles::is_reducible;
use warpline_testkit::graphs;
use warpline_testkit::phi_oracles::{iterated_join_sets, live_nodes};
use warpline_testkit::rng::SplitMix64;

/// The seeds to run: from `WARPLINE_SEED`, as many as `WARPLINE_GRAPHS` says.
fn seeds(first: u64, count: u64) -> Range<u64> {
    let first = setting("WARPLINE_SEED").unwrap_or(first);
    first..first + setting("WARPLINE_GRAPHS").unwrap_or(count)
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|n| n.parse().ok())
}

/// A variable as lists of numbers.
#[derive(Clone, Debug)]
struct Variable {
    definitions: Vec<usize>,
    exposed: Vec<usize>,
    on_entry: bool,
}

fn accesses(graph: &CsrGraph, variables: &[Variable]) -> Accesses {
    let pairs = |list: fn(&Variable) -> &Vec<usize>| {
        let each = move |(x, v)| list(v).iter().map(move |&n| (x, Node::new(n)));
        variables.iter().enumerate().flat_map(each)
    };
    let on_entry = (0..variables.len()).filter(|&x| variables[x].on_entry);
    let (nodes, definitions, exposed) =
        (graph.node_count(), pairs(|v| &v.definitions), pairs(|v| &v.exposed));
    Accesses::new(nodes, variables.len(), definitions, exposed, on_entry).expect("nodes of the graph")
}

fn of(placement: &Placement, variable: usize) -> Vec<usize> {
    placement.of(variable).iter().map(|n| n.index()).collect()
}

const PRUNINGS: [Pruning; 3] = [Pruning::Minimal, Pruning::SemiPruned, Pruning::Pruned];

/// A way to place φs: its name, what it claims, and itself.
type Way = (&'static str, Claim, fn(&CsrGraph, &Accesses, Pruning) -> Placement);

#[derive(Clone, Copy, PartialEq)]
enum Claim {
    /// J⁺(S) for the definitions as they are.
    Precise,
    /// J⁺(S) with every variable defined on entry.
    DefinedOnEntry,
}

/// All that takes a [`Pruning`].
const WAYS: [Way; 5] = [
    ("cytron", Claim::DefinedOnEntry, |g, a, p| cytron(&Dominators::of(g), a, p)),
    ("precise", Claim::Precise, |g, a, p| precise::place(&Dominators::of(g), a, p)),
    ("precise by dominators", Claim::Precise, |g, a, p| {
        precise::place_by_dominators(&Dominators::of(g), a, p)
    }),
    ("precise by walks", Claim::Precise, |g, a, p| precise::place_by_walks(&Dominators::of(g), a, p)),
    ("sreedhar_gao", Claim::DefinedOnEntry, |g, a, p| sreedhar_gao(&Dominators::of(g), a, p)),
];

/// What a variable needs, by the oracle.
struct Truth {
    precise: Vec<usize>,
    defined_on_entry: Vec<usize>,
    live: Vec<usize>,
}

impl Truth {
    fn of(graph: &CsrGraph, v: &Variable) -> Result<Truth, String> {
        let join_sets = |on_entry| {
            let mut sets = iterated_join_sets(graph, &v.definitions, on_entry);
            // Weiss 1992: the join set is closed already.
            match sets.len() {
                2 => Ok(sets.remove(0)),
                _ => Err(format!("join sets grow: {sets:?} for {v:?}, on entry: {on_entry}")),
            }
        };
        let defined_on_entry = join_sets(true)?;
        let precise = if v.on_entry { defined_on_entry.clone() } else { join_sets(false)? };
        Ok(Truth { precise, defined_on_entry, live: live_nodes(graph, &v.definitions, &v.exposed) })
    }

    fn wanted(&self, v: &Variable, claim: Claim, pruning: Pruning) -> Vec<usize> {
        let all = match claim {
            Claim::Precise => &self.precise,
            Claim::DefinedOnEntry => &self.defined_on_entry,
        };
        let keep = |n: &usize| match pruning {
            Pruning::Minimal => true,
            Pruning::SemiPruned => !v.exposed.is_empty(),
            Pruning::Pruned => self.live.contains(n),
        };
        all.iter().copied().filter(keep).collect()
    }
}

/// Every placement of every variable is what it claims to be.
fn placements_hold(graph: &CsrGraph, variables: &[Variable], seed: u64) -> Result<(), String> {
    let accesses = accesses(graph, variables);
    let truths = variables.iter().map(|v| Truth::of(graph, v)).collect::<Result<Vec<_>, _>>()?;
    let check = |name: &str, placement: Placement, claim, pruning| {
        for (x, (v, truth)) in variables.iter().zip(&truths).enumerate() {
            let (found, wanted) = (of(&placement, x), truth.wanted(v, claim, pruning));
            if found != wanted {
                return Err(format!("{name}, {pruning:?}: {found:?}, not {wanted:?} for {v:?}"));
            }
        }
        Ok(())
    };
    for (name, claim, place) in WAYS {
        for pruning in PRUNINGS {
            check(name, place(graph, &accesses, pruning), claim, pruning)?;
        }
    }
    check("braun", braun::place(graph, &accesses), Claim::DefinedOnEntry, Pruning::Pruned)?;
    let placement = reaching_definitions::place(graph, &accesses);
    check("reaching definitions", placement, Claim::Precise, Pruning::Minimal)?;
    let mut rng = SplitMix64::new(seed);
    for _ in 0..2 {
        let placement = reaching_definitions::place_in_order(graph, &accesses, |count| rng.below(count));
        check("reaching definitions in random order", placement, Claim::Precise, Pruning::Minimal)?;
    }
    Ok(())
}

/// What reaches the beginning of a node of definitions and φs, both in `sources`: the nodes that hold it at their end.
fn reaching(graph: &CsrGraph, sources: &[usize], node: Node) -> Vec<Node> {
    let mut seen = vec![false; graph.node_count()];
    let mut found = Vec::new();
    let mut work: Vec<Node> = graph.predecessors(node).collect();
    while let Some(n) = work.pop() {
        if !std::mem::replace(&mut seen[n.index()], true) {
            match sources.contains(&n.index()) {
                true => found.push(n),
                false => work.extend(graph.predecessors(n)),
            }
        }
    }
    found
}

/// With φs, aliases and dominance every node knows the one definition that reaches it.
fn aliases_hold(graph: &CsrGraph, variables: &[Variable], pruning: Pruning) -> Result<(), String> {
    let accesses = accesses(graph, variables);
    let dominators = Dominators::of(graph);
    let (placement, aliases) = precise::place_with_aliases(&dominators, &accesses, pruning);
    if placement != precise::place(&dominators, &accesses, pruning) {
        return Err("the placement is another one with aliases".to_string());
    }
    let dom = dominators.tree();
    for (x, v) in variables.iter().enumerate().filter(|(_, v)| !v.on_entry) {
        let live = live_nodes(graph, &v.definitions, &v.exposed);
        let phis = of(&placement, x);
        let mut sources: Vec<usize> = v.definitions.iter().chain(&phis).copied().collect();
        sources.retain(|&n| dom.is_reachable(Node::new(n)));
        for n in graph.nodes().filter(|&n| dom.is_reachable(n) && !phis.contains(&n.index())) {
            if pruning == Pruning::Pruned && !live.contains(&n.index()) {
                continue;
            }
            let mut at = n;
            let held = loop {
                if let Some(alias) = aliases.iter().find(|a| a.variable == x && a.node == at) {
                    break Some(alias.definition);
                }
                match dom.idom(at) {
                    Some(above) if sources.contains(&above.index()) => break Some(above),
                    Some(above) => at = above,
                    None => break None,
                }
            };
            let reaching = reaching(graph, &sources, n);
            if reaching.iter().any(|&d| Some(d) != held) {
                return Err(format!("{pruning:?}, {n}: {held:?}, but {reaching:?} for {v:?}, φs {phis:?}"));
            }
        }
    }
    Ok(())
}

#[test]
fn aliases_are_what_reaches_where_no_definition_dominates() {
    let mut aliases_seen = 0;
    for seed in seeds(0, 3_000) {
        let mut rng = SplitMix64::new(seed);
        let graph = match seed % 3 {
            0 => graphs::reducible(&mut rng, 20),
            _ => graphs::arbitrary(&mut rng, 20),
        };
        let variables = random_variables(&mut rng, graph.node_count());
        for pruning in [Pruning::Minimal, Pruning::Pruned] {
            if let Err(message) = aliases_hold(&graph, &variables, pruning) {
                panic!("seed {seed}: {message}, edges {:?}", graphs::edge_list(&graph));
            }
        }
        let dominators = Dominators::of(&graph);
        aliases_seen +=
            precise::place_with_aliases(&dominators, &accesses(&graph, &variables), Pruning::Minimal).1.len();
    }
    println!("{aliases_seen} aliases");
    assert!(aliases_seen > 3_000, "too few aliases");
}

fn random_variables(rng: &mut SplitMix64, nodes: usize) -> Vec<Variable> {
    let variable = |_| {
        let mut some = |often: usize| (0..nodes).filter(|_| rng.chance(1, often)).collect::<Vec<usize>>();
        let (definitions, exposed) = (some(4), some(3));
        Variable { definitions, exposed, on_entry: rng.chance(1, 2) }
    };
    (0..4).map(variable).collect()
}

#[test]
fn placements_are_join_sets_on_random_graphs() {
    let (mut graphs_seen, mut irreducible, mut variables_seen, mut superfluous) = (0, 0, 0, 0);
    for seed in seeds(0, 1_500) {
        let mut rng = SplitMix64::new(seed);
        let graph = match seed % 3 {
            0 => graphs::reducible(&mut rng, 14),
            _ => graphs::arbitrary(&mut rng, 14),
        };
        let variables = random_variables(&mut rng, graph.node_count());
        graphs_seen += 1;
        irreducible += usize::from(!is_reducible(&graph));
        variables_seen += variables.len();
        superfluous += variables
            .iter()
            .filter(|v| !v.on_entry)
            .filter(|v| {
                let sets = |on_entry| iterated_join_sets(&graph, &v.definitions, on_entry).remove(0);
                sets(false) != sets(true)
            })
            .count();
        let check = |g: &CsrGraph| placements_hold(g, &variables, seed);
        if let Err(message) = check(&graph) {
            let (small, message) = graphs::shrink(&graph, message, check);
            panic!(
                "seed {seed}: {message}\n{} nodes, edges {:?}",
                small.node_count(),
                graphs::edge_list(&small)
            );
        }
    }
    println!(
        "{graphs_seen} graphs, {irreducible} irreducible; {variables_seen} variables, {superfluous} with \
         superfluous φs by frontiers"
    );
    assert!(irreducible * 5 >= graphs_seen, "too few irreducible graphs");
    assert!(superfluous * 10 >= variables_seen, "too few variables for which the entry matters");
}

#[test]
fn placements_are_join_sets_on_all_small_graphs() {
    let every = if setting("WARPLINE_GRAPHS").is_some_and(|n| n >= 5_000) { 1 } else { 100 };
    for nodes in 1..=4usize {
        let step = if nodes == 4 { every } else { 1 };
        for (number, graph) in graphs::all_simple(nodes).enumerate().step_by(step) {
            let mut rng = SplitMix64::new(number as u64);
            let subset = |bits: usize| (0..nodes).filter(|n| bits >> n & 1 != 0).collect::<Vec<usize>>();
            let variables: Vec<Variable> = (0..2 << nodes)
                .map(|i| Variable {
                    definitions: subset(i >> 1),
                    exposed: subset(rng.below(1 << nodes)),
                    on_entry: i & 1 != 0,
                })
                .collect();
            if let Err(message) = placements_hold(&graph, &variables, number as u64) {
                panic!("{nodes} nodes, edges {:?}: {message}", graphs::edge_list(&graph));
            }
        }
    }
}

/// A deep graph with `nodes` nodes: all edges are short, some lead backwards, so that most cycles are irreducible.
fn deep(rng: &mut SplitMix64, nodes: usize) -> CsrGraph {
    let mut edges: Vec<(usize, usize)> = (1..nodes).map(|n| (n - rng.between(1, n.min(3)), n)).collect();
    for _ in 0..rng.below(nodes) {
        let (from, by) = (rng.below(nodes), rng.between(1, 6));
        let backwards = rng.chance(1, 3);
        let to = if backwards { from.saturating_sub(by) } else { (from + by).min(nodes - 1) };
        edges.push((from, to));
    }
    graphs::build(nodes, edges)
}

/// Where the oracle would take too long, the placements are held against each other.
#[test]
fn placements_agree_on_deep_graphs() {
    let mut phis = 0;
    for seed in seeds(0, 200) {
        let mut rng = SplitMix64::new(seed);
        let nodes = rng.between(100, 400);
        let graph = deep(&mut rng, nodes);
        let variables: Vec<Variable> = (0..6)
            .map(|_| {
                let writes = *rng.pick(&[2, 4, 20]);
                let mut some = |count: usize| {
                    let set: BTreeSet<usize> = (0..count).map(|_| rng.below(nodes)).collect();
                    set.into_iter().collect()
                };
                let (definitions, exposed) = (some(writes), some(8));
                Variable { definitions, exposed, on_entry: rng.chance(1, 3) }
            })
            .collect();
        let dominators = Dominators::of(&graph);
        let given = accesses(&graph, &variables);
        let reference = reaching_definitions::place(&graph, &given);
        phis += reference.count();
        let live =
            variables.iter().map(|v| live_nodes(&graph, &v.definitions, &v.exposed)).collect::<Vec<_>>();
        for (name, _, place) in WAYS.iter().filter(|(_, claim, _)| matches!(claim, Claim::Precise)) {
            let all = place(&graph, &given, Pruning::Minimal);
            assert_eq!(all, reference, "{name}, seed {seed}");
            let pruned = place(&graph, &given, Pruning::Pruned);
            for (x, live) in live.iter().enumerate() {
                let wanted: Vec<usize> = of(&all, x).into_iter().filter(|n| live.contains(n)).collect();
                assert_eq!(of(&pruned, x), wanted, "{name}, pruned, seed {seed}");
            }
        }
        let on_entry: Vec<_> = variables.into_iter().map(|v| Variable { on_entry: true, ..v }).collect();
        let on_entry = accesses(&graph, &on_entry);
        let reference = reaching_definitions::place(&graph, &on_entry);
        assert_eq!(cytron(&dominators, &on_entry, Pruning::Minimal), reference, "seed {seed}");
        for pruning in PRUNINGS {
            let frontiers = cytron(&dominators, &on_entry, pruning);
            for (name, _, place) in WAYS {
                assert_eq!(place(&graph, &on_entry, pruning), frontiers, "{name}, {pruning:?}, seed {seed}");
            }
        }
        let pruned = cytron(&dominators, &on_entry, Pruning::Pruned);
        assert_eq!(braun::place(&graph, &on_entry), pruned, "seed {seed}");
    }
    println!("{phis} φs");
    assert!(phis > 10_000, "too few φs: {phis}");
}

#[test]
fn pairs_that_come_several_times_count_once() {
    let twice = |list: &Vec<usize>| list.iter().flat_map(|&n| [n, n]).chain(list.iter().copied()).collect();
    for seed in seeds(0, 300) {
        let mut rng = SplitMix64::new(seed);
        let graph = graphs::arbitrary(&mut rng, 12);
        let variables = random_variables(&mut rng, graph.node_count());
        let repeated: Vec<Variable> = variables
            .iter()
            .map(|v| Variable { definitions: twice(&v.definitions), exposed: twice(&v.exposed), ..*v })
            .collect();
        let (once, repeated) = (accesses(&graph, &variables), accesses(&graph, &repeated));
        for (name, _, place) in WAYS {
            for pruning in PRUNINGS {
                let (once, repeated) = (place(&graph, &once, pruning), place(&graph, &repeated, pruning));
                assert_eq!(once, repeated, "{name}, {pruning:?}, seed {seed}");
            }
        }
    }
}
