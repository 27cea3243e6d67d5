//@ group Loops as the unit
//@ construct loops over Rust's iterators (`zip`, `enumerate`), bounds checks
//@ happens vector code
//@ args buffer:404=random, buffer:404=zero, uniform=101
//@ range 0..1
//@ result 4
//@ loop
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kernel(a: *const i32, out: *mut i32, n: usize) -> i32 {
    let (a, out) = unsafe { (std::slice::from_raw_parts(a, n), std::slice::from_raw_parts_mut(out, n)) };
    let mut sum = 0i32;
    for (i, (x, to)) in a.iter().zip(out).enumerate() {
        *to = x ^ a[n - 1 - i];
        sum = sum.wrapping_add(*x);
    }
    sum
}
