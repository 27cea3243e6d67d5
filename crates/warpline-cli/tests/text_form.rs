//! Functions in text form as inputs of all commands.

mod common;

use common::*;
use std::fs;

const SCALE: &str = r#"constant @table: [16 x i8] align 4 = "\00\00\80?\00\00\00@\00\00@@\00\00\80@"

;@ args i=index
;@ range 0..999
;@ bind x=f32[999]
;@ bind y=f32[999]=zero
func @scale(%i: i64, %x: ptr noalias, %y: ptr noalias) {
entry:
  %px: ptr = getelementptr float, %x, %i
  %vx: float = load %px, align 4
  %c: i1 = fcmp ogt %vx, 0.5
  br %c, then, done
then:
  %k: i64 = and %i, 3
  %pt: ptr = getelementptr float, @table, %k
  %t: float = load %pt, align 4
  %s: float = fmul %vx, %t
  %py: ptr = getelementptr float, %y, %i
  store %s, %py, align 4
  br done
done:
  ret
}
"#;

/// A function with instructions that only LLVM knows.
const CARRIED: &str = "define i32 @f(ptr %p, i32 %x) {
entry:
  %r = atomicrmw add ptr %p, i32 %x seq_cst
  %v = va_arg ptr %p, i32
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %a, label %b
a:
  br label %b
b:
  %z = phi i32 [ %r, %entry ], [ %v, %a ]
  ret i32 %z
}
";

#[test]
fn a_text_is_analysed_explained_vectorized_and_run() {
    let place = Place::new("");
    let path = place.file("scale.wl", SCALE);
    let analysed = ok(&warpline(&["analyze", &path]));
    assert!(analysed.contains("1 of 1 branch"), "{analysed}");
    let explained = ok(&warpline(&["explain", &path, "--value", "%s"]));
    assert!(explained.contains("%vx = load depends on %px"), "{explained}");
    let made = ok(&warpline(&["vectorize", &path, "--width", "8", "-o", "-"]));
    assert!(made.contains("define") && made.contains("@scale_range"), "{made}");
    let several = place.path("scale.o").display().to_string();
    ok(&warpline(&["vectorize", &path, "--cpu", "x86-64,x86-64-v3", "-o", &several]));
    let run = ok(&warpline(&["run", &path, "--verify-each"]));
    assert!(run.contains("0 mismatches"), "{run}");
    let printed = ok(&warpline(&["ssa", &path]));
    assert!(printed.contains("%s: float = fmul %vx, %t"), "{printed}");
    let llvm = ok(&warpline(&["ssa", &path, "--format", "llvm", "--strict"]));
    assert!(llvm.contains("define void @scale(i64 %i, ptr"), "{llvm}");
    ok(&warpline(&["lint", "--client", "bounds", &path]));
}

#[test]
fn what_only_llvm_knows_comes_from_the_module_that_the_text_names() {
    let place = Place::new("");
    let original = place.file("f.ll", CARRIED);
    let text = place.path("f.wl").display().to_string();
    ok(&warpline(&["ssa", &original, "-o", &text]));
    let vectorize = || warpline(&["vectorize", &text, "--args", "x=varying", "--width", "4", "-o", "-"]);
    let made = ok(&vectorize());
    assert!(made.contains("va_arg") && made.contains("atomicrmw add"), "{made}");
    fs::write(&original, CARRIED.replace("%v = va_arg ptr %p, i32", "%v = load i32, ptr %p"))
        .expect("a file");
    let other = stderr(&vectorize());
    assert!(other.contains("is not the module it was made from") && other.contains("va_arg"), "{other}");
    fs::remove_file(&original).expect("the file is there");
    let refused = vectorize();
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("only LLVM knows it"), "{}", stderr(&refused));
    ok(&warpline(&["analyze", &text]));
}

#[test]
fn texts_that_are_no_scalar_programs_are_refused_with_the_reason() {
    let place = Place::new("");
    let masked = place.file(
        "masked.wl",
        "func @f(%c: i1) phase linearized {\nentry:\n  br body\nbody mask %c:\n  ret\n}\n",
    );
    let refused = warpline(&["vectorize", &masked, "--args", "c=varying", "-o", "-"]);
    assert!(stderr(&refused).contains("it is linearized, and LLVM has no blocks with masks"));
    let wrong = place.file("wrong.wl", "func @f(%c: i1) {\nentry:\n  br body\nbody mask %c:\n  ret\n}\n");
    let refused = warpline(&["analyze", &wrong]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("as a scalar function: block body has a mask"), "{}", stderr(&refused));
    let broken = place.file("broken.wl", "func @f(%c: i1) {\nentry:\n  re\n}\n");
    assert!(stderr(&warpline(&["analyze", &broken])).contains("3:3"), "line and column");
}
