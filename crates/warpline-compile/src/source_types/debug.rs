//! What is for debuggers, for reports: which variables values are, and the members of types.

use std::collections::{BTreeMap, HashMap};

use super::metadata::{Metadata, Node};
use warpline_ir::{Module, Names};
use warpline_llvm::Imported;
use warpline_uniformity::observe::SourceTypes;

/// What an input says of its variables and types; of any language.
#[derive(Debug, Default)]
pub struct Debug {
    metadata: Metadata,
    /// The variables by function, then by the name of the value in LLVM's text.
    variables: HashMap<String, BTreeMap<String, u32>>,
    globals: HashMap<String, u32>,
}

impl Debug {
    /// Reads it from an input that has been loaded. It is little where nothing was compiled with `-g`.
    pub fn of(imported: &Imported) -> Debug {
        Debug::read(&imported.bridge.module().to_text())
    }

    fn read(text: &str) -> Debug {
        let metadata = Metadata::read(text);
        let mut debug = Debug { metadata, ..Debug::default() };
        let mut function = String::new();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("define ") {
                function = Metadata::function_name(rest).unwrap_or_default();
            } else if let Some((value, variable)) = record(line.trim_start()) {
                let of_function = debug.variables.entry(function.clone()).or_default();
                of_function.entry(value).or_insert(variable);
            } else if let Some(rest) = line.strip_prefix('@')
                && let Some((name, number)) = Metadata::global(rest)
            {
                debug.globals.insert(name, number);
            }
        }
        debug
    }

    /// Gives values without a name of their own those of variables.
    pub fn name_values(&self, module: &mut Module) {
        let ids: Vec<_> = module.functions.keys().collect();
        for id in ids {
            let func = &module.functions[id];
            let Some(variables) = self.variables.get(&*func.name) else { continue };
            let by_name = Names::new(func).values(func);
            let mut named = Vec::new();
            for (value, &variable) in variables {
                let node = self.metadata.get(Some(variable));
                let name = node.and_then(|node| node.text("name")).filter(|name| !name.is_empty());
                let is_own =
                    value.strip_prefix('%').is_some_and(|own| own.bytes().all(|c| c.is_ascii_digit()));
                named
                    .extend(name.zip(by_name.get(value)).filter(|_| is_own).map(|(n, &v)| (v, n.to_owned())));
            }
            let func = &mut module.functions[id];
            for (value, name) in named {
                func.source_names[value] = Some(name.into());
            }
        }
    }

    fn node(&self, ty: u32) -> Option<&Node> {
        self.metadata.get(Some(ty))
    }

    /// A type without names and qualifiers around it.
    fn bare(&self, ty: u32) -> u32 {
        let mut at = ty;
        for _ in 0..64 {
            let next = self.node(at).filter(|node| {
                let around = ["typedef", "const_type", "volatile_type", "restrict_type", "atomic_type"];
                node.word("tag").strip_prefix("DW_TAG_").is_some_and(|tag| around.contains(&tag))
            });
            match next.and_then(|node| node.node("baseType")) {
                Some(next) => at = next,
                None => return at,
            }
        }
        at
    }
}

/// The value and the variable of a record of either form, if the variable is the value as it is.
fn record(line: &str) -> Option<(String, u32)> {
    let rest =
        ["#dbg_value(", "#dbg_declare(", "call void @llvm.dbg.value(", "tail call void @llvm.dbg.value("]
            .iter()
            .find_map(|begin| line.strip_prefix(begin))?;
    let is_declared = line.starts_with("#dbg_declare(");
    let mut parts = rest.split(", ");
    let value = parts.next()?.rsplit(' ').next()?;
    let variable = parts.next()?.trim_start_matches("metadata ").strip_prefix('!')?.parse().ok()?;
    let expression = parts.next()?.trim_start_matches("metadata ");
    let is_plain = expression.starts_with("!DIExpression()") && (value.starts_with('%') || is_declared);
    is_plain.then(|| (value.to_owned(), variable))
}

impl SourceTypes for Debug {
    fn parameter(&self, function: &str, index: usize) -> Option<u32> {
        let number = self.metadata.functions.get(function)?;
        let variables = self.metadata.variables.get(number)?;
        let found = variables.iter().find_map(|&variable| {
            let node = self.node(variable)?;
            (node.number("arg") == Some(index as u64 + 1)).then(|| node.node("type"))
        });
        found.flatten()
    }

