//! What is reported of bit widths.

use std::fmt::Write as _;

use serde::Serialize;

use crate::report::Report;
use warpline_ir::{Function, Value};

/// The widths of one integer, in bits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ValueWidth {
    /// The value.
    pub name: String,
    /// Of its type.
    pub declared: u32,
    /// That its range fits, as an unsigned or as a signed number; 0 if it is always 0 or never computed.
    pub known: u32,
    /// Up to the highest bit that somebody looks at.
    pub demanded: u32,
    /// The less of both.
    pub needed: u32,
}

/// The bit widths of one function.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct BitWidthsReport {
    /// The integers that need fewer bits than they have: parameters, then results in the order of the code.
    pub values: Vec<ValueWidth>,
    /// How many integers there are.
    pub integers: usize,
    /// How many bits they have.
    pub declared_bits: u64,
    /// How many bits they need.
    pub needed_bits: u64,
}

impl BitWidthsReport {
    /// The report on all parameters and results of a function.
    pub fn new(func: &Function, width: impl Fn(Value) -> Option<ValueWidth>) -> BitWidthsReport {
        let insts = func.layout.iter().flat_map(|&b| func.block_insts(b));
        let results = insts.flat_map(|i| func.insts[i].results.iter().copied());
        let mut report = BitWidthsReport::default();
        for w in func.params.iter().copied().chain(results).filter_map(width) {
            report.integers += 1;
            report.declared_bits += u64::from(w.declared);
            report.needed_bits += u64::from(w.needed);
            if w.needed < w.declared {
                report.values.push(w);
            }
        }
        report
    }
}

impl Report for BitWidthsReport {
    fn write_text(&self, out: &mut String) {
        for v in &self.values {
            let _ = writeln!(
                out,
                "  {}: {} of {} bits (its range fits {}, {} are looked at)",
                v.name, v.needed, v.declared, v.known, v.demanded
            );
        }
        if self.integers > 0 {
            let _ = writeln!(
                out,
                "  {} integers need {} of {} bits",
                self.integers, self.needed_bits, self.declared_bits
            );
        }
    }
}
