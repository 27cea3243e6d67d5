//! Every transfer function against enumeration: all values, steps and amounts of knowledge at a width of a
//! few bits. And the traps that have broken vectorizers, by name.

use super::*;
use warpline_ir::{
    AggregateType, BinaryOp, Block, CastOp, Constant, Edge, Function, Inst, InstFlags, IntPred, Module, Op,
    Type, Value,
};

// ---- enumeration ----------------------------------------------------------------------------------------

/// Numbers of the two lanes that are compared; the ghost is lane 0.
type Lanes = [i128; 2];

const LANES: [Lanes; 2] = [[1, 2], [1, 3]];

fn mask(width: u32) -> u128 {
    (1 << width) - 1
}

fn signed(width: u32, x: u128) -> i128 {
    ((x << (128 - width)) as i128) >> (128 - width)
}

/// Whether the ghost and the two lanes' values are as the shape promises.
fn holds(shape: Shape, width: u32, numbers: Lanes, ghost: u128, lanes: [u128; 2]) -> bool {
    let Shape::Strided(s) = shape else {
        return shape.is_varying() || (lanes[0] == lanes[1] && ghost == lanes[0]);
    };
    let step = i128::from(s.step);
    let unsigned = |x: u128| x as i128;
    let related = |a: u128, b: u128, distance: i128, anchored: bool, with: Exact| {
        let congruent = (b as i128 - a as i128 - distance * step) & mask(width) as i128 == 0;
        let exact_unsigned = unsigned(b) - unsigned(a) == distance * step;
        let exact_signed = signed(width, b) - signed(width, a) == distance * step;
        (!anchored || congruent) && (s.unsigned < with || exact_unsigned) && (s.signed < with || exact_signed)
    };
    related(lanes[0], lanes[1], numbers[1] - numbers[0], true, Exact::Lanes)
        && (0..2).all(|i| related(ghost, lanes[i], numbers[i], s.anchored, Exact::Ghost))
}

/// All strided shapes of a width, and `Uniform`.
fn all_shapes(width: u32) -> Vec<Shape> {
    let mut shapes = vec![Shape::Uniform];
    let half = 1i64 << (width - 1);
    for step in (-half..half).filter(|&s| s != 0) {
        for unsigned in [Exact::No, Exact::Lanes, Exact::Ghost] {
            for signed in [Exact::No, Exact::Lanes, Exact::Ghost] {
                for anchored in [false, true] {
                    let claims_ghost = unsigned == Exact::Ghost || signed == Exact::Ghost;
                    if anchored || !claims_ghost {
                        shapes.push(Shape::Strided(Stride { step, unsigned, signed, anchored, whole: true }));
                    }
                }
            }
        }
    }
    shapes
}

fn with_lanes(shapes: Vec<Shape>) -> impl Iterator<Item = (Shape, Lanes)> {
    shapes.into_iter().flat_map(|s| LANES.into_iter().map(move |l| (s, l)))
}

/// All (ghost, lanes) of a shape.
fn members(shape: Shape, width: u32, numbers: Lanes) -> Vec<(u128, [u128; 2])> {
    let all = 0..=mask(width);
    let mut found = Vec::new();
    for ghost in all.clone() {
        for a in all.clone() {
            for b in all.clone() {
                if holds(shape, width, numbers, ghost, [a, b]) {
                    found.push((ghost, [a, b]));
                }
            }
        }
    }
    found
}

