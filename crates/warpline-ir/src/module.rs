//! Modules: functions, symbols, types, locations.

use crate::printable::line;
use std::collections::{BTreeMap, HashMap};

use cranelift_entity::{EntitySet, PrimaryMap};

use super::access_types::AccessTypes;
use super::entities::{FuncId, Loc, Origin, Symbol};
use super::functions::Functions;
use super::layout::DataLayout;
use super::types::{Type, TypeTable};

/// A place in source code.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SourceLoc {
    /// Path of the file, as the front end wrote it.
    pub file: Box<str>,
    /// Line, from 1; 0 if unknown.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
    /// The call site this was inlined at.
    pub inlined_at: Option<Loc>,
}

/// What a symbol stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SymbolKind {
    /// A function with parameter types, return type and whether it is variadic.
    Function {
        /// Parameter types.
        params: Vec<Type>,
        /// Return type.
        ret: Type,
        /// Whether more arguments may follow.
        variadic: bool,
    },
    /// A global variable.
    Global {
        /// The type of its contents.
        ty: Type,
        /// Whether it is never written.
        constant: bool,
        /// Alignment in bytes.
        align: u64,
        /// Initial contents in memory order, if known: the bytes. Relocations (addresses) are not represented.
        bytes: Option<Vec<u8>>,
    },
    /// Anything else with an address: alias, ifunc, a variable that need not be there.
    Other,
}

/// A named thing that code refers to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SymbolData {
    /// Its name in the object file, without a prefix.
    pub name: Box<str>,
    /// What it is.
    pub kind: SymbolKind,
    /// What calls of a function symbol may do, where the call says nothing more precise.
    pub effects: super::Effects,
    /// Handle for the bridge.
    pub origin: Option<Origin>,
}

/// An address in the initial contents of a global variable.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct InitialAddress {
    /// Where it lies, in bytes from the variable's start.
    pub at: u64,
    /// The symbol whose address it is.
    pub symbol: Symbol,
    /// The distance from the symbol's start, in bytes.
    pub offset: i64,
}

/// A translation unit.
#[derive(Clone, Default, Debug)]
pub struct Module {
    /// Name, for messages: usually the input's path.
    pub name: String,
    /// LLVM's target triple.
    pub triple: String,
    /// Sizes and alignments.
    pub layout: DataLayout,
    /// Aggregate and carried types.
    pub types: TypeTable,
    /// The functions that have a body.
    pub functions: Functions,
    /// All symbols.
    pub symbols: PrimaryMap<Symbol, SymbolData>,
    /// Source locations.
    pub locations: PrimaryMap<Loc, SourceLoc>,
    /// The types that memory is accessed as. They are no part of the text form, which therefore knows less of what is
    /// apart.
    pub access_types: AccessTypes,
    /// The variables of which each work-group has its own (OpenCL's `local`). They are no part of the text form either.
    pub of_groups: EntitySet<Symbol>,
    /// The addresses in the initial contents of global variables, by their place. A variable that is not there may have
    /// any. They are no part of the text form either.
    pub addresses: BTreeMap<Symbol, Vec<InitialAddress>>,
    symbol_by_name: HashMap<Box<str>, Symbol>,
}

impl Module {
    /// An empty module.
    pub fn new(name: impl Into<String>) -> Module {
        Module { name: name.into(), ..Module::default() }
    }

    /// Adds a symbol, or replaces what is known of the symbol of that name.
    pub fn declare(&mut self, data: SymbolData) -> Symbol {
        if let Some(&s) = self.symbol_by_name.get(&data.name) {
            self.symbols[s] = data;
            return s;
        }
        let name = data.name.clone();
        let s = self.symbols.push(data);
        self.symbol_by_name.insert(name, s);
        s
    }

    /// The symbol of this name, declared as a function without an origin if it is new.
    pub fn function_symbol(
        &mut self,
        name: &str,
        params: &[Type],
        ret: Type,
        effects: super::Effects,
    ) -> Symbol {
        if let Some(&s) = self.symbol_by_name.get(name) {
            return s;
        }
        self.declare(SymbolData {
            name: name.into(),
            kind: SymbolKind::Function { params: params.to_vec(), ret, variadic: false },
            effects,
            origin: None,
        })
    }

    /// The symbol of this name.
    pub fn symbol(&self, name: &str) -> Option<Symbol> {
        self.symbol_by_name.get(name).copied()
    }

    /// The function of this name, if it has a body.
    pub fn function(&self, name: &str) -> Option<FuncId> {
        self.functions.iter().find(|(_, f)| &*f.name == name).map(|(id, _)| id)
    }

    /// `file:line:column` of a location, for messages.
    pub fn describe_loc(&self, loc: Loc) -> String {
        let l = &self.locations[loc];
        format!("{}:{}:{}", line(&l.file), l.line, l.column)
    }
}
