//! Accesses of which neighbouring lanes' overlap: words that begin less than a word apart.
//!
//! A pixel of three bytes is often loaded and stored as a word of four, whose last byte is the next pixel's; texts are
//! searched by the word that begins at each of their bytes. All lanes' elements then lie side by side with no gap
//! between. x86 loads and stores as many bytes as a register has, moves 32-bit words between its 16-byte *blocks*, and
//! brings the bytes of each block into any order by one instruction (`pshufb`). A block of lanes' elements is made of
//! less bytes of memory than it has, so one block of memory has them all.
//!
//! What is loaded is what the lanes load: registers that would reach behind it begin earlier. Of bytes that several
//! lanes store, the last one's stay, as if lanes stored one after the other: blocks are stored in the order of memory,
//! and what each writes behind its own bytes is written again by the next ones. No byte is written that no lane stores.

use warpline_target::Machine;

use super::groups::BLOCK_BYTES as BLOCK;

/// The bytes of the words that move between blocks.
const WORD: u64 = 4;

/// The bytes of the registers between whose blocks words are moved; of smaller ones, blocks are as cheap.
const WIDE: u64 = 64;

/// Elements that overlap, and how they are accessed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Overlapping {
    /// The bytes of an element.
    size: u64,
    /// From a lane's element to the next lane's, in bytes: less than the size.
    step: u64,
    /// How many lanes there are.
    lanes: u64,
    /// The bytes of a register.
    register: u64,
    /// Whether registers are stored under masks of bytes.
    masks: bool,
}

/// How a register of lanes' elements is loaded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LoadedRegister {
    /// At which bytes, behind lane 0's address: the whole register at once, or a block each.
    pub at: Vec<u64>,
    /// If the register is loaded under a mask: how many of its bytes are.
    pub masked: Option<u64>,
    /// The shuffles of what was loaded, one after the other, by places in the register.
    pub shuffles: Vec<Vec<u64>>,
}

/// How a register of lanes' elements is stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct StoredRegister {
    /// The shuffles before, by places in the register; `None`: anything will do.
    pub shuffles: Vec<Vec<Option<u64>>>,
    /// The stores in order.
    pub stores: Vec<StoredBytes>,
}

/// Bytes of a register that are stored at once.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct StoredBytes {
    /// Where, behind lane 0's address.
    pub at: u64,
    /// The first of them.
    pub from: u64,
    /// How many there are: a power of two, or under a mask.
    pub len: u64,
    /// The bytes of the vector that a mask is for, which the first `len` of are stored.
    pub masked: Option<u64>,
}

impl Overlapping {
    /// Elements of so many bytes at such a step, if the machine shuffles the bytes of blocks.
    pub(super) fn of(size: u64, step: i64, width: u32, machine: &Machine) -> Option<Overlapping> {
        let step = u64::try_from(step).ok()?;
        let lanes = u64::from(width);
        let register = u64::from(machine.register_bits / 8).min(lanes * size);
        let fits = machine.byte_shuffles
            && matches!(size, 2 | 4 | 8)
            && (1..size).contains(&step)
            && lanes.is_power_of_two()
            && register.is_multiple_of(BLOCK);
        let found = Overlapping { size, step, lanes, register, masks: machine.masks.serve(8) };
        (fits && found.range() >= BLOCK).then_some(found)
    }

    /// How many registers the lanes' elements fill.
    pub(crate) fn registers(&self) -> u64 {
        self.lanes * self.size / self.register
    }

    /// The bytes of a register.
    pub(crate) fn register_bytes(&self) -> u64 {
        self.register
    }

    /// The bytes from the first to the last one that a lane accesses.
    fn range(&self) -> u64 {
        (self.lanes - 1) * self.step + self.size
    }

    /// How many lanes have elements in a block.
    fn of_block(&self) -> u64 {
        BLOCK / self.size
    }

    /// The bytes of memory from one block's first byte to the next one's.
    fn block_step(&self) -> u64 {
        self.of_block() * self.step
    }

    /// The bytes of memory that a block's elements are made of.
    fn span(&self) -> u64 {
        (self.of_block() - 1) * self.step + self.size
    }

