//! The pipeline: from a function of a module to its W-lane variants in the same module.
//!
//! * [`linearize_kernel`] checks the options and runs [all passes](crate::passes::PASSES) up to the lane program,
//!   once for the variants with and without a mask, and has dependences between lanes judged on the result;
//! * [`vectorize_variants`] lowers each of them, and verifies what was made;
//! * `variants` makes the variants of functions that kernels call: lowering names those that it needs, and a work list
//!   makes them, until none is left.
//!
//! Which passes run in which order says the list in `passes`; what a pass is and how it is run says `pass`.

mod callee_variants;

use std::rc::Rc;
use std::sync::Arc;

use cranelift_entity::{EntitySet, SecondaryMap};

use warpline_ir::verify::verify;
use warpline_ir::{Effects, FuncId, Function, Module, Symbol, SymbolData, SymbolKind, Value};
use warpline_uniformity::Uniformity;
use warpline_uniformity::shape::Shape;

use super::call_graph::functions_with_cross_lane_operations;
use super::callees::{CalleeVariant, Originals};
use super::choices::{Coherence, MAX_WIDTH};
use super::counts::Counts;
use super::dependences::{self, Dependences, Pieces};
use super::lower::{Lowered, lower};
use super::options::{Form, Options, Vectorized};
use super::pass::{Context, LaneFacts, Unit, announce, verify_unit};
use super::passes::{self, LOWER};
use super::recipes::{Input, Plan, Prepared};
use super::subword_loads::Words;
use super::{LaneProgram, VectorizeError, forward_stores, refused_calls};
use warpline_ir::Phase;

/// A linearized kernel with what is known of its values: what [`lower`] lowers and the lane interpreter runs.
#[derive(Clone)]
pub struct Linearized {
    /// The lane program.
    pub program: LaneProgram,
    /// The normalized scalar function that it was made from.
    pub scalar: Function,
    /// The uniformity analysis of that function.
    pub uniformity: Rc<Uniformity>,
    lane_callees: Arc<EntitySet<Symbol>>,
    shapes: SecondaryMap<Value, Shape>,
    known: EntitySet<Value>,
    words: Words,
    /// What is known of accesses by different lanes to the same memory.
    pub dependences: Dependences,
}

impl Linearized {
    /// What lowering is to know.
    pub(super) fn input(&self) -> Input<'_> {
        Input {
            func: &self.program.func,
            shapes: &self.shapes,
            known: &self.known,
            guarded: &self.program.guarded,
            safe_loads: &self.program.safe_loads,
            always: &self.program.always,
            lane_callees: &self.lane_callees,
            words: &self.words,
            apart: &self.dependences.apart,
        }
    }
}

/// Normalizes, analyses and linearizes a function.
///
/// # Errors
/// If the options do not fit the function or it cannot be vectorized. More than one lane that all do the same are an
/// error too: for lack of shapes of the parameters this is what every kernel would become.
pub fn linearize_kernel(
    module: &Module,
    func: &Function,
    options: &Options<'_>,
) -> Result<Linearized, VectorizeError> {
    linearize(module, func, options, false, &[options.form()]).map(|mut all| all.remove(0))
}

/// The same in each of these forms.
fn linearize(
    module: &Module,
    func: &Function,
    options: &Options<'_>,
    is_callee: bool,
    forms: &[Form],
) -> Result<Vec<Linearized>, VectorizeError> {
    if !(1..=MAX_WIDTH).contains(&options.width) {
        let reason = format!("a width of {} lanes is not between 1 and {MAX_WIDTH}", options.width);
        return Err(VectorizeError::in_function(func, reason).bad_options());
    }
    if options.args.len() != func.params.len() {
        let reason = format!("{} shapes are given for {} parameters", options.args.len(), func.params.len());
        return Err(VectorizeError::in_function(func, reason).bad_options());
    }
    if func.variadic {
        return Err(VectorizeError::in_function(func, "variadic functions cannot be vectorized"));
    }
    if func.phase > Phase::Canonical {
        let reason = format!("it is no program for one lane, but {} already", func.phase.name());
        return Err(VectorizeError::in_function(func, reason));
    }
    if is_callee {
        // Whatever it leads to has been looked at with the kernel.
        refused_calls::check_own(module, func)?;
    } else {
        refused_calls::check(module, func, options.callees)?;
    }
    let lane_callees = Arc::new(functions_with_cross_lane_operations(module, func));
    let cx = Context { is_callee, forms, ..Context::new(module, options, lane_callees) };
    let mut unit = Unit::new(func.clone());
    unit.func.phase = Phase::Scalar;
    verify_unit(&unit, &cx, "whoever made it")?;
    passes::run_all(&mut unit, &cx)?;
    let (copied, lane_callees) = (unit.coherent + unit.guards, cx.lane_callees.clone());
    let Some(facts) = unit.lanes else {
        return Err(VectorizeError::in_function(func, "no pass made a lane program of it").internal());
    };
    let LaneFacts { canonical: scalar, uniformity, shapes, known, words, .. } = facts;
    let LaneFacts { guarded, safe_loads, counts, always, linearization, .. } = facts;
    let found = cx.part("dependences", || {
        dependences::find(module, &scalar, &unit.func, &uniformity, &options.of_memory())
    });
    let dependences = match found {
        // Counters of loops whose bodies are there twice are not recognized.
        Err(_) if copied > 0 => {
            let (args, name) = (options.args.clone(), options.name.clone());
            let without = Options { coherence: Coherence::Off, args, name, ..*options };
            return linearize(module, func, &without, is_callee, forms);
        }
        found => found?,
    };
    let program = LaneProgram { func: unit.func, guarded, safe_loads, counts, always, linearization };
    let first = Linearized { program, scalar, uniformity, lane_callees, shapes, known, words, dependences };
    let others = unit.more.into_iter().map(|func| {
        let mut other = first.clone();
        other.program.func = func;
        other
    });
    let mut all: Vec<Linearized> = others.collect();
    all.insert(0, first);
    Ok(all)
}

