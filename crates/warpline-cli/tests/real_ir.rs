//! Large real IR, where it is installed.

mod common;

use std::path::Path;

use common::{ok, warpline};

/// OpenCL's built-in functions as bitcode (Debian: `libclc-19`), thousands of functions in a file.
#[test]
fn every_function_of_libclc_is_analysed_and_always_the_same_way() {
    let files = ["/usr/lib/clc/amdgcn--amdhsa.bc", "/usr/lib/clc/nvptx--.bc"];
    if let Some(missing) = files.iter().find(|file| !Path::new(file).exists()) {
        eprintln!("skipped: there is no {missing} (Debian's package libclc-19 has it)");
        return;
    }
    let functions = |text: &str| text.lines().filter(|line| line.starts_with("function ")).count();
    let both = ok(&warpline(&["analyze", files[0], files[1]]));
    assert!(functions(&both) > 9_000, "{} functions", functions(&both));
    let again = ok(&warpline(&["analyze", files[1]]));
    assert!(both.ends_with(&again), "two runs differ");
}
