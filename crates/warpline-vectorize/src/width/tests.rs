//! Choices for kernels whose answers are known.

use crate::Options;
use crate::loops::{self, Nest};
use warpline_ir::Module;
use warpline_ir::text::parse_module;
use warpline_target::{all, nearest};
use warpline_uniformity::shape::ArgShape;

use super::{Choice, Machine, Reason, Widths, of_iteration, of_kernel};

fn sse() -> Machine {
    Machine { fused: false, ..Machine::of(nearest("x86-64-v2", true, 128)) }
}

fn avx2() -> Machine {
    Machine::of(nearest("x86-64-v3", true, 256))
}

fn avx512() -> Machine {
    Machine::of(nearest("x86-64-v4", true, 512))
}

fn module(body: &str) -> Module {
    parse_module(&format!("module \"m\"\n\n{body}")).unwrap_or_else(|e| panic!("{e}"))
}

/// The choice for a kernel the first parameter of which is an index.
fn choice(body: &str, machine: &Machine) -> Choice {
    let module = module(body);
    let func = module.functions.values().next().expect("a function");
    let mut args = vec![ArgShape::Uniform; func.params.len()];
    args[0] = ArgShape::Index;
    let widths = of_kernel(&module, func, &Options::new(1, args, "lanes"), machine, None);
    widths.chosen.expect("nothing was given")
}

/// What is expected of a kernel the first parameter of which is an index, on AVX2.
fn expected(body: &str, indices: Option<u64>) -> Widths {
    let module = module(body);
    let func = module.functions.values().next().expect("a function");
    let mut args = vec![ArgShape::Uniform; func.params.len()];
    args[0] = ArgShape::Index;
    of_kernel(&module, func, &Options { indices, ..Options::new(1, args, "lanes") }, &avx2(), None)
}

/// Loads an element, does something to it and stores it.
fn map(ty: &str, bytes: u32, body: &str) -> String {
    format!(
        "func @map(%i: i64, %from: ptr, %to: ptr) {{
entry:
  %p: ptr = getelementptr {ty}, %from, %i
  %x: {ty} = load %p, align {bytes}
{body}
  %q: ptr = getelementptr {ty}, %to, %i
  store %y, %q, align {bytes}
  ret
}}
"
    )
}

/// A loop with so many values that are multiplied and added to in each iteration.
fn recurrences(values: usize) -> String {
    let list = |item: &dyn Fn(usize) -> String, between: &str| {
        (0..values).map(item).collect::<Vec<_>>().join(between)
    };
    format!(
        "func @sums(%i: i64, %from: ptr, %to: ptr, %c: float) {{
entry:
  %p: ptr = getelementptr float, %from, %i
  %x: float = load %p, align 4
  br loop(0, {start})
loop:
  %k: i64 = phi
{phis}
{steps}
  %next: i64 = add %k, 1
  %more: i1 = icmp ult %next, 64
  br %more, loop(%next, {again}), done
done:
  %q: ptr = getelementptr float, %to, %i
{stores}
  ret
}}
",
        start = list(&|_| "%x".to_owned(), ", "),
        phis = list(&|n| format!("  %s{n}: float = phi"), "\n"),
        steps = list(&|n| format!("  %m{n}: float = fmul %s{n}, %x\n  %a{n}: float = fadd %m{n}, %c"), "\n"),
        again = list(&|n| format!("%a{n}"), ", "),
        stores = list(&|n| format!("  store %a{n}, %q, align 4"), "\n"),
    )
}

