//! Loops as the unit of vectorization: a loop within a scalar function becomes one that executes W iterations at once.
//!
//! The result is the sequential loop's. What iterations pass on in memory is found by [`dependences`], and what the
//! [contract](Contract) leaves to be seen when pointers are known is checked before the loop. What they pass on in
//! registers is found here, and refused where it is not understood. Loops within the loop, branches and calls in it
//! are no obstacle: one iteration becomes a kernel, and a kernel may have all that.
//!
//! Iterations that the counter allows are executed: where one ends the program, by a panic or a call that does not
//! return, up to W − 1 that would have come after it may have been executed in part.
//!
//! 1. `find`: the loop, its preheader, its latch, the one test by which it ends;
//! 2. `invariant`: what all iterations load alike is loaded before it; `assumed`: so is what they load alike unless
//!    they overwrite it, which is checked; `registers`: what they update at one place is stored behind it;
//!    `peel`: its first iteration is executed before it, for what wraps around;
//! 3. `carried`: what its header's φs carry from one iteration to the next;
//!    `selections`: those of them that keep a value of one iteration; `compaction`: those that count iterations in
//!    which a condition holds;
//! 4. `trips`: how many iterations there are; `two_ends`: until two counters meet; `past_zero`: down past zero;
//!    `search`: how lanes look ahead where it is left in the middle;
//! 5. `strides`: which strides are taken for 1, if that is wanted; `no_wrap`: what is linear in the counter and does
//!    not wrap, by what is tested before the loop;
//! 6. `body`: one iteration as a function, of which the [vectorizer](super::vectorize) makes W-lane variants;
//! 7. `rewrite`: the function with a loop over groups in front of the scalar one; `behind`: what its lanes have found,
//!    put together; `stop`: where groups end that leave the loop; `move_out`: the vector code in a function of its own.

mod alternating;
mod assumed;
mod behind;
mod body;
mod bounds;
mod carried;
mod carry;
mod chosen;
mod compaction;
mod conditional_sums;
mod decided;
mod exits;
mod find;
mod flags;
mod forwarded;
mod held;
mod hoist;
mod inclusive;
mod inputs;
mod invariant;
mod kept_loads;
mod low_bits;
mod mirrors;
mod move_out;
mod narrow_extremes;
mod no_wrap;
mod objects;
mod outside;
mod past_zero;
mod peel;
mod put;
mod recurrences;
mod registers;
mod rewrite;
mod rings;
mod safe_divisors;
mod search;
mod selections;
mod states;
mod stop;
mod strides;
mod there;
mod trips;
mod truths;
mod two_ends;
mod wide_addresses;

use cranelift_entity::EntitySet;
use warpline_analysis::{CycleForest, CycleId, Node};

use warpline_dataflow::clients::ranges::Range;
use warpline_dataflow::linear::Extension;
use warpline_ir::verify::verify;
use warpline_ir::{Block, CallInfo, Combine, FuncId, Function, Inst, InstFlags, Module, Op, Type, Value};
use warpline_uniformity::rules::{called, lane_op};
use warpline_uniformity::shape::ArgShape;

use super::call_graph::functions_with_cross_lane_operations;
use super::choices::{Contract, MAX_WIDTH};
use super::dependences::{self, Check, Held, Pieces, Region, Stands};
use super::driver::{Division, MadeVariants, Tail};
use super::options::{AddedUp, Options, Origin};
use super::{VectorizeError, no_return_paths, refused_calls, sign_masks};
use assumed::Assumed;
pub use assumed::Holds;
use body::{Body, Lines, Special};
use bounds::Bound;
use carried::{Carried, Kind, combined, ordered};
pub use carry::{Carry, CarryKind};
use find::Loop;
use peel::Wrapped;
use rewrite::{Parts, Rewritten};
use search::Search;
use selections::Selection;
use trips::{Asked, Counter};

