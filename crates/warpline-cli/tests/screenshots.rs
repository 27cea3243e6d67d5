//! How the book and the HTML pages look in a browser: Chromium draws each in a wide and in a narrow window, in light and in
//! dark colours, and the pictures are looked at. They stay in `screenshots` in the target folder.

mod common;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{ok, warpline};
use warpline_testkit::programs_run::root;

/// The first of these programs that can be started.
fn find(programs: &[PathBuf]) -> Option<PathBuf> {
    programs.iter().find(|one| Command::new(one).arg("--version").output().is_ok()).cloned()
}

fn browser() -> Option<PathBuf> {
    let found = find(&["chromium", "chromium-browser", "google-chrome"].map(PathBuf::from));
    if found.is_none() {
        println!("skipped: there is no chromium");
    }
    found
}

/// What is seen in a picture.
struct Seen {
    size: (u32, u32),
    /// The brightness of the most frequent colour, 0 to 255.
    background: u32,
    /// The share of pixels of other colours, and how many such colours there are.
    drawn: f64,
    colours: usize,
}

/// Has a page drawn, and looks at the picture.
fn shoot(browser: &Path, page: &Path, name: &str, size: (u32, u32), dark: bool) -> Seen {
    let folder = root().join("target/screenshots");
    std::fs::create_dir_all(&folder).unwrap();
    let picture = folder.canonicalize().unwrap().join(format!("{name}.png"));
    let profile = tempfile::tempdir().unwrap();
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]);
    command.args(["--virtual-time-budget=5000", "--force-device-scale-factor=1"]);
    command.arg(format!("--window-size={},{}", size.0, size.1));
    command.arg(format!("--user-data-dir={}", profile.path().display()));
    command.arg(format!("--screenshot={}", picture.display()));
    if dark {
        command.arg("--blink-settings=preferredColorScheme=0");
    }
    let drawn = command.arg(format!("file://{}", page.display())).output().unwrap();
    assert!(drawn.status.success() && picture.is_file(), "{}", String::from_utf8_lossy(&drawn.stderr));
    look_at(&picture)
}

fn look_at(picture: &Path) -> Seen {
    let decoder = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(picture).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let mut counts: HashMap<&[u8], usize> = HashMap::new();
    for pixel in pixels[..info.buffer_size()].chunks(info.color_type.samples()) {
        *counts.entry(&pixel[..3]).or_default() += 1;
    }
    let (most, of_most) = counts.iter().max_by_key(|(colour, count)| (**count, **colour)).unwrap();
    let all = info.width as usize * info.height as usize;
    Seen {
        size: (info.width, info.height),
        background: most.iter().map(|&part| u32::from(part)).sum::<u32>() / 3,
        drawn: (all - of_most) as f64 / all as f64,
        colours: counts.len() - 1,
    }
}

/// Draws a page in all ways; each picture has something on it, and is light or dark as it is asked for.
fn is_drawn(browser: &Path, page: &Path, name: &str, dark: bool) {
    let mut ways = vec![("wide", (1200, 900), false), ("narrow", (420, 900), false)];
    ways.extend(dark.then_some(("dark", (1200, 900), true)));
    for (way, size, dark) in ways {
        let seen = shoot(browser, page, &format!("{name}-{way}"), size, dark);
        let Seen { background, drawn, colours, .. } = seen;
        assert_eq!(seen.size, size, "{name}, {way}");
        assert!(drawn > 0.01 && drawn < 0.7 && colours >= 10, "{name}, {way}: {drawn:.3}, {colours} colours");
        assert_eq!(background < 100, dark, "{name}, {way}: background {background}");
    }
}

const SOURCE: &str = "//@ args i=index
void f(int i, const float *x, float *y, int n) {
  float v = x[i];
  for (int k = 0; k < n; k++) v = v * v + 0.25f;
  if (v > 0.5f) y[i] = v;
}
void g(float *y, const float *x, int n) {
  for (int i = 0; i < n; i++)
    if (x[i] > 0) y[i] += x[i];
}
";

#[test]
fn pages_of_analyze_and_report_are_drawn() {
    let Some(browser) = browser() else { return };
    if !warpline_llvm::has_clang() {
        return println!("skipped: there is no clang");
    }
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("f.c");
    std::fs::write(&source, SOURCE).unwrap();
    let page = |name: &str| folder.path().join(name);
    let (source, analysis, report) = (source.to_str().unwrap(), page("analysis.html"), page("report.html"));
    ok(&warpline(&["analyze", source, "--format", "html", "-o", analysis.to_str().unwrap()]));
    ok(&warpline(&["report", source, "-o", report.to_str().unwrap()]));
    is_drawn(&browser, &analysis, "analysis", true);
    is_drawn(&browser, &report, "report", true);

    // What has nothing on it is noticed.
    let empty = page("empty.html");
    std::fs::write(&empty, "<!DOCTYPE html><title>nothing</title>").unwrap();
    assert!(shoot(&browser, &empty, "empty", (420, 300), false).drawn < 0.001);
}

#[test]
fn the_book_is_drawn() {
    let Some(browser) = browser() else { return };
    let built_here = root().join("target/tools/bin/mdbook");
    let Some(mdbook) = find(&["mdbook".into(), built_here]) else {
        return println!("skipped: there is no mdbook");
    };
    let folder = tempfile::tempdir().unwrap();
    let built = Command::new(mdbook)
        .args(["build", "--dest-dir"])
        .arg(folder.path())
        .arg(root().join("docs").canonicalize().unwrap())
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    for page in
        ["guide/getting-started", "guide/execution-model", "guide/rust", "reference/options", "kernels"]
    {
        let file = folder.path().join(page).with_extension("html");
        assert!(file.is_file(), "the book has no {page}");
        is_drawn(&browser, &file, &format!("book-{}", page.replace('/', "-")), false);
    }
}
