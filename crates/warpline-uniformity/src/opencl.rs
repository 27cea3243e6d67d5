//! The built-in functions of OpenCL C by their mangled names, for modules in which they have no body.
//!
//! Each has its rule by the language: queries of a work-item's own number are sources, queries about the whole group
//! are uniform if the dimension is, collective operations give all work-items of a group the same, and mathematics
//! are functions of the operands. The last are believed only if the declaration says that they touch no memory, so
//! that a program's own function of that name is not taken for one.

use super::rules::{Cause, Rule};
use warpline_ir::group_functions::{GroupFunction, demangle};
use warpline_ir::{Effects, Module, Symbol};

/// Functions of their operands, by prefix.
const VARIANTS: &[&str] = &["half_", "native_"];

/// Conversions, by prefix; a type follows.
const CONVERSIONS: &[&str] = &["as_", "convert_"];

/// The names of arithmetic types, vectors of which have a number behind them.
const TYPES: &[&str] =
    &["bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "double"];

/// Functions of images, by prefix; they may read.
const IMAGES: &[&str] = &["get_image_", "read_image"];

/// Functions of their operands.
const FUNCTIONS: &[&str] = &[
    "abs",
    "abs_diff",
    "acos",
    "acosh",
    "acospi",
    "add_sat",
    "all",
    "any",
    "asin",
    "asinh",
    "asinpi",
    "atan",
    "atan2",
    "atan2pi",
    "atanh",
    "atanpi",
    "bitselect",
    "cbrt",
    "ceil",
    "clamp",
    "clz",
    "copysign",
    "cos",
    "cosh",
    "cospi",
    "cross",
    "ctz",
    "degrees",
    "distance",
    "dot",
    "erf",
    "erfc",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fabs",
    "fast_distance",
    "fast_length",
    "fast_normalize",
    "fdim",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "hadd",
    "hypot",
    "ilogb",
    "isequal",
    "isfinite",
    "isgreater",
    "isgreaterequal",
    "isinf",
    "isless",
    "islessequal",
    "islessgreater",
    "isnan",
    "isnormal",
    "isnotequal",
    "isordered",
    "isunordered",
    "ldexp",
    "length",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "logb",
    "mad",
    "mad24",
    "mad_hi",
    "mad_sat",
    "max",
    "maxmag",
    "min",
    "minmag",
    "mix",
    "mul24",
    "mul_hi",
    "nan",
    "nextafter",
    "normalize",
    "popcount",
    "pow",
    "pown",
    "powr",
    "radians",
    "remainder",
    "rhadd",
    "rint",
    "rootn",
    "rotate",
    "round",
    "rsqrt",
    "select",
    "shuffle",
    "shuffle2",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sinpi",
    "smoothstep",
    "sqrt",
    "step",
    "sub_sat",
    "tan",
    "tanh",
    "tanpi",
    "tgamma",
    "trunc",
    "upsample",
];

/// The rule of a built-in function that has no body; `None` for any other function.
pub(super) fn builtin(module: &Module, symbol: Symbol, effects: Effects) -> Option<Rule> {
    match GroupFunction::of(module, symbol) {
        Some(GroupFunction::Query(query, _)) if query.is_of_work_item() => {
            return Some(Rule::Source(Cause::LaneNumber));
        }
        Some(GroupFunction::LaneNumber) => return Some(Rule::Source(Cause::LaneNumber)),
        Some(GroupFunction::Query(..) | GroupFunction::GroupNumber) => return Some(Rule::Operands),
        Some(GroupFunction::Collective { uniform: true }) => return Some(Rule::AlwaysUniform),
        Some(GroupFunction::Collective { uniform: false } | GroupFunction::Barrier) => return None,
        None => {}
    }
    of_operands(&module.symbols[symbol].name, effects)
}

/// The rule of a function of its operands, of this mangled name.
fn of_operands(mangled: &str, effects: Effects) -> Option<Rule> {
    let (name, types) = demangle(mangled)?;
    let among = |list: &[&str]| list.contains(&name);
    let begins = |list: &[&str]| list.iter().any(|p| name.starts_with(p));
    let quiet = !effects.intersects(
        Effects::WRITES | Effects::UNKNOWN_RESULT | Effects::VOLATILE | Effects::ATOMIC | Effects::UNWINDS,
    );
    let pure = quiet && !effects.contains(Effects::READS);
    let converts = CONVERSIONS.iter().filter_map(|p| name.strip_prefix(p)).any(|to| {
        TYPES.iter().any(|t| to.strip_prefix(t).is_some_and(|rest| !rest.starts_with(char::is_alphabetic)))
    });
    if (pure && (among(FUNCTIONS) || begins(VARIANTS) || converts)) || (quiet && begins(IMAGES)) {
        return Some(Rule::Operands);
    }
    // Memory in the address spaces global, constant and local is one for all.
    let shared = types.contains("PU3AS1") || types.contains("PU3AS2") || types.contains("PU3AS3");
    (quiet && shared && name.starts_with("vload")).then_some(Rule::Operands)
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_ir::text::parse_module;

    #[test]
    fn built_in_functions_have_their_rules_by_name_type_and_effects() {
        let none = Effects::empty();
        let declared = |text: &str| {
            let module = parse_module(&format!("declare @{text} []")).unwrap_or_else(|e| panic!("{e}"));
            let symbol = module.symbols.keys().next().expect("it is declared");
            builtin(&module, symbol, none)
        };
        assert_eq!(declared("_Z13get_global_idj(i32) -> i64"), Some(Rule::Source(Cause::LaneNumber)));
        assert_eq!(declared("_Z12get_group_idj(i32) -> i64"), Some(Rule::Operands));
        assert_eq!(declared("_Z12get_group_idjj(i32, i32) -> i64"), None);
        assert_eq!(declared("_Z20work_group_broadcastfj(float, i32) -> float"), Some(Rule::AlwaysUniform));
        assert_eq!(declared("_Z4sqrtf(float) -> float"), Some(Rule::Operands));
        assert_eq!(of_operands("_Z4sqrtf", Effects::UNKNOWN), None);
        assert_eq!(of_operands("_Z6vload4mPU3AS1Kf", Effects::READS), Some(Rule::Operands));
        assert_eq!(of_operands("_Z6vload4mPKf", Effects::READS), None);
        assert_eq!(of_operands("_Z16convert_int4_rteDv4_f", none), Some(Rule::Operands));
        assert_eq!(of_operands("_Z7as_lanev", none), None);
        assert_eq!(of_operands("_Z9my_helperi", none), None);
        assert_eq!(of_operands("_ZN3foo3barEv", none), None);
        assert_eq!(of_operands("sqrtf", none), None);
    }
}
