//! Bad input and bad usage: one clear message each, exit code 2, nothing written.

mod common;

use std::path::{Path, PathBuf};
use std::process::Output;

use common::{command, stderr, stdout, warpline};

/// A folder for inputs, with one for outputs in it.
struct Place {
    folder: tempfile::TempDir,
}

const KERNEL: &str = "define void @kernel(i32 %i, ptr %out) {\n  %at = sext i32 %i to i64\n\
     %p = getelementptr float, ptr %out, i64 %at\n  store float 1.0, ptr %p, align 4\n  ret void\n}\n\
     define void @other(ptr %p) {\n  ret void\n}\n";

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("out")).unwrap();
        Place { folder }
    }

    fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, contents).unwrap();
        path.display().to_string()
    }

    fn kernel(&self) -> String {
        self.file("kernel.ll", KERNEL)
    }

    fn out(&self, name: &str) -> PathBuf {
        self.folder.path().join("out").join(name)
    }

    /// `vectorize` with a proper output beside these arguments.
    fn vectorize(&self, arguments: &[&str]) -> Output {
        let (object, header) = (self.out("k.o"), self.out("k.h"));
        let mut all = vec!["vectorize"];
        all.extend(arguments);
        all.extend(["-o", path(&object), "--header", path(&header)]);
        warpline(&all)
    }

    /// Asserts that the program refused its input or usage, said all of this, and wrote nothing.
    #[track_caller]
    fn refused(&self, output: &Output, words: &[&str]) {
        self.ended(output, 2, words);
    }

    /// Asserts that the program could not vectorize its input, said all of this, and wrote nothing.
    #[track_caller]
    fn not_vectorized(&self, output: &Output, words: &[&str]) {
        self.ended(output, 1, words);
    }

    #[track_caller]
    fn ended(&self, output: &Output, code: i32, words: &[&str]) {
        let text = stderr(output);
        assert_eq!(output.status.code(), Some(code), "exit code; it said: {text}");
        for word in words {
            assert!(text.contains(word), "`{word}` is not in: {text}");
        }
        assert!(text.starts_with("error: "), "{text}");
        assert_eq!(stdout(output), "");
        let written = std::fs::read_dir(self.folder.path().join("out")).unwrap().count();
        assert_eq!(written, 0, "files were written");
    }
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

const ARGS: [&str; 2] = ["--args", "i=index,out=uniform"];

#[test]
fn a_missing_file_is_named() {
    let place = Place::new();
    place.refused(&place.vectorize(&["nowhere/kernel.ll"]), &["nowhere/kernel.ll", "No such file"]);
    place.refused(&warpline(&["run", "nowhere/kernel.rs"]), &["nowhere/kernel.rs", "No such file"]);
    place.refused(&warpline(&["analyze", "nowhere.bc"]), &["nowhere.bc", "No such file"]);
}

#[test]
fn what_is_no_ir_is_refused_with_llvms_words() {
    let place = Place::new();
    let file = place.file("poem.ll", "Shall I compare thee to a summer's day?\n");
    place.refused(&place.vectorize(&[&file]), &["poem.ll", "cannot read it", "expected"]);
    let file = place.file("poem.txt", "Shall I compare thee\n");
    place.refused(&place.vectorize(&[&file]), &["poem.txt", "unknown kind of input", ".ll, .bc or .wl"]);
}

#[test]
fn bitcode_that_is_cut_off_or_random_is_refused() {
    let place = Place::new();
    let whole = place.folder.path().join("whole.bc");
    let made = warpline(&[
        "vectorize",
        &place.kernel(),
        "--function",
        "kernel",
        "--args",
        "index",
        "-o",
        path(&whole),
    ]);
    common::ok(&made);
    let bytes = std::fs::read(&whole).unwrap();
    for cut in [3, 5, (bytes.len() / 2) & !3, bytes.len() - 4] {
        let file = place.file("cut.bc", &bytes[..cut]);
        place.refused(&place.vectorize(&[&file]), &["cut.bc"]);
    }
    let mut state = 88_172_645_463_325_252u64;
    for round in 0..6 {
        let mut noise = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 24) as u8
        };
        // Some of it behind a proper beginning.
        let random: Vec<u8> = if round % 2 == 0 {
            (0..400).map(|_| noise()).collect()
        } else {
            let mut random = bytes.clone();
            (0..40).for_each(|_| {
                let at = 16 + (usize::from(noise()) * 256 + usize::from(noise())) % (random.len() - 16);
                random[at] = noise();
            });
            random
        };
        let file = place.file("random.bc", &random);
        let output = warpline(&["analyze", &file]);
        // Random changes may leave a module intact; whatever happens is orderly.
        if output.status.code() != Some(0) {
            place.refused(&output, &["random.bc"]);
        }
    }
}

