//! `warpline run`: a kernel as a scalar program and on W lanes, compared and timed.
//!
//! Two references judge the W-lane code. The lane interpreter, which runs the kernel as W threads in lockstep, always
//! does, on a prefix of the range, in the groups that the driver makes of it. The sequential scalar program does on the whole range if the kernel uses no lane operations and
//! the interpreter saw no race, or if the input says `lane-insensitive`.

pub mod compare;
pub mod data;
pub mod guard;
mod lockstep;
pub mod loops;
mod png;
pub mod timing;

use std::path::PathBuf;

use serde_json::json;
use warpline::group_functions::Query;
use warpline::ir::{Block, Function, Op, Value};
use warpline::uniformity::report::{FunctionReport, Reason};
use warpline::vectorize::callees::asking_lanes;
use warpline::vectorize::work_items::{Added, WorkItems};
use warpline::vectorize::{AllCallees, NoMathLibrary, Vectorized, driver, linearize_kernel};
use warpline_compile::KernelOptions;
use warpline_compile::loops::MadeLoop;
use warpline_llvm::worker::{self, Output};
use warpline_llvm::{Jit, is_host};

use crate::Outcome;
use crate::cli::{Format, RunOptions};
use crate::drive;
use crate::error::{Error, Result};
use crate::kernel::{self, Kernel};
use crate::loops::{as_json, in_words};
use crate::output::{self, Outputs};
use crate::spec::{Bind, Elem, Number, Spec, Tolerance};

use compare::Comparison;
use data::{Data, Image};
use lockstep::Lockstep;
use timing::Timing;

const SCALAR: &str = "warpline_run_scalar";
const VECTOR: &str = "warpline_run_vector";

/// Runs the command.
///
/// # Errors
/// Whatever is wrong with input and options, or the reason why the kernel cannot be vectorized or run.
pub fn run(options: &RunOptions) -> Result<Outcome> {
    let picture = options.png.as_deref().map(Picture::parse).transpose()?;
    output::check(picture.iter().map(|p| p.path.as_path()), std::slice::from_ref(&options.kernel.input))?;
    let loops = options.loops.options(&options.kernel)?;
    let Subject { kernel, data, made, loops, reasons } = match &loops {
        Some(asked) => loops::prepare(options, asked, picture.as_ref())?,
        None => prepare(options, picture.as_ref())?,
    };
    let approximate = made.approximate || loops.iter().any(|l| l.made.is_approximate());
    let tolerance = approximate.then(|| tolerance(options, &kernel, &loops));
    let object = worker::codegen(
        kernel.imported.bridge.module(),
        &warpline_llvm::worker::CodegenOptions {
            define_missing: true,
            define_lane_operations: true,
            ..kernel.codegen_options(&[SCALAR, VECTOR], Output::Object)
        },
    )?;
    let jit = Jit::new()?;
    jit.add_object(&object, &kernel.name)?;
    let (scalar, vector) = (jit.function(SCALAR)?, jit.function(VECTOR)?);

    let subject = lockstep::Subject {
        module: &kernel.imported.ir,
        kernel: kernel.func,
        args: &kernel.args,
        width: kernel.width,
        rest: kernel.rest,
        fused: kernel.vectors.fused,
    };
    let lockstep = lockstep::interpret(subject, &data);
    let mut native = Image::new(&data);
    let mut slots = native.slots(&data, lockstep.end);
    vector.call(&mut slots);
    let by_lanes = lockstep.compare(&data, &native, tolerance.as_ref());

    let mut reference = Image::new(&data);
    let mut slots = reference.slots(&data, data.end);
    scalar.call(&mut slots);
    native.restore(&data);
    let mut slots = native.slots(&data, data.end);
    vector.call(&mut slots);
    let mut by_scalar = Comparison::default();
    for (i, buffer) in data.buffers.iter().enumerate() {
        by_scalar.arrays(
            buffer.elem,
            reference.bytes(&data, i),
            native.bytes(&data, i),
            tolerance.as_ref(),
            &buffer.name,
        );
    }
    if let Some(picture) = &picture {
        picture.write(&data, &native)?;
    }
    let timing = timing::time(&scalar, &vector, &data);
    let binding =
        kernel.directives.lane_insensitive || (!asks_about_lanes(&kernel) && lockstep.race.is_none());
    let results = Results {
        made,
        loops,
        reasons,
        tolerance,
        lockstep,
        by_lanes,
        by_scalar,
        binding,
        timing,
        elements: data.end.abs_diff(data.begin),
    };
    let text = match options.format {
        Format::Text => results.text(&kernel),
        Format::Json => results.json(&kernel),
    };
    output::report(picture.iter().map(|p| p.path.as_path()), &text)?;
    Ok(if results.is_clean() { Outcome::Clean } else { Outcome::Finding })
}

