//! Drivers of kernels with barriers: the regions of a kernel one after the other, each over all work-items of a group.
//!
//! Values that are one for the group are in cells, which are variables of the driver. What regions read of them is
//! loaded before a region begins, and what they write they write through addresses: rows that are run later see what
//! was there when the region began.
//!
//! The caller passes a workspace, in which local memory and slots are: first the variables of groups, then what `local`
//! parameters point to, then the slots, each as an array over the work-items of a group. The driver begins at the
//! first address in it that is a multiple of [`ALIGN`].

use warpline_ir::{BinaryOp, Block, CastOp, Constant, FuncId, InstFlags, IntPred, Module, Op, Type, Value};

use super::ndrange::{
    Dimension, begin_some_groups, dimensions, end_some_groups, number, number_parameters, over_rows,
    range_parameters, row_arguments,
};
use crate::VectorizeError;
use crate::builder::{Builder, I64, element_bytes};
use crate::group_sizes::{GroupSize, index_bound};
use crate::groups::{Cut, Decision, End, Passed, Work};
use crate::work_items::{Added, WorkItems};

/// What is in the workspace begins at multiples of this.
const ALIGN: i64 = 64;

/// What the parameters of the kernel itself become.
#[derive(Copy, Clone)]
enum Own {
    /// It is passed on.
    Passed(Value),
    /// It points to local memory of so many bytes.
    Local(Value),
}

/// Adds a driver `void (ptr offset, ptr size, ptr local, i64 first, i64 last, …, ptr workspace)` that runs a kernel
/// that was cut at barriers for the groups `first..last` of a range, as [`some_groups`](super::some_groups()) does
/// others. A parameter of the kernel that points to local memory is a number of bytes here. `rows` are the [range
/// drivers](super::vector_range) of the regions that are executed for all work-items. `warp` is how many lanes a warp
/// has in a kernel that does something by warps: groups of which a warp would be parts of several rows end the program,
/// since it has no other lanes than those of one row. With a `size`, it is only called for ranges all of whose groups
/// have it.
///
/// # Errors
/// If there is a cell of a type that has no place in memory.
pub fn groups_of_regions(
    module: &mut Module,
    items: &WorkItems,
    cut: &Cut,
    rows: &[Option<FuncId>],
    (warp, size): (Option<u32>, Option<GroupSize>),
    name: &str,
) -> Result<FuncId, VectorizeError> {
    let mut b = Builder::new(module, name);
    let range = range_parameters(&mut b);
    let numbers = number_parameters(&mut b);
    let own = own_parameters(&mut b, items, false);
    let workspace = b.func.add_param(Type::PTR, "workspace");
    let mut cells = Vec::new();
    for &ty in &cut.cells {
        if element_bytes(b.module, ty).is_none() {
            return Err(VectorizeError::in_function(&b.func, "a cell has no place in memory").internal());
        }
        cells.push(b.array(ty, 1));
    }
    let exit = b.block("exit");
    let mut all = dimensions(&mut b, items, range, true, exit);
    let size = [0, 1, 2].map(|d| size.and_then(|size| size.of(d)).map(|n| b.int(64, n.into())));
    for (dimension, known) in all.iter_mut().zip(size) {
        dimension.enqueued = known.unwrap_or(dimension.enqueued);
    }
    if let Some(lanes) = warp {
        require_whole_warps(&mut b, &all, lanes);
    }
    let base = first_aligned(&mut b, workspace);
    let space = layout(&mut b, items, cut, &own, &all);
    let addresses = |b: &mut Builder, offsets: &[Value]| -> Vec<Value> {
        offsets.iter().map(|&o| b.element(base, Type::Int(8), o)).collect()
    };
    let [locals, passed, slots] =
        [&space.locals, &space.passed, &space.slots].map(|offsets| addresses(&mut b, offsets));
    let mut passed = passed.into_iter();
    let own: Vec<Value> = own
        .iter()
        .map(|&o| match o {
            Own::Passed(v) => v,
            Own::Local(_) => passed.next().expect("each has its place"),
        })
        .collect();
    let (mut group, open) = begin_some_groups(&mut b, items, all, numbers, exit);
    for (dimension, known) in group.iter_mut().zip(size) {
        dimension.local = known.unwrap_or(dimension.local);
    }
    let done = b.block("done");
    let blocks: Vec<Block> = (0..cut.regions.len()).map(|k| b.block(&format!("region{k}"))).collect();
    b.br(blocks[0]);
    let state = State { items, cut, cells, locals, slots, own, group, done };
    for (number, &row) in rows.iter().enumerate() {
        b.at = blocks[number];
        state.region(&mut b, number, row, &blocks);
    }
    b.at = done;
    end_some_groups(&mut b, items, &open, &group, exit);
    b.ret();
    Ok(b.finish())
}

