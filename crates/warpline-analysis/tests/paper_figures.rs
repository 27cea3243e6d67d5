//! The figures of paper 1, with the SSA engine and with the paper's own forms.
//!
//! Where only the drawing shows how nodes are connected, the connections here are those that the text and the
//! formulas of the paper ask for.

use warpline_analysis::uniformity::{Rule, Uniformity};
use warpline_analysis::{BitSet, CsrGraph, EdgeId, Graph, Node};
use warpline_testkit::graphs;
use warpline_testkit::reference::variables::{
    Expression, Facts, Options, Transformer, Var, VariableBuilder, VariableProgram, VariableUniformity,
};
use warpline_testkit::reference::{HeadRewired, NormalForm, RelevantSplits};
use warpline_testkit::tagged::Tags;
use warpline_testkit::variable_oracles::{Definitions, Formula, into_ssa};
use warpline_testkit::variable_programs::{self, Observed, Runs};

/// A figure: nodes by name, the first of which is the entry, and a program.
struct Figure {
    names: &'static str,
    graph: CsrGraph,
    builder: VariableBuilder,
}

impl Figure {
    /// `edges` are pairs of names: `"AB BC"`.
    fn new(names: &'static str, edges: &str) -> Self {
        let number = |c: char| names.find(c).expect("a name of a node");
        let pair = |e: &str| {
            let mut ends = e.chars().map(number);
            (ends.next().expect("a source"), ends.next().expect("a target"))
        };
        let edges = edges.split_whitespace().map(pair).collect();
        Figure { names, graph: graphs::build(names.len(), edges), builder: VariableProgram::builder() }
    }

    fn node(&self, name: char) -> Node {
        Node::new(self.names.find(name).expect("a name of a node"))
    }

    fn edge(&self, from: char, to: char) -> EdgeId {
        let (from, to) = (self.node(from), self.node(to));
        let out = self.graph.out_edges(from).iter().copied();
        out.into_iter().find(|&e| self.graph.target(e) == to).expect("an edge of the figure")
    }

    fn variable(&mut self, divergent: bool) -> Var {
        self.builder.variable(divergent)
    }

    /// An assignment at the end of a node.
    fn set(&mut self, node: char, target: Var, value: Expression) {
        self.builder.assign(self.node(node), target, value);
    }

    fn branch(&mut self, node: char, on: Var) {
        self.builder.branch(self.node(node), [on]);
    }

    fn build(self) -> Built {
        let names = self.names;
        let program = self.builder.build(&self.graph).expect("figures are well formed");
        Built { names, graph: self.graph, program, facts: Facts::none() }
    }
}

struct Built {
    names: &'static str,
    graph: CsrGraph,
    program: VariableProgram,
    facts: Facts,
}

impl Built {
    fn node(&self, name: char) -> Node {
        Node::new(self.names.find(name).expect("a name of a node"))
    }

    fn analyse(&self, transformer: Transformer) -> VariableUniformity {
        let options = Options { transformer, facts: self.facts.clone(), ..Options::default() };
        VariableUniformity::compute(&self.graph, &self.program, &options).expect("figures are reducible")
    }

    /// What the SSA engine says of a variable where control arrives at a node.
    fn engine_says_uniform(&self, node: char, var: Var) -> bool {
        let ssa = into_ssa(&self.graph, &self.program);
        let engine = Uniformity::compute(&self.graph, &ssa.program);
        let node = self.node(node);
        !engine.is_divergent_at(&self.graph, ssa.at[node.index()][var.index()], node)
    }

    fn observe(&self, start: impl Fn(u64, &mut Vec<u64>)) -> Observed {
        let (tags, mut seen) = (Tags::of(&self.graph), Observed::nothing(&self.graph, &self.program));
        for seed in 0..40 {
            let runs = Runs { seed, threads: 8, steps: 40 };
            variable_programs::run(&self.graph, &self.program, &tags, &self.facts, runs, &start, &mut seen);
        }
        seen
    }

    /// The paper's form, the engine and the runs agree on whether a variable is uniform at a node.
    fn expect(&self, node: char, var: Var, uniform: bool) {
        let by_paper = self.analyse(Transformer::ReachingDefinitions).is_uniform_at(self.node(node), var);
        assert_eq!(by_paper, uniform, "{var} at {node} by Definition 6.6");
        assert_eq!(self.engine_says_uniform(node, var), uniform, "{var} at {node} by the engine");
        let differs = self.observe(|_, _| ()).differs_at(self.node(node), var);
        assert_eq!(!differs, uniform, "{var} at {node} as runs show it");
    }
}

