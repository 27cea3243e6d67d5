//! What calling conventions say of parameters.

use warpline_llvm::Module;
use warpline_uniformity::Target;

#[test]
fn parameters_of_kernels_and_scalar_registers_are_uniform_on_gpus() {
    let text = "
define amdgpu_kernel void @k(i32 %a, ptr %b) { ret void }
define void @f(i32 %a, i32 inreg %b) { ret void }
define amdgpu_cs void @cs(i32 %a, i32 inreg %b) { ret void }
define ptx_kernel void @ptx(i32 %a) { ret void }
define spir_kernel void @spir(i32 %a) { ret void }
define spir_kernel void @called(i32 %a) { ret void }
define spir_kernel void @calls(i32 %a) {
  call spir_kernel void @called(i32 %a)
  ret void
}
";
    let module = Module::parse(text.as_bytes(), "conventions.ll").expect("the text is well-formed");
    let uniform = |name: &str, target: Target| module.uniform_parameters(name, target);
    assert_eq!(uniform("k", Target::Amdgcn), [true, true]);
    assert_eq!(uniform("f", Target::Amdgcn), [false, true]);
    assert_eq!(uniform("cs", Target::Amdgcn), [false, true]);
    assert_eq!(uniform("f", Target::Nvptx), [false, false]);
    assert_eq!(uniform("ptx", Target::Nvptx), [true]);
    assert_eq!(uniform("spir", Target::Spirv), [true]);
    assert_eq!(uniform("spir", Target::Amdgcn), [true]);
    assert_eq!(uniform("calls", Target::Spirv), [true]);
    assert_eq!(uniform("called", Target::Spirv), [false], "another kernel may pass anything");
    for name in ["k", "ptx", "spir"] {
        assert!(uniform(name, Target::Simd).iter().all(|u| !u), "{name}");
    }
    assert!(uniform("missing", Target::Amdgcn).is_empty());
}