/// A driver over some groups, all of which are of a size.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct OfSize {
    /// The size.
    pub size: GroupSize,
    /// The driver.
    pub driver: FuncId,
}

/// Adds a driver of [some groups](groups_of_regions) that leaves a range to one of those for groups of a certain size,
/// if its groups have that, and else to the one for `any`.
pub fn groups_by_size(
    module: &mut Module,
    items: &WorkItems,
    sizes: &[OfSize],
    any: FuncId,
    name: &str,
) -> FuncId {
    let mut b = Builder::new(module, name);
    let [offset, size, local] = range_parameters(&mut b);
    number_parameters(&mut b);
    own_parameters(&mut b, items, false);
    b.func.add_param(Type::PTR, "workspace");
    let all = b.func.params.clone();
    let exit = b.block("exit");
    let [offset, row] = [offset, size].map(|array| number(&mut b, items, array, 0));
    let local = [0, 1, 2].map(|d| {
        let [size, local] = [size, local].map(|array| number(&mut b, items, array, d));
        let zero = b.int(64, 0);
        let all = b.icmp(IntPred::Eq, local, zero);
        b.value(Op::Select, &[all, size, local], I64)
    });
    let end = b.binary(BinaryOp::Add, offset, row, InstFlags::empty());
    let bound = b.int(64, index_bound(items) as i64);
    let small = [offset, row, end].map(|x| b.icmp(IntPred::Ult, x, bound));
    for of_size in sizes {
        let (this, other) = (b.block("this"), b.block("other"));
        let wanted = b.int(64, of_size.size.row.into());
        let (rest, zero) = (b.binary(BinaryOp::URem, row, wanted, InstFlags::empty()), b.int(64, 0));
        let mut fits = b.icmp(IntPred::Eq, rest, zero);
        for condition in small {
            fits = b.binary(BinaryOp::And, fits, condition, InstFlags::empty());
        }
        for (d, local) in local.into_iter().enumerate() {
            let Some(wanted) = of_size.size.of(d) else { continue };
            let wanted = b.int(64, wanted.into());
            let is_wanted = b.icmp(IntPred::Eq, local, wanted);
            fits = b.binary(BinaryOp::And, fits, is_wanted, InstFlags::empty());
        }
        b.cond_br(fits, this, other);
        b.at = this;
        b.call(of_size.driver, &all);
        b.br(exit);
        b.at = other;
    }
    b.call(any, &all);
    b.br(exit);
    b.at = exit;
    b.ret();
    b.module.functions[any].noinline = true;
    sizes.iter().for_each(|of_size| b.module.functions[of_size.driver].noinline = true);
    b.finish()
}

