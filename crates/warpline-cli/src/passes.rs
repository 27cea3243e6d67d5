//! Looking inside: options that print, time, count and leave out the vectorizer's passes.

use std::sync::OnceLock;

use clap::Args;
use warpline::vectorize::passes::{Instrument, Observer, PASSES, Request};
use warpline_llvm::did_you_mean;

use crate::error::{Error, Result};
use crate::output::{self, progress};

/// What is shown of passes, and which run.
#[derive(Args)]
#[command(next_help_heading = "Passes")]
pub struct PassOptions {
    /// Print the function before these passes (`all` for each)
    #[arg(long, value_name = "PASS", value_delimiter = ',')]
    pub print_before: Vec<String>,
    /// Print the function after these passes (`all` for each)
    #[arg(long, value_name = "PASS", value_delimiter = ',')]
    pub print_after: Vec<String>,
    /// Leave these passes out; only those that code does not need
    #[arg(long, value_name = "PASS", value_delimiter = ',')]
    pub disable_pass: Vec<String>,
    /// Run only the first N of all passes that code does not need, and say which
    #[arg(long, value_name = "N")]
    pub opt_bisect_limit: Option<u64>,
    /// Verify functions after every pass
    #[arg(long)]
    pub verify_each: bool,
    /// Print how long passes and analyses took
    #[arg(long)]
    pub time_passes: bool,
    /// Print how often passes ran, changed something and were left out
    #[arg(long)]
    pub stats: bool,
}

/// The observer of this process, if anything is to be observed.
static OBSERVER: OnceLock<Observer> = OnceLock::new();

impl PassOptions {
    /// Begins to observe passes as asked. Once for a process.
    ///
    /// # Errors
    /// If a name is none of a pass, or of one that cannot be left out.
    pub fn begin(&self) -> Result<()> {
        let shows =
            !self.print_before.is_empty() || !self.print_after.is_empty() || self.time_passes || self.stats;
        let changes = !self.disable_pass.is_empty() || self.opt_bisect_limit.is_some() || self.verify_each;
        if !shows && !changes {
            return Ok(());
        }
        let named = self.print_before.iter().chain(&self.print_after).chain(&self.disable_pass);
        for name in named {
            let near = did_you_mean(name, PASSES.iter().map(|pass| pass.info.name));
            if name != "all" && !near.is_empty() && PASSES.iter().all(|pass| pass.info.name != name) {
                let message = format!("there is no pass `{name}`{near}");
                return Err(Error::option("--print-after, --print-before, --disable-pass", message));
            }
        }
        let request = Request {
            print_before: self.print_before.clone(),
            print_after: self.print_after.clone(),
            disable: self.disable_pass.clone(),
            bisect_limit: self.opt_bisect_limit,
            verify_each: self.verify_each,
        };
        let observer = Observer::new(request, |text| output::complain(text.trim_end()))
            .map_err(|message| Error::option("--print-after, --print-before, --disable-pass", message))?;
        let _ = OBSERVER.set(observer);
        Ok(())
    }

    /// Prints what was found out.
    pub fn end(&self) {
        let Some(observer) = OBSERVER.get() else { return };
        if self.time_passes {
            output::complain(observer.times().trim_end());
        }
        if self.stats {
            output::complain(observer.stats().trim_end());
        }
    }
}

/// Who is told of passes.
pub(crate) fn instrument() -> &'static dyn Instrument {
    match OBSERVER.get() {
        Some(observer) => observer,
        None => &progress::Passes,
    }
}
