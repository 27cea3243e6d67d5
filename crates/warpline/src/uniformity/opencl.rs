//! The built-in functions of OpenCL C by their mangled names, for modules in which they have no body.
//!
//! Each has its rule by the language: queries of a work-item's own number are sources, queries about the whole group are uniform
//! if the dimension is, collective operations give all work-items of a group the same, and mathematics are functions of the
//! operands. The last are believed only if the declaration says that they touch no memory, so that a program's own
//! function of that name is not taken for one.

use super::rules::{Cause, Rule};
use crate::ir::Effects;

/// Numbers of work-items and their kin.
const LANE_NUMBERS: &[&str] = &[
    "get_enqueued_local_linear_id",
    "get_global_id",
    "get_global_linear_id",
    "get_local_id",
    "get_local_linear_id",
    "get_sub_group_eq_mask",
    "get_sub_group_ge_mask",
    "get_sub_group_gt_mask",
    "get_sub_group_le_mask",
    "get_sub_group_local_id",
    "get_sub_group_lt_mask",
];

/// What is one for the whole group, for equal operands.
const GROUP_QUERIES: &[&str] = &[
    "get_enqueued_local_size",
    "get_enqueued_num_sub_groups",
    "get_global_offset",
    "get_global_size",
    "get_group_id",
    "get_local_size",
    "get_max_sub_group_size",
    "get_num_groups",
    "get_num_sub_groups",
    "get_sub_group_id",
    "get_sub_group_size",
    "get_work_dim",
];

/// Operations of a whole group, the result of which all of its work-items get, by prefix.
const COLLECTIVE: &[&str] = &[
    "sub_group_all",
    "sub_group_any",
    "sub_group_broadcast",
    "sub_group_reduce_",
    "work_group_all",
    "work_group_any",
    "work_group_broadcast",
    "work_group_reduce_",
];

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

/// Whether a function of this mangled name yields the number of a work-item.
pub(super) fn is_lane_number(mangled: &str) -> bool {
    demangle(mangled).is_some_and(|(name, _)| LANE_NUMBERS.contains(&name))
}

/// The rule of a built-in function of this mangled name that has these effects; `None` for any other function.
pub(super) fn builtin(mangled: &str, effects: Effects) -> Option<Rule> {
    let (name, types) = demangle(mangled)?;
    let among = |list: &[&str]| list.contains(&name);
    let begins = |list: &[&str]| list.iter().any(|p| name.starts_with(p));
    if among(LANE_NUMBERS) {
        return Some(Rule::Source(Cause::LaneNumber));
    }
    if among(GROUP_QUERIES) {
        return Some(Rule::Operands);
    }
    if begins(COLLECTIVE) {
        return Some(Rule::AlwaysUniform);
    }
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

/// Name and parameter types of `_Z<length><name><types>`.
fn demangle(mangled: &str) -> Option<(&str, &str)> {
    let rest = mangled.strip_prefix("_Z")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let length: usize = rest.get(..digits)?.parse().ok()?;
    rest[digits..].split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_functions_have_their_rules_by_name_type_and_effects() {
        let none = Effects::empty();
        assert_eq!(builtin("_Z13get_global_idj", none), Some(Rule::Source(Cause::LaneNumber)));
        assert_eq!(builtin("_Z12get_group_idj", none), Some(Rule::Operands));
        assert_eq!(builtin("_Z20work_group_broadcastfj", none), Some(Rule::AlwaysUniform));
        assert_eq!(builtin("_Z4sqrtf", none), Some(Rule::Operands));
        assert_eq!(builtin("_Z4sqrtf", Effects::UNKNOWN), None);
        assert_eq!(builtin("_Z6vload4mPU3AS1Kf", Effects::READS), Some(Rule::Operands));
        assert_eq!(builtin("_Z6vload4mPKf", Effects::READS), None);
        assert_eq!(builtin("_Z16convert_int4_rteDv4_f", none), Some(Rule::Operands));
        assert_eq!(builtin("_Z7as_lanev", none), None);
        assert_eq!(builtin("_Z9my_helperi", none), None);
        assert_eq!(builtin("_ZN3foo3barEv", none), None);
        assert_eq!(builtin("sqrtf", none), None);
    }
}