/// Adds a driver `void (ptr offset, ptr size, ptr local, …, ptr workspace)` that runs all groups of a range by a driver
/// of [some](groups_of_regions).
pub fn all_groups(module: &mut Module, items: &WorkItems, some: FuncId, name: &str) -> FuncId {
    let mut b = Builder::new(module, name);
    let mut args = range_parameters(&mut b).to_vec();
    // There are not that many.
    args.extend([b.int(64, 0), b.int(64, -1)]);
    args.extend(own_parameters(&mut b, items, false).into_iter().map(|own| match own {
        Own::Passed(v) | Own::Local(v) => v,
    }));
    args.push(b.func.add_param(Type::PTR, "workspace"));
    b.call(some, &args);
    b.ret();
    b.finish()
}

/// Adds a function `i64 (ptr size, ptr local, …)` that says how many bytes of workspace a driver needs. What follows
/// are the sizes of what `local` parameters point to. The drivers are of one kernel that was cut in several ways.
pub fn workspace_size<'a>(
    module: &mut Module,
    items: &WorkItems,
    cuts: impl IntoIterator<Item = &'a Cut>,
    name: &str,
) -> FuncId {
    let mut b = Builder::new(module, name);
    b.func.ret = I64;
    let [size, local] = ["size", "local"].map(|name| b.func.add_param(Type::PTR, name));
    let own = own_parameters(&mut b, items, true);
    let nothing = b.block("nothing");
    // Where a range begins does not matter.
    let all = dimensions(&mut b, items, [size, size, local], true, nothing);
    let mut total = b.int(64, ALIGN);
    for cut in cuts {
        let space = layout(&mut b, items, cut, &own, &all);
        let slack = b.int(64, ALIGN);
        let this = b.binary(BinaryOp::Add, space.total, slack, InstFlags::empty());
        let more = b.icmp(IntPred::Ult, total, this);
        total = b.value(Op::Select, &[more, this, total], I64);
    }
    b.func.set_terminator(b.at, Op::Ret, &[total], &[]);
    let none = b.int(64, 0);
    b.func.set_terminator(nothing, Op::Ret, &[none], &[]);
    b.finish()
}

/// Adds parameters for those of the kernel: all, or only those for local memory.
fn own_parameters(b: &mut Builder, items: &WorkItems, only_local: bool) -> Vec<Own> {
    let kernel = &b.module.functions[items.func];
    let count = kernel.params.len() - items.added.len();
    let of = |&p: &Value| (kernel.ty(p), kernel.values[p].name.clone(), kernel.pointers[p].local);
    let params: Vec<(Type, Box<str>, bool)> = kernel.params[..count].iter().map(of).collect();
    let mut own = Vec::new();
    for (ty, name, is_local) in params {
        if is_local {
            own.push(Own::Local(b.func.add_param(I64, &format!("{name}_bytes"))));
        } else if !only_local {
            own.push(Own::Passed(b.func.add_param(ty, &name)));
        }
    }
    own
}

/// Where things are in the workspace, from its first aligned address on.
struct Space {
    /// Variables of groups, and then what work-items exchange values by.
    locals: Vec<Value>,
    passed: Vec<Value>,
    slots: Vec<Value>,
    total: Value,
}

fn layout(b: &mut Builder, items: &WorkItems, cut: &Cut, own: &[Own], all: &[Dimension; 3]) -> Space {
    let mut at = b.int(64, 0);
    let mut place = |b: &mut Builder, bytes: Value| {
        let (slack, mask) = (b.int(64, ALIGN - 1), b.int(64, -ALIGN));
        let up = b.binary(BinaryOp::Add, bytes, slack, InstFlags::empty());
        let bytes = b.binary(BinaryOp::And, up, mask, InstFlags::empty());
        let this = at;
        at = b.binary(BinaryOp::Add, at, bytes, InstFlags::empty());
        this
    };
    let plane = b.binary(BinaryOp::Mul, all[0].enqueued, all[1].enqueued, InstFlags::empty());
    let count = b.binary(BinaryOp::Mul, plane, all[2].enqueued, InstFlags::empty());
    let mut locals: Vec<Value> = Vec::new();
    for local in &items.locals {
        let bytes = b.int(64, local.bytes as i64);
        locals.push(place(b, bytes));
    }
    let of_all = |b: &mut Builder, bytes: u64| {
        let bytes = b.int(64, bytes as i64);
        b.binary(BinaryOp::Mul, count, bytes, InstFlags::empty())
    };
    for &bytes in &items.scratch {
        let bytes = of_all(b, bytes);
        locals.push(place(b, bytes));
    }
    let sizes = own.iter().filter_map(|o| match o {
        Own::Local(bytes) => Some(*bytes),
        Own::Passed(_) => None,
    });
    let passed = sizes.map(|bytes| place(b, bytes)).collect();
    let mut slots = Vec::new();
    for slot in &cut.slots {
        let bytes = of_all(b, slot.bytes);
        slots.push(place(b, bytes));
    }
    Space { locals, passed, slots, total: at }
}

