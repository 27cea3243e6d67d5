//! Data sets in the terms of `run`.

use warpline::ir::Function;
use warpline::shape::ArgShape;
use warpline_kernels::{Argument, Inputs, Values};

use warpline_cli::run::data::{Buffer, Data, Passed};
use warpline_compile::error::{Error, Result};
use warpline_compile::spec::{Elem, Number};

/// What is passed to a function whose parameters have these shapes.
///
/// # Errors
/// If the inputs are not those of the function.
pub(super) fn data(func: &Function, args: &[ArgShape], inputs: Inputs) -> Result<Data> {
    let wrong = |message: String| Error::Vectorize(format!("kernel `{}`: {message}", func.name));
    let (begin, end) = if args.contains(&ArgShape::Index) { inputs.range } else { (0, 1) };
    let mut data = Data { buffers: Vec::new(), passed: Vec::new(), result: None, begin, end };
    let mut given = inputs.arguments.into_iter();
    for (&p, shape) in func.params.iter().zip(args) {
        if *shape == ArgShape::Index {
            data.passed.push(Passed::Index);
            continue;
        }
        let name = func.value_name(p)[1..].to_owned();
        let number = |n: Number| {
            let bits = Elem::of(func.ty(p)).map(|elem| elem.bits(n));
            bits.and_then(std::result::Result::ok).ok_or_else(|| wrong(format!("no number fits `{name}`")))
        };
        let passed = match given.next() {
            None => return Err(wrong(format!("nothing is given for `{name}`"))),
            Some(Argument::Int(n)) => Passed::Number(number(Number::Int(n.into()))?),
            Some(Argument::Float(x)) => Passed::Number(number(Number::Float(x))?),
            Some(Argument::Array(values)) => Passed::Address(add(&mut data, &name, &values)),
            Some(Argument::Each(values)) => Passed::Elements(add(&mut data, &name, &values)),
        };
        data.passed.push(passed);
    }
    if given.next().is_some() {
        return Err(wrong("more is given than it has parameters".to_owned()));
    }
    if let Some(elem) = Elem::of(func.ret) {
        let count = usize::try_from(end - begin).unwrap_or(0);
        data.result = Some(data.buffers.len());
        let initial = vec![0; count * elem.bytes()];
        data.buffers.push(Buffer { name: "result".to_owned(), elem, initial, pointers: Vec::new() });
    }
    Ok(data)
}

fn add(data: &mut Data, name: &str, values: &Values) -> usize {
    let (elem, initial): (Elem, Vec<u8>) = match values {
        Values::U8(v) => (Elem::Int(8), v.clone()),
        Values::I32(v) => (Elem::Int(32), v.iter().flat_map(|x| x.to_le_bytes()).collect()),
        Values::U32(v) => (Elem::Int(32), v.iter().flat_map(|x| x.to_le_bytes()).collect()),
        Values::I64(v) => (Elem::Int(64), v.iter().flat_map(|x| x.to_le_bytes()).collect()),
        Values::F32(v) => (Elem::F32, v.iter().flat_map(|x| x.to_le_bytes()).collect()),
        Values::F64(v) => (Elem::F64, v.iter().flat_map(|x| x.to_le_bytes()).collect()),
    };
    data.buffers.push(Buffer { name: name.to_owned(), elem, initial, pointers: Vec::new() });
    data.buffers.len() - 1
}
