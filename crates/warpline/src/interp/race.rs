//! Races between the lanes of a group: which lane touched which byte.

/// An access by a lane.
#[derive(Copy, Clone, Debug)]
pub(super) enum Access {
    /// The lane reads.
    Read(u32),
    /// The lane writes.
    Write(u32),
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

/// The races of a run: the first one of each kind.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct RaceLog {
    /// A lane read a byte that another lane had written.
    pub read_after_write: Option<Race>,
    /// A lane wrote a byte that another lane had read.
    pub write_after_read: Option<Race>,
    /// A lane wrote a byte that another lane had written.
    pub write_after_write: Option<Race>,
}

impl RaceLog {
    /// Whether any two lanes touched a byte that one of them wrote.
    pub fn any(&self) -> bool {
        self.first().is_some()
    }

    /// Some race, if there was one.
    pub fn first(&self) -> Option<Race> {
        self.read_after_write.or(self.write_after_read).or(self.write_after_write)
    }
}

const NOBODY: u8 = 0xff;
/// More than one lane has read.
const SEVERAL: u8 = 0xfe;

/// Per byte: the run in which it was last touched, its last writer and its reader in that run, in 48, 8 and 8 bits.
/// Beginning a new run thus costs nothing.
#[derive(Clone, Default, Debug)]
pub(super) struct Shadow {
    bytes: Vec<u64>,
}

/// Bytes of an allocation that are accessed.
#[derive(Copy, Clone, Debug)]
pub(super) struct Range {
    /// The address of the allocation.
    pub base: u64,
    /// Its size.
    pub total: usize,
    /// The first byte accessed.
    pub offset: usize,
    /// How many bytes.
    pub size: usize,
}

impl Shadow {
    /// Records an access in run number `run`, which is not 0.
    pub(super) fn access(&mut self, log: &mut RaceLog, run: u64, range: Range, access: Access) {
        if self.bytes.is_empty() {
            self.bytes = vec![0; range.total];
        }
        for (k, entry) in self.bytes[range.offset..range.offset + range.size].iter_mut().enumerate() {
            let (mut writer, mut reader) = match *entry >> 16 == run {
                true => ((*entry >> 8) as u8, *entry as u8),
                false => (NOBODY, NOBODY),
            };
            let race = |first: u8, second: u32| {
                let address = range.base + (range.offset + k) as u64;
                Race { address, first: (first != SEVERAL).then_some(first.into()), second }
            };
            match access {
                Access::Read(lane) => {
                    if writer != NOBODY && u32::from(writer) != lane {
                        log.read_after_write.get_or_insert(race(writer, lane));
                    }
                    let me = lane as u8;
                    reader = if reader == NOBODY || reader == me { me } else { SEVERAL };
                }
                Access::Write(lane) => {
                    if writer != NOBODY && u32::from(writer) != lane {
                        log.write_after_write.get_or_insert(race(writer, lane));
                    }
                    if reader != NOBODY && u32::from(reader) != lane {
                        log.write_after_read.get_or_insert(race(reader, lane));
                    }
                    writer = lane as u8;
                }
            }
            *entry = run << 16 | u64::from(writer) << 8 | u64::from(reader);
        }
    }
}
