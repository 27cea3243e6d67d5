//! Dead code, liveness and reaching definitions: known answers, and both solvers against the solution by definition
//! on random functions.

use warpline_analysis::dataflow::{Instruction, Program};
use warpline_analysis::ssi::{Strategy, Version, ssify};
use warpline_analysis::{Graph, Node};
use warpline_dataflow::Code;
use warpline_dataflow::clients::constants::Constants;
use warpline_dataflow::clients::ranges::Ranges;
use warpline_dataflow::clients::{dead_code, liveness, reaching_definitions};
use warpline_dataflow::report::{Report, Solver};
use warpline_dataflow::ssa::{promote_allocas, promote_and_construct};
use warpline_ir::text::{parse_module, print_module};
use warpline_ir::{FuncId, Module};
use warpline_testkit::dataflow_agreement::{backward_agrees, forward_agrees};
use warpline_testkit::dataflow_oracles::{Point, Points, naive_backward};
use warpline_testkit::modules::{FunctionShape, module};
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::stack_programs::{StackOptions, stack_program};

fn only(text: &str) -> (Module, FuncId) {
    let module = parse_module(text).expect("the text is well formed");
    let id = module.functions.keys().next().expect("there is a function");
    (module, id)
}

fn text_of(report: &impl Report) -> String {
    let mut out = String::new();
    report.write_text(&mut out);
    out
}

const SUM: &str = "func @sum(%n: i32, %unused: i32) -> i32 {
entry:
  %start: i32 = add %n, 1
  br head(0, %start, 0)
head:
  %i: i32 = phi
  %s: i32 = phi
  %d: i32 = phi
  %c: i1 = icmp ult %i, %n
  br %c, body, out
body:
  %next: i32 = add %i, 1
  %more: i32 = add %s, %i
  %only: i32 = add %d, 2
  br head(%next, %more, %only)
out:
  ret %s
}
";

#[test]
fn a_counter_that_nothing_but_itself_reads_is_dead() {
    let (module, id) = only(SUM);
    for solver in [Solver::Sparse, Solver::Dense] {
        let (report, _) = dead_code::analyse(&module, id, solver);
        let dead: Vec<&str> = report.dead.iter().map(|d| &*d.instruction).collect();
        assert_eq!(dead, ["%d = phi", "%only = add"], "{solver:?}");
        assert_eq!(report.instructions, 12);
        assert_eq!(text_of(&report), "  dead instructions: 2 of 12\n  %d = phi\n  %only = add\n");
    }
}

#[test]
fn a_value_is_live_from_its_definition_to_its_last_use_round_the_loop() {
    let (module, id) = only(SUM);
    for solver in [Solver::Sparse, Solver::Dense] {
        let (report, _) = liveness::analyse(&module, id, solver);
        let blocks: Vec<(&str, String, usize)> =
            report.blocks.iter().map(|b| (&*b.block, b.at_entry.join(" "), b.most)).collect();
        let wanted =
            [("entry", "%n", 2), ("head", "%n %i %s %d", 5), ("body", "%n %i %s %d", 5), ("out", "%s", 1)];
        assert_eq!(blocks, wanted.map(|(b, l, m)| (b, l.to_string(), m)), "{solver:?}");
        assert_eq!(report.never_read, ["%unused"]);
        assert_eq!(report.most, 5);
    }
}

#[test]
fn a_phi_sees_what_comes_round_its_loop_through_other_phis() {
    let (module, id) = only(SUM);
    for solver in [Solver::Sparse, Solver::Dense] {
        let (report, _) = reaching_definitions::analyse(&module, id, solver);
        assert_eq!(
            text_of(&report),
            "  %i: %next, a constant\n  %s: %start, %more\n  %d: %only, a constant\n",
            "{solver:?}"
        );
    }
}

#[test]
fn a_read_sees_the_writes_that_come_to_it_and_what_is_unwritten() {
    let (module, id) = only(
        "func @f(%c: i1) -> i32 {
  var $x: i32
entry:
  br %c, left, right
left:
  write $x, 1
  br join
right:
  br join
join:
  %a: i32 = read $x
  write $x, 2
  %b: i32 = read $x
  ret %b
}
",
    );
    for solver in [Solver::Sparse, Solver::Dense] {
        let (report, _) = reaching_definitions::analyse(&module, id, solver);
        let text = "  $x: a constant written, unwritten\n  $x: a constant written\n";
        assert_eq!(text_of(&report), text, "{solver:?}");
        let (dead, _) = dead_code::analyse(&module, id, solver);
        let names: Vec<&str> = dead.dead.iter().map(|d| &*d.instruction).collect();
        assert_eq!(names, ["write", "%a = read"], "{solver:?}");
    }
}

/// Random modules: with memory on the stack, with variables for it, in SSA form, and of any shape.
fn random_modules(seed: u64) -> Vec<Module> {
    let mut rng = SplitMix64::new(seed);
    let stack = stack_program(&mut rng, &StackOptions::default());
    let changed = |change: &dyn Fn(&Module, &mut warpline_ir::Function)| {
        let mut module = stack.clone();
        for id in stack.functions.keys() {
            let mut func = module.functions[id].clone();
            change(&stack, &mut func);
            module.functions[id] = func;
        }
        module
    };
    let variables = changed(&|m, f| _ = promote_allocas(m, f));
    let ssa = changed(&|m, f| _ = promote_and_construct(m, f));
    let shape = FunctionShape { max_vars: 3, accesses: 4, ..FunctionShape::default() };
    vec![stack, variables, ssa, module(&mut rng, &shape)]
}

