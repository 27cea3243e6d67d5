//! Functions of growing size as LLVM IR for amdgcn, in nine shapes that are common or invite quadratic work.
//!
//! These are the same shapes as [`scaling`](crate::scaling) has for abstract programs, as files that other
//! implementations can read.

use std::fmt::Write as _;

use crate::rng::SplitMix64;

/// The names of the shapes.
pub const SHAPES: [&str; 9] =
    ["diamonds", "long-diamonds", "nest", "ladder", "loops", "loopnest", "breaks", "irreducible", "random"];

/// A module with one function of a shape; the number of its blocks is a small multiple of `n`, at least 1. None if
/// there is no such shape.
pub fn module(shape: &str, n: usize) -> Option<String> {
    let mut out = String::from(
        "target triple = \"amdgcn-amd-amdhsa\"\n\
         declare i32 @llvm.amdgcn.workitem.id.x()\n\
         define amdgpu_kernel void @f(i32 %a, i32 %b, ptr addrspace(1) %p) {\n\
         entry:\n  \
         %tid = call i32 @llvm.amdgcn.workitem.id.x()\n  \
         %dc = icmp slt i32 %tid, 7\n  \
         %uc = icmp slt i32 %a, %b\n",
    );
    match shape {
        "diamonds" => diamonds(&mut out, n, 1),
        "long-diamonds" => diamonds(&mut out, n, 4),
        "nest" => nest(&mut out, n),
        "ladder" => ladder(&mut out, n),
        "loops" => loops(&mut out, n, false),
        "breaks" => loops(&mut out, n, true),
        "loopnest" => loop_nest(&mut out, n),
        "irreducible" => anywhere(&mut out, n, Some(6)),
        "random" => anywhere(&mut out, n, None),
        _ => return None,
    }
    out.push_str("}\n");
    Some(out)
}

macro_rules! line {
    ($out:expr, $($arg:tt)*) => {
        // Writing to a string does not fail.
        let _ = writeln!($out, $($arg)*);
    };
}

fn finish(out: &mut String, value: &str) {
    line!(out, "  store i32 {value}, ptr addrspace(1) %p");
    line!(out, "  ret void");
}

/// One `if` with `else` after the other, every second one divergent, with arms of `length` blocks.
fn diamonds(out: &mut String, n: usize, length: usize) {
    line!(out, "  br label %h0");
    let mut before = "%a".to_owned();
    for i in 0..n {
        let on = if i % 2 == 1 { "%dc" } else { "%uc" };
        line!(out, "h{i}:\n  %x{i} = add i32 {before}, {i}");
        line!(out, "  br i1 {on}, label %t{i}.0, label %e{i}.0");
        for arm in ["t", "e"] {
            for k in 0..length {
                let next = if k + 1 < length { format!("{arm}{i}.{}", k + 1) } else { format!("m{i}") };
                line!(out, "{arm}{i}.{k}:\n  %{arm}v{i}.{k} = add i32 %x{i}, {k}\n  br label %{next}");
            }
        }
        let last = length - 1;
        line!(out, "m{i}:");
        line!(out, "  %p{i} = phi i32 [ %tv{i}.{last}, %t{i}.{last} ], [ %ev{i}.{last}, %e{i}.{last} ]");
        line!(out, "  br label %h{}", i + 1);
        before = format!("%p{i}");
    }
    line!(out, "h{n}:");
    finish(out, &before);
}

/// One divergent `if` in the other.
fn nest(out: &mut String, n: usize) {
    line!(out, "  br label %h0");
    for i in 0..n {
        line!(out, "h{i}:\n  br i1 %dc, label %h{}, label %e{i}\ne{i}:\n  br label %m{i}", i + 1);
    }
    line!(out, "h{n}:\n  br label %m{n}\nm{n}:\n  %p{n} = add i32 %a, 1\n  br label %m{}", n - 1);
    for i in (0..n).rev() {
        let next = if i > 0 { format!("m{}", i - 1) } else { "x".to_owned() };
        line!(out, "m{i}:\n  %p{i} = phi i32 [ %p{0}, %m{0} ], [ {i}, %e{i} ]\n  br label %{next}", i + 1);
    }
    line!(out, "x:");
    finish(out, "%p0");
}

/// A chain of divergent branches that all leave to one exit.
fn ladder(out: &mut String, n: usize) {
    line!(out, "  br label %h0");
    for i in 0..n {
        line!(out, "h{i}:\n  %c{i} = icmp eq i32 %tid, {i}\n  br i1 %c{i}, label %x, label %h{}", i + 1);
    }
    let operands: Vec<String> = (0..=n).map(|i| format!("[ {i}, %h{i} ]")).collect();
    line!(out, "h{n}:\n  br label %x\nx:\n  %r = phi i32 {}", operands.join(", "));
    finish(out, "%r");
}