/// What an instruction yields for one lane: `None` is poison or undefined behaviour. `flags` are ignored for the ghost.
fn evaluate(op: BinaryOp, flags: InstFlags, w: u32, a: u128, b: u128) -> Option<u128> {
    let (sa, sb) = (signed(w, a), signed(w, b));
    let (min, max) = (-(1i128 << (w - 1)), (1i128 << (w - 1)) - 1);
    let wraps = |u: i128, s: i128| {
        (flags.contains(InstFlags::NUW) && !(0..=mask(w) as i128).contains(&u))
            || (flags.contains(InstFlags::NSW) && !(min..=max).contains(&s))
    };
    let exact = flags.contains(InstFlags::EXACT);
    let (ua, ub) = (a as i128, b as i128);
    let result = match op {
        BinaryOp::Add => (!wraps(ua + ub, sa + sb)).then_some(ua + ub)?,
        BinaryOp::Sub => (!wraps(ua - ub, sa - sb)).then_some(ua - ub)?,
        BinaryOp::Mul => (!wraps(ua * ub, sa * sb)).then_some(ua * ub)?,
        BinaryOp::Shl if ub < w.into() => (!wraps(ua << ub, sa << ub)).then_some(ua << ub)?,
        BinaryOp::LShr if ub < w.into() && !(exact && ua & ((1 << ub) - 1) != 0) => ua >> ub,
        BinaryOp::AShr if ub < w.into() && !(exact && ua & ((1 << ub) - 1) != 0) => sa >> ub,
        BinaryOp::UDiv if ub != 0 && !(exact && ua % ub != 0) => ua / ub,
        BinaryOp::SDiv if sb != 0 && !(sa == min && sb == -1) && !(exact && sa % sb != 0) => sa / sb,
        BinaryOp::URem if ub != 0 => ua % ub,
        BinaryOp::SRem if sb != 0 && !(sa == min && sb == -1) => sa % sb,
        BinaryOp::And => ua & ub,
        BinaryOp::Or if flags.contains(InstFlags::DISJOINT) && ua & ub != 0 => return None,
        BinaryOp::Or => ua | ub,
        BinaryOp::Xor => ua ^ ub,
        _ => return None,
    };
    Some(result as u128 & mask(w))
}

/// The ghost's evaluation: no flags, and `or disjoint` as `add`.
fn evaluate_ghost(op: BinaryOp, flags: InstFlags, w: u32, a: u128, b: u128) -> Option<u128> {
    let op = if flags.contains(InstFlags::DISJOINT) { BinaryOp::Add } else { op };
    evaluate(op, InstFlags::empty(), w, a, b)
}

fn flag_sets(op: BinaryOp) -> Vec<InstFlags> {
    let none = InstFlags::empty();
    match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl => {
            vec![none, InstFlags::NUW, InstFlags::NSW, InstFlags::NUW | InstFlags::NSW]
        }
        BinaryOp::LShr | BinaryOp::AShr | BinaryOp::UDiv | BinaryOp::SDiv => vec![none, InstFlags::EXACT],
        BinaryOp::Or => vec![none, InstFlags::DISJOINT],
        _ => vec![none],
    }
}

const INT_OPS: [BinaryOp; 13] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::UDiv,
    BinaryOp::SDiv,
    BinaryOp::URem,
    BinaryOp::SRem,
    BinaryOp::Shl,
    BinaryOp::LShr,
    BinaryOp::AShr,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
];

/// Checks one claim on all members of the operands' shapes, which are whole: a lane's result is poison only by the
/// instruction itself.
fn check(
    what: &dyn Fn() -> String,
    claim: Shape,
    width: u32,
    numbers: Lanes,
    operands: &[(u128, [u128; 2], u128, [u128; 2])],
    eval: &dyn Fn(u128, u128) -> Option<u128>,
    ghost: &dyn Fn(u128, u128) -> Option<u128>,
) {
    if claim.is_varying() {
        return;
    }
    for &(ga, a, gb, b) in operands {
        let lanes = [eval(a[0], b[0]), eval(a[1], b[1])];
        if claim.whole() {
            assert_eq!(lanes[0].is_some(), lanes[1].is_some(), "{}: not whole for {a:?} {b:?}", what());
        }
        let [Some(x), Some(y)] = lanes else { continue };
        // A ghost without a value is poison or traps: no claim may rest on it.
        let g = ghost(ga, gb);
        let anchored = claim.anchored();
        assert!(g.is_some() || !anchored, "{}: the ghost has no value for {ga} {gb}", what());
        let ok = holds(claim, width, numbers, g.unwrap_or(0), [x, y]);
        assert!(
            ok,
            "{}: claimed {claim:?}, but ghost {g:?}, lanes {x} {y} for {ga} {a:?}, {gb} {b:?}",
            what()
        );
    }
}

