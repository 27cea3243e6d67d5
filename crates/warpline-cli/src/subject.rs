//! What `analyze` and its kin are about: a module, the target whose rules hold, and what is asked about each function.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use warpline::dataflow::clients::interprocedural::{FunctionConstants, ModuleConstants};
use warpline::ir::FuncId;
use warpline::uniformity::facts::WorkGroup;
use warpline::uniformity::{Algorithm, Options, Summaries, Target};
use warpline_llvm::{Imported, InputKind, target_of_triple};

use crate::directives::{self, Directives};
use crate::error::Result;
use crate::kernel::{find_function, given_shapes, load};

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
}

/// A module that is to be analysed.
pub struct Unit {
    /// The module in both forms.
    pub imported: Imported,
    /// Whose rules hold.
    pub target: Target,
    path: PathBuf,
    directives: Vec<Directives>,
    summaries: Arc<Summaries>,
    constants: OnceCell<ModuleConstants>,
}

impl Unit {
    /// Reads an input. Without a target, the module's triple says which; with one, OpenCL C is compiled for it.
    ///
    /// # Errors
    /// Whatever is wrong with the input.
    pub fn open(path: &Path, target: Option<Target>) -> Result<Unit> {
        let is_opencl = InputKind::of(path).is_ok_and(|kind| kind == InputKind::OpenCl);
        let triple = match target {
            Some(Target::Amdgcn) => Some("amdgcn-amd-amdhsa"),
            Some(Target::Nvptx) => Some("nvptx64-nvidia-cuda"),
            Some(Target::Spirv) => Some("spir64"),
            Some(Target::Simd) | None => None,
        };
        let imported = load(path, None, triple.filter(|_| is_opencl))?;
        let target = target.unwrap_or_else(|| target_of_triple(&imported.ir.triple));
        let directives = directives::read(path)?;
        let summaries = imported.summaries(target);
        Ok(Unit {
            imported,
            target,
            path: path.to_owned(),
            directives,
            summaries,
            constants: OnceCell::new(),
        })
    }

    /// The functions with a body, or the one of this name.
    ///
    /// # Errors
    /// If there is no function of that name.
    pub fn functions(&self, name: Option<&str>) -> Result<Vec<FuncId>> {
        if name.is_some() {
            return Ok(vec![find_function(&self.imported, &self.path, name)?]);
        }
        Ok(self.imported.ir.functions.keys().collect())
    }

    /// What a function is called with and what those it calls return, as far as it is constant.
    pub fn constants(&self, id: FuncId) -> Option<FunctionConstants<'_>> {
        let found = self.constants.get_or_init(|| self.imported.module_constants());
        Some(found.of(&self.imported.ir, id))
    }

    /// What is asked about a function. Shapes of parameters come from the list, else from the input's directive, else from the calling
    /// convention. What data-flow analyses know is not used by algorithms that are there to be compared with.
    ///
    /// # Errors
    /// If a list of shapes does not fit the function.
    pub fn options(&self, id: FuncId, asked: &Asked) -> Result<Options> {
        let func = &self.imported.ir.functions[id];
        let mut options = self.imported.analysis_options(id, self.target, Some(Arc::clone(&self.summaries)));
        if let Some(args) = given_shapes(&self.imported, &self.path, &self.directives, func, asked.args)? {
            options.args = args;
        }
        if let (Some(group), None) = (asked.work_group, options.facts.work_group) {
            Arc::make_mut(&mut options.facts).work_group = Some(group);
        }
        options.algorithm = asked.algorithm;
        if asked.facts && asked.algorithm == Algorithm::Joins {
            return Ok(options.with_known(&self.imported.ir, func, self.constants(id)));
        }
        Ok(options)
    }
}
