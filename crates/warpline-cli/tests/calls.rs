//! Calls that no lanes can make are refused by name, under every name; functions that are only named like them are
//! called.

mod common;
#[path = "common/linked.rs"]
mod linked;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{has_clang, ok, stderr, warpline};
use linked::{link_and_run, vectorize};

fn file(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// Vectorizes an input and asserts that it is refused, with these words, and that nothing is written.
#[track_caller]
fn refused(name: &str, text: &str, arguments: &[&str], words: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let input = file(folder.path(), name, text);
    let object = folder.path().join("refused.o");
    let mut all = vec!["vectorize", input.to_str().unwrap(), "--width", "4", "-o", object.to_str().unwrap()];
    all.extend(arguments);
    let output = warpline(&all);
    let message = stderr(&output);
    // Whoever names a kernel hears that it is refused as a finding.
    let code = if arguments.contains(&"--function") { 1 } else { 2 };
    assert_eq!(output.status.code(), Some(code), "{text}\n{message}");
    for word in words {
        assert!(message.contains(word), "no `{word}` in: {message}\n{text}");
    }
    assert!(!message.contains("internal"), "{message}");
    assert!(!object.exists(), "{message}");
}

#[test]
fn what_returns_twice_or_jumps_is_refused_by_name_and_place() {
    if !has_clang() {
        return;
    }
    let head = "#include <setjmp.h>\n#include <unistd.h>\n#include <ucontext.h>\nextern jmp_buf env; extern sigjmp_buf \
        s;\n\
                extern ucontext_t u;\n//@ args i=index\n";
    let bodies = [
        ("o[i] = setjmp(env) ? 1 : 2;", "`_setjmp` returns twice"),
        ("o[i] = sigsetjmp(s, 1) ? 1 : 2;", "`__sigsetjmp` returns twice"),
        ("o[i] = vfork();", "`vfork` returns twice"),
        ("o[i] = getcontext(&u);", "`getcontext` returns twice"),
        ("o[i] = 1; if (i & 1) longjmp(env, 3);", "`longjmp` continues where another function returned"),
        ("o[i] = 1; if (i & 1) siglongjmp(s, 3);", "`siglongjmp` continues"),
        ("o[i] = 1; if (i & 1) setcontext(&u);", "`setcontext` continues"),
    ];
    for (body, reason) in bodies {
        let text = format!("{head}void k(int i, int *o) {{\n  {body}\n}}\n");
        refused("k.c", &text, &[], &[reason, "function `k`", "k.c:8"]);
        // In a loop within a function.
        let text = format!(
            "{}void k(int n, int *o) {{\n  for (int i = 0; i < n; i++) {{ {body} }}\n}}\n",
            head.replace("//@ args i=index\n", "")
        );
        refused("k.c", &text, &["--loop", "7"], &[reason, "k.c:7"]);
        // In a function that the kernel calls through another.
        let text = format!(
            "{head}void k(int i, int *o);\n__attribute__((noinline)) static void inner(int i, int *o) {{ {body} }}\n\
             __attribute__((noinline)) static void outer(int i, int *o) {{ inner(i, o); o[i]++; }}\n\
             void k(int i, int *o) {{\n  outer(i, o);\n}}\n"
        );
        refused("k.c", &text, &["--function", "k"], &[reason, "it leads to `inner`", "k.c:11"]);
    }
}

#[test]
fn names_that_return_twice_need_no_attribute_and_attributes_no_name() {
    let by_name = "declare i32 @setjmp(ptr)\ndefine void @k(i32 %i, ptr %o) {\n  %r = call i32 @setjmp(ptr %o)\n  ret \
        void\n}\n";
    refused("k.ll", by_name, &["--args", "i=index"], &["`setjmp` returns twice"]);
    let by_attribute = "declare i32 @mark(ptr) returns_twice\ndefine void @k(i32 %i, ptr %o) {\n  %r = call i32 \
        @mark(ptr %o)\n  ret void\n}\n";
    refused("k.ll", by_attribute, &["--args", "i=index"], &["`mark` returns twice"]);
    let through_a_pointer = "define void @k(i32 %i, ptr %o, ptr %f) {\n  %r = call i32 %f(ptr %o) returns_twice\n  \
        store i32 %i, ptr %o\n  ret void\n}\n";
    refused("k.ll", through_a_pointer, &["--args", "i=index"], &["called through a pointer returns twice"]);
}

#[test]
fn a_loop_that_calls_functions_beside_what_returns_twice_is_refused() {
    if !has_clang() {
        return;
    }
    let text = "#include <setjmp.h>\nextern jmp_buf env; extern int f(int);\nint k(int n, int *o) {\n  if \
        (setjmp(env)) return 1;\n  \
                for (int i = 0; i < n; i++) o[i] = f(i);\n  return 0;\n}\n";
    refused("k.c", text, &["--loop", "5"], &["`_setjmp` returns twice", "may jump back", "k.c:4"]);
}

#[test]
fn musttail_calls_and_coroutines_are_refused() {
    let tail = "declare i32 @other(i32, ptr)\ndefine i32 @k(i32 %i, ptr %o) {\n  %r = musttail call i32 @other(i32 %i, \
        ptr %o)\n  ret i32 %r\n}\n";
    refused("k.ll", tail, &["--args", "i=index"], &["calls `other` as `musttail`", "function `k`"]);
    let coroutine = "declare i8 @llvm.coro.suspend(token, i1)\ndefine void @k(i32 %i, ptr %o) {\n  \
                     %s = call i8 @llvm.coro.suspend(token none, i1 false)\n  %c = icmp eq i8 %s, 0\n  \
                     br i1 %c, label %a, label %b\na:\n  store i32 %i, ptr %o\n  br label %b\nb:\n  ret void\n}\n";
    refused("k.ll", coroutine, &["--args", "i=index"], &["`llvm.coro.suspend` suspends", "function `k`"]);
}

#[test]
fn a_function_with_a_musttail_call_is_called_lane_by_lane() {
    let folder = tempfile::tempdir().unwrap();
    let text = "define internal i32 @last(i32 %x) noinline {\n  %r = mul i32 %x, 3\n  ret i32 %r\n}\n\
                define internal i32 @first(i32 %x) noinline {\n  %y = add i32 %x, 1\n  %r = musttail call i32 \
                @last(i32 %y)\n  ret i32 %r\n}\n\
                define void @k(i32 %i, ptr %o) {\n  %r = call i32 @first(i32 %i)\n  %p = getelementptr i32, ptr %o, \
                i32 %i\n  \
                store i32 %r, ptr %p\n  ret void\n}\n";
    let input = file(folder.path(), "k.ll", text);
    vectorize(
        folder.path(),
        &[input.to_str().unwrap(), "--function", "k", "--width", "8", "--args", "i=index"],
    );
    let source = "#include <stdio.h>\n#include \"m.h\"\nint main(void) { int o[37], wrong = 0; k_range(0, 37, o);\n\
                  for (int i = 0; i < 37; i++) wrong += o[i] != (i + 1) * 3;\nprintf(\"%d\\n\", wrong); return 0; }\n";
    if let Some(text) = link_and_run(folder.path(), source, &[]) {
        assert_eq!(text, "0\n");
    }
}

#[test]
fn exceptions_are_refused_by_name_and_handlers_are_kept() {
    if !has_clang() {
        return;
    }
    let inputs = [
        ("try { if (x[i] > 3) throw 1; o[i] = x[i]; } catch (int e) { o[i] = -e; }", "for exceptions"),
        ("if (x[i] > 3) throw x[i]; o[i] = x[i];", "`__cxa_throw` is for exceptions"),
        ("try { o[i] = may_throw(x[i]); } catch (...) { o[i] = -1; }", "lanes cannot unwind separately"),
        ("Guard g(o + i); o[i] = may_throw(x[i]);", "`_Z9may_throwi`"),
        ("o[i] = thrower(x[i]);", "it leads to `_ZL7throweri`, where `__cxa_throw` is for exceptions"),
        ("o[i] = catcher(x[i]);", "it leads to `_ZL7catcheri`, where `__cxa_"),
    ];
    let head = "int may_throw(int);\nstruct Guard { int *p; Guard(int *p) : p(p) {} ~Guard() { ++*p; } };\n\
                __attribute__((noinline)) static int thrower(int x) { if (x > 3) throw 1; return x; }\n\
                __attribute__((noinline)) static int catcher(int x) { try { return thrower(x); } catch (int e) { \
                return e; } }\n";
    for (body, reason) in inputs {
        let text = format!(
            "{head}//@ args i=index\nextern \"C\" void k(int i, const int *x, int *o) {{\n  {body}\n}}\nint \
                (*used[])(int) = {{thrower, catcher}};\n"
        );
        refused("k.cpp", &text, &["--function", "k"], &[reason, "k.cpp:", "function `k`"]);
        let text = format!(
            "{head}extern \"C\" void k(int n, const int *x, int *o) {{\n  for (int i = 0; i < n; i++) {{ {body} \
                }}\n}}\n\
             int (*used[])(int) = {{thrower, catcher}};\n"
        );
        refused("k.cpp", &text, &["--loop", "6"], &[reason, "k.cpp:6"]);
    }
}

#[test]
fn functions_beside_the_kernel_may_use_exceptions() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let text = "static int thrower(int x) { if (x > 3) throw x; return x; }\n\
                extern \"C\" int guarded(int x) { try { return thrower(x); } catch (int e) { return -e; } }\n\
                struct Add { int by; int operator()(int x) const { return x + by; } };\n\
                extern \"C\" void k(int n, int *o) {\n  Add add{5};\n  for (int i = 0; i < n; i++) { o[i] = add(o[i] * \
                3); }\n}\n\
                extern \"C\" int both(int n, int *o) {\n  try { k(n, o); return thrower(o[0]); } catch (int e) { \
                return -e; }\n}\n";
    let input = file(folder.path(), "k.cpp", text);
    let object = folder.path().join("m.o");
    let words = ["--width", "8", "--loop", "6", "-o", object.to_str().unwrap()];
    ok(&warpline(&[&["vectorize", input.to_str().unwrap()], &words[..]].concat()));
    let source = "#include <stdio.h>\nint guarded(int); int both(int, int *);\nint main(void) {\n  int o[37], wrong = \
        0;\n  \
                  for (int i = 0; i < 37; i++) o[i] = i;\n  wrong += guarded(2) != 2; wrong += guarded(9) != -9; wrong \
                  += both(37, o) != -5;\n  \
                  for (int i = 0; i < 37; i++) wrong += o[i] != i * 3 + 5;\n \nprintf(\"%d\\n\", wrong);\n  return \
                  0;\n}\n";
    let with_library = Command::new("c++").arg("--version").output().is_ok();
    if !with_library {
        eprintln!("skipped: there is no C++ compiler");
        return;
    }
    if let Some(text) = link_and_run(folder.path(), source, &["-lstdc++"]) {
        assert_eq!(text, "0\n");
    }
    // A kernel of index functions beside them.
    let text =
        format!("{text}//@ args i=index\nextern \"C\" void square(int i, int *o) {{ o[i] *= o[i]; }}\n");
    let input = file(folder.path(), "s.cpp", &text);
    vectorize(folder.path(), &[input.to_str().unwrap(), "--function", "square", "--width", "8"]);
}

