//! OpenCL C's functions are what the standard says, for every type and number of elements.
//!
//! Kernels that call one function each are compiled with the definitions that stand in front of OpenCL inputs, run as
//! machine code, and compared with formulas in Rust that follow the text of the standard: all operands of 8 bits,
//! corner cases and random ones of more. The same kernels are run by pocl, where that is installed, so that formulas
//! and definitions do not share a misunderstanding.

mod cases;
mod declared;
mod more_cases;
mod pocl;
mod types;

use std::fmt::Write as _;

use cases::{Case, Rule, cases, conversions, of_vectors};
use more_cases::{more, of_halves, of_memory, rounding_conversions};
use types::{Ty, corners, random};
use warpline_llvm::worker::{CodegenOptions, LoadOptions, Output, codegen_in_process, load_in_process};
use warpline_llvm::{Cpu, Jit, Llvm, has_clang};

/// So many elements are computed for each number of elements of a vector: a multiple of all of these.
const ELEMENTS: usize = 48 * 256;

/// Whether there is what it takes; if not, says that the test is skipped.
fn can_compile() -> bool {
    let there = Llvm::get().is_ok() && has_clang();
    if !there {
        eprintln!("skipped: no LLVM or no clang");
    }
    there
}

/// What expressions of cases may call: halves in private memory, as they are.
const HELPERS: &str = "
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define HELP(N) \\
  ushort##N shorts##N(half *h) { return vload##N(0, (ushort *)h); } \\
  float##N halves##N(half *h) { return vload_half##N(0, h); }
HELP(2) HELP(3) HELP(4) HELP(8) HELP(16)
ushort shorts(half *h) { return *(ushort *)h; }
float halves(half *h) { return vload_half(0, h); }
";

/// The kernel of a case: for each number of elements a loop over all operands.
fn kernel(case: &Case, number: usize) -> String {
    let mut text = format!(
        "kernel void k{number}(global const {t} *a, global const {t} *b, global const {t} *c, global {o} *o, int n) \
            {{\n",
        t = case.operand.name,
        o = case.result.name,
    );
    for &width in case.widths {
        let vector = |ty: Ty| if width == 1 { ty.name.to_owned() } else { format!("{}{width}", ty.name) };
        let load = |from: &str| {
            let all: Vec<String> = (0..width).map(|e| format!("{from}[k + {e}]")).collect();
            if width == 1 {
                all[0].clone()
            } else {
                format!("({})({})", vector(case.operand), all.join(", "))
            }
        };
        let expression =
            case.expression.replace("_N", &if width == 1 { String::new() } else { width.to_string() });
        let result = match case.rule {
            Rule::OfVectors { scalar: true, .. } => case.result.name.to_owned(),
            _ => vector(case.result),
        };
        let of_scalar_double = (case.is_answer || case.rule.is_question()) && width == 1;
        let result = if of_scalar_double { "int".to_owned() } else { result };
        let _ = writeln!(text, "  for (int k = 0; k < n; k += {width}) {{");
        let v = vector(case.operand);
        let _ = writeln!(text, "    {v} x = {}, y = {}, z = {};", load("a"), load("b"), load("c"));
        let _ = writeln!(text, "    {result} r = {expression};");
        for e in 0..width {
            let scalar = width == 1 || matches!(case.rule, Rule::OfVectors { scalar: true, .. });
            let part = if scalar { "r".to_owned() } else { format!("r.s{e:x}") };
            let _ = writeln!(text, "    o[k + {e}] = {part};");
        }
        let _ = writeln!(text, "  }}\n  o += n;");
    }
    text + "}\n"
}

/// The operands of a case, as many as there are elements.
fn operands(case: &Case) -> [Vec<u64>; 3] {
    let ty = case.operand;
    let mut state = 0x9E37_79B9_7F4A_7C15;
    let special = corners(ty);
    let mut all = [const { Vec::new() }; 3];
    for k in 0..case.elements() {
        // Corner cases against each other, then random ones, a quarter of them beside a corner case.
        let pick = |which: usize, state: &mut u64| {
            let pairs = special.len() * special.len();
            if ty.bits == 8 {
                [k % 256, k / 256 % 256, (k / 256 + k * 7) % 256][which] as u64
            } else if k < pairs {
                special[[k % special.len(), k / special.len(), (k * 5 + k / 7) % special.len()][which]]
            } else if random(state).is_multiple_of(4) {
                special[random(state) as usize % special.len()]
            } else {
                ty.any(random(state))
            }
        };
        for (which, list) in all.iter_mut().enumerate() {
            list.push(case.admitted(pick(which, &mut state)));
        }
    }
    all
}

