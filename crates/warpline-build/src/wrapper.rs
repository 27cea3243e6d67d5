//! The Rust functions that run kernels over ranges.

use std::fmt::Write as _;

use warpline_compile::signature::{Element, Kind, Param, Primitive, Signature};
use warpline_ir::printable::line;
use warpline_uniformity::shape::ArgShape;

use crate::files::Project;

/// How to learn which CPU's code runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// There is code for this one only.
    One(String),
    /// A function of this name says it.
    Ask(String),
}

impl Which {
    /// Words for it.
    pub(crate) fn words(&self) -> String {
        match self {
            Which::One(cpu) => format!("cpu {cpu}"),
            Which::Ask(symbol) => format!("ask {symbol}"),
        }
    }

    /// What words stand for.
    pub(crate) fn parse(words: &str) -> Option<Which> {
        match words.split_once(' ')? {
            ("cpu", cpu) => Some(Which::One(cpu.to_owned())),
            ("ask", symbol) => Some(Which::Ask(symbol.to_owned())),
            _ => None,
        }
    }
}

/// A file with functions.
pub(crate) fn frame(project: &Project, functions: &str) -> String {
    let sources: Vec<String> =
        project.sources.iter().map(|path| format!("`{}`", line(&path.to_string_lossy()))).collect();
    format!("// Made by warpline-build from {}.\n{functions}", sources.join(", "))
}

/// What a parameter of the kernel is in the function.
struct Passed {
    /// The function's parameter.
    declared: String,
    /// The types of the driver's parameters.
    types: Vec<String>,
    /// What is passed for them.
    values: Vec<String>,
    /// The slice that must have one element for each index.
    by_index: Option<String>,
    /// What must be done before the pointer is taken.
    before: String,
}

/// The function that runs a kernel over a range, and the one that says which CPU's code runs.
pub(crate) fn text(signature: &Signature, range: &str, which: &Which) -> String {
    let Signature { name, params, .. } = signature;
    let free = |wanted: &str| match params.iter().any(|param| param.name == wanted) {
        true => format!("{wanted}_"),
        false => wanted.to_owned(),
    };
    let (indices, out) = (free("indices"), free("out"));
    let index = params.iter().find(|param| param.shape == ArgShape::Index);
    let index_type = match index.map(|param| &param.kind) {
        Some(Kind::Value(of)) => of.name,
        _ => "i64",
    };
    let mut all: Vec<Passed> =
        params.iter().filter(|param| param.shape != ArgShape::Index).map(passed).collect();
    if let Some(Some(of)) = signature.result {
        all.push(slice(&out, of, true));
    }
    let by_index: Vec<&String> = all.iter().filter_map(|one| one.by_index.as_ref()).collect();
    let is_unsafe = !signature.is_safe();

    let mut text = format!("\n/// Runs the kernel `{name}` for every index of a range, many at a time.\n");
    if !by_index.is_empty() {
        let list: Vec<String> = by_index.iter().map(|slice| format!("`{slice}`")).collect();
        let _ = write!(
            text,
            "///\n/// One element for each index, the first for the first: {}.\n///\n/// # Panics\n/// If one \
             of these has another \
             number of elements than the range has indices.\n",
            list.join(", ")
        );
    }
    if is_unsafe {
        text +=
            "///\n/// # Safety\n/// What the kernel asks of its caller holds for every index of the range.\n";
        text += match signature.racy {
            true => {
                "/// Indices run in no order, as threads do: whatever they do to the same memory must be \
                 harmless in any order,\n\
                 /// even if one of two writes is lost.\n"
            }
            false => {
                "/// Indices run in no order, as threads do: none writes memory that another one reads or writes.\n"
            }
        };
    }
    let declared: Vec<&str> = all.iter().map(|one| one.declared.as_str()).collect();
    let types: Vec<&str> = all.iter().flat_map(|one| one.types.iter().map(String::as_str)).collect();
    let values: Vec<&str> = all.iter().flat_map(|one| one.values.iter().map(String::as_str)).collect();
    let numbered: Vec<String> =
        types.iter().enumerate().map(|(i, ty)| format!(", warpline_p{i}: {ty}")).collect();
    let _ = write!(
        text,
        "#[track_caller]\n#[allow(dead_code, clippy::all, clippy::pedantic, unsafe_op_in_unsafe_fn)]\n\
         pub {unsafe_word}fn {name}({indices}: ::core::ops::Range<{index_type}>{params}) {{\n\
         \x20   unsafe extern \"C\" {{\n        #[link_name = \"{range}\"]\n        \
         fn warpline_run(begin: i64, end: i64{numbered});\n    }}\n\
         \x20   let warpline_begin = {begin};\n    let warpline_end = {end};\n",
        unsafe_word = if is_unsafe { "unsafe " } else { "" },
        params = declared.iter().map(|one| format!(", {one}")).collect::<String>(),
        numbered = numbered.concat(),
        begin = as_i64(name, &indices, "start", index_type),
        end = as_i64(name, &indices, "end", index_type),
    );
    if !by_index.is_empty() {
        text += "    let warpline_count = if warpline_begin < warpline_end {\n        \
                 warpline_end.wrapping_sub(warpline_begin) as u64\n    } else {\n        0\n    };\n";
    }
    for slice in by_index {
        let _ = write!(
            text,
            "    if {slice}.len() as u64 != warpline_count {{\n        ::core::panic!(\n            \
             \"{name}: `{slice}` has {{}} elements, the range has {{}} indices\",\n            \
             {slice}.len(), warpline_count\n        );\n    }}\n"
        );
    }
    text.extend(all.iter().map(|one| one.before.as_str()));
    let _ = write!(
        text,
        "    // SAFETY: the slices have an element for each index{}; everything is passed as the kernel has it.\n    \
         unsafe {{ warpline_run(warpline_begin, warpline_end{}) }}\n}}\n",
        if is_unsafe { ", and the caller promises the rest" } else { "" },
        values.iter().map(|value| format!(", {value}")).collect::<String>()
    );
    text + &which_text(name, which)
}

