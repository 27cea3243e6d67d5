//! The variants of a kernel, or of the body of a loop, that a vector loop skeleton calls.

use warpline_ir::{FuncId, Module};

use super::{BodyVariant, BodyVariants, Tail, make_prologue};
use crate::VectorizeError;
use crate::call_graph::has_cross_lane_operations;
use crate::options::{Form, Options, Vectorized};
use crate::pipeline::vectorize_variants;

/// Variants that were made together.
#[derive(Clone, Debug)]
pub struct MadeVariants {
    /// The W-lane variant for whole groups.
    pub full: Vectorized,
    /// The variant for smaller groups of what is left, if there is one.
    pub smaller: Option<Vectorized>,
    /// The one with a mask, for what is left at last, with as many lanes as the smallest groups; `None` if that is
    /// executed by the scalar program.
    pub masked: Option<Vectorized>,
    /// The one that executes a group that ends with the last index, of which some have been executed before: the mask
    /// says which lanes add something to sums. It has as many lanes as whole groups.
    pub counting: Option<Vectorized>,
    /// The function that says where whole groups begin, if that is not at the first index.
    pub prologue: Option<FuncId>,
    /// What has fewer indices or iterations is executed by the scalar program.
    pub least: u32,
}

/// How a range is divided beside its whole groups.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Division {
    /// In groups of how many is executed what no whole group is left for: a divisor of W.
    pub epilogue: u32,
    /// What executes what no group at all is left for, if there is no prologue and nothing asks about its group:
    /// a mask otherwise.
    pub tail: Tail,
    /// At a multiple of how many bytes whole groups begin to store, if [that can be made](make_prologue); 0 for
    /// anywhere.
    pub prologue: u64,
    /// What has fewer indices or iterations is executed by the scalar program, where that can be; 0 for nothing.
    pub least: u32,
}

impl Division {
    /// All in groups of so many, under a mask where fewer are left.
    #[must_use]
    pub fn into_groups_of(lanes: u32) -> Division {
        Division { epilogue: lanes, tail: Tail::Masked, prologue: 0, least: 0 }
    }
}

impl MadeVariants {
    /// Makes the variants of a function for `options.width` lanes. The name in the options is that of the variant for
    /// whole groups, and begins the names of all others; a mask in them does not count.
    ///
    /// # Errors
    /// If the width cannot be divided so, or the function cannot be vectorized.
    pub fn make(
        module: &mut Module,
        func: FuncId,
        options: &Options<'_>,
        division: Division,
    ) -> Result<MadeVariants, VectorizeError> {
        let Division { epilogue, prologue, .. } = division;
        // The scalar program is no group of one for what asks about its group. That an iteration of a loop is told its
        // lane is of our making.
        let asks = options.region.is_none() && has_cross_lane_operations(module, &module.functions[func]);
        let least = if asks { 0 } else { division.least };
        let tail = if asks || prologue > 0 { Tail::Masked } else { division.tail };
        let Options { width, name, .. } = options;
        if epilogue == 0 || !width.is_multiple_of(epilogue) {
            let reason =
                format!("{width} lanes cannot be divided into vectors of {epilogue} for the epilogue");
            return Err(VectorizeError::in_function(&module.functions[func], reason).bad_options());
        }
        let [smaller, masked] = ["smaller", "masked"].map(|what| format!("{name}.{what}"));
        let last = if tail == Tail::Masked { &[(&*masked, Form::Masked)][..] } else { &[] };
        let with_tail = |name| [&[(name, Form::Whole)][..], last].concat();
        let mut made = if epilogue == *width {
            vectorize_variants(module, func, options, &with_tail(name))?
        } else {
            let fewer =
                Options { width: epilogue, args: options.args.clone(), name: String::new(), ..*options };
            let mut made = vectorize_variants(module, func, options, &[(name, Form::Whole)])?;
            made.extend(vectorize_variants(module, func, &fewer, &with_tail(&smaller))?);
            made
        };
        let masked = if tail == Tail::Masked { made.pop() } else { None };
        let mut made = made.into_iter();
        let (full, smaller) = (made.next().expect("there is one for whole groups"), made.next());
        let name = format!("{name}.prologue");
        let prologue = (prologue > 0)
            .then(|| make_prologue(module, func, &options.args, *width, prologue, &name))
            .flatten();
        Ok(MadeVariants { full, smaller, masked, counting: None, prologue, least })
    }

    /// Adds the variant that executes some indices again. The options are those that the others were made with.
    ///
    /// # Errors
    /// As [`MadeVariants::make`].
    pub(crate) fn add_counting(
        &mut self,
        module: &mut Module,
        func: FuncId,
        options: &Options<'_>,
    ) -> Result<(), VectorizeError> {
        let (args, name) = (options.args.clone(), format!("{}.counting", options.name));
        let asked = Options { args, name: String::new(), ..*options };
        let mut made = vectorize_variants(module, func, &asked, &[(&name, Form::Counting)])?;
        self.counting = made.pop();
        Ok(())
    }

    /// Each variant, that for whole groups first and that with a mask, if there is one, last.
    pub fn each(&self) -> impl Iterator<Item = &Vectorized> {
        std::iter::once(&self.full).chain(&self.smaller).chain(&self.counting).chain(&self.masked)
    }

    /// Everything that was made.
    pub fn functions(&self) -> impl Iterator<Item = FuncId> + '_ {
        self.each().flat_map(Vectorized::functions).chain(self.prologue)
    }

    /// In groups of how many is executed what no whole group is left for.
    pub fn epilogue(&self) -> u32 {
        self.smaller.as_ref().unwrap_or(&self.full).width
    }

    /// What executes what no group is left for at last.
    pub fn tail(&self) -> Tail {
        if self.masked.is_some() { Tail::Masked } else { Tail::Scalar }
    }

    /// What a driver calls.
    pub fn variants(&self) -> BodyVariants {
        let of = |made: &Vectorized| BodyVariant { func: made.func, lanes: made.width };
        let groups = std::iter::once(&self.full).chain(&self.smaller).map(of).collect();
        BodyVariants {
            groups,
            tail: self.masked.as_ref().map(of),
            counting: self.counting.as_ref().map(of),
            prologue: self.prologue,
            least: self.least,
        }
    }
}
