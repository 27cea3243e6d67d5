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

/// A driver that jumps to one of its versions, and what it does on the first call. `types` are those of its parameters,
/// `result` is what it returns.
pub(crate) fn driver(name: &str, choose: &str, versions: &[&str], result: &str, types: &[String]) -> String {
    let (name, choose) = (escape(name), escape(choose));
    let versions: Vec<String> = versions.iter().map(|version| escape(version)).collect();
    let count = versions.len();
    let list: Vec<String> = types.iter().enumerate().map(|(i, ty)| format!("{ty} %p{i}")).collect();
    let (list, types) = (list.join(", "), types.join(", "));
    let call = match result {
        "void" => format!("musttail call void %version({list})\n  ret void"),
        _ => format!("%result = musttail call {result} %version({list})\n  ret {result} %result"),
    };
    let mut out = String::new();
    for version in &versions {
        let _ = writeln!(out, "declare {result} @\"{version}\"({types})");
    }
    let all: Vec<String> = versions.iter().map(|version| format!("ptr @\"{version}\"")).collect();
    let _ = write!(
        out,
        "@\"{name}.versions\" = internal constant [{count} x ptr] [{}]\n\
         @\"{name}.version\" = internal global ptr @\"{name}.first\", align 8\n\
         define {result} @\"{name}\"({list}) {attributes} {{\n  \
         %version = load atomic ptr, ptr @\"{name}.version\" monotonic, align 8\n  \
         {call}\n}}\n\
         define internal {result} @\"{name}.first\"({list}) cold noinline {attributes} {{\n  \
         %n = call i32 @\"{choose}\"()\n  \
         %at = getelementptr inbounds [{count} x ptr], ptr @\"{name}.versions\", i32 0, i32 %n\n  \
         %version = load ptr, ptr %at, align 8\n  \
         store atomic ptr %version, ptr @\"{name}.version\" monotonic, align 8\n  \
         {call}\n}}\n",
        all.join(", "),
        attributes = attributes(),
    );
    out
}

/// A function that jumps to one of its versions with all registers as they are, and what it does on the first call. So
/// it need not know which parameters there are, and what comes back goes to whoever called. `shared`: another object
/// may have it, too, and either is taken.
pub(crate) fn forward(name: &str, choose: &str, versions: &[String], shared: bool) -> String {
    let (name, choose) = (escape(name), escape(choose));
    let versions: Vec<String> = versions.iter().map(|version| escape(version)).collect();
    let count = versions.len();
    let mut out = String::new();
    for version in &versions {
        let _ = writeln!(out, "declare void @\"{version}\"(...)");
    }
    let (group, linkage, comdat) = match shared {
        true => (format!("$\"{name}\" = comdat any\n"), "weak_odr ", " comdat"),
        false => (String::new(), "", ""),
    };
    let all: Vec<String> = versions.iter().map(|version| format!("ptr @\"{version}\"")).collect();
    let _ = write!(
        out,
        "{group}@\"{name}.versions\" = internal constant [{count} x ptr] [{}]\n\
         @\"{name}.version\" = internal global ptr @\"{name}.first\", align 8\n\
         define {linkage}void @\"{name}\"(...) {attributes}{comdat} {{\n  \
         %version = load atomic ptr, ptr @\"{name}.version\" monotonic, align 8\n  \
         musttail call void (...) %version(...)\n  ret void\n}}\n\
         define internal void @\"{name}.first\"(...) cold noinline {attributes} {{\n  \
         %n = call i32 @\"{choose}\"()\n  \
         %at = getelementptr inbounds [{count} x ptr], ptr @\"{name}.versions\", i32 0, i32 %n\n  \
         %version = load ptr, ptr %at, align 8\n  \
         store atomic ptr %version, ptr @\"{name}.version\" monotonic, align 8\n  \
         musttail call void (...) %version(...)\n  ret void\n}}\n",
        all.join(", "),
        attributes = format_args!("uwtable \"thunk\" \"target-cpu\"=\"{BASELINE}\""),
    );
    out
}

