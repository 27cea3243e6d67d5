//! Recipes of sums of narrow integers over all iterations of a loop.
//!
//! Of what a loop adds up, only the sum over all lanes counts, so that each group may give what it adds to fewer lanes
//! than it has: sums of eight neighbouring bytes each, or of the products of two neighbouring pairs of shorts. For
//! these x86 has instructions, which extend on the way, where extending each element and adding it to its lane takes
//! many registers. LLVM finds them in few forms, so that they are asked for by name.
//!
//! In a function with a mask, inactive lanes add nothing ([`masked_sums`](crate::masked_sums)). Under any other mask
//! each lane adds what is its own.

use cranelift_entity::EntitySet;

use warpline_ir::{BinaryOp, CastOp, Function, Inst, LaneOp, Module, Op, Type, Users, Value};

use super::{Input, Recipe, Rep};
use crate::options::Options;

/// What is added up.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Sum {
    /// The operand to which it is added, or from which it is taken.
    pub to: Value,
    pub subtracts: bool,
    /// What is added for each lane.
    pub what: Summand,
    /// Which lanes add something, and whether it is those without it; all if there is none.
    pub under: Option<(Value, bool)>,
    /// How many lanes the instructions take at once.
    pub together: u32,
}

/// What is added for each lane.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Summand {
    /// An unsigned byte, or a truth value.
    Byte(Value),
    /// The distance of two unsigned bytes.
    Distance([Value; 2]),
    /// The product of two signed shorts, or of bytes of which these are extensions.
    Product([Value; 2]),
    /// The product of two bytes, of which each may be signed.
    Bytes { factors: [Value; 2], signed: [bool; 2] },
    /// A short.
    Short { x: Value, is_signed: bool },
}

/// The instructions of a lane program that add up.
#[derive(Default)]
pub(crate) struct Sums {
    /// Each instruction with its recipe.
    found: Vec<(Inst, Sum)>,
    /// Instructions that only they use.
    inside: EntitySet<Inst>,
}

impl Sums {
    /// Finds them for so many lanes.
    pub(super) fn find(
        module: &Module,
        input: &Input<'_>,
        options: &Options<'_>,
        reps: impl Fn(Value) -> Rep,
    ) -> Sums {
        let mut sums = Sums::default();
        let bits = options.machine.byte_sums;
        if options.sums.is_empty() || bits == 0 {
            return sums;
        }
        let func = input.func;
        let users = Users::of(func);
        let own = func.params.last().copied().filter(|_| options.masked);
        for sum in options.sums {
            let Some(start) = func.params.get(sum.parameter).copied() else { continue };
            let Some(chain) = additions(func, &users, start) else { continue };
            let for_all = |a: &Addition| func.blocks[func.insts[a.inst].block].mask.expand() == own;
            if !chain.iter().all(for_all) {
                continue;
            }
            for Addition { inst: i, to, added, subtracts } in chain {
                let ty = func.ty(to);
                let some = conditional(module, func, added, ty).map(|(what, under)| (what, Some(under)));
                let found = some.or_else(|| summand(module, func, added, ty).map(|what| (what, None)));
                let varies = |(what, under): &(Summand, Option<(Value, bool)>)| {
                    what.varies(&reps) || under.is_some_and(|(c, _)| reps(c) == Rep::Varying)
                };
                let Some((what, under)) = found.filter(varies) else { continue };
                let fits = |register: &u32| bits >= *register && options.width * what.bits() >= *register;
                let together = [512, 256].into_iter().find(fits).unwrap_or(128) / what.bits();
                // Parts are joined in pairs.
                if !options.width.is_power_of_two() || options.width < together {
                    continue;
                }
                sums.found.push((i, Sum { to, subtracts, what, under, together }));
                sums.add_inside(func, &users, added, &what);
            }
        }
        sums
    }

    /// Notes what nobody uses but the sum.
    fn add_inside(&mut self, func: &Function, users: &Users, added: Value, what: &Summand) {
        let mut work = vec![added];
        while let Some(v) = work.pop() {
            let is_own = !what.has(v) && users.get(v).len() == 1;
            let Some(i) = func.def_inst(v).filter(|_| is_own) else { continue };
            match func.insts[i].op {
                Op::Cast(_) | Op::Binary(_) | Op::Call(_) => work.extend(&func.insts[i].args),
                // What decides is asked as it is.
                Op::Select | Op::Lane(LaneOp::Blend) => work.extend(&func.insts[i].args[1..]),
                _ => continue,
            }
            self.inside.insert(i);
        }
    }

    /// The shorts that a sum is made of, all lanes' of them, one of which this is.
    pub(super) fn of_shorts(&self, v: Value) -> Option<[Value; 2]> {
        self.found.iter().filter(|(_, sum)| sum.under.is_none()).find_map(|(_, sum)| match sum.what {
            Summand::Product(pair) if pair.contains(&v) => Some(pair),
            Summand::Short { x, .. } if x == v => Some([x; 2]),
            _ => None,
        })
    }

    /// Whether an instruction is made where the sum is that uses it.
    pub(super) fn is_inside(&self, i: Inst) -> bool {
        self.inside.contains(i)
    }

