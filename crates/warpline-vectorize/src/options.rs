//! What a caller asks of the vectorizer, and what it gets.

use warpline_dataflow::clients::ranges::Range;
use warpline_ir::FuncId;
use warpline_target::Machine;
use warpline_uniformity::shape::ArgShape;

use super::choices::{Boscc, Coherence, Contract, Linearize, Passing};
use super::counts::Counts;
use super::dependences::{Dependences, Pieces, Region, Setting};
use super::embedder::{AllCallees, Callees, MathLibrary, NoMathLibrary};
use super::instrument::{Instrument, Silent};
use super::recipe_counts::RecipeCounts;

/// What a caller asks of [`vectorize`](super::vectorize).
pub struct Options<'a> {
    /// W: the number of lanes, 1 to 64.
    pub width: u32,
    /// The shape of each parameter.
    pub args: Vec<ArgShape>,
    /// Name of the function to be made.
    pub name: String,
    /// Whether the function gets a last parameter of type `<W x i1>`: the lanes that are active.
    pub masked: bool,
    /// Whether it gets such a parameter and all lanes are active nevertheless: it says which of them add something to
    /// [sums](Options::sums).
    pub counting: bool,
    /// How much control flow is folded.
    pub linearize: Linearize,
    /// Where code without active lanes is skipped.
    pub boscc: Boscc,
    /// Where code is made for iterations in which lanes agree.
    pub coherence: Coherence,
    /// Whether a uniform return value is to be returned as a scalar, not as a vector.
    pub scalar_result: bool,
    /// Vector math functions.
    pub math: &'a dyn MathLibrary,
    /// Which of the functions that it calls are vectorized too.
    pub callees: &'a dyn Callees,
    /// The machine that code is made for.
    pub machine: Machine,
    /// What memory accessed by several lanes means.
    pub contract: Contract,
    /// How many work-items a row of a work-group has at most, if that is known: no lanes are farther apart.
    pub row: Option<u32>,
    /// The function that the kernel was cut out of, if it is an iteration of a loop.
    pub region: Option<&'a Region<'a>>,
    /// Functions that are pieces of the kernel, to be called for one lane after the other.
    pub pieces: &'a Pieces,
    /// Parameters of which nothing counts but the sum over all lanes, and to which the function adds something and
    /// returns it: what a loop adds up. Where the function has a mask, its caller takes the sums of all lanes, too.
    pub sums: &'a [AddedUp],
    /// Between which numbers parameters lie, as far as the function says that the kernel was cut out of.
    pub known: &'a [Option<Range>],
    /// How groups of lanes begin, as far as that is known, in the order of the parameters.
    pub origins: &'a [Option<Origin>],
    /// The name of a function that takes an `i64`, to be called with the number of active lanes by every block that
    /// is executed, to measure how well lanes are used (paper 3, Sec. 7.1).
    pub count_lanes: Option<&'a str>,
    /// Who is told of passes.
    pub instrument: &'a dyn Instrument,
    /// How many indices a range is expected to have, if a profile says so.
    pub indices: Option<u64>,
    /// Whether [widths](super::width::Widths) are to come with remarks.
    pub remarks: bool,
}

impl Options<'_> {
    /// What the last parameter of the function is.
    pub(crate) fn form(&self) -> Form {
        match (self.masked, self.counting) {
            (true, _) => Form::Masked,
            (false, true) => Form::Counting,
            (false, false) => Form::Whole,
        }
    }

    /// What of it is asked of accesses to memory.
    pub(crate) fn of_memory(&self) -> Setting<'_> {
        let Options { width, contract, row, region, pieces, callees, .. } = *self;
        Setting { width, contract, row, region, pieces, callees }
    }

    /// Every lane active, divergent branches folded, no vector math; the fields say what else can be asked.
    pub fn new(width: u32, args: Vec<ArgShape>, name: impl Into<String>) -> Options<'static> {
        Options {
            width,
            args,
            name: name.into(),
            masked: false,
            counting: false,
            linearize: Linearize::default(),
            boscc: Boscc::default(),
            coherence: Coherence::default(),
            scalar_result: false,
            math: &NoMathLibrary,
            callees: &AllCallees,
            machine: Machine::default(),
            contract: Contract::default(),
            row: None,
            region: None,
            pieces: const { &Pieces::none() },
            sums: &[],
            known: &[],
            origins: &[],
            count_lanes: None,
            instrument: &Silent,
            indices: None,
            remarks: false,
        }
    }
}

/// What the last parameter of a variant is, beside those of the function.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// None: all lanes are active.
    Whole,
    /// The lanes that are active.
    Masked,
    /// The lanes that add something to sums; all are active.
    Counting,
}

/// What a parameter is in lane 0: `first`, and a multiple of `step` times the number of lanes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// Where the first group begins.
    pub first: i64,
    /// How far lane *l* + 1 is from lane *l*; not 0.
    pub step: i64,
    /// Whether it is never negative, as a signed number.
    pub is_natural: bool,
}

/// A sum over all lanes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct AddedUp {
    /// The number of the parameter that has it before.
    pub parameter: usize,
    /// The member of what is returned that has it behind; 0 if it is all that is returned.
    pub result: usize,
}

/// A vectorized function. It has been added to the module.
#[derive(Clone, Debug)]
pub struct Vectorized {
    /// The function.
    pub func: FuncId,
    /// Its name.
    pub name: String,
    /// W-lane forms that were made of the functions that it calls. Nobody else needs to see them.
    pub callees: Vec<FuncId>,
    /// W.
    pub width: u32,
    /// How each parameter of the kernel is passed, in order. If the function is masked, the mask follows.
    pub params: Vec<Passing>,
    /// How the result is passed, if there is one.
    pub result: Option<Passing>,
    /// Whether the last parameter is a mask.
    pub masked: bool,
    /// What became of branches, loops and masks.
    pub counts: Counts,
    /// How many instructions of its lane program became what.
    pub recipes: RecipeCounts,
    /// Whether a math function of limited accuracy is called, so that results may differ in the last places.
    pub approximate: bool,
    /// What is known of accesses by different lanes to the same memory.
    pub dependences: Dependences,
}

impl Vectorized {
    /// Everything that was made: the function and the forms of those that it calls.
    pub fn functions(&self) -> impl Iterator<Item = FuncId> + '_ {
        std::iter::once(self.func).chain(self.callees.iter().copied())
    }
}
