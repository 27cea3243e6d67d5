//! What loops carry that is no plain induction but can be computed from one: what grows by an induction, and values
//! that wrap around. Machine code against the scalar loop.

#[path = "common/guarded.rs"]
mod guarded;
#[expect(dead_code, reason = "other tests use more of it")]
#[path = "common/kernels.rs"]
mod kernels;

use kernels::cpus::cpus;
use kernels::{Arg, Kernel, llvm_is_there};
use warpline_testkit::rng::SplitMix64;
use warpline_vectorize::{Boscc, Contract, Linearize};

/// Judges a loop with these arguments for a random width and CPU.
fn judge(text: String, inputs: Vec<Vec<Arg>>, rng: &mut SplitMix64) {
    let cpus = cpus();
    let kernel = Kernel::of_loop(text, inputs[0].clone(), Contract::Independent);
    let mode = (*rng.pick(&[1, 2, 4, 7, 8, 16, 64]), Linearize::Partial, Boscc::Auto, "default<O3>");
    kernel.judge_on(mode, rng.pick(&cpus), inputs);
}

/// A number between −9 and 9, not 0.
fn small(rng: &mut SplitMix64) -> i64 {
    let n = rng.between(1, 9) as i64;
    if rng.chance(1, 2) { n } else { -n }
}

#[test]
fn what_grows_by_an_induction_is_a_polynomial_of_the_iteration() {
    if !llvm_is_there() {
        return;
    }
    let rng = &mut SplitMix64::new(3);
    for _ in 0..60 {
        let ty = *rng.pick(&["i8", "i16", "i32", "i64"]);
        let (step, factor, more) = (small(rng), small(rng), small(rng));
        let by = *rng.pick(&["%k", "%kn", "%scaled", "%mixed"]);
        let widened = if ty == "i64" { "add i64 %j, 0".to_owned() } else { format!("zext {ty} %j to i64") };
        let end = if ty == "i64" { "add i64 %j, 0".to_owned() } else { format!("sext {ty} %j to i64") };
        let text = format!(
            "define i64 @kernel(ptr %a, {ty} %j0, {ty} %k0, {ty} %u, i64 %n) {{
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %i1, %body ]
  %j = phi {ty} [ %j0, %entry ], [ %j1, %body ]
  %k = phi {ty} [ %k0, %entry ], [ %kn, %body ]
  %s = phi i64 [ 0, %entry ], [ %s1, %body ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %body, label %end
body:
  %kn = add {ty} %k, {step}
  %product = mul {ty} %k, {factor}
  %scaled = add {ty} %product, {more}
  %shifted = shl {ty} %kn, 1
  %mixed = sub {ty} %u, %shifted
  %w = {widened}
  %masked = and i64 %w, 63
  %p = getelementptr i32, ptr %a, i64 %masked
  %x = load i32, ptr %p
  %xw = zext i32 %x to i64
  %s1 = add i64 %s, %xw
  %j1 = add {ty} %j, {by}
  %i1 = add i64 %i, 1
  br label %head
end:
  %e = {end}
  %f = mul i64 %e, 1000003
  %r = add i64 %f, %s
  ret i64 %r
}}"
        );
        let table: Vec<u8> = (0..64u32).flat_map(|x| x.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        let input = |n: u64, rng: &mut SplitMix64| {
            let mut number = || Arg::Uniform(rng.next_u64());
            vec![Arg::Buffer(table.clone()), number(), number(), number(), Arg::Uniform(n)]
        };
        let inputs = [0, 1, 2, 5, 31, 64, 65, 200, 517].map(|n| input(n, rng)).to_vec();
        judge(text, inputs, rng);
    }
}

#[test]
fn values_that_wrap_around_are_inductions_from_the_second_iteration_on() {
    if !llvm_is_there() {
        return;
    }
    let rng = &mut SplitMix64::new(4);
    for round in 0..40 {
        let ty = if round % 2 == 0 { "i64" } else { "i32" };
        let wide =
            |v: &str| if ty == "i64" { format!("add i64 {v}, 0") } else { format!("sext i32 {v} to i64") };
        let (w0, w1, w2) = (wide("%i"), wide("%im1"), wide("%im2"));
        let leaves = round % 3 == 0;
        let (go, found) = match leaves {
            true => (
                "  %stop = icmp eq i32 %x, 77\n  br i1 %stop, label %found, label %go\ngo:\n",
                "found:\n  %q = add i64 %s, 5\n  ret i64 %q\n",
            ),
            false => ("  br label %go\ngo:\n", ""),
        };
        let text = format!(
            "define i64 @kernel(ptr %a, ptr noalias %o, {ty} %last, {ty} %n) {{
entry:
  %before = sub {ty} %last, 1
  br label %head
head:
  %i = phi {ty} [ 0, %entry ], [ %i1, %go ]
  %im1 = phi {ty} [ %last, %entry ], [ %i, %go ]
  %im2 = phi {ty} [ %before, %entry ], [ %im1, %go ]
  %s = phi i64 [ 0, %entry ], [ %s1, %go ]
  %more = icmp slt {ty} %i, %n
  br i1 %more, label %body, label %end
body:
  %w0 = {w0}
  %p = getelementptr i32, ptr %a, i64 %w0
  %x = load i32, ptr %p
{go}  %w1 = {w1}
  %p1 = getelementptr i32, ptr %a, i64 %w1
  %y = load i32, ptr %p1
  %w2 = {w2}
  %p2 = getelementptr i32, ptr %a, i64 %w2
  %z = load i32, ptr %p2
  %xy = sub i32 %x, %y
  %xyz = xor i32 %xy, %z
  %po = getelementptr i32, ptr %o, i64 %w0
  store i32 %xyz, ptr %po
  %xw = zext i32 %xyz to i64
  %s1 = add i64 %s, %xw
  %i1 = add nsw {ty} %i, 1
  br label %head
end:
  %e = {w1}
  %f = mul i64 %e, 1000003
  %r = add i64 %f, %s
  ret i64 %r
{found}}}"
        );
        let input = |n: usize, rng: &mut SplitMix64| {
            let at = rng.below(2 * n + 2);
            let one = |i: usize| if i == at { 77 } else { (i as u32).wrapping_mul(2_654_435_761) };
            let a: Vec<u8> = (0..n + 2).flat_map(|i| one(i).to_le_bytes()).collect();
            let o = vec![0x3c; 4 * n];
            vec![Arg::Buffer(a), Arg::Buffer(o), Arg::Uniform(n as u64 + 1), Arg::Uniform(n as u64)]
        };
        let inputs = [0, 1, 2, 3, 4, 9, 33, 66, 150].map(|n| input(n, rng)).to_vec();
        judge(text, inputs, rng);
    }
}
