//! Runs the kernels of `kernels.cl` with their groups on all cores, from Rust.
//!
//!     warpline vectorize kernels.cl -o kernels.o
//!     rustc -O threads.rs -C link-arg=kernels.o && ./threads

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

type Numbers = [u64; 3];

// As `--header` declares them in C.
#[rustfmt::skip]
unsafe extern "C" {
    fn reduce_workspace(size: &Numbers, local: &Numbers, tmp_bytes: u64) -> u64;
    fn reduce_groups(offset: &Numbers, size: &Numbers, local: &Numbers, first: u64, last: u64, input: *const f32,
                     sums: *mut f32, n: i32, tmp_bytes: u64, workspace: *mut u8);
    fn multiply_workspace(size: &Numbers, local: &Numbers) -> u64;
    fn multiply_groups(offset: &Numbers, size: &Numbers, local: &Numbers, first: u64, last: u64, a: *const f32,
                       b: *const f32, c: *mut f32, n: i32, workspace: *mut u8);
    fn sort_in_groups_workspace(size: &Numbers, local: &Numbers, tmp_bytes: u64) -> u64;
    fn sort_in_groups_groups(offset: &Numbers, size: &Numbers, local: &Numbers, first: u64, last: u64,
                             data: *mut i32, from: i32, to: i32, tmp_bytes: u64, workspace: *mut u8);
    fn sort_step_groups(offset: &Numbers, size: &Numbers, local: &Numbers, first: u64, last: u64, from: *const i32,
                        to: *mut i32, run: i32, apart: i32);
}

/// A pointer that threads share. Groups of a kernel do not race, so this is what the kernel promises.
#[derive(Copy, Clone)]
struct Shared<T>(*mut T);

// SAFETY: only kernels access what it points to, and their groups do not race.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: only kernels access what it points to, and their groups do not race.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    fn at(self) -> *mut T {
        self.0
    }
}

/// Runs all groups of a range, each thread with a workspace of its own.
fn on_threads(size: &Numbers, local: &Numbers, bytes: u64, groups: impl Fn(u64, *mut u8) + Sync) {
    let count: u64 = (0..3).map(|d| size[d].div_ceil(local[d])).product();
    let next = AtomicU64::new(0);
    let work = || {
        let mut workspace = vec![0u8; bytes as usize];
        loop {
            let group = next.fetch_add(1, Ordering::Relaxed);
            if group >= count {
                break;
            }
            groups(group, workspace.as_mut_ptr());
        }
    };
    let threads = thread::available_parallelism().map_or(1, |n| n.get());
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
}

const START: Numbers = [0; 3];

fn sums() -> bool {
    let (n, group) = (10_000u64, 256u64);
    let input: Vec<f32> = (0..n).map(|i| (i % 13) as f32 - 5.0).collect();
    let (size, local) = ([n.next_multiple_of(group), 1, 1], [group, 1, 1]);
    let mut sums = vec![0f32; n.div_ceil(group) as usize];
    let (out, tmp) = (Shared(sums.as_mut_ptr()), group * 4);
    // SAFETY: the buffers are as long as the kernel expects, and the workspace is as large as it says.
    let bytes = unsafe { reduce_workspace(&size, &local, tmp) };
    on_threads(&size, &local, bytes, |g, workspace| unsafe {
        reduce_groups(&START, &size, &local, g, g + 1, input.as_ptr(), out.at(), n as i32, tmp, workspace);
    });
    sums.iter().sum::<f32>() == input.iter().sum()
}

fn products() -> bool {
    let n = 96usize;
    let a: Vec<f32> = (0..n * n).map(|i| (i % 7) as f32).collect();
    let b: Vec<f32> = (0..n * n).map(|i| (i % 5) as f32 - 2.0).collect();
    let mut c = vec![0f32; n * n];
    let (size, local, out) = ([n as u64, n as u64, 1], [16, 16, 1], Shared(c.as_mut_ptr()));
    // SAFETY: the buffers are as long as the kernel expects, and the workspace is as large as it says.
    let bytes = unsafe { multiply_workspace(&size, &local) };
    on_threads(&size, &local, bytes, |g, workspace| unsafe {
        multiply_groups(
            &START,
            &size,
            &local,
            g,
            g + 1,
            a.as_ptr(),
            b.as_ptr(),
            out.at(),
            n as i32,
            workspace,
        );
    });
    (0..n * n).all(|i| {
        let right: f32 = (0..n).map(|k| a[i / n * n + k] * b[k * n + i % n]).sum();
        c[i] == right
    })
}

fn sorts() -> bool {
    let (n, group) = (1i32 << 14, 128i32);
    let mut random = 1u32;
    let mut number = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        random as i32
    };
    let mut data: Vec<i32> = (0..n).map(|_| number()).collect();
    let mut next = vec![0i32; data.len()];
    let (size, steps, local) = ([n as u64 / 2, 1, 1], [n as u64, 1, 1], [group as u64, 1, 1]);
    let tmp = group as u64 * 8;
    // SAFETY: the buffers are as long as the kernel expects, and the workspace is as large as it says.
    let bytes = unsafe { sort_in_groups_workspace(&size, &local, tmp) };
    let in_groups = |data: &mut [i32], from: i32, to: i32| {
        let shared = Shared(data.as_mut_ptr());
        on_threads(&size, &local, bytes, |g, workspace| unsafe {
            sort_in_groups_groups(&START, &size, &local, g, g + 1, shared.at(), from, to, tmp, workspace);
        });
    };
    in_groups(&mut data, 2, 2 * group);
    let mut run = 4 * group;
    while run <= n {
        let mut apart = run / 2;
        while apart > group {
            let (from, to) = (&data, Shared(next.as_mut_ptr()));
            on_threads(&steps, &local, 0, |g, _| unsafe {
                sort_step_groups(&START, &steps, &local, g, g + 1, from.as_ptr(), to.at(), run, apart);
            });
            std::mem::swap(&mut data, &mut next);
            apart /= 2;
        }
        in_groups(&mut data, run, run);
        run *= 2;
    }
    data.is_sorted()
}

fn main() {
    let all = [("reduction", sums()), ("matrix product", products()), ("bitonic sort", sorts())];
    for (name, right) in all {
        println!("{name}: {}", if right { "right" } else { "wrong" });
    }
    if !all.iter().all(|(_, right)| *right) {
        std::process::exit(1);
    }
}
