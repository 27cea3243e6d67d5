//! The text for `-fopenmp`: a source with those of its directives that are for lanes, and nothing that is for
//! threads.

use super::{Clause, clauses, pragma};

/// Clauses of loops with lanes; what else stands in a combined directive is for threads, teams, tasks or devices.
const OF_LANES: [&str; 12] = [
    "simdlen",
    "safelen",
    "reduction",
    "lastprivate",
    "private",
    "aligned",
    "nontemporal",
    "order",
    "collapse",
    "if",
    "allocate",
    "linear",
];

/// Directives that are for threads, teams, tasks or devices: without them one thread does everything. Those of which
/// nothing is known here stay, so that clang says what it has to say.
const OF_THREADS: [&str; 36] = [
    "parallel",
    "for",
    "sections",
    "section",
    "single",
    "critical",
    "master",
    "masked",
    "barrier",
    "taskwait",
    "taskyield",
    "taskgroup",
    "task",
    "taskloop",
    "flush",
    "cancel",
    "cancellation",
    "threadprivate",
    "requires",
    "teams",
    "distribute",
    "target",
    "scope",
    "depobj",
    "interop",
    "dispatch",
    "loop",
    "allocate",
    "error",
    "workshare",
    "declare target",
    "begin declare target",
    "end declare target",
    "declare mapper",
    "nothing",
    "workdistribute",
];

/// The text to be compiled with `-fopenmp` instead of `-fopenmp-simd`, if preprocessed text has directives that need
/// it: `atomic`, `ordered simd`, and
/// `linear` of variables, whose steps are found in what the loop does.
pub(crate) fn for_lanes(preprocessed: &str) -> Option<String> {
    let needs_it = |line: &str| {
        pragma(line).is_some_and(|(name, rest)| match name.as_str() {
            "atomic" => true,
            "ordered" => clauses(rest).iter().any(|clause| clause.name == "simd"),
            _ => is_simd(&name) && clauses(rest).iter().any(|clause| clause.name == "linear"),
        })
    };
    if !preprocessed.lines().any(needs_it) {
        return None;
    }
    let mut text = String::with_capacity(preprocessed.len());
    for line in preprocessed.lines() {
        match pragma(line) {
            Some((name, rest)) => text.push_str(&directive(line, &name, rest)),
            None => text.push_str(line),
        }
        text.push('\n');
    }
    Some(text)
}

fn is_simd(name: &str) -> bool {
    let mut words = name.split(' ');
    let first = words.next().unwrap_or_default();
    !matches!(first, "declare" | "begin" | "end" | "ordered") && name.split(' ').any(|word| word == "simd")
}

/// What becomes of a directive; a line of its own in any case, so that the lines behind it keep their numbers.
fn directive(line: &str, name: &str, rest: &str) -> String {
    let in_order = |clauses: Vec<Clause>| clauses.iter().any(|clause| clause.name == "simd");
    match name {
        "ordered" if in_order(clauses(rest)) => "#pragma omp ordered simd".to_owned(),
        "ordered" => String::new(),
        _ if is_simd(name) => {
            let kept: Vec<String> =
                clauses(rest).iter().filter(|c| is_kept(name, c)).map(|c| format!(" {}", c.text())).collect();
            format!("#pragma omp simd{}", kept.concat())
        }
        _ if OF_THREADS.contains(&name)
            || name.split(' ').next().is_some_and(|first| OF_THREADS.contains(&first)) =>
        {
            String::new()
        }
        _ => line.to_owned(),
    }
}

/// Whether a clause of a loop with lanes stays.
fn is_kept(name: &str, clause: &Clause) -> bool {
    match clause.name.as_str() {
        // Without it the variable is what the loop makes of it, and the loop is what shows its step.
        "linear" => false,
        // In a combined directive it may be about threads, and clang wants to hear of those.
        "if" | "allocate" => name == "simd",
        known if OF_LANES.contains(&known) => true,
        _ => name == "simd",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_for_lanes_stays_and_lines_keep_their_numbers() {
        let text = "# 1 \"k.c\"\n\
                    #pragma omp parallel for simd schedule(static) num_threads(4) reduction(+:s) \
                     linear(j:2)\nfor (;;) {\n\
                    #pragma omp atomic update\nx++;\n#pragma omp ordered threads, simd\n{}\n\
                    #pragma omp barrier\n}\n#pragma omp simd foo\n\
                    #pragma omp declare simd\n#pragma clang loop unroll(full)\n#pragma omp paralel for\n";
        let kept = for_lanes(text).unwrap();
        assert_eq!(
            kept,
            "# 1 \"k.c\"\n#pragma omp simd reduction(+:s)\nfor (;;) {\n#pragma omp atomic update\nx++;\n\
             #pragma omp ordered simd\n{}\n\n}\n#pragma omp simd foo\n#pragma omp declare simd\n\
             #pragma clang loop unroll(full)\n#pragma omp paralel for\n"
        );
        assert_eq!(for_lanes("#pragma omp simd reduction(+:s)\nfor (;;);\n#pragma omp parallel\n{}\n"), None);
    }
}