fn constant(c: u64) -> Expression {
    Expression::Constant(c)
}

fn compute(operands: &[Var]) -> Expression {
    Expression::Compute(Rule::Default, operands.to_vec())
}

/// `z ← …; if (c) x ← 1 else x ← 2`, with `x` assigned before control passes `D` and `E`.
fn figure_1a(c_divergent: bool) -> (Built, Var, Var) {
    let mut f = Figure::new("ASBCDEP", "AS SB SC BD CE DP EP");
    let (c, x, z) = (f.variable(c_divergent), f.variable(false), f.variable(false));
    f.set('A', z, compute(&[z]));
    f.set('B', x, constant(1));
    f.set('C', x, constant(2));
    f.branch('S', c);
    (f.build(), x, z)
}

#[test]
fn figure_1a_a_join_is_uniform_if_the_branch_before_it_is() {
    for divergent in [false, true] {
        let (f, x, z) = figure_1a(divergent);
        f.expect('D', x, true);
        f.expect('E', x, true);
        f.expect('P', x, !divergent);
        // What nobody assigns behind the branch stays uniform, but only Definition 6.6 sees it.
        f.expect('P', z, true);
        assert_eq!(f.analyse(Transformer::Plain).is_uniform_at(f.node('P'), z), !divergent);
        let definitions = f.analyse(Transformer::ReachingDefinitions);
        let of_z = definitions.definitions().expect("they are used").of(f.node('P'), z);
        assert!(of_z.map(|q| q.node()).any(|q| q == f.node('S')));
    }
}

/// A loop that is left when `c`, computed from `x` and `n`, says so.
fn figure_1b(n_divergent: bool) -> (Built, Var, Var) {
    let mut f = Figure::new("ABCSP", "AB BC CS SB SP");
    let (n, x, c) = (f.variable(n_divergent), f.variable(false), f.variable(false));
    f.set('A', x, constant(0));
    f.set('C', x, compute(&[x]));
    f.set('C', c, compute(&[x, n]));
    f.branch('S', c);
    (f.build(), x, c)
}

#[test]
fn figure_1b_a_value_is_divergent_behind_a_loop_that_threads_leave_in_different_iterations() {
    for divergent in [false, true] {
        let (f, x, _) = figure_1b(divergent);
        for inside in ['B', 'C', 'S'] {
            f.expect(inside, x, true);
        }
        f.expect('P', x, !divergent);
    }
}

#[test]
fn figure_1b_shows_that_definition_6_6_as_printed_is_unsound() {
    let (f, x, c) = figure_1b(true);
    let definitions = Definitions::new(&f.graph, &f.program);
    let (p, s) = (f.node('P').index(), f.node('S').index());
    let printed = definitions.fixed_point(Formula::AsPrinted);
    assert!(printed[s][x.index()] && !printed[s][c.index()]);
    assert!(printed[p][x.index()], "as printed, x is uniform at P since it is at S");
    assert!(!definitions.fixed_point(Formula::ReachingDefinitions)[p][x.index()]);
    assert!(f.observe(|_, _| ()).differs_at(f.node('P'), x));
}

#[test]
fn figure_1c_each_of_three_loop_splits_is_relevant_for_a_join_behind_the_exits() {
    // The loop H, S, T, U is left from each of the three splits; the exits E, F, G set x and meet in P.
    for divergent in 0..4 {
        let mut f = Figure::new("AHSTUEFGP", "AH HS SE ST TF TU UG UH EP FP GP");
        let x = f.variable(false);
        for (i, (split, exit)) in ['S', 'T', 'U'].into_iter().zip(['E', 'F', 'G']).enumerate() {
            let (c, lane) = (f.variable(false), f.variable(divergent == i));
            f.set('H', c, compute(&[c, lane]));
            f.branch(split, c);
            f.set(exit, x, constant(i as u64));
        }
        let f = f.build();
        f.expect('P', x, divergent == 3);
        let splits = f.analyse(Transformer::Plain).relevant_splits().of(f.node('P')).clone();
        assert_eq!(splits.iter().collect::<Vec<_>>(), ['S', 'T', 'U'].map(|n| f.node(n).index()));
    }
}

