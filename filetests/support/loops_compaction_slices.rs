//@ group Loops as the unit
//@ construct stream compaction of slices, with bounds checks
//@ happens each lane checks the number that it stores at
//@ args buffer:404=random, buffer:404=zero, uniform=101
//@ range 0..1
//@ loop
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kernel(a: *const u32, out: *mut u32, n: usize) {
    let a = unsafe { std::slice::from_raw_parts(a, n) };
    let out = unsafe { std::slice::from_raw_parts_mut(out, n) };
    let mut k = 0;
    for &x in a {
        if x % 3 == 0 {
            out[k] = x;
            k += 1;
        }
    }
}
