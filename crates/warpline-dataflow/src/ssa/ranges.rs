//! Where values are live, for some of the values of a function.

use std::fmt;

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use warpline_analysis::{DomTree, Node};

use warpline_ir::{Block, Function, Inst, Value, ValueDef};

/// A value that is used where its definition need not have been passed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct NotStrict {
    /// The value.
    pub value: Value,
}

impl fmt::Display for NotStrict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "%{} is used where its definition does not dominate: construct a strict form first",
            self.value
        )
    }
}

impl std::error::Error for NotStrict {}

/// A point in the dominator tree: the pre-order number of a block, and the position in it.
pub(super) type Point = (u32, u32);

/// The position of uses at the end of a block, by φs behind it.
const END: u32 = u32::MAX - 1;
/// The value is used behind the block.
const OUT: u32 = u32::MAX;

/// Definitions and live ranges.
pub(super) struct Ranges {
    /// By value: the blocks where it is live, in increasing order of their numbers in the dominator tree, each with
    /// the position up to which.
    live: SecondaryMap<Value, Vec<Point>>,
    points: SecondaryMap<Value, Point>,
}

impl Ranges {
    /// Computes the ranges of `chosen` values: parameters and results of instructions in reachable blocks. Costs the
    /// function's size and the sizes of the ranges.
    ///
    /// # Errors
    /// If a use of one of them is not dominated by the definition.
    pub(super) fn compute(
        func: &Function,
        dom: &DomTree,
        chosen: impl Fn(Value) -> bool,
    ) -> Result<Ranges, NotStrict> {
        let positions = positions(func);
        let mut uses = uses(func, dom, &positions, &chosen);
        let mut search = Search { func, dom, seen: SecondaryMap::new() };
        let mut ranges = Ranges { live: SecondaryMap::new(), points: SecondaryMap::new() };
        for v in func.values.keys().filter(|&v| chosen(v)) {
            let (home, at) = match func.values[v].def {
                ValueDef::Inst(i, _) => (func.insts[i].block, positions[i]),
                _ => (func.entry(), 0),
            };
            let Some(number) = dom.pre_number(Node::from(home)) else { continue };
            ranges.points[v] = (number as u32, at);
            ranges.live[v] = search.range(v, (home, at), std::mem::take(&mut uses[v]))?;
        }
        Ok(ranges)
    }

    /// Where a value is defined.
    pub(super) fn point(&self, v: Value) -> Point {
        self.points[v]
    }

    /// Whether a value is still used behind a point that its definition dominates.
    pub(super) fn is_live_behind(&self, v: Value, point: Point) -> bool {
        let range = &self.live[v];
        let found = range.binary_search_by_key(&point.0, |r| r.0);
        found.is_ok_and(|k| range[k].1 > point.1)
    }
}

/// The uses of values in reachable blocks.
fn uses(
    func: &Function,
    dom: &DomTree,
    positions: &SecondaryMap<Inst, u32>,
    chosen: impl Fn(Value) -> bool,
) -> SecondaryMap<Value, Vec<(Block, u32)>> {
    let mut uses: SecondaryMap<Value, Vec<(Block, u32)>> = SecondaryMap::new();
    for &b in func.layout.iter().filter(|&&b| dom.is_reachable(Node::from(b))) {
        for i in func.block_insts(b) {
            for &v in func.insts[i].args.iter().filter(|&&v| chosen(v)) {
                uses[v].push((b, positions[i]));
            }
        }
        let on_edges = func.out_edges(b).iter().flat_map(|&e| &func.edges[e].args).copied();
        for v in on_edges.chain(func.blocks[b].mask.expand()).filter(|&v| chosen(v)) {
            uses[v].push((b, END));
        }
    }
    uses
}

/// The search for live ranges, one after the other.
struct Search<'a> {
    func: &'a Function,
    dom: &'a DomTree,
    /// The value for which a block was last found live, with its place in the range.
    seen: SecondaryMap<Block, (PackedOption<Value>, usize)>,
}

impl Search<'_> {
    /// The live range of a value that is defined at `home`, from its uses backwards.
    fn range(
        &mut self,
        value: Value,
        home: (Block, u32),
        mut work: Vec<(Block, u32)>,
    ) -> Result<Vec<Point>, NotStrict> {
        let mut range: Vec<Point> = Vec::new();
        while let Some((b, up_to)) = work.pop() {
            let Some(number) = self.dom.pre_number(Node::from(b)) else { continue };
            if b == home.0 && up_to <= home.1 && home.1 > 0 {
                return Err(NotStrict { value });
            }
            let (last, k) = self.seen[b];
            if last.expand() == Some(value) {
                range[k].1 = range[k].1.max(up_to);
                continue;
            }
            self.seen[b] = (value.into(), range.len());
            range.push((number as u32, up_to));
            if b == home.0 {
                continue;
            }
            if b == self.func.entry() {
                return Err(NotStrict { value });
            }
            work.extend(self.func.predecessors(b).map(|p| (p, OUT)));
        }
        range.sort_unstable();
        Ok(range)
    }
}

/// Where instructions stand in their blocks; φs at 0.
fn positions(func: &Function) -> SecondaryMap<Inst, u32> {
    let mut positions = SecondaryMap::with_capacity(func.insts.len());
    for &b in &func.layout {
        let data = &func.blocks[b];
        for (k, i) in data.insts.iter().copied().chain(data.term.expand()).enumerate() {
            positions[i] = k as u32 + 1;
        }
    }
    positions
}
