//! Kernels of growing size in shapes that are common, or that invite work out of proportion: what the cost of
//! vectorizing is measured on, by `warpline-bench linearize` and in tests.

use std::fmt::Write as _;

use warpline_uniformity::shape::ArgShape;

/// Makes the body of `func @f(%c: i1, %u: i1, %x: i32, %n: i32, %p: ptr)` with about so many blocks.
pub type Body = fn(usize) -> String;

/// The name and the maker of every shape.
pub const SHAPES: [(&str, Body); 15] = [
    ("divergent ladder", |n| ladder(n, |_| "%c")),
    ("uniform ladder", |n| ladder(n, |_| "%u")),
    ("mixed ladder", |n| ladder(n, |i| if i % 2 == 0 { "%c" } else { "%u" })),
    ("diamonds", diamonds),
    ("divergent switch", |n| switch(n, "%x")),
    ("uniform switch", |n| switch(n, "%n")),
    ("loops", loops),
    ("uniform nest", |n| nest(n, |_| "%u")),
    ("mixed nest", |n| nest(n, |i| if i % 2 == 0 { "%c" } else { "%u" })),
    ("early exits", |n| exits(n, |i| if i % 2 == 0 { "%c" } else { "%u" })),
    ("own exits", |n| own_exits(n, |i| if i % 2 == 0 { "%c" } else { "%u" })),
    ("jumps ahead", |n| jumps(n, |i| i)),
    ("jumps far ahead", |n| jumps(n, |i| n / 2 - 1 - i)),
    ("cascade", cascade),
    ("two entries", two_entries),
];

fn ladder(n: usize, on: impl Fn(usize) -> &'static str) -> String {
    let mut s = String::from("entry:\n  br b0\n");
    for i in 0..n {
        let _ = writeln!(s, "b{i}:\n  store i32 {i}, %p, align 4\n  br {}, b{}, out", on(i), i + 1);
    }
    let _ = writeln!(s, "b{n}:\n  br out\nout:\n  ret");
    s
}

fn diamonds(n: usize) -> String {
    let mut s = String::from("entry:\n  br h0(%x)\n");
    for i in 0..n / 4 {
        let on = if i % 2 == 0 { "%c" } else { "%u" };
        let _ = writeln!(s, "h{i}:\n  %v{i}: i32 = phi\n  br {on}, l{i}, r{i}");
        let _ = writeln!(s, "l{i}:\n  %a{i}: i32 = add %v{i}, 1\n  br j{i}(%a{i})\nr{i}:\n  br j{i}(%v{i})");
        let _ = writeln!(s, "j{i}:\n  %w{i}: i32 = phi\n  br h{}(%w{i})", i + 1);
    }
    let _ = writeln!(s, "h{}:\n  %last: i32 = phi\n  store %last, %p, align 4\n  ret", n / 4);
    s
}

fn switch(n: usize, on: &str) -> String {
    let cases: Vec<String> = (0..n).map(|i| format!("{i}: b{i}")).collect();
    let mut s = format!("entry:\n  switch {on}, out [{}]\n", cases.join(", "));
    for i in 0..n {
        let _ = writeln!(s, "b{i}:\n  store i32 {i}, %p, align 4\n  br out");
    }
    s += "out:\n  ret\n";
    s
}

fn loops(n: usize) -> String {
    let mut s = String::from("entry:\n  br h0(0)\n");
    for i in 0..n / 3 {
        let on = if i % 2 == 0 { "%x" } else { "%n" };
        let _ = writeln!(s, "h{i}:\n  %i{i}: i32 = phi\n  %t{i}: i1 = icmp ult %i{i}, {on}");
        let _ = writeln!(s, "  br %t{i}, b{i}, e{i}\nb{i}:\n  %j{i}: i32 = add %i{i}, 1\n  br h{i}(%j{i})");
        let _ = writeln!(s, "e{i}:\n  store %i{i}, %p, align 4\n  br h{}(0)", i + 1);
    }
    let _ = writeln!(s, "h{}:\n  %last: i32 = phi\n  ret", n / 3);
    s
}