#[test]
fn arithmetic_with_a_constant_is_right_for_every_value_step_and_constant() {
    let w = 3;
    let mut claims = 0;
    for (shape, numbers) in with_lanes(all_shapes(w)) {
        let members = members(shape, w, numbers);
        for op in INT_OPS {
            for flags in flag_sets(op) {
                for c in 0..=mask(w) {
                    for swapped in [false, true] {
                        let k = Num { constant: Some(c), ..Num::of(Shape::Uniform) };
                        let x = Num::of(shape);
                        let claim =
                            if swapped { binary(op, flags, w, k, x) } else { binary(op, flags, w, x, k) };
                        if shape.is_uniform() {
                            assert!(claim.is_uniform());
                            continue;
                        }
                        claims += usize::from(!claim.is_varying());
                        let operands: Vec<_> = members
                            .iter()
                            .map(|&(g, l)| if swapped { (c, [c, c], g, l) } else { (g, l, c, [c, c]) })
                            .collect();
                        check(
                            &|| format!("{} {flags:?} {shape:?} {c} swapped {swapped}", op.name()),
                            claim,
                            w,
                            numbers,
                            &operands,
                            &|a, b| evaluate(op, flags, w, a, b),
                            &|a, b| evaluate_ghost(op, flags, w, a, b),
                        );
                    }
                }
            }
        }
    }
    assert!(claims > 5000, "only {claims} claims were checked");
}

#[test]
fn known_zero_bits_are_used_rightly() {
    let w = 4;
    for (shape, numbers) in with_lanes(all_shapes(w)) {
        for zeros in 1..=2 {
            let divisible = |x: u128| x & ((1 << zeros) - 1) == 0;
            let members: Vec<_> = members(shape, w, numbers)
                .into_iter()
                .filter(|&(g, l)| divisible(g) && divisible(l[0]) && divisible(l[1]))
                .collect();
            for op in [BinaryOp::And, BinaryOp::Or, BinaryOp::Xor] {
                for c in 0..=mask(w) {
                    let k = Num { constant: Some(c), ..Num::of(Shape::Uniform) };
                    let none = InstFlags::empty();
                    let claim = binary(op, none, w, Num { zeros, ..Num::of(shape) }, k);
                    let operands: Vec<_> = members.iter().map(|&(g, l)| (g, l, c, [c, c])).collect();
                    check(
                        &|| format!("{} {shape:?} {c}, {zeros} zeros", op.name()),
                        claim,
                        w,
                        numbers,
                        &operands,
                        &|a, b| evaluate(op, none, w, a, b),
                        &|a, b| evaluate_ghost(op, none, w, a, b),
                    );
                }
            }
        }
    }
}

#[test]
fn arithmetic_of_two_strided_values_is_right() {
    let w = 2;
    let shapes = all_shapes(w);
    for numbers in LANES {
        let members: Vec<_> = shapes.iter().map(|&s| members(s, w, numbers)).collect();
        for (x, y) in (0..shapes.len()).flat_map(|x| (0..shapes.len()).map(move |y| (x, y))) {
            let (xs, ys) = (&members[x], &members[y]);
            let (x, y) = (&shapes[x], &shapes[y]);
            if x.is_uniform() && y.is_uniform() {
                continue;
            }
            let operands: Vec<_> =
                xs.iter().flat_map(|&(ga, a)| ys.iter().map(move |&(gb, b)| (ga, a, gb, b))).collect();
            for op in INT_OPS {
                for flags in flag_sets(op) {
                    let claim = binary(op, flags, w, Num::of(*x), Num::of(*y));
                    check(
                        &|| format!("{} {flags:?} {x:?} {y:?}", op.name()),
                        claim,
                        w,
                        numbers,
                        &operands,
                        &|a, b| evaluate(op, flags, w, a, b),
                        &|a, b| evaluate_ghost(op, flags, w, a, b),
                    );
                }
            }
            for &pred in IntPred::ALL {
                let claim = icmp(pred, InstFlags::empty(), *x, *y);
                let eval = |a: u128, b: u128| {
                    let (sa, sb) = (signed(w, a), signed(w, b));
                    Some(u128::from(match pred {
                        IntPred::Eq => a == b,
                        IntPred::Ne => a != b,
                        IntPred::Ugt => a > b,
                        IntPred::Uge => a >= b,
                        IntPred::Ult => a < b,
                        IntPred::Ule => a <= b,
                        IntPred::Sgt => sa > sb,
                        IntPred::Sge => sa >= sb,
                        IntPred::Slt => sa < sb,
                        IntPred::Sle => sa <= sb,
                    }))
                };
                check(
                    &|| format!("icmp {} {x:?} {y:?}", pred.name()),
                    claim,
                    1,
                    numbers,
                    &operands,
                    &eval,
                    &eval,
                );
            }
        }
    }
}

