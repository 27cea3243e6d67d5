//! Code for several CPUs in one object: every version gives the scalar result, and the best that the machine can run
//! is chosen.

mod common;
#[path = "common/linked.rs"]
mod linked;

use std::path::Path;
use std::process::Command;

use common::{ok, stderr, warpline};
use linked::{link_and_run, vectorize};

/// The levels of x86-64, by which a C compiler can ask what the machine is, too.
const LEVELS: &str = "x86-64-v3,x86-64,x86-64-v4,x86-64-v2";

/// A divergent loop, with divisions and narrow parameters.
const KERNEL: &str = "//@ args index, varying
#[unsafe(no_mangle)]
pub extern \"C\" fn steps(i: u32, x: f32, halve: bool, least: u8, out: &mut [u32; 1000]) -> f32 {
    let (mut n, mut value) = (0, x);
    while value > least as f32 {
        value = if halve { value / 2.0 } else { value - 7.5 };
        n += 1;
    }
    if i < 1000 {
        out[i as usize] = n;
    }
    value
}
";

/// Runs every version that the machine can run, and the function that chooses from several threads at once. Prints
/// how many results are wrong, which version is chosen, and which should be.
const PROGRAM: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#define WARPLINE_LANES
#include "m.h"
enum { N = 1000, THREADS = 6 };
static float x[N];
typedef void driver(int64_t, int64_t, const float *, bool, int8_t, void *, float *);
static int wrong(driver *run, int begin, int end, int halve) {
    uint32_t counts[N];
    float out[N];
    memset(counts, 0xff, sizeof counts);
    memset(out, 0, sizeof out);
    run(begin, end, x, halve, 3, counts, out);
    int bad = 0;
    for (int i = 0; i < N; i++) {
        uint32_t n = 0;
        float value = x[i >= begin ? i - begin : 0];
        for (; value > 3; n++) value = halve ? value / 2 : value - 7.5f;
        int in = i >= begin && i < end;
        bad += counts[i] != (in ? n : 0xffffffffu);
        if (in) bad += out[i - begin] != value;
    }
    return bad;
}
static int all(driver *run) {
    return wrong(run, 0, N, 1) + wrong(run, 3, N - 2, 0) + wrong(run, 5, 6, 1) + wrong(run, 9, 9, 1);
}
static void *first(void *result) {
    *(int *)result = all(steps_range);
    return 0;
}
int main(void) {
    for (int i = 0; i < N; i++) x[i] = (float)((i * 7919) % 997) - 20;
    pthread_t threads[THREADS];
    int bad[THREADS], sum = 0;
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, first, &bad[i]);
    for (int i = 0; i < THREADS; i++) { pthread_join(threads[i], 0); sum += bad[i]; }
    const char *best = "x86-64";
    sum += all(steps_range_x86_64);
    if (__builtin_cpu_supports("x86-64-v2")) { best = "x86-64-v2"; sum += all(steps_range_x86_64_v2); }
    if (__builtin_cpu_supports("x86-64-v3")) { best = "x86-64-v3"; sum += all(steps_range_x86_64_v3); }
    if (__builtin_cpu_supports("x86-64-v4")) { best = "x86-64-v4"; sum += all(steps_range_x86_64_v4); }
    printf("%d wrong; %s, %s\n", sum, steps_cpu(), best);
    return 0;
}
"#;

fn object(folder: &Path) -> String {
    let file = folder.join("kernel.rs");
    std::fs::write(&file, KERNEL).unwrap();
    vectorize(folder, &[file.to_str().unwrap(), "--cpu", LEVELS])
}

#[cfg(target_arch = "x86_64")]
#[test]
fn every_version_gives_the_scalar_result_and_the_best_is_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let header = object(folder.path());
    assert!(header.contains("void steps_range("), "{header}");
    assert!(header.contains("const char *steps_cpu(void);"), "{header}");
    let Some(text) = link_and_run(folder.path(), PROGRAM, &["-lpthread"]) else { return };
    let (chosen, best) = text.strip_prefix("0 wrong; ").unwrap().trim().split_once(", ").unwrap();
    assert_eq!(chosen, best);
    for (cpu, expected) in [
        ("qemu64", "x86-64"),
        ("Nehalem", "x86-64-v2"),
        ("Haswell", "x86-64-v3"),
        ("SandyBridge", "x86-64-v2"),
    ] {
        let emulated =
            Command::new("qemu-x86_64").args(["-cpu", cpu]).arg(folder.path().join("program")).output();
        let Ok(emulated) = emulated else {
            eprintln!("skipped on other CPUs: there is no qemu-x86_64");
            return;
        };
        let text = String::from_utf8_lossy(&emulated.stdout).into_owned();
        assert_eq!(text, format!("0 wrong; {expected}, {expected}\n"), "{cpu}: {}", stderr(&emulated));
    }
}

