//! Drivers over work-items in up to three dimensions.
//!
//! Dimension [`X`] is the one in which lanes are neighbours. Where this is not the caller's dimension 0, the two change
//! places: [`number`] reads what the caller says, and [`begin_some_groups`] numbers groups as the caller does.

use crate::VectorizeError;
use crate::work_items::{Added, WorkItems};
use warpline_ir::group_functions::Query;
use warpline_ir::{BinaryOp, Block, CastOp, FuncId, InstFlags, IntPred, Module, Op, Type, Value};
use warpline_uniformity::shape::ArgShape;

use crate::builder::{Builder, I64, Loop};

const X: usize = 0;
const Y: usize = 1;
const Z: usize = 2;

/// What is known of one dimension; of the group and the row that are run, once their loops are open.
#[derive(Copy, Clone)]
pub(super) struct Dimension {
    offset: Value,
    pub(super) size: Value,
    /// The work-items of a group that is not the last one.
    pub(super) enqueued: Value,
    groups: Value,
    group: Value,
    /// The work-items of this group.
    pub(super) local: Value,
    /// The first one, counted from the offset.
    start: Value,
    /// The work-item of this row in its group; only in dimensions 1 and 2.
    pub(super) item: Value,
}

/// Adds a driver `void (ptr offset, ptr size, ptr local, …)` that runs a kernel for all work-items of a range: group
/// by group, and in a group row by row along dimension 0. `offset`, `size` and `local` point to three numbers of 64
/// bits each: the least number of a work-item, how many there are, and how many a group has; 0 stands for all of the
/// dimension. The last groups may be smaller. The kernel's own parameters follow, but for an index. `row` is a [range
/// driver](super::vector_range) of the kernel `items`, whose parameters have the shapes `args`. The driver, and what it
/// calls besides that: loops over rows save registers, which takes longer than a short row.
///
/// # Errors
/// If one of the kernel's own parameters is neither uniform nor the index, or the kernel returns something.
pub fn ndrange(
    module: &mut Module,
    items: &WorkItems,
    args: &[ArgShape],
    row: FuncId,
    name: &str,
) -> Result<Vec<FuncId>, VectorizeError> {
    if items.has_groups() {
        return over_groups(module, items, args, row, name, false).map(|all| vec![all]);
    }
    let rows = over_groups(module, items, args, row, &format!("{name}.rows"), false)?;
    module.functions[rows].noinline = true;
    let all = of_one_row(module, items, args, [row, rows], name)?;
    Ok(vec![all, rows])
}

/// Adds a driver that calls the range driver `row` if there is one work-item only in dimensions 1 and 2, and else the
/// driver `rows`.
fn of_one_row(
    module: &mut Module,
    items: &WorkItems,
    args: &[ArgShape],
    [row, rows]: [FuncId; 2],
    name: &str,
) -> Result<FuncId, VectorizeError> {
    let own = own_parameters(module, items, args)?;
    let mut b = Builder::new(module, name);
    let range = range_parameters(&mut b);
    let own: Vec<Value> = own.into_iter().map(|(ty, name)| b.func.add_param(ty, &name)).collect();
    let [one, several, exit] = ["one", "several", "exit"].map(|name| b.block(name));
    let is_one = [Y, Z].map(|d| {
        let (size, one) = (number(&mut b, items, range[1], d), b.int(64, 1));
        b.icmp(IntPred::Eq, size, one)
    });
    let is_one = b.binary(BinaryOp::And, is_one[0], is_one[1], InstFlags::empty());
    b.cond_br(is_one, one, several);
    b.at = one;
    let dimensions = [X, Y, Z].map(|d| {
        let [offset, size, asked] = range.map(|array| number(&mut b, items, array, d));
        let (zero, one) = (b.int(64, 0), b.int(64, 1));
        let all = b.icmp(IntPred::Eq, asked, zero);
        let enqueued = if d == X { size } else { b.value(Op::Select, &[all, one, asked], I64) };
        Dimension { offset, size, enqueued, groups: one, group: zero, local: size, start: zero, item: zero }
    });
    let values = row_arguments(&mut b, items, &dimensions, &own, &[]);
    b.call(row, &values);
    b.br(exit);
    b.at = several;
    let all = b.func.params.clone();
    b.call(rows, &all);
    b.br(exit);
    b.at = exit;
    b.ret();
    Ok(b.finish())
}