#[test]
fn integer_casts_are_right_for_every_value_and_step() {
    let mut claims = 0;
    for (op, from, to) in [
        (CastOp::ZExt, 3, 5),
        (CastOp::SExt, 3, 5),
        (CastOp::Trunc, 4, 2),
        (CastOp::Trunc, 4, 3),
        (CastOp::Trunc, 4, 1),
    ] {
        let flag_sets = match op {
            CastOp::ZExt => vec![InstFlags::empty(), InstFlags::NNEG],
            CastOp::Trunc => {
                vec![InstFlags::empty(), InstFlags::NUW, InstFlags::NSW, InstFlags::NUW | InstFlags::NSW]
            }
            _ => vec![InstFlags::empty()],
        };
        let strided = all_shapes(from).into_iter().filter(|s| !s.is_uniform()).collect();
        for (shape, numbers) in with_lanes(strided) {
            let operands: Vec<_> =
                members(shape, from, numbers).iter().map(|&(g, l)| (g, l, 0, [0, 0])).collect();
            for &flags in &flag_sets {
                let claim = int_cast(op, flags, from, to, shape);
                claims += usize::from(!claim.is_varying());
                let ghost = |x: u128, _| {
                    Some(match op {
                        CastOp::SExt => signed(from, x) as u128 & mask(to),
                        _ => x & mask(to),
                    })
                };
                let eval = |x: u128, y| {
                    let r = ghost(x, y)?;
                    let poison = match op {
                        CastOp::ZExt => flags.contains(InstFlags::NNEG) && signed(from, x) < 0,
                        _ => {
                            (flags.contains(InstFlags::NUW) && r != x)
                                || (flags.contains(InstFlags::NSW) && signed(to, r) != signed(from, x))
                        }
                    };
                    (!poison).then_some(r)
                };
                check(
                    &|| format!("{} {flags:?} {shape:?}", op.name()),
                    claim,
                    to,
                    numbers,
                    &operands,
                    &eval,
                    &ghost,
                );
            }
        }
    }
    assert!(claims > 200, "only {claims} claims were checked");
}

#[test]
fn join_promises_no_more_than_either() {
    let w = 2;
    for x in all_shapes(w) {
        for y in all_shapes(w) {
            let joined = x.join(y);
            assert_eq!(joined, y.join(x));
            for (s, numbers) in with_lanes(vec![x, y]) {
                for (g, l) in members(s, w, numbers) {
                    assert!(holds(joined, w, numbers, g, l), "{x:?} join {y:?} = {joined:?} loses {g} {l:?}");
                }
            }
        }
    }
}

// ---- traps, by name -------------------------------------------------------------------------------------

/// A function of one block under construction, with parameters `i` (index), `u` (uniform) and `p` (uniform pointer).
struct Kernel {
    module: Module,
    func: Function,
    block: Block,
    shapes: Vec<Shape>,
}

