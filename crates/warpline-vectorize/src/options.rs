//! What a caller asks of the vectorizer, and what it gets.

use warpline_ir::{FuncId, Type};
use warpline_uniformity::shape::ArgShape;

use super::callees::{AllCallees, Callees};
use super::counts::Counts;
use super::dependences::{Dependences, Pieces, Region};
use super::lower::Elementary;
use super::passes::{Instrument, Silent};

/// How much control flow is folded.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Linearize {
    /// Divergent branches only.
    #[default]
    Partial,
    /// Every branch but those that ask whether a mask has any lane.
    Full,
}

/// Where branches are put around code that may turn out to have no active lane (paper 3, Sec. 6), besides where that is needed for
/// what the program does.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Boscc {
    /// Nowhere.
    #[default]
    Off,
    /// Wherever a divergent branch leads to a block of its own.
    On,
    /// Where a cost model expects a gain.
    Auto,
}

/// For which loops code is made for [iterations in which lanes agree](super::coherence).
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Coherence {
    /// None.
    #[default]
    Off,
    /// All for which it can be made, whatever is saved.
    On,
    /// Those in which lanes are likely to agree and much is loaded.
    Auto,
}

/// What a machine's instructions gather and scatter under masks.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Gathers {
    /// Nothing: each lane accesses memory by an instruction of its own.
    Nothing,
    /// Elements of 32 bits at indices of 32 bits, and loads alone, by the instructions of AVX2.
    Avx2,
    /// Elements of 32 and 64 bits, loads and stores, by whatever LLVM makes of its masked accesses.
    #[default]
    Everything,
}

/// What a machine's instructions load from neighbouring places and store there under masks.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Masks {
    /// Nothing.
    Nothing,
    /// Elements of 32 and 64 bits.
    Wide,
    /// Elements of any size, or nobody knows: then it is left to LLVM.
    #[default]
    Everything,
}

impl Masks {
    /// Whether there are such instructions for elements of so many bits.
    pub fn serve(self, bits: u64) -> bool {
        match self {
            Masks::Nothing => false,
            Masks::Wide => matches!(bits, 32 | 64),
            Masks::Everything => true,
        }
    }
}

/// What memory that several lanes or iterations access means, and who answers for it.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Contract {
    /// As if indices ran one after the other, in ascending order. Nothing is promised: what cannot be proved is checked at run time, serialized or
    /// refused.
    Sequential,
    /// The sequential meaning. The user promises that accesses do not conflict where that cannot be decided.
    Independent,
    /// Lanes are unordered threads. The user promises that they do not race; certain races are refused.
    #[default]
    Threads,
    /// Lanes are unordered threads, and the user accepts whatever their races do.
    Racy,
}

/// A library of vector math functions, known by name.
pub trait MathLibrary {
    /// The symbol of a function that computes `scalar` (a C library name such as `expf`) on vectors of `lanes`
    /// elements per argument, passed and returned in registers, if the library has one.
    fn vector_function(&self, scalar: &str, lanes: u32) -> Option<String>;

    /// Whether a function is to be written out as instructions, which need fused multiplication and addition, instead of being called.
    fn written_out(&self, _function: Elementary) -> bool {
        false
    }
}

/// No vector math: calls are made lane by lane.
pub struct NoMathLibrary;

impl MathLibrary for NoMathLibrary {
    fn vector_function(&self, _scalar: &str, _lanes: u32) -> Option<String> {
        None
    }
}

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
    /// What the machine's instructions gather and scatter under masks.
    pub gathers: Gathers,
    /// What they load and store under masks.
    pub masks: Masks,
    /// What memory accessed by several lanes means.
    pub contract: Contract,
    /// The function that the kernel was cut out of, if it is an iteration of a loop.
    pub region: Option<&'a Region<'a>>,
    /// Functions that are pieces of the kernel, to be called for one lane after the other.
    pub pieces: &'a Pieces,
    /// The name of a function that takes an `i64`, to be called with the number of active lanes by every block that is executed, to measure how
    /// well lanes are used (paper 3, Sec. 7.1).
    pub count_lanes: Option<&'a str>,
    /// Who is told of passes.
    pub instrument: &'a dyn Instrument,
}

impl Options<'_> {
    /// Every lane active, divergent branches folded, no vector math; the fields say what else can be asked.
    pub fn new(width: u32, args: Vec<ArgShape>, name: impl Into<String>) -> Options<'static> {
        Options {
            width,
            args,
            name: name.into(),
            masked: false,
            linearize: Linearize::default(),
            boscc: Boscc::default(),
            coherence: Coherence::default(),
            scalar_result: false,
            math: &NoMathLibrary,
            callees: &AllCallees,
            gathers: Gathers::default(),
            masks: Masks::default(),
            contract: Contract::default(),
            region: None,
            pieces: const { &Pieces::none() },
            count_lanes: None,
            instrument: &Silent,
        }
    }
}

/// How a parameter or result of the vectorized function is passed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Passing {
    /// One scalar, the same for all lanes.
    Uniform(Type),
    /// Lane 0's value as a scalar; lane *k* has `k` times the step more.
    Strided(Type, i64),
    /// A vector with one element per lane; the type is that of one lane.
    Varying(Type),
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
