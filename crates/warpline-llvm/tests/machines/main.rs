//! Machine code for machines of other kinds than this one: the kernels of the support table, run under qemu-user.
//!
//! Each kernel is compiled for the target, scalar and in lanes; an executable of all of them compares what both leave
//! behind (`harness.c`). Needs `qemu-aarch64` and `aarch64-linux-gnu-gcc`, for the kernels in Rust the target's
//! standard library, for those in C clang; what is missing is said, and skipped.

#[path = "../common/guarded.rs"]
mod guarded;
#[expect(dead_code, reason = "other tests use more of it")]
#[path = "../common/kernels.rs"]
mod kernels;
#[path = "../common/rows.rs"]
mod rows;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use kernels::{Arg, Kernel, Mode, llvm_is_there};
use rows::{Row, rows, with_work_items};
use warpline_llvm::Cpu;
use warpline_vectorize::{Boscc, Contract, Linearize};

const TRIPLE: &str = "aarch64-unknown-linux-gnu";
const LINKER: &str = "aarch64-linux-gnu-gcc";
const EMULATOR: &str = "qemu-aarch64";

/// One with NEON alone, and one with SVE too.
const CPUS: [&str; 2] = ["generic", "neoverse-v1"];

/// Each kernel is made in all of these ways, for one CPU and the other.
const MODES: [Mode; 4] = [
    (4, Linearize::Partial, Boscc::Auto, "default<O3>"),
    (8, Linearize::Partial, Boscc::On, "default<O1>"),
    (16, Linearize::Full, Boscc::Off, "default<O3>"),
    (2, Linearize::Partial, Boscc::Off, ""),
];

/// Kernels that other machines cannot have.
const X86_ONLY: [&str; 1] = ["values_long_double.ll"];

/// Whether a program starts; says so if it does not.
fn starts(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
    if !there {
        eprintln!("skipped: there is no {program}");
    }
    there
}

/// Whether rustc can compile for the target.
fn has_rust_target() -> bool {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let asked = Command::new(rustc).args(["--print", "target-libdir", "--target", TRIPLE]).output();
    let folder = asked.map(|o| PathBuf::from(String::from_utf8_lossy(&o.stdout).trim())).unwrap_or_default();
    folder.is_absolute() && folder.is_dir()
}

/// Whether a row has a scalar program to compare with on the target; says why not.
fn can_run(row: &Row, has_rust: bool) -> bool {
    let why = if row.get("refused").is_some() {
        return false;
    } else if row.get("lockstep").is_some() {
        "its lanes meet, so no scalar program does the same"
    } else if X86_ONLY.contains(&row.file.as_str()) {
        "its types are those of x86"
    } else if row.file.ends_with(".rs") && !has_rust {
        "rustc has no standard library for the target (rustup target add)"
    } else {
        return true;
    };
    eprintln!("{}: skipped: {why}", row.file);
    false
}

/// The cases as C.
#[derive(Default)]
struct Cases {
    declarations: String,
    table: String,
    count: usize,
}

impl Cases {
    /// Adds a kernel under two names for its entries.
    fn add(&mut self, name: &str, kernel: &Kernel, [scalar, vector]: [&str; 2]) {
        let k = self.count;
        self.count += 1;
        let mut arguments = String::new();
        for (n, argument) in kernel.args.iter().enumerate() {
            let (kind, bytes) = match argument {
                Arg::Index => continue,
                Arg::Uniform(x) | Arg::Stride(x, _) => {
                    let _ = write!(arguments, "{{UNIFORM, UINT64_C({x}), 0, 0}}, ");
                    continue;
                }
                Arg::Varying(bytes) => ("VARYING", bytes),
                Arg::Buffer(bytes) | Arg::Place(bytes, _) => ("BUFFER", bytes),
            };
            let list: Vec<String> = bytes.iter().map(u8::to_string).collect();
            let _ = writeln!(
                self.declarations,
                "static const unsigned char bytes_{k}_{n}[] = {{{}}};",
                list.join(",")
            );
            let _ = write!(arguments, "{{{kind}, 0, bytes_{k}_{n}, {}}}, ", bytes.len());
        }
        let _ = writeln!(self.declarations, "extern entry {scalar}, {vector};");
        // Without arguments there is still an array.
        let _ = writeln!(
            self.declarations,
            "static const struct argument arguments_{k}[] = {{{arguments}{{UNIFORM, 0, 0, 0}}}};"
        );
        let _ = writeln!(
            self.table,
            "  {{\"{name}\", {scalar}, {vector}, arguments_{k}, sizeof arguments_{k} / sizeof *arguments_{k} - \
             1, {}, {}, {}}},",
            kernel.range.start,
            kernel.range.end - kernel.range.start,
            kernel.result
        );
    }

