//! A kernel runs in a process of its own: where it faults, the program says so instead of dying.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitCode};

/// The verb as the supervised process sees it.
const CHILD_VERB: &str = "__run";

/// What this process is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Role {
    /// It starts the one that runs the kernel.
    Parent,
    /// It runs the kernel.
    Child,
    /// There is no kernel to be run.
    Neither,
}

/// Finds out what this process is; for the child, the arguments become the user's.
pub fn role(arguments: &mut [OsString]) -> Role {
    match arguments.get_mut(1) {
        Some(verb) if verb == "run" => Role::Parent,
        Some(verb) if verb == CHILD_VERB => {
            *verb = "run".into();
            Role::Child
        }
        _ => Role::Neither,
    }
}

/// Runs the command in another process and passes its exit code on.
pub fn supervise(arguments: &[OsString]) -> ExitCode {
    let status = std::env::current_exe()
        .and_then(|program| Command::new(program).arg(CHILD_VERB).args(arguments.iter().skip(2)).status());
    let message = match status {
        Err(error) => format!("cannot start this program again: {error}"),
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => return ExitCode::from(u8::try_from(code).unwrap_or(2)),
            (None, Some(4)) => {
                "the kernel was stopped (illegal instruction): does this machine have what --cpu names?"
                    .to_owned()
            }
            (None, Some(7 | 11)) => {
                "the kernel was stopped (bad memory access): are the buffers large enough for every \
                                     index of the range?"
                    .to_owned()
            }
            (None, Some(8)) => {
                "the kernel was stopped (division by zero or overflow of a division)".to_owned()
            }
            (None, signal) => format!("the kernel was stopped by signal {}", signal.unwrap_or(0)),
        },
    };
    crate::output::complain(&format!("error: {message}"));
    ExitCode::from(2)
}
