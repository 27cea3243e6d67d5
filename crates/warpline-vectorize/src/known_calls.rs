//! What is known of calls by their names: which have vector forms, are mathematics, or only inform the optimiser.

use crate::exact::Exact;
use warpline_ir::{BinaryOp, FloatKind, InstData, Module, Op, Type};

/// How the vector form of an intrinsic is named and called.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// All operands become vectors; the name ends in the vector type of the first operand.
    Elementwise,
    /// As `Elementwise`, but the last operand stays a scalar constant.
    LastScalar,
    /// As `LastScalar`, and the name ends in the last operand's type too.
    LastScalarNamed,
    /// All operands become vectors; the name ends in the vector types of result and first operand.
    Converting,
}

const ELEMENTWISE: &[&str] = &[
    "arithmetic.fence",
    "bitreverse",
    "bswap",
    "canonicalize",
    "ceil",
    "copysign",
    "ctpop",
    "fabs",
    "floor",
    "fma",
    "fmuladd",
    "fshl",
    "fshr",
    "maximum",
    "maximumnum",
    "maxnum",
    "minimum",
    "minimumnum",
    "minnum",
    "nearbyint",
    "rint",
    "round",
    "roundeven",
    "sadd.sat",
    "sadd.with.overflow",
    "smax",
    "smin",
    "smul.with.overflow",
    "sqrt",
    "sshl.sat",
    "ssub.sat",
    "ssub.with.overflow",
    "trunc",
    "uadd.sat",
    "uadd.with.overflow",
    "umax",
    "umin",
    "umul.with.overflow",
    "ushl.sat",
    "usub.sat",
    "usub.with.overflow",
];

/// Whether calls of a function have a vector form that is a few instructions (`true`) or that a library of vector
/// math may have (`false`); `None` if they are made once for each lane.
pub(crate) fn has_cheap_vector_form(name: &str, result: Type) -> Option<bool> {
    if vector_intrinsic(name).is_some() || instruction(name, result).is_some() {
        return Some(true);
    }
    (Exact::of(name, result).is_some() || libm_name(name, result).is_some()).then_some(false)
}

/// The C library's name of a mathematics function that a library of vector mathematics may have, by the name and the
/// result of calls: `llvm.exp.f32` and `expf` both give `expf`. Functions with one right result are none of them.
pub fn mathematics_function(name: &str, result: Type) -> Option<String> {
    match has_cheap_vector_form(name, result) {
        Some(false) => libm_name(name, result),
        _ => None,
    }
}

/// Whether a function of the C library is mathematics that writes nothing but `errno`, by its name and the type of its
/// result. `lgamma` writes `signgam`.
pub fn writes_only_errno(name: &str, result: Type) -> bool {
    !name.starts_with("llvm.")
        && !name.starts_with("lgamma")
        && (instruction(name, result).is_some()
            || Exact::of(name, result).is_some()
            || libm_name(name, result).is_some())
}

/// The base name (`llvm.sqrt`) and form of an intrinsic that has a vector form.
pub(crate) fn vector_intrinsic(name: &str) -> Option<(&str, Form)> {
    let rest = name.strip_prefix("llvm.")?;
    let has = |base: &str| rest.strip_prefix(base).is_some_and(|r| r.starts_with('.'));
    let found = |base: &str, form: Form| Some((&name[.."llvm.".len() + base.len()], form));
    if let Some(base) = ELEMENTWISE.iter().find(|b| has(b)) {
        // `llvm.trunc` and `llvm.round` are prefixes of nothing else that takes this path.
        return found(base, Form::Elementwise);
    }
    for base in ["abs", "ctlz", "cttz", "is.fpclass"] {
        if has(base) {
            return found(base, Form::LastScalar);
        }
    }
    if has("powi") {
        return found("powi", Form::LastScalarNamed);
    }
    for base in ["fptosi.sat", "fptoui.sat", "scmp", "ucmp"] {
        if has(base) {
            return found(base, Form::Converting);
        }
    }
    None
}

