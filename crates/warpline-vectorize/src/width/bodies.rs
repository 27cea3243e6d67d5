//! How large the functions are that a kernel calls: those that have a body become vector code, too.

use std::collections::BTreeMap;

use warpline_ir::{Function, Module, Op, Symbol};

/// The functions with a body that are called, and of how many instructions each is.
pub(super) struct Bodies(BTreeMap<Symbol, f64>);

impl Bodies {
    pub(super) fn of(module: &Module, func: &Function) -> Bodies {
        let insts = func.layout.iter().flat_map(|&b| &func.blocks[b].insts);
        let callees = insts.filter_map(|&i| match &func.insts[i].op {
            Op::Call(info) => info.callee,
            _ => None,
        });
        let mut sizes = BTreeMap::new();
        for symbol in callees {
            sizes.entry(symbol).or_insert_with(|| {
                let name = &module.symbols[symbol].name;
                let body = if name.starts_with("llvm.") { None } else { module.function(name) };
                body.map(|id| {
                    let body = &module.functions[id];
                    body.layout.iter().map(|&b| body.blocks[b].insts.len()).sum::<usize>() as f64
                })
            });
        }
        Bodies(sizes.into_iter().filter_map(|(symbol, size)| Some((symbol, size?))).collect())
    }

    /// The instructions of a function with a body, if it has one.
    pub(super) fn size(&self, callee: Option<Symbol>) -> Option<f64> {
        self.0.get(&callee?).copied()
    }
}
