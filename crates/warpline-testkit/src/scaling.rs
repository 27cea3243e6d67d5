//! Programs of growing size in shapes that are common, or that invite quadratic work.

use warpline_analysis::uniformity::{Rule, SsaBuilder, SsaProgram, Value};
use warpline_analysis::{CsrGraph, DomTree, EdgeId, Graph, Node};
use warpline_ir::{Block, Function, Op, Type};

use crate::graphs;
use crate::rng::SplitMix64;

/// A control-flow graph and a program over it.
#[derive(Clone, Debug)]
pub struct Scaled {
    /// The graph.
    pub graph: CsrGraph,
    /// The program.
    pub program: SsaProgram,
}

/// Makes a program of a size; the number of nodes is a small multiple of it.
pub type Maker = fn(usize) -> Scaled;

/// The name and the maker of every shape.
pub const SHAPES: [(&str, Maker); 11] = [
    ("diamonds", diamonds),
    ("nested ifs", nested_ifs),
    ("ladder", ladder),
    ("loops", loops),
    ("loops with breaks", loops_with_breaks),
    ("loop nest", loop_nest),
    ("loop nest with returns", loop_nest_with_returns),
    ("fall-through cases", fall_through),
    ("two tracks", two_tracks),
    ("random", random),
    ("irreducible", irreducible),
];

/// The values that every shape starts with.
struct Start {
    builder: SsaBuilder,
    lane: Value,
    zero: Value,
    one: Value,
}

fn start() -> Start {
    let mut builder = SsaProgram::builder();
    let lane = builder.argument(Rule::Source);
    let zero = builder.argument(Rule::Default);
    let one = builder.argument(Rule::Default);
    Start { builder, lane, zero, one }
}

fn finish(graph: CsrGraph, builder: SsaBuilder) -> Scaled {
    let program = builder.build(&graph).expect("shapes name existing nodes and values");
    Scaled { graph, program }
}

/// A φ with one operand on the first in-edge and another one on all others.
fn phi(s: &mut Start, graph: &CsrGraph, node: usize, first: Value, rest: Value) -> Value {
    let edges = graph.in_edges(Node::new(node)).to_vec();
    let operand = |(i, e): (usize, EdgeId)| (e, Some(if i == 0 { first } else { rest }));
    s.builder.phi(Node::new(node), Rule::Default, edges.into_iter().enumerate().map(operand))
}

/// One `if` after the other, every second one divergent.
fn diamonds(n: usize) -> Scaled {
    let edges = (0..n).flat_map(|i| {
        let h = 4 * i;
        [(h, h + 1), (h, h + 2), (h + 1, h + 3), (h + 2, h + 3), (h + 3, h + 4)]
    });
    let graph = graphs::build(4 * n + 1, edges.collect());
    let mut s = start();
    for i in 0..n {
        let on = if i % 2 == 0 { s.lane } else { s.zero };
        s.builder.terminator(Node::new(4 * i), [on]);
        let (zero, one) = (s.zero, s.one);
        phi(&mut s, &graph, 4 * i + 3, zero, one);
    }
    finish(graph, s.builder)
}

/// One divergent `if` inside the other.
fn nested_ifs(n: usize) -> Scaled {
    // Branch i, its other arm n + 1 + i, its join 2n + 1 + i; the innermost arm is n.
    let edges = (0..n).flat_map(|i| {
        let join = 2 * n + 1 + i;
        let inner = if i + 1 < n { join + 1 } else { n };
        [(i, i + 1), (i, n + 1 + i), (n + 1 + i, join), (inner, join)]
    });
    let graph = graphs::build(3 * n + 1, edges.collect());
    let mut s = start();
    let mut inner = s.zero;
    for i in (0..n).rev() {
        s.builder.terminator(Node::new(i), [s.lane]);
        let one = s.one;
        inner = phi(&mut s, &graph, 2 * n + 1 + i, one, inner);
    }
    finish(graph, s.builder)
}

