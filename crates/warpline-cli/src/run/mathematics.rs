//! The mathematics of the reference.
//!
//! Vector mathematics rounds otherwise than the C library. So that what the vectorizer does can be compared bit for
//! bit, two programs are judged that differ from those that are timed in nothing but this: wherever scalar code calls a
//! function of the C library that has a vector form, it gets what that form yields for the argument in all lanes. The
//! interpreter computes such functions so, too.
//!
//! A library may have several vector functions for one scalar function, and some of them choose their way by all lanes
//! together. Where a program calls several, or ones that do that, the program that is judged calls them once for each
//! lane with the value in all lanes.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use warpline::interp;
use warpline::ir::{
    CallInfo, Constant, Effects, FloatKind, FuncId, Function, InstFlags, Module, Op, Symbol, SymbolKind,
    Type, Value,
};
use warpline::shape::ArgShape;
use warpline::vectorize::known_calls::mathematics_function;
use warpline::vectorize::{MathLibrary, NoCallees, Vectorized, driver, vectorize};
use warpline_compile::KernelOptions;
use warpline_llvm::{Jit, JitFunction};

use crate::error::Result;
use crate::kernel::Kernel;
use crate::spec::Elem;

use super::compare::ulp_distance;

/// What the names of functions begin with that compute as vector code does, and that must stay what they are.
const FORM: &str = "__warpline_form_";
/// What the names of scalar functions begin with that compute as they do.
const REFERENCE: &str = "__warpline_reference_";
/// What the names of vector functions begin with that call these once for each lane.
const BY_LANE: &str = "__warpline_by_lane_";

/// How far the C library's own functions may be from the true value, in units in the last place: the largest bound that
/// glibc documents for those that have vector forms.
const C_LIBRARY_ULP: u64 = 10;

/// A function of the C library that a program calls.
struct Computed {
    /// Its name there.
    name: String,
    /// The names by which it is called: its own, and LLVM's for it.
    called: Vec<String>,
    elem: Elem,
    /// How many numbers it takes.
    operands: usize,
    /// Whether vector code computes it otherwise.
    has_form: bool,
}

/// The functions that a program calls, and what is to be called in the place of those that vector code computes
/// otherwise.
#[derive(Default)]
pub struct Mathematics {
    functions: Vec<Computed>,
    redirections: Vec<(String, String)>,
}

/// A function that may be one of them.
struct Candidate {
    kind: FloatKind,
    operands: usize,
    called: BTreeMap<String, Symbol>,
}

impl Mathematics {
    /// Finds the functions that a kernel calls, and those that code for these numbers of lanes computes otherwise than
    /// the C library. Adds what the references need to the module.
    ///
    /// # Errors
    /// If a function cannot be expressed in LLVM's IR.
    pub fn add(kernel: &mut Kernel, options: &KernelOptions, lanes: &BTreeSet<u32>) -> Result<Mathematics> {
        let mut found = Mathematics::default();
        let math = kernel.math_library(options);
        for (name, candidate) in candidates(&kernel.imported.ir, kernel.func) {
            let one = call_of_one(&mut kernel.imported.ir, &name, &candidate);
            let mut new = vec![one];
            new.extend(over_arrays(kernel, one, candidate.operands, &entry_of_library(&name))?);
            let called: Vec<String> = candidate.called.keys().cloned().collect();
            let form = form(kernel, &math, one, &name, candidate.operands, lanes);
            if let Some(form) = &form {
                let reference = lane_of_form(&mut kernel.imported.ir, &name, &candidate, form);
                new.extend(form.functions().chain([reference]));
                new.extend(over_arrays(kernel, reference, candidate.operands, &entry_of_reference(&name))?);
                let ir = &mut kernel.imported.ir;
                found.redirect_vector_functions(ir, &math, (&name, &candidate), form.width, &mut new);
                found.redirections.extend(called.iter().map(|c| (c.clone(), format!("{REFERENCE}{name}"))));
            }
            kernel.export(&new)?;
            let elem = if candidate.kind == FloatKind::Float { Elem::F32 } else { Elem::F64 };
            let (operands, has_form) = (candidate.operands, form.is_some());
            found.functions.push(Computed { name, called, elem, operands, has_form });
        }
        Ok(found)
    }