/// What was made of a loop.
#[derive(Clone, Debug)]
pub struct VectorizedLoop {
    /// The variants that groups of iterations are executed with.
    pub variants: MadeVariants,
    /// What the φs of the loop's header carry from one iteration to the next, in their order.
    pub carried: Vec<Carry>,
    /// How many pairs of accesses are checked before the loop; if they may conflict, it runs as it was.
    pub checks: usize,
    /// The names of numbers that must be 1, or it runs as it was.
    pub strides: Vec<String>,
    /// What is [held](Unit::holds) that was loaded before the loop.
    pub holds: Holds,
    /// How many arrays of indices are looked through for that.
    pub inspected: usize,
    /// Updates of memory that several iterations may make at one place.
    pub pieces: Pieces,
    /// The function that has the vector code, where short loops are spared what that begins with.
    pub apart: Option<FuncId>,
}

impl VectorizedLoop {
    /// Whether results may differ in the last places: by vector math of limited accuracy, or since floating-point
    /// numbers are combined in another order.
    pub fn is_approximate(&self) -> bool {
        self.variants.full.approximate || self.carried.iter().any(|c| c.rounds_otherwise)
    }

    /// Everything that was made besides the rewritten function: nobody else needs to see it.
    pub fn functions(&self) -> impl Iterator<Item = FuncId> + '_ {
        self.variants.functions().chain(self.pieces.functions()).chain(self.apart)
    }
}

/// How the loops of a function lie in each other.
pub struct Nest {
    cycles: CycleForest,
    dead: EntitySet<Block>,
}

impl Nest {
    /// The loops of a function.
    pub fn of(func: &Function) -> Nest {
        Nest { cycles: CycleForest::compute(&func.graph().0), dead: no_return_paths::find(func) }
    }

    /// The headers of the loops that control enters at one block, outer loops first.
    pub fn headers(&self) -> impl Iterator<Item = Block> + '_ {
        let reducible = self.cycles.cycles().filter(|&c| self.cycles.is_reducible(c));
        reducible.map(|c| Block::from(self.cycles.header(c)))
    }

    /// The headers of the loops around a block, inner loops first.
    pub fn around(&self, block: Block) -> impl Iterator<Item = Block> + '_ {
        self.cycles.around(Node::from(block)).map(|c| Block::from(self.cycles.header(c)))
    }

    /// Whether there are loops within the one with this header.
    pub fn has_inner(&self, header: Block) -> bool {
        self.of_header(header).is_some_and(|c| !self.cycles.children(c).is_empty())
    }

    /// The blocks of the loop with this header, in no loop within it, from which control leaves it for code that may
    /// return.
    pub fn leaving<'a>(&'a self, func: &'a Function, header: Block) -> impl Iterator<Item = Block> + 'a {
        self.of_header(header).into_iter().flat_map(move |c| {
            let out = move |b: Block| !self.cycles.contains(c, Node::from(b)) && !self.dead.contains(b);
            let own = self.cycles.own_nodes(c).iter().map(|&n| Block::from(n));
            own.filter(move |&b| func.successors(b).any(out))
        })
    }

    /// The blocks of the loop with this header, with those to which it leads that do not return.
    pub fn blocks_of(&self, func: &Function, header: Block) -> EntitySet<Block> {
        self.of_header(header).map_or_else(EntitySet::new, |c| self.with_dead_ends(func, c))
    }

    /// The blocks of a loop, with the dead ends to which it leads.
    fn with_dead_ends(&self, func: &Function, c: CycleId) -> EntitySet<Block> {
        let is_in = |b: Block| self.cycles.contains(c, Node::from(b));
        let mut work: Vec<Block> = func.layout.iter().copied().filter(|&b| is_in(b)).collect();
        let mut blocks = EntitySet::new();
        while let Some(b) = work.pop() {
            if blocks.insert(b) {
                work.extend(func.successors(b).filter(|&to| is_in(to) || self.dead.contains(to)));
            }
        }
        blocks
    }

    fn of_header(&self, header: Block) -> Option<CycleId> {
        let node = Node::from(header);
        self.cycles.around(node).find(|&c| self.cycles.header(c) == node)
    }
}

