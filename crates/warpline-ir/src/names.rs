//! What values and blocks are called in reports.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;

use super::entities::{Block, Value};
use super::function::Function;

/// The names of a function's values and blocks. What has no name in an imported function goes by the number that
/// LLVM's text form gives it: one sequence for parameters, blocks and results, in order. In other functions it goes
/// by what the text form of this IR calls it.
#[derive(Clone, Debug, Default)]
pub struct Names {
    values: SecondaryMap<Value, Option<u32>>,
    blocks: SecondaryMap<Block, Option<u32>>,
}

impl Names {
    /// The names of `func`.
    pub fn new(func: &Function) -> Names {
        let mut names = Names::default();
        if func.origin.is_none() {
            return names;
        }
        let mut numbers = 0..;
        for &p in func.params.iter().filter(|&&p| func.values[p].name.is_empty()) {
            names.values[p] = numbers.next();
        }
        for &b in &func.layout {
            if func.blocks[b].name.is_empty() {
                names.blocks[b] = numbers.next();
            }
            for inst in func.block_insts(b) {
                for &v in func.insts[inst].results.iter().filter(|&&v| func.values[v].name.is_empty()) {
                    names.values[v] = numbers.next();
                }
            }
        }
        names
    }

    /// `%name` or `%7`.
    pub fn value(&self, func: &Function, v: Value) -> String {
        self.values[v].map_or_else(|| func.value_name(v), |n| format!("%{n}"))
    }

    /// `name` or `7`.
    pub fn block(&self, func: &Function, b: Block) -> String {
        self.blocks[b].map_or_else(|| func.block_name(b), |n| n.to_string())
    }

    /// The parameters and results of a function by name, with `%`.
    pub fn values(&self, func: &Function) -> BTreeMap<String, Value> {
        let results =
            func.layout.iter().flat_map(|&b| func.block_insts(b)).flat_map(|i| func.insts[i].results.iter());
        func.params.iter().chain(results).map(|&v| (self.value(func, v), v)).collect()
    }

    /// The blocks of a function by name.
    pub fn blocks(&self, func: &Function) -> BTreeMap<String, Block> {
        func.layout.iter().map(|&b| (self.block(func, b), b)).collect()
    }
}
