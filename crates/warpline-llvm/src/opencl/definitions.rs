//! The definitions of OpenCL C's builtins, as text: which sections a module needs.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use super::conversions;

/// What stands in front of all sections.
const PRELUDE: &str = include_str!("prelude.cl");

/// The files with sections, and whether these are for modules that name `half` alone.
const FILES: [(&str, bool); 5] = [
    (include_str!("mathematics.cl"), false),
    (include_str!("common.cl"), false),
    (include_str!("integers.cl"), false),
    (include_str!("memory.cl"), false),
    (include_str!("halves.cl"), true),
];

/// What a line that names the builtins of a section begins with.
const HEADING: &str = "//@ ";

/// What a line begins with that says a macro and names, each of which is a section: the macro of the name.
const EACH: &str = "//@each ";

/// A part of a file that is compiled as one.
#[derive(Default)]
struct Section {
    /// The builtins that it defines; `#` stands for a number of elements. What stands in front of all sections of a
    /// file defines none.
    names: Vec<&'static str>,
    text: String,
    /// Whether it is for modules that name `half` alone.
    of_halves: bool,
}

/// The names that a pattern stands for.
fn names_of(pattern: &str) -> Vec<String> {
    match pattern.split_once('#') {
        None => vec![pattern.to_owned()],
        Some((start, end)) => [2, 3, 4, 8, 16].map(|elements| format!("{start}{elements}{end}")).into(),
    }
}

static SECTIONS: LazyLock<Vec<Section>> =
    LazyLock::new(|| FILES.into_iter().flat_map(|(file, of_halves)| sections_of(file, of_halves)).collect());

/// The sections that define a builtin, by its name.
static DEFINING: LazyLock<HashMap<String, Vec<usize>>> = LazyLock::new(|| {
    let mut defining = HashMap::<String, Vec<usize>>::new();
    for (number, section) in SECTIONS.iter().enumerate() {
        for name in section.names.iter().flat_map(|pattern| names_of(pattern)) {
            defining.entry(name).or_default().push(number);
        }
    }
    defining
});

fn sections_of(file: &'static str, of_halves: bool) -> Vec<Section> {
    let new = || Section { of_halves, ..Section::default() };
    let (mut all, mut current) = (Vec::new(), new());
    for line in file.lines() {
        if let Some((name, names)) = line.strip_prefix(EACH).and_then(|rest| rest.split_once(' ')) {
            let each = names.split_whitespace();
            all.extend(each.map(|of| Section { names: vec![of], text: format!("{name}({of})\n"), ..new() }));
        } else if let Some(names) = line.strip_prefix(HEADING) {
            if !current.text.is_empty() {
                all.push(std::mem::replace(&mut current, new()));
            }
            current.names.extend(names.split_whitespace());
        } else {
            current.text.push_str(line);
            current.text.push('\n');
        }
    }
    all.push(current);
    // Macros stand in front of what uses them.
    all.sort_by_key(|section| !section.names.is_empty());
    all
}

/// Whether there is a definition of an OpenCL builtin of this name, such as `fmod` or `convert_int4_sat`, for operands
/// of any type.
pub fn is_defined(name: &str) -> bool {
    conversions::is_conversion(name) || DEFINING.contains_key(name)
}

/// The definitions of builtins, and of those that these call; `None` if none of them has one. Those for operands of
/// `half` are among them if `halves`.
pub(super) fn source(names: &BTreeSet<String>, halves: bool) -> Option<String> {
    let mut wanted = vec![false; SECTIONS.len()];
    let defining = |name: &str| {
        let sections = DEFINING.get(name).into_iter().flatten().copied();
        sections.filter(|&section| halves || !SECTIONS[section].of_halves)
    };
    let mut work: Vec<usize> = names.iter().flat_map(|name| defining(name)).collect();
    while let Some(section) = work.pop() {
        if std::mem::replace(&mut wanted[section], true) {
            continue;
        }
        // A word of a comment costs time at most.
        for word in SECTIONS[section].text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            work.extend(defining(word).filter(|&section| !wanted[section]));
        }
    }
    let conversions = conversions::source(names);
    if conversions.is_empty() && !wanted.contains(&true) {
        return None;
    }
    let mut text = PRELUDE.to_owned();
    for (section, wanted) in SECTIONS.iter().zip(wanted) {
        let stands_in_front = section.names.is_empty() && (halves || !section.of_halves);
        if wanted || stands_in_front {
            text.push_str(&section.text);
        }
    }
    Some(text + &conversions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builtins_are_found_by_name_and_by_the_size_in_it() {
        for name in
            ["fmod", "vload16", "vstorea_half3_rtz", "atomic_cmpxchg", "convert_uchar4_sat_rte", "cross"]
        {
            assert!(is_defined(name), "{name}");
        }
        for name in
            ["barrier", "read_imagef", "vload5", "vload", "convert_int5", "convert_float_sat", "fmo", "#"]
        {
            assert!(!is_defined(name), "{name}");
        }
    }

    #[test]
    fn a_section_brings_those_that_it_calls_and_no_others() {
        let text = source(&BTreeSet::from(["normalize".to_owned()]), false).expect("it is defined");
        assert!(text.contains("_W_DOT(float)") && text.contains("_W_GEOMETRIC(_W_LENGTH_FLOAT, float)"));
        assert!(!text.contains("_W_LIBM2(fmod)"));
        assert_eq!(source(&BTreeSet::from(["barrier".to_owned()]), true), None);
    }

    #[test]
    fn definitions_for_halves_are_there_for_modules_that_name_the_type() {
        let names = BTreeSet::from(["atan2".to_owned()]);
        let [without, with] = [false, true].map(|halves| source(&names, halves).expect("it is defined"));
        assert!(without.contains("_W_LIBM2(atan2)") && !without.contains("_W_HALF2"));
        let (own, of_float) = (with.find("\n_W_HALF2(atan2)"), with.find("\n_W_LIBM2(atan2)"));
        assert!(of_float < own && own.is_some() && !with.contains("_W_HALF2(fmod)"));
    }
}
