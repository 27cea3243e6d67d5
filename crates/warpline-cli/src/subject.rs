//! What `analyze` and similar verbs are about: a module, the target whose rules hold, and what is asked about each
//! function.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use warpline::dataflow::clients::interprocedural::{FunctionConstants, ModuleConstants};
use warpline::ir::{FuncId, Function, Symbol};
use warpline::uniformity::arguments::{self, Arguments};
use warpline::uniformity::facts::WorkGroup;
use warpline::uniformity::shape::ArgShape;
use warpline::uniformity::{Algorithm, Options, Summaries, Target};
use warpline::vectorize::call_graph::all_asking_lanes;
use warpline::vectorize::loops::Nest;
use warpline::vectorize::uniform_allocas::lane_invariant_allocas;
use warpline::vectorize::work_items::{self, WorkItems};
use warpline_compile::KernelOptions;
use warpline_compile::loops::{self, LoopOptions, Region};
use warpline_compile::source_types::Debug;
use warpline_compile::unasked;
use warpline_llvm::worker::{LoadOptions, Unroll};
use warpline_llvm::{Imported, InputKind, target_of_triple};

use crate::cli::{AssumptionOptions, CompilerOptions};
use crate::directives::{self, Directives};
use crate::error::{Error, Result};
use crate::kernel::{given_shapes, load};
use crate::output;
use warpline_compile::choice::{find_function, has_no_kernel};

/// Whether a function of a module has values without a name.
fn has_nameless_values(func: &Function) -> bool {
    let results = func.insts.values().flat_map(|inst| &inst.results);
    func.params.iter().chain(results).any(|&v| func.values[v].name.is_empty())
}

/// What is asked about functions.
#[derive(Default)]
pub struct Asked<'a> {
    /// Shapes of parameters, as on the command line.
    pub args: Option<&'a str>,
    /// How joins are found.
    pub algorithm: Algorithm,
    /// Whether to use what data-flow analyses know.
    pub facts: bool,
    /// The size of work-groups of kernels that do not say it.
    pub work_group: Option<WorkGroup>,
    /// Whether kernels for SIMD lanes are analysed as `vectorize` does it: private memory that lanes need not have
    /// each of their own is uniform, and a φ of a value and `undef` is not that value.
    pub as_vectorized: bool,
}

/// A module that is to be analysed.
pub struct Unit {
    /// The module in both forms.
    pub imported: Imported,
    /// Whose rules hold.
    pub target: Target,
    /// Iterations of loops, if they are what is analysed.
    regions: Vec<Region>,
    /// Functions that ask which work-item they are, and those with parameters in the place of the questions, which is
    /// what is vectorized.
    items: HashMap<FuncId, WorkItems>,
    path: PathBuf,
    directives: Vec<Directives>,
    summaries: Arc<Summaries>,
    constants: OnceCell<ModuleConstants>,
    arguments: OnceCell<Arguments>,
    /// The functions that execute lane operations, once somebody has asked.
    asking: OnceCell<HashSet<Symbol>>,
}

impl Unit {
    /// Reads an input. Without a target, the module's triple says which; with one, OpenCL C is compiled for it.
    ///
    /// # Errors
    /// Whatever is wrong with the input.
    pub fn open(path: &Path, target: Option<Target>, compilers: &CompilerOptions) -> Result<Unit> {
        let is_opencl = InputKind::of(path).is_ok_and(|kind| kind == InputKind::OpenCl);
        let triple = match target {
            Some(Target::Amdgcn) => Some("amdgcn-amd-amdhsa"),
            Some(Target::Nvptx) => Some("nvptx64-nvidia-cuda"),
            Some(Target::Spirv) => Some("spir64"),
            Some(Target::Simd) | None => None,
        };
        let triple = triple.filter(|_| is_opencl).map(str::to_owned);
        let mut asked = LoadOptions { triple, unroll: Unroll::Everywhere, ..compilers.load_options(path)? };
        // clang keeps the names of values; rustc does not.
        asked.flags.variables = InputKind::of(path).is_ok_and(|kind| kind == InputKind::Rust);
        let mut imported = load(path, &asked)?.imported;
        if imported.ir.functions.values().any(has_nameless_values) {
            Debug::of(&imported).name_values(&mut imported.ir);
        }
        let target = target.unwrap_or_else(|| target_of_triple(&imported.ir.triple));
        Unit::of(path, imported, target, Vec::new())
    }

    /// Reads an input whose kernels are analysed, as `vectorize` reads it.
    ///
    /// # Errors
    /// Whatever is wrong with the input.
    pub fn open_kernels(path: &Path, compilers: &CompilerOptions) -> Result<Unit> {
        Unit::open(path, None, compilers).map(Unit::with_items)
    }

