//! Pixels and samples at the ends of what may be accessed, and memory that nobody else accesses: machine code beside
//! the C compiler's of the same source.
#![cfg(target_arch = "x86_64")]

mod common;

use std::path::Path;
use std::process::Command;

use common::{ok, stderr, warpline};
use warpline_llvm::has_clang;

const KERNELS: &str = r"#include <stdint.h>
void gray(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) out[i] = (77 * in[3 * i] + 150 * in[3 * i + 1] + 29 * in[3 * i + 2]) >> 8;
}
void green(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) out[i] = in[3 * i + 1];
}
void swap(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        out[4 * i] = in[4 * i + 2];
        out[4 * i + 1] = in[4 * i + 1];
        out[4 * i + 2] = in[4 * i];
        out[4 * i + 3] = in[4 * i + 3];
    }
}
void opaque(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        out[4 * i] = in[3 * i];
        out[4 * i + 1] = in[3 * i + 1];
        out[4 * i + 2] = in[3 * i + 2];
        out[4 * i + 3] = 255;
    }
}
void drop(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        out[3 * i] = in[4 * i];
        out[3 * i + 1] = in[4 * i + 1];
        out[3 * i + 2] = in[4 * i + 2];
    }
}
void bgr(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        out[3 * i] = in[3 * i + 2];
        out[3 * i + 1] = in[3 * i + 1];
        out[3 * i + 2] = in[3 * i];
    }
}
void solid(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        out[4 * i] = in[4 * i + 2];
        out[4 * i + 1] = in[4 * i + 1];
        out[4 * i + 2] = in[4 * i];
        out[4 * i + 3] = n;
    }
}
void turn(int n, const uint8_t *in, uint8_t *out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        uint16_t a = ((const uint16_t *)in)[2 * i], b = ((const uint16_t *)in)[2 * i + 1];
        ((uint16_t *)out)[2 * i] = b;
        ((uint16_t *)out)[2 * i + 1] = a;
    }
}
void here(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        uint8_t b = out[4 * i];
        out[4 * i] = out[4 * i + 2];
        out[4 * i + 2] = b;
        b = out[4 * i + 1];
        out[4 * i + 1] = out[4 * i + 3];
        out[4 * i + 3] = b;
    }
}
void same(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) out[3 * i + k] = in[3 * i + k];
}
void five(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        out[3 * i] = in[5 * i + 4];
        out[3 * i + 1] = in[5 * i];
        out[3 * i + 2] = 7;
    }
}
void alpha(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) out[4 * i + 3] = in[i];
}
void middle(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        int16_t l = ((const int16_t *)in)[2 * i], r = ((const int16_t *)in)[2 * i + 1];
        ((int16_t *)out)[2 * i] = (l + r) / 2;
        ((int16_t *)out)[2 * i + 1] = (l - r) / 2;
    }
}
void half(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) out[i] = (in[2 * i] + in[2 * i + 1] + 1) >> 1;
}
void luma(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) out[i] = (299 * in[4 * i] + 587 * in[4 * i + 1] + 114 * in[4 * i + 2]) / 1000;
}
void late(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) out[i] = 0.5f * in[4 * i + 3] + 0.25f * in[4 * i + 1];
}
void odd(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) out[i] = (in[2 * i + 1] * 200 + 128) >> 8;
}
void samples(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        int16_t l = ((const int16_t *)in)[2 * i], r = ((const int16_t *)in)[2 * i + 1];
        ((int32_t *)out)[i] = l * 3 - r * 5;
    }
}
void bright(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) ((float *)out)[i] = 0.3f * in[4 * i] + 0.6f * in[4 * i + 1] + 0.1f * in[4 * i + 2];
}
//@ exclusive out
void mark(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++)
        if (in[i] > 100) out[i] = in[i] & 7;
}
//@ exclusive out
void follow(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        if (in[i] > out[i]) out[i]++;
        else if (in[i] < out[i]) out[i]--;
    }
}
void shift(int n, const uint8_t *in, uint8_t *out) {
    uint8_t *lo = out, *hi = out + n;
    //@ loop
    for (int i = 0; i < n; i++) {
        int more = in[i] - hi[i], less = lo[i] - in[i];
        if (more > 0) {
            lo[i] = lo[i] + more < 255 ? lo[i] + more : 255;
            hi[i] = hi[i] + more < 255 ? hi[i] + more : 255;
        }
        if (less > 0) {
            lo[i] = lo[i] - less > 0 ? lo[i] - less : 0;
            hi[i] = hi[i] - less > 0 ? hi[i] - less : 0;
        }
    }
}
void total(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    uint32_t sum = 0, squares = 0;
    //@ loop
    for (int i = 0; i < n; i++) {
        sum += in[i];
        squares += in[i] * in[i];
    }
    if (n) ((uint32_t *)out)[0] = sum ^ squares << 12;
}
void some(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    uint32_t sum = 0, count = 0;
    int most = 0;
    //@ loop
    for (int i = 0; i < n; i++) {
        if (in[i] > 100) {
            sum += in[i] < 200 ? 200 - in[i] : in[i] - 200;
            count++;
        }
        if (in[i] > most) most = in[i];
    }
    if (n) ((uint32_t *)out)[0] = sum ^ count << 16 ^ most << 24;
}
void fade(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    if (!n) return;
    int alpha = in[0], rest = 255 - alpha;
    //@ loop
    for (int i = 0; i < n; i++) {
        int v = in[i] * alpha + out[i] * rest;
        out[i] = (v + 1 + (v >> 8)) >> 8;
    }
}
void careful(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++)
        if (in[i] > 100) out[i] = in[i];
}
";

