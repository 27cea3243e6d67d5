//! `warpline run --profile-out`: the interpreter's run is counted, branch by branch.
//!
//! Kernels are interpreted in groups of as many lanes as are chosen for them, also where each index is executed for
//! itself otherwise: so it is counted how often a whole group goes one way. That run is for nothing but counting.
//! Functions with loops run as they are, so that only single iterations are counted.

use std::collections::HashMap;

use warpline::Place;
use warpline::interp::{Event, Observer};
use warpline::ir::{Block, FuncId, Module};
use warpline::shape::ArgShape;
use warpline_compile::profile::{Branch, FunctionProfile, Profile, Taken, identify};

use crate::kernel::Kernel;

use super::data::Data;
use super::lockstep::{self, Subject};

/// Counts branches of all functions.
struct Counter<'a> {
    module: &'a Module,
    /// The number of lanes of a whole group.
    group: u32,
    branches: HashMap<(FuncId, Block), Branch>,
}

impl Observer for Counter<'_> {
    fn executed(&mut self, event: &Event<'_>) {
        let Some(id) = event.function() else { return };
        let func = &self.module.functions[id];
        let inst = &func.insts[event.inst];
        if inst.edges.len() < 2 {
            return;
        }
        let branch = self.branches.entry((id, inst.block)).or_insert_with(|| Branch {
            line: Place::of(self.module, func, inst.loc.expand()).map(|place| place.line),
            group: self.group,
            came: 0,
            edges: vec![Taken::default(); inst.edges.len()],
        });
        branch.came += 1;
        let mut lanes = vec![0; inst.edges.len()];
        for edge in event.lanes.iter().filter_map(|lane| event.edge(lane)) {
            if let Some(k) = inst.edges.iter().position(|&e| e == edge) {
                lanes[k] += 1;
            }
        }
        for (taken, lanes) in branch.edges.iter_mut().zip(lanes) {
            taken.lanes += lanes;
            taken.groups += u64::from(lanes > 0);
        }
    }
}

/// Counts a run of a kernel, or of a function with loops, and adds that to a profile.
pub(super) fn add(profile: &mut Profile, kernel: &Kernel, subject: Subject<'_>, data: &Data) {
    let module = subject.module;
    let mut counter = Counter { module, group: subject.width, branches: HashMap::new() };
    lockstep::observe(subject, data, usize::MAX, &mut counter);
    // A kernel that asks which work-item it is is a copy with the same blocks.
    let original = module.function(&kernel.name).unwrap_or(kernel.func);
    let function = |id: FuncId| &module.functions[if id == kernel.func { original } else { id }];
    let mut place = HashMap::new();
    for ((id, block), branch) in counter.branches {
        let blocks = place.entry(id).or_insert_with(|| {
            let layout = module.functions[id].layout.iter().copied();
            layout.zip(0..).collect::<HashMap<Block, usize>>()
        });
        let Some(&at) = blocks.get(&block) else { continue };
        let name = function(id).name.to_string();
        let counted = profile.functions.entry(name).or_insert_with(|| FunctionProfile {
            code: identify(module, function(id)),
            ..FunctionProfile::default()
        });
        counted.add(at, &branch);
    }
    if kernel.args.contains(&ArgShape::Index) {
        let counted = profile.functions.entry(kernel.name.clone()).or_insert_with(|| FunctionProfile {
            code: identify(module, &module.functions[original]),
            ..FunctionProfile::default()
        });
        counted.ranges += 1;
        counted.indices = counted.indices.saturating_add(data.end.abs_diff(data.begin));
    }
}
