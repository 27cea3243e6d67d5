//! The printer.

use std::fmt::Write;

use super::constants::{int_into, operand_into};
use super::expected_type;
use super::names::{Names, name_into, quote_bytes_into, quote_into};
use crate::{
    AggregateType, Atomic, AtomicOrdering, Block, Constant, Edge, Effects, Function, GroupCount, Inst,
    InstData, InstFlags, MemAccess, Module, Op, Phase, Scalar, SymbolData, SymbolKind, Type, Unwritten,
    Value,
};

/// A place in a function's listing that a comment can be attached to.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// Behind the line that begins the function.
    Function,
    /// Behind the line that begins a block.
    Block(Block),
    /// Behind an instruction.
    Inst(Inst),
}

/// The text of a whole module.
pub fn print_module(module: &Module) -> String {
    let mut out = String::new();
    header(&mut out, module);
    for (_, symbol) in module.symbols.iter() {
        symbol_line(&mut out, module, symbol);
    }
    for (_, func) in module.functions.iter() {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&print_function(module, func));
    }
    if !module.locations.is_empty() && !out.is_empty() {
        out.push('\n');
    }
    for (id, loc) in module.locations.iter() {
        let _ = write!(out, "!{} = ", id.as_u32());
        quote_into(&mut out, &loc.file);
        let _ = write!(out, ":{}:{}", loc.line, loc.column);
        if let Some(at) = loc.inlined_at {
            let _ = write!(out, " at !{}", at.as_u32());
        }
        out.push('\n');
    }
    out
}

/// The text of a function.
pub fn print_function(module: &Module, func: &Function) -> String {
    print_function_with(module, func, |_| Vec::new())
}

/// The text of a function with comments: `notes` gives the lines that stand behind a place.
pub(crate) fn print_function_with(
    module: &Module,
    func: &Function,
    notes: impl FnMut(Place) -> Vec<String>,
) -> String {
    let mut printer = Printer { module, func, names: Names::new(func), out: String::new(), notes };
    printer.function();
    printer.out
}

/// The text of a type.
pub fn type_text(module: &Module, ty: Type) -> String {
    let mut out = String::new();
    type_into(&mut out, module, ty);
    out
}

/// The text of a constant, with its type in front.
pub fn constant_text(module: &Module, c: &Constant) -> String {
    let mut out = String::new();
    operand_into(&mut out, module, c, None);
    out
}

fn header(out: &mut String, module: &Module) {
    let lines = [("module", &*module.name), ("triple", &*module.triple), ("layout", module.layout.text())];
    for (word, text) in lines {
        if !text.is_empty() {
            let _ = write!(out, "{word} ");
            quote_into(out, text);
            out.push('\n');
        }
    }
    for (id, aggregate) in module.types.aggregates() {
        let AggregateType::Struct { name: Some(_), fields, packed } = aggregate else { continue };
        out.push_str("type ");
        type_into(out, module, Type::Aggregate(id));
        out.push_str(" = ");
        match fields {
            None => out.push_str("opaque"),
            Some(fields) => fields_into(out, module, fields, *packed),
        }
        out.push('\n');
    }
}

fn symbol_line(out: &mut String, module: &Module, symbol: &SymbolData) {
    let word = match &symbol.kind {
        SymbolKind::Function { .. } => "declare",
        SymbolKind::Global { constant: false, .. } => "global",
        SymbolKind::Global { constant: true, .. } => "constant",
        SymbolKind::Other => "symbol",
    };
    let _ = write!(out, "{word} @");
    name_into(out, &symbol.name, "");
    match &symbol.kind {
        SymbolKind::Function { params, ret, variadic } => {
            out.push('(');
            for (i, &p) in params.iter().enumerate() {
                comma(out, i);
                type_into(out, module, p);
            }
            if *variadic {
                comma(out, params.len());
                out.push_str("...");
            }
            out.push(')');
            return_type(out, module, *ret);
        }
        SymbolKind::Global { ty, align, bytes, .. } => {
            out.push_str(": ");
            type_into(out, module, *ty);
            let _ = write!(out, " align {align}");
            if let Some(bytes) = bytes {
                out.push_str(" = ");
                quote_bytes_into(out, bytes);
            }
        }
        SymbolKind::Other => {}
    }
    if !symbol.effects.is_empty() {
        effects_into(out, symbol.effects);
    }
    if let Some(o) = symbol.origin {
        let _ = write!(out, " #{o}");
    }
    out.push('\n');
}

fn comma(out: &mut String, index: usize) {
    if index > 0 {
        out.push_str(", ");
    }
}

fn return_type(out: &mut String, module: &Module, ty: Type) {
    if !ty.is_void() {
        out.push_str(" -> ");
        type_into(out, module, ty);
    }
}

