//! Names in the text form: quoting, and which of a function's things keep their names.

use std::collections::HashSet;
use std::fmt::Write;

use cranelift_entity::EntitySet;

use crate::printable::is_unsafe;
use crate::{Block, Function, Value, Var};

/// Characters of names that need no quotation marks.
pub(super) fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '$')
}

/// The number `n` if `word` is `prefix` and `n` in decimal.
pub(super) fn id_number(word: &str, prefix: &str) -> Option<u32> {
    let digits = word.strip_prefix(prefix)?;
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then(|| digits.parse().ok())?
}

fn looks_like_id(word: &str, prefix: &str) -> bool {
    word.strip_prefix(prefix).is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))
}

/// Appends `text` in quotation marks.
pub(super) fn quote_into(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        if is_unsafe(c) || matches!(c, '"' | '\\') {
            let mut buffer = [0; 4];
            for b in c.encode_utf8(&mut buffer).bytes() {
                let _ = write!(out, "\\{b:02x}");
            }
        } else {
            out.push(c);
        }
    }
    out.push('"');
}

/// Appends bytes in quotation marks.
pub(super) fn quote_bytes_into(out: &mut String, bytes: &[u8]) {
    out.push('"');
    for &b in bytes {
        if matches!(b, b' '..=b'~') && !matches!(b, b'"' | b'\\') {
            out.push(char::from(b));
        } else {
            let _ = write!(out, "\\{b:02x}");
        }
    }
    out.push('"');
}

/// Appends a name, in quotation marks if it needs them. `id_prefix` is the letter of ids of this kind (or
/// empty): names that look like ids are quoted.
pub(super) fn name_into(out: &mut String, name: &str, id_prefix: &str) {
    let plain = !name.is_empty() && name.chars().all(is_name_char);
    if plain && !name.contains("..") && (id_prefix.is_empty() || !looks_like_id(name, id_prefix)) {
        out.push_str(name);
    } else {
        quote_into(out, name);
    }
}

/// How the values, blocks and variables of a function are called in its text form.
///
/// The first thing of a name, in the order of the text, keeps it; all others go by their ids.
#[derive(Clone, Debug)]
pub struct Names<'a> {
    func: &'a Function,
    values: EntitySet<Value>,
    blocks: EntitySet<Block>,
    vars: EntitySet<Var>,
}

impl<'a> Names<'a> {
    /// Finds the names of a function's text form, in time linear in its length.
    pub fn new(func: &'a Function) -> Names<'a> {
        let mut names =
            Names { func, values: EntitySet::new(), blocks: EntitySet::new(), vars: EntitySet::new() };
        let mut taken: HashSet<&str> = HashSet::new();
        let body = func.layout.iter().flat_map(|&b| func.block_insts(b));
        let results = body.flat_map(|i| func.insts[i].results.iter());
        for &v in func.params.iter().chain(results) {
            let name = &func.values[v].name;
            if !name.is_empty() && taken.insert(name) {
                names.values.insert(v);
            }
        }
        taken.clear();
        for &b in &func.layout {
            let name = &func.blocks[b].name;
            if !name.is_empty() && taken.insert(name) {
                names.blocks.insert(b);
            }
        }
        taken.clear();
        for (x, data) in func.vars.iter() {
            if !data.name.is_empty() && taken.insert(&data.name) {
                names.vars.insert(x);
            }
        }
        names
    }

    /// `%name` or `%v12`. Constants, too, go by their ids here: their text is
    /// [`constant_text`](super::constant_text).
    pub fn value(&self, v: Value) -> String {
        let mut out = String::from("%");
        if self.values.contains(v) {
            name_into(&mut out, &self.func.values[v].name, "v");
        } else {
            let _ = write!(out, "{v}");
        }
        out
    }

    /// `name` or `b2`.
    pub fn block(&self, b: Block) -> String {
        let mut out = String::new();
        let name = &self.func.blocks[b].name;
        if !self.blocks.contains(b) {
            let _ = write!(out, "{b}");
        } else if &**name == "opaque" || name.starts_with(|c: char| c.is_ascii_digit() || c == '$') {
            quote_into(&mut out, name);
        } else {
            name_into(&mut out, name, "b");
        }
        out
    }

    /// `$name` or `$x3`.
    pub fn var(&self, x: Var) -> String {
        let mut out = String::from("$");
        if self.vars.contains(x) {
            name_into(&mut out, &self.func.vars[x].name, "x");
        } else {
            let _ = write!(out, "{x}");
        }
        out
    }
}
