//! Random programs that can be executed: one kernel with parameters of known shape, and what it calls.
//!
//! The control flow is made first (`skeleton`): nested and unstructured pieces (conditionals, loops of every form,
//! several exits, multi-level breaks and continues, jumps to labels, switches with parallel edges, early returns),
//! all of it reducible but for the labels that [`ProgramOptions::irreducible`] asks for. Then the blocks are filled
//! in dominator-tree order with instructions on whatever values dominate them, loop values outside of their loop
//! included. Loops have counters that bound them, addresses are kept inside their buffers, divisors away from zero,
//! and branches away from poison, except where [`ProgramOptions`] asks for such traps.
//!
//! One seed gives one program.

mod atomics;
mod calls;
mod carries;
pub mod composite;
mod fill;
mod fuses;
mod grids;
mod harness;
mod lane_ops;
pub mod loops;
mod memory;
mod places;
mod repeated_loads;
mod selections;
mod shrink;
mod skeleton;
mod wide;

pub use harness::{Given, Inputs, Mismatch, Observed, Reference, compare, run_lockstep, run_sequential};
pub use repeated_loads::repeat_loads;
pub use shrink::shrink;

use warpline_ir::{DataLayout, Effects, FuncId, Function, Module, Symbol, Type};

use crate::rng::SplitMix64;
use wide::WideTypes;

/// What the kernel does with memory.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum MemoryMode {
    /// It has no buffers.
    None,
    /// It reads shared buffers and writes only slots that belong to its own index: no two lanes meet.
    Private,
    /// It also reads and writes a shared buffer anywhere.
    Racy,
}

/// What a program may contain.
#[derive(Clone, Debug)]
pub struct ProgramOptions {
    /// How many control-flow statements the kernel has, about.
    pub size: usize,
    /// How deeply they are nested at most.
    pub depth: usize,
    /// At most so many instructions are put into a block (some of these need several).
    pub insts: usize,
    /// Memory.
    pub memory: MemoryMode,
    /// Lane operations (`any`, `ballot` …).
    pub lane_operations: bool,
    /// Calls of an external function and volatile stores.
    pub effects: bool,
    /// Functions besides the kernel.
    pub helpers: bool,
    /// Calls of them through pointers, which to an analysis may be calls of anything.
    pub function_pointers: bool,
    /// Divisions by numbers that may be zero, exits that must not be taken.
    pub traps: bool,
    /// Flags that make poison, unmasked shifts, out-of-range conversions (never decided upon).
    pub poison: bool,
    /// `half`, `i128`, vectors, aggregates.
    pub wide: bool,
    /// Atomic operations on memory of the own index, and on counters of all, where their order does not matter.
    pub atomics: bool,
    /// Loops with several entries.
    pub irreducible: bool,
    /// Arrays of structures, arrays from behind, rows and columns, buffers of many types (booleans among them).
    pub layouts: bool,
    /// `bfloat`; `x86_fp80` and `fp128`, with which nothing is computed.
    pub formats: bool,
    /// Structures, arrays and vectors, as parameters and results too.
    pub aggregates: bool,
    /// Pointers in memory.
    pub pointers: bool,
    /// Buffers in another address space.
    pub spaces: bool,
    /// Private memory, `memset` and `memcpy` of sizes that are known at run time only.
    pub sizes: bool,
    /// Fast-math flags, where they leave nothing open.
    pub fast_math: bool,
    /// Weights of branches.
    pub weights: bool,
    /// Loops without an exit, which are never entered.
    pub endless: bool,
}

impl Default for ProgramOptions {
    fn default() -> Self {
        ProgramOptions {
            size: 10,
            depth: 4,
            insts: 4,
            memory: MemoryMode::Private,
            lane_operations: false,
            effects: true,
            helpers: true,
            function_pointers: true,
            traps: false,
            poison: true,
            wide: false,
            atomics: false,
            irreducible: false,
            layouts: false,
            formats: false,
            aggregates: false,
            pointers: false,
            spaces: false,
            sizes: false,
            fast_math: false,
            weights: false,
            endless: false,
        }
    }
}

impl ProgramOptions {
    /// Anything that the vectorizer takes, where lanes do not meet in memory.
    pub fn random(rng: &mut SplitMix64) -> ProgramOptions {
        let mut options = ProgramOptions {
            size: 2 + rng.below(12),
            depth: 1 + rng.below(5),
            insts: 1 + rng.below(5),
            memory: [MemoryMode::None, MemoryMode::Private, MemoryMode::Private][rng.below(3)],
            lane_operations: rng.chance(1, 3),
            effects: rng.chance(1, 2),
            helpers: rng.chance(1, 4),
            function_pointers: true,
            traps: rng.chance(1, 3),
            poison: rng.chance(1, 2),
            wide: rng.chance(1, 3),
            atomics: rng.chance(1, 4),
            irreducible: rng.chance(1, 4),
            layouts: rng.chance(1, 2),
            aggregates: rng.chance(1, 4),
            pointers: rng.chance(1, 5),
            spaces: rng.chance(1, 6),
            sizes: rng.chance(1, 5),
            fast_math: rng.chance(1, 5),
            weights: rng.chance(1, 4),
            endless: rng.chance(1, 6),
            formats: rng.chance(1, 6),
        };
        // Lane operations in loops with several entries are refused.
        options.lane_operations &= !options.irreducible;
        options
    }
}

