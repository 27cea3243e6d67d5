//! Running machine code in this process.
//!
//! An object file made by [`crate::TargetMachine::emit`] is linked into the process by LLVM's ORC. Its undefined
//! symbols are looked up among the process's own, the C library, the math library and, where there is one, glibc's
//! vector math library.
//!
//! The only native signature called from here is `void (ptr)`: whoever generates code also generates an entry thunk
//! that takes the address of an array of 8-byte slots, loads the arguments from it, and stores the result back.

use std::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;
use std::ptr;
use std::sync::{Arc, Mutex, Once, PoisonError};

use crate::ffi::types::LLVMErrorRef;
use crate::ffi::types::LLVMOrcLLJITRef;
use crate::ffi::types::{LLVMJITEvaluatedSymbol, LLVMJITSymbolFlags, LLVMOrcCSymbolMapPair};
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

use crate::bfloat;
use crate::child;
use crate::clock::Stopwatch;
use crate::error::{Error, Result};
use crate::ffi::load::{Llvm, functions};
use crate::module::{MemoryBuffer, Module, c_string, take_error};
use crate::simplify::has_body;

/// The function that stands in for whatever the running code calls and this process does not have.
const MISSING: &str = "__warpline_missing";

/// LLVM's fixed number for the kind of metadata that debuggers read.
const DEBUG_INFO: u32 = 0;

/// Object files linked into this process.
pub struct Jit {
    raw: LLVMOrcLLJITRef,
    /// What the session reported; boxed, because LLVM holds its address.
    reported: Box<Mutex<Vec<String>>>,
}

/// A function of a [`Jit`], to be called with an array of argument slots.
#[derive(Clone, Copy)]
pub struct JitFunction<'jit> {
    entry: unsafe extern "C" fn(*mut u64),
    code: PhantomData<&'jit Jit>,
}

/// A function as [`JitFunction`], which keeps its [`Jit`] and may be called by several threads.
#[derive(Clone)]
pub struct Entry {
    entry: unsafe extern "C" fn(*mut u64),
    _jit: Arc<Jit>,
}

// SAFETY: ORC takes a lock of its session wherever it is asked for something, the list of what it reported is behind a
// lock of its own, and linked code does not change.
unsafe impl Send for Jit {}
// SAFETY: as above.
unsafe impl Sync for Jit {}

