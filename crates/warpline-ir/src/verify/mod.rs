//! The verifier: what holds for every function between passes.
//!
//! # Invariants
//!
//! Each has a [`Rule`], and every error names the one that is broken.
//!
//! *Structure*, for every block of the layout, reachable or not:
//! 1. [`Rule::Ids`]: every id that the function mentions is one of its own (or of its module).
//! 2. [`Rule::Layout`]: there is an entry block, and no block stands twice in the layout.
//! 3. [`Rule::Order`]: a block's φs are φs, its instructions are neither φs nor terminators, and it has a
//!    terminator. An instruction is in one list only, and its `block` is the block it is in.
//! 4. [`Rule::Edges`]: a terminator has as many edges as its operation demands, other instructions have none. An
//!    edge belongs to one terminator, begins in that terminator's block and ends in a block of the layout.
//! 5. [`Rule::Preds`]: the in-edges of a block are exactly the edges that end there, each once and where it says
//!    that it stands.
//! 6. [`Rule::PhiOperands`]: an edge has one operand for each φ of its target.
//! 7. [`Rule::Entry`]: no edge leads to the entry, and it has no φs.
//!
//! *Values:*
//!
//! 8. [`Rule::Definitions`]: results, parameters and constants say truly how they are defined, and a constant has
//!    its value's type.
//! 9. [`Rule::Results`]: an instruction has the number of results of its operation; none is `void`.
//! 10. [`Rule::Operands`]: it has the number of operands of its operation.
//! 11. [`Rule::Types`]: operands and results have types that go together, case values and index paths exist,
//!     alignments are powers of two.
//! 12. [`Rule::Flags`]: flags stand only where LLVM allows them.
//! 13. [`Rule::Calls`]: a direct call names a function and passes it what its declaration asks for.
//! 14. [`Rule::Masks`]: a block's mask is an `i1`, and is defined in a block that dominates this one, or in this
//!     one.
//! 15. [`Rule::Dominance`]: in reachable blocks a definition dominates its uses. A φ operand is used at the end of
//!     the block where its edge begins, behind the terminator (whose result may so be used on each of its edges,
//!     although LLVM gives that of an `invoke` to one only). Unreachable blocks may use what they like, as long as
//!     its definition is in the function.
//!
//! 16. [`Rule::Sigmas`]: σs stand behind all other instructions of their block and have one result per out-edge.
//! 17. [`Rule::Phase`]: the rules of the function's [phase](crate::Phase) hold.
//!
//! For dominance, the operand of a σ is used behind the terminator of its block, and result *k* is defined on
//! out-edge *k*: it may be a φ operand on that edge, and may be used wherever control must have passed the edge.
//!
//! Functions in a form that is not strict ([`verify_non_strict`]) are excused from dominance alone: a value may be
//! used where control need not have passed its definition, and means poison then.
//!
//! The checks of values run only when the structure is sound. Time is linear in the function's size (and
//! near it for dominators, which are computed once).

mod dominance;
mod structure;
mod types;

use std::fmt;

use crate::text::{Place, print_function_with};
use crate::{Function, Module, Type};

/// An invariant; the module documentation lists them.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the module documentation explains each rule")]
#[non_exhaustive]
pub enum Rule {
    Ids,
    Layout,
    Order,
    Edges,
    Preds,
    PhiOperands,
    Entry,
    Definitions,
    Results,
    Operands,
    Types,
    Flags,
    Calls,
    Masks,
    Dominance,
    Sigmas,
    Phase,
}

/// A broken invariant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    /// Which one.
    pub rule: Rule,
    /// Where.
    pub place: Place,
    /// What is wrong.
    pub message: String,
}

/// Everything that is wrong with a function; displayed as its listing with the errors at their places.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyErrors {
    /// The name of the function.
    pub function: String,
    /// The errors, at least one.
    pub errors: Vec<VerifyError>,
    listing: String,
}

impl fmt::Display for VerifyErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "function @{} breaks the rules of the IR:", self.function)?;
        f.write_str(&self.listing)
    }
}

impl std::error::Error for VerifyErrors {}

/// Checks a function against all invariants.
///
/// # Errors
/// All broken invariants; those of values only if the structure is sound.
pub fn verify(module: &Module, func: &Function) -> Result<(), VerifyErrors> {
    verify_as(module, func, true)
}

/// Checks a function against all invariants but that a definition dominates its uses: what SSA construction makes if
/// not asked for a strict form. Definitions must be in the function all the same.
///
/// # Errors
/// As those of [`verify`].
pub fn verify_non_strict(module: &Module, func: &Function) -> Result<(), VerifyErrors> {
    verify_as(module, func, false)
}

fn verify_as(module: &Module, func: &Function, strict: bool) -> Result<(), VerifyErrors> {
    let mut checker = Checker { module, func, errors: Vec::new() };
    if checker.ids() {
        checker.structure();
        if checker.errors.is_empty() {
            checker.values();
            checker.dominance(strict);
        }
        if checker.errors.is_empty()
            && let Some(message) = func.phase.violation(func)
        {
            checker.error(
                Rule::Phase,
                Place::Function,
                format!("as a {} function: {message}", func.phase.name()),
            );
        }
    }
    let errors = checker.errors;
    if errors.is_empty() {
        return Ok(());
    }
    let line = |e: &VerifyError| format!("error: {:?}: {}", e.rule, e.message);
    let listing = if errors.iter().any(|e| e.rule == Rule::Ids) {
        // A listing would follow ids that lead nowhere.
        errors.iter().map(|e| line(e) + "\n").collect()
    } else {
        print_function_with(module, func, |place| {
            errors.iter().filter(|e| e.place == place).map(line).collect()
        })
    };
    Err(VerifyErrors { function: func.name.to_string(), errors, listing })
}

/// Checks all functions of a module; see [`verify`].
///
/// # Errors
/// Those of the first function that breaks an invariant.
pub fn verify_module(module: &Module) -> Result<(), VerifyErrors> {
    module.functions.values().try_for_each(|f| verify(module, f))
}

struct Checker<'a> {
    module: &'a Module,
    func: &'a Function,
    errors: Vec<VerifyError>,
}

impl Checker<'_> {
    fn error(&mut self, rule: Rule, place: Place, message: impl Into<String>) {
        self.errors.push(VerifyError { rule, place, message: message.into() });
    }

    fn values(&mut self) {
        let func = self.func;
        for &b in &func.layout {
            for inst in func.block_insts(b) {
                if let Err((rule, message)) = types::check(self.module, func, inst) {
                    self.error(rule, Place::Inst(inst), message);
                }
            }
            if let Some(m) = func.blocks[b].mask.expand()
                && func.ty(m) != Type::BOOL
            {
                self.error(Rule::Masks, Place::Block(b), "the mask is no i1");
            }
            for &e in func.out_edges(b) {
                let edge = &func.edges[e];
                for (i, (&a, &phi)) in edge.args.iter().zip(&func.blocks[edge.to].phis).enumerate() {
                    let wanted = func.insts[phi].result().map(|r| func.ty(r));
                    if wanted != Some(func.ty(a)) {
                        let message = format!(
                            "operand {i} on the edge to {} has another type than its phi",
                            func.block_name(edge.to)
                        );
                        self.error(Rule::Types, Place::Inst(func.terminator(b)), message);
                    }
                }
            }
        }
    }
}
