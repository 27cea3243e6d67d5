//! Prices of European calls by a binomial tree (Cox, Ross, Rubinstein: Option Pricing, a Simplified Approach, 1979),
//! one option per lane.
//!
//! Shows: an array on the stack that each lane has for itself. All lanes are at the same element of theirs, so the
//! arrays lie interleaved and their accesses are contiguous. The loops are uniform. `powf` and `exp` are written out
//! as vector instructions.

//@ args i=index
//@ tolerance rel=1e-3, abs=1e-3

use std::mem::MaybeUninit;

/// Ends of the tree: one more than it has steps.
const ENDS: usize = 64;

/// The price of call option `i`: of the stock at `price[i]` now, to be bought for `strike[i]` in `years[i]`, with the
/// interest `rate[i]` and the standard deviation `volatility[i]`, both per year.
///
/// # Safety
/// `i` is an index of every array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn binomial(
    i: i32,
    price: *const f32,
    strike: *const f32,
    years: *const f32,
    rate: *const f32,
    volatility: *const f32,
) -> f32 {
    let i = i as isize;
    let (s, x, t) = unsafe { (*price.offset(i), *strike.offset(i), *years.offset(i)) };
    let (r, v) = unsafe { (*rate.offset(i), *volatility.offset(i)) };
    let step = t / (ENDS - 1) as f32;
    let up = (v * step.sqrt()).exp();
    let down = 1.0 / up;
    let growth = (r * step).exp();
    let rises = (growth - down) / (up - down) / growth;
    let falls = 1.0 / growth - rises;

    // What the option is worth at the end, after as many rises as the index says; then, step by step back, what it
    // was worth before.
    let mut values = MaybeUninit::<[f32; ENDS]>::uninit();
    let values = values.as_mut_ptr().cast::<f32>();
    let mut k = 0;
    while k < ENDS {
        let end = s * up.powf((2 * k as i32 - (ENDS as i32 - 1)) as f32) - x;
        unsafe { *values.add(k) = if end > 0.0 { end } else { 0.0 } };
        k += 1;
    }
    let mut left = ENDS - 1;
    while left > 0 {
        let mut k = 0;
        while k < left {
            unsafe { *values.add(k) = falls * *values.add(k) + rises * *values.add(k + 1) };
            k += 1;
        }
        left -= 1;
    }
    unsafe { *values }
}
