//! What headers say about threads that share the work-groups of a range: a driver over some groups, and a function in C
//! that has a loop of the caller's run it.

use crate::c_names::is_identifier;

/// Names in the functions below that a kernel's parameters must not have.
pub(crate) const TAKEN: [&str; 6] = ["first", "last", "workspace", "for_each", "user", "all"];

/// What all kernels have in common: how many groups there are, and what a loop over them looks like.
pub(crate) const COMMON: &str = "\
#ifndef WARPLINE_GROUPS
#define WARPLINE_GROUPS
/* How many groups of local[0] * local[1] * local[2] work-items (0: all of the dimension) there are among size[0] *
   size[1] * size[2]; the last groups may be smaller. */
static inline uint64_t warpline_group_count(const uint64_t size[3], const uint64_t local[3]) {
    uint64_t count = 1;
    for (int d = 0; d < 3; d++)
        count *= size[d] == 0 ? 0 : local[d] == 0 ? 1 : (size[d] - 1) / local[d] + 1;
    return count;
}
/* Runs the groups first..last with a workspace that nobody else uses meanwhile. */
typedef void (*warpline_part)(void *context, uint64_t first, uint64_t last, void *workspace);
/* Calls part(context, ...) for all of 0..count, in parts of any size, in any order and on any threads. */
typedef void (*warpline_for_each)(void *user, uint64_t count, warpline_part part, void *context);
#endif

";

/// The driver over some groups, and what calls it from a loop. `own` are the declarations and names of the kernel's
/// parameters, and `has_workspace` says whether the driver has one behind them.
pub(crate) fn text(
    groups: &str,
    title: &str,
    own: &[(String, String)],
    has_workspace: bool,
    prototype: impl Fn(&str, &str, &[String]) -> String,
) -> String {
    if !is_identifier(groups) {
        return String::new();
    }
    let (before, after) = groups.rsplit_once("_groups").unwrap_or((groups, ""));
    let stem = format!("{before}_parallel{after}");
    let range: Vec<String> =
        ["offset", "size", "local"].iter().map(|name| format!("const uint64_t {name}[3]")).collect();
    let own_types: Vec<String> = own.iter().map(|(declared, _)| declared.clone()).collect();
    let own_names: Vec<&str> = own.iter().map(|(_, name)| &**name).collect();
    let numbers = ["uint64_t first", "uint64_t last"].map(str::to_owned);
    let workspace = has_workspace.then(|| "void *workspace".to_owned());
    let some = [&range[..], &numbers, &own_types].concat().into_iter().chain(workspace).collect::<Vec<_>>();
    let driver = format!(
        "/* {title} for the groups first..last alone, numbered along dimension 0 first, so that threads can share \
         a\n   range{}. */\n{}",
        if has_workspace { "; each needs a workspace of its own" } else { "" },
        prototype(groups, "void", &some)
    );
    let fields: String = own_types.iter().map(|field| format!(" {field};")).collect();
    let all: Vec<String> =
        ["offset", "size", "local"].into_iter().chain(own_names.iter().copied()).map(str::to_owned).collect();
    let passed: Vec<String> = ["all->offset", "all->size", "all->local", "first", "last"]
        .into_iter()
        .map(str::to_owned)
        .chain(own_names.iter().map(|name| format!("all->{name}")))
        .chain(has_workspace.then(|| "workspace".to_owned()))
        .collect();
    let unused = if has_workspace { "" } else { "    (void)workspace;\n" };
    let parameters =
        [&["warpline_for_each for_each".to_owned(), "void *user".to_owned()], &range[..], &own_types];
    format!(
        "{driver}/* The same for all groups, by a loop of the caller's. */\n\
         struct {stem}_arguments {{ const uint64_t *offset; const uint64_t *size; const uint64_t *local;{fields} }};\n\
         static inline void {stem}_part(void *context, uint64_t first, uint64_t last, void *workspace) {{\n    \
         const struct {stem}_arguments *all = (const struct {stem}_arguments *)context;\n{unused}    \
         {groups}({});\n}}\n\
         static inline void {stem}({}) {{\n    \
         struct {stem}_arguments all = {{{}}};\n    \
         for_each(user, warpline_group_count(size, local), {stem}_part, &all);\n}}\n\n",
        passed.join(", "),
        parameters.concat().join(", "),
        all.join(", "),
    )
}