impl Jit {
    /// An empty one.
    ///
    /// # Errors
    /// [`Error::Jit`], or what [`Llvm::get`] reports.
    pub fn new() -> Result<Self> {
        Llvm::get()?;
        open_math_libraries();
        let f = functions();
        let reported = Box::<Mutex<Vec<String>>>::default();
        let mut raw = ptr::null_mut();
        // SAFETY: a null builder asks for the defaults; the out-parameter is valid; the error is consumed.
        unsafe { take_error(f.LLVMOrcCreateLLJIT(&raw mut raw, ptr::null_mut())) }
            .map_err(|message| Error::Jit { message })?;
        let jit = Self { raw, reported };
        // SAFETY: the session lives as long as the JIT, and so does the boxed list; the generator is given to the
        // library.
        unsafe {
            let session = f.LLVMOrcLLJITGetExecutionSession(raw);
            let list: *const Mutex<Vec<String>> = &raw const *jit.reported;
            f.LLVMOrcExecutionSessionSetErrorReporter(session, record_error, list.cast_mut().cast());
            let mut generator = ptr::null_mut();
            let prefix = f.LLVMOrcLLJITGetGlobalPrefix(raw);
            jit.check(f.LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
                &raw mut generator,
                prefix,
                None,
                ptr::null_mut(),
            ))?;
            f.LLVMOrcJITDylibAddGenerator(f.LLVMOrcLLJITGetMainJITDylib(raw), generator);
        }
        jit.define(MISSING, missing as *const () as usize)?;
        jit.define("__truncsfbf2", bfloat::from_float as *const () as usize)?;
        jit.define("__truncdfbf2", bfloat::from_double as *const () as usize)?;
        Ok(jit)
    }

    /// Links an object file in; `name` stands for it in messages.
    ///
    /// # Errors
    /// [`Error::Jit`] when it is no object file for this machine or defines a symbol twice.
    pub fn add_object(&self, object: &[u8], name: &str) -> Result<()> {
        let buffer = MemoryBuffer::copy_of(object, name);
        // SAFETY: a live JIT, which takes the buffer over.
        unsafe {
            let library = functions().LLVMOrcLLJITGetMainJITDylib(self.raw);
            self.check(functions().LLVMOrcLLJITAddObjectFile(self.raw, library, buffer.into_raw()))
        }
    }

    /// Makes the address of one of the caller's functions or objects known under `name`.
    ///
    /// # Errors
    /// [`Error::Jit`] when the name is defined already.
    pub fn define(&self, name: &str, address: usize) -> Result<()> {
        let f = functions();
        let name = c_string(name);
        // SAFETY: a live JIT; the pair is read during the call; the interned name and the unit are given away.
        unsafe {
            let mut pair = LLVMOrcCSymbolMapPair {
                Name: f.LLVMOrcLLJITMangleAndIntern(self.raw, name.as_ptr()),
                Sym: LLVMJITEvaluatedSymbol {
                    Address: address as u64,
                    Flags: LLVMJITSymbolFlags { GenericFlags: 1, TargetFlags: 0 },
                },
            };
            let unit = f.LLVMOrcAbsoluteSymbols(&raw mut pair, 1);
            self.check(f.LLVMOrcJITDylibDefine(f.LLVMOrcLLJITGetMainJITDylib(self.raw), unit))
        }
    }

    /// The function of that name, linked now.
    ///
    /// The function must have the type `void (ptr)` and keep to the slots that it is documented to use: this is where
    /// machine code enters a safe program, and its correctness rests on whoever generated it.
    ///
    /// # Errors
    /// [`Error::Jit`] when it, or something it refers to, is not there.
    pub fn function(&self, name: &str) -> Result<JitFunction<'_>> {
        let address = self.address(name)?;
        // SAFETY: the address of linked code; the required type is documented above.
        let entry = unsafe { std::mem::transmute::<usize, unsafe extern "C" fn(*mut u64)>(address) };
        Ok(JitFunction { entry, code: PhantomData })
    }

    /// The same, to be kept.
    ///
    /// # Errors
    /// As [`Jit::function`].
    pub fn entry(self: &Arc<Self>, name: &str) -> Result<Entry> {
        Ok(Entry { entry: self.function(name)?.entry, _jit: Arc::clone(self) })
    }

    /// The first bytes of a variable that an added object defines, as they are now. It must have so many, and no code
    /// of this JIT may be running.
    ///
    /// # Errors
    /// As [`address`](Jit::address).
    pub fn variable(&self, name: &str, len: usize) -> Result<Vec<u8>> {
        let address = self.address(name)?;
        // SAFETY: the memory of linked objects lives as long as the JIT; that it reaches so far, and that nobody writes
        // to it meanwhile, is documented above.
        Ok(unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance::<u8>(address), len) }
            .to_vec())
    }

    /// Gives a variable that an added object defines, and that may change, these bytes, of which it has no fewer. No
    /// code of this JIT may be running.
    ///
    /// # Errors
    /// As [`address`](Jit::address).
    pub fn set_variable(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let address = self.address(name)?;
        let to = std::ptr::with_exposed_provenance_mut::<u8>(address);
        // SAFETY: as in `variable`; what may change lies in memory that can be written to.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        Ok(())
    }

    /// The address of a symbol.
    ///
    /// # Errors
    /// [`Error::NoFunction`] when it is not there, [`Error::Jit`] when something it refers to is not.
    pub fn address(&self, name: &str) -> Result<usize> {
        let mut address = 0;
        let c_name = c_string(name);
        // SAFETY: a live JIT, a terminated name, a valid out-parameter.
        let found = self
            .check(unsafe { functions().LLVMOrcLLJITLookup(self.raw, &raw mut address, c_name.as_ptr()) });
        found.map_err(|error| match &error {
            Error::Jit { message } if message.contains(&format!("Symbols not found: [ {name} ]")) => {
                Error::NoFunction { name: name.to_owned(), hint: String::new() }
            }
            _ => error,
        })?;
        match usize::try_from(address) {
            Ok(address) if address != 0 => Ok(address),
            _ => Err(Error::Jit { message: format!("the symbol `{name}` has no address") }),
        }
    }

    /// Consumes an error object, together with what the session reported.
    fn check(&self, error: LLVMErrorRef) -> Result<()> {
        // SAFETY: every caller passes an error that LLVM has just returned.
        unsafe { take_error(error) }.map_err(|message| {
            let mut words =
                std::mem::take(&mut *self.reported.lock().unwrap_or_else(PoisonError::into_inner));
            words.push(message);
            Error::Jit { message: words.join("; ") }
        })
    }
}

impl Drop for Jit {
    fn drop(&mut self) {
        // SAFETY: this owns the JIT; functions borrow it, so none can run any more.
        let _ = unsafe { take_error(functions().LLVMOrcDisposeLLJIT(self.raw)) };
    }
}

impl Entry {
    /// Calls the function with the address of `slots`.
    pub fn call(&self, slots: &mut [u64]) {
        // SAFETY: as for `JitFunction::call`; the code is there as long as this is.
        unsafe { (self.entry)(slots.as_mut_ptr()) };
    }
}

impl JitFunction<'_> {
    /// Calls the function with the address of `slots`.
    pub fn call(&self, slots: &mut [u64]) {
        // SAFETY: the code is linked while the JIT is borrowed; its type and its use of the slots are promised in
        // `Jit::function`.
        unsafe { (self.entry)(slots.as_mut_ptr()) };
    }

    /// Calls the function once and returns how long that took, in nanoseconds of this thread's processor time: what
    /// else the machine does in the meantime is not counted. Where that cannot be read it is the time of day.
    pub fn time_ns(&self, slots: &mut [u64]) -> u64 {
        let watch = Stopwatch::start();
        self.call(slots);
        u64::try_from(watch.elapsed().as_nanos()).map_or(u64::MAX, |ns| ns.max(1))
    }
}

