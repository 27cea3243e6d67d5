//! The definitions of OpenCL C's builtins as clang compiled them, kept from one process to the next.
//!
//! To compile them takes longer than all that is done with most kernels, and whoever changes a kernel needs the same
//! ones again. What clang makes of them depends on their text, on its arguments and on itself, and what is left of that
//! on what the module asks for: a file says all of that in front of the bitcode, and its name is made from it.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::cache;
use crate::frontend::Builtins;

/// How many are kept: one for each choice of builtins, target and machine.
const MOST: usize = 64;

/// What compiled definitions are kept under.
pub(super) struct Key {
    file: PathBuf,
    /// What stands in front of the bitcode.
    head: Vec<u8>,
}

impl Key {
    /// Of definitions of functions with these names and types; `None` if what is kept could not be told from what
    /// would be made now.
    pub(super) fn new(text: &str, types: &BTreeMap<String, String>, builtins: &Builtins) -> Option<Key> {
        let Builtins { program, own, arguments } = builtins;
        // Who calls clang by way of another program has caches of their own.
        let real = std::fs::canonicalize(program).ok().filter(|_| own.is_empty())?;
        let data = std::fs::metadata(&real).ok()?;
        let made = (env!("CARGO_PKG_VERSION"), data.len(), data.mtime(), data.mtime_nsec());
        let words = format!("{made:?} {program:?} {real:?} {arguments:?}\n{types:?}\n{text}");
        let mut hasher = DefaultHasher::new();
        words.hash(&mut hasher);
        let file = cache::folder()?.join("builtins").join(format!("{:016x}", hasher.finish()));
        let mut head = words.len().to_string().into_bytes();
        head.push(b' ');
        head.extend(words.into_bytes());
        Some(Key { file, head })
    }

    /// The bitcode, if it was kept.
    pub(super) fn read(&self) -> Option<Vec<u8>> {
        let mut kept = std::fs::read(&self.file).ok()?;
        kept.starts_with(&self.head).then(|| kept.split_off(self.head.len()))
    }

    /// Keeps bitcode, in place of the oldest if there are too many.
    pub(super) fn write(&self, bitcode: &[u8]) {
        cache::write(&self.file, &[&self.head, bitcode].concat());
        if let Some(folder) = self.file.parent() {
            forget_oldest(folder);
        }
    }
}

fn forget_oldest(folder: &Path) {
    let Ok(files) = std::fs::read_dir(folder) else { return };
    let age = |file: std::fs::DirEntry| {
        let written = file.metadata().and_then(|data| data.modified());
        (written.unwrap_or(SystemTime::UNIX_EPOCH), file.path())
    };
    let mut files: Vec<_> = files.filter_map(|file| Some(age(file.ok()?))).collect();
    files.sort();
    for (_, file) in &files[..files.len().saturating_sub(MOST)] {
        let _ = std::fs::remove_file(file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_for_other_words_is_not_taken() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let file = folder.path().join("x");
        let key = |head: &str| Key { file: file.clone(), head: head.as_bytes().to_vec() };
        assert_eq!(key("5 abcde").read(), None);
        key("5 abcde").write(b"BC");
        assert_eq!(key("5 abcde").read(), Some(b"BC".to_vec()));
        assert_eq!(key("5 abcdf").read(), None);
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        for number in 0..MOST + 3 {
            let file = folder.path().join(number.to_string());
            Key { file: file.clone(), head: vec![b'x'] }.write(b"");
            let written = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(number as u64 + 1);
            let file = std::fs::File::options().append(true).open(file).expect("it was written");
            file.set_modified(written).expect("it is ours");
        }
        forget_oldest(folder.path());
        let left = std::fs::read_dir(folder.path()).expect("it is there").count();
        assert!(left == MOST && folder.path().join("3").exists() && !folder.path().join("2").exists());
    }
}
