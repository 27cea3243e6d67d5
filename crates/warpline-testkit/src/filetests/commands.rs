//! The commands of file tests.

use std::fmt::Write as _;

use warpline_analysis::phi_placement::Pruning;
use warpline_analysis::{
    CsrGraph, CycleForest, CycleId, DomTree, Graph, IteratedFrontier, Node, Reversed, dominance_frontier,
};
use warpline_dataflow::ssa::{self, ConstructOptions, Entry, Kept, Lifetimes, Placement};
use warpline_ir::text::{Names, print_function};
use warpline_ir::verify::{verify, verify_non_strict};
use warpline_ir::{Block, Function, Var};

use super::{Case, Command, clients, vectorizer};

/// All commands by name, except `roundtrip`, which the runner knows.
pub const STANDARD: &[(&str, Command)] = &[
    ("cfg", cfg),
    ("classes", clients::class_inference),
    ("close-loops", loop_closing),
    ("cycles", cycles),
    ("destruct", destruction),
    ("destruct-coalesced", coalescing_destruction),
    ("dominators", dominators),
    ("frontiers", frontiers),
    ("linearize", vectorizer::linearize),
    ("linearize-boscc", vectorizer::linearize_boscc),
    ("linearize-boscc-auto", vectorizer::linearize_boscc_auto),
    ("linearize-coherent", vectorizer::linearize_coherent),
    ("linearize-full", vectorizer::linearize_full),
    ("loops", vectorizer::loops),
    ("loops-smaller", vectorizer::loops_smaller),
    ("loops-aligned", vectorizer::loops_aligned),
    ("loops-holding", vectorizer::loops_holding),
    ("lower", vectorizer::lower),
    ("lower-avx2", vectorizer::lower_avx2),
    ("lower-one-by-one", vectorizer::lower_one_by_one),
    ("null-pointers", clients::nulls),
    ("occurrence-types", clients::occurrence_types),
    ("passes", vectorizer::passes),
    ("postdominators", postdominators),
    ("promote", promotion),
    ("registers", registers),
    ("simplify", simplified),
    ("ssa", ssa_construction),
    ("ssa-form", ssa_form),
    ("taint", clients::taints),
    ("uniformity", super::uniformity::uniformity),
    ("unwritten", unwritten),
    ("verify", verifier),
];

struct Cfg<'a> {
    func: &'a Function,
    names: Names<'a>,
    graph: CsrGraph,
}

impl<'a> Cfg<'a> {
    fn new(case: &Case<'a>) -> Cfg<'a> {
        Cfg { func: case.func, names: Names::new(case.func), graph: case.func.graph().0 }
    }

    fn name(&self, n: Node) -> String {
        self.names.block(Block::from(n))
    }

    fn list(&self, nodes: impl IntoIterator<Item = Node>) -> String {
        let names: Vec<String> = nodes.into_iter().map(|n| self.name(n)).collect();
        names.join(" ")
    }

    /// The nodes of the layout, in its order.
    fn nodes(&self) -> impl Iterator<Item = Node> + '_ {
        self.func.layout.iter().map(|&b| Node::from(b))
    }

    fn unreachable(&self, dom: &DomTree) -> String {
        let list = self.list(self.nodes().filter(|&n| !dom.is_reachable(n)));
        if list.is_empty() { list } else { format!("unreachable: {list}\n") }
    }
}

/// Predecessors and successors, one for each edge.
fn cfg(case: &Case<'_>) -> String {
    let cfg = Cfg::new(case);
    let mut out = String::new();
    for n in cfg.nodes() {
        let (from, to) = (cfg.graph.predecessors(n), cfg.graph.successors(n));
        let _ = writeln!(out, "{}: from [{}] to [{}]", cfg.name(n), cfg.list(from), cfg.list(to));
    }
    out
}

