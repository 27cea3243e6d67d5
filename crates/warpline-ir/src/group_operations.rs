//! What the work-items of a group, or of a sub-group, compute together: OpenCL's collective functions by name.
//!
//! [`GroupFunction`](crate::group_functions::GroupFunction) says that a function is one of these at all; here is what
//! it computes. Names are those of OpenCL C as they are mangled, since the types of operands tell signed numbers from
//! unsigned ones, and CUDA's barriers that count.

use crate::Type;
use crate::group_functions::demangle;
use crate::lane::Combine;

/// Who takes part.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Scope {
    /// All work-items of a group.
    WorkGroup,
    /// Those that run together in the lanes of a vector.
    SubGroup,
}

/// What they do.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum GroupOp {
    /// All get the values of all combined in the order of work-items.
    Reduce(Combine),
    /// Each gets the values of those up to it combined.
    ScanInclusive(Combine),
    /// Each gets the values of those before it combined, beginning with [`Combine::beginning`].
    ScanExclusive(Combine),
    /// All get the value of the work-item whose number in the group, by dimension, is the same for all.
    Broadcast,
    /// Whether the operand is not 0 for any, as an `int`.
    Any,
    /// Whether the operand is not 0 for all, as an `int`.
    All,
    /// For how many the operand is not 0.
    Count,
    /// Elements of so many bytes are copied once for the group: to, from, their number, and if `strided` the distance
    /// of those in global memory in elements, then an event. The event that results says nothing.
    Copy {
        /// Bytes of an element.
        element: u64,
        /// Whether elements in global memory have a distance.
        strided: bool,
        /// Whether local memory is copied to.
        to_local: bool,
    },
    /// All wait until copies are done. They are.
    WaitForCopies,
}

impl GroupOp {
    /// Whether it copies memory or waits for that, so that nobody receives another work-item's value.
    pub fn copies(self) -> bool {
        matches!(self, GroupOp::Copy { .. } | GroupOp::WaitForCopies)
    }
}

/// A collective function.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct GroupOperation {
    /// Who takes part.
    pub scope: Scope,
    /// What they do.
    pub op: GroupOp,
}

/// The names of what values are combined with.
const COMBINES: [(&str, Combine); 7] = [
    ("add", Combine::Add),
    ("mul", Combine::Mul),
    ("min", Combine::Min),
    ("max", Combine::Max),
    ("and", Combine::And),
    ("or", Combine::Or),
    ("xor", Combine::Xor),
];

/// Numbers by their letters in mangled names: their types and whether they are unsigned.
const NUMBERS: [(&str, Type, bool); 11] = [
    ("c", Type::Int(8), false),
    ("a", Type::Int(8), false),
    ("h", Type::Int(8), true),
    ("s", Type::Int(16), false),
    ("t", Type::Int(16), true),
    ("i", Type::Int(32), false),
    ("j", Type::Int(32), true),
    ("l", Type::Int(64), false),
    ("m", Type::Int(64), true),
    ("f", Type::F32, false),
    ("d", Type::F64, false),
];

impl GroupOperation {
    /// The operation of a function of this name with operands and a result of these types.
    pub fn of(name: &str, params: &[Type], ret: Type) -> Option<GroupOperation> {
        if let Some(op) = counting_barrier(name, params, ret) {
            return Some(GroupOperation { scope: Scope::WorkGroup, op });
        }
        let (plain, types) = demangle(name)?;
        if let Some(op) = copy(plain, types) {
            let count = match op {
                GroupOp::Copy { strided, .. } => 4 + usize::from(strided),
                _ => 2,
            };
            let fits = params.len() == count && params.iter().filter(|p| p.is_ptr()).count() >= 1;
            return fits.then_some(GroupOperation { scope: Scope::WorkGroup, op });
        }
        let scopes = [("work_group_", Scope::WorkGroup), ("sub_group_", Scope::SubGroup)];
        let (what, scope) = scopes.iter().find_map(|&(p, scope)| Some((plain.strip_prefix(p)?, scope)))?;
        let op = exchange(what, types, params, ret)?;
        Some(GroupOperation { scope, op })
    }
}

/// CUDA's barriers at which a condition is combined, which is the last operand. In LLVM's intrinsics, the number of the
/// barrier is in front of it.
fn counting_barrier(name: &str, params: &[Type], ret: Type) -> Option<GroupOp> {
    const INT: Type = Type::Int(32);
    let plain = demangle(name).map_or(name, |(plain, _)| plain);
    if let Some(rest) = plain.strip_prefix("llvm.nvvm.barrier.cta.red.") {
        let what = rest.strip_suffix(".aligned.all").or_else(|| rest.strip_suffix(".all"))?;
        let (op, yields) = match what {
            "popc" => (GroupOp::Count, INT),
            "and" => (GroupOp::All, Type::BOOL),
            "or" => (GroupOp::Any, Type::BOOL),
            _ => return None,
        };
        return (params == [INT, Type::BOOL] && ret == yields).then_some(op);
    }
    let op = match plain {
        "__syncthreads_count" | "llvm.nvvm.barrier0.popc" => GroupOp::Count,
        "__syncthreads_and" | "llvm.nvvm.barrier0.and" => GroupOp::All,
        "__syncthreads_or" | "llvm.nvvm.barrier0.or" => GroupOp::Any,
        _ => return None,
    };
    (params == [INT] && ret == INT).then_some(op)
}

