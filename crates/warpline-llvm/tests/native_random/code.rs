//! From a random program to machine code in this process.

use std::cell::RefCell;

use warpline_interp::{HashingHost, Host as _, HostCall, HostResult, Memory, Val};
use warpline_ir::verify::verify;
use warpline_ir::{CallInfo, Effects, FuncId, Function, MemAccess, Module as Ir, Op, Type, Value};
use warpline_llvm::worker::{CodegenOptions, Output, codegen_in_process};
use warpline_llvm::{Imported, Jit, Linkage, Module};
use warpline_testkit::census::{Names, access_forms};
use warpline_testkit::differential::{Form, shape_of};
use warpline_testkit::programs::Program;
use warpline_vectorize::driver::{Division, MadeVariants, Tail, bitmask_entry, slots_entry, vector_range};
use warpline_vectorize::loops::{Unit, vectorize_loop};
use warpline_vectorize::{Contract, Options, VectorizeError, Vectorized, vectorize};

use crate::range::RANGE;
use crate::setup::Setup;

/// Entry of the scalar kernel.
pub const SCALAR: &str = "scalar.entry";
/// Entry of the vector function.
pub const VECTOR: &str = "vector.entry";

/// What was made of a program.
pub struct Code {
    /// Its machine code.
    pub jit: Jit,
    /// The vector function.
    pub made: Vectorized,
    /// The forms of its accesses to memory.
    pub forms: Names,
    /// The module that it is in.
    pub ir: Ir,
}

/// Why there is no code.
pub enum NoCode {
    /// The vectorizer refused.
    Refused(String),
    /// Something is broken.
    Broken(String),
}

/// Vectorizes a program and compiles it together with its scalar kernel.
pub fn compile(program: &Program, setup: &Setup) -> Result<Code, NoCode> {
    let mut ir = program.module.clone();
    let broken = |what: &str, e: &dyn std::fmt::Display| NoCode::Broken(format!("{what}: {e}"));
    let made = match setup.indices {
        _ if setup.looped => {
            let (function, made) = looped(&mut ir, program, setup)?;
            entry(&mut ir, function, VECTOR);
            entry(&mut ir, program.kernel, SCALAR);
            made
        }
        Some(_) => {
            let args: Vec<_> = program.roles.iter().map(shape_of).collect();
            let division = Division::into_groups_of(setup.width);
            let made = MadeVariants::make(&mut ir, program.kernel, &options(program, setup, false), division)
                .map_err(no_code)?;
            verified(&ir, made.full.func)?;
            let range = vector_range(&mut ir, program.kernel, &made.variants(), &args, "kernel.range")
                .map_err(|e| NoCode::Refused(e.problem().reason.clone()))?;
            // Slots hold scalars.
            if slots_entry(&mut ir, range, RANGE).is_err() {
                entry(&mut ir, range, RANGE);
            }
            made.full
        }
        None => {
            let made = form(&mut ir, program, setup, setup.mask.is_some())?;
            let target = match setup.mask {
                Some(_) => bitmask_entry(&mut ir, made.func, setup.width, "kernel.bitmask"),
                None => made.func,
            };
            entry(&mut ir, target, VECTOR);
            entry(&mut ir, program.kernel, SCALAR);
            made
        }
    };
    let forms = access_forms(&ir, &ir.functions[made.func], setup.width);
    let empty = Module::parse(b"", "program").map_err(|e| broken("an empty module", &e))?;
    let mut imported = Imported::new(empty);
    for f in ir.functions.values() {
        verify(&ir, f).map_err(|e| broken("an entry", &e))?;
        imported.bridge.add_function(&ir, f, Linkage::External).map_err(|e| broken("export", &e))?;
    }
    imported.bridge.module().verify().map_err(|e| broken("the exported module", &e))?;
    let mut codegen = CodegenOptions::new(setup.cpu.clone(), Output::Object);
    codegen.passes = passes(setup);
    codegen.effort = setup.effort;
    codegen.vector_bits = setup.vector_bits;
    codegen.define_lane_operations = true;
    let bitcode = imported.bridge.module().to_bitcode();
    let object =
        codegen_in_process(&bitcode, "program", &codegen).map_err(|e| broken("code generation", &e))?;
    if setup.seed.is_multiple_of(32) {
        codegen.output = Output::Assembly;
        let text = codegen_in_process(&bitcode, "program", &codegen).map_err(|e| broken("assembly", &e))?;
        if let Some(line) = unencodable(&String::from_utf8_lossy(&text)) {
            return Err(broken("an instruction without an encoding", &line));
        }
    }
    let jit = Jit::new().map_err(|e| broken("the JIT", &e))?;
    jit.define("effect", effect as *const () as usize).map_err(|e| broken("the JIT", &e))?;
    jit.add_object(&object, "program.o").map_err(|e| broken("the JIT", &e))?;
    Ok(Code { jit, made, forms, ir })
}

/// A line that reads bits of a vector register that `movmsk` cannot name: the encoding would say another one.
fn unencodable(assembly: &str) -> Option<&str> {
    let high = |line: &&str| (16..32).any(|k| line.contains(&format!("mm{k},")));
    assembly.lines().filter(|line| line.contains("movmsk")).find(high)
}

/// The setup's passes, behind some that leave nothing but the entries and what they need.
fn passes(setup: &Setup) -> String {
    let kept = [SCALAR, VECTOR, RANGE].map(|name| format!("preserve-gv={name}")).join(";");
    let separator = if setup.passes.is_empty() { "" } else { "," };
    format!("internalize<{kept}>,globaldce{separator}{}", setup.passes)
}

