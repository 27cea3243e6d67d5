//! Types as C and C++ both write them.
//!
//! A declaration is written from the inside out: around a name grow stars, brackets and lists of parameters, until a
//! type with a name is reached. What has no name that both languages and every place know is refused with a reason.

use super::layout::{self, Record};
use super::metadata::Node;
use super::{Name, Needs, SourceTypes, Type};
use crate::c_names::is_word;

/// Types within types that are followed at most. Compilers make no deeper ones, and nodes may go in circles.
const DEEPEST: u32 = 48;

/// Types that one declaration consists of at most.
const MOST: u32 = 5_000;

/// Types of the C library that have the same name in C and C++ and are declared by `stdint.h` and `stddef.h`, with
/// their sizes in bits; 0 for that of a pointer.
const STANDARD: [(&str, u64); 15] = [
    ("int8_t", 8),
    ("int16_t", 16),
    ("int32_t", 32),
    ("int64_t", 64),
    ("uint8_t", 8),
    ("uint16_t", 16),
    ("uint32_t", 32),
    ("uint64_t", 64),
    ("intptr_t", 0),
    ("uintptr_t", 0),
    ("intmax_t", 64),
    ("uintmax_t", 64),
    ("size_t", 0),
    ("ptrdiff_t", 0),
    ("bool", 8),
];

/// The names of basic types that are the same in C and C++.
const BASIC: [&str; 15] = [
    "char",
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned int",
    "long",
    "unsigned long",
    "long long",
    "unsigned long long",
    "float",
    "double",
    "long double",
    "bool",
];

/// What stands before or behind a type: `const` and the like.
#[derive(Clone, Copy, Default)]
struct Qualifiers {
    constant: bool,
    volatile: bool,
    restrict: bool,
}

impl Qualifiers {
    /// In front of a type with a name.
    fn before(self) -> String {
        let words = [(self.constant, "const "), (self.volatile, "volatile ")];
        words.into_iter().filter(|(has, _)| *has).map(|(_, word)| word).collect()
    }

    /// Behind a star, in front of a declarator.
    fn behind_star(self, declarator: &str) -> String {
        let words = [(self.constant, "const"), (self.volatile, "volatile"), (self.restrict, "restrict")];
        let words: Vec<&str> = words.into_iter().filter(|(has, _)| *has).map(|(_, word)| word).collect();
        let gap = if words.is_empty() || declarator.is_empty() || declarator.starts_with(['[', ')']) {
            ""
        } else {
            " "
        };
        words.join(" ") + gap + declarator
    }
}

/// How a type is written.
pub(super) struct Spelling<'a> {
    types: &'a SourceTypes,
    /// What must be declared before; nothing is refused where nobody wants to know, but shown as it is.
    needs: Option<&'a mut Needs>,
    depth: u32,
    left: u32,
    /// Whether `restrict` says nothing where the type stands: in definitions.
    unrestricted: bool,
}

impl<'a> Spelling<'a> {
    /// For C and C++.
    pub(super) fn strict(types: &'a SourceTypes, needs: &'a mut Needs) -> Self {
        Self { types, needs: Some(needs), depth: 0, left: MOST, unrestricted: false }
    }

    /// For people.
    pub(super) fn lenient(types: &'a SourceTypes) -> Self {
        Self { types, needs: None, depth: 0, left: MOST, unrestricted: false }
    }

    fn is_lenient(&self) -> bool {
        self.needs.is_none()
    }

    /// A declaration of something of a type; `constant`: which cannot be changed. A type that is no pointer must be
    /// `complete` where there is one of it.
    pub(super) fn declare(
        &mut self,
        ty: Type,
        declarator: &str,
        constant: bool,
        complete: bool,
    ) -> Result<String, String> {
        let qualifiers = Qualifiers { constant, ..Qualifiers::default() };
        self.around(ty, declarator.to_owned(), qualifiers, complete)
    }