    /// A module of which iterations of loops are analysed.
    ///
    /// # Errors
    /// If a directive of the input is malformed.
    pub fn of_regions(path: &Path, imported: Imported, regions: Vec<Region>) -> Result<Unit> {
        Unit::of(path, imported, Target::Simd, regions)
    }

    /// Reads an input of which loops are analysed: those that are given, or that it marks. The whole functions if
    /// there are none.
    ///
    /// # Errors
    /// Whatever is wrong with the input; why a loop that is given cannot be vectorized.
    pub fn open_with_loops(
        path: &Path,
        function: Option<&str>,
        assume: &AssumptionOptions,
        compilers: &CompilerOptions,
    ) -> Result<Unit> {
        let is_simd = assume.target.is_none_or(|target| target == Target::Simd);
        let functions: Vec<String> = function.map(str::to_owned).into_iter().collect();
        let kernel = KernelOptions { flags: compilers.flags(path)?, ..KernelOptions::new(path) };
        let marked = || is_simd && assume.args.is_none() && unasked::has_marks(&kernel).unwrap_or(false);
        let given = match assume.loops.is_empty() {
            true if marked() => LoopOptions { functions, ..LoopOptions::marked(kernel) },
            true => return Unit::open(path, assume.target, compilers).map(Unit::with_items),
            false if !is_simd => {
                return Err(Error::option("--loop", "lanes of GPUs do not execute loops in place"));
            }
            false => LoopOptions { functions, loops: assume.loops.clone(), ..LoopOptions::marked(kernel) },
        };
        match loops::open_regions(&given) {
            Ok((imported, regions)) => Unit::of(path, imported, Target::Simd, regions),
            Err(error) if assume.loops.is_empty() => {
                output::complain(&format!("warning: {error}; the whole function is analysed"));
                Unit::open(path, assume.target, compilers).map(Unit::with_items)
            }
            Err(error) => Err(error),
        }
    }

    /// Tells newcomers that parameters count as varying, where nothing says what they are and loops might be meant.
    ///
    /// # Errors
    /// If directives are malformed.
    pub fn note_varying(&self, assume: &AssumptionOptions) -> Result<()> {
        let has_loop = |func: &Function| Nest::of(func).headers().next().is_some();
        if self.regions.is_empty()
            && self.target == Target::Simd
            && assume.args.is_none()
            && InputKind::of(&self.path)?.is_source()
            && has_no_kernel(&self.imported, &self.path)?
            && self.imported.ir.functions.values().any(has_loop)
        {
            output::complain(&format!(
                "note: {}: nothing says what parameters are, so each counts as different in each lane; `--loop all` or \
                 `--loop LINE` is about the iterations of loops instead, as `run` and `vectorize` are; `--args` says \
                 more of a function",
                self.path.display()
            ));
        }
        Ok(())
    }

    fn of(path: &Path, imported: Imported, target: Target, regions: Vec<Region>) -> Result<Unit> {
        let directives = directives::read(path)?;
        let summaries = imported.summaries(target);
        Ok(Unit {
            imported,
            target,
            regions,
            items: HashMap::new(),
            path: path.to_owned(),
            directives,
            summaries,
            constants: OnceCell::new(),
            arguments: OnceCell::new(),
            asking: OnceCell::new(),
        })
    }

    /// Takes what asks which work-item it is for a kernel as `vectorize` does, if it is for SIMD lanes. What it would
    /// refuse stays.
    fn with_items(mut self) -> Unit {
        let ir = &mut self.imported.ir;
        let ids: Vec<FuncId> = ir.functions.keys().collect();
        for id in ids {
            if self.target != Target::Simd || !work_items::asks(ir, &ir.functions[id]) {
                continue;
            }
            if let Ok(Some(items)) = work_items::with_parameters(ir, id) {
                ir.functions[items.func].name = ir.functions[id].name.clone();
                self.items.insert(id, items);
            }
        }
        self
    }

    /// The functions with a body, or the one of this name.
    ///
    /// # Errors
    /// If there is no function of that name.
    pub fn functions(&self, name: Option<&str>) -> Result<Vec<FuncId>> {
        if !self.regions.is_empty() {
            return Ok(self.regions.iter().map(|region| region.func).collect());
        }
        if name.is_some() {
            return Ok(vec![self.function(name)?]);
        }
        let made: HashSet<FuncId> = self.items.values().map(|items| items.func).collect();
        let all = self.imported.ir.functions.keys().filter(|id| !made.contains(id));
        Ok(all.map(|id| self.items.get(&id).map_or(id, |items| items.func)).collect())
    }

