//! Modules that clang has optimised: kernels in them are vectorized as those of their sources are, and do the same.

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{has_clang, root, stdout, warpline};

/// A clang, as the library looks for it.
fn clang() -> String {
    let named = std::env::var("CLANG").ok();
    let usual = ["clang", "clang-23", "clang-22", "clang-21", "clang-20", "clang-19"].map(str::to_owned);
    let answers = |name: &String| Command::new(name).arg("--version").output().is_ok();
    named.into_iter().chain(usual).find(answers).expect("there is a clang")
}

/// Runs a command that must succeed; `None` if there is no such program.
fn run(program: &str, arguments: &[&str], folder: &Path) -> Option<()> {
    let output = Command::new(program).args(arguments).current_dir(folder).output().ok()?;
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {said}");
    Some(())
}

fn source() -> PathBuf {
    root().join("filetests/opencl/narrow.cl")
}

/// The names of the kernels.
fn names() -> Vec<String> {
    let text = std::fs::read_to_string(source()).unwrap();
    text.split("kernel void ").skip(1).map(|rest| rest.split('(').next().unwrap().to_owned()).collect()
}

/// The source as a module for SPIR that has been optimised.
fn module(level: &str, folder: &Path) -> PathBuf {
    let module = folder.join(format!("m{level}.ll"));
    let (from, to) = (source(), module.to_str().unwrap());
    let words =
        ["-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "-w", "-S", "-emit-llvm"];
    let more = ["-target", "spir64", level, from.to_str().unwrap(), "-o", to];
    run(&clang(), &[&words[..], &more].concat(), folder).expect("there is a clang");
    module
}

/// Has all kernels of a file made; what is said.
fn made(file: &Path, object: &Path) -> String {
    let [file, object] = [file, object].map(|path| path.to_str().unwrap());
    let header = object.replace(".o", ".h");
    let words = ["vectorize", file, "-o", object, "--header", &header, "-v", "--require-all"];
    // A machine with gathers and masks, so that what is chosen does not depend on where the test runs.
    stdout(&warpline(
        &[&words[..], if cfg!(target_arch = "x86_64") { &["--cpu", "haswell"] } else { &[] }].concat(),
    ))
    .to_owned()
}

/// How lanes access memory in each kernel. How often is left out: clang may unroll a loop or do a load once.
fn accesses(said: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut kernel = "";
    for line in said.lines() {
        if let Some((name, rest)) = line.trim_start().split_once(": vectorized with ")
            && rest.ends_with(':')
        {
            kernel = name;
        }
        if let Some(recipes) = line.strip_prefix("  recipes: ") {
            let of_memory =
                |r: &&str| ["contiguous", "gather", "scatter", "interleaved"].iter().any(|w| r.contains(w));
            let kinds = recipes.split(", ").filter(of_memory).map(|r| r.split_once(' ').unwrap().1);
            found.insert(kernel.to_owned(), kinds.collect::<Vec<_>>().join(", "));
        }
    }
    found
}

/// Compares object code with what clang makes of the source, run by definition.
const HOST: &str = r#"
#include "kernels.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
typedef void kernel_function(const int *, int *, int, int *);
void run_reference(kernel_function *, const uint64_t *, const uint64_t *, const int *, int *, int, int *);
#define KERNEL(name) kernel_function name;
#include "list.h"
#undef KERNEL
#define KERNEL(name) {#name, name, (made *)name##_ndrange},
typedef void made(const uint64_t *, const uint64_t *, const uint64_t *, const int *, int *, int);
static const struct { const char *name; kernel_function *kernel; made *run; } kernels[] = {
#include "list.h"
};
enum { MOST = 1 << 13 };
static int in[MOST], expected[MOST], found[MOST], tmp[MOST];
int main(void) {
  static const uint64_t shapes[][2] = {{1, 1}, {7, 1}, {16, 1}, {31, 1}, {64, 1}, {100, 1}, {256, 1},
                                     {8, 4}, {5, 3}, {64, 2}};
  uint64_t offset[3] = {0};
  for (int i = 0; i < MOST; i++) in[i] = (int)(i * 2654435761u >> 7);
  for (unsigned k = 0; k < sizeof kernels / sizeof *kernels; k++)
    for (unsigned s = 0; s < sizeof shapes / sizeof *shapes; s++) {
      int is_plane = !strncmp(kernels[k].name, "plane", 5);
      if (!is_plane && shapes[s][1] > 1) continue;
      uint64_t local[3] = {shapes[s][0], shapes[s][1], 1}, size[3] = {local[0] * 4, is_plane ? local[1] * 2 : 1, 1};
      int n = (int)(size[0] * size[1]);
      memset(expected, 0, sizeof expected), memset(found, 0, sizeof found);
      run_reference(kernels[k].kernel, size, local, in, expected, n, tmp);
      kernels[k].run(offset, size, local, in, found, n);
      for (int i = 0; i < MOST; i++)
        if (expected[i] != found[i])
          return printf("%s: %d work-items: element %d is %d, not %d\n", kernels[k].name, n, i, found[i], expected[i]);
    }
  puts("right");
}
"#;

#[test]
fn kernels_of_optimised_modules_do_what_work_items_do_by_definition() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let list: String = names().iter().map(|name| format!("KERNEL({name})\n")).collect();
    std::fs::write(folder.join("list.h"), list).unwrap();
    std::fs::write(folder.join("host.c"), HOST).unwrap();
    let (from, reference) = (source(), root().join("filetests/groups/reference.c"));
    let plain = ["-x", "cl", "-cl-std=CL1.2", "-O1", "-w", "-Xclang", "-finclude-default-header", "-c"];
    let all = plain.iter().copied().chain([from.to_str().unwrap(), "-o", "ref.o"]);
    run(&clang(), &all.collect::<Vec<_>>(), folder);
    for level in ["-O0", "-O1", "-O2", "-O3"] {
        let file = if level == "-O0" { source() } else { module(level, folder) };
        made(&file, &folder.join("kernels.o"));
        let parts = ["host.c", reference.to_str().unwrap(), "ref.o", "kernels.o", "-o", "all", "-lm"];
        let words: Vec<&str> = ["-O1", "-w", "-I."].into_iter().chain(parts).collect();
        if run("cc", &words, folder).is_none() {
            eprintln!("skipped: there is no C compiler");
            return;
        }
        let output = Command::new(folder.join("all")).output().unwrap();
        assert_eq!(stdout(&output), "right\n", "{level}");
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn kernels_of_optimised_modules_access_memory_as_those_of_their_source_do() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let of_source = accesses(&made(&source(), &folder.join("source.o")));
    assert_eq!(of_source.len(), names().len());
    // What neighbours access lies side by side, in all but these.
    let apart = ["halves", "masked", "short_numbers", "plane_turned"];
    for (name, found) in &of_source {
        assert!(
            apart.contains(&&**name) || found.contains("contiguous") || found.contains("interleaved"),
            "{name}: {found}"
        );
    }
    for level in ["-O1", "-O2", "-O3"] {
        let module = module(level, folder);
        let of_module = accesses(&made(&module, &folder.join("module.o")));
        assert_eq!(of_module, of_source, "{level}");
    }
}
