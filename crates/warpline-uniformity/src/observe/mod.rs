//! Observation mode: what a program's timing tells of its secrets.
//!
//! Paper 1 (Rosemann, Moll, Hack), Section 8, "Non-Interference": lanes stand for runs of the program that differ in
//! their secrets only, so uniform means public and varying means secret. The paper inserts an assignment to a dummy
//! variable wherever execution is observed, and asks whether it is uniform; what that adds to the values themselves
//! is that secrets may decide whether and how often a point executes. They do so through branches alone (early exits
//! and loops are branches), so a secret-dependent branch is what is reported.
//!
//! Reported are, with the chain of causes of each: branches on secrets; addresses (and lengths) of memory accesses
//! that depend on secrets, indices into vectors in registers included; operands of instructions whose time depends on
//! them ([`Kind::Operand`]); and calls that hand secrets to where they are not followed. Shifts, multiplications,
//! comparisons and `select` are taken to need the same time for all operands: whether a back end makes a branch of a
//! `select` is for a check of its output, which can be analysed as well.
//!
//! # What is secret
//!
//! What the caller names ([`Secrets`]): values, memory that a pointer parameter leads to or a part of it, global
//! variables, results of functions. All else is public at the start. Values follow the uniformity engine, with these
//! instructions as sources: loads from memory that may hold secrets, and calls that may return them. Memory is followed
//! by object and offset, whatever the order of execution is: bytes into which a secret is stored, or into which
//! anything is stored where secrets decide whether the store is executed, hold secrets throughout. A pointer of unknown
//! origin may lead to any object but private ones whose address is never handed out. Calls of functions in the module
//! are followed, each in its own context; a recursive call is one of the function that is being executed. Calls through
//! pointers are followed to where these lead; where that is not known, such a call is a finding if it is given secrets,
//! and what functions of the module do is followed that have the type and are used otherwise than by calls.
//!
//! # What is assumed
//!
//! All of this errs towards secret, but for these: arrays and members of structures are not left by arithmetic on
//! pointers to their elements, and memory is accessed as the types allow that the languages say; memory that is named
//! as public stays so; it is not looked into how an unknown function works that gets no secrets; and functions of the
//! module are taken to be what they are here. With [`Overlap::Apart`], what different parameters of the entry, global
//! variables, and pointers that lie in memory from the start lead to is apart.

mod calls;
mod chains;
mod findings;
mod memory;
mod noted;
mod points;
mod rows;
#[cfg(test)]
mod scale;
mod secrets;
mod state;
mod walk;
mod watch;

pub use secrets::{Area, Base, Elements, NoTypes, SecretError, Secrets, SourceTypes};

use std::collections::BTreeSet;

use crate::Step;
use memory::{Memory, Object, Place, Places, Region};
use rows::Rows;
use state::{Secret, State};
use warpline_ir::{FuncId, Inst, Module};

/// What is observed.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// Which way control takes.
    Branch,
    /// Which memory is accessed, or how much.
    Address,
    /// An operand that the time of an instruction depends on: of integer and floating-point division and remainder, of
    /// square roots, and of mathematical functions that become calls of a library.
    Operand,
    /// A secret leaves for where it is not followed.
    Call,
    /// A secret selects one of two values. Compilers may make a branch of that.
    Selection,
}

impl Kind {
    /// `branch`, `address`, `operand`, `call`, `selection`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Branch => "branch",
            Kind::Address => "address",
            Kind::Operand => "operand",
            Kind::Call => "call",
            Kind::Selection => "selection",
        }
    }
}

/// A part of an explanation within one function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    /// The function.
    pub func: FuncId,
    /// Its steps.
    pub steps: Vec<Step>,
}

/// Something that tells of a secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What is observed.
    pub kind: Kind,
    /// The function that does it.
    pub func: FuncId,
    /// The instruction.
    pub inst: Inst,
    /// What is so, as a sentence without a full stop.
    pub text: String,
    /// Why, down to the secret: through the function itself, then through its callers.
    pub chain: Vec<Segment>,
    /// The calls by which control comes to the function, outermost first.
    pub calls: Vec<(FuncId, Inst)>,
    /// Whether it is there only because a function that is not known, and is given secrets, may write them to whatever
    /// it is given. The call of that function is a finding of its own. [`mark_following`] finds out.
    pub follows: bool,
}

