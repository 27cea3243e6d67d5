//! The program `warpline`.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    warpline_cli::main()
}
