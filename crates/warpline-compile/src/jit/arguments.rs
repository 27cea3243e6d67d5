//! What a program in Rust passes to compiled code, and gets back.

use crate::number::Number;

/// A value that is passed.
#[derive(Copy, Clone, Debug)]
pub enum Passed {
    /// A number, in the lowest bits.
    Number(Number, u64),
    /// Numbers in memory.
    Slice {
        /// Their type.
        of: Number,
        /// Where they begin.
        address: u64,
        /// How many there are.
        len: usize,
        /// Whether they may be written to.
        mutable: bool,
    },
}

/// A type of numbers that slices may have, or arrays of them.
pub trait Element: sealed::Sealed + Copy {
    /// The number.
    #[doc(hidden)]
    const NUMBER: Number;
    /// How many of them.
    #[doc(hidden)]
    const COUNT: usize;
}

/// What can be passed: numbers, and slices of numbers or of arrays of them, mutable or not.
pub trait Argument: sealed::Sealed {
    /// How it is passed. It is borrowed as long as the call lasts.
    #[doc(hidden)]
    fn passed(&mut self) -> Passed;
}

/// Arguments of a call: a tuple of up to twelve.
pub trait Arguments: sealed::Sealed {
    /// How they are passed.
    #[doc(hidden)]
    fn passed(&mut self) -> Vec<Passed>;
}

/// What a function may return: a number.
pub trait Returned: sealed::Sealed {
    /// Its type.
    #[doc(hidden)]
    const NUMBER: Number;

    /// From the lowest bits.
    #[doc(hidden)]
    fn of(bits: u64) -> Self;
}

mod sealed {
    /// Only what stands here is passed.
    pub trait Sealed {}
}

macro_rules! integers {
    ($($ty:ty => $number:ident),*) => {
        $(
            impl sealed::Sealed for $ty {}
            impl Element for $ty {
                const NUMBER: Number = Number::$number;
                const COUNT: usize = 1;
            }
            impl Argument for $ty {
                fn passed(&mut self) -> Passed {
                    Passed::Number(Number::$number, *self as u64)
                }
            }
            impl Returned for $ty {
                const NUMBER: Number = Number::$number;
                fn of(bits: u64) -> Self {
                    bits as $ty
                }
            }
        )*
    };
}

integers!(i8 => I8, u8 => U8, i16 => I16, u16 => U16, i32 => I32, u32 => U32, i64 => I64, u64 => U64);
#[cfg(target_pointer_width = "64")]
integers!(isize => I64, usize => U64);

macro_rules! floats {
    ($($ty:ty => $number:ident, $bits:ty),*) => {
        $(
            impl sealed::Sealed for $ty {}
            impl Element for $ty {
                const NUMBER: Number = Number::$number;
                const COUNT: usize = 1;
            }
            impl Argument for $ty {
                fn passed(&mut self) -> Passed {
                    Passed::Number(Number::$number, self.to_bits().into())
                }
            }
            impl Returned for $ty {
                const NUMBER: Number = Number::$number;
                fn of(bits: u64) -> Self {
                    <$ty>::from_bits(bits as $bits)
                }
            }
        )*
    };
}

floats!(f32 => F32, u32, f64 => F64, u64);

impl sealed::Sealed for bool {}
impl Argument for bool {
    fn passed(&mut self) -> Passed {
        Passed::Number(Number::Bool, u64::from(*self))
    }
}
impl Returned for bool {
    const NUMBER: Number = Number::Bool;
    fn of(bits: u64) -> Self {
        bits & 1 != 0
    }
}

impl<T: Element, const N: usize> sealed::Sealed for [T; N] {}
impl<T: Element, const N: usize> Element for [T; N] {
    const NUMBER: Number = T::NUMBER;
    const COUNT: usize = N * T::COUNT;
}

fn shared<T: Element>(slice: &[T]) -> Passed {
    let address = slice.as_ptr().expose_provenance() as u64;
    Passed::Slice { of: T::NUMBER, address, len: slice.len() * T::COUNT, mutable: false }
}

fn mutable<T: Element>(slice: &mut [T]) -> Passed {
    let len = slice.len() * T::COUNT;
    let address = slice.as_mut_ptr().expose_provenance() as u64;
    Passed::Slice { of: T::NUMBER, address, len, mutable: true }
}

macro_rules! slices {
    ($([$($generic:tt)*] $ty:ty),*) => {
        $(
            impl<T: Element, $($generic)*> sealed::Sealed for &$ty {}
            impl<T: Element, $($generic)*> Argument for &$ty {
                fn passed(&mut self) -> Passed {
                    shared(&self[..])
                }
            }
            impl<T: Element, $($generic)*> sealed::Sealed for &mut $ty {}
            impl<T: Element, $($generic)*> Argument for &mut $ty {
                fn passed(&mut self) -> Passed {
                    mutable(&mut self[..])
                }
            }
        )*
    };
}

slices!([] [T], [] Vec<T>, [const N: usize] [T; N]);

macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name: Argument),*> sealed::Sealed for ($($name,)*) {}
        impl<$($name: Argument),*> Arguments for ($($name,)*) {
            #[expect(non_snake_case, reason = "variables are called like their types")]
            fn passed(&mut self) -> Vec<Passed> {
                let ($($name,)*) = self;
                vec![$($name.passed()),*]
            }
        }
    };
}

tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);
tuples!(A B C D E F G H I);
tuples!(A B C D E F G H I J);
tuples!(A B C D E F G H I J K);
tuples!(A B C D E F G H I J K L);

impl sealed::Sealed for () {}
impl Arguments for () {
    fn passed(&mut self) -> Vec<Passed> {
        Vec::new()
    }
}
