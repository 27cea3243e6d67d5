// What work-items of a group compute and copy together. Arguments are those of `kernels.cl`.

kernel void sums(global const int *in, global int *out, int n, local int *tmp) {
  int g = get_global_id(0), x = in[g];
  int sum = work_group_reduce_add(x), least = work_group_reduce_min(x);
  uint most = work_group_reduce_max((uint)x);
  out[g] = sum * 3 + least * 5 + (int)most + x;
}

kernel void scans(global const int *in, global int *out, int n, local int *tmp) {
  int g = get_global_id(0), x = in[g];
  out[g] = work_group_scan_inclusive_add(x) * 3 + work_group_scan_exclusive_add(x)
      + work_group_scan_inclusive_max(x) * 7 + work_group_scan_exclusive_min(x) / 3;
}

kernel void votes(global const int *in, global int *out, int n, local int *tmp) {
  int g = get_global_id(0), x = in[g];
  out[g] = work_group_any(x > 2900) + 2 * work_group_all(x > -990) + 4 * work_group_any(x < -2000);
}

kernel void announcement(global const int *in, global int *out, int n, local int *tmp) {
  int g = get_global_id(0), size = get_local_size(0);
  int x = work_group_broadcast(in[g], (size_t)(size / 2));
  out[g] = x + work_group_broadcast(x ^ g, (size_t)(get_group_id(0) % size));
}

// In loops and branches that the group takes together, with values that live across.
kernel void rounds(global const int *in, global int *out, int n, local int *tmp) {
  int g = get_global_id(0), l = get_local_id(0), x = in[g] & 1023, all = 0;
  for (int k = 0; work_group_any(x > 40) && k < 12; k++) {
    int sum = work_group_reduce_add(x & 7);
    if (sum & 1) all += work_group_scan_inclusive_add(l + k);
    else x += sum;
    x = x * 3 / 4 - l % 3;
  }
  out[g] = all * 17 + x;
}

kernel void real(global const int *in, global int *out, int n, local int *tmp) {
  int g = get_global_id(0);
  float x = (float)in[g] * 0.1f;
  float sum = work_group_reduce_add(x), before = work_group_scan_exclusive_add(x);
  out[g] = as_int(sum) ^ as_int(before * 3.0f + x);
}

kernel void copies(global const int *in, global int *out, int n, local int *tmp) {
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0), first = g - l;
  event_t event = async_work_group_copy(tmp, in + first, size, 0);
  wait_group_events(1, &event);
  int x = tmp[size - 1 - l];
  barrier(CLK_LOCAL_MEM_FENCE);
  tmp[l] = x * 3 + 1;
  tmp[size + l] = x;
  barrier(CLK_LOCAL_MEM_FENCE);
  event = async_work_group_copy((global int2 *)(out + (first & ~1)), (local int2 *)tmp, size / 2, 0);
  wait_group_events(1, &event);
}

kernel void strided_copies(global const int *in, global int *out, int n, local int *tmp) {
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0), first = g - l;
  event_t event = async_work_group_strided_copy(tmp, in + first, (size + 1) / 2, 2, 0);
  wait_group_events(1, &event);
  prefetch(in, 16);
  out[g] = tmp[l / 2] * 2 + l;
}
