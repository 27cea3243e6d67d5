//! Sources, sinks and sanitizers by name.

use std::fmt;

use warpline_ir::demangle;

/// A place at a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum At {
    /// The function as a whole: what that is depends on the list.
    Whole,
    /// The result.
    Result,
    /// The argument of this number, from 0.
    Argument(usize),
    /// This argument and all behind it.
    From(usize),
}

/// A place at a call, and how many pointers are followed from there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spot {
    /// The place.
    pub at: At,
    /// 0 is the value itself, 1 the memory that it leads to, and so on.
    pub depth: u8,
}

/// A function of a list, and what of it is meant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its name in the object file or in the source: the whole path, or the end of it.
    pub name: String,
    /// What of it.
    pub spot: Spot,
}

/// What is wrong with a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpecError {
    /// The entry.
    pub entry: String,
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is no entry; write NAME, NAME:ret, NAME:N for argument N from 0, NAME:N+ for it and all \
             behind, with a `*` before ret \
             or N for each pointer that is followed",
            self.entry
        )
    }
}

impl std::error::Error for SpecError {}

/// Where attackers' data comes from.
const SOURCES: &str = "main:**1,getenv:*ret,fgets:*0,gets:*0,read:*1,pread:*1,recv:*1,recvfrom:*1,fread:*0,getline:**0,\
    getdelim:**0,fgetc:ret,getc:ret,getchar:ret,scanf:*1+,fscanf:*2+,__isoc99_scanf:*1+,__isoc99_fscanf:*2+,__isoc23_scanf:*1+,__isoc23_fscanf:*2+,readlink:*1,\
    std::env::var,std::env::var_os,std::env::args,std::env::args_os,std::env::vars,std::fs::read,std::fs::read_to_string,\
    std::io::read_to_string";

/// Where it does harm: commands, libraries, format strings, sizes.
const SINKS: &str = "system:*0,popen:*0,execl:*0+,execlp:*0+,execle:*0+,execv:*0,execv:**1,execvp:*0,execvp:**1,execve:*0,\
    execve:**1,dlopen:*0,printf:*0,vprintf:*0,fprintf:*1,vfprintf:*1,dprintf:*1,sprintf:*1,vsprintf:*1,snprintf:*2,vsnprintf:*2,\
    syslog:*1,vsyslog:*1,__printf_chk:*1,__fprintf_chk:*2,__sprintf_chk:*3,__snprintf_chk:*4,memcpy:2,memmove:2,memset:2,\
    strncpy:2,strncat:2,malloc:0,calloc:0,calloc:1,realloc:1,llvm.memcpy:2,llvm.memmove:2,llvm.memset:2,__memcpy_chk:2,\
    sqlite3_exec:*1,mysql_query:*1,std::process::Command::new,std::process::Command::arg";

/// What is looked for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Spec {
    /// Where tainted data comes from: by default the result, what it leads to, and what is returned through memory.
    pub sources: Vec<Entry>,
    /// Where it must not go: by default all arguments and what they lead to.
    pub sinks: Vec<Entry>,
    /// What makes clean: a result; with an argument, that argument (and what it leads to) where the result is true,
    /// or with a star what it leads to after the call.
    pub sanitizers: Vec<Entry>,
    /// Whether a comparison with a constant makes a value clean.
    pub compare: bool,
}

impl Spec {
    /// The lists; those that are not given are the default ones, for C's and Rust's standard libraries. The word
    /// `compare` among the sanitizers stands for comparisons with constants.
    ///
    /// # Errors
    /// If an entry cannot be read.
    pub fn new(
        sources: Option<&str>,
        sinks: Option<&str>,
        sanitizers: Option<&str>,
    ) -> Result<Spec, SpecError> {
        let mut sanitizers = parse(sanitizers.unwrap_or_default())?;
        let count = sanitizers.len();
        sanitizers.retain(|e| e.name != "compare");
        Ok(Spec {
            sources: parse(sources.unwrap_or(SOURCES))?,
            sinks: parse(sinks.unwrap_or(SINKS))?,
            compare: sanitizers.len() < count,
            sanitizers,
        })
    }
}

fn parse(list: &str) -> Result<Vec<Entry>, SpecError> {
    list.split(',').map(str::trim).filter(|e| !e.is_empty()).map(entry).collect()
}

