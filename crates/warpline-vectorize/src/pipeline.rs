//! The whole way: from a function of a module to its W-lane version in the same module.

use std::sync::Arc;

use cranelift_entity::{EntitySet, SecondaryMap};

use warpline_dataflow::ssa;
use warpline_ir::verify::verify;
use warpline_ir::{Block, Effects, FuncId, Function, Module, Symbol, SymbolData, SymbolKind, Value};
use warpline_uniformity::Uniformity;
use warpline_uniformity::shape::Shape;

use super::arms::{fold_arms, has_arms_to_fold};
use super::callees::{self, Form, Originals, asking_lanes};
use super::coherence::{has_candidates, make_bodies_twice};
use super::conditions::{has_conditions_of_parts, split_conditions};
use super::counts::Counts;
use super::dependences::{self, Dependences, Pieces};
use super::lower::{Input, Lowered, lower};
use super::options::{Coherence, Gathers, Linearize, Options, Vectorized};
use super::plan::Facts;
use super::private_memory::{Interleaved, interleave};
use super::scalarize::{has_vectors, scalarize};
use super::sink::{has_stores_to_sink, sink_stores};
use super::stage::{Stage, Watch};
use super::widen::widen_indices;
use super::words::{self, Words};
use super::{LaneProgram, VectorizeError, normalize, refused_calls, shared_memory, to_lane_program};

/// The greatest number of lanes.
pub const MAX_WIDTH: u32 = 64;

/// A linearized kernel with what is known of its values: what [`lower`] lowers and the lane interpreter runs.
pub struct Linearized {
    /// The lane program.
    pub program: LaneProgram,
    /// The normalized scalar function that it was made from.
    pub scalar: Function,
    /// The uniformity analysis of that function.
    pub uniformity: Uniformity,
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
        }
    }
}

/// Normalizes, analyses and linearizes a function.
///
/// # Errors
/// If the options do not fit the function or it cannot be vectorized. More than one lane that all do the same are an error too: for lack
/// of shapes of the parameters this is what every kernel would become.
pub fn linearize_kernel(
    module: &Module,
    func: &Function,
    options: &Options<'_>,
) -> Result<Linearized, VectorizeError> {
    linearize_staged(module, func, options, false, &mut |_| {})
}

fn linearize_staged(
    module: &Module,
    func: &Function,
    options: &Options<'_>,
    is_callee: bool,
    watch: Watch<'_>,
) -> Result<Linearized, VectorizeError> {
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
    if is_callee {
        // Whatever it leads to has been looked at with the kernel.
        refused_calls::check_own(module, func)?;
    } else {
        refused_calls::check(module, func, options.callees)?;
    }
    watch(Stage::Verify);
    let mut scalar = func.clone();
    check(module, &scalar, "the function is not valid")?;
    watch(Stage::NormalForm);
    ssa::copies::dissolve_copies(&mut scalar);
    let lane_callees = Arc::new(asking_lanes(module, func));
    let analyse = |scalar: &Function, laid_out: &[Interleaved]| {
        shared_memory::analyse(module, scalar, options.args.clone(), laid_out, &lane_callees)
    };
    let coherent = match options.width {
        1 => 0,
        _ => reshape(module, &mut scalar, options, &lane_callees, &|scalar| analyse(scalar, &[])),
    };
    normalize::normalize(&mut scalar)?;
    watch(Stage::Verify);
    check(module, &scalar, "normal form broke the function")?;
    watch(Stage::Analysis);
    let mut uniformity = analyse(&scalar, &[]);
    if has_vectors(&scalar) {
        scalarize(module, &mut scalar, &uniformity)?;
        check(module, &scalar, "taking vectors apart broke the function")?;
        uniformity = analyse(&scalar, &[]);
    }
    let divergent = |v: Value| uniformity.is_divergent(v);
    let laid_out = interleave(module, &mut scalar, options.width, divergent);
    if !laid_out.is_empty() {
        check(module, &scalar, "the layout of private memory broke the function")?;
        uniformity = analyse(&scalar, &laid_out);
    }
    if widen_indices(module, &mut scalar, &uniformity) > 0 {
        uniformity = analyse(&scalar, &laid_out);
    }
    // All lanes may do the same in a function that is called.
    if options.width > 1 && !is_callee && !depends_on_lane(&scalar, &uniformity) {
        let params: Vec<String> = func.params.iter().map(|&p| func.value_name(p)).collect();
        let params = if params.is_empty() { "none".to_owned() } else { params.join(", ") };
        let reason = format!(
            "nothing in it depends on the lane, so all lanes would do the same; say which parameters are an index or vary \
             (`--args NAME=index` or `NAME=varying`), or ask for `warpline_lane_index` in it; its parameters are: {params}"
        );
        return Err(VectorizeError::in_function(&scalar, reason));
    }
    let mut shapes = SecondaryMap::with_default(Shape::Uniform);
    let mut known = EntitySet::with_capacity(scalar.values.len());
    for v in scalar.values.keys() {
        shapes[v] = uniformity.shape(v);
        known.insert(v);
    }
    let facts = facts_of(&scalar, &uniformity);
    let words = match options.gathers {
        Gathers::Avx2 | Gathers::Everything if options.width > 1 => {
            words::find(module, &scalar, |v| facts.varying.contains(v))
        }
        _ => Words::new(),
    };
    let mut program = to_lane_program(module, scalar.clone(), facts, options, watch)?;
    program.counts.coherent = coherent;
    watch(Stage::Verify);
    check(module, &program.func, "linearization broke the function")?;
    let found = dependences::find(module, &scalar, &program.func, &uniformity, options);
    let dependences = match found {
        // Counters of loops whose bodies are there twice are not recognized.
        Err(_) if coherent > 0 => {
            let without = Options {
                coherence: Coherence::Off,
                args: options.args.clone(),
                name: options.name.clone(),
                ..*options
            };
            return linearize_staged(module, func, &without, is_callee, watch);
        }
        found => found?,
    };
    Ok(Linearized { program, scalar, uniformity, lane_callees, shapes, known, words, dependences })
}

