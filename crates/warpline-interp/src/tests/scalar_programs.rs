//! Scalar functions as one thread.

use super::*;

const SUM: &str = "
func @sum(%n: i32) -> i32 {
entry:
  br loop(0, 0)
loop:
  %i: i32 = phi
  %s: i32 = phi
  %c: i1 = icmp ult %i, %n
  br %c, body, done
body:
  %s2: i32 = add %s, %i
  %i2: i32 = add nuw %i, 1
  br loop(%i2, %s2)
done:
  ret %s
}
";

#[test]
fn a_loop_sums_and_runs_out_of_fuel() {
    assert_eq!(run(SUM, &[Val::int(10)]), Ok(Val::int(45)));
    let module = parse(SUM);
    let mut machine = Machine::with_options(&module, Options { fuel: 100, ..Options::default() });
    let code = machine.prepare_id(main());
    let trap = machine.run_scalar(&code, &[Val::int(1000)]).expect_err("too long");
    assert_eq!(trap.kind, TrapKind::OutOfFuel);
    assert_eq!(&*trap.function, "sum");
}

#[test]
fn phis_of_one_block_are_assigned_at_once() {
    let text = "
func @swap(%n: i32) -> i32 {
entry:
  br loop(1, 2, 0)
loop:
  %a: i32 = phi
  %b: i32 = phi
  %i: i32 = phi
  %i2: i32 = add %i, 1
  %c: i1 = icmp ult %i2, %n
  br %c, loop(%b, %a, %i2), done
done:
  %t: i32 = mul %a, 10
  %r: i32 = add %t, %b
  ret %r
}
";
    assert_eq!(run(text, &[Val::int(1)]), Ok(Val::int(12)));
    assert_eq!(run(text, &[Val::int(2)]), Ok(Val::int(21)));
    assert_eq!(run(text, &[Val::int(7)]), Ok(Val::int(12)));
}

#[test]
fn branches_on_poison_and_undef_trap_and_frozen_ones_do_not() {
    let text = |cond: &str| {
        format!(
            "
func @f(%x: i8) -> i8 {{
entry:
  %p: i8 = add nuw %x, 255
  %c0: i1 = icmp eq %p, 255
  %c1: i1 = freeze %c0
  br {cond}, a, b
a:
  ret 1
b:
  ret 2
}}
"
        )
    };
    assert_eq!(run(&text("%c0"), &[Val::int(0)]), Ok(Val::int(1)));
    assert_eq!(run(&text("%c0"), &[Val::int(1)]), Err(TrapKind::BranchOnUndefined(State::Poison)));
    assert_eq!(run(&text("%c1"), &[Val::int(1)]), Ok(Val::int(2)));
    assert_eq!(run(&text("undef"), &[Val::int(1)]), Err(TrapKind::BranchOnUndefined(State::Undef)));
}

#[test]
fn memory_accesses_are_checked() {
    let text = "
func @f(%p: ptr, %i: i64) -> i32 {
entry:
  %q: ptr = getelementptr i32, %p, %i
  %v: i32 = load %q, align 4
  %w: i32 = add %v, 1
  store %w, %q, align 4
  ret %v
}
";
    let module = parse(text);
    let mut machine = Machine::new(&module);
    let p = machine.memory.allocate_bytes(&[1, 0, 0, 0, 2, 0, 0, 0], 4).expect("fits");
    let code = machine.prepare_id(main());
    let mut at = |p: u64, i: u64| machine.run_scalar(&code, &[Val::ptr(p), Val::ptr(i)]).map_err(|t| t.kind);
    assert_eq!(at(p, 1), Ok(Val::int(2)));
    assert_eq!(at(p, 1), Ok(Val::int(3)));
    assert_eq!(at(p, 2), Err(TrapKind::OutOfBounds { address: p + 8, size: 4 }));
    assert_eq!(at(p, u64::MAX), Err(TrapKind::OutOfBounds { address: p - 4, size: 4 }));
    assert_eq!(at(p + 1, 0), Err(TrapKind::Misaligned { address: p + 1, align: 4 }));
    assert_eq!(at(0, 0), Err(TrapKind::OutOfBounds { address: 0, size: 4 }));
}