/// What is run: as a scalar program by the function [`SCALAR`], and on W lanes by [`VECTOR`].
struct Subject {
    kernel: Kernel,
    data: Data,
    /// The W-lane form, of the first loop if loops are the unit.
    made: Vectorized,
    /// The loops, if they are the unit.
    loops: Vec<MadeLoop>,
    reasons: Vec<Reason>,
}

/// Reads a kernel and makes what is run.
fn prepare(options: &RunOptions, picture: Option<&Picture>) -> Result<Subject> {
    let mut kernel = kernel::open(&KernelOptions::from(&options.kernel))?;
    let data = bind(options, &kernel)?;
    check(options, &kernel, &data, picture)?;
    drive::scalar(&mut kernel, SCALAR)?;
    let made = drive::lanes(&mut kernel, &KernelOptions::from(&options.kernel), VECTOR)?;
    let reasons = reasons(&kernel)?;
    Ok(Subject { kernel, data, made, loops: Vec::new(), reasons })
}

/// What can be found out before anything is made: whether this machine runs it, and whether the picture can be drawn.
fn check(options: &RunOptions, kernel: &Kernel, data: &Data, picture: Option<&Picture>) -> Result<()> {
    let triple = &kernel.imported.ir.triple;
    if !is_host(triple)? {
        let message =
            format!("it is for {triple}, which is not this machine; `warpline vectorize` makes code for it");
        return Err(Error::input(&options.kernel.input, message));
    }
    picture.map_or(Ok(()), |picture| picture.buffer(data).map(drop))
}

/// Settles range and arguments.
fn bind(options: &RunOptions, kernel: &Kernel) -> Result<Data> {
    let func = kernel.function();
    let Some((begin, end)) = options.range.or(kernel.directives.range) else {
        let message = "which indices? Write --range A..B, or `//@ range A..B` in the input";
        return Err(Error::option("--range", message));
    };
    if begin >= end {
        return Err(Error::option("--range", format!("{begin}..{end} has no index")));
    }
    for bits in driver::index_widths(func, &kernel.args) {
        if !driver::index_fits(begin, end, bits) {
            let message = format!("{begin}..{end}: not every index fits the index parameter, an i{bits}");
            return Err(Error::option("--range", message));
        }
    }
    check_parameters(func)?;
    let items = kernel.items.as_ref().map_or(Vec::new(), |items| row_of_items(items, func, begin, end));
    let binds: Vec<&Bind> =
        options.bind.iter().chain(kernel.directives.binds.iter().map(|at| &at.value)).chain(&items).collect();
    Data::new(func, &kernel.args, &binds, (begin, end), options.seed)
}

fn check_parameters(func: &Function) -> Result<()> {
    match func.params.iter().find(|&&p| !data::fits_slot(func.ty(p))) {
        Some(&p) => {
            let message = format!("`{}`: a parameter of its type cannot be passed", func.value_name(p));
            Err(Error::option(format!("function `{}`", func.name), message))
        }
        None => Ok(()),
    }
}

