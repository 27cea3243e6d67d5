//! `warpline run`: a kernel as a scalar program and on W lanes, compared and timed.
//!
//! Two references judge the W-lane code, bit for bit. The lane interpreter, which runs the kernel as W threads in
//! lockstep, always does, on a prefix of the range, in the groups that the driver makes of it. The sequential scalar
//! program does on the whole range if the kernel uses no lane operations and the interpreter saw no race, or if the
//! input says `lane-insensitive`.
//!
//! Where vector code rounds mathematics otherwise than the C library, both references and the code that they judge
//! share one mathematics (`mathematics`); how far the code that is timed is from the C library's is measured beside it.

pub mod compare;
pub mod data;
mod groups;
pub mod guard;
mod lanes;
mod lockstep;
pub mod loops;
pub(crate) mod made_up;
mod mathematics;
mod missing;
mod picture;
mod png;
mod profile;
mod records;
mod report;
mod roles;
pub mod timing;
mod variables;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value as Json, json};
use warpline::demangle;
use warpline::group_functions::Query;
use warpline::ir::{Function, Op, SymbolData, SymbolKind, Type, Value};
use warpline::uniformity::report::{FunctionReport, Reason};
use warpline::vectorize::call_graph::has_cross_lane_operations;
use warpline::vectorize::work_items::{Added, WorkItems};
use warpline::vectorize::{
    AllCallees, Callees as _, Contract, NoMathLibrary, Options as VectorizerOptions, VectorizeError,
    Vectorized, driver, linearize_kernel,
};
use warpline_compile::KernelOptions;
use warpline_compile::choice::{self, Chosen};
use warpline_compile::loops::{LoopOptions, MadeLoop};
use warpline_compile::profile::Profile;
use warpline_llvm::worker::{self, CodegenOptions, Output};
use warpline_llvm::{Imported, Jit, JitFunction, Module, is_host, process_has_symbol};

use crate::Outcome;
use crate::cli::{Format, RunOptions};
use crate::drive;
use crate::error::{Error, Result};
use crate::kernel::{self, Kernel};
use crate::output::{self, progress};
use crate::spec::{Bind, Number, Spec, Tolerance};

use compare::Comparison;
use data::{Data, Image};
use guard::watched;
use lockstep::Lockstep;
use loops::Prepared;
use mathematics::{Calls, Mathematics};
use picture::Picture;
use report::{Library, Results};
use variables::Variables;

const SCALAR: &str = "warpline_run_scalar";
const VECTOR: &str = "warpline_run_vector";

/// What messages call the two programs.
const SCALAR_PROGRAM: &str = "the scalar program";
const VECTOR_PROGRAM: &str = "the program on W lanes";

/// Runs the command.
///
/// # Errors
/// Whatever is wrong with input and options, or the reason why the kernel cannot be vectorized or run.
pub fn run(options: &RunOptions) -> Result<Outcome> {
    let picture = options.png.as_deref().map(Picture::parse).transpose()?;
    let outputs = picture.iter().map(|p| p.path.as_path()).chain(options.profile_out.as_deref());
    let outputs = outputs.chain(options.draw_lanes.as_deref());
    output::check(outputs, std::slice::from_ref(&options.kernel.input))?;
    let profile = RefCell::new(Profile::default());
    let outcome = run_and_count(options, picture.as_ref(), &profile)?;
    if let Some(path) = &options.profile_out {
        let text = serde_json::to_string_pretty(&profile.into_inner().to_json()).unwrap_or_default();
        output::deliver(Some(path), &format!("{text}\n"))?;
    }
    Ok(outcome)
}

