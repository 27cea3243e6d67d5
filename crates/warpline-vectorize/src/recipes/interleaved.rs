//! Networks of byte shuffles that take interleaved elements apart, and put them together.
//!
//! x86 shuffles the bytes of each 16-byte block of a register by one instruction (`pshufb`), takes each byte of a block
//! from one of two registers by another (`pblendvb`), and interleaves halves of blocks (`punpck…`), but moves bytes
//! from block to block slowly or not at all. So the elements of all lanes, which lie side by side as the fields of an
//! array of structures do, are loaded and stored as blocks: of a *factor* F of elements from lane to lane, the lanes of
//! one block of the result have their elements in F consecutive blocks of memory. The *j*-th input has the *j*-th of
//! these in each of its blocks, and then nothing moves between blocks.
//!
//! Of *n* elements in a block:
//!
//! * Where F is odd, the elements of one member lie at different places of the F inputs, since F and *n* have no common
//!   divisor: they are blended, and then brought into order by one shuffle. Storing is the reverse.
//! * Where F is a power of two, members' elements are brought together within each block, as F *chunks*; a
//!   transposition of the F×F chunks by log₂ F stages of interleaving halves does the rest. To store, log₂ F stages of
//!   interleaving elements do all.
//! * Otherwise each input is shuffled for each member, and these are blended.
//!
//! A network is a list of steps; what the asked outputs do not need is not in it. The plan counts its steps, lowering
//! emits them.

/// A shuffle within each block of one or two vectors.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    /// The vectors: inputs come first, then the results of steps.
    pub from: [usize; 2],
    /// Where each element of a block comes from: from the first vector's block, or, counted on, from the second's;
    /// `None`: anything will do.
    pub pick: Box<[Option<u8>]>,
}

/// A list of shuffles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Network {
    /// How many inputs there are.
    pub inputs: usize,
    /// The shuffles in order. The result of the first one is the vector behind the inputs.
    pub steps: Vec<Step>,
    /// The vectors that are the result.
    pub outputs: Vec<usize>,
}

/// What is stored of each lane where nothing is computed between loads and stores.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Copied {
    /// What lies so many elements behind the first that is loaded for the lane.
    Loaded(usize),
    /// An element of this further input, which is the same for all lanes.
    Same(usize),
}

/// From where an element is taken: a vector and a place in its block.
pub(super) type Source = Option<(usize, u8)>;

impl Network {
    pub(super) fn new(inputs: usize) -> Network {
        Network { inputs, steps: Vec::new(), outputs: Vec::new() }
    }

    /// Takes elements apart: of `factor` inputs with `n` elements in a block, the *m*-th output has those that lie
    /// `offsets[m]` behind the beginning of their lane's. Offsets are less than the factor.
    pub(crate) fn apart(factor: usize, n: usize, offsets: &[usize]) -> Network {
        let mut network = Network::new(factor);
        if factor.is_power_of_two() && factor <= n {
            let chunk = n / factor;
            let grouped = |p: usize| Some((p % chunk * factor + p / chunk) as u8);
            let grouped: Box<[Option<u8>]> = (0..n).map(grouped).collect();
            let inputs = (0..factor).map(|j| network.shuffled(j, &grouped)).collect();
            let parts = network.transposed(inputs, n, chunk);
            network.outputs = offsets.iter().map(|&offset| parts[offset]).collect();
        } else {
            for &offset in offsets {
                let place = |lane: usize| lane * factor + offset;
                let wanted: Vec<Source> =
                    (0..n).map(|lane| Some((place(lane) / n, (place(lane) % n) as u8))).collect();
                let output = if factor % 2 == 1 {
                    // Elements stay at their places while they are blended.
                    let mut blended = vec![None; n];
                    for &(j, at) in wanted.iter().flatten() {
                        blended[usize::from(at)] = Some((j, at));
                    }
                    let blended = network.blended(&blended);
                    let order: Box<[Option<u8>]> = wanted.iter().map(|s| s.map(|(_, at)| at)).collect();
                    network.shuffled(blended, &order)
                } else {
                    network.merged(&wanted)
                };
                network.outputs.push(output);
            }
        }
        network.without_dead_steps()
    }

