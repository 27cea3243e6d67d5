//! Loads that all ways from a branch make, in random programs: moved in front of it, they load what they did.

use warpline_ir::{Function, Op};
use warpline_testkit::differential::{Form, Outcome, Setup, compare_all, describe_failure};
use warpline_testkit::environment::number;
use warpline_testkit::programs::{Inputs, MemoryMode, ProgramOptions, generate, repeat_loads};
use warpline_testkit::rng::SplitMix64;
use warpline_uniformity::shape::ArgShape;
use warpline_vectorize::{Options, passes::run_named};

fn loads(func: &Function) -> usize {
    let insts = func.layout.iter().flat_map(|&b| &func.blocks[b].insts);
    insts.filter(|&&i| matches!(func.insts[i].op, Op::Load(_))).count()
}

#[test]
fn programs_that_repeat_loads_do_what_lanes_in_lockstep_do_with_loads_moved_in_front_of_branches() {
    let start = number("WARPLINE_SEED", 1);
    let count = number("WARPLINE_PROGRAMS", 400);
    let (mut agreed, mut moved, mut repeated) = (0u64, 0usize, 0usize);
    for seed in start..start + count {
        let mut rng = SplitMix64::new(seed);
        let memory = MemoryMode::Private;
        let options = ProgramOptions { memory, lane_operations: false, ..ProgramOptions::random(&mut rng) };
        let mut program = generate(seed, &options);
        repeated += repeat_loads(&mut program, &mut rng);
        let width = [2, 3, 4, 8][rng.below(4)];
        let setup = Setup { mask: None, form: Form::random(&mut rng), fuel: 300_000 };
        match compare_all(&program, &Inputs::random(&program, width, seed), &setup) {
            Outcome::Agree(_) => {
                agreed += 1;
                let func = program.function();
                let args = program.roles.iter().map(|_| ArgShape::Varying).collect();
                let options = Options::new(width, args, "hoisted");
                let hoisted = run_named(&program.module, func, &["dissolve-copies", "hoist-loads"], &options);
                moved += hoisted.map_or(0, |hoisted| loads(func).saturating_sub(loads(&hoisted)));
            }
            Outcome::Skipped(_) | Outcome::Refused(_) => {}
            Outcome::Differ(why) => panic!("{}", describe_failure(&program, (width, seed), &setup, &why)),
        }
    }
    println!("{agreed} of {count} agree; {repeated} loads repeated, {moved} of them made once");
    assert!(agreed * 3 > count, "too few programs were compared");
    assert!(moved as u64 * 4 > agreed, "too few loads move");
}
