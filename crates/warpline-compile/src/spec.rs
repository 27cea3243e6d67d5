//! What users write about runs: ranges, widths, values of parameters, tolerances.

use std::fmt;
use std::str::FromStr;

use warpline_ir::Type;

/// A number of lanes, or the choice left to the program.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Width {
    /// As many 32-bit (for kernels in double precision: 64-bit) elements as a vector register of the CPU has.
    #[default]
    Auto,
    /// So many, 1 to 64.
    Lanes(u32),
}

impl FromStr for Width {
    type Err = String;

    fn from_str(text: &str) -> Result<Width, String> {
        if text == "auto" {
            return Ok(Width::Auto);
        }
        match text.parse::<u128>() {
            Ok(n @ 1..=64) => Ok(Width::Lanes(n as u32)),
            _ => Err(format!("width {text}: use 1 to 64 lanes, or auto")),
        }
    }
}

/// Reads `A..B`, half-open.
pub fn parse_range(text: &str) -> Result<(i64, i64), String> {
    let bad = || format!("`{text}` is no range: write A..B");
    let (a, b) = text.trim().split_once("..").ok_or_else(bad)?;
    match (parse_int(a), parse_int(b)) {
        (Some(a), Some(b)) => {
            Ok((i64::try_from(a).map_err(|_| bad())?, i64::try_from(b).map_err(|_| bad())?))
        }
        _ => Err(bad()),
    }
}

fn parse_int(text: &str) -> Option<i128> {
    let text: String = text.trim().chars().filter(|&c| c != '_').collect();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.as_str()),
    };
    let n = match digits.strip_prefix("0x") {
        Some(hex) => i128::from_str_radix(hex, 16).ok()?,
        None if digits.starts_with(|c: char| c.is_ascii_digit()) => digits.parse().ok()?,
        None => return None,
    };
    Some(if negative { -n } else { n })
}

/// The type of a buffer's elements.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Elem {
    /// A byte that is 0 or 1.
    Bool,
    /// An integer of 8, 16, 32 or 64 bits; signed or not is the same.
    Int(u32),
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
}

impl Elem {
    /// The element type for values of this type, if there is one.
    pub fn of(ty: Type) -> Option<Elem> {
        match ty {
            Type::Int(1) => Some(Elem::Bool),
            Type::Int(bits @ (8 | 16 | 32 | 64)) => Some(Elem::Int(bits)),
            Type::F32 => Some(Elem::F32),
            Type::F64 => Some(Elem::F64),
            _ => None,
        }
    }

    /// Its size in bytes.
    pub fn bytes(self) -> usize {
        match self {
            Elem::Bool => 1,
            Elem::Int(bits) => bits as usize / 8,
            Elem::F32 => 4,
            Elem::F64 => 8,
        }
    }

    /// Whether it is a floating-point number.
    pub fn is_float(self) -> bool {
        matches!(self, Elem::F32 | Elem::F64)
    }

    fn parse(text: &str) -> Option<Elem> {
        Some(match text {
            "bool" | "i1" => Elem::Bool,
            "i8" | "u8" => Elem::Int(8),
            "i16" | "u16" => Elem::Int(16),
            "i32" | "u32" => Elem::Int(32),
            "i64" | "u64" => Elem::Int(64),
            "f32" => Elem::F32,
            "f64" => Elem::F64,
            _ => return None,
        })
    }

    /// The bits of a number as such an element.
    ///
    /// # Errors
    /// In words, if the number does not fit.
    pub fn bits(self, number: Number) -> Result<u64, String> {
        let fits = |n: i128, bits: u32| -> Result<u64, String> {
            if n < -(1i128 << (bits - 1)) || n >= 1i128 << bits {
                return Err(format!("{n} does not fit {self}"));
            }
            Ok(n as u64 & (u64::MAX >> (64 - bits)))
        };
        match (self, number) {
            (Elem::Bool, Number::Int(n @ (0 | 1))) => Ok(n as u64),
            (Elem::Bool, _) => Err("a boolean is 0 or 1".to_owned()),
            (Elem::Int(bits), Number::Int(n)) => fits(n, bits),
            (Elem::Int(_), Number::Float(x)) => Err(format!("{x} is no integer")),
            (Elem::F32, n) => Ok(u64::from((n.as_f64() as f32).to_bits())),
            (Elem::F64, n) => Ok(n.as_f64().to_bits()),
        }
    }
}