/// A chain of divergent branches that all leave to one exit.
fn ladder(n: usize) -> Scaled {
    let edges = (0..n).flat_map(|i| [(i, i + 1), (i, n + 1)]).chain([(n, n + 1)]);
    let graph = graphs::build(n + 2, edges.collect());
    let mut s = start();
    for i in 0..n {
        s.builder.terminator(Node::new(i), [s.lane]);
    }
    let (zero, one) = (s.zero, s.one);
    phi(&mut s, &graph, n + 1, zero, one);
    // A φ that no branch makes divergent is looked at again and again.
    let edges = graph.in_edges(Node::new(n + 1)).to_vec();
    s.builder.phi(Node::new(n + 1), Rule::Default, edges.into_iter().map(|e| (e, Some(zero))));
    finish(graph, s.builder)
}

/// One divergent loop after the other; each counts and its counter is used behind it.
fn loops(n: usize) -> Scaled {
    let edges = (0..n).flat_map(|i| [(2 * i, 2 * i + 1), (2 * i + 1, 2 * i), (2 * i, 2 * i + 2)]);
    let graph = graphs::build(2 * n + 1, edges.collect());
    let mut s = start();
    let mut before = s.zero;
    for i in 0..n {
        let zero = s.zero;
        let counter = phi(&mut s, &graph, 2 * i, zero, before);
        s.builder.terminator(Node::new(2 * i), [s.lane]);
        s.builder.plain(Node::new(2 * i + 1), Rule::Default, [counter]);
        before = s.builder.plain(Node::new(2 * i + 2), Rule::Default, [counter]);
    }
    finish(graph, s.builder)
}

/// The same with a divergent break in each body.
fn loops_with_breaks(n: usize) -> Scaled {
    let edges = (0..n)
        .flat_map(|i| [(2 * i, 2 * i + 1), (2 * i, 2 * i + 2), (2 * i + 1, 2 * i), (2 * i + 1, 2 * i + 2)]);
    let graph = graphs::build(2 * n + 1, edges.collect());
    let mut s = start();
    for i in 0..n {
        s.builder.terminator(Node::new(2 * i), [s.lane]);
        s.builder.terminator(Node::new(2 * i + 1), [s.lane]);
        let (zero, one) = (s.zero, s.one);
        phi(&mut s, &graph, 2 * i, zero, one);
    }
    finish(graph, s.builder)
}

/// Loops in loops, every second one divergent; headers go down, latches come back up. Counters are used behind their
/// loops.
fn loop_nest(n: usize) -> Scaled {
    let chain = (1..=2 * n).map(|i| (i - 1, i));
    let graph = graphs::build(2 * n + 1, chain.chain((0..n).map(|i| (2 * n - 1 - i, i))).collect());
    let mut s = start();
    for i in 0..n {
        let on = if i % 2 == 0 { s.lane } else { s.zero };
        let (zero, one) = (s.zero, s.one);
        let counter = phi(&mut s, &graph, i, zero, one);
        s.builder.plain(Node::new(2 * n - i), Rule::Default, [counter]);
        s.builder.terminator(Node::new(2 * n - 1 - i), [on]);
    }
    finish(graph, s.builder)
}

/// Loops in loops, each with a divergent return in its header.
fn loop_nest_with_returns(n: usize) -> Scaled {
    let chain = (1..=2 * n).map(|i| (i - 1, i));
    let back = (0..n).map(|i| (2 * n - 1 - i, i));
    let returns = (0..n).map(|i| (i, 2 * n + 1));
    let graph = graphs::build(2 * n + 2, chain.chain(back).chain(returns).collect());
    let mut s = start();
    for i in 0..n {
        s.builder.terminator(Node::new(i), [s.lane]);
        s.builder.terminator(Node::new(2 * n - 1 - i), [s.zero]);
    }
    let (zero, one) = (s.zero, s.one);
    phi(&mut s, &graph, 2 * n + 1, zero, one);
    finish(graph, s.builder)
}