    /// Whether everything is computed as the C library does.
    pub fn is_exact(&self) -> bool {
        self.functions.iter().all(|f| !f.has_form)
    }

    /// The names of those that vector code computes otherwise.
    pub fn names(&self) -> Vec<&str> {
        self.functions.iter().filter(|f| f.has_form).map(|f| f.name.as_str()).collect()
    }

    /// The entries that [`Calls`] needs.
    pub fn entries(&self) -> Vec<String> {
        let entries =
            |f: &Computed| [Some(entry_of_library(&f.name)), f.has_form.then(|| entry_of_reference(&f.name))];
        self.functions.iter().flat_map(entries).flatten().collect()
    }

    /// Lets scalar code of a module compute as vector code does.
    pub fn redirect(&self, module: &mut warpline_llvm::Module) {
        for (from, to) in &self.redirections {
            module.redirect_calls(from, to, FORM);
        }
    }

    /// Where a program calls other vector functions than the reference for `lanes` lanes, or one that looks at all
    /// lanes together, they are called once for each lane.
    fn redirect_vector_functions(
        &mut self,
        ir: &mut Module,
        math: &dyn MathLibrary,
        (name, candidate): (&str, &Candidate),
        lanes: u32,
        new: &mut Vec<FuncId>,
    ) {
        let halves = std::iter::successors(Some(lanes), |n| n.is_multiple_of(2).then_some(n / 2));
        let own = halves.filter(|&n| n > 1).find_map(|n| math.vector_function(name, n));
        let sizes = [64, 32, 16, 8, 4, 2].into_iter();
        let there: Vec<(u32, String)> = sizes
            .filter_map(|lanes| Some((lanes, math.vector_function(name, lanes)?)))
            .filter(|(_, symbol)| ir.symbol(symbol).is_some())
            .collect();
        for (lanes, symbol) in there {
            if own.as_ref() == Some(&symbol) && !symbol.starts_with("Sleef_") {
                continue;
            }
            let by_lane = format!("{BY_LANE}{symbol}");
            new.push(lane_by_lane(ir, &by_lane, name, candidate, lanes));
            self.redirections.push((symbol, by_lane));
        }
    }
}

fn entry_of_reference(name: &str) -> String {
    format!("__warpline_entry_{name}")
}

fn entry_of_library(name: &str) -> String {
    format!("__warpline_library_{name}")
}

/// The functions of the C library that the kernel and what it calls may call, and that may have vector forms.
fn candidates(ir: &Module, kernel: FuncId) -> BTreeMap<String, Candidate> {
    let mut found: BTreeMap<String, Candidate> = BTreeMap::new();
    for symbol in called_by(ir, kernel) {
        let data = &ir.symbols[symbol];
        let SymbolKind::Function { params, ret, variadic: false } = &data.kind else { continue };
        let Type::Float(kind @ (FloatKind::Float | FloatKind::Double)) = *ret else { continue };
        let alike = !params.is_empty() && params.iter().all(|p| p == ret);
        let Some(name) = mathematics_function(&data.name, *ret).filter(|_| alike) else { continue };
        let new = || Candidate { kind, operands: params.len(), called: BTreeMap::new() };
        let candidate = found.entry(name).or_insert_with(new);
        if candidate.operands == params.len() {
            candidate.called.insert(data.name.to_string(), symbol);
        }
    }
    found
}

