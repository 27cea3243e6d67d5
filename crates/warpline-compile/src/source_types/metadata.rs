//! Reads the metadata in LLVM's text of a module, as far as it speaks of types and functions.
//!
//! The text is that of a compiler, one node a line. Whatever is not understood is left out; a node that is not there is
//! a type without a name.

use std::collections::HashMap;

/// What stands behind the name of a field, or in a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Entry {
    /// A node, by its number.
    Node(u32),
    /// A text between quotation marks.
    Text(String),
    /// Anything else, such as a number or `DW_TAG_member`.
    Word(String),
}

/// A node: its kind, such as `DIBasicType`, which lists do not have, and its fields, without names in lists.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Node {
    pub(super) kind: String,
    pub(super) fields: Vec<(String, Entry)>,
}

impl Node {
    fn field(&self, name: &str) -> Option<&Entry> {
        self.fields.iter().find(|(own, _)| own == name).map(|(_, entry)| entry)
    }

    /// The node that a field names.
    pub(super) fn node(&self, name: &str) -> Option<u32> {
        match self.field(name)? {
            Entry::Node(number) => Some(*number),
            _ => None,
        }
    }

    /// The text of a field.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match self.field(name)? {
            Entry::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The word of a field; empty if it is not there.
    pub(super) fn word(&self, name: &str) -> &str {
        match self.field(name) {
            Some(Entry::Word(word)) => word,
            _ => "",
        }
    }

    /// The number of a field, where there is one.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.word(name).parse().ok()
    }

    /// Whether a word such as `DIFlagFwdDecl` is among the flags.
    pub(super) fn has_flag(&self, flag: &str) -> bool {
        self.word("flags").split('|').any(|own| own.trim() == flag)
    }

    /// The nodes of a list, `None` for what is no node.
    pub(super) fn list(&self) -> impl Iterator<Item = Option<u32>> + '_ {
        self.fields.iter().map(|(_, entry)| match entry {
            Entry::Node(number) => Some(*number),
            _ => None,
        })
    }
}

/// The metadata of a module.
#[derive(Default, Debug)]
pub(super) struct Metadata {
    pub(super) nodes: HashMap<u32, Node>,
    /// The `DISubprogram` of each function that is defined.
    pub(super) functions: HashMap<String, u32>,
    /// The variables of functions, by the number of the `DISubprogram`.
    pub(super) variables: HashMap<u32, Vec<u32>>,
}

impl Metadata {
    pub(super) fn read(text: &str) -> Metadata {
        let mut all = Metadata::default();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix('!') {
                let node = rest.split_once(" = ").and_then(|(number, node)| {
                    Some((number.parse().ok()?, read_node(node.strip_prefix("distinct ").unwrap_or(node))?))
                });
                all.nodes.extend(node);
            } else if let Some(rest) = line.strip_prefix("define ") {
                all.functions.extend(read_function(rest));
            }
        }
        for (&number, node) in &all.nodes {
            if let (true, Some(scope)) = (node.kind == "DILocalVariable", node.node("scope")) {
                all.variables.entry(scope).or_default().push(number);
            }
        }
        all
    }

    /// The name of a function, from the line that begins its definition.
    pub(super) fn function_name(line: &str) -> Option<String> {
        read_function(line).map(|(name, _)| name)
    }

    /// The name of a global variable and the number of its `DIGlobalVariableExpression`, from what stands behind its
    /// sign.
    pub(super) fn global(line: &str) -> Option<(String, u32)> {
        let name = match line.strip_prefix('"') {
            Some(quoted) => text_until_quote(quoted)?.0,
            None => line.split(" = ").next()?.to_owned(),
        };
        let (_, number) = line.rsplit_once("!dbg !")?;
        let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
        Some((name, digits.parse().ok()?))
    }

    /// A node of this number.
    pub(super) fn get(&self, number: Option<u32>) -> Option<&Node> {
        self.nodes.get(&number?)
    }
}

/// The name of a function and the number of its `DISubprogram`, from the line that begins its definition.
fn read_function(line: &str) -> Option<(String, u32)> {
    let (_, name) = line.split_once('@')?;
    let name = match name.strip_prefix('"') {
        Some(quoted) => text_until_quote(quoted)?.0,
        None => name.split('(').next()?.to_owned(),
    };
    let (_, number) = line.rsplit_once("!dbg !")?;
    let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
    Some((name, digits.parse().ok()?))
}