fn nest(n: usize, on: impl Fn(usize) -> &'static str) -> String {
    let depth = n / 2;
    let mut s = String::from("entry:\n  br h0\n");
    for i in 0..depth {
        let _ = writeln!(s, "h{i}:\n  store i32 {i}, %p, align 4\n  br h{}", i + 1);
    }
    let _ = writeln!(s, "h{depth}:\n  br l{}", depth - 1);
    for i in (0..depth).rev() {
        let next = if i == 0 { "out".to_string() } else { format!("l{}", i - 1) };
        let _ = writeln!(s, "l{i}:\n  br {}, h{i}, {next}", on(i));
    }
    s += "out:\n  ret\n";
    s
}

/// One loop with many exits to the same block.
fn exits(n: usize, on: impl Fn(usize) -> &'static str) -> String {
    let mut s = String::from("entry:\n  br b0\n");
    for i in 0..n {
        let _ = writeln!(s, "b{i}:\n  store i32 {i}, %p, align 4\n  br {}, b{}, out", on(i), (i + 1) % n);
    }
    s + "out:\n  ret\n"
}

/// One loop with many exits, each to a block of its own.
fn own_exits(n: usize, on: impl Fn(usize) -> &'static str) -> String {
    let n = n / 2;
    let mut s = String::from("entry:\n  br b0\n");
    for i in 0..n {
        let _ = writeln!(s, "b{i}:\n  br {}, b{}, e{i}", on(i), (i + 1) % n);
        let _ = writeln!(s, "e{i}:\n  store i32 {i}, %p, align 4\n  br out");
    }
    s + "out:\n  ret\n"
}

/// A ladder, each rung of which leads to some block of a chain behind it.
fn jumps(n: usize, to: impl Fn(usize) -> usize) -> String {
    let n = n / 2;
    let mut s = String::from("entry:\n  br b0\n");
    for i in 0..n {
        let on = if i % 2 == 0 { "%c" } else { "%u" };
        let next = if i + 1 < n { format!("b{}", i + 1) } else { "s0".into() };
        let _ = writeln!(s, "b{i}:\n  br {on}, {next}, s{}", to(i));
    }
    for i in 0..n {
        let next = if i + 1 < n { format!("s{}", i + 1) } else { "out".into() };
        let _ = writeln!(s, "s{i}:\n  store i32 {i}, %p, align 4\n  br {next}");
    }
    s + "out:\n  ret\n"
}

/// `if (c) { … } else if (u) { … } else …`, every arm with a value.
fn cascade(n: usize) -> String {
    let n = n / 2;
    let mut s = String::from("entry:\n  br h0\n");
    for i in 0..n {
        let on = if i % 2 == 0 { "%c" } else { "%u" };
        let _ = writeln!(s, "h{i}:\n  br {on}, t{i}, h{}", i + 1);
        let _ = writeln!(s, "t{i}:\n  %v{i}: i32 = add %x, {i}\n  br out(%v{i})");
    }
    let _ = writeln!(s, "h{n}:\n  br out(0)\nout:\n  %r: i32 = phi\n  store %r, %p, align 4\n  ret");
    s
}

/// Loops with two entries, one behind the other: half of them are given a header, half of them split.
fn two_entries(n: usize) -> String {
    let mut s = String::from("entry:\n  br h0\n");
    for i in 0..n / 3 {
        let work = if i % 2 == 0 { "" } else { "  store i32 1, %p, align 4\n  store i32 2, %p, align 4\n" };
        let _ = writeln!(s, "h{i}:\n  br %c, a{i}, b{i}\na{i}:\n{work}{work}  br b{i}");
        let _ = writeln!(s, "b{i}:\n{work}{work}  br %u, a{i}, h{}", i + 1);
    }
    let _ = writeln!(s, "h{}:\n  ret", n / 3);
    s
}

/// A module in text form with a function `f` of this shape.
pub fn kernel(body: &str) -> String {
    format!("func @f(%c: i1, %u: i1, %x: i32, %n: i32, %p: ptr) {{\n{body}}}\n")
}

/// The shapes of the parameters of `f`: `%u` and `%n` are uniform.
pub fn args() -> Vec<ArgShape> {
    vec![ArgShape::Varying, ArgShape::Uniform, ArgShape::Varying, ArgShape::Uniform, ArgShape::Varying]
}
