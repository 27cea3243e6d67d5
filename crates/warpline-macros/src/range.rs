//! The functions beside a kernel that run it over a range: `NAME_range`, and `NAME_cpu`, which says which CPU's code
//! that is.
//!
//! They are made where the types of the kernel have names, by the crate's own compiler. What warpline found out about
//! sizes and alignments is compared with what this compiler says: code and crate always agree about both.

use proc_macro::TokenStream;

use crate::function::Function;
use crate::interface::{Interface, Pass, Passed as Param};
use crate::table::{Made, Which};
use crate::tokens::quote;

const ALLOWED: &str = "#[allow(dead_code, unused_variables, unsafe_code, unsafe_op_in_unsafe_fn, private_interfaces, \
                       private_bounds, improper_ctypes, missing_docs, unused_qualifications, unreachable_pub, \
                       clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]";

/// Text with places for tokens.
struct Text {
    pieces: Vec<TokenStream>,
}

impl Text {
    fn piece(&mut self, tokens: &TokenStream) -> String {
        self.pieces.push(tokens.clone());
        format!("${}", self.pieces.len() - 1)
    }
}

/// What a parameter of the kernel is in the function.
#[derive(Default)]
struct Passed {
    /// The function's parameter.
    declared: String,
    /// The types of the driver's parameters.
    types: Vec<String>,
    /// What is passed for them.
    values: Vec<String>,
    /// The slice that must have one element for each index.
    by_index: Option<String>,
    /// What must be done before pointers are taken.
    before: String,
    /// What the kernel itself is passed for one index.
    again: String,
}

/// The functions over a range; without what was made of the kernel, such that only can be compiled.
pub(crate) fn items(function: &Function, interface: &Interface, made: Option<&Made>) -> TokenStream {
    let mut text = Text { pieces: Vec::new() };
    let name = interface.instance.trim_start_matches("r#");
    let free = |wanted: &str| match interface.params.iter().any(|param| param.name == wanted) {
        true => format!("{wanted}_"),
        false => wanted.to_owned(),
    };
    let (indices, out) = (free("indices"), free("out"));
    let index = interface.params.iter().find(|param| param.pass == Pass::Index);
    let index_type = index.map_or_else(|| "i64".to_owned(), |param| text.piece(&param.ty));
    let mut all: Vec<Passed> = Vec::new();
    if let Some(mutable) = function.receiver {
        all.push(Passed { declared: String::new(), ..reference("self", "", mutable) });
    }
    all.push(Passed {
        types: vec!["*const u8".to_owned()],
        values: vec!["(&raw const warpline_again).cast::<u8>()".to_owned()],
        ..Passed::default()
    });
    for param in &interface.params {
        let (ty, of) = (text.piece(&param.ty), text.piece(&param.of));
        all.push(passed(param, &ty, &of));
    }
    if let Some(ty) = &interface.result {
        let ty = text.piece(ty);
        all.push(Passed { again: String::new(), ..elements(&out, &ty, true) });
    }
    let receiver = match function.receiver {
        Some(true) => "&mut self, ",
        Some(false) => "&self, ",
        None => "",
    };
    let is_unsafe = interface.is_unsafe(function);
    let head = format!(
        "{cfgs} {docs} #[track_caller] {ALLOWED} {visibility} {unsafe_word}fn {name}_range{lifetimes}\
         ({receiver}{indices}: ::core::ops::Range<{index_type}>{params})",
        cfgs = text.piece(&function.cfgs.iter().cloned().collect()),
        docs = docs(&interface.instance, interface, &all, is_unsafe),
        visibility = visibility(function),
        unsafe_word = if is_unsafe { "unsafe " } else { "" },
        lifetimes = function.lifetimes(),
        params = all
            .iter()
            .filter(|one| !one.declared.is_empty())
            .map(|one| format!(", {}", one.declared))
            .collect::<String>(),
    );
    let body = match made {
        Some(made) => body(&mut text, function, interface, made, &all, &indices),
        None => "::core::unimplemented!()".to_owned(),
    };
    let which = which(function, name, made, &mut text);
    quote(&format!("{head} {{ {body} }} {which}"), &text.pieces)
}