/// A text up to the quotation mark that ends it, and what stands behind that.
fn text_until_quote(text: &str) -> Option<(String, &str)> {
    let (raw, rest) = text.split_once('"')?;
    let bytes = raw.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = raw.get(at + 1..at + 3).filter(|_| bytes[at] == b'\\');
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    Some((String::from_utf8_lossy(&out).into_owned(), rest))
}

/// A node such as `!DIBasicType(name: "int", size: 32)` or `!{!1, null}`.
fn read_node(text: &str) -> Option<Node> {
    let text = text.strip_prefix('!')?;
    let begin = text.find(['(', '{'])?;
    let kind = text[..begin].to_owned();
    let mut node = Node { kind, fields: Vec::new() };
    let mut rest = &text[begin + 1..];
    loop {
        rest = rest.trim_start_matches([' ', ',']);
        if rest.is_empty() || rest.starts_with([')', '}']) {
            return Some(node);
        }
        let mut name = String::new();
        if !node.kind.is_empty()
            && let Some((before, after)) = rest.split_once(": ")
            && before.bytes().all(|c| c.is_ascii_alphanumeric())
        {
            name = before.to_owned();
            rest = after;
        }
        let (entry, behind) = read_entry(rest)?;
        node.fields.push((name, entry));
        rest = behind;
    }
}

/// An entry, and what stands behind it.
fn read_entry(text: &str) -> Option<(Entry, &str)> {
    if let Some(quoted) = text.strip_prefix('"').or_else(|| text.strip_prefix("!\"")) {
        let (text, rest) = text_until_quote(quoted)?;
        return Some((Entry::Text(text), rest));
    }
    if let Some(number) = text.strip_prefix('!')
        && number.starts_with(|c: char| c.is_ascii_digit())
    {
        let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
        return Some((Entry::Node(number[..end].parse().ok()?), &number[end..]));
    }
    // A word ends at a comma or a bracket that is none of its own.
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' if depth > 0 => depth -= 1,
            ')' | '}' | ',' if depth == 0 => {
                return Some((Entry::Word(text[..at].trim().to_owned()), &text[at..]));
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
    fn nodes_and_functions_are_read() {
        let text = "define dso_local void @k(i32 noundef %i) #0 !dbg !4 {\n}\n\
                    define void @\"a\\22b\"() !dbg !5 {\n}\ndeclare !dbg !9 void @x()\n\
                    !1 = !DIBasicType(name: \"float\", size: 32, encoding: DW_ATE_float)\n\
                    !2 = !{null, !1, !\"t\", i64 0}\n\
                    !3 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: \"a, b: \\5C(\", flags: \
                    DIFlagA | DIFlagFwdDecl, elements: !2, expr: !DIExpression(DW_OP_deref, 1), line: 7)\n!4 = oops\n";
        let all = Metadata::read(text);
        assert_eq!(all.functions, HashMap::from([("k".to_owned(), 4), ("a\"b".to_owned(), 5)]));
        let float = all.get(Some(1)).unwrap();
        assert_eq!((float.text("name"), float.number("size")), (Some("float"), Some(32)));
        assert_eq!(all.get(Some(2)).unwrap().list().collect::<Vec<_>>(), [None, Some(1), None, None]);
        let record = all.get(Some(3)).unwrap();
        assert_eq!(record.text("name"), Some("a, b: \\("));
        assert!(record.has_flag("DIFlagFwdDecl") && !record.has_flag("DIFlag"));
        assert_eq!((record.node("elements"), record.number("line")), (Some(2), Some(7)));
        assert!(all.get(Some(4)).is_none());
    }

    #[test]
    fn what_is_cut_off_is_left_out() {
        let line = "!1 = !DIDerivedType(tag: DW_TAG_member, name: \"x\", baseType: !2, size: 3)";
        for length in 0..line.len() {
            assert!(Metadata::read(&line[..length]).nodes.len() <= 1);
        }
        assert_eq!(Metadata::read(line).nodes[&1].fields.len(), 4);
    }
}
