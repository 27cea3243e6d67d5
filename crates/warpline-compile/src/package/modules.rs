//! Where a file is among the modules of a crate, by the rules that rustc has for `mod name;`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// A module on the way to a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Module {
    /// Its name.
    pub name: String,
    /// Whether others than the module that it is in may name it.
    pub is_visible: bool,
    /// Its attributes `cfg`.
    pub cfgs: String,
}

/// The modules that lead from the root of a crate to a file; none to the root itself. `None` if the file is no module
/// of it, or one that only a macro declares.
pub(super) fn path_to(root: &Path, file: &Path) -> Option<Vec<Module>> {
    let wanted = file.canonicalize().ok()?;
    let mut search = Search { wanted, seen: HashSet::new() };
    let folder = root.parent()?;
    search.in_file(root, folder)
}

struct Search {
    wanted: PathBuf,
    seen: HashSet<PathBuf>,
}

impl Search {
    /// Looks at a file, whose modules lie in a folder.
    fn in_file(&mut self, file: &Path, folder: &Path) -> Option<Vec<Module>> {
        let file = file.canonicalize().ok()?;
        if file == self.wanted {
            return Some(Vec::new());
        }
        if !self.seen.insert(file.clone()) {
            return None;
        }
        let text = std::fs::read_to_string(&file).ok()?;
        let parsed = syn::parse_file(&text).ok()?;
        self.in_items(&parsed.items, file.parent()?, folder)
    }

    /// Looks at items: `beside` is where paths that attributes name begin, `folder` where modules lie.
    fn in_items(&mut self, items: &[syn::Item], beside: &Path, folder: &Path) -> Option<Vec<Module>> {
        for item in items {
            let syn::Item::Mod(module) = item else { continue };
            let name = module.ident.to_string();
            let plain = name.trim_start_matches("r#");
            let given = module.attrs.iter().find_map(path_attribute);
            let found = match (&module.content, given) {
                (Some((_, inner)), given) => {
                    let own = folder.join(given.as_deref().unwrap_or(plain));
                    self.in_items(inner, &own, &own)
                }
                (None, Some(path)) => {
                    let path = beside.join(path);
                    let own = path.parent().map(Path::to_owned)?;
                    self.in_file(&path, &own)
                }
                (None, None) => {
                    let flat = folder.join(format!("{plain}.rs"));
                    let own = folder.join(plain);
                    self.in_file(&flat, &own).or_else(|| self.in_file(&own.join("mod.rs"), &own))
                }
            };
            if let Some(mut rest) = found {
                let is_visible = !matches!(module.vis, syn::Visibility::Inherited);
                rest.insert(0, Module { name, is_visible, cfgs: crate::signature::cfgs(&module.attrs) });
                return Some(rest);
            }
        }
        None
    }
}

/// What `#[path = "…"]` says.
fn path_attribute(attribute: &syn::Attribute) -> Option<String> {
    let syn::Meta::NameValue(pair) = &attribute.meta else { return None };
    if !pair.path.is_ident("path") {
        return None;
    }
    let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value else { return None };
    Some(text.value())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_the_rules_of_rustc() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put(
            "lib.rs",
            "mod flat;\npub mod deep;\nmod inline { pub(crate) mod inner; }\n#[path = \"odd/way.rs\"] mod way;\n",
        );
        put("flat.rs", "pub mod below;");
        put("flat/below.rs", "");
        put("deep/mod.rs", "mod more;");
        put("deep/more.rs", "");
        put("inline/inner.rs", "");
        put("odd/way.rs", "mod on;");
        put("odd/on.rs", "");
        put("stray.rs", "");
        let path = |name: &str| {
            let found = path_to(&folder.path().join("lib.rs"), &folder.path().join(name))?;
            Some(found.into_iter().map(|m| (m.name, m.is_visible)).collect::<Vec<_>>())
        };
        let one = |name: &str, visible: bool| (name.to_owned(), visible);
        assert_eq!(path("lib.rs"), Some(vec![]));
        assert_eq!(path("flat/below.rs"), Some(vec![one("flat", false), one("below", true)]));
        assert_eq!(path("deep/more.rs"), Some(vec![one("deep", true), one("more", false)]));
        assert_eq!(path("inline/inner.rs"), Some(vec![one("inline", false), one("inner", true)]));
        assert_eq!(path("odd/on.rs"), Some(vec![one("way", false), one("on", false)]));
        assert_eq!(path("stray.rs"), None);
    }
}
