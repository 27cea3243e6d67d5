//! From LLVM's IR to warpline's.
//!
//! Every function that LLVM accepts can be imported. An instruction that the IR models becomes an operation of the IR
//! with all of its flags; any other becomes an opaque one with an effect record, whose original export clones. In
//! detail:
//! - φ operands move to edges; each successor of a terminator is an edge, parallel ones included.
//! - Calls of the lane operations become [`warpline_ir::Op::Lane`] where their declaration has the documented type.
//! - A call with operand bundles, a `musttail` call and inline assembly are opaque, and so are memory accesses with a
//!   synchronisation scope, `inalloca` and `swifterror` allocations.
//! - Debug records are no instructions; they stay with the LLVM function and are kept when it is replaced in place.

mod access_types;
mod constant;
mod effects;
mod inst;
mod promises;
mod weights;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use crate::ffi::types::*;
use warpline_ir::{
    self as ir, Block, FuncId, Function, Loc, PointerFacts, SourceLoc, SymbolData, SymbolKind, Type, Value,
    ValueData, ValueDef,
};

use warpline_vectorize::declare_narrow_functions;

use crate::ffi::load::functions;
use crate::module::{Module, owned_string, value_name};
use crate::opcodes::{EXTERN_WEAK, REPLACEABLE};
use crate::simplify::has_body;
use crate::tables::{Body, Bridge};

/// A module in both forms.
#[derive(Debug)]
pub struct Imported {
    /// Warpline's form, which is authoritative.
    pub ir: ir::Module,
    /// What its handles stand for.
    pub bridge: Bridge,
    /// Functions that LLVM's module does not have yet.
    pub(crate) pending: Vec<FuncId>,
    /// The files of a source that are the user's own, headers included from anywhere, as the compiler that read it
    /// says; empty where nobody says.
    pub own_files: Vec<PathBuf>,
    access_types: access_types::Finder,
}

impl Imported {
    /// Imports a module. It should have passed LLVM's verifier. Where it states no data layout it gets its target's
    /// ([`Module::settle_data_layout`]).
    pub fn new(mut module: Module) -> Self {
        module.settle_data_layout();
        let mut ir = ir::Module::new(module.name());
        ir.triple = module.triple();
        let bridge = Bridge::new(module);
        ir.layout = bridge.layout.clone();
        let access_types = access_types::Finder::default();
        let mut imported = Self { ir, bridge, pending: Vec::new(), own_files: Vec::new(), access_types };
        imported.import_symbols();
        let bodies: Vec<_> =
            imported.bridge.module.functions().filter(|&function| has_body(function)).collect();
        for function in bodies {
            imported.import_function(function);
        }
        declare_narrow_functions(&mut imported.ir);
        imported
    }

    /// Functions, global variables, aliases and resolvers, in module order.
    fn import_symbols(&mut self) {
        let globals = self.bridge.module.globals();
        let names: Vec<Option<String>> = globals.iter().map(|&global| symbol_name(global)).collect();
        let taken: HashSet<&str> = names.iter().flatten().map(String::as_str).collect();
        for (number, (&global, name)) in globals.iter().zip(&names).enumerate() {
            // Two unnamed symbols must stay two.
            let own = || {
                let mut own = format!("<unnamed {number}>");
                while taken.contains(&*own) {
                    own.push('\'');
                }
                own
            };
            let name = name.clone().unwrap_or_else(own);
            let effects = effects::of_function(global);
            let origin = Some(self.bridge.origin(global));
            // The kind of a variable needs all symbols, since its contents may name them.
            let kind = SymbolKind::Other;
            let symbol = self.ir.declare(SymbolData { name: name.into(), kind, effects, origin });
            self.bridge.symbols.insert(global, symbol);
        }
        let of_opencl = self.bridge.module.is_of_opencl();
        for global in globals {
            if of_opencl && self.bridge.module.is_local_memory(global) {
                self.ir.of_groups.insert(self.bridge.symbols[&global]);
            }
            let kind = self.symbol_kind(global);
            let symbol = self.bridge.symbols[&global];
            if let SymbolKind::Global { ty, .. } = kind
                && let Some(addresses) = self.initial_addresses(global, ty)
            {
                self.ir.addresses.insert(symbol, addresses);
            }
            self.ir.symbols[symbol].kind = kind;
        }
    }

