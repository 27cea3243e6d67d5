//! SSA construction and its way back, held against walks along random paths: every instruction must see the same
//! operands as in the program with variables.

use std::collections::HashMap;

use warpline_dataflow::ssa::copies::{dissolve_copies, sequentialize};
use warpline_dataflow::ssa::{construct, construct_vars, destruct, remove_dead_phis, remove_trivial_phis};
use warpline_ir::text::{parse_module, print_function};
use warpline_ir::verify::verify;
use warpline_ir::*;
use warpline_testkit::graph_oracles::Dominance;
use warpline_testkit::modules::{FunctionShape, module};
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::walks::{agree, random_path, walk};

fn shape() -> FunctionShape {
    FunctionShape { max_blocks: 9, max_insts: 7, max_vars: 6, accesses: 4, ..FunctionShape::default() }
}

/// Runs `pass` on random functions, and compares the walks before and after; `check` sees both functions.
fn same_walks(
    seeds: std::ops::Range<u64>,
    pass: impl Fn(&mut Function, &mut SplitMix64),
    check: impl Fn(&Function, &Function),
) {
    for seed in seeds {
        let mut rng = SplitMix64::new(seed);
        let m = module(&mut rng, &shape());
        for before in m.functions.values() {
            let mut after = before.clone();
            pass(&mut after, &mut rng);
            let shown =
                || format!("seed {seed}\n{}\n{}", print_function(&m, before), print_function(&m, &after));
            if let Err(e) = verify(&m, &after) {
                panic!("{e}\n{}", shown());
            }
            for _ in 0..6 {
                let path = random_path(before, &mut rng);
                let known = before.insts.len();
                let (a, b) = (
                    walk(before, &path, known, before.blocks.len()),
                    walk(&after, &path, known, before.blocks.len()),
                );
                assert!(agree(&a, &b, false), "path {path:?}, {a:?} became {b:?}, {}", shown());
            }
            check(before, &after);
        }
    }
}

fn count(func: &Function, pred: impl Fn(&Op) -> bool) -> usize {
    let all = func.layout.iter().flat_map(|&b| func.block_insts(b));
    all.filter(|&i| pred(&func.insts[i].op)).count()
}

fn is_access(op: &Op) -> bool {
    matches!(op, Op::ReadVar(_) | Op::WriteVar(_))
}

#[test]
fn values_flow_as_they_did_through_variables() {
    same_walks(
        0..300,
        |f, _| {
            construct(f, |_| true);
        },
        |_, after| assert_eq!(count(after, is_access), 0),
    );
}

#[test]
fn variables_that_were_not_chosen_stay() {
    let odd = |x: Var| x.as_u32() % 2 == 1;
    same_walks(
        300..450,
        |f, _| {
            construct(f, odd);
        },
        |before, after| {
            let even = |op: &Op| matches!(*op, Op::ReadVar(x) | Op::WriteVar(x) if !odd(x));
            assert_eq!(count(after, is_access), count(before, even));
        },
    );
}

#[test]
fn simplified_functions_walk_the_same_ways() {
    same_walks(
        450..650,
        |f, rng| {
            construct(f, |_| true);
            if rng.chance(1, 2) {
                remove_trivial_phis(f);
            }
            dissolve_copies(f);
            remove_dead_phis(f);
            remove_trivial_phis(f);
        },
        |_, after| {
            assert_eq!(count(after, |op| *op == Op::ParallelCopy), 0);
            assert_eq!(
                (remove_dead_phis(&mut after.clone()), remove_trivial_phis(&mut after.clone())),
                (0, 0)
            );
        },
    );
}

#[test]
fn phis_become_variables_and_phis_again() {
    same_walks(
        650..850,
        |f, rng| {
            let keep = rng.next_u64();
            let chosen = |_: &Function, p: Inst| keep >> (p.as_u32() % 64) & 1 == 0;
            let phis = count(f, |op| *op == Op::Phi);
            let made = destruct(f, chosen);
            assert_eq!(count(f, |op| *op == Op::Phi) + made.len(), phis);
        },
        |before, after| {
            let mut back = after.clone();
            let vars: Vec<Var> = back.vars.keys().skip(before.vars.len()).collect();
            construct_vars(&mut back, &vars);
            let rest = |f: &Function| count(f, is_access);
            assert_eq!(rest(&back), rest(before));
        },
    );
    same_walks(
        850..1000,
        |f, _| {
            destruct(f, |_, _| true);
            construct(f, |_| true);
        },
        |_, _| {},
    );
}

/// Blocks where `x` is live at the beginning, by definition: a path leads to a read without a write before it.
fn live_blocks(func: &Function, x: Var) -> Vec<usize> {
    let first = |b: Block| {
        let mut accesses = func.blocks[b].insts.iter().filter_map(|&i| match func.insts[i].op {
            Op::ReadVar(y) if y == x => Some(true),
            Op::WriteVar(y) if y == x => Some(false),
            _ => None,
        });
        accesses.next()
    };
    let reads = |start: Block| {
        let mut seen = vec![start];
        let mut k = 0;
        while k < seen.len() {
            let b = seen[k];
            k += 1;
            match first(b) {
                Some(true) => return true,
                Some(false) => {}
                None => {
                    for s in func.successors(b) {
                        if !seen.contains(&s) {
                            seen.push(s);
                        }
                    }
                }
            }
        }
        false
    };
    func.layout.iter().filter(|&&b| reads(b)).map(|b| b.as_u32() as usize).collect()
}

