//! Prints what LLVM's own `print<uniformity>` says of modules, by the library that warpline loads.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    warpline_llvm::worker::serve_if_asked();
    for path in std::env::args_os().skip(1) {
        let module = warpline_llvm::Module::read(path.as_ref())?;
        print!("{}", warpline_llvm::worker::print_uniformity(&module)?);
    }
    Ok(())
}
