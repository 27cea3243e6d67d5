//! The drawings of a function.
//!
//! A drawing has at most [`MANY`] boxes. Where a function has more blocks, some loops are one box each, and if need be so
//! are runs of blocks that follow one another; what is in such a box is another drawing, which a click opens.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use super::layout::{Diagram, HEIGHT};
use super::{Builder, escape};
use crate::chain::Place;
use warpline::ir::Block;
use warpline::uniformity::CycleId;

/// So many boxes are in a drawing at most.
const MANY: usize = 200;

/// A box: a block, or several.
struct Item {
    blocks: Vec<Block>,
    cycle: Option<CycleId>,
}

impl Builder<'_> {
    /// All drawings of the function: the whole first, then what its boxes have in them.
    pub(super) fn drawings(&self) -> String {
        let mut out = String::new();
        let mut next = 1;
        let mut work = vec![(0, None, self.func.layout.clone())];
        while let Some((number, parent, blocks)) = work.pop() {
            let items = self.items(&blocks);
            let mut inner: HashMap<usize, usize> = HashMap::new();
            for (i, item) in items.iter().enumerate().filter(|(_, item)| item.blocks.len() > 1) {
                inner.insert(i, next);
                work.push((next, Some(number), item.blocks.clone()));
                next += 1;
            }
            let parent = parent.map_or(String::new(), |parent| format!(" data-parent=\"{parent}\""));
            let hidden = if number == 0 { "" } else { " hidden" };
            let _ = write!(out, "<div class=\"view\" data-view=\"{number}\"{parent}{hidden}>");
            out += &self.drawing(&items, &inner);
            out += "</div>\n";
        }
        out
    }

    /// What is a box of its own among blocks.
    fn items(&self, blocks: &[Block]) -> Vec<Item> {
        let single = |&b: &Block| Item { blocks: vec![b], cycle: None };
        if blocks.len() <= MANY {
            return blocks.iter().map(single).collect();
        }
        let closed = self.closed_loops(blocks);
        let mut items: Vec<Item> = Vec::new();
        let mut of_cycle: HashMap<CycleId, usize> = HashMap::new();
        for &b in blocks {
            match closed.get(&b) {
                Some(&c) => {
                    let next = items.len();
                    let at = *of_cycle.entry(c).or_insert(next);
                    if at == next {
                        items.push(Item { blocks: Vec::new(), cycle: Some(c) });
                    }
                    items[at].blocks.push(b);
                }
                None => items.push(single(&b)),
            }
        }
        let together = items.len().div_ceil(MANY);
        if together < 2 {
            return items;
        }
        let mut runs: Vec<Item> = Vec::new();
        for (i, item) in items.into_iter().enumerate() {
            match runs.last_mut().filter(|_| i % together > 0) {
                Some(run) => {
                    run.blocks.extend(item.blocks);
                    run.cycle = None;
                }
                None => runs.push(item),
            }
        }
        runs
    }

    /// The blocks whose loop is one box, and that loop: of the loops that lie among the blocks, outermost first, the
    /// largest are opened as long as there is room for what is in them.
    fn closed_loops(&self, blocks: &[Block]) -> HashMap<Block, CycleId> {
        let cycles = self.result.cycles();
        let mut own: HashMap<CycleId, usize> = HashMap::new();
        let mut outside = 0;
        for &b in blocks {
            match cycles.innermost(b.into()) {
                Some(c) => *own.entry(c).or_default() += 1,
                None => outside += 1,
            }
        }
        let here = |c: CycleId| own.get(&c).copied().unwrap_or(0);
        // All cycles around the blocks, those within others behind them, and how many blocks each has here.
        let mut all: Vec<CycleId> = cycles.top_level().to_vec();
        let mut next = 0;
        while let Some(&c) = all.get(next) {
            all.extend(cycles.children(c).iter().copied());
            next += 1;
        }
        let mut counts: HashMap<CycleId, usize> = HashMap::new();
        for &c in all.iter().rev() {
            let within: usize = cycles.children(c).iter().map(|c| counts[c]).sum();
            counts.insert(c, here(c) + within);
        }
        let is_whole = |c: CycleId| counts[&c] == cycles.nodes(c).len() && counts[&c] < blocks.len();
        let mut closed: BTreeSet<(usize, usize, CycleId)> = BTreeSet::new();
        let mut boxes = outside;
        let entry = |c: CycleId| (counts[&c], c.index(), c);
        for &c in all.iter().filter(|&&c| counts[&c] > 0) {
            let around = cycles.parent(c).filter(|&parent| is_whole(parent));
            match (is_whole(c), around) {
                (true, None) => {
                    closed.insert(entry(c));
                }
                (false, _) => boxes += here(c),
                _ => {}
            }
        }
        boxes += closed.len();
        while let Some(&(count, index, c)) = closed.last() {
            let opened = boxes - 1 + here(c) + cycles.children(c).len();
            if opened > MANY {
                break;
            }
            closed.remove(&(count, index, c));
            closed.extend(cycles.children(c).iter().map(|&c| entry(c)));
            boxes = opened;
        }
        // Outer ones come first.
        let mut within: HashMap<CycleId, CycleId> = HashMap::new();
        for &c in &all {
            let outer = cycles.parent(c).and_then(|parent| within.get(&parent).copied());
            if let Some(closed) = outer.or_else(|| closed.contains(&entry(c)).then_some(c)) {
                within.insert(c, closed);
            }
        }
        let of_block = |&b: &Block| Some((b, *within.get(&cycles.innermost(b.into())?)?));
        blocks.iter().filter_map(of_block).collect()
    }

    fn title(&self, item: &Item) -> (String, String) {
        let name = |b: Block| shorten(&self.names.block(self.func, b));
        let count = item.blocks.len();
        if count == 1 {
            return (name(item.blocks[0]), self.block_note(item.blocks[0]));
        }
        let apart = item.blocks.iter().filter(|&&b| self.result.is_divergent_branch(b)).count();
        let branches = match apart {
            0 => "uniform".to_owned(),
            1 => "1 divergent branch".to_owned(),
            n => format!("{n} divergent branches"),
        };
        let note = format!("{count} blocks, {branches}");
        match item.cycle {
            Some(c) => (format!("loop {}", name(Block::from(self.result.cycles().header(c)))), note),
            None => (format!("{} … {}", name(item.blocks[0]), name(item.blocks[count - 1])), note),
        }
    }

    fn drawing(&self, items: &[Item], inner: &HashMap<usize, usize>) -> String {
        let func = self.func;
        let mut index: HashMap<Block, usize> = HashMap::new();
        for (i, item) in items.iter().enumerate() {
            index.extend(item.blocks.iter().map(|&b| (b, i)));
        }
        let titles: Vec<(String, String)> = items.iter().map(|item| self.title(item)).collect();
        let widths = titles.iter().map(|(name, note)| {
            let letters = (name.chars().count() as f64 * 7.4).max(note.chars().count() as f64 * 5.8);
            (letters + 40.0).max(72.0)
        });
        // Of several edges between two boxes one is drawn, but for those between two blocks.
        let mut edges: Vec<(usize, usize)> = Vec::new();
        let mut ends: Vec<(Block, Block)> = Vec::new();
        let mut seen = BTreeSet::new();
        for (i, item) in items.iter().enumerate() {
            for (b, t) in item.blocks.iter().flat_map(|&b| func.successors(b).map(move |t| (b, t))) {
                let Some(&to) = index.get(&t) else { continue };
                let plain = item.blocks.len() == 1 && items[to].blocks.len() == 1;
                if plain || (to != i && seen.insert((i, to))) {
                    edges.push((i, to));
                    ends.push((b, t));
                }
            }
        }
        let diagram = Diagram { widths: widths.collect(), edges };
        let drawing = diagram.draw();
        let (width, height) = drawing.size;
        let mut svg = format!(
            "<svg width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">\n"
        );
        for (&(from, to), (line, back)) in ends.iter().zip(&drawing.lines) {
            let kind = if *back { " back" } else { "" };
            let exit = if self.is_divergent_exit(from, to) { " exit" } else { "" };
            let _ = writeln!(
                svg,
                "<path class=\"edge{kind}{exit}\" data-from=\"{}\" data-to=\"{}\" d=\"{}\" \
                 marker-end=\"url(#arrow)\"/>",
                escape(&self.names.block(func, from)),
                escape(&self.names.block(func, to)),
                curve(line, *back)
            );
        }
        for (i, item) in items.iter().enumerate() {
            let (corner, width) = (drawing.corners[i], diagram.widths[i]);
            svg += &self.item(item, inner.get(&i).copied(), &titles[i], corner, width);
        }
        svg + "</svg>"
    }

    /// A box.
    fn item(
        &self,
        item: &Item,
        view: Option<usize>,
        (name, note): &(String, String),
        (x, y): (f64, f64),
        w: f64,
    ) -> String {
        let first = item.blocks[0];
        let cycle = item.cycle.or_else(|| self.cycle_at(first).filter(|_| view.is_none()));
        let apart = cycle.is_some_and(|c| self.result.has_divergent_exit(c));
        let divergent = item.blocks.iter().any(|&b| self.result.is_divergent_branch(b));
        let whole = escape(&self.names.block(self.func, first));
        let (d, apart) = (if divergent { " d" } else { "" }, if apart { " apart" } else { "" });
        let mut svg = match view {
            None => format!(
                "<g class=\"block{d}{apart}\" data-block=\"{whole}\"><title>{whole}{}</title>",
                escape(&self.loop_note(first))
            ),
            Some(view) => format!(
                "<g class=\"block region{d}{apart}\" data-open=\"{view}\"><title>{}: click to open</title><rect \
                 x=\"{:.1}\" y=\"{:.1}\" width=\"{w:.1}\" height=\"{HEIGHT}\" rx=\"5\"/>",
                escape(name),
                x + 4.0,
                y + 4.0
            ),
        };
        let _ = write!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{HEIGHT}\" rx=\"5\"/><text x=\"{:.1}\" \
             y=\"{:.1}\">{}</text><text class=\"note\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            x + 9.0,
            y + 16.0,
            escape(name),
            x + 9.0,
            y + 30.0,
            escape(note),
        );
        if cycle.is_some() {
            let _ =
                write!(svg, "<text class=\"loop\" x=\"{:.1}\" y=\"{:.1}\">↻</text>", x + w - 18.0, y + 17.0);
        }
        svg + "</g>\n"
    }

    fn is_divergent_exit(&self, from: Block, to: Block) -> bool {
        let cycles = self.result.cycles();
        let mut left = cycles.around(from.into()).take_while(|&c| !cycles.contains(c, to.into()));
        left.any(|c| self.result.is_left_apart_between(c, from, to))
    }

    fn block_note(&self, b: Block) -> String {
        let count = self.func.block_insts(b).count();
        let place = Place::of_block(self.module, self.func, b);
        let line = place.filter(|p| Some(&p.file) == self.file.as_ref());
        line.map_or_else(|| format!("{count} instr."), |p| format!("{count} instr., line {}", p.line))
    }
}

/// A smooth line through corners; straight where it runs in a lane of its own.
fn curve(line: &[(f64, f64)], straight: bool) -> String {
    let mut d = String::new();
    for (i, &(x, y)) in line.iter().enumerate() {
        let _ = match (i, straight || i == 0 || (line[i - 1].0 - x).abs() < 0.5) {
            (0, _) => write!(d, "M{x:.1} {y:.1}"),
            (_, true) => write!(d, " L{x:.1} {y:.1}"),
            (_, false) => {
                let (px, py) = line[i - 1];
                let middle = f64::midpoint(py, y);
                write!(d, " C{px:.1} {middle:.1} {x:.1} {middle:.1} {x:.1} {y:.1}")
            }
        };
    }
    d
}

/// At most so many letters of a block's name as fit a box.
fn shorten(name: &str) -> String {
    const LONGEST: usize = 28;
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}
