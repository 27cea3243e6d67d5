//! Loops that are left in the middle, as machine code against the scalar loop.
//!
//! Where an iteration leaves the loop, the arrays end with what that iteration loads, and a page that cannot be
//! accessed follows, whatever the bound of the loop says.

#[path = "common/guarded.rs"]
mod guarded;
#[expect(dead_code, reason = "other tests use more of it")]
#[path = "common/kernels.rs"]
mod kernels;

use std::fmt::Write as _;

use kernels::cpus::cpus;
use kernels::{Arg, Kernel, llvm_is_there};
use warpline_testkit::environment::number;
use warpline_testkit::rng::SplitMix64;
use warpline_vectorize::{Boscc, Contract, Linearize};

/// What the elements of an array are, how large they are, and what compares them.
const ELEMENTS: [(&str, usize, &str); 5] = [
    ("i8", 1, "icmp eq i8"),
    ("i16", 2, "icmp eq i16"),
    ("i32", 4, "icmp eq i32"),
    ("i64", 8, "icmp eq i64"),
    ("float", 4, "fcmp oeq float"),
];

/// A random loop that is left in the middle.
struct Search {
    /// What it loads, and by how many elements it moves.
    element: usize,
    step: i64,
    /// Whether it also looks at a second array, and whether that is behind a branch of its own.
    second: bool,
    branches: bool,
    /// Whether there is an end that the program knows of.
    bounded: bool,
    /// What it stores and carries.
    stores: bool,
    sums: bool,
    last: bool,
    packs: bool,
    /// Whether the test of the counter is at the end of the iteration.
    rotated: bool,
    /// Whether iterations are numbered in 32 bits.
    narrow: bool,
    /// Whether an iteration stores before it is known whether it leaves the loop, and whether pointers may overlap as
    /// far as the function says.
    early: bool,
    overlaps: bool,
}

impl Search {
    fn random(rng: &mut SplitMix64) -> Search {
        let steps = [1, 1, 1, 2, 3, -1, -2];
        let mut chance = |n| rng.chance(1, n);
        Search {
            second: chance(3),
            branches: chance(2),
            bounded: !chance(4),
            stores: chance(3),
            sums: chance(3),
            last: chance(4),
            packs: chance(5),
            rotated: chance(2),
            narrow: chance(3),
            early: chance(4),
            overlaps: chance(3),
            element: rng.below(ELEMENTS.len()),
            step: *rng.pick(&steps),
        }
    }