/// A loop that is to be vectorized.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Unit {
    /// Its header.
    pub header: Block,
    /// Who answers for memory that several iterations access: [`Contract::Sequential`] or [`Contract::Independent`].
    pub contract: Contract,
    /// How many consecutive iterations may be executed at once at most, whatever conflicts beyond (OpenMP's
    /// `safelen`); none for any number.
    pub safelen: Option<u32>,
    /// Whether floating-point numbers may be combined in any order although their flags do not say so.
    pub any_order: bool,
    /// In groups of how many iterations those are executed that no whole group is left for: a divisor of the number
    /// of lanes. All lanes are used for these, too, where the loop has cross-lane operations.
    pub epilogue: u32,
    /// What executes those that no group at all is left for, unless the loop has cross-lane operations.
    pub tail: Tail,
    /// At a multiple of how many bytes whole groups should begin to [store](super::driver::make_prologue), if the loop
    /// hands on nothing but inductions and does not ask about lanes; 0 for anywhere.
    pub prologue: u64,
    /// Whether strides that are the same in all iterations, but not known, are taken for 1; with others the loop runs
    /// as it was.
    pub unit_strides: bool,
    /// What is loaded before the loop, and stored behind it, although the loop may access it otherwise; where checks do
    /// not exclude that, it runs as it was.
    pub holds: Holds,
    /// With fewer iterations than these the scalar loop runs, unless it has cross-lane operations; 0 for never.
    pub least: u32,
}

impl Unit {
    /// The loop with this header, of which nothing is promised, with all lanes for the iterations that are left over,
    /// too.
    pub fn new(header: Block, width: u32) -> Unit {
        Unit {
            header,
            contract: Contract::Sequential,
            safelen: None,
            any_order: false,
            epilogue: width,
            tail: Tail::Masked,
            prologue: 0,
            unit_strides: false,
            holds: Holds::Nothing,
            least: 0,
        }
    }
}

