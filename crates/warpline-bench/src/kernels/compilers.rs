//! What gcc and clang make of a kernel in C, where they are installed.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use warpline::ir::{Function, Type};
use warpline::shape::ArgShape;
use warpline_compile::kernel::c_type;
use warpline_kernels::Kernel;

use warpline_compile::spec::Elem;

/// A compiler of C.
pub(super) struct Compiler {
    /// The programs that it may be, the first that is there.
    programs: &'static [&'static str],
    /// The name of the entry to what it makes, which takes slots as those of the other variants do.
    pub entry: &'static str,
}

pub(super) const GCC: Compiler = Compiler { programs: &["gcc"], entry: "by_gcc" };
pub(super) const CLANG: Compiler = Compiler { programs: &["clang", "clang-19"], entry: "by_clang" };

/// The name of the entry to what was written by hand.
pub(super) const BY_HAND: &str = "by_hand";

/// What is needed to read slots.
const HEAD: &str = "#include <stdint.h>
#include <stdbool.h>
#include <string.h>
static inline float float_of(uint64_t slot) { uint32_t bits = (uint32_t)slot; float x; memcpy(&x, &bits, 4); return x; }
static inline double double_of(uint64_t slot) { double x; memcpy(&x, &slot, 8); return x; }
";

impl Compiler {
    /// An object file; none if there is no such compiler, or it does not know the CPU or does not take the kernel, which
    /// goes to standard error.
    pub(super) fn object(
        &self,
        entry: &Kernel,
        func: &Function,
        args: &[ArgShape],
        cpu: &str,
        folder: &Path,
    ) -> Option<Vec<u8>> {
        let program = self.programs.iter().find_map(|name| warpline_llvm::on_path(name))?;
        let driver = driver(self.entry, entry.function, func, args)?;
        compiled_by(&program, &format!("{}\n{driver}", entry.c), cpu, folder)?;
        // What another compiler makes has functions of the same names.
        let object = folder.join("kernel.o");
        let keep = format!("--keep-global-symbol={}", self.entry);
        let status = Command::new("objcopy").arg(keep).arg(&object).status().ok()?;
        status.success().then(|| std::fs::read(&object).ok()).flatten()
    }
}

/// What gcc makes of what was written by hand, which has an entry of the name [`BY_HAND`].
pub(super) fn by_hand(entry: &Kernel, cpu: &str, folder: &Path) -> Option<Vec<u8>> {
    compiled(entry.by_hand?, cpu, folder)
}

/// What gcc makes of a text.
pub(super) fn compiled(text: &str, cpu: &str, folder: &Path) -> Option<Vec<u8>> {
    compiled_by(Path::new("gcc"), text, cpu, folder)
}

fn compiled_by(program: &Path, text: &str, cpu: &str, folder: &Path) -> Option<Vec<u8>> {
    let (source, object) = (folder.join("kernel.c"), folder.join("kernel.o"));
    std::fs::write(&source, format!("{HEAD}\n{text}")).ok()?;
    std::fs::write(folder.join("warpline.h"), warpline_lanes::C_HEADER).ok()?;
    let status = Command::new(program)
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
fn driver(called: &str, name: &str, func: &Function, args: &[ArgShape]) -> Option<String> {
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
        "void {called}(uint64_t *slots) {{\n  int64_t begin = (int64_t)slots[0], end = (int64_t)slots[1];\n  \
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
