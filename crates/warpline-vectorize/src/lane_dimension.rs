//! In which dimension neighbouring lanes are neighbouring work-items.
//!
//! Each dimension about which a kernel asks is tried: what counts are the cycles that its accesses take then on the
//! machine, by the description of it, each as often as constants and weights of edges say. Dimension 0 stays unless
//! another one is clearly better, and wherever it can be seen in which order work-items run, or OpenCL numbers work-items
//! along it: sub-groups, and what work-items combine in their order.

use cranelift_entity::EntitySet;
use warpline_ir::group_functions::GroupFunction;
use warpline_ir::{Accessed, Block, Effects, FuncId, Function, Inst, Module, Op, Value};
use warpline_target::{self as target, Element, Lanes, Machine};
use warpline_uniformity::shape::ArgShape;
use warpline_uniformity::{Options, Uniformity};

use super::elements::element_of;
use super::objects::lifetime_marker;
use super::width::frequency;
use super::work_items;

/// What another dimension may cost at most, as a part of what dimension 0 does.
const CLEARLY: f64 = 0.75;

/// The dimension in which lanes of a kernel should be neighbours. `args` are the shapes of its own parameters, and
/// `group` is how many work-items a group has, if that is known.
pub fn choose(
    module: &Module,
    kernel: FuncId,
    args: &[ArgShape],
    group: Option<[u32; 3]>,
    machine: &Machine,
) -> u32 {
    let func = &module.functions[kernel];
    let full = (machine.register_bits / Element::I32.bits()).max(1);
    // Rows of few work-items fill no register, and each is begun anew.
    let is_long = |d: u32| group.is_none_or(|group| group[d as usize] >= full);
    let asked = (1..3).filter(|&d| work_items::asks_for_item(module, func, d));
    let others: Vec<u32> = asked.filter(|&d| is_long(d)).collect();
    if others.is_empty() || shows_order(module, func) {
        return 0;
    }
    // A row of few work-items takes as long as a full register; in one of a single work-item nobody has a neighbour.
    let length = |d: u32| match group.map(|group| group[d as usize]) {
        None => 1.0,
        Some(0 | 1) => f64::INFINITY,
        Some(n) => f64::from(full) / f64::from(n.min(full)),
    };
    let cost = |d: u32| Some(accesses(module, kernel, args, d, machine)? * length(d));
    let Some(along_0) = cost(0) else { return 0 };
    let best = others.into_iter().filter_map(|d| Some((d, cost(d)?))).min_by(|a, b| a.1.total_cmp(&b.1));
    best.filter(|&(_, cost)| cost < along_0 * CLEARLY).map_or(0, |(d, _)| d)
}

/// The cycles that accesses of a kernel take for a work-item if lanes are neighbours in a dimension; nothing if it
/// cannot be vectorized, or if all of another dimension than 0 would store to one address: whoever does that has groups
/// of one work-item in this dimension, or lets one of them store.
fn accesses(
    module: &Module,
    kernel: FuncId,
    args: &[ArgShape],
    lanes: u32,
    machine: &Machine,
) -> Option<f64> {
    let mut module = module.clone();
    let items = work_items::along(&mut module, kernel, lanes, None, false).ok()??;
    let func = &module.functions[items.func];
    let args: Vec<ArgShape> = args.iter().copied().chain(items.shapes()).collect();
    let uniformity = Uniformity::compute(&module, func, &Options::with_args(args));
    let meet = |i: Inst| {
        let shared = |v| !is_private(func, v) && uniformity.shape(v).is_uniform();
        func.accessed(i).is_some_and(|accessed| accessed.writes && shared(accessed.address))
    };
    if lanes != 0 && func.layout.iter().flat_map(|&b| func.block_insts(b)).any(meet) {
        return None;
    }
    let often = frequency::of_scalar(func);
    let of_block = |&b: &Block| -> f64 {
        let insts = func.blocks[b].insts.iter();
        often[b] * insts.map(|&i| access(&module, func, &uniformity, machine, i)).sum::<f64>()
    };
    Some(func.layout.iter().map(of_block).sum())
}