#[test]
fn inbounds_addresses_outside_of_their_object_are_poison() {
    let text = "
func @f(%p: ptr, %i: i64) -> ptr {
entry:
  %q: ptr = getelementptr inbounds i32, %p, %i
  ret %q
}
";
    let module = parse(text);
    let mut machine = Machine::new(&module);
    let p = machine.memory.allocate(8, 4).expect("fits");
    let code = machine.prepare_id(main());
    let mut at = |i: i64| machine.run_scalar(&code, &[Val::ptr(p), Val::signed(64, i.into())]);
    assert_eq!(at(2), Ok(Val::ptr(p + 8)), "one behind the end is still inside");
    assert_eq!(at(3), Ok(Val::poison(1)));
    assert_eq!(at(-1), Ok(Val::poison(1)));
    assert_eq!(at(i64::MIN), Ok(Val::poison(1)), "the product wraps");
}

#[test]
fn globals_have_their_bytes_and_constants_are_read_only() {
    let text = r#"
constant @table: [2 x i16] align 2 = "\01\00\02\01"
global @counter: i32 align 4 = "\05\00\00\00"
func @f(%i: i64) -> i16 {
entry:
  %p: ptr = getelementptr [2 x i16], ptr @table, i64 0, %i
  %v: i16 = load %p, align 2
  %c: i32 = load ptr @counter, align 4
  %d: i32 = add %c, 1
  store %d, ptr @counter, align 4
  %t: i16 = trunc %d
  %r: i16 = add %v, %t
  ret %r
}
func @g(%i: i64) -> i16 {
entry:
  store i8 1, ptr @table, align 1
  ret 0
}
"#;
    let module = parse(text);
    let mut machine = Machine::new(&module);
    let code = machine.prepare_id(main());
    assert_eq!(machine.run_scalar(&code, &[Val::int(1)]), Ok(Val::int(0x0102 + 6)));
    assert_eq!(machine.run_scalar(&code, &[Val::int(0)]), Ok(Val::int(1 + 7)));
    let code = machine.prepare_id(FuncId::from_u32(1));
    let trap = machine.run_scalar(&code, &[Val::int(0)]).expect_err("read-only");
    assert!(matches!(trap.kind, TrapKind::ReadOnly { .. }));
}

#[test]
fn calls_recurse_to_a_limit_and_go_through_pointers() {
    let text = "
declare @fact(i64) -> i64
func @f(%n: i64) -> i64 {
entry:
  %a: ptr = select true, ptr @fact, ptr @fact
  %r: i64 = call %a(%n) [unknown]
  ret %r
}
func @fact(%n: i64) -> i64 {
entry:
  %z: i1 = icmp eq %n, 0
  br %z, done, more
done:
  ret 1
more:
  %m: i64 = sub %n, 1
  %r: i64 = call @fact(%m)
  %p: i64 = mul %r, %n
  ret %p
}
";
    assert_eq!(run(text, &[Val::int(10)]), Ok(Val::int(3_628_800)));
    assert_eq!(run(text, &[Val::int(100_000)]), Err(TrapKind::RecursionLimit));
}

#[test]
fn unknown_calls_go_to_the_host_and_are_logged() {
    let text = "
declare @mystery(i32) -> i32
func @f(%x: i32) -> i32 {
entry:
  %r: i32 = call @mystery(%x)
  ret %r
}
";
    assert_eq!(run(text, &[Val::int(1)]), Err(TrapKind::UnsupportedCall("mystery".into())));
    let module = parse(text);
    let mut machine = Machine::new(&module);
    machine.set_host(HashingHost);
    let code = machine.prepare_id(main());
    let r = machine.run_scalar(&code, &[Val::int(1)]).expect("the host answers");
    let kind = EffectKind::Call { name: "mystery".into(), args: vec![Val::int(1)], result: r };
    assert_eq!(machine.effects, [Effect { lane: 0, kind }]);
}

