//! What a kernel is a piece of.

use warpline_ir::{Function, Inst, Symbol, Value};

/// The function that a kernel was cut out of, as one iteration of a loop is, and what the kernel's parameters stand
/// for there.
#[derive(Copy, Clone, Debug)]
pub struct Region<'a> {
    /// The function.
    pub func: &'a Function,
    /// One for each parameter.
    pub params: &'a [Stands],
    /// Accesses of the kernel that have changed places, which must not touch the same bytes in any iteration.
    pub moved: &'a [(Inst, Inst)],
    /// What was loaded before the kernel and no iteration must overwrite.
    pub held: &'a [Held],
}

/// A load of the function around a kernel, before it.
#[derive(Copy, Clone, Debug)]
pub struct Held {
    /// The load.
    pub load: Inst,
    /// Its address, as a value that is there when the kernel begins.
    pub address: Value,
    /// Whether something is stored there behind the kernel, so that nobody else may load there in it.
    pub is_stored: bool,
}

/// What a parameter of a kernel stands for in the function that it was cut out of.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Stands {
    /// This value, in all iterations.
    For(Value),
    /// What began as this value and grows by a step from one iteration to the next.
    StartsAt(Value, Growth),
    /// What began as this value and grows by a constant in some iterations, used by packed stores alone.
    Counts(Value, i128),
    /// What an earlier iteration has computed.
    Anything,
}

/// What is added to a value from one iteration to the next; to a pointer, in bytes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Growth {
    /// A constant.
    Constant(i128),
    /// A value, the same in all iterations.
    Value(Value),
    /// That value is subtracted.
    Minus(Value),
}

/// A value of a kernel, or of the function that it is a piece of.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Sym {
    /// The address of a symbol.
    Global(Symbol),
    /// A value of the function around.
    Outer(Value),
    /// A value of the kernel.
    Inner(Value),
}

/// What a value of a kernel is called outside of it, if it is nothing but that.
pub(crate) fn sym(func: &Function, region: Option<&Region<'_>>, v: Value) -> Sym {
    let param = func.params.iter().position(|&p| p == v);
    match (param, region) {
        (Some(n), Some(region)) => match region.params.get(n) {
            Some(&Stands::For(outer)) => Sym::Outer(outer),
            _ => Sym::Inner(v),
        },
        _ => Sym::Inner(v),
    }
}