/// Vectorizes a loop within its function. `options` says for how many lanes and how; its shapes and its mask do not
/// count, and its name becomes that of the W-lane variant.
///
/// The result is the same as the scalar function's, if the user's promises hold where the contract makes any.
///
/// # Errors
/// If the number of iterations is not known when the loop begins, if it carries something from one iteration to the
/// next that cannot be had for several at once, or if an iteration cannot be vectorized. The module has more
/// functions then, but the function is as it was.
pub fn vectorize_loop(
    module: &mut Module,
    func: FuncId,
    unit: &Unit,
    options: &Options<'_>,
) -> Result<VectorizedLoop, VectorizeError> {
    let Unit { epilogue, tail, prologue, least, .. } = *unit;
    let Taken {
        scalar,
        l,
        carried,
        shown,
        selections,
        strides,
        bounds,
        counter,
        search,
        body,
        stands,
        pieces,
        known,
        origins,
        assumed,
    } = take_out(module, func, unit, options)?;
    if let Some(most) = unit.safelen.filter(|&most| most < options.width) {
        let reason = format!("{} lanes are too many: `safelen` allows {most}", options.width);
        return Err(VectorizeError::in_function(&scalar, reason));
    }
    let asks = has_cross_lane_operations(module, &scalar, &l);
    // What lanes have selected is compared over vectors of all lanes.
    let whole = asks || !selections.is_empty() || search.as_ref().is_some_and(Search::is_paged);
    let (epilogue, tail) = if whole { (options.width, Tail::Masked) } else { (epilogue, tail) };
    let least = if asks { 0 } else { least };
    let body_func = module.functions.push(body.func.clone());
    let region = Region { func: &scalar, params: &stands, moved: &body.moved, held: held(&assumed) };
    let anywhere = !asks && carried.iter().all(|c| matches!(c.kind, Kind::Induction { .. }));
    let unbound = origins.is_empty();
    let prologue = if anywhere && unbound && search.is_none() && options.width > 1 { prologue } else { 0 };
    let (args, name, contract) = (body.args.clone(), options.name.clone(), unit.contract);
    let region = Some(&region);
    let sums = &*body.sums(&scalar, &carried);
    let (pieces_of, known) = (&pieces, &*known);
    let asked = Options {
        args,
        name,
        contract,
        region,
        pieces: pieces_of,
        sums,
        known,
        origins: &origins,
        scalar_result: false,
        ..*options
    };
    let mut made =
        MadeVariants::make(module, body_func, &asked, Division { epilogue, tail, prologue, least })
            .map_err(|e| e.named(&scalar.name))?;
    let repeats = unbound && search.is_none() && selections.is_empty() && !l.is_endless && !asks;
    let adds_up = |c: &Carried| matches!(c.kind, Kind::Induction { .. } | Kind::Reduction { .. });
    if repeats
        && made.tail() == Tail::Scalar
        && carried.iter().all(adds_up)
        && carried.iter().any(|c| matches!(c.kind, Kind::Reduction { .. }))
        && repeatable(&made).is_some()
    {
        made.add_counting(module, body_func, &asked).map_err(|e| e.named(&scalar.name))?;
    }
    let carries = carried[..shown].iter().map(|c| c.public(&scalar)).collect();
    let names = strides.iter().map(|&v| scalar.value_name(v)).collect();
    let mut checks = Vec::new();
    for variant in made.each() {
        add_checks(&mut checks, &variant.dependences.checks);
    }
    let variants = made.variants();
    let is_repeated = repeats && (anywhere || made.counting.is_some());
    let repeatable = if is_repeated { repeatable(&made) } else { None };
    if l.is_endless && !checks.is_empty() {
        let reason = "this loop has no end that is known before it, so that pointers cannot be checked: declare \
             them `restrict`, or write `//@ loop independent`";
        return Err(VectorizeError::at_block(&scalar, l.header, reason));
    }
    let parts = Parts {
        l: &l,
        counter: &counter,
        carried: &carried,
        selections: &selections,
        strides: &strides,
        bounds: &bounds,
        body: &body,
        variants: &variants,
        checks: &checks,
        repeatable: repeatable.as_deref(),
        search: search.as_ref(),
        assumed: assumed.as_ref(),
        stops: stop::Stops::default(),
    };
    let apart = format!("{}.apart", options.name);
    let at = parts.search.map(|_| l.breaks[0].branch);
    let Rewritten { func: rewritten, inspected, apart } = rewrite::rewrite(module, scalar, &parts, &apart);
    if let Some(branch) = at.filter(|_| inspected > 0) {
        let reason = "this leaves the loop, so that its indices cannot be looked through before it";
        return Err(VectorizeError::at_inst(&module.functions[func], branch, reason));
    }
    verify(module, &rewritten).map_err(|e| {
        VectorizeError::in_function(&rewritten, format!("the loop over groups is not valid:\n{e}")).internal()
    })?;
    module.functions[func] = rewritten;
    let checks = checks.len();
    Ok(VectorizedLoop {
        variants: made,
        carried: carries,
        checks,
        strides: names,
        holds: unit.holds,
        inspected,
        pieces,
        apart,
    })
}

