//! What is secret and what is public, and how users say it.

use std::fmt;

use warpline_ir::{Function, Module, Names, Symbol, SymbolKind};

/// What users name as secret, and what they name as public in it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Secrets {
    /// Whether the value of a parameter is secret, in order.
    pub values: Vec<bool>,
    /// The memory that is.
    pub memory: Vec<Area>,
    /// The memory that is public whatever is written to it.
    pub public: Vec<Area>,
    /// Functions whose results are secret; `*` in a name stands for anything.
    pub results: Vec<String>,
}

/// Where memory begins.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Base {
    /// What a pointer parameter leads to.
    Parameter(u32),
    /// A global variable.
    Global(Symbol),
}

/// A piece of memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Area {
    /// Where it begins.
    pub base: Base,
    /// The offsets of the pointers that are followed from there, one after the other.
    pub pointers: Vec<i64>,
    /// The bytes; none for all.
    pub bytes: Option<(i64, i64)>,
    /// If the bytes are those in the first element of an array, and those of the other elements are meant, too.
    pub elements: Option<Elements>,
    /// What it is called.
    pub name: String,
}

/// The elements of an array.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Elements {
    /// The size of one, in bytes.
    pub size: i64,
    /// How many there are; none for any number.
    pub count: Option<i64>,
}

impl Area {
    /// All that a parameter leads to.
    pub fn behind(parameter: u32, name: String) -> Area {
        Area { base: Base::Parameter(parameter), pointers: Vec::new(), bytes: None, elements: None, name }
    }
}

/// The types of a program in its source language, by numbers of the implementation's own.
pub trait SourceTypes {
    /// The type of a parameter of a function, by its name in the object file.
    fn parameter(&self, function: &str, index: usize) -> Option<u32>;
    /// The same by the parameter's name: compilers add parameters, and pass one in several pieces.
    fn parameter_named(&self, _function: &str, _name: &str) -> Option<u32> {
        None
    }
    /// The type of a global variable.
    fn global(&self, name: &str) -> Option<u32>;
    /// What a pointer of this type leads to; none if it is no pointer.
    fn pointee(&self, ty: u32) -> Option<u32>;
    /// Members of a structure, each with its offset and its type.
    fn members(&self, ty: u32) -> Vec<(String, u64, u32)>;
    /// The size in bytes.
    fn size(&self, ty: u32) -> Option<u64>;
    /// The type of the elements of an array, and how many there are if that is known; none if it is no array.
    fn element(&self, _ty: u32) -> Option<(u32, Option<u64>)> {
        None
    }
}

/// No types are known.
#[derive(Copy, Clone, Default, Debug)]
pub struct NoTypes;

impl SourceTypes for NoTypes {
    fn parameter(&self, _: &str, _: usize) -> Option<u32> {
        None
    }
    fn global(&self, _: &str) -> Option<u32> {
        None
    }
    fn pointee(&self, _: u32) -> Option<u32> {
        None
    }
    fn members(&self, _: u32) -> Vec<(String, u64, u32)> {
        Vec::new()
    }
    fn size(&self, _: u32) -> Option<u64> {
        None
    }
}

/// What is wrong with a list of secrets.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SecretError {
    /// There is no such parameter or global variable.
    Unknown {
        /// What was asked for.
        name: String,
        /// The parameters there are.
        known: Vec<String>,
    },
    /// `*` or `&` before a parameter that is no pointer.
    NoPointer(String),
    /// There is no such member.
    Member {
        /// The name.
        name: String,
        /// The members there are; none if the type is not known.
        known: Vec<String>,
    },
    /// Elements of an array are meant where that is not possible: their type is not known, or pointers in all of them
    /// are to be followed.
    Elements,
    /// A member of an array's elements is named as if it were the array's.
    MemberOfElements(String),
    /// It is no path.
    Malformed(String),
    /// The list names nothing.
    Empty {
        /// The parameters there are.
        known: Vec<String>,
    },
}

impl SecretError {
    /// Whether the name is simply not there, as it may be in one of several functions.
    pub fn is_unknown(&self) -> bool {
        matches!(self, SecretError::Unknown { .. })
    }

    /// Whether there is nothing of this name and kind, as may be so in one of several functions.
    pub fn is_missing(&self) -> bool {
        use SecretError::{Member, MemberOfElements, NoPointer, Unknown};
        matches!(self, Unknown { .. } | Member { .. } | MemberOfElements(_) | NoPointer(_))
    }
}