#[test]
fn narrow_elements_get_more_lanes_than_wide_ones() {
    let of = |ty: &str, bytes, op: &str| {
        let steps: String = (0..20)
            .map(|k| {
                let from = if k == 0 { "%x".to_owned() } else { format!("%y{k}") };
                let to = if k == 19 { "%y".to_owned() } else { format!("%y{}", k + 1) };
                format!("  {to}: {ty} = {op} {from}, %x\n")
            })
            .collect();
        choice(&map(ty, bytes, steps.trim_end()), &avx512())
    };
    let [bytes, floats, doubles] = [of("i8", 1, "add"), of("float", 4, "fadd"), of("double", 8, "fadd")];
    assert_eq!([&bytes, &floats, &doubles].map(|c| c.element_bits), [8, 32, 64]);
    assert_eq!((bytes.lanes, bytes.reason), (64, Reason::OneRegister));
    assert!(floats.lanes < bytes.lanes && doubles.lanes <= floats.lanes, "{floats:?} {doubles:?}");
}

#[test]
fn a_chain_gets_several_registers_and_many_live_values_do_not() {
    for machine in [sse(), avx2(), avx512()] {
        let one = machine.register_bits / 32;
        let chain = choice(&recurrences(1), &machine);
        assert!(chain.lanes >= 2 * one && chain.reason == Reason::Chain(8), "{chain:?}");
        let many = choice(&recurrences(24), &machine);
        assert!(many.lanes < chain.lanes || chain.lanes == 64 && many.lanes <= 2 * one, "{many:?}");
    }
}

#[test]
fn the_cpu_that_is_named_decides_how_many_lanes_hide_a_latency() {
    let chosen: Vec<(&str, u32)> =
        all().iter().map(|cpu| (cpu.table.cpu(), choice(&recurrences(2), &Machine::of(cpu)).lanes)).collect();
    let expected = [
        ("x86-64-v2", 32),
        ("x86-64-v3", 64),
        ("x86-64-v4", 64),
        ("haswell", 64),
        ("skylake-avx512", 64),
        ("icelake-server", 64),
        ("znver1", 64),
        ("znver3", 64),
        ("znver4", 64),
        ("znver5", 64),
        ("neoverse-n1", 32),
    ];
    assert_eq!(chosen, expected);
}

#[test]
fn what_is_passed_in_vectors_fills_no_more_than_a_register() {
    let text = recurrences(1).replace("%i: i64", "%v: float, %i: i64");
    let module = module(&text);
    let func = module.functions.values().next().expect("a function");
    let shapes = |second| {
        let mut args = vec![ArgShape::Uniform; func.params.len()];
        (args[0], args[1]) = (ArgShape::Varying, second);
        Options::new(1, args, "lanes")
    };
    assert_eq!(of_kernel(&module, func, &shapes(ArgShape::Stride(1)), &avx2(), None).lanes, 8);
    assert!(of_kernel(&module, func, &shapes(ArgShape::Index), &avx2(), None).lanes > 8);
}

/// The widths for the outermost loop of a function.
fn widths_of_loop(body: &str, lanes: Option<u32>) -> (u32, u32) {
    let mut module = module(body);
    let func = module.functions.keys().next().expect("a function");
    let header = Nest::of(&module.functions[func]).headers().next().expect("a loop");
    let iteration =
        loops::kernel_of(&mut module, func, &loops::Unit::new(header, 1)).unwrap_or_else(|e| panic!("{e}"));
    let options = Options::new(1, iteration.args.clone(), "lanes");
    let widths = of_iteration(&module, &iteration, &options, &avx2(), lanes);
    (widths.lanes, widths.epilogue)
}

/// A loop that doubles numbers so often.
fn doubling(bound: &str) -> String {
    format!(
        "func @double(%n: i64, %a: ptr) {{
entry:
  br loop(0)
loop:
  %i: i64 = phi
  %more: i1 = icmp slt %i, {bound}
  br %more, body, end
body:
  %p: ptr = getelementptr float, %a, %i
  %x: float = load %p, align 4
  %y: float = fadd %x, %x
  store %y, %p, align 4
  %next: i64 = add nsw %i, 1
  br loop(%next)
end:
  ret
}}
"
    )
}

