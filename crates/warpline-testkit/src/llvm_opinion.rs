//! What LLVM's own uniformity analysis says of a module: a reader for the text of `opt -passes='print<uniformity>'`.
//!
//! The text comes from `warpline_llvm::worker::print_uniformity` or from an `opt` of LLVM 19 to 23. LLVM prints every
//! instruction of every block, in order, with a mark before the divergent ones, so facts are told apart by their
//! place, not by their text.

use warpline_ir::{Function, Inst};
use warpline_uniformity::Uniformity;

/// What LLVM says of one function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Opinion {
    /// The function's name.
    pub function: String,
    /// The divergent arguments as LLVM prints them, such as `i32 %v`; in LLVM 19 in no particular order.
    pub arguments: Vec<String>,
    /// The cycles in which everything is assumed divergent, as LLVM prints them.
    pub assumed: Vec<String>,
    /// The cycles with a divergent exit, as LLVM prints them, in no particular order.
    pub exits: Vec<String>,
    /// Value, user and cycle of each temporally divergent use; LLVM 19 has none.
    pub temporal: Vec<[String; 3]>,
    /// The blocks in the order of the function. Empty if LLVM 19 says that everything is uniform.
    pub blocks: Vec<BlockOpinion>,
}

/// What LLVM says of one block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockOpinion {
    /// Its name, or its slot number.
    pub name: String,
    /// Every instruction but the terminator: whether it is divergent, and its text.
    pub definitions: Vec<(bool, String)>,
    /// The terminator.
    pub terminators: Vec<(bool, String)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Nothing,
    Arguments,
    Assumed,
    Exits,
    Temporal,
    Definitions,
    Terminators,
}

/// Reads what LLVM printed. Text that is no such report is skipped.
pub fn parse(text: &str) -> Vec<Opinion> {
    let mut found = Vec::new();
    for part in format!("\n{text}").split("\nUniformityInfo for function '").skip(1) {
        if let Some((name, body)) = part.split_once("':\n") {
            found.push(parse_function(name, body));
        }
    }
    found
}

fn parse_function(name: &str, body: &str) -> Opinion {
    let mut opinion = Opinion { function: name.to_owned(), ..Opinion::default() };
    let mut part = Part::Nothing;
    for line in body.lines() {
        part = match line {
            "DIVERGENT ARGUMENTS:" => Part::Arguments,
            // LLVM 19 has three S.
            "CYCLES ASSSUMED DIVERGENT:" | "CYCLES ASSUMED DIVERGENT:" => Part::Assumed,
            "CYCLES WITH DIVERGENT EXIT:" => Part::Exits,
            "TEMPORAL DIVERGENCE LIST:" => Part::Temporal,
            "DEFINITIONS" => Part::Definitions,
            "TERMINATORS" => Part::Terminators,
            "END BLOCK" | "ALL VALUES UNIFORM" => Part::Nothing,
            _ => {
                match line.strip_prefix("BLOCK ") {
                    Some(name) => {
                        let name = name.to_owned();
                        opinion.blocks.push(BlockOpinion { name, ..BlockOpinion::default() });
                        part = Part::Nothing;
                    }
                    None => opinion.read(part, line),
                }
                continue;
            }
        };
    }
    opinion
}

impl Opinion {
    /// Takes a line that is no headline.
    fn read(&mut self, part: Part, line: &str) {
        match part {
            Part::Nothing => {}
            Part::Arguments => self.arguments.extend(line.strip_prefix("  DIVERGENT: ").map(str::to_owned)),
            Part::Assumed if line.starts_with("  depth=") => self.assumed.push(line.trim().to_owned()),
            Part::Exits if line.starts_with("  depth=") => self.exits.push(line.trim().to_owned()),
            Part::Assumed | Part::Exits => {}
            Part::Temporal => {
                let heads = ["Value         :", "Used by       :", "Outside cycle :"];
                for (i, head) in heads.into_iter().enumerate() {
                    let Some(rest) = line.strip_prefix(head) else { continue };
                    if i == 0 {
                        self.temporal.push(Default::default());
                    }
                    if let Some(last) = self.temporal.last_mut() {
                        last[i] = rest.trim().to_owned();
                    }
                }
            }
            Part::Definitions | Part::Terminators => {
                let Some(block) = self.blocks.last_mut() else { return };
                let list =
                    if part == Part::Definitions { &mut block.definitions } else { &mut block.terminators };
                if let Some(text) = line.strip_prefix("  DIVERGENT:   ") {
                    list.push((true, text.to_owned()));
                } else if let Some(text) = line.strip_prefix("               ") {
                    list.push((false, text.to_owned()));
                } else if let Some((_, text)) = list.last_mut() {
                    // A `switch` continues on further lines.
                    text.push('\n');
                    text.push_str(line);
                }
            }
        }
    }
}