    /// How many blocks a register has.
    fn blocks(&self) -> u64 {
        self.register / BLOCK
    }

    /// How the `r`-th register is loaded.
    pub(crate) fn load(&self, r: u64) -> LoadedRegister {
        self.load_whole(r).unwrap_or_else(|| {
            let begins = |b: u64| (r * self.blocks() + b) * self.block_step();
            let at: Vec<u64> = (0..self.blocks()).map(|b| begins(b).min(self.range() - BLOCK)).collect();
            let bytes = (0..self.register).map(|byte| {
                let b = byte / BLOCK;
                b * BLOCK + begins(b) - at[b as usize] + self.place_in_block(byte % BLOCK)
            });
            LoadedRegister { shuffles: vec![bytes.collect()], at, masked: None }
        })
    }

    /// Where a byte of a block's elements is in the bytes of memory that the block is made of.
    fn place_in_block(&self, byte: u64) -> u64 {
        byte / self.size * self.step + byte % self.size
    }

    /// How it is loaded at once: words are brought into the blocks that have bytes of them.
    fn load_whole(&self, r: u64) -> Option<LoadedRegister> {
        let begin = r * self.blocks() * self.block_step();
        let left = self.range() - begin;
        let masked = (left < self.register && self.masks).then_some(left);
        let at = match masked {
            Some(_) => begin,
            None => begin.min(self.range().checked_sub(self.register)?),
        };
        if self.register < WIDE {
            return None;
        }
        let (mut words, mut bytes) = (Vec::new(), Vec::new());
        for b in 0..self.blocks() {
            let first = begin - at + b * self.block_step();
            let word = (first / WORD).min((self.register - BLOCK) / WORD);
            let before = first - word * WORD;
            if before + self.span() > BLOCK {
                return None;
            }
            words.extend(word * WORD..word * WORD + BLOCK);
            bytes.extend((0..BLOCK).map(|byte| b * BLOCK + before + self.place_in_block(byte)));
        }
        Some(LoadedRegister { at: vec![at], masked, shuffles: vec![words, bytes] })
    }

    /// How the `r`-th register is stored.
    pub(crate) fn store(&self, r: u64) -> StoredRegister {
        // Of bytes that two lanes store, the later lane's.
        let byte = |at: u64| {
            let lane = (at % BLOCK / self.step).min(self.of_block() - 1);
            let of_lane = at % BLOCK - lane * self.step;
            (of_lane < self.size).then_some(at / BLOCK * BLOCK + lane * self.size + of_lane)
        };
        let bytes: Vec<Option<u64>> = (0..self.register).map(byte).collect();
        let begin = r * self.blocks() * self.block_step();
        if self.register >= WIDE && self.masks && self.block_step().is_multiple_of(WORD) {
            let of_word = |at: u64| {
                let b = (at / self.block_step()).min(self.blocks() - 1);
                let of_block = at - b * self.block_step();
                (of_block < BLOCK).then_some(b * BLOCK + of_block)
            };
            let words = (0..self.register).map(of_word).collect();
            let len = self.register.min(self.range() - begin);
            let masked = (len < self.register).then_some(self.register);
            let store = StoredBytes { at: begin, from: 0, len, masked };
            return StoredRegister { shuffles: vec![bytes, words], stores: vec![store] };
        }
        let mut stores = Vec::new();
        for b in 0..self.blocks() {
            let at = begin + b * self.block_step();
            let mut left = BLOCK.min(self.range() - at);
            let mut done = 0;
            while left > 0 {
                let len = 1 << left.ilog2();
                stores.push(StoredBytes { at: at + done, from: b * BLOCK + done, len, masked: None });
                (done, left) = (done + len, left - len);
            }
        }
        StoredRegister { shuffles: vec![bytes], stores }
    }

    /// How many accesses there are, and operations on vectors beside.
    pub(crate) fn costs(&self, stores: bool) -> (usize, usize) {
        let of_register = |r: u64| match stores {
            // Blocks that are not the first of a register are taken out of it.
            true => {
                let made = self.store(r);
                let taken = made.stores.iter().filter(|s| s.from > 0).count();
                (made.stores.len(), made.shuffles.len() + taken)
            }
            false => {
                let made = self.load(r);
                (made.at.len(), made.shuffles.len() + made.at.len() - 1)
            }
        };
        let all = (0..self.registers()).map(of_register);
        all.fold((0, 0), |(accesses, others), (a, o)| (accesses + a, others + o))
    }

