//! What the types of functions are called in the source, for headers.
//!
//! LLVM's types say `ptr` and `i32`. What clang tells debuggers says the rest: names, qualifiers, members, and the
//! file in which each type is defined. That is read here, not clang's syntax tree (`-ast-dump`), for three reasons:
//! functions are found by their names in the object file, instances of templates included; one compilation serves all
//! functions of a source, and it is small, since only types that are used occur; and modules in LLVM IR that were
//! compiled with `-g` have it, too.
//!
//! * `metadata` reads LLVM's text.
//! * `spelling` writes declarations that are C and C++, and notes what must be declared before.
//! * `layout` says whether a record can be written down again.
//! * `includes` finds how the source includes a header.
//! * `debug` has what reports need of any language: variables, and members of types.
//! * `declarations` writes what was noted.

mod debug;
mod declarations;
mod includes;
mod layout;
mod metadata;
mod numbers;
mod spelling;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use warpline_ir::{Scalar, Type as IrType};
use warpline_llvm::described::{self, Described};
use warpline_llvm::{FrontEnd, Imported, InputKind};

use crate::c_names::is_word;
use crate::options::KernelOptions;
pub use debug::Debug;
use includes::Includes;
use metadata::{Metadata, Node};
pub(crate) use numbers::Meaning;
use spelling::Spelling;

/// A type, by the number of its node; `None` is `void`.
pub(crate) type Type = Option<u32>;

/// What is known of the types of an input's functions.
#[derive(Debug, Default)]
pub struct SourceTypes {
    metadata: Metadata,
    /// The size of a pointer in bits.
    pointer_bits: u64,
    includes: Includes,
    needs: RefCell<Needs>,
}

/// A function as the source declares it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SourceFunction {
    /// Its parameters: names, empty where there are none, and types.
    pub(crate) params: Vec<(String, Type)>,
    /// Its result.
    pub(crate) result: Type,
    /// Whether it takes more than its parameters.
    pub(crate) variadic: bool,
}

/// A type's name.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Name {
    /// `struct`, `union`, `enum`, or nothing for a name that `typedef` gives.
    kind: &'static str,
    name: String,
}

impl Name {
    /// As C writes it.
    fn text(&self) -> String {
        [self.kind, &self.name].into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// As a part of another name.
    fn word(&self) -> String {
        self.text().replace(' ', "_")
    }
}

/// A type that must be declared before others, as its own header or a definition does it.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Declared {
    name: Name,
    /// Its definition in C.
    text: String,
    /// How many bytes it has, if it is known behind its declaration.
    bytes: Option<u64>,
    /// The file in which it is defined; `None` for the source itself.
    header: Option<PathBuf>,
}

/// What declarations need.
#[derive(Clone, Default, Debug)]
struct Needs {
    /// Records of which the name suffices, and their nodes.
    forward: BTreeMap<String, Type>,
    /// Vectors of LLVM's, and their definitions.
    vectors: BTreeMap<String, String>,
    /// Other types, in the order in which they must be declared; `None` while one is being written.
    declared: Vec<(u32, Option<Declared>)>,
}

impl Needs {
    fn has(&self, number: u32) -> bool {
        self.declared.iter().any(|(own, _)| *own == number)
    }

    fn begin(&mut self, number: u32) {
        self.declared.push((number, None));
    }

    fn finish(&mut self, number: u32, name: Name, text: String, types: &SourceTypes) {
        // It goes behind what it needs itself.
        self.declared.retain(|(own, _)| *own != number);
        let header = types.header_of(types.node(Some(number)));
        let ty = Some(number);
        // Of what another name stands for, the name may be all that is known.
        let is_named = types.node(types.bare(ty)).is_some_and(|node| node.text("name").is_some());
        let only_name = name.kind.is_empty() && types.is_record(ty) && is_named;
        let bytes = types.bits(ty).filter(|bits| bits % 8 == 0 && !only_name).map(|bits| bits / 8);
        self.declared.push((number, Some(Declared { name, text, bytes, header })));
    }

