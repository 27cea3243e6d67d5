//! A function's graph with one exit, as paper 5 counts φs there.
//!
//! The paper works on clang's own graph of the source, in which all `return`s, and all calls that do not return, lead
//! to one empty exit node. In LLVM's IR the same is spread over blocks: each end of a lifetime that a `return`
//! passes, and the read of the result at last. [`with_exit`] undoes that.

use warpline::ir::{Block, Function, Inst, Module, Op};
use warpline_analysis::{CsrGraph, Graph as _, Node};

/// The function's graph in which all ways out lead to one node: the last one, behind those of the blocks.
///
/// A block without successors has an edge to the exit, unless it is an *epilogue*: then edges to it lead to the exit
/// instead, and it is left without edges. An epilogue writes no variable and does nothing but read variables and end
/// lifetimes, and then returns or goes on to an epilogue. The entry is never one.
pub(super) fn with_exit(module: &Module, func: &Function) -> (CsrGraph, Node) {
    let (graph, _) = func.graph();
    let exit = Node::new(graph.node_count());
    let is_epilogue = epilogues(module, func);
    let mut edges: Vec<(Node, Node)> = Vec::new();
    for &b in func.layout.iter().filter(|b| !is_epilogue[b.as_u32() as usize]) {
        let before = edges.len();
        edges.extend(func.successors(b).map(|to| match is_epilogue[to.as_u32() as usize] {
            true => (Node::from(b), exit),
            false => (Node::from(b), Node::from(to)),
        }));
        if edges.len() == before {
            edges.push((Node::from(b), exit));
        }
    }
    let graph = CsrGraph::new(exit.index() + 1, graph.entry(), edges)
        .expect("edges join blocks of this function and the exit");
    (graph, exit)
}

/// Which blocks are epilogues, by the number of the block. Epilogues are found backwards from returns.
fn epilogues(module: &Module, func: &Function) -> Vec<bool> {
    let mut found = vec![false; func.blocks.len()];
    let is_ready = |b: Block, found: &[bool]| {
        let end = &func.insts[func.terminator(b)];
        b != func.entry()
            && match end.op {
                Op::Ret => true,
                Op::Br => func.successors(b).all(|to| found[to.as_u32() as usize]),
                _ => false,
            }
            && func.blocks[b].phis.is_empty()
            && func.blocks[b].insts.iter().all(|&i| is_idle(module, func, i))
    };
    let mut work: Vec<Block> =
        func.layout.iter().copied().filter(|&b| func.out_edges(b).is_empty()).collect();
    while let Some(b) = work.pop() {
        if !found[b.as_u32() as usize] && is_ready(b, &found) {
            found[b.as_u32() as usize] = true;
            work.extend(func.predecessors(b));
        }
    }
    found
}

/// Whether an instruction reads a variable or marks a lifetime.
fn is_idle(module: &Module, func: &Function, inst: Inst) -> bool {
    match &func.insts[inst].op {
        Op::ReadVar(_) => true,
        Op::Call(call) => call.callee.is_some_and(|s| module.symbols[s].name.starts_with("llvm.lifetime.")),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline::text::parse_module;

    fn edges(text: &str) -> Vec<(u32, u32)> {
        let module = parse_module(text).unwrap();
        let func = module.functions.values().next().unwrap();
        let (graph, exit) = with_exit(&module, func);
        assert_eq!(exit.index(), func.blocks.len());
        graph.edges().map(|e| (graph.source(e).0, graph.target(e).0)).collect()
    }

    #[test]
    fn every_way_out_leads_to_the_exit() {
        let text = "func @f(%c: i1) {
  var $x: i1
entry:
  br %c, one, two
one:
  write $x, %c
  ret
two:
  br %c, three, one
three:
  unreachable
}
";
        assert_eq!(edges(text), [(0, 1), (0, 2), (1, 4), (2, 3), (2, 1), (3, 4)]);
    }

    #[test]
    fn blocks_that_only_read_and_return_are_the_exit() {
        let text = "func @f(%c: i1) -> i32 {
  var $r: i32
entry:
  write $r, 1
  br %c, one, last
one:
  write $r, 2
  br two
two:
  br last
last:
  %x: i32 = read $r
  ret %x
}
";
        assert_eq!(edges(text), [(0, 1), (0, 4), (1, 4)]);
    }

    #[test]
    fn the_entry_is_never_the_exit() {
        assert_eq!(edges("func @f() {\nentry:\n  ret\n}\n"), [(0, 1)]);
    }
}
