//! Counts and times of one input.

use std::path::Path;

use serde::Serialize;
use warpline::ir::{Function, Inst, Module};
use warpline::uniformity::{Algorithm, Options, Target, Times, Uniformity, tokens};

use warpline_cli::cli::CompilerOptions;
use warpline_cli::subject::{Asked, Unit};
use warpline_compile::error::{Error, Result};

/// How many there are, and how many are uniform by each algorithm.
#[derive(Clone, Copy, Default, Serialize)]
pub(super) struct Counts {
    /// How many there are.
    pub total: usize,
    /// Uniform by the product.
    pub joins: usize,
    /// By post-dominators.
    pub postdom: usize,
    /// By strong post-dominators.
    pub strong_postdom: usize,
}

impl Counts {
    /// How many more are uniform than by strong post-dominators.
    pub(super) fn gain(&self) -> i64 {
        self.joins as i64 - self.strong_postdom as i64
    }

    fn uniform(&mut self, algorithm: Algorithm) -> &mut usize {
        match algorithm {
            Algorithm::Joins => &mut self.joins,
            Algorithm::PostDom => &mut self.postdom,
            _ => &mut self.strong_postdom,
        }
    }
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.total += other.total;
        for a in Algorithm::ALL {
            let mut other = other;
            *self.uniform(a) += *other.uniform(a);
        }
    }
}

/// Times in microseconds.
#[derive(Clone, Copy, Default, Serialize)]
pub(super) struct Timing {
    /// What the algorithm prepares.
    pub setup: f64,
    /// Finding joins and exits of divergent branches.
    pub control: f64,
    /// The engine, the two above included.
    pub engine: f64,
    /// The whole analysis: the engine, its input, and the shapes.
    pub full: f64,
}

/// Times by each algorithm.
#[derive(Clone, Copy, Default, Serialize)]
pub(super) struct Timings {
    joins: Timing,
    postdom: Timing,
    strong_postdom: Timing,
}

impl Timings {
    /// Those of one algorithm.
    pub(super) fn of(&self, algorithm: Algorithm) -> &Timing {
        match algorithm {
            Algorithm::Joins => &self.joins,
            Algorithm::PostDom => &self.postdom,
            _ => &self.strong_postdom,
        }
    }

    fn of_mut(&mut self, algorithm: Algorithm) -> &mut Timing {
        match algorithm {
            Algorithm::Joins => &mut self.joins,
            Algorithm::PostDom => &mut self.postdom,
            _ => &mut self.strong_postdom,
        }
    }
}

/// What was found of one function.
#[derive(Serialize)]
pub(super) struct FunctionResult {
    /// Its name.
    pub name: String,
    /// Its instructions.
    pub instructions: Counts,
    /// Its branches.
    pub branches: Counts,
    /// Its loops.
    pub loops: Counts,
    /// What strong post-dominators call uniform and the product does not.
    pub less_precise: usize,
    /// What post-dominators call uniform and the product does not.
    pub claimed_by_postdom_alone: usize,
    /// Medians over the runs.
    pub times: Timings,
}

/// What was found of one input.
#[derive(Serialize)]
pub(super) struct Suite {
    /// The file's name.
    pub name: String,
    /// Whose rules were used.
    pub target: &'static str,
    /// Sums over the functions.
    pub instructions: Counts,
    /// Sums over the functions.
    pub branches: Counts,
    /// Sums over the functions.
    pub loops: Counts,
    /// Sums over the functions.
    pub times: Timings,
    /// By function.
    pub functions: Vec<FunctionResult>,
}

impl Suite {
    /// The functions in which strong post-dominators call something uniform that the product does not.
    pub(super) fn less_precise(&self) -> Vec<String> {
        self.functions.iter().filter(|f| f.less_precise > 0).map(|f| f.name.clone()).collect()
    }

    /// How much post-dominators call uniform that the product does not.
    pub(super) fn claimed_by_postdom_alone(&self) -> usize {
        self.functions.iter().map(|f| f.claimed_by_postdom_alone).sum()
    }
}

