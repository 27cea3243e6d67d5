//! Functions that machine code would call and that are nowhere: it would end this process, with other functions to
//! come.

use std::collections::HashSet;

use warpline::demangle;
use warpline::ir::{Block, FuncId, Function, Module, Op};
use warpline::uniformity::rules::called;
use warpline_llvm::process_has_symbol;

/// How the names of functions begin that are none of the program's: LLVM's, and those of lanes.
const KNOWN: [&str; 2] = ["llvm.", "warpline_"];

/// The first function that this one calls, itself or in others, whose body is not here and that this process does not
/// have. Calls on the way to the end of the program are none: data for which that goes well does not come to them.
pub(super) fn first(module: &Module, func: FuncId) -> Option<String> {
    let (mut work, mut seen) = (vec![func], HashSet::from([func]));
    while let Some(id) = work.pop() {
        let func = &module.functions[id];
        for inst in func.layout.iter().filter(|&&b| !is_last(func, b)).flat_map(|&b| func.block_insts(b)) {
            let Some(call) = called(module, func, inst).filter(|call| call.callee.is_some()) else {
                continue;
            };
            match module.function(call.name()).filter(|&id| !module.functions[id].layout.is_empty()) {
                Some(callee) => work.extend(seen.insert(callee).then_some(callee)),
                None if is_missing(call.name()) => return Some(call.name().to_owned()),
                None => {}
            }
        }
    }
    None
}

fn is_last(func: &Function, b: Block) -> bool {
    matches!(func.insts[func.terminator(b)].op, Op::Unreachable)
}

/// How names of functions begin that allocate memory: in Rust and C++, as in the source, and in what compilers write.
const ALLOCATE: [&str; 3] = ["operator new", "__rust", "alloc::"];

/// Why a function that calls this one cannot be run.
pub(super) fn why(name: &str) -> String {
    let shown = demangle(name);
    let rest = "`warpline vectorize` makes code of it all the same";
    if ALLOCATE.iter().any(|begin| shown.starts_with(begin)) || shown.contains("_rust_alloc") {
        return format!("it allocates memory, which a run of a single function does not do; {rest}");
    }
    format!("it calls `{shown}`, which is not in this file; {rest}")
}

/// Whether a function is nowhere, as far as it is one of the program's.
pub(super) fn is_missing(name: &str) -> bool {
    !KNOWN.iter().any(|known| name.starts_with(known)) && !process_has_symbol(name)
}
