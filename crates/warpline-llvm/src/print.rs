//! Results in the form of `opt -passes='print<uniformity>'`, as LLVM 22 prints it.
//!
//! Instructions are printed by LLVM itself, facts are those of this analysis. Where LLVM prints lists in the order of
//! hash tables (cycles with divergent exits, the blocks of a cycle, temporally divergent uses) the order here is that
//! of the function.

use std::fmt::Write as _;

use warpline_ir::printable::line;
use warpline_ir::{Block, FuncId, Function, Inst, Origin, Value};
use warpline_uniformity::Uniformity;
use warpline_uniformity::report::{CycleReport, cycle_reports};

use crate::ffi::load::functions;
use crate::import::Imported;
use crate::module::take_message;

impl Imported {
    /// What LLVM 22's `print<uniformity>` would print of a function if it found these facts.
    pub fn print_uniformity(&self, id: FuncId, result: &Uniformity) -> String {
        let func = &self.ir.functions[id];
        let printer = Printer { imported: self, func, result };
        printer.function()
    }

    /// The text of a value that came from LLVM, as LLVM prints it.
    fn llvm_text(&self, origin: Option<Origin>) -> String {
        let original = origin.and_then(|o| self.bridge.original(o));
        // SAFETY: a live value; the text is freed by `take_message`.
        original.map(|v| take_message(unsafe { functions().LLVMPrintValueToString(v) })).unwrap_or_default()
    }
}

struct Printer<'a> {
    imported: &'a Imported,
    func: &'a Function,
    result: &'a Uniformity,
}