/// Whether a function or what it calls has instructions of which flags say that they may round otherwise.
pub(super) fn may_round_otherwise(ir: &Module, kernel: FuncId) -> bool {
    let permits = InstFlags::REASSOC | InstFlags::ARCP | InstFlags::CONTRACT | InstFlags::AFN;
    let of = |func: &Function| {
        let mut insts = func.layout.iter().flat_map(|&b| func.block_insts(b));
        insts.any(|i| func.insts[i].flags.intersects(permits))
    };
    reached(ir, kernel).0.into_iter().any(|id| of(&ir.functions[id]))
}

/// The functions without a body that a function and what it calls may call.
fn called_by(ir: &Module, kernel: FuncId) -> BTreeSet<Symbol> {
    reached(ir, kernel).1
}

/// The functions that a call of one may reach: those with a body, and the symbols of those without.
fn reached(ir: &Module, kernel: FuncId) -> (BTreeSet<FuncId>, BTreeSet<Symbol>) {
    let (mut todo, mut seen, mut found) = (vec![kernel], BTreeSet::from([kernel]), BTreeSet::new());
    while let Some(id) = todo.pop() {
        let func = &ir.functions[id];
        let mut next = Vec::new();
        for inst in func.layout.iter().flat_map(|&b| func.block_insts(b)) {
            match &func.insts[inst].op {
                Op::Call(info) => match info.callee {
                    Some(symbol) => match ir.function(&ir.symbols[symbol].name) {
                        Some(callee) => next.push(callee),
                        None => drop(found.insert(symbol)),
                    },
                    // A pointer may lead anywhere.
                    None => next.extend(ir.functions.keys()),
                },
                Op::Opaque(_) => next.extend(ir.functions.keys()),
                _ => {}
            }
        }
        todo.extend(next.into_iter().filter(|&callee| seen.insert(callee)));
    }
    (seen, found)
}

/// The vector form, for the most lanes for which there is one, of a function that calls one of the C library.
fn form(
    kernel: &mut Kernel,
    math: &dyn MathLibrary,
    one: FuncId,
    name: &str,
    operands: usize,
    lanes: &BTreeSet<u32>,
) -> Option<Vectorized> {
    lanes.iter().rev().filter(|&&n| n > 1).find_map(|&n| {
        let asked = warpline::vectorize::Options {
            args: vec![ArgShape::Varying; operands],
            ..kernel.vectorizer(format!("{FORM}{name}_{n}"), n, false, math, &NoCallees)
        };
        let made = vectorize(&mut kernel.imported.ir, one, &asked).ok()?;
        made.approximate.then_some(made)
    })
}

/// A function with operands of a type and a result of a type, and its block.
fn function(name: &str, operands: usize, ty: Type) -> (Function, Vec<Value>) {
    let mut func = Function::new(name, ty);
    let params = (0..operands).map(|k| func.add_param(ty, &format!("x{k}"))).collect();
    func.add_block("entry");
    (func, params)
}

/// Adds a function to the module, with its symbol.
fn finish(ir: &mut Module, mut func: Function, result: Value) -> FuncId {
    let block = func.entry();
    func.set_terminator(block, Op::Ret, &[result], &[]);
    let params: Vec<Type> = func.params.iter().map(|&p| func.ty(p)).collect();
    ir.function_symbol(&func.name, &params, func.ret, Effects::UNKNOWN);
    ir.functions.push(func)
}

fn call(func: &mut Function, symbol: Symbol, effects: Effects, args: &[Value], ty: Type) -> Value {
    let block = func.entry();
    let info = CallInfo { callee: Some(symbol), effects, variadic_fixed: None };
    func.append_value(block, Op::Call(Box::new(info)), args, ty)
}

/// A function that calls one of the C library with its operands.
fn call_of_one(ir: &mut Module, name: &str, candidate: &Candidate) -> FuncId {
    let ty = Type::Float(candidate.kind);
    let (mut func, params) = function(&format!("{FORM}one_{name}"), candidate.operands, ty);
    let Some((_, &symbol)) = candidate.called.first_key_value() else {
        unreachable!("a candidate is called by some name")
    };
    let effects = ir.symbols[symbol].effects;
    let result = call(&mut func, symbol, effects, &params, ty);
    finish(ir, func, result)
}

