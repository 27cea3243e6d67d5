//! The code that chooses among CPUs, as LLVM's text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::cpus::{BASELINE, Choice, Leaf, Register};

/// The attributes of functions that run on every machine of the target.
fn attributes() -> String {
    format!("nounwind \"target-cpu\"=\"{BASELINE}\"")
}

/// A name, a triple or a layout as it stands between quotation marks in LLVM's text.
pub(crate) fn escape(name: &str) -> String {
    let plain = |c: u8| c.is_ascii_graphic() && c != b'"' && c != b'\\';
    name.bytes().map(|c| if plain(c) { char::from(c).to_string() } else { format!("\\{c:02X}") }).collect()
}

/// Asks `cpuid` for a leaf; zero if the processor knows none that far.
const LEAF: &str = r#"
define internal { i32, i32, i32, i32 } @"NAME.leaf"(i32 %greatest, i32 %leaf, i32 %part) ATTRIBUTES {
  %known = icmp uge i32 %greatest, %leaf
  br i1 %known, label %ask, label %none
ask:
  %answer = call { i32, i32, i32, i32 } asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}"(i32 %leaf, i32 %part)
  ret { i32, i32, i32, i32 } %answer
none:
  ret { i32, i32, i32, i32 } zeroinitializer
}
"#;

/// Asks for everything: leaves 1, 7, 7.1 and 0x80000001, and which registers the operating system saves. The
/// instruction that says so exists where bit 27 of the first leaf is set.
const ASK: &str = r#"
define internal i32 @"NAME"() cold noinline ATTRIBUTES {
  %first = call { i32, i32, i32, i32 } @"NAME.leaf"(i32 0, i32 0, i32 0)
  %greatest = extractvalue { i32, i32, i32, i32 } %first, 0
  %basic = call { i32, i32, i32, i32 } @"NAME.leaf"(i32 %greatest, i32 1, i32 0)
  %extended = call { i32, i32, i32, i32 } @"NAME.leaf"(i32 %greatest, i32 7, i32 0)
  %parts = extractvalue { i32, i32, i32, i32 } %extended, 0
  %has.parts = icmp uge i32 %parts, 1
  %greatest.more = select i1 %has.parts, i32 %greatest, i32 0
  %more = call { i32, i32, i32, i32 } @"NAME.leaf"(i32 %greatest.more, i32 7, i32 1)
  %first.amd = call { i32, i32, i32, i32 } @"NAME.leaf"(i32 -1, i32 -2147483648, i32 0)
  %greatest.amd = extractvalue { i32, i32, i32, i32 } %first.amd, 0
  %amd = call { i32, i32, i32, i32 } @"NAME.leaf"(i32 %greatest.amd, i32 -2147483647, i32 0)
  %basic.flags = extractvalue { i32, i32, i32, i32 } %basic, 2
  %xsave = and i32 %basic.flags, 134217728
  %has.xsave = icmp ne i32 %xsave, 0
  br i1 %has.xsave, label %ask, label %asked
ask:
  %xcr0 = call { i32, i32 } asm sideeffect "xgetbv", "={ax},={dx},{cx},~{dirflag},~{fpsr},~{flags}"(i32 0)
  %saved = extractvalue { i32, i32 } %xcr0, 0
  br label %asked
asked:
  %state = phi i32 [ 0, %0 ], [ %saved, %ask ]
"#;

/// A function that says which CPU's code is to run: its number among the choices, the last of which runs everywhere.
pub(crate) fn choose(name: &str, choices: &[&Choice]) -> String {
    let fill = |text: &str| text.replace("ATTRIBUTES", &attributes()).replace("NAME", &escape(name));
    let mut out = fill(LEAF) + &fill(ASK);
    let mut result = (choices.len() - 1).to_string();
    for (i, choice) in choices.iter().enumerate().rev().skip(1) {
        let mut needed: BTreeMap<(Leaf, Register), u32> = BTreeMap::new();
        for feature in &choice.needs {
            *needed.entry((feature.leaf, feature.register)).or_default() |= 1 << feature.bit;
        }
        let state = choice.needs.iter().fold(0, |bits, feature| bits | feature.state.bits());
        let mut has = format!("%v{i}.state.has");
        let _ = writeln!(
            out,
            "  %v{i}.state = and i32 %state, {state}\n  {has} = icmp eq i32 %v{i}.state, {state}"
        );
        for (k, ((leaf, register), mask)) in needed.into_iter().enumerate() {
            let (leaf, register) = (leaf_name(leaf), register as u32);
            let at = format!("%v{i}.{k}");
            let _ = writeln!(
                out,
                "  {at} = extractvalue {{ i32, i32, i32, i32 }} %{leaf}, {register}\n  \
                 {at}.bits = and i32 {at}, {mask}\n  {at}.has = icmp eq i32 {at}.bits, {mask}\n  \
                 {at}.all = and i1 {has}, {at}.has"
            );
            has = format!("{at}.all");
        }
        let _ = writeln!(out, "  %v{i} = select i1 {has}, i32 {i}, i32 {result}");
        result = format!("%v{i}");
    }
    let _ = writeln!(out, "  ret i32 {result}\n}}");
    out
}

fn leaf_name(leaf: Leaf) -> &'static str {
    match leaf {
        Leaf::Basic => "basic",
        Leaf::Extended => "extended",
        Leaf::More => "more",
        Leaf::Amd => "amd",
    }
}

