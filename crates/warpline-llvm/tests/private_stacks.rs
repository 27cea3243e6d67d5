//! Lanes that walk a tree, each on its own way and with a stack of its own.
//!
//! Judged as `common::kernels` says: as machine code over a range, between guard pages, and by the interpreter under
//! all masks of up to four lanes.

#[path = "common/guarded.rs"]
mod guarded;
#[expect(dead_code, reason = "other tests use more of it")]
#[path = "common/kernels.rs"]
mod kernels;

use warpline_llvm::Cpu;
use warpline_vectorize::{Boscc, Contract, Linearize};

use kernels::{Arg, Kernel, words};

/// A tree of nodes of 12 bytes: a value, the second child, whether it is a leaf, and by which of three signs the
/// first child to visit is chosen.
fn tree(levels: u32, nodes: &mut Vec<[u8; 12]>) {
    let me = nodes.len();
    nodes.push([0; 12]);
    let mut second = 0;
    if levels > 0 {
        tree(levels - 1, nodes);
        second = nodes.len();
        tree(levels - 1, nodes);
    }
    nodes[me][..4].copy_from_slice(&(me as u32).wrapping_mul(2_654_435_761).to_le_bytes());
    nodes[me][4..8].copy_from_slice(&(second as u32).to_le_bytes());
    nodes[me][8..10].copy_from_slice(&[u8::from(levels == 0), (me % 3) as u8]);
}

#[test]
fn lanes_that_push_one_child_or_the_other_pop_what_they_have_pushed() {
    let text = "define i32 @kernel(i32 %i, i32 %x, ptr %nodes) {
entry:
  %todo = alloca [8 x i32], align 4
  %signs = alloca [3 x i32], align 4
  %s1 = getelementptr i32, ptr %signs, i64 1
  %s2 = getelementptr i32, ptr %signs, i64 2
  %x0 = and i32 %x, 1
  %x1 = and i32 %x, 2
  %x2 = and i32 %x, 4
  store i32 %x0, ptr %signs, align 4
  store i32 %x1, ptr %s1, align 4
  store i32 %x2, ptr %s2, align 4
  br label %visit
visit:
  %node = phi i32 [ 0, %entry ], [ %n1, %first ], [ %n2, %second ], [ %popped, %pop ]
  %top = phi i32 [ 0, %entry ], [ %t1, %first ], [ %t2, %second ], [ %below, %pop ]
  %sum = phi i32 [ %i, %entry ], [ %more, %first ], [ %more, %second ], [ %more, %pop ]
  %n = sext i32 %node to i64
  %p = getelementptr { i32, i32, i8, i8 }, ptr %nodes, i64 %n
  %value = load i32, ptr %p, align 4
  %times = mul i32 %sum, 31
  %more = add i32 %times, %value
  %both = xor i32 %value, %x
  %seen = and i32 %both, 24
  %miss = icmp eq i32 %seen, 0
  br i1 %miss, label %up, label %hit
hit:
  %leaf.p = getelementptr i8, ptr %p, i64 8
  %leaf = load i8, ptr %leaf.p, align 1
  %is.leaf = icmp ne i8 %leaf, 0
  br i1 %is.leaf, label %up, label %inner
inner:
  %axis.p = getelementptr i8, ptr %p, i64 9
  %axis = load i8, ptr %axis.p, align 1
  %a = zext i8 %axis to i64
  %sign.p = getelementptr i32, ptr %signs, i64 %a
  %sign = load i32, ptr %sign.p, align 4
  %is.set = icmp ne i32 %sign, 0
  %k = sext i32 %top to i64
  br i1 %is.set, label %first, label %second
first:
  %near1 = add nsw i32 %node, 1
  %q1 = getelementptr i32, ptr %todo, i64 %k
  store i32 %near1, ptr %q1, align 4
  %far1 = getelementptr i8, ptr %p, i64 4
  %n1 = load i32, ptr %far1, align 4
  %t1 = add nsw i32 %top, 1
  br label %visit
second:
  %far2 = getelementptr i8, ptr %p, i64 4
  %f2 = load i32, ptr %far2, align 4
  %q2 = getelementptr i32, ptr %todo, i64 %k
  store i32 %f2, ptr %q2, align 4
  %n2 = add nsw i32 %node, 1
  %t2 = add nsw i32 %top, 1
  br label %visit
up:
  %is.empty = icmp eq i32 %top, 0
  br i1 %is.empty, label %end, label %pop
pop:
  %below = add nsw i32 %top, -1
  %b = sext i32 %below to i64
  %r = getelementptr i32, ptr %todo, i64 %b
  %popped = load i32, ptr %r, align 4
  br label %visit
end:
  ret i32 %more
}";
    let mut nodes = Vec::new();
    tree(4, &mut nodes);
    let args = vec![
        Arg::Index,
        Arg::Varying(words((0..37u32).map(|i| i.wrapping_mul(2_654_435_761) >> 7))),
        Arg::Buffer(nodes.concat()),
    ];
    let kernel = Kernel {
        text: text.to_owned(),
        args,
        range: 0..37,
        result: 4,
        looped: false,
        contract: Contract::Racy,
    };
    kernel.judge();
    if kernels::llvm_is_there() {
        for (cpu, width) in [("haswell", 8), ("haswell", 16), ("x86-64-v2", 4)] {
            kernel.judge_for((width, Linearize::Partial, Boscc::Auto, ""), &Cpu::named(cpu));
        }
    }
}