#[test]
fn an_unknown_function_gets_a_suggestion() {
    let place = Place::new();
    let kernel = place.kernel();
    place.refused(
        &place.vectorize(&[&kernel, "--function", "kernle"]),
        &["no function `kernle`", "did you mean `kernel`?"],
    );
    place.refused(
        &warpline(&["analyze", &kernel, "--function", "xyz"]),
        &["no function `xyz`", "kernel, other"],
    );
    place.refused(&place.vectorize(&[&kernel]), &["which function?", "kernel, other"]);
    let file = place.file("k.ll", format!(";@ function gone\n{KERNEL}"));
    place.refused(&place.vectorize(&[&file]), &["k.ll:1", "`gone`", "kernel, other"]);
}

#[test]
fn wrong_argument_lists_and_shapes_are_refused() {
    let place = Place::new();
    let kernel = place.kernel();
    let args = |list: &str| place.vectorize(&[&kernel, "--function", "kernel", "--args", list]);
    place.refused(&args("i=linear"), &["--args", "`linear` is no shape", "stride(N)"]);
    place.refused(&args("n=index"), &["no parameter is called `n`", "%i, %out"]);
    place.refused(&args("index,uniform,uniform"), &["more shapes than parameters"]);
    place.refused(&args("i=index,i=index"), &["two shapes for parameter `%i`"]);
    place.refused(&args("out=index"), &["`%out` cannot be an index"]);
    let file = place.file("k.ll", format!(";@ args i=indx\n{KERNEL}"));
    place.refused(&place.vectorize(&[&file]), &["k.ll:1", "`indx` is no shape"]);
    place.refused(
        &place.vectorize(&[&kernel, "--function", "kernel", "--args", "index", "--returns", "index"]),
        &["--returns", "use uniform or varying"],
    );
    place.refused(
        &warpline(&["analyze", &kernel, "--args", "index"]),
        &["--args", "say which with --function"],
    );
}

#[test]
fn a_kernel_without_a_varying_or_index_argument_is_refused() {
    let place = Place::new();
    let kernel = place.kernel();
    let words = ["`kernel`", "nothing in it depends on the lane", "%i, %out"];
    place.not_vectorized(&place.vectorize(&[&kernel, "--function", "kernel"]), &words);
    place.not_vectorized(
        &place.vectorize(&[&kernel, "--function", "kernel", "--args", "uniform,uniform"]),
        &words,
    );
}

#[test]
fn widths_of_zero_or_beyond_reason_are_refused() {
    let place = Place::new();
    let kernel = place.kernel();
    for width in ["0", "65", "1000000000000", "-4", "many"] {
        let width = format!("--width={width}");
        let output = place.vectorize(&[&kernel, "--function", "kernel", ARGS[0], ARGS[1], &width]);
        place.refused(&output, &["use 1 to 64 lanes, or auto"]);
    }
}

#[test]
fn an_unknown_cpu_gets_a_suggestion() {
    let place = Place::new();
    let kernel = place.kernel();
    let output = place.vectorize(&[&kernel, "--function", "kernel", ARGS[0], ARGS[1], "--cpu", "haswel"]);
    place.refused(&output, &["unknown CPU `haswel`", "did you mean `haswell`?"]);
}

