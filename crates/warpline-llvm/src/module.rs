//! A module of LLVM IR together with the context it lives in.

use std::ffi::{CStr, CString, c_char, c_void};
use std::fmt;
use std::path::Path;
use std::ptr;
use std::sync::{Mutex, PoisonError};

use crate::called_kernels::{as_plain_functions, read_plain_functions};
use crate::ffi::types::LLVMErrorRef;
use crate::ffi::types::LLVMVerifierFailureAction::LLVMReturnStatusAction;
use crate::ffi::types::*;
use warpline_ir::DataLayout;

use crate::error::{Error, Result, did_you_mean};
use crate::ffi::load::{Llvm, functions};
use crate::target::{Cpu, TargetMachine, is_same_target};

/// The index of function attributes in the C API (`LLVMAttributeFunctionIndex`).
pub(crate) const FUNCTION_INDEX: u32 = u32::MAX;

/// Where attributes of what a function yields are.
pub(crate) const RESULT_INDEX: u32 = 0;

/// How grave LLVM finds what it reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Severity {
    /// The operation failed.
    Error,
    /// Something was ignored or is doubtful.
    Warning,
    /// Anything less.
    Note,
}

/// A message of LLVM about a module. LLVM itself prints nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its gravity.
    pub severity: Severity,
    /// LLVM's words.
    pub message: String,
}

#[derive(Default)]
struct Diagnostics(Mutex<Vec<Diagnostic>>);

/// A module. It owns its LLVM context, so modules are independent of each other and each may be used from any one
/// thread.
pub struct Module {
    context: LLVMContextRef,
    module: LLVMModuleRef,
    name: String,
    /// Boxed, because LLVM holds its address.
    diagnostics: Box<Diagnostics>,
}

// SAFETY: the context is reached through this module only, so whichever thread owns it is the only one inside.
unsafe impl Send for Module {}

/// Bytes that LLVM allocated.
pub(crate) struct MemoryBuffer(LLVMMemoryBufferRef);

impl MemoryBuffer {
    /// Takes ownership of a buffer made by LLVM.
    ///
    /// # Safety
    /// `raw` is a live memory buffer that nothing else will free.
    pub(crate) unsafe fn from_raw(raw: LLVMMemoryBufferRef) -> Self {
        Self(raw)
    }

    /// A copy of `bytes` with a name for LLVM's messages.
    pub(crate) fn copy_of(bytes: &[u8], name: &str) -> Self {
        let name = c_string(name);
        // SAFETY: pointer and length describe `bytes`, which LLVM copies; the name is copied too.
        let raw = unsafe {
            functions().LLVMCreateMemoryBufferWithMemoryRangeCopy(
                bytes.as_ptr().cast(),
                bytes.len(),
                name.as_ptr(),
            )
        };
        Self(raw)
    }

    /// Gives the buffer to a function of LLVM that will free it.
    pub(crate) fn into_raw(self) -> LLVMMemoryBufferRef {
        std::mem::ManuallyDrop::new(self).0
    }

    /// The contents.
    pub(crate) fn to_vec(&self) -> Vec<u8> {
        // SAFETY: start and size describe the contents of a live buffer, which is not written while `self` is borrowed.
        unsafe {
            let start = functions().LLVMGetBufferStart(self.0).cast::<u8>();
            std::slice::from_raw_parts(start, functions().LLVMGetBufferSize(self.0)).to_vec()
        }
    }
}

/// Words of LLVM's text whose spelling has changed, the older one first. Bitcode has numbers for them.
const RENAMED: [[&str; 2]; 1] = [["DW_CC_LLVM_OpenCLKernel", "DW_CC_LLVM_DeviceKernel"]];

impl Drop for MemoryBuffer {
    fn drop(&mut self) {
        // SAFETY: this owns the buffer.
        unsafe { functions().LLVMDisposeMemoryBuffer(self.0) };
    }
}

