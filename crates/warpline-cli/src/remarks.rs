//! Performance remarks of `vectorize`: on standard error, in a file of optimization records, in reports.

use serde_json::{Value, json};
use warpline::vectorize::width::remarks::Remark;
use warpline_compile::remarks::{self, Remarked};

use crate::cli::{Format, RemarkMode, VectorizeOptions};
use crate::error::Result;
use crate::output::{self, Outputs};

/// Whether anybody reads remarks.
pub(crate) fn are_wanted(options: &VectorizeOptions) -> bool {
    options.remarks.remarks_file.is_some() || are_shown(options) || is_reported(options)
}

/// Whether they are printed.
fn are_shown(options: &VectorizeOptions) -> bool {
    match options.remarks.remarks {
        RemarkMode::None => false,
        RemarkMode::All => true,
        RemarkMode::Worst => !options.report.quiet && options.report.format == Format::Text,
    }
}

/// Whether the report has them.
fn is_reported(options: &VectorizeOptions) -> bool {
    options.report.format == Format::Json && options.remarks.remarks != RemarkMode::None
}

/// Adds the file of records, if it is asked for.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn add(outputs: &mut Outputs, options: &VectorizeOptions, all: &[Remarked]) -> Result<()> {
    match &options.remarks.remarks_file {
        Some(path) => outputs.add(path, remarks::optimization_records(all).as_bytes()),
        None => Ok(()),
    }
}

/// Prints them to standard error.
pub(crate) fn show(options: &VectorizeOptions, all: &[Remarked]) {
    if !are_shown(options) {
        return;
    }
    match options.remarks.remarks {
        RemarkMode::All => all.iter().for_each(|one| {
            one.remarks.iter().for_each(|remark| {
                let names = format!("{} {}", remark.kind.name(), remark.name.name());
                output::complain(&format!("remark: {names}: {}", one.describe(remark)));
            });
        }),
        _ => remarks::worst(all).iter().for_each(|text| output::complain(&format!("remark: {text}"))),
    }
    let without: Vec<&str> =
        all.iter().filter(|one| one.lacks_lines()).map(|one| one.function.as_str()).collect();
    if !without.is_empty() {
        let functions = without.join(", ");
        output::complain(&format!("remark: no lines are known of {functions}: compile with -g to see them"));
    }
}

/// Remarks as data.
pub(crate) fn as_json(all: &Remarked) -> Value {
    all.remarks.iter().map(remark_as_json).collect()
}

fn remark_as_json(remark: &Remark) -> Value {
    let place = remark
        .place
        .as_ref()
        .map(|place| json!({ "file": place.file, "line": place.line, "column": place.column }));
    let cost =
        remark.cost.map(|cost| json!({ "lane": cost.lane, "vector": cost.vector, "share": cost.share }));
    json!({
        "kind": remark.kind.name(),
        "name": remark.name.name(),
        "place": place,
        "message": remark.message,
        "advice": remark.advice,
        "cycles": cost,
    })
}
