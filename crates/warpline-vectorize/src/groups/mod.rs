//! Work-groups: kernels with barriers, cut into regions between barriers.
//!
//! All work-items of a group wait for each other at a barrier, and a group is more than the lanes that run together.
//! So a kernel is cut where it has barriers, before it is vectorized: each [region](Region) is a kernel like any
//! other, and a driver runs one region after the other over all work-items of a group
//! ([`groups_of_regions`](crate::driver::groups_of_regions)). The parts:
//!
//! * [`collective`] makes code of what work-items compute together, such as sums over a group.
//! * [`cuts`] finds where to cut: at barriers, and at branches that decide which barrier is next. Work-items of a
//!   group must agree there; the uniformity analysis, asked about a whole group, says whether they do.
//! * [`distances`] compares what work-items have in common where they come to the same though both sides differ.
//! * [`short_circuits`] makes values of conditions like `a && b`.
//! * [`crossing`] finds the values that live across a cut, and what becomes of each: values that are one for the group
//!   are kept by the driver, in *cells*; sums of indices and the like are computed again; all others, and private
//!   arrays, have a *slot* for each work-item, in the workspace.
//! * [`spread`] lays out arrays that have slots, so that lanes access them side by side.
//! * [`regions`] makes the functions.
//! * [`bounds`] finds regions that do nothing for most work-items, and how far a row is to be run.
//!
//! A region begins behind a cut and is everything that can be reached from there without passing another one. What
//! follows on several cuts is in several regions; cells and slots belong to a value, not to a region, so this changes
//! nothing. From every point in a region at most one cut can be reached next: otherwise the branch between them would
//! be a cut.
//!
//! Work-items that return early take no part in later regions: a slot says of each whether it still does.

mod bounds;
mod collective;
mod crossing;
mod cuts;
mod distances;
mod regions;
mod short_circuits;
mod spread;

use warpline_ir::demangle::demangle_opencl;
use warpline_ir::group_functions::Query;
use warpline_ir::{Constant, FuncId, Function, Inst, Module, Op, Type, Value};
use warpline_uniformity::shape::ArgShape;

pub(crate) use self::regions::is_local;

use self::collective::Expanded;
use self::spread::Spread;
use crate::VectorizeError;
use crate::work_items::{Added, WorkItems, meets};

/// A kernel that was cut.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The regions; the first one begins the kernel.
    pub regions: Vec<Region>,
    /// The types of the values that the driver keeps for a group.
    pub cells: Vec<Type>,
    /// What is kept for each work-item.
    pub slots: Vec<Slot>,
    /// What is to be known of it.
    pub warnings: Vec<Warning>,
}

/// What is kept for each work-item across cuts: an array over the group.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Slot {
    /// Its size for a work-item, in bytes.
    pub bytes: u64,
    /// How far those of neighbours are apart, in bytes: as many, but for arrays of which equal elements lie side by
    /// side.
    pub step: u64,
}

impl Slot {
    fn of(bytes: u64) -> Slot {
        Slot { bytes, step: bytes }
    }
}

/// What is to be known of a kernel with barriers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warning {
    /// Where, `file:line:column`, if known.
    pub place: Option<String>,
    /// What.
    pub text: String,
}

/// A region: a kernel with the parameters of the one that was cut, and more.
#[derive(Clone, Debug)]
pub struct Region {
    /// The function, which was added to the module.
    pub func: FuncId,
    /// The shapes of all parameters.
    pub args: Vec<ArgShape>,
    /// What the parameters are that stand behind those of the kernel that was cut.
    pub passed: Vec<Passed>,
    /// What follows.
    pub end: End,
    /// For which work-items it is executed.
    pub work: Work,
    /// The cell that tells whether a work-item has come to the end, if some may return before.
    pub anybody: Option<usize>,
    /// A function with the same parameters that says for how many work-items of a row, from the first one on, there is
    /// anything to do, as a number of 64 bits; there may be fewer in a row. Without it, there may be for all.
    pub bound: Option<FuncId>,
}

/// For which work-items of a group a region is executed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Work {
    /// For none: nobody could notice.
    Nothing,
    /// For one, since all do the same.
    Once,
    /// For each by itself: all do the same, and each counts.
    Each,
    /// For all, in vectors.
    Lanes,
}

/// What a region is passed.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Passed {
    /// What a cell holds when the region begins.
    Cell(usize),
    /// The address of a cell.
    Out(usize),
    /// The address of a slot.
    Slot(usize),
}

