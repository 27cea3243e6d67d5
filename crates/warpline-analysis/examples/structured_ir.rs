//! A foreign IR: a tree of statements, as front ends and shader compilers have. It is described in one walk, and asked
//! at which loops and conditions threads diverge.

use std::error::Error;

use warpline_analysis::dataflow::{ProgramBuilder, Variable};
use warpline_analysis::ssi::{Strategy, ssify};
use warpline_analysis::uniformity::{Origin, Rule, SsaProgram, Uniformity};
use warpline_analysis::{CsrGraph, Node};

enum Statement {
    /// `name = f(operands)`; no operand called `lane` is needed: [`Statement::Lane`] makes it.
    Let(&'static str, Vec<&'static str>),
    /// `name = the thread's number`.
    Lane(&'static str),
    If(&'static str, Vec<Statement>, Vec<Statement>),
    While(&'static str, Vec<Statement>),
}

/// What a block does: instructions with their operands, and the variable that decides where it goes on.
#[derive(Default)]
struct Block {
    instructions: Vec<(Vec<Variable>, Variable, bool)>,
    decides: Option<Variable>,
}

/// The blocks and edges that statements become.
#[derive(Default)]
struct Lowered {
    names: Vec<&'static str>,
    blocks: Vec<Block>,
    edges: Vec<(Node, Node)>,
}

impl Lowered {
    fn variable(&mut self, name: &'static str) -> Variable {
        let known = self.names.iter().position(|&n| n == name);
        let number = known.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        Variable(number as u32)
    }

    fn block(&mut self) -> Node {
        self.blocks.push(Block::default());
        Node::new(self.blocks.len() - 1)
    }

    /// Appends statements to the block `at`; returns the block in which they end.
    fn lower(&mut self, mut at: Node, statements: &[Statement]) -> Node {
        for statement in statements {
            match statement {
                Statement::Let(name, operands) => {
                    let uses = operands.iter().map(|o| self.variable(o)).collect();
                    let result = self.variable(name);
                    self.blocks[at.index()].instructions.push((uses, result, false));
                }
                Statement::Lane(name) => {
                    let result = self.variable(name);
                    self.blocks[at.index()].instructions.push((Vec::new(), result, true));
                }
                Statement::If(condition, yes, no) => {
                    self.blocks[at.index()].decides = Some(self.variable(condition));
                    let (first, second) = (self.block(), self.block());
                    self.edges.extend([(at, first), (at, second)]);
                    let ends = [self.lower(first, yes), self.lower(second, no)];
                    at = self.block();
                    self.edges.extend(ends.map(|end| (end, at)));
                }
                Statement::While(condition, body) => {
                    let header = self.block();
                    self.blocks[header.index()].decides = Some(self.variable(condition));
                    let first = self.block();
                    self.edges.extend([(at, header), (header, first)]);
                    let end = self.lower(first, body);
                    at = self.block();
                    self.edges.extend([(end, header), (header, at)]);
                }
            }
        }
        at
    }

    /// The variables on which threads part, by name.
    fn divergent_conditions(&self) -> Result<Vec<&'static str>, Box<dyn Error>> {
        let graph = CsrGraph::new(self.blocks.len(), Node(0), self.edges.iter().copied())?;
        let mut builder = ProgramBuilder::new(graph, self.names.len());
        let mut lanes = Vec::new();
        for (number, block) in self.blocks.iter().enumerate() {
            builder.begin(Node::new(number));
            for (uses, result, is_lane) in &block.instructions {
                let at = builder.instruction(uses.iter().copied(), [*result]);
                lanes.extend(is_lane.then_some(at));
            }
            if let Some(decides) = block.decides {
                builder.branch([decides]);
            }
        }
        let program = builder.build()?;
        let ssi = ssify(&program, &Strategy::SSA);
        let rule = |origin| match origin {
            Origin::Instruction(at, _) if lanes.contains(&at) => Rule::Source,
            _ => Rule::Default,
        };
        let ssa = SsaProgram::of_versions(&program, &ssi, rule)?;
        let found = Uniformity::compute(program.graph(), &ssa);
        let parted = self.blocks.iter().enumerate().filter(|(n, _)| found.is_divergent_branch(Node::new(*n)));
        Ok(parted.filter_map(|(_, block)| block.decides).map(|v| self.names[v.index()]).collect())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    use Statement::{If, Lane, Let, While};
    // lane = …; n = …; go = f(n); while (go) { go = f(go); k = f(lane) } odd = f(lane);
    // if (odd) { n = f() } else { n = f() }; again = f(n); while (again) { again = f(again) }
    let source = [
        Lane("lane"),
        Let("n", vec![]),
        Let("go", vec!["n"]),
        While("go", vec![Let("go", vec!["go"]), Let("k", vec!["lane"])]),
        Let("odd", vec!["lane"]),
        If("odd", vec![Let("n", vec![])], vec![Let("n", vec![])]),
        Let("again", vec!["n"]),
        While("again", vec![Let("again", vec!["again"])]),
    ];
    let mut lowered = Lowered::default();
    let entry = lowered.block();
    lowered.lower(entry, &source);
    let parted = lowered.divergent_conditions()?;
    println!("threads part on: {}", parted.join(", "));
    assert_eq!(parted, ["odd", "again"]);
    Ok(())
}

#[test]
fn runs() {
    main().expect("an example that runs");
}
