//! Every builtin that clang's header declares for OpenCL C 1.2 is defined, or refused by its name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use warpline_llvm::worker::{LoadOptions, load_in_process};
use warpline_llvm::{Llvm, Module};

/// The builtins that are refused, by how their names begin, and why.
const REFUSED: [&str; 11] = [
    "async_work_group_",
    "wait_group_events",
    "barrier",
    "read_image",
    "write_image",
    "get_image_",
    // Sub-groups and what belongs to vendors.
    "sub_group_",
    "get_sub_group_",
    "get_max_sub_group_size",
    "get_num_sub_groups",
    "intel_",
];

/// Builtins of vendors, which OpenCL C does not have.
const OF_VENDORS: &str = "amd_";

/// What a CPU hears of work-items.
const QUESTIONS: &str = "get_";

/// A clang, as the library looks for it.
fn clang() -> Option<PathBuf> {
    let named = std::env::var_os("CLANG").map(PathBuf::from);
    let usual = ["clang", "clang-23", "clang-22", "clang-21", "clang-20", "clang-19"].map(PathBuf::from);
    let answers = |path: &PathBuf| Command::new(path).arg("--version").output().is_ok();
    named.into_iter().chain(usual).find(answers)
}

/// The compiler's header.
fn header(clang: &Path) -> Option<PathBuf> {
    let folder = Command::new(clang).arg("-print-resource-dir").output().ok()?;
    let folder = PathBuf::from(String::from_utf8_lossy(&folder.stdout).trim().to_owned());
    Some(folder.join("include")).filter(|folder| folder.join("opencl-c.h").is_file())
}

/// The declarations: result, name, parameters.
fn declarations(clang: &Path, include: &Path, folder: &Path) -> Vec<(String, String, Vec<String>)> {
    let empty = folder.join("empty.cl");
    std::fs::write(&empty, "").unwrap();
    let text = Command::new(clang)
        .args([
            "-cc1",
            "-E",
            "-P",
            "-x",
            "cl",
            "-cl-std=CL1.2",
            "-triple",
            "spir64",
            "-finclude-default-header",
        ])
        .arg("-internal-isystem")
        .arg(include)
        .arg(&empty)
        .output()
        .unwrap();
    let text = String::from_utf8(text.stdout).unwrap();
    let mut all = Vec::new();
    for statement in text.split(';') {
        let statement = statement.split_whitespace().collect::<Vec<_>>().join(" ");
        let Some((start, parameters)) = statement.strip_suffix(')').and_then(|s| s.rsplit_once('(')) else {
            continue;
        };
        if !statement.contains("overloadable") || parameters.contains("...") {
            continue;
        }
        let name = start.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap();
        let result = start.strip_suffix(name).unwrap().split("__attribute__").next().unwrap().trim();
        let parameters = parameters.split(',').map(|p| p.trim().to_owned()).collect();
        all.push((result.to_owned(), name.to_owned(), parameters));
    }
    all
}

/// The type of a parameter, without its name.
fn type_of(parameter: &str) -> &str {
    let words =
        ["char", "short", "int", "long", "half", "float", "double", "size_t", "flags", "event_t", "void"];
    match parameter.rsplit_once([' ', '*']) {
        Some((_, "")) => parameter,
        Some((_, last)) if words.iter().any(|w| last.contains(w)) => parameter,
        Some((ty, name)) => {
            &parameter[..ty.len() + usize::from(parameter.as_bytes()[ty.len()] == b'*' && !name.is_empty())]
        }
        None => parameter,
    }
}

#[test]
fn every_builtin_of_version_1_2_is_defined_or_refused_by_name() {
    let (Some(clang), Ok(_)) = (clang(), Llvm::get()) else {
        eprintln!("skipped: no LLVM or no clang");
        return;
    };
    let Some(include) = header(&clang) else {
        eprintln!("skipped: this clang has no opencl-c.h");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut text =
        "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
            .to_owned();
    let (mut asked, mut names) = (0, BTreeSet::new());
    for (result, name, parameters) in declarations(&clang, &include, folder.path()) {
        let is_refused = REFUSED.iter().any(|start| name.starts_with(start)) || name.starts_with(OF_VENDORS);
        if is_refused {
            continue;
        }
        let types: Vec<&str> = parameters.iter().map(|p| type_of(p)).filter(|p| *p != "void").collect();
        let list: Vec<String> = types.iter().enumerate().map(|(k, ty)| format!("{ty} p{k}")).collect();
        let call =
            format!("{name}({})", (0..types.len()).map(|k| format!("p{k}")).collect::<Vec<_>>().join(", "));
        let keyword = if result == "void" { "" } else { "return " };
        text.push_str(&format!("{result} t{asked}({}) {{ {keyword}{call}; }}\n", list.join(", ")));
        asked += 1;
        names.insert(name);
    }
    assert!(asked > 10_900 && names.len() > 800, "{asked} builtins of {} names", names.len());
    let (source, compiled) = (folder.path().join("all.cl"), folder.path().join("all.bc"));
    std::fs::write(&source, text).unwrap();
    let done = Command::new(&clang)
        .args([
            "-x",
            "cl",
            "-cl-std=CL1.2",
            "-target",
            "spir64",
            "-O1",
            "-Xclang",
            "-disable-llvm-passes",
            "-w",
        ])
        .args(["-c", "-emit-llvm"])
        .arg(&source)
        .arg("-o")
        .arg(&compiled)
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{}", &words[..words.len().min(3_000)]);
    let options = LoadOptions { for_cpu: true, simplify: Some(false), ..LoadOptions::default() };
    let loaded = load_in_process(&compiled, &options).unwrap_or_else(|e| panic!("{e}"));
    let module = Module::parse(&loaded.bitcode, "all").unwrap();
    let missing: Vec<String> = module
        .declared_functions()
        .into_iter()
        .filter(|f| f.starts_with("_Z"))
        .map(|f| warpline_ir::demangle::demangle_opencl(&f))
        .filter(|f| !f.starts_with(QUESTIONS))
        .collect();
    assert!(
        missing.is_empty(),
        "{} are not defined, such as {:?}",
        missing.len(),
        &missing[..missing.len().min(40)]
    );
    println!("{asked} builtins of {} names are defined", names.len());
}
