//! Checks of bounds that are made before a loop: the loop does what it did, whatever the indices, the lengths and the
//! numbers of iterations are, and ends the program where it did.

use warpline_interp::{Machine, Val};
use warpline_ir::text::parse_module;
use warpline_ir::{FuncId, Module};
use warpline_vectorize::Options;
use warpline_vectorize::loops::{Unit, vectorize_loop};

/// Adds 1 to bytes behind an index that is checked.
const CHECKED: &str = "module \"m\"

declare @panic(TYPE) [unknown]

func @add(%n: TYPE, %from: TYPE, %base: TYPE, %len: TYPE, %a: ptr, %b: ptr) {
entry:
  br loop(%from)
loop:
  %i: TYPE = phi
  %more: i1 = MORE
  br %more, body, end
body:
  %index: TYPE = INDEX
  %ok: i1 = OK
  br %ok, TARGETS
within:
  %p: ptr = getelementptr i8, %a, %index
  %x: i8 = load %p, align 1
  %y: i8 = add %x, 1
  %q: ptr = getelementptr i8, %b, %i
  store %y, %q, align 1
  %next: TYPE = add %i, STEP
  br loop(%next)
beyond:
  call @panic(%index)
  unreachable
end:
  ret
}
";

/// The bytes that are around what pointers point to.
const AROUND: u64 = 64;

/// How a run ended.
#[derive(PartialEq, Debug)]
enum End {
    Returned,
    Panicked,
    /// It had accessed what is not there: a program may not.
    Invalid,
}

/// What the function leaves in memory, and how it ends.
fn run(module: &Module, func: FuncId, bits: u32, args: [u128; 4]) -> (End, Vec<Option<u8>>) {
    let mut machine = Machine::new(module);
    let bytes: Vec<u8> = (0..200).map(|k: u32| (k * k + 3 * k) as u8).collect();
    let a = machine.memory.allocate_bytes(&bytes, 64).expect("there is room");
    let b = machine.memory.allocate_bytes(&[0xee; 200], 64).expect("there is room");
    let code = machine.prepare_id(func);
    let mask = u128::MAX >> (128 - bits);
    let mut all: Vec<Val> = args.iter().map(|&x| Val::int(x & mask)).collect();
    all.extend([Val::ptr(a + AROUND), Val::ptr(b + AROUND)]);
    let end = match machine.run_scalar(&code, &all) {
        Ok(_) => End::Returned,
        Err(trap) if trap.kind.to_string().contains("access") => End::Invalid,
        Err(_) => End::Panicked,
    };
    (end, machine.memory.read(b, 200).expect("it is there"))
}

/// A form of the loop: the test, the step, the index, the check and its targets.
type Form = (&'static str, &'static str, &'static str, &'static str, &'static str);

const FORMS: [Form; 5] = [
    ("icmp ult %i, %n", "1", "add %i, %base", "icmp ult %index, %len", "within, beyond"),
    ("icmp ult %i, %n", "1", "sub %base, %i", "icmp ugt %len, %index", "within, beyond"),
    ("icmp slt %i, %n", "1", "add %i, %base", "icmp uge %index, %len", "beyond, within"),
    ("icmp sgt %i, %n", "-1", "add %i, %base", "icmp ult %index, %len", "within, beyond"),
    ("icmp sgt %i, %n", "-1", "sub %base, %i", "icmp ule %len, %index", "beyond, within"),
];

#[test]
fn loops_do_what_they_did_and_end_the_program_where_they_did() {
    let mut passed = 0;
    let mut failed = 0;
    for (test, step, index, check, targets) in FORMS {
        for bits in [8, 64] {
            let text = CHECKED
                .replace("MORE", test)
                .replace("STEP", step)
                .replace("INDEX", index)
                .replace("OK", check)
                .replace("TARGETS", targets)
                .replace("TYPE", &format!("i{bits}"));
            let mut module = parse_module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let scalar = module.function("add").expect("it is there");
            let mut copy = module.functions[scalar].clone();
            copy.name = "copy".into();
            let header = copy.layout[1];
            let copy = module.functions.push(copy);
            let made = vectorize_loop(
                &mut module,
                copy,
                &Unit::new(header, 4),
                &Options::new(4, Vec::new(), "lanes"),
            );
            made.unwrap_or_else(|e| panic!("{e}\n{text}"));
            let wraps = [0, 1, 2, 5, u128::MAX, u128::MAX - 1, u128::MAX - 4, 20];
            let ends = [0, 3, 9, 21, u128::MAX - 2];
            for (from, n) in [(0, 0), (0, 1), (0, 9), (3, 14), (2, 19), (12, 2), (19, 0), (9, u128::MAX - 3)]
            {
                for base in wraps {
                    for len in wraps.into_iter().chain(ends) {
                        let args = [n, from, base, len];
                        let [expected, found] = [scalar, copy].map(|func| run(&module, func, bits, args));
                        match expected.0 {
                            End::Returned => passed += 1,
                            End::Panicked => failed += 1,
                            End::Invalid => continue,
                        }
                        assert_eq!(expected, found, "n, from, base, len: {args:?}\n{text}");
                    }
                }
            }
        }
    }
    assert!(passed > 500 && failed > 500, "{passed} pass, {failed} do not");
}
