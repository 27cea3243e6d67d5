//! What is in a program: the constructs of its functions, and the forms that its accesses to memory take in vector
//! code. Long runs say in how many of their programs each occurred, so that nobody takes for tested what was never
//! generated.
//!
//! The forms of accesses are read off the vector code, not asked of what made it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use warpline_analysis::CycleForest;
use warpline_ir::{
    Accessed, Atomic, BinaryOp, CastOp, Constant, FloatKind, Function, Inst, InstFlags, LaneOp, Module, Op,
    Scalar, Type, Value, VectorType,
};

use crate::programs::Program;

/// Names of things that a program has.
pub type Names = BTreeSet<&'static str>;

/// The constructs of a program's functions.
pub fn constructs(program: &Program) -> Names {
    let mut names = Names::new();
    for func in program.module.functions.values() {
        control_flow(func, &mut names);
        for &b in &func.layout {
            for i in func.block_insts(b) {
                instruction(&program.module, func, i, &mut names);
            }
        }
        for v in func.values.values() {
            names.extend(name_of_type(v.ty));
        }
    }
    let kernel = program.function();
    for &p in &kernel.params {
        names.extend(match kernel.ty(p) {
            Type::Vector(_) => Some("parameter: vector"),
            Type::Aggregate(_) => Some("parameter: structure or array"),
            Type::Ptr(1..) => Some("parameter: pointer of another address space"),
            _ => None,
        });
    }
    names.extend(match kernel.ret {
        Type::Vector(_) => Some("result: vector"),
        Type::Aggregate(_) => Some("result: structure or array"),
        _ => None,
    });
    names
}

fn control_flow(func: &Function, names: &mut Names) {
    let (graph, _) = func.graph();
    let cycles = CycleForest::compute(&graph);
    if cycles.cycles().next().is_some() {
        names.insert("control: loop");
    }
    if cycles.cycles().any(|c| !cycles.is_reducible(c)) {
        names.insert("control: irreducible loop");
    }
    if cycles.cycles().any(|c| cycles.exit_edges(&graph, c).next().is_none()) {
        names.insert("control: endless loop");
    }
    let mut returns = 0;
    for &b in &func.layout {
        let targets: Vec<_> = func.successors(b).collect();
        let distinct: BTreeSet<_> = targets.iter().collect();
        if distinct.len() < targets.len() {
            names.insert("control: parallel edges");
        }
        if func.out_edges(b).iter().any(|&e| func.weights[e].is_some()) {
            names.insert("control: branch weights");
        }
        names.extend(match func.insts[func.terminator(b)].op {
            Op::CondBr => Some("control: branch"),
            Op::Switch(_) => Some("control: switch"),
            Op::Unreachable => Some("control: unreachable"),
            Op::OpaqueTerm(_) => Some("control: invoke"),
            Op::Ret => {
                returns += 1;
                (returns > 1).then_some("control: several returns")
            }
            _ => None,
        });
    }
}

fn name_of_type(ty: Type) -> Option<&'static str> {
    Some(match ty {
        Type::Int(1) => "value: i1",
        Type::Int(8) => "value: i8",
        Type::Int(16) => "value: i16",
        Type::Int(32) => "value: i32",
        Type::Int(64) => "value: i64",
        Type::Int(128) => "value: i128",
        Type::Int(_) => "value: integer of odd width",
        Type::Float(FloatKind::Half) => "value: half",
        Type::Float(FloatKind::BFloat) => "value: bfloat",
        Type::Float(FloatKind::Float) => "value: float",
        Type::Float(FloatKind::Double) => "value: double",
        Type::Float(FloatKind::X86Fp80) => "value: x86_fp80",
        Type::Float(FloatKind::Fp128) => "value: fp128",
        Type::Vector(VectorType { elem: Scalar::Float(_), .. }) => "value: vector of floats",
        Type::Vector(_) => "value: vector of integers or pointers",
        Type::Aggregate(_) => "value: structure or array",
        Type::Ptr(1..) => "value: pointer of another address space",
        _ => return None,
    })
}

