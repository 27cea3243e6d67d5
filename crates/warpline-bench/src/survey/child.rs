//! Programs that are run with a limit of time.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The name under which this program is `warpline`.
const WARPLINE: &str = "warpline";

/// How a program ended, and what it printed.
pub(crate) struct Ended {
    /// None if a signal ended it, or it did not start.
    pub code: Option<i32>,
    /// Whether it took too long.
    pub late: bool,
    pub stdout: String,
    pub stderr: String,
}

/// This program as `warpline`: the same build in any case.
pub(crate) fn as_warpline() -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap_or_else(|_| WARPLINE.into()));
    command.arg0(WARPLINE);
    command
}

/// Whether this program was started as `warpline`.
pub(crate) fn is_warpline() -> bool {
    std::env::args_os().next().is_some_and(|name| name == WARPLINE)
}

/// Runs a program, and ends it after so many seconds.
pub(crate) fn run(command: &mut Command, seconds: u64) -> Ended {
    let failed = |reason: String| Ended { code: None, late: false, stdout: String::new(), stderr: reason };
    let files = (tempfile::tempfile(), tempfile::tempfile());
    let (Ok(mut out), Ok(mut err)) = files else { return failed("there is no temporary file".to_owned()) };
    let (Ok(to_out), Ok(to_err)) = (out.try_clone(), err.try_clone()) else {
        return failed("there is no temporary file".to_owned());
    };
    let started = command.stdin(Stdio::null()).stdout(to_out).stderr(to_err).spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) => return failed(format!("{}: {error}", command.get_program().display())),
    };
    let end = Instant::now() + Duration::from_secs(seconds);
    let (code, late) = loop {
        match child.try_wait() {
            Ok(Some(status)) => break (status.code(), false),
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(3)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                break (None, true);
            }
        }
    };
    Ended { code, late, stdout: contents(&mut out), stderr: contents(&mut err) }
}

/// What has been written to a file.
fn contents(file: &mut std::fs::File) -> String {
    use std::io::{Read as _, Seek as _};
    let mut bytes = Vec::new();
    let _ = file.rewind().and_then(|()| file.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}
