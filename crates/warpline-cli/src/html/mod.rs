//! `analyze --format html`: one page without references to anything outside it, with source and control flow side by
//! side.
//!
//! The drawings are made here (in `layout`) and written as SVG; everything that the page's script shows besides is in
//! it as JSON. Names in an input can contain anything: text is escaped where it becomes HTML, and the JSON contains
//! no `<`.
//!
//! * `layout`: a layered drawing of a control-flow graph;
//! * this file: the page's sections, from the analysis of each function;
//! * `page.css`, `page.js`: how the page looks, and what follows a click.

mod layout;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use serde::Serialize;
use warpline::demangle;
use warpline::ir::{Block, Constant, Function, Inst, Loc, Module, Names, Op, Value};
use warpline::printable::{is_unsafe, json, line};
use warpline::shape::Shape;
use warpline::uniformity::report::FunctionReport;
use warpline::uniformity::{CycleId, Explainer, Fact, Uniformity};

use crate::chain::{Place, Sources, Stop, statements};
use layout::{Diagram, HEIGHT};

/// Functions with more blocks are not drawn, and only their branches and loops are explained.
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
                     fill=\"#5d6f80\"/></marker></defs></svg>\n";

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
        let drawn = func.layout.len() <= MAX_BLOCKS;
        let blocks: Vec<BlockData> = func.layout.iter().map(|&b| builder.block(b, drawn)).collect();
        let arguments = func.params.iter().map(|&p| builder.argument(p)).collect();
        let _ = write!(
            self.drawings,
            "<div class=\"cfg\" data-function=\"{}\" hidden>",
            escape(&line(&func.name))
        );
        self.drawings += &match drawn {
            true => builder.drawing(),
            false => format!("<p class=\"hint\">{}</p>", escape(&builder.too_large())),
        };
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
        let head = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
                    <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
                    'unsafe-inline'; script-src 'unsafe-inline'\">\n<title>warpline: uniformity</title>\n";
        format!(
            "{head}<style>\n{}</style>\n</head>\n<body>\n<header><h1>warpline</h1><select id=\"function\" \
             aria-label=\"function\"></select><span><span class=\"key u\">uniform</span> <span class=\"key \
             s\">strided</span> <span class=\"key d\">divergent</span></span></header>\n<main>\n\
             <section id=\"source\"></section>\n<section id=\"drawing\">\n{ARROW}{}</section>\n\
             <section id=\"code\"></section>\n<section id=\"why\"></section>\n</main>\n\
             <script type=\"application/json\" id=\"data\">{data}</script>\n<script>\n{}</script>\n</body>\n</html>\n",
            include_str!("page.css"),
            self.drawings,
            include_str!("page.js"),
        )
    }
}

