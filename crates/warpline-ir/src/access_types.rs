//! What a language says of the types that memory is accessed as: LLVM's type-based alias analysis (the metadata
//! `tbaa`).
//!
//! Types form trees: C's `int` is below `omnipotent char`, which is below the language's root. Memory that is
//! accessed as one type may be accessed as another one only if one of the two is above the other. Of a member of a
//! structure only the member's own type counts here: LLVM, which knows at which offset of which structure it lies,
//! keeps more accesses apart.

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{PrimaryMap, SecondaryMap};

use super::entities::{AccessType, Origin};

/// The types of a module, and what accesses have them. A pass that makes one access of several clears its [`Origin`],
/// and thereby its type.
#[derive(Clone, Default, Debug)]
pub struct AccessTypes {
    parents: PrimaryMap<AccessType, PackedOption<AccessType>>,
    of: SecondaryMap<Origin, PackedOption<AccessType>>,
}

impl AccessTypes {
    /// Adds a type below another one, or a root.
    pub fn add(&mut self, parent: Option<AccessType>) -> AccessType {
        self.parents.push(parent.into())
    }

    /// Says of an access what type it has.
    pub fn set(&mut self, access: Origin, ty: AccessType) {
        self.of[access] = Some(ty).into();
    }

    /// The type of an access, if that is known.
    pub fn of(&self, access: PackedOption<Origin>) -> Option<AccessType> {
        self.of[access.expand()?].expand()
    }

    /// Whether accesses of these types never touch the same memory, as long as one of them writes.
    pub fn are_apart(&self, a: AccessType, b: AccessType) -> bool {
        let root = |ty| self.upwards(ty).last();
        root(a) == root(b) && !self.upwards(a).any(|up| up == b) && !self.upwards(b).any(|up| up == a)
    }

    /// A type and all above it.
    fn upwards(&self, ty: AccessType) -> impl Iterator<Item = AccessType> + '_ {
        std::iter::successors(Some(ty), |&ty| self.parents[ty].expand())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_apart_unless_one_is_above_the_other_or_roots_differ() {
        let mut types = AccessTypes::default();
        let root = types.add(None);
        let char = types.add(Some(root));
        let (int, float) = (types.add(Some(char)), types.add(Some(char)));
        let other = types.add(None);
        let foreign = types.add(Some(other));
        assert!(types.are_apart(int, float) && types.are_apart(float, int));
        assert!(!types.are_apart(int, int));
        assert!(!types.are_apart(int, char) && !types.are_apart(root, int));
        assert!(!types.are_apart(int, foreign) && !types.are_apart(root, other));
    }
}
