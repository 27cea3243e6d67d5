//! Binary search for the greatest element that is not above a query, one query per lane (paper: Moll and Hack:
//! Partial Control-Flow Linearization, PLDI 2018, Sec. 7.1, `xs`, the innermost loop of the neutronics proxy
//! XSBench).
//!
//! Shows: a divergent loop with a gather. All lanes halve intervals of the same length, so they leave within an
//! iteration of each other; but each looks at an element of its own. The queries are passed by value, so the gather
//! is the only access to memory.

//@ args _i=index, query=varying

/// The greatest `k` with `sorted[k] <= query`, or 0.
///
/// # Safety
/// `sorted` has `count` elements, at least one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xs(_i: i32, query: f64, sorted: *const f64, count: i32) -> i32 {
    let (mut low, mut high) = (0, count);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if unsafe { *sorted.offset(middle as isize) } > query {
            high = middle;
        } else {
            low = middle;
        }
    }
    low
}
