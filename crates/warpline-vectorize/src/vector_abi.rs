//! Vector variants of functions that the user supplies, by their names in the vector function ABI: what
//! `#pragma omp declare simd` in C and C++ promises, `_ZGVdN8v_expf` for instance.
//!
//! After `_ZGV` a name says for which instruction set the variant is (`b`: SSE, `c`: AVX, `d`: AVX2, `e`: AVX-512),
//! whether it takes a mask (`M`) or not (`N`), how many lanes it computes, and how each parameter is passed: `v` as a
//! vector, `u` once for all lanes, `l` linearly, as lane 0's value, with a step (`l4`, `ln4` for -4). Further kinds
//! (references, steps in variables) are not used here.
//!
//! See "Vector Function Application Binary Interface Specification for OpenMP" (Intel, 2015).

/// An instruction set, as far as the passing of vectors depends on it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum InstructionSet {
    /// SSE: registers of 128 bits.
    Sse,
    /// AVX: registers of 256 bits for floating point.
    Avx,
    /// AVX2: registers of 256 bits.
    Avx2,
    /// AVX-512: registers of 512 bits; masks are integers.
    Avx512,
}

impl InstructionSet {
    /// The size of its vector registers in bits.
    pub fn register_bits(self) -> u32 {
        match self {
            InstructionSet::Sse => 128,
            InstructionSet::Avx | InstructionSet::Avx2 => 256,
            InstructionSet::Avx512 => 512,
        }
    }
}

/// How a parameter of a variant is passed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Parameter {
    /// As a vector.
    Vector,
    /// Once; all lanes have the same.
    Uniform,
    /// Lane 0's; each lane has so much more than the one before (bytes, for a pointer).
    Linear(i64),
}

/// A vector variant of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variant {
    /// The function that it computes for several lanes.
    pub scalar: String,
    /// Its own name.
    pub symbol: String,
    /// For which machines it is.
    pub set: InstructionSet,
    /// Whether it takes a mask, as a last parameter.
    pub masked: bool,
    /// How many lanes it computes.
    pub lanes: u32,
    /// How parameters are passed.
    pub parameters: Vec<Parameter>,
}

impl Variant {
    /// Reads a name of the ABI; behind it the variant's own name may stand in parentheses. `None` for other names and
    /// for kinds of parameters that are not used here.
    pub fn parse(name: &str) -> Option<Variant> {
        let rest = name.strip_prefix("_ZGV")?;
        let mut chars = rest.chars();
        let set = match chars.next()? {
            'b' => InstructionSet::Sse,
            'c' => InstructionSet::Avx,
            'd' => InstructionSet::Avx2,
            'e' => InstructionSet::Avx512,
            _ => return None,
        };
        let masked = match chars.next()? {
            'M' => true,
            'N' => false,
            _ => return None,
        };
        let (lanes, mut rest) = number(chars.as_str())?;
        let mut parameters = Vec::new();
        let scalar = loop {
            let kind = rest.chars().next()?;
            rest = &rest[kind.len_utf8()..];
            let parameter = match kind {
                '_' => break rest,
                'v' => Parameter::Vector,
                'u' => Parameter::Uniform,
                'l' => {
                    let (negative, digits) = rest.strip_prefix('n').map_or((false, rest), |r| (true, r));
                    let step = match number(digits) {
                        Some((step, behind)) => {
                            rest = behind;
                            i64::from(step)
                        }
                        None if negative => return None,
                        None => 1,
                    };
                    Parameter::Linear(if negative { -step } else { step })
                }
                _ => return None,
            };
            // What the parameter is aligned to does not matter to the caller.
            if let Some((_, behind)) = rest.strip_prefix('a').and_then(number) {
                rest = behind;
            }
            parameters.push(parameter);
        };
        let (scalar, symbol) = match scalar.strip_suffix(')').and_then(|s| s.split_once('(')) {
            Some((scalar, symbol)) => (scalar, symbol),
            None => (scalar, name),
        };
        let well_formed = !scalar.is_empty() && !symbol.is_empty() && lanes > 1;
        well_formed.then(|| Variant {
            scalar: scalar.to_owned(),
            symbol: symbol.to_owned(),
            set,
            masked,
            lanes,
            parameters,
        })
    }
}

/// A decimal number at the start of a text, and what follows.
fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_how_variants_are_called() {
        let variant = Variant::parse("_ZGVdM8vul4ln16a32_f_g").unwrap();
        assert_eq!((variant.scalar.as_str(), variant.symbol.as_str()), ("f_g", "_ZGVdM8vul4ln16a32_f_g"));
        assert_eq!((variant.set, variant.masked, variant.lanes), (InstructionSet::Avx2, true, 8));
        let parameters =
            [Parameter::Vector, Parameter::Uniform, Parameter::Linear(4), Parameter::Linear(-16)];
        assert_eq!(variant.parameters, parameters);
        assert_eq!(Variant::parse("_ZGVbN4l_at").unwrap().parameters, [Parameter::Linear(1)]);
        assert_eq!(Variant::parse("_ZGVeN16v_f(mine)").unwrap().symbol, "mine");
    }

    #[test]
    fn other_names_are_no_variants() {
        for name in [
            "_ZGVbN4",
            "_ZGVxN4v_f",
            "_ZGVbQ4v_f",
            "_ZGVbNv_f",
            "_ZGVbN4R_f",
            "_ZGVbN4v_",
            "_ZGVbN4lnv_f",
            "expf",
            "_ZGVbN99999999999v_f",
        ] {
            assert_eq!(Variant::parse(name), None, "{name}");
        }
    }
}
