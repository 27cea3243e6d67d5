//! Tables of costs: text, a line for each row, made by `warpline-bench machine`.
//!
//! ```text
//! operation element bits throughput latency source
//! add       f32     256  0.50       3.02    llvm-mca
//! ```
//!
//! `scalar` in the place of bits is scalar code, `-` a figure that is not known. What stands behind `#` is a comment.
//! A later line for the same row replaces an earlier one.

use std::fmt;

use crate::lanes::Lanes;
use crate::operation::{Cost, Element, Op};

/// Sizes of vectors that tables have rows for, in bits.
const SIZES: [u32; 3] = [128, 256, 512];

/// A row of a table.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// Cycles until the next independent operation can begin.
    pub throughput: f64,
    /// Cycles until the result is there, if that is known.
    pub latency: Option<f64>,
    /// Where the figures come from.
    pub source: String,
}

/// What the operations of a CPU cost.
#[derive(Clone, PartialEq)]
pub struct Table {
    cpu: String,
    /// By [`place`]: cost models look rows up for each instruction.
    rows: Vec<Option<Row>>,
}

/// The place of a row; `None` if tables have no rows for vectors of so many bits.
fn place(op: Op, element: Element, bits: Option<u32>) -> Option<usize> {
    let size = match bits {
        None => 0,
        Some(bits) => 1 + SIZES.iter().position(|&size| size == bits)?,
    };
    Some((op as usize * Element::ALL.len() + element as usize) * (1 + SIZES.len()) + size)
}

impl Table {
    /// Reads tables one after the other.
    ///
    /// # Errors
    /// With the line that is no row.
    pub fn read(cpu: &str, texts: &[&str]) -> Result<Table, String> {
        let mut rows = vec![None; Op::ALL.len() * Element::ALL.len() * (1 + SIZES.len())];
        for line in texts.iter().flat_map(|text| text.lines()) {
            let plain = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = plain.split_whitespace().collect();
            if words.is_empty() || words[0] == "operation" {
                continue;
            }
            let (place, row) = read_row(&words).ok_or_else(|| format!("{cpu}: no row: {line}"))?;
            rows[place] = Some(row);
        }
        Ok(Table { cpu: cpu.to_owned(), rows })
    }

    /// The name of the CPU.
    #[must_use]
    pub fn cpu(&self) -> &str {
        &self.cpu
    }

    /// Its rows, by operation, element and bits; no bits stand for scalar code.
    pub fn rows(&self) -> impl Iterator<Item = (Op, Element, Option<u32>, &Row)> {
        let sizes = || std::iter::once(None).chain(SIZES.map(Some));
        let keys = Op::ALL.iter().flat_map(move |&op| {
            Element::ALL.into_iter().flat_map(move |element| sizes().map(move |bits| (op, element, bits)))
        });
        keys.filter_map(|(op, element, bits)| Some((op, element, bits, self.row(op, element, bits)?)))
    }

    /// The row of an operation, if there is one.
    #[must_use]
    pub fn row(&self, op: Op, element: Element, bits: Option<u32>) -> Option<&Row> {
        self.rows.get(place(op, element, bits)?)?.as_ref()
    }

    /// Whether there is a row for vectors.
    #[must_use]
    pub fn has_vectors(&self, op: Op, element: Element) -> bool {
        SIZES.iter().any(|&bits| self.row(op, element, Some(bits)).is_some())
    }

    /// What an operation costs on all of so many lanes with registers of so many bits, if there are instructions for
    /// it. What fills several registers is done once for each, in registers of the size that is fastest. A latency
    /// that is not known is the throughput.
    #[must_use]
    pub fn cost(&self, op: Op, element: Element, lanes: Lanes, register_bits: u32) -> Option<Cost> {
        if lanes == Lanes::ONE {
            return self.row(op, element, None).map(|row| cost(row, 1));
        }
        let bits = lanes.min().saturating_mul(element.bits());
        let sizes = SIZES.iter().filter(|&&size| size <= register_bits);
        let costs =
            sizes.filter_map(|&size| Some(cost(self.row(op, element, Some(size))?, bits.div_ceil(size))));
        let least =
            |a: &Cost, b: &Cost| a.throughput.total_cmp(&b.throughput).then(a.latency.total_cmp(&b.latency));
        costs.min_by(least)
    }
}

/// What so many operations cost, one after the other.
fn cost(row: &Row, times: u32) -> Cost {
    let throughput = row.throughput * f64::from(times);
    let latency = row.latency.unwrap_or(row.throughput);
    Cost { throughput, latency: latency + throughput - row.throughput }
}

/// A row and its place.
fn read_row(words: &[&str]) -> Option<(usize, Row)> {
    let &[op, element, bits, throughput, latency, ref source @ ..] = words else { return None };
    let op = Op::ALL.iter().copied().find(|known| known.name() == op)?;
    let element = Element::ALL.into_iter().find(|known| known.name() == element)?;
    let bits = match bits {
        "scalar" => None,
        bits => Some(bits.parse().ok()?),
    };
    let number = |word: &str| word.parse::<f64>().ok().filter(|n| n.is_finite() && *n > 0.0);
    let latency = if latency == "-" { None } else { Some(number(latency)?) };
    let row = Row { throughput: number(throughput)?, latency, source: source.join(" ") };
    (!row.source.is_empty()).then_some((place(op, element, bits)?, row))
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({})", self.cpu)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_rows_replace_earlier_ones_and_comments_are_left_out() {
        let texts = ["# a table\nadd i32 128 0.5 1 here\n", "add i32 128 0.25 - there # 0.5\n"];
        let table = Table::read("cpu", &texts).expect("they are tables");
        let row = table.row(Op::Add, Element::I32, Some(128)).expect("it is there");
        assert_eq!((row.throughput, row.latency, &*row.source), (0.25, None, "there"));
    }

    #[test]
    fn what_is_no_row_is_an_error() {
        for line in ["add", "add i32 100 1 1 x", "add i32 128 0 1 x", "add i32 128 1 1", "sum i32 128 1 1 x"]
        {
            assert!(Table::read("cpu", &[line]).is_err_and(|e| e.contains(line)), "{line}");
        }
    }

    #[test]
    fn vectors_that_fill_several_registers_cost_as_many_operations() {
        let table = Table::read("cpu", &["add f32 128 1 4 x\nadd f32 256 2 4 x"]).expect("a table");
        let cost = |lanes, bits| table.cost(Op::Add, Element::F32, Lanes::fixed(lanes), bits).expect("a row");
        assert_eq!([2, 4, 8, 16].map(|lanes| cost(lanes, 256).throughput), [1.0, 1.0, 2.0, 4.0]);
        assert_eq!([4, 8, 16].map(|lanes| cost(lanes, 128).throughput), [1.0, 2.0, 4.0]);
        assert_eq!(cost(16, 128).latency, 7.0);
        assert_eq!(table.cost(Op::Add, Element::F64, Lanes::fixed(2), 128), None);
    }
}