/// Loads one of the three numbers of an array of the caller's.
pub(super) fn number(b: &mut Builder, items: &WorkItems, array: Value, d: usize) -> Value {
    let d = b.int(64, items.dimension(d) as i64);
    let at = b.element(array, I64, d);
    b.load(at, I64, None)
}

/// Adds a driver `void (ptr offset, ptr size, ptr local, i64 first, i64 last, …)` that runs only some of the groups of
/// [`ndrange`], those with the numbers `first..last`, so that several threads can share a range. Groups are numbered
/// along dimension 0 first; those that do not exist are left out.
///
/// # Errors
/// As [`ndrange`].
pub fn some_groups(
    module: &mut Module,
    items: &WorkItems,
    args: &[ArgShape],
    row: FuncId,
    name: &str,
) -> Result<FuncId, VectorizeError> {
    over_groups(module, items, args, row, name, true)
}

/// Adds a driver over all groups, or over some.
fn over_groups(
    module: &mut Module,
    items: &WorkItems,
    args: &[ArgShape],
    row: FuncId,
    name: &str,
    some: bool,
) -> Result<FuncId, VectorizeError> {
    let own = own_parameters(module, items, args)?;
    let mut b = Builder::new(module, name);
    let range = range_parameters(&mut b);
    let numbers = some.then(|| number_parameters(&mut b));
    let own: Vec<Value> = own.into_iter().map(|(ty, name)| b.func.add_param(ty, &name)).collect();
    let exit = b.block("exit");
    let all = dimensions(&mut b, items, range, some || items.has_groups(), exit);
    if let Some(numbers) = numbers {
        let (group, open) = begin_some_groups(&mut b, items, all, numbers, exit);
        rows_of_group(&mut b, items, &group, &own, row);
        end_some_groups(&mut b, items, &open, &group, exit);
    } else {
        let (group, open) = begin_all_groups(&mut b, all);
        rows_of_group(&mut b, items, &group, &own, row);
        close(&mut b, open);
        b.br(exit);
        b.at = exit;
    }
    b.ret();
    Ok(b.finish())
}

/// The types and names of the kernel's own parameters that a driver has.
fn own_parameters(
    module: &Module,
    items: &WorkItems,
    args: &[ArgShape],
) -> Result<Vec<(Type, Box<str>)>, VectorizeError> {
    let kernel = &module.functions[items.func];
    if !kernel.ret.is_void() {
        let reason =
            "a kernel that asks which work-item it is returns nothing; there is no array for results";
        return Err(VectorizeError::in_function(kernel, reason));
    }
    let count = kernel.params.len() - items.added.len();
    let mut own: Vec<(Type, Box<str>)> = Vec::new();
    for (&p, &shape) in kernel.params[..count].iter().zip(args) {
        match shape {
            ArgShape::Index => {}
            ArgShape::Uniform => own.push((kernel.ty(p), kernel.values[p].name.clone())),
            ArgShape::Varying | ArgShape::Consecutive | ArgShape::Stride(_) => {
                let reason = format!(
                    "it asks which work-item it is, so its parameters are the same for all; {} is not",
                    kernel.value_name(p)
                );
                return Err(VectorizeError::in_function(kernel, reason));
            }
        }
    }
    Ok(own)
}

/// Where a range begins, how large it is, and how large its groups are.
pub(super) fn range_parameters(b: &mut Builder) -> [Value; 3] {
    ["offset", "size", "local"].map(|name| b.func.add_param(Type::PTR, name))
}

/// Which groups are run: the first one, and the one behind the last.
pub(super) fn number_parameters(b: &mut Builder) -> [Value; 2] {
    ["first", "last"].map(|name| b.func.add_param(I64, name))
}

/// Calls the range driver for each row of a group.
fn rows_of_group(b: &mut Builder, items: &WorkItems, group: &[Dimension; 3], own: &[Value], row: FuncId) {
    over_rows(b, group, |b, dimensions| {
        let args = row_arguments(b, items, dimensions, own, &[]);
        b.call(row, &args);
    });
}

/// Loads the numbers of all dimensions; leaves if there is no work-item. Without `has_groups`, dimension 0 is one
/// group.
pub(super) fn dimensions(
    b: &mut Builder,
    items: &WorkItems,
    range: [Value; 3],
    has_groups: bool,
    exit: Block,
) -> [Dimension; 3] {
    [X, Y, Z].map(|d| dimension(b, items, range, d, d == X && !has_groups, exit))
}