    fn parameter_named(&self, function: &str, name: &str) -> Option<u32> {
        let number = self.metadata.functions.get(function)?;
        let variables = self.metadata.variables.get(number)?;
        let found = variables.iter().find_map(|&variable| {
            let node = self.node(variable)?;
            let is_it = node.number("arg").is_some() && node.text("name") == Some(name);
            is_it.then(|| node.node("type"))
        });
        found.flatten()
    }

    fn global(&self, name: &str) -> Option<u32> {
        let expression = self.node(*self.globals.get(name)?)?;
        self.metadata.get(expression.node("var"))?.node("type")
    }

    fn pointee(&self, ty: u32) -> Option<u32> {
        let node = self.node(self.bare(ty))?;
        let tags = ["DW_TAG_pointer_type", "DW_TAG_reference_type", "DW_TAG_rvalue_reference_type"];
        let is_pointer = tags.contains(&node.word("tag"));
        is_pointer.then(|| node.node("baseType").unwrap_or(u32::MAX))
    }

    fn members(&self, ty: u32) -> Vec<(String, u64, u32)> {
        let Some(node) = self.node(self.bare(ty)) else { return Vec::new() };
        let Some(elements) = self.metadata.get(node.node("elements")) else { return Vec::new() };
        let mut members = Vec::new();
        for element in elements.list().filter_map(|element| self.metadata.get(element)) {
            let tag = element.word("tag");
            let Some(ty) = element.node("baseType") else { continue };
            let offset = element.number("offset").unwrap_or(0) / 8;
            match (tag, element.text("name").filter(|name| !name.is_empty())) {
                ("DW_TAG_member", Some(name)) => members.push((name.to_owned(), offset, ty)),
                // Members of unnamed structures, and of classes that are derived from, are members.
                ("DW_TAG_member" | "DW_TAG_inheritance", _) => {
                    let inner = self.members(ty).into_iter();
                    members.extend(inner.map(|(name, at, ty)| (name, offset + at, ty)));
                }
                _ => {}
            }
        }
        members
    }

    fn size(&self, ty: u32) -> Option<u64> {
        let bare = self.bare(ty);
        self.node(bare)?.number("size").map(|bits| bits.div_ceil(8))
    }

    fn element(&self, ty: u32) -> Option<(u32, Option<u64>)> {
        let node = self.node(self.bare(ty)).filter(|node| node.word("tag") == "DW_TAG_array_type")?;
        let lists = self.metadata.get(node.node("elements"))?;
        let mut lengths = lists.list().filter_map(|length| self.metadata.get(length));
        let (first, more) = (lengths.next()?, lengths.next().is_some());
        // Rows of rows have no type of their own.
        (!more).then(|| Some((node.node("baseType")?, first.number("count")))).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_and_members_are_found() {
        let text = "@state = global %s zeroinitializer, align 4, !dbg !8\n\
                    define i32 @f(ptr %0) !dbg !1 {\n    #dbg_value(ptr %0, !2, !DIExpression(), !9)\n\
                    #dbg_value(i32 %3, !7, !DIExpression(DW_OP_plus_uconst, 1), !9)\n}\n\
                    !1 = distinct !DISubprogram(name: \"f\")\n\
                    !2 = !DILocalVariable(name: \"ctx\", arg: 1, scope: !1, type: !3)\n\
                    !3 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !4, size: 64)\n\
                    !4 = !DICompositeType(tag: DW_TAG_structure_type, name: \"s\", size: 64, elements: !5)\n\
                    !5 = !{!6}\n\
                    !6 = !DIDerivedType(tag: DW_TAG_member, name: \"n\", baseType: !10, size: 32, offset: 32)\n\
                    !7 = !DILocalVariable(name: \"i\", scope: !1, type: !10)\n\
                    !8 = !DIGlobalVariableExpression(var: !11, expr: !DIExpression())\n\
                    !10 = !DIBasicType(name: \"int\", size: 32)\n\
                    !11 = !DIGlobalVariable(name: \"state\", type: !4)\n";
        let debug = Debug::read(text);
        assert_eq!(debug.variables["f"], BTreeMap::from([("%0".to_owned(), 2)]));
        let of = debug.parameter("f", 0).and_then(|ty| debug.pointee(ty)).unwrap();
        assert_eq!(debug.members(of), [("n".to_owned(), 4, 10)]);
        assert_eq!((debug.size(10), debug.global("state")), (Some(4), Some(4)));
    }
}
