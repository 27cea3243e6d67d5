//! What lanes that are not active must not do: fault, trap, or call. Run on real memory that ends at a guard page, with divisors that
//! trap and a callee that keeps a log.

use std::cell::RefCell;

use warpline::ir::FuncId;
use warpline::shape::ArgShape;
use warpline::vectorize::driver::{scalar_range, slots_entry, vector_range};
use warpline::vectorize::{Linearize, Options, vectorize};
use warpline_llvm::worker::{CodegenOptions, Output, codegen_in_process};
use warpline_llvm::{Cpu, Imported, Jit, Linkage, Llvm, Module};

/// Elements with an even value are neither divided by nor logged; nothing at or behind `%n` is read.
const KERNEL: &str = "
declare void @log_call(i32, i32)

define i32 @kernel(i32 %i, ptr %a, i32 %n, ptr %out) {
entry:
  %inside = icmp ult i32 %i, %n
  br i1 %inside, label %read, label %end
read:
  %index = zext i32 %i to i64
  %place = getelementptr inbounds i32, ptr %a, i64 %index
  %x = load i32, ptr %place, align 4
  %low = and i32 %x, 1
  %odd = icmp ne i32 %low, 0
  br i1 %odd, label %divide, label %gather
divide:
  %divisor = sub i32 %x, 1
  %even.less = and i32 %divisor, 2
  %safe = icmp ne i32 %even.less, 0
  br i1 %safe, label %trap, label %gather
trap:
  %q = sdiv i32 1000, %even.less
  call void @log_call(i32 %i, i32 %q)
  br label %gather
gather:
  %from = phi i32 [ %x, %read ], [ %divisor, %divide ], [ %q, %trap ]
  %reach = icmp ult i32 %from, %n
  br i1 %reach, label %far, label %end
far:
  %far.index = zext i32 %from to i64
  %far.place = getelementptr inbounds i32, ptr %a, i64 %far.index
  %y = load i32, ptr %far.place, align 4
  store i32 %y, ptr %out, align 4
  br label %end
end:
  %r = phi i32 [ -1, %entry ], [ %from, %gather ], [ %y, %far ]
  ret i32 %r
}
";

thread_local! {
    static LOG: RefCell<Vec<(u32, u32)>> = const { RefCell::new(Vec::new()) };
}

extern "C" fn log_call(i: u32, q: u32) {
    LOG.with_borrow_mut(|log| log.push((i, q)));
}

/// Memory of which the first and the last byte are next to pages that cannot be touched.
struct Guarded {
    pages: *mut u8,
    page: usize,
}

impl Guarded {
    fn new() -> Self {
        // SAFETY: a fresh anonymous mapping of three pages, of which the outer two lose their permissions.
        unsafe {
            let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let pages =
                libc::mmap(std::ptr::null_mut(), 3 * page, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            assert_ne!(pages, libc::MAP_FAILED);
            let pages = pages.cast::<u8>();
            assert_eq!(libc::mprotect(pages.cast(), page, libc::PROT_NONE), 0);
            assert_eq!(libc::mprotect(pages.add(2 * page).cast(), page, libc::PROT_NONE), 0);
            Self { pages, page }
        }
    }

    /// Puts values at the very end of the accessible page; returns their address.
    fn at_end(&self, values: &[u32]) -> u64 {
        assert!(size_of_val(values) <= self.page);
        // SAFETY: the destination lies within the accessible page and is aligned, since a page is.
        unsafe {
            let start = self.pages.add(2 * self.page).cast::<u32>().sub(values.len());
            start.copy_from_nonoverlapping(values.as_ptr(), values.len());
            start as u64
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: this owns the mapping.
        unsafe { libc::munmap(self.pages.cast(), 3 * self.page) };
    }
}

#[test]
fn inactive_lanes_neither_fault_nor_trap_nor_call() {
    if let Err(error) = Llvm::get() {
        eprintln!("skipped: {error}");
        return;
    }
    let args = [ArgShape::Index, ArgShape::Uniform, ArgShape::Uniform, ArgShape::Uniform];
    for (width, linearize) in
        [(1, Linearize::Partial), (8, Linearize::Partial), (8, Linearize::Full), (32, Linearize::Partial)]
    {
        let mut imported = Imported::new(Module::parse(KERNEL.as_bytes(), "kernel.ll").unwrap());
        let known = imported.ir.functions.len();
        let kernel = imported.ir.function("kernel").unwrap();
        let form = |imported: &mut Imported, masked: bool| {
            let options = Options {
                masked,
                linearize,
                ..Options::new(width, args.to_vec(), format!("kernel.{masked}"))
            };
            vectorize(&mut imported.ir, kernel, &options).unwrap().func
        };
        let (full, partial) = (form(&mut imported, false), form(&mut imported, true));
        let scalar = scalar_range(&mut imported.ir, kernel, &args, "scalar").unwrap();
        let vector = vector_range(&mut imported.ir, kernel, full, partial, width, &args, "vector").unwrap();
        slots_entry(&mut imported.ir, scalar, "scalar.slots").unwrap();
        slots_entry(&mut imported.ir, vector, "vector.slots").unwrap();
        let added: Vec<FuncId> = imported.ir.functions.keys().skip(known).collect();
        for id in added {
            imported
                .bridge
                .add_function(&imported.ir, &imported.ir.functions[id], Linkage::External)
                .unwrap();
        }
        // LLVM cannot select instructions for some vectors of one boolean unless they are optimised away.
        let pipelines: &[&str] = if width == 1 { &["default<O3>"] } else { &["", "default<O3>"] };
        for &passes in pipelines {
            let mut options = CodegenOptions::new(Cpu::native().unwrap(), Output::Object);
            passes.clone_into(&mut options.passes);
            let object =
                codegen_in_process(&imported.bridge.module().to_bitcode(), "kernel", &options).unwrap();
            let jit = Jit::new().unwrap();
            jit.define("log_call", log_call as *const () as usize).unwrap();
            jit.add_object(&object, "kernel.o").unwrap();
            let run = |name: &str, n: usize, begin: u64, end: u64| {
                let memory = Guarded::new();
                let values: Vec<u32> = (0..n as u32).map(|i| i.wrapping_mul(2_654_435_761) >> 27).collect();
                let mut last = [u32::MAX];
                let results = Guarded::new();
                let out = vec![7; (end - begin) as usize];
                let (out_at, last_at) = (results.at_end(&out), last.as_mut_ptr());
                let mut slots = [begin, end, memory.at_end(&values), n as u64, last_at as u64, out_at];
                LOG.with_borrow_mut(Vec::clear);
                jit.function(name).unwrap().call(&mut slots);
                // SAFETY: the results are still mapped, and nothing else refers to them.
                let out = unsafe { std::slice::from_raw_parts(out_at as *const u32, out.len()) }.to_vec();
                (out, last, LOG.with_borrow(Clone::clone))
            };
            for (n, begin, end) in [(13, 0, 13), (40, 3, 40), (5, 0, 40), (64, 0, 64), (0, 0, 9)] {
                let (scalar, vector) =
                    (run("scalar.slots", n, begin, end), run("vector.slots", n, begin, end));
                assert_eq!(
                    scalar, vector,
                    "{width} lanes, {linearize:?}, passes `{passes}`, {n} elements, {begin}..{end}"
                );
            }
        }
    }
}
