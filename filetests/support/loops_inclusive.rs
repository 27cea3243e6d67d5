//@ group Loops as the unit
//@ construct Rust's ranges that include their end, `0..=n`, also in reverse
//@ happens counted; up to the greatest number that there is, too
//@ args buffer:404=random, uniform=100
//@ range 0..1
//@ loop
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kernel(a: *mut u32, n: usize) {
    for i in 0..=n {
        let p = unsafe { &mut *a.add(i) };
        *p = p.wrapping_mul(3) ^ i as u32;
    }
}
