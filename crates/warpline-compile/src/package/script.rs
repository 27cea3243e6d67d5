//! The crate's build script, where warpline has the crate compiled: the one that runs already, again.

use std::os::unix::process::CommandExt as _;

fn main() {
    let Some(script) = std::env::var_os("WARPLINE_NESTED_SCRIPT") else { std::process::exit(1) };
    let error = std::process::Command::new(script).exec();
    eprintln!("the build script cannot be started again: {error}");
    std::process::exit(1);
}
