//! Elements of vectors, as tables of costs know them.

use warpline_ir::Type;
use warpline_target::Element;

/// The element that a type counts as: a mask as a byte, what is neither a number nor a vector as an address.
pub(crate) fn element_of(ty: Type) -> Element {
    match ty {
        Type::Int(bits) => Element::int(bits),
        Type::Float(kind) => Element::float(kind.bits()),
        Type::Vector(v) => element_of(v.elem.into()),
        _ => Element::I64,
    }
}