    /// How many of its accesses are under a mask.
    pub(crate) fn masked(&self, stores: bool) -> usize {
        let masked = |r: u64| match stores {
            true => self.store(r).stores.iter().filter(|s| s.masked.is_some()).count(),
            false => usize::from(self.load(r).masked.is_some()),
        };
        (0..self.registers()).map(masked).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that there can be.
    fn all() -> impl Iterator<Item = Overlapping> {
        let sizes = [2, 4, 8].into_iter().flat_map(|size| (1..size).map(move |step| (size, step)));
        let widths = || (1..=6).map(|n| 1 << n);
        let machines = || [(16, false), (32, false), (64, false), (64, true)];
        let all = sizes.flat_map(move |at| widths().map(move |lanes| (at, lanes)));
        let all = all.flat_map(move |at| machines().into_iter().map(move |m| (at, m)));
        all.map(|(((size, step), lanes), (register, masks))| {
            let register = u64::min(register, lanes * size);
            Overlapping { size, step, lanes, register, masks }
        })
        .filter(|o| o.register.is_multiple_of(BLOCK) && o.range() >= BLOCK)
    }

    #[test]
    fn what_is_loaded_is_what_each_lane_loads_and_nothing_behind_it() {
        let mut seen = 0;
        for o in all() {
            let mut elements = Vec::new();
            for r in 0..o.registers() {
                let made = o.load(r);
                let each = o.register / made.at.len() as u64;
                let read = made.masked.unwrap_or(each);
                assert!(made.at.iter().all(|at| at + read <= o.range()), "{o:?}: {made:?}");
                let mut register: Vec<u64> = made.at.iter().flat_map(|&at| at..at + each).collect();
                register[made.masked.unwrap_or(o.register) as usize..].fill(u64::MAX);
                for shuffle in &made.shuffles {
                    register = shuffle.iter().map(|&from| register[from as usize]).collect();
                }
                let bytes = made.shuffles.last().expect("bytes are shuffled");
                assert!(bytes.iter().enumerate().all(|(at, from)| at as u64 / BLOCK == from / BLOCK));
                elements.extend(register);
            }
            let expected = (0..o.lanes).flat_map(|lane| lane * o.step..lane * o.step + o.size);
            assert_eq!(elements, expected.collect::<Vec<u64>>(), "{o:?}");
            seen += 1;
        }
        assert!(seen > 150, "{seen}");
    }

    #[test]
    fn what_is_stored_is_what_lanes_store_one_after_the_other() {
        for o in all() {
            let mut expected = vec![None; o.range() as usize + 64];
            for (lane, byte) in (0..o.lanes).flat_map(|lane| (0..o.size).map(move |byte| (lane, byte))) {
                expected[(lane * o.step + byte) as usize] = Some(lane * o.size + byte);
            }
            let mut memory = vec![None; expected.len()];
            for r in 0..o.registers() {
                let made = o.store(r);
                let mut register: Vec<Option<u64>> =
                    (0..o.register).map(|at| Some(r * o.register + at)).collect();
                for shuffle in &made.shuffles {
                    register = shuffle.iter().map(|from| register[(*from)? as usize]).collect();
                }
                for s in &made.stores {
                    assert!(s.masked.is_some() || s.len.is_power_of_two() && s.from.is_multiple_of(s.len));
                    for byte in 0..s.len {
                        memory[(s.at + byte) as usize] =
                            register[(s.from + byte) as usize].or(Some(u64::MAX));
                    }
                }
            }
            assert_eq!(memory, expected, "{o:?}");
        }
    }

    #[test]
    fn pixels_of_three_bytes_take_few_instructions() {
        let o = |register| Overlapping { size: 4, step: 3, lanes: 16, register, masks: register == 64 };
        assert_eq!([o(32).costs(false), o(64).costs(false)], [(4, 4), (1, 2)]);
        assert_eq!([o(32).costs(true), o(64).costs(true)], [(6, 6), (1, 2)]);
    }
}
