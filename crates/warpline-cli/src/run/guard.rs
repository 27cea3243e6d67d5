//! A kernel runs in a process of its own. However it ends that process, it is reported: the child says over a channel
//! what it does and with which exit code it is done, and a child that ends without that is a finding.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;
use warpline_llvm::child::{self, BEGINS, DONE, FINDING, RETURNED};

use crate::cli::{Format, RunOptions};
use crate::error::Error;
use crate::output::{self, progress};

/// The first argument of the supervised process; the second is the number of its channel.
const CHILD_VERB: &str = "__run";

/// How often a child is looked at that keeps its channel open.
const GLANCE: Duration = Duration::from_millis(50);

/// How long a child that has ended is listened to, if its channel stays open.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// The longest line that a child may write, in bytes.
const LONGEST_LINE: u64 = 1 << 16;

/// Whether this process is to run a kernel for another, to which the channel is opened then; the arguments become the
/// user's.
pub fn is_child(arguments: &mut Vec<OsString>) -> bool {
    if arguments.get(1).is_none_or(|verb| verb != CHILD_VERB) || arguments.len() < 3 {
        return false;
    }
    let number = arguments.drain(1..3).nth(1).and_then(|n| n.to_str()?.parse().ok());
    number.is_some_and(child::open_channel)
}

/// Tells the parent that all work is done.
pub fn done(code: u8) {
    child::tell(DONE, &code.to_string());
}

/// Runs code of the user's. The parent is told before and after, so that it can say what ended the process, and end
/// what does not end.
pub fn watched<T>(program: &str, code: impl FnOnce() -> T) -> T {
    // It may print.
    progress::without(|| {
        begins(program);
        let result = code();
        child::tell(RETURNED, "");
        result
    })
}

/// The function that is run, and whether data was made up for it.
static SUBJECT: Mutex<Option<(String, bool)>> = Mutex::new(None);

/// Says which function is run from now on, for what is said if it does not end.
pub fn runs(function: &str, data_is_made_up: bool) {
    *SUBJECT.lock().unwrap_or_else(PoisonError::into_inner) = Some((function.to_owned(), data_is_made_up));
}

/// Says that a program of the user's begins, or another one after it.
pub fn begins(program: &str) {
    let subject = SUBJECT.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let said = match subject {
        None => program.to_owned(),
        Some((function, false)) => format!("{program} of `{function}`"),
        Some((function, true)) => format!("{program} of `{function}`{MADE_UP}"),
    };
    child::tell(BEGINS, &said);
}

/// What is said of a program that runs on such data.
const MADE_UP: &str = ", on data that was made up,";

/// What a child has said so far.
#[derive(Default)]
struct Heard {
    /// The program of the user's that runs now, and since when.
    running: Option<(String, Instant)>,
    /// The last program that ran.
    last: Option<String>,
    /// The exit code, if it is done.
    code: Option<u8>,
    /// What it found before it ended itself.
    finding: Option<String>,
}

impl Heard {
    fn line(&mut self, line: &str) {
        if let Some(program) = line.strip_prefix(BEGINS) {
            self.running = Some((program.to_owned(), Instant::now()));
            self.last = Some(program.to_owned());
        } else if line == RETURNED {
            self.running = None;
        } else if let Some(code) = line.strip_prefix(DONE) {
            self.code = code.parse().ok();
        } else if let Some(finding) = line.strip_prefix(FINDING) {
            self.finding = Some(finding.to_owned());
        }
    }
}

/// How a child ended.
enum End {
    /// By itself.
    Itself(ExitStatus),
    /// It was ended because the program of the user's took too long.
    TooLong(String),
}

/// Runs the command in another process and gives its exit code. A program of the user's may take `timeout` seconds;
/// 0 for any time.
pub fn supervise(arguments: &[OsString], options: &RunOptions) -> u8 {
    let timeout = options.timeout;
    let (code, message) = match attempt(arguments, timeout) {
        Ok((End::Itself(status), heard)) => verdict(status, &heard),
        Ok((End::TooLong(program), _)) => {
            let remedy =
                if program.ends_with(MADE_UP) { "say what is passed by --bind, or see" } else { "see" };
            (1, Some(format!("{program} did not end within {timeout} s; {remedy} --timeout")))
        }
        Err(error) => (2, Some(format!("cannot start this program again: {error}"))),
    };
    if let Some(message) = message {
        progress::clear_line();
        output::complain(&format!("error: {message}"));
        if options.report.format == Format::Json && code == 1 {
            let report = output::json(&json!({ "finding": message }));
            if let Err(error) = output::print(&report) {
                output::complain(&format!("error: {error}"));
                return 2;
            }
        }
    }
    code
}

