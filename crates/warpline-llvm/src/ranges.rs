//! What attributes and metadata say of integers: in which range they lie.
//!
//! The C interface does not tell the ranges of attributes, so they are read from the text of the function's head.
//! Those of metadata are constants. A value out of its range is poison.

use std::collections::BTreeMap;

use crate::ffi::types::*;
use warpline_dataflow::clients::ranges::{Assumptions, Range};
use warpline_ir::{FuncId, Function, Inst, Op, Type};

use crate::ffi::load::functions;
use crate::import::Imported;
use crate::parameters::node_operands;

/// What attributes and metadata say of the integers of a function.
#[derive(Clone, Debug, Default)]
pub struct StatedRanges {
    parameters: Vec<Option<Range>>,
    /// Of calls and loads, in ascending order.
    results: Vec<(Inst, Range)>,
}

impl Assumptions for StatedRanges {
    fn parameter(&self, number: u32) -> Option<Range> {
        *self.parameters.get(number as usize)?
    }

    fn result(&self, inst: Inst) -> Option<Range> {
        let at = self.results.binary_search_by_key(&inst, |&(i, _)| i).ok()?;
        Some(self.results[at].1)
    }
}

impl Imported {
    /// What attributes and metadata say of the integers of each function. Functions must still have the parameters
    /// and calls that they were imported with.
    pub fn stated_ranges(&self) -> BTreeMap<FuncId, StatedRanges> {
        // One text for all: printing a function takes as long as looking at the whole module.
        let text = self.bridge.module().to_text();
        let heads: BTreeMap<&str, &str> =
            text.lines().filter(|line| line.starts_with("define ")).map(|head| (name(head), head)).collect();
        let mut all = BTreeMap::new();
        for (id, func) in self.ir.functions.iter() {
            let head = heads.get(&*func.name).copied().unwrap_or_default();
            let width = |i: usize| func.params.get(i).map(|&p| func.ty(p));
            let parameters = parameters(head).enumerate();
            let parameters = parameters
                .map(|(i, text)| attribute(text).filter(|r| width(i) == Some(Type::Int(r.bits()))))
                .collect();
            all.insert(id, StatedRanges { parameters, results: self.stated_results(func) });
        }
        all
    }

    /// Of calls and loads, in ascending order.
    fn stated_results(&self, func: &Function) -> Vec<(Inst, Range)> {
        let mut stated = Vec::new();
        let mut insts: Vec<Inst> = func.layout.iter().flat_map(|&b| &func.blocks[b].insts).copied().collect();
        insts.sort_unstable();
        for inst in insts {
            let data = &func.insts[inst];
            let ty = data.result().map(|v| func.ty(v));
            let (Op::Load(_) | Op::Call(_), Some(Type::Int(bits @ ..=64))) = (&data.op, ty) else { continue };
            let original = data.origin.expand().and_then(|o| self.bridge.original(o));
            let range = original.and_then(|o| self.metadata_range(o, bits));
            stated.extend(range.map(|r| (inst, r)));
        }
        stated
    }

    /// The hull of the ranges that `!range` lists.
    fn metadata_range(&self, inst: LLVMValueRef, bits: u32) -> Option<Range> {
        let f = functions();
        let name = "range";
        // SAFETY: a live context and instruction; pointer and length describe the name.
        let node = unsafe {
            let context = self.bridge.module().context();
            let kind = f.LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as u32);
            f.LLVMGetMetadata(inst, kind)
        };
        if node.is_null() {
            return None;
        }
        let operands = node_operands(node);
        let bounds: Option<Vec<u64>> = operands
            .iter()
            .map(|&o| {
                // SAFETY: operands are live values or null; only constant integers are asked for their value.
                unsafe {
                    let is_constant = !o.is_null() && !f.LLVMIsAConstantInt(o).is_null();
                    is_constant.then(|| f.LLVMConstIntGetZExtValue(o))
                }
            })
            .collect();
        let ranges =
            bounds?.chunks_exact(2).map(|b| half_open(bits, b[0].into(), b[1].into())).collect::<Vec<_>>();
        ranges.into_iter().reduce(|a, b| a.hull(&b))
    }
}

/// The numbers from `low` to before `high`, modulo the width; all numbers if these are equal.
fn half_open(bits: u32, low: i128, high: i128) -> Range {
    let window = 1i128 << bits;
    let (low, high) = (low.rem_euclid(window), high.rem_euclid(window));
    let high = if high <= low { high + window } else { high };
    Range::modulo(bits, low, high - 1)
}

/// The name in the head of a function, and what follows it. A quoted name may contain anything but quotes.
fn name_and_rest(head: &str) -> (&str, &str) {
    let text = head.find('@').map_or("", |at| &head[at + 1..]);
    match text.strip_prefix('"').and_then(|quoted| quoted.split_once('"')) {
        Some(found) => found,
        None => text.split_at(text.find('(').unwrap_or(text.len())),
    }
}

fn name(head: &str) -> &str {
    name_and_rest(head).0
}

/// The texts of the parameters in the head of a function.
fn parameters(head: &str) -> impl Iterator<Item = &str> {
    let (_, behind) = name_and_rest(head);
    let list = behind.find('(').map_or("", |at| &behind[at + 1..]);
    let (mut depth, mut is_over) = (0, false);
    list.split(move |c| {
        match c {
            '(' | '{' | '[' | '<' => depth += 1,
            ')' if depth == 0 => is_over = true,
            ')' | '}' | ']' | '>' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0 && !is_over
    })
}

/// The range in the text of a parameter, such as `i64 noundef range(i64 0, 16) %n`.
fn attribute(text: &str) -> Option<Range> {
    let (_, rest) = text.split_once(" range(i")?;
    let (inside, _) = rest.split_once(')')?;
    let (bits, bounds) = inside.split_once(' ')?;
    let (low, high) = bounds.split_once(", ")?;
    let bits: u32 = bits.parse().ok().filter(|b| (1..=64).contains(b))?;
    Some(half_open(bits, low.parse().ok()?, high.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_parameters_are_read_from_the_head_of_a_function() {
        let head = "define range(i8 0, 2) { i64, i64 } @\"a,(b\"(ptr captures(address, none) %a, i64 noundef \
         range(i64 0, \
                    2305843009213693952) %n, i32 range(i32 -5, 5) %s, [2 x i64] %p, i8 %q) #0 !dbg !3 {";
        let found: Vec<Option<Range>> = parameters(head).map(attribute).collect();
        let small = Range::signed(32, -5, 4);
        assert_eq!(name(head), "a,(b");
        assert_eq!(name("define void @f(i8 %x) {"), "f");
        assert_eq!(found, [None, Range::unsigned(64, 0, (1 << 61) - 1), small, None, None]);
    }

    #[test]
    fn ranges_may_wrap_around() {
        let range = half_open(8, 250, 3);
        assert!(range.contains(255) && range.contains(2) && !range.contains(3) && !range.contains(249));
        assert!(half_open(8, 7, 7).is_full());
        assert_eq!(half_open(8, 0, 2), Range::unsigned(8, 0, 1).expect("not empty"));
    }
}
