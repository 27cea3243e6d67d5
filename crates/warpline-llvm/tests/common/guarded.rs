//! Memory that machine code cannot leave unnoticed: inaccessible pages lie around it.

use std::ptr;

/// Bytes with an inaccessible page on each side. They touch the page on one side; between them and the other lie
/// canaries.
pub struct Guarded {
    base: *mut u8,
    mapped: usize,
    offset: usize,
    len: usize,
    page: usize,
}

/// What lies around the bytes on accessible pages.
const CANARY: u8 = 0xa5;

impl Guarded {
    /// A copy of `bytes`. `at_end`: whether the byte after the last one is inaccessible, or the one before the first.
    pub fn new(bytes: &[u8], at_end: bool) -> Guarded {
        // SAFETY: a question without preconditions.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).expect("a page size");
        let inner = bytes.len().max(1).next_multiple_of(page);
        let mapped = inner + 2 * page;
        // SAFETY: a fresh private mapping, of which the pages between the outer two are made accessible; results are
        // checked.
        let base = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let base = libc::mmap(ptr::null_mut(), mapped, libc::PROT_NONE, flags, -1, 0).cast::<u8>();
            assert_ne!(base.cast(), libc::MAP_FAILED, "no memory");
            let access = libc::PROT_READ | libc::PROT_WRITE;
            assert_eq!(libc::mprotect(base.add(page).cast(), inner, access), 0, "no memory");
            base
        };
        let offset = if at_end { page + inner - bytes.len() } else { page };
        let mut made = Guarded { base, mapped, offset, len: bytes.len(), page };
        made.accessible().fill(CANARY);
        let start = offset - page;
        made.accessible()[start..start + bytes.len()].copy_from_slice(bytes);
        made
    }

    /// The address of the first byte.
    pub fn address(&self) -> u64 {
        self.base as u64 + self.offset as u64
    }

    /// The bytes; `None` if something was written beside them.
    pub fn bytes(&mut self) -> Option<Vec<u8>> {
        let (start, end) = (self.offset - self.page, self.offset - self.page + self.len);
        let all = self.accessible();
        let intact = all[..start].iter().chain(&all[end..]).all(|&b| b == CANARY);
        intact.then(|| all[start..end].to_vec())
    }

    fn accessible(&mut self) -> &mut [u8] {
        // SAFETY: the pages between the outer two are mapped, accessible and initialised by the system; `self` is
        // borrowed mutably and nobody runs machine code meanwhile.
        unsafe { std::slice::from_raw_parts_mut(self.base.add(self.page), self.mapped - 2 * self.page) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: this owns the mapping.
        unsafe { libc::munmap(self.base.cast(), self.mapped) };
    }
}

#[test]
fn bytes_written_beside_are_noticed() {
    for at_end in [false, true] {
        let mut guarded = Guarded::new(&[1, 2, 3], at_end);
        assert_eq!(guarded.bytes().as_deref(), Some(&[1, 2, 3][..]));
        let start = guarded.offset - guarded.page;
        guarded.accessible()[start + 1] = 7;
        assert_eq!(guarded.bytes().as_deref(), Some(&[1, 7, 3][..]));
        let beside = if at_end { start - 1 } else { start + 3 };
        guarded.accessible()[beside] = 7;
        assert_eq!(guarded.bytes(), None);
    }
}
