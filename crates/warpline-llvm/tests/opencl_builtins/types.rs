//! OpenCL C's arithmetic types, and operands of them as bits.

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
            _ => x - x.floor(),
        }
    }

    /// The bits of an integer, which may wrap.
    pub fn of_int(self, x: i128) -> u64 {
        x as u64 & self.mask()
    }

    /// The number that bits stand for, of `float` exactly as a `double`.
    pub fn number(self, bits: u64) -> f64 {
        match self.bits {
            32 => f64::from(f32::from_bits(bits as u32)),
            _ => f64::from_bits(bits),
        }
    }

    /// The bits of the number of this type that is nearest.
    pub fn of_number(self, x: f64) -> u64 {
        match self.bits {
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

    pub fn show(self, bits: u64) -> String {
        match (self.float, self.bits) {
            (true, 32) => format!("{:e}", f32::from_bits(bits as u32)),
            (true, _) => format!("{:e}", f64::from_bits(bits)),
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