    /// Notes another name for a type; whether no other type has it.
    fn alias(&mut self, number: u32, name: &str, text: String) -> bool {
        let taken = |declared: &Declared| declared.name.name == name;
        let known = self.declared.iter().find(|(_, one)| one.as_ref().is_some_and(taken));
        if let Some((own, _)) = known {
            return *own == number;
        }
        let name = Name { kind: "", name: name.to_owned() };
        self.declared.push((number, Some(Declared { name, text, bytes: None, header: None })));
        true
    }

    fn forward(&mut self, name: &str, ty: Type) {
        self.forward.entry(name.to_owned()).or_insert(ty);
    }
}

impl SourceTypes {
    /// What is known of an input; nothing where its compiler says nothing, such as of Rust.
    pub fn of(options: &KernelOptions, imported: &Imported) -> SourceTypes {
        let kind = InputKind::of(&options.input);
        let is_source = kind.is_ok_and(InputKind::is_source);
        let described = match is_source {
            true => {
                let front_end = front_end(options);
                described::describe(&options.input, front_end).ok().flatten().unwrap_or_default()
            }
            false => Described { text: imported.bridge.module().to_text(), headers: Vec::new() },
        };
        let pointer_bits = u64::from(imported.ir.layout.pointer_bits(0));
        SourceTypes::read(&described.text, pointer_bits, Includes::new(&options.input, described.headers))
    }

    /// What LLVM's text of a module says.
    fn read(text: &str, pointer_bits: u64, includes: Includes) -> SourceTypes {
        let metadata = Metadata::read(text);
        let of_clang = metadata.nodes.values().filter(|node| node.kind == "DICompileUnit").all(|unit| {
            let language = unit.word("language");
            language.starts_with("DW_LANG_C") || language == "DW_LANG_OpenCL"
        });
        if !of_clang {
            return SourceTypes::default();
        }
        SourceTypes { metadata, pointer_bits, includes, needs: RefCell::default() }
    }

    /// A function, by its name in the object file.
    pub(crate) fn function(&self, symbol: &str) -> Option<SourceFunction> {
        let number = self.metadata.functions.get(symbol)?;
        let node = self.metadata.get(Some(*number))?;
        let list = self.metadata.get(self.metadata.get(node.node("type"))?.node("types"))?;
        let mut types: Vec<Type> = list.list().collect();
        let variadic = types.len() > 2 && types.last() == Some(&None);
        if variadic {
            types.pop();
        }
        let result = types.first().copied().flatten();
        let mut params: Vec<(String, Type)> =
            types.into_iter().skip(1).map(|ty| (String::new(), ty)).collect();
        let variables = self.metadata.variables.get(number).into_iter().flatten();
        for variable in variables.filter_map(|&variable| self.metadata.get(Some(variable))) {
            let at = variable.number("arg").and_then(|n| usize::try_from(n).ok());
            if let Some(param) = at.and_then(|at| params.get_mut(at.wrapping_sub(1))) {
                *param = (variable.text("name").unwrap_or_default().to_owned(), variable.node("type"));
            }
        }
        params.iter_mut().for_each(|(_, ty)| *ty = self.without_constness(*ty));
        // Nothing is passed as `void`, so something was not understood.
        params.iter().all(|(_, ty)| ty.is_some()).then_some(SourceFunction { params, result, variadic })
    }

    /// The parameters of a function, by its name in the object file: names, empty where there are none, and types as
    /// the source spells them.
    pub fn parameters(&self, symbol: &str) -> Option<Vec<(String, String)>> {
        let known = self.function(symbol)?;
        Some(known.params.into_iter().map(|(name, ty)| (name, self.shown(ty))).collect())
    }