impl fmt::Display for Elem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Elem::Bool => f.write_str("bool"),
            Elem::Int(bits) => write!(f, "i{bits}"),
            Elem::F32 => f.write_str("f32"),
            Elem::F64 => f.write_str("f64"),
        }
    }
}

/// A number as it was written.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Number {
    /// Without a point or exponent.
    Int(i128),
    /// Any other.
    Float(f64),
}

impl Number {
    fn parse(text: &str) -> Option<Number> {
        let text = text.trim();
        parse_int(text).map(Number::Int).or_else(|| text.parse().ok().map(Number::Float))
    }

    /// As a floating-point number.
    pub fn as_f64(self) -> f64 {
        match self {
            Number::Int(n) => n as f64,
            Number::Float(x) => x,
        }
    }
}

/// The contents of a buffer.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Fill {
    /// Zeros.
    Zero,
    /// 0, 1, 2 …
    Iota,
    /// Pseudo-random: floating-point numbers in 0..1, integers of any value.
    Random,
    /// Pseudo-random in A..B.
    Between(Number, Number),
    /// One number everywhere.
    Same(Number),
}

/// A member of a structure that a pointer leads to.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Member {
    /// The address of an array.
    Buffer {
        /// The type of its elements.
        elem: Elem,
        /// Their number.
        len: usize,
        /// Their values at the start.
        fill: Fill,
    },
    /// The address behind the last element of the array before it.
    End,
    /// A number.
    Number(Elem, Number),
    /// So many bytes that are zero.
    Zeros(usize),
}

impl Member {
    /// How many bytes it takes, at addresses that are multiples of which number.
    fn size_and_alignment(self) -> (usize, usize) {
        match self {
            Member::Buffer { .. } | Member::End => (POINTER, POINTER),
            Member::Number(elem, _) => (elem.bytes(), elem.bytes()),
            Member::Zeros(bytes) => (bytes, 1),
        }
    }

    /// Where members lie, one behind the other as the platform's ABI places them, and where the last one ends.
    pub fn offsets(members: &[Member]) -> (Vec<usize>, usize) {
        let mut end = 0;
        let place = |member: &Member| {
            let (size, alignment) = member.size_and_alignment();
            let at = usize::next_multiple_of(end, alignment);
            end = at + size;
            at
        };
        (members.iter().map(place).collect(), end)
    }

    fn parse(text: &str) -> Result<Member, String> {
        let wrong =
            || format!("`{text}` is no member: write an array, `end`, a number such as i32:7, or zeros:N");
        if text == "end" {
            return Ok(Member::End);
        }
        if let Some((kind, number)) = text.split_once(':').filter(|(kind, _)| *kind != "local") {
            if kind == "zeros" {
                return number.parse().ok().filter(|n| *n <= MAX_ZEROS).map(Member::Zeros).ok_or_else(wrong);
            }
            let (elem, number) = (Elem::parse(kind), Number::parse(number));
            let (elem, number) = elem.zip(number).ok_or_else(wrong)?;
            elem.bits(number)?;
            return Ok(Member::Number(elem, number));
        }
        match text.parse()? {
            Spec::Buffer { elem, len, fill } => Ok(Member::Buffer { elem, len, fill }),
            Spec::Number(number @ Number::Int(_)) => {
                Elem::Int(64).bits(number)?;
                Ok(Member::Number(Elem::Int(64), number))
            }
            Spec::Number(number) => Ok(Member::Number(Elem::F64, number)),
            Spec::Local { .. } | Spec::Record(_) => Err(wrong()),
        }
    }
}

