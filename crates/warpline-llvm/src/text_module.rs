//! Modules in warpline's text form (`.wl`) as inputs.
//!
//! Analyses take the text as it is. For code it needs a module of LLVM, which is made when code is wanted
//! ([`Imported::export_pending`]): from the text alone, or from the module of LLVM IR that the text names
//! (`module "x.bc"`) and that its handles (`#o7`) lead into. What only LLVM knows is refused for lack of that module,
//! or if the module is another one than the text was made from.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use warpline_ir::text::{constant_text, parse_module};
use warpline_ir::verify::verify_module;
use warpline_ir::{self as ir, Constant, FuncId, Op, Origin, PointerFacts, SymbolKind, ValueDef};

use crate::error::{Error, Result};
use crate::ffi::load::functions;
use crate::import::Imported;
use crate::input_kind::InputKind;
use crate::module::{Module, value_name};
use crate::simplify::attribute_kind;
use crate::tables::{Body, Bridge};

impl Imported {
    /// Reads a module in text form. `triple` is the target if the text states none; `read` reads the module that the
    /// text names, if it has handles that lead into one.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Text`] for what is no valid module, whatever `read` reports, and
    /// [`Error::OtherTarget`].
    pub fn read_text(
        path: &Path,
        triple: Option<&str>,
        read: impl FnOnce(&Path) -> Result<Module>,
    ) -> Result<Imported> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::io("cannot read", path, &error))?;
        let wrong = |message: String| Error::Text { path: path.to_owned(), message };
        let mut ir = parse_module(&text).map_err(|error| wrong(error.to_string()))?;
        verify_module(&ir).map_err(|error| wrong(error.to_string()))?;
        let originals = originals(&ir, path);
        let mut module = match &originals {
            Some(originals) => read(originals)?,
            None => Module::parse(skeleton(&ir).as_bytes(), &path.display().to_string())?,
        };
        if let Some(triple) = triple {
            module.settle_target(triple)?;
        }
        let base = Imported::new(module);
        match &originals {
            Some(originals) => {
                check_handles(&mut ir, &base).map_err(|what| {
                    wrong(format!("{} is not the module it was made from: {what}", originals.display()))
                })?;
            }
            None => forget_handles(&mut ir),
        }
        ir.name = path.display().to_string();
        ir.triple.clone_from(&base.ir.triple);
        if ir.layout.text().is_empty() {
            ir.layout = base.ir.layout.clone();
        }
        Ok(base.with_text(ir, originals.is_some()))
    }

    /// Takes the text's functions for those that were imported.
    fn with_text(mut self, ir: ir::Module, has_originals: bool) -> Imported {
        let bridge = &mut self.bridge;
        let bodies = std::mem::take(&mut bridge.bodies);
        if has_originals {
            let by_name: HashMap<&str, &Body> =
                bodies.iter().map(|(&id, body)| (&*self.ir.functions[id].name, body)).collect();
            for (id, func) in ir.functions.iter() {
                if let Some(body) = by_name.get(&*func.name) {
                    // The blocks of the text are new ones.
                    let (function, origins) = (body.function, body.origins.clone());
                    bridge.bodies.insert(id, Body { function, blocks: HashMap::new(), origins });
                }
            }
        } else {
            bridge.origins.clear();
        }
        bridge.serve_types(&self.ir.types, &ir.types);
        // A function of another type is another function, and its name is taken.
        bridge.keep_bodies_of_type(&ir);
        if ir.locations != self.ir.locations {
            bridge.location_nodes.clear();
            bridge.subprograms.clear();
        }
        self.pending = ir.functions.keys().collect();
        self.ir = ir;
        self
    }

    /// Brings functions of a text into the module of LLVM, once code is to be made. Nothing is left to do for other
    /// inputs.
    ///
    /// # Errors
    /// [`Error::Export`] for the first function that has no form there.
    pub fn export_pending(&mut self) -> Result<()> {
        for id in std::mem::take(&mut self.pending) {
            self.bridge.replace_function(&self.ir, id)?;
            self.bridge.promise(&self.ir.functions[id]);
        }
        Ok(())
    }
}

impl Bridge {
    /// Forgets bodies of functions that have another type in a text.
    fn keep_bodies_of_type(&mut self, ir: &ir::Module) {
        let mut bodies = std::mem::take(&mut self.bodies);
        bodies.retain(|&id, body| {
            let func = &ir.functions[id];
            let params: Vec<_> = func.params.iter().map(|&p| func.ty(p)).collect();
            // SAFETY: a live function.
            let is = unsafe { functions().LLVMGlobalGetValueType(body.function) };
            self.function_type(ir, &params, func.ret, func.variadic) == Ok(is)
        });
        self.bodies = bodies;
    }

    /// Writes down what is promised of a function's parameters.
    fn promise(&self, func: &ir::Function) {
        let Some(llvm) = self.module.named(&func.name) else { return };
        for (&param, index) in func.params.iter().zip(1..) {
            let PointerFacts { align, dereferenceable, noalias, .. } = func.pointers[param];
            let said =
                [("align", align, align > 1), ("dereferenceable", dereferenceable, dereferenceable > 0)];
            for (kind, value, _) in said.into_iter().chain([("noalias", 0, noalias)]).filter(|&(.., is)| is) {
                // SAFETY: live context and function, which has this parameter; LLVM knows the kinds.
                unsafe {
                    let kind = attribute_kind(kind);
                    let attribute = functions().LLVMCreateEnumAttribute(self.module.context(), kind, value);
                    functions().LLVMAddAttributeAtIndex(llvm, index, attribute);
                }
            }
        }
    }
}

