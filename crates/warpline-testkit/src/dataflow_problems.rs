//! Random monotone data-flow problems over small lattices.
//!
//! A problem is a seed: what an instruction or an edge does is drawn from the seed and its number, so it needs no
//! program and stays what it is when a program is made smaller. Where facts are refined is what a [`Strategy`] splits
//! for.

use std::marker::PhantomData;

use warpline_analysis::dataflow::{
    Backward, BackwardEdge, BackwardFacts, Forward, ForwardEdge, ForwardFacts, Instruction, Lattice, Program,
    TestKind, Variable,
};
use warpline_analysis::ssi::{Conditions, Strategy};
use warpline_analysis::{EdgeId, Graph, Node};

use crate::rng::SplitMix64;

/// A small lattice with random monotone functions.
pub trait SmallLattice: Lattice + std::fmt::Debug {
    /// Any element but ⊤.
    fn any(rng: &mut SplitMix64) -> Self;

    /// A random monotone function of some elements.
    fn apply(rng: &mut SplitMix64, operands: &[&Self]) -> Self;

    /// A random monotone function of an element that mostly raises it.
    fn filter(&self, rng: &mut SplitMix64) -> Self;

    /// A random property that lower elements keep.
    fn is_possible(&self, rng: &mut SplitMix64) -> bool;

    /// Lowers it to one of few elements: monotone, and the same again of the result.
    fn widen(self) -> Self;
}

/// A problem over a lattice.
#[derive(Clone, Copy, Debug)]
pub struct RandomProblem<'a, L> {
    program: &'a Program,
    seed: u64,
    strategy: Strategy,
    lattice: PhantomData<L>,
}

impl<'a, L> RandomProblem<'a, L> {
    /// The problem of a seed, which refines facts where `strategy` splits.
    pub fn new(program: &'a Program, strategy: Strategy, seed: u64) -> Self {
        RandomProblem { program, seed, strategy, lattice: PhantomData }
    }

    /// What is drawn for one thing: always the same.
    fn draw(&self, kind: u64, number: usize, part: usize) -> SplitMix64 {
        let mut rng = SplitMix64::new(self.seed ^ kind << 56 ^ (number as u64) << 16 ^ part as u64);
        rng.fork()
    }

    fn splits(conditions: Conditions, kind: TestKind) -> bool {
        match conditions {
            Conditions::None => false,
            Conditions::Equalities => kind == TestKind::Equality,
            Conditions::All => true,
        }
    }
}

impl<L: SmallLattice> Forward for RandomProblem<'_, L> {
    type Fact = L;

    fn on_entry(&self, variable: Variable) -> L {
        L::any(&mut self.draw(1, variable.index(), 0))
    }

    fn instruction(&self, at: Instruction, facts: &mut impl ForwardFacts<L>) {
        let count = self.program.uses(at).len();
        for result in 0..self.program.definitions(at).len() {
            let operands: Vec<&L> = (0..count).map(|k| facts.before(k)).collect();
            let fact = L::apply(&mut self.draw(2, at.index(), result), &operands);
            facts.define(result, fact);
        }
        for operand in 0..count {
            let mut rng = self.draw(3, at.index(), operand);
            if self.strategy.uses_down && rng.chance(2, 3) {
                let fact = facts.before(operand).filter(&mut rng);
                facts.refine(operand, fact);
            }
        }
    }

    fn edge(&self, edge: EdgeId, facts: &mut impl ForwardEdge<L>) -> bool {
        let tests = self.program.tests(self.program.graph().source(edge));
        let mut is_possible = true;
        for (k, test) in tests.iter().enumerate() {
            let mut rng = self.draw(4, edge.index(), k);
            if Self::splits(self.strategy.conditions_down, test.kind) && rng.chance(3, 4) {
                let fact = facts.before(k).filter(&mut rng);
                facts.refine(k, fact);
            }
            is_possible &= !rng.chance(1, 2) || facts.before(k).is_possible(&mut rng);
        }
        is_possible
    }

    fn widen(&self, _: Node, _: &L, new: L) -> L {
        if self.seed.is_multiple_of(2) { new } else { new.widen() }
    }
}

impl<L: SmallLattice> Backward for RandomProblem<'_, L> {
    type Fact = L;

    fn instruction(&self, at: Instruction, facts: &mut impl BackwardFacts<L>) {
        let results = self.program.definitions(at).len();
        for operand in 0..self.program.uses(at).len() {
            let mut rng = self.draw(5, at.index(), operand);
            if !self.strategy.uses_up {
                let known: Vec<&L> = (0..results).map(|k| facts.result(k)).collect();
                let fact = L::apply(&mut rng, &known);
                facts.lower(operand, fact);
                continue;
            }
            match rng.below(3) {
                0 => {}
                1 => {
                    let known: Vec<&L> = (0..results).map(|k| facts.result(k)).collect();
                    let fact = L::apply(&mut rng, &known);
                    facts.lower(operand, fact);
                }
                _ => {
                    let mut known: Vec<&L> = (0..results).map(|k| facts.result(k)).collect();
                    known.push(facts.after(operand));
                    let fact = L::apply(&mut rng, &known);
                    facts.replace(operand, fact);
                }
            }
        }
    }

    fn edge(&self, edge: EdgeId, facts: &mut impl BackwardEdge<L>) {
        let tests = self.program.tests(self.program.graph().source(edge));
        for (k, test) in tests.iter().enumerate() {
            let mut rng = self.draw(6, edge.index(), k);
            if Self::splits(self.strategy.conditions_up, test.kind) && rng.chance(3, 4) {
                let fact = L::apply(&mut rng, &[facts.after(k)]);
                facts.replace(k, fact);
            }
        }
    }
}

