//! Which types are numbers, and which lead to numbers: what programs pass to code that is compiled while they run.

use super::{SourceTypes, Type};
use crate::number::Number;

/// What a type says to a caller.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Meaning {
    /// A number; `any_sign`: a plain `char`, or an enumeration.
    Number { number: Number, any_sign: bool },
    /// A pointer or reference.
    Pointer {
        /// The numbers that it leads to; `None` for records, `void` and the like.
        to: Option<Number>,
        /// Whether its type says that they are not written.
        constant: bool,
    },
}

impl SourceTypes {
    /// What a type says to a caller, if it is passed as one value.
    pub(crate) fn meaning(&self, ty: Type) -> Option<Meaning> {
        let node = self.node(self.bare(ty))?;
        if !matches!(
            node.word("tag"),
            "DW_TAG_pointer_type" | "DW_TAG_reference_type" | "DW_TAG_rvalue_reference_type"
        ) {
            return self.number(ty).map(|(number, any_sign)| Meaning::Number { number, any_sign });
        }
        let mut at = node.node("baseType");
        let mut constant = false;
        for _ in 0..64 {
            let Some(one) = self.node(at) else { break };
            match one.word("tag") {
                "DW_TAG_const_type" => constant = true,
                "DW_TAG_typedef"
                | "DW_TAG_volatile_type"
                | "DW_TAG_restrict_type"
                | "DW_TAG_array_type"
                | "DW_TAG_atomic_type" => {}
                _ => break,
            }
            at = one.node("baseType");
        }
        Some(Meaning::Pointer { to: self.number(at).map(|(number, _)| number), constant })
    }

    /// The number that a type is, and whether its sign is nobody's business.
    fn number(&self, ty: Type) -> Option<(Number, bool)> {
        let node = self.node(self.bare(ty))?;
        let bits = node.number("size")?;
        let integer = |signed, any_sign| Some((Number::integer(bits, signed)?, any_sign));
        if node.word("tag") == "DW_TAG_enumeration_type" {
            let underlying = self.number(node.node("baseType")).map(|(number, _)| number);
            return underlying.map(|number| (number, true)).or_else(|| integer(true, true));
        }
        match node.word("encoding") {
            "DW_ATE_boolean" => Some((Number::Bool, false)),
            "DW_ATE_signed" => integer(true, false),
            "DW_ATE_unsigned" | "DW_ATE_UTF" => integer(false, false),
            "DW_ATE_signed_char" => integer(true, node.text("name") == Some("char")),
            "DW_ATE_unsigned_char" => integer(false, node.text("name") == Some("char")),
            "DW_ATE_float" => match (bits, node.text("name")?) {
                (32, _) => Some((Number::F32, false)),
                (64, _) => Some((Number::F64, false)),
                _ => None,
            },
            _ => None,
        }
    }
}