/// The module of LLVM IR that a text names, if it has handles that lead into one and the file is there.
fn originals(ir: &ir::Module, path: &Path) -> Option<PathBuf> {
    let named = Path::new(&ir.name);
    let kind = InputKind::of(named).ok()?;
    if kind.is_source() || kind == InputKind::Warpline || !has_handles(ir) {
        return None;
    }
    let beside = path.parent().map(|folder| folder.join(named));
    beside.into_iter().chain([named.to_owned()]).find(|candidate| candidate.is_file())
}

fn has_handles(ir: &ir::Module) -> bool {
    ir.symbols.values().any(|symbol| symbol.origin.is_some())
        || ir
            .functions
            .values()
            .any(|func| func.origin.is_some() || func.insts.values().any(|data| data.origin.is_some()))
}

/// A text whose module is not there: no handle leads anywhere.
fn forget_handles(ir: &mut ir::Module) {
    ir.symbols.values_mut().for_each(|symbol| symbol.origin = None);
    for func in ir.functions.values_mut() {
        func.origin = None.into();
        func.insts.values_mut().for_each(|data| data.origin = None.into());
    }
}

/// Holds the handles of a text against those that the module has now. Instructions that have become others lose
/// theirs. The error is the first handle that leads to something else.
fn check_handles(ir: &mut ir::Module, base: &Imported) -> std::result::Result<(), String> {
    for symbol in ir.symbols.values() {
        let Some(origin) = symbol.origin else { continue };
        let name = base.bridge.original(origin).map(value_name);
        let known = base.ir.symbol(&symbol.name).and_then(|s| base.ir.symbols[s].origin);
        if name.is_none() || known != Some(origin) {
            return Err(format!("#{origin} is not `{}` there", symbol.name));
        }
    }
    let mut instructions: HashMap<Origin, &Op> = HashMap::new();
    let mut constants: HashSet<String> = HashSet::new();
    let mut functions: HashSet<(&str, Option<Origin>)> = HashSet::new();
    for func in base.ir.functions.values() {
        functions.insert((&func.name, func.origin.expand()));
        let with_origin = func.insts.values().filter_map(|data| Some((data.origin.expand()?, &data.op)));
        instructions.extend(with_origin);
        constants.extend(carried(&base.ir, func));
    }
    for id in ir.functions.keys().collect::<Vec<FuncId>>() {
        let func = &ir.functions[id];
        if func.origin.is_some() && !functions.contains(&(&*func.name, func.origin.expand())) {
            return Err(format!("it has no function `{}` of this handle", func.name));
        }
        if let Some(unknown) = carried(ir, func).find(|text| !constants.contains(text)) {
            return Err(format!("it has no constant `{unknown}`"));
        }
        for inst in ir.functions[id].insts.keys().collect::<Vec<_>>() {
            let data = &mut ir.functions[id].insts[inst];
            let Some(origin) = data.origin.expand() else { continue };
            match (instructions.get(&origin), &data.op) {
                (Some(Op::Opaque(is)), Op::Opaque(says)) if is.name == says.name => {}
                (Some(Op::OpaqueTerm(is)), Op::OpaqueTerm(says)) if is.name == says.name => {}
                (_, Op::Opaque(says) | Op::OpaqueTerm(says)) => {
                    return Err(format!("#{origin} is no `{}` there", says.name));
                }
                (Some(is), says) if is.name() == says.name() => {}
                _ => data.origin = None.into(),
            }
        }
    }
    Ok(())
}

/// The constants of a function that only LLVM knows, as text.
fn carried<'a>(module: &'a ir::Module, func: &'a ir::Function) -> impl Iterator<Item = String> + 'a {
    let constants = func.values.keys().filter_map(|v| match func.values[v].def {
        ValueDef::Const(_) => func.constant(v),
        _ => None,
    });
    constants.filter(|constant| is_carried(constant)).map(|constant| constant_text(module, constant))
}

fn is_carried(constant: &Constant) -> bool {
    match constant {
        Constant::Opaque { .. } => true,
        Constant::Address { origin, .. } => origin.is_some(),
        Constant::Composite { elems, .. } => elems.iter().any(is_carried),
        _ => false,
    }
}

/// LLVM's text of a module without functions: target and global variables whose contents are known.
fn skeleton(ir: &ir::Module) -> String {
    let mut out = String::new();
    for (word, text) in [("datalayout", ir.layout.text()), ("triple", &*ir.triple)] {
        if !text.is_empty() {
            let _ = writeln!(out, "target {word} = \"{}\"", escaped(text.as_bytes()));
        }
    }
    for symbol in ir.symbols.values() {
        let SymbolKind::Global { ty, constant, align, bytes } = &symbol.kind else { continue };
        let name = escaped(symbol.name.as_bytes());
        let kind = if *constant { "constant" } else { "global" };
        let _ = match bytes {
            Some(bytes) => {
                let (size, bytes) = (bytes.len(), escaped(bytes));
                // What is never written needs no place that other modules share.
                let linkage = if *constant { "internal " } else { "" };
                writeln!(out, "@\"{name}\" = {linkage}{kind} [{size} x i8] c\"{bytes}\", align {align}")
            }
            None => {
                let size = ir.layout.alloc_size(&ir.types, *ty).unwrap_or_default();
                writeln!(out, "@\"{name}\" = external {kind} [{size} x i8], align {align}")
            }
        };
    }
    out
}

/// Bytes within quotation marks, as LLVM's text has them.
fn escaped(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "\\{byte:02X}");
        out
    })
}
