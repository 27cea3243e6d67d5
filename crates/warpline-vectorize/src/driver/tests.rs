use super::*;
use warpline_ir::Type;
use warpline_ir::verify::verify_module;
use warpline_ir::{FuncId, Op};

/// Adds a function that returns poison at once.
fn stub(module: &mut Module, name: &str, params: &[(Type, &str)], ret: Type) -> FuncId {
    let mut func = Function::new(name, ret);
    for &(ty, name) in params {
        func.add_param(ty, name);
    }
    let entry = func.add_block("entry");
    let value: Vec<_> = (!ret.is_void()).then(|| func.poison(ret)).into_iter().collect();
    func.set_terminator(entry, Op::Ret, &value, &[]);
    module.functions.push(func)
}

#[test]
fn every_index_is_in_one_group_and_no_group_wraps() {
    let edges = [-300i64, -256, -129, -128, -127, -3, -1, 0, 1, 126, 127, 128, 130, 200, 255, 256];
    for width in [1, 3, 4, 16] {
        for begin in edges {
            for end in edges {
                let groups: Vec<_> = groups(begin, end, &[width], &[8]).collect();
                let all: Vec<i64> =
                    groups.iter().flat_map(|&(at, n)| (0..n).map(move |l| at + i64::from(l))).collect();
                assert_eq!(all, (begin..end).collect::<Vec<_>>());
                for &(at, n) in &groups {
                    assert!((1..=width).contains(&n));
                    let last = at + i64::from(n) - 1;
                    let span = i64::from(n) - 1;
                    if index_fits(begin, end, 8) {
                        assert_eq!(i64::from(last as i8) - i64::from(at as i8), span, "signed at {at}");
                        assert_eq!(i64::from(last as u8) - i64::from(at as u8), span, "unsigned at {at}");
                    }
                }
            }
        }
    }
}

#[test]
fn groups_reach_the_ends_of_64_bits() {
    let last: Vec<_> = groups(i64::MAX - 5, i64::MAX, &[4], &[64]).collect();
    assert_eq!(last, [(i64::MAX - 5, 4), (i64::MAX - 1, 1)]);
    assert_eq!(groups(i64::MIN, i64::MAX, &[4], &[64]).next(), Some((i64::MIN, 4)));
    assert_eq!(groups(0, 9, &[4], &[]).collect::<Vec<_>>(), [(0, 4), (4, 4), (8, 1)]);
    assert_eq!(groups(0, 15, &[8, 2], &[]).collect::<Vec<_>>(), [(0, 8), (8, 2), (10, 2), (12, 2), (14, 1)]);
}

#[test]
fn an_index_fits_signed_or_unsigned() {
    assert!(index_fits(-128, 256, 8) && index_fits(0, i64::MAX, 64) && index_fits(5, 5, 1));
    assert!(!index_fits(-129, 0, 8) && !index_fits(0, 257, 8));
}

#[test]
fn drivers_of_every_kind_of_parameter_are_well_formed() {
    let shapes = [
        ArgShape::Index,
        ArgShape::Varying,
        ArgShape::Varying,
        ArgShape::Stride(12),
        ArgShape::Stride(-3),
        ArgShape::Uniform,
        ArgShape::Index,
    ];
    for (width, ret) in [(1, Type::Void), (4, Type::BOOL), (16, Type::F64), (64, Type::PTR)] {
        let mut module = Module::new("m");
        let scalars = [
            (Type::Int(32), "i"),
            (Type::BOOL, "b"),
            (Type::F32, "x"),
            (Type::PTR, "p"),
            (Type::Int(16), "s"),
            (Type::F32, "u"),
            (Type::Int(64), "j"),
        ];
        let kernel = stub(&mut module, "kernel", &scalars, ret);
        let mut vectors = scalars;
        for k in [1, 2] {
            vectors[k].0 = vectors[k].0.vector(width).unwrap();
        }
        let result = ret.vector(width).unwrap_or(ret);
        let full = stub(&mut module, "full", &vectors, result);
        let mut masked = vectors.to_vec();
        masked.push((if width == 1 { Type::BOOL } else { Type::BOOL.vector(width).unwrap() }, "mask"));
        let partial = stub(&mut module, "partial", &masked, result);
        let scalar = scalar_range(&mut module, kernel, &shapes, "kernel_scalar_range").unwrap();
        let vector = vector_range(
            &mut module,
            kernel,
            &BodyVariants::of_one_width(full, partial, width),
            &shapes,
            "kernel_range",
        )
        .unwrap();
        for driver in [scalar, vector] {
            let entry = format!("{}_entry", module.functions[driver].name);
            slots_entry(&mut module, driver, &entry).unwrap();
            let func = &module.functions[driver];
            let types: Vec<Type> = func.params.iter().map(|&p| func.ty(p)).collect();
            let mut expected =
                vec![Type::Int(64), Type::Int(64), Type::PTR, Type::PTR, Type::PTR, Type::Int(16), Type::F32];
            expected.extend((!ret.is_void()).then_some(Type::PTR));
            assert_eq!(types, expected);
        }
        bitmask_entry(&mut module, partial, width, "kernel_masked");
        verify_module(&module).unwrap_or_else(|e| panic!("width {width}: {e}"));
    }
}

