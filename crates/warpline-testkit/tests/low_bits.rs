//! Numbers of which only the low bits count from one iteration to the next, against the scalar function: all ways to
//! keep them, operations, widths and places that look at them.

use std::fmt::Write as _;

use warpline_interp::{Machine, Val};
use warpline_ir::text::parse_module;
use warpline_ir::{FuncId, Module};
use warpline_testkit::rng::SplitMix64;
use warpline_vectorize::loops::{CarryKind, Unit, vectorize_loop};
use warpline_vectorize::{Contract, Options};

const COUNT: u32 = 70;

/// How low bits are kept.
#[derive(Copy, Clone, PartialEq, Debug)]
enum Kept {
    /// `s = (s + x) & mask`.
    Behind,
    /// The same by a narrow sum that is extended.
    Extended,
    /// `s = (s & mask) + x`.
    Before,
    /// `s = sign-extended low bits of s, and x`.
    Signed,
}

#[derive(Copy, Clone, Debug)]
struct Form {
    all: u32,
    bits: u32,
    op: &'static str,
    kept: Kept,
    /// Whether `s` is stored in each iteration, before or behind the sum.
    stores: Option<bool>,
    /// Whether it is returned.
    returns: bool,
    start: u64,
}

fn text(form: Form) -> String {
    let Form { all, bits, op, kept, stores, returns, start } = form;
    let mask = (1_u64 << bits) - 1;
    let mut body = String::new();
    let mut line = |text: String| {
        let _ = writeln!(body, "  {text}");
    };
    match kept {
        Kept::Behind => {
            line(format!("%sum: i{all} = {op} %s, %y"));
            line(format!("%next: i{all} = and %sum, {mask}"));
        }
        Kept::Extended => {
            line(format!("%low: i{bits} = trunc %s"));
            line(format!("%z: i{bits} = trunc %y"));
            line(format!("%sum: i{bits} = {op} %low, %z"));
            line(format!("%next: i{all} = zext %sum"));
        }
        Kept::Before => {
            line(format!("%low: i{all} = and %s, {mask}"));
            line(format!("%next: i{all} = {op} %low, %y"));
        }
        Kept::Signed => {
            line(format!("%up: i{all} = shl %s, {}", all - bits));
            line(format!("%low: i{all} = ashr %up, {}", all - bits));
            line(format!("%next: i{all} = {op} %low, %y"));
        }
    }
    if let Some(before) = stores {
        let of = if before { "%s" } else { "%next" };
        line(format!("%t: i8 = trunc {of}"));
        line("store %t, %q, align 1".to_owned());
    }
    let (result, ret) = if returns { (format!(" -> i{all}"), "ret %s") } else { (String::new(), "ret") };
    format!(
        "module \"m\"

func @f(%n: i32, %o: ptr, %a: ptr){result} {{
entry:
  br loop(0, {start})
loop:
  %i: i32 = phi
  %s: i{all} = phi
  %more: i1 = icmp slt %i, %n
  br %more, body, end
body:
  %wide: i64 = sext %i
  %p: ptr = getelementptr i8, %a, %wide
  %q: ptr = getelementptr i8, %o, %wide
  %x: i8 = load %p, align 1
  %y: i{all} = sext %x
{body}  %j: i32 = add nsw %i, 1
  br loop(%j, %next)
end:
  {ret}
}}
"
    )
}

/// What the function returns, and leaves at `o`.
fn outcome(module: &Module, func: FuncId, n: u32) -> (Option<u128>, Vec<Option<u8>>) {
    let mut machine = Machine::new(module);
    let mut rng = SplitMix64::new(7);
    let input: Vec<u8> = (0..COUNT).map(|_| rng.next_u64() as u8).collect();
    let a = machine.memory.allocate_bytes(&input, 64).expect("there is room");
    let o = machine.memory.allocate_bytes(&[0xee; COUNT as usize], 64).expect("there is room");
    let code = machine.prepare_id(func);
    let run = machine.run_scalar(&code, &[Val::int(n.into()), Val::ptr(o), Val::ptr(a)]).expect("it runs");
    let result = run.scalar().map(|cell| cell.defined().expect("it is defined"));
    (result, machine.memory.read(o, COUNT.into()).expect("it is there"))
}

#[test]
fn numbers_of_which_low_bits_count_are_what_they_were() {
    let mut sums = 0;
    for (all, bits) in [(16, 8), (32, 8), (32, 16), (64, 8), (64, 16), (64, 32)] {
        for op in ["add", "sub", "xor", "mul", "or", "and"] {
            for kept in [Kept::Behind, Kept::Extended, Kept::Before, Kept::Signed] {
                for (stores, returns) in
                    [(None, true), (Some(false), false), (Some(true), false), (Some(false), true)]
                {
                    for start in [0, 3, (1 << bits) + 1] {
                        sums += compare(Form { all, bits, op, kept, stores, returns, start });
                    }
                }
            }
        }
    }
    println!("{sums} sums");
    assert!(sums > 600, "{sums} sums of low bits");
}

/// Compares for some numbers of lanes; how many are reductions or scans.
fn compare(form: Form) -> usize {
    let text = text(form);
    let mut sums = 0;
    for lanes in [2, 8, 16] {
        let mut module = parse_module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let scalar = module.function("f").expect("it is there");
        let mut copy = module.functions[scalar].clone();
        copy.name = "copy".into();
        let header = copy.layout[1];
        let copy = module.functions.push(copy);
        let options = Options::new(lanes, Vec::new(), "lanes");
        let unit = Unit { contract: Contract::Independent, ..Unit::new(header, lanes) };
        let Ok(made) = vectorize_loop(&mut module, copy, &unit, &options) else { continue };
        for n in [0, 1, lanes, lanes + 3, COUNT] {
            let (expected, found) = (outcome(&module, scalar, n), outcome(&module, copy, n));
            assert!(expected == found, "{form:?}, {lanes} lanes, {n} iterations:\n{text}");
        }
        let kinds = [CarryKind::Reduction, CarryKind::Scan];
        sums += usize::from(made.carried.iter().any(|c| kinds.contains(&c.kind)));
    }
    sums
}
