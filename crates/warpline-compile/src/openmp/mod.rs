//! What OpenMP's directives say of loops: each clause is honoured, or refused by its name.
//!
//! | clause | what becomes of it |
//! |---|---|
//! | `simdlen(n)` | a wish for n lanes |
//! | `safelen(n)` | at most n lanes |
//! | `reduction(op : list)` | floating-point numbers are combined in any order in the φs of these variables |
//! | `linear(list : step)` | clang does not get it: the loop shows the step itself, and another one is refused |
//! | `private`, `lastprivate`, `collapse`, `aligned`, `nontemporal`, `order` | clang's IR does what they say |
//! | clauses for threads in combined directives | left out, with the threads |
//! | `if`, `inscan`, reductions of the user's own, all else | refused |
//!
//! Which φ is that of a variable is told by its name, which clang gives to its private copy, and by the line of the
//! instruction behind the loop by which clang combines the copy with the variable: that is the directive's.

mod in_loops;

use std::path::{Path, PathBuf};

use warpline_ir::Place;
use warpline_ir::{BinaryOp, Block, Function, Inst, Module, Op, Value};
use warpline_llvm::openmp::{Clause, Directive};
use warpline_llvm::{FrontEnd, MarkedLoop, openmp_directives};
use warpline_vectorize::loops::Nest;

use crate::error::{Error, Result};
use crate::options::KernelOptions;

pub(crate) use in_loops::check;

/// What a directive says of a loop.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Said {
    /// How many iterations it wants side by side.
    pub(crate) simdlen: Option<u32>,
    /// How many consecutive ones may be executed at once at most.
    pub(crate) safelen: Option<u32>,
    /// φs of the loop's header, of numbers that may be combined in any order.
    pub(crate) reductions: Vec<Value>,
}

/// The directives of an input.
///
/// # Errors
/// If clang cannot preprocess it.
pub(crate) fn read(options: &KernelOptions) -> Result<Vec<Directive>> {
    let KernelOptions { contract, flags, .. } = options;
    let front_end = FrontEnd { triple: options.triple.as_deref(), contract: *contract, flags, shims: false };
    Ok(openmp_directives(&options.input, front_end)?)
}

/// Whether directives of the input itself, not of its headers, mark loops.
pub(crate) fn marks_loops(options: &KernelOptions) -> bool {
    // Whoever compiles the input has better words for what is wrong with it.
    let found = read(options).unwrap_or_default();
    let own = |d: &&Directive| same_file(&d.file, &options.input.to_string_lossy());
    found.iter().filter(own).any(|d| d.is_simd_loop() || d.is_promise_of_clang())
}

/// The directive by which a loop is marked.
///
/// # Errors
/// If there are several that differ, which nobody can tell apart.
pub(crate) fn of_loop<'a>(directives: &'a [Directive], mark: &MarkedLoop) -> Result<Option<&'a Directive>> {
    let Some(Place { file, line, .. }) = &mark.begins else { return Ok(None) };
    let is_meant = |d: &&Directive| d.is_simd_loop() && d.line == *line && same_file(&d.file, file);
    let mut meant = directives.iter().filter(is_meant);
    let first = meant.next();
    match (first, meant.find(|other| Some(&other.clauses) != first.map(|d| &d.clauses))) {
        (Some(one), Some(other)) => Err(refusal(
            one,
            &format!(
                "the directive `{}` is in the same line, and their loops cannot be told apart: put them into \
                 lines of their own",
                other.name
            ),
        )),
        _ => Ok(first),
    }
}

/// Whether two paths may be those of one file: the compiler writes them in several ways.
fn same_file(one: &str, other: &str) -> bool {
    Path::new(one).file_name() == Path::new(other).file_name()
}

fn refusal(directive: &Directive, message: &str) -> Error {
    let (path, line) = (PathBuf::from(&directive.file), directive.line);
    Error::Directive { path, line, message: format!("`#pragma omp {}`: {message}", directive.name) }
}