/// Runs what is asked for, and adds to a profile if that is wanted.
fn run_and_count(
    options: &RunOptions,
    picture: Option<&Picture>,
    profile: &RefCell<Profile>,
) -> Result<Outcome> {
    if let Some(asked) = options.loops.options(&options.kernel)? {
        if options.global.or(options.local).is_some() {
            return Err(Error::option("--global", "loops have no work-items"));
        }
        return run_loops(options, &asked, picture, profile);
    }
    let asked = options.kernel.asked()?;
    let imported = kernel::load_for_code(&asked.input, &asked.load_options(), asked.told())?.imported;
    imported.forget_marks_of_loops();
    let cpu = kernel::one_cpu(&asked, &imported)?;
    let shapes = asked.args.is_some();
    let kernels = choice::choose(&imported, &asked.input, &options.kernel.function, shapes)?;
    let copy = || Result::Ok(Imported::new(imported.bridge.module().try_clone()?));
    let with_room = |chosen: &Chosen, room: made_up::Room| {
        let imported = copy()?;
        let mut asked = KernelOptions { function: Some(chosen.name.clone()), ..asked.clone() };
        let index = made_up::guess_index(&imported, &asked, &chosen.name)?;
        if index.is_none() {
            chosen.is_meant(&asked.input)?;
        }
        if let Some(index) = index {
            if room.is_first() {
                output::complain(&format!(
                    "note: `{index}` is taken for the index of `{}`; `--args` says otherwise",
                    chosen.name
                ));
            }
            asked.args = Some(format!("{index}=index"));
        }
        let kernel = kernel::settle(&asked, imported, cpu.clone())?;
        let grouped = options.global.or(options.local).is_some();
        if kernel.regions.is_some() || grouped {
            let what = if kernel.regions.is_some() { "has barriers" } else { "runs over groups" };
            if options.profile_out.is_some() {
                let message = format!("`{}` {what}, and its branches are not counted", kernel.name);
                return Err(Error::option("--profile-out", message));
            }
            if options.draw_lanes.is_some() {
                let message = format!("`{}` {what}, and its lanes are not drawn", kernel.name);
                return Err(Error::option("--draw-lanes", message));
            }
            return groups::judge(options, &asked, kernel, room);
        }
        let subject = prepare(options, &asked, kernel, picture, room)?;
        judge(options, &asked, subject, picture, profile)
    };
    let has_slices = made_up::may_have_slices(&asked.input);
    let one = |chosen: &Chosen| made_up::fitting(has_slices, |room| with_room(chosen, room));
    if let [only] = &kernels[..] {
        return match one(only) {
            Ok((report, outcome)) => print(picture, &report).map(|()| outcome),
            Err(error @ Error::Vectorize(_)) if only.named || options.kernel.require_all => {
                output::complain(&format!("error: {error}"));
                Ok(Outcome::Finding)
            }
            Err(error) => Err(error),
        };
    }
    draws_one(options)?;
    run_all(options, &kernels, one)
}

/// Refuses pictures of several functions.
fn draws_one(options: &RunOptions) -> Result<()> {
    let png = options.png.as_ref().map(|_| "--png");
    match png.or(options.draw_lanes.as_ref().map(|_| "--draw-lanes")) {
        Some(option) => Err(Error::option(option, "one function draws a picture; say which with --function")),
        None => Ok(()),
    }
}

/// Runs the functions that have loops, one after the other.
fn run_loops(
    options: &RunOptions,
    asked: &LoopOptions,
    picture: Option<&Picture>,
    profile: &RefCell<Profile>,
) -> Result<Outcome> {
    let one = |asked: &LoopOptions| {
        made_up::fitting(made_up::may_have_slices(&asked.kernel.input), |room| {
            Ok(match loops::prepare(options, asked, picture, room)? {
                Prepared::One(subject) => Ok(judge(options, &asked.kernel, *subject, picture, profile)?),
                Prepared::Several(names) => Err(names),
            })
        })
    };
    let names = match one(asked)? {
        Ok((report, outcome)) => return print(picture, &report).map(|()| outcome),
        Err(names) => names,
    };
    draws_one(options)?;
    let names = names.into_iter().filter(|name| !is_main(name));
    let all: Vec<Chosen> = names.map(Chosen::new).collect();
    run_all(options, &all, |chosen| {
        let only = LoopOptions { functions: vec![chosen.name.clone()], ..asked.clone() };
        one(&only)?.map_err(|_| Error::Internal(format!("`{}` is more than one function", chosen.name)))
    })
}

/// Whether a function is a program's beginning, which takes no data, and is there to end.
fn is_main(name: &str) -> bool {
    let name = demangle(name);
    name == "main" || name.ends_with("::main")
}

