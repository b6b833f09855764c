// An element an invocation: element(i) is called for every i up to a multiple of SIZE. The grid may be folded.

@compute @workgroup_size(SIZE)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) counts: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  element((workgroup.y * counts.x + workgroup.x) * SIZE + local);
}
