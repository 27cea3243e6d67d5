//! What values and blocks are called in reports.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;

use super::entities::{Block, Value};
use super::function::Function;

/// The names of a function's values and blocks. What has no name in an imported function goes by the number that
/// LLVM's text form gives it: one sequence for parameters, blocks and results, in order. In other functions it goes
/// by what the text form of this IR calls it. A value without a name that is a variable of the source goes by that:
/// `i`, and `i#2` where there are several.
#[derive(Clone, Debug, Default)]
pub struct Names {
    values: SecondaryMap<Value, Option<u32>>,
    blocks: SecondaryMap<Block, Option<u32>>,
    variables: SecondaryMap<Value, Option<Box<str>>>,
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
        names.add_variables(func);
        names
    }

    fn add_variables(&mut self, func: &Function) {
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        let results =
            func.layout.iter().flat_map(|&b| func.block_insts(b)).flat_map(|i| func.insts[i].results.iter());
        for &v in func.params.iter().chain(results) {
            let Some(name) = func.source_names[v].as_deref().filter(|_| self.values[v].is_some()) else {
                continue;
            };
            let count = counts.entry(name).or_default();
            *count += 1;
            self.variables[v] = Some(match count {
                1 => name.into(),
                n => format!("{name}#{n}").into(),
            });
        }
    }

    /// `%name`, `%7`, or the name of a variable of the source.
    pub fn value(&self, func: &Function, v: Value) -> String {
        if let Some(name) = &self.variables[v] {
            return name.to_string();
        }
        self.values[v].map_or_else(|| func.value_name(v), |n| format!("%{n}"))
    }

    /// `name` or `7`.
    pub fn block(&self, func: &Function, b: Block) -> String {
        self.blocks[b].map_or_else(|| func.block_name(b), |n| n.to_string())
    }

    /// The parameters and results of a function by name, with `%`; those that go by a variable by its name, and by
    /// LLVM's number, too.
    pub fn values(&self, func: &Function) -> BTreeMap<String, Value> {
        let results =
            func.layout.iter().flat_map(|&b| func.block_insts(b)).flat_map(|i| func.insts[i].results.iter());
        let all = func.params.iter().chain(results);
        let spellings = |&v: &Value| {
            let variable = self.variables[v].is_some();
            let number = self.values[v].filter(|_| variable).map(|n| (format!("%{n}"), v));
            let with_sign = variable.then(|| (format!("%{}", self.value(func, v)), v));
            [Some((self.value(func, v), v)), number, with_sign].into_iter().flatten()
        };
        all.flat_map(spellings).collect()
    }

    /// The blocks of a function by name.
    pub fn blocks(&self, func: &Function) -> BTreeMap<String, Block> {
        func.layout.iter().map(|&b| (self.block(func, b), b)).collect()
    }
}
