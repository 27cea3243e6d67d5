//! The variants of functions that kernels call, made one after the other: a work list.

use std::collections::BTreeSet;

use warpline_ir::{CallInfo, FuncId, Function, Module, Op, Symbol, Value};

use super::vectorize_callee;
use crate::VectorizeError;
use crate::call_graph::functions_with_cross_lane_operations;
use crate::callees::CalleeVariant;
use crate::dependences::Pieces;
use crate::embedder::NoCallees;
use crate::options::Options;

/// Makes the variants that are not there yet, and those that they ask for in turn. Returns what was made.
///
/// # Errors
/// If a function asks for lanes and cannot be vectorized: then calls for one lane after the other would not do either.
pub(super) fn make(
    module: &mut Module,
    wanted: Vec<CalleeVariant>,
    options: &Options<'_>,
) -> Result<Vec<FuncId>, VectorizeError> {
    let mut there: BTreeSet<Box<str>> = module.functions.values().map(|f| f.name.clone()).collect();
    let mut work = wanted;
    let mut made = Vec::new();
    while let Some(variant) = work.pop() {
        if !there.insert(variant.name.as_str().into()) {
            continue;
        }
        let asked = Options {
            args: variant.args.clone(),
            name: variant.name.clone(),
            masked: variant.masked,
            scalar_result: false,
            region: None,
            pieces: const { &Pieces::none() },
            sums: &[],
            known: &[],
            ..*options
        };
        let callee = module.functions[variant.callee].clone();
        let (new, more) = match vectorize_callee(module, &callee, &asked) {
            Ok(new) => new,
            Err(error) => {
                let symbol = module.symbol(&callee.name);
                if symbol.is_none_or(|s| {
                    functions_with_cross_lane_operations(module, &caller_of(module, &callee, s)).contains(s)
                }) {
                    return Err(error);
                }
                let caller = caller_of(module, &callee, symbol.expect("it is called by its name"));
                let lane_by_lane = Options { callees: &NoCallees, ..asked };
                vectorize_callee(module, &caller, &lane_by_lane).map_err(|_| error)?
            }
        };
        made.push(new.func);
        work.extend(more);
    }
    Ok(made)
}

/// A function that does nothing but call another.
fn caller_of(module: &Module, callee: &Function, symbol: Symbol) -> Function {
    let mut caller = Function::new(&callee.name, callee.ret);
    (caller.origin, caller.loc) = (callee.origin, callee.loc);
    let args: Vec<Value> =
        callee.params.iter().map(|&p| caller.add_param(callee.ty(p), &callee.values[p].name)).collect();
    let entry = caller.add_block("");
    let effects = module.symbols[symbol].effects;
    let call = Op::Call(Box::new(CallInfo { callee: Some(symbol), effects, variadic_fixed: None }));
    let call = caller.append(entry, call, &args, callee.ret);
    let result: Vec<Value> = caller.insts[call].result().into_iter().collect();
    caller.set_terminator(entry, Op::Ret, &result, &[]);
    caller
}
