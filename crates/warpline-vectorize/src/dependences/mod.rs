//! Dependences between lanes through memory: which there are, and what a [contract](Contract) makes of them.
//!
//! Lanes execute a lane program together: one statement for all of them, then the next. That changes the order of
//! accesses to memory. Of the accesses A and B of a program for one lane, of which one writes, lane *p* may touch
//! with A what lane *q* > *p* touches with B. The sequential program executes all of lane *p* first. In vectors, A of
//! lane *p* comes first if its statement comes first, or if A and B are one statement, which serves one lane after
//! the other. Everything else is a dependence that lanes break, unless lane *p* and lane *q* are never in one group.
//!
//! 1. `access`: the accesses to memory that lanes share; `roots`: the objects that they may lead to;
//! 2. `place`: addresses as sums of what stays the same in a lane, what moves in its inner loops (`bounds`), and rows
//!    of arrays;
//! 3. `meet`: whether two accesses can touch the same bytes, by the distance rule (`distance`) and by what part of an
//!    element they touch (`fields`);
//! 4. `order`: which of two statements comes first in the lane program, where all passes that move statements have
//!    done so;
//! 5. `judge`: what the contract says; `guards`: which lanes come to an access at all; `irregular`: addresses that
//!    lanes may have in common;
//! 6. `checks`, `span`, `rows`, `scalar`, `interval`, `counted`, `inspect`: what is left to be checked before a loop,
//!    when its pointers are known;
//! 7. `pieces`, `records`: what lanes would break, but a single lane after the other, or all together, do not.
//!
//! Distances and steps are congruences modulo 2^64, so no proof by them rests on arithmetic that does not wrap. Terms
//! that change in a loop within the kernel do not cancel, since two accesses may be made in different iterations: their
//! ranges count, or that they are in one iteration.

mod access;
mod apart;
mod bounds;
pub(super) mod checks;
mod counted;
mod distance;
mod fields;
mod guards;
mod inspect;
mod interval;
mod irregular;
mod judge;
mod meet;
mod order;
mod pieces;
mod place;
mod records;
mod region;
mod repeat;
mod roots;
mod rows;
mod scalar;
pub(super) mod span;

use warpline_ir::{Effects, Function, Inst, Module, Op, Symbol};
use warpline_uniformity::Uniformity;

use super::choices::Contract;
use super::embedder::Callees;
use super::known_calls::is_annotation;
use super::{VectorizeError, no_return_paths};
use access::{Access, Collector};
use bounds::{Facts, Source};
use inspect::Inspected;
use irregular::Irregular;
use judge::Judge;
use meet::Comparison;
use order::Schedule;
use place::Places;
use roots::Objects;

pub(super) use access::is_silent;
pub(super) use apart::{Apart, lie_side_by_side, stretch_of};
pub(crate) use checks::Check;
pub(super) use pieces::cut;
pub(crate) use pieces::{Pieces, is_piece};
pub(crate) use region::{Growth, Held, Region, Stands};

/// What was found of the dependences of a kernel, as far as it was not refused.
#[derive(Clone, Default, Debug)]
pub struct Dependences {
    /// The greatest number of lanes that keep the order of accesses; none for any number.
    pub lanes: Option<u32>,
    /// What must be checked before the loop that the kernel is an iteration of.
    pub checks: Vec<Check>,
    /// Accesses that checks keep apart in all lanes of a group, so that they may change places.
    pub apart: Vec<(Inst, Inst)>,
    /// What must hold beside these checks for the last iterations of a loop to be executed [once more](repeat), if
    /// that is ever possible.
    pub repeatable: Option<Vec<Check>>,
    /// Accesses that the user answers for, each as places in the source.
    pub trusted: Vec<String>,
    /// What users should know.
    pub warnings: Vec<String>,
}

