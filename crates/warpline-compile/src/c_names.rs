//! Names of an input in C headers: what is a name there, what is not, and text within comments.

use warpline_ir::{demangle, printable};

/// Words of C and C++, whatever stands before them.
const KEYWORDS: &str = " alignas alignof and and_eq asm atomic_cancel auto bitand bitor bool break case catch char char16_t \
     char32_t char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr constinit \
     continue decltype default delete do double dynamic_cast else enum explicit export extern false float for friend \
     goto if inline int long mutable namespace new noexcept noreturn not not_eq nullptr operator or or_eq private \
     protected public register reinterpret_cast requires restrict return short signed sizeof static static_assert \
     static_cast struct switch template this thread_local throw true try typedef typeid typename typeof \
     typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq ";

/// Macros of GCC's on some machine, or of headers that ours includes.
const MACHINES: &str = " complex far huge i386 imaginary interrupt linux near pascal pixel sun unix vector ";

/// Macros of `stdint.h` begin like this, and other names in capitals hardly ever do.
const MACROS: [&str; 8] =
    ["INT", "UINT", "SIZE_M", "PTRDIFF_M", "WCHAR_M", "WINT_M", "SIG_ATOMIC_M", "RSIZE_M"];

/// Whether a name can be declared in C and C++: letters, digits and `_`, no keyword, and nothing that may be a macro
/// or a type.
pub(crate) fn is_identifier(name: &str) -> bool {
    let is_type = (name.starts_with("int") || name.starts_with("uint")) && name.ends_with("_t");
    let is_macro = MACROS.iter().any(|start| name.starts_with(start))
        && !name.contains(|c: char| c.is_ascii_lowercase());
    is_word(name) && !is_type && !is_macro && !MACHINES.contains(&format!(" {name} "))
}

/// Whether a name that a source in C or C++ has for a type, a member or the like is one in both languages.
pub(crate) fn is_word(name: &str) -> bool {
    let letters = name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_');
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    letters && begins && !KEYWORDS.contains(&format!(" {name} "))
}

/// Whether a name can be that of a parameter: such names are replaced by macros more often than those of functions,
/// whose linkers know them.
fn is_parameter(name: &str) -> bool {
    is_identifier(name) && !name.starts_with('_') && !name.starts_with("warpline_")
}

/// The names of parameters as C can have them: their own where possible, and no two the same. `taken` are names that
/// stand beside them.
pub(crate) fn parameters<'n>(names: impl Iterator<Item = &'n str>, taken: &[&str]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for (i, name) in names.enumerate() {
        let mut own = match is_parameter(name) || is_parameter(&format!("{name}_")) {
            true => name.to_owned(),
            false => format!("arg{i}"),
        };
        while !is_parameter(&own) || taken.contains(&&*own) || all.contains(&own) {
            own.push('_');
        }
        all.push(own);
    }
    all
}

/// What a function of C++ can be called in C: `img_scale` for `img::scale(int)`, with the arguments of a template.
/// Other names stay.
pub(crate) fn of_cpp(mangled: &str) -> String {
    let whole = demangle(mangled);
    if whole == mangled {
        return whole;
    }
    let whole = whole.replace("(anonymous namespace)::", "");
    let head = whole.split('(').next().unwrap_or_default();
    let mut depth = 0i32;
    let mut begin = 0;
    for (at, c) in head.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            // An instance of a template has its result in front.
            ' ' if depth == 0 => begin = at + 1,
            _ => {}
        }
    }
    let words = head[begin..].split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join("_");
    if mangled.starts_with("_Z") && is_identifier(&name) { name } else { mangled.to_owned() }
}

/// Text within a comment of C, which it neither ends nor seems to begin again.
pub(crate) fn comment(text: &str) -> String {
    printable::line(text).replace("*/", "*\\/").replace("/*", "/\\*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers_or_are_replaced() {
        let names = [
            "x",
            "int",
            "int_",
            "a b",
            "",
            "9",
            "__LINE__",
            "offset",
            "INT32_MAX",
            "N",
            "linux",
            "x",
            "größe",
            "warpline_run",
        ];
        let made = parameters(names.into_iter(), &["offset"]);
        let expected = [
            "x",
            "int_",
            "int__",
            "arg3",
            "arg4",
            "arg5",
            "arg6",
            "offset_",
            "INT32_MAX_",
            "N",
            "linux_",
            "x_",
            "arg12",
            "arg13",
        ];
        assert_eq!(made[..8], expected[..8]);
        assert!(made.iter().all(|name| is_parameter(name)), "{made:?}");
        assert!(
            is_identifier("kernel_w8")
                && is_identifier("_Z3foov")
                && !is_identifier("k.x")
                && !is_identifier("switch")
        );
    }

    #[test]
    fn comments_stay_comments() {
        assert_eq!(comment("a*/int x;/*\n"), "a*\\/int x;/\\*\\u{a}");
        for text in ["*/*/", "/*/", "**//", "*\u{0}/"] {
            let made = comment(text);
            assert!(!made.contains("*/") && !made.contains("/*"), "{made}");
        }
    }

    #[test]
    fn functions_of_cpp_get_names_without_their_types() {
        assert_eq!(of_cpp("_ZN3img5scaleEiPf"), "img_scale");
        assert_eq!(of_cpp("_ZN3img5scaleIfEEviPT_"), "img_scale_float");
        assert_eq!(of_cpp("_ZN12_GLOBAL__N_11fEi"), "f");
        assert_eq!(of_cpp("plain_name"), "plain_name");
        assert_eq!(of_cpp("_Znot"), "_Znot");
    }
}