#[test]
fn figure_2b_the_head_rewired_graph_of_figure_1b() {
    let (f, _, _) = figure_1b(true);
    let normal = NormalForm::new(&f.graph).expect("the figure is reducible");
    assert_eq!(graphs::edge_list(normal.graph()), graphs::edge_list(&f.graph), "it is in normal form");
    let rewired = HeadRewired::new(&normal, &BitSet::new(normal.graph().edge_count()));
    let mut edges: Vec<String> = graphs::edge_list(rewired.graph())
        .into_iter()
        .map(|(s, t)| [s, t].map(|n| &f.names[n..=n]).concat())
        .collect();
    edges.sort();
    assert_eq!(edges, ["AB", "BP", "CS", "SB", "SP"]);
    let early: Vec<EdgeId> = rewired.graph().edges().filter(|&e| rewired.early_exit(e).is_some()).collect();
    assert_eq!(early.len(), 1);
    let (s, p) = (f.node('S'), f.node('P'));
    assert!(RelevantSplits::new(&rewired).of(p).contains(s.index()));
}

/// The figures of Section 8: which variables may be divergent without `x` being divergent at the node.
fn only_these_matter(make: impl Fn(usize) -> (Built, Var), node: char, matter: &[bool]) {
    for (divergent, &matters) in matter.iter().enumerate() {
        let (f, x) = make(divergent);
        f.expect(node, x, !matters);
    }
}

#[test]
fn figure_5a_a_join_depends_on_p_and_s_and_not_on_q() {
    // S branches on p, B on q, C on s; x is 0 behind A and 1 behind C.
    let make = |divergent: usize| {
        let mut f = Figure::new("SABCJX", "SA SB BC BX CA CJ AJ JX");
        let x = f.variable(false);
        let [p, q, s] = [0, 1, 2].map(|i| f.variable(divergent == i));
        [('S', p), ('B', q), ('C', s)].into_iter().for_each(|(n, v)| f.branch(n, v));
        f.set('A', x, constant(0));
        f.set('C', x, constant(1));
        (f.build(), x)
    };
    only_these_matter(make, 'J', &[true, false, true, false]);
}

#[test]
fn figure_5b_threads_meet_before_the_post_dominator() {
    // A branches on p, C on q; x is 0 behind B and 1 behind C. F post-dominates A.
    let make = |divergent: usize| {
        let mut f = Figure::new("ABCDEF", "AB AC BD CD CE DF EF");
        let x = f.variable(false);
        let [p, q] = [0, 1].map(|i| f.variable(divergent == i));
        [('A', p), ('C', q)].into_iter().for_each(|(n, v)| f.branch(n, v));
        f.set('B', x, constant(0));
        f.set('C', x, constant(1));
        (f.build(), x)
    };
    only_these_matter(make, 'D', &[true, false, false]);
}

#[test]
fn figure_5c_a_branch_may_have_more_than_two_successors() {
    // P branches on p, S on s three ways; x is 0 behind A and 1 behind B, and C goes past J.
    let make = |divergent: usize| {
        let mut f = Figure::new("PSABCJX", "PS PC SA SB SC AJ BJ CX JX");
        let x = f.variable(false);
        let [p, s] = [0, 1].map(|i| f.variable(divergent == i));
        [('P', p), ('S', s)].into_iter().for_each(|(n, v)| f.branch(n, v));
        f.set('A', x, constant(0));
        f.set('B', x, constant(1));
        (f.build(), x)
    };
    only_these_matter(make, 'J', &[false, true, false]);
}

/// The loop H, B, C, Q is left from H to D on h and from C to E on c; b leads from B past C. x changes in the loop.
fn figure_5d(divergent: usize) -> (Built, Var) {
    let mut f = Figure::new("GHBCQDEX", "GH HD HB BC BQ CE CQ QH DX EX");
    let x = f.variable(false);
    for (i, node) in ['H', 'B', 'C'].into_iter().enumerate() {
        let (c, lane) = (f.variable(false), f.variable(divergent == i));
        f.set(node, c, compute(&[c, lane]));
        f.branch(node, c);
    }
    f.set('H', x, compute(&[x]));
    (f.build(), x)
}