#[test]
fn vectors_and_aggregates_keep_poison_per_element() {
    let text = "
func @f(%x: i8) -> i8 {
entry:
  %a: <4 x i8> = insertelement <4 x i8> <1, 2, 3, 4>, %x, i32 1
  %b: <4 x i8> = add nuw %a, <200, 200, 200, 200>
  %s: <2 x i8> = shufflevector %b, <4 x i8> poison [1, 2]
  %e: i8 = extractelement %s, i32 1
  %g: { i8, <2 x i8> } = insertvalue poison, %s [1]
  %h: { i8, <2 x i8> } = insertvalue %g, %e [0]
  %v: <2 x i8> = extractvalue %h [1]
  %r: i8 = extractelement %v, i32 0
  ret %r
}
";
    assert_eq!(run(text, &[Val::int(7)]), Ok(Val::int(207)));
    assert_eq!(run(text, &[Val::int(100)]), Ok(Val::poison(1)));
    let whole = text.replace("-> i8", "-> <4 x i8>").replace("ret %r", "ret %b");
    let poison_one = Val::of_cells(&[Cell::new(201), Cell::POISON, Cell::new(203), Cell::new(204)]);
    assert_eq!(run(&whole, &[Val::int(100)]), Ok(poison_one));
}

#[test]
fn intrinsics_compute_on_scalars_vectors_and_memory() {
    let text = "
declare @llvm.fma.v2f32(<2 x float>, <2 x float>, <2 x float>) -> <2 x float>
declare @llvm.umul.with.overflow.i8(i8, i8) -> { i8, i1 }
declare @llvm.vector.reduce.add.v4i32(<4 x i32>) -> i32
declare @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1) -> void
declare @sqrtf(float) -> float
func @f(%x: i8, %y: float) -> i32 {
entry:
  %o: { i8, i1 } = call @llvm.umul.with.overflow.i8(%x, 16)
  %of: i1 = extractvalue %o [1]
  %a: ptr = alloca <4 x i32>, i32 1, align 16
  %b: ptr = alloca <4 x i32>, i32 1, align 16
  store <4 x i32> <1, 2, 3, 4>, %a, align 16
  call @llvm.memcpy.p0.p0.i64(%b, %a, 16, false)
  %v: <4 x i32> = load %b, align 16
  %s: i32 = call @llvm.vector.reduce.add.v4i32(%v)
  %q: float = call @sqrtf(%y)
  %i: i32 = fptosi %q
  %z: i32 = zext %of
  %t: i32 = mul %z, 1000
  %u: i32 = add %s, %i
  %r: i32 = add %u, %t
  ret %r
}
";
    assert_eq!(run(text, &[Val::int(15), Val::f32(49.0)]), Ok(Val::int(17)));
    assert_eq!(run(text, &[Val::int(16), Val::f32(49.0)]), Ok(Val::int(1017)));
    assert_eq!(run(text, &[Val::int(1), Val::f32(-1.0)]), Ok(Val::poison(1)), "NaN to integer");
}

#[test]
fn masked_memory_operations_take_both_forms_of_their_alignment() {
    for (params, args) in [("ptr, <4 x i1>", "%p, %m"), ("ptr, i32, <4 x i1>", "%p, 4, %m")] {
        let text = format!(
            "
declare @llvm.masked.load.v4i32.p0({params}, <4 x i32>) -> <4 x i32>
declare @llvm.masked.store.v4i32.p0(<4 x i32>, {params}) -> void
func @f(%p: ptr, %m: <4 x i1>) -> <4 x i32> {{
entry:
  %v: <4 x i32> = call @llvm.masked.load.v4i32.p0({args}, <9, 9, 9, 9>)
  %w: <4 x i32> = add %v, <1, 1, 1, 1>
  call @llvm.masked.store.v4i32.p0(%w, {args})
  ret %v
}}
"
        );
        let module = parse(&text);
        let mut machine = Machine::new(&module);
        // Lane 3 would be out of bounds.
        let p = machine.memory.allocate_bytes(&[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0], 4).expect("fits");
        let mask = Val::of_cells(&[Cell::new(1), Cell::ZERO, Cell::new(1), Cell::ZERO]);
        let code = machine.prepare_id(main());
        let r = machine.run_scalar(&code, &[Val::ptr(p), mask]).expect("only lanes 0 and 2 access");
        let bits: Vec<u128> = r.cells.iter().map(|c| c.bits).collect();
        assert_eq!(bits, [1, 9, 3, 9]);
        let bytes: Vec<u8> = machine.memory.read(p, 12).expect("mine").into_iter().flatten().collect();
        assert_eq!(bytes, [2, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0]);
    }
}

