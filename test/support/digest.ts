// Digest of the battery over all kernels, recorded by npm run digest. Every runtime must give this one.
export const expectedDigest: string = "15272b33c809eb9c30406881fa98858ebdf2c543686f1c9c763405dfa2d8f199";
