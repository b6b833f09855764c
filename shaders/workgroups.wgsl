// A piece of work a workgroup: work(number, local) is called in all of its SIZE invocations. The grid may be folded, and
// the last numbers may be of no work.

@compute @workgroup_size(SIZE)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) counts: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  work(workgroup.y * counts.x + workgroup.x, local);
}
