//! Prices of European calls by the formula of Black and Scholes, one option per lane.
//!
//! Shows: mathematics without divergent loops. `exp` and `ln` are written out as vector instructions; the sign of the
//! argument of the normal distribution is all that lanes differ in. The distribution is the polynomial 26.2.17 of
//! Abramowitz and Stegun: Handbook of Mathematical Functions, whose error is below 7.5e-8.

//@ args i=index
//@ tolerance rel=1e-4, abs=1e-3

/// The standard normal distribution function.
fn normal(x: f32) -> f32 {
    let distance = x.abs();
    let k = 1.0 / (1.0 + 0.231_641_9 * distance);
    let series =
        k * (0.319_381_53 + k * (-0.356_563_78 + k * (1.781_477_9 + k * (-1.821_255_9 + k * 1.330_274_5))));
    let above = 0.398_942_3 * (-0.5 * distance * distance).exp() * series;
    if x < 0.0 { above } else { 1.0 - above }
}

/// The price of call option `i`: of the stock at `price[i]` now, to be bought for `strike[i]` in `years[i]`, with the
/// interest `rate[i]` and the standard deviation `volatility[i]`, both per year.
///
/// # Safety
/// `i` is an index of every array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn black_scholes(
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
    let spread = v * t.sqrt();
    let d1 = ((s / x).ln() + (r + 0.5 * v * v) * t) / spread;
    let d2 = d1 - spread;
    s * normal(d1) - x * (-r * t).exp() * normal(d2)
}
