//! Which loops are meant: by line, by block, or by the marks that a program has.

use std::collections::HashSet;
use std::str::FromStr;

use warpline_ir::{Block, FuncId, Function, Inst, Module, Op, Place, Value};
use warpline_llvm::openmp::Directive;
use warpline_llvm::{Imported, MarkedLoop};
use warpline_vectorize::loops::{Holds, Nest};
use warpline_vectorize::{Contract, MAX_WIDTH};

use crate::directives::{self, LoopMark};
use crate::error::{Error, Result};
use crate::loops::place_of_loop;
use crate::openmp::{self, Said};
use crate::options::KernelOptions;
use crate::own::Owner;
use crate::remarks::Remarked;
use crate::spec::Width;
use crate::{choice, instrumentation, kernel};

/// Which loop is meant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LoopAt {
    /// The one that begins in this line of the source.
    Line(u32),
    /// The one with this block as its header.
    Block(String),
    /// All that are marked: by `//@ loop`, `#pragma omp simd` or `#pragma clang loop vectorize(assume_safety)`.
    Marked,
    /// All that the input itself has, as far as that can be done; of nested loops the innermost that can be.
    All,
}

impl FromStr for LoopAt {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<LoopAt, String> {
        match (text, text.parse()) {
            ("marked", _) => Ok(LoopAt::Marked),
            ("all", _) => Ok(LoopAt::All),
            (_, Ok(line)) => Ok(LoopAt::Line(line)),
            ("", _) => Err("use a line, the name of a block, marked, or all".to_owned()),
            _ => Ok(LoopAt::Block(text.trim_start_matches('%').to_owned())),
        }
    }
}

/// What is to be made of the loops of an input.
#[derive(Clone, Debug)]
pub struct LoopOptions {
    /// The input, and how to vectorize. The function and shapes say nothing here.
    pub kernel: KernelOptions,
    /// The functions that are looked at, by name or pattern; none for all.
    pub functions: Vec<String>,
    /// The loops.
    pub loops: Vec<LoopAt>,
    /// Whether floating-point numbers may be combined in any order in all of them.
    pub any_order: bool,
    /// Whether the user promises for all of them that iterations do not conflict where that cannot be decided.
    pub independent: bool,
    /// What to say when Rust code panics, before the program ends, as in
    /// [`VectorizeOptions`](crate::options::VectorizeOptions).
    pub panic: Option<String>,
}

impl LoopOptions {
    /// All loops that an input marks, with no promises but those of the marks.
    pub fn marked(kernel: KernelOptions) -> LoopOptions {
        LoopOptions {
            kernel,
            functions: Vec::new(),
            loops: vec![LoopAt::Marked],
            any_order: false,
            independent: false,
            panic: None,
        }
    }
}

/// A loop that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundLoop {
    /// The function that it is in.
    pub func: FuncId,
    /// Its header.
    pub header: Block,
    /// Where it begins, in words.
    pub place: String,
    /// Who answers for memory that several iterations access.
    pub contract: Contract,
    /// How many consecutive iterations may be executed at once at most, whatever conflicts beyond.
    pub safelen: Option<u32>,
    /// Whether floating-point numbers may be combined in any order.
    pub any_order: bool,
    /// Whether strides that nobody knows are taken for 1; the loop runs as it was with others.
    pub unit_strides: bool,
    /// What the loop may overwrite, but hardly does, that is held in registers; it runs as it was if it might.
    pub holds: Holds,
    /// φs of its header of which that holds in any case.
    pub reductions: Vec<Value>,
    /// The number of lanes that its mark wants.
    pub width: Option<Width>,
    /// The headers of the loops within it that are preferred: if one of them is vectorized, this one stays as it is.
    pub unless: Vec<Block>,
}

impl FoundLoop {
    fn is_same(&self, other: &FoundLoop) -> bool {
        (self.func, self.header) == (other.func, other.header)
    }

