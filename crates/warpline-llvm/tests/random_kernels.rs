//! Random kernels, vectorized, exported, optimised and run in this process over a range, against the lane interpreter.

mod common;

use common::{SawNan, export, has_open_zeros, link, words};
use warpline::interp::{LaneArg, LaneSet, Machine, Memory, Val};
use warpline::ir::{FuncId, Module as Ir, Type};
use warpline::shape::ArgShape;
use warpline::vectorize::driver::{slots_entry, vector_range};
use warpline::vectorize::{Linearize, Options, VectorizeError, vectorize};
use warpline_llvm::Llvm;
use warpline_testkit::differential::shape_of;
use warpline_testkit::programs::{Inputs, ParamRole, Program, ProgramOptions, generate};

/// Adds a W-lane range driver and its entry from slots.
fn vectorized(program: &Program, width: u32, linearize: Linearize) -> Result<Ir, VectorizeError> {
    let mut ir = program.module.clone();
    let args: Vec<ArgShape> = program.roles.iter().map(shape_of).collect();
    let mut made: Vec<FuncId> = Vec::new();
    for masked in [false, true] {
        let options =
            Options { masked, linearize, ..Options::new(width, args.clone(), format!("kernel.{masked}")) };
        made.push(vectorize(&mut ir, program.kernel, &options)?.func);
    }
    let range = vector_range(&mut ir, program.kernel, made[0], made[1], width, &args, "range")?;
    slots_entry(&mut ir, range, "range.slots")?;
    Ok(ir)
}

fn size(ty: Type) -> usize {
    match ty {
        Type::Int(w) => w.div_ceil(8) as usize,
        Type::Float(k) => k.bits() as usize / 8,
        _ => 8,
    }
}

fn bytes_of(values: &[Val], ty: Type) -> Vec<u8> {
    values.iter().flat_map(|v| v.bits().expect("defined").to_le_bytes()[..size(ty)].to_vec()).collect()
}

#[test]
fn random_kernels_compiled_for_lanes_compute_what_the_interpreter_does() {
    if let Err(error) = Llvm::get() {
        eprintln!("skipped: {error}");
        return;
    }
    let count = std::env::var("WARPLINE_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(25u64);
    let (mut compared, mut divergent) = (0, 0);
    for seed in 0..count {
        let options = ProgramOptions { effects: false, poison: seed % 3 == 0, ..ProgramOptions::default() };
        let program = generate(seed, &options);
        if has_open_zeros(&program) {
            continue;
        }
        let width = [1, 2, 4, 8, 16][seed as usize % 5];
        let linearize = if seed % 4 == 0 { Linearize::Full } else { Linearize::Partial };
        let ir = match vectorized(&program, width, linearize) {
            Ok(ir) => ir,
            Err(error) => {
                assert!(!error.reason.starts_with("internal"), "seed {seed}: {error}");
                continue;
            }
        };
        let jit = link(&export(&ir), "default<O3>");
        let range = jit.function("range.slots").unwrap();
        for input in 0..4 {
            // Some groups are full, the last one is not.
            let lanes = [3, 19, 1, 32][input as usize];
            let inputs = Inputs::random(&program, lanes, seed * 100 + input);
            let mut machine = Machine::new(&program.module);
            let (args, addresses) = inputs.bind(&mut machine);
            let contents = |memory: &Memory| -> Vec<Vec<Option<u8>>> {
                let read = |&a: &u64| {
                    let (_, size) = memory.extent(a).expect("a buffer");
                    memory.read(a, size).expect("a buffer")
                };
                addresses.iter().map(read).collect()
            };
            let before = contents(&machine.memory);
            let mut observer = SawNan::new(&program.module);
            let code = machine.prepare_id(program.kernel);
            let run = machine
                .run_lockstep(&code, lanes, LaneSet::first(lanes), &args, Some(&mut observer))
                .unwrap_or_else(|t| panic!("seed {seed}: {t}\n{}", program.text()));
            if observer.saw || machine.froze {
                continue;
            }
            compared += 1;
            divergent +=
                u64::from(run.visited.values().any(|s| !s.is_empty() && *s != LaneSet::first(lanes)));

            // The same by machine code.
            let f = program.function();
            let mut begin = 0;
            let mut arrays: Vec<Vec<u64>> = Vec::new();
            let mut slots: Vec<u64> = vec![0, 0];
            let mut buffers = Vec::new();
            for ((arg, role), &param) in args.iter().zip(&program.roles).zip(&f.params) {
                match (role, arg) {
                    (ParamRole::Index, LaneArg::Each(list)) => {
                        begin = list[0].bits().expect("defined") as u64
                    }
                    (ParamRole::Buffer { .. }, _) => {
                        let bytes: Vec<u8> = before[buffers.len()].iter().copied().flatten().collect();
                        buffers.push(arrays.len());
                        arrays.push(words(&bytes));
                        slots.push(arrays.last_mut().expect("just pushed").as_mut_ptr() as u64);
                    }
                    (_, LaneArg::Each(list)) => {
                        arrays.push(words(&bytes_of(list, f.ty(param))));
                        slots.push(arrays.last_mut().expect("just pushed").as_mut_ptr() as u64);
                    }
                    (_, LaneArg::Same(v)) => slots.push(v.bits().expect("defined") as u64),
                }
            }
            // One element more, which must not be touched.
            let mut out = vec![u64::MAX; lanes as usize + 1];
            slots.push(out.as_mut_ptr() as u64);
            (slots[0], slots[1]) = (begin, begin + u64::from(lanes));
            range.call(&mut slots);

            let bytes = |w: &[u64]| -> Vec<u8> { w.iter().flat_map(|w| w.to_le_bytes()).collect() };
            let place =
                || format!("seed {seed}, input {input}, width {width}, {lanes} indices\n{}", program.text());
            for (k, (expected, &at)) in contents(&machine.memory).iter().zip(&buffers).enumerate() {
                let found = bytes(&arrays[at]);
                let wrong = expected.iter().zip(&found).position(|(a, b)| a.is_some_and(|a| a != *b));
                assert!(wrong.is_none(), "buffer {k} differs at byte {wrong:?}; {}", place());
            }
            let step = size(f.ret);
            let found = bytes(&out);
            for (lane, value) in run.returns.iter().enumerate().filter(|_| !f.ret.is_void()) {
                let expected = value.as_ref().and_then(Val::bits);
                let found = &found[lane * step..(lane + 1) * step];
                let same = expected.is_none_or(|e| e.to_le_bytes()[..step] == *found);
                assert!(same, "lane {lane} returns {found:?} instead of {expected:x?}; {}", place());
            }
            let used = if f.ret.is_void() { 0 } else { lanes as usize * step };
            assert!(found[used..].iter().all(|&b| b == 0xff), "written behind the range; {}", place());
        }
    }
    println!("{compared} runs compared, {divergent} divergent");
    assert!(
        compared > count && divergent * 3 > compared,
        "vacuous: {compared} compared, {divergent} divergent"
    );
}