/// The cycles that an access takes for a work-item; 0 for any other instruction.
fn access(module: &Module, func: &Function, uniformity: &Uniformity, machine: &Machine, i: Inst) -> f64 {
    let Some(Accessed { address, ty, writes, .. }) = func.accessed(i) else { return 0.0 };
    // Lanes' private memory lies side by side in any dimension.
    if is_private(func, address) {
        return 0.0;
    }
    let bytes = module.layout.store_size(&module.types, ty).unwrap_or(0).max(1);
    let element = element_of(ty);
    let full = (machine.register_bits / element.bits()).max(1);
    // Of a type that is no element, parts are accessed.
    let parts = (bytes * 8).div_ceil(element.bits().into()) as f64;
    let cycles =
        |op: target::Op, lanes: Lanes| machine.cost(op, element, lanes).map_or(1.0, |c| c.throughput);
    let lanes = Lanes::fixed(full);
    let (plain, apart) = match writes {
        true => (target::Op::Store, target::Op::Scatter),
        false => (target::Op::Load, target::Op::Gather),
    };
    let by_address = cycles(apart, lanes);
    let of_register = match uniformity.shape(address).step() {
        Some(0) => cycles(plain, Lanes::ONE),
        // Wide accesses of all that lies between, and as many shuffles.
        Some(step) => {
            let wide = step.unsigned_abs().div_ceil(bytes) as f64;
            let shuffles = if wide > 1.0 { cycles(target::Op::Shuffle, lanes) } else { 0.0 };
            (wide * (cycles(plain, lanes) + shuffles)).min(by_address)
        }
        None => by_address,
    };
    parts * of_register / f64::from(full)
}

/// Whether an address leads to private memory alone.
fn is_private(func: &Function, address: Value) -> bool {
    let (mut seen, mut work) = (EntitySet::new(), vec![address]);
    while let Some(v) = work.pop() {
        if !seen.insert(v) || func.is_alloca(v) {
            continue;
        }
        match func.pointers_behind(v) {
            Some(behind) => work.extend(behind),
            None => return false,
        }
    }
    true
}

/// Whether results may depend on the order in which work-items run, or on their numbers in dimension 0.
fn shows_order(module: &Module, func: &Function) -> bool {
    func.layout.iter().flat_map(|&b| &func.blocks[b].insts).any(|&i| {
        if work_items::is_barrier(module, func, i) || lifetime_marker(module, func, i).is_some() {
            return false;
        }
        if let Some(operation) = work_items::group_operation(module, func, i) {
            return !operation.op.copies();
        }
        match &func.insts[i].op {
            Op::Load(access) | Op::Store(access) => !access.is_simple(),
            Op::Call(info) => {
                let asks = info.callee.is_some_and(|symbol| {
                    matches!(GroupFunction::of(module, symbol), Some(GroupFunction::Query(..)))
                });
                !asks && info.effects.intersects(Effects::WRITES | Effects::CONVERGENT | Effects::VOLATILE)
            }
            op => op.effects().intersects(Effects::WRITES | Effects::CONVERGENT | Effects::VOLATILE),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_ir::text::parse_module;

    /// The choice for a kernel that loads and stores the element of row `y` and column `x`, and does something else.
    fn chosen(row: u32, more: &str, group: Option<[u32; 3]>) -> u32 {
        let text = format!(
            "declare @_Z13get_global_idj(i32) -> i64 []
            declare @_Z20sub_group_reduce_addi(i32) -> i32 [convergent]
            declare @_Z7barrierj(i32) [convergent]
            func @k(%in: ptr, %out: ptr, %n: i64) {{
            b0:
              %y: i64 = call @_Z13get_global_idj({row})
              %x: i64 = call @_Z13get_global_idj({})
              %r: i64 = mul %y, %n
              %i: i64 = add %r, %x
              %p: ptr = getelementptr i32, %in, %i
              %v: i32 = load %p, align 4
              {more}
              %q: ptr = getelementptr i32, %out, %i
              store %v, %q, align 4
              ret
            }}",
            1 - row,
        );
        let module = parse_module(&text).unwrap_or_else(|e| panic!("{e}"));
        let args = [ArgShape::Uniform; 3];
        let machine = Machine::of(warpline_target::nearest("x86-64-v3", true, 256));
        choose(&module, module.function("k").expect("it is there"), &args, group, &machine)
    }

    #[test]
    fn lanes_are_neighbours_where_most_accesses_are_of_neighbours() {
        assert_eq!(chosen(1, "", None), 0);
        assert_eq!(chosen(0, "", None), 1);
        assert_eq!(chosen(0, "call @_Z7barrierj(1)", None), 1);
    }

    #[test]
    fn rows_that_are_known_to_be_short_are_not_chosen() {
        assert_eq!(chosen(0, "", Some([64, 1, 1])), 0);
        assert_eq!(chosen(1, "", Some([1, 64, 1])), 1);
        assert_eq!(chosen(0, "", Some([16, 16, 1])), 1);
    }

    #[test]
    fn a_dimension_along_which_all_store_to_one_address_is_not_chosen() {
        let store = "%l: ptr = getelementptr i32, %out, %y
              store %v, %l, align 4";
        assert_eq!(chosen(0, store, None), 0);
        assert_eq!(chosen(0, &store.replace("%y", "%x"), None), 1);
    }

    #[test]
    fn sub_groups_stay_along_dimension_0() {
        assert_eq!(chosen(0, "%s: i32 = call @_Z20sub_group_reduce_addi(%v)", None), 0);
    }
}