/// The operation on a value behind the name of the scope.
fn exchange(what: &str, types: &str, params: &[Type], ret: Type) -> Option<GroupOp> {
    if matches!(what, "any" | "all") {
        let fits = params == [Type::Int(32)] && ret == Type::Int(32);
        return fits.then_some(if what == "any" { GroupOp::Any } else { GroupOp::All });
    }
    let first = types.get(..1)?;
    let &(_, ty, unsigned) = NUMBERS.iter().find(|(letter, ..)| *letter == first)?;
    if params.first() != Some(&ty) || ret != ty {
        return None;
    }
    if what == "broadcast" {
        let fits = (2..=4).contains(&params.len()) && params[1..].iter().all(|p| p.int_bits().is_some());
        return fits.then_some(GroupOp::Broadcast);
    }
    if params.len() != 1 || types.len() != 1 {
        return None;
    }
    let (kind, combine) = what.rsplit_once('_')?;
    let &(_, combine) = COMBINES.iter().find(|(name, _)| *name == combine)?;
    let combine = match combine {
        Combine::Min if unsigned => Combine::UMin,
        Combine::Max if unsigned => Combine::UMax,
        other => other,
    };
    let op = match kind {
        "reduce" => GroupOp::Reduce(combine),
        "scan_inclusive" => GroupOp::ScanInclusive(combine),
        "scan_exclusive" => GroupOp::ScanExclusive(combine),
        _ => return None,
    };
    combine.fits(ty).then_some(op)
}

/// Copies between local and global memory, by the mangled type of what is copied to.
fn copy(plain: &str, types: &str) -> Option<GroupOp> {
    if plain == "wait_group_events" {
        return Some(GroupOp::WaitForCopies);
    }
    let strided = match plain {
        "async_work_group_copy" => false,
        "async_work_group_strided_copy" => true,
        _ => return None,
    };
    let mut rest = types.strip_prefix('P')?;
    let mut to_local = None;
    loop {
        if let Some(qualifier) = rest.strip_prefix('U') {
            let digits = qualifier.bytes().take_while(u8::is_ascii_digit).count();
            let length: usize = qualifier.get(..digits)?.parse().ok()?;
            let (name, behind) = qualifier[digits..].split_at_checked(length)?;
            match name {
                "CLlocal" | "AS3" => to_local = Some(true),
                "CLglobal" | "AS1" => to_local = Some(false),
                _ => {}
            }
            rest = behind;
        } else if let Some(behind) = rest.strip_prefix(['K', 'V', 'r']) {
            rest = behind;
        } else {
            break;
        }
    }
    let element = element_bytes(rest)?;
    Some(GroupOp::Copy { element, strided, to_local: to_local? })
}

/// The bytes of the number or vector that a mangled type begins with.
fn element_bytes(mangled: &str) -> Option<u64> {
    if mangled.starts_with("Dh") {
        return Some(2);
    }
    if let Some(vector) = mangled.strip_prefix("Dv") {
        let (count, rest) = vector.split_once('_')?;
        let count: u64 = count.parse().ok().filter(|n| (1..=16).contains(n))?;
        // A vector of three takes the room of four.
        return Some(element_bytes(rest)? * if count == 3 { 4 } else { count });
    }
    let &(_, ty, _) = NUMBERS.iter().find(|(letter, ..)| mangled.starts_with(letter))?;
    Some(match ty {
        Type::F32 => 4,
        Type::F64 => 8,
        ty => u64::from(ty.int_bits()? / 8),
    })
}

/// A function of sub-groups.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum SubGroupFunction {
    /// What those of a sub-group compute together.
    Op(GroupOp),
    /// Each gets the value of the work-item of this number in the sub-group.
    Shuffle(Partner),
    /// The value of the first one that calls.
    BroadcastFirst,
    /// Whether it is the first one that calls.
    Elect,
    /// For which the operand is not 0, as bits of four `uint`.
    Ballot,
    /// The number of the work-item in the sub-group.
    LocalId,
    /// The number of the sub-group in the group.
    Id,
    /// How many work-items the sub-group has.
    Size,
    /// How many sub-groups have at most.
    MaxSize,
    /// How many sub-groups the group has.
    Count,
}

/// Whose value a work-item gets, by the last operand *k*.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Partner {
    /// That of number *k*.
    Number,
    /// That of the own number with the bits of *k* changed.
    Xor,
    /// That *k* before the own one.
    Before,
    /// That *k* behind the own one.
    Behind,
}