fn instruction(module: &Module, func: &Function, i: Inst, names: &mut Names) {
    let data = &func.insts[i];
    if data.flags.intersects(InstFlags::FAST) {
        names.insert("value: fast-math flags");
    }
    if data.flags.difference(InstFlags::FAST | InstFlags::INBOUNDS).bits() != 0 {
        names.insert("value: flags that make poison");
    }
    for c in data.args.iter().filter_map(|&a| func.constant(a)) {
        names.extend(match c {
            Constant::Poison(_) => Some("value: poison"),
            Constant::Undef(_) => Some("value: undef"),
            _ => None,
        });
    }
    if let Some(Accessed { access, address, ty, writes }) = func.accessed(i) {
        names.insert(if writes { "memory: store" } else { "memory: load" });
        names.extend(access.is_volatile.then_some("memory: volatile"));
        names.extend(match ty {
            Type::Int(1) => Some("memory: i1"),
            Type::Ptr(_) => Some("memory: pointers"),
            Type::Vector(_) => Some("memory: vectors"),
            Type::Aggregate(_) => Some("memory: structures or arrays"),
            _ => None,
        });
        names.extend(matches!(func.ty(address), Type::Ptr(1..)).then_some("memory: another address space"));
    }
    names.extend(match &data.op {
        Op::Freeze => Some("value: freeze"),
        Op::Lane(LaneOp::Shuffle | LaneOp::First | LaneOp::Uniform | LaneOp::Insert) => {
            Some("lane operation: shuffle, first, insert")
        }
        Op::Lane(LaneOp::Compact) => Some("lane operation: packed store"),
        Op::Lane(LaneOp::Reduce(_)) => Some("lane operation: reduction"),
        Op::Lane(LaneOp::ScanExclusive(_) | LaneOp::ScanInclusive(_)) => Some("lane operation: scan"),
        Op::Lane(_) => Some("lane operation"),
        Op::Alloca { .. } if func.as_int(data.args[0]).is_none() => {
            Some("memory: alloca of a size at run time")
        }
        Op::Alloca { .. } => Some("memory: alloca"),
        Op::Opaque(info) => match info.atomic {
            Some(Atomic::Rmw { .. }) => Some("memory: atomicrmw"),
            Some(Atomic::CompareExchange { .. }) => Some("memory: cmpxchg"),
            Some(Atomic::Fence(_)) => Some("memory: fence"),
            None => None,
        },
        Op::Call(info) => {
            let name = info.callee.map_or("", |s| &*module.symbols[s].name);
            let of_constant = || data.args.get(2).is_some_and(|&len| func.as_int(len).is_some());
            match name {
                _ if is_bulk(name) && of_constant() => Some("memory: memset, memcpy"),
                _ if is_bulk(name) => Some("memory: memset, memcpy of a size at run time"),
                _ if name.starts_with("llvm.") => Some("call: intrinsic"),
                _ if info.callee.is_none() => Some("call: through a pointer"),
                _ if module.function(name).is_some() => Some("call: function of the module"),
                _ => Some("call: unknown function"),
            }
        }
        _ => None,
    });
}

fn is_bulk(name: &str) -> bool {
    ["llvm.memset.", "llvm.memcpy.", "llvm.memmove."].iter().any(|prefix| name.starts_with(prefix))
}

/// The forms of the accesses in vector code of so many lanes; none for a single lane, whose code is scalar.
pub fn access_forms(module: &Module, func: &Function, width: u32) -> Names {
    let mut names = Names::new();
    if width < 2 {
        return names;
    }
    let code = VectorCode { module, func, width: width as usize };
    for &b in &func.layout {
        for i in func.block_insts(b) {
            names.extend(code.form(i));
        }
    }
    names
}

/// An access to an `alloca` as if the lanes' objects were interleaved.
const PRIVATE: &str = "access: private memory, side by side, without a mask";

/// The object that an address points into, if it is an `alloca`.
pub fn private_object(func: &Function, mut address: Value) -> Option<Inst> {
    loop {
        let inst = func.def_inst(address)?;
        match func.insts[inst].op {
            Op::Alloca { .. } => return Some(inst),
            Op::Gep(_) => address = func.insts[inst].args[0],
            _ => return None,
        }
    }
}

struct VectorCode<'a> {
    module: &'a Module,
    func: &'a Function,
    width: usize,
}

