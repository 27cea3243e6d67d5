//! Random programs in SSA form over a given graph, with nothing in them but what uniformity depends on.

use warpline_analysis::uniformity::{Rule, SsaProgram, Value};
use warpline_analysis::{CsrGraph, CycleForest, EdgeId, Graph, Node};

use crate::graph_oracles::Dominance;
use crate::graphs::edge_list;
use crate::rng::SplitMix64;

/// A value before it is handed to the builder.
struct Draft {
    node: Option<usize>,
    rule: Rule,
    pure: bool,
    operands: Operands,
}

enum Operands {
    Plain(Vec<usize>),
    Phi(Vec<(EdgeId, Option<usize>)>),
}

/// The argument that is different in every thread.
const LANE: usize = 0;

/// The number of arguments.
const ARGUMENTS: usize = 4;

/// A program over `graph`: a few arguments, in each node some φs and some plain values in this order, and branches that
/// mostly depend on values. Definitions dominate uses; values in one node use earlier ones of the
/// same node.
pub fn random(rng: &mut SplitMix64, graph: &CsrGraph) -> SsaProgram {
    random_with(rng, graph, &|_, _| true, false)
}

/// The same in loop-closed form: values are used in the innermost loop around their definition only, but for operands
/// of φs in the loop's exits. If `isolated`, every φ operand is a value of its own that is computed where its edge
/// leaves, from what may change each time. All φs have the default rule. `graph` must be reducible, and only loops be
/// left that contain all other predecessors of the edge's target.
pub fn random_loop_closed(rng: &mut SplitMix64, graph: &CsrGraph, isolated: bool) -> SsaProgram {
    let cycles = CycleForest::compute(graph);
    let closed = |def: usize, at: usize| {
        cycles.innermost(Node::new(def)).is_none_or(|c| cycles.contains(c, Node::new(at)))
    };
    let program = random_with(rng, graph, &closed, isolated);
    let rule = |v| if program.is_phi(v) { Rule::Default } else { program.rule(v) };
    copy(graph, &program, rule, |e| e)
}

