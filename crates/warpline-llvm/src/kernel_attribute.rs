//! What the attribute `warpline_lanes::kernel` does where warpline compiles a kernel: it makes the function visible
//! under its name.

extern crate proc_macro;

use proc_macro::TokenStream;

/// Marks a function as a kernel.
#[proc_macro_attribute]
pub fn kernel(_shapes: TokenStream, item: TokenStream) -> TokenStream {
    let visible: TokenStream = "#[unsafe(no_mangle)]".parse().unwrap_or_default();
    [visible, item].into_iter().collect()
}
