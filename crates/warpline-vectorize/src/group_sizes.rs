//! Kernels for work-groups of a size that is known: what they compute from it is known, too.
//!
//! A remainder by the size of a group is a mask then, if that is a power of two, loops over the size have a number of
//! rounds that is known, and a group that is not larger than a vector is one.

use std::collections::HashMap;

use warpline_analysis::Graph as _;
use warpline_analysis::dataflow::solve_forward_narrowing;
use warpline_analysis::ssi::{Version, ssify};
use warpline_dataflow::Code;
use warpline_dataflow::clients::ranges::{Assumptions, Range, Ranges};
use warpline_ir::group_functions::Query;
use warpline_ir::{Edge, Effects, Function, Module, Type, Value};

use crate::work_items::{Added, WorkItems};

/// Sweeps of narrowing for ranges.
const NARROWING: usize = 3;

/// How many work-items a group has in each dimension, as far as that is known; dimension 0 is that of lanes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct GroupSize {
    /// Along the lanes.
    pub row: u32,
    /// Whether it has one row only in dimension 1, and in dimension 2.
    pub one_row: [bool; 2],
}

impl GroupSize {
    /// Groups with rows of so many work-items, and with one row only where the kernel does not ask for others.
    pub fn with_rows_of(row: u32, items: &WorkItems) -> GroupSize {
        let asks = |d: u32| {
            items.added.iter().any(|a| matches!(a, Added::Answer(_, of) if *of == d && asks_items(a)))
        };
        GroupSize { row, one_row: [1, 2].map(|d| !asks(d)) }
    }

    /// The work-items in a dimension.
    pub fn of(&self, d: usize) -> Option<u32> {
        match d {
            0 => Some(self.row),
            _ => self.one_row[d - 1].then_some(1),
        }
    }
}

/// Whether who asks this has more than one work-item in the dimension. Sizes are also asked for arrays.
fn asks_items(added: &Added) -> bool {
    !matches!(added, Added::Answer(Query::EnqueuedLocalSize, _))
}

/// Code for groups of a known size is only run where all indices, and the sizes of ranges, are smaller than this: they
/// neither wrap nor change their signs.
pub fn index_bound(items: &WorkItems) -> u64 {
    let bits = items.added.iter().filter_map(|a| match a {
        Added::Index(bits) => Some(*bits),
        _ => None,
    });
    1 << (bits.min().unwrap_or(32).clamp(1, 32) - 1)
}

/// Makes a copy of a kernel for groups of a size, all of them whole, and indices below [`index_bound`]. What is asked
/// about the size is known in it. It has the parameters of the other.
pub fn of_size(module: &mut Module, items: &WorkItems, size: GroupSize) -> WorkItems {
    let mut func = module.functions[items.func].clone();
    func.name = format!("{}.of{}", func.name, size.row).into();
    let known = Sized { own: func.params.len() - items.added.len(), items, size };
    known.replace(module, &mut func);
    let params: Vec<Type> = func.params.iter().map(|&p| func.ty(p)).collect();
    module.function_symbol(&func.name, &params, func.ret, Effects::UNKNOWN);
    WorkItems { func: module.functions.push(func), ..items.clone() }
}

/// What is known of the parameters of a kernel.
#[derive(Copy, Clone)]
struct Sized<'a> {
    items: &'a WorkItems,
    size: GroupSize,
    /// How many parameters of its own it has in front of those that were added.
    own: usize,
}

impl Sized<'_> {
    /// The least and the greatest number that a parameter is.
    fn bounds(&self, added: Added) -> Option<(u64, u64)> {
        let below = |n: u64| Some((0, n.saturating_sub(1)));
        let bound = index_bound(self.items);
        match added {
            Added::Index(_) | Added::GroupStart => below(bound),
            Added::LocalIndex => below(self.size.row.into()),
            Added::Local(_) | Added::Scratch(_) => None,
            Added::Answer(Query::LocalSize | Query::EnqueuedLocalSize, d) => {
                self.size.of(d as usize).map(|n| (n.into(), n.into()))
            }
            Added::Answer(Query::LocalId, d) => below(self.size.of(d as usize)?.into()),
            Added::Answer(Query::GlobalSize, 0) => Some((self.size.row.into(), bound - 1)),
            Added::Answer(Query::GlobalOffset | Query::GroupId, 0) => below(bound),
            Added::Answer(Query::NumGroups, 0) => Some((1, bound - 1)),
            Added::Answer(..) => None,
        }
    }

    /// Puts numbers in the place of what is always one, and takes out ways that are never taken.
    fn replace(&self, module: &Module, func: &mut Function) {
        let code = Code::with_makers(func);
        let ssi = ssify(code.program(), &Ranges::<()>::STRATEGY);
        let problem = Ranges::with(module, func, &code, Of { sized: *self, func });
        let found = solve_forward_narrowing(code.program(), &ssi, &problem, NARROWING);
        let only = |v: Value| {
            let is_reached = func.def_block(v).is_none_or(|b| found.is_reached(b.into()));
            let range = found.fact(Version(v.as_u32())).range()?;
            Some((range.bits(), range.only().filter(|_| is_reached)?))
        };
        let mut values = func.values.keys().filter(|&v| func.constant(v).is_none());
        let numbers: Vec<(Value, (u32, u128))> =
            values.by_ref().filter_map(|v| Some((v, only(v)?))).collect();
        let graph = code.program().graph();
        let taken: Vec<Edge> = graph.edges().filter(|&e| found.is_taken(e)).map(|e| code.edge(e)).collect();
        let ways = |e: &Edge| func.out_edges(func.edges[*e].from);
        let alone =
            |e: &&Edge| ways(e).len() > 1 && ways(e).iter().filter(|e| taken.contains(e)).count() == 1;
        let always: Vec<Edge> = taken.iter().filter(alone).copied().collect();
        let numbers: HashMap<Value, Value> =
            numbers.into_iter().map(|(v, (bits, number))| (v, func.int_const(bits, number))).collect();
        func.map_operands(|v| numbers.get(&v).copied().unwrap_or(v));
        always.into_iter().for_each(|e| func.always_take(e));
        func.remove_unreachable_blocks();
    }
}

/// The same as assumptions about a function.
struct Of<'a> {
    sized: Sized<'a>,
    func: &'a Function,
}

impl Assumptions for Of<'_> {
    fn parameter(&self, number: u32) -> Option<Range> {
        let added = (number as usize).checked_sub(self.sized.own)?;
        let (least, greatest) = self.sized.bounds(self.sized.items.added[added])?;
        let bits = self.func.ty(self.func.params[number as usize]).int_bits()?;
        Range::unsigned(bits, least.into(), greatest.into())
    }
}