impl Kernel {
    fn new(index_bits: u32) -> (Kernel, Value, Value, Value) {
        let mut func = Function::new("k", Type::Void);
        let i = func.add_param(Type::Int(index_bits), "i");
        let u = func.add_param(Type::Int(index_bits), "u");
        let p = func.add_param(Type::PTR, "p");
        let block = func.add_block("entry");
        let shapes = vec![Shape::INDEX, Shape::Uniform, Shape::Uniform];
        (Kernel { module: Module::new("m"), func, block, shapes }, i, u, p)
    }

    fn int(&mut self, bits: u32, value: u128) -> Value {
        self.func.int_const(bits, value)
    }

    fn op(&mut self, op: Op, flags: InstFlags, args: &[Value], ty: Type) -> Value {
        let inst = self.func.append(self.block, op, args, ty);
        self.func.insts[inst].flags = flags;
        self.func.insts[inst].results[0]
    }

    fn binary(&mut self, op: BinaryOp, flags: InstFlags, a: Value, b: Value) -> Value {
        let ty = self.func.ty(a);
        self.op(Op::Binary(op), flags, &[a, b], ty)
    }

    fn cast(&mut self, op: CastOp, x: Value, ty: Type) -> Value {
        self.op(Op::Cast(op), InstFlags::empty(), &[x], ty)
    }

    fn shape(&self, v: Value) -> Shape {
        let shapes = Shapes::compute(&self.module, &self.func, &self.shapes, &StraightLine(&self.func));
        shapes.get(v)
    }
}

/// Convergence in straight-line code with shapes `index, uniform, uniform`: divergent is what depends on `i`.
struct StraightLine<'a>(&'a Function);

impl Convergence for StraightLine<'_> {
    fn is_uniform(&self, v: Value) -> bool {
        match self.0.def_inst(v) {
            Some(inst) => self.0.insts[inst].args.iter().all(|&a| self.is_uniform(a)),
            None => v != self.0.params[0],
        }
    }
    fn is_join(&self, _: Block) -> bool {
        false
    }
    fn is_unconverged(&self, _: Block) -> bool {
        false
    }
    fn is_back_edge(&self, _: Edge) -> bool {
        false
    }
    fn is_temporal_at(&self, _: Value, _: Block) -> bool {
        false
    }
    fn is_temporal_on(&self, _: Value, _: Edge) -> bool {
        false
    }
    fn has_strided_source(&self) -> bool {
        true
    }
    fn source(&self, _: Inst) -> Option<Shape> {
        None
    }
}

const NONE: InstFlags = InstFlags::empty();
const I64: Type = Type::Int(64);

#[test]
fn trap_1_a_narrow_index_that_may_wrap_is_not_contiguous_after_extension() {
    let (mut k, i, u, _) = Kernel::new(32);
    let sum = k.binary(BinaryOp::Add, NONE, i, u);
    let wide = k.cast(CastOp::ZExt, sum, I64);
    assert_eq!(k.shape(sum).step(), Some(1), "the narrow sum is contiguous, modulo 2^32");
    assert_eq!(k.shape(wide), Shape::Varying);
    let wide = k.cast(CastOp::SExt, sum, I64);
    assert_eq!(k.shape(wide), Shape::Varying);
}

#[test]
fn trap_1_the_flag_must_be_that_of_the_extension() {
    let (mut k, i, u, _) = Kernel::new(32);
    let nuw = k.binary(BinaryOp::Add, InstFlags::NUW, i, u);
    let nsw = k.binary(BinaryOp::Add, InstFlags::NSW, i, u);
    let cases = [
        (CastOp::ZExt, nuw, true),
        (CastOp::SExt, nuw, false),
        (CastOp::ZExt, nsw, false),
        (CastOp::SExt, nsw, true),
        (CastOp::ZExt, i, true),
        (CastOp::SExt, i, true),
    ];
    for (cast, x, contiguous) in cases {
        let wide = k.cast(cast, x, I64);
        assert_eq!(k.shape(wide).step() == Some(1), contiguous, "{} {}", cast.name(), k.func.value_name(x));
    }
}

