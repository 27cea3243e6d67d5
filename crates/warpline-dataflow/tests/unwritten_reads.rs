//! The report of reads of variables that may not have been written, held against searches for paths.

use warpline_dataflow::ssa::{UnwrittenRead, unwritten_reads};
use warpline_ir::text::{parse_module, print_function};
use warpline_ir::*;
use warpline_testkit::modules::{FunctionShape, module};
use warpline_testkit::rng::SplitMix64;

fn writes(func: &Function, b: Block, x: Var) -> bool {
    func.blocks[b].insts.iter().any(|&i| func.insts[i].op == Op::WriteVar(x))
}

/// Blocks to whose beginning control can come from the beginning of one of `starts`, through blocks for which
/// `through` holds.
fn reached(func: &Function, starts: Vec<Block>, through: impl Fn(Block) -> bool) -> Vec<Block> {
    let mut seen = starts;
    let mut k = 0;
    while k < seen.len() {
        let b = seen[k];
        k += 1;
        if through(b) {
            for s in func.successors(b) {
                if !seen.contains(&s) {
                    seen.push(s);
                }
            }
        }
    }
    seen
}

/// The report by definition: one search for paths per read.
fn by_paths(func: &Function) -> Vec<UnwrittenRead> {
    let alive = reached(func, vec![func.entry()], |_| true);
    let mut found = Vec::new();
    for &b in &func.layout {
        for (k, &inst) in func.blocks[b].insts.iter().enumerate() {
            let Op::ReadVar(var) = func.insts[inst].op else { continue };
            let before = &func.blocks[b].insts[..k];
            if before.iter().any(|&i| func.insts[i].op == Op::WriteVar(var)) {
                continue;
            }
            if !reached(func, vec![func.entry()], |b| !writes(func, b, var)).contains(&b) {
                continue;
            }
            let behind_writes =
                alive.iter().filter(|&&w| writes(func, w, var)).flat_map(|&w| func.successors(w)).collect();
            let certain = !reached(func, behind_writes, |_| true).contains(&b);
            found.push(UnwrittenRead { inst, var, certain });
        }
    }
    found
}

fn is_witness(func: &Function, read: &UnwrittenRead, path: &[Block]) -> bool {
    let steps = path.windows(2).all(|s| func.successors(s[0]).any(|b| b == s[1]));
    let ends = path.first() == Some(&func.entry()) && path.last() == Some(&func.insts[read.inst].block);
    steps && ends && path[..path.len() - 1].iter().all(|&b| !writes(func, b, read.var))
}

#[test]
fn the_report_is_what_a_search_for_paths_finds() {
    let count = std::env::var("WARPLINE_PROGRAMS").ok().and_then(|s| s.parse().ok()).unwrap_or(600);
    let first = std::env::var("WARPLINE_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    let shape =
        FunctionShape { max_blocks: 10, max_insts: 4, max_vars: 4, accesses: 4, ..FunctionShape::default() };
    let (mut certain, mut maybe, mut written) = (0, 0, 0);
    for seed in first..first + count {
        let m = module(&mut SplitMix64::new(seed), &shape);
        for func in m.functions.values() {
            let found = unwritten_reads(func);
            assert_eq!(found, by_paths(func), "seed {seed}\n{}", print_function(&m, func));
            for read in &found {
                let path = read.path(func);
                assert!(
                    is_witness(func, read, &path),
                    "seed {seed}: {read:?}, {path:?}\n{}",
                    print_function(&m, func)
                );
            }
            let reads = func.layout.iter().flat_map(|&b| &func.blocks[b].insts);
            let all = reads.filter(|&&i| matches!(func.insts[i].op, Op::ReadVar(_))).count();
            certain += found.iter().filter(|r| r.certain).count();
            maybe += found.iter().filter(|r| !r.certain).count();
            written += all - found.len();
        }
    }
    assert!(
        certain.min(maybe).min(written) as u64 > count / 8,
        "{certain} certain, {maybe} maybe, {written} written"
    );
}

#[test]
fn a_loop_may_write_what_its_first_round_reads() {
    let text = "func @f(%c: i1) -> i32 {
  var $x: i32
  var $y: i32
entry:
  %a: i32 = read $y
  br loop
loop:
  %b: i32 = read $x
  write $x, 1
  %d: i32 = read $x
  br %c, loop, out
out:
  %e: i32 = read $x
  ret %e
lost:
  %g: i32 = read $y
  br out
}
";
    let m = parse_module(text).expect("well-formed");
    let func = &m.functions[FuncId::from_u32(0)];
    let named: Vec<(&str, bool)> = unwritten_reads(func)
        .iter()
        .map(|r| (&*func.values[func.insts[r.inst].results[0]].name, r.certain))
        .collect();
    assert_eq!(
        named,
        [("a", true), ("b", false)],
        "not %d and %e, which a write precedes, nor %g, which never runs"
    );
}