/// A scalar function that yields what a form for many lanes yields for operands that all lanes share.
fn lane_of_form(ir: &mut Module, name: &str, candidate: &Candidate, form: &Vectorized) -> FuncId {
    let (ty, lanes) = (Type::Float(candidate.kind), form.width);
    let vector = ty.vector(lanes).unwrap_or(ty);
    let (mut func, params) = function(&format!("{REFERENCE}{name}"), candidate.operands, ty);
    let block = func.entry();
    let zero = func.int_const(64, 0);
    let mut args = Vec::new();
    for x in params {
        let nothing = func.poison(vector);
        let first = func.append_value(block, Op::InsertElement, &[nothing, x, zero], vector);
        let all = Op::Shuffle(vec![0; lanes as usize].into());
        args.push(func.append_value(block, all, &[first, nothing], vector));
    }
    let symbol = ir.function_symbol(&form.name, &vec![vector; args.len()], vector, Effects::UNKNOWN);
    let result = call(&mut func, symbol, Effects::UNKNOWN, &args, vector);
    let result = func.append_value(block, Op::ExtractElement, &[result, zero], ty);
    finish(ir, func, result)
}

/// A vector function that calls the scalar reference for each lane.
fn lane_by_lane(ir: &mut Module, name: &str, scalar: &str, candidate: &Candidate, lanes: u32) -> FuncId {
    let ty = Type::Float(candidate.kind);
    let vector = ty.vector(lanes).unwrap_or(ty);
    let (mut func, params) = function(name, candidate.operands, vector);
    let block = func.entry();
    let symbol =
        ir.function_symbol(&format!("{REFERENCE}{scalar}"), &vec![ty; params.len()], ty, Effects::UNKNOWN);
    let mut whole = func.constant_value(Constant::Zero(vector));
    for lane in 0..lanes {
        let at = func.int_const(64, lane.into());
        let args: Vec<Value> =
            params.iter().map(|&x| func.append_value(block, Op::ExtractElement, &[x, at], ty)).collect();
        let result = call(&mut func, symbol, Effects::UNKNOWN, &args, ty);
        whole = func.append_value(block, Op::InsertElement, &[whole, result, at], vector);
    }
    finish(ir, func, whole)
}

/// A function over arrays of operands and results, with an entry of this name.
fn over_arrays(kernel: &mut Kernel, func: FuncId, operands: usize, entry: &str) -> Result<[FuncId; 2]> {
    let ir = &mut kernel.imported.ir;
    let made = driver::scalar_range(ir, func, &vec![ArgShape::Varying; operands], &format!("{entry}_range"))
        .and_then(|range| Ok([range, driver::slots_entry(ir, range, entry)?]));
    made.map_err(|e| kernel.refusal(&e))
}

/// The functions in machine code, for the interpreter; they are compared with the C library's at each call.
pub struct Calls<'jit> {
    functions: Vec<CallsOf<'jit>>,
    worst: RefCell<Option<Worst>>,
    count: Cell<u64>,
}

struct CallsOf<'jit> {
    name: String,
    called: Vec<String>,
    elem: Elem,
    library: JitFunction<'jit>,
    /// What vector code yields, if that is something else.
    reference: Option<JitFunction<'jit>>,
}

/// The call whose result is farthest from the C library's.
#[derive(Clone)]
pub struct Worst {
    /// The call, in words.
    pub call: String,
    /// The distance in units in the last place.
    pub ulp: u64,
}

impl Worst {
    /// Whether functions that are to be within `math_ulp` of the true values may be so far from the C library's.
    pub fn is_allowed(&self, math_ulp: u32) -> bool {
        self.ulp <= u64::from(math_ulp) + C_LIBRARY_ULP
    }
}

