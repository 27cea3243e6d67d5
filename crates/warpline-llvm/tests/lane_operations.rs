//! Declarations of lane operations for C, OpenCL C and Rust: they declare what the table of operations knows, with
//! its types.

use std::fmt::Write as _;
use std::path::Path;

use warpline_ir::{LANE_ELEMENTS, LaneOp, Op};
use warpline_llvm::worker::{CodegenOptions, LoadOptions, Output, codegen_in_process, load_in_process};
use warpline_llvm::{Cpu, Error, Imported, Jit, Llvm, Module, has_clang};

/// A function of the table: the operation, and the two parts of its name.
struct Function {
    op: LaneOp,
    stem: &'static str,
    suffix: &'static str,
}

impl Function {
    fn name(&self) -> String {
        match self.suffix {
            "" => format!("warpline_{}", self.stem),
            suffix => format!("warpline_{}_{suffix}", self.stem),
        }
    }
}

/// All of them, each name once.
fn table() -> Vec<Function> {
    let mut all = Vec::new();
    let keywords = LaneOp::all().map(LaneOp::name).chain(["broadcast", "extract"]);
    for stem in keywords {
        for suffix in LANE_ELEMENTS.iter().map(|&(suffix, ..)| suffix).chain([""]) {
            let mut function = Function { op: LaneOp::Any, stem, suffix };
            if let Some((op, _)) = LaneOp::declared(&function.name()) {
                function.op = op;
                all.push(function);
            }
        }
    }
    all
}

fn there() -> bool {
    Llvm::get().map_err(|error| eprintln!("skipped: {error}")).is_ok()
}

/// The lane operations that a source file is imported with, each function's by its name.
fn imported(folder: &Path, file: &str, text: &str) -> Option<Vec<(String, LaneOp)>> {
    let path = folder.join(file);
    std::fs::write(&path, text).unwrap();
    let loaded = match load_in_process(&path, &LoadOptions::default()) {
        Err(error @ (Error::MissingTool { .. } | Error::Parse { .. })) => {
            eprintln!("skipped: {error}");
            return None;
        }
        other => other.unwrap(),
    };
    assert_eq!(loaded.warnings, "");
    let imported = Imported::new(Module::parse(&loaded.bitcode, file).unwrap());
    let operations = imported.ir.functions.values().map(|f| {
        let mut found = f.layout.iter().flat_map(|&b| f.block_insts(b)).filter_map(|i| match f.insts[i].op {
            Op::Lane(op) => Some(op),
            _ => None,
        });
        let op = found.next().unwrap_or_else(|| panic!("{}: no lane operation", f.name));
        assert_eq!(found.next(), None, "{}", f.name);
        (f.name.to_string(), op)
    });
    Some(operations.collect())
}

fn c_type(suffix: &str) -> String {
    match suffix {
        "f32" => "float".to_owned(),
        "f64" => "double".to_owned(),
        _ => suffix.replace('i', "int").replace('u', "uint") + "_t",
    }
}

fn opencl_type(suffix: &str) -> &str {
    match suffix {
        "i8" => "char",
        "i16" => "short",
        "i32" => "int",
        "i64" => "long",
        "u8" => "uchar",
        "u16" => "ushort",
        "u32" => "uint",
        "u64" => "ulong",
        "f32" => "float",
        _ => "double",
    }
}

/// A function for each operation, in C and its relatives.
fn c_callers(functions: &[Function], element: impl Fn(&str) -> String, lane: &str, wide: &str) -> String {
    let mut text = "#include \"warpline.h\"\n".to_owned();
    for f in functions {
        let (name, t) = (f.name(), element(f.suffix));
        let (params, args, ret) = match f.op {
            LaneOp::Ballot => ("bool c".to_owned(), "c", wide),
            LaneOp::Popcount => ("bool c".to_owned(), "c", lane),
            LaneOp::Any | LaneOp::All => ("bool c".to_owned(), "c", "bool"),
            LaneOp::LaneIndex | LaneOp::LaneCount => ("void".to_owned(), "", lane),
            LaneOp::Shuffle => (format!("{t} x, {lane} k"), "x, k", t.as_str()),
            LaneOp::First => (format!("{t} x, bool c"), "x, c", t.as_str()),
            LaneOp::Insert => (format!("{t} x, {lane} k, {t} y"), "x, k, y", t.as_str()),
            LaneOp::Compact => (format!("{t} *to, {t} x, bool c"), "to, x, c", lane),
            _ => (format!("{t} x"), "x", t.as_str()),
        };
        writeln!(text, "{ret} call_{name}({params}) {{ return {name}({args}); }}").unwrap();
    }
    text
}

fn each_is_its_operation(functions: &[Function], imported: &[(String, LaneOp)]) {
    assert_eq!(imported.len(), functions.len());
    for f in functions {
        let name = format!("call_{}", f.name());
        let found = imported.iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("{name} is missing"));
        assert_eq!(found.1, f.op, "{name}");
    }
}