/// What follows on a region.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// Nothing.
    Return,
    /// A region, behind a barrier.
    Next(usize),
    /// One of these regions: the edges of a terminator with this operand.
    Branch {
        /// The terminator.
        op: Op,
        /// Its operand.
        on: Decision,
        /// Where its edges lead.
        to: Vec<usize>,
    },
}

/// What a branch between regions depends on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decision {
    /// A parameter of the kernel that was cut, by its number.
    Param(usize),
    /// A cell.
    Cell(usize),
    /// A constant.
    Constant(Constant),
}

/// Why a parameter cannot differ between work-items.
fn not_uniform(module: &Module, func: &Function, param: usize) -> VectorizeError {
    let mut insts = func.layout.iter().flat_map(|&b| func.block_insts(b));
    let barrier = insts.find(|&i| meets(module, func, i));
    let callee = |i: Inst| match &func.insts[i].op {
        Op::Call(info) => info.callee,
        _ => None,
    };
    let name = barrier.and_then(callee).map_or("a barrier".to_owned(), |symbol| {
        format!("`{}`", demangle_opencl(&module.symbols[symbol].name))
    });
    let reason = format!(
        "all work-items of a group wait for each other at {name}, so it runs over work-groups, and its parameters are \
         the same for all work-items; {} is not: ask `get_global_id`",
        func.value_name(func.params[param])
    );
    match barrier {
        Some(i) => VectorizeError::at_inst(func, i, reason),
        None => VectorizeError::in_function(func, reason),
    }
}

/// What a kernel's user says of its barriers.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct Rules {
    /// Work-items must not return before a barrier.
    pub strict: bool,
    /// All work-items of a group come to the same barriers, equally often, though that cannot be seen.
    pub uniform: bool,
}

/// Cuts a kernel at its barriers. `args` are the shapes of its parameters.
///
/// # Errors
/// If not all work-items of a group come to the same barriers, or a value that lives across one cannot be kept.
pub fn cut(
    module: &mut Module,
    items: &WorkItems,
    args: &[ArgShape],
    rules: Rules,
) -> Result<Cut, VectorizeError> {
    let func = &module.functions[items.func];
    let own = func.params.len() - items.added.len();
    if let Some(k) = (0..own).find(|&k| args.get(k) != Some(&ArgShape::Uniform)) {
        return Err(not_uniform(module, func, k));
    }
    if !func.ret.is_void() {
        return Err(VectorizeError::in_function(func, "a kernel with barriers returns nothing"));
    }
    let mut expanded = collective::expand(module, items)?;
    let Expanded { func, barriers, .. } = &mut expanded;
    short_circuits::fold(func, |b| barriers[b].is_some());
    let find = |module: &Module, expanded: Expanded, spread: &Spread| {
        let cuts = cuts::find(module, expanded, &items.group_shapes(args), rules)?;
        let bodies = regions::bodies(&cuts)?;
        let crossing = crossing::find(module, &cuts, &bodies, spread)?;
        Ok::<_, VectorizeError>((cuts, bodies, crossing))
    };
    let (mut cuts, mut bodies, mut crossing) = find(module, expanded.clone(), &Spread::new())?;
    let spread = spread::arrays(module, &cuts.func, &crossing);
    let func = &module.functions[items.func];
    let added = |wanted: Added| Some(func.params[own + items.added.iter().position(|a| *a == wanted)?]);
    let sizes = [0, 1, 2].map(|d| added(Added::Answer(Query::EnqueuedLocalSize, d)));
    if let ([Some(x), Some(y), Some(z)], false) = (sizes, spread.is_empty()) {
        let mut expanded = expanded;
        cuts::forget_lifetimes(module, &mut expanded.func);
        spread::lay_out(&mut expanded.func, &spread, [x, y, z]);
        (cuts, bodies, crossing) = find(module, expanded, &spread)?;
    }
    let differ = items.group_shapes(args).into_iter().zip(&func.params);
    let differ: Vec<Value> =
        differ.filter(|(shape, _)| *shape == ArgShape::Varying).map(|(_, &p)| p).collect();
    let local = items.added.iter().position(|a| *a == Added::LocalIndex).map(|k| func.params[own + k]);
    let mut cut = regions::make(module, (args, &differ), cuts, bodies, &crossing)?;
    if let Some(local) = local {
        for region in &mut cut.regions {
            region.bound = bounds::find(module, region, local, &differ);
        }
    }
    Ok(cut)
}