/// Sets of eight things; ⊤ is the empty one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Powerset(pub u8);

impl Lattice for Powerset {
    fn top() -> Self {
        Powerset(0)
    }

    fn meet(&mut self, other: &Self) -> bool {
        let new = self.0 | other.0;
        std::mem::replace(&mut self.0, new) != new
    }
}

impl SmallLattice for Powerset {
    fn any(rng: &mut SplitMix64) -> Self {
        Powerset(1 << rng.below(8))
    }

    fn apply(rng: &mut SplitMix64, operands: &[&Self]) -> Self {
        let mut all = if operands.is_empty() || rng.chance(1, 3) { 1 << rng.below(8) } else { 0 };
        let (mut trigger, wanted) = (true, rng.next_u64() as u8 & rng.next_u64() as u8);
        for operand in operands {
            for bit in (0..8).filter(|b| operand.0 >> b & 1 != 0) {
                // Drawn for all bits in the same order, whatever is set.
                let to = SplitMix64::new(rng.clone().next_u64() ^ bit).next_u64() as u8;
                all |= to & to.rotate_left(4);
            }
            trigger &= operand.0 & wanted == wanted;
            rng.next_u64();
        }
        // Not distributive: something that needs something of each.
        Powerset(all | if trigger { rng.next_u64() as u8 & 0x11 } else { 0 })
    }

    fn filter(&self, rng: &mut SplitMix64) -> Self {
        Powerset(self.0 & (rng.next_u64() | rng.next_u64()) as u8)
    }

    fn is_possible(&self, rng: &mut SplitMix64) -> bool {
        self.0 & (rng.next_u64() | rng.next_u64()) as u8 != 0
    }

    fn widen(self) -> Self {
        Powerset(self.0 | (self.0 & 0x0f) << 4)
    }
}

/// A chain of eight elements; ⊤ is 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chain(pub u8);

impl Lattice for Chain {
    fn top() -> Self {
        Chain(0)
    }

    fn meet(&mut self, other: &Self) -> bool {
        let new = self.0.max(other.0);
        std::mem::replace(&mut self.0, new) != new
    }
}

impl SmallLattice for Chain {
    fn any(rng: &mut SplitMix64) -> Self {
        Chain(rng.between(1, 3) as u8)
    }

    fn apply(rng: &mut SplitMix64, operands: &[&Self]) -> Self {
        let most = operands.iter().map(|o| o.0).max().unwrap_or(rng.below(4) as u8);
        let least = operands.iter().map(|o| o.0).min().unwrap_or(0);
        Chain(match rng.below(4) {
            0 => most,
            1 => least,
            2 => (most + 1).min(7),
            _ => (least + rng.below(4) as u8).min(rng.between(3, 7) as u8),
        })
    }

    fn filter(&self, rng: &mut SplitMix64) -> Self {
        Chain(self.0.min(rng.below(8) as u8))
    }

    fn is_possible(&self, rng: &mut SplitMix64) -> bool {
        self.0 >= rng.below(5) as u8
    }

    fn widen(self) -> Self {
        Chain(if self.0 > 2 { 7 } else { self.0 })
    }
}

/// ⊤, a number modulo 16, or any number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flat {
    /// ⊤.
    Nothing,
    /// This number.
    Number(u8),
    /// Not one number.
    Anything,
}

impl Lattice for Flat {
    fn top() -> Self {
        Flat::Nothing
    }

    fn meet(&mut self, other: &Self) -> bool {
        let new = match (*self, *other) {
            (Flat::Nothing, x) | (x, Flat::Nothing) => x,
            (a, b) if a == b => a,
            _ => Flat::Anything,
        };
        std::mem::replace(self, new) != new
    }
}

impl SmallLattice for Flat {
    fn any(rng: &mut SplitMix64) -> Self {
        if rng.chance(1, 3) { Flat::Anything } else { Flat::Number(rng.below(4) as u8) }
    }

    fn apply(rng: &mut SplitMix64, operands: &[&Self]) -> Self {
        let (which, mut all) = (rng.below(4), Flat::Number(rng.below(4) as u8));
        for &&operand in operands {
            all = match (all, operand) {
                (Flat::Nothing, _) | (_, Flat::Nothing) => Flat::Nothing,
                (Flat::Number(a), Flat::Number(b)) => Flat::Number(
                    match which {
                        0 => a.wrapping_add(b),
                        1 => a.wrapping_mul(b),
                        2 => a ^ b,
                        _ => b,
                    } % 16,
                ),
                _ if which == 3 => operand,
                _ => Flat::Anything,
            };
        }
        all
    }

