// Digest of the battery over all kernels, recorded by npm run digest. Every runtime must give this one.
export const expectedDigest: string = "76c24db348646e986ecaab260c630748242b51c618523f9c811bbd334ea99d9f";
