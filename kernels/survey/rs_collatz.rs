//! How many steps numbers take to reach 1.
// survey: let N = 800; range N; start u64[N] in 1..10000; steps u32[N]

//@ args i=index

/// Counts the steps of number `i`.
///
/// # Safety
/// `i` is an index of both arrays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rs_collatz(i: usize, start: *const u64, steps: *mut u32) {
    let mut x = unsafe { *start.add(i) };
    let mut count = 0;
    while x > 1 {
        x = if x % 2 == 0 { x / 2 } else { 3 * x + 1 };
        count += 1;
    }
    unsafe { *steps.add(i) = count };
}