/// Runs several kernels one after the other. One that cannot be run is a warning, unless it is named.
fn run_all(
    options: &RunOptions,
    kernels: &[Chosen],
    run: impl Fn(&Chosen) -> Result<(Report, Outcome)>,
) -> Result<Outcome> {
    let (mut reports, mut left_out) = (Vec::new(), Vec::new());
    let mut all = Outcome::Clean;
    // The only one is not refused twice.
    let warns = !options.report.quiet && kernels.len() > 1;
    let shown = progress::begin(kernels.len(), options.report.quiet);
    for chosen in kernels {
        shown.piece(&demangle(&chosen.name));
        let done = run(chosen);
        shown.piece_is_done();
        match done {
            Ok((Report::Text(text), outcome)) => {
                output::report([], &text)?;
                all = all.and(outcome);
                reports.push(Json::Null);
            }
            Ok((Report::Json(report), outcome)) => {
                all = all.and(outcome);
                reports.push(report);
            }
            Err(error) if error.is_internal() => return Err(error),
            Err(error) => {
                if chosen.named || options.kernel.require_all {
                    let refused = matches!(error, Error::Vectorize(_));
                    all = all.and(if refused { Outcome::Finding } else { Outcome::Refused });
                    output::complain(&format!("error: {error}"));
                } else if warns {
                    output::complain(&format!("warning: `{}` is not run: {error}", demangle(&chosen.name)));
                }
                left_out.push((chosen, error));
            }
        }
    }
    if reports.is_empty()
        && all == Outcome::Clean
        && let Some((_, last)) = left_out.pop()
    {
        // Where others were left out before, each has its warning.
        return Err(match left_out.is_empty() || options.report.quiet {
            true => last,
            false => Error::input(
                &options.kernel.input,
                "none of its functions can be run on data that is made up; `warpline vectorize` makes code of their loops all the \
 same",
            ),
        });
    }
    if options.report.format == Format::Json {
        let refused =
            left_out.iter().map(|(one, error)| json!({ "function": one.name, "reason": error.to_string() }));
        let value = json!({ "kernels": reports, "refused": refused.collect::<Vec<_>>() });
        output::report([], &output::json(&value))?;
    }
    Ok(all)
}

/// What is said of one kernel.
enum Report {
    Text(String),
    Json(Json),
}

fn print(picture: Option<&Picture>, report: &Report) -> Result<()> {
    let text = match report {
        Report::Text(text) => text.clone(),
        Report::Json(value) => output::json(value),
    };
    output::report(picture.iter().map(|p| p.path.as_path()), &text)
}

/// Draws the lanes of a kernel; those of a loop are no threads that could be interpreted.
fn draw_lanes(
    path: &Path,
    input: &Path,
    kernel: &Kernel,
    loops: &[MadeLoop],
    asked: &lockstep::Subject<'_>,
    data: &Data,
) -> Result<()> {
    if !loops.is_empty() {
        let message = "it draws kernels, functions for one lane; this is a loop";
        return Err(Error::option("--draw-lanes", message));
    }
    let subject = lockstep::Subject { width: kernel.width, epilogue: kernel.width, ..*asked };
    let drawing = lanes::draw(input, &demangle(&kernel.name), subject, data);
    output::deliver(Some(path), &drawing)
}

