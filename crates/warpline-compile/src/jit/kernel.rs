//! Functions of compiled code that are called with arguments that are checked.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use warpline_llvm::{Emit, Entry, Jit, Module, TargetMachine};

use super::arguments::{Arguments, Passed, Returned};
use super::{Code, Language};
use crate::callable::{Length, Parameter, Signature, Takes};
use crate::error::{Error, Result};
use crate::number::Number;

/// A function that can be called, in code that was compiled for this machine. Threads may share it.
///
/// ```no_run
/// use warpline_compile::jit::{Kernel, Language};
///
/// let source = "void scale(int n, float by, float x[n]) { for (int i = 0; i < n; i++) x[i] *= by; }";
/// let scale = Kernel::from_source(Language::C, source)?;
/// let mut x = vec![1.0f32; 1000];
/// scale.call((1000, 2.0f32, &mut x))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Each call compares the types of its arguments with the source's, whether slices may be written, and their lengths
/// with those that the source says: C's `float x[n]`, and of kernels in Rust, one element for each index. Other lengths
/// are said by [`Kernel::with_length`]. What a function does with a pointer whose length nobody says is its own
/// business, as if it had been linked into the program.
#[derive(Clone)]
pub struct Kernel {
    entry: Entry,
    signature: Signature,
}

/// What is wrong with the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// There are more or fewer than the function has parameters.
    #[error("`{function}` takes {expected} arguments, not {given}")]
    Count {
        /// The function, with the types of its parameters.
        function: String,
        /// How many it takes.
        expected: usize,
        /// How many there are.
        given: usize,
    },
    /// One has another type.
    #[error("`{parameter}` takes {expected}, not {given}")]
    Type {
        /// The parameter.
        parameter: String,
        /// What it takes.
        expected: String,
        /// What is passed.
        given: String,
    },
    /// A slice has fewer numbers than the function uses.
    #[error("`{parameter}` needs {length} = {needed} elements, not {given}")]
    Length {
        /// The parameter.
        parameter: String,
        /// How the length is said.
        length: String,
        /// Its value.
        needed: i128,
        /// How many there are.
        given: usize,
    },
    /// The result has another type.
    #[error("`{function}` returns {returned}, not {expected}")]
    Result {
        /// The function.
        function: String,
        /// What it returns.
        returned: String,
        /// What is wanted.
        expected: String,
    },
}

impl Kernel {
    /// Compiles a source for this machine; its only function.
    ///
    /// # Errors
    /// As [`Code::of_source`] and [`Code::kernel`], and if there are several.
    pub fn from_source(language: Language, text: &str) -> Result<Kernel> {
        Code::of_source(language, text)?.only_kernel("the source")
    }

    /// The same of a file.
    ///
    /// # Errors
    /// As [`Kernel::from_source`].
    pub fn from_file(path: &Path) -> Result<Kernel> {
        Code::of_file(path)?.only_kernel(path)
    }

    /// Makes the function that takes its arguments from an array, and links it to the code.
    pub(super) fn of(jit: &Arc<Jit>, signature: Signature) -> Result<Kernel> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let entry = format!("warpline.call.{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let mut module = Module::parse(entry_text(&entry, &signature).as_bytes(), "call")?;
        let machine = TargetMachine::native()?;
        module.set_target(&machine)?;
        jit.add_object(&machine.emit(&module, Emit::Object)?, "call")?;
        Ok(Kernel { entry: jit.entry(&entry)?, signature })
    }

    /// What it takes and returns.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Says how many elements a parameter leads to: a sum or product of numbers and parameters, such as `n` or
    /// `width * height`.
    ///
    /// # Errors
    /// If there is no such parameter that is a pointer, or the length is none.
    pub fn with_length(mut self, parameter: &str, length: &str) -> Result<Kernel> {
        let names: Vec<String> = self.signature.params.iter().map(|one| one.name.clone()).collect();
        let read = Length::parse(length).filter(|read| {
            read.parameters().iter().all(|name| {
                let one = self.signature.params.iter().find(|one| one.name == *name);
                one.is_some_and(|one| matches!(one.takes, Takes::Number { .. }))
            })
        });
        let said = read.ok_or_else(|| {
            Error::option(
                length,
                format!("a length is a sum or product of numbers and of {}", names.join(", ")),
            )
        })?;
        let one = self.signature.params.iter_mut().find(|one| one.name == parameter);
        match one.filter(|one| matches!(one.takes, Takes::Pointer { .. })) {
            Some(one) => one.length = Some(said),
            None => return Err(Error::option(parameter, format!("no pointer in `{}`", self.signature))),
        }
        Ok(self)
    }

    /// Calls the function; what it returns is dropped.
    ///
    /// # Errors
    /// If the arguments are not what it takes; it is not called then.
    pub fn call(&self, arguments: impl Arguments) -> std::result::Result<(), CallError> {
        self.bits(arguments).map(|_| ())
    }

    /// Calls the function, and returns its result.
    ///
    /// # Errors
    /// As [`Kernel::call`], and if it returns something else.
    pub fn compute<R: Returned>(&self, arguments: impl Arguments) -> std::result::Result<R, CallError> {
        if self.signature.result != Some(R::NUMBER) {
            return Err(CallError::Result {
                function: self.signature.name.clone(),
                returned: self.signature.result.map_or("nothing".to_owned(), |result| result.to_string()),
                expected: R::NUMBER.to_string(),
            });
        }
        self.bits(arguments).map(R::of)
    }

