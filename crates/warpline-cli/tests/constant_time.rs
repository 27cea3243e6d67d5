//! `warpline constant-time` on code in the style of known libraries, written for this: what an expert calls clean is
//! clean, and what leaks is reported, at its line.

mod common;

use std::path::Path;

use common::{stderr, stdout, warpline};

/// The kinds and lines of what is found in functions of a file beside this one; none without clang.
fn found(file: &str, arguments: &[&str]) -> Option<Vec<(String, u64)>> {
    if !warpline_llvm::has_clang() {
        eprintln!("skipped: there is no clang");
        return None;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/constant_time").join(file);
    let mut all = vec!["constant-time", path.to_str().unwrap(), "--format", "json"];
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
