//! Loops in text form that are run as they are and vectorized, on the same bytes.

use warpline_interp::{Machine, Options as MachineOptions, Val};
use warpline_ir::text::{parse_module, print_module};
use warpline_ir::{FuncId, Module};
use warpline_vectorize::loops::{Unit, vectorize_loop};
use warpline_vectorize::{Options, VectorizeError, declare_narrow_functions};

/// A function with a loop, and a copy with vectors.
pub struct LoopPair {
    module: Module,
    scalar: FuncId,
    vectors: FuncId,
}

/// What a function is given.
#[derive(Copy, Clone, Debug)]
pub enum Given<'a> {
    /// An integer.
    Number(u128),
    /// The address of a copy of these bytes, with nothing behind them.
    Bytes(&'a [u8]),
    /// The address of so many other bytes: those that are looked at in the end.
    Output(usize),
}

/// The number of steps of the interpreter after which a loop counts as one without end.
const FUEL: u64 = 1 << 28;

impl LoopPair {
    /// Vectorizes the loop of a function of a module in text form, whose header is the second block.
    ///
    /// # Panics
    /// If the module is not well-formed, or has no such function.
    ///
    /// # Errors
    /// If the loop cannot be vectorized.
    pub fn make(text: &str, function: &str, options: &Options<'_>) -> Result<LoopPair, VectorizeError> {
        let mut module = parse_module(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        declare_narrow_functions(&mut module);
        let scalar = module.function(function).expect("the function is there");
        let mut copy = module.functions[scalar].clone();
        copy.name = "vectors".into();
        let header = copy.layout[1];
        let vectors = module.functions.push(copy);
        vectorize_loop(&mut module, vectors, &Unit::new(header, options.width), options)?;
        Ok(LoopPair { module, scalar, vectors })
    }

    /// The module with both.
    pub fn text(&self) -> String {
        print_module(&self.module)
    }

    /// What each leaves in its output, the scalar function first; `None` for bytes that are not defined.
    ///
    /// # Panics
    /// If one traps.
    pub fn run(&self, given: &[Given<'_>]) -> [Vec<Option<u8>>; 2] {
        [self.scalar, self.vectors].map(|func| self.run_one(func, given))
    }

    fn run_one(&self, func: FuncId, given: &[Given<'_>]) -> Vec<Option<u8>> {
        let options = MachineOptions { fuel: FUEL, ..MachineOptions::default() };
        let mut machine = Machine::with_options(&self.module, options);
        let mut output = None;
        let mut place = |bytes: &[u8]| machine.memory.allocate_bytes(bytes, 16).expect("there is room");
        let arguments = given.iter().map(|given| match *given {
            Given::Number(n) => Val::int(n),
            Given::Bytes(bytes) => Val::ptr(place(bytes)),
            Given::Output(len) => {
                let at = place(&vec![0xaa; len]);
                output = Some((at, len as u64));
                Val::ptr(at)
            }
        });
        let arguments: Vec<Val> = arguments.collect();
        let code = machine.prepare_id(func);
        machine.run_scalar(&code, &arguments).expect("it runs");
        let (at, len) = output.expect("there is an output");
        machine.memory.read(at, len).expect("it is there")
    }
}
