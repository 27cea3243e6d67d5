//! Split live ranges written into functions (paper 4, Theorem 1): every form means what the function meant, is
//! printed and read back, and is taken away again.

use warpline_analysis::dataflow::Program;
use warpline_analysis::ssi::{NAMED, Ssi, Strategy, singer_ssi, ssify};
use warpline_dataflow::Code;
use warpline_dataflow::ssa::{construct, promote_and_construct, remove_redundant_phis, remove_trivial_phis};
use warpline_dataflow::ssi::{Materialized, destroy, materialize};
use warpline_interp::{LaneSet, Machine, Options, TrapKind, Val};
use warpline_ir::text::{parse_module, print_function, print_module};
use warpline_ir::verify::verify;
use warpline_ir::{Function, Module, Op};
use warpline_testkit::modules::{FunctionShape, module};
use warpline_testkit::programs::{Inputs, ProgramOptions, Reference, compare, generate, run_lockstep};
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::stack_programs::{StackOptions, stack_program};
use warpline_testkit::walks::{agree, random_path, walk};

fn first_and_count(default: u64) -> (u64, u64) {
    let number = |name: &str| std::env::var(name).ok().and_then(|s| s.parse().ok());
    (number("WARPLINE_SEED").unwrap_or(0), number("WARPLINE_PROGRAMS").unwrap_or(default))
}

/// What splits live ranges.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Form {
    Of(Strategy),
    Singer,
}

impl Form {
    /// Each strategy that has a name, once, and Singer's form.
    fn all() -> Vec<Form> {
        let mut forms: Vec<Form> = Vec::new();
        for row in NAMED {
            if !forms.contains(&Form::Of(row.strategy)) {
                forms.push(Form::Of(row.strategy));
            }
        }
        forms.push(Form::Singer);
        forms
    }

    fn split(self, program: &Program) -> Ssi {
        match self {
            Form::Of(strategy) => ssify(program, &strategy),
            Form::Singer => singer_ssi(program),
        }
    }
}

/// What was added in all forms, so that tests can say that they were not vacuous.
#[derive(Default, Debug)]
struct Added {
    functions: usize,
    phis: usize,
    sigmas: usize,
    copies: usize,
}

/// A function in a form, sound and with what the overlay says that is added; read back from its text it is the same,
/// and taken away again it leaves what there was.
fn split(m: &Module, before: &Function, form: Form, seed: u64, added: &mut Added) -> Function {
    let code = Code::of(before);
    let ssi = form.split(code.program());
    let mut after = before.clone();
    let done = materialize(&mut after, &code, &ssi);
    let shown = || {
        let (before, after) = (print_function(m, before), print_function(m, &after));
        format!("seed {seed}, {form:?}\n{before}{after}")
    };
    verify(m, &after).unwrap_or_else(|e| panic!("{e}, {}", shown()));
    let counts = ssi.counts(code.program());
    assert_eq!(
        (done.phis, done.sigmas, done.copies),
        (counts.phis, counts.sigmas, counts.copies),
        "{}",
        shown()
    );
    count(&done, added);

    let mut alone = m.clone();
    alone.functions.clear();
    let id = alone.functions.push(after);
    let text = print_module(&alone);
    let mut back = parse_module(&text).unwrap_or_else(|e| panic!("seed {seed}, {form:?}: {e}\n{text}"));
    assert_eq!(print_module(&back), text, "seed {seed}, {form:?}");
    verify(&back, &back.functions[id]).unwrap_or_else(|e| panic!("seed {seed}, {form:?}: {e}"));

    let mut gone = alone.functions[id].clone();
    destroy(&mut gone);
    let split_variables = code.program().variables() > before.values.len()
        && before.vars.keys().any(|x| ssi.is_split(code.variable_of(x)));
    if !split_variables {
        let mut plain = before.clone();
        destroy(&mut plain);
        assert_eq!(print_function(m, &gone), print_function(m, &plain), "{text}");
    }
    verify(m, &gone).unwrap_or_else(|e| panic!("seed {seed}, {form:?}: {e}\n{text}"));
    destroy(&mut back.functions[id]);
    verify(&back, &back.functions[id]).unwrap_or_else(|e| panic!("seed {seed}, {form:?}: {e}\n{text}"));
    alone.functions[id].clone()
}