/// For each kernel: bytes of the input and of the output for an element.
const SIZES: [(&str, u32, u32); 26] = [
    ("gray", 3, 1),
    ("green", 3, 1),
    ("swap", 4, 4),
    ("opaque", 3, 4),
    ("drop", 4, 3),
    ("bgr", 3, 3),
    ("solid", 4, 4),
    ("turn", 4, 4),
    ("here", 4, 4),
    ("same", 3, 3),
    ("five", 5, 3),
    ("alpha", 1, 4),
    ("middle", 4, 4),
    ("half", 2, 1),
    ("luma", 4, 1),
    ("late", 4, 1),
    ("odd", 2, 1),
    ("samples", 4, 4),
    ("bright", 4, 4),
    ("mark", 1, 1),
    ("follow", 1, 1),
    ("shift", 1, 2),
    ("total", 1, 4),
    ("some", 1, 4),
    ("fade", 1, 1),
    ("careful", 1, 1),
];

/// A program that runs each kernel on every length up to 199 on buffers that begin or end where memory does.
fn main_program() -> String {
    let mut text = String::from(
        r#"#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
typedef void kernel(int, const uint8_t *, uint8_t *);
"#,
    );
    for (name, ..) in SIZES {
        text += &format!("kernel {name}, scalar_{name};\n");
    }
    text += "static struct { const char *name; kernel *ours, *theirs; int in, out; } all[] = {\n";
    for (name, input, output) in SIZES {
        text += &format!("  {{\"{name}\", {name}, scalar_{name}, {input}, {output}}},\n");
    }
    text + r#"};
static uint8_t *page(void) {
    size_t size = getpagesize();
    uint8_t *p = mmap(0, 3 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(p + size, size, PROT_READ | PROT_WRITE);
    return p + size;
}
int main(void) {
    size_t size = getpagesize();
    uint8_t *a = page(), *b = page(), *c = page();
    int wrong = 0;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (int n = 0; n < 200; n++)
            for (int at_end = 0; at_end < 2; at_end++) {
                for (size_t i = 0; i < size; i++) a[i] = i * 167 + n, b[i] = c[i] = i * 59 + 3;
                size_t in = at_end ? size - (size_t)n * all[k].in : 0, out = at_end ? size - (size_t)n * all[k].out : 0;
                all[k].ours(n, a + in, b + out);
                all[k].theirs(n, a + in, c + out);
                if (memcmp(b, c, size)) wrong++, printf("%s differs for %d\n", all[k].name, n);
            }
    printf("%d wrong\n", wrong);
    return 0;
}
"#
}

/// Compiles the kernels with other names, and the program, by the C compiler.
fn compiled(folder: &Path) -> Option<()> {
    let renamed = SIZES.iter().fold(KERNELS.to_owned(), |text, (name, ..)| {
        text.replace(&format!("void {name}("), &format!("void scalar_{name}("))
    });
    std::fs::write(folder.join("scalar.c"), renamed).unwrap();
    std::fs::write(folder.join("main.c"), main_program()).unwrap();
    let made =
        Command::new("cc").args(["-O1", "-w", "-c", "scalar.c", "main.c"]).current_dir(folder).output();
    let Ok(made) = made else {
        eprintln!("skipped: there is no C compiler");
        return None;
    };
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    Some(())
}

#[test]
fn pixels_are_what_the_scalar_program_makes_of_them_up_to_the_ends_of_memory() {
    if !has_clang() {
        eprintln!("skipped: there is no clang");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let file = folder.join("k.c");
    std::fs::write(&file, KERNELS).unwrap();
    let Some(()) = compiled(folder) else { return };
    for cpu in ["x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"] {
        let missing = match cpu {
            "x86-64-v3" => !std::arch::is_x86_feature_detected!("avx2"),
            "x86-64-v4" => !std::arch::is_x86_feature_detected!("avx512bw"),
            _ => false,
        };
        if missing {
            eprintln!("skipped: this machine is no {cpu}");
            continue;
        }
        for width in ["auto", "4", "16", "32", "64"] {
            let object = folder.join("k.o");
            let [file, object] = [&file, &object].map(|path| path.to_str().unwrap());
            ok(&warpline(&["vectorize", file, "--cpu", cpu, "--width", width, "-o", object]));
            let objects = ["-o", "program", "main.o", "scalar.o", "k.o"];
            let linked = Command::new("cc").args(objects).current_dir(folder).output().unwrap();
            assert!(linked.status.success(), "{}", String::from_utf8_lossy(&linked.stderr));
            let run = Command::new(folder.join("program")).output().unwrap();
            let said = String::from_utf8_lossy(&run.stdout);
            assert!(run.status.success() && said == "0 wrong\n", "{cpu}, {width}: {said}{}", run.status);
        }
    }
}

#[test]
fn a_promise_about_what_is_no_pointer_is_an_error() {
    if !has_clang() {
        eprintln!("skipped: there is no clang");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.c");
    for (named, told) in [("n", "`n` is no pointer"), ("uot", "`uot` is no pointer"), ("", "exclusive")] {
        let text =
            "void f(int n, char *out) {\n    //@ loop\n    for (int i = 0; i < n; i++) out[i] = 1;\n}\n";
        std::fs::write(&file, format!("//@ exclusive {named}\n{text}")).unwrap();
        let object = folder.path().join("k.o");
        let output = warpline(&["vectorize", file.to_str().unwrap(), "-o", object.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2), "{named}");
        assert!(stderr(&output).contains(told), "{}", stderr(&output));
    }
}

#[test]
fn the_promise_of_the_command_line_is_that_of_the_source() {
    if !has_clang() {
        eprintln!("skipped: there is no clang");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [file, object] = ["k.c", "k.o"].map(|name| folder.path().join(name));
    let text = "void f(int n, const unsigned char *restrict in, unsigned char *restrict out) {\n    //@ loop\n    \
                for (int i = 0; i < n; i++)\n        if (in[i] > 100) out[i] = 7;\n}\n";
    std::fs::write(&file, text).unwrap();
    let [file, object] = [&file, &object].map(|path| path.to_str().unwrap());
    let told = |more: &[&str]| {
        let begin = ["vectorize", file, "-o", object, "--cpu", "x86-64-v3"];
        let output = warpline(&[&begin[..], more].concat());
        (output.status.code(), stderr(&output))
    };
    assert!(told(&[]).1.contains("--exclusive NAME"), "{}", told(&[]).1);
    for pattern in ["out", "o*"] {
        let (code, said) = told(&["--exclusive", pattern]);
        assert!(code == Some(0) && !said.contains("under a mask"), "{said}");
    }
    let (code, said) = told(&["--exclusive", "uot"]);
    assert!(code == Some(2) && said.contains("did you mean `out`"), "{said}");
}

/// Rust's `&mut` says that nobody else accesses what it leads to, and a load in every iteration that it is there.
#[test]
fn what_a_mutable_reference_leads_to_needs_no_mask_where_every_iteration_loads_it() {
    let folder = tempfile::tempdir().unwrap();
    let object = folder.path().join("k.o");
    let told = |function: &str, masked: bool| {
        let file = folder.path().join("k.rs");
        std::fs::write(&file, format!("#[unsafe(no_mangle)]\npub {function}\n")).unwrap();
        let [file, object] = [&file, &object].map(|path| path.to_str().unwrap());
        let output = warpline(&["vectorize", file, "-o", object, "--cpu", "x86-64-v3", "--width", "32"]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert_eq!(said.contains("--exclusive NAME"), masked, "{function}: {said}");
        if std::arch::is_x86_feature_detected!("avx2") {
            let output = warpline(&["run", file, "--width", "32"]);
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        }
    };
    told("fn cap(x: &mut [u8]) { for x in x { if *x > 100 { *x = 100; } } }", false);
    told(
        "fn fall(x: &mut [u16], y: &[u16]) { for (x, y) in x.iter_mut().zip(y) { if *x > *y { *x -= 1; } } }",
        false,
    );
    // Elements that no iteration loads may be there or not, for all that the loop says.
    told(
        "fn mark(x: &mut [u8], y: &[u8]) { for (x, y) in x.iter_mut().zip(y) { if *y > 100 { *x = 1; } } }",
        true,
    );
    // Anybody may access what a raw pointer leads to.
    told(
        "unsafe fn raw(x: *mut u8, n: usize) { for i in 0..n { unsafe { if *x.add(i) > 100 { *x.add(i) = 100; } } } }",
        true,
    );
}