impl fmt::Display for SecretError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |known: &[String]| match known.is_empty() {
            true => "it has none".to_owned(),
            false => format!("they are {}", known.join(", ")),
        };
        match self {
            SecretError::Unknown { name, known } => {
                write!(f, "there is no parameter `{name}`; {}", list(known))
            }
            SecretError::NoPointer(name) => {
                write!(f, "the parameter {name} is no pointer; leave out the sign before it")
            }
            SecretError::Member { name, known } if known.is_empty() => write!(
                f,
                "no members are known where `{name}` is looked for: compile with -g, or name bytes, `*x[0..32]`"
            ),
            SecretError::Member { name, known } => {
                write!(f, "there is no member `{name}`; {}", list(known))
            }
            SecretError::Elements => write!(
                f,
                "`[]` stands for the elements of an array of which the type is known, and `[0]` for one; pointers in \
                 all elements are not followed"
            ),
            SecretError::MemberOfElements(name) => write!(
                f,
                "`{name}` is looked for in an array: `[].{name}` is the member of all elements, `[0].{name}` of one"
            ),
            SecretError::Malformed(text) => write!(
                f,
                "`{text}` names nothing: use a parameter, `*x`, `&x`, `x->member`, `x[].member`, `*x[0..32]`, a \
                 global variable, or `function()`"
            ),
            SecretError::Empty { known } => write!(f, "name the parameters that are secret; {}", list(known)),
        }
    }
}

impl std::error::Error for SecretError {}

/// What a path has come to.
struct At {
    base: Base,
    pointers: Vec<i64>,
    /// The first byte and the size, where it is memory; none for a parameter's value.
    bytes: Option<(i64, Option<i64>)>,
    elements: Option<Elements>,
    ty: Option<u32>,
}

/// A step of a path.
enum Step {
    Member(String),
    Behind(String),
    Bytes(i64, i64),
    /// An element of an array, or all.
    Element(Option<i64>),
}

impl Secrets {
    /// None yet, for a function.
    pub fn of(func: &Function) -> Secrets {
        Secrets { values: vec![false; func.params.len()], ..Secrets::default() }
    }

    /// Reads a list, separated by commas: parameters by name or by position from 0, global variables, members of what
    /// these are or lead to (`ctx->key`, `state.seed`), elements of arrays (`slots[2].key`, `slots[].key`), bytes (`*x[0..32]`), or functions whose result is secret
    /// (`random()`). Of a pointer the memory that it leads to is secret (`key`, or with a sign `*key`); with `&key` the
    /// pointer itself is. Of anything else the value is.
    ///
    /// # Errors
    /// If something does not exist or a sign does not fit it.
    pub fn parse(
        list: &str,
        module: &Module,
        func: &Function,
        types: &dyn SourceTypes,
    ) -> Result<Secrets, SecretError> {
        let mut secrets = Secrets::of(func);
        for item in list.split(',').map(str::trim).filter(|i| !i.is_empty()) {
            secrets.add(item, module, func, types)?;
        }
        match secrets.is_empty() {
            false => Ok(secrets),
            true => Err(SecretError::Empty { known: known(func) }),
        }
    }

    /// Whether nothing is secret.
    pub fn is_empty(&self) -> bool {
        !self.values.contains(&true) && self.memory.is_empty() && self.results.is_empty()
    }

    /// Adds something secret.
    ///
    /// # Errors
    /// If it does not exist or a sign does not fit it.
    pub fn add(
        &mut self,
        item: &str,
        module: &Module,
        func: &Function,
        types: &dyn SourceTypes,
    ) -> Result<(), SecretError> {
        if let Some(name) = item.strip_suffix("()") {
            self.results.push(name.trim().to_owned());
            return Ok(());
        }
        match resolve(item, module, func, types)? {
            Found::Values(all) => all.into_iter().for_each(|index| self.values[index] = true),
            Found::Memory(area) => self.memory.push(area),
        }
        Ok(())
    }

    /// Adds memory that is public whatever is written to it. A value is public already.
    ///
    /// # Errors
    /// If it does not exist or a sign does not fit it.
    pub fn add_public(
        &mut self,
        item: &str,
        module: &Module,
        func: &Function,
        types: &dyn SourceTypes,
    ) -> Result<(), SecretError> {
        match resolve(item, module, func, types)? {
            Found::Values(all) => all.into_iter().for_each(|index| self.values[index] = false),
            Found::Memory(area) => self.public.push(area),
        }
        Ok(())
    }

    /// The names of what is secret, as users would write it: `%x` is a value, `*%x` what a pointer leads to.
    pub fn describe(&self, func: &Function) -> Vec<String> {
        let names = Names::new(func);
        let mut all = Vec::new();
        for (i, &p) in func.params.iter().enumerate() {
            if self.values.get(i) == Some(&true) {
                all.push(names.value(func, p));
            }
            let of_parameter = self.memory.iter().filter(|area| area.base == Base::Parameter(i as u32));
            all.extend(of_parameter.map(|area| area.name.clone()));
        }
        let globals = self.memory.iter().filter(|area| matches!(area.base, Base::Global(_)));
        all.extend(globals.map(|area| area.name.clone()));
        all.extend(self.results.iter().map(|name| format!("{name}()")));
        all
    }
}