    /// The loop in LLVM's text form: of `a`, an element that is 7, or one that differs from the element of `b`.
    fn text(&self) -> String {
        let (ty, _, equal) = ELEMENTS[self.element];
        let differs = equal.replace("icmp eq", "icmp ne").replace("fcmp oeq", "fcmp une");
        let seven = if ty == "float" { "7.0" } else { "7" };
        let mut t = format!(
            "define i64 @kernel(ptr %a, ptr %b, ptr noalias %o, i64 %n, i64 %from) {{
entry:
  %a0 = getelementptr {ty}, ptr %a, i64 %from
  %b0 = getelementptr {ty}, ptr %b, i64 %from
  %none = icmp eq i64 %n, 0
  br i1 %none, label %nothing, label %head
nothing:
  ret i64 -5
head:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  %s = phi i64 [ 1, %entry ], [ %s1, %latch ]
  %l = phi i64 [ 3, %entry ], [ %l1, %latch ]
  %k = phi i64 [ 0, %entry ], [ %k1, %latch ]
"
        );
        let test = match self.bounded {
            false => "",
            true if self.rotated => {
                "  %more = icmp ult i64 %i1, %n\n  br i1 %more, label %head, label %end\n"
            }
            true => "  %more = icmp ult i64 %i, %n\n  br i1 %more, label %body, label %end\nbody:\n",
        };
        if self.bounded && !self.rotated {
            t += test;
        }
        let _ = write!(
            t,
            "  %j = mul i64 %i, {}
  %p = getelementptr {ty}, ptr %a0, i64 %j
  %x = load {ty}, ptr %p
  %hit = {equal} %x, {seven}
",
            self.step
        );
        if self.early {
            let _ = write!(t, "  %early = getelementptr {ty}, ptr %o, i64 %i\n  store {ty} %x, ptr %early\n");
        }
        match (self.second, self.branches) {
            (false, _) => t += "  br i1 %hit, label %found, label %go\n",
            (true, false) => {
                let _ = write!(
                    t,
                    "  %q = getelementptr {ty}, ptr %b0, i64 %j
  %y = load {ty}, ptr %q
  %other = {differs} %x, %y
  %either = or i1 %hit, %other
  br i1 %either, label %found, label %go
"
                );
            }
            (true, true) => {
                let _ = write!(
                    t,
                    "  br i1 %hit, label %found, label %second
second:
  %q = getelementptr {ty}, ptr %b0, i64 %j
  %y = load {ty}, ptr %q
  %other = {differs} %x, %y
  br i1 %other, label %differs, label %go
differs:
  %r2 = add i64 %i, %s
  ret i64 %r2
"
                );
            }
        }
        t += "go:\n";
        let wide =
            if ty == "float" { "fptosi float %x to i64".to_owned() } else { format!("sext {ty} %x to i64") };
        let wide = if ty == "i64" { "add i64 %x, 0".to_owned() } else { wide };
        let _ = writeln!(t, "  %w = {wide}");
        t += match self.sums {
            true => "  %s1 = add i64 %s, %w\n",
            false => "  %s1 = add i64 %s, 3\n",
        };
        t += match self.last {
            true => "  %odd = icmp sgt i64 %w, 3\n  %l1 = select i1 %odd, i64 %w, i64 %l\n",
            false => "  %l1 = add i64 %l, 1\n",
        };
        if self.stores && !self.early {
            t += "  %d = getelementptr i64, ptr %o, i64 %i\n  store i64 %w, ptr %d\n";
        }
        match self.packs && !self.stores && !self.early {
            true => {
                t += "  %takes = icmp slt i64 %w, 3\n  br i1 %takes, label %take, label %latch
take:
  %dk = getelementptr i64, ptr %o, i64 %k
  store i64 %w, ptr %dk
  %kt = add i64 %k, 1
  br label %latch
latch:
  %k1 = phi i64 [ %k, %go ], [ %kt, %take ]
";
            }
            false => t += "  br label %latch\nlatch:\n  %k1 = add i64 %k, 2\n",
        }
        t += "  %i1 = add i64 %i, 1\n";
        t += match (self.bounded, self.rotated) {
            (true, true) => test,
            _ => "  br label %head\n",
        };
        if self.bounded {
            t += "end:\n  %e0 = mul i64 %s, 11\n  %e1 = add i64 %e0, %l\n  %e2 = xor i64 %e1, %k\n  ret i64 %e2\n";
        }
        if self.narrow {
            t = t
                .replace("%i = phi i64", "%in = phi i32")
                .replace("%i1, %latch", "%in1, %latch")
                .replace("%i1 = add i64 %i, 1", "%in1 = add nsw i32 %in, 1\n  %i1 = sext i32 %in1 to i64");
            let end_of_phis = t.find("%k = phi").map_or(0, |at| at + t[at..].find('\n').unwrap_or(0) + 1);
            t.insert_str(end_of_phis, "  %i = sext i32 %in to i64\n");
        }
        if self.overlaps && self.bounded {
            t = t.replace("noalias %o", "%o");
        }
        t += "found:
  %f0 = mul i64 %s, 31
  %f1 = add i64 %f0, %i
  %f2 = xor i64 %f1, %l
  %f3 = add i64 %f2, %k
  %f4 = shl i64 %f3, 1
  ret i64 %f4
}
";
        t
    }

    /// Arrays of which the iteration of this number is the last one, and the bound that is told.
    fn args(&self, rng: &mut SplitMix64, last: usize, leaves: bool, bound: u64) -> Vec<Arg> {
        let (ty, size, _) = ELEMENTS[self.element];
        let apart = self.step.unsigned_abs() as usize;
        let count = last * apart + 1;
        // Where to iterate from downwards, the address is the end.
        let mut elements: Vec<i64> = (0..count).map(|_| rng.below(6) as i64).collect();
        let mut others = elements.clone();
        if leaves {
            match self.second && rng.below(2) == 0 {
                true => others[last * apart] = 6,
                false => {
                    elements[last * apart] = 7;
                    others[last * apart] = 7;
                }
            }
        }
        let encode = |x: &i64| match ty {
            "float" => (*x as f32).to_le_bytes().to_vec(),
            _ => x.to_le_bytes()[..size].to_vec(),
        };
        let [a, b] = [&elements, &others].map(|all| {
            let ordered: Vec<i64> = match self.step < 0 {
                true => all.iter().rev().copied().collect(),
                false => all.clone(),
            };
            ordered.iter().flat_map(encode).collect::<Vec<u8>>()
        });
        let out = vec![0xa5; 8 * (last + 1)];
        // Downwards, the first element is the last one of the buffer.
        let from = if self.step < 0 { count as u64 - 1 } else { 0 };
        vec![Arg::Buffer(a), Arg::Buffer(b), Arg::Buffer(out), Arg::Uniform(bound), Arg::Uniform(from)]
    }
}

