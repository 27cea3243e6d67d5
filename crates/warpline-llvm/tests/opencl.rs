//! OpenCL C: its functions are defined, and real kernels in it are vectorized.

use std::path::Path;

use warpline_llvm::worker::{CodegenOptions, LoadOptions, Output, codegen_in_process, load_in_process};
use warpline_llvm::{Cpu, Imported, Jit, Llvm, Module, has_clang};
use warpline_uniformity::shape::ArgShape;
use warpline_vectorize::groups::{Rules, cut};
use warpline_vectorize::work_items::with_parameters;
use warpline_vectorize::{Options, linearize_kernel};

/// Whether there is what it takes; if not, says that the test is skipped.
fn can_compile() -> bool {
    let there = Llvm::get().is_ok() && has_clang();
    if !there {
        eprintln!("skipped: no LLVM or no clang");
    }
    there
}

/// The module of a text in OpenCL C.
fn compiled(text: &str) -> Module {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.cl");
    std::fs::write(&path, text).unwrap();
    let loaded = load_in_process(&path, &LoadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(loaded.warnings, "");
    Module::parse(&loaded.bitcode, "k.cl").unwrap()
}

#[test]
fn functions_of_opencl_compute_what_the_standard_says() {
    if !can_compile() {
        return;
    }
    let text = "
        kernel void all_of_them(global const float4 *x, global float *f, global int *i) {
          float4 a = x[0], b = x[1];
          f[0] = dot(a, b); f[1] = length(a.xy); f[2] = distance(a.xyz, b.xyz); f[3] = normalize(b).y;
          f[4] = cross(a.xyz, b.xyz).z; f[5] = clamp(a, 1.5f, 2.5f).w; f[6] = mix(a, b, 0.25f).x; f[7] = \
           step(2.0f, a).y;
          f[8] = smoothstep(0.0f, 4.0f, a).x; f[9] = fmax(a, b).x; f[10] = fmin(a.x, NAN); f[11] = max(a, b).w;
          f[12] = rsqrt(b.w * 0 + 16.0f); f[13] = mad(a, b, a).y; f[14] = native_recip(a.y); f[15] = select(a, \
           b, a > b).w;
          f[16] = floor(-a.x - 0.5f); f[17] = rint(2.5f); f[18] = copysign(a.x, -1.0f); f[19] = \
           convert_float4(convert_int4(b * 1.75f)).x;
          i[0] = max((int3)(1, 2, 3), (int3)(3, 2, 1)).x; i[1] = clamp(7u, 2u, 5u); i[2] = popcount(0xff0f);
          i[3] = clz(1); i[4] = abs(-5); i[5] = rotate(0x80000001u, 4u); i[6] = isnan(f[10] * NAN); i[7] = any(a > b);
          i[8] = all(a > b); i[9] = mul24(3, -4); i[10] = min((char)-3, (char)2); i[11] = isinf(a.x / 0.0f);
        }";
    let module = compiled(text);
    let defined = module.to_text().lines().filter(|l| l.starts_with("define")).count();
    assert_eq!(defined, 1, "the functions in front of the kernel are not left behind");
    let options = CodegenOptions::new(Cpu::native().unwrap(), Output::Object);
    let object = codegen_in_process(&module.to_bitcode(), "k.cl", &options).unwrap();
    let jit = Jit::new().unwrap();
    jit.add_object(&object, "k.o").unwrap();
    let x: [f32; 8] = [1.0, 2.0, 3.0, 4.0, 4.0, 3.0, 2.0, 1.0];
    let (mut f, mut i) = ([0f32; 20], [0i32; 12]);
    let aligned = Aligned(x);
    // SAFETY: the kernel takes these three pointers and touches what they point to alone.
    unsafe {
        let address = jit.address("all_of_them").unwrap();
        let run: extern "C" fn(*const f32, *mut f32, *mut i32) = std::mem::transmute(address);
        run(aligned.0.as_ptr(), f.as_mut_ptr(), i.as_mut_ptr());
    }
    let root = |x: f32| x.sqrt();
    let expected = [
        20.0,
        root(5.0),
        root(9.0 + 1.0 + 1.0),
        3.0 / root(30.0),
        -5.0,
        2.5,
        1.75,
        1.0,
        0.15625,
        4.0,
        1.0,
        4.0,
        0.25,
        8.0,
        0.5,
        1.0,
        -2.0,
        2.0,
        -1.0,
        7.0,
    ];
    assert_eq!(f, expected);
    assert_eq!(i, [3, 5, 12, 31, 5, 24, 1, 1, 0, -12, -3, 1]);
}

#[repr(align(16))]
struct Aligned([f32; 8]);

#[test]
fn real_kernels_are_vectorized_or_cut_at_their_barriers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/opencl");
    if !can_compile() {
        return;
    }
    let Ok(files) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: no {}", folder.display());
        return;
    };
    let (mut vectorized, mut with_barriers) = (0, 0);
    for file in files {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut ir = Imported::new(compiled(&text)).ir;
        let names = text.split("__kernel void ").skip(1).filter_map(|rest| rest.split('(').next());
        for name in names {
            let kernel = ir.function(name).unwrap();
            let items =
                with_parameters(&mut ir, kernel).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let items = items.unwrap_or_else(|| panic!("{name} asks which work-item it is"));
            let function = &ir.functions[items.func];
            let own = function.params.len() - items.added.len();
            let shapes: Vec<ArgShape> =
                std::iter::repeat_n(ArgShape::Uniform, own).chain(items.shapes()).collect();
            if items.runs_over_groups {
                cut(&mut ir, &items, &shapes, Rules::default())
                    .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                with_barriers += 1;
                continue;
            }
            linearize_kernel(&ir, function, &Options::new(8, shapes, "lanes"))
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            vectorized += 1;
        }
    }
    println!("{vectorized} kernels are vectorized, {with_barriers} cut at barriers");
    assert!(vectorized > 17 && with_barriers > 0, "{vectorized} and {with_barriers}");
}
