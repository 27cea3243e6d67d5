//! The text form of modules: a printer and a parser that are each other's inverse.
//!
//! Printing what was parsed from printed text gives the same bytes. The parser never panics; what it rejects
//! it rejects with a line, a column and a typed reason ([`ParseError`]).
//!
//! # The form
//!
//! ```text
//! ; a comment, up to the end of the line
//! module "kernel.ll"
//! triple "x86_64-unknown-linux-gnu"
//! layout "e-m:e-i64:64"
//!
//! type %pair = { i32, float }
//! global @table: [2 x i8] align 1 = "\00\01"
//! declare @sinf(float) -> float [reads]
//!
//! func @f(%n: i32, %p: ptr) -> i32 {
//!   var $acc: i32
//! entry:
//!   br loop(0, 1)
//! loop mask %m:
//!   %i: i32 = phi
//!   %m: i1 = phi
//!   %i.next: i32 = add nuw %i, 1 !0
//!   %c: i1 = icmp ult %i.next, %n
//!   br %c, loop(%i.next, %c), b2
//! b2:
//!   ret %i
//! }
//!
//! !0 = "kernel.c":3:7
//! ```
//!
//! * A line holds one instruction; inside `()` and `[]` it may be broken.
//! * Values `%name`, variables `$name`, symbols `@name`, blocks `name`. A name that is not made of letters,
//!   digits, `.`, `_` and `$` stands in quotation marks, `%"a b"`, with `\xx` for any byte.
//! * Whatever has no name, or shares its name with something earlier in the function, is called by its id:
//!   `%v12`, `$x3`, `b2`. The parser gives it that id again. A name that looks like an id is quoted.
//! * `%p: ptr align 16 dereferenceable 64 noalias local private exclusive unique`, any of these: what callers promise
//!   of a pointer.
//! * A variable holds `poison` until it is written, or `undef` if its line says so: `var $acc: i32 = undef`.
//! * φ operands stand on the edges, `loop(%i.next, %c)`, in the order of the target's φs.
//! * An operand is a name, or a constant behind its type: `i32 1`. The type is left out where the instruction
//!   fixes it, as in `add` (the result's type) or on an edge (the φ's type).
//! * Integers are signed decimals (wider than 128 bits: `0x` and all digits), booleans `true` and `false`;
//!   `float` and `double` are the shortest decimal that reads back exactly, all other numbers `0x` and the
//!   bits. Other constants: `null`, `undef`, `poison`, `zero`, `@symbol+8` (with
//!   `from #o3` behind it if it stands for more than that), `<1, 2>` (vectors), `{1, 2}` (arrays
//!   and structures), `opaque #o7`.
//! * `[reads writes]` is an effect record, `[unknown]` all that an unknown call may do. A call without one does
//!   what its callee's declaration says.
//! * `func @f(%p: ptr) phase linearized {`: how far a function is on its way from one lane to several
//!   ([`Phase`](crate::Phase)). Scalar programs say nothing. `noinline` behind it: calls of the function stay calls.
//!   `sanitized` behind that: accesses of what is not there are reported when the function runs.
//! * `br %c, likely weight 9, rare weight 1`: how often the edges of a branch are taken, relative to each other.
//!   `rare weight 1 groups 3 of 40 by 8`: of 40 groups of 8 lanes that came to the branch, 3 had one that took the edge.
//! * `head few:` is the header of a loop that is executed where few iterations are left.
//! * `#o7` is an origin, `!3` a source location; the table of locations stands at the end of the module.

mod constants;
mod error;
mod function;
mod lex;
mod names;
mod parse;
mod print;
mod targets;

pub use error::{ParseError, ParseErrorKind};
pub use names::Names;
pub use parse::parse_module;
pub(crate) use print::print_function_with;
pub use print::{Place, constant_text, print_function, print_module, type_text};

use crate::{CallInfo, Constant, Function, Inst, LaneOp, Module, Op, SymbolKind, Type};

/// The type that operand `index` of an instruction has by its form. The printer leaves the type of a constant
/// out where it is this one; the parser fills it in.
fn expected_type(module: &Module, func: &Function, inst: Inst, index: usize) -> Option<Type> {
    let data = &func.insts[inst];
    let result = data.results.first().map(|&r| func.ty(r));
    match &data.op {
        Op::Binary(_) | Op::FNeg | Op::Freeze | Op::Sigma => result,
        Op::ICmp(_) | Op::FCmp(_) | Op::Shuffle(_) => (index == 1).then(|| func.ty(data.args[0])),
        Op::Select | Op::Lane(LaneOp::Blend | LaneOp::BlendAny) => {
            if index == 0 {
                Some(Type::BOOL)
            } else {
                result
            }
        }
        Op::InsertElement | Op::InsertValue(_) => result.filter(|_| index == 0),
        Op::Load(_) | Op::Gep(_) => (index == 0).then_some(Type::PTR),
        Op::Store(_) => (index == 1).then_some(Type::PTR),
        Op::Call(info) => call_parameter(module, info, index),
        Op::WriteVar(x) => Some(func.vars[*x].ty),
        Op::ParallelCopy => data.results.get(index).map(|&r| func.ty(r)),
        Op::Lane(op) => {
            // The type of elements is that of the result, if it has one.
            let elem = result.filter(|_| *op != LaneOp::Compact).unwrap_or(Type::Void);
            op.signature(elem).0.get(index).copied().filter(|ty| !ty.is_void())
        }
        Op::CondBr => Some(Type::BOOL),
        Op::Ret => Some(func.ret),
        _ => None,
    }
}

fn call_parameter(module: &Module, info: &CallInfo, index: usize) -> Option<Type> {
    match &module.symbols.get(info.callee?)?.kind {
        SymbolKind::Function { params, .. } => params.get(index).copied(),
        _ => None,
    }
}

/// The type that member `index` of a composite constant has.
fn member_type(module: &Module, ty: Type, index: usize) -> Option<Type> {
    module.types.member(ty, index as u64)
}

/// Whether a constant is written between `<` and `>` instead of `{` and `}`.
fn is_vector(c: &Constant) -> bool {
    matches!(c, Constant::Composite { ty: Type::Vector(_), .. })
}
