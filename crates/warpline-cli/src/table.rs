//! Tables for people.

/// A table: cells are right-aligned, except in the first columns.
pub struct Table {
    /// How many columns are left-aligned.
    left: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings.
    pub fn new(left: usize, headings: &[&str]) -> Table {
        Table { left, rows: vec![headings.iter().map(|&h| h.to_owned()).collect()] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The table as lines, with a rule below the headings.
    pub fn text(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |i: usize| self.rows.iter().filter_map(|r| r.get(i)).map(|c| c.chars().count()).max();
        let widths: Vec<usize> = (0..columns).map(|i| width(i).unwrap_or(0)).collect();
        let mut lines: Vec<String> = Vec::new();
        for row in &self.rows {
            let cells = row.iter().zip(&widths).enumerate().map(|(i, (cell, &width))| match i < self.left {
                true => format!("{cell:<width$}"),
                false => format!("{cell:>width$}"),
            });
            lines.push(cells.collect::<Vec<_>>().join("  ").trim_end().to_owned());
        }
        lines.insert(1, "─".repeat(widths.iter().sum::<usize>() + 2 * columns.saturating_sub(1)));
        lines.join("\n") + "\n"
    }

    /// The table in Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let rule: Vec<&str> = (0..columns).map(|i| if i < self.left { "---" } else { "---:" }).collect();
        let mut lines: Vec<String> = self.rows.iter().map(|row| line(row)).collect();
        lines.insert(1, format!("|{}|\n", rule.join("|")));
        lines.concat()
    }
}

/// A ratio with two places.
pub fn ratio(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |v| format!("{v:.2}"))
}

/// A difference with its sign.
pub fn difference(value: i64) -> String {
    format!("{value:+}")
}

/// The geometric mean of what there is; none of nothing.
pub fn geometric_mean(values: impl IntoIterator<Item = Option<f64>>) -> Option<f64> {
    let logs: Vec<f64> = values.into_iter().flatten().map(f64::ln).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

/// The quotient; none if it has no meaning.
pub fn quotient(a: f64, b: f64) -> Option<f64> {
    (a > 0.0 && b > 0.0).then(|| a / b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometric_means_are_of_what_there_is() {
        let mean = geometric_mean([Some(2.0), None, Some(8.0)]).unwrap();
        assert!((mean - 4.0).abs() < 1e-9);
        assert_eq!(geometric_mean([None]), None);
        assert_eq!(quotient(1.0, 0.0), None);
    }

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(1, &["a", "long"]);
        table.row(vec!["name".into(), "1".into()]);
        assert_eq!(table.text(), "a     long\n──────────\nname     1\n");
        assert_eq!(table.markdown(), "| a | long |\n|---|---:|\n| name | 1 |\n");
    }
}