/// Opens the loops over all groups.
fn begin_all_groups(b: &mut Builder, mut all: [Dimension; 3]) -> ([Dimension; 3], Vec<Loop>) {
    let mut open: Vec<Loop> = Vec::new();
    for (d, loop_name) in [(Z, "groups.z"), (Y, "groups.y"), (X, "groups.x")] {
        let l = b.begin_loop(loop_name, all[d].groups, 1, &[]);
        all[d] = in_group(b, all[d], l.counter);
        open.push(l);
    }
    (all, open)
}

/// An open loop over groups by number.
pub(super) struct Groups {
    head: Block,
    /// How many are left, this one among them.
    left: Value,
}

/// Opens a loop over those groups that have numbers from the first to before the last one.
pub(super) fn begin_some_groups(
    b: &mut Builder,
    items: &WorkItems,
    mut all: [Dimension; 3],
    [first, last]: [Value; 2],
    exit: Block,
) -> ([Dimension; 3], Groups) {
    let [of_x, of_y, of_z] = [X, Y, Z].map(|d| all[items.dimension(d)].groups);
    let plane = b.binary(BinaryOp::Mul, of_x, of_y, InstFlags::empty());
    let count = b.binary(BinaryOp::Mul, plane, of_z, InstFlags::empty());
    let fewer = b.icmp(IntPred::Ult, last, count);
    let last = b.value(Op::Select, &[fewer, last, count], I64);
    let some = b.icmp(IntPred::Ult, first, last);
    let (begin, divide, head) = (b.block("begin"), b.block("divide"), b.block("groups"));
    b.cond_br(some, begin, exit);
    b.at = begin;
    let number = b.binary(BinaryOp::Sub, last, first, InstFlags::empty());
    let [x, y, z, left] = [(); 4].map(|()| b.func.add_phi(head, I64));
    // Most ranges begin at their first group, where nothing is to be divided.
    let zero = b.int(64, 0);
    let at_zero = b.icmp(IntPred::Eq, first, zero);
    b.cond_br(at_zero, head, divide);
    b.pass(&[zero, zero, zero, number]);
    b.at = divide;
    let in_z = b.binary(BinaryOp::UDiv, first, plane, InstFlags::empty());
    let rest = b.binary(BinaryOp::URem, first, plane, InstFlags::empty());
    let in_y = b.binary(BinaryOp::UDiv, rest, of_x, InstFlags::empty());
    let in_x = b.binary(BinaryOp::URem, rest, of_x, InstFlags::empty());
    b.br(head);
    b.pass(&[in_x, in_y, in_z, number]);
    b.at = head;
    for (d, group) in [(X, x), (Y, y), (Z, z)] {
        let d = items.dimension(d);
        all[d] = in_group(b, all[d], group);
    }
    (all, Groups { head, left })
}

/// Goes on with the next group, or to the exit.
pub(super) fn end_some_groups(
    b: &mut Builder,
    items: &WorkItems,
    open: &Groups,
    all: &[Dimension; 3],
    exit: Block,
) {
    let all = [X, Y, Z].map(|d| all[items.dimension(d)]);
    let (zero, one) = (b.int(64, 0), b.int(64, 1));
    let mut carry = one;
    let mut next = Vec::new();
    for d in [X, Y] {
        let after = b.binary(BinaryOp::Add, all[d].group, carry, InstFlags::empty());
        let over = b.icmp(IntPred::Eq, after, all[d].groups);
        next.push(b.value(Op::Select, &[over, zero, after], I64));
        carry = b.cast(CastOp::ZExt, over, I64);
    }
    next.push(b.binary(BinaryOp::Add, all[Z].group, carry, InstFlags::empty()));
    let left = b.binary(BinaryOp::Sub, open.left, one, InstFlags::empty());
    next.push(left);
    let more = b.icmp(IntPred::Ne, left, zero);
    b.cond_br(more, open.head, exit);
    b.pass(&next);
    b.at = exit;
}

fn close(b: &mut Builder, mut open: Vec<Loop>) {
    while let Some(l) = open.pop() {
        let then = b.block("next");
        b.end_loop(&l, then);
    }
}

/// Does something for each row of a group.
pub(super) fn over_rows(
    b: &mut Builder,
    group: &[Dimension; 3],
    body: impl FnOnce(&mut Builder, &[Dimension; 3]),
) {
    let mut all = *group;
    let mut open: Vec<Loop> = Vec::new();
    for (d, loop_name) in [(Z, "items.z"), (Y, "items.y")] {
        let l = b.begin_loop(loop_name, all[d].local, 1, &[]);
        all[d].item = l.counter;
        open.push(l);
    }
    body(b, &all);
    close(b, open);
}

