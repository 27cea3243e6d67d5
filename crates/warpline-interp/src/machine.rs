//! The machine: a module, its memory, a host, and what to do with them.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use cranelift_entity::SecondaryMap;

use super::code::Code;
use super::cycles::ChildOrder;
use super::decode::{self, Order, Symbols};
use super::exec::{Exec, Frame};
use super::host::{Effect, Host, NoHost};
use super::mathematics::Mathematics;
use super::memory::Memory;
use super::observe::Observer;
use super::race::RaceLog;
use super::trap::{Trap, TrapKind};
use super::value::{LaneSet, Val};
use warpline_ir::{Block, FuncId, Function, Module, Symbol, SymbolKind};

/// What fills the results of instructions in lanes where the block's mask is false.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Inactive {
    /// Poison.
    #[default]
    Poison,
    /// Pseudo-random bits of this seed.
    Random(u64),
}

/// How to interpret.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many instructions may be executed, counted once per lane, in the machine's life.
    pub fuel: u64,
    /// How deeply calls may be nested.
    pub recursion_limit: u32,
    /// Whether accesses that are less aligned than they say trap.
    pub check_alignment: bool,
    /// Whether `getelementptr inbounds` out of an allocation is poison.
    pub check_inbounds: bool,
    /// Whether `llvm.fmuladd` of `float` and `double` rounds once.
    pub fuse_multiply_add: bool,
    /// Which cycle hierarchy lockstep runs use; looked at when a function is prepared.
    pub child_order: ChildOrder,
    /// The inactive lanes of lane programs.
    pub inactive: Inactive,
    /// Whether [`Machine::effects`] are recorded, which takes memory without bounds.
    pub record_effects: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            fuel: 1 << 32,
            recursion_limit: 200,
            check_alignment: true,
            check_inbounds: true,
            fuse_multiply_add: false,
            child_order: ChildOrder::default(),
            inactive: Inactive::default(),
            record_effects: true,
        }
    }
}

/// An argument of a run of several lanes.
#[derive(Clone, Debug)]
pub enum LaneArg {
    /// The same for every lane.
    Same(Val),
    /// One for each lane.
    Each(Vec<Val>),
}

/// What a run of several lanes yields.
#[derive(Clone, Debug)]
pub struct Run {
    /// What each lane returned; `None` for lanes that did not take part. A `void` function returns no cells.
    pub returns: Vec<Option<Val>>,
    /// Which lanes executed each block of the function: with a true mask, in a lane program.
    pub visited: SecondaryMap<Block, LaneSet>,
    /// How lanes met in memory.
    pub races: RaceLog,
    /// Instructions executed, counted once per lane.
    pub steps: u64,
}

/// Interprets functions of a module.
///
/// Memory, effects and fuel last from run to run; a fresh machine is a fresh program.
pub struct Machine<'m> {
    pub(super) module: &'m Module,
    /// How to interpret.
    pub options: Options,
    /// The memory.
    pub memory: Memory,
    /// The effects so far, in order.
    pub effects: Vec<Effect>,
    /// Whether a `freeze` had to choose a value (it chooses zero): then the program has other results as well.
    pub froze: bool,
    pub(super) host: Box<dyn Host + 'm>,
    pub(super) mathematics: Option<Box<dyn Mathematics + 'm>>,
    pub(super) fuel: u64,
    functions: HashMap<&'m str, FuncId>,
    prepared: SecondaryMap<FuncId, Option<Rc<Code>>>,
    addresses: SecondaryMap<Symbol, Option<u64>>,
    functions_at: BTreeMap<u64, Symbol>,
    pub(super) spare_frames: Vec<Frame>,
}

