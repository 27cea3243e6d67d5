//! Places in source code, for reports.

use serde::Serialize;

use crate::printable::line;
use crate::{Block, Function, Loc, Module};

/// A place in source code.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Place {
    /// The file, as the front end wrote it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 if unknown.
    pub column: u32,
}

impl Place {
    /// The place of a location in a function: of code that was inlined into it from another file, the place of the
    /// call in the function's own file. None if no line is known.
    pub fn of(module: &Module, func: &Function, loc: Option<Loc>) -> Option<Place> {
        let own = func.loc.expand().map(|l| &module.locations[l].file);
        let mut around = std::iter::successors(loc, |&l| module.locations[l].inlined_at);
        let l = around.clone().map(|l| &module.locations[l]).find(|l| l.line > 0 && Some(&l.file) == own);
        let l = l.or_else(|| around.next().map(|l| &module.locations[l]).filter(|l| l.line > 0))?;
        Some(Place { file: l.file.to_string(), line: l.line, column: l.column })
    }

    /// Where a block begins: its first instruction that has a place in the function's own file, or any place.
    pub fn of_block(module: &Module, func: &Function, block: Block) -> Option<Place> {
        let own = func.loc.expand().map(|l| &*module.locations[l].file);
        let places =
            || func.block_insts(block).filter_map(|i| Place::of(module, func, func.insts[i].loc.expand()));
        places().find(|p| Some(&*p.file) == own).or_else(|| places().next())
    }

    /// `file:line`, with the file's name only.
    pub fn short(&self) -> String {
        let name = self.file.rsplit(['/', '\\']).next().unwrap_or_default();
        format!("{}:{}", line(name), self.line)
    }
}

/// `file:line:column`, or `file:line` if no column is known.
impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.column {
            0 => write!(f, "{}:{}", line(&self.file), self.line),
            column => write!(f, "{}:{}:{column}", line(&self.file), self.line),
        }
    }
}
