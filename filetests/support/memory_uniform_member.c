//@ group Memory
//@ construct arrays in structs on the stack, with indices
//@ happens objects of their own: what is uniform in one stays uniform, whatever else is in the struct
//@ args index, varying:4=random, uniform=5
//@ range 0..50
//@ result 4
//@ divergent 0
struct state { unsigned own[4], last, shared[4]; };
unsigned kernel(unsigned i, unsigned x, unsigned u) {
  struct state s, t;
  for (unsigned k = 0; k < 4; k++) {
    s.own[k] = x >> k;
    s.shared[k] = u >> k;
  }
  s.last = i;
  s.shared[u & 3] += 2;
  t = s;
  unsigned sum = t.last;
  for (unsigned k = 0; k < t.shared[u % 4]; k++)
    sum += t.own[k & 3];
  return sum;
}