    fn around(
        &mut self,
        ty: Type,
        declarator: String,
        mut qualifiers: Qualifiers,
        complete: bool,
    ) -> Result<String, String> {
        self.depth += 1;
        self.left = self.left.saturating_sub(1);
        if self.depth > DEEPEST || self.left == 0 {
            return Err("is nested too deeply".to_owned());
        }
        let types = self.types;
        let Some(node) = types.node(ty) else { return Ok(named("void", qualifiers, &declarator)) };
        let base = node.node("baseType");
        let out = match (node.kind.as_str(), node.word("tag")) {
            ("DIBasicType", _) => Ok(named(self.basic(node)?, qualifiers, &declarator)),
            ("DISubroutineType", _) => self.function(node, &declarator),
            (_, "DW_TAG_const_type") => {
                qualifiers.constant = true;
                self.around(base, declarator, qualifiers, complete)
            }
            (_, "DW_TAG_volatile_type") => {
                qualifiers.volatile = true;
                self.around(base, declarator, qualifiers, complete)
            }
            (_, "DW_TAG_restrict_type") => {
                qualifiers.restrict = !self.unrestricted;
                self.around(base, declarator, qualifiers, complete)
            }
            (_, "DW_TAG_pointer_type" | "DW_TAG_reference_type" | "DW_TAG_rvalue_reference_type") => {
                let mut outer = format!("*{}", qualifiers.behind_star(&declarator));
                if types.needs_parentheses(base) {
                    outer = format!("({outer})");
                }
                self.around(base, outer, Qualifiers::default(), false)
            }
            (_, "DW_TAG_array_type") => {
                let dimensions = self.dimensions(node)?;
                self.around(base, declarator + &dimensions, qualifiers, true)
            }
            (_, "DW_TAG_typedef") => self.typedef(ty, node, declarator, qualifiers, complete),
            (_, "DW_TAG_structure_type" | "DW_TAG_union_type" | "DW_TAG_class_type") => {
                let name = self.record(ty, node, complete)?;
                Ok(named(&name, qualifiers, &declarator))
            }
            (_, "DW_TAG_enumeration_type") => {
                let name = self.enumeration(ty, node)?;
                Ok(named(&name, qualifiers, &declarator))
            }
            _ if self.is_lenient() => Ok(named("?", qualifiers, &declarator)),
            _ => Err("has no name in C".to_owned()),
        };
        self.depth -= 1;
        out
    }

