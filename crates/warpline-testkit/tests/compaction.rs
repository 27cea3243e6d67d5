//! Stream compaction in loops, against the scalar function: packed and computed addresses, memory that overlaps, and
//! numbers of iterations around those of lanes.

use warpline_interp::{Machine, Val};
use warpline_ir::text::{parse_module, print_module};
use warpline_ir::{FuncId, Module};
use warpline_testkit::rng::SplitMix64;
use warpline_vectorize::driver::Tail;
use warpline_vectorize::loops::{CarryKind, Unit, VectorizedLoop, vectorize_loop};
use warpline_vectorize::width;
use warpline_vectorize::{Options, Packing, VectorizeError};

/// A loop over the elements of `a`, of which some go to `o`; what it does with one that is taken stands in `take`,
/// which ends with the next position `%k1`.
fn compacting(position: &str, take: &str) -> String {
    // A narrow position without promises must begin at 0.
    let start = if take.contains("zext") { "0" } else { "%k0" };
    format!(
        "module \"m\"

func @f(%n: i32, %k0: {position}, %o: ptr, %a: ptr) -> {position} {{
entry:
  br loop(0, {start})
loop:
  %i: i32 = phi
  %k: {position} = phi
  %more: i1 = icmp slt %i, %n
  br %more, body, end
body:
  %wide: i64 = sext %i
  %p: ptr = getelementptr i16, %a, %wide
  %x: i16 = load %p, align 1
  %taken: i1 = icmp sgt %x, 0
  br %taken, take, join(%k)
take:
{take}
  br join(%k1)
join:
  %kn: {position} = phi
  %next: i32 = add nsw %i, 1
  br loop(%next, %kn)
end:
  ret %k
}}
"
    )
}

/// A loop in which every iteration stores, and the position moves on only if the element counts.
fn all_store(position: &str, store: &str) -> String {
    format!(
        "module \"m\"

func @f(%n: i32, %k0: {position}, %o: ptr, %a: ptr) -> {position} {{
entry:
  br loop(0, %k0)
loop:
  %i: i32 = phi
  %k: {position} = phi
  %more: i1 = icmp slt %i, %n
  br %more, body, end
body:
  %wide: i64 = sext %i
  %p: ptr = getelementptr i16, %a, %wide
  %x: i16 = load %p, align 1
{store}
  %taken: i1 = icmp sgt %x, 0
  %one: i64 = zext %taken
  %kn: {position} = {}
  %next: i32 = add nsw %i, 1
  br loop(%next, %kn)
end:
  ret %k
}}
",
        match position {
            "ptr" => "getelementptr i16, %k, %one",
            "i64" => "add %k, %one",
            _ => "add nsw %k, %counts",
        }
    )
}

/// Ways to store, with the type of the position, what is done, and how many pairs of pointers are checked.
fn ways() -> Vec<(&'static str, String, usize)> {
    let wide = "  %q: ptr = getelementptr i16, %o, %k
  store %x, %q, align 1
  %k1: i64 = add %k, 1";
    let narrow = "  %w: i64 = sext %k
  %q: ptr = getelementptr i16, %o, %w
  store %x, %q, align 1
  %k1: i32 = add nsw %k, 1";
    let unsigned = "  %w: i64 = zext %k
  %q: ptr = getelementptr i16, %o, %w
  store %x, %q, align 1
  %k1: i32 = add %k, 1";
    let pointer = "  %y: i16 = xor %x, 5
  store %y, %k, align 1
  %k1: ptr = getelementptr i16, %k, i64 1";
    let next_first = "  %k1: i64 = add %k, 1
  %q: ptr = getelementptr i16, %o, %k1
  store %x, %q, align 1";
    [("i64", wide, 1), ("i32", narrow, 1), ("i32", unsigned, 1), ("ptr", pointer, 1), ("i64", next_first, 1)]
        .map(|(ty, take, checks)| (ty, compacting(ty, take), checks))
        .to_vec()
}

fn vectorized(
    module: &mut Module,
    width: u32,
    tail: Tail,
    packing: Packing,
) -> Result<(FuncId, VectorizedLoop), VectorizeError> {
    let scalar = module.function("f").expect("it is there");
    let mut copy = module.functions[scalar].clone();
    copy.name = "copy".into();
    let header = copy.layout[1];
    let copy = module.functions.push(copy);
    let unit = Unit { tail, ..Unit::new(header, width) };
    let machine = width::Machine { packing, ..width::Machine::default() };
    let options = Options { machine, ..Options::new(width, Vec::new(), "lanes") };
    vectorize_loop(module, copy, &unit, &options).map(|made| (copy, made))
}