/// Vectorizes a function of the module for `options.width` lanes and adds the result to the module.
///
/// # Errors
/// If the options do not fit the function or something in it cannot be vectorized; the message names the function,
/// the instruction and, if known, the source line.
pub fn vectorize(
    module: &mut Module,
    func: FuncId,
    options: &Options<'_>,
) -> Result<Vectorized, VectorizeError> {
    vectorize_variants(module, func, options, &[(&options.name, options.form())]).map(|mut all| all.remove(0))
}

/// [`vectorize`] for several variants of one function, each with a name and a form. They are the same but for the mask,
/// and are made as one as far as that goes. The options' own name and mask do not count.
///
/// # Errors
/// As above.
pub(crate) fn vectorize_variants(
    module: &mut Module,
    func: FuncId,
    options: &Options<'_>,
    variants: &[(&str, Form)],
) -> Result<Vec<Vectorized>, VectorizeError> {
    let Some((first, _)) = variants.first() else { return Ok(Vec::new()) };
    let mut func = module.functions[func].clone();
    // The iterations of a loop have been looked at before.
    let own = match options.region {
        None => dependences::cut(module, &mut func, first, &options.args, None, options.contract, false),
        Some(_) => Pieces::none(),
    };
    let pieces = if options.region.is_none() { &own } else { options.pieces };
    let originals = Originals { of: options.callees, count: module.functions.len() };
    let (args, name) = (options.args.clone(), options.name.clone());
    let options = &Options { pieces, callees: &originals, args, name, ..*options };
    let forms: Vec<Form> = variants.iter().map(|&(_, form)| form).collect();
    let linearized = linearize(module, &func, options, false, &forms)?;
    let mut all = Vec::new();
    for (one, &(name, form)) in linearized.into_iter().zip(variants) {
        let (args, name) = (options.args.clone(), name.to_owned());
        let (masked, counting) = (form == Form::Masked, form == Form::Counting);
        let options = &Options { masked, counting, args, name, ..*options };
        let (mut made, wanted) = lower_one(module, &func, one, options)?;
        made.callees = callee_variants::make(module, wanted, options)?;
        all.push(made);
    }
    all[0].callees.extend(own.functions());
    Ok(all)
}

/// Vectorizes one function that is called by a kernel, and says which variants of functions it calls.
fn vectorize_callee(
    module: &mut Module,
    func: &Function,
    options: &Options<'_>,
) -> Result<(Vectorized, Vec<CalleeVariant>), VectorizeError> {
    let linearized = linearize(module, func, options, true, &[options.form()])?.remove(0);
    lower_one(module, func, linearized, options)
}

/// Loads of what has just been stored in a lane program become the stored values.
fn forward_what_is_stored(module: &Module, linearized: &mut Linearized, options: &Options<'_>) {
    let Linearized { program, shapes, known, dependences, .. } = linearized;
    let step = |v: Value| if known.contains(v) { shapes[v].anchored_step() } else { None };
    let own_mask = program.func.params.last().copied().filter(|_| options.masked);
    let (region, checked) = (options.region, &*dependences.apart);
    let facts = forward_stores::Facts { region, checked, own_mask, step: &step };
    forward_stores::run(module, &mut program.func, &facts);
}

/// Makes vector instructions of a lane program, and adds the result to the module.
fn lower_one(
    module: &mut Module,
    func: &Function,
    mut linearized: Linearized,
    options: &Options<'_>,
) -> Result<(Vectorized, Vec<CalleeVariant>), VectorizeError> {
    forward_what_is_stored(module, &mut linearized, options);
    let dependences = &linearized.dependences;
    if let Some(most) = dependences.lanes.filter(|&most| most < options.width) {
        let reason = format!(
            "{} lanes are too many: what some lane accesses in memory depends on the lane {most} before it; use \
             at most {most}",
            options.width
        );
        return Err(VectorizeError::in_function(func, reason));
    }
    let input = linearized.input();
    let plan = Plan::make(module, &input, &Prepared::of(module, &input, options), options)?;
    let Lowered { func: lowered, params, result, approximate, masks } = announce(
        &LOWER,
        options.instrument,
        module,
        &linearized.program.func,
        |module| lower(module, &input, &plan, options),
        |lowered| &lowered.func,
    )?;
    plan.compare(module, &linearized.program.func, &lowered, options.count_lanes)?;
    verify(module, &lowered).map_err(|e| {
        VectorizeError::in_function(&lowered, format!("lowering broke the function:\n{e}")).internal()
    })?;
    let signature = SymbolKind::Function {
        params: lowered.params.iter().map(|&p| lowered.ty(p)).collect(),
        ret: lowered.ret,
        variadic: false,
    };
    module.declare(SymbolData {
        name: options.name.as_str().into(),
        kind: signature,
        effects: Effects::UNKNOWN,
        origin: None,
    });
    let made = Vectorized {
        func: module.functions.push(lowered),
        callees: Vec::new(),
        name: options.name.clone(),
        width: options.width,
        params,
        result,
        masked: options.form() != Form::Whole,
        counts: Counts { masks, ..linearized.program.counts },
        recipes: plan.counts(&linearized.program.func),
        approximate,
        dependences: linearized.dependences,
    };
    Ok((made, plan.callees))
}
