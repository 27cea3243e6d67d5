// warpline as a library: compile a source to vector code, as an object or in this process, and analyze it.
//
// Made by cbindgen from crates/warpline-capi/src; lib.rs there says how things go together.

#ifndef LIBWARPLINE_H
#define LIBWARPLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What kind of error it is.
typedef enum WarplineErrorKind {
  // Something is wrong with what was passed: a source, a file, an option.
  WARPLINE_ERROR_KIND_INPUT,
  // What was asked for cannot be vectorized; the message says why, with source lines.
  WARPLINE_ERROR_KIND_REFUSED,
  // A defect of warpline.
  WARPLINE_ERROR_KIND_INTERNAL,
} WarplineErrorKind;

// Code in this process.
typedef struct WarplineCode WarplineCode;

// Why something failed.
typedef struct WarplineError WarplineError;

// An object file in memory, with what was done.
typedef struct WarplineObject WarplineObject;

// How to vectorize. All zeros are the defaults.
typedef struct WarplineOptions {
  // The CPU, by LLVM's name; `NULL` for this machine's.
  const char *cpu;
  // The only function that is meant; `NULL` for all.
  const char *function;
  // The shapes of its parameters, if it is a kernel, such as `i=index`; `NULL` for what the source says.
  const char *args;
  // The number of lanes; 0 leaves it to the cost model.
  uint32_t width;
  // The largest error of vector mathematics in units in the last place; 0 for the default, 4. To have the scalar
  // functions, write directives into the source.
  uint32_t math_ulp;
} WarplineOptions;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library, such as `0.1.0`.
const char *warpline_version(void);

// Says which program compiles sources from now on: `warpline` of the same version, by its path. With `NULL` this
// process does, for its own CPU only.
//
// # Safety
// `path` is `NULL` or a text; `error` is `NULL` or the address of a pointer.
bool warpline_set_worker(const char *path,
                         struct WarplineError **error);

// Frees a text that a function returned and that belongs to no object.
//
// # Safety
// `text` is `NULL` or such a text, and is not used any more.
void warpline_string_free(char *text);

// What `warpline analyze --format json` says of a file's functions: which values, branches and loops diverge, and why.
// `function` is the only one that is meant, or `NULL`; `args` are shapes of its parameters, or `NULL`.
// The text is the caller's, to be freed by `warpline_string_free`.
//
// # Safety
// `path` is a text, `function` and `args` are `NULL` or texts; `error` is `NULL` or the address of a pointer.
char *warpline_analyze_file(const char *path,
                            const char *function,
                            const char *args,
                            struct WarplineError **error);

// The same of a source that is given as text. `language` is as for `warpline_compile_source`.
//
// # Safety
// As for `warpline_analyze_file`; `language` and `source` are texts.
char *warpline_analyze_source(const char *language,
                              const char *source,
                              const char *function,
                              const char *args,
                              struct WarplineError **error);

// What `warpline explain --format json` says: step by step, why something in a file's function diverges, or is
// uniform. `subject` is the number of a line of the source, or a value or block as `--value` takes it: `%x`, `block:NAME`,
// `loop:NAME`. `function` is `NULL` if there is only one.
// The text is the caller's, to be freed by `warpline_string_free`.
//
// # Safety
// `path` and `subject` are texts, `function` is `NULL` or a text; `error` is `NULL` or the address of a pointer.
char *warpline_explain_file(const char *path,
                            const char *function,
                            const char *subject,
                            struct WarplineError **error);

// The same of a source that is given as text. `language` is as for `warpline_compile_source`.
//
// # Safety
// As for `warpline_explain_file`; `language` and `source` are texts.
char *warpline_explain_source(const char *language,
                              const char *source,
                              const char *function,
                              const char *subject,
                              struct WarplineError **error);

// Compiles a source that is given as text and vectorizes its loops, or its kernels. `language` is the ending of a file
// in it: c, cpp, cl, rs or ll.
//
// # Safety
// `language` and `source` are texts; `given` is `NULL` or options with texts; `error` is `NULL` or the address of a
// pointer.
struct WarplineObject *warpline_compile_source(const char *language,
                                               const char *source,
                                               const struct WarplineOptions *given,
                                               struct WarplineError **error);

// The same of a file.
//
// # Safety
// As for `warpline_compile_source`.
struct WarplineObject *warpline_compile_file(const char *path,
                                             const struct WarplineOptions *given,
                                             struct WarplineError **error);

// The bytes of an object file, and how many there are.
//
// # Safety
// `object` is an object that is not freed; `length` is `NULL` or the address of a number.
const uint8_t *warpline_object_bytes(const struct WarplineObject *object, size_t *length);

// What was vectorized and with how many lanes, a line each, and, in lines that begin with `warning: `, what was not and
// why.
//
// # Safety
// `object` is an object that is not freed.
const char *warpline_object_report(const struct WarplineObject *object);

// Frees an object.
//
// # Safety
// `object` is `NULL` or an object that is not used any more.
void warpline_object_free(struct WarplineObject *object);

// Links an object into this process. It must be for this machine, and what it calls must be in the process.
//
// # Safety
// `object` is an object that is not freed; `error` is `NULL` or the address of a pointer.
struct WarplineCode *warpline_load(const struct WarplineObject *object, struct WarplineError **error);

// The address of a function or variable, to be called or used as the source declares it, as long as `code` is not
// freed.
//
// # Safety
// `code` is code that is not freed; `name` is a text; `error` is `NULL` or the address of a pointer.
void *warpline_address(const struct WarplineCode *code,
                       const char *name,
                       struct WarplineError **error);

// Frees code. Its functions must not run any more.
//
// # Safety
// `code` is `NULL` or code that is not used any more.
void warpline_code_free(struct WarplineCode *code);

// What an error says.
//
// # Safety
// `error` is an error that is not freed.
const char *warpline_error_message(const struct WarplineError *error);

// What kind of error it is.
//
// # Safety
// `error` is an error that is not freed.
enum WarplineErrorKind warpline_error_kind(const struct WarplineError *error);

// Frees an error.
//
// # Safety
// `error` is `NULL` or an error that is not used any more.
void warpline_error_free(struct WarplineError *error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* LIBWARPLINE_H */
