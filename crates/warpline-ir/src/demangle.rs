//! Names of functions as people write them.

use std::fmt;

use crate::printable::line;

/// Mangled names of C++ refer to parts of themselves, so a short one may stand for one without end. What is longer
/// than this, in bytes, stays mangled.
const LONGEST: usize = 1 << 16;

/// The name that a function has in its source, if `name` is a mangled name of Rust or C++ (or OpenCL C); else `name`
/// itself. Rust's hash and default arguments of C++'s library are left out, and what is unsafe to print is written out
/// ([`line`](fn@line)).
pub fn demangle(name: &str) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        let text = format!("{rust:#}");
        // What is compiled alone is a crate of this name, which nobody has written.
        return line(text.strip_prefix("kernel::").unwrap_or(&text)).into_owned();
    }
    // Names that do not begin like this are taken for types by the demangler.
    if name.starts_with("_Z") || name.starts_with("__Z") {
        let options = cpp_demangle::DemangleOptions::new();
        let symbol = cpp_demangle::Symbol::new(name).ok();
        let mut out = Bounded(String::new());
        if symbol.is_some_and(|s| s.structured_demangle(&mut out, &options).is_ok()) {
            return line(&as_written(&out.0)).into_owned();
        }
    }
    line(name).into_owned()
}

/// Arguments of templates in C++'s library that nobody writes, since they are the defaults.
const DEFAULTS: [&str; 6] = [
    "std::allocator<",
    "std::char_traits<",
    "std::default_delete<",
    "std::equal_to<",
    "std::hash<",
    "std::less<",
];

/// A name of C++ without what its library adds to what people write: `std::vector<int>`, `std::string`.
fn as_written(name: &str) -> String {
    let name = name.replace("std::__cxx11::", "std::").replace("std::__1::", "std::");
    let (mut out, mut rest) = (String::new(), &*name);
    while let Some(at) = rest.find(", std::") {
        let (before, argument) = rest.split_at(at);
        out += before;
        match after_default(&argument[2..]) {
            Some(behind) => rest = behind,
            None => {
                out += ", std::";
                rest = &argument[", std::".len()..];
            }
        }
    }
    out += rest;
    out.replace("std::basic_string<char>", "std::string").replace("> >", ">>").replace("> >", ">>")
}

/// What stands behind an argument of a template that is a default and one of the last.
fn after_default(argument: &str) -> Option<&str> {
    DEFAULTS.iter().find(|begin| argument.starts_with(*begin))?;
    let mut depth = 0;
    let end = argument.char_indices().find_map(|(at, c)| {
        depth += i32::from(c == '<') - i32::from(c == '>');
        (c == '>' && depth == 0).then_some(at + 1)
    })?;
    let behind = &argument[end..];
    let closed = behind.trim_start();
    if closed.starts_with('>') {
        return Some(closed);
    }
    // Others that are defaults may follow.
    behind.strip_prefix(", ").and_then(after_default).map(|_| behind)
}

/// The name of the function that a mangled name of OpenCL C says, such as `fmod` of `_Z4fmodff`; `None` of names that
/// are mangled otherwise.
pub fn opencl_builtin_name(mangled: &str) -> Option<&str> {
    let rest = mangled.strip_prefix("_Z")?;
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let length: usize = rest[..digits].parse().ok()?;
    let (name, types) = rest[digits..].split_at_checked(length)?;
    (!types.is_empty()).then_some(name)
}

/// A function of OpenCL C as people write it, `fmod(float4, float4)`, by its mangled name.
pub fn demangle_opencl(mangled: &str) -> String {
    let mut text = demangle(mangled);
    let names = [
        ("unsigned char", "uchar"),
        ("unsigned short", "ushort"),
        ("unsigned int", "uint"),
        ("unsigned long", "ulong"),
        ("signed char", "char"),
        ("_Float16", "half"),
        ("ocl_", ""),
    ];
    for (from, to) in names {
        text = text.replace(from, to);
    }
    // Vectors are `float __vector(4)` there.
    let mut parts = text.split(" __vector(");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((elements, rest)) => out.extend([elements, rest]),
            None => out.push_str(part),
        }
    }
    out
}

/// Text that does not become longer than [`LONGEST`].
struct Bounded(String);

impl fmt::Write for Bounded {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        if self.0.len() + part.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(part);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{demangle, demangle_opencl, opencl_builtin_name};

    #[test]
    fn names_of_rust_cpp_and_opencl_are_demangled_and_others_kept() {
        assert_eq!(
            demangle("_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE"),
            "core::fmt::Formatter::write_str"
        );
        assert_eq!(demangle("_RNvC6_123foo3bar"), "123foo::bar");
        assert_eq!(demangle("_Z13get_global_idj"), "get_global_id(unsigned int)");
        assert_eq!(demangle("_Zwrong"), "_Zwrong");
        assert_eq!(demangle("memcmp"), "memcmp");
        assert_eq!(demangle("i"), "i");
    }

    #[test]
    fn defaults_of_the_library_of_cpp_are_left_out() {
        let whole = [
            ("f(std::vector<double, std::allocator<double> > const&)", "f(std::vector<double> const&)"),
            (
                "std::map<int, int, std::less<int>, std::allocator<std::pair<int const, int> > >::~map()",
                "std::map<int, int>::~map()",
            ),
            (
                "f(std::vector<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, \
                 std::allocator<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > > >)",
                "f(std::vector<std::string>)",
            ),
            ("f(int, std::less<int>)", "f(int, std::less<int>)"),
            ("a::operator<(int, std::allocator<", "a::operator<(int, std::allocator<"),
        ];
        for (name, written) in whole {
            assert_eq!(super::as_written(name), written);
        }
    }

    #[test]
    fn builtins_of_opencl_are_written_as_in_its_sources() {
        assert_eq!(demangle_opencl("_Z4fmodff"), "fmod(float, float)");
        assert_eq!(demangle_opencl("_Z4fmodDv4_fS_"), "fmod(float4, float4)");
        assert_eq!(demangle_opencl("_Z5clampDv16_hhh"), "clamp(uchar16, uchar, uchar)");
        assert_eq!(opencl_builtin_name("_Z4fmodDv4_fS_"), Some("fmod"));
        for other in ["fmod", "_ZN1a1bEv", "_Z4fmo", "_Z99fmodff", "_Z4fmod"] {
            assert_eq!(opencl_builtin_name(other), None, "{other}");
        }
    }

    #[test]
    fn names_that_stand_for_endless_ones_stay_mangled() {
        // Each parameter is a pair of what stands before it.
        let mut name = "_Z1f1aI".to_owned() + "1b";
        for k in 0..60 {
            let seq = if k == 0 {
                "S_".to_owned()
            } else {
                format!("S{}_", char::from(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[(k - 1) % 36]))
            };
            name += &format!("S0_I{seq}{seq}E");
        }
        let long = demangle(&(name + "E"));
        assert!(long.len() < super::LONGEST + 1);
        assert_eq!(demangle("a\u{1b}\nb"), "a\\u{1b}\\u{a}b");
    }
}