/// Functions of the C mathematics library that are an instruction each on most machines, without their `f` for
/// `float`, and the intrinsics for them. Front ends call some of them where they may set `errno`.
const INSTRUCTIONS: &[(&str, &str)] = &[
    ("ceil", "llvm.ceil"),
    ("copysign", "llvm.copysign"),
    ("fabs", "llvm.fabs"),
    ("floor", "llvm.floor"),
    ("fma", "llvm.fma"),
    ("fmax", "llvm.maxnum"),
    ("fmin", "llvm.minnum"),
    ("nearbyint", "llvm.nearbyint"),
    ("rint", "llvm.rint"),
    ("round", "llvm.round"),
    ("roundeven", "llvm.roundeven"),
    ("sqrt", "llvm.sqrt"),
    ("trunc", "llvm.trunc"),
];

/// The base name of the intrinsic that a function of the C mathematics library is.
pub fn instruction(name: &str, result: Type) -> Option<&'static str> {
    let base = name.strip_suffix(libm_suffix(result)?)?;
    INSTRUCTIONS.iter().find(|(function, _)| *function == base).map(|&(_, intrinsic)| intrinsic)
}

/// How two elements become one in a reduction.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Fold {
    /// By an operation.
    Binary(BinaryOp),
    /// By an intrinsic of this base name.
    Intrinsic(&'static str),
}

/// What `llvm.vector.reduce.` followed by `kind` does with two elements.
pub(crate) fn reduction(kind: &str) -> Option<Fold> {
    Some(match kind.split('.').next()? {
        "add" => Fold::Binary(BinaryOp::Add),
        "mul" => Fold::Binary(BinaryOp::Mul),
        "and" => Fold::Binary(BinaryOp::And),
        "or" => Fold::Binary(BinaryOp::Or),
        "xor" => Fold::Binary(BinaryOp::Xor),
        "fadd" => Fold::Binary(BinaryOp::FAdd),
        "fmul" => Fold::Binary(BinaryOp::FMul),
        "smax" => Fold::Intrinsic("llvm.smax"),
        "smin" => Fold::Intrinsic("llvm.smin"),
        "umax" => Fold::Intrinsic("llvm.umax"),
        "umin" => Fold::Intrinsic("llvm.umin"),
        "fmax" => Fold::Intrinsic("llvm.maxnum"),
        "fmin" => Fold::Intrinsic("llvm.minnum"),
        "fmaximum" => Fold::Intrinsic("llvm.maximum"),
        "fminimum" => Fold::Intrinsic("llvm.minimum"),
        _ => return None,
    })
}

/// Whether an instruction is a call that only informs the optimiser or debugger and is dropped.
pub(crate) fn is_annotation(module: &Module, data: &InstData) -> bool {
    let Op::Call(call) = &data.op else { return false };
    let Some(callee) = call.callee else { return false };
    let name = &module.symbols[callee].name;
    let known = [
        "llvm.assume",
        "llvm.donothing",
        "llvm.experimental.noalias",
        "llvm.lifetime.",
        "llvm.dbg.",
        "llvm.sideeffect",
    ];
    data.results.is_empty() && known.iter().any(|p| name.starts_with(p))
}

/// Functions of the C mathematics library without side effects but `errno`, without their `f` for `float`.
const LIBM: &[&str] = &[
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "erf", "erfc", "exp",
    "exp10", "exp2", "expm1", "hypot", "lgamma", "log", "log10", "log1p", "log2", "pow", "sin", "sinh",
    "tan", "tanh", "tgamma",
];

/// What the C library's functions for a type end in.
fn libm_suffix(ty: Type) -> Option<&'static str> {
    match ty {
        Type::Float(FloatKind::Float) => Some("f"),
        Type::Float(FloatKind::Double) => Some(""),
        _ => None,
    }
}

/// The C library's name of a mathematics call (`llvm.exp.f32` and `expf` both give `expf`), for `float` and `double`.
pub(crate) fn libm_name(name: &str, ty: Type) -> Option<String> {
    let suffix = libm_suffix(ty)?;
    let base = match name.strip_prefix("llvm.") {
        Some(rest) => rest.rsplit_once('.')?.0,
        None => name.strip_suffix(suffix)?,
    };
    LIBM.contains(&base).then(|| format!("{base}{suffix}"))
}