fn random_with(
    rng: &mut SplitMix64,
    graph: &CsrGraph,
    may_use: &dyn Fn(usize, usize) -> bool,
    isolated: bool,
) -> SsaProgram {
    let dominance = Dominance::of(graph);
    let source_in = *rng.pick(&[8, 20, 40]);
    let always_in = *rng.pick(&[8, 20, 40]);
    // How many of the branches, in twelfths, have a condition that is a source.
    let lane_branches = *rng.pick(&[1, 4, 8]);
    let mut conditions = vec![None; graph.node_count()];
    let plain_rule = |rng: &mut SplitMix64| {
        if rng.chance(1, source_in) {
            Rule::Source
        } else if rng.chance(1, always_in) {
            Rule::AlwaysUniform
        } else {
            Rule::Default
        }
    };
    let phi_rule = |rng: &mut SplitMix64| match rng.below(80) {
        0 => Rule::Source,
        1 => Rule::AlwaysUniform,
        _ => Rule::Default,
    };
    let argument = |v| {
        let rule = if v == LANE { Rule::Source } else { Rule::Default };
        Draft { node: None, rule, pure: false, operands: Operands::Plain(Vec::new()) }
    };
    let mut drafts: Vec<Draft> = (0..ARGUMENTS).map(argument).collect();
    // First what there is, then what it is made from, so that φs can use what comes later.
    for node in graph.nodes() {
        let n = node.index();
        // The entry has no φ: nothing would be its operand at the start.
        for _ in 0..if node == graph.entry() { 0 } else { rng.below(3) } {
            let edges = graph.in_edges(node).iter().map(|&e| (e, None)).collect();
            let (rule, operands) = (phi_rule(rng), Operands::Phi(edges));
            drafts.push(Draft { node: Some(n), rule, pure: false, operands });
        }
        for _ in 0..rng.below(4) {
            let (rule, pure) = (plain_rule(rng), rng.chance(1, 2));
            drafts.push(Draft { node: Some(n), rule, pure, operands: Operands::Plain(Vec::new()) });
        }
        if graph.out_edges(node).len() > 1 && rng.chance(2, 3) {
            // A condition that is new in each iteration, so that loops end.
            let rule = if rng.chance(lane_branches, 12) { Rule::Source } else { Rule::Default };
            conditions[n] = Some(drafts.len());
            drafts.push(Draft { node: Some(n), rule, pure: false, operands: Operands::Plain(Vec::new()) });
        }
    }
    // The values that can be used at the end of a node.
    let at_end = |drafts: &[Draft], n: usize| -> Vec<usize> {
        let usable =
            |d: &Draft| d.node.is_none_or(|def| (def == n || dominance.dominates(def, n)) && may_use(def, n));
        (0..drafts.len()).filter(|&v| usable(&drafts[v])).collect()
    };
    let reachable = |n: usize| dominance.is_reachable(n);
    for v in ARGUMENTS..drafts.len() {
        let node = drafts[v].node.expect("all but the arguments are in nodes");
        let operands = match &drafts[v].operands {
            Operands::Plain(_) => {
                let mut usable = at_end(&drafts, node);
                usable.retain(|&o| o < v || drafts[o].node != Some(node));
                // In unreachable code everything dominates everything; keep to earlier values.
                usable.retain(|&o| o < v || reachable(node));
                usable.retain(|&o| o != LANE || rng.chance(1, 6));
                Operands::Plain((0..rng.between(1, 2)).map(|_| pick_near(rng, &usable)).collect())
            }
            Operands::Phi(edges) => {
                let mut last = None;
                let mut operand = |e: EdgeId| {
                    let mut usable = at_end(&drafts, graph.source(e).index());
                    usable.retain(|&o| o != LANE || rng.chance(1, 6));
                    let repeat = last.filter(|o| usable.contains(o) && rng.chance(1, 3));
                    // Uniform arguments by the way: such a φ is divergent by control alone.
                    let argument = rng.chance(1, 3).then(|| rng.between(LANE + 1, ARGUMENTS - 1));
                    last = Some(repeat.or(argument).unwrap_or_else(|| pick_near(rng, &usable)));
                    last.filter(|_| !rng.chance(1, 20))
                };
                Operands::Phi(edges.iter().map(|&(e, _)| (e, operand(e))).collect())
            }
        };
        drafts[v].operands = operands;
    }
    if isolated {
        isolate_operands(graph, &mut drafts);
    }
    let mut builder = SsaProgram::builder();
    for draft in &drafts {
        let value = match (&draft.operands, draft.node) {
            (Operands::Phi(list), Some(n)) => {
                builder.phi(Node::new(n), draft.rule, list.iter().map(|&(e, o)| (e, o.map(Value::new))))
            }
            (Operands::Plain(list), Some(n)) => {
                builder.plain(Node::new(n), draft.rule, list.iter().map(|&o| Value::new(o)))
            }
            (_, None) => builder.argument(draft.rule),
        };
        if draft.pure {
            builder.set_pure(value);
        }
    }
    for node in graph.nodes() {
        if graph.out_edges(node).len() > 1 && rng.chance(9, 10) {
            let mut usable = at_end(&drafts, node.index());
            usable.retain(|&o| o != LANE);
            let on = conditions[node.index()].unwrap_or_else(|| pick_near(rng, &usable));
            builder.terminator(node, [Value::new(on)]);
        }
    }
    builder.build(graph).expect("the draft names existing nodes, edges and values only")
}

/// A program of φs alone: branches depend on the lane anew each time or on nothing, φs choose among two constants,
/// mostly the same one, and themselves. So what is divergent is so by where threads come from, and on a few of many
/// edges.
pub fn of_phis(rng: &mut SplitMix64, graph: &CsrGraph) -> SsaProgram {
    let mut builder = SsaProgram::builder();
    let constants = [builder.argument(Rule::Default), builder.argument(Rule::Default)];
    let dominance = Dominance::of(graph);
    let (mut defined, mut count) = (Vec::new(), constants.len());
    let (lane_branches, other) = (*rng.pick(&[1, 2, 3]), *rng.pick(&[2, 3, 5]));
    for node in graph.nodes() {
        for _ in 0..if node == graph.entry() { 0 } else { rng.between(1, 3) } {
            let comes_back = |e| dominance.dominates(node.index(), graph.source(e).index());
            let operand = |&e| match rng.below(5) {
                0 if comes_back(e) => (e, Some(Value::new(count))),
                _ => (e, Some(constants[usize::from(rng.chance(1, other))])),
            };
            let operands: Vec<_> = graph.in_edges(node).iter().map(operand).collect();
            defined.push((node, builder.phi(node, Rule::Default, operands)));
            count += 1;
        }
        if rng.chance(1, 2) {
            let rule = if rng.chance(1, 4) { Rule::AlwaysUniform } else { Rule::Default };
            defined.push((node, builder.plain(node, rule, [])));
            count += 1;
        }
        if graph.out_edges(node).len() > 1 && rng.chance(lane_branches, 4) {
            let condition = builder.plain(node, Rule::Source, []);
            builder.terminator(node, [condition]);
            count += 1;
        }
    }
    // Users of what was defined elsewhere.
    for node in graph.nodes().filter(|n| dominance.is_reachable(n.index())) {
        let visible = |d: Node| d != node && dominance.dominates(d.index(), node.index());
        let usable: Vec<Value> = defined.iter().filter(|d| visible(d.0)).map(|d| d.1).collect();
        if !usable.is_empty() && rng.chance(1, 2) {
            builder.plain(node, Rule::Default, [*rng.pick(&usable)]);
        }
    }
    builder.build(graph).expect("the program names existing nodes, edges and values only")
}