/// Where `o` lies: apart from `a`, or so many bytes behind it.
#[derive(Copy, Clone, Debug)]
enum Place {
    Apart,
    At(i64),
}

/// What the function returns, as a distance from `o` if it is a pointer, and leaves in memory.
fn outcome(
    module: &Module,
    func: FuncId,
    ty: &str,
    place: Place,
    n: u32,
    seed: u64,
) -> (u64, Vec<Option<u8>>) {
    let mut machine = Machine::new(module);
    let mut rng = SplitMix64::new(seed);
    let input: Vec<u8> = (0..1000).map(|_| rng.next_u64() as u8).collect();
    let a = machine.memory.allocate_bytes(&input, 64).expect("there is room");
    let other = machine.memory.allocate_bytes(&[0xee; 1000], 64).expect("there is room");
    let o = match place {
        Place::Apart => other + 100,
        Place::At(by) => (a + 200).wrapping_add_signed(by),
    };
    let k0 = match ty {
        "ptr" => Val::ptr(o),
        _ => Val::int(3),
    };
    let code = machine.prepare_id(func);
    let run = machine.run_scalar(&code, &[Val::int(n.into()), k0, Val::ptr(o), Val::ptr(a + 200)]);
    let result = run.expect("it runs").scalar().expect("a number").defined().expect("it is defined") as u64;
    let result = if ty == "ptr" { result.wrapping_sub(o) } else { result };
    let mut memory = machine.memory.read(a, 1000).expect("it is there");
    memory.extend(machine.memory.read(other, 1000).expect("it is there"));
    (result, memory)
}

#[test]
fn elements_that_are_taken_lie_one_behind_the_other_whatever_overlaps() {
    for (ty, text, checks) in ways() {
        for (width, tail) in [(1, Tail::Masked), (2, Tail::Masked), (4, Tail::Scalar), (8, Tail::Masked)] {
            let mut module = parse_module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let (copy, made) = vectorized(&mut module, width, tail, Packing::Nothing)
                .unwrap_or_else(|e| panic!("{e}\n{text}"));
            let scalar = module.function("f").expect("it is there");
            assert!(made.carried.iter().any(|c| c.kind == CarryKind::Compaction), "{text}");
            assert_eq!(made.checks, if width == 1 { 0 } else { checks }, "{width} lanes: {text}");
            let w = width;
            for n in [0, 1, w - 1, w, w + 1, 2 * w + 1, 67] {
                let places = (-70..=140).step_by(3).map(Place::At).chain([Place::Apart, Place::At(0)]);
                for place in places {
                    let [expected, found] =
                        [scalar, copy].map(|f| outcome(&module, f, ty, place, n, u64::from(n) + 1));
                    assert!(expected == found, "{width} lanes, {n} iterations, {place:?}:\n{text}");
                }
            }
        }
    }
}

#[test]
fn what_an_iteration_stores_that_does_not_count_is_overwritten_by_the_next_one() {
    let wide = "  %q: ptr = getelementptr i16, %o, %k
  store %x, %q, align 1";
    let narrow = "  %w: i64 = sext %k
  %q: ptr = getelementptr i16, %o, %w
  store %x, %q, align 1
  %early: i1 = icmp sgt %x, 0
  %counts: i32 = select %early, 1, 0";
    let pointer = "  %y: i16 = xor %x, 5
  store %y, %k, align 1";
    for (ty, store) in [("i64", wide), ("i32", narrow), ("ptr", pointer)] {
        let text = all_store(ty, store);
        for (width, tail) in [(2, Tail::Masked), (4, Tail::Scalar), (8, Tail::Masked), (16, Tail::Masked)] {
            let mut module = parse_module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let packing = if width == 16 { Packing::Everything } else { Packing::Nothing };
            let (copy, made) =
                vectorized(&mut module, width, tail, packing).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let scalar = module.function("f").expect("it is there");
            assert!(made.carried.iter().any(|c| c.kind == CarryKind::Compaction), "{text}");
            for n in [0, 1, width - 1, width, width + 1, 2 * width + 1, 67] {
                let places = (-70..=140).step_by(3).map(Place::At).chain([Place::Apart, Place::At(0)]);
                for place in places {
                    let [expected, found] =
                        [scalar, copy].map(|f| outcome(&module, f, ty, place, n, u64::from(n) + 1));
                    assert!(expected == found, "{width} lanes, {n} iterations, {place:?}:\n{text}");
                }
            }
        }
    }
}

