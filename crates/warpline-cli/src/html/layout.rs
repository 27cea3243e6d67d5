//! A layered drawing of a control-flow graph: simple, and the same every time.
//!
//! Edges that close a cycle are turned round; each block is put one layer below the lowest of its predecessors; edges
//! over several layers pass through invisible blocks; blocks are ordered in their layers by the middle of their
//! neighbours (the barycentre heuristic of Sugiyama et al.) and then moved towards it as far as there is room. Edges
//! that were turned round run in lanes of their own at the right of everything.

/// What is drawn: blocks by number with their widths, and edges.
pub(super) struct Diagram {
    /// The width of each block. The first block is where control enters.
    pub widths: Vec<f64>,
    /// From block to block.
    pub edges: Vec<(usize, usize)>,
}

/// A drawing. Lengths are in pixels, from the left upper corner.
pub(super) struct Drawing {
    /// The left upper corner of each block.
    pub corners: Vec<(f64, f64)>,
    /// The corners of the line of each edge, and whether the edge goes back up.
    pub lines: Vec<(Vec<(f64, f64)>, bool)>,
    /// The size of all.
    pub size: (f64, f64),
}

/// The height of a block.
pub(super) const HEIGHT: f64 = 38.0;
const LAYER: f64 = 86.0;
const GAP: f64 = 26.0;
const LANE: f64 = 14.0;
const MARGIN: f64 = 16.0;
const SWEEPS: usize = 12;

impl Diagram {
    /// Draws the graph.
    pub(super) fn draw(&self) -> Drawing {
        let back = self.back_edges();
        let layers = self.layers(&back);
        let mut net = Net::new(self, &back, &layers);
        net.order();
        net.place();
        let left = net.x.iter().zip(&net.widths).map(|(x, w)| x - w / 2.0).fold(f64::INFINITY, f64::min);
        let right = net.x.iter().zip(&net.widths).map(|(x, w)| x + w / 2.0).fold(f64::NEG_INFINITY, f64::max);
        // Without any block there is nothing to shift.
        let (left, right) = if left <= right { (left, right) } else { (0.0, 0.0) };
        let shift = MARGIN - left;
        let y = |node: usize| MARGIN + net.layer[node] as f64 * LAYER;
        let x = |node: usize| net.x[node] + shift;
        let corners = (0..self.widths.len()).map(|b| (x(b) - self.widths[b] / 2.0, y(b))).collect();
        let mut lanes = 0;
        let mut lines = Vec::new();
        for (e, &(from, to)) in self.edges.iter().enumerate() {
            if back[e] {
                lanes += 1;
                let lane = right + shift + GAP + f64::from(lanes) * LANE;
                let (out, inn) = (x(from) + self.widths[from] / 4.0, x(to) + self.widths[to] / 4.0);
                let (low, high) = (y(from) + HEIGHT + 14.0, y(to) - 14.0);
                lines.push((
                    vec![
                        (out, y(from) + HEIGHT),
                        (out, low),
                        (lane, low),
                        (lane, high),
                        (inn, high),
                        (inn, y(to)),
                    ],
                    true,
                ));
                continue;
            }
            let mut line = vec![(x(from), y(from) + HEIGHT)];
            for &n in &net.chains[e] {
                line.extend([(x(n), y(n)), (x(n), y(n) + HEIGHT)]);
            }
            line.push((x(to), y(to)));
            lines.push((line, false));
        }
        let depth = net.layer.iter().max().map_or(0, |&l| l + 1);
        let width = right + shift + GAP + f64::from(lanes + 1) * LANE + MARGIN;
        Drawing { corners, lines, size: (width, 2.0 * MARGIN + depth as f64 * LAYER) }
    }