/// Requires that no warp is parts of several rows: GPUs number warps over all dimensions of a group.
fn require_whole_warps(b: &mut Builder, all: &[Dimension; 3], lanes: u32) {
    let [x, y, z] = all;
    let one = b.int(64, 1);
    let several = b.binary(BinaryOp::Or, y.enqueued, z.enqueued, InstFlags::empty());
    let is_one_row = b.icmp(IntPred::Eq, several, one);
    // The last group of a row has what is left.
    let of_row = b.binary(BinaryOp::Or, x.enqueued, x.size, InstFlags::empty());
    let mask = b.int(64, i64::from(lanes) - 1);
    let rest = b.binary(BinaryOp::And, of_row, mask, InstFlags::empty());
    let zero = b.int(64, 0);
    let is_whole = b.icmp(IntPred::Eq, rest, zero);
    let is_right = b.binary(BinaryOp::Or, is_one_row, is_whole, InstFlags::empty());
    b.require(is_right);
}

/// The first address from here on that is a multiple of [`ALIGN`].
fn first_aligned(b: &mut Builder, workspace: Value) -> Value {
    let address = b.cast(CastOp::PtrToInt, workspace, I64);
    let zero = b.int(64, 0);
    let mask = b.int(64, ALIGN - 1);
    let back = b.binary(BinaryOp::Sub, zero, address, InstFlags::empty());
    let by = b.binary(BinaryOp::And, back, mask, InstFlags::empty());
    b.element(workspace, Type::Int(8), by)
}

/// A group that is run.
struct State<'a> {
    items: &'a WorkItems,
    cut: &'a Cut,
    cells: Vec<Value>,
    locals: Vec<Value>,
    slots: Vec<Value>,
    own: Vec<Value>,
    group: [Dimension; 3],
    /// Where the group ends.
    done: Block,
}

