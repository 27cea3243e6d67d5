//! What single instructions do with secrets in memory, and what they hand over to other functions.

use super::calls;
use super::memory::{FAR, Held, Object, Place, Places, Region};
use super::points::{allocates, may_hold_pointers};
use super::state::{Given, InstanceId, Secret, State, Why};
use warpline_dataflow::memory;
use warpline_ir::demangle;
use warpline_ir::pattern::matches;
use warpline_ir::{AccessType, Block, Effects, FuncId, Inst, Op, Value};

/// Functions of the C library that set memory: which argument says how much. Nothing else comes of their arguments.
const SETTERS: [(&str, usize); 4] =
    [("bzero", 1), ("explicit_bzero", 1), ("memset_explicit", 2), ("OPENSSL_cleanse", 1)];

/// What makes a value public: LLVM's `llvm.annotation` with this text, or a function whose name ends so.
pub(super) const DECLASSIFY: &str = "warpline_declassify";

impl State<'_> {
    /// The type that an instruction accesses memory as.
    fn access_type(&self, id: InstanceId, inst: Inst) -> Option<AccessType> {
        self.module.access_types.of(self.instance(id).func.insts[inst].origin)
    }

    /// Why memory that can be reached by a pointer holds secrets: what it leads to, and what lies behind that.
    pub(super) fn reaches_secrets(&mut self, id: InstanceId, pointer: Value) -> Option<Held> {
        let places = self.places(id, pointer);
        let direct = places.regions(None).find_map(|region| self.memory.secret_in(region, None));
        let held = direct.or_else(|| {
            let objects = self.memory.reachable(&places);
            objects.into_iter().find_map(|object| self.memory.secret_in(Region::whole(object), None))
        });
        held.filter(|&held| self.is_for_unknown(held))
    }

    /// Whether a function that is not known is taken to use secrets that lie there.
    fn is_for_unknown(&self, held: Held) -> bool {
        self.spreads || held != Held::Elsewhere
    }

    fn write(
        &mut self,
        id: InstanceId,
        inst: Inst,
        regions: impl IntoIterator<Item = Region>,
        ty: Option<AccessType>,
        why: Why,
    ) {
        let visit = self.visit;
        let mut new = false;
        let block = self.instance(id).func.insts[inst].block;
        for region in regions {
            if matches!(why, Why::Steered(_)) && self.lives_with(id, block, region.object) {
                continue;
            }
            new |= self.memory.write(region, ty, (id, inst), visit);
        }
        if new {
            self.instance_mut(id).writes.entry(inst).or_insert((why, visit));
        }
    }

    fn read(&mut self, id: InstanceId, inst: Inst, why: Why) {
        let visit = self.visit;
        let of = self.instance_mut(id);
        if !of.func.insts[inst].results.is_empty() {
            of.sources.entry(inst).or_insert((why, visit));
        }
    }

    /// Looks at an instruction.
    pub(super) fn instruction(&mut self, id: InstanceId, b: Block, inst: Inst) {
        let of = self.instance(id);
        let data = &of.func.insts[inst];
        let steered = of.steered.get(&b).map(|&by| Why::Steered(by));
        match &data.op {
            Op::Load(_) => {
                let size = self.size_of(id, data.results.first().copied());
                let ty = self.access_type(id, inst);
                let places = self.places(id, data.args[0]);
                let why = places.regions(size).find_map(|region| self.memory.secret_in(region, ty));
                if let Some(why) = why {
                    self.read(id, inst, Why::Memory(why));
                }
            }
            Op::Store(_) => {
                let secret = data.args.iter().copied().find(|&v| of.is_secret(v, b)).map(Why::Operand);
                let (value, address) = (data.args[0], data.args[1]);
                let value_type = of.func.ty(value);
                let size = self.size_of(id, Some(value));
                let ty = self.access_type(id, inst);
                let places = self.places(id, address);
                let regions: Vec<Region> = places.regions(size).collect();
                let what = self.places(id, value);
                for &region in &regions {
                    match may_hold_pointers(value_type) {
                        true if !what.is_empty() => self.memory.store(region, Some(&what)),
                        true => {}
                        // Eight bytes may be those of a pointer.
                        false if size >= Some(8) && self.is_variable(id, value) => {
                            self.memory.store(region, None);
                        }
                        false => {}
                    }
                }
                if let Some(why) = secret.or(steered) {
                    self.write(id, inst, regions, ty, why);
                }
            }
            op if calls::assembly(op) == Some(false) => {}
            Op::Call(_) | Op::OpaqueTerm(_) | Op::Opaque(_) => self.call(id, b, inst, steered),
            Op::Ret => self.leave(id, b, inst),
            _ => {}
        }
    }

    fn is_variable(&self, id: InstanceId, v: Value) -> bool {
        self.instance(id).func.constant(v).is_none()
    }

    fn size_of(&self, id: InstanceId, v: Option<Value>) -> Option<u64> {
        let ty = self.instance(id).func.ty(v?);
        self.module.layout.store_size(&self.module.types, ty)
    }

    fn call(&mut self, id: InstanceId, b: Block, inst: Inst, steered: Option<Why>) {
        let of = self.instance(id);
        let func = of.func;
        let data = &func.insts[inst];
        let name = calls::callee(self.module, func, inst);
        if memory::is_remark(name) || is_declassified(self, id, inst) {
            return;
        }
        if self.secret_results.iter().any(|pattern| is_called(name, pattern)) {
            self.read(id, inst, Why::Named);
            // What is secret is behind a pointer, too.
            if let Some(&result) = data.results.first()
                && func.ty(result).is_ptr()
            {
                let places = self.places(id, result);
                let regions: Vec<Region> = places.regions(None).collect();
                self.write(id, inst, regions, None, Why::Named);
            }
        }
        let secret = data.args.iter().copied().find(|&v| self.instance(id).is_secret(v, b)).map(Why::Operand);
        if memory::is_about_memory(name) && data.args.len() >= 3 {
            return self.copy(id, inst, secret.or(steered), !name.starts_with("llvm.memset."));
        }
        if let Some(length) = setter(self, name)
            && data.args.len() > length
        {
            let size = func.as_int(data.args[length]).and_then(|n| u64::try_from(n).ok());
            let regions: Vec<Region> = self.places(id, data.args[0]).regions(size).collect();
            if let Some(why) = secret.or(steered) {
                self.write(id, inst, regions, None, why);
            }
            return;
        }
        if let Some(callee) = self.named(id, inst) {
            return self.follow(id, b, inst, callee, steered.is_some());
        }
        if allocates(name) || name.is_empty() && self.follow_pointer(id, b, inst, secret, steered.is_some()) {
            return;
        }
        self.unknown(id, inst, secret, steered);
    }

    /// `memcpy` and its kin.
    fn copy(&mut self, id: InstanceId, inst: Inst, why: Option<Why>, copies: bool) {
        let func = self.instance(id).func;
        let args = &func.insts[inst].args;
        let size = func.as_int(args[2]).and_then(|n| u64::try_from(n).ok());
        let to: Vec<Place> = self.places(id, args[0]).iter().collect();
        if copies {
            let from: Vec<Place> = self.places(id, args[1]).iter().collect();
            for &source in &from {
                for (part, held) in self.memory.secret_parts(source.access(size), None) {
                    for &target in &to {
                        let exact = source.lo == source.hi && target.lo == target.hi;
                        let at = |x: i64| if x.abs() >= FAR { x } else { x - source.lo + target.lo };
                        let region = match exact && part.object == source.object {
                            true => Region::bytes(target.object, at(part.lo), at(part.hi)),
                            false => target.access(size),
                        };
                        self.write(id, inst, [region], None, Why::Memory(held));
                    }
                }
                for &target in &to {
                    self.memory.copy(target, source, size);
                }
            }
        }
        if let Some(why) = why {
            let regions: Vec<Region> = to.iter().map(|place| place.access(size)).collect();
            self.write(id, inst, regions, None, why);
        }
    }

    /// Follows a call that goes to where a pointer leads; says whether any function is known that it may go to.
    fn follow_pointer(
        &mut self,
        id: InstanceId,
        b: Block,
        inst: Inst,
        secret: Option<Why>,
        steered: bool,
    ) -> bool {
        let func = self.instance(id).func;
        let Some(target) = calls::target(func, inst) else { return false };
        let targets = self.targets(id, inst);
        if targets.followed.is_empty() {
            return false;
        }
        // Secrets decide about the functions where they decide which one it is.
        let steered = steered || self.instance(id).is_secret(target, b);
        for &callee in &targets.followed {
            self.follow(id, b, inst, callee, steered);
        }
        if targets.others {
            if self.instance_mut(id).open.insert(inst) {
                self.renew(id);
            }
            let given: Vec<Value> = calls::arguments(func, inst).to_vec();
            let held = given.into_iter().find_map(|v| self.reaches_secrets(id, v));
            if let Some(why) = secret.or(held.map(Why::Memory)) {
                self.read(id, inst, why);
            }
        }
        true
    }

    fn follow(&mut self, id: InstanceId, b: Block, inst: Inst, callee: FuncId, steered: bool) {
        let visit = self.visit;
        let to = self.called(id, inst, callee);
        let count = self.instance(to).func.params.len();
        let args: Vec<Value> = self.instance(id).func.insts[inst].args[..count].to_vec();
        let given = Given { caller: id, call: inst, since: visit };
        for (i, &v) in args.iter().enumerate() {
            let places = self.places(id, v);
            let is_secret = self.instance(id).is_secret(v, b);
            let of = self.instance_mut(to);
            if is_secret && of.args[i].is_none() {
                of.args[i] = Some(Secret::Given(given));
                self.look_again(to);
            }
            if self.instance_mut(to).bindings[i].add_all(&places) {
                self.renew(to);
            }
        }
        let of = self.instance_mut(to);
        if steered && of.steered_by.is_none() {
            of.steered_by = Some(given);
            self.look_again(to);
        }
        if self.instance(to).returns.is_some() {
            self.read(id, inst, Why::Result(to));
        }
    }

    /// A call of what is not known, or an instruction that is not.
    fn unknown(&mut self, id: InstanceId, inst: Inst, secret: Option<Why>, steered: Option<Why>) {
        let func = self.instance(id).func;
        let data = &func.insts[inst];
        let effects = data.op.effects();
        if effects.is_empty() {
            return;
        }
        let arguments: Vec<Value> = calls::arguments(func, inst).to_vec();
        let reads = effects.intersects(Effects::READS | Effects::UNKNOWN_RESULT);
        let mut given = Places::default();
        for &v in &arguments {
            given.add_all(&self.places(id, v));
        }
        let confined = effects.intersects(Effects::ARG_MEMORY_ONLY | Effects::INACCESSIBLE_MEMORY_ONLY)
            || matches!(&data.op, Op::Opaque(_) if !given.is_empty() && !calls::is_call(&data.op));
        let is_atomic = matches!(&data.op, Op::Opaque(o) if matches!(&*o.name, "atomicrmw" | "cmpxchg"));
        let objects = match is_atomic {
            true => {
                // Only what it writes gets about.
                for &v in arguments.iter().skip(1) {
                    let places = self.places(id, v);
                    self.memory.escape(&places);
                }
                given.iter().map(|place| place.object).collect()
            }
            false => {
                self.memory.escape(&given);
                self.memory.reachable(&given)
            }
        };
        let held = reads.then(|| {
            let inner = objects.iter().find_map(|&object| self.memory.secret_in(Region::whole(object), None));
            inner.or_else(|| (!confined).then(|| self.memory.secret_at_large()).flatten())
        });
        let held = held.flatten().filter(|&held| self.is_for_unknown(held));
        let why = secret.or(held.map(Why::Memory));
        if let Some(why) = why {
            self.read(id, inst, why);
        }
        if !self.spreads {
            return;
        }
        if effects.contains(Effects::WRITES) && !is_atomic {
            // Pointers may be stored to whatever it reaches.
            for &object in &objects {
                self.memory.store(Region::whole(object), None);
            }
        }
        if effects.contains(Effects::WRITES)
            && let Some(why) = why.or(steered)
        {
            let mut regions: Vec<Region> = objects.iter().map(|&object| Region::whole(object)).collect();
            if !confined {
                regions.extend(self.memory.visible().into_iter().map(Region::whole));
                regions.push(Region::whole(self.memory.id(Object::Elsewhere)));
            }
            self.write(id, inst, regions, None, why);
        }
    }
}