/// The same program over the same graph with the edges in another order. Also says which edge of the new graph each
/// edge of the old one is.
pub fn with_shuffled_edges(
    rng: &mut SplitMix64,
    graph: &CsrGraph,
    program: &SsaProgram,
) -> (CsrGraph, SsaProgram, Vec<EdgeId>) {
    let mut order: Vec<EdgeId> = graph.edges().collect();
    rng.shuffle(&mut order);
    let mut there = vec![EdgeId(0); order.len()];
    order.iter().enumerate().for_each(|(new, old)| there[old.index()] = EdgeId::new(new));
    let ends = order.iter().map(|&e| (graph.source(e), graph.target(e)));
    let shuffled = CsrGraph::new(graph.node_count(), graph.entry(), ends).expect("the ends are as before");
    let program = copy(&shuffled, program, |v| program.rule(v), |e| there[e.index()]);
    (shuffled, program, there)
}

/// The same program with the rules and edges that are given for the old ones.
pub fn copy(
    graph: &CsrGraph,
    program: &SsaProgram,
    rule: impl Fn(Value) -> Rule,
    edge: impl Fn(EdgeId) -> EdgeId,
) -> SsaProgram {
    let mut builder = SsaProgram::builder();
    for v in program.values() {
        let operands = program.operands(v);
        let copy = match program.node(v) {
            None => builder.argument(rule(v)),
            Some(n) if program.is_phi(v) => {
                let defined: Vec<_> = operands.filter_map(|(o, e)| e.map(|e| (edge(e), o))).collect();
                let on = |e: EdgeId| defined.iter().find(|d| d.0 == e).map(|d| d.1);
                builder.phi(n, rule(v), graph.in_edges(n).iter().map(|&e| (e, on(e))))
            }
            Some(n) => builder.plain(n, rule(v), operands.map(|(o, _)| o)),
        };
        if program.is_pure(v) {
            builder.set_pure(copy);
        }
    }
    for n in graph.nodes() {
        builder.terminator(n, program.terminator(n).iter().copied());
    }
    builder.build(graph).expect("a copy of a program")
}

/// A program as text, for messages.
pub fn describe(graph: &CsrGraph, program: &SsaProgram) -> String {
    let mut text = format!("{} nodes, edges {:?}\n", graph.node_count(), edge_list(graph));
    for v in program.values() {
        let operand = |(o, e): (Value, Option<EdgeId>)| match e {
            Some(e) => format!("{e}: {o}"),
            None => o.to_string(),
        };
        let operands: Vec<String> = program.operands(v).map(operand).collect();
        let kind = if program.is_phi(v) { "φ" } else { "" };
        let pure = if program.is_pure(v) { " pure" } else { "" };
        let at = program.node(v).map_or("argument".to_string(), |n| n.to_string());
        text += &format!("  {at}: {v} = {kind}({}) {:?}{pure}\n", operands.join(", "), program.rule(v));
    }
    for n in graph.nodes().filter(|&n| !program.terminator(n).is_empty()) {
        text += &format!("  {n}: branch on {:?}\n", program.terminator(n));
    }
    text
}

/// Gives every operand of a φ a copy of its own at the end of the node that the edge leaves.
fn isolate_operands(graph: &CsrGraph, drafts: &mut Vec<Draft>) {
    for v in 0..drafts.len() {
        let Operands::Phi(list) = &drafts[v].operands else { continue };
        let mut list = list.clone();
        for (edge, operand) in &mut list {
            let from = operand.unwrap_or(LANE + 1);
            *operand = Some(drafts.len());
            let node = Some(graph.source(*edge).index());
            let operands = Operands::Plain(vec![from]);
            drafts.push(Draft { node, rule: Rule::Default, pure: false, operands });
        }
        drafts[v].operands = Operands::Phi(list);
    }
}

/// One of `usable`, more often a late one.
fn pick_near(rng: &mut SplitMix64, usable: &[usize]) -> usize {
    let i = rng.below(usable.len()).max(rng.below(usable.len()));
    usable[i]
}
