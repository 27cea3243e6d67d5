//! What warpline compiles for many lanes: the kernel's body in a function of its own, with parameters that need no
//! knowledge of types, and small functions from which warpline reads what the compiler knows.
//!
//! All of it are siblings of the kernel, so that names mean the same, in a module as well as in an `impl`.

use proc_macro::TokenStream;

use crate::function::Function;
use crate::interface::{Interface, Pass};
use crate::table;
use crate::tokens::quote;

/// The beginning of all names that warpline looks for.
const PREFIX: &str = "warpline.";

/// Items that nobody sees but warpline.
const HIDDEN: &str = "#[doc(hidden)] #[allow(warnings, clippy::all)]";

/// The functions that are made of an instance of a kernel.
pub(crate) fn items(function: &Function, interface: &Interface) -> TokenStream {
    let symbol = symbol(function, interface);
    let cfgs: TokenStream = function.cfgs.iter().cloned().collect();
    let mut out = kernel(function, interface, &symbol, &cfgs);
    out.extend(about(function, interface, &symbol, &cfgs));
    for (k, ty) in interface.layouts.iter().enumerate() {
        for (what, word) in [("size", "size_of"), ("align", "align_of")] {
            let text = format!(
                "$0 {HIDDEN} #[unsafe(export_name = \"{PREFIX}{what} {k} {symbol}\")] \
                 pub fn warpline_{what}_{k}_{}{}() -> usize {{ ::core::mem::{word}::<$1>() }}",
                interface.instance,
                function.lifetimes(),
            );
            out.extend(quote(&text, &[cfgs.clone(), ty.clone()]));
        }
    }
    out
}

/// A name that no other kernel of the crate has.
fn symbol(function: &Function, interface: &Interface) -> String {
    let span = function.name.span();
    let place = format!("{} {} {}", span.file(), span.line(), span.column());
    let hash = place
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{PREFIX}kernel.{}.{hash:016x}", interface.instance.trim_start_matches("r#"))
}

/// A function whose name says what warpline must know of the kernel.
fn about(function: &Function, interface: &Interface, symbol: &str, cfgs: &TokenStream) -> TokenStream {
    let span = function.name.span();
    let options: Vec<String> =
        interface.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let words = format!(
        "{PREFIX}about|{symbol}|{}|{}|{}|{}|{}|{}",
        function.name,
        interface.instance,
        span.line(),
        interface.shapes(function.receiver.is_some()),
        match (interface.racy, interface.is_unsafe(function)) {
            (true, _) => "racy",
            (_, true) => "unsafe",
            _ => "safe",
        },
        options.join(","),
    );
    let text = format!(
        "$0 {HIDDEN} #[unsafe(export_name = {words:?})] pub fn warpline_about_{}() {{}}",
        interface.instance.trim_start_matches("r#")
    );
    quote(&text, std::slice::from_ref(cfgs))
}

/// The kernel itself.
fn kernel(function: &Function, interface: &Interface, symbol: &str, cfgs: &TokenStream) -> TokenStream {
    let mut pieces = vec![cfgs.clone(), interface.body.clone()];
    let mut piece = |tokens: &TokenStream| {
        pieces.push(tokens.clone());
        format!("${}", pieces.len() - 1)
    };
    let mut params: Vec<String> = Vec::new();
    let mut before = String::new();
    match function.receiver {
        Some(true) => params.push("&mut self".to_owned()),
        Some(false) => params.push("&self".to_owned()),
        None => {}
    }
    if table::is_for_script() {
        params.push("warpline_context: *const u8".to_owned());
    }
    for param in &interface.params {
        let (pattern, ty) = (piece(&param.pattern), piece(&param.ty));
        match param.pass {
            Pass::Value | Pass::Values => {
                params.push(format!("{}: &{ty}", param.name));
                before += &format!("let {pattern}: {ty} = *{};", param.name);
            }
            _ => params.push(format!("{pattern}: {ty}")),
        }
    }
    let (mut result, mut body) = (String::new(), "$1".to_owned());
    if let Some(ty) = &interface.result {
        let ty = piece(ty);
        match interface.returns_number {
            true => result = format!(" -> {ty}"),
            false => {
                params.push(format!("warpline_out: &mut ::core::mem::MaybeUninit<{ty}>"));
                body = format!(
                    "let warpline_result = (move || -> {ty} $1)(); warpline_out.write(warpline_result);"
                );
            }
        }
    }
    let text = format!(
        "$0 {HIDDEN} #[unsafe(export_name = \"{symbol}\")] pub {unsafe_word}fn warpline_kernel_{name}{lifetimes}\
         ({params}){result} {{ {before} {body} }}",
        unsafe_word = if function.is_unsafe { "unsafe " } else { "" },
        name = interface.instance.trim_start_matches("r#"),
        lifetimes = function.lifetimes(),
        params = params.join(", "),
    );
    quote(&text, &pieces)
}