/// The function that says which CPU's code runs.
pub(crate) fn which_text(name: &str, which: &Which) -> String {
    let body = match which {
        Which::One(cpu) => format!("    \"{cpu}\"\n"),
        Which::Ask(symbol) => format!(
            "    unsafe extern \"C\" {{\n        #[link_name = \"{symbol}\"]\n        \
             fn warpline_cpu() -> *const ::core::ffi::c_char;\n    }}\n\
             \x20   // SAFETY: the function returns a constant, terminated string.\n    \
             unsafe {{ ::core::ffi::CStr::from_ptr(warpline_cpu()) }}.to_str().unwrap_or_default()\n"
        ),
    };
    format!(
        "\n/// The name of the CPU whose code of `{name}` runs on this machine.\n#[allow(dead_code)]\n\
         pub fn {name}_cpu() -> &'static str {{\n{body}}}\n"
    )
}

/// A bound of the range as the driver takes it.
fn as_i64(kernel: &str, indices: &str, bound: &str, ty: &str) -> String {
    match ty {
        "u64" | "usize" => format!(
            "i64::try_from({indices}.{bound}).expect(\"{kernel}: an index is greater than i64::MAX\")"
        ),
        _ => format!("{indices}.{bound} as i64"),
    }
}

/// What a parameter of the kernel becomes.
fn passed(param: &Param) -> Passed {
    let Param { name, kind, shape } = param;
    match kind {
        Kind::Value(of) if *shape == ArgShape::Varying => slice(name, *of, false),
        Kind::Value(of) => plain(name, of.name),
        Kind::Pointer(of, mutable) => plain(name, &pointer(of, *mutable)),
        Kind::Reference(of, mutable) if *shape == ArgShape::Uniform => Passed {
            declared: format!("{name}: {}{}", reference(*mutable), of.name),
            types: vec![pointer(of, *mutable)],
            values: vec![name.clone()],
            by_index: None,
            before: String::new(),
        },
        Kind::Reference(of, mutable) => elements(name, of, *mutable),
        Kind::Slice(of, mutable) => {
            let whole = elements(name, of, *mutable);
            Passed {
                types: [whole.types, vec!["usize".to_owned()]].concat(),
                values: [whole.values, vec![length(name)]].concat(),
                by_index: None,
                before: format!("    let {} = {name}.len();\n", length(name)),
                ..whole
            }
        }
        // Refused before.
        Kind::Other => plain(name, "()"),
    }
}

fn plain(name: &str, ty: &str) -> Passed {
    Passed {
        declared: format!("{name}: {ty}"),
        types: vec![ty.to_owned()],
        values: vec![name.to_owned()],
        by_index: None,
        before: String::new(),
    }
}

/// A slice of numbers with one for each index.
fn slice(name: &str, of: Primitive, mutable: bool) -> Passed {
    elements(name, &Element { name: of.name.to_owned(), bytes: of.bytes }, mutable)
}

/// A slice with one element for each index.
fn elements(name: &str, of: &Element, mutable: bool) -> Passed {
    Passed {
        declared: format!("{name}: {}[{}]", reference(mutable), of.name),
        types: vec![pointer(of, mutable)],
        values: vec![format!("{name}.{}()", if mutable { "as_mut_ptr" } else { "as_ptr" })],
        by_index: Some(name.to_owned()),
        before: String::new(),
    }
}

/// The name of a variable for the length of a slice.
fn length(slice: &str) -> String {
    format!("warpline_length_{}", slice.trim_start_matches("r#"))
}

fn reference(mutable: bool) -> &'static str {
    if mutable { "&mut " } else { "&" }
}

fn pointer(of: &Element, mutable: bool) -> String {
    format!("*{} {}", if mutable { "mut" } else { "const" }, of.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(is_unsafe: bool, racy: bool, kind: Kind) -> String {
        let of = Primitive { name: "usize", bytes: 8 };
        let params = vec![
            Param { name: "i".into(), kind: Kind::Value(of), shape: ArgShape::Index },
            Param { name: "x".into(), kind, shape: ArgShape::Uniform },
        ];
        let signature = Signature {
            name: "k".into(),
            instance: "k".into(),
            line: 1,
            is_public: true,
            modules: Vec::new(),
            cfgs: String::new(),
            in_impl: false,
            options: Vec::new(),
            is_unsafe,
            racy,
            params,
            result: None,
        };
        text(&signature, "k_range", &Which::One("generic".into()))
    }

    #[test]
    fn functions_are_unsafe_where_somebody_must_answer_for_races() {
        let element = Element { name: "f32".into(), bytes: 4 };
        let slice = || Kind::Slice(element.clone(), true);
        let safe = made(false, false, slice());
        assert!(safe.contains("\npub fn k(") && !safe.contains("# Safety"), "{safe}");
        let racy = made(false, true, slice());
        assert!(racy.contains("\npub unsafe fn k(") && racy.contains("# Safety\n"), "{racy}");
        assert!(racy.contains("harmless in any order"), "{racy}");
        for text in [made(true, false, slice()), made(false, false, Kind::Pointer(element.clone(), true))] {
            assert!(text.contains("\npub unsafe fn k(") && text.contains("none writes memory"), "{text}");
        }
    }
}