    /// Adds what another mark says of the same loop: every promise holds, and every bound.
    fn add(&mut self, other: &FoundLoop) {
        if other.contract == Contract::Independent {
            self.contract = Contract::Independent;
        }
        self.safelen = self.safelen.into_iter().chain(other.safelen).min();
        self.any_order |= other.any_order;
        self.reductions.extend(&other.reductions);
        self.width = self.width.or(other.width);
        // Who names it wants it.
        if other.unless.is_empty() {
            self.unless.clear();
        }
    }
}

/// A loop that was not vectorized.
#[derive(Debug)]
pub struct RefusedLoop {
    /// The function that it is in.
    pub function: String,
    /// Where it begins, in words.
    pub place: String,
    /// Where it begins in the source.
    pub begin: Option<Place>,
    /// Why.
    pub reason: Error,
}

impl RefusedLoop {
    /// A loop of a module that is refused for this reason.
    pub(crate) fn new(module: &Module, one: &FoundLoop, reason: Error) -> RefusedLoop {
        let func = &module.functions[one.func];
        let begin = Place::of(module, func, place_of_loop(func, one.header));
        RefusedLoop { function: func.name.to_string(), place: one.place.clone(), begin, reason }
    }

    /// The same as a remark.
    #[must_use]
    pub fn remarked(&self) -> Remarked {
        Remarked::refused(&self.function, self.begin.clone(), &self.reason)
    }
}

/// The loops that are meant, each once, by function and header, and those of which directives say what is not
/// supported.
pub(crate) fn find(imported: &Imported, options: &LoopOptions) -> Result<(Vec<FoundLoop>, Vec<RefusedLoop>)> {
    let path = &options.kernel.input;
    instrumentation::check(&imported.ir, path)?;
    let only = match &options.functions[..] {
        [] => None,
        wanted => {
            let chosen = choice::choose(imported, path, wanted, true)?;
            Some(chosen.iter().filter_map(|one| imported.ir.function(&one.name)).collect::<Vec<_>>())
        }
    };
    let only = only.as_deref();
    let (mut all, mut refused) = (Vec::new(), Vec::new());
    for at in &options.loops {
        match at {
            LoopAt::Line(line) => all.extend(at_line(imported, options, only, *line)?),
            LoopAt::Block(name) => all.push(with_header(imported, options, only, name)?),
            LoopAt::Marked => all.extend(marked(imported, options, only, &mut refused)?),
            LoopAt::All => {
                let ending = Ending::of(&imported.ir);
                for one in everywhere(imported, options, only) {
                    match ending.refusal(&imported.ir, &one) {
                        Some(reason) if one.unless.is_empty() => refused.push((one, reason)),
                        Some(_) => {}
                        None => all.push(one),
                    }
                }
            }
        }
    }
    // Whatever else marks them.
    let is_refused = |one: &FoundLoop| refused.iter().any(|(other, _)| other.is_same(one));
    all.retain(|one| !is_refused(one));
    for one in &mut all {
        one.any_order |= options.any_order;
        if options.independent {
            one.contract = Contract::Independent;
        }
    }
    all.sort_by_key(|f| (f.func, f.header));
    all.dedup_by(|other, one| {
        let same = one.is_same(other);
        if same {
            one.add(other);
        }
        same
    });
    // Those that are preferred first.
    all.sort_by_key(|f| (f.func, f.unless.len()));
    // All loops of an input that has none are none.
    if all.is_empty() && refused.is_empty() && !options.loops.contains(&LoopAt::All) {
        let of = match &options.functions[..] {
            [] => String::new(),
            wanted => format!(" of `{}`", wanted.join("`, `")),
        };
        let message = format!(
            "no loop{of} is marked: write `//@ loop` or `#pragma omp simd` before it, or say `--loop LINE` or \
             `--loop all`"
        );
        return Err(Error::input(path, message));
    }
    let of = |(one, reason): (FoundLoop, Error)| RefusedLoop::new(&imported.ir, &one, reason);
    Ok((all, refused.into_iter().map(of).collect()))
}

