//! `warpline vectorize`: the W-lane form of a kernel as a file.

use std::path::Path;

use serde_json::json;
use warpline::shape::ArgShape;
use warpline::vectorize::{Vectorized, driver};
use warpline_llvm::worker::{self, Output};

use crate::Outcome;
use crate::cli::{Format, VectorizeOptions};
use crate::error::{Error, Result};
use crate::header::{self, Header};
use crate::kernel::{self, Kernel};
use crate::libmvec::MAX_ULP;
use crate::output::{self, Outputs};

/// Runs the command.
///
/// # Errors
/// Whatever is wrong with input and options, or the reason why the kernel cannot be vectorized.
pub fn vectorize(options: &VectorizeOptions) -> Result<Outcome> {
    let kind = output_kind(&options.output)?;
    output::check(&options.output)?;
    if let Some(path) = &options.header {
        output::check(path)?;
    }
    let mut kernel = kernel::open(&options.kernel)?;
    let scalar_result = scalar_result(options, &kernel)?;
    let name = options.name.clone().unwrap_or_else(|| format!("{}_w{}", kernel.name, kernel.width));
    let stem = options.name.as_ref().unwrap_or(&kernel.name);
    let (range_name, ndrange_name) = (format!("{stem}_range"), format!("{stem}_ndrange"));
    for made in [&name, &range_name, &ndrange_name] {
        if kernel.imported.ir.symbol(made).is_some() {
            let message = format!("the input has a function `{made}` already; choose another name");
            return Err(Error::option("--name", message));
        }
    }
    let with_range = kernel.args.contains(&ArgShape::Index);
    let names = Names { lanes: &name, range: with_range.then_some(&range_name), ndrange: &ndrange_name };
    let made = make(options, &mut kernel, &names, scalar_result)?;
    let mut drivers: Vec<&String> = names.range.into_iter().collect();
    drivers.extend(kernel.items.is_some().then_some(&ndrange_name));
    let visible: Vec<&str> =
        std::iter::once(&name).chain(drivers.iter().copied()).map(String::as_str).collect();
    let codegen = kernel.codegen_options(&visible, kind);
    let code = worker::codegen(kernel.imported.bridge.module(), &codegen)?;
    let mut outputs = Outputs::default();
    outputs.add(&options.output, &code)?;
    if let Some(path) = &options.header {
        let text = header::text(&Header {
            kernel: &kernel,
            made: &made,
            masked: options.mask,
            range: names.range,
            ndrange: kernel.items.is_some().then_some(&ndrange_name),
            file: &file_name(path),
        });
        outputs.add(path, text.as_bytes())?;
    }
    outputs.commit()?;
    report(options, &kernel, &made, &drivers);
    Ok(Outcome::Clean)
}

/// The names of what is made.
struct Names<'a> {
    lanes: &'a str,
    /// Of the range driver, if there is to be one.
    range: Option<&'a String>,
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
    let math = kernel.math_library(options.kernel.math_ulp);
    let bodies = kernel.imported.final_bodies(kernel.register_bits);
    let form = |kernel: &mut Kernel, name: String, masked: bool| {
        let mut asked = kernel.vectorizer(&options.kernel, name, masked, &math, &bodies);
        asked.scalar_result = scalar_result;
        warpline::vectorize::vectorize(&mut kernel.imported.ir, kernel.func, &asked)
            .map_err(|e| kernel.refusal(&e))
    };
    let mut made_here = Vec::new();
    let mut masked = None;
    if options.mask || with_range {
        let form = form(kernel, format!("{name}.masked"), true)?;
        made_here.extend(form.functions());
        masked = Some(form);
    }
    let mut full = None;
    if !options.mask || with_range {
        let name = if options.mask { format!("{name}.full") } else { name.to_owned() };
        let form = form(kernel, name, false)?;
        made_here.extend(form.functions());
        full = Some(form);
    }
    if let (true, Some(masked)) = (options.mask, &masked) {
        made_here.push(driver::bitmask_entry(&mut kernel.imported.ir, masked.func, kernel.width, name));
    }
    if let (Some(range_name), Some(full), Some(masked)) = (names.range, &full, &masked) {
        let range = driver::vector_range(
            &mut kernel.imported.ir,
            kernel.func,
            full.func,
            masked.func,
            kernel.width,
            &kernel.args,
            range_name,
        )
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

/// What an output file is to contain, by its suffix.
fn output_kind(path: &Path) -> Result<Output> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("ll") => Ok(Output::Text),
        Some("bc") => Ok(Output::Bitcode),
        Some("s") => Ok(Output::Assembly),
        Some("o") => Ok(Output::Object),
        _ => Err(Error::option(
            format!("-o {}", path.display()),
            "the suffix says what to write: .ll, .bc, .s or .o",
        )),
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

fn report(options: &VectorizeOptions, kernel: &Kernel, made: &Vectorized, drivers: &[&String]) {
    let text = match options.format {
        Format::Json => {
            let value = json!({
                "function": kernel.name,
                "width": kernel.width,
                "cpu": kernel.cpu.name,
                "symbols": std::iter::once(made_name(options, made)).chain(drivers.iter().copied().cloned()).collect::<Vec<_>>(),
                "output": options.output.display().to_string(),
                "approximate_math": made.approximate,
                "branches": made.counts.branches,
                "loops": made.counts.loops,
                "exits": made.counts.exits,
                "masks": made.counts.masks,
                "boscc": made.counts.boscc,
            });
            format!("{value:#}\n")
        }
        Format::Text => {
            let mut text = format!(
                "{}: {} on {} lanes for {}",
                options.output.display(),
                made_name(options, made),
                kernel.width,
                kernel.cpu.name
            );
            for driver in drivers {
                text += &format!(", and {driver}");
            }
            text += &format!("\n{}\n", output::counts(&made.counts).join("\n"));
            if made.approximate {
                text += &format!(
                    "  calls vector functions of glibc's libmvec (errors up to {MAX_ULP} ulp): link with -lmvec -lm\n"
                );
            }
            text
        }
    };
    output::print(&text);
}

/// The visible W-lane function's name.
fn made_name(options: &VectorizeOptions, made: &Vectorized) -> String {
    if options.mask { made.name.trim_end_matches(".masked").to_owned() } else { made.name.clone() }
}