    /// The edges that close a cycle on a depth-first walk.
    fn back_edges(&self) -> Vec<bool> {
        let n = self.widths.len();
        let mut out: Vec<Vec<usize>> = vec![Vec::new(); n];
        self.edges.iter().enumerate().for_each(|(e, &(from, _))| out[from].push(e));
        let mut back = vec![false; self.edges.len()];
        let mut state = vec![0u8; n];
        for root in 0..n {
            if state[root] != 0 {
                continue;
            }
            state[root] = 1;
            let mut stack = vec![(root, 0)];
            while let Some(&mut (at, ref mut next)) = stack.last_mut() {
                let Some(&e) = out[at].get(*next) else {
                    state[at] = 2;
                    stack.pop();
                    continue;
                };
                *next += 1;
                let to = self.edges[e].1;
                match state[to] {
                    0 => {
                        state[to] = 1;
                        stack.push((to, 0));
                    }
                    1 => back[e] = true,
                    _ => {}
                }
            }
        }
        back
    }

    /// The layer of each block: the length of the longest way to it along the other edges.
    fn layers(&self, back: &[bool]) -> Vec<usize> {
        let mut layers = vec![0; self.widths.len()];
        let mut missing = vec![0; self.widths.len()];
        let forward = |from: usize| self.edges.iter().zip(back).filter(move |&(&(f, _), &b)| f == from && !b);
        self.edges.iter().zip(back).filter(|(_, b)| !**b).for_each(|(&(_, to), _)| missing[to] += 1);
        let mut ready: Vec<usize> = (0..missing.len()).filter(|&b| missing[b] == 0).collect();
        while let Some(at) = ready.pop() {
            for (&(_, to), _) in forward(at) {
                layers[to] = layers[to].max(layers[at] + 1);
                missing[to] -= 1;
                if missing[to] == 0 {
                    ready.push(to);
                }
            }
        }
        layers
    }
}

/// The graph with the invisible blocks that long edges pass through.
struct Net {
    widths: Vec<f64>,
    layer: Vec<usize>,
    x: Vec<f64>,
    /// The blocks of each layer, from the left.
    rows: Vec<Vec<usize>>,
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
    /// The invisible blocks of each edge.
    chains: Vec<Vec<usize>>,
}

impl Net {
    fn new(diagram: &Diagram, back: &[bool], layers: &[usize]) -> Net {
        let n = diagram.widths.len();
        let mut net = Net {
            widths: diagram.widths.clone(),
            layer: layers.to_vec(),
            x: Vec::new(),
            rows: Vec::new(),
            above: vec![Vec::new(); n],
            below: vec![Vec::new(); n],
            chains: vec![Vec::new(); diagram.edges.len()],
        };
        for (e, &(from, to)) in diagram.edges.iter().enumerate() {
            if back[e] {
                continue;
            }
            let mut last = from;
            for layer in net.layer[from] + 1..net.layer[to] {
                let dummy = net.widths.len();
                net.widths.push(4.0);
                net.layer.push(layer);
                net.above.push(vec![last]);
                net.below.push(Vec::new());
                net.below[last].push(dummy);
                net.chains[e].push(dummy);
                last = dummy;
            }
            net.below[last].push(to);
            net.above[to].push(last);
        }
        let depth = net.layer.iter().max().map_or(0, |&l| l + 1);
        net.rows = vec![Vec::new(); depth];
        for node in 0..net.widths.len() {
            net.rows[net.layer[node]].push(node);
        }
        net.x = vec![0.0; net.widths.len()];
        net
    }

    /// Orders the rows by the middle of their neighbours, downwards and upwards in turn.
    fn order(&mut self) {
        let mut position = vec![0.0; self.widths.len()];
        let note = |row: &[usize], position: &mut [f64]| {
            row.iter().enumerate().for_each(|(i, &n)| position[n] = i as f64);
        };
        self.rows.iter().for_each(|row| note(row, &mut position));
        for sweep in 0..SWEEPS {
            let down = sweep % 2 == 0;
            for i in 0..self.rows.len() {
                let r = if down { i } else { self.rows.len() - 1 - i };
                let mut row = std::mem::take(&mut self.rows[r]);
                let key = |n: usize| {
                    let neighbours = if down { &self.above[n] } else { &self.below[n] };
                    middle(neighbours, &position).unwrap_or(position[n])
                };
                row.sort_by(|&a, &b| key(a).total_cmp(&key(b)));
                note(&row, &mut position);
                self.rows[r] = row;
            }
        }
    }