impl Builder<'_> {
    fn summary(&self) -> String {
        FunctionReport::new(self.module, self.func, self.result).shares()
    }

    fn too_large(&self) -> String {
        format!(
            "The function has {} blocks: too large to draw (at most {MAX_BLOCKS} are). Its code and the \
             explanations of \
             branches and loops are there all the same.",
            self.func.layout.len()
        )
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
            _ => {
                let operands: Vec<String> = data.args.iter().map(|&v| self.operand(v)).collect();
                format!("{} {}", self.result.describe(self.module, func, inst), operands.join(", "))
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
            Some(Constant::Int { bits, value }) => {
                let shift = 128 - bits;
                ((*value << shift).cast_signed() >> shift).to_string()
            }
            Some(Constant::Null(_)) => "null".into(),
            Some(Constant::Undef(_)) => "undef".into(),
            Some(Constant::Poison(_)) => "poison".into(),
            Some(Constant::Address { symbol, .. }) => {
                format!("@{}", demangle(&self.module.symbols[*symbol].name))
            }
            Some(_) => "constant".into(),
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

    fn drawing(&self) -> String {
        let func = self.func;
        let index: BTreeMap<Block, usize> = func.layout.iter().enumerate().map(|(i, &b)| (b, i)).collect();
        let name = |b: Block| shorten(&self.names.block(func, b));
        let notes: Vec<String> = func.layout.iter().map(|&b| self.block_note(b)).collect();
        let widths = func.layout.iter().zip(&notes).map(|(&b, note)| {
            let letters = (name(b).chars().count() as f64 * 7.4).max(note.chars().count() as f64 * 5.8);
            (letters + 40.0).max(72.0)
        });
        let diagram = Diagram {
            widths: widths.collect(),
            edges: func
                .layout
                .iter()
                .flat_map(|&b| func.successors(b).map(move |t| (b, t)))
                .map(|(b, t)| (index[&b], index[&t]))
                .collect(),
        };
        let drawing = diagram.draw();
        let (width, height) = drawing.size;
        let mut svg = format!(
            "<svg width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">\n"
        );
        for (&(from, to), (line, back)) in diagram.edges.iter().zip(&drawing.lines) {
            let (from, to) = (func.layout[from], func.layout[to]);
            let kind = if *back { " back" } else { "" };
            let exit = if self.is_divergent_exit(from, to) { " exit" } else { "" };
            let _ = writeln!(
                svg,
                "<path class=\"edge{kind}{exit}\" data-from=\"{}\" data-to=\"{}\" d=\"{}\" \
                 marker-end=\"url(#arrow)\"/>",
                escape(&self.names.block(func, from)),
                escape(&self.names.block(func, to)),
                curve(line, *back)
            );
        }
        for (i, &b) in func.layout.iter().enumerate() {
            let ((x, y), w) = (drawing.corners[i], diagram.widths[i]);
            let cycle = self.cycle_at(b);
            let apart = cycle.is_some_and(|c| self.result.has_divergent_exit(c));
            let class = if self.result.is_divergent_branch(b) { " d" } else { "" };
            let whole = escape(&self.names.block(func, b));
            let _ = write!(
                svg,
                "<g class=\"block{class}{}\" data-block=\"{whole}\"><title>{whole}{}</title><rect x=\"{x:.1}\" \
                 y=\"{y:.1}\" \
                 width=\"{w:.1}\" height=\"{HEIGHT}\" rx=\"5\"/><text x=\"{:.1}\" y=\"{:.1}\">{}</text><text \
                  class=\"note\" \
                 x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                if apart { " apart" } else { "" },
                escape(&self.loop_note(b)),
                x + 9.0,
                y + 16.0,
                escape(&name(b)),
                x + 9.0,
                y + 30.0,
                escape(&notes[i]),
            );
            if cycle.is_some() {
                let _ = write!(
                    svg,
                    "<text class=\"loop\" x=\"{:.1}\" y=\"{:.1}\">↻</text>",
                    x + w - 18.0,
                    y + 17.0
                );
            }
            svg += "</g>\n";
        }
        svg + "</svg>"
    }

    fn is_divergent_exit(&self, from: Block, to: Block) -> bool {
        let cycles = self.result.cycles();
        let mut left = cycles.around(from.into()).take_while(|&c| !cycles.contains(c, to.into()));
        left.any(|c| self.result.is_left_apart_between(c, from, to))
    }

    fn block_note(&self, b: Block) -> String {
        let count = self.func.block_insts(b).count();
        let place = Place::of_block(self.module, self.func, b);
        let line = place.filter(|p| Some(&p.file) == self.file.as_ref());
        line.map_or_else(|| format!("{count} instr."), |p| format!("{count} instr., line {}", p.line))
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

/// A smooth line through corners; straight where it runs in a lane of its own.
fn curve(line: &[(f64, f64)], straight: bool) -> String {
    let mut d = String::new();
    for (i, &(x, y)) in line.iter().enumerate() {
        let _ = match (i, straight || i == 0 || (line[i - 1].0 - x).abs() < 0.5) {
            (0, _) => write!(d, "M{x:.1} {y:.1}"),
            (_, true) => write!(d, " L{x:.1} {y:.1}"),
            (_, false) => {
                let (px, py) = line[i - 1];
                let middle = f64::midpoint(py, y);
                write!(d, " C{px:.1} {middle:.1} {x:.1} {middle:.1} {x:.1} {y:.1}")
            }
        };
    }
    d
}

/// At most so many letters of a block's name as fit a box.
fn shorten(name: &str) -> String {
    const LONGEST: usize = 28;
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
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
