//! What a run passes to the kernel: numbers and buffers.

use warpline::demangle;
use warpline::interp::{Memory, TrapKind};
use warpline::ir::{Function, Type};
use warpline::shape::ArgShape;
use warpline_kernels::Random;

use crate::error::{Error, Result};
use crate::spec::{Bind, Elem, Fill, Member, Number, Spec};

/// A buffer as it is before a run.
pub struct Buffer {
    /// The parameter's name; `result` for the returned values.
    pub name: String,
    /// The type of its elements.
    pub elem: Elem,
    /// Its contents at the start; zeros where pointers are.
    pub initial: Vec<u8>,
    /// The addresses in it.
    pub pointers: Vec<Pointer>,
}

/// An address in a buffer.
#[derive(Copy, Clone, Debug)]
pub struct Pointer {
    /// Where it is, in bytes.
    pub at: usize,
    /// The number of the buffer that it leads to.
    pub buffer: usize,
    /// How far behind the begin of that, in bytes.
    pub offset: usize,
}

impl Pointer {
    /// Its bytes, where buffers have these addresses.
    pub fn bytes(&self, addresses: &[u64]) -> [u8; 8] {
        addresses[self.buffer].wrapping_add(self.offset as u64).to_le_bytes()
    }
}

/// What is passed for a parameter.
#[derive(Copy, Clone, Debug)]
pub enum Passed {
    /// Made from the position in the range.
    Index,
    /// One number (its bits), the same for all indices or the value for the first.
    Number(u64),
    /// The address of a buffer: the number of the buffer.
    Address(usize),
    /// One element of a buffer for each index.
    Elements(usize),
}

/// Everything that is passed.
pub struct Data {
    /// The buffers.
    pub buffers: Vec<Buffer>,
    /// One for each parameter of the kernel.
    pub passed: Vec<Passed>,
    /// The buffer for returned values.
    pub result: Option<usize>,
    /// The first index.
    pub begin: i64,
    /// The index behind the last one.
    pub end: i64,
}

impl Data {
    /// Settles what is passed to each parameter. `binds` are in order of precedence.
    ///
    /// # Errors
    /// If a parameter has no value or an unfit one, or a name is unknown.
    pub fn new(
        func: &Function,
        args: &[ArgShape],
        binds: &[&Bind],
        (begin, end): (i64, i64),
        seed: u64,
    ) -> Result<Data> {
        let names: Vec<String> = func.params.iter().map(|&p| func.value_name(p)[1..].to_owned()).collect();
        for bind in binds {
            if !names.contains(&bind.name) {
                let message =
                    format!("`{}` has no such parameter; there are {}", func.name, names.join(", "));
                return Err(Error::option(format!("--bind {}", bind.name), message));
            }
        }
        let count = usize::try_from(end.saturating_sub(begin).max(0)).unwrap_or(usize::MAX);
        let mut data = Data { buffers: Vec::new(), passed: Vec::new(), result: None, begin, end };
        for (i, (&p, &shape)) in func.params.iter().zip(args).enumerate() {
            let bind = binds.iter().find(|b| b.name == names[i]);
            let wrong = |message: String| Err(Error::option(format!("--bind {}", names[i]), message));
            let ty = func.ty(p);
            if shape == ArgShape::Index {
                if bind.is_some() {
                    return wrong("it is the index; its values come from --range".to_owned());
                }
                data.passed.push(Passed::Index);
                continue;
            }
            let Some(bind) = bind else {
                let example = match (shape, Elem::of(ty)) {
                    (ArgShape::Varying, Some(elem)) => format!("{elem}[{count}]=random"),
                    (_, Some(_)) => "1".to_owned(),
                    (_, None) => format!("f32[{count}]=zero"),
                };
                return wrong(format!(
                    "the parameter has no value: write --bind {0}=SPEC or `//@ bind {0}=SPEC` in the input, for \
                     example \
                     {0}={example}",
                    names[i]
                ));
            };
            match (&bind.spec, shape) {
                (&Spec::Buffer { elem, len, fill }, ArgShape::Varying) => {
                    if Elem::of(ty) != Some(elem) {
                        return wrong(format!("its elements are not of type {elem}"));
                    }
                    if len < count {
                        return wrong(format!("{len} elements for {count} indices"));
                    }
                    data.passed.push(Passed::Elements(data.buffers.len()));
                    data.add(&names[i], elem, len, fill, seed.wrapping_add(i as u64));
                }
                (&Spec::Buffer { elem, len, fill }, _) => {
                    if !ty.is_ptr() {
                        return wrong("a buffer is for pointers and varying parameters".to_owned());
                    }
                    data.passed.push(Passed::Address(data.buffers.len()));
                    data.add(&names[i], elem, len, fill, seed.wrapping_add(i as u64));
                }
                (Spec::Local { .. }, _) => {
                    let message =
                        "local memory is for `local` parameters of kernels with barriers; pass a buffer";
                    return wrong(message.to_owned());
                }
                (Spec::Record(_), ArgShape::Varying) => {
                    return wrong("a structure is for a pointer that all indices share".to_owned());
                }
                (Spec::Record(members), _) => {
                    if !ty.is_ptr() {
                        return wrong("a structure is for pointers".to_owned());
                    }
                    let record = data.add_record(&names[i], members, seed.wrapping_add(i as u64));
                    data.passed.push(Passed::Address(record));
                }
                (&Spec::Number(n), ArgShape::Varying) => match Elem::of(ty) {
                    Some(elem) => {
                        elem.bits(n).or_else(wrong_number(&names[i]))?;
                        data.passed.push(Passed::Elements(data.buffers.len()));
                        data.add(&names[i], elem, count, Fill::Same(n), seed);
                    }
                    None => return wrong("a pointer that varies cannot be bound".to_owned()),
                },
                (&Spec::Number(n), _) => match Elem::of(ty) {
                    Some(elem) => {
                        let bits = elem.bits(n).or_else(wrong_number(&names[i]))?;
                        data.passed.push(Passed::Number(bits));
                    }
                    None if ty.is_ptr() && n == Number::Int(0) => data.passed.push(Passed::Number(0)),
                    None => return wrong("a number does not fit its type; pass a buffer".to_owned()),
                },
            }
        }
        if !func.ret.is_void() {
            // An address is compared by where it leads.
            let elem = Elem::of(func.ret).or(func.ret.is_ptr().then_some(Elem::Int(64)));
            let Some(elem) = elem else {
                let message = "its result is neither a number nor a pointer, which `run` cannot compare: return \
                     it through a pointer; `warpline vectorize` makes code of it as it is";
                return Err(Error::option(format!("function `{}`", demangle(&func.name)), message));
            };
            data.result = Some(data.buffers.len());
            data.add("result", elem, count, Fill::Zero, 0);
        }
        Ok(data)
    }

