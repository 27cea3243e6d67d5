//! The judge of linearization on the graphs of whole kernels: it accepts what the vectorizer makes and notices what
//! is wrong.

use warpline_analysis::Node;
use warpline_testkit::differential::{Form, shape_of};
use warpline_testkit::programs::{ProgramOptions, generate};
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::theorems::check_theorems;
use warpline_vectorize::linearize::{Linearization, NewBranch};
use warpline_vectorize::{self as vectorize, Contract, Options};

/// What is linearized in the random kernel of a seed; nothing if the kernel is refused.
fn linearization(seed: u64) -> Option<Linearization> {
    let mut rng = SplitMix64::new(seed);
    let program = generate(seed, &ProgramOptions::random(&mut rng));
    let form = Form::random(&mut rng);
    let shapes = program.roles.iter().map(shape_of).collect();
    let options = Options {
        linearize: form.linearize,
        boscc: form.boscc,
        coherence: form.coherence,
        contract: Contract::Racy,
        ..Options::new(4, shapes, "kernel_x4")
    };
    let made = vectorize::linearize_kernel(&program.module, program.function(), &options).ok()?;
    Some(made.program.linearization)
}

/// Nodes whose branch stays and still has two different targets, and from which control returns.
fn kept_branches(made: &Linearization) -> Vec<usize> {
    let branches = |t: &[Node]| t.iter().any(|x| Some(x) != t.first() && !made.dead_ends[x.index()]);
    let kept = made.result.branches.iter().enumerate().filter_map(|(b, new)| match new {
        NewBranch::Kept(t) if !made.dead_ends[b] && !made.dead_ends[t.first()?.index()] => {
            branches(t).then_some(b)
        }
        _ => None,
    });
    kept.collect()
}

#[test]
fn a_uniform_branch_that_is_folded_is_noticed() {
    let mut tried = 0;
    for seed in 0..150 {
        let Some(mut made) = linearization(seed) else { continue };
        let Some(&b) = kept_branches(&made).first() else { continue };
        if check_theorems(&made).unwrap_or_else(|e| panic!("seed {seed}: {e}")).is_none() {
            continue;
        }
        let target = made.result.targets(Node::new(b))[0];
        made.result.branches[b] = NewBranch::Folded(target);
        assert!(check_theorems(&made).is_err(), "seed {seed}: the branch of {b}");
        tried += 1;
    }
    assert!(tried > 30, "{tried}");
}

#[test]
fn an_edge_that_leads_to_another_block_is_noticed() {
    let (mut tried, mut noticed) = (0, 0);
    for seed in 0..300 {
        let mut rng = SplitMix64::new(seed);
        let Some(mut made) = linearization(seed) else { continue };
        if !matches!(check_theorems(&made), Ok(Some(_))) {
            continue;
        }
        let live: Vec<usize> = (0..made.dead_ends.len())
            .filter(|&b| !made.dead_ends[b] && !made.result.targets(Node::new(b)).is_empty())
            .collect();
        let (b, other) = (*rng.pick(&live), Node::new(*rng.pick(&live)));
        let target = match &mut made.result.branches[b] {
            NewBranch::Folded(t) => t,
            NewBranch::Kept(t) => &mut t[0],
        };
        if *target == other {
            continue;
        }
        *target = other;
        tried += 1;
        noticed += usize::from(check_theorems(&made).is_err());
    }
    println!("{noticed} of {tried} are noticed");
    // Some edges only make lanes wait for blocks that nobody needs.
    assert!(tried > 100 && noticed * 10 > tried * 9, "{noticed} of {tried}");
}

#[test]
fn a_branch_that_lets_lanes_leave_a_loop_apart_is_noticed() {
    let mut tried = 0;
    for seed in 0..300 {
        let Some(mut made) = linearization(seed) else { continue };
        if !matches!(check_theorems(&made), Ok(Some(_))) {
            continue;
        }
        // The branches of latches that stay decide for all lanes whether the loop goes on.
        let closes = |b: &usize| made.result.targets(Node::new(*b)).iter().any(|t| t.index() < *b);
        let Some(b) = kept_branches(&made).into_iter().rfind(closes) else { continue };
        made.divergent[b] = true;
        assert!(check_theorems(&made).is_err(), "seed {seed}: the branch of {b}");
        tried += 1;
    }
    assert!(tried > 5, "{tried}");
}
