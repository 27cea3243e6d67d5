//! What ISPC makes of a kernel that is written for it, where there is an `ispc`.
//!
//! Each of its targets for a CPU is compiled and measured; the best counts. Its mathematics has errors of its own, and
//! it fuses multiplications and additions, so that results may differ in more than our own variants' may.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use warpline::ir::Function;
use warpline::shape::ArgShape;
use warpline_compile::error::{Error, Result};
use warpline_compile::kernel::{Kernel, c_type};
use warpline_compile::spec::{Elem, Tolerance};

use super::compilers;

/// Its targets with vectors of 256 and of 512 bits.
const NARROW: [&str; 3] = ["avx2-i32x4", "avx2-i32x8", "avx2-i32x16"];
const WIDE: [&str; 4] = ["avx512skx-x8", "avx512skx-x16", "avx512skx-x32", "avx512skx-x64"];

/// A program that was made for a target.
pub(super) struct Program {
    /// The name of its entry, which takes slots as those of the other variants do.
    pub entry: String,
    /// Two object files.
    pub objects: [Vec<u8>; 2],
}

/// How much of a result may differ.
pub(super) fn tolerance() -> Tolerance {
    Tolerance { rel: Some(1e-2), abs: Some(1e-3), ..Tolerance::default() }
}

/// A kernel for each of the targets that a CPU has; none if there is no such kernel for ISPC.
///
/// # Errors
/// If ISPC cannot be run, or does not take the kernel.
pub(super) fn programs(
    ispc: &Path,
    entry: &str,
    kernel: &Kernel,
    cpu: &str,
    folder: &Path,
) -> Result<Vec<Program>> {
    let Some(text) = warpline_kernels::ispc(entry) else { return Ok(Vec::new()) };
    let targets = if kernel.vectors.register_bits == 512 { &WIDE[..] } else { &NARROW[..] };
    let source = folder.join("kernel.ispc");
    let wrong = |reason: String| Error::Vectorize(format!("{}: {reason}", ispc.display()));
    std::fs::write(&source, text).map_err(|e| wrong(e.to_string()))?;
    let mut programs = Vec::new();
    for target in targets {
        let name = format!("ispc_{}", target.replace('-', "_"));
        let object = folder.join(format!("{name}.o"));
        let output = Command::new(ispc)
            .args(["-O3", "--pic", "--woff", &format!("--target={target}"), &format!("-DKERNEL={name}")])
            .args([source.as_os_str(), "-o".as_ref(), object.as_os_str()])
            .stdin(Stdio::null())
            .output()
            .map_err(|e| wrong(e.to_string()))?;
        if !output.status.success() {
            return Err(wrong(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
        }
        let made = std::fs::read(&object).map_err(|e| wrong(e.to_string()))?;
        let entry = format!("by_{name}");
        let driver = driver(&entry, &name, kernel.function(), &kernel.args)
            .and_then(|text| compilers::compiled(&text, cpu, folder));
        let driver = driver.ok_or_else(|| wrong("calling what it makes needs a gcc".to_owned()))?;
        programs.push(Program { entry, objects: [made, driver] });
    }
    Ok(programs)
}

/// A function over slots that calls an exported one.
fn driver(entry: &str, name: &str, func: &Function, args: &[ArgShape]) -> Option<String> {
    let (mut types, mut passed) = (vec!["int32_t".to_owned(); 2], Vec::new());
    let mut slot = 2;
    for (&p, shape) in func.params.iter().zip(args) {
        let ty = func.ty(p);
        match shape {
            ArgShape::Index => continue,
            ArgShape::Varying => return None,
            _ => passed.push(compilers::number(ty, slot)?),
        }
        types.push(c_type(ty)?.to_string());
        slot += 1;
    }
    if Elem::of(func.ret).is_some() {
        types.push("void *".to_owned());
        passed.push(format!("(void *)slots[{slot}]"));
    }
    let mut text = String::new();
    let _ = write!(
        text,
        "void {name}({});\nvoid {entry}(uint64_t *slots) {{\n  {name}((int32_t)slots[0], (int32_t)slots[1], {});\n}}\n",
        types.join(", "),
        passed.join(", ")
    );
    Some(text)
}
