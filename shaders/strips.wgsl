// A row and a strip of SIZE columns a workgroup: cell(row, column, local) is called in each of its invocations, beyond the
// last row and column too. Rows may be folded into two dimensions.

@compute @workgroup_size(SIZE)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) counts: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  cell(workgroup.z * counts.y + workgroup.y, workgroup.x * SIZE + local, local);
}