/// What a directive says of the loop with this header.
///
/// # Errors
/// If it has a clause that is not honoured, or one that the loop contradicts.
pub(crate) fn understand(
    directive: &Directive,
    mark: &MarkedLoop,
    module: &Module,
    func: &Function,
    header: Block,
) -> Result<Said> {
    let column = mark.begins.as_ref().map_or(0, |place| place.column);
    let of = LoopOf { module, func, header, nest: Nest::of(func), directive, column };
    let mut said = Said::default();
    let has_simdlen = directive.all("simdlen").next().is_some();
    for clause in &directive.clauses {
        let argument = clause.argument.as_deref().unwrap_or_default();
        match clause.name.as_str() {
            // clang has computed it: it may be an expression with constants of a template.
            "simdlen" => said.simdlen = mark.width.or(number(argument)),
            "safelen" => {
                let known = number(argument).or(mark.width.filter(|_| !has_simdlen));
                // More than is wished for is not needed.
                said.safelen = known.or(mark.width);
                if said.safelen.is_none() {
                    return Err(of.refuses(clause, "its number cannot be read: write it in digits"));
                }
            }
            "reduction" => said.reductions.extend(of.reduction(clause)?),
            "linear" => of.linear(clause)?,
            "lastprivate" if argument.contains(':') => {
                return Err(of.refuses(clause, "modifiers are not supported"));
            }
            "private" | "lastprivate" | "collapse" | "aligned" | "nontemporal" | "order" => {}
            "firstprivate" if directive.name != "simd" => of.firstprivate(clause)?,
            "if" if directive.name != "simd" && is_for_threads(argument) => {}
            "ordered" if clause.argument.is_none() && directive.name != "simd" => {}
            name if directive.name != "simd" && OF_THREADS.contains(&name) => {}
            _ => return Err(of.refuses(clause, "not supported")),
        }
    }
    Ok(said)
}

/// What is left out of a directive, in words; none if it is for lanes alone.
pub(crate) fn left_out(directive: &Directive) -> Option<String> {
    (directive.name != "simd").then(|| {
        format!(
            "{}:{}: of `#pragma omp {}` only `simd` is honoured: one thread executes the loop",
            directive.file, directive.line, directive.name
        )
    })
}

/// Clauses of combined directives that say nothing of lanes.
const OF_THREADS: [&str; 26] = [
    "schedule",
    "num_threads",
    "proc_bind",
    "default",
    "shared",
    "nowait",
    "dist_schedule",
    "num_teams",
    "thread_limit",
    "copyin",
    "num_tasks",
    "grainsize",
    "untied",
    "mergeable",
    "nogroup",
    "priority",
    "filter",
    "device",
    "map",
    "is_device_ptr",
    "has_device_addr",
    "defaultmap",
    "bind",
    "allocate",
    "final",
    "depend",
];

/// Whether the modifier of an `if` says that it is about threads.
fn is_for_threads(argument: &str) -> bool {
    let modifier = argument.split_once(':').map(|(modifier, _)| modifier.trim());
    modifier.is_some_and(|m| ["parallel", "target", "taskloop", "teams"].contains(&m))
}

/// A loop and its directive.
struct LoopOf<'a> {
    module: &'a Module,
    func: &'a Function,
    header: Block,
    nest: Nest,
    directive: &'a Directive,
    /// The column that the directive begins in; code that was moved there has it, too.
    column: u32,
}

