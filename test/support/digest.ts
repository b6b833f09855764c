// Digest of the battery over all kernels, recorded by npm run digest. Every runtime must give this one.
export const expectedDigest: string = "05ea87adeb459d655bb84735221c36ddf766837945e8891321dfedf50ce05e14";