    fn symbol_kind(&mut self, global: LLVMValueRef) -> SymbolKind {
        let f = functions();
        // SAFETY: a live global; each question is asked of the kind of global it is for.
        unsafe {
            if !f.LLVMIsAFunction(global).is_null() {
                let ty = f.LLVMGlobalGetValueType(global);
                let (params, ret, variadic) = self.function_type(ty);
                SymbolKind::Function { params, ret, variadic }
            } else if !f.LLVMIsAGlobalVariable(global).is_null() && f.LLVMGetLinkage(global) != EXTERN_WEAK {
                let ty = self.bridge.import_type(f.LLVMGlobalGetValueType(global), &mut self.ir.types);
                // Another module may have other contents for one that it may replace.
                let replaceable = REPLACEABLE.contains(&f.LLVMGetLinkage(global));
                let constant = f.LLVMIsGlobalConstant(global) != 0 && !replaceable;
                let align = match f.LLVMGetAlignment(global) {
                    0 => self.ir.layout.abi_align(&self.ir.types, ty),
                    stated => u64::from(stated),
                };
                let bytes = self.initial_bytes(global, ty);
                SymbolKind::Global { ty, constant, align, bytes }
            } else {
                SymbolKind::Other
            }
        }
    }

    /// Parameter types, return type and whether the function is variadic.
    fn function_type(&mut self, ty: LLVMTypeRef) -> (Vec<Type>, Type, bool) {
        let f = functions();
        // SAFETY: `ty` is a function type; the array has room for all of its parameters.
        unsafe {
            let count = f.LLVMCountParamTypes(ty) as usize;
            let mut params = vec![std::ptr::null_mut(); count];
            f.LLVMGetParamTypes(ty, params.as_mut_ptr());
            let params =
                params.into_iter().map(|ty| self.bridge.import_type(ty, &mut self.ir.types)).collect();
            let ret = self.bridge.import_type(f.LLVMGetReturnType(ty), &mut self.ir.types);
            (params, ret, f.LLVMIsFunctionVarArg(ty) != 0)
        }
    }

    fn import_function(&mut self, llvm: LLVMValueRef) {
        let f = functions();
        // SAFETY: a live function with a body, whose blocks, parameters and instructions are walked without changing
        // them.
        unsafe {
            let (params, ret, variadic) = self.function_type(f.LLVMGlobalGetValueType(llvm));
            let name = self.ir.symbols[self.bridge.symbols[&llvm]].name.clone();
            let mut function = Function::new(&name, ret);
            function.variadic = variadic;
            function.is_sanitized = effects::is_sanitized(llvm);
            function.origin = Some(self.bridge.origin(llvm)).into();
            function.loc = self.function_location(llvm).into();
            let mut values: HashMap<LLVMValueRef, Value> = HashMap::new();
            let local = self.bridge.module.local_parameters(llvm);
            for (i, ty) in params.into_iter().enumerate() {
                let parameter = f.LLVMGetParam(llvm, i as u32);
                let value = function.add_param(ty, &value_name(parameter));
                values.insert(parameter, value);
                if ty.is_ptr() {
                    let mut facts = self.promises_of(llvm, i as u32);
                    facts.local = local.get(i) == Some(&true);
                    if facts != PointerFacts::default() {
                        function.pointers[value] = facts;
                    }
                }
            }
            let mut blocks = HashMap::new();
            let first_origin = self.bridge.origins.len();
            let mut body =
                Body { function: llvm, blocks: HashMap::new(), origins: first_origin..first_origin };
            let mut order: Vec<(Block, LLVMBasicBlockRef)> = Vec::new();
            let mut next = f.LLVMGetFirstBasicBlock(llvm);
            while !next.is_null() {
                let block = function.add_block(&owned_string(f.LLVMGetBasicBlockName(next)));
                blocks.insert(next, block);
                body.blocks.insert(block, next);
                order.push((block, next));
                next = f.LLVMGetNextBasicBlock(next);
            }
            // First every result, so that operands may refer forwards.
            let mut made = Vec::new();
            for &(block, llvm_block) in &order {
                let mut inst = f.LLVMGetFirstInstruction(llvm_block);
                while !inst.is_null() {
                    made.extend(self.declare_inst(&mut function, &mut values, block, inst));
                    inst = f.LLVMGetNextInstruction(inst);
                }
            }
            for &(block, llvm_block) in &order {
                let terminator = f.LLVMGetBasicBlockTerminator(llvm_block);
                made.push(self.declare_terminator(&mut function, &mut values, &blocks, block, terminator));
            }
            for (inst, original) in made {
                self.fill_operands(&mut function, &values, inst, original);
            }
            for &(block, _) in &order {
                self.fill_phis(&mut function, &values, &body, block);
            }
            body.origins.end = self.bridge.origins.len();
            let id = self.ir.functions.push(function);
            self.bridge.bodies.insert(id, body);
        }
    }