/// Vectorizes the loop around the kernel, in a copy of its function. The copy, and the W-lane form of the loop's body.
fn looped(ir: &mut Ir, program: &Program, setup: &Setup) -> Result<(FuncId, Vectorized), NoCode> {
    let mut copy = program.function().clone();
    copy.name = "kernel.looped".into();
    let header = copy.layout.iter().copied().find(|&b| &*copy.blocks[b].name == "header");
    let header = header.ok_or_else(|| NoCode::Refused("the loop is gone".to_owned()))?;
    let copy = ir.functions.push(copy);
    let Form { linearize, boscc, coherence, .. } = setup.form;
    let options = Options {
        linearize,
        boscc,
        machine: setup.machine(),
        coherence,
        ..Options::new(setup.width, Vec::new(), "kernel.vectorized")
    };
    // Every other program with smaller groups, too.
    let halves = setup.width.is_multiple_of(2) && setup.seed.is_multiple_of(2);
    let epilogue = if halves { setup.width / 2 } else { setup.width };
    let prologue = if setup.seed.is_multiple_of(3) { 16 } else { 0 };
    // Some leave short loops to scalar code.
    let least = if setup.seed.is_multiple_of(5) { setup.width } else { 0 };
    let tail = if setup.seed % 7 < 4 { Tail::Scalar } else { Tail::Masked };
    let unit_strides = setup.seed % 3 == 1;
    let unit = Unit { epilogue, tail, prologue, unit_strides, least, ..Unit::new(header, setup.width) };
    let made = vectorize_loop(ir, copy, &unit, &options).map_err(no_code)?;
    Ok((copy, made.variants.full))
}

fn no_code(e: VectorizeError) -> NoCode {
    if e.is_internal() { NoCode::Broken(e.to_string()) } else { NoCode::Refused(e.problem().reason.clone()) }
}

/// Vectorizes the kernel.
fn form(ir: &mut Ir, program: &Program, setup: &Setup, masked: bool) -> Result<Vectorized, NoCode> {
    let made = vectorize(ir, program.kernel, &options(program, setup, masked)).map_err(no_code)?;
    verified(ir, made.func)?;
    Ok(made)
}

fn options(program: &Program, setup: &Setup, masked: bool) -> Options<'static> {
    let name = if masked { "kernel.masked" } else { "kernel.vectorized" };
    let args = program.roles.iter().map(shape_of).collect();
    let Form { linearize, boscc, coherence, .. } = setup.form;
    Options {
        masked,
        linearize,
        boscc,
        machine: setup.machine(),
        coherence,
        // The lockstep run is the reference, whatever lanes do to each other.
        contract: Contract::Racy,
        ..Options::new(setup.width, args, name)
    }
}

fn verified(ir: &Ir, func: FuncId) -> Result<(), NoCode> {
    verify(ir, &ir.functions[func]).map_err(|e| NoCode::Broken(format!("vector function: {e}")))
}

/// Adds `name(slots)`: calls the target with what is in 8-byte slots, and puts the result where the slot behind these
/// says. What is no scalar is in memory, and its address in the slot.
fn entry(ir: &mut Ir, target: FuncId, name: &str) {
    let target = &ir.functions[target];
    let (callee, ret) = (target.name.clone(), target.ret);
    let params: Vec<Type> = target.params.iter().map(|&p| target.ty(p)).collect();
    let symbol = ir.function_symbol(&callee, &params, ret, Effects::UNKNOWN);
    let mut f = Function::new(name, Type::Void);
    let slots = f.add_param(Type::PTR, "slots");
    let b = f.add_block("entry");
    let slot = |f: &mut Function, k: usize| {
        let index = f.int_const(64, k as u128);
        f.append_value(b, Op::Gep(Type::Int(64)), &[slots, index], Type::PTR)
    };
    let place = |f: &mut Function, k: usize| {
        let slot = slot(f, k);
        f.append_value(b, Op::Load(MemAccess::plain(8)), &[slot], Type::PTR)
    };
    let mut args: Vec<Value> = Vec::new();
    for (k, &ty) in params.iter().enumerate() {
        let (at, align) = match ty {
            Type::Vector(_) | Type::Aggregate(_) => (place(&mut f, k), 1),
            _ => (slot(&mut f, k), 8),
        };
        args.push(f.append_value(b, Op::Load(MemAccess::plain(align)), &[at], ty));
    }
    let info = CallInfo { callee: Some(symbol), effects: Effects::UNKNOWN, variadic_fixed: None };
    if ret.is_void() {
        f.append(b, Op::Call(Box::new(info)), &args, ret);
    } else {
        let r = f.append_value(b, Op::Call(Box::new(info)), &args, ret);
        let at = place(&mut f, params.len());
        f.append(b, Op::Store(MemAccess::plain(1)), &[r, at], Type::Void);
    }
    f.set_terminator(b, Op::Ret, &[], &[]);
    ir.functions.push(f);
}

thread_local! {
    /// The calls of [`effect`], in order.
    static CALLS: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// The arguments of the calls that machine code has made on this thread since it was asked last.
pub fn take_calls() -> Vec<u32> {
    CALLS.take()
}

/// What programs call: logs its argument, and answers what the interpreter's host answers.
extern "C" fn effect(x: u32) -> u32 {
    CALLS.with_borrow_mut(|calls| calls.push(x));
    let call =
        HostCall { name: "effect", args: &[Val::int(x.into())], ret: Type::Int(32), ret_cells: 1, lane: 0 };
    match HashingHost.call(&call, &mut Memory::new(64, false)) {
        HostResult::Effect(v) => v.bits().map_or(0, |b| b as u32),
        _ => 0,
    }
}
