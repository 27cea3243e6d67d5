//! What is proven of values of small loops, and what is not.

use crate::loops::Nest;
use warpline_ir::text::parse_module;
use warpline_ir::{InstFlags, Module};

use super::super::find::Loop;
use super::super::trips::{Asked, Counter};
use super::find;

const NSW: InstFlags = InstFlags::NSW;
const NUW: InstFlags = InstFlags::NUW;

fn module(body: &str) -> Module {
    parse_module(&format!("module \"m\"\n\n{body}")).unwrap_or_else(|e| panic!("{e}"))
}

/// What is proven of values with a name in the function's only loop: the name, the scale and the flags.
fn proven(text: &str) -> Vec<(String, i128, InstFlags)> {
    let mut module = module(text);
    let id = module.functions.keys().next().expect("a function");
    let header = Nest::of(&module.functions[id]).headers().next().expect("a loop");
    let mut func = module.functions[id].clone();
    let l = Loop::find(&mut func, header).unwrap_or_else(|e| panic!("{e}"));
    let (carried, _) = l.carried(&module, &mut func, false).unwrap_or_else(|e| panic!("{e}"));
    let asked = Asked { module: &module, func: &func, l: &l, carried: &carried, strides: &[] };
    let counter = Counter::of(&asked, None).unwrap_or_else(|e| panic!("{e}"));
    module.functions[id] = func;
    let func = &module.functions[id];
    let found = find(func, &l, &carried, &counter);
    found.iter().map(|e| (func.values[e.value].name.to_string(), e.scale, e.flags)).collect()
}

/// What is proven of the value `%x`.
fn of_x(text: &str) -> InstFlags {
    proven(text).iter().filter(|p| p.0 == "x").map(|p| p.2).next().unwrap_or(InstFlags::empty())
}

/// A loop as clang makes them: the instructions before the guard, its condition, whether control enters the loop if
/// that is true, the instructions of the body.
struct Form {
    before: &'static str,
    guard: &'static str,
    enters: bool,
    start: &'static str,
    test: &'static str,
    body: &'static str,
}

/// `for (int x = a; x < b; ++x)`.
const UPWARDS: Form = Form {
    before: "%n: i32 = sub %b, %a",
    guard: "icmp slt %a, %b",
    enters: true,
    start: "0",
    test: "icmp ult %k, %n",
    body: "%x: i32 = add %k, %a",
};

impl Form {
    fn text(&self) -> String {
        let Form { before, guard, enters, start, test, body } = self;
        let to = if *enters { "ready, out" } else { "out, ready" };
        format!(
            "func @f(%p: ptr, %a: i32, %b: i32, %c: i32) {{
entry:
  {before}
  %g: i1 = {guard}
  br %g, {to}
ready:
  br head({start})
head:
  %k: i32 = phi
  %t: i1 = {test}
  br %t, body, out
body:
  {body}
  %w: i64 = sext %x
  %q: ptr = getelementptr i32, %p, %w
  store i32 1, %q, align 4
  %j: i32 = add nuw %k, 1
  br head(%j)
out:
  ret
}}
"
        )
    }

    fn flags(&self) -> InstFlags {
        of_x(&self.text())
    }
}

#[test]
fn a_variable_between_two_bounds_does_not_wrap() {
    assert_eq!(UPWARDS.flags(), NSW);
    assert_eq!(Form { guard: "icmp sgt %b, %a", ..UPWARDS }.flags(), NSW);
    assert_eq!(Form { guard: "icmp sge %a, %b", enters: false, ..UPWARDS }.flags(), NSW);
    assert_eq!(Form { test: "icmp ne %k, %n", ..UPWARDS }.flags(), NSW);
    assert_eq!(Form { test: "icmp slt %k, %n", ..UPWARDS }.flags(), NSW);
}

#[test]
fn unsigned_bounds_tell_of_unsigned_numbers_only() {
    assert_eq!(Form { guard: "icmp ult %a, %b", ..UPWARDS }.flags(), NUW);
    let nothing = Form { guard: "icmp ult %a, %b", body: "%x: i32 = add nsw %k, %a", ..UPWARDS };
    assert_eq!(nothing.flags(), InstFlags::empty(), "what the program says itself is not given up");
}