    /// Puts elements together: of `factor` inputs, the lanes' elements of one member each, with `n` elements in a
    /// block, the *j*-th output has the *j*-th block of each `factor` blocks in memory.
    pub(crate) fn together(factor: usize, n: usize) -> Network {
        let mut network = Network::new(factor);
        if factor.is_power_of_two() && factor <= n {
            network.outputs = network.transposed((0..factor).collect(), n, 1);
            return network;
        }
        let source = |j: usize, at: usize| {
            let place = j * n + at;
            (place % factor, (place / factor) as u8)
        };
        if factor % 2 == 1 {
            // Each lane's element goes to one place, whichever block that is in.
            let mut orders = vec![vec![None; n].into_boxed_slice(); factor];
            for (j, at) in (0..factor).flat_map(|j| (0..n).map(move |at| (j, at))) {
                let (member, lane) = source(j, at);
                orders[member][at] = Some(lane);
            }
            let placed: Vec<usize> =
                orders.iter().enumerate().map(|(member, order)| network.shuffled(member, order)).collect();
            for j in 0..factor {
                let wanted: Vec<Source> =
                    (0..n).map(|at| Some((placed[source(j, at).0], at as u8))).collect();
                let output = network.blended(&wanted);
                network.outputs.push(output);
            }
        } else {
            for j in 0..factor {
                let wanted: Vec<Source> = (0..n).map(|at| Some(source(j, at))).collect();
                let output = network.merged(&wanted);
                network.outputs.push(output);
            }
        }
        network
    }

    /// The blocks that are stored, which have these members of each lane, of `n` elements each, and where the blocks to
    /// load begin, among the elements of as many lanes, of which there are `loaded` to a lane. Inputs are these blocks,
    /// then `same` vectors of what is the same for all lanes.
    ///
    /// Blocks are loaded as they lie side by side, or from where the elements of a stored block begin, if that takes
    /// fewer loads and shuffles in all.
    pub(crate) fn copied(loaded: usize, same: usize, n: usize, members: &[Copied]) -> (Network, Vec<usize>) {
        let side_by_side = Network::copied_from(loaded, same, n, members, |p| p / n * n);
        let anywhere = Network::copied_from(loaded, same, n, members, |p| p.min(loaded * n - n));
        let cost = |(network, begins): &(Network, Vec<usize>)| network.shuffles() + begins.len();
        if cost(&anywhere) < cost(&side_by_side) { anywhere } else { side_by_side }
    }

    /// These blocks and beginnings, where `begin` says where a block begins that is to have an element.
    fn copied_from(
        loaded: usize,
        same: usize,
        n: usize,
        members: &[Copied],
        begin: impl Fn(usize) -> usize,
    ) -> (Network, Vec<usize>) {
        let place = |j: usize, at: usize| {
            let (lane, member) = ((j * n + at) / members.len(), (j * n + at) % members.len());
            match members[member] {
                Copied::Loaded(offset) => Ok(lane * loaded + offset),
                Copied::Same(k) => Err(k),
            }
        };
        let mut windows: Vec<usize> = Vec::new();
        let mut sources = Vec::new();
        for j in 0..members.len() {
            let mut places: Vec<usize> = (0..n).filter_map(|at| place(j, at).ok()).collect();
            places.sort_unstable();
            let mut own: Vec<usize> = Vec::new();
            for p in places {
                if !own.iter().any(|w| (*w..w + n).contains(&p)) {
                    own.push(begin(p));
                }
            }
            windows.extend(&own);
            let within =
                |p: usize| own.iter().copied().find(|&w| (w..w + n).contains(&p)).map(|w| (w, (p - w) as u8));
            sources.push((0..n).map(|at| place(j, at).map(within)).collect::<Vec<_>>());
        }
        windows.sort_unstable();
        windows.dedup();
        let mut network = Network::new(windows.len() + same);
        for sources in sources {
            let source = |(at, source): (usize, &Result<Source, usize>)| match source {
                Ok(found) => found.map(|(w, at)| (windows.partition_point(|&other| other < w), at)),
                Err(k) => Some((windows.len() + k, at as u8)),
            };
            let wanted: Vec<Source> = sources.iter().enumerate().map(source).collect();
            let output = network.merged(&wanted);
            network.outputs.push(output);
        }
        (network, windows)
    }

