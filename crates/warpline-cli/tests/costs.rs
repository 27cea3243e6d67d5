//! What inputs cost that nobody writes and somebody sends: long chains, deep nests, wide branches. Limits are far
//! above what these take, and far below what they took when a cost grew with the square of the input.

mod common;

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use common::{command, ok, warpline};

const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the program in a folder; its standard output.
fn quick(folder: &Path, arguments: &[&str]) -> String {
    let start = Instant::now();
    let text = ok(&command(arguments).current_dir(folder).output().unwrap());
    assert!(start.elapsed() < PATIENCE, "{arguments:?} took {:?}", start.elapsed());
    text
}

fn place(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.ll"), text).unwrap();
    folder
}

/// Instructions each of which needs the one before it.
fn chain(length: usize) -> String {
    let mut text = "define void @k(i32 %i, ptr %p) {\n  %x0 = mul i32 %i, 3\n".to_owned();
    for k in 1..length {
        let _ = writeln!(text, "  %x{k} = mul i32 %x{}, {}", k - 1, k % 97 + 2);
    }
    text + &format!(
        "  %a = getelementptr i32, ptr %p, i32 %i\n  store i32 %x{}, ptr %a\n  ret void\n}}\n",
        length - 1
    )
}

/// Loops around each other, which all lanes leave together or apart.
fn nest(depth: usize, bound: &str) -> String {
    let mut text = "define void @k(i32 %i, ptr %p, i32 %n) {\nentry:\n  br label %h0\n".to_owned();
    for k in 0..depth {
        let before = if k == 0 { "entry".to_owned() } else { format!("h{}", k - 1) };
        let next = if k + 1 == depth { "body".to_owned() } else { format!("h{}", k + 1) };
        let _ =
            writeln!(text, "h{k}:\n  %c{k} = phi i32 [ 0, %{before} ], [ %d{k}, %l{k} ]\n  br label %{next}");
    }
    text += "body:\n  %a = getelementptr i32, ptr %p, i32 %i\n  %v = load i32, ptr %a\n  %w = add i32 %v, 1\n  \
     store i32 %w, ptr %a\n";
    let _ = writeln!(text, "  br label %l{}", depth - 1);
    for k in (0..depth).rev() {
        let next = if k == 0 { "out".to_owned() } else { format!("l{}", k - 1) };
        let _ = writeln!(
            text,
            "l{k}:\n  %d{k} = add i32 %c{k}, 1\n  %t{k} = icmp slt i32 %d{k}, {bound}\n  br i1 %t{k}, label \
             %h{k}, label %{next}"
        );
    }
    text + "out:\n  ret void\n}\n"
}

/// A branch to as many places, to which lanes go apart.
fn switch(cases: usize) -> String {
    let mut text =
        "define void @k(i32 %i, ptr %p) {\nentry:\n  %a = getelementptr i32, ptr %p, i32 %i\n  %v = \
     load i32, ptr %a\n  \
                    switch i32 %v, label %out [\n"
            .to_owned();
    text.extend((0..cases).map(|k| format!("    i32 {k}, label %c{k}\n")));
    text += "  ]\n";
    text.extend((0..cases).map(|k| format!("c{k}:\n  %r{k} = mul i32 %v, {}\n  br label %out\n", 3 * k + 1)));
    text += "out:\n  %s = phi i32 [ 0, %entry ]";
    text.extend((0..cases).map(|k| format!(", [ %r{k}, %c{k} ]")));
    text + "\n  store i32 %s, ptr %a\n  ret void\n}\n"
}

#[test]
fn pages_about_long_chains_are_made_at_once() {
    let [small, large] = [2000, 8000].map(|length| {
        let folder = place(&chain(length));
        quick(folder.path(), &["analyze", "k.ll", "--format", "html"]).len()
    });
    assert!(large < 5 * small, "{small} and {large} bytes");
}

#[test]
fn reports_about_deep_nests_are_as_long_as_the_nest() {
    for format in ["text", "json", "llvm", "html"] {
        let [small, large] = [1000, 2000].map(|depth| {
            let folder = place(&nest(depth, "%i"));
            quick(folder.path(), &["analyze", "k.ll", "--format", format])
        });
        assert!(large.len() < 3 * small.len(), "{format}: {} and {} bytes", small.len(), large.len());
        match format {
            "json" => assert!(large.contains("\"blocks_left_out\": ")),
            "llvm" => assert!(large.contains(" more)")),
            _ => {}
        }
    }
    // Where it is not long, nothing is left out.
    let folder = place(&nest(20, "%i"));
    assert!(!quick(folder.path(), &["analyze", "k.ll", "--format", "json"]).contains("left_out"));
}

#[test]
fn deep_nests_are_vectorized_at_once() {
    for bound in ["%n", "%i"] {
        let folder = place(&nest(400, bound));
        quick(folder.path(), &["vectorize", "k.ll", "--args", "index", "-o", "k.o"]);
    }
    // They are right all the same.
    let folder = place(&nest(70, "1"));
    let run =
        ["run", "k.ll", "--args", "index", "--range", "0..64", "--bind", "p=i32[64]=iota", "--bind", "n=1"];
    assert!(quick(folder.path(), &run).contains("0 mismatches"));
}

#[test]
fn wide_branches_are_vectorized_at_once() {
    let folder = place(&switch(4000));
    quick(folder.path(), &["vectorize", "k.ll", "--args", "index", "-o", "k.ll.bc"]);
}

#[test]
fn strided_integers_of_any_width_are_vectorized() {
    let folder = place(
        "define void @k(i32 %i, ptr %p) {\n  %w = sext i32 %i to i256\n  %x = add i256 %w, 5\n  %h = lshr i256 \
         %x, 130\n  %t = trunc i256 %h to i64\n  \
         %y = trunc i256 %x to i64\n  %z = xor i64 %t, %y\n  %a = getelementptr i64, ptr %p, i32 %i\n  store \
          i64 %z, ptr %a\n  ret void\n}\n",
    );
    quick(folder.path(), &["vectorize", "k.ll", "--args", "index", "--width", "8", "-o", "k.s"]);
    let run = ["run", "k.ll", "--args", "index", "--range", "0..64", "--bind", "p=i64[64]=zero"];
    let output = command(&run).current_dir(folder.path()).output().unwrap();
    assert!(output.status.code().is_some_and(|code| code <= 2));
    assert_eq!(warpline(&["--version"]).status.code(), Some(0));
}
