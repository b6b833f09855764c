// Sums over invocations of a workgroup, by pairs. What is added up is of type Sum, which the shader declares.

var<workgroup> partial: array<Sum, SIZE>;

/** The sum over `lanes` invocations (a power of two), `stride` from one to the next, each with its own: known to the first of them. */
fn sumOverLanes(own: Sum, local: u32, lanes: u32, stride: u32) -> Sum {
  let lane = (local / stride) % lanes;
  partial[local] = own;
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) {
      partial[local] += partial[local + half * stride];
    }
  }
  return partial[local];
}