/// How many bytes a pointer has.
const POINTER: usize = 8;

/// The largest gap in a structure, in bytes.
const MAX_ZEROS: usize = 1 << 20;

/// What a run passes for a parameter.
#[derive(Clone, PartialEq, Debug)]
pub enum Spec {
    /// A number.
    Number(Number),
    /// An array.
    Buffer {
        /// The type of its elements.
        elem: Elem,
        /// Their number.
        len: usize,
        /// Their values at the start.
        fill: Fill,
    },
    /// A structure with pointers to arrays.
    Record(Vec<Member>),
    /// Local memory of a work-group, as an array.
    Local {
        /// The type of its elements.
        elem: Elem,
        /// Their number.
        len: usize,
    },
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Int(n) => write!(f, "{n}"),
            // With a point, lest it be read as an integer.
            Number::Float(x) => write!(f, "{x:?}"),
        }
    }
}

impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fill::Zero => f.write_str("zero"),
            Fill::Iota => f.write_str("iota"),
            Fill::Random => f.write_str("random"),
            Fill::Between(a, b) => write!(f, "{a}..{b}"),
            Fill::Same(n) => write!(f, "{n}"),
        }
    }
}

/// As it is read.
impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Member::Buffer { elem, len, fill } => write!(f, "{elem}[{len}]={fill}"),
            Member::End => f.write_str("end"),
            Member::Number(elem, number) => write!(f, "{elem}:{number}"),
            Member::Zeros(bytes) => write!(f, "zeros:{bytes}"),
        }
    }
}

/// As it is read.
impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Spec::Number(n) => write!(f, "{n}"),
            Spec::Buffer { elem, len, fill } => write!(f, "{elem}[{len}]={fill}"),
            Spec::Local { elem, len } => write!(f, "local:{elem}[{len}]"),
            Spec::Record(members) => {
                let members: Vec<String> = members.iter().map(Member::to_string).collect();
                write!(f, "{{{}}}", members.join(","))
            }
        }
    }
}

/// The largest buffer, in elements.
const MAX_ELEMENTS: usize = 1 << 31;

impl FromStr for Spec {
    type Err = String;

    fn from_str(text: &str) -> Result<Spec, String> {
        let text = text.trim();
        if let Some(array) = text.strip_prefix("local:") {
            return match array.parse()? {
                Spec::Buffer { elem, len, fill: Fill::Zero } => Ok(Spec::Local { elem, len }),
                _ => Err(format!("`{text}`: local memory begins without values; write local:f32[256]")),
            };
        }
        if let Some(members) = text.strip_prefix('{') {
            let members = members.strip_suffix('}').ok_or_else(|| format!("`{text}`: `}}` is missing"))?;
            let members: Vec<Member> =
                members.split(',').map(|member| Member::parse(member.trim())).collect::<Result<_, _>>()?;
            let mut arrays = members.iter().scan(false, |seen, member| {
                *seen |= matches!(member, Member::Buffer { .. });
                Some(*seen || *member != Member::End)
            });
            return match arrays.all(|is_right| is_right) {
                true => Ok(Spec::Record(members)),
                false => Err(format!("`{text}`: `end` is that of an array, which stands before it")),
            };
        }
        let Some((elem, rest)) = text.split_once('[') else {
            return Number::parse(text).map(Spec::Number).ok_or_else(|| {
                format!(
                    "`{text}` is neither a number nor a buffer such as f32[1024] or i32[64]=iota, nor a structure such \
                     as {{f32[1024]=random,end}}"
                )
            });
        };
        let elem = Elem::parse(elem.trim()).ok_or_else(|| {
            format!("`{elem}` is no element type; there are f32, f64, i8, i16, i32, i64 and bool")
        })?;
        let (len, rest) = rest.split_once(']').ok_or_else(|| format!("`{text}`: `]` is missing"))?;
        let len = match parse_int(len).map(usize::try_from) {
            Some(Ok(n)) if n <= MAX_ELEMENTS => n,
            _ => return Err(format!("`{len}` is no number of elements (0 to {MAX_ELEMENTS})")),
        };
        let fill = match rest.trim() {
            "" => Fill::Zero,
            rest => match rest.strip_prefix('=') {
                Some(fill) => parse_fill(fill.trim(), elem)?,
                None => return Err(format!("`{rest}` behind `]`: write `=` and a filling")),
            },
        };
        Ok(Spec::Buffer { elem, len, fill })
    }
}