#[test]
fn what_is_left_over_of_many_lanes_goes_in_smaller_groups() {
    assert_eq!(widths_of_loop(&doubling("%n"), Some(64)), (64, 8));
    assert_eq!(widths_of_loop(&doubling("%n"), Some(8)), (8, 8));
}

#[test]
fn a_loop_gets_no_more_lanes_than_it_has_iterations() {
    assert!(widths_of_loop(&doubling("%n"), None).0 > 8);
    assert_eq!(widths_of_loop(&doubling("8"), None), (8, 8));
}

#[test]
fn what_is_left_over_waits_for_a_chain_together() {
    let many = "func @sums(%n: i64, %from: ptr, %to: ptr, %c: float) {
entry:
  br outer(0)
outer:
  %i: i64 = phi
  %goes: i1 = icmp slt %i, %n
  br %goes, begin, end
begin:
  %p: ptr = getelementptr float, %from, %i
  %x: float = load %p, align 4
  br loop(0, %x)
loop:
  %k: i64 = phi
  %s: float = phi
  %m: float = fmul %s, %x
  %a: float = fadd %m, %c
  %next: i64 = add %k, 1
  %more: i1 = icmp ult %next, 64
  br %more, loop(%next, %a), done
done:
  %q: ptr = getelementptr float, %to, %i
  store %a, %q, align 4
  %after: i64 = add nsw %i, 1
  br outer(%after)
end:
  ret
}
";
    assert_eq!(widths_of_loop(many, Some(32)), (32, 32));
}

#[test]
fn what_cannot_be_vectorized_gets_lanes_by_its_types() {
    let choice = choice(
        "func @never(%i: i64, %x: double) {\nentry:\n  %y: double = fadd %x, %x\n  br entry2\nentry2:\n  br \
         entry2\n}\n",
        &avx2(),
    );
    assert_eq!(choice, Choice { lanes: 4, element_bits: 64, reason: Reason::ByType });
    assert_eq!(choice.to_string(), "one register of 64-bit elements, by types alone");
}

#[test]
fn what_only_reads_and_writes_takes_a_cache_line_at_once_and_begins_with_one() {
    let add = map("float", 4, "  %y: float = fadd %x, %x");
    let widths = |body: &str, machine: &Machine, lanes| {
        let module = module(body);
        let func = module.functions.values().next().expect("a function");
        let args = vec![ArgShape::Index, ArgShape::Uniform, ArgShape::Uniform];
        of_kernel(&module, func, &Options::new(1, args, "lanes"), machine, lanes)
    };
    for machine in [avx2(), avx512()] {
        let found = widths(&add, &machine, None);
        assert_eq!((found.lanes, found.chosen.map(|c| c.reason)), (16, Some(Reason::Line)));
        assert_eq!(found.prologue, u64::from(machine.register_bits / 8));
    }
    assert_eq!(widths(&add, &avx512(), Some(32)).prologue, 64);
    let steps: String = (1..20).map(|k| format!("  %y{k}: float = fmul %x, %x\n")).collect();
    let much = map("float", 4, &(steps + "  %y: float = fadd %x, %x"));
    let found = widths(&much, &avx512(), None);
    assert!(found.prologue == 0 && found.chosen.is_some_and(|c| c.reason != Reason::Line), "{found:?}");
}

/// A sum over as many elements as a parameter says; edges with these weights go on with the loop and leave it.
fn row_sum(goes_on: &str, leaves: &str) -> String {
    format!(
        "func @rows(%i: i64, %n: i64, %from: ptr, %to: ptr) {{
entry:
  %start: ptr = getelementptr float, %from, %i
  br loop(0, 0.0)
loop:
  %k: i64 = phi
  %s: float = phi
  %at: i64 = mul %k, 512
  %p: ptr = getelementptr float, %start, %at
  %x: float = load %p, align 4
  %sum: float = fadd %s, %x
  %next: i64 = add %k, 1
  %more: i1 = icmp ult %next, %n
  br %more, loop(%next, %sum){goes_on}, done{leaves}
done:
  %q: ptr = getelementptr float, %to, %i
  store %sum, %q, align 4
  ret
}}
"
    )
}