#[test]
fn trap_1_shl_then_ashr_does_not_sign_extend_a_strided_value() {
    let (mut k, i, _, _) = Kernel::new(64);
    let c = k.int(64, 32);
    let up = k.binary(BinaryOp::Shl, NONE, i, c);
    assert_eq!(k.shape(up).step(), Some(1 << 32));
    let down = k.binary(BinaryOp::AShr, NONE, up, c);
    assert_eq!(k.shape(down), Shape::Varying);
    let down = k.binary(BinaryOp::LShr, NONE, up, c);
    assert_eq!(k.shape(down), Shape::Varying);
}

#[test]
fn trap_1_a_base_that_wraps_in_lane_0_only_is_no_base() {
    // if (i >= u) p[(u64)(i - u)]: the lanes that are there are contiguous, but lane 0 may be below u.
    let (mut k, i, u, _) = Kernel::new(32);
    let d = k.binary(BinaryOp::Sub, InstFlags::NUW, i, u);
    let wide = k.cast(CastOp::ZExt, d, I64);
    assert_eq!(k.shape(d).anchored_step(), Some(1));
    assert_eq!(k.shape(wide).step(), Some(1));
    assert_eq!(k.shape(wide).anchored_step(), None);
}

#[test]
fn trap_2_tid_times_2_to_the_32_is_not_uniform() {
    let (mut k, i, _, _) = Kernel::new(64);
    let c = k.int(64, 1 << 32);
    let product = k.binary(BinaryOp::Mul, NONE, i, c);
    assert_eq!(k.shape(product).step(), Some(1 << 32));
    let narrow = k.cast(CastOp::Trunc, product, Type::Int(32));
    assert_eq!(k.shape(narrow), Shape::Uniform, "2^32 is 0 in 32 bits");
}

#[test]
fn trap_2_steps_beyond_64_bits_are_given_up_not_wrapped() {
    let (mut k, i, _, _) = Kernel::new(128);
    let c = k.int(128, 1 << 64);
    let product = k.binary(BinaryOp::Mul, NONE, i, c);
    assert_eq!(k.shape(product), Shape::Varying);
    let c = k.int(128, 1 << 62);
    let twice = k.binary(BinaryOp::Mul, NONE, i, c);
    let sum = k.binary(BinaryOp::Add, NONE, twice, twice);
    assert_eq!(k.shape(sum), Shape::Varying, "2^63 does not fit");
}

#[test]
fn trap_2_a_large_element_size_does_not_wrap_the_byte_step() {
    let (mut k, i, _, p) = Kernel::new(64);
    let big = k.module.types.array(Type::Int(8), 1 << 62);
    let q = k.op(Op::Gep(big), NONE, &[p, i], Type::PTR);
    assert_eq!(k.shape(q).step(), Some(1 << 62));
    let four = k.int(64, 4);
    let far = k.binary(BinaryOp::Mul, NONE, i, four);
    let q = k.op(Op::Gep(big), NONE, &[p, far], Type::PTR);
    assert_eq!(k.shape(q), Shape::Uniform, "the address wraps to the same place in every lane");
}

#[test]
fn trap_3_pointers_keep_their_stride_through_integers() {
    let (mut k, i, _, p) = Kernel::new(64);
    let q = k.op(Op::Gep(Type::F32), InstFlags::INBOUNDS, &[p, i], Type::PTR);
    assert_eq!(k.shape(q).anchored_step(), Some(4));
    let n = k.cast(CastOp::PtrToInt, q, I64);
    assert_eq!(k.shape(n).step(), Some(4));
    let eight = k.int(64, 8);
    let n = k.binary(BinaryOp::Add, NONE, n, eight);
    let r = k.cast(CastOp::IntToPtr, n, Type::PTR);
    assert_eq!(k.shape(r).step(), Some(4));
    let narrow = k.cast(CastOp::PtrToInt, q, Type::Int(32));
    assert_eq!(k.shape(narrow).step(), Some(4));
    let back = k.cast(CastOp::IntToPtr, narrow, Type::PTR);
    assert_eq!(k.shape(back), Shape::Varying, "the low half of an address may wrap");
    let other = k.cast(CastOp::AddrSpaceCast, q, Type::Ptr(1));
    assert_eq!(k.shape(other), Shape::Varying);
}

