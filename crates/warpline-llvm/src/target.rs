//! Targets: CPUs, target machines, and machine code in memory.

use std::ptr;

use crate::ffi::types::LLVMCodeGenFileType::{LLVMAssemblyFile, LLVMObjectFile};
use crate::ffi::types::LLVMCodeGenOptLevel::{
    LLVMCodeGenLevelAggressive, LLVMCodeGenLevelLess, LLVMCodeGenLevelNone,
};
use crate::ffi::types::LLVMCodeModel::LLVMCodeModelDefault;
use crate::ffi::types::LLVMRelocMode::LLVMRelocPIC;
use crate::ffi::types::LLVMTargetMachineRef;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::ffi::load::{Llvm, functions};
use crate::module::{FUNCTION_INDEX, MemoryBuffer, Module, all_words, c_string, take_message, value_name};

/// A CPU and the features to use of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// LLVM's name of the CPU, such as `znver4`.
    pub name: String,
    /// Features in LLVM's notation, such as `+avx2,-fma`, added to what the CPU has.
    pub features: String,
    /// Another CPU that has the features, if it is not this one, whose ways of scheduling alone are used then; empty
    /// otherwise.
    pub base: String,
}

impl Cpu {
    /// The CPU of this machine with exactly the features it has.
    ///
    /// # Errors
    /// What [`Llvm::get`] reports.
    pub fn native() -> Result<Self> {
        Llvm::get()?;
        // SAFETY: both functions return new strings, which `take_message` frees.
        let (name, features) =
            unsafe { (functions().LLVMGetHostCPUName(), functions().LLVMGetHostCPUFeatures()) };
        Ok(Self { name: take_message(name), features: take_message(features), base: String::new() })
    }

    /// A CPU by its name. The name is not checked here: [`crate::worker::find_cpu`] does that.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), features: String::new(), base: String::new() }
    }

    /// The name of the CPU that has the features.
    fn base(&self) -> &str {
        if self.base.is_empty() { &self.name } else { &self.base }
    }

    /// The features in LLVM's notation, without those that make LLVM's code compute something else than its input
    /// says: on x86-64, it rounds to `bfloat` by `vcvtneps2bf16` where that is there, which makes zeros of subnormal
    /// numbers.
    fn sound_features(&self, triple: &str) -> String {
        let taken = if family(triple) == "x86" { "-avx512bf16,-avxneconvert" } else { "" };
        let both = [&*self.features, taken];
        both.into_iter().filter(|list| !list.is_empty()).collect::<Vec<_>>().join(",")
    }
}

/// The triple of this machine.
///
/// # Errors
/// What [`Llvm::get`] reports.
pub fn host_triple() -> Result<String> {
    Llvm::get()?;
    // SAFETY: a new string, freed by `take_message`.
    Ok(take_message(unsafe { functions().LLVMGetDefaultTargetTriple() }))
}

/// Whether two triples name one target, whoever made it.
pub(crate) fn is_same_target(a: &str, b: &str) -> bool {
    let parts = |triple: &str| -> Vec<String> {
        triple.split('-').filter(|part| !matches!(*part, "unknown" | "pc")).map(str::to_owned).collect()
    };
    parts(a) == parts(b)
}

/// The kind of machine that a triple names.
fn family(triple: &str) -> &str {
    match triple.split('-').next().unwrap_or_default() {
        "i386" | "i486" | "i586" | "i686" | "x86_64" => "x86",
        "arm64" => "aarch64",
        other => other,
    }
}

/// Whether this machine executes code for a triple, and an empty one stands for this machine.
///
/// # Errors
/// What [`Llvm::get`] reports.
pub fn is_host(triple: &str) -> Result<bool> {
    Ok(triple.is_empty() || family(triple) == family(&host_triple()?))
}

/// What to generate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emit {
    /// A relocatable object file.
    Object,
    /// Assembly text.
    Assembly,
}

/// How hard the code generator tries: instruction selection, scheduling, registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Effort {
    /// As little as possible: quick to generate, slow to run.
    Least,
    /// Less than usual.
    Less,
    /// For the best code.
    #[default]
    Most,
}

/// A code generator for one target and CPU, for position-independent code.
pub struct TargetMachine {
    raw: LLVMTargetMachineRef,
    triple: String,
    cpu: Cpu,
}

impl TargetMachine {
    /// A machine for `triple`, or for this machine if that is empty.
    ///
    /// # Errors
    /// [`Error::Target`] when the loaded library does not have the target.
    pub fn new(triple: &str, cpu: &Cpu) -> Result<Self> {
        Self::with_effort(triple, cpu, Effort::default())
    }

    /// As [`TargetMachine::new`], trying less hard.
    ///
    /// # Errors
    /// As [`TargetMachine::new`].
    pub(crate) fn with_effort(triple: &str, cpu: &Cpu, effort: Effort) -> Result<Self> {
        let level = match effort {
            Effort::Least => LLVMCodeGenLevelNone,
            Effort::Less => LLVMCodeGenLevelLess,
            Effort::Most => LLVMCodeGenLevelAggressive,
        };
        let triple = if triple.is_empty() { host_triple()? } else { triple.to_owned() };
        Llvm::get()?;
        let f = functions();
        let c_triple = c_string(&triple);
        let (name, features) = (c_string(cpu.base()), c_string(&cpu.sound_features(&triple)));
        let mut target = ptr::null_mut();
        let mut message = ptr::null_mut();
        // SAFETY: terminated strings and valid out-parameters; targets are static.
        let raw = unsafe {
            if f.LLVMGetTargetFromTriple(c_triple.as_ptr(), &raw mut target, &raw mut message) != 0 {
                return Err(Error::Target { triple, message: take_message(message) });
            }
            f.LLVMCreateTargetMachine(
                target,
                c_triple.as_ptr(),
                name.as_ptr(),
                features.as_ptr(),
                level as u32,
                LLVMRelocPIC as u32,
                LLVMCodeModelDefault as u32,
            )
        };
        if raw.is_null() {
            let message = "the loaded LLVM cannot generate code for it".to_owned();
            return Err(Error::Target { triple, message });
        }
        Ok(Self { raw, triple, cpu: cpu.clone() })
    }