/// A function that returns the name of the CPU whose code runs, as a C string.
pub(crate) fn which(name: &str, choose: &str, choices: &[&Choice]) -> String {
    let (name, choose) = (escape(name), escape(choose));
    let count = choices.len();
    let mut out = String::new();
    for (i, choice) in choices.iter().enumerate() {
        let name_of_cpu = &choice.cpu.name;
        let text = escape(name_of_cpu);
        let _ = writeln!(
            out,
            "@\"{name}.{i}\" = private unnamed_addr constant [{} x i8] c\"{text}\\00\"",
            name_of_cpu.len() + 1
        );
    }
    let names: Vec<String> = (0..count).map(|i| format!("ptr @\"{name}.{i}\"")).collect();
    let _ = write!(
        out,
        "@\"{name}.names\" = internal constant [{count} x ptr] [{}]\n\
         define ptr @\"{name}\"() {} {{\n  %n = call i32 @\"{choose}\"()\n  \
         %at = getelementptr inbounds [{count} x ptr], ptr @\"{name}.names\", i32 0, i32 %n\n  \
         %name = load ptr, ptr %at, align 8\n  ret ptr %name\n}}\n",
        names.join(", "),
        attributes()
    );
    out
}

/// A driver that jumps to one of its versions, and what it does on the first call. `types` are those of its parameters.
pub(crate) fn driver(name: &str, choose: &str, versions: &[&str], types: &[String]) -> String {
    let (name, choose) = (escape(name), escape(choose));
    let versions: Vec<String> = versions.iter().map(|version| escape(version)).collect();
    let count = versions.len();
    let list: Vec<String> = types.iter().enumerate().map(|(i, ty)| format!("{ty} %p{i}")).collect();
    let (list, types) = (list.join(", "), types.join(", "));
    let mut out = String::new();
    for version in &versions {
        let _ = writeln!(out, "declare void @\"{version}\"({types})");
    }
    let all: Vec<String> = versions.iter().map(|version| format!("ptr @\"{version}\"")).collect();
    let _ = write!(
        out,
        "@\"{name}.versions\" = internal constant [{count} x ptr] [{}]\n\
         @\"{name}.version\" = internal global ptr @\"{name}.first\", align 8\n\
         define void @\"{name}\"({list}) {attributes} {{\n  \
         %version = load atomic ptr, ptr @\"{name}.version\" monotonic, align 8\n  \
         musttail call void %version({list})\n  ret void\n}}\n\
         define internal void @\"{name}.first\"({list}) cold noinline {attributes} {{\n  \
         %n = call i32 @\"{choose}\"()\n  \
         %at = getelementptr inbounds [{count} x ptr], ptr @\"{name}.versions\", i32 0, i32 %n\n  \
         %version = load ptr, ptr %at, align 8\n  \
         store atomic ptr %version, ptr @\"{name}.version\" monotonic, align 8\n  \
         musttail call void %version({list})\n  ret void\n}}\n",
        all.join(", "),
        attributes = attributes(),
    );
    out
}
