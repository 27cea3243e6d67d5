//! What users say of kernels with barriers, and what is said of those that are taken or refused.

mod common;

use common::{has_clang, stderr, stdout, warpline};

const WAIT: &str = "barrier(CLK_LOCAL_MEM_FENCE);";

/// Runs a command on a source of this text: its exit code and what it says.
fn with_source(verb: &str, text: &str, options: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let (source, object) = (folder.path().join("k.cl"), folder.path().join("k.o"));
    std::fs::write(&source, text).unwrap();
    let mut all = vec![verb, source.to_str().unwrap()];
    if verb == "vectorize" {
        all.extend(["--require-all", "-o", object.to_str().unwrap()]);
    }
    all.extend(options);
    let output = warpline(&all);
    (output.status.code(), stdout(&output) + &stderr(&output))
}

/// A kernel whose statements begin in line 3, with words in front of it and attributes.
fn kernel(above: &str, attributes: &str, body: &str) -> String {
    format!(
        "{above}\nkernel {attributes} void k(global const int *in, global int *out, local int *tmp, int n) {{ int g = \
         get_global_id(0), l = get_local_id(0);\n{body}\n}}\n"
    )
}

fn vectorize(text: &str, options: &[&str]) -> (Option<i32>, String) {
    with_source("vectorize", text, options)
}

/// Runs a kernel over 240 work-items in groups of so many.
fn run(text: &str, local: &str, input: &str) -> (Option<i32>, String) {
    run_over(text, ["240", local], (240, input), 240)
}

/// The same over other ranges, with other buffers and another number.
fn run_over(
    text: &str,
    [global, local]: [&str; 2],
    (elements, input): (u32, &str),
    n: u32,
) -> (Option<i32>, String) {
    let input = format!("in=i32[{elements}]={input}");
    let (output, n) = (format!("out=i32[{elements}]"), format!("n={n}"));
    let range = ["--global", global, "--local", local];
    let binds = [&*input, &output, "tmp=local:i32[256]", &n].into_iter().flat_map(|bind| ["--bind", bind]);
    with_source("run", text, &range.into_iter().chain(binds).collect::<Vec<_>>())
}

/// The last steps of a reduction, and a scan, that rely on warps.
fn tails() -> [String; 2] {
    let reduction = format!(
        "local volatile int *t = tmp; t[l] = in[g];\n{WAIT}\nif (l < 16) {{ t[l] += t[l + 16]; t[l] += t[l + 8]; \
         t[l] += t[l + 4]; t[l] += t[l + 2]; t[l] += t[l + 1]; }}\n{WAIT}\nout[g] = t[0] + l;"
    );
    let scan = format!(
        "local volatile int *t = tmp; int i = l & 15; t[l] = in[g];\nif (i >= 1) t[l] += t[l - 1]; if (i >= 2) t[l] \
         += t[l - 2]; if (i >= 4) t[l] += t[l - 4]; if (i >= 8) t[l] += t[l - 8];\n{WAIT}\nout[g] = t[l ^ 1 & n];"
    );
    [reduction, scan]
}

#[test]
fn warps_that_the_author_has_in_mind_execute_statements_together() {
    if !has_clang() {
        return;
    }
    for body in tails() {
        let (code, said) = vectorize(&kernel("", "", &body), &[]);
        assert_eq!(code, Some(1), "{body}: {said}");
        assert!(said.contains("race between lanes"), "{said}");
        let text = kernel("//@ warp 16", "", &body);
        // Rows that are a multiple of a warp, and others, of which the last warp is smaller.
        for local in ["48", "240", "40", "60", "120"] {
            let (code, said) = run(&text, local, "0..9");
            assert_eq!(code, Some(0), "{local}, {body}: {said}");
            assert!(said.contains("k: 16 lanes"), "{said}");
        }
        let (code, said) = vectorize(&text, &["--width", "8"]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("warps of 16 lanes"), "{said}");
    }
    let [_, scan] = tails();
    let rows = kernel("//@ warp 16", "", &scan.replace("l & 15", "l & 15 + 0 * (int)get_local_id(1)"));
    let (code, said) = with_source(
        "run",
        &rows,
        &["--global", "240,2", "--local", "24,2", "--bind", "in=i32[240]", "--bind", "out=i32[240]"],
    );
    assert_eq!(code, Some(2), "{said}");
}

