//! Work on several things at a time, as many as cargo allows: it has one token for each job beyond the first, which
//! build scripts take from a pipe and give back.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::sync::Mutex;

/// `O_NONBLOCK` of Linux, so that nobody waits for a token.
const NONBLOCKING: i32 = 0o4000;

/// Cargo's tokens.
struct Tokens {
    take: File,
    give: File,
}

impl Tokens {
    /// The tokens that this process may take, if it is told of any.
    fn of_this_process() -> Option<Tokens> {
        let flags = std::env::var("CARGO_MAKEFLAGS").or_else(|_| std::env::var("MAKEFLAGS")).ok()?;
        let given = flags.split_whitespace().rev().find_map(|flag| {
            flag.strip_prefix("--jobserver-auth=").or_else(|| flag.strip_prefix("--jobserver-fds="))
        })?;
        let (take, give) = match given.strip_prefix("fifo:") {
            Some(path) => (PathBuf::from(path), PathBuf::from(path)),
            None => {
                let (take, give) = given.split_once(',')?;
                let number = |text: &str| text.parse::<u32>().ok().map(|fd| format!("/proc/self/fd/{fd}"));
                (number(take)?.into(), number(give)?.into())
            }
        };
        let take = OpenOptions::new().read(true).custom_flags(NONBLOCKING).open(take).ok()?;
        let give = OpenOptions::new().write(true).open(give).ok()?;
        Some(Tokens { take, give })
    }

    /// Takes a token, if there is one.
    fn take(&self) -> Option<Token<'_>> {
        let mut byte = [0];
        matches!((&self.take).read(&mut byte), Ok(1)).then_some(Token { of: self, byte })
    }
}

/// A token, which goes back in the end.
struct Token<'a> {
    of: &'a Tokens,
    byte: [u8; 1],
}

impl Drop for Token<'_> {
    fn drop(&mut self) {
        let _ = (&self.of.give).write_all(&self.byte);
    }
}

/// Does something with each item, several at a time; the outcomes in the order of the items.
pub(crate) fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let most = std::env::var("NUM_JOBS").ok().and_then(|jobs| jobs.parse().ok()).unwrap_or(1usize);
    let tokens = Tokens::of_this_process();
    let next = Mutex::new(0..items.len());
    let done: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::new());
    let step = || {
        let Some(k) = next.lock().ok().and_then(|mut next| next.next()) else { return false };
        let outcome = work(&items[k]);
        done.lock().map(|mut done| done.push((k, outcome))).is_ok()
    };
    std::thread::scope(|scope| {
        for _ in 1..most.min(items.len()) {
            scope.spawn(|| {
                // Tokens come free while others work.
                while next.lock().is_ok_and(|next| !next.is_empty()) {
                    let Some(tokens) = &tokens else { return };
                    match tokens.take() {
                        Some(_token) => while step() {},
                        None => std::thread::sleep(std::time::Duration::from_millis(20)),
                    }
                }
            });
        }
        while step() {}
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by_key(|&(k, _)| k);
    done.into_iter().map(|(_, outcome)| outcome).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn outcomes_stand_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..100).collect();
        let doubled = super::each(&items, |&k| 2 * k);
        assert_eq!(doubled, items.iter().map(|k| 2 * k).collect::<Vec<_>>());
    }
}