impl VectorCode<'_> {
    fn form(&self, i: Inst) -> Vec<&'static str> {
        let data = &self.func.insts[i];
        match (&data.op, self.func.accessed(i)) {
            (_, Some(accessed @ Accessed { ty: Type::Vector(_), .. })) => {
                let mut names = vec![match accessed.writes {
                    true => self.store(data.args[0], false),
                    false => self.load(data.results[0], false),
                }];
                names.extend(private_object(self.func, accessed.address).map(|_| PRIVATE));
                names.extend(self.aligned(accessed));
                names
            }
            (_, Some(Accessed { writes: false, .. })) => vec!["access: scalar load"],
            (_, Some(Accessed { writes: true, .. })) => vec!["access: scalar store"],
            (Op::Call(info), _) => {
                let name = info.callee.map_or("", |s| &*self.module.symbols[s].name);
                let family = |prefix: &str| name.strip_prefix(prefix).is_some();
                match name {
                    _ if family("llvm.masked.load.") => vec![self.load(data.results[0], true)],
                    _ if family("llvm.masked.store.") => vec![self.store(data.args[0], true)],
                    _ if family("llvm.masked.gather.") => vec![self.indexed(data.args[0], true)],
                    _ if family("llvm.x86.avx2.gather.") => vec!["access: gather by AVX2"],
                    _ if family("llvm.masked.scatter.") => vec![self.indexed(data.args[1], false)],
                    _ if is_bulk(name) => vec!["access: memset, memcpy"],
                    _ => Vec::new(),
                }
            }
            (Op::Cast(CastOp::Trunc), _) if self.is_of_word(data.args[0]) => {
                vec!["access: gather of words around narrow elements"]
            }
            _ => Vec::new(),
        }
    }

    /// Whether a value is what a gather has loaded, shifted.
    fn is_of_word(&self, x: Value) -> bool {
        let shifted = self.func.def_inst(x).map(|i| &self.func.insts[i]);
        let shifted = shifted.filter(|data| data.op == Op::Binary(BinaryOp::LShr));
        let gather = shifted.and_then(|data| self.func.def_inst(data.args[0]));
        let Some(Op::Call(info)) = gather.map(|i| &self.func.insts[i].op) else { return false };
        info.callee.is_some_and(|s| self.module.symbols[s].name.contains(".gather."))
    }

    fn aligned(&self, a: Accessed) -> Option<&'static str> {
        let elem = a.ty.elem().map(|e| u64::from(self.module.layout.scalar_bits(e) / 8));
        let more = elem.is_some_and(|size| a.access.align > size);
        more.then_some("access: vector aligned for more than its elements")
    }

    /// The shuffles that choose one element per lane from a vector.
    fn parts(&self, whole: Value) -> Vec<&[i32]> {
        let insts = self.func.layout.iter().flat_map(|&b| &self.func.blocks[b].insts);
        insts
            .filter_map(|&i| match &self.func.insts[i].op {
                Op::Shuffle(places) if self.func.insts[i].args[0] == whole && places.len() == self.width => {
                    Some(&**places)
                }
                _ => None,
            })
            .collect()
    }

    fn load(&self, x: Value, masked: bool) -> &'static str {
        let parts = self.parts(x);
        match (&parts[..], masked) {
            ([], false) => "access: load of neighbours",
            ([], true) => "access: load of neighbours, masked",
            ([places], false) if places[1] == places[0] - 1 => "access: reversed load",
            ([places], true) if places[1] == places[0] - 1 => "access: reversed load, masked",
            ([_], false) => "access: strided load",
            ([_], true) => "access: strided load, masked",
            (_, false) => "access: interleaved load of several fields",
            (_, true) => "access: interleaved load of several fields, masked",
        }
    }

    fn store(&self, x: Value, masked: bool) -> &'static str {
        let places = self.func.def_inst(x).and_then(|i| match &self.func.insts[i].op {
            Op::Shuffle(places) => Some(&**places),
            _ => None,
        });
        // The same element everywhere is a value that all lanes have.
        let places = places.filter(|p| p.iter().any(|&k| k != p[0]));
        let members = |p: &[i32]| p.iter().max().map_or(0, |&k| k as usize / self.width + 1);
        match (places, masked) {
            (None, false) => "access: store of neighbours",
            (None, true) => "access: store of neighbours, masked",
            (Some(p), false) if p.len() == self.width => "access: reversed store",
            (Some(p), true) if p.len() == self.width => "access: reversed store, masked",
            (Some(p), true) if members(p) == 1 => "access: strided store, masked",
            (Some(p), false) if members(p) == 1 => "access: strided store",
            (Some(_), false) => "access: interleaved store of several fields",
            (Some(_), true) => "access: interleaved store of several fields, masked",
        }
    }

    fn indexed(&self, addresses: Value, load: bool) -> &'static str {
        let index = self.func.def_inst(addresses).and_then(|i| match self.func.insts[i].op {
            Op::Gep(_) => self.func.insts[i].args.get(1).and_then(|&x| self.func.ty(x).elem()),
            _ => None,
        });
        match (index, load) {
            (Some(Scalar::Int(32)), true) => "access: gather by 32-bit indices",
            (Some(Scalar::Int(32)), false) => "access: scatter by 32-bit indices",
            (Some(_), true) => "access: gather by 64-bit indices",
            (Some(_), false) => "access: scatter by 64-bit indices",
            (None, true) => "access: gather of addresses",
            (None, false) => "access: scatter to addresses",
        }
    }
}

/// In how many programs each thing occurred.
#[derive(Clone, Default, Debug)]
pub struct Rates {
    programs: u64,
    of: BTreeMap<String, u64>,
}

impl Rates {
    /// Counts a program with these things.
    pub fn add<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) {
        self.programs += 1;
        for name in names {
            *self.of.entry(name.to_owned()).or_default() += 1;
        }
    }

    /// In how many programs a thing occurred.
    pub fn count(&self, name: &str) -> u64 {
        self.of.get(name).copied().unwrap_or(0)
    }
}

impl fmt::Display for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "in how many of {} programs:", self.programs)?;
        for (name, count) in &self.of {
            writeln!(f, "{count:9}  {name}")?;
        }
        Ok(())
    }
}