impl Printer<'_> {
    fn function(&self) -> String {
        let (func, result) = (self.func, self.result);
        let mut out = format!("UniformityInfo for function '{}':\n", line(&func.name));
        let texts = self.instruction_texts();
        let blocks: Vec<String> = func.layout.iter().zip(texts).map(|(&b, t)| self.block(b, &t)).collect();
        let arguments: Vec<String> = (func.params.iter().enumerate())
            .filter(|&(_, &p)| result.is_divergent(p))
            .map(|(i, _)| self.argument(i))
            .collect();
        let cycles = self.cycles();
        let assumed: Vec<&str> = cycles.iter().filter(|c| c.2).map(|c| &*c.0).collect();
        let exits: Vec<&str> = cycles.iter().filter(|c| c.1 && !c.2).map(|c| &*c.0).collect();
        let quiet = arguments.is_empty() && assumed.is_empty() && exits.is_empty();
        if quiet && !blocks.iter().any(|b| b.lines().any(|l| l.starts_with(DIVERGENT))) {
            out.push_str("ALL VALUES UNIFORM\n");
            return out;
        }
        if !arguments.is_empty() {
            out.push_str("DIVERGENT ARGUMENTS:\n");
            for a in &arguments {
                let _ = writeln!(out, "  DIVERGENT: {a}");
            }
        }
        for (title, list) in [("CYCLES ASSUMED DIVERGENT:", assumed), ("CYCLES WITH DIVERGENT EXIT:", exits)]
        {
            if !list.is_empty() {
                let _ = writeln!(out, "{title}");
                for c in list {
                    let _ = writeln!(out, "  {c}");
                }
            }
        }
        self.temporal(&cycles, &mut out);
        blocks.iter().for_each(|b| out.push_str(b));
        out
    }

    fn argument(&self, number: usize) -> String {
        let function = self.func.origin.expand().and_then(|o| self.imported.bridge.original(o));
        function
            .map(|f| {
                // SAFETY: a live function with this parameter; the text is freed by `take_message`.
                take_message(unsafe {
                    functions().LLVMPrintValueToString(functions().LLVMGetParam(f, number as u32))
                })
            })
            .unwrap_or_default()
    }

    /// All cycles by number, as LLVM prints one, and whether lanes leave it apart or it was given up.
    fn cycles(&self) -> Vec<(String, bool, bool)> {
        let depths = self.result.cycles().cycles().map(|c| self.result.cycles().depth(c));
        let text = |(depth, r): (u32, CycleReport)| {
            let mut text = format!("depth={depth}: entries({})", r.entries.join(" "));
            for b in r.blocks.iter().filter(|&b| !r.entries.contains(b)) {
                text.push(' ');
                text.push_str(b);
            }
            if r.blocks_left_out > 0 {
                text += &format!(" ... ({} more)", r.blocks_left_out);
            }
            (text, r.divergent_exit, r.assumed_divergent)
        };
        depths.zip(cycle_reports(self.func, self.result)).map(text).collect()
    }

    fn temporal(&self, cycles: &[(String, bool, bool)], out: &mut String) {
        let uses = self.result.temporal_uses(self.func);
        if uses.is_empty() {
            return;
        }
        let text = |i: Inst| self.imported.llvm_text(self.func.insts[i].origin.expand());
        out.push_str("\nTEMPORAL DIVERGENCE LIST:\n");
        for (value, user, cycle) in uses {
            let value = self.func.def_inst(value).map(text).unwrap_or_default();
            let _ = writeln!(out, "Value         :{value}\nUsed by       :{}", text(user));
            let _ = writeln!(out, "Outside cycle :{}\n", cycles[cycle.index()].0);
        }
    }

    fn block(&self, block: Block, texts: &[String]) -> String {
        let mut out =
            format!("\nBLOCK {}\nDEFINITIONS\n", self.result.names(self.func).block(self.func, block));
        let insts: Vec<Inst> = self.func.block_insts(block).collect();
        for (i, (&inst, text)) in insts.iter().zip(texts).enumerate() {
            if i + 1 == insts.len() {
                out.push_str("TERMINATORS\n");
            }
            let mark = if self.is_divergent(block, inst) { DIVERGENT } else { UNIFORM };
            let _ = writeln!(out, "{mark}{text}");
        }
        out.push_str("END BLOCK\n");
        out
    }

    /// Whether LLVM's form marks an instruction: its results, or what it does with operands, differ between lanes.
    fn is_divergent(&self, block: Block, inst: Inst) -> bool {
        let data = &self.func.insts[inst];
        if data.op.is_terminator() {
            let operand = |&a: &Value| self.result.is_divergent_at(a, block);
            return self.result.is_divergent_branch(block) || data.args.iter().any(operand);
        }
        match data.results.is_empty() {
            true => data.args.iter().any(|&a| self.result.is_divergent_at(a, block)),
            false => data.results.iter().any(|&r| self.result.is_divergent(r)),
        }
    }

    /// The texts of all instructions by block. LLVM prints an instruction by numbering its whole function, so the
    /// function is printed once and taken apart.
    fn instruction_texts(&self) -> Vec<Vec<String>> {
        let func = self.func;
        let body = self.imported.llvm_text(func.origin.expand());
        let mut all: Vec<String> = Vec::new();
        for line in body.lines().skip_while(|l| !l.starts_with("define ")).skip(1) {
            let starts = line.starts_with("  ") && !line[2..].starts_with([' ', ']', ';']);
            let goes_on = line.starts_with("    ") && !line.trim_start().starts_with('#') || line == "  ]";
            match all.last_mut() {
                _ if starts => all.push(line.to_owned()),
                Some(last) if goes_on => {
                    last.push('\n');
                    last.push_str(line);
                }
                _ => {}
            }
        }
        let counts: Vec<usize> = func.layout.iter().map(|&b| func.block_insts(b).count()).collect();
        if all.len() != counts.iter().sum::<usize>() {
            let text = |i: Inst| self.imported.llvm_text(func.insts[i].origin.expand());
            return func.layout.iter().map(|&b| func.block_insts(b).map(text).collect()).collect();
        }
        let mut all = all.into_iter();
        counts.into_iter().map(|n| all.by_ref().take(n).collect()).collect()
    }
}

/// The marks in front of instructions, which begin with two spaces.
const DIVERGENT: &str = "  DIVERGENT: ";
const UNIFORM: &str = "             ";