impl Module {
    /// Gives a body to every declared function that neither the module nor this process has, so that the module can
    /// be linked: when the running code reaches one, such as Rust's panic functions, the process ends with a message
    /// that names it. Weak ones become null, as a linker makes them.
    ///
    /// Returns the names.
    pub fn define_missing(&mut self) -> Vec<String> {
        open_math_libraries();
        let f = functions();
        self.forget_weak_functions();
        let declared: Vec<_> = self
            .functions()
            // SAFETY: a function of this module.
            .filter(|&function| !has_body(function) && unsafe { f.LLVMGetIntrinsicID(function) } == 0)
            .map(|function| (function, crate::module::value_name(function)))
            .filter(|(_, name)| name != MISSING && !in_process(name))
            .collect();
        if declared.is_empty() {
            return Vec::new();
        }
        // SAFETY: all handles belong to this live module; the call matches the declared type `void (ptr)`.
        unsafe {
            let context = self.context();
            let mut pointer = f.LLVMPointerTypeInContext(context, 0);
            let ty = f.LLVMFunctionType(f.LLVMVoidTypeInContext(context), &raw mut pointer, 1, 0);
            let stand_in = self
                .named(MISSING)
                .unwrap_or_else(|| f.LLVMAddFunction(self.raw(), c_string(MISSING).as_ptr(), ty));
            let builder = f.LLVMCreateBuilderInContext(context);
            for (function, name) in &declared {
                f.LLVMPositionBuilderAtEnd(
                    builder,
                    f.LLVMAppendBasicBlockInContext(context, *function, c"".as_ptr()),
                );
                let mut text = f.LLVMBuildGlobalStringPtr(builder, c_string(name).as_ptr(), c"".as_ptr());
                f.LLVMBuildCall2(builder, ty, stand_in, &raw mut text, 1, c"".as_ptr());
                f.LLVMBuildUnreachable(builder);
                // A description for debuggers that fits a declaration does not fit a body.
                f.LLVMGlobalEraseMetadata(*function, DEBUG_INFO);
                f.LLVMSetVisibility(
                    *function,
                    crate::ffi::types::LLVMVisibility::LLVMDefaultVisibility as u32,
                );
                f.LLVMSetDLLStorageClass(
                    *function,
                    crate::ffi::types::LLVMDLLStorageClass::LLVMDefaultStorageClass as u32,
                );
                f.LLVMSetLinkage(*function, crate::ffi::types::LLVMLinkage::LLVMInternalLinkage as u32);
            }
            f.LLVMDisposeBuilder(builder);
        }
        declared.into_iter().map(|(_, name)| name).collect()
    }

    /// Puts null in the place of weak functions that neither the module nor this process has.
    fn forget_weak_functions(&mut self) {
        let f = functions();
        for function in self.functions().collect::<Vec<_>>() {
            // SAFETY: a live function, and a constant of its own type, which is that of a pointer.
            unsafe {
                let weak = f.LLVMGetLinkage(function)
                    == crate::ffi::types::LLVMLinkage::LLVMExternalWeakLinkage as u32;
                if weak && !has_body(function) && !in_process(&crate::module::value_name(function)) {
                    f.LLVMReplaceAllUsesWith(function, f.LLVMConstNull(f.LLVMTypeOf(function)));
                }
            }
        }
    }
}

/// Whether running code finds a symbol of that name in this process: in the program, the C library, the math library or
/// a library of vector mathematics.
pub fn process_has_symbol(name: &str) -> bool {
    open_math_libraries();
    in_process(name)
}

/// Whether the process has a symbol of that name.
fn in_process(name: &str) -> bool {
    let mut terminated = name.as_bytes().to_vec();
    terminated.push(0);
    // SAFETY: the symbol is only asked for, never used.
    unsafe { Library::this().get::<*const c_void>(terminated.as_slice()) }
        .is_ok_and(|symbol| !symbol.is_null())
}

/// Makes the math library, glibc's vector variants and SLEEF, where there are any, visible to the linker in this
/// process.
fn open_math_libraries() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for name in ["libm.so.6", "libmvec.so.1", "libsleef.so.3"] {
            // SAFETY: libraries of mathematics, whose initialisers have no preconditions. Never closed.
            if let Ok(library) = unsafe { Library::open(Some(name), RTLD_NOW | RTLD_GLOBAL) } {
                std::mem::forget(library);
            }
        }
    });
}

extern "C" fn record_error(argument: *mut c_void, error: LLVMErrorRef) {
    // SAFETY: `argument` is the address of the JIT's boxed list; the error is ours to consume.
    let (list, outcome) =
        unsafe { (&*argument.cast_const().cast::<Mutex<Vec<String>>>(), take_error(error)) };
    if let Err(message) = outcome {
        list.lock().unwrap_or_else(PoisonError::into_inner).push(message);
    }
}

/// What running code reaches when it calls a function that is not there.
extern "C" fn missing(name: *const c_char) {
    // SAFETY: `define_missing` passes a terminated constant string.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    child::end_with(&format!("the kernel calls `{name}`, which is not linked"))
}
