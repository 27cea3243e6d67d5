//! Races between the lanes of a group: which lane touched which byte, and what it wrote there.
//!
//! Two accesses of different lanes to one byte race if one of them writes and they are not both atomic. Writes of equal
//! values make no difference. Nor does it make a difference that a lane reads what another one wrote if it has written
//! the same itself.

/// An access to a byte by a lane.
#[derive(Copy, Clone, Debug)]
pub(super) struct Access {
    /// The lane.
    pub lane: u32,
    /// Whether the access is atomic.
    pub atomic: bool,
    /// The number of the execution of an instruction, by all its lanes, in the run.
    pub execution: u32,
}

/// How two lanes met at a byte.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Race {
    /// Address of the byte.
    pub address: u64,
    /// The lane that came first; `None` if there were several.
    pub first: Option<u32>,
    /// The lane that came second.
    pub second: u32,
}

/// What kind of race results may depend on.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum RaceKind {
    /// A lane read what another lane had written.
    ReadAfterWrite,
    /// A lane wrote what another lane had read.
    WriteAfterRead,
    /// Two lanes wrote different values.
    WriteAfterWrite,
}

/// The races of a run: the first one of each kind.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct RaceLog {
    /// A lane read a byte that another lane had written.
    pub read_after_write: Option<Race>,
    /// A lane wrote another value to a byte that another lane had read.
    pub write_after_read: Option<Race>,
    /// A lane wrote another value than another lane had written, by another execution of an instruction.
    pub write_after_write: Option<Race>,
    /// A lane wrote another value than another lane had written by the same execution of one instruction: the last lane
    /// wins.
    pub last_lane_wins: Option<Race>,
    /// Lanes met at a byte by atomic operations only.
    pub atomic: Option<Race>,
    /// Lanes met at a byte, and no order of theirs makes a difference.
    pub harmless: Option<Race>,
}

impl RaceLog {
    /// Whether any two lanes touched a byte that one of them wrote.
    pub fn any(&self) -> bool {
        self.matters().is_some()
            || self.last_lane_wins.is_some()
            || self.atomic.is_some()
            || self.harmless.is_some()
    }

    /// Some race that makes results depend on the order in which lanes run, if there was one. That the last lane wins
    /// where nobody reads what was written is not among these: lanes store in their order.
    pub fn matters(&self) -> Option<(RaceKind, Race)> {
        let kinds = [
            (RaceKind::ReadAfterWrite, self.read_after_write),
            (RaceKind::WriteAfterRead, self.write_after_read),
            (RaceKind::WriteAfterWrite, self.write_after_write),
        ];
        kinds.into_iter().find_map(|(kind, race)| Some((kind, race?)))
    }
}

/// What is known of a byte in the run in which it was last touched.
#[derive(Copy, Clone, Default, Debug)]
struct Byte {
    /// The run; beginning a new one costs nothing.
    run: u32,
    /// The execution that wrote last.
    execution: u32,
    /// The lanes that have written its value. If lanes disagree, those that wrote last.
    writers: u64,
    /// The lanes that have read it.
    readers: u64,
    /// Whether lanes have written different values.
    disputed: bool,
    /// Whether there was a read, or a write, that was not atomic.
    plain: (bool, bool),
}

/// How many bytes are looked after together.
const PAGE: usize = 256;

type Page = Box<[Byte; PAGE]>;

/// What is known of the bytes of an allocation, in pages that are made when they are first touched in a run.
#[derive(Clone, Default, Debug)]
pub(super) struct Shadow {
    pages: Vec<Option<Page>>,
    touched: Vec<usize>,
}

/// Pages that served in earlier runs.
#[derive(Clone, Default, Debug)]
pub(super) struct Spare {
    pages: Vec<Page>,
}

impl Shadow {
    /// Gives the pages of the run that has ended away.
    pub(super) fn forget(&mut self, spare: &mut Spare) {
        for page in self.touched.drain(..) {
            spare.pages.extend(self.pages[page].take());
        }
    }

    /// Has a page for the byte at an offset.
    pub(super) fn touch(&mut self, at: usize, spare: &mut Spare) {
        let page = at / PAGE;
        if self.pages.len() <= page {
            self.pages.resize(page + 1, None);
        }
        if self.pages[page].is_none() {
            // What is left there has the number of another run.
            let fresh = || Box::new([Byte::default(); PAGE]);
            self.pages[page] = Some(spare.pages.pop().unwrap_or_else(fresh));
            self.touched.push(page);
        }
    }

    fn byte(&mut self, run: u32, at: usize) -> Option<&mut Byte> {
        let page = self.pages.get_mut(at / PAGE)?.as_mut()?;
        let byte = &mut page[at % PAGE];
        if byte.run != run {
            *byte = Byte { run, ..Byte::default() };
        }
        Some(byte)
    }

    /// Records that the byte at offset `at`, which was [touched](Shadow::touch) and has this address, is read in run
    /// number `run`, which is not 0.
    pub(super) fn read(&mut self, log: &mut RaceLog, run: u32, at: usize, address: u64, access: Access) {
        let Some(byte) = self.byte(run, at) else { return };
        let me = 1 << access.lane;
        let others = byte.writers & !me;
        if others != 0 || byte.disputed {
            let slot = if access.atomic && !byte.plain.1 {
                &mut log.atomic
            } else if byte.writers & me != 0 && !byte.disputed {
                &mut log.harmless
            } else {
                &mut log.read_after_write
            };
            slot.get_or_insert(race(address, others, access.lane));
        }
        byte.readers |= me;
        byte.plain.0 |= !access.atomic;
    }

