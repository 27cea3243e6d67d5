//@ group Memory
//@ construct structs and tuples of Rust in slices, `Option`
//@ happens vector code: members are strided or gathered, parts of a value become vectors of their own
//@ args index, buffer:512=small, uniform=64, buffer:512=zero, uniform=64
//@ range 0..50
#![crate_type = "lib"]

pub struct Pair {
    low: u32,
    high: u32,
}

#[unsafe(no_mangle)]
pub fn kernel(i: u32, all: &[Pair], out: &mut [(u32, u32)]) {
    let own = &all[i as usize];
    let found = all.iter().find(|pair| pair.low <= own.low && own.low < pair.high);
    out[i as usize] = found.map_or((i, 0), |pair| (pair.low, pair.high));
}
