//! Bytes that become shorts and bytes again, in the order in which x86 unpacks them.
//!
//! x86 makes shorts of the bytes of a register by interleaving each half of its 16-byte blocks with zeros, and bytes of
//! the shorts of two registers by packing block by block: one instruction for each register that results. In the order
//! of lanes, bytes have to be moved from block to block before or behind that, which takes as long again.
//!
//! So what is computed between such conversions, element by element, is computed in that other order: *webs* of shorts
//! and of truth values of their comparisons, which begin with extensions of bytes with zeros, and end with truncations
//! to bytes or with sums over all lanes. The operands that are the same in all lanes have no order. A web with anything
//! else in it stays as it is.
//!
//! Integers of 32 bits are in the order of what is unpacked twice. Their webs begin with [sums by
//! weights](super::weighted), and end where bytes are made of them, which saturates where the program does.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;

use warpline_dataflow::clients::intrinsics::Intrinsic;
use warpline_ir::{CastOp, Function, Inst, Module, Op, Type, Users, Value};

use super::groups::Groups;
use super::high_products::HighProducts;
use super::reps::Rep;
use super::sums::Sums;
use super::weighted::{Parts, WORD, Weighted, weighted};
use super::{Input, Recipe};
use crate::known_calls::{Form, vector_intrinsic};
use crate::narrow::called_or_chosen;
use crate::options::Options;

/// The webs of a lane program.
#[derive(Default)]
pub(super) struct Unpacked {
    /// The instructions where they begin and end.
    recipes: BTreeMap<Inst, Recipe>,
    /// What is not in the order of lanes.
    values: BTreeSet<Value>,
}

impl Unpacked {
    /// Finds the webs of a lane program on so many lanes.
    pub(super) fn find(
        module: &Module,
        input: &Input<'_>,
        options: &Options<'_>,
        reps: &SecondaryMap<Value, Rep>,
        others: (&Groups, &Sums, &HighProducts),
    ) -> Unpacked {
        let register = options.machine.byte_sums / 8;
        let mut all = Unpacked::default();
        if register == 0 || !options.width.is_power_of_two() {
            return all;
        }
        let func = input.func;
        // Without bytes that are made wider, or anything made bytes, there is none.
        let is_byte = |&v: &Value| func.ty(v) == Type::Int(8);
        let converts = |i: Inst| {
            let data = &func.insts[i];
            matches!(data.op, Op::Cast(CastOp::ZExt | CastOp::Trunc))
                && data.args.iter().chain(&data.results).any(is_byte)
        };
        if !func.layout.iter().flat_map(|&b| func.block_insts(b)).any(converts) {
            return all;
        }
        let (groups, sums, high_products) = others;
        let users = Users::of(func);
        let search = Search { module, func, users, reps, groups, sums, high_products, register };
        let widths: &[u32] = if options.width < register { &[] } else { &[16, 32] };
        for &bits in widths {
            let mut seen: BTreeSet<Value> = BTreeSet::new();
            for i in func.layout.iter().flat_map(|&b| func.block_insts(b)) {
                let starts = match bits {
                    16 => func.insts[i].result().filter(|_| search.extends_bytes(i)),
                    _ => search.made_bytes(i, bits),
                };
                let Some(start) = starts.filter(|start| !seen.contains(start)) else { continue };
                let mut web = Web { bits, ..Web::default() };
                let whole = search.web(start, &mut web);
                seen.extend(&web.values);
                if whole.is_some() && web.has_end {
                    all.recipes.append(&mut web.recipes);
                    all.values.append(&mut web.values);
                }
            }
        }
        if options.width * 4 >= register {
            search.words(&mut all.recipes);
        }
        search.leave_out(&mut all.recipes);
        all
    }

    /// The recipe of an instruction where a web begins or ends, or that is made where another one is.
    pub(super) fn recipe(&self, i: Inst) -> Option<Recipe> {
        self.recipes.get(&i).cloned()
    }

