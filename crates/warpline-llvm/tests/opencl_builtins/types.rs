//! OpenCL C's arithmetic types, and operands of them as bits.

use std::cmp::Ordering;

/// The numbers of elements of vectors; 1 is a number.
pub const WIDTHS: [usize; 6] = [1, 2, 3, 4, 8, 16];

/// A type.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Ty {
    pub name: &'static str,
    pub bits: u32,
    pub signed: bool,
    pub float: bool,
}

const fn int(name: &'static str, bits: u32, signed: bool) -> Ty {
    Ty { name, bits, signed, float: false }
}

/// The integers.
pub const INTEGERS: [Ty; 8] = [
    int("char", 8, true),
    int("uchar", 8, false),
    int("short", 16, true),
    int("ushort", 16, false),
    int("int", 32, true),
    int("uint", 32, false),
    int("long", 64, true),
    int("ulong", 64, false),
];

/// The floating-point numbers.
pub const FLOATS: [Ty; 2] = [
    Ty { name: "float", bits: 32, signed: true, float: true },
    Ty { name: "double", bits: 64, signed: true, float: true },
];

/// The floating-point numbers of an extension.
pub const HALF: Ty = Ty { name: "half", bits: 16, signed: true, float: true };

impl Ty {
    /// The type of the same size without a sign, or with one.
    pub fn with_sign(self, signed: bool) -> Ty {
        INTEGERS
            .into_iter()
            .find(|t| t.bits == self.bits && t.signed == signed)
            .expect("integers of all sizes")
    }

    pub fn size(self) -> usize {
        self.bits as usize / 8
    }

    fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    /// The integer that bits stand for.
    pub fn int(self, bits: u64) -> i128 {
        let x = i128::from(bits & self.mask());
        if self.signed && x >> (self.bits - 1) & 1 == 1 { x - (1 << self.bits) } else { x }
    }

    /// The least and the greatest integer.
    pub fn range(self) -> (i128, i128) {
        match self.signed {
            true => (-(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1),
            false => (0, (1 << self.bits) - 1),
        }
    }

    /// What is left of a number above the integer below it, rounded to this type.
    pub fn of_floor(self, x: f64) -> f64 {
        match self.bits {
            32 => f64::from(x as f32 - (x as f32).floor()),
            // One less a half has more digits than a half, not more than a `double`.
            _ => x - x.floor(),
        }
    }

    /// The bits of an integer, which may wrap.
    pub fn of_int(self, x: i128) -> u64 {
        x as u64 & self.mask()
    }

    /// The number that bits stand for, of `half` and `float` exactly as a `double`.
    pub fn number(self, bits: u64) -> f64 {
        match self.bits {
            16 => of_half(bits as u16),
            32 => f64::from(f32::from_bits(bits as u32)),
            _ => f64::from_bits(bits),
        }
    }

    /// The bits of the number of this type that is nearest.
    pub fn of_number(self, x: f64) -> u64 {
        match self.bits {
            16 => half(x, Way::Nearest),
            32 => (x as f32).to_bits().into(),
            _ => x.to_bits(),
        }
    }

    /// Random bits as bits of this type: of floating-point numbers, half of them are of moderate size.
    pub fn any(self, random: u64) -> u64 {
        if !self.float || random & 1 == 0 {
            return random >> 1 & self.mask();
        }
        let x = ((random >> 8) as f64 / 2f64.powi(56) - 0.5) * 2f64.powi((random >> 2 & 15) as i32);
        self.of_number(x)
    }

    /// The least positive number that is normal.
    pub fn least_normal(self) -> f64 {
        match self.bits {
            16 => 2f64.powi(-14),
            32 => f64::from(f32::MIN_POSITIVE),
            _ => f64::MIN_POSITIVE,
        }
    }

    /// The greatest number below one.
    pub fn below_one(self) -> f64 {
        match self.bits {
            16 => 1.0 - 2f64.powi(-11),
            32 => f64::from(1.0f32.next_down()),
            _ => 1f64.next_down(),
        }
    }

    pub fn show(self, bits: u64) -> String {
        match (self.float, self.bits) {
            (true, _) => format!("{:e}", self.number(bits)),
            _ => self.int(bits).to_string(),
        }
    }

    pub fn bytes(self, numbers: &[u64]) -> Vec<u8> {
        numbers.iter().flat_map(|x| x.to_le_bytes()[..self.size()].to_vec()).collect()
    }

    pub fn numbers(self, bytes: &[u8]) -> Vec<u64> {
        let number = |part: &[u8]| part.iter().rev().fold(0, |x, &byte| x << 8 | u64::from(byte));
        bytes.chunks(self.size()).map(number).collect()
    }
}

/// Operands that are worth trying against each other.
pub fn corners(ty: Ty) -> Vec<u64> {
    if ty.float {
        let one =
            [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.0, -3.0, 1e-3, 7.25, 1e6, -1e6, 1e20, -1e30, 1e-30];
        let mut all: Vec<u64> = one.iter().map(|&x| ty.of_number(x)).collect();
        all.extend([f64::INFINITY, f64::NEG_INFINITY, f64::NAN].map(|x| ty.of_number(x)));
        // The greatest and the least, normal or not.
        match ty.bits {
            // Also halves of which products, sums and roots lie beside the middle of two.
            16 => {
                all.extend([0x7BFF, 0xFBFF, 0x0400, 0x0001, 0x8001, 0x03FF, 0x3BFF, 0x3C01, 0x4FFF, 0x6401])
            }
            32 => all.extend(
                [f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1e-45, -1e-45].map(|x| u64::from(x.to_bits())),
            ),
            _ => all.extend(
                [f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, 1e-310, 1e200, 1e-200].map(f64::to_bits),
            ),
        }
        return all;
    }
    let mut all = vec![0, 1, 2, 3, u64::MAX, u64::MAX - 1, 0x55, 0xAA];
    for bit in [0, ty.bits / 2, ty.bits - 2, ty.bits - 1] {
        all.extend([1 << bit, (1 << bit) - 1, !(1 << bit), (1 << bit) + 1]);
    }
    for shift in [ty.bits - 1, ty.bits, ty.bits + 1, 2 * ty.bits] {
        all.extend([u64::from(shift), u64::from(shift).wrapping_neg()]);
    }
    all.iter().map(|x| x & ty.mask()).collect()
}

/// The next of a sequence without a pattern.
pub fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut x = *state;
    x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ x >> 31
}