    fn bits(&self, mut arguments: impl Arguments) -> std::result::Result<u64, CallError> {
        let mut slots = self.checked(&arguments.passed())?;
        self.entry.call(&mut slots);
        // What was borrowed for the call is borrowed up to here.
        drop(arguments);
        Ok(slots[0])
    }

    /// The words that are passed.
    fn checked(&self, given: &[Passed]) -> std::result::Result<Vec<u64>, CallError> {
        let params = &self.signature.params;
        if params.len() != given.len() {
            return Err(CallError::Count {
                function: self.signature.to_string(),
                expected: params.len(),
                given: given.len(),
            });
        }
        // The first takes the result as well.
        let mut slots = Vec::with_capacity(given.len() + 1);
        for (one, &passed) in params.iter().zip(given) {
            slots.extend(one.words(passed)?);
        }
        if slots.is_empty() {
            slots.push(0);
        }
        let value = |name: &str| {
            let at = params.iter().position(|one| one.name == name)?;
            match given[at] {
                Passed::Number(number, bits) => Some(number.value(bits)),
                Passed::Slice { .. } => None,
            }
        };
        for (one, &passed) in params.iter().zip(given) {
            let (Some(length), Passed::Slice { len, .. }) = (&one.length, passed) else { continue };
            let needed = length.value(&value).unwrap_or(i128::MAX);
            if i128::try_from(len).is_ok_and(|len| len < needed) {
                let (parameter, length) = (one.name.clone(), length.to_string());
                return Err(CallError::Length { parameter, length, needed, given: len });
            }
        }
        Ok(slots)
    }
}

impl Number {
    /// The value of bits as an integer; of what is none, the bits.
    fn value(self, bits: u64) -> i128 {
        match self {
            Number::I8 | Number::I16 | Number::I32 | Number::I64 => i128::from(bits as i64),
            _ => i128::from(bits),
        }
    }
}

impl Parameter {
    /// The words in which an argument is passed.
    fn words(&self, passed: Passed) -> std::result::Result<Vec<u64>, CallError> {
        let same = |of: Number, to: Option<Number>| to.is_none_or(|to| to == of);
        match (&self.takes, passed) {
            (&Takes::Number { number, any_sign }, Passed::Number(given, bits))
                if given == number || any_sign && given.has_layout_of(number) =>
            {
                return Ok(vec![bits]);
            }
            (&Takes::Pointer { to, writes }, Passed::Slice { of, address, mutable, .. })
                if same(of, to) && (mutable || !writes) =>
            {
                return Ok(vec![address]);
            }
            (&Takes::Slice { to, writes }, Passed::Slice { of, address, mutable, len })
                if same(of, to) && (mutable || !writes) =>
            {
                return Ok(vec![address, len as u64]);
            }
            _ => {}
        }
        let given = match passed {
            Passed::Number(number, _) => number.to_string(),
            Passed::Slice { of, mutable, .. } => format!("&{}[{of}]", if mutable { "mut " } else { "" }),
        };
        Err(CallError::Type { parameter: self.name.clone(), expected: self.describe(), given })
    }
}

/// A function in LLVM's text that takes the arguments of another from an array of 8 bytes each, and puts the result into
/// the first.
fn entry_text(entry: &str, signature: &Signature) -> String {
    let mut types = Vec::new();
    for one in &signature.params {
        match one.takes {
            Takes::Number { number, .. } => types.push(number.in_llvm()),
            Takes::Pointer { .. } => types.push(("ptr", "")),
            Takes::Slice { .. } => types.extend([("ptr", ""), ("i64", "")]),
        }
    }
    let declared: Vec<String> = types.iter().map(|(ty, extension)| format!("{ty} {extension}")).collect();
    let (mut loads, mut passed) = (String::new(), Vec::new());
    for (at, (ty, extension)) in types.iter().enumerate() {
        // A truth value is a byte in memory.
        let stored = if *ty == "i1" { "i8" } else { ty };
        let _ = write!(
            loads,
            "  %a{at} = getelementptr i64, ptr %slots, i64 {at}\n  %w{at} = load {stored}, ptr %a{at}, align 8\n"
        );
        if stored != *ty {
            let _ = writeln!(loads, "  %v{at} = trunc {stored} %w{at} to {ty}");
        }
        passed.push(format!("{ty} {extension} %{}{at}", if stored == *ty { 'w' } else { 'v' }));
    }
    let name: String = signature
        .name
        .bytes()
        .map(|byte| match byte {
            b'"' | b'\\' | 0..32 | 127.. => format!("\\{byte:02x}"),
            _ => char::from(byte).to_string(),
        })
        .collect();
    let (result, returned, store) = match signature.result.map(Number::in_llvm) {
        None => ("void", String::new(), String::new()),
        Some(("i1", _)) => {
            let store = "  %wide = zext i1 %result to i64\n  store i64 %wide, ptr %slots, align 8\n";
            ("i1", "%result = ".to_owned(), store.to_owned())
        }
        Some((ty, _)) => {
            (ty, "%result = ".to_owned(), format!("  store {ty} %result, ptr %slots, align 8\n"))
        }
    };
    format!(
        "declare {result} @\"{name}\"({})\ndefine void @\"{entry}\"(ptr %slots) {{\n{loads}  {returned}call {result} \
         @\"{name}\"({})\n{store}  ret void\n}}\n",
        declared.join(", "),
        passed.join(", ")
    )
}
