// The number of an invocation in a grid of workgroups that may be folded into two dimensions.

fn workgroupNumber(workgroup: vec3u, counts: vec3u) -> u32 {
  return workgroup.y * counts.x + workgroup.x;
}
