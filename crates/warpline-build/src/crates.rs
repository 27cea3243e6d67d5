//! Kernels in modules of the package itself, which cargo compiles for warpline
//! ([`warpline_compile::package`]).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use warpline_compile::kernel;
use warpline_compile::package::{self, Member, Request, Target};
use warpline_compile::signature::{self, Signature};
use warpline_llvm::worker::LoadOptions;

use crate::compile::{Extracted, Unit};
use crate::error::{Error, Result};
use crate::files::{Built, Project, Row};
use crate::wrapper::{self, Which};

/// What a source belongs to, if it is a module of the package that is built.
pub(crate) fn member(source: &Path) -> Result<Option<Member>> {
    if source.extension().is_none_or(|extension| extension != "rs") {
        return Ok(None);
    }
    let Some(own) = std::env::var_os("CARGO_MANIFEST_DIR") else { return Ok(None) };
    let own = PathBuf::from(own).canonicalize().ok();
    let inside = source.canonicalize().ok().zip(own).is_some_and(|(source, own)| source.starts_with(own));
    if !inside { Ok(None) } else { Ok(package::member(source)?) }
}

/// The kernels that a source marks, at least one.
pub(crate) fn marked(source: &Path) -> Result<Vec<Signature>> {
    let signatures = signature::read(source)?;
    if signatures.is_empty() {
        let message = "it marks no kernel: write `#[warpline_lanes::kernel(…)]` in front of a function, or \
                       `//@ rust fn …` in C";
        return Err(Error::Source { path: source.to_owned(), line: None, message: message.to_owned() });
    }
    Ok(signatures)
}

/// Where warpline has the crate compiled: functions of the right types, and nothing behind them.
pub(crate) fn for_type_checks(project: &Project) -> Result<()> {
    println!("cargo:rerun-if-env-changed={}", package::STAMP);
    let mut table = Vec::new();
    let mut functions = String::new();
    for source in &project.sources {
        let member = member(source)?;
        for signature in marked(source)? {
            match &member {
                Some(member) => {
                    table.push(Row { source: source.clone(), rest: row(&signature, "", "", "", "") });
                    functions += &names(&signature, member);
                }
                None => {
                    functions += &wrapper::text(&signature, "warpline_nested", &Which::One(String::new()))
                }
            }
        }
    }
    let wrappers = wrapper::frame(project, &functions);
    let built = Built { wrappers, archive: Vec::new(), libraries: Vec::new(), table, files: Vec::new() };
    project.write_functions(&built)
}

/// What the attribute must know of an instance of a kernel.
pub(crate) fn row(signature: &Signature, range: &str, which: &str, facts: &str, layouts: &str) -> String {
    let Signature { line, name, instance, in_impl, .. } = signature;
    let place = if *in_impl { "impl " } else { "" };
    format!("{line}\t{name}\t{instance}\t{range}\t{which}\t{layouts}\t{place}{facts}")
}

/// What compilers need not say of names.
const ALLOWED: &str = "#[allow(unused_imports, unreachable_pub, clippy::all, clippy::pedantic, clippy::nursery, \
                       clippy::restriction)]";

/// Names for the functions beside a kernel, where they can be named from the root of the crate.
pub(crate) fn names(signature: &Signature, member: &Member) -> String {
    let instance = signature.instance.trim_start_matches("r#");
    let modules: Vec<(&str, bool)> = member
        .modules
        .iter()
        .map(|module| (module.name.as_str(), module.is_visible))
        .chain(signature.modules.iter().map(|(name, is_visible)| (name.as_str(), *is_visible)))
        .collect();
    // The root sees its own modules, whatever they are to others.
    if signature.in_impl || modules.iter().skip(1).any(|(_, is_visible)| !is_visible) {
        return String::new();
    }
    let path: String = modules.iter().map(|(name, _)| format!("{name}::")).collect();
    let visibility = if signature.is_public { "pub" } else { "pub(crate)" };
    let cfgs: String = member.modules.iter().map(|module| module.cfgs.as_str()).collect();
    let mut text = String::new();
    for (function, name) in [("range", instance.to_owned()), ("cpu", format!("{instance}_cpu"))] {
        let _ = write!(
            text,
            "{cfgs}{}{ALLOWED}\n{visibility} use crate::{path}{instance}_{function} as {name};\n",
            signature.cfgs
        );
    }
    text
}

/// What was found in the package's own modules.
pub(crate) struct Found {
    /// The kernels.
    pub units: Vec<Unit>,
    /// Rows for kernels that a `cfg` leaves out where warpline has the crate compiled, and perhaps nowhere else.
    pub left_out: Vec<Row>,
    /// The files that the crate is made of.
    pub files: Vec<PathBuf>,
}

/// Compiles the crate for kernels in its modules.
pub(crate) fn kernels(project: &Project, sources: &[(PathBuf, Member)]) -> Result<Found> {
    let mut by_target: BTreeMap<&Target, Vec<(&Path, &Member)>> = BTreeMap::new();
    for (source, member) in sources {
        by_target.entry(&member.target).or_default().push((source, member));
    }
    let mut found = Found { units: Vec::new(), left_out: Vec::new(), files: Vec::new() };
    for (target, sources) in by_target {
        let request = Request {
            folder: project.out.join("warpline-nested"),
            features: Some(package::features_of_script(&target.manifest)?),
            triple: Some(project.target.clone()).filter(|target| *target != project.host),
            script: Some(project.script.clone()),
            all_functions: false,
        };
        let built = request.build(target)?;
        let bitcode = project.out.join("warpline").join(format!("{}.bc", project.name));
        let folder = project.out.join("warpline");
        std::fs::create_dir_all(&folder).map_err(|error| Error::io("cannot create", &folder, &error))?;
        std::fs::copy(&built.bitcode, &bitcode)
            .map_err(|error| Error::io("cannot copy", &built.bitcode, &error))?;
        let asked = LoadOptions {
            simplify: Some(true),
            package: Some(built.parts.clone()),
            for_cpu: true,
            ..LoadOptions::default()
        };
        let imported = kernel::load_for_code(&bitcode, &asked, kernel::Told::default())?.imported;
        let marks = package::kernels(&imported);
        for (source, member) in sources {
            for signature in marked(source)? {
                let mark = marks
                    .iter()
                    .find(|mark| mark.instance == signature.instance && mark.line == signature.line);
                let Some(mark) = mark else {
                    if !signature.cfgs.is_empty()
                        || member.modules.iter().any(|module| !module.cfgs.is_empty())
                    {
                        let rest = format!("{}\t{}", signature.line, signature.name);
                        found.left_out.push(Row { source: source.to_owned(), rest });
                        continue;
                    }
                    return Err(crate::check::wrong(
                        source,
                        signature.line,
                        &signature.instance,
                        "the crate has no code of it: its `impl` is generic, or a `cfg` leaves it out",
                    ));
                };
                found.units.push(Unit {
                    source: source.to_owned(),
                    symbol: mark.symbol.clone(),
                    args: mark.args.clone(),
                    racy: mark.racy,
                    is_safe: mark.is_safe,
                    layouts: Some(mark.layouts.clone()),
                    member: Some(member.clone()),
                    module: Extracted::reporting(
                        &imported,
                        &mark.symbol,
                        project.debug,
                        (mark.context.unwrap_or_default(), mark.index),
                    )?,
                    signature,
                });
            }
        }
        found.files.extend(built.files);
    }
    Ok(found)
}
