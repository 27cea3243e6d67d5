//! The text of each variant: the source with another name, with `#pragma omp simd`, or, of a kernel, with a loop over
//! its indices.

use super::items::{Item, Kind};
use super::row::Source;

/// What a variant's function is called.
pub(super) fn symbol(source: &Source, variant: &str) -> String {
    let behind = match source.kind {
        Kind::Loop => "",
        Kind::Range(_) => "_range",
        Kind::NdRange(..) => "_ndrange",
    };
    format!("{}{behind}", name(source, variant))
}

/// The name of the kernel or function that makes a variant.
pub(super) fn name(source: &Source, variant: &str) -> String {
    format!("{}__{variant}", source.name)
}

/// What warpline reads; kernels are named by `--symbol`.
pub(super) fn for_warpline(source: &Source, variant: &str) -> String {
    match source.kind {
        Kind::Loop => renamed(source, &source.text, variant),
        Kind::Range(_) | Kind::NdRange(..) => source.text.clone(),
    }
}

/// What a compiler reads that knows nothing of lanes: a kernel becomes a function with a loop over its indices.
pub(super) fn for_compiler(source: &Source, variant: &str) -> Option<String> {
    let text = renamed(source, &source.text, variant);
    match source.kind {
        Kind::Loop => Some(text),
        Kind::Range(_) => rust_range(source, &text, variant),
        Kind::NdRange(..) => nd_range(source, &text, variant, ""),
    }
}

/// What a compiler reads whose loops have the promise of `#pragma omp simd`.
pub(super) fn with_pragma(source: &Source, variant: &str, clauses: &str) -> Option<String> {
    let pragma = format!("#pragma omp simd {clauses}");
    let text = renamed(source, &source.text, variant);
    match source.kind {
        Kind::Loop => {
            let line = |line: &str| match line.trim_start().starts_with("//@ loop") {
                true => format!("{pragma}\n"),
                false => format!("{line}\n"),
            };
            Some(text.lines().map(line).collect())
        }
        Kind::Range(_) => None,
        Kind::NdRange(..) => nd_range(source, &text, variant, &pragma),
    }
}

/// The text with the function's name replaced wherever the name stands as a word.
pub(super) fn renamed(source: &Source, text: &str, variant: &str) -> String {
    let (old, new) = (source.name.as_str(), name(source, variant));
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(old) {
        let (before, behind) = (&rest[..at], &rest[at + old.len()..]);
        let alone = !before.ends_with(is_word) && !behind.starts_with(is_word);
        made.push_str(before);
        made.push_str(if alone { &new } else { old });
        rest = behind;
    }
    made + rest
}

/// Where the parameters of a function stand in a text, between the parentheses.
fn parameters<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let begin = text.find(&format!("{name}("))? + name.len() + 1;
    let length = text[begin..].find(')')?;
    Some(&text[begin..begin + length])
}

/// What a function is given, as it stands in a call.
fn passed(source: &Source) -> String {
    let is_passed = |item: &&Item| !matches!(item, Item::Number { elem: None, .. });
    source.items.iter().filter(is_passed).map(Item::name).collect::<Vec<_>>().join(", ")
}

/// A kernel in Rust, and a function that calls it for each index of a range.
fn rust_range(source: &Source, text: &str, variant: &str) -> Option<String> {
    let kernel = name(source, variant);
    let (index, rest) = parameters(text, &kernel)?.split_once(',')?;
    let index = index.split_once(':')?.1.trim();
    let passed = passed(source);
    Some(format!(
        "{text}\n#[unsafe(no_mangle)]\n\
         pub unsafe extern \"C\" fn {kernel}_range(begin: i64, end: i64, {rest}) {{\n    \
             for i in begin..end {{\n        unsafe {{ {kernel}(i as {index}, {passed}) }};\n    }}\n}}\n"
    ))
}

/// A kernel in OpenCL C as C, and a function that calls it for each work-item.
fn nd_range(source: &Source, text: &str, variant: &str, pragma: &str) -> Option<String> {
    let kernel = name(source, variant);
    let given = parameters(text, &kernel)?.to_owned();
    let ids = "size_t id0, size_t id1, size_t id2, size_t size0, size_t size1, size_t size2";
    let text = text.replacen(&format!("{kernel}("), &format!("{kernel}({ids}, "), 1);
    Some(format!(
        "{OPENCL}\n{text}\n#undef kernel\nvoid {kernel}_ndrange(const uint64_t *offset_, const uint64_t *size_, \
         const uint64_t *group_, {given}) {{\n  (void)offset_, (void)group_;\n  \
         const size_t x_ = size_[0], y_ = size_[1], z_ = size_[2];\n  \
         for (size_t k_ = 0; k_ < z_; k_++)\n  for (size_t j_ = 0; j_ < y_; j_++)\n{pragma}\n  \
         for (size_t i_ = 0; i_ < x_; i_++) {kernel}(i_, j_, k_, x_, y_, z_, {});\n}}\n",
        passed(source),
    ))
}

const OPENCL: &str = include_str!("opencl.h");

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn only_whole_names_are_replaced_and_marks_become_pragmas() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sum.c");
        let text =
            "// survey: n i32 = 3\nint sum(int n) { int sums = 0;\n  //@ loop\n  for (;;); return sums; }\n";
        std::fs::write(&path, text).unwrap();
        let source = Source::read(Path::new(&path)).unwrap();
        let made = with_pragma(&source, "omp", "reduction(+:sums)").unwrap();
        assert!(
            made.contains("int sum__omp(int n) { int sums = 0;\n#pragma omp simd reduction(+:sums)\n"),
            "{made}"
        );
    }
}