    fn basic(&self, node: &'a Node) -> Result<&'a str, String> {
        let name = match node.text("name").unwrap_or_default() {
            "_Bool" => "bool",
            name => name,
        };
        if BASIC.contains(&name) || self.is_lenient() {
            return Ok(name);
        }
        Err(format!("`{name}` is no type of C and C++"))
    }

    /// A function with its parameters behind a declarator.
    fn function(&mut self, node: &Node, declarator: &str) -> Result<String, String> {
        let types = self.types;
        let list: Vec<Type> = types.node(node.node("types")).map(|n| n.list().collect()).unwrap_or_default();
        let mut params = Vec::new();
        for (i, &param) in list.iter().enumerate().skip(1) {
            let last = i + 1 == list.len();
            match param {
                None if last && list.len() > 2 => params.push("...".to_owned()),
                None => return Err("is a function without a list of parameters".to_owned()),
                _ => params.push(self.around(param, String::new(), Qualifiers::default(), false)?),
            }
        }
        let params = if params.is_empty() { "void".to_owned() } else { params.join(", ") };
        let result = list.first().copied().flatten();
        self.around(result, format!("{declarator}({params})"), Qualifiers::default(), false)
    }

    /// The lengths of an array in brackets.
    fn dimensions(&self, node: &Node) -> Result<String, String> {
        let types = self.types;
        if node.has_flag("DIFlagVector") {
            let len = types.lengths(node).first().copied().flatten().unwrap_or(0);
            return if self.is_lenient() { Ok(format!("[{len}]")) } else { Err("is a vector".to_owned()) };
        }
        let lengths = types.lengths(node);
        if lengths.is_empty() {
            return Err("is an array of unknown length".to_owned());
        }
        let mut out = String::new();
        for length in lengths {
            match length {
                Some(length) => out += &format!("[{length}]"),
                None if self.is_lenient() => out += "[]",
                None => return Err("is an array of which only the program knows the length".to_owned()),
            }
        }
        Ok(out)
    }

    fn typedef(
        &mut self,
        ty: Type,
        node: &Node,
        declarator: String,
        qualifiers: Qualifiers,
        complete: bool,
    ) -> Result<String, String> {
        let types = self.types;
        let name = node.text("name").unwrap_or_default();
        let base = node.node("baseType");
        if self.is_lenient() {
            return Ok(named(&types.qualified(node), qualifiers, &declarator));
        }
        let pointer = types.pointer_bits;
        let is_standard = STANDARD.iter().any(|&(own, bits)| {
            own == name && types.bits(base) == Some(if bits == 0 { pointer } else { bits })
        });
        if is_standard {
            return Ok(named(name, qualifiers, &declarator));
        }
        // Names that begin like this are not for users.
        let usable =
            is_word(name) && !name.starts_with("__") && types.is_global(node) && types.is_within_reach(node);
        if usable && self.declaration_of(ty, "", name, |own| own.typedef_text(name, base)) {
            if complete && types.is_record(ty) {
                // The name alone says nothing of its members.
                self.around(types.bare(ty), String::new(), Qualifiers::default(), true)?;
            }
            return Ok(named(name, qualifiers, &declarator));
        }
        self.around(base, declarator, qualifiers, complete)
    }

    fn typedef_text(&mut self, name: &str, base: Type) -> Result<String, String> {
        let inline = self.types.node(base).filter(|node| node.text("name").is_none());
        let text = match inline.map(|node| node.word("tag")) {
            Some("DW_TAG_structure_type" | "DW_TAG_union_type") => {
                self.inline_record(base)? + &format!(" {name}")
            }
            Some("DW_TAG_enumeration_type") => {
                format!("{} {name}", enumeration_text(self.types, base, "")?)
            }
            _ => self.around(base, name.to_owned(), Qualifiers::default(), false)?,
        };
        Ok(format!("typedef {text};"))
    }

    /// Notes that a type must be declared; whether it can be.
    fn declaration_of(
        &mut self,
        ty: Type,
        kind: &'static str,
        name: &str,
        text: impl FnOnce(&mut Self) -> Result<String, String>,
    ) -> bool {
        let Some(number) = ty else { return false };
        let Some(needs) = self.needs.as_deref_mut() else { return false };
        if needs.has(number) {
            return true;
        }
        // Nothing is left of what turns out to be impossible.
        let before = needs.clone();
        needs.begin(number);
        let (depth, unrestricted) = (self.depth, std::mem::replace(&mut self.unrestricted, true));
        let text = text(self);
        (self.depth, self.unrestricted) = (depth, unrestricted);
        let types = self.types;
        let Some(needs) = self.needs.as_deref_mut() else { return false };
        match text {
            Ok(text) => {
                needs.finish(number, Name { kind, name: name.to_owned() }, text, types);
                true
            }
            Err(_) => {
                *needs = before;
                false
            }
        }
    }

    /// `struct pixel`, and what must be known of it.
    fn record(&mut self, ty: Type, node: &Node, complete: bool) -> Result<String, String> {
        let types = self.types;
        if self.is_lenient() {
            return Ok(types.qualified(node));
        }
        let name = node.text("name").unwrap_or_default();
        if name.is_empty() && complete {
            return self.inline_record(ty);
        }
        if !complete && let Some(name) = self.alias(ty, node) {
            return Ok(name);
        }
        let kind = record_kind(node).ok_or_else(|| "is a class".to_owned())?;
        if !is_word(name) || !types.is_global(node) {
            return Err("has no name in C".to_owned());
        }
        let named = format!("{kind} {name}");
        if !complete {
            if let Some(needs) = self.needs.as_deref_mut() {
                needs.forward(&named, ty);
            }
            return Ok(named);
        }
        match self.declaration_of(ty, kind, name, |own| Ok(format!("{named} {{\n{}}};", own.members(ty)?))) {
            true => Ok(named),
            false => Err("cannot be written in C".to_owned()),
        }
    }

    /// Another name for a record in namespaces of which pointers are passed: in C++ it is the record, in C one of which
    /// nothing is known.
    fn alias(&mut self, ty: Type, node: &Node) -> Option<String> {
        let name = node.text("name").filter(|name| is_word(name))?;
        let kind = record_kind(node).unwrap_or("class");
        let types = self.types;
        let spaces = types.namespaces(node)?;
        let alias = [&spaces[..], &[name]].concat().join("_");
        let open: String = spaces.iter().map(|space| format!("namespace {space} {{ ")).collect();
        let text = format!(
            "#ifdef __cplusplus\n{open}{kind} {name};{close}\ntypedef {whole} {alias};\n#else\ntypedef struct {alias} \
             {alias};\n#endif",
            close = " }".repeat(spaces.len()),
            whole = [&spaces[..], &[name]].concat().join("::"),
        );
        let is_new = self.needs.as_deref_mut()?.alias(ty?, &alias, text);
        is_new.then_some(alias)
    }

    /// A record without a name.
    fn inline_record(&mut self, ty: Type) -> Result<String, String> {
        let node = self.types.node(ty).ok_or_else(String::new)?;
        let kind = record_kind(node).ok_or_else(|| "is a class".to_owned())?;
        Ok(format!("{kind} {{\n{}}}", self.members(ty)?))
    }

    /// The members of a record, a line each, if C lays them out as they are.
    fn members(&mut self, ty: Type) -> Result<String, String> {
        let Record { members } = layout::of_record(self.types, ty)?;
        let mut out = String::new();
        for member in members {
            let mut text = self.around(member.ty, member.name.clone(), Qualifiers::default(), true)?;
            if member.name.is_empty() {
                // C has that since C11.
                text.insert_str(0, "__extension__ ");
            }
            if let Some(bits) = member.bit_field {
                text += &format!(" : {bits}");
            }
            for line in text.lines() {
                out += &format!("    {line}\n");
            }
            out.pop();
            out += ";\n";
        }
        Ok(out)
    }

    fn enumeration(&mut self, ty: Type, node: &Node) -> Result<String, String> {
        let types = self.types;
        if self.is_lenient() {
            return Ok(types.qualified(node));
        }
        let name = node.text("name").unwrap_or_default();
        if name.is_empty() {
            // Nobody needs more of it than the integer that it is.
            let base = types.node(node.node("baseType")).and_then(|base| base.text("name"));
            let base = base.filter(|base| BASIC.contains(base)).ok_or("has no name in C")?;
            return Ok(base.to_owned());
        }
        if !is_word(name) || !types.is_global(node) {
            return Err("has no name in C".to_owned());
        }
        match self.declaration_of(ty, "enum", name, |own| Ok(enumeration_text(own.types, ty, name)? + ";")) {
            true => Ok(format!("enum {name}")),
            false => Err("cannot be written in C".to_owned()),
        }
    }
}

/// An enumeration with its enumerators.
fn enumeration_text(types: &SourceTypes, ty: Type, name: &str) -> Result<String, String> {
    let node = types.node(ty).ok_or_else(String::new)?;
    if node.has_flag("DIFlagEnumClass") || node.number("size") != Some(32) {
        return Err("is an enumeration of another size".to_owned());
    }
    let all = types.node(node.node("elements")).map(|list| list.list().collect::<Vec<_>>());
    let mut out = Vec::new();
    for one in all.unwrap_or_default() {
        let one = types.node(one).ok_or_else(String::new)?;
        let (name, value) = (one.text("name").unwrap_or_default(), one.word("value"));
        let fits = value.parse::<i64>().is_ok_and(|v| (-(1i64 << 31)..1i64 << 31).contains(&v));
        if !is_word(name) || !fits {
            return Err("has an enumerator without a name in C".to_owned());
        }
        out.push(format!("{name} = {value}"));
    }
    if out.is_empty() {
        return Err("has no enumerators".to_owned());
    }
    let gap = if name.is_empty() { "" } else { " " };
    Ok(format!("enum{gap}{name} {{ {} }}", out.join(", ")))
}

fn record_kind(node: &Node) -> Option<&'static str> {
    match node.word("tag") {
        "DW_TAG_structure_type" => Some("struct"),
        "DW_TAG_union_type" => Some("union"),
        _ => None,
    }
}

/// A type with a name around a declarator.
fn named(name: &str, qualifiers: Qualifiers, declarator: &str) -> String {
    let gap =
        if declarator.is_empty() || declarator.starts_with('[') && declarator.len() < 2 { "" } else { " " };
    format!("{}{name}{gap}{declarator}", qualifiers.before())
}
