//! Versions for split live ranges (paper 4, Figure 8), and what of them remains (Figure 9).
//!
//! Figure 8 walks the dominator tree once for each variable. Here the occurrences of a variable, with its φs, σs and
//! copies, are sorted by the position of their blocks in that tree, which costs no more than they are many. On the
//! way a stack holds the versions whose blocks dominate the place; what is on top is what a use there sees.
//!
//! Since splits are only made where a variable is live, every added version reaches a use, which is the second half
//! of Figure 9. The first half, versions that no definition reaches, is left: it can only be found where a use sees
//! no definition.

use alloc::vec::Vec;

use super::live_range::LiveRange;
use super::occurrences::{Occurrence, Place};
use super::plan::Plan;
use super::single_entry::SingleEntries;
use super::versions::{NONE, Ssi, Version, VersionDef};
use crate::dom::DomTree;
use crate::graph::{CsrGraph, Graph, Lists, Node};
use crate::program::{Instruction, Program, Variable};

// Positions within a block: σs of the only edge to it, φs, instructions (what they use, what they define), tests and
// σs, edges.
const ENTERED: u32 = 0;
const PHIS: u32 = 1;
const OUT: u32 = u32::MAX - 1;
const EDGES: u32 = u32::MAX;

fn reads(program: &Program, node: Node, at: Instruction) -> u32 {
    2 + 2 * (at.0 - program.block(node).start)
}

fn writes(program: &Program, node: Node, at: Instruction) -> u32 {
    reads(program, node, at) + 1
}

/// What happens to a variable at some place. Numbers are slots of the program, local versions, operands of local
/// versions.
#[derive(Clone, Copy)]
enum Event {
    Use(u32),
    Test(u32),
    PhiOperand(u32),
    /// A local version reads.
    Operand(u32),
    /// A local version begins.
    Added(u32),
    /// The program defines.
    Defined(u32),
    /// A φ of the program, by its number in its block, defines.
    DefinedByPhi(u32),
}

/// A version of the variable that is being renamed; the first one is the variable itself.
struct Local {
    definition: VersionDef,
    /// Where its operands begin, up to those of the next.
    operands: u32,
}

/// What has been found out about something that the program reads or writes.
#[derive(Clone, Copy)]
enum Slot {
    Use(u32),
    Test(u32),
    PhiOperand(u32),
    Definition(u32),
    PhiResult(Node, u32),
}

/// Room for what happens to one variable, as far as it is usual.
const ROOM: usize = 32;

/// Collects versions, one variable after the other.
pub(super) struct Assembly<'a> {
    program: &'a Program,
    ssi: Ssi,
    operand_starts: Vec<u32>,
    operands: Vec<u32>,
    phis: Vec<(u32, Version)>,
    sigmas: Vec<(u32, Version)>,
    copies: Vec<(u32, Version)>,
    entries: SingleEntries,
    /// Per edge the local version that a σ of the variable being renamed defines there.
    sigma_on: Vec<u32>,
    events: Vec<(u64, Event)>,
    locals: Vec<Local>,
    /// Local versions, or `NONE`.
    local_operands: Vec<u32>,
    resolved: Vec<(Slot, u32)>,
    stack: Vec<(Node, u32)>,
    global: Vec<u32>,
}

impl<'a> Assembly<'a> {
    pub(super) fn new(program: &'a Program) -> Self {
        let graph = program.graph();
        Assembly {
            program,
            ssi: Ssi::unsplit(program),
            operand_starts: vec![0],
            operands: Vec::new(),
            phis: Vec::new(),
            sigmas: Vec::new(),
            copies: Vec::new(),
            entries: SingleEntries::new(graph.node_count()),
            sigma_on: vec![NONE; graph.edge_count()],
            events: Vec::with_capacity(ROOM),
            locals: Vec::with_capacity(ROOM),
            local_operands: Vec::with_capacity(ROOM),
            resolved: Vec::with_capacity(ROOM),
            stack: Vec::with_capacity(ROOM),
            global: Vec::with_capacity(ROOM),
        }
    }

    pub(super) fn finish(self) -> Ssi {
        if self.ssi.added.is_empty() {
            return self.ssi;
        }
        let graph = self.program.graph();
        let by = |known: Lists<Version>, len: usize, list: &[(u32, Version)]| match list.is_empty() {
            true => known,
            false => Lists::group(len, list.iter().map(|&(at, v)| (at as usize, v))),
        };
        let Ssi { phis_at, sigmas_at, copies_at, .. } = self.ssi;
        Ssi {
            phis_at: by(phis_at, graph.node_count(), &self.phis),
            sigmas_at: by(sigmas_at, graph.edge_count(), &self.sigmas),
            copies_at: by(copies_at, self.program.instructions(), &self.copies),
            operands: Lists::from_parts(self.operand_starts, self.operands),
            ..self.ssi
        }
    }