    fn add(&mut self, name: &str, elem: Elem, len: usize, fill: Fill, seed: u64) {
        let initial = contents(elem, len, fill, seed);
        self.buffers.push(Buffer { name: name.to_owned(), elem, initial, pointers: Vec::new() });
    }

    /// Adds a structure, and what it leads to, whose names are its name and the numbers of members; gives its number.
    fn add_record(&mut self, name: &str, members: &[Member], seed: u64) -> usize {
        let (offsets, size) = Member::offsets(members);
        let mut record = Buffer {
            name: name.to_owned(),
            elem: Elem::Int(64),
            initial: vec![0; size.next_multiple_of(Elem::Int(64).bytes())],
            pointers: Vec::new(),
        };
        for (k, (member, &at)) in members.iter().zip(&offsets).enumerate() {
            match *member {
                Member::Buffer { elem, len, fill } => {
                    record.pointers.push(Pointer { at, buffer: self.buffers.len(), offset: 0 });
                    self.add(&format!("{name}.{k}"), elem, len, fill, seed.wrapping_add(k as u64));
                }
                Member::End => {
                    // That there is an array before it was seen when it was read.
                    if let Some(&Pointer { buffer, .. }) = record.pointers.last() {
                        let offset = self.buffers[buffer].initial.len();
                        record.pointers.push(Pointer { at, buffer, offset });
                    }
                }
                Member::Number(elem, number) => {
                    // That it fits was seen when it was read.
                    let bits = elem.bits(number).unwrap_or_default();
                    let size = elem.bytes();
                    record.initial[at..at + size].copy_from_slice(&bits.to_le_bytes()[..size]);
                }
                Member::Zeros(_) => {}
            }
        }
        self.buffers.push(record);
        self.buffers.len() - 1
    }