#[test]
fn calls_that_must_not_throw_are_calls() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let text = "int may_throw(int);\n//@ args i=index\nextern \"C\" void k(int i, int *o) noexcept { o[i] = \
        may_throw(o[i]); }\n";
    let input = file(folder.path(), "k.cpp", text);
    vectorize(folder.path(), &[input.to_str().unwrap(), "--width", "8"]);
    let text = "int may_throw(int);\nextern \"C\" void k(int n, const int *x, int *__restrict o) {\n#pragma omp simd\n\
                for (int i = 0; i < n; i++) o[i] = may_throw(x[i]);\n}\n";
    let input = file(folder.path(), "l.cpp", text);
    let object = folder.path().join("l.o");
    ok(&warpline(&["vectorize", input.to_str().unwrap(), "--width", "8", "-o", object.to_str().unwrap()]));
}

#[test]
fn barriers_and_group_functions_are_refused_under_every_name() {
    let declared = [
        ("void @barrier(i32)", "i32 1", ""),
        ("void @_Z7barrierj(i32)", "i32 1", " convergent"),
        ("void @_Z18work_group_barrierj12memory_scope(i32, i32)", "i32 1, i32 1", ""),
        ("void @sub_group_barrier(i32)", "i32 1", ""),
        ("void @__syncthreads()", "", ""),
        ("void @_Z13__syncthreadsv()", "", " convergent"),
        ("void @__syncwarp(i32)", "i32 -1", ""),
        ("void @_Z22__spirv_ControlBarrieriii(i32, i32, i32)", "i32 2, i32 2, i32 272", ""),
        ("void @__spirv_ControlBarrier(i32, i32, i32)", "i32 2, i32 2, i32 272", ""),
        ("void @__kmpc_barrier(ptr, i32)", "ptr null, i32 0", ""),
        ("void @llvm.nvvm.barrier0()", "", ""),
        ("void @llvm.amdgcn.s.barrier()", "", ""),
        ("i32 @sub_group_all(i32)", "i32 %i", " convergent"),
        ("i32 @_Z29work_group_scan_exclusive_addi(i32)", "i32 %i", ""),
        ("i32 @_Z20work_group_broadcastim(i32, i64)", "i32 %i, i64 0", ""),
        ("i32 @_Z12get_work_dimv()", "", ""),
    ];
    for (declaration, operands, attribute) in declared {
        let (ty, rest) = declaration.split_once(" @").unwrap();
        let name = rest.split('(').next().unwrap();
        // LLVM gives some intrinsics newer names.
        let shown = if name.starts_with("llvm.nvvm") {
            "`llvm.nvvm.barrier".to_owned()
        } else {
            format!("`{}`", warpline::ir::demangle::demangle_opencl(name))
        };
        let text = format!(
            "declare {declaration}{attribute}\ndefine void @k(i32 %i, ptr %o) {{\n  %p = getelementptr i32, ptr %o, \
                i32 %i\n  \
             store i32 %i, ptr %p\n  call {ty} @{name}({operands})\n  ret void\n}}\n"
        );
        for triple in ["", "target triple = \"x86_64-unknown-linux-gnu\"\n"] {
            refused("k.ll", &format!("{triple}{text}"), &["--args", "i=index"], &[&shown, "function `k`"]);
        }
        // In a function that is called, and inlined if it has a barrier.
        let inner = text.replace("@k(i32 %i, ptr %o) {", "@inner(i32 %i, ptr %o) noinline {");
        let outer = "define void @k(i32 %i, ptr %o) {\n  call void @inner(i32 %i, ptr %o)\n  ret void\n}\n";
        let arguments = ["--args", "i=index", "--function", "k"];
        refused("k.ll", &format!("{inner}{outer}"), &arguments, &[&shown]);
    }
}

