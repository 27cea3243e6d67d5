//! A foreign IR: bytecode for a machine with registers. Nothing is copied: the code itself is the graph, with an edge
//! for each jump, and dominators and loops are those of its instructions.

use std::error::Error;

use warpline_analysis::dataflow::{ProgramBuilder, Variable};
use warpline_analysis::phi_placement::{Accesses, Dominators, Pruning, precise};
use warpline_analysis::{CsrGraph, CycleForest, DomTree, EdgeId, Edges, Graph, Node};

#[derive(Clone, Copy)]
enum Code {
    /// `r[to] = r[a] + r[b]`
    Add { to: u8, a: u8, b: u8 },
    /// `r[to] = constant`
    Load { to: u8 },
    /// Goes to an instruction if `r[if_less] < r[than]`, else on.
    Jump { if_less: u8, than: u8, target: u16 },
    /// Ends.
    Return { value: u8 },
}

impl Code {
    fn reads(self) -> Vec<Variable> {
        let registers = match self {
            Code::Add { a, b, .. } => vec![a, b],
            Code::Load { .. } => vec![],
            Code::Jump { if_less, than, .. } => vec![if_less, than],
            Code::Return { value } => vec![value],
        };
        registers.into_iter().map(|r| Variable(r.into())).collect()
    }

    fn writes(self) -> Option<Variable> {
        match self {
            Code::Add { to, .. } | Code::Load { to } => Some(Variable(to.into())),
            _ => None,
        }
    }
}

/// A function. Instruction *i* goes on by edge 2*i*, and jumps by edge 2*i* + 1.
struct Function {
    code: Vec<Code>,
    arriving: Vec<Vec<EdgeId>>,
}

impl Function {
    fn new(code: Vec<Code>) -> Function {
        let mut function = Function { arriving: vec![Vec::new(); code.len()], code };
        for edge in function.nodes().flat_map(|n| function.leaving(n)).collect::<Vec<_>>() {
            let target = function.target(edge);
            function.arriving[target.index()].push(edge);
        }
        function
    }

    fn leaving(&self, node: Node) -> std::vec::IntoIter<EdgeId> {
        let [on, jump] = [2 * node.0, 2 * node.0 + 1].map(EdgeId);
        let edges = match self.code[node.index()] {
            Code::Add { .. } | Code::Load { .. } => vec![on],
            Code::Jump { .. } => vec![on, jump],
            Code::Return { .. } => vec![],
        };
        edges.into_iter()
    }
}

impl Graph for Function {
    fn node_count(&self) -> usize {
        self.code.len()
    }
    fn edge_count(&self) -> usize {
        2 * self.code.len()
    }
    fn entry(&self) -> Node {
        Node(0)
    }
    fn out_edges(&self, node: Node) -> impl Edges {
        self.leaving(node)
    }
    fn in_edges(&self, node: Node) -> impl Edges {
        self.arriving[node.index()].iter().copied()
    }
    fn source(&self, edge: EdgeId) -> Node {
        Node(edge.0 / 2)
    }
    fn target(&self, edge: EdgeId) -> Node {
        match self.code[edge.index() / 2] {
            Code::Jump { target, .. } if edge.0 % 2 == 1 => Node(target.into()),
            _ => Node(edge.0 / 2 + 1),
        }
    }
    fn edges(&self) -> impl DoubleEndedIterator<Item = EdgeId> + ExactSizeIterator + use<> {
        // Numbers of edges that no instruction has are left out.
        self.nodes().flat_map(|n| self.leaving(n)).collect::<Vec<_>>().into_iter()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // r0 = sum, r1 = counter, r2 = bound, r3 = step
    let function = Function::new(vec![
        Code::Load { to: 0 },
        Code::Load { to: 1 },
        Code::Load { to: 2 },
        Code::Load { to: 3 },
        Code::Add { to: 0, a: 0, b: 1 },
        Code::Add { to: 1, a: 1, b: 3 },
        Code::Jump { if_less: 1, than: 2, target: 4 },
        Code::Return { value: 0 },
    ]);
    let dominators = DomTree::compute(&function);
    let cycles = CycleForest::compute(&function);
    assert!(dominators.dominates(Node(4), Node(7)));
    assert_eq!(cycles.innermost(Node(6)).map(|c| cycles.header(c)), Some(Node(4)));

    // φs are asked for of a description, which has a graph of its own.
    let mut builder = ProgramBuilder::new(CsrGraph::copy_of(&function), 4);
    for node in function.nodes() {
        let code = function.code[node.index()];
        builder.begin(node);
        match code.writes() {
            Some(result) => _ = builder.instruction(code.reads(), [result]),
            None => _ = builder.branch(code.reads()),
        }
    }
    let program = builder.build()?;
    let placed = precise::place(&Dominators::of(&function), &Accesses::of(&program), Pruning::Pruned);
    for register in 0..program.variables() {
        println!("r{register}: φs at {:?}", placed.of(register));
    }
    assert_eq!(placed.of(0), [Node(4)]);
    assert_eq!(placed.of(2), []);
    Ok(())
}

#[test]
fn runs() {
    main().expect("an example that runs");
}