/// Text of functions that say where they are in the source.
pub(crate) struct Lines {
    metadata: String,
    units: BTreeMap<String, u32>,
    next: u32,
}

impl Lines {
    pub(crate) fn new() -> Lines {
        Lines { metadata: String::new(), units: BTreeMap::new(), next: 0 }
    }

    fn node(&mut self, text: &str) -> u32 {
        let number = self.next;
        self.next += 1;
        let _ = writeln!(self.metadata, "!{number} = {text}");
        number
    }

    /// The compile unit of a file, without an index of names: gdb would look into no unit of others that have none.
    fn unit(&mut self, file: &str) -> u32 {
        if let Some(&unit) = self.units.get(file) {
            return unit;
        }
        let node = self.node(&format!("!DIFile(filename: \"{}\", directory: \".\")", escape(file)));
        let unit = self.node(&format!(
            "distinct !DICompileUnit(language: DW_LANG_C99, file: !{node}, producer: \"warpline\", isOptimized: \
             true, runtimeVersion: 0, emissionKind: LineTablesOnly, nameTableKind: None)"
        ));
        self.units.insert(file.to_owned(), unit);
        unit
    }

    /// The text of functions whose instructions all are in this line of a file.
    pub(crate) fn mark(&mut self, text: &str, file: &str, line: u32) -> String {
        let unit = self.unit(file);
        let mut out = String::new();
        let mut place = None;
        for code in text.lines() {
            let begins = code.strip_prefix("define ").and_then(|rest| rest.split_once("@\""));
            if let (Some((_, rest)), true) = (begins, code.ends_with(" {")) {
                let name = rest.split('"').next().unwrap_or_default();
                let ty = self.node("!DISubroutineType(types: !{null})");
                let scope = self.node(&format!(
                    "distinct !DISubprogram(name: \"{name}\", scope: !{file}, file: !{file}, line: {line}, type: \
                     !{ty}, scopeLine: {line}, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !{unit})",
                    file = unit - 1
                ));
                place = Some(self.node(&format!("!DILocation(line: {line}, scope: !{scope})")));
                let _ = writeln!(out, "{} !dbg !{scope} {{", code.trim_end_matches(" {"));
                continue;
            }
            match place.filter(|_| code.starts_with("  ")) {
                Some(place) => {
                    let _ = writeln!(out, "{code}, !dbg !{place}");
                }
                None => {
                    let _ = writeln!(out, "{code}");
                }
            }
            if code == "}" {
                place = None;
            }
        }
        out
    }

    /// What stands at the end of the module.
    pub(crate) fn end(mut self) -> String {
        if self.units.is_empty() {
            return String::new();
        }
        let version = self.node("!{i32 2, !\"Debug Info Version\", i32 3}");
        let units: Vec<String> = self.units.values().map(|unit| format!("!{unit}")).collect();
        format!(
            "!llvm.dbg.cu = !{{{}}}\n!llvm.module.flags = !{{!{version}}}\n{}",
            units.join(", "),
            self.metadata
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_instructions_of_marked_functions_have_a_place() {
        let mut lines = Lines::new();
        let versions = ["k_a".to_owned(), "k_b".to_owned()];
        let text = forward("k", "k.choose", &versions, false);
        let marked = lines.mark(&text, "a\"b.c", 7);
        let code: Vec<&str> = marked.lines().filter(|line| line.starts_with("  ")).collect();
        assert!(code.len() > 6 && code.iter().all(|line| line.contains(", !dbg !")), "{marked}");
        let end = lines.end();
        assert!(
            end.contains("a\\22b.c") && end.contains("nameTableKind: None") && end.contains("\"k.first\"")
        );
        assert!(Lines::new().end().is_empty());
    }
}
