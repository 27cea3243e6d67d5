//! Control flow without instructions.

use warpline_ir::{Block, Constant, Function, Op, Type, Value};

use super::{MemoryMode, ProgramOptions};
use crate::rng::SplitMix64;

/// A loop with its counter check.
pub(super) struct Loop {
    /// The header.
    pub header: Block,
    /// The block whose branch stays in the loop only as long as the counter is below the bound.
    pub check: Block,
    /// Whether the branch stays if its condition is true.
    pub stays_if_true: bool,
}

/// A branch that may lead anywhere among labels, backwards too, as long as the counter that bounds this allows it.
pub(super) struct Fuse {
    /// The block that ends in the branch.
    pub check: Block,
    /// Number of the counter, of those in [`Shape::tangles`].
    pub counter: usize,
    /// Whether the branch jumps if its condition is true.
    pub jumps_if_true: bool,
}

/// A branch into a loop without exit, which must not be taken.
pub(super) struct Trap {
    /// The block that ends in the branch.
    pub check: Block,
    /// Whether the branch leads there if its condition is true.
    pub enters_if_true: bool,
}

/// A branch into a block that reads a buffer where the index allows it only.
pub(super) struct Check {
    /// The block that ends in the branch.
    pub check: Block,
    /// The block that reads.
    pub reader: Block,
    /// Whether the branch leads there if its condition is true.
    pub enters_if_true: bool,
    /// The element that is read: the index times this, plus the offset; the offset minus the index if this is 0.
    pub scale: u128,
    /// See `scale`.
    pub offset: u128,
}

/// What the blocks must do so that control leaves every cycle.
#[derive(Default)]
pub(super) struct Shape {
    /// The loops that must be counted.
    pub loops: Vec<Loop>,
    /// The jumps that must be counted.
    pub fuses: Vec<Fuse>,
    /// Reads that the index allows or not.
    pub checks: Vec<Check>,
    /// The branches that must not be taken.
    pub traps: Vec<Trap>,
    /// For each counter of jumps, the block where it is set to zero (besides the entry).
    pub tangles: Vec<Block>,
}

struct Skeleton<'a> {
    rng: &'a mut SplitMix64,
    f: &'a mut Function,
    budget: usize,
    depth: usize,
    panics: bool,
    irreducible: bool,
    endless: bool,
    checks: bool,
    /// Where a jump may lead from here: labels, loop exits, places that continue a loop.
    targets: Vec<Block>,
    /// Where a counted jump may lead from here, with the number of its counter.
    labels: Vec<(Block, usize)>,
    shape: Shape,
    cond: Value,
}

/// Gives a function blocks and terminators; conditions are placeholders.
pub(super) fn build(rng: &mut SplitMix64, f: &mut Function, options: &ProgramOptions) -> Shape {
    let cond = f.bool_const(true);
    let mut s = Skeleton {
        rng,
        f,
        budget: options.size,
        depth: options.depth,
        panics: options.traps,
        irreducible: options.irreducible,
        endless: options.endless,
        checks: options.layouts && options.memory != MemoryMode::None,
        targets: Vec::new(),
        labels: Vec::new(),
        shape: Shape::default(),
        cond,
    };
    let mut at = Some(s.block());
    while let Some(b) = at
        && s.budget > 0
    {
        at = s.statement(b, 0);
    }
    if let Some(b) = at {
        s.ret(b);
    }
    s.shape
}