    /// Gives a variable, whose splits are planned, its versions.
    pub(super) fn rename(
        &mut self,
        variable: Variable,
        occurrences: &[Occurrence],
        plan: &Plan,
        range: &LiveRange<CsrGraph>,
        dom: &DomTree,
        on_entry: bool,
    ) {
        self.events.clear();
        self.locals.clear();
        self.local_operands.clear();
        self.resolved.clear();
        self.locals.push(Local { definition: VersionDef::Actual, operands: 0 });
        self.add_sigmas(plan, range, dom);
        self.add_copies(plan, dom);
        self.add_phis(plan, dom);
        self.add_occurrences(occurrences, dom);
        self.events.sort_unstable_by_key(|e| e.0);
        let complete = self.walk(dom, on_entry);
        self.number(variable, complete || on_entry);
        self.commit(variable);
    }

    fn event(&mut self, dom: &DomTree, node: Node, position: u32, event: Event) {
        self.events.push((u64::from(dom.position(node)) << 32 | u64::from(position), event));
    }

    /// A new local version with so many operands.
    fn local(&mut self, definition: VersionDef, operands: usize) -> u32 {
        let first = self.local_operands.len();
        self.locals.push(Local { definition, operands: first as u32 });
        self.local_operands.resize(first + operands, NONE);
        self.locals.len() as u32 - 1
    }

    fn add_sigmas(&mut self, plan: &Plan, range: &LiveRange<CsrGraph>, dom: &DomTree) {
        let graph = self.program.graph();
        for &node in &plan.sigmas {
            for &e in graph.out_edges(node).iter().filter(|&&e| range.on_edge(e)) {
                let version = self.local(VersionDef::Sigma(e), 1);
                self.sigma_on[e.index()] = version;
                let operand = self.locals[version as usize].operands;
                self.event(dom, node, OUT, Event::Operand(operand));
                let target = graph.target(e);
                if self.entries.dominates(graph, dom, e, target) {
                    self.event(dom, target, ENTERED, Event::Added(version));
                }
            }
        }
    }

    fn add_copies(&mut self, plan: &Plan, dom: &DomTree) {
        for &at in &plan.copies {
            let node = self.program.block_of(at);
            let version = self.local(VersionDef::Copy(at), 1);
            let operand = self.locals[version as usize].operands;
            self.event(dom, node, reads(self.program, node, at), Event::Operand(operand));
            self.event(dom, node, writes(self.program, node, at), Event::Added(version));
        }
    }

    fn add_phis(&mut self, plan: &Plan, dom: &DomTree) {
        let graph = self.program.graph();
        for &node in &plan.phis {
            let in_edges = graph.in_edges(node);
            let version = self.local(VersionDef::Phi(node), in_edges.len());
            let first = self.locals[version as usize].operands;
            self.event(dom, node, PHIS, Event::Added(version));
            for (operand, &e) in (first..).zip(in_edges) {
                match self.sigma_on[e.index()] {
                    NONE if dom.is_reachable(graph.source(e)) => {
                        self.event(dom, graph.source(e), EDGES, Event::Operand(operand));
                    }
                    sigma => self.local_operands[operand as usize] = sigma,
                }
            }
        }
    }

    /// What the program itself does, where control arrives.
    fn add_occurrences(&mut self, occurrences: &[Occurrence], dom: &DomTree) {
        for &Occurrence { node, place, slot } in occurrences.iter().filter(|o| dom.is_reachable(o.node)) {
            let (position, event) = match place {
                Place::Phi(number) => (PHIS, Event::DefinedByPhi(number)),
                Place::Use(at) => (reads(self.program, node, at), Event::Use(slot)),
                Place::Definition(at) => (writes(self.program, node, at), Event::Defined(slot)),
                Place::Test => (OUT, Event::Test(slot)),
                Place::Operand(e) => match self.sigma_on[e.index()] {
                    NONE => (EDGES, Event::PhiOperand(slot)),
                    sigma => {
                        self.resolved.push((Slot::PhiOperand(slot), sigma));
                        continue;
                    }
                },
            };
            self.event(dom, node, position, event);
        }
    }

