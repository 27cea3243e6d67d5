//! Disjoint paths by maximum flow, for any directed graph.

/// Whether two paths that have no node in common lead from different nodes of `sources` to `ends.0` and `ends.1`. A
/// path may consist of its source alone. If both ends are one node, the paths have that node in common, and nothing
/// else.
pub fn two_disjoint_paths(
    nodes: usize,
    edges: &[(usize, usize)],
    sources: &[usize],
    ends: (usize, usize),
) -> bool {
    // Node n is entered at 2n and left at 2n + 1; the last two are the super-source and the sink. An arc is (tail,
    // head, capacity left); its reverse is the next or previous one.
    let (start, sink) = (2 * nodes, 2 * nodes + 1);
    let mut arcs: Vec<(usize, usize, u8)> = Vec::new();
    let mut add = |tail, head, capacity| arcs.extend([(tail, head, capacity), (head, tail, 0)]);
    let meeting = |n: usize| ends == (n, n);
    (0..nodes).for_each(|n| add(2 * n, 2 * n + 1, if meeting(n) { 2 } else { 1 }));
    edges.iter().for_each(|&(s, t)| add(2 * s + 1, 2 * t, 1));
    sources.iter().for_each(|&s| add(start, 2 * s, 1));
    if ends.0 == ends.1 {
        add(2 * ends.0 + 1, sink, 2);
    } else {
        [ends.0, ends.1].into_iter().for_each(|end| add(2 * end + 1, sink, 1));
    }
    let mut leaving = vec![Vec::new(); 2 * nodes + 2];
    arcs.iter().enumerate().for_each(|(a, &(tail, _, _))| leaving[tail].push(a));
    (0..2).all(|_| {
        let mut by = vec![None; leaving.len()];
        let mut work = vec![start];
        while let Some(at) = work.pop() {
            for &a in &leaving[at] {
                let (_, head, capacity) = arcs[a];
                if capacity > 0 && by[head].is_none() && head != start {
                    by[head] = Some(a);
                    work.push(head);
                }
            }
        }
        let mut at = sink;
        while let Some(a) = by[at] {
            arcs[a].2 -= 1;
            arcs[a ^ 1].2 += 1;
            at = arcs[a].0;
        }
        at == start
    })
}
