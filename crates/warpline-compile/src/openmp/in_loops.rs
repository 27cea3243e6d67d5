//! What OpenMP leaves within loops: blocks to be executed in order, and calls of the runtime library, which are for
//! threads.

use warpline_ir::{Block, Function, Inst, Module, Op, Value};
use warpline_llvm::openmp::is_ordered_block;
use warpline_vectorize::loops::Nest;

use crate::error::{Error, Result};

/// Checks that a loop does nothing that is for threads, and that blocks to be executed in order share no variable
/// with the rest of the loop that all its iterations have in common: of that there is one for all lanes.
///
/// # Errors
/// With the name of the directive or the variable.
pub(crate) fn check(module: &Module, func: &Function, header: Block, place: &str) -> Result<()> {
    let l = InLoop { module, func, header, nest: Nest::of(func) };
    for inst in l.insts(true) {
        let Some(callee) = l.callee(inst) else { continue };
        let reason = match of_runtime(callee) {
            Some(directive) => format!("`#pragma omp {directive}` in it is for threads: it calls `{callee}`"),
            None if is_ordered_block(callee) && l.is_in_inner_loop(inst) => {
                let reason = "stands in a loop within it: an iteration executes one such block once";
                format!("`#pragma omp ordered simd` {reason}")
            }
            None if is_ordered_block(callee) => match l.shared(inst) {
                Some(variable) => format!(
                    "`#pragma omp ordered simd` in it uses `{variable}`, which is used in the rest of the loop \
                     and outside of it, too: copy it to a variable declared in the loop"
                ),
                None => continue,
            },
            None => continue,
        };
        return Err(Error::Vectorize(format!("the loop at {place} cannot be vectorized: {reason}")));
    }
    Ok(())
}

/// The directive, in words, that makes compilers call a function of OpenMP's runtime library.
fn of_runtime(callee: &str) -> Option<&'static str> {
    const DIRECTIVES: [(&str, &str); 16] = [
        ("fork_", "parallel"),
        ("push_num_threads", "parallel"),
        ("for_", "for"),
        ("dist", "for"),
        ("reduce", "for reduction"),
        ("end_reduce", "for reduction"),
        ("critical", "critical"),
        ("end_critical", "critical"),
        ("ordered", "ordered"),
        ("end_ordered", "ordered"),
        ("doacross", "ordered"),
        ("single", "single"),
        ("ma", "masked"),
        ("barrier", "barrier"),
        ("flush", "flush` or `#pragma omp atomic seq_cst"),
        ("omp_task", "task"),
    ];
    let rest = callee.strip_prefix("__kmpc_")?;
    let known = DIRECTIVES.iter().find(|(begins, _)| rest.starts_with(begins));
    Some(known.map_or("parallel", |(_, directive)| directive))
}

/// A loop within its function.
struct InLoop<'a> {
    module: &'a Module,
    func: &'a Function,
    header: Block,
    nest: Nest,
}

impl InLoop<'_> {
    /// The instructions within the loop, or those outside of it.
    fn insts(&self, inside: bool) -> impl Iterator<Item = Inst> + '_ {
        let is_inside = |b: Block| self.nest.around(b).any(|header| header == self.header);
        let blocks = self.func.layout.iter().filter(move |&&b| is_inside(b) == inside);
        blocks.flat_map(|&b| self.func.block_insts(b))
    }

    fn is_in_inner_loop(&self, inst: Inst) -> bool {
        self.nest.around(self.func.insts[inst].block).next() != Some(self.header)
    }

    fn callee(&self, inst: Inst) -> Option<&str> {
        let Op::Call(call) = &self.func.insts[inst].op else { return None };
        Some(&self.module.symbols[call.callee?].name)
    }

    /// An object on the stack that a call gets, and that is used both within the loop and outside of it, too.
    fn shared(&self, call: Inst) -> Option<String> {
        let objects = self.func.insts[call].args.iter().filter_map(|&argument| self.object(argument));
        let is_used =
            |object: Value, inside: bool| self.insts(inside).any(|i| i != call && self.accesses(i, object));
        let mut shared = objects.filter(|&object| is_used(object, true) && is_used(object, false));
        shared.next().map(|object| self.func.value_name(object).trim_start_matches('%').to_owned())
    }

    /// The object on the stack that an address leads into.
    fn object(&self, address: Value) -> Option<Value> {
        Some(self.func.address_base(address)).filter(|&base| self.func.is_alloca(base))
    }

    /// Whether an instruction does more with an object than to compute an address in it or to mark its lifetime.
    fn accesses(&self, inst: Inst, object: Value) -> bool {
        let data = &self.func.insts[inst];
        let is_address = matches!(data.op, Op::Gep(_) | Op::Cast(_) | Op::Alloca { .. });
        let is_marker = self.callee(inst).is_some_and(|name| name.starts_with("llvm.lifetime."));
        !is_address && !is_marker && data.args.iter().any(|&a| self.object(a) == Some(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_the_runtime_library_are_told_by_their_directives() {
        assert_eq!(of_runtime("__kmpc_critical"), Some("critical"));
        assert_eq!(of_runtime("__kmpc_for_static_init_4"), Some("for"));
        assert_eq!(of_runtime("__kmpc_barrier"), Some("barrier"));
        assert_eq!(of_runtime("omp_get_thread_num"), None);
    }
}
