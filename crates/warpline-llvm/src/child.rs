//! Processes that this program starts: what memory they get, that they end with their parent, and what they tell it.
//!
//! A process that runs code of users may end in any way: `exit(0)` in a kernel ends it with the exit status of success.
//! So success is a message. The parent makes a [pipe](listen_to) before it starts the child, and the child
//! [tells](tell) what it does, line by line. A child that ends without having said [`DONE`] has not finished, whatever
//! its exit status says.

use std::io::{self, PipeReader, PipeWriter, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// How much memory a child gets where nothing else is said, in bytes.
pub(crate) const DEFAULT_MEMORY: u64 = 4 << 30;

/// The line that ends with an exit code and says that the child has done its work.
pub const DONE: &str = "done ";
/// The line that ends with the name of a program of the user's that begins to run.
pub const BEGINS: &str = "begins ";
/// The line that says that this program has returned.
pub const RETURNED: &str = "returned";
/// The line that ends with what was found; the child ends after it.
pub const FINDING: &str = "finding ";

/// The memory of children in bytes; 0 for no limit.
static MEMORY: AtomicU64 = AtomicU64::new(DEFAULT_MEMORY);

/// Says how much memory children get that are started from now on, in bytes of address space; 0 for no limit.
pub fn set_memory(bytes: u64) {
    MEMORY.store(bytes, Ordering::Relaxed);
}

/// How much memory children get, in bytes of address space; 0 for no limit.
pub fn memory() -> u64 {
    MEMORY.load(Ordering::Relaxed)
}

/// Lets a child that is yet to be started have [so much](set_memory) memory, leave no dump of it in a file, and end
/// when this process ends, which only Linux can be asked for.
pub fn bind(command: &mut Command) {
    let (parent, memory) = (std::process::id(), memory());
    // SAFETY: between `fork` and `exec` the closure makes system calls only; it allocates nothing and takes no lock.
    unsafe {
        command.pre_exec(move || {
            #[cfg(target_os = "linux")]
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                return Err(io::Error::last_os_error());
            }
            // The parent may have ended before the request.
            if libc::getppid() as u32 != parent {
                return Err(io::Error::from_raw_os_error(libc::ESRCH));
            }
            limit(libc::RLIMIT_CORE, 0)?;
            if memory != 0 { limit(libc::RLIMIT_AS, memory) } else { Ok(()) }
        });
    }
}

/// What the C library calls the kind of a limit.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
type Resource = libc::c_int;

/// Lowers a limit of this process; one that is lower stays. Makes system calls only.
fn limit(what: Resource, bytes: u64) -> io::Result<()> {
    let mut now = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls get the address of a local structure and keep nothing.
    let failed = unsafe {
        if libc::getrlimit(what, &raw mut now) != 0 {
            return Err(io::Error::last_os_error());
        }
        let lower = libc::rlimit { rlim_cur: now.rlim_cur.min(bytes), rlim_max: now.rlim_max.min(bytes) };
        libc::setrlimit(what, &raw const lower) != 0
    };
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The parent's end of a channel.
pub struct Listener {
    /// What the child says.
    pub lines: PipeReader,
    /// The number by which the child knows its end; for [`open_channel`].
    pub number: i32,
    /// The child's end, to be dropped when it has been started.
    kept: PipeWriter,
}

impl Listener {
    /// The lines alone, when the child has been started.
    pub fn started(self) -> PipeReader {
        drop(self.kept);
        self.lines
    }
}

/// A channel by which a child that is yet to be started reports. The child gets the [number](Listener::number) as an
/// argument.
///
/// # Errors
/// If the system has no more pipes.
pub fn listen_to(command: &mut Command) -> io::Result<Listener> {
    let (lines, kept) = io::pipe()?;
    let number = kept.as_raw_fd();
    // SAFETY: one system call, on a descriptor that the caller keeps open until the child has been started.
    unsafe {
        command.pre_exec(move || match libc::fcntl(number, libc::F_SETFD, 0) {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        });
    }
    Ok(Listener { lines, number, kept })
}

/// The child's end of the channel, and the number of the process.
static CHANNEL: OnceLock<(PipeWriter, u32)> = OnceLock::new();

/// Opens this process's end of a channel; processes that it starts do not get it. False if there is no such channel.
pub fn open_channel(number: i32) -> bool {
    // SAFETY: system calls on a number; where it is no descriptor they fail. The new descriptor is this function's own.
    let own = unsafe {
        if libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) == -1 {
            return false;
        }
        match libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) {
            -1 => return false,
            own => OwnedFd::from_raw_fd(own),
        }
    };
    CHANNEL.set((PipeWriter::from(own), std::process::id())).is_ok()
}

/// Tells the parent, if it listens: one of the kinds of lines above, and what it is about. A copy of this process that
/// the running code has made has nothing to tell, and ends.
pub fn tell(kind: &str, about: &str) {
    if let Some((channel, process)) = CHANNEL.get() {
        if *process != std::process::id() {
            end();
        }
        let mut channel = channel;
        // Who has gone away need not be told.
        let _ = channel.write_all(format!("{kind}{}\n", about.escape_debug()).as_bytes());
    }
}

/// Ends this process because of something that the running code does: the parent is told, or it is printed.
pub(crate) fn end_with(finding: &str) -> ! {
    if CHANNEL.get().is_none() {
        eprintln!("error: {}", finding.escape_debug());
        std::process::abort();
    }
    tell(FINDING, finding);
    end()
}

/// Ends this process without running what the code has registered for its end.
fn end() -> ! {
    // SAFETY: a system call that does not return.
    unsafe { libc::_exit(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_get_less_memory_and_no_dumps() {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -v; ulimit -c"]);
        bind(&mut command);
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let numbers: Vec<u64> = text.lines().map(|l| l.parse().unwrap()).collect();
        assert_eq!(numbers[1], 0);
        assert!(numbers[0] <= DEFAULT_MEMORY / 1024, "{text}");
    }

    #[test]
    fn a_child_reports_by_the_number_that_it_gets() {
        use std::io::Read as _;
        let mut command = Command::new("sh");
        let listener = listen_to(&mut command).unwrap();
        // Not every shell knows descriptors of two digits.
        command.args(["-c", &format!("echo begins >/proc/self/fd/{}", listener.number)]);
        assert!(command.status().unwrap().success());
        let mut text = String::new();
        listener.started().read_to_string(&mut text).unwrap();
        assert_eq!(text, "begins\n");
    }
}
