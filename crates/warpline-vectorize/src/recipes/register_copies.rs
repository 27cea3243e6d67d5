//! Copies of interleaved elements in registers between whose blocks words move.
//!
//! AVX-512 brings the 32-bit words of two registers into any order by one instruction, while it shuffles narrower
//! elements within each 16-byte block, as AVX2 does. So pixels change their size without being taken apart where
//!
//! * each block that is stored has elements of at most four words, which are brought into it and shuffled there (three
//!   bytes that become four: a block has the bytes of three words), or
//! * each word that is stored has elements of one block, of which no more than four such words are asked for (four
//!   bytes that become three: blocks are shuffled first, then words move).
//!
//! What is the same in all lanes is blended in at the end. Where neither is so there is no such network.

use super::interleaved::{Copied, Network, Source};

/// How many elements a register, its blocks, and the words that move between blocks have.
pub(crate) struct Parts {
    pub register: usize,
    pub block: usize,
    pub word: usize,
}

/// Where a stored element is loaded: from a window, at a place in it. `Err`: it is the same in all lanes.
type Origin = Result<(usize, usize), usize>;

impl Network {
    /// The registers that are stored, which have these members of each of as many lanes as a register has elements,
    /// and where the registers to load begin among the elements that these lanes load. Each lane's begin `of_lane.0`
    /// elements behind the last one's, and no more than `of_lane.1` of them are read. Inputs are the loaded registers,
    /// then `same` vectors of what is the same for all lanes.
    pub(crate) fn copied_registers(
        of_lane: (usize, usize),
        same: usize,
        parts: &Parts,
        members: &[Copied],
    ) -> Option<(Network, Vec<usize>)> {
        let n = parts.register;
        let last = (of_lane.0 * (n - 1) + of_lane.1).checked_sub(n)?;
        let place = |j: usize, at: usize| match members[(j * n + at) % members.len()] {
            Copied::Loaded(offset) => Ok((j * n + at) / members.len() * of_lane.0 + offset),
            Copied::Same(k) => Err(k),
        };
        let places: Vec<Vec<Result<usize, usize>>> =
            (0..members.len()).map(|j| (0..n).map(|at| place(j, at)).collect()).collect();
        let begins: [&dyn Fn(usize) -> usize; 2] = [&|p| (p / n * n).min(last), &|p| p.min(last)];
        let mut best: Option<(Network, Vec<usize>)> = None;
        for begin in begins {
            let Some((windows, outputs)) = in_windows(&places, n, begin) else { continue };
            let new = || Network::new(windows.len() + same);
            let made = [
                new().words_then_bytes(windows.len(), &outputs, parts),
                new().bytes_then_words(windows.len(), &outputs, parts),
            ];
            for network in made.into_iter().flatten() {
                let cost = network.shuffles() + windows.len();
                if best.as_ref().is_none_or(|(other, w)| cost < other.shuffles() + w.len()) {
                    best = Some((network, windows.clone()));
                }
            }
        }
        best
    }

    /// Brings the words of each block's elements into it, and shuffles them there.
    fn words_then_bytes(mut self, windows: usize, outputs: &[Vec<Origin>], parts: &Parts) -> Option<Network> {
        for output in outputs {
            let mut words: Vec<Source> = vec![None; parts.register];
            let mut order = vec![None; parts.register];
            for (b, block) in output.chunks(parts.block).enumerate() {
                let mut brought: Vec<(usize, usize)> = Vec::new();
                for (at, origin) in block.iter().enumerate() {
                    let Ok((window, from)) = *origin else { continue };
                    let word = (window, from / parts.word);
                    let slot = brought.iter().position(|&w| w == word).unwrap_or_else(|| {
                        brought.push(word);
                        brought.len() - 1
                    });
                    order[b * parts.block + at] = Some((slot * parts.word + from % parts.word) as u8);
                }
                if brought.len() > parts.block / parts.word {
                    return None;
                }
                for (slot, &(window, word)) in brought.iter().enumerate() {
                    for e in 0..parts.word {
                        let at = b * parts.block + slot * parts.word + e;
                        words[at] = Some((window, (word * parts.word + e) as u8));
                    }
                }
            }
            let moved = self.moved(&words, parts)?;
            let shuffled = self.shuffled_in_blocks(moved, &order, parts);
            self.finish(shuffled, windows, output);
        }
        Some(self)
    }

