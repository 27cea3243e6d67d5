//! Threads in lockstep.

use super::*;

#[test]
fn lanes_of_a_diamond_meet_at_its_join() {
    let text = "
func @f(%c: i1) -> i64 {
entry:
  br %c, a, b
a:
  %x: i64 = ballot true
  br join(%x)
b:
  %y: i64 = ballot true
  br join(%y)
join:
  %p: i64 = phi
  %z: i64 = ballot true
  %s: i64 = shl %z, 8
  %r: i64 = or %s, %p
  ret %r
}
";
    let (run, _) = lockstep(text, 4, &[each([1, 0, 0, 1])]).expect("no trap");
    assert_eq!(returned(&run), [Some(0xf09), Some(0xf06), Some(0xf06), Some(0xf09)]);
    assert!(!run.races.any());
}

#[test]
fn lanes_leave_a_loop_together_however_many_iterations_they_made() {
    let text = "
func @f(%n: i32) -> i64 {
entry:
  br loop(0, 0)
loop:
  %i: i32 = phi
  %h: i64 = phi
  %b: i64 = ballot true
  %h4: i64 = shl %h, 4
  %h2: i64 = or %h4, %b
  %i2: i32 = add %i, 1
  %c: i1 = icmp ult %i2, %n
  br %c, loop(%i2, %h2), done
done:
  %d: i64 = ballot true
  %t: i64 = shl %h2, 4
  %r: i64 = or %t, %d
  ret %r
}
";
    let (run, _) = lockstep(text, 3, &[each([1, 3, 2])]).expect("no trap");
    assert_eq!(returned(&run), [Some(0x77), Some(0x7627), Some(0x767)]);
}

#[test]
fn lane_numbers_counts_and_reductions_see_the_lanes_that_execute_together() {
    let text = "
declare @warpline_any(i1) -> i1
declare @warpline_popcount(i1) -> i32
func @f(%c: i1) -> i32 {
entry:
  %i: i32 = lane_index
  %n: i32 = lane_count
  %odd: i1 = trunc %i
  br %odd, a, b
a:
  %any: i1 = call @warpline_any(%c)
  %all: i1 = all %c
  %x: i32 = zext %any
  %y: i32 = zext %all
  %y2: i32 = shl %y, 1
  %z: i32 = or %x, %y2
  br join(%z)
b:
  %k: i32 = call @warpline_popcount(%c)
  br join(%k)
join:
  %p: i32 = phi
  %s: i32 = shl %n, 8
  %t: i32 = shl %i, 16
  %u: i32 = or %s, %t
  %r: i32 = or %u, %p
  ret %r
}
";
    let (run, _) = lockstep(text, 4, &[each([1, 0, 1, 1])]).expect("no trap");
    assert_eq!(returned(&run), [Some(0x402), Some(0x1_0401), Some(0x2_0402), Some(0x3_0401)]);
    let alone = super::run(text, &[Val::bool(true)]);
    assert_eq!(alone, Ok(Val::int(0x101)), "a single thread is lane 0 of 1");
}