fn parse_fill(text: &str, elem: Elem) -> Result<Fill, String> {
    let fill = match text {
        "zero" => Fill::Zero,
        "iota" => Fill::Iota,
        "random" => Fill::Random,
        _ => {
            let bad = || format!("`{text}` is no filling; there are zero, iota, random, A..B and a number");
            match text.split_once("..") {
                Some((a, b)) => {
                    let (a, b) = (Number::parse(a).ok_or_else(bad)?, Number::parse(b).ok_or_else(bad)?);
                    elem.bits(a)?;
                    if a.as_f64() >= b.as_f64() {
                        return Err(format!("`{text}`: nothing lies between"));
                    }
                    Fill::Between(a, b)
                }
                None => Fill::Same(Number::parse(text).ok_or_else(bad)?),
            }
        }
    };
    if let Fill::Same(n) = fill {
        elem.bits(n)?;
    }
    Ok(fill)
}

/// A parameter's name and what a run passes for it.
#[derive(Clone, PartialEq, Debug)]
pub struct Bind {
    /// The name, without `%`.
    pub name: String,
    /// The value.
    pub spec: Spec,
}

impl Bind {
    /// Reads `NAME=SPEC`.
    pub fn parse(text: &str) -> Result<Bind, String> {
        let (name, spec) = text.split_once('=').ok_or_else(|| format!("`{text}`: write NAME=SPEC"))?;
        let name = name.trim().trim_start_matches('%');
        if name.is_empty() {
            return Err(format!("`{text}`: the name is missing"));
        }
        Ok(Bind { name: name.to_owned(), spec: spec.parse()? })
    }
}

impl FromStr for Bind {
    type Err = String;

    fn from_str(text: &str) -> Result<Bind, String> {
        Bind::parse(text)
    }
}

/// How far a floating-point result may be off: within one of the bounds.
#[derive(Copy, Clone, PartialEq, Debug, Default)]
pub struct Tolerance {
    /// In units in the last place.
    pub ulp: Option<u64>,
    /// Relative to the reference.
    pub rel: Option<f64>,
    /// Absolute.
    pub abs: Option<f64>,
}

impl FromStr for Tolerance {
    type Err = String;