impl Skeleton<'_> {
    fn block(&mut self) -> Block {
        self.f.add_block("")
    }

    fn br(&mut self, from: Block, to: Block) {
        self.f.set_terminator(from, Op::Br, &[], &[to]);
    }

    /// A branch in either order.
    fn branch(&mut self, from: Block, a: Block, b: Block) {
        let targets = if self.rng.chance(1, 2) { [a, b] } else { [b, a] };
        self.f.set_terminator(from, Op::CondBr, &[self.cond], &targets);
    }

    fn ret(&mut self, from: Block) {
        match self.f.ret {
            Type::Void => self.f.set_terminator(from, Op::Ret, &[], &[]),
            ty => {
                let placeholder = self.f.constant_value(Constant::Poison(ty));
                self.f.set_terminator(from, Op::Ret, &[placeholder], &[])
            }
        };
    }

    /// The block if anything leads to it; else it is removed.
    fn keep(&mut self, b: Block) -> Option<Block> {
        if self.f.blocks[b].preds.is_empty() {
            self.f.remove_block(b);
            return None;
        }
        Some(b)
    }

    fn region(&mut self, from: Block, depth: usize) -> Option<Block> {
        let mut at = from;
        for _ in 0..self.rng.between(0, 2) {
            at = self.statement(at, depth)?;
        }
        Some(at)
    }

    /// Where control falls through to, if it does.
    fn statement(&mut self, from: Block, depth: usize) -> Option<Block> {
        if self.budget == 0 || depth >= self.depth {
            return Some(from);
        }
        self.budget -= 1;
        if self.irreducible && self.rng.chance(1, 4) {
            return self.tangle(from, depth);
        }
        if self.endless && self.rng.chance(1, 6) {
            return Some(self.endless_loop(from));
        }
        if self.checks && self.rng.chance(1, 6) {
            return Some(self.checked_read(from, depth));
        }
        match self.rng.below(16) {
            0..=2 => self.if_then(from, depth),
            3..=5 => self.if_else(from, depth),
            6..=9 => self.counted_loop(from, depth),
            10 => self.switch(from, depth),
            11 | 12 => self.label(from, depth),
            // Early returns at the top would leave most code unvisited.
            13 | 14 if !self.targets.is_empty() || self.rng.chance(1, 3) => self.conditional_jump(from),
            13 | 14 => self.if_else(from, depth),
            _ if depth > 0 => {
                self.jump(from);
                None
            }
            _ => self.if_then(from, depth),
        }
    }

    fn if_then(&mut self, from: Block, depth: usize) -> Option<Block> {
        let (then, join) = (self.block(), self.block());
        self.branch(from, then, join);
        if let Some(end) = self.region(then, depth + 1) {
            self.br(end, join);
        }
        Some(join)
    }

    fn if_else(&mut self, from: Block, depth: usize) -> Option<Block> {
        let (a, b, join) = (self.block(), self.block(), self.block());
        self.branch(from, a, b);
        for arm in [a, b] {
            if let Some(end) = self.region(arm, depth + 1) {
                self.br(end, join);
            }
        }
        self.keep(join)
    }

    /// A branch around a block that reads only what the index allows.
    fn checked_read(&mut self, from: Block, depth: usize) -> Block {
        let (reader, join) = (self.block(), self.block());
        let enters_if_true = self.rng.chance(1, 2);
        let targets = if enters_if_true { [reader, join] } else { [join, reader] };
        self.f.set_terminator(from, Op::CondBr, &[self.cond], &targets);
        let scale = *self.rng.pick(&[0, 1, 1, 1, 2, 3]);
        let offset = if scale == 0 { self.rng.below(128) } else { self.rng.between(100, 255) } as u128;
        self.shape.checks.push(Check { check: from, reader, enters_if_true, scale, offset });
        if let Some(end) = self.region(reader, depth + 1) {
            self.br(end, join);
        }
        join
    }

    /// A branch into a loop of one or two blocks that control never leaves.
    fn endless_loop(&mut self, from: Block) -> Block {
        let (header, next) = (self.block(), self.block());
        let enters_if_true = self.rng.chance(1, 2);
        let targets = if enters_if_true { [header, next] } else { [next, header] };
        self.f.set_terminator(from, Op::CondBr, &[self.cond], &targets);
        let latch = if self.rng.chance(1, 2) { self.block() } else { header };
        if latch != header {
            self.br(header, latch);
        }
        self.br(latch, header);
        self.shape.traps.push(Trap { check: from, enters_if_true });
        next
    }

    fn switch(&mut self, from: Block, depth: usize) -> Option<Block> {
        let join = self.block();
        let arms: Vec<Block> = (0..self.rng.between(1, 3)).map(|_| self.block()).collect();
        let cases = self.rng.between(arms.len(), 4);
        // Every arm once; further edges lead to an arm again or to the join.
        let mut targets: Vec<Block> = arms.clone();
        while targets.len() < cases + 1 {
            let to = if self.rng.chance(1, 2) { *self.rng.pick(&arms) } else { join };
            targets.push(to);
        }
        self.rng.shuffle(&mut targets);
        let mut values: Vec<u128> = (0..5).collect();
        self.rng.shuffle(&mut values);
        values.truncate(targets.len() - 1);
        let scrutinee = self.f.int_const(32, 0);
        self.f.set_terminator(from, Op::Switch(values.into()), &[scrutinee], &targets);
        for arm in arms {
            if let Some(end) = self.region(arm, depth + 1) {
                self.br(end, join);
            }
        }
        self.keep(join)
    }

    /// A piece of code that may be left for the label behind it from anywhere inside.
    fn label(&mut self, from: Block, depth: usize) -> Option<Block> {
        let label = self.block();
        self.targets.push(label);
        let mut end = Some(from);
        for _ in 0..self.rng.between(1, 3) {
            end = end.and_then(|b| self.statement(b, depth + 1));
        }
        self.targets.pop();
        if let Some(end) = end {
            self.br(end, label);
        }
        self.keep(label)
    }

    /// Labels, several of which are entered from outside, with code behind each and jumps from there to any of them,
    /// to labels of tangles inside and around: loops with several entries, that overlap and that are jumped into.
    fn tangle(&mut self, from: Block, depth: usize) -> Option<Block> {
        let exit = self.block();
        let labels: Vec<Block> = (0..self.rng.between(2, 4)).map(|_| self.block()).collect();
        let counter = self.shape.tangles.len();
        self.shape.tangles.push(from);
        if self.rng.chance(2, 3) {
            self.branch(from, labels[0], labels[1]);
        } else {
            let scrutinee = self.f.int_const(32, 0);
            let values = (1..labels.len() as u128).collect();
            self.f.set_terminator(from, Op::Switch(values), &[scrutinee], &labels);
        }
        self.labels.extend(labels.iter().map(|&l| (l, counter)));
        let outer = self.targets.len();
        for (k, &label) in labels.iter().enumerate() {
            if self.keep(label).is_none() {
                self.labels.retain(|&(l, _)| l != label);
                continue;
            }
            let later: Vec<Block> = labels[k + 1..].iter().copied().chain([exit]).collect();
            self.targets.truncate(outer);
            self.targets.extend(later.iter().rev());
            if let Some(end) = self.region(label, depth + 1) {
                let next = if self.rng.chance(3, 4) { later[0] } else { *self.rng.pick(&later) };
                self.fuse(end, next);
            }
        }
        self.targets.truncate(outer);
        self.keep(exit)
    }

    /// A counted jump to some label, else to `next`; or no jump.
    fn fuse(&mut self, from: Block, next: Block) {
        if self.rng.chance(1, 5) {
            return self.br(from, next);
        }
        let (to, counter) = *self.rng.pick(&self.labels);
        let jumps_if_true = self.rng.chance(1, 2);
        let targets = if jumps_if_true { [to, next] } else { [next, to] };
        self.f.set_terminator(from, Op::CondBr, &[self.cond], &targets);
        self.shape.fuses.push(Fuse { check: from, counter, jumps_if_true });
    }

    fn conditional_jump(&mut self, from: Block) -> Option<Block> {
        let next = self.block();
        if self.panics && self.rng.chance(1, 4) {
            let panic = self.block();
            self.branch(from, panic, next);
            self.f.set_terminator(panic, Op::Unreachable, &[], &[]);
            return Some(next);
        }
        match self.target() {
            Some(to) => self.branch(from, to, next),
            None => {
                let exit = self.block();
                self.branch(from, exit, next);
                self.ret(exit);
            }
        }
        Some(next)
    }

    fn jump(&mut self, from: Block) {
        match self.target() {
            Some(to) => self.br(from, to),
            None => self.ret(from),
        }
    }

    /// A place to jump to; `None` to return.
    fn target(&mut self) -> Option<Block> {
        if self.targets.is_empty() || self.rng.chance(1, 5) {
            return None;
        }
        // Inner ones more often.
        let k = self.targets.len() - 1;
        let back = self.rng.below(k + 1).min(self.rng.below(k + 1));
        Some(self.targets[k - back])
    }

    /// Header, some code, the counter check, more code, back to the header. With the check in the header this is
    /// `while`, with nothing behind it `do … while`, else a loop with `break` in the middle.
    fn counted_loop(&mut self, from: Block, depth: usize) -> Option<Block> {
        // A jump past the header into the loop would pass the counter.
        let outside = self.labels.len();
        let exit = self.counted_loop_with(from, depth);
        self.labels.truncate(outside);
        exit
    }

    fn counted_loop_with(&mut self, from: Block, depth: usize) -> Option<Block> {
        let (header, exit) = (self.block(), self.block());
        self.br(from, header);
        self.targets.push(exit);
        let mut check = header;
        if self.rng.chance(3, 5) {
            check = self.block();
            self.targets.push(check);
            if let Some(end) = self.region(header, depth + 1) {
                self.br(end, check);
            }
            self.targets.pop();
            if self.keep(check).is_none() {
                self.targets.pop();
                return self.keep(exit);
            }
        }
        let stays_if_true = self.rng.chance(1, 2);
        let set = |s: &mut Self, stay: Block| {
            let targets = if stays_if_true { [stay, exit] } else { [exit, stay] };
            s.f.set_terminator(check, Op::CondBr, &[s.cond], &targets);
        };
        if check != header && self.rng.chance(1, 2) {
            set(self, header);
        } else {
            let body = self.block();
            set(self, body);
            self.targets.push(header);
            if let Some(end) = self.region(body, depth + 1) {
                self.br(end, header);
            }
            self.targets.pop();
        }
        self.targets.pop();
        self.shape.loops.push(Loop { header, check, stays_if_true });
        Some(exit)
    }
}
