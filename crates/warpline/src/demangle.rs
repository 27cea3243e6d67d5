//! Names of functions as people write them.

/// The name that a function has in its source, if `name` is a mangled name of Rust or C++ (or OpenCL C); else `name`
/// itself. Rust's hash is left out.
pub fn demangle(name: &str) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return format!("{rust:#}");
    }
    // Names that do not begin like this are taken for types by the demangler.
    if name.starts_with("_Z") || name.starts_with("__Z") {
        let options = cpp_demangle::DemangleOptions::new();
        let symbol = cpp_demangle::Symbol::new(name).ok();
        if let Some(text) = symbol.and_then(|s| s.demangle_with_options(&options).ok()) {
            return text;
        }
    }
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::demangle;

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
}