/// The same where nothing can be done without any loop: those that are refused are warned of.
pub(crate) fn find_some(imported: &Imported, options: &LoopOptions) -> Result<Vec<FoundLoop>> {
    let (found, mut refused) = find(imported, options)?;
    if found.is_empty() {
        return Err(match refused.is_empty() {
            true => Error::input(&options.kernel.input, "it has no loop"),
            false => refused.swap_remove(0).reason,
        });
    }
    refused.iter().for_each(|one| kernel::warn(&format!("warning: {}; it stays as it is", one.reason)));
    Ok(found)
}

fn functions<'a>(
    imported: &'a Imported,
    only: Option<&'a [FuncId]>,
) -> impl Iterator<Item = (FuncId, &'a Function)> {
    imported.ir.functions.iter().filter(move |(id, _)| only.is_none_or(|only| only.contains(id)))
}

/// The loops that begin in a line: as many as code that was inlined or instantiated several times has made of one.
fn at_line(
    imported: &Imported,
    options: &LoopOptions,
    only: Option<&[FuncId]>,
    line: u32,
) -> Result<Vec<FoundLoop>> {
    let (mut meant, mut lines) = (Vec::new(), Vec::new());
    // Lines are those of the input; a header's count where the input has no such loop.
    for owner in [Owner::Input, Owner::User] {
        for (func, function) in functions(imported, only) {
            if Owner::of(imported, function, &options.kernel.input) == owner {
                at_line_of(imported, options, func, line, &mut meant, &mut lines)?;
            }
        }
        if !meant.is_empty() {
            return Ok(meant);
        }
    }
    lines.sort_unstable();
    lines.dedup();
    let message = match lines[..] {
        [] => "the input has no loop of which the line is known".to_owned(),
        [only] => format!("no loop begins in line {line}; the only one begins in line {only}"),
        _ => {
            let shown: Vec<String> = lines.iter().take(12).map(u32::to_string).collect();
            format!("no loop begins in line {line}; there are loops in lines {}", shown.join(", "))
        }
    };
    Err(Error::input(&options.kernel.input, message))
}

/// Adds the loops of a function that begin in a line; the lines of its others go to `lines`.
fn at_line_of(
    imported: &Imported,
    options: &LoopOptions,
    func: FuncId,
    line: u32,
    meant: &mut Vec<FoundLoop>,
    lines: &mut Vec<u32>,
) -> Result<()> {
    let function = &imported.ir.functions[func];
    let nest = Nest::of(function);
    let Beginning { surely, maybe } = beginning(&imported.ir, function, &nest, line, lines);
    let candidates = if surely.is_empty() { &maybe } else { &surely };
    for &header in candidates {
        if nest.around(header).any(|h| h != header && candidates.contains(&h)) {
            continue;
        }
        let one = found(imported, func, header);
        if surely.is_empty() && nest.has_inner(header) {
            let message = format!(
                "in line {line}, it may be the loop at block `{}` of `{}` that begins or one within it; say \
                 which by the line of its test, or by \
                 its block: --loop BLOCK",
                function.block_name(header),
                function.name
            );
            return Err(Error::input(&options.kernel.input, message));
        }
        let file = one.place.rsplit_once(':').filter(|(_, n)| n.parse::<u32>().is_ok());
        let place = file.map(|(file, _)| format!("{file}:{line}"));
        meant.push(FoundLoop { place: place.unwrap_or(one.place.clone()), ..one });
    }
    Ok(())
}

/// Headers of a function's loops that may be said to begin in a line.
struct Beginning {
    /// Their test is in the line.
    surely: Vec<Block>,
    /// Something of their header is, or what leads back to it. That may be what a loop within it begins with.
    maybe: Vec<Block>,
}

