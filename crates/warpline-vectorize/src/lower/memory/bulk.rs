//! `memset` and `memcpy` of what is the same for all lanes.

use crate::VectorizeError;
use warpline_ir::{Inst, Op, Type, Value};

use super::super::Lower;

impl Lower<'_> {
    /// A call that is made once, if any lane is active.
    pub(in super::super) fn call_once_if_any(&mut self, i: Inst) -> Result<(), VectorizeError> {
        let data = &self.src.insts[i];
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
        Ok(())
    }
}