    /// A machine for the host's triple and the CPU it runs on.
    ///
    /// # Errors
    /// As [`TargetMachine::new`].
    pub fn native() -> Result<Self> {
        Self::new("", &Cpu::native()?)
    }

    /// The target's triple.
    pub fn triple(&self) -> &str {
        &self.triple
    }

    /// The CPU.
    pub fn cpu(&self) -> &Cpu {
        &self.cpu
    }

    /// Machine code of a module. The module is left as it is.
    ///
    /// # Errors
    /// [`Error::Emit`] with LLVM's message.
    pub fn emit(&self, module: &Module, kind: Emit) -> Result<Vec<u8>> {
        let f = functions();
        let kind = match kind {
            Emit::Object => LLVMObjectFile,
            Emit::Assembly => LLVMAssemblyFile,
        };
        let mut message = ptr::null_mut();
        let mut buffer = ptr::null_mut();
        // SAFETY: code generation rewrites what it is given, hence the clone, which is freed; the out-parameters are
        // valid and the buffer, if there is one, is ours.
        unsafe {
            let clone = f.LLVMCloneModule(module.raw());
            let failed = f.LLVMTargetMachineEmitToMemoryBuffer(
                self.raw,
                clone,
                kind as u32,
                &raw mut message,
                &raw mut buffer,
            ) != 0;
            f.LLVMDisposeModule(clone);
            let emitted = (!buffer.is_null()).then(|| MemoryBuffer::from_raw(buffer).to_vec());
            let message = take_message(message);
            let reported = module.take_diagnostics();
            match emitted {
                Some(bytes)
                    if !failed && reported.iter().all(|one| one.severity != crate::Severity::Error) =>
                {
                    Ok(bytes)
                }
                _ => Err(Error::Emit { message: all_words(message, reported) }),
            }
        }
    }

    pub(crate) fn raw(&self) -> LLVMTargetMachineRef {
        self.raw
    }
}

impl Drop for TargetMachine {
    fn drop(&mut self) {
        // SAFETY: this owns the machine.
        unsafe { functions().LLVMDisposeTargetMachine(self.raw) };
    }
}

impl std::fmt::Debug for TargetMachine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TargetMachine")
            .field("triple", &self.triple)
            .field("cpu", &self.cpu)
            .finish_non_exhaustive()
    }
}

impl Module {
    /// Makes every function with a body one for `cpu`, with vectors of up to `vector_bits` bits if that is given and
    /// it is not one of those that keep the usual ones, LLVM's choice for the CPU.
    ///
    /// rustc and clang write `target-cpu` on every function, and that overrides the target machine; so the attributes
    /// `target-cpu`, `target-features`, `tune-cpu`, `prefer-vector-width` and `min-legal-vector-width` are all
    /// rewritten.
    pub fn set_cpu(&mut self, cpu: &Cpu, vector_bits: Option<u32>, usual: &[String]) {
        let features = cpu.sound_features(&self.triple());
        for function in self.functions().collect::<Vec<_>>() {
            // SAFETY: a function of this module.
            if unsafe { functions().LLVMIsDeclaration(function) } != 0 {
                continue;
            }
            for key in
                ["target-cpu", "target-features", "tune-cpu", "prefer-vector-width", "min-legal-vector-width"]
            {
                // SAFETY: a live function; pointer and length describe the key.
                unsafe {
                    functions().LLVMRemoveStringAttributeAtIndex(
                        function,
                        FUNCTION_INDEX,
                        key.as_ptr().cast(),
                        key.len() as u32,
                    );
                }
            }
            self.add_string_attribute(function, "target-cpu", cpu.base());
            if !cpu.base.is_empty() {
                self.add_string_attribute(function, "tune-cpu", &cpu.name);
            }
            if !features.is_empty() {
                self.add_string_attribute(function, "target-features", &features);
            }
            let is_usual = || usual.iter().any(|name| *name == value_name(function));
            if let Some(bits) = vector_bits.filter(|_| !is_usual()) {
                self.add_string_attribute(function, "prefer-vector-width", &bits.to_string());
                self.add_string_attribute(function, "min-legal-vector-width", &bits.to_string());
                self.add_attribute(function, "alignstack", u64::from(bits / 8));
            }
        }
    }

    /// Adds a function attribute of the form `"key"="value"`.
    pub(crate) fn add_string_attribute(
        &self,
        function: crate::ffi::types::LLVMValueRef,
        key: &str,
        value: &str,
    ) {
        // SAFETY: context and function are live; pointers and lengths describe the strings, which LLVM copies.
        unsafe {
            let attribute = functions().LLVMCreateStringAttribute(
                self.context(),
                key.as_ptr().cast(),
                key.len() as u32,
                value.as_ptr().cast(),
                value.len() as u32,
            );
            functions().LLVMAddAttributeAtIndex(function, FUNCTION_INDEX, attribute);
        }
    }
}