    /// Of one loaded block, the one that is stored at the same place, if all blocks are made alike and of nothing but
    /// what is the same for all lanes beside. As many elements are loaded for a lane as are stored.
    pub(crate) fn copied_in_order(same: usize, n: usize, members: &[Copied]) -> Option<Network> {
        let factor = members.len();
        let mut network = Network::new(1 + same);
        let unchanged = members.iter().enumerate().all(|(m, &c)| c == Copied::Loaded(m));
        if !n.is_multiple_of(factor) && !unchanged {
            return None;
        }
        let source = |at: usize| match members[at % factor] {
            _ if unchanged => (0, at as u8),
            Copied::Loaded(offset) => (0, (at / factor * factor + offset) as u8),
            Copied::Same(k) => (1 + k, at as u8),
        };
        let wanted: Vec<Source> = (0..n).map(|at| Some(source(at))).collect();
        let output = network.merged(&wanted);
        network.outputs.push(output);
        Some(network)
    }

    /// How many shuffles there are: two elements of different vectors are taken by as many as they need.
    pub(crate) fn shuffles(&self) -> usize {
        self.steps.len()
    }

    /// Shuffles of so many elements each where this one has one.
    pub(super) fn of_runs(self, length: usize) -> Network {
        let run = |p: &Option<u8>| {
            let first = p.map(|p| usize::from(p) * length);
            (0..length).map(move |e| first.map(|first| (first + e) as u8)).collect::<Vec<_>>()
        };
        let longer = |step: Step| Step { from: step.from, pick: step.pick.iter().flat_map(run).collect() };
        Network { steps: self.steps.into_iter().map(longer).collect(), ..self }
    }

    pub(super) fn add(&mut self, from: [usize; 2], pick: Box<[Option<u8>]>) -> usize {
        self.steps.push(Step { from, pick });
        self.inputs + self.steps.len() - 1
    }

    /// One vector, with the elements of each block in another order.
    pub(super) fn shuffled(&mut self, from: usize, order: &[Option<u8>]) -> usize {
        let same = order.iter().enumerate().all(|(at, &p)| p.is_none_or(|p| usize::from(p) == at));
        if same { from } else { self.add([from, from], order.into()) }
    }

    /// Elements of several vectors, none of which changes its place.
    pub(super) fn blended(&mut self, wanted: &[Source]) -> usize {
        let mut vectors: Vec<usize> = wanted.iter().flatten().map(|&(v, _)| v).collect();
        vectors.sort_unstable();
        vectors.dedup();
        let n = wanted.len();
        let mut all = vectors[0];
        for (k, &next) in vectors.iter().enumerate().skip(1) {
            let pick = wanted.iter().map(|source| match source {
                Some((v, at)) if *v == next => Some(at + n as u8),
                Some((v, at)) if vectors[..k].contains(v) => Some(*at),
                _ => None,
            });
            let pick = pick.collect();
            all = self.add([all, next], pick);
        }
        all
    }

    /// Elements of several vectors at any places.
    fn merged(&mut self, wanted: &[Source]) -> usize {
        let mut vectors: Vec<usize> = wanted.iter().flatten().map(|&(v, _)| v).collect();
        vectors.sort_unstable();
        vectors.dedup();
        let mut placed = wanted.to_vec();
        for v in vectors {
            let order: Vec<Option<u8>> =
                wanted.iter().map(|source| source.filter(|&(from, _)| from == v).map(|(_, at)| at)).collect();
            let shuffled = self.shuffled(v, &order);
            for (at, source) in placed.iter_mut().enumerate() {
                if wanted[at].is_some_and(|(from, _)| from == v) {
                    *source = Some((shuffled, at as u8));
                }
            }
        }
        self.blended(&placed)
    }

