//! Why lanes do not access neighbouring elements: what is done to an address on its way from the lane's index.

use std::collections::BTreeSet;

use warpline_dataflow::linear::Address;
use warpline_ir::{BinaryOp, CastOp, Inst, LaneOp, Op, Type, Value};

use super::{Program, element_bits};
use crate::recipes::Rep;

/// Why an access is no access of neighbours.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Cause {
    /// Lanes are at a distance that is known, in bytes, from the size of the elements, and whether the elements between
    /// are accessed, too.
    Stride(i64, i64),
    /// An index has fewer bits than an address, and nothing says that it does not wrap around.
    Narrow,
    /// Lanes are at a distance that is only known at run time.
    Distance,
    /// An index is divided: several lanes access one element.
    Divided,
    /// Lanes have taken different ways, or a loop goes on for some of them.
    Path,
    /// An index is selected, or kept within bounds by `min` or `max`.
    Clamped,
    /// An index wraps around.
    Wraps,
    /// Each lane accesses an array of its own on the stack.
    Private,
    /// An index or pointer is computed from what was loaded, or by a call.
    Data,
}

/// So many values are looked at to find a cause.
const MOST: usize = 64;

impl Cause {
    pub(super) fn is_strided(self) -> bool {
        matches!(self, Cause::Stride(..))
    }

    /// It in words.
    pub(super) fn words(self) -> String {
        match self {
            Cause::Stride(step, size) if size > 0 && step % size == 0 => {
                format!("neighbouring lanes are {} elements apart", step / size)
            }
            Cause::Stride(step, _) => format!("neighbouring lanes are {step} bytes apart"),
            Cause::Narrow => "an index may wrap around in its few bits, so lanes may be anywhere".to_owned(),
            Cause::Distance => "the distance of neighbouring lanes is known at run time only".to_owned(),
            Cause::Divided => "an index is divided, so several lanes access one element".to_owned(),
            Cause::Path => "the address depends on which way a lane took".to_owned(),
            Cause::Clamped => {
                "an index is selected or kept within bounds, so lanes need not be neighbours".to_owned()
            }
            Cause::Wraps => "an index wraps around, so lanes need not be neighbours".to_owned(),
            Cause::Private => {
                "each lane indexes an array of its own by what differs between lanes".to_owned()
            }
            Cause::Data => "the address is computed from data or by floating-point arithmetic".to_owned(),
        }
    }

    /// What to change in the source, for loads or for stores.
    pub(super) fn advice(self, writes: bool) -> Option<&'static str> {
        Some(match self {
            Cause::Stride(2 | 4 | 8, 1) => {
                "access bytes together as one number (`memcpy`), or keep each field in an array of its own"
            }
            Cause::Stride(step, size) if step.abs() <= 8 * size => {
                "keep each field in an array of its own (structure of arrays)"
            }
            Cause::Stride(..) | Cause::Distance => {
                "make the lane's index the last one of the array: exchange the loops, or transpose the array"
            }
            Cause::Narrow => {
                "compute the index as `size_t` or `long` (Rust: `usize`), or as a signed `int` in C"
            }
            Cause::Divided => "make the quotient the index of a loop around",
            Cause::Path => return None,
            Cause::Clamped => "treat the borders in loops of their own: between them lanes are neighbours",
            Cause::Wraps => "split the range where the index wraps around: on each side lanes are neighbours",
            Cause::Private => "index the array by constants or uniform values",
            Cause::Data if writes => {
                "loop over the elements that are stored to, or store in a scalar loop of its own"
            }
            Cause::Data => {
                "compute the elements instead of looking them up, or look them up in a scalar loop of its own that \
                 fills a buffer"
            }
        })
    }
}

impl Program<'_> {
    /// Why a load or store at an address is no access of neighbours.
    pub(super) fn cause(&self, i: Inst, address: Value) -> Cause {
        if let Rep::Strided(step) = self.reps[address] {
            let bits = self.func.accessed(i).map_or(8, |accessed| element_bits(accessed.ty).max(8));
            return Cause::Stride(step, i64::from(bits / 8));
        }
        let root = Address::of(self.module, self.func, address).map(|address| address.root);
        if root.is_some_and(|root| self.func.is_alloca(root)) {
            return Cause::Private;
        }
        let (mut seen, mut next) = (BTreeSet::new(), vec![address]);
        let mut cause = None;
        while let Some(v) = next.pop() {
            if !seen.insert(v) {
                continue;
            }
            if seen.len() > MOST {
                return Cause::Data;
            }
            cause = cause.max(self.step(v, &mut next));
        }
        cause.unwrap_or(Cause::Narrow)
    }

    /// The cause that lies in how a varying value is computed, if any; else what it is computed of comes next.
    fn step(&self, v: Value, next: &mut Vec<Value>) -> Option<Cause> {
        let Some(i) = self.func.def_inst(v) else { return Some(Cause::Data) };
        let data = &self.func.insts[i];
        let varying: Vec<Value> = match data.op {
            Op::Phi => {
                let edges = &self.func.blocks[data.block].preds;
                let position = self.func.phi_position(i);
                position.map_or(Vec::new(), |k| edges.iter().map(|&e| self.func.edges[e].args[k]).collect())
            }
            _ => data.args.to_vec(),
        };
        // What is chosen by is no part of an address.
        let is_part = |a: &Value| self.func.ty(*a) != Type::BOOL && self.varies(*a);
        let varying: Vec<Value> = varying.into_iter().filter(is_part).collect();
        let of_regular = varying.is_empty();
        next.extend(varying);
        match data.op {
            Op::Binary(BinaryOp::URem | BinaryOp::SRem | BinaryOp::And) if of_regular => Some(Cause::Wraps),
            Op::Binary(BinaryOp::UDiv | BinaryOp::SDiv | BinaryOp::LShr | BinaryOp::AShr) if of_regular => {
                Some(Cause::Divided)
            }
            Op::Binary(BinaryOp::Mul | BinaryOp::Shl) if of_regular => Some(Cause::Distance),
            Op::Binary(op) if op.is_float() => Some(Cause::Data),
            Op::Select if of_regular => Some(Cause::Clamped),
            Op::Select => Some(Cause::Path),
            Op::Lane(LaneOp::Blend | LaneOp::BlendAny) => Some(Cause::Path),
            Op::Cast(CastOp::SExt | CastOp::ZExt) if of_regular => Some(Cause::Narrow),
            Op::Binary(_) | Op::Gep(_) | Op::Cast(_) | Op::Phi | Op::Freeze => None,
            Op::Call(ref info) => {
                let name = info.callee.map_or("", |s| &self.module.symbols[s].name);
                let clamps = ["llvm.smin.", "llvm.smax.", "llvm.umin.", "llvm.umax."];
                Some(if clamps.iter().any(|clamp| name.starts_with(clamp)) {
                    Cause::Clamped
                } else {
                    Cause::Data
                })
            }
            _ => Some(Cause::Data),
        }
    }
}