/// What the driver makes of `kernel(x) = x` for so many indices and variants of so many lanes, next to what it was
/// given.
fn identity_over_a_range(
    ty: impl Fn(&mut Module) -> Type,
    bytes: &[u8],
    count: u128,
    widths: &[u32],
) -> (Vec<u8>, Vec<u8>) {
    use warpline_interp::{Machine, Val};
    let mut module = Module::new("m");
    let ty = ty(&mut module);
    let mut func = Function::new("kernel", ty);
    let x = func.add_param(ty, "x");
    let entry = func.add_block("entry");
    func.set_terminator(entry, Op::Ret, &[x], &[]);
    let kernel = module.functions.push(func);
    let shapes = vec![ArgShape::Varying];
    let mut variant = |lanes, masked| {
        let options = crate::Options {
            masked,
            ..crate::Options::new(lanes, shapes.clone(), format!("form_{lanes}_{masked}"))
        };
        let func = crate::vectorize(&mut module, kernel, &options).unwrap().func;
        BodyVariant { func, lanes }
    };
    let groups = widths.iter().map(|&lanes| variant(lanes, false)).collect();
    let variants = BodyVariants {
        counting: None,
        groups,
        tail: Some(variant(widths[widths.len() - 1], true)),
        prologue: None,
        least: 0,
    };
    let driver = vector_range(&mut module, kernel, &variants, &shapes, "range").unwrap();
    verify_module(&module).unwrap();
    let mut machine = Machine::new(&module);
    let input = machine.memory.allocate_bytes(bytes, 16).unwrap();
    let output = machine.memory.allocate_bytes(&vec![0xee; bytes.len()], 16).unwrap();
    let code = machine.prepare_id(driver);
    machine.run_scalar(&code, &[Val::int(0), Val::int(count), Val::ptr(input), Val::ptr(output)]).unwrap();
    let read = |at| {
        let found = machine.memory.read(at, bytes.len() as u64).unwrap();
        found.into_iter().map(|byte| byte.unwrap_or(0xaa)).collect::<Vec<u8>>()
    };
    (read(input), read(output))
}

#[test]
fn structures_vectors_and_odd_integers_lie_in_arrays_as_the_layout_says() {
    let bytes: Vec<u8> = (1..=80).collect();
    // Three floats of twelve bytes take sixteen.
    let float3 = |_: &mut Module| {
        Type::Vector(warpline_ir::VectorType {
            elem: warpline_ir::Scalar::Float(warpline_ir::FloatKind::Float),
            lanes: 3,
            scalable: false,
        })
    };
    let (input, output) = identity_over_a_range(float3, &bytes, 5, &[4]);
    for (k, (a, b)) in input.iter().zip(&output).enumerate() {
        assert_eq!(if k % 16 < 12 { *a } else { 0xee }, *b, "byte {k}");
    }
    let pair = |m: &mut Module| m.types.structure(vec![Type::Int(8), Type::Int(32)], false);
    let (input, output) = identity_over_a_range(pair, &bytes[..40], 5, &[4]);
    for (k, (a, b)) in input.iter().zip(&output).enumerate() {
        assert_eq!(if (1..4).contains(&(k % 8)) { 0xee } else { *a }, *b, "byte {k}");
    }
    let (input, output) = identity_over_a_range(|_| Type::Int(64), &bytes[..40], 5, &[4]);
    assert_eq!(input, output);
}

#[test]
fn every_index_is_run_once_whatever_the_widths_of_groups() {
    let bytes: Vec<u8> = (0..40).map(|k| k + 1).collect();
    for widths in [&[8][..], &[8, 2], &[8, 1], &[16, 4, 2]] {
        for count in 0..=bytes.len() {
            let (input, output) = identity_over_a_range(|_| Type::Int(8), &bytes, count as u128, widths);
            assert_eq!(input[..count], output[..count], "{widths:?}, {count} indices");
            assert!(output[count..].iter().all(|&b| b == 0xee), "{widths:?}, {count} indices");
        }
    }
}

