//@ group Loops as the unit
//@ construct `position`, `any`, `all` and `find` of iterators over slices
//@ happens lanes look whether any of them leaves; the slice says what is there
//@ args buffer:404=random, uniform=101
//@ range 0..1
//@ result 8
//@ loop
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kernel(s: *const u32, n: usize) -> usize {
    let s = unsafe { std::slice::from_raw_parts(s, n) };
    s.iter().position(|&x| x == 7).unwrap_or(n)
}