    /// Whether a value is not in the order of lanes.
    pub(super) fn is_inside(&self, v: Value) -> bool {
        self.values.contains(&v)
    }
}

/// Values that are in another order than lanes are.
#[derive(Default)]
struct Web {
    /// How many bits its integers have.
    bits: u32,
    values: BTreeSet<Value>,
    /// Where it begins and ends.
    recipes: BTreeMap<Inst, Recipe>,
    /// Whether anything is packed or summed up.
    has_end: bool,
}

struct Search<'a> {
    module: &'a Module,
    func: &'a Function,
    users: Users,
    reps: &'a SecondaryMap<Value, Rep>,
    groups: &'a Groups,
    sums: &'a Sums,
    high_products: &'a HighProducts,
    /// How many bytes are in a register.
    register: u32,
}

impl Search<'_> {
    /// Whether an instruction makes shorts of bytes.
    fn extends_bytes(&self, i: Inst) -> bool {
        let data = &self.func.insts[i];
        let (Op::Cast(CastOp::ZExt), &[x], Some(result)) = (&data.op, &data.args[..], data.result()) else {
            return false;
        };
        (self.func.ty(x), self.func.ty(result)) == (Type::Int(8), Type::Int(16))
            && self.reps[x] == Rep::Varying
            && !self.is_part_of_word(x)
            && self.reps[result] == Rep::Varying
            && !self.sums.is_inside(i)
            && !self.high_products.is_inside(i)
    }

    /// Whether a value is loaded as part of a word, of which shifts make wider elements.
    fn is_part_of_word(&self, v: Value) -> bool {
        let group = self.func.def_inst(v).and_then(|i| self.groups.of(i));
        group.is_some_and(|(id, _)| self.groups.get(id).words.is_some())
    }

    /// Of which integers of so many bits an instruction makes bytes, if it does.
    fn made_bytes(&self, i: Inst, bits: u32) -> Option<Value> {
        let data = &self.func.insts[i];
        let (Op::Cast(CastOp::Trunc), &[x], Some(result)) = (&data.op, &data.args[..], data.result()) else {
            return None;
        };
        let fits = (self.func.ty(x), self.func.ty(result)) == (Type::Int(bits), Type::Int(8));
        (fits && !self.sums.is_inside(i)).then_some(x)
    }

    /// What a value is the nearest unsigned byte of, if that is how it is made.
    fn bounded(&self, v: Value) -> Option<Value> {
        let greatest = |v: Value| self.with_bound(v, Intrinsic::SMin, 255);
        let least = |v: Value| self.with_bound(v, Intrinsic::SMax, 0);
        // What is not negative has one minimum, signed or not.
        let natural = |v: Value| self.with_bound(v, Intrinsic::UMin, 255);
        let lower_first = || greatest(v).or_else(|| natural(v)).and_then(least);
        lower_first().or_else(|| greatest(least(v)?))
    }

    /// The other operand of a minimum or maximum with a number.
    fn with_bound(&self, v: Value, function: Intrinsic, bound: u128) -> Option<Value> {
        let (found, args) = called_or_chosen(self.module, self.func, self.func.def_inst(v)?)?;
        let is_bound = |v: Value| self.func.as_int(v) == Some(bound);
        let other = if is_bound(args[1]) { args[0] } else { is_bound(args[0]).then_some(args[1])? };
        (found == function).then_some(other)
    }

    /// The recipe that makes bytes.
    fn packed(&self, x: Value, bits: u32) -> Recipe {
        let bounded = self.bounded(x);
        let (of, saturates) = (bounded.unwrap_or(x), bounded.is_some());
        Recipe::Pack8 { of, from: bits, saturates, register: self.register }
    }

    /// Finds the sums of the bytes of words, by weights.
    fn words(&self, recipes: &mut BTreeMap<Inst, Recipe>) {
        let mut found: BTreeMap<Value, Weighted> = BTreeMap::new();
        for i in self.func.layout.iter().flat_map(|&b| self.func.block_insts(b)) {
            let result = self.func.insts[i].result();
            let is_free =
                !self.sums.is_inside(i) && self.sums.recipe(i).is_none() && !recipes.contains_key(&i);
            let Some(v) = result.filter(|&v| is_free && self.reps[v] == Rep::Varying) else { continue };
            let sum = self.weighted(v, &|v| self.is_part_of_word(v));
            if let Some(sum) = sum.and_then(|sum| self.of_one_word(sum)) {
                found.insert(v, sum);
            }
        }
        for (&v, sum) in &found {
            // What is only added to something is part of that sum.
            let is_part =
                |&user: &Inst| self.func.insts[user].result().is_some_and(|r| found.contains_key(&r));
            let made = self.func.def_inst(v).filter(|_| !self.users.get(v).iter().all(is_part));
            if let Some(made) = made {
                recipes.insert(made, Recipe::Weighted(Box::new(sum.clone())));
            }
        }
    }

    /// The sum of bytes by weights that a value is.
    fn weighted(&self, v: Value, is_byte: &dyn Fn(Value) -> bool) -> Option<Weighted> {
        let parts = Parts { func: self.func, is_byte, is_uniform: &|i| self.is_same_in_all_lanes(i) };
        weighted(&parts, v, self.register)
    }

    /// Whether an instruction's constants are those of all lanes, though lanes may compute several members.
    fn is_same_in_all_lanes(&self, i: Inst) -> bool {
        (0..self.func.insts[i].args.len()).all(|k| self.groups.pattern(i, k).is_none())
    }

    /// A sum of bytes that are all of one word.
    fn of_one_word(&self, sum: Weighted) -> Option<Weighted> {
        let group = |v: Value| Some(self.groups.of(self.func.def_inst(v)?)?.0);
        let id = group(sum.terms[0].0)?;
        let all = sum.terms.len() > 1 && sum.terms.iter().all(|&(v, _)| group(v) == Some(id));
        let loads = self.groups.get(id);
        let fits = loads.size == 1 && loads.factor() == WORD as i64;
        (all && fits).then_some(Weighted { words: Some(id), ..sum })
    }

    /// Has nothing made of what is used only by instructions that are made otherwise.
    fn leave_out(&self, recipes: &mut BTreeMap<Inst, Recipe>) {
        let mut work: Vec<Value> = Vec::new();
        for (&i, recipe) in &*recipes {
            match recipe {
                Recipe::Weighted(_) => work.extend(&self.func.insts[i].args),
                Recipe::Pack8 { saturates: true, .. } => work.extend(&self.func.insts[i].args),
                _ => {}
            }
        }
        while let Some(v) = work.pop() {
            let Some(made) = self.func.def_inst(v).filter(|made| !recipes.contains_key(made)) else {
                continue;
            };
            let is_otherwise = |user: &Inst| match recipes.get(user) {
                Some(Recipe::Pack8 { of, .. }) => *of != v,
                other => matches!(other, Some(Recipe::Weighted(_) | Recipe::Nothing)),
            };
            let computes = matches!(
                self.func.insts[made].op,
                Op::Binary(_) | Op::Cast(_) | Op::Select | Op::Call(_) | Op::ICmp(_)
            );
            let is_term = recipes.values().any(|r| match r {
                Recipe::Weighted(sum) => sum.terms.iter().any(|&(term, _)| term == v),
                Recipe::Pack8 { of, .. } => *of == v,
                _ => false,
            });
            if computes && !is_term && self.users.get(v).iter().all(is_otherwise) {
                recipes.insert(made, Recipe::Nothing);
                work.extend(&self.func.insts[made].args);
            }
        }
    }

    /// The web around a value; `None` if there is anything in it that goes by the order of lanes.
    fn web(&self, start: Value, web: &mut Web) -> Option<()> {
        let mut work = vec![start];
        web.values.insert(start);
        while let Some(v) = work.pop() {
            let fits = self.is_own(v, web) && self.reps[v] == Rep::Varying;
            let made = self.func.def_inst(v).filter(|_| fits)?;
            let mut next = self.operands(made, web)?;
            for &user in self.users.get(v) {
                next.extend(self.used(v, user, web)?);
            }
            work.extend(next.into_iter().filter(|&v| web.values.insert(v)));
        }
        Some(())
    }

    /// The operands of what makes a value that are in its web.
    fn operands(&self, made: Inst, web: &mut Web) -> Option<Vec<Value>> {
        if web.bits == 16 && self.extends_bytes(made) {
            web.recipes.insert(made, Recipe::UnpackBytes(self.register));
            return Some(Vec::new());
        }
        if web.bits == 32 {
            let is_byte = |v: Value| self.reps[v] == Rep::Varying && !self.is_part_of_word(v);
            let result = self.func.insts[made].result()?;
            if let Some(sum) = self.weighted(result, &is_byte) {
                web.recipes.insert(made, Recipe::Weighted(Box::new(sum)));
                return Some(Vec::new());
            }
        }
        let args = match self.high_products.factors(made) {
            Some(factors) => factors.to_vec(),
            None => self.by_element(made, web)?,
        };
        // What has a step is made of the numbers of lanes.
        let has_order = |v: &Value| matches!(self.reps[*v], Rep::Strided(_));
        (!args.iter().any(has_order)).then(|| self.varying(args))
    }

    /// The values that are in the web of one since this instruction uses it.
    fn used(&self, v: Value, user: Inst, web: &mut Web) -> Option<Vec<Value>> {
        if let Some(x) = self.made_bytes(user, web.bits) {
            web.recipes.insert(user, self.packed(x, web.bits));
            web.has_end = true;
            return Some(Vec::new());
        }
        if self.sums.is_inside(user) || self.sums.recipe(user).is_some() {
            let pair = self.sums.of_shorts(v).filter(|_| web.bits == 16)?;
            web.has_end = true;
            let has_order = |v: &Value| matches!(self.reps[*v], Rep::Strided(_));
            return (!pair.iter().any(has_order)).then(|| self.varying(pair.to_vec()));
        }
        if self.high_products.is_inside(user) {
            return Some(self.high_products.with_factor(self.func, v));
        }
        self.by_element(user, web)?;
        Some(self.func.insts[user].results.to_vec())
    }

    fn varying(&self, mut values: Vec<Value>) -> Vec<Value> {
        values.retain(|&v| self.reps[v] == Rep::Varying);
        values
    }

    /// Whether a value has the type of a web's.
    fn is_own(&self, v: Value, web: &Web) -> bool {
        matches!(self.func.ty(v), Type::Int(bits) if bits == 1 || bits == web.bits)
    }

    /// The operands of an instruction that computes integers of a web, or compares such, element by element.
    fn by_element(&self, i: Inst, web: &Web) -> Option<Vec<Value>> {
        let data = &self.func.insts[i];
        let fits = match &data.op {
            // What divides by a constant needs no mask.
            Op::Binary(op) if op.is_int_division() => self.func.as_int(data.args[1]).is_some_and(|d| d != 0),
            Op::Binary(_) => true,
            Op::ICmp(_) | Op::Select | Op::Freeze => true,
            Op::Call(info) => {
                let name = info.callee.map_or("", |s| &self.module.symbols[s].name);
                let form = vector_intrinsic(name).map(|(_, form)| form);
                info.effects.is_empty() && matches!(form, Some(Form::Elementwise | Form::LastScalar))
            }
            _ => false,
        };
        let is_own = |&v: &Value| self.is_own(v, web);
        let result = data.result()?;
        let plain = is_own(&result)
            && data.args.iter().all(is_own)
            && self.reps[result] == Rep::Varying
            && !self.sums.is_inside(i)
            && self.sums.recipe(i).is_none()
            && !self.high_products.is_inside(i)
            && self.is_same_in_all_lanes(i);
        (fits && plain).then(|| data.args.to_vec())
    }
}