fn fields_into(out: &mut String, module: &Module, fields: &[Type], packed: bool) {
    out.push_str(if packed { "<{" } else { "{" });
    for (i, &f) in fields.iter().enumerate() {
        out.push_str(if i > 0 { ", " } else { " " });
        type_into(out, module, f);
    }
    out.push_str(match (packed, fields.is_empty()) {
        (true, false) => " }>",
        (true, true) => "}>",
        (false, false) => " }",
        (false, true) => "}",
    });
}

/// Appends a type.
pub(super) fn type_into(out: &mut String, module: &Module, ty: Type) {
    match ty {
        Type::Void => out.push_str("void"),
        Type::Int(bits) => {
            let _ = write!(out, "i{bits}");
        }
        Type::Float(kind) => out.push_str(kind.name()),
        Type::Ptr(0) => out.push_str("ptr"),
        Type::Ptr(space) => {
            let _ = write!(out, "ptr addrspace({space})");
        }
        Type::Vector(v) => {
            let scale = if v.scalable { "vscale x " } else { "" };
            let _ = write!(out, "<{scale}{} x ", v.lanes);
            type_into(out, module, Scalar::into(v.elem));
            out.push('>');
        }
        Type::Aggregate(a) => match module.types.get(a) {
            AggregateType::Array { elem, len } => {
                let _ = write!(out, "[{len} x ");
                type_into(out, module, *elem);
                out.push(']');
            }
            AggregateType::Struct { name: Some(name), .. } => {
                // Two identified structures of one name can only come from merged inputs.
                let earlier = module
                    .types
                    .aggregates()
                    .take_while(|&(id, _)| id != a)
                    .any(|(_, t)| matches!(t, AggregateType::Struct { name: Some(n), .. } if n == name));
                out.push('%');
                if earlier {
                    name_into(out, &format!("{name}.{}", a.as_u32()), "v");
                } else {
                    name_into(out, name, "v");
                }
            }
            AggregateType::Struct { fields, packed, .. } => {
                fields_into(out, module, fields.as_deref().unwrap_or(&[]), *packed);
            }
        },
        Type::Other(o) => {
            out.push_str("other ");
            quote_into(out, module.types.other_text(o));
        }
    }
}

/// Appends an effect record.
pub(super) fn effects_into(out: &mut String, effects: Effects) {
    out.push_str(" [");
    let mut rest = effects;
    let mut first = true;
    if rest.contains(Effects::UNKNOWN) {
        out.push_str("unknown");
        rest -= Effects::UNKNOWN;
        first = false;
    }
    for (name, _) in rest.iter_names() {
        if !first {
            out.push(' ');
        }
        first = false;
        out.push_str(&name.to_ascii_lowercase());
    }
    out.push(']');
}

struct Printer<'a, F> {
    module: &'a Module,
    func: &'a Function,
    names: Names<'a>,
    out: String,
    notes: F,
}

