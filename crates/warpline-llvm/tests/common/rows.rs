//! The rows of the support table: kernels in `filetests/support/`, whose first lines say how they are run;
//! `support.rs` lists what can stand there.

use std::path::PathBuf;

use warpline_llvm::worker::{LoadOptions, load_in_process};
use warpline_llvm::{Linkage, Module, has_clang};
pub use warpline_testkit::programs_run::root;
use warpline_vectorize::Contract;
use warpline_vectorize::groups;
use warpline_vectorize::work_items::with_parameters;

use super::kernels::{Arg, Kernel, words};

/// A row of the table.
pub struct Row {
    path: PathBuf,
    /// The file's name.
    pub file: String,
    /// Keywords and values of the first lines.
    pub stated: Vec<(String, String)>,
    text: String,
}

impl Row {
    fn read(path: PathBuf) -> Row {
        let text = std::fs::read_to_string(&path).expect("a kernel can be read");
        let line = |l: &str| {
            let l = l.strip_prefix(";@").or_else(|| l.strip_prefix("//@"))?.trim();
            let (key, value) = l.split_once(' ').unwrap_or((l, ""));
            Some((key.to_owned(), value.to_owned()))
        };
        let stated = text.lines().map_while(line).collect();
        let file = path.file_name().expect("a file").to_string_lossy().into_owned();
        Row { path, file, stated, text }
    }

    /// The value of a keyword that stands there once at most.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.stated.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    /// The value of a keyword that must stand there.
    pub fn must(&self, key: &str) -> &str {
        self.get(key).unwrap_or_else(|| panic!("{}: no line `{key}`", self.file))
    }

    /// The kernel as a module in text form for a target, by default this machine; nothing if there is no compiler for
    /// it.
    pub fn kernel(&self, triple: Option<&str>) -> Option<Kernel> {
        let extension = self.path.extension().unwrap_or_default();
        let source = extension != "ll";
        if source && extension != "rs" && !has_clang() {
            eprintln!("{}: skipped: no clang", self.file);
            return None;
        }
        let simplified = self.get("simplified").is_some();
        let looped = self.get("loop").is_some();
        let text = if source || simplified || triple.is_some() {
            let triple = triple.map(str::to_owned);
            let options = LoadOptions {
                simplify: simplified.then_some(true),
                thread_jumps: looped,
                triple,
                ..LoadOptions::default()
            };
            let loaded = load_in_process(&self.path, &options).expect("it compiles");
            Module::parse(&loaded.bitcode, &self.file).expect("what was compiled can be read").to_text()
        } else {
            self.text.clone()
        };
        let text = match self.get("function") {
            Some(name) => text.replace(&format!("@{name}("), "@kernel("),
            None => text,
        };
        let (from, to) = self.must("range").split_once("..").expect("a range");
        let range = from.parse().expect("a number")..to.parse().expect("a number");
        let args = self.must("args").split(", ").map(|a| self.arg(a, &range)).collect();
        let result = self.get("result").map_or(0, |n| n.parse().expect("a number"));
        let contract = match (self.get("racy"), self.get("independent")) {
            (Some(_), _) => Contract::Racy,
            (_, Some(_)) => Contract::Independent,
            _ => Contract::Threads,
        };
        Some(Kernel { text, args, range, result, looped, contract })
    }

    fn arg(&self, text: &str, range: &std::ops::Range<u64>) -> Arg {
        let (what, values) = text.split_once('=').unwrap_or((text, ""));
        let (kind, size) = what.split_once(':').unwrap_or((what, "0"));
        let size: usize = size.parse().expect("a number");
        let filled = |bytes: usize| {
            let number = |k: u32| match values {
                "random" => k.wrapping_mul(2_654_435_761) >> 3,
                "small" => (k.wrapping_mul(2_654_435_761) >> 20) % 8,
                "zero" => 0,
                n => n.parse().unwrap_or_else(|_| panic!("{}: `{n}` are no values", self.file)),
            };
            let mut all = words((0..bytes.div_ceil(4) as u32).map(number));
            all.truncate(bytes);
            all
        };
        match kind {
            "index" => Arg::Index,
            "uniform" => Arg::Uniform(values.parse().expect("a number")),
            "varying" => Arg::Varying(filled(size * (range.end - range.start) as usize)),
            "buffer" => Arg::Buffer(filled(size)),
            _ => panic!("{}: `{kind}` is no argument", self.file),
        }
    }
}

/// The kernel with parameters for what it asks about its work-item, as the command line makes it; `None` if it has
/// barriers and can be cut there: `crates/warpline-cli/tests/groups.rs` runs such kernels.
///
/// # Errors
/// Why there is none.
pub fn with_work_items(kernel: Kernel) -> Result<Option<Kernel>, String> {
    let mut imported = kernel.import();
    let asks = imported.ir.function("kernel").expect("it is there");
    let Some(items) = with_parameters(&mut imported.ir, asks).map_err(|e| e.to_string())? else {
        return Ok(Some(kernel));
    };
    if items.runs_over_groups {
        let own = imported.ir.functions[items.func].params.len() - items.added.len();
        let shapes: Vec<_> = kernel.shapes().into_iter().take(own).chain(items.shapes()).collect();
        let cut = groups::cut(&mut imported.ir, &items, &shapes, groups::Rules::default());
        return cut.map(|_| None).map_err(|e| e.to_string());
    }
    let function = &imported.ir.functions[items.func];
    imported.bridge.add_function(&imported.ir, function, Linkage::External).expect("it can be exported");
    let text = imported.bridge.module().to_text();
    // No machine code can be made of what asks.
    let named = text.find("@kernel(").expect("it is there");
    let start = text[..named].rfind("define ").expect("it has a body");
    let end = start + text[start..].find("\n}\n").expect("it ends") + 3;
    let text = format!("{}{}", &text[..start], &text[end..]).replace("@kernel.items(", "@kernel(");
    Ok(Some(Kernel { text, ..kernel }))
}

/// All rows, by the names of their files.
pub fn rows() -> Vec<Row> {
    let folder = root().join("filetests/support");
    let files = std::fs::read_dir(folder).expect("the folder is there");
    let mut paths: Vec<PathBuf> = files.map(|f| f.expect("an entry").path()).collect();
    paths.sort();
    paths.into_iter().map(Row::read).collect()
}
