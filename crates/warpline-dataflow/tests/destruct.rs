//! From SSA form back to variables: the problems that Briggs et al. (*Practical improvements to the construction and
//! destruction of static single assignment form*, 1998) describe, and random functions.

use warpline_dataflow::ssa::copies::{dissolve_copies, edge_moves};
use warpline_dataflow::ssa::{construct, destruct, destruct_coalesced, remove_trivial_phis};
use warpline_interp::{Machine, Val};
use warpline_ir::text::{parse_module, print_function, print_module};
use warpline_ir::verify::{verify, verify_non_strict};
use warpline_ir::*;
use warpline_testkit::modules::{FunctionShape, module};
use warpline_testkit::programs::{ProgramOptions, generate};
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::walks::{agree, random_path, walk};

const SWAP: &str = "
func @f(%n: i32, %a: i32, %b: i32) -> i32 {
entry:
  br loop(0, %a, %b)
loop:
  %i: i32 = phi
  %x: i32 = phi
  %y: i32 = phi
  %next: i32 = add %i, 1
  %c: i1 = icmp ult %next, %n
  br %c, loop(%next, %y, %x), done
done:
  %z: i32 = mul %x, 1000
  %r: i32 = add %z, %y
  ret %r
}
";

/// %x is used behind the loop, where its next value is there already.
const LOST_COPY: &str = "
func @f(%n: i32, %a: i32, %b: i32) -> i32 {
entry:
  br loop(%a)
loop:
  %x: i32 = phi
  %next: i32 = add %x, %b
  %c: i1 = icmp ult %next, %n
  br %c, loop(%next), done
done:
  ret %x
}
";

/// The swap is in no single edge: each arm of the branch gives the two variables the values of the parameters in
/// another order.
const VIRTUAL_SWAP: &str = "
func @f(%n: i32, %a: i32, %b: i32) -> i32 {
entry:
  %c: i1 = icmp ult %n, 5
  br %c, left, right
left:
  br join(%a, %b)
right:
  br join(%b, %a)
join:
  %x: i32 = phi
  %y: i32 = phi
  %z: i32 = mul %x, 1000
  %r: i32 = add %z, %y
  ret %r
}
";

/// The function's results for a few arguments.
fn results(text: &str) -> Vec<Val> {
    let m = parse_module(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut machine = Machine::new(&m);
    let code = machine.prepare_id(FuncId::from_u32(0));
    let run = |n| machine.run_scalar(&code, &[Val::int(n), Val::int(1), Val::int(3)]).expect("no trap");
    [0, 1, 4, 7, 10].map(run).to_vec()
}

/// The text of a module with one function, after a pass.
fn after(text: &str, pass: impl FnOnce(&mut Function)) -> String {
    let mut m = parse_module(text).expect("well-formed");
    let mut func = m.functions[FuncId::from_u32(0)].clone();
    pass(&mut func);
    verify(&m, &func).unwrap_or_else(|e| panic!("{e}"));
    m.functions.clear();
    m.functions.push(func);
    print_module(&m)
}

fn is_unchanged_by_destruction(text: &str) {
    let before = results(text);
    let own = after(text, |f| assert!(!destruct(f, |_, _| true).is_empty()));
    assert_eq!(results(&own), before, "{own}");
    let shared = after(text, |f| _ = destruct_coalesced(f, |_, _| true).expect("strict"));
    assert!(!shared.contains("= phi"));
    assert_eq!(results(&shared), before, "{shared}");
}

#[test]
fn the_swap_problem() {
    is_unchanged_by_destruction(SWAP);
}

#[test]
fn the_lost_copy_problem() {
    is_unchanged_by_destruction(LOST_COPY);
}

#[test]
fn the_virtual_swap_problem() {
    is_unchanged_by_destruction(VIRTUAL_SWAP);
}

#[test]
fn a_swap_on_an_edge_takes_a_spare_place_as_moves() {
    let m = parse_module(SWAP).expect("well-formed");
    let func = &m.functions[FuncId::from_u32(0)];
    let back = func.blocks[Block::from_u32(1)].preds.iter().copied().max().expect("the back edge");
    let named = |v: Value| func.value_name(v);
    let spare = func.params[0];
    let moves = edge_moves(func, back, |_| spare);
    let text: Vec<String> =
        moves.iter().map(|&(to, from)| format!("{} <- {}", named(to), named(from))).collect();
    assert_eq!(text, ["%i <- %next", "%n <- %x", "%x <- %y", "%y <- %n"]);
}

#[test]
fn a_form_that_is_not_strict_is_refused_by_the_value_and_one_variable_per_phi_is_possible() {
    let text = "func @f(%c: i1) -> i32 {
entry:
  br %c, set, join(%v)
set:
  %v: i32 = freeze 7
  br join(%v)
join:
  %p: i32 = phi
  ret %p
}
";
    let m = parse_module(text).expect("well-formed");
    let mut func = m.functions[FuncId::from_u32(0)].clone();
    let refused = destruct_coalesced(&mut func, |_, _| true).expect_err("not strict");
    assert_eq!(func.value_name(refused.value), "%v");
    assert_eq!(print_function(&m, &func), text, "it stays as it was");
    assert_eq!(destruct(&mut func, |_, _| true).len(), 1);
    verify_non_strict(&m, &func).expect("sound but for dominance");
}