/// Measures one input; without a target, by the rules of the one that it was compiled for.
///
/// # Errors
/// If the input cannot be read or defines no function.
pub(super) fn suite(path: &Path, target: Option<Target>, runs: usize) -> Result<Suite> {
    let unit = Unit::open(path, target, &CompilerOptions::default())?;
    let imported = &unit.imported;
    let mut suite = Suite {
        name: path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
        target: unit.target.name(),
        instructions: Counts::default(),
        branches: Counts::default(),
        loops: Counts::default(),
        times: Timings::default(),
        functions: Vec::new(),
    };
    for (id, func) in imported.ir.functions.iter().filter(|(_, f)| !f.layout.is_empty()) {
        let result = match function(&imported.ir, func, &unit.options(id, &Asked::default())?, runs) {
            Ok(result) => result,
            Err(refusal) => {
                warpline_cli::output::complain(&format!("left out: {}", refusal.describe(&imported.ir)));
                continue;
            }
        };
        suite.instructions += result.instructions;
        suite.branches += result.branches;
        suite.loops += result.loops;
        for a in Algorithm::ALL {
            let (sum, part) = (suite.times.of_mut(a), result.times.of(a));
            sum.setup += part.setup;
            sum.control += part.control;
            sum.engine += part.engine;
            sum.full += part.full;
        }
        suite.functions.push(result);
    }
    if suite.functions.is_empty() {
        return Err(Error::input(path, "it defines no function that can be analysed"));
    }
    Ok(suite)
}

/// What an algorithm calls uniform: instructions, branches and loops in the order of the program.
struct Claims([Vec<bool>; 3]);

impl Claims {
    fn of(func: &Function, result: &Uniformity) -> Claims {
        let mut claims = Claims([Vec::new(), Vec::new(), Vec::new()]);
        let [instructions, branches, loops] = &mut claims.0;
        for &b in &func.layout {
            instructions.extend(func.block_insts(b).map(|i| is_uniform(func, result, i)));
            if func.out_edges(b).len() > 1 {
                branches.push(!result.is_divergent_branch(b));
            }
        }
        let uniform = |c| !result.has_divergent_exit(c) && !result.is_given_up(c);
        loops.extend(result.cycles().cycles().map(uniform));
        claims
    }

    /// How much these claim and the others do not.
    fn beyond(&self, other: &Claims) -> usize {
        let pairs = self.0.iter().flatten().zip(other.0.iter().flatten());
        pairs.filter(|&(&a, &b)| a && !b).count()
    }
}

/// An instruction with results is uniform if these are; another one if its operands are, where it uses them, and it
/// sends all lanes the same way.
fn is_uniform(func: &Function, result: &Uniformity, inst: Inst) -> bool {
    let data = &func.insts[inst];
    if !data.results.is_empty() {
        return data.results.iter().all(|&v| !result.is_divergent(v));
    }
    let sends_apart =
        func.blocks[data.block].term.expand() == Some(inst) && result.is_divergent_branch(data.block);
    !sends_apart && data.args.iter().all(|&v| !result.is_divergent_at(v, data.block))
}

fn function(
    module: &Module,
    func: &Function,
    options: &Options,
    runs: usize,
) -> std::result::Result<FunctionResult, tokens::Refusal> {
    let options = Algorithm::ALL.map(|algorithm| Options { algorithm, ..options.clone() });
    let results = options.each_ref().map(|o| Uniformity::compute(module, func, o));
    tokens::check(module, func, results[0].cycles())?;
    let claims = results.each_ref().map(|result| Claims::of(func, result));
    let mut counts = [Counts::default(); 3];
    for (kind, counts) in counts.iter_mut().enumerate() {
        for (algorithm, claims) in Algorithm::ALL.into_iter().zip(&claims) {
            counts.total = claims.0[kind].len();
            *counts.uniform(algorithm) = claims.0[kind].iter().filter(|&&uniform| uniform).count();
        }
    }
    let mut samples: [Vec<Times>; 3] = Default::default();
    for run in 0..runs {
        for turn in 0..options.len() {
            let at = (run + turn) % options.len();
            samples[at].push(Uniformity::compute_timed(module, func, &options[at]).1);
        }
    }
    let mut times = Timings::default();
    for (algorithm, samples) in Algorithm::ALL.into_iter().zip(&samples) {
        *times.of_mut(algorithm) = medians(samples);
    }
    let [joins, postdom, strong] = &claims;
    let [instructions, branches, loops] = counts;
    Ok(FunctionResult {
        name: func.name.to_string(),
        instructions,
        branches,
        loops,
        less_precise: strong.beyond(joins),
        claimed_by_postdom_alone: postdom.beyond(joins),
        times,
    })
}

fn medians(samples: &[Times]) -> Timing {
    let median = |of: &dyn Fn(&Times) -> std::time::Duration| {
        let mut sorted: Vec<f64> = samples.iter().map(|t| of(t).as_secs_f64() * 1e6).collect();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
    };
    Timing {
        setup: median(&|t| t.engine.setup),
        control: median(&|t| t.engine.control),
        engine: median(&|t| t.engine.full),
        full: median(&|t| t.full),
    }
}