#[test]
fn the_header_declares_every_operation_for_c_and_opencl() {
    if !there() || !has_clang() {
        eprintln!("skipped: no LLVM or no clang");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let functions = table();
    assert!(functions.len() > 200, "{}", functions.len());
    let text = c_callers(&functions, c_type, "uint32_t", "uint64_t");
    each_is_its_operation(&functions, &imported(folder.path(), "all.c", &text).unwrap());
    let text = c_callers(&functions, |t| opencl_type(t).to_owned(), "uint", "ulong");
    each_is_its_operation(&functions, &imported(folder.path(), "all.cl", &text).unwrap());
}

#[test]
fn the_crate_declares_every_operation_for_rust() {
    if !there() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let functions = table();
    let mut text = "#![crate_type = \"lib\"]\nuse warpline_lanes::*;\n".to_owned();
    for f in &functions {
        let (name, t) = (f.name(), f.suffix);
        let function = format!("warpline_{}", f.stem);
        let (params, args, ret) = match f.op {
            LaneOp::Ballot => ("c: bool".to_owned(), "c", "u64"),
            LaneOp::Popcount => ("c: bool".to_owned(), "c", "u32"),
            LaneOp::Any | LaneOp::All => ("c: bool".to_owned(), "c", "bool"),
            LaneOp::LaneIndex | LaneOp::LaneCount => (String::new(), "", "u32"),
            LaneOp::Shuffle => (format!("x: {t}, k: u32"), "x, k", t),
            LaneOp::First => (format!("x: {t}, c: bool"), "x, c", t),
            LaneOp::Insert => (format!("x: {t}, k: u32, y: {t}"), "x, k, y", t),
            LaneOp::Compact => (format!("to: *mut {t}, x: {t}, c: bool"), "to, x, c", "u32"),
            _ => (format!("x: {t}"), "x", t),
        };
        writeln!(
            text,
            "#[unsafe(no_mangle)] #[allow(unused_unsafe)]\n\
             pub unsafe extern \"C\" fn call_{name}({params}) -> {ret} {{ unsafe {{ {function}({args}) }} }}"
        )
        .unwrap();
    }
    let Some(imported) = imported(folder.path(), "all.rs", &text) else { return };
    each_is_its_operation(&functions, &imported);
}

#[test]
fn for_one_lane_alone_each_operation_means_what_the_header_says() {
    if !there() || !has_clang() {
        eprintln!("skipped: no LLVM or no clang");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("one.c");
    let calls = "
        int to[2] = { 7, 7 };
        n = 0;
        n = n * 3 + (warpline_any(true) && !warpline_all(false));
        n = n * 3 + (warpline_ballot(true) == 1 && warpline_popcount(true) == 1);
        n = n * 3 + (warpline_lane_index() == 0 && warpline_lane_count() == 1);
        n = n * 3 + (warpline_shuffle_i32(5, 0) == 5 && warpline_broadcast_f64(5, 1) == 0);
        n = n * 3 + (warpline_insert_u8(5, 0, 6) == 6 && warpline_insert_u8(5, 1, 6) == 5);
        n = n * 3 + (warpline_compact_i32(to, 8, true) == 1 && warpline_compact_i32(to + 1, 8, false) == 0);
        n = n * 3 + (to[0] == 8 && to[1] == 7);
        n = n * 3 + (warpline_reduce_mul_f32(-0.5f) == -0.5f && warpline_scan_inclusive_xor_i8(-3) == -3);
        n = n * 3 + (warpline_scan_exclusive_add_f32(5) == 0 && warpline_scan_exclusive_mul_i64(5) == 1);
        n = n * 3 + (warpline_scan_exclusive_min_i16(5) == 32767 && warpline_scan_exclusive_min_u16(5) == 65535);
        n = n * 3 + (warpline_scan_exclusive_max_i64(5) == INT64_MIN && warpline_scan_exclusive_and_u64(5) == \
         UINT64_MAX);
        n = n * 3 + (warpline_scan_exclusive_max_f64(5) == -__builtin_huge_val());
        n = n * 3 + (warpline_scan_exclusive_min_f32(5) == __builtin_huge_val());";
    let all_hold = (0..13).fold(0u64, |n, _| n * 3 + 1);
    for define in ["", "#define WARPLINE_SCALAR\n"] {
        let text = format!(
            "{define}#include \"warpline.h\"\nvoid thunk(uint64_t *slots) {{ uint64_t n;{calls}\n slots[0] = n; }}\n"
        );
        std::fs::write(&source, text).unwrap();
        let loaded = load_in_process(&source, &LoadOptions::default()).unwrap();
        let mut options = CodegenOptions::new(Cpu::native().unwrap(), Output::Object);
        options.define_lane_operations = true;
        let object = codegen_in_process(&loaded.bitcode, "one", &options).unwrap();
        let jit = Jit::new().unwrap();
        jit.add_object(&object, "one.o").unwrap();
        let mut slots = [0];
        jit.function("thunk").unwrap().call(&mut slots);
        assert_eq!(slots, [all_hold], "{define}");
    }
}