/// Runs what was made, scalar and on W lanes, compares, and times.
fn judge(
    options: &RunOptions,
    kernel_options: &KernelOptions,
    mut subject: Subject,
    picture: Option<&Picture>,
    profile: &RefCell<Profile>,
) -> Result<(Report, Outcome)> {
    let lanes = subject.numbers_of_lanes();
    let mathematics = Mathematics::add(&mut subject.kernel, kernel_options, &lanes)?;
    let exceptions = subject.exceptions();
    let Subject { kernel, data, note, made, loops, marked, reasons } = subject;
    let tolerance = options.tolerance.or(kernel.directives.tolerance);
    let allowed = (!exceptions.is_empty()).then(|| tolerance.unwrap_or(usual_tolerance(options)));

    let module = kernel.imported.bridge.module();
    let entries = mathematics.entries();
    let variables = Variables::of(&kernel.imported.ir);
    let programs = || variables.names().chain([SCALAR, VECTOR]);
    let visible: Vec<&str> = entries.iter().map(String::as_str).chain(programs()).collect();
    let timed = load(&kernel, module, &visible)?;
    let judged = match mathematics.is_exact() {
        true => None,
        false => {
            let mut judged = Module::parse(&module.to_bitcode(), module.name())?;
            mathematics.redirect(&mut judged);
            Some(load(&kernel, &judged, &programs().collect::<Vec<_>>())?)
        }
    };
    let timed = Pair::new(&timed, &variables)?;
    let judged = judged.as_ref().map_or(Ok(timed), |jits| Pair::new(jits, &variables))?;
    let calls = Calls::new(&mathematics, timed.jit)?;

    let asks_about_lanes = has_cross_lane_operations(&kernel.imported.ir, kernel.function());
    // What means the sequential program is interpreted as that.
    let sequential = !loops.is_empty() || (kernel.contract == Contract::Sequential && !asks_about_lanes);
    let (width, epilogue) = if sequential { (1, 1) } else { (kernel.width, kernel.epilogue) };
    let asked = lockstep::Subject {
        module: &kernel.imported.ir,
        kernel: kernel.func,
        args: &kernel.args,
        width,
        epilogue,
        fused: kernel.vectors.fused,
    };
    guard::runs(&demangle(&kernel.name), note.is_some());
    let lockstep = lockstep::interpret(asked, &data, Some(&calls));
    // Machine code would end this process, with other functions to come.
    if let (Some(note), Some(stop)) = (&note, &lockstep.stopped) {
        match &stop.missing {
            Some(name) => return Err(made_up::meets_what_is_missing(&missing::why(name), note)),
            None if stop.undefined || stop.is_deep => return Err(made_up::does_not_fit(&stop.text, note)),
            None => {}
        }
        if let Some(name) = missing::first(&kernel.imported.ir, kernel.func) {
            return Err(Error::input(&options.kernel.input, missing::why(&name)));
        }
    }
    if options.profile_out.is_some() {
        let width = if loops.is_empty() { kernel.width } else { 1 };
        let counted = lockstep::Subject { width, epilogue: width, ..asked };
        profile::add(&mut profile.borrow_mut(), &kernel, counted, &data);
    }
    if let Some(path) = &options.draw_lanes {
        draw_lanes(path, &options.kernel.input, &kernel, &loops, &asked, &data)?;
    }
    let mut image = Image::new(&data);
    let by_lanes = judged.against_lockstep(&lockstep, &data, &mut image, allowed.as_ref());
    let by_scalar = judged.against_scalar(&data, &mut image, allowed.as_ref());
    let insensitive = kernel.directives.lane_insensitive;
    let binding = insensitive || sequential || (!asks_about_lanes && !lockstep.races.order_matters());
    let library = (!mathematics.is_exact()).then(|| Library {
        names: mathematics.names().join(", "),
        results: match binding {
            true => timed.against_scalar(&data, &mut image, tolerance.as_ref()),
            false => {
                let lockstep = lockstep::interpret(asked, &data, None);
                timed.against_lockstep(&lockstep, &data, &mut image, tolerance.as_ref())
            }
        },
        worst: calls.worst(),
        math_ulp: options.kernel.math_ulp,
        tolerance,
    });
    if let Some(picture) = picture {
        run_vector(&timed.vector, &data, &mut image, data.end);
        picture.write(&data, &image)?;
    }
    let timing = watched(timing::TIMED, || timing::time(&timed.scalar, &timed.vector, &data));
    let race_is_finding = !insensitive && kernel.contract != Contract::Racy;
    let stays_scalar = match loops[..] {
        [] => kernel.scalar_wins(),
        _ => loops.iter().any(|l| l.rather_scalar),
    };
    let results = Results {
        made,
        stays_scalar,
        loops,
        marked,
        reasons,
        exceptions,
        allowed,
        lockstep,
        by_lanes,
        by_scalar,
        binding,
        sequential,
        race_is_finding,
        library,
        timing,
        note,
        elements: data.end.abs_diff(data.begin),
    };
    let report = match options.report.format {
        Format::Text => Report::Text(results.summary(&kernel, &options.kernel.input).text(&options.report)),
        Format::Json => Report::Json(results.json(&kernel)),
    };
    Ok((report, if results.is_clean() { Outcome::Clean } else { Outcome::Finding }))
}

/// Makes machine code of a module and loads it. If it has variables that change, each [of three programs](Pair) gets
/// its own.
fn load(kernel: &Kernel, module: &Module, visible: &[&str]) -> Result<Vec<Jit>> {
    let options = CodegenOptions {
        define_missing: true,
        define_lane_operations: true,
        // The scalar program is what other compilers make of it.
        usual_vectors: vec![SCALAR.to_owned(), drive::range_of(SCALAR), kernel.function().name.to_string()],
        ..kernel.codegen_options(visible, Output::Object)
    };
    let object = worker::codegen(module, &options)?;
    let symbols = kernel.imported.ir.symbols.values();
    let changes = |s: &SymbolData| matches!(s.kind, SymbolKind::Global { constant: false, .. });
    let copies = if symbols.into_iter().any(changes) { 3 } else { 1 };
    (0..copies)
        .map(|_| {
            let jit = Jit::new()?;
            jit.add_object(&object, &kernel.name)?;
            Ok(jit)
        })
        .collect()
}

