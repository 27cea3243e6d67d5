//! What the attribute for kernels has said of them, read from a module that cargo made.

use warpline_ir::{Function, Module, Op};
use warpline_llvm::Imported;
use warpline_llvm::package::KERNELS;

/// An instance of a kernel in a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Marked {
    /// The name of its function in the module.
    pub symbol: String,
    /// The kernel's name in the source.
    pub name: String,
    /// The instance: the name, and behind it what generic parameters are.
    pub instance: String,
    /// The line of the name, from 1.
    pub line: u32,
    /// The shapes of the parameters as machine code has them, as on the command line.
    pub args: String,
    /// Which of them is the pointer to what is done when a lane panics, for build scripts.
    pub context: Option<u32>,
    /// Which of them is the index, or the first of several.
    pub index: u32,
    /// Whether its lanes are threads whose races are accepted.
    pub racy: bool,
    /// Whether the function that runs it over a range is a safe one.
    pub is_safe: bool,
    /// Options and their values.
    pub options: Vec<(String, String)>,
    /// Sizes and alignments of types that it knows.
    pub layouts: Vec<(u64, u64)>,
}

/// The kernels of a module.
pub fn kernels(imported: &Imported) -> Vec<Marked> {
    let ir = &imported.ir;
    let about = format!("{KERNELS}about|");
    ir.functions.values().filter_map(|function| marked(ir, function.name.strip_prefix(&*about)?)).collect()
}

fn marked(ir: &Module, words: &str) -> Option<Marked> {
    let fields: Vec<&str> = words.split('|').collect();
    let [symbol, name, instance, line, shapes, contract, options] = fields[..] else { return None };
    let layouts: Vec<(u64, u64)> =
        (0..).map_while(|k| Some((known(ir, "size", k, symbol)?, known(ir, "align", k, symbol)?))).collect();
    let place = |wanted: &str| shapes.split(',').position(|shape| shape == wanted).map(|k| k as u32);
    let shape = |shape: &str| match shape.strip_prefix("element ") {
        Some(layout) => {
            let (size, _) = layouts.get(layout.parse::<usize>().ok()?)?;
            Some(format!("stride({size})"))
        }
        None if shape == "context" => Some("uniform".to_owned()),
        None => Some(shape.to_owned()),
    };
    let args: Option<Vec<String>> = shapes.split(',').map(shape).collect();
    let option = |text: &str| text.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    Some(Marked {
        symbol: symbol.to_owned(),
        name: name.to_owned(),
        instance: instance.to_owned(),
        line: line.parse().ok()?,
        args: args?.join(","),
        context: place("context"),
        index: place("index")?,
        racy: contract == "racy",
        is_safe: contract == "safe",
        options: options.split(',').filter_map(option).collect(),
        layouts,
    })
}

/// The constant that a function returns, which says what the compiler knows of a type.
fn known(ir: &Module, what: &str, number: usize, symbol: &str) -> Option<u64> {
    let function: &Function = &ir.functions[ir.function(&format!("{KERNELS}{what} {number} {symbol}"))?];
    let last = function.layout.iter().map(|&block| &function.insts[function.terminator(block)]);
    let returned = last.filter(|inst| inst.op == Op::Ret).find_map(|inst| inst.args.first())?;
    function.as_int(*returned).and_then(|value| u64::try_from(value).ok())
}