/// The dominator tree.
fn dominators(case: &Case<'_>) -> String {
    let cfg = Cfg::new(case);
    let dom = DomTree::compute(&cfg.graph);
    let mut out = String::new();
    for &n in dom.pre_order() {
        let _ = writeln!(out, "{:1$}{2}", "", 2 * dom.level(n) as usize, cfg.name(n));
    }
    out + &cfg.unreachable(&dom)
}

/// The post-dominator tree below the virtual exit.
fn postdominators(case: &Case<'_>) -> String {
    let cfg = Cfg::new(case);
    let reversed = Reversed::new(&cfg.graph);
    let dom = DomTree::compute(&reversed);
    let forward = DomTree::compute(&cfg.graph);
    let mut out = String::new();
    for &n in dom.pre_order() {
        let indent = 2 * dom.level(n) as usize;
        if n == reversed.virtual_exit() {
            let _ = writeln!(out, "{:indent$}(exit)", "");
        } else if forward.is_reachable(n) {
            let _ = writeln!(out, "{:indent$}{}", "", cfg.name(n));
        }
    }
    out
}

/// Cycles with their headers, entries and blocks, inner ones indented.
fn cycles(case: &Case<'_>) -> String {
    let cfg = Cfg::new(case);
    let forest = CycleForest::compute(&cfg.graph);
    let mut out = String::new();
    let mut work: Vec<CycleId> = forest.top_level().iter().rev().copied().collect();
    while let Some(c) = work.pop() {
        let indent = 2 * (forest.depth(c) as usize - 1);
        let kind = if forest.is_reducible(c) {
            String::new()
        } else {
            format!(", irreducible, entries [{}]", cfg.list(forest.entries(&cfg.graph, c).into_iter()))
        };
        let header = cfg.name(forest.header(c));
        let nodes = cfg.nodes().filter(|&n| forest.contains(c, n));
        let _ = writeln!(out, "{:indent$}header {header}{kind}: {}", "", cfg.list(nodes));
        work.extend(forest.children(c).iter().rev());
    }
    if out.is_empty() { "none".into() } else { out }
}

/// The dominance frontier of each block, and its iterated one where that is larger.
fn frontiers(case: &Case<'_>) -> String {
    let cfg = Cfg::new(case);
    let dom = DomTree::compute(&cfg.graph);
    let mut iterated = IteratedFrontier::new(&cfg.graph, &dom);
    let mut out = String::new();
    for n in cfg.nodes().filter(|&n| dom.is_reachable(n)) {
        let frontier = dominance_frontier(&cfg.graph, &dom, n);
        let all = iterated.compute([n]);
        let _ = write!(out, "{}: {{{}}}", cfg.name(n), cfg.list(frontier.iter().copied()));
        if all != frontier {
            let _ = write!(out, ", iterated {{{}}}", cfg.list(all));
        }
        out.push('\n');
    }
    out
}

/// The function after a pass, and what the verifier has against it.
fn after(case: &Case<'_>, pass: impl FnOnce(&mut Function)) -> String {
    let mut func = case.func.clone();
    pass(&mut func);
    let broken = verify(case.module, &func).err().map_or(String::new(), |e| e.to_string());
    broken + &print_function(case.module, &func)
}

/// The function after SSA construction for all its variables.
fn ssa_construction(case: &Case<'_>) -> String {
    after(case, |func| {
        ssa::construct(func, |_| true);
    })
}

/// The function after its `alloca`s became variables, and why others did not. `exact` writes `undef` where a lifetime
/// begins.
fn promotion(case: &Case<'_>) -> String {
    let mut kept = String::new();
    let lifetimes = if case.args == "exact" { Lifetimes::Exact } else { Lifetimes::Forgotten };
    let text = after(case, |func| {
        let promotion = ssa::promote_allocas_with(case.module, func, lifetimes);
        kept = describe(case, func, &promotion.kept);
    });
    kept + &text
}

