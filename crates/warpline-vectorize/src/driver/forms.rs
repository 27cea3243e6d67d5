//! The forms of a kernel, or of the body of a loop, that a vector loop skeleton calls.

use warpline_ir::{FuncId, Module};

use super::{Form, Forms, make_lead};
use crate::VectorizeError;
use crate::options::{Options, Vectorized};
use crate::pipeline::vectorize_forms;

/// Forms that were made together.
#[derive(Clone, Debug)]
pub struct MadeForms {
    /// The W-lane form for whole groups.
    pub full: Vectorized,
    /// The form for smaller groups of what is left, if there is one.
    pub smaller: Option<Vectorized>,
    /// The one with a mask, for what is left at last, with as many lanes as the smallest groups.
    pub masked: Vectorized,
    /// The function that says where whole groups begin, if that is not at the first index.
    pub lead: Option<FuncId>,
}

/// How a range is divided beside its whole groups.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Division {
    /// In groups of how many is executed what no whole group is left for: a divisor of W.
    pub rest: u32,
    /// At a multiple of how many bytes whole groups begin to store, if [that can be made](make_lead); 0 for anywhere.
    pub lead: u64,
}

impl MadeForms {
    /// Makes the forms of a function for `options.width` lanes. The name in the options is that of the form for whole
    /// groups, and begins the names of all others; a mask in them does not count.
    ///
    /// # Errors
    /// If the width cannot be divided so, or the function cannot be vectorized.
    pub fn make(
        module: &mut Module,
        func: FuncId,
        options: &Options<'_>,
        division: Division,
    ) -> Result<MadeForms, VectorizeError> {
        let Division { rest, lead } = division;
        let Options { width, name, .. } = options;
        if rest == 0 || !width.is_multiple_of(rest) {
            let reason = format!("{width} lanes cannot be divided into vectors of {rest} for the epilogue");
            return Err(VectorizeError::in_function(&module.functions[func], reason).bad_options());
        }
        let [smaller, masked] = ["smaller", "masked"].map(|what| format!("{name}.{what}"));
        let mut made = if rest == *width {
            vectorize_forms(module, func, options, &[(name, false), (&masked, true)])?
        } else {
            let fewer = Options { width: rest, args: options.args.clone(), name: String::new(), ..*options };
            let mut made = vectorize_forms(module, func, options, &[(name, false)])?;
            made.extend(vectorize_forms(module, func, &fewer, &[(&smaller, false), (&masked, true)])?);
            made
        };
        let masked = made.pop().expect("the last one has a mask");
        let mut made = made.into_iter();
        let (full, smaller) = (made.next().expect("there is one for whole groups"), made.next());
        let name = format!("{name}.lead");
        let lead = (lead > 0).then(|| make_lead(module, func, &options.args, *width, lead, &name)).flatten();
        Ok(MadeForms { full, smaller, masked, lead })
    }

    /// Each form, that for whole groups first and that with a mask last.
    pub fn each(&self) -> impl Iterator<Item = &Vectorized> {
        std::iter::once(&self.full).chain(&self.smaller).chain([&self.masked])
    }

    /// Everything that was made.
    pub fn functions(&self) -> impl Iterator<Item = FuncId> + '_ {
        self.each().flat_map(Vectorized::functions).chain(self.lead)
    }

    /// In groups of how many is executed what no whole group is left for.
    pub fn rest(&self) -> u32 {
        self.masked.width
    }

    /// What a driver calls.
    pub fn forms(&self) -> Forms {
        let of = |made: &Vectorized| Form { func: made.func, lanes: made.width };
        let groups = std::iter::once(&self.full).chain(&self.smaller).map(of).collect();
        Forms { groups, rest: of(&self.masked), lead: self.lead }
    }
}
