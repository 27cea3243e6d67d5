//! Loops with so many exits that a lane notes the number of its exit, not a mask for each.
//!
//! Judged as `common::kernels` says: as machine code over a range, between guard pages, and by the interpreter under
//! all masks of up to four lanes, with poison and with random bits in the lanes that are not active.

#[path = "common/guarded.rs"]
mod guarded;
#[expect(dead_code, reason = "other tests use more of it")]
#[path = "common/kernels.rs"]
mod kernels;
#[path = "common/values.rs"]
mod values;

use std::fmt::Write as _;

use kernels::{Arg, Kernel, words};

/// A loop with so many exits, each to a block of its own, on conditions that vary or, every fifth one, are uniform.
/// Values of two types leave it, and what is computed behind an exit depends on them and on the exit.
fn kernel(exits: usize) -> Kernel {
    let mut text = String::from(
        "define i32 @kernel(i32 %i, ptr %a, i32 %n) {
entry:
  br label %head
head:
  %k = phi i32 [0, %entry], [%k.next, %latch]
  %x = phi i32 [%i, %entry], [%x.next, %latch]
  br label %t0
",
    );
    for j in 0..exits {
        let next = if j + 1 < exits { format!("t{}", j + 1) } else { "latch".into() };
        let _ = writeln!(text, "t{j}:\n  %v{j} = xor i32 %x, {j}\n  %w{j} = zext i32 %v{j} to i64");
        if j % 5 == 4 {
            let _ = writeln!(text, "  %o{j} = add i32 %n, {j}\n  %c{j} = icmp eq i32 %k, %o{j}");
        } else {
            let _ =
                writeln!(text, "  %m{j} = mul i32 %x, {}", 2_654_435_761_u32.wrapping_mul(2 * j as u32 + 1));
            let _ = writeln!(text, "  %s{j} = lshr i32 %m{j}, 26\n  %c{j} = icmp eq i32 %s{j}, {j}");
        }
        let _ = writeln!(text, "  br i1 %c{j}, label %e{j}, label %{next}");
        let _ = writeln!(
            text,
            "e{j}:\n  %p{j} = getelementptr i32, ptr %a, i64 {j}\n  %l{j} = load i32, ptr %p{j}"
        );
        let _ = writeln!(text, "  %q{j} = udiv i64 %w{j}, {}\n  %y{j} = trunc i64 %q{j} to i32", j + 3);
        let _ =
            writeln!(text, "  %z{j} = add i32 %y{j}, %k\n  %r{j} = mul i32 %z{j}, %l{j}\n  ret i32 %r{j}");
    }
    text += "latch:
  %k.next = add i32 %k, 1
  %x.next = mul i32 %x, 747796405
  %more = icmp ult i32 %k, 60
  br i1 %more, label %head, label %out
out:
  ret i32 %x
}";
    let table = words((0..exits as u32).map(|j| j * 7 + 1));
    Kernel {
        text,
        args: vec![Arg::Index, Arg::Buffer(table), Arg::Uniform(9)],
        range: 5..70,
        result: 4,
        looped: false,
        contract: warpline_vectorize::Contract::Racy,
    }
}

#[test]
fn lanes_that_leave_a_loop_by_twenty_exits_do_what_is_behind_their_own() {
    kernel(20).judge();
}

#[test]
fn as_many_exits_as_have_masks_and_one_more_give_the_same() {
    for exits in [14, 15, 16, 17] {
        kernel(exits).judge();
    }
}