#[test]
fn with_steps_the_distance_is_rounded_up() {
    let steps = Form {
        before: "%m: i32 = xor %a, -1\n  %d: i32 = add %m, %b\n  %r: i32 = add %d, 3\n  %n: i32 = udiv %r, 3",
        body: "%y: i32 = mul %k, 3\n  %x: i32 = add %y, %a",
        ..UPWARDS
    };
    assert_eq!(steps.flags(), NSW);
    assert_eq!(
        Form { body: "%y: i32 = mul %k, 4\n  %x: i32 = add %y, %a", ..steps }.flags(),
        InstFlags::empty()
    );
    assert_eq!(
        Form { before: "%m: i32 = sub %b, %a\n  %r: i32 = add %m, 4\n  %n: i32 = udiv %r, 3", ..steps }
            .flags(),
        InstFlags::empty(),
        "one too many"
    );
    let halves = Form {
        before: "%m: i32 = sub %b, %a\n  %r: i32 = add %m, 1\n  %n: i32 = lshr %r, 1",
        body: "%y: i32 = shl %k, 1\n  %x: i32 = add %y, %a",
        ..UPWARDS
    };
    assert_eq!(halves.flags(), NSW);
    let from_zero = Form {
        before: "%r: i32 = add %b, 1\n  %n: i32 = lshr %r, 1",
        guard: "icmp sgt %b, 0",
        body: "%x: i32 = shl %k, 1",
        ..UPWARDS
    };
    assert_eq!(from_zero.flags(), NSW | NUW);
    let rounded_down = Form { before: "%m: i32 = sub %b, %a\n  %n: i32 = sdiv %m, 2", ..halves };
    assert_eq!(rounded_down.flags(), InstFlags::empty(), "a signed quotient may be negative");
}

#[test]
fn a_bound_that_is_reached_itself() {
    let inclusive = Form {
        before: "%m: i32 = sub %b, %a\n  %n: i32 = add %m, 1",
        guard: "icmp sgt %a, %b",
        enters: false,
        ..UPWARDS
    };
    assert_eq!(inclusive.flags(), NSW);
    assert_eq!(
        Form { before: "%m: i32 = sub %b, %a\n  %n: i32 = add %m, 2", ..inclusive }.flags(),
        InstFlags::empty()
    );
    let up_to_b = Form {
        before: "%s: i32 = add nsw %a, 1\n  %n: i32 = sub %b, %a",
        body: "%x: i32 = add %k, %s",
        ..UPWARDS
    };
    assert_eq!(up_to_b.flags(), NSW, "from a + 1 to b");
    assert_eq!(Form { guard: "icmp sle %a, %b", ..up_to_b }.flags(), InstFlags::empty(), "a = b = 2³¹ − 1");
    assert_eq!(
        Form { guard: "icmp sle %a, %b", ..UPWARDS }.flags(),
        InstFlags::empty(),
        "b may be the least number"
    );
}

#[test]
fn a_variable_that_counts_down() {
    let downwards = Form { body: "%x: i32 = sub %b, %k", ..UPWARDS };
    assert_eq!(downwards.flags(), NSW);
    assert_eq!(Form { guard: "icmp ugt %b, %a", ..downwards }.flags(), NUW);
    let below = Form {
        before: "%s: i32 = add nsw %b, -1\n  %m: i32 = sub %s, %a\n  %n: i32 = add %m, 1",
        body: "%x: i32 = sub %s, %k",
        ..UPWARDS
    };
    assert_eq!(below.flags(), NSW);
    let to_zero = Form {
        before: "%n: i32 = add %b, 0",
        guard: "icmp sgt %b, 0",
        body: "%y: i32 = xor %k, -1\n  %x: i32 = add %y, %b",
        ..UPWARDS
    };
    assert_eq!(to_zero.flags(), NSW | NUW, "unsigned, 0 is below all");
    let in_twos = Form {
        before: "%m: i32 = sub %b, %a\n  %r: i32 = add %m, 1\n  %n: i32 = lshr %r, 1",
        body: "%y: i32 = shl %k, 1\n  %x: i32 = sub %b, %y",
        ..UPWARDS
    };
    assert_eq!(in_twos.flags(), NSW);
    assert_eq!(Form { body: "%x: i32 = sub %a, %k", ..downwards }.flags(), InstFlags::empty());
}

