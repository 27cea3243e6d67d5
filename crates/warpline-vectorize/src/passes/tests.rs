use std::sync::{Arc, Mutex};

use super::*;
use crate::Options;
use warpline_ir::text::{parse_module, print_function};
use warpline_ir::{BinaryOp, Function, Module, Op};
use warpline_uniformity::shape::ArgShape;

/// The pass of ARCHITECTURE.md's exercise: a function, and a line as in the list.
fn swap_operands(unit: &mut Unit, _: &Context<'_>) -> Result<bool, VectorizeError> {
    let mut changed = false;
    for data in unit.func.insts.values_mut().filter(|data| data.op == Op::Binary(BinaryOp::Add)) {
        data.args.swap(0, 1);
        changed = true;
    }
    Ok(changed)
}

static TOY: Pass = optional("swap-operands", Canonical, swap_operands, "sums are made the other way around");

const SUM: &str = "func @sum(%x: i32, %y: i32) -> i32 {\nentry:\n  %s: i32 = add %x, %y\n  ret %s\n}\n";

fn module(text: &str) -> Module {
    parse_module(text).expect("it is well formed")
}

fn only(module: &Module) -> &Function {
    module.functions.values().next().expect("there is one")
}

/// Runs passes on the only function of a module, with an observer of these requests: the unit, and what was printed.
fn observed(text: &str, passes: &[&'static Pass], request: Request) -> (Unit, String, Observer) {
    let module = module(text);
    let printed = Arc::new(Mutex::new(String::new()));
    let sink = printed.clone();
    let observer = Observer::new(request, move |text| sink.lock().expect("one thread").push_str(text));
    let observer = observer.expect("names are known");
    let args = vec![ArgShape::Varying; only(&module).params.len()];
    let options = Options { instrument: &observer, ..Options::new(4, args, "lanes") };
    let lane_callees = Arc::default();
    let cx = Context::new(&module, &options, lane_callees);
    let mut unit = Unit::new(only(&module).clone());
    for pass in passes {
        run(pass, &mut unit, &cx).expect("it runs");
    }
    let text = printed.lock().expect("one thread").clone();
    (unit, text, observer)
}

fn named(name: &str) -> &'static Pass {
    PASSES.iter().find(|p| p.info.name == name).expect("there is one")
}

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|&n| n.to_owned()).collect()
}

#[test]
fn a_pass_of_ones_own_runs_is_printed_and_is_counted() {
    let request = Request { print_after: strings(&["all"]), ..Request::default() };
    let (unit, printed, observer) = observed(SUM, &[named("canonicalize"), &TOY], request);
    let text = print_function(&module(SUM), &unit.func);
    assert!(text.contains("%s: i32 = add %y, %x"), "{text}");
    assert!(printed.contains("; after swap-operands (sum):\nfunc @sum"), "{printed}");
    assert_eq!(observer.runs("swap-operands"), 1);
    assert!(observer.stats().contains("swap-operands"));
}

#[test]
fn each_pass_takes_what_the_one_before_gives() {
    let mut phase = Phase::Scalar;
    for pass in &PASSES {
        assert_eq!(pass.info.from, phase, "{}", pass.info.name);
        phase = pass.info.to;
    }
    assert_eq!(phase, LOWER.from);
    let mut names: Vec<&str> = all().map(|p| p.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), PASSES.len() + 2, "each name once");
}

#[test]
fn a_pass_that_takes_another_phase_is_a_defect() {
    let module = module(SUM);
    let options = Options::new(4, vec![ArgShape::Varying; 2], "lanes");
    let lane_callees = Arc::default();
    let cx = Context::new(&module, &options, lane_callees);
    let mut unit = Unit::new(only(&module).clone());
    let error = run(&TOY, &mut unit, &cx).expect_err("the function is not canonical");
    assert!(error.is_internal());
}

#[test]
fn an_analysis_is_kept_until_a_pass_changes_the_function() {
    fn ask(unit: &mut Unit, cx: &Context<'_>) -> Result<bool, VectorizeError> {
        cx.uniformity(unit);
        Ok(false)
    }
    static ASK: Pass = optional("ask", Canonical, ask, "asks");
    let (.., observer) = observed(SUM, &[named("canonicalize"), &ASK, &ASK], Request::default());
    assert_eq!(observer.runs("uniformity"), 1);
    let (.., observer) = observed(SUM, &[named("canonicalize"), &ASK, &TOY, &ASK], Request::default());
    assert_eq!(observer.runs("uniformity"), 2);
}

#[test]
fn what_a_pass_breaks_is_noticed_behind_it() {
    fn forget_operands(unit: &mut Unit, _: &Context<'_>) -> Result<bool, VectorizeError> {
        unit.func.insts.values_mut().for_each(|data| data.args.clear());
        Ok(true)
    }
    static BREAK: Pass = optional("break", Canonical, forget_operands, "breaks");
    let module = module(SUM);
    let observer = Observer::new(Request { verify_each: true, ..Request::default() }, |_| {});
    let observer = observer.expect("nothing is named");
    let args = vec![ArgShape::Varying; 2];
    let options = Options { instrument: &observer, ..Options::new(4, args, "lanes") };
    let lane_callees = Arc::default();
    let cx = Context::new(&module, &options, lane_callees);
    let mut unit = Unit::new(only(&module).clone());
    unit.func.phase = Phase::Canonical;
    let error = run(&BREAK, &mut unit, &cx).expect_err("it is broken");
    assert!(
        error.problem().reason.contains("break left a function that is not valid"),
        "{}",
        error.problem().reason
    );
}

#[test]
fn the_normal_form_is_told_from_what_is_not() {
    let violation = |text: &str| Phase::Canonical.violation(only(&module(text)));
    assert_eq!(violation(SUM), None);
    let returns = "func @f(%c: i1) {\nentry:\n  br %c, a, b\na:\n  ret\nb:\n  ret\n}\n";
    assert!(violation(returns).is_some_and(|v| v.contains("2 returns")));
    let no_preheader =
        "func @f(%c: i1) {\nentry:\n  br %c, loop, end\nloop:\n  br %c, loop, end\nend:\n  ret\n}\n";
    assert!(violation(no_preheader).is_some_and(|v| v.contains("no preheader")));
    let two_latches = "func @f(%c: i1) {\nentry:\n  br loop\nloop:\n  br %c, loop, next\nnext:\n  br %c, loop, \
     end\nend:\n  ret\n}\n";
    assert!(violation(two_latches).is_some_and(|v| v.contains("2 back edges")));
    let open = "func @f(%c: i1, %x: i32) -> i32 {\nentry:\n  br loop\nloop:\n  %y: i32 = add %x, 1\n  br %c, \
     loop, end\nend:\n  \
                %z: i32 = add %y, 1\n  ret %z\n}\n";
    assert!(violation(open).is_some_and(|v| v.contains("outside of its loop")));
    let masked = "func @f(%c: i1) {\nentry:\n  br body\nbody mask %c:\n  ret\n}\n";
    assert!(violation(masked).is_some_and(|v| v.contains("has a mask")));
}
