//! Running machine code in processes of their own, so that one that dies names its program.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use warpline_ir::text::parse_module;
use warpline_ir::{AggregateType, Type, TypeTable};
use warpline_testkit::programs::{ParamRole, Program};

use crate::check::{Outcome, check};
use crate::setup::of_seed;

/// Tells a child which seeds are its own: `first..end`.
const SEEDS: &str = "WARPLINE_CHILD_SEEDS";
/// Tells a child where its outcomes go.
const LOG: &str = "WARPLINE_CHILD_LOG";
/// Tells a child of a file with the text of the program that takes the place of the seed's.
const TEXT: &str = "WARPLINE_CHILD_PROGRAM";

/// The stack of a child's threads, in bytes. Programs allocate private memory in loops and never give it back, which
/// takes 64 lanes 64 times as much as it takes one.
const STACK: &str = "1073741824";
/// What LLVM says when it has no instructions for an operation on `bfloat` numbers.
const LIMITS_OF_LLVM: &[&str] = &["Do not know how to soft promote this operator's operand"];

/// How long a single program may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// Does the work of a child if this process is one.
pub fn serve_if_child() -> bool {
    let Ok(seeds) = std::env::var(SEEDS) else { return false };
    let log = std::env::var_os(LOG).expect("a log");
    let (first, end) = seeds.split_once("..").expect("a range");
    let range: std::ops::Range<u64> = first.parse().expect("a seed")..end.parse().expect("a seed");
    let mut log = fs::OpenOptions::new().append(true).open(log).expect("a log");
    // Whole lines, since the process may die at any time.
    let mut write = |line: &str| {
        log.write_all(format!("{line}\n").as_bytes()).expect("the log can be written");
    };
    for seed in range {
        let (mut program, setup) = of_seed(seed);
        if let Some(path) = std::env::var_os(TEXT) {
            let text = fs::read_to_string(path).expect("a program");
            program = with_text(&program, &text).expect("a program");
        }
        write(&format!("stage {seed} interpret"));
        let outcome = check(&program, &setup, |stage| write(&format!("stage {seed} {stage}")));
        write(&format!("done {seed} {outcome}"));
    }
    true
}

/// The program with another text.
pub fn with_text(program: &Program, text: &str) -> Option<Program> {
    let mut module = parse_module(text).ok()?;
    let kernel = module.function(&program.function().name)?;
    let mut roles = program.roles.clone();
    for role in &mut roles {
        if let ParamRole::Buffer { elem, .. } = role {
            *elem = in_table(&program.module.types, *elem, &mut module.types);
        }
    }
    Some(Program { module, kernel, roles })
}

/// A type of one table in another.
fn in_table(from: &TypeTable, ty: Type, to: &mut TypeTable) -> Type {
    let Type::Aggregate(a) = ty else { return ty };
    match from.get(a).clone() {
        AggregateType::Array { elem, len } => {
            let elem = in_table(from, elem, to);
            to.array(elem, len)
        }
        AggregateType::Struct { name, fields, packed } => {
            let fields = fields.map(|f| f.into_iter().map(|ty| in_table(from, ty, to)).collect());
            to.aggregate(AggregateType::Struct { name, fields, packed })
        }
    }
}

/// The outcome of a program in the midst of which the process ended.
fn early_end(stage: &str, ended: &str) -> Outcome {
    let compiling = stage.ends_with(" compile");
    match LIMITS_OF_LLVM.iter().find(|limit| compiling && ended.contains(**limit)) {
        Some(limit) => Outcome::Skipped(format!("LLVM has no instructions ({limit})")),
        None => Outcome::Differ(format!("the process ended during `{stage}`: {ended}")),
    }
}

/// The outcomes of some seeds, in order, found in children of the test called `test`.
pub fn run(test: &str, seeds: std::ops::Range<u64>, directory: &Path) -> Vec<(u64, Outcome)> {
    let mut outcomes = Vec::new();
    let mut next = seeds.start;
    while next < seeds.end {
        let log = directory.join(format!("{}.log", seeds.start));
        let ended = spawn(test, next..seeds.end, &log, None);
        let text = fs::read_to_string(&log).unwrap_or_default();
        let mut at = None;
        for line in text.lines() {
            if let Some((seed, rest)) = line.strip_prefix("done ").and_then(|l| l.split_once(' ')) {
                let outcome = Outcome::parse(rest).expect("the child writes outcomes");
                outcomes.push((seed.parse().expect("a seed"), outcome));
                next += 1;
                at = None;
            } else {
                at = line.strip_prefix("stage ");
            }
        }
        if next < seeds.end {
            let stage = at.unwrap_or("nothing");
            outcomes.push((next, early_end(stage, &ended)));
            next += 1;
        }
    }
    outcomes
}

/// The outcome of a seed's setup with another program.
pub fn run_one(test: &str, seed: u64, program: &Program, directory: &Path) -> Outcome {
    let (log, path) = (directory.join("one.log"), directory.join("one.wl"));
    fs::write(&path, program.text()).expect("a program can be written");
    let ended = spawn(test, seed..seed + 1, &log, Some(&path));
    let text = fs::read_to_string(&log).unwrap_or_default();
    let last = text.lines().last().unwrap_or_default();
    let outcome = last.strip_prefix("done ").and_then(|l| l.split_once(' ')).map(|(_, o)| Outcome::parse(o));
    match outcome {
        Some(o) => o.expect("the child writes outcomes"),
        None => early_end(last.strip_prefix("stage ").unwrap_or(last), &ended),
    }
}

/// Lets a child run and says how it ended. A child that writes nothing for too long is stopped.
fn spawn(test: &str, seeds: std::ops::Range<u64>, log: &Path, text: Option<&Path>) -> String {
    fs::write(log, "").expect("the log can be written");
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args([test, "--exact", "--nocapture"]).env(SEEDS, format!("{}..{}", seeds.start, seeds.end));
    command.env("RUST_MIN_STACK", STACK);
    let complaints = log.with_extension("stderr");
    let stderr = fs::File::create(&complaints).expect("the log can be written");
    command.env(LOG, log).stdout(Stdio::null()).stderr(stderr);
    if let Some(path) = text {
        command.env(TEXT, path);
    }
    let mut child = command.spawn().expect("a process");
    let (mut seen, mut since) = (0, Instant::now());
    loop {
        match child.try_wait().expect("a child") {
            Some(status) => {
                let said = fs::read_to_string(&complaints).unwrap_or_default();
                let said = said.lines().find(|l| !l.trim().is_empty()).unwrap_or("nothing");
                return format!("{status}, saying `{said}`");
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
        let len = fs::metadata(log).map_or(0, |m| m.len());
        if len != seen {
            (seen, since) = (len, Instant::now());
        } else if since.elapsed() > PATIENCE {
            child.kill().expect("a child");
            child.wait().expect("a child");
            return format!("no end within {} s", PATIENCE.as_secs());
        }
    }
}
