//! Functions of the C mathematics library whose results are exact, or rounded once, so that there is one right result:
//! vector code has the bits that the library has. They are written out in `lower/elementary/exact.rs`.

use warpline_ir::{FloatKind, Type};

/// A function of `float`s or `double`s.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Exact {
    pub(crate) function: Function,
    pub(crate) kind: FloatKind,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Function {
    /// `fmod`, and LLVM's `frem`.
    Fmod,
    Remainder,
    Fdim,
    Nextafter,
    Logb,
    /// `ldexp` and `scalbn`: a second operand of 32 bits.
    Ldexp,
}

impl Exact {
    /// The function that a call is of, by its name and the type of its result.
    pub(crate) fn of(name: &str, result: Type) -> Option<Exact> {
        let (kind, suffix, intrinsic) = match result {
            Type::Float(FloatKind::Float) => (FloatKind::Float, "f", "llvm.ldexp.f32.i32"),
            Type::Float(FloatKind::Double) => (FloatKind::Double, "", "llvm.ldexp.f64.i32"),
            _ => return None,
        };
        let function = match name.strip_suffix(suffix) {
            _ if name == intrinsic => Function::Ldexp,
            Some("fmod") => Function::Fmod,
            Some("remainder" | "drem") => Function::Remainder,
            Some("fdim") => Function::Fdim,
            Some("nextafter") => Function::Nextafter,
            Some("logb") => Function::Logb,
            Some("ldexp" | "scalbn") => Function::Ldexp,
            _ => return None,
        };
        Some(Exact { function, kind })
    }

    /// Whether operands of these types are its own: a program may declare another function of this name.
    pub(crate) fn takes(self, operands: &[Type]) -> bool {
        let number = Type::Float(self.kind);
        match self.function {
            Function::Logb => operands == [number],
            Function::Ldexp => operands == [number, Type::Int(32)],
            _ => operands == [number, number],
        }
    }

    /// Whether its code has a loop, with a branch on what lanes have left.
    pub(crate) fn has_loop(self) -> bool {
        matches!(self.function, Function::Fmod | Function::Remainder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_by_name_and_result() {
        let (float, double) = (Type::Float(FloatKind::Float), Type::Float(FloatKind::Double));
        assert_eq!(Exact::of("fmodf", float).map(|e| e.function), Some(Function::Fmod));
        assert_eq!(Exact::of("scalbn", double).map(|e| e.function), Some(Function::Ldexp));
        assert_eq!(Exact::of("llvm.ldexp.f64.i32", double).map(|e| e.function), Some(Function::Ldexp));
        let fmod = Exact::of("fmod", double).expect("it is known");
        assert!(
            fmod.takes(&[double, double]) && !fmod.takes(&[double]) && !fmod.takes(&[double, Type::Int(32)])
        );
        assert_eq!(Exact::of("fmod", float), None);
        assert_eq!(Exact::of("fmodf", double), None);
    }
}
