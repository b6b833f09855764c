// Digest of the battery over all kernels, recorded by npm run digest. Every runtime must give this one.
export const expectedDigest: string = "269df6075e563cff95753da42acd1746f909155124869d0fc761ef555672c057";
