//! Linearized functions.

use super::*;

fn lanes(
    text: &str,
    width: u32,
    entry: LaneSet,
    args: &[LaneArg],
    inactive: Inactive,
) -> Result<(Run, Vec<Effect>), TrapKind> {
    let module = parse(text);
    let mut machine = Machine::with_options(&module, Options { inactive, ..Options::default() });
    machine.set_host(HashingHost);
    let code = machine.prepare_id(main());
    let run = machine.run_lanes(&code, width, entry, args, None).map_err(|t| t.kind)?;
    Ok((run, std::mem::take(&mut machine.effects)))
}

/// `if (c) r = 100 / x else r = x + 1`, linearized by hand.
const DIAMOND: &str = "
declare @effect(i32) -> i32
func @f(%c: i1, %x: i32) -> i32 {
entry:
  %m: i1 = mask_and true, %c
  %n: i1 = mask_andnot true, %c
  br a
a mask %m:
  %d: i32 = udiv 100, %x
  %e: i32 = call @effect(%d)
  br b
b mask %n:
  %s: i32 = add %x, 1
  br join
join:
  %r: i32 = blend %m, %d, %s
  ret %r
}
";

#[test]
fn masked_instructions_take_effect_where_their_mask_is_true() {
    for inactive in [Inactive::Poison, Inactive::Random(5)] {
        let args = [each([1, 0, 1, 0]), each([5, 0, 20, 6])];
        let (run, effects) = lanes(DIAMOND, 4, LaneSet::first(4), &args, inactive).expect("no trap");
        assert_eq!(returned(&run), [Some(20), Some(1), Some(5), Some(7)]);
        assert_eq!(effects.iter().map(|e| e.lane).collect::<Vec<_>>(), [0, 2]);
        let visited: Vec<u64> = run.visited.values().map(|s| s.0).collect();
        assert_eq!(visited, [0b1111, 0b0101, 0b1010, 0b1111]);
    }
    let args = [each([1, 0, 1, 0]), each([5, 0, 0, 6])];
    let trap = lanes(DIAMOND, 4, LaneSet::first(4), &args, Inactive::Poison).map(|_| ());
    assert_eq!(trap, Err(TrapKind::DivisionByZero), "an active lane divides by zero");
}

#[test]
fn poison_masks_are_errors() {
    let args = [LaneArg::Each(vec![Val::bool(true), Val::poison(1)]), each([5, 5])];
    let trap = lanes(DIAMOND, 2, LaneSet::first(2), &args, Inactive::Poison).map(|_| ());
    assert_eq!(trap, Err(TrapKind::UndefinedMask(State::Poison)));
}

/// A divergent loop made uniform: lanes leave by their mask, the loop runs while any is left.
const LOOP: &str = "
func @f(%n: i32) -> i32 {
  var $out: i32
entry:
  %any0: i1 = mask_any true
  br loop(0, true)
loop mask %live:
  %i: i32 = phi
  %live: i1 = phi
  %i2: i32 = add %i, 1
  %c: i1 = icmp ult %i2, %n
  %stay: i1 = mask_and %live, %c
  %exit: i1 = mask_andnot %live, %c
  %old: i32 = read $out
  %new: i32 = blend %exit, %i2, %old
  write $out, %new
  %go: i1 = mask_any %stay
  br %go, loop(%i2, %stay), done
done:
  %r: i32 = read $out
  ret %r
}
";

#[test]
fn a_divergent_loop_runs_until_no_lane_is_left() {
    for inactive in [Inactive::Poison, Inactive::Random(1)] {
        let (run, _) = lanes(LOOP, 3, LaneSet::first(3), &[each([1, 4, 2])], inactive).expect("no trap");
        assert_eq!(returned(&run), [Some(1), Some(4), Some(2)]);
    }
}

/// A uniform branch under a mask.
const UNIFORM_BRANCH: &str = "
func @f(%c: i1, %u: i1) -> i32 {
entry:
  %m: i1 = mask_and true, %c
  br a
a mask %m:
  %v: i1 = xor %u, false
  br %v, b, c
b mask %m:
  br c
c:
  ret 0
}
";

#[test]
fn a_uniform_branch_needs_an_active_lane_or_one_opinion() {
    let go = |c: [u128; 2], u: [u128; 2]| {
        lanes(UNIFORM_BRANCH, 2, LaneSet::first(2), &[each(c), each(u)], Inactive::Poison).map(|_| ())
    };
    assert_eq!(go([1, 1], [1, 1]), Ok(()));
    assert_eq!(go([0, 1], [0, 1]), Ok(()), "the inactive lane has no say");
    assert_eq!(go([1, 1], [0, 1]), Err(TrapKind::DivergentBranch));
    assert_eq!(go([0, 0], [1, 1]), Err(TrapKind::NoActiveLane), "the condition was computed in no lane");
}

#[test]
fn lanes_outside_of_the_entry_mask_do_nothing() {
    let text = "
declare @effect(i32) -> i32
func @f(%x: i32) -> i32 {
entry:
  %d: i32 = udiv 100, %x
  %e: i32 = call @effect(%d)
  %k: i32 = popcount true
  ret %k
}
";
    let (run, effects) =
        lanes(text, 3, LaneSet(0b101), &[each([5, 0, 2])], Inactive::Poison).expect("lane 1 does not divide");
    assert_eq!(returned(&run), [Some(2), None, Some(2)]);
    assert_eq!(effects.len(), 2);
}

#[test]
fn a_mask_that_is_computed_too_late_is_an_error() {
    let text = "
func @f(%c: i1, %x: i32) -> i32 {
entry:
  br a
a mask %m:
  %y: i32 = add %x, 1
  %m: i1 = mask_and true, %c
  %z: i32 = add %x, 1
  ret %z
}
";
    let args = [each([1]), each([1])];
    let trap = lanes(text, 1, LaneSet::first(1), &args, Inactive::Poison).map(|_| ());
    assert_eq!(trap, Err(TrapKind::MaskNotComputed));
    let text = text.replace("  %y: i32 = add %x, 1\n", "");
    let (run, _) = lanes(&text, 1, LaneSet::first(1), &args, Inactive::Poison).expect("in time");
    assert_eq!(returned(&run), [Some(2)]);
}