impl Module {
    /// Reads text or bitcode; `name` stands for the input in messages.
    ///
    /// LLVM may end the process on malicious bitcode: input that is not trusted goes through [`crate::worker`].
    ///
    /// # Errors
    /// [`Error::Parse`] with LLVM's message, or what [`Llvm::get`] reports.
    pub fn parse(bytes: &[u8], name: &str) -> Result<Self> {
        let error = match Self::parse_as_it_is(bytes, name) {
            Err(Error::Parse { input, version, message }) => Error::Parse { input, version, message },
            outcome => return outcome,
        };
        let words = error.to_string();
        let renamed = |names: &[&str; 2]| {
            let known = names.iter().position(|old| words.contains(&format!("'{old}'")))?;
            String::from_utf8(bytes.to_vec()).ok().map(|text| text.replace(names[known], names[1 - known]))
        };
        match RENAMED.iter().find_map(renamed) {
            Some(text) => Self::parse_as_it_is(text.as_bytes(), name),
            None => Err(error),
        }
    }

    fn parse_as_it_is(bytes: &[u8], name: &str) -> Result<Self> {
        let llvm = Llvm::get()?;
        let f = functions();
        let diagnostics = Box::<Diagnostics>::default();
        // SAFETY: the context is fresh; the handler's argument lives as long as the context, since `Module` owns both.
        let context = unsafe {
            let context = f.LLVMContextCreate();
            let argument: *const Diagnostics = &raw const *diagnostics;
            f.LLVMContextSetDiagnosticHandler(context, Some(record_diagnostic), argument.cast_mut().cast());
            context
        };
        match parse_into(context, bytes, name) {
            Ok(module) => Ok(Self { context, module, name: name.to_owned(), diagnostics }),
            Err(message) => {
                // SAFETY: the parse left no module behind.
                unsafe { f.LLVMContextDispose(context) };
                let reported = diagnostics.0.into_inner().unwrap_or_else(PoisonError::into_inner);
                let message = all_words(message, reported);
                Err(Error::Parse { input: name.to_owned(), version: llvm.version_text(), message })
            }
        }
    }

    /// Removes what is for debuggers, the paths of sources among it.
    pub fn strip_debug_info(&mut self) {
        // SAFETY: a live module.
        unsafe { functions().LLVMStripModuleDebugInfo(self.module) };
    }

    /// Adds all that another module has, text or bitcode. What is visible there must have names of its own; the rest
    /// is renamed where it must be.
    ///
    /// # Errors
    /// [`Error::Parse`], or [`Error::Link`] with LLVM's message; the module is of no use then.
    pub fn link(&mut self, bytes: &[u8], name: &str) -> Result<()> {
        let version = Llvm::get()?.version_text();
        let other = parse_into(self.context, bytes, name).map_err(|message| Error::Parse {
            input: name.to_owned(),
            version,
            message: all_words(message, self.take_diagnostics()),
        })?;
        // SAFETY: two live modules; the strings are the modules' own.
        unsafe {
            // LLVM warns of a layout that is not said.
            let f = functions();
            if *f.LLVMGetDataLayoutStr(other) == 0 {
                f.LLVMSetModuleDataLayout(other, f.LLVMGetModuleDataLayout(self.module));
            }
        }
        // SAFETY: two live modules of one context; the second is taken over whatever the outcome.
        if unsafe { functions().LLVMLinkModules2(self.module, other) } == 0 {
            return Ok(());
        }
        let message = all_words(String::new(), self.take_diagnostics());
        Err(Error::Link { input: self.name.clone(), other: name.to_owned(), message })
    }