    /// The recipe of an instruction that adds up, or is made where that is.
    pub(super) fn recipe(&self, i: Inst) -> Option<Recipe> {
        if self.inside.contains(i) {
            return Some(Recipe::Nothing);
        }
        self.found.iter().find(|(at, _)| *at == i).map(|&(_, sum)| Recipe::Sum(sum))
    }
}

/// An instruction that adds something to a sum, or takes it from it.
pub(crate) struct Addition {
    pub(crate) inst: Inst,
    /// The sum before.
    pub(crate) to: Value,
    pub(crate) added: Value,
    pub(crate) subtracts: bool,
}

/// The additions from a parameter to what is returned, if that is all that becomes of it.
pub(crate) fn additions(func: &Function, users: &Users, parameter: Value) -> Option<Vec<Addition>> {
    let mut to = parameter;
    let mut chain = Vec::new();
    while let &[inst] = users.get(to) {
        let data = &func.insts[inst];
        let (&Op::Binary(op @ (BinaryOp::Add | BinaryOp::Sub)), &[x, y]) = (&data.op, &data.args[..]) else {
            break;
        };
        if op == BinaryOp::Sub && x != to {
            break;
        }
        let added = if x == to { y } else { x };
        chain.push(Addition { inst, to, added, subtracts: op == BinaryOp::Sub });
        to = data.results[0];
    }
    let is_returned = matches!(users.get(to), &[user] if hands_out(func, users, user, to));
    is_returned.then_some(chain)
}

impl Summand {
    /// The width of its elements.
    pub(crate) fn bits(&self) -> u32 {
        match self {
            Summand::Byte(_) | Summand::Distance(_) | Summand::Bytes { .. } => 8,
            Summand::Product(_) | Summand::Short { .. } => 16,
        }
    }

    fn has(&self, v: Value) -> bool {
        match *self {
            Summand::Byte(x) | Summand::Short { x, .. } => x == v,
            Summand::Distance(pair) | Summand::Product(pair) | Summand::Bytes { factors: pair, .. } => {
                pair.contains(&v)
            }
        }
    }

    fn varies(&self, reps: &impl Fn(Value) -> Rep) -> bool {
        match *self {
            Summand::Byte(x) | Summand::Short { x, .. } => reps(x) == Rep::Varying,
            Summand::Distance(pair) | Summand::Product(pair) | Summand::Bytes { factors: pair, .. } => {
                pair.iter().any(|&v| reps(v) == Rep::Varying)
            }
        }
    }
}

/// Whether an instruction returns a value, as the only thing or as a member of a structure.
fn hands_out(func: &Function, users: &Users, user: Inst, v: Value) -> bool {
    let data = &func.insts[user];
    match data.op {
        Op::Ret => true,
        Op::InsertValue(_) if data.args[1] == v => {
            let whole = data.results[0];
            matches!(users.get(whole), &[next] if hands_out_whole(func, users, next))
        }
        _ => false,
    }
}

/// Whether an instruction returns a structure, or puts more into it and that is returned.
fn hands_out_whole(func: &Function, users: &Users, mut user: Inst) -> bool {
    loop {
        let data = &func.insts[user];
        match data.op {
            Op::Ret => return true,
            Op::InsertValue(_) => match users.get(data.results[0]) {
                &[next] => user = next,
                _ => return false,
            },
            _ => return false,
        }
    }
}

/// What a selection between something and nothing adds, and which lanes do. One that is added where a condition holds
/// is the condition.
pub(crate) fn conditional(
    module: &Module,
    func: &Function,
    v: Value,
    ty: Type,
) -> Option<(Summand, (Value, bool))> {
    let data = &func.insts[func.def_inst(v)?];
    let &[condition, yes, no] = &data.args[..] else { return None };
    matches!(data.op, Op::Select | Op::Lane(LaneOp::Blend)).then_some(())?;
    let is_nothing = |v: Value| func.as_int(v) == Some(0);
    let (what, is_opposite) =
        if is_nothing(no) { (yes, false) } else { is_nothing(yes).then_some((no, true))? };
    let summand = match func.as_int(what) {
        Some(1) => (!is_opposite && !is_as_wide(module, func, condition, ty.int_bits()?))
            .then_some(Summand::Byte(condition)),
        _ => summand(module, func, what, ty),
    };
    Some((summand?, (condition, is_opposite)))
}

