//! What vectorizing one kernel costs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use warpline::ir::{FuncId, Function, Module};
use warpline::text::parse_module;
use warpline::vectorize::passes::{Observer, Request};
use warpline::vectorize::{Options, vectorize};
use warpline_testkit::growing_kernels;

use warpline_cli::sampling::median;
use warpline_compile::error::{Error, Result};

/// The number of lanes.
const WIDTH: u32 = 8;

/// What was measured of one shape with one number of blocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Measurement {
    /// The name of the shape.
    pub shape: String,
    /// How many blocks were asked for, and how many blocks and edges the kernel has.
    pub size: usize,
    pub blocks: usize,
    pub edges: usize,
    /// How many operands, those of φs included, the vector code has: no work is less than writing these.
    pub operands: usize,
    /// Milliseconds of processor time.
    pub total: f64,
    /// The same by stage.
    pub stages: BTreeMap<String, f64>,
    /// How much the memory of the process grew at most, in KiB; none where the system does not tell.
    pub peak: Option<u64>,
}

/// Measures one shape with about so many blocks: medians of some runs. The peak of memory means something if the
/// process has done nothing else.
///
/// # Errors
/// If the kernel cannot be vectorized.
pub(super) fn measure(shape: &str, size: usize, runs: usize) -> Result<Measurement> {
    let found = growing_kernels::SHAPES.iter().find(|(name, _)| *name == shape);
    let &(_, body) = found.ok_or_else(|| Error::option("--shape", format!("there is no shape `{shape}`")))?;
    let text = growing_kernels::kernel(&body(size));
    let wrong = |e: String| Error::Vectorize(format!("{shape} of {size} blocks: {e}"));
    let module = parse_module(&text).map_err(|e| wrong(e.to_string()))?;
    drop(text);
    let id = module.function("f").ok_or_else(|| wrong("there is no function `f`".into()))?;
    let before = memory("VmRSS:");
    let (operands, first) = run(&module, id).map_err(wrong)?;
    // Of the first run only: what is freed is not always given back.
    let peak = memory("VmHWM:").zip(before).map(|(peak, before)| peak.saturating_sub(before));
    let mut times = vec![first];
    for _ in 1..runs {
        times.push(run(&module, id).map_err(wrong)?.1);
    }
    let of = |stage: &str| median(times.iter().map(|t| t.get(stage).copied().unwrap_or(0.0)).collect());
    Ok(Measurement {
        shape: shape.to_owned(),
        size,
        blocks: module.functions[id].layout.len(),
        edges: module.functions[id].layout.iter().map(|&b| module.functions[id].out_edges(b).len()).sum(),
        operands,
        total: median(times.iter().map(|t| t.values().sum()).collect()),
        stages: STAGES.iter().map(|(name, _)| ((*name).to_owned(), of(name))).collect(),
        peak,
    })
}

/// The columns: passes and what they are made of, put together.
pub(super) const STAGES: [(&str, &[&str]); 9] = [
    ("verify", &["verify"]),
    ("normal form", &["dissolve-copies", "canonicalize"]),
    ("analysis", &["uniformity", "find-words", "dependences"]),
    ("classes", &["linearize", "mask-classes"]),
    ("guards", &["insert-guards"]),
    ("linearization", &["partial-linearization"]),
    ("repair", &["construct-masks"]),
    ("cleanup", &["simplify-masks"]),
    ("lowering", &["lower"]),
];

/// Vectorizes a function of a copy of the module: how many operands the result has, and the milliseconds of each stage.
fn run(module: &Module, id: FuncId) -> std::result::Result<(usize, BTreeMap<&'static str, f64>), String> {
    let mut module = module.clone();
    let observer = Observer::new(Request::default(), |_| {})?;
    let options =
        Options { instrument: &observer, ..Options::new(WIDTH, growing_kernels::args(), "f_lanes") };
    let result = vectorize(&mut module, id, &options).map_err(|e| e.to_string())?;
    let time = |parts: &[&str]| parts.iter().map(|p| observer.time(p).as_secs_f64() * 1e3).sum();
    let times = STAGES.iter().map(|&(name, parts)| (name, time(parts))).collect();
    Ok((operands(&module.functions[result.func]), times))
}

/// The operands of all instructions and edges.
fn operands(func: &Function) -> usize {
    let of_block = |b| {
        let insts = func.block_insts(b).map(|i| func.insts[i].args.len()).sum::<usize>();
        insts + func.out_edges(b).iter().map(|&e| func.edges[e].args.len()).sum::<usize>()
    };
    func.layout.iter().map(|&b| of_block(b)).sum()
}

/// A number of KiB that the system knows of this process; `VmHWM:` is the most memory that it had, `VmRSS:` what it
/// has.
fn memory(key: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_add_up_and_output_is_counted() {
        let found = measure("diamonds", 100, 1).unwrap();
        let sum: f64 = found.stages.values().sum();
        assert!((sum - found.total).abs() < 1e-6, "{sum} of {}", found.total);
        assert!(found.blocks > 90 && found.edges > found.blocks && found.operands > found.blocks);
        assert_eq!(found.stages.len(), STAGES.len());
    }

    #[test]
    fn shapes_that_do_not_exist_are_refused() {
        assert!(measure("hexagon", 10, 1).is_err());
    }
}