fn visibility(function: &Function) -> &'static str {
    if function.is_public { "pub" } else { "pub(crate)" }
}

/// What rustdoc says.
fn docs(name: &str, interface: &Interface, all: &[Passed], is_unsafe: bool) -> String {
    let mut lines = vec![format!("Runs the kernel `{name}` for every index of a range, many at a time.")];
    let by_index: Vec<String> =
        all.iter().filter_map(|one| Some(format!("`{}`", one.by_index.as_ref()?))).collect();
    lines.push(String::new());
    if !by_index.is_empty() {
        lines.push(format!("One element for each index, the first for the first: {}.", by_index.join(", ")));
        lines.push(String::new());
    }
    lines.extend(["# Panics".to_owned(), String::new()]);
    if !by_index.is_empty() {
        lines.push("If one of these has another number of elements than the range has indices.".to_owned());
    }
    lines.push(
        "If the kernel panics for an index. What it has done for others by then is not defined.".to_owned(),
    );
    if is_unsafe {
        let races = match interface.racy {
            true => {
                "Indices run in no order, as threads do: whatever they do to the same memory must be harmless in \
                 any order, even if one of two writes is lost."
            }
            false => {
                "Indices run in no order, as threads do: none writes memory that another one reads or writes."
            }
        };
        lines.extend([
            String::new(),
            "# Safety".to_owned(),
            String::new(),
            "What the kernel asks of its caller holds for every index of the range.".to_owned(),
            races.to_owned(),
        ]);
    }
    lines.iter().map(|line| format!("#[doc = {line:?}] ")).collect()
}

/// What the function does.
fn body(
    text: &mut Text,
    function: &Function,
    interface: &Interface,
    made: &Made,
    all: &[Passed],
    indices: &str,
) -> String {
    let name = &interface.instance;
    let types: Vec<&str> = all.iter().flat_map(|one| one.types.iter().map(String::as_str)).collect();
    let numbered: String = types.iter().enumerate().map(|(k, ty)| format!(", warpline_p{k}: {ty}")).collect();
    let mut body = format!(
        "unsafe extern \"C-unwind\" {{ #[link_name = {range:?}] fn warpline_run(begin: i64, end: i64{numbered}); }}",
        range = made.range
    );
    for (ty, (size, alignment)) in interface.layouts.iter().zip(&made.layouts) {
        let ty = text.piece(ty);
        body += &format!(
            "const {{ ::core::assert!(::core::mem::size_of::<{ty}>() == {size} && \
             ::core::mem::align_of::<{ty}>() == {alignment}, \"a type of the kernel has another layout here than \
             where warpline compiled it: it depends on the build's profile or on features that another package \
             enables\"); }}"
        );
    }
    if let Some(ty) = &interface.result {
        let ty = text.piece(ty);
        body += &format!(
            "const {{ ::core::assert!(!::core::mem::needs_drop::<{ty}>(), \"a result of a kernel needs no drop\"); }}"
        );
    }
    for (variable, bound) in [("warpline_begin", "start"), ("warpline_end", "end")] {
        body += &format!(
            "let {variable} = <i64 as ::core::convert::TryFrom<_>>::try_from({indices}.{bound})\
             .expect(\"{name}: an index is greater than i64::MAX\");"
        );
    }
    let by_index: Vec<&String> = all.iter().filter_map(|one| one.by_index.as_ref()).collect();
    if !by_index.is_empty() {
        body += "let warpline_count = if warpline_begin < warpline_end { \
                 warpline_end.wrapping_sub(warpline_begin) as u64 } else { 0 };";
    }
    for slice in by_index {
        body += &format!(
            "if {slice}.len() as u64 != warpline_count {{ ::core::panic!(\
             \"{name}: `{slice}` has {{}} elements, the range has {{}} indices\", {slice}.len(), warpline_count); }}"
        );
    }
    body.extend(all.iter().map(|one| one.before.as_str()));
    body += &again(text, function, interface, made, all);
    let values: String = all.iter().flat_map(|one| &one.values).map(|value| format!(", {value}")).collect();
    // Slices have an element for each index, and everything is passed as the kernel has it.
    body + &format!("unsafe {{ warpline_run(warpline_begin, warpline_end{values}) }}")
}