/// Elements of each size that are brought together in registers, by each way that machines have for it.
#[test]
fn elements_that_are_packed_in_registers_are_those_of_the_sequential_loop() {
    let (permuted, compressed) = ("llvm.x86.avx2.permd", "llvm.x86.avx512.mask.compress");
    let cases = [
        (32, 8, Packing::Permuted, permuted),
        (32, 32, Packing::Permuted, permuted),
        (64, 16, Packing::Permuted, "llvm.masked.compressstore"),
        (32, 16, Packing::Wide, compressed),
        (32, 64, Packing::Wide, compressed),
        (64, 8, Packing::Wide, compressed),
        (16, 32, Packing::Wide, "llvm.masked.compressstore"),
        (16, 64, Packing::Everything, compressed),
        (8, 64, Packing::Everything, compressed),
    ];
    for (bits, width, packing, instruction) in cases {
        let take = "  %q: ptr = getelementptr i16, %o, %k
  store %x, %q, align 1
  %k1: i64 = add %k, 1";
        let text = compacting("i64", take).replace("i16", &format!("i{bits}"));
        for tail in [Tail::Masked, Tail::Scalar] {
            let mut module = parse_module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let (copy, _) =
                vectorized(&mut module, width, tail, packing).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let code = print_module(&module);
            assert!(code.contains(instruction), "{bits} bits, {packing:?}:\n{code}");
            let scalar = module.function("f").expect("it is there");
            let most = 400 / (bits / 8);
            for n in [0, 1, width - 1, width, width + 1, 2 * width + 5].map(|n| n.min(most)) {
                for (place, seed) in [(Place::Apart, 1), (Place::Apart, 2), (Place::At(0), 3)] {
                    let [expected, found] =
                        [scalar, copy].map(|f| outcome(&module, f, "i64", place, n, u64::from(n) + seed));
                    assert!(expected == found, "{bits} bits, {packing:?}, {width} lanes, {n} iterations");
                }
            }
        }
    }
}

/// A position that is also used as a number; one that grows by two is refused.
#[test]
fn positions_that_are_numbers_too_are_those_of_the_sequential_loop() {
    let number = "  %low: i16 = trunc %k
  %y: i16 = mul %low, 3
  %q: ptr = getelementptr i16, %o, %k
  store %y, %q, align 1
  %k1: i64 = add %k, 1";
    let pairs = "  %q: ptr = getelementptr i16, %o, %k
  store %x, %q, align 1
  %one: i64 = add %k, 1
  %r: ptr = getelementptr i16, %o, %one
  store i16 7, %r, align 1
  %k1: i64 = add %k, 2";
    let text = compacting("i64", number);
    let module = parse_module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    for width in [2, 4, 8] {
        let mut module = module.clone();
        let (copy, _) = vectorized(&mut module, width, Tail::Masked, Packing::Nothing)
            .unwrap_or_else(|e| panic!("{e}\n{text}"));
        let scalar = module.function("f").expect("it is there");
        for n in [0, 1, width - 1, width, width + 1, 67] {
            let [expected, found] =
                [scalar, copy].map(|f| outcome(&module, f, "i64", Place::Apart, n, u64::from(n)));
            assert!(expected == found, "{width} lanes, {n} iterations:\n{text}");
        }
    }
    // Two stores for each that is taken: that they never meet is not seen.
    let text = compacting("i64", pairs);
    let mut module = parse_module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let error =
        vectorized(&mut module, 4, Tail::Masked, Packing::Nothing).map(|_| ()).expect_err("it is refused");
    assert!(error.to_string().contains("may access the same memory"), "{error}");
}

/// A position that is looked at elsewhere is none.
#[test]
fn what_is_seen_where_nothing_is_taken_is_refused() {
    let text = compacting(
        "i64",
        "  %q: ptr = getelementptr i16, %o, %k
  store %x, %q, align 1
  %k1: i64 = add %k, 1",
    );
    let text = text.replace(
        "  %next: i32",
        "  %r: ptr = getelementptr i16, %o, %k\n  store i16 1, %r, align 1\n  %next: i32",
    );
    let mut module = parse_module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let error =
        vectorized(&mut module, 4, Tail::Masked, Packing::Nothing).map(|_| ()).expect_err("it is refused");
    assert!(error.to_string().contains("may access the same memory"), "{error}");
}