/// How a number becomes a half.
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum Way {
    Nearest,
    Zero,
    Up,
    Down,
}

/// The number that a half is.
pub fn of_half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match exponent {
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        0 => fraction * 2f64.powi(-24),
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// The half that a number is rounded to, by trying all.
pub fn half(x: f64, way: Way) -> u64 {
    rounded(x.is_sign_negative(), way, |half| half.partial_cmp(&x.abs()))
}

/// The half that x · y + z is rounded to, exactly.
pub fn half_fma(x: u64, y: u64, z: u64) -> u64 {
    let [a, b, c] = [x, y, z].map(|bits| of_half(bits as u16));
    if ![a, b, c].iter().all(|a| a.is_finite()) {
        // Nothing is rounded.
        return half(a.mul_add(b, c), Way::Nearest);
    }
    let exact = |a: f64| (a * 2f64.powi(24)) as i128;
    let sum = exact(a) * exact(b) + (exact(c) << 24);
    rounded(sum < 0, Way::Nearest, |half| Some(((half * 2f64.powi(48)) as i128).cmp(&sum.abs())))
}

/// The half that a number is rounded to, if `compare` says how a half or the middle of two lies to its size.
fn rounded(negative: bool, way: Way, compare: impl Fn(f64) -> Option<Ordering>) -> u64 {
    let sign = if negative { 0x8000u16 } else { 0 };
    if compare(0.0).is_none() {
        return 0x7E00;
    }
    let (mut low, mut above) = (0u16, 0x7C01u16);
    while above - low > 1 {
        let middle = low + (above - low) / 2;
        if compare(of_half(middle)) != Some(Ordering::Greater) { low = middle } else { above = middle }
    }
    let exact = compare(of_half(low)) == Some(Ordering::Equal);
    let away = match way {
        Way::Up => !negative,
        Way::Down => negative,
        Way::Zero => false,
        Way::Nearest if low == 0x7C00 => false,
        Way::Nearest => {
            // What is beyond the greatest half counts as far as the next one would be.
            let next = if low == 0x7BFF { 65536.0 } else { of_half(low + 1) };
            let middle = compare(f64::midpoint(of_half(low), next));
            middle == Some(Ordering::Less) || middle == Some(Ordering::Equal) && low & 1 == 1
        }
    };
    u64::from(sign | (low + u16::from(!exact && away)))
}
