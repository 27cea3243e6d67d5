//! Calls that no lanes can make: those that leave a function or come back to it by other ways than a return, and
//! those of functions that are for a whole work-group.
//!
//! Lanes that run together have one stack and one program counter, so a second return (`setjmp`), a jump out of the
//! function (`longjmp`), an exception or a suspension would be one for all of them. That holds too of functions that
//! a kernel calls, whether lanes call them together or one after the other: the jump leads out of the function.
//! [`check`] therefore looks at all functions of the module that can be reached by calls; [`check_own`] looks at one
//! function, of which a W-lane form is to be made.

use std::collections::HashMap;

use cranelift_entity::EntitySet;

use warpline_ir::demangle::{demangle_opencl, opencl_builtin_name};
use warpline_ir::group_functions::{GroupFunction, PRINTF_OF_OTHER_VECTORS};
use warpline_ir::{Block, Effects, FuncId, Function, Inst, Module, Op, OpaqueInfo, Symbol, SymbolKind, Type};
use warpline_uniformity::rules::called;

use super::call_graph::bodies;
use super::{Callees, VectorizeError};

/// Functions that return twice although their declaration may not say so.
const RETURN_TWICE: [&str; 11] = [
    "setjmp",
    "_setjmp",
    "__setjmp",
    "sigsetjmp",
    "__sigsetjmp",
    "_setjmpex",
    "savectx",
    "vfork",
    "__vfork",
    "getcontext",
    "llvm.eh.sjlj.setjmp",
];

/// Functions that continue where another one returned before.
const JUMPS: [&str; 8] = [
    "longjmp",
    "_longjmp",
    "siglongjmp",
    "__longjmp_chk",
    "_longjmp_unwind",
    "setcontext",
    "swapcontext",
    "llvm.eh.sjlj.longjmp",
];

/// Functions that throw or catch exceptions.
const EXCEPTIONS: [&str; 12] = [
    "__cxa_throw",
    "__cxa_rethrow",
    "__cxa_rethrow_primary_exception",
    "__cxa_begin_catch",
    "__cxa_end_catch",
    "__cxa_call_unexpected",
    "__cxa_bad_cast",
    "__cxa_bad_typeid",
    "__cxa_throw_bad_array_length",
    "__cxa_throw_bad_array_new_length",
    "_CxxThrowException",
    "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
];

/// And by how their names begin.
const EXCEPTION_PREFIXES: [&str; 3] = ["_Unwind_", "__gnu_unwind_", "llvm.wasm."];

/// What the names of the C++ library's functions that throw begin with, behind `_ZSt` and a length.
const THROW: &str = "__throw_";

/// What ends the program for an exception that reaches a function which must not throw.
const TERMINATE: &str = "__clang_call_terminate";

/// Where the frame of a function is given up or handed on, by prefix.
const FRAMES: [&str; 6] = [
    "llvm.coro.",
    "llvm.experimental.deoptimize",
    "llvm.experimental.gc.statepoint",
    "llvm.localescape",
    "llvm.localrecover",
    "llvm.icall.branch.funnel",
];

/// What the names of OpenCL's functions of images begin with.
const IMAGES: [&str; 4] = ["read_image", "write_image", "get_image_", "sampled_read_image"];

/// Checks a kernel and all functions of its module that it reaches.
///
/// # Errors
/// For the first call that no lanes can make, with its place in the kernel.
pub(super) fn check(module: &Module, func: &Function, callees: &dyn Callees) -> Result<(), VectorizeError> {
    check_own(module, func)?;
    let mut reach = Reach { module, bodies: bodies(module), callees, seen: EntitySet::new() };
    for i in reachable_insts(func) {
        for target in reach.targets(func, i) {
            if let Some((function, reason)) = reach.refusal(target) {
                let reason = format!("it leads to `{function}`, where {reason}");
                return Err(VectorizeError::at_inst(func, i, reason));
            }
        }
    }
    Ok(())
}