#[test]
fn functions_of_a_c_program_that_are_named_like_opencl_s_are_its_own() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let text = "int get_group_id(int row, int column);\nint get_global_id(float x);\nunsigned long \
        get_local_size(void);\n\
                unsigned long get_global_size(unsigned d);\nvoid barrier(void);\n\
                __attribute__((noinline)) static int get_local_id(int x) { return x * 2; }\n\
                //@ args i=index\nvoid k(int i, int *o) {\n  barrier();\n  \
                o[i] = get_group_id(i, 1) + get_local_id(i) + get_global_id(i) + (int)get_local_size() + \
                (int)get_global_size(0);\n}\n";
    let input = file(folder.path(), "own.c", text);
    vectorize(folder.path(), &[input.to_str().unwrap(), "--function", "k", "--width", "8"]);
    let source = "#include <stdio.h>\n#include \"m.h\"\nint calls;\nint get_group_id(int r, int c) { return r * 10 + \
        c; }\n\
                  int get_global_id(float x) { return (int)x; }\nunsigned long get_local_size(void) { return 1000; }\n\
                  unsigned long get_global_size(unsigned d) { return 7 + d; }\nvoid barrier(void) { calls++; }\n\
                  int main(void) { int o[37], wrong = 0; k_range(0, 37, o);\n\
                  for (int i = 0; i < 37; i++) wrong += o[i] != i * 10 + 1 + i * 2 + i + 1007;\n\
                 \nprintf(\"%d %d\\n\", wrong, calls); return 0; }\n";
    if let Some(text) = link_and_run(folder.path(), source, &[]) {
        assert_eq!(text, "0 37\n");
    }
}

