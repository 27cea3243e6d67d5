//! `analyze --format html`: one page without references to anything outside it, with source and control flow side by
//! side.
//!
//! The drawings are made here (in `layout`) and written as SVG; everything that the page's script shows besides is in
//! it as JSON. Names in an input can contain anything: text is escaped where it becomes HTML, and the JSON contains
//! no `<`.
//!
//! * `layout`: a layered drawing of a control-flow graph;
//! * `drawing`: the drawings of a function, in which loops and runs of blocks are one box each where there are many;
//! * this file: the page's sections, from the analysis of each function;
//! * `page.css`, `page.js`: how the page looks, and what follows a click.

mod drawing;
mod layout;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use serde::Serialize;
use warpline::demangle;
use warpline::ir::{Block, Constant, FloatKind, Function, Inst, Loc, Module, Names, Op, Value};
use warpline::printable::{is_unsafe, json, line};
use warpline::shape::Shape;
use warpline::uniformity::report::FunctionReport;
use warpline::uniformity::{CycleId, Explainer, Fact, Uniformity};

use crate::chain::{Place, Sources, Stop, statements};

/// Of functions with more blocks only the branches and loops are explained.
const MAX_BLOCKS: usize = 600;
/// Paths are shortened to so many blocks when more than [`MAX_STOPS`] are named in all.
const MAX_PATH: usize = 40;
const MAX_STOPS: usize = 100_000;
/// The longest instruction text that is shown.
const MAX_TEXT: usize = 160;

/// The head of arrows, once for all drawings: what is in a hidden drawing cannot be used by another.
const ARROW: &str = "<svg width=\"0\" height=\"0\" style=\"position:absolute\"><defs><marker id=\"arrow\" \
                     markerUnits=\"userSpaceOnUse\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"9\" \
                     markerHeight=\"9\" orient=\"auto-start-reverse\"><path d=\"M0 0 L8 4 L0 8 z\" \
                     class=\"head\"/></marker></defs></svg>\n";

/// The beginning of every page.
pub(crate) const HEAD: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta \
     http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src \
     'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width\">\n";

/// What all pages have in common: colours for light and dark, letters, what one searches and chooses with.
pub(crate) const STYLE: &str = include_str!("style.css");

/// What one chooses with at the top of the page.
const TOOLS: &str = "<header><h1>Uniformity</h1><select id=\"function\" aria-label=\"function\"></select><input \
                     id=\"search\" type=\"search\" placeholder=\"value, block, text …\" aria-label=\"search\"><label><input \
                     type=\"checkbox\" id=\"divergent\"> only what is divergent</label><span class=\"keys\"><span \
                     class=\"key u\">uniform</span> <span class=\"key s\">strided</span> <span class=\"key \
                     d\">divergent</span></span><span id=\"summary\"></span></header>\n";

/// A page in the making.
#[derive(Default)]
pub struct Page {
    data: Data,
    drawings: String,
}

#[derive(Default, Serialize)]
struct Data {
    functions: Vec<FunctionData>,
    files: BTreeMap<String, Vec<String>>,
}

#[derive(Serialize)]
struct FunctionData {
    name: String,
    title: String,
    summary: String,
    file: Option<String>,
    first: u32,
    last: u32,
    /// By line, how divergent the worst on it is.
    lines: BTreeMap<u32, &'static str>,
    arguments: Vec<ArgumentData>,
    blocks: Vec<BlockData>,
    values: BTreeMap<String, Thing>,
    branches: BTreeMap<String, Thing>,
    statements: Vec<StatementData>,
}

#[derive(Serialize)]
struct ArgumentData {
    name: String,
    shape: String,
    class: &'static str,
}

#[derive(Serialize)]
struct BlockData {
    name: String,
    note: String,
    class: &'static str,
    code: Vec<CodeData>,
}

#[derive(Serialize)]
struct CodeData {
    text: String,
    class: &'static str,
    value: Option<String>,
    branch: bool,
}

/// A value, a branch or a loop.
#[derive(Serialize)]
struct Thing {
    /// `u`, `s` or `d`: uniform, strided, divergent.
    class: &'static str,
    shape: Option<String>,
    line: Option<u32>,
    /// The first statement of its explanation.
    why: Option<usize>,
    /// Why it is uniform.
    because: Option<String>,
    #[serde(rename = "loop", skip_serializing_if = "Option::is_none")]
    cycle: Option<Box<Thing>>,
}

/// A statement. Explanations are lists through these, and share their ends.
#[derive(Serialize)]
struct StatementData {
    text: String,
    location: Option<String>,
    /// The line, if it is in the function's own file.
    line: Option<u32>,
    value: Option<String>,
    paths: Vec<Vec<Stop>>,
    next: Option<usize>,
}

