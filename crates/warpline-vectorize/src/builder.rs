//! A little builder for straight code and counted loops.

use warpline_ir::{
    BinaryOp, Block, CallInfo, CastOp, Constant, Effects, FuncId, Function, InstFlags, IntPred, MemAccess,
    Module, Op, SymbolKind, Type, Value,
};

pub(crate) const I64: Type = Type::Int(64);

/// A function under construction, with the block that code is appended to.
pub(crate) struct Builder<'m> {
    pub(crate) module: &'m mut Module,
    pub(crate) func: Function,
    pub(crate) at: Block,
}

/// A loop that is open: [`Builder::end_loop`] closes it.
pub(crate) struct Loop {
    pub(crate) head: Block,
    /// Counts 0, step, 2·step …
    pub(crate) counter: Value,
    /// Further values carried along: start value and, per iteration, `step` more.
    pub(crate) inductions: Vec<Value>,
    step: u64,
    limit: Value,
}

impl<'m> Builder<'m> {
    /// A function without a result that takes nothing yet.
    pub(crate) fn new(module: &'m mut Module, name: &str) -> Builder<'m> {
        let mut func = Function::new(name, Type::Void);
        let at = func.add_block("entry");
        Builder { module, func, at }
    }

    /// Adds the function to the module, with its symbol.
    pub(crate) fn finish(self) -> FuncId {
        let params: Vec<Type> = self.func.params.iter().map(|&p| self.func.ty(p)).collect();
        self.module.function_symbol(&self.func.name, &params, self.func.ret, Effects::UNKNOWN);
        self.module.functions.push(self.func)
    }

    pub(crate) fn block(&mut self, name: &str) -> Block {
        self.func.add_block(name)
    }

    pub(crate) fn int(&mut self, bits: u32, value: i64) -> Value {
        self.func.int_const(bits, i128::from(value) as u128)
    }

    pub(crate) fn value(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        self.func.append_value(self.at, op, args, ty)
    }

    pub(crate) fn binary(&mut self, op: BinaryOp, a: Value, b: Value, flags: InstFlags) -> Value {
        let ty = self.func.ty(a);
        let inst = self.func.append(self.at, Op::Binary(op), &[a, b], ty);
        self.func.insts[inst].flags = flags;
        self.func.insts[inst].results[0]
    }

    pub(crate) fn cast(&mut self, op: CastOp, x: Value, ty: Type) -> Value {
        if self.func.ty(x) == ty { x } else { self.value(Op::Cast(op), &[x], ty) }
    }

    pub(crate) fn icmp(&mut self, pred: IntPred, a: Value, b: Value) -> Value {
        let ty = match self.func.ty(a) {
            Type::Vector(v) => Type::BOOL.vector(v.lanes).unwrap_or(Type::BOOL),
            _ => Type::BOOL,
        };
        self.value(Op::ICmp(pred), &[a, b], ty)
    }

    /// The smaller of two signed numbers.
    pub(crate) fn smin(&mut self, a: Value, b: Value) -> Value {
        let less = self.icmp(IntPred::Slt, a, b);
        let ty = self.func.ty(a);
        self.value(Op::Select, &[less, a, b], ty)
    }

    pub(crate) fn br(&mut self, to: Block) {
        self.func.set_terminator(self.at, Op::Br, &[], &[to]);
    }

    pub(crate) fn cond_br(&mut self, cond: Value, yes: Block, no: Block) {
        self.func.set_terminator(self.at, Op::CondBr, &[cond], &[yes, no]);
    }

    pub(crate) fn ret(&mut self) {
        self.func.set_terminator(self.at, Op::Ret, &[], &[]);
    }

    /// Sets the operands of the target's φs on the only edge of the current block's terminator, or on the one that
    /// is taken if the condition is true.
    pub(crate) fn pass(&mut self, args: &[Value]) {
        let term = self.func.terminator(self.at);
        let edge = self.func.insts[term].edges[0];
        for (i, &v) in args.iter().enumerate() {
            self.func.set_phi_arg(edge, i, v);
        }
    }

    /// A mask as a masked function takes it: that of a single lane is a boolean.
    pub(crate) fn mask_argument(&mut self, mask: Value, width: u32) -> Value {
        if width > 1 {
            return mask;
        }
        let first = self.int(64, 0);
        self.value(Op::ExtractElement, &[mask, first], Type::BOOL)
    }

    /// The mask of the first `count` lanes of a variant with so many, compared in elements as wide as the narrowest
    /// ones that it loads and stores: these need the mask in that form.
    pub(crate) fn first_lanes(&mut self, count: Value, variant: FuncId, lanes: u32) -> Value {
        let bits = narrowest_access(self.module, variant, lanes).unwrap_or(32).clamp(8, 32);
        let count = self.cast(CastOp::Trunc, count, Type::Int(bits));
        let numbers = self.lanes(bits, lanes, u128::from);
        let all = self.splat(count, lanes);
        self.icmp(IntPred::Ult, numbers, all)
    }

    /// The mask of the last `count` of so many lanes, in elements as narrow as most sums are of.
    pub(crate) fn last_lanes(&mut self, count: Value, lanes: u32) -> Value {
        let count = self.cast(CastOp::Trunc, count, Type::Int(8));
        let all = self.int(8, lanes.into());
        let first = self.binary(BinaryOp::Sub, all, count, InstFlags::empty());
        let numbers = self.lanes(8, lanes, u128::from);
        let firsts = self.splat(first, lanes);
        self.icmp(IntPred::Uge, numbers, firsts)
    }

    /// Opens a loop that runs for counter = 0, step … while it is below `limit`, which must be at least 1 here (an
    /// unsigned 64-bit number, a multiple of the step). `starts` are integers that grow by the step as well, without
    /// wrapping in either reading as long as the loop runs.
    pub(crate) fn begin_loop(&mut self, name: &str, limit: Value, step: u64, starts: &[Value]) -> Loop {
        let head = self.block(name);
        let counter = self.func.add_phi(head, I64);
        let mut inductions = Vec::new();
        for &start in starts {
            let ty = self.func.ty(start);
            inductions.push(self.func.add_phi(head, ty));
        }
        let zero = self.int(64, 0);
        self.br(head);
        let args: Vec<Value> = std::iter::once(zero).chain(starts.iter().copied()).collect();
        self.pass(&args);
        self.at = head;
        Loop { head, counter, inductions, step, limit }
    }

    /// Closes a loop and goes on in `then`.
    pub(crate) fn end_loop(&mut self, l: &Loop, then: Block) {
        let step = self.int(64, l.step as i64);
        let next = self.binary(BinaryOp::Add, l.counter, step, InstFlags::NUW);
        let mut args = vec![next];
        for &x in &l.inductions {
            let bits = self.func.ty(x).int_bits().unwrap_or(64);
            let by = self.int(bits, l.step as i64);
            args.push(self.binary(BinaryOp::Add, x, by, InstFlags::NUW | InstFlags::NSW));
        }
        let more = self.icmp(IntPred::Ult, next, l.limit);
        self.cond_br(more, l.head, then);
        self.pass(&args);
        self.at = then;
    }

    /// The address of element `index` of an array with elements of this type.
    pub(crate) fn element(&mut self, base: Value, ty: Type, index: Value) -> Value {
        let in_memory = if ty == Type::BOOL { Type::Int(8) } else { ty };
        let ptr = self.func.ty(base);
        let inst = self.func.append(self.at, Op::Gep(in_memory), &[base, index], ptr);
        self.func.insts[inst].flags = InstFlags::INBOUNDS;
        self.func.insts[inst].results[0]
    }

    fn access(&self, ty: Type) -> MemAccess {
        let layout = &self.module.layout;
        let align = match element_bytes(self.module, ty) {
            Some(size) if size.is_power_of_two() && ty.scalar().is_some() => size,
            _ => layout.abi_align(&self.module.types, ty),
        };
        MemAccess::plain(align)
    }

    /// Loads `lanes` elements (a scalar if `None`); booleans are bytes in memory.
    pub(crate) fn load(&mut self, ptr: Value, elem: Type, lanes: Option<u32>) -> Value {
        let access = self.access(elem);
        let (memory, wanted) = in_memory(elem, lanes);
        let x = self.value(Op::Load(access), &[ptr], memory);
        self.cast(CastOp::Trunc, x, wanted)
    }

    /// Stores a scalar or vector of elements.
    pub(crate) fn store(&mut self, ptr: Value, x: Value, elem: Type) {
        let access = self.access(elem);
        let lanes = match self.func.ty(x) {
            Type::Vector(v) => Some(v.lanes),
            _ => None,
        };
        let (memory, _) = in_memory(elem, lanes);
        let x = self.cast(CastOp::ZExt, x, memory);
        self.func.append(self.at, Op::Store(access), &[x, ptr], Type::Void);
    }

    /// A local array with room for so many elements.
    pub(crate) fn array(&mut self, elem: Type, count: u32) -> Value {
        let in_memory = if elem == Type::BOOL { Type::Int(8) } else { elem };
        let bytes = element_bytes(self.module, elem).unwrap_or(1) * u64::from(count);
        let ty = self.module.types.array(in_memory, u64::from(count));
        let op = Op::Alloca { ty, align: bytes.next_power_of_two().min(64) };
        let count = self.int(32, 1);
        self.value(op, &[count], Type::PTR)
    }

    /// The vector with `x` in every lane.
    pub(crate) fn splat(&mut self, x: Value, lanes: u32) -> Value {
        let Some(ty) = self.func.ty(x).vector(lanes) else { return x };
        let poison = self.func.poison(ty);
        let zero = self.int(32, 0);
        let first = self.value(Op::InsertElement, &[poison, x, zero], ty);
        self.value(Op::Shuffle(vec![0; lanes as usize].into()), &[first, poison], ty)
    }

    /// The constant vector ⟨f(0), f(1), …⟩ of integers.
    pub(crate) fn lanes(&mut self, bits: u32, lanes: u32, f: impl Fn(u32) -> u128) -> Value {
        let elems = (0..lanes).map(|l| Constant::int(bits, f(l))).collect();
        self.func.constant_value(Constant::vector(elems))
    }

    /// Calls an intrinsic that does nothing but compute.
    pub(crate) fn intrinsic(&mut self, name: &str, args: &[Value], ty: Type) -> Value {
        let params: Vec<Type> = args.iter().map(|&a| self.func.ty(a)).collect();
        let symbol = self.module.function_symbol(name, &params, ty, Effects::empty());
        let info = CallInfo { callee: Some(symbol), effects: Effects::empty(), variadic_fixed: None };
        self.value(Op::Call(Box::new(info)), args, ty)
    }

    /// Ends the program with a fault if a condition does not hold.
    pub(crate) fn require(&mut self, cond: Value) {
        let (go_on, stop) = (self.block("right"), self.block("stop"));
        self.cond_br(cond, go_on, stop);
        self.at = stop;
        let effects = Effects::NO_RETURN;
        let symbol = self.module.function_symbol("llvm.trap", &[], Type::Void, effects);
        let info = CallInfo { callee: Some(symbol), effects, variadic_fixed: None };
        self.func.append(self.at, Op::Call(Box::new(info)), &[], Type::Void);
        self.func.set_terminator(self.at, Op::Unreachable, &[], &[]);
        self.at = go_on;
    }

    /// Calls a function of the module; the result, if it has one.
    pub(crate) fn call(&mut self, callee: FuncId, args: &[Value]) -> Option<Value> {
        let target = &self.module.functions[callee];
        let (name, ret) = (target.name.clone(), target.ret);
        let params: Vec<Type> = target.params.iter().map(|&p| target.ty(p)).collect();
        let symbol = self.module.function_symbol(&name, &params, ret, Effects::UNKNOWN);
        debug_assert!(matches!(self.module.symbols[symbol].kind, SymbolKind::Function { .. }));
        let effects = self.module.symbols[symbol].effects;
        let info = CallInfo { callee: Some(symbol), effects, variadic_fixed: None };
        let inst = self.func.append(self.at, Op::Call(Box::new(info)), args, ret);
        self.func.insts[inst].result()
    }
}

/// The type of elements in memory and of the value made of them.
fn in_memory(elem: Type, lanes: Option<u32>) -> (Type, Type) {
    let wide = |ty: Type| lanes.and_then(|l| ty.vector(l)).unwrap_or(ty);
    (wide(if elem == Type::BOOL { Type::Int(8) } else { elem }), wide(elem))
}

/// How many bytes an element of an array of this type takes; `None` for types that have no such arrays.
pub(crate) fn element_bytes(module: &Module, ty: Type) -> Option<u64> {
    let members_too = |ty: Type| {
        let mut k = 0;
        while let Some(member) = module.types.member(ty, k) {
            element_bytes(module, member)?;
            k += 1;
        }
        module.layout.alloc_size(&module.types, ty).filter(|&size| size > 0)
    };
    match ty {
        Type::Int(1) => Some(1),
        // The elements of a vector lie side by side, whatever the alignment of one of them is.
        Type::Vector(v) if v.scalable || !module.layout.scalar_bits(v.elem).is_multiple_of(8) => None,
        Type::Aggregate(_) | Type::Vector(_) => members_too(ty),
        _ => module.layout.alloc_size(&module.types, ty),
    }
}

/// The least number of bits of the elements that a W-lane variant loads or stores side by side.
fn narrowest_access(module: &Module, variant: FuncId, lanes: u32) -> Option<u32> {
    let func = &module.functions[variant];
    let insts = func.layout.iter().flat_map(|&b| func.block_insts(b));
    let accesses = insts.filter(|&i| func.insts[i].effects().intersects(Effects::READS | Effects::WRITES));
    let moved = accesses.flat_map(|i| func.insts[i].args.iter().chain(&func.insts[i].results));
    let bits = moved.filter_map(|&v| match func.ty(v) {
        Type::Vector(v) if v.lanes == lanes => Some(module.layout.scalar_bits(v.elem)),
        _ => None,
    });
    // Masks have one bit.
    bits.filter(|&bits| bits > 1).min()
}
