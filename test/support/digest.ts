// Digest of the battery over all kernels, recorded by npm run digest. Every runtime must give this one.
export const expectedDigest: string = "aacfa9e738f06ea4a8300fbd9a37cc3f457c4983291a89ee8cd909c00cc3726a";
