//! The world outside of the module: unknown callees, observable effects.

use super::memory::Memory;
use super::value::Val;
use warpline_ir::Type;

/// A call of a function that has no body in the module and is not known by name.
#[derive(Debug)]
pub struct HostCall<'a> {
    /// The callee.
    pub name: &'a str,
    /// The arguments.
    pub args: &'a [Val],
    /// The type of the result.
    pub ret: Type,
    /// The number of cells of the result.
    pub ret_cells: usize,
    /// The lane that calls.
    pub lane: u32,
}

/// What came of such a call.
#[derive(Clone, Debug)]
pub enum HostResult {
    /// The host does not know the function either.
    Unknown,
    /// The call is an effect to be logged; its result.
    Effect(Val),
    /// The call has no effect worth logging; its result.
    Pure(Val),
    /// The program stops.
    Stop(String),
}

/// Supplies functions that the module only declares.
pub trait Host {
    /// Performs a call.
    fn call(&mut self, call: &HostCall<'_>, memory: &mut Memory) -> HostResult;
}

/// A host that knows nothing.
#[derive(Copy, Clone, Debug, Default)]
pub struct NoHost;

impl Host for NoHost {
    fn call(&mut self, _: &HostCall<'_>, _: &mut Memory) -> HostResult {
        HostResult::Unknown
    }
}

/// A host that accepts every call as an effect, and returns bits that depend on the name and the arguments.
#[derive(Clone, Debug, Default)]
pub struct HashingHost;

impl Host for HashingHost {
    fn call(&mut self, call: &HostCall<'_>, _: &mut Memory) -> HostResult {
        let mut state = 0xcbf2_9ce4_8422_2325u64;
        let mut mix = |v: u64| state = (state ^ v).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
        call.name.bytes().for_each(|b| mix(b.into()));
        for cell in call.args.iter().flat_map(|v| &v.cells) {
            mix(cell.bits as u64);
            mix((cell.bits >> 64) as u64);
        }
        // Small numbers fit every integer type but i1, and are sane as floating-point bits.
        let bits = match call.ret {
            Type::Int(w) => u128::from(state) & super::scalar::mask(w.min(16)),
            _ => u128::from(state >> 52),
        };
        let mut result = Val::default();
        result.cells.resize(call.ret_cells, super::value::Cell::new(bits));
        HostResult::Effect(result)
    }
}

/// Something observable that the program did.
#[derive(Clone, PartialEq, Debug)]
pub struct Effect {
    /// The lane that did it.
    pub lane: u32,
    /// What it was.
    pub kind: EffectKind,
}

/// The observable effects.
#[derive(Clone, PartialEq, Debug)]
pub enum EffectKind {
    /// A call that went to the host.
    Call {
        /// The callee.
        name: Box<str>,
        /// The arguments.
        args: Vec<Val>,
        /// The result.
        result: Val,
    },
    /// A volatile read.
    VolatileLoad {
        /// The address.
        address: u64,
        /// What was read.
        value: Val,
    },
    /// A volatile write.
    VolatileStore {
        /// The address.
        address: u64,
        /// What was written.
        value: Val,
    },
}