#[test]
fn constants_need_only_be_as_far_apart() {
    let from = Form {
        before: "%n: i32 = add %b, 3",
        guard: "icmp sgt %b, -3",
        body: "%x: i32 = add %k, -3",
        ..UPWARDS
    };
    assert_eq!(from.flags(), NSW);
    assert_eq!(Form { guard: "icmp sgt %b, 7", ..from }.flags(), NSW);
    assert_eq!(Form { guard: "icmp sgt %b, -4", ..from }.flags(), InstFlags::empty());
    let to = Form { before: "%n: i32 = sub 100, %a", guard: "icmp slt %a, 100", ..UPWARDS };
    assert_eq!(to.flags(), NSW);
    assert_eq!(Form { guard: "icmp slt %a, 50", ..to }.flags(), NSW);
    assert_eq!(Form { guard: "icmp slt %a, 101", ..to }.flags(), InstFlags::empty());
}

#[test]
fn the_counter_itself() {
    let counter = Form {
        before: "%n: i32 = add %b, 1",
        guard: "icmp sgt %b, -1",
        body: "%x: i32 = add %k, 0",
        ..UPWARDS
    };
    assert!(proven(&counter.text()).contains(&("k".to_owned(), 1, NSW | NUW)));
    let unguarded = Form { guard: "icmp sgt %c, -1", ..counter };
    assert!(proven(&unguarded.text()).contains(&("k".to_owned(), 1, NUW)), "it may pass 2³¹ − 1");
}

#[test]
fn what_is_tested_before_must_be_of_the_same_values() {
    assert_eq!(Form { guard: "icmp slt %c, %b", ..UPWARDS }.flags(), InstFlags::empty());
    assert_eq!(Form { guard: "icmp slt %a, %c", ..UPWARDS }.flags(), InstFlags::empty());
    assert_eq!(Form { guard: "icmp slt %b, %a", ..UPWARDS }.flags(), InstFlags::empty());
    assert_eq!(Form { enters: false, ..UPWARDS }.flags(), InstFlags::empty(), "the other edge");
    assert_eq!(Form { guard: "icmp ne %a, %b", ..UPWARDS }.flags(), InstFlags::empty());
    assert_eq!(Form { before: "%n: i32 = sub %c, %a", ..UPWARDS }.flags(), InstFlags::empty());
    assert_eq!(Form { before: "%n: i32 = sub %a, %b", ..UPWARDS }.flags(), InstFlags::empty());
    assert_eq!(Form { body: "%x: i32 = add %k, %c", ..UPWARDS }.flags(), InstFlags::empty());
    assert_eq!(
        Form { body: "%y: i32 = add %k, %a\n  %x: i32 = add %y, 2", ..UPWARDS }.flags(),
        InstFlags::empty()
    );
}

#[test]
fn the_counter_must_go_from_zero_by_one_and_be_tested_first() {
    assert_eq!(Form { start: "1", ..UPWARDS }.flags(), InstFlags::empty());
    assert_eq!(Form { start: "%c", ..UPWARDS }.flags(), InstFlags::empty());
    assert_eq!(Form { test: "icmp ule %k, %n", ..UPWARDS }.flags(), InstFlags::empty());
    let by_two = UPWARDS.text().replace("add nuw %k, 1", "add nuw %k, 2");
    assert_eq!(of_x(&by_two), InstFlags::empty());
    let tested_last = "func @f(%p: ptr, %a: i32, %b: i32) {
entry:
  %n: i32 = sub %b, %a
  %g: i1 = icmp slt %a, %b
  br %g, ready, out
ready:
  br head(0)
head:
  %k: i32 = phi
  %x: i32 = add %k, %a
  %w: i64 = sext %x
  %q: ptr = getelementptr i32, %p, %w
  store i32 1, %q, align 4
  %c: i1 = icmp sgt %x, 7
  br %c, then, test
then:
  br test
test:
  %t: i1 = icmp ult %k, %n
  %j: i32 = add nuw %k, 1
  br %t, head(%j), out
out:
  ret
}
";
    assert_eq!(of_x(tested_last), InstFlags::empty());
}