/// The scalar program and the one on W lanes, in machine code.
#[derive(Copy, Clone)]
struct Pair<'jit> {
    /// Code that has the other entries.
    jit: &'jit Jit,
    /// The code of the scalar program and of the one on W lanes.
    jits: [&'jit Jit; 2],
    variables: &'jit Variables,
    scalar: JitFunction<'jit>,
    vector: JitFunction<'jit>,
    /// The program on W lanes that is compared with the interpreter.
    prefix: JitFunction<'jit>,
}

impl<'jit> Pair<'jit> {
    fn new(jits: &'jit [Jit], variables: &'jit Variables) -> Result<Pair<'jit>> {
        let copy = |k: usize| &jits[k % jits.len()];
        let own = [copy(1), copy(2)];
        variables.fill(&own)?;
        Ok(Pair {
            jit: copy(0),
            jits: own,
            variables,
            prefix: copy(0).function(VECTOR)?,
            scalar: copy(1).function(SCALAR)?,
            vector: copy(2).function(VECTOR)?,
        })
    }

    /// Compares the program on W lanes with the interpreter, as far as that came.
    fn against_lockstep(
        &self,
        lockstep: &Lockstep,
        data: &Data,
        image: &mut Image,
        allowed: Option<&Tolerance>,
    ) -> Comparison {
        run_vector(&self.prefix, data, image, lockstep.end);
        lockstep.compare(data, image, allowed)
    }

    /// Compares the program on W lanes with the scalar one on the whole range, when both have run equally often. Both
    /// have the buffers at the same addresses.
    fn against_scalar(&self, data: &Data, image: &mut Image, allowed: Option<&Tolerance>) -> Comparison {
        image.restore(data);
        let mut slots = image.slots(data, data.end);
        watched(SCALAR_PROGRAM, || self.scalar.call(&mut slots));
        let reference: Vec<Vec<u8>> =
            (0..data.buffers.len()).map(|i| image.bytes(data, i).to_vec()).collect();
        run_vector(&self.vector, data, image, data.end);
        let mut all = Comparison::default();
        for (i, buffer) in data.buffers.iter().enumerate() {
            all.arrays(buffer.elem, &reference[i], image.bytes(data, i), allowed, &buffer.name);
        }
        self.variables.compare(self.jits, allowed, &mut all);
        all
    }
}

/// Runs the program on W lanes up to an index.
fn run_vector(program: &JitFunction<'_>, data: &Data, image: &mut Image, end: i64) {
    image.restore(data);
    let mut slots = image.slots(data, end);
    watched(VECTOR_PROGRAM, || program.call(&mut slots));
}

/// What is run: as a scalar program by the function [`SCALAR`], and on W lanes by [`VECTOR`].
struct Subject {
    kernel: Kernel,
    data: Data,
    /// What was made up of the data, in words.
    note: Option<String>,
    /// The W-lane form, of the first loop if loops are the unit.
    made: Vectorized,
    /// The loops, if they are the unit.
    loops: Vec<MadeLoop>,
    /// Whether the input marks them.
    marked: bool,
    reasons: Vec<Reason>,
}

impl Subject {
    /// The numbers of lanes of all forms.
    fn numbers_of_lanes(&self) -> BTreeSet<u32> {
        match self.loops[..] {
            [] => BTreeSet::from([self.kernel.width, self.kernel.epilogue]),
            _ => self.loops.iter().flat_map(|l| [l.width, l.made.variants.epilogue()]).collect(),
        }
    }

    /// Why results may differ from the references' in bits: what the user has permitted.
    fn exceptions(&self) -> Vec<String> {
        let mut exceptions = Vec::new();
        if self.loops.iter().any(|l| l.made.carried.iter().any(|c| c.rounds_otherwise)) {
            exceptions.push("floating-point numbers are combined in another order".to_owned());
        }
        let kernel = &self.kernel;
        let ir = &kernel.imported.ir;
        if mathematics::may_round_otherwise(ir, kernel.func) {
            exceptions
                .push("instructions permit other roundings (`reassoc`, `contract` and the like)".to_owned());
        }
        let bodies = kernel.imported.final_bodies(kernel.vectors.register_bits);
        let bodies = bodies.with_variants_at_hand(&kernel.imported, process_has_symbol);
        let own: BTreeSet<&str> = ir
            .symbols
            .values()
            .flat_map(|s| bodies.variants(&s.name))
            .map(|variant| variant.symbol.as_str())
            .collect();
        let made = self.made.functions().chain(self.loops.iter().flat_map(|l| l.made.functions()));
        for func in made.map(|id| &ir.functions[id]) {
            for inst in func.layout.iter().flat_map(|&b| func.block_insts(b)) {
                let Op::Call(info) = &func.insts[inst].op else { continue };
                let Some(name) = info.callee.map(|symbol| &*ir.symbols[symbol].name) else { continue };
                let exception = format!("`{name}` is a vector variant of the input's (`declare simd`)");
                if own.contains(name) && !exceptions.contains(&exception) {
                    exceptions.push(exception);
                }
            }
        }
        exceptions
    }
}

