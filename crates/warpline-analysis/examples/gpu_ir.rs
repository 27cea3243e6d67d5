//! A foreign IR: SSA form as GPU compilers have it, with barriers, which all threads of a group must reach together.
//! The values are described directly, as the IR has φs already, and every barrier is held against them.

use std::error::Error;

use warpline_analysis::uniformity::{Explainer, Rule, SsaProgram, Uniformity, Value};
use warpline_analysis::{BitSet, CsrGraph, DomTree, Graph, Node, Reversed};

/// An operation of the IR.
enum Operation {
    ThreadIndex,
    GroupIndex,
    Argument,
    Compare(usize, usize),
    /// Goes one way or the other, as the operand says.
    Branch(usize),
    Barrier,
}

/// Whether a path leads from one node to another.
fn reaches(graph: &CsrGraph, from: Node, to: Node) -> bool {
    let (mut seen, mut open) = (BitSet::new(graph.node_count()), vec![from]);
    while let Some(node) = open.pop() {
        open.extend(graph.successors(node).filter(|next| seen.insert(next.index())));
    }
    seen.contains(to.index())
}

/// A block that a barrier stands in must be reached by all threads or none: no divergent branch may decide about it.
fn illegal_barriers(graph: &CsrGraph, blocks: &[Vec<Operation>]) -> Result<Vec<Node>, Box<dyn Error>> {
    let mut builder = SsaProgram::builder();
    let mut values: Vec<Value> = Vec::new();
    for (number, block) in blocks.iter().enumerate() {
        let node = Node::new(number);
        for operation in block {
            let value = match *operation {
                Operation::ThreadIndex => builder.plain(node, Rule::Source, []),
                Operation::GroupIndex => builder.plain(node, Rule::AlwaysUniform, []),
                Operation::Argument => builder.argument(Rule::Default),
                Operation::Compare(a, b) => builder.plain(node, Rule::Default, [values[a], values[b]]),
                Operation::Branch(on) => {
                    builder.terminator(node, [values[on]]);
                    continue;
                }
                Operation::Barrier => continue,
            };
            values.push(value);
        }
    }
    let program = builder.build(graph)?;
    let found = Uniformity::compute(graph, &program);
    let explainer = Explainer::new(graph, &program, &found);
    let reversed = Reversed::new(graph);
    let behind = DomTree::compute(&reversed);
    let mut illegal = Vec::new();
    for (number, block) in blocks.iter().enumerate() {
        let node = Node::new(number);
        let has_barrier = block.iter().any(|o| matches!(o, Operation::Barrier));
        // A branch does not matter where every path behind it comes to the barrier, or none.
        let matters = |&b: &Node| !behind.dominates(node, b) && reaches(graph, b, node);
        let parting = found.divergent_branches().iter().map(Node::new).find(matters);
        if let Some(branch) = parting.filter(|_| has_barrier) {
            println!("the barrier in {node} is not reached by all threads, which part in {branch}:");
            explainer.branch(branch).iter().for_each(|link| println!("    {:?}", link.fact));
            illegal.push(node);
        }
    }
    Ok(illegal)
}

fn main() -> Result<(), Box<dyn Error>> {
    use Operation::{Argument, Barrier, Branch, Compare, GroupIndex, ThreadIndex};
    // if (thread < n) barrier; barrier;
    let edges = [(0, 1), (0, 2), (1, 2)].map(|(from, to)| (Node(from), Node(to)));
    let graph = CsrGraph::new(3, Node(0), edges)?;
    let thread = [vec![ThreadIndex, Argument, Compare(0, 1), Branch(2)], vec![Barrier], vec![Barrier]];
    assert_eq!(illegal_barriers(&graph, &thread)?, [Node(1)]);
    // The same with the number of the group, which all its threads share.
    let group = [vec![GroupIndex, Argument, Compare(0, 1), Branch(2)], vec![Barrier], vec![Barrier]];
    assert_eq!(illegal_barriers(&graph, &group)?, []);
    Ok(())
}

#[test]
fn runs() {
    main().expect("an example that runs");
}
