// Digest of the battery over all kernels, recorded by npm run digest. Every runtime must give this one.
export const expectedDigest: string = "62820b9bcb4e55cc05d83b3cb39516fe415b5c488f756407dec9624a2589ec45";