    /// As many stages as there are bits in the number of vectors. In each, the vectors of both halves are interleaved
    /// pair by pair, chunks of so many elements at a time.
    fn transposed(&mut self, mut vectors: Vec<usize>, n: usize, chunk: usize) -> Vec<usize> {
        let half = vectors.len() / 2;
        let interleaved = |from: usize| -> Box<[Option<u8>]> {
            let place = |p: usize| {
                let (k, within) = (p / chunk, p % chunk);
                let second = if k % 2 == 1 { n } else { 0 };
                Some((second + from + k / 2 * chunk + within) as u8)
            };
            (0..n).map(place).collect()
        };
        for _ in 0..vectors.len().ilog2() {
            let mut next = Vec::with_capacity(vectors.len());
            for pair in 0..half {
                let from = [vectors[pair], vectors[pair + half]];
                next.push(self.add(from, interleaved(0)));
                next.push(self.add(from, interleaved(n / 2)));
            }
            vectors = next;
        }
        vectors
    }

    /// Without steps whose results nobody uses.
    fn without_dead_steps(self) -> Network {
        let Network { inputs, steps, outputs } = self;
        let mut used = vec![false; inputs + steps.len()];
        for &v in &outputs {
            used[v] = true;
        }
        for (k, step) in steps.iter().enumerate().rev() {
            if used[inputs + k] {
                for v in step.from {
                    used[v] = true;
                }
            }
        }
        let mut new: Vec<usize> = (0..inputs).collect();
        let mut kept = Vec::new();
        for (k, step) in steps.into_iter().enumerate() {
            new.push(inputs + kept.len());
            if used[inputs + k] {
                kept.push(Step { from: step.from.map(|v| new[v]), ..step });
            }
        }
        Network { inputs, steps: kept, outputs: outputs.into_iter().map(|v| new[v]).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a network makes of blocks, by the definition of its steps.
    fn run(network: &Network, inputs: &[Vec<u32>]) -> Vec<Vec<u32>> {
        let mut all = inputs.to_vec();
        assert_eq!(all.len(), network.inputs);
        for step in &network.steps {
            let both: Vec<u32> = step.from.iter().flat_map(|&v| all[v].clone()).collect();
            all.push(step.pick.iter().map(|p| p.map_or(u32::MAX, |p| both[usize::from(p)])).collect());
        }
        network.outputs.iter().map(|&v| all[v].clone()).collect()
    }

    /// Memory of `factor` blocks: each element is its place.
    fn memory(factor: usize, n: usize) -> Vec<Vec<u32>> {
        (0..factor).map(|j| (0..n).map(|at| (j * n + at) as u32).collect()).collect()
    }

    #[test]
    fn elements_that_are_taken_apart_are_those_of_their_member() {
        for (factor, n) in (2..=16).flat_map(|factor| [4, 8, 16].map(|n| (factor, n))) {
            for offsets in [(0..factor).collect(), vec![factor - 1], vec![1, 0], vec![0, factor / 2, 0]] {
                let network = Network::apart(factor, n, &offsets);
                let made = run(&network, &memory(factor, n));
                for (part, &offset) in made.iter().zip(&offsets) {
                    let wanted: Vec<u32> = (0..n).map(|lane| (lane * factor + offset) as u32).collect();
                    assert_eq!(*part, wanted, "{factor} of {n} elements, offset {offset}");
                }
            }
        }
    }

    #[test]
    fn elements_that_are_put_together_lie_as_in_memory() {
        for (factor, n) in (2..=16).flat_map(|factor| [4, 8, 16].map(|n| (factor, n))) {
            let network = Network::together(factor, n);
            let members: Vec<Vec<u32>> = (0..factor)
                .map(|member| (0..n).map(|lane| (lane * factor + member) as u32).collect())
                .collect();
            assert_eq!(run(&network, &members), memory(factor, n), "{factor} of {n} elements");
        }
    }

    /// What is stored of lanes of which the memory holds each element's place, by definition.
    fn copied_by_definition(loaded: usize, lanes: usize, members: &[Copied]) -> Vec<u32> {
        let of = |lane: usize, member: Copied| match member {
            Copied::Loaded(offset) => (lane * loaded + offset) as u32,
            Copied::Same(k) => 1000 + k as u32,
        };
        (0..lanes).flat_map(|lane| members.iter().map(move |&m| of(lane, m))).collect()
    }

    #[test]
    fn copies_store_the_elements_of_their_lanes() {
        use Copied::{Loaded, Same};
        let orders = [
            vec![Loaded(2), Loaded(1), Loaded(0)],
            vec![Loaded(2), Loaded(1), Loaded(0), Same(0)],
            vec![Loaded(0), Loaded(0)],
            vec![Same(1), Loaded(1), Loaded(2), Same(0), Loaded(0)],
        ];
        for (members, n) in orders.iter().flat_map(|o| [8, 16].map(|n| (o, n))) {
            for loaded in 3..=6 {
                let (network, windows) = Network::copied(loaded, 2, n, members);
                let window = |&w: &usize| (w..w + n).map(|place| place as u32).collect();
                let mut inputs: Vec<Vec<u32>> = windows.iter().map(window).collect();
                inputs.extend((0..2).map(|k| vec![1000 + k; n]));
                let made = run(&network, &inputs).concat();
                assert_eq!(made, copied_by_definition(loaded, n, members), "{loaded} to {members:?} of {n}");
            }
        }
    }

    #[test]
    fn copies_in_order_store_blocks_where_they_were_loaded() {
        use Copied::{Loaded, Same};
        let orders = [
            vec![Loaded(2), Loaded(1), Loaded(0), Loaded(3)],
            vec![Loaded(2), Loaded(1), Loaded(0), Same(0)],
            vec![Loaded(1), Loaded(0)],
            vec![Loaded(0), Loaded(1), Loaded(2)],
        ];
        for (members, n) in orders.iter().flat_map(|o| [8, 16].map(|n| (o, n))) {
            let network = Network::copied_in_order(1, n, members).expect("blocks are made alike");
            let blocks = memory(members.len(), n).into_iter();
            let made: Vec<u32> =
                blocks.flat_map(|block| run(&network, &[block, vec![1000; n]]).concat()).collect();
            assert_eq!(made, copied_by_definition(members.len(), n, members), "{members:?} of {n}");
        }
        assert_eq!(Network::copied_in_order(0, 16, &[Loaded(2), Loaded(1), Loaded(0)]), None);
    }

    #[test]
    fn usual_pixels_take_few_shuffles() {
        let apart = |factor, n| Network::apart(factor, n, &(0..factor).collect::<Vec<_>>()).shuffles();
        let together = |factor, n| Network::together(factor, n).shuffles();
        assert_eq!([apart(2, 16), apart(3, 16), apart(4, 16), apart(2, 8)], [4, 9, 12, 4]);
        assert_eq!([together(2, 16), together(3, 16), together(4, 16), together(2, 8)], [2, 9, 8, 2]);
        let copied =
            |loaded, same, members: &[Copied]| Network::copied(loaded, same, 16, members).0.shuffles();
        let [r, g, b] = [0, 1, 2].map(Copied::Loaded);
        assert_eq!([copied(3, 1, &[r, g, b, Copied::Same(0)]), copied(3, 0, &[b, g, r])], [8, 11]);
        assert_eq!(copied(4, 0, &[r, g, b]), 9);
        assert_eq!(Network::apart(3, 16, &[1]).shuffles(), 3);
        assert_eq!(Network::apart(4, 16, &[0, 1, 2]).shuffles(), 11);
    }
}