/// What is done when a lane panics: the kernel is called once more, alone, for that lane's index, and panics as it
/// does. Lanes that run together have changed what they change by then, so that it may find something else.
fn again(text: &mut Text, function: &Function, interface: &Interface, made: &Made, all: &[Passed]) -> String {
    let abi = if made.unwinds { "C-unwind" } else { "C" };
    let generics: String = match interface.generics.is_empty() {
        true => String::new(),
        false => {
            let list: Vec<String> = interface.generics.iter().map(|ty| text.piece(ty)).collect();
            format!("::<{}>", list.join(", "))
        }
    };
    let name = text.piece(&proc_macro::TokenTree::Ident(function.name.clone()).into());
    // A parameter may have the kernel's name.
    let path = if made.in_impl { "Self::" } else { "self::" };
    let arguments: Vec<&str> =
        all.iter().map(|one| one.again.as_str()).filter(|argument| !argument.is_empty()).collect();
    let call = format!("{path}{name}{generics}({})", arguments.join(", "));
    format!(
        "#[repr(C)] struct WarplineAgain<F> {{ call: unsafe extern \"{abi}\" fn(*const u8, i64) -> !, again: F }} \
         unsafe extern \"{abi}\" fn warpline_call<F: ::core::ops::Fn(i64)>(context: *const u8, index: i64) -> ! {{ \
             let again = unsafe {{ &(*context.cast::<WarplineAgain<F>>()).again }}; again(index); \
             ::core::panic!(\"the kernel `{instance}` panicked at index {{}}, though not when it was called for it \
                            again: it had changed what it reads\", index) }} \
         fn warpline_new<F: ::core::ops::Fn(i64)>(again: F) -> WarplineAgain<F> {{ \
             WarplineAgain {{ call: warpline_call::<F>, again }} }} \
         let warpline_again = warpline_new(|warpline_at: i64| {{ \
             let warpline_k = (warpline_at as {index} as i64).wrapping_sub(warpline_begin) as usize; \
             let _ = unsafe {{ {call} }}; }});",
        instance = interface.instance,
        index = interface
            .params
            .iter()
            .find(|param| param.pass == Pass::Index)
            .map_or_else(|| "i64".to_owned(), |param| text.piece(&param.ty)),
    )
}

/// The function that says which CPU's code runs.
fn which(function: &Function, name: &str, made: Option<&Made>, text: &mut Text) -> String {
    let body = match made.map(|made| &made.which) {
        None => "\"\"".to_owned(),
        Some(Which::One(cpu)) => format!("{cpu:?}"),
        Some(Which::Ask(symbol)) => format!(
            "unsafe extern \"C\" {{ #[link_name = {symbol:?}] fn warpline_cpu() -> *const ::core::ffi::c_char; }} \
             unsafe {{ ::core::ffi::CStr::from_ptr(warpline_cpu()) }}.to_str().unwrap_or_default()"
        ),
    };
    format!(
        "{cfgs} #[doc = \"The name of the CPU whose code of `{name}` runs on this machine.\"] #[must_use] {ALLOWED} \
         {visibility} fn {name}_cpu() -> &'static str {{ {body} }}",
        cfgs = text.piece(&function.cfgs.iter().cloned().collect()),
        visibility = visibility(function),
    )
}

