//! What the [ranges](warpline_dataflow::clients::ranges) and [inequalities](warpline_dataflow::clients::bounds) of a
//! kernel say of indices.

use std::cell::OnceCell;

use warpline_analysis::dataflow::Instruction;
use warpline_analysis::ssi::Version;
use warpline_dataflow::Code;
use warpline_dataflow::clients::bounds::Bounds;
use warpline_dataflow::clients::ranges::Range;
use warpline_dataflow::linear::Extension;
use warpline_ir::{CastOp, Function, Inst, Module, Op, Type, Value};

/// How deep the use of a number in an address is looked for.
const MAX_DEPTH: u32 = 12;

/// The code of a kernel, for [`Facts`].
pub(crate) struct Source<'a> {
    pub(crate) module: &'a Module,
    pub(crate) func: &'a Function,
    code: OnceCell<Code>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(module: &'a Module, func: &'a Function) -> Source<'a> {
        Source { module, func, code: OnceCell::new() }
    }
}

/// Ranges and inequalities, found once somebody asks.
pub(crate) struct Facts<'a> {
    source: &'a Source<'a>,
    bounds: OnceCell<Bounds<'a>>,
    /// The number of each instruction in the program that was analysed.
    numbers: OnceCell<Vec<Option<Instruction>>>,
}

impl<'a> Facts<'a> {
    pub(crate) fn new(source: &'a Source<'a>) -> Facts<'a> {
        Facts { source, bounds: OnceCell::new(), numbers: OnceCell::new() }
    }

    fn code(&self) -> &'a Code {
        self.source.code.get_or_init(|| Code::with_makers(self.source.func))
    }

    fn bounds(&self) -> &Bounds<'a> {
        self.bounds.get_or_init(|| Bounds::new(self.source.module, self.source.func, self.code(), ()))
    }

    /// The version that an operand of an instruction is.
    fn used(&self, inst: Inst, operand: usize) -> Option<Version> {
        let program = self.code().program();
        let numbers = self.numbers.get_or_init(|| {
            let mut numbers = vec![None; self.source.func.insts.len()];
            for at in (0..program.instructions() as u32).map(Instruction) {
                numbers[self.code().inst(at).as_u32() as usize] = Some(at);
            }
            numbers
        });
        let at = numbers[inst.as_u32() as usize]?;
        self.bounds().ssi().used(program.use_slots(at).start + operand)
    }

    /// The least and the greatest number that a value is where an address is computed from it, read as the address
    /// does.
    pub(crate) fn range(
        &self,
        func: &Function,
        address: Value,
        v: Value,
        extension: Extension,
    ) -> Option<(i128, i128)> {
        let known = self.version(func, address, v).and_then(|version| self.range_at(version));
        let Some(range) = known.filter(|range| !range.is_full()) else {
            return all_of(func.ty(v), extension);
        };
        match extension {
            Extension::Unsigned => {
                Some((i128::try_from(range.low()).ok()?, i128::try_from(range.high()).ok()?))
            }
            _ => Some((range.least(), range.greatest())),
        }
    }

    fn range_at(&self, version: Version) -> Option<Range> {
        self.bounds().facts().fact(version).range().copied()
    }

    /// The version of a value that an address is computed from.
    fn version(&self, func: &Function, address: Value, v: Value) -> Option<Version> {
        let (inst, operand) = use_of(func, address, v, MAX_DEPTH)?;
        self.used(inst, operand)
    }

    /// Whether `0 <= v < length` where an address is computed from `v`. Both may be extensions of narrower numbers.
    pub(crate) fn is_below(&self, func: &Function, address: Value, v: Value, length: Value) -> bool {
        let Some(version) = self.version(func, address, v) else { return false };
        let Some(range) = self.range_at(version) else { return false };
        let natural = range.is_not_negative();
        let same = |x: Value| {
            let data = func.def_inst(x).map(|i| &func.insts[i]);
            match data.map(|d| (&d.op, d.args[0])) {
                Some((Op::Cast(CastOp::ZExt | CastOp::SExt), inner)) if func.ty(inner) == func.ty(v) => inner,
                _ => x,
            }
        };
        let length = if func.ty(length) == func.ty(v) { length } else { same(length) };
        let is_below = func.ty(length) == func.ty(v)
            && match func.as_int(length) {
                Some(n) => range.high() < n,
                None => self.bounds().prover().at_most(version, length, -1).is_some(),
            };
        natural && is_below
    }
}

/// The numbers of a type that is narrow enough for that to say something.
fn all_of(ty: Type, extension: Extension) -> Option<(i128, i128)> {
    let bits = ty.int_bits().filter(|&bits| bits <= 16)?;
    match extension {
        Extension::Unsigned => Some((0, (1 << bits) - 1)),
        Extension::Signed => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
        Extension::None => None,
    }
}

/// The instruction, and which of its operands, by which an address is computed from a value.
fn use_of(func: &Function, address: Value, v: Value, depth: u32) -> Option<(Inst, usize)> {
    let inst = func.def_inst(address)?;
    let depth = depth.checked_sub(1)?;
    let data = &func.insts[inst];
    if !matches!(data.op, Op::Gep(_) | Op::Binary(_) | Op::Cast(_)) {
        return None;
    }
    if let Some(operand) = data.args.iter().position(|&a| a == v) {
        return Some((inst, operand));
    }
    data.args.iter().find_map(|&a| use_of(func, a, v, depth))
}