    /// An operand as a value of the function.
    fn operand(
        &mut self,
        function: &mut Function,
        values: &HashMap<LLVMValueRef, Value>,
        operand: LLVMValueRef,
    ) -> Value {
        if let Some(&local) = values.get(&operand) {
            return local;
        }
        let constant = self.constant(operand);
        function.constant_value(constant)
    }

    /// The location attached to an instruction.
    fn location(&mut self, inst: LLVMValueRef) -> Option<Loc> {
        // SAFETY: a live instruction.
        let node = unsafe { functions().LLVMInstructionGetDebugLoc(inst) };
        self.import_location(node)
    }

    fn import_location(&mut self, node: LLVMMetadataRef) -> Option<Loc> {
        let f = functions();
        // Outermost call site last; known ones end the chain.
        let mut chain = Vec::new();
        let mut next = node;
        // SAFETY: location nodes of a live context.
        unsafe {
            while !next.is_null() && !self.bridge.locations.contains_key(&next) {
                chain.push(next);
                next = f.LLVMDILocationGetInlinedAt(next);
            }
            let mut outer = self.bridge.locations.get(&next).copied();
            for &node in chain.iter().rev() {
                let file = scope_file(f.LLVMDILocationGetScope(node));
                let (line, column) = (f.LLVMDILocationGetLine(node), f.LLVMDILocationGetColumn(node));
                let loc =
                    self.ir.locations.push(SourceLoc { file: file.into(), line, column, inlined_at: outer });
                self.bridge.locations.insert(node, loc);
                self.bridge.location_nodes.push(node);
                outer = Some(loc);
            }
        }
        self.bridge.locations.get(&node).copied()
    }

    fn function_location(&mut self, function: LLVMValueRef) -> Option<Loc> {
        let f = functions();
        // SAFETY: a live function and its subprogram.
        unsafe {
            let subprogram = f.LLVMGetSubprogram(function);
            if subprogram.is_null() {
                return None;
            }
            let line = f.LLVMDISubprogramGetLine(subprogram);
            let file = scope_file(subprogram).into();
            self.bridge.location_nodes.push(std::ptr::null_mut());
            let loc = self.ir.locations.push(SourceLoc { file, line, column: 0, inlined_at: None });
            self.bridge.subprograms.insert(loc, subprogram);
            Some(loc)
        }
    }
}

/// The name of a symbol; `None` where it has none that text can have: LLVM takes any bytes.
fn symbol_name(global: LLVMValueRef) -> Option<String> {
    let name = value_name(global);
    // What is no UTF-8 has been replaced by then.
    (!name.is_empty() && !name.contains(['\0', '\u{fffd}'])).then_some(name)
}

/// The path of the file that a scope is in, as the front end wrote it.
pub(crate) fn scope_file(scope: LLVMMetadataRef) -> String {
    let f = functions();
    if scope.is_null() {
        return String::new();
    }
    // SAFETY: a live scope; pointer and length describe the file's name, which is copied.
    unsafe {
        let file = f.LLVMDIScopeGetFile(scope);
        if file.is_null() {
            return String::new();
        }
        let mut length = 0;
        let start = f.LLVMDIFileGetFilename(file, &raw mut length);
        if start.is_null() {
            return String::new();
        }
        String::from_utf8_lossy(std::slice::from_raw_parts(start.cast::<u8>(), length as usize)).into_owned()
    }
}

/// Gives an instruction made without results one.
fn add_result(function: &mut Function, inst: ir::Inst, ty: Type, name: &str) -> Value {
    let number = function.insts[inst].results.len() as u32;
    let value = function.values.push(ValueData { ty, def: ValueDef::Inst(inst, number), name: name.into() });
    function.insts[inst].results.push(value);
    value
}
