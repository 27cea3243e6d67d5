//! Hand-written kernels, judged in every way there is.
//!
//! A [`Kernel`] is a text with arguments for a range of indices. [`Kernel::judge`] vectorizes it for many widths and
//! ways to linearize, runs the range driver of the machine code (full groups and a partial one, buffers between guard
//! pages, a callee that keeps a log), and compares memory, results and log with those of the scalar kernel, index
//! after index; and it has the lane interpreter run scalar threads in lockstep, the lane program and the vector code
//! under all masks of up to four lanes.

use std::cell::RefCell;
use std::ops::Range;

use warpline_interp::LaneSet;
use warpline_ir::{FuncId, Module as Ir, Type};
use warpline_llvm::worker::{CodegenOptions, Output, codegen_in_process};
use warpline_llvm::{Cpu, Imported, Jit, Linkage, Llvm, Module};
use warpline_testkit::differential::{Form, Outcome, Setup, compare_all};
use warpline_testkit::programs::{Given, Inputs, ParamRole, Program};
use warpline_uniformity::shape::ArgShape;
use warpline_vectorize::driver::{Division, MadeVariants, Tail, scalar_range, slots_entry, vector_range};
use warpline_vectorize::{
    Boscc, Callees, Coherence, Contract, Gathers, Linearize, Options, VectorizeError, Vectorized, loops,
    vectorize,
};

use super::guarded::Guarded;

#[path = "cpus.rs"]
pub mod cpus;

/// An argument of a kernel.
#[derive(Clone, Debug)]
pub enum Arg {
    /// The index.
    Index,
    /// The same for all indices: an integer, or the bits of a number.
    Uniform(u64),
    /// Lane 0's value, and how much more each further lane has.
    Stride(u64, i64),
    /// Its own for each index of the range, the bytes of one after those of the other.
    Varying(Vec<u8>),
    /// The address of these bytes.
    Buffer(Vec<u8>),
    /// Lane 0's address, so many bytes more for each further lane; these bytes are what can be accessed.
    Place(Vec<u8>, i64),
}

/// A kernel and what it is run on.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// A module in LLVM's text form; the function is called `kernel`.
    pub text: String,
    /// Its arguments.
    pub args: Vec<Arg>,
    /// The indices.
    pub range: Range<u64>,
    /// Bytes of a result; 0 if it has none.
    pub result: usize,
    /// Whether not the function is the unit, but its first loop. All arguments are uniform or buffers then, and the
    /// range has one index.
    pub looped: bool,
    /// Who answers for memory that several lanes access; that of a loop is sequential, if nothing else is promised.
    pub contract: Contract,
}

/// What a run over the range left behind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Left {
    /// The buffers.
    pub buffers: Vec<Vec<u8>>,
    /// The results.
    pub results: Vec<u8>,
    /// The calls of `log_call`, by their first argument, each in its order.
    pub log: Vec<(u32, u32)>,
}

/// Bytes of numbers.
pub fn bytes<const N: usize, T>(values: impl IntoIterator<Item = T>, to: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.into_iter().flat_map(to).collect()
}

/// The bytes of 32-bit integers.
pub fn words(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
    bytes(values, u32::to_le_bytes)
}

thread_local! {
    static LOG: RefCell<Vec<(u32, u32)>> = const { RefCell::new(Vec::new()) };
}

extern "C" fn log_call(who: u32, what: u32) {
    LOG.with_borrow_mut(|log| log.push((who, what)));
}

/// Whether LLVM is there; if not, says that the test is skipped.
pub fn llvm_is_there() -> bool {
    match Llvm::get() {
        Ok(_) => true,
        Err(error) => {
            eprintln!("skipped: {error}");
            false
        }
    }
}

/// What the interpreter tries.
const FORMS: [(Linearize, Boscc); 3] =
    [(Linearize::Partial, Boscc::Off), (Linearize::Partial, Boscc::On), (Linearize::Full, Boscc::Off)];

