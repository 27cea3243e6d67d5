//! `warpline doctor`: what there is on this machine of what warpline uses, and what is lost without the rest.

use serde_json::{Value, json};
use warpline::vectorize::width::Machine;
use warpline::vectorize::{Gathers, Masks};
use warpline_compile::machine;
use warpline_llvm::worker;
use warpline_llvm::{Tool, host_triple, on_path, process_has_symbol, tools};

use crate::Outcome;
use crate::cli::{DoctorOptions, Format};
use crate::error::Result;
use crate::output;

/// Something that is used.
struct Finding {
    name: &'static str,
    /// What was found, or why nothing was.
    found: std::result::Result<String, String>,
    /// What it is for; what is lost without it.
    purpose: &'static str,
    lost: &'static str,
    /// Whether nothing can be done without it.
    needed: bool,
}

/// Runs the command: a finding if something is missing that nothing can be done without.
///
/// # Errors
/// If the report cannot be printed.
pub(crate) fn doctor(options: &DoctorOptions) -> Result<Outcome> {
    let all = findings();
    let text = match options.format {
        Format::Text => all.iter().map(text).collect(),
        Format::Json => output::json(&all.iter().map(as_json).collect::<Vec<_>>()),
    };
    output::report([], &text)?;
    Ok(if all.iter().any(|one| one.needed && one.found.is_err()) { Outcome::Finding } else { Outcome::Clean })
}

fn findings() -> Vec<Finding> {
    let mut all: Vec<Finding> = tools().into_iter().map(of_tool).collect();
    all.push(cpu());
    all.push(Finding {
        name: "libmvec",
        found: library("_ZGVdN8v_expf"),
        purpose: "for vector mathematics that is not expanded inline: pow, atan, double precision",
        lost: "mathematical functions that are not expanded inline are scalarized; it is part of glibc 2.22 and newer on \
               x86-64",
        needed: false,
    });
    all.push(Finding {
        name: "SLEEF",
        found: library("Sleef_expf8_u10avx2"),
        purpose: "for functions that libmvec does not have, and results within 1 unit in the last place (`--math-ulp 1`)",
        lost: "functions that libmvec does not have are computed once a lane; Debian and Ubuntu: apt install libsleef3",
        needed: false,
    });
    all.push(Finding {
        name: "linker",
        found: program(&["cc", "gcc", "clang"]),
        purpose: "links objects into programs; rustc needs it for packages",
        lost: "objects can be made, not linked; Debian and Ubuntu: apt install gcc libc6-dev",
        needed: false,
    });
    all.push(Finding {
        name: "cmake",
        found: program(&["cmake"]),
        purpose: "for C and C++ projects: `warpline_kernels`",
        lost: "projects with CMake cannot be built; Debian and Ubuntu: apt install cmake",
        needed: false,
    });
    all
}

fn of_tool(tool: Tool) -> Finding {
    let found = tool.found.map(|(version, path)| format!("{version}, {}", path.display()));
    let (purpose, lost, needed) = match tool.name {
        "LLVM" => (
            "reads and optimizes code, makes machine code",
            "nothing works; install a Rust toolchain (its LLVM is used), or name one of versions 19 to 23 in \
             $WARPLINE_LLVM",
            true,
        ),
        "rustc" => (
            "compiles sources in Rust",
            "sources in Rust cannot be read; see rustup.rs, or set $RUSTC",
            false,
        ),
        _ => (
            "compiles sources in C, C++ and OpenCL C",
            "sources in C, C++ and OpenCL C cannot be read; Debian and Ubuntu: apt install clang, or set $CLANG",
            false,
        ),
    };
    Finding { name: tool.name, found, purpose, lost, needed }
}

fn cpu() -> Finding {
    // Why there is none is said already.
    let found = host_triple().map_err(|_| "not known without LLVM".to_owned()).and_then(|triple| {
        let cpu = worker::find_cpu("native", &triple).map_err(|e| e.to_string())?;
        let machine = machine::of(&cpu, &triple).map_err(|e| e.to_string())?;
        Ok(format!("{}: {}", cpu.name, describe(&machine)))
    });
    Finding {
        name: "CPU",
        found,
        purpose: "code is made for it (`--cpu native`); `warpline --print cpus` lists others",
        lost: "--cpu must name one",
        needed: false,
    }
}

/// What a CPU has for vectors, in words.
fn describe(machine: &Machine) -> String {
    let mut parts = vec![format!("vectors of {} bits", machine.register_bits)];
    parts.extend(match machine.masks {
        Masks::Everything => Some("masked accesses".to_owned()),
        Masks::Wide => Some("masked accesses of 32 and 64 bits".to_owned()),
        Masks::Nothing => None,
    });
    parts.extend((!matches!(machine.gathers, Gathers::Nothing)).then(|| "gathers".to_owned()));
    parts.extend(machine.fused.then(|| "fused multiply-add".to_owned()));
    parts.join(", ")
}

/// Whether a library is there, by one of its symbols.
fn library(symbol: &str) -> std::result::Result<String, String> {
    if process_has_symbol(symbol) { Ok("found".to_owned()) } else { Err("not found".to_owned()) }
}

/// The first of these programs that is on the path.
fn program(names: &[&str]) -> std::result::Result<String, String> {
    let found = names.iter().find_map(|name| on_path(name));
    found.map(|path| path.display().to_string()).ok_or_else(|| "not found".to_owned())
}

fn text(one: &Finding) -> String {
    let (name, said) = (one.name, one.found.as_ref().unwrap_or_else(|why| why));
    let (mark, more) = match (&one.found, one.needed) {
        (Ok(_), _) => ("ok", one.purpose.to_owned()),
        (Err(_), true) => ("error", one.lost.to_owned()),
        (Err(_), false) => ("missing", format!("without it, {}", one.lost)),
    };
    let said: Vec<_> = said.lines().map(warpline::printable::line).collect();
    format!("{mark:8}{name:9}{}\n{:17}{more}\n", said.join(&format!("\n{:17}", "")), "")
}

fn as_json(one: &Finding) -> Value {
    json!({
        "name": one.name,
        "found": one.found.is_ok(),
        "what": one.found.as_ref().unwrap_or_else(|why| why),
        "purpose": one.purpose,
        "without": one.lost,
        "needed": one.needed,
    })
}
