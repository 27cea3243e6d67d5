//! Positions against the definition of *maximal converged-with*, word for word.

use super::super::cycles::{ChildOrder, Nesting, Position, next_random};

fn below(state: &mut u64, bound: usize) -> usize {
    (next_random(state) % bound as u64) as usize
}

/// A random graph in which every node but the last has successors; entry 0 has no predecessor.
fn random_graph(state: &mut u64) -> Vec<Vec<u32>> {
    let n = 3 + below(state, 5);
    let mut g: Vec<Vec<u32>> = vec![Vec::new(); n];
    for successors in g.iter_mut().take(n - 1) {
        for _ in 0..1 + below(state, 3) {
            successors.push(1 + below(state, n - 1) as u32);
        }
    }
    g
}

/// A dynamic instance: thread and place in its sequence.
type Instance = (usize, usize);

/// The least relation that the definition allows: pairs are added as long as the convergence order that follows from
/// those already found justifies them.
fn converged(nesting: &Nesting, threads: &[Vec<u32>]) -> Vec<(Instance, Instance)> {
    let all: Vec<Instance> =
        threads.iter().enumerate().flat_map(|(t, seq)| (0..seq.len()).map(move |k| (t, k))).collect();
    let n = all.len();
    let node = |i: usize| threads[all[i].0][all[i].1];
    let earlier = |i: usize, j: usize| all[i].0 == all[j].0 && all[i].1 < all[j].1;
    let mut together = vec![vec![false; n]; n];
    loop {
        // Convergence-before, by its three rules and transitivity.
        let mut before = vec![vec![false; n]; n];
        for (p, row) in before.iter_mut().enumerate() {
            for (q, b) in row.iter_mut().enumerate() {
                let rule2 = |r: usize| earlier(p, r) && together[r][q];
                let rule3 = |r: usize| together[p][r] && earlier(r, q);
                *b = earlier(p, q) || (0..n).any(|r| rule2(r) || rule3(r));
            }
        }
        for k in 0..n {
            for i in 0..n {
                if before[i][k] {
                    let via = before[k].clone();
                    before[i].iter_mut().zip(via).for_each(|(b, v)| *b |= v);
                }
            }
        }
        for (i, row) in before.iter().enumerate() {
            assert!(!row[i], "convergence-before must be a strict order");
        }
        let headers_precede = |x1: usize, x2: usize| {
            let headers = nesting.headers_around(node(x1));
            (0..n).all(|h| !(earlier(h, x1) && headers.contains(&node(h))) || before[h][x2])
        };
        let mut found = Vec::new();
        for x1 in 0..n {
            for x2 in 0..n {
                let candidates = all[x1].0 != all[x2].0 && node(x1) == node(x2) && !together[x1][x2];
                if candidates && headers_precede(x1, x2) && headers_precede(x2, x1) {
                    found.push((x1, x2));
                }
            }
        }
        if found.is_empty() {
            break;
        }
        for (x1, x2) in found {
            together[x1][x2] = true;
        }
    }
    let pair = |i: usize, j: usize| (i < j && together[i][j]).then(|| (all[i], all[j]));
    (0..n).flat_map(|i| (0..n).filter_map(move |j| pair(i, j))).collect::<Vec<_>>()
}

/// The position of each instance.
fn positions(nesting: &Nesting, threads: &[Vec<u32>]) -> Vec<Vec<Position>> {
    let walk = |seq: &Vec<u32>| {
        let mut at = Position::new();
        let mut from = None;
        let mut list = Vec::new();
        for &b in seq {
            nesting.step(from, b).apply(&mut at);
            assert!(list.last().is_none_or(|p| *p < at), "positions increase along a thread");
            list.push(at.clone());
            from = Some(b);
        }
        list
    };
    threads.iter().map(walk).collect()
}

#[test]
fn instances_are_converged_by_definition_iff_their_positions_are_equal() {
    let (mut pairs, mut irreducible) = (0, 0);
    for seed in 0..700 {
        let mut state = seed;
        let g = random_graph(&mut state);
        let threads: Vec<Vec<u32>> = (0..2 + below(&mut state, 2))
            .map(|_| {
                let mut seq = vec![0];
                while let Some(&b) = seq.last()
                    && !g[b as usize].is_empty()
                    && seq.len() < 12
                {
                    seq.push(g[b as usize][below(&mut state, g[b as usize].len())]);
                }
                seq
            })
            .collect();
        let mut hierarchies = Vec::new();
        for order in [ChildOrder::Forward, ChildOrder::Backward, ChildOrder::Shuffled(seed)] {
            let nesting = Nesting::compute(&g, order, &[]);
            hierarchies.push((0..g.len() as u32).map(|b| nesting.headers_around(b)).collect::<Vec<_>>());
            let expected = converged(&nesting, &threads);
            let at = positions(&nesting, &threads);
            let mut found = Vec::new();
            for t1 in 0..threads.len() {
                for k1 in 0..threads[t1].len() {
                    for t2 in t1 + 1..threads.len() {
                        let same = (0..threads[t2].len()).filter(|&k2| at[t1][k1] == at[t2][k2]);
                        found.extend(same.map(|k2| ((t1, k1), (t2, k2))));
                    }
                }
            }
            assert_eq!(found, expected, "seed {seed} {order:?} {g:?} {threads:?}");
            pairs += found.len();
        }
        irreducible += usize::from(hierarchies[0] != hierarchies[1] || hierarchies[0] != hierarchies[2]);
    }
    assert!(pairs > 5000, "vacuous: {pairs} pairs");
    assert!(irreducible > 50, "vacuous: {irreducible} graphs with several hierarchies");
}