/// What is shown of a function, in the making.
struct Builder<'a> {
    module: &'a Module,
    func: &'a Function,
    result: &'a Uniformity,
    names: &'a Names,
    explainer: Explainer<'a>,
    statements: Vec<StatementData>,
    known: BTreeMap<(String, Option<usize>), usize>,
    /// The statement of each fact that was said.
    said: HashMap<Fact, usize>,
    /// How many blocks the paths of the statements name.
    stops: usize,
    /// The loop with each header.
    loops: HashMap<Block, CycleId>,
    values: BTreeMap<String, Thing>,
    branches: BTreeMap<String, Thing>,
    lines: BTreeMap<u32, &'static str>,
    file: Option<String>,
}

impl Page {
    /// Adds a function with the result of its analysis.
    pub fn add(&mut self, module: &Module, func: &Function, result: &Uniformity, sources: &mut Sources) {
        let file = func.loc.expand().map(|l| module.locations[l].file.to_string()).filter(|f| !f.is_empty());
        let mut builder = Builder {
            module,
            func,
            result,
            names: result.names(func),
            explainer: Explainer::new(module, func, result),
            statements: Vec::new(),
            known: BTreeMap::new(),
            said: HashMap::new(),
            stops: 0,
            loops: loops_by_header(result),
            values: BTreeMap::new(),
            branches: BTreeMap::new(),
            lines: BTreeMap::new(),
            file: file.clone(),
        };
        let explained = func.layout.len() <= MAX_BLOCKS;
        let blocks: Vec<BlockData> = func.layout.iter().map(|&b| builder.block(b, explained)).collect();
        let arguments = func.params.iter().map(|&p| builder.argument(p)).collect();
        let _ = write!(
            self.drawings,
            "<div class=\"cfg\" data-function=\"{}\" hidden>",
            escape(&line(&func.name))
        );
        self.drawings += &builder.drawings();
        self.drawings += "</div>\n";
        if let Some(file) = &file
            && let Some(lines) = sources.lines(file)
        {
            self.data.files.entry(file.clone()).or_insert_with(|| lines.to_vec());
        }
        let declared = func.loc.expand().map(|l| module.locations[l].line).filter(|&l| l > 0);
        let touched = builder.lines.keys().copied().chain(declared);
        let (first, last) = (touched.clone().min().unwrap_or(1), touched.max().unwrap_or(1));
        let end = file.as_ref().and_then(|f| self.data.files.get(f)).map_or(last, |l| l.len() as u32);
        self.data.functions.push(FunctionData {
            name: line(&func.name).into_owned(),
            title: demangle(&func.name),
            summary: builder.summary(),
            file,
            first: first.saturating_sub(3).max(1),
            last: (last + 3).min(end),
            lines: builder.lines,
            arguments,
            blocks,
            values: builder.values,
            branches: builder.branches,
            statements: builder.statements,
        });
    }

    /// The whole page.
    pub fn finish(self) -> String {
        // Plain data with string keys always serialises.
        let data = serde_json::to_string(&self.data).unwrap_or_default().replace('<', "\\u003c");
        let data = json(&data);
        format!(
            "{HEAD}<title>warpline: uniformity</title>\n<style>\n{}{}</style>\n</head>\n<body class=\"whole\">\n{}\
             <main>\n<section id=\"source\"></section>\n<section id=\"drawing\"><div class=\"zoom\"><button \
             id=\"out\" title=\"back to the whole function\" hidden>↑ function</button><button id=\"smaller\" \
             title=\"smaller\">−</button><button id=\"fit\" title=\"fit\">fit</button><button id=\"larger\" \
             title=\"larger\">+</button></div><div id=\"canvas\">\n{ARROW}{}</div></section>\n\
             <section id=\"code\"></section>\n<section id=\"why\"></section>\n</main>\n\
             <script type=\"application/json\" id=\"data\">{data}</script>\n<script>\n{}</script>\n</body>\n</html>\n",
            crate::html::STYLE,
            include_str!("page.css"),
            TOOLS,
            self.drawings,
            include_str!("page.js"),
        )
    }
}

