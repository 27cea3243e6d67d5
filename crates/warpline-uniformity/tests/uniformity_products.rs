//! Uniformity with what other analyses know: paper 1, Figure 3 (a) to (c), and the numbers of work-items in a wave.

use std::sync::Arc;

use warpline_ir::text::parse_module;
use warpline_ir::*;
use warpline_uniformity::facts::WorkGroup;
use warpline_uniformity::shape::ArgShape;
use warpline_uniformity::{Explainer, Options, Target, Uniformity};

/// A function, analysed with and without facts. The first parameter varies, the others are uniform.
struct Both {
    module: Module,
    with: Uniformity,
    without: Uniformity,
}

impl Both {
    fn of(text: &str) -> Both {
        Both::with(text, |_| {})
    }

    fn with(text: &str, change: impl Fn(&mut Options)) -> Both {
        let module = parse_module(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let func = &module.functions[FuncId::from_u32(0)];
        let mut args = vec![ArgShape::Uniform; func.params.len()];
        args[0] = ArgShape::Varying;
        let mut options = Options::with_args(args);
        change(&mut options);
        let without = Uniformity::compute(&module, func, &options);
        let with = Uniformity::compute(&module, func, &options.with_known(&module, func, None));
        Both { module, with, without }
    }

    fn func(&self) -> &Function {
        &self.module.functions[FuncId::from_u32(0)]
    }

    fn value(&self, name: &str) -> Value {
        let found = self.func().values.iter().find(|(_, v)| &*v.name == name);
        found.unwrap_or_else(|| panic!("no value {name}")).0
    }

    fn block(&self, name: &str) -> Block {
        let found = self.func().blocks.iter().find(|(_, b)| &*b.name == name);
        found.unwrap_or_else(|| panic!("no block {name}")).0
    }

    /// The value is uniform with facts and divergent without; returns what made the difference.
    fn gained(&self, name: &str) -> Vec<String> {
        let v = self.value(name);
        assert!(self.without.is_divergent(v), "{name} is uniform without facts");
        assert!(!self.with.is_divergent(v), "{name} is divergent with facts");
        let why = self.with.why_known(&self.module, self.func(), &self.without, v);
        why.map(|why| why.facts).unwrap_or_default()
    }

    fn gained_branch(&self, name: &str) -> Vec<String> {
        let b = self.block(name);
        assert!(self.without.is_divergent_branch(b), "the branch of {name} is uniform without facts");
        assert!(!self.with.is_divergent_branch(b), "the branch of {name} is divergent with facts");
        let why = self.with.why_branch_known(&self.module, self.func(), &self.without, b);
        why.map(|why| why.facts).unwrap_or_default()
    }

    fn keeps_divergent(&self, name: &str) {
        assert!(self.with.is_divergent(self.value(name)), "{name} is uniform");
    }
}

#[test]
fn figure_3a_a_constant_is_uniform_whatever_it_is_made_of() {
    let both = Both::of(
        r#"
func @f(%t: i32, %p: ptr) -> i32 {
entry:
  %zero: i32 = and %t, 0
  %c: i1 = icmp sgt %t, 5
  br %c, then, join(4)
then:
  %four: i32 = add %zero, 4
  br join(%four)
join:
  %x: i32 = phi
  %d: i1 = icmp eq %x, %t
  ret %x
}
"#,
    );
    assert_eq!(both.gained("x"), ["%x is always 4 (conditional constants)"]);
    assert_eq!(both.gained("zero"), ["%zero is always 0 (conditional constants)"]);
    both.keeps_divergent("d");
}

#[test]
fn figure_3a_as_printed_a_value_and_itself_are_equal_whatever_it_is() {
    let both = Both::of(
        r#"
func @f(%t: i32, %u: i32) -> i32 {
entry:
  %difference: i32 = sub %t, %t
  %bits: i32 = xor %t, %t
  %same: i1 = icmp ule %t, %t
  %odd: i32 = and %t, 1
  %c: i1 = icmp eq %odd, 0
  %either: i32 = select %c, %u, %u
  %one: i32 = select %c, %u, 7
  %twice: i32 = add %t, %t
  br %same, then, join(%bits)
then:
  br join(%difference)
join:
  %x: i32 = phi
  ret %x
}
"#,
    );
    assert_eq!(both.gained("difference"), ["%difference is always 0 (equal operands)"]);
    assert_eq!(both.gained("bits"), ["%bits is always 0 (equal operands)"]);
    assert_eq!(both.gained("same"), ["%same is always true (equal operands)"]);
    assert_eq!(both.gained("either"), ["what is selected is equal either way"]);
    both.gained("x");
    both.gained_branch("entry");
    both.keeps_divergent("one");
    both.keeps_divergent("twice");
}

#[test]
fn figure_3a_by_congruence_what_is_made_alike_is_equal() {
    let both = Both::of(
        r#"
func @f(%t: i32, %u: i32, %g: float) -> i32 {
entry:
  %a: i32 = add %t, %u
  %b: i32 = add %u, %t
  %p: i32 = mul %a, 3
  %q: i32 = mul %b, 3
  %zero: i32 = xor %p, %q
  %same: i1 = icmp eq %p, %q
  %c: i1 = icmp slt %t, 4
  %u1: i32 = add %u, 1
  %u2: i32 = add %u, 1
  %either: i32 = select %c, %u1, %u2
  %n: i32 = fptosi %g
  %m: i32 = sub %t, %u
  %o: i32 = sub %u, %t
  %other: i32 = xor %m, %o
  br join(%zero)
join:
  %x: i32 = phi
  ret %x
}
"#,
    );
    assert_eq!(both.gained("zero"), ["%zero is always 0 (equal operands)"]);
    assert_eq!(both.gained("same"), ["%same is always true (equal operands)"]);
    both.gained("either");
    both.keeps_divergent("other");
}

#[test]
fn figure_3b_an_edge_that_is_never_taken_brings_no_value() {
    let both = Both::of(
        r#"
func @f(%t: i32, %u: i32) -> i32 {
entry:
  %k: i32 = add 1, 1
  %c: i1 = icmp eq %k, 2
  br %c, sound, odd
odd:
  br join(%t)
sound:
  br join(%u)
join:
  %x: i32 = phi
  ret %x
}
"#,
    );
    assert_eq!(both.gained("x"), ["the edge entry → odd is never taken (conditional constants)"]);
}

#[test]
fn figure_3b_a_branch_with_one_way_left_is_uniform_and_parts_nobody() {
    let both = Both::of(
        r#"
func @f(%t: i32, %u: i32) -> i32 {
entry:
  %zero: i32 = mul %t, 0
  %c: i1 = icmp eq %zero, 0
  br %c, left, right
left:
  br join(1)
right:
  br join(2)
join:
  %x: i32 = phi
  ret %x
}
"#,
    );
    assert!(!both.gained_branch("entry").is_empty());
    assert!(!both.gained("x").is_empty());
}

#[test]
fn figure_3c_behind_a_test_for_equality_a_use_is_one_of_the_uniform_value() {
    let both = Both::of(
        r#"
func @f(%t: i32, %n: i32) -> i32 {
entry:
  %c: i1 = icmp eq %t, %n
  br %c, same, other
same:
  %x: i32 = add %t, 1
  %d: i1 = icmp sgt %x, 7
  br %d, deep, out(%x)
deep:
  br out(0)
other:
  %y: i32 = add %t, 1
  br out(%y)
out:
  %r: i32 = phi
  ret %r
}
"#,
    );
    assert_eq!(both.gained("x"), ["%t equals %n on the edge entry → same"]);
    assert!(!both.gained_branch("same").is_empty());
    both.keeps_divergent("y");
    both.keeps_divergent("r");
    assert!(!both.with.is_divergent_at(both.value("t"), both.block("same")));
    assert!(both.with.is_divergent_at(both.value("t"), both.block("other")));
}

#[test]
fn the_cases_of_a_switch_say_what_the_value_is() {
    let both = Both::of(
        r#"
func @f(%t: i32, %n: i32) -> i32 {
entry:
  switch %t, other [3: three, 4: four]
three:
  %x: i32 = mul %t, 2
  ret %x
four:
  %y: i32 = mul %t, %n
  ret %y
other:
  %z: i32 = mul %t, 2
  ret %z
}
"#,
    );
    assert_eq!(both.gained("y"), ["%t equals 4 on the edge entry → four"]);
    assert_eq!(both.gained("x"), ["%x is always 6 (conditional constants)"]);
    both.keeps_divergent("z");
}

#[test]
fn constants_are_not_taken_for_what_a_freeze_of_poison_chooses() {
    let both = Both::of(
        r#"
func @f(%t: i32, %n: i32) -> i32 {
entry:
  %p: i32 = add nuw %t, %n
  %zero: i32 = and %p, 0
  %x: i32 = freeze %zero
  ret %x
}
"#,
    );
    both.keeps_divergent("x");
}

/// Waves of 32 of work-groups of 256.
fn waves(options: &mut Options) {
    options.target = Target::Nvptx;
    Arc::make_mut(&mut options.facts).work_group = Some(WorkGroup { size: [256, 1, 1], whole: true });
}

const WAVES: &str = r#"
declare @llvm.nvvm.read.ptx.sreg.tid.x() -> i32

func @f(%v: i32, %n: i32) -> i32 {
entry:
  %t: i32 = call @llvm.nvvm.read.ptx.sreg.tid.x()
  %wave: i32 = lshr %t, 5
  %half: i32 = lshr %t, 4
  %first: i32 = and %t, -32
  %odd: i32 = and %t, -31
  %quotient: i32 = sdiv %t, 64
  %some: i32 = sdiv %t, 48
  %shifted: i32 = add %t, 96
  %ahead: i32 = lshr %shifted, 5
  %near: i32 = add %t, 95
  %behind: i32 = lshr %near, 5
  %exact: i32 = lshr exact %t, 5
  %below: i1 = icmp ult %t, 128
  %most: i1 = icmp ule %t, 127
  %cut: i1 = icmp ult %t, 100
  %is: i1 = icmp eq %t, 64
  %scale: i32 = shl %n, 5
  %dynamic: i1 = icmp ult %t, %scale
  br %below, left, right
left:
  br join(1)
right:
  br join(2)
join:
  %x: i32 = phi
  ret %x
}
"#;

#[test]
fn all_lanes_of_a_wave_agree_on_the_high_bits_of_their_work_items() {
    let both = Both::with(WAVES, waves);
    for uniform in ["wave", "first", "quotient", "ahead", "below", "most", "dynamic", "x"] {
        assert!(!both.without.is_divergent(both.value(uniform)), "{uniform}");
    }
    for divergent in ["t", "half", "odd", "some", "shifted", "near", "behind", "exact", "cut", "is"] {
        both.keeps_divergent(divergent);
    }
    let explainer = Explainer::new(&both.module, both.func(), &both.with);
    let why = explainer.why_uniform(both.value("wave"));
    assert_eq!(why, "looks only at bits on which all lanes of a wave agree, though its operands differ");
}

#[test]
fn nothing_is_known_of_waves_if_the_size_of_the_work_group_is_not() {
    let both = Both::with(WAVES, |options| options.target = Target::Nvptx);
    for divergent in ["wave", "first", "quotient", "ahead", "below", "most", "dynamic", "x"] {
        both.keeps_divergent(divergent);
    }
    let rows = Both::with(WAVES, |options| {
        options.target = Target::Nvptx;
        let group = WorkGroup { size: [48, 2, 1], whole: true };
        Arc::make_mut(&mut options.facts).work_group = Some(group);
    });
    rows.keeps_divergent("wave");
}

#[test]
fn ranges_decide_branches_and_the_work_group_gives_ranges() {
    let both = Both::with(
        r#"
declare @llvm.nvvm.read.ptx.sreg.tid.x() -> i32

func @f(%v: i32, %n: i32) -> i32 {
entry:
  %t: i32 = call @llvm.nvvm.read.ptx.sreg.tid.x()
  %low: i32 = urem %v, 10
  %small: i1 = icmp ult %low, 10
  br %small, next, odd
odd:
  br next
next:
  %inside: i1 = icmp slt %t, 256
  br %inside, within, beyond
within:
  br out(1)
beyond:
  br out(%v)
out:
  %x: i32 = phi
  %number: i32 = lshr %low, 4
  ret %x
}
"#,
        waves,
    );
    assert_eq!(both.gained_branch("entry"), ["%small is always true (ranges)"]);
    assert_eq!(both.gained("number"), ["%number is always 0 (ranges)"]);
    assert!(!both.with.is_divergent(both.value("x")) && !both.with.is_divergent_branch(both.block("next")));
    both.keeps_divergent("t");
    both.keeps_divergent("low");
}

#[test]
fn a_freeze_elsewhere_takes_no_facts_away() {
    let both = Both::of(
        r#"
func @f(%t: i32, %u: i32) -> i32 {
entry:
  %next: i32 = add nsw %t, 1
  %x: i32 = freeze %next
  %difference: i32 = sub %t, %t
  %c: i1 = icmp slt %t, 4
  %either: i32 = select %c, %u, %u
  %sum: i32 = add %difference, %either
  ret %sum
}
"#,
    );
    assert_eq!(both.gained("difference"), ["%difference is always 0 (equal operands)"]);
    both.gained("either");
    both.gained("sum");
    both.keeps_divergent("x");
}

#[test]
fn what_goes_into_a_freeze_is_no_constant() {
    // Lanes for which the sum wraps have poison, of which `freeze` makes any number: in arithmetic, in a φ, in memory,
    // in a function that is called.
    let zero = "  %next: i32 = add nsw %t, 1\n  %zero: i32 = sub %next, %next\n";
    let bodies = [
        "  %x: i32 = freeze %zero\n  ret %x\n}\n",
        "  %far: i32 = add %zero, %u\n  %x: i32 = freeze %far\n  ret %x\n}\n",
        "  br join(%zero)\njoin:\n  %phi: i32 = phi\n  %x: i32 = freeze %phi\n  ret %x\n}\n",
        "  %x: i32 = call @g(%zero)\n  ret %x\n}\n\
         func @g(%v: i32) -> i32 {\nentry:\n  %y: i32 = call @h(%v)\n  ret %y\n}\n\
         func @h(%v: i32) -> i32 {\nentry:\n  %y: i32 = freeze %v\n  ret %y\n}\n",
        "  %p: ptr = alloca i32, i32 1, align 4\n  store %zero, %p, align 4\n  \
         %l: i32 = load %p, align 4\n  %x: i32 = freeze %l\n  ret %x\n}\n",
    ];
    for body in bodies {
        let declared = "declare @g(i32) -> i32\ndeclare @h(i32) -> i32\n";
        let text = format!("{declared}func @f(%t: i32, %u: i32) -> i32 {{\nentry:\n{zero}{body}");
        let both = Both::of(&text);
        both.keeps_divergent("zero");
        both.keeps_divergent("x");
    }
}