fn settings() -> std::ops::Range<u64> {
    let number = |name, default| std::env::var(name).ok().and_then(|s| s.parse().ok()).unwrap_or(default);
    let first = number("WARPLINE_SEED", 0);
    first..first + number("WARPLINE_PROGRAMS", 300)
}

/// Whether each use in code that control reaches is dominated by its definition; others are no SSA form.
fn is_strict(program: &Program) -> bool {
    let points = Points::of(program);
    let live = warpline_testkit::dataflow_oracles::live_points(program, &points);
    let at_start = &live[points.number(Point::In(program.graph().entry(), 0))];
    (0..program.variables()).all(|v| !at_start[v] || program.on_entry().iter().any(|e| e.index() == v))
}

fn check(program: &Program, code: &Code, func: &warpline_ir::Function) -> Result<(), String> {
    let (points, ssi) = (Points::of(program), ssify(program, &Strategy::SSA));
    let dead = dead_code::DeadCode::new(func, code);
    backward_agrees(program, &ssi, &dead, false).map_err(|e| format!("dead code: {e}"))?;
    let naive = naive_backward(program, &points, &dead);
    let sparse = warpline_analysis::dataflow::solve_backward(program, &ssi, &dead);
    for n in program.graph().nodes().filter(|n| naive.reached[n.index()]) {
        for (k, at) in program.block(n).map(Instruction).enumerate() {
            let behind = &naive.facts[points.number(Point::In(n, k)) + 1];
            for (slot, v) in program.definition_slots(at).zip(program.definitions(at)) {
                let (found, wanted) = (*sparse.fact(ssi.defined(slot)), behind[v.index()]);
                if found != wanted {
                    return Err(format!("dead code: v{} of {at:?} is {found:?}, not {wanted:?}", v.0));
                }
            }
        }
    }
    let reaching = reaching_definitions::ReachingDefinitions(program);
    forward_agrees(program, &ssi, &reaching).map_err(|e| format!("reaching definitions: {e}"))?;
    let live = liveness::Liveness(program);
    backward_agrees(program, &ssi, &live, false).map_err(|e| format!("liveness: {e}"))?;
    let naive = naive_backward(program, &points, &live);
    for solver in [Solver::Sparse, Solver::Dense] {
        let (entries, _) = liveness::live_at_entries(program, solver);
        for n in program.graph().nodes().filter(|n| naive.reached[n.index()]) {
            let facts = &naive.facts[points.number(Point::In(n, 0))];
            let wanted: Vec<usize> =
                (0..program.variables()).filter(|&v| facts[v] == dead_code::Needed(true)).collect();
            let found: Vec<usize> = entries[n.index()].iter().map(|v| v.index()).collect();
            if found != wanted {
                return Err(format!("live at {n}, {solver:?}: {found:?}, by definition {wanted:?}"));
            }
        }
    }
    let entry: Node = program.graph().entry();
    let first = points.number(Point::In(entry, 0));
    let wrong = program.on_entry().iter().filter(|v| !program.is_fixed(**v)).find(|v| {
        let sparse = warpline_analysis::dataflow::solve_backward(program, &ssi, &live);
        *sparse.fact(Version(v.0)) != naive.facts[first][v.index()]
    });
    wrong.map_or(Ok(()), |v| Err(format!("live on entry: v{}", v.0)))
}

#[test]
fn clients_find_on_random_functions_what_their_definitions_say() {
    let (mut checked, mut with_variables) = (0, 0);
    for seed in settings() {
        for (k, module) in random_modules(seed).iter().enumerate() {
            for (id, func) in module.functions.iter() {
                let code = Code::of(func);
                let program = code.program();
                if !is_strict(program) {
                    continue;
                }
                checked += 1;
                with_variables += u64::from(!func.vars.is_empty());
                check(program, &code, func).unwrap_or_else(|e| {
                    panic!("seed {seed}, module {k}: {e}\n{}", print_module(module));
                });
                for client in 0..3 {
                    let texts = [Solver::Sparse, Solver::Dense].map(|solver| match client {
                        0 => text_of(&dead_code::analyse(module, id, solver).0),
                        1 => text_of(&liveness::analyse(module, id, solver).0),
                        _ => text_of(&reaching_definitions::analyse(module, id, solver).0),
                    });
                    assert_eq!(texts[0], texts[1], "seed {seed}, module {k}, client {client}");
                }
            }
        }
    }
    let count = settings().count() as u64;
    assert!(
        checked >= 3 * count && with_variables > count / 2,
        "{checked} checked, {with_variables} with variables"
    );
}

#[test]
fn constants_and_ranges_are_the_same_sparse_and_dense() {
    let mut split = 0;
    for seed in settings() {
        for (k, module) in random_modules(seed).iter().enumerate() {
            for func in module.functions.values() {
                let (code, with_makers) = (Code::of(func), Code::with_makers(func));
                if !is_strict(code.program()) {
                    continue;
                }
                let fail = |client: &str, e: String| -> ! {
                    panic!("seed {seed}, module {k}, {client}: {e}\n{}", print_module(module))
                };
                let ssi = ssify(code.program(), &Constants::STRATEGY);
                split += ssi.versions() - code.program().variables();
                forward_agrees(code.program(), &ssi, &Constants::new(module, func, &code))
                    .unwrap_or_else(|e| fail("constants", e));
                let ssi = ssify(with_makers.program(), &Ranges::STRATEGY);
                forward_agrees(with_makers.program(), &ssi, &Ranges::new(module, func, &with_makers))
                    .unwrap_or_else(|e| fail("ranges", e));
            }
        }
    }
    assert!(split as u64 > settings().count() as u64, "{split} added versions");
}