/// One divergent loop after the other; with `breaks`, each body has a divergent branch out of the loop as well.
fn loops(out: &mut String, n: usize, breaks: bool) {
    line!(out, "  br label %h0");
    for i in 0..n {
        let before = match i {
            0 => "[ 0, %entry ]".to_owned(),
            _ if breaks => format!("[ 0, %h{0} ], [ 1, %b{0} ]", i - 1),
            _ => format!("[ 0, %h{} ]", i - 1),
        };
        line!(out, "h{i}:\n  %i{i} = phi i32 {before}, [ %j{i}, %b{i} ]\n  %j{i} = add i32 %i{i}, 1");
        line!(
            out,
            "  %c{i} = icmp slt i32 %j{i}, %tid\n  br i1 %c{i}, label %b{i}, label %h{}\nb{i}:",
            i + 1
        );
        if breaks {
            line!(out, "  br i1 %dc, label %h{i}, label %h{}", i + 1);
        } else {
            line!(out, "  br label %h{i}");
        }
    }
    line!(out, "h{n}:");
    finish(out, &format!("%j{}", n - 1));
}

/// Loops in loops, every second one divergent.
fn loop_nest(out: &mut String, n: usize) {
    line!(out, "  br label %h0");
    for i in 0..n {
        let before = if i == 0 { "entry".to_owned() } else { format!("h{}", i - 1) };
        let next = if i + 1 < n { format!("h{}", i + 1) } else { format!("l{i}") };
        line!(out, "h{i}:\n  %i{i} = phi i32 [ 0, %{before} ], [ %j{i}, %l{i} ]\n  br label %{next}");
    }
    for i in (0..n).rev() {
        let next = if i > 0 { format!("l{}", i - 1) } else { "x".to_owned() };
        let bound = if i % 2 == 0 { "%tid" } else { "%a" };
        line!(out, "l{i}:\n  %j{i} = add i32 %i{i}, 1\n  %c{i} = icmp slt i32 %j{i}, {bound}");
        line!(out, "  br i1 %c{i}, label %h{i}, label %{next}");
    }
    line!(out, "x:");
    finish(out, "%j0");
}

/// Most blocks branch to two others: anywhere, or at most `reach` blocks away.
fn anywhere(out: &mut String, n: usize, reach: Option<usize>) {
    let mut rng = SplitMix64::new(1);
    let last = n - 1;
    let targets: Vec<Vec<usize>> = (0..n)
        .map(|i| {
            let (low, high) = match reach {
                Some(reach) => (i.saturating_sub(reach).max(1), last.min(i + reach)),
                None => (1, last),
            };
            if i == last || (reach.is_none() && rng.chance(1, 25)) {
                Vec::new()
            } else if low > high || rng.chance(1, 3) {
                vec![i + 1]
            } else {
                let first = if rng.chance(3, 5) { i + 1 } else { rng.between(low, high) };
                let second = rng.between(low, high);
                if first == second { vec![first] } else { vec![first, second] }
            }
        })
        .collect();
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); n];
    for (i, to) in targets.iter().enumerate() {
        to.iter().for_each(|&t| before[t].push(i));
    }
    line!(out, "  br label %b0");
    for i in 0..n {
        line!(out, "b{i}:");
        let mut operands: Vec<String> = before[i]
            .iter()
            .map(|&q| match rng.below(4) {
                0 => format!("[ {}, %b{q} ]", rng.below(10)),
                1 => format!("[ %a, %b{q} ]"),
                2 => format!("[ %b, %b{q} ]"),
                _ => format!("[ %v{q}, %b{q} ]"),
            })
            .collect();
        if i == 0 {
            operands.push("[ 0, %entry ]".to_owned());
        }
        if operands.is_empty() {
            line!(out, "  %v{i} = add i32 %a, {i}");
        } else {
            line!(out, "  %f{i} = phi i32 {}\n  %v{i} = add i32 %f{i}, {i}", operands.join(", "));
        }
        match targets[i][..] {
            [to] => {
                line!(out, "  br label %b{to}");
            }
            [to, other] => {
                let on = match rng.below(4) {
                    0 => "%dc".to_owned(),
                    1 => "%uc".to_owned(),
                    _ => {
                        line!(out, "  %c{i} = icmp slt i32 %v{i}, {}", rng.below(100));
                        format!("%c{i}")
                    }
                };
                line!(out, "  br i1 {on}, label %b{to}, label %b{other}");
            }
            _ => {
                line!(out, "  ret void");
            }
        }
    }
}