/// What one side finds of the values and branches of a function.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Results of instructions, and blocks that are left by several edges to different blocks.
    pub all: usize,
    /// How many of them this analysis takes for divergent.
    pub ours: usize,
    /// How many LLVM does.
    pub theirs: usize,
}

impl Tally {
    fn count(&mut self, ours: bool, theirs: bool) {
        self.all += 1;
        self.ours += usize::from(ours);
        self.theirs += usize::from(theirs);
    }
}

/// The results of two analyses of one function, side by side.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Results of instructions.
    pub values: Tally,
    /// Branches.
    pub branches: Tally,
    /// What is divergent here and uniform to LLVM: the instruction as LLVM prints it (in short if LLVM printed none),
    /// and the instruction.
    pub only_ours: Vec<(String, Inst)>,
    /// What is uniform here and divergent to LLVM.
    pub only_theirs: Vec<(String, Inst)>,
}

/// Compares results of this analysis with LLVM's of the same function; `None` if the opinion is about another text:
/// LLVM reads old intrinsics as other instructions from version to version.
pub fn compare(func: &Function, result: &Uniformity, opinion: &Opinion) -> Option<Comparison> {
    let mut found = Comparison::default();
    for (i, &block) in func.layout.iter().enumerate() {
        let theirs: Option<Vec<&(bool, String)>> = match opinion.blocks.is_empty() {
            true => None,
            false => {
                let b = opinion.blocks.get(i)?;
                Some(b.definitions.iter().chain(&b.terminators).collect())
            }
        };
        if theirs.as_ref().is_some_and(|t| t.len() != func.block_insts(block).count()) {
            return None;
        }
        for (position, inst) in func.block_insts(block).enumerate() {
            let data = &func.insts[inst];
            let (marked, text) = match (&theirs, data.results.first()) {
                (Some(t), _) => (t[position].0, t[position].1.clone()),
                (None, Some(&r)) => {
                    (false, format!("{} = {}", result.names(func).value(func, r), data.op.name()))
                }
                (None, None) => (false, data.op.name().to_owned()),
            };
            let mut note = |tally: &mut Tally, ours: bool, theirs: bool| {
                tally.count(ours, theirs);
                match (ours, theirs) {
                    (true, false) => found.only_ours.push((text.clone(), inst)),
                    (false, true) => found.only_theirs.push((text.clone(), inst)),
                    _ => {}
                }
            };
            let is_branch = data.op.is_terminator();
            for &r in &data.results {
                // To LLVM the value of a terminator is never divergent.
                note(&mut found.values, result.is_divergent(r), marked && !is_branch);
            }
            let mut targets = data.edges.iter().map(|&e| func.edges[e].to);
            let first = targets.next();
            if is_branch && targets.any(|t| Some(t) != first) {
                note(&mut found.branches, result.is_divergent_branch(block), marked);
            }
        }
    }
    (opinion.blocks.is_empty() || opinion.blocks.len() == func.layout.len()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
UniformityInfo for function 'f':
DIVERGENT ARGUMENTS:
  DIVERGENT: i32 %v
CYCLES ASSUMED DIVERGENT:
  depth=1: entries(r l) a
CYCLES WITH DIVERGENT EXIT:
  depth=1: entries(h)

TEMPORAL DIVERGENCE LIST:
Value         :  %k = add i32 %i, 1
Used by       :  %u = add i32 %k, 0
Outside cycle :depth=1: entries(h)

BLOCK entry
DEFINITIONS
  DIVERGENT:   %t = call i32 @t()
               %x = add i32 %u, 1
TERMINATORS
  DIVERGENT:   switch i32 %t, label %a [
    i32 1, label %b
  ]
END BLOCK

UniformityInfo for function 'g':
ALL VALUES UNIFORM
";

    #[test]
    fn all_parts_of_the_text_are_read() {
        let read = parse(TEXT);
        let [f, g] = &read[..] else { panic!("{read:?}") };
        assert_eq!((&*f.function, &*g.function), ("f", "g"));
        assert_eq!(f.arguments, ["i32 %v"]);
        assert_eq!((&*f.assumed[0], &*f.exits[0]), ("depth=1: entries(r l) a", "depth=1: entries(h)"));
        assert_eq!(f.temporal, [["%k = add i32 %i, 1", "%u = add i32 %k, 0", "depth=1: entries(h)"]]);
        let [block] = &f.blocks[..] else { panic!("{f:?}") };
        assert_eq!(block.definitions.iter().map(|d| d.0).collect::<Vec<_>>(), [true, false]);
        assert!(block.terminators[0].0 && block.terminators[0].1.ends_with("label %b\n  ]"));
        assert!(g.blocks.is_empty() && g.arguments.is_empty());
    }
}