    /// Gives the buffers places in the memory of an interpreter, and returns their addresses.
    ///
    /// # Errors
    /// If there is not so much memory.
    pub(super) fn allocate(&self, memory: &mut Memory) -> std::result::Result<Vec<u64>, TrapKind> {
        let place = |buffer: &Buffer| memory.allocate_bytes(&buffer.initial, ALIGN as u64);
        let addresses: Vec<u64> = self.buffers.iter().map(place).collect::<std::result::Result<_, _>>()?;
        for (buffer, &address) in self.buffers.iter().zip(&addresses) {
            for pointer in &buffer.pointers {
                memory.write(address + pointer.at as u64, &pointer.bytes(&addresses))?;
            }
        }
        Ok(addresses)
    }
}

fn wrong_number<T>(name: &str) -> impl FnOnce(String) -> Result<T> {
    let option = format!("--bind {name}");
    move |message| Err(Error::option(option, message))
}

/// Random elements.
pub(super) fn random_bytes(elem: Elem, len: usize, seed: u64) -> Vec<u8> {
    contents(elem, len, Fill::Random, seed)
}

fn contents(elem: Elem, len: usize, fill: Fill, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let size = elem.bytes();
    let mut bytes = Vec::with_capacity(len * size);
    for k in 0..len {
        let float = |x: f64| match elem {
            // Rounding must not reach the upper end of 0..1.
            Elem::F32 => u64::from(((x as f32).min(1.0 - f32::EPSILON / 2.0)).to_bits()),
            _ => x.to_bits(),
        };
        let bits = match fill {
            Fill::Zero => 0,
            Fill::Iota if elem.is_float() => elem.bits(Number::Float(k as f64)).unwrap_or(0),
            Fill::Iota if elem == Elem::Bool => k as u64 & 1,
            Fill::Iota => k as u64,
            Fill::Random if elem.is_float() => float(random.unit()),
            Fill::Random if elem == Elem::Bool => random.bits() & 1,
            Fill::Random => random.bits(),
            Fill::Same(n) => elem.bits(n).unwrap_or(0),
            Fill::Between(Number::Int(a), Number::Int(b)) if !elem.is_float() => {
                let span = (b - a).clamp(1, i128::from(u64::MAX)) as u64;
                (a + i128::from(random.bits() % span)) as u64
            }
            Fill::Between(a, b) => {
                let (a, b) = (a.as_f64(), b.as_f64());
                let x = a + random.unit() * (b - a);
                match elem {
                    Elem::F32 => u64::from((x as f32).to_bits()),
                    Elem::F64 => x.to_bits(),
                    _ => x.floor() as i64 as u64,
                }
            }
        };
        bytes.extend_from_slice(&bits.to_le_bytes()[..size]);
    }
    bytes
}

/// A copy of the buffers at addresses of its own, each on a cache line.
pub struct Image {
    storage: Vec<Vec<u8>>,
    starts: Vec<usize>,
}

/// Alignment of the buffers, and the room behind each, in bytes.
const ALIGN: usize = 64;

impl Image {
    /// A fresh copy.
    pub fn new(data: &Data) -> Image {
        let mut image = Image { storage: Vec::new(), starts: Vec::new() };
        for buffer in &data.buffers {
            let storage = vec![0u8; buffer.initial.len() + 2 * ALIGN];
            image.starts.push(storage.as_ptr().align_offset(ALIGN).min(ALIGN));
            image.storage.push(storage);
        }
        image.restore(data);
        image
    }

    /// Gives the buffers their first contents again.
    pub fn restore(&mut self, data: &Data) {
        (0..data.buffers.len()).for_each(|i| self.restore_one(data, i));
    }

    /// Gives some buffers their first contents again, by their numbers.
    pub fn restore_some(&mut self, data: &Data, which: &[usize]) {
        which.iter().for_each(|&i| self.restore_one(data, i));
    }

    fn restore_one(&mut self, data: &Data, i: usize) {
        let (start, initial) = (self.starts[i], &data.buffers[i].initial);
        self.storage[i][start..start + initial.len()].copy_from_slice(initial);
        let pointers = &data.buffers[i].pointers;
        if !pointers.is_empty() {
            let addresses = self.exposed();
            for pointer in pointers {
                let at = start + pointer.at;
                self.storage[i][at..at + 8].copy_from_slice(&pointer.bytes(&addresses));
            }
        }
    }

    /// The contents of a buffer.
    pub fn bytes(&self, data: &Data, buffer: usize) -> &[u8] {
        let start = self.starts[buffer];
        &self.storage[buffer][start..start + data.buffers[buffer].initial.len()]
    }

    /// The addresses of the buffers.
    pub fn addresses(&self) -> Vec<u64> {
        self.storage.iter().zip(&self.starts).map(|(s, &start)| s[start..].as_ptr().addr() as u64).collect()
    }