#[test]
fn a_use_before_the_definition_in_its_own_block_is_refused() {
    let text = "func @f(%c: i1) -> i32 {
entry:
  br loop(0)
loop:
  %p: i32 = phi
  %u: i32 = freeze %v
  %v: i32 = add %p, 1
  br %c, loop(%v), out
out:
  ret %u
}
";
    let m = parse_module(text).expect("well-formed");
    let mut func = m.functions[FuncId::from_u32(0)].clone();
    let refused = destruct_coalesced(&mut func, |_, _| true).expect_err("not strict");
    assert_eq!(func.value_name(refused.value), "%v");
}

fn count(func: &Function, pred: impl Fn(&Op) -> bool) -> usize {
    let all = func.layout.iter().flat_map(|&b| func.block_insts(b));
    all.filter(|&i| pred(&func.insts[i].op)).count()
}

fn first_and_count(default: u64) -> (u64, u64) {
    let number = |name: &str| std::env::var(name).ok().and_then(|s| s.parse().ok());
    (number("WARPLINE_SEED").unwrap_or(0), number("WARPLINE_PROGRAMS").unwrap_or(default))
}

/// Random functions, whose variables become values; copies of values disappear, so that φ operands live on beside
/// their φs.
#[test]
fn functions_with_few_variables_show_instructions_what_those_with_phis_did() {
    let (first, programs) = first_and_count(800);
    let shape =
        FunctionShape { max_blocks: 10, max_insts: 6, max_vars: 5, accesses: 4, ..FunctionShape::default() };
    let (mut shared, mut copies, mut own, mut few) = (0, 0, 0, 0);
    for seed in first..first + programs {
        let mut rng = SplitMix64::new(seed);
        let m = module(&mut rng, &shape);
        for original in m.functions.values() {
            let mut before = original.clone();
            construct(&mut before, |_| true);
            if rng.chance(1, 2) {
                dissolve_copies(&mut before);
                remove_trivial_phis(&mut before);
            }
            let keep = if rng.chance(1, 3) { rng.next_u64() } else { 0 };
            let chosen = |_: &Function, p: Inst| keep >> (p.as_u32() % 64) & 1 == 0;
            let mut after = before.clone();
            let done = destruct_coalesced(&mut after, chosen).expect("strict");
            let shown =
                || format!("seed {seed}\n{}{}", print_function(&m, &before), print_function(&m, &after));
            verify(&m, &after).unwrap_or_else(|e| panic!("{e}, {}", shown()));
            assert_eq!(
                count(&after, |op| *op == Op::Phi) + done.phis.len(),
                count(&before, |op| *op == Op::Phi)
            );
            for _ in 0..4 {
                let path = random_path(&before, &mut rng);
                let (known, blocks) = (before.insts.len(), before.blocks.len());
                let phis: Vec<Inst> = done.phis.iter().filter_map(|&(v, _)| before.def_inst(v)).collect();
                let a = walk(&before, &path, known, blocks);
                let mut b = walk(&after, &path, known, blocks);
                b.retain(|step| !phis.contains(&step.0));
                assert!(agree(&a, &b, false), "path {path:?}, {}", shown());
            }
            shared += done.shared;
            copies += done.copies;
            own += done.phis.len();
            few += done.variables;
        }
    }
    println!("{own} φs became {few} variables; {shared} operands share them, {copies} are copied");
    assert!(shared as u64 > programs && copies as u64 > programs && few < own * 9 / 10);
}

/// Programs that can be executed: φs become variables, variables φs, and variables again.
#[test]
fn programs_compute_the_same_with_variables_phis_and_variables_again() {
    let (first, programs) = first_and_count(60);
    let options = ProgramOptions { effects: false, ..ProgramOptions::default() };
    let (mut vars, mut again, mut copies) = (0, 0, 0);
    for seed in first..first + programs {
        let program = generate(seed, &options);
        let mut with_vars = program.function().clone();
        let made = destruct_coalesced(&mut with_vars, |_, _| true).expect("strict");
        let mut phis = with_vars.clone();
        construct(&mut phis, |_| true);
        let mut back = phis.clone();
        let second = destruct_coalesced(&mut back, |_, _| true).expect("strict");
        for f in [&with_vars, &phis, &back] {
            verify(&program.module, f).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            let mut rng = SplitMix64::new(seed);
            for _ in 0..4 {
                let path = random_path(program.function(), &mut rng);
                let original = program.function();
                let (known, blocks) = (original.insts.len(), original.blocks.len());
                let a = walk(original, &path, known, blocks);
                let mut b = walk(f, &path, known, blocks);
                b.retain(|step| original.insts[step.0].op != Op::Phi);
                assert!(agree(&a, &b, false), "seed {seed}\n{}", print_function(&program.module, f));
            }
        }
        vars += made.variables;
        again += second.variables;
        copies += second.copies;
    }
    println!("{vars} variables, {again} after construction and destruction, {copies} copies");
    assert!(again <= vars * 11 / 10, "{vars} variables became {again}");
}
