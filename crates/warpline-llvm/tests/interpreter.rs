//! The judge judged: what the lane interpreter computes for random scalar programs is what LLVM's machine code
//! computes.

mod common;

use common::nan::SawNan;
use common::{export, has_open_zeros, link, words};
use warpline_interp::{LaneArg, LaneSet, Machine, Memory, Val};
use warpline_ir::{CallInfo, CastOp, Effects, FuncId, Function, MemAccess, Module as Ir, Op, Type, Value};
use warpline_llvm::{Jit, Llvm};
use warpline_testkit::programs::{Inputs, MemoryMode, ParamRole, Program, ProgramOptions, generate};

/// Adds `name(slots)`: calls the kernel with arguments from 8-byte slots and puts the result behind them.
fn entry(ir: &mut Ir, kernel: FuncId, name: &str) -> FuncId {
    let target = &ir.functions[kernel];
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
    let access = MemAccess::plain(8);
    let mut args: Vec<Value> = Vec::new();
    for (k, &ty) in params.iter().enumerate() {
        let at = slot(&mut f, k);
        args.push(f.append_value(b, Op::Load(access), &[at], ty));
    }
    let info = CallInfo { callee: Some(symbol), effects: Effects::UNKNOWN, variadic_fixed: None };
    if ret.is_void() {
        f.append(b, Op::Call(Box::new(info)), &args, ret);
    } else {
        let mut r = f.append_value(b, Op::Call(Box::new(info)), &args, ret);
        if let Type::Float(k) = ret {
            r = f.append_value(b, Op::Cast(CastOp::Bitcast), &[r], Type::Int(k.bits()));
        }
        let at = slot(&mut f, params.len());
        f.append(b, Op::Store(access), &[r, at], Type::Void);
    }
    f.set_terminator(b, Op::Ret, &[], &[]);
    ir.functions.push(f)
}

/// The program as machine code, once for each list of passes.
fn compile(program: &Program, passes: &[&str]) -> Vec<Jit> {
    let mut ir = program.module.clone();
    entry(&mut ir, program.kernel, "entry");
    let bitcode = export(&ir);
    passes.iter().map(|passes| link(&bitcode, passes)).collect()
}

/// Runs the machine code on the inputs of a single lane: the result's bits, the buffers.
fn native(jit: &Jit, program: &Program, args: &[LaneArg], buffers: &[Vec<u8>]) -> (u64, Vec<Vec<u8>>) {
    let mut memory: Vec<Vec<u64>> = buffers.iter().map(|b| words(b)).collect();
    let mut pointers = memory.iter_mut().map(|b| b.as_mut_ptr() as u64);
    let slot = |(a, role): (&LaneArg, &ParamRole)| match (a, role) {
        (_, ParamRole::Buffer { .. }) => pointers.next().expect("a buffer for each"),
        (LaneArg::Each(list), _) => list[0].bits().expect("defined") as u64,
        (LaneArg::Same(v), _) => v.bits().expect("defined") as u64,
    };
    let mut slots: Vec<u64> = args.iter().zip(&program.roles).map(slot).collect();
    slots.push(0);
    jit.function("entry").unwrap().call(&mut slots);
    let bytes = |b: &Vec<u64>| b.iter().flat_map(|w| w.to_le_bytes()).collect();
    (slots[args.len()], memory.iter().map(bytes).collect())
}

#[test]
fn the_interpreter_computes_what_machine_code_computes() {
    if let Err(error) = Llvm::get() {
        eprintln!("skipped: {error}");
        return;
    }
    let count = std::env::var("WARPLINE_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(60u64);
    let (mut compared, mut nan) = (0, 0);
    for seed in 0..count {
        let options = ProgramOptions {
            memory: if seed % 2 == 0 { MemoryMode::Private } else { MemoryMode::Racy },
            effects: false,
            poison: seed % 3 == 0,
            wide: seed % 4 == 0,
            ..ProgramOptions::default()
        };
        let program = generate(seed, &options);
        if has_open_zeros(&program) {
            continue;
        }
        let jits = compile(&program, &["", "default<O3>"]);
        for input in 0..8 {
            let inputs = Inputs::random(&program, 1, seed * 100 + input);
            let mut observer = SawNan::new(&program.module);
            let mut machine = Machine::new(&program.module);
            let (args, addresses) = inputs.bind(&mut machine);
            let contents = |memory: &Memory| -> Vec<Vec<Option<u8>>> {
                let read = |&a: &u64| {
                    let (_, size) = memory.extent(a).expect("a buffer");
                    memory.read(a, size).expect("a buffer")
                };
                addresses.iter().map(read).collect()
            };
            let before: Vec<Vec<u8>> =
                contents(&machine.memory).into_iter().map(|b| b.into_iter().flatten().collect()).collect();
            let code = machine.prepare_id(program.kernel);
            let run = machine
                .run_lockstep(&code, 1, LaneSet::one(0), &args, Some(&mut observer))
                .unwrap_or_else(|t| panic!("seed {seed}: {t}\n{}", program.text()));
            nan += u64::from(observer.saw);
            if observer.saw || machine.froze {
                continue;
            }
            compared += 1;
            let after = contents(&machine.memory);
            let result = run.returns[0].clone().unwrap_or_default();
            let is_void = result.cells.is_empty();
            for (jit, passes) in jits.iter().zip(["no passes", "O3"]) {
                let (value, buffers) = native(jit, &program, &args, &before);
                let same_result = is_void || result.refined_by(&Val::int(value.into()));
                // Where the interpreter has poison, anything is right.
                let fits = |(a, b): (&Option<u8>, &u8)| a.is_none_or(|a| a == *b);
                let same_memory = after.iter().zip(&buffers).all(|(a, b)| a.iter().zip(b).all(fits));
                assert!(
                    same_result && same_memory,
                    "seed {seed}, input {input}, {passes}: {result:?}, machine code {value:#x}; buffers equal: \
                     {same_memory}\n{}",
                    program.text()
                );
            }
        }
    }
    println!("{compared} runs compared, {nan} with NaN left out");
    assert!(compared > count * 2, "vacuous: {compared} runs of {count} programs compared");
}