/// One iteration of a loop as a kernel: what [`vectorize_loop`] vectorizes.
pub struct Iteration {
    /// The kernel.
    pub func: Function,
    /// The shapes of its parameters.
    pub args: Vec<ArgShape>,
    /// The number of iterations, if it is always the same.
    pub rounds: Option<u64>,
    /// The header of the loop in the function that it was cut out of.
    pub header: Block,
    /// Whether control comes to the header once more than there are iterations.
    pub tested_first: bool,
    /// Whether groups of iterations may be of any size and begin anywhere: none asks about the others, and nothing is
    /// selected from one of them.
    pub divisible: bool,
    /// Whether iterations ask about others in their group.
    pub asks: bool,
    /// What is combined over all iterations: each waits for the one before.
    pub combined: Vec<(Combine, Type)>,
    /// What is combined in the order of the iterations.
    pub ordered: Vec<(Combine, Type)>,
    /// Whether some hold a value of an earlier one, which differs between them.
    pub holds: bool,
    /// Whether what is combined is selected from one of them.
    pub selects: bool,
    /// Who answers for memory that several iterations access.
    pub contract: Contract,
    /// How many lanes it may have, if the user has said so.
    pub most: Option<u32>,
    /// Updates of memory that several iterations may make at one place.
    pub pieces: Pieces,
    /// Its parameters of which nothing but the sum over all iterations counts.
    pub(crate) sums: Vec<AddedUp>,
    /// Between which numbers its parameters lie.
    pub(crate) known: Vec<Option<Range>>,
    /// How groups begin.
    pub(crate) origins: Vec<Option<Origin>>,
    source: Function,
    stands: Vec<Stands>,
    moved: Vec<(Inst, Inst)>,
    held: Vec<Held>,
}

impl Iteration {
    /// The function that it was cut out of.
    pub fn region(&self) -> Region<'_> {
        Region { func: &self.source, params: &self.stands, moved: &self.moved, held: &self.held }
    }
}

/// One iteration of a loop.
///
/// # Errors
/// As [`vectorize_loop`].
pub fn kernel_of(module: &mut Module, func: FuncId, unit: &Unit) -> Result<Iteration, VectorizeError> {
    let options = Options::new(MAX_WIDTH, Vec::new(), &*module.functions[func].name);
    let Taken {
        scalar,
        l,
        carried,
        selections,
        counter,
        search,
        body,
        stands,
        pieces,
        known,
        origins,
        assumed,
        ..
    } = take_out(module, func, unit, &options)?;
    let asks = has_cross_lane_operations(module, &scalar, &l);
    let selects = !selections.is_empty();
    let divisible = !asks && !selects && !search.as_ref().is_some_and(Search::is_paged);
    let sums = body.sums(&scalar, &carried);
    let combined = combined(&scalar, &carried);
    let ordered = ordered(&scalar, &carried);
    let holds = carried.iter().any(|c| matches!(&c.kind, Kind::Held(held) if held.only().is_none()));
    let rounds = counter.constant_rounds(&scalar, &l).filter(|_| !l.is_endless);
    let (contract, most) = (unit.contract, unit.safelen);
    let (func, args, moved, header) = (body.func, body.args, body.moved, l.header);
    let tested_first = scalar.insts[l.test].block == l.header && scalar.edges[l.back].from != l.header;
    let (source, held) = (scalar, held(&assumed).to_vec());
    Ok(Iteration {
        func,
        args,
        rounds,
        header,
        tested_first,
        divisible,
        asks,
        combined,
        ordered,
        holds,
        selects,
        contract,
        most,
        pieces,
        sums,
        known,
        origins,
        source,
        stands,
        moved,
        held,
    })
}

/// What a loop takes for granted to stay as it is.
fn held(assumed: &Option<Assumed>) -> &[Held] {
    assumed.as_ref().map_or(&[], |a| &a.held)
}

/// What must hold beside the checks before the loop for iterations to be executed once more, if they ever may be.
fn repeatable(made: &MadeVariants) -> Option<Vec<Check>> {
    let mut more = Vec::new();
    for variant in made.each() {
        add_checks(&mut more, variant.dependences.repeatable.as_deref()?);
    }
    Some(more)
}

/// Adds checks that others do not stand for.
fn add_checks(checks: &mut Vec<Check>, more: &[Check]) {
    for check in more {
        if !checks.iter().any(|c| c.covers(check)) {
            checks.retain(|c| !check.covers(c));
            checks.push(check.clone());
        }
    }
}