/// Looks for loops that begin in a line; those of others go to `lines`.
fn beginning(module: &Module, func: &Function, nest: &Nest, line: u32, lines: &mut Vec<u32>) -> Beginning {
    let mut found = Beginning { surely: Vec::new(), maybe: Vec::new() };
    for header in nest.headers() {
        let of = |b: Block| line_of(module, func, func.terminator(b));
        let begins = lines_of(module, func, nest, header);
        if nest.leaving(func, header).filter_map(of).any(|l| l == line) {
            found.surely.push(header);
        } else if begins.contains(&line) {
            found.maybe.push(header);
        }
        lines.extend(begins.first().copied());
    }
    found
}

fn line_of(module: &Module, func: &Function, inst: Inst) -> Option<u32> {
    Some(Place::of(module, func, func.insts[inst].loc.expand())?.line)
}

fn with_header(
    imported: &Imported,
    options: &LoopOptions,
    only: Option<&[FuncId]>,
    name: &str,
) -> Result<FoundLoop> {
    let mut names = Vec::new();
    for (func, function) in functions(imported, only) {
        for header in Nest::of(function).headers() {
            let own = function.block_name(header);
            if own == name {
                return Ok(found(imported, func, header));
            }
            names.push(own);
        }
    }
    let message = match names[..] {
        [] => "the input has no loop".to_owned(),
        _ => format!("no loop begins at a block `{name}`; there are loops at {}", names.join(", ")),
    };
    Err(Error::input(&options.kernel.input, message))
}

fn marked(
    imported: &Imported,
    options: &LoopOptions,
    only: Option<&[FuncId]>,
    refused: &mut Vec<(FoundLoop, Error)>,
) -> Result<Vec<FoundLoop>> {
    let mut all = Vec::new();
    for mark in directives::read_loops(&options.kernel.input)? {
        let at = at_line(imported, options, None, mark.at)?;
        for one in at.into_iter().filter(|one| only.is_none_or(|only| only.contains(&one.func))) {
            let contract = if mark.independent { Contract::Independent } else { Contract::Sequential };
            let LoopMark { safelen, any_order, width, .. } = mark;
            all.push(FoundLoop { contract, safelen, any_order, width, ..one });
        }
    }
    let directives = openmp::read(&options.kernel)?;
    for mark in imported.marked_loops() {
        let function = &imported.ir.functions[mark.func];
        let around = Nest::of(function).around(mark.latch).next();
        if let Some(header) = around.filter(|_| only.is_none_or(|only| only.contains(&mark.func))) {
            match by_program(imported, &directives, &mark, header) {
                Ok(found) => all.extend(found),
                Err(reason @ Error::Directive { .. }) => {
                    refused.push((found(imported, mark.func, header), reason));
                }
                Err(error) => return Err(error),
            }
        }
    }
    Ok(all)
}

/// A loop that the program itself marks, with what it says there; none if that promises nothing.
fn by_program(
    imported: &Imported,
    directives: &[Directive],
    mark: &MarkedLoop,
    header: Block,
) -> Result<Option<FoundLoop>> {
    let one = FoundLoop { contract: Contract::Independent, ..found(imported, mark.func, header) };
    let Some(directive) = openmp::of_loop(directives, mark)? else {
        let width = mark.width.filter(|w| (2..=MAX_WIDTH).contains(w)).map(Width::Lanes);
        return Ok(mark.parallel.then_some(FoundLoop { width, ..one }));
    };
    let function = &imported.ir.functions[mark.func];
    let Said { simdlen, safelen, reductions } =
        openmp::understand(directive, mark, &imported.ir, function, header)?;
    if let Some(note) = openmp::left_out(directive) {
        kernel::warn(&note);
    }
    let width = simdlen.map(|n| Width::Lanes(n.min(MAX_WIDTH)));
    Ok(Some(FoundLoop { safelen, reductions, width, ..one }))
}

/// Functions of C that end the program, or leave for elsewhere, as a part of what it does. What ends it since
/// something is wrong (`abort`, `assert`, panics) is none.
const ENDS: [&str; 8] =
    ["exit", "_exit", "_Exit", "quick_exit", "longjmp", "siglongjmp", "pthread_exit", "thrd_exit"];

