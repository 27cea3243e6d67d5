//! The library and the program, as releases have them side by side.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The folder that has them. Cargo builds both as examples, in a folder near this test.
pub fn built() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let test = std::env::current_exe().unwrap();
        let examples = test.parent().unwrap().parent().unwrap().join("examples");
        let folder = examples.join("side-by-side");
        fs::create_dir_all(&folder).unwrap();
        let files = [("libwarpline.so", "libwarpline.so"), ("libwarpline.a", "libwarpline.a")];
        for (from, to) in files.into_iter().chain([("program", "warpline")]) {
            // Another test may use what an earlier build left, so it is replaced at once.
            let new = folder.join(format!("{to}.{}", std::process::id()));
            fs::hard_link(examples.join(from), &new).unwrap();
            fs::rename(&new, folder.join(to)).unwrap();
            // Where it is the same file, it stays.
            let _ = fs::remove_file(new);
        }
        folder
    })
}