    fn filter(&self, rng: &mut SplitMix64) -> Self {
        let one = rng.below(4) as u8;
        match *self {
            Flat::Number(n) if n != one => Flat::Nothing,
            Flat::Anything => Flat::Number(one),
            same => same,
        }
    }

    fn is_possible(&self, rng: &mut SplitMix64) -> bool {
        let (one, equal) = (rng.below(4) as u8, rng.chance(1, 2));
        match *self {
            Flat::Nothing => false,
            Flat::Number(n) => (n == one) == equal,
            Flat::Anything => true,
        }
    }

    fn widen(self) -> Self {
        self
    }
}

/// An interval of four-bit numbers, or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interval(pub Option<(u8, u8)>);

impl Interval {
    fn to(low: u8, high: u8) -> Interval {
        Interval((low <= high).then_some((low, high)))
    }
}

impl Lattice for Interval {
    fn top() -> Self {
        Interval(None)
    }

    fn meet(&mut self, other: &Self) -> bool {
        let new = match (self.0, other.0) {
            (None, x) | (x, None) => x,
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
        };
        std::mem::replace(&mut self.0, new) != new
    }
}

impl SmallLattice for Interval {
    fn any(rng: &mut SplitMix64) -> Self {
        let low = rng.below(16);
        Interval::to(low as u8, rng.between(low, (low + 3).min(15)) as u8)
    }

    fn apply(rng: &mut SplitMix64, operands: &[&Self]) -> Self {
        let which = rng.below(3);
        let mut all = Interval::to(1, rng.between(1, 2) as u8);
        for operand in operands {
            all = match (all.0, operand.0) {
                (None, _) | (_, None) => Interval(None),
                (Some((a, b)), Some((c, d))) => match which {
                    0 => Interval::to((a + c).min(15), (b + d).min(15)),
                    1 if b + d > 15 => Interval::to(0, 15),
                    1 => Interval::to(a + c, b + d),
                    _ => Interval::to(a.max(c), b.max(d)),
                },
            };
        }
        all
    }

    fn filter(&self, rng: &mut SplitMix64) -> Self {
        let (bound, below) = (rng.below(16) as u8, rng.chance(1, 2));
        match self.0 {
            None => Interval(None),
            Some((a, b)) if below => Interval::to(a, b.min(bound)),
            Some((a, b)) => Interval::to(a.max(bound), b),
        }
    }

    fn is_possible(&self, rng: &mut SplitMix64) -> bool {
        self.filter(rng).0.is_some()
    }

    fn widen(self) -> Self {
        match self.0 {
            None => self,
            Some((a, b)) => {
                let low = [7, 3, 1, 0].into_iter().find(|&t| t <= a).unwrap_or(0);
                let high = [1, 3, 7, 15].into_iter().find(|&t| t >= b).unwrap_or(15);
                Interval::to(low, high)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All elements of a small lattice, by meeting and drawing.
    fn check<L: SmallLattice + Copy>(elements: &[L]) {
        let below = |a: &L, b: &L| {
            let mut met = *a;
            met.meet(b);
            met == *a
        };
        for seed in 0..200 {
            for a in elements {
                for b in elements.iter().filter(|b| below(b, a)) {
                    // `b` is below `a`.
                    let apply = |x: &L, y: &L| L::apply(&mut SplitMix64::new(seed), &[x, y]);
                    for c in elements {
                        assert!(below(&apply(b, c), &apply(a, c)), "apply({b:?}, {c:?}), seed {seed}");
                        assert!(below(&apply(c, b), &apply(c, a)), "apply({c:?}, {b:?}), seed {seed}");
                    }
                    let filter = |x: &L| x.filter(&mut SplitMix64::new(seed));
                    assert!(below(&filter(b), &filter(a)), "filter({b:?}), seed {seed}");
                    let possible = |x: &L| x.is_possible(&mut SplitMix64::new(seed));
                    assert!(possible(b) || !possible(a), "is_possible({b:?}), seed {seed}");
                    assert!(below(&b.widen(), &a.widen()) && below(&b.widen(), b));
                    assert_eq!(b.widen().widen(), b.widen());
                }
            }
        }
    }

    #[test]
    fn the_functions_of_small_lattices_are_monotone() {
        check(&(0..=7).map(Chain).collect::<Vec<_>>());
        check(&[0, 1, 2, 3, 16, 17, 18, 0x80, 0x88, 0xf0, 0xff, 0x7f].map(Powerset));
        check(&[Flat::Nothing, Flat::Number(0), Flat::Number(1), Flat::Number(3), Flat::Anything]);
        let ends = [0, 1, 2, 3, 4, 7, 8, 15];
        let mut intervals = vec![Interval(None)];
        intervals.extend(ends.iter().flat_map(|&a| ends.iter().map(move |&b| Interval::to(a, b))));
        intervals.dedup();
        check(&intervals);
    }
}