fn attempt(arguments: &[OsString], timeout: u64) -> std::io::Result<(End, Heard)> {
    let mut command = Command::new(std::env::current_exe()?);
    let listener = child::listen_to(&mut command)?;
    command.arg(CHILD_VERB).arg(listener.number.to_string()).args(arguments.iter().skip(1));
    child::bind(&mut command);
    let mut child = command.spawn()?;
    let lines = listener.started();
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut lines = BufReader::new(lines);
        let mut line = Vec::new();
        // What is no line of ours comes from a kernel that writes where it should not.
        while (&mut lines).take(LONGEST_LINE).read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            line.clear();
            if sender.send(text).is_err() {
                return;
            }
        }
    });
    let limit = (timeout > 0).then(|| Duration::from_secs(timeout));
    follow(&mut child, &receiver, limit)
}

/// Listens to a child until it ends, or ends it.
fn follow(
    child: &mut Child,
    lines: &Receiver<String>,
    limit: Option<Duration>,
) -> std::io::Result<(End, Heard)> {
    let mut heard = Heard::default();
    loop {
        match lines.recv_timeout(GLANCE) {
            Ok(line) => heard.line(&line),
            Err(RecvTimeoutError::Timeout) => {
                if let Some(status) = child.try_wait()? {
                    return Ok((End::Itself(status), rest(heard, lines)));
                }
            }
            // It has closed its end, which the end of the process does, but also a kernel may do.
            Err(RecvTimeoutError::Disconnected) => {
                if let Some(status) = child.try_wait()? {
                    return Ok((End::Itself(status), heard));
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        if let (Some((program, since)), Some(limit)) = (&heard.running, limit)
            && since.elapsed() > limit
        {
            child.kill()?;
            child.wait()?;
            return Ok((End::TooLong(program.clone()), heard));
        }
    }
}

/// What a child that has ended had still to say. Its last words may take a while on a machine that is busy, and a copy
/// of it may keep the channel open, so the wait ends with the words that end a report, or with patience.
fn rest(mut heard: Heard, lines: &Receiver<String>) -> Heard {
    let ended = Instant::now();
    loop {
        let complete = heard.code.is_some() || heard.finding.is_some();
        let patience = if complete { Duration::ZERO } else { LAST_WORDS.saturating_sub(ended.elapsed()) };
        match lines.recv_timeout(patience) {
            Ok(line) => heard.line(&line),
            Err(_) => return heard,
        }
    }
}

/// The exit code, and what there is to say.
fn verdict(status: ExitStatus, heard: &Heard) -> (u8, Option<String>) {
    if let Some(finding) = &heard.finding {
        return (1, Some(finding.clone()));
    }
    if let (Some(code), Some(_)) = (heard.code, status.code()) {
        return (code, None);
    }
    let how = match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended the process with exit code {code}"),
        (None, Some(4)) => {
            "was stopped (illegal instruction or trap): does this machine have what --cpu names?".to_owned()
        }
        (None, Some(6)) => "was stopped (abort, or its stack overflowed)".to_owned(),
        (None, Some(7 | 11)) => {
            "was stopped (bad memory access, or its stack overflowed): are the buffers large \
                                 enough for every index of the range?"
                .to_owned()
        }
        (None, Some(8)) => "was stopped (division by zero or overflow of a division)".to_owned(),
        (None, signal) => format!("was stopped by signal {}", signal.unwrap_or(0)),
    };
    match (&heard.running, &heard.last) {
        (Some((program, _)), _) => (1, Some(format!("{program} {how}"))),
        (None, Some(program)) => (1, Some(format!("the process {how}, after {program} had returned"))),
        (None, None) if matches!(status.signal(), Some(6 | 9)) => (
            2,
            Some(format!(
                "the process {how} before the kernel ran, perhaps for want of memory; see --memory"
            )),
        ),
        (None, None) => {
            let error = Error::Internal(format!("the process {how} before the kernel ran"));
            (3, Some(error.to_string()))
        }
    }
}