/// A chain of tests, each of which can jump to one of a chain of cases that fall through: dominance frontiers
/// of quadratic size.
fn fall_through(n: usize) -> Scaled {
    let chain = (1..2 * n).map(|i| (i - 1, i));
    let graph = graphs::build(2 * n, chain.chain((0..n).map(|i| (i, n + i))).collect());
    let mut s = start();
    for i in 0..n {
        s.builder.terminator(Node::new(i), [s.lane]);
        let (zero, one) = (s.zero, s.one);
        phi(&mut s, &graph, n + i, zero, one);
    }
    finish(graph, s.builder)
}

/// Two chains with crossings everywhere.
fn two_tracks(n: usize) -> Scaled {
    let edges = (0..n).flat_map(|i| {
        let (a, b) = (2 * i, 2 * i + 1);
        [(a, a + 2), (a, b + 2), (b, a + 2), (b, b + 2)]
    });
    let graph = graphs::build(2 * n + 2, [(0, 1)].into_iter().chain(edges).collect());
    let mut s = start();
    for i in 0..2 * n {
        s.builder.terminator(Node::new(i), [s.lane]);
        let (zero, one) = (s.zero, s.one);
        phi(&mut s, &graph, i + 2, zero, one);
    }
    finish(graph, s.builder)
}

/// Two successors anywhere for most nodes.
fn random(n: usize) -> Scaled {
    anywhere(n, n)
}

/// Two successors close by for most nodes.
fn irreducible(n: usize) -> Scaled {
    anywhere(n, 6)
}

fn anywhere(n: usize, reach: usize) -> Scaled {
    let mut rng = SplitMix64::new(n as u64);
    let mut edges = Vec::new();
    for i in 0..n - 1 {
        edges.push((i, i + 1));
        if rng.chance(3, 5) {
            edges.push((i, rng.between(i.saturating_sub(reach).max(1), (i + reach).min(n - 1))));
        }
    }
    let graph = graphs::build(n, edges);
    let mut s = start();
    for node in graph.nodes() {
        let (zero, one) = (s.zero, s.one);
        let value = phi(&mut s, &graph, node.index(), zero, one);
        let on = *rng.pick(&[s.lane, s.zero, value]);
        s.builder.terminator(node, [on]);
    }
    finish(graph, s.builder)
}

/// A function over a graph, with variables that are declared all over it: each is written in some block, and read and
/// written in a few of the next blocks that this one dominates, as locals of a block are in C. Behind an entry of
/// their own, blocks stand in the order of the nodes.
pub fn function(graph: &CsrGraph, variables: usize, rng: &mut SplitMix64) -> Function {
    let mut f = Function::new("scaled", Type::Void);
    let selector = f.add_param(Type::Int(64), "s");
    let entry = f.add_block("entry");
    let blocks: Vec<Block> = graph.nodes().map(|_| f.add_block("")).collect();
    f.set_terminator(entry, Op::Br, &[], &[blocks[graph.entry().index()]]);
    let dom = DomTree::compute(graph);
    for k in 0..variables {
        let x = f.add_var(Type::Int(64), "");
        let scope = dom.subtree(dom.pre_order()[k * dom.pre_order().len() / variables]);
        f.append(blocks[scope[0].index()], Op::WriteVar(x), &[selector], Type::Void);
        for _ in 0..rng.between(4, 12) {
            let b = blocks[scope[rng.below(scope.len().min(32))].index()];
            let value = f.append_value(b, Op::ReadVar(x), &[], Type::Int(64));
            let value = f.append_value(b, Op::Freeze, &[value], Type::Int(64));
            if rng.chance(1, 2) {
                f.append(b, Op::WriteVar(x), &[value], Type::Void);
            }
        }
    }
    for node in graph.nodes() {
        let b = blocks[node.index()];
        let targets: Vec<Block> = graph.successors(node).map(|t| blocks[t.index()]).collect();
        match targets.len() {
            0 => f.set_terminator(b, Op::Ret, &[], &[]),
            1 => f.set_terminator(b, Op::Br, &[], &targets),
            n => f.set_terminator(b, Op::Switch((1..n as u128).collect()), &[selector], &targets),
        };
    }
    f
}