/// The role of a parameter of the kernel.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ParamRole {
    /// The index: lane 0's plus the lane number. Below [`MAX_INDEX`].
    Index,
    /// The same for all lanes.
    Uniform,
    /// Any value in each lane.
    Varying,
    /// The address of a buffer with so many elements of this type.
    Buffer {
        /// The element type.
        elem: Type,
        /// The number of elements.
        len: u64,
        /// Whether the kernel writes to it.
        written: bool,
    },
}

/// Indices of kernels are less than this.
pub const MAX_INDEX: u64 = 128;

/// Counters of all indices.
const COUNTERS: u64 = 8;

/// Elements of buffers that are only read, at indices of any kind.
const READ_ONLY: u64 = 256;

/// Elements of a row of what is only read by two indices.
const ROW: u64 = 64;

/// Elements that belong to each index in buffers that are written privately.
const SLOTS: u64 = 4;

/// A module with a kernel.
#[derive(Clone, Debug)]
pub struct Program {
    /// The module.
    pub module: Module,
    /// The kernel.
    pub kernel: FuncId,
    /// The roles of its parameters.
    pub roles: Vec<ParamRole>,
}

impl Program {
    /// The kernel's function.
    pub fn function(&self) -> &Function {
        &self.module.functions[self.kernel]
    }

    /// The text of the module.
    pub fn text(&self) -> String {
        warpline_ir::text::print_module(&self.module)
    }
}

/// What all functions of a program share.
struct Symbols {
    /// Unusual types.
    wide: WideTypes,
    effect: Option<Symbol>,
    helpers: Vec<Symbol>,
}

/// The program of a seed.
pub fn generate(seed: u64, options: &ProgramOptions) -> Program {
    let mut rng = SplitMix64::new(seed);
    let mut module = Module::new(format!("program {seed}"));
    // Native runs are on such machines.
    module.layout = DataLayout::x86_64();
    let wide = WideTypes::random(&mut rng, &mut module.types);
    let mut symbols = Symbols { wide, effect: None, helpers: Vec::new() };
    if options.effects {
        let i32s = Type::Int(32);
        let unknown = Effects::UNKNOWN.difference(Effects::DIVERGES | Effects::UNWINDS);
        symbols.effect = Some(module.function_symbol("effect", &[i32s], i32s, unknown));
    }
    let mut functions = Vec::new();
    if options.helpers && rng.chance(1, 3) {
        let inner = ProgramOptions {
            size: 3,
            depth: 2,
            memory: MemoryMode::None,
            effects: options.effects && rng.chance(1, 3),
            ..options.clone()
        };
        for k in 0..rng.between(1, 2) {
            let name = format!("helper{k}");
            let i32s = Type::Int(32);
            let mut f = Function::new(&name, i32s);
            f.add_param(i32s, "");
            f.add_param(i32s, "");
            let roles = vec![ParamRole::Varying; 2];
            build(&mut rng.fork(), &mut f, &mut module, &roles, &inner, &symbols);
            functions.push(f);
            let symbol = module.function_symbol(&name, &[i32s, i32s], i32s, Effects::UNKNOWN);
            symbols.helpers.push(symbol);
        }
        if rng.chance(1, 3) {
            let (f, symbol) = calls::recursive(&mut module, "recursive");
            functions.push(f);
            symbols.helpers.push(symbol);
        }
    }
    let ret = match unusual(&mut rng, options, &symbols.wide, 4) {
        Some(ty) => ty,
        None => *rng.pick(&[Type::Void, Type::Int(32), Type::Int(32), Type::Int(64), Type::F32, Type::F64]),
    };
    let mut f = Function::new("kernel", ret);
    let roles = parameters(&mut rng, &mut f, options, &symbols.wide);
    build(&mut rng, &mut f, &mut module, &roles, options, &symbols);
    let kernel = module.functions.push(f);
    for f in functions {
        module.functions.push(f);
    }
    Program { module, kernel, roles }
}

/// A structure, an array or a vector in one case of so many, if there are any.
fn unusual(rng: &mut SplitMix64, options: &ProgramOptions, wide: &WideTypes, of: usize) -> Option<Type> {
    if !options.aggregates || !rng.chance(1, of) {
        return None;
    }
    Some(match rng.chance(1, 3) {
        true => Type::Vector(wide.vectors[0]),
        false => *rng.pick(&wide.aggregates),
    })
}