#[test]
fn warps_race_with_each_other_and_plain_accesses_with_all() {
    if !has_clang() {
        return;
    }
    let [reduction, _] = tails();
    for (above, body) in [
        ("//@ warp 8", reduction.clone()),
        ("//@ warp 16", reduction.replace("volatile ", "")),
        ("//@ warp 16", "local volatile int *t = tmp; t[l] = in[g]; out[g] = t[l + 16];".to_owned()),
    ] {
        let (code, said) = vectorize(&kernel(above, "", &body), &[]);
        assert_eq!(code, Some(1), "{above}, {body}: {said}");
        assert!(said.contains("race between lanes"), "{said}");
    }
    // The last lane of a warp and the first one of the next.
    let body = format!("local volatile int *t = tmp; t[l] = in[g];\nout[g] = l > 0 ? t[l - 1] : 0;\n{WAIT}");
    let (code, said) = run(&kernel("//@ warp 16", "", &body), "48", "0..9");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("race"), "{said}");
}

#[test]
fn directives_about_groups_have_values_that_make_sense() {
    for (above, words) in [
        ("//@ warp 24", "a power of two from 2 to 64"),
        ("//@ warp", "a power of two from 2 to 64"),
        ("//@ warp 8\n//@ warp 8", "a second `warp`"),
        ("//@ uniform-barriers yes", "has no value"),
    ] {
        let (code, said) = vectorize(&kernel(above, "", "out[g] = in[l];"), &[]);
        assert_eq!(code, Some(2), "{above}: {said}");
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn barriers_that_users_know_to_be_uniform_are_taken_and_checked_in_runs() {
    if !has_clang() {
        return;
    }
    let body = format!(
        "int sum = 0, rounds = in[g]; tmp[l] = l;\nfor (int i = 0; i < rounds; i++) {{\n{WAIT}\nint other = tmp[l \
         ^ 1];\n{WAIT}\ntmp[l] = other + i; sum += other; }}\nif (in[g] > 2) {{\n{WAIT}\nsum += tmp[l ^ 1]; }}\n\
         out[g] = sum;"
    );
    let (code, said) = vectorize(&kernel("", "", &body), &[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("only some of them"), "{said}");
    let text = kernel("//@ uniform-barriers", "", &body);
    for (local, input) in [("48", "4"), ("8", "2"), ("120", "0"), ("2", "1")] {
        let (code, said) = run(&text, local, input);
        assert_eq!(code, Some(0), "{said}");
    }
    let (code, said) = run(&text, "48", "0..5");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("wait at different barriers"), "{said}");
    let ends = kernel("//@ uniform-barriers", "", &format!("if (in[g] > 0) {{\n{WAIT}\n}}\nout[g] = l;"));
    let (code, said) = run(&ends, "48", "0..2");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("`//@ uniform-barriers` says"), "{said}");
}

#[test]
fn errors_about_barriers_name_both_ways_from_the_branch() {
    if !has_clang() {
        return;
    }
    let branch = format!("if (l & 1) {{\ntmp[l] = 1;\n{WAIT}\n}} else {{\ntmp[l] = 2;\n}}\nout[g] = tmp[0];");
    let (code, said) = vectorize(&kernel("", "", &branch), &[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("(they go on at ") && said.contains("k.cl:3:"), "{said}");
    assert!(said.contains("k.cl:4:1") && said.contains("k.cl:7:1") && said.contains("the branch"), "{said}");
    let rounds = format!("for (int i = 0; i < l; i++) {{\ntmp[l] = i;\n{WAIT}\n}}\nout[g] = tmp[0];");
    let (code, said) = vectorize(&kernel("", "", &rounds), &[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("(they go on at ") && said.contains("k.cl:4:"), "{said}");
}

#[test]
fn tiles_are_taken_without_a_known_group_size_and_near_neighbours_are_not() {
    if !has_clang() {
        return;
    }
    let tile = format!(
        "for (int i = 0; i < 16; i++) tmp[i * 16 + l] = in[i * n + l];\n{WAIT}\nfor (int i = 1; i < 16; i++) tmp[i * \
         16 + l] -= tmp[(i - 1) * 16 + l];\n{WAIT}\nout[g] = tmp[l * 16];"
    );
    let (code, said) = vectorize(&kernel("", "", &tile), &["-v"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("a race in groups with more than 16 work-items in a row"), "{said}");
    for row in [16, 8] {
        let attribute = format!("__attribute__((reqd_work_group_size({row}, 1, 1)))");
        let (code, said) = vectorize(&kernel("", &attribute, &tile), &["-v"]);
        assert_eq!(code, Some(0), "{said}");
        assert!(!said.contains("a race in groups"), "{said}");
    }
    for (near, attribute) in [
        ("tmp[l] = g; tmp[l + 1] = l;", ""),
        ("tmp[l] = g; out[g] = tmp[l + 4];", ""),
        ("tmp[l] = g; out[g] = tmp[l + 16];", "__attribute__((reqd_work_group_size(32, 1, 1)))"),
        ("if (l < 20) tmp[l] += tmp[l + 16];", ""),
    ] {
        let (code, said) =
            vectorize(&kernel("", attribute, &format!("{near}\n{WAIT}\nout[g] = tmp[l];")), &[]);
        if attribute.is_empty() {
            assert_eq!(code, Some(1), "{near}: {said}");
            assert!(said.contains("race"), "{said}");
        } else {
            assert!(said.contains("more than 16 work-items"), "{said}");
        }
    }
}

#[test]
fn halos_that_the_first_work_items_load_are_taken_without_a_known_group_size() {
    if !has_clang() {
        return;
    }
    let halo = |guard: &str, size: u32| {
        format!(
            "tmp[l + 2] = in[g];\nif ({guard}) {{ tmp[l] = n; tmp[l + {size} + 2] = n + 1; }}\n{WAIT}\nout[g] = tmp[l] + \
             tmp[l + 2] - tmp[l + 4];"
        )
    };
    for guard in ["l < 2", "l <= 1"] {
        let text = kernel("", "", &halo(guard, 16));
        let (code, said) = vectorize(&text, &["-v"]);
        assert_eq!(code, Some(0), "{guard}: {said}");
        assert!(said.contains("a race in groups with more than 16 work-items in a row"), "{said}");
        let (code, said) = run(&text, "16", "0..9");
        assert_eq!(code, Some(0), "{guard}: {said}");
    }
    // More of them meet those that come next.
    for guard in ["l < 20", "l < 3"] {
        let (code, said) = vectorize(&kernel("", "", &halo(guard, 16)), &[]);
        assert_eq!(code, Some(1), "{guard}: {said}");
        assert!(said.contains("a race between lanes"), "{guard}: {said}");
    }
}

#[test]
fn runs_have_groups_of_the_size_that_a_kernel_requires() {
    if !has_clang() {
        return;
    }
    let body = format!("tmp[l] = in[g];\n{WAIT}\nout[g] = tmp[l ^ 1];");
    let text = kernel("", "__attribute__((reqd_work_group_size(24, 1, 1)))", &body);
    let (code, said) = run(&text, "24", "0..9");
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = run(&text, "16", "0..9");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("reqd_work_group_size"), "{said}");
}

/// What kernels do with the size of their groups: remainders, loops around barriers, halves of groups, guards that no
/// work-item of a small group passes.
const SIZES: [&str; 4] = [
    "int size = get_local_size(0), x = in[g];\nfor (int r = 0; r < 3; r++) { tmp[l] = x;\nBARRIER\nx += tmp[(l + 1) % \
     size] * 3 + tmp[(l + size - 1) % size];\nBARRIER\n}\nout[g] = x;",
    "int size = get_local_size(0); tmp[l] = in[g];\nfor (int s = 1; s < size; s *= 2) { BARRIER\nint y = l >= s ? tmp[l - \
     s] : 0;\nBARRIER\ntmp[l] += y; }\nBARRIER\nout[g] = tmp[size - 1 - l];",
    "int size = get_local_size(0); tmp[l] = in[g];\nBARRIER\nfor (int s = 128; s > 0; s /= 2) { if (l < s && l + s < \
     size) tmp[l] += tmp[l + s];\nBARRIER\n}\nif (l == 0) out[get_group_id(0)] = tmp[0];",
    "if (g >= n - 3) return; tmp[l] = in[g] + (l >> 4);\nBARRIER\nif (get_local_size(0) > 20) { BARRIER\ntmp[l] *= 2; \
     }\nout[g] = tmp[l] + (int)get_num_groups(0) + (int)get_global_size(0);",
];

#[test]
fn groups_of_sizes_with_code_of_their_own_do_what_others_do() {
    if !has_clang() {
        return;
    }
    for body in SIZES {
        let text = kernel("", "", &body.replace("BARRIER", WAIT));
        // Those that have code of their own, with a last group that is smaller or without, and one that has none.
        for local in ["16", "64", "256", "17"] {
            let (code, said) = run(&text, local, "random");
            assert_eq!(code, Some(0), "{local}: {body}: {said}");
        }
        for (global, elements, local) in [("512", 512, "64"), ("1024", 1024, "256")] {
            let (code, said) = run_over(&text, [global, local], (elements, "random"), elements);
            assert_eq!(code, Some(0), "{global}, {local}: {body}: {said}");
        }
    }
}

#[test]
fn rows_of_sizes_with_code_of_their_own_do_what_others_do() {
    if !has_clang() {
        return;
    }
    let body = format!(
        "int x = l, y = get_local_id(1), w = get_local_size(0), h = get_local_size(1); int at = get_global_id(1) * \
         get_global_size(0) + g;\ntmp[x * h + y] = in[at];\n{WAIT}\nint s = tmp[y * w + x] + tmp[(y + 1) % h * w + (x + 1) \
         % w];\n{WAIT}\ntmp[y * w + x] = s;\n{WAIT}\nout[at] = s + tmp[(h - 1 - y) * w + w - 1 - x];"
    );
    let text = kernel("", "", &body);
    for (global, local) in [
        ("32,6", "16,2"),
        ("32,8", "8,8"),
        ("64,4", "32,4"),
        ("32,5", "16,2"),
        ("24,4", "16,4"),
        ("48,3", "16,1"),
    ] {
        let (code, said) = run_over(&text, [global, local], (256, "random"), 1);
        assert_eq!(code, Some(0), "{global}, {local}: {said}");
    }
}

#[test]
fn a_required_size_of_groups_has_code_of_its_own() {
    if !has_clang() {
        return;
    }
    for size in ["16", "24", "240"] {
        for body in SIZES {
            let attribute = format!("__attribute__((reqd_work_group_size({size}, 1, 1)))");
            let text = kernel("", &attribute, &body.replace("BARRIER", WAIT));
            let (code, said) = run(&text, size, "random");
            assert_eq!(code, Some(0), "{size}: {body}: {said}");
        }
    }
}

#[test]
fn a_barrier_in_a_function_that_calls_itself_is_refused_for_that() {
    if !has_clang() {
        return;
    }
    let helper = format!(
        "int f(local int *t, int k) {{ {WAIT} return k > 0 ? f(t, k - 1) * t[k] + f(t, k - 2) : 1; }}"
    );
    let (code, said) = vectorize(&kernel(&helper, "", "out[g] = f(tmp, n) + l;"), &[]);
    assert_ne!(code, Some(0), "{said}");
    assert!(said.contains("it leads to `f`") && said.contains("since it calls itself"), "{said}");
}

/// Loops around barriers: what stands before it, its head, and what stands at its end.
const LOOPS: [[&str; 3]; 8] = [
    ["", "for (int i = l; i < n + l; i += (int)get_local_size(0))", ""],
    ["", "for (int i = g; i < g + n; i++)", ""],
    ["int i = n + l;", "while (i > l)", "i -= 2;"],
    ["int i = 3 * l + n, to = 3 * l;", "for (; i >= to; i -= 3)", ""],
    ["int i = l - g;", "for (; i != l - g + n; i++)", ""],
    ["uint i = g;", "for (; i != (uint)g + (uint)n; i++)", ""],
    ["size_t i = get_global_id(0);", "for (; i != get_global_id(0) + 5; i++)", ""],
    ["int i = g, j = l - 4;", "for (; i - g < n && j != l + n; i++, j++)", ""],
];

#[test]
fn loops_in_whose_iterations_work_items_agree_though_both_sides_differ_may_have_barriers() {
    if !has_clang() {
        return;
    }
    for [before, head, end] in LOOPS {
        let body = format!(
            "int s = 0; {before}\n{head} {{\ntmp[l] = s + in[g];\n{WAIT}\ns += tmp[l ^ 1] + 3 * l;\n{WAIT}\n{end} }}\nout[g] = s;"
        );
        let text = kernel("", "", &body);
        for (local, n) in [("48", 5), ("16", 40), ("240", 0), ("2", 1), ("120", 121)] {
            let (code, said) = run_over(&text, ["240", local], (240, "0..9"), n);
            assert_eq!(code, Some(0), "{local}, {n}: {body}: {said}");
        }
    }
}

#[test]
fn loops_whose_iterations_depend_on_what_wraps_or_on_work_items_have_no_barriers() {
    if !has_clang() {
        return;
    }
    for head in [
        "for (uint i = l; i < (uint)n + (uint)l; i += 64)",
        "for (int i = 2 * l; i < n + l; i++)",
        "for (int i = l; i < n - l; i++)",
        "for (int i = l; i < n + l; i += l + 1)",
        "for (uint i = g; i < (uint)g + (uint)n; i++)",
        "for (char i = l; i < (char)(n + l); i++)",
        "for (int i = in[l]; i < n + in[g]; i++)",
    ] {
        let body = format!("{head} {{\ntmp[l] = i;\n{WAIT}\nout[g] += tmp[l ^ 1];\n{WAIT}\n}}");
        let (code, said) = vectorize(&kernel("", "", &body), &[]);
        assert_eq!(code, Some(1), "{head}: {said}");
        assert!(said.contains("the loop") || said.contains("only some of them"), "{head}: {said}");
    }
}

#[test]
fn updates_at_places_that_quotients_and_remainders_tell_apart_are_taken() {
    if !has_clang() {
        return;
    }
    // No barriers, and no local memory.
    let plain = |body: &str| {
        format!(
            "kernel void k(global const int *restrict in, global int *restrict out, int n) {{ int g = \
             get_global_id(0);\n{body}\n}}\n"
        )
    };
    // Butterflies; 120 work-items have two places each.
    for (places, n) in [
        ("uint u = g, s = n, a = u / s * 2 * s + u % s, b = a + s;", 4),
        ("uint u = g, s = n, a = u / s * 2 * s + u % s, b = a + s;", 12),
        ("uint u = g, s = 1u << n, a = u % s + u / s * 2 * s, b = a + s;", 3),
        ("uint u = g, a = u / 3 * 6 + u % 3, b = a + 3;", 1),
        ("int s = n, a = 2 * g - (g & (s - 1)), b = a + s;", 4),
        ("uint u = g, s = 1u << n, a = ((u & ~(s - 1)) << 1) + (u & (s - 1)), b = a + s;", 3),
        ("uint u = g, s = n, a = ((u & ~(s - 1)) << 1) | (u & (s - 1)), b = a + s;", 8),
    ] {
        let text =
            plain(&format!("{places}\nint x = out[a], y = out[b]; out[a] = x + y + g; out[b] = x - y;"));
        let n = format!("n={n}");
        let binds = ["--bind", "in=i32[240]", "--bind", "out=i32[240]=random", "--bind", &n];
        for range in [&["--range", "0..120"][..], &["--global", "120", "--local", "24"]] {
            let (code, said) = with_source("run", &text, &[range, &binds[..]].concat());
            assert_eq!(code, Some(0), "{places}: {said}");
        }
    }
    for place in [
        "in[g]",
        "g / n",
        "(uint)g % (uint)n",
        "(g & n) * 3",
        "g >> n",
        "in[g] / n * 2 + in[g] % n",
        "(g | 1)",
        "((g & n) | 1)",
        "((g & n) | (g & 3))",
        "((g & n) | in[g])",
    ] {
        let (code, said) = vectorize(&plain(&format!("out[{place}] += g;")), &[]);
        assert_eq!(code, Some(1), "{place}: {said}");
        assert!(said.contains("may have in common"), "{place}: {said}");
    }
}