    /// The only function, or the one of this name.
    ///
    /// # Errors
    /// If there is none, or if there are several.
    pub fn function(&self, name: Option<&str>) -> Result<FuncId> {
        match &self.regions[..] {
            [] => {
                let id = find_function(&self.imported, &self.path, name)?;
                Ok(self.items.get(&id).map_or(id, |items| items.func))
            }
            [only] => Ok(only.func),
            several => {
                let places: Vec<&str> = several.iter().map(|region| region.place.as_str()).collect();
                Err(Error::option("--loop", format!("which of the loops at {}?", places.join(", "))))
            }
        }
    }

    /// The function, or the loop where loops are asked about, that is the only one to compute something on a line of
    /// the input.
    pub fn on_line(&self, line: u32) -> Option<FuncId> {
        let ir = &self.imported.ir;
        let is_there = |func: &Function| {
            let locations = func.layout.iter().flat_map(|&b| func.block_insts(b)).filter_map(|inst| {
                // Where it stands in this function, not in one that was inlined.
                std::iter::successors(func.insts[inst].loc.expand(), |&l| ir.locations[l].inlined_at).last()
            });
            let mut places = locations.map(|location| &ir.locations[location]);
            places.any(|at| at.line == line && Path::new(&*at.file).file_name() == self.path.file_name())
        };
        let mut all: Vec<FuncId> = match &self.regions[..] {
            [] => ir.functions.keys().map(|id| self.items.get(&id).map_or(id, |items| items.func)).collect(),
            regions => regions.iter().map(|region| region.func).collect(),
        };
        all.sort_unstable();
        all.dedup();
        let mut found = all.into_iter().filter(|&id| is_there(&ir.functions[id]));
        let first = found.next();
        if found.next().is_some() { None } else { first }
    }

    /// Whether a function executes lane operations, itself or in what it calls.
    fn has_cross_lane_operations(&self, func: &Function) -> bool {
        let asking = self.asking.get_or_init(|| all_asking_lanes(&self.imported.ir));
        self.imported.ir.symbol(&func.name).is_some_and(|symbol| asking.contains(&symbol))
    }

    /// Where the loop begins of which this is an iteration, if it is one.
    pub fn place(&self, id: FuncId) -> Option<&str> {
        self.region(id).map(|region| region.place.as_str())
    }

    fn region(&self, id: FuncId) -> Option<&Region> {
        self.regions.iter().find(|region| region.func == id)
    }

    /// What a function is called with and what those it calls return, as far as it is constant.
    pub fn constants(&self, id: FuncId) -> Option<FunctionConstants<'_>> {
        let found = self.constants.get_or_init(|| self.imported.module_constants());
        Some(found.of(&self.imported.ir, id))
    }

    /// What is asked about a function. Shapes of parameters come from the list, else from the input's directive, else
    /// from the calling convention. What data-flow analyses know is not used by algorithms that are there to be
    /// compared with.
    ///
    /// # Errors
    /// If a list of shapes does not fit the function.
    pub fn options(&self, id: FuncId, asked: &Asked) -> Result<Options> {
        let func = &self.imported.ir.functions[id];
        let mut options = self.imported.analysis_options(id, self.target, Some(Arc::clone(&self.summaries)));
        let ir = &self.imported.ir;
        let items = self.items.iter().find(|(_, items)| items.func == id);
        // Shapes are given for the function as it is written.
        let written = items.map_or(func, |(&written, _)| &ir.functions[written]);
        let mut given = match self.region(id) {
            Some(region) => Some(region.args.clone()),
            None => given_shapes(&self.imported, &self.path, &self.directives, written, asked.args)?,
        };
        let as_vectorized = asked.as_vectorized && self.target == Target::Simd;
        // What uses cross-lane operations or work-items is a kernel, with parameters for all lanes.
        if given.is_none() && as_vectorized && (items.is_some() || self.has_cross_lane_operations(func)) {
            given = Some(vec![ArgShape::Uniform; written.params.len()]);
        }
        if let Some(mut args) = given {
            args.extend(items.into_iter().flat_map(|(_, items)| items.shapes()));
            if as_vectorized {
                options.strict_undef = true;
                options.shared = lane_invariant_allocas(ir, func, &args);
            }
            options.args = args;
        } else if asked.facts && self.region(id).is_none() {
            let of_all = || self.imported.arguments(self.target, &self.summaries);
            if let Some(by_calls) = self.arguments.get_or_init(of_all).of(id) {
                options.args = arguments::merged(options.args, by_calls);
            }
        }
        if let (Some(group), None) = (asked.work_group, options.facts.work_group) {
            Arc::make_mut(&mut options.facts).work_group = Some(group);
        }
        options.algorithm = asked.algorithm;
        if asked.facts && asked.algorithm == Algorithm::Joins {
            // Constants go with functions as the module has them.
            let constants = self.region(id).is_none().then(|| self.constants(id)).flatten();
            return Ok(options.with_known(&self.imported.ir, func, constants));
        }
        Ok(options)
    }
}
