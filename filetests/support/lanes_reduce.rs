//@ group Lane operations
//@ construct `warpline_reduce_add_T` and `mul`, `min`, `max`, `and`, `or`, `xor`
//@ happens once, over active lanes; floating-point sums in the order of lanes
//@ args index, varying:4=small, varying:4=random
//@ range 0..50
//@ result 4
//@ contains llvm.vector.reduce.fadd
//@ lockstep
#![crate_type = "lib"]
use warpline_lanes::*;

#[unsafe(no_mangle)]
pub extern "C" fn kernel(i: u32, x: i32, y: i32) -> f32 {
    let mut sum = warpline_reduce_add(y as f32) + warpline_reduce_max(i as f32 * 0.1);
    if x > 2 {
        sum *= warpline_reduce_min(x) as f32 + warpline_reduce_mul((i % 3) as u8) as f32;
        sum += (warpline_reduce_min(y as u16) ^ warpline_reduce_xor(y as u16)) as f32;
        sum += (warpline_reduce_and(y as i64) | warpline_reduce_or(i64::from(x))) as f32;
    }
    sum
}