/// What the range driver of a kernel is passed for a row: the range, the kernel's own arguments and what was added.
/// `locals` are the addresses of variables of which each group has its own, and then of its scratch.
pub(super) fn row_arguments(
    b: &mut Builder,
    items: &WorkItems,
    dimensions: &[Dimension; 3],
    own: &[Value],
    locals: &[Value],
) -> Vec<Value> {
    let begin = b.binary(BinaryOp::Add, dimensions[X].offset, dimensions[X].start, InstFlags::empty());
    let end = b.binary(BinaryOp::Add, begin, dimensions[X].local, InstFlags::empty());
    let mut args = vec![begin, end];
    args.extend(own);
    for &added in &items.added {
        match added {
            Added::Index(_) => {}
            Added::GroupStart => args.push(begin),
            // A row begins with the first one.
            Added::LocalIndex => args.push(b.int(64, 0)),
            Added::Local(number) => args.push(locals[number]),
            Added::Scratch(number) => args.push(locals[items.locals.len() + number]),
            Added::Answer(query, d) => {
                let x = answer(b, query, &dimensions[d as usize]);
                args.push(x);
            }
        }
    }
    args
}

/// Loads the numbers of a dimension; leaves if it has no work-item. If `whole`, it is one group.
fn dimension(
    b: &mut Builder,
    items: &WorkItems,
    [offset, size, local]: [Value; 3],
    d: usize,
    whole: bool,
    exit: warpline_ir::Block,
) -> Dimension {
    let [offset, size, asked] = [offset, size, local].map(|array| number(b, items, array, d));
    let (zero, one) = (b.int(64, 0), b.int(64, 1));
    let some = b.icmp(IntPred::Ne, size, zero);
    let go_on = b.block("some");
    b.cond_br(some, go_on, exit);
    b.at = go_on;
    let (enqueued, groups) = if whole { (size, one) } else { groups(b, size, asked) };
    Dimension { offset, size, enqueued, groups, group: zero, local: enqueued, start: zero, item: zero }
}

/// The work-items of a group and the number of groups, if groups of so many are asked for. A single group is no reason
/// to divide.
fn groups(b: &mut Builder, size: Value, asked: Value) -> (Value, Value) {
    let (zero, one) = (b.int(64, 0), b.int(64, 1));
    let (several, known) = (b.block("several"), b.block("known"));
    let (enqueued, groups) = (b.func.add_phi(known, I64), b.func.add_phi(known, I64));
    let all = b.icmp(IntPred::Eq, asked, zero);
    b.cond_br(all, known, several);
    b.pass(&[size, one]);
    b.at = several;
    let last = b.binary(BinaryOp::Sub, size, one, InstFlags::empty());
    let whole = b.binary(BinaryOp::UDiv, last, asked, InstFlags::empty());
    let number = b.binary(BinaryOp::Add, whole, one, InstFlags::empty());
    b.br(known);
    b.pass(&[asked, number]);
    b.at = known;
    (enqueued, groups)
}

/// The dimension in one of its groups.
fn in_group(b: &mut Builder, d: Dimension, group: Value) -> Dimension {
    let start = b.binary(BinaryOp::Mul, group, d.enqueued, InstFlags::empty());
    let rest = b.binary(BinaryOp::Sub, d.size, start, InstFlags::empty());
    let last = b.icmp(IntPred::Ult, rest, d.enqueued);
    let local = b.value(Op::Select, &[last, rest, d.enqueued], I64);
    Dimension { group, start, local, ..d }
}

/// What a query yields.
fn answer(b: &mut Builder, query: Query, d: &Dimension) -> Value {
    match query {
        Query::GlobalId => {
            let first = b.binary(BinaryOp::Add, d.offset, d.start, InstFlags::empty());
            b.binary(BinaryOp::Add, first, d.item, InstFlags::empty())
        }
        Query::LocalId => d.item,
        Query::GroupId => d.group,
        Query::GlobalSize => d.size,
        Query::LocalSize => d.local,
        Query::EnqueuedLocalSize => d.enqueued,
        Query::NumGroups => d.groups,
        Query::GlobalOffset => d.offset,
    }
}
