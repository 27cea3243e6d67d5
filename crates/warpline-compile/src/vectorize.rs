//! The W-lane form of a kernel, with its drivers, as code.

use warpline_llvm::worker::{self, CodegenOptions, Output};
use warpline_uniformity::shape::ArgShape;
use warpline_vectorize::Vectorized;
use warpline_vectorize::driver::{self, Form, Forms};

use crate::error::{Error, Result};
use crate::kernel::{self, Kernel};
use crate::options::VectorizeOptions;

/// What was made of a kernel.
pub struct Compiled {
    /// The kernel; its module has the W-lane form too.
    pub kernel: Kernel,
    /// The W-lane form.
    pub made: Vectorized,
    /// Whether the visible W-lane function has a mask.
    pub masked: bool,
    /// The name of the range driver, if there is one.
    pub range: Option<String>,
    /// The name of the driver over work-items, if there is one.
    pub ndrange: Option<String>,
    /// The code.
    pub code: Vec<u8>,
}

impl Compiled {
    /// The name of the visible W-lane function.
    pub fn lanes(&self) -> &str {
        let name = &self.made.name;
        if self.masked { name.trim_end_matches(".masked") } else { name }
    }

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
    let names = Names { lanes: &name, range: range.as_deref(), ndrange: &ndrange_name };
    let made = make(options, &mut kernel, &names, scalar_result)?;
    let ndrange = kernel.items.is_some().then_some(ndrange_name);
    let visible: Vec<&str> =
        std::iter::once(&name).chain(&range).chain(&ndrange).map(String::as_str).collect();
    let codegen = CodegenOptions {
        panic: options.panic.clone(),
        strip: options.strip,
        ..kernel.codegen_options(&visible, output)
    };
    let code = worker::codegen(kernel.imported.bridge.module(), &codegen)?;
    Ok(Compiled { kernel, made, masked: options.mask, range, ndrange, code })
}

/// The names of what is made.
struct Names<'a> {
    lanes: &'a str,
    /// Of the range driver, if there is to be one.
    range: Option<&'a str>,
    /// Of the driver over work-items, if the kernel asks for them.
    ndrange: &'a str,
}

/// Makes the W-lane function and, if there is an index, the drivers, and exports them.
fn make(
    options: &VectorizeOptions,
    kernel: &mut Kernel,
    names: &Names<'_>,
    scalar_result: bool,
) -> Result<Vectorized> {
    let (name, with_range) = (names.lanes, names.range.is_some());
    let math = kernel.math_library(&options.kernel);
    let bodies = kernel.imported.final_bodies(kernel.vectors.register_bits);
    let (width, rest) = (kernel.width, kernel.rest);
    let mut made_here = Vec::new();
    let mut made = |kernel: &mut Kernel, lanes: u32, forms: &[(&str, bool)]| -> Result<Vec<Vectorized>> {
        let mut asked = kernel.vectorizer(String::new(), lanes, false, &math, &bodies);
        asked.scalar_result = scalar_result;
        let made = warpline_vectorize::vectorize_forms(&mut kernel.imported.ir, kernel.func, &asked, forms)
            .map_err(|e| kernel.refusal(&e))?;
        made_here.extend(made.iter().flat_map(Vectorized::functions));
        Ok(made)
    };
    let under_mask = format!("{name}.masked");
    let whole = if options.mask { format!("{name}.full") } else { name.to_owned() };
    let mut wanted = Vec::new();
    if options.mask || (with_range && rest == width) {
        wanted.push((&*under_mask, true));
    }
    if !options.mask || with_range {
        wanted.push((&*whole, false));
    }
    let (mut full, mut masked) = (None, None);
    for form in made(kernel, width, &wanted)? {
        let place = if form.masked { &mut masked } else { &mut full };
        *place = Some(form);
    }
    let mut forms = match (&full, &masked) {
        (Some(full), Some(masked)) if rest == width => {
            Forms::of_one_width(full.func, masked.func, width).into()
        }
        (Some(full), _) if with_range => {
            let full = Form { func: full.func, lanes: width };
            let (smaller, last) = (format!("{name}.smaller"), format!("{name}.rest"));
            let both = made(kernel, rest, &[(&smaller, false), (&last, true)])?;
            Some(Forms::new(full, Some(Form { func: both[0].func, lanes: rest }), both[1].func))
        }
        _ => None,
    };
    if let (true, Some(masked)) = (options.mask, &masked) {
        made_here.push(driver::bitmask_entry(&mut kernel.imported.ir, masked.func, kernel.width, name));
    }
    if let Some(forms) = &mut forms {
        made_here.extend(kernel.give_lead(forms, name));
    }
    if let (Some(range_name), Some(forms)) = (names.range, &forms) {
        let ir = &mut kernel.imported.ir;
        let range = driver::vector_range(ir, kernel.func, forms, &kernel.args, range_name)
            .map_err(|e| kernel.refusal(&e))?;
        made_here.push(range);
        if let Some(items) = &kernel.items {
            let ir = &mut kernel.imported.ir;
            let ndrange = driver::ndrange(ir, items, &kernel.args, range, names.ndrange);
            made_here.push(ndrange.map_err(|e| kernel.refusal(&e))?);
        }
    }
    kernel.export(&made_here)?;
    let visible = if options.mask { masked } else { full };
    visible.ok_or_else(|| Error::option("--mask", "nothing was made"))
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
