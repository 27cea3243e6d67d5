//! Progress of long work: a bar on standard error, if that is a terminal.

use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar for so many pieces of work; it is seen on terminals only, and only where there are several.
pub(crate) fn bar(pieces: usize) -> ProgressBar {
    let length = pieces as u64;
    if pieces < 2 || !std::io::stderr().is_terminal() {
        return ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::hidden());
    }
    let bar = ProgressBar::new(length);
    // The template is a constant that is right.
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {wide_msg}") {
        bar.set_style(style);
    }
    bar
}