/// The function after promotion and SSA construction, as often as that finds more.
fn registers(case: &Case<'_>) -> String {
    let mut kept = String::new();
    let text = after(case, |func| {
        let registers = ssa::promote_and_construct(case.module, func);
        kept = describe(case, func, &registers.kept);
        let _ = writeln!(kept, "rounds: {}", registers.rounds);
    });
    kept + &text
}

fn describe(case: &Case<'_>, func: &Function, kept: &[Kept]) -> String {
    kept.iter().map(|kept| format!("kept {}\n", kept.describe(case.module, func))).collect()
}

/// The function after SSA construction in the form that the arguments name, in any order: `precise`,
/// `reaching-definitions` or `dominance-frontier`; `all` or `parameters`; `minimal`, `semi-pruned` or `pruned`;
/// `strict`. The default is precise, parameters, minimal and not strict.
fn ssa_form(case: &Case<'_>) -> String {
    let mut options =
        ConstructOptions { strict: false, pruning: Pruning::Minimal, ..ConstructOptions::default() };
    for word in case.args.split_whitespace() {
        match word {
            "precise" => options.placement = Placement::Precise,
            "reaching-definitions" => options.placement = Placement::ReachingDefinitions,
            "dominance-frontier" => options.placement = Placement::DominanceFrontier,
            "all" => options.entry = Entry::All,
            "parameters" => options.entry = Entry::Parameters,
            "minimal" => options.pruning = Pruning::Minimal,
            "semi-pruned" => options.pruning = Pruning::SemiPruned,
            "pruned" => options.pruning = Pruning::Pruned,
            "strict" => options.strict = true,
            _ => return format!("unknown argument {word}"),
        }
    }
    let mut func = case.func.clone();
    let vars: Vec<Var> = func.vars.keys().collect();
    ssa::construct_with(&mut func, &vars, &options);
    let check = if options.strict { verify } else { verify_non_strict };
    let broken = check(case.module, &func).err().map_or(String::new(), |e| e.to_string());
    broken + &print_function(case.module, &func)
}

/// Reads of variables that may not have been written, with a path for each.
fn unwritten(case: &Case<'_>) -> String {
    let names = Names::new(case.func);
    let mut out = String::new();
    for read in ssa::unwritten_reads(case.func) {
        let result = case.func.insts[read.inst].results[0];
        let path: Vec<String> = read.path(case.func).into_iter().map(|b| names.block(b)).collect();
        let how = if read.certain { "never" } else { "maybe not" };
        let _ = writeln!(
            out,
            "{} reads {}, {how} written: {}",
            names.value(result),
            names.var(read.var),
            path.join(" ")
        );
    }
    if out.is_empty() { "none".into() } else { out }
}

/// The function in loop-closed form.
fn loop_closing(case: &Case<'_>) -> String {
    after(case, |func| _ = ssa::close_loops(func))
}

/// The function with few variables in place of its φs.
fn coalescing_destruction(case: &Case<'_>) -> String {
    let mut refused = String::new();
    let func = after(case, |func| {
        if let Err(e) = ssa::destruct_coalesced(func, |_, _| true) {
            refused = format!("{e}\n");
        }
    });
    refused + &func
}

/// The function with variables in place of its φs.
fn destruction(case: &Case<'_>) -> String {
    after(case, |func| {
        ssa::destruct(func, |_, _| true);
    })
}

/// The function without parallel copies and without φs that are trivial or dead.
fn simplified(case: &Case<'_>) -> String {
    after(case, |func| {
        ssa::copies::dissolve_copies(func);
        ssa::remove_trivial_phis(func);
        ssa::remove_dead_phis(func);
    })
}

/// What the verifier says.
fn verifier(case: &Case<'_>) -> String {
    match verify(case.module, case.func) {
        Ok(()) => "sound".into(),
        Err(e) => e.errors.iter().map(|e| format!("{:?}: {}\n", e.rule, e.message)).collect(),
    }
}