/// What a kernel that asks which work-item it is gets to hear: the range is one group in dimension 0, and nothing is said of others.
fn row_of_items(items: &WorkItems, func: &Function, begin: i64, end: i64) -> Vec<Bind> {
    let count = end.saturating_sub(begin);
    let added = &func.params[func.params.len() - items.added.len()..];
    let bind = |(&p, &added): (&Value, &Added)| {
        let number = match added {
            Added::Index(_) => return None,
            Added::GroupStart | Added::Answer(Query::GlobalOffset, 0) => begin,
            Added::Answer(Query::GlobalSize | Query::LocalSize | Query::EnqueuedLocalSize, 0) => count,
            Added::Answer(
                Query::GlobalSize | Query::LocalSize | Query::EnqueuedLocalSize | Query::NumGroups,
                _,
            ) => 1,
            Added::Answer(Query::GlobalId | Query::LocalId | Query::GroupId | Query::GlobalOffset, _) => 0,
        };
        let name = func.value_name(p)[1..].to_owned();
        Some(Bind { name, spec: Spec::Number(Number::Int(number.into())) })
    };
    added.iter().zip(&items.added).filter_map(bind).collect()
}

/// Why branches are divergent and loops left apart, as the vectorizer sees it.
fn reasons(kernel: &Kernel) -> Result<Vec<Reason>> {
    let asked = kernel.vectorizer(String::new(), kernel.width, false, &NoMathLibrary, &AllCallees);
    let (ir, func) = (&kernel.imported.ir, kernel.function());
    let linearized = linearize_kernel(ir, func, &asked).map_err(|e| kernel.refusal(&e))?;
    Ok(FunctionReport::new(ir, &linearized.scalar, &linearized.uniformity).reasons)
}

/// How far results may be off where vector math is used, or sums are made in another order.
fn tolerance(options: &RunOptions, kernel: &Kernel, loops: &[MadeLoop]) -> Tolerance {
    let regrouped = loops.iter().any(|l| l.made.carried.iter().any(|c| c.rounds_otherwise));
    let ulp = Some(u64::from(options.kernel.math_ulp));
    let rel = regrouped.then_some(loops::REGROUPED);
    options.tolerance.or(kernel.directives.tolerance).unwrap_or(Tolerance {
        ulp,
        rel,
        ..Tolerance::default()
    })
}

/// Whether the kernel uses lane operations, itself or in what it calls: then it means another thing as a scalar program.
fn asks_about_lanes(kernel: &Kernel) -> bool {
    let func = kernel.function();
    let uses = |&b: &Block| func.block_insts(b).any(|i| matches!(func.insts[i].op, Op::Lane(_)));
    func.layout.iter().any(uses) || asking_lanes(&kernel.imported.ir, func).iter().next().is_some()
}

/// Everything that was found.
struct Results {
    made: Vectorized,
    loops: Vec<MadeLoop>,
    reasons: Vec<Reason>,
    tolerance: Option<Tolerance>,
    lockstep: Lockstep,
    by_lanes: Comparison,
    by_scalar: Comparison,
    /// Whether the scalar program is a reference.
    binding: bool,
    timing: Timing,
    elements: u64,
}

impl Results {
    fn mismatches(&self) -> u64 {
        let scalar = if self.binding { self.by_scalar.mismatches } else { 0 };
        self.by_lanes.mismatches.max(scalar)
    }

    fn is_clean(&self) -> bool {
        self.mismatches() == 0 && !self.lockstep.stopped.as_ref().is_some_and(|s| s.undefined)
    }

    fn max_ulp(&self) -> u64 {
        let scalar = if self.binding { self.by_scalar.max_ulp } else { 0 };
        self.by_lanes.max_ulp.max(scalar)
    }

    fn speedup(&self) -> f64 {
        self.timing.scalar_ns as f64 / (self.timing.vector_ns.max(1)) as f64
    }