fn entry(text: &str) -> Result<Entry, SpecError> {
    // Paths have two colons.
    let cut = text.rfind(':').filter(|&i| !text[..i].ends_with(':'));
    let (name, spot) = match cut {
        Some(i) => (&text[..i], spot(&text[i + 1..])),
        None => (text, Some(Spot { at: At::Whole, depth: 0 })),
    };
    match spot.filter(|_| !name.is_empty()) {
        Some(spot) => Ok(Entry { name: name.to_owned(), spot }),
        None => Err(SpecError { entry: text.to_owned() }),
    }
}

/// Reads `ret`, `2`, `2+`, with stars before.
pub(super) fn spot(text: &str) -> Option<Spot> {
    let bare = text.trim_start_matches('*');
    let depth = u8::try_from(text.len() - bare.len()).ok().filter(|&d| d <= 3)?;
    let at = match (bare, bare.strip_suffix('+')) {
        ("ret", _) => At::Result,
        (_, Some(number)) => At::From(number.parse().ok()?),
        (number, None) => At::Argument(number.parse().ok()?),
    };
    Some(Spot { at, depth })
}

/// The names by which a function may be called in a list.
pub(super) struct Spoken {
    raw: String,
    path: String,
}

impl Spoken {
    /// Of the function with this name in the object file.
    pub(super) fn new(raw: &str) -> Spoken {
        Spoken { raw: raw.to_owned(), path: path(&demangle(raw)) }
    }

    /// Whether the function is meant by a name.
    pub(super) fn is(&self, name: &str) -> bool {
        let end = |whole: &str, separator: &str| {
            whole.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with(separator))
        };
        let overloaded = || name.starts_with("llvm.") && self.raw.starts_with(name);
        self.raw == name || end(&self.path, "::") || overloaded()
    }
}

/// The path of a demangled function, without parameters and generic arguments: `<T as Trait>::f::<U>` is `T::f`.
fn path(demangled: &str) -> String {
    let mut rest = demangled;
    let mut out = String::new();
    if rest.starts_with('<')
        && let Some(end) = closing(rest)
    {
        let inner = &rest[1..end];
        let ty = inner.split(" as ").next().unwrap_or(inner);
        out.push_str(&path(ty));
        rest = &rest[end + 1..];
    }
    while let Some(at) = rest.find(['<', '(']) {
        out.push_str(rest[..at].trim_end_matches("::"));
        rest = match (rest[at..].starts_with('<'), closing(&rest[at..])) {
            (true, Some(end)) => &rest[at + end + 1..],
            _ => "",
        };
    }
    out.push_str(rest);
    out
}

/// Where the angle bracket at the beginning is closed.
fn closing(text: &str) -> Option<usize> {
    let mut open = 0;
    for (at, c) in text.char_indices() {
        match c {
            '<' => open += 1,
            '>' if !text[..at].ends_with('-') => {
                open -= 1;
                if open == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_name_places_at_calls() {
        let at = |text: &str| entry(text).map(|e| (e.name, e.spot.at, e.spot.depth));
        assert_eq!(at("read:*1"), Ok(("read".into(), At::Argument(1), 1)));
        assert_eq!(at("scanf:*1+"), Ok(("scanf".into(), At::From(1), 1)));
        assert_eq!(at("getenv:*ret"), Ok(("getenv".into(), At::Result, 1)));
        assert_eq!(at("std::env::var"), Ok(("std::env::var".into(), At::Whole, 0)));
        assert_eq!(at("std::env::var:ret"), Ok(("std::env::var".into(), At::Result, 0)));
        for wrong in ["read:", ":1", "read:x", "read:****1", "read:-1"] {
            assert!(at(wrong).is_err(), "{wrong}");
        }
        assert!(
            Spec::new(None, None, Some("compare,clean")).is_ok_and(|s| s.compare && s.sanitizers.len() == 1)
        );
    }

    #[test]
    fn functions_are_called_by_their_paths() {
        assert_eq!(path("<std::process::Command>::new::<&str>"), "std::process::Command::new");
        assert_eq!(path("<alloc::vec::Vec<u8> as core::fmt::Debug>::fmt"), "alloc::vec::Vec::fmt");
        assert_eq!(path("ns::f(int, std::vector<int>)"), "ns::f");
        assert!(Spoken::new("system").is("system") && !Spoken::new("subsystem").is("system"));
        assert!(Spoken::new("llvm.memcpy.p0.p0.i64").is("llvm.memcpy"));
    }
}