/// What was found out about a function and what it calls.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// The findings, each place and kind once, in the order of the program.
    pub findings: Vec<Finding>,
    /// Functions that were followed.
    pub followed: BTreeSet<FuncId>,
    /// Names of functions that were called without secrets and not looked into.
    pub not_followed: BTreeSet<String>,
}

/// Whether memory that a program is given in several ways may be the same.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Overlap {
    /// It is apart.
    Apart,
    /// It may be the same, unless `restrict` or types say otherwise.
    Possible,
}

/// Looks for all that tells of the secrets of `func`.
pub fn observe(module: &Module, func: FuncId, secrets: &Secrets, overlap: Overlap) -> Report {
    observe_with(module, func, secrets, overlap, true)
}

/// Marks what of a report is there only because functions that are not known may write secrets where they can.
pub fn mark_following(
    module: &Module,
    func: FuncId,
    secrets: &Secrets,
    overlap: Overlap,
    report: &mut Report,
) {
    let calls = report.findings.iter().filter(|f| f.kind == Kind::Call).count();
    if calls == 0 || report.findings.len() == 1 {
        return;
    }
    let place = |f: &Finding| (f.func, f.inst, f.kind);
    let own = observe_with(module, func, secrets, overlap, false);
    let own: BTreeSet<_> = own.findings.iter().map(place).collect();
    for finding in report.findings.iter_mut().filter(|_| !own.is_empty()) {
        finding.follows = !own.contains(&place(finding));
    }
}

/// The same as [`observe`]. `spreads`: whether functions that are not known write what they can of the secrets that they
/// are given.
fn observe_with(module: &Module, func: FuncId, secrets: &Secrets, overlap: Overlap, spreads: bool) -> Report {
    let mut state = solved(module, func, secrets, overlap, spreads);
    let findings = findings::of(&mut state);
    let followed = state.ids().map(|id| state.instance(id).id).filter(|&id| id != func).collect();
    Report { findings, followed, not_followed: state.not_followed }
}

/// All that is known of the program from `func` on.
fn solved<'m>(
    module: &'m Module,
    func: FuncId,
    secrets: &Secrets,
    overlap: Overlap,
    spreads: bool,
) -> State<'m> {
    let entry = &module.functions[func];
    let memory = Memory::new(module, entry, overlap == Overlap::Possible);
    let mut state = State::new(module, memory);
    state.spreads = spreads;
    state.secret_results.clone_from(&secrets.results);
    let first = state.add(func, Vec::new(), vec![None; entry.params.len()]);
    for (i, &p) in entry.params.iter().enumerate() {
        if points::may_hold_pointers(entry.ty(p)) {
            let object = state.memory.id(Object::Param(i as u32));
            state.instance_mut(first).bindings[i] = Places::of(Place::start(object));
        }
        if secrets.values.get(i) == Some(&true) {
            state.instance_mut(first).args[i] = Some(Secret::Start);
        }
    }
    for area in &secrets.memory {
        let region = region(&mut state.memory, area);
        state.memory.declare_secret(region);
    }
    for area in &secrets.public {
        let region = region(&mut state.memory, area);
        state.memory.declare_public(region);
    }
    state.solve();
    state
}

/// The bytes that are named.
fn region(memory: &mut Memory<'_>, area: &Area) -> Region {
    let mut object = match area.base {
        Base::Parameter(i) => memory.id(Object::Param(i)),
        Base::Global(symbol) => memory.id(Object::Global(symbol)),
    };
    for &at in &area.pointers {
        let pointer = Region::bytes(object, at, at + 8);
        object = memory.behind(pointer, 8).unwrap_or(object);
    }
    match (area.bytes, area.elements) {
        (Some((lo, hi)), None) => Region::bytes(object, lo, hi),
        (Some((lo, hi)), Some(Elements { size, count })) => {
            let rows = Rows::new(size, lo, hi - lo);
            let behind = |count: i64| count.checked_sub(1)?.checked_mul(size)?.checked_add(hi);
            match count.and_then(behind) {
                Some(hi) => Region { object, lo, hi, rows },
                None => Region { rows, ..Region::whole(object) },
            }
        }
        (None, _) => Region::whole(object),
    }
}