/// Checks what a function calls itself.
///
/// # Errors
/// For the first call that no lanes can make.
pub(super) fn check_own(module: &Module, func: &Function) -> Result<(), VectorizeError> {
    let is_defined = |symbol: Symbol| module.function(&module.symbols[symbol].name).is_some();
    for i in reachable_insts(func) {
        let reason = by_callee(module, func, i, &is_defined).or_else(|| by_form(module, func, i));
        if let Some(reason) = reason {
            return Err(VectorizeError::at_inst(func, i, reason));
        }
    }
    Ok(())
}

/// The first call in some blocks of a function that no lanes can make.
pub(super) fn first_in(
    module: &Module,
    func: &Function,
    is_in: impl Fn(Block) -> bool,
) -> Option<VectorizeError> {
    let bodies = bodies(module);
    let is_defined = |symbol: Symbol| bodies.contains_key(&symbol);
    let mut insts = func.layout.iter().filter(|&&b| is_in(b)).flat_map(|&b| func.block_insts(b));
    insts.find_map(|i| {
        let reason = by_callee(module, func, i, &is_defined).or_else(|| by_form(module, func, i))?;
        Some(VectorizeError::at_inst(func, i, reason))
    })
}

/// Checks the calls of a function that has a loop to vectorize, as far as they stand outside of the loop.
///
/// # Errors
/// If the function calls what returns twice: the loop may be left for there.
pub(super) fn check_around(module: &Module, func: &Function) -> Result<(), VectorizeError> {
    for i in reachable_insts(func) {
        if let Some(called) = called(module, func, i)
            && (called.effects.contains(Effects::RETURNS_TWICE) || RETURN_TWICE.contains(&called.name()))
        {
            let reason = format!(
                "`{}` returns twice, and what is called in the loop may jump back to it when only some lanes have come \
                    so far; move the loop \
                 to a function of its own",
                called.name()
            );
            return Err(VectorizeError::at_inst(func, i, reason));
        }
    }
    Ok(())
}

/// What can be reached by calls.
struct Reach<'a> {
    module: &'a Module,
    bodies: HashMap<Symbol, FuncId>,
    callees: &'a dyn Callees,
    seen: EntitySet<FuncId>,
}

impl Reach<'_> {
    /// The functions of the module that a call may run.
    fn targets(&self, func: &Function, i: Inst) -> Vec<FuncId> {
        let Some(called) = called(self.module, func, i) else { return Vec::new() };
        if let Some((symbol, name)) = called.callee {
            return self.bodies.get(&symbol).copied().filter(|_| name != TERMINATE).into_iter().collect();
        }
        let data = &func.insts[i];
        let args = data.args.split_last().map_or(&[][..], |(_, args)| args);
        let ret = data.result().map_or(Type::Void, |v| func.ty(v));
        let fits = |f: &Function| {
            let types = args.iter().map(|&a| func.ty(a));
            f.ret == ret && (f.variadic || f.params.iter().map(|&p| f.ty(p)).eq(types))
        };
        let all = self.module.functions.iter();
        all.filter(|&(id, f)| fits(f) && self.callees.has_address_taken(self.module, id))
            .map(|(id, _)| id)
            .collect()
    }

    /// What is to be said of a refused call beside the reason, if the function that makes it could not become part of a
    /// kernel that calls it.
    fn of_recursion(&self, function: FuncId, call: Inst) -> String {
        let func = &self.module.functions[function];
        let callee = called(self.module, func, call).and_then(|called| called.callee);
        let is_of_group = callee.is_some_and(|callee| GroupFunction::of(self.module, callee.0).is_some());
        if !is_of_group || !self.calls_itself(function) {
            return String::new();
        }
        format!(
            ". What a kernel calls for that becomes part of it, which `{}` cannot, since it calls itself: write it \
             as a loop",
            func.name
        )
    }

    /// Whether a function calls itself, perhaps by way of others.
    fn calls_itself(&self, function: FuncId) -> bool {
        let callees = |id: FuncId| {
            let func = &self.module.functions[id];
            reachable_insts(func).flat_map(|i| self.targets(func, i)).collect::<Vec<_>>()
        };
        let (mut seen, mut work) = (EntitySet::new(), callees(function));
        while let Some(id) = work.pop() {
            if id == function {
                return true;
            }
            if seen.insert(id) {
                work.extend(callees(id));
            }
        }
        false
    }

    /// The function in which something is refused that a function calls or leads to, and why.
    fn refusal(&mut self, from: FuncId) -> Option<(Box<str>, String)> {
        let mut work = vec![from];
        while let Some(id) = work.pop() {
            if !self.seen.insert(id) {
                continue;
            }
            let func = &self.module.functions[id];
            for i in reachable_insts(func) {
                // That something may unwind through a function that is called does not matter as long as nobody
                // throws or catches.
                let is_defined = |symbol: Symbol| self.bodies.contains_key(&symbol);
                if let Some(reason) = by_callee(self.module, func, i, &is_defined) {
                    return Some((func.name.clone(), reason + &self.of_recursion(id, i)));
                }
                work.extend(self.targets(func, i));
            }
        }
        None
    }
}