#[test]
fn trap_3_a_pointer_select_keeps_a_stride_only_if_both_sides_have_it() {
    let (mut k, i, _, p) = Kernel::new(64);
    let c = k.func.bool_const(true);
    let q = k.op(Op::Gep(Type::F32), NONE, &[p, i], Type::PTR);
    let r = k.op(Op::Gep(Type::F64), NONE, &[p, i], Type::PTR);
    let same = k.op(Op::Select, NONE, &[c, q, q], Type::PTR);
    let mixed = k.op(Op::Select, NONE, &[c, q, r], Type::PTR);
    let half = k.op(Op::Select, NONE, &[c, q, p], Type::PTR);
    assert_eq!(k.shape(same).step(), Some(4));
    assert_eq!(k.shape(mixed), Shape::Varying);
    assert_eq!(k.shape(half), Shape::Varying);
}

#[test]
fn a_narrow_gep_index_is_sign_extended() {
    let (mut k, i, u, p) = Kernel::new(32);
    let wraps = k.binary(BinaryOp::Add, InstFlags::NUW, i, u);
    let q = k.op(Op::Gep(Type::F32), NONE, &[p, wraps], Type::PTR);
    assert_eq!(k.shape(q), Shape::Varying);
    let q = k.op(Op::Gep(Type::F32), NONE, &[p, i], Type::PTR);
    assert_eq!(k.shape(q).anchored_step(), Some(4));
}

#[test]
fn a_gep_steps_by_the_size_of_what_the_index_steps_over() {
    let (mut k, i, _, p) = Kernel::new(64);
    let array = k.module.types.array(Type::Int(16), 7);
    let s = k.module.types.structure(vec![Type::Int(8), array, Type::F64], false);
    let (zero, one) = (k.int(64, 0), k.int(32, 1));
    let whole = k.op(Op::Gep(s), NONE, &[p, i, one], Type::PTR);
    assert_eq!(k.shape(whole).step(), Some(24));
    let inner = k.op(Op::Gep(s), NONE, &[p, zero, one, i], Type::PTR);
    assert_eq!(k.shape(inner).step(), Some(2));
    let both = k.op(Op::Gep(s), NONE, &[p, i, one, i], Type::PTR);
    assert_eq!(k.shape(both).step(), Some(26));
    let open = k.module.types.aggregate(AggregateType::Array { elem: Type::F32, len: 0 });
    let open = k.op(Op::Gep(open), NONE, &[p, zero, i], Type::PTR);
    assert_eq!(k.shape(open).step(), Some(4));
}

#[test]
fn freezing_lanes_one_by_one_breaks_a_stride_that_may_have_poison_in_some() {
    let (mut k, i, u, _) = Kernel::new(32);
    let flagged = k.binary(BinaryOp::Add, InstFlags::NSW, i, u);
    let plain = k.binary(BinaryOp::Add, NONE, i, u);
    let f = k.op(Op::Freeze, NONE, &[flagged], Type::Int(32));
    assert_eq!(k.shape(f), Shape::Varying);
    let f = k.op(Op::Freeze, NONE, &[plain], Type::Int(32));
    assert_eq!(k.shape(f).step(), Some(1));
}

#[test]
fn the_difference_of_two_strided_values_is_uniform_unless_poison_is_in_some_lanes() {
    let (mut k, i, u, _) = Kernel::new(32);
    let a = k.binary(BinaryOp::Add, NONE, i, u);
    let d = k.binary(BinaryOp::Sub, NONE, a, i);
    assert_eq!(k.shape(d), Shape::Uniform);
    let a = k.binary(BinaryOp::Add, InstFlags::NSW, i, u);
    let d = k.binary(BinaryOp::Sub, NONE, a, i);
    assert_eq!(k.shape(d), Shape::Varying);
}

