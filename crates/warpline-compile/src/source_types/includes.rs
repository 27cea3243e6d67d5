//! How a source includes the headers that its types are from.
//!
//! clang lists which header it enters within which. The name behind `#include` is looked up in the including file: a
//! project's include folders are those of whoever includes our header, too. Of the headers around a type, the
//! outermost is taken that is found by such a folder, since inner ones are often not to be included alone; if there is
//! none, the outermost that lies beside the source.

use std::path::{Component, Path, PathBuf};

/// Text of a file that is looked at, at most.
const MOST: u64 = 16 << 20;

/// The headers of a source.
#[derive(Debug, Default)]
pub(super) struct Includes {
    source: PathBuf,
    /// In the order in which they are entered, with how many files around them.
    headers: Vec<(usize, PathBuf)>,
}

/// A line that includes a header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Include {
    /// What stands behind `#include`.
    pub(super) spelled: String,
    /// The file.
    pub(super) path: PathBuf,
    /// Whether it is found because it lies beside the file that includes it.
    pub(super) beside: bool,
}

impl Includes {
    pub(super) fn new(source: &Path, headers: Vec<(usize, PathBuf)>) -> Includes {
        let headers = headers.into_iter().map(|(depth, path)| (depth, plain(&path))).collect();
        Includes { source: plain(source), headers }
    }

    /// Whether a file is the source itself.
    pub(super) fn is_source(&self, file: &Path) -> bool {
        plain(file) == self.source
    }

    /// Whether a file is a header that can be included by name.
    pub(super) fn knows(&self, file: &Path) -> bool {
        self.line_for(file).is_some()
    }

    /// The line that makes known what a header defines.
    pub(super) fn line_for(&self, file: &Path) -> Option<Include> {
        let file = plain(file);
        let mut around: Vec<&Path> = Vec::new();
        for (depth, path) in &self.headers {
            around.truncate(depth.saturating_sub(1));
            around.push(path);
            if *path == file {
                break;
            }
        }
        if around.last() != Some(&&*file) {
            return None;
        }
        let mut including: &Path = &self.source;
        let mut best: Option<Include> = None;
        for header in around {
            if let Some(include) = line(including, header)
                && best.as_ref().is_none_or(|best| best.beside && !include.beside)
            {
                best = Some(include);
            }
            including = header;
        }
        best
    }
}

/// The line of a file by which it includes a header.
fn line(including: &Path, header: &Path) -> Option<Include> {
    let known = std::fs::metadata(including).ok()?;
    if !known.is_file() || known.len() > MOST {
        return None;
    }
    let text = String::from_utf8_lossy(&std::fs::read(including).ok()?).into_owned();
    for line in text.lines() {
        let Some(rest) = line.trim_start().strip_prefix('#') else { continue };
        let Some(rest) = rest.trim_start().strip_prefix("include") else { continue };
        let rest = rest.trim_start();
        let end = if rest.starts_with('<') { '>' } else { '"' };
        let Some((name, _)) =
            rest.get(1..).filter(|_| rest.starts_with(['<', '"'])).and_then(|r| r.split_once(end))
        else {
            continue;
        };
        if !name.is_empty() && is_plain_text(name) && header.ends_with(plain(Path::new(name))) {
            let quoted = end == '"';
            let own = plain(&including.parent().unwrap_or(Path::new("")).join(name));
            let spelled = rest[..name.len() + 2].to_owned();
            return Some(Include { spelled, path: header.to_owned(), beside: quoted && own == header });
        }
    }
    None
}

/// Whether a name can stand in a line of ours.
pub(super) fn is_plain_text(name: &str) -> bool {
    name.bytes().all(|c| c.is_ascii_alphanumeric() || b"_-+./@, ".contains(&c))
}

/// A path without what leads nowhere.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            _ => out.push(part),
        }
    }
    out
}

/// The way from a folder to a file, both as the file system knows them.
pub(super) fn relative(folder: &Path, file: &Path) -> Option<String> {
    let (folder, file) = (folder.canonicalize().ok()?, file.canonicalize().ok()?);
    let shared = folder.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    let mut way = PathBuf::new();
    folder.components().skip(shared).for_each(|_| way.push(".."));
    file.components().skip(shared).for_each(|part| way.push(part));
    way.to_str().filter(|text| is_plain_text(text)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outermost_header_that_an_include_folder_has_is_included() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("include/lib")).unwrap();
        std::fs::create_dir_all(at("src")).unwrap();
        std::fs::write(at("src/k.c"), "#include \"own.h\"\n # include <stdio.h>\n").unwrap();
        std::fs::write(at("src/own.h"), "#include \"lib/all.h\"\n").unwrap();
        std::fs::write(at("include/lib/all.h"), "#include \"types.h\"\n").unwrap();
        std::fs::write(at("include/lib/types.h"), "").unwrap();
        let headers = vec![
            (1, at("src/./own.h")),
            (2, at("include/lib/all.h")),
            (3, at("include/lib/types.h")),
            (1, "/usr/include/stdio.h".into()),
            (2, "/usr/include/bits/x.h".into()),
        ];
        let all = Includes::new(&at("src/k.c"), headers);
        let spelled = |path: PathBuf| all.line_for(&path).map(|line| (line.spelled, line.beside));
        assert_eq!(spelled(at("include/lib/types.h")), Some(("\"lib/all.h\"".to_owned(), false)));
        assert_eq!(spelled(at("src/own.h")), Some(("\"own.h\"".to_owned(), true)));
        assert_eq!(spelled("/usr/include/bits/x.h".into()), Some(("<stdio.h>".to_owned(), false)));
        assert_eq!(spelled(at("src/other.h")), None);
        assert!(all.is_source(&at("src/../src/k.c")) && all.knows(&at("src/own.h")));
        let way = relative(&at("src"), &at("include/lib/types.h"));
        assert_eq!(way.as_deref(), Some("../include/lib/types.h"));
    }
}
