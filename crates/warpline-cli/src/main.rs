//! The program `warpline`.

fn main() {}