/// A loop that has been understood, and its kernel.
struct Taken {
    /// The function, with a loop of the variant that is needed.
    scalar: Function,
    l: Loop,
    carried: Vec<Carried>,
    /// How many of them are the program's own.
    shown: usize,
    selections: Vec<Selection>,
    /// What is taken for 1.
    strides: Vec<Value>,
    /// Checks of bounds that are made before the loop.
    bounds: Vec<Bound>,
    counter: Counter,
    search: Option<Search>,
    body: Body,
    /// What the parameters of the kernel stand for.
    stands: Vec<Stands>,
    pieces: Pieces,
    /// Between which numbers the parameters of the kernel lie.
    known: Vec<Option<Range>>,
    /// How groups begin, if anything can be made of that: then they do begin so.
    origins: Vec<Option<Origin>>,
    /// What it takes for granted, if anything; then another loop stands beside it.
    assumed: Option<Assumed>,
}

/// Takes a loop out. A call in it that no lanes can make is a better reason than the loop's variant that comes of it.
fn take_out(
    module: &mut Module,
    func: FuncId,
    unit: &Unit,
    options: &Options<'_>,
) -> Result<Taken, VectorizeError> {
    understand(module, func, unit, options).map_err(|error| {
        let function = &module.functions[func];
        let nest = Nest::of(function);
        let call = nest.of_header(unit.header).and_then(|c| {
            let blocks = nest.with_dead_ends(function, c);
            refused_calls::first_in(module, function, |b| blocks.contains(b))
        });
        call.unwrap_or(error)
    })
}

/// Why a loop is not understood.
enum Failure {
    /// Nothing says how many iterations there are at most.
    Uncounted(VectorizeError),
    Other(VectorizeError),
}

impl From<VectorizeError> for Failure {
    fn from(error: VectorizeError) -> Failure {
        Failure::Other(error)
    }
}

fn understand(
    module: &mut Module,
    func: FuncId,
    unit: &Unit,
    options: &Options<'_>,
) -> Result<Taken, VectorizeError> {
    match understand_as(module, func, unit, options, false) {
        Ok(taken) => Ok(taken),
        Err(Failure::Other(error)) => Err(error),
        Err(Failure::Uncounted(error)) => understand_as(module, func, unit, options, true).map_err(|_| error),
    }
}

