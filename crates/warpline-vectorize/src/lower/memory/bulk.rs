//! `memset` and `memcpy` of what is the same for all lanes.

use crate::VectorizeError;
use warpline_ir::{Inst, Op, Type, Value};

use super::super::{Lower, Rep};

impl Lower<'_> {
    /// A call of `memset` or `memcpy` with uniform operands does the same for every lane, so once is enough, if any
    /// lane is active; `memcpy`'s ranges do not overlap, or are the same. (`memmove`'s may, and then twice is not
    /// once.) False if the call is something else.
    pub(in super::super) fn bulk_once(&mut self, i: Inst, name: &str) -> Result<bool, VectorizeError> {
        let data = &self.src.insts[i];
        let once = ["llvm.memset.", "llvm.memcpy."].iter().any(|prefix| name.starts_with(prefix))
            && data.args.iter().all(|&a| self.reps[a] == Rep::Uniform)
            && data.args.get(3).is_some_and(|&volatile| self.src.as_int(volatile) == Some(0));
        if !once {
            return Ok(false);
        }
        let args: Vec<Value> = data.args.iter().map(|&a| self.scalar(a, i)).collect::<Result<_, _>>()?;
        let next = match self.mask_vector(i)? {
            None => None,
            Some(mask) => {
                let any = self.any_of(mask);
                let (active, next) = (self.out.add_block("once"), self.out.add_block(""));
                self.out.set_terminator(self.block, Op::CondBr, &[any], &[active, next]);
                self.block = active;
                Some(next)
            }
        };
        let new = self.out.append(self.block, data.op.clone(), &args, Type::Void);
        self.out.insts[new].origin = data.origin;
        self.copy_metadata(i, new);
        if let Some(next) = next {
            self.out.set_terminator(self.block, Op::Br, &[], &[next]);
            self.block = next;
        }
        Ok(true)
    }
}
