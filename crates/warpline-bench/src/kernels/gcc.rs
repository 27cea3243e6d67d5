//! What gcc makes of a kernel in C, where it is installed.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use warpline::ir::{Function, Type};
use warpline::shape::ArgShape;
use warpline_compile::kernel::c_type;
use warpline_kernels::Kernel;

use warpline_compile::spec::Elem;

/// The name of the entry to it, which takes slots as those of the other variants do.
pub(super) const ENTRY: &str = "by_gcc";

/// The name of the entry to what was written by hand.
pub(super) const BY_HAND: &str = "by_hand";

/// What is needed to read slots.
const HEAD: &str = "#include <stdint.h>
#include <stdbool.h>
#include <string.h>
static inline float float_of(uint64_t slot) { uint32_t bits = (uint32_t)slot; float x; memcpy(&x, &bits, 4); return x; }
static inline double double_of(uint64_t slot) { double x; memcpy(&x, &slot, 8); return x; }
";

/// An object file; none if there is no gcc, or it does not know the CPU or does not take the kernel, which goes to
/// standard error.
pub(super) fn object(
    entry: &Kernel,
    func: &Function,
    args: &[ArgShape],
    cpu: &str,
    folder: &Path,
) -> Option<Vec<u8>> {
    compiled(&format!("{}\n{}", entry.c, driver(entry.function, func, args)?), cpu, folder)
}

/// The same of what was written by hand, which has an entry of the name [`BY_HAND`].
pub(super) fn by_hand(entry: &Kernel, cpu: &str, folder: &Path) -> Option<Vec<u8>> {
    compiled(entry.by_hand?, cpu, folder)
}

pub(super) fn compiled(text: &str, cpu: &str, folder: &Path) -> Option<Vec<u8>> {
    let (source, object) = (folder.join("kernel.c"), folder.join("kernel.o"));
    std::fs::write(&source, format!("{HEAD}\n{text}")).ok()?;
    std::fs::write(folder.join("warpline.h"), warpline_lanes::C_HEADER).ok()?;
    let status = Command::new("gcc")
        .args(["-std=c11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fPIC", "-w", "-DWARPLINE_SCALAR"])
        .arg(format!("-march={cpu}"))
        .args(["-c".as_ref(), "-o".as_ref(), object.as_os_str(), source.as_os_str()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .ok()?;
    status.success().then(|| std::fs::read(&object).ok()).flatten()
}

/// A function over slots: begin and end of the range, what is passed for each parameter but the index, the array for
/// results.
fn driver(name: &str, func: &Function, args: &[ArgShape]) -> Option<String> {
    let mut passed = Vec::new();
    let mut slot = 2;
    for (&p, shape) in func.params.iter().zip(args) {
        let ty = func.ty(p);
        passed.push(match shape {
            ArgShape::Index => format!("({})i", c_type(ty)?),
            ArgShape::Varying => format!("((const {} *)slots[{slot}])[i - begin]", c_type(ty)?),
            _ => number(ty, slot)?,
        });
        slot += usize::from(*shape != ArgShape::Index);
    }
    let call = format!("{name}({})", passed.join(", "));
    let body = match Elem::of(func.ret) {
        Some(_) => format!("(({} *)slots[{slot}])[i - begin] = {call};", c_type(func.ret)?),
        None => format!("{call};"),
    };
    let mut text = String::new();
    let _ = write!(
        text,
        "void {ENTRY}(uint64_t *slots) {{\n  int64_t begin = (int64_t)slots[0], end = (int64_t)slots[1];\n  \
         for (int64_t i = begin; i < end; i++) {body}\n}}\n"
    );
    Some(text)
}

/// What a slot holds.
pub(super) fn number(ty: Type, slot: usize) -> Option<String> {
    Some(match ty {
        Type::F32 => format!("float_of(slots[{slot}])"),
        Type::F64 => format!("double_of(slots[{slot}])"),
        _ => format!("({})slots[{slot}]", c_type(ty)?),
    })
}