/// Understands a loop that a counter ends, or one that nothing does but what iterations find.
fn understand_as(
    module: &mut Module,
    func: FuncId,
    unit: &Unit,
    options: &Options<'_>,
    is_endless: bool,
) -> Result<Taken, Failure> {
    let Unit { header, any_order, .. } = *unit;
    let mut scalar = module.functions[func].clone();
    if !(1..=MAX_WIDTH).contains(&options.width) {
        let reason = format!("a width of {} lanes is not between 1 and {MAX_WIDTH}", options.width);
        return Err(VectorizeError::in_function(&scalar, reason).into());
    }
    sign_masks::settle(module, &mut scalar);
    let blocks_of = |func: &Function| find::blocks_of(func, &CycleForest::compute(&func.graph().0), header);
    let (mut blocks, mut own) = blocks_of(&scalar)?;
    if exits::split_switches(&mut scalar, (&blocks, &own)) {
        (blocks, own) = blocks_of(&scalar)?;
    }
    exits::join(module, &mut scalar, header, (&blocks, &own));
    let mut l = match is_endless {
        true => Loop::find_endless(&mut scalar, header)?,
        false => Loop::find(&mut scalar, header).map_err(Failure::Uncounted)?,
    };
    two_ends::settle(module, &mut scalar, &l);
    past_zero::settle(module, &mut scalar, &l);
    if decided::make_room(&mut scalar, &l) {
        l = l.found_again(&mut scalar)?;
    }
    decided::settle(&mut scalar, &l);
    let exhausted = inclusive::settle(module, &mut scalar, &l);
    if invariant::hoist_loads(module, &mut scalar, &l) {
        l = l.found_again(&mut scalar)?;
        invariant::hoist_bounds(module, &mut scalar, &l);
    }
    mirrors::settle(module, &mut scalar, &l);
    let assumed = match unit.holds {
        Holds::Nothing => None,
        _ if is_endless || options.width == 1 => return Err(Assumed::none(&scalar, &l).into()),
        holds => assumed::assume(module, &mut scalar, &mut l, holds)?,
    };
    if !is_endless
        && assumed.is_none()
        && (kept_loads::keep(module, &mut scalar, &l) || forwarded::settle(module, &mut scalar, &l))
    {
        l = l.found_again(&mut scalar)?;
    }
    for _ in 0..MAX_PEELED {
        // What is executed before the loop is executed before the checks.
        if is_endless || assumed.is_some() {
            break;
        }
        let wrapped = wrapped(module, &scalar, &l, any_order);
        if wrapped.is_empty() {
            break;
        }
        peel::peel(module, &mut scalar, &l, &wrapped);
        l = l.found_again(&mut scalar)?;
    }
    if calls_functions(module, &scalar, &l) {
        refused_calls::check_around(module, &scalar)?;
    }
    if narrow_extremes::settle(module, &mut scalar, &l) {
        l = l.found_again(&mut scalar)?;
    }
    if low_bits::settle(module, &mut scalar, &l) {
        l = l.found_again(&mut scalar)?;
    }
    chosen::settle(module, &mut scalar, &l);
    conditional_sums::settle(module, &mut scalar, &l);
    alternating::settle(&mut scalar, &l);
    truths::settle(module, &mut scalar, &l);
    recurrences::settle(&mut scalar, &l);
    flags::widen(&mut scalar, &l);
    safe_divisors::settle(&mut scalar, &l);
    wide_addresses::settle(module, &mut scalar, &l);
    let shown = scalar.blocks[l.header].phis.len();
    let (mut carried, selections) = l.carried(module, &mut scalar, any_order)?;
    hoist::hoist_loads_ahead(module, &mut scalar, &l, &carried);
    let strides = if unit.unit_strides { strides::find(&scalar, &l, &carried) } else { Vec::new() };
    strides::assume_of_carried(&mut carried, &strides);
    let asked = Asked { module, func: &scalar, l: &l, carried: &carried, strides: &strides };
    let counter = Counter::of(&asked, exhausted).map_err(Failure::Uncounted)?;
    let mut exact = no_wrap::find(&scalar, &l, &carried, &counter);
    let counts = carried[counter.phi].phi;
    if let Kind::Induction { flags, .. } = &mut carried[counter.phi].kind {
        *flags |= counter.promises();
        exact.iter().filter(|e| e.value == counts).for_each(|e| *flags |= e.flags);
    }
    exact.retain(|e| e.value != counts);
    if !l.breaks.is_empty() {
        if has_cross_lane_operations(module, &scalar, &l) {
            let reason = "this leaves a loop of which iterations ask about others in their group";
            return Err(VectorizeError::at_inst(&scalar, l.breaks[0].branch, reason).into());
        }
        // What the program would have computed in iterations that it never gets to may wrap.
        for (_, c) in carried.iter_mut().enumerate().filter(|&(k, _)| k != counter.phi) {
            if let Kind::Induction { flags, .. } = &mut c.kind {
                *flags = InstFlags::empty();
            }
        }
    }
    let search = Search::of(module, &scalar, &l, &carried, &counter)?;
    if search.as_ref().is_some_and(|s| s.looks_beyond) {
        exact.clear();
        if let Kind::Induction { flags, .. } = &mut carried[counter.phi].kind {
            *flags = InstFlags::empty();
        }
    }
    for &(k, extension) in search.iter().flat_map(|s| &s.exact) {
        if let Kind::Induction { flags, .. } = &mut carried[k].kind {
            *flags |= if extension == Extension::Signed { InstFlags::NSW } else { InstFlags::NUW };
        }
    }
    let name = format!("{}.scalar", options.name);
    let lines = Lines { counter: counter.phi, exact: &exact };
    let no_nans: Vec<Value> = selections.iter().flat_map(|s| s.no_nans.iter().copied()).collect();
    let special = Special { lines, search: search.as_ref(), no_nans: &no_nans };
    let mut body = body::outline(module, &scalar, &l, &carried, special, options.width, &name)
        .map_err(|e| e.named(&scalar.name))?;
    strides::assume(&mut body, &strides);
    let bounds = bounds::find(&scalar, &l, &carried, &counter);
    if let Some(assumed) = &assumed
        && (search.is_some()
            || is_bounded(&carried, &selections)
            || !assumed.passed.iter().all(|&branch| bounds.iter().any(|b| b.branch == branch)))
    {
        return Err(assumed.refuse(&scalar, &l).into());
    }
    for bound in &bounds {
        bound.take_out(&mut body.func);
    }
    if !bounds.is_empty() {
        body.func.remove_unreachable_blocks();
    }
    let stands = body.stands(&scalar, &l, &carried);
    let region = Region { func: &scalar, params: &stands, moved: &body.moved, held: held(&assumed) };
    let pieces =
        dependences::cut(module, &mut body.func, &name, &body.args, Some(&region), unit.contract, any_order);
    let known = body.known(module, &scalar);
    let begins = search.is_none() && !is_endless;
    let origins = if begins { body.origins(module, &scalar, &l, &carried) } else { Vec::new() };
    verify(module, &body.func).map_err(|e| {
        VectorizeError::in_function(&scalar, format!("taking the loop out broke it:\n{e}")).internal()
    })?;
    Ok(Taken {
        scalar,
        l,
        carried,
        shown,
        selections,
        strides,
        bounds,
        counter,
        search,
        body,
        stands,
        pieces,
        known,
        origins,
        assumed,
    })
}

