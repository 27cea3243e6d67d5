//! Prices of European options by the formula of Black and Scholes, one option per lane.
//!
//! Shows: mathematics. `exp` and `ln` become calls of glibc's vector library, whose errors are at most 4 units in the
//! last place; `--math-ulp 0` keeps the scalar functions, once for each lane. The series of the normal distribution
//! takes more terms for some options than for others: a divergent loop.

//@ args i=index
//@ range 0..32768
//@ bind price=f32[32768]=70..130
//@ bind strike=f32[32768]=70..130
//@ bind years=f32[32768]=0.5..5
//@ bind rate=0.02
//@ bind volatility=0.3
//@ bind call=f32[32768]
//@ bind put=f32[32768]
//@ tolerance rel=1e-5, abs=1e-4

/// 1/3, 1/5, 1/7 …
const INVERSES: [f32; 64] = {
    let mut inverses = [0.0; 64];
    let mut k = 0;
    while k < inverses.len() {
        inverses[k] = 1.0 / (2 * k + 3) as f32;
        k += 1;
    }
    inverses
};

/// The standard normal distribution function, by its Taylor series (Marsaglia: Evaluating the Normal Distribution,
/// 2004).
fn normal(d: f32) -> f32 {
    let d = d.clamp(-6.0, 6.0);
    let square = d * d;
    let (mut sum, mut term) = (d, d);
    for inverse in &INVERSES {
        let before = sum;
        term *= square * inverse;
        sum += term;
        if sum == before {
            break;
        }
    }
    0.5 + sum * (-0.5 * square - 0.918_938_5).exp()
}

/// Writes the prices of option `i`, to buy and to sell, to `call[i]` and `put[i]`.
///
/// # Safety
/// `i` is an index of every array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn black_scholes(
    i: i32,
    price: *const f32,
    strike: *const f32,
    years: *const f32,
    rate: f32,
    volatility: f32,
    call: *mut f32,
    put: *mut f32,
) {
    let i = i as isize;
    let (s, x, t) = unsafe { (*price.offset(i), *strike.offset(i), *years.offset(i)) };
    let spread = volatility * t.sqrt();
    let d1 = ((s / x).ln() + (rate + 0.5 * volatility * volatility) * t) / spread;
    let d2 = d1 - spread;
    let discounted = x * (-rate * t).exp();
    let (n1, n2) = (normal(d1), normal(d2));
    unsafe {
        *call.offset(i) = s * n1 - discounted * n2;
        *put.offset(i) = discounted * (1.0 - n2) - s * (1.0 - n1);
    }
}
