// Runs the kernels of `kernels.cl` with their groups on all cores. One loop over threads serves all kernels.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "kernels.warpline.h"

namespace {

using Numbers = std::uint64_t[3];

// How much workspace a thread needs; threads take groups until none are left.
void on_threads(void *workspace_bytes, std::uint64_t count, warpline_part part, void *context) {
  std::atomic<std::uint64_t> next{0};
  auto work = [&] {
    std::vector<char> workspace(*static_cast<std::uint64_t *>(workspace_bytes));
    for (std::uint64_t g; (g = next++) < count;) part(context, g, g + 1, workspace.data());
  };
  std::vector<std::thread> threads;
  for (unsigned t = std::max(1u, std::thread::hardware_concurrency()); t > 0; t--) threads.emplace_back(work);
  for (auto &thread : threads) thread.join();
}

bool sums() {
  constexpr int n = 10000, group = 256, groups = (n + group - 1) / group;
  std::vector<float> in(n), of_groups(groups);
  for (int i = 0; i < n; i++) in[i] = static_cast<float>(i % 13 - 5);
  const Numbers offset = {0, 0, 0}, size = {groups * group, 1, 1}, local = {group, 1, 1};
  const std::uint64_t bytes = group * sizeof(float);
  std::uint64_t workspace = reduce_workspace(size, local, bytes);
  reduce_parallel(on_threads, &workspace, offset, size, local, in.data(), of_groups.data(), n, bytes);
  return std::accumulate(of_groups.begin(), of_groups.end(), 0.0f) == std::accumulate(in.begin(), in.end(), 0.0f);
}

bool products() {
  constexpr int n = 96;
  std::vector<float> a(n * n), b(n * n), c(n * n);
  for (int i = 0; i < n * n; i++) a[i] = static_cast<float>(i % 7), b[i] = static_cast<float>(i % 5 - 2);
  const Numbers offset = {0, 0, 0}, size = {n, n, 1}, local = {16, 16, 1};
  std::uint64_t workspace = multiply_workspace(size, local);
  multiply_parallel(on_threads, &workspace, offset, size, local, a.data(), b.data(), c.data(), n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float right = 0;
      for (int k = 0; k < n; k++) right += a[i * n + k] * b[k * n + j];
      if (c[i * n + j] != right) return false;
    }
  return true;
}

bool sorts() {
  constexpr int n = 1 << 14, group = 128, together = 2 * group;
  std::vector<int> data(n), next(n);
  unsigned random = 1;
  for (int &x : data) x = static_cast<int>(random = random * 1664525u + 1013904223u);
  const Numbers offset = {0, 0, 0}, size = {n / 2, 1, 1}, steps = {n, 1, 1}, local = {group, 1, 1};
  const std::uint64_t bytes = together * sizeof(int);
  std::uint64_t workspace = sort_in_groups_workspace(size, local, bytes);
  auto in_groups = [&](int first, int last) {
    sort_in_groups_parallel(on_threads, &workspace, offset, size, local, data.data(), first, last, bytes);
  };
  in_groups(2, together);
  for (int run = 2 * together; run <= n; run *= 2) {
    for (int apart = run / 2; apart > group; apart /= 2) {
      sort_step_parallel(on_threads, &workspace, offset, steps, local, data.data(), next.data(), run, apart);
      std::swap(data, next);
    }
    in_groups(run, run);
  }
  return std::is_sorted(data.begin(), data.end());
}

}  // namespace

int main() {
  const bool reduced = sums(), multiplied = products(), sorted = sorts();
  std::printf("reduction: %s\nmatrix product: %s\nbitonic sort: %s\n", reduced ? "right" : "wrong",
              multiplied ? "right" : "wrong", sorted ? "right" : "wrong");
  return reduced && multiplied && sorted ? 0 : 1;
}