    /// A declaration of something of a type, valid in C and C++ behind [`SourceTypes::declarations`]; `constant`:
    /// which cannot be changed.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn declare(&self, ty: Type, declarator: &str, constant: bool) -> Result<String, String> {
        let before = self.needs.borrow().clone();
        let mut needs = before.clone();
        let text = Spelling::strict(self, &mut needs).declare(ty, declarator, constant, true);
        *self.needs.borrow_mut() = if text.is_ok() { needs } else { before };
        text
    }

    /// Has [`SourceTypes::declarations`] define a type of vectors.
    pub(crate) fn add_vector(&self, name: &str, definition: &str) {
        self.needs.borrow_mut().vectors.insert(name.to_owned(), definition.to_owned());
    }

    /// The same for people, with names that C may not have.
    pub(crate) fn shown(&self, ty: Type) -> String {
        Spelling::lenient(self).declare(ty, "", false, false).unwrap_or_else(|_| "?".to_owned())
    }

    /// Whether a type is passed as one value of a type of the IR.
    pub(crate) fn is_passed_as(&self, ty: Type, ir: IrType) -> bool {
        let Some(node) = self.node(self.bare(ty)) else { return false };
        let bits = node.number("size");
        match (node.word("tag"), ir.scalar().filter(|_| !matches!(ir, IrType::Vector(_)))) {
            (
                "DW_TAG_pointer_type" | "DW_TAG_reference_type" | "DW_TAG_rvalue_reference_type",
                Some(Scalar::Ptr(_)),
            ) => true,
            ("DW_TAG_enumeration_type", Some(Scalar::Int(n))) => bits == Some(u64::from(n)),
            ("", Some(Scalar::Int(1))) => node.word("encoding") == "DW_ATE_boolean",
            ("", Some(Scalar::Int(n))) => {
                node.word("encoding") != "DW_ATE_float" && bits == Some(u64::from(n))
            }
            ("", Some(Scalar::Float(kind))) => {
                let name = node.text("name").unwrap_or_default();
                let expected = match kind {
                    warpline_ir::FloatKind::Float => "float",
                    warpline_ir::FloatKind::Double => "double",
                    warpline_ir::FloatKind::X86Fp80 => "long double",
                    _ => return false,
                };
                name == expected
                    || (name == "long double" && kind == warpline_ir::FloatKind::Double && bits == Some(64))
            }
            _ => false,
        }
    }

    /// Whether a type is a structure or a union.
    pub(crate) fn is_record(&self, ty: Type) -> bool {
        let tag = self.node(self.bare(ty)).map(|node| node.word("tag"));
        matches!(tag, Some("DW_TAG_structure_type" | "DW_TAG_union_type"))
    }

    /// Whether a pointer's type says that what it leads to is not written.
    pub(crate) fn points_to_constant(&self, ty: Type) -> bool {
        let pointee = self.node(self.bare(ty)).and_then(|node| self.node(node.node("baseType")));
        pointee.is_some_and(|node| node.word("tag") == "DW_TAG_const_type")
    }

    fn node(&self, ty: Type) -> Option<&Node> {
        self.metadata.get(ty)
    }

    /// A type without `const` and the like around it.
    fn without_constness(&self, mut ty: Type) -> Type {
        for _ in 0..4 {
            match self.node(ty) {
                Some(node) if matches!(node.word("tag"), "DW_TAG_const_type" | "DW_TAG_volatile_type") => {
                    ty = node.node("baseType");
                }
                _ => break,
            }
        }
        ty
    }

    /// What a type is, whatever it is called.
    fn bare(&self, mut ty: Type) -> Type {
        for _ in 0..64 {
            match self.node(ty).map(|node| (node.word("tag"), node.node("baseType"))) {
                Some((
                    "DW_TAG_typedef" | "DW_TAG_const_type" | "DW_TAG_volatile_type" | "DW_TAG_restrict_type",
                    base,
                )) => ty = base,
                _ => break,
            }
        }
        ty
    }

    /// The size of a type.
    fn bits(&self, ty: Type) -> Option<u64> {
        self.node(self.bare(ty))?.number("size")
    }

    /// Whether a star before a type must stand in parentheses.
    fn needs_parentheses(&self, mut ty: Type) -> bool {
        for _ in 0..8 {
            let Some(node) = self.node(ty) else { break };
            match node.word("tag") {
                "DW_TAG_const_type" | "DW_TAG_volatile_type" | "DW_TAG_restrict_type" => {
                    ty = node.node("baseType");
                }
                tag => return tag == "DW_TAG_array_type" || node.kind == "DISubroutineType",
            }
        }
        false
    }

    /// The lengths of an array's dimensions, as far as they are known.
    fn lengths(&self, node: &Node) -> Vec<Option<u64>> {
        let list = self.node(node.node("elements")).map(|list| list.list().collect::<Vec<_>>());
        list.unwrap_or_default().into_iter().map(|one| self.node(one)?.number("count")).collect()
    }

    /// Whether a type's name stands by itself.
    fn is_global(&self, node: &Node) -> bool {
        match node.node("scope") {
            None => true,
            scope => {
                self.node(scope).is_some_and(|node| node.kind == "DIFile" || node.kind == "DICompileUnit")
            }
        }
    }

    /// The namespaces around a type, from the outermost; `None` if there are none, or a type or an unnamed namespace is
    /// around it, or one that others than its owner may not open.
    fn namespaces<'a>(&'a self, node: &'a Node) -> Option<Vec<&'a str>> {
        let (mut names, mut node) = (Vec::new(), node);
        while !self.is_global(node) {
            node = self.node(node.node("scope")).filter(|outer| outer.kind == "DINamespace")?;
            let name = node.text("name").filter(|name| is_word(name) && !name.starts_with("__"))?;
            // Names of what is in an inline namespace do not say it.
            if node.word("exportSymbols") == "true" || names.len() == 16 {
                return None;
            }
            names.insert(0, name);
        }
        (!names.is_empty() && names[0] != "std").then_some(names)
    }

    /// A type's name with what is around it.
    fn qualified(&self, node: &Node) -> String {
        let mut name = node.text("name").unwrap_or("(unnamed)").to_owned();
        let mut scope = node.node("scope");
        for _ in 0..16 {
            let Some(outer) = self.node(scope) else { break };
            match outer.text("name") {
                Some(own) if matches!(outer.kind.as_str(), "DINamespace" | "DICompositeType") => {
                    name = format!("{own}::{name}");
                }
                _ => {}
            }
            scope = outer.node("scope");
        }
        name
    }

    /// The file in which a type is defined.
    fn file(&self, node: &Node) -> Option<PathBuf> {
        let file = self.node(node.node("file"))?;
        let name = Path::new(file.text("filename")?);
        let folder = file.text("directory").filter(|folder| !matches!(*folder, "" | "."));
        Some(folder.map_or(name.to_owned(), |folder| Path::new(folder).join(name)))
    }

    /// Whether a type is defined where users can see it: in the source, or in a header that it includes.
    fn is_within_reach(&self, node: &Node) -> bool {
        self.file(node).is_some_and(|file| self.includes.is_source(&file) || self.includes.knows(&file))
    }

    /// The header in which a type is defined, if it is one.
    fn header_of(&self, node: Option<&Node>) -> Option<PathBuf> {
        self.file(node?).filter(|file| !self.includes.is_source(file) && self.includes.knows(file))
    }
}

