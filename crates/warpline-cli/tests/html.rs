//! `warpline analyze --format html`: the page needs nothing from outside, is not broken by names, and its own script
//! shows what the address asks for.

mod common;

use std::path::Path;
use std::process::Command;

use common::{ok, warpline};

/// Names that would end a script or begin an element if they were not escaped, in a function and its parts.
const HOSTILE: &str = r#"
define i32 @"</script><b>f"(i32 %"<img src=x onerror=alert(1)>", i32 %"a'b\22c") {
"</text><script>bad()</script>":
  %c = icmp eq i32 %"<img src=x onerror=alert(1)>", 0
  br i1 %c, label %"&then", label %"end"
"&then":
  br label %"end"
"end":
  %r = phi i32 [ 0, %"</text><script>bad()</script>" ], [ %"a'b\22c", %"&then" ]
  ret i32 %r
}
define i32 @second(i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %out
out:
  %r = add i32 %i, 5
  ret i32 %r
}
"#;

fn page(module: &str, folder: &Path) -> String {
    let (input, output) = (folder.join("m.ll"), folder.join("page.html"));
    std::fs::write(&input, module).unwrap();
    let arguments = ["analyze", input.to_str().unwrap(), "--format", "html", "-o", output.to_str().unwrap()];
    assert_eq!(ok(&warpline(&arguments)), "");
    std::fs::read_to_string(output).unwrap()
}

/// The document after the page's own script has run, or none without a browser.
fn rendered(page: &Path, hash: &str) -> Option<String> {
    let browsers = ["chromium", "chromium-browser", "google-chrome"];
    let Some(browser) = browsers.into_iter().find(|b| Command::new(b).arg("--version").output().is_ok())
    else {
        println!("skipped: there is no chromium");
        return None;
    };
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}#{hash}", page.display()))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn the_page_refers_to_nothing_outside_and_names_do_not_break_it() {
    let folder = tempfile::tempdir().unwrap();
    let page = page(HOSTILE, folder.path());
    for forbidden in
        ["http://", "https://", "src=\"", "href=", "@import", "<link", "<img", "<b>", "bad()</script>"]
    {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(page.contains("data-block=\"&lt;/text&gt;&lt;script&gt;bad()&lt;/script&gt;\""));
    let start = page.find("id=\"data\">").unwrap() + "id=\"data\">".len();
    let json = &page[start..start + page[start..].find("</script>").unwrap()];
    let data: serde_json::Value = serde_json::from_str(json).unwrap();
    let function = &data["functions"][0];
    assert_eq!(function["name"], "</script><b>f");
    assert_eq!(function["values"]["%<img src=x onerror=alert(1)>"]["class"], "d");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
}

#[test]
fn pages_are_the_same_every_time_and_hold_all_functions_of_all_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for name in ["a.html", "b.html"] {
        ok(&warpline(&[
            "analyze",
            "examples/ray_sphere.rs",
            "examples/mandelbrot.rs",
            "--format",
            "html",
            "-o",
            &path(name),
        ]));
    }
    let page = std::fs::read_to_string(path("a.html")).unwrap();
    assert_eq!(page, std::fs::read_to_string(path("b.html")).unwrap());
    assert_eq!(page.matches("class=\"cfg\"").count(), 2);
    // The source is in the page.
    assert!(page.contains("let discriminant = b * b - c;"));
}

#[test]
fn the_page_shows_the_chain_and_the_paths_of_what_the_address_names() {
    let folder = tempfile::tempdir().unwrap();
    page(HOSTILE, folder.path());
    let file = folder.path().join("page.html");
    let Some(dom) = rendered(&file, "f=second&b=loop") else { return };
    assert!(dom.contains("the branch of block loop is divergent"), "{dom}");
    assert!(dom.contains("%n is an argument of the shape varying"));
    assert!(dom.contains("lanes leave the loop at block loop in different iterations"));
    let (short, long) = ("path: loop → out<", "path: loop → loop → … round the loop … → out<");
    assert!(dom.contains(short) && dom.contains(long), "{dom}");
    // Both paths are drawn: both leave the loop, and one goes round it.
    let classes = |to: &str| {
        let line = dom.lines().find(|l| {
            l.contains("<path class=\"edge") && l.contains(&format!("data-from=\"loop\" data-to=\"{to}\""))
        });
        line.unwrap_or_else(|| panic!("{dom}")).split('"').nth(1).unwrap().to_owned()
    };
    assert_eq!(classes("out"), "edge exit one two");
    assert!(["edge back one", "edge back two"].contains(&&*classes("loop")), "{}", classes("loop"));
    assert!(dom.contains("data-function=\"second\">") && !dom.contains("data-function=\"second\" hidden"));
    let hostile = "f=%3C%2Fscript%3E%3Cb%3Ef&v=%25%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E";
    let dom = rendered(&file, hostile).unwrap();
    assert!(dom.contains("%&lt;img src=x onerror=alert(1)&gt; is divergent (varying)"), "{dom}");
    assert!(!dom.contains("<img") && !dom.contains("<b>"));
}

#[test]
fn a_source_line_shows_all_that_is_divergent_on_it() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("page.html");
    ok(&warpline(&["analyze", "examples/ray_sphere.rs", "--format", "html", "-o", output.to_str().unwrap()]));
    let Some(dom) = rendered(&output, "f=ray_sphere&l=43") else { return };
    assert!(dom.contains("%or.cond is divergent") && dom.contains("the branch of block bb2 is divergent"));
    assert!(
        dom.contains("row d chosen") && dom.contains("if c &lt; 0.0 &amp;&amp; b &lt; 0.9 * r {"),
        "{dom}"
    );
}

#[test]
fn of_a_large_function_runs_of_blocks_are_boxes_that_can_be_opened() {
    let mut module = String::from("define void @f(i1 %c) {\n");
    for i in 0..700 {
        module += &format!("b{i}:\n  br i1 %c, label %b{}, label %b{}\n", i + 1, (i + 2).min(700));
    }
    module += "b700:\n  ret void\n}\n";
    let folder = tempfile::tempdir().unwrap();
    let page = page(&module, folder.path());
    assert!(page.contains("4 blocks, 2 divergent branches") && page.contains("\"name\":\"b699\""));
    // The whole has few boxes; each block is one of its own in one drawing.
    assert!(page.matches("data-open=").count() <= 200);
    assert_eq!(page.matches("data-block=").count(), 701);
    // Who asks for a block gets the drawing that has it.
    if let Some(dom) = rendered(&folder.path().join("page.html"), "f=f&b=b350") {
        assert!(dom.contains("chosen\" data-block=\"b350\""), "the block is marked");
        assert!(dom.contains("data-view=\"0\" hidden=\"\""), "its drawing is shown");
    }
}