    /// Gives every block its place in its row: side by side, then towards its neighbours as far as there is room.
    fn place(&mut self) {
        for row in &self.rows {
            let mut x = 0.0;
            for &n in row {
                self.x[n] = x + self.widths[n] / 2.0;
                x += self.widths[n] + GAP;
            }
            let middle = (x - GAP) / 2.0;
            row.iter().for_each(|&n| self.x[n] -= middle);
        }
        for sweep in 0..2 * SWEEPS {
            let down = sweep % 2 == 0;
            for i in 0..self.rows.len() {
                let r = if down { i } else { self.rows.len() - 1 - i };
                let row = self.rows[r].clone();
                let wish = |net: &Net, n: usize| {
                    let neighbours = if down { &net.above[n] } else { &net.below[n] };
                    middle(neighbours, &net.x).unwrap_or(net.x[n])
                };
                let wishes: Vec<f64> = row.iter().map(|&n| wish(self, n)).collect();
                // From the left, then from the right; the mean of both keeps the distances.
                let distance = |a: usize, b: usize| (self.widths[a] + self.widths[b]) / 2.0 + GAP;
                let (mut lefts, mut rights) = (wishes.clone(), wishes);
                for k in 1..row.len() {
                    lefts[k] = lefts[k].max(lefts[k - 1] + distance(row[k - 1], row[k]));
                }
                for k in (0..row.len().saturating_sub(1)).rev() {
                    rights[k] = rights[k].min(rights[k + 1] - distance(row[k], row[k + 1]));
                }
                for (k, &n) in row.iter().enumerate() {
                    self.x[n] = f64::midpoint(lefts[k], rights[k]);
                }
            }
        }
    }
}

/// The middle of the neighbours' places.
fn middle(neighbours: &[usize], place: &[f64]) -> Option<f64> {
    let sum: f64 = neighbours.iter().map(|&n| place[n]).sum();
    (!neighbours.is_empty()).then(|| sum / neighbours.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawing(blocks: usize, edges: &[(usize, usize)]) -> Drawing {
        Diagram { widths: vec![80.0; blocks], edges: edges.to_vec() }.draw()
    }

    #[test]
    fn blocks_do_not_overlap_and_edges_end_at_them() {
        let edges = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 0), (0, 4), (1, 4), (3, 4), (4, 4)];
        let d = drawing(5, &edges);
        for a in 0..5 {
            for b in a + 1..5 {
                let ((ax, ay), (bx, by)) = (d.corners[a], d.corners[b]);
                assert!((ax - bx).abs() >= 80.0 || (ay - by).abs() >= HEIGHT, "{a} and {b}");
            }
        }
        for (&(from, to), (line, back)) in edges.iter().zip(&d.lines) {
            let (start, end) = (line[0], line[line.len() - 1]);
            assert_eq!((start.1, end.1), (d.corners[from].1 + HEIGHT, d.corners[to].1));
            let on = |x: f64, b: usize| (d.corners[b].0..=d.corners[b].0 + 80.0).contains(&x);
            assert!(on(start.0, from) && on(end.0, to));
            assert_eq!(*back, d.corners[to].1 <= d.corners[from].1);
        }
        let inside = |&(x, y): &(f64, f64)| x >= 0.0 && x <= d.size.0 && y >= 0.0 && y <= d.size.1;
        assert!(d.lines.iter().all(|(line, _)| line.iter().all(inside)));
    }

    #[test]
    fn a_drawing_of_hundreds_of_blocks_is_made_at_once_and_always_the_same() {
        let edges: Vec<(usize, usize)> =
            (0..400).flat_map(|i| [(i, i + 1), (i, (i * 7 + 3) % 401)]).collect();
        let (a, b) = (drawing(401, &edges), drawing(401, &edges));
        assert!(a.corners == b.corners && a.lines == b.lines);
        assert_eq!(drawing(0, &[]).corners.len(), 0);
    }
}