/// What is asked of accesses to memory.
#[derive(Copy, Clone)]
pub(super) struct Setting<'a> {
    /// W.
    pub(super) width: u32,
    /// What memory that several lanes access means.
    pub(super) contract: Contract,
    /// How many lanes there are in a row at most, if that is known.
    pub(super) row: Option<u32>,
    /// The function that the kernel was cut out of, if it is an iteration of a loop.
    pub(super) region: Option<&'a Region<'a>>,
    /// Functions that are called for one lane after the other.
    pub(super) pieces: &'a Pieces,
    /// What is known of functions that are called.
    pub(super) callees: &'a dyn Callees,
}

/// Finds the dependences between the lanes of a kernel: `scalar`, in normal form, with its uniformity, which became
/// the lane program `lanes`.
///
/// # Errors
/// If there is one that the contract does not allow; the message names both places.
pub(super) fn find(
    module: &Module,
    scalar: &Function,
    lanes: &Function,
    uniformity: &Uniformity,
    setting: &Setting<'_>,
) -> Result<Dependences, VectorizeError> {
    if setting.contract == Contract::Racy || setting.width == 1 {
        return Ok(Dependences::default());
    }
    let region = setting.region;
    let source = Source::new(module, scalar);
    let facts = Facts::new(&source);
    let objects = Objects::new(module, scalar, region);
    let places = Places { module, func: scalar, uniformity, region, facts: &facts };
    let variants = |name: &str| !setting.callees.variants(name).is_empty();
    let collector = Collector {
        module,
        func: scalar,
        places,
        objects: &objects,
        pieces: setting.pieces,
        variants: &variants,
    };
    let schedule = Schedule::of(lanes);
    let mut accesses = Vec::new();
    // Who comes to code that never returns, such as a panic, ends the program: nobody sees what is done there.
    let dead = no_return_paths::find(scalar);
    let live = || scalar.layout.iter().filter(|&&b| !dead.contains(b));
    for &b in live() {
        for i in scalar.block_insts(b).filter(|&i| schedule.has(i)) {
            collector.of(i, &mut accesses);
        }
    }
    let is_vectorized = |i: Inst| match &scalar.insts[i].op {
        Op::Call(call) if call.callee.is_some_and(|s| is_serial(module, setting, s, call.effects)) => false,
        Op::Call(call) => call.callee.is_none_or(|s| module.function(&module.symbols[s].name).is_some()),
        _ => false,
    };
    let comparison = Comparison {
        module,
        func: scalar,
        uniformity,
        objects: &objects,
        facts: &facts,
        region,
        pieces: setting.pieces,
        accesses: &accesses,
        inspected: Inspected::default(),
        lanes: setting.width,
    };
    let mut judge = Judge {
        module,
        func: scalar,
        region,
        contract: setting.contract,
        width: setting.width,
        row: setting.row,
        pieces: setting.pieces,
        comparison,
        schedule,
        irregular: Irregular::new(scalar, uniformity),
        is_vectorized: &is_vectorized,
        found: Dependences::default(),
        long_rows: None,
        warned_of_warps: false,
        kept_apart: Vec::new(),
    };
    let held: Vec<Access> =
        region.map_or(&[][..], |r| r.held).iter().map(|&held| collector.before(held)).collect();
    judge.look_at(&accesses, &held)?;
    let is_repeatable = |i: Inst| {
        let data = &scalar.insts[i];
        let others = data.effects().difference(Effects::TRAPS | Effects::READS | Effects::WRITES);
        others.is_empty() || is_annotation(module, data)
    };
    if live().all(|&b| scalar.block_insts(b).all(is_repeatable)) {
        judge.found.repeatable = judge.repeatable(&accesses);
    }
    Ok(judge.found)
}

/// Whether a function is called for one active lane after the other, although it could be called for all at once: a
/// [piece](pieces), and in code with a sequential meaning whatever writes to memory that lanes share.
pub(super) fn is_serial(module: &Module, setting: &Setting<'_>, callee: Symbol, effects: Effects) -> bool {
    if setting.pieces.of(callee).is_some() {
        return true;
    }
    setting.contract == Contract::Sequential
        && access::shared_effects(module, callee, effects).contains(Effects::WRITES)
}
