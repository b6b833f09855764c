// Digest of the battery over all kernels, recorded by npm run digest. Every runtime must give this one.
export const expectedDigest: string =
  "3f05d09c74b764da63b37f758e85e502120e2e0a6c11f0ccf713abe46e5fe303";