/// Changes branches and loops of a function for several lanes, before it is brought into normal form. How many bodies of loops it has made twice.
fn reshape(
    module: &Module,
    scalar: &mut Function,
    options: &Options<'_>,
    lane_callees: &EntitySet<Symbol>,
    analyse: &dyn Fn(&Function) -> Uniformity,
) -> usize {
    // Full if-conversion folds uniform branches too.
    let partial = options.linearize == Linearize::Partial;
    if partial && has_conditions_of_parts(scalar) {
        let uniformity = analyse(scalar);
        split_conditions(scalar, |v| !uniformity.is_divergent(v));
    }
    if has_arms_to_fold(module, scalar) {
        let uniformity = analyse(scalar);
        fold_arms(module, scalar, |v| uniformity.is_divergent(v));
    }
    if has_stores_to_sink(module, scalar) {
        let uniformity = analyse(scalar);
        sink_stores(module, scalar, |v| uniformity.is_divergent(v));
    }
    if partial && has_candidates(scalar, options.coherence) {
        let uniformity = analyse(scalar);
        return make_bodies_twice(module, scalar, options, &uniformity, lane_callees);
    }
    0
}

/// Whether an instruction has an operand or a result that differs between lanes.
fn depends_on_lane(func: &Function, uniformity: &Uniformity) -> bool {
    let differs = |v: &Value| !uniformity.shape(*v).is_uniform();
    func.layout.iter().any(|&b| {
        func.block_insts(b).any(|i| func.insts[i].args.iter().chain(&func.insts[i].results).any(differs))
            || func.out_edges(b).iter().any(|&e| func.edges[e].args.iter().any(differs))
    })
}

/// Runs the verifier. Its invariants, dominance above all, hold after every stage, or nothing is made.
fn check(module: &Module, func: &Function, what: &str) -> Result<(), VectorizeError> {
    verify(module, func).map_err(|e| VectorizeError::in_function(func, format!("{what}:\n{e}")).internal())
}

/// What the transforms must know, from the analysis.
fn facts_of(func: &Function, uniformity: &Uniformity) -> Facts {
    let mut facts = Facts::default();
    for b in uniformity.divergent_branches() {
        facts.divergent_branches.insert(b);
    }
    for c in uniformity.left_apart() {
        facts.divergent_loops.insert(Block::from(uniformity.cycles().header(c)));
    }
    for v in func.values.keys() {
        let shape = uniformity.shape(v);
        if shape.anchored_step().is_none() {
            facts.varying.insert(v);
        }
        if !shape.is_uniform() {
            facts.divergent.insert(v);
        }
    }
    facts
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
    vectorize_staged(module, func, options, &mut |_| {})
}

/// [`vectorize`], which tells `watch` what it does.
///
/// # Errors
/// As above.
pub fn vectorize_staged(
    module: &mut Module,
    func: FuncId,
    options: &Options<'_>,
    watch: Watch<'_>,
) -> Result<Vectorized, VectorizeError> {
    let mut func = module.functions[func].clone();
    // The iterations of a loop have been looked at before.
    let own = match options.region {
        None => {
            let (name, args, contract) = (&options.name, &options.args, options.contract);
            dependences::cut(module, &mut func, name, args, None, contract, false)
        }
        Some(_) => Pieces::none(),
    };
    let pieces = if options.region.is_none() { &own } else { options.pieces };
    let originals = Originals { of: options.callees, count: module.functions.len() };
    let (args, name) = (options.args.clone(), options.name.clone());
    let options = &Options { pieces, callees: &originals, args, name, ..*options };
    let (mut made, wanted) = vectorize_one(module, &func, options, false, watch)?;
    made.callees = callees::make(module, wanted, options, watch)?;
    made.callees.extend(own.functions());
    Ok(made)
}

/// Vectorizes one function, be it a kernel or [one that is called](callees), and says which forms of functions it calls.
pub(super) fn vectorize_one(
    module: &mut Module,
    func: &Function,
    options: &Options<'_>,
    is_callee: bool,
    watch: Watch<'_>,
) -> Result<(Vectorized, Vec<Form>), VectorizeError> {
    let linearized = linearize_staged(module, func, options, is_callee, watch)?;
    let dependences = &linearized.dependences;
    if let Some(most) = dependences.lanes.filter(|&most| most < options.width) {
        let reason = format!(
            "{} lanes are too many: what some lane accesses in memory depends on the lane {most} before it; use at most {most}",
            options.width
        );
        return Err(VectorizeError::in_function(func, reason));
    }
    watch(Stage::Lowering);
    let Lowered { func: lowered, params, result, approximate, masks, callees } =
        lower(module, &linearized.input(), options)?;
    watch(Stage::Verify);
    check(module, &lowered, "lowering broke the function")?;
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
        masked: options.masked,
        counts: Counts { masks, ..linearized.program.counts },
        approximate,
        dependences: linearized.dependences,
    };
    Ok((made, callees))
}