impl LoopOf<'_> {
    fn refuses(&self, clause: &Clause, reason: &str) -> Error {
        refusal(self.directive, &format!("the clause `{}`: {reason}", clause.text()))
    }

    /// The φs that a clause allows to be combined in any order.
    fn reduction(&self, clause: &Clause) -> Result<Vec<Value>> {
        const KNOWN: [&str; 10] = ["+", "-", "*", "&", "|", "^", "&&", "||", "min", "max"];
        let argument = clause.argument.as_deref().unwrap_or_default();
        let Some((operator, list)) = argument.split_once(':') else {
            return Err(self.refuses(clause, "it has no operator"));
        };
        let mut words = operator.split(',').map(str::trim);
        let operator = words.next_back().unwrap_or_default();
        if let Some(modifier) = words.find(|&modifier| modifier != "default") {
            return Err(self.refuses(clause, &format!("the modifier `{modifier}` is not supported")));
        }
        if !KNOWN.contains(&operator) {
            let reason = format!("`{operator}` is a reduction of the user's own, which is not supported");
            return Err(self.refuses(clause, &reason));
        }
        if let "&&" | "||" = operator {
            let reason = "not supported: use 0 and 1, and `&` or `|`";
            return Err(self.refuses(clause, reason));
        }
        Ok(items(list).iter().flat_map(|variable| self.private_copies(variable)).collect())
    }

    /// The φs of a variable's private copy.
    fn private_copies(&self, variable: &str) -> Vec<Value> {
        let named = self.phis_of(variable);
        let combined: Vec<Value> =
            named.iter().copied().filter(|&phi| self.is_combined_behind(phi)).collect();
        if !combined.is_empty() {
            return combined;
        }
        // What it is combined with may be nothing, and then no instruction is left: a copy begins with a constant,
        // and has no name of another variable.
        let begins = |&phi: &Value| {
            let name = self.func.values[phi].name.split('.').next().unwrap_or_default();
            let is_other = name != variable && mentions(&self.directive.statement, name).next().is_some();
            !is_other && self.entering(phi).is_some_and(|v| self.func.def_inst(v).is_none())
        };
        named.into_iter().filter(begins).collect()
    }

    /// The φs of the header that have the name of a variable.
    fn phis_of(&self, variable: &str) -> Vec<Value> {
        let phis = self.func.blocks[self.header].phis.iter().map(|&phi| self.func.insts[phi].results[0]);
        phis.filter(|&phi| is_named_after(&self.func.values[phi].name, variable)).collect()
    }

    /// What a φ is before the first iteration.
    fn entering(&self, phi: Value) -> Option<Value> {
        let position = self.func.phi_position(self.func.def_inst(phi)?)?;
        let from_outside = |&&e: &&_| !self.is_inside(self.func.edges[e].from);
        let edge = self.func.blocks[self.header].preds.iter().find(from_outside)?;
        Some(self.func.edges[*edge].args[position])
    }

    /// What it is after an iteration.
    fn next(&self, phi: Value) -> Option<Value> {
        let position = self.func.phi_position(self.func.def_inst(phi)?)?;
        let from_inside = |&&e: &&_| self.is_inside(self.func.edges[e].from);
        let edge = self.func.blocks[self.header].preds.iter().find(from_inside)?;
        Some(self.func.edges[*edge].args[position])
    }

    fn is_inside(&self, block: Block) -> bool {
        self.nest.around(block).any(|header| header == self.header)
    }

    /// Whether something in the directive's line, behind the loop, computes with a φ.
    fn is_combined_behind(&self, phi: Value) -> bool {
        let func = self.func;
        let uses = |i: &Inst| func.insts[*i].args.contains(&phi);
        let outside = func.layout.iter().filter(|&&b| !self.is_inside(b));
        outside.flat_map(|&b| func.block_insts(b)).filter(uses).any(|i| self.is_of_directive(i))
    }

    /// Whether an instruction computes something in the directive's line, into which nothing was inlined.
    fn is_of_directive(&self, inst: Inst) -> bool {
        let data = &self.func.insts[inst];
        let computes =
            matches!(data.op, Op::Binary(_) | Op::FCmp(_) | Op::ICmp(_) | Op::Select | Op::Call(_));
        let at = data.loc.expand().map(|l| &self.module.locations[l]);
        let begins = (self.directive.line, self.column);
        computes
            && at.is_some_and(|at| {
                (self.directive.line..=self.directive.last).contains(&at.line)
                    && (at.line, at.column) != begins
                    && same_file(&at.file, &self.directive.file)
            })
    }

    /// Checks what a clause says of steps.
    fn linear(&self, clause: &Clause) -> Result<()> {
        let argument = clause.argument.as_deref().unwrap_or_default();
        let (list, step) =
            argument.split_once(':').map_or((argument, "1"), |(list, step)| (list, step.trim()));
        let step = step.strip_prefix("step").map_or(step, |step| step.trim().trim_matches(['(', ')']));
        if list.contains('(') || step.contains(',') {
            return Err(self.refuses(clause, "modifiers are not supported"));
        }
        for variable in items(list) {
            let found = self.phis_of(variable).into_iter().find_map(|phi| self.step(phi));
            let is_moved = is_assigned(&self.directive.statement, variable)
                || loop_variables(&self.directive.statement).contains(&variable);
            match (found, signed(step)) {
                (Some(found), Some(step)) if found != step => {
                    let reason =
                        format!("the loop adds {found} to `{variable}` in each iteration, not {step}");
                    return Err(self.refuses(clause, &reason));
                }
                (None, _) if !is_moved => {
                    let reason = format!("nothing in the loop changes `{variable}`: add the step there, too");
                    return Err(self.refuses(clause, &reason));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The number that is added to a φ in each iteration.
    fn step(&self, phi: Value) -> Option<i128> {
        let inst = self.func.def_inst(self.next(phi)?)?;
        let data = &self.func.insts[inst];
        let Op::Binary(op @ (BinaryOp::Add | BinaryOp::Sub)) = data.op else { return None };
        let [of, by] = data.args[..] else { return None };
        let bits = self.func.ty(of).int_bits().filter(|&bits| bits <= 64)?;
        let number = self.func.as_int(by).filter(|_| of == phi)?;
        let number = (number << (128 - bits)) as i128 >> (128 - bits);
        Some(if op == BinaryOp::Sub { -number } else { number })
    }

    /// Checks that nothing changes what each thread has of its own: there is one thread, and it would see that later.
    fn firstprivate(&self, clause: &Clause) -> Result<()> {
        let list = clause.argument.as_deref().unwrap_or_default();
        match items(list).into_iter().find(|variable| is_assigned(&self.directive.statement, variable)) {
            Some(variable) => Err(self
                .refuses(clause, &format!("the loop changes `{variable}`: use a variable declared in it"))),
            None => Ok(()),
        }
    }
}

/// The variables of a list; of a section of an array, the array.
fn items(list: &str) -> Vec<&str> {
    let (mut found, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in list.char_indices() {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                found.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&list[start..]);
    let name = |item: &'_ str| item.split('[').next().map_or(0, str::len);
    found.into_iter().map(|item| item[..name(item)].trim()).filter(|item| !item.is_empty()).collect()
}

/// Whether a φ has the name of a variable, with what clang and LLVM add to names: numbers, `.addr`, and more behind a
/// dot.
fn is_named_after(phi: &str, variable: &str) -> bool {
    phi.strip_prefix(variable).is_some_and(|rest| {
        let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.is_empty() || rest.starts_with('.')
    })
}

/// A number as it is written, if it is one.
fn number(text: &str) -> Option<u32> {
    signed(text).and_then(|number| u32::try_from(number).ok()).filter(|&number| number > 0)
}

fn signed(text: &str) -> Option<i128> {
    let text = text.trim();
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    if let Some(inner) = inner {
        return signed(inner);
    }
    if let Some(rest) = text.strip_prefix('-') {
        return signed(rest).map(|number| -number);
    }
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hexadecimal) => i128::from_str_radix(hexadecimal, 16).ok(),
        None if digits.len() > 1 && digits.starts_with('0') => i128::from_str_radix(digits, 8).ok(),
        None => digits.parse().ok(),
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where an identifier stands in a text.
fn mentions<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.match_indices(name)
        .map(|(at, _)| at)
        .filter(move |&at| !text[..at].ends_with(is_name) && !text[at + name.len()..].starts_with(is_name))
}

/// Whether statements assign to a variable, as far as one can tell without a parser.
fn is_assigned(text: &str, variable: &str) -> bool {
    mentions(text, variable).any(|at| {
        let (before, behind) = (text[..at].trim_end(), text[at + variable.len()..].trim_start());
        let stepped = |t: &str| t.starts_with("++") || t.starts_with("--");
        let operator = behind.trim_start_matches(['+', '-', '*', '/', '%', '&', '|', '^', '<', '>']);
        let assigns = operator.starts_with('=') && !operator.starts_with("==");
        let compares = ["<=", ">="].iter().any(|c| behind.starts_with(c));
        stepped(behind) || before.ends_with("++") || before.ends_with("--") || (assigns && !compares)
    })
}

/// The variables that the loops of a statement begin with.
fn loop_variables(text: &str) -> Vec<&str> {
    let first = |at: usize| {
        let head = text[at + "for".len()..].trim_start().strip_prefix('(')?;
        let before = head[..head.find(['=', ';', ':'])?].trim_end();
        let start = before.rfind(|c| !is_name(c)).map_or(0, |at| at + 1);
        (start < before.len()).then(|| &before[start..])
    };
    mentions(text, "for").filter_map(first).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_variables_and_sections() {
        assert_eq!(items(" a, b[0:n] ,c[f(1,2):3][2]"), ["a", "b", "c"]);
        assert_eq!(items(""), [""; 0]);
    }

    #[test]
    fn names_of_values_are_those_of_variables_with_numbers() {
        for phi in ["s.0", "s41.0", "s.addr.07", "s12.sroa.0.1", "s"] {
            assert!(is_named_after(phi, "s"), "{phi}");
        }
        for phi in ["sum.0", "s_1.0", "t", ""] {
            assert!(!is_named_after(phi, "s"), "{phi}");
        }
    }

    #[test]
    fn numbers_are_read_as_c_has_them() {
        assert_eq!(["4", "(0x10u)", " 010 ", "((8))"].map(number), [Some(4), Some(16), Some(8), Some(8)]);
        assert_eq!(["N", "4*2", "0", "-1", ""].map(number), [None; 5]);
        assert_eq!(signed("-3"), Some(-3));
    }

    #[test]
    fn assignments_and_loop_variables_are_found_in_text() {
        for text in ["j += 2;", "x = ++j;", "j++", "a[j--]", "j = j + 1", "j<<=1"] {
            assert!(is_assigned(text, "j"), "{text}");
        }
        for text in ["a[j] = 1;", "j == 2", "jj = 1", "j <= 2", "x = j + 1", "j >= k"] {
            assert!(!is_assigned(text, "j"), "{text}");
        }
        assert_eq!(loop_variables("for (int i = 0;;) for(unsigned long *k=a;;) for (;;)"), ["i", "k"]);
    }
}
