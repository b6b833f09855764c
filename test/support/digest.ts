// Digest of the battery over all kernels, recorded by npm run digest. Every runtime must give this one.
export const expectedDigest: string = "5fe37832acc25973b4b91dc513820aff447d223a1c56c0de59857b699ca67f86";