impl<'m> Machine<'m> {
    /// A machine with empty memory that knows no external functions.
    pub fn new(module: &'m Module) -> Machine<'m> {
        Machine::with_options(module, Options::default())
    }

    /// A machine with these options.
    pub fn with_options(module: &'m Module, options: Options) -> Machine<'m> {
        // Of several functions of one name, such as an iteration of a loop in a function, the first, as for the module.
        let functions = module.functions.iter().rev().map(|(id, f)| (&*f.name, id)).collect();
        Machine {
            module,
            memory: Memory::new(module.layout.pointer_bits(0), module.layout.big_endian()),
            effects: Vec::new(),
            froze: false,
            host: Box::new(NoHost),
            mathematics: None,
            fuel: options.fuel,
            options,
            functions,
            prepared: SecondaryMap::new(),
            addresses: SecondaryMap::new(),
            functions_at: BTreeMap::new(),
            spare_frames: Vec::new(),
        }
    }

    /// Gives the machine another host.
    pub fn set_host(&mut self, host: impl Host + 'm) {
        self.host = Box::new(host);
    }

    /// Has some mathematics computed elsewhere, in functions that are prepared from now on.
    pub fn set_mathematics(&mut self, mathematics: impl Mathematics + 'm) {
        self.mathematics = Some(Box::new(mathematics));
    }

    /// The module.
    pub fn module(&self) -> &'m Module {
        self.module
    }

    /// The fuel that is left.
    pub fn fuel(&self) -> u64 {
        self.fuel
    }

    /// Decodes a function, of the module or one that refers to the module's symbols and types. What cannot be
    /// interpreted traps when it is reached.
    pub fn prepare(&mut self, function: &Function) -> Rc<Code> {
        self.prepare_ordered(function, None)
    }

    /// [`Machine::prepare`] with an order of blocks: where a lockstep run may execute either of two blocks (or
    /// cycles) first, it is the one that comes first in `order`. A run of a racy program depends on that.
    pub fn prepare_ordered(&mut self, function: &Function, order: Option<&[Block]>) -> Rc<Code> {
        let order = Order { children: self.options.child_order, layout: order };
        Rc::new(decode::decode(self, function, None, &order))
    }

    /// [`Machine::prepare`] for a function of the module; decoded once.
    pub fn prepare_id(&mut self, id: FuncId) -> Rc<Code> {
        if let Some(code) = &self.prepared[id] {
            return code.clone();
        }
        let order = Order { children: self.options.child_order, layout: None };
        let module = self.module;
        let code = Rc::new(decode::decode(self, &module.functions[id], Some(id), &order));
        self.prepared[id] = Some(code.clone());
        code
    }

    /// The address of a symbol. Memory for a global is allocated when it is first asked for: its bytes, if they
    /// are known, else undefined memory.
    ///
    /// # Errors
    /// If the symbol has no modelled size.
    pub(crate) fn symbol_address(&mut self, symbol: Symbol) -> Result<u64, TrapKind> {
        if let Some(a) = self.addresses[symbol] {
            return Ok(a);
        }
        let data = &self.module.symbols[symbol];
        let address = match &data.kind {
            SymbolKind::Function { .. } | SymbolKind::Other => self.memory.allocate_bytes(&[0; 16], 16)?,
            SymbolKind::Global { ty, align, bytes, .. } => match bytes {
                Some(bytes) => self.memory.allocate_bytes(bytes, *align)?,
                None => {
                    let size = self.module.layout.alloc_size(&self.module.types, *ty);
                    let size =
                        size.ok_or_else(|| TrapKind::Unsupported(format!("the size of `{}`", data.name)))?;
                    self.memory.allocate(size, *align)?
                }
            },
        };
        match &data.kind {
            SymbolKind::Global { constant: false, .. } => {}
            SymbolKind::Global { .. } => self.memory.protect(address),
            _ => {
                self.memory.protect(address);
                self.functions_at.insert(address, symbol);
            }
        }
        self.addresses[symbol] = Some(address);
        Ok(address)
    }

    pub(super) fn function_at(&self, address: u64) -> Option<Symbol> {
        self.functions_at.get(&address).copied()
    }

    pub(super) fn function_named(&self, name: &str) -> Option<FuncId> {
        self.functions.get(name).copied()
    }

    /// Runs a function as one thread. A `void` function returns no cells.
    ///
    /// # Errors
    /// A [`Trap`]: undefined behaviour, or a limit of the interpreter.
    pub fn run_scalar(&mut self, code: &Rc<Code>, args: &[Val]) -> Result<Val, Trap> {
        let args: Vec<LaneArg> = args.iter().cloned().map(LaneArg::Same).collect();
        let run = self.run_lockstep(code, 1, LaneSet::one(0), &args, None)?;
        Ok(run.returns.into_iter().next().flatten().unwrap_or_default())
    }

    /// Runs a scalar function as `width` threads (at most 64) in lockstep, by the maximal converged-with relation of
    /// the cycle hierarchy that [`Options::child_order`] chooses. Only the lanes of `entry` take part. `observer`
    /// sees every instruction executed.
    ///
    /// # Errors
    /// The first [`Trap`] of any lane.
    pub fn run_lockstep(
        &mut self,
        code: &Rc<Code>,
        width: u32,
        entry: LaneSet,
        args: &[LaneArg],
        observer: Option<&mut dyn Observer>,
    ) -> Result<Run, Trap> {
        self.run(code, width, entry, args, observer, false)
    }

    /// Runs a lane program of `width` lanes (at most 64): the control flow is uniform, instructions take effect
    /// under the masks of their blocks, all of it in the lanes of `entry`.
    ///
    /// # Errors
    /// The first [`Trap`] of any lane, or a broken rule of lane programs.
    pub fn run_lanes(
        &mut self,
        code: &Rc<Code>,
        width: u32,
        entry: LaneSet,
        args: &[LaneArg],
        observer: Option<&mut dyn Observer>,
    ) -> Result<Run, Trap> {
        self.run(code, width, entry, args, observer, true)
    }

    fn run(
        &mut self,
        code: &Rc<Code>,
        width: u32,
        entry: LaneSet,
        args: &[LaneArg],
        observer: Option<&mut dyn Observer>,
        lane_program: bool,
    ) -> Result<Run, Trap> {
        let bad = |why: &str| Err(Trap::bare(TrapKind::BadArguments(why.into())));
        if width == 0 || width > 64 || !entry.minus(LaneSet::first(width)).is_empty() {
            return bad("the lanes must be among the first 64");
        }
        if args.len() != code.params.len() {
            return bad("their number is not that of the parameters");
        }
        let fuel = self.fuel;
        self.memory.watch_races(entry.len() > 1);
        let mut exec = Exec::new(self, width, observer);
        let mut frame = exec.new_frame(code);
        for (slot, arg) in code.params.iter().zip(args) {
            for lane in 0..width {
                let val = match arg {
                    LaneArg::Same(v) => Some(v),
                    LaneArg::Each(list) => list.get(lane as usize),
                };
                match val {
                    Some(v) if v.cells.len() == slot.len as usize => frame.set(lane, *slot, &v.cells),
                    None if !entry.contains(lane) && !lane_program => {}
                    _ => return bad("a value does not fit its parameter"),
                }
            }
        }
        let mut visited = SecondaryMap::with_capacity(code.num_blocks);
        let result = match lane_program {
            true => exec.lane_program(code, &mut frame, entry, &mut visited),
            false => exec.group(code, &mut frame, entry, Some(&mut visited)),
        };
        exec.release_frame(frame);
        let races = self.memory.races.take().unwrap_or_default();
        Ok(Run { returns: result?, visited, races, steps: fuel - self.fuel })
    }
}

impl Symbols for Machine<'_> {
    fn module(&self) -> &Module {
        self.module
    }

    fn address(&mut self, symbol: Symbol) -> Result<u64, Box<str>> {
        self.symbol_address(symbol).map_err(|e| e.to_string().into())
    }

    fn function(&self, name: &str) -> Option<FuncId> {
        self.function_named(name)
    }

    fn mathematics(&self, name: &str) -> Option<usize> {
        self.mathematics.as_ref()?.find(name)
    }
}
