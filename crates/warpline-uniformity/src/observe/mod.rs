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
//! The parameters that the caller names ([`Secrets`]): values, or the memory that a pointer parameter leads to. All
//! else is public at the start. Values follow the uniformity engine, with these instructions as sources: loads from
//! memory that may hold secrets, and calls that may return them. Memory is followed by object, whatever the order of
//! execution is: an object into which a secret is stored, or into which anything is stored at a secret address or
//! where secrets decide whether the store is executed, holds secrets throughout, and so do all objects that may be
//! the same. A pointer of unknown origin may lead to any object but private ones whose address is never handed out.
//! Calls of functions in the module are followed with what is secret at the call; recursive calls are not, and count
//! as unknown.
//!
//! All of this errs towards secret. It is not looked into how an unknown function works that gets no secrets, and
//! functions of the module are taken to be what they are here.

mod findings;
mod function;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::Step;
use function::Summary;
use warpline_ir::{FuncId, Function, Inst, Module, Names};

/// Which parameters bring secrets, in order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Secrets {
    /// Whether the value is secret.
    pub values: Vec<bool>,
    /// Whether the memory is secret that a pointer leads to; the pointer itself is not.
    pub memory: Vec<bool>,
}

/// What is wrong with a list of secrets.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SecretError {
    /// There is no such parameter.
    Unknown {
        /// What was asked for.
        name: String,
        /// The parameters there are.
        known: Vec<String>,
    },
    /// `*` or `&` before a parameter that is no pointer.
    NoPointer(String),
    /// The list names nothing.
    Empty {
        /// The parameters there are.
        known: Vec<String>,
    },
}

impl fmt::Display for SecretError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |known: &[String]| match known.is_empty() {
            true => "it has none".to_owned(),
            false => format!("they are {}", known.join(", ")),
        };
        match self {
            SecretError::Unknown { name, known } => {
                write!(f, "there is no parameter `{name}`; {}", list(known))
            }
            SecretError::NoPointer(name) => {
                write!(f, "the parameter {name} is no pointer; leave out the sign before it")
            }
            SecretError::Empty { known } => write!(f, "name the parameters that are secret; {}", list(known)),
        }
    }
}

impl std::error::Error for SecretError {}

impl Secrets {
    /// Reads a list of parameters, by name or by position from 0, separated by commas. Of a pointer the memory that
    /// it leads to is secret (`key`, or with a sign `*key`); with `&key` the pointer itself is. Of anything else the
    /// value is.
    ///
    /// # Errors
    /// If a parameter does not exist or a sign does not fit it.
    pub fn parse(list: &str, func: &Function) -> Result<Secrets, SecretError> {
        let names = Names::new(func);
        let known: Vec<String> = func.params.iter().map(|&p| names.value(func, p)).collect();
        let mut secrets = Secrets { values: vec![false; known.len()], memory: vec![false; known.len()] };
        for item in list.split(',').map(str::trim).filter(|i| !i.is_empty()) {
            let (sign, name) = match item.strip_prefix(['*', '&']) {
                Some(name) => (item.chars().next(), name.trim()),
                None => (None, item),
            };
            let bare = name.trim_start_matches('%');
            let by_name = known.iter().position(|k| &k[1..] == bare);
            let by_position =
                || bare.parse().ok().filter(|&i: &usize| i < known.len() && !name.starts_with('%'));
            let Some(index) = by_name.or_else(by_position) else {
                return Err(SecretError::Unknown { name: name.to_owned(), known });
            };
            let is_pointer = func.ty(func.params[index]).is_ptr();
            match (sign, is_pointer) {
                (Some(_), false) => return Err(SecretError::NoPointer(known[index].clone())),
                (Some('&'), true) | (None, false) => secrets.values[index] = true,
                _ => secrets.memory[index] = true,
            }
        }
        match secrets.values.iter().chain(&secrets.memory).any(|&s| s) {
            true => Ok(secrets),
            false => Err(SecretError::Empty { known }),
        }
    }
}

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

/// Looks for all that tells of the secrets of `func`.
pub fn observe(module: &Module, func: FuncId, secrets: &Secrets) -> Report {
    let mut observer = Observer {
        module,
        summaries: BTreeMap::new(),
        active: Vec::new(),
        followed: BTreeSet::new(),
        not_followed: BTreeSet::new(),
    };
    let start = Start { secrets: secrets.clone(), elsewhere: false, steered: false };
    let summary = observer.summary(func, start);
    observer.followed.remove(&func);
    let mut seen = BTreeSet::new();
    let mut findings = summary.findings;
    findings.retain(|f| seen.insert((f.func, f.inst, f.kind, f.text.clone())));
    Report { findings, followed: observer.followed, not_followed: observer.not_followed }
}

/// What is secret when a function is called.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Start {
    secrets: Secrets,
    /// Whether memory that no parameter leads to may hold secrets.
    elsewhere: bool,
    /// Whether secrets decide that it is called.
    steered: bool,
}

/// Functions that call each other more deeply are not followed.
const MAX_DEPTH: usize = 64;

struct Observer<'m> {
    module: &'m Module,
    summaries: BTreeMap<(FuncId, Start), Summary>,
    active: Vec<FuncId>,
    followed: BTreeSet<FuncId>,
    not_followed: BTreeSet<String>,
}

impl Observer<'_> {
    /// What a call comes to; that of a function that is being looked at already is not known.
    fn may_follow(&self, func: FuncId) -> bool {
        !self.active.contains(&func) && self.active.len() < MAX_DEPTH
    }

    fn summary(&mut self, func: FuncId, start: Start) -> Summary {
        let key = (func, start);
        if let Some(known) = self.summaries.get(&key) {
            return known.clone();
        }
        self.active.push(func);
        self.followed.insert(func);
        let summary = function::analyse(self, func, &key.1);
        self.active.pop();
        self.summaries.insert(key, summary.clone());
        summary
    }
}