    /// Shuffles the blocks of each loaded register so that words are what is stored of them, and moves the words.
    fn bytes_then_words(mut self, windows: usize, outputs: &[Vec<Origin>], parts: &Parts) -> Option<Network> {
        // For each loaded register and block, the words that are made of it.
        let blocks = parts.register / parts.block;
        let mut made: Vec<Vec<Vec<Option<u8>>>> = vec![Vec::new(); windows * blocks];
        let mut moves: Vec<Vec<Source>> = Vec::new();
        for output in outputs {
            let mut wanted: Vec<Source> = vec![None; parts.register];
            for (w, word) in output.chunks(parts.word).enumerate() {
                let Some(&(window, first)) = word.iter().flatten().next() else { continue };
                let block = first / parts.block;
                let is_here = |o: &Origin| {
                    o.is_err() || matches!(o, Ok((v, p)) if (*v, p / parts.block) == (window, block))
                };
                if !word.iter().all(is_here) {
                    return None;
                }
                let picked: Vec<Option<u8>> =
                    word.iter().map(|o| o.ok().map(|(_, p)| (p % parts.block) as u8)).collect();
                let of_block = &mut made[window * blocks + block];
                let slot = of_block.iter().position(|m| *m == picked).unwrap_or_else(|| {
                    of_block.push(picked);
                    of_block.len() - 1
                });
                for e in 0..parts.word {
                    let from = block * parts.block + slot * parts.word + e;
                    wanted[w * parts.word + e] = Some((window, from as u8));
                }
            }
            moves.push(wanted);
        }
        if made.iter().any(|words| words.len() > parts.block / parts.word) {
            return None;
        }
        let mut shuffled = Vec::new();
        for window in 0..windows {
            let of_window = &made[window * blocks..][..blocks];
            let order: Vec<Option<u8>> = of_window
                .iter()
                .flat_map(|words| {
                    let mut all = words.concat();
                    all.resize(parts.block, None);
                    all
                })
                .collect();
            shuffled.push(self.shuffled_in_blocks(window, &order, parts));
        }
        for (wanted, output) in moves.iter().zip(outputs) {
            let wanted: Vec<Source> = wanted.iter().map(|s| s.map(|(w, at)| (shuffled[w], at))).collect();
            let moved = self.moved(&wanted, parts)?;
            self.finish(moved, windows, output);
        }
        Some(self)
    }

    /// Elements of at most two vectors, whole words of them.
    fn moved(&mut self, wanted: &[Source], parts: &Parts) -> Option<usize> {
        let mut vectors: Vec<usize> = wanted.iter().flatten().map(|&(v, _)| v).collect();
        vectors.sort_unstable();
        vectors.dedup();
        match vectors[..] {
            [] => Some(0),
            [one] => {
                let order: Vec<Option<u8>> = wanted.iter().map(|s| s.map(|(_, at)| at)).collect();
                Some(self.shuffled(one, &order))
            }
            [first, second] => {
                let pick =
                    |s: &Source| s.map(|(v, at)| if v == first { at } else { at + parts.register as u8 });
                Some(self.add([first, second], wanted.iter().map(pick).collect()))
            }
            _ => None,
        }
    }

    /// One vector, with the elements of each block in another order, by their places in blocks.
    fn shuffled_in_blocks(&mut self, from: usize, order: &[Option<u8>], parts: &Parts) -> usize {
        let place = |(at, p): (usize, &Option<u8>)| p.map(|p| (at / parts.block * parts.block) as u8 + p);
        let order: Vec<Option<u8>> = order.iter().enumerate().map(place).collect();
        self.shuffled(from, &order)
    }

    /// Blends in what is the same in all lanes: the output.
    fn finish(&mut self, vector: usize, windows: usize, output: &[Origin]) {
        let source = |(at, origin): (usize, &Origin)| match origin {
            Ok(_) => Some((vector, at as u8)),
            Err(k) => Some((windows + k, at as u8)),
        };
        let wanted: Vec<Source> = output.iter().enumerate().map(source).collect();
        let output = self.blended(&wanted);
        self.outputs.push(output);
    }
}

