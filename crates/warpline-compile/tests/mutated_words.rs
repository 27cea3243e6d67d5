//! Directives and words of the command line that are nearly right: they are understood, or refused with a reason.
//!
//! `WARPLINE_PROGRAMS` is the number of each, `WARPLINE_SEED` the first seed.

use warpline_compile::loops::LoopAt;
use warpline_compile::spec::{Bind, Tolerance, Width, parse_range};
use warpline_compile::{directives, signature};
use warpline_testkit::mutate::{self, setting};
use warpline_testkit::rng::SplitMix64;

const C: &str = "#include <stdint.h>
//@ args i=index, a=uniform, s=stride(4)
//@ width 8
//@ range 0..1000
//@ bind a=f32[1000]=random
//@ tolerance ulp=4,abs=1e-6
//@ boscc off
//@ lane-insensitive
void kernel(int i, float *a, int s) { a[i] = s; }
//@ rust fn other(i: i32, a: &mut [f32])
//@ args i=index
void other(int i, float *a) {
  //@ loop any-order width=8
  for (int j = 0; j < i; j++) a[j] += 1;
  #pragma omp simd simdlen(8) reduction(+:x)
  for (;;) {}
}
";

const RUST: &str = "//@ args i=index, x=varying
//@ returns varying
#[unsafe(no_mangle)]
pub extern \"C\" fn kernel(i: i32, x: f32) -> f32 { x }
#[warpline_lanes::kernel(i = index, p = stride(8))]
pub unsafe fn second(i: u64, p: &mut [f64], q: *const [u8; 4]) -> bool { true }
";

const LL: &str = ";@ function f
;@ args index,uniform
;@ bind p=i32[64]=1..9
;@ range -4..4
define void @f(i32 %i, ptr %p) { ret void }
";

const CL: &str = "//@ bind x=f64[8]=iota
//@ width auto
kernel void f(global float *x) { x[get_global_id(0)] = 0; }
";

const WORDS: [&str; 26] = [
    "args",
    "width",
    "range",
    "bind",
    "tolerance",
    "loop",
    "independent",
    "rust",
    "fn",
    "index",
    "uniform",
    "varying",
    "stride(1)",
    "stride(",
    "f32",
    "[8]",
    "=random",
    "0..",
    "..",
    "-1..1",
    "auto",
    "64",
    "65",
    "ulp=",
    "rel=nan",
    "kernel",
];

#[test]
fn directives_that_are_nearly_right_are_refused_with_a_line_or_understood() {
    let (first, count) = (setting("WARPLINE_SEED", 0), setting("WARPLINE_PROGRAMS", 3000));
    let folder = tempfile::tempdir().unwrap();
    let (mut refused, mut understood) = (0u64, 0u64);
    for seed in first..first + count {
        let mut rng = SplitMix64::new(seed);
        let &(name, source) = rng.pick(&[("k.c", C), ("k.rs", RUST), ("k.ll", LL), ("k.cl", CL)]);
        let path = folder.path().join(name);
        std::fs::write(&path, mutate::text(&mut rng, source, &WORDS)).unwrap();
        let read = directives::read(&path).map(drop);
        let loops = directives::read_loops(&path).map(drop);
        let signatures = signature::read(&path).map(drop);
        for outcome in [read, loops, signatures] {
            match outcome {
                Ok(()) => understood += 1,
                Err(error) => {
                    assert!(error.to_string().contains(name) && !error.is_internal(), "seed {seed}: {error}");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused * 20 > count && understood > count, "{refused} refused, {understood} understood");
}

#[test]
fn words_that_are_nearly_right_are_refused_with_a_reason_or_understood() {
    const PROPER: [&str; 14] = [
        "8",
        "auto",
        "0..1000",
        "-5..5",
        "a=f32[64]",
        "a=i64[8]=1..9",
        "x=3.5",
        "b=bool[4]=random",
        "p=0x10",
        "ulp=4",
        "rel=1e-3,abs=2",
        "12",
        "bb3",
        "marked",
    ];
    let (first, count) = (setting("WARPLINE_SEED", 0), setting("WARPLINE_PROGRAMS", 3000));
    for seed in first..first + count {
        let mut rng = SplitMix64::new(seed);
        let proper = *rng.pick(&PROPER);
        let text = String::from_utf8_lossy(&mutate::text(&mut rng, proper, &WORDS)).into_owned();
        let said = [
            text.parse::<Width>().err(),
            parse_range(&text).err(),
            text.parse::<Bind>().err(),
            text.parse::<Tolerance>().err(),
            text.parse::<LoopAt>().err(),
        ];
        assert!(said.into_iter().flatten().all(|words| !words.is_empty()), "seed {seed}: {text}");
    }
}