enum Found {
    Values(Vec<usize>),
    Memory(Area),
}

fn known(func: &Function) -> Vec<String> {
    let names = Names::new(func);
    func.params.iter().map(|&p| names.value(func, p)).collect()
}

fn resolve(
    item: &str,
    module: &Module,
    func: &Function,
    types: &dyn SourceTypes,
) -> Result<Found, SecretError> {
    let (sign, path) = match item.strip_prefix(['*', '&']) {
        Some(path) => (item.chars().next(), path.trim()),
        None => (None, item),
    };
    let (name, steps) = split(path).ok_or_else(|| SecretError::Malformed(item.to_owned()))?;
    let pieces = pieces(name, func);
    if !pieces.is_empty() {
        return Ok(Found::Values(pieces));
    }
    let mut at = begin(name, module, func, types)?;
    let parameter = match at.base {
        Base::Parameter(i) if steps.is_empty() => Some(i as usize),
        _ => None,
    };
    if let Some(index) = parameter {
        let is_pointer = func.ty(func.params[index]).is_ptr();
        let name = known(func)[index].clone();
        return match (sign, is_pointer) {
            (Some(_), false) => Err(SecretError::NoPointer(name)),
            (Some('&'), true) | (None, false) => Ok(Found::Values(vec![index])),
            _ => Ok(Found::Memory(Area::behind(index as u32, format!("*{name}")))),
        };
    }
    for step in steps {
        at = at.step(step, types)?;
    }
    let is_pointer = at.bytes.is_some() && at.ty.is_some_and(|ty| types.pointee(ty).is_some());
    if is_pointer && sign != Some('&') {
        at = at.followed(types)?;
        return Ok(Found::Memory(at.area(item, true)));
    }
    Ok(Found::Memory(at.area(item, false)))
}

/// The parameters in which compilers pass a structure in registers: it is secret as a whole, whatever member is named.
fn pieces(name: &str, func: &Function) -> Vec<usize> {
    let known = known(func);
    let bare = name.trim_start_matches('%');
    let is_piece = |own: &String| {
        let number = own[1..].strip_prefix(bare).and_then(|rest| rest.strip_prefix(".coerce"));
        number.is_some_and(|number| number.bytes().all(|c| c.is_ascii_digit()))
    };
    match known.iter().any(|own| &own[1..] == bare) {
        true => Vec::new(),
        false => (0..known.len()).filter(|&i| is_piece(&known[i])).collect(),
    }
}

fn begin(name: &str, module: &Module, func: &Function, types: &dyn SourceTypes) -> Result<At, SecretError> {
    let known = known(func);
    let bare = name.trim_start_matches('%');
    let by_name = known.iter().position(|k| &k[1..] == bare);
    let by_position = || bare.parse().ok().filter(|&i: &usize| i < known.len() && !name.starts_with('%'));
    if let Some(index) = by_name.or_else(by_position) {
        let named = types.parameter_named(&func.name, &known[index][1..]);
        let ty = named.or_else(|| types.parameter(&func.name, index));
        let base = Base::Parameter(index as u32);
        // A structure that is passed by the address of a copy is what is there.
        let is_copy =
            func.ty(func.params[index]).is_ptr() && ty.is_some_and(|ty| types.pointee(ty).is_none());
        let size = ty.and_then(|ty| types.size(ty)).and_then(|size| i64::try_from(size).ok());
        let bytes = (is_copy && ty.is_some_and(|ty| !types.members(ty).is_empty())).then_some((0, size));
        return Ok(At { base, pointers: Vec::new(), bytes, elements: None, ty });
    }
    let symbol = module.symbol(name.trim_start_matches('@'));
    let is_variable = |s: &Symbol| matches!(module.symbols[*s].kind, SymbolKind::Global { .. });
    match symbol.filter(is_variable) {
        Some(symbol) => {
            let ty = types.global(&module.symbols[symbol].name);
            let base = Base::Global(symbol);
            Ok(At { base, pointers: Vec::new(), bytes: Some((0, None)), elements: None, ty })
        }
        None => Err(SecretError::Unknown { name: name.to_owned(), known }),
    }
}

impl At {
    /// What the pointer that this is leads to.
    fn followed(self, types: &dyn SourceTypes) -> Result<At, SecretError> {
        if self.elements.is_some() {
            return Err(SecretError::Elements);
        }
        let mut pointers = self.pointers;
        pointers.extend(self.bytes.map(|(lo, _)| lo));
        let ty = self.ty.and_then(|ty| types.pointee(ty));
        Ok(At { base: self.base, pointers, bytes: Some((0, None)), elements: None, ty })
    }