#[test]
fn phis_are_placed_exactly_where_definitions_meet_and_the_variable_is_live() {
    let mut total = 0;
    for seed in 1000..1200 {
        let m = module(&mut SplitMix64::new(seed), &shape());
        for before in m.functions.values() {
            let (graph, _) = before.graph();
            let dominance = Dominance::of(&graph);
            let mut wanted = 0;
            for x in before.vars.keys() {
                let writes: Vec<usize> = before
                    .layout
                    .iter()
                    .filter(|&&b| {
                        let mut insts = before.blocks[b].insts.iter();
                        insts.any(|&i| before.insts[i].op == Op::WriteVar(x))
                    })
                    .map(|b| b.as_u32() as usize)
                    .filter(|&b| dominance.is_reachable(b))
                    .collect();
                let live = live_blocks(before, x);
                // Pruning: a block where the variable is dead gets no φ and so defines nothing.
                let mut defs = writes.clone();
                loop {
                    let joins = defs.iter().flat_map(|&d| dominance.frontier(&graph, d));
                    let new: Vec<usize> = joins.filter(|j| live.contains(j) && !defs.contains(j)).collect();
                    if new.is_empty() {
                        break;
                    }
                    defs.extend(new);
                    defs.sort_unstable();
                    defs.dedup();
                }
                let frontier: Vec<usize> = defs.iter().flat_map(|&d| dominance.frontier(&graph, d)).collect();
                wanted += live.iter().filter(|b| frontier.contains(b)).count();
            }
            let mut after = before.clone();
            let phis = construct(&mut after, |_| true).stats.phis;
            assert_eq!(phis, wanted, "seed {seed}\n{}", print_function(&m, before));
            total += phis;
        }
    }
    assert!(total > 300, "only {total} phis were placed");
}

#[test]
fn a_construction_says_what_became_of_reads() {
    let text =
        "func @f(%a: i32) -> i32 {\n  var $x: i32\nb0:\n  write $x, %a\n  %r: i32 = read $x\n  ret %r\n}\n";
    let m = parse_module(text).expect("well-formed");
    let mut f = m.functions[FuncId::from_u32(0)].clone();
    let read = f.insts[f.terminator(f.entry())].args[0];
    let done = construct(&mut f, |_| true);
    assert_eq!(done.value_of(read), Some(f.params[0]));
    assert_eq!(done.value_of(f.params[0]), None);
}

/// A chain of branches with one arm; each writes a variable before and in the arm and reads it behind.
#[test]
fn long_functions_with_many_variables_take_neither_stack_nor_square_time() {
    let (count, vars) = (30_000, 10_000);
    let mut f = Function::new("long", Type::Void);
    let c = f.add_param(Type::BOOL, "c");
    let xs: Vec<Var> = (0..vars).map(|_| f.add_var(Type::Int(32), "")).collect();
    let entry = f.add_block("entry");
    let mut head = entry;
    for i in 0..count {
        let (arm, join) = (f.add_block(""), f.add_block(""));
        let x = xs[i % vars];
        for (b, value) in [(head, 1), (arm, 2)] {
            let v = f.int_const(32, value);
            f.append(b, Op::WriteVar(x), &[v], Type::Void);
        }
        f.set_terminator(head, Op::CondBr, &[c], &[arm, join]);
        f.set_terminator(arm, Op::Br, &[], &[join]);
        let v = f.append_value(join, Op::ReadVar(x), &[], Type::Int(32));
        f.append_value(join, Op::Freeze, &[v], Type::Int(32));
        head = join;
    }
    f.set_terminator(head, Op::Ret, &[], &[]);
    let stats = construct(&mut f, |_| true).stats;
    assert_eq!((stats.reads, stats.writes, stats.phis), (count, 2 * count, count));
    assert_eq!((remove_trivial_phis(&mut f), remove_dead_phis(&mut f)), (0, 0));
    assert_eq!(verify(&Module::new(""), &f).map_err(|e| e.errors), Ok(()));
}

#[test]
fn sequences_do_what_parallel_assignments_do() {
    let mut spares = 0;
    for seed in 0..20_000 {
        let mut rng = SplitMix64::new(seed);
        let places = rng.between(1, 7);
        let mut to: Vec<usize> = (0..places).collect();
        rng.shuffle(&mut to);
        to.truncate(rng.between(0, places));
        let moves: Vec<(usize, usize)> = to.iter().map(|&t| (t, rng.below(places))).collect();
        let mut next_spare = 100;
        let sequence = sequentialize(&moves, |_| {
            next_spare += 1;
            next_spare
        });
        let mut state: HashMap<usize, usize> = (0..places).map(|p| (p, p)).collect();
        for &(to, from) in &sequence {
            let value = state[&from];
            state.insert(to, value);
        }
        for p in 0..places {
            let wanted = moves.iter().find(|m| m.0 == p).map_or(p, |m| m.1);
            assert_eq!(state[&p], wanted, "seed {seed}: {moves:?} became {sequence:?}");
        }
        let used = next_spare - 100;
        let real = moves.iter().filter(|m| m.0 != m.1).count();
        assert_eq!(sequence.len(), real + used, "seed {seed}: {moves:?} became {sequence:?}");
        spares += used;
    }
    assert!(spares > 1000, "cycles are rare: {spares}");
}

#[test]
fn a_swap_needs_a_spare_and_a_copied_cycle_does_not() {
    assert_eq!(sequentialize(&[('a', 'b'), ('b', 'a')], |_| 't'), [('t', 'a'), ('a', 'b'), ('b', 't')]);
    let copied = sequentialize(&[('a', 'b'), ('b', 'a'), ('c', 'a')], |_| unreachable!("c holds the value"));
    assert_eq!(copied, [('c', 'a'), ('a', 'b'), ('b', 'c')]);
    assert_eq!(sequentialize(&[('b', 'a'), ('c', 'b')], |_| 't'), [('c', 'b'), ('b', 'a')]);
}
