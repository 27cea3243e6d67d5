//! Conditions like `a && b`, of which a block of its own computes the second part, as values.
//!
//! What decides later regions is then computed again in each of them, where a φ would be kept for each work-item, and
//! guards are seen for what they are.

use warpline_ir::{Block, Function, Inst, Op, Type};

/// More instructions than these are not computed in vain.
const MOST: usize = 8;

/// A branch around a block that computes the second part of a condition.
struct Triangle {
    top: Block,
    side: Block,
    join: Block,
    /// Whether the block is executed if the condition of the branch holds.
    holds: bool,
}

/// Makes selections of φs that choose between a part of a condition and what is known without it. `ends` says at which
/// blocks work-items meet.
pub(super) fn fold(func: &mut Function, ends: impl Fn(Block) -> bool) {
    while let Some(triangle) = func.layout.iter().find_map(|&top| triangle(func, top, &ends)) {
        straighten(func, &triangle);
        func.remove_unreachable_blocks();
    }
}

fn triangle(func: &Function, top: Block, ends: &impl Fn(Block) -> bool) -> Option<Triangle> {
    let branch = &func.insts[func.terminator(top)];
    let (Op::CondBr, &[yes, no]) = (&branch.op, &branch.edges[..]) else { return None };
    [(yes, no, true), (no, yes, false)].into_iter().find_map(|(into, around, holds)| {
        let (side, join) = (func.edges[into].to, func.edges[around].to);
        let data = &func.blocks[side];
        let is_plain = data.preds.len() == 1 && data.phis.is_empty() && data.insts.len() <= MOST;
        let leads = matches!(func.out_edges(side), [out] if func.edges[*out].to == join);
        let is_straight = matches!(func.insts[func.terminator(side)].op, Op::Br) && leads;
        let phis = &func.blocks[join].phis;
        let chooses = func.blocks[join].preds.len() == 2
            && !phis.is_empty()
            && phis.iter().all(|&phi| func.ty(func.insts[phi].results[0]) == Type::BOOL);
        let differ = side != top && side != join && join != top && !ends(top) && !ends(side);
        (is_plain && is_straight && chooses && differ && data.insts.iter().all(|&i| is_cheap(func, i)))
            .then_some(Triangle { top, side, join, holds })
    })
}

/// Whether an instruction may be executed though nobody asked for its result.
fn is_cheap(func: &Function, i: Inst) -> bool {
    match func.insts[i].op {
        Op::Binary(op) => !op.is_int_division(),
        Op::ICmp(_) | Op::Select | Op::Cast(_) => true,
        _ => false,
    }
}

/// Moves the block in the middle up, and makes selections of φs. These keep their values.
fn straighten(func: &mut Function, triangle: &Triangle) {
    let &Triangle { top, side, join, holds } = triangle;
    let condition = func.insts[func.terminator(top)].args[0];
    let moved = std::mem::take(&mut func.blocks[side].insts);
    for &i in &moved {
        func.insts[i].block = top;
    }
    func.blocks[top].insts.extend(moved);
    let [first, second] = func.blocks[join].preds[..] else { return };
    let (from_side, from_top) =
        if func.edges[first].from == side { (first, second) } else { (second, first) };
    let phis = func.blocks[join].phis.clone();
    for (k, &phi) in phis.iter().enumerate() {
        let [part, known] = [from_side, from_top].map(|e| func.edges[e].args[k]);
        let (yes, no) = if holds { (part, known) } else { (known, part) };
        let data = &mut func.insts[phi];
        data.op = Op::Select;
        data.args = [condition, yes, no].into_iter().collect();
        data.block = top;
    }
    func.retain_phis(join, |_| false);
    func.blocks[top].insts.extend(phis);
    func.set_terminator(top, Op::Br, &[], &[join]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_ir::text::{parse_module, print_module};
    use warpline_ir::verify::verify_module;

    const TEXT: &str = "func @k(%a: i64, %n: i64, %p: ptr) {
        b0:
        %c: i1 = icmp ult %a, %n
        br %c, b1, b2(false)
        b1:
        %next: i64 = add %a, 1
        %d: i1 = icmp eq %next, %n
        br b2(%d)
        b2:
        %both: i1 = phi
        br %both, b3, b4
        b3:
        store %a, %p, align 8
        br b4
        b4:
        ret
    }";

    #[test]
    fn the_second_part_of_a_condition_is_computed_at_once() {
        let mut module = parse_module(TEXT).unwrap_or_else(|e| panic!("{e}"));
        let id = module.function("k").expect("it is there");
        fold(&mut module.functions[id], |_| false);
        verify_module(&module).unwrap_or_else(|e| panic!("{e}"));
        let text = print_module(&module);
        assert!(text.contains("%both: i1 = select %c, %d, false") && !text.contains("phi"), "{text}");
        assert!(text.contains("br %both, b3, b4"), "{text}");
    }

    #[test]
    fn a_block_with_effects_or_a_meeting_stays() {
        let with_load = TEXT.replace("%next: i64 = add %a, 1", "%next: i64 = load %p, align 8");
        for (text, meets) in [(with_load.as_str(), false), (TEXT, true)] {
            let mut module = parse_module(text).unwrap_or_else(|e| panic!("{e}"));
            let id = module.function("k").expect("it is there");
            fold(&mut module.functions[id], |_| meets);
            assert!(print_module(&module).contains("phi"), "{text}");
        }
    }
}