/// Whether groups end after so many iterations, since what they hand on says in which one something was: the scalar
/// loop then goes on.
fn is_bounded(carried: &[Carried], selections: &[Selection]) -> bool {
    let is_bounded = |c: &Carried| matches!(&c.kind, Kind::Compaction(c) if c.is_bounded);
    !selections.is_empty() || carried.iter().any(is_bounded)
}

/// So many iterations are executed before a loop for what wraps around.
const MAX_PEELED: usize = 3;

/// What of the φs of a loop wraps around, if all that it carries is understood.
fn wrapped(module: &Module, scalar: &Function, l: &Loop, any_order: bool) -> Vec<Wrapped> {
    let nexts = &scalar.edges[l.back].args;
    if !nexts.iter().any(|&next| l.position_of(scalar, next).is_some()) {
        return Vec::new();
    }
    let carried = l.carried(module, &mut scalar.clone(), any_order);
    carried.map_or_else(|_| Vec::new(), |(carried, _)| peel::wrapped(scalar, l, &carried))
}

/// Whether a loop calls functions, intrinsics apart.
fn calls_functions(module: &Module, func: &Function, l: &Loop) -> bool {
    let mut insts = func.layout.iter().filter(|&&b| l.blocks.contains(b)).flat_map(|&b| func.block_insts(b));
    insts.any(|i| called(module, func, i).is_some_and(|c| !c.name().starts_with("llvm.")))
}

/// Whether iterations ask which others are in their group, themselves or in what they call.
fn has_cross_lane_operations(module: &Module, func: &Function, l: &Loop) -> bool {
    let callees = functions_with_cross_lane_operations(module, func);
    let mut insts = func.layout.iter().filter(|&&b| l.blocks.contains(b)).flat_map(|&b| func.block_insts(b));
    insts.any(|i| {
        let asks = |call: &CallInfo| call.callee.is_some_and(|s| callees.contains(s));
        lane_op(module, func, i).is_some() || matches!(&func.insts[i].op, Op::Call(call) if asks(call))
    })
}