/// A width, a way to linearize and LLVM's passes that machine code is tried with.
pub type Mode = (u32, Linearize, Boscc, &'static str);

/// All that are tried, for the CPUs in turn.
const MODES: [Mode; 9] = [
    (1, Linearize::Partial, Boscc::Off, "default<O3>"),
    (2, Linearize::Partial, Boscc::On, "default<O1>"),
    (3, Linearize::Partial, Boscc::Off, "default<O2>"),
    (4, Linearize::Full, Boscc::Off, "default<O3>"),
    (8, Linearize::Partial, Boscc::Off, ""),
    (8, Linearize::Partial, Boscc::Auto, "default<O3>"),
    (16, Linearize::Partial, Boscc::On, "default<O3>"),
    (32, Linearize::Full, Boscc::Off, "default<O3>"),
    (64, Linearize::Partial, Boscc::Off, "default<O1>"),
];

impl Kernel {
    /// The shapes of the arguments.
    pub fn shapes(&self) -> Vec<ArgShape> {
        let shape = |a: &Arg| match a {
            Arg::Index => ArgShape::Index,
            Arg::Uniform(_) | Arg::Buffer(_) => ArgShape::Uniform,
            Arg::Stride(_, n) | Arg::Place(_, n) => ArgShape::Stride(*n),
            Arg::Varying(_) => ArgShape::Varying,
        };
        self.args.iter().map(shape).collect()
    }

    /// The module, imported.
    pub fn import(&self) -> Imported {
        Imported::new(Module::parse(self.text.as_bytes(), "kernel.ll").expect("LLVM accepts the kernel"))
    }

    /// Vectorizes it.
    ///
    /// # Errors
    /// If it is refused.
    pub fn vectorized(&self, ir: &mut Ir, asked: Options<'_>) -> Result<Vectorized, VectorizeError> {
        let kernel = ir.function("kernel").expect("the function is called `kernel`");
        vectorize(ir, kernel, &Options { contract: self.contract, ..asked })
    }

    /// Vectorizes its first loop in a copy of the function: the copy, and the W-lane form of the loop's body.
    ///
    /// # Errors
    /// If it is refused.
    pub fn vectorized_loop(
        &self,
        ir: &mut Ir,
        asked: &Options<'_>,
    ) -> Result<(FuncId, Vectorized), VectorizeError> {
        let kernel = ir.function("kernel").expect("the function is called `kernel`");
        let mut copy = ir.functions[kernel].clone();
        copy.name = "kernel.loops".into();
        let header = loops::Nest::of(&copy).headers().next().expect("a loop");
        let copy = ir.functions.push(copy);
        // Multiples of 4 have smaller groups, too.
        let epilogue = if asked.width.is_multiple_of(4) { asked.width / 4 } else { asked.width };
        let contract = match self.contract {
            Contract::Independent => Contract::Independent,
            _ => Contract::Sequential,
        };
        let (tail, unit_strides) = (tail_for(asked.width), asked.width.is_multiple_of(8));
        let own = loops::Unit::new(header, asked.width);
        let unit = loops::Unit { epilogue, tail, contract, unit_strides, ..own };
        // Some hold in registers what other widths update in memory; what cannot be done without is done so.
        let holding = loops::Unit { holds: loops::Holds::Awaited, ..unit };
        let (first, then) = if asked.width.is_multiple_of(8) { (holding, unit) } else { (unit, holding) };
        let before = ir.clone();
        let made = loops::vectorize_loop(ir, copy, &first, asked).or_else(|e| {
            *ir = before;
            loops::vectorize_loop(ir, copy, &then, asked).map_err(|_| e)
        })?;
        Ok((copy, made.variants.full))
    }

    /// Why it is refused.
    ///
    /// # Panics
    /// If it is not.
    pub fn refusal(&self) -> String {
        let asked = Options::new(4, self.shapes(), "refused");
        let mut imported = self.import();
        let made = match self.looped {
            true => self.vectorized_loop(&mut imported.ir, &asked).map(|_| ()),
            false => self.vectorized(&mut imported.ir, asked).map(|_| ()),
        };
        made.expect_err("the kernel is to be refused").to_string()
    }

    /// Judges it in every way; nothing is done if there is no LLVM.
    ///
    /// # Panics
    /// If anything but the scalar kernel's behaviour comes out.
    pub fn judge(&self) {
        if !llvm_is_there() {
            return;
        }
        self.judge_natively();
        if !self.looped {
            self.judge_by_interpretation();
        }
    }

    /// Judges a kernel with types that the interpreter has no inputs for: by its scalar machine code alone.
    ///
    /// # Panics
    /// As [`Kernel::judge`].
    pub fn judge_in_machine_code(&self) {
        if llvm_is_there() {
            self.judge_natively();
        }
    }

    /// Judges a kernel whose lanes meet in memory: only what threads in lockstep do binds.
    ///
    /// # Panics
    /// As [`Kernel::judge`].
    pub fn judge_in_lockstep(&self) {
        if llvm_is_there() {
            self.judge_by_interpretation();
        }
    }

    /// Machine code against the scalar kernel.
    fn judge_natively(&self) {
        let cpus = cpus::cpus();
        for (mode, cpu) in MODES.into_iter().zip(cpus.iter().cycle()) {
            self.judge_for(mode, cpu);
        }
    }

    /// Machine code for one CPU, made in one way, against the scalar kernel.
    ///
    /// # Panics
    /// As [`Kernel::judge`].
    pub fn judge_for(&self, mode: Mode, cpu: &Cpu) {
        let jit = self.compile(mode, cpu);
        let n = self.range.end - self.range.start;
        let widths = [0, 1, n / 2, n];
        for count in widths {
            for at_end in [true, false] {
                let scalar = self.run(&jit, "scalar.slots", count, at_end);
                let vector = self.run(&jit, "vector.slots", count, at_end);
                assert_eq!(scalar, vector, "{mode:?}, {}, {count} indices\n{}", cpu.name, self.text);
            }
        }
    }

    /// A function whose first loop is the unit, and which returns 8 bytes.
    pub fn of_loop(text: String, args: Vec<Arg>, contract: Contract) -> Kernel {
        Kernel { text, args, range: 0..1, result: 8, looped: true, contract }
    }

    /// Machine code for one CPU, made in one way, against the scalar kernel, on many arguments of the same kinds.
    ///
    /// # Panics
    /// As [`Kernel::judge`].
    pub fn judge_on(&self, mode: Mode, cpu: &Cpu, inputs: impl IntoIterator<Item = Vec<Arg>>) {
        let jit = self.compile(mode, cpu);
        let n = self.range.end - self.range.start;
        for args in inputs {
            let kernel = Kernel { args, ..self.clone() };
            for at_end in [true, false] {
                let [scalar, vector] =
                    ["scalar.slots", "vector.slots"].map(|name| kernel.run(&jit, name, n, at_end));
                assert_eq!(scalar, vector, "{mode:?}, {}, {:?}\n{}", cpu.name, kernel.args, self.text);
            }
        }
    }

    fn compile(&self, mode: Mode, cpu: &Cpu) -> Jit {
        let object = self.object(mode, cpu, ["scalar.slots", "vector.slots"]);
        let jit = Jit::new().expect("LLVM is there");
        if self.text.contains("@log_call") {
            jit.define("log_call", log_call as *const () as usize).expect("a free name");
        }
        jit.add_object(&object, "kernel.o").unwrap_or_else(|e| panic!("{e}\n{}", self.text));
        jit
    }

    /// An object file with entries to the scalar kernel and to its vector form over a range, which have these names;
    /// nothing else in it can be seen from outside. The module says for which target it is.
    ///
    /// # Panics
    /// If it is refused, or no code can be made.
    pub fn object(
        &self,
        (width, linearize, boscc, passes): Mode,
        cpu: &Cpu,
        [scalar_name, vector_name]: [&str; 2],
    ) -> Vec<u8> {
        let mut imported = self.import();
        let known = imported.ir.functions.len();
        let kernel = imported.ir.function("kernel").expect("the function is called `kernel`");
        let shapes = self.shapes();
        // The smallest registers of all machines.
        let bodies = imported.final_bodies(128);
        let callees: &dyn Callees = &bodies;
        let gathers = match &*cpu.name {
            "x86-64-v2" => Gathers::Nothing,
            "haswell" => Gathers::Avx2,
            _ => Gathers::Everything,
        };
        let coherence = if boscc == Boscc::Auto { Coherence::Auto } else { Coherence::On };
        let common = Options {
            linearize,
            boscc,
            callees,
            machine: warpline_vectorize::width::Machine { gathers, ..Default::default() },
            coherence,
            ..Options::new(width, shapes.clone(), "kernel.x")
        };
        let vector = match self.looped {
            true => self.vector_loop(&mut imported.ir, &common),
            false => self.vector_range(&mut imported.ir, &common),
        };
        let ir = &mut imported.ir;
        let scalar = scalar_range(ir, kernel, &shapes, "scalar").expect("a driver");
        slots_entry(ir, scalar, scalar_name).expect("an entry");
        slots_entry(ir, vector, vector_name).expect("an entry");
        let added: Vec<FuncId> = imported.ir.functions.keys().skip(known).collect();
        for id in added {
            let function = &imported.ir.functions[id];
            imported
                .bridge
                .add_function(&imported.ir, function, Linkage::External)
                .expect("it can be exported");
        }
        let mut options = CodegenOptions::new(cpu.clone(), Output::Object);
        let comma = if passes.is_empty() { "" } else { "," };
        options.passes = format!(
            "internalize<preserve-gv={scalar_name};preserve-gv={vector_name}>,globaldce{comma}{passes}"
        );
        options.define_lane_operations = true;
        // Where panics go; nothing may be missing but the callee that is given to the code.
        options.define_missing = !self.text.contains("@log_call");
        codegen_in_process(&imported.bridge.module().to_bitcode(), "kernel", &options)
            .unwrap_or_else(|e| panic!("{e}\n{}", self.text))
    }

    /// A driver of the function in which the loop is vectorized.
    fn vector_loop(&self, ir: &mut Ir, asked: &Options<'_>) -> FuncId {
        let made = self.vectorized_loop(ir, asked);
        let (copy, _) = made.unwrap_or_else(|e| panic!("{e}\n{}", self.text));
        scalar_range(ir, copy, &asked.args, "vector").expect("a driver")
    }

    /// A driver of the kernel's W-lane forms.
    fn vector_range(&self, ir: &mut Ir, asked: &Options<'_>) -> FuncId {
        let kernel = ir.function("kernel").expect("the function is called `kernel`");
        // Multiples of 4 have smaller groups, too.
        let epilogue = if asked.width.is_multiple_of(4) { asked.width / 4 } else { asked.width };
        let (name, args) = ("kernel.lanes".to_owned(), asked.args.clone());
        let options = Options { name, args, contract: self.contract, ..*asked };
        let division = Division { epilogue, tail: tail_for(asked.width), prologue: 0, least: 0 };
        let made = MadeVariants::make(ir, kernel, &options, division);
        let variants = made.unwrap_or_else(|e| panic!("{e}\n{}", self.text)).variants();
        vector_range(ir, kernel, &variants, &asked.args, "vector").expect("a driver")
    }

    /// Runs a driver on the first indices of the range.
    fn run(&self, jit: &Jit, name: &str, count: u64, at_end: bool) -> Left {
        let n = (self.range.end - self.range.start) as usize;
        let mut slots = vec![self.range.start, self.range.start + count];
        let mut buffers = Vec::new();
        for arg in &self.args {
            match arg {
                Arg::Index => {}
                Arg::Uniform(x) | Arg::Stride(x, _) => slots.push(*x),
                Arg::Varying(bytes) => {
                    let used = bytes.len() / n.max(1) * count as usize;
                    let array = Guarded::new(&bytes[..used], at_end);
                    slots.push(array.address());
                    buffers.push(array);
                }
                Arg::Buffer(bytes) | Arg::Place(bytes, _) => {
                    let buffer = Guarded::new(bytes, at_end);
                    slots.push(buffer.address());
                    buffers.push(buffer);
                }
            }
        }
        let mut results = Guarded::new(&vec![0x5a; self.result * count as usize], at_end);
        if self.result > 0 {
            slots.push(results.address());
        }
        LOG.with_borrow_mut(Vec::clear);
        jit.function(name).expect("it was compiled").call(&mut slots);
        let mut log = LOG.take();
        log.sort_by_key(|&(who, _)| who);
        let intact = |b: &mut Guarded| b.bytes().expect("nothing is written beside a buffer");
        Left { buffers: buffers.iter_mut().map(intact).collect(), results: intact(&mut results), log }
    }

    /// Lockstep threads, lane program and vector code, interpreted under every mask.
    fn judge_by_interpretation(&self) {
        let imported = self.import();
        let kernel = imported.ir.function("kernel").expect("the function is called `kernel`");
        let roles = self.args.iter().map(|a| match a {
            Arg::Index => Some(ParamRole::Index),
            Arg::Uniform(_) => Some(ParamRole::Uniform),
            Arg::Varying(_) => Some(ParamRole::Varying),
            Arg::Buffer(b) => {
                Some(ParamRole::Buffer { elem: Type::Int(8), len: b.len() as u64, written: true })
            }
            Arg::Stride(..) | Arg::Place(..) => None,
        });
        let Some(roles) = roles.collect::<Option<Vec<_>>>() else { return };
        let program = Program { module: imported.ir.clone(), kernel, roles };
        let mut compared = 0;
        for width in 1..=4 {
            let inputs = self.inputs(width);
            for mask in 0..1u64 << width {
                for (linearize, boscc) in FORMS {
                    let gathers = if boscc == Boscc::On { Gathers::Nothing } else { Gathers::Everything };
                    let coherence = if boscc == Boscc::On { Coherence::On } else { Coherence::Off };
                    let form = Form { linearize, boscc, gathers, coherence };
                    let setup = Setup { mask: Some(LaneSet(mask)), form, fuel: 1_000_000 };
                    match compare_all(&program, &inputs, &setup) {
                        Outcome::Agree(_) => compared += 1,
                        Outcome::Skipped(_) => {}
                        other => {
                            panic!("{width} lanes, mask {mask:b}, {form:?}: {other:?}\n{}", self.text)
                        }
                    }
                }
            }
        }
        assert!(compared > 0, "the interpreter never came to an end\n{}", self.text);
    }

    /// The first indices of the range as inputs for the interpreter.
    fn inputs(&self, width: u32) -> Inputs {
        let n = (self.range.end - self.range.start) as usize;
        let given = self.args.iter().map(|a| match a {
            Arg::Index => {
                Given::Lanes((0..u64::from(width)).map(|k| u128::from(self.range.start + k)).collect())
            }
            Arg::Uniform(x) | Arg::Stride(x, _) => Given::Same(u128::from(*x)),
            Arg::Varying(bytes) => {
                let size = bytes.len() / n.max(1);
                let lane = |c: &[u8]| c.iter().rev().fold(0, |v, &x| v << 8 | u128::from(x));
                Given::Lanes(bytes.chunks(size).take(width as usize).map(lane).collect())
            }
            Arg::Buffer(bytes) | Arg::Place(bytes, _) => Given::Buffer(bytes.clone()),
        });
        Inputs::given(width, given.collect())
    }
}

/// Of every other number of lanes that has smaller groups, the scalar program executes what is left at last.
fn tail_for(width: u32) -> Tail {
    if width.is_multiple_of(8) { Tail::Scalar } else { Tail::Masked }
}