#[test]
fn a_counter_may_begin_anywhere_below_its_bound() {
    let from_two = Form {
        before: "%n: i32 = add %b, 0",
        start: "2",
        guard: "icmp ne %c, 0",
        test: "icmp ult %k, %n",
        body: "%x: i32 = add %k, -2",
        ..UPWARDS
    };
    assert_eq!(from_two.flags(), NUW);
    assert_eq!(Form { test: "icmp slt %k, %n", ..from_two }.flags(), NSW | NUW);
    assert_eq!(Form { start: "1", ..from_two }.flags(), InstFlags::empty(), "-1 is the greatest number");
    assert_eq!(Form { start: "1", test: "icmp slt %k, %n", ..from_two }.flags(), NSW, "from -1 on");
    assert_eq!(
        Form { test: "icmp ne %k, %n", ..from_two }.flags(),
        InstFlags::empty(),
        "n may be less than 2"
    );
    assert_eq!(Form { body: "%x: i32 = add %k, 2", ..from_two }.flags(), InstFlags::empty());
    let from_a = Form { start: "%a", test: "icmp slt %k, %n", body: "%x: i32 = sub %k, %a", ..from_two };
    assert_eq!(from_a.flags(), NUW, "n - a may be above all signed numbers");
}

#[test]
fn a_test_that_can_be_gone_around_is_none() {
    let around = UPWARDS.text().replace(
        "  br %g, ready, out\nready:",
        "  br %g, ready, other\nother:\n  %h: i1 = icmp eq %c, 0\n  br %h, ready, out\nready:",
    );
    assert_eq!(of_x(&around), InstFlags::empty());
}

#[test]
fn tests_of_several_things_and_around_outer_loops() {
    let both = UPWARDS.text().replace(
        "  br %g, ready, out",
        "  %h: i1 = icmp sgt %c, 0\n  %both: i1 = and %g, %h\n  br %both, ready, out",
    );
    assert_eq!(of_x(&both), NSW);
    let either = both.replace("and %g", "or %g");
    assert_eq!(of_x(&either), InstFlags::empty());
    let further = UPWARDS.text().replace(
        "ready:\n  br head(0)",
        "ready:\n  %h: i1 = icmp sgt %c, 0\n  br %h, left, right\nleft:\n  br join\nright:\n  br join\njoin:\n  \
         br head(0)",
    );
    assert_eq!(of_x(&further), NSW);
}

#[test]
fn other_widths() {
    for ty in ["i8", "i16", "i64"] {
        let text = UPWARDS
            .text()
            .replace("i32", ty)
            .replace("sext %x", if ty == "i64" { "add %x, 0" } else { "sext %x" });
        assert_eq!(of_x(&text), NSW, "{ty}");
    }
}

/// The rule, for all bounds of 4-bit numbers: where a guard `a + p ≤ b` holds, the forms of clang leave the range in
/// no iteration.
#[test]
fn the_rule_holds_for_all_small_numbers() {
    const RANGE: i32 = 16;
    let wrap = |x: i32| (x + 8).rem_euclid(RANGE) - 8;
    for (a, b) in (-8..8).flat_map(|a| (-8..8).map(move |b| (a, b))) {
        for s in 1..8 {
            let m = |extra: i32| (b - a + extra).rem_euclid(RANGE);
            // `a < b`, rounded up; `a ≤ b`.
            for (holds, of) in [(a < b, m(s - 1)), (a <= b && s == 1, m(1))] {
                for k in (0..of / s).filter(|_| holds) {
                    let (up, down) = (a + s * k, b - s * k);
                    assert_eq!((up, down), (wrap(up), wrap(down)), "a {a}, b {b}, s {s}, k {k}");
                    assert!(a <= up && down <= b);
                }
            }
        }
    }
}
