//! How C lays out records: whether the members of one, written down again, would be where they are.

use super::{SourceTypes, Type};
use crate::c_names::is_word;

/// The largest alignment that a type has by itself, in bits.
const LARGEST: u64 = 128;

/// Types within types that are followed at most.
const DEEPEST: u32 = 24;

/// Types that are looked at in all, at most: nodes of a hostile module may share each other without end.
const MOST: u32 = 20_000;

/// A member of a record.
pub(super) struct Member {
    /// Its name; empty for a record without a name, whose members are those of the outer one.
    pub(super) name: String,
    pub(super) ty: Type,
    /// How many bits it has, if it is a bit field.
    pub(super) bit_field: Option<u64>,
}

/// A record whose members can be written down.
pub(super) struct Record {
    pub(super) members: Vec<Member>,
}

/// The members of a record.
///
/// # Errors
/// Why they cannot be written down so that they are where they are.
pub(super) fn of_record(types: &SourceTypes, ty: Type) -> Result<Record, String> {
    record_within(types, ty, Effort { depth: 0, left: &mut { MOST } })
}

/// How far types are followed.
struct Effort<'a> {
    depth: u32,
    left: &'a mut u32,
}

impl Effort<'_> {
    /// One type further in.
    fn deeper(&mut self) -> Result<Effort<'_>, String> {
        *self.left =
            self.left.checked_sub(1).filter(|_| self.depth < DEEPEST).ok_or("is nested too deeply")?;
        Ok(Effort { depth: self.depth + 1, left: self.left })
    }
}

fn record_within(types: &SourceTypes, ty: Type, mut effort: Effort<'_>) -> Result<Record, String> {
    let node = types.node(ty).ok_or_else(String::new)?;
    if node.has_flag("DIFlagFwdDecl") || node.number("align").is_some() {
        return Err("is not known or aligned specially".to_owned());
    }
    if node.node("templateParams").is_some() || node.has_flag("DIFlagTypePassByReference") {
        return Err("is a class".to_owned());
    }
    let is_union = node.word("tag") == "DW_TAG_union_type";
    let list = types.node(node.node("elements")).map(|n| n.list().collect::<Vec<_>>()).unwrap_or_default();
    let (mut members, mut end, mut most) = (Vec::new(), 0, 8);
    for one in list {
        let one = types.node(one).ok_or_else(String::new)?;
        let plain = one.word("tag") == "DW_TAG_member" && !one.has_flag("DIFlagStaticMember");
        if !plain || one.number("align").is_some() {
            return Err("has more than members".to_owned());
        }
        let (ty, name) = (one.node("baseType"), one.text("name").unwrap_or_default());
        if !name.is_empty() && !is_word(name) {
            return Err("has a member without a name in C".to_owned());
        }
        let (size, align) = size_and_alignment(types, ty, effort.deeper()?)?;
        let (offset, bits) = (one.number("offset").unwrap_or(0), one.number("size").unwrap_or(0));
        let bit_field = one.has_flag("DIFlagBitField").then_some(bits);
        let placed = match bit_field {
            // It lies within one unit of its type, at the first place where it can.
            Some(bits) => {
                let fits = bits > 0 && bits <= size && end / size == (end + bits - 1) / size;
                bits > 0 && offset == if fits { end } else { end.next_multiple_of(size) }
            }
            None => offset == if is_union { 0 } else { end.next_multiple_of(align) },
        };
        if !placed && !is_union {
            return Err("has members at places of their own".to_owned());
        }
        if name.is_empty() && bit_field.is_some() {
            return Err("has members without a name".to_owned());
        }
        most = most.max(align);
        end = if is_union { end.max(size) } else { offset + bit_field.unwrap_or(size) };
        members.push(Member { name: name.to_owned(), ty, bit_field });
    }
    if members.is_empty() || node.number("size") != Some(end.next_multiple_of(most)) {
        return Err("has a size of its own".to_owned());
    }
    Ok(Record { members })
}

/// The size and the alignment of a type in bits.
fn size_and_alignment(types: &SourceTypes, ty: Type, mut effort: Effort<'_>) -> Result<(u64, u64), String> {
    let unknown = || "has members of unknown size".to_owned();
    let node = types.node(ty).ok_or_else(unknown)?;
    match node.word("tag") {
        "DW_TAG_typedef" if node.number("align").is_some() => Err("is aligned specially".to_owned()),
        "DW_TAG_typedef" | "DW_TAG_const_type" | "DW_TAG_volatile_type" | "DW_TAG_restrict_type" => {
            size_and_alignment(types, node.node("baseType"), effort.deeper()?)
        }
        "DW_TAG_array_type" if !node.has_flag("DIFlagVector") => {
            let (_, align) = size_and_alignment(types, node.node("baseType"), effort.deeper()?)?;
            Ok((node.number("size").filter(|&size| size > 0).ok_or_else(unknown)?, align))
        }
        "DW_TAG_structure_type" | "DW_TAG_union_type" => {
            let Record { members } = record_within(types, ty, effort.deeper()?)?;
            let mut most = 8;
            for member in members {
                most = most.max(size_and_alignment(types, member.ty, effort.deeper()?)?.1);
            }
            Ok((node.number("size").filter(|&size| size > 0).ok_or_else(unknown)?, most))
        }
        "DW_TAG_pointer_type" | "DW_TAG_enumeration_type" | "" if node.kind != "DISubroutineType" => {
            let size = node.number("size").filter(|size| size.is_power_of_two()).ok_or_else(unknown)?;
            Ok((size, size.min(LARGEST)))
        }
        _ => Err(unknown()),
    }
}