    fn json(&self, kernel: &Kernel) -> String {
        let mut value = json!({
            "function": kernel.name,
            "width": self.loops.first().map_or(kernel.width, |l| l.width),
            "cpu": kernel.cpu.name,
            "elements": self.elements,
            "mismatches": self.mismatches(),
            "max_ulp": self.max_ulp(),
            "scalar_ns": self.timing.scalar_ns,
            "vector_ns": self.timing.vector_ns,
            "speedup": (self.speedup() * 1000.0).round() / 1000.0,
            "branches": self.made.counts.branches,
            "loops": self.made.counts.loops,
            "exits": self.made.counts.exits,
            "masks": self.made.counts.masks,
            "boscc": self.made.counts.boscc,
            "coherent": self.made.counts.coherent,
        });
        if !self.loops.is_empty() {
            value["vectorized_loops"] = self.loops.iter().map(as_json).collect();
        }
        format!("{value:#}\n")
    }

    fn text(&self, kernel: &Kernel) -> String {
        let mut lines = match self.loops[..] {
            [] => {
                let (name, cpu) = (&kernel.name, &kernel.cpu.name);
                vec![format!("{name}: {} lanes on {cpu}, {} indices", kernel.width, self.elements)]
            }
            _ => vec![format!("{} on {}", kernel.name, kernel.cpu.name)],
        };
        lines.extend(self.loops.iter().map(|l| format!("  {}", in_words(l))));
        for r in &self.reasons {
            let place = r.location.as_ref().unwrap_or(&r.block);
            let line = format!("  divergent {} at {place}: {}", r.kind, r.text);
            // What is made twice has its reasons twice.
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines.extend(output::lines_on(kernel, &self.made.counts));
        if let Some(t) = &self.tolerance {
            let of = |f: fn(&Comparison) -> f64| {
                let scalar = if self.binding { f(&self.by_scalar) } else { 0.0 };
                f(&self.by_lanes).max(scalar)
            };
            lines.push(format!(
                "  vector math: largest error {} ulp, relative {:.1e}, absolute {:.1e}; allowed: {t}",
                self.max_ulp(),
                of(|c| c.max_rel),
                of(|c| c.max_abs)
            ));
        }
        if let Some((race, place)) = &self.lockstep.race {
            let first = race.first.map_or("other lanes".to_owned(), |l| format!("lane {l}"));
            lines.push(format!("  race: {first} and lane {} of a group meet at {place}", race.second));
        }
        self.references(kernel, &mut lines);
        lines.push(format!(
            "  scalar {}, vector {}: {:.2} times as fast (medians of {} runs each)",
            duration(self.timing.scalar_ns),
            duration(self.timing.vector_ns),
            self.speedup(),
            self.timing.runs
        ));
        for (name, c, counts) in
            [("lane interpreter", &self.by_lanes, true), ("scalar program", &self.by_scalar, self.binding)]
        {
            if let (true, Some(first)) = (counts, &c.first) {
                lines.push(format!("  first mismatch with the {name}: {first}"));
            }
        }
        lines.push(format!("  {} mismatches", self.mismatches()));
        if self.mismatches() > 0 && self.tolerance.is_some() {
            lines.push("  if that is accurate enough, say so with `//@ tolerance rel=X`; --math-ulp 0 computes exactly".to_owned());
        }
        lines.join("\n") + "\n"
    }

    /// What the results were held against.
    fn references(&self, kernel: &Kernel, lines: &mut Vec<String>) {
        let interpreted = self.lockstep.end.abs_diff(self.lockstep.begin);
        if !self.loops.is_empty() {
            lines.push(match &self.lockstep.stopped {
                None => "  checked against the interpreted scalar program".to_owned(),
                Some(s) if s.undefined => format!("  undefined behaviour, says the interpreter: {}", s.text),
                Some(s) => format!("  not checked against the interpreter, which stopped: {}", s.text),
            });
            lines.push("  checked against the scalar program".to_owned());
            return;
        }
        lines.push(match &self.lockstep.stopped {
            None => format!("  checked against the lane interpreter on the first {interpreted} indices"),
            Some(s) if s.undefined => {
                format!("  undefined behaviour, says the lane interpreter: {}", s.text)
            }
            Some(s) => format!(
                "  checked against the lane interpreter on the first {interpreted} indices, where it stopped: {}",
                s.text
            ),
        });
        lines.push(match (self.binding, kernel.directives.lane_insensitive, &self.lockstep.race) {
            (true, ..) => format!("  checked against the scalar program on all {} indices", self.elements),
            (_, _, Some(_)) => {
                "  not checked against the scalar program, since lanes of a group race (`//@ lane-insensitive` if results do \
                 not depend on that)"
                    .to_owned()
            }
            _ => "  not checked against the scalar program, since the kernel uses lane operations (`//@ lane-insensitive` if \
                  results do not depend on the other lanes)"
                .to_owned(),
        });
    }
}

/// A time in a unit that fits.
fn duration(ns: u64) -> String {
    match ns {
        0..10_000 => format!("{ns} ns"),
        10_000..10_000_000 => format!("{:.1} µs", ns as f64 / 1e3),
        _ => format!("{:.1} ms", ns as f64 / 1e6),
    }
}

/// A buffer that is to become a picture.
struct Picture {
    name: String,
    path: PathBuf,
    width: u32,
    height: u32,
}

impl Picture {
    fn parse(text: &str) -> Result<Picture> {
        let parts = || {
            let (name, rest) = text.split_once('=')?;
            let (path, size) = rest.rsplit_once(',')?;
            let (w, h) = size.split_once('x')?;
            let size = |t: &str| t.parse().ok().filter(|n| (1..=1 << 15).contains(n));
            Some(Picture { name: name.to_owned(), path: path.into(), width: size(w)?, height: size(h)? })
        };
        let picture = parts()
            .ok_or_else(|| Error::option("--png", format!("`{text}`: write NAME=FILE.png,WIDTHxHEIGHT")))?;
        Ok(picture)
    }