#[test]
fn metadata_and_triples_make_plain_names_opencl_s() {
    let kernel = "declare i64 @get_global_id(i32)\ndefine void @k(ptr %o)KERNEL {\n  %i = call i64 @get_global_id(i32 \
        0)\n  \
                  %n = trunc i64 %i to i32\n  %p = getelementptr i32, ptr %o, i64 %i\n  store i32 %n, ptr %p\n  ret \
                  void\n}\n";
    let arguments = |input: &Path| input.to_str().unwrap().to_owned();
    let made = [
        ("", "\n!opencl.ocl.version = !{!0}\n!0 = !{i32 2, i32 0}\n"),
        (" !kernel_arg_type !0", "\n!0 = !{!\"int*\"}\n"),
    ];
    for (kind, rest) in made {
        let folder = tempfile::tempdir().unwrap();
        let input = file(folder.path(), "k.ll", &format!("{}{rest}", kernel.replace("KERNEL", kind)));
        let header = vectorize(folder.path(), &[&arguments(&input), "--width", "8"]);
        assert!(header.contains("k_ndrange"), "{header}");
        let source = "#include <stdio.h>\n#include \"m.h\"\nint main(void) { int o[37], wrong = 0;\n\
                      uint64_t offset[3] = {0}, size[3] = {37, 1, 1}, local[3] = {0}; k_ndrange(offset, size, local, \
                      o);\n\
                      for (int i = 0; i < 37; i++) wrong += o[i] != i;\nprintf(\"%d\\n\", wrong); return 0; }\n";
        if let Some(text) = link_and_run(folder.path(), source, &[]) {
            assert_eq!(text, "0\n");
        }
    }
    // Without either it is the program's own.
    let folder = tempfile::tempdir().unwrap();
    let input = file(folder.path(), "k.ll", &kernel.replace("KERNEL", ""));
    let header = vectorize(folder.path(), &[&arguments(&input), "--width", "8"]);
    assert!(!header.contains("ndrange"), "{header}");
}