impl Builder<'_> {
    fn summary(&self) -> String {
        FunctionReport::new(self.module, self.func, self.result).shares()
    }

    fn line(&self, loc: Option<Loc>) -> Option<u32> {
        let place = Place::of(self.module, self.func, loc)?;
        (Some(&place.file) == self.file.as_ref()).then_some(place.line)
    }

    /// Notes that something of this class is on a line.
    fn touch(&mut self, line: Option<u32>, class: &'static str) {
        let rank = |c: &str| ["u", "s", "d"].iter().position(|&x| x == c);
        if let Some(line) = line {
            let worst = self.lines.entry(line).or_insert(class);
            if rank(class) > rank(worst) {
                *worst = class;
            }
        }
    }

    fn class(&self, v: Value) -> &'static str {
        match self.result.shape(v) {
            _ if !self.result.is_divergent(v) => "u",
            Shape::Strided(_) => "s",
            Shape::Uniform | Shape::Varying => "d",
        }
    }

    fn value(&mut self, v: Value, loc: Option<Loc>, explained: bool) -> &'static str {
        let class = self.class(v);
        let line = self.line(loc);
        self.touch(line, class);
        let why = self.explainer.value_fact(v).filter(|_| explained);
        let thing = Thing {
            class,
            shape: Some(self.result.shape(v).to_string()),
            line,
            why: self.chain(why),
            because: (class == "u").then(|| format!("It {}.", self.explainer.why_uniform(v))),
            cycle: None,
        };
        self.values.insert(self.names.value(self.func, v), thing);
        class
    }

    fn argument(&mut self, p: Value) -> ArgumentData {
        let class = self.value(p, self.func.loc.expand(), true);
        ArgumentData { name: self.names.value(self.func, p), shape: self.result.shape(p).to_string(), class }
    }

    /// The number of the first statement of an explanation.
    fn chain(&mut self, first: Option<Fact>) -> Option<usize> {
        let mut new = Vec::new();
        let mut fact = first;
        while let Some(now) = fact.filter(|f| !self.said.contains_key(f)) {
            new.push(now);
            fact = self.explainer.next(now);
        }
        let mut next = fact.map(|f| self.said[&f]);
        for now in new.into_iter().rev() {
            let step = [self.explainer.step_of(now)];
            let mut said = statements(self.module, self.func, self.names, &step);
            let Some(mut s) = said.pop() else { continue };
            self.shorten_paths(&mut s.paths);
            let key = (s.text.clone(), next);
            next = Some(match self.known.get(&key) {
                Some(&known) => known,
                None => {
                    let location = s.location.as_ref().map(Place::short);
                    let own = s.location.filter(|p| Some(&p.file) == self.file.as_ref());
                    let line = own.map(|p| p.line);
                    self.statements.push(StatementData {
                        text: s.text,
                        location,
                        line,
                        value: s.value,
                        paths: s.paths,
                        next,
                    });
                    self.known.insert(key, self.statements.len() - 1);
                    self.statements.len() - 1
                }
            });
            self.said.extend(next.map(|number| (now, number)));
        }
        next
    }

    /// Leaves out the middle of long paths, once many blocks have been named: there may be as many paths as blocks,
    /// each through all of them.
    fn shorten_paths(&mut self, paths: &mut [Vec<Stop>]) {
        for path in paths {
            if path.len() > MAX_PATH && self.stops > MAX_STOPS {
                let left_out = path.len() - MAX_PATH;
                let behind = path.split_off(path.len() - MAX_PATH / 2);
                path.truncate(MAX_PATH / 2);
                path.push(Stop::left_out(left_out));
                path.extend(behind);
            }
            self.stops += path.len();
        }
    }

    fn block(&mut self, b: Block, explained: bool) -> BlockData {
        let func = self.func;
        let name = self.names.block(func, b);
        let divergent = self.result.is_divergent_branch(b);
        let class = if divergent { "d" } else { "u" };
        let term = func.blocks[b].term.expand();
        let line = self.line(term.and_then(|t| func.insts[t].loc.expand()));
        if term.is_some_and(|t| func.insts[t].edges.len() > 1) {
            self.touch(line, class);
        }
        let why = self.explainer.branch_fact(b).filter(|_| divergent);
        let why = self.chain(why);
        let cycle = self.cycle_at(b).map(|c| Box::new(self.cycle(c)));
        let because = (!divergent).then(|| format!("It {}.", self.explainer.why_uniform_branch(b)));
        self.branches.insert(name.clone(), Thing { class, shape: None, line, why, because, cycle });
        let code = func.block_insts(b).map(|i| self.code(i, explained)).collect();
        BlockData { name, note: self.loop_note(b), class, code }
    }

    fn code(&mut self, inst: Inst, explained: bool) -> CodeData {
        let data = &self.func.insts[inst];
        let mut class = "u";
        for &v in &data.results {
            class = self.value(v, data.loc.expand(), explained);
        }
        let branch = data.edges.len() > 1;
        if branch && self.result.is_divergent_branch(data.block) {
            class = "d";
        }
        let value = data.results.first().map(|&v| self.names.value(self.func, v));
        CodeData { text: self.text(inst), class, value, branch }
    }

    /// An instruction in short.
    fn text(&self, inst: Inst) -> String {
        let func = self.func;
        let data = &func.insts[inst];
        let mut text = match &data.op {
            Op::Phi => {
                let results = self.result.describe(self.module, func, inst);
                let position = func.phi_position(inst).unwrap_or_default();
                let operands = func.blocks[data.block].preds.iter().map(|&e| {
                    let v = func.edges[e].args.get(position).map(|&v| self.operand(v)).unwrap_or_default();
                    format!("{v} from {}", self.names.block(func, func.edges[e].from))
                });
                format!("{results} {}", operands.collect::<Vec<_>>().join(", "))
            }
            op => {
                let what = self.result.describe(self.module, func, inst);
                let compared = match op {
                    Op::ICmp(predicate) => Some(predicate.name()),
                    Op::FCmp(predicate) => Some(predicate.name()),
                    _ => None,
                };
                let operands: Vec<String> = data.args.iter().map(|&v| self.operand(v)).collect();
                let operands = Some(operands.join(", ")).filter(|text| !text.is_empty());
                let parts = compared.map(str::to_owned).into_iter().chain(operands);
                parts.fold(what, |text, part| text + " " + &part)
            }
        };
        if !data.edges.is_empty() {
            let targets = data.edges.iter().map(|&e| self.names.block(func, func.edges[e].to));
            let _ = write!(text, " → {}", targets.collect::<Vec<_>>().join(", "));
        }
        match text.char_indices().nth(MAX_TEXT) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    }

    fn operand(&self, v: Value) -> String {
        match self.func.constant(v) {
            None => self.names.value(self.func, v),
            Some(Constant::Address { symbol, .. }) => {
                format!("@{}", demangle(&self.module.symbols[*symbol].name))
            }
            Some(&Constant::Float { kind, bits }) => number(kind, bits),
            Some(Constant::Zero(_)) => "0".into(),
            Some(Constant::Composite { elems, .. }) => {
                let shown: Vec<String> = elems.iter().take(8).map(constant).collect();
                let more = if elems.len() > shown.len() { ", …" } else { "" };
                format!("<{}{more}>", shown.join(", "))
            }
            Some(other) => constant(other),
        }
    }

    /// The loop with this header.
    fn cycle_at(&self, b: Block) -> Option<CycleId> {
        self.loops.get(&b).copied()
    }

    fn cycle(&mut self, cycle: CycleId) -> Thing {
        let why = self.explainer.cycle_fact(cycle);
        let apart = self.result.has_divergent_exit(cycle);
        Thing {
            class: if apart { "d" } else { "u" },
            shape: None,
            line: None,
            why: self.chain(why),
            because: why.is_none().then(|| match apart {
                true => "All in the irreducible cycle around it counts as divergent.".to_owned(),
                false => "No lanes leave it in different iterations.".to_owned(),
            }),
            cycle: None,
        }
    }

    fn loop_note(&self, b: Block) -> String {
        let Some(c) = self.cycle_at(b) else { return String::new() };
        let kind = if self.result.cycles().is_reducible(c) { "loop" } else { "irreducible cycle" };
        match (self.result.is_given_up(c), self.result.has_divergent_exit(c)) {
            (true, _) => format!("  ({kind}, counts as divergent)"),
            (false, true) => format!("  ({kind}, left in different iterations)"),
            (false, false) => format!("  ({kind})"),
        }
    }
}

