//! The attribute that marks functions as kernels. `warpline_lanes::kernel` is the name to use it by.

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

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
    match check(shapes).and_then(|()| is_function(&item)) {
        Ok(()) => item,
        Err((span, message)) => [compile_error(span, &message), item].into_iter().collect(),
    }
}

/// Checks that the attribute reads `name = shape, …`, or `racy` among these. Whether the names are those of
/// parameters, whoever compiles the kernel sees.
fn check(shapes: TokenStream) -> Result<(), (Span, String)> {
    const WANTED: &str =
        "write `parameter = shape`, where the shape is index, varying, uniform or stride(N), or `racy`";
    let tokens: Vec<TokenTree> = shapes.into_iter().collect();
    let is = |token: &TokenTree, wanted: char| matches!(token, TokenTree::Punct(p) if p.as_char() == wanted);
    for one in tokens.split(|token| is(token, ',')).filter(|one| !one.is_empty()) {
        let is_fine = match one {
            [TokenTree::Ident(word)] => word.to_string() == "racy",
            [TokenTree::Ident(_), eq, TokenTree::Ident(shape)] => {
                is(eq, '=') && ["index", "varying", "uniform"].contains(&shape.to_string().as_str())
            }
            [TokenTree::Ident(_), eq, TokenTree::Ident(shape), TokenTree::Group(step)] => {
                is(eq, '=') && shape.to_string() == "stride" && step.delimiter() == Delimiter::Parenthesis
            }
            _ => false,
        };
        if !is_fine {
            return Err((one[0].span(), WANTED.to_owned()));
        }
    }
    Ok(())
}

fn is_function(item: &TokenStream) -> Result<(), (Span, String)> {
    let mut tokens = item.clone().into_iter();
    match tokens.any(|token| matches!(token, TokenTree::Ident(word) if word.to_string() == "fn")) {
        true => Ok(()),
        false => Err((Span::call_site(), "only functions can be kernels".to_owned())),
    }
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