#[test]
fn weights_of_the_branch_that_ends_a_loop_tell_how_often_it_goes_round() {
    let cycles = |goes_on: &str, leaves: &str| {
        let estimate = expected(&row_sum(goes_on, leaves), None).estimate.expect("it is small");
        [estimate.vector, estimate.scalar.expect("it has a range")]
    };
    let [few, unknown, many] =
        [cycles(" weight 3", " weight 1"), cycles("", ""), cycles(" weight 99", " weight 1")];
    for k in 0..2 {
        assert!(few[k] * 2.0 < unknown[k] && unknown[k] * 4.0 < many[k], "{few:?} {unknown:?} {many:?}");
    }
}

#[test]
fn a_range_that_is_expected_to_be_short_is_left_to_scalar_code() {
    let body = map("float", 4, "  %y: float = fadd %x, %x");
    let scalar_wins = |indices| expected(&body, indices).estimate.expect("it is small").scalar_wins();
    assert_eq!([None, Some(100_000), Some(3)].map(scalar_wins), [false, false, true]);
}

/// Long arithmetic on `double` that lanes do if an element is greater than a limit; edges with these weights do it and
/// pass it by.
fn rarely_refined(does: &str, passes: &str) -> String {
    format!(
        "func @refine(%i: i64, %from: ptr, %to: ptr, %limit: float) {{
entry:
  %p: ptr = getelementptr float, %from, %i
  %x: float = load %p, align 4
  %c: i1 = fcmp ogt %x, %limit
  br %c, heavy{does}, end(%x){passes}
heavy:
  %d: double = fpext %x
  br loop(0, %d)
loop:
  %k: i64 = phi
  %s: double = phi
  %m: double = fmul %s, %s
  %a: double = fadd %m, 1.5
  %t: double = fdiv %m, %a
  %next: i64 = add %k, 1
  %more: i1 = icmp ult %next, 40
  br %more, loop(%next, %t), done
done:
  %y: float = fptrunc %t
  br end(%y)
end:
  %r: float = phi
  %q: ptr = getelementptr float, %to, %i
  store %r, %q, align 4
  ret
}}
"
    )
}

#[test]
fn what_hardly_any_group_of_lanes_does_takes_hardly_any_time_and_does_not_decide_the_width() {
    let unknown = expected(&rarely_refined("", ""), None);
    let often = expected(
        &rarely_refined(" weight 900 groups 100 of 100 by 8", " weight 100 groups 50 of 100 by 8"),
        None,
    );
    let rare = expected(
        &rarely_refined(" weight 1 groups 1 of 500 by 8", " weight 3999 groups 500 of 500 by 8"),
        None,
    );
    let vector = |w: &Widths| w.estimate.as_ref().expect("it is small").vector;
    assert!(vector(&rare) * 10.0 < vector(&unknown), "{rare:?} {unknown:?}");
    assert!(vector(&often) > vector(&rare) * 10.0, "{often:?} {rare:?}");
    let bits = |w: &Widths| w.chosen.map(|c| c.element_bits);
    assert_eq!([bits(&unknown), bits(&often), bits(&rare)], [Some(64), Some(64), Some(32)]);
}

#[test]
fn lanes_that_go_one_way_together_make_a_rare_way_cheaper_than_lanes_that_do_not() {
    let cycles = |groups: u32| {
        let does = format!(" weight 10 groups {groups} of 100 by 8");
        let widths = expected(&rarely_refined(&does, " weight 790 groups 100 of 100 by 8"), None);
        widths.estimate.expect("it is small").vector
    };
    let [together, apart] = [cycles(2), cycles(10)];
    assert!(together * 2.0 < apart, "{together} {apart}");
}
