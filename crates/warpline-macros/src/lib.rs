//! The attribute that marks functions as kernels. `warpline_lanes::kernel` is the name to use it by.
//!
//! The function stays what it is. Where a build script has spoken of it (`table`), functions that run it over a
//! range are made beside it (`range`). Where warpline compiles the crate to make these, it finds what it compiles
//! beside the function as well (`shim`).

mod function;
mod interface;
mod range;
mod shim;
mod table;
mod tokens;
mod words;

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

use function::{Function, Wrong};
use interface::Interface;

/// Marks a function as a kernel and says what its parameters are to the lanes:
///
/// ```
/// #[warpline_macros::kernel(i = index, x = varying)]
/// fn scale(i: usize, factor: f32, x: f32, out: &mut f32) {
///     *out = factor * x + i as f32;
/// }
/// # let mut y = 0.0;
/// # scale(3, 2.0, 4.0, &mut y);
/// # assert_eq!(y, 11.0);
/// ```
///
/// The function stays what it is: a program for one lane, which can be called like any other. The program `warpline`
/// and build scripts with `warpline-build` make another for many lanes of it. Shapes are `index` (the number of the
/// lane's element), `varying` (a value for each lane), `stride(N)` and `uniform` (the same for all lanes). Without a
/// shape, a reference leads to the lane's element of a slice, and everything else is uniform.
///
/// The program for many lanes does what one would do that calls the function for one index after the other; a kernel
/// for which that cannot be proved is refused. With the word `racy` (`#[kernel(racy, i = index)]`) lanes are threads,
/// whatever their races do is accepted, and the function over a range that `warpline-build` makes is unsafe.
///
/// ```
/// #[warpline_macros::kernel(racy, i = index)]
/// fn see(i: usize, seen: &mut [bool]) {
///     seen[i / 2] = true;
/// }
/// # let mut seen = [false; 2];
/// # see(3, &mut seen);
/// # assert_eq!(seen, [false, true]);
/// ```
#[proc_macro_attribute]
pub fn kernel(shapes: TokenStream, item: TokenStream) -> TokenStream {
    match siblings(shapes, &item) {
        Ok(siblings) if siblings.is_empty() => item,
        // Who calls the function over a range uses the kernel.
        Ok(siblings) => tokens::quote("#[allow(dead_code)] $0 $1", &[item, siblings]),
        Err((span, message)) => [compile_error(span, &message), item].into_iter().collect(),
    }
}

/// What is made beside the function. Without a build script that speaks of it that is nothing, and whether names are
/// those of parameters, whoever compiles the kernel sees.
fn siblings(shapes: TokenStream, item: &TokenStream) -> Result<TokenStream, Wrong> {
    let function = Function::read(item.clone())?;
    let words = words::read(shapes, &function)?;
    let made = table::of(&function.name)?;
    if made.is_none() && (!table::is_nested() || table::is_for_script()) {
        return Ok(TokenStream::new());
    }
    let interface = Interface::new(&function, &words)?;
    let mut items = TokenStream::new();
    if table::is_nested() {
        items.extend(shim::items(&function, &interface));
    }
    for made in made.into_iter().flatten().filter(|made| made.instance == interface.instance) {
        items.extend(range::items(&function, &interface, Some(&made).filter(|_| !table::is_nested())));
    }
    Ok(items)
}

/// `compile_error!` with a message, shown at a place.
fn compile_error(span: Span, message: &str) -> TokenStream {
    let mut bang = Punct::new('!', Spacing::Alone);
    bang.set_span(span);
    let text = TokenTree::Literal(Literal::string(message));
    let mut argument = Group::new(Delimiter::Brace, text.into());
    argument.set_span(span);
    [TokenTree::Ident(Ident::new("compile_error", span)), TokenTree::Punct(bang), TokenTree::Group(argument)]
        .into_iter()
        .collect()
}