impl<F: FnMut(Place) -> Vec<String>> Printer<'_, F> {
    fn note(&mut self, place: Place) {
        for text in (self.notes)(place) {
            for line in text.lines() {
                let _ = writeln!(self.out, "    ; {line}");
            }
        }
    }

    fn function(&mut self) {
        let (module, func) = (self.module, self.func);
        self.out.push_str("func @");
        name_into(&mut self.out, &func.name, "");
        self.out.push('(');
        for (i, &p) in func.params.iter().enumerate() {
            comma(&mut self.out, i);
            self.definition(p);
            self.pointer_facts(p);
        }
        if func.variadic {
            comma(&mut self.out, func.params.len());
            self.out.push_str("...");
        }
        self.out.push(')');
        return_type(&mut self.out, module, func.ret);
        if let Some(o) = func.origin.expand() {
            let _ = write!(self.out, " #{o}");
        }
        if let Some(l) = func.loc.expand() {
            let _ = write!(self.out, " !{}", l.as_u32());
        }
        if func.phase != Phase::Scalar {
            let _ = write!(self.out, " phase {}", func.phase.name());
        }
        if func.noinline {
            self.out.push_str(" noinline");
        }
        if func.is_sanitized {
            self.out.push_str(" sanitized");
        }
        self.out.push_str(" {\n");
        self.note(Place::Function);
        for (x, data) in func.vars.iter() {
            let _ = write!(self.out, "  var {}: ", self.names.var(x));
            type_into(&mut self.out, module, data.ty);
            if data.unwritten == Unwritten::Undef {
                self.out.push_str(" = undef");
            }
            self.out.push('\n');
        }
        for &b in &func.layout {
            self.block(b);
        }
        self.out.push_str("}\n");
    }

    fn block(&mut self, b: Block) {
        self.out.push_str(&self.names.block(b));
        if let Some(m) = self.func.blocks[b].mask.expand() {
            self.out.push_str(" mask ");
            self.operand(m, Some(Type::BOOL));
        }
        if self.func.blocks[b].few {
            self.out.push_str(" few");
        }
        self.out.push_str(":\n");
        self.note(Place::Block(b));
        for i in self.func.block_insts(b) {
            self.out.push_str("  ");
            self.inst(i);
            self.out.push('\n');
            self.note(Place::Inst(i));
        }
    }

    fn definition(&mut self, v: Value) {
        self.out.push_str(&self.names.value(v));
        self.out.push_str(": ");
        type_into(&mut self.out, self.module, self.func.ty(v));
    }

    fn pointer_facts(&mut self, p: Value) {
        let facts = self.func.pointers[p];
        if facts.align > 1 {
            let _ = write!(self.out, " align {}", facts.align);
        }
        if facts.dereferenceable > 0 {
            let _ = write!(self.out, " dereferenceable {}", facts.dereferenceable);
        }
        if facts.noalias {
            self.out.push_str(" noalias");
        }
        if facts.local {
            self.out.push_str(" local");
        }
        if facts.private {
            self.out.push_str(" private");
        }
        if facts.exclusive {
            self.out.push_str(" exclusive");
        }
        if facts.unique {
            self.out.push_str(" unique");
        }
    }

    fn operand(&mut self, v: Value, expected: Option<Type>) {
        match self.func.constant(v) {
            Some(c) => operand_into(&mut self.out, self.module, c, expected),
            None => self.out.push_str(&self.names.value(v)),
        }
    }

    fn args(&mut self, inst: Inst, count: usize) {
        let func = self.func;
        for (i, &a) in func.insts[inst].args[..count].iter().enumerate() {
            self.out.push_str(if i > 0 { ", " } else { " " });
            self.operand(a, expected_type(self.module, func, inst, i));
        }
    }

    fn flags(&mut self, flags: InstFlags) {
        let mut rest = flags;
        if rest.contains(InstFlags::FAST) {
            rest -= InstFlags::FAST;
            self.flags(rest);
            self.out.push_str(" fast");
            return;
        }
        for (name, _) in rest.iter_names() {
            self.out.push(' ');
            self.out.push_str(&name.to_ascii_lowercase());
        }
    }

    fn access(&mut self, access: &MemAccess) {
        if access.is_volatile {
            self.out.push_str(" volatile");
        }
        if access.is_speculative {
            self.out.push_str(" speculative");
        }
        if access.is_nontemporal {
            self.out.push_str(" nontemporal");
        }
        if access.ordering != AtomicOrdering::NotAtomic {
            let _ = write!(self.out, " {}", access.ordering.name());
        }
    }

    fn atomic(&mut self, atomic: Option<Atomic>) {
        let Some(atomic) = atomic else { return };
        match atomic {
            Atomic::Rmw { op, access } => {
                let _ = write!(self.out, " (rmw {}", op.name());
                self.access(&access);
                let _ = write!(self.out, ", align {})", access.align);
            }
            Atomic::CompareExchange { access, failure, weak } => {
                self.out.push_str(if weak { " (cmpxchg weak" } else { " (cmpxchg" });
                self.access(&access);
                let _ = write!(self.out, " {}, align {})", failure.name(), access.align);
            }
            Atomic::Fence(ordering) => {
                let _ = write!(self.out, " (fence {})", ordering.name());
            }
        }
    }

    fn target(&mut self, e: Edge) {
        let edge = &self.func.edges[e];
        self.out.push_str(&self.names.block(edge.to));
        if edge.args.is_empty() {
            return;
        }
        self.out.push('(');
        let phis = &self.func.blocks[edge.to].phis;
        for (i, &a) in edge.args.iter().enumerate() {
            comma(&mut self.out, i);
            let phi = phis.get(i).and_then(|&p| self.func.insts[p].results.first());
            self.operand(a, phi.map(|&v| self.func.ty(v)));
        }
        self.out.push(')');
    }

    fn targets(&mut self, edges: &[Edge]) {
        for (i, &e) in edges.iter().enumerate() {
            comma(&mut self.out, i);
            self.target(e);
            if edges.len() > 1 {
                self.weight(e);
            }
        }
    }

    fn weight(&mut self, e: Edge) {
        if let Some(weight) = self.func.weights[e] {
            let _ = write!(self.out, " weight {weight}");
        }
        if let Some(GroupCount { lanes, came, took }) = self.func.groups[e] {
            let _ = write!(self.out, " groups {took} of {came} by {lanes}");
        }
    }

    fn switch(&mut self, data: &InstData, values: &[u128]) {
        self.out.push(',');
        for (k, &e) in data.edges.iter().enumerate() {
            match k {
                0 => self.out.push(' '),
                1 => self.out.push_str(" ["),
                _ => self.out.push_str(", "),
            }
            if k > 0 {
                let bits = data.args.first().and_then(|&a| self.func.ty(a).int_bits()).unwrap_or(128);
                int_into(&mut self.out, bits, values.get(k - 1).copied().unwrap_or(0));
                self.out.push_str(": ");
            }
            self.target(e);
            self.weight(e);
        }
        if data.edges.len() > 1 {
            self.out.push(']');
        }
    }

    fn inst(&mut self, inst: Inst) {
        let func = self.func;
        let data = &func.insts[inst];
        for (i, &r) in data.results.iter().enumerate() {
            comma(&mut self.out, i);
            self.definition(r);
        }
        if !data.results.is_empty() {
            self.out.push_str(" = ");
        }
        self.out.push_str(match data.op {
            Op::Opaque(_) => "opaque",
            Op::OpaqueTerm(_) => "opaque_term",
            _ => data.op.name(),
        });
        self.flags(data.flags);
        let count = data.args.len();
        match &data.op {
            Op::ICmp(p) => {
                let _ = write!(self.out, " {}", p.name());
                self.args(inst, count);
            }
            Op::FCmp(p) => {
                let _ = write!(self.out, " {}", p.name());
                self.args(inst, count);
            }
            Op::Gep(ty) | Op::Alloca { ty, .. } => {
                self.out.push(' ');
                type_into(&mut self.out, self.module, *ty);
                if count > 0 {
                    self.out.push(',');
                }
                self.args(inst, count);
            }
            Op::Load(m) | Op::Store(m) => {
                self.access(m);
                self.args(inst, count);
            }
            Op::Call(info) => {
                self.call(inst);
                let declared = info.callee.map(|s| self.module.symbols[s].effects);
                if declared != Some(info.effects) {
                    effects_into(&mut self.out, info.effects);
                }
                if let Some(n) = info.variadic_fixed {
                    let _ = write!(self.out, " variadic {n}");
                }
            }
            Op::Opaque(info) | Op::OpaqueTerm(info) => {
                self.out.push(' ');
                quote_into(&mut self.out, &info.name);
                self.atomic(info.atomic);
                self.args(inst, count);
                effects_into(&mut self.out, info.effects);
            }
            Op::ReadVar(x) | Op::WriteVar(x) => {
                let _ = write!(self.out, " {}", self.names.var(*x));
                if count > 0 {
                    self.out.push(',');
                }
                self.args(inst, count);
            }
            _ => self.args(inst, count),
        }
        match &data.op {
            Op::Load(m) | Op::Store(m) => {
                let _ = write!(self.out, ", align {}", m.align);
            }
            Op::Alloca { align, .. } => {
                let _ = write!(self.out, ", align {align}");
            }
            Op::Shuffle(mask) => self.list(mask),
            Op::ExtractValue(path) | Op::InsertValue(path) => self.list(path),
            Op::Br => {
                self.out.push(' ');
                self.targets(&data.edges);
            }
            Op::CondBr => {
                self.out.push_str(", ");
                self.targets(&data.edges);
            }
            Op::Switch(values) => self.switch(data, values),
            Op::OpaqueTerm(_) if !data.edges.is_empty() => {
                self.out.push_str(" -> ");
                self.targets(&data.edges);
            }
            _ => {}
        }
        if let Some(o) = data.origin.expand() {
            let _ = write!(self.out, " #{o}");
        }
        if let Some(l) = data.loc.expand() {
            let _ = write!(self.out, " !{}", l.as_u32());
        }
    }

    fn list<T: std::fmt::Display>(&mut self, items: &[T]) {
        self.out.push_str(" [");
        for (i, item) in items.iter().enumerate() {
            comma(&mut self.out, i);
            let _ = write!(self.out, "{item}");
        }
        self.out.push(']');
    }

    fn call(&mut self, inst: Inst) {
        let func = self.func;
        let data = &func.insts[inst];
        let Op::Call(info) = &data.op else { return };
        self.out.push(' ');
        let mut args = &data.args[..];
        match info.callee {
            Some(s) => {
                self.out.push('@');
                name_into(&mut self.out, &self.module.symbols[s].name, "");
            }
            None => {
                if let Some((&callee, rest)) = args.split_last() {
                    self.operand(callee, None);
                    args = rest;
                }
            }
        }
        self.out.push('(');
        for (i, &a) in args.iter().enumerate() {
            comma(&mut self.out, i);
            self.operand(a, expected_type(self.module, func, inst, i));
        }
        self.out.push(')');
    }
}