#[test]
fn an_instruction_that_cannot_be_vectorized_is_named_with_its_function() {
    let place = Place::new();
    let file = place.file(
        "k.ll",
        "define i32 @kernel(i32 %i) personality ptr @__gxx_personality_v0 {\nentry:\n  %r = invoke i32 @f(i32 \
         %i) to label %a \
         unwind label %b\na:\n  ret i32 %r\nb:\n  %l = landingpad { ptr, i32 } cleanup\n  call void @g()\n  \
          resume { ptr, i32 } %l\n}\n\
         declare i32 @f(i32)\ndeclare void @g()\ndeclare i32 @__gxx_personality_v0(...)\n",
    );
    place.refused(&place.vectorize(&[&file, "--args", "index"]), &["`kernel`", "invoke"]);
}

#[test]
fn a_missing_clang_says_what_to_install() {
    let place = Place::new();
    let file = place.file("k.c", "//@ args i=index\nvoid kernel(int i, float *p) { p[i] = 1; }\n");
    let output = command(&["analyze", &file])
        .env("CLANG", place.folder.path().join("no-clang"))
        .output()
        .expect("the program starts");
    place.refused(&output, &["k.c", "no-clang", "was not found", "install clang"]);
}

#[test]
fn a_missing_or_unfit_llvm_says_what_to_do() {
    let place = Place::new();
    let kernel = place.kernel();
    let unfit = place.file("libLLVM.so", "not a library");
    let output = command(&["analyze", &kernel]).env("WARPLINE_LLVM", &unfit).output().unwrap();
    place.refused(&output, &["libLLVM.so", "WARPLINE_LLVM", "cannot be used"]);
    let output = command(&["analyze", &kernel]).env("WARPLINE_LLVM", "/no/libLLVM.so").output().unwrap();
    place.refused(&output, &["/no/libLLVM.so", "cannot be used"]);
}

#[test]
fn a_missing_output_folder_is_named_before_any_work_is_done() {
    let place = Place::new();
    let kernel = place.kernel();
    let missing = place.out("missing/k.o");
    let vectorize = ["vectorize", &kernel, "--function", "kernel", ARGS[0], ARGS[1], "-o"];
    let mut all = vectorize.to_vec();
    all.push(path(&missing));
    place.refused(&warpline(&all), &["cannot write", "missing/k.o", "does not exist"]);
    let mut all = vectorize.to_vec();
    let (object, header) = (place.out("k.o"), place.out("missing/k.h"));
    all.extend([path(&object), "--header", path(&header)]);
    place.refused(&warpline(&all), &["cannot write", "missing/k.h", "does not exist"]);
    place.refused(
        &warpline(&["analyze", &kernel, "-o", path(&place.out("missing/report.json"))]),
        &["missing/report.json", "does not exist"],
    );
}

#[test]
fn an_output_of_unknown_kind_is_refused() {
    let place = Place::new();
    let kernel = place.kernel();
    let output = warpline(&["vectorize", &kernel, "--args", "index", "-o", path(&place.out("k.exe"))]);
    place.refused(&output, &["k.exe", ".ll, .bc, .s or .o"]);
}

#[test]
fn ranges_and_values_of_a_run_that_do_not_fit_are_refused() {
    let place = Place::new();
    let kernel = place.kernel();
    let run = |arguments: &[&str]| {
        let mut all = vec!["run", kernel.as_str(), "--function", "kernel", ARGS[0], ARGS[1]];
        all.extend(arguments);
        warpline(&all)
    };
    place.refused(&run(&["--range", "4"]), &["no range: write A..B"]);
    place.refused(&run(&["--range", "8..8"]), &["has no index"]);
    place.refused(&run(&["--range", "0..5000000000"]), &["not every index fits", "i32"]);
    place.refused(&run(&["--range", "0..8", "--bind", "out=f32[8"]), &["`]` is missing"]);
    place.refused(&run(&["--range", "0..8", "--bind", "x=f32[8]"]), &["no such parameter", "i, out"]);
    place.refused(
        &run(&["--range", "0..8", "--bind", "out=f32[8]", "--png", "out=x.png,9x1"]),
        &["8 elements for 9 pixels"],
    );
}

#[test]
fn a_kernel_that_faults_is_reported() {
    let place = Place::new();
    let kernel = place.kernel();
    let output = warpline(&[
        "run",
        &kernel,
        "--function",
        "kernel",
        ARGS[0],
        ARGS[1],
        "--range",
        "0..4096",
        "--bind",
        "out=0",
    ]);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("bad memory access") && text.contains("buffers large enough"), "{text}");
}