    /// The number of the buffer.
    fn buffer(&self, data: &Data) -> Result<usize> {
        let wrong = |message: String| Error::option("--png", message);
        let number = data.buffers.iter().position(|b| b.name == self.name).ok_or_else(|| {
            let names: Vec<&str> = data.buffers.iter().map(|b| b.name.as_str()).collect();
            wrong(format!("there is no buffer `{}`; there are {}", self.name, names.join(", ")))
        })?;
        let buffer = &data.buffers[number];
        let (have, want) =
            (buffer.initial.len() / buffer.elem.bytes(), self.width as usize * self.height as usize);
        if have < want {
            return Err(wrong(format!("`{}` has {have} elements for {want} pixels", self.name)));
        }
        Ok(number)
    }

    /// Writes the picture; the smallest value is black, the largest white.
    fn write(&self, data: &Data, image: &Image) -> Result<()> {
        let number = self.buffer(data)?;
        let (elem, bytes) = (data.buffers[number].elem, image.bytes(data, number));
        let value = |k| {
            let bits = data::element(bytes, elem, k);
            match elem {
                Elem::F32 => f64::from(f32::from_bits(bits as u32)),
                Elem::F64 => f64::from_bits(bits),
                Elem::Int(n) => (((bits << (64 - n)) as i64) >> (64 - n)) as f64,
                Elem::Bool => bits as f64,
            }
        };
        let values: Vec<f64> = (0..self.width as usize * self.height as usize).map(value).collect();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let scale = if high > low { 255.0 / (high - low) } else { 0.0 };
        let pixels: Vec<u8> = values.iter().map(|v| ((v - low) * scale) as u8).collect();
        let mut outputs = Outputs::default();
        outputs.add(&self.path, &png::grey(&pixels, self.width, self.height))?;
        outputs.commit()
    }
}