/// Paper 2, `convergence-natural-loop`: H is a header, B is skipped by some threads in some iterations.
#[test]
fn threads_that_skip_a_block_converge_in_the_same_iteration_only() {
    // Bit i of `%m`: whether the thread executes B in iteration i; `%n` iterations.
    let text = "
declare @mark(i32, i64) -> void
func @f(%m: i32, %n: i32) -> void {
entry:
  br h(0)
h:
  %i: i32 = phi
  %s: i32 = lshr %m, %i
  %c: i1 = trunc %s
  br %c, b, l
b:
  %x: i64 = ballot true
  call @mark(%i, %x)
  br l
l:
  %i2: i32 = add %i, 1
  %d: i1 = icmp ult %i2, %n
  br %d, h(%i2), exit
exit:
  ret
}
";
    // Thread 1: H B L H L. Thread 2: H L H B L H B L.
    let (_, effects) = lockstep(text, 2, &[each([0b001, 0b110]), each([2, 3])]).expect("no trap");
    let marks: Vec<(u32, u128, u128)> = effects
        .iter()
        .map(|e| match &e.kind {
            EffectKind::Call { args, .. } => {
                (e.lane, args[0].bits().unwrap_or(9), args[1].bits().unwrap_or(0))
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(marks, [(0, 0, 1), (1, 1, 2), (1, 2, 2)], "B1 and B2 are not converged");
}

/// Paper 2, `convergence-closed-path`: entry → P; P → Q; Q → R or S; R → S; S → P or exit; and entry → R makes R
/// an entry of the closed path, so that it may be the header.
const CLOSED_PATH: &str = "
declare @mark(i32, i64) -> void
func @f(%first: i1, %m: i32, %n: i32) -> void {
entry:
  br %first, p(0), r(0)
p:
  %ip: i32 = phi
  br q(%ip)
q:
  %iq: i32 = phi
  %sh: i32 = lshr %m, %iq
  %c: i1 = trunc %sh
  br %c, r(%iq), s(%iq)
r:
  %ir: i32 = phi
  br s(%ir)
s:
  %is: i32 = phi
  %b: i64 = ballot true
  call @mark(%is, %b)
  %i2: i32 = add %is, 1
  %d: i1 = icmp ult %i2, %n
  br %d, p(%i2), exit
exit:
  ret
}
";

fn marks_with(order: ChildOrder, args: &[LaneArg]) -> Vec<(u32, u128, u128)> {
    let module = parse(CLOSED_PATH);
    let mut machine = Machine::with_options(&module, Options { child_order: order, ..Options::default() });
    machine.set_host(HashingHost);
    let code = machine.prepare_id(main());
    machine.run_lockstep(&code, 2, LaneSet::first(2), args, None).expect("no trap");
    let mark = |e: &Effect| match &e.kind {
        EffectKind::Call { args, .. } => (e.lane, args[0].bits().unwrap_or(9), args[1].bits().unwrap_or(0)),
        other => panic!("{other:?}"),
    };
    machine.effects.iter().map(mark).collect()
}

#[test]
fn convergence_in_an_irreducible_cycle_depends_on_the_header() {
    // Both enter at P. Thread 1: P Q R S P …; thread 2: P Q S P Q R S.
    let args = [LaneArg::Same(Val::bool(true)), each([0b01, 0b10]), LaneArg::Same(Val::int(2))];
    // Depth-first through P: P is the header; both meet at every S.
    let p_header = marks_with(ChildOrder::Forward, &args);
    assert_eq!(p_header, [(0, 0, 3), (1, 0, 3), (0, 1, 3), (1, 1, 3)]);
    // Depth-first through R: R is the header, {P, Q, S} a child cycle. As in the paper's table, thread 2's first S
    // (S2) is executed before R by itself; the S after R is converged with thread 1's first (S1, S4).
    let r_header = marks_with(ChildOrder::Backward, &args);
    assert_eq!(r_header, [(1, 0, 2), (0, 0, 3), (1, 1, 3), (0, 1, 1)]);
}

#[test]
fn diverged_entries_into_an_irreducible_cycle_converge_at_its_header() {
    // Thread 1 enters at P, thread 2 at R (`convergence-divergent-outside`).
    let args = [each([1, 0]), LaneArg::Same(Val::int(0b11)), LaneArg::Same(Val::int(2))];
    // P is the header: thread 2 runs R S alone, then both are at P.
    assert_eq!(marks_with(ChildOrder::Forward, &args), [(1, 0, 2), (0, 0, 3), (1, 1, 3), (0, 1, 1)]);
    // R is the header: thread 1 runs P Q alone, then both execute R and S.
    assert_eq!(marks_with(ChildOrder::Backward, &args), [(0, 0, 3), (1, 0, 3), (0, 1, 3), (1, 1, 3)]);
}

#[test]
fn functions_are_called_by_converged_lanes_together() {
    let text = "
declare @g(i1) -> i64
func @f(%c: i1) -> i64 {
entry:
  br %c, a, b
a:
  %x: i64 = call @g(true)
  ret %x
b:
  %y: i64 = call @g(true)
  ret %y
}
func @g(%c: i1) -> i64 {
entry:
  %b: i64 = ballot %c
  ret %b
}
";
    let (run, _) = lockstep(text, 3, &[each([1, 0, 1])]).expect("no trap");
    assert_eq!(returned(&run), [Some(5), Some(2), Some(5)]);
}

#[test]
fn the_last_lane_wins_at_one_address_and_the_race_is_reported() {
    let text = "
func @f(%p: ptr, %x: i8) -> i8 {
entry:
  store %x, %p, align 1
  %v: i8 = load %p, align 1
  ret %v
}
";
    let module = parse(text);
    let mut machine = Machine::new(&module);
    let p = machine.memory.allocate(4, 1).expect("fits");
    let code = machine.prepare_id(main());
    let args = [LaneArg::Same(Val::ptr(p)), each([7, 8, 9])];
    let r = machine.run_lockstep(&code, 3, LaneSet(0b011), &args, None).expect("no trap");
    assert_eq!(returned(&r), [Some(8), Some(8), None]);
    let write = r.races.last_lane_wins.expect("both wrote");
    assert_eq!((write.address, write.first, write.second), (p, Some(0), 1));
    assert!(r.races.read_after_write.is_some());
    let own: Vec<Val> = (0..3).map(|i| Val::ptr(p + i)).collect();
    let args = [LaneArg::Each(own), each([7, 8, 9])];
    let r = machine.run_lockstep(&code, 3, LaneSet::first(3), &args, None).expect("no trap");
    assert!(!r.races.any(), "each lane has its own byte");
}

#[test]
fn a_lane_that_writes_what_another_read_races() {
    let text = "
func @f(%p: ptr, %x: i8) -> i8 {
entry:
  %v: i8 = load %p, align 1
  %z: i1 = icmp eq %x, 2
  br %z, w, done
w:
  store %x, %p, align 1
  br done
done:
  ret %v
}
";
    let module = parse(text);
    let mut machine = Machine::new(&module);
    let p = machine.memory.allocate_bytes(&[5], 1).expect("fits");
    let code = machine.prepare_id(main());
    let args = [LaneArg::Same(Val::ptr(p)), each([1, 2, 3])];
    let r = machine.run_lockstep(&code, 3, LaneSet::first(3), &args, None).expect("no trap");
    assert_eq!(r.races.write_after_read, Some(Race { address: p, first: None, second: 1 }));
    assert_eq!(r.races.read_after_write, None);
}

#[test]
fn allocas_belong_to_their_lane() {
    let text = "
func @f(%x: i8) -> i8 {
entry:
  %a: ptr = alloca i8, i32 1, align 1
  store %x, %a, align 1
  %v: i8 = load %a, align 1
  ret %v
}
";
    let (run, _) = lockstep(text, 3, &[each([7, 8, 9])]).expect("no trap");
    assert_eq!(returned(&run), [Some(7), Some(8), Some(9)]);
    assert!(!run.races.any());
}