#[test]
fn loops_that_are_left_in_the_middle_do_what_the_scalar_loop_does() {
    if !llvm_is_there() {
        return;
    }
    let (programs, first) = (number("WARPLINE_PROGRAMS", 40), number("WARPLINE_SEED", 0));
    let cpus = cpus();
    for seed in first..first + programs {
        let rng = &mut SplitMix64::new(seed);
        let search = Search::random(rng);
        let text = search.text();
        let width = [1, 2, 4, 8, 16, 32, 64, 7][rng.below(8)];
        let passes = ["default<O3>", "default<O1>", ""][rng.below(3)];
        let mode = (width, Linearize::Partial, Boscc::Auto, passes);
        let mut inputs = Vec::new();
        for _ in 0..12 {
            let last = [0, 1, width as usize, rng.below(70), rng.below(1500)][rng.below(5)];
            let leaves = !search.bounded || rng.below(3) > 0;
            let bound = if leaves { last as u64 + 1 + [0, 3, 5000][rng.below(3)] } else { last as u64 + 1 };
            inputs.push(search.args(rng, last, leaves, bound));
        }
        let kernel = Kernel::of_loop(text, inputs[0].clone(), Contract::Sequential);
        kernel.judge_on(mode, &cpus[seed as usize % cpus.len()], inputs);
    }
}

/// A loop that takes the least or greatest number in one of the ways in which a NaN counts, with its place.
fn extremum(pred: &str, swapped: bool, new_if: bool, conditional: bool) -> String {
    let (x, y) = if swapped { ("%x", "%m") } else { ("%m", "%x") };
    let (yes, no) = if new_if { ("%x", "%m") } else { ("%m", "%x") };
    let (at_yes, at_no) = if new_if { ("%i", "%at") } else { ("%at", "%i") };
    let takes = match conditional {
        false => "  %m1 = select i1 %c, float YES, float NO\n  %at1 = select i1 %c, i64 AY, i64 AN\n",
        true => {
            "  %odd = and i64 %i, 1
  %some = icmp eq i64 %odd, 0
  %m2 = select i1 %c, float YES, float NO
  %at2 = select i1 %c, i64 AY, i64 AN
  %m1 = select i1 %some, float %m2, float %m
  %at1 = select i1 %some, i64 %at2, i64 %at
"
        }
    };
    let takes = takes.replace("YES", yes).replace("NO", no).replace("AY", at_yes).replace("AN", at_no);
    format!(
        "define i64 @kernel(ptr %a, float %start, i64 %n) {{
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %i1, %body ]
  %m = phi float [ %start, %entry ], [ %m1, %body ]
  %at = phi i64 [ -1, %entry ], [ %at1, %body ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %body, label %end
body:
  %p = getelementptr float, ptr %a, i64 %i
  %x = load float, ptr %p
  %c = fcmp {pred} float {x}, {y}
{takes}  %i1 = add i64 %i, 1
  br label %head
end:
  %bits = bitcast float %m to i32
  %wide = zext i32 %bits to i64
  %high = shl i64 %at, 32
  %both = xor i64 %high, %wide
  ret i64 %both
}}"
    )
}