#[test]
fn products_with_unknown_uniform_numbers_floats_and_vectors_vary() {
    let (mut k, i, u, _) = Kernel::new(32);
    let product = k.binary(BinaryOp::Mul, NONE, i, u);
    assert_eq!(k.shape(product), Shape::Varying);
    let f = k.cast(CastOp::SiToFp, i, Type::F32);
    assert_eq!(k.shape(f), Shape::Varying);
    let v4 = Type::Int(32).vector(4).expect("a scalar");
    let zero = k.func.constant_value(Constant::Zero(v4));
    let c0 = k.int(32, 0);
    let v = k.op(Op::InsertElement, NONE, &[zero, i, c0], v4);
    let w = k.binary(BinaryOp::Add, NONE, v, v);
    assert_eq!(k.shape(w), Shape::Varying);
}

#[test]
fn alignment_of_the_index_turns_or_and_and_into_arithmetic() {
    let (mut k, i, _, _) = Kernel::new(32);
    let (two, three, four, eight) = (k.int(32, 2), k.int(32, 3), k.int(32, 4), k.int(32, 8));
    let scaled = k.binary(BinaryOp::Shl, NONE, i, two);
    let field = k.binary(BinaryOp::Or, NONE, scaled, three);
    assert_eq!(k.shape(field).step(), Some(4));
    let low = k.binary(BinaryOp::And, NONE, scaled, three);
    assert_eq!(k.shape(low), Shape::Uniform);
    let low = k.binary(BinaryOp::URem, NONE, scaled, four);
    assert_eq!(k.shape(low), Shape::Uniform);
    let low = k.binary(BinaryOp::URem, NONE, scaled, eight);
    assert_eq!(k.shape(low), Shape::Varying);
    let low = k.binary(BinaryOp::Or, NONE, i, three);
    assert_eq!(k.shape(low), Shape::Varying);
}

#[test]
fn an_argument_stride_of_0_modulo_the_width_is_uniform() {
    assert_eq!(Shape::stride(0, 32), Shape::Uniform);
    assert_eq!(Shape::stride(1 << 32, 32), Shape::Uniform);
    assert_eq!(Shape::stride(1 << 32, 64).step(), Some(1 << 32));
    assert_eq!(Shape::stride(200, 8).step(), Some(-56));
    assert_eq!(Shape::stride(-1, 64).to_string(), "stride(-1)");
    assert_eq!(Shape::INDEX.to_string(), "stride(1) nuw nsw");
}

#[test]
fn code_that_is_never_reached_and_operands_of_themselves_do_no_harm() {
    let (mut k, i, _, _) = Kernel::new(32);
    k.func.set_terminator(k.block, Op::Ret, &[], &[]);
    k.block = k.func.add_block("dead");
    let x = k.binary(BinaryOp::Add, NONE, i, i);
    let inst: Inst = k.func.def_inst(x).expect("an instruction");
    k.func.insts[inst].args[1] = x;
    k.func.set_terminator(k.block, Op::Br, &[], &[k.block]);
    struct Divergent;
    impl Convergence for Divergent {
        fn is_uniform(&self, _: Value) -> bool {
            false
        }
        fn is_join(&self, _: Block) -> bool {
            false
        }
        fn is_unconverged(&self, _: Block) -> bool {
            false
        }
        fn is_back_edge(&self, _: Edge) -> bool {
            false
        }
        fn is_temporal_at(&self, _: Value, _: Block) -> bool {
            false
        }
        fn is_temporal_on(&self, _: Value, _: Edge) -> bool {
            false
        }
        fn has_strided_source(&self) -> bool {
            true
        }
        fn source(&self, _: Inst) -> Option<Shape> {
            None
        }
    }
    let shapes = Shapes::compute(&k.module, &k.func, &k.shapes, &Divergent);
    assert_eq!(shapes.get(x), Shape::Uniform);
}