fn parameters(
    rng: &mut SplitMix64,
    f: &mut Function,
    options: &ProgramOptions,
    wide: &WideTypes,
) -> Vec<ParamRole> {
    let mut roles = Vec::new();
    let scalars = [Type::Int(32), Type::Int(32), Type::Int(64), Type::Int(8), Type::F32, Type::F64];
    let scalar_or_not =
        |rng: &mut SplitMix64| unusual(rng, options, wide, 2).unwrap_or_else(|| *rng.pick(&scalars));
    let index = if rng.chance(1, 2) { Type::Int(32) } else { Type::Int(64) };
    f.add_param(index, "i");
    roles.push(ParamRole::Index);
    for k in 0..rng.between(1, 3) {
        let ty = if k == 0 { Type::Int(32) } else { scalar_or_not(rng) };
        f.add_param(ty, &format!("u{k}"));
        roles.push(ParamRole::Uniform);
    }
    for k in 0..rng.between(1, 3) {
        let ty = if k == 0 { Type::Int(32) } else { scalar_or_not(rng) };
        f.add_param(ty, &format!("x{k}"));
        roles.push(ParamRole::Varying);
    }
    let mut spaces = rng.fork();
    let mut buffer = |name: &str, elem, len, written| {
        // Pointers in memory point to what is in address space 0.
        let other = options.spaces && !options.pointers && spaces.chance(1, 2) && name != lane_ops::PACKED;
        f.add_param(Type::Ptr(other.into()), name);
        roles.push(ParamRole::Buffer { elem, len, written });
    };
    if options.memory != MemoryMode::None {
        buffer("in.i32", Type::Int(32), READ_ONLY, false);
        if rng.chance(2, 3) {
            buffer("in.f32", Type::F32, READ_ONLY, false);
        }
        if rng.chance(1, 3) {
            buffer("in.i8", Type::Int(8), READ_ONLY, false);
        }
        buffer("out.i32", Type::Int(32), MAX_INDEX * SLOTS, true);
        if rng.chance(1, 2) {
            buffer("out.f32", Type::F32, MAX_INDEX * SLOTS, true);
        }
        buffer("sink", Type::Int(64), MAX_INDEX * SLOTS, true);
        if options.layouts {
            for (ty, name) in
                [(Type::Int(16), "i16"), (Type::F64, "f64"), (Type::Int(64), "i64"), (Type::Int(8), "i8")]
            {
                if rng.chance(1, 3) {
                    buffer(&format!("fields.{name}"), ty, MAX_INDEX * SLOTS, false);
                }
                if rng.chance(1, 4) {
                    buffer(&format!("out.{name}"), ty, MAX_INDEX * SLOTS, true);
                }
            }
            buffer("backwards", Type::Int(32), MAX_INDEX * SLOTS, true);
            grids(rng, &mut buffer);
        }
        if options.aggregates {
            for (k, &ty) in
                wide.aggregates.iter().enumerate().filter(|&(k, ty)| k == 0 || *ty != wide.aggregates[0])
            {
                buffer(&format!("whole.{k}"), ty, MAX_INDEX, true);
            }
        }
        if options.formats {
            for (ty, name) in wide::FORMATS.into_iter().zip(["bfloat", "fp80", "fp128"]) {
                buffer(&format!("in.{name}"), ty, READ_ONLY, false);
                buffer(&format!("out.{name}"), ty, MAX_INDEX * SLOTS, true);
            }
        }
        if options.pointers {
            buffer("pointers", Type::PTR, MAX_INDEX * SLOTS, true);
        }
        if options.lane_operations {
            buffer(lane_ops::PACKED, Type::Int(64), lane_ops::PACKED_LEN, true);
        }
        if options.atomics {
            buffer("counters", Type::Int(32), COUNTERS, true);
        }
        if options.memory == MemoryMode::Racy {
            buffer("shared", Type::Int(32), 64, true);
        }
    }
    roles
}

/// Buffers for two indices and of booleans.
fn grids(rng: &mut SplitMix64, buffer: &mut impl FnMut(&str, Type, u64, bool)) {
    for (name, written) in [("rows", false), ("columns", true), ("columns.backwards", true)] {
        if rng.chance(1, 2) {
            let ty =
                *rng.pick(&[Type::Int(32), Type::Int(32), Type::Int(16), Type::Int(8), Type::F32, Type::F64]);
            buffer(name, ty, MAX_INDEX * SLOTS, written);
        }
    }
    if rng.chance(1, 3) {
        buffer("in.i1", Type::BOOL, READ_ONLY, false);
    }
    if rng.chance(1, 3) {
        buffer("out.i1", Type::BOOL, MAX_INDEX * SLOTS, true);
    }
}

fn build(
    rng: &mut SplitMix64,
    f: &mut Function,
    module: &mut Module,
    roles: &[ParamRole],
    options: &ProgramOptions,
    symbols: &Symbols,
) {
    let shape = skeleton::build(rng, f, options);
    fill::fill(rng, f, module, roles, options, symbols, &shape);
    fuses::set_counters(f, &shape);
}

#[cfg(test)]
mod tests;