impl<'jit> Calls<'jit> {
    /// The functions, in code that has their [entries](Mathematics::entries).
    ///
    /// # Errors
    /// If one is not there.
    pub fn new(mathematics: &Mathematics, jit: &'jit Jit) -> Result<Calls<'jit>> {
        let of = |f: &Computed| -> Result<CallsOf<'jit>> {
            debug_assert!((1..=2).contains(&f.operands), "{} has {} operands", f.name, f.operands);
            Ok(CallsOf {
                name: f.name.clone(),
                called: f.called.clone(),
                elem: f.elem,
                library: jit.function(&entry_of_library(&f.name))?,
                reference: f.has_form.then(|| jit.function(&entry_of_reference(&f.name))).transpose()?,
            })
        };
        let functions = mathematics.functions.iter().map(of).collect::<Result<_>>()?;
        Ok(Calls { functions, worst: RefCell::default(), count: Cell::new(0) })
    }

    /// The call that was farthest from the C library's result so far, if there was a call.
    pub fn worst(&self) -> Option<Worst> {
        let exact = || Worst { call: String::new(), ulp: 0 };
        (self.count.get() > 0).then(|| self.worst.borrow().clone().unwrap_or_else(exact))
    }

    fn note(&self, f: &CallsOf<'_>, args: &[u64], found: u64, expected: u64) {
        self.count.set(self.count.get() + 1);
        let ulp = distance(f.elem, found, expected);
        let mut worst = self.worst.borrow_mut();
        if ulp > worst.as_ref().map_or(0, |w| w.ulp) {
            let args: Vec<String> = args.iter().map(|&a| super::compare::show(f.elem, a)).collect();
            *worst = Some(Worst { call: format!("{}({})", f.name, args.join(", ")), ulp });
        }
    }
}

/// How far apart two results are in units in the last place. Numbers that are smaller than normal ones count as equal.
fn distance(elem: Elem, a: u64, b: u64) -> u64 {
    let (x, y, least) = match elem {
        Elem::F32 => {
            let number = |bits: u64| f64::from(f32::from_bits(bits as u32));
            (number(a), number(b), f64::from(f32::MIN_POSITIVE))
        }
        _ => (f64::from_bits(a), f64::from_bits(b), f64::MIN_POSITIVE),
    };
    if x.is_nan() || y.is_nan() {
        return if x.is_nan() && y.is_nan() { 0 } else { u64::MAX };
    }
    if x.abs() <= least && y.abs() <= least { 0 } else { ulp_distance(elem, a, b) }
}

/// Runs the code for one element.
fn computed(code: &JitFunction<'_>, args: &[u64]) -> u64 {
    let mut result = 0u64;
    let mut slots = vec![0, 1];
    slots.extend(args.iter().map(|a| (&raw const *a).expose_provenance() as u64));
    slots.push((&raw mut result).expose_provenance() as u64);
    code.call(&mut slots);
    result
}

impl interp::Mathematics for &Calls<'_> {
    fn find(&self, name: &str) -> Option<usize> {
        self.functions.iter().position(|f| f.called.iter().any(|called| called == name))
    }

    fn compute(&mut self, function: usize, args: &[u64]) -> u64 {
        let f = &self.functions[function];
        let library = computed(&f.library, args);
        let Some(reference) = &f.reference else { return library };
        let found = computed(reference, args);
        self.note(f, args, found, library);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_of_normal_numbers() {
        let bits = |x: f32| u64::from(x.to_bits());
        assert_eq!(distance(Elem::F32, bits(1.0), bits(1.0 + f32::EPSILON)), 1);
        assert_eq!(distance(Elem::F32, bits(0.0), bits(1e-40)), 0);
        assert_eq!(distance(Elem::F32, bits(f32::NAN), bits(-f32::NAN)), 0);
        assert_eq!(distance(Elem::F64, f64::NAN.to_bits(), 0), u64::MAX);
        assert_eq!(distance(Elem::F32, bits(f32::INFINITY), bits(f32::MAX)), 1);
    }
}