fn count(done: &Materialized, added: &mut Added) {
    added.functions += 1;
    added.phis += done.phis;
    added.sigmas += done.sigmas;
    added.copies += done.copies;
}

/// Random functions: any graph, unreachable code, variables beside values, copies already.
#[test]
fn every_form_shows_instructions_what_the_function_did() {
    let (first, programs) = first_and_count(250);
    let shape = FunctionShape {
        max_blocks: 10,
        max_insts: 6,
        max_vars: 4,
        accesses: 3,
        sigmas: false,
        ..FunctionShape::default()
    };
    let mut added = Added::default();
    for seed in first..first + programs {
        let mut rng = SplitMix64::new(seed);
        let m = module(&mut rng, &shape);
        for original in m.functions.values() {
            let mut before = original.clone();
            if rng.chance(1, 2) {
                construct(&mut before, |_| true);
            }
            let paths: Vec<_> = (0..4).map(|_| random_path(&before, &mut rng)).collect();
            for form in Form::all() {
                let after = split(&m, &before, form, seed, &mut added);
                let mut gone = after.clone();
                destroy(&mut gone);
                for path in &paths {
                    let (known, blocks) = (before.insts.len(), before.blocks.len());
                    let expected = walk(&before, path, known, blocks);
                    for (what, found) in [("split", &after), ("destroyed", &gone)] {
                        assert!(
                            agree(&expected, &walk(found, path, known, blocks), true),
                            "seed {seed}, {form:?}, {what}, path {path:?}\n{}{}",
                            print_function(&m, &before),
                            print_function(&m, found)
                        );
                    }
                }
            }
        }
    }
    println!("{added:?}");
    let n = programs as usize;
    assert!(added.phis > 10 * n && added.sigmas > 10 * n && added.copies > 10 * n, "vacuous: {added:?}");
}

fn run(module: &Module, func: &Function, args: [u128; 2]) -> Result<Val, TrapKind> {
    let mut machine = Machine::with_options(module, Options { fuel: 100_000, ..Options::default() });
    let code = machine.prepare(func);
    machine.run_scalar(&code, &args.map(Val::int)).map_err(|trap| trap.kind)
}

/// Irreducible graphs, undef and poison.
#[test]
fn programs_on_any_graph_return_the_same_bits_in_every_form() {
    let (first, programs) = first_and_count(150);
    let (mut added, mut returned, mut trapped) = (Added::default(), 0, 0);
    for seed in first..first + programs {
        let mut m = stack_program(&mut SplitMix64::new(seed), &StackOptions::default());
        for id in m.functions.keys().collect::<Vec<_>>() {
            let mut before = m.functions[id].clone();
            promote_and_construct(&m, &mut before);
            m.functions[id] = before.clone();
            for form in Form::all() {
                let after = split(&m, &before, form, seed, &mut added);
                for args in [[0, 0], [1, 12345], [77, 3], [0xdead_beef, 0x1234_5678]] {
                    let expected = run(&m, &before, args);
                    let found = run(&m, &after, args);
                    assert_eq!(expected, found, "seed {seed}, {form:?}\n{}", print_function(&m, &after));
                    *(if expected.is_ok() { &mut returned } else { &mut trapped }) += 1;
                }
            }
        }
    }
    println!("{added:?}, {returned} returned, {trapped} trapped");
    assert!(returned as u64 > 20 * programs, "vacuous: {returned} returned, {trapped} trapped");
}