/// The instructions that control can reach, if calls unwind only where they say that they may.
fn reachable_insts(func: &Function) -> impl Iterator<Item = Inst> + '_ {
    let mut seen: EntitySet<Block> = EntitySet::new();
    let mut work: Vec<Block> = func.layout.first().copied().into_iter().collect();
    while let Some(b) = work.pop() {
        if !seen.insert(b) {
            continue;
        }
        let never_unwinds = match &func.insts[func.terminator(b)].op {
            Op::OpaqueTerm(info) => &*info.name == "invoke" && !info.effects.contains(Effects::UNWINDS),
            _ => false,
        };
        work.extend(func.successors(b).take(if never_unwinds { 1 } else { usize::MAX }));
    }
    func.layout.iter().filter(move |&&b| seen.contains(b)).flat_map(|&b| func.block_insts(b))
}

/// Why no lanes can make a call, by the function that is called.
fn by_callee(
    module: &Module,
    func: &Function,
    i: Inst,
    is_defined: &dyn Fn(Symbol) -> bool,
) -> Option<String> {
    let called = called(module, func, i)?;
    let twice = called.effects.contains(Effects::RETURNS_TWICE);
    let Some((symbol, name)) = called.callee else {
        return twice.then(|| returning_twice("a function that is called through a pointer"));
    };
    if twice {
        return Some(returning_twice(&format!("`{name}`")));
    }
    // A function with a body is what its body says.
    if is_defined(symbol) {
        return None;
    }
    by_declaration(module, symbol)
        .or_else(|| of_opencl(name, called.effects.contains(Effects::CONVERGENT)))
        .or_else(|| printing_vectors(func, i, name))
}

/// Why no lanes can make a call, by the manner in which it is made.
fn by_form(module: &Module, func: &Function, i: Inst) -> Option<String> {
    let (Op::Opaque(info) | Op::OpaqueTerm(info)) = &func.insts[i].op else { return None };
    let name = called(module, func, i)?
        .callee
        .map_or("a function by its address".to_owned(), |(_, n)| format!("`{n}`"));
    match &*info.name {
        OpaqueInfo::MUST_TAIL => Some(format!(
            "it calls {name} as `musttail`, the last thing that the function does, and lanes that run together come \
                back to what is behind a \
             call; take the attribute away"
        )),
        "invoke" if info.effects.contains(Effects::UNWINDS) => Some(format!(
            "`invoke` calls a function that may unwind, and lanes cannot unwind separately: {name}; if it never \
                throws, declare it \
             `noexcept` (`nounwind`)"
        )),
        _ => None,
    }
}