    /// Records that the byte at offset `at`, which has this address, is written in run number `run`, which is not 0.
    /// `changes` says whether it gets another value.
    pub(super) fn write(
        &mut self,
        log: &mut RaceLog,
        run: u32,
        (at, address): (usize, u64),
        changes: bool,
        access: Access,
    ) {
        let Some(byte) = self.byte(run, at) else { return };
        let me = 1 << access.lane;
        let (readers, writers) = (byte.readers & !me, byte.writers & !me);
        if readers != 0 {
            let slot = if access.atomic && !byte.plain.0 {
                &mut log.atomic
            } else if !changes {
                &mut log.harmless
            } else {
                &mut log.write_after_read
            };
            slot.get_or_insert(race(address, readers, access.lane));
        }
        let met = writers != 0 || byte.disputed;
        if met {
            let slot = if access.atomic && !byte.plain.1 {
                &mut log.atomic
            } else if !changes && !byte.disputed {
                &mut log.harmless
            } else if byte.execution == access.execution {
                &mut log.last_lane_wins
            } else {
                &mut log.write_after_write
            };
            slot.get_or_insert(race(address, writers, access.lane));
        }
        byte.disputed |= met && changes;
        // Of atomic operations every one has its part in the value.
        byte.writers = if changes && !access.atomic { me } else { byte.writers | me };
        byte.execution = access.execution;
        byte.plain.1 |= !access.atomic;
    }
}

/// How some lanes and another one met.
fn race(address: u64, first: u64, second: u32) -> Race {
    let one = first.is_power_of_two().then(|| first.trailing_zeros());
    Race { address, first: one, second }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of accesses to one byte: lane, execution, and the value that is written, if it is no read.
    fn log(accesses: &[(u32, u32, Option<u8>)]) -> RaceLog {
        let (mut shadow, mut log, mut value) = (Shadow::default(), RaceLog::default(), 0);
        shadow.touch(0, &mut Spare::default());
        for &(lane, execution, written) in accesses {
            let access = Access { lane, atomic: false, execution };
            match written {
                None => shadow.read(&mut log, 1, 0, 64, access),
                Some(new) => {
                    shadow.write(&mut log, 1, (0, 64), new != value, access);
                    value = new;
                }
            }
        }
        log
    }

    #[test]
    fn equal_values_make_no_race() {
        let found = log(&[(0, 1, Some(5)), (1, 1, Some(5)), (2, 2, Some(5)), (1, 3, None)]);
        assert!(found.any() && found.matters().is_none(), "{found:?}");
        // Lane 2 has written nothing itself.
        let found = log(&[(0, 1, Some(5)), (1, 1, Some(5)), (2, 2, None)]);
        assert_eq!(found.matters().map(|(kind, _)| kind), Some(RaceKind::ReadAfterWrite));
    }

    #[test]
    fn the_last_lane_wins_only_in_one_execution_that_nobody_reads() {
        let found = log(&[(0, 1, Some(5)), (1, 1, Some(6))]);
        assert!(found.matters().is_none() && found.last_lane_wins.is_some(), "{found:?}");
        let found = log(&[(0, 1, Some(5)), (1, 1, Some(6)), (1, 2, None)]);
        assert_eq!(found.matters().map(|(kind, _)| kind), Some(RaceKind::ReadAfterWrite));
        let found = log(&[(0, 1, Some(5)), (1, 2, Some(6))]);
        assert_eq!(found.matters().map(|(kind, _)| kind), Some(RaceKind::WriteAfterWrite));
        // Two lanes agree, and then one of them changes its mind.
        let found = log(&[(0, 1, Some(5)), (1, 1, Some(5)), (1, 2, Some(6))]);
        assert_eq!(found.matters().map(|(kind, _)| kind), Some(RaceKind::WriteAfterWrite));
    }

    #[test]
    fn what_was_read_before_must_not_change() {
        assert!(log(&[(0, 1, None), (1, 2, Some(0))]).matters().is_none());
        let found = log(&[(0, 1, None), (1, 1, None), (1, 2, Some(1))]);
        let race = Race { address: 64, first: Some(0), second: 1 };
        assert_eq!(found.matters(), Some((RaceKind::WriteAfterRead, race)));
        assert!(!log(&[(0, 1, Some(3)), (0, 2, None), (0, 3, Some(4))]).any());
    }

    #[test]
    fn pages_serve_again() {
        let (mut shadow, mut log, mut spare) = (Shadow::default(), RaceLog::default(), Spare::default());
        for run in 1..4 {
            for (lane, at) in [(0, 5), (1, 300)] {
                shadow.touch(at, &mut spare);
                shadow.write(&mut log, run, (at, 64), true, Access { lane, atomic: false, execution: 1 });
            }
            shadow.forget(&mut spare);
            assert_eq!((spare.pages.len(), log.any()), (2, false));
        }
    }

    #[test]
    fn atomic_operations_race_with_others_only() {
        let (mut shadow, mut log) = (Shadow::default(), RaceLog::default());
        shadow.touch(0, &mut Spare::default());
        let atomic = |lane| Access { lane, atomic: true, execution: 1 };
        for lane in 0..3 {
            shadow.read(&mut log, 1, 0, 64, atomic(lane));
            shadow.write(&mut log, 1, (0, 64), true, atomic(lane));
        }
        assert!(log.matters().is_none() && log.atomic.is_some(), "{log:?}");
        shadow.read(&mut log, 1, 0, 64, Access { lane: 2, atomic: false, execution: 2 });
        assert_eq!(log.matters().map(|(kind, _)| kind), Some(RaceKind::ReadAfterWrite));
    }
}