/// A constant in short.
fn constant(constant: &Constant) -> String {
    match constant {
        Constant::Int { bits, value } => {
            let shift = 128 - bits;
            ((*value << shift).cast_signed() >> shift).to_string()
        }
        &Constant::Float { kind, bits } => number(kind, bits),
        Constant::Zero(_) => "0".into(),
        Constant::Null(_) => "null".into(),
        Constant::Undef(_) => "undef".into(),
        Constant::Poison(_) => "poison".into(),
        Constant::WideInt { words, .. } => {
            let digits = words.iter().rev().map(|word| format!("{word:016x}")).collect::<String>();
            format!("0x{}", digits.trim_start_matches('0'))
        }
        Constant::Address { .. } | Constant::Composite { .. } | Constant::Opaque { .. } => "constant".into(),
    }
}

/// A floating-point number by its bits.
fn number(kind: FloatKind, bits: u128) -> String {
    match kind {
        FloatKind::Float => f32::from_bits(bits as u32).to_string(),
        FloatKind::Double => f64::from_bits(bits as u64).to_string(),
        FloatKind::BFloat => f32::from_bits((bits as u32) << 16).to_string(),
        _ => format!("0x{bits:x}"),
    }
}

/// The outermost cycle with each header.
fn loops_by_header(result: &Uniformity) -> HashMap<Block, CycleId> {
    let cycles = result.cycles();
    let mut loops = HashMap::new();
    for c in cycles.cycles() {
        loops.entry(Block::from(cycles.header(c))).or_insert(c);
    }
    loops
}

/// Text as HTML, in elements and in attributes between double quotes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            // What is no character of XML would end the page early in some readers.
            _ if is_unsafe(c) && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}
