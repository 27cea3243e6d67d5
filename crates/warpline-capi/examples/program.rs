//! The program `warpline`, which compiles for the library: what tests of the library call.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    warpline_cli::main()
}
