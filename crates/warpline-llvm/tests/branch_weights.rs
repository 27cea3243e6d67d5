//! How often edges are taken, as profiles and sources say it.

use warpline_ir::{Edge, Function};
use warpline_llvm::worker::load_in_process;
use warpline_llvm::{Imported, Llvm, Module, has_clang, worker::LoadOptions};

fn llvm_is_there() -> bool {
    match Llvm::get() {
        Ok(_) => true,
        Err(error) => {
            eprintln!("skipped: {error}");
            false
        }
    }
}

/// The weights of all branches, block by block.
fn weights(func: &Function) -> Vec<Vec<Option<u32>>> {
    let branches = func.layout.iter().map(|&b| func.out_edges(b)).filter(|edges| edges.len() > 1);
    branches.map(|edges| edges.iter().map(|&e: &Edge| func.weights[e]).collect()).collect()
}

#[test]
fn weights_of_a_profile_come_with_the_edges() {
    if !llvm_is_there() {
        return;
    }
    let text = "define void @f(i1 %c, i32 %n) {
  br i1 %c, label %a, label %b, !prof !0
a:
  switch i32 %n, label %end [ i32 1, label %b
                              i32 7, label %end ], !prof !1
b:
  br i1 %c, label %a, label %end, !prof !2
end:
  br i1 %c, label %stop, label %stop
stop:
  ret void
}
!0 = !{!\"branch_weights\", i32 9, i32 1}
!1 = !{!\"branch_weights\", i32 0, i32 5, i32 -1}
!2 = !{!\"unknown\", i32 1}
";
    let imported = Imported::new(Module::parse(text.as_bytes(), "f.ll").unwrap());
    let func = &imported.ir.functions[imported.ir.function("f").unwrap()];
    let expected: [&[Option<u32>]; 4] =
        [&[Some(9), Some(1)], &[Some(0), Some(5), Some(u32::MAX)], &[None, None], &[None, None]];
    assert_eq!(weights(func), expected);
}

#[test]
fn what_the_source_expects_is_a_weight() {
    if !llvm_is_there() {
        return;
    }
    if !has_clang() {
        eprintln!("skipped: no clang");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.c");
    let source = "void g(int);\nvoid f(int x) { if (__builtin_expect(x > 7, 0)) g(1); else g(2); g(3); }\n";
    std::fs::write(&path, source).unwrap();
    let loaded = load_in_process(&path, &LoadOptions::default()).unwrap();
    let imported = Imported::new(Module::parse(&loaded.bitcode, "f.c").unwrap());
    let func = &imported.ir.functions[imported.ir.function("f").unwrap()];
    let found = weights(func);
    let [branch] = found.as_slice() else { panic!("one branch: {found:?}") };
    let [Some(rare), Some(usual)] = branch[..] else { panic!("weights: {branch:?}") };
    assert!(rare.min(usual) * 100 < rare.max(usual), "{rare} and {usual}");
}