    /// Reads a `.ll` or `.bc` file.
    ///
    /// # Errors
    /// [`Error::Io`], or as [`Module::parse`].
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|error| Error::io("cannot read", path, &error))?;
        Self::parse(&bytes, &path.display().to_string())
    }

    /// An independent copy, in a context of its own.
    ///
    /// # Errors
    /// As [`Module::parse`].
    pub fn try_clone(&self) -> Result<Self> {
        Self::parse(&self.to_bitcode(), &self.name)
    }

    /// What stands for this module in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The messages LLVM reported since the last call.
    pub fn take_diagnostics(&self) -> Vec<Diagnostic> {
        std::mem::take(&mut *self.diagnostics.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs LLVM's verifier.
    ///
    /// # Errors
    /// [`Error::Verify`] with the verifier's message.
    pub fn verify(&self) -> Result<()> {
        let mut message = ptr::null_mut();
        // SAFETY: a live module, a valid out-parameter.
        let broken = unsafe {
            functions().LLVMVerifyModule(self.module, LLVMReturnStatusAction as u32, &raw mut message)
        } != 0;
        let message = take_message(message).trim_end().to_owned();
        if broken { Err(Error::Verify { input: self.name.clone(), message }) } else { Ok(()) }
    }

    /// The module as text.
    pub fn to_text(&self) -> String {
        // SAFETY: a live module; the text is freed by `take_message`.
        take_message(unsafe { functions().LLVMPrintModuleToString(self.module) })
    }

    /// The module as bitcode.
    pub fn to_bitcode(&self) -> Vec<u8> {
        // SAFETY: a live module; the buffer is new and ours.
        unsafe { MemoryBuffer::from_raw(functions().LLVMWriteBitcodeToMemoryBuffer(self.module)) }.to_vec()
    }

    /// The target triple, possibly empty.
    pub fn triple(&self) -> String {
        // SAFETY: a live module; the string belongs to it and is copied at once.
        unsafe { owned_string(functions().LLVMGetTarget(self.module)) }
    }

    /// The data layout in LLVM's notation, possibly empty.
    pub fn data_layout(&self) -> String {
        // SAFETY: as for `triple`.
        unsafe { owned_string(functions().LLVMGetDataLayoutStr(self.module)) }
    }

    /// Makes the module one for `machine`: its triple and its data layout.
    ///
    /// # Errors
    /// [`Error::Layout`] if the module states another layout, in which offsets have been computed.
    pub fn set_target(&mut self, machine: &TargetMachine) -> Result<()> {
        let stated = self.data_layout();
        self.set_data_layout(machine);
        let target = self.data_layout();
        if !stated.is_empty() && !DataLayout::parse(&stated).agrees_with(&DataLayout::parse(&target)) {
            let triple = machine.triple().to_owned();
            return Err(Error::Layout { input: self.name.clone(), stated, triple, target });
        }
        let triple = c_string(machine.triple());
        // SAFETY: a live module and a terminated string, which LLVM copies.
        unsafe { functions().LLVMSetTarget(self.module, triple.as_ptr()) };
        Ok(())
    }

    /// Makes a module that states no target one for `triple`.
    ///
    /// # Errors
    /// [`Error::OtherTarget`] if it states another target, [`Error::Target`] if there is no such target,
    /// [`Error::Layout`] as for [`Module::set_target`].
    pub(crate) fn settle_target(&mut self, triple: &str) -> Result<()> {
        let stated = self.triple();
        if stated.is_empty() {
            return self.set_target(&TargetMachine::new(triple, &Cpu::named(""))?);
        }
        if is_same_target(&stated, triple) {
            return Ok(());
        }
        Err(Error::OtherTarget { input: self.name.clone(), stated, asked: triple.to_owned() })
    }

    /// Gives a module that states no data layout that of its triple, or of this machine if it states no triple
    /// either, before anything is computed in LLVM's default layout, which is no machine's. A module for a target
    /// that the loaded library does not have, which no code can be made for, stays as it is.
    pub fn settle_data_layout(&mut self) {
        if self.data_layout().is_empty()
            && let Ok(machine) = TargetMachine::new(&self.triple(), &Cpu::named(""))
        {
            self.set_data_layout(&machine);
        }
    }

    fn set_data_layout(&mut self, machine: &TargetMachine) {
        // SAFETY: module, machine and layout are live; LLVM copies the layout.
        unsafe {
            let layout = functions().LLVMCreateTargetDataLayout(machine.raw());
            functions().LLVMSetModuleDataLayout(self.module, layout);
            functions().LLVMDisposeTargetData(layout);
        }
    }

    /// Runs a pipeline of the new pass manager, in the notation of `opt -passes=`, with the target's cost model if
    /// one is given.
    ///
    /// # Errors
    /// [`Error::Passes`] with LLVM's message.
    pub fn optimise(&mut self, passes: &str, machine: Option<&TargetMachine>) -> Result<()> {
        self.optimise_with(passes, machine, false)
    }

    /// Runs a pipeline as [`Module::optimise`] does; `slp`: whether pipelines by level vectorize straight-line code, too,
    /// as clang has them do.
    ///
    /// # Errors
    /// [`Error::Passes`] with LLVM's message.
    pub(crate) fn optimise_with(
        &mut self,
        passes: &str,
        machine: Option<&TargetMachine>,
        slp: bool,
    ) -> Result<()> {
        let pipeline = c_string(passes);
        let f = functions();
        // SAFETY: all handles are live; the options are freed; the error, if any, is consumed.
        let outcome = unsafe {
            let options = f.LLVMCreatePassBuilderOptions();
            f.LLVMPassBuilderOptionsSetSLPVectorization(options, slp.into());
            let machine = machine.map_or(ptr::null_mut(), TargetMachine::raw);
            let error = f.LLVMRunPasses(self.module, pipeline.as_ptr(), machine, options);
            f.LLVMDisposePassBuilderOptions(options);
            take_error(error)
        };
        outcome.map_err(|message| Error::Passes { passes: passes.to_owned(), message })
    }

    /// Runs function passes, such as `mem2reg`, on one function. Returns whether the loaded LLVM can do that: it is
    /// new in version 20.
    ///
    /// # Errors
    /// [`Error::Passes`] if a pass is unknown, and what [`Module::require_function`] reports.
    pub fn optimise_function(&mut self, name: &str, passes: &str) -> Result<bool> {
        self.require_function(name)?;
        let (Some(function), Some(run)) = (self.named(name), functions().LLVMRunPassesOnFunction) else {
            return Ok(false);
        };
        let pipeline = c_string(passes);
        let f = functions();
        // SAFETY: all handles are live; the options are freed; the error, if any, is consumed.
        let outcome = unsafe {
            let options = f.LLVMCreatePassBuilderOptions();
            let error = run(function, pipeline.as_ptr(), ptr::null_mut(), options);
            f.LLVMDisposePassBuilderOptions(options);
            take_error(error)
        };
        outcome.map_err(|message| Error::Passes { passes: passes.to_owned(), message }).map(|()| true)
    }

    /// The names of the functions that have a body, in module order.
    pub fn defined_functions(&self) -> Vec<String> {
        // SAFETY: the iterator yields functions of this module.
        self.functions()
            .filter(|&function| unsafe { functions().LLVMIsDeclaration(function) } == 0)
            .map(value_name)
            .collect()
    }

    /// The names of the functions without a body, intrinsics included, in module order.
    pub fn declared_functions(&self) -> Vec<String> {
        // SAFETY: as above.
        self.functions()
            .filter(|&function| unsafe { functions().LLVMIsDeclaration(function) } != 0)
            .map(value_name)
            .collect()
    }

    /// The names of the attributes of functions that LLVM knows nothing of, in module order, as they come.
    pub(crate) fn function_attribute_names(&self) -> Vec<String> {
        let f = functions();
        let mut names = Vec::new();
        for function in self.functions() {
            // SAFETY: a live function; LLVM fills as many attributes as it counts; pointer and length describe a
            // name, which is copied.
            unsafe {
                let count = f.LLVMGetAttributeCountAtIndex(function, FUNCTION_INDEX) as usize;
                let mut attributes = vec![std::ptr::null_mut(); count];
                f.LLVMGetAttributesAtIndex(function, FUNCTION_INDEX, attributes.as_mut_ptr());
                for attribute in attributes.into_iter().filter(|&a| f.LLVMIsStringAttribute(a) != 0) {
                    let mut length = 0;
                    let start = f.LLVMGetStringAttributeKind(attribute, &raw mut length).cast::<u8>();
                    let name = std::slice::from_raw_parts(start, length as usize);
                    names.push(String::from_utf8_lossy(name).into_owned());
                }
            }
        }
        names
    }

    /// Whether a function of that name has a body.
    pub fn defines(&self, name: &str) -> bool {
        // SAFETY: `named` yields functions of this module.
        self.named(name).is_some_and(|function| unsafe { functions().LLVMIsDeclaration(function) } == 0)
    }

    /// The function of that name, defined or not.
    pub(crate) fn named(&self, name: &str) -> Option<LLVMValueRef> {
        let name = CString::new(name).ok()?;
        // SAFETY: a live module and a terminated name.
        let function = unsafe { functions().LLVMGetNamedFunction(self.module, name.as_ptr()) };
        (!function.is_null()).then_some(function)
    }

    /// Checks that a function of that name has a body.
    ///
    /// # Errors
    /// [`Error::NoFunction`] with the closest name.
    pub fn require_function(&self, name: &str) -> Result<()> {
        self.defines(name).then_some(()).ok_or_else(|| {
            let known = self.defined_functions();
            let hint = did_you_mean(name, known.iter().map(String::as_str));
            let hint = if hint.is_empty() && !known.is_empty() && known.len() <= 12 {
                format!("; it has {}", known.join(", "))
            } else {
                hint
            };
            Error::NoFunction { name: name.to_owned(), hint }
        })
    }

    /// Every function in module order.
    pub(crate) fn functions(&self) -> impl Iterator<Item = LLVMValueRef> + '_ {
        // SAFETY: a live module.
        let first = unsafe { functions().LLVMGetFirstFunction(self.module) };
        std::iter::successors((!first.is_null()).then_some(first), |&function| {
            // SAFETY: `function` belongs to the live module; callers that delete collect first.
            let next = unsafe { functions().LLVMGetNextFunction(function) };
            (!next.is_null()).then_some(next)
        })
    }

    /// Lets calls of one function call another one of the same type, except in functions whose names begin with `kept`.
    /// Nothing happens if there is no function of one of the names.
    pub fn redirect_calls(&mut self, from: &str, to: &str, kept: &str) {
        let f = functions();
        let (Some(from), Some(to)) = (self.named(from), self.named(to)) else { return };
        for user in users_of(from) {
            // SAFETY: users of a live function; only calls are asked what they call, and which function they are in.
            // The last operand of a call is what it calls.
            unsafe {
                let is_call = !f.LLVMIsACallInst(user).is_null() || !f.LLVMIsAInvokeInst(user).is_null();
                if !is_call || f.LLVMGetCalledValue(user) != from {
                    continue;
                }
                let caller = f.LLVMGetBasicBlockParent(f.LLVMGetInstructionParent(user));
                if !value_name(caller).starts_with(kept) {
                    f.LLVMSetOperand(user, f.LLVMGetNumOperands(user) as u32 - 1, to);
                }
            }
        }
    }

    /// The context, for code of this crate.
    pub(crate) fn context(&self) -> LLVMContextRef {
        self.context
    }

    /// The module, for code of this crate.
    pub(crate) fn raw(&self) -> LLVMModuleRef {
        self.module
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: this owns both; the module goes first.
        unsafe {
            functions().LLVMDisposeModule(self.module);
            functions().LLVMContextDispose(self.context);
        }
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The blocks of a function.
pub(crate) fn blocks_of(function: LLVMValueRef) -> Vec<LLVMBasicBlockRef> {
    let f = functions();
    // SAFETY: the list of blocks of a live function.
    unsafe {
        let there = |block: LLVMBasicBlockRef| (!block.is_null()).then_some(block);
        std::iter::successors(there(f.LLVMGetFirstBasicBlock(function)), |&block| {
            there(f.LLVMGetNextBasicBlock(block))
        })
        .collect()
    }
}

/// The instructions of a function, block by block; none of one without a body.
pub(crate) fn instructions_of(function: LLVMValueRef) -> Vec<LLVMValueRef> {
    blocks_of(function).into_iter().flat_map(instructions_in).collect()
}

/// The instructions of a block.
pub(crate) fn instructions_in(block: LLVMBasicBlockRef) -> Vec<LLVMValueRef> {
    let f = functions();
    let there = |inst: LLVMValueRef| (!inst.is_null()).then_some(inst);
    // SAFETY: the list of instructions of a live block.
    unsafe {
        std::iter::successors(there(f.LLVMGetFirstInstruction(block)), |&inst| {
            there(f.LLVMGetNextInstruction(inst))
        })
        .collect()
    }
}

/// The opcode of an instruction; `None` for other values.
pub(crate) fn opcode(value: LLVMValueRef) -> Option<u32> {
    let f = functions();
    // SAFETY: a live value; the opcode is asked of instructions only.
    unsafe { (!f.LLVMIsAInstruction(value).is_null()).then(|| f.LLVMGetInstructionOpcode(value)) }
}

/// Whether a value is an instruction with this opcode.
pub(crate) fn is(value: LLVMValueRef, op: crate::ffi::types::LLVMOpcode) -> bool {
    opcode(value) == Some(op as u32)
}

/// The function that an instruction calls, if that is known.
pub(crate) fn called_function(inst: LLVMValueRef) -> Option<LLVMValueRef> {
    let f = functions();
    // SAFETY: a live instruction; calls are asked for what they call.
    unsafe {
        let called = is(inst, LLVMOpcode::LLVMCall).then(|| f.LLVMGetCalledValue(inst))?;
        (!f.LLVMIsAFunction(called).is_null()).then_some(called)
    }
}

/// An address some bytes further in the object that it leads to, made where a builder stands.
///
/// # Safety
/// A live context, builder of it, and address.
pub(crate) unsafe fn further(
    context: LLVMContextRef,
    builder: LLVMBuilderRef,
    address: LLVMValueRef,
    bytes: i64,
) -> LLVMValueRef {
    // In bounds, which says that nothing wraps as a signed number, either.
    const FLAGS: u32 = 0b11;
    if bytes == 0 {
        return address;
    }
    let f = functions();
    // SAFETY: as the caller promises.
    unsafe {
        let [byte, number] = [8, 64].map(|bits| f.LLVMIntTypeInContext(context, bits));
        let mut bytes = f.LLVMConstInt(number, bytes as u64, 1);
        f.LLVMBuildGEPWithNoWrapFlags(builder, byte, address, &raw mut bytes, 1, c"".as_ptr(), FLAGS)
    }
}

/// What uses a value: instructions, or constants that are made of it. Each as often as it does. They are collected,
/// since whoever changes one of them takes its uses out of the list that LLVM has of them.
pub(crate) fn users_of(value: LLVMValueRef) -> Vec<LLVMValueRef> {
    let f = functions();
    let there = |used: LLVMUseRef| (!used.is_null()).then_some(used);
    // SAFETY: uses of a live value.
    let uses = std::iter::successors(there(unsafe { f.LLVMGetFirstUse(value) }), |&used| {
        there(unsafe { f.LLVMGetNextUse(used) })
    });
    // SAFETY: a use of a live value.
    uses.map(|used| unsafe { f.LLVMGetUser(used) }).collect()
}

/// Reads text or bitcode into a context; the error is LLVM's message, which may be empty where it has reported
/// something instead.
fn parse_into(
    context: LLVMContextRef,
    bytes: &[u8],
    name: &str,
) -> std::result::Result<LLVMModuleRef, String> {
    if let Some(module) = read_plain_functions(context, bytes, name) {
        return Ok(module);
    }
    let mut module = ptr::null_mut();
    let mut message = ptr::null_mut();
    let readable = std::str::from_utf8(bytes).map(as_plain_functions);
    let bytes = readable.as_ref().map_or(bytes, |text| text.as_bytes());
    let buffer = MemoryBuffer::copy_of(bytes, name);
    // SAFETY: a live context; the parser takes the buffer over; `module` and `message` are valid out-parameters.
    let failed = unsafe {
        functions().LLVMParseIRInContext(context, buffer.into_raw(), &raw mut module, &raw mut message)
    } != 0;
    let message = take_message(message);
    if failed || module.is_null() { Err(message) } else { Ok(module) }
}

/// A message, followed by what LLVM has reported besides.
pub(crate) fn all_words(message: String, reported: Vec<Diagnostic>) -> String {
    let mut words = vec![message];
    words.extend(reported.into_iter().map(|diagnostic| diagnostic.message));
    words.retain(|text| !text.is_empty());
    words.join("\n").trim_end().to_owned()
}

extern "C" fn record_diagnostic(info: LLVMDiagnosticInfoRef, argument: *mut c_void) {
    // SAFETY: `argument` is the address of the module's boxed `Diagnostics`, alive while its context is; the
    // description is freed by `take_message`.
    let (diagnostics, severity, message) = unsafe {
        (
            &*argument.cast_const().cast::<Diagnostics>(),
            functions().LLVMGetDiagInfoSeverity(info),
            take_message(functions().LLVMGetDiagInfoDescription(info)),
        )
    };
    let severity = match severity {
        0 => Severity::Error,
        1 => Severity::Warning,
        _ => Severity::Note,
    };
    diagnostics.0.lock().unwrap_or_else(PoisonError::into_inner).push(Diagnostic { severity, message });
}

/// A C string of `text`, cut at a zero byte.
pub(crate) fn c_string(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text.as_bytes()[..end]).unwrap_or_default()
}

/// Copies a string that LLVM keeps.
///
/// # Safety
/// `text` is null or a terminated string.
pub(crate) unsafe fn owned_string(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Copies and frees a message made by LLVM; null is the empty string.
pub(crate) fn take_message(message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: every caller passes a string that LLVM made for it and nobody else frees.
    unsafe {
        let text = owned_string(message);
        functions().LLVMDisposeMessage(message);
        text
    }
}

/// Consumes an error object.
///
/// # Safety
/// `error` is null or an error that nobody else consumes.
pub(crate) unsafe fn take_error(error: LLVMErrorRef) -> std::result::Result<(), String> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: the caller's promise; the message is freed after it was copied.
    unsafe {
        let message = functions().LLVMGetErrorMessage(error);
        let text = owned_string(message);
        functions().LLVMDisposeErrorMessage(message);
        Err(text)
    }
}

/// Gives a value a name.
pub(crate) fn set_name(value: LLVMValueRef, name: &str) {
    // SAFETY: a live value; pointer and length describe the name, which LLVM copies.
    unsafe { functions().LLVMSetValueName2(value, name.as_ptr().cast(), name.len()) };
}

/// The name of a value, empty if it has none.
pub(crate) fn value_name(value: LLVMValueRef) -> String {
    let mut length = 0;
    // SAFETY: a live value; pointer and length describe its name, which is copied at once.
    unsafe {
        let start = functions().LLVMGetValueName2(value, &raw mut length);
        if start.is_null() {
            return String::new();
        }
        String::from_utf8_lossy(std::slice::from_raw_parts(start.cast::<u8>(), length)).into_owned()
    }
}