#[test]
fn odd_signatures_of_work_item_functions_are_the_program_s_own() {
    let odd = [
        ("i64", "_Z15get_global_sizej", "float", "float 1.0"),
        ("i64", "_Z14get_local_sizej", "", ""),
        ("float", "_Z13get_global_idj", "i32", "i32 0"),
        ("i64", "_Z13get_global_idj", "", ""),
        ("i64", "get_global_size", "float", "float 1.0"),
        ("i64", "get_local_size", "", ""),
        ("i128", "_Z12get_local_idj", "i32", "i32 0"),
        ("i64", "_Z12get_group_idj", "i64", "i64 4294967296"),
        ("{ i32, i32 }", "_Z13get_global_idj", "i32, i32, ptr", "i32 0, i32 0, ptr null"),
        ("void", "_Z13get_global_idj", "i32", "i32 0"),
        ("void", "_Z7barrierj", "", ""),
        ("i64", "_Z13get_global_idj", "i32, ...", "i32 0"),
        ("i32", "get_work_dim", "i32", "i32 0"),
    ];
    for (ret, name, params, operands) in odd {
        for opencl in ["", "!opencl.ocl.version = !{!0}\n!0 = !{i32 2, i32 0}\n"] {
            let folder = tempfile::tempdir().unwrap();
            let ty = if params.contains("...") { format!("{ret} ({params})") } else { ret.to_owned() };
            let text = format!(
                "declare {ret} @{name}({params})\ndefine void @k(i32 %i, ptr %o) {{\n  %p = getelementptr i32, ptr %o, \
                    i32 %i\n  \
                 store i32 %i, ptr %p\n  call {ty} @{name}({operands})\n  ret void\n}}\n{opencl}"
            );
            let input = file(folder.path(), "k.ll", &text);
            let object = folder.path().join("k.o");
            let words = ["--args", "i=index", "--width", "4", "-o", object.to_str().unwrap()];
            let mut all = vec!["vectorize", input.to_str().unwrap()];
            all.extend(words);
            ok(&warpline(&all));
        }
    }
}

#[test]
fn a_question_in_a_dimension_that_is_not_constant_or_that_there_is_not_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let text = "declare i64 @_Z13get_global_idj(i32)\ndeclare i64 @_Z15get_global_sizej(i32)\ndefine void @k(ptr %o, \
        i32 %d) {\n  \
                %i = call i64 @_Z13get_global_idj(i32 0)\n  %n = call i64 @_Z15get_global_sizej(i32 %d)\n  \
                %m = call i64 @_Z15get_global_sizej(i32 -1)\n  %u = call i64 @_Z15get_global_sizej(i32 undef)\n  %s = \
                add i64 %n, %m\n  \
                %p = getelementptr i64, ptr %o, i64 %i\n  store i64 %s, ptr %p\n  ret void\n}\n";
    let input = file(folder.path(), "k.ll", text);
    vectorize(folder.path(), &[input.to_str().unwrap(), "--width", "4"]);
    let source = "#include <stdio.h>\n#include \"m.h\"\nint main(void) { uint64_t o[10]; int wrong = 0;\n\
                  uint64_t offset[3] = {0}, size[3] = {10, 1, 1}, local[3] = {0};\n\
                  k_ndrange(offset, size, local, o, 0); for (int i = 0; i < 10; i++) wrong += o[i] != 11;\n\
                  k_ndrange(offset, size, local, o, 77); for (int i = 0; i < 10; i++) wrong += o[i] != 2;\n\
                 \nprintf(\"%d\\n\", wrong); return 0; }\n";
    if let Some(text) = link_and_run(folder.path(), source, &[]) {
        assert_eq!(text, "0\n");
    }
}
