//! Sources that are modules of a package, on the command line.
//!
//! A file that can be compiled alone is, as ever: that is fast, and needs nothing of the package. One that uses the
//! rest of the crate, or has `cfg`s, or kernels with types that rustc alone knows, is compiled by cargo, with the
//! package's default features. Whoever gives arguments for rustc has the file compiled by these alone. A file without
//! kernels, whose loops are meant, is compiled by cargo where that is asked for: build scripts run then.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use warpline_llvm::worker::{self, LoadOptions};
use warpline_llvm::{Imported, Module};

use super::{Marked, Member, Request, kernels, member, target_folder};
use crate::error::{Error, Result};
use crate::signature::{self, Kind, Signature};

/// What cargo's compiler knows of the kernels of sources, for those who read what the sources say.
static KNOWN: Mutex<BTreeMap<PathBuf, Vec<Marked>>> = Mutex::new(BTreeMap::new());

/// The kernels of a source, if cargo has compiled it here.
pub(crate) fn known(source: &Path) -> Option<Vec<Marked>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get(source).cloned()
}

/// A source that must, or may have to, be compiled with its crate.
pub(crate) struct Part {
    member: Member,
    signatures: Vec<Signature>,
    /// Whether it should be tried alone first.
    pub may_be_alone: bool,
}

/// Whether a source is a module of a package, and has kernels or is to be compiled with the package.
///
/// # Errors
/// If what is said of kernels does not fit them.
pub(crate) fn part(source: &Path, options: &LoadOptions) -> Result<Option<Part>> {
    let is_rust = source.extension().is_some_and(|extension| extension == "rs");
    if !is_rust || !options.flags.rustc.is_empty() {
        return Ok(None);
    }
    let signatures = signature::read(source)?;
    if signatures.is_empty() && !options.flags.package {
        return Ok(None);
    }
    // Without a package, cargo is not asked.
    let Some(member) = member(source)? else { return Ok(None) };
    let text = std::fs::read_to_string(source).unwrap_or_default();
    let may_be_alone = !options.flags.package && !text.contains("cfg") && signatures.iter().all(is_plain);
    Ok(Some(Part { member, signatures, may_be_alone }))
}

/// Whether a kernel's signature says all that must be known.
fn is_plain(signature: &Signature) -> bool {
    let is_known = signature.params.iter().all(|param| param.kind != Kind::Other);
    is_known && signature.result != Some(None) && signature.instance == signature.name && !signature.in_impl
}

/// The kernels of a source that is compiled alone, if there is one about which only rustc knows all.
///
/// # Errors
/// If what is said of kernels does not fit them.
pub(crate) fn with_shims(source: &Path) -> Result<Option<Vec<Signature>>> {
    if source.extension().is_none_or(|extension| extension != "rs") {
        return Ok(None);
    }
    let signatures = signature::read(source)?;
    Ok(Some(signatures).filter(|signatures| !signatures.iter().all(is_plain)))
}

/// The module of a source with kernels under their names, when all else has been removed.
pub(crate) fn renamed(source: &Path, signatures: &[Signature], mut module: Module) -> Result<Imported> {
    let all = kernels(&Imported::new(module.try_clone()?));
    let is_here =
        |mark: &Marked| signatures.iter().any(|own| own.instance == mark.instance && own.line == mark.line);
    let own: Vec<Marked> = all.into_iter().filter(is_here).collect();
    let names: Vec<(String, String)> =
        own.iter().map(|mark| (mark.symbol.clone(), mark.instance.clone())).collect();
    module.keep_renamed(&names)?;
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).insert(source.to_owned(), own);
    Ok(Imported::new(module))
}

/// Has cargo compile the crate, and reads what came of it: kernels, and the files that they were made of.
///
/// # Errors
/// What cargo says, or those of [`worker::load_module`].
pub(crate) fn load(source: &Path, part: &Part, options: &LoadOptions) -> Result<(Imported, Vec<PathBuf>)> {
    let target = &part.member.target;
    let all_functions = part.signatures.is_empty();
    // Cargo does not see with which flags the crate was compiled.
    let folder = if all_functions { "warpline-loops" } else { "warpline" };
    let folder = target_folder(&target.manifest)?.join(folder);
    let request = Request {
        folder: folder.clone(),
        triple: options.triple.clone(),
        all_functions,
        ..Request::default()
    };
    let built = request.build(target)?;
    // Several modules of one package may be read at the same time.
    static COPIES: AtomicU64 = AtomicU64::new(0);
    let copy = COPIES.fetch_add(1, Ordering::Relaxed);
    let bitcode = folder.join(format!("{}-{}-{copy}.bc", target.name, std::process::id()));
    let unwritten =
        |error: std::io::Error| Error::Output { path: bitcode.clone(), reason: error.to_string() };
    std::fs::copy(&built.bitcode, &bitcode).map_err(unwritten)?;
    let asked = LoadOptions {
        simplify: Some(options.simplify.unwrap_or(true)),
        package: Some(built.parts),
        source: all_functions.then(|| source.to_owned()),
        ..options.clone()
    };
    let loaded = worker::load_module(&bitcode, &asked);
    let _ = std::fs::remove_file(&bitcode);
    let module = loaded?.0;
    let imported = match all_functions {
        true => Imported::new(module),
        false => renamed(source, &part.signatures, module)?,
    };
    Ok((imported, built.files))
}

/// What to do where rustc rejects a source, if that may be a module of a package.
pub(crate) fn hint(source: &Path, options: &LoadOptions) -> Option<String> {
    let is_alone = !options.flags.package && options.flags.rustc.is_empty();
    let is_rust = source.extension().is_some_and(|extension| extension == "rs");
    let manifest = super::manifest_of(source).filter(|_| is_alone && is_rust)?;
    let folder = manifest.parent()?;
    let here = std::env::current_dir().ok();
    let below = here.and_then(|here| folder.strip_prefix(here).ok().map(Path::to_owned));
    let folder = match below {
        Some(below) if below.as_os_str().is_empty() => PathBuf::from("."),
        Some(below) => below,
        None => folder.to_owned(),
    };
    Some(format!("hint: it may be a module of a package: `-p {}` has cargo compile that", folder.display()))
}
