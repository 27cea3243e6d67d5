//! Outputs as the rest of the program makes them.

use std::os::unix::fs::symlink;
use std::process::Command;

use super::*;

fn written(path: &Path, contents: &[u8]) -> Result<()> {
    let mut outputs = Outputs::default();
    outputs.add(path, contents)?;
    outputs.commit()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn files_appear_on_commit_only() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    let mut outputs = Outputs::default();
    outputs.add(&a, b"one").unwrap();
    assert!(!a.exists());
    outputs.add(&b, b"two").unwrap();
    outputs.commit().unwrap();
    assert_eq!(std::fs::read(&a).unwrap(), b"one");
    let mut outputs = Outputs::default();
    outputs.add(&a, b"other").unwrap();
    drop(outputs);
    assert_eq!(std::fs::read(&a).unwrap(), b"one");
    assert_eq!(names(folder.path()), ["a", "b"]);
}

#[test]
fn several_files_appear_together_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let [old, new, third] = ["old", "new", "third"].map(|name| folder.path().join(name));
    std::fs::write(&old, "before").unwrap();
    let mut outputs = Outputs::default();
    for path in [&old, &new, &third] {
        outputs.add(path, b"after").unwrap();
    }
    // A folder that comes between, with something in it, cannot be renamed over.
    std::fs::create_dir_all(third.join("x")).unwrap();
    let error = outputs.commit().unwrap_err().to_string();
    assert!(error.contains("third"), "{error}");
    assert_eq!(std::fs::read(&old).unwrap(), b"before");
    assert_eq!(names(folder.path()), ["old", "third"]);
}

#[test]
fn links_are_followed_and_stay() {
    let folder = tempfile::tempdir().unwrap();
    let [link, second, file, missing] = ["link", "second", "file", "missing"].map(|n| folder.path().join(n));
    std::fs::write(&file, "before").unwrap();
    symlink("second", &link).unwrap();
    symlink("file", &second).unwrap();
    written(&link, b"after").unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), b"after");
    assert!(link.is_symlink() && second.is_symlink() && !file.is_symlink());
    std::fs::remove_file(&file).unwrap();
    written(&link, b"made").unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), b"made");
    symlink("missing", &missing).unwrap();
    assert!(written(&missing, b"").unwrap_err().to_string().contains("links"));
}

#[test]
fn what_is_no_regular_file_is_written_to_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status();
    if !made.is_ok_and(|status| status.success()) {
        return eprintln!("skipped: there is no mkfifo");
    }
    let reader = {
        let fifo = fifo.clone();
        std::thread::spawn(move || std::fs::read(fifo).unwrap())
    };
    written(&fifo, b"through").unwrap();
    assert_eq!(reader.join().unwrap(), b"through");
    assert!(std::fs::symlink_metadata(&fifo).unwrap().file_type().is_fifo());
    // Of a device only the kind is asked: were that wrong, writing would replace what the machine needs.
    assert_eq!(Target::of(Path::new("/dev/null")).unwrap(), Target::Device("/dev/null".into()));
    assert_eq!(Target::of(Path::new("-")).unwrap(), Target::Stdout);
    assert_eq!(names(folder.path()), ["fifo"]);
}

#[test]
fn a_read_only_file_stays() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "kept").unwrap();
    std::fs::set_permissions(&file, Permissions::from_mode(0o444)).unwrap();
    assert!(check([&*file], &[]).unwrap_err().to_string().contains("read-only"));
    assert!(written(&file, b"lost").unwrap_err().to_string().contains("read-only"));
    assert_eq!(std::fs::read(&file).unwrap(), b"kept");
}

#[test]
fn permissions_of_a_file_that_is_replaced_stay() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "before").unwrap();
    for mode in [0o600, 0o755, 0o666] {
        std::fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        written(&file, b"after").unwrap();
        assert_eq!(std::fs::metadata(&file).unwrap().mode() & 0o777, mode);
    }
}

#[test]
fn an_output_is_neither_an_input_nor_another_output() {
    let folder = tempfile::tempdir().unwrap();
    let [input, hard, soft, new] = ["input", "hard", "soft", "new"].map(|n| folder.path().join(n));
    std::fs::write(&input, "").unwrap();
    std::fs::hard_link(&input, &hard).unwrap();
    symlink("input", &soft).unwrap();
    let refused = |outputs: &[&Path], inputs: &[PathBuf], word: &str| {
        let text = check(outputs.iter().copied(), inputs).unwrap_err().to_string();
        assert!(text.contains(word), "{text}");
    };
    for output in [&input, &hard, &soft] {
        refused(&[output], std::slice::from_ref(&input), "it is the input");
        refused(&[output], &[new.clone(), soft.clone()], "it is the input");
        refused(&[&input, output], &[], "another output");
    }
    let twin = folder.path().join("../").join(folder.path().file_name().unwrap()).join("new");
    refused(&[&new, &twin], &[], "another output");
    refused(&[Path::new("-"), Path::new("-")], &[], "another output");
    check([&*new, &*hard], &[]).unwrap();
    assert!(Target::of(&folder.path().join("new/")).is_err() || !new.exists());
}

#[test]
fn a_missing_folder_is_named() {
    let text = check([Path::new("no/such/folder/x.o")], &[]).unwrap_err().to_string();
    assert!(text.contains("no/such/folder") && text.contains("create it"), "{text}");
}
