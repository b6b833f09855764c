// Digest of the battery over all kernels, recorded by npm run digest. Every runtime must give this one.
export const expectedDigest: string = "47b16f5f0aa12bfe466462f9e7bf9124fce8f8dc6915ee1e3fc7eaaa2fe36172";