/// Loops, memory, calls, effects and traps; four lanes in lockstep.
#[test]
fn kernels_leave_the_same_memory_and_effects_in_every_form() {
    let (first, programs) = first_and_count(80);
    let (mut added, mut ended, mut trapped) = (Added::default(), 0, 0);
    let options = Options { fuel: 1_000_000, ..Options::default() };
    for seed in first..first + programs {
        let shape = ProgramOptions { traps: seed % 3 == 0, ..ProgramOptions::default() };
        let program = generate(seed, &shape);
        let inputs = Inputs::random(&program, 4, seed);
        let mut expected = run_lockstep(&program, &inputs, LaneSet::first(4), &options, None);
        // Both runs freeze the same poison.
        expected.froze = false;
        for form in Form::all() {
            let mut after = program.clone();
            for id in program.module.functions.keys() {
                let before = &program.module.functions[id];
                after.module.functions[id] = split(&program.module, before, form, seed, &mut added);
            }
            let found = run_lockstep(&after, &inputs, LaneSet::first(4), &options, None);
            if let Err(mismatch) = compare(&expected, &found, Reference::Lockstep) {
                panic!("seed {seed}, {form:?}: {mismatch:?}\n{}", after.text());
            }
        }
        *(if expected.result.is_ok() { &mut ended } else { &mut trapped }) += 1;
    }
    println!("{added:?}, {ended} ended, {trapped} trapped");
    assert!(ended as u64 > programs / 2 && trapped > 0, "vacuous: {ended} ended, {trapped} trapped");
}

#[test]
fn circles_of_phis_that_stand_for_one_value_are_found() {
    let text = "
func @irreducible(%c: i1, %x: i32) -> i32 {
entry:
  br %c, left(%x), right(%x)
left:
  %l: i32 = phi
  br %c, right(%l), out(%l, 1)
right:
  %r: i32 = phi
  br %c, left(%r), out(%r, 2)
out:
  %same: i32 = phi
  %number: i32 = phi
  %sum: i32 = add %same, %number
  ret %sum
}
";
    let m = parse_module(text).expect("well-formed");
    let original = m.functions.values().next().expect("one function");
    let mut func = original.clone();
    assert_eq!(remove_trivial_phis(&mut func), 0, "each has two operands");
    assert_eq!(remove_redundant_phis(&mut func), 3);
    verify(&m, &func).unwrap_or_else(|e| panic!("{e}"));
    let phis: Vec<&str> = func
        .layout
        .iter()
        .flat_map(|&b| func.block_insts(b))
        .filter(|&i| func.insts[i].op == Op::Phi)
        .map(|i| &*func.values[func.insts[i].results[0]].name)
        .collect();
    assert_eq!(phis, ["number"]);
    assert!(print_function(&m, &func).contains("add %x, %number"));
    for args in [[0, 5], [1, 5]] {
        let (found, expected) = (run(&m, &func, args), run(&m, original, args));
        assert_eq!(found, expected);
    }
}

/// What the paper's Figure 3 needs: on each side of the test the variable has a name of its own, which the code there
/// uses.
#[test]
fn names_on_the_edges_of_a_test_are_used_where_the_edges_lead() {
    let text = "
func @f(%x: i32) -> i32 {
entry:
  %c: i1 = icmp eq %x, 7
  br %c, yes, no
yes:
  %y: i32 = add %x, 1
  ret %y
no:
  ret %x
}
";
    let m = parse_module(text).expect("well-formed");
    let mut func = m.functions.values().next().expect("one function").clone();
    let code = Code::of(&func);
    let ssi = ssify(code.program(), &Strategy::CONDITIONAL_CONSTANTS);
    let done = materialize(&mut func, &code, &ssi);
    let shown = print_function(&m, &func);
    for line in ["  %x.1: i32, %x.2: i32 = sigma %x\n", "add %x.1, 1\n", "ret %x.2\n"] {
        assert!(shown.contains(line), "{line} is not in\n{shown}");
    }
    let named = func.values.keys().filter_map(|v| Some((func.value_name(v), done.version(v)?)));
    let of: Vec<_> =
        named.map(|(name, v)| (name, code.value(ssi.variable(v)).map(|of| func.value_name(of)))).collect();
    let x = Some("%x".to_owned());
    assert_eq!(of, [("%x.1".to_owned(), x.clone()), ("%x.2".to_owned(), x)]);
}
