//! Which functions with the attribute are kernels, and what is said of the others.

use super::{Crate, text};

pub(crate) fn what_cannot_be_compiled_is_refused_by_name() {
    let refused = |kernels: &str, expected: &str| {
        let made = Crate::new(
            "",
            &[
                (
                    "src/main.rs",
                    "#![allow(dead_code)]\nmod kernels;\nmod vector { include!(concat!(env!(\"OUT_DIR\"), \
                     \"/vector.rs\")); }\nfn main() {}\n",
                ),
                ("src/kernels.rs", kernels),
            ],
        );
        let output = made.cargo(&["build", "--quiet"]);
        let words = text(&output.stderr);
        assert!(!output.status.success() && words.contains(expected), "{kernels}\n{words}");
    };
    let kernel = |words: &str, head: &str| {
        format!("use warpline_lanes::kernel;\n#[kernel({words})]\npub fn f{head}\n")
    };
    refused(
        &kernel("i = index", "(i: usize, y: &mut u32) { *y = i.to_string().len() as u32; }"),
        "which has no body here",
    );
    refused(&kernel("x = varying", "(x: f32) { let _ = x; }"), "no parameter is the index");
    refused(&kernel("i = index, width = 65", "(i: usize, y: &mut usize) { *y = i; }"), "use 1 to 64 lanes");
    refused(
        &kernel("i = index, boscc = maybe", "(i: usize, y: &mut usize) { *y = i; }"),
        "use off, on or auto",
    );
    refused(
        &kernel("i = index, speed = 3", "(i: usize, y: &mut usize) { *y = i; }"),
        "the options are width",
    );
    refused(
        &kernel("i = index", "<T: Copy>(i: usize, x: &T, y: &mut T) { let _ = i; *y = *x; }"),
        "say what `T` is",
    );
    refused(
        &kernel("i = index, x = varying", "(i: usize, x: &u8) { let _ = (i, x); }"),
        "references cannot vary freely",
    );
    refused(
        &kernel("i = index", "(i: usize, x: String, y: &mut usize) { *y = i + x.len(); }"),
        "cannot move out",
    );
    refused(&kernel("i = index", "(i: usize) -> usize { i } fn g() -> u8 { 300 }"), "out of range");
    let twice = "(i: usize, y: &mut usize) { *y = 2 * i; }";
    let beside = |other: &str| kernel("i = index", twice) + other;
    refused(
        &beside(&format!("pub fn outer() {{ #[kernel(i = index)] fn inner{twice} inner(1, &mut 2); }}")),
        "has not found this kernel",
    );
    refused(
        &beside(&format!(
            "macro_rules! make {{ ($name:ident) => {{ #[kernel(i = index)] pub fn $name{twice} }} }} make!(made);"
        )),
        "has not found this kernel",
    );
    refused(
        &beside(&format!(
            "struct S; trait T {{ fn g{} }} impl T for S {{ #[kernel(i = index)] fn g{twice} }}",
            ";"
        ))
        .replace("fn g;", "fn g(i: usize, y: &mut usize);"),
        "`g` is a function of a trait",
    );
    refused(
        &beside(&format!("pub struct S<T>(T); impl<T> S<T> {{ #[kernel(i = index)] pub fn g{twice} }}")),
        "its `impl` is generic",
    );
}

pub(crate) fn conditions_say_which_functions_are_kernels() {
    let main = "mod kernels;\nmod vector { include!(concat!(env!(\"OUT_DIR\"), \"/vector.rs\")); }\n\
                fn main() { let mut y = [0; 9]; vector::twice(0..9, &mut y); kernels::thrice(1, &mut y[0]);\n\
                kernels::checked(1, &mut y[1]); println!(\"{y:?}\"); }\n";
    // What stands there with `debug_assertions` is no kernel where warpline compiles, and one in the program.
    let kernels = "#[cfg_attr(unix, inline, warpline_lanes::kernel(i = index))]\n\
                   pub fn twice(i: usize, y: &mut usize) { *y = 2 * i; }\n\
                   #[cfg_attr(windows, warpline_lanes::kernel(i = index))]\n\
                   pub fn thrice(i: usize, y: &mut usize) { *y = 3 * i; }\n\
                   #[cfg_attr(debug_assertions, warpline_lanes::kernel(i = index))]\n\
                   pub fn checked(i: usize, y: &mut usize) { *y = 4 * i; }\n";
    let made = Crate::new("", &[("src/main.rs", main), ("src/kernels.rs", kernels)]);
    assert_eq!(made.run(), "[3, 4, 4, 6, 8, 10, 12, 14, 16]\n");
}
