//! The W-lane form of a kernel, with its drivers, as code.

use warpline_llvm::worker::{self, CodegenOptions, Output};
use warpline_uniformity::shape::ArgShape;
use warpline_vectorize::Vectorized;
use warpline_vectorize::driver::{self, Division};

use crate::error::{Error, Result};
use crate::kernel::{self, Kernel};
use crate::options::VectorizeOptions;

/// What was made of a kernel.
pub struct Compiled {
    /// The kernel; its module has the W-lane form too.
    pub kernel: Kernel,
    /// The W-lane form.
    pub made: Vectorized,
    /// The name of the visible W-lane function.
    pub lanes: String,
    /// In groups of how many indices the range driver executes what no group of W is left for.
    pub rest: u32,
    /// Whether it has groups of W begin where stores are aligned.
    pub aligned: bool,
    /// The name of the range driver, if there is one.
    pub range: Option<String>,
    /// The name of the driver over work-items, if there is one.
    pub ndrange: Option<String>,
    /// The code.
    pub code: Vec<u8>,
}

impl Compiled {
    /// The names of the drivers.
    pub fn drivers(&self) -> impl Iterator<Item = &str> {
        self.range.iter().chain(&self.ndrange).map(String::as_str)
    }
}

/// Makes the W-lane form of a kernel, its drivers, and code of them for one CPU.
///
/// # Errors
/// Whatever is wrong with input and options, or the reason why the kernel cannot be vectorized.
pub fn vectorize(options: &VectorizeOptions, output: Output) -> Result<Compiled> {
    compile(options, kernel::open(&options.kernel)?, "", output)
}

/// The same for a kernel that was opened; `suffix` ends the names of all that is made.
///
/// # Errors
/// As [`vectorize`].
pub fn compile(
    options: &VectorizeOptions,
    mut kernel: Kernel,
    suffix: &str,
    output: Output,
) -> Result<Compiled> {
    let scalar_result = scalar_result(options, &kernel)?;
    let stem = options.name.as_ref().unwrap_or(&kernel.name);
    let name = match &options.name {
        Some(name) => format!("{name}{suffix}"),
        None => format!("{stem}_w{}{suffix}", kernel.width),
    };
    let (range_name, ndrange_name) = (format!("{stem}_range{suffix}"), format!("{stem}_ndrange{suffix}"));
    for made in [&name, &range_name, &ndrange_name] {
        if kernel.imported.ir.symbol(made).is_some() {
            let message = format!("the input has a function `{made}` already; choose another name");
            return Err(Error::option("--name", message));
        }
    }
    let range = kernel.args.contains(&ArgShape::Index).then_some(range_name);
    let ndrange = kernel.items.is_some().then_some(ndrange_name);
    let names = Names { lanes: &name, range: range.as_deref(), ndrange: ndrange.as_deref() };
    let (made, division) = make(options, &mut kernel, &names, scalar_result)?;
    let visible: Vec<&str> =
        std::iter::once(&name).chain(&range).chain(&ndrange).map(String::as_str).collect();
    let codegen = CodegenOptions {
        panic: options.panic.clone(),
        strip: options.strip,
        ..kernel.codegen_options(&visible, output)
    };
    let code = worker::codegen(kernel.imported.bridge.module(), &codegen)?;
    let Division { rest, lead } = division;
    Ok(Compiled { kernel, made, lanes: name, rest, aligned: lead > 0, range, ndrange, code })
}

/// The names of what is made.
struct Names<'a> {
    lanes: &'a str,
    /// Of the range driver, if there is to be one.
    range: Option<&'a str>,
    /// Of the driver over work-items, if the kernel asks for them.
    ndrange: Option<&'a str>,
}

/// Makes the W-lane function and the drivers that there are names for, and exports them. What is said of the visible
/// function, and how the range is divided.
fn make(
    options: &VectorizeOptions,
    kernel: &mut Kernel,
    names: &Names<'_>,
    scalar_result: bool,
) -> Result<(Vectorized, Division)> {
    let (name, width) = (names.lanes, kernel.width);
    let math = kernel.math_library(&options.kernel);
    let bodies = kernel.imported.final_bodies(kernel.vectors.register_bits);
    let whole = if options.mask { format!("{name}.full") } else { name.to_owned() };
    let mut asked = kernel.vectorizer(whole, width, false, &math, &bodies);
    asked.scalar_result = scalar_result;
    let mut division = Division { rest: width, lead: 0 };
    let (mut new, mut full, mut masked) = (Vec::new(), None, None);
    if let Some(range) = names.range {
        let made = kernel.over_range(&asked, range)?;
        new.extend(made.functions());
        if let (Some(items), Some(name)) = (&kernel.items, names.ndrange) {
            let ndrange = driver::ndrange(&mut kernel.imported.ir, items, &kernel.args, made.range, name);
            new.push(ndrange.map_err(|e| kernel.refusal(&e))?);
        }
        division = Division { rest: made.made.rest(), lead: made.made.lead.map_or(0, |_| kernel.lead) };
        masked = Some(made.made.masked).filter(|masked| masked.width == width);
        full = Some(made.made.full);
    }
    let mut visible = if options.mask { masked } else { full };
    if visible.is_none() {
        asked.masked = options.mask;
        asked.name = if options.mask { format!("{name}.masked") } else { name.to_owned() };
        let made = warpline_vectorize::vectorize(&mut kernel.imported.ir, kernel.func, &asked)
            .map_err(|e| kernel.refusal(&e))?;
        new.extend(made.functions());
        visible = Some(made);
    }
    let visible = visible.expect("it was made here if not before");
    if options.mask {
        new.push(driver::bitmask_entry(&mut kernel.imported.ir, visible.func, width, name));
    }
    kernel.export(&new)?;
    Ok((visible, division))
}

/// Whether a uniform result is to be returned as a scalar.
fn scalar_result(options: &VectorizeOptions, kernel: &Kernel) -> Result<bool> {
    let (text, wrong): (&str, Box<dyn Fn(String) -> Error>) =
        match (&options.returns, &kernel.directives.returns) {
            (Some(text), _) => (text, Box::new(|message| Error::option("--returns", message))),
            (None, Some(at)) => {
                let (path, line) = (options.kernel.input.clone(), at.line);
                (&at.value, Box::new(move |message| Error::Directive { path: path.clone(), line, message }))
            }
            (None, None) => return Ok(false),
        };
    match ArgShape::parse(text) {
        Some(ArgShape::Uniform) => Ok(true),
        Some(ArgShape::Varying) => Ok(false),
        _ => Err(wrong(format!("`{text}` is no shape for a result: use uniform or varying"))),
    }
}
