//! Kernels for work-groups of a size that is known: what they compute from it is known, too.
//!
//! A remainder by the size of a group is a mask then, if that is a power of two, loops over the size have a number of
//! rounds that is known, and a group that is not larger than a vector is one.

use std::collections::HashMap;

use warpline_analysis::dataflow::solve_forward;
use warpline_analysis::ssi::{Version, ssify};
use warpline_dataflow::Code;
use warpline_dataflow::clients::constants::Constants;
use warpline_ir::group_functions::Query;
use warpline_ir::{Constant, Effects, Function, Module, Type, Value};

use crate::work_items::{Added, WorkItems};

/// Makes a copy of a kernel for groups of so many work-items in the dimension of lanes, all of them whole: what is
/// asked about their size is this number. It has the parameters of the other.
pub fn of_size(module: &mut Module, items: &WorkItems, size: u32) -> WorkItems {
    let mut func = module.functions[items.func].clone();
    func.name = format!("{}.of{size}", func.name).into();
    let own = func.params.len() - items.added.len();
    let is_size = |a: &Added| matches!(a, Added::Answer(Query::LocalSize | Query::EnqueuedLocalSize, 0));
    let sizes: Vec<Value> =
        func.params[own..].iter().zip(&items.added).filter(|(_, a)| is_size(a)).map(|(&p, _)| p).collect();
    let number = func.int_const(64, size.into());
    func.map_operands(|v| if sizes.contains(&v) { number } else { v });
    replace_constants(module, &mut func);
    let params: Vec<Type> = func.params.iter().map(|&p| func.ty(p)).collect();
    module.function_symbol(&func.name, &params, func.ret, Effects::UNKNOWN);
    WorkItems { func: module.functions.push(func), ..items.clone() }
}

/// Puts numbers in the place of what is always one.
fn replace_constants(module: &Module, func: &mut Function) {
    let code = Code::of(func);
    let ssi = ssify(code.program(), &Constants::<()>::STRATEGY);
    let found = solve_forward(code.program(), &ssi, &Constants::new(module, func, &code));
    let number = |v: Value| {
        let is_reached = func.def_block(v).is_none_or(|b| found.is_reached(b.into()));
        let constant = found.fact(Version(v.as_u32())).known()?.constant()?;
        (is_reached && matches!(constant, Constant::Int { .. })).then_some(constant)
    };
    let computed = func.values.keys().filter(|&v| func.def_inst(v).is_some());
    let numbers: HashMap<Value, Constant> = computed.filter_map(|v| Some((v, number(v)?))).collect();
    let numbers: HashMap<Value, Value> =
        numbers.into_iter().map(|(v, constant)| (v, func.constant_value(constant))).collect();
    func.map_operands(|v| numbers.get(&v).copied().unwrap_or(v));
}
