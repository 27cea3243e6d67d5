//! The program that runs the variants of a row in turns: C text, which is linked with their objects.
//!
//! It fills the arguments from the seed, runs each variant and compares what it leaves with what the scalar variant
//! leaves, bytes around the arrays included, on a few sets of data, then takes rounds of samples. Standard output has
//! a line for each step: `trying NAME`, `checked NAME COUNT FIRST`, `repeats N`, `round NS NS …`. Variants named among
//! the arguments are skipped.

use std::fmt::Write as _;

use super::items::{Content, Elem, Item, Kind};
use super::row::{Source, name_in_c};

/// A variant: how it is called in tables, and the function's symbol.
pub(super) struct Entry<'a> {
    pub name: &'a str,
    pub symbol: &'a str,
}

/// What the driver is told besides the source.
pub(super) struct Run {
    /// Which of the source's rows.
    pub row: usize,
    pub seed: u64,
    pub rounds: usize,
}

/// The C text of the driver; the first entry is the scalar variant.
pub(super) fn text(source: &Source, entries: &[Entry<'_>], run: &Run) -> String {
    let mut text = HEAD.to_owned();
    let _ = writeln!(text, "enum {{ ROUNDS = {} }};\nstatic uint64_t state = {}u;", run.rounds, run.seed);
    for item in &source.items {
        if let Item::Number { name, elem, values } = item {
            let value = values.get(run.row).unwrap_or(&values[0]);
            let ty = elem.map_or("int64_t", |e| e.c);
            let _ = writeln!(text, "#define {} (({ty})({value}))", name_in_c(name));
        }
    }
    arrays(&mut text, source);
    let returns = source.returns.map_or("void", |e| e.c);
    let (types, arguments) = parameters(source);
    let _ = writeln!(text, "typedef {returns} function_t({types});");
    for entry in entries {
        let _ = writeln!(text, "extern function_t {};", entry.symbol);
    }
    text.push_str("static struct { const char *name; function_t *f; bool skip; } variants[] = {\n");
    for entry in entries {
        let _ = writeln!(text, "  {{\"{}\", {}, false}},", entry.name, entry.symbol);
    }
    text.push_str("};\nenum { VARIANTS = sizeof variants / sizeof *variants };\n");
    let result = source.returns.map_or(String::new(), |e| format!("*({}*)arrays[RESULT].work = ", e.c));
    let _ = writeln!(
        text,
        "static const double tolerance = {:e};\n\
         static void call(function_t *f, uint64_t times) {{\n  \
           for (uint64_t k = 0; k < times; k++) {result}f({arguments});\n}}",
        source.tolerance.unwrap_or(0.0),
    );
    text.push_str(TAIL);
    text
}

/// Arrays, that of the result last, and how they are filled.
fn arrays(text: &mut String, source: &Source) {
    let mut fill = String::new();
    let mut list = String::new();
    let mut at = 0;
    let kind = |e: Elem| match e.name {
        "f32" => 1,
        "f64" => 2,
        _ => 0,
    };
    for item in &source.items {
        let Item::Array { name, elem, length, content, .. } = item else { continue };
        let Elem { c, .. } = *elem;
        let _ =
            writeln!(list, "  {{\"{name}\", sizeof({c}), {}, (size_t)({length}), 0, 0, 0, 0}},", kind(*elem));
        let _ = writeln!(fill, "  {{ {c} *p = (void *)arrays[{at}].initial; size_t n = arrays[{at}].length;");
        let random = |low: &str, high: &str| match elem.is_float() {
            true => format!("({c})(({low}) + unit() * (double)(({high}) - ({low})))"),
            false => format!("({c})(({low}) + (int64_t)(next() % (uint64_t)(int64_t)(({high}) - ({low}))))"),
        };
        let each = |value: &str| format!("    for (size_t k = 0; k < n; k++) p[k] = {value};");
        let filled = match content {
            Content::Zero => String::new(),
            Content::Random if elem.is_float() => each(&format!("({c})unit()")),
            Content::Random => each(&format!("({c})next()")),
            Content::Bits => {
                "    for (size_t k = 0; k < n; k++) { uint64_t b = next(); memcpy(p + k, &b, sizeof *p); }"
                    .to_owned()
            }
            Content::Index => each(&format!("({c})k")),
            Content::In(low, high) => each(&random(low, high)),
            Content::Sorted(low, high) => {
                format!("{}\n    SORT({c}, p, n);", each(&random(low, high)))
            }
            Content::Permutation => format!(
                "{}\n    for (size_t k = n; k > 1; k--) {{ size_t j = next() % k; \
                 {c} t = p[k - 1]; p[k - 1] = p[j]; p[j] = t; }}",
                each(&format!("({c})k")),
            ),
        };
        let _ = writeln!(fill, "{filled}\n    (void)p; (void)n; }}");
        at += 1;
    }
    if let Some(elem) = source.returns {
        let _ = writeln!(list, "  {{\"the result\", sizeof({}), {}, 1, 0, 0, 0, 0}},", elem.c, kind(elem));
    }
    let _ = writeln!(
        text,
        "static struct array {{ const char *name; size_t size; int kind; size_t length; \
         unsigned char *initial, *memory, *work, *expected; }} arrays[] = {{\n{list}  {{0, 0, 0, 0, 0, 0, 0, 0}} }};\n\
         enum {{ ARRAYS = sizeof arrays / sizeof *arrays - 1, RESULT = ARRAYS - 1 }};\n\
         static void fill(void) {{\n{fill}}}"
    );
}

/// Types of the parameters, and what is passed.
fn parameters(source: &Source) -> (String, String) {
    let (mut types, mut passed) = (Vec::new(), Vec::new());
    let mut add = |ty: &str, value: String| {
        types.push(ty.to_owned());
        passed.push(value);
    };
    match &source.kind {
        Kind::Loop => {}
        Kind::Range(end) => {
            add("int64_t", "0".to_owned());
            add("int64_t", format!("(int64_t)({end})"));
        }
        Kind::NdRange(x, y) => {
            for list in
                ["0, 0, 0".to_owned(), format!("(uint64_t)({x}), (uint64_t)({y}), 1"), "0, 0, 0".to_owned()]
            {
                add("const uint64_t *", format!("(const uint64_t[]){{{list}}}"));
            }
        }
    }
    let mut array = 0;
    for item in &source.items {
        match item {
            Item::Number { name, elem: Some(elem), .. } => add(elem.c, name_in_c(name)),
            Item::Number { elem: None, .. } => {}
            Item::Array { slice, .. } => {
                add("void *", format!("arrays[{array}].work"));
                if *slice {
                    add("size_t", format!("arrays[{array}].length"));
                }
                array += 1;
            }
        }
    }
    (if types.is_empty() { "void".to_owned() } else { types.join(", ") }, passed.join(", "))
}

const HEAD: &str = include_str!("driver_head.c");
const TAIL: &str = include_str!("driver_tail.c");