impl State<'_> {
    /// Runs a region over the group and goes on.
    fn region(&self, b: &mut Builder, number: usize, row: Option<FuncId>, blocks: &[Block]) {
        let region = &self.cut.regions[number];
        if let Some(cell) = region.anybody {
            let nobody = b.int(8, 0);
            b.store(self.cells[cell], nobody, Type::Int(8));
        }
        match (region.work, row) {
            (Work::Once, _) => self.once(b, number),
            (_, Some(row)) => self.rows(b, number, row),
            (_, None) => {}
        }
        if let Some(cell) = region.anybody {
            let anybody = b.load(self.cells[cell], Type::Int(8), None);
            let zero = b.int(8, 0);
            let some = b.icmp(IntPred::Ne, anybody, zero);
            let go_on = b.block("some");
            b.cond_br(some, go_on, self.done);
            b.at = go_on;
        }
        match &region.end {
            End::Return => b.br(self.done),
            End::Next(next) => b.br(blocks[*next]),
            End::Branch { op, on, to } => {
                let on = self.decision(b, on);
                let to: Vec<Block> = to.iter().map(|&k| blocks[k]).collect();
                b.func.set_terminator(b.at, op.clone(), &[on], &to);
            }
        }
    }

    /// Calls a region for the first work-item.
    fn once(&self, b: &mut Builder, number: usize) {
        let known = self.passed(b, number);
        let args = self.of_first(b, &known);
        b.call(self.cut.regions[number].func, &args);
    }

    /// The arguments of a region for the first work-item.
    fn of_first(&self, b: &mut Builder, known: &[Value]) -> Vec<Value> {
        let row = row_arguments(b, self.items, &self.group, &[], &self.locals);
        let mut added = row[2..].iter().copied();
        let mut args = self.own.clone();
        for a in &self.items.added {
            args.push(match *a {
                Added::Index(bits) => b.cast(CastOp::Trunc, row[0], Type::Int(bits)),
                _ => added.next().expect("a row is passed what was added"),
            });
        }
        args.extend(known);
        args
    }

    /// For how many work-items of a row a region is run, if not for all.
    fn bound(&self, b: &mut Builder, number: usize, known: &[Value]) -> Option<Value> {
        let bound = self.cut.regions[number].bound?;
        let args = self.of_first(b, known);
        let (bound, all) = (b.call(bound, &args)?, self.group[0].local);
        let fewer = b.icmp(IntPred::Ult, bound, all);
        Some(b.value(Op::Select, &[fewer, bound, all], I64))
    }

    /// What a region is passed behind the kernel's parameters, for the first work-item.
    fn passed(&self, b: &mut Builder, number: usize) -> Vec<Value> {
        let region = &self.cut.regions[number];
        region
            .passed
            .iter()
            .map(|&passed| match passed {
                Passed::Cell(k) => b.load(self.cells[k], self.cut.cells[k], None),
                Passed::Out(k) => self.cells[k],
                Passed::Slot(k) => self.slots[k],
            })
            .collect()
    }

    fn rows(&self, b: &mut Builder, number: usize, row: FuncId) {
        let region = &self.cut.regions[number];
        let known = self.passed(b, number);
        let bound = self.bound(b, number, &known);
        over_rows(b, &self.group, |b, dimensions| {
            let mut args = row_arguments(b, self.items, dimensions, &self.own, &self.locals);
            if let Some(bound) = bound {
                args[1] = b.binary(BinaryOp::Add, args[0], bound, InstFlags::empty());
            }
            let [x, y, z] = dimensions;
            let rows = b.binary(BinaryOp::Mul, z.item, y.local, InstFlags::empty());
            let before = b.binary(BinaryOp::Add, rows, y.item, InstFlags::empty());
            let before = b.binary(BinaryOp::Mul, before, x.local, InstFlags::empty());
            for (&passed, &v) in region.passed.iter().zip(&known) {
                args.push(match passed {
                    Passed::Cell(_) | Passed::Out(_) => v,
                    Passed::Slot(k) => {
                        let bytes = b.int(64, self.cut.slots[k].step as i64);
                        let by = b.binary(BinaryOp::Mul, before, bytes, InstFlags::empty());
                        b.element(v, Type::Int(8), by)
                    }
                });
            }
            b.call(row, &args);
        });
    }

    /// What a branch between regions depends on.
    fn decision(&self, b: &mut Builder, on: &Decision) -> Value {
        match on {
            Decision::Cell(k) => b.load(self.cells[*k], self.cut.cells[*k], None),
            Decision::Param(k) if *k < self.own.len() => self.own[*k],
            Decision::Param(k) => {
                // Nothing that differs between rows decides.
                let args = row_arguments(b, self.items, &self.group, &[], &self.locals);
                let indices = self.items.added[..*k - self.own.len()].iter();
                let skipped = indices.filter(|a| matches!(a, Added::Index(_))).count();
                args[2 + *k - self.own.len() - skipped]
            }
            Decision::Constant(c) => {
                let c: Constant = c.clone();
                b.func.constant_value(c)
            }
        }
    }
}
