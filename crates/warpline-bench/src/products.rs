//! `warpline-bench products`: what the facts of data-flow analyses add to the uniformity analysis, on kernels.
//!
//! Every function is analysed without facts, with what its conditions say, with constants as well, and with ranges as
//! well; what is asked for is how many values, branches and loops are uniform that were not. Functions that take no
//! part (nothing in them is divergent without facts) are counted all the same.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use warpline::ir::{FuncId, Function};
use warpline::uniformity::{Known, Options, Surroundings, Uniformity, tokens};

use crate::files::{expand, line_name, stem};
use crate::options::BenchProductsOptions;
use warpline_cli::Outcome;
use warpline_cli::cli::{CompilerOptions, TableFormat};
use warpline_cli::output;
use warpline_cli::subject::{Asked, Unit};
use warpline_cli::table::Table;
use warpline_compile::error::Result;

/// What is divergent.
#[derive(Clone, Copy, Default, Serialize)]
struct Divergent {
    values: usize,
    branches: usize,
    /// Loops that lanes leave in different iterations.
    loops: usize,
}

impl Divergent {
    fn of(func: &Function, result: &Uniformity) -> Divergent {
        let results =
            || func.layout.iter().flat_map(|&b| func.block_insts(b)).flat_map(|i| &func.insts[i].results);
        let cycles = result.cycles();
        Divergent {
            values: results().filter(|&&v| result.is_divergent(v)).count(),
            branches: func.layout.iter().filter(|&&b| result.is_divergent_branch(b)).count(),
            loops: cycles.cycles().filter(|&c| result.has_divergent_exit(c)).count(),
        }
    }

    fn add(&mut self, other: Divergent) {
        self.values += other.values;
        self.branches += other.branches;
        self.loops += other.loops;
    }
}

/// What one input, or all of them, add up to.
#[derive(Default, Serialize)]
struct Row {
    input: String,
    functions: usize,
    /// Functions in which facts made something uniform.
    improved: usize,
    values: usize,
    branches: usize,
    loops: usize,
    /// Without facts.
    plain: Divergent,
    /// With equalities that conditions state.
    conditions: Divergent,
    /// With conditional constants too, across calls.
    constants: Divergent,
    /// With ranges too.
    ranges: Divergent,
}

impl Row {
    fn add(&mut self, other: &Row) {
        self.functions += other.functions;
        self.improved += other.improved;
        self.values += other.values;
        self.branches += other.branches;
        self.loops += other.loops;
        self.plain.add(other.plain);
        self.conditions.add(other.conditions);
        self.constants.add(other.constants);
        self.ranges.add(other.ranges);
    }

    fn cells(&self) -> Vec<String> {
        let steps = [self.plain, self.conditions, self.constants, self.ranges];
        let numbers = |of: fn(&Divergent) -> usize| steps.iter().map(move |d| of(d).to_string());
        let mut cells = vec![self.input.clone(), self.functions.to_string(), self.improved.to_string()];
        cells.push(self.values.to_string());
        cells.extend(numbers(|d| d.values));
        cells.push(self.branches.to_string());
        cells.extend(numbers(|d| d.branches));
        cells.push(self.loops.to_string());
        cells.extend(numbers(|d| d.loops));
        cells
    }
}

/// Runs the command.
///
/// # Errors
/// Whatever is wrong with inputs and options.
pub(crate) fn products(options: &BenchProductsOptions) -> Result<Outcome> {
    let mut rows: Vec<Row> = Vec::new();
    for path in expand(&options.inputs)? {
        let row = input(&path, options)?;
        let name = line_name(&row.input, options.by_program).to_owned();
        match rows.last_mut() {
            Some(last) if options.by_program && last.input == name => last.add(&row),
            _ => rows.push(Row { input: name, ..row }),
        }
    }
    let mut total = Row { input: "total".into(), ..Row::default() };
    rows.iter().for_each(|row| total.add(row));
    if options.format == TableFormat::Json {
        rows.push(total);
        output::print(&output::json(&rows))?;
        return Ok(Outcome::Clean);
    }
    let steps = ["divergent", "conditions", "constants", "ranges"];
    let mut headings = vec!["input", "functions", "improved"];
    for kind in ["values", "branches", "loops"] {
        headings.push(kind);
        headings.extend(steps);
    }
    let mut table = Table::new(1, &headings);
    rows.iter().chain([&total]).for_each(|row| table.row(row.cells()));
    output::print(&match options.format {
        TableFormat::Markdown => table.markdown(),
        _ => table.text(),
    })?;
    Ok(Outcome::Clean)
}

fn input(path: &Path, options: &BenchProductsOptions) -> Result<Row> {
    let unit = Unit::open(path, options.target, &CompilerOptions::default())?;
    let mut row = Row { input: stem(path), ..Row::default() };
    for id in unit.functions(None)? {
        function(&unit, id, options, &mut row)?;
    }
    Ok(row)
}

fn function(unit: &Unit, id: FuncId, options: &BenchProductsOptions, row: &mut Row) -> Result<()> {
    let (ir, func) = (&unit.imported.ir, &unit.imported.ir.functions[id]);
    let plain = unit.options(id, &Asked::default())?;
    let first = Uniformity::compute(ir, func, &plain);
    if func.layout.is_empty() || tokens::check(ir, func, first.cycles()).is_err() {
        return Ok(());
    }
    let given = unit.options(id, &Asked { work_group: options.work_group, ..Asked::default() })?;
    let divergent = |known: Known| {
        let options = Options { known: Some(Arc::new(known)), ..given.clone() };
        Divergent::of(func, &Uniformity::compute(ir, func, &options))
    };
    let constants = unit.constants(id);
    let surroundings =
        Surroundings { module: ir, func, target: given.target, facts: &given.facts, constants };
    let found = [
        Divergent::of(func, &first),
        divergent(Known::of_conditions(func)),
        divergent(Known::of_constants(surroundings)),
        divergent(Known::of(surroundings)),
    ];
    let insts = func.layout.iter().flat_map(|&b| func.block_insts(b));
    row.functions += 1;
    row.improved += usize::from(found[3].values < found[0].values || found[3].branches < found[0].branches);
    row.values += insts.map(|i| func.insts[i].results.len()).sum::<usize>();
    row.branches += func.layout.iter().filter(|&&b| func.out_edges(b).len() > 1).count();
    row.loops += first.cycles().cycles().count();
    row.plain.add(found[0]);
    row.conditions.add(found[1]);
    row.constants.add(found[2]);
    row.ranges.add(found[3]);
    Ok(())
}
