//! Which values go into something that is frozen.
//!
//! A fact says what a value is unless it is poison, so lanes may have poison in what is called uniform. `freeze` makes
//! of poison a number, another one in each lane: what it is made of must be poison in all lanes or in none, which a
//! fact does not say. Poison goes through operations, through memory, and into functions that are called.

use cranelift_entity::EntitySet;
use warpline_ir::{Effects, Function, Inst, Module, Op, Symbol, Value, ValueDef};

/// How many instructions of functions that are called are looked through; what calls more may freeze all it is given.
const ENOUGH: usize = 2000;

/// The values of a function that go into something frozen.
pub(super) struct Frozen {
    values: EntitySet<Value>,
}

impl Frozen {
    /// Finds them. Linear in the function, and in the number of functions for each that is called.
    pub(super) fn of(module: &Module, func: &Function) -> Frozen {
        let mut search = Search { func, values: EntitySet::new(), work: Vec::new(), is_memory_in: false };
        let mut callees = Callees { module, room: ENOUGH, freeze: EntitySet::new(), seen: EntitySet::new() };
        for inst in instructions(func) {
            let data = &func.insts[inst];
            if data.op == Op::Freeze || called(&data.op).is_some_and(|callee| callees.may_freeze(callee)) {
                search.add(&data.args);
            }
        }
        search.close();
        Frozen { values: search.values }
    }

    /// Whether a value does.
    pub(super) fn contains(&self, v: Value) -> bool {
        self.values.contains(v)
    }
}

fn instructions(func: &Function) -> impl Iterator<Item = Inst> + '_ {
    func.layout.iter().flat_map(|&b| func.block_insts(b))
}

/// The function that is called, if its name says which. The results of other calls are sources.
fn called(op: &Op) -> Option<Symbol> {
    match op {
        Op::Call(call) => call.callee,
        _ => None,
    }
}

/// Which functions freeze something, or call one that does.
struct Callees<'m> {
    module: &'m Module,
    /// How many more instructions are looked at.
    room: usize,
    freeze: EntitySet<Symbol>,
    seen: EntitySet<Symbol>,
}

impl Callees<'_> {
    fn may_freeze(&mut self, callee: Symbol) -> bool {
        if !self.seen.contains(callee) && self.finds_freeze(callee) {
            self.freeze.insert(callee);
        }
        self.freeze.contains(callee)
    }

    /// Looks through a function and all that it calls. Those without a body freeze nothing that counts: what they yield
    /// is a source, or a number that their name says how to compute.
    fn finds_freeze(&mut self, callee: Symbol) -> bool {
        let mut within: EntitySet<Symbol> = EntitySet::new();
        let mut work = vec![callee];
        self.seen.insert(callee);
        while let Some(symbol) = work.pop() {
            let name = &self.module.symbols[symbol].name;
            if !within.insert(symbol) || name.starts_with("llvm.") {
                continue;
            }
            let Some(id) = self.module.function(name) else { continue };
            let func = &self.module.functions[id];
            let Some(room) = self.room.checked_sub(func.insts.len()) else { return true };
            self.room = room;
            for inst in instructions(func) {
                let op = &func.insts[inst].op;
                if *op == Op::Freeze {
                    return true;
                }
                work.extend(called(op));
            }
        }
        false
    }
}

struct Search<'f> {
    func: &'f Function,
    values: EntitySet<Value>,
    work: Vec<Value>,
    /// Whether all that is written to memory and to variables has been added.
    is_memory_in: bool,
}

impl Search<'_> {
    fn add(&mut self, values: &[Value]) {
        for &v in values {
            if self.values.insert(v) {
                self.work.push(v);
            }
        }
    }

    fn close(&mut self) {
        let func = self.func;
        while let Some(v) = self.work.pop() {
            let ValueDef::Inst(inst, _) = func.values[v].def else { continue };
            let data = &func.insts[inst];
            if data.op == Op::Phi {
                let position = func.phi_position(inst).unwrap_or_default();
                for &e in &func.blocks[data.block].preds {
                    self.add(func.edges[e].args.get(position).map_or(&[], std::slice::from_ref));
                }
            } else {
                self.add(&data.args);
            }
            let reads = data.op.effects().intersects(Effects::READS | Effects::UNKNOWN_RESULT)
                || matches!(data.op, Op::ReadVar(_));
            if reads && !std::mem::replace(&mut self.is_memory_in, true) {
                for inst in instructions(func) {
                    let data = &func.insts[inst];
                    if data.op.effects().contains(Effects::WRITES) || matches!(data.op, Op::WriteVar(_)) {
                        self.add(&data.args);
                    }
                }
            }
        }
    }
}
