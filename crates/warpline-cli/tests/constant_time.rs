//! `warpline constant-time` on code in the style of known libraries, written for this: what an expert calls clean is
//! clean, and what leaks is reported, at its line.

mod common;

use std::path::Path;

use common::{stderr, stdout, warpline};

/// The kinds and lines of what is found in functions of files beside this one; none without clang.
fn found(files: &str, arguments: &[&str]) -> Option<Vec<(String, u64)>> {
    if !warpline_llvm::has_clang() {
        eprintln!("skipped: there is no clang");
        return None;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/constant_time");
    let paths: Vec<_> = files.split(' ').map(|file| folder.join(file)).collect();
    let mut all = vec!["constant-time", "--format", "json"];
    all.extend(paths.iter().map(|path| path.to_str().unwrap()));
    all.extend(arguments);
    let output = warpline(&all);
    let report: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    let mut list = Vec::new();
    for function in report["functions"].as_array().unwrap() {
        for finding in function["findings"].as_array().unwrap() {
            assert!(!finding["chain"].as_array().unwrap().is_empty(), "a finding has a reason: {finding:#}");
            if finding["accepted"].is_null() {
                let line = finding["location"]["line"].as_u64().unwrap_or_default();
                list.push((finding["kind"].as_str().unwrap().to_owned(), line));
            }
        }
    }
    assert_eq!(output.status.code(), Some(i32::from(!list.is_empty())), "{report:#}");
    list.dedup();
    Some(list)
}

#[track_caller]
fn finds(file: &str, arguments: &[&str], expected: &[(&str, u64)]) {
    let Some(list) = found(file, arguments) else { return };
    let list: Vec<(&str, u64)> = list.iter().map(|(kind, line)| (kind.as_str(), *line)).collect();
    assert_eq!(list, expected, "{file} {arguments:?}");
}

/// The line of a source that has a text in it.
fn line(file: &str, text: &str) -> u64 {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/constant_time").join(file);
    let source = std::fs::read_to_string(path).unwrap();
    source.lines().position(|line| line.contains(text)).unwrap() as u64 + 1
}

#[test]
fn a_stream_cipher_an_authenticator_and_a_key_exchange_are_clean() {
    finds("chacha20.c", &["--function", "chacha20", "--secret", "key"], &[]);
    finds("chacha20.c", &["--function", "chacha_xor", "--secret", "*c[16..48]"], &[]);
    finds("poly1305.c", &["--function", "poly1305", "--secret", "key"], &[]);
    finds("poly1305.c", &["--function", "poly1305_*", "--secret", "st->r,st->h,st->pad,key"], &[]);
    finds("x25519.c", &["--function", "x25519", "--secret", "n"], &[]);
}

#[test]
fn tables_early_ends_divisions_and_branches_on_keys_are_reported() {
    let at = |text: &str| line("leaks.c", text);
    let of = |function: &str, secret: &str, expected: &[(&str, u64)]| {
        finds("leaks.c", &["--function", function, "--secret", secret], expected);
    };
    of("aes_encrypt", "c->round_keys", &[("address", at("state[i] = sbox"))]);
    of("aes_encrypt", "c->iv", &[]);
    of("compare_early", "expected", &[("branch", at("tag[i] != expected[i]"))]);
    of("compare_all", "expected", &[]);
    of("reduce", "secret", &[("operand", at("secret % modulus"))]);
    of("power", "exponent", &[("branch", at("exponent >> i & 1"))]);
    of("power", "base", &[]);
    of("recursive", "key", &[]);
    of("first_key", "s[].key", &[("branch", at("s[i].key[0] == 0"))]);
    of("first_key", "s[].counter", &[]);
    of("next", "c->all[].key", &[]);
    of("next", "c->all[2].key", &[]);
    of("next", "c->all[].counter", &[("branch", at("++c->all[i & 7].counter"))]);
    of("next", "c->all", &[("branch", at("++c->all[i & 7].counter"))]);
    of("named", "random_byte()", &[("address", at("sbox[random_byte()]"))]);
}

#[test]
fn sources_say_what_is_secret_and_what_is_accepted() {
    // Functions before which nothing stands are not meant.
    finds("leaks.c", &[], &[("address", line("leaks.c", "sbox[c->table[i]]"))]);
    if !warpline_llvm::has_clang() {
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/constant_time/leaks.c");
    let path = path.to_str().unwrap();
    let output = warpline(&["constant-time", path, "--function", "draw", "--secret", "seed"]);
    assert!(stdout(&output).contains("accepted: leaks.c:"), "{}", stdout(&output));
    assert!(stdout(&output).contains("the state is reset in public"), "{}", stdout(&output));
    let output = warpline(&["constant-time", path, "--function", "step", "--secret", "c->kex"]);
    assert!(
        stderr(&output).contains("there is no member `kex`; they are key, counter, table"),
        "{}",
        stderr(&output)
    );
    let output = warpline(&["constant-time", path, "--function", "next", "--secret", "c->all.key"]);
    assert!(stderr(&output).contains("`[].key` is the member of all elements"), "{}", stderr(&output));
    let output = warpline(&["constant-time", path, "--overlap"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("secret branch"), "{}", stdout(&output));
}

#[test]
fn structures_that_are_passed_by_value_are_followed() {
    let at = |text: &str| line("calls.c", text);
    let of = |function: &str, secret: &str, expected: &[(&str, u64)]| {
        finds("calls.c", &["--function", function, "--secret", secret], expected);
    };
    let (word, count) = (("branch", at("s.words[3]")), ("selection", at("// the count")));
    of("by_value", "s->words", &[word]);
    of("by_value", "s->count", &[count]);
    of("given_by_value", "s.words", &[word]);
    of("given_by_value", "s.count", &[count]);
    of("given_by_value", "s", &[word, count]);
    of("in_registers", "p.key", &[("branch", at("p.key & 1"))]);
    let behind = [("branch", at("// behind a result")), ("address", at("memcpy(s.words"))];
    of("give", "p->key", &behind);
    of("give", "words", &[]);
}

#[test]
fn calls_through_pointers_are_followed_to_where_they_lead() {
    let at = |text: &str| line("calls.c", text);
    let of = |function: &str, expected: &[(&str, u64)]| {
        finds("calls.c", &["--function", function, "--secret", "key"], expected);
    };
    let lookup = ("address", at("// a lookup"));
    of("with_table", &[lookup]);
    of("with_bits", &[]);
    // Where it is not known where a pointer leads, the call is a finding; what is public stays so.
    of("with_any", &[("call", at("// any cipher")), lookup]);
    of(
        "with_either",
        &[
            ("selection", at("// which cipher")),
            ("address", at("// either cipher")),
            ("call", at("// either cipher")),
            lookup,
        ],
    );
}

#[test]
fn what_only_follows_from_an_unknown_function_is_counted() {
    if !warpline_llvm::has_clang() {
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/constant_time/calls.c");
    let arguments =
        ["constant-time", path.to_str().unwrap(), "--function", "with_unknown", "--secret", "key"];
    let text = stdout(&warpline(&arguments));
    assert!(text.contains("leaks: 1 call\n  ") && text.contains(" more follow if"), "{text}");
    let output = warpline(&[&arguments[..], &["--format", "json"]].concat());
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = report["functions"][0]["findings"].as_array().unwrap();
    let branch = findings.iter().find(|finding| finding["kind"] == "branch").unwrap();
    assert_eq!((&findings[0]["follows"], &branch["follows"]), (&false.into(), &true.into()));
}

#[test]
fn assembly_without_instructions_does_nothing() {
    let at = |text: &str| line("calls.c", text);
    finds("calls.c", &["--function", "wiped", "--secret", "key"], &[]);
    let behind = [("branch", at("// behind a barrier"))];
    finds("calls.c", &["--function", "after_barrier", "--secret", "key"], &behind);
    let real = [("call", at("// instructions"))];
    finds("calls.c", &["--function", "assembly", "--secret", "key"], &real);
}

#[test]
fn secrets_are_found_through_addresses_in_global_variables() {
    let at = |text: &str| line("calls.c", text);
    let of = |function: &str, expected: &[(&str, u64)]| {
        finds("calls.c", &["--function", function, "--secret", "master"], expected);
    };
    of("through_global", &[("branch", at("// the current key"))]);
    of("through_member", &[("branch", at("// the held key"))]);
    let in_a_union = [("branch", at("// in a union"))];
    finds("calls.c", &["--function", "in_a_union", "--secret", "key"], &in_a_union);
}

#[test]
fn what_is_executed_as_a_whole_or_not_leaks_once() {
    finds("calls.c", &["--function", "once", "--secret", "key"], &[("branch", line("calls.c", "// once"))]);
}

#[test]
fn several_inputs_are_one_program() {
    let parts = "part_rounds.c part_lookup.c";
    let lookup = [("address", line("part_lookup.c", "values[same(x)]"))];
    finds(parts, &[], &lookup);
    finds(parts, &["--function", "blend", "--secret", "k->key"], &[]);
    // Functions that do not have the member are left out.
    finds(parts, &["--function", "*", "--secret", "k->key"], &lookup);
    finds("part_rounds.c", &[], &[("call", line("part_rounds.c", "lookup(k->key"))]);
    if !warpline_llvm::has_clang() {
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/constant_time/part_lookup.c");
    let path = path.to_str().unwrap();
    let output = warpline(&["constant-time", path, path, "--function", "mix", "--secret", "in"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let output = warpline(&["constant-time", path, "--function", "*", "--secret", "kye"]);
    assert!(stderr(&output).contains("none of these functions has a parameter `kye`"), "{}", stderr(&output));
}