#[test]
fn figure_5d_each_exit_of_a_loop_depends_on_its_own_branches() {
    only_these_matter(figure_5d, 'D', &[true, false, false, false]);
    only_these_matter(figure_5d, 'E', &[false, true, true, false]);
}

/// Compares the claims of both transformers with runs that do what the facts say.
fn claims_hold(f: &Built, start: impl Fn(u64, &mut Vec<u64>)) -> Observed {
    let seen = f.observe(start);
    for transformer in [Transformer::Plain, Transformer::ReachingDefinitions] {
        let found = f.analyse(transformer);
        for n in f.graph.nodes() {
            for v in f.program.variables() {
                assert!(!found.is_uniform_at(n, v) || !seen.differs_at(n, v), "{v} at {n}");
                assert!(!found.is_uniform_after(n, v) || !seen.differs_after(n, v), "{v} behind {n}");
            }
        }
    }
    seen
}

#[test]
fn figure_3a_constants_are_uniform() {
    // u ← u' + c, then y ← x - x.
    let mut f = Figure::new("AB", "AB");
    let [u, u_before, c] = [false, false, true].map(|divergent| f.variable(divergent));
    let (x, y) = (f.variable(true), f.variable(false));
    f.set('A', u, compute(&[u_before, c]));
    f.set('B', y, compute(&[x, x]));
    let mut f = f.build();
    let (a, b) = (f.node('A'), f.node('B'));
    let without = f.analyse(Transformer::Plain);
    assert!(!without.is_uniform_at(b, u) && !without.is_uniform_after(b, y));
    f.facts = Facts::none().constant_at(a, c).constant_after(b, y);
    let with = f.analyse(Transformer::Plain);
    assert!(with.is_uniform_at(b, u) && with.is_uniform_after(b, y));
    // Threads start with one value of c, and two of x, of which the first is the only one to be consistent.
    let seen = claims_hold(&f, |thread, values| {
        values[c.index()] = 7;
        values[x.index()] = thread % 2;
    });
    assert!(seen.threads > 100 && seen.inconsistent > 100);
}

#[test]
fn figure_3b_an_unreachable_branch_is_no_path() {
    // At A x ≥ 0 is known; the right arm sets u to what threads do not agree on.
    let mut f = Figure::new("ABCDEP", "AB AC BD CE DP EP");
    let [x, u, v] = [true, false, true].map(|divergent| f.variable(divergent));
    f.branch('A', x);
    f.set('B', u, constant(0));
    f.set('C', u, Expression::Copy(v));
    let dead = f.edge('A', 'C');
    let mut f = f.build();
    let p = f.node('P');
    assert!(!f.analyse(Transformer::ReachingDefinitions).is_uniform_at(p, u));
    assert!(f.observe(|_, _| ()).differs_at(p, u));
    f.facts = Facts::none().dead_edge(dead);
    let with = f.analyse(Transformer::ReachingDefinitions);
    assert!(with.is_uniform_at(p, u) && !with.is_divergent_branch(f.node('A')) && !with.arrive_apart(p));
    let seen = claims_hold(&f, |_, _| ());
    assert!(seen.threads > 100 && seen.inconsistent > 100 && !seen.differs_at(p, u));
}

#[test]
fn figure_3c_what_equals_a_uniform_variable_is_uniform() {
    // A branches on whether u and v are equal.
    let mut f = Figure::new("ABC", "AB AC");
    let [u, v] = [false, true].map(|divergent| f.variable(divergent));
    f.builder.branch(f.node('A'), [u, v]);
    let equal = f.edge('A', 'B');
    let mut f = f.build();
    f.facts = Facts::none().equal_on(equal, v, u);
    let with = f.analyse(Transformer::ReachingDefinitions);
    assert!(with.is_uniform_at(f.node('B'), v) && !with.is_uniform_at(f.node('C'), v));
    // Half of the threads start with equal values. Those of the others that go to B do what does not happen.
    let seen = claims_hold(&f, |thread, values| {
        if thread % 2 == 0 {
            values[v.index()] = values[u.index()];
        }
    });
    assert!(seen.threads > 100 && seen.inconsistent > 20);
    assert!(seen.shared.contains(f.node('B').index()) && seen.differs_at(f.node('C'), v));
}
