/* What `harness.c` runs. */
#include <stddef.h>
#include <stdint.h>

/* Code that takes its arguments, and the address of its results, from slots: begin and end of the range, then the others. */
typedef void entry(uint64_t *slots);

enum kind { UNIFORM, VARYING, BUFFER };

/* An argument beside the index: a number, an array with an element for each index, a buffer. */
struct argument {
  enum kind kind;
  uint64_t value;
  const unsigned char *bytes;
  size_t size;
};

struct test {
  const char *name;
  entry *scalar, *vector;
  const struct argument *arguments;
  size_t argument_count;
  uint64_t begin, count;
  /* Bytes of a result; 0 if there is none. */
  size_t result;
};

extern const struct test cases[];
extern const size_t case_count;
