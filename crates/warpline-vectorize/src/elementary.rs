//! Elementary functions that can be [written out](crate::lower).

use warpline_ir::FloatKind;

/// A function that can be written out.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Elementary {
    pub(crate) function: Function,
    pub(crate) kind: FloatKind,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Function {
    Exp,
    Exp2,
    Log,
    Log2,
    Log10,
    Pow,
}

impl Function {
    /// Whether some ordinary argument has a denormal result.
    pub(crate) fn may_underflow(self) -> bool {
        matches!(self, Function::Exp | Function::Exp2 | Function::Pow)
    }
}

impl Elementary {
    /// The largest error of all of them, in units in the last place.
    pub const LARGEST_ULP: u32 = 3;

    /// The function of the C library's name.
    pub fn of(libm: &str) -> Option<Elementary> {
        let (base, kind) = match libm.strip_suffix('f') {
            Some(base) => (base, FloatKind::Float),
            None => (libm, FloatKind::Double),
        };
        let function = match base {
            "exp" => Function::Exp,
            "exp2" => Function::Exp2,
            "log" => Function::Log,
            "log2" => Function::Log2,
            "log10" => Function::Log10,
            "pow" if kind == FloatKind::Float => Function::Pow,
            _ => return None,
        };
        Some(Elementary { function, kind })
    }

    /// The largest error, in units in the last place.
    pub fn max_ulp(self) -> u32 {
        match (self.function, self.kind) {
            (Function::Log2, FloatKind::Float) => 2,
            (Function::Log10 | Function::Pow, FloatKind::Float) => 3,
            _ => 1,
        }
    }
}