/// Compares results with the formula; what is wrong, if anything.
fn judge(case: &Case, inputs: &[Vec<u64>; 3], results: &[u64]) -> Result<(), String> {
    let n = case.elements();
    for (number, &width) in case.widths.iter().enumerate() {
        for k in (0..n).step_by(width) {
            let part = |which: usize| &inputs[which][k..k + width];
            let expected = case.expected(part(0), part(1), part(2), inputs[1][0]);
            for (e, &wanted) in expected.iter().enumerate() {
                let found = results[number * n + k + e];
                if !case.agrees(found, wanted) {
                    return Err(format!(
                        "{} of {} x {width}, element {e}: {} for {:?}, {:?}, {:?}; expected {}",
                        case.expression,
                        case.operand.name,
                        case.result.show(found),
                        part(0).iter().map(|&x| case.operand.show(x)).collect::<Vec<_>>(),
                        part(1).iter().map(|&x| case.operand.show(x)).collect::<Vec<_>>(),
                        part(2).iter().map(|&x| case.operand.show(x)).collect::<Vec<_>>(),
                        case.result.show(wanted),
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Compiles and runs cases here.
fn judge_machine_code(cases: &[Case]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.cl");
    let kernels: String = cases.iter().enumerate().map(|(number, case)| kernel(case, number)).collect();
    std::fs::write(&path, HELPERS.to_owned() + &kernels).unwrap();
    let loaded = load_in_process(&path, &LoadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(loaded.warnings, "");
    let options = CodegenOptions {
        passes: String::new(),
        ..CodegenOptions::new(Cpu::native().unwrap(), Output::Object)
    };
    let object = codegen_in_process(&loaded.bitcode, "k.cl", &options).unwrap();
    let jit = Jit::new().unwrap();
    jit.add_object(&object, "k.o").unwrap();
    for (number, case) in cases.iter().enumerate() {
        let inputs = operands(case);
        let bytes = [0, 1, 2].map(|which| case.operand.bytes(&inputs[which]));
        let mut out = vec![0u8; case.elements() * case.widths.len() * case.result.size()];
        let address = jit.address(&format!("k{number}")).unwrap();
        // SAFETY: the kernel reads as many elements as it is told from the first three buffers, and writes as many
        // for each number of elements of a vector to the last.
        unsafe {
            let run: extern "C" fn(*const u8, *const u8, *const u8, *mut u8, i32) =
                std::mem::transmute(address);
            let [a, b, c] = &bytes;
            run(a.as_ptr(), b.as_ptr(), c.as_ptr(), out.as_mut_ptr(), case.elements() as i32);
        }
        judge(case, &inputs, &case.result.numbers(&out)).unwrap_or_else(|wrong| panic!("{wrong}"));
    }
}

#[test]
fn functions_of_integers_follow_the_standard() {
    if can_compile() {
        let all: Vec<Case> = types::INTEGERS.iter().flat_map(|&ty| cases(ty)).collect();
        assert!(all.len() > 80);
        judge_machine_code(&all);
    }
}

#[test]
fn functions_of_floating_point_numbers_follow_the_standard() {
    if can_compile() {
        let all: Vec<Case> = types::FLOATS.iter().flat_map(|&ty| cases(ty)).collect();
        judge_machine_code(&all);
    }
}

#[test]
fn mathematics_beyond_instructions_follows_the_standard() {
    if can_compile() {
        let all: Vec<Case> = types::FLOATS.iter().flat_map(|&ty| more(ty)).collect();
        judge_machine_code(&all);
    }
}

#[test]
fn integers_that_saturate_or_are_averaged_follow_the_standard() {
    if can_compile() {
        let all: Vec<Case> = types::INTEGERS.iter().flat_map(|&ty| more(ty)).collect();
        judge_machine_code(&all);
    }
}

#[test]
fn conversions_that_round_and_saturate_follow_the_standard() {
    if can_compile() {
        judge_machine_code(&rounding_conversions());
    }
}

#[test]
fn halves_in_memory_follow_the_standard() {
    if can_compile() {
        judge_machine_code(&of_memory());
    }
}

#[test]
fn functions_of_halves_follow_the_standard() {
    if can_compile() {
        let all: Vec<Case> =
            cases(types::HALF).into_iter().chain(more(types::HALF)).chain(of_halves()).collect();
        assert!(all.len() > 150);
        judge_machine_code(&all);
    }
}

#[test]
fn geometric_and_collecting_functions_follow_the_standard() {
    if can_compile() {
        judge_machine_code(&of_vectors());
    }
}

#[test]
fn conversions_follow_the_standard() {
    if can_compile() {
        judge_machine_code(&conversions());
    }
}

#[test]
fn pocl_agrees_with_the_formulas() {
    let Some(device) = pocl::Device::open() else {
        eprintln!("skipped: there is no pocl (`apt-get install pocl-opencl-icd ocl-icd-libopencl1`)");
        return;
    };
    let some =
        [types::INTEGERS[0], types::INTEGERS[3], types::INTEGERS[4], types::INTEGERS[7], types::FLOATS[0]];
    let all = some.iter().flat_map(|&ty| cases(ty).into_iter().chain(more(ty))).chain(of_vectors());
    let all: Vec<Case> = all.filter(|case| case.with_pocl).map(Case::shorter).collect();
    let text: String = all.iter().enumerate().map(|(number, case)| kernel(case, number)).collect();
    let program = device.build(&text);
    for (number, case) in all.iter().enumerate() {
        let inputs = operands(case);
        let bytes = [0, 1, 2].map(|which| case.operand.bytes(&inputs[which]));
        let size = case.elements() * case.widths.len() * case.result.size();
        let out = program.run(&format!("k{number}"), &bytes, size, case.elements() as i32);
        judge(case, &inputs, &case.result.numbers(&out)).unwrap_or_else(|wrong| panic!("pocl: {wrong}"));
    }
    println!("{} functions agree", all.len());
}