/// Stores the number of the lane at `to[i]`.
const LANES: &str = "module \"m\"

func @kernel(%i: i32, %to: ptr) {
entry:
  %lane: i32 = lane_index
  %wide: i64 = sext %i
  %p: ptr = getelementptr i32, %to, %wide
  store %lane, %p, align 4
  ret
}
";

/// What a driver with a prologue stores that runs [`LANES`] for so many indices on four lanes, from this address on,
/// and what its prologue is.
fn lanes_over_a_range(offset: u64, begin: i64, count: i64) -> (Vec<i32>, u128) {
    use warpline_interp::{Machine, Val};
    let mut module = warpline_ir::text::parse_module(LANES).unwrap_or_else(|e| panic!("{e}"));
    let kernel = module.function("kernel").expect("it is there");
    let shapes = vec![ArgShape::Index, ArgShape::Uniform];
    let [full, masked] = [false, true].map(|masked| {
        let options =
            crate::Options { masked, ..crate::Options::new(4, shapes.clone(), format!("masked_{masked}")) };
        crate::vectorize(&mut module, kernel, &options).unwrap().func
    });
    let mut variants = BodyVariants::of_one_width(full, masked, 4);
    let prologue =
        make_prologue(&mut module, kernel, &shapes, 4, 64, "prologue").expect("it stores side by side");
    variants.prologue = Some(prologue);
    let driver = vector_range(&mut module, kernel, &variants, &shapes, "range").unwrap();
    verify_module(&module).unwrap();
    let mut machine = Machine::new(&module);
    let array = machine.memory.allocate_bytes(&[0xff; 1024], 64).unwrap();
    let to = array.wrapping_add(offset).wrapping_sub((4 * begin) as u64);
    let code = machine.prepare_id(driver);
    let [first, end] = [begin, begin + count].map(|n| Val::int(n as u128 & u128::from(u64::MAX)));
    machine.run_scalar(&code, &[first, end, Val::ptr(to)]).unwrap();
    let bytes = machine.memory.read(array + offset, 4 * count as u64 + 4).unwrap();
    let number = |b: &[Option<u8>]| i32::from_le_bytes([0, 1, 2, 3].map(|k| b[k].expect("it is written")));
    let code = machine.prepare_id(prologue);
    let prologue = machine.run_scalar(&code, &[Val::int(begin as u128 & 0xffff_ffff), Val::ptr(to)]).unwrap();
    (bytes.chunks_exact(4).map(number).collect(), prologue.bits().expect("not poison"))
}

#[test]
fn whole_groups_begin_behind_the_lead() {
    for offset in (0..64).step_by(4) {
        for begin in [-72, 0, 7] {
            let (lanes, prologue) = lanes_over_a_range(offset, begin, 150);
            assert_eq!(prologue as u64, (16 - offset % 16) % 16 / 4, "{offset}");
            // A group ends where the index changes its sign; on either side of that are too few for a prologue.
            let prologue = if begin < 0 { 0 } else { prologue as usize };
            let expected = (0..prologue).chain(0..150 - prologue).map(|k| (k % 4) as i32).chain([-1]);
            assert_eq!(lanes, expected.collect::<Vec<i32>>(), "{offset} bytes from a line, from {begin} on");
        }
    }
}

#[test]
fn few_indices_have_no_lead() {
    let (lanes, prologue) = lanes_over_a_range(4, 0, 127);
    assert_eq!(prologue, 3);
    assert!(lanes[..127].iter().enumerate().all(|(k, &l)| l as usize == k % 4), "{lanes:?}");
}

#[test]
fn what_has_no_array_is_refused_by_name() {
    let mut module = Module::new("m");
    let bits = Type::BOOL.vector(8).unwrap();
    let kernel = stub(&mut module, "kernel", &[(bits, "bits")], Type::Void);
    let error = scalar_range(&mut module, kernel, &[ArgShape::Varying], "d").unwrap_err();
    assert_eq!(error.to_string(), "function `kernel`: parameter %bits cannot vary: its type has no arrays");
    let wide = stub(&mut module, "wide", &[(Type::Int(128), "w")], Type::Void);
    let error = slots_entry(&mut module, wide, "e").unwrap_err();
    assert_eq!(error.to_string(), "function `wide`: parameter %w does not fit 64 bits");
}