/// The functions of a module by which the program may end: of a loop that nobody marks, it is not known whether later
/// iterations rely on it.
struct Ending<'a> {
    names: HashSet<&'a str>,
}

impl Ending<'_> {
    fn of(module: &Module) -> Ending<'_> {
        let mut ending = Ending { names: HashSet::from(ENDS) };
        loop {
            let is_new = |f: &&Function| !ending.names.contains(&*f.name);
            let calls = |f: &&Function| f.layout.iter().any(|&b| ending.call(module, f, b).is_some());
            let new: Vec<&str> =
                module.functions.values().filter(is_new).filter(calls).map(|f| &*f.name).collect();
            if new.is_empty() {
                return ending;
            }
            ending.names.extend(new);
        }
    }

    /// The first call in a block by which the program may end.
    fn call(&self, module: &Module, func: &Function, block: Block) -> Option<Inst> {
        let ends = |&i: &Inst| match &func.insts[i].op {
            Op::Call(call) => call.callee.is_some_and(|s| self.names.contains(&*module.symbols[s].name)),
            _ => false,
        };
        func.block_insts(block).find(ends)
    }

    /// Why a loop is left as it is, if it is.
    fn refusal(&self, module: &Module, one: &FoundLoop) -> Option<Error> {
        let func = &module.functions[one.func];
        let blocks = Nest::of(func).blocks_of(func, one.header);
        let call =
            func.layout.iter().filter(|&&b| blocks.contains(b)).find_map(|&b| self.call(module, func, b))?;
        let place = Place::of(module, func, func.insts[call].loc.expand());
        let place = place.map_or(String::new(), |place| format!(" in {}", place.short()));
        Some(Error::Vectorize(format!(
            "the loop at {} is not marked, and a call{place} may end the program in the middle of it: write `//@ loop` \
             before it if no later iteration relies on that",
            one.place
        )))
    }
}

/// All loops of the functions that the input and other files of the user's define.
fn everywhere<'a>(
    imported: &'a Imported,
    options: &'a LoopOptions,
    only: Option<&'a [FuncId]>,
) -> impl Iterator<Item = FoundLoop> + 'a {
    let own = |function: &Function| Owner::is_own(imported, function, &options.kernel.input);
    functions(imported, only).filter(move |(_, function)| own(function)).flat_map(|(func, function)| {
        let nest = Nest::of(function);
        let headers: Vec<Block> = nest.headers().collect();
        let within = |header: Block| -> Vec<Block> {
            let inner = |&other: &Block| other != header && nest.around(other).any(|h| h == header);
            headers.iter().copied().filter(inner).collect()
        };
        let all = headers.iter().map(|&h| FoundLoop { unless: within(h), ..found(imported, func, h) });
        all.collect::<Vec<_>>()
    })
}

fn found(imported: &Imported, func: FuncId, header: Block) -> FoundLoop {
    let function = &imported.ir.functions[func];
    let place = Place::of_block(&imported.ir, function, header).map(|p| p.short());
    let place =
        place.unwrap_or_else(|| format!("block {} of `{}`", function.block_name(header), function.name));
    FoundLoop {
        func,
        header,
        place,
        contract: Contract::Sequential,
        safelen: None,
        any_order: false,
        unit_strides: false,
        holds: Holds::Nothing,
        reductions: Vec::new(),
        width: None,
        unless: Vec::new(),
    }
}

/// The lines in which a loop may be said to begin: those of the instructions of its header, and of what leads back to
/// it.
fn lines_of(module: &Module, func: &Function, nest: &Nest, header: Block) -> Vec<u32> {
    let back = func.blocks[header].preds.iter().map(|&e| func.edges[e].from);
    let back = back.filter(|&b| nest.around(b).next() == Some(header));
    let of = |b: Block| func.block_insts(b).filter_map(|i| line_of(module, func, i));
    let mut lines: Vec<u32> = of(header).collect();
    lines.extend(back.flat_map(|b| of(b).last()));
    lines
}
