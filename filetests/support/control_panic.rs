//@ group Control flow
//@ construct panics in Rust: bounds checks, overflow, `unwrap`
//@ happens a branch asks whether any lane panics; the first one does
//@ args index, buffer:256=small, uniform=64, buffer:256=zero
//@ range 0..50
#![crate_type = "lib"]

/// # Safety
/// `n` numbers can be read at `a` and written at `out`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kernel(i: u32, a: *const u32, n: usize, out: *mut u32) {
    let (a, out) = unsafe { (std::slice::from_raw_parts(a, n), std::slice::from_raw_parts_mut(out, n)) };
    let mut at = a[i as usize] as usize;
    let mut steps = 0u32;
    while a[at] > 2 {
        at = (at + a[at] as usize) % n;
        steps = steps.checked_add(1).unwrap();
    }
    out[i as usize] = steps;
}
