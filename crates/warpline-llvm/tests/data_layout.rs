//! Sizes and offsets are the target's, whether a module states them or not.

#[path = "common/guarded.rs"]
mod guarded;
#[expect(dead_code, reason = "other tests use more of it")]
#[path = "common/kernels.rs"]
mod kernels;

use kernels::{Arg, Kernel, bytes};
use warpline_ir::{DataLayout, Function, Type};
use warpline_llvm::worker::{CodegenOptions, Output, codegen_in_process};
use warpline_llvm::{Cpu, Imported, Linkage, Module};

/// Random kernels were computed wrongly: the scalar one, whose structures were copied in LLVM's default layout
/// (`{ i8, i64 }` has 12 bytes there, and 16 for x86-64), and the vector one, whose lanes' stacks overlapped.
const STRUCTURES_ON_THE_STACK: &str = "
define i64 @kernel(i32 %i, i64 %x) {
entry:
  %stack = alloca [4 x { i8, i64 }], align 8
  %copy = alloca [4 x { i8, i64 }], align 8
  call void @llvm.memset.p0.i64(ptr %stack, i8 0, i64 ptrtoint (ptr getelementptr ([4 x { i8, i64 }], ptr null, \
   i64 1) to i64), i1 false)
  %k = and i32 %i, 3
  %x8 = trunc i64 %x to i8
  %p = getelementptr [4 x { i8, i64 }], ptr %stack, i32 0, i32 %k, i32 1
  store i64 %x, ptr %p
  %last = getelementptr [4 x { i8, i64 }], ptr %stack, i32 0, i32 3, i32 1
  %xx = mul i64 %x, 77
  store i64 %xx, ptr %last
  %q = getelementptr [4 x { i8, i64 }], ptr %stack, i32 0, i32 %k
  store i8 %x8, ptr %q
  call void @llvm.memcpy.p0.p0.i64(ptr %copy, ptr %stack, i64 ptrtoint (ptr getelementptr ([4 x { i8, i64 }], \
   ptr null, i64 1) to i64), i1 false)
  %c = getelementptr [4 x { i8, i64 }], ptr %copy, i32 0, i32 %k, i32 1
  %y = load i64, ptr %c
  %d = getelementptr [4 x { i8, i64 }], ptr %copy, i32 0, i32 %k
  %z8 = load i8, ptr %d
  %z = zext i8 %z8 to i64
  %e = getelementptr [4 x { i8, i64 }], ptr %copy, i32 0, i32 3, i32 1
  %w = load i64, ptr %e
  %yz = xor i64 %y, %z
  %r = add i64 %yz, %w
  ret i64 %r
}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
";

#[test]
fn structures_on_the_stack_are_as_large_as_the_target_makes_them_where_the_module_does_not_say() {
    let words = bytes((0..37u64).map(|k| k.wrapping_mul(0x9e37_79b9_7f4a_7c15)), u64::to_le_bytes);
    let args = vec![Arg::Index, Arg::Varying(words)];
    Kernel {
        text: STRUCTURES_ON_THE_STACK.to_owned(),
        args,
        range: 0..37,
        result: 8,
        looped: false,
        contract: warpline_vectorize::Contract::Racy,
    }
    .judge();
}

/// A module of nothing but such a head.
fn with_head(head: &str) -> Module {
    let text = format!("{head}\ndefine void @f() {{\n  ret void\n}}\n");
    Module::parse(text.as_bytes(), "head.ll").expect("the text is well-formed")
}

#[test]
fn a_module_without_a_layout_gets_that_of_its_triple() {
    if !kernels::llvm_is_there() {
        return;
    }
    let narrow = Imported::new(with_head("target triple = \"i386-unknown-linux-gnu\""));
    assert_eq!(narrow.ir.layout.pointer_bits(0), 32);
    let wide = Imported::new(with_head("target triple = \"x86_64-unknown-linux-gnu\""));
    assert!(wide.ir.layout.agrees_with(&DataLayout::x86_64()), "{}", wide.ir.layout.text());
    let unknown = Imported::new(with_head("target triple = \"nowhere-unknown-unknown\""));
    assert_eq!(unknown.ir.layout.text(), "");
}

#[test]
fn no_code_is_made_of_a_module_whose_layout_is_not_its_target_s() {
    if !kernels::llvm_is_there() {
        return;
    }
    let head = "target triple = \"x86_64-unknown-linux-gnu\"\ntarget datalayout = \"e-p:32:32\"";
    let options = CodegenOptions::new(Cpu::named("x86-64"), Output::Assembly);
    let refused = codegen_in_process(&with_head(head).to_bitcode(), "head.ll", &options).unwrap_err();
    assert!(refused.to_string().contains("its data layout `e-p:32:32"), "{refused}");
}

#[test]
fn a_function_of_another_layout_is_not_added() {
    if !kernels::llvm_is_there() {
        return;
    }
    let mut module = Imported::new(with_head("target triple = \"x86_64-unknown-linux-gnu\""));
    let mut other = module.ir.clone();
    other.layout = DataLayout::default();
    let function = Function::new("g", Type::Void);
    let refused = module.bridge.add_function(&other, &function, Linkage::External).unwrap_err();
    assert!(refused.to_string().contains("data layout"), "{refused}");
}
