//! How many `alloca`s are promoted and how many φs are there.
//!
//! LLVM's side is what its own pass leaves of the module, counted after import. It asks its simplifier about each new
//! φ until nothing changes; the φs that go thereby are those whose operands are one value besides `undef` and the φ
//! itself, if that value dominates the φ. `folded` counts our φs after the same rule, [`folded`] says how. (Since
//! LLVM 20 the value must also be known not to be poison.)

use std::collections::HashMap;
use std::ops::AddAssign;

use warpline_analysis::{DomTree, Node};
use warpline_dataflow::ssa::promote_and_construct;
use warpline_ir::{Block, Constant, Function, Inst, Module as Ir, Op, Value};
use warpline_llvm::{Error, Imported, Module};

use super::Program;

#[derive(Default, Clone, Copy)]
struct Counts {
    functions: usize,
    blocks: usize,
    /// `alloca`s at the start.
    allocas: usize,
    ours: Form,
    folded: Form,
    llvm: Form,
    /// Functions in which we promote another number than LLVM.
    other_allocas: usize,
    /// Functions in which our φs, folded, are fewer or more than LLVM's.
    fewer_phis: usize,
    more_phis: usize,
    rounds: usize,
}

/// A function as a pass left it.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
struct Form {
    allocas: usize,
    phis: usize,
}

impl Form {
    fn of(func: &Function) -> Form {
        let mut form = Form::default();
        for &block in &func.layout {
            form.phis += func.blocks[block].phis.len();
            let insts = func.blocks[block].insts.iter();
            form.allocas += insts.filter(|&&i| matches!(func.insts[i].op, Op::Alloca { .. })).count();
        }
        form
    }
}

impl AddAssign for Form {
    fn add_assign(&mut self, that: Form) {
        self.allocas += that.allocas;
        self.phis += that.phis;
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, that: Counts) {
        self.functions += that.functions;
        self.blocks += that.blocks;
        self.allocas += that.allocas;
        self.ours += that.ours;
        self.folded += that.folded;
        self.llvm += that.llvm;
        self.other_allocas += that.other_allocas;
        self.fewer_phis += that.fewer_phis;
        self.more_phis += that.more_phis;
        self.rounds = self.rounds.max(that.rounds);
    }
}

/// Prints the table.
pub(crate) fn print(programs: &[Program], differences: bool) -> Result<(), Error> {
    println!(
        "| program | functions | blocks | allocas | stay: ours | LLVM | functions where they differ | φs: ours \
         | folded | LLVM | \
         functions with fewer | with more | rounds |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    let mut total = Counts::default();
    let mut listed = String::new();
    for program in programs {
        let mut sum = Counts::default();
        for path in &program.files {
            let module = Module::read(path)?;
            let mut promoted = module.try_clone()?;
            promoted.optimise("function(mem2reg)", None)?;
            let (before, after) = (Imported::new(module).ir, Imported::new(promoted).ir);
            for (id, func) in &before.functions {
                sum += function(&before, func, &after.functions[id], &mut listed);
            }
        }
        row(&program.name, &sum);
        total += sum;
    }
    if programs.len() > 1 {
        row("all", &total);
    }
    if differences {
        print!("\n{listed}");
    }
    Ok(())
}

fn row(name: &str, c: &Counts) {
    println!(
        "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
        c.functions,
        c.blocks,
        c.allocas,
        c.ours.allocas,
        c.llvm.allocas,
        c.other_allocas,
        c.ours.phis,
        c.folded.phis,
        c.llvm.phis,
        c.fewer_phis,
        c.more_phis,
        c.rounds
    );
}

fn function(module: &Ir, before: &Function, llvm: &Function, listed: &mut String) -> Counts {
    assert_eq!(before.name, llvm.name, "`mem2reg` adds and removes no function");
    let mut func = before.clone();
    let registers = promote_and_construct(module, &mut func);
    let (ours, llvm) = (Form::of(&func), Form::of(llvm));
    let folded = Form { phis: ours.phis - folded(before, &func), ..ours };
    if folded != llvm {
        listed.push_str(&format!(
            "{} {}: allocas {} and {}, φs {} (folded {}) and {}\n",
            module.name, before.name, ours.allocas, llvm.allocas, ours.phis, folded.phis, llvm.phis
        ));
    }
    Counts {
        functions: 1,
        blocks: before.layout.len(),
        allocas: Form::of(before).allocas,
        ours,
        folded,
        llvm,
        other_allocas: usize::from(ours.allocas != llvm.allocas),
        fewer_phis: usize::from(folded.phis < llvm.phis),
        more_phis: usize::from(folded.phis > llvm.phis),
        rounds: registers.rounds,
    }
}

/// How many of the φs that were placed stand for one value in LLVM's eyes.
fn folded(before: &Function, func: &Function) -> usize {
    let dom = DomTree::compute(&func.graph().0);
    let is_new = |&(block, position): &(Block, usize)| position >= before.blocks[block].phis.len();
    let all = func.layout.iter().flat_map(|&b| (0..func.blocks[b].phis.len()).map(move |k| (b, k)));
    let mut left: Vec<(Block, usize)> = all.filter(is_new).collect();
    let placed = left.len();
    let mut stands_for: HashMap<Value, Value> = HashMap::new();
    loop {
        let count = left.len();
        left.retain(|&(block, position)| {
            let phi: Inst = func.blocks[block].phis[position];
            let result = func.insts[phi].results[0];
            let value = one_value(func, &dom, block, position, result, &stands_for);
            if let Some(value) = value {
                stands_for.insert(result, value);
            }
            value.is_none()
        });
        if left.len() == count {
            return placed - count;
        }
    }
}

/// The value that a φ stands for, if there is one.
fn one_value(
    func: &Function,
    dom: &DomTree,
    block: Block,
    position: usize,
    result: Value,
    stands_for: &HashMap<Value, Value>,
) -> Option<Value> {
    let (mut common, mut undef) = (None, None);
    for &edge in &func.blocks[block].preds {
        let edge = &func.edges[edge];
        if !dom.is_reachable(Node::from(edge.from)) {
            continue;
        }
        let mut value = edge.args[position];
        while let Some(&next) = stands_for.get(&value) {
            value = next;
        }
        if matches!(func.constant(value), Some(Constant::Undef(_) | Constant::Poison(_))) {
            undef = Some(value);
        } else if value != result && *common.get_or_insert(value) != value {
            return None;
        }
    }
    match (common, undef) {
        (Some(value), Some(_)) => {
            let above = |b| dom.strictly_dominates(Node::from(b), Node::from(block));
            func.def_block(value).is_none_or(above).then_some(value)
        }
        (Some(value), None) => Some(value),
        (None, undef) => undef,
    }
}