    fn text(&self) -> String {
        format!(
            "#include \"harness.h\"\n{}const struct test cases[] = {{\n{}}};\nconst size_t case_count = {};\n",
            self.declarations, self.table, self.count
        )
    }
}

/// Links objects with the harness, in a folder, and runs it: whether all is right, and what it says.
fn link_and_run(folder: &Path, cases: &Cases, objects: &[PathBuf]) -> (bool, String) {
    std::fs::write(folder.join("cases.c"), cases.text()).expect("the folder can be written to");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines");
    let program = folder.join("program");
    let linked = Command::new(LINKER)
        .args(["-O1", "-static", "-I"])
        .arg(&sources)
        .arg("-o")
        .arg(&program)
        .arg(sources.join("harness.c"))
        .arg(folder.join("cases.c"))
        .args(objects)
        .arg("-lm")
        .output()
        .expect("the linker starts");
    assert!(linked.status.success(), "{}", String::from_utf8_lossy(&linked.stderr));
    let run = Command::new(EMULATOR).arg(&program).output().expect("the emulator starts");
    let said = [run.stdout, run.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (run.status.success(), said.concat().trim().to_owned())
}

/// Whether there is all that no kernel can do without; says what is missing.
fn can_link_and_run() -> bool {
    llvm_is_there() && starts(LINKER) && starts(EMULATOR)
}

#[test]
fn kernels_do_on_aarch64_what_the_scalar_program_does() {
    if !can_link_and_run() {
        return;
    }
    let has_rust = has_rust_target();
    let folder = tempfile::tempdir().expect("a folder");
    let (mut cases, mut objects) = (Cases::default(), Vec::new());
    for row in rows().iter().filter(|row| can_run(row, has_rust)) {
        let Some(kernel) = row.kernel(Some(TRIPLE)) else { continue };
        let kernel = with_work_items(kernel).unwrap_or_else(|e| panic!("{}: {e}", row.file));
        let Some(kernel) = kernel else { continue };
        for (m, mode) in MODES.into_iter().enumerate() {
            let k = cases.count;
            let names = [format!("scalar_{k}"), format!("vector_{k}")];
            let names = [names[0].as_str(), names[1].as_str()];
            let cpu = CPUS[(k + m) % CPUS.len()];
            let object = kernel.object(mode, &Cpu::named(cpu), names);
            cases.add(&format!("{} {mode:?} {cpu}", row.file).replace('"', "'"), &kernel, names);
            objects.push(folder.path().join(format!("{k}.o")));
            std::fs::write(&objects[k], object).expect("the folder can be written to");
        }
    }
    assert!(cases.count >= 100, "{} cases are no test", cases.count);
    let said = link_and_run(folder.path(), &cases, &objects);
    assert_eq!(said, (true, format!("{} kernels, 0 wrong", cases.count)));
}

#[test]
fn another_result_or_a_trap_on_the_target_is_noticed() {
    if !can_link_and_run() {
        return;
    }
    let kernel = |constant: &str| Kernel {
        text: format!(
            "target triple = \"{TRIPLE}\"\ndefine i32 @kernel(i32 %i, ptr %p) {{\n\
             %x = load i32, ptr %p\n%y = add i32 %x, %i\n%z = add i32 %y, {constant}\nret i32 %z\n}}\n"
        ),
        args: vec![Arg::Index, Arg::Buffer(vec![7; 4])],
        range: 0..10,
        result: 4,
        looped: false,
        contract: Contract::Racy,
    };
    let folder = tempfile::tempdir().expect("a folder");
    let [right, wrong] = [folder.path().join("right.o"), folder.path().join("wrong.o")];
    let cpu = Cpu::named(CPUS[0]);
    std::fs::write(&right, kernel("1").object(MODES[0], &cpu, ["scalar_1", "vector_1"])).expect("a file");
    std::fs::write(&wrong, kernel("2").object(MODES[0], &cpu, ["scalar_2", "vector_2"])).expect("a file");
    let mut cases = Cases::default();
    cases.add("equal", &kernel("1"), ["scalar_1", "vector_1"]);
    cases.add("different", &kernel("1"), ["scalar_1", "vector_2"]);
    let (fine, said) = link_and_run(folder.path(), &cases, &[right.clone(), wrong.clone()]);
    assert_eq!(
        (fine, &*said),
        (false, "different: another result than the scalar program\n2 kernels, 1 wrong")
    );
    let without_its_buffer = Kernel { args: vec![Arg::Index, Arg::Uniform(0)], ..kernel("1") };
    cases.add("no buffer", &without_its_buffer, ["scalar_1", "vector_1"]);
    let (fine, said) = link_and_run(folder.path(), &cases, &[right, wrong]);
    assert!(!fine && said.contains("no buffer: signal 11"), "{said}");
}