/// What a parameter becomes.
fn passed(param: &Param, ty: &str, of: &str) -> Passed {
    let name = param.name.as_str();
    match param.pass {
        Pass::Index => Passed { again: format!("warpline_at as {ty}"), ..Passed::default() },
        Pass::Number => Passed {
            declared: format!("{name}: {ty}"),
            types: vec![ty.to_owned()],
            values: vec![name.to_owned()],
            again: match param.shape.strip_prefix("stride") {
                Some(step) => {
                    format!("{name}.wrapping_add(({step} as i128 as {ty}).wrapping_mul(warpline_k as {ty}))")
                }
                None => name.to_owned(),
            },
            ..Passed::default()
        },
        Pass::Pointer => Passed {
            declared: format!("{name}: {ty}"),
            types: vec!["*const u8".to_owned()],
            values: vec![format!("{name} as *const u8")],
            again: match param.shape.strip_prefix("stride") {
                Some(step) => format!("{name}.wrapping_byte_offset({step} * warpline_k as isize)"),
                None => name.to_owned(),
            },
            ..Passed::default()
        },
        Pass::Value => Passed {
            declared: format!("{name}: {ty}"),
            types: vec!["*const u8".to_owned()],
            values: vec![format!("(&raw const {name}).cast::<u8>()")],
            again: name.to_owned(),
            ..Passed::default()
        },
        Pass::Numbers | Pass::Values => {
            Passed { again: format!("{name}[warpline_k]"), ..elements(name, ty, false) }
        }
        Pass::Element { mutable } => elements(name, of, mutable),
        Pass::Reference { mutable } => reference(name, ty, mutable),
        Pass::Slice { mutable } => {
            let whole = elements(name, of, mutable);
            let length = format!("warpline_length_{}", plain(name));
            Passed {
                declared: format!("{name}: {ty}"),
                types: [whole.types, vec!["usize".to_owned()]].concat(),
                values: [whole.values, vec![length.clone()]].concat(),
                by_index: None,
                before: format!("{} let {length} = {name}.len();", whole.before),
                again: match mutable {
                    true => format!("::core::slice::from_raw_parts_mut({}, {length})", place(name)),
                    false => name.to_owned(),
                },
            }
        }
    }
}

/// A slice with one element for each index.
fn elements(name: &str, of: &str, mutable: bool) -> Passed {
    let word = if mutable { "mut " } else { "" };
    Passed {
        declared: format!("{name}: &{word}[{of}]"),
        types: vec!["*const u8".to_owned()],
        values: match mutable {
            true => vec![format!("{}.cast::<u8>().cast_const()", place(name))],
            false => vec![format!("{name}.as_ptr().cast::<u8>()")],
        },
        by_index: Some(name.to_owned()),
        before: match mutable {
            true => format!("let {} = {name}.as_mut_ptr();", place(name)),
            false => String::new(),
        },
        again: match mutable {
            true => format!("&mut *{}.add(warpline_k)", place(name)),
            false => format!("&{name}[warpline_k]"),
        },
    }
}

/// A reference that is the same for all indices.
fn reference(name: &str, ty: &str, mutable: bool) -> Passed {
    Passed {
        declared: format!("{name}: {ty}"),
        types: vec!["*const u8".to_owned()],
        values: match mutable {
            true => vec![format!("{}.cast::<u8>().cast_const()", place(name))],
            false => vec![format!("(&raw const *{name}).cast::<u8>()")],
        },
        before: match mutable {
            true => format!("let {} = &raw mut *{name};", place(name)),
            false => String::new(),
        },
        again: match mutable {
            true => format!("&mut *{}", place(name)),
            false => name.to_owned(),
        },
        ..Passed::default()
    }
}

/// The name of a variable with the address of what may be changed.
fn place(name: &str) -> String {
    format!("warpline_place_{}", plain(name))
}

fn plain(name: &str) -> &str {
    name.trim_start_matches("r#")
}