    /// The addresses of the buffers, for code that writes there.
    fn exposed(&mut self) -> Vec<u64> {
        let places = self.storage.iter_mut().zip(&self.starts);
        places.map(|(s, &start)| s[start..].as_mut_ptr().expose_provenance() as u64).collect()
    }

    /// The arguments of a range driver for a range that starts where the run's does.
    pub fn slots(&mut self, data: &Data, end: i64) -> Vec<u64> {
        let mut slots = vec![data.begin as u64, end as u64];
        let addresses = self.exposed();
        for passed in &data.passed {
            match *passed {
                Passed::Index => {}
                Passed::Number(bits) => slots.push(bits),
                Passed::Address(b) | Passed::Elements(b) => slots.push(addresses[b]),
            }
        }
        slots.extend(data.result.map(|b| addresses[b]));
        slots
    }
}

/// The bits of element `k` of an array.
pub fn element(bytes: &[u8], elem: Elem, k: usize) -> u64 {
    let size = elem.bytes();
    let mut word = [0; 8];
    word[..size].copy_from_slice(&bytes[k * size..(k + 1) * size]);
    u64::from_le_bytes(word)
}

/// Whether a type fits a slot of the entry functions.
pub fn fits_slot(ty: Type) -> bool {
    ty.is_ptr() || Elem::of(ty).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(elem: Elem, len: usize, fill: Fill) -> Vec<u64> {
        let bytes = contents(elem, len, fill, 7);
        (0..len).map(|k| element(&bytes, elem, k)).collect()
    }

    #[test]
    fn fillings_are_what_they_say() {
        assert_eq!(words(Elem::Int(16), 3, Fill::Iota), [0, 1, 2]);
        assert_eq!(words(Elem::F64, 2, Fill::Iota), [0, 1.0f64.to_bits()]);
        let between = Fill::Between(Number::Int(-2), Number::Int(3));
        assert!(words(Elem::Int(32), 99, between).iter().all(|&b| (-2..3).contains(&(b as u32 as i32))));
        assert!(
            words(Elem::F32, 99, Fill::Random)
                .iter()
                .all(|&b| (0.0..1.0).contains(&f32::from_bits(b as u32)))
        );
        assert_eq!(words(Elem::Int(64), 5, Fill::Random), words(Elem::Int(64), 5, Fill::Random));
    }

    fn kernel() -> Function {
        let mut func = Function::new("k", Type::F32);
        func.add_param(Type::Int(32), "i");
        func.add_param(Type::F32, "x");
        func.add_param(Type::PTR, "p");
        func
    }

    fn data(binds: &[&str]) -> Result<Data> {
        let binds: Vec<Bind> = binds.iter().map(|b| b.parse().unwrap()).collect();
        let binds: Vec<&Bind> = binds.iter().collect();
        Data::new(&kernel(), &[ArgShape::Index, ArgShape::Varying, ArgShape::Uniform], &binds, (5, 9), 1)
    }

    #[test]
    fn every_parameter_gets_a_value_and_every_buffer_a_place() {
        let data = data(&["x=f32[4]=iota", "p=i32[7]"]).unwrap();
        let names: Vec<&str> = data.buffers.iter().map(|b| b.name.as_str()).collect();
        assert_eq!(names, ["x", "p", "result"]);
        let mut image = Image::new(&data);
        let slots = image.slots(&data, 9);
        assert_eq!((slots[0], slots[1], slots.len()), (5, 9, 5));
        assert!(slots[2..].iter().all(|a| a % 64 == 0));
        assert_eq!(element(image.bytes(&data, 0), Elem::F32, 3), u64::from(3.0f32.to_bits()));
    }

    #[test]
    fn unfit_values_are_refused_by_name() {
        let message = |binds: &[&str]| data(binds).err().unwrap().to_string();
        assert!(message(&["p=i32[7]"]).contains("--bind x: the parameter has no value"));
        assert!(message(&["x=f32[3]", "p=i32[7]"]).contains("3 elements for 4 indices"));
        assert!(message(&["x=f64[4]", "p=i32[7]"]).contains("not of type f64"));
        assert!(message(&["x=1", "p=7"]).contains("pass a buffer"));
        assert!(message(&["i=1", "x=1", "p=i8[1]"]).contains("it is the index"));
        assert!(message(&["q=1"]).contains("no such parameter; there are i, x, p"));
    }
}