/// The windows of `n` places, of which `begin` says where one begins that has a place, and for each output from which
/// of them its elements come; `None` where an output needs more than two.
fn in_windows(
    places: &[Vec<Result<usize, usize>>],
    n: usize,
    begin: impl Fn(usize) -> usize,
) -> Option<(Vec<usize>, Vec<Vec<Origin>>)> {
    let mut windows: Vec<usize> = Vec::new();
    let mut of_outputs = Vec::new();
    for output in places {
        let mut sorted: Vec<usize> = output.iter().flatten().copied().collect();
        sorted.sort_unstable();
        let mut own: Vec<usize> = Vec::new();
        for p in sorted {
            if !own.iter().any(|w| (*w..w + n).contains(&p)) {
                own.push(begin(p));
            }
        }
        if own.len() > 2 {
            return None;
        }
        windows.extend(&own);
        of_outputs.push(own);
    }
    windows.sort_unstable();
    windows.dedup();
    let outputs = places.iter().zip(&of_outputs).map(|(output, own)| {
        let origin = |p: usize| {
            let w = own.iter().copied().find(|&w| (w..w + n).contains(&p)).expect("each place has a window");
            (windows.partition_point(|&other| other < w), p - w)
        };
        output.iter().map(|place| place.map(origin)).collect()
    });
    let outputs = outputs.collect();
    Some((windows, outputs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Copied::{Loaded, Same};

    /// What a network makes of registers, by the definition of its steps, each of which must be one instruction.
    fn run(network: &Network, inputs: &[Vec<u32>], parts: &Parts) -> Vec<u32> {
        let n = parts.register;
        let mut all = inputs.to_vec();
        assert_eq!(all.len(), network.inputs);
        for step in &network.steps {
            let both: Vec<u32> = step.from.iter().flat_map(|&v| all[v].clone()).collect();
            let picked =
                || step.pick.iter().enumerate().filter_map(|(at, p)| p.map(|p| (at, usize::from(p))));
            let alone = step.from[0] == step.from[1];
            let in_blocks = alone && picked().all(|(at, p)| at / parts.block == p / parts.block);
            let in_place = picked().all(|(at, p)| p % n == at);
            let words = picked().all(|(at, p)| at % parts.word == p % parts.word)
                && step.pick.chunks(parts.word).all(|word| {
                    let mut from = word.iter().flatten().map(|&p| usize::from(p) / parts.word);
                    let first = from.next();
                    from.all(|w| Some(w) == first)
                });
            assert!(in_blocks || in_place || words, "no single instruction does {step:?}");
            all.push(step.pick.iter().map(|p| p.map_or(u32::MAX, |p| both[usize::from(p)])).collect());
        }
        network.outputs.iter().flat_map(|&v| all[v].clone()).collect()
    }

    const BYTES: Parts = Parts { register: 64, block: 16, word: 4 };
    const SHORTS: Parts = Parts { register: 32, block: 8, word: 2 };

    /// Every copy of up to four members of pixels of up to six, of all or some of whose elements are read.
    #[test]
    fn copied_registers_store_the_elements_of_their_lanes() {
        let mut found = 0;
        for parts in [BYTES, SHORTS] {
            let n = parts.register;
            for (loaded, stored) in (2..=6).flat_map(|loaded| (2..=4).map(move |stored| (loaded, stored))) {
                let kinds: usize = loaded + 1;
                for code in 0..kinds.pow(stored) {
                    let member = |m: u32| match code / kinds.pow(m) % kinds {
                        0 => Same(0),
                        offset => Loaded(offset - 1),
                    };
                    let members: Vec<Copied> = (0..stored).map(member).collect();
                    let greatest =
                        members.iter().filter_map(|m| if let Loaded(o) = m { Some(*o) } else { None }).max();
                    let Some(greatest) = greatest else { continue };
                    let of_lane = (loaded, greatest + 1);
                    let Some((network, windows)) = Network::copied_registers(of_lane, 1, &parts, &members)
                    else {
                        continue;
                    };
                    found += 1;
                    // Nothing is read behind the last element of the last lane.
                    let range = loaded * (n - 1) + greatest + 1;
                    assert!(windows.iter().all(|w| w + n <= range), "{members:?}: {windows:?}");
                    let mut inputs: Vec<Vec<u32>> =
                        windows.iter().map(|&w| (w..w + n).map(|place| place as u32).collect()).collect();
                    inputs.push(vec![1000; n]);
                    let of = |lane: usize, m: Copied| match m {
                        Loaded(offset) => (lane * loaded + offset) as u32,
                        Same(k) => 1000 + k as u32,
                    };
                    let expected: Vec<u32> =
                        (0..n).flat_map(|lane| members.iter().map(move |&m| of(lane, m))).collect();
                    assert_eq!(run(&network, &inputs, &parts), expected, "{loaded} to {members:?}");
                }
            }
        }
        assert!(found > 500, "only {found} copies have networks");
    }

    #[test]
    fn usual_pixels_take_few_instructions() {
        let cost = |of_lane, members: &[Copied]| {
            let (network, windows) =
                Network::copied_registers(of_lane, 1, &BYTES, members).expect("it has a network");
            (network.shuffles(), windows.len())
        };
        let [r, g, b] = [0, 1, 2].map(Loaded);
        assert_eq!(cost((3, 3), &[r, g, b, Same(0)]), (12, 3));
        assert_eq!(cost((3, 3), &[b, g, r, Same(0)]), (12, 3));
        assert_eq!(cost((4, 3), &[r, g, b]), (7, 4));
        assert_eq!(cost((4, 3), &[b, g, r]), (7, 4));
        // Blocks of packed pixels have bytes of five words.
        assert!(Network::copied_registers((3, 3), 0, &BYTES, &[b, g, r]).is_none());
    }
}