#[test]
fn minima_that_nans_replace_are_those_of_the_scalar_loop() {
    if !llvm_is_there() {
        return;
    }
    let cpus = cpus();
    let rng = &mut SplitMix64::new(11);
    let values = [0.0, -0.0, 1.0, -1.0, 2.5, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-40];
    for pred in ["olt", "ole", "ogt", "oge", "ult", "ule", "ugt", "uge"] {
        for form in 0..8 {
            let text = extremum(pred, form & 1 > 0, form & 2 > 0, form & 4 > 0);
            let mut inputs = Vec::new();
            for round in 0..16 {
                let n = [0, 1, 7, 33, 64, 200][rng.below(6)];
                // NaNs are rare in some of them, and there are none in others.
                let mut one = || {
                    let v = *rng.pick(&values);
                    let may_be_nan = round % 3 == 0 || round % 3 == 1 && rng.chance(1, 20);
                    if v.is_nan() && !may_be_nan { 3.0 } else { v }
                };
                let floats: Vec<u8> = (0..n).flat_map(|_| one().to_le_bytes()).collect();
                let start = one().to_bits();
                inputs.push(vec![Arg::Buffer(floats), Arg::Uniform(start.into()), Arg::Uniform(n)]);
            }
            let kernel = Kernel::of_loop(text, inputs[0].clone(), Contract::Sequential);
            let mode = ([4, 8, 16][form % 3], Linearize::Partial, Boscc::Auto, "default<O3>");
            kernel.judge_on(mode, &cpus[form % cpus.len()], inputs);
        }
    }
}

/// A loop that returns at a zero in `a`, and ends the program at a seven in `b`, which comes later in the iteration.
const ENDS_THE_PROGRAM: &str = "declare void @exit(i32) noreturn
define i64 @kernel(ptr %a, ptr %b, i64 %n, ptr %o) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %i1, %on ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %body, label %end
body:
  %p = getelementptr i32, ptr %a, i64 %i
  %x = load i32, ptr %p
  %zero = icmp eq i32 %x, 0
  br i1 %zero, label %end, label %look
look:
  %q = getelementptr i32, ptr %b, i64 %i
  %y = load i32, ptr %q
  %seven = icmp eq i32 %y, 7
  br i1 %seven, label %dead, label %on
dead:
  call void @exit(i32 3)
  unreachable
on:
  %i1 = add i64 %i, 1
  br label %head
end:
  ret i64 %i
}";

#[test]
fn a_lane_that_would_end_the_program_before_another_one_leaves_the_loop_does_so() {
    if !llvm_is_there() {
        return;
    }
    let words = |at: usize, value: u32| -> Vec<u8> {
        (0..64).flat_map(|i| if i == at { value } else { 1u32 }.to_le_bytes()).collect()
    };
    let args = |seven: usize| {
        let (a, b) = (words(40, 0), words(seven, 7));
        vec![Arg::Buffer(a), Arg::Buffer(b), Arg::Uniform(64), Arg::Buffer(vec![0; 4])]
    };
    let kernel = Kernel::of_loop(ENDS_THE_PROGRAM.to_owned(), args(41), Contract::Sequential);
    // A seven behind the zero is never looked at.
    for (width, cpu) in [4, 16, 64].into_iter().zip(cpus().iter().cycle()) {
        let mode = (width, Linearize::Partial, Boscc::Auto, "default<O3>");
        kernel.judge_on(mode, cpu, [args(40), args(41), args(63)]);
    }
    let mut imported = kernel.import();
    let asked = warpline_vectorize::Options::new(16, kernel.shapes(), "lanes");
    let (copy, _) = kernel.vectorized_loop(&mut imported.ir, &asked).expect("it is vectorized");
    let code = warpline_ir::text::print_function(&imported.ir, &imported.ir.functions[copy]);
    // The lanes before the one that leaves are executed under a mask, and may end the program.
    assert!(code.contains("before:"), "{code}");
}
