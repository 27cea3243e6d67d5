//! Kernels for ISPC, to be compared with.

/// A kernel as its authors would write it for ISPC, if there is one of this name: an `export`ed function of the name that
/// the macro `KERNEL` has. Its parameters are the begin and the end of the range, those of the kernel but for the
/// index, and, if the kernel has a result, an array for results.
#[must_use]
pub fn ispc(kernel: &str) -> Option<&'static str> {
    Some(match kernel {
        "ao" => include_str!("../ispc/ao.ispc"),
        "binomial" => include_str!("../ispc/binomial.ispc"),
        "black_scholes" => include_str!("../ispc/black_scholes.ispc"),
        "mandelbrot" => include_str!("../ispc/mandelbrot.ispc"),
        "noise" => include_str!("../ispc/noise.ispc"),
        "rt" => include_str!("../ispc/rt.ispc"),
        "stencil" => include_str!("../ispc/stencil.ispc"),
        "volume" => include_str!("../ispc/volume.ispc"),
        _ => return None,
    })
}