/// How an input is compiled.
fn front_end(options: &KernelOptions) -> FrontEnd<'_> {
    let KernelOptions { contract, ref triple, ref flags, .. } = *options;
    FrontEnd { triple: triple.as_deref(), contract, flags, shims: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function `f` with one parameter, whose type is node 10.
    const FUNCTION: &str = "define void @f(ptr %x) !dbg !2 {\n}\n!0 = distinct !DICompileUnit(language: DW_LANG_C11, \
                            file: !1)\n!1 = !DIFile(filename: \"f.c\", directory: \".\")\n!2 = distinct \
                            !DISubprogram(name: \"f\", type: !3, unit: !0)\n!3 = !DISubroutineType(types: !4)\n!4 = \
                            !{null, !10}\n";

    /// What `f`'s parameter is declared as, and what stands before it.
    fn declared(nodes: &str) -> Result<(String, String), String> {
        let types =
            SourceTypes::read(&format!("{FUNCTION}{nodes}"), 64, Includes::new(Path::new("f.c"), Vec::new()));
        let ty = types.function("f").ok_or("there is no function")?.params[0].1;
        let text = types.declare(ty, "x", false)?;
        Ok((text, types.declarations(&KernelOptions::new("f.c"), None)))
    }

    #[test]
    fn declarators_grow_from_the_inside_out() {
        let int = "!11 = !DIBasicType(name: \"int\", size: 32, encoding: DW_ATE_signed)\n";
        let pointer =
            |to: u32| format!("!DIDerivedType(tag: DW_TAG_pointer_type, baseType: !{to}, size: 64)");
        let array = "!DICompositeType(tag: DW_TAG_array_type, baseType: !11, elements: !13)";
        let lengths = "!13 = !{!14, !15}\n!14 = !DISubrange(count: 4)\n!15 = !DISubrange(count: 2)\n";
        for (nodes, expected) in [
            (format!("{int}!10 = {}\n", pointer(11)), "int *x"),
            (format!("{int}!10 = {}\n!12 = {array}\n{lengths}", pointer(12)), "int (*x)[4][2]"),
            (
                format!(
                    "{int}!10 = {}\n!12 = !DISubroutineType(types: !13)\n!13 = !{{!16, !11, null}}\n!16 = {}\n",
                    pointer(12),
                    pointer(11)
                ),
                "int *(*x)(int, ...)",
            ),
            (
                format!(
                    "{int}!10 = {}\n!12 = !DIDerivedType(tag: DW_TAG_const_type, baseType: !16)\n!16 = {}\n",
                    pointer(12),
                    pointer(11)
                ),
                "int *const *x",
            ),
            (
                "!10 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: null, size: 64)\n".to_owned(),
                "void *x",
            ),
        ] {
            assert_eq!(declared(&nodes).map(|(text, _)| text), Ok(expected.to_owned()), "{nodes}");
        }
    }

    #[test]
    fn records_are_written_down_only_if_c_lays_them_out_alike() {
        let members = |second: u32, size: u32| {
            format!(
                "!10 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: \"s\", file: !1, size: {size}, \
                 elements: !12)\n!11 = !DIBasicType(name: \"int\", size: 32, encoding: DW_ATE_signed)\n!12 = !{{!13, \
                 !14}}\n!13 = !DIDerivedType(tag: DW_TAG_member, name: \"a\", baseType: !15, size: 8)\n!14 = \
                 !DIDerivedType(tag: DW_TAG_member, name: \"b\", baseType: !11, size: 32, offset: {second})\n!15 = \
                 !DIBasicType(name: \"char\", size: 8, encoding: DW_ATE_signed_char)\n"
            )
        };
        let (text, before) = declared(&members(32, 64)).unwrap();
        assert!(
            text == "struct s x" && before.contains("struct s {\n    char a;\n    int b;\n};"),
            "{before}"
        );
        for packed in [members(8, 40), members(64, 96), members(32, 128)] {
            assert!(declared(&packed).is_err(), "{packed}");
        }
    }

    #[test]
    fn bit_fields_are_written_down_where_nothing_lies_between_them() {
        let fields = |second: u32| {
            format!(
                "!10 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: \"s\", file: !1, size: 32, \
                 elements: \
                 !12)\n!11 = !DIBasicType(name: \"unsigned int\", size: 32, encoding: DW_ATE_unsigned)\n!12 = !{{!13, \
                 !14}}\n!13 = !DIDerivedType(tag: DW_TAG_member, name: \"a\", baseType: !11, size: 3, flags: \
                 DIFlagBitField)\n!14 = !DIDerivedType(tag: DW_TAG_member, name: \"b\", baseType: !11, size: 7, \
                 offset: \
                 {second}, flags: DIFlagBitField)\n"
            )
        };
        assert!(declared(&fields(3)).unwrap().1.contains("unsigned int b : 7;"));
        // Fields without a name are not listed.
        assert!(declared(&fields(8)).is_err());
    }

    #[test]
    fn records_in_namespaces_have_a_name_of_their_own_in_both_languages() {
        let of = |space: &str, name: &str, tag: &str| {
            declared(&format!(
                "!10 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !11, size: 64)\n!11 = distinct \
                 !DICompositeType(tag: DW_TAG_{tag}, name: \"{name}\", scope: !12, file: !1, size: 32)\n!12 = \
                 !DINamespace({space}scope: !13)\n!13 = !DINamespace(name: \"geo\", scope: null)\n"
            ))
        };
        let (text, before) = of("name: \"flat\", ", "circle", "structure_type").unwrap();
        assert_eq!(text, "geo_flat_circle *x");
        let expected = "#ifdef __cplusplus\nnamespace geo { namespace flat { struct circle; } }\n\
                        typedef geo::flat::circle geo_flat_circle;\n#else\n\
                        typedef struct geo_flat_circle geo_flat_circle;\n#endif\n";
        assert!(before.contains(expected), "{before}");
        let (_, before) = of("name: \"flat\", ", "circle", "class_type").unwrap();
        assert!(before.contains("namespace flat { class circle; }"), "{before}");
        for (space, name) in [
            ("", "circle"),
            ("name: \"flat\", exportSymbols: true, ", "circle"),
            ("name: \"__flat\", ", "circle"),
            ("name: \"flat\", ", "circle<int>"),
        ] {
            assert!(of(space, name, "structure_type").is_err(), "{space} {name}");
        }
    }

    #[test]
    fn types_that_go_in_circles_end() {
        let derived = |tag: &str, to: u32| {
            format!("!DIDerivedType(tag: DW_TAG_{tag}, name: \"t\", file: !1, baseType: !{to}, size: 64)")
        };
        for tag in ["pointer_type", "const_type", "typedef", "restrict_type", "volatile_type"] {
            let _ = declared(&format!("!10 = {}\n!11 = {}\n", derived(tag, 11), derived(tag, 10)));
            let _ = declared(&format!("!10 = {}\n", derived(tag, 10)));
        }
        let record = "!10 = !DICompositeType(tag: DW_TAG_structure_type, name: \"s\", size: 64, elements: !11)\n!11 = \
                      !{!12, !12, !12, !12}\n!12 = !DIDerivedType(tag: DW_TAG_member, name: \"a\", baseType: !10, \
                      size: 64)\n";
        assert!(declared(record).is_err());
        let function = "!10 = !DISubroutineType(types: !11)\n!11 = !{!10, !10, !10, !10, !10}\n";
        assert!(declared(function).is_err());
    }

    #[test]
    fn what_is_no_name_in_c_is_not_written() {
        for name in ["a b", "class", "x;", "*/", "1", "a::b", "t<int>"] {
            let of = |tag: &str| {
                format!(
                    "!10 = !DICompositeType(tag: DW_TAG_{tag}, name: \"{name}\", file: !1, size: 32, elements: \
                     !11)\n!11 = !{{}}\n"
                )
            };
            for tag in ["structure_type", "enumeration_type", "union_type"] {
                assert!(declared(&of(tag)).is_err(), "{name}");
            }
        }
    }
}
