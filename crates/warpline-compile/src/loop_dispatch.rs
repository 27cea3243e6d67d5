//! Functions with vectorized loops for several CPUs in one object. Which of them runs is decided when one is called for
//! the first time.
//!
//! The module is copied for each CPU. A copy keeps the functions with loops, under names that end in the CPU's; all
//! else stays in one part: variables that only this module knows, functions without such loops. In front of the
//! versions stands a function under the old name. Which parameters it passes on is nothing that it needs to know: it
//! jumps with all registers as they are ([`resolver::forward`]).

use warpline_llvm::worker::{self, CodegenOptions, Output};
use warpline_llvm::{Cpu, Imported, Module};

use crate::cpus::{self, BASELINE, Choice};
use crate::dispatch::triple_of;
use crate::error::{Error, Result};
use crate::loops::{
    ChangedFunction, CompiledLoops, FoundLoop, InPlace, LoopOptions, LoopVersion, Machine, RefusedLoop,
    changed, in_place,
};
use crate::math;
use crate::resolver::{self, Lines};
use crate::source_types::SourceTypes;

/// Vectorizes loops that were found, for these CPUs.
pub(crate) fn vectorize(
    options: &LoopOptions,
    imported: Imported,
    mut found: Vec<FoundLoop>,
    cpus: &[String],
    output: Output,
) -> Result<CompiledLoops> {
    let triple = triple_of(&imported)?;
    let choices = cpus::choices(cpus, &triple)?;
    let mut refused = Vec::new();
    loop {
        let mut functions = changed(&imported, &found);
        check(&imported, &functions)?;
        let mut module = imported.bridge.module().try_clone()?;
        let visible = module.share_statics();
        let mut made = Made { versions: Vec::new(), parts: Vec::new(), libraries: Vec::new() };
        if found.is_empty() {
            let nothing = |choice: &Choice| LoopVersion {
                cpu: choice.cpu.clone(),
                loops: Vec::new(),
                scalar: Vec::new(),
            };
            made.versions = choices.iter().map(nothing).collect();
        } else {
            let others = made.all(options, &module, &functions, &found, &choices)?;
            if !others.is_empty() {
                // What is refused for one CPU is left out for all.
                let before = found.len();
                found.retain(|one| others.iter().all(|other| other.place != one.place));
                if found.len() == before {
                    return Err(Error::Internal(format!(
                        "the loop at {} cannot be left out",
                        others[0].place
                    )));
                }
                refused.extend(others);
                continue;
            }
        }
        let code = made.link(&imported, &mut module, &mut functions, visible, &choices, output)?;
        let Made { versions, libraries, .. } = made;
        let (files, types) = (Vec::new(), SourceTypes::default());
        return Ok(CompiledLoops {
            versions,
            functions,
            refused,
            files,
            types,
            callable: Vec::new(),
            libraries,
            code,
        });
    }
}

/// Whether there can be several versions of functions.
fn check(imported: &Imported, functions: &[ChangedFunction]) -> Result<()> {
    for ChangedFunction { function, seen, .. } in functions {
        if seen.only_one {
            let message = format!(
                "there can be only one `{}`, since its labels or another name for it are known elsewhere: name one CPU",
                function.name
            );
            return Err(Error::option("--cpu", message));
        }
        let which = which(&function.name);
        if imported.ir.symbol(&which).is_some() {
            let message =
                format!("the input has a function `{which}`, which would say what code runs: name one CPU");
            return Err(Error::option("--cpu", message));
        }
    }
    Ok(())
}

/// The name of the function that says which CPU's code of a function runs.
fn which(function: &str) -> String {
    format!("{function}_cpu")
}

/// What is made for CPUs.
struct Made {
    versions: Vec<LoopVersion>,
    parts: Vec<Vec<u8>>,
    libraries: Vec<&'static str>,
}

impl Made {
    /// Makes the versions for all CPUs; the loops that are refused for one of them.
    fn all(
        &mut self,
        options: &LoopOptions,
        module: &Module,
        functions: &[ChangedFunction],
        found: &[FoundLoop],
        choices: &[Choice],
    ) -> Result<Vec<RefusedLoop>> {
        for choice in choices {
            let mut own = Imported::new(module.try_clone()?);
            let machine = Machine::new(&own, choice.cpu.clone())?;
            let InPlace { loops, scalar, refused } = in_place(&mut own, options, found, &machine)?;
            if !refused.is_empty() {
                return Ok(refused);
            }
            for library in math::libraries(&own.ir) {
                if !self.libraries.contains(&library) {
                    self.libraries.push(library);
                }
            }
            let mut part = own.bridge.into_module();
            let names: Vec<(&str, String)> = functions
                .iter()
                .map(|one| (&*one.function.name, version(&one.function.name, choice)))
                .collect();
            part.keep_versions(&names);
            let codegen = CodegenOptions {
                vector_bits: Some(machine.vectors.register_bits).filter(|&bits| bits >= 256),
                panic: options.panic.clone(),
                ..prepared(machine.cpu.clone())
            };
            self.parts.push(worker::codegen(&part, &codegen)?);
            self.versions.push(LoopVersion { cpu: machine.cpu, loops, scalar });
        }
        Ok(Vec::new())
    }

    /// Code of everything: what there is one of, all versions, and what chooses.
    fn link(
        &self,
        imported: &Imported,
        module: &mut Module,
        functions: &mut [ChangedFunction],
        mut visible: Vec<String>,
        choices: &[Choice],
        output: Output,
    ) -> Result<Vec<u8>> {
        let names: Vec<&str> = functions.iter().map(|one| &*one.function.name).collect();
        module.leave_out(&names);
        let mut parts = vec![worker::codegen(module, &prepared(Cpu::named(BASELINE)))?];
        parts.extend(self.parts.iter().cloned());
        let (layout, triple) = (resolver::escape(&module.data_layout()), resolver::escape(&module.triple()));
        let mut text = format!("target datalayout = \"{layout}\"\ntarget triple = \"{triple}\"\n");
        let all: Vec<&Choice> = choices.iter().collect();
        let mut lines = Lines::new();
        for ChangedFunction { function, seen, which: says } in functions {
            let name = &*function.name;
            let choose = format!("{name}.choose");
            text += &resolver::choose(&choose, &all);
            let versions: Vec<String> = choices.iter().map(|choice| version(name, choice)).collect();
            let chooses = resolver::forward(name, &choose, &versions, seen.replaceable);
            text += &match function.loc.expand().map(|loc| &imported.ir.locations[loc]) {
                Some(place) => lines.mark(&chooses, &place.file, place.line),
                None => chooses,
            };
            // Of what others may have, too, they may have another version.
            if seen.visible && !seen.replaceable {
                let which = which(name);
                text += &resolver::which(&which, &choose, &all);
                visible.push(which.clone());
                *says = Some(which);
            }
        }
        text += &lines.end();
        parts.push(text.into_bytes());
        let codegen = CodegenOptions {
            passes: String::new(),
            visible: Some(visible),
            ..CodegenOptions::new(Cpu::named(BASELINE), output)
        };
        Ok(worker::codegen_linked(parts, module.name(), &codegen)?)
    }
}

/// The name of a function's version for a CPU.
fn version(function: &str, choice: &Choice) -> String {
    format!("{function}.{}", choice.suffix())
}

/// A part that is linked later.
fn prepared(cpu: Cpu) -> CodegenOptions {
    // In the scalar loops that are left, and in functions without any.
    CodegenOptions { define_lane_operations: true, slp: true, ..CodegenOptions::new(cpu, Output::Prepared) }
}