impl SubGroupFunction {
    /// What a function of this name with operands and a result of these types is.
    pub fn of(name: &str, params: &[Type], ret: Type) -> Option<SubGroupFunction> {
        use SubGroupFunction::{
            Ballot, BroadcastFirst, Count, Elect, Id, LocalId, MaxSize, Op, Shuffle, Size,
        };
        const INT: Type = Type::Int(32);
        if let Some(GroupOperation { scope: Scope::SubGroup, op }) = GroupOperation::of(name, params, ret) {
            return Some(Op(op));
        }
        let (plain, _) = demangle(name)?;
        if params.is_empty() && ret == INT {
            return Some(match plain {
                "get_sub_group_local_id" => LocalId,
                "get_sub_group_id" => Id,
                "get_sub_group_size" => Size,
                "get_max_sub_group_size" => MaxSize,
                "get_num_sub_groups" | "get_enqueued_num_sub_groups" => Count,
                "sub_group_elect" => Elect,
                _ => return None,
            });
        }
        let what = plain.strip_prefix("intel_").unwrap_or(plain).strip_prefix("sub_group_")?;
        if what == "ballot" {
            return (params == [INT] && Some(ret) == INT.vector(4)).then_some(Ballot);
        }
        let is_element = NUMBERS.iter().any(|(_, ty, _)| *ty == ret);
        if !is_element || params.first() != Some(&ret) {
            return None;
        }
        if what == "broadcast_first" {
            return (params.len() == 1).then_some(BroadcastFirst);
        }
        let partner = match what {
            "shuffle" | "non_uniform_broadcast" => Partner::Number,
            "shuffle_xor" => Partner::Xor,
            "shuffle_up" => Partner::Before,
            "shuffle_down" => Partner::Behind,
            _ => return None,
        };
        (params.len() == 2 && params[1] == INT).then_some(Shuffle(partner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INT: Type = Type::Int(32);

    #[test]
    fn operations_are_known_by_name_and_types() {
        let of =
            |name: &str, params: &[Type], ret| GroupOperation::of(name, params, ret).map(|o| (o.scope, o.op));
        let group = |op| Some((Scope::WorkGroup, op));
        assert_eq!(of("_Z21work_group_reduce_addi", &[INT], INT), group(GroupOp::Reduce(Combine::Add)));
        assert_eq!(
            of("_Z29work_group_scan_exclusive_maxj", &[INT], INT),
            group(GroupOp::ScanExclusive(Combine::UMax))
        );
        assert_eq!(
            of("_Z20work_group_broadcastfmm", &[Type::F32, Type::Int(64), Type::Int(64)], Type::F32),
            group(GroupOp::Broadcast)
        );
        assert_eq!(of("_Z13sub_group_alli", &[INT], INT), Some((Scope::SubGroup, GroupOp::All)));
        assert_eq!(of("__syncthreads_count", &[INT], INT), group(GroupOp::Count));
        let newer = |what: &str| format!("llvm.nvvm.barrier.cta.red.{what}.aligned.all");
        assert_eq!(of(&newer("popc"), &[INT, Type::BOOL], INT), group(GroupOp::Count));
        assert_eq!(of(&newer("and"), &[INT, Type::BOOL], Type::BOOL), group(GroupOp::All));
        assert_eq!(of(&newer("or"), &[INT, Type::BOOL], INT), None);
        assert_eq!(of("_Z21work_group_reduce_addi", &[Type::F32], Type::F32), None);
        assert_eq!(of("_Z21work_group_reduce_xorf", &[Type::F32], Type::F32), None);
        assert_eq!(of("_Z21work_group_reduce_avgi", &[INT], INT), None);
    }

    #[test]
    fn functions_of_sub_groups_are_known_by_name_and_types() {
        let of = SubGroupFunction::of;
        assert_eq!(of("_Z16get_sub_group_idv", &[], INT), Some(SubGroupFunction::Id));
        assert_eq!(
            of("_Z21sub_group_shuffle_xorfj", &[Type::F32, INT], Type::F32),
            Some(SubGroupFunction::Shuffle(Partner::Xor))
        );
        assert_eq!(
            of("_Z20sub_group_reduce_addi", &[INT], INT),
            Some(SubGroupFunction::Op(GroupOp::Reduce(Combine::Add)))
        );
        assert_eq!(of("_Z21work_group_reduce_addi", &[INT], INT), None);
        assert_eq!(of("_Z20sub_group_shuffle_upffj", &[Type::F32, Type::F32, INT], Type::F32), None);
    }

    #[test]
    fn copies_say_what_an_element_is_and_where_it_goes() {
        let pointers = [Type::PTR, Type::PTR, Type::Int(64), Type::PTR];
        let plain = "_Z21async_work_group_copyPU7CLlocalfPU8CLglobalKfm9ocl_event";
        assert_eq!(
            GroupOperation::of(plain, &pointers, Type::PTR).map(|o| o.op),
            Some(GroupOp::Copy { element: 4, strided: false, to_local: true })
        );
        let strided = "_Z29async_work_group_strided_copyPU3AS1Dv3_iPU3AS3KS_mm9ocl_event";
        let pointers = [Type::PTR, Type::PTR, Type::Int(64), Type::Int(64), Type::PTR];
        assert_eq!(
            GroupOperation::of(strided, &pointers, Type::PTR).map(|o| o.op),
            Some(GroupOp::Copy { element: 16, strided: true, to_local: false })
        );
    }
}