    fn step(self, step: Step, types: &dyn SourceTypes) -> Result<At, SecretError> {
        let is_pointer = self.bytes.is_none() || self.ty.is_some_and(|ty| types.pointee(ty).is_some());
        match step {
            Step::Bytes(lo, hi) => {
                let at = if self.bytes.is_none() { self.followed(types)? } else { self };
                let start = at.bytes.map_or(0, |(lo, _)| lo);
                Ok(At { bytes: Some((start + lo, Some(hi - lo))), ty: None, ..at })
            }
            Step::Element(index) => self.element(index, is_pointer, types),
            Step::Behind(name) if is_pointer => self.followed(types)?.step(Step::Member(name), types),
            Step::Member(name) if self.bytes.is_none() => {
                self.followed(types)?.step(Step::Member(name), types)
            }
            Step::Member(name) | Step::Behind(name) => {
                if self.ty.is_some_and(|ty| types.element(ty).is_some()) {
                    return Err(SecretError::MemberOfElements(name));
                }
                let members = self.ty.map(|ty| types.members(ty)).unwrap_or_default();
                let Some((_, offset, ty)) = members.iter().find(|(own, ..)| *own == name) else {
                    let known = members.into_iter().map(|(name, ..)| name).collect();
                    return Err(SecretError::Member { name, known });
                };
                let start = self.bytes.map_or(0, |(lo, _)| lo) + *offset as i64;
                let size = types.size(*ty).map(|size| size as i64);
                Ok(At { bytes: Some((start, size)), ty: Some(*ty), ..self })
            }
        }
    }

    /// An element of the array that this is or leads to, or all of them.
    fn element(
        self,
        index: Option<i64>,
        is_pointer: bool,
        types: &dyn SourceTypes,
    ) -> Result<At, SecretError> {
        let (at, element) = match is_pointer {
            true => {
                let at = self.followed(types)?;
                let element = at.ty.map(|ty| (ty, None));
                (at, element)
            }
            false => {
                let element = self.ty.and_then(|ty| types.element(ty));
                (self, element)
            }
        };
        let (ty, count) = element.ok_or(SecretError::Elements)?;
        let size = types.size(ty).and_then(|size| i64::try_from(size).ok()).filter(|&size| size > 0);
        let size = size.ok_or(SecretError::Elements)?;
        let first = at.bytes.map_or(0, |(lo, _)| lo);
        let start = index.unwrap_or(0).checked_mul(size).and_then(|by| first.checked_add(by));
        let bytes = Some((start.ok_or(SecretError::Elements)?, Some(size)));
        let elements = match index {
            Some(_) => at.elements,
            None if at.elements.is_some() => return Err(SecretError::Elements),
            None => Some(Elements { size, count: count.and_then(|n| i64::try_from(n).ok()) }),
        };
        Ok(At { bytes, elements, ty: Some(ty), ..at })
    }

    fn area(self, item: &str, whole: bool) -> Area {
        let bytes = self.bytes.filter(|_| !whole).and_then(|(lo, size)| Some((lo, lo + size?)));
        let elements = self.elements.filter(|_| bytes.is_some());
        Area { base: self.base, pointers: self.pointers, bytes, elements, name: item.to_owned() }
    }
}

/// The name that a path begins with, and its steps.
fn split(path: &str) -> Option<(&str, Vec<Step>)> {
    let end = |text: &str| {
        let arrow = text.find("->");
        [arrow, text.find('.'), text.find('[')].into_iter().flatten().min().unwrap_or(text.len())
    };
    // Rust's and LLVM's names may have points in them; paths of members do not begin with one.
    let (name, mut rest) = path.split_at(end(path));
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(bytes) = rest.strip_prefix('[') {
            let (range, behind) = bytes.split_once(']')?;
            let Some((lo, hi)) = range.split_once("..") else {
                let index = range.trim();
                let number = || index.parse().ok().filter(|&index: &i64| index >= 0);
                steps.push(Step::Element(if index.is_empty() { None } else { Some(number()?) }));
                rest = behind;
                continue;
            };
            let (lo, hi): (i64, i64) = (lo.trim().parse().ok()?, hi.trim().parse().ok()?);
            if lo < 0 || hi <= lo {
                return None;
            }
            steps.push(Step::Bytes(lo, hi));
            rest = behind;
            continue;
        }
        let (is_behind, text) = match rest.strip_prefix("->") {
            Some(text) => (true, text),
            None => (false, rest.strip_prefix('.')?),
        };
        let (member, behind) = text.split_at(end(text));
        let member = member.trim().to_owned();
        if member.is_empty() {
            return None;
        }
        steps.push(if is_behind { Step::Behind(member) } else { Step::Member(member) });
        rest = behind;
    }
    let name = name.trim();
    (!name.is_empty()).then_some((name, steps))
}