    /// Connects uses with versions. Says whether every use saw one.
    fn walk(&mut self, dom: &DomTree, on_entry: bool) -> bool {
        let (mut complete, mut first_is_free) = (true, !on_entry);
        self.stack.clear();
        if on_entry {
            self.stack.push((dom.root(), 0));
        }
        let events = core::mem::take(&mut self.events);
        for &(key, event) in &events {
            let node = dom.pre_order()[(key >> 32) as usize];
            while self.stack.last().is_some_and(|top| !dom.dominates(top.0, node)) {
                self.stack.pop();
            }
            let mut defined = |s: &mut Self| {
                if core::mem::take(&mut first_is_free) { 0 } else { s.local(VersionDef::Actual, 0) }
            };
            let read = match event {
                Event::Added(version) => {
                    self.stack.push((node, version));
                    continue;
                }
                Event::Defined(slot) => {
                    let version = defined(self);
                    self.stack.push((node, version));
                    self.resolved.push((Slot::Definition(slot), version));
                    continue;
                }
                Event::DefinedByPhi(number) => {
                    let version = defined(self);
                    self.stack.push((node, version));
                    self.resolved.push((Slot::PhiResult(node, number), version));
                    continue;
                }
                read => read,
            };
            let seen = self.stack.last().map_or(NONE, |top| top.1);
            complete &= seen != NONE;
            match read {
                Event::Use(slot) => self.resolved.push((Slot::Use(slot), seen)),
                Event::Test(slot) => self.resolved.push((Slot::Test(slot), seen)),
                Event::PhiOperand(slot) => self.resolved.push((Slot::PhiOperand(slot), seen)),
                Event::Operand(operand) => self.local_operands[operand as usize] = seen,
                Event::Added(_) | Event::Defined(_) | Event::DefinedByPhi(_) => {}
            }
        }
        self.events = events;
        complete
    }

    /// Where the operands of a local version stand.
    fn operands_of(&self, version: usize) -> core::ops::Range<usize> {
        let end = self.locals.get(version + 1).map_or(self.local_operands.len(), |l| l.operands as usize);
        self.locals[version].operands as usize..end
    }

    /// Decides which local versions remain, if all are defined or else those that a definition reaches, and numbers
    /// them.
    fn number(&mut self, variable: Variable, all: bool) {
        let base = self.program.variables() + self.ssi.added.len();
        self.global.clear();
        self.global.push(variable.0);
        if all {
            self.global.extend((1..self.locals.len()).map(|k| (base + k - 1) as u32));
            return;
        }
        let defined = self.defined();
        let mut next = base as u32;
        for &is in &defined[1..] {
            self.global.push(if is { next } else { NONE });
            next += u32::from(is);
        }
    }

    /// The local versions that a definition reaches (Figure 9, lines 3 to 8).
    fn defined(&self) -> Vec<bool> {
        let readers = (0..self.locals.len()).flat_map(|reader| {
            let operands = &self.local_operands[self.operands_of(reader)];
            operands.iter().filter(|&&o| o != NONE).map(move |&o| (o as usize, reader as u32))
        });
        let readers = Lists::group(self.locals.len(), readers);
        let mut defined: Vec<bool> = self.locals.iter().map(|l| l.definition == VersionDef::Actual).collect();
        let mut work: Vec<usize> = (0..defined.len()).filter(|&k| defined[k]).collect();
        while let Some(version) = work.pop() {
            for &reader in readers.get(version) {
                if !core::mem::replace(&mut defined[reader as usize], true) {
                    work.push(reader as usize);
                }
            }
        }
        defined
    }

    /// Writes what was found into the result.
    fn commit(&mut self, variable: Variable) {
        if self.ssi.added.is_empty() {
            self.ssi.added.reserve(ROOM);
            self.operands.reserve(ROOM);
            self.operand_starts.reserve(ROOM);
            self.phis.reserve(ROOM);
            self.sigmas.reserve(ROOM);
        }
        for k in 1..self.locals.len() {
            let version = Version(self.global[k]);
            let definition = self.locals[k].definition;
            if let VersionDef::Sigma(e) = definition {
                self.sigma_on[e.index()] = NONE;
            }
            if version.0 == NONE {
                continue;
            }
            match definition {
                VersionDef::Actual => {}
                VersionDef::Phi(node) => self.phis.push((node.0, version)),
                VersionDef::Sigma(edge) => self.sigmas.push((edge.0, version)),
                VersionDef::Copy(at) => self.copies.push((at.0, version)),
            }
            self.ssi.added.push((variable, definition));
            self.ssi.split.insert(variable.index());
            for operand in self.operands_of(k) {
                self.operands.push(global(&self.global, self.local_operands[operand]));
            }
            self.operand_starts.push(self.operands.len() as u32);
        }
        for &(slot, local) in &self.resolved {
            let version = global(&self.global, local);
            match slot {
                Slot::Use(slot) => self.ssi.uses[slot as usize] = version,
                Slot::Test(slot) => self.ssi.tests[slot as usize] = version,
                Slot::PhiOperand(slot) => self.ssi.phi_operands[slot as usize] = version,
                Slot::Definition(slot) => self.ssi.definitions[slot as usize] = version,
                Slot::PhiResult(node, number) => {
                    for &e in self.program.graph().in_edges(node) {
                        let slot = self.program.phi_slots(e).start + number as usize;
                        self.ssi.phi_results[slot] = version;
                    }
                }
            }
        }
    }
}

fn global(numbers: &[u32], local: u32) -> u32 {
    if local == NONE { NONE } else { numbers[local as usize] }
}