/// What a value of this type adds, if there are instructions that add it up.
pub(crate) fn summand(module: &Module, func: &Function, v: Value, ty: Type) -> Option<Summand> {
    let data = &func.insts[func.def_inst(v)?];
    match (&data.op, &data.args[..], ty) {
        (Op::Cast(CastOp::ZExt), &[x], Type::Int(sum @ (16 | 32 | 64)))
            if matches!(func.ty(x), Type::Int(1 | 8)) && !is_as_wide(module, func, x, sum) =>
        {
            Some(distance(module, func, x).map_or(Summand::Byte(x), Summand::Distance))
        }
        // Extended in two steps.
        (Op::Cast(CastOp::ZExt), &[x], Type::Int(64)) if func.ty(x) == Type::Int(32) => {
            let narrow = [8, 16].into_iter().any(|bits| extended(func, x, CastOp::ZExt, bits).is_some());
            if narrow { summand(module, func, x, ty) } else { None }
        }
        // The product of two bytes in 16 bits, and of two shorts in 32.
        (Op::Cast(CastOp::ZExt), &[x], Type::Int(32)) if func.ty(x) == Type::Int(16) => {
            let factors = factors(func, x)
                .filter(|factors| factors.iter().all(|&v| extended(func, v, CastOp::ZExt, 8).is_some()));
            Some(factors.map_or(Summand::Short { x, is_signed: false }, Summand::Product))
        }
        (Op::Cast(op @ (CastOp::ZExt | CastOp::SExt)), &[x], Type::Int(32 | 64))
            if func.ty(x) == Type::Int(16) =>
        {
            let is_signed = *op == CastOp::SExt;
            let products =
                factors(func, x).filter(|&pair| is_signed && ty == Type::Int(32) && is_exact(func, pair));
            Some(products.map_or(Summand::Short { x, is_signed }, Summand::Product))
        }
        (Op::Binary(BinaryOp::Mul), _, Type::Int(32)) => {
            let wide = factors(func, v)?;
            if let [Some(x), Some(y)] = wide.map(|v| extended(func, v, CastOp::SExt, 16)) {
                return Some(Summand::Product([x, y]));
            }
            let byte = |v: Value| {
                let unsigned = extended(func, v, CastOp::ZExt, 8).map(|x| (x, false));
                unsigned.or_else(|| extended(func, v, CastOp::SExt, 8).map(|x| (x, true)))
            };
            let [x, y] = wide.map(byte);
            let ((x, x_signed), (y, y_signed)) = (x?, y?);
            Some(Summand::Bytes { factors: [x, y], signed: [x_signed, y_signed] })
        }
        _ => None,
    }
}

/// How deep conditions are looked into.
const MOST_CONDITIONS: u32 = 8;

/// Whether a value compares what has at least so many bits, or is made of such comparisons: the mask is as wide, and is
/// subtracted as it is.
fn is_as_wide(module: &Module, func: &Function, v: Value, bits: u32) -> bool {
    is_wide_condition(module, func, v, bits, MOST_CONDITIONS)
}

fn is_wide_condition(module: &Module, func: &Function, v: Value, bits: u32, depth: u32) -> bool {
    let Some(data) = func.def_inst(v).map(|i| &func.insts[i]).filter(|_| depth > 0) else { return false };
    let wide = |v: Value| func.ty(v).scalar().is_some_and(|s| module.layout.scalar_bits(s) >= bits);
    match data.op {
        Op::ICmp(_) | Op::FCmp(_) => data.args.first().is_some_and(|&a| wide(a)),
        Op::Binary(BinaryOp::And | BinaryOp::Or | BinaryOp::Xor) | Op::Select if func.ty(v) == Type::BOOL => {
            let part =
                |&a: &Value| func.as_int(a).is_some() || is_wide_condition(module, func, a, bits, depth - 1);
            data.args.iter().all(part)
        }
        _ => false,
    }
}

/// The bytes whose distance a value is: of their saturating differences, one is that and the other is zero.
fn distance(module: &Module, func: &Function, v: Value) -> Option<[Value; 2]> {
    let data = &func.insts[func.def_inst(v)?];
    let (Op::Binary(BinaryOp::Or), &[x, y]) = (&data.op, &data.args[..]) else { return None };
    let difference = |v: Value| {
        let data = &func.insts[func.def_inst(v)?];
        let Op::Call(call) = &data.op else { return None };
        let is_it = &*module.symbols[call.callee?].name == "llvm.usub.sat.i8";
        is_it.then(|| [data.args[0], data.args[1]])
    };
    let ([p, q], other) = (difference(x)?, difference(y)?);
    (other == [q, p]).then_some([p, q])
}

/// Whether the product of two shorts is that of two bytes, of which one is signed, so that it is a signed short.
fn is_exact(func: &Function, pair: [Value; 2]) -> bool {
    let signed = pair.map(|v| extended(func, v, CastOp::SExt, 8).is_some());
    let bytes = [0, 1].map(|k| signed[k] || extended(func, pair[k], CastOp::ZExt, 8).is_some());
    bytes == [true; 2] && signed != [false; 2]
}

/// The factors of a product.
fn factors(func: &Function, v: Value) -> Option<[Value; 2]> {
    let data = &func.insts[func.def_inst(v)?];
    match (&data.op, &data.args[..]) {
        (Op::Binary(BinaryOp::Mul), &[x, y]) => Some([x, y]),
        _ => None,
    }
}

/// What a value is the extension of, if that has so many bits.
fn extended(func: &Function, v: Value, op: CastOp, bits: u32) -> Option<Value> {
    let data = &func.insts[func.def_inst(v)?];
    (data.op == Op::Cast(op) && func.ty(data.args[0]) == Type::Int(bits)).then(|| data.args[0])
}