    fn from_str(text: &str) -> Result<Tolerance, String> {
        let bad = || format!("`{text}` is no tolerance: write ulp=N, rel=X or abs=X, or several of them");
        let mut t = Tolerance::default();
        for part in text.split(',') {
            let (key, value) = part.split_once('=').ok_or_else(bad)?;
            let bound = || value.trim().parse::<f64>().ok().filter(|x| *x >= 0.0);
            match key.trim() {
                "ulp" => t.ulp = Some(value.trim().parse().map_err(|_| bad())?),
                "rel" => t.rel = Some(bound().ok_or_else(bad)?),
                "abs" => t.abs = Some(bound().ok_or_else(bad)?),
                _ => return Err(bad()),
            }
        }
        Ok(t)
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ulp = self.ulp.map(|n| format!("{n} ulp"));
        let rel = self.rel.map(|x| format!("relative {x:e}"));
        let abs = self.abs.map(|x| format!("absolute {x:e}"));
        let parts: Vec<String> = [ulp, rel, abs].into_iter().flatten().collect();
        f.write_str(&parts.join(" or "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_one_to_sixty_four_or_auto() {
        assert_eq!("auto".parse(), Ok(Width::Auto));
        assert_eq!("16".parse(), Ok(Width::Lanes(16)));
        for bad in ["0", "65", "-4", "1000000000000000000000000000000000000000000", "", "x", "1.5"] {
            assert!(bad.parse::<Width>().unwrap_err().contains("use 1 to 64 lanes"), "{bad}");
        }
    }

    #[test]
    fn specs_are_numbers_or_filled_buffers() {
        let spec = |t: &str| t.parse::<Spec>().unwrap();
        assert_eq!(spec("1.5"), Spec::Number(Number::Float(1.5)));
        assert_eq!(spec("-0x10"), Spec::Number(Number::Int(-16)));
        let buffer = |elem, len, fill| Spec::Buffer { elem, len, fill };
        assert_eq!(spec("f32[1_024]"), buffer(Elem::F32, 1024, Fill::Zero));
        assert_eq!(spec("u8[16]=iota"), buffer(Elem::Int(8), 16, Fill::Iota));
        assert_eq!(spec("f64[2] = random"), buffer(Elem::F64, 2, Fill::Random));
        assert_eq!(
            spec("i32[4]=-3..9"),
            buffer(Elem::Int(32), 4, Fill::Between(Number::Int(-3), Number::Int(9)))
        );
        assert_eq!(spec("f32[4]=2"), buffer(Elem::F32, 4, Fill::Same(Number::Int(2))));
    }

    #[test]
    fn specs_are_written_as_they_are_read() {
        for text in [
            "1.5",
            "-16",
            "f32[1024]=zero",
            "i8[16]=iota",
            "i32[4]=-3..9",
            "f64[4]=2.0",
            "local:f32[8]",
            "{f32[9]=random,end,end}",
            "{i32:-1,zeros:3,i8:7,f64:0.5,i64[4]=0..9}",
        ] {
            assert_eq!(text.parse::<Spec>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn members_lie_where_c_places_them() {
        let offsets = |text: &str| match text.parse() {
            Ok(Spec::Record(members)) => Member::offsets(&members),
            other => panic!("{text}: {other:?}"),
        };
        // int w, h; unsigned char *data; char kind; short n;
        assert_eq!(offsets("{i32:5,i32:6,u8[30],i8:1,i16:2}"), (vec![0, 4, 8, 16, 18], 20));
        assert_eq!(offsets("{7,f32[7],end,zeros:3,0.5}"), (vec![0, 8, 16, 24, 32], 40));
    }

    #[test]
    fn bad_specs_say_what_is_wrong() {
        let message = |t: &str| t.parse::<Spec>().unwrap_err();
        assert!(message("abc").contains("neither a number nor a buffer"));
        assert!(message("f16[4]").contains("`f16` is no element type"));
        assert!(message("f32[4").contains("`]` is missing"));
        assert!(message("f32[x]").contains("no number of elements"));
        assert!(message("f32[4]zero").contains("behind `]`"));
        assert!(message("f32[4]=ones").contains("no filling"));
        assert!(message("i8[4]=300").contains("300 does not fit i8"));
        assert!(message("i8[4]=5..5").contains("nothing lies between"));
        assert!(message("{f32[4]=zero,end").contains("`}` is missing"));
        assert!(message("{end,f32[4]}").contains("which stands before it"));
        assert!(message("{f32[4],{i32:1}}").contains("no member"));
        assert!(message("{local:f32[4]}").contains("no member") && message("{}").contains("neither"));
        assert!(message("{i8:300}").contains("300 does not fit i8"));
        assert!(message("{zeros:-1}").contains("no member"));
        assert!("x".parse::<Bind>().unwrap_err().contains("NAME=SPEC"));
    }

    #[test]
    fn tolerances_combine() {
        let t: Tolerance = "ulp=4, rel=1e-5".parse().unwrap();
        assert_eq!(t, Tolerance { ulp: Some(4), rel: Some(1e-5), abs: None });
        assert_eq!(t.to_string(), "4 ulp or relative 1e-5");
        assert!("4".parse::<Tolerance>().is_err() && "rel=-1".parse::<Tolerance>().is_err());
    }
}