/// Whether a function is one that a pattern stands for, by its name in the object file or in the source.
fn is_called(name: &str, pattern: &str) -> bool {
    matches(pattern, name) || {
        let whole = demangle(name);
        matches(pattern, &whole) || matches(pattern, whole.split('(').next().unwrap_or_default())
    }
}

fn setter(state: &State<'_>, name: &str) -> Option<usize> {
    let found = SETTERS.iter().find(|(setter, _)| *setter == name)?;
    state.module.function(name).is_none().then_some(found.1)
}

/// Whether a function does nothing but set memory.
pub(super) fn is_setter(state: &State<'_>, name: &str) -> bool {
    setter(state, name).is_some()
}

/// Whether an instruction says that what it is given is public from here on.
pub(super) fn is_declassified(state: &State<'_>, id: InstanceId, inst: Inst) -> bool {
    declassifies(state.module, state.instance(id).func, inst)
}

/// Whether an instruction says that what it is given is public from here on.
pub(super) fn declassifies(module: &warpline_ir::Module, func: &warpline_ir::Function, inst: Inst) -> bool {
    let name = calls::callee(module, func, inst);
    if !name.starts_with("llvm.annotation.") {
        return name.contains(DECLASSIFY);
    }
    let text = func.insts[inst].args.get(1).and_then(|&v| func.constant(v));
    let Some(&warpline_ir::Constant::Address { symbol, offset: 0, .. }) = text else { return false };
    matches!(
        &module.symbols[symbol].kind,
        warpline_ir::SymbolKind::Global { bytes: Some(bytes), .. }
            if bytes.strip_suffix(b"\0") == Some(DECLASSIFY.as_bytes())
    )
}