#[test]
fn code_for_every_machine_is_added_where_it_is_not_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kernel.rs");
    std::fs::write(&file, KERNEL).unwrap();
    let output = folder.path().join("k.s");
    let text = ok(&warpline(&[
        "vectorize",
        file.to_str().unwrap(),
        "--cpu",
        "haswell,znver4",
        "--name",
        "walk",
        "-o",
        output.to_str().unwrap(),
    ]));
    assert_eq!(text.lines().nth(1), Some("  64 lanes for znver4, 32 lanes for haswell, 16 lanes for x86-64"));
    let assembly = std::fs::read_to_string(&output).unwrap();
    let code = |symbol: &str| {
        let (_, rest) = assembly.split_once(&format!("\n{symbol}:")).unwrap();
        rest.split_once(".cfi_endproc").map_or(rest, |(code, _)| code).to_owned()
    };
    // Vector code may be a function of its own behind them.
    assert!(assembly.contains("%zmm") && assembly.contains("%ymm"));
    assert!(!code("walk_range_haswell").contains("%zmm"));
    for symbol in ["walk_range_x86_64", "walk_range", "walk_cpu"] {
        assert!(!code(symbol).contains("%ymm") && !code(symbol).contains("\tv"), "{symbol}");
    }
}

/// The error message of a command that must fail.
#[track_caller]
fn refused(arguments: &[&str]) -> String {
    let output = warpline(arguments);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    stderr(&output)
}

#[test]
fn what_cannot_be_chosen_at_run_time_is_refused_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let output = folder.path().join("k.o");
    let output = output.to_str().unwrap();
    let kernel = path("kernel.rs", KERNEL);
    let message = |input: &str, cpus: &str| refused(&["vectorize", input, "--cpu", cpus, "-o", output]);
    for (cpus, words) in [
        ("haswell,haswell", "`haswell` stands there twice"),
        ("haswell,native", "name each CPU"),
        ("haswell,znver44", "did you mean"),
        ("haswell,", "unknown"),
    ] {
        let text = message(&kernel, cpus);
        assert!(text.contains(words), "{cpus}: {text}");
    }
    let text = refused(&["run", &kernel, "--range", "0..8", "--cpu", "haswell,znver4"]);
    assert!(text.contains("only `vectorize` makes code for several"), "{text}");
    let no_index = path(
        "blend.ll",
        ";@ args varying\ndefine float @f(float %x) {\n %y = fadd float %x, %x\n ret float %y\n}\n",
    );
    let text = message(&no_index, "haswell,znver4");
    assert!(text.contains("no `index` among its parameters"), "{text}");
    let wide = path(
        "wide.ll",
        ";@ args i=index\ndefine void @f(i64 %i, <8 x float> %v, ptr %p) {\n %q = getelementptr float, ptr %p, \
         i64 %i\n \
         %x = extractelement <8 x float> %v, i32 0\n store float %x, ptr %q\n ret void\n}\n",
    );
    let text = message(&wide, "haswell,znver4");
    assert!(text.contains("`%v`: a parameter of type <8 x float>"), "{text}");
    let taken =
        path("taken.rs", &format!("{KERNEL}#[unsafe(no_mangle)]\npub extern \"C\" fn steps_cpu() {{}}\n"));
    let text = message(&taken, "haswell,znver4");
    assert!(text.contains("`steps_cpu` already"), "{text}");
    let arm = path(
        "arm.ll",
        "target triple = \"aarch64-unknown-linux-gnu\"\n;@ args i=index\ndefine void @f(i64 %i) {\n ret void\n}\n",
    );
    let text = message(&arm, "cortex-a72,neoverse-n1");
    assert!(text.contains("several CPUs in one object are for x86-64"), "{text}");
    assert!(!Path::new(output).exists());
}