/// Why no lanes can call a function, by its declaration.
fn by_declaration(module: &Module, symbol: Symbol) -> Option<String> {
    let data = &module.symbols[symbol];
    let name = &*data.name;
    let SymbolKind::Function { params, .. } = &data.kind else { return None };
    let begins = |list: &[&str]| list.iter().any(|p| name.starts_with(p));
    if RETURN_TWICE.contains(&name) && params.first().is_none_or(|p| p.is_ptr()) {
        return Some(returning_twice(&format!("`{name}`")));
    }
    if JUMPS.contains(&name) && params.first().is_some_and(|p| p.is_ptr()) {
        return Some(format!(
            "`{name}` continues where another function returned before, for all lanes, whichever of them calls it"
        ));
    }
    if EXCEPTIONS.contains(&name) || begins(&EXCEPTION_PREFIXES) || is_library_throw(name) {
        return Some(format!(
            "`{name}` is for exceptions, and lanes cannot unwind separately; return a value that says what has gone \
                wrong, and throw behind \
             the kernel or loop"
        ));
    }
    if begins(&FRAMES) {
        return Some(format!(
            "`{name}` suspends or hands on a whole frame, and lanes that run together have one frame"
        ));
    }
    GroupFunction::of(module, symbol).map(|function| of_group(name, function))
}

/// Why lanes cannot call a function that OpenCL C or the program declares and nobody defines. In OpenCL C it is said of
/// all functions whose bodies are not known that they may depend on which work-items call them together.
fn of_opencl(name: &str, convergent: bool) -> Option<String> {
    let builtin = opencl_builtin_name(name).filter(|_| convergent)?;
    let shown = demangle_opencl(name);
    if IMAGES.iter().any(|start| builtin.starts_with(start)) {
        return Some(format!(
            "the builtin `{shown}` is for images, which no memory of a program on the CPU is; pass a buffer, and \
             compute where in it a pixel is"
        ));
    }
    Some(format!(
        "the builtin `{shown}` is not defined; is the name right, and are the operands of types that OpenCL C has it \
         for? A function of your own needs its body in the same file"
    ))
}

/// Why lanes cannot call `printf` with vectors that are not taken apart: the C library's prints numbers only.
fn printing_vectors(func: &Function, i: Inst, name: &str) -> Option<String> {
    let vectors = func.insts[i].args.iter().any(|&a| matches!(func.ty(a), Type::Vector(_)));
    (name == PRINTF_OF_OTHER_VECTORS || name == "printf" && vectors).then(|| {
        "`printf` has a vector that its format does not say: write the format as a literal in the call, with `%v4hlf` \
         for `float4`, `%v4hhd` for `char4`, or print each element by itself"
            .to_owned()
    })
}

/// Why lanes cannot call a function that is for a work-group.
fn of_group(mangled: &str, function: GroupFunction) -> String {
    let name = demangle_opencl(mangled);
    match function {
        GroupFunction::Barrier => format!(
            "all work-items of a group wait for each other at `{name}`, and a group is more than the lanes that run \
                together; make two kernels \
             of what is before and behind it"
        ),
        GroupFunction::Collective { .. } => format!(
            "all work-items of a group call `{name}` together, and a group is more than the lanes that run together; \
                between lanes there are \
             lane operations (`warpline.h`)"
        ),
        GroupFunction::LaneNumber | GroupFunction::GroupNumber => format!(
            "`{name}` asks about work-items what no parameter of a kernel says; compute it from `get_global_id` and \
                similar"
        ),
        GroupFunction::Query(..) => format!(
            "`{name}` asks which work-item it is, and only a kernel itself can ask that, with what is inlined into it"
        ),
    }
}

fn returning_twice(name: &str) -> String {
    format!(
        "{name} returns twice, and lanes that run together have one stack, so that they would all return when one of \
            them does; keep it out of \
         kernels and of loops to vectorize"
    )
}

/// Whether a function of the C++ library throws, by its mangled name `_ZSt<length>__throw_…`.
fn is_library_throw(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("_ZSt") else { return false };
    rest.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(THROW)
}