#[test]
fn a_gather_reads_only_where_its_mask_is_true() {
    let text = "
declare @llvm.masked.gather.v2i8.v2p0(<2 x ptr>, i32, <2 x i1>, <2 x i8>) -> <2 x i8>
func @f(%p: ptr) -> <2 x i8> {
entry:
  %q: <2 x ptr> = getelementptr i8, %p, <2 x i64> <1, 100>
  %v: <2 x i8> = call @llvm.masked.gather.v2i8.v2p0(%q, 1, <true, false>, <7, 8>)
  ret %v
}
";
    let module = parse(text);
    let mut machine = Machine::new(&module);
    let p = machine.memory.allocate_bytes(&[1, 2], 1).expect("fits");
    let code = machine.prepare_id(main());
    let r = machine.run_scalar(&code, &[Val::ptr(p)]).expect("no trap");
    assert_eq!(r, Val::of_cells(&[Cell::new(2), Cell::new(8)]));
}

#[test]
fn uninitialised_memory_is_undef_and_bytes_carry_poison() {
    let text = "
func @f(%x: i8) -> i32 {
entry:
  %a: ptr = alloca i32, i32 1, align 4
  %p: i8 = add nuw %x, 1
  %q: ptr = getelementptr i8, %a, i64 1
  store %p, %q, align 1
  %v: i32 = load %a, align 4
  ret %v
}
";
    assert_eq!(run(text, &[Val::int(1)]), Ok(Val::from(Cell::UNDEF)));
    assert_eq!(run(text, &[Val::int(255)]), Ok(Val::poison(1)));
}

#[test]
fn variables_are_poison_until_written_and_copies_are_parallel() {
    let text = "
func @f(%x: i8, %c: i1) -> i8 {
  var $a: i8
entry:
  br %c, w, r
w:
  write $a, %x
  br r
r:
  %v: i8 = read $a
  %p: i8, %q: i8 = copy i8 3, %v
  ret %q
}
";
    assert_eq!(run(text, &[Val::int(5), Val::bool(true)]), Ok(Val::int(5)));
    assert_eq!(run(text, &[Val::int(5), Val::bool(false)]), Ok(Val::poison(1)));
}

#[test]
fn switches_take_the_case_or_the_default() {
    let text = "
func @f(%x: i8) -> i8 {
entry:
  switch %x, other(0) [-1: other(1), 3: other(2)]
other:
  %r: i8 = phi
  ret %r
}
";
    assert_eq!(run(text, &[Val::int(255)]), Ok(Val::int(1)));
    assert_eq!(run(text, &[Val::int(3)]), Ok(Val::int(2)));
    assert_eq!(run(text, &[Val::int(4)]), Ok(Val::int(0)));
}

#[test]
fn what_is_not_modelled_traps_only_when_it_is_reached() {
    let text = "
func @f(%c: i1, %p: ptr) -> i32 {
entry:
  br %c, a, b
a:
  %r: i32 = opaque \"atomicrmw\" %p, i32 1 [reads writes atomic]
  ret %r
b:
  ret 0
}
";
    assert_eq!(run(text, &[Val::bool(false), Val::ptr(0)]), Ok(Val::int(0)));
    assert_eq!(run(text, &[Val::bool(true), Val::ptr(0)]), Err(TrapKind::Unsupported("`atomicrmw`".into())));
}

#[test]
fn a_variable_holds_poison_or_undef_until_it_is_written() {
    let read = |unwritten: &str| {
        format!(
            "func @f() -> i32 {{\n  var $x: i32\n  var $y: i32{unwritten}\nb0:\n  %r: i32 = read $y\n  write \
             $y, 1\n  ret %r\n}}\n"
        )
    };
    assert_eq!(run(&read(""), &[]), Ok(Val::poison(1)));
    assert_eq!(run(&read(" = undef"), &[]).map(|v| v.cells.to_vec()), Ok(vec![Cell::UNDEF]));
}