/// How far results may be off where something is [an exception](Subject::exceptions) and the user says nothing.
fn usual_tolerance(options: &RunOptions) -> Tolerance {
    let ulp = Some(u64::from(options.kernel.math_ulp));
    Tolerance { ulp, rel: Some(loops::REGROUPED), ..Tolerance::default() }
}

/// Makes of a kernel what is run.
fn prepare(
    options: &RunOptions,
    asked: &KernelOptions,
    mut kernel: Kernel,
    picture: Option<&Picture>,
    room: made_up::Room,
) -> Result<Subject> {
    let (data, note) = bind(options, &kernel, room)?;
    check(options, &kernel, &data, picture)?;
    drive::scalar(&mut kernel, SCALAR)?;
    let made = drive::lanes(&mut kernel, asked, VECTOR)?;
    let reasons = reasons(&kernel)?;
    Ok(Subject { kernel, data, note, made, loops: Vec::new(), marked: false, reasons })
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

/// Settles range and arguments. What had to be made up of them is said in words.
fn bind(options: &RunOptions, kernel: &Kernel, room: made_up::Room) -> Result<(Data, Option<String>)> {
    let func = kernel.function();
    let items = kernel.items.as_ref().map_or(0, |items| items.added.len());
    let own = func.params.len() - items;
    let given: Vec<&Bind> =
        options.bind.iter().chain(kernel.directives.binds.iter().map(|at| &at.value)).collect();
    let range = options.range.or(kernel.directives.range);
    let (begin, end) = range.unwrap_or((0, made_up::extent(&func.params[..own], func, &given) as i64));
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
    let count = begin.abs_diff(end);
    let made =
        made_up::missing(&kernel.imported.ir, func, &func.params[..own], &kernel.args, &given, count, room)?;
    let note = (range.is_none() || !made.is_empty())
        .then(|| made_up::describe(&made, range.is_none().then_some((begin, end))));
    let binds: Vec<&Bind> = given.into_iter().chain(&made).chain(&items).collect();
    Ok((Data::new(func, &kernel.args, &binds, (begin, end), options.seed)?, note))
}

fn check_parameters(func: &Function) -> Result<()> {
    match func.params.iter().find(|&&p| !data::fits_slot(func.ty(p))) {
        Some(&p) => {
            let (name, kind) = (
                func.value_name(p),
                if matches!(func.ty(p), Type::Vector(_)) { "a vector" } else { "no number" },
            );
            let message = format!(
                "`{}` is {kind}, and `run` passes numbers and pointers: pass a pointer to it, or its parts; \
                 `warpline vectorize` makes code of the function as it is",
                &name[1..]
            );
            let function = demangle(func.name.trim_end_matches(".items"));
            Err(Error::option(format!("function `{function}`"), message))
        }
        None => Ok(()),
    }
}

/// What a kernel that asks which work-item it is gets to hear: the range is one group in the dimension of lanes, and
/// nothing is said of others.
fn row_of_items(items: &WorkItems, func: &Function, begin: i64, end: i64) -> Vec<Bind> {
    let count = end.saturating_sub(begin);
    let added = &func.params[func.params.len() - items.added.len()..];
    let bind = |(&p, &added): (&Value, &Added)| {
        let number = match added {
            Added::Index(_) | Added::LocalIndex | Added::Local(_) | Added::Scratch(_) => return None,
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
    // Dependences are judged where code is made, once updates of shared memory have been taken out.
    let asked = VectorizerOptions { contract: Contract::Racy, ..asked };
    reasons_in(&kernel.imported.ir, kernel.function(), &asked).map_err(|e| kernel.refusal(&e))
}

/// The same of a function that is vectorized with these options.
fn reasons_in(
    ir: &warpline::ir::Module,
    func: &Function,
    asked: &VectorizerOptions<'_>,
) -> std::result::Result<Vec<Reason>, VectorizeError> {
    let linearized = linearize_kernel(ir, func, asked)?;
    Ok(FunctionReport::new(ir, &linearized.scalar, &linearized.uniformity).reasons)
}
