//! Printing, timing, counting and leaving out passes, as users ask for it.

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::time::Duration;

use super::{Info, Instrument, all};
use warpline_ir::text::print_function;
use warpline_ir::{Function, Module};

/// What users ask of passes. Names are those of [passes](super::PASSES), or `all`.
#[derive(Clone, Default, Debug)]
pub struct Request {
    /// The function is printed before these.
    pub print_before: Vec<String>,
    /// The function is printed after these.
    pub print_after: Vec<String>,
    /// These do not run.
    pub disable: Vec<String>,
    /// Only so many optional passes run, counted over all functions.
    pub bisect_limit: Option<u64>,
    /// Functions are verified after every pass.
    pub verify_each: bool,
}

/// An [`Instrument`] that does what is [requested](Request).
pub struct Observer {
    request: Request,
    /// Where text goes.
    print: Box<dyn Fn(&str) + Send + Sync>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// How many optional passes were about to run.
    asked: u64,
    /// What was done within the pass that runs.
    within: Duration,
    /// Runs, changes and time by name, for passes and what is told apart from them.
    spent: BTreeMap<&'static str, Spent>,
}

/// What was spent on something.
#[derive(Copy, Clone, Default, Debug)]
struct Spent {
    runs: u64,
    changes: u64,
    skipped: u64,
    time: Duration,
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer").field("request", &self.request).finish_non_exhaustive()
    }
}

/// What stands for every pass.
const ALL: &str = "all";

impl Observer {
    /// An observer that hands what it prints to `print`.
    ///
    /// # Errors
    /// A message, if no pass has one of the names, or if a pass is to be left out that code needs.
    pub fn new(request: Request, print: impl Fn(&str) + Send + Sync + 'static) -> Result<Observer, String> {
        let find = |name: &str| all().find(|p| p.name == name).ok_or_else(|| unknown(name));
        for name in request.print_before.iter().chain(&request.print_after).filter(|n| *n != ALL) {
            find(name)?;
        }
        for name in request.disable.iter().filter(|n| *n != ALL) {
            if !find(name)?.is_optional {
                return Err(format!("pass `{name}` cannot be left out: code would not be right without it"));
            }
        }
        Ok(Observer { request, print: Box::new(print), state: Mutex::default() })
    }

    fn state<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    fn show(&self, when: &str, pass: &Info, module: &Module, func: &Function) {
        let text = print_function(module, func);
        (self.print)(&format!("; {when} {} ({}):\n{text}\n", pass.name, func.name));
    }

    /// Time by pass, in their order, with the analyses behind them: what `--time-passes` prints.
    pub fn times(&self) -> String {
        let mut text = String::from("time (ms)   share   runs  pass\n");
        let rows = self.rows();
        let total: Duration = rows.iter().map(|(_, s)| s.time).sum();
        for (name, s) in &rows {
            let share = 100.0 * s.time.as_secs_f64() / total.as_secs_f64().max(1e-12);
            let ms = s.time.as_secs_f64() * 1e3;
            let _ = writeln!(text, "{ms:9.3} {share:6.1}% {:6}  {name}", s.runs);
        }
        let _ = writeln!(text, "{:9.3}                 in all", total.as_secs_f64() * 1e3);
        text
    }

    /// How often each pass ran, changed something and was left out: what `--stats` prints.
    pub fn stats(&self) -> String {
        let mut text = String::from("  runs changes  left out  pass\n");
        for (name, s) in self.rows() {
            let _ = writeln!(text, "{:6} {:7} {:9}  {name}", s.runs, s.changes, s.skipped);
        }
        text
    }

    /// How often something ran that has this name.
    pub fn runs(&self, name: &str) -> u64 {
        self.state(|s| s.spent.get(name).map_or(0, |s| s.runs))
    }

    /// The time spent on what has this name.
    pub fn time(&self, name: &str) -> Duration {
        self.state(|s| s.spent.get(name).map_or(Duration::ZERO, |s| s.time))
    }

    /// Passes in their order, then what else was told.
    fn rows(&self) -> Vec<(&'static str, Spent)> {
        self.state(|state| {
            let mut left = state.spent.clone();
            let mut rows: Vec<_> =
                all().filter_map(|p| left.remove(p.name).map(|spent| (p.name, spent))).collect();
            rows.extend(left);
            rows
        })
    }
}

fn unknown(name: &str) -> String {
    let names: Vec<&str> = all().map(|p| p.name).collect();
    format!("there is no pass `{name}`; passes are {}, and `{ALL}` stands for all of them", names.join(", "))
}

fn names(list: &[String], pass: &Info) -> bool {
    list.iter().any(|n| n == pass.name || n == ALL)
}

impl Instrument for Observer {
    fn allows(&self, pass: &'static Info, func: &Function) -> bool {
        let (number, disabled) = self.state(|s| {
            s.asked += 1;
            (s.asked, names(&self.request.disable, pass))
        });
        let beyond = self.request.bisect_limit.is_some_and(|limit| number > limit);
        if self.request.bisect_limit.is_some() {
            let what = if disabled || beyond { "not running" } else { "running" };
            (self.print)(&format!("BISECT: {what} pass ({number}) {} on {}\n", pass.name, func.name));
        }
        if disabled || beyond {
            self.state(|s| s.spent.entry(pass.name).or_default().skipped += 1);
        }
        !disabled && !beyond
    }

    fn before(&self, pass: &'static Info, module: &Module, func: &Function) {
        if names(&self.request.print_before, pass) {
            self.show("before", pass, module, func);
        }
        self.state(|s| s.within = Duration::ZERO);
    }

    fn after(&self, pass: &'static Info, module: &Module, func: &Function, changed: bool, took: Duration) {
        self.state(|s| {
            let own = took.saturating_sub(s.within);
            let spent = s.spent.entry(pass.name).or_default();
            spent.runs += 1;
            spent.changes += u64::from(changed);
            spent.time += own;
        });
        if names(&self.request.print_after, pass) {
            self.show("after", pass, module, func);
        }
    }

    fn also_after(&self, pass: &'static Info, module: &Module, func: &Function) {
        if names(&self.request.print_after, pass) {
            self.show("after", pass, module, func);
        }
    }

    fn part(&self, name: &'static str, took: Duration) {
        self.state(|s| {
            s.within += took;
            let spent = s.spent.entry(name).or_default();
            spent.runs += 1;
            spent.time += took;
        });
    }

    fn verifies_each(&self) -> bool {
        self.request.verify_each || cfg!(debug_assertions)
    }
}
