//! Running kernels with pocl, through the OpenCL that is installed.

use std::ffi::{CString, c_char, c_void};
use std::ptr::{null, null_mut};

use libloading::{Library, Symbol};

type Handle = *mut c_void;

/// A CPU of pocl's.
pub struct Device {
    library: Library,
    context: Handle,
    device: Handle,
    queue: Handle,
}

/// Kernels that have been compiled.
pub struct Program<'a> {
    on: &'a Device,
    program: Handle,
}

const CPU: u64 = 2;
const PLATFORM_NAME: u32 = 0x0902;
const BUILD_LOG: u32 = 0x1183;
const READ_WRITE: u64 = 1;
const COPY: u64 = 1 << 5;

impl Device {
    /// The device, if there is one.
    pub fn open() -> Option<Device> {
        // SAFETY: the loader of OpenCL's implementations has no conditions; its functions get what OpenCL's header
        // says.
        unsafe {
            let library = Library::new("libOpenCL.so.1").ok()?;
            let platforms: Symbol<'_, unsafe extern "C" fn(u32, *mut Handle, *mut u32) -> i32> =
                library.get(b"clGetPlatformIDs\0").ok()?;
            let name: Symbol<'_, unsafe extern "C" fn(Handle, u32, usize, *mut c_void, *mut usize) -> i32> =
                library.get(b"clGetPlatformInfo\0").ok()?;
            let devices: Symbol<'_, unsafe extern "C" fn(Handle, u64, u32, *mut Handle, *mut u32) -> i32> =
                library.get(b"clGetDeviceIDs\0").ok()?;
            let mut all = [null_mut(); 8];
            let mut count = 0;
            if platforms(8, all.as_mut_ptr(), &raw mut count) != 0 {
                return None;
            }
            let is_pocl = |&platform: &Handle| {
                let mut text = [0u8; 256];
                name(platform, PLATFORM_NAME, 256, text.as_mut_ptr().cast(), null_mut());
                String::from_utf8_lossy(&text).contains("Portable Computing Language")
            };
            let platform = all[..count.min(8) as usize].iter().copied().find(is_pocl)?;
            let mut device = null_mut();
            if devices(platform, CPU, 1, &raw mut device, null_mut()) != 0 {
                return None;
            }
            let context: Symbol<
                '_,
                unsafe extern "C" fn(*const isize, u32, *const Handle, Handle, Handle, *mut i32) -> Handle,
            > = library.get(b"clCreateContext\0").ok()?;
            let queue: Symbol<'_, unsafe extern "C" fn(Handle, Handle, u64, *mut i32) -> Handle> =
                library.get(b"clCreateCommandQueue\0").ok()?;
            let context = context(null(), 1, &raw const device, null_mut(), null_mut(), null_mut());
            let queue = queue(context, device, 0, null_mut());
            (!context.is_null() && !queue.is_null()).then_some(Device { library, context, device, queue })
        }
    }

    /// Compiles OpenCL C.
    pub fn build(&self, text: &str) -> Program<'_> {
        // SAFETY: functions of the library get what OpenCL's header says: texts with their lengths, one device, room
        // for the log.
        unsafe {
            let create: Symbol<
                '_,
                unsafe extern "C" fn(Handle, u32, *const *const c_char, *const usize, *mut i32) -> Handle,
            > = self.library.get(b"clCreateProgramWithSource\0").unwrap();
            let build: Symbol<
                '_,
                unsafe extern "C" fn(Handle, u32, *const Handle, *const c_char, Handle, Handle) -> i32,
            > = self.library.get(b"clBuildProgram\0").unwrap();
            let log: Symbol<
                '_,
                unsafe extern "C" fn(Handle, Handle, u32, usize, *mut c_void, *mut usize) -> i32,
            > = self.library.get(b"clGetProgramBuildInfo\0").unwrap();
            let (start, length) = (text.as_ptr().cast::<c_char>(), text.len());
            let program = create(self.context, 1, &raw const start, &raw const length, null_mut());
            let options = c"-cl-std=CL2.0";
            let status = build(program, 1, &raw const self.device, options.as_ptr(), null_mut(), null_mut());
            let mut words = vec![0u8; 4000];
            log(program, self.device, BUILD_LOG, words.len(), words.as_mut_ptr().cast(), null_mut());
            assert_eq!(status, 0, "{}", String::from_utf8_lossy(&words));
            Program { on: self, program }
        }
    }
}

impl Program<'_> {
    /// Runs a kernel in one work-item: three buffers to read, one to write, and a number. What has been written.
    pub fn run(&self, name: &str, inputs: &[Vec<u8>; 3], size: usize, n: i32) -> Vec<u8> {
        let library = &self.on.library;
        // SAFETY: functions of the library get what OpenCL's header says; buffers are as large as stated, and copied.
        unsafe {
            let kernel: Symbol<'_, unsafe extern "C" fn(Handle, *const c_char, *mut i32) -> Handle> =
                library.get(b"clCreateKernel\0").unwrap();
            let buffer: Symbol<
                '_,
                unsafe extern "C" fn(Handle, u64, usize, *const c_void, *mut i32) -> Handle,
            > = library.get(b"clCreateBuffer\0").unwrap();
            let set: Symbol<'_, unsafe extern "C" fn(Handle, u32, usize, *const c_void) -> i32> =
                library.get(b"clSetKernelArg\0").unwrap();
            let start: Symbol<
                '_,
                unsafe extern "C" fn(
                    Handle,
                    Handle,
                    u32,
                    *const usize,
                    *const usize,
                    *const usize,
                    u32,
                    *const Handle,
                    *mut Handle,
                ) -> i32,
            > = library.get(b"clEnqueueNDRangeKernel\0").unwrap();
            let read: Symbol<
                '_,
                unsafe extern "C" fn(
                    Handle,
                    Handle,
                    u32,
                    usize,
                    usize,
                    *mut c_void,
                    u32,
                    *const Handle,
                    *mut Handle,
                ) -> i32,
            > = library.get(b"clEnqueueReadBuffer\0").unwrap();
            let release: Symbol<'_, unsafe extern "C" fn(Handle) -> i32> =
                library.get(b"clReleaseMemObject\0").unwrap();
            let name = CString::new(name).unwrap();
            let kernel = kernel(self.program, name.as_ptr(), null_mut());
            let mut buffers = Vec::new();
            for input in inputs {
                let flags = READ_WRITE | COPY;
                buffers.push(buffer(self.on.context, flags, input.len(), input.as_ptr().cast(), null_mut()));
            }
            let mut out = vec![0u8; size];
            buffers.push(buffer(self.on.context, READ_WRITE, size, null(), null_mut()));
            for (k, handle) in buffers.iter().enumerate() {
                assert_eq!(set(kernel, k as u32, size_of::<Handle>(), (&raw const *handle).cast()), 0);
            }
            assert_eq!(set(kernel, 4, 4, (&raw const n).cast()), 0);
            let (one, none) = (1usize, null());
            let queue = self.on.queue;
            assert_eq!(
                start(queue, kernel, 1, none, &raw const one, &raw const one, 0, null(), null_mut()),
                0
            );
            let to = out.as_mut_ptr().cast();
            assert_eq!(read(queue, buffers[3], 1, 0, size, to, 0, null(), null_mut()), 0);
            for handle in buffers {
                release(handle);
            }
            out
        }
    }
}
