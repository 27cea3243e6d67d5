//! Makes `vector.rs` in `$OUT_DIR`, with a function for each kernel, and links their code for several CPUs.

fn main() -> Result<(), warpline_build::Error> {
    warpline_build::Builder::new().source("src/kernels.rs").build("vector")
}
