//! How the cost of following secrets grows with the program.

use std::fmt::Write as _;

use super::{Area, Overlap, Secrets, observe, solved};
use warpline_ir::text::parse_module;

/// So many functions, each with objects of its own that it copies into and hands to the next one, through pointers that
/// lie in memory; the last one calls itself.
fn chain(length: usize) -> String {
    let mut text =
        "declare @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1) [reads writes traps arg_memory_only]\n".to_owned();
    for i in 0..=length {
        let _ = writeln!(text, "declare @f{i}(ptr, ptr, i32) [unknown]");
    }
    text += "func @f0(%r: ptr, %a: ptr, %n: i32) {\nb0:\n  %w: i32 = load %a, align 8\n  \
        store %w, %r, align 8\n  %c: i1 = icmp eq %n, 0\n  br %c, b2, b1\nb1:\n  \
        %m: i32 = sub %n, 1\n  call @f0(%a, %r, %m)\n  br b2\nb2:\n  ret\n}\n";
    for i in 1..=length {
        let _ = write!(
            text,
            "func @f{i}(%r: ptr, %a: ptr, %n: i32) {{\nb0:\n  \
             %t: ptr = alloca [96 x i8], i32 1, align 8\n  %u: ptr = alloca [96 x i8], i32 1, align 8\n  \
             call @llvm.memcpy.p0.p0.i64(%t, %a, 96, false)\n  \
             %p: ptr = getelementptr i8, %u, i64 88\n  store %t, %p, align 8\n  \
             %q: ptr = load %p, align 8\n  call @f{}(%u, %q, %n)\n  \
             call @llvm.memcpy.p0.p0.i64(%r, %u, 88, false)\n  ret\n}}\n",
            i - 1
        );
    }
    text
}

#[test]
fn instances_are_looked_at_a_few_times_each_however_many_there_are() {
    let visits = |length: usize| {
        let module = parse_module(&chain(length)).expect("a module");
        let entry = module.function(&format!("f{length}")).expect("the entry");
        let secrets = Secrets { memory: vec![Area::behind(1, "a".to_owned())], ..Secrets::default() };
        let state = solved(&module, entry, &secrets, Overlap::Apart, true);
        assert!(state.instances.len() > length);
        let found = observe(&module, entry, &secrets, Overlap::Apart);
        assert!(found.findings.is_empty(), "{:?}", found.findings);
        state.visit
    };
    let (few, many) = (visits(50), visits(400));
    assert!(many <= 12 * few, "{few} visits of 50 functions, {many} of 400");
}
