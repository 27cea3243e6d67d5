//@ group Calls
//@ construct functions that call themselves
//@ happens vectorized; goes on for the lanes that do
//@ args index, varying:4=small
//@ range 0..50
//@ result 4
#![crate_type = "lib"]

#[inline(never)]
fn ackermann(m: u32, n: u32) -> u32 {
    match (m, n) {
        (0, n) => n.wrapping_add(1),
        (m, 0) => ackermann(m - 1, 1),
        (m, n) => {
            let inner = ackermann(m, n - 1);
            ackermann(m - 1, inner)
        }
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn kernel(i: u32, x: u32) -> u32 {
    ackermann(i & 1, x & 3)
}
