//! The forms into which live ranges can be split, by name.

use warpline_analysis::dataflow::Program;
use warpline_analysis::ssi::{Direction, Kind, NAMED, NamedStrategy, Ssi, singer_ssi, ssify};

use crate::table::Table;

/// The name of Singer's form.
const SINGER: &str = "singer";

/// What can be asked for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Form {
    /// A list of all forms.
    List,
    /// That of a strategy.
    Of(&'static NamedStrategy),
    /// SSI form by Singer's construction, which paper 4 compares with.
    Singer,
}

impl Form {
    /// What is meant by a name.
    pub fn from_name(name: &str) -> Option<Form> {
        match name {
            "list" => Some(Form::List),
            SINGER => Some(Form::Singer),
            _ => NAMED.iter().find(|row| row.name == name).map(Form::Of),
        }
    }

    /// All names.
    pub fn names() -> Vec<&'static str> {
        NAMED.iter().map(|row| row.name).chain([SINGER, "list"]).collect()
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Form::List => "list",
            Form::Of(row) => row.name,
            Form::Singer => SINGER,
        }
    }

    /// The split live ranges of a program. Those of a list are not split.
    pub fn split(self, program: &Program) -> Ssi {
        match self {
            Form::List => Ssi::unsplit(program),
            Form::Of(row) => ssify(program, &row.strategy),
            Form::Singer => singer_ssi(program),
        }
    }
}

/// All forms: where they split, for which problems, and whose they are.
pub fn list() -> Table {
    let mut table = Table::new(5, &["name", "splits at", "problem", "information", "reference"]);
    for row in NAMED {
        let kind = match row.kind {
            Kind::PartitionedVariable => "partitioned variable",
            Kind::PartitionedLattice => "partitioned lattice",
        };
        let direction = match row.direction {
            Direction::Forward => "forward",
            Direction::Backward => "backward",
            Direction::Both => "both ways",
        };
        let cells = [row.name, &row.strategy.notation(), kind, direction, row.reference];
        table.row(cells.map(str::to_owned).to_vec());
    }
    let singer =
        [SINGER, "wherever definitions meet or uses part", "", "", "Singer 2006; the baseline of paper 4"];
    table.row(singer.map(str::to_owned).to_vec());
    table
}
