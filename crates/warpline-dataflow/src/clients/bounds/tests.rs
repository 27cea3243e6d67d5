//! Checks as front ends write them, and what becomes of them.

use super::*;
use warpline_ir::text::parse_module;

/// What becomes of the checks of a function, in order. Its text follows declarations, and a block that panics is added.
fn outcomes(body: &str) -> Vec<&'static str> {
    let text = format!(
        "declare @abort() [no_return]
declare @other() -> i64 [unknown]
declare @llvm.usub.with.overflow.i64(i64, i64) -> {{ i64, i1 }}
func @f(%n: i64, %len: i64) {{
{body}
panic:
  call @abort() [no_return]
  unreachable
done:
  ret
}}
"
    );
    let module = parse_module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let func = module.functions.values().next().expect("a function");
    let (report, _) = analyze(&module, func, ());
    report.checks.iter().map(|c| c.proved_by.unwrap_or(c.fails)).collect()
}

#[test]
fn an_index_that_counts_up_to_the_length_is_below_it() {
    let up = |bound: &str, at: &str| {
        outcomes(&format!(
            "entry:
  br head(0)
head:
  %i: i64 = phi
  %more: i1 = icmp ult %i, {bound}
  br %more, body, done
body:
  %at: i64 = {at}
  %ok: i1 = icmp ult %at, %len
  br %ok, next, panic
next:
  %next: i64 = add %i, 1
  br head(%next)"
        ))
    };
    assert_eq!(up("%len", "lshr %i, 1"), ["inequalities"]);
    assert_eq!(up("%len", "urem %i, 7"), ["inequalities"]);
    assert_eq!(up("%len", "add %i, 1"), ["unknown"]);
    assert_eq!(up("%len", "sub %i, 1"), ["always"], "0 − 1 wraps in the first iteration");
    assert_eq!(up("%n", "lshr %i, 1"), ["unknown"]);
}

#[test]
fn an_index_that_counts_down_from_the_length_is_below_it() {
    let down = |test: &str| {
        outcomes(&format!(
            "entry:
  br head(%len)
head:
  %i: i64 = phi
  %more: i1 = icmp {test}
  br %more, body, done
body:
  %at: i64 = add %i, -1
  %ok: i1 = icmp ult %at, %len
  br %ok, head(%at), panic"
        ))
    };
    assert_eq!(down("ne %i, 0"), ["inequalities"]);
    assert_eq!(down("ugt %i, 0"), ["inequalities"]);
    assert_eq!(down("ne %i, 1"), ["unknown"], "0 − 1 wraps");
}

#[test]
fn the_middle_of_a_binary_search_is_below_the_length() {
    let search = |half: &str, upper: &str| {
        outcomes(&format!(
            "entry:
  br head(0, %len)
head:
  %lo: i64 = phi
  %hi: i64 = phi
  %more: i1 = icmp ult %lo, %hi
  br %more, body, done
body:
  {half}
  %ok: i1 = icmp ult %mid, %len
  br %ok, inside, panic
inside:
  %c: i64 = call @other()
  %less: i1 = icmp ult %c, %n
  br %less, right, head(%lo, {upper})
right:
  %above: i64 = add %mid, 1
  br head(%above, %hi)"
        ))
    };
    let careful = "%d: i64 = sub %hi, %lo
  %h: i64 = lshr %d, 1
  %mid: i64 = add %lo, %h";
    let naive = "%s: i64 = add %lo, %hi
  %mid: i64 = udiv %s, 2";
    assert_eq!(search(careful, "%mid"), ["inequalities"]);
    assert_eq!(search(naive, "%mid"), ["inequalities"]);
    assert_eq!(search(careful, "%c"), ["unknown"], "the upper end is anything");
    assert_eq!(search("%mid: i64 = add %lo, %hi", "%mid"), ["unknown"]);
}

#[test]
fn a_bound_that_changes_in_the_loop_proves_nothing_of_the_next_iteration() {
    let changing = |bound: &str| {
        outcomes(&format!(
            "entry:
  %first: i64 = call @other()
  br head(0)
head:
  %i: i64 = phi
  %each: i64 = call @other()
  %ok: i1 = icmp ule %i, {bound}
  br %ok, body, panic
body:
  %more: i1 = icmp ult %i, {bound}
  br %more, next, done
next:
  %next: i64 = add %i, 1
  br head(%next)"
        ))
    };
    assert_eq!(changing("%first"), ["inequalities"]);
    assert_eq!(changing("%each"), ["unknown"]);
}

#[test]
fn a_difference_does_not_wrap_where_the_order_is_known() {
    let difference = |test: &str| {
        outcomes(&format!(
            "entry:
  %ordered: i1 = icmp {test}
  br %ordered, body, done
body:
  %pair: {{ i64, i1 }} = call @llvm.usub.with.overflow.i64(%len, %n)
  %d: i64 = extractvalue %pair [0]
  %wraps: i1 = extractvalue %pair [1]
  br %wraps, panic, next
next:
  %ok: i1 = icmp ule %d, %len
  br %ok, done, panic"
        ))
    };
    assert_eq!(difference("ule %n, %len"), ["inequalities", "inequalities"]);
    assert_eq!(difference("ult %n, 10"), ["unknown", "inequalities"]);
}

#[test]
fn signed_comparisons_count_where_numbers_are_not_negative() {
    let signed = |start: &str| {
        outcomes(&format!(
            "entry:
  br head({start})
head:
  %i: i64 = phi
  %more: i1 = icmp slt %i, %len
  br %more, body, done
body:
  %ok: i1 = icmp ult %i, %len
  br %ok, next, panic
next:
  %next: i64 = add nsw %i, 1
  br head(%next)"
        ))
    };
    assert_eq!(signed("0"), ["inequalities"]);
    assert_eq!(signed("%n"), ["unknown"]);
}

#[test]
fn checks_that_always_fail_and_those_that_are_never_reached_are_told() {
    let found = outcomes(
        "entry:
  %small: i1 = icmp ult %n, 8
  br %small, body, done
body:
  %many: i1 = icmp ult %n, 9
  br %many, inside, other
inside:
  %bad: i1 = icmp ugt %n, 20
  br %bad, done, panic
other:
  %never: i1 = icmp ult %n, %len
  br %never, done, panic",
    );
    assert_eq!(found, ["always", "unreachable"]);
}
